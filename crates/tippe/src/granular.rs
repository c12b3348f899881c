//! The granular clock: grains by explicit steps, bodies as walls (docs/theory/grains.md).
//!
//! Fixed bodies and those with given motion are walls. Free bodies are walls that move by the impulses the grains give them:
//! with v at the beginning of a step and the forces F of the grains there,
//!   v' = v + h/2 (g + F/m),   x+ = x + h v',   v+ = v + h g + J/m,
//! where J is the impulse the grains felt over the step, with the other sign: momentum is exact. Rotation is the same with the
//! angular momentum about the centre of mass in place of m v. Bodies do not touch each other in this clock.

use crate::cause::Cause;
use crate::kinematics::BodyMotion;
use crate::kinematics::BodyState;
use crate::kinematics::Kinematics;
use crate::ledger::Ledger;
use crate::model::{Drive, Model, ModelGrains, Pace, SignalSource, body_state, kinetic, prescribed};
use crate::observe::hash;
use crate::observe::{GrainSummary, Observe, Progress, Sample, Summary};
use crate::scene::Scene;
use serde::{Deserialize, Serialize};
use tippe_geometry::{Mat3, Pose, Quat, Vec3};
use tippe_granular::{Emitter, Frame, GrainError, Grains, Hasty, HastyWall, Sink, Wall};
use tippe_mechanics::grains::{EMITTER_INTERVAL, SetMeasures, WallRecord};
use tippe_scene::text::plain;
use tippe_scene::{endless, is_endless};

/// Grain steps between two reports of progress.
const BATCH: u64 = 2_000_000;

/// How to run the granular clock. In files what is infinite, or not given, is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Step [s]; the scene's if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// Time between communication points [s]; they are the steps nearest to it.
    #[serde(default = "endless", skip_serializing_if = "is_endless")]
    pub output_interval: f64,
    /// Time between snapshots of all grains [s].
    pub snapshot_interval: f64,
    /// More times to record around: the steps before and after them [s], rising.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub record_at: Vec<f64>,
    /// Threads; 0 for all there are. The result does not depend on it.
    #[serde(skip)]
    pub threads: usize,
}

impl Settings {
    /// The scene's own settings.
    pub fn from_scene(scene: &Scene) -> Settings {
        Settings {
            step: scene.granular.step,
            output_interval: scene.run.output_interval,
            snapshot_interval: scene.granular.snapshot_interval.unwrap_or(0.1 * scene.run.until),
            record_at: Vec::new(),
            threads: 0,
        }
    }
}

/// Why a simulation stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// When [s].
    pub time: f64,
    /// What, how much, what to try.
    pub what: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at t = {} s: {}", plain(self.time), self.what)
    }
}

impl std::error::Error for Failure {}

/// Everything that survives a step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    /// Steps made.
    pub steps: u64,
    /// Now [s].
    pub time: f64,
    /// Step it was made with [s]; none before the first.
    step: Option<f64>,
    grains: Grains,
    /// Free bodies' frames c, in model order; others stay at their start here.
    bodies: Vec<BodyMotion>,
    walls: Vec<WallRecord>,
    emitters: Vec<Emitter>,
    sinks: Vec<Sink>,
    servos: Vec<Pace>,
    /// Stored energy at the start, and what the books of the grains had been given by then [J].
    initial: Option<[f64; 2]>,
    /// Work of free bodies on grains since the start [J].
    exchanged: f64,
}

impl PartialEq for State {
    /// The grains are compared by the hash of all their bits.
    fn eq(&self, other: &State) -> bool {
        (self.steps, self.time, self.step, self.initial) == (other.steps, other.time, other.step, other.initial)
            && self.exchanged == other.exchanged
            && self.bodies == other.bodies
            && self.walls == other.walls
            && self.emitters == other.emitters
            && (&self.sinks, &self.servos) == (&other.sinks, &other.servos)
            && self.grains.hash() == other.grains.hash()
    }
}

impl State {
    /// The model at the start of its scene.
    pub fn start(model: &Model) -> State {
        let motion = |b: usize| {
            let kin = model.standing(b as u32);
            BodyMotion { p: kin.p, q: model.start[b].orientation, v: kin.v, w: kin.w }
        };
        // a compiled model has grains that can be put in: it was tried
        let (grains, walls) = match &model.grains {
            Some(own) => (own.grains().unwrap_or_else(|_| Grains::new()), own.walls.as_slice()),
            None => (Grains::new(), &[][..]),
        };
        State {
            steps: 0,
            time: 0.0,
            step: None,
            grains,
            bodies: (0..model.bodies.len()).map(motion).collect(),
            walls: walls.iter().map(|w| WallRecord::of(&w.wall)).collect(),
            emitters: model.grains.as_ref().map_or_else(Vec::new, |own| own.emitters.clone()),
            sinks: model.grains.as_ref().map_or_else(Vec::new, ModelGrains::empty_sinks),
            servos: model.grains.as_ref().map_or_else(Vec::new, |own| vec![Pace::default(); own.servos.len()]),
            initial: None,
            exchanged: 0.0,
        }
    }

    /// All grains.
    pub fn grains(&self) -> &Grains {
        &self.grains
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
    let mut clock = Clock::resume(model, state, settings)?;
    clock.begin(observe);
    let last = clock.last_step(until);
    while !clock.summary.stopped && clock.state.steps < last {
        let goal = clock.next_stop(last);
        clock.advance(goal)?;
        if clock.is_stop(clock.state.steps, last) {
            clock.record(observe);
            state.clone_from(&clock.state);
        }
        clock.report(until, observe);
    }
    state.clone_from(&clock.state);
    Ok(clock.finish())
}

/// The clock at work.
struct Clock<'a> {
    model: &'a Model,
    own: &'a ModelGrains,
    settings: &'a Settings,
    grains: tippe_granular::Settings,
    h: f64,
    state: State,
    walls: Vec<Wall>,
    /// Walls are placed anew at every step: a body is free, or a wall turns about another point than its origin.
    placed: bool,
    pool: Option<rayon::ThreadPool>,
    first_step: u64,
    /// Snapshots shown.
    snapped: f64,
    rebuilds: u64,
    summary: Summary,
    tally: GrainSummary,
    /// The first grain that moved by more than its radius in a step.
    hasty: Option<Hasty>,
    /// The first wall that moved by more than the smallest radius in a step.
    hasty_wall: Option<HastyWall>,
}

impl<'a> Clock<'a> {
    fn resume(model: &'a Model, state: &State, settings: &'a Settings) -> Result<Clock<'a>, Failure> {
        let fail = |what: String| Failure { time: state.time, what };
        let Some(own) = &model.grains else {
            return Err(fail("the model has no grains. help: compile it for the granular clock".to_owned()));
        };
        let grains = own.settings(settings.step).map_err(|error| fail(error.to_string()))?;
        let h = grains.step;
        if let Some(step) = state.step.filter(|step| *step != h) {
            let what = format!("the state was made with a step of {} s, the run has {} s", plain(step), plain(h));
            return Err(fail(format!("{what}. help: continue it with --step {step}")));
        }
        if state.walls.len() != own.walls.len() || state.bodies.len() != model.bodies.len() {
            return Err(fail("the state belongs to another scene".to_owned()));
        }
        let mut walls = WallRecord::restore(own, &state.walls);
        for (wall, own) in walls.iter_mut().zip(&own.walls) {
            if let Drive::Prescribed { velocity, angular_velocity } = model.bodies[own.body as usize].drive {
                (wall.velocity, wall.spin) = (velocity, angular_velocity);
            }
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build().ok();
        let mut state = state.clone();
        state.step = Some(h);
        let mut clock = Clock {
            placed: own.walls.iter().any(|w| w.swings(&model.bodies[w.body as usize].drive))
                || model.bodies.iter().any(|body| body.drive == Drive::Free)
                || !own.servos.is_empty(),
            first_step: state.steps,
            snapped: 0.0,
            rebuilds: state.grains.rebuilds,
            model,
            own,
            settings,
            grains,
            h,
            state,
            walls,
            pool,
            summary: Summary::default(),
            tally: GrainSummary::default(),
            hasty: None,
            hasty_wall: None,
        };
        clock.snapped = clock.snapshot();
        Ok(clock)
    }

    /// The first step that reaches `until`: it may end beyond.
    fn last_step(&self, until: f64) -> u64 {
        (until / self.h - 1e-6).ceil().max(0.0) as u64
    }

    /// Whether a step is recorded: the nearest one to a communication point, those around a time that was asked for, the last.
    fn is_stop(&self, step: u64, last: u64) -> bool {
        let around = |t: &f64| {
            let before = (t / self.h + 1e-9).floor() as u64;
            step == before || step == before + 1
        };
        step == last
            || self.point(step) > self.point(step.saturating_sub(1))
            || self.settings.record_at.iter().any(around)
    }

    /// Snapshots up to now.
    fn snapshot(&self) -> f64 {
        ((self.state.steps as f64 + 0.5) * self.h / self.settings.snapshot_interval).floor()
    }

    /// Communication points up to a step.
    fn point(&self, step: u64) -> u64 {
        ((step as f64 + 0.5) * self.h / self.settings.output_interval.max(self.h)).floor() as u64
    }

    /// The end of the next batch: a step that is recorded, or as far as one goes without a word.
    fn next_stop(&self, last: u64) -> u64 {
        let batch = (BATCH / self.state.grains.len().max(1) as u64).clamp(1, 10_000);
        let far = (self.state.steps + batch).min(last);
        (self.state.steps + 1..far).find(|step| self.is_stop(*step, last)).unwrap_or(far)
    }

    fn advance(&mut self, goal: u64) -> Result<(), Failure> {
        let time = self.state.time;
        let pool = self.pool.take();
        let went = match &pool {
            Some(pool) => pool.install(|| self.steps_to(goal)),
            None => self.steps_to(goal),
        };
        self.pool = pool;
        went.map_err(|error| Failure { time: self.state.grains.time, what: error.to_string() })?;
        for (record, wall) in self.state.walls.iter_mut().zip(&self.walls) {
            *record = WallRecord::of(wall);
        }
        for (b, motion) in self.state.bodies.iter().enumerate() {
            if !(motion.p.is_finite() && motion.v.is_finite() && motion.w.is_finite()) {
                let what = format!("body \"{}\" has no finite motion any more", self.model.bodies[b].name);
                return Err(Failure { time, what: format!("{what}. help: a smaller step, or a heavier body") });
            }
        }
        Ok(())
    }

    fn steps_to(&mut self, goal: u64) -> Result<(), GrainError> {
        let puff = (EMITTER_INTERVAL / self.h).ceil().max(1.0) as u64;
        while self.state.steps < goal {
            let mut count = if self.placed { 1 } else { goal - self.state.steps };
            if !(self.state.emitters.is_empty() && self.state.sinks.is_empty()) {
                let since = self.state.steps % puff;
                count = count.min(puff - since);
                if since == 0 {
                    let time = puff as f64 * self.h;
                    let State { grains, emitters, sinks, .. } = &mut self.state;
                    sinks.iter_mut().for_each(|sink| _ = sink.swallow(grains, &self.grains, time));
                    for emitter in emitters {
                        emitter.emit(grains, &self.walls, &self.grains, time)?;
                        Grains::check_memory(grains.len(), self.own.memory)?;
                    }
                }
            }
            if self.placed {
                self.push_off();
            }
            let report = match self.own.position {
                None => self.state.grains.advance(&self.grains, &mut self.walls, count)?,
                Some(stiffness) => {
                    let frame = Frame { time: count as f64 * self.h, substeps: count as u32, stiffness };
                    self.state.grains.advance_frame(&self.grains, &mut self.walls, &frame)?
                }
            };
            self.tally.rayleigh_share = report.rayleigh_share;
            self.hasty = self.hasty.or(report.hasty);
            self.hasty_wall = self.hasty_wall.or(report.hasty_wall);
            self.tally.particle_steps += count * self.state.grains.len() as u64;
            self.state.steps += count;
            self.state.time = self.state.steps as f64 * self.h;
            if self.placed {
                self.take_impulses();
            }
        }
        Ok(())
    }

    fn servo(&self, body: usize) -> Option<usize> {
        self.own.servos.iter().position(|servo| servo.body as usize == body)
    }

    fn X_wc(&self, body: usize) -> Pose {
        match self.model.bodies[body].drive {
            Drive::Free => Pose::new(self.state.bodies[body].q, self.state.bodies[body].p),
            _ if self.servo(body).is_some() => Pose::new(self.state.bodies[body].q, self.state.bodies[body].p),
            _ => {
                let kin = prescribed(self.model, body, self.state.time);
                Pose::new(Quat::from_mat3(&kin.R), kin.p)
            }
        }
    }

    /// {force, torque about the centre of mass} of the grains on a body.
    fn load(&self, body: usize, p_c: Vec3) -> [Vec3; 2] {
        let mut load = [Vec3::ZERO; 2];
        for (wall, _) in self.walls.iter().zip(&self.own.walls).filter(|(_, own)| own.body as usize == body) {
            load[0] += wall.force;
            load[1] += wall.torque + (wall.X_ws.position - p_c).cross(wall.force);
        }
        load
    }

    /// Walls where their bodies are, with the velocities of the step: half a kick for free bodies, which move on; their
    /// momenta follow when the impulses are known.
    fn push_off(&mut self) {
        let h = self.h;
        let mut moves: Vec<(Pose, [Vec3; 2])> = Vec::with_capacity(self.model.bodies.len());
        for (b, body) in self.model.bodies.iter().enumerate() {
            let pose = self.X_wc(b);
            let rates = match body.drive {
                Drive::Fixed => [Vec3::ZERO; 2],
                _ if let Some(servo) = self.servo(b) => {
                    let [force, _] = self.load(b, pose.position);
                    let v = self.own.servos[servo].velocity(&mut self.state.servos[servo], h, force);
                    self.state.bodies[b].p += h * v;
                    self.state.bodies[b].v = v;
                    [v, Vec3::ZERO]
                }
                Drive::Prescribed { velocity, angular_velocity } => [velocity, angular_velocity],
                Drive::Free => {
                    let [force, torque] = self.load(b, pose.position);
                    let motion = &mut self.state.bodies[b];
                    let turned = |q: Quat, I: &Mat3, x: Vec3| q * (*I * (q.conjugate() * x));
                    let L = turned(motion.q, &body.I_c, motion.w) + 0.5 * h * torque;
                    let v = motion.v + 0.5 * h * (self.model.gravity + force / body.mass);
                    let w = turned(motion.q, &body.I_c_inverse, L);
                    motion.p += h * v;
                    motion.q = crate::kinematics::rotated(motion.q, h * w);
                    motion.w = turned(motion.q, &body.I_c_inverse, L);
                    [v, w]
                }
            };
            moves.push((pose, rates));
        }
        for (wall, own) in self.walls.iter_mut().zip(&self.own.walls) {
            let (pose, [v, w]) = &moves[own.body as usize];
            wall.X_ws = pose.then(&own.X_cs);
            wall.velocity = *v + w.cross(wall.X_ws.position - pose.position);
            wall.spin = *w;
            (wall.impulse, wall.angular_impulse, wall.work) = (Vec3::ZERO, Vec3::ZERO, 0.0);
        }
    }

    /// Free bodies get what the grains gave their walls.
    fn take_impulses(&mut self) {
        for b in 0..self.model.bodies.len() {
            if self.model.bodies[b].drive != Drive::Free {
                continue;
            }
            let X_wc = self.X_wc(b);
            let mut impulse = Vec3::ZERO;
            for (wall, own) in self.walls.iter_mut().zip(&self.own.walls).filter(|(_, own)| own.body as usize == b) {
                wall.X_ws = X_wc.then(&own.X_cs);
                impulse += wall.impulse;
                self.state.exchanged += wall.work;
            }
            let [_, torque] = self.load(b, X_wc.position);
            let body = &self.model.bodies[b];
            let motion = &mut self.state.bodies[b];
            motion.v += self.h * self.model.gravity + impulse / body.mass;
            let R = Mat3::from_quat(motion.q);
            motion.w += R * (body.I_c_inverse * (R.transpose() * (0.5 * self.h * torque)));
        }
    }

    /// The start, if it was not recorded yet.
    fn begin(&mut self, observe: &mut dyn Observe) {
        if self.state.initial.is_some() {
            return;
        }
        self.state.initial = Some([0.0; 2]);
        let put_in = self.state.grains.ledger(&self.grains).put_in;
        self.state.initial = Some([self.ledger().stored(), put_in]);
        self.record(observe);
    }

    /// The books of grains and free bodies together.
    fn ledger(&self) -> Ledger {
        let [initial, put_in] = self.state.initial.unwrap_or_default();
        let mut ledger = Ledger { initial, ..Ledger::of_grains(&self.state.grains.ledger(&self.grains)) };
        ledger[Cause::Work] -= put_in + self.state.exchanged;
        for (body, motion) in self.model.bodies.iter().zip(&self.state.bodies) {
            if body.drive == Drive::Free {
                let kin = Kinematics { p: motion.p, v: motion.v, w: motion.w, R: Mat3::from_quat(motion.q) };
                ledger.kinetic += kinetic(body, &kin);
                ledger.potential += body.mass * self.model.potential_at(motion.p);
            }
        }
        ledger
    }

    fn bodies(&self) -> Vec<BodyState> {
        let state = |b: usize| {
            let motion = &self.state.bodies[b];
            match self.model.bodies[b].drive {
                Drive::Free => body_state(self.model, b, motion.p, motion.q, motion.v, motion.w),
                _ if self.servo(b).is_some() => body_state(self.model, b, motion.p, motion.q, motion.v, motion.w),
                _ => {
                    let kin = prescribed(self.model, b, self.state.time);
                    body_state(self.model, b, kin.p, Quat::from_mat3(&kin.R), kin.v, kin.w)
                }
            }
        };
        (0..self.model.bodies.len()).map(state).collect()
    }

    /// Values of the model's signals.
    fn signals(&self) -> Vec<f64> {
        let sets = SetMeasures::of(self.own, &self.state.grains);
        let probed = self.own.probed(&self.state.grains);
        let value = |source: SignalSource| match source {
            SignalSource::Grains { set, measure } => sets[set as usize].value(measure),
            SignalSource::Sink { sink, measure } => measure.value(&self.state.sinks[sink as usize]),
            SignalSource::Probe { probe, measure } => measure.value(&probed[probe as usize]),
            SignalSource::GrainLoad { body, component } => {
                let load = self.load(body as usize, self.X_wc(body as usize).position);
                load[component as usize / 3][component as usize % 3]
            }
            // the table of capabilities keeps what has other signals out of this clock
            _ => f64::NAN,
        };
        self.model.signals.iter().map(|signal| value(signal.source)).collect()
    }

    fn record(&mut self, observe: &mut dyn Observe) {
        let (bodies, energy, signals) = (self.bodies(), self.ledger(), self.signals());
        let grains = &self.state.grains;
        let contacts = (0.5 * grains.coordination() * grains.len() as f64).round() as usize;
        self.summary.max_contacts = self.summary.max_contacts.max(contacts);
        self.tally.contacts = contacts;
        let time = self.state.time;
        observe.sample(&Sample { time, bodies: &bodies, contacts: &[], energy: &energy, signals: &signals });
        let snapshot = self.snapshot();
        if self.state.steps == 0 || snapshot > self.snapped {
            self.snapped = snapshot;
            observe.grains(grains);
        }
        (self.summary.bodies, self.summary.energy, self.summary.signals) = (bodies, energy, signals);
    }

    fn report(&mut self, until: f64, observe: &mut dyn Observe) {
        let progress = Progress {
            time: self.state.time,
            until,
            step: self.h,
            limiter: None,
            steps: self.state.steps,
            contacts: self.tally.contacts,
            events: 0,
        };
        self.summary.stopped = !observe.progress(&progress);
    }

    fn finish(mut self) -> Summary {
        if self.summary.bodies.is_empty() && self.summary.signals.is_empty() {
            // no step was left to make: the end is the start
            self.record(&mut ());
        }
        let grains = &self.state.grains;
        self.summary.steps = self.state.steps - self.first_step;
        self.summary.steps_by_integrator.insert("granular".to_owned(), self.summary.steps);
        self.summary.hash = hash(&self.summary.bodies, &self.summary.energy) ^ grains.hash();
        self.summary.warnings = self.model.warnings.clone();
        self.summary.warnings.extend(self.summary.energy.imbalance().filter(|_| self.model.is_booked()));
        self.summary.warnings.extend(self.hasty.map(|hasty| hasty.to_string()));
        let walls = self.hasty_wall.iter().map(|hasty| self.own.describe_hasty(self.model, hasty));
        self.summary.warnings.extend(walls.chain(self.own.starved(&self.state.emitters)));
        if grains.lost > 0 {
            self.summary.warnings.push(format!("{} grains left the grains' world and are gone", grains.lost));
        }
        self.summary.grains = Some(GrainSummary {
            count: grains.len(),
            step: self.h,
            rebuilds: grains.rebuilds - self.rebuilds,
            lost: grains.lost,
            bytes: grains.bytes(),
            ..self.tally
        });
        self.summary
    }
}
