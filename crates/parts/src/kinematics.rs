//! Motion of a frame at one instant, and of a body that turns by itself.

use serde::{Deserialize, Serialize};
use tippe_geometry::{Mat3, Quat, Vec3};

/// A body turns at most by this per substep of its free rotation [rad].
const TURN: f64 = 0.1;
/// Substeps of the free rotation at most.
const MOST_TURNS: f64 = 64.0;

/// Motion of one body, at its origin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyState {
    /// Body origin (not the centre of mass), resolved in world [m].
    pub position: Vec3,
    /// Rotation taking body components to world components.
    pub orientation: Quat,
    /// Velocity of the body origin relative to world, resolved in world [m/s].
    pub velocity: Vec3,
    /// Angular velocity relative to world, resolved in world [rad/s].
    pub angular_velocity: Vec3,
}

/// Motion of a frame (of a body: at its centre of mass), resolved in world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kinematics {
    /// Position [m].
    pub p: Vec3,
    /// Velocity of the point of the body at `p` [m/s].
    pub v: Vec3,
    /// Angular velocity [rad/s].
    pub w: Vec3,
    /// R_wb; only kept for bodies whose orientation matters.
    pub R: Mat3,
}

impl Kinematics {
    /// The world's frame.
    pub const WORLD: Kinematics = Kinematics { p: Vec3::ZERO, v: Vec3::ZERO, w: Vec3::ZERO, R: Mat3::IDENTITY };

    /// Motion of a frame fixed in this one at `p_bf` (this frame's axes) with axes `R_bf`.
    pub fn of_frame(&self, p_bf: Vec3, R_bf: &Mat3) -> Kinematics {
        let arm = self.R * p_bf;
        Kinematics { p: self.p + arm, v: self.v + self.w.cross(arm), w: self.w, R: self.R * *R_bf }
    }
}

/// Motion of a body's frame c.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyMotion {
    /// Centre of mass [m].
    pub p: Vec3,
    /// Orientation.
    pub q: Quat,
    /// Velocity of the centre of mass [m/s].
    pub v: Vec3,
    /// Angular velocity [rad/s].
    pub w: Vec3,
}

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
    pub ratio: f64,
}

impl Principal {
    /// Of the inertia about a centre of mass [kg m^2], by Jacobi's rotations.
    pub fn of(I_c: &Mat3, isotropic: bool) -> Principal {
        let mut A = *I_c;
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
        Principal { rotation: Quat::from_mat3(&V).normalize(), moments, isotropic, ratio }
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

/// The turning frame a body's orientation is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Orientation at the frame's time.
    pub rotation: Quat,
    /// Constant rate of the frame [rad/s].
    pub rate: Vec3,
}

impl Frame {
    /// The frame's orientation after `time` [s].
    pub fn at(&self, time: f64) -> Quat {
        let speed = self.rate.length();
        if speed == 0.0 {
            return self.rotation;
        }
        let (s, c) = libm::sincos(0.5 * speed * time);
        let v = self.rate * (s / speed);
        Quat::from_xyzw(v.x, v.y, v.z, c) * self.rotation
    }

    /// Orientation of the body: the frame turned by g.
    pub fn orientation(&self, time: f64, g: Vec3) -> Quat {
        turned(g, self.at(time))
    }
}

/// E(g) q.
pub fn turned(g: Vec3, q: Quat) -> Quat {
    if g == Vec3::ZERO {
        return q;
    }
    (Quat::from_xyzw(g.x, g.y, g.z, 1.0) * q).normalize()
}

/// g' of a frame that turns at `rate` while the body turns at w.
pub fn gibbs_rate(g: Vec3, w: Vec3, rate: Vec3) -> Vec3 {
    let w_rel = w - turned_vector(g, rate);
    0.5 * (w_rel + w_rel.cross(g) + w_rel.dot(g) * g)
}

/// E(g) x.
fn turned_vector(g: Vec3, x: Vec3) -> Vec3 {
    if g == Vec3::ZERO {
        return x;
    }
    let t = 2.0 / (1.0 + g.length_squared()) * g.cross(x);
    x + t + g.cross(t)
}

/// The rotation vector of R.
pub fn rotation_vector(R: &Mat3) -> Vec3 {
    let q = Quat::from_mat3(R);
    let (v, w) = if q.w < 0.0 { (-q.xyz(), -q.w) } else { (q.xyz(), q.w) };
    let s = v.length();
    if s < 1e-8 {
        // angle/sin(angle/2) = 2 (1 + s^2/6 ...)
        return v * (2.0 + s * s / 3.0);
    }
    v * (2.0 * libm::atan2(s, w) / s)
}
