//! Mechanics: scene, model, state, contact, the clocks.
#![allow(non_snake_case)] // matrices and poses are capital letters, as in CONVENTIONS.md

pub mod event;
pub mod ledger;
pub mod observe;
pub mod run;

pub use event::{Event, EventKind};
pub use ledger::Ledger;
pub use observe::{BodyState, ContactSample, Observe, Progress, Summary};
