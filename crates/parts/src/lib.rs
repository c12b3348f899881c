//! What machines are made of: joints, force elements, contact laws, signals. One file for each thing, its equation on top.
#![allow(non_snake_case)] // matrices and poses are capital letters, as in CONVENTIONS.md

pub mod cause;
pub mod contact;
pub mod curve;
pub mod drawing;
pub mod element;
pub mod event;
pub mod joint;
pub mod kinematics;
pub mod network;
pub mod row;
pub mod sensor;
pub mod signal;
pub mod six;
pub use tippe_soil::soft as soil;
pub mod tyre;
