//! Radius of the mean of the two principal curvatures at a surface point: what a Hertz law needs from each side.

use super::Shape;
use crate::{Pose, Vec3};

/// Component of a unit normal below which it counts as zero: separates faces from rounded edges and vertices [-].
const FLAT: f64 = 1e-7;

/// 1/mean for two principal curvatures [1/m].
fn radius_of(k1: f64, k2: f64) -> f64 {
    2.0 / (k1 + k2)
}

impl Shape {
    /// Radius of the mean curvature `2/(k1 + k2)` at the surface point `p_s` with outward unit normal `n_s` [m].
    ///
    /// Infinite on flat faces and meshes, 0 on sharp edges and vertices, negative in the hollows of a profile; on the side of a cylinder of
    /// radius r it is 2 r.
    pub fn curvature_radius(&self, p_s: Vec3, n_s: Vec3) -> f64 {
        match self {
            Shape::Sphere { radius } => *radius,
            Shape::Ellipsoid { semi_axes } => ellipsoid(*semi_axes, n_s),
            Shape::Box { smoothing, .. } => {
                let turned = n_s.abs().to_array().into_iter().filter(|c| *c > FLAT).count();
                match turned {
                    0 | 1 => f64::INFINITY,
                    2 => 2.0 * smoothing,
                    _ => *smoothing,
                }
            }
            Shape::Capsule { radius, half_length } => {
                if p_s.z.abs() > *half_length && n_s.z.abs() > FLAT {
                    *radius
                } else {
                    2.0 * radius
                }
            }
            Shape::Cylinder { radius, smoothing, .. } => cylinder(*radius, *smoothing, n_s),
            Shape::Cone { base_radius, top_radius, half_height, smoothing } => {
                let (R, r, s) = (*base_radius, *top_radius, *smoothing);
                let k = (R - r) / (2.0 * half_height);
                let rho = (p_s.x * p_s.x + p_s.y * p_s.y).sqrt();
                let n_rho = (n_s.x * n_s.x + n_s.y * n_s.y).sqrt();
                let slope = 1.0 / (1.0 + k * k).sqrt(); // radial part of the slope's normal
                let on_slope = (n_rho - slope).abs() < FLAT && (n_s.z - k * slope).abs() < FLAT;
                if n_rho < FLAT {
                    // The disc, or the rounded tip where there is no disc.
                    let disc = if n_s.z > 0.0 {
                        r - s * slope * (1.0 + k * k) + k * s
                    } else {
                        R - s * slope * (1.0 + k * k) - k * s
                    };
                    if disc > 0.0 { f64::INFINITY } else { s }
                } else if on_slope {
                    if rho > 0.0 { radius_of(0.0, n_rho / rho) } else { s }
                } else if s > 0.0 {
                    // Torus around a rim of radius rho - s n_rho, or a ball at the tip where that is zero.
                    let rim = rho - s * n_rho;
                    if rim <= FLAT * rho { s } else { radius_of(1.0 / s, n_rho / rho) }
                } else {
                    0.0
                }
            }
            Shape::HalfSpace | Shape::HeightGrid(_) | Shape::Mesh(_) => f64::INFINITY,
            Shape::Profile(profile) => profile.curvature_radius(p_s, n_s),
            Shape::Hull(hull) => {
                let flat = hull.faces().iter().any(|f| (f.normal - n_s).length_squared() < FLAT * FLAT);
                if flat { f64::INFINITY } else { 0.0 }
            }
            Shape::Compound(parts) => {
                // The part whose surface is nearest to the point.
                let dot = Shape::Sphere { radius: 0.0 };
                let mut best = (f64::INFINITY, f64::INFINITY);
                for (X_sp, part) in parts {
                    let off = crate::separation(part, X_sp, &dot, &Pose::at(p_s)).gap.abs();
                    if off < best.0 {
                        best = (off, part.curvature_radius(X_sp.point_into(p_s), X_sp.vector_into(n_s)));
                    }
                }
                best.1
            }
        }
    }
}

/// Ellipsoid x^2/a^2 + y^2/b^2 + z^2/c^2 = 1 at p: mean curvature
/// H = (a^2 + b^2 + c^2 - |p|^2) / (2 a^2 b^2 c^2 (x^2/a^4 + y^2/b^4 + z^2/c^4)^(3/2)), p from the normal.
fn ellipsoid(a: Vec3, n: Vec3) -> f64 {
    let q = a * a;
    let g = (a * n).length(); // = 1/sqrt(x^2/a^4 + y^2/b^4 + z^2/c^4)
    let p = q * n / g;
    2.0 * q.x * q.y * q.z / (g * g * g * (q.x + q.y + q.z - p.length_squared()))
}

/// Cylinder: side, disc, or the torus that rounds the rim with tube radius s around a circle of radius r - s.
fn cylinder(r: f64, s: f64, n: Vec3) -> f64 {
    let n_rho = (n.x * n.x + n.y * n.y).sqrt();
    if n_rho < FLAT {
        f64::INFINITY
    } else if n.z.abs() < FLAT {
        2.0 * r
    } else if s > 0.0 {
        radius_of(1.0 / s, n_rho / (r - s + s * n_rho))
    } else {
        0.0
    }
}
