//! When slopes fail, in closed form (Culmann 1866; Terzaghi 1943), gamma the unit weight:
//!   vertical cut       H = 4 (c/gamma) tan(45 deg + phi/2),
//!   slope b            H = 4 (c/gamma) sin(b) cos(phi)/(1 - cos(b - phi)), along a plane at (b + phi)/2,
//!   infinite slope     F = c/(gamma h sin(b) cos(b)) + tan(phi)/tan(b), h the depth of the plane.

use libm::{cos, sin, tan};
use std::f64::consts::FRAC_PI_2;

/// Highest slope of an angle b [rad] that stands, by c [Pa], phi [rad], gamma [N/m^3] [m]; without end up to phi.
pub fn height(slope: f64, [c, phi, gamma]: [f64; 3]) -> f64 {
    if slope <= phi {
        return f64::INFINITY;
    }
    4.0 * c / gamma * sin(slope) * cos(phi) / (1.0 - cos(slope - phi))
}

/// Highest vertical cut that stands [m].
pub fn vertical(soil: [f64; 3]) -> f64 {
    height(FRAC_PI_2, soil)
}

/// Safety of a long slope against a slide at a depth h [m] below its surface [-].
pub fn long_slope(slope: f64, depth: f64, [c, phi, gamma]: [f64; 3]) -> f64 {
    c / (gamma * depth * sin(slope) * cos(slope)) + tan(phi) / tan(slope)
}
