//! The origins keep their distance, as if a rod with two ball joints were between them.

use super::{Row, Six};
use crate::kinematics::Kinematics;
use tippe_geometry::Vec3;

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
