//! The precise clock: variable step, error control, every contact event located, islands on their own clocks.
#![allow(non_snake_case)] // matrices and poses are capital letters, as in CONVENTIONS.md

mod actions;
mod assemble;
mod columns;
mod crossing;
mod differences;
mod dynamics;
mod failure;
mod generalised;
mod island;
mod layout;
mod machine;
mod outside;
mod pair;
mod reach;
mod set;
mod settings;
mod signals;
mod skin;
mod slopes;
mod structure;
mod subsystem;
mod system;
pub mod tangent;
mod touch;
mod watch;
mod whole;

use dynamics::SHARED;
pub use failure::{Failure, Trouble};
use island::{Island, IslandRecord, Motion, Outcome};
use layout::Account;
pub use outside::{Occasion, OuterState};
use pair::Pair;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
pub use settings::Settings;
use subsystem::{Handover, Look};
use tippe_geometry::{Aabb, Quat, Vec3};
use tippe_mechanics::cause::Cause;
use tippe_mechanics::event::Event;
use tippe_mechanics::kinematics::BodyState;
use tippe_mechanics::model::{Drive, Model, body_state, prescribed};
use tippe_mechanics::observe::{ContactSample, MechanismSummary, Observe, Progress, Reach, Sample, Summary};
use tippe_mechanics::state::{ActionRecord, MachineRecord};
use tippe_mechanics::structure::Structure;
use tippe_mechanics::subsystem::Subsystems;
use tippe_mechanics::{EventKind, Ledger};
use tippe_numerics::Method;
pub use whole::{Input, Whole};

/// First horizon [s].
const FIRST_HORIZON: f64 = 1e-3;
/// Longest horizon [s].
const LONGEST_HORIZON: f64 = 1e4;
/// No horizon need be shorter than a body takes to travel this share of its radius [-].
const SHORT: f64 = 0.25;
/// A horizon is too long when its islands are more work than those of the shortest one by this factor [-].
const GROWTH: f64 = 1.3;
/// Shortest horizon as a share of the time, below which a body that keeps leaving its box is a failure [-].
const SHORTEST_HORIZON: f64 = 1e-14;

/// A horizon ends where it has this many communication points [-], or fewer where there are many bodies, so that they are
/// handed over before they fill the memory.
const POINTS_OF_HORIZON: f64 = 1e5;
/// States of bodies at the communication points of a horizon, about [-].
const STATES_OF_HORIZON: f64 = 4e6;

/// Everything that survives: dropping anything else changes no bit of what follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Start of the next horizon [s].
    pub time: f64,
    /// Length of the next horizon [s].
    horizon: f64,
    /// Up to here everything has been handed to the observer [s]; before the first run minus infinity, kept as an option.
    recorded: Option<f64>,
    /// Stored energy at the start [J].
    initial: f64,
    islands: Vec<IslandRecord>,
    structure: Structure,
    /// The subsystems, where the model has some.
    #[serde(default, rename = "grains", skip_serializing_if = "Option::is_none")]
    handover: Option<Box<Handover>>,
}

impl State {
    /// All grains, where the model has any.
    pub fn grains(&self) -> Option<&tippe_granular::Grains> {
        self.handover.as_ref().and_then(|handover| handover.records.grains())
    }

    /// Its ground, if it has any.
    pub fn ground(&self) -> Option<&tippe_soil::Ground> {
        self.handover.as_ref().and_then(|handover| handover.records.ground())
    }

    /// The model at rest at the start of its scene.
    pub fn start(model: &Model) -> State {
        State {
            time: 0.0,
            horizon: FIRST_HORIZON,
            recorded: None,
            initial: 0.0,
            islands: Vec::new(),
            structure: Structure::new(model),
            handover: Handover::start(model).map(Box::new),
        }
    }
}

/// Advances `state` to `until`, handing everything on the way to `observe`. After a failure `state` is the last good one.
pub fn simulate(
    model: &Model,
    state: &mut State,
    until: f64,
    settings: &Settings,
    observe: &mut dyn Observe,
) -> Result<Summary, Failure> {
    let mut clock = Clock::resume(model, state, settings);
    while !clock.reached(until) {
        clock.restructure(observe);
        clock.feed_cables(observe);
        clock.reach();
        for event in clock.regroup() {
            clock.note(&event, observe);
        }
        clock.advance(until, observe);
        clock.advance_subsystem(observe);
        clock.record(until, observe);
    }
    clock.finish(state)
}

/// The precise clock at work.
struct Clock<'a> {
    model: &'a Model,
    settings: &'a Settings,
    pool: Option<rayon::ThreadPool>,
    time: f64,
    horizon: f64,
    recorded: f64,
    initial: Option<f64>,
    islands: Vec<Island>,
    /// Reach boxes of the centres of mass, by body [m].
    boxes: Vec<Aabb>,
    /// Candidate pairs of the horizon.
    pairs: Vec<(u32, u32)>,
    motions: Vec<Motion>,
    /// Coordinates of the mechanisms, where their islands were taken apart.
    machines: Vec<MachineRecord>,
    /// Elements and states of the network, likewise.
    actions: ActionRecord,
    structure: Structure,
    subsystems: Option<Subsystems>,
    handover: Option<Box<Handover>>,
    /// The subsystems at the start of the last horizon, and their books and signals before the last hand-over.
    handover_before: Option<Box<Handover>>,
    earlier: Option<Look>,
    /// Structural changes to be made at `time`.
    due: Vec<usize>,
    /// Cables whose leads ask there for elements to come in or go, and the modes that say so.
    feeding: Vec<(u32, usize)>,
    /// Bodies and pairs of islands that a change took apart.
    loose_motions: Vec<(u32, Motion)>,
    loose_pairs: Vec<island::PairRecord>,
    /// What the last horizon brought: its end, whether it is final, its communication points, the islands' outcomes.
    end: f64,
    last: bool,
    samples: Vec<f64>,
    outcomes: Vec<Outcome>,
    stopped: bool,
    done: bool,
    failure: Option<Failure>,
    summary: Summary,
    events: u64,
    /// See [`Outcome::beyond`].
    beyond: Option<(f64, (u32, u32), f64)>,
}

impl<'a> Clock<'a> {
    fn resume(model: &'a Model, state: &State, settings: &'a Settings) -> Self {
        let pool = (settings.threads != 1)
            .then(|| rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build().ok())
            .flatten();
        let mut clock = Clock {
            model,
            settings,
            pool,
            time: state.time,
            horizon: state.horizon,
            recorded: state.recorded.unwrap_or(f64::NEG_INFINITY),
            initial: state.recorded.map(|_| state.initial),
            islands: state.islands.iter().map(|r| Island::restore(model, settings, &state.structure, r)).collect(),
            boxes: Vec::new(),
            pairs: Vec::new(),
            motions: Vec::new(),
            machines: MachineRecord::starts(model),
            actions: ActionRecord::start(model, &state.structure.gone, &state.structure.done),
            structure: state.structure.clone(),
            subsystems: subsystem::resume(model, state.handover.as_deref(), settings),
            handover: state.handover.clone(),
            handover_before: None,
            earlier: None,
            due: Vec::new(),
            feeding: Vec::new(),
            loose_motions: Vec::new(),
            loose_pairs: Vec::new(),
            end: state.time,
            last: false,
            samples: Vec::new(),
            outcomes: Vec::new(),
            stopped: false,
            done: false,
            failure: None,
            summary: Summary::default(),
            events: 0,
            beyond: None,
        };
        clock.structure.handover = clock.subsystems.is_some().then(|| clock.next_handover());
        clock.resist();
        clock
    }

    fn reached(&self, until: f64) -> bool {
        self.done || self.stopped || self.failure.is_some() || (self.recorded >= until && self.initial.is_some())
    }

    /// Each body gets the box its centre of mass will not leave before the horizon ends; overlapping boxes are pairs. The
    /// horizon is halved as long as that takes islands apart.
    fn reach(&mut self) {
        self.motions = self.motions_now();
        let touching = self.touching();
        let speeds = self.speeds();
        let g = |p: Vec3| self.model.gravity_at(p).length();
        let free = self.model.bodies.iter().zip(&self.motions).filter(|(b, _)| b.drive == Drive::Free);
        let floor = free
            .map(|(b, m)| SHORT * b.radius / (m.v.length() + (g(m.p) * b.radius).sqrt()))
            .fold(self.horizon, f64::min);
        let look = |H: f64, boxes: &mut Vec<Aabb>, pairs: &mut Vec<(u32, u32)>| {
            reach::find(self.model, &self.structure, &self.motions, &speeds, &touching, self.time, H, boxes, pairs);
            reach::work(self.model, &self.structure.gone, pairs)
        };
        self.horizon = self.horizon.max(floor);
        let mut work = look(self.horizon, &mut self.boxes, &mut self.pairs) as f64;
        // bodies that nothing joins need no look at what the shortest horizon would join
        if work > GROWTH * reach::work(self.model, &self.structure.gone, &[]) as f64 {
            let (mut boxes, mut pairs) = (Vec::new(), Vec::new());
            let least = look(floor, &mut boxes, &mut pairs) as f64;
            while work > GROWTH * least && self.horizon > 2.0 * floor {
                self.horizon *= 0.5;
                work = look(self.horizon, &mut self.boxes, &mut self.pairs) as f64;
            }
        }
    }

    /// Motion of every free body at the start of the horizon, by body; those of other bodies are not used.
    fn motions_now(&self) -> Vec<Motion> {
        let model = self.model;
        let mut motions: Vec<Motion> = model
            .start
            .iter()
            .zip(&model.bodies)
            .map(|(s, b)| {
                let arm = s.orientation * b.p_bc;
                Motion {
                    p: s.position + arm,
                    q: s.orientation,
                    v: s.velocity + s.angular_velocity.cross(arm),
                    w: s.angular_velocity,
                    a: model.gravity,
                    accounts: [0.0; layout::ACCOUNTS],
                }
            })
            .collect();
        let of = |island: &Island| -> Vec<Motion> {
            (0..island.dynamics.bodies.len()).map(|k| island.motion(model, k, self.time)).collect()
        };
        let moved: Vec<Vec<Motion>> = match &self.pool {
            Some(pool) => pool.install(|| self.islands.par_iter().with_min_len(64).map(of).collect()),
            None => self.islands.iter().map(of).collect(),
        };
        for (island, moved) in self.islands.iter().zip(moved) {
            for (&body, motion) in island.dynamics.bodies.iter().zip(moved) {
                motions[body as usize] = motion;
            }
        }
        for &(body, motion) in &self.loose_motions {
            motions[body as usize] = motion;
        }
        motions
    }

    /// Speed each body may reach from its own motion and from what its contacts store, by body [m/s].
    fn speeds(&self) -> Vec<f64> {
        let mut speeds: Vec<f64> = self.motions.iter().map(|m| m.v.length()).collect();
        for island in &self.islands {
            for pair in island.dynamics.pairs.iter().filter(|p| p.memory.touching) {
                for &side in pair.sides.iter().filter(|&&s| s < island.dynamics.bodies.len()) {
                    let body = island.dynamics.bodies[side] as usize;
                    let energy = pair.last.force.energy;
                    let thrown = if energy.is_nan() {
                        pair.memory.normal.touch_speed
                    } else {
                        (2.0 * energy / self.model.bodies[body].mass).sqrt()
                    };
                    speeds[body] = speeds[body].max(self.motions[body].v.length() + thrown);
                }
            }
        }
        speeds
    }

    /// Pairs now in the contact set, ascending.
    fn touching(&self) -> Vec<(u32, u32)> {
        let mut ids: Vec<(u32, u32)> = self
            .islands
            .iter()
            .flat_map(|i| i.dynamics.pairs.iter().filter(|p| p.memory.touching).map(|p| p.id))
            .collect();
        ids.sort_unstable();
        ids
    }

    /// Bodies joined by candidate pairs form islands; one whose bodies and pairs did not change goes on as it is. What a
    /// structural change made taut or slack.
    fn regroup(&mut self) -> Vec<Event> {
        let groups = reach::groups(self.model, &self.structure.gone, &self.pairs);
        let fresh = self.islands.is_empty() && self.initial.is_none();
        let mut old: Vec<Option<Island>> = std::mem::take(&mut self.islands).into_iter().map(Some).collect();
        let mut owner = vec![usize::MAX; self.model.bodies.len()];
        for (k, island) in old.iter().enumerate() {
            for &body in island.iter().flat_map(|i| &i.dynamics.bodies) {
                owner[body as usize] = k;
            }
        }
        let kept: Vec<Option<usize>> = groups
            .iter()
            .map(|g| {
                let k = owner[g.bodies[0] as usize];
                old.get(k).and_then(|o| o.as_ref()).is_some_and(|o| o.is(&g.bodies, &g.pairs)).then_some(k)
            })
            .collect();
        let keep: std::collections::BTreeSet<usize> = kept.iter().flatten().copied().collect();
        // what the islands that end hand over
        let mut records = std::mem::take(&mut self.loose_pairs);
        self.loose_motions.clear();
        for (k, island) in old.iter_mut().enumerate() {
            if let (false, Some(island)) = (keep.contains(&k), island) {
                let (motions, pairs) = island.harvest(self.model, self.time, &mut self.machines, &mut self.actions);
                for (&body, motion) in island.dynamics.bodies.iter().zip(motions) {
                    self.motions[body as usize] = motion;
                }
                records.extend(pairs);
            }
        }
        records.sort_unstable_by_key(|r| r.id);
        let step_of = |body: u32| old.get(owner[body as usize]).and_then(|o| o.as_ref()).map(Island::next_step);
        let make = |group: reach::Group| {
            let none = |id| island::PairRecord { id, memory: Default::default(), springs: Default::default() };
            let record = |&id: &(u32, u32)| match records.binary_search_by_key(&id, |r| r.id) {
                Ok(k) => records[k],
                Err(_) => none(id),
            };
            let pairs: Vec<island::PairRecord> = group.pairs.iter().map(record).collect();
            let motions: Vec<Motion> = group.bodies.iter().map(|&b| self.motions[b as usize]).collect();
            let step = group.bodies.iter().filter_map(|&b| step_of(b)).fold(f64::INFINITY, f64::min);
            let mut island = Island::new(
                self.model,
                self.settings,
                self.time,
                group.bodies,
                &motions,
                &self.machines,
                &self.actions,
                &self.structure,
                &pairs,
                fresh,
            );
            island.start_with(step);
            island
        };
        let new: Vec<reach::Group> =
            groups.into_iter().zip(&kept).filter(|(_, kept)| kept.is_none()).map(|(group, _)| group).collect();
        let made: Vec<Island> = match &self.pool {
            Some(pool) => pool.install(|| new.into_par_iter().with_min_len(8).map(make).collect()),
            None => new.into_iter().map(make).collect(),
        };
        let switched = |island: &Island| island.dynamics.switched_since(self.model, &self.machines, self.time);
        let events = if fresh { Vec::new() } else { made.iter().flat_map(switched).collect() };
        // in the order of their first bodies
        let mut made = made.into_iter();
        self.islands = kept.iter().filter_map(|kept| kept.map_or_else(|| made.next(), |k| old[k].take())).collect();
        events
    }

    /// Every island to the end of the horizon on its own clock; a failure leaves them at its start.
    fn advance(&mut self, until: f64, observe: &mut dyn Observe) {
        let horizon = self.horizon;
        if let Err(failure) = self.advance_horizon(until, observe) {
            self.put_back();
            self.failure = Some(failure);
        } else if self.stopped {
            self.put_back();
            self.horizon = horizon;
        }
    }

    /// The horizon once, and again to a nearer end if a body left its box.
    fn advance_horizon(&mut self, until: f64, observe: &mut dyn Observe) -> Result<(), Failure> {
        let full = (self.time + self.horizon).min(self.structure.next_time(self.model).max(self.time));
        self.end = full.min(self.full_of_points()).min(self.next_handover());
        let cut = self.end < full;
        self.last = self.end >= until;
        if self.last {
            self.end = until;
        }
        self.summary.horizons += 1;
        self.samples = self.sample_times(self.end, until);
        let mut outcomes = self.advance_islands(until, observe)?;
        if self.stopped {
            return Ok(());
        }
        let asks = |outcomes: &[Outcome], by: f64| -> Vec<(u32, usize)> {
            outcomes.iter().flat_map(|o| &o.feeding).filter(|f| f.0 <= by).map(|f| f.1).collect()
        };
        let mut feeding = asks(&outcomes, self.end);
        let mut due: Vec<usize> =
            outcomes.iter().flat_map(|o| &o.due).filter(|d| d.0 <= self.end).map(|d| d.1 as usize).collect();
        // An island may step beyond the end; what it leaves there is the next horizon's affair.
        let exits = outcomes.iter().filter_map(|o| o.exit).filter(|&exit| exit < self.end);
        if let Some(exit) = exits.reduce(f64::min) {
            if exit - self.time < SHORTEST_HORIZON * self.time.abs().max(1.0) {
                return Err(self.runaway());
            }
            self.summary.horizons_repeated += 1;
            self.end = exit;
            self.last = false;
            self.put_back();
            self.samples = self.sample_times(exit, until);
            for reach in &mut self.boxes {
                *reach = Aabb { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY };
            }
            feeding = asks(&outcomes, exit);
            due = outcomes.iter().flat_map(|o| &o.due).filter(|d| d.0 <= exit).map(|d| d.1 as usize).collect();
            outcomes = self.advance_islands(until, observe)?;
            self.horizon *= 0.5;
        } else if !self.last && !cut {
            self.horizon = (2.0 * self.horizon).min(LONGEST_HORIZON);
        }
        let at = |c: &tippe_mechanics::model::ModelChange| c.at.is_some_and(|at| at <= self.end);
        due.extend((0..self.model.changes.len()).filter(|&k| !self.structure.done[k] && at(&self.model.changes[k])));
        self.due = due;
        self.feeding = feeding;
        self.outcomes = outcomes;
        Ok(())
    }

    /// All islands to the end of the horizon; between slices of a long one the observer may stop the run.
    fn advance_islands(&mut self, until: f64, observe: &mut dyn Observe) -> Result<Vec<Outcome>, Failure> {
        let (model, times) = (self.model, [self.time, self.end, until]);
        let settings = Settings { max_step: self.settings.max_step.min(2.0 * self.horizon), ..self.settings.clone() };
        let mut outcomes: Vec<Outcome> = vec![Outcome::default(); self.islands.len()];
        loop {
            let (boxes, samples) = (&self.boxes, &self.samples);
            let one = |(island, outcome): (&mut Island, &mut Outcome)| match outcome.done {
                true => Ok(()),
                false => island.advance(model, &settings, times, boxes, samples, outcome),
            };
            let heavy = |i: &Island| i.dynamics.pairs.len() >= SHARED || i.dynamics.pairs.iter().any(Pair::is_heavy);
            let shared = self.islands.len() > 1 || self.islands.iter().any(heavy);
            match &self.pool {
                Some(pool) if shared => {
                    let both = self.islands.par_iter_mut().zip(&mut outcomes).with_min_len(8);
                    pool.install(|| both.map(one).collect::<Result<(), Failure>>())?;
                }
                _ => self.islands.iter_mut().zip(&mut outcomes).try_for_each(one)?,
            }
            if outcomes.iter().all(|o| o.done) {
                return Ok(outcomes);
            }
            let behind = self.islands.iter().zip(&outcomes).filter(|(_, o)| !o.done);
            let time = behind.map(|(island, _)| island.time()).fold(self.end, f64::min);
            self.stopped = !observe.progress(&self.progress(&outcomes, time, until));
            if self.stopped {
                return Ok(outcomes);
            }
        }
    }

    /// Where the run stands with these outcomes on top of what was recorded.
    fn progress(&self, outcomes: &[Outcome], time: f64, until: f64) -> Progress {
        let smallest = outcomes.iter().filter_map(|o| o.smallest).min_by(|a, b| a.0.total_cmp(&b.0));
        Progress {
            time,
            until,
            step: smallest.map_or(f64::INFINITY, |s| s.0),
            limiter: smallest.map(|s| s.1),
            steps: self.summary.steps + outcomes.iter().map(|o| o.counts.steps).sum::<u64>(),
            contacts: self.summary.max_contacts,
            events: self.events,
        }
    }

    /// Islands as they were at the start of the horizon.
    fn put_back(&mut self) {
        for island in &mut self.islands {
            island.put_back(self.model, self.settings, &self.structure);
        }
    }

    fn runaway(&self) -> Failure {
        let fastest = (0..self.motions.len())
            .filter(|&b| self.model.bodies[b].drive == Drive::Free)
            .max_by(|&a, &b| self.motions[a].v.length().total_cmp(&self.motions[b].v.length()))
            .unwrap_or(0);
        Failure {
            time: self.time,
            step: self.horizon,
            trouble: Trouble::Runaway,
            body: self.model.bodies[fastest].name.clone(),
            component: None,
            suspects: Vec::new(),
            contacts: false,
        }
    }

    /// Time at which a horizon has as many communication points as it may [s].
    fn full_of_points(&self) -> f64 {
        let bodies = self.model.bodies.len().max(1) as f64;
        let points = (STATES_OF_HORIZON / bodies).clamp(400.0, POINTS_OF_HORIZON);
        let shortest = SHORTEST_HORIZON * self.time.abs().max(1.0);
        self.time + (points * self.settings.output_interval).max(shortest)
    }

    /// Communication points of the horizon that were not recorded yet.
    fn sample_times(&self, end: f64, until: f64) -> Vec<f64> {
        let mut times = Vec::new();
        if self.initial.is_none() {
            times.push(self.time);
        }
        let interval = self.settings.output_interval;
        if interval.is_finite() && interval > 0.0 {
            let from = self.recorded.max(self.time);
            let first = (from / interval).floor();
            // More can only be where the interval is below the resolution of the time.
            let most = POINTS_OF_HORIZON as u32 + 2;
            let points = (0..most).map(|k| (first + f64::from(k)) * interval);
            times.extend(points.take_while(|&t| t <= end).filter(|&t| t > from));
        }
        let from = self.recorded.max(self.time);
        times.extend(self.settings.record_at.iter().copied().filter(|&t| t > from && t <= end));
        if end >= until {
            times.push(until);
        }
        times.sort_unstable_by(f64::total_cmp);
        times.dedup();
        times
    }

    /// Hands the horizon to the observer in order of time, and commits it unless it was the last.
    fn record(&mut self, until: f64, observe: &mut dyn Observe) {
        if self.failure.is_some() || self.stopped {
            return;
        }
        observe.reach(&Reach { start: self.time, end: self.end, boxes: &self.boxes });
        let outcomes = std::mem::take(&mut self.outcomes);
        let mut events: Vec<&Event> =
            outcomes.iter().flat_map(|o| &o.events).filter(|e| e.time > self.recorded && e.time <= self.end).collect();
        let pair = |event: &Event| event.contact.as_ref().map(|contact| contact.pair);
        events.sort_by(|a, b| {
            let same_time = pair(a).cmp(&pair(b)).then_with(|| a.source.cmp(&b.source)).then(a.kind.cmp(&b.kind));
            a.time.total_cmp(&b.time).then(same_time)
        });
        let mut next_event = 0;
        let samples = std::mem::take(&mut self.samples);
        for (k, &t) in samples.iter().enumerate() {
            while next_event < events.len() && events[next_event].time <= t {
                self.note(events[next_event], observe);
                next_event += 1;
            }
            self.sample(&outcomes, k, t, observe);
        }
        for event in &events[next_event..] {
            self.note(event, observe);
        }
        let found = outcomes.iter().flat_map(|outcome| &outcome.found);
        for found in found.filter(|found| found.time > self.recorded && found.time <= self.end) {
            observe.found(found.mark, found.time, found.value);
        }
        let progress = self.progress(&outcomes, self.end, until);
        for outcome in &outcomes {
            self.beyond = self.beyond.or(outcome.beyond);
            let c = &outcome.counts;
            self.summary.steps += c.steps;
            self.summary.rejected += c.rejected;
            self.summary.rhs_evaluations += c.evaluations;
            self.summary.solutions.pairs += c.pairs;
            self.summary.solutions.contacts += c.contacts;
            let explicit = settings::method(self.settings.integrator).unwrap_or(Method::Dopri5).name();
            for (name, steps) in [(explicit, c.steps - c.implicit), (Method::Rodas4.name(), c.implicit)] {
                if steps > 0 {
                    *self.summary.steps_by_integrator.entry(name.to_owned()).or_default() += steps;
                }
            }
        }
        self.stopped = !observe.progress(&progress) && !self.last;
        self.recorded = self.recorded.max(self.end);
        self.show_subsystem(observe);
        if self.last {
            self.put_back();
            self.done = true;
        } else {
            self.time = self.end;
        }
    }

    fn note(&mut self, event: &Event, observe: &mut dyn Observe) {
        *self.summary.events.entry(event.kind).or_default() += 1;
        self.events += 1;
        observe.event(event);
    }

    fn sample(&mut self, outcomes: &[Outcome], k: usize, t: f64, observe: &mut dyn Observe) {
        let model = self.model;
        let mut bodies: Vec<BodyState> = (0..model.bodies.len())
            .map(|b| {
                let kin = prescribed(model, b, t);
                body_state(model, b, kin.p, Quat::from_mat3(&kin.R), kin.v, kin.w)
            })
            .collect();
        let mut ledger = Ledger::default();
        let mut contacts: Vec<ContactSample> = Vec::new();
        let mut signals = vec![0.0; model.signals.len()];
        for (island, outcome) in self.islands.iter().zip(outcomes) {
            let Ok(at) = outcome.samples.binary_search_by_key(&k, |s| s.index) else { continue };
            let sample = &outcome.samples[at];
            for (&body, state) in island.dynamics.bodies.iter().zip(&sample.bodies) {
                bodies[body as usize] = *state;
            }
            contacts.extend_from_slice(&sample.contacts);
            for &(k, value) in &sample.signals {
                signals[k as usize] = value;
            }
            ledger.kinetic += sample.energies[0];
            ledger.potential += sample.energies[1];
            ledger.elastic += sample.energies[2];
            for &(cause, energy) in &sample.elements {
                ledger[cause] += energy;
            }
            for (account, cause) in Account::CAUSES {
                ledger[cause] += sample.accounts[account as usize];
            }
            let k = Account::Impulse as usize;
            ledger.impulse += Vec3::new(sample.accounts[k], sample.accounts[k + 1], sample.accounts[k + 2]);
        }
        self.add_subsystem(t, &mut ledger, &mut signals);
        ledger[Cause::Fastening] += self.structure.fastening;
        ledger[Cause::Work] -= self.structure.removed;
        contacts.sort_unstable_by_key(|c| c.pair);
        ledger.initial = *self.initial.get_or_insert(ledger.stored());
        self.summary.max_contacts = self.summary.max_contacts.max(contacts.len());
        observe.sample(&Sample { time: t, bodies: &bodies, contacts: &contacts, energy: &ledger, signals: &signals });
        self.summary.bodies = bodies;
        self.summary.signals = signals;
        self.summary.energy = ledger;
    }

    fn finish(mut self, state: &mut State) -> Result<Summary, Failure> {
        state.time = self.time;
        state.horizon = self.horizon;
        state.recorded = self.initial.map(|_| self.recorded);
        state.initial = self.initial.unwrap_or(0.0);
        state.islands = self.islands.iter().map(|island| island.record(self.model)).collect();
        state.structure = self.structure.clone();
        let mut of_subsystem = Summary::default();
        if let (Some(subsystems), Some(handover)) = (&self.subsystems, &self.handover) {
            subsystems.summarise(self.model, &handover.records, &mut of_subsystem);
        }
        state.handover = self.handover_before.take().or(self.handover.take());
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        self.summary.stopped = self.stopped;
        if self.summary.bodies.is_empty() {
            // stopped before there was anything to record
            self.summary.bodies = self.model.start.clone();
        }
        self.summary.mechanisms = self.mechanism_summaries();
        self.summary.hash =
            tippe_mechanics::observe::hash(&self.summary.bodies, &self.summary.energy) ^ of_subsystem.hash;
        self.summary.grains = of_subsystem.grains;
        self.summary.warnings = self.model.warnings.clone();
        self.summary.warnings.extend(self.summary.energy.imbalance().filter(|_| self.model.is_booked()));
        self.summary.warnings.extend(of_subsystem.warnings);
        self.summary.warnings.extend(self.beyond.map(|beyond| self.model.pressed_through(beyond)));
        for kind in [EventKind::ContactStart, EventKind::ContactEnd] {
            self.summary.events.entry(kind).or_default();
        }
        Ok(self.summary)
    }
}

impl Clock<'_> {
    fn mechanism_summaries(&self) -> Vec<MechanismSummary> {
        let mut all: Vec<MechanismSummary> = (self.model.mechanisms.iter().zip(&self.model.mechanism_starts))
            .map(|(mechanism, start)| MechanismSummary {
                bodies: mechanism.links.iter().map(|l| self.model.bodies[l.body as usize].name.clone()).collect(),
                coordinates: mechanism.coordinates,
                rows: start.rows,
                redundant: start.redundant,
                freedom: (mechanism.coordinates + start.redundant).saturating_sub(start.rows),
                drift: 0.0,
            })
            .collect();
        for machine in self.islands.iter().flat_map(|i| &i.dynamics.machines) {
            all[machine.index as usize].drift = machine.drift;
        }
        all
    }
}
