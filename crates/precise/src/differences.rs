//! What the implicit method asks of an island besides its rates: which blocks of the Jacobian are not zero, and differences of the rates
//! about one place, for which only what has moved is read again. Islands of contacts alone have `slopes.rs` instead of differences; where more
//! acts, what touches over an area goes by its slopes while differences are taken, without a reading and without the rounding of one.

use super::dynamics::Dynamics;
use super::pair::{POWERS, Reading, SPRING_STATES};
use super::slopes::{Slopes, goes_by_slopes};
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::model::Model;

/// Where differences are taken from: what moves little by little about it touches what touches there, nothing else.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    /// Differences are being taken.
    pub(super) on: bool,
    /// The states.
    y: Vec<f64>,
    /// The motions, those of externals last.
    kinematics: Vec<Kinematics>,
    /// Bodies that are elsewhere now.
    moved: Vec<bool>,
    /// Pairs that touch, ascending.
    touching: Vec<u32>,
    /// What they read.
    readings: Vec<Reading>,
    /// Which of them have read something else since.
    stale: Vec<bool>,
    /// Bodies on which a contact may act otherwise now.
    pushed: Vec<bool>,
    /// {torque, force} on the bodies there; empty where more than contacts acts.
    loads: Vec<Six>,
    /// Derivatives of the pairs that go by them, ascending.
    slopes: Vec<Slopes>,
    /// What these lose now, by account [W].
    powers: Vec<[f64; POWERS]>,
}

impl Held {
    /// Place of a pair among those that go by their slopes.
    fn sloped(&self, pair: u32) -> Option<usize> {
        self.slopes.binary_search_by_key(&pair, |slopes| slopes.pair).ok()
    }
}

impl Dynamics {
    /// Blocks of the Jacobian for the present contact set: bodies apart do not act on each other. True if they changed.
    pub fn couple(&mut self, model: &Model) -> bool {
        let (n, nodes) = (self.bodies.len(), self.pattern.nodes());
        let mut neighbours = vec![Vec::new(); nodes];
        let mut priority = vec![0; nodes];
        let mut springs = self.first_of.len();
        let mut touched = vec![false; nodes];
        for (pair, &gap) in self.pairs.iter().zip(&self.gaps) {
            let own = springs;
            springs += usize::from(pair.springs.is_some());
            if !pair.memory.touching && gap > 0.0 {
                continue;
            }
            let [a, b] = pair.sides;
            for side in [a, b].into_iter().filter(|side| *side < n) {
                touched[self.node_of[side]] = true;
            }
            if a < n && b < n && self.node_of[a] != self.node_of[b] {
                neighbours[self.node_of[a]].push(self.node_of[b] as u32);
                neighbours[self.node_of[b]].push(self.node_of[a] as u32);
            }
            if pair.springs.is_some() {
                for node in pair.sides.into_iter().filter(|&side| side < n).map(|side| self.node_of[side]) {
                    neighbours[node].push(own as u32);
                    neighbours[own].push(node as u32);
                }
                priority[own] = pair.last.closing_speed.abs().to_bits();
            }
        }
        for local in &self.actions.elements {
            for &a in &self.element_nodes(model, local.element) {
                for &b in &self.element_nodes(model, local.element) {
                    if a != b {
                        neighbours[a].push(b as u32);
                    }
                }
            }
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        // whatever order a mirrored scene has, it eliminates mirrored bodies in the same order
        for (k, &node) in self.kinematics[..n].iter().zip(&self.node_of) {
            priority[node] = priority[node].max((k.v.length_squared() + k.w.length_squared()).to_bits());
        }
        let changed = neighbours != self.pattern.neighbours || priority != self.pattern.priority;
        self.pattern.priority = priority;
        self.pattern.neighbours = neighbours;
        let before = std::mem::take(&mut self.columns.written);
        self.choose_columns(model, &touched);
        changed || before != self.columns.written
    }

    /// Nodes that a force element joins.
    fn element_nodes(&self, model: &Model, element: u32) -> Vec<usize> {
        let bodies = &model.elements[element as usize].bodies;
        let mut nodes: Vec<usize> =
            bodies.iter().filter_map(|b| self.bodies.binary_search(b).ok()).map(|k| self.node_of[k]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// Differences are taken about (t, y), the place of the last evaluation; with `None` no longer.
    pub(super) fn hold(&mut self, model: &Model, at: Option<(f64, &[f64])>) {
        self.held.on = at.is_some();
        let Some((t, y)) = at else { return };
        // bodies may have been elsewhere for a sample since the last evaluation
        self.locate(model, t, y);
        for (asked, pair) in self.asked.iter_mut().zip(&self.pairs) {
            *asked = goes_by_slopes(pair);
        }
        let mut slopes = std::mem::take(&mut self.held.slopes);
        self.find_slopes(model, y, &mut slopes);
        let held = &mut self.held;
        held.slopes = slopes;
        held.powers.clear();
        held.powers.resize(held.slopes.len(), [0.0; POWERS]);
        held.y.clear();
        held.y.extend_from_slice(y);
        held.kinematics.clone_from(&self.kinematics);
        held.moved.resize(self.kinematics.len(), false);
        held.touching.clear();
        held.readings.clear();
        for (k, (pair, &gap)) in self.pairs.iter().zip(&self.gaps).enumerate() {
            if gap <= 0.0 || pair.memory.touching {
                held.touching.push(k as u32);
                held.readings.push(pair.last);
            }
        }
        held.stale.clear();
        held.stale.resize(held.touching.len(), false);
        held.pushed.resize(self.kinematics.len(), false);
        let mut loads = std::mem::take(&mut held.loads);
        loads.clear();
        if self.actions.is_empty() && self.simple.is_empty() {
            loads.extend((0..self.bodies.len()).map(|k| self.load_anew(k)));
        }
        self.held.loads = loads;
    }

    /// [`Self::measure`] while differences are taken: pairs that were apart stay so, and those of which nothing has moved keep
    /// what was read where the differences start.
    pub(super) fn measure_moved(&mut self, model: &Model, y: &[f64]) {
        for s in &self.simple {
            if self.held.touching.binary_search(&s.pair).is_err() {
                continue;
            }
            let (gap, force) = s.press(y);
            self.gaps[s.pair as usize] = gap;
            self.forces[s.pair as usize] = force;
        }
        let held = &mut self.held;
        for ((moved, now), then) in held.moved.iter_mut().zip(&self.kinematics).zip(&held.kinematics) {
            *moved = now != then;
        }
        self.asked.fill(false);
        held.pushed.fill(false);
        for (i, &k) in held.touching.iter().enumerate() {
            let k = k as usize;
            if self.is_simple[k] {
                continue;
            }
            let pair = &mut self.pairs[k];
            let pulled = pair.springs.is_some_and(|k| y[k..k + SPRING_STATES] != held.y[k..k + SPRING_STATES]);
            let sloped = held.sloped(k as u32);
            if pulled || pair.sides.iter().any(|&side| held.moved[side]) {
                pair.sides.iter().for_each(|&side| held.pushed[side] = true);
                held.stale[i] = true;
                let Some(sloped) = sloped else {
                    self.asked[k] = true;
                    continue;
                };
                let then = pair.sides.map(|side| &held.kinematics[side]);
                let now = pair.sides.map(|side| &self.kinematics[side]);
                let springs = [Dynamics::springs(pair, &held.y), Dynamics::springs(pair, y)];
                let given = held.slopes[sloped].beside(pair, &held.readings[i], then, now, &springs);
                (pair.last.total, pair.last.torques) = (given.force, given.torques);
                pair.last.friction.rates = given.springs;
                held.powers[sloped] = given.powers;
                self.forces[k] = pair.last.total;
            } else if held.stale[i] {
                pair.last = held.readings[i];
                held.stale[i] = false;
                self.gaps[k] = pair.last.gap;
                self.forces[k] = pair.last.total;
            }
            if let Some(sloped) = sloped
                && !held.stale[i]
            {
                held.powers[sloped] = pair.powers(&pair.last);
            }
        }
        self.read_asked(model, y);
    }

    /// Powers of a pair that touches as it was measured [W], in the order of the accounts from damping to elastic.
    pub(super) fn powers(&self, k: u32) -> [f64; POWERS] {
        let pair = &self.pairs[k as usize];
        match self.held.sloped(k) {
            Some(i) if self.held.on => self.held.powers[i],
            _ => pair.powers(&pair.last),
        }
    }

    /// {torque, force} of contacts and force elements on body `k` (local), about its centre of mass; while differences are taken, those that
    /// hold where nothing that touches it has moved.
    pub(super) fn load(&self, k: usize) -> Six {
        match self.held.loads.get(k) {
            Some(load) if self.held.on && !self.held.pushed[k] => *load,
            _ => self.load_anew(k),
        }
    }
}
