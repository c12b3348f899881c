//! Tests of the crate as its users see it.
#![allow(non_snake_case)]

mod distance_truth;
mod random;
