//! Grains by the million: spheres and rigid clumps of spheres, explicit steps, moving walls. Knows no scene and no
//! mechanism.
//!
//! [`Grains`] is everything that survives a step; [`Settings`] what a run is told; [`Wall`] what grains meet besides each
//! other: the caller moves walls and reads back the impulse the grains gave them. [`Grains::advance`] is the step.
//! Equations are numbered in `docs/theory/grains.md`.
#![allow(rustdoc::broken_intra_doc_links)] // units stand in brackets: `[m]` is no link
#![allow(non_snake_case)] // matrices and poses are capital letters, as in CONVENTIONS.md
#![allow(clippy::neg_cmp_op_on_partial_ord)] // `!(x > 0.0)` on purpose: NaN must take the safe branch

mod advance;
mod chunk;
mod clump;
mod error;
mod files;
mod forces;
mod grains;
mod ground;
mod kick;
mod law;
mod ledger;
mod measure;
mod neighbours;
mod packing;
mod realtime;
mod relist;
mod settings;
mod solid;
mod wall;

pub use advance::{Hasty, HastyWall, Report};
pub use clump::{Clump, ClumpMass, ClumpSphere, ClumpStart};
pub use error::GrainError;
pub use files::{CSV_HEADER, grains_from_csv};
pub use grains::{BYTES_PER_GRAIN, Grain, Grains};
pub use ground::Heights;
pub use law::full::Losses;
pub use ledger::Ledger;
pub use measure::{Probe, Probed, Repose};
pub use packing::{Emitter, Random, Sink, Sizes, lattice, random_sequential};
pub use realtime::Frame;
pub use settings::{Cohesion, Domain, Material, PairLaw, RAYLEIGH_SHARE_MAX, Rolling, Settings};
pub use solid::Solid;
pub use wall::{Surface, Wall, WallMesh};
