//! The run: what a simulation leaves behind, on disk ([`RunWriter`], [`Run`]) or in memory ([`Recording`]), and
//! questions to it ([`Expression`]).
//!
//! A run folder holds
//!
//! | file | content |
//! | --- | --- |
//! | `manifest.json` | how to repeat it: scene text and hash, version, settings, command; status and hash of the end |
//! | `summary.json` | counts, energy, final motion, wall time |
//! | `signals.parquet` | `time`; for every body position, orientation (w, x, y, z), velocity, angular velocity; every signal of the model |
//! | `energy.parquet` | `time`, every entry of the ledger, linear momentum |
//! | `contacts.parquet` | one row for every touching pair and time |
//! | `events.jsonl` | one event a line |
//! | `patches.jsonl` | on request: for every touching pair of surfaces and time the polygons of its patch with the force on each, a [`Patch`] a line |
//! | `reach.jsonl` | on request, of the precise clock: the boxes that bodies do not leave, a [`ReachLine`] for every horizon |
//! | `inputs.jsonl` | numbers from outside, one change a line, if there were any |
//! | `grains-*.vtk` | all grains at some times, if there are any: legacy VTK points with radius, velocity, spin, class and id; with `--csv` as CSV too, as `file` of a set reads it |
//! | `grains.vtk.series` | their times, for ParaView |
//! | `checkpoint-*.json` | states from which a run continues bit by bit |
//! | `scene.json` | with checkpoints: the scene as it was resolved, which they belong to |
//! | `rows.journal` | while it runs, or when it was killed: rows that are in no table yet |
//! | `.lock` | whoever writes the folder holds it |
//!
//! What was recorded is durable within 5 s, and at every checkpoint: a run that is stopped, killed, fails or fills the disk can be
//! read as far as it came.

mod checkpoint;
mod claim;
pub mod compare;
mod ending;
mod evaluate;
mod expect;
mod expression;
mod folder;
mod ground;
mod inputs;
mod journal;
mod manifest;
mod marks;
mod moment;
mod patches;
mod reach;
mod recording;
mod report;
mod resolved;
mod signal;
mod table;
mod tables;
mod writer;

pub use checkpoint::{CHECKPOINT_FORMAT, OtherLayout};
pub use claim::Claim;
pub use compare::{Comparison, Gap, GapKind, GapName, Gaps};
pub use ending::{Ending, LastEnergy, LastPose, Matched, Touched};
pub use evaluate::NoAnswer;
pub use expect::{Case, Questions, Runs, Verdict, cases};
pub use expression::{Expression, ExpressionError};
pub use folder::Run;
pub use inputs::Replay;
pub use manifest::{Manifest, SceneCopy, Status, fingerprint};
pub use moment::Moment;
pub use patches::{Patch, Polygon};
pub use reach::ReachLine;
pub use recording::{Recording, Wanted};
pub use report::{BodyReport, EnergyReport, GrainReport, PaceReport, Report};
pub use resolved::Resolved;
pub use signal::{Account, Axis, Quantity, Signal, SignalName, Subject, Subjects, Touch};
pub use tables::RunTables;
pub use writer::RunWriter;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use thiserror::Error;

/// What can go wrong with a run folder.
#[derive(Debug, Error)]
pub enum RunError {
    /// A file could not be written: the disk is full, read-only or gone.
    #[error("cannot write {}: {source}. help: free some space, or choose another folder with --out", .path.display())]
    Write {
        /// File.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file is missing or is not what it should be.
    #[error("cannot read {}: {reason}", .path.display())]
    Read {
        /// File.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A checkpoint of another version, which lays states out otherwise.
    #[error("cannot continue from {}: {layout}", .path.display())]
    Layout {
        /// File.
        path: PathBuf,
        /// Which layout it has.
        layout: OtherLayout,
    },
    /// A checkpoint of another scene.
    #[error(
        "cannot continue from {}: it belongs to another scene: {difference}. help: run with the scene and the --set of the run that wrote \
         it, or from the start",
        .path.display()
    )]
    OtherScene {
        /// File.
        path: PathBuf,
        /// What differs.
        difference: String,
    },
    /// A run should go on in its folder with other settings.
    #[error("cannot continue the run in {} with other settings: {difference}. help: choose another folder with --out", .folder.display())]
    OtherSettings {
        /// Folder.
        folder: PathBuf,
        /// What differs.
        difference: String,
    },
    /// A folder that is not a run stands where the run should go.
    #[error("{} was not written by tippe and is left as it is. help: choose another folder with --out", .0.display())]
    Occupied(PathBuf),
    /// Another process writes into the folder.
    #[error("another run is writing into {}. help: wait for its end, or choose another folder with --out", .0.display())]
    Held(PathBuf),
}

impl RunError {
    pub(crate) fn write(path: &Path, source: std::io::Error) -> RunError {
        RunError::Write { path: path.to_owned(), source }
    }

    pub(crate) fn read(path: &Path, reason: impl ToString) -> RunError {
        RunError::Read { path: path.to_owned(), reason: reason.to_string() }
    }
}
