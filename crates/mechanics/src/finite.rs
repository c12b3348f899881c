//! No number that is none leaves a run in silence: what an observer is shown is looked at, and the first that is not finite ends the run.

use crate::model::{Model, SignalSource};
use crate::observe::{Observe, Progress, Reach, Sample};
use crate::{Cause, Event};

/// A number that a run would show, and that is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Lost {
    /// When [s].
    pub time: f64,
    /// The name of its signal.
    pub quantity: String,
    /// What it is.
    pub value: f64,
}

/// An observer that looks before it hands on, and stops the run.
pub struct Finite<'a> {
    model: &'a Model,
    inner: &'a mut dyn Observe,
    /// The first number that was none.
    pub lost: Option<Lost>,
}

impl<'a> Finite<'a> {
    /// Looks at what `inner` is shown.
    pub fn new(model: &'a Model, inner: &'a mut dyn Observe) -> Finite<'a> {
        Finite { model, inner, lost: None }
    }
}

/// The first number of a sample that is not finite. Measures of grains are not looked at: where there are no grains they are none.
fn lost_in(model: &Model, sample: &Sample<'_>) -> Option<(String, f64)> {
    for (body, state) in model.bodies.iter().zip(sample.bodies) {
        let vectors =
            [("position", state.position), ("velocity", state.velocity), ("angular_velocity", state.angular_velocity)];
        let parts = vectors.into_iter().flat_map(|(name, v)| {
            ["x", "y", "z"].into_iter().zip(v.to_array()).map(move |(axis, value)| (name, axis, value))
        });
        if let Some((name, axis, value)) = parts.into_iter().find(|(_, _, value)| !value.is_finite()) {
            return Some((format!("{}.{name}.{axis}", body.name), value));
        }
    }
    for (signal, value) in model.signals.iter().zip(sample.signals).filter(|(_, value)| !value.is_finite()) {
        match signal.source {
            SignalSource::Grains { .. }
            | SignalSource::Sink { .. }
            | SignalSource::Probe { .. }
            | SignalSource::GrainLoad { .. } => {}
            _ => return Some((signal.name.clone(), *value)),
        }
    }
    let books = sample.energy;
    let held = [("kinetic", books.kinetic), ("potential", books.potential), ("elastic", books.elastic)];
    let caused = Cause::ALL.map(|cause| (cause.name(), books[cause]));
    let all = held.into_iter().chain(caused).chain([("initial", books.initial), ("stored", books.stored())]);
    let lost = all.into_iter().find(|(_, energy)| !energy.is_finite());
    lost.map(|(name, energy)| (format!("energy.{name}"), energy))
}

impl Observe for Finite<'_> {
    fn sample(&mut self, sample: &Sample<'_>) {
        if self.lost.is_none()
            && let Some((quantity, value)) = lost_in(self.model, sample)
        {
            self.lost = Some(Lost { time: sample.time, quantity, value });
        }
        if self.lost.is_none() {
            self.inner.sample(sample);
        }
    }

    fn event(&mut self, event: &Event) {
        self.inner.event(event);
    }

    fn found(&mut self, mark: usize, time: f64, value: f64) {
        self.inner.found(mark, time, value);
    }

    fn reach(&mut self, reach: &Reach<'_>) {
        self.inner.reach(reach);
    }

    fn grains(&mut self, grains: &tippe_granular::Grains) {
        self.inner.grains(grains);
    }

    fn ground(&mut self, ground: &tippe_soil::Ground, t: f64) {
        self.inner.ground(ground, t);
    }

    fn input(&mut self, heard: &crate::input::Heard) {
        self.inner.input(heard);
    }

    fn pull(&mut self, step: u64, pull: Option<&crate::input::Pull>) {
        self.inner.pull(step, pull);
    }

    fn progress(&mut self, progress: &Progress) -> bool {
        self.inner.progress(progress) && self.lost.is_none()
    }
}
