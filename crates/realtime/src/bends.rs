//! Bends of taut chains: joints between light links under a large tension swing faster than the step resolves. Damping of the rates at which they bend
//! keeps them still, and leaves alone what swings slowly.

use super::Clock;
use super::joints::coordinate_row;
use tippe_geometry::Vec3;
use tippe_geometry::space::any_orthogonal;
use tippe_mechanics::joint::Six;
use tippe_mechanics::mechanism::Parent;

/// Bend-rate damping of taut chains, c = TAUT h^3 T^2/m [-]. Joints that move across a tension T with the mass m, l apart, have lateral stiffness
/// k = T/l, frozen over the step; damping of the bends keeps every lateral mode of a chain of point masses stable where c >= h^3 T^2/(32 m) at each
/// joint. Between links that turn freely m is half of their mass. Rigid links need two and a half times that: chains swing without growth at load ratios
/// of 1e5 and 1e6, by trial.
const TAUT: f64 = 2.5 / 32.0;
impl Clock {
    /// Mass with which the body of link `l` of mechanism `k` meets a push at a point `at`, across a force, the mean of both directions there [kg].
    fn mass_across(&self, k: usize, l: usize, at: Vec3, force: Vec3) -> f64 {
        let body = &self.model.bodies[self.model.mechanisms[k].links[l].body as usize];
        let kin = &self.machines[k].kinematics[l];
        let one = any_orthogonal(force.normalize());
        let other = force.normalize().cross(one);
        let yields = |n: Vec3| {
            let turn = kin.R.transpose() * (at - kin.p).cross(n);
            1.0 / body.mass + turn.dot(body.I_c_inverse * turn)
        };
        2.0 / (yields(one) + yields(other))
    }

    /// Damping of the rates at which links of a taut chain bend, as rows: (child, parent, J of both, compliance). Where a joint moves with something heavy
    /// it swings slowly, and is damped less.
    pub(super) fn bend_rows(&self, k: usize, mut push: impl FnMut([Option<usize>; 2], [Six; 2], f64)) {
        let machine = &self.machines[k];
        if machine.smooth {
            return;
        }
        let (model, h) = (&self.model.clone(), self.h);
        let mechanism = &model.mechanisms[k];
        for (l, link) in mechanism.links.iter().enumerate() {
            let Parent::Link(parent) = link.parent else { continue };
            let tension = machine.reactions[l].linear;
            if tension == Vec3::ZERO {
                continue;
            }
            let m: f64 = [l, parent as usize]
                .into_iter()
                .map(|side| self.mass_across(k, side, machine.work.links[l].origin, tension))
                .sum();
            let c = TAUT * h * h * h * tension.length_squared() / m;
            for i in (0..link.joint.coordinates()).filter(|&i| link.joint.is_rotation(i)) {
                let row = coordinate_row(model, k, l, machine.dual[link.first + i], machine.work.links[l].r);
                push(row.map(|(b, _)| b), row.map(|(_, J)| J), 1.0 / (h * c));
            }
        }
    }
}
