//! Structural changes: attach, release, lock, unlock, delete, contact on and off.

use crate::joint::coupling::{Coupling, Term};
use crate::joint::{Joint, Six};
use crate::kinematics::Kinematics;
use crate::mechanism::{Coupled, CoupledBy, Mechanism, Parent, Standpoint, Work};
use crate::model::{ChangeAction, JointPlace, Model, inertia, kinetic as kinetic_of, prescribed};
use crate::resistance::Resistance;
use crate::state::{ActionRecord, MachineRecord};
use serde::{Deserialize, Serialize};
use tippe_geometry::Quat;

/// What structural changes, and grains, have made of the model so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Structure {
    /// Changes that were made, by index.
    pub done: Vec<bool>,
    /// Bodies that are gone, by index.
    pub gone: Vec<bool>,
    /// Pairs of bodies whose contact was switched, smaller first, and how.
    pub contacts: Vec<((u32, u32), bool)>,
    /// Energy lost when parts were fastened together or switched off [J].
    pub fastening: f64,
    /// Energy that bodies took with them, and springs on them [J].
    pub removed: f64,
    /// {torque about the centre of mass, force} of subsystems on each body until the next hand-over [s]; of none in a model without them.
    pub pushes: Vec<Six>,
    /// Rows of subsystems on free bodies until then, found anew where a run goes on.
    #[serde(skip)]
    pub resistances: Vec<Resistance>,
    /// When that is; all islands step exactly there.
    pub handover: Option<f64>,
}

impl Structure {
    /// That of a model at its start: pairs that are switched on later are off.
    pub fn new(model: &Model) -> Structure {
        let mut contacts: Vec<((u32, u32), bool)> = Vec::new();
        for change in &model.changes {
            if let ChangeAction::Contact { bodies, on: true } = change.action
                && !contacts.iter().any(|(pair, _)| *pair == bodies)
            {
                contacts.push((bodies, false));
            }
        }
        let mut gone = vec![false; model.bodies.len()];
        model.elements.iter().flat_map(|element| element.kind.absent()).for_each(|body| gone[body as usize] = true);
        Structure { done: vec![false; model.changes.len()], gone, contacts, ..Structure::default() }
    }

    /// True if two bodies may touch as far as changes go.
    pub fn may_touch(&self, body1: u32, body2: u32) -> bool {
        let pair = (body1.min(body2), body1.max(body2));
        !self.gone[body1 as usize]
            && !self.gone[body2 as usize]
            && self.contacts.iter().find(|(p, _)| *p == pair).is_none_or(|(_, on)| *on)
    }

    /// True for the deletion of a body that has gone already.
    pub fn is_gone(&self, action: ChangeAction) -> bool {
        matches!(action, ChangeAction::Delete(body) if self.gone[body as usize])
    }

    /// A body of no mechanism takes its energy with it.
    pub fn remove(&mut self, model: &Model, body: u32, kin: &Kinematics) {
        if model.bodies[body as usize].mechanism.is_none() {
            let mass = model.bodies[body as usize].mass;
            self.removed += kinetic_of(&model.bodies[body as usize], kin) + mass * model.potential_at(kin.p);
        }
    }

    /// The next change that waits for a time after t [s].
    pub fn next_time(&self, model: &Model) -> f64 {
        let open = model.changes.iter().zip(&self.done).filter(|(_, done)| !**done);
        open.filter_map(|(change, _)| change.at).fold(f64::INFINITY, f64::min)
    }
}

/// What a change works on.
pub struct Parts<'a> {
    /// The model.
    pub model: &'a Model,
    /// Now [s].
    pub time: f64,
    /// Mechanisms.
    pub machines: &'a mut [MachineRecord],
    /// Elements.
    pub actions: &'a mut ActionRecord,
    /// What changes have made of the model.
    pub structure: &'a mut Structure,
    /// Motion of every body's centre of mass.
    pub motion: &'a dyn Fn(u32) -> Kinematics,
}

impl Parts<'_> {
    /// Makes a change. The motion of a body that is deleted and belongs to no mechanism is the caller's.
    pub fn make(&mut self, action: ChangeAction) {
        let model = self.model;
        let place = |joint: u32| model.joints[joint as usize].place;
        match action {
            ChangeAction::Attach(joint) => {
                if let Some(JointPlace::Loop { mechanism, index }) = place(joint) {
                    self.attach(mechanism as usize, index as usize);
                }
            }
            ChangeAction::Release(joint) => {
                if let Some(JointPlace::Loop { mechanism, index }) = place(joint) {
                    let active = &mut self.machines[mechanism as usize].active;
                    if let Some(active) = active.get_mut(index as usize) {
                        *active = false;
                    }
                }
            }
            ChangeAction::Lock(joint) | ChangeAction::Unlock(joint) => {
                if let Some(JointPlace::Link { mechanism, link }) = place(joint) {
                    let link = &model.mechanisms[mechanism as usize].links[link as usize];
                    let lock = matches!(action, ChangeAction::Lock(_));
                    self.machines[mechanism as usize].locked[link.first..link.first + link.count].fill(lock);
                    if lock {
                        self.lose(mechanism as usize);
                    }
                }
            }
            ChangeAction::Delete(body) => self.delete(body),
            ChangeAction::Contact { bodies, on } => {
                match self.structure.contacts.iter_mut().find(|(pair, _)| *pair == bodies) {
                    Some((_, now)) => *now = on,
                    None => self.structure.contacts.push((bodies, on)),
                }
            }
        }
    }

    /// A loop takes hold as things are: frame 2 is where frame 1 is now.
    fn attach(&mut self, mechanism: usize, index: usize) {
        let model = self.model;
        let (m, record) = (&model.mechanisms[mechanism], &mut self.machines[mechanism]);
        let Some(closing) = m.loops.get(index) else { return };
        let (_, kinematics) = placed(model, m, record, self.time);
        let centre = |on: Parent| match on {
            Parent::World => Kinematics::WORLD,
            Parent::Body(body) => prescribed(model, body as usize, self.time),
            Parent::Link(k) => kinematics[k as usize],
        };
        let f1 = centre(closing.sides[0].on).of_frame(closing.sides[0].p, &closing.sides[0].R);
        let body2 = centre(closing.sides[1].on);
        let R = body2.R.transpose();
        record.active[index] = true;
        // a cam touches where it is, not where its origin is
        if matches!(closing.joint, Joint::Cam(_)) {
            return self.lose(mechanism);
        }
        record.held_at[index] = Some((R * (f1.p - body2.p), Quat::from_mat3(&(R * f1.R)).normalize()));
        self.lose(mechanism);
    }

    /// Rates jump to those that locked coordinates and rows allow, with the least change in the metric of the masses: an
    /// inelastic impact. What it costs is booked.
    fn lose(&mut self, mechanism: usize) {
        let model = self.model;
        let (m, record) = (&model.mechanisms[mechanism], &mut self.machines[mechanism]);
        let before = kinetic(model, m, &placed(model, m, record, self.time).1);
        let mut held = m.clone();
        for (i, _) in record.locked.iter().enumerate().filter(|(_, locked)| **locked) {
            let term = Term { coordinate: i, factor: 1.0, start: record.q[i] };
            let coupling = Coupling { terms: vec![term], ..Coupling::default() };
            held.couplings.push(Coupled { name: String::new(), source: CoupledBy::Lock, coupling });
        }
        let mut change = vec![0.0; m.coordinates];
        for _ in 0..2 {
            let (mut work, kinematics) = placed(model, &held, record, self.time);
            let body = |b: u32| inertia(model, b);
            let loads = vec![Six::default(); m.links.len()];
            let (tau, mut u_dot) = (change.clone(), change.clone());
            held.accelerate(&kinematics, body, &loads, &tau, &mut work, &mut u_dot);
            let of = |b: u32| prescribed(model, b as usize, self.time);
            if held.has_one_way_rows() {
                let motion = Standpoint { q: &record.q, u: &record.u, kinematics: &kinematics, of };
                held.find_touching(&motion, false, &mut work);
            }
            held.measure_rows(&record.q, &record.u, &kinematics, of, body, &mut work);
            held.factor_rows(&mut work);
            match held.has_one_way_rows() {
                true => held.stop(&mut work, &record.u, &mut change),
                false => _ = held.correction(true, &mut work, &mut change),
            }
            for (u, c) in record.u.iter_mut().zip(&change) {
                *u += c;
            }
        }
        for (u, locked) in record.u.iter_mut().zip(&record.locked) {
            if *locked {
                *u = 0.0;
            }
        }
        self.structure.fastening += before - kinetic(model, m, &placed(model, m, record, self.time).1);
    }

    /// A body leaves with its energy; what held it or pulled at it is switched off.
    fn delete(&mut self, body: u32) {
        let model = self.model;
        self.structure.gone[body as usize] = true;
        // what springs on it have stored goes with it
        let needs = |k: &usize| model.elements[*k].kind.needs_body(body);
        let gone: Vec<usize> = (0..model.elements.len()).filter(needs).collect();
        self.structure.removed += self.actions.stored(model, &gone, self.time, self.motion);
        gone.iter().for_each(|k| self.actions.on[*k] = false);
        if let Some((mechanism, link)) = model.bodies[body as usize].mechanism {
            let (m, record) = (&model.mechanisms[mechanism as usize], &mut self.machines[mechanism as usize]);
            let (_, kinematics) = placed(model, m, record, self.time);
            let kin = &kinematics[link as usize];
            let mass = model.bodies[body as usize].mass;
            self.structure.removed += kinetic_of(&model.bodies[body as usize], kin) + mass * model.potential_at(kin.p);
            for (k, closing) in m.loops.iter().enumerate() {
                if closing.sides.iter().any(|s| s.on == Parent::Link(link)) {
                    record.active[k] = false;
                }
            }
            let link = &m.links[link as usize];
            record.locked[link.first..link.first + link.count].fill(true);
            record.u[link.first..link.first + link.count].fill(0.0);
        }
    }
}

/// Motion of a mechanism from its record.
pub fn placed(model: &Model, mechanism: &Mechanism, record: &MachineRecord, t: f64) -> (Work, Vec<Kinematics>) {
    let mut work = mechanism.work();
    work.active.clone_from(&record.active);
    work.held_at.clone_from(&record.held_at);
    work.taut[..record.taut.len()].clone_from_slice(&record.taut);
    let mut kinematics = vec![Kinematics::WORLD; mechanism.links.len()];
    let of = |body: u32| prescribed(model, body as usize, t);
    mechanism.place(&record.q, &record.u, &record.bases, of, &mut work, &mut kinematics);
    (work, kinematics)
}

/// Kinetic energy of a mechanism [J].
pub fn kinetic(model: &Model, mechanism: &Mechanism, kinematics: &[Kinematics]) -> f64 {
    mechanism.links.iter().zip(kinematics).map(|(link, kin)| kinetic_of(&model.bodies[link.body as usize], kin)).sum()
}
