//! Contact: normal laws, friction, laws of the user's own, and what they imply for an impact.

pub mod friction;
mod implied;
pub(crate) mod line;
pub mod normal;
pub(crate) mod surfaces;
pub mod user_law;

pub use implied::{Impact, Implied, Solid, implied};
