//! All clocks behind one door: settings, state and failure of whichever a run has.

use crate::model::Model;
use crate::observe::{Mark, Observe, Summary};
use crate::scene::{Clock, Scene, SceneError};
use crate::{granular, precise, realtime};
use serde::{Deserialize, Serialize};
use tippe_mechanics::finite::{Finite, Lost};
use tippe_mechanics::grains::substeps;
pub use tippe_mechanics::set::Set;

/// A run has at most this many steps of one length: the fewest grains take a day for them.
const MOST_STEPS: f64 = 1e12;
/// The step of a run is at most this many times as long as the run [-]: a scene of a few milliseconds may end with its first step.
const MOST_BEYOND: f64 = 20.0;

/// How to run a clock, and which. In files what one clock has and the others have not tells them apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Settings {
    /// The precise clock.
    Precise(precise::Settings),
    /// The realtime clock.
    Realtime(realtime::Settings),
    /// The granular clock.
    Granular(granular::Settings),
}

impl Settings {
    /// The scene's own settings for a clock.
    pub fn from_scene(scene: &Scene, clock: Clock) -> Settings {
        match clock {
            Clock::Precise => Settings::Precise(precise::Settings::from_scene(scene)),
            Clock::Realtime => Settings::Realtime(realtime::Settings::from_scene(scene)),
            Clock::Granular => Settings::Granular(granular::Settings::from_scene(scene)),
        }
    }

    /// Which clock they are for.
    pub fn clock(&self) -> Clock {
        match self {
            Settings::Precise(_) => Clock::Precise,
            Settings::Realtime(_) => Clock::Realtime,
            Settings::Granular(_) => Clock::Granular,
        }
    }

    /// Sets the number of threads; 0 for all there are.
    pub fn set_threads(&mut self, threads: usize) {
        match self {
            Settings::Precise(settings) => settings.threads = threads,
            Settings::Realtime(settings) => settings.threads = threads,
            Settings::Granular(settings) => settings.threads = threads,
        }
    }

    /// Sets the time between communication points [s].
    pub fn set_output_interval(&mut self, interval: f64) {
        match self {
            Settings::Precise(settings) => settings.output_interval = interval,
            Settings::Realtime(settings) => settings.output_interval = interval,
            Settings::Granular(settings) => settings.output_interval = interval,
        }
    }

    /// Makes the run record at these times, ascending [s]. The realtime clock has its steps and nothing between them: it records
    /// all of them; the granular clock records the steps around them.
    pub fn record_at(&mut self, times: Vec<f64>) {
        match self {
            Settings::Precise(settings) => settings.record_at = times,
            Settings::Realtime(settings) if times.is_empty() => {
                settings.output_interval = settings.output_interval.max(settings.step)
            }
            Settings::Realtime(settings) => settings.output_interval = settings.step,
            Settings::Granular(settings) => settings.record_at = times,
        }
    }

    /// Makes the run record where something is largest or smallest, or crosses a level: the precise clock there, the realtime
    /// clock at every step.
    pub fn record_marks(&mut self, marks: Vec<Mark>) {
        match self {
            Settings::Precise(settings) => settings.marks = marks,
            Settings::Realtime(settings) if !marks.is_empty() => settings.output_interval = settings.step,
            Settings::Realtime(_) | Settings::Granular(_) => {}
        }
    }

    /// What no clock can run with.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Settings::Realtime(settings) if !(settings.step > 0.0 && settings.step.is_finite()) => {
                Err(format!("a step of {} s", settings.step))
            }
            Settings::Realtime(settings) if !(1..=8).contains(&settings.points) => {
                Err(format!("{} contact points per pair of shapes; 1 to 8 are possible", settings.points))
            }
            _ => Ok(()),
        }
    }

    /// Says why a run from time zero to `until` [s] would record more than anybody can keep.
    pub fn too_many_points(&self, until: f64) -> Option<String> {
        match self {
            Settings::Precise(settings) => settings.too_many_points(until),
            Settings::Granular(settings) => {
                let output_interval = settings.output_interval;
                precise::Settings { output_interval, ..precise::Settings::default() }.too_many_points(until)
            }
            Settings::Realtime(settings) => {
                // points are steps, so there are never more of them
                let output_interval = settings.output_interval.max(settings.step);
                precise::Settings { output_interval, ..precise::Settings::default() }.too_many_points(until)
            }
        }
    }

    /// Step of the grains of a model in a run from its start [s], if it has any.
    pub fn grain_step(&self, model: &Model) -> Option<f64> {
        let own = model.grains.as_ref()?;
        Some(match self {
            Settings::Precise(settings) => settings.handover_interval(own.settings.step),
            Settings::Realtime(settings) => settings.step / substeps(settings.step, own),
            Settings::Granular(settings) => settings.step.unwrap_or(own.settings.step),
        })
    }

    /// An error where a run of this model to `until` [s] would have a step that is too long for its grains, or more steps than
    /// anybody can wait for.
    pub fn check_steps(&self, scene: &Scene, model: &Model, until: f64) -> Result<(), SceneError> {
        let fixed = match self {
            Settings::Realtime(settings) => Some((settings.step, scene.realtime.places.of("step"))),
            Settings::Precise(settings) if settings.integrator.fixed_step() => {
                settings.step.map(|step| (step, scene.places.entity))
            }
            _ => None,
        };
        // a run ends with the step that reaches its end: one that is much longer goes where nobody asked for
        if let Some((step, place)) = fixed.filter(|(step, _)| *step > MOST_BEYOND * until) {
            let message = format!("a step of {step} s is longer than the whole run, which ends at {until} s");
            return Err(scene.error(place, message, "a shorter step (--step), or a later end (--until)"));
        }
        if let (Settings::Granular(settings), Some(own)) = (self, &model.grains)
            && let Err(error) = own.settings(settings.step)
        {
            return Err(scene.error(scene.granular.places.of("step"), format!("grains: {error}"), ""));
        }
        let (what, step, place) = match (self, self.grain_step(model)) {
            (_, Some(step)) => {
                let given = scene.granular.step.map(|_| scene.granular.places.of("step"));
                let finest = || model.grains.as_ref().and_then(|own| scene.grains.get(own.finest()));
                let own = || finest().map_or(scene.granular.places.entity, |set| set.places.entity);
                ("grains", step, given.unwrap_or_else(own))
            }
            (Settings::Realtime(settings), None) => {
                ("the realtime clock", settings.step, scene.realtime.places.of("step"))
            }
            (Settings::Precise(_) | Settings::Granular(_), None) => return Ok(()),
        };
        let steps = until / step;
        if steps <= MOST_STEPS {
            return Ok(());
        }
        let message = format!(
            "{what}: a step of {step:.3e} s until {until} s makes {steps:.1e} steps; a run has at most {MOST_STEPS:e}"
        );
        let help = match what {
            "grains" => "a longer step, with larger or softer (`young`) grains, or a nearer end (--until)",
            _ => "a longer step, or a nearer end (--until)",
        };
        Err(scene.error(place, message, help))
    }

    /// The model at the start of its scene.
    pub fn start(&self, model: &Model) -> State {
        match self {
            Settings::Precise(_) => State::Precise(precise::State::start(model)),
            Settings::Realtime(_) => State::Realtime(realtime::State::start(model)),
            Settings::Granular(_) => State::Granular(granular::State::start(model)),
        }
    }
}

/// Everything that survives of a run, in the terms of its clock.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a run has one of them")]
pub enum State {
    /// Of the precise clock.
    Precise(precise::State),
    /// Of the realtime clock.
    Realtime(realtime::State),
    /// Of the granular clock.
    Granular(granular::State),
}

impl State {
    /// Now [s].
    pub fn time(&self) -> f64 {
        match self {
            State::Precise(state) => state.time,
            State::Realtime(state) => state.time,
            State::Granular(state) => state.time,
        }
    }

    /// Which clock it belongs to.
    pub fn clock(&self) -> Clock {
        match self {
            State::Precise(_) => Clock::Precise,
            State::Realtime(_) => Clock::Realtime,
            State::Granular(_) => Clock::Granular,
        }
    }

    /// Its grains, if it has any.
    pub fn grains(&self) -> Option<&tippe_granular::Grains> {
        match self {
            State::Precise(state) => state.grains(),
            State::Realtime(state) => state.grains(),
            State::Granular(state) => Some(state.grains()),
        }
    }

    /// Its ground, if it has any.
    pub fn ground(&self) -> Option<&tippe_soil::Ground> {
        match self {
            State::Precise(state) => state.ground(),
            State::Realtime(state) => state.ground(),
            State::Granular(_) => None,
        }
    }
}

/// Why a simulation stopped before its end.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Failure {
    /// The precise clock could not go on.
    #[error(transparent)]
    Precise(#[from] precise::Failure),
    /// The realtime clock could not go on.
    #[error(transparent)]
    Realtime(#[from] realtime::Failure),
    /// The granular clock could not go on.
    #[error(transparent)]
    Granular(#[from] granular::Failure),
    /// A clock without steps of its own was asked for one.
    #[error("the {} clock has no steps of its own. help: advance to a time, or take the realtime clock", .clock.name())]
    NoSteps {
        /// The clock.
        clock: Clock,
    },
    /// A clock in which nothing can be set was asked to.
    #[error("nothing can be set in the {} clock while it runs", .clock.name())]
    NothingToSet {
        /// The clock.
        clock: Clock,
    },
    /// A number that the run would show is none.
    #[error(
        "t = {} s: {} is {}, not a finite number. help: look for a division by zero or a root of a negative number in its equation, \
         and for forces, masses or gravity beyond what double precision holds",
        .0.time, .0.quantity, .0.value
    )]
    NotFinite(Lost),
    /// State and settings belong to different clocks.
    #[error("a state of the {} clock cannot go on in the {} clock", .state.name(), .settings.name())]
    Mixed {
        /// Clock of the state.
        state: Clock,
        /// Clock of the settings.
        settings: Clock,
    },
}

/// Advances `state` to `until` [s] with its clock, handing everything on the way to `observe`. After a failure `state` is the last
/// good one.
pub fn simulate(
    model: &Model,
    state: &mut State,
    until: f64,
    settings: &Settings,
    observe: &mut dyn Observe,
) -> Result<Summary, Failure> {
    let mut finite = Finite::new(model, observe);
    let summary = match (state, settings) {
        (State::Precise(state), Settings::Precise(settings)) => {
            precise::simulate(model, state, until, settings, &mut finite)?
        }
        (State::Realtime(state), Settings::Realtime(settings)) => {
            realtime::simulate(model, state, until, settings, &mut finite)?
        }
        (State::Granular(state), Settings::Granular(settings)) => {
            granular::simulate(model, state, until, settings, &mut finite)?
        }
        (state, settings) => return Err(Failure::Mixed { state: state.clock(), settings: settings.clock() }),
    };
    finite.lost.map_or(Ok(summary), |lost| Err(Failure::NotFinite(lost)))
}
