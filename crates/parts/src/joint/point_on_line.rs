//! Origin 2 stays on the axis of frame 1: a pin in a slot, a ball on a wire.

use super::{Glyph, HELD, JOINT, Joint, JointSpec, Make, PLACED, Row, part};
use crate::kinematics::Kinematics;
use tippe_format::key::Spec;

/// How scenes know it.
pub const SPEC: JointSpec = JointSpec {
    kind: Spec {
        word: "point_on_line",
        about: "Origin of frame 2 on the z-axis of frame 1",
        keys: &[&HELD, &PLACED],
        example: "bodies = [\"world\", \"a\"]\nat = [0, 0, 0]",
        ..JOINT.kind
    },
    glyph: Glyph::Slide,
    make: Make::Joint(|_, _| Ok(Joint::PointOnLine)),
    ..JOINT
};

pub fn rows(f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
    part::origin_on_axis(f1, f2, rows);
}
