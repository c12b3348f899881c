//! Rotation about z: R_12 = Rz(q), p_12 = 0.

use super::{Motion, Row, about_z, part};
use crate::kinematics::Kinematics;
use tippe_geometry::Vec3;

#[inline]
pub fn motion(q: &[f64]) -> Motion {
    let mut motion = Motion { R_12: about_z(q[0]), ..Motion::NONE };
    motion.S[0].angular = Vec3::Z;
    motion
}

pub fn rows(f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
    part::same_origin(f1, f2, rows);
    part::parallel_axes(f1, f2, rows);
}
