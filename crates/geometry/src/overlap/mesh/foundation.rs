//! Elastic foundation over the overlap of two surfaces (docs/theory/overlap.md, section 4).
//!
//! With d2(x) the distance from x to the surface of 2, U1 = int_B d2 dV has the gradient of a pressure d2 on S1, the part of
//! surface 1 inside 2; likewise U2. For U = (U1 + U2)/2, one of them alone where its surface is much finer, and unit stiffness per length the wrench on body 2 is
//!   f = 1/2 [ int_S1 d2 n1 dA - int_S2 d1 n2 dA ],   m about o likewise with x - o in front           (eqs. 5, 6)
//! The fluxes E1 = int_S1 d2 n1.grad d2 dA and E2 = int_S1 d2^2 n1.grad d2 dA would be V and 2 U1 if no column from surface
//! 2 to S1 ended on the medial surface before. V is known, and what is missing starts at edges of 2 and grows with d:
//!   U1 = E2/2 + (V - E1) E2/(3 E1)                                                                   (eq. 7)
//!
//! Quadrature must not depend on how the part of a triangle is put together, or the force would jump where pieces merge.
//! Area A, centroid c and central second moments A M of the part come from its chain (exact, whatever its outline). The rule
//!   int d dA = A/3 sum_k d(c + sqrt(2) M^(1/2) (cos, sin)(2 pi k/3))                                  (eq. 8)
//! is exact for quadratic d. Where it differs from A d(c), the part is cut in four at c and the answer slides over to
//! that of the quarters, so it stays continuous in the pose.

use super::closest::{Closest, Search};
use super::cut::{Cut, Link};
use super::placement::Placement;
use super::region::{NONE, Regions};
use super::shared;
use super::surface::Surface;
use crate::{Pose, Vec3};
use std::ops::Range;

/// Wrench, energy and size of an elastic foundation of unit stiffness per length, `p = k d` with k = 1 N/m^3.
///
/// Multiply force, moment and energy by `k = E*/L`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foundation {
    /// Force on body 2 in the world over k [m^3].
    pub force: Vec3,
    /// Moment on body 2 about the given point in the world over k [m^4].
    pub moment: Vec3,
    /// Elastic energy over k [m^4].
    pub energy: f64,
    /// Mean of the areas of the two surfaces inside each other; of the finer one where it alone carries [m^2].
    pub area: f64,
    /// Largest distance of a quadrature point to the other surface [m].
    pub depth: f64,
    /// What pulls deeper, for it has passed the middle of the other solid, over what pushes out [-].
    pub beyond: f64,
}

/// A point of the contact patch: `sum area depth normal` is the force on body 2 over k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PressurePoint {
    /// Place in the world [m].
    pub point: Vec3,
    /// Unit normal from 1 to 2 in the world [-].
    pub normal: Vec3,
    /// Unit direction from 1 to 2 in which the depth falls fastest as 2 moves; zero on the surface [-]. Columns along it of section
    /// `area normal.axis` carry the same wrench, and the depth is their length.
    pub axis: Vec3,
    /// The surface it lies on: 0 for 1, 1 for 2.
    pub side: u8,
    /// Share of the patch; where both surfaces carry they count half each [m^2].
    pub area: f64,
    /// Distance to the other surface [m].
    pub depth: f64,
    /// Region of the overlap, an index into [`super::SurfaceWork::regions`]; `u32::MAX` in one without volume.
    pub region: u32,
    /// Triangles of surface 1 and surface 2: the same point keeps them from step to step unless it slides off.
    pub id: [u32; 2],
}

/// Deepest subdivision of a part into quarters.
const LEVELS: usize = 4;
/// Differences of rule and centroid below this share of the whole integral are left alone; at twice this share the quarters have taken over [-].
const TOLERANCE: f64 = 5e-4;
/// Triangles smaller than this share of the patch are read at their centroid alone, those of twice the share by the full rule [-].
const SMALL: f64 = 0.05;

/// A surface whose triangles are so many times smaller than those of the other carries alone [-].
const FINER: f64 = 16.0;

/// Rounding in the second moments of a closed chain, as a share of the square of its size [-].
const CLOSED: f64 = 1e-6;

/// Triangles of a lot [-].
const CHUNK: usize = 256;

/// Shares w of U = w1 U1 + w2 U2. Any two that do not depend on the pose make a potential; where one surface is much finer than the other, its points find plane
/// faces before them, and the few large triangles of the other would have to be cut again and again to see its facets.
pub(super) fn shares([s1, s2]: [&Surface; 2]) -> [f64; 2] {
    match (s1.grain * FINER < s2.grain, s2.grain * FINER < s1.grain) {
        (true, _) => [1.0, 0.0],
        (_, true) => [0.0, 1.0],
        _ => [0.5, 0.5],
    }
}

/// A link in the plane of its triangle, from the triangle's first corner.
#[derive(Clone, Copy, Debug)]
struct Side {
    a: [f64; 2],
    b: [f64; 2],
    weight: f64,
}

/// Area, centroid and square root of the central second moments of a closed chain.
#[derive(Clone, Copy, Debug)]
struct Blob {
    area: f64,
    c: [f64; 2],
    /// sqrt(2) M^(1/2): xx, xy, yy [m]
    spread: [f64; 3],
}

fn blob(sides: &[Side]) -> Option<Blob> {
    let o = sides.first()?.a;
    let (mut area, mut sx, mut sy, mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    let mut length = 0.0;
    let (mut low, mut high) = ([0.0_f64; 2], [0.0_f64; 2]);
    for s in sides {
        let (ax, ay, bx, by) = (s.a[0] - o[0], s.a[1] - o[1], s.b[0] - o[0], s.b[1] - o[1]);
        (low, high) = ([low[0].min(ax), low[1].min(ay)], [high[0].max(ax), high[1].max(ay)]);
        let cross = s.weight * (ax * by - ay * bx);
        area += cross;
        sx += cross * (ax + bx);
        sy += cross * (ay + by);
        xx += cross * (ax * ax + ax * bx + bx * bx);
        yy += cross * (ay * ay + ay * by + by * by);
        xy += cross * (ax * by + 2.0 * (ax * ay + bx * by) + bx * ay);
        length = f64::max(length, (ax * ax + ay * ay).max(bx * bx + by * by));
    }
    area *= 0.5;
    // rounding of the sums
    if !(area > 1e-15 * length) {
        return None;
    }
    let (cx, cy) = (sx / (6.0 * area), sy / (6.0 * area));
    let (xx, yy) = ((xx / (12.0 * area) - cx * cx).max(0.0), (yy / (12.0 * area) - cy * cy).max(0.0));
    // what lies between low and high has its mean there, and a variance of at most (high - mean)(mean - low): planes that agree to rounding
    // cut each other in chains that bound nothing
    let most = |c: f64, k: usize| (high[k] - c) * (c - low[k]) + CLOSED * length;
    if xx > most(cx, 0) || yy > most(cy, 1) {
        return None;
    }
    let xy = xy / (24.0 * area) - cx * cy;
    // M^(1/2) = (M + sqrt(det M) I)/sqrt(tr M + 2 sqrt(det M))
    let root = (xx * yy - xy * xy).max(0.0).sqrt();
    let trace = (xx + yy + 2.0 * root).sqrt();
    let scale = if trace > 0.0 { std::f64::consts::SQRT_2 / trace } else { 0.0 };
    Some(Blob { area, c: [o[0] + cx, o[1] + cy], spread: [scale * (xx + root), scale * xy, scale * (yy + root)] })
}

/// cos and sin of 90, 210 and 330 degrees.
const RING: [[f64; 2]; 3] = [[0.0, 1.0], [-0.866_025_403_784_438_6, -0.5], [0.866_025_403_784_438_6, -0.5]];

impl Blob {
    fn at(&self, k: usize) -> [f64; 2] {
        let ([x, y], [xx, xy, yy]) = (RING[k], self.spread);
        [self.c[0] + xx * x + xy * y, self.c[1] + xy * x + yy * y]
    }

    /// No point of the ring is farther from the centroid [m].
    fn reach(&self) -> f64 {
        let [xx, xy, yy] = self.spread;
        (1.0 + 1e-9) * (xx * xx + 2.0 * xy * xy + yy * yy).sqrt()
    }

    /// No corner of the chain is farther from the centroid [m].
    fn around(&self, sides: &[Side]) -> f64 {
        let square = |s: &Side| {
            let (x, y) = (s.a[0] - self.c[0], s.a[1] - self.c[1]);
            x * x + y * y
        };
        (1.0 + 1e-9) * sides.iter().map(square).fold(0.0, f64::max).sqrt()
    }
}

/// Part of a closed chain below (or above) a value of one coordinate, again closed: what is cut runs along the line to `o`.
fn clip(from: &[Side], axis: usize, o: [f64; 2], below: bool, to: &mut Vec<Side>) {
    to.clear();
    let keeps = |p: [f64; 2]| (p[axis] <= o[axis]) == below;
    for s in from {
        match (keeps(s.a), keeps(s.b)) {
            (true, true) => to.push(*s),
            (false, false) => {}
            (a_stays, _) => {
                let u = (o[axis] - s.a[axis]) / (s.b[axis] - s.a[axis]);
                let mut m = [s.a[0] + u * (s.b[0] - s.a[0]), s.a[1] + u * (s.b[1] - s.a[1])];
                m[axis] = o[axis];
                if a_stays {
                    to.push(Side { b: m, ..*s });
                    to.push(Side { a: m, b: o, weight: s.weight });
                } else {
                    to.push(Side { a: o, b: m, weight: s.weight });
                    to.push(Side { a: m, ..*s });
                }
            }
        }
    }
}

/// 0 below 1, 1 above 2, smooth between.
fn slide(x: f64) -> f64 {
    let u = (x - 1.0).clamp(0.0, 1.0);
    u * u * (3.0 - 2.0 * u)
}

/// A triangle part with what was read at its points.
#[derive(Clone, Copy, Debug)]
struct Cell {
    part: u32,
    blob: Blob,
    /// Weight of the ring of three points against the centroid [-].
    ring: f64,
    at_c: Closest,
    at_ring: [Closest; 3],
}

/// Buffers.
#[derive(Debug, Default)]
pub(super) struct Quadrature {
    lots: Vec<Lot>,
    pub points: Vec<PressurePoint>,
}

/// Some triangles of one side, read one after the other: the same on any number of threads, and put together in their order.
#[derive(Debug, Default)]
struct Lot {
    side: usize,
    /// What its side carries [-].
    share: f64,
    /// Its parts in the list of the cut.
    parts: Range<usize>,
    blobs: Vec<(u32, Blob)>,
    area: f64,
    cells: Vec<Cell>,
    sums: Sums,
    points: Vec<PressurePoint>,
    sides: Vec<Side>,
    levels: Vec<[Vec<Side>; 2]>,
    search: Search,
}

/// Frame of a triangle in its own solid, and everything needed to read depths at its points.
struct Plane<'a> {
    face: u32,
    o: Vec3,
    e: [Vec3; 2],
    normal: Vec3,
    side: usize,
    other: &'a Surface,
    X: &'a Placement,
}

impl<'a> Plane<'a> {
    fn new(side: usize, face: u32, surfaces: [&'a Surface; 2], X: &'a Placement) -> Plane<'a> {
        let s = surfaces[side];
        let [o, b, _] = s.corners(face);
        let normal = s.normals[face as usize];
        let x = (b - o).try_normalize().unwrap_or(Vec3::X);
        Plane { face, o, e: [x, normal.cross(x)], normal, side, other: surfaces[1 - side], X }
    }

    /// Point in the triangle's own solid.
    fn point(&self, p: [f64; 2]) -> Vec3 {
        self.o + self.e[0] * p[0] + self.e[1] * p[1]
    }

    /// The same point in the other solid.
    fn place(&self, p: [f64; 2]) -> Vec3 {
        let x = self.point(p);
        if self.side == 0 { self.X.point_into(x) } else { self.X.point(x) }
    }

    fn read(&self, p: [f64; 2], guess: u32, search: &mut Search) -> Closest {
        self.other.closest(self.place(p), guess, search)
    }

    /// Prepares readings within `radius` [m] of the centroid of a part, which reads `at_c`.
    fn approach(&self, blob: &Blob, at_c: &Closest, radius: f64, search: &mut Search) {
        self.other.approach(self.place(blob.c), at_c, radius, search);
    }

    /// The gradient of the depth in frame 1.
    fn gradient(&self, c: &Closest) -> Vec3 {
        if self.side == 0 { self.X.R_12 * c.inward } else { c.inward }
    }
}

/// Sums in frame 1, force on body 2, moment about the origin of frame 1.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    force: Vec3,
    moment: Vec3,
    /// E1, E2 of the parts on 1 and on 2.
    flux: [[f64; 2]; 2],
    /// E1 of the points that push out and of those that pull deeper, both sides.
    ways: [f64; 2],
    depth: f64,
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.force += other.force;
        self.moment += other.moment;
        for side in 0..2 {
            for k in 0..2 {
                self.flux[side][k] += other.flux[side][k];
            }
        }
        self.ways = [self.ways[0] + other.ways[0], self.ways[1] + other.ways[1]];
        self.depth = self.depth.max(other.depth);
    }

    /// Eq. 7 for both sides, for an overlap of this volume.
    fn energy(&self, volume: f64, shares: [f64; 2]) -> f64 {
        let of_side = |[e1, e2]: [f64; 2]| {
            let missing = if e1 > 0.0 { ((volume - e1) / e1).clamp(-1.0, 1.0) } else { 0.0 };
            0.5 * e2 + missing * e2 / 3.0
        };
        shares[0] * of_side(self.flux[0]) + shares[1] * of_side(self.flux[1])
    }
}

impl Quadrature {
    pub fn run(
        &mut self,
        cut: &Cut,
        regions: &Regions,
        surfaces: [&Surface; 2],
        X: &Placement,
        X_w1: &Pose,
        about_w: Vec3,
    ) -> Foundation {
        let shares = shares(surfaces);
        let sizes = [0, 1].map(|side| if shares[side] > 0.0 { cut.sides[side].parts.len() } else { 0 });
        let count = sizes[0].div_ceil(CHUNK) + sizes[1].div_ceil(CHUNK);
        if self.lots.len() < count {
            self.lots.resize_with(count, Lot::default);
        }
        let lots = &mut self.lots[..count];
        let of_side = |side: usize| (0..sizes[side]).step_by(CHUNK).map(move |from| (side, from));
        for (lot, (side, from)) in lots.iter_mut().zip(of_side(0).chain(of_side(1))) {
            (lot.side, lot.share, lot.parts) = (side, shares[side], from..(from + CHUNK).min(sizes[side]));
        }
        shared(surfaces, lots, |lot| lot.measure(cut, surfaces, X));
        let areas = [0, 1].map(|side| lots.iter().filter(|lot| lot.side == side).map(|lot| lot.area).sum::<f64>());
        shared(surfaces, lots, |lot| lot.read(areas[lot.side], cut, surfaces, X));
        let whole = [0, 1].map(|side| {
            let cells = lots.iter().filter(|lot| lot.side == side).flat_map(|lot| &lot.cells);
            cells.map(|c| c.blob.area * c.mean().abs()).sum::<f64>()
        });
        let whole = 2.0 * (shares[0] * whole[0] + shares[1] * whole[1]);
        shared(surfaces, lots, |lot| lot.add_up(whole, cut, regions, surfaces, X, X_w1));
        self.points.clear();
        let mut sums = Sums::default();
        for lot in lots {
            self.points.extend_from_slice(&lot.points);
            sums.add(&lot.sums);
        }
        let force = X_w1.vector(sums.force);
        let moment = X_w1.vector(sums.moment) + (X_w1.position - about_w).cross(force);
        let volume = regions.list.iter().map(|r| r.volume).sum();
        let area = shares[0] * areas[0] + shares[1] * areas[1];
        let [out, deeper] = sums.ways;
        let beyond = if out > 0.0 { deeper / out } else { 0.0 };
        Foundation { force, moment, energy: sums.energy(volume, shares), area, depth: sums.depth, beyond }
    }
}

impl Lot {
    /// Moments of its parts.
    fn measure(&mut self, cut: &Cut, surfaces: [&Surface; 2], X: &Placement) {
        self.area = 0.0;
        self.blobs.clear();
        for i in self.parts.clone() {
            let part = &cut.sides[self.side].parts[i];
            let plane = Plane::new(self.side, part.face, surfaces, X);
            let links = &cut.links[part.first as usize..(part.first + part.count) as usize];
            unfold(&plane, links, surfaces[self.side], &mut self.sides);
            if let Some(blob) = blob(&self.sides) {
                self.area += blob.area;
                self.blobs.push((i as u32, blob));
            }
        }
    }

    /// First readings of its parts, on a side with so much area in all.
    fn read(&mut self, area: f64, cut: &Cut, surfaces: [&Surface; 2], X: &Placement) {
        self.cells.clear();
        let mut guess = 0;
        for &(part, blob) in &self.blobs {
            let face = cut.sides[self.side].parts[part as usize].face;
            let plane = Plane::new(self.side, face, surfaces, X);
            // the triangle, not its part, decides: the number of points is the same from pose to pose
            let ring = slide((surfaces[self.side].areas[face as usize] / area).sqrt() / SMALL);
            self.search.forget();
            let at_c = plane.read(blob.c, guess, &mut self.search);
            guess = at_c.triangle;
            let mut at_ring = [at_c; 3];
            if ring > 0.0 {
                plane.approach(&blob, &at_c, blob.reach(), &mut self.search);
                for (k, reading) in at_ring.iter_mut().enumerate() {
                    *reading = plane.read(blob.at(k), guess, &mut self.search);
                }
            }
            self.cells.push(Cell { part, blob, ring, at_c, at_ring });
        }
    }

    /// Points and sums of its parts, for an integral of the depth over both sides of about `whole`.
    fn add_up(
        &mut self,
        whole: f64,
        cut: &Cut,
        regions: &Regions,
        surfaces: [&Surface; 2],
        X: &Placement,
        X_w1: &Pose,
    ) {
        self.points.clear();
        self.sums = Sums::default();
        if self.levels.len() < LEVELS {
            self.levels.resize_with(LEVELS, Default::default);
        }
        let cells = std::mem::take(&mut self.cells);
        for cell in &cells {
            let part = cut.sides[self.side].parts[cell.part as usize];
            let plane = Plane::new(self.side, part.face, surfaces, X);
            let links = &cut.links[part.first as usize..(part.first + part.count) as usize];
            let first = self.points.len();
            let split = Self::doubt(cell, whole);
            if split > 0.0 {
                let mut sides = std::mem::take(&mut self.sides);
                unfold(&plane, links, surfaces[self.side], &mut sides);
                plane.approach(&cell.blob, &cell.at_c, cell.blob.around(&sides), &mut self.search);
                self.quarter(&plane, &sides, &cell.blob, split, 0, whole, cell.at_c.triangle);
                self.sides = sides;
            }
            self.emit(&plane, cell, 1.0 - split);
            for p in &mut self.points[first..] {
                p.region = region_of(p.point, part.node, links, cut, regions);
                p.point = X_w1.point(p.point);
                p.normal = X_w1.vector(p.normal);
                p.axis = X_w1.vector(p.axis);
            }
        }
        self.cells = cells;
    }

    /// How far the answer slides over to the quarters, 0 to 1: where the depth is not linear, and where the rule goes outside the other solid, for the part of
    /// a triangle that has several pieces has its points between them.
    fn doubt(cell: &Cell, whole: f64) -> f64 {
        let bent = (cell.ring_mean() - cell.at_c.depth).abs();
        let error = cell.blob.area * cell.ring * bent.max(-cell.lowest());
        if whole > 0.0 { slide(error / (TOLERANCE * whole)) } else { 0.0 }
    }

    /// The four quarters of a part about its centroid, with this weight.
    #[expect(clippy::too_many_arguments, reason = "an inner loop that calls itself: numbers stay in registers")]
    fn quarter(
        &mut self,
        plane: &Plane<'_>,
        sides: &[Side],
        whole_part: &Blob,
        weight: f64,
        level: usize,
        whole: f64,
        guess: u32,
    ) {
        let [mut half, mut piece] = std::mem::take(&mut self.levels[level]);
        for low_x in [true, false] {
            clip(sides, 0, whole_part.c, low_x, &mut half);
            for low_y in [true, false] {
                // cut along the line through c: from there the other cut starts anew
                clip(&half, 1, whole_part.c, low_y, &mut piece);
                let Some(blob) = blob(&piece) else { continue };
                let at_c = plane.read(blob.c, guess, &mut self.search);
                let guess = at_c.triangle;
                let at_ring = [0, 1, 2].map(|k| plane.read(blob.at(k), guess, &mut self.search));
                let cell = Cell { part: 0, blob, ring: 1.0, at_c, at_ring };
                let split = if level + 1 < LEVELS { Self::doubt(&cell, whole) } else { 0.0 };
                if split > 0.0 {
                    self.quarter(plane, &piece, &blob, weight * split, level + 1, whole, guess);
                }
                self.emit(plane, &cell, weight * (1.0 - split));
            }
        }
        self.levels[level] = [half, piece];
    }

    /// Adds the points of a cell with this weight. Where the rule would put points outside the other solid, its ring is drawn in until the depth there,
    /// taken as linear, is not negative: that leaves the integral of a linear depth as it is. No point pulls.
    fn emit(&mut self, plane: &Plane<'_>, cell: &Cell, weight: f64) {
        let sums = &mut self.sums;
        let ring = cell.ring / 3.0;
        let (c, d_c, lowest) = (cell.blob.c, cell.at_c.depth.max(0.0), cell.lowest());
        let drawn = if lowest < 0.0 { d_c / (d_c - lowest) } else { 1.0 };
        let on_ring = |k: usize| {
            let (p, d) = (cell.blob.at(k), cell.at_ring[k].depth);
            if drawn == 1.0 {
                return (ring, p, cell.at_ring[k], d);
            }
            let p = [c[0] + drawn * (p[0] - c[0]), c[1] + drawn * (p[1] - c[1])];
            (ring, p, cell.at_ring[k], (d_c + drawn * (d - d_c)).max(0.0))
        };
        let readings = [(1.0 - cell.ring, c, cell.at_c, d_c), on_ring(0), on_ring(1), on_ring(2)];
        for (share, p, reading, depth) in readings {
            let area = weight * share * cell.blob.area;
            if area == 0.0 {
                continue;
            }
            let (point, n) = (plane.X.of(plane.side, plane.point(p)), plane.X.vector_of(plane.side, plane.normal));
            let normal = if plane.side == 0 { n } else { -n };
            let carried = self.share * area;
            let f = normal * (carried * depth);
            sums.force += f;
            sums.moment += point.cross(f);
            let gradient = plane.gradient(&reading);
            let axis = if plane.side == 0 { gradient } else { -gradient };
            let flux = area * depth * normal.dot(axis);
            sums.flux[plane.side][0] += flux;
            sums.ways[usize::from(flux < 0.0)] += self.share * flux.abs();
            sums.flux[plane.side][1] += flux * depth;
            sums.depth = sums.depth.max(depth);
            let id = if plane.side == 0 { [plane.face, reading.triangle] } else { [reading.triangle, plane.face] };
            self.points.push(PressurePoint {
                point,
                normal,
                axis,
                side: plane.side as u8,
                area: carried,
                depth,
                region: NONE,
                id,
            });
        }
    }
}

impl Cell {
    fn ring_mean(&self) -> f64 {
        (self.at_ring[0].depth + self.at_ring[1].depth + self.at_ring[2].depth) / 3.0
    }

    /// Least depth on the ring [m].
    fn lowest(&self) -> f64 {
        self.at_ring[0].depth.min(self.at_ring[1].depth).min(self.at_ring[2].depth)
    }

    fn mean(&self) -> f64 {
        self.at_c.depth + self.ring * (self.ring_mean() - self.at_c.depth)
    }
}

/// The chain of a part in the plane of its triangle; the outline of a whole triangle.
fn unfold(plane: &Plane<'_>, links: &[Link], s: &Surface, sides: &mut Vec<Side>) {
    sides.clear();
    let flat = |x: Vec3| {
        let r = x - plane.o;
        [plane.e[0].dot(r), plane.e[1].dot(r)]
    };
    if links.is_empty() {
        let p = s.corners(plane.face).map(flat);
        sides.extend((0..3).map(|k| Side { a: p[k], b: p[(k + 1) % 3], weight: 1.0 }));
    }
    for l in links {
        let into = |x: Vec3| if plane.side == 0 { x } else { plane.X.point_into(x) };
        sides.push(Side { a: flat(into(l.a)), b: flat(into(l.b)), weight: l.weight });
    }
}

/// Region of a point: that of its triangle, or of the nearest link where several regions share the triangle.
fn region_of(x: Vec3, node: u32, links: &[Link], cut: &Cut, regions: &Regions) -> u32 {
    let Some(first) = links.first() else { return regions.of(cut, node) };
    let root = cut.flat_root(first.node);
    if links.iter().all(|l| cut.flat_root(l.node) == root) {
        return regions.of(cut, root);
    }
    let distance = |l: &Link| {
        let (ab, ax) = (l.b - l.a, x - l.a);
        let t = (ab.dot(ax) / ab.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        (ax - ab * t).length_squared()
    };
    let nearest = links.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    nearest.map_or(NONE, |l| regions.of(cut, l.node))
}
