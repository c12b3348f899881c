//! Minkowski portal refinement as improved by Neumayr and Otter (2017) for Modia3D, by name.
//!
//! r_k are points of {a - b}; r0 lies inside. A portal of three points is pushed outwards until the ray from r0 through the origin
//! leaves through a face of the body. The sign is always right; the value is the distance to the plane where that ray
//! leaves, which differs from the smallest translation by an error of second order in the gap.
//!
//! Different from the published code: f64, tolerances relative to the size, and no division of the points by a length
//! that the distance is not multiplied with afterwards (their defect). Coincident centres shift the inner point a little
//! instead of ending the run.

use super::{Separation, separation};
use crate::{Pose, Shape, Vec3};

/// Point of {a - b} with its origins in the world, relative to the origin of shape 1 [m].
#[derive(Clone, Copy)]
struct Point {
    r: Vec3,
    a: Vec3,
    b: Vec3,
}

/// Relative tolerance of the end conditions TC2 and TC3 [-].
const TOLERANCE: f64 = 1e-13;
const LIMIT: usize = 120;

/// Signed distance by portal refinement. Two spheres and every pair with a half-space, height grid or compound are
/// answered by [`separation`], which is exact there.
pub fn separation_mpr(shape1: &Shape, X_w1: &Pose, shape2: &Shape, X_w2: &Pose) -> Separation {
    let convex = |s: &Shape| !matches!(s, Shape::HalfSpace | Shape::HeightGrid(_) | Shape::Compound(_));
    let spheres = matches!((shape1, shape2), (Shape::Sphere { .. }, Shape::Sphere { .. }));
    if spheres || !convex(shape1) || !convex(shape2) {
        return separation(shape1, X_w1, shape2, X_w2);
    }
    let p_12 = X_w2.position - X_w1.position;
    let support = |n: Vec3| {
        let a = X_w1.rotation * shape1.support(X_w1.vector_into(n));
        let b = p_12 + X_w2.rotation * shape2.support(X_w2.vector_into(-n));
        Point { r: a - b, a, b }
    };
    let mean = |points: &[Vec3]| points.iter().copied().sum::<Vec3>() / points.len() as f64;
    let size = shape1.bounding_radius_about(Vec3::ZERO) + shape2.bounding_radius_about(Vec3::ZERO);
    let centre = |s: &Shape, X: &Pose| match s {
        Shape::Hull(hull) => X.rotation * mean(hull.vertices()),
        Shape::Mesh(mesh) => X.rotation * mean(mesh.vertices()),
        _ => Vec3::ZERO,
    };
    let mut r0 = centre(shape1, X_w1) - p_12 - centre(shape2, X_w2);
    if r0.length() <= 1e-12 * size {
        r0 = Vec3::Z * (1e-9 * size);
    }
    let (gap, n, a, b) = refine(r0, support, size);
    // Shift the witness points to the gap's ends.
    let middle = X_w1.position + 0.5 * (a + b);
    Separation { gap, normal: n, point1: middle - n * (0.5 * gap), point2: middle + n * (0.5 * gap) }
}

fn refine(r0: Vec3, support: impl Fn(Vec3) -> Point, size: f64) -> (f64, Vec3, Vec3, Vec3) {
    let tiny = 1e-14 * size;
    let out = -r0 / r0.length();
    let mut r1 = support(out);
    let aligned = |p: &Point| (-out.dot(p.r), out, p.a, p.b);
    let n2 = r0.cross(r1.r);
    // TC1: the origin lies on the line from r0 to r1.
    if n2.length() <= 1e-13 * size * r0.length() {
        return aligned(&r1);
    }
    let mut r2 = support(n2);
    let mut n3 = (r1.r - r0).cross(r2.r - r0);
    if n3.length() <= tiny * size {
        r2 = support(-n2);
        n3 = (r1.r - r0).cross(r2.r - r0);
        if n3.length() <= tiny * size {
            return aligned(&r1);
        }
    }
    if n3.dot(r0) > 0.0 {
        n3 = -n3;
        std::mem::swap(&mut r1, &mut r2);
    }
    let mut r3 = support(n3);
    // Phase 2: until the ray from r0 through the origin passes between the three.
    for _ in 0..LIMIT {
        if (r1.r - r0).cross(r3.r - r0).dot(r0) < 0.0 {
            r2 = r3;
            r3 = support((r1.r - r0).cross(r2.r - r0));
        } else if (r3.r - r0).cross(r2.r - r0).dot(r0) < 0.0 {
            r1 = r3;
            r3 = support((r1.r - r0).cross(r2.r - r0));
        } else {
            break;
        }
    }
    // Phase 3: push the portal out.
    let mut best = (f64::INFINITY, aligned(&r1));
    for _ in 0..LIMIT {
        let Some(n) = (r2.r - r1.r).cross(r3.r - r1.r).try_normalize() else { break };
        let n4 = if n.dot(r1.r - r0) < 0.0 { -n } else { n };
        let r4 = support(n4);
        // TC2: the origin lies on the normal through r4.
        let off = r4.r.cross(n4).length();
        if off < best.0 {
            best = (off, (-n4.dot(r4.r), n4, r4.a, r4.b));
        }
        // TC3: the portal lies on the surface.
        let slack = (r4.r - r1.r).dot(n4).abs();
        if off < TOLERANCE * size {
            return best.1;
        }
        if slack < best.0 {
            best = (slack, on_portal(&[r1, r2, r3], n4));
        }
        if slack < TOLERANCE * size {
            return best.1;
        }
        // The part of the portal that the ray passes: sides of the planes through r0, r4 and the origin.
        let side = r4.r.cross(r0);
        if r1.r.dot(side) > 0.0 {
            if r2.r.dot(side) > 0.0 { r1 = r4 } else { r3 = r4 }
        } else if r3.r.dot(side) > 0.0 {
            r2 = r4;
        } else {
            r1 = r4;
        }
    }
    best.1
}

/// Signed distance of the origin from the portal's plane, with the witness points at the portal's nearest point. The
/// published code takes the distance to the triangle itself, which is wrong in first order once the portal is small.
fn on_portal(portal: &[Point; 3], n: Vec3) -> (f64, Vec3, Vec3, Vec3) {
    let [p, q, s] = portal.map(|x| x.r);
    let nearest = super::terrain::nearest_on_triangle(Vec3::ZERO, [p, q, s]);
    // Barycentric weights of the nearest point.
    let area = (q - p).cross(s - p);
    let weight = |u: Vec3, v: Vec3| (u - nearest).cross(v - nearest).dot(area).max(0.0);
    let w = [weight(q, s), weight(s, p), weight(p, q)];
    let sum = (w[0] + w[1] + w[2]).max(f64::MIN_POSITIVE);
    let (mut a, mut b) = (Vec3::ZERO, Vec3::ZERO);
    for k in 0..3 {
        a += portal[k].a * (w[k] / sum);
        b += portal[k].b * (w[k] / sum);
    }
    (-n.dot(p), n, a, b)
}
