//! Watches: numbers that rise through zero where a joint sticks or slips, a drive meets its limit, a stop is touched, a
//! component jumps, a structural change is due, a coupling that holds one way becomes taut or slack.

use super::dynamics::{Account, Dynamics};
use super::system::Bound;
use tippe_mechanics::event::EventKind;
use tippe_mechanics::force::ForceMode;
use tippe_mechanics::force::{At, ForceKind};
use tippe_mechanics::model::{Model, prescribed};
use tippe_mechanics::network::{BlockKind, Source};
use tippe_numerics::System;
use tippe_numerics::ode::interpolate_all;

/// Efforts beyond their limit by less than this share of it do not count [-].
const SLACK: f64 = 1e-12;

/// What is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// A force element of the island: joint friction, a speed or position drive, a stop.
    Force(usize),
    /// A crossing of a component.
    Component {
        /// Block.
        block: u32,
        /// Which of its crossings.
        index: u32,
    },
    /// A structural change that waits for a condition.
    Change(u32),
    /// A coupling of a machine that holds one way.
    OneWay(usize, usize),
}

impl Dynamics {
    /// What there is to watch.
    pub fn find_watches(&mut self, model: &Model) {
        let mut watches = Vec::new();
        for (k, force) in self.actions.forces.iter().enumerate() {
            let limited = match &model.forces[force.element as usize].kind {
                ForceKind::Friction { .. } | ForceKind::Stop { .. } => true,
                ForceKind::Speed { limit, .. } | ForceKind::Position { limit, .. } => limit.is_finite(),
                _ => false,
            };
            if limited {
                watches.push(Watch::Force(k));
            }
        }
        for &block in &self.actions.blocks {
            if let BlockKind::Component { crossings, .. } = &model.network.blocks[block as usize].kind {
                watches.extend((0..crossings.len()).map(|index| Watch::Component { block, index: index as u32 }));
            }
        }
        for (k, change) in model.changes.iter().enumerate() {
            if change.when.is_some() && self.bodies.binary_search(&change.home).is_ok() {
                watches.push(Watch::Change(k as u32));
            }
        }
        for (k, machine) in self.machines.iter().enumerate() {
            let couplings = model.mechanisms[machine.index as usize].couplings.iter().enumerate();
            let one_way = couplings.filter(|(_, coupled)| coupled.coupling.holds.sense().is_some());
            watches.extend(one_way.map(|(coupling, _)| Watch::OneWay(k, coupling)));
        }
        self.actions.watches = watches;
    }

    /// Values of all watches; after an evaluation at (t, y).
    pub fn watch(&self, model: &Model, t: f64, y: &[f64], out: &mut Vec<f64>) {
        out.clear();
        for watch in &self.actions.watches {
            out.push(match *watch {
                Watch::Force(k) => self.watch_force(model, t, y, k),
                Watch::Component { block, index } => match &model.network.blocks[block as usize].kind {
                    BlockKind::Component { crossings, .. } => {
                        crossings[index as usize].when.value(|s| self.look_up(model, t, y, s))
                    }
                    _ => -1.0,
                },
                Watch::Change(k) => match &model.changes[k as usize].when {
                    Some(when) if !self.actions.done[k as usize] => when.value(|s| self.look_up(model, t, y, s)),
                    _ => -1.0,
                },
                Watch::OneWay(machine, coupling) => self.machines[machine].one_way_margin(model, coupling, y),
            });
        }
    }

    /// Value of a source; after an evaluation at (t, y).
    pub fn look_up(&self, model: &Model, t: f64, y: &[f64], source: Source) -> f64 {
        self.look(model, t, y, &self.machines, &self.actions.values, source)
    }

    fn coordinate(&self, machine: usize, at: At, y: &[f64]) -> (f64, f64) {
        let (q, u) = self.machines[machine].states(y);
        (q[at.coordinate as usize], u[at.coordinate as usize])
    }

    fn watch_force(&self, model: &Model, t: f64, y: &[f64], k: usize) -> f64 {
        let force = &self.actions.forces[k];
        let kind = &model.forces[force.element as usize].kind;
        let Some(at) = kind.at() else { return -1.0 };
        let (q, u) = self.coordinate(force.machine, at, y);
        let beyond = |limit: f64| force.holding.abs() - limit * (1.0 + SLACK);
        match kind {
            ForceKind::Friction { sticking, .. } if force.mode.held => beyond(*sticking),
            ForceKind::Friction { .. } => -u * force.mode.sense,
            ForceKind::Speed { limit, .. } if force.mode.held => beyond(*limit),
            ForceKind::Speed { value, .. } => (u - value.value_and_rate(t).0) * force.mode.sense,
            ForceKind::Position { limit, .. } => {
                let over = self.wish(model, t, y, kind, q, u).abs() - limit;
                if force.mode.held { over } else { -over }
            }
            ForceKind::Stop { bounds, .. } => {
                let depth = (bounds[0] - q).max(q - bounds[1]);
                if force.mode.held { -depth } else { depth }
            }
            _ => -1.0,
        }
    }

    /// Values of one watch at `theta` of a step of length h from time t with this dense output.
    pub fn watch_at(&self, model: &Model, index: usize, t: f64, h: f64, dense: &[f64], theta: f64) -> f64 {
        let mut copy = self.clone();
        let mut y = vec![0.0; self.length()];
        interpolate_all(dense, theta, &mut y);
        let mut f = y.clone();
        Bound { model, dynamics: &mut copy }.rates(t + theta * h, &y, &mut f);
        let mut values = Vec::new();
        copy.watch(model, t + theta * h, &y, &mut values);
        values[index]
    }

    /// What to log when a watch has risen through zero: the kind of event and its source.
    pub fn tripping(&self, model: &Model, index: usize) -> (EventKind, String) {
        match self.actions.watches[index] {
            Watch::Force(k) => {
                let force = &self.actions.forces[k];
                let element = &model.forces[force.element as usize];
                let kind = match (&element.kind, force.mode.held) {
                    (ForceKind::Friction { .. }, true) => EventKind::JointSlip,
                    (ForceKind::Friction { .. }, false) => EventKind::JointStick,
                    (ForceKind::Speed { .. } | ForceKind::Position { .. }, true) => EventKind::MotorLimit,
                    (ForceKind::Speed { .. } | ForceKind::Position { .. }, false) => EventKind::MotorHold,
                    (_, true) => EventKind::StopEnd,
                    (_, false) => EventKind::StopStart,
                };
                (kind, element.name.clone())
            }
            Watch::Component { block, .. } => (EventKind::Crossing, model.network.blocks[block as usize].name.clone()),
            Watch::Change(k) => (EventKind::Change, model.changes[k as usize].name.clone()),
            Watch::OneWay(machine, coupling) => self.one_way_event(model, machine, coupling),
        }
    }

    /// Acts on a watch that has risen through zero at (t, y).
    pub fn trip(&mut self, model: &Model, index: usize, t: f64, y: &mut [f64]) {
        match self.actions.watches[index] {
            Watch::Force(k) => self.trip_force(model, k, t, y),
            Watch::Component { block, index } => {
                if let BlockKind::Component { crossings, .. } = &model.network.blocks[block as usize].kind {
                    let crossing = &crossings[index as usize];
                    let mut new = vec![0.0; crossing.states.len()];
                    crossing.set.eval(|s| self.look_up(model, t, y, s), &mut new);
                    for (&state, value) in crossing.states.iter().zip(new) {
                        y[self.actions.state_at[state]] = value;
                    }
                }
            }
            // all that touch their limit are settled together, before the next step
            Watch::Change(_) | Watch::OneWay(..) => {}
        }
    }

    /// What to log when a coupling that holds one way switches.
    pub fn one_way_event(&self, model: &Model, machine: usize, coupling: usize) -> (EventKind, String) {
        let machine = &self.machines[machine];
        let kind = if machine.work.taut[coupling] { EventKind::Slack } else { EventKind::Taut };
        (kind, model.mechanisms[machine.index as usize].couplings[coupling].name.clone())
    }

    /// The couplings that hold one way and are taut, as (machine, coupling).
    pub fn taut_one_way(&self) -> Vec<(usize, usize)> {
        let one_way = self.actions.watches.iter().filter_map(|watch| match *watch {
            Watch::OneWay(machine, coupling) => Some((machine, coupling)),
            _ => None,
        });
        one_way.filter(|(machine, coupling)| self.machines[*machine].work.taut[*coupling]).collect()
    }

    /// Settles couplings that hold one way at (t, y), where all was evaluated last; true if there are any: the
    /// equations must be evaluated anew.
    pub fn settle_one_way(&mut self, model: &Model, t: f64, y: &mut [f64]) -> bool {
        let mut any = false;
        for machine in self.machines.iter_mut() {
            if model.mechanisms[machine.index as usize].has_one_way_rows() {
                let loss = machine.settle_one_way(model, y, |body| prescribed(model, body as usize, t));
                let node = self.node_of[machine.bodies[0]];
                self.carried[node][Account::Fastening as usize] += loss;
                any = true;
            }
        }
        any
    }

    fn trip_force(&mut self, model: &Model, k: usize, t: f64, y: &mut [f64]) {
        let force = &self.actions.forces[k];
        let kind = &model.forces[force.element as usize].kind;
        let Some(at) = kind.at() else { return };
        let (machine, effort) = (force.machine, force.holding);
        let (_, u) = self.coordinate(machine, at, y);
        let n = self.machines[machine].tau.len();
        let rate = self.machines[machine].offset + n + at.coordinate as usize;
        let mode = &mut self.actions.forces[k].mode;
        match kind {
            // it lets go against the force it held with
            ForceKind::Friction { .. } if mode.held => {
                *mode = ForceMode { held: false, sense: -effort.signum(), speed: 0.0 }
            }
            ForceKind::Friction { .. } => {
                y[rate] = 0.0;
                mode.held = true;
            }
            ForceKind::Speed { .. } if mode.held => {
                *mode = ForceMode { held: false, sense: effort.signum(), speed: 0.0 }
            }
            ForceKind::Speed { value, .. } => {
                y[rate] = value.value_and_rate(t).0;
                mode.held = true;
            }
            ForceKind::Position { .. } => mode.held = !mode.held,
            _ if mode.held => *mode = ForceMode::default(),
            _ => *mode = ForceMode { held: true, sense: 0.0, speed: u.abs() },
        }
    }

    /// Elements that hold a coordinate with more than they can let go, elements that have no mode yet get one; true if
    /// anything changed, and the equations must be evaluated anew.
    pub fn settle_forces(&mut self, model: &Model, t: f64, y: &[f64]) -> bool {
        let mut changed = false;
        for k in 0..self.actions.forces.len() {
            let force = &self.actions.forces[k];
            let kind = &model.forces[force.element as usize].kind;
            let Some(at) = kind.at() else { continue };
            let (q, u) = self.coordinate(force.machine, at, y);
            let (mode, effort) = (force.mode, force.holding);
            let mode_now = &mut self.actions.forces[k].mode;
            match kind {
                ForceKind::Friction { sticking, .. } => {
                    if !mode.held && mode.sense == 0.0 {
                        mode_now.held = u == 0.0;
                        mode_now.sense = if u == 0.0 { 1.0 } else { u.signum() };
                        changed = true;
                    } else if mode.held && effort.abs() > sticking * (1.0 + SLACK) {
                        mode_now.held = false;
                        mode_now.sense = -effort.signum();
                        changed = true;
                    }
                }
                ForceKind::Speed { value, limit, .. } => {
                    let wanted = value.value_and_rate(t).0;
                    if !mode.held && mode.sense == 0.0 {
                        mode_now.held = limit.is_infinite() || (u - wanted).abs() <= 1e-12 * wanted.abs().max(1e-3);
                        mode_now.sense = if wanted >= u { 1.0 } else { -1.0 };
                        changed = true;
                    } else if mode.held && effort.abs() > limit * (1.0 + SLACK) {
                        mode_now.held = false;
                        mode_now.sense = effort.signum();
                        changed = true;
                    }
                }
                // its force is clamped as it is: the mode is for the log alone
                ForceKind::Position { limit, .. } if limit.is_finite() && mode.sense == 0.0 => {
                    let held = self.wish(model, t, y, kind, q, u).abs() <= *limit;
                    self.actions.forces[k].mode = ForceMode { held, sense: 1.0, speed: 0.0 };
                }
                _ => {}
            }
        }
        changed
    }

    /// Force that a position drive would have without its limit [N or N m].
    fn wish(&self, model: &Model, t: f64, y: &[f64], kind: &ForceKind, q: f64, u: f64) -> f64 {
        match kind {
            ForceKind::Position { value, stiffness, damping, .. } => {
                stiffness * (value.value(|s| self.look_up(model, t, y, s)) - q) - damping * u
            }
            _ => 0.0,
        }
    }

    /// Coordinates that follow a function of time are put exactly where it says.
    pub fn follow_motions(&self, model: &Model, t: f64, y: &mut [f64]) {
        for force in &self.actions.forces {
            let (at, values) = match &model.forces[force.element as usize].kind {
                ForceKind::Motion { at, value } => (at, value.value_and_rate(t)),
                ForceKind::Speed { at, value, .. } if force.mode.held => {
                    let machine = &self.machines[force.machine];
                    (at, (machine.states(y).0[at.coordinate as usize], value.value_and_rate(t).0))
                }
                _ => continue,
            };
            let machine = &self.machines[force.machine];
            let i = machine.offset + at.coordinate as usize;
            y[i] = values.0;
            y[i + machine.tau.len()] = values.1;
        }
    }

    /// The first time after t at which equations have a kink [s].
    pub fn next_instant(&self, model: &Model, t: f64) -> f64 {
        self.actions
            .blocks
            .iter()
            .map(|&b| model.network.blocks[b as usize].next_instant(t))
            .fold(self.handover, f64::min)
    }
}
