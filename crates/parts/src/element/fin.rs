//! A fin, rudder, wing or sail: lift and drag of a thin surface in a flow.
//!
//! In the axes of its frame, x forward along the chord, y across the surface, z along the span, with V the part across the span of how it moves against the fluid, beta the
//! angle of V from x towards y plus the deflection, and A the area,
//!   lift = rho/2 A C_L V^2 across V, against y for beta > 0,   drag = rho/2 A C_D V^2 against V,
//!   C_L = a sin beta,   a = 2 pi Lambda/(Lambda + 2),   C_D = C_d0 + C_L^2/(pi Lambda)    (Prandtl 1918, elliptic lift; Lambda span^2/A)
//! and stalled as a plate, C_n = 1.17 (Hoerner 1965, 3-16),
//!   C_L = C_n sin beta cos beta,   C_D = C_d0 + C_n sin^2 beta,
//! from one to the other between the stall angle and twice that.

use super::{
    Acting, Action, Anchor, Attached, Build, Effect, Element, ElementAccount, ElementSpec, InStep, Output, Seen,
};
use crate::cause::Cause;
use crate::network::Formula;
use crate::six::Six;
use libm::{atan2, hypot, sincos};
use std::borrow::Cow;
use std::f64::consts::{PI, TAU};
use tippe_format::equation::Dimension;
use tippe_format::key::{Form, Range, Spec, any, equation, key, number};
use tippe_format::part::{Equation, Part};
use tippe_geometry::Vec3;

/// What its frame tells the equations of the current: where it is, resolved in world.
pub const NAMES: [&str; 3] = ["x", "y", "z"];
/// Normal force of a plate across the flow over its dynamic pressure and area (Hoerner 1965) [-].
const PLATE: f64 = 1.17;
/// Stall angle of one that says nothing [rad]: 15 degrees.
const STALL: f64 = PI / 12.0;

/// A fin.
#[derive(Clone, Debug)]
pub struct Fin {
    /// Where, at the middle of the pressure.
    pub on: Anchor,
    /// rho [kg/m^3].
    pub density: f64,
    /// A [m^2].
    pub area: f64,
    /// Lambda [-].
    pub aspect: f64,
    /// C_d0 [-].
    pub drag: f64,
    /// Angle at which it stalls [rad].
    pub stall: f64,
    /// Current (results 0 to 2) [m/s] and deflection [rad].
    formula: Formula,
}

const OUTPUTS: &[Output] = &[
    Output { name: Cow::Borrowed("force"), unit: Some("N") },
    Output { name: Cow::Borrowed("lift"), unit: Some("N") },
    Output { name: Cow::Borrowed("drag"), unit: Some("N") },
    Output { name: Cow::Borrowed("incidence"), unit: Some("rad") },
];

/// What is lost to the fluid, and what its motion puts in.
pub(super) const ACCOUNTS: &[ElementAccount] =
    &[ElementAccount { cause: Cause::Drag, name: "loss" }, ElementAccount { cause: Cause::Loads, name: "work" }];

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "fin",
        about: "A fin, rudder, wing or sail: x forward along the chord, y across the surface, z along the span of its frame",
        keys: &[&[
            key("on", Form::Attachment, "The frame in the middle of its pressure")
                .required("the body or BODY.FRAME it is on"),
            number("density", Dimension::DENSITY, Range::Positive, "Density of the fluid [kg/m^3]")
                .required("such as density = 1025"),
            number("area", Dimension::new(2, 0, 0), Range::Positive, "Area, one side of it [m^2]")
                .required("such as area = 0.5"),
            any("aspect", Range::Positive, "Square of its span over its area [-]").required("such as aspect = 3"),
            any("drag", Range::NotNegative, "C_d along the flow [-]").or(0.01),
            number("stall", Dimension::ONE, Range::Positive, "Angle at which it stalls [rad]; default 15 deg"),
            equation("angle", "Deflection about the span, over time, parameters and signals [rad]; default 0"),
            key(
                "current",
                Form::Equations(3, &NAMES),
                "Velocity of the fluid, three numbers or equations of time and of its place x, y, z [m/s]",
            ),
        ]],
        example: "on = \"a\"\ndensity = 1025\narea = 0.5\naspect = 2",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let zero = Equation { name: "zero".into(), text: "0".into(), ..Equation::default() };
    let mut equations: Vec<&Equation> = match part.equations("current") {
        [] => vec![&zero; 3],
        three => three.iter().collect(),
    };
    equations.push(part.equation("angle").unwrap_or(&zero));
    let formula = build.formula(&equations, &NAMES);
    let on = part.attachments("on").first().and_then(|on| build.anchor(on, None));
    Some(Element::Fin(Box::new(Fin {
        on: on?,
        density: part.number("density"),
        area: part.number("area"),
        aspect: part.number("aspect"),
        drag: part.number("drag"),
        stall: part.find_number("stall").unwrap_or(STALL),
        formula: formula?,
    })))
}

impl Fin {
    /// C_L and C_D.
    pub fn coefficients(&self, beta: f64) -> [f64; 2] {
        let (s, c) = sincos(beta);
        let lift = TAU * self.aspect / (self.aspect + 2.0) * s;
        let smooth = [lift, self.drag + lift * lift / (PI * self.aspect)];
        let plate = [PLATE * s * c, self.drag + PLATE * s * s];
        let x = ((beta.abs() - self.stall) / self.stall).clamp(0.0, 1.0);
        let stalled = x * x * (3.0 - 2.0 * x);
        [0, 1].map(|k| smooth[k] + stalled * (plate[k] - smooth[k]))
    }
}

impl Acting for Fin {
    fn attached(&self) -> Attached<'_> {
        Attached { frames: std::slice::from_ref(&self.on), formula: Some(&self.formula), ..Attached::default() }
    }

    fn outputs(&self) -> &[Output] {
        OUTPUTS
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        ACCOUNTS
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let kin = &seen.frames[0];
        let mut read = [0.0; 4];
        self.formula.eval(|source| seen.read(source, &[kin.p.x, kin.p.y, kin.p.z]), &mut read);
        let flow = Vec3::new(read[0], read[1], read[2]);
        let V = kin.R.transpose() * (kin.v - flow);
        let speed = hypot(V.x, V.y);
        if speed == 0.0 {
            out.wrench(0, kin.p, Six::ZERO);
            out.shown.extend([0.0, 0.0, 0.0]);
            return;
        }
        let turned = atan2(V.y, V.x) + read[3];
        let beta = turned - TAU * libm::floor((turned + PI) / TAU);
        let [C_L, C_D] = self.coefficients(beta);
        let pressed = 0.5 * self.density * self.area * speed;
        let (lift, drag) = (pressed * C_L * Vec3::new(V.y, -V.x, 0.0), -pressed * C_D * Vec3::new(V.x, V.y, 0.0));
        let force = kin.R * (lift + drag);
        out.wrench(0, kin.p, Six::new(Vec3::ZERO, force));
        out.effect = Effect::new(force.length(), 0.0, -force.dot(kin.v - flow));
        out.effect.powers[1] = force.dot(flow);
        out.shown.extend([pressed * C_L * speed, drag.length(), beta]);
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
}
