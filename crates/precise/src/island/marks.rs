//! Extremes and zeros of what an observer asks for, located on the dense output of the steps, which know nothing of it.

use super::{Island, Model, Outcome, Settings, body_state, interpolate_all, locate};
use tippe_mechanics::kinematics::BodyState;
use tippe_mechanics::model::{Drive, prescribed};
use tippe_mechanics::observe::{Glimpse, Mark};

/// Slopes are taken over this share of an interval [-]: an extreme nearer to its end than that is as high as the end to
/// the square of it.
const NEAR: f64 = 1e-5;
/// Where a slope vanishes it is taken over this share of the interval, both ways [-].
const APART: f64 = 1e-4;
/// Changes of a number below this share of it are rounding [-].
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// A slope is one if it is the same over so many times the distance, to half [-]: rounding is not.
const LONGER: f64 = 10.0;
/// A number that changes by more than this share of itself between two steps jumps there [-].
const JUMP: f64 = 1e-9;
/// A free body turns by no more than this in one interval [rad].
const TURN: f64 = 0.5;
/// Intervals of a step at most [-].
const MOST_PARTS: f64 = 1e4;

/// What of the marks belongs to an island.
#[derive(Clone, Debug, Default)]
pub struct OwnMarks {
    marks: Vec<usize>,
    /// What all of them depend on.
    needs: Needs,
}

/// What is to be seen at a time.
#[derive(Clone, Debug, Default)]
struct Needs {
    bodies: Vec<u32>,
    contacts: bool,
    signals: bool,
}

impl Needs {
    fn of(mark: &Mark) -> Needs {
        let (contacts, signals) = (!mark.touching.is_empty(), !mark.signals.is_empty());
        Needs { bodies: mark.bodies.clone(), contacts, signals }
    }

    fn add(&mut self, more: Needs) {
        self.bodies.extend(more.bodies);
        self.bodies.sort_unstable();
        self.bodies.dedup();
        self.contacts |= more.contacts;
        self.signals |= more.signals;
    }
}

/// Where a number stood at the end of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Left {
    time: f64,
    value: f64,
}

/// An extreme or a zero of a mark, or a side of a jump.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// Which of the marks.
    pub mark: usize,
    /// When [s].
    pub time: f64,
    /// Its value there.
    pub value: f64,
}

impl Island {
    /// Looks through what was stepped over since the last look, up to `end`.
    pub(super) fn find_marks(&mut self, model: &Model, settings: &Settings, end: f64, outcome: &mut Outcome) {
        let marks = &settings.marks;
        let (from, to) = (outcome.looked, self.stepper.t0.min(end));
        if marks.is_empty() || to <= from {
            return;
        }
        outcome.looked = to;
        let own = match self.own_marks.take() {
            Some(own) => own,
            None => self.find_own(model, marks),
        };
        if !own.marks.is_empty() {
            self.left.resize(marks.len(), None);
            let parts = self.parts(&own.needs, to - from);
            let mut start = None;
            for part in 0..parts {
                let [a, b] = [part, part + 1]
                    .map(|k| if k == parts { to } else { from + (to - from) * k as f64 / parts as f64 });
                let h = b - a;
                let first = start.unwrap_or_else(|| self.glimpse(model, &own.needs, a));
                let [after, before, last] = [a + NEAR * h, b - NEAR * h, b].map(|t| self.glimpse(model, &own.needs, t));
                for &k in &own.marks {
                    let values = [&first, &after, &before, &last].map(|glimpse| (marks[k].value)(glimpse));
                    self.look_between(model, &marks[k], k, [a, b], values, outcome);
                }
                start = Some(last);
            }
        }
        self.own_marks = Some(own);
    }

    /// The marks that belong to the island.
    fn find_own(&self, model: &Model, marks: &[Mark]) -> OwnMarks {
        let mut own = OwnMarks::default();
        own.marks.extend((0..marks.len()).filter(|&k| self.owns(model, &marks[k])));
        for &k in &own.marks {
            own.needs.add(Needs::of(&marks[k]));
        }
        own
    }

    /// How many intervals a time within the last step is taken in [s]: bodies that spin swing more than once in a step.
    fn parts(&self, needs: &Needs, time: f64) -> usize {
        let d = &self.dynamics;
        let free = needs.bodies.iter().filter_map(|body| d.bodies.binary_search(body).ok());
        let free = free.filter(|k| d.link_of[*k].is_none());
        let fastest = free.map(|k| d.frames[k].rate.length()).fold(0.0, f64::max);
        (fastest * time / TURN).ceil().clamp(1.0, MOST_PARTS) as usize
    }

    /// True if all that a mark depends on belongs to the island.
    fn owns(&self, model: &Model, mark: &Mark) -> bool {
        let own = |body: &u32| self.dynamics.bodies.binary_search(body).is_ok();
        let free = |body: &&u32| model.bodies[**body as usize].drive == Drive::Free;
        let moving: Vec<&u32> = mark.bodies.iter().filter(free).chain(&mark.touching).collect();
        if !moving.iter().all(|body| own(body)) {
            return false;
        }
        if mark.signals.is_empty() {
            return !moving.is_empty();
        }
        let known = self.dynamics.clone().signals(model, self.stepper.t0, &self.stepper.y0);
        mark.signals.iter().all(|k| known.iter().any(|(known, _)| known == k))
    }

    /// Extremes and zeros of one mark within an interval of the last step, and where it meets the one before. It is seen at
    /// both ends, and a little after the first and before the last.
    fn look_between(
        &mut self,
        model: &Model,
        mark: &Mark,
        k: usize,
        [a, b]: [f64; 2],
        [fa, after, before, fb]: [f64; 4],
        outcome: &mut Outcome,
    ) {
        let h = b - a;
        let left = self.left[k].replace(Left { time: b, value: fb });
        let needs = Needs::of(mark);
        let value = |t: f64| (mark.value)(&self.glimpse(model, &needs, t));
        let rising = |rise: f64, f: f64| if rise.abs() > ROUNDING * f.abs() { rise } else { 0.0 };
        let (first, last) = (rising(after - fa, fa), rising(fb - before, fb));
        let mut found = Vec::new();
        if let Some(left) = left.filter(|left| left.time == a)
            && (fa - left.value).abs() > JUMP * (fa.abs() + left.value.abs())
        {
            found.extend([(a, left.value), (a.next_up(), fa)]);
        }
        let mut points = vec![(a, fa)];
        let is_slope = |rise: f64, longer: f64| (longer - LONGER * rise).abs() < 0.5 * LONGER * rise.abs();
        if first * last < 0.0
            && is_slope(first, value(a + LONGER * NEAR * h) - fa)
            && is_slope(last, fb - value(b - LONGER * NEAR * h))
        {
            let d = APART * h;
            let slope = |t: f64| value(t + d) - value(t - d);
            let (low, high) = (a + d, b - d);
            let ends = [slope(low), slope(high)];
            let flat = match ends[0] * ends[1] < 0.0 {
                true => locate(low, ends[0], high, ends[1], 1e-12 * h, slope),
                // it lies nearer to one of the ends
                false if ends[0] * first < 0.0 => a + 0.5 * d,
                false => b - 0.5 * d,
            };
            let extreme = (flat, value(flat));
            found.push(extreme);
            points.push(extreme);
        }
        points.push((b, fb));
        if mark.crossing {
            for pair in points.windows(2) {
                let [(a, fa), (b, fb)] = [pair[0], pair[1]];
                if fa * fb < 0.0 {
                    let tolerance = 2.0 * f64::EPSILON * b.abs();
                    let zero = locate(a, fa, b, fb, tolerance, value);
                    found.push((zero, value(zero)));
                }
            }
        }
        outcome.found.extend(found.into_iter().map(|(time, value)| Found { mark: k, time, value }));
    }

    /// What there is to see at a time within the last step.
    fn glimpse(&self, model: &Model, needs: &Needs, t: f64) -> Glimpse {
        let state = |body: u32| -> BodyState {
            let index = body as usize;
            match self.dynamics.bodies.binary_search(&body) {
                Ok(k) => {
                    let m = self.motion(model, k, t);
                    body_state(model, index, m.p, m.q, m.v, m.w)
                }
                Err(_) => {
                    let kin = prescribed(model, index, t);
                    body_state(model, index, kin.p, tippe_geometry::Quat::from_mat3(&kin.R), kin.v, kin.w)
                }
            }
        };
        let bodies = needs.bodies.iter().map(|&body| (body, state(body))).collect();
        let theta = self.theta(t);
        let mut y = Vec::new();
        if needs.signals || needs.contacts {
            y.resize(self.stepper.y0.len(), 0.0);
            interpolate_all(&self.stepper.dense, theta, &mut y);
        }
        let (mut contacts, mut signals) = (Vec::new(), Vec::new());
        if needs.signals || needs.contacts {
            // the equations of the island stay as the step left them
            let mut copy = self.dynamics.clone();
            if needs.contacts {
                copy.energies(model, t, &y);
                contacts = copy.contacts(model, &y);
            }
            if needs.signals {
                signals = copy.signals(model, t, &y);
            }
        }
        Glimpse { time: t, bodies, contacts, signals }
    }
}
