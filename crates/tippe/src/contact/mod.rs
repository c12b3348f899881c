//! Contact: material data, normal laws, friction, and the pair that joins them.

pub mod friction;
pub mod normal;
pub mod user_law;
