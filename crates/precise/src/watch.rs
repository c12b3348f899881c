//! Watches: numbers that rise through zero where a joint sticks or slips, a drive meets its limit, a stop is touched, a
//! component jumps, a structural change is due, a rope or the follower of a cam becomes taut or slack.

use super::dynamics::Dynamics;
use super::layout::Account;
use super::system::Bound;
use tippe_mechanics::element::{Acting, Seen};
use tippe_mechanics::event::{Event, EventKind};
use tippe_mechanics::model::{Model, prescribed};
use tippe_mechanics::network::Source;
use tippe_mechanics::state::MachineRecord;
use tippe_numerics::System;
use tippe_numerics::ode::interpolate_all;

/// What is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// A force element of the island, and which of its modes.
    Element(usize, usize),
    /// A crossing of a component.
    Component {
        /// Block.
        block: u32,
        /// Which of its crossings.
        index: u32,
    },
    /// A structural change that waits for a condition.
    Change(u32),
    /// A loop or coupling of a machine that holds one way: machine, and owner of its row.
    OneWay(usize, usize),
}

impl Dynamics {
    /// What there is to watch.
    pub fn find_watches(&mut self, model: &Model) {
        let mut watches = Vec::new();
        for (k, local) in self.actions.elements.iter().enumerate() {
            let watched = model.elements[local.element as usize].kind.watched();
            watches.extend((0..watched).map(|which| Watch::Element(k, which)));
        }
        for &block in &self.actions.blocks {
            let count = model.network.blocks[block as usize].watches();
            watches.extend((0..count).map(|index| Watch::Component { block, index: index as u32 }));
        }
        for (k, change) in model.changes.iter().enumerate() {
            if change.when.is_some() && self.bodies.binary_search(&change.home).is_ok() {
                watches.push(Watch::Change(k as u32));
            }
        }
        for (k, machine) in self.machines.iter().enumerate() {
            let one_way = model.mechanisms[machine.index as usize].one_way();
            watches.extend(one_way.map(|owner| Watch::OneWay(k, owner)));
        }
        self.actions.watches = watches;
    }

    /// Values of all watches; after an evaluation at (t, y).
    pub fn watch(&self, model: &Model, t: f64, y: &[f64], out: &mut Vec<f64>) {
        out.clear();
        for watch in &self.actions.watches {
            out.push(match *watch {
                Watch::Element(k, _) if !self.actions.elements[k].on => -1.0,
                Watch::Element(k, which) => {
                    self.ask_element(model, t, y, k, |element, seen| element.watch(which, seen))
                }
                Watch::Component { block, index } => {
                    model.network.blocks[block as usize].watch(index as usize, t, |s| self.look_up(model, t, y, s))
                }
                Watch::Change(k) => match &model.changes[k as usize].when {
                    Some(when) if !self.actions.done[k as usize] => when.value(|s| self.look_up(model, t, y, s)),
                    _ => -1.0,
                },
                Watch::OneWay(machine, owner) => self.machines[machine].one_way_margin(model, owner, t, y),
            });
        }
    }

    /// Value of a source; after an evaluation at (t, y).
    pub fn look_up(&self, model: &Model, t: f64, y: &[f64], source: Source) -> f64 {
        self.look(model, t, y, &self.machines, &self.actions.values, source)
    }

    /// The answer of element `k` of the island to a question about what it saw at the last evaluation, at (t, y).
    fn ask_element<T>(
        &self,
        model: &Model,
        t: f64,
        y: &[f64],
        k: usize,
        mut question: impl FnMut(&dyn Acting, &Seen<'_>) -> T,
    ) -> T {
        let local = &self.actions.elements[k];
        let look = |source: Source| self.look_up(model, t, y, source);
        let seen = local.sight.seen((&local.modes, &local.kept), local.holding, &look);
        question(model.elements[local.element as usize].kind.acting(), &seen)
    }

    /// Elements keep what the step that ends at (t, y) left behind.
    pub fn keep(&mut self, model: &Model, t: f64, y: &[f64]) {
        if self.actions.elements.iter().all(|local| !local.on || local.kept.is_empty()) {
            return;
        }
        let there = self.looked_at(model, t, y);
        for (k, at_end) in there.actions.elements.into_iter().enumerate() {
            let local = &mut self.actions.elements[k];
            if !local.on || local.kept.is_empty() {
                continue;
            }
            local.sight = at_end.sight;
            let mut kept = std::mem::take(&mut local.kept);
            self.ask_element(model, t, y, k, |element, seen| element.keep(seen, &mut kept));
            self.actions.elements[k].kept = kept;
        }
    }

    /// What element `k` of the island sees is what it sees at (t, y), its bodies too where it hangs on any.
    fn look_again(&mut self, model: &Model, t: f64, y: &[f64], k: usize) {
        let hangs = !model.elements[self.actions.elements[k].element as usize].kind.attached().frames.is_empty();
        if hangs {
            self.actions.elements[k].sight = self.looked_at(model, t, y).actions.elements.swap_remove(k).sight;
            return;
        }
        let mut elements = std::mem::take(&mut self.actions.elements);
        self.place_sight(model, t, y, &self.machines, &mut elements[k]);
        self.actions.elements = elements;
    }

    /// The island as it is at (t, y).
    fn looked_at(&self, model: &Model, t: f64, y: &[f64]) -> Dynamics {
        let (mut there, mut f) = (self.clone(), y.to_vec());
        Bound { model, dynamics: &mut there }.rates(t, y, &mut f);
        there
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
            Watch::Element(k, which) => {
                let local = &self.actions.elements[k];
                let element = &model.elements[local.element as usize];
                let kind = element.kind.event(which, local.modes[which]).unwrap_or(EventKind::Change);
                (kind, element.mode_source(which))
            }
            Watch::Component { block, .. } => (EventKind::Crossing, model.network.blocks[block as usize].name.clone()),
            Watch::Change(k) => (EventKind::Change, model.changes[k as usize].name.clone()),
            Watch::OneWay(machine, owner) => self.one_way_event(model, machine, owner),
        }
    }

    /// Acts on a watch that has risen through zero at (t, y).
    pub fn trip(&mut self, model: &Model, index: usize, t: f64, y: &mut [f64]) {
        match self.actions.watches[index] {
            Watch::Element(k, which) => self.trip_element(model, (k, which), t, y),
            Watch::Component { block, index } => {
                let block = &model.network.blocks[block as usize];
                for (state, value) in block.jump(index as usize, t, |s| self.look_up(model, t, y, s)) {
                    y[self.actions.state_at[state]] = value;
                }
            }
            // all that touch their limit are settled together, before the next step
            Watch::Change(_) | Watch::OneWay(..) => {}
        }
    }

    /// What to log when what holds one way switches.
    pub fn one_way_event(&self, model: &Model, machine: usize, owner: usize) -> (EventKind, String) {
        let machine = &self.machines[machine];
        let kind = model.mechanisms[machine.index as usize].switching(owner, !machine.work.taut[owner]);
        (kind, model.name_of_row(machine.index, owner))
    }

    /// What holds one way and is taut, as (machine, owner of its row).
    pub fn taut_one_way(&self) -> Vec<(usize, usize)> {
        let one_way = self.actions.watches.iter().filter_map(|watch| match *watch {
            Watch::OneWay(machine, owner) => Some((machine, owner)),
            _ => None,
        });
        one_way.filter(|(machine, owner)| self.machines[*machine].work.taut[*owner]).collect()
    }

    /// What holds one way and is not as the records have it.
    pub fn switched_since(&self, model: &Model, records: &[MachineRecord], t: f64) -> Vec<Event> {
        let mut events = Vec::new();
        for machine in &self.machines {
            let mechanism = &model.mechanisms[machine.index as usize];
            let before = &records[machine.index as usize].taut;
            for owner in mechanism.one_way() {
                let now = machine.work.taut[owner];
                if before[owner] != now {
                    let (kind, name) = (mechanism.switching(owner, now), model.name_of_row(machine.index, owner));
                    events.push(Event { time: t, kind, source: Some(name), contact: None });
                }
            }
        }
        events
    }

    /// Settles what holds one way at (t, y), where all was evaluated last; true if there are any: the
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

    fn trip_element(&mut self, model: &Model, (k, which): (usize, usize), t: f64, y: &mut [f64]) {
        self.look_again(model, t, y, k);
        let trip = self.ask_element(model, t, y, k, |element, seen| element.trip(which, seen));
        let local = &mut self.actions.elements[k];
        local.modes[which] = trip.mode;
        let accounts = model.elements[local.element as usize].accounts.len();
        local.carried[accounts - 1] += trip.lost;
        let coordinates = model.elements[local.element as usize].kind.attached().coordinates;
        if let (Some(rate), &[at], &[m]) = (trip.rate, coordinates, local.machines.as_slice()) {
            let machine = &self.machines[m];
            y[machine.offset + machine.tau.len() + at.coordinate as usize] = rate;
        }
    }

    /// Elements that hold a coordinate with more than they can let go, elements that have no mode yet get one; true if
    /// anything changed, and the equations must be evaluated anew.
    pub fn settle_elements(&mut self, model: &Model, t: f64, y: &[f64]) -> bool {
        let mut changed = false;
        for k in 0..self.actions.elements.len() {
            if !self.actions.elements[k].on {
                continue;
            }
            self.look_again(model, t, y, k);
            for which in 0..self.actions.elements[k].modes.len() {
                let settled = self.ask_element(model, t, y, k, |element, seen| element.settle(which, seen));
                if let Some(settled) = settled {
                    self.actions.elements[k].modes[which] = settled.mode;
                    changed |= settled.acts;
                }
            }
        }
        changed
    }

    /// Coordinates that follow a function of time are put exactly where it says.
    pub fn follow_motions(&self, model: &Model, t: f64, y: &mut [f64]) {
        for local in &self.actions.elements {
            let kind = &model.elements[local.element as usize].kind;
            let Some((value, rate)) = kind.follow(t, local.modes[0]) else { continue };
            if let (&[at], &[m]) = (kind.attached().coordinates, local.machines.as_slice()) {
                let machine = &self.machines[m];
                let i = machine.offset + at.coordinate as usize;
                if let Some(value) = value {
                    y[i] = value;
                }
                y[i + machine.tau.len()] = rate;
            }
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
