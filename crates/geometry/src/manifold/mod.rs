//! Contact points of two convex shapes that stay the same from step to step.
//!
//! The normal n comes from [`separation`], or from a face that is all but at right angles to it. Seen along n, the flat parts of
//! the two shapes that face each other share a polygon, a line or nothing: its corners are the points. A corner of the polygon
//! is a corner of 1, a corner of 2 or a crossing of two edges, whichever face is looked at first, and that is its id.

mod clip;
mod facet;
mod profile;
mod reduce;
mod terrain;

use crate::narrow::{Separation, sat, separation};
use crate::shape::{Core, Hull, core_of};
use crate::space::any_orthogonal;
use crate::{Mat3, Pose, Shape, Vec3};
use clip::Flat;
use facet::{Facet, QUAD, ROOM};
use reduce::{CANDIDATES, Candidate, Candidates, FEW};

/// Most points of a manifold.
pub const MAX_POINTS: usize = 8;

/// One point of a manifold.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct ManifoldPoint {
    /// Midpoint between the two surfaces, in the world [m].
    pub point: Vec3,
    /// Distance of the surfaces along the manifold's normal there, negative when they overlap [m].
    pub gap: f64,
    /// Which features made it: the same number in the next step for the same pair of features.
    pub id: u32,
    /// Area of the patch this point stands for [m^2]; zero when unknown (curved or edge contact).
    pub area: f64,
}

/// Contact points of two convex shapes.
#[derive(Clone, Debug, Default)]
pub struct Manifold {
    /// Unit normal from shape 1 to shape 2, in the world [-].
    pub normal: Vec3,
    /// The points, the first `count` of which count, by rising id.
    pub points: [ManifoldPoint; MAX_POINTS],
    /// Number of points [-].
    pub count: usize,
}

impl Manifold {
    /// The points that count.
    pub fn points(&self) -> &[ManifoldPoint] {
        &self.points[..self.count.min(MAX_POINTS)]
    }

    /// Puts points relative to `o_w` [m] in their final place and order.
    fn place(&mut self, normal: Vec3, o_w: Vec3) {
        self.normal = normal;
        for p in &mut self.points[..self.count] {
            p.point += o_w;
        }
        self.points[..self.count].sort_unstable_by_key(|p| p.id);
    }

    fn single(&mut self, s: &Separation, id: u32) {
        self.normal = s.normal;
        self.points[0] = ManifoldPoint { point: 0.5 * (s.point1 + s.point2), gap: s.gap, id, area: 0.0 };
        self.count = 1;
    }

    /// The nearest points where they are near enough.
    fn single_within(&mut self, s: &Separation, margin: f64) -> bool {
        self.normal = s.normal;
        if s.gap < margin {
            self.single(s, id(Kind::Witness, 0, 0));
        }
        self.count > 0
    }
}

/// What makes a point, the two highest bits of an id.
#[derive(Clone, Copy)]
#[repr(u32)]
enum Kind {
    /// The nearest points themselves, wherever they are.
    Witness = 0,
    /// A corner of 1 over a face of 2.
    Corner1 = 1,
    /// A corner of 2 over a face of 1.
    Corner2 = 2,
    /// An edge of 1 and an edge of 2.
    Crossing = 3,
}

/// Features beyond the 32768th share numbers.
fn id(kind: Kind, feature1: usize, feature2: usize) -> u32 {
    (kind as u32) << 30 | ((feature1 & 0x7fff) as u32) << 15 | (feature2 & 0x7fff) as u32
}

/// Angle within which a normal counts as a face's own [rad].
const FLAT: f64 = 1e-3;
/// The same at most, however large the margin [rad].
const FLAT_LIMIT: f64 = 0.1;
/// A point this much nearer than all others is a point of its own, as a share of the size [-].
const MISSED: f64 = 1e-10;
/// The same beside the rim of a disc: a disc that lies flat keeps its points although it trembles [-].
const MISSED_BY_RIM: f64 = 1e-6;

/// Fills `out` with up to `limit` (1 to 8) points whose gap is below `margin` [m]; false if the shapes are farther apart.
///
/// Valid shapes only (see [`Shape::validate`]). Never panics, never NaN, does not allocate. Flat contact gives the corners of the
/// polygon both faces share, reduced to the deepest and to those that enclose the largest area; lines give their two ends; all
/// other contact one point. A compound answers with its deepest part: pass its parts one by one for more.
/// Shapes that overlap without end (half-spaces, height grids among each other) have no manifold.
pub fn manifold(
    shape1: &Shape,
    X_w1: &Pose,
    shape2: &Shape,
    X_w2: &Pose,
    margin: f64,
    limit: usize,
    out: &mut Manifold,
) -> bool {
    use Shape::*;
    out.count = 0;
    match (shape1, shape2) {
        (Compound(_), _) | (_, Compound(_)) => {}
        (Sphere { .. }, _) | (_, Sphere { .. }) => {
            return out.single_within(&separation(shape1, X_w1, shape2, X_w2), margin);
        }
        (Profile(own), _) => return profile::points(own, [shape1, shape2], [X_w1, X_w2], margin, limit, out),
        (_, Profile(_)) => {
            let found = manifold(shape2, X_w2, shape1, X_w1, margin, limit, out);
            out.normal = -out.normal;
            return found;
        }
        _ => {}
    }
    if let (Compound(parts), _) | (_, Compound(parts)) = (shape1, shape2) {
        let first = matches!(shape1, Compound(_));
        let mut best: Option<(f64, &Pose, &Shape)> = None;
        for (X_sp, part) in parts {
            let gap = match first {
                true => separation(part, &X_w1.then(X_sp), shape2, X_w2).gap,
                false => separation(shape1, X_w1, part, &X_w2.then(X_sp)).gap,
            };
            if best.is_none_or(|b| gap < b.0) {
                best = Some((gap, X_sp, part));
            }
        }
        return match best {
            Some((_, X_sp, part)) if first => manifold(part, &X_w1.then(X_sp), shape2, X_w2, margin, limit, out),
            Some((_, X_sp, part)) => manifold(shape1, X_w1, part, &X_w2.then(X_sp), margin, limit, out),
            None => false,
        };
    }
    if let (Box { .. }, Box { .. }) = (shape1, shape2)
        && limit > 1
        && let Some(found) = boxes(shape1, X_w1, shape2, X_w2, margin, limit.min(MAX_POINTS), out)
    {
        return found;
    }
    if let (Hull(hull1), Hull(hull2)) = (shape1, shape2)
        && limit > 1
        && let Some(found) = hulls([hull1, hull2], [shape1, shape2], [X_w1, X_w2], margin, limit.min(MAX_POINTS), out)
    {
        return found;
    }
    let s = separation(shape1, X_w1, shape2, X_w2);
    out.normal = s.normal;
    if !(s.gap < margin && s.gap > f64::NEG_INFINITY) {
        return false;
    }
    match (shape1, shape2) {
        _ if limit <= 1 => out.single(&s, id(Kind::Witness, 0, 0)),
        (Ellipsoid { .. }, _) | (_, Ellipsoid { .. }) => out.single(&s, id(Kind::Witness, 0, 0)),
        (HalfSpace, HalfSpace) => out.single(&s, id(Kind::Witness, 0, 0)),
        (HeightGrid(grid), _) => {
            let over = terrain::Over { shape: shape2, X_ws: X_w2, nearest: &s };
            if !terrain::grid_convex(grid, X_w1, &over, margin, limit.min(MAX_POINTS), out) {
                out.single(&s, id(Kind::Witness, 0, 0));
            }
        }
        (_, HeightGrid(grid)) => {
            let over = terrain::Over { shape: shape1, X_ws: X_w1, nearest: &s.flipped() };
            if terrain::grid_convex(grid, X_w2, &over, margin, limit.min(MAX_POINTS), out) {
                out.normal = -out.normal;
            } else {
                out.single(&s, id(Kind::Witness, 0, 0));
            }
        }
        _ => {
            let mut pair = Placed::new(shape1, X_w1, shape2, X_w2, s.normal);
            let limit = limit.min(MAX_POINTS);
            if !pair.points::<CANDIDATES>(s.normal, s.gap, Some(&s), margin, limit, out) {
                out.single(&s, pair.lone_id());
            }
        }
    }
    true
}

/// Boxes whose faces part them best need no nearest points: a column between the faces that is as short as the lower bound of
/// the distance proves it. `None` where that is not so.
fn boxes(
    shape1: &Shape,
    X_w1: &Pose,
    shape2: &Shape,
    X_w2: &Pose,
    margin: f64,
    limit: usize,
    out: &mut Manifold,
) -> Option<bool> {
    let ((core1, radius1), (core2, radius2)) = (core_of(shape1), core_of(shape2));
    let (Core::Box { half: h1 }, Core::Box { half: h2 }) = (&core1, &core2) else { return None };
    let (h1, h2) = (*h1, *h2);
    let (R_w1, R_w2) = (Mat3::from_quat(X_w1.rotation), Mat3::from_quat(X_w2.rotation));
    let p_12 = R_w1.mul_transpose_vec3(X_w2.position - X_w1.position);
    let axes = sat::axes(h1, h2, &(R_w1.transpose() * R_w2), p_12);
    let bound = axes.face.0.max(axes.edge.0) - (radius1 + radius2);
    if !(bound < margin) {
        out.normal = R_w1 * if axes.face.0 >= axes.edge.0 { axes.face.1 } else { axes.edge.1 };
        return Some(false);
    }
    // An edge may win by rounding or by a small tilt.
    let flat = flat_angle(margin, h1.element_sum().min(h2.element_sum()));
    if axes.edge.0 > axes.face.0 && axes.edge.1.cross(axes.face.1).length() > flat {
        return None;
    }
    let n = R_w1 * axes.face.1;
    let o_w = 0.5 * (X_w1.position + X_w2.position);
    let (mut face1, mut face2) = (Facet::<QUAD>::default(), Facet::<QUAD>::default());
    face1.side_of_box(h1, &R_w1, X_w1.position - o_w, R_w1.mul_transpose_vec3(n));
    face2.side_of_box(h2, &R_w2, X_w2.position - o_w, R_w2.mul_transpose_vec3(-n));
    let size = (core1.size() + radius1).min(core2.size() + radius2);
    let mut pair = Placed { o_w, face1, face2, radius1, radius2, size, curved: false };
    pair.points::<FEW>(n, bound, None, margin, limit, out).then_some(true)
}

/// Hulls of which a face proves itself need no nearest points either. `None` where none does.
fn hulls(
    hulls: [&Hull; 2],
    [shape1, shape2]: [&Shape; 2],
    [X_w1, X_w2]: [&Pose; 2],
    margin: f64,
    limit: usize,
    out: &mut Manifold,
) -> Option<bool> {
    let (R_w1, R_w2) = (Mat3::from_quat(X_w1.rotation), Mat3::from_quat(X_w2.rotation));
    let p_12 = R_w1.mul_transpose_vec3(X_w2.position - X_w1.position);
    let (gap, n) = sat::face_of_hulls(hulls[0], hulls[1], &(R_w1.transpose() * R_w2), p_12, margin)?;
    let n = R_w1 * n;
    if gap >= margin {
        out.normal = n;
        return Some(false);
    }
    let mut pair = Placed::new(shape1, X_w1, shape2, X_w2, n);
    pair.points::<CANDIDATES>(n, gap, None, margin, limit, out).then_some(true)
}

/// Angle within which a normal counts as a face's own, among shapes of a size [m] and with a margin [m].
fn flat_angle(margin: f64, size: f64) -> f64 {
    (FLAT + margin.max(0.0) / size).min(FLAT_LIMIT)
}

/// Two shapes with flat parts or straight lines, or one and a half-space, with the parts that face each other.
struct Placed<const N: usize = ROOM> {
    /// Origin of all coordinates: no digits are lost far from the world's [m].
    o_w: Vec3,
    face1: Facet<N>,
    face2: Facet<N>,
    radius1: f64,
    radius2: f64,
    size: f64,
    curved: bool,
}

impl Placed {
    fn new(shape1: &Shape, X_w1: &Pose, shape2: &Shape, X_w2: &Pose, n: Vec3) -> Placed {
        let (plane1, plane2) = (matches!(shape1, Shape::HalfSpace), matches!(shape2, Shape::HalfSpace));
        let ((core1, radius1), (core2, radius2)) = (core_of(shape1), core_of(shape2));
        let (size1, size2) = (core1.size() + radius1, core2.size() + radius2);
        let (o_w, size) = match (plane1, plane2) {
            (true, _) => (X_w2.position, size2),
            (_, true) => (X_w1.position, size1),
            _ => (0.5 * (X_w1.position + X_w2.position), size1.min(size2)),
        };
        let (mut face1, mut face2) = (Facet::default(), Facet::default());
        if plane1 {
            face1.endless(X_w1, n, o_w);
        } else {
            face1.set(&core1, X_w1, o_w, n);
        }
        if plane2 {
            face2.endless(X_w2, -n, o_w);
        } else {
            face2.set(&core2, X_w2, o_w, -n);
        }
        Placed { o_w, face1, face2, radius1, radius2, size, curved: core1.is_curved() || core2.is_curved() }
    }
}

impl<const N: usize> Placed<N> {
    /// Id of the nearest points when nothing else is there.
    fn lone_id(&self) -> u32 {
        if self.curved || self.face1.count != 2 || self.face2.count != 2 {
            return id(Kind::Witness, 0, 0);
        }
        id(Kind::Crossing, self.face1.corners[0].tag, self.face2.corners[0].tag)
    }

    /// The points at the normal n or at that of a face near it; false if there are none. The nearest points take part where
    /// all others are farther apart than `gap`; where they are not known there is then no answer.
    fn points<const C: usize>(
        &mut self,
        n: Vec3,
        gap: f64,
        nearest: Option<&Separation>,
        margin: f64,
        limit: usize,
        out: &mut Manifold,
    ) -> bool {
        let flat = flat_angle(margin, self.size);
        // The nearer of the two faces' normals, if any is near.
        let off = |face: &Facet<N>, n: Vec3| if face.is_face() { face.normal.cross(n).length() } else { f64::INFINITY };
        let (off1, off2) = (off(&self.face1, n), off(&self.face2, -n));
        let on_face = off1.min(off2) <= flat;
        let n = match on_face {
            false => n,
            true if off1 <= off2 => self.face1.normal,
            true => -self.face2.normal,
        };
        let slip = if off1.max(off2) <= FLAT_LIMIT { clip::SLIP * self.size } else { 0.0 };
        let pair = clip::Pair { n, margin, radius1: self.radius1, radius2: self.radius2, slip, flat };
        let mut found = Candidates::<C>::new(clip::SLIP * self.size);
        if on_face {
            let s = any_orthogonal(n);
            let basis = [s, n.cross(s), n];
            let (f1, f2) = (Flat::new(&self.face1, basis, false), Flat::new(&self.face2, basis, true));
            clip::faces(&pair, &f1, &f2, limit, &mut found);
        } else {
            self.face1.keep_edge(n);
            self.face2.keep_edge(-n);
            clip::lines(&pair, &self.face1, &self.face2, &mut found);
        }
        let rim = self.face1.disc.is_some() || self.face2.disc.is_some();
        let missed = if rim { MISSED_BY_RIM } else { MISSED } * self.size;
        let is_missed = found.count > 0 && found.least() > gap + missed;
        let witness = match nearest {
            _ if found.count == 0 => return false,
            None if is_missed => return false,
            Some(s) if is_missed => {
                let point = 0.5 * (s.point1 + s.point2) - self.o_w;
                Some(Candidate::new(point, s.gap, id(Kind::Witness, 0, 0)))
            }
            _ => None,
        };
        reduce::into(&mut found, n, limit, witness, missed, out);
        out.place(n, self.o_w);
        true
    }
}
