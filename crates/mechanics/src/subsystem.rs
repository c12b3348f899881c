//! A subsystem has steps of its own: when the bodies have gone through an interval it follows their paths, and hands back the
//! loads that act on them in the next one, its energy books and its signals. Both clocks know it by this file alone.
//!
//! A new one (soil, water, an imported unit) is a file with its coupling and its record, and a variant in each list here.

use crate::grains::{GrainCoupling, GrainRecord};
use crate::joint::Six;
use crate::ledger::Ledger;
use crate::model::Model;
use crate::observe::{Observe, Summary};
use crate::soil::{SoilCoupling, SoilRecord};
use serde::{Deserialize, Serialize};
use tippe_geometry::Pose;
use tippe_granular::Grains;
use tippe_soil::Ground;
use tippe_soil::bearing::{Motion, Row};

/// The longest interval in which soil follows the bodies [s].
const SOIL_STEP: f64 = 1.0 / 60.0;

/// What a subsystem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubsystemKind {
    /// Grains.
    Grains,
    /// The ground.
    Soil,
}

impl SubsystemKind {
    /// Word in messages.
    pub fn name(self) -> &'static str {
        match self {
            SubsystemKind::Grains => "grains",
            SubsystemKind::Soil => "soil",
        }
    }

    /// What is wrong with it where it cannot go on, and what to try.
    pub fn trouble(self) -> (&'static str, &'static str) {
        match self {
            SubsystemKind::Grains => {
                ("are grains that cannot go on", "a smaller step of [granular], or less load on them")
            }
            SubsystemKind::Soil => ("is soil that cannot go on", "a smaller step"),
        }
    }

    /// The subsystem of a model, if it has one, and the longest interval in which it can follow the bodies [s].
    pub fn of(model: &Model) -> Option<(SubsystemKind, f64)> {
        if model.soil.is_some() {
            return Some((SubsystemKind::Soil, SOIL_STEP));
        }
        model.grains.as_ref().map(|own| (SubsystemKind::Grains, own.settings.step))
    }
}

/// Why a subsystem cannot go on.
#[derive(Clone, Debug, PartialEq)]
pub struct SubsystemFailure {
    /// What it is.
    pub kind: SubsystemKind,
    /// Its name in the scene.
    pub name: String,
    /// What happened.
    pub what: String,
}

/// What survives an interval of a subsystem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SubsystemRecord {
    /// Of grains.
    Grains(Box<GrainRecord>),
    /// Of the ground.
    Soil(Box<SoilRecord>),
}

impl SubsystemRecord {
    /// Of a model at its start, if it has a subsystem.
    pub fn start(model: &Model) -> Option<SubsystemRecord> {
        let soil = SoilRecord::start(model).map(|record| SubsystemRecord::Soil(Box::new(record)));
        soil.or_else(|| GrainRecord::start(model).map(|record| SubsystemRecord::Grains(Box::new(record))))
    }

    /// {torque about the centre of mass, force} on each body in the last interval, by model index: means [N m, N].
    pub fn loads(&self) -> &[Six] {
        match self {
            SubsystemRecord::Grains(record) => &record.loads,
            SubsystemRecord::Soil(record) => &record.loads,
        }
    }

    /// Intervals made.
    pub fn intervals(&self) -> u64 {
        match self {
            SubsystemRecord::Grains(record) => record.intervals,
            SubsystemRecord::Soil(record) => record.intervals,
        }
    }

    /// Remembers what an observer was shown of a run that went further.
    pub fn shown_as(&mut self, later: &SubsystemRecord) {
        if let (SubsystemRecord::Grains(record), SubsystemRecord::Grains(later)) = (self, later) {
            record.snapshots = later.snapshots
        }
    }

    /// Its grains, if it is made of grains.
    pub fn grains(&self) -> Option<&Grains> {
        match self {
            SubsystemRecord::Grains(record) => Some(&record.grains),
            SubsystemRecord::Soil(_) => None,
        }
    }

    /// The ground, if it is soil.
    pub fn ground(&self) -> Option<&Ground> {
        match self {
            SubsystemRecord::Grains(_) => None,
            SubsystemRecord::Soil(record) => Some(&record.ground),
        }
    }
}

/// A subsystem at work.
pub enum Subsystem {
    /// Grains.
    Grains(Box<GrainCoupling>),
    /// The ground.
    Soil(Box<SoilCoupling>),
}

impl Subsystem {
    /// Going on from a record in intervals [s] on so many threads (0 for all there are), if the model has a subsystem.
    pub fn resume(model: &Model, record: Option<&SubsystemRecord>, interval: f64, threads: usize) -> Option<Subsystem> {
        match record? {
            SubsystemRecord::Grains(record) => {
                let coupling = GrainCoupling::resume(model.grains.as_ref()?, record, interval, threads);
                Some(Subsystem::Grains(Box::new(coupling)))
            }
            SubsystemRecord::Soil(_) => Some(Subsystem::Soil(Box::new(SoilCoupling::resume(interval)))),
        }
    }

    /// Length of an interval [s].
    pub fn interval(&self) -> f64 {
        match self {
            Subsystem::Grains(coupling) => coupling.interval,
            Subsystem::Soil(coupling) => coupling.interval,
        }
    }

    /// Rows and loads of the interval to come, from the motion of the bodies at its start; bodies that are gone have none.
    pub fn prepare(&mut self, model: &Model, record: &mut SubsystemRecord, motion: &dyn Fn(usize) -> Option<Motion>) {
        if let (Subsystem::Soil(coupling), SubsystemRecord::Soil(record), Some(own)) = (self, record, &model.soil) {
            coupling.prepare(own, record, motion);
        }
    }

    /// Rows of the interval to come.
    pub fn rows(&self) -> &[Row] {
        match self {
            Subsystem::Grains(_) => &[],
            Subsystem::Soil(coupling) => coupling.rows(),
        }
    }

    /// The impulse of a row as it was solved [N s].
    pub fn answer(&mut self, row: usize, impulse: f64) {
        if let Subsystem::Soil(coupling) = self {
            coupling.answer(row, impulse);
        }
    }

    /// Follows the bodies from where their frames c were to where they are, by model index, and sets the loads of the record.
    /// Returns the work of free bodies on the subsystem [J].
    pub fn follow(
        &mut self,
        model: &Model,
        record: &mut SubsystemRecord,
        path: &[[Pose; 2]],
    ) -> Result<f64, SubsystemFailure> {
        match (self, record, &model.grains) {
            (Subsystem::Grains(coupling), SubsystemRecord::Grains(record), Some(own)) => {
                let kind = SubsystemKind::Grains;
                let failure = |what: String| SubsystemFailure { kind, name: own.name(), what };
                coupling.follow(model, own, record, path).map_err(|error| failure(error.to_string()))
            }
            (Subsystem::Soil(coupling), SubsystemRecord::Soil(record), _) => {
                Ok(model.soil.as_ref().map_or(0.0, |own| coupling.follow(model, own, record, path)))
            }
            _ => Ok(0.0),
        }
    }

    /// Its energy, what it lost by cause, and what was put into it from outside.
    pub fn books(&self, model: &Model, record: &SubsystemRecord) -> Ledger {
        match (self, record) {
            (Subsystem::Grains(coupling), SubsystemRecord::Grains(record)) => coupling.books(record),
            (Subsystem::Soil(coupling), SubsystemRecord::Soil(record)) => {
                model.soil.as_ref().map_or_else(Ledger::default, |own| coupling.books(own, record))
            }
            _ => Ledger::default(),
        }
    }

    /// Values of its signals, by index of the model's signals. Loads are means of the last interval.
    pub fn signals(&self, model: &Model, record: &SubsystemRecord) -> Vec<(u32, f64)> {
        match (self, record, &model.grains) {
            (Subsystem::Grains(_), SubsystemRecord::Grains(record), Some(own)) => record.signals(model, own),
            (Subsystem::Soil(_), SubsystemRecord::Soil(record), _) => {
                model.soil.as_ref().map_or_else(Vec::new, |own| record.signals(model, own))
            }
            _ => Vec::new(),
        }
    }

    /// Shows its state to the observer where that is due at time t [s].
    pub fn show(&self, model: &Model, record: &mut SubsystemRecord, t: f64, observe: &mut dyn Observe) {
        match (self, record, &model.grains) {
            (Subsystem::Grains(coupling), SubsystemRecord::Grains(record), Some(own)) => {
                coupling.show(own, record, t, observe);
            }
            (Subsystem::Soil(_), SubsystemRecord::Soil(record), _) => observe.ground(&record.ground, t),
            _ => {}
        }
    }

    /// Writes what the run says of it into the summary: its numbers, its state into the hash, what went wrong into the warnings.
    pub fn summarise(&self, model: &Model, record: &SubsystemRecord, summary: &mut Summary) {
        match (self, record) {
            (Subsystem::Grains(coupling), SubsystemRecord::Grains(record)) => {
                let (grains, hash) = coupling.summary(record);
                summary.grains = Some(grains);
                summary.hash ^= hash;
                if let Some(own) = &model.grains {
                    summary.warnings.extend(coupling.warnings(model, own, record));
                }
            }
            (Subsystem::Soil(_), SubsystemRecord::Soil(record)) => summary.hash ^= record.ground.hash(),
            _ => {}
        }
    }
}
