//! Contact: normal laws, friction, laws of the user's own, and what they imply for an impact.

pub mod collider;
pub mod friction;
mod implied;
pub mod line;
pub mod normal;
pub mod patch;
pub mod surfaces;
pub mod user_law;

pub use implied::{Impact, Implied, Solid, implied};
