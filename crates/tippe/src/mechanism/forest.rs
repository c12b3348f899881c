//! Forests of bodies in joint coordinates: motion from base to tips, forward dynamics by articulated bodies, O(n).
//!
//! Everything is resolved in world axes. The point of a body is its centre of mass, its motion {w, v}, its acceleration
//! {alpha, a} the ordinary one of that point. With r from the parent's centre of mass to the body's,
//!   alpha = alpha_p             + sum S_k.angular u_k' + zeta.angular
//!   a     = a_p + alpha_p x r   + sum S_k.linear u_k'  + zeta.linear
//! and with the articulated inertia I = [J H; H^T M] and bias force p of the body and everything behind it
//! (Featherstone 2008, 7.3; his spatial acceleration differs from ours by w x v, which is part of zeta here)
//!   U = I S,   D = S^T U,   e = tau - S^T p,   I_a = I - U D^-1 U^T,   p_a = p + I_a zeta + U D^-1 e
//! are handed to the parent, shifted by r, and u' = D^-1 (e - U^T a') follows from base to tips. With D = L L^T the
//! columns of U are kept as U L^-T.

use super::{Mechanism, Mode, Parent, Work};
use crate::joint::Six;
use crate::kinematics::Kinematics;
use tippe_geometry::{Mat3, Quat, Vec3};

/// Articulated inertia [J H; H^T M]: {torque, force} from {alpha, a}.
#[derive(Clone, Copy, Debug, Default)]
struct Inertia {
    J: Mat3,
    H: Mat3,
    M: Mat3,
}

impl Inertia {
    fn times(&self, x: Six) -> Six {
        Six {
            angular: self.J * x.angular + self.H * x.linear,
            linear: self.H.transpose() * x.angular + self.M * x.linear,
        }
    }

    /// I - y y^T/d.
    fn reduce(&mut self, y: Six, d: f64) {
        let (a, l) = (y.angular / d, y.linear / d);
        self.J -= outer(y.angular, a);
        self.H -= outer(y.angular, l);
        self.M -= outer(y.linear, l);
    }

    /// The same inertia at a point from which this one's lies at r:
    /// M' = M, H' = H + r~ M, J' = J + r~ H^T - H' r~.
    fn add_shifted(&mut self, inner: &Inertia, r: Vec3) {
        let H = inner.H + cross_columns(r, &inner.M);
        self.M += inner.M;
        self.H += H;
        // H' r~ = -(r~ H'^T)^T
        self.J += inner.J + cross_columns(r, &inner.H.transpose()) + cross_columns(r, &H.transpose()).transpose();
    }
}

fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// r~ A.
fn cross_columns(r: Vec3, A: &Mat3) -> Mat3 {
    Mat3::from_cols(r.cross(A.x_axis), r.cross(A.y_axis), r.cross(A.z_axis))
}

/// What is known of one link at one instant.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkMotion {
    /// From the parent's centre of mass to this one's [m].
    pub r: Vec3,
    /// Acceleration that needs no force of the joint [rad/s^2, m/s^2].
    zeta: Six,
    inertia: Inertia,
    /// Bias force.
    p: Six,
    /// Acceleration {alpha, a} of the centre of mass [rad/s^2, m/s^2].
    pub a: Six,
    /// Origin of frame 2 [m].
    pub origin: Vec3,
    /// Axes of frame 1.
    pub R_w1: Mat3,
}

impl Mechanism {
    /// Motion of all bodies from coordinates and rates, base to tips. `bases` are the orientations joints with three
    /// rotations start from, by link; `of` is the motion of a body that is not free.
    pub fn place(
        &self,
        q: &[f64],
        u: &[f64],
        bases: &[Quat],
        of: impl Fn(u32) -> Kinematics,
        work: &mut Work,
        out: &mut [Kinematics],
    ) {
        for (k, link) in self.links.iter().enumerate() {
            let parent = match link.parent {
                Parent::World => Kinematics::WORLD,
                Parent::Body(body) => of(body),
                Parent::Link(parent) => out[parent as usize],
            };
            let span = link.first..link.first + link.count;
            let mut motion = link.joint.motion(&q[span.clone()], &u[span.clone()], bases[k]);
            if link.reversed {
                motion = motion.reversed(&u[span.clone()]);
            }
            let R_w1 = parent.R * link.R_p1;
            let arm = parent.R * link.p_p1 + R_w1 * motion.p_12;
            let R_w2 = R_w1 * motion.R_12;
            let c = R_w2 * link.p_2c;
            let r = arm + c;
            let (mut w_rel, mut v_rel) = (Vec3::ZERO, Vec3::ZERO);
            for (S, i) in motion.S.iter().zip(span) {
                let (angular, linear) = (R_w1 * S.angular, R_w1 * S.linear);
                w_rel += angular * u[i];
                v_rel += linear * u[i];
                work.S[i] = Six { angular, linear: linear + angular.cross(c) };
            }
            let wp = parent.w;
            let w = wp + w_rel;
            let zeta = R_w1 * motion.bias.angular + wp.cross(w_rel);
            let zeta_origin = R_w1 * motion.bias.linear + wp.cross(wp.cross(arm)) + 2.0 * wp.cross(v_rel);
            out[k] = Kinematics {
                p: parent.p + r,
                R: R_w2 * link.R_2c,
                v: parent.v + wp.cross(arm) + v_rel + w.cross(c),
                w,
            };
            let here = &mut work.links[k];
            here.r = r;
            here.zeta = Six { angular: zeta, linear: zeta_origin + zeta.cross(c) + w.cross(w.cross(c)) };
            here.origin = parent.p + arm;
            here.R_w1 = R_w1;
        }
    }

    /// Motion of one body alone: `at` gives coordinates and rates by index, `base` the orientation a link starts from.
    pub fn place_one(
        &self,
        link: usize,
        at: &dyn Fn(usize) -> (f64, f64),
        base: &dyn Fn(usize) -> Quat,
        of: &dyn Fn(u32) -> Kinematics,
    ) -> Kinematics {
        let k = link;
        let link = &self.links[k];
        let parent = match link.parent {
            Parent::World => Kinematics::WORLD,
            Parent::Body(body) => of(body),
            Parent::Link(parent) => self.place_one(parent as usize, at, base, of),
        };
        let (mut q, mut u) = ([0.0; 6], [0.0; 6]);
        for i in 0..link.count {
            (q[i], u[i]) = at(link.first + i);
        }
        let (q, u) = (&q[..link.count], &u[..link.count]);
        let mut motion = link.joint.motion(q, u, base(k));
        if link.reversed {
            motion = motion.reversed(u);
        }
        let R_w1 = parent.R * link.R_p1;
        let arm = parent.R * link.p_p1 + R_w1 * motion.p_12;
        let R_w2 = R_w1 * motion.R_12;
        let c = R_w2 * link.p_2c;
        let (mut w_rel, mut v_rel) = (Vec3::ZERO, Vec3::ZERO);
        for (S, u) in motion.S.iter().zip(u) {
            w_rel += R_w1 * S.angular * *u;
            v_rel += R_w1 * S.linear * *u;
        }
        let w = parent.w + w_rel;
        let v = parent.v + parent.w.cross(arm) + v_rel + w.cross(c);
        Kinematics { p: parent.p + arm + c, v, w, R: R_w2 * link.R_2c }
    }

    /// The first link whose joint moves nothing that has mass, if there is one; after [`Self::accelerate`].
    pub fn massless(&self, work: &Work) -> Option<usize> {
        (0..self.links.len()).find(|&k| {
            let link = &self.links[k];
            (0..link.count).any(|i| work.modes[link.first + i] == Mode::Free && !work.D[k][i * (i + 3) / 2].is_finite())
        })
    }

    /// Rates of the rates under the loads {torque, force} on the bodies' centres of mass and the forces `tau` on the
    /// coordinates; after [`Self::place`]. `body` gives mass and inertia (body axes) of a link.
    pub fn accelerate(
        &self,
        kinematics: &[Kinematics],
        body: impl Fn(u32) -> (f64, Mat3),
        loads: &[Six],
        tau: &[f64],
        work: &mut Work,
        u_dot: &mut [f64],
    ) {
        for (k, link) in self.links.iter().enumerate() {
            let (mass, I_c) = body(link.body);
            let kin = &kinematics[k];
            let J = kin.R * I_c * kin.R.transpose();
            let here = &mut work.links[k];
            here.inertia = Inertia { J, H: Mat3::ZERO, M: Mat3::from_diagonal(Vec3::splat(mass)) };
            here.p = Six { angular: kin.w.cross(J * kin.w) - loads[k].angular, linear: -loads[k].linear };
            for i in link.first..link.first + link.count {
                if let Mode::Given(rate) = work.modes[i] {
                    here.zeta = here.zeta + work.S[i] * rate;
                }
            }
        }
        for k in (0..self.links.len()).rev() {
            let link = &self.links[k];
            let here = work.links[k];
            let (mut inertia, mut p) = (here.inertia, here.p);
            let span = link.first..link.first + link.count;
            for i in span.clone() {
                work.U[i] = inertia.times(work.S[i]);
                work.e[i] = tau[i] - work.S[i].dot(&here.p);
            }
            let D = &mut work.D[k];
            factor(&work.S[span.clone()], &mut work.U[span.clone()], &work.modes[span.clone()], D);
            // with D = L L^T the columns of U become U L^-T, and I_a = I - sum of their squares
            let mut y = [0.0; 6];
            y[..link.count].copy_from_slice(&work.e[span.clone()]);
            forward(D, &work.modes[span.clone()], &mut y[..link.count]);
            for (j, i) in span.clone().enumerate() {
                if work.modes[i] == Mode::Free {
                    inertia.reduce(work.U[i], 1.0);
                    p = p + work.U[i] * y[j];
                }
            }
            if let Parent::Link(parent) = link.parent {
                p = p + inertia.times(here.zeta);
                let outer = &mut work.links[parent as usize];
                outer.inertia.add_shifted(&inertia, here.r);
                outer.p.angular += p.angular + here.r.cross(p.linear);
                outer.p.linear += p.linear;
            }
        }
        for k in 0..self.links.len() {
            let a = self.base_acceleration(k, work) + work.links[k].zeta;
            work.links[k].a = self.joint_rates(k, a, work, u_dot);
        }
        for (i, mode) in work.modes.iter().enumerate() {
            if let Mode::Given(rate) = mode {
                u_dot[i] = *rate;
            }
        }
    }

    /// Acceleration the parent gives link k. What the tree hangs on does not accelerate: prescribed velocities are constant.
    fn base_acceleration(&self, k: usize, work: &Work) -> Six {
        match self.links[k].parent {
            Parent::Link(parent) => {
                let a = work.links[parent as usize].a;
                Six { angular: a.angular, linear: a.linear + a.angular.cross(work.links[k].r) }
            }
            _ => Six::default(),
        }
    }

    /// u' = D^-1 (e - U^T a') of link k, and the acceleration with it.
    fn joint_rates(&self, k: usize, a: Six, work: &Work, u_dot: &mut [f64]) -> Six {
        let link = &self.links[k];
        let span = link.first..link.first + link.count;
        let modes = &work.modes[span.clone()];
        let D = &work.D[k];
        let mut y = [0.0; 6];
        y[..link.count].copy_from_slice(&work.e[span.clone()]);
        forward(D, modes, &mut y[..link.count]);
        for (j, i) in span.clone().enumerate() {
            y[j] -= work.U[i].dot(&a);
        }
        backward(D, modes, &mut y[..link.count]);
        let mut a = a;
        for (j, i) in span.enumerate() {
            if work.modes[i] == Mode::Free {
                u_dot[i] = y[j];
                a = a + work.S[i] * y[j];
            } else {
                u_dot[i] = 0.0;
            }
        }
        a
    }

    /// How rates of rates and accelerations answer to more loads, by link {torque, force}, and forces `tau`; after
    /// [`Self::accelerate`].
    pub fn answer(&self, loads: &[Six], tau: &[f64], work: &mut Work, u_dot: &mut [f64], a: &mut [Six]) {
        for (k, load) in loads.iter().enumerate() {
            work.links[k].p = -*load;
        }
        for k in (0..self.links.len()).rev() {
            let link = &self.links[k];
            let mut p = work.links[k].p;
            let span = link.first..link.first + link.count;
            let mut y = [0.0; 6];
            for (j, i) in span.clone().enumerate() {
                work.e[i] = tau[i] - work.S[i].dot(&p);
                y[j] = work.e[i];
            }
            forward(&work.D[k], &work.modes[span.clone()], &mut y[..link.count]);
            for (j, i) in span.enumerate() {
                if work.modes[i] == Mode::Free {
                    p = p + work.U[i] * y[j];
                }
            }
            if let Parent::Link(parent) = link.parent {
                let r = work.links[k].r;
                let outer = &mut work.links[parent as usize];
                outer.p.angular += p.angular + r.cross(p.linear);
                outer.p.linear += p.linear;
            }
        }
        for k in 0..self.links.len() {
            let base = match self.links[k].parent {
                Parent::Link(parent) => {
                    let a = a[parent as usize];
                    Six { angular: a.angular, linear: a.linear + a.angular.cross(work.links[k].r) }
                }
                _ => Six::default(),
            };
            a[k] = self.joint_rates(k, base, work, u_dot);
        }
    }

    /// {torque, force} each joint exerts on its body, about the body's centre of mass, from the accelerations of all
    /// bodies and the loads on them, tips to base.
    pub fn reactions(
        &self,
        kinematics: &[Kinematics],
        body: impl Fn(u32) -> (f64, Mat3),
        loads: &[Six],
        work: &Work,
        out: &mut [Six],
    ) {
        for (k, link) in self.links.iter().enumerate() {
            let (mass, I_c) = body(link.body);
            let kin = &kinematics[k];
            let J = kin.R * I_c * kin.R.transpose();
            let a = work.links[k].a;
            out[k] = Six { angular: J * a.angular + kin.w.cross(J * kin.w), linear: a.linear * mass } - loads[k];
        }
        for k in (0..self.links.len()).rev() {
            if let Parent::Link(parent) = self.links[k].parent {
                let r = work.links[k].r;
                let f = out[k];
                out[parent as usize] =
                    out[parent as usize] + Six { angular: f.angular + r.cross(f.linear), linear: f.linear };
            }
        }
    }

    /// Displacements {angular, linear} of the bodies' centres of mass for small changes of the coordinates (or of their
    /// velocities for changes of the rates); after [`Self::place`].
    pub fn displace(&self, change: &[f64], work: &Work, out: &mut [Six]) {
        for (k, link) in self.links.iter().enumerate() {
            let mut d = match link.parent {
                Parent::Link(parent) => {
                    let d = out[parent as usize];
                    Six { angular: d.angular, linear: d.linear + d.angular.cross(work.links[k].r) }
                }
                _ => Six::default(),
            };
            for i in link.first..link.first + link.count {
                d = d + work.S[i] * change[i];
            }
            out[k] = d;
        }
    }
}

/// Cholesky factor L of D = S^T U over the free coordinates, packed by rows with the diagonal inverted, and U <- U L^-T.
#[inline]
fn factor(S: &[Six], U: &mut [Six], modes: &[Mode], L: &mut [f64; 21]) {
    for i in 0..S.len() {
        let row = i * (i + 1) / 2;
        if modes[i] != Mode::Free {
            L[row..=row + i].fill(0.0);
            U[i] = Six::default();
            continue;
        }
        // U[i] is still I S_i; those before are columns of U L^-T, so L_ij = S_i . (U L^-T)_j
        let mut column = U[i];
        for j in 0..i {
            let l = S[i].dot(&U[j]);
            L[row + j] = l;
            column = column - U[j] * l;
        }
        let d = S[i].dot(&column);
        let inverse = 1.0 / d.sqrt();
        L[row + i] = inverse;
        U[i] = column * inverse;
    }
}

/// y <- L^-1 y.
#[inline]
fn forward(L: &[f64; 21], modes: &[Mode], y: &mut [f64]) {
    for i in 0..y.len() {
        let row = i * (i + 1) / 2;
        if modes[i] != Mode::Free {
            y[i] = 0.0;
            continue;
        }
        let mut sum = y[i];
        for j in 0..i {
            sum -= L[row + j] * y[j];
        }
        y[i] = sum * L[row + i];
    }
}

/// y <- L^-T y.
#[inline]
fn backward(L: &[f64; 21], modes: &[Mode], y: &mut [f64]) {
    for i in (0..y.len()).rev() {
        let row = i * (i + 1) / 2;
        if modes[i] != Mode::Free {
            y[i] = 0.0;
            continue;
        }
        y[i] *= L[row + i];
        let value = y[i];
        for j in 0..i {
            y[j] -= L[row + j] * value;
        }
    }
}
