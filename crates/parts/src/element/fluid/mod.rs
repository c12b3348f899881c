//! A body in water or air: buoyancy, drag, lift, current, waves.
//!
//! With V and b the volume that is wet and its centre, g up the direction of buoyancy and a_f what waves accelerate there,
//!   F = rho V (g up + a_f)   at b,   U = rho g V depth(b)   the energy that is stored in displaced water without waves;
//! drag and lift by the triangles that are wet and face the flow: `wet.rs`; slender bodies, such as elements of a cable: `line.rs`.

mod added;
mod line;
mod panels;
mod response;
mod sea;
mod waves;
mod wet;

use super::{
    Acting, Action, Anchor, Attached, Build, Effect, Element, ElementAccount, ElementSpec, InStep, Output, Seen,
};
use crate::cause::Cause;
use crate::network::Formula;
use crate::six::{Six, Tensor};
pub use added::AddedMass;
use libm::hypot;
use line::Line;
use sea::Sea;
use std::borrow::Cow;
use std::f64::consts::TAU;
use tippe_format::equation::Dimension;
use tippe_format::key::{Form, Range, Spec, Table, any, flag, key, number};
use tippe_format::part::Part;
use tippe_geometry::{Mat3, Vec3};
pub use waves::Wave;
use wet::{Hull, Water, Wet, wet};

/// What its body tells equations of the current: where it is, resolved in world.
const NAMES: [&str; 3] = ["x", "y", "z"];

/// A body in a fluid.
#[derive(Clone, Debug)]
pub struct Fluid {
    /// The body, its frame c.
    pub on: Anchor,
    /// What of it the fluid meets.
    shape: Shape,
    /// rho [kg/m^3].
    pub density: f64,
    /// Dynamic viscosity [Pa s].
    pub viscosity: f64,
    /// Up, resolved in world.
    pub up: Vec3,
    /// g [m/s^2].
    fall: f64,
    /// Height of the surface [m]; infinite if it has none.
    pub level: f64,
    /// The current (results 0 to 2) [m/s].
    current: Option<Formula>,
    /// Waves.
    pub waves: Vec<Wave>,
    /// C_d and C_l [-].
    coefficients: [f64; 2],
    /// The element of what it takes along.
    taken: Option<Box<Taking>>,
}

/// What a body takes along.
#[derive(Clone, Debug)]
struct Taking {
    /// K where all of it is wet, and its own inertia, in its frame c [kg, kg m, kg m^2].
    tensors: [Tensor; 2],
    /// Its surface.
    hull: Hull,
}

/// What of a body a fluid meets.
#[derive(Clone, Debug)]
enum Shape {
    /// A closed surface.
    Hull(Hull),
    /// A straight line with a diameter.
    Line(Line),
}

const OUTPUTS: &[Output] = &[
    Output { name: Cow::Borrowed("force"), unit: Some("N") },
    Output { name: Cow::Borrowed("buoyancy"), unit: Some("N") },
    Output { name: Cow::Borrowed("volume"), unit: Some("m^3") },
    Output { name: Cow::Borrowed("centre.x"), unit: Some("m") },
    Output { name: Cow::Borrowed("centre.y"), unit: Some("m") },
    Output { name: Cow::Borrowed("centre.z"), unit: Some("m") },
    Output { name: Cow::Borrowed("drag"), unit: Some("N") },
    Output { name: Cow::Borrowed("lift"), unit: Some("N") },
    Output { name: Cow::Borrowed("metacentric_height"), unit: Some("m") },
];

const ACCOUNTS: &[ElementAccount] =
    &[ElementAccount { cause: Cause::Drag, name: "loss" }, ElementAccount { cause: Cause::Loads, name: "work" }];

/// A body in a fluid, as scenes know it.
const BODY: Spec = Spec {
    word: "body",
    about: "A body in the fluid: its shapes displace it",
    keys: &[&[
        key("on", Form::Attachment, "The body").required("the name of a body"),
        any("drag", Range::NotNegative, "C_d of what faces the flow [-]").or(0.0),
        any("lift", Range::NotNegative, "C_l of what faces the flow [-]").or(0.0),
        flag("added_mass", "True if it takes fluid along: inertia of the fluid around it, Munk's moment, slamming"),
        any(
            "drag_along",
            Range::NotNegative,
            "C_t of flow along it: of one capsule or cylinder, slender, whose `drag` is then that of flow across [-]",
        ),
    ]],
    ..Spec::NONE
};

/// A cable in a fluid, as scenes know it.
const CABLE: Spec = Spec {
    word: "cable",
    about: "A flexible cable in the fluid: each of its elements",
    keys: &[&[
        key("on", Form::Text, "The cable").required("the name of a cable"),
        any("drag", Range::NotNegative, "C_d of flow across it [-]").or(1.2),
        any("drag_along", Range::NotNegative, "C_t of flow along it [-]").or(0.01),
    ]],
    ..Spec::NONE
};

/// A wave, as scenes know it.
const WAVE: Spec = Spec {
    word: "wave",
    about: "A wave on deep water",
    keys: &[&[
        number("height", Dimension::LENGTH, Range::NotNegative, "From trough to crest [m]").required(""),
        number("period", Dimension::TIME, Range::Positive, "Period [s]").required(""),
        key("towards", Form::Direction, "Where it runs to, world; default x"),
        any("phase", Range::Any, "Phase at the origin of the world at the start [rad]").or(0.0),
    ]],
    ..Spec::NONE
};

/// A sea, as scenes know it.
const SEA: Spec = Spec {
    word: "sea",
    about: "Waves of a wind sea (JONSWAP), whose phases follow from a seed",
    keys: &[&[
        number("height", Dimension::LENGTH, Range::Positive, "Significant wave height [m]").required(""),
        number("period", Dimension::TIME, Range::Positive, "Period of the highest energy [s]").required(""),
        any(
            "peak",
            Range::Positive,
            "Gamma of the spectrum: how much sharper its peak is than that of a grown sea [-]",
        )
        .or(3.3),
        key("towards", Form::Direction, "Where they run to, world; default x"),
        any("count", Range::Between(1, 500), "How many waves, all of equal energy [-]").or(40.0),
        any("seed", Range::Whole, "Seed of the phases [-]").or(1.0),
    ]],
    ..Spec::NONE
};

/// Bodies in a fluid.
pub const WET_KINDS: Table = Table { name: "body of a fluid", keys: &[], kinds: &[&BODY] };
/// Cables in a fluid.
pub const WET_CABLE_KINDS: Table = Table { name: "cable of a fluid", keys: &[], kinds: &[&CABLE] };
/// Waves of a fluid.
pub const WAVE_KINDS: Table = Table { name: "wave", keys: &[], kinds: &[&WAVE] };
/// A sea of a fluid.
pub const SEA_KINDS: Table = Table { name: "sea", keys: &[], kinds: &[&SEA] };

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "fluid",
        about: "Water or air around bodies: buoyancy, drag, lift, current and waves",
        keys: &[&[
            key("bodies", Form::Parts(&WET_KINDS), "The bodies in it, such as [{ on = \"float\", drag = 1 }]"),
            key("cables", Form::Parts(&WET_CABLE_KINDS), "The flexible cables in it, such as [{ on = \"tether\" }]"),
            number("density", Dimension::DENSITY, Range::Positive, "Density [kg/m^3]")
                .required("such as density = 1025"),
            number(
                "level",
                Dimension::LENGTH,
                Range::Any,
                "Height of its surface, against gravity from the origin of the world [m]",
            )
            .or(0.0),
            flag("unbounded", "True if it has no surface, as air"),
            number(
                "viscosity",
                Dimension::new(-1, 1, -1),
                Range::NotNegative,
                "Dynamic viscosity [Pa s], for friction along what is wet; without it there is none",
            )
            .or(0.0),
            key(
                "current",
                Form::Equations(3, &NAMES),
                "Its velocity, three numbers or equations of time and of the place x, y, z of the body [m/s]",
            ),
            key("waves", Form::Parts(&WAVE_KINDS), "Waves, added up"),
            key("sea", Form::Parts(&SEA_KINDS), "A sea of many waves by its height, period and seed, added to them"),
        ]],
        check: |check| {
            if !check.has("bodies") && !check.has("cables") {
                let help = "such as bodies = [{ on = \"float\", drag = 1 }], or cables = [{ on = \"tether\" }]";
                check.error("", " has neither bodies nor cables", help);
            }
            if check.part.flag("unbounded") && (check.has("waves") || check.has("sea") || check.has("level")) {
                check.error("unbounded", " has waves or a level, and no surface", "leave `unbounded` out");
            }
        },
        example: "bodies = [{ on = \"a\", drag = 1 }]\ndensity = 1000",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    // the scene has parted fluids by body
    let body = part.parts("bodies").first()?;
    let on = build.anchor(body.attachments("on").first()?, None)?;
    let on = Anchor { body: on.body, p: Vec3::ZERO, R: Mat3::IDENTITY };
    let shapes = on.body.map_or(Vec::new(), |b| build.shapes(b));
    let name = &body.attachments("on")[0].body;
    if shapes.is_empty() {
        build.wrong(
            &format!("needs a shape of body \"{name}\": what it displaces"),
            "shape = { kind = \"box\", size = [1, 1, 1] }",
        );
        return None;
    }
    let shape = match body.find_number("drag_along") {
        Some(along) => Line::new(&shapes, along).map(Shape::Line),
        None => Some(Hull::new(&shapes)).filter(|hull| hull.volume > 0.0).map(Shape::Hull),
    };
    let Some(shape) = shape else {
        let (what, help) = match body.get("drag_along") {
            Some(_) => {
                ("drag along", "one capsule or cylinder; other bodies have `drag`, and `viscosity` of the fluid")
            }
            None => ("an inside", "a box, a ball or a closed mesh"),
        };
        build.wrong(&format!("needs other shapes: those of body \"{name}\" have no {what}"), help);
        return None;
    };
    let gravity = build.gravity();
    let fall = gravity.length();
    let up = if fall > 0.0 { -gravity / fall } else { Vec3::Z };
    let waves = waves(part, up, fall, build)?;
    let current = match part.equations("current") {
        [] => None,
        three => Some(build.formula(&three.iter().collect::<Vec<_>>(), &NAMES)?),
    };
    Some(Element::Fluid(Box::new(Fluid {
        on,
        shape,
        density: part.number("density"),
        viscosity: part.number("viscosity"),
        up,
        fall,
        level: if part.flag("unbounded") { f64::INFINITY } else { part.number("level") },
        current,
        waves,
        coefficients: [body.number("drag"), body.number("lift")],
        taken: body.flag("added_mass").then(|| {
            let (mass, I_c) = on.body.map_or((f64::INFINITY, Mat3::IDENTITY), |b| build.inertia(b));
            let taken = added::added(&shapes, |text| build.warn(&text)).scaled(part.number("density"));
            Box::new(Taking { tensors: [taken, Tensor::of_body(mass, &I_c)], hull: Hull::new(&shapes) })
        }),
    })))
}

/// Its waves, those of seas behind the others.
fn waves(part: &Part, up: Vec3, fall: f64, build: &mut dyn Build) -> Option<Vec<Wave>> {
    if fall == 0.0 && !(part.parts("waves").is_empty() && part.parts("sea").is_empty()) {
        build.wrong("has waves, and gravity is zero", "waves need gravity");
        return None;
    }
    let along = |wave: &Part| {
        let towards = wave.vector("towards").unwrap_or(Vec3::X);
        (towards - up * up.dot(towards)).normalize_or_zero()
    };
    let mut waves: Vec<Wave> = Vec::new();
    for wave in part.parts("waves") {
        let omega = TAU / wave.number("period");
        let (amplitude, phase) = (0.5 * wave.number("height"), wave.number("phase"));
        waves.push(Wave { amplitude, along: along(wave), number: omega * omega / fall, omega, phase });
    }
    for sea in part.parts("sea") {
        let of = Sea {
            height: sea.number("height"),
            peak: TAU / sea.number("period"),
            gamma: sea.number("peak"),
            count: sea.number("count") as usize,
            seed: sea.number("seed") as u64,
        };
        waves.extend(of.waves(along(sea), fall));
    }
    if waves.iter().any(|wave| wave.along == Vec3::ZERO) {
        build.wrong("has a wave that runs straight up or down", "towards = [1, 0, 0]");
        return None;
    }
    Some(waves)
}

impl Fluid {
    /// The element of the fluid that its body takes along, if it does.
    pub fn takes(&self) -> Option<AddedMass> {
        let Taking { tensors: [tensor, own], hull } = self.taken.as_deref()?.clone();
        Some(AddedMass { tensor, own, hull, fluid: self.clone() })
    }

    /// What it does to its body now.
    fn wet(&self, seen: &Seen<'_>, water: Water<'_>) -> Wet {
        let kin = &seen.frames[0];
        match &self.shape {
            Shape::Hull(hull) => wet(hull, kin, &water),
            Shape::Line(line) => line.wet(kin, &water, |x| self.current(seen, x)),
        }
    }

    /// The current at a point [m/s].
    fn current(&self, seen: &Seen<'_>, x: Vec3) -> Vec3 {
        let mut current = [0.0; 3];
        if let Some(formula) = &self.current {
            formula.eval(|source| seen.read(source, &x.to_array()), &mut current);
        }
        Vec3::from_array(current)
    }

    /// The fluid around its body.
    fn water(&self, seen: &Seen<'_>) -> Water<'_> {
        Water {
            t: seen.t,
            density: self.density,
            viscosity: self.viscosity,
            up: self.up,
            fall: self.fall,
            level: self.level,
            current: self.current(seen, seen.frames[0].p),
            waves: &self.waves,
            drag: self.coefficients[0],
            lift: self.coefficients[1],
            answers: false,
        }
    }

    /// The same, which only presses.
    fn pressing<'a>(&'a self, seen: &Seen<'_>) -> Water<'a> {
        Water { drag: 0.0, lift: 0.0, viscosity: 0.0, ..self.water(seen) }
    }

    /// Energy stored in displaced water [J]; with waves it is theirs.
    fn energy(&self, wet: &Wet) -> f64 {
        if !self.waves.is_empty() {
            return 0.0;
        }
        // air without a surface counts from the origin of the world
        let depth = if self.level.is_finite() { wet.depth } else { -self.up.dot(wet.centre) };
        self.density * self.fall * wet.volume * depth
    }
}

impl Acting for Fluid {
    fn attached(&self) -> Attached<'_> {
        Attached { frames: std::slice::from_ref(&self.on), formula: self.current.as_ref(), ..Attached::default() }
    }

    fn outputs(&self) -> &[Output] {
        OUTPUTS
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        ACCOUNTS
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let kin = &seen.frames[0];
        let wet = self.wet(seen, Water { answers: true, ..self.water(seen) });
        out.response = wet.response;
        let force = wet.buoyancy + wet.drag + wet.lift;
        out.wrench(0, kin.p, Six::new(wet.torque, force));
        // what waves do by pressure is their work
        let pressed = match self.waves.is_empty() {
            true => 0.0,
            false => wet.buoyancy.dot(kin.v + kin.w.cross(wet.centre - kin.p)),
        };
        out.effect = Effect::new(force.length(), self.energy(&wet), wet.lost);
        out.effect.powers[1] = wet.given + pressed;
        let above = self.up.dot(kin.p - wet.centre);
        let metacentric = if wet.volume > 0.0 { wet.plane / wet.volume - above } else { 0.0 };
        let (centre, up) = (wet.centre, wet.buoyancy.length());
        out.shown.extend([
            up,
            wet.volume,
            centre.x,
            centre.y,
            centre.z,
            wet.drag.length(),
            wet.lift.length(),
            metacentric,
        ]);
    }

    fn in_step(&self, _: &Seen<'_>, _: f64) -> InStep {
        InStep::Load
    }

    fn answers(&self) -> bool {
        true
    }

    fn effort_of_row(&self, sum: f64, part: u8, force: f64) -> f64 {
        if part < 3 { sum } else { hypot(sum, force) }
    }

    fn stored(&self, seen: &Seen<'_>) -> f64 {
        if !self.waves.is_empty() { 0.0 } else { self.energy(&self.wet(seen, self.pressing(seen))) }
    }
}
