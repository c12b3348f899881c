//! The scene format as data: tables, keys with their units and ranges, one line on each.
//!
//! A part of a machine declares its keys beside its physics, as a [`Spec`]. Reading, writing, including under a prefix,
//! the JSON Schema, `tippe explain`, the Python builder and the messages follow from the declaration.

use crate::equation::Dimension;
use crate::part::Check;
use std::borrow::Cow;
use std::fmt;

/// Smallest relative tolerance: below it rounding decides [-].
pub const SMALLEST_TOLERANCE: f64 = 1e-14;

/// A table of the file.
pub struct Table {
    /// How messages and the schema call it.
    pub name: &'static str,
    /// Keys of all its kinds, in groups so that tables can share some.
    pub keys: &'static [&'static [Key]],
    /// Kinds, told apart by the word under `kind` where there is that key; else at most one.
    pub kinds: &'static [&'static Spec],
}

impl Table {
    /// Keys of the table itself, then those of its kinds; a key of several kinds comes once for each.
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> + Clone {
        self.shared().chain(self.kinds.iter().flat_map(|kind| kind.keys()))
    }

    /// Keys that all kinds have.
    pub fn shared(&self) -> impl Iterator<Item = &'static Key> + Clone {
        self.keys.iter().flat_map(|group| group.iter())
    }

    /// The first key of this name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys().find(|key| key.name == name)
    }

    /// Words under `kind`.
    pub fn words(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.kinds.iter().map(|kind| kind.word)
    }
}

/// A kind of part: a word under `kind`, and the keys that belong to it.
pub struct Spec {
    /// The word.
    pub word: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Its keys, in groups so that kinds can share some.
    pub keys: &'static [&'static [Key]],
    /// Its scalar coordinates, which others name; their start values and rates are keys.
    pub coordinates: &'static [Coordinate],
    /// What its keys must obey together, and what follows from those that were written.
    pub check: fn(&mut Check<'_>),
    /// A table of this kind as it may stand in a scene with free bodies `a` and `b` and the hinges, or slides,
    /// `hinge` and `other`, of a force also `third`.
    pub example: &'static str,
}

impl Spec {
    /// A kind without keys.
    pub const NONE: Spec = Spec { word: "", about: "", keys: &[], coordinates: &[], check: |_| {}, example: "" };

    /// All keys.
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> + Clone + use<> {
        let coordinates = self.coordinates;
        let values = coordinates.iter().map(|coordinate| &coordinate.keys[0]);
        let rates = coordinates.iter().map(|coordinate| &coordinate.keys[1]);
        self.keys.iter().flat_map(|group| group.iter()).chain(values).chain(rates)
    }

    /// The key of this name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys().find(|key| key.name == name)
    }
}

impl PartialEq for Spec {
    fn eq(&self, other: &Spec) -> bool {
        self.word == other.word
    }
}

impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word)
    }
}

/// A coordinate of a joint.
#[derive(Clone, Copy)]
pub struct Coordinate {
    /// Its name, the key of its start value.
    pub name: &'static str,
    /// Name of its rate, the key of the rate's start value.
    pub rate: &'static str,
    /// Its unit: `rad`, `m`, or `-` for components of a Gibbs vector.
    pub unit: &'static str,
    /// True if its rate turns [rad/s], false if it moves along [m/s].
    pub turns: bool,
    /// Keys of the start values of coordinate and rate.
    pub keys: [Key; 2],
}

impl Coordinate {
    /// An angle; `of` continues "Angle ... at the start".
    pub const fn angle(name: &'static str, rate: &'static str, about: [&'static str; 2]) -> Coordinate {
        let keys = [
            number(name, Dimension::ONE, Range::Any, about[0]),
            number(rate, Dimension::ANGULAR_SPEED, Range::Any, about[1]),
        ];
        Coordinate { name, rate, unit: "rad", turns: true, keys }
    }

    /// A length.
    pub const fn length(name: &'static str, rate: &'static str, about: [&'static str; 2]) -> Coordinate {
        let keys = [
            number(name, Dimension::LENGTH, Range::Any, about[0]),
            number(rate, Dimension::SPEED, Range::Any, about[1]),
        ];
        Coordinate { name, rate, unit: "m", turns: false, keys }
    }

    /// A coordinate that is not set by itself: a component of a Gibbs vector or of a place beside one.
    pub const fn component(name: &'static str, rate: &'static str, unit: &'static str, turns: bool) -> Coordinate {
        let keys = [text(name, ""), text(rate, "")];
        Coordinate { name, rate, unit, turns, keys }
    }

    /// Unit of the rate.
    pub fn rate_unit(&self) -> &'static str {
        if self.turns { "rad/s" } else { "m/s" }
    }

    /// Dimension of a quantity along the coordinate.
    pub fn dimension(&self, of: Along) -> Dimension {
        match (of, self.turns) {
            (Along::Value, true) => Dimension::ONE,
            (Along::Value, false) => Dimension::LENGTH,
            (Along::Force | Along::Stiffness, true) => Dimension::ENERGY,
            (Along::Force, false) => Dimension::FORCE,
            (Along::Stiffness, false) => Dimension::new(0, 1, -2),
            (Along::Damping, true) => Dimension::new(2, 1, -1),
            (Along::Damping, false) => Dimension::new(0, 1, -1),
        }
    }
}

/// A key of a table.
#[derive(Clone, Copy)]
pub struct Key {
    /// The key as it is written.
    pub name: &'static str,
    /// True if it cannot be left out.
    pub required: bool,
    /// What its value may look like.
    pub form: Form,
    /// What it says, in one line with its unit.
    pub about: &'static str,
    /// What to do when it is missing or wrong.
    pub help: &'static str,
    /// Words under `kind` of the tables that take it; all if empty. Tables with [`Spec`]s need none.
    pub kinds: &'static [&'static str],
    /// Its value where it is left out.
    pub default: Option<Default>,
}

/// The value of a key that is left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// A number in SI.
    Number(f64),
    /// A flag.
    Flag(bool),
    /// A word.
    Word(&'static str),
}

/// What a value may look like.
#[derive(Clone, Copy)]
pub enum Form {
    /// A number or an expression.
    Number(Measure),
    /// As many numbers.
    Vector(usize, Measure),
    /// A number for all three axes, or one for each.
    PerAxis(Measure),
    /// A number in the unit that the coordinate of its table gives it.
    Along(Along, Range),
    /// A list of any length.
    List(&'static Form),
    /// A text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// The word of one of the table's kinds.
    Kind,
    /// True or false.
    Flag,
    /// A table.
    Table(&'static Table),
    /// A list of tables.
    Tables(&'static Table),
    /// Tables by a name of the user's.
    Named(&'static Table),
    /// Parts that belong to the one around them: a table, or a list of them.
    Parts(&'static Table),
    /// A closed curve: a table, or the name of a solid that has one.
    Curve(&'static Table),
    /// Texts or numbers by a name of the user's.
    Values,
    /// An equation over names known at run time, or a number; it knows these names of its own.
    Equation(&'static [&'static str]),
    /// As many equations.
    Equations(usize, &'static [&'static str]),
    /// A frame on a body that is not the world: BODY or BODY.FRAME.
    Attachment,
    /// A frame: BODY, BODY.FRAME or `world`.
    Frame,
    /// Two frames: BODY, BODY.FRAME or `world`.
    Attachments(Ends),
    /// A place in the pose as written, world axes; it moves with an included scene.
    Point,
    /// Two of them.
    Points,
    /// A vector of any length but zero, or the name of an axis of the world; it turns with an included scene.
    Direction,
    /// The name of a coordinate of the joint around it.
    Coordinate,
    /// Coordinates of joints: JOINT or JOINT.COORDINATE.
    Coordinates(Coupled),
    /// A shape, told apart by the word under `kind`.
    Shape,
    /// A rotation.
    Orientation,
    /// One of several.
    Either(&'static [Form]),
}

/// What two frames may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Frames of two bodies.
    Bodies,
    /// Two frames, also of one body.
    Frames,
    /// Two bodies without frames, none of them the world.
    Touching,
}

/// What coupled coordinates must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coupled {
    /// Of each: whether it must be an angle, or must not; `None` leaves it open.
    pub angles: &'static [Option<bool>],
    /// How many more there may be, each like the last.
    pub more: usize,
    /// What to do about one that is not.
    pub help: &'static str,
}

/// A quantity along a coordinate, which is a length [m] or an angle [rad].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// A value of the coordinate [m or rad].
    Value,
    /// A force or torque [N or N m].
    Force,
    /// A stiffness [N/m or N m/rad].
    Stiffness,
    /// A damping [N s/m or N m s/rad].
    Damping,
}

/// Unit and range of a number.
#[derive(Clone, Copy)]
pub struct Measure {
    /// `None`: any unit.
    pub dimension: Option<Dimension>,
    /// Range.
    pub range: Range,
}

/// Range of a number.
#[derive(Clone, Copy, PartialEq)]
pub enum Range {
    /// All numbers.
    Any,
    /// Above zero.
    Positive,
    /// Zero and above.
    NotNegative,
    /// 0 to 1.
    Fraction,
    /// -1 to 0.5, the ends left out.
    Poisson,
    /// A whole number.
    Whole,
    /// A whole number, 1 or more.
    Count,
    /// A whole number from one to the other.
    Between(u32, u32),
    /// What double precision can keep: 1e-14 or more.
    Tolerance,
    /// Not zero.
    NotZero,
}

impl Range {
    /// Whether a number is in it.
    pub fn contains(self, x: f64) -> bool {
        match self {
            Range::Any => true,
            Range::Positive => x > 0.0,
            Range::NotNegative => x >= 0.0,
            Range::Fraction => (0.0..=1.0).contains(&x),
            Range::Poisson => x > -1.0 && x < 0.5,
            Range::Whole => x == x.floor() && x.abs() < 1e15,
            Range::Count => x == x.floor() && (1.0..1e9).contains(&x),
            Range::Between(least, most) => x == x.floor() && (least as f64..=most as f64).contains(&x),
            Range::Tolerance => x >= SMALLEST_TOLERANCE,
            Range::NotZero => x != 0.0,
        }
    }

    /// The range in words.
    pub fn words(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Range::Any => "any number",
            Range::Positive => "> 0",
            Range::NotNegative => ">= 0",
            Range::Fraction => "from 0 to 1",
            Range::Poisson => "between -1 and 0.5",
            Range::Whole => "a whole number",
            Range::Count => "a whole number, 1 or more and below 1e9",
            Range::Between(least, most) => return Cow::Owned(format!("a whole number from {least} to {most}")),
            Range::Tolerance => "1e-14 or more",
            Range::NotZero => "any number but 0",
        })
    }
}

/// A unit and a range.
pub const fn measure(dimension: Dimension, range: Range) -> Measure {
    Measure { dimension: Some(dimension), range }
}
/// A key.
pub const fn key(name: &'static str, form: Form, about: &'static str) -> Key {
    Key { name, required: false, form, about, help: "", kinds: &[], default: None }
}
/// A number with a unit.
pub const fn number(name: &'static str, dimension: Dimension, range: Range, about: &'static str) -> Key {
    key(name, Form::Number(measure(dimension, range)), about)
}
/// Three numbers.
pub const fn vector(name: &'static str, dimension: Dimension, about: &'static str) -> Key {
    key(name, Form::Vector(3, measure(dimension, Range::Any)), about)
}
/// A number of any unit.
pub const fn any(name: &'static str, range: Range, about: &'static str) -> Key {
    key(name, Form::Number(Measure { dimension: None, range }), about)
}
/// A number along the coordinate of its table.
pub const fn along(name: &'static str, of: Along, range: Range, about: &'static str) -> Key {
    key(name, Form::Along(of, range), about)
}
/// A number for all three axes, or one for each.
pub const fn per_axis(name: &'static str, dimension: Dimension, range: Range, about: &'static str) -> Key {
    key(name, Form::PerAxis(measure(dimension, range)), about)
}
/// A text.
pub const fn text(name: &'static str, about: &'static str) -> Key {
    key(name, Form::Text, about)
}
/// A list of texts.
pub const fn texts(name: &'static str, about: &'static str) -> Key {
    key(name, Form::List(&Form::Text), about)
}
/// True or false.
pub const fn flag(name: &'static str, about: &'static str) -> Key {
    key(name, Form::Flag, about)
}
/// One of some words.
pub const fn word(name: &'static str, words: &'static [&'static str], about: &'static str) -> Key {
    key(name, Form::Word(words), about)
}
/// An equation over time `t`, parameters and signals.
pub const fn equation(name: &'static str, about: &'static str) -> Key {
    key(name, Form::Equation(&[]), about)
}

impl Key {
    /// It cannot be left out; `help` says what to write.
    pub const fn required(self, help: &'static str) -> Key {
        Key { required: true, help, ..self }
    }
    /// What to do when it is wrong.
    pub const fn help(self, help: &'static str) -> Key {
        Key { help, ..self }
    }
    /// It belongs to these words under `kind`.
    pub const fn of(self, kinds: &'static [&'static str]) -> Key {
        Key { kinds, ..self }
    }
    /// The number it is where it is left out.
    pub const fn or(self, default: f64) -> Key {
        Key { default: Some(Default::Number(default)), ..self }
    }
    /// It is true where it is left out.
    pub const fn or_true(self) -> Key {
        Key { default: Some(Default::Flag(true)), ..self }
    }
    /// The word it is where it is left out.
    pub const fn or_word(self, default: &'static str) -> Key {
        Key { default: Some(Default::Word(default)), ..self }
    }

    /// What it says, with its default.
    pub fn description(&self) -> Cow<'static, str> {
        match self.default {
            None => Cow::Borrowed(self.about),
            Some(Default::Number(x)) => Cow::Owned(format!("{}; default {x}", self.about)),
            Some(Default::Flag(flag)) => Cow::Owned(format!("{}; default {flag}", self.about)),
            Some(Default::Word(word)) => Cow::Owned(format!("{}; default {word}", self.about)),
        }
    }
}
