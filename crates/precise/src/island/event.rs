//! What happens at the crossings of a step: contact sets, memories, modes of friction, episodes and the log.

use super::super::crossing::{CROWD, Crossing};
use super::super::watch::Watch;
use super::{
    Bound, Episode, Event, EventContact, EventKind, Failure, Island, Method, Model, Outcome, Reading, STIFF,
    TOUCH_STEP, What, locate,
};
use super::{Memory, Trouble};
use tippe_mechanics::foreign::OutsideFailure;

impl Island {
    /// Units of others and foreign colliders that no longer answer end the run.
    pub(super) fn check_outside(&self, model: &Model) -> Result<(), Failure> {
        let (trouble, component, name, why) = match model.outside_failure() {
            None => return Ok(()),
            Some(OutsideFailure::Unit(name, why)) => (Trouble::Unit, Some(name.clone()), name, why),
            Some(OutsideFailure::Collider(name, why)) => (Trouble::Collider, None, name, format!("it {why}")),
        };
        let failure = self.failure(model, self.stepper.t0, self.stepper.h, trouble);
        Err(Failure { component, body: name, suspects: vec![why], ..failure })
    }

    /// Acts on the crossings of the last step: contact set, memory, modes; logs what is not logged yet.
    pub(super) fn act(&mut self, model: &Model, outcome: &mut Outcome) -> Result<(), Failure> {
        if self.stepper.h == 0.0 {
            return Ok(());
        }
        self.log(model, f64::INFINITY, outcome);
        let h = self.stepper.h;
        for k in 0..self.dynamics.pairs.len() {
            if self.dynamics.gaps[k].min(self.begin_gaps[k]) > 0.0 {
                continue;
            }
            if self.dynamics.pairs[k].memory.touching {
                let episode = self.episode(model, k, 1.0);
                let pair = &mut self.dynamics.pairs[k];
                pair.memory.episode = episode;
                remember(&mut pair.memory, &pair.last);
            }
        }
        let crossings = std::mem::take(&mut self.crossings);
        let changed = crossings.iter().any(|c| matches!(c.what, What::Touch | What::Leave));
        let mut restart = false;
        let taut = self.dynamics.taut_one_way();
        let mut switched = Vec::new();
        let mut shortest = f64::INFINITY;
        for crossing in &crossings {
            let k = crossing.pair;
            if matches!(crossing.what, What::Watch | What::Instant) {
                if crossing.what == What::Watch {
                    if let Watch::OneWay(machine, owner) = self.dynamics.actions.watches[k] {
                        switched.push((machine, owner));
                    }
                    self.dynamics.trip(model, k, self.stepper.t0, &mut self.stepper.y0);
                } else {
                    self.dynamics.actions.edge = self.stepper.t0 * (1.0 + 4.0 * f64::EPSILON);
                }
                restart = true;
                continue;
            }
            let reading = self.read_at(model, k, self.theta(crossing.time));
            match crossing.what {
                What::Touch => {
                    self.touch(k, &reading, crossing.time);
                    let longest = h.max(self.h);
                    let stop = self.search(model).is_stop(crossing, longest);
                    let pair = &self.dynamics.pairs[k];
                    restart |= pair.stops_at_touch();
                    if stop {
                        shortest = shortest.min(TOUCH_STEP * pair.contact_time(reading.closing_speed));
                    }
                    // an impact is resolved, not stepped over: explicitly, unless the rest of the island is far stiffer than it
                    let resolved = TOUCH_STEP * pair.contact_time(reading.closing_speed);
                    let held_back =
                        self.method == Method::Rodas4 && self.stepper.largest_eigenvalue() * resolved > STIFF;
                    if self.automatic && stop && !held_back && reading.closing_speed > 2.0 * pair.laws.normal.rest_speed
                    {
                        self.method = Method::Dopri5;
                        self.decision = 0;
                    }
                }
                What::Leave => {
                    self.dynamics.leave(k, &mut self.stepper.y0);
                    restart |= self.dynamics.pairs[k].jumps_at_touch() || self.dynamics.pairs[k].springs.is_some();
                }
                What::Peak => {
                    let memory = &mut self.dynamics.pairs[k].memory.normal;
                    memory.impact_speed = memory.impact_speed.max(reading.closing_speed);
                    restart = true;
                }
                What::Recompress => {
                    self.dynamics.pairs[k].memory.normal.impact_speed = 0.0;
                    restart = true;
                }
                What::Slip | What::Roll => {
                    self.loosen(k, crossing.what == What::Slip);
                    restart = true;
                    shortest = shortest.min(0.2 * self.h.max(h));
                }
                What::Stick | What::Rest => {
                    self.fasten(k, crossing.what == What::Stick);
                    restart = true;
                    shortest = shortest.min(0.2 * self.h.max(h));
                }
                // the law jumps with the number of regions, or its slope does
                What::Merge(..) | What::Split(..) | What::Region => restart = true,
                What::Watch | What::Instant => {}
            }
        }
        self.coupled &= !changed;
        if restart {
            let (t, y) = (self.stepper.t0, self.stepper.y0.clone());
            self.stepper.resume(&mut Bound { model, dynamics: &mut self.dynamics }, t, &y);
            self.settle(model);
            self.settle_elements(model);
            self.log_switched(model, &taut, &switched, outcome);
        }
        if !self.method.is_fixed() {
            self.h = self.h.min(shortest);
        }
        self.crossings.clear();
        Ok(())
    }

    /// Logs what holds one way and switched beside those whose own watch tripped, or that switched back at once: `taut` were
    /// taut before, those of `switched` are in the log.
    fn log_switched(&self, model: &Model, taut: &[(usize, usize)], switched: &[(usize, usize)], outcome: &mut Outcome) {
        let now = self.dynamics.taut_one_way();
        let mut all: Vec<(usize, usize)> = taut.iter().chain(&now).chain(switched).copied().collect();
        all.sort_unstable();
        all.dedup();
        for own in all {
            let expected = taut.contains(&own) != switched.contains(&own);
            if now.contains(&own) != expected {
                let machine = self.dynamics.machines[own.0].index;
                let kind = model.mechanisms[machine as usize].switching(own.1, !expected);
                let source = model.name_of_row(machine, own.1);
                outcome.events.push(Event { time: self.stepper.t0, kind, source: Some(source), contact: None });
            }
        }
    }

    /// Contacts whose sticking friction is beyond its limit right now begin to slip.
    pub(super) fn settle(&mut self, model: &Model) {
        let mut changed = false;
        for k in 0..self.dynamics.pairs.len() {
            let pair = &self.dynamics.pairs[k];
            if pair.springs.is_none() || !pair.memory.touching || pair.last.gap > 0.0 {
                continue;
            }
            let (modes, friction) = (pair.memory.modes, pair.last.friction);
            if !modes.slipping && friction.slip_margin > 1e-9 {
                self.loosen(k, true);
                changed = true;
            }
            if !modes.rolling && friction.roll_margin > 1e-9 {
                self.loosen(k, false);
                changed = true;
            }
        }
        if changed {
            let (t, y) = (self.stepper.t0, self.stepper.y0.clone());
            self.stepper.resume(&mut Bound { model, dynamics: &mut self.dynamics }, t, &y);
        }
    }

    pub(super) fn touch(&mut self, k: usize, reading: &Reading, time: f64) {
        self.dynamics.touch(k, reading, time, &mut self.stepper.y0);
    }

    pub(super) fn loosen(&mut self, k: usize, slip: bool) {
        self.dynamics.loosen(k, slip, &mut self.stepper.y0);
    }

    pub(super) fn fasten(&mut self, k: usize, stick: bool) {
        self.dynamics.fasten(k, stick, &mut self.stepper.y0);
    }

    /// The contact of a pair up to `theta` of the last step: impulse by Simpson's rule, largest depth and force located. Where a crowd touches
    /// the ends of the step must do.
    pub(super) fn episode(&mut self, model: &Model, k: usize, theta: f64) -> Episode {
        let pair = &self.dynamics.pairs[k];
        let mut episode = pair.memory.episode;
        let h = theta * self.stepper.h;
        if self.dynamics.is_simple[k] {
            return self.brief_episode(k, theta);
        }
        let begin = match self.begin.get(k) {
            Some(begin) => *begin,
            None => return episode,
        };
        let last = if theta == 1.0 { pair.last } else { self.read_at(model, k, theta) };
        if begin.gap > 0.0 && last.gap > 0.0 {
            return episode;
        }
        let normal_force = |r: &Reading| if r.gap <= 0.0 { r.force.total() } else { 0.0 };
        let (start, end) = (normal_force(&begin), normal_force(&last));
        if self.dynamics.general.len() >= CROWD {
            episode.impulse += 0.5 * h * (start + end);
            episode.max_depth = episode.max_depth.max(-last.gap).max(-begin.gap);
            episode.max_force = episode.max_force.max(start).max(end);
            return episode;
        }
        let middle = normal_force(&self.read_at(model, k, 0.5 * theta));
        episode.impulse += h / 6.0 * (start + 4.0 * middle + end);
        episode.max_depth = episode.max_depth.max(-last.gap);
        episode.max_force = episode.max_force.max(end).max(middle);
        if begin.closing_speed > 0.0 && last.closing_speed < 0.0 {
            let (c0, c1) = (begin.closing_speed, last.closing_speed);
            let deepest = locate(0.0, c0, theta, c1, 1e-9, |x| self.read_at(model, k, x).closing_speed);
            episode.max_depth = episode.max_depth.max(-self.read_at(model, k, deepest).gap);
        }
        // the peak of the force lies in the step where it rises first and falls last
        let compressing =
            begin.closing_speed.max(last.closing_speed) > 1e-3 * self.dynamics.pairs[k].laws.normal.rest_speed;
        let mut force_at = |x: f64| normal_force(&self.read_at(model, k, x));
        if compressing && force_at(0.01 * theta) > start && force_at(0.99 * theta) > end {
            let (mut a, mut b) = (0.0, theta);
            for _ in 0..40 {
                let (c, d) = (a + 0.382 * (b - a), a + 0.618 * (b - a));
                if force_at(c) < force_at(d) {
                    a = c;
                } else {
                    b = d;
                }
            }
            let peak = force_at(0.5 * (a + b));
            episode.max_force = episode.max_force.max(peak);
        }
        episode
    }

    /// [`Self::episode`] among many elastic balls: by the trapezoidal rule, from the gaps at both ends of the step.
    fn brief_episode(&self, k: usize, theta: f64) -> Episode {
        let pair = &self.dynamics.pairs[k];
        let mut episode = pair.memory.episode;
        let Some((_, stiffness)) = pair.elastic_balls() else { return episode };
        let depths = [self.begin_gaps.get(k).map_or(0.0, |g| (-g).max(0.0)), (-self.dynamics.gaps[k]).max(0.0)];
        let forces = depths.map(|d| stiffness * d * d.sqrt());
        episode.impulse += 0.5 * theta * self.stepper.h * (forces[0] + forces[1]);
        episode.max_depth = episode.max_depth.max(depths[0]).max(depths[1]);
        episode.max_force = episode.max_force.max(forces[0]).max(forces[1]);
        episode
    }

    /// True at the end of the last step, if that is where the crossing is, while there are still so many regions.
    fn is_still(&self, crossing: &Crossing, regions: u32) -> bool {
        crossing.time >= self.stepper.t0 && self.dynamics.pairs[crossing.pair].last.regions.number == regions
    }

    /// Writes crossings up to time t into the log.
    pub(super) fn log(&mut self, model: &Model, t: f64, outcome: &mut Outcome) {
        for i in 0..self.crossings.len() {
            let crossing = self.crossings[i];
            if crossing.logged || crossing.time > t {
                continue;
            }
            self.keep(model);
            self.crossings[i].logged = true;
            let kind = match crossing.what {
                What::Touch => EventKind::ContactStart,
                What::Leave => EventKind::ContactEnd,
                What::Slip => EventKind::SlipStart,
                What::Stick => EventKind::StickStart,
                What::Roll => EventKind::RollStart,
                What::Rest => EventKind::RollEnd,
                What::Recompress => EventKind::Recompression,
                // the step cut there may end a little before it: then the next one finds it
                What::Merge(from, _) | What::Split(from, _) if self.is_still(&crossing, from) => continue,
                What::Merge(..) => EventKind::RegionsMerge,
                What::Split(..) => EventKind::RegionsSplit,
                What::Watch => {
                    let (kind, source) = self.dynamics.tripping(model, crossing.pair);
                    outcome.events.push(Event { time: crossing.time, kind, source: Some(source), contact: None });
                    continue;
                }
                What::Peak | What::Region | What::Instant => continue,
            };
            let theta = self.theta(crossing.time);
            let reading = self.read_at(model, crossing.pair, theta);
            let so_far = self.episode(model, crossing.pair, theta);
            let pair = &self.dynamics.pairs[crossing.pair];
            let body = |element: u32| model.colliders[element as usize].body as usize;
            let episode =
                (kind == EventKind::ContactEnd).then_some(Episode { duration: crossing.time - so_far.start, ..so_far });
            outcome.events.push(Event {
                time: crossing.time,
                kind,
                source: None,
                contact: Some(EventContact {
                    body1: body(pair.id.0),
                    body2: body(pair.id.1),
                    pair: pair.id,
                    gap: reading.gap,
                    closing_speed: reading.closing_speed,
                    normal: reading.normal,
                    position: reading.point,
                    episode,
                    regions: match crossing.what {
                        What::Merge(from, to) | What::Split(from, to) => Some([from, to]),
                        _ => None,
                    },
                }),
            });
        }
    }
}

/// The running maximum of the closing speed.
pub(super) fn remember(memory: &mut Memory, reading: &Reading) {
    memory.normal.impact_speed = memory.normal.impact_speed.max(reading.closing_speed);
}
