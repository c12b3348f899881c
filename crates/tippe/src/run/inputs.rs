//! Numbers from outside: `inputs.jsonl` of a run folder, one change a line, and their replay.

use super::table::LineFile;
use super::{RunError, RunWriter};
use crate::model::Model;
use crate::realtime::{Heard, Hook, View};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;

pub(super) const FILE: &str = "inputs.jsonl";

/// One line: which input got which value at the beginning of which step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Line<'a> {
    step: u64,
    input: Cow<'a, str>,
    value: f64,
}

impl RunWriter {
    /// Appends a change; the file is there once something changed.
    pub(super) fn try_input(&mut self, heard: &Heard) -> Result<(), RunError> {
        if self.inputs.is_none() {
            self.inputs = Some(LineFile::create(&self.folder.join(FILE))?);
        }
        let input = self.manifest.subjects.inputs.get(heard.input).map_or("", String::as_str);
        let line = Line { step: heard.step, input: input.into(), value: heard.value };
        let text = serde_json::to_string(&line).unwrap_or_default();
        match &mut self.inputs {
            Some(file) => file.line(&text),
            None => Ok(()),
        }
    }
}

/// Changes of inputs as they were recorded, for a run with the same bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    changes: Vec<Heard>,
    next: usize,
}

impl Replay {
    /// The changes in `inputs.jsonl` of a run folder, or in any file of that form; none if the folder has no such file.
    pub fn read(path: &Path, model: &Model) -> Result<Replay, RunError> {
        let path = if path.is_dir() { path.join(FILE) } else { path.to_owned() };
        if !path.exists() && path.ends_with(FILE) {
            return Ok(Replay::default());
        }
        let text = std::fs::read_to_string(&path).map_err(|error| RunError::read(&path, error))?;
        let names: Vec<&str> = model.network.inputs().map(|(name, ..)| name).collect();
        let mut changes: Vec<Heard> = Vec::new();
        for (k, line) in text.lines().enumerate() {
            let wrong = |reason: String| RunError::read(&path, format!("line {}: {reason}", k + 1));
            let line: Line<'_> = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
            let Some(input) = names.iter().position(|name| *name == line.input) else {
                return Err(wrong(format!("the scene has no input `{}`", line.input)));
            };
            if changes.last().is_some_and(|last| last.step > line.step) {
                return Err(wrong("steps must not go back".to_owned()));
            }
            changes.push(Heard { step: line.step, input, value: line.value });
        }
        Ok(Replay { changes, next: 0 })
    }

    /// All changes, in order.
    pub fn changes(&self) -> &[Heard] {
        &self.changes
    }

    /// True if nothing ever changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

impl Hook for Replay {
    fn inputs(&mut self, view: &View<'_>, inputs: &mut [f64]) {
        let step = (view.time / view.step).round() as u64;
        while let Some(change) = self.changes.get(self.next).filter(|change| change.step <= step) {
            inputs[change.input] = change.value;
            self.next += 1;
        }
    }
}
