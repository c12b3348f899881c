//! What a person can write: equations with units, words, and the keys under which things of a scene are written.
#![allow(non_snake_case)] // matrices and poses are capital letters, as in CONVENTIONS.md

pub mod equation;
pub mod key;
pub mod part;
pub mod place;
pub mod text;
