//! Loads that answer to the motion: laws of springs, controllers, motors with a current of their own.
//!
//! An effort e taken at the beginning of a step feeds what swings, and makes what is faster than the step flip to and fro.
//! So it is foreseen in the middle of the step, everything moving on as it does, and once more with the velocities at the
//! end of the step changed a little as the effort itself changes them. With r the rate along which it acts,
//!   e = e_p + s (r+ - r0),   s = de/dr+,   is for s < 0 a row   r+ + eps lambda = b,   eps = -1/(h s),   b = r0 - e_p/s.
//! What answers faster than the step resolves is foreseen at the end of the step, which damps it. States of components go
//! along. An effort that does not oppose the motion (s >= 0) stays the load that it is at the beginning.

use super::Clock;
use super::equations::Room;
use super::kicks::Kicks;
use tippe_geometry::Vec3;
use tippe_mechanics::element::{Action, Answering, InStep, RowEnd, RowLaw, Sight, Wrench};
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

/// Along which direction of its action an element answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The effort along its coordinate.
    Coordinate,
    /// The force along its line, between two frames: positive where it pushes them apart.
    Line,
    /// Of the wrench on its frame, {torque, force} in world axes.
    Axis(usize),
}

impl Direction {
    /// Its row among those of the element.
    pub fn number(self) -> u8 {
        if let Direction::Axis(i) = self { i as u8 } else { 0 }
    }

    /// Its value [N or N m].
    fn of(self, action: &Action) -> f64 {
        match self {
            Direction::Coordinate => action.efforts[0],
            Direction::Line => -action.effect.effort,
            Direction::Axis(i) => action.wrenches.first().map_or(0.0, |wrench| axis(wrench.on, i)),
        }
    }
}

fn axis(on: Six, i: usize) -> f64 {
    if i < 3 { on.angular[i] } else { on.linear[i - 3] }
}

/// An effort that opposes the motion, foreseen.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The element.
    pub element: usize,
    /// Along which it acts.
    pub direction: Direction,
    /// Foreseen with the rate of the beginning: e_p [N or N m].
    pub effort: f64,
    /// s, below zero.
    pub slope: f64,
    /// r0 [m/s or rad/s].
    pub rate: f64,
    /// Ends of its row in [`Foresight::ends`].
    pub ends: std::ops::Range<usize>,
}

impl Answer {
    /// Its row in a step of h [s].
    pub fn law(&self, h: f64) -> RowLaw {
        let Answer { effort, slope, rate, .. } = *self;
        Answering { effort, slope, rate, bounds: [f64::NEG_INFINITY, f64::INFINITY] }.law(h)
    }
}

/// Motion of bodies, and of coordinates {q, u}.
#[derive(Clone, Debug, Default)]
struct Motions {
    bodies: Vec<BodyMotion>,
    coordinates: Vec<[f64; 2]>,
}

/// What loads will be, and room to look ahead.
#[derive(Clone, Debug, Default)]
pub struct Foresight {
    /// Efforts that become rows, by element.
    pub answers: Vec<Answer>,
    /// Ends of their rows.
    pub ends: Vec<RowEnd>,
    now: Motions,
    ahead: Motions,
    states: Vec<f64>,
    asked: Vec<usize>,
    later: Vec<usize>,
    sight: Sight,
    action: Action,
    before: Action,
    kicks: Kicks,
    /// Free bodies that a direction acts on, and the derivatives of its rate by their velocities.
    along: Vec<(usize, Six)>,
}

impl Foresight {
    /// Takes from the action of element `k` what becomes rows, and from its outputs what comes from them.
    pub fn take_rows(&self, k: usize, action: &mut Action, outputs: &mut [f64]) {
        let first = self.answers.partition_point(|answer| answer.element < k);
        for answer in self.answers[first..].iter().take_while(|answer| answer.element == k) {
            match answer.direction {
                Direction::Coordinate => action.efforts[0] = 0.0,
                Direction::Line => action.wrenches.clear(),
                Direction::Axis(i) if i < 3 => action.wrenches[0].on.angular[i] = 0.0,
                Direction::Axis(i) => action.wrenches[0].on.linear[i - 3] = 0.0,
            }
            outputs[0] = action.wrenches.first().map_or(0.0, |wrench| wrench.on.linear.length());
        }
    }
}

impl Clock {
    /// Efforts of the loads that read the motion, and how they answer to it.
    pub(super) fn foresee(&mut self, entry: &[Option<InStep>], sights: &[Sight]) {
        let (model, h) = (self.model.clone(), self.h);
        let mut foresight = std::mem::take(&mut self.foresight);
        foresight.answers.clear();
        foresight.ends.clear();
        foresight.asked.clear();
        for (k, element) in model.elements.iter().enumerate() {
            let attached = element.kind.attached();
            if element.kind.answers()
                && entry[k] == Some(InStep::Load)
                && !attached.coordinates.iter().any(|at| self.is_given(*at))
            {
                foresight.asked.push(k);
            }
        }
        if !foresight.asked.is_empty() {
            self.prepare_answers(&foresight.asked);
            self.leave(&mut foresight.now);
            let mut room = std::mem::take(&mut self.room);
            for ahead in [0.5 * h, h] {
                self.move_on(ahead);
                self.leave(&mut foresight.ahead);
                foresight.later.clear();
                for j in 0..foresight.asked.len() {
                    let k = foresight.asked[j];
                    if !self.ask(k, ahead, &sights[k].frames, &mut foresight, &mut room) {
                        foresight.later.push(k);
                    }
                }
                self.come_back(&foresight.now);
                std::mem::swap(&mut foresight.asked, &mut foresight.later);
            }
            self.room = room;
            foresight.answers.sort_unstable_by_key(|answer| (answer.element, answer.direction.number()));
        }
        self.foresight = foresight;
    }

    /// Mechanisms answer to impulses where they are.
    fn prepare_answers(&mut self, asked: &[usize]) {
        let model = self.model.clone();
        self.machines.iter_mut().for_each(|machine| machine.ready = false);
        for &b in asked.iter().flat_map(|&k| &model.elements[k].bodies) {
            if let Some((m, _)) = model.bodies[b as usize].mechanism
                && !self.machines[m as usize].ready
            {
                let m = m as usize;
                self.machines[m].prepare(&model, m, &self.state.machines[m], self.state.time);
            }
        }
    }

    /// What element `k` does `ahead` [s] from now and how that answers; false if it must be asked at the end of the step.
    fn ask(&mut self, k: usize, ahead: f64, frames: &[Kinematics], fore: &mut Foresight, room: &mut Room) -> bool {
        let first = [fore.answers.len(), fore.ends.len()];
        let mut before = std::mem::take(&mut fore.before);
        self.act_ahead(k, ahead, fore, room, &mut before);
        let is_last = ahead >= self.h;
        let (mut resolved, mut most) = (true, 0.0_f64);
        for direction in directions(&before) {
            let effort = direction.of(&before);
            let from = fore.ends.len();
            ends(direction, effort, &before.wrenches, frames, &mut fore.ends);
            let (yields, rate) = self.find_kicks(k, from, fore);
            if yields <= 0.0 {
                continue;
            }
            let slope = match self.slope_known(k, direction, ahead, &before, fore) {
                Some(per_impulse) => per_impulse / yields,
                None => {
                    let change = (SHARE * rate.abs()).max(LEAST_CHANGE);
                    self.kick(change / yields, ahead, fore);
                    let mut action = std::mem::take(&mut fore.action);
                    self.act_ahead(k, ahead, fore, room, &mut action);
                    let slope = (direction.of(&action) - effort) / change;
                    fore.action = action;
                    self.come_back_from_kick(fore);
                    slope
                }
            };
            let answer = -self.h * slope * yields;
            resolved &= answer.is_nan() || answer <= RESOLVED;
            if answer > NOTHING {
                most = most.max(answer);
                let ends = from..fore.ends.len();
                fore.answers.push(Answer { element: k, direction, effort, slope, rate, ends });
            }
        }
        fore.before = before;
        if !resolved && !is_last {
            fore.answers.truncate(first[0]);
            fore.ends.truncate(first[1]);
        }
        if is_last {
            self.shown.tally.hasty.entry(k).and_modify(|was| *was = was.max(most)).or_insert(most);
        }
        resolved || is_last
    }

    /// What a unit impulse changes along a direction, where the element says how it answers.
    fn slope_known(&self, k: usize, along: Direction, ahead: f64, before: &Action, fore: &Foresight) -> Option<f64> {
        let (Direction::Axis(i), Some(response)) = (along, &before.response) else { return None };
        let body = *self.model.elements[k].bodies.first()? as usize;
        let (_, kick) = fore.kicks.bodies.iter().find(|(b, _)| *b == body)?;
        Some(axis(response.to(*kick * (ahead / self.h), *kick * (0.5 * ahead)), i))
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
    fn leave(&self, place: &mut Motions) {
        place.bodies.clone_from(&self.state.bodies);
        place.coordinates.clear();
        let all = self.state.machines.iter().flat_map(|record| record.q.iter().zip(&record.u));
        place.coordinates.extend(all.map(|(q, u)| [*q, *u]));
    }

    /// Everything is where it was.
    fn come_back(&mut self, place: &Motions) {
        self.state.bodies.clone_from(&place.bodies);
        let all = self.state.machines.iter_mut().flat_map(|record| record.q.iter_mut().zip(&mut record.u));
        for ((q, u), was) in all.zip(&place.coordinates) {
            [*q, *u] = *was;
        }
    }

    /// Actions of element `k` as things stand `ahead` [s] from now, states of components gone along.
    fn act_ahead(&mut self, k: usize, ahead: f64, fore: &mut Foresight, room: &mut Room, action: &mut Action) {
        let (t, model) = (self.state.time, &self.model.clone());
        self.foresee_states(ahead, &mut fore.states, room);
        let element = &model.elements[k];
        self.place_sight(k, true, &fore.states, &mut fore.sight);
        fore.sight.t = t + ahead;
        let look = |source| self.look_ahead(t + ahead, room, &fore.states, source);
        action.clear(fore.sight.coordinates.len(), element.states.len());
        let seen = fore.sight.seen(self.state.actions.of(element), 0.0, &look);
        element.kind.act(&seen, action);
        // rows have bounds of their own
        if let Some(effort) = element.kind.unlimited(&seen) {
            action.efforts[0] = effort;
        }
    }

    /// What an impulse along the ends from `from` on changes; how much their own rate, and that rate now.
    fn find_kicks(&mut self, k: usize, from: usize, fore: &mut Foresight) -> (f64, f64) {
        let Foresight { kicks, along, ends, .. } = fore;
        along.clear();
        let attached = self.model.elements[k].kind.attached();
        let bodies = ends[from..].iter().flat_map(|end| self.ends_of(&attached, end)).flatten();
        along.extend(bodies.filter_map(|(body, J)| body.filter(|&b| self.is_free(b)).map(|b| (b, J))));
        let yields = self.kicks_of(along, kicks);
        (yields, along.iter().map(|(b, J)| J.dot(&self.paths[*b].velocity())).sum())
    }

    /// Velocities and places `ahead` [s] from now, with this impulse given in the course of the step: half way half of it has
    /// been given, and has moved bodies for a quarter of the step.
    fn kick(&mut self, impulse: f64, ahead: f64, fore: &Foresight) {
        let share = ahead / self.h;
        let shifted = 0.5 * impulse * ahead;
        for (b, kick) in &fore.kicks.bodies {
            let body = &mut self.state.bodies[*b];
            (body.w, body.v) = (body.w + kick.angular * (impulse * share), body.v + kick.linear * (impulse * share));
            shift(body, *kick * shifted);
        }
        for &(m, i, rate) in &fore.kicks.coordinates {
            let record = &mut self.state.machines[m];
            record.u[i] += rate * impulse * share;
            record.q[i] += rate * shifted;
        }
    }

    /// Takes it back.
    fn come_back_from_kick(&mut self, fore: &Foresight) {
        for (b, _) in &fore.kicks.bodies {
            self.state.bodies[*b] = fore.ahead.bodies[*b];
        }
        for &(m, i, _) in &fore.kicks.coordinates {
            let before: usize = self.state.machines[..m].iter().map(|record| record.q.len()).sum();
            let record = &mut self.state.machines[m];
            [record.q[i], record.u[i]] = fore.ahead.coordinates[before + i];
        }
    }
}

/// Directions along which an element acts.
fn directions(action: &Action) -> impl Iterator<Item = Direction> + use<> {
    let (coordinates, wrenches) = (!action.efforts.is_empty(), action.wrenches.len());
    let count = if coordinates || wrenches == 2 { 1 } else { 6 * wrenches.min(1) };
    (0..count).map(move |i| match (coordinates, wrenches) {
        (true, _) => Direction::Coordinate,
        (_, 2) => Direction::Line,
        _ => Direction::Axis(i),
    })
}

/// Ends of the row along which a direction acts, with the points where its frames are now.
fn ends(direction: Direction, effort: f64, wrenches: &[Wrench], frames: &[Kinematics], out: &mut Vec<RowEnd>) {
    let end = |frame: usize, axes: Six| RowEnd::Frame { frame, at: frames[frame].p, axes };
    match direction {
        Direction::Coordinate => out.push(RowEnd::Coordinate { coordinate: 0, factor: 1.0 }),
        Direction::Line if effort == 0.0 => {}
        Direction::Line => out.extend(wrenches.iter().map(|wrench| end(wrench.frame, wrench.on * (1.0 / effort)))),
        Direction::Axis(i) => {
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
