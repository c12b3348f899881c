//! Soil: a grid of columns with layers that is cut by tools, heaped, pressed together and slides; and soft ground as formulas.
//!
//! [`Ground`] is all that survives a step. What happens to it is a list of verbs, each in a file of its own: it fails along slopes
//! ([`Ground::settle`]), tools cut and push it ([`tool`]), bodies press on it ([`bearing`]). It knows geometry only: no scene, no
//! mechanism, no clock. Equations and sources: docs/theory/soil.md.
#![allow(non_snake_case)] // matrices, poses and volumes are capital letters, as in CONVENTIONS.md

pub mod bearing;
pub mod compaction;
pub mod cutting;
pub mod file;
mod ground;
mod kind;
mod slope;
pub mod soft;
pub mod stability;
mod start;
pub mod tool;

#[cfg(test)]
mod tests;

pub use ground::{Column, Ground, Layer, MOST_LAYERS, Parcel, TILE, Tile, Tread};
pub use kind::{KINDS, SOLID, SoilKind};
pub use slope::{Fence, Settled};
pub use start::{Feature, FeatureKind, Relief, Start, StartLayer};
