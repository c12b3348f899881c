//! Volume, centroid, area vector and extent of each connected region of the overlap.
//!
//! With cones from a point o to the plane parts of the boundary (area A, centroid c, height h = n.(c - o)):
//!   V = sum h A / 3,   int (x - o) dV = sum (h A / 4)(c - o)        (docs/theory/overlap.md, eqs. 2, 3)
//! and the area vector is sum A n over the parts that lie on solid 1 (eq. 4). The extent is taken over the corners of the
//! overlap: crossings and corners of one solid inside the other.

use super::cut::Cut;
use super::placement::Placement;
use super::shared;
use super::surface::Surface;
use crate::{Aabb, Pose, Vec3};
use std::ops::Range;

/// One connected region of what two surfaces share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// Volume [m^3].
    pub volume: f64,
    /// Centroid of the volume in the world [m].
    pub centroid: Vec3,
    /// Unit mean normal of surface 1 inside solid 2, from 1 to 2, in the world [-]. Where one solid swallows the other it
    /// points from the middle of 1's box to that of 2.
    pub normal: Vec3,
    /// Area seen along the normal, `|sum A n|` [m^2]; zero when one solid swallows the other.
    pub area: f64,
    /// Length along the normal [m].
    pub extent: f64,
}

/// Sums of a region while it is built, in frame 1.
#[derive(Clone, Copy, Debug)]
struct Sums {
    o: Vec3,
    volume: f64,
    /// int (x - o) dV
    first: Vec3,
    /// sum A n over parts on 1 and on 2
    vector: [Vec3; 2],
    /// sum A
    surface: f64,
    bounds: Aabb,
    /// Region in the result.
    index: u32,
}

#[derive(Debug, Default)]
pub(super) struct Regions {
    sums: Vec<Sums>,
    /// Root of the union-find to place in `sums`.
    place: Vec<u32>,
    ranges: Vec<[f64; 2]>,
    /// Root of the union-find to region in `list`; `NONE` for one without volume.
    of_root: Vec<u32>,
    pub list: Vec<Region>,
    /// The first `used` of them are in use.
    lots: Vec<Lot>,
    used: usize,
}

/// Some parts and corners of one side, and what they add to each region. Lots are the same on any number of threads.
#[derive(Debug, Default)]
struct Lot {
    side: usize,
    parts: Range<usize>,
    /// Among the corners inside the other solid.
    corners: Range<usize>,
    sums: Vec<Sums>,
    ranges: Vec<[f64; 2]>,
}

/// Parts of a lot [-].
const CHUNK: usize = 1024;
/// With more regions than this, each side is one lot [-].
const FEW: usize = 16;

pub(super) const NONE: u32 = u32::MAX;
/// Area vectors smaller than this share of the area are rounding: the surface is closed [-].
const CLOSED: f64 = 1e-12;

impl Regions {
    /// Region of a member of the union-find.
    pub fn of(&self, cut: &Cut, node: u32) -> u32 {
        self.of_root.get(cut.flat_root(node) as usize).copied().unwrap_or(NONE)
    }

    pub fn run(&mut self, cut: &mut Cut, surfaces: [&Surface; 2], X: &Placement, X_w1: &Pose) {
        self.begin(cut, surfaces, X);
        self.split(cut);
        self.add(cut, surfaces, X);
        self.attach_voids();
        self.list(surfaces, X);
        self.measure(cut, surfaces, X);
        self.finish(X_w1);
    }

    /// One entry for every root of the union-find, in the order of the corners of the overlap.
    fn begin(&mut self, cut: &mut Cut, surfaces: [&Surface; 2], X: &Placement) {
        cut.flatten();
        self.sums.clear();
        self.place.clear();
        self.place.resize(cut.members(), NONE);
        for (node, x) in cut.crossings() {
            let b = &mut self.sums_of(cut.flat_root(node), x).bounds;
            *b = b.union(&Aabb { min: x, max: x });
        }
        for side in 0..2 {
            // corners of a component stand together
            for same in cut.sides[side].inside.chunk_by(|a, b| a.1 == b.1) {
                let (v, node) = same[0];
                self.sums_of(cut.flat_root(node), X.of(side, surfaces[side].vertices[v as usize]));
            }
        }
    }

    /// The sums of a root, which begin with this corner.
    fn sums_of(&mut self, root: u32, x: Vec3) -> &mut Sums {
        let place = &mut self.place[root as usize];
        if *place == NONE {
            *place = self.sums.len() as u32;
            let vector = [Vec3::ZERO; 2];
            let sums =
                Sums { o: x, volume: 0.0, first: Vec3::ZERO, vector, surface: 0.0, bounds: Aabb::EMPTY, index: NONE };
            self.sums.push(sums);
        }
        &mut self.sums[*place as usize]
    }

    /// Shares parts and corners out among lots.
    fn split(&mut self, cut: &Cut) {
        let few = self.sums.len() <= FEW;
        let lots = cut.sides.each_ref().map(|side| if few { side.parts.len().div_ceil(CHUNK).max(1) } else { 1 });
        self.used = lots[0] + lots[1];
        if self.lots.len() < self.used {
            self.lots.resize_with(self.used, Lot::default);
        }
        let of_side = |side: usize| (0..lots[side]).map(move |k| (side, k));
        for (lot, (side, k)) in self.lots.iter_mut().zip(of_side(0).chain(of_side(1))) {
            let share = |n: usize| n * k / lots[side]..n * (k + 1) / lots[side];
            let own = &cut.sides[side];
            (lot.side, lot.parts, lot.corners) = (side, share(own.parts.len()), share(own.inside.len()));
        }
    }

    /// Sums over lots, added in their order.
    fn add(&mut self, cut: &Cut, surfaces: [&Surface; 2], X: &Placement) {
        let Regions { sums, place, lots, used, .. } = self;
        let begun = &*sums;
        shared(surfaces, &mut lots[..*used], |lot| {
            lot.sums.clone_from(begun);
            add_parts(&mut lot.sums, place, cut, lot.side, lot.parts.clone(), surfaces, X);
            for (node, x) in cut.corners(lot.side, lot.corners.clone(), surfaces, X) {
                let b = &mut lot.sums[place[cut.flat_root(node) as usize] as usize].bounds;
                *b = b.union(&Aabb { min: x, max: x });
            }
        });
        for lot in &lots[..*used] {
            for (sum, own) in sums.iter_mut().zip(&lot.sums) {
                sum.volume += own.volume;
                sum.first += own.first;
                sum.vector = [sum.vector[0] + own.vector[0], sum.vector[1] + own.vector[1]];
                sum.surface += own.surface;
                sum.bounds = sum.bounds.union(&own.bounds);
            }
        }
    }

    /// A surface of negative volume is the wall of a void: it belongs to the smallest region around it.
    fn attach_voids(&mut self) {
        for i in 0..self.sums.len() {
            let void = self.sums[i];
            if !(void.volume < 0.0) {
                continue;
            }
            let around = (0..self.sums.len())
                .filter(|&k| self.sums[k].volume > -void.volume && self.sums[k].bounds.contains(&void.bounds))
                .min_by(|&a, &b| self.sums[a].volume.total_cmp(&self.sums[b].volume));
            if let Some(k) = around {
                let s = &mut self.sums[k];
                s.volume += void.volume;
                s.first += void.first + (void.o - s.o) * void.volume;
                for side in 0..2 {
                    s.vector[side] += void.vector[side];
                }
                s.surface += void.surface;
                self.sums[i].index = k as u32;
            }
        }
    }

    /// The regions that have a volume, without their extents.
    fn list(&mut self, surfaces: [&Surface; 2], X: &Placement) {
        self.list.clear();
        let apart = X.point(surfaces[1].bounds().center()) - surfaces[0].bounds().center();
        let towards = apart.try_normalize().unwrap_or(Vec3::Z);
        for s in &mut self.sums {
            if !(s.volume > 0.0) {
                continue;
            }
            s.index = self.list.len() as u32;
            // Solid 2 swallowed: its area vector, turned, closes the surface.
            let vector = if s.vector[0] != Vec3::ZERO { s.vector[0] } else { -s.vector[1] };
            let area = vector.length();
            let (normal, area) = if area > CLOSED * s.surface { (vector / area, area) } else { (towards, 0.0) };
            // Thin to the last digit the quotient may leave the region.
            let centroid = (s.o + s.first / s.volume).clamp(s.bounds.min, s.bounds.max);
            self.list.push(Region { volume: s.volume, centroid, normal, area, extent: 0.0 });
        }
        for i in 0..self.sums.len() {
            // walls of voids name the place of their region first
            if self.sums[i].volume < 0.0 && self.sums[i].index != NONE {
                self.sums[i].index = self.sums[self.sums[i].index as usize].index;
            }
        }
        self.of_root.clear();
        self.of_root.extend(self.place.iter().map(|&p| if p == NONE { NONE } else { self.sums[p as usize].index }));
    }

    /// Extents along the normals, over all corners.
    fn measure(&mut self, cut: &Cut, surfaces: [&Surface; 2], X: &Placement) {
        let Regions { list, of_root, ranges, lots, used, .. } = self;
        let widen = |ranges: &mut [[f64; 2]], node: u32, x: Vec3| {
            let region = of_root[cut.flat_root(node) as usize];
            if region != NONE {
                let h = list[region as usize].normal.dot(x);
                let range = &mut ranges[region as usize];
                *range = [range[0].min(h), range[1].max(h)];
            }
        };
        let none = [f64::INFINITY, f64::NEG_INFINITY];
        ranges.clear();
        ranges.resize(list.len(), none);
        cut.crossings().for_each(|(node, x)| widen(ranges, node, x));
        shared(surfaces, &mut lots[..*used], |lot| {
            lot.ranges.clear();
            lot.ranges.resize(list.len(), none);
            let corners = cut.corners(lot.side, lot.corners.clone(), surfaces, X);
            corners.for_each(|(node, x)| widen(&mut lot.ranges, node, x));
        });
        for lot in &lots[..*used] {
            for (range, own) in ranges.iter_mut().zip(&lot.ranges) {
                *range = [range[0].min(own[0]), range[1].max(own[1])];
            }
        }
        for (r, range) in list.iter_mut().zip(&*ranges) {
            r.extent = range[1] - range[0];
        }
    }

    /// Regions as the world sees them.
    fn finish(&mut self, X_w1: &Pose) {
        for r in &mut self.list {
            r.centroid = X_w1.point(r.centroid);
            r.normal = X_w1.vector(r.normal);
        }
    }
}

/// Adds some parts of one side to the sums of their regions.
fn add_parts(
    all: &mut [Sums],
    place: &[u32],
    cut: &Cut,
    side: usize,
    parts: Range<usize>,
    surfaces: [&Surface; 2],
    X: &Placement,
) {
    let s = surfaces[side];
    for part in &cut.sides[side].parts[parts] {
        let n = X.vector_of(side, s.normals[part.face as usize]);
        if part.count == 0 {
            let [a, b, c] = s.corners(part.face).map(|v| X.of(side, v));
            let sums = &mut all[place[cut.flat_root(part.node) as usize] as usize];
            let r = (a - sums.o) + ((b - a) + (c - a)) / 3.0;
            sums.add(side, n, s.areas[part.face as usize], r, n.dot(a - sums.o));
            continue;
        }
        let links = &cut.links[part.first as usize..(part.first + part.count) as usize];
        // Each region that has a share of this triangle, once: at the first of its links.
        for (k, link) in links.iter().enumerate() {
            let root = cut.flat_root(link.node);
            if k > 0 && links[..k].iter().any(|l| cut.flat_root(l.node) == root) {
                continue;
            }
            let o = link.a;
            let (mut area, mut first) = (0.0, Vec3::ZERO);
            for l in links[k..].iter().filter(|l| cut.flat_root(l.node) == root) {
                let (a, b) = (l.a - o, l.b - o);
                let twice = l.weight * n.dot(a.cross(b));
                area += 0.5 * twice;
                first += (a + b) * (twice / 6.0);
            }
            let sums = &mut all[place[root as usize] as usize];
            let r = o - sums.o;
            sums.add_first(side, n, area, first + r * area, n.dot(r));
        }
    }
}

impl Sums {
    /// Adds a plane part with its area, centroid from o and height over o.
    fn add(&mut self, side: usize, n: Vec3, area: f64, r: Vec3, h: f64) {
        self.add_first(side, n, area, r * area, h);
    }

    /// The same with its first moment about o.
    fn add_first(&mut self, side: usize, n: Vec3, area: f64, first: Vec3, h: f64) {
        self.volume += h * area / 3.0;
        self.first += first * (0.25 * h);
        self.vector[side] += n * area;
        self.surface += area.abs();
    }
}
