//! Who may be to blame where an island cannot go on.

use super::Island;
use crate::failure::{Failure, Trouble};
use tippe_mechanics::model::Model;

impl Island {
    /// Why the island cannot go on at this time [s] with this step [s], and who may be to blame.
    pub(super) fn failure(&self, model: &Model, time: f64, step: f64, trouble: Trouble) -> Failure {
        let body = self.dynamics.bodies[self.dynamics.worst] as usize;
        let pair = self
            .dynamics
            .pairs
            .iter()
            .filter(|p| p.last.gap <= 0.0)
            .max_by(|a, b| a.last.force.total().total_cmp(&b.last.force.total()));
        let held = self.dynamics.link_of[self.dynamics.worst].and_then(|(machine, link)| {
            let mechanism = &model.mechanisms[self.dynamics.machines[machine as usize].index as usize];
            mechanism.links[link as usize].source
        });
        let acts = |element: u32| {
            let attached = model.elements[element as usize].kind.attached();
            let mechanism = model.bodies[body].mechanism.map(|(m, _)| m);
            attached.frames.iter().any(|a| a.body == Some(body as u32))
                || attached.coordinates.iter().any(|at| Some(at.mechanism) == mechanism)
        };
        let element = (self.dynamics.actions.elements.iter().filter(|l| acts(l.element)))
            .max_by(|a, b| a.effect.effort.abs().total_cmp(&b.effect.effort.abs()));
        let mut suspects = Vec::new();
        if let Some(p) = pair {
            let name = |e: u32| &model.bodies[model.colliders[e as usize].body as usize].name;
            let (a, b, depth) = (name(p.id.0), name(p.id.1), -p.last.gap);
            suspects.push(format!("most loaded contact: \"{a}\" and \"{b}\", depth {depth:.3e} m"));
        }
        if let Some(joint) = held {
            suspects.push(format!("it hangs by joint \"{}\"", model.joints[joint as usize].name));
        }
        if let Some(local) = element {
            let name = &model.elements[local.element as usize].name;
            suspects.push(format!("\"{name}\" acts on it with {:.3e} N or N m", local.effect.effort));
        }
        // a state that is lost, or the one that held the step back
        let lost = |k: &usize| {
            let at = self.dynamics.actions.state_at[*k];
            at != usize::MAX && !(self.stepper.y0[at].is_finite() && self.stepper.y1[at].is_finite())
        };
        let state = (0..self.dynamics.actions.state_at.len()).find(lost).or(self.dynamics.worst_state);
        if let Some(k) = state {
            let (name, at) = (&model.states[k].name, self.dynamics.actions.state_at[k]);
            suspects = vec![format!("its state {name} is {:.6e}", self.stepper.y0[at])];
        }
        let component = state.map(|k| model.states[k].owner.clone());
        let contacts = !self.dynamics.pairs.is_empty();
        Failure { time, step, trouble, body: model.bodies[body].name.clone(), component, suspects, contacts }
    }
}
