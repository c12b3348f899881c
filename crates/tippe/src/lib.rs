//! Tippe: scenes, models, three clocks, runs.
#![allow(non_snake_case)] // matrices and poses are capital letters, as in CONVENTIONS.md

pub mod clock;
pub mod granular;
pub mod linear;
pub mod optimize;
pub mod run;
pub mod simulation;
pub mod statics;
pub mod stepping;
pub mod variables;

pub use tippe_flexible as flexible;
pub use tippe_geometry as geometry;
pub use tippe_granular as grains;
pub use tippe_mechanics::{
    capability, cause, contact, element, event, joint, kinematics, ledger, mechanism, model, network, observe,
    soft_ground as soil, tyre,
};
pub use tippe_precise as precise;
pub use tippe_realtime as realtime;
pub use tippe_scene as scene;
pub use tippe_scene::{equation, material};
pub use tippe_soil as ground;

pub use linear::{Linearization, linearize};
pub use precise::{Failure, Settings, State, Whole, simulate};
pub use simulation::Simulation;
pub use statics::{Equilibrium, equilibrium};
pub use tippe_mechanics::{
    BodyState, Cause, ContactSample, Event, EventContact, EventKind, GrainSummary, Ledger, MechanismSummary, Model,
    Observe, Progress, Reach, Sample, Solutions, Summary,
};
