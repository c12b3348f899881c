//! Parts as their tables declare them: every value in its form, then what the keys must obey together.

use super::format::{Along, Coordinate, Ends, Form, Key, Measure, Range, Spec, Table};
use super::node::{Node, Value as Written};
use super::read_mechanism::{Elements, missing};
use super::reader::{Fields, Reader, unit_vector};
use super::*;
use crate::equation::Dimension;
use std::collections::BTreeMap;
use tippe_format::key::Coupled;
use tippe_format::part::{Check, Wrong};

/// Axes of the world, by name.
pub(super) const DIRECTIONS: [(&str, Vec3); 6] =
    [("x", Vec3::X), ("y", Vec3::Y), ("z", Vec3::Z), ("-x", Vec3::NEG_X), ("-y", Vec3::NEG_Y), ("-z", Vec3::NEG_Z)];

/// Coordinates that a part names, to be found once all joints are known.
pub(super) struct Coupling {
    /// Name of the part.
    part: String,
    key: &'static Key,
    texts: Vec<(String, Place)>,
}

/// Where a value is read: how messages call its table, and whose coordinates it can name.
#[derive(Clone, Copy)]
struct At<'a> {
    what: &'a str,
    /// Kind of the joint around it.
    joint: Option<&'static Spec>,
    /// The coordinate its table is for.
    coordinate: Option<Coordinate>,
}

impl Elements<'_> {
    /// Reads all parts of a list behind those that `out` has already.
    pub fn parts(
        &self,
        reader: &mut Reader<'_>,
        fields: &Fields<'_>,
        key: &str,
        table: &'static Table,
        out: &mut Vec<Part>,
    ) {
        self.each(reader, fields, key, table, |reader, fields, name| out.extend(self.part(reader, fields, name, None)));
    }

    /// A part; `joint` is the kind of the joint around it.
    fn part(
        &self,
        reader: &mut Reader<'_>,
        fields: &Fields<'_>,
        name: String,
        joint: Option<&'static Spec>,
    ) -> Option<Part> {
        let kind = kind(reader, fields)?;
        let mut part = Part { places: fields.places(), ..Part::new(name, kind) };
        let what = fields.what.as_str();
        let mut at = At { what, joint: joint.or(Some(kind)), coordinate: None };
        if joint.is_some() && kind.key("coordinate").is_some() {
            let named = fields.get("coordinate").and_then(|node| coordinate(reader, node, at));
            let first = || joint.and_then(|joint| joint.coordinates.first()).copied();
            // A coordinate that could not be read was reported; units of another one would mislead.
            at.coordinate = Some(if fields.get("coordinate").is_some() { named? } else { first()? });
        }
        let mut written = Vec::new();
        for key in kind.keys() {
            let Some(node) = fields.get(key.name) else {
                if key.required {
                    missing(reader, fields, key.name, key.help);
                }
                continue;
            };
            written.push(key.name);
            if let Form::Coordinates(wanted) = key.form {
                let texts = as_many_names(reader, node, &at, key, wanted);
                reader.couplings.extend(texts.map(|texts| Coupling { part: part.name.clone(), key, texts }));
            } else if let Some(value) = self.value(reader, node, key, key.form, at) {
                part.values.push((key.name, value));
            }
        }
        at_or_frames(reader, fields, &part);
        let folder = std::path::Path::new(reader.file).parent().unwrap_or(std::path::Path::new(""));
        let coordinate = at.coordinate;
        let mut check = Check { what, part: &mut part, written: &written, coordinate, folder, wrong: Vec::new() };
        (kind.check)(&mut check);
        for Wrong { key, message, help } in check.wrong {
            reader.error(if key.is_empty() { fields.place } else { fields.place_of(key) }, message, help);
        }
        Some(part)
    }

    /// A value in its form.
    fn value(&self, reader: &mut Reader<'_>, node: &Node, key: &'static Key, form: Form, at: At<'_>) -> Option<Value> {
        let (what, name) = (at.what, key.name);
        Some(match form {
            Form::Text => Value::Text(text(reader, node, at, name).map(|text| reader.filled(node, text))?),
            Form::Word(words) => Value::Word(one_of(reader, node, at, name, words)?),
            Form::Flag => match node.value {
                Written::Flag(flag) => Value::Flag(flag),
                _ => {
                    reader.error(node.place, format!("{what}: {name} is {}, not true or false", node.what()), "");
                    return None;
                }
            },
            Form::Attachment => {
                let text = text(reader, node, at, name).map(|text| reader.filled(node, text))?;
                if text == "world" {
                    reader.error(node.place, format!("{what} acts on the world"), "name a body");
                    return None;
                }
                Value::Attachments(vec![self.attachment(reader, what, &text, node.place)?])
            }
            Form::Frame => {
                let text = text(reader, node, at, name).map(|text| reader.filled(node, text))?;
                Value::Attachments(vec![self.attachment(reader, what, &text, node.place)?])
            }
            Form::Attachments(ends) => Value::Attachments(self.ends(reader, node, key, ends, at)?.to_vec()),
            Form::Equation(_) => Value::Equations(vec![self.equation_of(reader, node, name, what)?]),
            Form::Equations(n, _) => {
                let items = exactly(reader, node, at, name, ["equations", "one for each of x, y, z"], n)?;
                let all: Option<_> = items.iter().map(|item| self.equation_of(reader, item, name, what)).collect();
                Value::Equations(all?)
            }
            Form::Coordinate => Value::Word(coordinate(reader, node, at)?.name),
            Form::Parts(table) => Value::Parts(self.hung(reader, node, key, table, at)),
            Form::Curve(_) => Value::Parts(vec![curve(reader, node, key, what)?]),
            Form::Either(forms) => return forms.iter().find_map(|form| self.value(reader, node, key, *form, at)),
            _ => return numbers(reader, node, key, form, at),
        })
    }

    /// The parts under a key: one table, or a list of them.
    fn hung(
        &self,
        reader: &mut Reader<'_>,
        node: &Node,
        key: &'static Key,
        table: &'static Table,
        at: At<'_>,
    ) -> Vec<Part> {
        let what = format!("{}: {}", at.what, key.name);
        let all = match &node.value {
            Written::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let mut parts = Vec::new();
        for item in all {
            let Some(fields) = reader.fields(item, table, what.clone()) else { continue };
            parts.extend(self.part(reader, &fields, String::new(), at.joint));
        }
        parts
    }

    /// Two frames.
    fn ends(&self, reader: &mut Reader<'_>, node: &Node, key: &Key, ends: Ends, at: At<'_>) -> Option<[Attachment; 2]> {
        let what = at.what;
        let [first, second] = two(reader, node, &at, key)?;
        let one = self.attachment(reader, what, &first.0, first.1);
        let other = self.attachment(reader, what, &second.0, second.1);
        let (one, other) = (one?, other?);
        if one.body == other.body && (ends != Ends::Frames || one == other) {
            let message = format!("{what} is between \"{}\" and itself", one.body);
            reader.error(second.1, message, "name two different bodies");
            return None;
        }
        let both = [one, other];
        if ends == Ends::Touching
            && let Some(end) = both.iter().find(|end| !end.frame.is_empty() || end.body == "world")
        {
            let message = format!("{what} is for two bodies, not \"{}\"", end.written());
            reader.error(node.place, message, "a contact is between two bodies");
        }
        Some(both)
    }

    /// Finds the coordinates of joints of these kinds that parts, called `class` in messages, name.
    pub fn couple(
        &self,
        reader: &mut Reader<'_>,
        kinds: &BTreeMap<String, &'static Spec>,
        class: &str,
        parts: &mut [Part],
    ) {
        for coupling in std::mem::take(&mut reader.couplings) {
            let what = format!("{class} \"{}\"", coupling.part);
            let coordinates = couple(reader, &what, &coupling, kinds);
            if let Some(part) = parts.iter_mut().rev().find(|part| part.name == coupling.part) {
                part.set(coupling.key.name, Value::Coordinates(coordinates));
            }
        }
    }
}

/// The kind of a part: the word under `kind`, or the only one of its table. Reports keys that belong to other kinds.
fn kind(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<&'static Spec> {
    let table = fields.table;
    if !table.shared().any(|key| matches!(key.form, Form::Kind)) {
        return table.kinds.first().copied();
    }
    let word = reader.text(fields, "kind")?;
    let Some(kind) = table.kinds.iter().find(|kind| kind.word == word) else {
        let help = did_you_mean(word, table.words());
        reader.error(fields.place_of("kind"), format!("{}: unknown kind \"{word}\"", fields.what), help);
        return None;
    };
    for entry in fields.entries {
        let shared = table.shared().any(|key| key.name == entry.key);
        if shared || kind.key(&entry.key).is_some() || table.key(&entry.key).is_none() {
            continue;
        }
        let owners = table.kinds.iter().filter(|kind| kind.key(&entry.key).is_some()).map(|kind| kind.word);
        let message = format!("{} has kind {word}, which takes no `{}`", fields.what, entry.key);
        let help = format!("`{}` belongs to {}", entry.key, owners.collect::<Vec<_>>().join(", "));
        reader.error(entry.place, message, help);
    }
    Some(kind)
}

/// A value made of numbers, in its form.
fn numbers(reader: &mut Reader<'_>, node: &Node, key: &'static Key, form: Form, at: At<'_>) -> Option<Value> {
    let (what, name) = (at.what, key.name);
    let point = Measure { dimension: Some(Dimension::LENGTH), range: Range::Any };
    let vector = |v: [f64; 3]| Value::Vector(Vec3::from_array(v));
    Some(match form {
        Form::Number(measure) => Value::Number(reader.measured(node, measure, what, key)?),
        Form::Along(of, range) => Value::Number(reader.measured(node, along(of, range, at), what, key)?),
        Form::Vector(3, measure) => vector(reader.numbers(node, measure, what, key)?),
        Form::Vector(n, measure) => Value::Numbers(reader.as_many(node, n, measure, what, key)?),
        Form::PerAxis(measure) => match node.value {
            Written::List(_) => vector(reader.numbers(node, measure, what, key)?),
            _ => Value::Vector(Vec3::splat(reader.measured(node, measure, what, key)?)),
        },
        Form::List(&Form::Number(measure)) => {
            if !matches!(node.value, Written::List(_)) {
                reader.items(node, &format!("{what}: {name}"));
                return None;
            }
            let items = reader.items(node, name).iter();
            let all: Option<_> = items.map(|item| reader.measured(item, measure, what, key)).collect();
            Value::Numbers(all?)
        }
        Form::List(&Form::Vector(n, measure)) => {
            if !matches!(node.value, Written::List(_)) {
                reader.items(node, &format!("{what}: {name}"));
                return None;
            }
            let mut all = Vec::new();
            for item in reader.items(node, name) {
                all.extend(reader.as_many(item, n, measure, what, key)?);
            }
            Value::Numbers(all)
        }
        Form::Point => vector(reader.numbers(node, point, what, key)?),
        Form::Points => {
            let help = "the two ends, such as at = [[0, 0, 1], [0, 0, 0]]";
            let items = exactly(reader, node, at, name, ["points", help], 2)?;
            let [first, second] = [0, 1].map(|k| reader.numbers(&items[k], point, what, key));
            Value::Points([first?, second?].map(Vec3::from_array))
        }
        Form::Direction => Value::Vector(direction(reader, node, key, at)?),
        _ => {
            debug_assert!(false, "no part has a key of the form of {name}");
            return None;
        }
    })
}

/// A curve: a table, or the name of a solid that has one.
pub(super) fn curve(reader: &mut Reader<'_>, node: &Node, key: &Key, what: &str) -> Option<Part> {
    let Form::Curve(table) = key.form else { return None };
    let what = format!("{what}: {}", key.name);
    if let Written::Text(text) = &node.value {
        let name = reader.filled(node, &text.text);
        let found = reader.curves.get(&name).cloned();
        if found.is_none() && !reader.failed_solids.contains(&name) {
            let help = match reader.solids.contains_key(&name) {
                true => "give the solid a `curve` in place of its outline, and leave it where it was made".to_owned(),
                false => did_you_mean(&name, reader.curves.keys().map(String::as_str)),
            };
            reader.error(node.place, format!("{what}: there is no solid \"{name}\" with a curve"), help);
        }
        return found;
    }
    let fields = reader.fields(node, table, what)?;
    let before = reader.errors.len();
    let elements = Elements { bodies: BTreeMap::new(), params: 0 };
    let part = elements.part(reader, &fields, String::new(), None)?;
    (reader.errors.len() == before).then_some(part)
}

/// The items of a list of exactly so many; `called`: what they are called, and what to do about other numbers of them.
fn exactly<'n>(
    reader: &mut Reader<'_>,
    node: &'n Node,
    at: At<'_>,
    name: &str,
    called: [&str; 2],
    n: usize,
) -> Option<&'n [Node]> {
    let items = reader.items(node, &format!("{}: {name}", at.what));
    if items.len() != n {
        if matches!(node.value, Written::List(_)) {
            let [things, help] = called;
            reader.error(node.place, format!("{}: {name} has {} {things}, not {n}", at.what, items.len()), help);
        }
        return None;
    }
    Some(items)
}

/// One of some words.
fn one_of(
    reader: &mut Reader<'_>,
    node: &Node,
    at: At<'_>,
    name: &str,
    words: &'static [&'static str],
) -> Option<&'static str> {
    let text = text(reader, node, at, name)?;
    let known = words.iter().copied().find(|word| *word == text);
    if known.is_none() {
        let help = did_you_mean(text, words.iter().copied());
        reader.error(node.place, format!("{}: unknown {name} \"{text}\"", at.what), help);
    }
    known
}

fn text<'n>(reader: &mut Reader<'_>, node: &'n Node, at: At<'_>, name: &str) -> Option<&'n str> {
    match &node.value {
        Written::Text(text) => Some(&text.text),
        _ => {
            reader.error(node.place, format!("{}: {name} is {}, not a text in quotes", at.what, node.what()), "");
            None
        }
    }
}

/// Two names with their places, `{}` replaced.
fn two(reader: &mut Reader<'_>, node: &Node, at: &At<'_>, key: &Key) -> Option<[(String, Place); 2]> {
    let what = format!("{}: {}", at.what, key.name);
    let texts = reader.texts_of(node, &what);
    <[(String, Place); 2]>::try_from(texts)
        .map_err(|texts| reader.error(node.place, format!("{what} has {} names, not two", texts.len()), ""))
        .ok()
}

/// As many names as coordinates are wanted, with their places, `{}` replaced.
fn as_many_names(
    reader: &mut Reader<'_>,
    node: &Node,
    at: &At<'_>,
    key: &Key,
    wanted: Coupled,
) -> Option<Vec<(String, Place)>> {
    let what = format!("{}: {}", at.what, key.name);
    let texts = reader.texts_of(node, &what);
    let least = wanted.angles.len();
    if (least..=least + wanted.more).contains(&texts.len()) {
        return Some(texts);
    }
    let number = match (least, wanted.more) {
        (1, 0) => "one".to_owned(),
        (2, 0) => "two".to_owned(),
        (n, 0) => n.to_string(),
        (n, more) => format!("{n} to {}", n + more),
    };
    reader.error(node.place, format!("{what} has {} names, not {number}", texts.len()), wanted.help);
    None
}

/// A direction: a vector, or the name of an axis of the world.
fn direction(reader: &mut Reader<'_>, node: &Node, key: &Key, at: At<'_>) -> Option<Vec3> {
    let (what, name) = (at.what, key.name);
    let vector = match &node.value {
        Written::Text(text) => match DIRECTIONS.iter().find(|(word, _)| *word == text.text) {
            Some((_, direction)) => *direction,
            None => {
                let words: Vec<&str> = DIRECTIONS.iter().map(|(word, _)| *word).collect();
                let help = format!("three numbers, or one of {}", words.join(", "));
                reader.error(node.place, format!("{what}: unknown {name} \"{}\"", text.text), help);
                return None;
            }
        },
        _ => {
            let any = Measure { dimension: None, range: Range::Any };
            Vec3::from_array(reader.numbers(node, any, what, key)?)
        }
    };
    if let Some(direction) = unit_vector(vector) {
        return Some(direction);
    }
    let message = format!("{what}: {name} has length {}", vector.length());
    reader.error(node.place, message, "an axis is a direction, such as [0, 0, 1]");
    None
}

/// The coordinate of the joint around it that a text names.
fn coordinate(reader: &mut Reader<'_>, node: &Node, at: At<'_>) -> Option<Coordinate> {
    let word = text(reader, node, at, "coordinate")?;
    let joint = at.joint?;
    let found = joint.coordinates.iter().find(|coordinate| coordinate.name == word);
    if found.is_none() {
        let help = did_you_mean(word, joint.coordinates.iter().map(|coordinate| coordinate.name));
        let message = format!("{}: a joint of kind {} has no coordinate \"{word}\"", at.what, joint.word);
        reader.error(node.place, message, help);
    }
    found.copied()
}

/// Unit and range of a number along the coordinate of its table.
fn along(of: Along, range: Range, at: At<'_>) -> Measure {
    Measure { dimension: at.coordinate.map(|coordinate| coordinate.dimension(of)), range }
}

/// A point places both frames, so neither can have a name.
fn at_or_frames(reader: &mut Reader<'_>, fields: &Fields<'_>, part: &Part) {
    let point = part.kind.keys().find(|key| matches!(key.form, Form::Point | Form::Points));
    let frames = part.kind.keys().find(|key| matches!(key.form, Form::Attachments(_) | Form::Frame));
    let (Some(point), Some(frames)) = (point, frames) else { return };
    let end = part.attachments(frames.name).iter().find(|end| !end.frame.is_empty());
    let (Some(node), Some(end)) = (fields.get(point.name), end) else { return };
    let message = format!("{} has both `{}` and the frame \"{}\"", fields.what, point.name, end.written());
    reader.error(node.place, message, format!("leave out `{}`, or name the body alone", point.name));
}

/// The coordinates a part names, in its order.
fn couple(
    reader: &mut Reader<'_>,
    what: &str,
    coupling: &Coupling,
    kinds: &BTreeMap<String, &'static Spec>,
) -> Vec<CoordinateOf> {
    let Form::Coordinates(wanted) = coupling.key.form else { return Vec::new() };
    let mut found: Vec<CoordinateOf> = Vec::new();
    let last = wanted.angles.last().copied().flatten();
    let angles = wanted.angles.iter().copied().chain(std::iter::repeat(last));
    for ((text, place), angle) in coupling.texts.iter().zip(angles) {
        let Some((joint, coordinate)) = coordinate_of(reader, what, text, *place, kinds) else { continue };
        let name = coordinate.name;
        if angle.is_some_and(|angle| angle != coordinate.turns) {
            let is = if coordinate.turns { "an angle" } else { "a position" };
            reader.error(*place, format!("{what}: {joint}.{name} is {is}"), wanted.help);
        }
        let one = CoordinateOf { joint: joint.to_string(), coordinate: name };
        if found.contains(&one) {
            reader.error(*place, format!("{what} couples {joint}.{name} to itself"), "");
        }
        found.push(one);
    }
    found
}

/// What `JOINT` or `JOINT.COORDINATE` names: the joint and the coordinate.
pub(super) fn coordinate_of<'k>(
    reader: &mut Reader<'_>,
    what: &str,
    text: &str,
    place: Place,
    kinds: &'k BTreeMap<String, &'static Spec>,
) -> Option<(&'k str, Coordinate)> {
    let whole = std::iter::once((text, None));
    let parts = text.rmatch_indices('.').map(|(dot, _)| (&text[..dot], Some(&text[dot + 1..])));
    for (name, wanted) in whole.chain(parts) {
        let Some((name, kind)) = kinds.get_key_value(name) else { continue };
        let found = match wanted {
            None => kind.coordinates.first(),
            Some(wanted) => kind.coordinates.iter().find(|coordinate| coordinate.name == wanted),
        };
        if let Some(coordinate) = found {
            return Some((name, *coordinate));
        }
        let message = match wanted {
            Some(wanted) => format!("{what}: joint \"{name}\" has no coordinate \"{wanted}\""),
            None => format!("{what}: joint \"{name}\" has no coordinate"),
        };
        let help = match kind.coordinates {
            [] => format!("a joint of kind {} has none to couple", kind.word),
            _ => did_you_mean(wanted.unwrap_or(""), kind.coordinates.iter().map(|c| c.name)),
        };
        reader.error(place, message, help);
        return None;
    }
    let help = did_you_mean(text, kinds.keys().map(String::as_str));
    reader.error(place, format!("{what}: unknown joint \"{text}\""), help);
    None
}
