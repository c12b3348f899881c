//! What watches and feeds a stretch of a run while the interpreter does something else.

use crate::law::Raised;
use crate::run::progress;
use crate::tape::Tape;
use pyo3::prelude::*;
use std::time::{Duration, Instant};
use tippe::realtime::{Heard, Hook, View};
use tippe::run::{Moment, RunWriter};
use tippe::{Event, Observe, Progress, Sample};

/// Python is asked about signals, and told about progress, this often.
const LOOK: Duration = Duration::from_millis(50);
/// The clock of the wall is looked at every so many steps.
const STRIDE: u32 = 16;

/// What watches a stretch of a run: the tape, the folder, Python.
pub struct Watch<'a> {
    /// The latest sample.
    pub latest: &'a mut Moment,
    /// What is recorded.
    pub tape: Option<&'a mut Tape>,
    /// The run folder.
    pub writer: Option<&'a mut RunWriter>,
    /// Events of the stretch.
    pub events: &'a mut Vec<Event>,
    /// What a function raised.
    pub raised: &'a Raised,
    /// Names of bodies.
    pub names: &'a [String],
    /// Called with the progress.
    pub tell: Option<Py<PyAny>>,
    /// When Python was last asked.
    pub looked: Option<Instant>,
    /// Steps or horizons seen.
    pub calls: u32,
}

impl Observe for Watch<'_> {
    fn sample(&mut self, sample: &Sample<'_>) {
        self.latest.sample(sample);
        if let Some(tape) = &mut self.tape {
            tape.sample(sample);
        }
        if let Some(writer) = &mut self.writer {
            writer.sample(sample);
        }
    }

    fn event(&mut self, event: &Event) {
        self.events.push(event.clone());
        if let Some(tape) = &mut self.tape {
            tape.event(event);
        }
        if let Some(writer) = &mut self.writer {
            writer.event(event);
        }
    }

    fn input(&mut self, heard: &Heard) {
        if let Some(tape) = &mut self.tape {
            tape.input(heard);
        }
        if let Some(writer) = &mut self.writer {
            writer.input(heard);
        }
    }

    fn progress(&mut self, p: &Progress) -> bool {
        self.calls = self.calls.wrapping_add(1);
        if self.calls.is_multiple_of(STRIDE) && self.looked.is_none_or(|looked| looked.elapsed() > LOOK) {
            // the first look comes late, so that a single step does not pay for it
            if self.looked.replace(Instant::now()).is_some() {
                self.look(p);
            }
        }
        !self.raised.any() && self.writer.as_mut().is_none_or(|writer| writer.progress(p))
    }
}

impl Watch<'_> {
    fn look(&mut self, p: &Progress) {
        let limiter = p.limiter.and_then(|body| self.names.get(body)).map(String::as_str);
        let asked = Python::attach(|py| {
            py.check_signals()?;
            if let Some(tell) = &self.tell {
                tell.call1(py, (progress(py, p, limiter)?,))?;
            }
            PyResult::Ok(())
        });
        if let Err(error) = asked {
            self.raised.keep(error);
        }
    }
}

/// Numbers from outside for the next step.
pub struct Pending<'a>(pub &'a mut Vec<(usize, f64)>);

impl Hook for Pending<'_> {
    fn inputs(&mut self, _: &View<'_>, inputs: &mut [f64]) {
        for (input, value) in self.0.drain(..) {
            inputs[input] = value;
        }
    }
}
