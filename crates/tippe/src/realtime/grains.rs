//! Grains among the bodies of this clock (docs/theory/grains.md, eq. 22).
//!
//! When a step is made the grains follow it in substeps of their own: every wall goes from where its body was to where it is now,
//! at constant velocity and spin. The impulses they give the bodies act in the next step.

use super::{Clock, Failure, Settings};
use crate::force::rotation_vector;
use crate::granular::{SetMeasures, WallRecord};
use crate::joint::Six;
use crate::ledger::Ledger;
use crate::model::{Drive, Model, ModelGrains, SignalSource};
use crate::observe::{GrainSummary, Observe};
use serde::{Deserialize, Serialize};
use tippe_geometry::{Mat3, Pose, Quat, Vec3};
use tippe_granular::{Emitter, Grains, Sink, Wall};

/// What survives a step of the grains.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct GrainRecord {
    pub grains: Grains,
    walls: Vec<WallRecord>,
    emitters: Vec<Emitter>,
    sinks: Vec<Sink>,
    /// {torque about the centre of mass, force} of the last step on each body: means, and what acts in the next step.
    loads: Vec<[Vec3; 2]>,
    /// What their books had been given at the start [J].
    put_in: f64,
    /// Work of free bodies on them since the start [J].
    exchanged: f64,
    /// Snapshots shown.
    snapshots: u64,
}

impl PartialEq for GrainRecord {
    /// The grains are compared by the hash of all their bits.
    fn eq(&self, other: &GrainRecord) -> bool {
        (&self.walls, &self.loads) == (&other.walls, &other.loads)
            && (&self.emitters, &self.sinks) == (&other.emitters, &other.sinks)
            && (self.put_in, self.exchanged, self.snapshots) == (other.put_in, other.exchanged, other.snapshots)
            && self.grains.hash() == other.grains.hash()
    }
}

impl GrainRecord {
    /// Of a model at its start, if it has grains.
    pub fn start(model: &Model) -> Option<GrainRecord> {
        let own = model.grains.as_ref()?;
        // a compiled model has grains that can be put in: it was tried
        let grains = own.grains().unwrap_or_else(|_| Grains::new());
        Some(GrainRecord {
            walls: own.walls.iter().map(|w| WallRecord::of(&w.wall)).collect(),
            emitters: own.emitters.clone(),
            sinks: own.empty_sinks(),
            loads: vec![[Vec3::ZERO; 2]; model.bodies.len()],
            put_in: grains.ledger(&own.settings).put_in,
            exchanged: 0.0,
            snapshots: 0,
            grains,
        })
    }
}

/// The grains at work.
pub(super) struct Bed<'a> {
    own: &'a ModelGrains,
    settings: tippe_granular::Settings,
    /// Substeps of a step.
    substeps: u64,
    walls: Vec<Wall>,
    pool: Option<rayon::ThreadPool>,
    tally: GrainSummary,
    rebuilds: u64,
    failed: Option<String>,
}

impl<'a> Bed<'a> {
    /// Of a model that has grains, going on from a record.
    pub fn resume(model: &'a Model, record: Option<&GrainRecord>, settings: &Settings) -> Option<Bed<'a>> {
        let (own, record) = (model.grains.as_ref()?, record?);
        let substeps = (settings.step / own.settings.step - 1e-6).ceil().max(1.0);
        let step = settings.step / substeps;
        Some(Bed {
            own,
            settings: tippe_granular::Settings { step, ..own.settings.clone() },
            substeps: substeps as u64,
            walls: WallRecord::restore(own, &record.walls),
            pool: rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build().ok(),
            tally: GrainSummary { step, rayleigh_share: step / own.rayleigh, ..GrainSummary::default() },
            rebuilds: record.grains.rebuilds,
            failed: None,
        })
    }
}

impl Clock<'_> {
    /// Grains push the bodies as they did in the last step.
    pub(super) fn load_grains(&mut self) {
        let Some(record) = &self.state.grains else { return };
        for b in 0..self.loads.len() {
            if self.is_free(b) {
                let [torque, force] = record.loads[b];
                self.loads[b] = self.loads[b] + Six::new(torque, force);
            }
        }
    }

    /// Grains follow the step that the bodies have made.
    pub(super) fn pour(&mut self) {
        let (Some(mut bed), Some(mut record)) = (self.bed.take(), self.state.grains.take()) else { return };
        let h = self.h;
        // where bodies were, where they are
        let path: Vec<[Pose; 2]> = (0..self.model.bodies.len())
            .map(|b| {
                let (before, after) = (&self.kin[b], self.motion(b));
                let pose = |R: &Mat3, p: Vec3| Pose::new(Quat::from_mat3(R), p);
                [pose(&before.R, before.p), pose(&after.R, after.p)]
            })
            .collect();
        for (wall, own) in bed.walls.iter_mut().zip(&bed.own.walls) {
            let [from, to] = path[own.body as usize].map(|X_wc| X_wc.then(&own.X_cs));
            let turn = Mat3::from_quat(to.rotation * from.rotation.conjugate());
            wall.X_ws = from;
            wall.velocity = (to.position - from.position) / h;
            wall.spin = rotation_vector(&turn) / h;
            (wall.impulse, wall.angular_impulse, wall.work) = (Vec3::ZERO, Vec3::ZERO, 0.0);
        }
        let mut went = || {
            for sink in &mut record.sinks {
                sink.swallow(&mut record.grains, &bed.settings, h);
            }
            for emitter in &mut record.emitters {
                emitter.emit(&mut record.grains, &bed.settings, h)?;
            }
            record.grains.advance(&bed.settings, &mut bed.walls, bed.substeps)
        };
        let went = match &bed.pool {
            Some(pool) => pool.install(&mut went),
            None => went(),
        };
        bed.failed = went.err().map(|error| error.to_string());
        bed.tally.particle_steps += bed.substeps * record.grains.len() as u64;
        record.loads.fill([Vec3::ZERO; 2]);
        for (wall, own) in bed.walls.iter().zip(&bed.own.walls) {
            let b = own.body as usize;
            let [from, to] = path[b];
            // about the centre of mass, in the middle of the step
            let arm = 0.5 * (from.then(&own.X_cs).position - from.position + to.then(&own.X_cs).position - to.position);
            let load = &mut record.loads[b];
            load[0] += (wall.angular_impulse + arm.cross(wall.impulse)) / h;
            load[1] += wall.impulse / h;
            if self.model.bodies[b].drive == Drive::Free {
                record.exchanged += wall.work;
                self.state.ledger.integration -= wall.work;
            }
        }
        record.walls.clear();
        record.walls.extend(bed.walls.iter().map(WallRecord::of));
        (self.bed, self.state.grains) = (Some(bed), Some(record));
    }

    /// What grains do to bodies in this step is no work from outside: the grains lost it in the last one. What differs is the step's.
    pub(super) fn book_grains(&self, mean: &[Six], ledger: &mut Ledger) {
        let Some(record) = &self.state.grains else { return };
        for (b, [torque, force]) in record.loads.iter().enumerate() {
            if self.is_free(b) {
                ledger.integration -= self.h * Six::new(*torque, *force).dot(&mean[b]);
            }
        }
    }

    /// Adds the books of the grains.
    pub(super) fn add_grains(&self, ledger: &mut Ledger) {
        let (Some(bed), Some(record)) = (&self.bed, &self.state.grains) else { return };
        let books = record.grains.ledger(&bed.settings);
        ledger.kinetic += books.kinetic;
        ledger.potential += books.potential;
        ledger.elastic += books.elastic;
        ledger.contact_damping += books.losses.normal + books.losses.tangential + books.losses.cohesion;
        ledger.sliding += books.losses.friction;
        ledger.rolling += books.losses.rolling;
        ledger.work += books.put_in - record.put_in - record.exchanged;
    }

    /// Value of a signal of grains: loads are means of the last step.
    pub(super) fn grain_signal(&self, sets: &[SetMeasures], source: SignalSource) -> f64 {
        match (source, &self.state.grains) {
            (SignalSource::Grains { set, measure }, _) => sets.get(set as usize).map_or(f64::NAN, |s| s.value(measure)),
            (SignalSource::Sink { sink, measure }, Some(record)) => measure.value(&record.sinks[sink as usize]),
            (SignalSource::GrainLoad { body, component }, Some(record)) => {
                let [torque, force] = record.loads[body as usize];
                [force, torque][component as usize / 3][component as usize % 3]
            }
            _ => f64::NAN,
        }
    }

    /// Sums over the sets of grains.
    pub(super) fn grain_measures(&self) -> Vec<SetMeasures> {
        match (&self.bed, &self.state.grains) {
            (Some(bed), Some(record)) => SetMeasures::of(bed.own, &record.grains),
            _ => Vec::new(),
        }
    }

    /// Shows all grains where a snapshot is due.
    pub(super) fn show_grains(&mut self, observe: &mut dyn Observe) {
        let (Some(bed), Some(record)) = (&self.bed, &mut self.state.grains) else { return };
        let due = 1 + ((self.state.time + 0.5 * self.h) / bed.own.snapshot_interval) as u64;
        if due > record.snapshots {
            record.snapshots = due;
            observe.grains(&record.grains);
        }
    }

    /// Why the grains cannot go on.
    pub(super) fn check_grains(&self) -> Result<(), Failure> {
        let Some((bed, what)) = self.bed.as_ref().and_then(|bed| bed.failed.as_ref().map(|what| (bed, what))) else {
            return Ok(());
        };
        let body = bed.own.sets.first().map_or_else(String::new, |set| set.name.clone());
        Err(Failure { time: self.state.time, body, what: format!("has grains that cannot go on: {what}") })
    }

    /// What the run says of its grains.
    pub(super) fn grain_summary(&self) -> Option<(GrainSummary, u64)> {
        let (bed, record) = (self.bed.as_ref()?, self.state.grains.as_ref()?);
        let grains = &record.grains;
        let summary = GrainSummary {
            count: grains.len(),
            contacts: (0.5 * grains.coordination() * grains.len() as f64).round() as usize,
            rebuilds: grains.rebuilds - bed.rebuilds,
            lost: grains.lost,
            bytes: grains.bytes(),
            ..bed.tally
        };
        Some((summary, grains.hash()))
    }
}
