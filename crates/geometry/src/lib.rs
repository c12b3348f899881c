//! Where things are and whether they touch. No time, no mass in motion.
//!
//! A [`Shape`] answers support, box, mass and surface; [`separation`] gives the signed distance of two placed shapes,
//! [`overlap()`] the volume they share.
#![allow(non_snake_case)] // matrices and poses are capital letters, as in CONVENTIONS.md

pub mod aabb;
pub mod narrow;
pub mod overlap;
pub mod shape;
pub mod space;

pub use aabb::Aabb;
pub use narrow::{Separation, separation};
pub use overlap::{Overlap, PatchPoint, overlap};
pub use shape::{ContactKind, HeightGrid, Hull, MassProperties, Shape, ShapeError, TriMesh, contact_kind};
pub use space::{Mat3, Pose, Quat, Vec3};
