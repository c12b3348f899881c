//! The summary of a run: `summary.json` and what `--json` prints.

use super::Subjects;
use crate::scene::Clock;
use crate::{BodyState, Cause, EventKind, GrainSummary, Ledger, MechanismSummary, Solutions, Summary};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One object that says how a run went and where it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Name of the scene.
    pub scene: String,
    /// `precise`, `realtime` or `granular`.
    pub clock: String,
    /// Simulated time reached [s].
    pub sim_s: f64,
    /// Time it took [s].
    pub wall_s: f64,
    /// Accepted steps over all islands [-].
    pub steps: u64,
    /// Rejected steps over all islands [-].
    pub rejected: u64,
    /// Evaluations of the right-hand side over all islands [-].
    pub rhs_evaluations: u64,
    /// Pairs of shapes that were tested for contact, at all evaluations or steps [-].
    #[serde(default)]
    pub pairs_tested: u64,
    /// Of these, those that touched [-].
    #[serde(default)]
    pub pairs_touched: u64,
    /// How the realtime clock solved its partitions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub solutions: Option<Solutions>,
    /// How a run that was to keep wall time did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pace: Option<PaceReport>,
    /// Accepted steps by integrator [-].
    pub steps_by_integrator: BTreeMap<String, u64>,
    /// Events by kind [-].
    pub events: BTreeMap<EventKind, u64>,
    /// Largest number of touching pairs [-].
    pub max_contacts: usize,
    /// The books.
    pub energy: EnergyReport,
    /// Final motion by name of the body.
    pub bodies: BTreeMap<String, BodyReport>,
    /// Final values of the model's signals by name; absent where one is not a finite number.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub signals: BTreeMap<String, Option<f64>>,
    /// Mechanisms: bodies, coordinates, rows, degrees of freedom, drift.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mechanisms: Vec<MechanismSummary>,
    /// Grains: how many, contacts, step, speed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub grains: Option<GrainReport>,
    /// What is worth knowing.
    pub warnings: Vec<String>,
    /// True when it was stopped before its end.
    pub stopped: bool,
    /// Hash of the final state, 16 hexadecimal digits.
    pub hash: String,
}

/// How a run of grains went.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GrainReport {
    /// Counts.
    #[serde(flatten)]
    pub summary: GrainSummary,
    /// Grains times steps over the time it took, neighbour search and recording included [1/s].
    pub particle_steps_per_s: f64,
}

/// How a paced run kept its time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PaceReport {
    /// Simulated seconds per second [-].
    pub pace: f64,
    /// Steps [-].
    pub steps: u64,
    /// Steps that ended after their deadline [-].
    pub missed: u64,
    /// Largest delay behind a deadline [s].
    pub late_s: f64,
    /// Longest step [s].
    pub worst_s: f64,
    /// 99.9 % of all steps took no longer, to 1 % [s].
    pub p999_s: f64,
    /// Half of all steps took no longer, to 1 % [s].
    pub median_s: f64,
}

/// The energy ledger at the end [J].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergyReport {
    /// Stored at the start [J].
    pub initial: f64,
    /// Stored at the end [J].
    #[serde(rename = "final")]
    pub last: f64,
    /// Kinetic at the end [J].
    pub kinetic: f64,
    /// Potential at the end [J].
    pub potential: f64,
    /// Elastic at the end [J].
    pub elastic: f64,
    /// Lost, by cause [J].
    pub by_cause: BTreeMap<String, f64>,
    /// Put in by motors and prescribed motions [J].
    pub work: f64,
    /// Put in by applied forces [J].
    #[serde(default)]
    pub load_work: f64,
    /// Not explained [J].
    pub residual: f64,
}

impl From<&Ledger> for EnergyReport {
    fn from(ledger: &Ledger) -> EnergyReport {
        EnergyReport {
            initial: ledger.initial,
            last: ledger.stored(),
            kinetic: ledger.kinetic,
            potential: ledger.potential,
            elastic: ledger.elastic,
            by_cause: Cause::LOST.iter().map(|&cause| (cause.name().to_owned(), ledger[cause])).collect(),
            work: ledger[Cause::Work],
            load_work: ledger[Cause::Loads],
            residual: ledger.residual(),
        }
    }
}

/// Motion of one body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyReport {
    /// Origin, resolved in world [m].
    pub position: [f64; 3],
    /// Quaternion w, x, y, z taking body to world components.
    pub orientation: [f64; 4],
    /// Velocity of the origin, resolved in world [m/s].
    pub velocity: [f64; 3],
    /// Angular velocity, resolved in world [rad/s].
    pub angular_velocity: [f64; 3],
}

impl From<&BodyState> for BodyReport {
    fn from(body: &BodyState) -> BodyReport {
        let q = body.orientation;
        BodyReport {
            position: body.position.to_array(),
            orientation: [q.w, q.x, q.y, q.z],
            velocity: body.velocity.to_array(),
            angular_velocity: body.angular_velocity.to_array(),
        }
    }
}

impl Report {
    /// Puts a report together.
    pub fn new(scene: &str, clock: Clock, sim_s: f64, wall_s: f64, summary: &Summary, subjects: &Subjects) -> Report {
        let names = subjects.bodies.iter().map(|subject| subject.name.clone());
        let signal_names = subjects.signals.iter().map(|signal| signal.name.clone());
        let finite = |x: &f64| x.is_finite().then_some(*x);
        Report {
            scene: scene.to_owned(),
            clock: clock.name().to_owned(),
            sim_s,
            wall_s,
            steps: summary.steps,
            rejected: summary.rejected,
            rhs_evaluations: summary.rhs_evaluations,
            pairs_tested: summary.solutions.pairs,
            pairs_touched: summary.solutions.contacts,
            solutions: (clock == Clock::Realtime).then_some(summary.solutions),
            pace: None,
            steps_by_integrator: summary.steps_by_integrator.clone(),
            events: summary.events.clone(),
            max_contacts: summary.max_contacts,
            energy: EnergyReport::from(&summary.energy),
            bodies: names.zip(summary.bodies.iter().map(BodyReport::from)).collect(),
            signals: signal_names.zip(summary.signals.iter().map(finite)).collect(),
            mechanisms: summary.mechanisms.clone(),
            grains: summary.grains.map(|grains| GrainReport {
                summary: grains,
                particle_steps_per_s: grains.particle_steps as f64 / wall_s.max(1e-9),
            }),
            warnings: summary.warnings.clone(),
            stopped: summary.stopped,
            hash: format!("{:016x}", summary.hash),
        }
    }
}
