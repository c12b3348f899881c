//! Tests of the crate as its users see it.
#![allow(non_snake_case)]
#![allow(clippy::neg_cmp_op_on_partial_ord)] // `!(error <= tolerance)` on purpose: NaN must fail

mod mlcp_bad_input;
mod mlcp_random;
mod mlcp_truth;
mod random;
