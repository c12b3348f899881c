//! Everything moves: q = [g, p], u = [w, v] in frame 1, R_12 = E(g) base as for the spherical joint, p_12 = p.

use super::{Glyph, HELD, JOINT, Joint, JointSpec, Make, Motion, PLACED, spherical};
use tippe_format::equation::Dimension;
use tippe_format::key::{Coordinate, Key, Spec, vector};
use tippe_geometry::{Mat3, Quat, Vec3};

const BASED: [Coordinate; 6] = {
    let [gx, gy, gz] = spherical::GIBBS;
    let x = Coordinate::component("x", "vx", "m", false);
    let y = Coordinate::component("y", "vy", "m", false);
    let z = Coordinate::component("z", "vz", "m", false);
    [gx, gy, gz, x, y, z]
};
const START: [Key; 1] = [vector("velocity", Dimension::SPEED, "Relative velocity at the start, frame 1 [m/s]")];

/// How scenes know it.
pub const SPEC: JointSpec = JointSpec {
    kind: Spec { word: "free", about: "All six", keys: &[&HELD, &PLACED, &spherical::START, &START], ..JOINT.kind },
    glyph: Glyph::Link,
    based: &BASED,
    make: Make::Joint(|_, _| Ok(Joint::Free)),
    ..JOINT
};

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
