//! Numbers from outside: `inputs.jsonl` of a run folder, one change a line, and their replay.

use super::table::LineFile;
use super::{RunError, RunWriter};
use crate::model::Model;
use crate::realtime::{Heard, Hook, Pull, View};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;
use tippe_geometry::Vec3;
use tippe_geometry::file::regular;

pub(super) const FILE: &str = "inputs.jsonl";

/// One line: an input got a value at the beginning of a step, or a hand began to pull otherwise, or let go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Line<'a> {
    Input { step: u64, input: Cow<'a, str>, value: f64 },
    Pull { step: u64, pull: Option<PullLine<'a>> },
}

/// A hand by the name of the body it pulls at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PullLine<'a> {
    body: Cow<'a, str>,
    at: Vec3,
    to: Vec3,
    stiffness: f64,
    damping: f64,
}

impl RunWriter {
    /// Appends a change; the file is there once something changed.
    pub(super) fn try_input(&mut self, heard: &Heard) -> Result<(), RunError> {
        let input = self.manifest.subjects.inputs.get(heard.input).cloned().unwrap_or_default();
        self.input_line(&Line::Input { step: heard.step, input: input.into(), value: heard.value })
    }

    /// Appends a change of the hand.
    pub(super) fn try_pull(&mut self, step: u64, pull: Option<&Pull>) -> Result<(), RunError> {
        let named = |pull: &Pull| {
            let subject = self.manifest.subjects.bodies.get(pull.body);
            let body = subject.map_or(String::new(), |subject| subject.name.clone()).into();
            let Pull { at, to, stiffness, damping, .. } = *pull;
            PullLine { body, at, to, stiffness, damping }
        };
        let pull = pull.map(named);
        self.input_line(&Line::Pull { step, pull })
    }

    fn input_line(&mut self, line: &Line<'_>) -> Result<(), RunError> {
        if self.inputs.is_none() {
            self.inputs = Some(LineFile::create(&self.folder.join(FILE))?);
        }
        let text = serde_json::to_string(line).unwrap_or_default();
        match &mut self.inputs {
            Some(file) => file.line(&text),
            None => Ok(()),
        }
    }
}

/// Changes of inputs and of the hand as they were recorded, for a run with the same bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    changes: Vec<Heard>,
    next: usize,
    /// Numbers of steps from which on a hand pulls, or none.
    pulls: Vec<(u64, Option<Pull>)>,
}

impl Replay {
    /// The changes in `inputs.jsonl` of a run folder, or in any file of that form; none if the folder has no such file.
    pub fn read(path: &Path, model: &Model) -> Result<Replay, RunError> {
        let path = if path.is_dir() { path.join(FILE) } else { path.to_owned() };
        if !path.exists() && path.ends_with(FILE) {
            return Ok(Replay::default());
        }
        let text = regular::read_text(&path, regular::RECORD).map_err(|error| RunError::read(&path, error))?;
        let mut replay = Replay::default();
        let mut last = 0;
        for (k, line) in text.lines().enumerate() {
            let wrong = |reason: String| RunError::read(&path, format!("line {}: {reason}", k + 1));
            let line: Line<'_> = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
            let (Line::Input { step, .. } | Line::Pull { step, .. }) = line;
            if step < last {
                return Err(wrong("steps must not go back".to_owned()));
            }
            last = step;
            replay.push(line, model).map_err(wrong)?;
        }
        Ok(replay)
    }

    fn push(&mut self, line: Line<'_>, model: &Model) -> Result<(), String> {
        match line {
            Line::Input { step, input, value } => {
                let known = model.signal_inputs().position(|(own, _)| own.name == input);
                let input = known.ok_or_else(|| format!("the scene has no input `{input}`"))?;
                self.changes.push(Heard { step, input, value });
            }
            Line::Pull { step, pull: None } => self.pulls.push((step, None)),
            Line::Pull { step, pull: Some(PullLine { body: name, at, to, stiffness, damping }) } => {
                let known = model.bodies.iter().position(|body| body.name == name);
                let body = known.ok_or_else(|| format!("the scene has no body `{name}`"))?;
                let pull = Pull { body, at, to, stiffness, damping };
                if !pull.is_sound(model) {
                    return Err(format!("`{name}` cannot be pulled like this: it must be free, the numbers finite"));
                }
                self.pulls.push((step, Some(pull)));
            }
        }
        Ok(())
    }

    /// All changes of inputs, in order.
    pub fn changes(&self) -> &[Heard] {
        &self.changes
    }

    /// True if nothing ever changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.pulls.is_empty()
    }
}

/// Number of the step that begins.
fn step_of(view: &View<'_>) -> u64 {
    (view.time / view.step).round() as u64
}

impl Hook for Replay {
    fn inputs(&mut self, view: &View<'_>, inputs: &mut [f64]) {
        let step = step_of(view);
        while let Some(change) = self.changes.get(self.next).filter(|change| change.step <= step) {
            inputs[change.input] = change.value;
            self.next += 1;
        }
    }

    fn pull(&mut self, view: &View<'_>) -> Option<Pull> {
        let begun = self.pulls.partition_point(|(from, _)| *from <= step_of(view));
        self.pulls[..begun].last().and_then(|(_, pull)| *pull)
    }
}
