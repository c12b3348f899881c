//! Motion without rows: gravity, loads, and velocity products, to high order where it is smooth.

use super::Clock;
use tippe_geometry::{Mat3, Quat, Vec3};
use tippe_mechanics::joint::Six;
use tippe_mechanics::model::Drive;

/// A body tumbles where its turn in a step, times the ratio of its moments of inertia, is more than this [rad].
const TUMBLE: f64 = 1e-6;
/// A body is slender where its turn in a step, times the ratio of its moments of inertia, is more than this [rad].
const SLENDER: f64 = 0.5;

impl Clock {
    /// True of a free body that turns so far in a step that momentum given to it at the beginning would be another velocity at the end: a rod that is
    /// kept from rocking would spin about its axis.
    pub(super) fn is_slender(&self, body: usize) -> bool {
        self.winds(body) > SLENDER
    }

    /// True of a free body that has an orientation of its own.
    pub(super) fn turns(&self, body: usize) -> bool {
        let own = &self.model.bodies[body];
        own.oriented && own.mechanism.is_none() && own.drive == Drive::Free
    }

    /// Turn of a free body in a step, times the ratio of its moments of inertia [rad].
    fn winds(&self, body: usize) -> f64 {
        if self.turns(body) { self.kin[body].w.length() * self.h * self.principal[body].ratio } else { 0.0 }
    }

    /// True of a free body whose angular velocity changes, by its momentum, on the way to an impact.
    pub(super) fn tumbles(&self, body: usize) -> bool {
        self.winds(body) > TUMBLE && !self.model.bodies[body].isotropic
    }

    /// Orientation in which a body has the velocity that impacts left it: those that tumble go on from that of the last.
    pub(super) fn base(&self, body: usize) -> Mat3 {
        self.swung[body].map_or(self.kin[body].R, |q| Mat3::from_quat(q))
    }

    /// Orientation of a body in which rows act on it: that of the step's beginning, of slender ones that of their last impact in it, or of its end where their
    /// arms are those of columns there.
    pub(super) fn stance(&self, body: usize) -> Mat3 {
        match (self.is_slender(body), self.ahead[body]) {
            (true, true) => Mat3::from_quat(self.turned[body]),
            (true, false) => self.base(body),
            _ => self.kin[body].R,
        }
    }

    /// Velocities without rows, as rows see them: at the end of the step, of slender bodies in their stance. There momentum is given, and they turn on by it.
    pub(super) fn stood(&self, body: usize) -> Six {
        let u = self.coasted[body];
        match self.is_slender(body) && !self.ahead[body] {
            true => Six::new(self.kin[body].w + self.spun_up(body), u.linear),
            false => u,
        }
    }

    /// What tumbling took from the angular velocity of a body in the step, as rows see it [rad/s].
    pub(super) fn tumbled_from(&self, body: usize) -> Vec3 {
        match self.tumbles(body) {
            true => self.kin[body].w + self.spun_up(body) - self.stood(body).angular,
            false => Vec3::ZERO,
        }
    }

    /// What loads add to the angular velocity of a body in a step [rad/s].
    pub(super) fn spun_up(&self, body: usize) -> Vec3 {
        let (own, R) = (&self.model.bodies[body], &self.kin[body].R);
        *R * (own.I_c_inverse * (R.transpose() * self.loads[body].angular)) * self.h
    }

    /// Orientation and angular velocity at the end of the step of a body that turns freely from where the last impact left it, if one did.
    pub(super) fn turned_by(&self, body: usize, w: Vec3) -> (Quat, Vec3) {
        let (q, time) = match self.swung[body] {
            Some(q) => (q, self.h - self.struck_at),
            None => (self.state.bodies[body].q, self.h),
        };
        self.principal[body].turn(q, w, time)
    }

    /// Velocities and orientations at the end of the step without rows.
    pub(super) fn coast(&mut self) {
        let h = self.h;
        for b in 0..self.model.bodies.len() {
            let body = &self.model.bodies[b];
            let kin = &self.kin[b];
            self.coasted[b] = Six::new(kin.w, kin.v);
            if !self.is_free(b) || body.mechanism.is_some() {
                continue;
            }
            let (q, w) = self.turned_by(b, kin.w);
            self.turned[b] = q;
            let load = self.loads[b];
            let v = kin.v + (self.model.gravity_at(kin.p) + load.linear / body.mass) * h;
            self.coasted[b] = Six::new(w + self.spun_up(b), v);
        }
        for k in 0..self.machines.len() {
            self.coast_machine(k);
        }
    }
}
