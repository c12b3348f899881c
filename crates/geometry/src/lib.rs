//! Where things are and whether they touch. No time, no mass in motion.
//!
//! A [`Shape`] answers support, box, mass and surface; [`separation`] gives the signed distance of two placed shapes,
//! [`manifold()`] the points in which they touch, [`overlap()`] the volume they share,
//! [`Mesh`] is a closed surface of triangles, [`Solid`] a way to build one, [`Curve`] a smooth outline;
//! [`pairs`] the boxes that may touch, [`cast`] what a ray hits.
#![allow(rustdoc::broken_intra_doc_links)] // units stand in brackets: `[m]` is no link
#![allow(non_snake_case)] // matrices and poses are capital letters, as in CONVENTIONS.md
#![allow(clippy::neg_cmp_op_on_partial_ord)] // `!(x > 0.0)` on purpose: NaN must take the safe branch

pub mod aabb;
pub mod broad;
pub mod curve;
pub mod file;
pub mod manifold;
pub mod mesh;
pub mod narrow;
pub mod overlap;
pub mod ray;
pub mod shape;
pub mod solid;
pub mod space;
mod tree;
mod triangulate;

pub use aabb::Aabb;
pub use broad::{Broad, BroadScratch, pairs, pairs_into};
pub use curve::{Curve, CurveError, CurvePoint, Follower};
pub use manifold::{Manifold, ManifoldPoint, manifold};
pub use mesh::{Mesh, MeshError, MeshReport, TriMesh};
pub use narrow::{Separation, separation, separation_mpr};
pub use overlap::{
    Foundation, Gap, PatchPolygon, PressurePoint, Region, Surface, SurfaceWork, foundation, half_space_foundation,
    half_space_patch, half_space_points, surface_distance, surface_overlap, surface_patch, terrain_foundation,
    terrain_patch,
};
pub use overlap::{Moments, Overlap, PatchPoint, moments, overlap};
pub use ray::{Hit, cast};
pub use shape::{ContactKind, HeightGrid, Hull, MassProperties, Profile, Shape, ShapeError, contact_kind};
pub use solid::{Gear, Pieces, Solid, SolidError, Thread};
pub use space::{Mat3, Pose, Quat, Vec2, Vec3};
