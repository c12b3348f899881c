//! What reaches a run from outside while it goes on: inputs that change, a hand that pulls.

use crate::model::{Drive, Model};
use tippe_geometry::Vec3;

/// An input that changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heard {
    /// Number of the step at whose beginning it did.
    pub step: u64,
    /// Which, in the order of [`Model::signal_inputs`].
    pub input: usize,
    /// New value.
    pub value: f64,
}

/// A hand that pulls at a point of a body by a spring and a damper, f = k (p_to - p) - c v.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    /// Which body, by model index.
    pub body: usize,
    /// Where at the body, from its origin, in its axes [m].
    pub at: Vec3,
    /// Where to, resolved in world [m].
    pub to: Vec3,
    /// Stiffness k [N/m].
    pub stiffness: f64,
    /// Damping c [N s/m].
    pub damping: f64,
}

impl Pull {
    /// True if it can act: on a body that forces move, with finite numbers and a stiffness above zero.
    pub fn is_sound(&self, model: &Model) -> bool {
        let free = model.bodies.get(self.body).is_some_and(|body| body.drive == Drive::Free);
        let finite =
            self.at.is_finite() && self.to.is_finite() && self.stiffness.is_finite() && self.damping.is_finite();
        free && finite && self.stiffness > 0.0 && self.damping >= 0.0
    }
}
