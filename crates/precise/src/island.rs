//! One island on its own clock: steps; what happens at events is in `island/event.rs`, what lasts beyond a horizon in `island/record.rs`,
//! who is to blame for a failure in `island/suspects.rs`.
//!
//! A step is attempted, its error judged, and searched for crossings. Those over which the right-hand side stays smooth are
//! logged; all others cut the step at the first of them, where every crossing of that instant is handled.

mod event;
mod marks;
mod record;
mod sample;
mod suspects;

pub use marks::Found;
use marks::{Left, OwnMarks};
pub use record::{IslandRecord, PairRecord};
pub use sample::IslandSample;

use super::crossing::{Crossing, Search, What};
use super::dynamics::Dynamics;
use super::failure::{Failure, Trouble};
use super::layout::{ACCOUNTS, Account, set, vector};
use super::pair::{Memory, Reading};
use super::settings::{Settings, method};
use super::system::{Bound, STEP_SHARE};
use super::watch::Watch;
use serde::{Deserialize, Serialize};
use tippe_geometry::{Aabb, Quat, Vec3};
use tippe_mechanics::contact::friction::Springs;
use tippe_mechanics::event::{Episode, Event, EventContact, EventKind};
use tippe_mechanics::kinematics::Frame;
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::model::{Model, body_state};
use tippe_mechanics::state::{ActionRecord, MachineRecord};
use tippe_mechanics::structure::Structure;
use tippe_numerics::ode::{interpolate, interpolate_all};
use tippe_numerics::root::locate;
use tippe_numerics::{Method, Stepper};

/// First step of a new island, as a share of a second [s]; the controller finds the right one within a few steps.
const FIRST_STEP: f64 = 1e-5;
/// Steps below this share of the time (and of a second) are too short [-].
const SMALLEST_STEP: f64 = 1e-15;
/// First step after a touch, as a share of the contact's duration [-].
const TOUCH_STEP: f64 = 0.05;
/// Stability limit of Dormand-Prince on the negative axis is 3.3: steps beyond this are held back by stability [-].
const STIFF: f64 = 2.5;
/// Steps of the implicit method below this are not twice those of the explicit one, and each costs several times as much [-].
const NOT_STIFF: f64 = 5.0;
/// Steps that decide a change of method, and consecutive ones after which they are forgotten one by one.
const DECISION: u32 = 6;
/// Where the implicit method made no longer steps, so many times more are needed before it is tried again.
const RELUCTANCE: u32 = 4;
/// Steps without gain after which the implicit method is given up, and the most that are needed before it is tried again.
const IMPATIENT: (u32, u32) = (DECISION, 20_000);
/// The same where solids touch over areas: there it damps first what the explicit one left at the edge of its stability, and a reading costs more.
const PATIENT: (u32, u32) = (24, 1_000);
/// Steps of the implicit method beyond this are what it is for [-].
const WORTH_IT: f64 = 20.0;
/// Attempted steps of one island in one horizon that are a failure.
const STALL: u64 = 3_000_000;
/// So many attempted steps are a failure already if they advance by less than `STALL_SHARE` of the run.
const STALL_WINDOW: u64 = 500_000;
/// See `STALL_WINDOW` [-].
const STALL_SHARE: f64 = 5e-6;
/// Attempted steps after which an island lets others have a look ...
const SLICE: u64 = 20_000;
/// ... or readings of pairs, evaluation by evaluation; one of surfaces of triangles counts for `SURFACE_READINGS`.
const SLICE_READINGS: u64 = 200_000;
/// See `SLICE_READINGS`.
const SURFACE_READINGS: u64 = 1000;
/// Rounding of the place of a body as a share of its size, with that of what it hangs on [-].
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Errors of a step beyond this are never taken for rounding [-].
const MOST_ROUNDING: f64 = 1e-7;
/// A step that ends this share of itself short of an instant ends there [-].
const NEARLY: f64 = 1e-3;
/// Rounds in which joint friction and drives find out who holds and who gives way.
const SETTLING: usize = 10;
/// Consecutive events without progress that are a failure.
const STORM: u32 = 1000;

/// States smaller than this are zero [SI].
const NOTHING: f64 = 1e-100;

/// Steps of a run below this are a failure at time t [s].
fn smallest_step(t: f64) -> f64 {
    SMALLEST_STEP * t.abs().max(1.0)
}

/// A step whose error is small enough.
struct Taken {
    /// Its length [s].
    h: f64,
    /// Length of the next one [s].
    next: f64,
    /// Step times the fastest rate seen [-].
    stiffness: f64,
    /// It ends where equations have a kink or a jump.
    to_instant: bool,
}

/// Motion of one body at one instant, with its part of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Motion {
    /// Centre of mass [m].
    pub p: Vec3,
    /// Orientation.
    pub q: Quat,
    /// Velocity [m/s].
    pub v: Vec3,
    /// Angular velocity [rad/s].
    pub w: Vec3,
    /// Acceleration [m/s^2], for the reach of the next horizon.
    pub a: Vec3,
    /// Integrals of the ledger [J], in the order of [`Account`].
    pub accounts: [f64; ACCOUNTS],
}

/// Counts of one island.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Accepted steps.
    pub steps: u64,
    /// Accepted steps of the implicit method.
    pub implicit: u64,
    /// Rejected attempts.
    pub rejected: u64,
    /// Evaluations of the right-hand side.
    pub evaluations: u64,
    /// Pairs read by them.
    pub pairs: u64,
    /// Of these, those that touched.
    pub contacts: u64,
}

/// What one horizon of one island brought.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// When a body left its reach box, if one did [s].
    pub exit: Option<f64>,
    /// Structural changes that became due, and when [s].
    pub due: Vec<(f64, u32)>,
    /// Cables whose leads asked for an element to come in or go, and the modes that said so, and when [s].
    pub feeding: Vec<(f64, (u32, usize))>,
    /// Events, by time.
    pub events: Vec<Event>,
    /// Communication points.
    pub samples: Vec<IslandSample>,
    /// Where marks are largest or smallest, or vanish.
    pub found: Vec<Found>,
    /// Work done.
    pub counts: Counts,
    /// Smallest step tried [s], and the body that asked for it.
    pub smallest: Option<(f64, usize)>,
    /// The first pair that passed the middle of one of its solids: when, which elements, how deep [s], [m].
    pub beyond: Option<(f64, (u32, u32), f64)>,
    /// It has come to the end of the horizon, or to a body's exit.
    pub done: bool,
    /// Communication points taken.
    sampled: usize,
    /// Up to here marks were looked for [s].
    looked: f64,
    /// Attempted steps and time at the last look for a stall.
    mark: (u64, f64),
}

/// An island and its clock.
#[derive(Clone, Debug)]
pub struct Island {
    /// Its equations.
    pub dynamics: Dynamics,
    stepper: Stepper,
    method: Method,
    /// The method is the island's own choice.
    automatic: bool,
    /// Next step to try [s].
    h: f64,
    error_old: f64,
    decision: u32,
    content: u32,
    reluctance: u32,
    storm: u32,
    /// Crossings of the last step that are still to be acted upon.
    crossings: Vec<Crossing>,
    /// What the pairs read at the start of the last step.
    begin: Vec<Reading>,
    /// The blocks of the Jacobian are those of the present contact set.
    coupled: bool,
    /// Their gaps there [m].
    begin_gaps: Vec<f64>,
    scratch: Vec<Kinematics>,
    corrections: Vec<f64>,
    /// The island as it was at the start of the horizon, if it has moved since.
    before: Option<Box<IslandRecord>>,
    /// Marks that belong to it, once that is known, and where each of all marks stood at the last look.
    own_marks: Option<OwnMarks>,
    left: Vec<Option<Left>>,
    /// Values of the watches at the start of the next step, and at the end of the attempted one.
    watched: Vec<f64>,
    watched_end: Vec<f64>,
}

impl Island {
    /// A new island at time t from the motions of its bodies and the records of its pairs (both ascending).
    #[expect(clippy::too_many_arguments, reason = "to be cut: what of a state makes an island")]
    pub fn new(
        model: &Model,
        settings: &Settings,
        t: f64,
        bodies: Vec<u32>,
        motions: &[Motion],
        machines: &[MachineRecord],
        actions: &ActionRecord,
        structure: &Structure,
        records: &[PairRecord],
        fresh: bool,
    ) -> Island {
        let ids: Vec<(u32, u32)> = records.iter().map(|r| r.id).collect();
        let mut dynamics = Dynamics::new(model, bodies, &ids, settings.tolerance);
        dynamics.skin.used = dynamics.wants_skin();
        let mut y = vec![0.0; dynamics.length()];
        for (k, m) in motions.iter().enumerate() {
            for (sum, a) in dynamics.carried[dynamics.node_of[k]].iter_mut().zip(m.accounts) {
                *sum += a;
            }
            if dynamics.link_of[k].is_some() {
                continue;
            }
            let o = dynamics.offset_of[k];
            set(&mut y, o, m.p);
            set(&mut y, o + 6, m.v);
            let body = &model.bodies[dynamics.bodies[k] as usize];
            set(&mut y, o + 9, if body.isotropic { m.w } else { m.q.conjugate() * m.w });
            dynamics.frames[k] = Frame { rotation: m.q, rate: m.w };
        }
        for machine in &mut dynamics.machines {
            machine.restore(model, &machines[machine.index as usize], &mut y, &mut dynamics.frames);
        }
        dynamics.restore_actions(model, actions, &mut y);
        dynamics.remember(structure);
        dynamics.frame_time = t;
        for (k, record) in records.iter().enumerate().take(dynamics.pairs.len()) {
            dynamics.recall(k, record.memory);
            Dynamics::set_springs(&dynamics.pairs[k], &mut y, &record.springs);
        }
        let fixed = method(settings.integrator);
        let mut island = Island {
            scratch: dynamics.kinematics.clone(),
            corrections: Vec::new(),
            watched: Vec::new(),
            watched_end: Vec::new(),
            own_marks: None,
            left: Vec::new(),
            before: None,
            dynamics,
            stepper: Stepper::default(),
            method: fixed.unwrap_or(Method::Dopri5),
            automatic: fixed.is_none(),
            h: settings.step.unwrap_or(FIRST_STEP),
            error_old: 1e-4,
            decision: 0,
            content: 0,
            reluctance: DECISION,
            storm: 0,
            crossings: Vec::new(),
            begin: Vec::new(),
            begin_gaps: Vec::new(),
            coupled: false,
        };
        island.dynamics.actions.edge = t;
        island.stepper.resume(&mut Bound { model, dynamics: &mut island.dynamics }, t, &y);
        if fresh {
            island.initial_contacts(model, t);
        }
        island.settle_elements(model);
        island
    }

    /// Joint friction, drives and watches at the start of the next step; after an evaluation there.
    fn settle_elements(&mut self, model: &Model) {
        let t = self.stepper.t0;
        for round in 0..SETTLING {
            let d = &mut self.dynamics;
            let elements = !d.actions.is_empty() && d.settle_elements(model, t, &self.stepper.y0);
            let one_way = (elements || round == 0) && d.settle_one_way(model, t, &mut self.stepper.y0);
            if !elements && !one_way {
                break;
            }
            if elements {
                d.follow_motions(model, t, &mut self.stepper.y0);
            }
            let y = self.stepper.y0.clone();
            self.stepper.resume(&mut Bound { model, dynamics: &mut self.dynamics }, t, &y);
        }
        let mut watched = std::mem::take(&mut self.watched);
        self.dynamics.watch(model, t, &self.stepper.y0, &mut watched);
        self.watched = watched;
    }

    /// Contacts that already touch when the simulation starts.
    fn initial_contacts(&mut self, model: &Model, t: f64) {
        for k in 0..self.dynamics.pairs.len() {
            let pair = &self.dynamics.pairs[k];
            let rounding = 64.0 * f64::EPSILON * self.dynamics.kinematics[pair.sides[0]].p.length();
            let reading = pair.read(model, &self.dynamics.kinematics, &Springs::default(), true);
            if !pair.memory.touching && reading.gap <= pair.hysteresis.max(rounding) {
                let energy = pair.energy_at_start(model, &self.dynamics.kinematics, &reading);
                self.dynamics.carried[pair.node][Account::Elastic as usize] += energy;
                self.touch(k, &reading, t);
            }
        }
        let y = self.stepper.y0.clone();
        self.stepper.resume(&mut Bound { model, dynamics: &mut self.dynamics }, t, &y);
        self.settle(model);
    }

    /// Tries this step first instead of its own guess [s].
    pub fn start_with(&mut self, step: f64) {
        if step.is_finite() && !self.method.is_fixed() {
            self.h = step;
        }
    }

    /// Step the island would try next [s].
    pub fn next_step(&self) -> f64 {
        self.h
    }

    /// True when it has exactly these bodies and pairs.
    pub fn is(&self, bodies: &[u32], pairs: &[(u32, u32)]) -> bool {
        self.dynamics.bodies == bodies
            && self.dynamics.pairs.len() == pairs.len()
            && self.dynamics.pairs.iter().zip(pairs).all(|(p, id)| p.id == *id)
    }

    /// Position in the last step of a time within it.
    fn theta(&self, t: f64) -> f64 {
        if self.stepper.h > 0.0 {
            ((t - (self.stepper.t0 - self.stepper.h)) / self.stepper.h).clamp(0.0, 1.0)
        } else {
            1.0
        }
    }

    /// Motion of body `k` (local) at time t within the last step.
    pub fn motion(&self, model: &Model, k: usize, t: f64) -> Motion {
        let theta = self.theta(t);
        let n = self.stepper.y0.len();
        let at = |i: usize| interpolate(&self.stepper.dense, n, i, theta);
        let three = |i: usize| Vec3::new(at(i), at(i + 1), at(i + 2));
        let d = &self.dynamics;
        let accounts = self.accounts(k, theta);
        if d.link_of[k].is_some() {
            let kin = d.motion_at(model, k, t - d.frame_time, &at);
            let q = Quat::from_mat3(&kin.R).normalize();
            return Motion { p: kin.p, q, v: kin.v, w: kin.w, a: d.accelerations[k], accounts };
        }
        let o = d.offset_of[k];
        let q = if model.bodies[d.bodies[k] as usize].colliders.is_empty() && d.frames[k].rate == Vec3::ZERO {
            d.frames[k].rotation
        } else {
            d.frames[k].orientation(t - d.frame_time, three(o + 3)).normalize()
        };
        let isotropic = model.bodies[d.bodies[k] as usize].isotropic;
        let w = if isotropic { three(o + 9) } else { q * three(o + 9) };
        Motion { p: three(o), q, v: three(o + 6), w, a: vector(&self.stepper.f0, o + 6), accounts }
    }

    /// Integrals of the ledger that body `k` keeps, at theta of the last step [J].
    fn accounts(&self, k: usize, theta: f64) -> [f64; ACCOUNTS] {
        let d = &self.dynamics;
        let node = d.node_of[k];
        if d.first_of[node] != k {
            // the first body keeps the books of its mechanism
            return [0.0; ACCOUNTS];
        }
        let mut accounts = d.carried[node];
        let own = d.accounts(&self.stepper.y0, node).len();
        for (i, a) in accounts.iter_mut().enumerate().take(own) {
            *a += interpolate(&self.stepper.dense, self.stepper.y0.len(), d.account_start(node) + i, theta);
        }
        accounts
    }

    /// Advances from the start of the horizon to `end`, unless a body leaves its reach box first, in slices of so many steps:
    /// to be called until the outcome is done. `samples` are the communication points of the horizon, `until` [s] is the end
    /// of the run.
    pub fn advance(
        &mut self,
        model: &Model,
        settings: &Settings,
        [from, end, until]: [f64; 3],
        reach: &[Aabb],
        samples: &[f64],
        outcome: &mut Outcome,
    ) -> Result<(), Failure> {
        self.dynamics.parallel = settings.threads != 1;
        let before = self.stepper.evaluations;
        let read = self.dynamics.read;
        let work: u64 = self.dynamics.pairs.iter().map(|p| if p.is_surface() { SURFACE_READINGS } else { 1 }).sum();
        let most = before + SLICE_READINGS / work.max(1);
        if outcome.counts == Counts::default() {
            self.before = None;
            outcome.looked = from;
            self.take_samples(model, samples, end, outcome);
            self.find_marks(model, settings, end, outcome);
            outcome.exit = self.exit(model, reach, from, end);
            outcome.mark = (0, self.stepper.t0);
        }
        let tried = |counts: &Counts| counts.steps + counts.rejected;
        let slice = tried(&outcome.counts) + SLICE;
        while outcome.exit.is_none() && self.stepper.t0 < end {
            let tries = tried(&outcome.counts);
            if tries >= slice || self.stepper.evaluations > most {
                self.count(before, read, &mut outcome.counts);
                return Ok(());
            }
            self.keep(model);
            self.act(model, outcome)?;
            self.step(model, settings, outcome)?;
            self.check_outside(model)?;
            if tries - outcome.mark.0 >= STALL_WINDOW || tries >= STALL {
                if tries >= STALL || self.stepper.t0 - outcome.mark.1 < STALL_SHARE * until.abs() {
                    return Err(self.failure(model, self.stepper.t0, self.stepper.h, Trouble::Stall));
                }
                outcome.mark = (tries, self.stepper.t0);
            }
            outcome.exit = self.exit(model, reach, from, end);
            self.find_due(model, end, outcome);
            self.take_samples(model, samples, end, outcome);
            self.find_marks(model, settings, end, outcome);
        }
        self.log(model, end, outcome);
        self.count(before, read, &mut outcome.counts);
        outcome.done = true;
        Ok(())
    }

    /// Adds the evaluations and readings made since there were so many.
    fn count(&self, evaluations: u64, read: [u64; 2], counts: &mut Counts) {
        counts.evaluations += self.stepper.evaluations - evaluations;
        counts.pairs += self.dynamics.read[0] - read[0];
        counts.contacts += self.dynamics.read[1] - read[1];
    }

    /// Time it has come to [s].
    pub fn time(&self) -> f64 {
        self.stepper.t0
    }

    /// Structural changes that became due at the end of the last step end the horizon there.
    fn find_due(&self, model: &Model, end: f64, outcome: &mut Outcome) {
        for crossing in self.crossings.iter().filter(|c| c.what == What::Watch && self.stepper.t0 <= end) {
            match self.dynamics.actions.watches[crossing.pair] {
                Watch::Change(k) => outcome.due.push((self.stepper.t0, k)),
                Watch::Element(k, which) => {
                    let element = self.dynamics.actions.elements[k].element;
                    if model.elements[element as usize].kind.feeds_by(which).is_none() {
                        continue;
                    }
                    outcome.feeding.push((self.stepper.t0, (element, which)));
                }
                _ => continue,
            }
            outcome.exit = Some(outcome.exit.map_or(self.stepper.t0, |e| e.min(self.stepper.t0)));
        }
    }

    /// One accepted step.
    fn step(&mut self, model: &Model, settings: &Settings, outcome: &mut Outcome) -> Result<(), Failure> {
        self.turn_frames(model);
        self.couple(model);
        self.note_begin();
        let t = self.stepper.t0;
        let instant = self.dynamics.next_instant(model, t);
        let taken = self.attempt(model, settings, instant, outcome)?;
        let stop = self.cut_at_events(model, &taken)?;
        self.choose_method(taken.stiffness, outcome);
        self.stepper.accept();
        std::mem::swap(&mut self.watched, &mut self.watched_end);
        self.project(model);
        self.dynamics.keep(model, self.stepper.t0, &self.stepper.y0);
        outcome.counts.steps += 1;
        if self.dynamics.has_patches && outcome.beyond.is_none() {
            let deep = self.dynamics.pairs.iter().find(|pair| pair.last.beyond && pair.last.gap <= 0.0);
            outcome.beyond = deep.map(|pair| (self.stepper.t0, pair.id, -pair.last.gap));
        }
        self.storm = if stop && self.stepper.h <= 1e-12 * t.abs().max(1e-3) { self.storm + 1 } else { 0 };
        if self.storm > STORM {
            return Err(self.failure(model, t, self.stepper.h, Trouble::Storm));
        }
        self.h = taken.next;
        Ok(())
    }

    /// Which states the implicit method has to solve together.
    fn couple(&mut self, model: &Model) {
        if self.method == Method::Rodas4 && !self.coupled {
            if self.dynamics.couple(model) {
                self.stepper.forget_pattern();
            }
            self.coupled = true;
        }
    }

    /// Remembers what the pairs read at the start of the step.
    fn note_begin(&mut self) {
        self.begin_gaps.clone_from(&self.dynamics.gaps);
        self.begin.resize(self.dynamics.pairs.len(), Reading::default());
        for &k in &self.dynamics.general {
            let k = k as usize;
            let (begin, pair) = (&mut self.begin[k], &mut self.dynamics.pairs[k]);
            pair.regions_seen = [pair.last.regions.number; 2];
            if self.begin_gaps[k] <= 0.0 || self.dynamics.touching[k] {
                *begin = pair.last;
                begin.gap = self.begin_gaps[k];
            }
        }
    }

    /// Tries steps, shorter and shorter, until the error of one is small enough; none goes beyond `instant`.
    fn attempt(
        &mut self,
        model: &Model,
        settings: &Settings,
        instant: f64,
        outcome: &mut Outcome,
    ) -> Result<Taken, Failure> {
        let t = self.stepper.t0;
        let fixed = self.method.is_fixed();
        let mut h = if fixed { settings.step.unwrap_or(self.h) } else { self.h.min(settings.max_step) };
        if fixed {
            self.dynamics.actions.edge = t;
        } else if t + h * (1.0 + NEARLY) >= instant {
            h = instant - t;
        }
        let mut stiffest: f64 = 0.0;
        // the step that would have ended at a dead point; the last one whose error was too large, with the error
        let (mut shortened, mut failed) = (None, None);
        let error = loop {
            for &k in &self.dynamics.general {
                self.dynamics.pairs[k as usize].dipped = false;
            }
            self.dynamics.machines.iter_mut().for_each(|machine| machine.work.begin());
            self.dynamics.step = h;
            let attempt = self.stepper.attempt(&mut Bound { model, dynamics: &mut self.dynamics }, self.method, h);
            stiffest = stiffest.max(self.stepper.stiffness);
            let worst = self.dynamics.bodies[self.dynamics.worst] as usize;
            if outcome.smallest.is_none_or(|(s, _)| h < s) {
                outcome.smallest = Some((h, worst));
            }
            match attempt {
                Ok(error) if error <= 1.0 && !fixed && self.search(model).has_unseen_blow() => h *= 0.5,
                Ok(error) if error <= 1.0 && !fixed && shortened.is_none() && self.ends_at_dead_point() => {
                    shortened = Some(h);
                    h *= 0.5;
                }
                Ok(error) if error <= 1.0 || fixed => break error,
                Ok(error) if self.is_rounding(h, error, failed) => {
                    shortened = Some(self.h);
                    break 1.0;
                }
                Ok(error) => {
                    failed = Some((h, error));
                    let factor = 0.9 * libm::pow(error, -1.0 / self.method.control_order());
                    h *= factor.clamp(0.1, 0.9);
                }
                Err(_) if fixed => return Err(self.failure(model, t, h, Trouble::NotFinite)),
                Err(_) => h *= 0.2,
            }
            outcome.counts.rejected += 1;
            if h < smallest_step(t) {
                return Err(self.failure(model, t, h, Trouble::StepTooSmall));
            }
        };
        // of the step the error allows, however near an event cuts it
        let stiffness = if self.method == Method::Dopri5 { stiffest } else { self.stepper.stiffness };
        let to_instant = !fixed && h == instant - t;
        let next = if fixed { h } else { self.next_after(h, error).max(shortened.unwrap_or(0.0)) };
        let next = if to_instant { next.max(self.h) } else { next };
        Ok(Taken { h, next, stiffness, to_instant })
    }

    /// Length of the step after one of length `h` with this error, by both and the error before.
    fn next_after(&mut self, h: f64, error: f64) -> f64 {
        let order = self.method.control_order();
        let error = error.max(1e-10);
        // what has grown is damped where stability holds the step, which it does not in the implicit method
        let (p, i) = if self.method == Method::Rodas4 { (1.0, 0.0) } else { (0.7, 0.4) };
        let factor = 0.9 * libm::pow(error, -p / order) * libm::pow(self.error_old, i / order);
        self.error_old = error.max(1e-4);
        h * factor.clamp(0.2, 5.0)
    }

    /// Looks for events in the step taken, and takes it again as far as the first that ends it, with full accuracy there; true if one does.
    fn cut_at_events(&mut self, model: &Model, taken: &Taken) -> Result<bool, Failure> {
        let (t, h, fixed) = (self.stepper.t0, taken.h, self.method.is_fixed());
        self.watch_end(model);
        let mut crossings = std::mem::take(&mut self.crossings);
        let mut stop = self.search(model).scan(h, fixed, &mut crossings);
        if taken.to_instant {
            crossings.push(Crossing { time: t + h, pair: 0, what: What::Instant, urgent: false, logged: true });
            stop = stop.or(Some(1.0));
        }
        if let Some(theta) = stop
            && theta < 1.0
        {
            let cut = (theta * h).max(smallest_step(t));
            let again = self.stepper.attempt(&mut Bound { model, dynamics: &mut self.dynamics }, self.method, cut);
            if again.is_err() {
                return Err(self.failure(model, t, cut, Trouble::NotFinite));
            }
            self.watch_end(model);
            crossings = self.search(model).cut(&crossings, h, cut);
        }
        self.crossings = crossings;
        Ok(stop.is_some())
    }

    /// True where the attempted step ends so near to a dead point that the loops hardly say there how its bodies move: rates that
    /// fit the rounding x of its place at distance d are off by x/d^2. A shorter step lets the next pass the dead point between
    /// its stages.
    fn ends_at_dead_point(&self) -> bool {
        self.dynamics.machines.iter().any(|machine| machine.work.ends_at_dead_point())
    }

    /// True where the error of the attempted step is rounding that a dead point magnifies: below what the smallest pivot of the
    /// rows makes of it, and not less by half in a step half as long.
    fn is_rounding(&self, h: f64, error: f64, failed: Option<(f64, f64)>) -> bool {
        let Some((machine, _)) = self.dynamics.link_of[self.dynamics.worst] else { return false };
        let machine = &self.dynamics.machines[machine as usize];
        let floor = (ROUNDING * machine.bodies.len() as f64 / machine.work.least_pivot()).min(MOST_ROUNDING);
        error * STEP_SHARE * self.dynamics.tolerance < floor
            && failed.is_some_and(|(longer, before)| error * longer >= before * h)
    }

    /// Values of the watches at the end of the attempted step.
    fn watch_end(&mut self, model: &Model) {
        let mut watched = std::mem::take(&mut self.watched_end);
        self.dynamics.watch(model, self.stepper.t0 + self.stepper.h, &self.stepper.y1, &mut watched);
        self.watched_end = watched;
    }

    /// Loops are closed again where the step left them open by its error; the dense output ends there too. Near a dead
    /// point the rates that fit the old place do not fit the new one, and what is left of them is divided by the distance
    /// from the dead point twice: there it is done again at the new place.
    fn project(&mut self, model: &Model) {
        self.project_once(model);
        if self.dynamics.machines.iter().any(|machine| machine.work.near_dead_point()) {
            self.stepper.refresh(&mut Bound { model, dynamics: &mut self.dynamics });
            self.project_once(model);
            self.stepper.refresh(&mut Bound { model, dynamics: &mut self.dynamics });
        }
    }

    fn project_once(&mut self, model: &Model) {
        let n = self.stepper.y0.len();
        for k in 0..self.dynamics.machines.len() {
            let machine = &mut self.dynamics.machines[k];
            machine.project(model, &mut self.stepper.y0, &mut self.corrections);
            let offset = machine.offset;
            for (i, c) in self.corrections.iter().enumerate() {
                self.stepper.dense[n + offset + i] += c;
            }
        }
        self.dynamics.follow_motions(model, self.stepper.t0, &mut self.stepper.y0);
    }

    /// A step that is held back by stability goes to the implicit method, one that is not comes back. Held back means that
    /// any attempt at it was, so that steps which keep bouncing off the limit count too.
    fn choose_method(&mut self, stiffness: f64, outcome: &mut Outcome) {
        if self.method == Method::Rodas4 {
            outcome.counts.implicit += 1;
        }
        if !self.automatic {
            return;
        }
        let wanted = match self.method {
            Method::Dopri5 if stiffness > STIFF => Method::Rodas4,
            Method::Rodas4 if stiffness < NOT_STIFF => Method::Dopri5,
            method => method,
        };
        if self.method == Method::Rodas4 && stiffness > WORTH_IT {
            self.reluctance = DECISION;
        }
        if wanted == self.method {
            // over areas one reading of the stiffness says little: they swing from step to step
            self.content += 1;
            self.decision = match self.dynamics.has_patches {
                true if self.content < DECISION => self.decision,
                true => self.decision.saturating_sub(1),
                false => 0,
            };
            return;
        }
        self.content = 0;
        self.decision += 1;
        let (patience, most) = if self.dynamics.has_patches { PATIENT } else { IMPATIENT };
        let needed = if wanted == Method::Rodas4 { self.reluctance } else { patience };
        if self.decision >= needed {
            if wanted == Method::Dopri5 {
                self.reluctance = (RELUCTANCE * self.reluctance).min(most);
            }
            self.method = wanted;
            self.decision = 0;
        }
    }

    /// Orientation frames start anew: g = 0, turning at the present rate.
    fn turn_frames(&mut self, model: &Model) {
        let d = &mut self.dynamics;
        let t = self.stepper.t0;
        for machine in &d.machines {
            let (y, f) = (&mut self.stepper.y0, &mut self.stepper.f0);
            machine.turn_frames(model, y, f, &mut d.frames, t - d.frame_time);
        }
        for k in 0..d.bodies.len() {
            if d.link_of[k].is_some() {
                continue;
            }
            let o = d.offset_of[k];
            let (g, w) = (vector(&self.stepper.y0, o + 3), vector(&self.stepper.y0, o + 9));
            let rotation = d.frames[k].orientation(t - d.frame_time, g).normalize();
            let isotropic = model.bodies[d.bodies[k] as usize].isotropic;
            d.frames[k] = Frame { rotation, rate: if isotropic { w } else { rotation * w } };
            set(&mut self.stepper.y0, o + 3, Vec3::ZERO);
            set(&mut self.stepper.f0, o + 3, Vec3::ZERO);
        }
        d.frame_time = t;
        // decayed motion ends here: numbers without digits are slow and mean nothing
        for x in &mut self.stepper.y0[..d.pattern.rows()] {
            if x.abs() < NOTHING {
                *x = 0.0;
            }
        }
    }

    /// The attempted or last step, open to questions.
    fn search<'a>(&'a mut self, model: &'a Model) -> Search<'a> {
        Search {
            model,
            dynamics: &self.dynamics,
            stepper: &self.stepper,
            begin: &self.begin,
            begin_gaps: &self.begin_gaps,
            watched: &self.watched,
            watched_end: &self.watched_end,
            scratch: &mut self.scratch,
        }
    }

    /// Full reading of a pair at `theta` of the attempted or last step.
    fn read_at(&mut self, model: &Model, pair: usize, theta: f64) -> Reading {
        self.search(model).read_at(pair, theta)
    }

    /// When between `from` and `end` a body left its reach box in the last step, if one did.
    fn exit(&self, model: &Model, reach: &[Aabb], from: f64, end: f64) -> Option<f64> {
        let n = self.stepper.y0.len();
        let h = self.stepper.h;
        let start = self.stepper.t0 - h;
        let (first, last) = (self.theta(from.max(start)), self.theta(end.min(self.stepper.t0)));
        let mut exit: Option<f64> = None;
        for (k, &body) in self.dynamics.bodies.iter().enumerate() {
            let reach = &reach[body as usize];
            if reach.max.x == f64::INFINITY {
                continue;
            }
            let o = self.dynamics.offset_of[k];
            let linked = self.dynamics.link_of[k].is_some();
            let at = |theta: f64| {
                let c = |i: usize| interpolate(&self.stepper.dense, n, i, theta);
                if linked {
                    self.dynamics.motion_at(model, k, theta * h, &c).p
                } else {
                    Vec3::new(c(o), c(o + 1), c(o + 2))
                }
            };
            let inside = |p: Vec3| reach.min.cmple(p).all() && p.cmple(reach.max).all();
            let quarter = 0.25 * (last - first);
            let Some(out) = (1..=4).map(|i| first + quarter * i as f64).find(|&theta| !inside(at(theta))) else {
                continue;
            };
            let (mut low, mut high) = (out - quarter, out);
            for _ in 0..30 {
                let middle = 0.5 * (low + high);
                if inside(at(middle)) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            let t = start + low * h;
            exit = Some(exit.map_or(t, |e: f64| e.min(t)));
        }
        exit
    }
}
