//! Columns of the foundation for solvers that carry one row per point: where surfaces touch, will touch, or would if they fell
//! (docs/theory/realtime.md, section 4).

use super::{Kind, Room, SurfacePair, with_room};
use crate::joint::Six;
use crate::kinematics::Principal;
use std::cell::OnceCell;
use tippe_geometry::space::any_orthogonal;
use tippe_geometry::{Aabb, Mat3, Pose, PressurePoint, Quat, SurfaceWork, Vec3, half_space_points};

/// Columns push one way where their sum is at least this share of their sizes [-].
const ONE_WAY: f64 = 0.5;
/// Columns that lean farther than this from the shortest way of two surfaces apart are none of it: cosine [-].
const ALONG: f64 = 0.1;
/// Columns of a region that push less together than the first do not face one way, faces that push more than the second do: shares of their sizes [-].
const FACING: [f64; 2] = [0.95, 0.99];
/// Columns of one region, about, that a solver with a row for each of them gets.
const MANY: usize = 64;
/// Columns of one region, about, that wait beside those.
const FEW: usize = 24;
/// Of those that wait so many are nearest and stay as they are: what is round stands on its lowest facet, not on a mean of many.
const NEAREST: usize = 16;
/// Up to this many columns the corners of a patch are looked for ...
const COARSE: usize = 64;
/// ... if they face one way: cosine [-].
const ONE_PLANE: f64 = 1.0 - 1e-6;
/// Directions in which corners are looked for.
const OUTERMOST: usize = 8;
/// Section of those at the corners as a share of that of all [-].
const BRACED: f64 = 0.01;
/// Columns with less than this share of the largest section are those of upright faces: they tell no plane [-].
const UPRIGHT: f64 = 1e-3;
/// Surfaces that are apart are pushed into each other by at least, and at most, these shares of the size to find where they will touch [-].
const PUSHED: [f64; 2] = [1e-6, 1e-2];

/// Surfaces that overlap by less than this share of the size at the end of a step in which they move along each other lie flush [-].
const FLUSH: f64 = 1e-3;

/// Energy of an edge at the depth that it has in an impact, mean over the impulse, over the largest: (B(4/3, 1/2)/2)^3 [-].
const MEAN: f64 = 0.595;
/// Looks at surfaces that come near, at most, until they meet.
const MEETINGS: usize = 8;

/// How a solid moves in a step.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Its shape at the beginning.
    pub X_ws: Pose,
    /// Its centre of mass at the beginning [m].
    pub centre: Vec3,
    /// Turn [rad] and shift [m] of the centre of mass so far ...
    pub past: Six,
    /// ... and what is left of the step [s], in which its velocity stays.
    pub rest: f64,
    /// How it turns by itself, of a body whose angular velocity does not stay: its orientation now.
    pub tumbling: Option<(Principal, Quat)>,
    /// What it would fall if nothing held it [m].
    pub fall: Vec3,
    /// Angular velocity [rad/s] and velocity [m/s].
    pub rate: Six,
    /// Inverse mass [1/kg] and, in the world, inverse moments of inertia [1/(kg m^2)]; zero if it does not give way to forces.
    pub inverse: (f64, Mat3),
}

impl Path {
    /// Turn [rad] and shift [m] of the centre of mass after `time` [s] from now.
    fn moved(&self, time: f64) -> Six {
        self.past + self.rate * time
    }

    /// The shape then.
    fn at(&self, time: f64) -> Pose {
        let moved = self.moved(time);
        if moved == Six::ZERO {
            return self.X_ws;
        }
        let so_far = Quat::from_scaled_axis(self.past.angular);
        let turn = match &self.tumbling {
            Some((principal, q)) => principal.turn(*q, self.rate.angular, time).0 * q.conjugate() * so_far,
            None => Quat::from_scaled_axis(self.rate.angular * time) * so_far,
        };
        let arm = self.X_ws.position - self.centre;
        Pose::new(turn * self.X_ws.rotation, self.centre + moved.linear + turn * arm)
    }

    /// Shift of a point until then, seen from the beginning [m].
    fn shift(&self, point: Vec3, time: f64) -> Vec3 {
        let moved = self.moved(time);
        moved.linear + moved.angular.cross(point - self.centre)
    }

    /// Change of the velocity of a point that is there then, along a unit normal, by an impulse along it [1/kg].
    fn yields(&self, point: Vec3, n: Vec3, time: f64) -> f64 {
        let turn = (point - self.centre - self.moved(time).linear).cross(n);
        self.inverse.0 + turn.dot(self.inverse.1 * turn)
    }

    /// Velocity of a point that is there then [m/s].
    fn velocity(&self, point: Vec3, time: f64) -> Vec3 {
        self.rate.linear + self.rate.angular.cross(point - self.centre - self.moved(time).linear)
    }
}

/// When surfaces that meet strike.
#[derive(Clone, Copy, Debug)]
pub struct Blow {
    /// Softness of the layer, 1/k = L/E* [m/Pa].
    pub softness: f64,
    /// What comes slower than this does not [m/s].
    pub slow: f64,
}

/// A column of the foundation that stands between two surfaces, for solvers that carry one row per point.
#[derive(Clone, Copy, Debug)]
pub struct SurfacePoint {
    /// Place [m].
    pub point: Vec3,
    /// Unit direction of the column, from 1 to 2.
    pub normal: Vec3,
    /// Gap there [m].
    pub gap: f64,
    /// Section [m^2].
    pub area: f64,
    /// Connected region.
    pub region: u32,
}

/// Gap or minus the largest depth [m], normal, and a point on each.
type Nearest = (f64, Vec3, Vec3, Vec3);

/// Two surfaces at an instant; what is asked of them is looked up once.
struct Instant {
    X: [Pose; 2],
    depth: OnceCell<f64>,
    nearest: OnceCell<Nearest>,
}

impl Instant {
    fn new(X: [Pose; 2]) -> Instant {
        Instant { X, depth: OnceCell::new(), nearest: OnceCell::new() }
    }
}

/// Two surfaces in a step.
pub struct Encounter<'a> {
    pair: &'a SurfacePair,
    paths: [Path; 2],
    /// Whether they touched before.
    touching: bool,
    /// What is farther apart is not looked at [m].
    margin: f64,
    blow: Blow,
    /// At the beginning of the step, now, and at its end.
    start: Instant,
    now: Instant,
    end: Instant,
}

impl SurfacePair {
    /// The pair in a step along `paths`.
    pub fn encounter(&self, paths: [Path; 2], touching: bool, margin: f64, blow: Blow) -> Encounter<'_> {
        let at = |time: f64| Instant::new([paths[0].at(time), paths[1].at(time)]);
        let start = Instant::new([paths[0].X_ws, paths[1].X_ws]);
        Encounter { pair: self, touching, margin, blow, start, now: at(0.0), end: at(paths[0].rest), paths }
    }
}

impl Encounter<'_> {
    /// Largest depth [m].
    fn depth(&self, at: &Instant) -> f64 {
        *at.depth.get_or_init(|| match at.nearest.get() {
            Some((gap, ..)) => (-gap).max(0.0),
            None => with_room(|room| self.pair.press_in(&at.X, &mut room.surfaces).depth),
        })
    }

    fn nearest(&self, at: &Instant) -> Nearest {
        *at.nearest.get_or_init(|| match at.depth.get() {
            Some(0.0) => self.pair.apart(&at.X, self.margin),
            _ => self.pair.nearest(&at.X, self.margin),
        })
    }

    /// Now, which in most steps is their beginning.
    fn now(&self) -> &Instant {
        if self.now.X == self.start.X { &self.start } else { &self.now }
    }

    /// True of surfaces whose depth is too small to tell a direction, which that of those `down` does.
    fn only_touches(&self, down: &Instant) -> bool {
        let depth = self.depth(&self.start);
        depth > 0.0 && depth < PUSHED[0] * self.pair.size && self.depth(down) > depth
    }

    /// Columns of the foundation for the step: of surfaces that touch, where they are or, `at_end`, where they will be, and those that wait where they
    /// would fall to; of others where they overlap or, apart by less than the margin, will first, at the depth of a blow, or, `at_end`, where they will overlap.
    /// Gaps are those of the step's beginning, seen from there. The sum of the columns is the foundation and, for no new one has a depth yet, they
    /// give its derivative. Returns how deep they are where one has passed the middle of the other [m].
    pub fn columns(&self, at_end: bool, out: &mut Vec<SurfacePoint>) -> Option<f64> {
        out.clear();
        let Encounter { pair, paths, touching, margin, blow, start, end, .. } = self;
        let (touching, margin) = (*touching, *margin);
        let mut beyond = None;
        let rest = paths[0].rest;
        if pair.far(&start.X).is_some_and(|distance| distance > pair.bound + margin) {
            return None;
        }
        let fall = self.fall();
        let fallen = |X: &[Pose; 2]| [X[0], Pose::new(X[1].rotation, X[1].position + fall)];
        let down = Instant::new(fallen(&end.X));
        let on_ground = matches!(pair.kind, Kind::Ground { .. });
        let falls = !touching && !on_ground && fall != Vec3::ZERO;
        let just = falls && self.only_touches(&down);
        let meeting = if touching || just { None } else { self.meeting() };
        let flush = meeting.is_some() && self.slides_onto();
        let meeting = meeting.filter(|_| !flush);
        // what comes slowly waits where it would fall to: an edge or a corner that only touches has no area yet
        let just = just || falls && meeting.is_none() && self.depth(start) == 0.0 && self.depth(&down) > 0.0;
        // depths below a half-space are linear: points that will be nearest are there from the beginning, whatever turns in between
        // what is nearest comes slowly: if they get deeper than it explains, something else does not
        let late =
            || !just && !on_ground && meeting.is_none() && self.depth(end) > self.depth(self.now()) + blow.slow * rest;
        let there = at_end && (touching || late()) || just || flush || !touching && on_ground;
        let time = meeting.or(there.then_some(rest));
        let then = meeting.map(|time| Instant::new(paths.map(|p| p.at(time))));
        let at = then.as_ref().unwrap_or(if there { end } else { start });
        let X = at.X;
        // where they were brought together to stand
        let mut met = None;
        with_room(|Room { surfaces: work, .. }| {
            if let Some(time) = meeting {
                met = self.stand_ahead(at, time, true, work, out);
                return;
            }
            if let Kind::Ground { ground, surface, .. } = &pair.kind {
                half_space_points(&X[*ground], surface, &X[1 - ground], [f64::NEG_INFINITY, margin], work);
                return pair.stand(work, None, out);
            }
            if time.is_some() && fall != Vec3::ZERO && pair.press_in(&fallen(&X), work).depth > 0.0 {
                pair.stand(work, None, out);
                // sideways lies an edge that it fell past, not what holds it
                out.retain(|c| c.normal.dot(fall) < -ALONG * fall.length());
                for c in out.iter_mut() {
                    c.point -= 0.5 * fall;
                    c.gap -= c.normal.dot(fall);
                }
                let against = |n: Vec3| n.dot(fall) * pair.sense() < -ALONG * fall.length();
                let holds = |p: &PressurePoint| against(p.axis) && p.normal.dot(p.axis) > ALONG;
                carry_regions(work.points(), pair.sense(), true, holds, out);
            }
            if just {
                return;
            }
            let sum = (at.depth.get() != Some(&0.0)).then(|| pair.press_in(&X, work)).filter(|sum| sum.depth > 0.0);
            beyond = sum.filter(|sum| pair.is_beyond(sum)).map(|sum| sum.depth);
            if sum.is_some() {
                // in their place stand those that carry
                out.retain_mut(|c| {
                    c.region = u32::MAX;
                    c.gap > 0.0
                });
                pair.stand(work, Some(touching), out);
            } else if !out.is_empty() {
                out.iter_mut().for_each(|c| c.gap = c.gap.max(0.0));
            } else {
                met = self.stand_ahead(at, time.unwrap_or(0.0), false, work, out);
            }
        });
        if !on_ground && out.len() <= COARSE {
            let down = fall != Vec3::ZERO && time.is_some();
            // down the slope it does not fall
            let n = out.iter().map(|c| c.normal * c.area).sum::<Vec3>().normalize_or_zero();
            let sunk = [X[0], Pose::new(X[1].rotation, X[1].position + n * n.dot(fall))];
            pair.brace(&if down { sunk } else { X }, met.filter(|_| !down), out);
        }
        if just {
            // columns stand inside their triangles: what is round or pointed would fall until the first of them touches
            let first = out.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
            let late = (first - self.nearest(at).0.max(0.0)).max(0.0);
            out.iter_mut().for_each(|c| c.gap -= late);
        }
        join_columns(out);
        if let Some(time) = time {
            // as far from the centre as they will be: a force ahead of what rolls would hold it
            let free = || paths.iter().filter(|path| path.inverse.0 > 0.0);
            let carried = free().map(|path| path.moved(time).linear).sum::<Vec3>() / free().count().max(1) as f64;
            for c in out.iter_mut() {
                c.point -= carried;
                c.gap -= c.normal.dot(paths[1].shift(c.point, time) - paths[0].shift(c.point, time));
            }
        }
        beyond
    }

    /// What 2 would fall towards 1 if nothing held it [m]: of two free bodies that touch, or lie where they only just do, either may be held, so it is along the
    /// shortest way.
    fn fall(&self) -> Vec3 {
        let Encounter { pair, paths, touching, margin, blow, .. } = self;
        if !paths.iter().all(|p| p.inverse.0 > 0.0) {
            return paths[1].fall - paths[0].fall;
        }
        let apart = paths[1].rate - paths[0].rate;
        if !touching && apart.linear.length() + apart.angular.length() * pair.size > blow.slow {
            return Vec3::ZERO;
        }
        let near = if *touching { *margin } else { PUSHED[0] * pair.size };
        let (gap, n, ..) = self.nearest(&self.end);
        if gap < near { -n * paths[1].fall.length() } else { Vec3::ZERO }
    }

    /// True of surfaces that come near and at the end of the step only just touch, while they move along each other: what slides over a flush seam does not strike
    /// the edge behind it.
    fn slides_onto(&self) -> bool {
        let Encounter { pair, paths, .. } = self;
        let rest = paths[0].rest;
        let tolerance = FLUSH * pair.size;
        let (gap, n, p1, p2) = self.nearest(&self.end);
        let middle = 0.5 * (p1 + p2);
        let apart = n.dot(paths[1].velocity(middle, rest) - paths[0].velocity(middle, rest));
        let (_, before, ..) = self.nearest(&self.start);
        gap.abs() < tolerance && rest * apart.abs() < tolerance && n.dot(before) > -0.5
    }

    /// When surfaces that are apart by less than the margin and come faster than slowly meet, from now, or the step's rest if they do not [s]; none
    /// of those that overlap now. Those that do by rounding met a moment ago.
    fn meeting(&self) -> Option<f64> {
        let Encounter { pair, paths, margin, blow, .. } = self;
        let rest = paths[0].rest;
        let least = PUSHED[0] * pair.size;
        let mut time = 0.0;
        for _ in 0..MEETINGS {
            let (gap, n, p1, p2) = match time == 0.0 {
                true => self.nearest(self.now()),
                false => pair.nearest(&paths.map(|p| p.at(time)), *margin),
            };
            let middle = 0.5 * (p1 + p2);
            let closing = n.dot(paths[0].velocity(middle, time) - paths[1].velocity(middle, time));
            if gap >= *margin || time == 0.0 && (gap < -least || closing <= blow.slow) {
                return None;
            }
            if closing <= 0.0 || gap >= 0.0 && (gap < least || time == rest) {
                break;
            }
            // short of it, for what only touches has no direction
            time = (time + (gap - 0.5 * least) / closing).min(rest);
        }
        Some(time)
    }

    /// Columns of surfaces that are apart where they meet, pushed together along the shortest way, if one `strikes` the other until they have the energy that an
    /// impact has in the mean. Returns how far apart they are [m] and which way.
    fn stand_ahead(
        &self,
        at: &Instant,
        time: f64,
        strikes: bool,
        work: &mut SurfaceWork,
        out: &mut Vec<SurfacePoint>,
    ) -> Option<(f64, Vec3)> {
        let Encounter { pair, paths, margin, .. } = self;
        let X = &at.X;
        let known = at.nearest.get().copied().filter(|(gap, ..)| *gap >= 0.0);
        let (gap, n, p1, p2) = known.unwrap_or_else(|| pair.apart(X, *margin));
        if gap >= *margin {
            return None;
        }
        let middle = 0.5 * (p1 + p2);
        let closing = n.dot(paths[0].velocity(middle, time) - paths[1].velocity(middle, time));
        let yields: f64 = paths.iter().map(|p| p.yields(middle, n, time)).sum();
        let blow = Some(self.blow).filter(|blow| strikes && yields > 0.0 && closing > blow.slow);
        let energy = blow.map_or(0.0, |blow| MEAN * blow.softness * 0.5 * closing * closing / yields);
        let pressed = |push: f64, work: &mut SurfaceWork| {
            let shift = n * (gap + push * pair.size);
            pair.press_in(&[X[0], Pose::new(X[1].rotation, X[1].position - shift)], work)
        };
        let (mut push, mut before) = (PUSHED[0], 0.0);
        let most = loop {
            let f = pressed(push, work);
            if (f.energy >= energy && f.depth > 0.0) || push >= PUSHED[1] {
                break f.energy;
            }
            before = f.energy;
            push = (4.0 * push).min(PUSHED[1]);
        };
        // the energy is a power of the depth, about: faces have 2, edges 3, corners 4
        if 0.0 < before && before < energy && energy < most {
            push *= libm::pow(energy / most, libm::log(4.0) / libm::log(most / before));
            pressed(push, work);
        }
        let (sense, shift) = (pair.sense(), n * (gap + push * pair.size));
        // as they part along n the depth falls by axis.n
        let facing = |p: &PressurePoint| {
            p.axis.dot(n) * sense > ALONG && p.area * p.normal.dot(n) * sense > 0.0 && p.depth > 0.0
        };
        let mut depths = vec![0.0; work.regions().len()];
        for p in work.points().iter().filter(|p| facing(p)) {
            if let Some(depth) = depths.get_mut(p.region as usize) {
                *depth = f64::max(*depth, p.depth / (p.axis.dot(n) * sense));
            }
        }
        let deepest = depths.iter().copied().fold(0.0, f64::max);
        // the plane of a face goes on beyond its edge, where nothing is: what is still apart meets along the shortest way. In a blow columns of a region
        // begin together, and push as they will where it is deepest: which of them lies nearest to an edge is a matter of how the patch is cut
        for p in work.points().iter().filter(|p| facing(p)) {
            let Some(depth) = depths.get(p.region as usize).map(|d| push * pair.size * d / deepest) else { continue };
            let area = p.area * p.normal.dot(n) * sense;
            let own = p.depth / (p.axis.dot(n) * sense);
            let (gap, area) = match blow {
                Some(_) => (shift.length() - depth, area * p.depth / depth),
                None => ((shift.length() - own).max(gap), area),
            };
            out.push(SurfacePoint { point: p.point + 0.5 * shift, normal: n, gap, area, region: p.region });
        }
        if let Kind::Ground { ground, surface, .. } = &pair.kind {
            // what lies above the blow waits
            let first = out.len();
            half_space_points(&X[*ground], surface, &X[1 - ground], [shift.length(), *margin], work);
            pair.stand(work, None, out);
            out[first..].iter_mut().for_each(|c| c.region = u32::MAX);
        }
        Some((gap, n))
    }
}

impl SurfacePair {
    /// Columns stand inside their triangles: where they are few and face one way, so that their gaps lie in a plane, small ones stand at the outermost corners of
    /// the patch too, which would carry a load beside them. `met`: how far apart they are [m] and which way, where that is known.
    fn brace(&self, X: &[Pose; 2], met: Option<(f64, Vec3)>, out: &mut Vec<SurfacePoint>) {
        let largest = out.iter().map(|c| c.area).fold(0.0, f64::max);
        let lies = |c: &&SurfacePoint| c.area > UPRIGHT * largest;
        let area: f64 = out.iter().filter(lies).map(|c| c.area).sum();
        let mean =
            |of: &dyn Fn(&SurfacePoint) -> Vec3| out.iter().filter(lies).map(|c| of(c) * (c.area / area)).sum::<Vec3>();
        let (Some(n), middle) = (mean(&|c| c.normal).try_normalize(), mean(&|c| c.point)) else { return };
        if out.iter().filter(lies).any(|c| c.normal.dot(n) < ONE_PLANE) {
            return;
        }
        let t1 = any_orthogonal(n);
        let axes = [t1, n.cross(t1)];
        let at = |p: Vec3| axes.map(|t| t.dot(p - middle));
        // gap = g + s . r by least squares
        let (mut xx, mut xy, mut yy, mut g, mut sums) = (0.0, 0.0, 0.0, 0.0, [0.0; 2]);
        for c in out.iter().filter(lies) {
            let ([x, y], share) = (at(c.point), c.area / area);
            (xx, xy, yy) = (xx + share * x * x, xy + share * x * y, yy + share * y * y);
            g += share * c.gap;
            sums = [sums[0] + share * c.gap * x, sums[1] + share * c.gap * y];
        }
        let det = xx * yy - xy * xy;
        if det.is_nan() || det <= 1e-9 * (xx + yy) * (xx + yy) {
            return;
        }
        let s = [(yy * sums[0] - xy * sums[1]) / det, (xx * sums[1] - xy * sums[0]) / det];
        let gap = |[x, y]: [f64; 2]| g + s[0] * x + s[1] * y;
        let off =
            out.iter().filter(lies).map(|c| c.area / area * (c.gap - gap(at(c.point))).powi(2)).sum::<f64>().sqrt();
        let slope = (s[0] * s[0] + s[1] * s[1]).sqrt();
        if off > PUSHED[0] * self.size + 1e-2 * slope * (xx + yy).sqrt() {
            return;
        }
        let patch = match met {
            Some((gap, n)) => self.patch_met(X, gap, n),
            None => self.patch(X, true),
        };
        let faces = patch.iter().filter(|p| p.normal.dot(n).abs() > ONE_PLANE);
        let corners: Vec<[f64; 2]> = faces.flat_map(|p| p.rings.iter().flatten()).map(|c| at(*c)).collect();
        let mut outermost: Vec<[f64; 2]> = Vec::with_capacity(OUTERMOST);
        for k in 0..OUTERMOST {
            let (sin, cos) = libm::sincos(2.0 * std::f64::consts::PI * (k as f64 + 0.5) / OUTERMOST as f64);
            let along = |c: &[f64; 2]| cos * c[0] + sin * c[1];
            if let Some(c) = corners.iter().copied().max_by(|a, b| along(a).total_cmp(&along(b)))
                && !outermost.contains(&c)
            {
                outermost.push(c);
            }
        }
        let (region, each) = (out[0].region, BRACED * area / outermost.len() as f64);
        out.extend(outermost.into_iter().map(|c| SurfacePoint {
            point: middle + axes[0] * c[0] + axes[1] * c[1],
            normal: n,
            gap: gap(c),
            area: each,
            region,
        }));
    }

    /// Appends the columns of a foundation; with `carry`, as [`carry_regions`] of surfaces that touch already or do not.
    fn stand(&self, work: &SurfaceWork, carry: Option<bool>, out: &mut Vec<SurfacePoint>) {
        let (sense, first, column) = (self.sense(), out.len(), columns_of(work.points()));
        for p in work.points() {
            let (axis, area) = column(p);
            if area > 0.0 {
                let (normal, gap) = (axis * sense, -p.depth);
                out.push(SurfacePoint { point: p.point, normal, gap, area, region: p.region });
            }
        }
        if let Some(touching) = carry {
            carry_regions(work.points(), sense, touching, |_| true, &mut out[first..]);
        }
    }
}

/// Direction and section of the column of a point: along the depth, or along its own normal in a region whose face lies on an edge or a corner, where depths are
/// measured to all the faces beside it, which would each hold what slides over it.
fn columns_of(points: &[PressurePoint]) -> impl Fn(&PressurePoint) -> (Vec3, f64) {
    let along_depth = |p: &PressurePoint| (p.axis, p.area * p.normal.dot(p.axis));
    let count = points.iter().map(|p| p.region).filter(|r| *r != u32::MAX).max().map_or(0, |r| r as usize + 1);
    let mut sums = vec![[(Vec3::ZERO, 0.0); 2]; count];
    for p in points.iter().filter(|p| p.depth > 0.0) {
        if let Some(both) = sums.get_mut(p.region as usize) {
            // faces across the depth carry nothing
            let (axis, section) = along_depth(p);
            for ((pushed, all), way) in both.iter_mut().zip([axis, p.normal]) {
                *pushed += way * (section.max(0.0) * p.depth);
                *all += section.max(0.0) * p.depth;
            }
        }
    }
    let [least, most] = FACING;
    let lies_on_edge =
        |[depths, face]: &[(Vec3, f64); 2]| depths.0.length() < least * depths.1 && face.0.length() > most * face.1;
    let faces: Vec<bool> = sums.iter().map(lies_on_edge).collect();
    move |p| if faces.get(p.region as usize) == Some(&true) { (p.normal, p.area) } else { along_depth(p) }
}

/// Columns end early on the medial surface of a sharp corner: those of a region are turned and widened to carry the force of its foundation,
/// where they push one way; only what `holds` counts. Those of a new contact all push along that force: the faces beside a corner would hold what slides past it.
fn carry_regions(
    points: &[PressurePoint],
    sense: f64,
    touching: bool,
    holds: impl Fn(&PressurePoint) -> bool,
    columns: &mut [SurfacePoint],
) {
    let count = points.iter().map(|p| p.region).filter(|r| *r != u32::MAX).max().map_or(0, |r| r as usize + 1);
    let mut sums = vec![(Vec3::ZERO, Vec3::ZERO, 0.0); count];
    let column = columns_of(points);
    for p in points.iter().filter(|p| holds(p)) {
        if let Some((force, pushed, all)) = sums.get_mut(p.region as usize) {
            let (axis, area) = column(p);
            let push = area.max(0.0) * p.depth.max(0.0);
            *force += p.normal * (sense * p.area * p.depth);
            *pushed += axis * (sense * push);
            *all += push;
        }
    }
    let corrections: Vec<Option<(Quat, Vec3, f64)>> = sums
        .iter()
        .map(|(force, pushed, all)| {
            let one_way = pushed.length() > ONE_WAY * all && force.dot(*pushed) > ONE_WAY * all * force.length();
            let factor = (force.length() / pushed.length()).clamp(0.5, 2.0);
            let n = force.normalize();
            one_way.then(|| (Quat::from_rotation_arc(pushed.normalize(), n), n, factor))
        })
        .collect();
    for c in columns {
        if let Some(Some((turn, n, factor))) = corrections.get(c.region as usize) {
            c.normal = if touching { *turn * c.normal } else { *n };
            c.area *= factor;
        }
    }
}

/// Where a region has more than `MANY` columns under load, or `FEW` beside them, those of one cell of a grid over them that face one way become one: of the
/// same area, force and moment; the `NEAREST` of those that wait do not.
fn join_columns(columns: &mut Vec<SurfacePoint>) {
    if columns.len() <= MANY {
        return;
    }
    let last = columns.iter().map(|c| c.region).filter(|r| *r != u32::MAX).max().unwrap_or(0) as usize + 1;
    let place = |c: &SurfacePoint| 2 * (c.region as usize).min(last) + usize::from(c.gap > 0.0);
    let mut bounds = vec![(Aabb::EMPTY, 0_usize); 2 * last + 2];
    for c in columns.iter() {
        let (b, count) = &mut bounds[place(c)];
        *b = b.union(&Aabb { min: c.point, max: c.point });
        *count += 1;
    }
    // those beside what already carries only wait
    let most = |c: &SurfacePoint| if c.gap > 0.0 && bounds[place(c) - 1].1 > 0 { FEW } else { MANY };
    let key = |c: &SurfacePoint| {
        let ((b, count), most) = (&bounds[place(c)], most(c));
        let size = b.max - b.min;
        let (long, short) = (size.max_element(), size.min_element());
        let cell = (long * (size.x + size.y + size.z - long - short).max(long / most as f64) / most as f64).sqrt();
        let at = if *count > most && cell > 0.0 { ((c.point - b.min) / cell).floor() } else { Vec3::ZERO };
        // friction acts in the plane of its face: two flanks are not one floor
        let faces = [c.normal.x, c.normal.y, c.normal.z].map(|n| (2.0 * n).round() as i8);
        (c.region, c.gap > 0.0, faces, [at.x as u32, at.y as u32, at.z as u32])
    };
    let few = |c: &SurfacePoint| bounds[place(c)].1 <= most(c);
    let mut joined: Vec<SurfacePoint> = Vec::with_capacity(columns.len());
    let mut gaps: Vec<f64> = Vec::new();
    for waiting in (1..bounds.len()).step_by(2).filter(|&k| bounds[k].1 > NEAREST) {
        gaps.clear();
        gaps.extend(columns.iter().filter(|c| place(c) == waiting).map(|c| c.gap));
        let (_, &mut beyond, _) = gaps.select_nth_unstable_by(NEAREST, f64::total_cmp);
        // of a face that lies level all are as near
        let nearest = |c: &SurfacePoint| place(c) == waiting && c.gap < beyond && !few(c);
        joined.extend(columns.iter().filter(|c| nearest(c)));
        columns.retain(|c| !nearest(c));
    }
    columns.sort_by_cached_key(key);
    for group in columns.chunk_by(|a, b| key(a) == key(b)) {
        if few(&group[0]) {
            joined.extend_from_slice(group);
            continue;
        }
        let area: f64 = group.iter().map(|c| c.area).sum();
        let load: f64 = group.iter().map(|c| (-c.gap).max(0.0) * c.area).sum();
        let weight = |c: &SurfacePoint| if load > 0.0 { (-c.gap).max(0.0) * c.area } else { c.area };
        let total: f64 = group.iter().map(weight).sum();
        let (mut normal, mut point) = (Vec3::ZERO, Vec3::ZERO);
        for c in group {
            normal += c.normal * (weight(c) / total);
            point += c.point * (weight(c) / total);
        }
        // those that bend around a curve push less together
        let length = normal.length();
        if !(total > 0.0 && length > 0.0) {
            joined.extend_from_slice(group);
            continue;
        }
        let mean = group.iter().map(|c| c.gap * c.area).sum::<f64>() / area;
        joined.push(SurfacePoint {
            point,
            normal: normal / length,
            gap: mean,
            area: area * length,
            region: group[0].region,
        });
    }
    *columns = joined;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns at the rim of a patch have no depth: they count for area, and pull nobody towards them.
    #[test]
    fn joined_columns_push_where_they_did() {
        let column = |k: usize| {
            let (x, y) = ((k % 20) as f64 - 9.5, (k / 20) as f64);
            let gap = f64::min(-1e-3 * (1.0 - x * x / 81.0), 0.0);
            SurfacePoint { point: Vec3::new(x, y, 0.0), normal: Vec3::Z, gap, area: 1.0 + 0.01 * x, region: 0 }
        };
        let mut columns: Vec<SurfacePoint> = (0..200).map(column).collect();
        let sums = |all: &[SurfacePoint]| {
            let load: f64 = all.iter().map(|c| -c.gap * c.area).sum();
            let moment: Vec3 = all.iter().map(|c| c.point * (-c.gap * c.area)).sum();
            (load, moment / load, all.iter().map(|c| c.area).sum::<f64>())
        };
        let (load, at, area) = sums(&columns);
        join_columns(&mut columns);
        let (joined_load, joined_at, joined_area) = sums(&columns);
        assert!(columns.len() < 100, "{}", columns.len());
        assert!((joined_load / load - 1.0).abs() < 1e-12 && (joined_area / area - 1.0).abs() < 1e-12);
        assert!((joined_at - at).length() < 1e-12, "{joined_at} {at}");
    }

    /// What is round stands where it is lowest; a level face of many columns waits with few.
    #[test]
    fn the_nearest_of_those_that_wait_are_not_joined() {
        let wheel = |k: usize, curve: f64| {
            let x = 1e-3 * (k as f64 - 149.5);
            SurfacePoint {
                point: Vec3::new(x, 0.0, 0.0),
                normal: Vec3::Z,
                gap: 1e-6 + curve * x * x,
                area: 1e-6,
                region: 0,
            }
        };
        let after = |curve: f64| {
            let mut columns: Vec<SurfacePoint> = (0..300).map(|k| wheel(k, curve)).collect();
            join_columns(&mut columns);
            let least = columns.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
            (columns.len(), least, columns.iter().map(|c| c.area).sum::<f64>())
        };
        let (round, lowest, area) = after(5.0);
        assert!(round < 100 && (area / 300e-6 - 1.0).abs() < 1e-12, "{round} {area}");
        assert_eq!(lowest, wheel(149, 5.0).gap);
        assert!(after(0.0).0 <= MANY + 1);
    }
}
