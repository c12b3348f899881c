//! Convex polyhedra and half-spaces: the faces of each clipped by the planes of the other.
//!
//! The pieces are the boundary of the overlap. With x measured from a point o of the overlap, over a piece with unit normal m
//! and offset c = m.(x - o): V = sum c A/3, and the first moment of V is sum c (integral of x)/4.

use super::{Overlap, PatchPoint};
use crate::space::any_orthogonal;
use crate::{Mat3, Pose, Shape, Vec3};

/// Convex polygon, anticlockwise seen along -normal, with the outward normal of the solid it belongs to.
#[derive(Clone)]
struct Face {
    normal: Vec3,
    corners: Vec<Vec3>,
}

/// Piece of the boundary of the overlap.
struct Piece {
    face: Face,
    of_first: bool,
}

pub(super) fn polyhedra(shape1: &Shape, X_w1: &Pose, shape2: &Shape, X_w2: &Pose) -> Option<Overlap> {
    // Coordinates along the world's axes from the origin of the bounded shape: no digits lost far from the origin.
    let o_w = if matches!(shape1, Shape::HalfSpace) { X_w2.position } else { X_w1.position };
    let near = |X: &Pose| Pose::new(X.rotation, X.position - o_w);
    let (X1, X2) = (near(X_w1), near(X_w2));
    let size = match (shape1, shape2) {
        (Shape::HalfSpace, Shape::HalfSpace) => return None,
        (Shape::HalfSpace, _) => shape2.bounding_radius_about(Vec3::ZERO),
        (_, Shape::HalfSpace) => shape1.bounding_radius_about(Vec3::ZERO),
        _ => {
            let (a, b) = (shape1.aabb(&X1), shape2.aabb(&X2));
            if !a.overlaps(&b) {
                return None;
            }
            a.half().length().min(b.half().length())
        }
    };
    let (faces1, faces2) = (faces(shape1, &X1, size), faces(shape2, &X2, size));
    let same = 1e-15 * size;
    let mut pieces = Vec::with_capacity(faces1.len() + faces2.len());
    clip_all(&faces1, &faces2, true, same, &mut pieces);
    clip_all(&faces2, &faces1, false, same, &mut pieces);
    measure(&pieces, o_w, shape1, shape2)
}

/// Faces of a polyhedron or the part of a half-space's face that can matter, in the frame of the pose.
fn faces(shape: &Shape, X: &Pose, size: f64) -> Vec<Face> {
    let R = Mat3::from_quat(X.rotation);
    match shape {
        Shape::Box { half_extents: h, .. } => {
            let axes = [R.x_axis, R.y_axis, R.z_axis];
            let mut all = Vec::with_capacity(6);
            for i in 0..3 {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                for sign in [1.0, -1.0] {
                    let normal = axes[i] * sign;
                    let (c, u, v) = (X.position + normal * h[i], axes[j] * (h[j] * sign), axes[k] * h[k]);
                    all.push(Face { normal, corners: vec![c - u - v, c + u - v, c + u + v, c - u + v] });
                }
            }
            all
        }
        Shape::Hull(hull) => {
            let at = |i: u32| X.position + R * hull.vertices()[i as usize];
            hull.faces().iter().map(|f| Face { normal: R * f.normal, corners: f.corners.map(at).to_vec() }).collect()
        }
        _ => {
            // A square around the foot of the origin, four times as wide as the other shape.
            let normal = R.z_axis;
            let foot = normal * normal.dot(X.position);
            let (u, v) = (any_orthogonal(normal) * (4.0 * size), normal.cross(any_orthogonal(normal)) * (4.0 * size));
            vec![Face { normal, corners: vec![foot - u - v, foot + u - v, foot + u + v, foot - u + v] }]
        }
    }
}

/// Clips every face of `mine` by all planes of `theirs`. Where faces of both solids coincide only the first one's counts.
fn clip_all(mine: &[Face], theirs: &[Face], of_first: bool, same: f64, pieces: &mut Vec<Piece>) {
    let (mut polygon, mut scratch) = (Vec::new(), Vec::new());
    'faces: for face in mine {
        polygon.clear();
        polygon.extend_from_slice(&face.corners);
        for plane in theirs {
            let height = |p: Vec3| plane.normal.dot(p - plane.corners[0]);
            let (mut above, mut below) = (false, false);
            for p in &polygon {
                let h = height(*p);
                above |= h > same;
                below |= h < -same;
            }
            if !above && !below {
                if of_first && face.normal.dot(plane.normal) > 0.0 {
                    continue;
                }
                continue 'faces;
            }
            if above {
                cut(&polygon, &mut scratch, height);
                std::mem::swap(&mut polygon, &mut scratch);
                if polygon.len() < 3 {
                    continue 'faces;
                }
            }
        }
        pieces.push(Piece { face: Face { normal: face.normal, corners: polygon.clone() }, of_first });
    }
}

/// The part of a convex polygon with height <= 0.
fn cut(polygon: &[Vec3], out: &mut Vec<Vec3>, height: impl Fn(Vec3) -> f64) {
    out.clear();
    let Some(&last) = polygon.last() else { return };
    let (mut p, mut hp) = (last, height(last));
    for &q in polygon {
        let hq = height(q);
        if (hp < 0.0 && hq > 0.0) || (hp > 0.0 && hq < 0.0) {
            out.push(p + (q - p) * (hp / (hp - hq)));
        }
        if hq <= 0.0 {
            out.push(q);
        }
        (p, hp) = (q, hq);
    }
}

/// Twice the area along the normal and three times the integral of x - o over it, by triangles from the first corner.
fn polygon_moments(face: &Face, o: Vec3) -> (f64, Vec3) {
    let a = face.corners[0] - o;
    let (mut area2, mut first) = (0.0, Vec3::ZERO);
    for w in face.corners[1..].windows(2) {
        let (b, c) = (w[0] - o, w[1] - o);
        let twice = (b - a).cross(c - a).dot(face.normal);
        area2 += twice;
        first += (a + b + c) * twice;
    }
    (0.5 * area2, first / 6.0)
}

fn measure(pieces: &[Piece], o_w: Vec3, shape1: &Shape, shape2: &Shape) -> Option<Overlap> {
    let o = pieces.first()?.face.corners[0];
    let (mut volume, mut moment, mut vector1, mut vector2) = (0.0, Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
    for piece in pieces {
        let (area, first) = polygon_moments(&piece.face, o);
        let c = piece.face.normal.dot(piece.face.corners[0] - o);
        volume += c * area / 3.0;
        moment += first * (c / 4.0);
        *(if piece.of_first { &mut vector1 } else { &mut vector2 }) += piece.face.normal * area;
    }
    if !(volume > 0.0) {
        return None;
    }
    // A half-space's face is one plane: its normal is exact.
    let vector = match (shape1, shape2) {
        (_, Shape::HalfSpace) => -vector2,
        _ => vector1,
    };
    let normal = vector.try_normalize().unwrap_or(Vec3::Z);
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for p in pieces.iter().flat_map(|piece| &piece.face.corners) {
        let h = normal.dot(*p - o);
        (low, high) = (low.min(h), high.max(h));
    }
    let centroid = o_w + o + moment / volume;
    let patch = columns(pieces, normal, o, o_w);
    Some(Overlap { volume, centroid, normal, area: vector.length(), extent: high - low, patch })
}

/// Columns along n between every lower and every upper piece: over the polygon that both cover seen along n the length
/// is linear, so the three middles of the sides of its triangles integrate it and its first moment exactly.
fn columns(pieces: &[Piece], n: Vec3, o: Vec3, o_w: Vec3) -> Vec<PatchPoint> {
    let s = any_orthogonal(n);
    let t = n.cross(s);
    // Height of a piece's plane over the point (x, y) across n.
    let height = |f: &Face, p: Vec3| -> f64 {
        let q = f.corners[0] - o;
        let across = p - n * n.dot(p);
        (f.normal.dot(q) - f.normal.dot(across)) / f.normal.dot(n)
    };
    // Rectangle of a piece seen along n.
    let seen = |piece: &Piece| {
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for p in &piece.face.corners {
            for (k, x) in [s.dot(*p), t.dot(*p)].into_iter().enumerate() {
                (low[k], high[k]) = (low[k].min(x), high[k].max(x));
            }
        }
        (low, high)
    };
    let facing = |sign: f64| -> Vec<_> {
        pieces.iter().filter(|p| sign * p.face.normal.dot(n) > STEEP).map(|p| (p, seen(p))).collect()
    };
    let lowers = facing(-1.0);
    let mut all = Vec::new();
    let (mut polygon, mut scratch) = (Vec::new(), Vec::new());
    for (upper, (low1, high1)) in facing(1.0) {
        'lower: for (lower, (low2, high2)) in &lowers {
            if (0..2).any(|k| low1[k] > high2[k] || low2[k] > high1[k]) {
                continue;
            }
            polygon.clear();
            polygon.extend(upper.face.corners.iter().map(|p| {
                let q = *p - o;
                q - n * n.dot(q)
            }));
            let corners = &lower.face.corners;
            for k in 0..corners.len() {
                // Seen along n the lower piece runs clockwise.
                let (a, b) = (corners[(k + 1) % corners.len()] - o, corners[k] - o);
                let inward = n.cross(b - a);
                cut(&polygon, &mut scratch, |p| -inward.dot(p - a));
                std::mem::swap(&mut polygon, &mut scratch);
                if polygon.len() < 3 {
                    continue 'lower;
                }
            }
            for w in polygon[1..].windows(2) {
                let (a, b, c) = (polygon[0], w[0], w[1]);
                let area = 0.5 * ((b - a).dot(s) * (c - a).dot(t) - (b - a).dot(t) * (c - a).dot(s));
                if !(area > 0.0) {
                    continue;
                }
                for p in [0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)] {
                    let (top, bottom) = (height(&upper.face, p), height(&lower.face, p));
                    let point = o_w + o + p + n * (0.5 * (top + bottom));
                    all.push(PatchPoint { point, area: area / 3.0, depth: (top - bottom).max(0.0) });
                }
            }
        }
    }
    all
}

/// Faces this steep (cosine between their normal and the mean normal) carry no columns [-].
const STEEP: f64 = 1e-12;
