//! Where things are and whether they touch. No time, no mass in motion.
#![allow(non_snake_case)] // matrices and poses are capital letters, as in CONVENTIONS.md

pub mod aabb;
pub mod space;

pub use aabb::Aabb;
pub use space::{Mat3, Pose, Quat, Vec3};
