//! Columns of the elastic foundation: the realtime clock carries one row per column between two surfaces that touch in
//! a step, or will, or would if the bodies fell (docs/theory/realtime.md, "Surfaces").

use crate::path::BodyPath;
use std::cell::OnceCell;
use tippe_geometry::space::any_orthogonal;
use tippe_geometry::{Aabb, Mat3, Pose, PressurePoint, Quat, SurfaceWork, Vec3, half_space_points};
use tippe_mechanics::contact::surfaces::{SurfacePair, with_surface_work};
use tippe_mechanics::joint::Six;

/// Least sum of the pushes of a region's columns over the sum of their sizes for the columns to be turned along the
/// force of their foundation [-]: where they push against each other, as around a peg, their sum has no direction.
const ALIGNMENT_MIN: f64 = 0.5;
/// Least and largest factor by which the columns of a region are widened to carry the force of its foundation [-].
const WIDENING: [f64; 2] = [0.5, 2.0];
/// Least cosine between a column and the direction in which its surfaces part [-]. Columns that lean farther stand on
/// faces beside the one that carries, and would hold what slides past them.
const LEAN_COS_MIN: f64 = 0.1;
/// Cosine between the normals of the nearest points now and at the end of the step above which they are of the same
/// side [-]: 120 degrees apart they are of opposite faces.
const SAME_SIDE_COS: f64 = -0.5;
/// Shares of their sizes [-]: depths of a region that add up to less than the first, and face normals that add up to
/// more than the second, are those of a face that lies on an edge.
const FACE_ON_EDGE: [f64; 2] = [0.95, 0.99];
/// Columns per region that carry load, about: more are joined. The cost of a step grows with them.
const LOADED_COLUMNS: usize = 64;
/// Columns per region that wait beside those, about.
const WAITING_COLUMNS: usize = 24;
/// Of the columns that wait, as many as are nearest and not joined: a round body stands on its lowest facet, not on a
/// mean of many.
const NEAREST_COLUMNS: usize = 16;
/// Columns up to which more are put at the corners of the patch: with more, the outermost stand near the corners
/// anyway.
const BRACED_COLUMNS: usize = 64;
/// Least cosine between normals that lie in one plane [-].
const ONE_PLANE_COS: f64 = 1.0 - 1e-6;
/// Directions, evenly around, in which corners of a patch are looked for.
const CORNER_DIRECTIONS: usize = 8;
/// Section of the columns at the corners as a share of the section of all [-]: small enough to change no stiffness.
const CORNER_SECTION: f64 = 0.01;
/// Share of the largest section below which columns are those of upright faces and tell no plane [-].
const UPRIGHT_SECTION: f64 = 1e-3;
/// Shares of the size by which surfaces that are apart are pushed into each other, at least and at most, to find where
/// they will touch [-].
const PUSHED: [f64; 2] = [1e-6, 1e-2];
/// Factor between one push and the next [-].
const PUSH_FACTOR: f64 = 4.0;
/// Share of the size below which gap and approach at the end of a step make a seam flush [-].
const FLUSH: f64 = 1e-3;
/// Energy of an edge at the depth that it has in an impact, mean over the impulse, over the largest: (B(4/3, 1/2)/2)^3
/// [-].
const MEAN_ENERGY: f64 = 0.595;
/// Most Newton steps that find the instant at which two surfaces meet.
const MEETING_STEPS: usize = 8;

/// One of the two solids of an encounter.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Path of its body.
    pub path: &'a BodyPath,
    /// Pose of its shape at the beginning of the step.
    pub X_ws: Pose,
    /// By how much it would fall in the rest of the step if nothing held it [m].
    pub fall: Vec3,
    /// Inverse mass [1/kg] and, in the world, inverse moments of inertia [1/(kg m^2)]; zero if forces do not move it.
    pub inverse: (f64, Mat3),
}

impl Side<'_> {
    /// True if forces move the solid.
    fn is_free(&self) -> bool {
        self.inverse.0 > 0.0
    }

    /// Change of the velocity of a point, `moved` after the beginning of the step, along a unit normal by an impulse
    /// along it [1/kg].
    fn yields(&self, point: Vec3, n: Vec3, moved: Six) -> f64 {
        let turn = (point - self.path.kin.p - moved.linear).cross(n);
        self.inverse.0 + turn.dot(self.inverse.1 * turn)
    }

    /// Velocity of a point that is there then [m/s].
    fn velocity(&self, point: Vec3, moved: Six) -> Vec3 {
        let kin = &self.path.kin;
        kin.v + kin.w.cross(point - kin.p - moved.linear)
    }
}

/// When surfaces that meet have an impact.
#[derive(Clone, Copy, Debug)]
pub struct ImpactThreshold {
    /// Softness of the layer, 1/k = L/E* [m/Pa].
    pub softness: f64,
    /// Closing speed up to which there is none [m/s].
    pub speed: f64,
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

/// Two surfaces in a step, from the instant `now` of its last impact on.
pub struct Encounter<'a> {
    pair: &'a SurfacePair,
    sides: [Side<'a>; 2],
    /// Instant of the last impact, and what is left of the step then [s].
    now: f64,
    rest: f64,
    /// Whether they touched before.
    touching: bool,
    /// Surfaces farther apart than this have no columns [m].
    margin: f64,
    threshold: ImpactThreshold,
    /// At the beginning of the step, now, and at its end.
    at_start: Instant,
    at_now: Instant,
    at_end: Instant,
}

/// Where the columns of a step are read.
struct Reading {
    /// The instant, from now [s], where it is not the beginning of the step.
    time: Option<f64>,
    /// True if surfaces that are apart meet then.
    meets: bool,
    /// True if they are read only where they would fall to: an edge or a corner that only touches has no area yet.
    fallen_only: bool,
}

impl<'a> Encounter<'a> {
    /// Surfaces of a pair from the instant `now` of a step of `h` on [s].
    pub fn new(
        pair: &'a SurfacePair,
        sides: [Side<'a>; 2],
        [now, h]: [f64; 2],
        touching: bool,
        margin: f64,
        threshold: ImpactThreshold,
    ) -> Encounter<'a> {
        let rest = h - now;
        let at = |time: f64| Instant::new(sides.map(|side| side.path.pose_after(side.X_ws, now, time)));
        let at_start = Instant::new(sides.map(|side| side.X_ws));
        Encounter { at_now: at(0.0), at_end: at(rest), pair, sides, now, rest, touching, margin, threshold, at_start }
    }

    /// {turn, shift} of both bodies from the beginning of the step until `time` from now.
    fn moved(&self, time: f64) -> [Six; 2] {
        self.sides.map(|side| side.path.displacement_after(self.now, time))
    }

    /// The surfaces `time` from now.
    fn at(&self, time: f64) -> Instant {
        Instant::new(self.sides.map(|side| side.path.pose_after(side.X_ws, self.now, time)))
    }

    /// Closing speed of a point of both along n, `time` from now [m/s].
    fn closing(&self, point: Vec3, n: Vec3, time: f64) -> f64 {
        let moved = self.moved(time);
        n.dot(self.sides[0].velocity(point, moved[0]) - self.sides[1].velocity(point, moved[1]))
    }

    /// Largest depth [m].
    fn depth(&self, at: &Instant) -> f64 {
        *at.depth.get_or_init(|| match at.nearest.get() {
            Some((gap, ..)) => (-gap).max(0.0),
            None => with_surface_work(|work| self.pair.press_in(&at.X, work).depth),
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
        if self.at_now.X == self.at_start.X { &self.at_start } else { &self.at_now }
    }

    /// True if the depth is too small to tell a direction, which the depth where they fall to (`down`) tells.
    fn only_touches(&self, down: &Instant) -> bool {
        let depth = self.depth(&self.at_start);
        depth > 0.0 && depth < PUSHED[0] * self.pair.size && self.depth(down) > depth
    }

    /// Columns of the foundation for the step. Surfaces that touch have them where they are or, `at_end`, where they
    /// will be, and columns that wait where the bodies would fall to; others have them where they overlap or, apart by
    /// less than the margin, will first, at the depth of an impact, or, `at_end`, where they will overlap. Gaps are
    /// those of the beginning of the step, seen from there. The sum of the columns is the foundation and, for no new
    /// one has a depth yet, they give its derivative. Returns how deep they are where one has passed the middle of the
    /// other [m].
    pub fn columns(&self, at_end: bool, out: &mut Vec<SurfacePoint>) -> Option<f64> {
        out.clear();
        if self.pair.is_apart_by(self.margin, &self.at_start.X) {
            return None;
        }
        let fall = self.fall();
        let reading = self.choose(at_end, fall);
        let then = reading.time.filter(|_| reading.meets).map(|time| self.at(time));
        let at = then.as_ref().unwrap_or(if reading.time.is_some() { &self.at_end } else { &self.at_start });
        let (met, beyond) = self.read(&reading, at, fall, out);
        if self.pair.half_space().is_none() && out.len() <= BRACED_COLUMNS {
            let down = fall != Vec3::ZERO && reading.time.is_some();
            // down the slope it does not fall
            let n = out.iter().map(|c| c.normal * c.area).sum::<Vec3>().normalize_or_zero();
            let X = if down { fallen(&at.X, n * n.dot(fall)) } else { at.X };
            brace(self.pair, &X, met.filter(|_| !down), out);
        }
        if reading.fallen_only {
            // columns stand inside their triangles: a round or pointed body would fall until the first of them touches
            let first = out.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
            let late = (first - self.nearest(at).0.max(0.0)).max(0.0);
            out.iter_mut().for_each(|c| c.gap -= late);
        }
        join_columns(out);
        if let Some(time) = reading.time {
            self.carry_back(time, out);
        }
        beyond
    }

    /// Where the columns of the step are read, if 2 would fall towards 1 by `fall` [m].
    fn choose(&self, at_end: bool, fall: Vec3) -> Reading {
        let Encounter { pair, touching, threshold, rest, at_start: start, at_end: end, .. } = self;
        let touching = *touching;
        let down = Instant::new(fallen(&end.X, fall));
        let on_ground = pair.half_space().is_some();
        let falls = !touching && !on_ground && fall != Vec3::ZERO;
        let fallen_only = falls && self.only_touches(&down);
        let meeting = if touching || fallen_only { None } else { self.meeting() };
        let flush = meeting.is_some() && self.slides_onto();
        let meeting = meeting.filter(|_| !flush);
        // surfaces that approach slowly are read where they fall to
        let fallen_only =
            fallen_only || falls && meeting.is_none() && self.depth(start) == 0.0 && self.depth(&down) > 0.0;
        // the nearest points approach slowly: if the surfaces get deeper than that explains, others approach faster
        let late = || {
            !fallen_only
                && !on_ground
                && meeting.is_none()
                && self.depth(end) > self.depth(self.now()) + threshold.speed * rest
        };
        // depths below a half-space are linear: the points that will be nearest are there from the beginning, whatever
        // turns in between
        let there = at_end && (touching || late()) || fallen_only || flush || !touching && on_ground;
        Reading { time: meeting.or(there.then_some(*rest)), meets: meeting.is_some(), fallen_only }
    }

    /// Columns of the surfaces as they are `at` the instant of a reading. Returns how far apart and which way surfaces
    /// are that were brought together to have columns, and how deep they are where one has passed the middle of the
    /// other [m].
    fn read(
        &self,
        reading: &Reading,
        at: &Instant,
        fall: Vec3,
        out: &mut Vec<SurfacePoint>,
    ) -> (Option<(f64, Vec3)>, Option<f64>) {
        let (pair, X) = (self.pair, &at.X);
        with_surface_work(|work| {
            if reading.meets {
                return (self.stand_ahead(at, reading.time.unwrap_or(0.0), true, work, out), None);
            }
            if let Some((ground, surface)) = pair.half_space() {
                half_space_points(&X[ground], surface, &X[1 - ground], [f64::NEG_INFINITY, self.margin], work);
                stand(pair, work, None, out);
                return (None, None);
            }
            if reading.time.is_some() && fall != Vec3::ZERO && pair.press_in(&fallen(X, fall), work).depth > 0.0 {
                stand_fallen(pair, fall, work, out);
            }
            if reading.fallen_only {
                return (None, None);
            }
            let sum = (at.depth.get() != Some(&0.0)).then(|| pair.press_in(X, work)).filter(|sum| sum.depth > 0.0);
            let beyond = sum.filter(|sum| pair.is_beyond(sum)).map(|sum| sum.depth);
            let mut met = None;
            if sum.is_some() {
                // columns that carry replace those of the fall that overlap
                out.retain_mut(|c| {
                    c.region = u32::MAX;
                    c.gap > 0.0
                });
                stand(pair, work, Some(self.touching), out);
            } else if !out.is_empty() {
                out.iter_mut().for_each(|c| c.gap = c.gap.max(0.0));
            } else {
                met = self.stand_ahead(at, reading.time.unwrap_or(0.0), false, work, out);
            }
            (met, beyond)
        })
    }

    /// Columns that were read `time` from now, as seen from the beginning of the step: as far from the centre of mass
    /// as they will be, for a force ahead of a body that rolls would hold it.
    fn carry_back(&self, time: f64, out: &mut [SurfacePoint]) {
        let moved = self.moved(time);
        let free = || moved.iter().zip(&self.sides).filter(|(_, side)| side.is_free());
        let carried = free().map(|(moved, _)| moved.linear).sum::<Vec3>() / free().count().max(1) as f64;
        let shift = |k: usize, point: Vec3| moved[k].linear + moved[k].angular.cross(point - self.sides[k].path.kin.p);
        for c in out.iter_mut() {
            c.point -= carried;
            c.gap -= c.normal.dot(shift(1, c.point) - shift(0, c.point));
        }
    }

    /// By how much 2 would fall towards 1 if nothing held it [m]. Of two free bodies that touch, or only just do at the
    /// end, either may be held: they fall along the shortest way.
    fn fall(&self) -> Vec3 {
        let Encounter { pair, sides, touching, margin, threshold, .. } = self;
        if !sides.iter().all(Side::is_free) {
            return sides[1].fall - sides[0].fall;
        }
        let apart = sides[1].path.velocity() - sides[0].path.velocity();
        if !touching && apart.linear.length() + apart.angular.length() * pair.size > threshold.speed {
            return Vec3::ZERO;
        }
        let near = if *touching { *margin } else { PUSHED[0] * pair.size };
        let (gap, n, ..) = self.nearest(&self.at_end);
        if gap < near { -n * sides[1].fall.length() } else { Vec3::ZERO }
    }

    /// True if surfaces that approach will only just touch at the end of the step, while they move along each other: a
    /// body that slides over a flush seam does not strike the edge behind it.
    fn slides_onto(&self) -> bool {
        let Encounter { pair, rest, .. } = self;
        let tolerance = FLUSH * pair.size;
        let (gap, n, p1, p2) = self.nearest(&self.at_end);
        let apart = self.closing(0.5 * (p1 + p2), n, *rest);
        let (_, before, ..) = self.nearest(&self.at_start);
        gap.abs() < tolerance && rest * apart.abs() < tolerance && n.dot(before) > SAME_SIDE_COS
    }

    /// When surfaces meet that are apart by less than the margin and approach faster than the threshold, from now, or
    /// the rest of the step if they do not [s]; none for those that overlap now. Those that do by rounding met a moment
    /// ago.
    fn meeting(&self) -> Option<f64> {
        let Encounter { pair, margin, threshold, rest, .. } = self;
        let (rest, least) = (*rest, PUSHED[0] * pair.size);
        let mut time = 0.0;
        for _ in 0..MEETING_STEPS {
            let (gap, n, p1, p2) = match time == 0.0 {
                true => self.nearest(self.now()),
                false => pair.nearest(&self.at(time).X, *margin),
            };
            let closing = self.closing(0.5 * (p1 + p2), n, time);
            if gap >= *margin || time == 0.0 && (gap < -least || closing <= threshold.speed) {
                return None;
            }
            if closing <= 0.0 || gap >= 0.0 && (gap < least || time == rest) {
                break;
            }
            // short of it, for surfaces that only touch have no direction
            time = (time + (gap - 0.5 * least) / closing).min(rest);
        }
        Some(time)
    }

    /// Columns of surfaces that are apart where they meet, pushed together along the shortest way; if one `strikes` the
    /// other, until they have the energy that an impact has in the mean. Returns how far apart they are [m] and which
    /// way.
    fn stand_ahead(
        &self,
        at: &Instant,
        time: f64,
        strikes: bool,
        work: &mut SurfaceWork,
        out: &mut Vec<SurfacePoint>,
    ) -> Option<(f64, Vec3)> {
        let Encounter { pair, margin, .. } = self;
        let known = at.nearest.get().copied().filter(|(gap, ..)| *gap >= 0.0);
        let (gap, n, p1, p2) = known.unwrap_or_else(|| pair.apart(&at.X, *margin));
        if gap >= *margin {
            return None;
        }
        let middle = 0.5 * (p1 + p2);
        let (closing, moved) = (self.closing(middle, n, time), self.moved(time));
        let yields: f64 = self.sides.iter().zip(moved).map(|(side, moved)| side.yields(middle, n, moved)).sum();
        let threshold = Some(self.threshold).filter(|threshold| strikes && yields > 0.0 && closing > threshold.speed);
        let energy = threshold.map_or(0.0, |own| MEAN_ENERGY * own.softness * 0.5 * closing * closing / yields);
        let push = press_until(pair, &at.X, gap, n, energy, work);
        stand_pushed(pair, [gap, push], n, threshold.is_some(), work, out);
        if let Some((ground, surface)) = pair.half_space() {
            // points above the depth of the impact wait
            let (first, X) = (out.len(), &at.X);
            let shift = n * (gap + push * pair.size);
            half_space_points(&X[ground], surface, &X[1 - ground], [shift.length(), *margin], work);
            stand(pair, work, None, out);
            out[first..].iter_mut().for_each(|c| c.region = u32::MAX);
        }
        Some((gap, n))
    }
}

/// The surfaces with 2 moved by `fall` [m].
fn fallen(X: &[Pose; 2], fall: Vec3) -> [Pose; 2] {
    [X[0], Pose::new(X[1].rotation, X[1].position + fall)]
}

/// Columns of surfaces where 2 fell by `fall` [m], seen from where it came; their foundation is in `work`.
fn stand_fallen(pair: &SurfacePair, fall: Vec3, work: &SurfaceWork, out: &mut Vec<SurfacePoint>) {
    stand(pair, work, None, out);
    // columns beside the fall are those of an edge that the body fell past: they do not hold it
    out.retain(|c| c.normal.dot(fall) < -LEAN_COS_MIN * fall.length());
    for c in out.iter_mut() {
        c.point -= 0.5 * fall;
        c.gap -= c.normal.dot(fall);
    }
    let against = |n: Vec3| n.dot(fall) * pair.sense() < -LEAN_COS_MIN * fall.length();
    let holds = |p: &PressurePoint| against(p.axis) && p.normal.dot(p.axis) > LEAN_COS_MIN;
    carry_regions(work.points(), pair.sense(), true, holds, out);
}

/// Pushes surfaces that are apart by `gap` [m] along n into each other until their foundation, with k = 1 N/m^3, has
/// the energy [m^4]. Returns the push as a share of the size [-]; the foundation is in `work`.
fn press_until(pair: &SurfacePair, X: &[Pose; 2], gap: f64, n: Vec3, energy: f64, work: &mut SurfaceWork) -> f64 {
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
        push = (PUSH_FACTOR * push).min(PUSHED[1]);
    };
    // the energy is a power of the depth, about: faces have 2, edges 3, corners 4
    if 0.0 < before && before < energy && energy < most {
        push *= libm::pow(energy / most, libm::log(PUSH_FACTOR) / libm::log(most / before));
        pressed(push, work);
    }
    push
}

/// Columns of surfaces that are apart by `gap` [m] along n and were pushed together, beyond that by the share `push` of
/// their size; their foundation is in `work`.
fn stand_pushed(
    pair: &SurfacePair,
    [gap, push]: [f64; 2],
    n: Vec3,
    strikes: bool,
    work: &SurfaceWork,
    out: &mut Vec<SurfacePoint>,
) {
    let (sense, shift) = (pair.sense(), n * (gap + push * pair.size));
    // as they part along n the depth falls by axis.n
    let facing = |p: &PressurePoint| {
        p.axis.dot(n) * sense > LEAN_COS_MIN && p.area * p.normal.dot(n) * sense > 0.0 && p.depth > 0.0
    };
    let mut depths = vec![0.0; work.regions().len()];
    for p in work.points().iter().filter(|p| facing(p)) {
        if let Some(depth) = depths.get_mut(p.region as usize) {
            *depth = f64::max(*depth, p.depth / (p.axis.dot(n) * sense));
        }
    }
    let deepest = depths.iter().copied().fold(0.0, f64::max);
    // The plane of a face goes on beyond its edge, where nothing is: surfaces that are apart meet along the shortest
    // way. In an impact the columns of a region begin together, and push as they will where the region is deepest:
    // which of them lies nearest to an edge is a matter of how the patch is cut.
    for p in work.points().iter().filter(|p| facing(p)) {
        let Some(depth) = depths.get(p.region as usize).map(|d| push * pair.size * d / deepest) else { continue };
        let area = p.area * p.normal.dot(n) * sense;
        let own = p.depth / (p.axis.dot(n) * sense);
        let (gap, area) = match strikes {
            true => (shift.length() - depth, area * p.depth / depth),
            false => ((shift.length() - own).max(gap), area),
        };
        out.push(SurfacePoint { point: p.point + 0.5 * shift, normal: n, gap, area, region: p.region });
    }
}

/// Columns stand inside their triangles: where they are few and face one way, so that their gaps lie in a plane, small
/// ones are put at the outermost corners of the patch too, which would carry a load beside them. `met`: how far apart
/// the surfaces are [m] and which way, where that is known.
fn brace(pair: &SurfacePair, X: &[Pose; 2], met: Option<(f64, Vec3)>, out: &mut Vec<SurfacePoint>) {
    let largest = out.iter().map(|c| c.area).fold(0.0, f64::max);
    let lies = |c: &&SurfacePoint| c.area > UPRIGHT_SECTION * largest;
    let area: f64 = out.iter().filter(lies).map(|c| c.area).sum();
    let mean =
        |of: &dyn Fn(&SurfacePoint) -> Vec3| out.iter().filter(lies).map(|c| of(c) * (c.area / area)).sum::<Vec3>();
    let (Some(n), middle) = (mean(&|c| c.normal).try_normalize(), mean(&|c| c.point)) else { return };
    if out.iter().filter(lies).any(|c| c.normal.dot(n) < ONE_PLANE_COS) {
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
    let off = out.iter().filter(lies).map(|c| c.area / area * (c.gap - gap(at(c.point))).powi(2)).sum::<f64>().sqrt();
    let slope = (s[0] * s[0] + s[1] * s[1]).sqrt();
    if off > PUSHED[0] * pair.size + 1e-2 * slope * (xx + yy).sqrt() {
        return;
    }
    let patch = match met {
        Some((gap, n)) => pair.patch_met(X, gap, n),
        None => pair.patch(X, true),
    };
    let faces = patch.iter().filter(|p| p.normal.dot(n).abs() > ONE_PLANE_COS);
    let corners: Vec<[f64; 2]> = faces.flat_map(|p| p.rings.iter().flatten()).map(|c| at(*c)).collect();
    let mut outermost: Vec<[f64; 2]> = Vec::with_capacity(CORNER_DIRECTIONS);
    for k in 0..CORNER_DIRECTIONS {
        let (sin, cos) = libm::sincos(2.0 * std::f64::consts::PI * (k as f64 + 0.5) / CORNER_DIRECTIONS as f64);
        let along = |c: &[f64; 2]| cos * c[0] + sin * c[1];
        if let Some(c) = corners.iter().copied().max_by(|a, b| along(a).total_cmp(&along(b)))
            && !outermost.contains(&c)
        {
            outermost.push(c);
        }
    }
    let (region, each) = (out[0].region, CORNER_SECTION * area / outermost.len() as f64);
    out.extend(outermost.into_iter().map(|c| SurfacePoint {
        point: middle + axes[0] * c[0] + axes[1] * c[1],
        normal: n,
        gap: gap(c),
        area: each,
        region,
    }));
}

/// Appends the columns of a foundation; with `carry`, as [`carry_regions`] of surfaces that touch already or do not.
fn stand(pair: &SurfacePair, work: &SurfaceWork, carry: Option<bool>, out: &mut Vec<SurfacePoint>) {
    let (sense, first, column) = (pair.sense(), out.len(), columns_of(work.points()));
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

/// Direction and section of the column of a point: along the depth; in a region whose face lies on an edge or a corner,
/// along its own normal. There depths are measured to all the faces beside it, and each would hold a body that slides
/// over it.
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
    let [least, most] = FACE_ON_EDGE;
    let lies_on_edge =
        |[depths, face]: &[(Vec3, f64); 2]| depths.0.length() < least * depths.1 && face.0.length() > most * face.1;
    let faces: Vec<bool> = sums.iter().map(lies_on_edge).collect();
    move |p| if faces.get(p.region as usize) == Some(&true) { (p.normal, p.area) } else { along_depth(p) }
}

/// Columns end early on the medial surface of a sharp corner: those of a region are turned and widened to carry the
/// force of its foundation, where they push one way; only points that `holds` accepts count. The columns of a new
/// contact all push along that force: the faces beside a corner would hold a body that slides past it.
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
            let one_way =
                pushed.length() > ALIGNMENT_MIN * all && force.dot(*pushed) > ALIGNMENT_MIN * all * force.length();
            let factor = (force.length() / pushed.length()).clamp(WIDENING[0], WIDENING[1]);
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

/// Joins columns where a region has more than `LOADED_COLUMNS` under load, or `WAITING_COLUMNS` beside them: those in
/// one cell of a grid that face one way become one column of the same area, force and moment. The `NEAREST_COLUMNS`
/// nearest of the columns that wait stay as they are.
fn join_columns(columns: &mut Vec<SurfacePoint>) {
    if columns.len() <= LOADED_COLUMNS {
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
    // columns beside loaded ones only wait
    let most =
        |c: &SurfacePoint| if c.gap > 0.0 && bounds[place(c) - 1].1 > 0 { WAITING_COLUMNS } else { LOADED_COLUMNS };
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
    for waiting in (1..bounds.len()).step_by(2).filter(|&k| bounds[k].1 > NEAREST_COLUMNS) {
        gaps.clear();
        gaps.extend(columns.iter().filter(|c| place(c) == waiting).map(|c| c.gap));
        let (_, &mut beyond, _) = gaps.select_nth_unstable_by(NEAREST_COLUMNS, f64::total_cmp);
        // the columns of a level face are all as near
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
        // columns around a curve push less together than one by one
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

    /// Columns at the rim of a patch have no depth: they count for area, and do not shift the joined one.
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

    /// A round body stands where it is lowest; a level face of many columns waits with few.
    #[test]
    fn the_nearest_waiting_columns_are_not_joined() {
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
        assert!(after(0.0).0 <= LOADED_COLUMNS + 1);
    }
}
