//! Structural changes in a step: attach, release, lock, unlock, delete, contact on and off.

use super::Clock;
use tippe_geometry::Vec3;
use tippe_mechanics::cause::Cause;
use tippe_mechanics::event::{Event, EventKind};
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

    /// Makes the changes whose time has come, or whose condition rose through zero in the last step.
    pub(super) fn restructure(&mut self) {
        let (model, time) = (&self.model.clone(), self.state.time);
        for (k, change) in model.changes.iter().enumerate() {
            let timely = change.at.is_some_and(|at| at <= time + 1e-9 * self.h);
            if self.state.structure.done[k] || !(timely || self.state.elements.due[k]) {
                continue;
            }
            let state = &mut self.state;
            state.structure.done[k] = true;
            state.actions.done[k] = true;
            // a body goes once
            let gone = state.structure.is_gone(change.action);
            let (lost, removed) = (state.structure.fastening, state.structure.removed);
            let (machines, actions, structure) = (&mut state.machines, &mut state.actions, &mut state.structure);
            if !gone {
                Parts { model, time, machines, actions, structure }.make(change.action);
            }
            if let ChangeAction::Delete(body) = change.action
                && !gone
            {
                let kin = self.motion(body as usize);
                let state = &mut self.state;
                state.structure.remove(model, body, &kin);
                (state.bodies[body as usize].v, state.bodies[body as usize].w) = (Vec3::ZERO, Vec3::ZERO);
            }
            let state = &mut self.state;
            state.ledger[Cause::Fastening] += state.structure.fastening - lost;
            state.ledger[Cause::Work] -= state.structure.removed - removed;
            // what rested may have lost what it rested on
            state.still.fill(0);
            let source = Some(change.name.clone());
            self.shown.events.push(Event { time, kind: EventKind::Change, source, contact: None });
        }
    }
}
