//! Translation along z: R_12 = 1, p_12 = q z.

use super::{Glyph, HANGING, HELD, JOINT, Joint, JointSpec, Make, Motion, PLACED, Row, part};
use crate::kinematics::Kinematics;
use tippe_format::key::{Coordinate, Spec};
use tippe_geometry::Vec3;

/// The way along z.
pub const POSITION: Coordinate =
    Coordinate::length("position", "speed", ["Position at the start [m]", "Speed at the start [m/s]"]);

/// How scenes know it.
pub const SPEC: JointSpec = JointSpec {
    kind: Spec {
        word: "prismatic",
        about: "Translation along z",
        keys: &[&HELD, &PLACED, &HANGING],
        coordinates: &[POSITION],
        ..JOINT.kind
    },
    glyph: Glyph::Slide,
    make: Make::Joint(|_, _| Ok(Joint::Prismatic)),
    ..JOINT
};

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
