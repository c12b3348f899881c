//! What acts on an island beside contacts: force elements, and the network of equations behind them.

use super::dynamics::Dynamics;
use super::machine::Machine;
use super::watch::Watch;
use tippe_geometry::Vec3;
use tippe_mechanics::force::ForceMode;
use tippe_mechanics::force::{Anchor, Effect, ForceKind, bushing, coordinate_force, spring};
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::mechanism::Mode;
use tippe_mechanics::model::{Model, prescribed};
use tippe_mechanics::network::{MOST_RESULTS, Source};

/// One element in an island.
#[derive(Clone, Debug)]
pub struct LocalForce {
    /// Which of the model's.
    pub element: u32,
    /// Where its energy is among the integrals behind the states.
    pub integral: usize,
    /// Machine of its coordinate.
    pub machine: usize,
    /// What it remembers.
    pub mode: ForceMode,
    /// Its energy up to the island's beginning [J].
    pub carried: f64,
    /// False once its body is gone.
    pub on: bool,
    /// What it did at the last evaluation.
    pub effect: Effect,
    /// Force or torque it last held its coordinate with, at the end of an evaluation of all equations [N or N m].
    pub holding: f64,
}

/// Elements and blocks of one island.
#[derive(Clone, Debug, Default)]
pub struct Actions {
    /// Elements, ascending.
    pub forces: Vec<LocalForce>,
    /// Blocks evaluated here, in order.
    pub blocks: Vec<u32>,
    /// Where the states of the network are in y, by index; `usize::MAX` if elsewhere.
    pub state_at: Vec<usize>,
    /// Values of the network.
    pub values: Vec<f64>,
    /// Time up to which edges of pulses have passed [s].
    pub edge: f64,
    /// {torque, force} on the centres of mass of the island's bodies.
    pub loads: Vec<Six>,
    /// What is watched.
    pub watches: Vec<Watch>,
    /// Structural changes that have been made, by index in the model.
    pub done: Vec<bool>,
}

impl Actions {
    /// True if nothing acts.
    pub fn is_empty(&self) -> bool {
        self.forces.is_empty() && self.blocks.is_empty()
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
    /// of the network's states into f (unless it is empty).
    pub fn exert(&mut self, model: &Model, t: f64, y: &[f64], f: &mut [f64]) {
        let mut machines = std::mem::take(&mut self.machines);
        machines.iter_mut().for_each(Machine::unload);
        let mut values = std::mem::take(&mut self.actions.values);
        let mut loads = std::mem::take(&mut self.actions.loads);
        loads.fill(Six::default());
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
        let mut forces = std::mem::take(&mut self.actions.forces);
        for force in &mut forces {
            force.effect = Effect::default();
            if !force.on {
                continue;
            }
            let element = &model.forces[force.element as usize];
            let look = |s: Source| self.look(model, t, y, &machines, &values, s);
            let mut push = |anchor: &Anchor, at: Vec3, on: Six| {
                if let Some(k) = anchor.body.and_then(|b| self.bodies.binary_search(&b).ok()) {
                    let arm = at - self.kinematics[k].p;
                    loads[k] = loads[k] + Six::new(on.angular + arm.cross(on.linear), on.linear);
                }
            };
            match &element.kind {
                ForceKind::Applied { on, local, formula } => {
                    let kin = self.anchored(model, on, t);
                    let (p, v, w) = if *local {
                        let R = kin.R.transpose();
                        (R * kin.p, R * kin.v, R * kin.w)
                    } else {
                        (kin.p, kin.v, kin.w)
                    };
                    let own = [p.x, p.y, p.z, v.x, v.y, v.z, w.x, w.y, w.z];
                    let mut six = [0.0; 6];
                    let look = |s: Source| if let Source::Own(k) = s { own[k as usize] } else { look(s) };
                    formula.eval(look, &mut six);
                    let mut on_it = Six::new(Vec3::new(six[3], six[4], six[5]), Vec3::new(six[0], six[1], six[2]));
                    if *local {
                        on_it = Six::new(kin.R * on_it.angular, kin.R * on_it.linear);
                    }
                    push(on, kin.p, on_it);
                    force.effect = Effect {
                        effort: on_it.linear.length(),
                        stored: 0.0,
                        power: on_it.linear.dot(kin.v) + on_it.angular.dot(kin.w),
                    };
                }
                ForceKind::Spring { ends, stiffness, damping, rest, law, rope } => {
                    let [f1, f2] = [0, 1].map(|k| self.anchored(model, &ends[k], t));
                    let (on_2, effect) = match law {
                        None => spring(&f1, &f2, *stiffness, *damping, *rest, None, *rope),
                        Some(law) => {
                            let tension = |length: f64, stretch: f64, rate: f64| {
                                let own = [length, stretch, rate];
                                law.value(|s| if let Source::Own(k) = s { own[k as usize] } else { look(s) })
                            };
                            spring(&f1, &f2, *stiffness, *damping, *rest, Some(&tension), *rope)
                        }
                    };
                    push(&ends[1], f2.p, Six::new(Vec3::ZERO, on_2));
                    push(&ends[0], f1.p, Six::new(Vec3::ZERO, -on_2));
                    force.effect = effect;
                }
                ForceKind::Bushing { ends, stiffness, damping, turning_stiffness, turning_damping } => {
                    let [f1, f2] = [0, 1].map(|k| self.anchored(model, &ends[k], t));
                    let (on_2, effect) = bushing(&f1, &f2, *stiffness, *damping, *turning_stiffness, *turning_damping);
                    push(&ends[1], f2.p, on_2);
                    push(&ends[0], f2.p, -on_2);
                    force.effect = effect;
                }
                kind => {
                    let Some(at) = kind.at() else { continue };
                    let i = at.coordinate as usize;
                    let (q, u) = machines[force.machine].states(y);
                    let (q, u) = (q[i], u[i]);
                    let (tau, mode, effect) = coordinate_force(kind, force.mode, t, q, u, look);
                    machines[force.machine].tau[i] += tau;
                    if let Some(rate) = mode {
                        machines[force.machine].work.modes[i] = Mode::Given(rate);
                    }
                    force.effect = effect;
                }
            }
        }
        self.actions.forces = forces;
        self.actions.loads = loads;
        self.actions.values = values;
        self.machines = machines;
    }

    /// Efforts of elements that hold a coordinate, and powers of all into f; after the mechanisms have moved.
    pub fn book_forces(&mut self, model: &Model, y: &[f64], f: &mut [f64]) {
        let rows = self.pattern.rows();
        let mut forces = std::mem::take(&mut self.actions.forces);
        for force in &mut forces {
            let kind = &model.forces[force.element as usize].kind;
            let holds = matches!(kind, ForceKind::Motion { .. })
                || (force.mode.held && matches!(kind, ForceKind::Friction { .. } | ForceKind::Speed { .. }));
            if holds
                && force.on
                && let Some(at) = kind.at()
            {
                let machine = &mut self.machines[force.machine];
                let i = at.coordinate as usize;
                let effort = machine.held_effort(model, i);
                let u = machine.states(y).1[i];
                let friction = matches!(kind, ForceKind::Friction { .. });
                force.holding = effort;
                force.effect = Effect { effort, stored: 0.0, power: if friction { 0.0 } else { effort * u } };
            }
            f[rows + force.integral] = force.effect.power;
        }
        self.actions.forces = forces;
    }
}
