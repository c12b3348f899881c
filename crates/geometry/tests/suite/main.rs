//! Tests of the crate as its users see it.
#![allow(non_snake_case)]
#![allow(clippy::neg_cmp_op_on_partial_ord)] // `!(error <= tolerance)` on purpose: NaN must fail

mod broad;
mod closed_forms;
mod continuity;
mod distance_truth;
mod files;
mod films;
mod manifolds;
mod mesh_foundation;
mod mesh_overlap;
mod meshes;
mod overlap_truth;
mod pieces;
mod random;
mod random_pairs;
mod rays;
mod solids;
mod surfaces;
mod terrain;
