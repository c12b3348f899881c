//! Two convex solids with flat faces: every face of each cut by the planes of the other, in the frame of the first.
//!
//! The plane over which the middle of the other solid stands highest comes first: in a shallow contact all faces but those of the patch lie
//! above it.

use super::{Moments, Sums, area_of};
use crate::shape::Facet;
use crate::{Mat3, Pose, Shape, Vec3};
use std::cell::RefCell;

thread_local! {
    static ROOM: RefCell<Room> = RefCell::default();
}

/// Buffers; what they hold never changes a result.
#[derive(Default)]
struct Room {
    /// Corners of the second solid.
    vertices: Vec<Vec3>,
    /// Planes of both: outward normal, offset [m].
    planes: [Vec<(Vec3, f64)>; 2],
    /// Heights of the corners of both over the other's first plane [m].
    heights: [Vec<f64>; 2],
    /// Pieces: outward normal, end in the list of corners.
    pieces: Vec<(Vec3, usize)>,
    corners: Vec<Vec3>,
    polygon: Vec<Vec3>,
    scratch: Vec<Vec3>,
}

/// Outlines of the faces +x, -x, +y, -y, +z, -z of a box whose corner k has the signs of the bits of k, anticlockwise from outside.
const BOX_OUTLINES: [u32; 24] = [1, 3, 7, 5, 0, 4, 6, 2, 2, 6, 7, 3, 0, 1, 5, 4, 4, 5, 7, 6, 0, 2, 3, 1];

/// A solid by its flat faces, in its own frame.
struct Faces<'a> {
    vertices: &'a [Vec3],
    facets: &'a [Facet],
    outlines: &'a [u32],
}

impl Faces<'_> {
    /// Hands the faces of a box or hull to `then`.
    fn with<R>(shape: &Shape, then: impl FnOnce(Faces<'_>) -> Option<R>) -> Option<R> {
        match shape {
            Shape::Hull(hull) => {
                then(Faces { vertices: hull.vertices(), facets: hull.facets(), outlines: hull.outlines() })
            }
            Shape::Box { half_extents: h, .. } => {
                let sign = |k: usize, bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
                let vertices: [Vec3; 8] =
                    std::array::from_fn(|k| Vec3::new(sign(k, 0) * h.x, sign(k, 1) * h.y, sign(k, 2) * h.z));
                let facets: [Facet; 6] = std::array::from_fn(|f| {
                    let normal = Vec3::AXES[f / 2] * if f % 2 == 0 { 1.0 } else { -1.0 };
                    Facet { normal, from: 4 * f as u32, to: 4 * f as u32 + 4 }
                });
                then(Faces { vertices: &vertices, facets: &facets, outlines: &BOX_OUTLINES })
            }
            _ => None,
        }
    }
}

/// Overlap of two boxes or hulls; `None` when they share no volume.
pub(super) fn solids(shape1: &Shape, X_w1: &Pose, shape2: &Shape, X_w2: &Pose) -> Option<Moments> {
    let R_w1 = Mat3::from_quat(X_w1.rotation);
    let R_12 = R_w1.transpose() * Mat3::from_quat(X_w2.rotation);
    let p_12 = R_w1.transpose() * (X_w2.position - X_w1.position);
    let m = Faces::with(shape1, |a| {
        Faces::with(shape2, |b| ROOM.with_borrow_mut(|room| measure(&a, &b, &R_12, p_12, room)))
    })?;
    Some(Moments {
        centroid: X_w1.position + R_w1 * m.centroid,
        normal: R_w1 * m.normal,
        face_normal: R_w1 * m.face_normal,
        second: R_w1 * m.second * R_w1.transpose(),
        ..m
    })
}

fn measure(a: &Faces<'_>, b: &Faces<'_>, R_12: &Mat3, p_12: Vec3, room: &mut Room) -> Option<Moments> {
    let Room { vertices, planes: [planes1, planes2], heights: [heights1, heights2], pieces, corners, polygon, scratch } =
        room;
    vertices.clear();
    vertices.extend(b.vertices.iter().map(|v| p_12 + *R_12 * *v));
    planes1.clear();
    planes1.extend(a.facets.iter().map(|f| {
        let p = a.vertices[a.outlines[f.from as usize] as usize];
        (f.normal, f.normal.dot(p))
    }));
    planes2.clear();
    planes2.extend(b.facets.iter().map(|f| {
        let normal = *R_12 * f.normal;
        (normal, normal.dot(vertices[b.outlines[f.from as usize] as usize]))
    }));
    let first1 = highest(planes1, vertices, heights2)?;
    let first2 = highest(planes2, a.vertices, heights1)?;
    let size = |vertices: &[Vec3], o: Vec3| vertices.iter().map(|v| (*v - o).length_squared()).fold(0.0, f64::max);
    let same = 1e-15 * size(a.vertices, Vec3::ZERO).min(size(vertices, p_12)).sqrt();
    pieces.clear();
    corners.clear();
    let mut vector = Vec3::ZERO;
    for side in 0..2 {
        let (mine, outlines, points, heights, normals, theirs, first) = if side == 0 {
            (a.facets, a.outlines, a.vertices, &*heights1, &*planes1, &*planes2, first2)
        } else {
            (b.facets, b.outlines, &vertices[..], &*heights2, &*planes2, &*planes1, first1)
        };
        for (facet, &(normal, _)) in mine.iter().zip(normals) {
            let outline = &outlines[facet.from as usize..facet.to as usize];
            if outline.iter().all(|&i| heights[i as usize] > same) {
                continue;
            }
            polygon.clear();
            polygon.extend(outline.iter().map(|&i| points[i as usize]));
            if !cut_by(polygon, scratch, normal, side == 0, theirs, first, same) {
                continue;
            }
            if side == 0 {
                vector += normal * area_of(normal, polygon);
            }
            corners.extend_from_slice(polygon);
            pieces.push((normal, corners.len()));
        }
    }
    let o = *corners.first()?;
    corners.iter_mut().for_each(|q| *q -= o);
    // where one solid swallows the other any direction does
    let n = vector.try_normalize().unwrap_or(Vec3::Z);
    let mut sums = Sums::along(n);
    let mut from = 0;
    for &(normal, to) in pieces.iter() {
        sums.add(normal, &corners[from..to]);
        from = to;
    }
    let (volume, centroid, second) = sums.finish(o)?;
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for q in corners.iter() {
        let h = n.dot(*q);
        (low, high) = (low.min(h), high.max(h));
    }
    let extent = high - low;
    Some(Moments { volume, centroid, normal: n, face_normal: n, area: vector.length(), extent, depth: extent, second })
}

/// The plane over which the middle of the points is highest, and their heights over it [m]; `None` if all of them are above it.
fn highest(planes: &[(Vec3, f64)], points: &[Vec3], heights: &mut Vec<f64>) -> Option<usize> {
    let middle = points.iter().sum::<Vec3>() / points.len() as f64;
    let mut best = (f64::NEG_INFINITY, 0);
    for (k, &(n, offset)) in planes.iter().enumerate() {
        let height = n.dot(middle) - offset;
        if height > best.0 {
            best = (height, k);
        }
    }
    let (n, offset) = planes[best.1];
    heights.clear();
    heights.extend(points.iter().map(|p| n.dot(*p) - offset));
    heights.iter().any(|&h| h < 0.0).then_some(best.1)
}

/// Cuts a face by all planes of the other solid, the plane `first` first; false if nothing is left. Where faces of both coincide only that of
/// the first solid counts.
fn cut_by(
    polygon: &mut Vec<Vec3>,
    scratch: &mut Vec<Vec3>,
    normal: Vec3,
    of_first: bool,
    planes: &[(Vec3, f64)],
    first: usize,
    same: f64,
) -> bool {
    let mut ball = (Vec3::ZERO, f64::INFINITY);
    let others = (0..planes.len()).filter(|&k| k != first);
    for k in std::iter::once(first).chain(others) {
        let (n, offset) = planes[k];
        if n.dot(ball.0) - offset < -ball.1 {
            continue;
        }
        let (mut above, mut below) = (false, false);
        for p in polygon.iter() {
            let h = n.dot(*p) - offset;
            above |= h > same;
            below |= h < -same;
        }
        if !above {
            if below || (of_first && normal.dot(n) > 0.0) {
                continue;
            }
            return false;
        }
        if !below {
            return false;
        }
        scratch.clear();
        let last = polygon[polygon.len() - 1];
        let (mut p, mut hp) = (last, n.dot(last) - offset);
        for &q in polygon.iter() {
            let hq = n.dot(q) - offset;
            if (hp < 0.0 && hq > 0.0) || (hp > 0.0 && hq < 0.0) {
                scratch.push(p + (q - p) * (hp / (hp - hq)));
            }
            if hq <= 0.0 {
                scratch.push(q);
            }
            (p, hp) = (q, hq);
        }
        std::mem::swap(polygon, scratch);
        if polygon.len() < 3 {
            return false;
        }
        // what is left only shrinks: planes above its bounding ball leave it alone
        if k == first {
            let middle = polygon.iter().sum::<Vec3>() / polygon.len() as f64;
            let square = polygon.iter().map(|p| (*p - middle).length_squared()).fold(0.0, f64::max);
            ball = (middle, 1.000001 * square.sqrt() + same);
        }
    }
    true
}
