//! Rotation about z and translation along it: q = [position, angle], R_12 = Rz(angle), p_12 = position z.

use super::{Glyph, HANGING, HELD, JOINT, Joint, JointSpec, Make, Motion, PLACED, Row, about_z, part, twist};
use crate::kinematics::Kinematics;
use tippe_format::key::{Coordinate, Spec};
use tippe_geometry::{Mat3, Vec3};

/// The angle about z, beside a coordinate whose rate is called speed.
pub const TURN: Coordinate =
    Coordinate::angle("angle", "turn_speed", ["Angle at the start [rad]", "Rate of the angle at the start [rad/s]"]);

/// How scenes know it.
pub const SPEC: JointSpec = JointSpec {
    kind: Spec {
        word: "cylindrical",
        about: "Translation along and rotation about z",
        keys: &[&HELD, &PLACED, &HANGING],
        coordinates: &[super::prismatic::POSITION, TURN],
        ..JOINT.kind
    },
    glyph: Glyph::Pin,
    make: Make::Joint(|_, _| Ok(Joint::Cylindrical)),
    ..JOINT
};

#[inline]
pub fn motion(q: &[f64]) -> Motion {
    let mut motion = Motion { R_12: about_z(q[1]), p_12: Vec3::new(0.0, 0.0, q[0]), ..Motion::NONE };
    motion.S[0].linear = Vec3::Z;
    motion.S[1].angular = Vec3::Z;
    motion
}

pub fn rows(f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
    part::origin_on_axis(f1, f2, rows);
    part::parallel_axes(f1, f2, rows);
}

pub fn coordinates_of(R_12: &Mat3, p_12: Vec3, q: &mut [f64]) {
    q[0] = p_12.z;
    q[1] = twist(R_12);
}
