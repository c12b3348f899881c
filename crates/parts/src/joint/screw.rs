//! Rotation about z with translation in proportion: R_12 = Rz(q), p_12 = pitch q z.

use super::{Glyph, HANGING, HELD, JOINT, Joint, JointSpec, Make, Motion, PLACED, Row, about_z, part, twist};
use crate::kinematics::Kinematics;
use std::f64::consts::TAU;
use tippe_format::equation::Dimension;
use tippe_format::key::{Key, Range, Spec, number};
use tippe_geometry::{Mat3, Vec3};

const PITCH: [Key; 1] = [number("pitch", Dimension::LENGTH, Range::NotZero, "Translation per turn [m]")
    .required("translation per turn, such as pitch = \"2 mm\"")];

/// How scenes know it.
pub const SPEC: JointSpec = JointSpec {
    kind: Spec {
        word: "screw",
        about: "Rotation about z with translation along it, `pitch` per turn",
        keys: &[&HELD, &PLACED, &PITCH, &HANGING],
        coordinates: &[super::revolute::ANGLE],
        example: "pitch = 0.01\nbodies = [\"world\", \"a\"]\nat = [0, 0, 0.2]",
        ..JOINT.kind
    },
    glyph: Glyph::Pin,
    make: Make::Joint(|part, _| Ok(Joint::Screw { pitch: part.number("pitch") / TAU })),
    ..JOINT
};

#[inline]
pub fn motion(pitch: f64, q: &[f64]) -> Motion {
    let p_12 = Vec3::new(0.0, 0.0, pitch * q[0]);
    let mut motion = Motion { R_12: about_z(q[0]), p_12, ..Motion::NONE };
    motion.S[0].angular = Vec3::Z;
    motion.S[0].linear = Vec3::new(0.0, 0.0, pitch);
    motion
}

/// The rows of the cylindrical joint and
///   phi = z1 . d - pitch psi,   psi = atan2(s, c) + whole turns
/// with s, c of [`part::twist_sine_and_cosine`] and the turns that bring phi nearest to zero. With N = s^2 + c^2
///   psi' = (c s' - s c')/N,   psi'' = (c s'' - s c'')/N - psi' N'/N
pub fn rows(pitch: f64, f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
    part::origin_on_axis(f1, f2, rows);
    part::parallel_axes(f1, f2, rows);
    let [s, c] = part::twist_sine_and_cosine(f1, f2);
    let (s_dot, c_dot) = (s.rate(f1, f2), c.rate(f1, f2));
    // N = 0 only where z2 = -z1 and psi has no meaning; the row is then that of z1 . d.
    let N = s.phi * s.phi + c.phi * c.phi;
    let per_N = if N > 0.0 { 1.0 / N } else { 0.0 };
    let mut psi = part::sum(c.phi * per_N, &s, -s.phi * per_N, &c);
    let psi_dot = (c.phi * s_dot - s.phi * c_dot) * per_N;
    psi.convective -= psi_dot * 2.0 * (s.phi * s_dot + c.phi * c_dot) * per_N;
    psi.phi = libm::atan2(s.phi, c.phi);
    let mut row = part::sum(1.0, &part::along(f1.R.z_axis, f1, f2), -pitch, &psi);
    if pitch != 0.0 {
        row.phi = libm::remainder(row.phi, TAU * pitch);
    }
    rows.push(row);
}

/// The angle of R_12, in the turn that the position tells [rad].
pub fn angle(pitch: f64, R_12: &Mat3, p_12: Vec3) -> f64 {
    let (angle, told) = (twist(R_12), p_12.z / pitch);
    if told.is_finite() { told - libm::remainder(told - angle, TAU) } else { angle }
}
