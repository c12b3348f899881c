//! A cable over points, pulleys, sheaves and drums, without mass: it only pulls. Between places where its tension can differ it is a *line*
//! of one tension. A line of length lambda along its path and length L at rest has
//!   T = EA (lambda/L - 1) + c (lambda/L)',   never less than zero;
//! L is a state. What is laid onto a wheel or a drum leaves the lines and stands on it, so that the sum of all lengths at rest stays.
//! Rope that passes a wheel carries the strain it had where it came from.
//!
//! Where rope slides over a ring, a sheave or a sluggish pulley from the side of T_1 to that of T_2, T_2 = m T_1,
//!   m = exp(mu beta)   (Euler, Eytelwein: capstan of wrap angle beta),   m = 1/eta   (bearings of efficiency eta);
//! as long as T_1/m < T_2 < m T_1 it does not slide. All lines that slide share one x = T/(EA r_i), r_i the products of these ratios:
//!   sum lambda_i/(1 + r_i x) = sum L_i.

mod along;
mod catenary;
mod feed;
mod hanging;
mod path;
mod points;
mod route;
mod section;
mod written;

pub use catenary::Catenary;
use feed::FEED_MODES;
pub use feed::Feed;
pub use hanging::{AtRest, Bottom, Hanging};
pub use path::{Circle, Span};
pub use section::{ROPES, Section};
pub use written::{POINT_KINDS, SEGMENT_KINDS, SPEC, spans_at};

use super::{
    Acting, Action, Anchor, Attached, Course, ElementAccount, ElementMode, ElementState, Fed, Finish, Output, RowEnd,
    RowList, Seen, Settled, StepAhead, Strut, Trip,
};
use crate::cause::Cause;
use crate::event::EventKind;
use crate::kinematics::Kinematics;
use libm::{acos, exp, fmod, sqrt};
use route::{Lines, Route};
use std::f64::consts::TAU;
use tippe_geometry::Vec3;

/// Points of a cable at most.
pub const MOST_POINTS: usize = 40;
/// A cable gets its row when it may be taut within this many steps at its present rates [-].
const STEPS_AHEAD: f64 = 2.0;

/// A point that a cable runs to or over.
#[derive(Clone, Debug)]
pub struct Point {
    /// What it is.
    pub role: Role,
    /// Its circle; of a drum the bare one.
    pub circle: Circle,
    /// Whole turns around it beyond the shorter way [-].
    pub turns: f64,
}

/// What a cable does at a point.
#[derive(Clone, Debug)]
pub enum Role {
    /// It ends there, or goes on in elements.
    End,
    /// It runs through it.
    Ring {
        /// mu [-].
        friction: f64,
    },
    /// It runs over a wheel whose turning is not followed.
    Pulley {
        /// eta [-].
        efficiency: f64,
    },
    /// It grips a wheel, or a post, that is a body.
    Sheave {
        /// mu [-]; it never slides if there is none.
        friction: Option<f64>,
    },
    /// It ends on a drum that is a body.
    Drum(Spool),
}

/// Layers of a rope on a drum.
#[derive(Clone, Debug)]
pub struct Spool {
    /// Turns in a layer [-].
    pub turns: f64,
    /// Radius from layer to layer grows by this [m].
    pub rise: f64,
    /// Layers at most [-].
    pub layers: f64,
}

impl Spool {
    /// Radius of the first layer on a bare drum [m], rope of diameter `d` [m].
    fn first(bare: f64, d: f64) -> f64 {
        bare + 0.5 * d
    }

    /// Lengths of rope up to the end of layer k [m], with the first radius.
    pub fn length_to(&self, first: f64, k: f64) -> f64 {
        TAU * self.turns * k * (first + 0.5 * self.rise * (k - 1.0))
    }

    /// Number of the layer in which rope is laid [-], from 0, and its radius [m], with `stored` [m] on the drum. The radius goes over
    /// from layer to layer within half a turn.
    pub fn layer(&self, first: f64, stored: f64) -> (f64, f64) {
        if self.rise == 0.0 {
            return (0.0, first);
        }
        // TAU turns k (first + rise (k - 1)/2) = stored
        let (a, b) = (0.5 * self.rise, first - 0.5 * self.rise);
        let whole = stored.max(0.0) / (TAU * self.turns);
        let k = ((sqrt(b * b + 4.0 * a * whole) - b) / (2.0 * a)).floor();
        let begun = (stored - self.length_to(first, k)) / (TAU * (first + k * self.rise));
        let over = if k > 0.0 { (begun / 0.5).clamp(0.0, 1.0) } else { 1.0 };
        let smooth = over * over * (3.0 - 2.0 * over);
        (k, first + self.rise * (k - 1.0 + smooth))
    }

    /// How fast the radius at which rope is laid grows with what is on the drum [-].
    pub fn slope(&self, first: f64, stored: f64) -> f64 {
        let (k, _) = self.layer(first, stored);
        if self.rise == 0.0 || k == 0.0 {
            return 0.0;
        }
        let turn = TAU * (first + k * self.rise);
        let over = (stored - self.length_to(first, k)) / (0.5 * turn);
        if over < 1.0 { self.rise * 6.0 * over * (1.0 - over) / (0.5 * turn) } else { 0.0 }
    }
}

/// Fleet angle at which rope leaves its groove [degrees].
const OFF_THE_GROOVE: f64 = 6.0;
/// No rope stretches so far before it breaks [-]: laid nylon, the softest, by about a third (McKenna, Hearle, O'Hear 2004, Handbook of Fibre Rope Technology).
pub const MOST_STRAIN: f64 = 0.5;
/// What a cable tells of in its last modes.
const NOTICES: [EventKind; 3] = [EventKind::FleetAngle, EventKind::DrumEmpty, EventKind::DrumFull];
/// Fleet angle beyond which rope wears at the rim of its groove [degrees].
const LARGEST_FLEET: f64 = 4.0;

/// A cable without mass.
#[derive(Clone, Debug)]
pub struct Cable {
    /// Frames of its points, wheels with their axles as z axes; then those of elements at its ends.
    pub frames: Vec<Anchor>,
    /// Elements that its first end, and its last one, goes on in.
    pub feeds: [Option<Feed>; 2],
    /// Its points.
    pub points: Vec<Point>,
    /// EA [N].
    pub stiffness: f64,
    /// c: tension per rate of strain [N s].
    pub damping: f64,
    /// Tension at which it breaks [N]; infinite if it does not.
    pub breaking: f64,
    /// Points between its lines, ascending.
    pub joints: Vec<usize>,
    /// Its states: lengths at rest of its lines [m], then of each wheel and drum in order what lies on it [m]; of wheels inside a
    /// line their wrap angle [rad].
    pub states: Vec<ElementState>,
    /// Its outputs.
    pub outputs: Vec<Output>,
    /// Names of its modes: lines, joints, breaking.
    pub names: Vec<String>,
}

impl Cable {
    /// How many lines it has.
    fn lines(&self) -> usize {
        self.joints.len() + 1
    }

    /// The first and the last span of a line.
    fn spans_of(&self, line: usize) -> std::ops::Range<usize> {
        let first = if line == 0 { 0 } else { self.joints[line - 1] };
        first..self.joints.get(line).copied().unwrap_or(self.points.len() - 1)
    }

    /// Which of its modes says whether it is broken.
    fn breaks(&self) -> usize {
        self.lines() + self.joints.len()
    }

    /// The first of its modes that only say what should not be: see [`NOTICES`].
    fn notices(&self) -> usize {
        self.breaks() + 1 + FEED_MODES.len()
    }

    /// Its drums: state of what lies there, bare radius, layers.
    fn drums(&self) -> impl Iterator<Item = (usize, f64, &Spool)> {
        let wheels = self.points.iter().filter(|point| point.circle.radius > 0.0);
        let states = (self.lines()..).zip(wheels);
        states.filter_map(|(state, point)| match &point.role {
            Role::Drum(spool) => Some((state, point.circle.radius, spool)),
            _ => None,
        })
    }

    /// By how much it is beyond what a notice says: fleet angle [rad], rope a drum that had some does not have, or has no room for [m].
    fn beyond_notice(&self, which: usize, route: &Route, states: &[f64]) -> f64 {
        let emptied =
            self.drums().filter(|(state, ..)| self.states[*state].start > 0.0).map(|(state, ..)| -states[state]);
        let filled = self.drums().filter(|(.., spool)| spool.layers.is_finite());
        let filled = filled.map(|(state, bare, spool)| states[state] - spool.length_to(bare, spool.layers));
        match NOTICES[which - self.notices()] {
            EventKind::DrumEmpty => emptied.fold(-1.0, f64::max),
            EventKind::DrumFull => filled.fold(-1.0, f64::max),
            _ => self.beyond_fleet(route),
        }
    }

    /// By how much its largest fleet angle is beyond that [rad].
    fn beyond_fleet(&self, route: &Route) -> f64 {
        let cosine = route.touched(self.points.len()).flat_map(|(k, _)| route.spans[k].ends.map(|end| end.fleet));
        acos(cosine.fold(1.0, f64::min).max(-1.0)) - LARGEST_FLEET.to_radians()
    }

    /// m of a joint with this wrap angle; infinite where it never slides [-].
    fn ratio(&self, joint: usize, wrap: f64) -> f64 {
        match self.points[self.joints[joint]].role {
            Role::Ring { friction } => exp(friction * wrap),
            Role::Pulley { efficiency } => 1.0 / efficiency,
            Role::Sheave { friction: Some(friction) } => exp(friction * wrap),
            _ => f64::INFINITY,
        }
    }

    /// mu of a joint whose ratio grows with its wrap angle [-].
    fn friction(&self, joint: usize) -> f64 {
        match self.points[self.joints[joint]].role {
            Role::Ring { friction } | Role::Sheave { friction: Some(friction) } => friction,
            _ => 0.0,
        }
    }

    fn is_broken(&self, modes: &[ElementMode]) -> bool {
        modes[self.breaks()].held
    }

    /// By how much the elastic tension of a joint's two lines is beyond its ratio, towards the second and towards the first [N].
    fn beyond(&self, lines: &Lines, joint: usize) -> [f64; 2] {
        let [one, other] = [joint, joint + 1].map(|line| self.stiffness * lines.strain[line]);
        let m = lines.ratio[joint];
        if m.is_infinite() { [-1.0; 2] } else { [other - m * one, one - m * other] }
    }
}

impl Acting for Cable {
    fn attached(&self) -> Attached<'_> {
        Attached { frames: &self.frames, ..Attached::default() }
    }

    fn states(&self) -> &[ElementState] {
        &self.states
    }

    fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        &[
            ElementAccount { cause: Cause::Damping, name: "loss" },
            ElementAccount { cause: Cause::CableFriction, name: "friction" },
            ElementAccount { cause: Cause::Breaking, name: "broken" },
        ]
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let route = Route::of(self, seen.frames, seen.states);
        if self.is_broken(seen.modes) {
            self.show(&route, &Lines::default(), &mut out.shown);
            return;
        }
        let lines = Lines::of(self, &route, seen.modes);
        route.pull(self, |(line, point), at, axes| out.wrench(route.frames[point], at, axes * -lines.tension[line]));
        self.flow(&route, &lines, &mut out.rates);
        let lost = lines.powers(self, &route, &out.rates);
        out.effect.effort = lines.tension[0];
        out.effect.stored = lines.stored(self, &route);
        out.effect.powers = [lost[0], lost[1], 0.0];
        self.show(&route, &lines, &mut out.shown);
    }

    fn watched(&self) -> usize {
        self.notices() + NOTICES.len()
    }

    fn mode_name(&self, which: usize) -> Option<&str> {
        self.names.get(which).map(String::as_str).filter(|name| !name.is_empty())
    }

    fn watch(&self, which: usize, seen: &Seen<'_>) -> f64 {
        if self.is_broken(seen.modes) {
            return -1.0;
        }
        let route = Route::of(self, seen.frames, seen.states);
        let lines = Lines::of(self, &route, seen.modes);
        if let Some((end, out)) = self.feeds_by(which) {
            return self.asks(end, out, (&route, &lines), seen.states);
        }
        let mode = seen.modes[which];
        if which >= self.notices() {
            let beyond = self.beyond_notice(which, &route, seen.states);
            return if mode.held { -beyond } else { beyond };
        }
        if which < self.lines() {
            let excess = lines.excess[which];
            return if mode.held { -excess } else { excess };
        }
        if which == self.breaks() {
            let most = lines.tension[..self.lines()].iter().copied().fold(0.0, f64::max);
            return if self.breaking.is_finite() { most / self.breaking - 1.0 } else { -1.0 };
        }
        let joint = which - self.lines();
        if mode.held {
            let [towards, back] = self.beyond(&lines, joint);
            return towards.max(back);
        }
        let mut rates = [0.0; 2 * MOST_POINTS];
        let slip = self.flow(&route, &lines, &mut rates[..self.states.len()]);
        -mode.sense * slip[joint]
    }

    fn event(&self, which: usize, mode: ElementMode) -> Option<EventKind> {
        if which > self.breaks() {
            return which.checked_sub(self.notices()).filter(|_| !mode.held).map(|k| NOTICES[k]);
        }
        Some(match (which < self.lines(), which == self.breaks(), mode.held) {
            (true, _, true) => EventKind::Slack,
            (true, _, false) => EventKind::Taut,
            (_, true, _) => EventKind::Break,
            (_, _, true) => EventKind::CableSlip,
            (_, _, false) => EventKind::CableStick,
        })
    }

    fn trip(&self, which: usize, seen: &Seen<'_>) -> Trip {
        let mode = seen.modes[which];
        let held = ElementMode { held: !mode.held, ..mode };
        if which > self.breaks() {
            return Trip { mode: if which >= self.notices() { held } else { mode }, rate: None, lost: 0.0 };
        }
        if which < self.lines() || which < self.breaks() && !mode.held {
            return Trip { mode: held, rate: None, lost: 0.0 };
        }
        let route = Route::of(self, seen.frames, seen.states);
        let lines = Lines::of(self, &route, seen.modes);
        if which == self.breaks() {
            return Trip { mode: held, rate: None, lost: lines.stored(self, &route) };
        }
        let [towards, back] = self.beyond(&lines, which - self.lines());
        Trip { mode: ElementMode { sense: if towards >= back { 1.0 } else { -1.0 }, ..held }, rate: None, lost: 0.0 }
    }

    fn settle(&self, which: usize, seen: &Seen<'_>) -> Option<Settled> {
        let mode = seen.modes[which];
        if mode.sense != 0.0 || (self.breaks()..self.notices()).contains(&which) {
            return None;
        }
        // before its first step: no joint slides, lines are taut or slack
        let route = Route::of(self, seen.frames, seen.states);
        if which >= self.notices() {
            // what a scene was warned of as it was read
            let held = self.beyond_notice(which, &route, seen.states) > 0.0;
            return Some(Settled { mode: ElementMode { held, sense: 1.0, speed: 0.0 }, acts: false });
        }
        let held = which >= self.lines() || {
            let excess = route.path[which] - route.rest[which];
            excess > 0.0
        };
        Some(Settled { mode: ElementMode { held, sense: 1.0, speed: 0.0 }, acts: which >= self.lines() })
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        if self.is_broken(seen.modes) {
            return;
        }
        let route = Route::of(self, seen.frames, seen.states);
        let lines = Lines::of(self, &route, seen.modes);
        let mut first = 0;
        while first < self.lines() {
            let last = lines.last_of(first);
            self.row(&route, &lines, first..last + 1, step, out);
            first = last + 1;
        }
        self.damp_leads(&route, &lines, step.h, out);
    }

    fn stored(&self, seen: &Seen<'_>) -> f64 {
        if self.is_broken(seen.modes) {
            return 0.0;
        }
        let route = Route::of(self, seen.frames, seen.states);
        Lines::of(self, &route, seen.modes).stored(self, &route)
    }

    fn needs(&self, frame: usize) -> bool {
        // of elements the one at the load is there always
        let is_fed = |k: usize| frame == k * (self.points.len() - 1) && self.feeds[k].is_some();
        let held = frame < self.points.len() && !is_fed(0) && !is_fed(1);
        held || self.feeds.iter().flatten().any(|feed| feed.frames.start == frame)
    }

    fn absent(&self) -> Vec<u32> {
        let all = self.feeds.iter().flatten();
        let frames = all.flat_map(|feed| feed.frames.clone().skip(self.states[feed.state].start as usize));
        frames.filter_map(|frame| self.frames[frame].body).collect()
    }

    fn feeds_by(&self, which: usize) -> Option<(usize, bool)> {
        let feed = *FEED_MODES.get(which.checked_sub(self.breaks() + 1)?)?;
        self.feeds[feed.0].is_some().then_some(feed)
    }

    fn feed(&self, end: usize, out: bool, seen: &Seen<'_>, states: &mut [f64]) -> Option<Fed> {
        self.pass(end, out, seen, states)
    }

    fn finishes(&self) -> bool {
        true
    }

    fn finish(&self, step: &mut Finish<'_>) {
        route::finish(self, step);
    }

    fn drawn(&self, frames: &[Kinematics]) -> Vec<Vec3> {
        let states: Vec<f64> = self.states.iter().map(|state| state.start).collect();
        Route::of(self, frames, &states).drawn(self, frames)
    }

    fn line(&self) -> Option<&'static str> {
        Some("rope")
    }

    fn course(&self) -> Option<Course> {
        let lines: Vec<usize> = (0..self.lines()).flat_map(|line| self.spans_of(line).map(move |_| line)).collect();
        let feed = |feed: &Option<Feed>| feed.as_ref().map(|feed| (feed.frames.clone(), feed.state, feed.length));
        Some(Course {
            circles: self.points.iter().map(|point| point.circle).collect(),
            tensions: lines.clone(),
            rests: lines,
            feeds: self.feeds.each_ref().map(feed),
            segments: Vec::new(),
        })
    }
}

impl Cable {
    /// The row of lines that share a tension.
    fn row(
        &self,
        route: &Route,
        lines: &Lines,
        group: std::ops::Range<usize>,
        step: &StepAhead<'_>,
        out: &mut RowList,
    ) {
        let first = group.start;
        let h = step.h;
        let rest: f64 = route.rest[group.clone()].iter().sum();
        let (mut now, mut ahead, mut yields) = (0.0, 0.0, 0.0);
        for line in group.clone() {
            now += route.parting[line];
            let strain = lines.ratios[line] * lines.x[first];
            yields += route.path[line] * lines.ratios[line] / ((1.0 + strain) * (1.0 + strain));
        }
        let stiffness = self.stiffness / yields;
        let taut = lines.x[first] * self.stiffness;
        let phi = if taut > 0.0 { taut / stiffness } else { lines.excess[first] };
        let begin = out.ends.len();
        route.pull(self, |(line, point), at, axes| {
            if !group.contains(&line) {
                return;
            }
            let frame = route.frames[point];
            // free velocities stand at the frames' origins
            let u = step.frames[frame];
            let v = u.linear + u.angular.cross(at - route.origins[point]);
            ahead += axes.angular.dot(u.angular) + axes.linear.dot(v);
            out.ends.push(RowEnd::Frame { frame, at, axes });
        });
        let reach = STEPS_AHEAD * h * now.abs().max(ahead.abs());
        if phi + STEPS_AHEAD * h * now.max(ahead) < 0.0 {
            out.ends.truncate(begin);
            return;
        }
        let own = begin..out.ends.len();
        // one that stays taut through the step holds like one that holds both ways
        let bounds = if phi > reach { super::UNBOUNDED } else { [f64::NEG_INFINITY, 0.0] };
        let damping = self.damping / rest;
        let strut = Strut { stiffness, damping, phi, damped_by_step: false, bounds, bound: f64::INFINITY };
        let slides = group.clone().any(|line| lines.ratios[line] != 1.0);
        if slides {
            route.pull(self, |(line, point), at, axes| {
                if group.contains(&line) {
                    let frame = route.frames[point];
                    out.ends.push(RowEnd::Frame { frame, at, axes: axes * lines.ratios[line] });
                }
            });
        }
        out.strut_of_ends(first as u8, strut, own);
    }

    /// Its outputs behind the first: tension of each further line, length of each span, wrap angle of each wheel, speed of rope over each
    /// joint, layer and radius of a drum.
    fn show(&self, route: &Route, lines: &Lines, out: &mut Vec<f64>) {
        out.extend((1..self.lines()).map(|line| lines.tension[line]));
        out.extend(route.spans[..self.points.len() - 1].iter().map(|span| span.length));
        for (k, point) in self.points.iter().enumerate() {
            match &point.role {
                Role::Pulley { .. } | Role::Sheave { .. } => out.push(route.wraps[k]),
                Role::Drum(spool) => {
                    let (layer, radius) = spool.layer(point.circle.radius, route.laid[k]);
                    out.extend([layer + 1.0, radius]);
                }
                Role::Ring { .. } | Role::End => {}
            }
        }
        let mut rates = [0.0; 2 * MOST_POINTS];
        let slip = self.flow(route, lines, &mut rates[..self.states.len()]);
        out.extend_from_slice(&slip[..self.joints.len()]);
    }

    /// Rates of its states, and the speed of rope that slides over each joint [m/s].
    fn flow(&self, route: &Route, lines: &Lines, rates: &mut [f64]) -> [f64; MOST_POINTS] {
        route.transport(self, &lines.strain, (&route.laying, &route.wrapping), rates);
        lines.slide(self, route, rates)
    }
}

/// An angle of a wheel within a turn [rad].
fn within_a_turn(angle: f64) -> f64 {
    let rest = fmod(angle, TAU);
    if rest < 0.0 { rest + TAU } else { rest }
}
