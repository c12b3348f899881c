//! Doors to other programs: scenes as functional mock-up units (FMI 2.0 and 3.0), units of others, the C interface.
//!
//! Everything but the files of [`border`] is safe Rust. These speak C, and so they are unsafe: they turn pointers
//! into slices and texts and nothing else, and no panic leaves them.
#![allow(non_snake_case)] // poses are capital letters, as in CONVENTIONS.md

pub mod border;
pub mod collider;
pub mod description;
pub mod exchange;
pub mod export;
pub mod instance;
pub mod library;
pub mod message;
pub mod modelica;
pub mod plan;
pub mod serve;
pub mod session;
