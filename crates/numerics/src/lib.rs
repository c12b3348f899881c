//! Mathematics over slices of f64: one-step integrators with events, factorisations. No bodies, no 3-vectors.
