//! Forests of bodies in joint coordinates: motion from base to tips, forward dynamics by articulated bodies, O(n).
//!
//! Everything is resolved in world axes. The point of a body is its centre of mass, its motion {w, v}, its acceleration
//! {alpha, a} the ordinary one of that point. With r from the parent's centre of mass to the body's,
//!   alpha = alpha_p             + sum S_k.angular u_k' + zeta.angular
//!   a     = a_p + alpha_p x r   + sum S_k.linear u_k'  + zeta.linear
//! and with the articulated inertia I = [J H; H^T M] and bias force p of the body and everything behind it
//! (Featherstone 2008, 7.3; his spatial acceleration differs from ours by w x v, which is part of zeta here)
//!   U = I S,   D = S^T U,   e = tau - S^T p,   I_a = I - U D^-1 U^T,   p_a = p + I_a zeta + U D^-1 e
//! are handed to the parent, shifted by r, and u' = D^-1 (e - U^T a') follows from base to tips. With D = L d L^T, L of
//! unit diagonal and d diagonal, the columns of U are kept as Y = U L^-T and e as L^-1 e:
//!   I_a = I - Y d^-1 Y^T,   p_a = p + I_a zeta + Y d^-1 (L^-1 e),   u' = L^-T d^-1 (L^-1 e - Y^T a')

use super::elastic::{self, Bent, Elastic};
use super::{Link, Mechanism, Mode, Parent, Work};
use crate::joint::{Joint, Six};
use crate::kinematics::Kinematics;
use tippe_geometry::{Mat3, Quat, Vec3};
use tippe_parts::six::Tensor;

/// A symmetric matrix by its upper triangle.
#[derive(Clone, Copy, Debug, Default)]
struct Symmetric {
    xx: f64,
    xy: f64,
    xz: f64,
    yy: f64,
    yz: f64,
    zz: f64,
}

impl Symmetric {
    /// R I R^T of a symmetric I.
    #[inline]
    fn rotated(R: &Mat3, I: &Mat3) -> Symmetric {
        let A = *R * *I;
        let entry =
            |i: usize, j: usize| A.x_axis[i] * R.x_axis[j] + A.y_axis[i] * R.y_axis[j] + A.z_axis[i] * R.z_axis[j];
        Symmetric {
            xx: entry(0, 0),
            xy: entry(0, 1),
            xz: entry(0, 2),
            yy: entry(1, 1),
            yz: entry(1, 2),
            zz: entry(2, 2),
        }
    }

    #[inline]
    fn columns(&self) -> [Vec3; 3] {
        [
            Vec3::new(self.xx, self.xy, self.xz),
            Vec3::new(self.xy, self.yy, self.yz),
            Vec3::new(self.xz, self.yz, self.zz),
        ]
    }

    #[inline]
    fn times(&self, v: Vec3) -> Vec3 {
        let [x, y, z] = self.columns();
        x * v.x + y * v.y + z * v.z
    }

    /// Takes off a b^T, which is symmetric.
    #[inline]
    fn take_off(&mut self, a: Vec3, b: Vec3) {
        self.xx -= a.x * b.x;
        self.xy -= a.x * b.y;
        self.xz -= a.x * b.z;
        self.yy -= a.y * b.y;
        self.yz -= a.y * b.z;
        self.zz -= a.z * b.z;
    }

    #[inline]
    fn add(&mut self, other: &Symmetric) {
        self.xx += other.xx;
        self.xy += other.xy;
        self.xz += other.xz;
        self.yy += other.yy;
        self.yz += other.yz;
        self.zz += other.zz;
    }
}

/// Articulated inertia [J H; H^T M]: {torque, force} from {alpha, a}.
#[derive(Clone, Copy, Debug, Default)]
struct Inertia {
    J: Symmetric,
    H: Mat3,
    M: Symmetric,
}

impl Inertia {
    #[inline]
    fn times(&self, x: Six) -> Six {
        let H_T_alpha =
            Vec3::new(self.H.x_axis.dot(x.angular), self.H.y_axis.dot(x.angular), self.H.z_axis.dot(x.angular));
        Six { angular: self.J.times(x.angular) + self.H * x.linear, linear: H_T_alpha + self.M.times(x.linear) }
    }

    /// I - y y^T inverse_d.
    #[inline]
    fn reduce(&mut self, y: Six, inverse_d: f64) {
        let (a, l) = (y.angular * inverse_d, y.linear * inverse_d);
        self.J.take_off(y.angular, a);
        self.H.x_axis -= y.angular * l.x;
        self.H.y_axis -= y.angular * l.y;
        self.H.z_axis -= y.angular * l.z;
        self.M.take_off(y.linear, l);
    }

    /// Adds that of something else about the same point.
    fn add(&mut self, other: &Tensor) {
        let symmetric = |from: usize| {
            let of = |i: usize, j: usize| other.entry(from + i, from + j);
            Symmetric { xx: of(0, 0), xy: of(0, 1), xz: of(0, 2), yy: of(1, 1), yz: of(1, 2), zz: of(2, 2) }
        };
        self.J.add(&symmetric(0));
        self.H += Mat3::from_cols(other.0[3].angular, other.0[4].angular, other.0[5].angular);
        self.M.add(&symmetric(3));
    }

    /// Adds an inertia of a point that lies at r from this one's:
    /// M' = M, H' = H + r~ M, J' = J + r~ H^T - H' r~, where H' r~ = -(r~ H'^T)^T.
    #[inline]
    fn add_shifted(&mut self, inner: &Inertia, r: Vec3) {
        let [Mx, My, Mz] = inner.M.columns();
        let H =
            Mat3::from_cols(inner.H.x_axis + r.cross(Mx), inner.H.y_axis + r.cross(My), inner.H.z_axis + r.cross(Mz));
        let row = |H: &Mat3, i: usize| Vec3::new(H.x_axis[i], H.y_axis[i], H.z_axis[i]);
        let of = |H: &Mat3, i: usize| r.cross(row(H, i));
        let (Ax, Ay, Az) = (of(&inner.H, 0), of(&inner.H, 1), of(&inner.H, 2));
        let (Bx, By, Bz) = (of(&H, 0), of(&H, 1), of(&H, 2));
        self.J.add(&inner.J);
        self.J.add(&Symmetric {
            xx: Ax.x + Bx.x,
            xy: Ay.x + Bx.y,
            xz: Az.x + Bx.z,
            yy: Ay.y + By.y,
            yz: Az.y + By.z,
            zz: Az.z + Bz.z,
        });
        self.H += H;
        self.M.add(&inner.M);
    }
}

/// What is known of one link at one instant.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkMotion {
    /// From the parent's centre of mass to this one's [m].
    pub r: Vec3,
    /// From the origin of frame 1 to the centre of mass [m]: small where r of a root holds a place far out in the world.
    pub from_1: Vec3,
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
    /// R_p1 of the link is 1.
    along_parent: bool,
    /// R_2c of the link is 1.
    along_joint: bool,
}

impl LinkMotion {
    /// Acceleration that needs no force of the joint [rad/s^2, m/s^2].
    pub fn zeta(&self) -> Six {
        self.zeta
    }

    /// Of a link that hangs by a joint between a flexible body and an interface: place from what it hangs on, acceleration that needs no
    /// force, origin and axes of what it hangs on.
    pub(super) fn set(&mut self, r: Vec3, zeta: Six, origin: Vec3, R_w1: Mat3) {
        (self.r, self.from_1, self.zeta, self.origin, self.R_w1) = (r, r, zeta, origin, R_w1);
    }

    /// Room for the motion of a link.
    pub fn new(link: &Link) -> LinkMotion {
        LinkMotion {
            along_parent: link.R_p1 == Mat3::IDENTITY,
            along_joint: link.R_2c == Mat3::IDENTITY,
            ..LinkMotion::default()
        }
    }
}

/// Frame 2 of a joint as the motion of the parent and the coordinates give it, resolved in world.
struct Carried {
    /// Axes of frame 2.
    R_w2: Mat3,
    /// Origin of frame 2 from the parent's centre of mass [m].
    arm: Vec3,
    /// Origin of frame 2 from that of frame 1 [m].
    slide: Vec3,
    /// Angular velocity relative to the parent [rad/s].
    w_rel: Vec3,
    /// Velocity of the origin beyond that of the parent's centre of mass [m/s].
    v: Vec3,
    /// Angular acceleration without that of rates and parent [rad/s^2].
    alpha: Vec3,
    /// Acceleration of the origin without that of rates and parent [m/s^2].
    a: Vec3,
}

impl Link {
    /// Frame 2, and the columns of S for its origin. Rates move it by  v = wp x arm + v_rel,
    ///   alpha = S' u + wp x w_rel,   a = S' u + wp x (wp x arm) + 2 wp x v_rel.
    #[inline]
    fn carry(&self, q: &[f64], u: &[f64], base: Quat, parent: &Kinematics, R_w1: &Mat3, S: &mut [Six]) -> Carried {
        let wp = parent.w;
        let to_1 = parent.R * self.p_p1;
        if self.joint == Joint::Revolute {
            // seen from its other side a hinge turns by -q about -z
            let sign = if self.reversed { -1.0 } else { 1.0 };
            let (sin, cos) = libm::sincos(sign * q[0]);
            let Mat3 { x_axis: x, y_axis: y, z_axis: z } = *R_w1;
            S[0] = Six::new(z * sign, Vec3::ZERO);
            let w_rel = S[0].angular * u[0];
            let v = wp.cross(to_1);
            let R_w2 = Mat3::from_cols(x * cos + y * sin, y * cos - x * sin, z);
            return Carried { R_w2, arm: to_1, slide: Vec3::ZERO, w_rel, v, alpha: wp.cross(w_rel), a: wp.cross(v) };
        }
        let mut motion = self.joint.motion(q, u, base);
        if self.reversed {
            motion = motion.reversed(u);
        }
        let slide = *R_w1 * motion.p_12;
        let arm = to_1 + slide;
        let (mut w_rel, mut v_rel) = (Vec3::ZERO, Vec3::ZERO);
        for (k, (S, u)) in S.iter_mut().zip(u).enumerate() {
            *S = Six::new(*R_w1 * motion.S[k].angular, *R_w1 * motion.S[k].linear);
            w_rel += S.angular * *u;
            v_rel += S.linear * *u;
        }
        let v_arm = wp.cross(arm);
        Carried {
            R_w2: *R_w1 * motion.R_12,
            arm,
            slide,
            w_rel,
            v: v_arm + v_rel,
            alpha: *R_w1 * motion.bias.angular + wp.cross(w_rel),
            a: *R_w1 * motion.bias.linear + wp.cross(v_arm + 2.0 * v_rel),
        }
    }
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
        for (k, (link, here)) in self.links.iter().zip(&mut work.links).enumerate() {
            let (before, rest) = out.split_at_mut(k);
            let base;
            let parent = match link.parent {
                Parent::Link(parent) => &before[parent as usize],
                Parent::World => &Kinematics::WORLD,
                Parent::Body(body) => {
                    base = of(body);
                    &base
                }
            };
            if link.elastic.is_interface_joint() {
                let bent = elastic::Placing { link, k, q, u, parent, links: &self.links };
                rest[0] = bent.place(&mut work.bent, &mut work.S, here);
                self.bend(k, q, u, &rest[0], &mut work.bent);
                continue;
            }
            let span = link.first..link.first + link.joint.coordinates();
            let S = &mut work.S[span.clone()];
            let R_w1 = if here.along_parent { parent.R } else { parent.R * link.R_p1 };
            let carried = link.carry(&q[span.clone()], &u[span], bases[k], parent, &R_w1, S);
            let Carried { R_w2, arm, alpha, .. } = carried;
            let c = R_w2 * link.p_2c;
            for S in S {
                S.linear += S.angular.cross(c);
            }
            let r = arm + c;
            let w = parent.w + carried.w_rel;
            let v_c = w.cross(c);
            rest[0] = Kinematics {
                p: parent.p + r,
                R: if here.along_joint { R_w2 } else { R_w2 * link.R_2c },
                v: parent.v + carried.v + v_c,
                w,
            };
            here.r = r;
            here.from_1 = carried.slide + c;
            here.zeta = Six { angular: alpha, linear: carried.a + alpha.cross(c) + w.cross(v_c) };
            (here.origin, here.R_w1) = (parent.p + arm, R_w1);
            self.bend(k, q, u, &rest[0], &mut work.bent);
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
        if link.elastic.is_interface_joint() {
            return self.place_one_bent(k, at, &parent);
        }
        let (mut q, mut u) = ([0.0; 6], [0.0; 6]);
        let count = link.joint.coordinates();
        for i in 0..count {
            (q[i], u[i]) = at(link.first + i);
        }
        let (q, u) = (&q[..count], &u[..count]);
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
            (0..link.count)
                .any(|i| work.modes[link.first + i] == Mode::Free && !work.L[work.L_from[k] + diagonal(i)].is_finite())
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
        for (((link, here), kin), load) in self.links.iter().zip(&mut work.links).zip(kinematics).zip(loads) {
            let (mass, I_c) = body(link.body);
            let J = Symmetric::rotated(&kin.R, &I_c);
            let M = Symmetric { xx: mass, yy: mass, zz: mass, ..Symmetric::default() };
            here.inertia = Inertia { J, H: Mat3::ZERO, M };
            here.p = Six { angular: kin.w.cross(J.times(kin.w)) - load.angular, linear: -load.linear };
            for i in link.first..link.first + link.count {
                if let Mode::Given(rate) = work.modes[i] {
                    here.zeta = here.zeta + work.S[i] * rate;
                }
            }
        }
        for (k, own) in &work.added {
            work.links[*k].inertia.add(own);
        }
        for k in 0..self.links.len() {
            if let Some((more, bias)) = self.begin_bent(k, &kinematics[k], work) {
                work.links[k].inertia.J.add(&Symmetric::rotated(&Mat3::IDENTITY, &more));
                work.links[k].p.angular += bias;
            }
        }
        for (k, link) in self.links.iter().enumerate().rev() {
            let (before, from) = work.links.split_at_mut(k);
            let LinkMotion { inertia, p, zeta, r, .. } = &mut from[0];
            let span = link.first..link.first + link.count;
            let (S, Y, e) = (&work.S[span.clone()], &mut work.Y[span.clone()], &mut work.e[span.clone()]);
            for i in 0..link.count {
                Y[i] = inertia.times(S[i]);
                e[i] = tau[link.first + i] - S[i].dot(p);
            }
            let L = &mut work.L[work.L_from[k]..][..link.count * (link.count + 1) / 2];
            match &mut work.bent[k] {
                Bent::Body(bent) => bent.factor(S, Y, &work.modes[span], e, L),
                _ => factor(S, Y, &work.modes[span], L),
            }
            forward(L, e);
            for (i, (Y, e)) in Y.iter().zip(e).enumerate() {
                inertia.reduce(*Y, L[diagonal(i)]);
                *p = *p + *Y * (*e * L[diagonal(i)]);
            }
            if let Parent::Link(parent) = link.parent {
                let p = *p + inertia.times(*zeta);
                if let Elastic::Interface { .. } = link.elastic {
                    let (up, own) = work.bent.split_at_mut(k);
                    elastic::hand_over(&mut up[parent as usize], &own[0], |x| inertia.times(x), &p, *r);
                }
                let outer = &mut before[parent as usize];
                outer.inertia.add_shifted(inertia, *r);
                outer.p.angular += p.angular + r.cross(p.linear);
                outer.p.linear += p.linear;
            }
        }
        for k in 0..self.links.len() {
            let a = self.base_acceleration(k, work) + work.links[k].zeta + self.bending(k, work, u_dot);
            work.links[k].a = self.joint_rates(k, a, work, u_dot);
        }
        for (i, mode) in work.modes.iter().enumerate() {
            if let Mode::Given(rate) = mode {
                u_dot[i] = *rate;
            }
        }
        self.note_modes(work, u_dot);
    }

    /// Acceleration the parent gives link k. What the tree hangs on does not accelerate: prescribed velocities are constant.
    #[inline]
    fn base_acceleration(&self, k: usize, work: &Work) -> Six {
        match self.links[k].parent {
            Parent::Link(parent) => {
                let a = work.links[parent as usize].a;
                Six { angular: a.angular, linear: a.linear + a.angular.cross(work.links[k].r) }
            }
            _ => Six::default(),
        }
    }

    /// u' = L^-T d^-1 (L^-1 e - Y^T a') of link k, and the acceleration with it.
    #[inline]
    fn joint_rates(&self, k: usize, mut a: Six, work: &Work, u_dot: &mut [f64]) -> Six {
        let link = &self.links[k];
        let span = link.first..link.first + link.count;
        let (S, Y, e) = (&work.S[span.clone()], &work.Y[span.clone()], &work.e[span.clone()]);
        let L = &work.L[work.L_from[k]..][..link.count * (link.count + 1) / 2];
        let u_dot = &mut u_dot[span];
        for (i, rate) in u_dot.iter_mut().enumerate() {
            *rate = (e[i] - Y[i].dot(&a)) * L[diagonal(i)];
        }
        backward(L, u_dot);
        for (S, rate) in S.iter().zip(u_dot) {
            a = a + *S * *rate;
        }
        a
    }

    /// How rates of rates and accelerations of the links of one tree (ascending) answer to more loads, by link {torque, force},
    /// and forces `tau`; after [`Self::accelerate`].
    pub fn answer(&self, tree: &[u32], loads: &[Six], tau: &[f64], work: &mut Work, u_dot: &mut [f64], a: &mut [Six]) {
        let tree = || tree.iter().map(|&k| k as usize);
        for k in tree() {
            work.links[k].p = -loads[k];
            if let Bent::Body(bent) = &mut work.bent[k] {
                bent.p.fill(0.0);
            }
        }
        for k in tree().rev() {
            let link = &self.links[k];
            let mut p = work.links[k].p;
            let span = link.first..link.first + link.count;
            let (S, Y, e) = (&work.S[span.clone()], &work.Y[span.clone()], &mut work.e[span]);
            for i in 0..link.count {
                e[i] = tau[link.first + i] - S[i].dot(&p);
            }
            if let Bent::Body(bent) = &work.bent[k] {
                let first = link.count - bent.p.len();
                e[first..].iter_mut().zip(&bent.p).for_each(|(e, p)| *e -= p);
            }
            let L = &work.L[work.L_from[k]..][..link.count * (link.count + 1) / 2];
            forward(L, e);
            for (i, (Y, e)) in Y.iter().zip(e).enumerate() {
                p = p + *Y * (*e * L[diagonal(i)]);
            }
            if let Parent::Link(parent) = link.parent {
                let r = work.links[k].r;
                if let Elastic::Interface { .. } = link.elastic {
                    let (up, own) = work.bent.split_at_mut(k);
                    elastic::push_modes(&mut up[parent as usize], &own[0], &p);
                }
                let outer = &mut work.links[parent as usize];
                outer.p.angular += p.angular + r.cross(p.linear);
                outer.p.linear += p.linear;
            }
        }
        for k in tree() {
            let base = match self.links[k].parent {
                Parent::Link(parent) => {
                    let a = a[parent as usize];
                    Six { angular: a.angular, linear: a.linear + a.angular.cross(work.links[k].r) }
                }
                _ => Six::default(),
            };
            let base = base + self.bending(k, work, u_dot);
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
            let J = Symmetric::rotated(&kin.R, &I_c);
            let a = work.links[k].a;
            out[k] =
                Six { angular: J.times(a.angular) + kin.w.cross(J.times(kin.w)), linear: a.linear * mass } - loads[k];
            out[k].angular += self.torque_of_bending(k, a.angular, kin, work);
        }
        for (k, own) in &work.added {
            out[*k] = out[*k] + own.times(work.links[*k].a);
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
            out[k] = d + self.bending(k, work, change);
        }
    }
}

/// Where the packed factor of [`factor`] keeps 1/d of coordinate i.
#[inline]
fn diagonal(i: usize) -> usize {
    i * (i + 3) / 2
}

/// Factors L and d of D = S^T U, packed by rows with 1/d on the diagonal, and Y = U L^-T in the place of U. Coordinates that
/// are not free have zeros: they take no part.
#[inline]
fn factor(S: &[Six], Y: &mut [Six], modes: &[Mode], L: &mut [f64]) {
    for i in 0..S.len() {
        let row = i * (i + 1) / 2;
        if modes[i] != Mode::Free {
            L[row..=row + i].fill(0.0);
            Y[i] = Six::default();
            continue;
        }
        // Y[i] is still I S_i; those before are columns of U L^-T, so L_ij d_j = S_i . Y_j
        let mut column = Y[i];
        for j in 0..i {
            let l = S[i].dot(&Y[j]) * L[diagonal(j)];
            L[row + j] = l;
            column = column - Y[j] * l;
        }
        let d = S[i].dot(&column);
        L[row + i] = if d > 0.0 { 1.0 / d } else { f64::INFINITY };
        Y[i] = column;
    }
}

/// y <- L^-1 y.
#[inline]
fn forward(L: &[f64], y: &mut [f64]) {
    for i in 1..y.len() {
        let row = i * (i + 1) / 2;
        for j in 0..i {
            y[i] -= L[row + j] * y[j];
        }
    }
}

/// y <- L^-T y.
#[inline]
fn backward(L: &[f64], y: &mut [f64]) {
    for i in (1..y.len()).rev() {
        let row = i * (i + 1) / 2;
        for j in 0..i {
            y[j] -= L[row + j] * y[i];
        }
    }
}
