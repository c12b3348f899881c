//! All rotations: R_12 = E(g) base with E(g) = rotation of the unit quaternion (1, g)/sqrt(1 + g^2); p_12 = 0.
//! The rates are not q' but the angular velocity w of frame 2 relative to frame 1, in frame 1. If the base stands still
//!   g' = (w + w x g + (w . g) g)/2

use super::{Glyph, HELD, JOINT, Joint, JointSpec, Make, Motion, PLACED, Row, part};
use crate::kinematics::Kinematics;
use tippe_format::equation::Dimension;
use tippe_format::key::{Coordinate, Key, Spec, vector};
use tippe_geometry::{Mat3, Quat, Vec3};

/// Components of the Gibbs vector, with the angular velocity.
pub const GIBBS: [Coordinate; 3] = [
    Coordinate::component("gx", "wx", "-", true),
    Coordinate::component("gy", "wy", "-", true),
    Coordinate::component("gz", "wz", "-", true),
];
/// The angular velocity at the start.
pub const START: [Key; 1] =
    [vector("angular_velocity", Dimension::ANGULAR_SPEED, "Relative angular velocity at the start, frame 1 [rad/s]")];

/// How scenes know it.
pub const SPEC: JointSpec = JointSpec {
    kind: Spec { word: "spherical", about: "Rotation about a point", keys: &[&HELD, &PLACED, &START], ..JOINT.kind },
    glyph: Glyph::Ball,
    based: &GIBBS,
    make: Make::Joint(|_, _| Ok(Joint::Spherical)),
    ..JOINT
};

/// Smallest real part of a quaternion that a Gibbs vector is made of [-].
const SMALLEST_REAL: f64 = 1e-12;

/// E(g) base.
#[inline]
pub fn rotation(g: &[f64], base: Quat) -> Mat3 {
    let turned = Quat::from_xyzw(g[0], g[1], g[2], 1.0) * base;
    Mat3::from_quat(turned.normalize())
}

#[inline]
pub fn motion(q: &[f64], base: Quat) -> Motion {
    let mut motion = Motion { R_12: rotation(q, base), ..Motion::NONE };
    for (column, axis) in motion.S.iter_mut().zip(Vec3::AXES) {
        column.angular = axis;
    }
    motion
}

pub fn rows(f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
    part::same_origin(f1, f2, rows);
}

/// g = vector part / real part of the quaternion.
pub fn coordinates_of(R_12: &Mat3, q: &mut [f64]) {
    let Quat { x, y, z, w } = Quat::from_mat3(R_12).normalize();
    let w = w.abs().max(SMALLEST_REAL).copysign(w);
    q[..3].copy_from_slice(&[x / w, y / w, z / w]);
}
