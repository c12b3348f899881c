//! Convex polyhedra and half-spaces: the faces of each clipped by the planes of the other.
//!
//! The pieces are the boundary of the overlap. With x measured from a point o of the overlap, over a piece with unit normal m
//! and offset c = m.(x - o): V = sum c A/3, and the first moment of V is sum c (integral of x)/4.

use super::{Overlap, PatchPoint};
use crate::space::any_orthogonal;
use crate::{Mat3, Pose, Shape, Vec3};

/// Convex polygons, anticlockwise seen against the outward normal, with their corners in one buffer.
#[derive(Default)]
struct Faces {
    faces: Vec<Face>,
    corners: Vec<Vec3>,
}

/// One polygon: `corners[from..to]` of its buffer.
#[derive(Clone, Copy)]
struct Face {
    /// Outward normal of the solid it belongs to [-].
    normal: Vec3,
    from: usize,
    to: usize,
    of_first: bool,
}

impl Faces {
    fn push(&mut self, normal: Vec3, of_first: bool, corners: impl IntoIterator<Item = Vec3>) {
        let from = self.corners.len();
        self.corners.extend(corners);
        self.faces.push(Face { normal, from, to: self.corners.len(), of_first });
    }

    fn corners(&self, face: &Face) -> &[Vec3] {
        &self.corners[face.from..face.to]
    }
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
    let (faces1, faces2) = (faces(shape1, &X1, size, true), faces(shape2, &X2, size, false));
    let same = 1e-15 * size;
    let mut pieces = Faces::default();
    clip_all(&faces1, &faces2, same, &mut pieces);
    clip_all(&faces2, &faces1, same, &mut pieces);
    measure(&pieces, o_w, shape1, shape2)
}

/// Faces of a polyhedron or the part of a half-space's face that can matter, in the frame of the pose.
fn faces(shape: &Shape, X: &Pose, size: f64, of_first: bool) -> Faces {
    let R = Mat3::from_quat(X.rotation);
    let mut all = Faces::default();
    match shape {
        Shape::Box { half_extents: h, .. } => {
            let axes = [R.x_axis, R.y_axis, R.z_axis];
            for i in 0..3 {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                for sign in [1.0, -1.0] {
                    let normal = axes[i] * sign;
                    let (c, u, v) = (X.position + normal * h[i], axes[j] * (h[j] * sign), axes[k] * h[k]);
                    all.push(normal, of_first, [c - u - v, c + u - v, c + u + v, c - u + v]);
                }
            }
        }
        Shape::Hull(hull) => {
            for f in hull.faces() {
                all.push(R * f.normal, of_first, f.corners.map(|i| X.position + R * hull.vertices()[i as usize]));
            }
        }
        _ => {
            // A square around the foot of the origin, four times as wide as the other shape.
            let normal = R.z_axis;
            let foot = normal * normal.dot(X.position);
            let (u, v) = (any_orthogonal(normal) * (4.0 * size), normal.cross(any_orthogonal(normal)) * (4.0 * size));
            all.push(normal, of_first, [foot - u - v, foot + u - v, foot + u + v, foot - u + v]);
        }
    }
    all
}

/// Clips every face of `mine` by all planes of `theirs`. Where faces of both solids coincide only the first one's counts.
fn clip_all(mine: &Faces, theirs: &Faces, same: f64, pieces: &mut Faces) {
    let (mut polygon, mut scratch) = (Vec::new(), Vec::new());
    'faces: for face in &mine.faces {
        polygon.clear();
        polygon.extend_from_slice(mine.corners(face));
        for plane in &theirs.faces {
            let q = theirs.corners[plane.from];
            let height = |p: Vec3| plane.normal.dot(p - q);
            let (mut above, mut below) = (false, false);
            for p in &polygon {
                let h = height(*p);
                above |= h > same;
                below |= h < -same;
            }
            if !above && !below {
                if face.of_first && face.normal.dot(plane.normal) > 0.0 {
                    continue;
                }
                continue 'faces;
            }
            if above {
                if !below {
                    continue 'faces;
                }
                cut(&polygon, &mut scratch, height);
                std::mem::swap(&mut polygon, &mut scratch);
                if polygon.len() < 3 {
                    continue 'faces;
                }
            }
        }
        pieces.push(face.normal, face.of_first, polygon.iter().copied());
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

/// Area along the normal and integral of x - o over a polygon, by triangles from the first corner.
fn polygon_moments(corners: &[Vec3], normal: Vec3, o: Vec3) -> (f64, Vec3) {
    let a = corners[0] - o;
    let (mut twice, mut first) = (0.0, Vec3::ZERO);
    for w in corners[1..].windows(2) {
        let (b, c) = (w[0] - o, w[1] - o);
        let area2 = (b - a).cross(c - a).dot(normal);
        twice += area2;
        first += (a + b + c) * area2;
    }
    (0.5 * twice, first / 6.0)
}

fn measure(pieces: &Faces, o_w: Vec3, shape1: &Shape, shape2: &Shape) -> Option<Overlap> {
    let o = *pieces.corners.first()?;
    let (mut volume, mut moment, mut vector1, mut vector2) = (0.0, Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
    for face in &pieces.faces {
        let (area, first) = polygon_moments(pieces.corners(face), face.normal, o);
        let c = face.normal.dot(pieces.corners[face.from] - o);
        volume += c * area / 3.0;
        moment += first * (c / 4.0);
        *(if face.of_first { &mut vector1 } else { &mut vector2 }) += face.normal * area;
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
    for p in &pieces.corners {
        let h = normal.dot(*p - o);
        (low, high) = (low.min(h), high.max(h));
    }
    let centroid = o_w + o + moment / volume;
    let patch = columns(pieces, normal, o, o_w);
    Some(Overlap { volume, centroid, normal, area: vector.length(), extent: high - low, patch })
}

/// Columns along n between every lower and every upper piece: over the polygon that both cover seen along n the length
/// is linear, so the three middles of the sides of its triangles integrate it and its first moment exactly.
fn columns(pieces: &Faces, n: Vec3, o: Vec3, o_w: Vec3) -> Vec<PatchPoint> {
    let s = any_orthogonal(n);
    let t = n.cross(s);
    // Rectangle of a piece seen along n.
    let seen = |face: &Face| {
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for p in pieces.corners(face) {
            for (k, x) in [s.dot(*p), t.dot(*p)].into_iter().enumerate() {
                (low[k], high[k]) = (low[k].min(x), high[k].max(x));
            }
        }
        (low, high)
    };
    let facing = |sign: f64| -> Vec<_> {
        pieces.faces.iter().filter(|f| sign * f.normal.dot(n) > STEEP).map(|f| (f, seen(f))).collect()
    };
    let (lowers, uppers) = (facing(-1.0), facing(1.0));
    let mut all = Vec::new();
    let (mut polygon, mut scratch) = (Vec::new(), Vec::new());
    for (upper, (low1, high1)) in &uppers {
        for (lower, (low2, high2)) in &lowers {
            if (0..2).any(|k| low1[k] > high2[k] || low2[k] > high1[k]) {
                continue;
            }
            polygon.clear();
            polygon.extend(pieces.corners(upper).iter().map(|p| *p - o).map(|q| q - n * n.dot(q)));
            if !clip_seen(&mut polygon, &mut scratch, pieces.corners(lower), n, o) {
                continue;
            }
            let (top, bottom) = (Height::of(pieces, upper, n, o), Height::of(pieces, lower, n, o));
            for w in polygon[1..].windows(2) {
                let (a, b, c) = (polygon[0], w[0], w[1]);
                let area = 0.5 * (b - a).cross(c - a).dot(n);
                if !(area > 0.0) {
                    continue;
                }
                for p in [0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)] {
                    let (high, low) = (top.at(p), bottom.at(p));
                    let point = o_w + o + p + n * (0.5 * (high + low));
                    all.push(PatchPoint { point, area: area / 3.0, depth: (high - low).max(0.0) });
                }
            }
        }
    }
    all
}

/// Clips a polygon seen along n by the outline of a lower piece, which runs clockwise; false when nothing is left.
fn clip_seen(polygon: &mut Vec<Vec3>, scratch: &mut Vec<Vec3>, lower: &[Vec3], n: Vec3, o: Vec3) -> bool {
    for k in 0..lower.len() {
        let (a, b) = (lower[(k + 1) % lower.len()] - o, lower[k] - o);
        let inward = n.cross(b - a);
        cut(polygon, scratch, |p| -inward.dot(p - a));
        std::mem::swap(polygon, scratch);
        if polygon.len() < 3 {
            return false;
        }
    }
    true
}

/// Height along n of a piece's plane over a point across n.
struct Height {
    offset: f64,
    slope: Vec3,
}

impl Height {
    fn of(pieces: &Faces, face: &Face, n: Vec3, o: Vec3) -> Height {
        let m = face.normal / face.normal.dot(n);
        Height { offset: m.dot(pieces.corners[face.from] - o), slope: m }
    }

    fn at(&self, across: Vec3) -> f64 {
        self.offset - self.slope.dot(across)
    }
}

/// Faces this steep (cosine between their normal and the mean normal) carry no columns [-].
const STEEP: f64 = 1e-12;
