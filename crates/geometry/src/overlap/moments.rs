//! Moments of an overlap: what a contact law needs of it, without columns and without the heap for half-spaces and boxes.
//!
//! With h = n.(x - o) the height along the normal and t the place across it, the divergence theorem over the pieces of the
//! overlap's boundary (unit normals m) gives, each from the flux of a field along n,
//!   V = sum (n.m) int h,   int t dV = sum (n.m) int h t,   int h dV = sum (n.m) int h^2/2,   int t t^T dV = sum (n.m) int h t t^T.
//! Sides that stand along n carry nothing: it does not matter whose side of two flush boxes is taken. Against a half-space
//! o lies on its plane, so that the cut itself (h = 0) is never needed.

mod convex;

use super::overlap;
use super::round_box::box_cylinder;
use crate::{Mat3, Pose, Shape, Vec3};

/// What two solids share, summed up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Volume [m^3].
    pub volume: f64,
    /// Centroid of the volume in the world [m].
    pub centroid: Vec3,
    /// Unit mean normal as in [`super::Overlap`] [-].
    pub normal: Vec3,
    /// The same from the faces that carry the patch: a face with less than a twentieth of the area hardly counts, so that
    /// boxes stacked flush have the normal of their faces whichever of them sticks out [-].
    pub face_normal: Vec3,
    /// Area seen along the normal [m^2].
    pub area: f64,
    /// Length along the normal [m].
    pub extent: f64,
    /// Length along `face_normal` [m].
    pub depth: f64,
    /// Second moment across `face_normal` of the volume about its centroid, resolved in the world [m^5].
    pub second: Mat3,
}

/// Share of the area below which a face fades from `face_normal` [-].
pub(super) const MINOR_FACE: f64 = 0.05;
/// Faces this steep (cosine between their normal and n) carry nothing [-].
const STEEP: f64 = 1e-12;
/// Corners of a face before it is cut; a cut adds at most one.
const CORNERS: usize = 4;
/// Corners that fit without the heap: a rectangle cut by the six planes of a box.
const ROOM: usize = CORNERS + 6;

/// Moments of the overlap of two valid shapes; `None` as for [`overlap`], but that cylinder and box have them too. Exact for polyhedra; for round solids against a
/// half-space the second moment is that of the columns.
pub fn moments(shape1: &Shape, X_w1: &Pose, shape2: &Shape, X_w2: &Pose) -> Option<Moments> {
    use Shape::{Box, Cylinder, HalfSpace, Hull};
    match (shape1, shape2) {
        (HalfSpace, Box { .. } | Hull(_)) => half_space(X_w1, shape2, X_w2),
        (Box { .. } | Hull(_), HalfSpace) => half_space(X_w2, shape1, X_w1).map(Moments::flipped),
        (Box { .. }, Box { .. }) => boxes(shape1, X_w1, shape2, X_w2),
        (Box { half_extents, .. }, Cylinder { radius, half_height, .. }) => {
            box_cylinder(*half_extents, X_w1, *radius, *half_height, X_w2)
        }
        (Cylinder { radius, half_height, .. }, Box { half_extents, .. }) => {
            box_cylinder(*half_extents, X_w2, *radius, *half_height, X_w1).map(Moments::flipped)
        }
        (Box { .. } | Hull(_), Box { .. } | Hull(_)) => convex::solids(shape1, X_w1, shape2, X_w2),
        _ => {
            let o = overlap(shape1, X_w1, shape2, X_w2)?;
            let mut second = Mat3::ZERO;
            for p in &o.patch {
                let r = p.point - o.centroid;
                second += outer(r - o.normal * o.normal.dot(r)) * (p.area * p.depth);
            }
            let face_normal = o.normal;
            let (volume, centroid, normal, area, extent) = (o.volume, o.centroid, o.normal, o.area, o.extent);
            Some(Moments { volume, centroid, normal, face_normal, area, extent, depth: extent, second })
        }
    }
}

impl Moments {
    /// The same seen from the other solid.
    fn flipped(mut self) -> Moments {
        self.normal = -self.normal;
        self.face_normal = -self.face_normal;
        self
    }
}

fn outer(x: Vec3) -> Mat3 {
    Mat3::from_cols(x * x.x, x * x.y, x * x.z)
}

/// A small convex polygon on the stack.
#[derive(Clone, Copy)]
struct Polygon {
    corners: [Vec3; ROOM],
    len: usize,
}

impl Polygon {
    const EMPTY: Polygon = Polygon { corners: [Vec3::ZERO; ROOM], len: 0 };

    fn of(corners: &[Vec3]) -> Polygon {
        let mut p = Polygon::EMPTY;
        p.len = corners.len();
        p.corners[..p.len].copy_from_slice(corners);
        p
    }

    fn corners(&self) -> &[Vec3] {
        &self.corners[..self.len]
    }

    fn push(&mut self, p: Vec3) {
        if self.len < ROOM {
            self.corners[self.len] = p;
            self.len += 1;
        }
    }

    /// The part below the plane n.x = offset.
    fn cut(&self, n: Vec3, offset: f64) -> Polygon {
        let mut out = Polygon::EMPTY;
        let Some(&last) = self.corners().last() else { return out };
        let (mut p, mut hp) = (last, n.dot(last) - offset);
        for &q in self.corners() {
            let hq = n.dot(q) - offset;
            if (hp < 0.0 && hq > 0.0) || (hp > 0.0 && hq < 0.0) {
                out.push(p + (q - p) * (hp / (hp - hq)));
            }
            if hq <= 0.0 {
                out.push(q);
            }
            (p, hp) = (q, hq);
        }
        out
    }
}

/// Sums over the pieces of the boundary, about the origin o of the pieces' coordinates, along the unit vector n.
struct Sums {
    n: Vec3,
    volume: f64,
    first: Vec3,
    second: Mat3,
}

impl Sums {
    fn along(n: Vec3) -> Sums {
        Sums { n, volume: 0.0, first: Vec3::ZERO, second: Mat3::ZERO }
    }

    /// Adds one piece with its outward normal, corners measured from o.
    fn add(&mut self, normal: Vec3, corners: &[Vec3]) {
        let n = self.n;
        let lean = n.dot(normal);
        if lean.abs() < STEEP {
            return;
        }
        let a = corners[0];
        for w in corners[1..].windows(2) {
            let (b, c) = (w[0], w[1]);
            let flux = 0.5 * lean * (b - a).cross(c - a).dot(normal);
            // exact for cubics: the middle and three points on the lines to the corners
            let sum = a + b + c;
            let middle = [(sum / 3.0, -27.0 / 48.0)];
            for (x, weight) in middle.into_iter().chain([a, b, c].map(|v| (0.4 * v + 0.2 * sum, 25.0 / 48.0))) {
                let h = n.dot(x);
                let across = x - n * h;
                let dV = weight * flux * h;
                self.volume += dV;
                self.first += (across + n * (0.5 * h)) * dV;
                let carried = across * dV;
                self.second.x_axis += across * carried.x;
                self.second.y_axis += across * carried.y;
                self.second.z_axis += across * carried.z;
            }
        }
    }

    fn finish(self, o_w: Vec3) -> Option<(f64, Vec3, Mat3)> {
        if !(self.volume > 0.0) {
            return None;
        }
        let r = self.first / self.volume;
        let across = r - self.n * self.n.dot(r);
        Some((self.volume, o_w + r, self.second - outer(across) * self.volume))
    }
}

/// Area of a convex polygon with this normal [m^2].
fn area_of(normal: Vec3, corners: &[Vec3]) -> f64 {
    corners[1..].windows(2).map(|w| 0.5 * (w[0] - corners[0]).cross(w[1] - corners[0]).dot(normal)).sum()
}

/// Corners of the face of a box with outward normal +-axis i, anticlockwise seen from outside, and that normal.
fn box_face(R: &Mat3, p: Vec3, h: Vec3, i: usize, sign: f64) -> (Vec3, [Vec3; 4]) {
    let axes = [R.x_axis, R.y_axis, R.z_axis];
    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
    let normal = axes[i] * sign;
    let (c, u, v) = (p + normal * h[i], axes[j] * (h[j] * sign), axes[k] * h[k]);
    (normal, [c - u - v, c + u - v, c + u + v, c - u + v])
}

/// Box or hull 2 in half-space 1.
fn half_space(X_w1: &Pose, shape2: &Shape, X_w2: &Pose) -> Option<Moments> {
    let n = X_w1.vector(Vec3::Z);
    let height = n.dot(X_w2.position - X_w1.position);
    // coordinates from the foot of solid 2's origin on the plane
    let (R, p) = (Mat3::from_quat(X_w2.rotation), n * height);
    if let Shape::Box { half_extents: h, .. } = shape2
        && height >= (R.transpose() * n).abs().dot(*h)
    {
        return None;
    }
    let mut sums = Sums::along(n);
    let mut lowest = f64::INFINITY;
    let mut area = 0.0;
    let mut face = |normal: Vec3, corners: &[Vec3]| {
        let mut above = false;
        let mut below = false;
        for q in corners {
            let h = n.dot(*q);
            above |= h > 0.0;
            below |= h < 0.0;
            lowest = lowest.min(h);
        }
        if !below {
            return;
        }
        let polygon = Polygon::of(corners);
        let polygon = if above { polygon.cut(n, 0.0) } else { polygon };
        if polygon.len >= 3 {
            area -= n.dot(normal) * area_of(normal, polygon.corners());
            sums.add(normal, polygon.corners());
        }
    };
    // height of a corner of solid 2 over the plane, from its own coordinates
    let n_2 = R.transpose() * n;
    match shape2 {
        Shape::Box { half_extents: h, .. } => {
            for i in 0..3 {
                for sign in [1.0, -1.0] {
                    let (normal, corners) = box_face(&R, p, *h, i, sign);
                    face(normal, &corners);
                }
            }
        }
        Shape::Hull(hull) => {
            let corner = |i: u32| hull.vertices()[i as usize];
            let margin = 1e-12 * hull.radius();
            for f in hull.faces() {
                if f.corners.iter().any(|&i| n_2.dot(corner(i)) + height < margin) {
                    face(R * f.normal, &f.corners.map(|i| p + R * corner(i)));
                }
            }
        }
        _ => return None,
    }
    if !(lowest < 0.0) {
        return None;
    }
    let (volume, centroid, second) = sums.finish(X_w2.position - p)?;
    let (extent, area) = (-lowest, area.max(0.0));
    Some(Moments { volume, centroid, normal: n, face_normal: n, area, extent, depth: extent, second })
}

/// Two boxes: every face of each cut by the planes of the other. Where faces of both coincide only the first one's counts.
fn boxes(shape1: &Shape, X_w1: &Pose, shape2: &Shape, X_w2: &Pose) -> Option<Moments> {
    let (Shape::Box { half_extents: h1, .. }, Shape::Box { half_extents: h2, .. }) = (shape1, shape2) else {
        return None;
    };
    let o_w = X_w1.position;
    let R = [Mat3::from_quat(X_w1.rotation), Mat3::from_quat(X_w2.rotation)];
    let p = [Vec3::ZERO, X_w2.position - o_w];
    let h = [*h1, *h2];
    if are_apart(&R, p[1], &h) {
        return None;
    }
    let same = 1e-15 * h1.length().min(h2.length());
    // all pieces are measured from a corner of the first one
    let mut o = None;
    let mut vectors = [Vec3::ZERO; 6];
    let mut areas = [0.0; 6];
    let mut pieces = [(Vec3::ZERO, Polygon::EMPTY); 12];
    let mut count = 0;
    for side in 0..2 {
        let (a, b) = (side, 1 - side);
        'faces: for f in 0..6 {
            let (normal, corners) = box_face(&R[a], p[a], h[a], f / 2, if f % 2 == 0 { 1.0 } else { -1.0 });
            let mut polygon = Polygon::of(&corners);
            for (i, axis) in [R[b].x_axis, R[b].y_axis, R[b].z_axis].into_iter().enumerate() {
                for plane in [axis, -axis] {
                    let offset = plane.dot(p[b]) + h[b][i];
                    let (mut above, mut below) = (false, false);
                    for q in polygon.corners() {
                        let height = plane.dot(*q) - offset;
                        above |= height > same;
                        below |= height < -same;
                    }
                    if !above && !below {
                        if side == 0 && normal.dot(plane) > 0.0 {
                            continue;
                        }
                        continue 'faces;
                    }
                    if above {
                        polygon = polygon.cut(plane, offset);
                        if polygon.len < 3 {
                            continue 'faces;
                        }
                    }
                }
            }
            let origin = *o.get_or_insert(polygon.corners[0]);
            for q in &mut polygon.corners[..polygon.len] {
                *q -= origin;
            }
            if side == 0 {
                areas[f] = area_of(normal, polygon.corners());
                vectors[f] = normal * areas[f];
            }
            pieces[count] = (normal, polygon);
            count += 1;
        }
    }
    let pieces = &pieces[..count];
    let vector: Vec3 = vectors.iter().sum();
    let normal = vector.try_normalize().unwrap_or(Vec3::Z);
    let total: f64 = areas.iter().sum();
    let mut carried = Vec3::ZERO;
    for (v, area) in vectors.iter().zip(areas) {
        let x = (area / (MINOR_FACE * total)).min(1.0);
        carried += *v * (x * x * (3.0 - 2.0 * x));
    }
    let face_normal = carried.try_normalize().unwrap_or(normal);
    let mut sums = Sums::along(face_normal);
    for (normal, polygon) in pieces {
        sums.add(*normal, polygon.corners());
    }
    let (volume, centroid, second) = sums.finish(o_w + o?)?;
    let along = |n: Vec3| {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for q in pieces.iter().flat_map(|(_, polygon)| polygon.corners()) {
            let height = n.dot(*q);
            (low, high) = (low.min(height), high.max(height));
        }
        high - low
    };
    let (extent, depth) = (along(normal), along(face_normal));
    Some(Moments { volume, centroid, normal, face_normal, area: vector.length(), extent, depth, second })
}

/// True when a face normal of one of the boxes separates them.
fn are_apart(R: &[Mat3; 2], p_12: Vec3, h: &[Vec3; 2]) -> bool {
    for a in 0..2 {
        let b = 1 - a;
        for (i, axis) in [R[a].x_axis, R[a].y_axis, R[a].z_axis].into_iter().enumerate() {
            let reach = (R[b].transpose() * axis).abs().dot(h[b]);
            if axis.dot(p_12).abs() > h[a][i] + reach {
                return true;
            }
        }
    }
    false
}
