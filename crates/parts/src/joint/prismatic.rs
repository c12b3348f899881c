//! Translation along z: R_12 = 1, p_12 = q z.

use super::{Motion, Row, part};
use crate::kinematics::Kinematics;
use tippe_geometry::Vec3;

#[inline]
pub fn motion(q: &[f64]) -> Motion {
    let mut motion = Motion { p_12: Vec3::new(0.0, 0.0, q[0]), ..Motion::NONE };
    motion.S[0].linear = Vec3::Z;
    motion
}

pub fn rows(f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
    part::origin_on_axis(f1, f2, rows);
    part::parallel_frames(f1, f2, rows);
}
