//! The network of equations in a step: values at its beginning, states of components to its end.

use super::Clock;
use tippe_mechanics::element::{Action, Anchor, Sight};
use tippe_mechanics::event::{Event, EventKind};
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::model::Model;
use tippe_mechanics::network::{MOST_RESULTS, Source};
use tippe_numerics::dense;

/// gamma of the Rosenbrock method: 1 - 1/sqrt(2) [-].
const GAMMA: f64 = 1.0 - std::f64::consts::FRAC_1_SQRT_2;
/// Error of states per substep, as a share of their size [-].
const TOLERANCE: f64 = 1e-6;
/// Substeps are at least this share of the step [-].
const SHORTEST: f64 = 1.0 / 128.0;
/// Crossings in one step at most.
const MOST_CROSSINGS: usize = 64;
/// Bisections that find a crossing.
const BISECTIONS: usize = 40;
/// What happens this share of a step ahead happens now [-].
const NOW: f64 = 1e-9;

/// What an element with states sees and does.
#[derive(Clone, Debug, Default)]
struct Evaluation {
    sight: Sight,
    action: Action,
}

/// Room to work in.
#[derive(Clone, Debug, Default)]
pub struct Room {
    values: Vec<f64>,
    k1: Vec<f64>,
    k2: Vec<f64>,
    stage: Vec<f64>,
    rates: Vec<f64>,
    J: Vec<f64>,
    A: Vec<f64>,
    new: Vec<f64>,
    watched: Vec<f64>,
    evaluation: Evaluation,
}

impl Room {
    /// Room for a model's network.
    pub fn new(model: &Model) -> Room {
        let (n, values) = (model.states.len(), vec![0.0; model.network.values]);
        let states = || vec![0.0; n];
        let J = vec![0.0; n * n];
        Room {
            values,
            k1: states(),
            k2: states(),
            stage: states(),
            rates: states(),
            A: J.clone(),
            J,
            new: states(),
            watched: Vec::new(),
            evaluation: Evaluation::default(),
        }
    }
}

impl Clock {
    /// Motion of an anchor: at the beginning of the step, or as the state has it now.
    pub(super) fn anchored(&self, anchor: &Anchor, now: bool) -> Kinematics {
        let body = match anchor.body {
            None => Kinematics::WORLD,
            Some(b) if now => self.motion(b as usize),
            Some(b) => self.paths[b as usize].kin,
        };
        body.of_frame(anchor.p, &anchor.R)
    }

    /// Value of a source at time t with these states, after [`Self::foresee_states`].
    pub(super) fn look_ahead(&self, t: f64, room: &Room, states: &[f64], source: Source) -> f64 {
        self.look(true, t, &room.values, states, source)
    }

    /// Value of a source at time t with these values and states of the network.
    fn look(&self, now: bool, t: f64, values: &[f64], states: &[f64], source: Source) -> f64 {
        match source {
            Source::Time => t,
            Source::Coordinate { mechanism, coordinate } => {
                self.state.machines[mechanism as usize].q[coordinate as usize]
            }
            Source::Rate { mechanism, coordinate } => self.state.machines[mechanism as usize].u[coordinate as usize],
            Source::Sensor { sensor, component } => {
                let sensor = &self.model.sensors[sensor as usize];
                let [f1, f2] = [0, 1].map(|k| self.anchored(&sensor.ends[k], now));
                sensor.measure(&f1, &f2, component)
            }
            Source::Value(k) => values[k as usize],
            Source::State(k) => states[k as usize],
            Source::Own(_) => 0.0,
        }
    }

    /// Value of a source at the beginning of the step; after [`Self::evaluate`].
    pub(super) fn look_up(&self, source: Source) -> f64 {
        self.look(false, self.state.time, &self.values, &self.state.actions.states, source)
    }

    /// States of components `ahead` [s] from now with the motion held as it stands, no crossing counted, and the values of
    /// the network there.
    pub(super) fn foresee_states(&self, ahead: f64, states: &mut Vec<f64>, room: &mut Room) {
        states.clone_from(&self.state.actions.states);
        let (start, end, small) = (self.state.time, self.state.time + ahead, NOW * self.h);
        let mut t = start;
        while t < end - small && !states.is_empty() {
            let edge = t + small;
            let stop = self.model.network.blocks.iter().map(|b| b.next_instant(edge)).fold(end, f64::min);
            let mut next = stop - t;
            while t < stop - small {
                t += self.substep(t, stop - t, &mut next, edge, states, room);
                states.copy_from_slice(&room.new);
            }
            t = stop;
        }
        let Room { values, rates, evaluation, .. } = room;
        self.rates((true, end, end + small), states, values, rates, evaluation);
    }

    /// Values of all blocks, and rates of all states, at (t, states).
    fn rates(
        &self,
        (now, t, edge): (bool, f64, f64),
        states: &[f64],
        values: &mut [f64],
        rates: &mut [f64],
        Evaluation { sight, action }: &mut Evaluation,
    ) {
        let mut out = [0.0; MOST_RESULTS];
        for block in &self.model.network.blocks {
            let count = block.eval(t, edge, |s| self.look(now, t, values, states, s), &mut out);
            let n = block.states.len();
            rates[block.states.clone()].copy_from_slice(&out[..n]);
            values[block.value..block.value + count - n].copy_from_slice(&out[n..count]);
        }
        for (k, element) in self.model.elements.iter().enumerate().filter(|(_, e)| !e.states.is_empty()) {
            if element.kind.finishes() {
                rates[element.states.clone()].fill(0.0);
                continue;
            }
            self.place_sight(k, now, states, sight);
            let look = |source| self.look(now, t, values, states, source);
            action.clear(sight.coordinates.len(), element.states.len());
            element.kind.act(&sight.seen(self.state.actions.of(element), 0.0, &look), action);
            rates[element.states.clone()].copy_from_slice(&action.rates);
        }
    }

    /// Values of the network as things are.
    pub(super) fn evaluate(&mut self, now: bool) {
        let (t, edge) = (self.state.time, self.state.time + NOW * self.h);
        let (mut values, mut room) = (std::mem::take(&mut self.values), std::mem::take(&mut self.room));
        self.rates((now, t, edge), &self.state.actions.states, &mut values, &mut room.rates, &mut room.evaluation);
        (self.values, self.room) = (values, room);
        if self.state.elements.watched.is_empty() {
            let mut watched = Vec::new();
            self.watch(now, t, &self.values, &self.state.actions.states, &mut watched);
            self.state.elements.watched = watched;
        }
    }

    /// Expressions that are watched for a rise through zero: crossings of components, then conditions of changes.
    fn watch(&self, now: bool, t: f64, values: &[f64], states: &[f64], out: &mut Vec<f64>) {
        out.clear();
        let look = |s: Source| self.look(now, t, values, states, s);
        for block in &self.model.network.blocks {
            out.extend((0..block.watches()).map(|which| block.watch(which, t, look)));
        }
        out.extend(self.model.changes.iter().map(|c| c.when.as_ref().map_or(-1.0, |when| when.value(look))));
    }

    /// States of components to the end of the step, with the motion held as it is there; states jump where crossings are.
    /// Conditions of changes that rose through zero make them due.
    pub(super) fn advance_states(&mut self) {
        self.settle_elements();
        let mut room = std::mem::take(&mut self.room);
        let mut states = std::mem::take(&mut self.state.actions.states);
        let mut watched = std::mem::take(&mut self.state.elements.watched);
        let (h, end, model) = (self.h, self.state.time, &self.model.clone());
        let small = NOW * h;
        let mut t = end - h;
        let mut left = MOST_CROSSINGS;
        while t < end - small && !states.is_empty() {
            let edge = t + small;
            let stop = model.network.blocks.iter().map(|b| b.next_instant(edge)).fold(end, f64::min);
            let mut next = stop - t;
            while t < stop - small {
                let dt = self.substep(t, stop - t, &mut next, edge, &states, &mut room);
                t += self.jump(t, dt, edge, &mut states, &mut watched, &mut room, &mut left);
            }
            t = stop;
        }
        self.rates((true, end, end + small), &states, &mut room.values, &mut room.rates, &mut room.evaluation);
        self.watch(true, end, &room.values, &states, &mut room.watched);
        let first = room.watched.len() - model.changes.len();
        for k in 0..model.changes.len() {
            self.state.elements.due[k] |= watched[first + k] < 0.0 && room.watched[first + k] >= 0.0;
        }
        watched.copy_from_slice(&room.watched);
        self.room = room;
        self.state.actions.states = states;
        self.state.elements.watched = watched;
    }

    /// One substep of at most `longest` from (t, states) into `room.new`, as long as the tolerance allows; returns its length.
    fn substep(&self, t: f64, longest: f64, next: &mut f64, edge: f64, states: &[f64], room: &mut Room) -> f64 {
        let n = states.len();
        let Room { values, rates, stage, J, k2, evaluation, .. } = room;
        self.rates((true, t, edge), states, values, rates, evaluation);
        for j in 0..n {
            let d = 1e-7 * states[j].abs().max(1e-4);
            stage.copy_from_slice(states);
            stage[j] += d;
            self.rates((true, t, edge), stage, values, k2, evaluation);
            for i in 0..n {
                J[n * i + j] = (k2[i] - rates[i]) / d;
            }
        }
        let shortest = SHORTEST * self.h;
        let mut dt = next.min(longest);
        loop {
            let error = self.leap(t, dt, edge, states, room);
            *next = dt * (0.9 / error.sqrt().max(0.09)).clamp(0.2, 5.0);
            if error <= 1.0 || dt <= shortest {
                *next = next.max(shortest);
                return dt;
            }
            dt = next.max(shortest).min(0.9 * dt);
        }
    }

    /// y+ = y + (3 k1 + k2) dt/2,   (1 - gamma dt J) k1 = f(y),   (1 - gamma dt J) k2 = f(y + dt k1) - 2 k1
    /// (ROS2 of Verwer et al. 1999: of second order for any J, L-stable for the exact one) into `room.new`; returns its error
    /// over the tolerance.
    fn leap(&self, t: f64, dt: f64, edge: f64, states: &[f64], room: &mut Room) -> f64 {
        let n = states.len();
        let matrix = |J: &[f64], A: &mut [f64]| {
            for (k, (a, j)) in A.iter_mut().zip(J).enumerate() {
                *a = f64::from(u8::from(k / n == k % n)) - GAMMA * dt * j;
            }
        };
        let Room { values, rates, stage, J, A, k1, k2, new, evaluation, .. } = room;
        self.rates((true, t, edge), states, values, rates, evaluation);
        k1.copy_from_slice(rates);
        matrix(J, A);
        dense::solve(A, k1);
        for i in 0..n {
            stage[i] = states[i] + dt * k1[i];
        }
        self.rates((true, t + dt, edge), stage, values, rates, evaluation);
        for i in 0..n {
            k2[i] = rates[i] - 2.0 * k1[i];
        }
        matrix(J, A);
        dense::solve(A, k2);
        let mut error: f64 = 0.0;
        for i in 0..n {
            new[i] = states[i] + dt * (1.5 * k1[i] + 0.5 * k2[i]);
            let size = states[i].abs().max(new[i].abs()).max(1e-9);
            error = error.max((0.5 * dt * (k1[i] + k2[i])).abs() / (TOLERANCE * size));
        }
        error
    }

    /// Takes over the substep, or the part of it up to the first crossing, where states jump; returns its length.
    #[expect(clippy::too_many_arguments, reason = "to be cut: a substep and its buffers")]
    fn jump(
        &mut self,
        t: f64,
        dt: f64,
        edge: f64,
        states: &mut [f64],
        watched: &mut [f64],
        room: &mut Room,
        left: &mut usize,
    ) -> f64 {
        let model = &self.model.clone();
        let first_change = watched.len() - model.changes.len();
        let risen = |clock: &Self, dt: f64, room: &mut Room| {
            let Room { values, new, rates, watched: now, evaluation, .. } = room;
            clock.rates((true, t + dt, edge), new, values, rates, evaluation);
            clock.watch(true, t + dt, values, new, now);
            (0..first_change).any(|k| watched[k] < 0.0 && now[k] >= 0.0)
        };
        if !risen(self, dt, room) || *left == 0 {
            states.copy_from_slice(&room.new);
            watched[..first_change].copy_from_slice(&room.watched[..first_change]);
            return dt;
        }
        *left -= 1;
        let (mut low, mut high) = (0.0, dt);
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            self.leap(t, middle, edge, states, room);
            if risen(self, middle, room) {
                high = middle;
            } else {
                low = middle;
            }
        }
        self.leap(t, high, edge, states, room);
        risen(self, high, room);
        states.copy_from_slice(&room.new);
        let mut k = 0;
        for block in &model.network.blocks {
            for which in 0..block.watches() {
                if watched[k] < 0.0 && room.watched[k] >= 0.0 {
                    let look = |s: Source| self.look(true, t + high, &room.values, &room.new, s);
                    for (state, value) in block.jump(which, t + high, look) {
                        states[state] = value;
                    }
                    let source = Some(block.name.clone());
                    self.shown.events.push(Event { time: t + high, kind: EventKind::Crossing, source, contact: None });
                }
                k += 1;
            }
        }
        self.rates((true, t + high, edge), states, &mut room.values, &mut room.rates, &mut room.evaluation);
        self.watch(true, t + high, &room.values, states, &mut room.watched);
        watched[..first_change].copy_from_slice(&room.watched[..first_change]);
        high
    }
}
