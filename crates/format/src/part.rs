//! A part of a machine as it is written: its kind, and the values of its keys.

use crate::key::{Coordinate, Default as Left, Key, Spec};
use crate::place::Places;
use std::path::Path;
use tippe_geometry::Vec3;

/// A part of a scene: a joint, a force element, a signal, a sensor, or what hangs on a joint.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Name, unique in the scene; empty for what hangs on a joint.
    pub name: String,
    /// What it is.
    pub kind: &'static Spec,
    /// What was written, by key, in the order of the kind's keys.
    pub values: Vec<(&'static str, Value)>,
    /// Where things were written.
    pub places: Places,
}

/// The value of a key, in SI.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Three numbers: a vector, a point, a direction, one number for each axis.
    Vector(Vec3),
    /// Two points.
    Points([Vec3; 2]),
    /// A list of numbers.
    Numbers(Vec<f64>),
    /// True or false.
    Flag(bool),
    /// A word of the format.
    Word(&'static str),
    /// A text of the user's.
    Text(String),
    /// A frame, or two.
    Attachments(Vec<Attachment>),
    /// An equation, or several.
    Equations(Vec<Equation>),
    /// Coordinates of joints.
    Coordinates(Vec<CoordinateOf>),
    /// Parts of the part.
    Parts(Vec<Part>),
}

/// A frame something is fastened to: a body (or the world), and where on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attachment {
    /// Name of the body; `world` is the ground.
    pub body: String,
    /// Name of a frame on it; the body's own if empty.
    pub frame: String,
}

impl Attachment {
    /// As it is written: BODY or BODY.FRAME.
    pub fn written(&self) -> String {
        if self.frame.is_empty() { self.body.clone() } else { format!("{}.{}", self.body, self.frame) }
    }
}

/// A coordinate of a joint, by name.
#[derive(Clone, Debug, PartialEq)]
pub struct CoordinateOf {
    /// Name of the joint.
    pub joint: String,
    /// Name of its coordinate.
    pub coordinate: &'static str,
}

/// A named equation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Equation {
    /// Name of the result.
    pub name: String,
    /// The right-hand side.
    pub text: String,
    /// Where the text was written.
    pub places: Places,
}

impl Part {
    /// A part of which nothing is said yet.
    pub fn new(name: impl Into<String>, kind: &'static Spec) -> Part {
        Part { name: name.into(), kind, values: Vec::new(), places: Places::default() }
    }

    /// The same with a value.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Part {
        self.set(key, value);
        self
    }

    /// Gives a key of the kind a value; a key the kind does not have is left alone.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) {
        let Some(position) = self.kind.keys().position(|known| known.name == key) else {
            debug_assert!(false, "{} has no key {key}", self.kind.word);
            return;
        };
        let value = value.into();
        let order = |name: &str| self.kind.keys().position(|known| known.name == name);
        let at = self.values.partition_point(|(name, _)| order(name) < Some(position));
        match self.values.get_mut(at) {
            Some((name, old)) if *name == key => *old = value,
            _ => {
                let name = self.kind.keys().nth(position).map_or("", |known| known.name);
                self.values.insert(at, (name, value));
            }
        }
    }

    /// Takes the value of a key away.
    pub fn unset(&mut self, key: &str) {
        self.values.retain(|(name, _)| *name != key);
    }

    /// The value written under a key; none of a key that the kind does not have.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// The value of a key, to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.values.iter_mut().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    fn key(&self, name: &str) -> Option<&'static Key> {
        self.kind.key(name)
    }

    /// The number under a key, or its default.
    pub fn find_number(&self, key: &str) -> Option<f64> {
        match (self.get(key), self.key(key).and_then(|key| key.default)) {
            (Some(Value::Number(x)), _) => Some(*x),
            (None, Some(Left::Number(x))) => Some(x),
            _ => None,
        }
    }

    /// The number under a key, or its default; zero if there is none.
    pub fn number(&self, key: &str) -> f64 {
        self.find_number(key).unwrap_or(0.0)
    }

    /// The three numbers under a key.
    pub fn vector(&self, key: &str) -> Option<Vec3> {
        match self.get(key) {
            Some(Value::Vector(v)) => Some(*v),
            _ => None,
        }
    }

    /// The two points under a key.
    pub fn points(&self, key: &str) -> Option<[Vec3; 2]> {
        match self.get(key) {
            Some(Value::Points(points)) => Some(*points),
            _ => None,
        }
    }

    /// The list of numbers under a key; empty if there is none.
    pub fn numbers(&self, key: &str) -> &[f64] {
        match self.get(key) {
            Some(Value::Numbers(numbers)) => numbers,
            _ => &[],
        }
    }

    /// The flag under a key, or its default; false if there is none.
    pub fn flag(&self, key: &str) -> bool {
        match (self.get(key), self.key(key).and_then(|key| key.default)) {
            (Some(Value::Flag(flag)), _) => *flag,
            (None, Some(Left::Flag(flag))) => flag,
            _ => false,
        }
    }

    /// The word or text under a key, or its default; empty if there is none.
    pub fn word(&self, key: &str) -> &str {
        match (self.get(key), self.key(key).and_then(|key| key.default)) {
            (Some(Value::Word(word)), _) => word,
            (Some(Value::Text(text)), _) => text,
            (None, Some(Left::Word(word))) => word,
            _ => "",
        }
    }

    /// The frames under a key.
    pub fn attachments(&self, key: &str) -> &[Attachment] {
        match self.get(key) {
            Some(Value::Attachments(ends)) => ends,
            _ => &[],
        }
    }

    /// The two frames under a key; the world twice if there are none.
    pub fn between(&self, key: &str) -> [Attachment; 2] {
        let world = || Attachment { body: "world".into(), frame: String::new() };
        let ends = self.attachments(key);
        [0, 1].map(|k| ends.get(k).cloned().unwrap_or_else(world))
    }

    /// The equations under a key.
    pub fn equations(&self, key: &str) -> &[Equation] {
        match self.get(key) {
            Some(Value::Equations(equations)) => equations,
            _ => &[],
        }
    }

    /// The equation under a key.
    pub fn equation(&self, key: &str) -> Option<&Equation> {
        self.equations(key).first()
    }

    /// The coordinates under a key.
    pub fn coordinates(&self, key: &str) -> &[CoordinateOf] {
        match self.get(key) {
            Some(Value::Coordinates(coordinates)) => coordinates,
            _ => &[],
        }
    }

    /// The parts under a key.
    pub fn parts(&self, key: &str) -> &[Part] {
        match self.get(key) {
            Some(Value::Parts(parts)) => parts,
            _ => &[],
        }
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Value {
        Value::Number(x)
    }
}
impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Flag(flag)
    }
}
impl From<Vec3> for Value {
    fn from(v: Vec3) -> Value {
        Value::Vector(v)
    }
}
impl From<[Vec3; 2]> for Value {
    fn from(points: [Vec3; 2]) -> Value {
        Value::Points(points)
    }
}
impl From<Vec<f64>> for Value {
    fn from(numbers: Vec<f64>) -> Value {
        Value::Numbers(numbers)
    }
}
impl From<&'static str> for Value {
    fn from(word: &'static str) -> Value {
        Value::Word(word)
    }
}
impl From<[Attachment; 2]> for Value {
    fn from(ends: [Attachment; 2]) -> Value {
        Value::Attachments(ends.to_vec())
    }
}
impl From<Equation> for Value {
    fn from(equation: Equation) -> Value {
        Value::Equations(vec![equation])
    }
}
impl From<Vec<Part>> for Value {
    fn from(parts: Vec<Part>) -> Value {
        Value::Parts(parts)
    }
}

/// What is wrong with a part.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong {
    /// The key whose value is wrong; the part as a whole if empty.
    pub key: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

/// A part that was read, for what its keys must obey together.
pub struct Check<'a> {
    /// How messages call it: `joint "hinge"`.
    pub what: &'a str,
    /// What could be read.
    pub part: &'a mut Part,
    /// Keys that were written, whether or not they could be read.
    pub written: &'a [&'static str],
    /// The coordinate it is for, of what hangs on a joint.
    pub coordinate: Option<Coordinate>,
    /// Folder of the scene file.
    pub folder: &'a Path,
    /// What is wrong.
    pub wrong: Vec<Wrong>,
}

impl Check<'_> {
    /// Whether a key was written.
    pub fn has(&self, key: &str) -> bool {
        debug_assert!(self.part.kind.key(key).is_some(), "{} has no key {key}", self.part.kind.word);
        self.written.contains(&key)
    }

    /// An error at the value of a key, or at the part if the key is empty; `message` continues what the part is called.
    pub fn error(&mut self, key: &'static str, message: impl AsRef<str>, help: impl Into<String>) {
        let message = format!("{}{}", self.what, message.as_ref());
        self.wrong.push(Wrong { key, message, help: help.into() });
    }

    /// An error if none of these keys was written.
    pub fn at_least_one(&mut self, keys: &[&'static str], help: &str) {
        if !keys.iter().any(|key| self.has(key)) {
            let message = match keys {
                [.., last] => {
                    let before: Vec<String> = keys[..keys.len() - 1].iter().map(|key| format!("`{key}`")).collect();
                    format!(" has neither {} nor `{last}`", before.join(", "))
                }
                [] => return,
            };
            self.error("", message, help);
        }
    }

    /// An error at `other` if both were written.
    pub fn not_both(&mut self, one: &'static str, other: &'static str) {
        if self.has(one) && self.has(other) {
            self.error(other, format!(" has both `{one}` and `{other}`"), "keep one of them");
        }
    }

    /// An error if a key was left out.
    pub fn needs(&mut self, key: &'static str, help: &str) {
        if !self.has(key) {
            self.error("", format!(" has no `{key}`"), help);
        }
    }
}
