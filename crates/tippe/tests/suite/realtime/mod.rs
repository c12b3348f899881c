//! The realtime clock against closed forms, against itself, and under bad treatment.

mod hooks;
mod invariants;
mod robustness;
mod sleeping;
mod truth;
