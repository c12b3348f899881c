//! Two axes that cross at right angles, z of frame 1 and x of frame 2: R_12 = Rz(q0) Rx(q1), p_12 = 0.
//! The cross is along x2 = Rz(q0) x; with it  w = u0 z + u1 x2,   w' = u0' z + u1' x2 + u0 u1 (z x x2).

use super::{Motion, Row, Six, part};
use crate::kinematics::Kinematics;
use tippe_geometry::{Mat3, Vec3};

#[inline]
pub fn motion(q: &[f64], u: &[f64]) -> Motion {
    let (s0, c0) = libm::sincos(q[0]);
    let (s1, c1) = libm::sincos(q[1]);
    let x2 = Vec3::new(c0, s0, 0.0);
    let z_x_x2 = Vec3::new(-s0, c0, 0.0);
    let R_12 = Mat3::from_cols(x2, z_x_x2 * c1 + Vec3::Z * s1, Vec3::Z * c1 - z_x_x2 * s1);
    let mut motion = Motion { R_12, bias: Six::new(z_x_x2 * (u[0] * u[1]), Vec3::ZERO), ..Motion::NONE };
    motion.S[0].angular = Vec3::Z;
    motion.S[1].angular = x2;
    motion
}

/// One point and z1 . x2 = 0.
pub fn rows(f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
    part::same_origin(f1, f2, rows);
    rows.push(part::cosine(f1.R.z_axis, f2.R.x_axis, f1, f2));
}

/// x2 = (cos q0, sin q0, 0), and the z-components of y2, z2 are sin q1, cos q1.
pub fn coordinates_of(R_12: &Mat3, q: &mut [f64]) {
    q[0] = libm::atan2(R_12.x_axis.y, R_12.x_axis.x);
    q[1] = libm::atan2(R_12.y_axis.z, R_12.z_axis.z);
}
