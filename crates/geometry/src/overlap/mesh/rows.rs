//! A few points that stand for the patch of each region, for solvers that carry one row per point.
//!
//! Candidates are the corners of the overlap: corners of one solid inside the other with their depth, crossings of edges
//! and faces with depth zero. Seen along the region's normal, the largest polygon of few corners is kept, so nothing tips too
//! early, and the deepest point. Areas of the quadrature are shared among them.

use super::cut::{Cut, Placement};
use super::foundation::PressurePoint;
use super::region::{NONE, Region, Regions};
use super::surface::Surface;
use crate::{Pose, Vec3};

/// Candidates nearer than this share of the patch stand for the same place [-].
const SAME_PLACE: f64 = 1e-3;

/// A corner of the overlap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub region: u32,
    /// In the world [m].
    pub x: Vec3,
    pub depth: f64,
    pub id: [u32; 2],
}

#[derive(Debug, Default)]
pub(super) struct Rows {
    pub candidates: Vec<Candidate>,
    ring: Vec<Candidate>,
    stack: Vec<(f64, u32)>,
    pub list: Vec<PressurePoint>,
}

/// Part of v across the unit vector n.
fn across(v: Vec3, n: Vec3) -> Vec3 {
    v - n * n.dot(v)
}

impl Rows {
    /// At most `most` rows a region from the candidates and the points of the quadrature.
    pub fn run(&mut self, regions: &[Region], points: &[PressurePoint], most: usize) {
        self.list.clear();
        self.candidates.retain(|c| c.region != NONE);
        // stable: among equals the order of the features decides
        self.candidates.sort_by(|a, b| a.region.cmp(&b.region).then(b.depth.total_cmp(&a.depth)));
        let mut first = 0;
        while first < self.candidates.len() {
            let region = self.candidates[first].region;
            let count = self.candidates[first..].iter().take_while(|c| c.region == region).count();
            let start = self.list.len();
            let of = &regions[region as usize];
            choose(&self.candidates[first..first + count], of, most, &mut self.ring, &mut self.list);
            share_areas(&mut self.list[start..], points, region, of);
            first += count;
        }
    }

    /// Candidates of two surfaces: the corners of the overlap.
    pub fn gather(&mut self, cut: &Cut, regions: &Regions, surfaces: [&Surface; 2], X: &Placement, X_w1: &Pose) {
        self.candidates.clear();
        let mut node = 0;
        for side in 0..2 {
            for c in &cut.crossings[side] {
                let own = surfaces[side].edge_faces[c.edge as usize][0];
                let id = if side == 0 { [own, c.face] } else { [c.face, own] };
                let (region, x) = (regions.of(cut, node), X_w1.point(c.point));
                self.candidates.push(Candidate { region, x, depth: 0.0, id });
                node += 1;
            }
        }
        for side in 0..2 {
            let mut guess = 0;
            for &(v, node) in &cut.inside[side] {
                let x = surfaces[side].vertices[v as usize];
                let y = if side == 0 { X.point_into(x) } else { X.point(x) };
                let closest = surfaces[1 - side].closest(y, guess, &mut self.stack);
                guess = closest.triangle;
                let own = surfaces[side].around[surfaces[side].around_first[v as usize] as usize];
                let id = if side == 0 { [own, guess] } else { [guess, own] };
                let (region, x) = (regions.of(cut, node), X_w1.point(X.of(side, x)));
                self.candidates.push(Candidate { region, x, depth: closest.depth.max(0.0), id });
            }
        }
    }
}

/// The two candidates farthest apart, then always the one farthest outside the polygon of those chosen; the deepest is one
/// of them or takes the last place.
fn choose(
    candidates: &[Candidate],
    region: &Region,
    most: usize,
    ring: &mut Vec<Candidate>,
    list: &mut Vec<PressurePoint>,
) {
    let n = region.normal;
    let flat = |a: &Candidate, b: &Candidate| across(a.x - b.x, n);
    // candidates come deepest first: a later one wins only if farther by more than rounding
    let farthest = |from: &Candidate| {
        let mut best = (0.0, *from);
        for c in candidates {
            let d = flat(c, from).length_squared();
            if d > best.0 * (1.0 + 1e-9) {
                best = (d, *c);
            }
        }
        best
    };
    let Some(deepest) = candidates.first().copied() else { return };
    let start = farthest(&deepest).1;
    let (size, end) = farthest(&start);
    let same = SAME_PLACE * size.sqrt();
    let mut last = 0;
    ring.clear();
    if most > 0 {
        ring.push(if most == 1 { deepest } else { start });
    }
    if most > 1 && size > 0.0 {
        ring.push(end);
    }
    while ring.len() >= 2 && ring.len() < most {
        let mut best: Option<(f64, usize, Candidate)> = None;
        for (k, a) in ring.iter().enumerate() {
            let side = flat(&ring[(k + 1) % ring.len()], a);
            let out = side.cross(n) / side.length();
            for c in candidates {
                let h = out.dot(c.x - a.x);
                if h > same && best.is_none_or(|(d, ..)| h > d * (1.0 + 1e-9)) {
                    best = Some((h, k + 1, *c));
                }
            }
        }
        let Some((_, k, c)) = best else { break };
        ring.insert(k, c);
        last = k;
    }
    if ring.iter().all(|c| flat(c, &deepest).length() > same) && !ring.is_empty() {
        if ring.len() < most {
            ring.push(deepest);
        } else {
            ring[last] = deepest;
        }
    }
    list.extend(ring.iter().map(|&Candidate { x: point, depth, region, id }| PressurePoint {
        point,
        normal: n,
        area: 0.0,
        depth,
        region,
        id,
    }));
}

/// Shares the areas of the region's points among its rows, the nearer the more (inverse square of the distance across the
/// normal), and gives each row the mean normal of what it carries.
fn share_areas(rows: &mut [PressurePoint], points: &[PressurePoint], region: u32, of: &Region) {
    for row in rows.iter_mut() {
        row.normal = Vec3::ZERO;
    }
    // no distance counts as less than a thousandth of the patch
    let least = SAME_PLACE * SAME_PLACE * of.area.max(of.extent * of.extent) + f64::MIN_POSITIVE;
    for p in points.iter().filter(|p| p.region == region) {
        let pull = |row: &PressurePoint| 1.0 / (across(row.point - p.point, of.normal).length_squared() + least);
        let total: f64 = rows.iter().map(pull).sum();
        for row in rows.iter_mut() {
            let area = p.area * pull(row) / total;
            row.area += area;
            row.normal += p.normal * (area * p.depth.max(0.0));
        }
    }
    for row in rows.iter_mut() {
        row.normal = row.normal.try_normalize().unwrap_or(of.normal);
    }
}
