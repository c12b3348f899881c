//! Height grid against a convex shape: the triangles under the shape and the walls beside it, one by one, seen along one normal.

use super::clip::{self, Flat};
use super::facet::{Corner, Facet};
use super::reduce::{self, CANDIDATES, Candidate, Candidates};
use super::{FLAT_LIMIT, Kind, MISSED, MISSED_BY_RIM, Manifold, id};
use crate::narrow::Separation;
use crate::shape::{HeightGrid, core_of};
use crate::space::any_orthogonal;
use crate::{Pose, Shape, Vec3};

/// Triangles steeper than this against the normal carry no points (cosine) [-].
const STEEP: f64 = 0.5;

/// A convex shape over a grid.
pub(super) struct Over<'a> {
    pub shape: &'a Shape,
    pub X_ws: &'a Pose,
    /// Nearest points, the grid being 1.
    pub nearest: &'a Separation,
}

/// Grid 1 against the convex shape 2; false if no flat or straight parts meet.
pub(super) fn grid_convex(
    grid: &HeightGrid,
    X_w1: &Pose,
    over: &Over<'_>,
    margin: f64,
    limit: usize,
    out: &mut Manifold,
) -> bool {
    let Over { shape: shape2, X_ws: X_w2, nearest: s } = *over;
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
    let (mut lowest, mut foot) = (f64::INFINITY, f64::INFINITY);
    let slant = margin.max(0.0) + s.gap.abs() + radius2;
    for corner in &face2.corners[..face2.count] {
        let q = X_w1.point_into(corner.p + o_w);
        lowest = lowest.min(n.dot(corner.p));
        foot = foot.min(q.z - slant - same);
        for (k, x) in [q.x, q.y].into_iter().enumerate() {
            (low[k], high[k]) = (low[k].min(x - slant), high[k].max(x + slant));
        }
    }
    let [columns, rows] = grid.cells_under(low, high);
    let mut found: Candidates = Candidates::new(same);
    let mut deepest: Option<Candidate> = None;
    let mut meet = |face1: &Facet| {
        let top = face1.corners[..face1.count].iter().map(|c| n.dot(c.p)).fold(f64::NEG_INFINITY, f64::max);
        if face1.normal.dot(n) < STEEP || lowest - top - radius2 >= margin {
            return;
        }
        let mut part: Candidates = Candidates::new(same);
        clip::faces(&pair, &Flat::new(face1, basis, false), &flat2, limit, &mut part);
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
    };
    let at = |c: usize, r: usize| r * grid.columns() + c;
    let mut face1: Facet = Facet { count: 3, ..Facet::default() };
    for row in rows.clone() {
        for column in columns.clone() {
            for (half, corners) in grid.cell(column, row).into_iter().enumerate() {
                face1.normal =
                    X_w1.vector((corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero());
                face1.id = 2 * (row * (grid.columns() - 1) + column) + half;
                let third = if half == 0 { at(column + 1, row) } else { at(column, row + 1) };
                let (a, c) = (at(column, row), at(column + 1, row + 1));
                let tags = if half == 0 { [a, third, c] } else { [a, c, third] };
                for k in 0..3 {
                    face1.corners[k] = Corner { p: X_w1.point(corners[k]) - o_w, tag: tags[k] };
                }
                meet(&face1);
            }
        }
    }
    // upright walls around the rim, cell by cell, down to below the face; anticlockwise seen from outside
    let (last_column, last_row) = (grid.columns() - 1, grid.rows() - 1);
    let sides = [
        (Vec3::X, columns.end == last_column, &rows, [(last_column, 0), (last_column, 1)]),
        (-Vec3::X, columns.start == 0, &rows, [(0, 1), (0, 0)]),
        (Vec3::Y, rows.end == last_row, &columns, [(1, last_row), (0, last_row)]),
        (-Vec3::Y, rows.start == 0, &columns, [(0, 0), (1, 0)]),
    ];
    let all = grid.columns() * grid.rows();
    face1.count = 4;
    for (side, (out, near, cells, ends)) in sides.into_iter().enumerate() {
        face1.normal = X_w1.vector(out);
        if !near || face1.normal.dot(n) < STEEP {
            continue;
        }
        for cell in cells.clone() {
            let along = |(c, r): (usize, usize)| if side < 2 { (c, r + cell) } else { (c + cell, r) };
            let tops = ends.map(along);
            let [first, second] = tops.map(|(c, r)| grid.point(c, r));
            let down = |p: Vec3| Vec3::new(p.x, p.y, foot.min(p.z));
            let tags = tops.map(|(c, r)| at(c, r));
            face1.id = 2 * all + 4 * cell + side;
            let corners = [down(first), down(second), second, first];
            let tags = [all + tags[0], all + tags[1], tags[1], tags[0]];
            for k in 0..4 {
                face1.corners[k] = Corner { p: X_w1.point(corners[k]) - o_w, tag: tags[k] };
            }
            meet(&face1);
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
