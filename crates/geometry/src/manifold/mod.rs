//! Contact points of two convex shapes that stay the same from step to step.
//!
//! The normal n comes from [`separation`], or from a face that is all but at right angles to it. Seen along n, the flat parts of
//! the two shapes that face each other share a polygon, a line or nothing: its corners are the points. A corner of the polygon
//! is a corner of 1, a corner of 2 or a crossing of two edges, whichever face is looked at first, and that is its id.

mod clip;
mod facet;
mod reduce;

use crate::narrow::{Separation, separation};
use crate::shape::core_of;
use crate::{Pose, Shape, Vec3};
use clip::Flat;
use facet::Facet;
use reduce::Candidates;

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

    fn single(&mut self, s: &Separation, id: u32) {
        self.normal = s.normal;
        self.points[0] = ManifoldPoint { point: 0.5 * (s.point1 + s.point2), gap: s.gap, id, area: 0.0 };
        self.count = 1;
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

fn id(kind: Kind, feature1: u32, feature2: u32) -> u32 {
    (kind as u32) << 30 | (feature1 & 0x7fff) << 15 | (feature2 & 0x7fff)
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
    if let (Compound(parts), _) | (_, Compound(parts)) = (shape1, shape2) {
        let first = matches!(shape1, Compound(_));
        let mut best: Option<(f64, &Pose, &Shape)> = None;
        for (X_sp, part) in parts {
            let gap = if first {
                separation(part, &X_w1.then(X_sp), shape2, X_w2).gap
            } else {
                separation(shape1, X_w1, part, &X_w2.then(X_sp)).gap
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
    let s = separation(shape1, X_w1, shape2, X_w2);
    out.normal = s.normal;
    if !(s.gap < margin && s.gap > f64::NEG_INFINITY) {
        return false;
    }
    match (shape1, shape2) {
        _ if limit <= 1 => out.single(&s, id(Kind::Witness, 0, 0)),
        (Sphere { .. } | Ellipsoid { .. }, _) | (_, Sphere { .. } | Ellipsoid { .. }) => {
            out.single(&s, id(Kind::Witness, 0, 0));
        }
        (HeightGrid(_), _) | (_, HeightGrid(_)) | (HalfSpace, HalfSpace) => out.single(&s, id(Kind::Witness, 0, 0)),
        _ => convex(shape1, X_w1, shape2, X_w2, &s, margin, limit.min(MAX_POINTS), out),
    }
    true
}

/// Two shapes with flat parts or straight lines, or one and a half-space.
fn convex(
    shape1: &Shape,
    X_w1: &Pose,
    shape2: &Shape,
    X_w2: &Pose,
    s: &Separation,
    margin: f64,
    limit: usize,
    out: &mut Manifold,
) {
    let (plane1, plane2) = (matches!(shape1, Shape::HalfSpace), matches!(shape2, Shape::HalfSpace));
    // Coordinates along the world's axes from between the shapes: no digits lost far from the origin.
    let o_w = match (plane1, plane2) {
        (true, _) => X_w2.position,
        (_, true) => X_w1.position,
        _ => 0.5 * (X_w1.position + X_w2.position),
    };
    let ((core1, radius1), (core2, radius2)) = (core_of(shape1), core_of(shape2));
    let (mut face1, mut face2) = (Facet::default(), Facet::default());
    if plane1 {
        face1.endless(X_w1, s.normal, o_w);
    } else {
        face1.set(&core1, X_w1, o_w, s.normal);
    }
    if plane2 {
        face2.endless(X_w2, -s.normal, o_w);
    } else {
        face2.set(&core2, X_w2, o_w, -s.normal);
    }
    let size = match (plane1, plane2) {
        (true, _) => core2.size() + radius2,
        (_, true) => core1.size() + radius1,
        _ => (core1.size() + radius1).min(core2.size() + radius2),
    };
    let flat = (FLAT + margin.max(0.0) / size).min(FLAT_LIMIT);
    // The nearer of the two faces' normals, if any is near.
    let off = |face: &Facet, n: Vec3| if face.is_face() { face.normal.cross(n).length() } else { f64::INFINITY };
    let (off1, off2) = (off(&face1, s.normal), off(&face2, -s.normal));
    let on_face = off1.min(off2) <= flat;
    let n = match on_face {
        false => s.normal,
        true if off1 <= off2 => face1.normal,
        true => -face2.normal,
    };
    let pair = clip::Pair { n, margin, radius1, radius2, slip: clip::SLIP * size, flat };
    let mut found = Candidates::default();
    if on_face {
        clip::faces(&pair, &Flat::new(&face1, n, false), &Flat::new(&face2, n, true), limit, &mut found);
    } else {
        face1.keep_edge(n);
        face2.keep_edge(-n);
        clip::lines(&pair, &face1, &face2, &mut found);
    }
    if found.count == 0 {
        let straight = !core1.is_curved() && !core2.is_curved();
        let who = if straight && !on_face {
            id(Kind::Crossing, face1.corners[0].tag, face2.corners[0].tag)
        } else {
            id(Kind::Witness, 0, 0)
        };
        out.single(s, who);
        return;
    }
    let missed = if face1.disc.is_some() || face2.disc.is_some() { MISSED_BY_RIM } else { MISSED };
    let witness =
        ManifoldPoint { point: 0.5 * (s.point1 + s.point2) - o_w, gap: s.gap, id: id(Kind::Witness, 0, 0), area: 0.0 };
    reduce::into(&mut found, n, limit, &witness, missed * size, out);
    out.normal = n;
    for p in &mut out.points[..out.count] {
        p.point += o_w;
    }
    out.points[..out.count].sort_unstable_by_key(|p| p.id);
}
