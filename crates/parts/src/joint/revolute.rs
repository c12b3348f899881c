//! Rotation about z: R_12 = Rz(q), p_12 = 0.

use super::{Glyph, HANGING, HELD, JOINT, Joint, JointSpec, Make, Motion, PLACED, Row, about_z, part};
use crate::kinematics::Kinematics;
use tippe_format::key::{Coordinate, Spec};
use tippe_geometry::Vec3;

/// The angle about z.
pub const ANGLE: Coordinate =
    Coordinate::angle("angle", "speed", ["Angle at the start [rad]", "Rate of the angle at the start [rad/s]"]);

/// How scenes know it.
pub const SPEC: JointSpec = JointSpec {
    kind: Spec {
        word: "revolute",
        about: "Rotation about z",
        keys: &[&HELD, &PLACED, &HANGING],
        coordinates: &[ANGLE],
        ..JOINT.kind
    },
    glyph: Glyph::Pin,
    make: Make::Joint(|_, _| Ok(Joint::Revolute)),
    ..JOINT
};

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
