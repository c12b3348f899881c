//! Motion in the plane x, y of frame 1: q = [x, y, angle], R_12 = Rz(angle), p_12 = (x, y, 0).

use super::{Motion, Row, about_z, part, twist};
use crate::kinematics::Kinematics;
use tippe_geometry::{Mat3, Vec3};

#[inline]
pub fn motion(q: &[f64]) -> Motion {
    let mut motion = Motion { R_12: about_z(q[2]), p_12: Vec3::new(q[0], q[1], 0.0), ..Motion::NONE };
    motion.S[0].linear = Vec3::X;
    motion.S[1].linear = Vec3::Y;
    motion.S[2].angular = Vec3::Z;
    motion
}

pub fn rows(f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
    rows.push(part::along(f1.R.z_axis, f1, f2));
    part::parallel_axes(f1, f2, rows);
}

pub fn coordinates_of(R_12: &Mat3, p_12: Vec3, q: &mut [f64]) {
    q[..3].copy_from_slice(&[p_12.x, p_12.y, twist(R_12)]);
}
