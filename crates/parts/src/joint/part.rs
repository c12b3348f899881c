//! Parts that rows are made of. d = p2 - p1 throughout; e, a are fixed in frame 1, b in frame 2, all in world axes.

use super::{Row, Six};
use crate::kinematics::Kinematics;
use tippe_geometry::Vec3;

/// Component of d along e:
///   phi   = e . d
///   phi'  = e . (v2 - v1) + w1 . (e x d)
///   phi'' = e . (a2 - a1) + alpha1 . (e x d) + 2 (w1 x e) . d' + (w1 x (w1 x e)) . d
pub fn along(e: Vec3, f1: &Kinematics, f2: &Kinematics) -> Row {
    let (d, d_dot) = (f2.p - f1.p, f2.v - f1.v);
    let e_dot = f1.w.cross(e);
    Row {
        phi: e.dot(d),
        J: [Six::new(e.cross(d), -e), Six::new(Vec3::ZERO, e)],
        convective: 2.0 * e_dot.dot(d_dot) + f1.w.cross(e_dot).dot(d),
        holonomic: true,
        length: true,
    }
}

/// Cosine of the angle between a and b:
///   phi   = a . b
///   phi'  = (w1 - w2) . (a x b)
///   phi'' = (alpha1 - alpha2) . (a x b) + (w1 x (w1 x a)) . b + 2 (w1 x a) . (w2 x b) + a . (w2 x (w2 x b))
pub fn cosine(a: Vec3, b: Vec3, f1: &Kinematics, f2: &Kinematics) -> Row {
    let n = a.cross(b);
    let (a_dot, b_dot) = (f1.w.cross(a), f2.w.cross(b));
    Row {
        phi: a.dot(b),
        J: [Six::new(n, Vec3::ZERO), Six::new(-n, Vec3::ZERO)],
        convective: f1.w.cross(a_dot).dot(b) + 2.0 * a_dot.dot(b_dot) + a.dot(f2.w.cross(b_dot)),
        holonomic: true,
        length: false,
    }
}

/// k1 row1 + k2 row2 with constant factors.
pub fn sum(k1: f64, row1: &Row, k2: f64, row2: &Row) -> Row {
    Row {
        phi: k1 * row1.phi + k2 * row2.phi,
        J: [row1.J[0] * k1 + row2.J[0] * k2, row1.J[1] * k1 + row2.J[1] * k2],
        convective: k1 * row1.convective + k2 * row2.convective,
        ..*row1
    }
}

/// Sine and cosine, times the same positive number, of the twist of frame 2 (see [`super::twist`]):
///   s = (y1 . x2 - x1 . y2)/2 = 2 w z,   c = (x1 . x2 + y1 . y2)/2 = w^2 - z^2
/// with the relative quaternion (w, x, y, z).
pub fn twist_sine_and_cosine(f1: &Kinematics, f2: &Kinematics) -> [Row; 2] {
    let (R1, R2) = (&f1.R, &f2.R);
    let s = sum(0.5, &cosine(R1.y_axis, R2.x_axis, f1, f2), -0.5, &cosine(R1.x_axis, R2.y_axis, f1, f2));
    let c = sum(0.5, &cosine(R1.x_axis, R2.x_axis, f1, f2), 0.5, &cosine(R1.y_axis, R2.y_axis, f1, f2));
    [s, c]
}

/// Velocity along e, fixed in frame 1, of the point of body 2 at p2 + r against the point of body 1 at the same place
/// p1 + s, where r may move in frame 2 at its own will (r' is its derivative in world):
///   rate  = e . (v2 + w2 x r - v1 - w1 x s),   s = d + r
///   rate' = J . A + w2 . (r x e)' - w1 . (s x e)' + e' . (v2 - v1)
/// A rate only; who knows its integral writes phi.
pub fn slip(e: Vec3, r: Vec3, r_dot: Vec3, f1: &Kinematics, f2: &Kinematics) -> Row {
    let d_dot = f2.v - f1.v;
    let (s, s_dot) = (f2.p - f1.p + r, d_dot + r_dot);
    let e_dot = f1.w.cross(e);
    let (rxe_dot, sxe_dot) = (r_dot.cross(e) + r.cross(e_dot), s_dot.cross(e) + s.cross(e_dot));
    Row {
        phi: 0.0,
        J: [-Six::new(s.cross(e), e), Six::new(r.cross(e), e)],
        convective: f2.w.dot(rxe_dot) - f1.w.dot(sxe_dot) + e_dot.dot(d_dot),
        holonomic: false,
        length: true,
    }
}

/// The origins coincide: d = 0 along x1, y1, z1.
pub fn same_origin(f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
    rows.extend([f1.R.x_axis, f1.R.y_axis, f1.R.z_axis].map(|e| along(e, f1, f2)));
}

/// Origin 2 is on the axis of frame 1: d = 0 along x1, y1.
pub fn origin_on_axis(f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
    rows.extend([f1.R.x_axis, f1.R.y_axis].map(|e| along(e, f1, f2)));
}

/// The axes are parallel: x1 . z2 = y1 . z2 = 0.
pub fn parallel_axes(f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
    rows.extend([f1.R.x_axis, f1.R.y_axis].map(|a| cosine(a, f2.R.z_axis, f1, f2)));
}

/// The frames are parallel: y1 . z2 = z1 . x2 = x1 . y2 = 0. The gradients at equal axes are x, y, z.
pub fn parallel_frames(f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
    let (R1, R2) = (&f1.R, &f2.R);
    let pairs = [(R1.y_axis, R2.z_axis), (R1.z_axis, R2.x_axis), (R1.x_axis, R2.y_axis)];
    rows.extend(pairs.map(|(a, b)| cosine(a, b, f1, f2)));
}
