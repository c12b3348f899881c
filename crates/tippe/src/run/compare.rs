//! The two clocks on the same scene: how far apart their runs are, and when they part for good.
//!
//! Both runs are looked at on one grid of times, a multiple of the realtime step; the precise clock records exactly there. Contacts come
//! and go between two of these times, so forces of contacts (and reactions of joints) are means over each interval: the realtime clock's from its steps, the precise
//! clock's from the impulses of short contacts and the trapezoidal rule for long ones. Contact starts are matched by pair and number.
//! Where machines touch things small differences grow: from the divergence time on, when a body's pose gap exceeds 1 % of its size, positions
//! say nothing any more, and all differences are those before it.

use super::ending::{Ending, Left, Touches};
use crate::model::{Drive, Model, SignalSource};
use crate::observe::{Observe, Progress, Sample, Summary};
use crate::{BodyState, Event, EventKind, Simulation, clock, precise, realtime};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Runs diverge where a pose gap exceeds this share of the body's size [-].
pub const DIVERGED: f64 = 0.01;
/// Times of the grid at most.
const MOST_TIMES: f64 = 4000.0;
/// The precise clock records this many times per interval, for the means of contact forces.
const PARTS: usize = 4;
/// Runs that [`step_for`] makes at most.
const MOST_RUNS: usize = 8;
/// The smallest step it tries is the first over this.
const MOST_PARTS: f64 = 16384.0;

/// Times at which two runs are compared: 0, interval, 2 interval, ...
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// From one time to the next [s].
    pub interval: f64,
    /// How many after the first [-].
    pub count: usize,
}

impl Grid {
    /// Multiples of a realtime step [s] up to `until` [s]: all steps if they are not too many.
    pub fn new(step: f64, until: f64) -> Grid {
        let steps = (until / step * (1.0 + 1e-12)).floor().max(1.0);
        let stride = (steps / MOST_TIMES).ceil().max(1.0);
        Grid { interval: stride * step, count: (steps / stride).floor().max(1.0) as usize }
    }

    /// The last time [s].
    pub fn end(&self) -> f64 {
        self.time(self.count)
    }

    fn time(&self, k: usize) -> f64 {
        k as f64 * self.interval
    }

    /// The grid time at `t` [s], if it is one.
    fn at(&self, t: f64) -> Option<usize> {
        let k = (t / self.interval).round();
        ((t - k * self.interval).abs() <= 1e-9 * self.interval && k <= self.count as f64).then_some(k as usize)
    }

    /// The interval, counted by its end, that `t` [s] is in or ends.
    fn interval_of(&self, t: f64) -> usize {
        ((t / self.interval - 1e-9).ceil().max(1.0) as usize).min(self.count)
    }
}

/// One run on a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// The grid.
    grid: Grid,
    /// Bodies at each time.
    bodies: Vec<Vec<BodyState>>,
    /// Means of the model's signals over each interval, by its end; the first are values.
    signals: Vec<Vec<f64>>,
    /// Stored energy at each time [J].
    energy: Vec<f64>,
    /// Mean normal force of each pair of elements over each interval [N], by its end.
    forces: Vec<BTreeMap<(u32, u32), f64>>,
    /// Times of contact starts of each pair of elements [s].
    starts: BTreeMap<(u32, u32), Vec<f64>>,
    /// Contacts of each pair of elements, one by one.
    touches: Touches,
    /// Pairs of elements that touch in the first interval without having begun to.
    touching: BTreeSet<(u32, u32)>,
    /// What the run says at its end.
    pub summary: Summary,
}

impl Track {
    /// Runs the precise clock. `go_on` is asked now and then; the run stops early where it says no.
    pub fn precise(
        model: &Model,
        settings: &precise::Settings,
        grid: Grid,
        go_on: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Track, clock::Failure> {
        let times =
            (1..=grid.count * PARTS).map(|k| grid.time(k / PARTS) + (k % PARTS) as f64 / PARTS as f64 * grid.interval);
        let settings =
            precise::Settings { output_interval: f64::INFINITY, record_at: times.collect(), ..settings.clone() };
        let mut watch = Watch::new(grid, Means::Impulses(BTreeMap::new()), go_on);
        let mut simulation = Simulation::new(model.clone(), clock::Settings::Precise(settings));
        let summary = simulation.advance(grid.end(), &mut watch)?;
        Ok(watch.finish(summary))
    }

    /// Runs the realtime clock, whose step must divide the grid's interval.
    pub fn realtime(
        model: &Model,
        settings: &realtime::Settings,
        grid: Grid,
        go_on: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Track, clock::Failure> {
        let settings = realtime::Settings { output_interval: settings.step, ..settings.clone() };
        let mut watch = Watch::new(grid, Means::Steps(settings.step), go_on);
        let mut simulation = Simulation::new(model.clone(), clock::Settings::Realtime(settings));
        let summary = simulation.advance(grid.end(), &mut watch)?;
        Ok(watch.finish(summary))
    }

    /// True if the whole grid was reached.
    pub fn is_whole(&self) -> bool {
        self.bodies.len() == self.grid.count + 1
    }
}

/// How mean forces are found.
enum Means {
    /// A step has one force [s].
    Steps(f64),
    /// Normal forces at the last two recorded times, and what contacts that have not ended gave to which interval [N s].
    Impulses(BTreeMap<(u32, u32), Open>),
}

/// A contact that has not ended.
#[derive(Default)]
struct Open {
    /// When it was last seen [s].
    time: f64,
    /// Its normal force then [N].
    force: f64,
    /// Impulses by interval [N s].
    given: Vec<(usize, f64)>,
}

struct Watch<'a> {
    track: Track,
    means: Means,
    /// Last recorded time [s].
    last: f64,
    /// Signals then.
    before: Vec<f64>,
    /// Integrals of the signals over the interval so far.
    integral: Vec<f64>,
    go_on: &'a mut dyn FnMut(&Progress) -> bool,
}

impl<'a> Watch<'a> {
    fn new(grid: Grid, means: Means, go_on: &'a mut dyn FnMut(&Progress) -> bool) -> Watch<'a> {
        let track = Track {
            grid,
            bodies: Vec::new(),
            signals: Vec::new(),
            energy: Vec::new(),
            forces: vec![BTreeMap::new(); grid.count + 1],
            starts: BTreeMap::new(),
            touches: Touches::default(),
            touching: BTreeSet::new(),
            summary: Summary::default(),
        };
        Watch { track, means, last: 0.0, before: Vec::new(), integral: Vec::new(), go_on }
    }

    /// A step of the realtime clock has one value, the precise clock's are joined by lines.
    fn integrate(&mut self, now: f64, signals: &[f64]) {
        let share = if matches!(self.means, Means::Steps(_)) { 1.0 } else { 0.5 };
        self.integral.resize(signals.len(), 0.0);
        for ((sum, value), before) in self.integral.iter_mut().zip(signals).zip(&self.before) {
            *sum += (share * value + (1.0 - share) * before) * (now - self.last);
        }
        self.before.clear();
        self.before.extend_from_slice(signals);
    }

    fn give(&mut self, interval: usize, pair: (u32, u32), impulse: f64) {
        *self.track.forces[interval].entry(pair).or_default() += impulse / self.track.grid.interval;
    }

    fn finish(mut self, summary: Summary) -> Track {
        if let Means::Impulses(open) = std::mem::replace(&mut self.means, Means::Steps(0.0)) {
            for (pair, contact) in open {
                contact.given.iter().for_each(|&(interval, impulse)| self.give(interval, pair, impulse));
            }
        }
        self.track.summary = summary;
        self.track
    }
}

impl Observe for Watch<'_> {
    fn sample(&mut self, sample: &Sample<'_>) {
        let (grid, now) = (self.track.grid, sample.time);
        self.track.touches.sample(sample);
        let interval = grid.interval_of(now);
        if interval <= 1 {
            let pairs = sample.contacts.iter().map(|contact| contact.pair);
            self.track.touching.extend(pairs.filter(|pair| !self.track.starts.contains_key(pair)));
        }
        match &mut self.means {
            Means::Steps(step) => {
                let step = *step;
                if now > 0.0 {
                    for contact in sample.contacts {
                        self.give(interval, contact.pair, contact.force.dot(contact.normal) * step);
                    }
                }
            }
            Means::Impulses(open) => {
                for contact in sample.contacts {
                    let force = contact.force.dot(contact.normal);
                    // a contact that begins is seen with half its force before
                    let seen = open.entry(contact.pair).or_insert(Open { time: self.last, ..Open::default() });
                    let impulse = 0.5 * (seen.force + force) * (now - seen.time);
                    seen.given.push((interval, impulse));
                    (seen.time, seen.force) = (now, force);
                }
            }
        }
        self.integrate(now, sample.signals);
        self.last = now;
        if let Some(k) = grid.at(now) {
            // at an event two samples share a time: the later one counts
            if k + 1 == self.track.bodies.len() {
                self.track.bodies.pop();
                self.track.energy.pop();
            }
            if k == self.track.bodies.len() {
                self.track.bodies.push(sample.bodies.to_vec());
                self.track.energy.push(sample.energy.stored());
            }
            if k == self.track.signals.len() {
                let mean = |sum: &mut f64| std::mem::take(sum) / grid.interval;
                let means: Vec<f64> = self.integral.iter_mut().map(mean).collect();
                self.track.signals.push(if k == 0 { sample.signals.to_vec() } else { means });
            }
        }
    }

    fn event(&mut self, event: &Event) {
        self.track.touches.event(event);
        let Some(contact) = &event.contact else { return };
        match (event.kind, &mut self.means) {
            (EventKind::ContactStart, _) => self.track.starts.entry(contact.pair).or_default().push(event.time),
            (EventKind::ContactEnd, Means::Impulses(open)) => {
                let seen = open.remove(&contact.pair).unwrap_or_default();
                let grid = self.track.grid;
                match contact.episode {
                    // shorter than the grid can see: its impulse is known
                    Some(episode) if episode.duration < grid.interval => {
                        self.give(grid.interval_of(event.time), contact.pair, episode.impulse);
                    }
                    _ => {
                        let tail = 0.5 * seen.force * (event.time - seen.time).max(0.0);
                        seen.given.iter().for_each(|&(interval, impulse)| self.give(interval, contact.pair, impulse));
                        self.give(grid.interval_of(event.time), contact.pair, tail);
                    }
                }
            }
            _ => {}
        }
    }

    fn progress(&mut self, progress: &Progress) -> bool {
        (self.go_on)(progress)
    }
}

/// The largest of some differences, their root mean square, and where the largest is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Gap {
    /// Largest [unit of the quantity].
    pub worst: f64,
    /// Root mean square over all times and bodies, pairs or joints [unit of the quantity].
    pub rms: f64,
    /// When it is largest [s].
    pub at: f64,
    /// Whose it is.
    pub of: String,
    #[serde(skip)]
    squares: f64,
    #[serde(skip)]
    count: usize,
}

impl Gap {
    fn add(&mut self, gap: f64, at: f64, of: impl FnOnce() -> String) {
        self.squares += gap * gap;
        self.count += 1;
        if gap > self.worst || gap.is_nan() {
            (self.worst, self.at, self.of) = (gap, at, of());
        }
        self.rms = (self.squares / self.count as f64).sqrt();
    }
}

/// Differences between the runs of the two clocks before they diverge.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Gaps {
    /// When they diverge, or the end of the comparison [s].
    pub divergence: f64,
    /// Positions of body origins [m].
    pub position: Gap,
    /// Orientations, as the angle between them [rad].
    pub orientation: Gap,
    /// Velocities of body origins [m/s].
    pub velocity: Gap,
    /// Angular velocities [rad/s].
    pub angular_velocity: Gap,
    /// Mean normal forces of pairs over an interval [N].
    pub contact_force: Gap,
    /// Mean reaction forces of joints over an interval [N].
    pub reaction_force: Gap,
    /// Mean reaction torques of joints over an interval [N m].
    pub reaction_torque: Gap,
    /// Stored energy [J].
    pub energy: Gap,
    /// Times of contact starts [s].
    pub contact_start: Gap,
}

/// What can differ between two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapKind {
    /// Positions of body origins [m].
    Position,
    /// Orientations, as the angle between them [rad].
    Orientation,
    /// Velocities of body origins [m/s].
    Velocity,
    /// Angular velocities [rad/s].
    AngularVelocity,
    /// Mean normal forces of pairs over an interval [N].
    ContactForce,
    /// Mean reaction forces of joints over an interval [N].
    ReactionForce,
    /// Mean reaction torques of joints over an interval [N m].
    ReactionTorque,
    /// Stored energy [J].
    Energy,
    /// Times of contact starts [s].
    ContactStart,
}

impl GapKind {
    /// All of them.
    pub const ALL: [GapKind; 9] = [
        GapKind::Position,
        GapKind::Orientation,
        GapKind::Velocity,
        GapKind::AngularVelocity,
        GapKind::ContactForce,
        GapKind::ReactionForce,
        GapKind::ReactionTorque,
        GapKind::Energy,
        GapKind::ContactStart,
    ];

    /// Name after `compare.`, and the unit.
    pub fn name_and_unit(self) -> (&'static str, &'static str) {
        match self {
            GapKind::Position => ("position", "m"),
            GapKind::Orientation => ("orientation", "rad"),
            GapKind::Velocity => ("velocity", "m/s"),
            GapKind::AngularVelocity => ("angular_velocity", "rad/s"),
            GapKind::ContactForce => ("contact_force", "N"),
            GapKind::ReactionForce => ("reaction_force", "N"),
            GapKind::ReactionTorque => ("reaction_torque", "N m"),
            GapKind::Energy => ("energy", "J"),
            GapKind::ContactStart => ("contact_start", "s"),
        }
    }
}

/// A number in [`Gaps`]: `compare.divergence`, `compare.position`, `compare.position.rms`, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapName {
    /// When the runs diverge, or the end of the comparison [s].
    Divergence,
    /// The largest difference of a kind [unit of the kind].
    Worst(GapKind),
    /// The root mean square difference of a kind [unit of the kind].
    Rms(GapKind),
}

impl GapName {
    /// All of them.
    pub fn all() -> Vec<GapName> {
        let of = |kind: GapKind| [GapName::Worst(kind), GapName::Rms(kind)];
        [GapName::Divergence].into_iter().chain(GapKind::ALL.into_iter().flat_map(of)).collect()
    }

    /// What stands after `compare.`.
    pub fn name(self) -> String {
        match self {
            GapName::Divergence => "divergence".to_owned(),
            GapName::Worst(kind) => kind.name_and_unit().0.to_owned(),
            GapName::Rms(kind) => format!("{}.rms", kind.name_and_unit().0),
        }
    }
}

impl Gaps {
    /// The difference of a kind.
    pub fn get(&self, kind: GapKind) -> &Gap {
        match kind {
            GapKind::Position => &self.position,
            GapKind::Orientation => &self.orientation,
            GapKind::Velocity => &self.velocity,
            GapKind::AngularVelocity => &self.angular_velocity,
            GapKind::ContactForce => &self.contact_force,
            GapKind::ReactionForce => &self.reaction_force,
            GapKind::ReactionTorque => &self.reaction_torque,
            GapKind::Energy => &self.energy,
            GapKind::ContactStart => &self.contact_start,
        }
    }

    /// The number of this name [unit of its kind].
    pub fn of(&self, name: GapName) -> f64 {
        match name {
            GapName::Divergence => self.divergence,
            GapName::Worst(kind) => self.get(kind).worst,
            GapName::Rms(kind) => self.get(kind).rms,
        }
    }
}

/// When and where runs part for good.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Divergence {
    /// When [s].
    pub time: f64,
    /// The first body whose pose gap is too large.
    pub body: String,
    /// Its pose gap: no point within its size is farther from where it should be [m].
    pub gap: f64,
    /// Its size [m].
    pub size: f64,
}

/// Largest differences at each time, of whichever body, pair or joint.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Series {
    /// Times [s].
    pub time: Vec<f64>,
    /// Position [m].
    pub position: Vec<f64>,
    /// Pose gap over size [-].
    pub pose: Vec<f64>,
    /// Mean normal force [N].
    pub contact_force: Vec<f64>,
    /// Stored energy [J].
    pub energy: Vec<f64>,
}

/// How far apart two runs are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// End of the comparison [s].
    pub until: f64,
    /// Time between two comparisons [s].
    pub interval: f64,
    /// Where the runs part for good; none if they do not.
    pub divergence: Option<Divergence>,
    /// Differences before that.
    pub gaps: Gaps,
    /// Contact starts matched by pair and number, before the divergence [-].
    pub starts_matched: usize,
    /// Contact starts of the precise run in all [-].
    pub starts_precise: usize,
    /// Contact starts of the realtime run in all [-].
    pub starts_realtime: usize,
    /// Largest differences over all the time.
    pub series: Series,
    /// How both runs end, parted or not.
    pub ending: Ending,
}

impl Comparison {
    /// Compares two runs of one model on one grid, as far as both went.
    pub fn of<'a>(model: &Model, precise: &'a Track, realtime: &'a Track) -> Comparison {
        let grid = precise.grid;
        let count = precise.bodies.len().min(realtime.bodies.len());
        let until = grid.time(count.saturating_sub(1));
        let free: Vec<usize> = (0..model.bodies.len()).filter(|&b| model.bodies[b].drive == Drive::Free).collect();
        let divergence = divergence(model, precise, realtime, &free, count);
        let end = divergence.as_ref().map_or(f64::INFINITY, |d| d.time);
        let mut gaps = Gaps { divergence: end.min(until), ..Gaps::default() };
        let mut series = Series::default();
        let reactions = reactions(model);
        for k in 0..count {
            let t = grid.time(k);
            let before = t < end;
            let (mut position, mut pose, mut force) = (0.0_f64, 0.0_f64, 0.0_f64);
            for &b in &free {
                let difference = Difference::of(&precise.bodies[k][b], &realtime.bodies[k][b]);
                let size = size_of(model, b);
                position = position.max(difference.position);
                pose = pose.max(difference.pose(size) / size);
                if before {
                    let name = || model.bodies[b].name.clone();
                    gaps.position.add(difference.position, t, name);
                    gaps.orientation.add(difference.orientation, t, name);
                    gaps.velocity.add(difference.velocity, t, name);
                    gaps.angular_velocity.add(difference.angular_velocity, t, name);
                }
            }
            let [own, other] = [precise, realtime].map(|track| &track.forces[k]);
            let pairs: std::collections::BTreeSet<&(u32, u32)> = own.keys().chain(other.keys()).collect();
            for pair in pairs {
                let of = |forces: &BTreeMap<(u32, u32), f64>| forces.get(pair).copied().unwrap_or(0.0);
                let gap = (of(own) - of(other)).abs();
                force = force.max(gap);
                if before {
                    gaps.contact_force.add(gap, t, || name_of(model, *pair));
                }
            }
            for reaction in reactions.iter().filter(|_| before && k > 0) {
                let part = |at: &[usize; 3]| {
                    let square = |s: &usize| (precise.signals[k][*s] - realtime.signals[k][*s]).powi(2);
                    at.iter().map(square).sum::<f64>().sqrt()
                };
                let name = || model.joints[reaction.joint].name.clone();
                gaps.reaction_force.add(part(&reaction.force), t, name);
                gaps.reaction_torque.add(part(&reaction.torque), t, name);
            }
            let energy = (precise.energy[k] - realtime.energy[k]).abs();
            if before {
                gaps.energy.add(energy, t, || "all".to_owned());
            }
            series.time.push(t);
            series.position.push(position);
            series.pose.push(pose);
            series.contact_force.push(force);
            series.energy.push(energy);
        }
        let starts_matched = match_starts(model, [precise, realtime], end, &mut gaps.contact_start);
        let starts_realtime =
            realtime.starts.iter().map(|(pair, times)| times.len() - already_begun(precise, pair, times)).sum();
        let left = |track: &'a Track| Left {
            bodies: track.bodies.last().map_or(&[], Vec::as_slice),
            energy: &track.summary.energy,
            touches: &track.touches,
        };
        let held = |pair: &(u32, u32)| realtime.starts.get(pair).map_or(0, |times| already_begun(precise, pair, times));
        let ending = Ending::of(model, [&left(precise), &left(realtime)], |pair| name_of(model, pair), held);
        Comparison {
            until,
            interval: grid.interval,
            divergence,
            gaps,
            starts_matched,
            starts_precise: precise.starts.values().map(Vec::len).sum(),
            starts_realtime,
            series,
            ending,
        }
    }

    /// Largest difference of positions over all the time, diverged or not [m].
    pub fn largest_position(&self) -> f64 {
        self.series.position.iter().copied().fold(0.0, f64::max)
    }
}

/// What touches from the start begins to in the first step of the realtime clock, and has begun in the precise clock: 1 such start or none.
fn already_begun(precise: &Track, pair: &(u32, u32), times: &[f64]) -> usize {
    let at_once = times.first().is_some_and(|t| *t < 1.5 * precise.grid.interval);
    usize::from(precise.touching.contains(pair) && at_once)
}

/// Contact starts before the runs part, the n-th of a pair in one with the n-th in the other: how many, and their differences.
fn match_starts(model: &Model, [precise, realtime]: [&Track; 2], end: f64, gap: &mut Gap) -> usize {
    let mut matched = 0;
    for (pair, own) in &precise.starts {
        let other = realtime.starts.get(pair).map_or(&[][..], |times| &times[already_begun(precise, pair, times)..]);
        for (a, b) in own.iter().zip(other).filter(|(a, b)| a.max(**b) < end) {
            matched += 1;
            gap.add((a - b).abs(), *a, || name_of(model, *pair));
        }
    }
    matched
}

/// Differences of one body's motion.
struct Difference {
    position: f64,
    orientation: f64,
    velocity: f64,
    angular_velocity: f64,
}

impl Difference {
    fn of(a: &BodyState, b: &BodyState) -> Difference {
        let turn = a.orientation.conjugate() * b.orientation;
        let sine = (turn.x * turn.x + turn.y * turn.y + turn.z * turn.z).sqrt();
        Difference {
            position: (a.position - b.position).length(),
            orientation: 2.0 * libm::atan2(sine, turn.w.abs()),
            velocity: (a.velocity - b.velocity).length(),
            angular_velocity: (a.angular_velocity - b.angular_velocity).length(),
        }
    }

    /// No point within `size` of the origin [m] is farther from where it should be [m]: |dp| + 2 sin(theta/2) size.
    fn pose(&self, size: f64) -> f64 {
        self.position + 2.0 * libm::sin(0.5 * self.orientation) * size
    }
}

/// Size a body's gap is measured by [m]: its own, or where it has none that of the largest body, or 1 m.
fn size_of(model: &Model, body: usize) -> f64 {
    let own = model.bodies[body].size;
    let largest = || model.bodies.iter().map(|b| b.size).filter(|s| s.is_finite()).fold(0.0, f64::max);
    match own {
        own if own > 0.0 => own,
        _ if largest() > 0.0 => largest(),
        _ => 1.0,
    }
}

fn divergence(model: &Model, precise: &Track, realtime: &Track, free: &[usize], count: usize) -> Option<Divergence> {
    (0..count).find_map(|k| {
        free.iter().find_map(|&b| {
            let size = size_of(model, b);
            let gap = Difference::of(&precise.bodies[k][b], &realtime.bodies[k][b]).pose(size);
            let parted = gap.is_nan() || gap > DIVERGED * size;
            parted.then(|| Divergence { time: precise.grid.time(k), body: model.bodies[b].name.clone(), gap, size })
        })
    })
}

/// Signals of a joint's reaction.
struct Reaction {
    joint: usize,
    force: [usize; 3],
    torque: [usize; 3],
}

fn reactions(model: &Model) -> Vec<Reaction> {
    let signal = |joint: usize, component: u32| {
        let source = SignalSource::Reaction { joint: joint as u32, component };
        model.signals.iter().position(|signal| signal.source == source)
    };
    let three = |joint: usize, first: u32| -> Option<[usize; 3]> {
        Some([signal(joint, first)?, signal(joint, first + 1)?, signal(joint, first + 2)?])
    };
    (0..model.joints.len())
        .filter_map(|joint| Some(Reaction { joint, force: three(joint, 0)?, torque: three(joint, 3)? }))
        .collect()
}

fn name_of(model: &Model, pair: (u32, u32)) -> String {
    let name = |e: u32| &model.bodies[model.colliders[e as usize].body as usize].name;
    format!("{}, {}", name(pair.0), name(pair.1))
}

/// A realtime step whose positions stay within a target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepFor {
    /// The target [m].
    pub target: f64,
    /// A step that meets it [s]; none if no run did.
    pub step: Option<f64>,
    /// Order of the gap in the step, from the last two runs that differ [-].
    pub order: Option<f64>,
    /// Steps tried [s] and the largest gap of each [m].
    pub tried: Vec<(f64, f64)>,
}

/// Finds a step, a whole part of the first one tried, that meets a target [m]: halves it, measures the order p of
/// gap = C step^p, and goes where that says the target is met, until a run confirms it. `first` is a step [s] and its largest gap [m];
/// `gap_of` runs another.
pub fn step_for<E>(
    target: f64,
    first: (f64, f64),
    mut gap_of: impl FnMut(f64) -> Result<f64, E>,
) -> Result<StepFor, E> {
    let mut tried = vec![first];
    let mut order = None;
    let mut parts = 1.0;
    while tried[tried.len() - 1].1 > target && tried.len() < MOST_RUNS && parts < MOST_PARTS {
        let ahead = match order {
            // a little farther than the measured order says
            Some(p) => libm::pow(1.1 * tried[tried.len() - 1].1 / target, 1.0 / p),
            None => 2.0,
        };
        // two halvings before the order is trusted
        let ahead = if tried.len() < 3 { 2.0 } else { ahead.clamp(1.25, 64.0) };
        parts = (parts * ahead).ceil().min(MOST_PARTS);
        let step = first.0 / parts;
        let gap = gap_of(step)?;
        let (before, last) = tried[tried.len() - 1];
        if gap > 0.0 && gap < last {
            order = Some((libm::log(last / gap) / libm::log(before / step)).clamp(0.25, 4.0));
        }
        tried.push((step, gap));
    }
    let (step, gap) = tried[tried.len() - 1];
    Ok(StepFor { target, step: (gap <= target).then_some(step), order, tried })
}
