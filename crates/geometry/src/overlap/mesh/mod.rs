//! Overlap of two closed triangle meshes: regions, elastic foundation, patch points, distance (docs/theory/overlap.md).

mod closest;
mod cut;
mod distance;
mod foundation;
mod half_space;
mod predicate;
mod region;
mod rows;
mod surface;
mod tree;

use crate::{Pose, Vec3};
use cut::{Cut, Placement};
pub use distance::{Gap, surface_distance};
use foundation::Quadrature;
pub use foundation::{Foundation, PressurePoint};
use half_space::HalfSpace;
pub use region::Region;
use region::Regions;
use rows::Rows;
pub use surface::Surface;

/// Buffers for overlaps of surfaces, kept by the caller. What they hold changes no bit of a result.
#[derive(Debug, Default)]
pub struct SurfaceWork {
    cut: Cut,
    regions: Regions,
    quadrature: Quadrature,
    rows: Rows,
    half_space: HalfSpace,
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

/// At most `most` points for each region that stand for its patch, for solvers with one row per point; regions stay in `work`.
///
/// Points lie on corners of the overlap, the outline of the patch among them; `depth` is the distance to the other surface
/// (zero where an edge passes a face), `area` sums to the area of the patch, ids last while the same features touch.
pub fn surface_rows<'w>(
    surface1: &Surface,
    X_w1: &Pose,
    surface2: &Surface,
    X_w2: &Pose,
    most: usize,
    work: &'w mut SurfaceWork,
) -> &'w [PressurePoint] {
    foundation(surface1, X_w1, surface2, X_w2, X_w1.position, work);
    let X = Placement::new(X_w1, X_w2);
    let SurfaceWork { cut, regions, quadrature, rows, .. } = work;
    rows.gather(cut, regions, [surface1, surface2], &X, X_w1);
    rows.run(&regions.list, &quadrature.points, most);
    &rows.list
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
    half_space.run(X_w1, surface2, X_w2, about_w, &mut regions.list, &mut quadrature.points, None)
}

/// Like [`surface_rows`] for a surface that dips into a half-space, body 1.
pub fn half_space_rows<'w>(
    X_w1: &Pose,
    surface2: &Surface,
    X_w2: &Pose,
    most: usize,
    work: &'w mut SurfaceWork,
) -> &'w [PressurePoint] {
    let SurfaceWork { half_space, regions, quadrature, rows, .. } = work;
    rows.candidates.clear();
    let (list, points) = (&mut regions.list, &mut quadrature.points);
    half_space.run(X_w1, surface2, X_w2, X_w2.position, list, points, Some(&mut rows.candidates));
    rows.run(list, points, most);
    &rows.list
}
