//! Reads a run folder.

use super::manifest::read_json;
use super::table::TableReader;
use super::tables::{RunTables, real};
use super::writer::EventLine;
use super::{Manifest, Recording, Report, RunError, Wanted, checkpoint};
use crate::scene::Clock;
use crate::{Event, clock};
use std::path::{Path, PathBuf};

/// A run folder opened for reading.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Where it is.
    pub folder: PathBuf,
    /// How it came about and ended.
    pub manifest: Manifest,
}

impl Run {
    /// Opens a run, whether it is complete, interrupted or still running.
    pub fn open(folder: &Path) -> Result<Run, RunError> {
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
        let path = self.folder.join("signals.parquet");
        real(&TableReader::open(&path)?, name, &path)
    }

    /// The event log.
    pub fn events(&self) -> Result<Vec<Event>, RunError> {
        let path = self.folder.join("events.jsonl");
        let text = std::fs::read_to_string(&path).map_err(|error| RunError::read(&path, error))?;
        let mut events = Vec::new();
        for (k, line) in text.lines().enumerate() {
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
    pub fn checkpoint(path: &Path, scene_hash: &str, clock: Clock) -> Result<clock::State, RunError> {
        checkpoint::read(path, scene_hash, clock)
    }

    /// Loads the motions and signals that are wanted, and all else; see [`Recording::only`]. [`RunTables`] reads a part.
    pub fn recording(&self, wanted: Wanted) -> Result<Recording, RunError> {
        let tables = RunTables::open(self)?;
        let mut recording = tables.recording(0..tables.rows(), wanted)?;
        recording.events = self.events()?;
        Ok(recording)
    }
}
