//! Nothing moves: R_12 = 1, p_12 = 0.

use super::{Glyph, HELD, JOINT, Joint, JointSpec, Make, PLACED, Row, part};
use crate::kinematics::Kinematics;
use tippe_format::key::Spec;

/// How scenes know it.
pub const SPEC: JointSpec = JointSpec {
    kind: Spec { word: "fixed", about: "No motion", keys: &[&HELD, &PLACED], ..JOINT.kind },
    glyph: Glyph::Link,
    make: Make::Joint(|_, _| Ok(Joint::Fixed)),
    ..JOINT
};

pub fn rows(f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
    part::same_origin(f1, f2, rows);
    part::parallel_frames(f1, f2, rows);
}
