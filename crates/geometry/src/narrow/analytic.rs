//! Closed forms: spheres, half-spaces and capsules, and a sphere against a box, cylinder, cone or ellipsoid.
//!
//! Gaps are computed from the difference of positions, so a shift of the origin costs no digits.

use super::Separation;
use crate::shape::{Core, core_of};
use crate::space::any_orthogonal;
use crate::{Mat3, Pose, Quat, Shape, Vec3};

/// Normal taken where two centres coincide and none is better than another.
const NO_DIRECTION: Vec3 = Vec3::Z;

/// Third column of the rotation matrix: where z goes.
#[inline]
fn axis_z(q: Quat) -> Vec3 {
    Vec3::new(2.0 * (q.x * q.z + q.w * q.y), 2.0 * (q.y * q.z - q.w * q.x), 1.0 - 2.0 * (q.x * q.x + q.y * q.y))
}

/// gap = |p2 - p1| - (r1 + r2). Only sums of squares and products with one sign: mirroring an axis mirrors every bit, and
/// swapping the pair changes signs only.
#[inline]
pub(super) fn sphere_sphere(p1: Vec3, r1: f64, p2: Vec3, r2: f64) -> Separation {
    let p_12 = p2 - p1;
    let distance = p_12.length();
    let normal = if distance > 0.0 { p_12 / distance } else { NO_DIRECTION };
    Separation { gap: distance - (r1 + r2), normal, point1: p1 + normal * r1, point2: p2 - normal * r2 }
}

/// gap = n . (p2 - p1) - r.
#[inline]
pub(super) fn half_space_sphere(X_w1: &Pose, p2: Vec3, r: f64) -> Separation {
    let n = axis_z(X_w1.rotation);
    let height = n.dot(p2 - X_w1.position);
    Separation { gap: height - r, normal: n, point1: p2 - n * height, point2: p2 - n * r }
}

/// gap = n . (p2 - p1) - (how far the shape reaches along -n).
pub(super) fn half_space_convex(X_w1: &Pose, core: &Core<'_>, radius: f64, X_w2: &Pose) -> Separation {
    let n = axis_z(X_w1.rotation);
    let R_w2 = Mat3::from_quat(X_w2.rotation);
    let n_2 = R_w2.mul_transpose_vec3(n);
    let lowest_2 = core.middle_support(-n_2);
    let gap = n.dot(X_w2.position - X_w1.position) + n_2.dot(lowest_2) - radius;
    let point2 = X_w2.position + R_w2 * lowest_2 - n * radius;
    Separation { gap, normal: n, point1: point2 - n * gap, point2 }
}

/// Finite only for faces that look at each other.
pub(super) fn half_spaces(X_w1: &Pose, X_w2: &Pose) -> Separation {
    let (n1, n2) = (axis_z(X_w1.rotation), axis_z(X_w2.rotation));
    if (n1 + n2).length_squared() > 1e-28 {
        return Separation::endless(n1, X_w1.position, X_w2.position);
    }
    let gap = n1.dot(X_w2.position - X_w1.position);
    Separation { gap, normal: n1, point1: X_w2.position - n1 * gap, point2: X_w2.position }
}

/// A point against a core in the core's frame.
#[derive(Clone, Copy)]
pub(super) struct PointDistance {
    /// Signed distance, negative inside [m].
    pub distance: f64,
    /// Outward unit normal [-]; the nearest point of the surface lies `distance` along it.
    pub normal: Vec3,
}

/// Sphere 2 against the convex shape 1: signed distance of the centre to the core, less both radii.
#[inline]
pub(super) fn convex_sphere(shape1: &Shape, X_w1: &Pose, p2: Vec3, r2: f64) -> Separation {
    let R_w1 = Mat3::from_quat(X_w1.rotation);
    let q = R_w1.mul_transpose_vec3(p2 - X_w1.position);
    let (core, r1) = core_of(shape1);
    let d = match core {
        Core::Box { half } => point_box(q, half),
        Core::Segment { half } => point_segment(q, half),
        Core::Frustum { low, low_radius, high, high_radius } => point_frustum(q, low, low_radius, high, high_radius),
        Core::Ellipsoid { semi } => point_ellipsoid(q, semi),
        Core::Profile(profile) => super::profile::point(profile, q),
        Core::Point | Core::Hull(_) | Core::Mesh(_) | Core::Prism { .. } => from_center(q),
    };
    let normal = R_w1 * d.normal;
    let gap = d.distance - (r1 + r2);
    let point2 = p2 - normal * r2;
    Separation { gap, normal, point1: point2 - normal * gap, point2 }
}

fn from_center(q: Vec3) -> PointDistance {
    let distance = q.length();
    PointDistance { distance, normal: if distance > 0.0 { q / distance } else { NO_DIRECTION } }
}

#[inline]
fn point_segment(q: Vec3, half: f64) -> PointDistance {
    let nearest = Vec3::new(0.0, 0.0, q.z.clamp(-half, half));
    let v = q - nearest;
    let distance = v.length();
    PointDistance { distance, normal: if distance > 0.0 { v / distance } else { Vec3::X } }
}

/// Outside: distance to the clamped point. Inside: the nearest of six faces.
#[inline]
fn point_box(q: Vec3, half: Vec3) -> PointDistance {
    let nearest = q.clamp(-half, half);
    let v = q - nearest;
    let squared = v.length_squared();
    if squared > 0.0 {
        let distance = squared.sqrt();
        return PointDistance { distance, normal: v / distance };
    }
    let outward = q.abs() - half;
    let axis = if outward.x >= outward.y && outward.x >= outward.z {
        0
    } else if outward.y >= outward.z {
        1
    } else {
        2
    };
    let mut normal = Vec3::ZERO;
    normal[axis] = if q[axis] < 0.0 { -1.0 } else { 1.0 };
    PointDistance { distance: outward[axis], normal }
}

/// In the half plane (rho, z) the frustum is a quadrangle with two horizontal sides and one slope from (a, low) to (b, high).
#[inline]
fn point_frustum(q: Vec3, low: f64, a: f64, high: f64, b: f64) -> PointDistance {
    let rho = (q.x * q.x + q.y * q.y).sqrt();
    let radial = if rho > 0.0 { Vec3::new(q.x / rho, q.y / rho, 0.0) } else { Vec3::X };
    let (H, L) = (high - low, ((high - low) * (high - low) + (a - b) * (a - b)).sqrt());
    // Slope: unit tangent (b - a, H)/L, outward unit normal (H, a - b)/L; t runs from 0 to L.
    let (n_rho, n_z) = (H / L, (a - b) / L);
    let t = (rho - a) * -n_z + (q.z - low) * n_rho;
    let beyond_slope = (rho - a) * n_rho + (q.z - low) * n_z;
    let (beyond_low, beyond_high) = (low - q.z, q.z - high);
    let place = |distance: f64, (n_rho, n_z): (f64, f64)| PointDistance {
        distance,
        normal: radial * n_rho + Vec3::new(0.0, 0.0, n_z),
    };
    let corner = |c_rho: f64, c_z: f64| {
        let (v_rho, v_z) = (rho - c_rho, q.z - c_z);
        let distance = (v_rho * v_rho + v_z * v_z).sqrt();
        let n = if distance > 0.0 { (v_rho / distance, v_z / distance) } else { (n_rho, n_z) };
        place(distance, n)
    };
    if beyond_slope <= 0.0 && beyond_low <= 0.0 && beyond_high <= 0.0 {
        // Inside: the nearest side, the slope first so that a tip without a disc never answers.
        return if beyond_slope >= beyond_low && beyond_slope >= beyond_high {
            place(beyond_slope, (n_rho, n_z))
        } else if beyond_low >= beyond_high {
            place(beyond_low, (0.0, -1.0))
        } else {
            place(beyond_high, (0.0, 1.0))
        };
    }
    if beyond_low > 0.0 && rho <= a {
        place(beyond_low, (0.0, -1.0))
    } else if beyond_high > 0.0 && rho <= b {
        place(beyond_high, (0.0, 1.0))
    } else if t <= 0.0 {
        corner(a, low)
    } else if t >= L {
        corner(b, high)
    } else {
        place(beyond_slope, (n_rho, n_z))
    }
}

/// Nearest point of an ellipsoid (Eberly 2013, "Distance from a point to an ellipse, an ellipsoid"): with c_i = a_i^2 - a_min^2
/// it is p_i = a_i^2 q_i/(u + c_i) with the largest root u of F(u) = sum (a_i q_i/(u + c_i))^2 - 1. F falls and is convex for
/// u > 0, so Newton from the left of the root climbs to it without overshoot.
fn point_ellipsoid(q: Vec3, semi: Vec3) -> PointDistance {
    let shortest = semi.min_element();
    let c = (semi - Vec3::splat(shortest)) * (semi + Vec3::splat(shortest));
    let s = (semi * q).abs();
    let terms = |u: f64| {
        let g = Vec3::new(quotient(s.x, u + c.x), quotient(s.y, u + c.y), quotient(s.z, u + c.z));
        (g * g, g)
    };
    // F is at least 0 at s_i - c_i for every i.
    let mut u = (s - c).max_element().max(0.0);
    let (squares, _) = terms(u);
    let mut p = Vec3::ZERO;
    if u > 0.0 || squares.x + squares.y + squares.z > 1.0 {
        for _ in 0..100 {
            let (squares, _) = terms(u);
            let value = squares.x + squares.y + squares.z - 1.0;
            let slope = quotient(squares.x, u + c.x) + quotient(squares.y, u + c.y) + quotient(squares.z, u + c.z);
            let next = u + 0.5 * value / slope;
            if !(next > u) {
                break;
            }
            u = next;
        }
        let (_, g) = terms(u);
        p = semi * Vec3::new(g.x.copysign(q.x), g.y.copysign(q.y), g.z.copysign(q.z));
    } else {
        // On the plane of the two longer axes, inside the focal curve: the nearest point leaves along the shortest one.
        let mut rest = 1.0;
        let mut leave = 0;
        for i in 0..3 {
            if c[i] > 0.0 {
                let g = s[i] / c[i];
                p[i] = semi[i] * g.copysign(q[i]);
                rest -= g * g;
            } else {
                leave = i;
            }
        }
        p[leave] = semi[leave] * rest.max(0.0).sqrt();
    }
    let normal = (p / (semi * semi)).try_normalize().unwrap_or(NO_DIRECTION);
    PointDistance { distance: normal.dot(q - p), normal }
}

/// a/b, and 0 where a is 0.
#[inline]
fn quotient(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a / b }
}

/// Square of the sine below which two axes count as parallel [-].
const PARALLEL: f64 = 1e-24;

/// Nearest points of the two axes, then two spheres. Parallel axes answer with the middle of the stretch they share.
pub(super) fn capsule_capsule(X_w1: &Pose, r1: f64, l1: f64, X_w2: &Pose, r2: f64, l2: f64) -> Separation {
    // One order for both ways round: swapping the pair changes signs only.
    let (p1, p2) = (X_w1.position, X_w2.position);
    if (l1, r1, p1.x, p1.y, p1.z) > (l2, r2, p2.x, p2.y, p2.z) {
        return capsule_capsule(X_w2, r2, l2, X_w1, r1, l1).flipped();
    }
    let (u1, u2) = (axis_z(X_w1.rotation), axis_z(X_w2.rotation));
    let w = X_w2.position - X_w1.position;
    // Minimise |w + u2 s2 - u1 s1|^2 over |s1| <= l1, |s2| <= l2: normal equations with b = u1.u2.
    let (b, d1, d2) = (u1.dot(u2), u1.dot(w), u2.dot(w));
    let determinant = u1.cross(u2).length_squared(); // = 1 - b^2 without cancellation
    let s2_for = |s1: f64| (s1 * b - d2).clamp(-l2, l2);
    let s1_for = |s2: f64| (s2 * b + d1).clamp(-l1, l1);
    let (s1, s2) = if determinant > PARALLEL {
        let s1 = (u1.dot(w - u2 * d2) / determinant).clamp(-l1, l1);
        let s1 = s1_for(s2_for(s1));
        (s1, s2_for(s1))
    } else {
        // Parallel: the stretch of axis 1 over which axis 2 lies.
        let (from, to) = ((d1 - l2).max(-l1), (d1 + l2).min(l1));
        let s1 = (0.5 * (from + to)).clamp(-l1, l1);
        (s1, s2_for(s1))
    };
    let v = w + u2 * s2 - u1 * s1;
    let inside = s1.abs() < l1 && s2.abs() < l2;
    let (distance, normal) = if inside && determinant > PARALLEL {
        // Between two inner points the normal is the common perpendicular, however near the axes are.
        let n = u1.cross(u2) / determinant.sqrt();
        let along = n.dot(v);
        (along.abs(), if along < 0.0 || along == 0.0 && n.dot(w) < 0.0 { -n } else { n })
    } else {
        let distance = v.length();
        // Overlapping axes on one line leave any direction across.
        let crossing = distance <= 1e-15 * (l1 + l2);
        (distance, if crossing { any_orthogonal(u1) } else { v / distance })
    };
    let point1 = X_w1.position + u1 * s1 + normal * r1;
    let point2 = X_w2.position + u2 * s2 - normal * r2;
    Separation { gap: distance - (r1 + r2), normal, point1, point2 }
}
