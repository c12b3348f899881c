//! Newton on the touching features: from a rough normal to one good to rounding.
//!
//! Near the solution each core touches with one feature: a corner, an edge, a face, a rim, a slope or a smooth surface. A
//! feature's point is a function of the normal n and of up to two lengths u along straight directions G of the feature.
//! With a on core 1, b on core 2 and two tangents T of n the touching point solves
//!
//! T^T (b - a) = 0,  n . G = 0 for every straight direction,
//!
//! whose derivative with respect to a turn delta of n (n' = n + T delta) and to u is, with the curvature radii H = the second
//! derivative of the support function,
//!
//! | -T^T (H1 + H2) T - (n.(b-a)) 1    -T^T G1   T^T G2 |
//! |  (T^T G)^T                          0         0     |
//!
//! The result is accepted only when the supports confirm it: sigma(n) must match n . (b - a).

use super::convex::{Pair, Vertex, Witness};
use super::feature::{Bend, Feature, guess};
use super::gjk::Simplex;
use crate::shape::Core;
use crate::space::any_orthogonal;
use crate::{Mat3, Vec3};

/// A refined answer.
#[derive(Clone, Copy)]
pub(super) struct Polished {
    pub witness: Witness,
    /// Straight directions of the touching features: 2 fix the normal, 0 leave it to curvature alone.
    pub straight: usize,
    /// Both witness points are known to lie on their cores.
    pub on_cores: bool,
}

/// Refinement of GJK's normal.
pub(super) fn from_simplex(pair: &Pair<'_>, simplex: &Simplex, n: Vec3) -> Option<Polished> {
    let mut corners = [Vertex::default(); 4];
    let mut count = 0;
    for v in simplex.vertices() {
        corners[count] = *v;
        count += 1;
    }
    polish(pair, &corners[..count], simplex.weights(), n)
}

/// The answer for cores that are apart, proven by supports and by points that lie on both cores.
pub(super) fn apart(pair: &Pair<'_>, simplex: &Simplex, n: Vec3) -> Option<Witness> {
    from_simplex(pair, simplex, n).filter(|p| p.on_cores && p.witness.gap > 0.0).map(|p| p.witness)
}

/// Refinement of the normal `n` by the first features that fit, from a simplex of D with the weights of its point nearest
/// to the origin.
pub(super) fn polish(pair: &Pair<'_>, simplex: &[Vertex], weight: &[f64], n: Vec3) -> Option<Polished> {
    let to_2 = |x: Vec3| pair.R_12.mul_transpose_vec3(x);
    let mut points1 = [(Vec3::ZERO, 0); 4];
    let mut points2 = [(Vec3::ZERO, 0); 4];
    let (mut at1, mut at2) = (Vec3::ZERO, Vec3::ZERO);
    let count = simplex.len().min(4);
    for k in 0..count {
        let b_2 = to_2(simplex[k].b - pair.p_12);
        points1[k] = (simplex[k].a, simplex[k].tag1);
        points2[k] = (b_2, simplex[k].tag2);
        at1 += simplex[k].a * weight[k];
        at2 += b_2 * weight[k];
    }
    let guess1 = guess(pair.core1, &points1[..count], n);
    let guess2 = guess(pair.core2, &points2[..count], to_2(-n));
    for f1 in guess1.feature.iter().flatten() {
        for f2 in guess2.feature.iter().flatten() {
            if let Some(w) = newton(pair, f1, f2, f1.start(at1), f2.start(at2), n) {
                return Some(w);
            }
        }
    }
    None
}

/// Largest turn of the normal in one step [rad].
const MAX_TURN: f64 = 0.3;
/// Residual that counts as none: offset as a share of the size, cosine of a straight direction [-].
const SOLVED: f64 = 3e-15;
/// Newton doubles the digits: after a turn this small the next one is below rounding [rad]. What is then left lies in
/// directions that the equations do not fix.
const QUADRATIC: f64 = 1e-8;
/// Steps after which the features are given up unless they nearly fit: three or four do when they are the right ones.
const PATIENCE: usize = 8;
/// Most steps.
const STEPS: usize = 40;
/// Turns nobody comes back from [rad].
const HOPELESS: f64 = 1e3;
/// Square of the sine below which two straight directions count as parallel [-].
const PARALLEL: f64 = 1e-14;
/// Agreement of supports and features that counts as proof, as a share of the size [-].
const PROOF: f64 = 1e-12;
/// Offset across the normal that still counts as none, as a share of the size [-]: only undetermined directions come near.
const ACROSS: f64 = 1e-9;

/// Two features with a trial normal and lengths.
struct Trial<'a> {
    pair: &'a Pair<'a>,
    f1: &'a Feature,
    f2: &'a Feature,
    n: Vec3,
    u1: [f64; 2],
    u2: [f64; 2],
    /// Straight directions that take part, of each side.
    k1: usize,
    k2: usize,
}

/// Newton's equations at a trial.
struct Equations {
    /// Rows: two tangential, then one a straight direction; the last column is the right-hand side.
    K: [[f64; 5]; 4],
    s: Vec3,
    t: Vec3,
    /// The depth has a minimum here, not a saddle.
    minimal: bool,
    /// Offset of the points across the normal, as a share of the size [-].
    off: f64,
    /// Largest cosine between the normal and a straight direction [-].
    bent: f64,
}

fn newton(pair: &Pair<'_>, f1: &Feature, f2: &Feature, u1: [f64; 2], u2: [f64; 2], n: Vec3) -> Option<Polished> {
    let (mut k1, mut k2) = (f1.straight(), f2.straight());
    // More straight directions than the normal has freedom (flat on flat): the face decides, the other point stays.
    if k1 + k2 > 2 {
        if k1 == 2 { k2 = 0 } else { k1 = 0 }
    }
    let mut trial = Trial { pair, f1, f2, n, u1, u2, k1, k2 };
    for step in 0..STEPS {
        let mut e = trial.equations()?;
        if e.off < SOLVED && e.bent < SOLVED {
            return trial.proven().filter(|_| e.minimal);
        }
        // Bodies that nearly share an axis have a ring of nearly equal normals, along which Newton walks far but on track.
        if step >= PATIENCE && !(e.off < 0.02 && e.bent < 0.05) {
            return None;
        }
        let turn = trial.advance(&mut e);
        if turn < QUADRATIC {
            return trial.proven().filter(|_| e.minimal);
        }
        if !(turn < HOPELESS) {
            return None;
        }
    }
    None
}

impl Trial<'_> {
    fn equations(&mut self) -> Option<Equations> {
        let (pair, n) = (self.pair, self.n);
        let s = any_orthogonal(n);
        let t = n.cross(s);
        let t1 = self.f1.touch(n, self.u1)?;
        let t2 = self.f2.touch(pair.R_12.mul_transpose_vec3(-n), self.u2)?;
        let v = pair.p_12 + pair.R_12 * t2.p - t1.p;
        let gap = n.dot(v);
        if self.k1 + self.k2 == 0 && gap < 0.0 && matches!((&t1.bend, &t2.bend), (Bend::None, Bend::None)) {
            return None; // a corner inside never leaves through a corner
        }
        let G2 = [pair.R_12 * t2.G[0], pair.R_12 * t2.G[1]];
        if self.k1 == 1 && self.k2 == 1 {
            // Parallel straight directions say the same about n: keep one.
            let c = t1.G[0].cross(G2[0]).length_squared();
            if c <= PARALLEL * t1.G[0].length_squared() * G2[0].length_squared() {
                self.k2 = 0;
            }
        }
        let (k1, k2) = (self.k1, self.k2);
        let bend = bend_matrix(&t1.bend, &Mat3::IDENTITY, s, t) + bend_matrix(&t2.bend, &pair.R_12, s, t);
        let across = if k1 > 0 { t1.G[0] } else { G2[0] };
        let free = (k1 + k2 == 1).then(|| (-across.dot(t), across.dot(s)));
        let (M, minimal) = Symmetric2(bend.0 + gap, bend.1, bend.2 + gap).made_positive(k1 + k2, free, pair.size);
        let (vs, vt) = (s.dot(v), t.dot(v));
        let mut K = [[0.0; 5]; 4];
        K[0] = [-M.0, -M.1, 0.0, 0.0, -vs];
        K[1] = [-M.1, -M.2, 0.0, 0.0, -vt];
        let mut bent = 0.0f64;
        for i in 0..k1 + k2 {
            let (G, sign) = if i < k1 { (t1.G[i], -1.0) } else { (G2[i - k1], 1.0) };
            let (gs, gt, gn) = (G.dot(s), G.dot(t), G.dot(n));
            (K[0][2 + i], K[1][2 + i]) = (sign * gs, sign * gt);
            K[2 + i] = [gs, gt, 0.0, 0.0, -gn];
            bent = bent.max(gn.abs() / G.length());
        }
        Some(Equations { K, s, t, minimal, off: vs.abs().max(vt.abs()) / pair.size, bent })
    }

    /// One step; returns how far the normal wanted to turn [rad].
    fn advance(&mut self, e: &mut Equations) -> f64 {
        let x = solve(&mut e.K, 2 + self.k1 + self.k2);
        let turn = (x[0] * x[0] + x[1] * x[1]).sqrt();
        let scale = if turn > MAX_TURN { MAX_TURN / turn } else { 1.0 };
        self.n = (self.n + (e.s * x[0] + e.t * x[1]) * scale).normalize();
        for i in 0..self.k1 {
            self.u1[i] += x[2 + i] * scale;
        }
        for i in 0..self.k2 {
            self.u2[i] += x[2 + self.k1 + i] * scale;
        }
        turn
    }

    /// Accepts the features' answer when the supports agree.
    fn proven(&self) -> Option<Polished> {
        let (pair, n) = (self.pair, self.n);
        if !self.f1.in_range(self.u1) || !self.f2.in_range(self.u2) {
            return None;
        }
        let a = self.f1.touch(n, self.u1)?.p;
        let b_2 = self.f2.touch(pair.R_12.mul_transpose_vec3(-n), self.u2)?.p;
        // A polygon's outline is asked from the hull it belongs to.
        let on = |feature: &Feature, core: &Core<'_>, p: Vec3| match (feature.is_bounded(), core) {
            (true, _) => Some(true),
            (false, Core::Hull(hull)) => hull.contains(p, ACROSS * pair.size).then_some(true),
            (false, _) => Some(false),
        };
        let on_cores = on(self.f1, pair.core1, a)? & on(self.f2, pair.core2, b_2)?;
        let b = pair.p_12 + pair.R_12 * b_2;
        let sigma = pair.sigma(n);
        let v = b - a;
        let across = (v - n * n.dot(v)).length();
        let good = (n.dot(v) - sigma).abs() <= PROOF * pair.size && across <= ACROSS * pair.size;
        let witness = Witness { gap: sigma, n, a, b };
        good.then_some(Polished { witness, straight: self.k1 + self.k2, on_cores })
    }
}

/// T^T R H R^T T as (ss, st, tt).
struct Symmetric2(f64, f64, f64);

impl std::ops::Add for Symmetric2 {
    type Output = Symmetric2;
    fn add(self, o: Symmetric2) -> Symmetric2 {
        Symmetric2(self.0 + o.0, self.1 + o.1, self.2 + o.2)
    }
}

impl Symmetric2 {
    /// The matrix with its negative curvatures turned round, so that Newton climbs, and whether there were none. With one
    /// straight direction only the turn `free` counts, with two none does. A curvature of next to nothing (bodies with a
    /// common axis) stays what it is.
    fn made_positive(self, straight: usize, free: Option<(f64, f64)>, size: f64) -> (Symmetric2, bool) {
        let flat = 1e-11 * size;
        match (straight, free) {
            (0, _) => {
                let mean = 0.5 * (self.0 + self.2);
                let spread = (0.25 * (self.0 - self.2) * (self.0 - self.2) + self.1 * self.1).sqrt();
                let (low, high) = (mean - spread, mean + spread);
                if low >= -flat {
                    return (self, true);
                }
                // |M| = (M^2 + |det| 1)/(|low| + |high|) for a symmetric 2x2 matrix.
                let (det, sum) = ((low * high).abs(), low.abs() + high.abs());
                let square = Symmetric2(
                    self.0 * self.0 + self.1 * self.1,
                    self.1 * (self.0 + self.2),
                    self.2 * self.2 + self.1 * self.1,
                );
                (Symmetric2((square.0 + det) / sum, square.1 / sum, (square.2 + det) / sum), false)
            }
            (1, Some((c, d))) => {
                let squared = c * c + d * d;
                let curvature = (c * c * self.0 + 2.0 * c * d * self.1 + d * d * self.2) / squared;
                if !(curvature < -flat) {
                    return (self, true);
                }
                let k = -2.0 * curvature / squared;
                (Symmetric2(self.0 + k * c * c, self.1 + k * c * d, self.2 + k * d * d), false)
            }
            _ => (self, true),
        }
    }
}

fn bend_matrix(bend: &Bend, R: &Mat3, s: Vec3, t: Vec3) -> Symmetric2 {
    if let Bend::None = bend {
        return Symmetric2(0.0, 0.0, 0.0);
    }
    let (s, t) = (R.mul_transpose_vec3(s), R.mul_transpose_vec3(t));
    let (Hs, Ht) = (bend.apply(s), bend.apply(t));
    Symmetric2(s.dot(Hs), s.dot(Ht), t.dot(Ht))
}

/// Unknowns the equations do not fix (bodies with a common axis) stay where they are: pivots below this share of the
/// largest entry count as zero [-].
const UNDETERMINED: f64 = 1e-11;

/// Gauss with row pivoting.
fn solve(K: &mut [[f64; 5]; 4], count: usize) -> [f64; 4] {
    let largest = K.iter().flat_map(|row| &row[..4]).fold(0.0f64, |m, x| m.max(x.abs()));
    let mut row_of = [4usize; 4];
    let mut row = 0;
    for i in 0..count {
        let mut pivot = row;
        for r in row + 1..count {
            if K[r][i].abs() > K[pivot][i].abs() {
                pivot = r;
            }
        }
        if !(K[pivot][i].abs() > UNDETERMINED * largest) {
            continue;
        }
        K.swap(row, pivot);
        for r in row + 1..count {
            let f = K[r][i] / K[row][i];
            if f != 0.0 {
                for c in (i..count).chain([4]) {
                    K[r][c] -= f * K[row][c];
                }
            }
        }
        row_of[i] = row;
        row += 1;
        if row == count {
            break;
        }
    }
    let mut x = [0.0; 4];
    for i in (0..count).rev() {
        if row_of[i] < 4 {
            let equation = &K[row_of[i]];
            let mut s = equation[4];
            for c in i + 1..count {
                s -= equation[c] * x[c];
            }
            x[i] = s / equation[i];
        }
    }
    x
}
