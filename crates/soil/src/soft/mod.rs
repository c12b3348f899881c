//! Soft ground: how far it gives under a pressure, how it holds against shear, and what that does to a wheel or a track. Formulas only.

mod pressure;
mod shear;
mod soils;
#[cfg(test)]
mod tests;
mod track;
mod wheel;

pub use pressure::{Plate, Pressure, Unloading};
pub use shear::Shear;
pub use soils::{SOILS, SoilData, find};
pub use track::Track;
pub use wheel::{Meeting, Pneumatic, RigidWheel, Rolling, compaction, parabolic_sinkage};

use libm::tan;

/// A soft ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Soil {
    /// How far it gives.
    pub pressure: Pressure,
    /// How it shears.
    pub shear: Shear,
    /// c [Pa].
    pub cohesion: f64,
    /// phi [rad].
    pub friction: f64,
}

impl Soil {
    /// The largest shear stress under a pressure [Pa].
    pub fn strength(&self, pressure: f64) -> f64 {
        self.cohesion + pressure * tan(self.friction)
    }
}
