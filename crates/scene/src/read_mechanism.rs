//! Parts of mechanisms, constraints, components and changes: what they can refer to, and equations.

use super::format;
use super::format_mechanism as tables;
use super::node::{Entry, Node, Value};
use super::read::{check_name, check_path, exactly_one};
use super::read_part::coordinate_of;
use super::reader::{Fields, Reader};
use super::repeat::repeated;
use super::{Equation, *};
use crate::equation::{Dimension, Kind, Tree};
use std::collections::BTreeMap;
use tippe_format::key::{Along, Coordinate, Measure, Range};

/// Reads all parts of mechanisms into `scene`, whose parameters and bodies are there already.
pub(super) fn mechanism(reader: &mut Reader<'_>, fields: &Fields<'_>, scene: &mut Scene) {
    let elements = Elements {
        bodies: scene.bodies.iter().map(|body| (body.name.as_str(), body)).collect(),
        params: scene.params.len(),
    };
    let E = &elements;
    E.parts(reader, fields, "joint", &tables::JOINT, &mut scene.joints);
    let kinds = scene.joints.iter().map(|joint| (joint.name.clone(), joint.kind)).collect();
    E.couple(reader, &kinds, "joint", &mut scene.joints);
    E.each(reader, fields, "constraint", &tables::CONSTRAINT, |r, f, name| {
        scene.constraints.extend(constraint(r, f, name, &kinds));
    });
    E.parts(reader, fields, "force", &tables::FORCE, &mut scene.forces);
    E.couple(reader, &kinds, "force", &mut scene.forces);
    E.parts(reader, fields, "cable", &tables::CABLE, &mut scene.forces);
    E.parts(reader, fields, "fluid", &tables::FLUID, &mut scene.forces);
    E.parts(reader, fields, "signal", &tables::SIGNAL, &mut scene.signals);
    E.parts(reader, fields, "sensor", &tables::SENSOR, &mut scene.sensors);
    E.parts(reader, fields, "drawing", &tables::DRAWING, &mut scene.drawings);
    E.each(reader, fields, "component", &tables::COMPONENT, |r, f, name| {
        scene.components.extend(E.component(r, f, name));
    });
    let joints: BTreeMap<&str, ()> = scene.joints.iter().map(|joint| (joint.name.as_str(), ())).collect();
    E.each(reader, fields, "change", &tables::CHANGE, |r, f, name| {
        scene.changes.extend(E.change(r, f, name, &joints));
    });
}

/// Keys of components that are units.
const UNIT_KEYS: [&str; 5] = ["kind", "step", "start", "power", "timeout"];

/// What parts of mechanisms can refer to.
pub(super) struct Elements<'s> {
    /// Bodies by name.
    pub bodies: BTreeMap<&'s str, &'s Body>,
    /// Number of parameters; what the reader's scope has beyond them are indices of loops.
    pub params: usize,
}

impl Elements<'_> {
    /// Reads every table of a list, as often as its `repeat` says, until its first error.
    pub fn each(
        &self,
        reader: &mut Reader<'_>,
        fields: &Fields<'_>,
        key: &str,
        table: &'static format::Table,
        mut read: impl FnMut(&mut Reader<'_>, &Fields<'_>, String),
    ) {
        let Some(node) = fields.get(key) else { return };
        for item in reader.items(node, key) {
            let name = match &item.value {
                Value::Table(entries) => entries.iter().find(|entry| entry.key == "name"),
                _ => None,
            };
            let what = match name.map(|entry| &entry.node.value) {
                Some(Value::Text(text)) => format!("{key} \"{}\"", text.text),
                _ => table.name.to_string(),
            };
            let Some(fields) = reader.fields(item, table, what) else { continue };
            repeated(reader, &fields, |reader| {
                let Some(name) = filled(reader, &fields, "name") else { return };
                if key != "change" {
                    check_path(reader, &name, fields.place_of("name"), key);
                }
                let fields = Fields { what: format!("{key} \"{name}\""), ..fields.clone() };
                read(reader, &fields, name);
            });
        }
    }

    /// The frame a text names: `world`, BODY or BODY.FRAME, the longest name of a body first.
    pub fn attachment(&self, reader: &mut Reader<'_>, what: &str, text: &str, place: Place) -> Option<Attachment> {
        if text == "world" || self.bodies.contains_key(text) {
            return Some(Attachment { body: text.to_string(), frame: String::new() });
        }
        for (dot, _) in text.rmatch_indices('.') {
            let (body, frame) = (&text[..dot], &text[dot + 1..]);
            if body == "world" {
                reader.error(place, format!("{what}: the world has no frame \"{frame}\""), "write \"world\" and `at`");
                return None;
            }
            let Some(found) = self.bodies.get(body) else { continue };
            if found.frames.iter().any(|known| known.name == frame) {
                return Some(Attachment { body: body.to_string(), frame: frame.to_string() });
            }
            let help = match found.frames.as_slice() {
                [] => format!("add frames = [ {{ name = \"{frame}\", position = [0, 0, 0] }} ] to body \"{body}\""),
                frames => did_you_mean(frame, frames.iter().map(|frame| frame.name.as_str())),
            };
            reader.error(place, format!("{what}: body \"{body}\" has no frame \"{frame}\""), help);
            return None;
        }
        self.unknown_body(reader, what, text, place);
        None
    }

    fn unknown_body(&self, reader: &mut Reader<'_>, what: &str, text: &str, place: Place) {
        let body = text.split('.').next().unwrap_or(text);
        let candidates = || self.bodies.keys().copied().chain(["world"]);
        let help = closest(text, candidates()).or_else(|| closest(body, candidates()));
        let help = help.map_or(String::new(), |best| format!("did you mean `{best}`?"));
        reader.error(place, format!("{what}: unknown body \"{text}\""), help);
    }

    /// The equation under a key, indices of loops replaced by their values.
    pub fn equation(&self, reader: &mut Reader<'_>, fields: &Fields<'_>, name: &str) -> Option<Equation> {
        self.equation_of(reader, fields.get(name)?, name, &fields.what)
    }

    /// The equation of a node.
    pub(super) fn equation_of(&self, reader: &mut Reader<'_>, node: &Node, name: &str, what: &str) -> Option<Equation> {
        let places = Places { entity: node.place, ..Places::default() };
        let equation = |text: String| Some(Equation { name: name.to_string(), text, places });
        let text = match &node.value {
            Value::Number(number) if number.is_finite() => return equation(format!("{number:?}")),
            Value::Number(number) => {
                reader.error(node.place, format!("{what}: {name} is {number}, not a finite number"), "");
                return None;
            }
            Value::Text(text) => text,
            _ => {
                let message = format!("{what}: {name} is {}, not a number or an equation", node.what());
                reader.error(node.place, message, "");
                return None;
            }
        };
        let before = reader.errors.len();
        let filled = reader.filled(node, &text.text);
        if reader.errors.len() > before {
            return None;
        }
        let is_index = |wanted: &str| {
            let indices = &reader.scope.names[self.params..];
            indices
                .iter()
                .rev()
                .find(|(known, _)| known == wanted)
                .map(|(_, quantity)| format!("({:?})", quantity.value))
        };
        let tree =
            Tree::parse(&filled).and_then(|tree| tree.check_joined(|name| is_index(name).is_some()).map(|()| tree));
        match tree {
            Ok(tree) => equation(tree.with_names(&filled, is_index)),
            Err(error) if filled == text.text => {
                reader.equation_error(node, &format!("{what}: {name}"), &error);
                None
            }
            Err(error) => {
                reader.error(node.place, format!("{what}: {name}: {}", error.message), error.help);
                None
            }
        }
    }

    /// Equations by names of the user's, in order.
    fn named_equations(&self, reader: &mut Reader<'_>, fields: &Fields<'_>, key: &str) -> Vec<(Equation, Place)> {
        let what = format!("{}: {key}", fields.what);
        let mut out = Vec::new();
        for entry in entries(reader, fields, key) {
            check_name(reader, &entry.key, entry.place, key);
            out.extend(self.equation_of(reader, &entry.node, &entry.key, &what).map(|e| (e, entry.place)));
        }
        out
    }

    fn component(&self, reader: &mut Reader<'_>, fields: &Fields<'_>, name: String) -> Option<Component> {
        let what = &fields.what;
        if fields.get("fmu").is_some() {
            return self.unit(reader, fields, name);
        }
        for key in UNIT_KEYS.into_iter().filter(|key| fields.get(key).is_some()) {
            reader.error(fields.place_of(key), format!("{what}: `{key}` belongs to a unit"), "add fmu = \"FILE.fmu\"");
        }
        let inputs = self.named_equations(reader, fields, "inputs");
        let lets = self.named_equations(reader, fields, "let");
        let rates = self.named_equations(reader, fields, "der");
        let outputs = self.named_equations(reader, fields, "outputs");
        let mut states: Vec<(String, f64, Place)> = Vec::new();
        for entry in entries(reader, fields, "states") {
            check_name(reader, &entry.key, entry.place, "states");
            let value = reader.quantity(&entry.node, &format!("{what}: state {}", entry.key));
            states.push((entry.key.clone(), value.map_or(0.0, |quantity| quantity.value), entry.place));
        }
        // Every name means one thing.
        let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
        let all = states.iter().map(|(name, _, place)| ("states", name.as_str(), *place));
        let equations = [("inputs", &inputs), ("let", &lets), ("outputs", &outputs)];
        let named =
            equations.iter().flat_map(|(key, list)| list.iter().map(|(e, place)| (*key, e.name.as_str(), *place)));
        for (key, name, place) in all.chain(named) {
            if let Some(first) = seen.insert(name, key) {
                let help = if key == "outputs" { "states can be read from outside as they are" } else { "" };
                reader.error(place, format!("{what}: `{name}` is in `{first}` and in `{key}`"), help);
            }
            if name == "t" {
                reader.error(place, format!("{what}: `t` is the time"), "choose another name");
            }
        }
        let mut ordered = Vec::new();
        for (state, _, place) in &states {
            match rates.iter().find(|(rate, _)| rate.name == *state) {
                Some((rate, _)) => ordered.push(rate.clone()),
                // A rate that could not be read was reported where it stands.
                None if entries(reader, fields, "der").iter().any(|entry| entry.key == *state) => {}
                None => {
                    let help = format!("add der = {{ {state} = \"...\" }}; 0 if only crossings change it");
                    reader.error(*place, format!("{what}: state `{state}` has no rate"), help);
                }
            }
        }
        let is_state = |name: &str| states.iter().any(|(state, _, _)| state == name);
        for (rate, place) in rates.iter().filter(|(rate, _)| !is_state(&rate.name)) {
            let help = format!("add states = {{ {} = 0 }}", rate.name);
            reader.error(*place, format!("{what}: der of `{}`, which is no state", rate.name), help);
        }
        let crossings = self.crossings(reader, fields, &states);
        if states.is_empty() && outputs.is_empty() {
            let help = "give it states and der, or outputs";
            reader.error(fields.place, format!("{what} has neither states nor outputs"), help);
        }
        let equations = |list: Vec<(Equation, Place)>| list.into_iter().map(|(equation, _)| equation).collect();
        Some(Component {
            name,
            inputs: equations(inputs),
            states: states.into_iter().map(|(name, value, _)| (name, value)).collect(),
            lets: equations(lets),
            rates: ordered,
            outputs: equations(outputs),
            crossings,
            unit: None,
            places: fields.places(),
        })
    }

    /// A component that is a functional mock-up unit: names of its variables are not ours.
    fn unit(&self, reader: &mut Reader<'_>, fields: &Fields<'_>, name: String) -> Option<Component> {
        let what = &fields.what;
        for key in ["states", "let", "der", "crossing"].into_iter().filter(|key| fields.get(key).is_some()) {
            let help = "the unit has its own; give start = { NAME = VALUE } for what it may begin with";
            reader.error(fields.place_of(key), format!("{what} is a unit and has `{key}` too"), help);
        }
        let mut inputs = Vec::new();
        for entry in entries(reader, fields, "inputs") {
            inputs.extend(self.equation_of(reader, &entry.node, &entry.key, &format!("{what}: inputs")));
        }
        let mut texts = |key: &str, named: bool| {
            let mut all = Vec::new();
            for entry in entries(reader, fields, key) {
                if named {
                    check_name(reader, &entry.key, entry.place, key);
                }
                match &entry.node.value {
                    Value::Text(text) => all.push((entry.key.clone(), text.text.clone())),
                    _ => {
                        let message = format!(
                            "{what}: {key}: {} is {}, not the name of a variable",
                            entry.key,
                            entry.node.what()
                        );
                        reader.error(entry.node.place, message, "");
                    }
                }
            }
            all
        };
        let (outputs, power) = (texts("outputs", true), texts("power", false));
        let mut start = Vec::new();
        for entry in entries(reader, fields, "start") {
            let value = reader.quantity(&entry.node, &format!("{what}: start of {}", entry.key));
            start.extend(value.map(|quantity| (entry.key.clone(), quantity.value)));
        }
        let file = filled(reader, fields, "fmu")?;
        let folder = std::path::Path::new(reader.file).parent().unwrap_or(std::path::Path::new(""));
        let unit = ComponentUnit {
            file: folder.join(file).display().to_string(),
            exchange: reader.text(fields, "kind").map(|kind| kind == "me"),
            step: reader.number(fields, "step"),
            start,
            outputs,
            power,
            timeout: reader.number(fields, "timeout").unwrap_or(10.0),
        };
        Some(Component { name, inputs, unit: Some(unit), places: fields.places(), ..Component::default() })
    }

    fn crossings(
        &self,
        reader: &mut Reader<'_>,
        fields: &Fields<'_>,
        states: &[(String, f64, Place)],
    ) -> Vec<ComponentCrossing> {
        let mut crossings = Vec::new();
        let Some(node) = fields.get("crossing") else { return crossings };
        let what = format!("{}: crossing", fields.what);
        for item in reader.items(node, &what) {
            let Some(fields) = reader.fields(item, &tables::CROSSING, what.clone()) else { continue };
            let when = self.equation(reader, &fields, "when");
            let set = self.named_equations(reader, &fields, "set");
            for (equation, place) in &set {
                if !states.iter().any(|(state, _, _)| *state == equation.name) {
                    let help = did_you_mean(&equation.name, states.iter().map(|(state, _, _)| state.as_str()));
                    reader.error(*place, format!("{what}: `{}` is no state", equation.name), help);
                }
            }
            if set.is_empty() && fields.get("set").is_some() {
                reader.error(fields.place_of("set"), format!("{what} sets nothing"), "such as set = { i = \"10\" }");
            }
            let set = set.into_iter().map(|(equation, _)| equation).collect();
            crossings.extend(when.map(|when| ComponentCrossing { when, set, places: fields.places() }));
        }
        crossings
    }

    fn change(
        &self,
        reader: &mut Reader<'_>,
        fields: &Fields<'_>,
        name: String,
        joints: &BTreeMap<&str, ()>,
    ) -> Option<Change> {
        let what = &fields.what;
        exactly_one(reader, fields, "at", "when");
        let (at, when) = (reader.number(fields, "at"), self.equation(reader, fields, "when"));
        let actions = ["attach", "release", "lock", "unlock", "delete", "contact_on", "contact_off"];
        let given: Vec<&str> = actions.into_iter().filter(|key| fields.get(key).is_some()).collect();
        let key = match given.as_slice() {
            [key] => *key,
            [] => {
                reader.error(fields.place, format!("{what} changes nothing"), format!("one of {}", actions.join(", ")));
                return None;
            }
            [first, second, ..] => {
                let message = format!("{what} has both `{first}` and `{second}`");
                reader.error(fields.place_of(second), message, "one change does one thing");
                return None;
            }
        };
        let place = fields.place_of(key);
        let action = match key {
            "contact_on" | "contact_off" => {
                let [first, second] = two(reader, fields, key)?;
                for (body, place) in [&first, &second] {
                    self.known_body(reader, what, body, *place)?;
                }
                if first.0 == second.0 {
                    reader.error(second.1, format!("{what} is between \"{}\" and itself", first.0), "");
                }
                Action::Contact { between: [first.0, second.0], on: key == "contact_on" }
            }
            "delete" => {
                let body = filled(reader, fields, key)?;
                self.known_body(reader, what, &body, place)?;
                Action::Delete(body)
            }
            _ => {
                let joint = filled(reader, fields, key)?;
                if !joints.contains_key(joint.as_str()) {
                    let help = did_you_mean(&joint, joints.keys().copied());
                    reader.error(place, format!("{what}: unknown joint \"{joint}\""), help);
                }
                match key {
                    "attach" => Action::Attach(joint),
                    "release" => Action::Release(joint),
                    "lock" => Action::Lock(joint),
                    _ => Action::Unlock(joint),
                }
            }
        };
        Some(Change { name, at, when, action, places: fields.places() })
    }

    fn known_body(&self, reader: &mut Reader<'_>, what: &str, body: &str, place: Place) -> Option<()> {
        if self.bodies.contains_key(body) {
            return Some(());
        }
        let help =
            closest(body, self.bodies.keys().copied()).map_or(String::new(), |best| format!("did you mean `{best}`?"));
        reader.error(place, format!("{what}: unknown body \"{body}\""), help);
        None
    }
}

/// The text under a key, `{}` replaced.
pub(super) fn filled(reader: &mut Reader<'_>, fields: &Fields<'_>, name: &str) -> Option<String> {
    let node = fields.get(name)?;
    reader.text(fields, name).map(|text| reader.filled(node, text))
}

/// The entries of a table of the user's names; none if it is absent.
fn entries<'n>(reader: &mut Reader<'_>, fields: &Fields<'n>, key: &str) -> &'n [Entry] {
    let what = format!("{}: {key}", fields.what);
    fields.get(key).and_then(|node| reader.entries(node, &what)).unwrap_or_default()
}

/// Two names under a key, with their places.
pub(super) fn two(reader: &mut Reader<'_>, fields: &Fields<'_>, key: &str) -> Option<[(String, Place); 2]> {
    let texts = reader.texts(fields, key)?;
    match <[(String, Place); 2]>::try_from(texts) {
        Ok(two) => Some(two),
        Err(texts) => {
            let message = format!("{}: {key} has {} names, not two", fields.what, texts.len());
            reader.error(fields.place_of(key), message, "");
            None
        }
    }
}

/// Reports a key that has to be there.
pub(super) fn missing(reader: &mut Reader<'_>, fields: &Fields<'_>, key: &str, help: &str) {
    reader.error(fields.place, format!("{} has no `{key}`", fields.what), help);
}

/// Reports every key that belongs to other kinds.
pub(super) fn keys_of_kind(reader: &mut Reader<'_>, fields: &Fields<'_>, kind: &str) {
    for entry in fields.entries {
        let Some(key) = fields.table.key(&entry.key) else { continue };
        if !key.kinds.is_empty() && !key.kinds.contains(&kind) {
            let message = format!("{} has kind {kind}, which takes no `{}`", fields.what, key.name);
            reader.error(entry.place, message, format!("`{}` belongs to {}", key.name, key.kinds.join(", ")));
        }
    }
}

/// A term as it is written: its joint, the index of the coordinate, the coordinate.
type Named<'k, 'n> = (&'k str, usize, Coordinate, &'n Entry);

/// A constraint over coordinates of joints of these kinds.
fn constraint(
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
