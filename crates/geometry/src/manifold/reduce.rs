//! From all corners of a patch to the few that are kept.

use super::facet::ROOM;
use super::{Manifold, ManifoldPoint};
use crate::Vec3;

/// Most corners of the polygon that two faces share.
pub(super) const CANDIDATES: usize = 2 * ROOM;

/// Areas this near to each other are equal, as a share: small motions do not change who is kept [-].
const TIE: f64 = 1e-3;

/// Points found, in order around the patch.
pub(super) struct Candidates {
    points: [ManifoldPoint; CANDIDATES],
    pub count: usize,
    /// Area of the patch [m^2].
    pub area: f64,
    /// Points nearer to each other than this are one [m].
    same: f64,
}

impl Candidates {
    pub(super) fn new(same: f64) -> Self {
        Candidates { points: [ManifoldPoint::default(); CANDIDATES], count: 0, area: 0.0, same }
    }

    /// Adds a point; of twins the first stays, with the smaller gap.
    pub(super) fn push(&mut self, p: ManifoldPoint) {
        let same = self.same * self.same;
        for q in &mut self.points[..self.count] {
            if q.id == p.id || (q.point - p.point).length_squared() <= same {
                q.gap = q.gap.min(p.gap);
                return;
            }
        }
        if self.count < CANDIDATES {
            self.points[self.count] = p;
            self.count += 1;
        }
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

/// Takes away the corners whose loss costs least area until `limit` are left. The deepest stays if it is so by more than
/// `same` [m]; a witness is deeper than all and takes its place.
pub(super) fn into(
    found: &mut Candidates,
    n: Vec3,
    limit: usize,
    witness: Option<ManifoldPoint>,
    same: f64,
    out: &mut Manifold,
) {
    let mut deepest = 0;
    for k in 1..found.count {
        if found.points[k].gap < found.points[deepest].gap - same {
            deepest = k;
        }
    }
    let room = limit - witness.is_some() as usize;
    while found.count > room {
        let count = found.count;
        let (mut least, mut cost) = (usize::MAX, f64::INFINITY);
        for k in 0..count {
            if k == deepest && witness.is_none() {
                continue;
            }
            let [a, b, c] = [(k + count - 1) % count, k, (k + 1) % count].map(|k| found.points[k].point);
            let area = triangle(a, b, c, n).abs();
            if least == usize::MAX || area < cost * (1.0 - TIE) {
                (least, cost) = (k, area);
            }
        }
        found.points.copy_within(least + 1..count, least);
        found.count -= 1;
        if deepest > least {
            deepest -= 1;
        }
    }
    out.count = found.count;
    out.points[..found.count].copy_from_slice(&found.points[..found.count]);
    if let Some(witness) = witness {
        out.points[out.count] = witness;
        out.count += 1;
    }
    let share = found.area / out.count as f64;
    for p in &mut out.points[..out.count] {
        p.area = share;
    }
}
