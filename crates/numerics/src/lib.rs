//! Mathematics over slices of f64: one-step integrators with dense output, root location, block-sparse factorisation,
//! eigenvalues of small dense matrices, linear complementarity with bounds.
//! No bodies, no 3-vectors, no clock but the variable `t`.
#![allow(non_snake_case)] // matrices are capital letters, as in the books

pub mod block_lu;
pub mod dense;
pub mod kkt;
pub mod mlcp;
pub mod ode;
pub mod root;
pub mod semidefinite;

pub use block_lu::{BlockLu, BlockMatrix, BlockPattern};
pub use ode::{Jacobian, Method, Stepper, System};
pub use semidefinite::Semidefinite;
