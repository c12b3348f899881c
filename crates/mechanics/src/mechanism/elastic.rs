//! A flexible body in a forest: a rigid body with more coordinates.
//!
//! Its frame c are mean axes: modes carry no momentum and no moment of momentum where it is not bent. With E(q) = sum E_1,k q_k + sum E_2,kl q_k q_l,
//! I = I_0 + tr(E) 1 - E, h_k = sum_l q_l N_lk (constants: [`tippe_flexible::Reduced`]), w and all this in body axes, Lagrange's equations are
//!   I w' + sum h_k q_k'' + I' w + w x (I w + sum h_k q_k') = torque
//!   q_k'' + h_k . w' + 2 w . sum_l N_lk q_l' - 1/2 w . (dI/dq_k) w = force on the mode
//! (Shabana 2013, chapter 5; the shift has no part in them: its force is m a). An interface at rest at x, moved by the modes by
//!   d = x + sum Phi_k q_k - 1/2 sum G_kl q_k q_l,   R_FI = exp(theta~), theta = sum Theta_k q_k
//! is a body of its own, which everything that holds or touches the flexible body holds or touches. Its motion has mode columns
//!   P_k = {J(theta) Theta_k, dd/dq_k},   J = 1 + (1 - cos)/theta^2 theta~ + (theta - sin)/theta^3 theta~^2
//! and in the recursion of the articulated bodies it hands up, besides its inertia and bias, what they mean for the modes:
//!   C_k += X^T I P_k,   M_kl += P_k . I P_l,   p_k += P_k . p,
//! so that the flexible body has U = I S + C and D = S^T I S + S^T C + C^T S + M in the place of I S and S^T I S. A body that hangs by one of
//! its own interfaces has S_k = -X P_k for its modes; else these are zero.

use super::forest::LinkMotion;
use super::{Link, Mechanism, Mode, Work};
use crate::joint::Six;
use crate::kinematics::Kinematics;
use std::sync::Arc;
use tippe_flexible::Reduced;
use tippe_flexible::reduce::Held;
use tippe_geometry::{Mat3, Vec3};

/// What a link has to do with bending.
#[derive(Clone, Debug, Default)]
pub enum Elastic {
    /// Nothing.
    #[default]
    Rigid,
    /// It bends.
    Body {
        /// How.
        of: Arc<Reduced>,
        /// The interface it hangs by; none where it floats.
        by: Option<usize>,
    },
    /// It is an interface of its parent.
    Interface {
        /// Which.
        index: usize,
    },
}

impl Elastic {
    /// True for the joint between a flexible body and one of its interfaces.
    pub fn is_interface_joint(&self) -> bool {
        matches!(self, Elastic::Interface { .. } | Elastic::Body { by: Some(_), .. })
    }

    /// Its modes.
    pub fn modes(&self) -> usize {
        if let Elastic::Body { of, .. } = self { of.modes() } else { 0 }
    }
}

/// What bending adds to a link at one instant.
#[derive(Clone, Debug)]
pub enum Bent {
    /// Nothing.
    Rigid,
    /// Of a flexible body.
    Body(Box<BentBody>),
    /// Mode columns P of an interface, resolved in world.
    Interface(Vec<Six>),
}

/// A flexible body at one instant.
#[derive(Clone, Debug, Default)]
pub struct BentBody {
    /// I - I_0, body axes [kg m2].
    pub more_inertia: Mat3,
    /// h by mode, resolved in world.
    pub h: Vec<Vec3>,
    /// I' w + w x sum h_k q_k', resolved in world [N m].
    pub bias: Vec3,
    /// sum h_k q_k', resolved in world.
    spin: Vec3,
    /// Bias of the modes without that of interfaces.
    bias_of_modes: Vec<f64>,
    /// C by mode.
    pub C: Vec<Six>,
    /// M by rows.
    pub M: Vec<f64>,
    /// Bias of the modes.
    pub p: Vec<f64>,
    /// q'' of the modes.
    pub rates: Vec<f64>,
    D: Vec<f64>,
}

impl Bent {
    /// Room for a link.
    pub fn new(link: &Link) -> Bent {
        match &link.elastic {
            Elastic::Rigid => Bent::Rigid,
            Elastic::Body { of, .. } => {
                let m = of.modes();
                let count = link.count;
                Bent::Body(Box::new(BentBody {
                    h: vec![Vec3::ZERO; m],
                    bias_of_modes: vec![0.0; m],
                    C: vec![Six::ZERO; m],
                    M: vec![0.0; m * m],
                    p: vec![0.0; m],
                    rates: vec![0.0; m],
                    D: vec![0.0; count * count],
                    ..BentBody::default()
                }))
            }
            Elastic::Interface { .. } => Bent::Interface(Vec::new()),
        }
    }
}

impl Bent {
    /// Torque that motion takes of a body that bends, beyond that of a rigid one, where nothing accelerates [N m].
    pub fn bias_torque(&self, kin: &Kinematics) -> Vec3 {
        let Bent::Body(bent) = self else { return Vec3::ZERO };
        let more = kin.R * bent.more_inertia * kin.R.transpose();
        bent.bias + kin.w.cross(more * kin.w)
    }
}

impl BentBody {
    /// Adds to a mass matrix of n rows, whose part of this mechanism begins at `at`, what the modes have beyond the body as a rigid one; `columns`
    /// are the motions of all links per unit of each rate, the modes end at `end`.
    pub fn add_mass(&self, columns: &[Vec<Six>], l: usize, end: usize, (at, n): (usize, usize), M: &mut [f64]) {
        let first = end - self.h.len();
        for (k, h) in self.h.iter().enumerate() {
            let mode = first + k;
            M[(at + mode) * n + at + mode] += 1.0;
            for (i, column) in columns.iter().enumerate() {
                let share = h.dot(column[l].angular);
                M[(at + i) * n + at + mode] += share;
                M[(at + mode) * n + at + i] += share;
            }
        }
    }

    /// Bias of a mode without that of interfaces: Coriolis and centrifugal.
    pub fn bias(&self, k: usize) -> f64 {
        self.bias_of_modes[k]
    }
}

/// An interface where the modes have put it, in the axes of the flexible body.
struct Offset<'a> {
    held: &'a Held,
    d: Vec3,
    d_dot: Vec3,
    /// d'' without that of the modes' rates of rates.
    d_bias: Vec3,
    R: Mat3,
    J: Mat3,
    /// J theta', and its rate without theta''.
    w: Vec3,
    w_bias: Vec3,
}

impl<'a> Offset<'a> {
    fn new(held: &'a Held, q: &[f64], u: &[f64]) -> Offset<'a> {
        let (mut d, mut theta, mut theta_dot) = (held.at, Vec3::ZERO, Vec3::ZERO);
        let (mut d_dot, mut d_bias) = (Vec3::ZERO, Vec3::ZERO);
        for k in 0..q.len() {
            let column = column(held, k, q);
            // half of what is second order in it
            d += (held.shift[k] + column) * (0.5 * q[k]);
            d_dot += column * u[k];
            theta += held.turn[k] * q[k];
            theta_dot += held.turn[k] * u[k];
        }
        for (c, G) in held.second.iter().enumerate() {
            if !G.is_empty() {
                let m = q.len();
                let row = |k: usize| G[k * m..(k + 1) * m].iter().zip(u).map(|(g, u)| g * u).sum::<f64>();
                d_bias[c] = -(0..m).map(|k| u[k] * row(k)).sum::<f64>();
            }
        }
        let s = theta.length_squared();
        let [a, a_s, b, b_s] = coefficients(s);
        let cross = cross_matrix(theta);
        let J = Mat3::IDENTITY + cross * a + cross * cross * b;
        let s_dot = 2.0 * theta.dot(theta_dot);
        let t = theta.cross(theta_dot);
        let w_bias = t * (a_s * s_dot) + theta.cross(t) * (b_s * s_dot) + theta_dot.cross(t) * b;
        // exp(theta~) = 1 + sin/theta theta~ + (1 - cos)/theta^2 theta~^2, sin/theta = 1 - s b
        let R = Mat3::IDENTITY + cross * (1.0 - s * b) + cross * cross * a;
        Offset { held, d, d_dot, d_bias, R, J, w: J * theta_dot, w_bias }
    }

    /// {J Theta_k, dd/dq_k}, resolved in world.
    fn column(&self, k: usize, q: &[f64], R_w: &Mat3) -> Six {
        Six::new(*R_w * (self.J * self.held.turn[k]), *R_w * column(self.held, k, q))
    }
}

/// dd/dq_k.
fn column(held: &Held, k: usize, q: &[f64]) -> Vec3 {
    let mut out = held.shift[k];
    for (c, G) in held.second.iter().enumerate() {
        if !G.is_empty() {
            out[c] -= G[k * q.len()..(k + 1) * q.len()].iter().zip(q).map(|(g, q)| g * q).sum::<f64>();
        }
    }
    out
}

/// (1 - cos)/theta^2 and (theta - sin)/theta^3 and their derivatives by s = theta^2: series, exact to rounding below 1 rad.
fn coefficients(s: f64) -> [f64; 4] {
    let (mut a, mut a_s, mut b, mut b_s) = (0.0, 0.0, 0.0, 0.0);
    // 1/(2 n + 2)! and 1/(2 n + 3)! with signs, from the last to the first
    const A: [f64; 9] = factorials(2);
    const B: [f64; 9] = factorials(3);
    for n in (0..9).rev() {
        (a, b) = (a * s + A[n], b * s + B[n]);
        if n > 0 {
            (a_s, b_s) = (a_s * s + n as f64 * A[n], b_s * s + n as f64 * B[n]);
        }
    }
    [a, a_s, b, b_s]
}

const fn factorials(first: u32) -> [f64; 9] {
    let mut out = [0.0; 9];
    let mut n = 0;
    while n < 9 {
        let (mut f, mut k) = (1.0, 2);
        while k <= 2 * n as u32 + first {
            f *= k as f64;
            k += 1;
        }
        out[n] = if n % 2 == 0 { 1.0 / f } else { -1.0 / f };
        n += 1;
    }
    out
}

fn cross_matrix(t: Vec3) -> Mat3 {
    Mat3::from_cols(Vec3::new(0.0, t.z, -t.y), Vec3::new(-t.z, 0.0, t.x), Vec3::new(t.y, -t.x, 0.0))
}

/// A link that hangs by the joint between a flexible body and an interface.
pub(super) struct Placing<'a> {
    pub link: &'a Link,
    pub q: &'a [f64],
    pub u: &'a [f64],
    pub parent: &'a Kinematics,
    pub links: &'a [Link],
    pub k: usize,
}

impl Placing<'_> {
    /// The flexible body, its link, and which of its interfaces.
    fn body(&self) -> Option<(&Arc<Reduced>, &Link, usize)> {
        match (&self.link.elastic, self.link.parent) {
            (Elastic::Body { of, by: Some(index) }, _) => Some((of, self.link, *index)),
            (Elastic::Interface { index }, super::Parent::Link(parent)) => match &self.links[parent as usize].elastic {
                Elastic::Body { of, .. } => Some((of, &self.links[parent as usize], *index)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Its motion; columns and bias of the recursion are filled.
    pub(super) fn place(&self, bent: &mut [Bent], S: &mut [Six], here: &mut LinkMotion) -> Kinematics {
        let Some((of, link, index)) = self.body() else { return *self.parent };
        let first = link.first + link.count - of.modes();
        let (q, u) = (&self.q[first..link.first + link.count], &self.u[first..link.first + link.count]);
        let offset = Offset::new(&of.held[index], q, u);
        if let Bent::Interface(P) = &mut bent[self.k] {
            let F = self.parent;
            P.clear();
            P.extend((0..q.len()).map(|k| offset.column(k, q, &F.R)));
            let (kin, zeta, r) = outward(&offset, F);
            here.set(r, zeta, kin.p, F.R);
            return kin;
        }
        let (kin, zeta, rho) = inward(&offset, self.parent);
        for (k, S) in S[first..first + q.len()].iter_mut().enumerate() {
            let P = offset.column(k, q, &kin.R);
            *S = Six::new(-P.angular, P.angular.cross(rho) - P.linear);
        }
        here.set(-rho, zeta, self.parent.p, self.parent.R);
        kin
    }
}

/// Motion of an interface from that of its body F: motion, acceleration without that of rates, place from F.
fn outward(offset: &Offset<'_>, F: &Kinematics) -> (Kinematics, Six, Vec3) {
    let (r, w_rel, v_rel) = (F.R * offset.d, F.R * offset.w, F.R * offset.d_dot);
    let kin = Kinematics { p: F.p + r, v: F.v + F.w.cross(r) + v_rel, w: F.w + w_rel, R: F.R * offset.R };
    let zeta = Six::new(
        F.R * offset.w_bias + F.w.cross(w_rel),
        F.w.cross(F.w.cross(r)) + 2.0 * F.w.cross(v_rel) + F.R * offset.d_bias,
    );
    (kin, zeta, r)
}

/// Motion of a flexible body from that of its interface A: motion, acceleration without that of rates, place of A from it.
fn inward(offset: &Offset<'_>, A: &Kinematics) -> (Kinematics, Six, Vec3) {
    let R = A.R * offset.R.transpose();
    let (rho, w_rel, v_rel) = (R * offset.d, R * offset.w, R * offset.d_dot);
    let w = A.w - w_rel;
    let kin = Kinematics { p: A.p - rho, v: A.v - w.cross(rho) - v_rel, w, R };
    let angular = -(R * offset.w_bias) - w.cross(w_rel);
    let linear = rho.cross(angular) - w.cross(w.cross(rho)) - 2.0 * w.cross(v_rel) - R * offset.d_bias;
    (kin, Six::new(angular, linear), rho)
}

/// What an interface hands to the modes of its body: `times` is its articulated inertia, `p` its bias with that of its own acceleration.
pub(super) fn hand_over(body: &mut Bent, own: &Bent, times: impl Fn(Six) -> Six, p: &Six, r: Vec3) {
    let (Bent::Body(body), Bent::Interface(P)) = (body, own) else { return };
    let m = P.len();
    for k in 0..m {
        let f = times(P[k]);
        body.C[k] = body.C[k] + Six::new(f.angular + r.cross(f.linear), f.linear);
        for l in 0..=k {
            let share = P[l].dot(&f);
            body.M[k * m + l] += share;
            if k != l {
                body.M[l * m + k] += share;
            }
        }
        body.p[k] += P[k].dot(p);
    }
}

/// What a bias of an interface means for the modes of its body.
pub(super) fn push_modes(body: &mut Bent, own: &Bent, p: &Six) {
    if let (Bent::Body(body), Bent::Interface(P)) = (body, own) {
        body.p.iter_mut().zip(P).for_each(|(sum, P)| *sum += P.dot(p));
    }
}

impl BentBody {
    /// Factors of D as [`super::forest`] keeps them; Y is I S and becomes U L^-T, what the modes bring comes off e.
    pub(super) fn factor(&mut self, S: &[Six], Y: &mut [Six], modes: &[Mode], e: &mut [f64], L: &mut [f64]) {
        let (n, m) = (S.len(), self.p.len());
        let own = n - m;
        for i in 0..n {
            for j in 0..=i {
                let mut d = S[i].dot(&Y[j]);
                if j >= own {
                    d += S[i].dot(&self.C[j - own]) + self.M[(i - own) * m + j - own];
                }
                if i >= own {
                    d += self.C[i - own].dot(&S[j]);
                }
                self.D[i * n + j] = d;
            }
        }
        for k in 0..m {
            e[own + k] -= self.p[k];
            Y[own + k] = Y[own + k] + self.C[k];
        }
        for i in 0..n {
            let row = i * (i + 1) / 2;
            if modes[i] != Mode::Free {
                L[row..=row + i].fill(0.0);
                Y[i] = Six::default();
                continue;
            }
            // L_ij d_j = D_ij - sum L_ik d_k L_jk; D keeps L_ij d_j in its place
            let mut d = self.D[i * n + i];
            for j in 0..i {
                let row_j = j * (j + 1) / 2;
                let mut x = self.D[i * n + j];
                for k in 0..j {
                    x -= self.D[i * n + k] * L[row_j + k];
                }
                self.D[i * n + j] = if modes[j] == Mode::Free { x } else { 0.0 };
                L[row + j] = self.D[i * n + j] * L[row_j + j];
                d -= L[row + j] * self.D[i * n + j];
                Y[i] = Y[i] - Y[j] * L[row + j];
            }
            L[row + i] = if d > 0.0 { 1.0 / d } else { f64::INFINITY };
        }
    }
}

impl Mechanism {
    /// What bends of link k at its motion: everything that depends on the modes.
    pub(super) fn bend(&self, k: usize, q: &[f64], u: &[f64], kin: &Kinematics, bent: &mut [Bent]) {
        let (Elastic::Body { of, .. }, Bent::Body(bent)) = (&self.links[k].elastic, &mut bent[k]) else { return };
        let m = of.modes();
        let first = self.links[k].first + self.links[k].count - m;
        let (q, u) = (&q[first..first + m], &u[first..first + m]);
        let w = kin.R.transpose() * kin.w;
        let (mut E, mut E_dot, mut hu) = ([0.0; 6], [0.0; 6], Vec3::ZERO);
        for k in 0..m {
            let mut slope = of.E1[k];
            let (mut h, mut coriolis) = (Vec3::ZERO, Vec3::ZERO);
            for l in 0..m {
                let N = of.N[l * m + k];
                h += N * q[l];
                coriolis += N * u[l];
                let E2 = &of.E2[k * m + l];
                (0..6).for_each(|c| slope[c] += 2.0 * E2[c] * q[l]);
            }
            for c in 0..6 {
                E[c] += 0.5 * (of.E1[k][c] + slope[c]) * q[k];
                E_dot[c] += slope[c] * u[k];
            }
            hu += h * u[k];
            let centrifugal = 0.5 * w.dot(inertia_of(&slope) * w);
            bent.bias_of_modes[k] = 2.0 * w.dot(coriolis) - centrifugal;
            bent.h[k] = kin.R * h;
        }
        bent.more_inertia = inertia_of(&E);
        bent.bias = kin.R * (inertia_of(&E_dot) * w + w.cross(hu));
        bent.spin = kin.R * hu;
    }

    /// What bending does to the acceleration of link k, an interface: by rates of rates, or to its motion by rates or changes.
    pub(super) fn bending(&self, k: usize, work: &Work, rates: &[f64]) -> Six {
        let (Bent::Interface(P), super::Parent::Link(parent)) = (&work.bent[k], self.links[k].parent) else {
            return Six::ZERO;
        };
        let body = &self.links[parent as usize];
        let first = body.first + body.count - P.len();
        P.iter().zip(&rates[first..]).fold(Six::ZERO, |sum, (P, rate)| sum + *P * *rate)
    }

    /// Keeps the rates of rates of the modes, of which reactions ask.
    pub(super) fn note_modes(&self, work: &mut Work, u_dot: &[f64]) {
        for (link, bent) in self.links.iter().zip(&mut work.bent) {
            if let Bent::Body(bent) = bent {
                let first = link.first + link.count - bent.rates.len();
                let count = bent.rates.len();
                bent.rates.copy_from_slice(&u_dot[first..first + count]);
            }
        }
    }

    /// Motion of link k alone, from that of what it hangs on.
    pub(super) fn place_one_bent(&self, k: usize, at: &dyn Fn(usize) -> (f64, f64), parent: &Kinematics) -> Kinematics {
        let link = &self.links[k];
        let placing = Placing { link, q: &[], u: &[], parent, links: &self.links, k };
        let Some((of, body, index)) = placing.body() else { return *parent };
        let first = body.first + body.count - of.modes();
        let (q, u): (Vec<f64>, Vec<f64>) = (first..first + of.modes()).map(at).unzip();
        let offset = Offset::new(&of.held[index], &q, &u);
        match link.elastic {
            Elastic::Interface { .. } => outward(&offset, parent).0,
            _ => inward(&offset, parent).0,
        }
    }

    /// Kinetic energy of bending beyond that of the bodies as rigid ones at their motion [J]; after `place` at the rates u.
    pub fn kinetic_of_bending(&self, kinematics: &[Kinematics], u: &[f64], work: &Work) -> f64 {
        let mut sum = 0.0;
        for ((link, bent), kin) in self.links.iter().zip(&work.bent).zip(kinematics) {
            if let Bent::Body(bent) = bent {
                let w = kin.R.transpose() * kin.w;
                let end = link.first + link.count;
                let modes: f64 = u[end - bent.p.len()..end].iter().map(|u| u * u).sum();
                sum += 0.5 * w.dot(bent.more_inertia * w) + kin.w.dot(bent.spin) + 0.5 * modes;
            }
        }
        sum
    }

    /// Largest von Mises stress at the nodes of link k at the coordinates q [Pa]; 0 of one that does not bend.
    pub fn peak_stress(&self, k: usize, q: &[f64]) -> f64 {
        let link = &self.links[k];
        let Elastic::Body { of, .. } = &link.elastic else { return 0.0 };
        of.peak_stress(&q[link.first + link.count - of.modes()..link.first + link.count]).0
    }

    /// Everything of the modes as it is before interfaces hand up theirs; the inertia that bending adds and its bias, resolved in world.
    pub(super) fn begin_bent(&self, k: usize, kin: &Kinematics, work: &mut Work) -> Option<(Mat3, Vec3)> {
        let Bent::Body(bent) = &mut work.bent[k] else { return None };
        let m = bent.p.len();
        bent.M.fill(0.0);
        for k in 0..m {
            bent.M[k * m + k] = 1.0;
            bent.C[k] = Six::new(bent.h[k], Vec3::ZERO);
        }
        bent.p.copy_from_slice(&bent.bias_of_modes);
        let more = kin.R * bent.more_inertia * kin.R.transpose();
        Some((more, bent.bias + kin.w.cross(more * kin.w)))
    }

    /// Torque about its centre of mass that the motion of link k takes beyond that of its body as a rigid one [N m].
    pub(super) fn torque_of_bending(&self, k: usize, alpha: Vec3, kin: &Kinematics, work: &Work) -> Vec3 {
        let Bent::Body(bent) = &work.bent[k] else { return Vec3::ZERO };
        let more = kin.R * bent.more_inertia * kin.R.transpose();
        let modes = bent.h.iter().zip(&bent.rates).fold(Vec3::ZERO, |sum, (h, rate)| sum + *h * *rate);
        more * alpha + kin.w.cross(more * kin.w) + bent.bias + modes
    }
}

/// tr(E) 1 - E.
fn inertia_of(E: &[f64; 6]) -> Mat3 {
    let [xx, yy, zz, xy, yz, zx] = *E;
    Mat3::from_cols(Vec3::new(yy + zz, -xy, -zx), Vec3::new(-xy, zz + xx, -yz), Vec3::new(-zx, -yz, xx + yy))
}
