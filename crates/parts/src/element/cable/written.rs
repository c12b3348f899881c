//! Cables as scenes know them.

use super::section::{ROPES, Section};
use super::{Cable, Circle, MOST_POINTS, Point, Role, Room, Spool};
use crate::element::{Anchor, Build, Element, ElementSpec, ElementState, NewPose, Output, heavy_line};
use crate::kinematics::Kinematics;
use std::borrow::Cow;
use std::f64::consts::TAU;
use tippe_format::equation::Dimension;
use tippe_format::key::{Form, Key, Range, Spec, Table, any, flag, key, number, text, word};
use tippe_format::part::{Check, Part};
use tippe_geometry::Mat3;

/// Fleet angle beyond which a scene warns [degrees].
const LARGEST_FLEET: f64 = 4.0;
/// Words of the ways in which a cable runs between its points.
const SPANS: [&str; 3] = ["massless", "flexible", CATENARY];
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
    keys: &[&WHERE, &[flag("clamped", "A flexible cable cannot turn there; it is pinned, if not")]],
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
    keys: &[
        &WHERE,
        &WHEEL,
        &[any("efficiency", Range::Fraction, "Tension that goes on over tension that comes in, of its bearing [-]")
            .or(1.0)],
    ],
    ..Spec::NONE
};
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
    keys: &[&[key("kind", Form::Kind, "What the cable does there").required("end, ring, pulley, sheave or drum")]],
    kinds: &[&END, &RING, &PULLEY, &SHEAVE, &DRUM],
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
            word("spans", &SPANS, "How it runs between its points: massless spans only pull, flexible ones are chains of bodies, a catenary is a heavy line between two ends").or_word(SPANS[0]),
            number("mass_per_length", MASS, Range::Positive, "Flexible or catenary: mass per length [kg/m]"),
            number("weight", WEIGHT, Range::Positive, "Catenary: weight per length, in water, instead [N/m]"),
            key("segments", Form::Parts(&SEGMENT_KINDS), "Catenary: its parts, from its first point to its last, if they differ"),
            number("seabed", Dimension::LENGTH, Range::Any, "Catenary: height of a level bottom in the world, on which it may lie [m]; none, if not written"),
            any("seabed_friction", Range::NotNegative, "Catenary: coefficient of friction of what lies there, towards an end on the world at the seabed [-]").or(0.0),
            number("bending_stiffness", Dimension::new(3, 1, -2), Range::NotNegative, "Flexible: EI, moment per curvature [N m^2]"),
            number("torsional_stiffness", Dimension::new(3, 1, -2), Range::NotNegative, "Flexible: GJ, torque per twist [N m^2]; default EI/1.3"),
            any("elements", Range::Count, "Flexible: number of its elements; default one for each ten diameters, 4 to 50 [-]"),
            text("material", "Flexible: material of its surface, for contact"),
            flag("collide", "Flexible: false if it touches nothing").or_true(),
            number("damping", Dimension::new(1, 1, -1), Range::NotNegative, "Tension per rate of strain [N s]").or(0.0),
            number("breaking_load", Dimension::FORCE, Range::Positive, "Tension at which it breaks [N]; never, if there is none and no type of rope"),
            number("length", Dimension::LENGTH, Range::Positive, "Length of the whole at rest, without what is on drums [m]; default that of its path in the written pose"),
            number("tension", Dimension::FORCE, Range::NotNegative, "Tension at the start [N], instead of a length"),
        ]],
        check: |check| {
            check.not_both("length", "tension");
            if !check.has("segments") {
                check.at_least_one(&["axial_stiffness", "rope"], "its stiffness: axial_stiffness = 1e6, or rope = \"steel 6x36\" with diameter");
            }
            hangs(check);
            if check.has("rope") {
                check.needs("diameter", "figures of a type of rope go with its diameter");
            }
            points(check.part).err().into_iter().for_each(|(message, help)| check.error("points", message, help));
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
    for key in
        ["tension", "damping", "breaking_load", "bending_stiffness", "torsional_stiffness", "elements", "material"]
    {
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

/// What is wrong with the points of a cable, and what to do.
fn points(part: &Part) -> Result<(), (String, String)> {
    let all = part.parts("points");
    let wrong = |message: String, help: &str| Err((message, help.to_string()));
    if all.len() < 2 {
        return wrong(format!(" has {} points", all.len()), "a cable has two ends at least");
    }
    if all.len() > MOST_POINTS {
        return wrong(
            format!(" has {} points, more than {MOST_POINTS}", all.len()),
            "cut it in two at an end on a body",
        );
    }
    for (k, point) in all.iter().enumerate() {
        let (is_end, number) = (k == 0 || k + 1 == all.len(), k + 1);
        match point.kind.word {
            "end" | "drum" if !is_end => {
                return wrong(
                    format!(": its point {number} is a {}, in the middle", point.kind.word),
                    "a cable goes on through a ring, a pulley or a sheave",
                );
            }
            "ring" | "pulley" | "sheave" if is_end => {
                return wrong(
                    format!(" ends at a {} (point {number})", point.kind.word),
                    "it ends at an end or a drum",
                );
            }
            "pulley" if point.number("efficiency") == 0.0 => {
                return wrong(
                    format!(": the pulley at point {number} has no efficiency"),
                    "efficiency = 0.97, or 1 for none lost",
                );
            }
            "drum" if point.get("sense").is_none() => {
                return wrong(
                    format!(": the drum at point {number} has no sense"),
                    "sense = \"left\" or \"right\": the side on which the cable leaves it",
                );
            }
            "drum" if point.get("width").is_some() && part.get("diameter").is_none() => {
                return wrong(": a drum with a width needs the rope's diameter".into(), "such as diameter = 0.02");
            }
            _ => {}
        }
        let same = |other: &Part| {
            other.attachments("on") == point.attachments("on") && other.vector("at") == point.vector("at")
        };
        if k > 0 && same(&all[k - 1]) {
            return wrong(format!(": its points {k} and {number} are one"), "let the cable run from place to place");
        }
    }
    Ok(())
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
    let frames: Option<Vec<Anchor>> = all.iter().map(|point| place(point, build)).collect();
    let frames = frames?;
    let points: Vec<Point> = all.iter().map(|point| self::point(point, d)).collect();
    let between = |k: &usize| {
        let free = |point: &Point| match point.role {
            Role::Ring { friction } => friction == 0.0,
            Role::Pulley { efficiency } => efficiency == 1.0,
            _ => false,
        };
        !free(&points[*k])
    };
    let joints: Vec<usize> = (1..points.len() - 1).filter(between).collect();
    let (states, outputs, names) = names(&points, &joints);
    let damping = part.number("damping");
    let mut cable = Cable { frames, points, stiffness, damping, breaking, joints, states, outputs, names };
    let stored: Vec<f64> = all.iter().map(|point| point.number("stored")).collect();
    begin(&mut cable, part, &stored, build)?;
    Some(Element::Cable(Box::new(cable)))
}

/// The frame of a point: a wheel's with its axle as z axis.
fn place(point: &Part, build: &mut dyn Build) -> Option<Anchor> {
    let [on] = point.attachments("on") else { return None };
    let anchor = build.anchor(on, point.vector("at"))?;
    let Some(axle) = point.vector("axle") else { return Some(anchor) };
    let (_, origin) = build.pose(&anchor);
    let (u, v) = axle.any_orthonormal_pair();
    let axes = Mat3::from_cols(u, v, axle);
    Some(build.placed(anchor.body, (axes, origin)))
}

fn point(part: &Part, d: f64) -> Point {
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
    names.push(String::new());
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
    let room = room_at_start(cable, &frames);
    stretch(cable, &room, part, build)?;
    let ends = room.spans[..cable.points.len() - 1].iter().flat_map(|span| span.ends);
    let angle = libm::acos(ends.map(|end| end.fleet).fold(1.0, f64::min)).to_degrees();
    if angle > LARGEST_FLEET {
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
    let room = room_at_start(cable, frames);
    if !room.clear {
        let is_wrong = |span: &super::Span| span.length <= 0.0 || span.ends.iter().any(|end| end.fleet <= 0.0);
        let k = room.spans[..cable.points.len() - 1].iter().position(is_wrong).map_or(1, |k| k + 1);
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
            let wrap = super::within_a_turn(room.wraps[k]) + TAU * point.turns;
            cable.states[state].start = if cable.joints.contains(&k) { wrap * point.circle.radius } else { wrap };
        }
        state += 1;
    }
    Some(())
}

/// Lengths at rest, from the length of the whole or the tension.
fn stretch(cable: &mut Cable, room: &Room, part: &Part, build: &mut dyn Build) -> Option<()> {
    let lines = cable.lines();
    let path: f64 = room.path[..lines].iter().sum();
    let strain = match (part.find_number("length"), part.find_number("tension")) {
        (Some(length), _) => {
            let wheels = cable.joints.iter().filter(|k| cable.points[**k].circle.radius > 0.0);
            let lying: f64 = wheels.map(|k| room.laid[*k]).sum();
            if length <= lying {
                let message = format!("is {length} m long, and {lying:.6} m of it lie on its wheels");
                build.wrong(&message, "give it more length");
                return None;
            }
            path / (length - lying) - 1.0
        }
        (None, tension) => tension.unwrap_or(0.0) / cable.stiffness,
    };
    let tension = strain * cable.stiffness;
    if tension > cable.breaking {
        let message = format!("starts with {tension:.4e} N, and breaks at {:.4e} N", cable.breaking);
        build.wrong(&message, "its length at rest is shorter than its path: more length, or a stronger rope");
        return None;
    }
    for line in 0..lines {
        cable.states[line].start = room.path[line] / (1.0 + strain);
    }
    Some(())
}

fn room_at_start(cable: &Cable, frames: &[Kinematics]) -> Room {
    let states: Vec<f64> = cable.states.iter().map(|state| state.start).collect();
    Room::of(cable, frames, &states)
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
                let room = room_at_start(cable, frames);
                let wrap = if k == 0 || k + 1 == n {
                    0.0
                } else {
                    super::within_a_turn(room.wraps[k]) * cable.points[k].circle.radius
                };
                let near = k.saturating_sub(1)..(k + 1).min(n - 1);
                room.spans[near].iter().map(|span| span.length).sum::<f64>() + wrap
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
