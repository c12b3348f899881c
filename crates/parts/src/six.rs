//! Six-vectors {angular, linear}: velocities, forces, rows of joints.

use serde::{Deserialize, Serialize};
use std::ops::{Add, Mul, Neg, Sub};
use tippe_geometry::Vec3;

/// A six-vector of motion or force at a point: {angular, linear}, axes as said by its user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Six {
    /// Angular velocity [rad/s], angular acceleration [rad/s^2] or torque [N m].
    pub angular: Vec3,
    /// Velocity [m/s], acceleration [m/s^2] or force [N].
    pub linear: Vec3,
}

impl Six {
    /// No motion, no force.
    pub const ZERO: Six = Six { angular: Vec3::ZERO, linear: Vec3::ZERO };

    /// Angular and linear part.
    #[inline]
    pub const fn new(angular: Vec3, linear: Vec3) -> Self {
        Six { angular, linear }
    }

    /// Power of a force in a motion, both at the same point and in the same axes.
    #[inline]
    pub fn dot(&self, other: &Six) -> f64 {
        self.angular.dot(other.angular) + self.linear.dot(other.linear)
    }
}

impl Add for Six {
    type Output = Six;
    #[inline]
    fn add(self, other: Six) -> Six {
        Six::new(self.angular + other.angular, self.linear + other.linear)
    }
}

impl Sub for Six {
    type Output = Six;
    #[inline]
    fn sub(self, other: Six) -> Six {
        Six::new(self.angular - other.angular, self.linear - other.linear)
    }
}

impl Neg for Six {
    type Output = Six;
    #[inline]
    fn neg(self) -> Six {
        Six::new(-self.angular, -self.linear)
    }
}

impl Mul<f64> for Six {
    type Output = Six;
    #[inline]
    fn mul(self, factor: f64) -> Six {
        Six::new(self.angular * factor, self.linear * factor)
    }
}
