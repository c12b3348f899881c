//! A track with uniform pressure p = W/A: under it the ground is sheared by j = i x at x behind its front, so that with exponential shear
//!   thrust F = (A c + W tan phi)(1 - K/(i L)(1 - exp(-i L/K)))   (Wong 2008, "Theory of ground vehicles", section 2.4);
//! it presses the ground down once, R = 2 b (integral of p over z) for two tracks.

use super::{Plate, Pressure, Shear, Soil};
use libm::pow;

/// A pair of tracks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Track {
    /// W: weight on both [N].
    pub weight: f64,
    /// b: width of one [m].
    pub width: f64,
    /// L: length on the ground [m].
    pub length: f64,
}

/// Intervals of the sum over the length, for laws without a closed form.
const INTERVALS: usize = 400;

impl Track {
    fn area(&self) -> f64 {
        2.0 * self.width * self.length
    }

    /// z [m].
    pub fn sinkage(&self, soil: &Soil) -> f64 {
        let plate = Plate { width: self.width, length: self.length };
        soil.pressure.sinkage(self.weight / self.area(), &plate)
    }

    /// F at slip i [N].
    pub fn thrust(&self, soil: &Soil, i: f64) -> f64 {
        let most = self.area() * soil.strength(self.weight / self.area());
        let reach = i.abs() * self.length;
        if reach == 0.0 {
            return 0.0;
        }
        let share = match soil.shear {
            Shear::Exponential(K) => 1.0 + K / reach * libm::expm1(-reach / K),
            law => {
                let at = |k: usize| law.at(reach * k as f64 / INTERVALS as f64);
                // Simpson's rule
                let inner: f64 = (1..INTERVALS).map(|k| if k % 2 == 1 { 4.0 * at(k) } else { 2.0 * at(k) }).sum();
                (at(0) + inner + at(INTERVALS)) / (3.0 * INTERVALS as f64)
            }
        };
        most * share.max(0.0) * i.signum()
    }

    /// R [N]; of Bekker's and Reece's law.
    pub fn resistance(&self, soil: &Soil) -> f64 {
        let z = self.sinkage(soil);
        let (per, n) = match soil.pressure {
            Pressure::Bekker { kc, kphi, n } => (kc / self.width + kphi, n),
            Pressure::Reece { cohesive, frictional, n } => {
                ((cohesive + frictional * self.width) / pow(self.width, n), n)
            }
            Pressure::Muskeg { .. } | Pressure::Snow { .. } => return self.summed_resistance(soil, z),
        };
        2.0 * self.width * per * pow(z, n + 1.0) / (n + 1.0)
    }

    fn summed_resistance(&self, soil: &Soil, z: f64) -> f64 {
        let plate = Plate { width: self.width, length: self.length };
        let at = |k: usize| soil.pressure.at(z * k as f64 / INTERVALS as f64, &plate);
        let inner: f64 = (1..INTERVALS).map(|k| if k % 2 == 1 { 4.0 * at(k) } else { 2.0 * at(k) }).sum();
        2.0 * self.width * z * (at(0) + inner + at(INTERVALS)) / (3.0 * INTERVALS as f64)
    }
}
