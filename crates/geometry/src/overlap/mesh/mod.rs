//! Overlap of two closed triangle meshes: regions, elastic foundation, patch points, distance (docs/theory/overlap.md).

mod cut;
mod predicate;
mod region;
mod surface;
mod tree;

use crate::Pose;
use cut::{Cut, Placement};
pub use region::Region;
use region::Regions;
pub use surface::{Surface, SurfaceError};

/// Buffers for overlaps of surfaces, kept by the caller. What they hold changes no bit of a result.
#[derive(Debug, Default)]
pub struct SurfaceWork {
    cut: Cut,
    regions: Regions,
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
