//! Force elements, signals, components, sensors and changes; what they share with joints.

use super::format::{self, Form, Key, Measure, Range};
use super::format_mechanism as tables;
use super::node::{Entry, Node, Value};
use super::read::{check_name, check_path, exactly_one};
use super::reader::{Fields, Reader};
use super::repeat::repeated;
use super::{Equation, *};
use crate::equation::{Dimension, Tree};
use std::collections::BTreeMap;

/// Reads all parts of mechanisms into `scene`, whose parameters and bodies are there already.
pub(super) fn mechanism(reader: &mut Reader<'_>, fields: &Fields<'_>, scene: &mut Scene) {
    let elements = Elements {
        bodies: scene.bodies.iter().map(|body| (body.name.as_str(), body)).collect(),
        params: scene.params.len(),
    };
    read_joint::joints(&elements, reader, fields, &mut scene.joints);
    let E = &elements;
    E.each(reader, fields, "force", &tables::FORCE, |r, f, name| scene.forces.extend(E.force(r, f, name)));
    E.each(reader, fields, "signal", &tables::SIGNAL, |r, f, name| scene.signals.extend(E.signal(r, f, name)));
    E.each(reader, fields, "component", &tables::COMPONENT, |r, f, name| {
        scene.components.extend(E.component(r, f, name));
    });
    E.each(reader, fields, "sensor", &tables::SENSOR, |r, f, name| scene.sensors.extend(E.sensor(r, f, name)));
    let joints: BTreeMap<&str, ()> = scene.joints.iter().map(|joint| (joint.name.as_str(), ())).collect();
    E.each(reader, fields, "change", &tables::CHANGE, |r, f, name| {
        scene.changes.extend(E.change(r, f, name, &joints));
    });
}

/// What parts of mechanisms can refer to.
pub(super) struct Elements<'s> {
    /// Bodies by name.
    bodies: BTreeMap<&'s str, &'s Body>,
    /// Number of parameters; what the reader's scope has beyond them are indices of loops.
    params: usize,
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

    /// Two frames under a key, on different bodies where it says so.
    pub fn between(
        &self,
        reader: &mut Reader<'_>,
        fields: &Fields<'_>,
        key: &str,
        different: bool,
    ) -> Option<[Attachment; 2]> {
        if fields.get(key).is_none() {
            let message = format!("{} has no `{key}`", fields.what);
            reader.error(fields.place, message, format!("such as {key} = [\"world\", \"crank\"]"));
            return None;
        }
        let [first, second] = two(reader, fields, key)?;
        let one = self.attachment(reader, &fields.what, &first.0, first.1);
        let other = self.attachment(reader, &fields.what, &second.0, second.1);
        let (one, other) = (one?, other?);
        if one.body == other.body && (different || one == other) {
            let message = format!("{} is between \"{}\" and itself", fields.what, one.body);
            reader.error(second.1, message, "name two different bodies");
            return None;
        }
        Some([one, other])
    }

    /// The equation under a key, indices of loops replaced by their values.
    pub fn equation(&self, reader: &mut Reader<'_>, fields: &Fields<'_>, name: &str) -> Option<Equation> {
        self.equation_of(reader, fields.get(name)?, name, &fields.what)
    }

    /// The equation of a node.
    fn equation_of(&self, reader: &mut Reader<'_>, node: &Node, name: &str, what: &str) -> Option<Equation> {
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

    /// Three equations under a key.
    fn equations3(&self, reader: &mut Reader<'_>, fields: &Fields<'_>, name: &str) -> Option<[Equation; 3]> {
        let node = fields.get(name)?;
        let items = reader.items(node, &format!("{}: {name}", fields.what));
        if items.len() != 3 {
            if matches!(node.value, Value::List(_)) {
                let message = format!("{}: {name} has {} equations, not 3", fields.what, items.len());
                reader.error(node.place, message, "one for each of x, y, z");
            }
            return None;
        }
        let read: Vec<Equation> =
            items.iter().filter_map(|item| self.equation_of(reader, item, name, &fields.what)).collect();
        <[Equation; 3]>::try_from(read).ok()
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

    fn force(&self, reader: &mut Reader<'_>, fields: &Fields<'_>, name: String) -> Option<Force> {
        let kind = kind_word(reader, fields, tables::FORCES)?;
        let kind = match kind {
            "applied" => self.applied(reader, fields),
            "spring" => self.spring(reader, fields),
            _ => self.bushing(reader, fields),
        };
        Some(Force { name, kind: kind?, places: fields.places() })
    }

    fn applied(&self, reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<ForceKind> {
        let on = filled(reader, fields, "on");
        let on = match on {
            Some(text) if text == "world" => {
                reader.error(fields.place_of("on"), format!("{} acts on the world", fields.what), "name a body");
                None
            }
            Some(text) => self.attachment(reader, &fields.what, &text, fields.place_of("on")),
            None => {
                missing(reader, fields, "on", "the body or BODY.FRAME it acts on");
                None
            }
        };
        let (force, torque) = (self.equations3(reader, fields, "force"), self.equations3(reader, fields, "torque"));
        if fields.get("force").is_none() && fields.get("torque").is_none() {
            let help = "such as force = [0, 0, \"10*sin(t)\"]";
            reader.error(fields.place, format!("{} has neither `force` nor `torque`", fields.what), help);
        }
        let local = reader.text(fields, "resolved").map(str::to_string);
        let local = match local.as_deref() {
            None | Some("world") => false,
            Some("local") => true,
            Some(word) => {
                let help = did_you_mean(word, ["world", "local"]);
                reader.error(
                    fields.place_of("resolved"),
                    format!("{}: unknown resolved \"{word}\"", fields.what),
                    help,
                );
                false
            }
        };
        Some(ForceKind::Applied { on: on?, local, force, torque })
    }

    fn spring(&self, reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<ForceKind> {
        let between = self.between(reader, fields, "between", true);
        let at = points(reader, fields);
        if let Some(between) = &between {
            at_or_frames(reader, fields, between);
        }
        let stiffness = number_in(reader, fields, "stiffness", Dimension::new(0, 1, -2));
        let damping = number_in(reader, fields, "damping", Dimension::new(0, 1, -1));
        let law = self.equation(reader, fields, "law");
        for key in ["stiffness", "damping"] {
            if let (Some(_), Some(node)) = (fields.get("law"), fields.get(key)) {
                reader.error(node.place, format!("{} has both `law` and `{key}`", fields.what), "keep one of them");
            }
        }
        if !["law", "stiffness", "damping"].iter().any(|key| fields.get(key).is_some()) {
            let message = format!("{} has neither `stiffness`, `damping` nor `law`", fields.what);
            reader.error(fields.place, message, "");
        }
        Some(ForceKind::Spring {
            between: between?,
            at,
            stiffness: stiffness.unwrap_or(0.0),
            damping: damping.unwrap_or(0.0),
            rest: reader.number(fields, "rest"),
            law,
            rope: reader.flag(fields, "rope").unwrap_or(false),
        })
    }

    fn bushing(&self, reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<ForceKind> {
        let between = self.between(reader, fields, "between", true);
        let at = match (fields.get("at"), fields.table.key("at")) {
            (Some(node), Some(key)) => {
                let length = Measure { dimension: Some(Dimension::LENGTH), range: Range::Any };
                reader.numbers(node, length, &fields.what, key).map(Vec3::from_array)
            }
            _ => None,
        };
        if let Some(between) = &between {
            at_or_frames(reader, fields, between);
        }
        let keys = ["stiffness", "damping", "turning_stiffness", "turning_damping"];
        if !keys.iter().any(|key| fields.get(key).is_some()) {
            let message = format!("{} has neither stiffness nor damping", fields.what);
            reader.error(fields.place, message, format!("give one of {}", keys.join(", ")));
        }
        let mut axes = |key, dimension| per_axis(reader, fields, key, dimension).unwrap_or_default();
        let (stiffness, damping) =
            (axes("stiffness", Dimension::new(0, 1, -2)), axes("damping", Dimension::new(0, 1, -1)));
        let (turning_stiffness, turning_damping) =
            (axes("turning_stiffness", Dimension::ENERGY), axes("turning_damping", Dimension::new(2, 1, -1)));
        let relaxed = reader.flag(fields, "relaxed").unwrap_or(true);
        Some(ForceKind::Bushing {
            between: between?,
            at,
            stiffness,
            damping,
            turning_stiffness,
            turning_damping,
            relaxed,
        })
    }

    fn signal(&self, reader: &mut Reader<'_>, fields: &Fields<'_>, name: String) -> Option<Signal> {
        let needed = |reader: &mut Reader<'_>, key: &str, help: &str| {
            let equation = self.equation(reader, fields, key);
            if fields.get(key).is_none() {
                missing(reader, fields, key, help);
            }
            equation
        };
        let kind = kind_word(reader, fields, tables::SIGNALS)?;
        let mut or = |key, default| reader.number(fields, key).unwrap_or(default);
        let kind = match kind {
            "equation" => SignalKind::Equation(needed(reader, "value", "such as value = \"2*sin(t)\"")?),
            "table" => {
                let default = Equation { name: "input".into(), text: "t".into(), places: fields.places() };
                let input =
                    if fields.get("input").is_some() { self.equation(reader, fields, "input")? } else { default };
                let (x, y) = table(reader, fields)?;
                SignalKind::Table { input, x, y }
            }
            "ramp" => {
                let (from, start, end) = (or("from", 0.0), or("start", 0.0), or("end", 1.0));
                let to = needed_number(reader, fields, "to", "when it ends, such as to = \"2 s\"")?;
                if to <= from {
                    let message = format!("{} ends at {to} s, but starts at {from} s", fields.what);
                    reader.error(fields.place_of("to"), message, "`to` comes after `from`");
                }
                SignalKind::Ramp { from, to, start, end }
            }
            "pulse" => {
                let (from, low, high) = (or("from", 0.0), or("low", 0.0), or("high", 1.0));
                let period = needed_number(reader, fields, "period", "such as period = \"1 s\"")?;
                let width = reader.number(fields, "width").unwrap_or(0.5 * period);
                if width > period {
                    let message = format!("{} has width {width} s; its period is {period} s", fields.what);
                    reader.error(fields.place_of("width"), message, "a pulse ends before the next one starts");
                }
                SignalKind::Pulse { from, period, width, low, high }
            }
            "sine" => {
                let (amplitude, phase, offset) = (or("amplitude", 1.0), or("phase", 0.0), or("offset", 0.0));
                let frequency = needed_number(reader, fields, "frequency", "such as frequency = \"2 Hz\"")?;
                SignalKind::Sine { amplitude, frequency, phase, offset }
            }
            "input" => {
                let (start, low, high) = (or("start", 0.0), or("low", -1.0), or("high", 1.0));
                if low > start || start > high {
                    let message = format!("{} starts at {start}, outside {low} to {high}", fields.what);
                    reader.error(fields.place, message, "`low` <= `start` <= `high`");
                }
                SignalKind::Input { start, low, high }
            }
            _ => {
                let (proportional, integral) = (or("proportional", 0.0), or("integral", 0.0));
                let (derivative, filter) = (or("derivative", 0.0), or("filter", 0.0));
                let limit = reader.number(fields, "limit");
                let setpoint = needed(reader, "setpoint", "the wanted value, such as setpoint = 1");
                let measured = needed(reader, "measured", "such as measured = \"hinge.angle\"");
                if derivative != 0.0 && fields.get("filter").is_none() {
                    missing(reader, fields, "filter", "the derivative is filtered: such as filter = \"10 ms\"");
                }
                if !["proportional", "integral", "derivative"].iter().any(|key| fields.get(key).is_some()) {
                    let help = "give proportional, integral or derivative";
                    reader.error(fields.place, format!("{} has no gain", fields.what), help);
                }
                let (setpoint, measured) = (setpoint?, measured?);
                SignalKind::Pid { setpoint, measured, proportional, integral, derivative, filter, limit }
            }
        };
        Some(Signal { name, kind, places: fields.places() })
    }

    fn component(&self, reader: &mut Reader<'_>, fields: &Fields<'_>, name: String) -> Option<Component> {
        let what = &fields.what;
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
            places: fields.places(),
        })
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

    fn sensor(&self, reader: &mut Reader<'_>, fields: &Fields<'_>, name: String) -> Option<Sensor> {
        let kind = reader.word(fields, "kind", SensorKind::from_name);
        let contact = kind == Some(SensorKind::Contact);
        fields.get("between")?;
        let between = self.between(reader, fields, "between", contact)?;
        if contact && let Some(end) = between.iter().find(|end| !end.frame.is_empty() || end.body == "world") {
            let written = if end.frame.is_empty() { end.body.clone() } else { format!("{}.{}", end.body, end.frame) };
            let message = format!("{} is for two bodies, not \"{written}\"", fields.what);
            reader.error(fields.place_of("between"), message, "a contact is between two bodies");
        }
        Some(Sensor { name, kind: kind?, between, places: fields.places() })
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

fn needed_number(reader: &mut Reader<'_>, fields: &Fields<'_>, key: &str, help: &str) -> Option<f64> {
    if fields.get(key).is_none() {
        missing(reader, fields, key, help);
    }
    reader.number(fields, key)
}

/// The word under `kind`, one of `words`; reports keys that do not belong to that kind.
fn kind_word(reader: &mut Reader<'_>, fields: &Fields<'_>, words: &'static [&'static str]) -> Option<&'static str> {
    let word = reader.text(fields, "kind")?;
    match words.iter().find(|known| **known == word) {
        Some(kind) => {
            keys_of_kind(reader, fields, kind);
            Some(kind)
        }
        None => {
            let help = did_you_mean(word, words.iter().copied());
            reader.error(fields.place_of("kind"), format!("{}: unknown kind \"{word}\"", fields.what), help);
            None
        }
    }
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

/// A number whose unit depends on what it is for; its range is the format's.
pub(super) fn number_in(reader: &mut Reader<'_>, fields: &Fields<'_>, name: &str, dimension: Dimension) -> Option<f64> {
    let (node, key) = (fields.get(name)?, fields.table.key(name)?);
    reader.measured(node, Measure { dimension: Some(dimension), range: range_of(&key.form) }, &fields.what, key)
}

/// The range of a number, or of the first form of several.
fn range_of(form: &Form) -> Range {
    match form {
        Form::Number(measure) | Form::Vector(_, measure) => measure.range,
        Form::Either([first, ..]) => range_of(first),
        _ => Range::Any,
    }
}

/// One number for all axes, or one for each.
fn per_axis(reader: &mut Reader<'_>, fields: &Fields<'_>, name: &str, dimension: Dimension) -> Option<Vec3> {
    let (node, key) = (fields.get(name)?, fields.table.key(name)?);
    let measure = Measure { dimension: Some(dimension), range: range_of(&key.form) };
    match node.value {
        Value::List(_) => reader.numbers(node, measure, &fields.what, key).map(Vec3::from_array),
        _ => reader.measured(node, measure, &fields.what, key).map(Vec3::splat),
    }
}

/// `at` places both frames, so neither can have a name.
pub(super) fn at_or_frames(reader: &mut Reader<'_>, fields: &Fields<'_>, between: &[Attachment; 2]) {
    let (Some(node), Some(end)) = (fields.get("at"), between.iter().find(|end| !end.frame.is_empty())) else { return };
    let message = format!("{} has both `at` and the frame \"{}.{}\"", fields.what, end.body, end.frame);
    reader.error(node.place, message, "leave out `at`, or name the body alone");
}

/// The two ends of a spring under `at`.
fn points(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<[Vec3; 2]> {
    let (node, key) = (fields.get("at")?, fields.table.key("at")?);
    let items = reader.items(node, &format!("{}: at", fields.what));
    let [first, second] = items else {
        if matches!(node.value, Value::List(_)) {
            let message = format!("{}: at has {} points, not 2", fields.what, items.len());
            reader.error(node.place, message, "the two ends, such as at = [[0, 0, 1], [0, 0, 0]]");
        }
        return None;
    };
    let length = Measure { dimension: Some(Dimension::LENGTH), range: Range::Any };
    let mut point = |node: &Node| reader.numbers(node, length, &fields.what, key).map(Vec3::from_array);
    let (first, second) = (point(first), point(second));
    Some([first?, second?])
}

/// The columns of a table signal, inline or from a CSV file.
fn table(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<(Vec<f64>, Vec<f64>)> {
    let what = &fields.what;
    for key in ["x", "y"] {
        if let (Some(_), Some(node)) = (fields.get("file"), fields.get(key)) {
            reader.error(node.place, format!("{what} has both `file` and `{key}`"), "keep one of them");
            return None;
        }
    }
    let (x, y) = if fields.get("file").is_some() {
        csv(reader, fields)?
    } else {
        if let Some(node) = fields.get("columns") {
            reader.error(node.place, format!("{what} has `columns` but no `file`"), "");
        }
        let (x, y) = (column(reader, fields, "x"), column(reader, fields, "y"));
        (x?, y?)
    };
    let place = fields.place_of(if fields.get("file").is_some() { "file" } else { "x" });
    if x.len() != y.len() {
        reader.error(fields.place_of("y"), format!("{what} has {} x and {} y", x.len(), y.len()), "as many of each");
        return None;
    }
    if x.is_empty() {
        reader.error(place, format!("{what} has an empty table"), "give at least one point");
        return None;
    }
    if let Some(k) = x.windows(2).position(|pair| pair[1] <= pair[0]) {
        let message = format!("{what}: x does not ascend: {} after {}", x[k + 1], x[k]);
        reader.error(place, message, "every x is greater than the one before");
        return None;
    }
    Some((x, y))
}

fn column(reader: &mut Reader<'_>, fields: &Fields<'_>, name: &'static str) -> Option<Vec<f64>> {
    let (Some(node), Some(key)) = (fields.get(name), fields.table.key(name)) else {
        missing(reader, fields, name, "a table has x and y, or a file");
        return None;
    };
    if !matches!(node.value, Value::List(_)) {
        reader.items(node, &format!("{}: {name}", fields.what));
        return None;
    }
    let any = Measure { dimension: None, range: Range::Any };
    let read = |reader: &mut Reader<'_>, item: &Node, key: &Key| reader.measured(item, any, &fields.what, key);
    reader.items(node, name).iter().map(|item| read(reader, item, key)).collect()
}

/// Two columns of a CSV file: numbers separated by `,` or `;`; a first line without numbers, empty lines and lines
/// after `#` are passed over.
fn csv(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<(Vec<f64>, Vec<f64>)> {
    let what = &fields.what;
    let (name, place) = (filled(reader, fields, "file")?, fields.place_of("file"));
    let [first, second] = reader.vector::<2>(fields, "columns").unwrap_or([0.0, 1.0]);
    if first < 0.0 || second < 0.0 {
        reader.error(fields.place_of("columns"), format!("{what} has a negative column"), "columns count from 0");
        return None;
    }
    let folder = std::path::Path::new(reader.file).parent().unwrap_or(std::path::Path::new(""));
    let path = folder.join(&name);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            let message = format!("{what}: cannot read {}: {error}", path.display());
            reader.error(place, message, "the path is from the scene's folder");
            return None;
        }
    };
    let (mut x, mut y) = (Vec::new(), Vec::new());
    let mut header = true;
    for (k, line) in text.strip_prefix('\u{feff}').unwrap_or(&text).lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let cells: Vec<&str> = line.split([',', ';']).map(str::trim).collect();
        let number = |column: f64| {
            let cell = cells.get(column as usize).ok_or_else(|| format!("has no column {column}"))?;
            let value: f64 = cell.parse().map_err(|_| format!("\"{cell}\" is not a number"))?;
            if value.is_finite() { Ok(value) } else { Err(format!("{cell} is not a finite number")) }
        };
        match (number(first), number(second)) {
            (Ok(a), Ok(b)) => {
                x.push(a);
                y.push(b);
            }
            _ if header && cells.iter().all(|cell| cell.parse::<f64>().is_err()) => {}
            (Err(why), _) | (_, Err(why)) => {
                reader.error(place, format!("{what}: {}, line {}: {why}", path.display(), k + 1), "");
                return None;
            }
        }
        header = false;
    }
    Some((x, y))
}
