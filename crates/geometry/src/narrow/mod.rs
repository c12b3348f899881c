//! Signed distance of two placed shapes: the table that says which pair goes to which routine.

mod analytic;
mod convex;
mod epa;
mod feature;
mod gjk;
mod mpr;
mod polish;
mod profile;
pub(crate) mod sat;
mod terrain;

use crate::shape::core_of;
use crate::{Pose, Shape, Vec3};
use convex::convex_convex;
pub use mpr::separation_mpr;
pub(crate) use profile::stretch;

/// Signed distance of two shapes with its witness points, resolved in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separation {
    /// Distance when apart, minus the smallest translation that separates when overlapping [m].
    pub gap: f64,
    /// Unit vector from shape 1 to shape 2 [-]: moving 2 along it opens the gap.
    pub normal: Vec3,
    /// Witness point on the surface of shape 1 [m].
    pub point1: Vec3,
    /// Witness point on the surface of shape 2 [m]; `point2 - point1 = gap * normal`.
    pub point2: Vec3,
}

impl Separation {
    /// The same seen from the other side.
    pub fn flipped(self) -> Separation {
        Separation { gap: self.gap, normal: -self.normal, point1: self.point2, point2: self.point1 }
    }

    /// Overlap without end, as between two half-spaces.
    fn endless(normal: Vec3, p1: Vec3, p2: Vec3) -> Separation {
        Separation { gap: f64::NEG_INFINITY, normal, point1: p1, point2: p2 }
    }
}

/// Signed distance between two valid shapes (see [`Shape::validate`]) placed in the world.
///
/// Never panics, never NaN. Closed forms where they exist, otherwise GJK on the cores plus radii; overlapping cores give
/// the smallest translation that separates them. A compound answers with its deepest part, a mesh with its convex hull: a
/// lower bound, for meshes touch by [`crate::overlap()`]; so do profiles, but for balls, capsules and half-spaces. Pairs that overlap without
/// end (half-spaces that are not opposed, height grids) answer with minus infinity.
#[inline]
pub fn separation(shape1: &Shape, X_w1: &Pose, shape2: &Shape, X_w2: &Pose) -> Separation {
    use Shape::*;
    match (shape1, shape2) {
        (Sphere { radius: r1 }, Sphere { radius: r2 }) => {
            analytic::sphere_sphere(X_w1.position, *r1, X_w2.position, *r2)
        }
        (HalfSpace, Sphere { radius }) => analytic::half_space_sphere(X_w1, X_w2.position, *radius),
        (Sphere { radius }, HalfSpace) => analytic::half_space_sphere(X_w2, X_w1.position, *radius).flipped(),
        (
            Box { .. } | Cylinder { .. } | Cone { .. } | Capsule { .. } | Ellipsoid { .. } | Profile(_),
            Sphere { radius },
        ) => analytic::convex_sphere(shape1, X_w1, X_w2.position, *radius),
        (
            Sphere { radius },
            Box { .. } | Cylinder { .. } | Cone { .. } | Capsule { .. } | Ellipsoid { .. } | Profile(_),
        ) => analytic::convex_sphere(shape2, X_w2, X_w1.position, *radius).flipped(),
        (Capsule { radius: r1, half_length: l1 }, Capsule { radius: r2, half_length: l2 }) => {
            analytic::capsule_capsule(X_w1, *r1, *l1, X_w2, *r2, *l2)
        }
        (Profile(own), Capsule { radius, half_length }) => profile::capsule(own, X_w1, X_w2, *radius, *half_length),
        (Capsule { radius, half_length }, Profile(own)) => {
            profile::capsule(own, X_w2, X_w1, *radius, *half_length).flipped()
        }
        _ => other_pair(shape1, X_w1, shape2, X_w2),
    }
}

fn other_pair(shape1: &Shape, X_w1: &Pose, shape2: &Shape, X_w2: &Pose) -> Separation {
    use Shape::*;
    match (shape1, shape2) {
        (Compound(parts), _) => {
            deepest(parts.iter().map(|(X_sp, part)| separation(part, &X_w1.then(X_sp), shape2, X_w2)))
                .unwrap_or_else(|| analytic::sphere_sphere(X_w1.position, 0.0, X_w2.position, 0.0))
        }
        (_, Compound(_)) => other_pair(shape2, X_w2, shape1, X_w1).flipped(),
        (HalfSpace, HalfSpace) => analytic::half_spaces(X_w1, X_w2),
        (HalfSpace | HeightGrid(_), HalfSpace | HeightGrid(_)) => {
            Separation::endless(X_w1.vector(Vec3::Z), X_w1.position, X_w2.position)
        }
        (HalfSpace, _) => {
            let (core, radius) = core_of(shape2);
            analytic::half_space_convex(X_w1, &core, radius, X_w2)
        }
        (_, HalfSpace) => {
            let (core, radius) = core_of(shape1);
            analytic::half_space_convex(X_w2, &core, radius, X_w1).flipped()
        }
        (HeightGrid(grid), _) => terrain::grid_convex(grid, X_w1, shape2, X_w2),
        (_, HeightGrid(grid)) => terrain::grid_convex(grid, X_w2, shape1, X_w1).flipped(),
        _ => {
            let (core1, radius1) = core_of(shape1);
            let (core2, radius2) = core_of(shape2);
            convex_convex(&core1, radius1, X_w1, &core2, radius2, X_w2)
        }
    }
}

/// The one with the smallest gap; the first of equals.
fn deepest(all: impl Iterator<Item = Separation>) -> Option<Separation> {
    let mut best: Option<Separation> = None;
    for s in all {
        if best.is_none_or(|b| s.gap < b.gap) {
            best = Some(s);
        }
    }
    best
}
