//! A subsystem has steps of its own: when the bodies have gone through an interval it follows their paths, and hands back the
//! loads that act on them in the next one, its energy books and its signals. Both clocks know the list of a model's subsystems by this
//! file alone.
//!
//! A new one (water, an imported unit) is a file with its coupling and its record, and a variant in each list here. What two of them do to
//! each other is done when all have followed (`exchange.rs`: soil and grains).

use crate::exchange::Exchange;
use crate::grains::{GrainCoupling, GrainRecord};
use crate::joint::Six;
use crate::ledger::Ledger;
use crate::model::{Drive, Model};
use crate::observe::{Observe, Summary};
use crate::soil::{SoilCoupling, SoilRecord};
use serde::{Deserialize, Serialize};
use tippe_geometry::Pose;
use tippe_granular::{GrainError, Grains};
use tippe_soil::Ground;
use tippe_soil::bearing::{Motion, Row};

/// The longest interval in which soil follows the bodies [s].
const SOIL_STEP: f64 = 1.0 / 60.0;
/// The same where free bodies stand on it: cells come and go under them.
const FREE_STEP: f64 = 1.0 / 240.0;

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
#[serde(rename_all = "snake_case")]
enum Record {
    /// Of the ground.
    Soil(Box<SoilRecord>),
    /// Of grains.
    Grains(Box<GrainRecord>),
}

/// What survives an interval of the subsystems of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubsystemRecords {
    list: Vec<Record>,
    /// {torque about the centre of mass, force} on each body in the last interval, by model index: means [N m, N].
    loads: Vec<Six>,
    /// Intervals made.
    intervals: u64,
}

impl SubsystemRecords {
    /// Of a model at its start, if it has subsystems.
    pub fn start(model: &Model) -> Option<SubsystemRecords> {
        let soil = SoilRecord::start(model).map(|record| Record::Soil(Box::new(record)));
        let grains = GrainRecord::start(model).map(|record| Record::Grains(Box::new(record)));
        let list: Vec<Record> = soil.into_iter().chain(grains).collect();
        (!list.is_empty()).then(|| SubsystemRecords { list, loads: vec![Six::ZERO; model.bodies.len()], intervals: 0 })
    }

    /// {torque about the centre of mass, force} on each body in the last interval, by model index: means [N m, N].
    pub fn loads(&self) -> &[Six] {
        &self.loads
    }

    /// Those of them that subsystems found in the last interval, and act in the next, by model index; none where there are none.
    pub fn delayed_loads(&self) -> &[Six] {
        let found = self.list.iter().find_map(|record| match record {
            Record::Grains(record) => Some(&record.loads[..]),
            Record::Soil(_) => None,
        });
        found.unwrap_or_default()
    }

    /// Those that were found for the interval to come.
    pub fn present_loads(&self) -> &[Six] {
        let found = self.list.iter().find_map(|record| match record {
            Record::Soil(record) => Some(&record.loads[..]),
            Record::Grains(_) => None,
        });
        found.unwrap_or_default()
    }

    /// Intervals made.
    pub fn intervals(&self) -> u64 {
        self.intervals
    }

    /// The sum over all subsystems.
    fn add_loads(&mut self) {
        self.loads.fill(Six::ZERO);
        for record in &self.list {
            let own = match record {
                Record::Soil(record) => &record.loads,
                Record::Grains(record) => &record.loads,
            };
            for (load, own) in self.loads.iter_mut().zip(own) {
                *load = *load + *own;
            }
        }
    }

    fn soil_mut(&mut self) -> Option<&mut SoilRecord> {
        self.list.iter_mut().find_map(|record| match record {
            Record::Soil(record) => Some(&mut **record),
            Record::Grains(_) => None,
        })
    }

    /// Ground and grains, where there are both.
    fn soil_and_grains(&mut self) -> Option<(&mut SoilRecord, &mut GrainRecord)> {
        match &mut self.list[..] {
            [Record::Soil(soil), Record::Grains(grains)] => Some((soil, grains)),
            _ => None,
        }
    }

    /// Remembers what an observer was shown of a run that went further.
    pub fn shown_as(&mut self, later: &SubsystemRecords) {
        for (own, later) in self.list.iter_mut().zip(&later.list) {
            if let (Record::Grains(own), Record::Grains(later)) = (own, later) {
                own.snapshots = later.snapshots;
            }
        }
    }

    /// Its grains, if there are any.
    pub fn grains(&self) -> Option<&Grains> {
        self.list.iter().find_map(|record| match record {
            Record::Grains(record) => Some(&record.grains),
            Record::Soil(_) => None,
        })
    }

    /// The ground, if there is any.
    pub fn ground(&self) -> Option<&Ground> {
        self.list.iter().find_map(|record| match record {
            Record::Soil(record) => Some(&record.ground),
            Record::Grains(_) => None,
        })
    }
}

/// A subsystem at work.
enum Coupling {
    /// The ground.
    Soil(Box<SoilCoupling>),
    /// Grains.
    Grains(Box<GrainCoupling>),
}

/// The subsystems of a model at work, all in the same intervals.
pub struct Subsystems {
    list: Vec<Coupling>,
    /// Length of an interval [s].
    interval: f64,
}

impl Subsystems {
    /// The longest interval in which those of a model can follow the bodies [s], if it has any.
    pub fn longest_interval(model: &Model) -> Option<f64> {
        let soil = model.soil.as_ref().map(|_| if Subsystems::resist(model) { FREE_STEP } else { SOIL_STEP });
        let grains = model.grains.as_ref().map(|own| own.settings.step);
        soil.into_iter().chain(grains).reduce(f64::min)
    }

    /// True if they have rows on free bodies.
    pub fn resist(model: &Model) -> bool {
        model.soil.as_ref().is_some_and(|own| {
            let bodies = own.tools.iter().map(|tool| tool.body).chain(own.pressers.iter().map(|presser| presser.body));
            bodies.into_iter().any(|b| model.bodies[b as usize].drive == Drive::Free)
        })
    }

    /// Going on from records in intervals [s] on so many threads (0 for all there are), if the model has subsystems.
    pub fn resume(
        model: &Model,
        records: Option<&SubsystemRecords>,
        interval: f64,
        threads: usize,
    ) -> Option<Subsystems> {
        let resumed = |record: &Record| match record {
            Record::Soil(_) => Some(Coupling::Soil(Box::new(SoilCoupling::resume(interval)))),
            Record::Grains(record) => {
                let coupling = GrainCoupling::resume(model, record, interval, threads)?;
                Some(Coupling::Grains(Box::new(coupling)))
            }
        };
        let list = records?.list.iter().map(resumed).collect::<Option<Vec<Coupling>>>()?;
        Some(Subsystems { list, interval })
    }

    /// Length of an interval [s].
    pub fn interval(&self) -> f64 {
        self.interval
    }

    /// Rows and loads of the interval to come, from the motion of the bodies at its start; bodies that are gone have none.
    pub fn prepare(&mut self, model: &Model, records: &mut SubsystemRecords, motion: &dyn Fn(usize) -> Option<Motion>) {
        if let (Some(coupling), Some(own), Some(record)) = (self.soil_mut(), &model.soil, records.soil_mut()) {
            coupling.prepare(own, record, motion);
            records.add_loads();
        }
    }

    fn soil_mut(&mut self) -> Option<&mut SoilCoupling> {
        self.list.iter_mut().find_map(|coupling| match coupling {
            Coupling::Soil(coupling) => Some(&mut **coupling),
            Coupling::Grains(_) => None,
        })
    }

    /// Rows of the interval to come: only the ground has any.
    pub fn rows(&self) -> &[Row] {
        let of = |coupling: &'_ Coupling| matches!(coupling, Coupling::Soil(_));
        match self.list.iter().find(|coupling| of(coupling)) {
            Some(Coupling::Soil(coupling)) => coupling.rows(),
            _ => &[],
        }
    }

    /// The impulse of a row as it was solved [N s].
    pub fn answer(&mut self, row: usize, impulse: f64) {
        if let Some(coupling) = self.soil_mut() {
            coupling.answer(row, impulse);
        }
    }

    /// All follow the bodies from where their frames c were to where they are, by model index, then exchange what they have for each
    /// other, and set the loads of the records. Returns the work of free bodies on them [J].
    pub fn follow(
        &mut self,
        model: &Model,
        records: &mut SubsystemRecords,
        path: &[[Pose; 2]],
    ) -> Result<f64, SubsystemFailure> {
        let name = || model.grains.as_ref().map_or_else(String::new, |own| own.name());
        let failed =
            |error: GrainError| SubsystemFailure { kind: SubsystemKind::Grains, name: name(), what: error.to_string() };
        let mut work = 0.0;
        for (k, coupling) in self.list.iter_mut().enumerate() {
            let (before, own) = records.list.split_at_mut(k);
            match (coupling, &mut own[0], &model.soil, &model.grains) {
                (Coupling::Soil(coupling), Record::Soil(record), Some(own), _) => {
                    work += coupling.follow(model, own, record, path);
                }
                (Coupling::Grains(coupling), Record::Grains(record), _, Some(own)) => {
                    let ground = before.iter().find_map(|record| match record {
                        Record::Soil(record) => Some(&record.ground),
                        Record::Grains(_) => None,
                    });
                    work += coupling.follow(model, own, record, path, ground).map_err(failed)?;
                }
                _ => {}
            }
        }
        if let (Some(soil), Some(own), Some((ground, grains))) = (&model.soil, &model.grains, records.soil_and_grains())
            && let Some(Coupling::Grains(coupling)) = self.list.last()
        {
            let (walls, settings) = (coupling.walls(), coupling.settings());
            let exchange = Exchange { model, soil, grains: own, settings, walls, interval: self.interval };
            exchange.make(ground, grains, path).map_err(failed)?;
        }
        records.add_loads();
        records.intervals += 1;
        Ok(work)
    }

    /// Couplings with their records.
    fn pairs<'a>(&'a self, records: &'a SubsystemRecords) -> impl Iterator<Item = (&'a Coupling, &'a Record)> {
        self.list.iter().zip(&records.list)
    }

    /// Their energy, what they lost by cause, and what was put into them from outside.
    pub fn books(&self, model: &Model, records: &SubsystemRecords) -> Ledger {
        let mut sum = Ledger::default();
        for pair in self.pairs(records) {
            match pair {
                (Coupling::Grains(coupling), Record::Grains(record)) => sum += coupling.books(record),
                (Coupling::Soil(coupling), Record::Soil(record)) => {
                    if let Some(own) = &model.soil {
                        sum += coupling.books(own, record);
                    }
                }
                _ => {}
            }
        }
        sum
    }

    /// Values of their signals, by index of the model's signals. Loads are means of the last interval.
    pub fn signals(&self, model: &Model, records: &SubsystemRecords) -> Vec<(u32, f64)> {
        let mut all = Vec::new();
        for record in &records.list {
            match (record, &model.soil, &model.grains) {
                (Record::Grains(record), _, Some(own)) => all.extend(record.signals(model, own)),
                (Record::Soil(record), Some(own), _) => all.extend(record.signals(model, own)),
                _ => {}
            }
        }
        all
    }

    /// Shows their state to the observer where that is due at time t [s].
    pub fn show(&self, model: &Model, records: &mut SubsystemRecords, t: f64, observe: &mut dyn Observe) {
        for (coupling, record) in self.list.iter().zip(&mut records.list) {
            match (coupling, record, &model.grains) {
                (Coupling::Grains(coupling), Record::Grains(record), Some(own)) => {
                    coupling.show(own, record, t, observe);
                }
                (Coupling::Soil(_), Record::Soil(record), _) => observe.ground(&record.ground, t),
                _ => {}
            }
        }
    }

    /// Writes what the run says of them into the summary: their numbers, their state into the hash, what went wrong into the warnings.
    pub fn summarise(&self, model: &Model, records: &SubsystemRecords, summary: &mut Summary) {
        for pair in self.pairs(records) {
            match pair {
                (Coupling::Grains(coupling), Record::Grains(record)) => {
                    let (grains, hash) = coupling.summary(record);
                    summary.grains = Some(grains);
                    summary.hash ^= hash;
                    if let Some(own) = &model.grains {
                        summary.warnings.extend(coupling.warnings(model, own, record));
                    }
                }
                (Coupling::Soil(_), Record::Soil(record)) => summary.hash ^= record.ground.hash(),
                _ => {}
            }
        }
    }
}
