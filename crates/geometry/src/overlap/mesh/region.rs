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
    lots: Vec<Lot>,
}

/// Some parts of one side and what they add to each region.
#[derive(Debug, Default)]
struct Lot {
    side: usize,
    parts: Range<usize>,
    sums: Vec<Sums>,
}

/// Parts of a lot [-].
const CHUNK: usize = 1024;
/// With more regions than this, parts are added one after the other [-].
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
        self.gather_corners(cut, surfaces, X);
        let count = |side: usize| cut.parts[side].len();
        if count(0).max(count(1)) <= CHUNK || self.sums.len() > FEW {
            for side in 0..2 {
                add_parts(&mut self.sums, &self.place, cut, side, 0..count(side), surfaces, X);
            }
        } else {
            self.add_in_lots(cut, surfaces, X);
        }
        self.attach_voids();
        self.finish(cut, surfaces, X, X_w1);
    }

    /// Every corner of the overlap, with its member of the union-find.
    fn corners<'a>(
        cut: &'a Cut,
        surfaces: [&'a Surface; 2],
        X: &'a Placement,
    ) -> impl Iterator<Item = (u32, Vec3)> + 'a {
        let crossings = cut.crossings.iter().flatten().enumerate().map(|(i, c)| (i as u32, c.point));
        let inside = (0..2).flat_map(move |side| {
            cut.inside[side].iter().map(move |&(v, node)| (node, X.of(side, surfaces[side].vertices[v as usize])))
        });
        crossings.chain(inside)
    }

    fn gather_corners(&mut self, cut: &mut Cut, surfaces: [&Surface; 2], X: &Placement) {
        self.sums.clear();
        self.place.clear();
        cut.flatten();
        self.place.resize(cut.members(), NONE);
        for (node, x) in Self::corners(cut, surfaces, X) {
            let root = cut.flat_root(node) as usize;
            if self.place[root] == NONE {
                self.place[root] = self.sums.len() as u32;
                let (vector, bounds) = ([Vec3::ZERO; 2], Aabb::EMPTY);
                self.sums.push(Sums {
                    o: x,
                    volume: 0.0,
                    first: Vec3::ZERO,
                    vector,
                    surface: 0.0,
                    bounds,
                    index: NONE,
                });
            }
            let b = &mut self.sums[self.place[root] as usize].bounds;
            *b = b.union(&Aabb { min: x, max: x });
        }
    }

    /// Sums over lots of parts, the same on any number of threads, added in their order.
    fn add_in_lots(&mut self, cut: &Cut, surfaces: [&Surface; 2], X: &Placement) {
        let lots = [0, 1].map(|side| cut.parts[side].len().div_ceil(CHUNK));
        let count = lots[0] + lots[1];
        if self.lots.len() < count {
            self.lots.resize_with(count, Lot::default);
        }
        let of_side = |side: usize| (0..lots[side]).map(move |k| (side, k * CHUNK));
        for (lot, (side, from)) in self.lots.iter_mut().zip(of_side(0).chain(of_side(1))) {
            (lot.side, lot.parts) = (side, from..(from + CHUNK).min(cut.parts[side].len()));
            lot.sums.clone_from(&self.sums);
        }
        let place = &self.place;
        shared(surfaces, &mut self.lots[..count], |lot| {
            add_parts(&mut lot.sums, place, cut, lot.side, lot.parts.clone(), surfaces, X);
        });
        for lot in &self.lots[..count] {
            for (sum, own) in self.sums.iter_mut().zip(&lot.sums) {
                sum.volume += own.volume;
                sum.first += own.first;
                sum.vector = [sum.vector[0] + own.vector[0], sum.vector[1] + own.vector[1]];
                sum.surface += own.surface;
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

    fn finish(&mut self, cut: &Cut, surfaces: [&Surface; 2], X: &Placement, X_w1: &Pose) {
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
        self.ranges.clear();
        self.ranges.resize(self.list.len(), [f64::INFINITY, f64::NEG_INFINITY]);
        for (node, x) in Self::corners(cut, surfaces, X) {
            let region = self.sums[self.place[cut.flat_root(node) as usize] as usize].index;
            if region != NONE {
                let h = self.list[region as usize].normal.dot(x);
                let range = &mut self.ranges[region as usize];
                *range = [range[0].min(h), range[1].max(h)];
            }
        }
        for (r, range) in self.list.iter_mut().zip(&self.ranges) {
            r.extent = range[1] - range[0];
            r.centroid = X_w1.point(r.centroid);
            r.normal = X_w1.vector(r.normal);
        }
        self.of_root.clear();
        self.of_root.extend(self.place.iter().map(|&p| if p == NONE { NONE } else { self.sums[p as usize].index }));
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
    for part in &cut.parts[side][parts] {
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
