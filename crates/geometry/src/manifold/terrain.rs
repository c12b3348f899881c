//! Height grid against a convex shape: the triangles under the shape and the walls beside it, one by one, seen along one normal.

use super::clip::{self, Flat};
use super::facet::{Corner, Facet};
use super::reduce::{self, CANDIDATES, Candidate, Candidates};
use super::{FLAT_LIMIT, Kind, MISSED, MISSED_BY_RIM, Manifold, id};
use crate::narrow::Separation;
use crate::shape::{HeightGrid, core_of};
use crate::space::any_orthogonal;
use crate::{Pose, Shape, Vec3};
use std::ops::Range;

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
    let same = clip::SLIP * size;
    let ground = Ground::under(grid, X_w1, (&face2, o_w), margin.max(0.0) + s.gap.abs() + radius2, same);
    let mut meeting = Meeting {
        pair: clip::Pair { n, margin, radius1: 0.0, radius2, slip: same, flat: FLAT_LIMIT },
        basis,
        flat2: Flat::new(&face2, basis, true),
        lowest: face2.corners[..face2.count].iter().map(|corner| n.dot(corner.p)).fold(f64::INFINITY, f64::min),
        limit,
        found: Candidates::new(same),
        deepest: None,
    };
    ground.visit_cells(|face1| meeting.add(face1));
    ground.visit_walls(n, |face1| meeting.add(face1));
    let Meeting { mut found, deepest, .. } = meeting;
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

/// The face of a convex shape on its way over facets of the ground.
struct Meeting<'a> {
    pair: clip::Pair,
    /// Two directions along the ground, then the normal.
    basis: [Vec3; 3],
    flat2: Flat<'a>,
    /// How far along the normal the face begins [m].
    lowest: f64,
    /// Points at most.
    limit: usize,
    found: Candidates,
    deepest: Option<Candidate>,
}

impl Meeting<'_> {
    /// The points of one more facet.
    #[inline]
    fn add(&mut self, face1: &Facet) {
        let n = self.pair.n;
        let top = face1.corners[..face1.count].iter().map(|c| n.dot(c.p)).fold(f64::NEG_INFINITY, f64::max);
        if face1.normal.dot(n) < STEEP || self.lowest - top - self.pair.radius2 >= self.pair.margin {
            return;
        }
        let mut part: Candidates = Candidates::new(self.pair.slip);
        clip::faces(&self.pair, &Flat::new(face1, self.basis, false), &self.flat2, self.limit, &mut part);
        if self.found.count + part.count > CANDIDATES {
            self.found.keep_outline(self.basis[0], self.basis[1]);
            self.found.thin(n, CANDIDATES / 2, None);
        }
        self.found.area += part.area;
        for p in part.points() {
            self.found.push(*p);
            if self.deepest.is_none_or(|d| p.gap < d.gap) {
                self.deepest = Some(*p);
            }
        }
    }
}

/// The part of a grid that a face can be shifted onto along the normal.
struct Ground<'a> {
    grid: &'a HeightGrid,
    X_w1: &'a Pose,
    /// Origin of the corners of facets.
    o_w: Vec3,
    columns: Range<usize>,
    rows: Range<usize>,
    /// Height below the face down to which walls go [m].
    foot: f64,
}

impl<'a> Ground<'a> {
    /// Cells under a face with its origin, which can be shifted as far as `slant` [m]; walls go down by `same` more [m].
    fn under(grid: &'a HeightGrid, X_w1: &'a Pose, (face2, o_w): (&Facet, Vec3), slant: f64, same: f64) -> Ground<'a> {
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        let mut foot = f64::INFINITY;
        for corner in &face2.corners[..face2.count] {
            let q = X_w1.point_into(corner.p + o_w);
            foot = foot.min(q.z - slant - same);
            for (k, x) in [q.x, q.y].into_iter().enumerate() {
                (low[k], high[k]) = (low[k].min(x - slant), high[k].max(x + slant));
            }
        }
        let [columns, rows] = grid.cells_under(low, high);
        Ground { grid, X_w1, o_w, columns, rows, foot }
    }

    /// Index of a corner of the grid.
    fn at(&self, column: usize, row: usize) -> usize {
        row * self.grid.columns() + column
    }

    /// Corners in the frame of the grid to those of a facet.
    #[inline]
    fn set<const N: usize>(&self, face1: &mut Facet, corners: [Vec3; N], tags: [usize; N]) {
        for k in 0..N {
            face1.corners[k] = Corner { p: self.X_w1.point(corners[k]) - self.o_w, tag: tags[k] };
        }
    }

    /// Both triangles of every cell.
    fn visit_cells(&self, mut visit: impl FnMut(&Facet)) {
        let mut face1: Facet = Facet { count: 3, ..Facet::default() };
        for row in self.rows.clone() {
            for column in self.columns.clone() {
                for (half, corners) in self.grid.cell(column, row).into_iter().enumerate() {
                    let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero();
                    face1.normal = self.X_w1.vector(normal);
                    face1.id = 2 * (row * (self.grid.columns() - 1) + column) + half;
                    let third = if half == 0 { self.at(column + 1, row) } else { self.at(column, row + 1) };
                    let (a, c) = (self.at(column, row), self.at(column + 1, row + 1));
                    self.set(&mut face1, corners, if half == 0 { [a, third, c] } else { [a, c, third] });
                    visit(&face1);
                }
            }
        }
    }

    /// Upright walls around the rim that face the normal n, cell by cell, down to below the face; anticlockwise seen from outside.
    fn visit_walls(&self, n: Vec3, mut visit: impl FnMut(&Facet)) {
        let Ground { grid, columns, rows, .. } = self;
        let (last_column, last_row) = (grid.columns() - 1, grid.rows() - 1);
        let sides = [
            (Vec3::X, columns.end == last_column, rows, [(last_column, 0), (last_column, 1)]),
            (-Vec3::X, columns.start == 0, rows, [(0, 1), (0, 0)]),
            (Vec3::Y, rows.end == last_row, columns, [(1, last_row), (0, last_row)]),
            (-Vec3::Y, rows.start == 0, columns, [(0, 0), (1, 0)]),
        ];
        let all = grid.columns() * grid.rows();
        let mut face1: Facet = Facet { count: 4, ..Facet::default() };
        for (side, (out, near, cells, ends)) in sides.into_iter().enumerate() {
            face1.normal = self.X_w1.vector(out);
            if !near || face1.normal.dot(n) < STEEP {
                continue;
            }
            for cell in cells.clone() {
                let along = |(c, r): (usize, usize)| if side < 2 { (c, r + cell) } else { (c + cell, r) };
                let tops = ends.map(along);
                let [first, second] = tops.map(|(c, r)| grid.point(c, r));
                let down = |p: Vec3| Vec3::new(p.x, p.y, self.foot.min(p.z));
                let tags = tops.map(|(c, r)| self.at(c, r));
                face1.id = 2 * all + 4 * cell + side;
                let corners = [down(first), down(second), second, first];
                self.set(&mut face1, corners, [all + tags[0], all + tags[1], tags[1], tags[0]]);
                visit(&face1);
            }
        }
    }
}
