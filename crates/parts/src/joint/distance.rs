//! The origins keep their distance, as if a rod with two ball joints were between them.

use super::{Glyph, HELD, JOINT, Joint, JointSpec, Make, Row, Six};
use crate::kinematics::Kinematics;
use tippe_format::equation::Dimension;
use tippe_format::key::{Key, Range, Spec, number};
use tippe_format::part::{Part, Wrong};
use tippe_geometry::Vec3;

const LENGTH: [Key; 1] =
    [number("length", Dimension::LENGTH, Range::Positive, "Distance [m]; default that of the written pose")];

fn make(part: &Part, apart: f64) -> Result<Joint, Wrong> {
    let length = part.find_number("length").unwrap_or(apart);
    if length.is_nan() || length <= 0.0 {
        return Err(Wrong {
            key: "length",
            message: format!("distance joint \"{}\" has length {length} m; a length is > 0", part.name),
            help: "use a spherical joint where two points coincide".into(),
        });
    }
    Ok(Joint::Distance { length })
}

/// How scenes know it.
pub const SPEC: JointSpec = JointSpec {
    kind: Spec {
        word: "distance",
        about: "Two origins at a given distance",
        keys: &[&HELD, &LENGTH],
        example: "bodies = [\"a\", \"b\"]",
        ..JOINT.kind
    },
    glyph: Glyph::Link,
    make: Make::Joint(make),
    ..JOINT
};

/// With n = d/|d|:
///   phi   = |d| - length
///   phi'  = n . (v2 - v1)
///   phi'' = n . (a2 - a1) + (d'^2 - (n . d')^2)/|d|
pub fn rows(length: f64, f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
    let (d, d_dot) = (f2.p - f1.p, f2.v - f1.v);
    let size = d.length();
    // Coinciding origins have no direction: any will do to take them apart.
    let (n, per_size) = if size > 0.0 { (d / size, 1.0 / size) } else { (f1.R.z_axis, 0.0) };
    rows.push(Row {
        phi: size - length,
        J: [Six::new(Vec3::ZERO, -n), Six::new(Vec3::ZERO, n)],
        convective: (d_dot - n * n.dot(d_dot)).length_squared() * per_size,
        holonomic: true,
        length: true,
    });
}
