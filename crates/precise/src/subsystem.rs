//! The subsystem in this clock (docs/theory/grains.md, eq. 24): horizons end where subsystem and bodies hand over, one step of the
//! subsystem apart. All islands step exactly there; from there on bodies feel what it will do by what it did in the last two
//! intervals.

use super::Clock;
use super::failure::{Failure, Trouble};
use super::settings::Settings;
use serde::{Deserialize, Serialize};
use tippe_geometry::{Mat3, Pose, Quat};
use tippe_mechanics::cause::Cause;
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::rotation_vector;
use tippe_mechanics::ledger::Ledger;
use tippe_mechanics::model::{Drive, Model, prescribed};
use tippe_mechanics::observe::Observe;
use tippe_mechanics::subsystem::{Subsystem, SubsystemKind, SubsystemRecord};

/// Interval between communication points where there are none [s].
const NO_POINTS: f64 = 1e-2;
/// Times nearer than this share of an interval are the same [-].
const SAME: f64 = 1e-6;

/// What survives a hand-over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Handover {
    pub record: SubsystemRecord,
    /// Frames c of the bodies at the last hand-over.
    poses: Vec<Pose>,
    /// {torque, force} on each body in the interval before the last: means.
    before: Vec<Six>,
    /// Time between hand-overs; none before the first [s].
    interval: Option<f64>,
    /// What the delay of the hand-over makes of the energy [J].
    lost: f64,
}

/// Books of the subsystem, and its signals by number.
pub(super) type Look = (Ledger, Vec<(u32, f64)>);

impl Handover {
    /// Of a model at its start, if it has a subsystem.
    pub fn start(model: &Model) -> Option<Handover> {
        let poses = (0..model.bodies.len()).map(|b| {
            let kin = model.standing(b as u32);
            Pose::new(model.start[b].orientation, kin.p)
        });
        Some(Handover {
            record: SubsystemRecord::start(model)?,
            poses: poses.collect(),
            before: vec![Six::default(); model.bodies.len()],
            interval: None,
            lost: 0.0,
        })
    }

    /// Books and signals of the subsystem.
    fn look(&self, model: &Model, subsystem: &Subsystem) -> Look {
        let mut books = subsystem.books(model, &self.record);
        books[Cause::Integration] = self.lost;
        (books, subsystem.signals(model, &self.record))
    }
}

/// The subsystem at work, in intervals of at most a step of its own, of which communication points are a whole number apart.
pub(super) fn resume(model: &Model, handover: Option<&Handover>, settings: &Settings) -> Option<Subsystem> {
    let (handover, (_, longest)) = (handover?, SubsystemKind::of(model)?);
    let interval = handover.interval.unwrap_or(settings.handover_interval(longest));
    Subsystem::resume(model, Some(&handover.record), interval, settings.threads)
}

impl Settings {
    /// The longest interval up to `longest` of which communication points are a whole number apart [s].
    pub fn handover_interval(&self, longest: f64) -> f64 {
        let points = if self.output_interval.is_finite() { self.output_interval } else { NO_POINTS };
        points / (points / longest - SAME).ceil().max(1.0)
    }
}

impl Clock<'_> {
    /// Next time at which subsystem and bodies hand over [s].
    pub(super) fn next_handover(&self) -> f64 {
        match (&self.subsystem, &self.handover) {
            (Some(subsystem), Some(handover)) => (handover.record.intervals() + 1) as f64 * subsystem.interval(),
            _ => f64::INFINITY,
        }
    }

    /// The subsystem follows the bodies to the hand-over, if the horizon ends there; for the next interval bodies get
    ///   F_k+1 = 2 F_k - F_k-1,   F_k = mean of the last interval.
    pub(super) fn advance_subsystem(&mut self, observe: &mut dyn Observe) {
        let next = self.next_handover();
        let model = self.model;
        let (Some(mut subsystem), Some(mut handover)) = (self.subsystem.take(), self.handover.take()) else { return };
        let interval = subsystem.interval();
        if self.initial.is_none() {
            subsystem.show(model, &mut handover.record, self.time, observe);
        }
        if self.failure.is_some() || self.stopped || self.end < next - SAME * interval {
            (self.subsystem, self.handover) = (Some(subsystem), Some(handover));
            return;
        }
        if self.last {
            // the last horizon is made again by whoever goes on from here
            self.handover_before = Some(handover.clone());
        }
        let earlier = self.samples.iter().any(|&t| t < next - SAME * interval);
        self.earlier = earlier.then(|| handover.look(model, &subsystem));
        let path = self.paths_to(next, &handover.poses);
        for (b, body) in model.bodies.iter().enumerate() {
            if body.drive == Drive::Free
                && let Some(push) = self.structure.pushes.get(b)
            {
                let [from, to] = path[b];
                let turn = Mat3::from_quat(to.rotation * from.rotation.conjugate());
                let moved = Six::new(rotation_vector(&turn), to.position - from.position);
                handover.lost -= push.dot(&moved);
            }
        }
        handover.before.clear();
        handover.before.extend_from_slice(handover.record.loads());
        handover.interval = Some(interval);
        match subsystem.follow(model, &mut handover.record, &path) {
            Ok(work) => handover.lost -= work,
            Err(failure) => {
                self.put_back();
                self.failure = Some(Failure {
                    time: self.end,
                    step: interval,
                    trouble: Trouble::Subsystem(failure.kind),
                    body: failure.name,
                    component: None,
                    suspects: vec![failure.what],
                    contacts: false,
                });
            }
        }
        handover.poses = path.into_iter().map(|[_, to]| to).collect();
        if !self.last && self.failure.is_none() {
            let pairs = handover.record.loads().iter().zip(&handover.before);
            self.structure.pushes = pairs.map(|(now, before)| *now * 2.0 - *before).collect();
        }
        (self.subsystem, self.handover) = (Some(subsystem), Some(handover));
        if !self.last {
            self.structure.handover = Some(self.next_handover());
            for island in &mut self.islands {
                island.dynamics.remember(&self.structure);
            }
        }
    }

    /// Frames c of all bodies from where they were to where they are at time t.
    fn paths_to(&self, t: f64, from: &[Pose]) -> Vec<[Pose; 2]> {
        let model = self.model;
        let mut path: Vec<[Pose; 2]> = (0..model.bodies.len())
            .map(|b| {
                let kin = prescribed(model, b, t);
                [from[b], Pose::new(Quat::from_mat3(&kin.R), kin.p)]
            })
            .collect();
        for island in &self.islands {
            for (k, &body) in island.dynamics.bodies.iter().enumerate() {
                let motion = island.motion(model, k, t);
                path[body as usize][1] = Pose::new(motion.q, motion.p);
            }
        }
        path
    }

    /// Adds books of the subsystem at time t of the horizon, and writes its signals.
    pub(super) fn add_subsystem(&self, t: f64, ledger: &mut Ledger, signals: &mut [f64]) {
        let (Some(subsystem), Some(handover)) = (&self.subsystem, &self.handover) else { return };
        let (books, values) = match &self.earlier {
            Some(earlier) if t < self.end - SAME * subsystem.interval() => earlier.clone(),
            _ => handover.look(self.model, subsystem),
        };
        *ledger += books;
        for (k, value) in values {
            signals[k as usize] = value;
        }
    }

    /// Shows the state of the subsystem where that is due.
    pub(super) fn show_subsystem(&mut self, observe: &mut dyn Observe) {
        if let (Some(subsystem), Some(handover)) = (&self.subsystem, &mut self.handover) {
            subsystem.show(self.model, &mut handover.record, self.end, observe);
            if let Some(before) = &mut self.handover_before {
                before.record.shown_as(&handover.record);
            }
        }
    }
}
