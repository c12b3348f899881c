//! Force elements in a step: loads at its beginning, rows that hold at its end, their modes, events and books. No kind is known by name.

use super::Clock;
use super::foresee::Direction;
use super::joints::{coordinate_row, flat};
use super::rates::dot;
use super::rows::{Owner, Place, Rows};
use serde::{Deserialize, Serialize};
use tippe_geometry::Vec3;
use tippe_mechanics::cause::Cause;
use tippe_mechanics::element::{
    Action, Anchor, At, Attached, CoordinateAhead, CoordinateMotion, Effect, ElementMode, ElementRow, Finish, InStep,
    Instant, MOST_ACCOUNTS, RowEnd, RowLaw, RowList, Seen, Sight, Solved, StepAhead, Wrench,
};
use tippe_mechanics::event::Event;
use tippe_mechanics::joint::Six;
use tippe_mechanics::ledger::Ledger;
use tippe_mechanics::mechanism::Mode;
use tippe_mechanics::model::Model;
use tippe_mechanics::network::Source;
use tippe_numerics::kkt::{Follow, Row, Tie};

/// Impulses this near to a bound are at it, as a share of it [-]: the solver's own tolerance.
const AT_BOUND: f64 = 1e-7;

/// What elements carry from step to step beside [`tippe_mechanics::state::ActionRecord`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ElementRecord {
    /// Impulse of the last step of elements with one row [N s or N m s].
    pub impulses: Vec<Option<f64>>,
    /// Expressions that are watched for a rise through zero, at the end of the last step.
    pub watched: Vec<f64>,
    /// Changes whose condition has come true.
    pub due: Vec<bool>,
}

impl ElementRecord {
    /// That of a model at its start.
    pub fn start(model: &Model) -> ElementRecord {
        ElementRecord {
            impulses: vec![None; model.elements.len()],
            watched: Vec::new(),
            due: vec![false; model.changes.len()],
        }
    }
}

/// A row of an element in a step.
#[derive(Clone, Copy, Debug)]
pub struct RowOfElement {
    /// The element.
    pub element: u32,
    /// Which of its rows.
    pub part: u8,
    /// What it holds.
    pub law: RowLaw,
    /// Of which instant of the step the rate of its damper is.
    pub damper: Instant,
    /// See [`ElementRow::bound`].
    pub bound: f64,
    /// See [`ElementRow::step_damping`].
    pub step_damping: f64,
    /// Where it is among the rows of the step.
    pub place: Place,
}

/// A coordinate that a row of an element acts on.
#[derive(Clone, Copy, Debug)]
pub struct RowAlong {
    /// Where.
    pub at: At,
    /// Factor of its rate in the row [-].
    pub factor: f64,
    /// The row.
    pub place: Place,
}

/// A load of an element on a body.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// The element.
    pub element: u32,
    /// The body.
    pub body: u32,
    /// {torque, force} on its centre of mass, resolved in world [N m, N].
    pub on: Six,
}

/// An effort of an element along a coordinate.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The element.
    pub element: u32,
    /// Where.
    pub at: At,
    /// Force or torque [N or N m].
    pub effort: f64,
}

/// Elements at work in one step.
#[derive(Clone, Debug, Default)]
pub struct Elements {
    /// How each element enters the step; written by `load`.
    pub entry: Vec<Option<InStep>>,
    /// What each element saw at the beginning; written by `load`.
    pub sights: Vec<Sight>,
    /// What each element did there that is a load; written by `load`.
    pub effects: Vec<Effect>,
    /// Energy each element stored at the beginning [J]; written by `load`.
    pub stored: Vec<f64>,
    /// What loads and efforts of each element did to the bodies in the step [J]; written by `book_loads`.
    work: Vec<f64>,
    /// Loads on bodies; written by `load`.
    pub loads: Vec<Load>,
    /// Efforts along coordinates; written by `load`.
    pub efforts: Vec<Effort>,
    /// Coordinates whose rate an element gives, with the effort of the free motion; written by `load` and `element_rows`.
    pub held: Vec<Effort>,
    /// Rows, in order; written by `element_rows`.
    pub rows: Vec<RowOfElement>,
    /// Coordinates that they act on; written by `element_rows`.
    pub along: Vec<RowAlong>,
    /// Outputs of each element; written by `load` and `settle_elements`.
    pub outputs: Vec<Vec<f64>>,
    action: Action,
    list: RowList,
    ends: Vec<(Option<usize>, Six)>,
    pushes: Vec<(Option<usize>, Six)>,
    /// What accounts of each element but the first lost in the step [J]; written by `settle_elements`.
    lost: Vec<[f64; MOST_ACCOUNTS]>,
    impulses: Vec<(u8, f64)>,
    happened: Vec<(usize, ElementMode)>,
    ahead_frames: Vec<Six>,
    ahead_coordinates: Vec<CoordinateAhead>,
    now: Sight,
}

impl Elements {
    /// Room for a model's elements.
    pub fn new(model: &Model) -> Elements {
        let n = model.elements.len();
        Elements {
            entry: vec![None; n],
            sights: vec![Sight::default(); n],
            effects: vec![Effect::default(); n],
            stored: vec![0.0; n],
            work: vec![0.0; n],
            lost: vec![[0.0; MOST_ACCOUNTS]; n],
            outputs: model.elements.iter().map(|e| vec![0.0; e.kind.outputs().len()]).collect(),
            ..Elements::default()
        }
    }
}

impl Clock {
    /// Motion that element `k` sees at the beginning of the step, or now.
    pub(super) fn place_sight(&self, k: usize, now: bool, states: &[f64], sight: &mut Sight) {
        let element = &self.model.elements[k];
        let attached = element.kind.attached();
        sight.t = self.state.time;
        sight.frames.clear();
        sight.frames.extend(attached.frames.iter().map(|anchor| self.anchored(anchor, now)));
        sight.coordinates.clear();
        sight.coordinates.extend(attached.coordinates.iter().map(|at| {
            let record = &self.state.machines[at.mechanism as usize];
            let i = at.coordinate as usize;
            CoordinateMotion { q: record.q[i], u: record.u[i] }
        }));
        sight.states.clear();
        sight.states.extend_from_slice(&states[element.states.clone()]);
    }

    /// What is seen with the element's mode; equations read values at the beginning of the step.
    fn seen<'a>(&'a self, k: usize, sight: &'a Sight, look: &'a dyn Fn(Source) -> f64) -> Seen<'a> {
        sight.seen(self.state.actions.of(&self.model.elements[k]), 0.0, look)
    }

    /// What element `k` does as things are now.
    pub(super) fn effect_now(&self, k: usize, sight: &mut Sight, action: &mut Action) -> Effect {
        self.place_sight(k, true, &self.state.actions.states, sight);
        let look = |source| self.look_up(source);
        let element = &self.model.elements[k];
        action.clear(sight.coordinates.len(), element.states.len());
        element.kind.act(&self.seen(k, sight, &look), action);
        action.effect
    }

    /// Energy that element `k` stores as things are [J].
    fn stored_now(&self, k: usize, sight: &mut Sight) -> f64 {
        self.place_sight(k, true, &self.state.actions.states, sight);
        let look = |source| self.look_up(source);
        self.model.elements[k].kind.stored(&self.seen(k, sight, &look))
    }

    /// Energy stored in force elements [J].
    pub(super) fn stored(&self) -> f64 {
        let mut sight = Sight::default();
        let on = (0..self.model.elements.len()).filter(|&k| self.state.actions.on[k]);
        on.map(|k| self.stored_now(k, &mut sight)).sum()
    }

    /// Loads on bodies, forces on coordinates and given rates, as elements are at the beginning of the step.
    pub(super) fn load(&mut self) {
        self.loads.fill(Six::ZERO);
        self.evaluate(false);
        let mut elements = std::mem::take(&mut self.elements);
        self.enter_step(&mut elements);
        self.foresee(&elements.entry, &elements.sights);
        for k in 0..self.model.elements.len() {
            if elements.entry[k] == Some(InStep::Load) {
                self.load_element(k, &mut elements);
            }
        }
        for load in &elements.loads {
            self.loads[load.body as usize] = self.loads[load.body as usize] + load.on;
        }
        for Effort { at, effort, .. } in &elements.efforts {
            self.machines[at.mechanism as usize].tau[at.coordinate as usize] += effort;
        }
        self.load_subsystem();
        self.elements = elements;
    }

    /// What elements see at the beginning of the step, how they enter it, and the rates they give.
    fn enter_step(&mut self, elements: &mut Elements) {
        let (model, h) = (&self.model.clone(), self.h);
        elements.loads.clear();
        elements.efforts.clear();
        elements.held.clear();
        for (k, element) in model.elements.iter().enumerate() {
            elements.outputs[k].fill(0.0);
            elements.entry[k] = None;
            if !self.state.actions.on[k] {
                continue;
            }
            let sight = &mut elements.sights[k];
            self.place_sight(k, false, &self.state.actions.states, sight);
            let look = |source| self.look_up(source);
            let seen = self.seen(k, sight, &look);
            let entry = element.kind.in_step(&seen, h);
            elements.entry[k] = Some(entry);
            elements.stored[k] = element.kind.stored(&seen);
            if let InStep::Rate(rate) = entry {
                for &at in element.kind.attached().coordinates {
                    self.machines[at.mechanism as usize].given[at.coordinate as usize] = Some(rate);
                    elements.held.push(Effort { element: k as u32, at, effort: 0.0 });
                }
            }
        }
    }

    /// Loads of element `k`, but for what becomes rows.
    fn load_element(&self, k: usize, elements: &mut Elements) {
        let element = &self.model.elements[k];
        let attached = element.kind.attached();
        let Elements { action, loads, efforts, effects, outputs, sights, .. } = elements;
        let look = |source| self.look_up(source);
        action.clear(attached.coordinates.len(), element.states.len());
        element.kind.act(&self.seen(k, &sights[k], &look), action);
        effects[k] = action.effect;
        action.outputs_into(&mut outputs[k]);
        self.foresight.take_rows(k, action, &mut outputs[k]);
        for &Wrench { frame, at, on } in &action.wrenches {
            if let Some(b) = attached.frames[frame].body.filter(|&b| self.is_free(b as usize)) {
                let arm = at - self.paths[b as usize].kin.p;
                let on = Six::new(on.angular + arm.cross(on.linear), on.linear);
                loads.push(Load { element: k as u32, body: b, on });
            }
        }
        let own = attached.coordinates.iter().zip(&action.efforts);
        efforts.extend(own.map(|(&at, &effort)| Effort { element: k as u32, at, effort }));
    }

    /// Rows of force elements.
    pub(super) fn element_rows(&mut self, rows: &mut Rows) {
        let (model, h) = (&self.model.clone(), self.h);
        let mut elements = std::mem::take(&mut self.elements);
        elements.rows.clear();
        elements.along.clear();
        for (k, element) in model.elements.iter().enumerate() {
            let attached = element.kind.attached();
            let given = attached.coordinates.iter().any(|at| self.is_given(*at));
            if elements.entry[k] != Some(InStep::Rows) || given && !element.kind.acts_on_given() || self.is_welded(k) {
                continue;
            }
            elements.ahead_frames.clear();
            elements.ahead_frames.extend(attached.frames.iter().map(|anchor| self.frame_ahead(anchor)));
            elements.ahead_coordinates.clear();
            elements.ahead_coordinates.extend(attached.coordinates.iter().map(|at| self.coordinate_ahead(*at)));
            let step = StepAhead { h, frames: &elements.ahead_frames, coordinates: &elements.ahead_coordinates };
            let list = &mut elements.list;
            list.clear();
            let look = |source| self.look_up(source);
            element.kind.rows(&self.seen(k, &elements.sights[k], &look), &step, list);
            for own in &list.rows {
                let (ends, pushes) = (&mut elements.ends, &mut elements.pushes);
                self.list_ends(&attached, &list.ends[own.ends.clone()], ends);
                self.list_ends(&attached, &list.ends[own.pushes.clone()], pushes);
                let lambda = if own.warm { self.impulse(k) } else { f64::NAN };
                let place = self.push_element_row((k, own, lambda), ends, pushes, rows);
                elements.along.extend(list.ends[own.ends.clone()].iter().filter_map(|end| match *end {
                    RowEnd::Coordinate { coordinate, factor } => {
                        Some(RowAlong { at: attached.coordinates[coordinate], factor, place })
                    }
                    RowEnd::Frame { .. } => None,
                }));
                let (element, damper) = (k as u32, Instant::End);
                let ElementRow { part, law, bound, step_damping, .. } = *own;
                elements.rows.push(RowOfElement { element, part, law, damper, bound, step_damping, place });
            }
        }
        self.answer_rows(&mut elements, rows);
        self.time_struts(&mut elements, rows);
        self.elements = elements;
        self.hold();
    }

    /// Rows of loads that answer to the motion.
    fn answer_rows(&mut self, elements: &mut Elements, rows: &mut Rows) {
        let (model, h) = (&self.model.clone(), self.h);
        for answer in &self.foresight.answers {
            let (k, ends) = (answer.element, &mut elements.ends);
            self.list_ends(&model.elements[k].kind.attached(), &self.foresight.ends[answer.ends.clone()], ends);
            let most = model.elements[k].kind.most() * h;
            let (law, bounds) = (answer.law(h), [-most, most]);
            let part = answer.direction.number();
            let step_damping = 0.0;
            let row =
                ElementRow { part, ends: 0..0, pushes: 0..0, law, bounds, warm: false, bound: most, step_damping };
            let place = self.push_element_row((k, &row, f64::NAN), ends, &[], rows);
            if answer.direction == Direction::Coordinate {
                elements.along.push(RowAlong {
                    at: model.elements[k].kind.attached().coordinates[0],
                    factor: 1.0,
                    place,
                });
            }
            let (element, damper) = (k as u32, Instant::End);
            elements.rows.push(RowOfElement { element, part, law, damper, bound: most, step_damping, place });
        }
    }

    /// Appends a row of element `k` with a first guess of its impulse, these ends, and where it pushes if not there.
    fn push_element_row(
        &self,
        (k, own, lambda): (usize, &ElementRow, f64),
        ends: &[(Option<usize>, Six)],
        pushes: &[(Option<usize>, Six)],
        rows: &mut Rows,
    ) -> Place {
        let (owner, [lower, upper]) = (Owner::Element(k as u32), own.bounds);
        // the row of a strut is written when it is known how its bodies move
        let (target, compliance) = match own.law {
            RowLaw::Rate(rate) => (rate, 0.0),
            RowLaw::Answer { target, compliance } => (target, compliance),
            RowLaw::Strut(_) => (0.0, 0.0),
        };
        let pair = match ends {
            [] => [(None, Six::ZERO); 2],
            [one] if pushes.is_empty() => [*one, (None, Six::ZERO)],
            [one, other] if pushes.is_empty() => [*one, *other],
            _ => {
                let first = |value: f64, rest: f64| [value, rest, rest, rest, rest, rest];
                let tie = Tie {
                    target: first(target, 0.0),
                    compliance: first(compliance, 0.0),
                    lower: first(lower, f64::NEG_INFINITY),
                    upper: first(upper, f64::INFINITY),
                    lambda: first(lambda, f64::NAN),
                    ..Tie::default()
                };
                let bodies = |ends: &[(Option<usize>, Six)]| -> Vec<(usize, Six)> {
                    ends.iter().filter_map(|(body, J)| body.map(|b| (b, *J))).collect()
                };
                self.push_tie(rows, &bodies(ends), &bodies(pushes), tie, owner);
                return Place::Tie(rows.ties.len() - 1);
            }
        };
        let row = Row { target, compliance, lower, upper, lambda, ..Row::default() };
        self.push_row(rows, pair.map(|(body, _)| body), pair.map(|(_, J)| J), row, owner, Follow::NONE);
        Place::Row(rows.rows.len() - 1)
    }

    /// Impulse of a row of an element.
    pub(super) fn impulse_at(&self, place: Place) -> f64 {
        match place {
            Place::Row(k) => self.rows.rows[k].lambda,
            Place::Tie(k) => self.rows.ties[k].lambda[0],
        }
    }

    /// True if a row only pushes or only pulls, or does so with all it can.
    fn is_at_bound(&self, place: Place) -> bool {
        let (bounds, lambda) = (self.rows.bounds_at(place), self.impulse_at(place));
        let near = |bound: f64| (lambda - bound).abs() <= AT_BOUND * bound.abs();
        bounds.iter().any(|bound| bound.is_finite() && near(*bound) || *bound == 0.0)
    }

    /// Rate along which the impulse of a row of an element works, if that is not the row's own, with these velocities of the bodies.
    fn pushed_at(&self, place: Place, velocity: impl Fn(usize) -> Six) -> Option<f64> {
        let Place::Tie(k) = place else { return None };
        let pushes = self.rows.ties[k].pushes;
        let ends = pushes.of(&self.rows.ends);
        let sum = || ends.iter().fold(0.0, |rate, end| rate + dot(&end.row(0), velocity(end.body as usize)));
        (!pushes.is_empty()).then(sum)
    }

    /// Rate of a row of an element with these velocities of the bodies.
    fn rate_at(&self, place: Place, velocity: impl Fn(usize) -> Six) -> f64 {
        let ends = self.rows.ends_at(place);
        ends.fold(self.rows.given_at(place), |rate, (body, J)| rate + dot(&J, velocity(body)))
    }

    /// The ends of a row of an element on bodies: the body, and the derivative of the row's rate by its velocity.
    pub(super) fn ends_of(&self, attached: &Attached<'_>, end: &RowEnd) -> [Option<(Option<usize>, Six)>; 2] {
        match *end {
            RowEnd::Frame { frame, at, axes } => [Some(self.end_at(attached, frame, at, axes)), None],
            RowEnd::Coordinate { coordinate, factor } => {
                let at = attached.coordinates[coordinate];
                let (m, i) = (at.mechanism as usize, at.coordinate as usize);
                let Some(l) = self.link_of(at) else { return [None; 2] };
                let machine = &self.machines[m];
                coordinate_row(&self.model, m, l, machine.dual[i], machine.work.links[l].r)
                    .map(|(body, J)| Some((body, J * factor)))
            }
        }
    }

    /// That of a frame.
    fn end_at(&self, attached: &Attached<'_>, frame: usize, at: Vec3, axes: Six) -> (Option<usize>, Six) {
        let body = attached.frames[frame].body.map(|b| b as usize);
        let arm = body.map_or(at, |b| at - self.paths[b].kin.p);
        (body, Six::new(axes.angular + arm.cross(axes.linear), axes.linear))
    }

    /// Puts the ends of a row of an element into a list.
    fn list_ends(&self, attached: &Attached<'_>, own: &[RowEnd], list: &mut Vec<(Option<usize>, Six)>) {
        list.clear();
        for end in own {
            match *end {
                RowEnd::Frame { frame, at, axes } => list.push(self.end_at(attached, frame, at, axes)),
                RowEnd::Coordinate { .. } => list.extend(self.ends_of(attached, end).into_iter().flatten()),
            }
        }
    }

    /// The link that a coordinate moves.
    fn link_of(&self, at: At) -> Option<usize> {
        let i = at.coordinate as usize;
        let links = &self.model.mechanisms[at.mechanism as usize].links;
        links.iter().position(|l| (l.first..l.first + l.count).contains(&i))
    }

    /// True if an element or a lock gives the coordinate its rate.
    pub(super) fn is_given(&self, at: At) -> bool {
        let (machine, i) = (&self.machines[at.mechanism as usize], at.coordinate as usize);
        machine.given[i].is_some() || matches!(machine.work.modes[i], Mode::Given(_))
    }

    /// Velocity {w, v} of a frame at the end of the step, if no row acted.
    fn frame_ahead(&self, anchor: &Anchor) -> Six {
        let Some(b) = anchor.body.map(|b| b as usize) else { return Six::ZERO };
        let path = &self.paths[b];
        let u = if self.is_free(b) { path.free_velocity } else { path.velocity() };
        Six::new(u.angular, u.linear + u.angular.cross(path.kin.R * anchor.p))
    }

    /// A coordinate at the end of the step, if no row acted.
    fn coordinate_ahead(&self, at: At) -> CoordinateAhead {
        let (m, i) = (at.mechanism as usize, at.coordinate as usize);
        let inertia = self.link_of(at).map_or(0.0, |l| self.inertia_along(m, l, i));
        CoordinateAhead { u: self.machines[m].u_free[i], inertia }
    }

    /// Impulse of element `k` in the last step, NaN if there was none.
    fn impulse(&self, k: usize) -> f64 {
        self.state.elements.impulses[k].unwrap_or(f64::NAN)
    }

    /// Inertia of a link along one of its coordinates [kg or kg m^2].
    fn inertia_along(&self, m: usize, l: usize, i: usize) -> f64 {
        let body = self.model.mechanisms[m].links[l].body as usize;
        let (S, R) = (self.machines[m].work.S[i], self.paths[body].kin.R);
        let w_b = R.transpose() * S.angular;
        let body = &self.model.bodies[body];
        body.mass * S.linear.length_squared() + w_b.dot(body.I_c * w_b)
    }

    /// Force that the free motion needs on coordinates whose rate is given.
    fn hold(&mut self) {
        let mut held = std::mem::take(&mut self.elements.held);
        for Effort { at, effort, .. } in &mut held {
            let (m, i) = (at.mechanism as usize, at.coordinate as usize);
            let machine = &self.machines[m];
            *effort = 0.0;
            if let Some(l) = self.link_of(*at).filter(|_| machine.smooth) {
                *effort = machine.work.S[i].dot(&machine.reactions[l]) - machine.tau[i];
                for (row, lambda) in machine.work.rows.iter().zip(&machine.work.lambda) {
                    let own = machine.work.terms_of(row).iter().filter(|(coordinate, _)| *coordinate == i);
                    *effort -= own.map(|(_, factor)| factor * lambda).sum::<f64>();
                }
            }
        }
        self.elements.held = held;
    }

    /// Efforts, modes and events of elements after the solution.
    pub(super) fn settle_elements(&mut self) {
        let (model, h) = (&self.model.clone(), self.h);
        let mut elements = std::mem::take(&mut self.elements);
        for own in &elements.rows {
            let (k, lambda) = (own.element as usize, self.impulse_at(own.place));
            let element = &model.elements[k];
            self.state.elements.impulses[k] = Some(lambda);
            let look = |source| self.look_up(source);
            let seen = self.seen(k, &elements.sights[k], &look);
            element.kind.outputs_of_row(&seen, own.part, lambda / h, &mut elements.outputs[k]);
            let within = lambda.abs() < own.bound * (1.0 - AT_BOUND);
            let solved = Solved { part: own.part, lambda, bound: own.bound, within };
            let (which, modes) = (element.modes.start, &mut self.state.actions.modes);
            let was = modes[which];
            let (mode, is_event) = element.kind.mode_after(was, &solved);
            modes[which] = mode;
            if is_event && mode.held != was.held {
                self.shown.events.extend(self.event_of(k, was));
            }
        }
        for k in 0..model.elements.len() {
            let which = model.elements[k].modes.start;
            let mode = self.state.actions.modes[which];
            if !mode.held {
                continue;
            }
            let mut rows = elements.rows.iter().filter(|own| own.element as usize == k);
            let pushes = rows.any(|own| self.impulse_at(own.place) > 0.0);
            self.place_sight(k, true, &self.state.actions.states, &mut elements.now);
            let look = |source| self.look_up(source);
            if !pushes && model.elements[k].kind.lets_go(&self.seen(k, &elements.now, &look)) {
                self.state.actions.modes[which] = Default::default();
                self.shown.events.extend(self.event_of(k, mode));
            }
        }
        for Effort { element, at, effort } in &elements.held {
            let impulse = self.held_impulse(*at, &elements.held).map_or(0.0, |(lambda, _)| lambda / h);
            elements.outputs[*element as usize][0] = effort + impulse;
        }
        for (k, element) in model.elements.iter().enumerate() {
            if element.kind.finishes() && self.state.actions.on[k] {
                self.finish_element(k, &mut elements);
            }
        }
        self.elements = elements;
    }

    /// Element `k` completes the step.
    fn finish_element(&mut self, k: usize, elements: &mut Elements) {
        let (model, h) = (&self.model.clone(), self.h);
        let element = &model.elements[k];
        self.place_sight(k, true, &self.state.actions.states, &mut elements.now);
        elements.impulses.clear();
        let own = elements.rows.iter().filter(|own| own.element as usize == k);
        elements.impulses.extend(own.map(|own| (own.part, self.impulse_at(own.place))));
        elements.happened.clear();
        elements.lost[k] = [0.0; MOST_ACCOUNTS];
        element.kind.finish(&mut Finish {
            h,
            before: &elements.sights[k],
            after: &elements.now,
            impulses: &elements.impulses,
            modes: &mut self.state.actions.modes[element.modes.clone()],
            kept: &mut self.state.actions.kept[element.kept.clone()],
            states: &mut self.state.actions.states[element.states.clone()],
            outputs: &mut elements.outputs[k],
            lost: &mut elements.lost[k],
            happened: &mut elements.happened,
        });
        for &(which, was) in &elements.happened {
            let Some(kind) = element.kind.event(which, was) else { continue };
            let source = Some(element.mode_source(which));
            self.shown.events.push(Event { time: self.state.time, kind, source, contact: None });
        }
    }

    /// The event of an element that leaves a mode.
    fn event_of(&self, k: usize, was: ElementMode) -> Option<Event> {
        let element = &self.model.elements[k];
        let kind = element.kind.event(0, was)?;
        Some(Event { time: self.state.time, kind, source: Some(element.name.clone()), contact: None })
    }

    /// Impulse on a coordinate whose rate is given, and its row {partition, group, row}.
    fn held_impulse(&self, at: At, held: &[Effort]) -> Option<(f64, [usize; 3])> {
        let (m, i) = (at.mechanism as usize, at.coordinate as usize);
        let machine = &self.machines[m];
        let l = self.link_of(at)?;
        let link = &self.model.mechanisms[m].links[l];
        for (p, partition) in self.partitions.iter().enumerate().filter(|(_, p)| p.active) {
            let owned = |o: &(u32, u32, [Six; 6])| o.0 as usize == m && o.1 as usize == l;
            let Some(g) = partition.owners.iter().position(owned) else { continue };
            let tie = &partition.problem.ties[g];
            let given = |j: usize| {
                let drives = |own: &Effort| own.at.mechanism as usize == m && own.at.coordinate as usize == j;
                held.iter().any(drives) || matches!(machine.work.modes[j], Mode::Given(_))
            };
            let after = (i..link.first + link.count).filter(|&j| given(j)).count();
            let r = tie.count.checked_sub(after)?;
            return Some((tie.lambda[r], [p, g, r]));
        }
        None
    }
}

impl Clock {
    /// Energies of elements that enter by rows: what springs store, what dampers and friction take, what drives put in. `mean` are
    /// the mean velocities of the bodies in the step.
    pub(super) fn book_elements(&mut self, mean: &[Six], ledger: &mut Ledger, elastic: &mut f64, before: &mut f64) {
        let (model, h) = (&self.model.clone(), self.h);
        let mut elements = std::mem::take(&mut self.elements);
        let mut next = 0;
        while let Some(&RowOfElement { element, .. }) = elements.rows.get(next) {
            let e = element as usize;
            // work of its rows on the bodies, and what its dampers take
            let (mut work, mut damped, mut is_one_sided) = (0.0, 0.0, false);
            while let Some(own) = elements.rows.get(next).filter(|own| own.element == element) {
                let rate = self.rate_at(own.place, |b| mean[b]);
                let damping = if let RowLaw::Strut(strut) = own.law { strut.damping } else { 0.0 };
                // that of the end of the step
                let last = || 2.0 * rate - self.rate_at(own.place, |b| self.paths[b].velocity());
                let of_damper = match own.damper {
                    Instant::End if damping != 0.0 => last(),
                    _ => rate,
                };
                let pushed = self.pushed_at(own.place, |b| mean[b]).unwrap_or(rate);
                work += self.impulse_at(own.place) * pushed;
                damped += h * damping * of_damper * rate;
                if own.step_damping > 0.0 {
                    damped += h * own.step_damping * last() * rate;
                }
                is_one_sided |= self.is_at_bound(own.place);
                next += 1;
            }
            if elements.entry[e] == Some(InStep::Load) {
                // what was foreseen of a load is booked with the rest of it
                elements.work[e] += work;
                continue;
            }
            let finishes = model.elements[e].kind.finishes();
            if !model.elements[e].states.is_empty() && !finishes {
                // its own states lose energy inside
                damped += h * self.effect_now(e, &mut elements.now, &mut elements.action).powers[0];
            }
            let stored = self.stored_now(e, &mut elements.now);
            *before += elements.stored[e];
            *elastic += stored;
            let lost = -work - (stored - elements.stored[e]);
            let cause = model.elements[e].kind.accounts()[0].cause;
            let energy = match cause {
                cause if !cause.is_loss() => work,
                // the damper's share of the force; the rest is the error of the step
                Cause::Damping if !is_one_sided || finishes => damped,
                Cause::Slamming => elements.lost[e][0],
                _ => lost,
            };
            if cause.is_loss() {
                ledger[Cause::Integration] += lost - energy;
            }
            ledger[cause] += energy;
            self.state.actions.energies[model.elements[e].accounts.start] += energy;
            let accounts = model.elements[e].kind.accounts().iter().zip(model.elements[e].accounts.clone());
            for ((account, place), lost) in accounts.zip(&elements.lost[e]).skip(1) {
                ledger[Cause::Integration] += if account.cause.is_loss() { -lost } else { *lost };
                ledger[account.cause] += lost;
                self.state.actions.energies[place] += lost;
            }
        }
        for k in 0..model.elements.len() {
            if elements.entry[k] == Some(InStep::Load) || elements.entry[k].is_some() && self.is_welded(k) {
                *before += elements.stored[k];
                *elastic += self.stored_now(k, &mut elements.now);
            }
        }
        self.elements = elements;
    }

    /// Energies of an element that enters as a load. A motor puts in what its force does to the bodies; of others each account takes its
    /// power at the beginning of the step, and the rest is the step's own error.
    fn book_load(&mut self, k: usize, elements: &mut Elements, ledger: &mut Ledger) {
        let element = &self.model.elements[k];
        let work = std::mem::take(&mut elements.work[k]);
        let accounts = element.kind.accounts();
        if let [account] = accounts
            && !account.cause.is_loss()
        {
            ledger[account.cause] += work;
            self.state.actions.energies[element.accounts.start] += work;
            return;
        }
        let mut rest = -work;
        for ((account, power), place) in accounts.iter().zip(elements.effects[k].powers).zip(element.accounts.clone()) {
            let energy = self.h * power;
            ledger[account.cause] += energy;
            self.state.actions.energies[place] += energy;
            rest += if account.cause.is_loss() { -energy } else { energy };
        }
        ledger[Cause::Integration] += rest - (self.stored_now(k, &mut elements.now) - elements.stored[k]);
    }

    /// Energies of loads, of forces on coordinates, of given motions, and of joints on bodies whose motion is given.
    pub(super) fn book_loads(&mut self, mean: &[Six], ledger: &mut Ledger) {
        let h = self.h;
        let mut elements = std::mem::take(&mut self.elements);
        for &Load { element, body, on } in &elements.loads {
            elements.work[element as usize] += h * on.dot(&mean[body as usize]);
        }
        for &Effort { element, at, effort } in &elements.efforts {
            let work = h * effort * self.mean_rate(at, mean);
            elements.work[element as usize] += work;
            ledger[Cause::Integration] += work;
        }
        for k in 0..self.model.elements.len() {
            if elements.entry[k] == Some(InStep::Load) {
                self.book_load(k, &mut elements, ledger);
            }
        }
        let mut of_drives = 0.0;
        for &Effort { element, at, effort } in &elements.held {
            let account = self.model.elements[element as usize].accounts.start;
            let work = h * effort * self.mean_rate(at, mean);
            ledger[Cause::Work] += work;
            ledger[Cause::Integration] += work;
            self.state.actions.energies[account] += work;
            let Some((lambda, [p, g, r])) = self.held_impulse(at, &elements.held) else { continue };
            let work = lambda * self.tie_rate(p, g, r, mean);
            of_drives += work;
            ledger[Cause::Work] += work;
            self.state.actions.energies[account] += work;
        }
        // bodies that a rope holds as it becomes taut are stopped
        let (mut exact, mut stopped) = (0.0, 0.0);
        for (p, partition) in self.partitions.iter().enumerate().filter(|(_, p)| p.active) {
            for (t, tie) in partition.problem.ties.iter().enumerate().take(partition.owners.len()) {
                let work = (0..tie.count).map(|r| tie.lambda[r] * self.tie_rate(p, t, r, mean)).sum::<f64>();
                *(if tie.is_bounded(0) { &mut stopped } else { &mut exact }) += work;
            }
        }
        ledger[Cause::Fastening] -= stopped;
        // exact rows do no work but by the step's error
        ledger[Cause::Integration] -= exact - of_drives;
        self.elements = elements;
    }

    /// Mean rate of a coordinate in the step.
    fn mean_rate(&self, at: At, mean: &[Six]) -> f64 {
        let (m, i) = (at.mechanism as usize, at.coordinate as usize);
        let Some(l) = self.link_of(at) else { return 0.0 };
        let machine = &self.machines[m];
        let row = coordinate_row(&self.model, m, l, machine.dual[i], machine.work.links[l].r);
        row.into_iter().filter_map(|(b, J)| b.map(|b| J.dot(&mean[b]))).sum()
    }

    /// J times the mean velocities of a row of a tie.
    fn tie_rate(&self, p: usize, t: usize, r: usize, mean: &[Six]) -> f64 {
        let partition = &self.partitions[p];
        let ends = partition.problem.ties[t].ends.of(&partition.problem.ends).iter();
        ends.map(|end| {
            let at = end.body as usize;
            // behind the bodies stand blocks of modes
            let u = match partition.bodies.get(at) {
                Some(&body) => flat(mean[body as usize]),
                None => std::array::from_fn(|j| partition.modal_mean(at, j)),
            };
            (0..6).map(|j| end.J[6 * r + j] * u[j]).sum::<f64>()
        })
        .sum()
    }
}
