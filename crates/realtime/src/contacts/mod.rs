//! Contact points of a step: which elements are near each other, where they touch or soon may, how stiff the points
//! are, and what they remember.
//!
//! A pair of convex shapes has up to eight points with lasting ids; a pair with a mesh has a column per point of its
//! patch. Gaps are those of the beginning of the step, but the points are those the bodies will have where the step
//! ends.

mod columns;
mod convex;
mod grip;
mod near;
mod surfaces;
mod touch;

pub use grip::{Grip, Hold};
use near::Near;
pub use near::{Pairs, RADIUS_MAX};
pub use touch::{Memory, Touch};

use super::Clock;
use super::failure::Failure;
use super::share::share;
use columns::SurfacePoint;
use rayon::prelude::*;
use tippe_geometry::{Manifold, Pose, Vec3};
use tippe_mechanics::joint::Six;

/// Pairs from which on threads share them: below, waking them takes longer than the work.
const PAIRS_FOR_THREADS: usize = 64;
/// Pairs that a thread takes at a time.
const PAIRS_PER_LOT: usize = 8;
/// Restitution of surfaces that do not rebound but need an impact to stop them [-].
pub(super) const LEAST_RESTITUTION: f64 = 0.01;

/// Contact points of a step: `detect` writes.
#[derive(Debug, Default)]
pub struct Detected {
    /// Pairs of elements near each other.
    pub pairs: Pairs,
    /// Contact points, pair by pair.
    pub touches: Vec<Touch>,
    /// Their friction.
    pub grips: Vec<Grip>,
    /// False if no contact point has a restitution.
    pub rebounds: bool,
}

/// What is found between the two elements of a pair.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Points between convex shapes, and whether there are any.
    manifold: Manifold,
    touches: bool,
    /// Columns between surfaces, and how many times stiffer they will be.
    points: Vec<SurfacePoint>,
    stiffening: f64,
    /// How deep surfaces are of which one has passed the middle of the other [m].
    beyond: Option<f64>,
}

impl Clock {
    /// Contact points of the step from the instant `now` on, at which impacts have left the bodies [s].
    pub(super) fn detect(&mut self, now: f64) {
        self.find_near_pairs(now);
        let (mut touches, mut grips) =
            (std::mem::take(&mut self.detected.touches), std::mem::take(&mut self.detected.grips));
        touches.clear();
        grips.clear();
        let mut pairs = std::mem::take(&mut self.detected.pairs);
        self.shown.tally.pairs += pairs.now.len() as u64;
        let shared = self.find_in_parallel(now, &mut pairs);
        let Pairs { near, now: close, margins, X_ws, found, .. } = &mut pairs;
        // pairs and what they remember are in the same order
        let (mut memories, mut holds) = (self.state.contacts.as_slice(), self.state.holds.as_slice());
        let mut rebounds = false;
        for (place, &k) in close.iter().enumerate() {
            let near = &near[k as usize];
            let found = &mut found[if shared { place } else { 0 }];
            if !shared {
                self.find_contacts(now, near, margins, X_ws, found);
            }
            while let [first, rest @ ..] = memories
                && first.pair < near.pair
            {
                memories = rest;
            }
            while let [first, rest @ ..] = holds
                && first.pair < near.pair
            {
                holds = rest;
            }
            rebounds |= near.surfaces.is_some() || near.constants.restitution > 0.0;
            if near.surfaces.is_some() {
                let time = self.state.time;
                self.shown.tally.beyond =
                    self.shown.tally.beyond.or(found.beyond.map(|depth| (time, near.pair, depth)));
                self.touch_surfaces(near, holds, found, &mut touches, &mut grips);
            } else if found.touches {
                self.touch_convex(near, memories, holds, &found.manifold, &mut touches, &mut grips);
            }
        }
        self.count_contacts(&touches);
        (self.detected.rebounds, self.detected.pairs, self.detected.touches, self.detected.grips) =
            (rebounds, pairs, touches, grips);
    }

    /// Where many pairs are close, or one is heavy, threads look at all of them before the first is read: true. One
    /// thread alone reads what it has just found.
    fn find_in_parallel(&self, now: f64, pairs: &mut Pairs) -> bool {
        let Pairs { near, now: close, margins, X_ws, found, .. } = pairs;
        let is_heavy = |k: &u32| near[*k as usize].surfaces.as_ref().is_some_and(|surfaces| surfaces.is_heavy());
        let heavy = close.iter().any(is_heavy);
        let pool = self.pool.as_ref().filter(|_| close.len() >= PAIRS_FOR_THREADS || heavy);
        let room = if pool.is_some() { close.len() } else { 1 };
        if found.len() < room {
            found.resize_with(room, Found::default);
        }
        let Some(pool) = pool else { return false };
        let find = |(found, k): (&mut Found, &u32)| self.find_contacts(now, &near[*k as usize], margins, X_ws, found);
        if heavy {
            pool.install(|| found[..room].par_iter_mut().zip(close.par_iter()).for_each(find));
        } else {
            let lots = found[..room].chunks_mut(PAIRS_PER_LOT).zip(close.chunks(PAIRS_PER_LOT));
            share(pool, lots, |(found, pairs)| found.iter_mut().zip(pairs).for_each(find));
        }
        true
    }

    /// Where the elements of a pair touch or soon may, from the instant `now` of the step on [s].
    fn find_contacts(&self, now: f64, near: &Near, margins: &[f64], X_ws: &[Pose], found: &mut Found) {
        let (e1, e2) = near.pair;
        let margin = margins[e1 as usize] + margins[e2 as usize];
        let X_ws = [X_ws[e1 as usize], X_ws[e2 as usize]];
        if let Some(surfaces) = &near.surfaces {
            return self.find_columns(now, near, surfaces, X_ws, margin, found);
        }
        found.touches = self.model.manifold(near.pair, &X_ws, margin, near.points, &mut found.manifold);
        if found.touches && self.settings.merge_distance > 0.0 {
            merge(&mut found.manifold, self.settings.merge_distance);
        }
        if found.touches && now == 0.0 {
            self.slide_onto(near, X_ws, margin, &mut found.manifold);
            found.touches = !self.passes_by(near, X_ws, &found.manifold);
        }
    }

    /// More contact points than the settings allow end the run.
    fn count_contacts(&mut self, touches: &[Touch]) {
        let Some(most) = self.settings.max_contacts.filter(|most| touches.len() > *most) else { return };
        if self.failure.is_none() {
            let [first, second] = touches[most].bodies.map(|b| self.model.bodies[b].name.clone());
            let what = format!(
                "is at contact point {} of {} in this step, on \"{second}\"; `max_contacts` of [realtime] is {most}. help: allow more, fewer `points` per \
                 pair, or a `merge_distance`",
                most + 1,
                touches.len()
            );
            self.failure = Some(Failure { time: self.state.time, kind: "body", name: first, what });
        }
    }

    /// The larger of the accelerations of gravity on two bodies of which at least one is free [m/s^2].
    fn gravity_on(&self, bodies: [usize; 2]) -> f64 {
        let free = bodies.into_iter().filter(|&b| self.is_free(b));
        free.map(|b| self.model.gravity_at(self.paths[b].kin.p).length()).fold(0.0, f64::max)
    }

    /// What the contact points of a pair remember.
    fn memories_of(&self, pair: (u32, u32)) -> &[Memory] {
        let list = &self.state.contacts;
        let first = list.partition_point(|m| m.pair < pair);
        let count = list[first..].partition_point(|m| m.pair == pair);
        &list[first..first + count]
    }

    /// Derivative of a point's relative velocity (2 minus 1) along `axis` by the motion of side k, about its centre of
    /// mass.
    pub(super) fn lever(&self, body: usize, point: Vec3, axis: Vec3, side: usize) -> Six {
        let sign = if side == 0 { -1.0 } else { 1.0 };
        Six::new((point - self.paths[body].kin.p).cross(axis), axis) * sign
    }
}

/// Contact points nearer to each other than this [m] become the deepest of them, with the area of all.
fn merge(found: &mut Manifold, distance: f64) {
    let mut kept = 0;
    for k in 0..found.count {
        let point = found.points[k];
        let near = found.points[..kept].iter_mut().find(|other| (other.point - point.point).length() < distance);
        match near {
            Some(other) => {
                let area = other.area + point.area;
                if point.gap < other.gap {
                    *other = point;
                }
                other.area = area;
            }
            None => {
                found.points[kept] = point;
                kept += 1;
            }
        }
    }
    found.count = kept;
}
