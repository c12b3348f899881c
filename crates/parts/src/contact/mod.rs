//! Contact laws: what a shape may collide with, normal laws, friction, patches, surfaces.

pub mod collider;
pub mod curve;
pub mod friction;
pub mod line;
pub mod normal;
pub mod patch;
pub mod surfaces;
