//! Flexible bodies: finite elements, their meshes, few modes in the place of many nodes, and what the modes mean for a body that
//! moves far. No scene and no mechanism; the linear algebra of large sparse matrices (faer) is paid for here alone.
#![allow(non_snake_case)] // matrices are capital letters, as in CONVENTIONS.md

pub mod contour;
pub mod element;
pub mod error;
pub mod interface;
pub mod make;
pub mod mesh;
pub mod read;
pub mod reduce;
pub mod sparse;
mod stiffening;
pub mod stress;
pub mod structure;
pub mod topology;

pub use error::FlexibleError;
pub use interface::{Hold, Interface, Select};
pub use mesh::{Kind, Mesh};
pub use reduce::{Choice, Damping, Reduced, Stiffening};
pub use structure::{Elastic, Plane, Structure};
