//! Compaction by the critical state, with recompression along a line of its own (O'Sullivan and Robertson 1996):
//!   virgin line  v = N - lambda ln p,   yield line  v = N - lambda (m + ln p),   v = 1 + e, p the mean stress in kPa;
//!   up to the yield pressure p_y  v = v0 - kappa ln p;  beyond it  v = v_y - kappa' ln(p/p_y), or the virgin line where that is lower;
//!   unloading always along kappa. v0 is the volume at 1 kPa.
//! Stress under a round patch of radius a with pressure q (Froehlich 1934):   sigma = q (1 - cos^nu(t)), tan t = a/z.

use libm::{exp, log, pow, sin, sqrt};
use serde::{Deserialize, Serialize};

/// nu: concentration of the stress under a load, of firm moist soil [-] (Soehne 1953: 4 dry, 5 moist, 6 wet).
pub const CONCENTRATION: f64 = 5.0;

/// Where on its lines a soil is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packed {
    /// v0 = 1 + e, unloaded [-].
    pub volume: f64,
    /// p_y: the largest mean stress so far, or that of its yield line [Pa].
    pub yield_pressure: f64,
}

/// Lines of a soil.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compression {
    /// N [-].
    pub virgin: f64,
    /// lambda [-].
    pub lambda: f64,
    /// kappa [-].
    pub kappa: f64,
    /// kappa' [-].
    pub kappa_again: f64,
    /// m [-].
    pub m: f64,
}

impl Compression {
    /// p_y of a soil that was never pressed, from v0: where the kappa line meets the yield line [Pa].
    pub fn yield_pressure(&self, volume: f64) -> f64 {
        1000.0 * exp((self.virgin - self.lambda * self.m - volume) / (self.lambda - self.kappa))
    }

    /// p_v: where its recompression line meets the virgin line [Pa].
    pub fn virgin_pressure(&self, packed: Packed) -> f64 {
        let y = log(packed.yield_pressure / 1000.0);
        let start = packed.volume - self.kappa * y + self.kappa_again * y;
        1000.0 * exp((self.virgin - start) / (self.lambda - self.kappa_again))
    }

    /// v under a mean stress [Pa] [-].
    pub fn loaded(&self, packed: Packed, p: f64) -> f64 {
        let (x, y) = (log(p.max(1000.0) / 1000.0), log(packed.yield_pressure / 1000.0));
        if x <= y {
            return packed.volume - self.kappa * x;
        }
        let again = packed.volume - self.kappa * y - self.kappa_again * (x - y);
        again.min(self.virgin - self.lambda * x)
    }

    /// After a mean stress [Pa] came and went; no soil is pressed below `least` = 1 + e_min.
    pub fn pressed(&self, packed: Packed, p: f64, least: f64) -> Packed {
        if p <= packed.yield_pressure.max(1000.0) {
            return packed;
        }
        let volume = self.loaded(packed, p) + self.kappa * log(p / 1000.0);
        Packed { volume: volume.max(least).min(packed.volume), yield_pressure: p }
    }

    /// Lines of a sandy loam at a moisture w [%] (O'Sullivan, Henshall and Dickson 1999): N, lambda, kappa.
    pub fn sandy_loam(w: f64) -> [f64; 3] {
        fitted([2.430, 0.0055, 11.2, 1.572, 17.0], w)
    }

    /// Lines of a clay loam likewise.
    pub fn clay_loam(w: f64) -> [f64; 3] {
        fitted([2.813, 0.0128, 17.4, 1.557, 26.0], w)
    }
}

/// N = n - a (w - w0)^2,  lambda = (N - b)/s,  kappa = lambda (0.119 - 0.082 w/s).
fn fitted([n, a, w0, b, s]: [f64; 5], w: f64) -> [f64; 3] {
    let virgin = n - a * (w - w0) * (w - w0);
    let lambda = (virgin - b) / s;
    [virgin, lambda, lambda * (0.119 - 0.082 * w / s)]
}

/// Share of the pressure of a round patch of radius `a` [m] that is left at a depth z [m] below its middle [-].
pub fn spread(a: f64, z: f64) -> f64 {
    if z <= 0.0 { 1.0 } else { 1.0 - pow(z / sqrt(z * z + a * a), CONCENTRATION) }
}

/// p = sigma (1 + 2 K0)/3, K0 = 1 - sin(phi) (Jaky 1944) [Pa].
pub fn mean_stress(vertical: f64, friction: f64) -> f64 {
    vertical * (3.0 - 2.0 * sin(friction)) / 3.0
}
