//! Answers to the questions of `expression.rs`.

use super::expression::{EventField, EventFilter, EventOf, Expression, Function, Node};
use super::{Recording, Signal};
use crate::event::{Episode, Event, EventContact};
use thiserror::Error;

/// Why a question has no answer in this recording.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum NoAnswer {
    /// The recording is empty.
    #[error("nothing was recorded")]
    Empty,
    /// No communication point at the time asked for.
    #[error("nothing was recorded at {time} s; the nearest time is {nearest} s")]
    NoSample {
        /// Time asked for [s].
        time: f64,
        /// Nearest recorded time [s].
        nearest: f64,
    },
    /// Time outside the run.
    #[error("{time} s is outside the recording, which runs from {start} s to {end} s")]
    Outside {
        /// Time asked for [s].
        time: f64,
        /// First recorded time [s].
        start: f64,
        /// Last recorded time [s].
        end: f64,
    },
    /// Fewer events of the kind than the index says.
    #[error("there is no event {filter}[{index}]: there are {count}")]
    NoEvent {
        /// Kind and bodies asked for.
        filter: String,
        /// Index asked for [-].
        index: i64,
        /// How many there are [-].
        count: usize,
    },
    /// Fewer crossings than the index says.
    #[error("there is no crossing [{index}]: there are {count}")]
    NoCrossing {
        /// Index asked for [-].
        index: i64,
        /// How many there are [-].
        count: usize,
    },
    /// Motion of this body was not recorded.
    #[error("the motion of body \"{0}\" was not recorded")]
    NotRecorded(String),
    /// The run was not compared with one of the other clock.
    #[error("there is nothing to compare: the run was not compared with one of the other clock")]
    NotCompared,
    /// This signal of the model was not recorded.
    #[error("signal \"{0}\" was not recorded")]
    SignalNotRecorded(String),
}

impl Expression {
    /// Value at the communication point `at` [s], at the end if there is no `at`.
    pub fn value(&self, recording: &Recording, at: Option<f64>) -> Result<f64, NoAnswer> {
        let node = reduce(&self.root, recording)?;
        if let Node::Number(value) = node {
            return Ok(value);
        }
        let i = match at {
            None => recording.time.len().checked_sub(1).ok_or(NoAnswer::Empty)?,
            Some(time) => match recording.index_at(time) {
                Some(i) => i,
                None => return Err(no_sample(recording, time)),
            },
        };
        Ok(value_at(&node, recording, i))
    }

    /// Value at a time that need not be a communication point, through the nearest ones [s].
    pub fn between(&self, recording: &Recording, time: f64) -> Result<f64, NoAnswer> {
        let node = reduce(&self.root, recording)?;
        interpolate(recording, &|i| value_at(&node, recording, i), time)
    }

    /// Values at all communication points.
    pub fn series(&self, recording: &Recording) -> Result<Vec<f64>, NoAnswer> {
        let node = reduce(&self.root, recording)?;
        Ok((0..recording.time.len()).map(|i| value_at(&node, recording, i)).collect())
    }
}

fn no_sample(recording: &Recording, time: f64) -> NoAnswer {
    let distance = |t: &f64| (t - time).abs();
    match recording.time.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b))) {
        Some(nearest) => NoAnswer::NoSample { time, nearest },
        None => NoAnswer::Empty,
    }
}

/// The expression with everything answered that does not change with time: numbers, signals and functions remain.
fn reduce(node: &Node, recording: &Recording) -> Result<Node, NoAnswer> {
    Ok(match node {
        Node::Number(value) => Node::Number(*value),
        Node::Signal(signal) => match *signal {
            Signal::Body { body, .. } if !recording.has(body) => {
                return Err(NoAnswer::NotRecorded(recording.subjects.bodies[body].name.clone()));
            }
            Signal::Model(k) if !recording.has_signal(k) => {
                return Err(NoAnswer::SignalNotRecorded(recording.subjects.signals[k].name.clone()));
            }
            _ => Node::Signal(*signal),
        },
        Node::Count(filter) => Node::Number(filter.events(recording).count() as f64),
        Node::Event { filter, index, field } => {
            let events: Vec<&Event> = filter.events(recording).collect();
            let event = pick(&events, *index).ok_or_else(|| NoAnswer::NoEvent {
                filter: filter.text.clone(),
                index: *index,
                count: events.len(),
            })?;
            Node::Number(field.of(event))
        }
        Node::Call(function, arguments) => {
            let arguments = arguments.iter().map(|a| reduce(a, recording)).collect::<Result<Vec<_>, _>>()?;
            if arguments.iter().all(|a| matches!(a, Node::Number(_))) {
                Node::Number(function.of(arguments.iter().map(|a| value_at(a, recording, 0))))
            } else {
                Node::Call(*function, arguments)
            }
        }
        Node::Extreme(sign, node) => {
            let found = recording.found_of(node).map(|(_, value)| value);
            let node = reduce(node, recording)?;
            let values = (0..recording.time.len()).map(|i| value_at(&node, recording, i)).chain(found);
            Node::Number(sign * values.map(|v| sign * v).reduce(larger).ok_or(NoAnswer::Empty)?)
        }
        Node::Crossing { signal, level, index } => {
            let found = recording.found_of(&Node::difference((**signal).clone(), (**level).clone())).collect();
            let (signal, level) = (reduce(signal, recording)?, reduce(level, recording)?);
            let difference = |i: usize| value_at(&signal, recording, i) - value_at(&level, recording, i);
            let times = crossings(recording, &difference, found);
            let time = pick(&times, *index);
            Node::Number(time.ok_or(NoAnswer::NoCrossing { index: *index, count: times.len() })?)
        }
        Node::Compare(gap) => Node::Number(recording.gaps.as_ref().ok_or(NoAnswer::NotCompared)?.of(*gap)),
        Node::At { signal, time } => {
            let (signal, time) = (reduce(signal, recording)?, reduce(time, recording)?);
            let time = value_at(&time, recording, 0);
            Node::Number(interpolate(recording, &|i| value_at(&signal, recording, i), time)?)
        }
    })
}

/// The larger number; a number that is not one wins, so that it is seen.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a >= b { a } else { b }
}

fn pick<T: Copy>(list: &[T], index: i64) -> Option<T> {
    let index = if index < 0 { index + i64::try_from(list.len()).ok()? } else { index };
    list.get(usize::try_from(index).ok()?).copied()
}

/// Value of a reduced expression at the i-th communication point.
fn value_at(node: &Node, recording: &Recording, i: usize) -> f64 {
    value_of(node, &|signal| signal.at(recording, i))
}

/// Value of a reduced expression where signals have these values.
pub(super) fn value_of(node: &Node, look: &dyn Fn(Signal) -> f64) -> f64 {
    match node {
        Node::Number(value) => *value,
        Node::Signal(signal) => look(*signal),
        Node::Call(function, arguments) => function.of(arguments.iter().map(|a| value_of(a, look))),
        Node::Count(_)
        | Node::Event { .. }
        | Node::Extreme(..)
        | Node::Crossing { .. }
        | Node::At { .. }
        | Node::Compare(_) => {
            unreachable!("reduce() answers every question that does not change with time")
        }
    }
}

impl Function {
    fn of(self, mut arguments: impl Iterator<Item = f64>) -> f64 {
        let a = arguments.next().unwrap_or(f64::NAN);
        let mut b = || arguments.next().unwrap_or(f64::NAN);
        match self {
            Function::Add => a + b(),
            Function::Subtract => a - b(),
            Function::Multiply => a * b(),
            Function::Divide => a / b(),
            Function::Power => libm::pow(a, b()),
            Function::Negate => -a,
            Function::Sqrt => a.sqrt(),
            Function::Abs => a.abs(),
            Function::Hypot => arguments.fold(a, libm::hypot).abs(),
            Function::Sin => libm::sin(a),
            Function::Cos => libm::cos(a),
            Function::Atan2 => libm::atan2(a, b()),
            Function::Exp => libm::exp(a),
            Function::Ln => libm::log(a),
            Function::Max => arguments.fold(a, larger),
            Function::Min => -arguments.map(|v| -v).fold(-a, larger),
        }
    }
}

impl EventFilter {
    fn events<'a>(&'a self, recording: &'a Recording) -> impl Iterator<Item = &'a Event> {
        recording.events.iter().filter(|event| {
            let bodies = event.contact.map(|contact| [contact.body1, contact.body2]);
            event.kind == self.kind
                && match &self.of {
                    EventOf::Any => true,
                    EventOf::Body(a) => bodies.is_some_and(|bodies| bodies.contains(a)),
                    EventOf::Bodies(a, b) => bodies == Some([*a, *b]) || bodies == Some([*b, *a]),
                    EventOf::Source(name) => event.source.as_ref().is_some_and(|source| belongs(source, name)),
                }
        })
    }
}

/// True if `source` is what `name` says, or a part of it: `hinge.friction` belongs to `hinge`.
fn belongs(source: &str, name: &str) -> bool {
    match source.strip_prefix(name) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('.').is_some_and(|part| !part.contains('.')),
        None => false,
    }
}

impl EventField {
    fn of(self, event: &Event) -> f64 {
        // An event that lacks what its kind has would be a defect of the clock: it shows as not-a-number, never as zero.
        let contact = |field: &dyn Fn(&EventContact) -> f64| event.contact.as_ref().map_or(f64::NAN, field);
        let episode = |field: fn(&Episode) -> f64| contact(&|c| c.episode.as_ref().map_or(f64::NAN, field));
        match self {
            EventField::Time => event.time,
            EventField::Gap => contact(&|c| c.gap),
            EventField::ClosingSpeed => contact(&|c| c.closing_speed),
            EventField::Position(axis) => contact(&|c| axis.of(c.position)),
            EventField::Normal(axis) => contact(&|c| axis.of(c.normal)),
            EventField::EpisodeStart => episode(|e| e.start),
            EventField::EpisodeDuration => episode(|e| e.duration),
            EventField::EpisodeStartClosingSpeed => episode(|e| e.start_closing_speed),
            EventField::EpisodeMaxDepth => episode(|e| e.max_depth),
            EventField::EpisodeMaxForce => episode(|e| e.max_force),
            EventField::EpisodeImpulse => episode(|e| e.impulse),
            EventField::RegionsBefore => contact(&|c| c.regions.map_or(f64::NAN, |[before, _]| before as f64)),
            EventField::RegionsAfter => contact(&|c| c.regions.map_or(f64::NAN, |[_, after]| after as f64)),
        }
    }
}

/// Where one of two values is less than this share of the other, its time is that of the crossing [-].
const THERE: f64 = 1e-9;

/// Times at which `f` changes its sign [s], from its communication points and from times and values between them.
fn crossings(recording: &Recording, f: &dyn Fn(usize) -> f64, found: Vec<(f64, f64)>) -> Vec<f64> {
    let mut points: Vec<(f64, f64)> = recording.time.iter().enumerate().map(|(i, time)| (*time, f(i))).collect();
    points.extend(found);
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.retain(|(_, value)| !value.is_nan());
    let mut times = Vec::new();
    let mut last: Option<(usize, f64)> = None; // the last point where f was not zero
    for (i, (time, value)) in points.iter().copied().enumerate().filter(|(_, (_, value))| *value != 0.0) {
        if let Some((j, before)) = last
            && (before > 0.0) != (value > 0.0)
        {
            let from = points[j].0;
            let row = recording.time.partition_point(|t| *t <= from).saturating_sub(1);
            let rows = recording.time.get(row) == Some(&from) && recording.time.get(row + 1) == Some(&time);
            let there = value.abs().min(before.abs()) <= THERE * value.abs().max(before.abs());
            times.push(if j + 1 < i {
                points[j + 1].0
            } else if rows && !there {
                root(recording, f, row)
            } else {
                from + (time - from) * (before / (before - value))
            });
        }
        last = Some((i, value));
    }
    times
}

/// Zero of `f` between points j and j + 1, by bisection on the interpolating cubic (or line) [s].
fn root(recording: &Recording, f: &dyn Fn(usize) -> f64, j: usize) -> f64 {
    let cubic = Cubic::around(recording, f, j);
    let (mut low, mut high) = (recording.time[j], recording.time[j + 1]);
    let rising = f(j + 1) > 0.0;
    for _ in 0..64 {
        let middle = 0.5 * (low + high);
        if (cubic.at(middle) > 0.0) == rising {
            high = middle;
        } else {
            low = middle;
        }
    }
    0.5 * (low + high)
}

/// Value of `f` at a time that need not be a communication point.
fn interpolate(recording: &Recording, f: &dyn Fn(usize) -> f64, time: f64) -> Result<f64, NoAnswer> {
    if let Some(i) = recording.index_at(time) {
        return Ok(f(i));
    }
    let (Some(&start), Some(&end)) = (recording.time.first(), recording.time.last()) else {
        return Err(NoAnswer::Empty);
    };
    if !(start..=end).contains(&time) {
        return Err(NoAnswer::Outside { time, start, end });
    }
    let j = recording.time.partition_point(|&t| t <= time) - 1;
    Ok(Cubic::around(recording, f, j).at(time))
}

/// Newton's form of the polynomial through four communication points, or through two next to an event.
///
/// p(t) = c0 + (t - t0) (c1 + (t - t1) (c2 + (t - t2) c3)); its error is of order dt^4 where the signal is smooth
/// between the four points and of order dt^2 through two.
struct Cubic {
    t: Vec<f64>,
    c: Vec<f64>,
}

impl Cubic {
    /// For times between points j and j + 1.
    fn around(recording: &Recording, f: &dyn Fn(usize) -> f64, j: usize) -> Cubic {
        let time = &recording.time;
        let mut points = j..j + 2;
        if j > 0 && j + 2 < time.len() {
            let (start, end) = (time[j - 1], time[j + 2]);
            let next_event = recording.events.partition_point(|event| event.time < start);
            let quiet = recording.events.get(next_event).is_none_or(|event| event.time > end);
            if quiet && time[j - 1..=j + 2].windows(2).all(|w| w[0] < w[1]) {
                points = j - 1..j + 3;
            }
        }
        let t: Vec<f64> = points.clone().map(|i| time[i]).collect();
        let mut c: Vec<f64> = points.map(f).collect();
        for order in 1..t.len() {
            for i in (order..t.len()).rev() {
                let dt = t[i] - t[i - order];
                c[i] = if dt > 0.0 { (c[i] - c[i - 1]) / dt } else { 0.0 };
            }
        }
        Cubic { t, c }
    }

    fn at(&self, time: f64) -> f64 {
        self.c.iter().zip(&self.t).rev().fold(0.0, |p, (c, t)| c + (time - t) * p)
    }
}
