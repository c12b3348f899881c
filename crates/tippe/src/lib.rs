//! Mechanics: scene, model, state, contact, the clocks.
#![allow(non_snake_case)] // matrices and poses are capital letters, as in CONVENTIONS.md

mod bed;
pub mod capability;
pub mod clock;
pub mod contact;
pub mod equation;
pub mod event;
pub mod force;
pub mod granular;
pub mod joint;
pub mod kinematics;
pub mod ledger;
pub mod linear;
pub mod material;
pub mod mechanism;
pub mod model;
pub mod network;
pub mod observe;
pub mod precise;
pub mod realtime;
pub mod run;
pub mod scene;
pub mod statics;

pub use tippe_geometry as geometry;
pub use tippe_granular as grains;

pub use event::{Event, EventContact, EventKind};
pub use ledger::Ledger;
pub use linear::{Linearization, linearize};
pub use model::Model;
pub use observe::{
    BodyState, ContactSample, GrainSummary, MechanismSummary, Observe, Progress, Reach, Sample, Solutions, Summary,
};
pub use precise::{Failure, Settings, State, Whole, simulate};
pub use statics::{Equilibrium, equilibrium};
