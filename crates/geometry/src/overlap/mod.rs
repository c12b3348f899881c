//! Overlap of two solids: volume, centroid, mean normal, projected area, extent (Elmqvist and others 2015, 5.3 and 6).
//!
//! For an overlap body B with the part S1 of its boundary on solid 1, the area vector sum A n over S1 (outward from 1) gives
//! the mean normal and the projected area. Moving solid 2 by dx changes the volume by dV = -area normal . dx.
//!
//! Ways: balls, half-spaces and ellipsoids in closed form; polyhedra by clipping faces against planes (exact up to
//! rounding, no mesh of B is needed); cylinder, cone and capsule against a half-space by discs across their axis, whose
//! circular segments are closed forms, integrated along the axis to rounding, and prisms over smooth curves likewise; [`moments`] alone of cylinder and box likewise. Smoothing radii are left out.

mod clip;
mod mesh;
mod moments;
mod profile;
mod revolution;
mod round;
mod round_box;

use crate::{Pose, Shape, Vec3};
pub use mesh::{
    Foundation, Gap, PatchPolygon, PressurePoint, Region, Surface, SurfaceWork, foundation, half_space_foundation,
    half_space_patch, half_space_points, surface_distance, surface_overlap, surface_patch, terrain_foundation,
    terrain_patch,
};
pub use moments::{Moments, moments};

/// What two solids share.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlap {
    /// Volume [m^3].
    pub volume: f64,
    /// Centroid of the volume in the world [m].
    pub centroid: Vec3,
    /// Unit mean normal of solid 1's surface inside solid 2, from 1 to 2, in the world [-].
    pub normal: Vec3,
    /// Area seen along the normal, `|sum A n|` [m^2]; zero when one solid swallows the other.
    pub area: f64,
    /// Length along the normal [m].
    pub extent: f64,
    /// Columns along the normal that fill the volume, for laws that integrate over the patch: `sum area * depth = volume`
    /// and `sum area * depth * point = volume * centroid` across the normal. Exact for polyhedra, empty for balls.
    pub patch: Vec<PatchPoint>,
}

/// One column of an overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchPoint {
    /// Middle of the column in the world [m].
    pub point: Vec3,
    /// Area across the normal [m^2].
    pub area: f64,
    /// Length along the normal [m].
    pub depth: f64,
}

impl Overlap {
    /// The same seen from the other solid.
    pub fn flipped(mut self) -> Overlap {
        self.normal = -self.normal;
        self
    }
}

/// Overlap of two valid shapes; `None` when they share no volume, or when [`crate::contact_kind`] is not a patch and the
/// pair is neither two spheres nor a sphere or ellipsoid and a half-space. Parts of a compound are added up.
pub fn overlap(shape1: &Shape, X_w1: &Pose, shape2: &Shape, X_w2: &Pose) -> Option<Overlap> {
    use Shape::*;
    match (shape1, shape2) {
        (Compound(parts), _) => {
            sum(parts.iter().filter_map(|(X_sp, part)| overlap(part, &X_w1.then(X_sp), shape2, X_w2)))
        }
        (_, Compound(parts)) => {
            sum(parts.iter().filter_map(|(X_sp, part)| overlap(shape1, X_w1, part, &X_w2.then(X_sp))))
        }
        (Sphere { radius: r1 }, Sphere { radius: r2 }) => round::spheres(X_w1.position, *r1, X_w2.position, *r2),
        (HalfSpace, Sphere { radius }) => round::half_space_ellipsoid(X_w1, Vec3::splat(*radius), X_w2),
        (HalfSpace, Ellipsoid { semi_axes }) => round::half_space_ellipsoid(X_w1, *semi_axes, X_w2),
        (HalfSpace, Cylinder { .. } | Cone { .. } | Capsule { .. }) => revolution::half_space(X_w1, shape2, X_w2),
        (HalfSpace, Profile(own)) => profile::half_space(X_w1, own, X_w2),
        (_, HalfSpace) if !matches!(shape1, Box { .. } | Hull(_) | HalfSpace) => {
            overlap(shape2, X_w2, shape1, X_w1).map(Overlap::flipped)
        }
        (Box { .. } | Hull(_) | HalfSpace, Box { .. } | Hull(_) | HalfSpace) => {
            clip::polyhedra(shape1, X_w1, shape2, X_w2)
        }
        _ => None,
    }
}

/// Volumes, first moments and area vectors add; the extent is the largest.
fn sum(parts: impl Iterator<Item = Overlap>) -> Option<Overlap> {
    let mut total: Option<Overlap> = None;
    for part in parts {
        total = Some(match total {
            None => part,
            Some(mut t) => {
                let volume = t.volume + part.volume;
                let area = t.normal * t.area + part.normal * part.area;
                t.centroid += (part.centroid - t.centroid) * (part.volume / volume);
                t.volume = volume;
                t.area = area.length();
                t.normal = area.try_normalize().unwrap_or(t.normal);
                t.extent = t.extent.max(part.extent);
                t.patch.extend(part.patch);
                t
            }
        });
    }
    total
}
