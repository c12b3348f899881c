//! Joints, and what acts on their coordinates.

use super::format::{self, Measure, Range};
use super::format_mechanism as tables;
use super::node::Value;
use super::read::exactly_one;
use super::read_mechanism::{Elements, at_or_frames, keys_of_kind, missing, number_in, two};
use super::reader::{Fields, Reader, unit_vector};
use super::*;
use crate::equation::Dimension;
use std::collections::BTreeMap;

/// A coupling as written: index of its joint, and the two coordinates it names.
type Coupling = (usize, [(String, Place); 2]);

/// Reads all joints behind those that `joints` has already.
pub(super) fn joints(elements: &Elements<'_>, reader: &mut Reader<'_>, fields: &Fields<'_>, joints: &mut Vec<Joint>) {
    let mut couplings: Vec<Coupling> = Vec::new();
    elements.each(reader, fields, "joint", &tables::JOINT, |reader, fields, name| {
        let Some(joint) = joint(elements, reader, fields, name) else { return };
        if joint.kind.is_coupling() {
            match fields.get("joints") {
                Some(_) => couplings.extend(two(reader, fields, "joints").map(|two| (joints.len(), two))),
                None => missing(reader, fields, "joints", "the two joints it couples, such as joints = [\"a\", \"b\"]"),
            }
        }
        joints.push(joint);
    });
    let kinds: BTreeMap<&str, JointKind> = joints.iter().map(|joint| (joint.name.as_str(), joint.kind)).collect();
    let mut found = Vec::new();
    for (k, texts) in &couplings {
        found.push((*k, couple(reader, &joints[*k], texts, &kinds)));
    }
    for (k, couples) in found {
        joints[k].couples = couples;
    }
}

/// The coordinates a coupling names, in its order.
fn couple(
    reader: &mut Reader<'_>,
    joint: &Joint,
    texts: &[(String, Place); 2],
    kinds: &BTreeMap<&str, JointKind>,
) -> Vec<(String, usize)> {
    let what = format!("joint \"{}\"", joint.name);
    let mut couples: Vec<(String, usize)> = Vec::new();
    for (k, (text, place)) in texts.iter().enumerate() {
        let Some((name, index, coordinate)) = coordinate_of(reader, &what, text, *place, kinds) else { continue };
        let angle_wanted = match joint.kind {
            JointKind::Belt => Some(true),
            JointKind::RackAndPinion => Some(k == 0),
            _ => None,
        };
        if angle_wanted.is_some_and(|wanted| wanted != coordinate.is_angle) {
            let is = if coordinate.is_angle { "an angle" } else { "a position" };
            let help = match joint.kind {
                JointKind::Belt => "a belt couples two angles",
                _ => "a rack and pinion couples first an angle, then a position",
            };
            reader.error(*place, format!("{what}: {name}.{} is {is}", coordinate.name), help);
        }
        let one = (name.to_string(), index);
        if couples.contains(&one) {
            reader.error(*place, format!("{what} couples {name}.{} to itself", coordinate.name), "");
        }
        couples.push(one);
    }
    couples
}

/// What `JOINT` or `JOINT.COORDINATE` names: the joint, the index and the coordinate.
fn coordinate_of<'k>(
    reader: &mut Reader<'_>,
    what: &str,
    text: &str,
    place: Place,
    kinds: &BTreeMap<&'k str, JointKind>,
) -> Option<(&'k str, usize, Coordinate)> {
    let whole = std::iter::once((text, None));
    let parts = text.rmatch_indices('.').map(|(dot, _)| (&text[..dot], Some(&text[dot + 1..])));
    for (name, wanted) in whole.chain(parts) {
        let Some((name, kind)) = kinds.get_key_value(name) else { continue };
        let coordinates = kind.coordinates();
        let index = match wanted {
            None => 0,
            Some(wanted) => coordinates.iter().position(|c| c.name == wanted).unwrap_or(usize::MAX),
        };
        if let Some(coordinate) = coordinates.get(index) {
            return Some((name, index, *coordinate));
        }
        let message = match wanted {
            Some(wanted) => format!("{what}: joint \"{name}\" has no coordinate \"{wanted}\""),
            None => format!("{what}: joint \"{name}\" has no coordinate"),
        };
        let help = match coordinates {
            [] => format!("a joint of kind {} has none to couple", kind.name()),
            _ => did_you_mean(wanted.unwrap_or(""), coordinates.iter().map(|c| c.name)),
        };
        reader.error(place, message, help);
        return None;
    }
    let help = did_you_mean(text, kinds.keys().copied());
    reader.error(place, format!("{what}: unknown joint \"{text}\""), help);
    None
}

fn joint(elements: &Elements<'_>, reader: &mut Reader<'_>, fields: &Fields<'_>, name: String) -> Option<Joint> {
    let kind = reader.word(fields, "kind", JointKind::from_name)?;
    keys_of_kind(reader, fields, kind.name());
    let mut joint = Joint { name, kind, places: fields.places(), ..Joint::default() };
    if !kind.is_coupling() {
        let between = elements.between(reader, fields, "bodies", true);
        if let Some(between) = &between {
            at_or_frames(reader, fields, between);
        }
        joint.between = between?;
    }
    joint.at = reader.vec3(fields, "at");
    joint.axis = direction(reader, fields, "axis").or(joint.at.map(|_| Vec3::Z));
    joint.axis2 = direction(reader, fields, "axis2");
    if let (JointKind::Universal, Some(axis), Some(axis2)) = (kind, joint.axis, joint.axis2)
        && axis.cross(axis2).length() < 1e-9
    {
        let message = format!("{}: axis and axis2 are parallel", fields.what);
        reader.error(fields.place_of("axis2"), message, "a universal joint turns about two different axes");
    }
    start(reader, fields, &mut joint);
    joint.rows = reader.flag(fields, "rows").unwrap_or(false);
    for (limit, name) in joint.breaking.iter_mut().zip(["breaking_force", "breaking_torque"]) {
        *limit = reader.number(fields, name).unwrap_or(f64::INFINITY);
    }
    joint.collide = reader.flag(fields, "collide").unwrap_or(false);
    joint.active = reader.flag(fields, "active").unwrap_or(true);
    dimensions(reader, fields, &mut joint);
    for fields in one_or_many(reader, fields, "spring", &tables::SPRING) {
        joint.springs.extend(spring(reader, &fields, kind));
    }
    for fields in one_or_many(reader, fields, "limit", &tables::LIMIT) {
        joint.limits.extend(limit(reader, &fields, kind));
    }
    for fields in one_or_many(reader, fields, "friction", &tables::FRICTION) {
        joint.frictions.extend(friction(reader, &fields, kind));
    }
    for inner in one_or_many(reader, fields, "motor", &tables::MOTOR) {
        let Some(motor) = motor(elements, reader, &inner, kind) else { continue };
        if joint.motors.iter().any(|other| other.coordinate == motor.coordinate) {
            let coordinate = kind.coordinates()[motor.coordinate].name;
            let message = format!("{} has two motors on its coordinate {coordinate}", fields.what);
            reader.error(inner.place, message, "keep one of them, or add their values");
        }
        joint.motors.push(motor);
    }
    Some(joint)
}

/// A direction under a key: a vector, or the name of an axis of the world.
fn direction(reader: &mut Reader<'_>, fields: &Fields<'_>, name: &str) -> Option<Vec3> {
    let (node, key) = (fields.get(name)?, fields.table.key(name)?);
    let vector = match &node.value {
        Value::Text(text) => match text.text.as_str() {
            "x" => Vec3::X,
            "y" => Vec3::Y,
            "z" => Vec3::Z,
            "-x" => Vec3::NEG_X,
            "-y" => Vec3::NEG_Y,
            "-z" => Vec3::NEG_Z,
            word => {
                let help = format!("three numbers, or one of {}", tables::DIRECTIONS.join(", "));
                reader.error(node.place, format!("{}: unknown {name} \"{word}\"", fields.what), help);
                return None;
            }
        },
        _ => {
            let any = Measure { dimension: None, range: Range::Any };
            Vec3::from_array(reader.numbers(node, any, &fields.what, key)?)
        }
    };
    if let Some(direction) = unit_vector(vector) {
        return Some(direction);
    }
    let length = vector.length();
    let message = format!("{}: {name} has length {length}", fields.what);
    reader.error(node.place, message, "an axis is a direction, such as [0, 0, 1]");
    None
}

/// Start values of coordinates and rates.
fn start(reader: &mut Reader<'_>, fields: &Fields<'_>, joint: &mut Joint) {
    for coordinate in joint.kind.coordinates() {
        let (value, rate) = match coordinate.is_angle {
            true => (Dimension::ONE, Dimension::ANGULAR_SPEED),
            false => (Dimension::LENGTH, Dimension::SPEED),
        };
        joint.start.push(number_in(reader, fields, coordinate.name, value));
        joint.start_rate.push(number_in(reader, fields, coordinate.rate, rate));
    }
    let given = |key: &str| fields.get(key).is_some();
    let components = |vector: Option<Vec3>| vector.map_or([None; 3], |v| v.to_array().map(Some));
    let omega = components(reader.vec3(fields, "angular_velocity"));
    let v = components(reader.vec3(fields, "velocity"));
    match joint.kind {
        JointKind::Spherical if given("angular_velocity") => joint.start_rate = omega.to_vec(),
        JointKind::Free if given("angular_velocity") || given("velocity") => joint.start_rate = [omega, v].concat(),
        _ => {}
    }
}

/// The lengths and ratios that belong to the kind.
fn dimensions(reader: &mut Reader<'_>, fields: &Fields<'_>, joint: &mut Joint) {
    let not_zero = |reader: &mut Reader<'_>, key: &str, help: &str| {
        if fields.get(key).is_none() {
            missing(reader, fields, key, help);
        }
        let value = reader.number(fields, key);
        if value == Some(0.0) {
            reader.error(fields.place_of(key), format!("{} has {key} 0", fields.what), help);
        }
        value.unwrap_or(1.0)
    };
    match joint.kind {
        JointKind::Screw => joint.pitch = not_zero(reader, "pitch", "translation per turn, such as pitch = \"2 mm\""),
        JointKind::Distance => joint.length = reader.number(fields, "length"),
        JointKind::Gear => joint.ratio = not_zero(reader, "ratio", "rate of the first over rate of the second"),
        JointKind::RackAndPinion => {
            joint.ratio = not_zero(reader, "radius", "translation per radian, such as radius = \"30 mm\"");
        }
        JointKind::Belt => {
            if fields.get("radii").is_none() {
                missing(reader, fields, "radii", "radii of the two pulleys, such as radii = [0.1, 0.2]");
            }
            let [r1, r2] = reader.vector::<2>(fields, "radii").unwrap_or([1.0; 2]);
            let crossed = reader.flag(fields, "crossed").unwrap_or(false);
            joint.ratio = if crossed { -r2 / r1 } else { r2 / r1 };
        }
        JointKind::Rolling if exactly_one(reader, fields, "radius", "semi_axes") => {
            rolling(reader, fields, joint);
        }
        _ => {}
    }
}

/// What rolls: (r, r, 0) for a disc, (r, r, r) for a ball, or an ellipsoid.
fn rolling(reader: &mut Reader<'_>, fields: &Fields<'_>, joint: &mut Joint) {
    let shape = reader.text(fields, "shape").map(str::to_string);
    if let Some(semi_axes) = reader.vec3(fields, "semi_axes") {
        joint.semi_axes = semi_axes;
        if let Some(node) = fields.get("shape") {
            reader.error(node.place, format!("{} has both `semi_axes` and `shape`", fields.what), "keep one of them");
        }
        return;
    }
    let (Some(node), Some(key)) = (fields.get("radius"), fields.table.key("radius")) else { return };
    let size = Measure { dimension: Some(Dimension::LENGTH), range: Range::Positive };
    let Some(r) = reader.measured(node, size, &fields.what, key) else { return };
    joint.semi_axes = match shape.as_deref() {
        Some("disc") => Vec3::new(r, r, 0.0),
        Some("ball") => Vec3::splat(r),
        Some(word) => {
            let help = did_you_mean(word, ["disc", "ball"]);
            reader.error(fields.place_of("shape"), format!("{}: unknown shape \"{word}\"", fields.what), help);
            return;
        }
        None if fields.get("shape").is_some() => return,
        None => return missing(reader, fields, "shape", "shape = \"disc\" or shape = \"ball\""),
    };
}

/// The table under a key, or every one of a list of tables.
fn one_or_many<'n>(
    reader: &mut Reader<'_>,
    fields: &Fields<'n>,
    key: &str,
    table: &'static format::Table,
) -> Vec<Fields<'n>> {
    let Some(node) = fields.get(key) else { return Vec::new() };
    let what = format!("{}: {key}", fields.what);
    match &node.value {
        Value::List(items) => items.iter().filter_map(|item| reader.fields(item, table, what.clone())).collect(),
        _ => reader.fields(node, table, what).into_iter().collect(),
    }
}

/// Index of the coordinate a table is for, and the coordinate.
fn coordinate(reader: &mut Reader<'_>, fields: &Fields<'_>, kind: JointKind) -> Option<(usize, Coordinate)> {
    let coordinates = kind.coordinates();
    let Some(node) = fields.get("coordinate") else { return coordinates.first().map(|first| (0, *first)) };
    let text = reader.text(fields, "coordinate")?;
    let index = coordinates.iter().position(|coordinate| coordinate.name == text);
    if index.is_none() {
        let help = did_you_mean(text, coordinates.iter().map(|coordinate| coordinate.name));
        let message = format!("{}: a joint of kind {} has no coordinate \"{text}\"", fields.what, kind.name());
        reader.error(node.place, message, help);
    }
    index.map(|index| (index, coordinates[index]))
}

/// Dimension of a force along a coordinate, times length^l time^t of that coordinate: what stiffness and damping have.
fn generalized(coordinate: Coordinate, per: i16, time: i16) -> Dimension {
    match coordinate.is_angle {
        true => Dimension::new(2, 1, -2 + time),
        false => Dimension::new(1 - per, 1, -2 + time),
    }
}

fn value_of(coordinate: Coordinate) -> Dimension {
    if coordinate.is_angle { Dimension::ONE } else { Dimension::LENGTH }
}

fn spring(reader: &mut Reader<'_>, fields: &Fields<'_>, kind: JointKind) -> Option<CoordinateSpring> {
    let (index, coordinate) = coordinate(reader, fields, kind)?;
    if fields.get("stiffness").is_none() && fields.get("damping").is_none() {
        reader.error(fields.place, format!("{} has neither `stiffness` nor `damping`", fields.what), "");
    }
    Some(CoordinateSpring {
        coordinate: index,
        stiffness: number_in(reader, fields, "stiffness", generalized(coordinate, 1, 0)).unwrap_or(0.0),
        damping: number_in(reader, fields, "damping", generalized(coordinate, 1, 1)).unwrap_or(0.0),
        rest: number_in(reader, fields, "rest", value_of(coordinate)).unwrap_or(0.0),
        places: fields.places(),
    })
}

fn limit(reader: &mut Reader<'_>, fields: &Fields<'_>, kind: JointKind) -> Option<Limit> {
    let (index, coordinate) = coordinate(reader, fields, kind)?;
    let limit = Limit {
        coordinate: index,
        lower: number_in(reader, fields, "lower", value_of(coordinate)),
        upper: number_in(reader, fields, "upper", value_of(coordinate)),
        stiffness: reader.number(fields, "stiffness").unwrap_or(1.0),
        exponent: reader.number(fields, "exponent").unwrap_or(1.5),
        restitution: reader.number(fields, "restitution").unwrap_or(0.5),
        places: fields.places(),
    };
    if fields.get("lower").is_none() && fields.get("upper").is_none() {
        reader.error(fields.place, format!("{} has neither `lower` nor `upper`", fields.what), "");
    }
    if let (Some(lower), Some(upper)) = (limit.lower, limit.upper)
        && lower >= upper
    {
        let unit = if coordinate.is_angle { "rad" } else { "m" };
        let message = format!("{} has lower {lower} {unit} not below upper {upper} {unit}", fields.what);
        reader.error(fields.place_of("upper"), message, "the lower stop is below the upper one");
    }
    Some(limit)
}

fn friction(reader: &mut Reader<'_>, fields: &Fields<'_>, kind: JointKind) -> Option<JointFriction> {
    let (index, coordinate) = coordinate(reader, fields, kind)?;
    let force = generalized(coordinate, 0, 0);
    let sliding = number_in(reader, fields, "sliding", force)?;
    let sticking = number_in(reader, fields, "sticking", force).unwrap_or(sliding);
    if sticking < sliding {
        let message = format!("{} has sticking {sticking} below sliding {sliding}", fields.what);
        reader.error(fields.place_of("sticking"), message, "sticking friction is at least sliding friction");
    }
    Some(JointFriction { coordinate: index, sliding, sticking, places: fields.places() })
}

fn motor(elements: &Elements<'_>, reader: &mut Reader<'_>, fields: &Fields<'_>, kind: JointKind) -> Option<Motor> {
    let (index, coordinate) = coordinate(reader, fields, kind)?;
    let kind = reader.word(fields, "kind", MotorKind::from_name)?;
    keys_of_kind(reader, fields, kind.name());
    let value = elements.equation(reader, fields, "value");
    if kind == MotorKind::Position && fields.get("stiffness").is_none() {
        missing(reader, fields, "stiffness", "how hard it pulls to the position");
    }
    Some(Motor {
        coordinate: index,
        kind,
        value: value?,
        limit: number_in(reader, fields, "limit", generalized(coordinate, 0, 0)),
        stiffness: number_in(reader, fields, "stiffness", generalized(coordinate, 1, 0)).unwrap_or(0.0),
        damping: number_in(reader, fields, "damping", generalized(coordinate, 1, 1)).unwrap_or(0.0),
        places: fields.places(),
    })
}
