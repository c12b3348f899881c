//! Mechanics: model, joints, force elements, contact laws, mechanisms, books and events. What both clocks stand on; it knows neither.
#![allow(non_snake_case)] // matrices and poses are capital letters, as in CONVENTIONS.md

pub mod contact;
mod exchange;
pub mod feed;
pub mod finite;
pub mod grains;
pub mod input;
pub mod ledger;
pub mod mechanism;
pub mod model;
pub mod observe;
pub mod pair;
pub mod resistance;
pub mod set;
pub mod soil;
pub mod state;
pub mod structure;
pub mod subsystem;

pub use tippe_parts::{cause, element, event, joint, kinematics, network, soil as soft_ground, tyre};

pub use cause::Cause;
pub use event::{Event, EventContact, EventKind};
pub use kinematics::BodyState;
pub use ledger::Ledger;
pub use model::{Model, capability, foreign};
pub use observe::{
    ContactSample, GrainSummary, MechanismSummary, Observe, Progress, Reach, Sample, Solutions, Summary,
};
