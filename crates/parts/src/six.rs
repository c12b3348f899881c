//! Six-vectors {angular, linear}: velocities, forces, rows of joints.

use serde::{Deserialize, Serialize};
use std::ops::{Add, Mul, Neg, Sub};
use tippe_geometry::{Mat3, Vec3};
use tippe_numerics::dense;

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

/// Parts of a tensor below this share of its largest are none [-].
const NOTHING: f64 = 1e-12;

/// A symmetric tensor over {angular, linear}: its columns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tensor(pub [Six; 6]);

impl Tensor {
    /// Inertia of a rigid body about its centre of mass.
    pub fn of_body(mass: f64, I: &Mat3) -> Tensor {
        let turning = |axis: Vec3| Six::new(*I * axis, Vec3::ZERO);
        let moving = |axis: Vec3| Six::new(Vec3::ZERO, axis * mass);
        let [x, y, z] = Vec3::AXES;
        Tensor([turning(x), turning(y), turning(z), moving(x), moving(y), moving(z)])
    }

    /// The motion of this momentum; `None` if it is singular.
    pub fn solve(&self, momentum: Six) -> Option<Six> {
        let mut A: [f64; 36] = std::array::from_fn(|i| self.entry(i / 6, i % 6));
        let Six { angular: a, linear: l } = momentum;
        let mut x = [a.x, a.y, a.z, l.x, l.y, l.z];
        let solved = dense::solve(&mut A, &mut x) && x.iter().all(|x| x.is_finite());
        solved.then(|| Six::new(Vec3::new(x[0], x[1], x[2]), Vec3::new(x[3], x[4], x[5])))
    }

    /// Momentum of a motion, or force of an acceleration.
    pub fn times(&self, x: Six) -> Six {
        let parts = [x.angular.x, x.angular.y, x.angular.z, x.linear.x, x.linear.y, x.linear.z];
        self.0.iter().zip(parts).fold(Six::ZERO, |sum, (column, x)| sum + *column * x)
    }

    /// Row and column, angular ones first.
    pub fn entry(&self, row: usize, column: usize) -> f64 {
        let Six { angular, linear } = self.0[column];
        if row < 3 { angular[row] } else { linear[row - 3] }
    }

    /// The same about a point from which this one's lies at r, in axes in which its own are R.
    pub fn moved(&self, R: &Mat3, r: Vec3) -> Tensor {
        let unit = |c: usize| {
            let axis = Vec3::AXES[c % 3];
            if c < 3 { Six::new(axis, Vec3::ZERO) } else { Six::new(Vec3::ZERO, axis) }
        };
        Tensor(std::array::from_fn(|c| {
            let Six { angular: w, linear: v } = unit(c);
            let own = Six::new(R.transpose() * w, R.transpose() * (v + w.cross(r)));
            let Six { angular: L, linear: l } = self.times(own);
            let l = *R * l;
            Six::new(*R * L + r.cross(l), l)
        }))
    }

    /// The sum.
    pub fn plus(&self, other: &Tensor) -> Tensor {
        Tensor(std::array::from_fn(|c| self.0[c] + other.0[c]))
    }

    /// A multiple.
    pub fn scaled(&self, factor: f64) -> Tensor {
        Tensor(self.0.map(|column| column * factor))
    }

    /// L D L^T: columns of L with their factors in D, those that are nothing left out.
    pub fn factors(&self) -> Vec<(Six, f64)> {
        let mut A: [[f64; 6]; 6] = std::array::from_fn(|i| std::array::from_fn(|j| self.entry(i, j)));
        let largest = (0..6).fold(0.0, |most, i| f64::max(most, A[i][i]));
        let mut out = Vec::new();
        for k in 0..6 {
            let d = A[k][k];
            if d <= NOTHING * largest {
                continue;
            }
            let column: [f64; 6] = std::array::from_fn(|i| if i < k { 0.0 } else { A[i][k] / d });
            for i in k..6 {
                for j in k..6 {
                    A[i][j] -= d * column[i] * column[j];
                }
            }
            let [x, y, z, u, v, w] = column;
            out.push((Six::new(Vec3::new(x, y, z), Vec3::new(u, v, w)), d));
        }
        out
    }
}

/// How a wrench on a body answers to its motion: derivatives of {torque, force} about the centre of mass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Response {
    /// By {angular velocity, velocity}.
    pub slowing: Tensor,
    /// By {turn, displacement}.
    pub restoring: Tensor,
}

impl Response {
    /// Change of the wrench by a change of the velocities, and of the place.
    pub fn to(&self, velocity: Six, place: Six) -> Six {
        self.slowing.times(velocity) + self.restoring.times(place)
    }
}
