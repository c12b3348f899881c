//! Two convex cores with radii: GJK while the cores are apart, SAT or EPA when they overlap, Newton on the touching
//! features where a side is curved.
//!
//! Everything happens in the frame of core 1. The difference body is D = {b - a : a in core 1, b in core 2}; the cores
//! overlap where D holds the origin. For any unit n from 1 to 2, sigma(n) = min over D of n . w is a lower bound of the
//! signed distance, and the signed distance is its maximum over n. So whatever path leads to n, sigma(n) is safe.

use super::{Separation, epa, gjk, polish, sat};
use crate::shape::{Core, Tag};
use crate::{Mat3, Pose, Vec3};
use std::cell::Cell;
use std::cmp::Ordering;

/// Two cores with the pose of the second in the first.
pub(super) struct Pair<'a> {
    pub core1: &'a Core<'a>,
    pub core2: &'a Core<'a>,
    /// Takes components in 2 to components in 1.
    pub R_12: Mat3,
    /// Origin of 2 in 1 [m].
    pub p_12: Vec3,
    /// Scale of all tolerances [m].
    pub size: f64,
    /// Some core has curved parts.
    pub curved: bool,
    /// Parts of the last support: where the next one is looked for first.
    pub last: Cell<(Tag, Tag)>,
}

/// Point of the difference body with the two points it comes from, all in frame 1 [m].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Vertex {
    pub w: Vec3,
    pub a: Vec3,
    pub b: Vec3,
    pub tag1: Tag,
    pub tag2: Tag,
}

/// Answer for the cores: signed distance along n and the witness points in frame 1 [m].
#[derive(Clone, Copy, Debug)]
pub(super) struct Witness {
    pub gap: f64,
    pub n: Vec3,
    pub a: Vec3,
    pub b: Vec3,
}

impl Pair<'_> {
    /// Farthest point of D along d (any length).
    #[inline]
    pub(super) fn support(&self, d: Vec3) -> Vertex {
        let (hint1, hint2) = self.last.get();
        let (a, tag1) = self.core1.support_near(-d, hint1);
        let (b_2, tag2) = self.core2.support_near(self.R_12.mul_transpose_vec3(d), hint2);
        self.last.set((tag1, tag2));
        let b = self.p_12 + self.R_12 * b_2;
        Vertex { w: b - a, a, b, tag1, tag2 }
    }

    /// The parts that `v` comes from touch at the normal n: corners of the touching edge or face, or the touching rim.
    pub(super) fn touches(&self, v: &Vertex, n: Vec3) -> bool {
        let n_2 = self.R_12.mul_transpose_vec3(-n);
        let b_2 = self.R_12.mul_transpose_vec3(v.b - self.p_12);
        let slip = 1e-9 * self.size;
        self.core1.reach_of(v.tag1, v.a, n) >= self.core1.reach(n) - slip
            && self.core2.reach_of(v.tag2, b_2, n_2) >= self.core2.reach(n_2) - slip
    }

    /// min over D of n . w.
    #[inline]
    pub(super) fn sigma(&self, n: Vec3) -> f64 {
        n.dot(self.p_12) - self.core1.reach(n) - self.core2.reach(self.R_12.mul_transpose_vec3(-n))
    }
}

/// Signed distance of two cores thickened by radii.
pub(super) fn convex_convex(
    core1: &Core<'_>,
    radius1: f64,
    X_w1: &Pose,
    core2: &Core<'_>,
    radius2: f64,
    X_w2: &Pose,
) -> Separation {
    // One order for both ways round: swapping the pair changes signs only.
    if order(core1, radius1, X_w1, core2, radius2, X_w2) == Ordering::Greater {
        return ordered(core2, radius2, X_w2, core1, radius1, X_w1).flipped();
    }
    ordered(core1, radius1, X_w1, core2, radius2, X_w2)
}

fn order(core1: &Core<'_>, r1: f64, X1: &Pose, core2: &Core<'_>, r2: f64, X2: &Pose) -> Ordering {
    let key = |core: &Core<'_>, r: f64, X: &Pose| {
        let (p, q) = (X.position, X.rotation);
        [core.size(), r, p.x, p.y, p.z, q.x, q.y, q.z, q.w]
    };
    core1.rank().cmp(&core2.rank()).then_with(|| {
        let (k1, k2) = (key(core1, r1, X1), key(core2, r2, X2));
        k1.partial_cmp(&k2).unwrap_or(Ordering::Equal)
    })
}

fn ordered(core1: &Core<'_>, r1: f64, X_w1: &Pose, core2: &Core<'_>, r2: f64, X_w2: &Pose) -> Separation {
    let R_w1 = Mat3::from_quat(X_w1.rotation);
    let R_w2 = Mat3::from_quat(X_w2.rotation);
    let pair = Pair {
        core1,
        core2,
        R_12: R_w1.transpose() * R_w2,
        p_12: R_w1.mul_transpose_vec3(X_w2.position - X_w1.position),
        size: core1.size() + core2.size(),
        curved: core1.is_curved() || core2.is_curved(),
        last: Cell::new((Tag::MAX, Tag::MAX)),
    };
    let found = witness(&pair);
    // Thicken by the radii and go back to the world; the middle of the witness points is the more accurate place.
    let gap = found.gap - (r1 + r2);
    let middle = 0.5 * (found.a + found.b) + found.n * (0.5 * (r1 - r2));
    let normal = R_w1 * found.n;
    let middle_w = X_w1.position + R_w1 * middle;
    Separation { gap, normal, point1: middle_w - normal * (0.5 * gap), point2: middle_w + normal * (0.5 * gap) }
}

/// Signed distance of the cores.
fn witness(pair: &Pair<'_>) -> Witness {
    let mut start = pair.p_12;
    if let (Core::Box { half: h1 }, Core::Box { half: h2 }) = (pair.core1, pair.core2) {
        match sat::box_box(*h1, *h2, &pair.R_12, pair.p_12) {
            Ok(overlapping) => return overlapping,
            Err(apart) => start = apart,
        }
    }
    let mut simplex = gjk::Simplex::default();
    match gjk::nearest(pair, start, &mut simplex) {
        gjk::Nearest::Apart { v, converged } => apart(pair, &simplex, v, converged),
        gjk::Nearest::Proven(found) => found,
        gjk::Nearest::Overlapping => epa::penetration(pair, &simplex),
    }
}

/// Share of the size below which v is too short to give the normal: take it from the features instead [-].
const CLOSE: f64 = 1e-5;
/// Rounding of sigma, as a share of the size [-].
const MET: f64 = 1e-13;

fn apart(pair: &Pair<'_>, simplex: &gjk::Simplex, v: Vec3, converged: bool) -> Witness {
    let distance = v.length();
    let n = v / distance;
    let (a, b) = simplex.witness();
    let rough = Witness { gap: distance, n, a, b };
    if converged && !pair.curved && distance > CLOSE * pair.size {
        return rough;
    }
    // |v| is an upper bound, sigma a lower one: take the refinement whose lower bound is highest.
    let mut best = Witness { gap: pair.sigma(n), ..rough };
    let met = MET * pair.size;
    if let Some(fine) = polish::from_simplex(pair, simplex, n)
        && fine.witness.gap >= best.gap - met
    {
        best = fine.witness;
    }
    if best.gap < distance - met {
        let other = epa::penetration(pair, simplex);
        if other.gap > best.gap {
            best = other;
        }
    }
    if best.gap < distance - 1e-9 * pair.size && converged { rough } else { best }
}
