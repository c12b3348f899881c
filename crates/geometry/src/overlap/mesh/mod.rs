//! Overlap of two closed triangle meshes: regions, elastic foundation, distance (docs/theory/overlap.md).

mod closest;
mod cut;
mod distance;
mod foundation;
mod half_space;
mod patch;
mod placement;
mod predicate;
mod region;
mod surface;
mod terrain;

use crate::shape::HeightGrid;
use crate::{Pose, Vec3};
use cut::Cut;
pub use distance::{Gap, surface_distance};
use foundation::Quadrature;
pub use foundation::{Foundation, PressurePoint};
use half_space::HalfSpace;
pub use patch::{PatchPolygon, half_space_patch, surface_patch, terrain_patch};
use placement::Placement;
use rayon::prelude::*;
pub use region::Region;
use region::Regions;
pub use surface::Surface;
use terrain::Terrain;

/// Buffers for overlaps of surfaces, kept by the caller. What they hold changes no bit of a result.
#[derive(Debug, Default)]
pub struct SurfaceWork {
    cut: Cut,
    regions: Regions,
    quadrature: Quadrature,
    half_space: HalfSpace,
    terrain: Terrain,
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
/// Force and moment are continuous in the poses, also where regions merge or split. They are the derivative of the theory's
/// energy up to the quadrature (eq. 8), and of `energy` up to eq. 7: 2 % where the depth is 5 % of the smaller part.
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
    let SurfaceWork { cut, regions, quadrature, .. } = work;
    quadrature.run(cut, regions, [surface1, surface2], &X, X_w1, about_w)
}

/// Foundation of a surface, body 2, that dips into a half-space, body 1: closed form. Regions and points stay in `work`.
///
/// The pressure is that of the depth below the plane, on the surface alone: the energy is the integral of this depth over
/// the volume below, and force and moment are its exact derivatives.
pub fn half_space_foundation(
    X_w1: &Pose,
    surface2: &Surface,
    X_w2: &Pose,
    about_w: Vec3,
    work: &mut SurfaceWork,
) -> Foundation {
    let SurfaceWork { half_space, regions, quadrature, .. } = work;
    half_space.run(X_w1, surface2, X_w2, about_w, &mut regions.list, &mut quadrature.points)
}

/// Foundation of a surface, body 2, that dips into the ground below a height grid, body 1. Regions and points stay in `work`.
///
/// The pressure is that of the depth below the ground, on the surface of body 2 alone, as in a half-space: on plane ground the same, on a rough one the
/// gradient of an energy that is continuous from cell to cell.
pub fn terrain_foundation(
    grid: &HeightGrid,
    X_w1: &Pose,
    surface2: &Surface,
    X_w2: &Pose,
    about_w: Vec3,
    work: &mut SurfaceWork,
) -> Foundation {
    let SurfaceWork { terrain, regions, quadrature, .. } = work;
    terrain.run(grid, X_w1, surface2, X_w2, about_w, &mut regions.list, &mut quadrature.points)
}

/// Points of a surface, body 2, between two heights [m] over the plane of a half-space, body 1: those below the plane carry its foundation,
/// those above it have a negative depth. `region` counts the connected patches below the upper height.
pub fn half_space_points<'w>(
    X_w1: &Pose,
    surface2: &Surface,
    X_w2: &Pose,
    heights: [f64; 2],
    work: &'w mut SurfaceWork,
) -> &'w [PressurePoint] {
    let SurfaceWork { half_space, quadrature, .. } = work;
    half_space.points_between(X_w1, surface2, X_w2, heights, &mut quadrature.points);
    &quadrature.points
}

/// True for a heavy pair that several threads may share, where the caller is one of theirs.
fn are_shared(surfaces: [&Surface; 2]) -> bool {
    surfaces[0].is_heavy_with(surfaces[1])
        && rayon::current_thread_index().is_some()
        && rayon::current_num_threads() > 1
}

/// Does the same to all lots of a pair, on several threads where they share it.
fn shared<L: Send>(surfaces: [&Surface; 2], lots: &mut [L], work: impl Fn(&mut L) + Sync + Send) {
    if lots.len() > 1 && are_shared(surfaces) {
        lots.par_iter_mut().for_each(work);
    } else {
        lots.iter_mut().for_each(work);
    }
}
