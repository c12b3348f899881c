//! What an impulse changes at once: velocities of bodies, and rates of the coordinates of the trees that hold them.

use super::Clock;
use tippe_mechanics::joint::Six;

/// Velocities per impulse.
#[derive(Clone, Debug, Default)]
pub struct Kicks {
    /// Bodies, with {w, v}.
    pub bodies: Vec<(usize, Six)>,
    /// Coordinates, as mechanism and place in it.
    pub coordinates: Vec<(usize, usize, f64)>,
}

impl Clock {
    /// What an impulse along these ends changes, each a free body and the derivative of a rate by its velocities; loops are
    /// taken as open. Returns how much that rate changes.
    pub(super) fn kicks_of(&mut self, ends: &[(usize, Six)], kicks: &mut Kicks) -> f64 {
        let model = &self.model.clone();
        kicks.bodies.clear();
        kicks.coordinates.clear();
        for (k, &(b, J)) in ends.iter().enumerate() {
            let Some((m, _)) = model.bodies[b].mechanism else {
                kicks.bodies.push((b, self.kick_alone(b, J)));
                continue;
            };
            // the links of one mechanism answer together, once
            let link = |&(b, J): &(usize, Six)| {
                let (own, link) = model.bodies[b].mechanism?;
                (own == m).then_some((link as usize, J))
            };
            if ends[..k].iter().any(|end| link(end).is_some()) {
                continue;
            }
            let m = m as usize;
            let (mechanism, machine) = (&model.mechanisms[m], &mut self.machines[m]);
            machine.answer_to(mechanism, ends.iter().filter_map(link));
            let links = mechanism.links.iter().map(|link| link.body as usize);
            kicks.bodies.extend(links.zip(machine.motions.iter().copied()));
            kicks.coordinates.extend(machine.stage_u.iter().enumerate().map(|(i, rate)| (m, i, *rate)));
        }
        let of_body = |b: usize| kicks.bodies.iter().filter(move |(other, _)| *other == b);
        ends.iter().map(|&(b, J)| of_body(b).map(|(_, kick)| J.dot(kick)).sum::<f64>()).sum()
    }

    /// {w, v} that an impulse gives to a body that nothing holds.
    pub(super) fn kick_alone(&self, b: usize, J: Six) -> Six {
        let (body, R) = (&self.model.bodies[b], self.paths[b].kin.R);
        Six::new(R * (body.I_c_inverse * (R.transpose() * J.angular)), J.linear / body.mass)
    }
}
