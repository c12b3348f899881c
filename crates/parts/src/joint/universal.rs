//! Two axes that cross at right angles, z of frame 1 and x of frame 2: R_12 = Rz(q0) Rx(q1), p_12 = 0.
//! The cross is along x2 = Rz(q0) x; with it  w = u0 z + u1 x2,   w' = u0' z + u1' x2 + u0 u1 (z x x2).

use super::{Axis2, Glyph, HANGING, HELD, JOINT, Joint, JointSpec, Make, Motion, PLACED, Row, Six, part, placed};
use crate::kinematics::Kinematics;
use tippe_format::key::{Coordinate, Form, Key, Spec, key};
use tippe_format::part::Check;
use tippe_geometry::{Mat3, Vec3};

const FIRST: Coordinate = Coordinate::angle(
    "angle1",
    "speed1",
    ["Angle about the first axis at the start [rad]", "Rate of the first angle at the start [rad/s]"],
);
const SECOND: Coordinate = Coordinate::angle(
    "angle2",
    "speed2",
    ["Angle about the second axis at the start [rad]", "Rate of the second angle at the start [rad/s]"],
);
const AXIS2: [Key; 1] =
    [key("axis2", Form::Direction, "Second axis (x) in the pose as written, world; default x of the frames")];

/// Least sine of the angle between the two axes [-]: below it they have no common perpendicular to rounding.
const LEAST_SINE: f64 = 1e-9;

fn check(check: &mut Check<'_>) {
    placed(check);
    if let (Some(axis), Some(axis2)) = (check.part.vector("axis"), check.part.vector("axis2"))
        && axis.cross(axis2).length() < LEAST_SINE
    {
        let help = "a universal joint turns about two different axes";
        check.error("axis2", ": axis and axis2 are parallel", help);
    }
}

/// How scenes know it.
pub const SPEC: JointSpec = JointSpec {
    kind: Spec {
        word: "universal",
        about: "Rotation about z of frame 1, then about x of frame 2",
        keys: &[&HELD, &PLACED, &AXIS2, &HANGING],
        coordinates: &[FIRST, SECOND],
        check,
        ..JOINT.kind
    },
    glyph: Glyph::Ball,
    axis2: Axis2::X,
    make: Make::Joint(|_, _| Ok(Joint::Universal)),
    ..JOINT
};

#[inline]
pub fn motion(q: &[f64], u: &[f64]) -> Motion {
    let (s0, c0) = libm::sincos(q[0]);
    let (s1, c1) = libm::sincos(q[1]);
    let x2 = Vec3::new(c0, s0, 0.0);
    let z_x_x2 = Vec3::new(-s0, c0, 0.0);
    let R_12 = Mat3::from_cols(x2, z_x_x2 * c1 + Vec3::Z * s1, Vec3::Z * c1 - z_x_x2 * s1);
    let mut motion = Motion { R_12, bias: Six::new(z_x_x2 * (u[0] * u[1]), Vec3::ZERO), ..Motion::NONE };
    motion.S[0].angular = Vec3::Z;
    motion.S[1].angular = x2;
    motion
}

/// One point and z1 . x2 = 0.
pub fn rows(f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
    part::same_origin(f1, f2, rows);
    rows.push(part::cosine(f1.R.z_axis, f2.R.x_axis, f1, f2));
}

/// x2 = (cos q0, sin q0, 0), and the z-components of y2, z2 are sin q1, cos q1.
pub fn coordinates_of(R_12: &Mat3, q: &mut [f64]) {
    q[0] = libm::atan2(R_12.x_axis.y, R_12.x_axis.x);
    q[1] = libm::atan2(R_12.y_axis.z, R_12.z_axis.z);
}
