//! Shear stress over its largest value, after a shear displacement j:
//!   exponential      1 - exp(-j/K)   (Janosi and Hanamoto 1961),
//!   with a residual  Kr (1 + (1/(Kr (1 - 1/e)) - 1) exp(1 - j/Kw)) (1 - exp(-j/Kw)), 1 at j = Kw, Kr at last   (Wong 1983),
//!   that goes away   (j/Kw) exp(1 - j/Kw)   (Wong 1983: mats of plants).

use libm::exp;
use std::f64::consts::E;

/// A law of shear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shear {
    /// Rises to its largest value, with K [m].
    Exponential(f64),
    /// Falls to a share after its peak.
    Residual {
        /// Kr [-].
        share: f64,
        /// Kw [m].
        peak: f64,
    },
    /// Falls to nothing after its peak at Kw [m].
    Hump(f64),
}

/// Displacement over which the slope at the beginning is taken [m].
const SMALL: f64 = 1e-7;

impl Shear {
    /// How fast it rises at first [1/m].
    pub fn slope(&self) -> f64 {
        self.at(SMALL) / SMALL
    }

    /// The share of the largest stress after a displacement j of 0 or more [m].
    pub fn at(&self, j: f64) -> f64 {
        let j = j.max(0.0);
        match *self {
            Shear::Exponential(K) => -libm::expm1(-j / K),
            Shear::Residual { share, peak } => {
                let rise = -libm::expm1(-j / peak);
                share * (1.0 + (1.0 / (share * (1.0 - 1.0 / E)) - 1.0) * exp(1.0 - j / peak)) * rise
            }
            Shear::Hump(peak) => j / peak * exp(1.0 - j / peak),
        }
    }
}
