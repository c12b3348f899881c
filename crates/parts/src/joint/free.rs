//! Everything moves: q = [g, p], u = [w, v] in frame 1, R_12 = E(g) base as for the spherical joint, p_12 = p.

use super::{Motion, spherical};
use tippe_geometry::{Mat3, Quat, Vec3};

#[inline]
pub fn motion(q: &[f64], base: Quat) -> Motion {
    let mut motion = spherical::motion(q, base);
    motion.p_12 = Vec3::new(q[3], q[4], q[5]);
    for (column, axis) in motion.S[3..].iter_mut().zip(Vec3::AXES) {
        column.linear = axis;
    }
    motion
}

pub fn coordinates_of(R_12: &Mat3, p_12: Vec3, q: &mut [f64]) {
    spherical::coordinates_of(R_12, q);
    q[3..6].copy_from_slice(&p_12.to_array());
}
