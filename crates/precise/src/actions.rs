//! What acts on an island beside contacts: force elements, and the network of equations behind them.

use super::dynamics::Dynamics;
use super::machine::Machine;
use super::watch::Watch;
use tippe_mechanics::element::{Action, Anchor, CoordinateMotion, Effect, ElementMode, MOST_ACCOUNTS, Sight, Wrench};
use tippe_mechanics::joint::Six;
use tippe_mechanics::joint::Tensor;
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::mechanism::Mode;
use tippe_mechanics::model::{Model, prescribed};
use tippe_mechanics::network::{MOST_RESULTS, Source};

/// One element in an island.
#[derive(Clone, Debug)]
pub struct LocalElement {
    /// Which of the model's.
    pub element: u32,
    /// Where the energies of its accounts are among the integrals behind the states.
    pub integral: usize,
    /// Machines of its coordinates.
    pub machines: Vec<usize>,
    /// What it remembers, by mode.
    pub modes: Vec<ElementMode>,
    /// Numbers it keeps from step to step.
    pub kept: Vec<f64>,
    /// Energies of its accounts up to the island's beginning [J].
    pub carried: [f64; MOST_ACCOUNTS],
    /// False once its body is gone.
    pub on: bool,
    /// What it did at the last evaluation.
    pub effect: Effect,
    /// Its outputs there behind the first.
    pub shown: Vec<f64>,
    /// True if it gave its coordinate a rate there.
    pub holds: bool,
    /// Force or torque it last held its coordinate with, at the end of an evaluation of all equations [N or N m].
    pub holding: f64,
    /// What it saw at the last evaluation.
    pub sight: Sight,
}

/// Elements and blocks of one island.
#[derive(Clone, Debug, Default)]
pub struct Actions {
    /// Elements, ascending.
    pub elements: Vec<LocalElement>,
    /// What the element at work does.
    pub action: Action,
    /// Blocks evaluated here, in order.
    pub blocks: Vec<u32>,
    /// Where the model's states are in y, by index; `usize::MAX` if elsewhere.
    pub state_at: Vec<usize>,
    /// Values of the network.
    pub values: Vec<f64>,
    /// Time up to which edges of pulses have passed [s].
    pub edge: f64,
    /// {torque, force} on the centres of mass of the island's bodies.
    pub loads: Vec<Six>,
    /// What elements add to the inertia of bodies (local), about their centres of mass, resolved in world.
    pub added: Vec<(usize, Tensor)>,
    /// What is watched.
    pub watches: Vec<Watch>,
    /// Structural changes that have been made, by index in the model.
    pub done: Vec<bool>,
}

impl Actions {
    /// True if nothing acts.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty() && self.blocks.is_empty()
    }
}

impl Dynamics {
    /// Motion of an anchor.
    fn anchored(&self, model: &Model, anchor: &Anchor, t: f64) -> Kinematics {
        let body = match anchor.body {
            None => Kinematics::WORLD,
            Some(body) => match self.bodies.binary_search(&body) {
                Ok(k) => self.kinematics[k],
                Err(_) => prescribed(model, body as usize, t),
            },
        };
        body.of_frame(anchor.p, &anchor.R)
    }

    /// Value of a source at (t, y).
    pub(super) fn look(
        &self,
        model: &Model,
        t: f64,
        y: &[f64],
        machines: &[Machine],
        values: &[f64],
        source: Source,
    ) -> f64 {
        let states = |mechanism: u32| machines.iter().find(|m| m.index == mechanism).map(|m| m.states(y));
        match source {
            Source::Time => t,
            Source::Coordinate { mechanism, coordinate } => {
                states(mechanism).map_or(0.0, |(q, _)| q[coordinate as usize])
            }
            Source::Rate { mechanism, coordinate } => states(mechanism).map_or(0.0, |(_, u)| u[coordinate as usize]),
            Source::Sensor { sensor, component } => self.sense(model, t, sensor, component),
            Source::Value(k) => values[k as usize],
            Source::State(k) => y[self.actions.state_at[k as usize]],
            Source::Own(_) => 0.0,
        }
    }

    /// A component of a sensor of the motion.
    pub fn sense(&self, model: &Model, t: f64, sensor: u32, component: u32) -> f64 {
        let sensor = &model.sensors[sensor as usize];
        let [f1, f2] = [0, 1].map(|k| self.anchored(model, &sensor.ends[k], t));
        sensor.measure(&f1, &f2, component)
    }

    /// Evaluates network and force elements at (t, y): loads on bodies, forces on coordinates, modes of coordinates, rates
    /// of the states into f (unless it is empty).
    pub fn exert(&mut self, model: &Model, t: f64, y: &[f64], f: &mut [f64]) {
        let mut machines = std::mem::take(&mut self.machines);
        machines.iter_mut().for_each(Machine::unload);
        let mut values = std::mem::take(&mut self.actions.values);
        let mut loads = std::mem::take(&mut self.actions.loads);
        loads.fill(Six::default());
        self.actions.added.clear();
        let mut out = [0.0; MOST_RESULTS];
        for &k in &self.actions.blocks {
            let block = &model.network.blocks[k as usize];
            let count = block.eval(t, self.actions.edge, |s| self.look(model, t, y, &machines, &values, s), &mut out);
            let states = block.states.len();
            if !f.is_empty() {
                for (k, rate) in block.states.clone().zip(&out[..states]) {
                    f[self.actions.state_at[k]] = *rate;
                }
            }
            values[block.value..block.value + count - states].copy_from_slice(&out[states..count]);
        }
        let mut elements = std::mem::take(&mut self.actions.elements);
        let mut action = std::mem::take(&mut self.actions.action);
        for local in &mut elements {
            local.effect = Effect::default();
            local.holds = false;
            if !local.on {
                continue;
            }
            let element = &model.elements[local.element as usize];
            self.place_sight(model, t, y, &machines, local);
            action.clear(local.machines.len(), element.states.len());
            {
                let look = |s: Source| self.look(model, t, y, &machines, &values, s);
                element.kind.act(&local.sight.seen((&local.modes, &local.kept), local.holding, &look), &mut action);
            }
            let attached = element.kind.attached();
            for Wrench { frame, at, on } in &action.wrenches {
                if let Some(k) = attached.frames[*frame].body.and_then(|b| self.bodies.binary_search(&b).ok()) {
                    let arm = *at - self.kinematics[k].p;
                    loads[k] = loads[k] + Six::new(on.angular + arm.cross(on.linear), on.linear);
                }
            }
            if let Some((frame, own)) = action.added
                && let Some(k) = attached.frames[frame].body.and_then(|b| self.bodies.binary_search(&b).ok())
            {
                self.actions.added.push((k, own));
            }
            for ((at, &m), effort) in attached.coordinates.iter().zip(&local.machines).zip(&action.efforts) {
                machines[m].tau[at.coordinate as usize] += effort;
            }
            if let (Some(rate), &[at], &[m]) = (action.given, attached.coordinates, local.machines.as_slice()) {
                machines[m].work.modes[at.coordinate as usize] = Mode::Given(rate);
                local.holds = true;
            }
            if !f.is_empty() {
                for (k, rate) in element.states.clone().zip(&action.rates) {
                    f[self.actions.state_at[k]] = *rate;
                }
            }
            local.effect = action.effect;
            local.shown.clone_from(&action.shown);
        }
        self.actions.elements = elements;
        self.actions.action = action;
        self.actions.loads = loads;
        self.actions.values = values;
        self.machines = machines;
    }

    /// Motion of the frames and coordinates of an element at (t, y), and its states there.
    pub(super) fn place_sight(&self, model: &Model, t: f64, y: &[f64], machines: &[Machine], local: &mut LocalElement) {
        let element = &model.elements[local.element as usize];
        let (attached, sight) = (element.kind.attached(), &mut local.sight);
        sight.t = t;
        sight.frames.clear();
        sight.frames.extend(attached.frames.iter().map(|anchor| self.anchored(model, anchor, t)));
        sight.coordinates.clear();
        sight.coordinates.extend(attached.coordinates.iter().zip(&local.machines).map(|(at, &m)| {
            let (q, u) = machines[m].states(y);
            CoordinateMotion { q: q[at.coordinate as usize], u: u[at.coordinate as usize] }
        }));
        sight.states.clear();
        sight.states.extend(element.states.clone().map(|k| y[self.actions.state_at[k]]));
    }

    /// Efforts of elements that hold a coordinate, and powers of all into f; after the mechanisms have moved.
    pub fn book_elements(&mut self, model: &Model, y: &[f64], f: &mut [f64]) {
        let rows = self.pattern.rows();
        let mut elements = std::mem::take(&mut self.actions.elements);
        for local in &mut elements {
            let element = &model.elements[local.element as usize];
            if let (true, &[at], &[m]) = (local.holds, element.kind.attached().coordinates, local.machines.as_slice()) {
                let machine = &mut self.machines[m];
                let i = at.coordinate as usize;
                let effort = machine.held_effort(model, i);
                let u = machine.states(y).1[i];
                local.holding = effort;
                local.effect = Effect::new(effort, 0.0, element.kind.holding_power(effort, u));
            }
            let accounts = element.accounts.len();
            f[rows + local.integral..][..accounts].copy_from_slice(&local.effect.powers[..accounts]);
        }
        self.actions.elements = elements;
    }
}
