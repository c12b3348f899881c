//! What several groups of tests share: scenes of the realtime clock, and random numbers.

#[path = "../../../../numerics/tests/suite/random.rs"]
pub mod random;
pub mod scenes;
