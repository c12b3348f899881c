//! Extremes and zeros of what an observer asks for, located on the dense output of the steps. What is found is recorded
//! there; the steps do not know.

use super::{Dynamics, Island, IslandSample, Model, Outcome, Settings, What, body_state, interpolate_all, locate};
use tippe_mechanics::kinematics::BodyState;
use tippe_mechanics::model::{Drive, prescribed};
use tippe_mechanics::observe::{Glimpse, Mark};

/// Slopes are taken over this share of an interval [-]: an extreme nearer to its end than that is as high as the end to
/// the square of it.
const NEAR: f64 = 1e-5;
/// Where a slope vanishes it is taken over this share of the interval, both ways [-].
const APART: f64 = 1e-4;
/// Changes of a number below this share of it are rounding [-].
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// A number that changes by more than this share of itself between two steps jumps there [-].
const JUMP: f64 = 1e-9;

/// Where a number stood at the end of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Left {
    time: f64,
    value: f64,
    /// How much it rose over the last bit of the interval.
    rise: f64,
}

/// A time to record at.
#[derive(Clone, Debug)]
pub struct Found {
    /// When [s].
    pub time: f64,
    /// True where a number jumps: however near to other times it is.
    pub jump: bool,
    /// What there is to see of the island then.
    pub sample: IslandSample,
}

impl Island {
    /// Looks through what was stepped over since the last look, up to `end`, between communication points.
    pub(super) fn find_marks(
        &mut self,
        model: &Model,
        settings: &Settings,
        samples: &[f64],
        end: f64,
        outcome: &mut Outcome,
    ) {
        let marks = &settings.marks;
        let (from, to) = (outcome.looked, self.stepper.t0.min(end));
        if marks.is_empty() || !(to > from) {
            return;
        }
        outcome.looked = to;
        let own = match self.own_marks.take() {
            Some(own) => own,
            None => (0..marks.len()).filter(|&k| self.owns(model, &marks[k])).collect(),
        };
        self.left.resize(marks.len(), None);
        let between = samples.partition_point(|t| *t <= from)..samples.partition_point(|t| *t < to);
        let inner: Vec<f64> = samples[between].iter().copied().chain([to]).collect();
        for &k in &own {
            let mut a = from;
            for &b in &inner {
                self.look_between(model, &marks[k], k, [a, b], outcome);
                a = b;
            }
        }
        // what jumps there will be seen on both sides
        let cut = |what: What| matches!(what, What::Watch | What::Instant);
        if !own.is_empty() && to == self.stepper.t0 && self.crossings.iter().any(|crossing| cut(crossing.what)) {
            let sample = self.sample(model, usize::MAX, to);
            outcome.found.push(Found { time: to, jump: true, sample });
        }
        self.own_marks = Some(own);
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

    /// Extremes and zeros of one mark within an interval of the last step, and where it meets the one before.
    fn look_between(&mut self, model: &Model, mark: &Mark, k: usize, [a, b]: [f64; 2], outcome: &mut Outcome) {
        let h = b - a;
        let value = |t: f64, island: &mut Island| (mark.value)(&island.glimpse(model, mark, t));
        let [fa, after, before, fb] = [a, a + NEAR * h, b - NEAR * h, b].map(|t| value(t, self));
        let rising = |rise: f64, f: f64| if rise.abs() > ROUNDING * f.abs() { rise } else { 0.0 };
        let (first, last) = (rising(after - fa, fa), rising(fb - before, fb));
        let mut times = Vec::new();
        if let Some(left) = self.left[k].filter(|left| left.time == a) {
            let jump = (fa - left.value).abs() > JUMP * (fa.abs() + left.value.abs());
            if jump {
                times.push((a.next_up(), true));
            } else if left.rise * first < 0.0 {
                times.push((a, false));
            }
        }
        self.left[k] = Some(Left { time: b, value: fb, rise: last });
        let mut points = vec![(a, fa)];
        if first * last < 0.0 {
            let d = APART * h;
            let slope = |t: f64, island: &mut Island| value(t + d, island) - value(t - d, island);
            let (low, high) = (a + d, b - d);
            let ends = [slope(low, self), slope(high, self)];
            let flat = match ends[0] * ends[1] < 0.0 {
                true => locate(low, ends[0], high, ends[1], 1e-12 * h, |t| slope(t, self)),
                // it lies nearer to one of the ends
                false if ends[0] * first < 0.0 => a + 0.5 * d,
                false => b - 0.5 * d,
            };
            times.push((flat, false));
            points.push((flat, value(flat, self)));
        }
        points.push((b, fb));
        if mark.crossing {
            for pair in points.windows(2) {
                let [(a, fa), (b, fb)] = [pair[0], pair[1]];
                if fa * fb < 0.0 {
                    let tolerance = 2.0 * f64::EPSILON * b.abs();
                    times.push((locate(a, fa, b, fb, tolerance, |t| value(t, self)), false));
                }
            }
        }
        for (time, jump) in times {
            let sample = self.sample(model, usize::MAX, time);
            outcome.found.push(Found { time, jump, sample });
        }
    }

    /// What a mark depends on at a time within the last step.
    fn glimpse(&mut self, model: &Model, mark: &Mark, t: f64) -> Glimpse {
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
        let bodies = mark.bodies.iter().map(|&body| (body, state(body))).collect();
        let theta = self.theta(t);
        let mut y = Vec::new();
        if !mark.signals.is_empty() || !mark.touching.is_empty() {
            y.resize(self.stepper.y0.len(), 0.0);
            interpolate_all(&self.stepper.dense, theta, &mut y);
        }
        let contacts = if mark.touching.is_empty() {
            Vec::new()
        } else {
            self.dynamics.energies(model, t, &y);
            self.contacts(model, &y)
        };
        let signals = if mark.signals.is_empty() { Vec::new() } else { self.dynamics.clone().signals(model, t, &y) };
        Glimpse { time: t, bodies, contacts, signals }
    }

    /// Its touching pairs, where the energies were measured last, at y.
    pub(super) fn contacts(&self, model: &Model, y: &[f64]) -> Vec<tippe_mechanics::observe::ContactSample> {
        let mut contacts = Vec::new();
        for pair in &self.dynamics.pairs {
            let reading = pair.read(model, &self.dynamics.kinematics, &Dynamics::springs(pair, y), false);
            if reading.gap <= 0.0 {
                contacts.push(tippe_mechanics::observe::ContactSample {
                    body1: model.colliders[pair.id.0 as usize].body as usize,
                    body2: model.colliders[pair.id.1 as usize].body as usize,
                    pair: pair.id,
                    position: reading.point,
                    normal: reading.normal,
                    depth: -reading.gap,
                    closing_speed: reading.closing_speed,
                    force: reading.total,
                    torque: pair.torque_at_point(&reading, &self.dynamics.kinematics),
                    slipping: pair.memory.modes.slipping,
                });
            }
        }
        contacts
    }
}

impl Outcome {
    /// Adds what was found at some of these communication points, all of the horizon.
    pub fn keep_found(&mut self, times: &[f64]) {
        let at = |time: f64| times.binary_search_by(|t| t.total_cmp(&time));
        let mut all: Vec<(f64, IslandSample)> =
            std::mem::take(&mut self.points).into_iter().zip(std::mem::take(&mut self.samples)).collect();
        all.extend(std::mem::take(&mut self.found).into_iter().map(|found| (found.time, found.sample)));
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all.dedup_by(|a, b| a.0 == b.0);
        for (time, sample) in all {
            if let Ok(index) = at(time) {
                self.samples.push(IslandSample { index, ..sample });
            }
        }
    }
}
