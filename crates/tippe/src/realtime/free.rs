//! Motion without rows: gravity, loads, and velocity products, to high order where it is smooth.

use super::Clock;
use crate::joint::Six;
use crate::model::{Body, Drive};
use tippe_geometry::{Mat3, Quat, Vec3};

/// A body turns at most by this per substep of its free rotation [rad].
const TURN: f64 = 0.1;
/// A body tumbles where its turn in a step, times the ratio of its moments of inertia, is more than this [rad].
const TUMBLE: f64 = 1e-6;
/// A body is slender where its turn in a step, times the ratio of its moments of inertia, is more than this [rad].
const SLENDER: f64 = 0.5;
/// Substeps of the free rotation at most.
const MOST_TURNS: f64 = 64.0;

/// Principal axes of a body.
#[derive(Clone, Copy, Debug)]
pub struct Principal {
    /// Axes in the body's frame.
    pub rotation: Quat,
    /// Moments [kg m^2].
    pub moments: Vec3,
    /// All three are equal: the angular velocity does not change.
    pub isotropic: bool,
    /// The largest over the smallest [-].
    ratio: f64,
}

impl Principal {
    /// Of a body, by Jacobi's rotations.
    pub fn of(body: &Body) -> Principal {
        let mut A = body.I_c;
        let mut V = Mat3::IDENTITY;
        for _ in 0..30 {
            for (p, q) in [(0, 1), (0, 2), (1, 2)] {
                let a = A.col(q)[p];
                if a == 0.0 {
                    continue;
                }
                let theta = (A.col(q)[q] - A.col(p)[p]) / (2.0 * a);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let t = if theta == 0.0 { 1.0 } else { t };
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                let mut G = Mat3::IDENTITY;
                G.col_mut(p)[p] = c;
                G.col_mut(q)[q] = c;
                G.col_mut(q)[p] = s;
                G.col_mut(p)[q] = -s;
                A = G.transpose() * A * G;
                V *= G;
            }
        }
        let moments = Vec3::new(A.x_axis.x, A.y_axis.y, A.z_axis.z);
        let ratio = moments.max_element() / moments.min_element();
        Principal { rotation: Quat::from_mat3(&V).normalize(), moments, isotropic: body.isotropic, ratio }
    }

    /// Orientation and angular velocity after free rotation for a time `h`: the momentum stays, to rounding; turns about the three axes in
    /// turn, each exact, x y z y x (McLachlan 1993).
    pub fn turn(&self, q: Quat, w: Vec3, h: f64) -> (Quat, Vec3) {
        if self.isotropic || w == Vec3::ZERO {
            return (rotated(q, w * h), w);
        }
        let steps = (w.length() * h / TURN).ceil().clamp(1.0, MOST_TURNS);
        let dt = h / steps;
        let mut q = q * self.rotation;
        let L = q * (self.moments * (q.conjugate() * w));
        let mut m = self.moments * (q.conjugate() * w);
        for _ in 0..steps as usize {
            for (axis, share) in [(0, 0.5), (1, 0.5), (2, 1.0), (1, 0.5), (0, 0.5)] {
                let angle = share * dt * m[axis] / self.moments[axis];
                let (s, c) = libm::sincos(0.5 * angle);
                let mut v = Vec3::ZERO;
                v[axis] = s;
                let turn = Quat::from_xyzw(v.x, v.y, v.z, c);
                q *= turn;
                m = turn.conjugate() * m;
            }
        }
        let q = q.normalize();
        let w = q * ((q.conjugate() * L) / self.moments);
        ((q * self.rotation.conjugate()).normalize(), w)
    }
}

/// The orientation turned by a rotation vector resolved in world.
pub fn rotated(q: Quat, turn: Vec3) -> Quat {
    let angle = turn.length();
    if angle == 0.0 {
        return q;
    }
    let (s, c) = libm::sincos(0.5 * angle);
    let v = turn * (s / angle);
    (Quat::from_xyzw(v.x, v.y, v.z, c) * q).normalize()
}

impl Clock<'_> {
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
