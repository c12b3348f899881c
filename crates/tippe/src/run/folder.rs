//! Reads a run folder.

use super::manifest::read_json;
use super::tables::RunTables;
use super::writer::EventLine;
use super::{Manifest, Recording, Report, RunError, Status, Wanted, checkpoint, claim};
use crate::scene::{Clock, Scene};
use crate::{Event, clock};
use std::path::{Path, PathBuf};
use tippe_geometry::file::regular;

/// A run folder opened for reading.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Where it is.
    pub folder: PathBuf,
    /// How it came about and ended.
    pub manifest: Manifest,
}

impl Run {
    /// Opens a run, whether it is complete, interrupted, killed or still running.
    pub fn open(folder: &Path) -> Result<Run, RunError> {
        let mut run = Run::open_as_it_is(folder)?;
        if run.manifest.status == Status::Running && !claim::is_held(folder) {
            // it may have ended between the two looks
            run = Run::open_as_it_is(folder)?;
            if run.manifest.status == Status::Running {
                run.manifest.status = Status::Killed;
            }
        }
        Ok(run)
    }

    /// Opens a run whose folder this process may hold.
    pub(super) fn open_as_it_is(folder: &Path) -> Result<Run, RunError> {
        let manifest: Manifest = read_json(&folder.join("manifest.json"))?;
        if manifest.format != 1 {
            let reason = format!("format {} was written by a newer Tippe; this one reads format 1", manifest.format);
            return Err(RunError::read(&folder.join("manifest.json"), reason));
        }
        Ok(Run { folder: folder.to_owned(), manifest })
    }

    /// Summary, for a run that ended in good order.
    pub fn report(&self) -> Result<Report, RunError> {
        read_json(&self.folder.join("summary.json"))
    }

    /// Communication points [s].
    pub fn time(&self) -> Result<Vec<f64>, RunError> {
        self.signal("time")
    }

    /// One column of `signals.parquet` by name, for instance `ball.position.z` or `hinge.angle`; see [`super::Quantity::STORED`].
    pub fn signal(&self, name: &str) -> Result<Vec<f64>, RunError> {
        let tables = RunTables::open(self)?;
        tables.signal(name, 0..tables.rows())
    }

    /// Time of the last row [s]; the start of the run where there is none.
    pub fn reached(&self) -> Result<f64, RunError> {
        let tables = RunTables::open(self)?;
        let rows = tables.rows();
        let last = tables.signal("time", rows.saturating_sub(1)..rows)?;
        Ok(last.first().copied().unwrap_or(self.manifest.start))
    }

    /// A sentence for a run that did not reach its end in good order.
    pub fn fate(&self) -> Option<String> {
        let at = || self.reached().map_or_else(|_| String::new(), |time| format!(" at t = {time} s"));
        let name = self.folder.display();
        match self.manifest.status {
            Status::Killed => Some(format!("the run in {name} was killed{}: this is how far it came", at())),
            Status::Running => Some(format!("the run in {name} is going on: this is how far it is")),
            Status::OutOfSpace => Some(format!("the run in {name} could not be written any further{}", at())),
            Status::Complete | Status::Interrupted | Status::Failed => None,
        }
    }

    /// The event log.
    pub fn events(&self) -> Result<Vec<Event>, RunError> {
        let path = self.folder.join("events.jsonl");
        let text = regular::read_text(&path, regular::RECORD).map_err(|error| RunError::read(&path, error))?;
        let mut events = Vec::new();
        // a line without an end was cut off
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        for (k, line) in whole.lines().enumerate() {
            let line: EventLine<'_> = serde_json::from_str(line)
                .map_err(|error| RunError::read(&path, format!("line {}: {error}", k + 1)))?;
            let event = line.event.into_owned();
            if event.kind.is_of_contact() != event.contact.is_some() {
                let reason = format!("line {}: the event {} is not whole", k + 1, event.kind.name());
                return Err(RunError::read(&path, reason));
            }
            events.push(event);
        }
        Ok(events)
    }

    /// State stored in a checkpoint of this scene, for a run with this clock.
    pub fn checkpoint(path: &Path, scene: &Scene, clock: Clock) -> Result<clock::State, RunError> {
        checkpoint::read(path, scene, clock)
    }

    /// Loads the motions and signals that are wanted, and all else; see [`Recording::only`]. [`RunTables`] reads a part.
    pub fn recording(&self, wanted: Wanted) -> Result<Recording, RunError> {
        let tables = RunTables::open(self)?;
        let mut recording = tables.recording(0..tables.rows(), wanted)?;
        recording.events = self.events()?;
        Ok(recording)
    }
}
