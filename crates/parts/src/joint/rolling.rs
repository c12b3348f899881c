//! An ellipsoid rolls without slip on the plane through origin 1 with normal n = z1; a ball has equal semi-axes, a disc
//! zero along its axis. With M = R2 diag(a^2) R2^T the lowest point, from origin 2, is the support point along -n:
//!   r = -M n/h,   h = sqrt(n . M n)
//! In frame 2 it moves as the normal does there, nu = (w1 - w2) x n:
//!   r' = w2 x r - (M nu - r (r . nu))/h

use super::{Axis2, Glyph, HELD, JOINT, Joint, JointSpec, Make, PLACED, Row, part, placed};
use crate::kinematics::Kinematics;
use tippe_format::equation::Dimension;
use tippe_format::key::{Form, Key, Range, Spec, key, measure, number, word};
use tippe_format::part::{Check, Part, Wrong};
use tippe_geometry::Vec3;

const ROLLER: [Key; 4] = [
    key("axis2", Form::Direction, "Axis (z) of what rolls in the pose as written, world; default z of frame 2"),
    number("radius", Dimension::LENGTH, Range::Positive, "Radius of what rolls [m]"),
    word("shape", &["disc", "ball"], "What rolls, with `radius`"),
    key(
        "semi_axes",
        Form::Vector(3, measure(Dimension::LENGTH, Range::Positive)),
        "Semi-axes of an ellipsoid that rolls [m]",
    ),
];

fn check(check: &mut Check<'_>) {
    placed(check);
    check.at_least_one(&["radius", "semi_axes"], "");
    check.not_both("radius", "semi_axes");
    check.not_both("semi_axes", "shape");
    if check.has("radius") && !check.has("semi_axes") {
        check.needs("shape", "shape = \"disc\" or shape = \"ball\"");
    }
}

/// Semi-axes [m]: (r, r, 0) of a disc with axis z, (r, r, r) of a ball, or those of an ellipsoid.
fn make(part: &Part, _apart: f64) -> Result<Joint, Wrong> {
    let r = part.number("radius");
    let semi_axes = match part.vector("semi_axes") {
        Some(semi_axes) => semi_axes,
        None if part.word("shape") == "disc" => Vec3::new(r, r, 0.0),
        None => Vec3::splat(r),
    };
    Ok(Joint::Rolling { semi_axes })
}

/// How scenes know it.
pub const SPEC: JointSpec = JointSpec {
    kind: Spec {
        word: "rolling",
        about: "A disc, ball or ellipsoid (body 2) rolls without slip on a plane (z of frame 1)",
        keys: &[&HELD, &PLACED, &ROLLER],
        check,
        example: "shape = \"ball\"\nbodies = [\"world\", \"a\"]\nradius = 0.1\nat = [0, 0, -0.1]",
        ..JOINT.kind
    },
    glyph: Glyph::Link,
    axis2: Axis2::OfBody2,
    make: Make::Joint(make),
    ..JOINT
};

/// The lowest point lies in the plane, phi = n . d - h, and does not slip along x1, y1. The rate of phi is the normal
/// velocity of the touching points of both bodies (h' = -r . nu), so the three rows have one form.
pub fn rows(semi_axes: Vec3, f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
    let n = f1.R.z_axis;
    let R_2w = f2.R.transpose();
    let M = |y: Vec3| f2.R * (semi_axes * semi_axes * (R_2w * y));
    let Mn = M(n);
    let h = n.dot(Mn).max(0.0).sqrt();
    // A disc that lies flat touches with its whole face, a point of no size at its centre: take the centre.
    let per_h = if h > 0.0 { 1.0 / h } else { 0.0 };
    let r = -Mn * per_h;
    let nu = (f1.w - f2.w).cross(n);
    let r_dot = f2.w.cross(r) - (M(nu) - r * r.dot(nu)) * per_h;
    let height = n.dot(f2.p - f1.p) - h;
    rows.push(Row { phi: height, holonomic: true, ..part::slip(n, r, r_dot, f1, f2) });
    rows.extend([f1.R.x_axis, f1.R.y_axis].map(|e| part::slip(e, r, r_dot, f1, f2)));
}
