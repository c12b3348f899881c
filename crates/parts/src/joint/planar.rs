//! Motion in the plane x, y of frame 1: q = [x, y, angle], R_12 = Rz(angle), p_12 = (x, y, 0).

use super::{Glyph, HANGING, HELD, JOINT, Joint, JointSpec, Make, Motion, PLACED, Row, about_z, part, twist};
use crate::kinematics::Kinematics;
use tippe_format::key::{Coordinate, Spec};
use tippe_geometry::{Mat3, Vec3};

const X: Coordinate =
    Coordinate::length("x", "vx", ["Position along x at the start [m]", "Speed along x at the start [m/s]"]);
const Y: Coordinate =
    Coordinate::length("y", "vy", ["Position along y at the start [m]", "Speed along y at the start [m/s]"]);

/// How scenes know it.
pub const SPEC: JointSpec = JointSpec {
    kind: Spec {
        word: "planar",
        about: "Translation along x and y, rotation about z",
        keys: &[&HELD, &PLACED, &HANGING],
        coordinates: &[X, Y, super::cylindrical::TURN],
        ..JOINT.kind
    },
    glyph: Glyph::Slide,
    make: Make::Joint(|_, _| Ok(Joint::Planar)),
    ..JOINT
};

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
