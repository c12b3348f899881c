//! Reading values out of the tree of a file, checked against the format, errors collected.

use super::format::{Form, Key, Measure, Range, SCENE, Table};
use super::node::{Entry, MAX_ERRORS, Node, Value};
use super::repeat::Building;
use super::{Place, Places, SceneError, did_you_mean};
use crate::equation::{Dimension, EquationError, Kind, Quantity, Scope};
use std::sync::Arc;
use tippe_geometry::{Mesh, Pieces, Quat, Vec3};

pub(super) struct Reader<'f> {
    pub file: &'f str,
    pub errors: Vec<SceneError>,
    /// Parameters, then indices of the loops around the table being read.
    pub scope: Scope,
    /// Turns that are left to the loops of the scene.
    pub turns: usize,
    /// Told how far they are.
    pub building: &'f Building,
    /// The files around this one.
    pub files: super::include::Files,
    /// Solids read so far, by name.
    pub solids: std::collections::BTreeMap<String, Arc<Mesh>>,
    /// Solids that could not be made, which has been said.
    /// Curves of solids that were not moved, by the name of the solid.
    pub curves: std::collections::BTreeMap<String, super::Part>,
    pub failed_solids: std::collections::BTreeSet<String>,
    /// Meshes taken apart so far into at most so many pieces.
    pub pieces: Vec<(Arc<Mesh>, u32, Arc<Pieces>)>,
    /// Coordinates that parts name, to be found once all joints are known.
    pub couplings: Vec<super::read_part::Coupling>,
    /// What was changed or left out.
    pub notes: Vec<String>,
}

/// A table of the file whose keys are known to the format.
#[derive(Clone)]
pub(super) struct Fields<'n> {
    pub table: &'static Table,
    /// How messages call it: `body "cue"`.
    pub what: String,
    pub place: Place,
    pub entries: &'n [Entry],
}

impl<'n> Fields<'n> {
    pub fn get(&self, name: &str) -> Option<&'n Node> {
        debug_assert!(self.table.key(name).is_some(), "{} has no key {name}", self.table.name);
        self.entries.iter().find(|entry| entry.key == name).map(|entry| &entry.node)
    }

    /// Where a key's value is; the table's own place if it is absent.
    pub fn place_of(&self, name: &str) -> Place {
        self.get(name).map_or(self.place, |node| node.place)
    }

    pub fn places(&self) -> Places {
        let known =
            self.entries.iter().filter_map(|entry| self.table.key(&entry.key).map(|key| (key.name, entry.node.place)));
        Places { entity: self.place, fields: known.collect() }
    }
}

impl Reader<'_> {
    pub fn error(&mut self, place: Place, message: impl Into<String>, help: impl Into<String>) {
        let error = SceneError { file: self.file.to_string(), place, message: message.into(), help: help.into() };
        if self.errors.len() < MAX_ERRORS && !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// An error in an equation's text.
    pub fn equation_error(&mut self, node: &Node, what: &str, error: &EquationError) {
        self.error(node.place_in_text(error.offset), format!("{what}: {}", error.message), error.help.clone());
    }

    /// The entries of a table; `None` and an error if it is something else.
    pub fn entries<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [Entry]> {
        match &node.value {
            Value::Table(entries) => Some(entries),
            _ => {
                self.error(node.place, format!("{what} is {}, not a table", node.what()), "");
                None
            }
        }
    }

    /// The items of a list; none and an error if it is something else.
    pub fn items<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Node] {
        match &node.value {
            Value::List(items) => items,
            _ => {
                let help = match &node.value {
                    Value::Table(_) if SCENE.key(what).is_some() => format!("write [[{what}]], with double brackets"),
                    _ => String::new(),
                };
                self.error(node.place, format!("{what} is {}, not a list", node.what()), help);
                &[]
            }
        }
    }

    /// A table with its keys checked: none unknown, none missing.
    pub fn fields<'n>(&mut self, node: &'n Node, table: &'static Table, what: impl Into<String>) -> Option<Fields<'n>> {
        let what = what.into();
        let entries = self.entries(node, &what)?;
        for entry in entries {
            if table.key(&entry.key).is_none() {
                let help = did_you_mean(&entry.key, table.keys().map(|key| key.name));
                self.error(entry.place, format!("{what} has an unknown key `{}`", entry.key), help);
            }
        }
        for key in table.shared().filter(|key| key.required) {
            if !entries.iter().any(|entry| entry.key == key.name) {
                let help = match key.form {
                    Form::Kind => format!("one of {}", table.words().collect::<Vec<_>>().join(", ")),
                    _ => key.help.to_string(),
                };
                self.error(node.place, format!("{what} has no `{}`", key.name), help);
            }
        }
        Some(Fields { table, what, place: node.place, entries })
    }

    /// The table under a key, its keys checked.
    pub fn table<'n>(&mut self, fields: &Fields<'n>, name: &str, table: &'static Table) -> Option<Fields<'n>> {
        let node = fields.get(name)?;
        self.fields(node, table, table.name)
    }

    pub fn number(&mut self, fields: &Fields<'_>, name: &str) -> Option<f64> {
        let (node, key) = (fields.get(name)?, fields.table.key(name)?);
        match key.form {
            Form::Number(measure) => self.measured(node, measure, &fields.what, key),
            _ => None,
        }
    }

    pub fn vector<const N: usize>(&mut self, fields: &Fields<'_>, name: &str) -> Option<[f64; N]> {
        let (node, key) = (fields.get(name)?, fields.table.key(name)?);
        match key.form {
            Form::Vector(_, measure) => self.numbers(node, measure, &fields.what, key),
            _ => None,
        }
    }

    pub fn vec3(&mut self, fields: &Fields<'_>, name: &str) -> Option<Vec3> {
        self.vector(fields, name).map(Vec3::from_array)
    }

    pub fn text<'n>(&mut self, fields: &Fields<'n>, name: &str) -> Option<&'n str> {
        let node = fields.get(name)?;
        match &node.value {
            Value::Text(text) => Some(&text.text),
            _ => {
                let message = format!("{}: {name} is {}, not a text in quotes", fields.what, node.what());
                self.error(node.place, message, "");
                None
            }
        }
    }

    pub fn flag(&mut self, fields: &Fields<'_>, name: &str) -> Option<bool> {
        let node = fields.get(name)?;
        match node.value {
            Value::Flag(flag) => Some(flag),
            _ => {
                self.error(node.place, format!("{}: {name} is {}, not true or false", fields.what, node.what()), "");
                None
            }
        }
    }

    /// One of the words the format lists for a key.
    pub fn word<T>(&mut self, fields: &Fields<'_>, name: &str, from_name: fn(&str) -> Option<T>) -> Option<T> {
        let text = self.text(fields, name)?;
        let found = from_name(text);
        if let (None, Some(Form::Word(words))) = (&found, fields.table.key(name).map(|key| &key.form)) {
            let help = did_you_mean(text, words.iter().copied());
            self.error(fields.place_of(name), format!("{}: unknown {name} \"{text}\"", fields.what), help);
        }
        found
    }

    /// A list of texts, `{}` replaced, each with its place.
    pub fn texts(&mut self, fields: &Fields<'_>, name: &str) -> Option<Vec<(String, Place)>> {
        let node = fields.get(name)?;
        Some(self.texts_of(node, &format!("{}: {name}", fields.what)))
    }

    /// The texts of a list, `{}` replaced, each with its place.
    pub fn texts_of(&mut self, node: &Node, what: &str) -> Vec<(String, Place)> {
        let mut texts = Vec::new();
        for item in self.items(node, what) {
            match &item.value {
                Value::Text(text) => texts.push((self.filled(item, &text.text), item.place)),
                _ => self.error(item.place, format!("{what} contains {}, not only texts", item.what()), ""),
            }
        }
        texts
    }

    /// A text with every `{expression}` replaced by its whole value.
    pub fn filled(&mut self, node: &Node, text: &str) -> String {
        let mut out = String::new();
        let mut at = 0;
        while let Some(open) = text[at..].find('{').map(|k| at + k) {
            let Some(close) = text[open..].find('}').map(|k| open + k) else {
                self.error(node.place_in_text(open), format!("\"{text}\": `{{` without `}}`"), "");
                return out;
            };
            out.push_str(&text[at..open]);
            let inner = &text[open + 1..close];
            match crate::equation::Tree::parse(inner).and_then(|tree| tree.evaluate(&self.scope)) {
                Ok(Quantity { value, .. }) if Range::Whole.contains(value) => out.push_str(&format!("{value:.0}")),
                Ok(Quantity { value, .. }) => {
                    let message = format!("\"{text}\": {inner} is {value}, not a whole number");
                    self.error(node.place_in_text(open + 1), message, "");
                }
                Err(error) => {
                    let place = node.place_in_text(open + 1 + error.offset);
                    self.error(place, format!("\"{text}\": {}", error.message), error.help);
                }
            }
            at = close + 1;
        }
        out.push_str(&text[at..]);
        out
    }

    /// Exactly N numbers.
    pub fn numbers<const N: usize>(
        &mut self,
        node: &Node,
        measure: Measure,
        what: &str,
        key: &Key,
    ) -> Option<[f64; N]> {
        self.as_many(node, N, measure, what, key)?.try_into().ok()
    }

    /// Exactly n numbers.
    pub fn as_many(&mut self, node: &Node, n: usize, measure: Measure, what: &str, key: &Key) -> Option<Vec<f64>> {
        let items = match &node.value {
            Value::List(items) if items.len() == n => items,
            Value::List(items) => {
                let message = format!("{what}: {} has {} numbers, not {n}", key.name, items.len());
                self.error(node.place, message, key.help);
                return None;
            }
            _ => {
                let message = format!("{what}: {} is {}, not a list of {n} numbers", key.name, node.what());
                self.error(node.place, message, key.help);
                return None;
            }
        };
        // every number is looked at, so that every error is reported
        let numbers: Vec<Option<f64>> = items.iter().map(|item| self.measured(item, measure, what, key)).collect();
        numbers.into_iter().collect()
    }

    /// A number in its unit and range.
    pub fn measured(&mut self, node: &Node, measure: Measure, what: &str, key: &Key) -> Option<f64> {
        let quantity = self.quantity(node, &format!("{what}: {}", key.name))?;
        let name = key.name;
        match (quantity.kind, measure.dimension) {
            (Kind::Condition, _) => {
                self.error(node.place, format!("{what}: {name} is a condition, not a number"), "");
                return None;
            }
            (Kind::Dim(given), Some(dimension)) if given != dimension => {
                let wanted =
                    if dimension == Dimension::ONE { "no unit".into() } else { format!("the unit [{dimension}]") };
                // `1/60 s` is 1/(60 s), as everywhere in expressions
                let inverse = Dimension::ONE.over(dimension) == Some(given);
                let help = if inverse { key.help } else { "" };
                self.error(node.place, format!("{what} has {name} in [{given}]; {} has {wanted}", subject(name)), help);
                return None;
            }
            _ => {}
        }
        if measure.range.contains(quantity.value) {
            return Some(quantity.value);
        }
        let unit = match measure.dimension {
            Some(dimension) if dimension != Dimension::ONE => format!(" {dimension}"),
            _ => String::new(),
        };
        let message = format!(
            "{what} has {name} {}{unit}; {} is {}",
            short(quantity.value),
            subject(name),
            measure.range.words()
        );
        self.error(node.place, message, key.help);
        None
    }

    /// A number or the value of an expression; finite.
    pub fn quantity(&mut self, node: &Node, what: &str) -> Option<Quantity> {
        match &node.value {
            Value::Number(value) if value.is_finite() => Some(Quantity::bare(*value)),
            Value::Number(value) => {
                self.error(node.place, format!("{what} is {value}, not a finite number"), "");
                None
            }
            Value::Text(text) => match text.tree().map_err(Clone::clone).and_then(|tree| tree.evaluate(&self.scope)) {
                Ok(quantity) => Some(quantity),
                Err(error) => {
                    self.equation_error(node, what, &error);
                    None
                }
            },
            _ => {
                self.error(node.place, format!("{what} is {}, not a number or an expression", node.what()), "");
                None
            }
        }
    }

    /// A rotation in one of its three forms.
    pub fn orientation(&mut self, fields: &Fields<'_>) -> Option<Quat> {
        use super::format::{ANGLES, AXIS_ANGLE};
        let (node, key) = (fields.get("orientation")?, fields.table.key("orientation")?);
        let what = format!("{}: orientation", fields.what);
        match &node.value {
            Value::List(_) => {
                let pure = Measure { dimension: Some(Dimension::ONE), range: Range::Any };
                let [w, x, y, z] = self.numbers(node, pure, &fields.what, key)?;
                unit_quaternion(Quat::from_xyzw(x, y, z, w)).or_else(|| {
                    self.error(
                        node.place,
                        format!("{what} (0, 0, 0, 0) is no rotation"),
                        "no rotation is [1, 0, 0, 0]",
                    );
                    None
                })
            }
            Value::Table(entries) if entries.iter().any(|entry| matches!(entry.key.as_str(), "angles" | "order")) => {
                let fields = self.fields(node, &ANGLES, what.clone())?;
                let (angles, order) = (self.vector::<3>(&fields, "angles"), self.text(&fields, "order"));
                let (angles, order) = (angles?, order?);
                self.successive_rotations(angles, order, fields.place_of("order"), &what)
            }
            Value::Table(_) => {
                let fields = self.fields(node, &AXIS_ANGLE, what)?;
                let (axis, angle) = (self.direction(&fields, "axis"), self.number(&fields, "angle"));
                Some(about(axis?, angle?))
            }
            _ => {
                let help = "write [w, x, y, z], { axis = [0, 0, 1], angle = \"30 deg\" } or { angles = [..], order = \"xyz\" }";
                self.error(node.place, format!("{what} is {}", node.what()), help);
                None
            }
        }
    }

    /// Successive rotations, each about an axis of the frame already rotated.
    fn successive_rotations(&mut self, angles: [f64; 3], order: &str, place: Place, what: &str) -> Option<Quat> {
        let axes: Vec<Vec3> = order
            .chars()
            .filter_map(|letter| match letter {
                'x' => Some(Vec3::X),
                'y' => Some(Vec3::Y),
                'z' => Some(Vec3::Z),
                _ => None,
            })
            .collect();
        if axes.len() != 3 || order.len() != 3 {
            self.error(place, format!("{what} has order \"{order}\""), "three of x, y, z, such as \"xyz\"");
            return None;
        }
        Some(axes.iter().zip(angles).fold(Quat::IDENTITY, |R, (axis, angle)| R * about(*axis, angle)))
    }

    /// A vector of any length but zero, normalised.
    pub fn direction(&mut self, fields: &Fields<'_>, name: &str) -> Option<Vec3> {
        let vector = self.vec3(fields, name)?;
        if let Some(direction) = unit_vector(vector) {
            return Some(direction);
        }
        let length = vector.length();
        self.error(fields.place_of(name), format!("{}: {name} has length {length}", fields.what), "");
        None
    }
}

/// Rotation about a unit vector by an angle [rad].
fn about(axis: Vec3, angle: f64) -> Quat {
    let (sin, cos) = libm::sincos(0.5 * angle);
    Quat::from_xyzw(axis.x * sin, axis.y * sin, axis.z * sin, cos)
}

/// Normalised, except that what is normalised up to rounding stays as it is; `None` for zero.
pub(super) fn unit_vector(v: Vec3) -> Option<Vec3> {
    let length = v.length();
    if !(length > 0.0 && length.is_finite()) {
        return None;
    }
    Some(if (length - 1.0).abs() <= 4.0 * f64::EPSILON { v } else { v / length })
}

/// Normalised, except that what is normalised up to rounding stays as it is; `None` for zero.
pub(super) fn unit_quaternion(q: Quat) -> Option<Quat> {
    let length = q.length();
    if !(length > 0.0 && length.is_finite()) {
        return None;
    }
    Some(if (length - 1.0).abs() <= 4.0 * f64::EPSILON { q } else { q * (1.0 / length) })
}

/// A number without a long row of zeros.
fn short(x: f64) -> String {
    if x != 0.0 && !(1e-5..1e15).contains(&x.abs()) { format!("{x:e}") } else { x.to_string() }
}

/// A key as the subject of a sentence: `a mass`, `an exponent`, `until`.
fn subject(key: &str) -> String {
    match key {
        "radii" | "semi_axes" | "heights" | "passes" | "points" | "sweeps" | "columns" | "mu" | "x" | "y" | "vx"
        | "vy" => key.to_string(),
        "pieces" | "segments" | "teeth" | "flank_points" | "around" | "along" => key.to_string(),
        "until" | "at" | "is" | "from" | "to" | "young" | "poisson" | "within" | "below" | "above" => key.to_string(),
        _ if key.starts_with(['a', 'e', 'i', 'o']) => format!("an {key}"),
        _ => format!("a {key}"),
    }
}
