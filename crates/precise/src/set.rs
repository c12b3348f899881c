//! What a program sets between two stretches of a run: numbers from outside, motion of bodies and joints.

use super::failure::Failure;
use super::settings::Settings;
use super::{Clock, State};
use tippe_geometry::Mat3;
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::model::Model;
use tippe_mechanics::model::kinetic;
use tippe_mechanics::set::Set;

impl State {
    /// Sets things where the run has come to. A stretch of a run does not end where the clock stands, it is only looked at up to there: here it
    /// does end, so that a run on which something is set is not bit by bit that on which it is not. Memories of contacts of bodies that are set
    /// are forgotten; kinetic and potential energy that comes with it is booked as work.
    pub fn set(&mut self, model: &Model, settings: &Settings, sets: &[Set]) -> Result<(), Failure> {
        let mut clock = Clock::resume(model, self, settings);
        let now = self.recorded.unwrap_or(0.0).max(self.time);
        clock.come_to(now)?;
        clock.take_apart_all();
        for set in sets {
            clock.set(set);
        }
        clock.reach();
        clock.regroup();
        clock.finish(self).map(|_| ())
    }
}

impl Clock<'_> {
    /// Ends the horizon at `now`, up to which all has been recorded.
    fn come_to(&mut self, now: f64) -> Result<(), Failure> {
        loop {
            self.restructure(&mut ());
            self.reach();
            self.regroup();
            self.advance(now, &mut ());
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            if self.last {
                self.outcomes.clear();
                self.time = now;
                return Ok(());
            }
            self.record(now, &mut ());
        }
    }

    fn set(&mut self, set: &Set) {
        let model = self.model;
        match *set {
            Set::Input { input, value } => {
                if let Some((input, state)) = model.signal_inputs().nth(input) {
                    let [low, high] = input.limits;
                    self.actions.states[state] = value.clamp(low, high);
                }
            }
            Set::Body { body, motion } => {
                let arm = motion.orientation * model.bodies[body].p_bc;
                for (_, own) in self.loose_motions.iter_mut().filter(|(b, _)| *b as usize == body) {
                    let energy = |p, v, w, q| {
                        let kin = Kinematics { p, v, w, R: Mat3::from_quat(q) };
                        kinetic(&model.bodies[body], &kin) + model.bodies[body].mass * model.potential_at(p)
                    };
                    let before = energy(own.p, own.v, own.w, own.q);
                    own.p = motion.position + arm;
                    own.q = motion.orientation;
                    own.v = motion.velocity + motion.angular_velocity.cross(arm);
                    own.w = motion.angular_velocity;
                    self.structure.removed -= energy(own.p, own.v, own.w, own.q) - before;
                }
                self.forget(&[body as u32]);
            }
            Set::Coordinate { mechanism, coordinate, value, rate } => {
                let before = self.mechanism_energy(mechanism);
                self.machines[mechanism].q[coordinate] = value;
                self.machines[mechanism].u[coordinate] = rate;
                self.structure.removed -= self.mechanism_energy(mechanism) - before;
                let bodies: Vec<u32> = model.mechanisms[mechanism].links.iter().map(|link| link.body).collect();
                self.forget(&bodies);
            }
        }
    }

    /// Contacts of these bodies begin anew.
    fn forget(&mut self, bodies: &[u32]) {
        let elements = &self.model.colliders;
        let of = |element: u32| bodies.contains(&elements[element as usize].body);
        self.loose_pairs.retain(|pair| !of(pair.id.0) && !of(pair.id.1));
    }
}
