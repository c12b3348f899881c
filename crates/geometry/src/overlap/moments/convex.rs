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
    cut: Cut,
    /// Pieces of the overlap's boundary: outward normal, end in the list of corners.
    pieces: Vec<(Vec3, usize)>,
    corners: Vec<Vec3>,
}

/// The faces of one solid while they are cut.
#[derive(Default)]
struct Cut {
    /// What is left of them below the first plane, as in [`Room`].
    pieces: Vec<(Vec3, usize)>,
    corners: Vec<Vec3>,
    /// Planes that may cut it further.
    planes: Vec<(Vec3, f64)>,
    /// The piece at hand, and the heights of its corners over a plane [m].
    polygon: Vec<Vec3>,
    heights: Vec<f64>,
    scratch: Vec<Vec3>,
}

/// Outlines of the faces +x, -x, +y, -y, +z, -z of a box whose corner k has the signs of the bits of k, anticlockwise from outside.
const BOX_OUTLINES: [u32; 24] = [1, 3, 7, 5, 0, 4, 6, 2, 2, 6, 7, 3, 0, 1, 5, 4, 4, 5, 7, 6, 0, 2, 3, 1];

/// A solid by its flat faces, in its own frame.
struct Faces<'a> {
    vertices: &'a [Vec3],
    facets: &'a [Facet],
    outlines: &'a [u32],
    /// Largest distance of a corner from the origin [m].
    radius: f64,
}

impl Faces<'_> {
    /// Hands the faces of a box or hull to `then`.
    fn with<R>(shape: &Shape, then: impl FnOnce(Faces<'_>) -> Option<R>) -> Option<R> {
        match shape {
            Shape::Hull(hull) => {
                let (vertices, facets, outlines) = (hull.vertices(), hull.facets(), hull.outlines());
                then(Faces { vertices, facets, outlines, radius: hull.radius() })
            }
            Shape::Box { half_extents: h, .. } => {
                let sign = |k: usize, bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
                let vertices: [Vec3; 8] =
                    std::array::from_fn(|k| Vec3::new(sign(k, 0) * h.x, sign(k, 1) * h.y, sign(k, 2) * h.z));
                let facets: [Facet; 6] = std::array::from_fn(|f| {
                    let normal = Vec3::AXES[f / 2] * if f % 2 == 0 { 1.0 } else { -1.0 };
                    Facet { normal, offset: h[f / 2], from: 4 * f as u32, to: 4 * f as u32 + 4 }
                });
                then(Faces { vertices: &vertices, facets: &facets, outlines: &BOX_OUTLINES, radius: h.length() })
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
    let Room { vertices, planes: [planes1, planes2], heights: [heights1, heights2], cut, pieces, corners } = room;
    vertices.clear();
    vertices.extend(b.vertices.iter().map(|v| p_12 + *R_12 * *v));
    planes1.clear();
    planes1.extend(a.facets.iter().map(|f| (f.normal, f.offset)));
    planes2.clear();
    planes2.extend(b.facets.iter().map(|f| {
        let normal = *R_12 * f.normal;
        (normal, f.offset + normal.dot(p_12))
    }));
    let first1 = highest(planes1, vertices, heights2)?;
    let first2 = highest(planes2, a.vertices, heights1)?;
    let same = 1e-15 * a.radius.min(b.radius);
    pieces.clear();
    corners.clear();
    let mut vector = Vec3::ZERO;
    for side in 0..2 {
        let (mine, outlines, points, heights, normals, theirs, first) = if side == 0 {
            (a.facets, a.outlines, a.vertices, &*heights1, &*planes1, &*planes2, first2)
        } else {
            (b.facets, b.outlines, &vertices[..], &*heights2, &*planes2, &*planes1, first1)
        };
        // all faces below the first plane, and the box around what is left of them
        cut.pieces.clear();
        cut.corners.clear();
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for (facet, &(normal, _)) in mine.iter().zip(normals) {
            let outline = &outlines[facet.from as usize..facet.to as usize];
            if outline.iter().all(|&i| heights[i as usize] > same) {
                continue;
            }
            cut.polygon.clear();
            cut.polygon.extend(outline.iter().map(|&i| points[i as usize]));
            if cut.below(normal, side == 0, theirs[first], same) {
                for p in &cut.polygon {
                    (low, high) = (low.min(*p), high.max(*p));
                }
                cut.corners.extend_from_slice(&cut.polygon);
                cut.pieces.push((normal, cut.corners.len()));
            }
        }
        // planes above that box leave all of them alone
        let middle = 0.5 * (low + high);
        let half = 0.500001 * (high - low) + Vec3::splat(same);
        cut.planes.clear();
        for (k, &(n, offset)) in theirs.iter().enumerate() {
            if k != first && !(n.dot(middle) + n.abs().dot(half) < offset) {
                cut.planes.push((n, offset));
            }
        }
        let mut from = 0;
        'pieces: for piece in 0..cut.pieces.len() {
            let (normal, to) = cut.pieces[piece];
            cut.polygon.clear();
            cut.polygon.extend_from_slice(&cut.corners[from..to]);
            from = to;
            for k in 0..cut.planes.len() {
                if !cut.below(normal, side == 0, cut.planes[k], same) {
                    continue 'pieces;
                }
            }
            if side == 0 {
                vector += normal * area_of(normal, &cut.polygon);
            }
            corners.extend_from_slice(&cut.polygon);
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

impl Cut {
    /// Leaves what is below a plane of a piece with this normal; false if that is nothing. Where faces of both solids coincide only that
    /// of the first solid counts.
    fn below(&mut self, normal: Vec3, of_first: bool, (n, offset): (Vec3, f64), same: f64) -> bool {
        let Cut { polygon, heights, scratch, .. } = self;
        let (mut above, mut below) = (false, false);
        heights.clear();
        heights.extend(polygon.iter().map(|p| {
            let h = n.dot(*p) - offset;
            above |= h > same;
            below |= h < -same;
            h
        }));
        if !above {
            return below || (of_first && normal.dot(n) > 0.0);
        }
        if !below {
            return false;
        }
        scratch.clear();
        let last = polygon.len() - 1;
        let (mut p, mut hp) = (polygon[last], heights[last]);
        for (&q, &hq) in polygon.iter().zip(heights.iter()) {
            if (hp < 0.0 && hq > 0.0) || (hp > 0.0 && hq < 0.0) {
                scratch.push(p + (q - p) * (hp / (hp - hq)));
            }
            if hq <= 0.0 {
                scratch.push(q);
            }
            (p, hp) = (q, hq);
        }
        std::mem::swap(polygon, scratch);
        polygon.len() >= 3
    }
}
