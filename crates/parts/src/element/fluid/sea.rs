//! A wind sea as a sum of waves: the spectrum of JONSWAP (Hasselmann and others 1973),
//!   S(omega) ~ omega^-5 exp(-5/4 (omega_p/omega)^4) gamma^b,   b = exp(-(omega - omega_p)^2/(2 s^2 omega_p^2)),   s = 0.07 below the peak, 0.09 above,
//! cut into bands of equal energy, each a wave at the frequency that halves its band: with N of them each has the amplitude H/4 sqrt(2/N), so that the variance is
//! (H/4)^2, H the significant height, and nothing repeats as it would with frequencies in equal steps. Phases follow from the seed.

use super::Wave;
use libm::{exp, pow, sqrt};
use std::f64::consts::TAU;
use tippe_geometry::Vec3;

/// The spectrum is looked at from this share of the peak to that multiple of it [-].
const BETWEEN: [f64; 2] = [0.4, 6.0];
/// Parts of that range [-].
const PARTS: usize = 20_000;

/// A sea.
#[derive(Clone, Copy, Debug)]
pub struct Sea {
    /// H, significant height [m].
    pub height: f64,
    /// omega_p [rad/s].
    pub peak: f64,
    /// gamma [-].
    pub gamma: f64,
    /// N [-].
    pub count: usize,
    /// Seed of the phases.
    pub seed: u64,
}

impl Sea {
    /// S at a multiple of the peak, but for a factor.
    fn density(&self, x: f64) -> f64 {
        let s = if x <= 1.0 { 0.07 } else { 0.09 };
        let b = exp(-(x - 1.0) * (x - 1.0) / (2.0 * s * s));
        pow(x, -5.0) * exp(-1.25 * pow(x, -4.0)) * pow(self.gamma, b)
    }

    /// Its waves, which run along a level direction under the gravity `fall` [m/s^2].
    pub fn waves(&self, along: Vec3, fall: f64) -> Vec<Wave> {
        let [low, high] = BETWEEN;
        let d = (high - low) / PARTS as f64;
        let energy: Vec<f64> = (0..PARTS).map(|i| self.density(low + (i as f64 + 0.5) * d)).collect();
        let whole: f64 = energy.iter().sum();
        let amplitude = 0.25 * self.height * sqrt(2.0 / self.count as f64);
        let (mut seed, mut sum, mut i) = (self.seed, 0.0, 0);
        let mut waves = Vec::with_capacity(self.count);
        for k in 0..self.count {
            let half = whole * (k as f64 + 0.5) / self.count as f64;
            while i < PARTS && sum + energy[i] < half {
                sum += energy[i];
                i += 1;
            }
            let within = energy.get(i).map_or(0.0, |own| (half - sum) / own);
            let omega = self.peak * (low + (i as f64 + within) * d);
            let phase = TAU * fraction(&mut seed);
            waves.push(Wave { amplitude, along, number: omega * omega / fall, omega, phase });
        }
        waves
    }
}

/// The next of a series of numbers from 0 to 1 (splitmix64, Steele and others 2014).
fn fraction(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The elevation has the variance (H/4)^2, over a long time too, and the mean period of JONSWAP, 0.833 of that of the peak.
    #[test]
    fn a_sea_has_its_height_and_period() {
        let sea = Sea { height: 2.0, peak: TAU / 8.0, gamma: 3.3, count: 60, seed: 7 };
        let waves = sea.waves(Vec3::X, 9.80665);
        let (mut square, n) = (0.0, 40_000);
        for k in 0..n {
            let elevation: f64 = waves.iter().map(|w| w.elevation(Vec3::ZERO, 0.5 * f64::from(k))).sum();
            square += elevation * elevation / f64::from(n);
        }
        assert!((square - 0.25).abs() < 0.01, "{square}");
        let mean: f64 = waves.iter().map(|w| w.omega).sum::<f64>() / 60.0;
        assert!((TAU / mean / 8.0 - 0.833).abs() < 0.02, "{}", TAU / mean / 8.0);
    }
}
