//! Caps and lenses in closed form.

use super::Overlap;
use crate::{Pose, Vec3};
use std::f64::consts::PI;

/// Volume and height of the centroid above the cutting plane of a cap of height h of a ball of radius r:
/// V = pi h^2 (3 r - h)/3, z = h (4 r - h)/(4 (3 r - h)).
fn cap(r: f64, h: f64) -> (f64, f64) {
    (PI * h * h * (3.0 * r - h) / 3.0, h * (4.0 * r - h) / (4.0 * (3.0 * r - h)))
}

/// Two balls at distance D with d = r1 + r2 - D: the plane of their circle cuts caps of heights h1 = d (2 r2 - d)/(2 D) and
/// h2 = d (2 r1 - d)/(2 D).
pub(super) fn spheres(p1: Vec3, r1: f64, p2: Vec3, r2: f64) -> Option<Overlap> {
    let p_12 = p2 - p1;
    let D = p_12.length();
    let d = r1 + r2 - D;
    if !(d > 0.0) {
        return None;
    }
    let normal = if D > 0.0 { p_12 / D } else { Vec3::Z };
    if D <= (r1 - r2).abs() {
        let (r, center) = if r1 <= r2 { (r1, p1) } else { (r2, p2) };
        let volume = 4.0 / 3.0 * PI * r * r * r;
        return Some(Overlap { volume, centroid: center, normal, area: 0.0, extent: 2.0 * r, patch: Vec::new() });
    }
    let (h1, h2) = (d * (2.0 * r2 - d) / (2.0 * D), d * (2.0 * r1 - d) / (2.0 * D));
    let (V1, z1) = cap(r1, h1);
    let (V2, z2) = cap(r2, h2);
    let volume = V1 + V2;
    let along = (r1 - h1) + (V1 * z1 - V2 * z2) / volume;
    let area = PI * h1 * (2.0 * r1 - h1);
    Some(Overlap { volume, centroid: p1 + normal * along, normal, area, extent: d, patch: Vec::new() })
}

/// Ellipsoid 2 against half-space 1. Stretching by the semi axes turns the ellipsoid into a unit ball and keeps ratios of
/// volumes: with g = |semi n|, the reach along n, the ball's cap has the height d/g; areas scale with a b c/g.
pub(super) fn half_space_ellipsoid(X_w1: &Pose, semi: Vec3, X_w2: &Pose) -> Option<Overlap> {
    let n = X_w1.vector(Vec3::Z);
    let n_2 = X_w2.vector_into(n);
    let g = (semi * n_2).length();
    let depth = g - n.dot(X_w2.position - X_w1.position);
    if !(depth > 0.0) {
        return None;
    }
    let product = semi.x * semi.y * semi.z;
    let h = (depth / g).min(2.0);
    let (V, z) = cap(1.0, h);
    // Along the stretched normal the centroid lies 1 - h + z from the centre, on the side of -n.
    let along = semi * semi * n_2 / g;
    let centroid = X_w2.point(along * -(1.0 - h + z));
    let area = PI * h * (2.0 - h) * product / g;
    Some(Overlap { volume: V * product, centroid, normal: n, area, extent: h * g, patch: Vec::new() })
}
