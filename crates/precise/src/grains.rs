//! Grains in this clock (docs/theory/grains.md, eq. 24): horizons end where grains and bodies hand over, one step of the grains apart.
//! All islands step exactly there; from there on bodies feel what grains will do by what they did in the last two intervals.

use super::{Clock, Failure, Settings, Trouble};
use serde::{Deserialize, Serialize};
use tippe_geometry::{Mat3, Pose, Quat};
use tippe_mechanics::bed::{Bed, GrainRecord};
use tippe_mechanics::cause::Cause;
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::rotation_vector;
use tippe_mechanics::ledger::Ledger;
use tippe_mechanics::model::{Drive, Model, ModelGrains};
use tippe_mechanics::observe::Observe;

/// Interval between communication points where there are none [s].
const NO_POINTS: f64 = 1e-2;
/// Times nearer than this share of an interval are the same [-].
const SAME: f64 = 1e-6;

/// What survives a hand-over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Pouring {
    pub record: GrainRecord,
    /// Frames c of the bodies at the last hand-over.
    poses: Vec<Pose>,
    /// {torque, force} on each body in the interval before the last: means.
    before: Vec<Six>,
    /// Time between hand-overs; none before the first [s].
    interval: Option<f64>,
    /// What the delay of the hand-over makes of the energy [J].
    lost: f64,
}

/// Books of grains, and their signals by number.
pub(super) type Look = (Ledger, Vec<(u32, f64)>);

impl Pouring {
    /// Of a model at its start, if it has grains.
    pub fn start(model: &Model) -> Option<Pouring> {
        let poses = (0..model.bodies.len()).map(|b| {
            let kin = model.standing(b as u32);
            Pose::new(model.start[b].orientation, kin.p)
        });
        Some(Pouring {
            record: GrainRecord::start(model)?,
            poses: poses.collect(),
            before: vec![Six::default(); model.bodies.len()],
            interval: None,
            lost: 0.0,
        })
    }

    /// Books and signals of the grains.
    fn look(&self, bed: &Bed<'_>) -> Look {
        let mut books = bed.books(&self.record);
        books[Cause::Integration] = self.lost;
        (books, bed.signals(&self.record))
    }
}

/// The grains at work, in intervals of at most a step of theirs, of which communication points are a whole number apart.
pub(super) fn bed<'a>(model: &'a Model, pouring: Option<&Pouring>, settings: &Settings) -> Option<Bed<'a>> {
    let interval = pouring?.interval.unwrap_or(settings.grain_step(model.grains.as_ref()?));
    Bed::resume(model, pouring.map(|p| &p.record), interval, settings.threads)
}

impl Settings {
    /// The longest step that these grains can take of which communication points are a whole number apart [s].
    pub fn grain_step(&self, own: &ModelGrains) -> f64 {
        let points = if self.output_interval.is_finite() { self.output_interval } else { NO_POINTS };
        points / (points / own.settings.step - SAME).ceil().max(1.0)
    }
}

impl Clock<'_> {
    /// Next time at which grains and bodies hand over [s].
    pub(super) fn handover(&self) -> f64 {
        match (&self.bed, &self.pouring) {
            (Some(bed), Some(pouring)) => (pouring.record.intervals + 1) as f64 * bed.interval,
            _ => f64::INFINITY,
        }
    }

    /// Grains follow the bodies to the hand-over, if the horizon ends there; for the next interval bodies get
    ///   F_k+1 = 2 F_k - F_k-1,   F_k = mean of the last interval.
    pub(super) fn pour(&mut self, observe: &mut dyn Observe) {
        let handover = self.handover();
        let (Some(mut bed), Some(mut pouring)) = (self.bed.take(), self.pouring.take()) else { return };
        if self.initial.is_none() {
            bed.show(&mut pouring.record, self.time, observe);
        }
        if self.failure.is_some() || self.stopped || self.end < handover - SAME * bed.interval {
            (self.bed, self.pouring) = (Some(bed), Some(pouring));
            return;
        }
        if self.last {
            // the last horizon is made again by whoever goes on from here
            self.unpoured = Some(pouring.clone());
        }
        let earlier = self.samples.iter().any(|&t| t < handover - SAME * bed.interval);
        self.earlier = earlier.then(|| pouring.look(&bed));
        let model = self.model;
        let mut path: Vec<[Pose; 2]> = (0..model.bodies.len())
            .map(|b| {
                let kin = super::prescribed(model, b, handover);
                [pouring.poses[b], Pose::new(Quat::from_mat3(&kin.R), kin.p)]
            })
            .collect();
        for island in &self.islands {
            for (k, &body) in island.dynamics.bodies.iter().enumerate() {
                let motion = island.motion(model, k, handover);
                path[body as usize][1] = Pose::new(motion.q, motion.p);
            }
        }
        for (b, body) in model.bodies.iter().enumerate() {
            if body.drive == Drive::Free
                && let Some(push) = self.structure.pushes.get(b)
            {
                let [from, to] = path[b];
                let turn = Mat3::from_quat(to.rotation * from.rotation.conjugate());
                let moved = Six::new(rotation_vector(&turn), to.position - from.position);
                pouring.lost -= push.dot(&moved);
            }
        }
        pouring.before.clone_from(&pouring.record.loads);
        pouring.interval = Some(bed.interval);
        match bed.follow(&mut pouring.record, &path) {
            Ok(work) => pouring.lost -= work,
            Err(error) => {
                self.put_back();
                self.failure = Some(Failure {
                    time: self.end,
                    step: bed.interval,
                    trouble: Trouble::Grains,
                    body: bed.name(),
                    component: None,
                    suspects: vec![error.to_string()],
                    contacts: false,
                });
            }
        }
        pouring.poses = path.into_iter().map(|[_, to]| to).collect();
        if !self.last && self.failure.is_none() {
            let pairs = pouring.record.loads.iter().zip(&pouring.before);
            self.structure.pushes = pairs.map(|(now, before)| *now * 2.0 - *before).collect();
        }
        (self.bed, self.pouring) = (Some(bed), Some(pouring));
        if !self.last {
            self.structure.handover = Some(self.handover());
            for island in &mut self.islands {
                island.dynamics.remember(&self.structure);
            }
        }
    }

    /// Adds books of the grains at time t of the horizon, and writes their signals.
    pub(super) fn add_grains(&self, t: f64, ledger: &mut Ledger, signals: &mut [f64]) {
        let (Some(bed), Some(pouring)) = (&self.bed, &self.pouring) else { return };
        let (books, values) = match &self.earlier {
            Some(earlier) if t < self.end - SAME * bed.interval => earlier.clone(),
            _ => pouring.look(bed),
        };
        *ledger += books;
        for (k, value) in values {
            signals[k as usize] = value;
        }
    }

    /// Shows all grains where a snapshot is due.
    pub(super) fn show_grains(&mut self, observe: &mut dyn Observe) {
        if let (Some(bed), Some(pouring)) = (&self.bed, &mut self.pouring) {
            bed.show(&mut pouring.record, self.end, observe);
            if let Some(unpoured) = &mut self.unpoured {
                unpoured.record.snapshots = pouring.record.snapshots;
            }
        }
    }
}
