//! The search for crossings on the dense output of a step.
//!
//! The end of the step is compared with its start: pairs that came to touch or parted, contacts that stick or slip, memories
//! that change. Each change is located by bracketing; a pair that is apart at both ends is searched by conservative
//! advancement for a dip in between, so that nothing tunnels.

use super::dynamics::Dynamics;
use super::layout::{SPEED_FLOOR, vector};
use super::pair::{Pair, Reading};
use super::system::STEP_SHARE;
use serde::{Deserialize, Serialize};
use tippe_geometry::Vec3;
use tippe_mechanics::contact::friction::Springs;
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::model::Model;
use tippe_numerics::Stepper;
use tippe_numerics::ode::interpolate;
use tippe_numerics::root::locate;

/// A touch stops the step if the step is longer than this share of the contact's duration [-].
const TOUCH_STOP: f64 = 0.3;
/// In islands with so many pairs a kink of one force stops no step: its error is judged with that of all others. What a contact remembers of
/// it, it remembers from the end of the step on, if what that leaves out is small beside the errors a step may make.
pub const CROWD: usize = 64;
/// A contact that leaves is looked at this share of the way before [-].
const JUST_BEFORE: f64 = 1e-9;
/// Crossings closer together than this share of the step are one instant [-].
const SAME_INSTANT: f64 = 1e-9;
/// Places in a step at which regions are counted where their number changed [-].
const REGION_LOOKS: usize = 8;
/// A region with less than this share of the overlap is one that has just come or is about to go [-].
const SIZABLE: f64 = 1e-6;

/// A change found within a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crossing {
    /// When [s].
    pub time: f64,
    /// Which pair (or watch) of the island.
    pub pair: usize,
    /// What changes.
    pub what: What,
    /// Among a crowd: the contact's memory of it may not wait for the end of the step.
    pub urgent: bool,
    /// Already in the log.
    pub logged: bool,
}

impl Crossing {
    /// One that is not in the log yet.
    fn new(time: f64, pair: usize, what: What) -> Self {
        Crossing { time, pair, what, urgent: false, logged: false }
    }
}

/// Kinds of crossings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// The pair comes to touch.
    Touch,
    /// The pair parts.
    Leave,
    /// Stick turns to slip.
    Slip,
    /// Slip turns to stick.
    Stick,
    /// Rest turns to rolling.
    Roll,
    /// Rolling turns to rest.
    Rest,
    /// A contact that was opening compresses again.
    Recompress,
    /// The closing speed has its largest value.
    Peak,
    /// Regions of the overlap merge: so many become so many.
    Merge(u32, u32),
    /// Regions of the overlap split.
    Split(u32, u32),
    /// A region of the overlap comes or goes.
    Region,
    /// A watch rises through zero.
    Watch,
    /// Equations have a kink or a jump.
    Instant,
}

/// The attempted or last step of an island, open to questions.
pub struct Search<'a> {
    /// The model.
    pub model: &'a Model,
    /// The island's equations, as read at the end of the step.
    pub dynamics: &'a Dynamics,
    /// The step with its dense output.
    pub stepper: &'a Stepper,
    /// What the pairs read at its start.
    pub begin: &'a [Reading],
    /// Their gaps there [m].
    pub begin_gaps: &'a [f64],
    /// Values of the watches at its start and end.
    pub watched: &'a [f64],
    /// See `watched`.
    pub watched_end: &'a [f64],
    /// Room for the motion of the bodies within the step.
    pub scratch: &'a mut [Kinematics],
}

impl Search<'_> {
    /// Kinematics of a pair's two bodies at `theta` of the attempted or last step, in the scratch list.
    fn place_at(&mut self, pair: usize, theta: f64) {
        let n = self.stepper.y0.len();
        let at = |i: usize| interpolate(&self.stepper.dense, n, i, theta);
        for side in self.dynamics.pairs[pair].sides {
            self.scratch[side] = self.dynamics.motion_at(self.model, side, theta * self.stepper.h, &at);
        }
    }

    /// Gap of a pair at `theta` of the step [m].
    fn gap_at(&mut self, pair: usize, theta: f64) -> f64 {
        self.place_at(pair, theta);
        self.dynamics.pairs[pair].gap(self.model, self.scratch)
    }

    /// Full reading of a pair at `theta` of the attempted or last step.
    pub fn read_at(&mut self, pair: usize, theta: f64) -> Reading {
        self.place_at(pair, theta);
        let p = &self.dynamics.pairs[pair];
        let springs = match p.springs {
            None => Springs::default(),
            Some(k) => {
                let n = self.stepper.y0.len();
                let at = |j: usize| interpolate(&self.stepper.dense, n, j, theta);
                let three = |i: usize| Vec3::new(at(i), at(i + 1), at(i + 2));
                Springs { f: three(k), spin: at(k + 3), roll: three(k + 4) }
            }
        };
        p.read(self.model, self.scratch, &springs, true)
    }

    /// Finds the crossings of the attempted step of length h; returns where it must be cut, if it must.
    pub fn scan(&mut self, h: f64, fixed: bool, crossings: &mut Vec<Crossing>) -> Option<f64> {
        crossings.clear();
        let t = self.stepper.t0;
        let ways: Vec<f64> = (0..self.dynamics.kinematics.len()).map(|side| self.way(side, h)).collect();
        for k in 0..self.dynamics.pairs.len() {
            let simple = self.dynamics.is_simple[k];
            let (gap0, gap1) = (self.begin_gaps[k], self.dynamics.gaps[k]);
            if simple && gap0 <= 0.0 && gap1 <= 0.0 {
                continue;
            }
            let travel = self.dynamics.ends[k].iter().map(|&side| ways[side as usize]).sum();
            if gap1 > 0.0 && gap0.max(0.0) + gap1 > travel && !self.dynamics.touching[k] {
                continue;
            }
            let pair = &self.dynamics.pairs[k];
            let (begin, last) = if simple {
                (Reading { gap: gap0, ..Reading::default() }, Reading { gap: gap1, ..Reading::default() })
            } else {
                (Reading { gap: gap0, ..self.begin[k] }, Reading { gap: gap1, ..pair.last })
            };
            // a touch found a little early is still on its way
            let comes = begin.gap > 0.0 && last.gap < begin.gap;
            if !pair.memory.touching {
                self.scan_touch(k, [&begin, &last], travel, h, crossings);
            } else if last.gap > pair.hysteresis && !comes {
                self.scan_leave(k, [&begin, &last], h, crossings);
            } else if last.gap <= 0.0 && begin.gap <= 0.0 {
                self.scan_contact(k, [&begin, &last], h, crossings);
            }
        }
        self.scan_watches(h, crossings);
        for crossing in crossings.iter_mut().filter(|c| !matches!(c.what, What::Watch | What::Instant)) {
            let pair = &self.dynamics.pairs[crossing.pair];
            if pair.has_memory() && self.is_in_crowd(pair) {
                crossing.urgent = self.is_urgent(crossing, h);
            }
        }
        let first = crossings.iter().filter(|c| self.is_stop(c, h)).map(|c| c.time).fold(f64::INFINITY, f64::min);
        if first.is_infinite() {
            return None;
        }
        Some(if fixed { 1.0 } else { ((first - t) / h).min(1.0) })
    }

    /// The touch of a pair that is apart, and its end if that comes within the step.
    fn scan_touch(&mut self, k: usize, ends: [&Reading; 2], travel: f64, h: f64, crossings: &mut Vec<Crossing>) {
        let (t, [begin, last]) = (self.stepper.t0, ends);
        let Some(theta) = self.first_touch(k, begin, last, travel) else { return };
        let touch = Crossing::new(t + theta * h, k, What::Touch);
        crossings.push(touch);
        if last.gap > 0.0 && !self.is_stop(&touch, h) {
            let (start, gap) = (theta.max(1e-6), self.gap_at(k, (theta + 1e-3).min(1.0)));
            let left = if gap < 0.0 { locate(start, gap, 1.0, last.gap, 1e-13, |x| self.gap_at(k, x)) } else { start };
            crossings.push(Crossing::new(t + left * h, k, What::Leave));
        }
    }

    /// The end of a contact; springs that are still wound up let go first.
    fn scan_leave(&mut self, k: usize, [begin, last]: [&Reading; 2], h: f64, crossings: &mut Vec<Crossing>) {
        let theta =
            if begin.gap < 0.0 { locate(0.0, begin.gap, 1.0, last.gap, 1e-13, |x| self.gap_at(k, x)) } else { 1.0 };
        let found = crossings.len();
        if begin.gap < 0.0 && self.dynamics.pairs[k].springs.is_some() {
            let inside = theta * (1.0 - JUST_BEFORE);
            let last = self.read_at(k, inside);
            self.scan_modes(k, [begin, &last], inside, h, crossings);
            crossings.extract_if(found.., |c| matches!(c.what, What::Stick | What::Rest)).for_each(drop);
        }
        if crossings.len() == found {
            crossings.push(Crossing::new(self.stepper.t0 + theta * h, k, What::Leave));
        }
    }

    /// What changes in a contact that lasts: modes of its springs, its memory, regions of its overlap.
    fn scan_contact(&mut self, k: usize, ends: [&Reading; 2], h: f64, crossings: &mut Vec<Crossing>) {
        let pair = &self.dynamics.pairs[k];
        if pair.springs.is_some() {
            self.scan_modes(k, ends, 1.0, h, crossings);
        }
        if pair.has_memory() {
            self.scan_memory(k, ends, h, crossings);
        }
        let [fewest, most] = pair.regions_seen;
        if fewest != most || ends[0].regions.number != most {
            self.scan_regions(k, ends, h, crossings);
        }
    }

    /// Watches that rise through zero.
    fn scan_watches(&mut self, h: f64, crossings: &mut Vec<Crossing>) {
        let t = self.stepper.t0;
        for k in 0..self.dynamics.actions.watches.len() {
            let (begin, last) = (self.watched[k], self.watched_end[k]);
            if begin <= 0.0 && last > 0.0 {
                let (d, dense) = (self.dynamics, &self.stepper.dense);
                let start = begin.min(-1e-300);
                let theta = locate(0.0, start, 1.0, last, 1e-13, |x| d.watch_at(self.model, k, t, h, dense, x));
                crossings.push(Crossing::new(t + theta * h, k, What::Watch));
            }
        }
    }

    /// True when stages of the attempted step felt a contact that its path from start to end does not come near: with a loose tolerance a
    /// blow may then pass for a small error.
    pub fn has_unseen_blow(&mut self) -> bool {
        let d = self.dynamics;
        let flies = |k: usize| !d.touching[k] && self.begin_gaps[k] > 0.0 && d.gaps[k] > 0.0;
        let mut felt = d.general.iter().map(|&k| k as usize).filter(|&k| d.pairs[k].dipped && flies(k));
        felt.any(|k| {
            let travel = d.ends[k].iter().map(|&side| self.way(side as usize, self.stepper.h)).sum();
            let [begin, last] = [self.begin_gaps[k], d.gaps[k]].map(|gap| Reading { gap, ..Reading::default() });
            self.first_touch(k, &begin, &last, travel).is_none()
        })
    }

    /// True when a crossing must end the step.
    pub fn is_stop(&self, crossing: &Crossing, h: f64) -> bool {
        if matches!(crossing.what, What::Watch | What::Instant) {
            return true;
        }
        let pair = &self.dynamics.pairs[crossing.pair];
        if self.is_in_crowd(pair) {
            return crossing.urgent;
        }
        match crossing.what {
            What::Touch => pair.stops_at_touch() || h > TOUCH_STOP * pair.contact_time(self.approach_speed(pair)),
            What::Leave => pair.jumps_at_touch(),
            _ => true,
        }
    }

    /// True for a pair among many whose force is continuous.
    fn is_in_crowd(&self, pair: &Pair) -> bool {
        self.dynamics.general.len() >= CROWD && pair.lands_softly()
    }

    /// True for a blow that the step is too long for, and when the force that a contact has at the end of the step for want of what it ought
    /// to remember since the crossing changes a speed by more than a step may: (N' - N) (t + h - time) / m against the share of the tolerance.
    fn is_urgent(&mut self, crossing: &Crossing, h: f64) -> bool {
        let k = crossing.pair;
        let last = self.dynamics.pairs[k].last;
        let late = self.stepper.t0 + h - crossing.time;
        let impact_speed = match crossing.what {
            What::Touch => self.read_at(k, 1.0 - late / h).closing_speed,
            What::Recompress => 0.0,
            _ => return false,
        };
        let pair = &self.dynamics.pairs[k];
        let is_blow = crossing.what == What::Touch && impact_speed > 2.0 * pair.laws.normal.rest_speed;
        if is_blow && (last.gap > 0.0 || h > TOUCH_STOP * pair.contact_time(impact_speed)) {
            return true;
        }
        let missing = (pair.force_remembering(impact_speed) - last.force.total()).abs();
        let d = self.dynamics;
        let sides = d.pairs[k].sides.into_iter().filter(|&side| side < d.bodies.len());
        let mut shares = sides.map(|side| {
            let speed = self.fastest(side).0.max(SPEED_FLOOR);
            missing * late / (self.model.bodies[d.bodies[side] as usize].mass * speed)
        });
        shares.any(|share| share > STEP_SHARE * d.tolerance)
    }

    /// A bound on the speed at which the bodies of a pair approach each other in the attempted step [m/s].
    fn approach_speed(&self, pair: &Pair) -> f64 {
        pair.sides.into_iter().map(|side| self.fastest(side).0).sum()
    }

    /// Largest speed [m/s] and angular speed [rad/s] of a body at the ends of the attempted step.
    fn fastest(&self, side: usize) -> (f64, f64) {
        let d = self.dynamics;
        if side >= d.bodies.len() {
            return (d.kinematics[side].v.length(), d.kinematics[side].w.length());
        }
        let (y0, y1) = (&self.stepper.y0, &self.stepper.y1);
        if d.link_of[side].is_some() {
            let ends =
                [(y0, 0.0), (y1, self.stepper.h)].map(|(y, since)| d.motion_at(self.model, side, since, &|i| y[i]));
            return (ends[0].v.length().max(ends[1].v.length()), ends[0].w.length().max(ends[1].w.length()));
        }
        let largest = |i: usize| vector(y0, i).length().max(vector(y1, i).length());
        (largest(d.offset_of[side] + 6), largest(d.offset_of[side] + 9))
    }

    /// A bound on the way of any point of a body in the attempted step [m].
    fn way(&self, side: usize, h: f64) -> f64 {
        let n = self.dynamics.bodies.len();
        let body = if side < n { self.dynamics.bodies[side] } else { self.dynamics.externals[side - n] };
        let ((v, w), body) = (self.fastest(side), &self.model.bodies[body as usize]);
        let turns = body.oriented && w > 0.0 && body.radius.is_finite();
        1.5 * h * (v + if turns { w * body.radius } else { 0.0 })
    }

    /// Where in the attempted step a pair that is apart comes to touch: by its end, or by a dip in between.
    fn first_touch(&mut self, k: usize, begin: &Reading, last: &Reading, travel: f64) -> Option<f64> {
        if last.gap <= 0.0 {
            if begin.gap <= 0.0 {
                return Some(0.0);
            }
            let start = self.gap_at(k, 0.0);
            if start <= 0.0 {
                return Some(0.0);
            }
            return Some(locate(0.0, start, 1.0, last.gap, 1e-13, |x| self.gap_at(k, x)));
        }
        if begin.gap.max(0.0) + last.gap > travel {
            return None;
        }
        // conservative advancement: the gap cannot close faster than `travel` per step; a pair that has just parted may
        // still be short of zero by rounding
        let mut theta = 0.0;
        let mut gap = self.gap_at(k, 0.0);
        if gap <= 0.0 {
            theta = 1.0 / 512.0;
            gap = self.gap_at(k, theta);
        }
        while theta < 1.0 {
            if gap <= 0.0 {
                return Some(theta);
            }
            let ahead = theta + (gap / travel).max(1.0 / 512.0);
            if ahead >= 1.0 {
                return None;
            }
            let next = self.gap_at(k, ahead);
            if next <= 0.0 {
                return Some(locate(theta, gap, ahead, next, 1e-13, |x| self.gap_at(k, x)));
            }
            theta = ahead;
            gap = next;
        }
        None
    }

    /// Stick to slip and back, rest to roll and back, until the share `end` of the step.
    fn scan_modes(&mut self, k: usize, [begin, last]: [&Reading; 2], end: f64, h: f64, crossings: &mut Vec<Crossing>) {
        let modes = self.dynamics.pairs[k].memory.modes;
        let cases = [(modes.slipping, What::Slip, What::Stick), (modes.rolling, What::Roll, What::Rest)];
        for (kind, (moving, loosen, fasten)) in cases.into_iter().enumerate() {
            let margin = |r: &Reading| [r.friction.slip_margin, r.friction.roll_margin][kind];
            let (m0, m1) = (margin(begin), margin(last));
            let what = if moving { fasten } else { loosen };
            let theta = if m1 <= 0.0 {
                continue;
            } else if m0 <= 1e-9 {
                locate(0.0, m0.min(-1e-12), end, m1, 1e-12, |x| margin(&self.read_at(k, x)))
            } else if !moving || (m1 > 0.9 && m1 > m0) {
                // it never held, or never got away and is slowing down
                end
            } else {
                continue;
            };
            crossings.push(Crossing::new(self.stepper.t0 + theta * h, k, what));
        }
    }

    /// Largest closing speed, and the start of a new compression.
    fn scan_memory(&mut self, k: usize, [begin, last]: [&Reading; 2], h: f64, crossings: &mut Vec<Crossing>) {
        let pair = &self.dynamics.pairs[k];
        let memory = pair.memory.normal.impact_speed;
        let rest = pair.laws.normal.rest_speed;
        let (c0, c1) = (begin.closing_speed, last.closing_speed);
        let mut found = None;
        if c0 < 0.0 && c1 > 0.0 && memory > 1.5 * rest {
            let theta = locate(0.0, c0, 1.0, c1, 1e-10, |x| self.read_at(k, x).closing_speed);
            found = Some((theta, What::Recompress));
        } else if !self.is_in_crowd(pair) && c0.max(c1) > rest && (c0 >= memory * (1.0 - 1e-9) || c1 > memory) {
            let mut best = (0.0, c0.max(c1) * (1.0 + 1e-9));
            for i in 1..8 {
                let theta = i as f64 / 8.0;
                let c = self.read_at(k, theta).closing_speed;
                if c > best.1 {
                    best = (theta, c);
                }
            }
            if best.0 > 0.0 && best.1 > memory {
                let side = |search: &mut Self, theta: f64| search.read_at(k, theta).closing_speed;
                let (left, right) = (side(self, best.0 - 0.125), side(self, best.0 + 0.125));
                let bend = left - 2.0 * best.1 + right;
                let shift = if bend < 0.0 { 0.5 * (left - right) / bend } else { 0.0 };
                found = Some(((best.0 + 0.125 * shift.clamp(-1.0, 1.0)).clamp(0.01, 1.0), What::Peak));
            }
        }
        if let Some((theta, what)) = found {
            crossings.push(Crossing::new(self.stepper.t0 + theta * h, k, what));
        }
    }

    /// Where the number of regions first changes, by halving: it has no slope to go by.
    fn scan_regions(&mut self, k: usize, [begin, last]: [&Reading; 2], h: f64, crossings: &mut Vec<Crossing>) {
        let (mut low, mut high) = (0.0, 0.0);
        let (mut before, mut after) = (begin.regions, begin.regions);
        for i in 1..=REGION_LOOKS {
            high = i as f64 / REGION_LOOKS as f64;
            after = if i == REGION_LOOKS { last.regions } else { self.read_at(k, high).regions };
            // the first region comes with the touch
            if before.number > 0 && after.number != before.number {
                break;
            }
            (low, before) = (high, after);
        }
        if after.number == before.number || after.number == 0 {
            return;
        }
        while high - low > 1e-13 {
            let middle = 0.5 * (low + high);
            let here = self.read_at(k, middle).regions;
            if here.number == before.number {
                (low, before) = (middle, here);
            } else {
                (high, after) = (middle, here);
            }
        }
        let what = if after.number < before.number && before.least > SIZABLE {
            What::Merge(before.number, after.number)
        } else if after.number > before.number && after.least > SIZABLE {
            What::Split(before.number, after.number)
        } else {
            What::Region
        };
        crossings.push(Crossing::new(self.stepper.t0 + high * h, k, what));
    }

    /// What is left of the crossings of a step of length h when it is cut after `cut`: those it passed, and at its end those
    /// that cut it.
    pub fn cut(&self, crossings: &[Crossing], h: f64, cut: f64) -> Vec<Crossing> {
        let end = self.stepper.t0 + cut;
        let passed = crossings.iter().filter(|c| !self.is_stop(c, h) && c.time < end).copied();
        let stops = crossings.iter().filter(|c| self.is_stop(c, h) && c.time <= end + SAME_INSTANT * h);
        passed.chain(stops.map(|c| Crossing { time: end, logged: false, ..*c })).collect()
    }
}
