//! Contact: normal laws, friction, laws of the user's own, and what they imply for an impact.

mod implied;
pub mod user_law;

pub use implied::{Impact, Implied, Solid, implied};
pub use tippe_parts::contact::{collider, curve, friction, line, normal, patch, surfaces};
