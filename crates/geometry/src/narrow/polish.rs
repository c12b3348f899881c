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
use super::gjk::Simplex;
use crate::shape::Core;
use crate::space::any_orthogonal;
use crate::{Mat3, Vec3};

/// The part of a core that touches, in the core's frame.
#[derive(Clone, Copy, Debug)]
enum Feature {
    Corner {
        p: Vec3,
    },
    /// From p along e, u from 0 to 1.
    Edge {
        p: Vec3,
        e: Vec3,
    },
    /// Plane through p with unit tangents s and t; the face itself reaches over `area`.
    Face {
        p: Vec3,
        s: Vec3,
        t: Vec3,
        area: Area,
    },
    /// Circle around z.
    Rim {
        z: f64,
        radius: f64,
    },
    /// Cone or cylinder around z: radius = at_zero + rate z, u is z.
    Slope {
        at_zero: f64,
        rate: f64,
        low: f64,
        high: f64,
    },
    Smooth {
        semi: Vec3,
    },
}

/// Extent of a face in its two lengths.
#[derive(Clone, Copy, Debug)]
enum Area {
    /// From 0 to these.
    Rectangle(f64, f64),
    /// Around 0.
    Disc(f64),
    /// Some polygon.
    Polygon,
}

/// A feature evaluated at an outward normal.
struct Touch {
    p: Vec3,
    /// Straight directions.
    G: [Vec3; 2],
    /// Curvature: H = k t t^T for rims and slopes, the ellipsoid's otherwise.
    bend: Bend,
}

enum Bend {
    None,
    Around { k: f64, t: Vec3 },
    Ellipsoid { semi2: Vec3, p: Vec3, h: f64 },
}

impl Bend {
    fn apply(&self, x: Vec3) -> Vec3 {
        match self {
            Bend::None => Vec3::ZERO,
            Bend::Around { k, t } => *t * (k * t.dot(x)),
            Bend::Ellipsoid { semi2, p, h } => (*semi2 * x - *p * p.dot(x)) / *h,
        }
    }
}

impl Feature {
    fn straight(&self) -> usize {
        match self {
            Feature::Corner { .. } | Feature::Rim { .. } | Feature::Smooth { .. } => 0,
            Feature::Edge { .. } | Feature::Slope { .. } => 1,
            Feature::Face { .. } => 2,
        }
    }

    fn start(&self, at: Vec3) -> [f64; 2] {
        match self {
            Feature::Edge { p, e } => [(at - *p).dot(*e) / e.length_squared(), 0.0],
            Feature::Face { p, s, t, .. } => [(at - *p).dot(*s), (at - *p).dot(*t)],
            Feature::Slope { low, high, .. } => [at.z.clamp(*low, *high), 0.0],
            _ => [0.0; 2],
        }
    }

    /// Point and derivatives at outward direction n; `None` where a rim has no farthest point.
    fn touch(&self, n: Vec3, u: [f64; 2]) -> Option<Touch> {
        let zero = [Vec3::ZERO; 2];
        let around = |radius: f64| {
            let rho = (n.x * n.x + n.y * n.y).sqrt();
            let out = Vec3::new(n.x / rho, n.y / rho, 0.0);
            (rho > 1e-9).then(|| (out, Bend::Around { k: radius / rho, t: Vec3::new(-out.y, out.x, 0.0) }))
        };
        Some(match self {
            Feature::Corner { p } => Touch { p: *p, G: zero, bend: Bend::None },
            Feature::Edge { p, e } => Touch { p: *p + *e * u[0], G: [*e, Vec3::ZERO], bend: Bend::None },
            Feature::Face { p, s, t, .. } => Touch { p: *p + *s * u[0] + *t * u[1], G: [*s, *t], bend: Bend::None },
            Feature::Rim { z, radius } => {
                let (out, bend) = around(*radius)?;
                Touch { p: out * *radius + Vec3::new(0.0, 0.0, *z), G: zero, bend }
            }
            Feature::Slope { at_zero, rate, .. } => {
                let radius = at_zero + rate * u[0];
                let (out, bend) = around(radius)?;
                let G = out * *rate + Vec3::Z;
                Touch { p: out * radius + Vec3::new(0.0, 0.0, u[0]), G: [G, Vec3::ZERO], bend }
            }
            Feature::Smooth { semi } => {
                let h = (*semi * n).length();
                let semi2 = *semi * *semi;
                let p = semi2 * n / h;
                Touch { p, G: zero, bend: Bend::Ellipsoid { semi2, p, h } }
            }
        })
    }

    /// The lengths stay on the feature, as far as that is known.
    fn in_range(&self, u: [f64; 2]) -> bool {
        const SLIP: f64 = 1e-9;
        match self {
            Feature::Edge { .. } => u[0] > -SLIP && u[0] < 1.0 + SLIP,
            Feature::Slope { low, high, .. } => {
                let slip = SLIP * (high - low);
                u[0] > low - slip && u[0] < high + slip
            }
            Feature::Face { area: Area::Rectangle(x, y), .. } => {
                let slip = SLIP * (x + y);
                u[0] > -slip && u[0] < x + slip && u[1] > -slip && u[1] < y + slip
            }
            Feature::Face { area: Area::Disc(r), .. } => u[0] * u[0] + u[1] * u[1] < r * r * (1.0 + SLIP),
            _ => true,
        }
    }

    /// `in_range` tells the whole truth.
    fn is_bounded(&self) -> bool {
        !matches!(self, Feature::Face { area: Area::Polygon, .. })
    }
}

/// A few features a core may touch with, the likeliest first.
#[derive(Default)]
struct Guess {
    feature: [Option<Feature>; 3],
    count: usize,
}

impl Guess {
    fn push(&mut self, f: Feature) {
        if self.count < 3 {
            self.feature[self.count] = Some(f);
            self.count += 1;
        }
    }
}

/// Direction cosines below this suggest that the normal is meant to be at right angles [-].
const NEARLY_FLAT: f64 = 0.05;

/// Features suggested by the support points and the outward direction n, all in the core's frame.
fn guess(core: &Core<'_>, points: &[(Vec3, u32)], n: Vec3) -> Guess {
    let mut g = Guess::default();
    let first = points[0];
    let other = points.iter().find(|p| p.1 != first.1).copied();
    match core {
        Core::Point => g.push(Feature::Corner { p: Vec3::ZERO }),
        Core::Segment { half } => {
            let end = Vec3::new(0.0, 0.0, *half);
            match other {
                Some(_) => g.push(Feature::Edge { p: -end, e: 2.0 * end }),
                None => g.push(Feature::Corner { p: first.0 }),
            }
        }
        Core::Box { half } => {
            let free = points.iter().fold(0, |bits, p| bits | (p.1 ^ first.1));
            if free != 7 {
                g.push(box_feature(*half, free, first.0));
            }
            let flat = (0..3).fold(0, |bits, i| bits | ((n[i].abs() < NEARLY_FLAT) as u32) << i);
            if flat != free && flat != 7 {
                let corner = Vec3::new(half.x.copysign(n.x), half.y.copysign(n.y), half.z.copysign(n.z));
                g.push(box_feature(*half, flat, corner));
            }
        }
        Core::Frustum { low, low_radius, high, high_radius } => {
            let rate = (high_radius - low_radius) / (high - low);
            let slope = Feature::Slope { at_zero: low_radius - rate * low, rate, low: *low, high: *high };
            if other.is_some() {
                g.push(slope);
            }
            let rho = (n.x * n.x + n.y * n.y).sqrt();
            let (z, radius) = if other.is_none() && first.1 == 1 || other.is_some() && n.z > 0.0 {
                (*high, *high_radius)
            } else {
                (*low, *low_radius)
            };
            let top = Vec3::new(0.0, 0.0, z);
            if radius == 0.0 {
                g.push(Feature::Corner { p: top });
            } else {
                if rho < NEARLY_FLAT {
                    g.push(Feature::Face { p: top, s: Vec3::X, t: Vec3::Y, area: Area::Disc(radius) });
                }
                g.push(Feature::Rim { z, radius });
            }
            if other.is_none() && (rate * rho + n.z).abs() < NEARLY_FLAT {
                g.push(slope);
            }
        }
        Core::Ellipsoid { semi } => g.push(Feature::Smooth { semi: *semi }),
        Core::Hull(_) | Core::Prism { .. } => {
            let third = other.and_then(|o| points.iter().find(|p| p.1 != first.1 && p.1 != o.1));
            match (other, third) {
                (None, _) => g.push(Feature::Corner { p: first.0 }),
                (Some(o), None) => g.push(Feature::Edge { p: first.0, e: o.0 - first.0 }),
                (Some(o), Some(t)) => {
                    if let Some(m) = (o.0 - first.0).cross(t.0 - first.0).try_normalize() {
                        let s = any_orthogonal(m);
                        g.push(Feature::Face { p: first.0, s, t: m.cross(s), area: Area::Polygon });
                    }
                }
            }
        }
    }
    g
}

/// Corner, edge or face of a box that contains the corner `p`; `free` has a bit for every axis along which it extends.
fn box_feature(half: Vec3, free: u32, p: Vec3) -> Feature {
    let unit = |i: usize| [Vec3::X, Vec3::Y, Vec3::Z][i];
    let axes: [usize; 2] = match free {
        1 => [0, 3],
        2 => [1, 3],
        4 => [2, 3],
        3 => [0, 1],
        6 => [1, 2],
        5 => [2, 0],
        _ => return Feature::Corner { p },
    };
    let mut start = p;
    start[axes[0]] = -half[axes[0]];
    if axes[1] == 3 {
        return Feature::Edge { p: start, e: unit(axes[0]) * (2.0 * half[axes[0]]) };
    }
    start[axes[1]] = -half[axes[1]];
    let area = Area::Rectangle(2.0 * half[axes[0]], 2.0 * half[axes[1]]);
    Feature::Face { p: start, s: unit(axes[0]), t: unit(axes[1]), area }
}

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

/// Refinement of the normal `n` by the first features that fit, from a simplex of D with the weights of its point nearest to the origin.
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
/// Steps after which the features are given up: three or four do when they are the right ones.
const STEPS: usize = 12;
/// Agreement of supports and features that counts as proof, as a share of the size [-].
const PROOF: f64 = 1e-13;

fn newton(pair: &Pair<'_>, f1: &Feature, f2: &Feature, u1: [f64; 2], u2: [f64; 2], n: Vec3) -> Option<Polished> {
    let (mut n, mut u1, mut u2) = (n, u1, u2);
    let (mut k1, mut k2) = (f1.straight(), f2.straight());
    // More straight directions than the normal has freedom (flat on flat): the face decides, the other point stays.
    if k1 + k2 > 2 {
        if k1 == 2 { k2 = 0 } else { k1 = 0 }
    }
    for _ in 0..STEPS {
        let s = any_orthogonal(n);
        let t = n.cross(s);
        let t1 = f1.touch(n, u1)?;
        let t2 = f2.touch(pair.R_12.mul_transpose_vec3(-n), u2)?;
        let b = pair.p_12 + pair.R_12 * t2.p;
        let v = b - t1.p;
        let g = n.dot(v);
        if k1 + k2 == 0 && g < 0.0 && matches!((&t1.bend, &t2.bend), (Bend::None, Bend::None)) {
            return None; // a corner inside never leaves through a corner
        }
        let G2 = [pair.R_12 * t2.G[0], pair.R_12 * t2.G[1]];
        if k1 == 1 && k2 == 1 {
            // Parallel straight directions say the same about n: keep one.
            let c = t1.G[0].cross(G2[0]).length_squared();
            if c <= 1e-14 * t1.G[0].length_squared() * G2[0].length_squared() {
                k2 = 0;
            }
        }
        let bend = bend_matrix(&t1.bend, &Mat3::IDENTITY, s, t) + bend_matrix(&t2.bend, &pair.R_12, s, t);
        let across = if k1 > 0 { t1.G[0] } else { G2[0] };
        let free = (k1 + k2 == 1).then(|| (-across.dot(t), across.dot(s)));
        let (M, minimal) = Symmetric2(bend.0 + g, bend.1, bend.2 + g).made_positive(k1 + k2, free, pair.size);
        let count = 2 + k1 + k2;
        // Rows: two tangential, then one a straight direction; last column is the right-hand side.
        let mut K = [[0.0; 5]; 4];
        K[0][0] = -M.0;
        K[0][1] = -M.1;
        K[1][0] = -M.1;
        K[1][1] = -M.2;
        K[0][4] = -s.dot(v);
        K[1][4] = -t.dot(v);
        for i in 0..k1 + k2 {
            let (G, sign) = if i < k1 { (t1.G[i], -1.0) } else { (G2[i - k1], 1.0) };
            let (gs, gt) = (G.dot(s), G.dot(t));
            K[0][2 + i] = sign * gs;
            K[1][2 + i] = sign * gt;
            K[2 + i][0] = gs;
            K[2 + i][1] = gt;
            K[2 + i][4] = -G.dot(n);
        }
        let (mut off, mut bent) = (K[0][4].abs().max(K[1][4].abs()), 0.0f64);
        for i in 0..k1 + k2 {
            let length = if i < k1 { t1.G[i] } else { G2[i - k1] }.length();
            bent = bent.max(K[2 + i][4].abs() / length);
        }
        off /= pair.size;
        if off < SOLVED && bent < SOLVED {
            let witness = proven(pair, f1, f2, u1, u2, n).filter(|_| minimal)?;
            return Some(Polished { witness, straight: k1 + k2, on_cores: f1.is_bounded() && f2.is_bounded() });
        }
        let x = solve(&mut K, count);
        let turn = (x[0] * x[0] + x[1] * x[1]).sqrt();
        let scale = if turn > MAX_TURN { MAX_TURN / turn } else { 1.0 };
        n = (n + (s * x[0] + t * x[1]) * scale).normalize();
        for i in 0..k1 {
            u1[i] += x[2 + i] * scale;
        }
        for i in 0..k2 {
            u2[i] += x[2 + k1 + i] * scale;
        }
        if !(turn < 1e3) {
            return None;
        }
        if turn < QUADRATIC {
            let witness = proven(pair, f1, f2, u1, u2, n).filter(|_| minimal)?;
            return Some(Polished { witness, straight: k1 + k2, on_cores: f1.is_bounded() && f2.is_bounded() });
        }
    }
    None
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

/// Accepts the features' answer when the supports agree.
fn proven(pair: &Pair<'_>, f1: &Feature, f2: &Feature, u1: [f64; 2], u2: [f64; 2], n: Vec3) -> Option<Witness> {
    if !f1.in_range(u1) || !f2.in_range(u2) {
        return None;
    }
    let a = f1.touch(n, u1)?.p;
    let b = pair.p_12 + pair.R_12 * f2.touch(pair.R_12.mul_transpose_vec3(-n), u2)?.p;
    let sigma = pair.sigma(n);
    let v = b - a;
    let across = (v - n * n.dot(v)).length();
    let good = (n.dot(v) - sigma).abs() <= 10.0 * PROOF * pair.size && across <= 1e-9 * pair.size;
    good.then_some(Witness { gap: sigma, n, a, b })
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
