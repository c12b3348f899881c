//! Overlap of two closed triangle meshes: regions, elastic foundation, patch points, distance (docs/theory/overlap.md).

mod closest;
mod cut;
mod distance;
mod foundation;
mod predicate;
mod region;
mod surface;
mod tree;

use crate::{Pose, Vec3};
use cut::{Cut, Placement};
pub use distance::{Gap, surface_distance};
use foundation::Quadrature;
pub use foundation::{Foundation, PressurePoint};
pub use region::Region;
use region::Regions;
pub use surface::{Surface, SurfaceError};

/// Buffers for overlaps of surfaces, kept by the caller. What they hold changes no bit of a result.
#[derive(Debug, Default)]
pub struct SurfaceWork {
    cut: Cut,
    regions: Regions,
    quadrature: Quadrature,
}

impl SurfaceWork {
    /// Regions of the last overlap or foundation.
    pub fn regions(&self) -> &[Region] {
        &self.regions.list
    }

    /// Points of the last foundation: the quadrature itself, `sum area depth normal` is its force.
    pub fn points(&self) -> &[PressurePoint] {
        &self.quadrature.points
    }
}

/// Connected regions of what two placed surfaces share, in a fixed order; empty when they share no volume.
///
/// Exact up to rounding of the corners. Where faces, edges or corners coincide, solid 2 counts as shifted by less than
/// any length.
pub fn surface_overlap<'w>(
    surface1: &Surface,
    X_w1: &Pose,
    surface2: &Surface,
    X_w2: &Pose,
    work: &'w mut SurfaceWork,
) -> &'w [Region] {
    let surfaces = [surface1, surface2];
    let X = Placement::new(X_w1, X_w2);
    work.cut.run(surfaces, &X);
    work.regions.run(&mut work.cut, surfaces, &X, X_w1);
    &work.regions.list
}

/// Elastic foundation of two placed surfaces, with the moment about a point of the world [m]; regions and points stay in `work`.
///
/// Force and moment are continuous in the poses, also where regions merge or split. They are the derivative of the energy up
/// to the error of the quadrature and of the energy itself (eq. 7 leaves out what lies between edges of the other solid and
/// its medial surface: of the order of depth over patch size).
pub fn foundation(
    surface1: &Surface,
    X_w1: &Pose,
    surface2: &Surface,
    X_w2: &Pose,
    about_w: Vec3,
    work: &mut SurfaceWork,
) -> Foundation {
    surface_overlap(surface1, X_w1, surface2, X_w2, work);
    let X = Placement::new(X_w1, X_w2);
    let SurfaceWork { cut, regions, quadrature } = work;
    quadrature.run(cut, regions, [surface1, surface2], &X, X_w1, about_w)
}
