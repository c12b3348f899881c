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

    /// Only the corners of the convex hull seen along s x t, anticlockwise (Andrew 1979).
    pub(super) fn keep_outline(&mut self, s: Vec3, t: Vec3) {
        if self.count < 3 {
            return;
        }
        // along the longer way: on a line across it rounding would decide who comes first
        let extent = |way: Vec3| {
            let along = self.points().iter().map(|p| way.dot(p.point));
            let (low, high) = along.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
            high - low
        };
        let (s, t) = if extent(t) > extent(s) { (t, -s) } else { (s, t) };
        let see = |p: &Candidate| [s.dot(p.point), t.dot(p.point)];
        self.points[..self.count].sort_unstable_by(|p, q| {
            let ([pu, pv], [qu, qv]) = (see(p), see(q));
            pu.total_cmp(&qu).then(pv.total_cmp(&qv)).then(p.id.cmp(&q.id))
        });
        let (sorted, count) = (self.points, self.count);
        let mut kept = 0;
        let mut floor = 1;
        // Lower side from left to right, then upper side back to the start.
        for k in (0..count).chain((0..count - 1).rev()) {
            let c = see(&sorted[k]);
            while kept > floor {
                let (a, b) = (see(&self.points[kept - 2]), see(&self.points[kept - 1]));
                let (ab, ac) = ([b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]);
                let left = ab[0] * ac[1] - ab[1] * ac[0];
                // On the way or off it by next to nothing: not a corner.
                if left > self.same * (ac[0] * ac[0] + ac[1] * ac[1]).sqrt() {
                    break;
                }
                kept -= 1;
            }
            if kept < C {
                self.points[kept] = sorted[k];
                kept += 1;
            }
            if k + 1 == count {
                floor = kept;
            }
        }
        // The start came twice.
        self.count = kept - 1;
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
