//! Questions to a run, as text: `max(ball.position.z) - event.contact_start(ball, floor)[0].gap`.
//!
//! ```text
//! sum     = term { ("+" | "-") term }
//! term    = power { ("*" | "/") power }
//! power   = ["-"] primary [ "^" power ]
//! primary = number | "pi" | "(" sum ")" | function "(" sum { "," sum } ")" | signal | question
//! signal  = "time" | BODY "." quantity | SIGNAL | "energy." account | "momentum." axis | "contact(" [ BODY "," ] BODY ")." touch
//! question = "events." kind [ filter ]                               how many
//!          | "event." kind [ filter ] [ "[" index "]" ] "." field    of one event; -1 is the last
//!          | "max(" sum ")" | "min(" sum ")"                         over the run, see [`Mark`](crate::observe::Mark)
//!          | "crossing(" sum "," sum ")" [ "[" index "]" ]           time at which the first passes the second
//!          | "at(" sum "," sum ")"                                   the first at the time the second says
//!          | "compare." gap                                          difference of the two clocks, see [`GapName`]
//! filter  = "(" BODY [ "," BODY ] ")" | "(" SOURCE ")"
//! ```
//! BODY, SIGNAL (`hinge.angle`) and SOURCE (what an event belongs to) are matched against the names of the run, longest first, so that names may hold dots,
//! dashes and brackets.

use super::{Account, Axis, GapName, Quantity, Signal, Subjects, Touch, Wanted};
use crate::EventKind;
use crate::scene::{closest, did_you_mean};
use std::fmt;

/// A parsed question; ask it with [`Expression::value`] or [`Expression::series`].
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    pub(super) root: Node,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Number(f64),
    Signal(Signal),
    Count(EventFilter),
    Event {
        filter: EventFilter,
        index: i64,
        field: EventField,
    },
    Call(Function, Vec<Node>),
    /// Largest (+1) or smallest (-1) value over time.
    Extreme(f64, Box<Node>),
    Crossing {
        signal: Box<Node>,
        level: Box<Node>,
        index: i64,
    },
    At {
        signal: Box<Node>,
        time: Box<Node>,
    },
    /// Difference between the runs of the two clocks.
    Compare(GapName),
}

/// Events of one kind, of all or of some.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EventFilter {
    pub(super) kind: EventKind,
    pub(super) of: EventOf,
    /// As it was written, for messages.
    pub(super) text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum EventOf {
    Any,
    Body(usize),
    Bodies(usize, usize),
    Source(String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum EventField {
    Time,
    Gap,
    ClosingSpeed,
    Position(Axis),
    Normal(Axis),
    EpisodeStart,
    EpisodeDuration,
    EpisodeStartClosingSpeed,
    EpisodeMaxDepth,
    EpisodeMaxForce,
    EpisodeImpulse,
    RegionsBefore,
    RegionsAfter,
}

const EVENT_FIELDS: [(&str, EventField); 17] = [
    ("time", EventField::Time),
    ("gap", EventField::Gap),
    ("closing_speed", EventField::ClosingSpeed),
    ("position.x", EventField::Position(Axis::X)),
    ("position.y", EventField::Position(Axis::Y)),
    ("position.z", EventField::Position(Axis::Z)),
    ("normal.x", EventField::Normal(Axis::X)),
    ("normal.y", EventField::Normal(Axis::Y)),
    ("normal.z", EventField::Normal(Axis::Z)),
    ("episode.start", EventField::EpisodeStart),
    ("episode.duration", EventField::EpisodeDuration),
    ("episode.start_closing_speed", EventField::EpisodeStartClosingSpeed),
    ("episode.max_depth", EventField::EpisodeMaxDepth),
    ("episode.max_force", EventField::EpisodeMaxForce),
    ("episode.impulse", EventField::EpisodeImpulse),
    ("regions.before", EventField::RegionsBefore),
    ("regions.after", EventField::RegionsAfter),
];

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Function {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Negate,
    Sqrt,
    Abs,
    Hypot,
    Sin,
    Cos,
    Atan2,
    Exp,
    Ln,
    Max,
    Min,
}

/// Functions by name with the number of their arguments; `max` and `min` of two or more compare at each time.
const FUNCTIONS: [(&str, Function, std::ops::RangeInclusive<usize>); 11] = [
    ("sqrt", Function::Sqrt, 1..=1),
    ("abs", Function::Abs, 1..=1),
    ("hypot", Function::Hypot, 2..=3),
    ("sin", Function::Sin, 1..=1),
    ("cos", Function::Cos, 1..=1),
    ("atan2", Function::Atan2, 2..=2),
    ("exp", Function::Exp, 1..=1),
    ("ln", Function::Ln, 1..=1),
    ("log", Function::Ln, 1..=1),
    ("max", Function::Max, 2..=16),
    ("min", Function::Min, 2..=16),
];

const OTHER_WORDS: [&str; 10] =
    ["time", "pi", "energy.", "momentum.", "contact(", "events.", "event.", "crossing", "at", "compare."];

/// Parentheses, signs and powers inside each other at most.
const MAX_DEPTH: usize = 100;
/// Longest text [characters]: an answer needs stack for every operator.
const MAX_LENGTH: usize = 2000;

/// Why a question cannot be asked of this run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// Where in the text, counted in characters from 1 [-].
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to try; empty if there is nothing to add.
    pub help: String,
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.message)?;
        if self.help.is_empty() { Ok(()) } else { write!(f, ". help: {}", self.help) }
    }
}

impl std::error::Error for ExpressionError {}

impl Expression {
    /// Reads `text`; bodies must be among `subjects`.
    pub fn parse(text: &str, subjects: &Subjects) -> Result<Expression, ExpressionError> {
        let mut parser = Parser { text, at: 0, depth: 0, subjects };
        if text.len() > MAX_LENGTH {
            return Err(parser.error(format!("the text is longer than {MAX_LENGTH} characters"), ""));
        }
        let root = parser.sum()?;
        parser.space();
        if parser.at < text.len() {
            return Err(parser.error("an operator or the end is expected here", ""));
        }
        Ok(Expression { root })
    }

    /// The signal of this name.
    pub fn signal(name: &str, subjects: &Subjects) -> Result<Signal, ExpressionError> {
        match Expression::parse(name, subjects)?.root {
            Node::Signal(signal) => Ok(signal),
            _ => Err(Parser { text: name, at: 0, depth: 0, subjects }
                .error(format!("\"{name}\" is computed from signals, not one of them"), "name one signal")),
        }
    }

    /// True if the value does not depend on the time it is asked for.
    pub fn is_constant(&self) -> bool {
        self.root.is_constant()
    }

    /// Unit, where the expression is one signal; `subjects` are those it was parsed with.
    pub fn unit<'a>(&self, subjects: &'a Subjects) -> Option<&'a str> {
        match &self.root {
            Node::Signal(signal) => Some(signal.unit(subjects)),
            _ => None,
        }
    }

    /// Shows every part of it.
    pub(super) fn visit(&self, see: &mut impl FnMut(&Node)) {
        self.root.visit(see);
    }

    /// Marks what must be recorded to answer.
    pub fn mark(&self, wanted: &mut Wanted) {
        self.root.visit(&mut |node| match node {
            Node::Signal(Signal::Body { body, .. }) => wanted.bodies[*body] = true,
            Node::Signal(Signal::Model(signal)) => wanted.signals[*signal] = true,
            Node::Signal(Signal::Contact { .. }) => wanted.contacts = true,
            _ => {}
        });
    }

    /// Times [s] written in the text as numbers, `at(ball.position.z, 0.5)`: a run that records there answers exactly.
    pub fn times(&self) -> Vec<f64> {
        let mut times = Vec::new();
        self.root.visit(&mut |node| {
            if let Node::At { time, .. } = node
                && let Node::Number(t) = **time
            {
                times.push(t);
            }
        });
        times
    }
}

impl Node {
    pub(super) fn is_constant(&self) -> bool {
        match self {
            Node::Signal(_) => false,
            Node::Call(_, arguments) => arguments.iter().all(Node::is_constant),
            _ => true,
        }
    }

    /// One less the other.
    pub(super) fn difference(one: Node, other: Node) -> Node {
        Node::Call(Function::Subtract, vec![one, other])
    }

    pub(super) fn visit(&self, see: &mut impl FnMut(&Node)) {
        see(self);
        match self {
            Node::Number(_) | Node::Signal(_) | Node::Count(_) | Node::Event { .. } | Node::Compare(_) => {}
            Node::Call(_, arguments) => arguments.iter().for_each(|node| node.visit(see)),
            Node::Extreme(_, node) => node.visit(see),
            Node::Crossing { signal, level, .. } => {
                signal.visit(see);
                level.visit(see);
            }
            Node::At { signal, time } => {
                signal.visit(see);
                time.visit(see);
            }
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    subjects: &'a Subjects,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn error(&self, message: impl Into<String>, help: impl Into<String>) -> ExpressionError {
        let column = self.text[..self.at].chars().count() + 1;
        ExpressionError { column, message: message.into(), help: help.into() }
    }

    fn take(&mut self, token: char) -> bool {
        self.space();
        let taken = self.rest().starts_with(token);
        if taken {
            self.at += token.len_utf8();
        }
        taken
    }

    fn expect(&mut self, token: char) -> Result<(), ExpressionError> {
        if self.take(token) { Ok(()) } else { Err(self.error(format!("`{token}` is expected here"), "")) }
    }

    fn sum(&mut self) -> Result<Node, ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(format!("more than {MAX_DEPTH} parentheses inside each other"), ""));
        }
        let mut left = self.term()?;
        loop {
            let function = if self.take('+') {
                Function::Add
            } else if self.take('-') {
                Function::Subtract
            } else {
                self.depth -= 1;
                return Ok(left);
            };
            left = Node::Call(function, vec![left, self.term()?]);
        }
    }

    fn term(&mut self) -> Result<Node, ExpressionError> {
        let mut left = self.power()?;
        loop {
            let function = if self.take('*') {
                Function::Multiply
            } else if self.take('/') {
                Function::Divide
            } else {
                return Ok(left);
            };
            left = Node::Call(function, vec![left, self.power()?]);
        }
    }

    fn power(&mut self) -> Result<Node, ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(format!("more than {MAX_DEPTH} signs or powers inside each other"), ""));
        }
        let node = if self.take('-') {
            Node::Call(Function::Negate, vec![self.power()?])
        } else {
            let base = self.primary()?;
            if self.take('^') { Node::Call(Function::Power, vec![base, self.power()?]) } else { base }
        };
        self.depth -= 1;
        Ok(node)
    }

    fn primary(&mut self) -> Result<Node, ExpressionError> {
        if self.take('(') {
            let node = self.sum()?;
            self.expect(')')?;
            return Ok(node);
        }
        self.space();
        if self.rest().starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return self.number().map(Node::Number);
        }
        let signal = self.known(self.subjects.signals.iter().map(|signal| &signal.name), ends_a_signal);
        let body = self.known(self.subjects.bodies.iter().map(|body| &body.name), |tail| comes(tail, &['.']));
        if let Some((signal, length)) = signal
            && body.is_none_or(|(_, other)| other < length)
        {
            self.at += length;
            return Ok(Node::Signal(Signal::Model(signal)));
        }
        if let Some((body, length)) = body {
            self.at += length;
            self.expect('.')?;
            let (all, names): (Vec<_>, Vec<_>) = Quantity::all().into_iter().map(|q| (q, q.name())).unzip();
            let quantity = all[self.one_of("quantity of a body", &names)?];
            return Ok(Node::Signal(Signal::Body { body, quantity }));
        }
        let start = self.at;
        let word = self.word();
        match word {
            "pi" => Ok(Node::Number(std::f64::consts::PI)),
            "time" => Ok(Node::Signal(Signal::Time)),
            "energy" => {
                self.expect('.')?;
                let account = Account::ALL[self.one_of("energy", &Account::ALL.map(Account::name))?];
                Ok(Node::Signal(Signal::Energy(account)))
            }
            "momentum" => {
                self.expect('.')?;
                let axis = Axis::ALL[self.one_of("axis", &Axis::ALL.map(Axis::name))?];
                Ok(Node::Signal(Signal::Momentum(axis)))
            }
            "compare" => {
                self.expect('.')?;
                let (all, names): (Vec<_>, Vec<_>) = GapName::all().into_iter().map(|g| (g, g.name())).unzip();
                Ok(Node::Compare(all[self.one_of("difference of clocks", &names)?]))
            }
            "contact" => self.contact(),
            "events" => self.filter().map(Node::Count),
            "event" => self.event(),
            "crossing" => {
                let [signal, level] = self.two_arguments("crossing(signal, level)")?;
                let index = self.index()?;
                Ok(Node::Crossing { signal: Box::new(signal), level: Box::new(level), index })
            }
            "at" => {
                let [signal, time] = self.two_arguments("at(signal, time)")?;
                if !time.is_constant() {
                    return Err(self.error("the time in at(signal, time) must not be a signal", ""));
                }
                Ok(Node::At { signal: Box::new(signal), time: Box::new(time) })
            }
            _ => self.call(word, start),
        }
    }

    fn number(&mut self) -> Result<f64, ExpressionError> {
        let bytes = self.rest().as_bytes();
        let digits = |mut k: usize| {
            while bytes.get(k).is_some_and(u8::is_ascii_digit) {
                k += 1;
            }
            k
        };
        let mut end = digits(0);
        if bytes.get(end) == Some(&b'.') {
            end = digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign);
            if exponent > end + 1 + sign {
                end = exponent;
            }
        }
        match self.rest()[..end].parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.at += end;
                Ok(value)
            }
            _ => Err(self.error(format!("`{}` is not a finite number", &self.rest()[..end]), "")),
        }
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Index and length of the longest of `names` that stands here and is followed by what `follows` accepts.
    fn known<'n>(
        &self,
        names: impl Iterator<Item = &'n String>,
        follows: impl Fn(&str) -> bool,
    ) -> Option<(usize, usize)> {
        let rest = self.rest();
        let stands = |name: &str| !name.is_empty() && rest.strip_prefix(name).is_some_and(&follows);
        names.enumerate().filter(|(_, name)| stands(name)).map(|(k, name)| (k, name.len())).max_by_key(|(_, n)| *n)
    }

    fn body(&mut self) -> Result<usize, ExpressionError> {
        let subjects = self.subjects;
        self.argument("body", subjects.bodies.iter().map(|body| &body.name))
    }

    /// One of `names` between parentheses.
    fn argument<'n>(
        &mut self,
        what: &str,
        names: impl Iterator<Item = &'n String> + Clone,
    ) -> Result<usize, ExpressionError> {
        self.space();
        if let Some((k, length)) = self.known(names.clone(), |tail| comes(tail, &[',', ')'])) {
            self.at += length;
            return Ok(k);
        }
        let rest = self.rest();
        let word = rest[..rest.find([',', ')']).unwrap_or(rest.len())].trim();
        Err(self.error(format!("there is no {what} \"{word}\""), did_you_mean(word, names.map(String::as_str))))
    }

    /// Takes the longest of `names` that stands here and says which it is.
    fn one_of<S: AsRef<str>>(&mut self, what: &str, names: &[S]) -> Result<usize, ExpressionError> {
        self.space();
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len());
        let word = &rest[..end];
        match names.iter().position(|name| name.as_ref() == word) {
            Some(k) => {
                self.at += end;
                Ok(k)
            }
            None => {
                let help = did_you_mean(word, names.iter().map(AsRef::as_ref));
                Err(self.error(format!("there is no {what} `{word}`"), help))
            }
        }
    }

    fn contact(&mut self) -> Result<Node, ExpressionError> {
        self.expect('(')?;
        let first = self.body()?;
        self.space();
        let (other, body) = if self.rest().starts_with(',') {
            self.expect(',')?;
            (Some(first), self.body()?)
        } else {
            (None, first)
        };
        self.expect(')')?;
        self.expect('.')?;
        let touch = Touch::ALL[self.one_of("quantity of a contact", &Touch::ALL.map(Touch::name))?];
        Ok(Node::Signal(Signal::Contact { other, body, touch }))
    }

    /// `.kind` or `.kind(body)` or `.kind(body, body)` or `.kind(source)`.
    fn filter(&mut self) -> Result<EventFilter, ExpressionError> {
        self.expect('.')?;
        self.space();
        let start = self.at;
        let word = self.word();
        let Some(&kind) = EventKind::ALL.iter().find(|kind| kind.name() == word) else {
            self.at = start;
            let help = did_you_mean(word, EventKind::ALL.iter().map(|kind| kind.name()));
            return Err(self.error(format!("there is no kind of event `{word}`"), help));
        };
        let mut of = EventOf::Any;
        if self.take('(') {
            of = if kind.is_of_contact() { self.bodies()? } else { self.source(kind)? };
            self.expect(')')?;
        }
        Ok(EventFilter { kind, of, text: self.text[start..self.at].to_owned() })
    }

    fn bodies(&mut self) -> Result<EventOf, ExpressionError> {
        let first = self.body()?;
        Ok(if self.take(',') { EventOf::Bodies(first, self.body()?) } else { EventOf::Body(first) })
    }

    fn source(&mut self, kind: EventKind) -> Result<EventOf, ExpressionError> {
        let sources = &self.subjects.sources;
        let what = match kind {
            EventKind::Change => "change",
            EventKind::Crossing => "component",
            EventKind::MotorLimit | EventKind::MotorHold => "motor",
            EventKind::Taut | EventKind::Slack => "constraint",
            EventKind::LiftOff | EventKind::Landing => "cam",
            _ => "joint",
        };
        self.argument(what, sources.iter()).map(|k| EventOf::Source(sources[k].clone()))
    }

    fn event(&mut self) -> Result<Node, ExpressionError> {
        let filter = self.filter()?;
        let index = self.index()?;
        self.expect('.')?;
        let field = EVENT_FIELDS[self.one_of("field of an event", &EVENT_FIELDS.map(|(name, _)| name))?].1;
        if !filter.kind.is_of_contact() && field != EventField::Time {
            return Err(self.error(format!("{} has no field but time", filter.kind.name()), ""));
        }
        if !matches!(filter.kind, EventKind::ContactEnd) && field.is_of_episode() {
            return Err(self.error("only contact_end has an episode", "ask event.contact_end[...].episode"));
        }
        let of_regions = matches!(filter.kind, EventKind::RegionsMerge | EventKind::RegionsSplit);
        if !of_regions && matches!(field, EventField::RegionsBefore | EventField::RegionsAfter) {
            let help = "ask event.regions_merge[...].regions.after";
            return Err(self.error("only regions_merge and regions_split have regions", help));
        }
        Ok(Node::Event { filter, index, field })
    }

    /// `[index]`, or 0 if there is none.
    fn index(&mut self) -> Result<i64, ExpressionError> {
        if !self.take('[') {
            return Ok(0);
        }
        let negative = self.take('-');
        self.space();
        let word = self.word();
        let Ok(value) = word.parse::<i32>() else {
            return Err(self.error(format!("`{word}` is not an index"), "0 is the first, -1 the last"));
        };
        self.expect(']')?;
        Ok(if negative { -i64::from(value) } else { i64::from(value) })
    }

    fn arguments(&mut self) -> Result<Vec<Node>, ExpressionError> {
        self.expect('(')?;
        let mut arguments = vec![self.sum()?];
        while self.take(',') {
            arguments.push(self.sum()?);
        }
        self.expect(')')?;
        Ok(arguments)
    }

    fn two_arguments(&mut self, form: &str) -> Result<[Node; 2], ExpressionError> {
        let arguments = self.arguments()?;
        let count = arguments.len();
        arguments.try_into().map_err(|_| self.error(format!("{form} takes 2 arguments, here are {count}"), ""))
    }

    fn call(&mut self, word: &str, start: usize) -> Result<Node, ExpressionError> {
        let Some((name, function, counts)) = FUNCTIONS.iter().find(|(name, ..)| *name == word) else {
            self.at = start;
            return Err(self.unknown());
        };
        let mut arguments = self.arguments()?;
        match (*name, arguments.len()) {
            ("max", 1) => Ok(Node::Extreme(1.0, Box::new(arguments.remove(0)))),
            ("min", 1) => Ok(Node::Extreme(-1.0, Box::new(arguments.remove(0)))),
            (_, n) if counts.contains(&n) => Ok(Node::Call(*function, arguments)),
            (_, n) => Err(self.error(format!("{name} does not take {n} arguments"), "")),
        }
    }

    fn unknown(&self) -> ExpressionError {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).unwrap_or(rest.len());
        let word = &rest[..end];
        if word.is_empty() {
            return self.error("a number, a signal or a function is expected here", "");
        }
        let path = rest[..rest.find(|c: char| !(c.is_alphanumeric() || "_-.".contains(c))).unwrap_or(rest.len())]
            .trim_end_matches('.');
        if let Some(error) = self.unknown_signal(path) {
            return error;
        }
        let known = (self.subjects.bodies.iter().map(|body| body.name.as_str()))
            .chain(self.subjects.signals.iter().map(|signal| signal.name.as_str()))
            .chain(FUNCTIONS.iter().map(|(name, ..)| *name))
            .chain(OTHER_WORDS.iter().map(|word| word.trim_end_matches(['.', '('])));
        if self.subjects.body(word).is_some() {
            let help = format!("ask for {word}.position.z or another quantity of it");
            return self.error(format!("body \"{word}\" has more than one number"), help);
        }
        self.error(format!("there is no body, signal or function `{word}`"), did_you_mean(word, known))
    }
}

impl Parser<'_> {
    /// What to say if `path` begins with the owner of signals, or is nearly a signal.
    fn unknown_signal(&self, path: &str) -> Option<ExpressionError> {
        let signals = self.subjects.signals.iter().map(|signal| signal.name.as_str());
        let of = |owner: &str| -> Vec<&str> {
            signals.clone().filter(|name| name.strip_prefix(owner).is_some_and(|n| n.starts_with('.'))).collect()
        };
        // The owner is what stands before one of the dots, the longest that owns signals.
        let mut owners = path.match_indices('.').map(|(end, _)| &path[..end]).chain([path]).rev();
        if let Some(owner) = owners.find(|owner| !owner.is_empty() && !of(owner).is_empty()) {
            let rest = &path[owner.len()..];
            let word = &path[..owner.len() + rest.find('-').unwrap_or(rest.len())];
            let message = match owner == word {
                true => format!("\"{word}\" has more than one number"),
                false => format!("there is no signal `{word}`"),
            };
            return Some(self.error(message, did_you_mean(word, of(owner))));
        }
        let best = closest(path, signals).filter(|_| path.contains('.'))?;
        Some(self.error(format!("there is no signal `{path}`"), format!("did you mean `{best}`?")))
    }
}

/// True if one of `followers` comes first in `tail`, after spaces.
fn comes(tail: &str, followers: &[char]) -> bool {
    tail.trim_start().starts_with(|c| followers.contains(&c))
}

/// True if the name of a signal may end before `tail`: neither the name nor a call goes on.
fn ends_a_signal(tail: &str) -> bool {
    !tail.starts_with(|c: char| c.is_alphanumeric() || "_.".contains(c)) && !comes(tail, &['('])
}

impl EventField {
    fn is_of_episode(self) -> bool {
        matches!(
            self,
            EventField::EpisodeStart
                | EventField::EpisodeDuration
                | EventField::EpisodeStartClosingSpeed
                | EventField::EpisodeMaxDepth
                | EventField::EpisodeMaxForce
                | EventField::EpisodeImpulse
        )
    }
}
