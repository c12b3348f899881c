//! From all corners of a patch to the few that are kept.

use super::facet::{QUAD, ROOM};
use super::{Manifold, ManifoldPoint};
use crate::Vec3;

/// Most corners of the polygon that two faces share.
pub(super) const CANDIDATES: usize = 2 * ROOM;
/// ... of two boxes.
pub(super) const FEW: usize = 2 * QUAD;

/// Areas this near to each other are equal, as a share: small motions do not change who is kept [-].
const TIE: f64 = 1e-3;

/// Where an outline begins: a direction that few edges are square to [-].
const START: [f64; 2] = [0.8, 0.6];

/// A point found. Wide ids leave no holes in the memory, which is cleared faster without.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Candidate {
    pub point: Vec3,
    pub gap: f64,
    id: u64,
}

impl Candidate {
    pub(super) fn new(point: Vec3, gap: f64, id: u32) -> Self {
        Candidate { point, gap, id: id as u64 }
    }
}

/// Points found, in order around the patch.
pub(super) struct Candidates<const C: usize = CANDIDATES> {
    points: [Candidate; C],
    pub count: usize,
    /// Area of the patch [m^2].
    pub area: f64,
    /// Points nearer to each other than this are one [m].
    same: f64,
}

impl<const C: usize> Candidates<C> {
    pub(super) fn new(same: f64) -> Self {
        Candidates { points: [Candidate::default(); C], count: 0, area: 0.0, same }
    }

    /// Adds a point; of twins the first stays, with the smaller gap.
    pub(super) fn push(&mut self, p: Candidate) {
        let same = self.same * self.same;
        for q in &mut self.points[..self.count] {
            if q.id == p.id || (q.point - p.point).length_squared() <= same {
                q.gap = q.gap.min(p.gap);
                return;
            }
        }
        if self.count < C {
            self.points[self.count] = p;
            self.count += 1;
        }
    }

    pub(super) fn points(&self) -> &[Candidate] {
        &self.points[..self.count]
    }

    /// Takes away the corners whose loss costs least area until `room` are left; `stays` does not go.
    pub(super) fn thin(&mut self, n: Vec3, room: usize, mut stays: Option<usize>) {
        if self.count <= room {
            return;
        }
        let mut cost = [0.0; C];
        for k in 0..self.count {
            cost[k] = self.cost(k, n);
        }
        while self.count > room {
            let mut least = usize::MAX;
            for k in (0..self.count).filter(|&k| stays != Some(k)) {
                if least == usize::MAX || cost[k] < cost[least] * (1.0 - TIE) {
                    least = k;
                }
            }
            self.points.copy_within(least + 1..self.count, least);
            cost.copy_within(least + 1..self.count, least);
            self.count -= 1;
            stays = stays.map(|k| k - (k > least) as usize);
            for k in [if least > 0 { least - 1 } else { self.count - 1 }, if least < self.count { least } else { 0 }] {
                cost[k] = self.cost(k, n);
            }
        }
    }

    /// Twice the area that goes with corner k [m^2].
    fn cost(&self, k: usize, n: Vec3) -> f64 {
        let before = if k > 0 { k - 1 } else { self.count - 1 };
        let after = if k + 1 < self.count { k + 1 } else { 0 };
        let [a, b, c] = [before, k, after].map(|k| self.points[k].point);
        triangle(a, b, c, n).abs()
    }

    /// Only the corners of the convex hull seen along s x t, anticlockwise, each the farthest on the right of the one before (Jarvis 1973).
    pub(super) fn keep_outline(&mut self, s: Vec3, t: Vec3) {
        if self.count < 3 {
            return;
        }
        let mut at = [[0.0; 2]; C];
        for (place, p) in at.iter_mut().zip(self.points()) {
            *place = [s.dot(p.point), t.dot(p.point)];
        }
        let at = &at[..self.count];
        // off by less than `same` is on the way: rounding does not decide who is a corner
        let right_of = |from: [f64; 2], to: [f64; 2], p: [f64; 2]| {
            let ([bx, by], [cx, cy]) = ([to[0] - from[0], to[1] - from[1]], [p[0] - from[0], p[1] - from[1]]);
            let (b, c) = (bx * bx + by * by, cx * cx + cy * cy);
            let (right, slip) = (cx * by - cy * bx, self.same * b.max(c).sqrt());
            right > slip || right >= -slip && c > b
        };
        // the farthest along one direction, or across it, is a corner
        let [u, v] = START;
        let along = |k: usize| u * at[k][0] + v * at[k][1];
        let across = |k: usize| u * at[k][1] - v * at[k][0];
        let beyond = |k: usize, l: usize| {
            let more = along(k) - along(l);
            more > self.same || more >= -self.same && across(k) > across(l)
        };
        let start = (1..at.len()).fold(0, |best, k| if beyond(k, best) { k } else { best });
        let (mut corners, mut kept, mut taken) = ([start; C], 1, [false; C]);
        loop {
            let from = corners[kept - 1];
            let others = (0..at.len()).filter(|&k| k != from && !taken[k]);
            let next = others.reduce(|best, k| if right_of(at[from], at[best], at[k]) { k } else { best });
            match next {
                Some(next) if next != start => {
                    (corners[kept], taken[next]) = (next, true);
                    kept += 1;
                }
                _ => break,
            }
        }
        let all = self.points;
        for (slot, &k) in self.points.iter_mut().zip(&corners[..kept]) {
            *slot = all[k];
        }
        self.count = kept;
    }

    /// Smallest gap [m].
    pub(super) fn least(&self) -> f64 {
        self.points[..self.count].iter().map(|p| p.gap).fold(f64::INFINITY, f64::min)
    }

    /// Area that the points enclose, seen along n [m^2].
    pub(super) fn enclosed(&self, n: Vec3) -> f64 {
        let mut twice = 0.0;
        for k in 2..self.count {
            twice += triangle(self.points[0].point, self.points[k - 1].point, self.points[k].point, n);
        }
        (0.5 * twice).abs()
    }
}

fn triangle(a: Vec3, b: Vec3, c: Vec3, n: Vec3) -> f64 {
    (b - a).cross(c - a).dot(n)
}

/// Keeps up to `limit` points. The deepest stays if it is so by more than `same` [m]; an extra point takes its place.
pub(super) fn into<const C: usize>(
    found: &mut Candidates<C>,
    n: Vec3,
    limit: usize,
    extra: Option<Candidate>,
    same: f64,
    out: &mut Manifold,
) {
    let mut deepest = 0;
    for k in 1..found.count {
        if found.points[k].gap < found.points[deepest].gap - same {
            deepest = k;
        }
    }
    match extra {
        Some(_) => found.thin(n, limit - 1, None),
        None => found.thin(n, limit, Some(deepest)),
    }
    out.count = found.count + extra.is_some() as usize;
    let area = found.area / out.count as f64;
    for (slot, c) in out.points.iter_mut().zip(found.points().iter().chain(&extra)) {
        *slot = ManifoldPoint { point: c.point, gap: c.gap, id: c.id as u32, area };
    }
}
