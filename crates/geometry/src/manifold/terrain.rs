//! Height grid against a convex shape: the triangles under the shape, one by one, seen along one normal.

use super::clip::{self, Flat};
use super::facet::{Corner, Facet};
use super::reduce::{self, CANDIDATES, Candidate, Candidates};
use super::{FLAT_LIMIT, Kind, MISSED, MISSED_BY_RIM, Manifold, id};
use crate::narrow::Separation;
use crate::shape::{HeightGrid, core_of};
use crate::space::any_orthogonal;
use crate::{Pose, Shape};

/// Triangles steeper than this against the normal carry no points (cosine) [-].
const STEEP: f64 = 0.5;

/// Grid 1 against the convex shape 2 with their nearest points `s`; false if no flat or straight parts meet.
pub(super) fn grid_convex(
    grid: &HeightGrid,
    X_w1: &Pose,
    shape2: &Shape,
    X_w2: &Pose,
    s: &Separation,
    margin: f64,
    limit: usize,
    out: &mut Manifold,
) -> bool {
    let (n, o_w) = (s.normal, X_w2.position);
    let (core2, radius2) = core_of(shape2);
    let size = core2.size() + radius2;
    let mut face2: Facet = Facet::default();
    face2.set(&core2, X_w2, o_w, -n);
    let tangent = any_orthogonal(n);
    let basis = [tangent, n.cross(tangent), n];
    let flat2 = Flat::new(&face2, basis, true);
    let same = clip::SLIP * size;
    let pair = clip::Pair { n, margin, radius1: 0.0, radius2, slip: same, flat: FLAT_LIMIT };

    // Cells under the face, as far as the shape can be shifted along n to reach them.
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    let (mut lowest, slant) = (f64::INFINITY, margin.max(0.0) + s.gap.abs() + radius2);
    for corner in &face2.corners[..face2.count] {
        let q = X_w1.point_into(corner.p + o_w);
        lowest = lowest.min(n.dot(corner.p));
        for (k, x) in [q.x, q.y].into_iter().enumerate() {
            (low[k], high[k]) = (low[k].min(x - slant), high[k].max(x + slant));
        }
    }
    let [columns, rows] = grid.cells_under(low, high);
    let mut found: Candidates = Candidates::new(same);
    let mut deepest: Option<Candidate> = None;
    let mut face1: Facet = Facet { count: 3, ..Facet::default() };
    for row in rows {
        for column in columns.clone() {
            for (half, corners) in grid.cell(column, row).into_iter().enumerate() {
                let normal = X_w1.vector((corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero());
                let points = corners.map(|p| X_w1.point(p) - o_w);
                let top = points.iter().map(|p| n.dot(*p)).fold(f64::NEG_INFINITY, f64::max);
                if normal.dot(n) < STEEP || lowest - top - radius2 >= margin {
                    continue;
                }
                face1.normal = normal;
                face1.id = 2 * (row * (grid.columns() - 1) + column) + half;
                let at = |c: usize, r: usize| r * grid.columns() + c;
                let third = if half == 0 { at(column + 1, row) } else { at(column, row + 1) };
                let (a, c) = (at(column, row), at(column + 1, row + 1));
                let tags = if half == 0 { [a, third, c] } else { [a, c, third] };
                for k in 0..3 {
                    face1.corners[k] = Corner { p: points[k], tag: tags[k] };
                }
                let mut part: Candidates = Candidates::new(same);
                clip::faces(&pair, &Flat::new(&face1, basis, false), &flat2, limit, &mut part);
                if found.count + part.count > CANDIDATES {
                    found.keep_outline(basis[0], basis[1]);
                    found.thin(n, CANDIDATES / 2, None);
                }
                found.area += part.area;
                for p in part.points() {
                    found.push(*p);
                    if deepest.is_none_or(|d| p.gap < d.gap) {
                        deepest = Some(*p);
                    }
                }
            }
        }
    }
    let Some(mut deepest) = deepest else { return false };
    found.keep_outline(basis[0], basis[1]);
    let missed = if face2.disc.is_some() { MISSED_BY_RIM } else { MISSED } * size;
    if deepest.gap > s.gap + missed {
        let point = 0.5 * (s.point1 + s.point2) - o_w;
        deepest = Candidate::new(point, s.gap, id(Kind::Witness, 0, 0));
    }
    let extra = (found.least() > deepest.gap + missed).then_some(deepest);
    reduce::into(&mut found, n, limit, extra, missed, out);
    out.place(n, o_w);
    true
}
