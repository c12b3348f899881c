//! Structural changes: attach, release, lock, unlock, delete, contact on and off, without restarting everything.
//!
//! A change happens between two horizons. Only the islands it concerns are taken apart; what they carry is changed, and
//! they are put together again with everybody else.

use super::Clock;
use tippe_geometry::{Mat3, Quat, Vec3};
use tippe_mechanics::event::{Event, EventKind};
use tippe_mechanics::feed::Feeding;
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::model::{ChangeAction, prescribed};
use tippe_mechanics::observe::Observe;
use tippe_mechanics::structure::{Parts, kinetic, placed};

impl Clock<'_> {
    /// Makes the changes that are due.
    pub(super) fn restructure(&mut self, observe: &mut dyn Observe) {
        let due = std::mem::take(&mut self.due);
        for k in due {
            let change = &self.model.changes[k];
            if self.structure.done[k] {
                continue;
            }
            self.structure.done[k] = true;
            self.actions.done[k] = true;
            if change.at.is_some() {
                let source = Some(change.name.clone());
                self.note(&Event { time: self.time, kind: EventKind::Change, source, contact: None }, observe);
            }
            let concerned = self.concerned(change.action);
            self.take_apart(&concerned);
            self.make(change.action);
        }
    }

    /// Free bodies whose islands a change concerns.
    fn concerned(&self, action: ChangeAction) -> Vec<u32> {
        match action {
            ChangeAction::Attach(joint)
            | ChangeAction::Release(joint)
            | ChangeAction::Lock(joint)
            | ChangeAction::Unlock(joint) => self.model.joints[joint as usize].bodies.into_iter().flatten().collect(),
            ChangeAction::Delete(body) => vec![body],
            ChangeAction::Contact { bodies, .. } => vec![bodies.0, bodies.1],
        }
    }

    /// All islands hand over what they carry.
    pub(super) fn take_apart_all(&mut self) {
        let all: Vec<u32> = (0..self.model.bodies.len() as u32).collect();
        self.take_apart(&all);
    }

    /// Kinetic and potential energy of a mechanism whose islands were taken apart [J].
    pub(super) fn mechanism_energy(&self, mechanism: usize) -> f64 {
        let (model, m) = (self.model, &self.model.mechanisms[mechanism]);
        let (_, kinematics) = placed(model, m, &self.machines[mechanism], self.time);
        let potential = |body: u32, kin: &Kinematics| model.bodies[body as usize].mass * model.potential_at(kin.p);
        kinetic(model, m, &kinematics)
            + m.links.iter().zip(&kinematics).map(|(link, kin)| potential(link.body, kin)).sum::<f64>()
    }

    /// Islands of these bodies hand over what they carry.
    fn take_apart(&mut self, bodies: &[u32]) {
        let islands = std::mem::take(&mut self.islands);
        for mut island in islands {
            if !bodies.iter().any(|b| island.dynamics.bodies.binary_search(b).is_ok()) {
                self.islands.push(island);
                continue;
            }
            let (motions, pairs) = island.harvest(self.model, self.time, &mut self.machines, &mut self.actions);
            self.loose_motions.extend(island.dynamics.bodies.iter().copied().zip(motions));
            self.loose_pairs.extend(pairs);
        }
    }

    /// Elements of cables come in, or go, whose leads have asked for it.
    pub(super) fn feed_cables(&mut self, observe: &mut dyn Observe) {
        for (element, which) in std::mem::take(&mut self.feeding) {
            let kind = &self.model.elements[element as usize].kind;
            let frames = kind.attached().frames;
            let bodies: Vec<u32> = frames.iter().filter_map(|anchor| anchor.body).collect();
            self.take_apart(&bodies);
            if let Some((end, out)) = kind.feeds_by(which) {
                self.feed(element, end, out, observe);
            }
        }
    }

    /// Motion of the centres of mass of all bodies of islands that were taken apart, and of those whose motion is given.
    fn motions(&self) -> Vec<Kinematics> {
        let (model, time) = (self.model, self.time);
        let loose = &self.loose_motions;
        let machines: Vec<Vec<Kinematics>> =
            model.mechanisms.iter().zip(&self.machines).map(|(m, record)| placed(model, m, record, time).1).collect();
        (0..model.bodies.len())
            .map(|b| match (model.bodies[b].mechanism, loose.iter().find(|(body, _)| *body as usize == b)) {
                (Some((m, link)), _) => machines[m as usize][link as usize],
                (None, Some((_, s))) => Kinematics { p: s.p, v: s.v, w: s.w, R: Mat3::from_quat(s.q) },
                (None, None) => prescribed(model, b, time),
            })
            .collect()
    }

    fn feed(&mut self, element: u32, end: usize, out: bool, observe: &mut dyn Observe) {
        let (model, time) = (self.model, self.time);
        let mut own = self.motions();
        loop {
            let (actions, structure) = (&mut self.actions, &mut self.structure);
            let motion = |b: u32| own[b as usize];
            let fed = Feeding { model, time, actions, structure, motion: &motion }.feed(element, end, out);
            let Some((body, kin)) = fed else { return };
            own[body as usize] = kin;
            let still = if out { 1.0 } else { 0.0 };
            for (_, motion) in self.loose_motions.iter_mut().filter(|(b, _)| *b == body) {
                (motion.p, motion.q) = (kin.p, Quat::from_mat3(&kin.R).normalize());
                (motion.v, motion.w, motion.a) = (kin.v * still, kin.w * still, Vec3::ZERO);
            }
            let kind = if out { EventKind::PayOut } else { EventKind::TakeIn };
            let source = Some(model.elements[element as usize].name.clone());
            self.note(&Event { time, kind, source, contact: None }, observe);
        }
    }

    fn make(&mut self, action: ChangeAction) {
        let (model, time) = (self.model, self.time);
        if self.structure.is_gone(action) {
            return;
        }
        let motions = self.motions();
        let motion = |b: u32| motions[b as usize];
        let (machines, actions, structure) = (&mut self.machines, &mut self.actions, &mut self.structure);
        Parts { model, time, machines, actions, structure, motion: &motion }.make(action);
        if let ChangeAction::Delete(body) = action {
            for (_, motion) in self.loose_motions.iter_mut().filter(|(b, _)| *b == body) {
                let kin = Kinematics { p: motion.p, v: motion.v, w: motion.w, R: Mat3::from_quat(motion.q) };
                self.structure.remove(model, body, &kin);
                motion.v = Vec3::ZERO;
                motion.w = Vec3::ZERO;
                motion.a = Vec3::ZERO;
            }
        }
    }
}
