//! What a program sets between two steps: numbers from outside, motion of bodies and joints.

use super::{BodyMotion, Clock};
use tippe_mechanics::cause::Cause;
use tippe_mechanics::model::kinetic;
use tippe_mechanics::set::Set;

impl Clock {
    /// Sets things. Memories of contacts of bodies that are set are forgotten; kinetic and potential energy that comes with it is booked as
    /// work. Inputs that are set here are not told to the observer; those of a [`super::Hook`] are.
    pub fn set(&mut self, sets: &[Set]) {
        let before = self.energy_of_motion();
        for set in sets {
            match *set {
                Set::Input { input, value } => {
                    if let Some(&(state, [low, high])) = self.heard.inputs.get(input) {
                        self.state.actions.states[state] = value.clamp(low, high);
                    }
                }
                Set::Body { body, motion } => {
                    let (q, w) = (motion.orientation, motion.angular_velocity);
                    let arm = q * self.model.bodies[body].p_bc;
                    self.state.bodies[body] =
                        BodyMotion { p: motion.position + arm, q, v: motion.velocity + w.cross(arm), w };
                    self.forget(&[body as u32]);
                }
                Set::Coordinate { mechanism, coordinate, value, rate } => {
                    self.state.machines[mechanism].q[coordinate] = value;
                    self.state.machines[mechanism].u[coordinate] = rate;
                    let bodies: Vec<u32> =
                        self.model.mechanisms[mechanism].links.iter().map(|link| link.body).collect();
                    self.forget(&bodies);
                }
            }
        }
        self.place();
        // whatever was set may move what is at rest
        self.state.still.fill(0);
        self.state.ledger[Cause::Work] += self.energy_of_motion() - before;
    }

    /// Kinetic and potential energy of all free bodies [J].
    fn energy_of_motion(&self) -> f64 {
        let free = (0..self.model.bodies.len()).filter(|&b| self.is_free(b));
        free.map(|b| {
            let (body, kin) = (&self.model.bodies[b], self.motion(b));
            kinetic(body, &kin) + body.mass * self.model.potential_at(kin.p)
        })
        .sum()
    }

    /// Contacts of these bodies begin anew.
    fn forget(&mut self, bodies: &[u32]) {
        let elements = &self.model.colliders;
        let of = |pair: (u32, u32)| [pair.0, pair.1].iter().any(|e| bodies.contains(&elements[*e as usize].body));
        self.state.contacts.retain(|memory| !of(memory.pair));
        self.state.holds.retain(|hold| !of(hold.pair));
    }
}
