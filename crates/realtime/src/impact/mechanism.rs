//! Impacts on bodies of mechanisms: what they do to coordinates and rates.

use super::Clock;
use tippe_mechanics::joint::Six;
use tippe_mechanics::mechanism::Parent;
use tippe_mechanics::model::prescribed;

impl Clock {
    /// Rates of a mechanism from the velocities that impacts left its bodies.
    pub(super) fn strike_machine(&mut self, k: usize) {
        let mechanism = &self.model.mechanisms[k];
        if !mechanism.links.iter().any(|l| self.paths[l.body as usize].struck) {
            return;
        }
        let mut u = std::mem::take(&mut self.state.machines[k].u);
        self.along_coordinates(k, |b| self.paths[b].velocity(), &mut u);
        self.state.machines[k].u = u;
        let (model, t) = (&self.model.clone(), self.state.time);
        let record = &self.state.machines[k];
        let machine = &mut self.machines[k];
        let of = |body: u32| prescribed(model, body as usize, t);
        mechanism.place(&record.q, &record.u, &record.bases, of, &mut machine.work, &mut machine.kinematics);
    }

    /// What impacts on its bodies add to the coordinates of a mechanism.
    pub(crate) fn displace_coordinates(&mut self, k: usize) {
        let mechanism = &self.model.mechanisms[k];
        let mut hop = std::mem::take(&mut self.machines[k].hop);
        hop.fill(0.0);
        if mechanism.links.iter().any(|l| self.paths[l.body as usize].struck) {
            self.along_coordinates(k, |b| self.paths[b].impact_displacement, &mut hop);
        }
        self.machines[k].hop = hop;
    }

    /// Motions of bodies as motions of the coordinates of mechanism `k`.
    fn along_coordinates(&self, k: usize, motion: impl Fn(usize) -> Six, out: &mut [f64]) {
        let mechanism = &self.model.mechanisms[k];
        let machine = &self.machines[k];
        for (l, link) in mechanism.links.iter().enumerate() {
            let parent = match link.parent {
                Parent::World => Six::ZERO,
                Parent::Body(b) => motion(b as usize),
                Parent::Link(p) => motion(mechanism.links[p as usize].body as usize),
            };
            let own = motion(link.body as usize);
            let r = machine.work.links[l].r;
            let relative = Six::new(own.angular - parent.angular, own.linear - parent.linear - parent.angular.cross(r));
            for i in link.first..link.first + link.count {
                out[i] = machine.dual[i].dot(&relative);
            }
        }
    }
}
