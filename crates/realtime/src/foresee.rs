//! Loads that answer to the motion: laws of springs, controllers, motors with a current of their own.
//!
//! An effort e taken at the beginning of a step feeds what swings, and makes what is faster than the step flip to and fro.
//! So it is foreseen in the middle of the step, everything moving on as it does, and once more with the velocities at the
//! end of the step changed a little as the effort itself changes them. With r the rate along which it acts,
//!   e = e_p + s (r+ - r0),   s = de/dr+,   is for s < 0 a row   r+ + eps lambda = b,   eps = -1/(h s),   b = r0 - e_p/s.
//! What answers faster than the step resolves is foreseen at the end of the step, which damps it. States of components go
//! along. An effort that does not oppose the motion (s >= 0) stays a load, and has the value that was foreseen.

use super::Clock;
use super::equations::Room;
use tippe_geometry::Vec3;
use tippe_mechanics::element::{Action, InStep, RowEnd, Sight, Wrench};
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::{BodyMotion, Kinematics, rotated};

/// -h s W up to which an answer is foreseen in the middle of the step, W the rate the effort gives per impulse [-]: a
/// decay of h/tau = 1, and a spring of h omega = 1.4.
const RESOLVED: f64 = 0.5;
/// Change of the rate by which slopes are measured, as a share of the rate ...
const SHARE: f64 = 1e-6;
/// ... and at least [m/s or rad/s].
const LEAST_CHANGE: f64 = 1e-6;
/// Answers that change the rate by less than this share of it in a step are rounding [-].
const NOTHING: f64 = 1e-9;

/// Which number of an element's action answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The effort along its coordinate.
    Coordinate,
    /// The force along its line, between two frames: positive where it pushes them apart.
    Line,
    /// Of the wrench on its frame, {torque, force} in world axes.
    Axis(usize),
}

impl Part {
    /// Its row among those of the element.
    pub fn number(self) -> u8 {
        if let Part::Axis(i) = self { i as u8 } else { 0 }
    }

    /// Its value [N or N m].
    fn of(self, action: &Action) -> f64 {
        match self {
            Part::Coordinate => action.efforts[0],
            Part::Line => -action.effect.effort(),
            Part::Axis(i) => action.wrenches.first().map_or(0.0, |wrench| axis(wrench.on, i)),
        }
    }
}

fn axis(on: Six, i: usize) -> f64 {
    if i < 3 { on.angular[i] } else { on.linear[i - 3] }
}

fn set_axis(on: &mut Six, i: usize, value: f64) {
    if i < 3 { on.angular[i] = value } else { on.linear[i - 3] = value }
}

/// A part of an element's action, foreseen.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The element.
    pub element: usize,
    /// Which number of its action.
    pub part: Part,
    /// Foreseen with the rate of the beginning: e_p [N or N m].
    pub effort: f64,
    /// s, zero where it does not oppose the motion.
    pub slope: f64,
    /// r0 [m/s or rad/s].
    pub rate: f64,
    /// Ends of its row in [`Foresight::ends`].
    pub ends: std::ops::Range<usize>,
}

impl Answer {
    /// b and eps of its row in a step of h [s].
    pub fn row(&self, h: f64) -> [f64; 2] {
        [self.rate - self.effort / self.slope, -1.0 / (h * self.slope)]
    }
}

/// Where bodies and coordinates are.
#[derive(Clone, Debug, Default)]
struct Place {
    bodies: Vec<BodyMotion>,
    coordinates: Vec<[f64; 2]>,
}

/// What loads will be, and room to look ahead.
#[derive(Clone, Debug, Default)]
pub struct Foresight {
    /// Parts of actions that were foreseen, by element.
    pub answers: Vec<Answer>,
    /// Ends of their rows.
    pub ends: Vec<RowEnd>,
    now: Place,
    ahead: Place,
    states: Vec<f64>,
    asked: Vec<usize>,
    later: Vec<usize>,
    sight: Sight,
    action: Action,
    before: Action,
    /// What an impulse of one part changes: velocities of bodies, rates of coordinates of mechanisms.
    kicks: Vec<(usize, Six)>,
    rates: Vec<(usize, usize, f64)>,
    /// Bodies that the part acts on, and the derivatives of its rate by their velocities.
    along: Vec<(usize, Six)>,
}

impl Foresight {
    /// What element `k` does as a load of at most so much, where it was foreseen: nothing of what becomes rows, whose outputs
    /// come from the rows.
    pub fn replace(&self, k: usize, most: f64, action: &mut Action, outputs: &mut [f64]) {
        for answer in self.answers.iter().filter(|answer| answer.element == k) {
            let value = if answer.slope < 0.0 { 0.0 } else { answer.effort.clamp(-most, most) };
            match answer.part {
                Part::Coordinate => action.efforts[0] = value,
                Part::Line if value == 0.0 => action.wrenches.clear(),
                Part::Line => {}
                Part::Axis(i) => set_axis(&mut action.wrenches[0].on, i, value),
            }
            outputs[0] = match answer.part {
                Part::Axis(_) => action.wrenches[0].on.linear.length(),
                _ => value,
            };
        }
    }
}

impl Clock {
    /// Efforts of the loads that read the motion, and how they answer to it.
    pub(super) fn foresee(&mut self, entry: &[Option<InStep>], sights: &[Sight]) {
        let (model, h) = (self.model.clone(), self.h);
        let mut sight = std::mem::take(&mut self.foresight);
        sight.answers.clear();
        sight.ends.clear();
        sight.asked.clear();
        for (k, element) in model.elements.iter().enumerate() {
            let attached = element.kind.attached();
            let reads = attached.formula.is_some_and(|formula| !formula.is_of_time());
            if reads && entry[k] == Some(InStep::Load) && !attached.coordinates.iter().any(|at| self.is_given(*at)) {
                sight.asked.push(k);
            }
        }
        if !sight.asked.is_empty() {
            self.prepare_answers(&sight.asked);
            self.leave(&mut sight.now);
            let mut room = std::mem::take(&mut self.room);
            for ahead in [0.5 * h, h] {
                self.move_on(ahead);
                self.leave(&mut sight.ahead);
                for k in std::mem::take(&mut sight.asked) {
                    if !self.ask(k, ahead, &sights[k].frames, &mut sight, &mut room) {
                        sight.later.push(k);
                    }
                }
                self.come_back(&sight.now);
                std::mem::swap(&mut sight.asked, &mut sight.later);
            }
            self.room = room;
        }
        self.foresight = sight;
    }

    /// Mechanisms answer to impulses where they are.
    fn prepare_answers(&mut self, asked: &[usize]) {
        let model = self.model.clone();
        for (k, mechanism) in model.mechanisms.iter().enumerate() {
            let on = |b: u32| mechanism.links.iter().any(|link| link.body == b);
            let acts = |e: &usize| model.elements[*e].bodies.iter().any(|&b| on(b));
            if asked.iter().any(acts) {
                self.machines[k].prepare(&model, k, &self.state.machines[k], self.state.time);
            }
        }
    }

    /// What element `k` does `ahead` [s] from now and how that answers; false if it must be asked at the end of the step.
    fn ask(&mut self, k: usize, ahead: f64, frames: &[Kinematics], sight: &mut Foresight, room: &mut Room) -> bool {
        let first = [sight.answers.len(), sight.ends.len()];
        let mut before = std::mem::take(&mut sight.before);
        self.act_ahead(k, ahead, sight, room, &mut before);
        let coordinates = !before.efforts.is_empty();
        let count = if coordinates || before.wrenches.len() == 2 { 1 } else { 6 * before.wrenches.len().min(1) };
        let mut resolved = true;
        for i in 0..count {
            let part = match (coordinates, before.wrenches.len()) {
                (true, _) => Part::Coordinate,
                (_, 2) => Part::Line,
                _ => Part::Axis(i),
            };
            let effort = part.of(&before);
            let from = sight.ends.len();
            ends(part, effort, &before.wrenches, frames, &mut sight.ends);
            let (yields, rate) = self.find_kicks(k, from, sight);
            let change = (SHARE * rate.abs()).max(LEAST_CHANGE);
            let mut slope = 0.0;
            if yields > 0.0 {
                self.kick(change / yields, ahead, sight);
                let mut action = std::mem::take(&mut sight.action);
                self.act_ahead(k, ahead, sight, room, &mut action);
                slope = (part.of(&action) - effort) / change;
                sight.action = action;
                self.come_back_from_kick(sight);
            }
            let answer = -self.h * slope * yields;
            resolved &= answer.is_nan() || answer <= RESOLVED;
            let slope = if answer > NOTHING { slope } else { 0.0 };
            let ends = from..sight.ends.len();
            sight.answers.push(Answer { element: k, part, effort, slope, rate, ends });
        }
        sight.before = before;
        let answers = sight.answers[first[0]..].iter().any(|answer| answer.slope != 0.0);
        if !answers || !resolved && ahead < self.h {
            sight.answers.truncate(first[0]);
            sight.ends.truncate(first[1]);
        }
        resolved || ahead >= self.h
    }

    /// Everything moves on as it does.
    fn move_on(&mut self, ahead: f64) {
        for (b, body) in self.state.bodies.iter_mut().enumerate() {
            let is_free = self.model.bodies[b].drive == tippe_mechanics::model::Drive::Free;
            if is_free && !self.state.structure.gone[b] {
                shift(body, Six::new(body.w, body.v) * ahead);
            }
        }
        for (mechanism, record) in self.model.mechanisms.iter().zip(&mut self.state.machines) {
            for link in &mechanism.links {
                for i in link.first + if link.joint.has_base() { 3 } else { 0 }..link.first + link.count {
                    record.q[i] += record.u[i] * ahead;
                }
            }
        }
    }

    /// Notes where everything is.
    fn leave(&self, place: &mut Place) {
        place.bodies.clone_from(&self.state.bodies);
        place.coordinates.clear();
        let all = self.state.machines.iter().flat_map(|record| record.q.iter().zip(&record.u));
        place.coordinates.extend(all.map(|(q, u)| [*q, *u]));
    }

    /// Everything is where it was.
    fn come_back(&mut self, place: &Place) {
        self.state.bodies.clone_from(&place.bodies);
        let all = self.state.machines.iter_mut().flat_map(|record| record.q.iter_mut().zip(&mut record.u));
        for ((q, u), was) in all.zip(&place.coordinates) {
            [*q, *u] = *was;
        }
    }

    /// Actions of element `k` as things stand `ahead` [s] from now, states of components gone along.
    fn act_ahead(&mut self, k: usize, ahead: f64, sight: &mut Foresight, room: &mut Room, action: &mut Action) {
        let (t, model) = (self.state.time, &self.model.clone());
        self.foresee_states(ahead, &mut sight.states, room);
        let element = &model.elements[k];
        self.place_sight(k, true, &sight.states, &mut sight.sight);
        sight.sight.t = t + ahead;
        let look = |source| self.look_ahead(t + ahead, room, &sight.states, source);
        action.clear(sight.sight.coordinates.len(), element.states.len());
        let seen = sight.sight.seen(self.state.actions.modes[k], 0.0, &look);
        element.kind.act(&seen, action);
        // rows have bounds of their own
        if let Some(effort) = element.kind.unlimited(&seen) {
            action.efforts[0] = effort;
        }
    }

    /// What an impulse of the part with the ends from `from` on changes; how much its own rate, and that rate now.
    fn find_kicks(&mut self, k: usize, from: usize, sight: &mut Foresight) -> (f64, f64) {
        let model = self.model.clone();
        let Foresight { kicks, rates, along, .. } = sight;
        kicks.clear();
        rates.clear();
        along.clear();
        let ends = sight.ends[from..].iter().flat_map(|end| self.ends_of(k, end)).flatten();
        along.extend(ends.filter_map(|(body, J)| body.filter(|&b| self.is_free(b)).map(|b| (b, J))));
        for (m, mechanism) in model.mechanisms.iter().enumerate() {
            let link = |b: usize| mechanism.links.iter().position(|link| link.body as usize == b);
            let ends = along.iter().filter_map(|(b, J)| link(*b).map(|l| (l, *J)));
            if ends.clone().next().is_some() {
                let machine = &mut self.machines[m];
                machine.answer_to(mechanism, ends);
                kicks
                    .extend(mechanism.links.iter().map(|link| link.body as usize).zip(machine.motions.iter().copied()));
                rates.extend(machine.stage_u.iter().enumerate().map(|(i, rate)| (m, i, *rate)));
            }
        }
        for (b, J) in along.iter().filter(|(b, _)| model.bodies[*b].mechanism.is_none()) {
            let (body, R) = (&model.bodies[*b], self.paths[*b].kin.R);
            let spin = R * (body.I_c_inverse * (R.transpose() * J.angular));
            kicks.push((*b, Six::new(spin, J.linear / body.mass)));
        }
        let (mut yields, mut rate) = (0.0, 0.0);
        for (b, J) in along.iter() {
            yields += kicks.iter().filter(|(other, _)| other == b).map(|(_, kick)| J.dot(kick)).sum::<f64>();
            rate += J.dot(&self.paths[*b].velocity());
        }
        (yields, rate)
    }

    /// Velocities and places `ahead` [s] from now, where the part has given this impulse in the course of the step: those
    /// of its middle see half of it, and move by a quarter of a step at it.
    fn kick(&mut self, impulse: f64, ahead: f64, sight: &Foresight) {
        let share = ahead / self.h;
        let shifted = 0.5 * impulse * ahead;
        for (b, kick) in &sight.kicks {
            let body = &mut self.state.bodies[*b];
            (body.w, body.v) = (body.w + kick.angular * (impulse * share), body.v + kick.linear * (impulse * share));
            shift(body, *kick * shifted);
        }
        for &(m, i, rate) in &sight.rates {
            let record = &mut self.state.machines[m];
            record.u[i] += rate * impulse * share;
            record.q[i] += rate * shifted;
        }
    }

    /// Takes it back.
    fn come_back_from_kick(&mut self, sight: &Foresight) {
        for (b, _) in &sight.kicks {
            self.state.bodies[*b] = sight.ahead.bodies[*b];
        }
        for &(m, i, _) in &sight.rates {
            let before: usize = self.state.machines[..m].iter().map(|record| record.q.len()).sum();
            let record = &mut self.state.machines[m];
            [record.q[i], record.u[i]] = sight.ahead.coordinates[before + i];
        }
    }
}

/// Ends of the row along which a part acts, with the points where its frames are now.
fn ends(part: Part, effort: f64, wrenches: &[Wrench], frames: &[Kinematics], out: &mut Vec<RowEnd>) {
    let end = |frame: usize, axes: Six| RowEnd::Frame { frame, at: frames[frame].p, axes };
    match part {
        Part::Coordinate => out.push(RowEnd::Coordinate { coordinate: 0, factor: 1.0 }),
        Part::Line if effort == 0.0 => {}
        Part::Line => out.extend(wrenches.iter().map(|wrench| end(wrench.frame, wrench.on * (1.0 / effort)))),
        Part::Axis(i) => {
            let mut unit = [Vec3::ZERO; 2];
            unit[i / 3][i % 3] = 1.0;
            let [about, along] = unit;
            out.extend(wrenches.first().map(|wrench| end(wrench.frame, Six::new(about, along))));
        }
    }
}

/// Moves a body by {turn, shift} [rad, m].
fn shift(body: &mut BodyMotion, by: Six) {
    body.p += by.linear;
    body.q = rotated(body.q, by.angular);
}
