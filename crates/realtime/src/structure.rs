//! Structural changes in a step: attach, release, lock, unlock, delete, contact on and off.

use super::{BodyMotion, Clock};
use tippe_geometry::{Quat, Vec3};
use tippe_mechanics::cause::Cause;
use tippe_mechanics::event::{Event, EventKind};
use tippe_mechanics::feed::Feeding;
use tippe_mechanics::model::ChangeAction;
use tippe_mechanics::structure::Parts;

impl Clock {
    /// Joints whose reaction in this step passed what they bear let go.
    pub(super) fn break_joints(&mut self) {
        for (m, mechanism) in self.model.mechanisms.iter().enumerate() {
            for (l, closing) in mechanism.loops.iter().enumerate() {
                let joint = &self.model.joints[closing.source as usize];
                if !self.state.machines[m].active[l] || joint.breaking == [f64::INFINITY; 2] {
                    continue;
                }
                let machine = &self.machines[m];
                let mut on = machine.added[mechanism.links.len() + l];
                if machine.smooth {
                    on = on + machine.loop_reactions[l];
                }
                if on.linear.length() > joint.breaking[0] || on.angular.length() > joint.breaking[1] {
                    self.state.machines[m].active[l] = false;
                    self.state.machines[m].counted = None;
                    self.state.still.fill(0);
                    let (time, source) = (self.state.time + self.h, Some(joint.name.clone()));
                    self.shown.events.push(Event { time, kind: EventKind::Change, source, contact: None });
                }
            }
        }
    }

    /// Elements of cables come in, or go, as their leads ask for.
    pub(super) fn feed_cables(&mut self) {
        for element in 0..self.model.elements.len() {
            let model = self.model.clone();
            let kind = &model.elements[element].kind;
            for (end, out) in (0..kind.watched()).filter_map(|which| kind.feeds_by(which)) {
                self.feed(element as u32, end, out);
            }
        }
    }

    fn feed(&mut self, element: u32, end: usize, out: bool) {
        loop {
            let motions: Vec<_> = (0..self.model.bodies.len()).map(|b| self.motion(b)).collect();
            let motion = |b: u32| motions[b as usize];
            let (model, state) = (&self.model, &mut self.state);
            let (time, actions, structure) = (state.time, &mut state.actions, &mut state.structure);
            let (lost, removed) = (structure.fastening, structure.removed);
            let fed = Feeding { model, time, actions, structure, motion: &motion }.feed(element, end, out);
            let Some((body, kin)) = fed else { return };
            state.ledger[Cause::Fastening] += state.structure.fastening - lost;
            state.ledger[Cause::Work] -= state.structure.removed - removed;
            let still = if out { 1.0 } else { 0.0 };
            let q = Quat::from_mat3(&kin.R).normalize();
            state.bodies[body as usize] = BodyMotion { p: kin.p, q, v: kin.v * still, w: kin.w * still };
            state.still.fill(0);
            let kind = if out { EventKind::PayOut } else { EventKind::TakeIn };
            let source = Some(self.model.elements[element as usize].name.clone());
            self.shown.events.push(Event { time, kind, source, contact: None });
        }
    }

    /// Makes the changes whose time has come, or whose condition rose through zero in the last step.
    pub(super) fn restructure(&mut self) {
        let (model, time) = (&self.model.clone(), self.state.time);
        for (k, change) in model.changes.iter().enumerate() {
            let timely = change.at.is_some_and(|at| at <= time + 1e-9 * self.h);
            if self.state.structure.done[k] || !(timely || self.state.elements.due[k]) {
                continue;
            }
            let motions: Vec<_> = (0..model.bodies.len()).map(|b| self.motion(b)).collect();
            let stored = self.stored();
            let state = &mut self.state;
            state.structure.done[k] = true;
            state.actions.done[k] = true;
            // a body goes once
            let gone = state.structure.is_gone(change.action);
            let (lost, removed) = (state.structure.fastening, state.structure.removed);
            let (machines, actions, structure) = (&mut state.machines, &mut state.actions, &mut state.structure);
            if !gone {
                let motion = |b: u32| motions[b as usize];
                Parts { model, time, machines, actions, structure, motion: &motion }.make(change.action);
            }
            if let ChangeAction::Delete(body) = change.action
                && !gone
            {
                let kin = self.motion(body as usize);
                let state = &mut self.state;
                state.structure.remove(model, body, &kin);
                (state.bodies[body as usize].v, state.bodies[body as usize].w) = (Vec3::ZERO, Vec3::ZERO);
            }
            let taken = stored - self.stored();
            let state = &mut self.state;
            state.ledger.elastic -= taken;
            state.ledger[Cause::Fastening] += state.structure.fastening - lost;
            state.ledger[Cause::Work] -= state.structure.removed - removed;
            // what rested may have lost what it rested on
            state.still.fill(0);
            let source = Some(change.name.clone());
            self.shown.events.push(Event { time, kind: EventKind::Change, source, contact: None });
        }
    }
}
