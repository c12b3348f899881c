//! Waves on deep water (Airy 1845): with theta = k.x - omega t + phase, omega^2 = g |k|, z below zero under the level,
//!   elevation = a cos theta,   velocity = a omega e^(|k| z) (kh cos theta + up sin theta),   acceleration its rate.

use libm::{cos, exp, sin, sincos};
use tippe_geometry::Vec3;

/// One wave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wave {
    /// a [m].
    pub amplitude: f64,
    /// kh, where it runs to, a level unit vector, resolved in world.
    pub along: Vec3,
    /// |k| [rad/m].
    pub number: f64,
    /// omega [rad/s].
    pub omega: f64,
    /// Phase at the origin of the world at the start [rad].
    pub phase: f64,
}

impl Wave {
    fn theta(&self, x: Vec3, t: f64) -> f64 {
        self.number * self.along.dot(x) - self.omega * t + self.phase
    }

    /// How much higher the surface is at a point [m].
    pub fn elevation(&self, x: Vec3, t: f64) -> f64 {
        self.amplitude * cos(self.theta(x, t))
    }

    /// How fast the surface rises there [m/s].
    pub fn rises(&self, x: Vec3, t: f64) -> f64 {
        self.amplitude * self.omega * sin(self.theta(x, t))
    }

    /// Velocity of the fluid at a point so far below the level, resolved in world [m/s].
    pub fn velocity(&self, x: Vec3, below: f64, up: Vec3, t: f64) -> Vec3 {
        let (s, c) = sincos(self.theta(x, t));
        (self.along * c + up * s) * (self.amplitude * self.omega * exp(-self.number * below))
    }

    /// How its velocity changes along the way of what moves with v, resolved in world [m/s^2]; above the level it is that at the level.
    pub fn rate_along(&self, x: Vec3, v: Vec3, below: f64, up: Vec3, t: f64) -> Vec3 {
        let (s, c) = sincos(self.theta(x, t));
        let turns = self.number * self.along.dot(v) - self.omega;
        let fades = if below > 0.0 { self.number * up.dot(v) } else { 0.0 };
        let of_phase = (up * c - self.along * s) * turns + (self.along * c + up * s) * fades;
        of_phase * (self.amplitude * self.omega * exp(-self.number * below))
    }

    /// Its acceleration [m/s^2].
    pub fn acceleration(&self, x: Vec3, below: f64, up: Vec3, t: f64) -> Vec3 {
        let (s, c) = sincos(self.theta(x, t));
        (self.along * s - up * c) * (self.amplitude * self.omega * self.omega * exp(-self.number * below))
    }
}
