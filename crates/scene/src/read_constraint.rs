//! Constraints: sums of coordinates that are held at a limit, or on one side of it.

use super::node::{Entry, Value};
use super::read_mechanism::entries;
use super::read_part::coordinate_of;
use super::reader::{Fields, Reader};
use super::*;
use crate::equation::{Dimension, Kind};
use std::collections::BTreeMap;
use tippe_format::key::{Along, Coordinate, Measure, Range};

/// A term as it is written: its joint, the index of the coordinate, the coordinate.
type Named<'k, 'n> = (&'k str, usize, Coordinate, &'n Entry);

/// A constraint over coordinates of joints of these kinds.
pub(super) fn constraint(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    name: String,
    joints: &BTreeMap<String, &'static Spec>,
) -> Option<Constraint> {
    let named = terms(reader, fields, joints)?;
    let length = named.iter().any(|(_, _, coordinate, _)| !coordinate.turns);
    let factors: Vec<Option<f64>> = named.iter().map(|term| factor(reader, fields, term, length)).collect();
    let holds = holds(reader, fields);
    let along = if length { Coordinate::length("", "", ["", ""]) } else { Coordinate::angle("", "", ["", ""]) };
    let value = along.dimension(Along::Value);
    let mut number = |name: &str, dimension, range| {
        let (node, key) = (fields.get(name)?, fields.table.key(name)?);
        reader.measured(node, Measure { dimension, range }, &fields.what, key)
    };
    let compliance = number("compliance", value.over(along.dimension(Along::Force)), Range::NotNegative);
    let damping = number("damping", Some(along.dimension(Along::Damping)), Range::NotNegative);
    let force_max = number("force_max", Some(along.dimension(Along::Force)), Range::Positive);
    let (key, holds) = holds?;
    let limit = number(key, Some(value), Range::Any)?;
    let term = |((joint, coordinate, ..), factor): (&Named<'_, '_>, Option<f64>)| {
        Some(ConstraintTerm { joint: joint.to_string(), coordinate: *coordinate, factor: factor? })
    };
    Some(Constraint {
        name,
        terms: named.iter().zip(factors).map(term).collect::<Option<_>>()?,
        holds,
        limit,
        compliance: compliance.unwrap_or(0.0),
        damping: damping.unwrap_or(0.0),
        force_max,
        places: fields.places(),
    })
}

/// The coordinates that its terms name, each once.
fn terms<'k, 'n>(
    reader: &mut Reader<'_>,
    fields: &Fields<'n>,
    joints: &'k BTreeMap<String, &'static Spec>,
) -> Option<Vec<Named<'k, 'n>>> {
    let what = format!("{}: terms", fields.what);
    let mut named: Vec<Named<'k, 'n>> = Vec::new();
    let mut complete = true;
    for entry in entries(reader, fields, "terms") {
        if let Value::Table(_) = entry.node.value {
            let message = format!("{what}: {} is a table, not a factor", entry.key);
            let help = format!("write a coordinate in quotes, such as \"{}.position\" = 1", entry.key);
            reader.error(entry.place, message, help);
            complete = false;
            continue;
        }
        let text = reader.filled(&entry.node, &entry.key);
        let Some((joint, coordinate)) = coordinate_of(reader, &what, &text, entry.place, joints) else {
            complete = false;
            continue;
        };
        let index = joints[joint].coordinates.iter().position(|other| other.name == coordinate.name).unwrap_or(0);
        if named.iter().any(|(other, of, ..)| (*other, *of) == (joint, index)) {
            let message = format!("{} has two terms of {joint}.{}", fields.what, coordinate.name);
            reader.error(entry.place, message, "add their factors");
            complete = false;
        }
        named.push((joint, index, coordinate, entry));
    }
    let is_table = fields.get("terms").is_some_and(|node| matches!(node.value, Value::Table(_)));
    if named.is_empty() && complete && is_table {
        let help = "name coordinates of joints, such as terms = { \"slide.position\" = 1 }";
        reader.error(fields.place_of("terms"), format!("{} has no term", fields.what), help);
        complete = false;
    }
    (complete && is_table).then_some(named)
}

/// The factor of a term [-, or m/rad for an angle in a sum of lengths].
fn factor(reader: &mut Reader<'_>, fields: &Fields<'_>, term: &Named<'_, '_>, length: bool) -> Option<f64> {
    let (joint, _, coordinate, entry) = term;
    let called = format!("{joint}.{}", coordinate.name);
    let quantity = reader.quantity(&entry.node, &format!("{}: the factor of {called}", fields.what))?;
    let rolled = length && coordinate.turns;
    let wanted = if rolled { Dimension::LENGTH } else { Dimension::ONE };
    let wrong = match quantity.kind {
        Kind::Dim(given) if given != wanted => Some(format!("the unit [{given}]")),
        Kind::Bare if rolled => Some("no unit".to_owned()),
        Kind::Condition => Some("a condition".to_owned()),
        _ => None,
    };
    if let Some(given) = wrong {
        let (kind, unit, help) = match (rolled, length) {
            (true, _) => {
                ("an angle in a sum of lengths", "[m] per rad", format!("such as \"{called}\" = \"0.1 m/rad\""))
            }
            (false, true) => ("a length in a sum of lengths", "no unit", String::new()),
            (false, false) => ("an angle in a sum of angles", "no unit", String::new()),
        };
        let message = format!("{}: the factor of {called}, {kind}, has {given}; it has {unit}", fields.what);
        reader.error(entry.node.place, message, help);
        return None;
    }
    if quantity.value == 0.0 || !quantity.value.is_finite() {
        let message = format!("{}: the factor of {called} is {}", fields.what, quantity.value);
        reader.error(entry.node.place, message, "a factor is a number other than 0; leave out the term");
        return None;
    }
    Some(quantity.value)
}

/// Which way it holds, and the key that says so.
fn holds(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<(&'static str, ConstraintHolds)> {
    let given = ConstraintHolds::WORDS.into_iter().filter(|(key, _)| fields.get(key).is_some());
    match given.collect::<Vec<_>>().as_slice() {
        [one] => Some(*one),
        [] => {
            let message = format!("{} has no limit", fields.what);
            reader.error(fields.place, message, "one of equals, at_most, at_least: what the sum is held at");
            None
        }
        [(first, _), (second, _), ..] => {
            let message = format!("{} has both `{first}` and `{second}`", fields.what);
            reader.error(fields.place_of(second), message, "keep one of them; two constraints hold two limits");
            None
        }
    }
}
