//! Cables as scenes know them.

use super::points::wrong;
use super::section::{HEXAGONS, ROPES, Section};
use super::{Cable, Circle, Feed, Point, Role, Route, Spool};
use crate::element::{Anchor, Build, Element, ElementSpec, ElementState, NewPose, Output, heavy_line};
use crate::kinematics::Kinematics;
use std::borrow::Cow;
use std::f64::consts::TAU;
use tippe_format::equation::Dimension;
use tippe_format::key::{Form, Key, Range, Spec, Table, any, flag, key, number, text, word};
use tippe_format::part::{Attachment, Check, Part};
use tippe_geometry::{Mat3, Vec3};

/// Words of the ways in which a cable runs between its points.
pub const SPANS: [&str; 4] = ["massless", "flexible", CATENARY, "auto"];
const CATENARY: &str = "catenary";
/// Words of the senses in which a cable runs around a wheel.
const SENSES: [&str; 2] = ["left", "right"];
/// Words of the ways in which layers lie on each other.
const LAYERS: [&str; 2] = ["nested", "stacked"];

const WHERE: [Key; 2] = [
    key("on", Form::Frame, "Where it is: BODY, BODY.FRAME or `world`").required("such as on = \"boom\""),
    key("at", Form::Point, "Place in the pose as written, world [m]; default the frame's origin"),
];
const WHEEL: [Key; 4] = [
    number("radius", Dimension::LENGTH, Range::Positive, "Radius of the rope's centre line on the bare wheel [m]")
        .required("such as radius = 0.2"),
    key(
        "axle",
        Form::Direction,
        "Direction of the axle in the pose as written, world; default the z axis of the frame",
    ),
    word(
        "sense",
        &SENSES,
        "How the cable, from its first point to its last, runs around the axle: left is counterclockwise seen against it; default the shorter way",
    ),
    any("turns", Range::Whole, "Whole turns around it, beyond the shorter way [-]").or(0.0),
];

const fn friction(about: &'static str) -> Key {
    any("friction", Range::NotNegative, about)
}

const END: Spec = Spec {
    word: "end",
    about: "The cable is fastened to a body there",
    keys: &[
        &WHERE,
        &[
            flag("clamped", "A flexible cable cannot turn there; it is pinned, if not"),
            key(
                "direction",
                Form::Direction,
                "Flexible: direction in which it begins there or arrives, world; default that of its chord",
            ),
        ],
    ],
    ..Spec::NONE
};
const FREE: Spec =
    Spec { word: "free", about: "Nothing holds the end of a flexible cable", keys: &[&[PLACE]], ..Spec::NONE };
const VIA: Spec = Spec {
    word: "via",
    about: "A flexible cable is laid through there, on a smooth curve",
    keys: &[&[PLACE]],
    ..Spec::NONE
};
const PLACE: Key = key("at", Form::Point, "Place in the pose as written, world [m]").required("such as at = [0, 0, 1]");
const FEED: Spec = Spec {
    word: "feed",
    about: "The cable goes on in elements there, which are bodies that it pays out and takes in; a flexible cable over wheels is written so when it is laid",
    keys: &[&[
        key("on", Form::Frame, "The element at the load, a body NAME1; the next ones are NAME2, NAME3, ...")
            .required("such as on = \"rope.e1\""),
        any("elements", Range::Count, "How many there are [-]").required("such as elements = 20"),
        any("out", Range::Count, "How many of them are out at the start [-]").required("such as out = 1"),
        number("element", Dimension::LENGTH, Range::Positive, "Length of an element at rest [m]")
            .required("such as element = 0.5"),
        number("mass", Dimension::MASS, Range::Positive, "Mass of an element [kg]").required("such as mass = 0.5"),
    ]],
    ..Spec::NONE
};
const TACKLE: Spec = Spec {
    word: "tackle",
    about: "The cable ends in a tackle: it runs to and fro between two blocks",
    keys: &[
        &WHERE,
        &[
            key(
                "from",
                Form::Frame,
                "The other block, over whose first pulley the cable comes: BODY, BODY.FRAME or `world`",
            )
            .required("such as from = \"boom.head\""),
            key("from_at", Form::Point, "Its place in the pose as written, world [m]; default the frame's origin"),
            any("parts", Range::Between(1, 30), "How often it runs between the blocks [-]")
                .required("such as parts = 4"),
        ],
        &[WHEEL[0], WHEEL[1], WHEEL[2], EFFICIENCY],
    ],
    ..Spec::NONE
};
const RING: Spec = Spec {
    word: "ring",
    about: "The cable runs through it",
    keys: &[
        &WHERE,
        &[friction("Coefficient of friction: tensions on both sides differ by exp(friction angle) at most [-]")
            .or(0.0)],
    ],
    ..Spec::NONE
};
const PULLEY: Spec = Spec {
    word: "pulley",
    about: "The cable runs over a wheel without inertia that turns in a body",
    keys: &[&WHERE, &WHEEL, &[EFFICIENCY]],
    ..Spec::NONE
};
const EFFICIENCY: Key =
    any("efficiency", Range::Fraction, "Tension that goes on over tension that comes in, of its bearing [-]").or(1.0);
const SHEAVE: Spec = Spec {
    word: "sheave",
    about: "The cable grips a wheel or a post that is a body itself",
    keys: &[
        &WHERE,
        &WHEEL,
        &[friction(
            "Coefficient of friction: it slides where tensions differ by more than exp(friction angle) [-]; never, if there is none",
        )],
    ],
    ..Spec::NONE
};
const DRUM: Spec = Spec {
    word: "drum",
    about: "The cable ends on a drum, which is a body; only at the first or the last point, and with a sense",
    keys: &[
        &WHERE,
        &WHEEL,
        &[
            number("stored", Dimension::LENGTH, Range::NotNegative, "Rope on the drum at the start, at rest [m]")
                .or(0.0),
            number(
                "width",
                Dimension::LENGTH,
                Range::Positive,
                "Width between the flanges [m]; one layer without end if there is none",
            ),
            any("layers", Range::Count, "Layers it can hold [-]"),
            word("laid", &LAYERS, "How layers lie on each other: nested rises by sqrt(3)/2 of the diameter")
                .or_word("nested"),
        ],
    ],
    ..Spec::NONE
};

/// What a point of a cable can be.
pub const POINT_KINDS: Table = Table {
    name: "point",
    keys: &[&[key("kind", Form::Kind, "What the cable does there")
        .required("end, ring, pulley, sheave, drum, tackle, free, via or feed")]],
    kinds: &[&END, &RING, &PULLEY, &SHEAVE, &DRUM, &TACKLE, &FREE, &VIA, &FEED],
};

/// Weight per length of a line.
const WEIGHT: Dimension = Dimension::new(0, 1, -2);
/// Mass per length of a line.
const MASS: Dimension = Dimension::new(-1, 1, 0);

const SEGMENT: Spec = Spec {
    word: "segment",
    about: "A part of a catenary, from its first end to its last",
    keys: &[&[
        number("length", Dimension::LENGTH, Range::Positive, "Length at rest [m]").required("such as length = 120"),
        number("axial_stiffness", Dimension::FORCE, Range::Positive, "EA: tension per strain [N]"),
        number("mass_per_length", MASS, Range::Positive, "Mass per length, in air [kg/m]"),
        number("weight", WEIGHT, Range::Any, "Weight per length instead, in water; negative where it floats [N/m]"),
        word("rope", &ROPE_WORDS, "Type of rope, whose table gives axial stiffness and mass with the diameter"),
        number("diameter", Dimension::LENGTH, Range::Positive, "Diameter of the rope; of a chain that of its bars [m]"),
    ]],
    check: |check| {
        check.not_both("mass_per_length", "weight");
        check.at_least_one(&["axial_stiffness", "rope"], "its stiffness: axial_stiffness = 1e8");
        check.at_least_one(&["weight", "mass_per_length", "rope"], "its weight per length: weight = 500");
        if check.has("rope") {
            check.needs("diameter", "figures of a type of rope go with its diameter");
        }
    },
    example: "length = 120\nweight = 500\naxial_stiffness = 1e8",
    ..Spec::NONE
};

/// Parts of a catenary.
pub const SEGMENT_KINDS: Table = Table { name: "segment", keys: &[], kinds: &[&SEGMENT] };

const ROPE_WORDS: [&str; ROPES.len()] = {
    let mut words = [""; ROPES.len()];
    let mut k = 0;
    while k < ROPES.len() {
        words[k] = ROPES[k].word;
        k += 1;
    }
    words
};

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "cable",
        about: "A cable over points and wheels that only pulls, a chain of bodies, or a heavy line that hangs as a catenary",
        keys: &[&[
            key("points", Form::Parts(&POINT_KINDS), "Where it runs, from end to end")
                .required("such as points = [{ kind = \"end\", on = \"world\", at = [0, 0, 1] }, { kind = \"end\", on = \"load\" }]"),
            word("rope", &ROPE_WORDS, "Type of rope, whose table gives axial stiffness and breaking load with the diameter"),
            number("diameter", Dimension::LENGTH, Range::Positive, "Diameter of the rope; of a chain that of its bars [m]"),
            number("axial_stiffness", Dimension::FORCE, Range::Positive, "EA: tension per strain [N]"),
            word("spans", &SPANS, "How it runs between its points: massless spans only pull, flexible ones are chains of bodies, a catenary is a heavy line between two ends; auto is flexible if the cable has more than a hundredth of the mass that hangs on it, or hangs alone").or_word(SPANS[0]),
            number("mass_per_length", MASS, Range::Positive, "Flexible or catenary: mass per length [kg/m]"),
            number("weight", WEIGHT, Range::Positive, "Catenary: weight per length, in water, instead [N/m]"),
            key("segments", Form::Parts(&SEGMENT_KINDS), "Catenary: its parts, from its first point to its last, if they differ"),
            number("seabed", Dimension::LENGTH, Range::Any, "Catenary: height of a level bottom in the world, on which it may lie [m]; none, if not written"),
            any("seabed_friction", Range::NotNegative, "Catenary: coefficient of friction of what lies there, towards an end on the world at the seabed [-]").or(0.0),
            number("bending_stiffness", Dimension::new(3, 1, -2), Range::NotNegative, "Flexible: EI, moment per curvature [N m^2]"),
            number("torsional_stiffness", Dimension::new(3, 1, -2), Range::NotNegative, "Flexible: GJ, torque per twist [N m^2]; default EI/1.3"),
            any("elements", Range::Count, "Flexible: number of its elements; default one for each ten diameters, 4 to 50 [-]"),
            any("joints", Range::Count, "Flexible, realtime: how many of its joints may move at once; the others are welded as they are, until they would bend [-]"),
            any("join_angle", Range::Positive, "Flexible, realtime: a bend that is worth a joint [rad]").or(0.01),
            text("material", "Flexible: material of its surface, for contact. Without axial_stiffness, rope and elongation: what its wires are of"),
            any("wires", Range::Count, "Of a material: number of its wires, 1, 7, 19, 37 or 61, which lie as hexagons within the diameter; default 1 [-]"),
            any("bonded", Range::Fraction, "Of a material: how much wires bend as one, from 0, they slide on each other, to 1 [-]").or(0.0),
            any("elongation", Range::Positive, "Strain under the elongation_load, as catalogues have it, instead of axial_stiffness [-]"),
            number("elongation_load", Dimension::FORCE, Range::Positive, "Load at which it was stretched [N]"),
            number("rest_curvature", Dimension::new(-1, 0, 0), Range::NotNegative, "Flexible: curvature without moment [1/m]").or(0.0),
            key("curved_towards", Form::Direction, "Flexible: to which side its first element is curved, world"),
            number("rest_twist", Dimension::new(-1, 0, 0), Range::Any, "Flexible: twist per length without torque [rad/m]").or(0.0),
            flag("collide", "Flexible: false if it touches nothing").or_true(),
            number("damping", Dimension::new(1, 1, -1), Range::NotNegative, "Tension per rate of strain [N s]").or(0.0),
            number("breaking_load", Dimension::FORCE, Range::Positive, "Tension at which it breaks [N]; never, if there is none and no type of rope"),
            number("length", Dimension::LENGTH, Range::Positive, "Length of the whole at rest, without what is on drums [m]; default that of its path in the written pose"),
            number("tension", Dimension::FORCE, Range::NotNegative, "Tension at the start [N], instead of a length"),
        ]],
        check: |check| {
            check.not_both("length", "tension");
            if !check.has("segments") {
                check.at_least_one(&["axial_stiffness", "rope", "elongation", "material"], "its stiffness: axial_stiffness = 1e6, or rope = \"steel 6x36\" with diameter");
            }
            hangs(check);
            made(check);
            if check.has("rope") {
                check.needs("diameter", "figures of a type of rope go with its diameter");
            }
            wrong(check.part).err().into_iter().for_each(|(message, help)| check.error("points", message, help));
        },
        example: "points = [{ kind = \"end\", on = \"a\" }, { kind = \"ring\", on = \"world\", at = [0, 0, 3] }, { kind = \"end\", on = \"b\" }]\naxial_stiffness = 1e5",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite,
};

/// What is wrong with the keys of a catenary, or with those of one elsewhere.
fn hangs(check: &mut Check<'_>) {
    let own = ["weight", "segments", "seabed", "seabed_friction"];
    if check.part.word("spans") != CATENARY {
        for key in own.into_iter().filter(|key| check.has(key)).collect::<Vec<_>>() {
            check.error(key, format!(" has `{key}`, and hangs in no catenary"), "spans = \"catenary\"");
        }
        return;
    }
    for key in ["tension", "bending_stiffness", "torsional_stiffness", "elements", "joints", "material"] {
        if check.has(key) {
            check.error(
                key,
                format!(" hangs as a catenary, which has no `{key}`"),
                "leave it out, or spans = \"massless\" or \"flexible\"",
            );
        }
    }
    let points = check.part.parts("points");
    if points.len() > 2 || points.iter().any(|point| point.kind.word != "end") {
        let help = "one cable from body to body for each span, or spans = \"massless\"";
        check.error("points", " hangs as a catenary, and does not run from one end to another", help);
    }
    check.not_both("mass_per_length", "weight");
    if !check.has("segments") {
        return check.needs("length", "a catenary has a length at rest, such as length = 110");
    }
    for key in ["length", "axial_stiffness", "mass_per_length", "weight", "rope"]
        .into_iter()
        .filter(|key| check.has(key))
        .collect::<Vec<_>>()
    {
        check.error(key, format!(" has segments and `{key}`"), "each segment has its own");
    }
}

/// What is wrong with what a cable is made of.
fn made(check: &mut Check<'_>) {
    if check.has("elongation") {
        check.not_both("elongation", "axial_stiffness");
        check.needs("elongation_load", "catalogues say at which load: elongation_load = \"50 kN\"");
    }
    if check.has("elongation_load") {
        check.needs("elongation", "how far it stretches under that load: elongation = 0.01");
    }
    let known = ["axial_stiffness", "rope", "elongation", "segments"].into_iter().any(|key| check.has(key));
    if !known && check.has("material") {
        check.needs("diameter", "wires of a material lie within the rope's diameter");
    }
    let hexagons = check.part.find_number("wires").is_none_or(|n| HEXAGONS.contains(&(n as usize)));
    if !hexagons {
        check.error("wires", " has a number of wires that is no hexagon", "1, 7, 19, 37 or 61");
    }
    if check.has("rest_curvature") {
        check.needs("curved_towards", "the side to which it is curved: curved_towards = \"z\"");
    }
    if check.part.word("spans") != SPANS[1] {
        for key in ["rest_curvature", "rest_twist", "curved_towards", "joints"] {
            if check.has(key) {
                check.error(key, format!(" has `{key}`, and does not bend"), "spans = \"flexible\"");
            }
        }
    }
    let laid = check.part.parts("points").iter().any(|point| point.kind.word == "via");
    if laid && check.has("length") {
        check.error(
            "length",
            " has a length and places it is laid through",
            "its length follows from these; `tension` stretches it",
        );
    }
}

/// Points move along; lengths at rest stay as they are.
fn rewrite(part: &mut Part, element: &Element, pose: &dyn NewPose) -> Result<(), String> {
    let mut all = part.parts("points").to_vec();
    for point in &mut all {
        if let (Some(at), [on]) = (point.vector("at"), point.attachments("on")) {
            let at = pose.point(&on.body.clone(), at);
            point.set("at", at);
        }
    }
    part.set("points", all);
    if let Element::Cable(cable) = element {
        part.unset("tension");
        part.set("length", cable.states[..cable.joints.len() + 1].iter().map(|state| state.start).sum::<f64>());
    }
    Ok(())
}

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    if part.word("spans") == CATENARY {
        return heavy_line::make(part, build);
    }
    if part.word("spans") != SPANS[0] {
        build.wrong(
            "is flexible, and has not been laid",
            "read the scene from a file or a text: reading lays its cables",
        );
        return None;
    }
    let all = part.parts("points");
    let d = part.number("diameter");
    let Section { axial: stiffness, breaking, .. } = Section::of(part);
    let frames: Option<Vec<Anchor>> = all.iter().enumerate().map(|(k, point)| place(point, k, build)).collect();
    let mut frames = frames?;
    let points: Vec<Point> = all.iter().map(|point| point_of(point, d)).collect();
    let joints = joints(&points);
    let (mut states, outputs, names) = names(&points, &joints);
    let mut feeds = [None, None];
    for (end, feed) in feeds.iter_mut().enumerate() {
        let point = &all[end * (all.len() - 1)];
        if point.kind.word == "feed" {
            *feed = Some(self::feed(point, end, &mut frames, &mut states, build)?);
        }
    }
    let damping = part.number("damping");
    let mut cable = Cable { frames, feeds, points, stiffness, damping, breaking, joints, states, outputs, names };
    let stored: Vec<f64> = all.iter().map(|point| point.number("stored")).collect();
    begin(&mut cable, part, &stored, build)?;
    Some(Element::Cable(Box::new(cable)))
}

/// Points between lines.
fn joints(points: &[Point]) -> Vec<usize> {
    let free = |point: &Point| match point.role {
        Role::Ring { friction } => friction == 0.0,
        Role::Pulley { efficiency } => efficiency == 1.0,
        _ => false,
    };
    (1..points.len() - 1).filter(|k| !free(&points[*k])).collect()
}

/// Where the cable goes on in an element.
fn element_end(point: &Part, k: usize, end: usize) -> Option<Attachment> {
    let stem = point.attachments("on").first()?.body.strip_suffix('1')?;
    Some(Attachment { body: format!("{stem}{}", k + 1), frame: ["end", "begin"][end].into() })
}

/// The elements at an end, with their frames, and the state that counts them.
fn feed(
    point: &Part,
    end: usize,
    frames: &mut Vec<Anchor>,
    states: &mut Vec<ElementState>,
    build: &mut dyn Build,
) -> Option<Feed> {
    let first = frames.len();
    for k in 0..point.number("elements") as usize {
        frames.push(build.anchor(&element_end(point, k, end)?, None)?);
    }
    let name = Cow::Borrowed(["elements_first", "elements"][end]);
    states.push(ElementState { name, unit: "-", start: point.number("out"), scale: 1.0 });
    let (length, mass) = (point.number("element"), point.number("mass"));
    Some(Feed { frames: first..frames.len(), state: states.len() - 1, length, mass })
}

/// The frame of a point, the k-th: a wheel's with its axle as z axis.
fn place(point: &Part, k: usize, build: &mut dyn Build) -> Option<Anchor> {
    if point.kind.word == "feed" {
        let last = point.number("out") as usize - 1;
        return build.anchor(&element_end(point, last, usize::from(k > 0))?, None);
    }
    let [on] = point.attachments("on") else { return None };
    let anchor = build.anchor(on, point.vector("at"))?;
    let Some(axle) = point.vector("axle") else { return Some(anchor) };
    let (_, origin) = build.pose(&anchor);
    Some(build.placed(anchor.body, (axes_of(axle), origin)))
}

/// Axes of a wheel with this axle.
fn axes_of(axle: Vec3) -> Mat3 {
    let (u, v) = axle.any_orthonormal_pair();
    Mat3::from_cols(u, v, axle)
}

/// Ends of the spans of a cable whose points are there, in the pose at the start, resolved in world [m], and the whole of its path [m]; the
/// senses that were not written are put into its points. None if a point is inside a wheel.
pub fn spans_at(part: &mut Part, places: &[(Mat3, Vec3)]) -> Option<(Vec<[Vec3; 2]>, f64)> {
    let mut all = part.parts("points").to_vec();
    let points: Vec<Point> = all.iter().map(|point| point_of(point, part.number("diameter"))).collect();
    let frames: Vec<Kinematics> = all
        .iter()
        .zip(places)
        .map(|(point, (R, p))| Kinematics { p: *p, R: point.vector("axle").map_or(*R, axes_of), ..Kinematics::WORLD })
        .collect();
    let joints = joints(&points);
    let (states, outputs, names) = names(&points, &joints);
    let (stiffness, damping, breaking) = (1.0, 0.0, f64::INFINITY);
    let feeds = [None, None];
    let mut cable =
        Cable { frames: Vec::new(), feeds, points, stiffness, damping, breaking, joints, states, outputs, names };
    let mut state = cable.lines();
    for (point, written) in cable.points.iter().zip(&all) {
        if matches!(point.role, Role::Drum(_)) {
            cable.states[state].start = written.number("stored");
        }
        state += usize::from(point.circle.radius > 0.0);
    }
    choose_senses(&mut cable, &frames);
    let route = route_at_start(&cable, &frames);
    let spans = route.spans[..all.len() - 1].iter().map(|span| [span.ends[0].at, span.ends[1].at]).collect();
    for (point, laid) in all.iter_mut().zip(&cable.points) {
        if laid.circle.radius > 0.0 && point.get("sense").is_none() {
            point.set("sense", SENSES[usize::from(laid.circle.sense < 0.0)]);
        }
    }
    part.set("points", all);
    let wheels = cable.points.iter().zip(&route.wraps).skip(1).take(cable.points.len() - 2);
    let laid = wheels.map(|(point, wrap)| point.circle.radius * (super::within_a_turn(*wrap) + TAU * point.turns));
    let length = route.spans[..cable.points.len() - 1].iter().map(|span| span.length).sum::<f64>() + laid.sum::<f64>();
    route.clear.then_some((spans, length))
}

fn point_of(part: &Part, d: f64) -> Point {
    let sense = match part.get("sense") {
        None => 0.0,
        Some(_) => {
            if part.word("sense") == SENSES[0] {
                1.0
            } else {
                -1.0
            }
        }
    };
    let circle = Circle { radius: part.number("radius"), sense };
    let role = match part.kind.word {
        "ring" => Role::Ring { friction: part.number("friction") },
        "pulley" => Role::Pulley { efficiency: part.number("efficiency") },
        "sheave" => Role::Sheave { friction: part.find_number("friction") },
        "drum" => {
            let rise = if part.word("laid") == LAYERS[0] { 0.75_f64.sqrt() * d } else { d };
            let turns = part.find_number("width").map(|width| (width / d).floor());
            let spool = Spool {
                turns: turns.unwrap_or(1.0).max(1.0),
                rise: if turns.is_some() { rise } else { 0.0 },
                layers: part.find_number("layers").unwrap_or(f64::INFINITY),
            };
            let radius = if turns.is_some() { Spool::first(circle.radius, d) } else { circle.radius };
            return Point { role: Role::Drum(spool), circle: Circle { radius, sense }, turns: 0.0 };
        }
        _ => Role::End,
    };
    Point { role, circle, turns: part.number("turns") }
}

/// Names of states (their values come later), outputs and modes.
fn names(points: &[Point], joints: &[usize]) -> (Vec<ElementState>, Vec<Output>, Vec<String>) {
    let lines = joints.len() + 1;
    let numbered = |word: &str, k: usize, n: usize| if n == 1 { word.to_string() } else { format!("{word}_{}", k + 1) };
    let state =
        |name: String, unit: &'static str| ElementState { name: Cow::Owned(name), unit, start: 0.0, scale: 1e-6 };
    let output = |name: String, unit: &'static str| Output { name: Cow::Owned(name), unit: Some(unit) };
    let mut states: Vec<ElementState> = (0..lines).map(|k| state(numbered("rest", k, lines), "m")).collect();
    let mut outputs: Vec<Output> = (0..lines).map(|k| output(numbered("tension", k, lines), "N")).collect();
    let spans = points.len() - 1;
    outputs.extend((0..spans).map(|k| output(numbered("length", k, spans), "m")));
    for (k, point) in points.iter().enumerate() {
        match point.role {
            Role::Pulley { .. } | Role::Sheave { .. } => {
                let unit = if joints.contains(&k) { "m" } else { "rad" };
                states.push(state(format!("laid_{}", k + 1), unit));
                outputs.push(output(format!("wrap_{}", k + 1), "rad"));
            }
            Role::Drum(_) => {
                states.push(state("stored".into(), "m"));
                outputs.push(output("layer".into(), "-"));
                outputs.push(output("radius".into(), "m"));
            }
            Role::Ring { .. } | Role::End => {}
        }
    }
    outputs.extend(joints.iter().map(|k| output(format!("slip_{}", k + 1), "m/s")));
    let mut names: Vec<String> =
        (0..lines).map(|k| if lines == 1 { String::new() } else { format!("line_{}", k + 1) }).collect();
    names.extend(joints.iter().map(|k| format!("point_{}", k + 1)));
    names.extend(std::iter::repeat_n(String::new(), 1 + super::FEED_MODES.len() + super::NOTICES.len()));
    (states, outputs, names)
}

/// Senses, wrap angles and lengths at rest in the pose at the start; none if something is wrong with them, which was reported.
fn begin(cable: &mut Cable, part: &Part, stored: &[f64], build: &mut dyn Build) -> Option<()> {
    let at_start = |anchor: &Anchor| {
        let (R, p) = build.pose(anchor);
        Kinematics { p, R, ..Kinematics::WORLD }
    };
    let frames: Vec<Kinematics> = cable.frames.iter().map(at_start).collect();
    load_drums(cable, stored, build)?;
    choose_senses(cable, &frames);
    lay_wraps(cable, &frames, build)?;
    let route = route_at_start(cable, &frames);
    stretch(cable, &route, part, build)?;
    let beyond = cable.beyond_fleet(&route).to_degrees();
    if beyond > 0.0 {
        let angle = beyond + super::LARGEST_FLEET;
        let wheels = part.parts("points").iter().zip(&cable.points).enumerate();
        let mut unwritten = wheels.filter(|(_, (part, point))| point.circle.radius > 0.0 && part.get("axle").is_none());
        if let Some((k, _)) = unwritten.next().filter(|_| angle > super::OFF_THE_GROOVE) {
            let message = format!(
                "runs onto a wheel at a fleet angle of {angle:.1} degrees, and the wheel at point {} has no axle",
                k + 1
            );
            build.wrong(&message, "axle = \"y\", the direction across the plane in which the cable runs there");
            return None;
        }
        build.warn(&format!("runs onto a wheel at a fleet angle of {angle:.1} degrees: rope leaves its groove above about 6, and wears above 4"));
    }
    Some(())
}

/// What lies on the drums.
fn load_drums(cable: &mut Cable, stored: &[f64], build: &mut dyn Build) -> Option<()> {
    let mut state = cable.lines();
    for (k, point) in cable.points.iter().enumerate() {
        if let Role::Drum(spool) = &point.role {
            let most = spool.length_to(point.circle.radius, spool.layers);
            if spool.layers.is_finite() && stored[k] > most {
                let message = format!("has {} m of rope on a drum that holds {most:.6} m", stored[k]);
                build.wrong(&message, "more layers, a wider drum, or less rope");
                return None;
            }
            cable.states[state].start = stored[k];
        }
        state += usize::from(point.circle.radius > 0.0);
    }
    Some(())
}

/// Wrap angles between zero and a turn, and whole turns beyond.
fn lay_wraps(cable: &mut Cable, frames: &[Kinematics], build: &mut dyn Build) -> Option<()> {
    let route = route_at_start(cable, frames);
    if !route.clear {
        let is_wrong = |span: &super::Span| span.length <= 0.0 || span.ends.iter().any(|end| end.fleet <= 0.0);
        let k = route.spans[..cable.points.len() - 1].iter().position(is_wrong).map_or(1, |k| k + 1);
        let message = format!("cannot run from point {k} to point {}: one is inside the wheel of the other", k + 1);
        build.wrong(&message, "move them apart, or make the wheel smaller");
        return None;
    }
    let mut state = cable.lines();
    for k in 0..cable.points.len() {
        let point = &cable.points[k];
        if point.circle.radius == 0.0 {
            continue;
        }
        if !matches!(point.role, Role::Drum(_)) {
            let wrap = super::within_a_turn(route.wraps[k]) + TAU * point.turns;
            cable.states[state].start = if cable.joints.contains(&k) { wrap * point.circle.radius } else { wrap };
        }
        state += 1;
    }
    Some(())
}

/// Lengths at rest, from the length of the whole or the tension.
fn stretch(cable: &mut Cable, route: &Route, part: &Part, build: &mut dyn Build) -> Option<()> {
    let lines = cable.lines();
    let path: f64 = route.path[..lines].iter().sum();
    let strain = match (part.find_number("length"), part.find_number("tension")) {
        (Some(length), _) => {
            let wheels = cable.joints.iter().filter(|k| cable.points[**k].circle.radius > 0.0);
            let lying: f64 = wheels.map(|k| route.laid[*k]).sum();
            if length <= lying {
                let message = format!("is {length} m long, and {lying:.6} m of it lie on its wheels");
                build.wrong(&message, "give it more length");
                return None;
            }
            path / (length - lying) - 1.0
        }
        (None, tension) => tension.unwrap_or(0.0) / cable.stiffness,
    };
    if strain > super::MOST_STRAIN && cable.breaking.is_infinite() {
        let message = format!(
            "is {:.6} m long at rest on a path of {path:.6} m, stretched by {:.0} per cent",
            path / (1.0 + strain),
            100.0 * strain
        );
        build.wrong(&message, "more length; a cord that stretches so far has a `breaking_load`");
        return None;
    }
    let tension = strain * cable.stiffness;
    if tension > cable.breaking {
        let message = format!("starts with {tension:.4e} N, and breaks at {:.4e} N", cable.breaking);
        build.wrong(&message, "its length at rest is shorter than its path: more length, or a stronger rope");
        return None;
    }
    for line in 0..lines {
        cable.states[line].start = route.path[line] / (1.0 + strain);
    }
    Some(())
}

fn route_at_start(cable: &Cable, frames: &[Kinematics]) -> Route {
    let states: Vec<f64> = cable.states.iter().map(|state| state.start).collect();
    Route::on(cable, frames, &states, false)
}

/// Senses that were not written: the shorter way around each wheel, one after the other.
fn choose_senses(cable: &mut Cable, frames: &[Kinematics]) {
    let n = cable.points.len();
    let mut open = Vec::new();
    for (k, point) in cable.points.iter_mut().enumerate().filter(|(_, point)| point.circle.sense == 0.0) {
        point.circle.sense = 1.0;
        open.extend((point.circle.radius > 0.0).then_some(k));
    }
    for _ in 0..2 {
        for &k in &open {
            let length = |sense: f64, cable: &mut Cable| {
                cable.points[k].circle.sense = sense;
                let route = route_at_start(cable, frames);
                let wrap = if k == 0 || k + 1 == n {
                    0.0
                } else {
                    super::within_a_turn(route.wraps[k]) * cable.points[k].circle.radius
                };
                let near = k.saturating_sub(1)..(k + 1).min(n - 1);
                route.spans[near].iter().map(|span| span.length).sum::<f64>() + wrap
            };
            let [left, right] = [1.0, -1.0].map(|sense| length(sense, cable));
            cable.points[k].circle.sense = if left <= right { 1.0 } else { -1.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nested_drum_holds_what_its_layers_hold() {
        let spool = Spool { turns: 30.0, rise: 0.75_f64.sqrt() * 0.02, layers: 4.0 };
        let first = Spool::first(0.3, 0.02);
        assert!((spool.length_to(first, 4.0) - 253.32353).abs() < 1e-5);
        assert!((spool.length_to(first, 1.0) - 58.433623).abs() < 1e-6);
        let (layer, radius) = spool.layer(first, 100.0);
        assert!(layer == 1.0 && (radius - 0.32732051).abs() < 1e-8, "{layer} {radius}");
    }
}
