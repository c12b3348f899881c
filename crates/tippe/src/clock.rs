//! All clocks behind one door: settings, state and failure of whichever a run has.

use crate::bed::substeps;
use crate::model::{Drive, JointPlace, Model, SignalSource};
use crate::observe::{BodyState, Observe, Summary};
use crate::scene::{Clock, Scene, SceneError, did_you_mean};
use crate::{granular, precise, realtime};

/// A run has at most this many steps of one length: the fewest grains take a day for them.
const MOST_STEPS: f64 = 1e12;

/// How to run a clock, and which.
#[derive(Clone, Debug, PartialEq)]
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
            Settings::Precise(settings) => settings.grain_step(own),
            Settings::Realtime(settings) => settings.step / substeps(settings.step, own),
            Settings::Granular(settings) => settings.step.unwrap_or(own.settings.step),
        })
    }

    /// An error where a run of this model to `until` [s] would have a step that is too long for its grains, or more steps than
    /// anybody can wait for.
    pub fn check_steps(&self, scene: &Scene, model: &Model, until: f64) -> Result<(), SceneError> {
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
}

/// Something a program sets between two stretches of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Set {
    /// A number from outside, in the order of [`crate::network::Network::inputs`]; its limits hold.
    Input {
        /// Which.
        input: usize,
        /// Value.
        value: f64,
    },
    /// Motion of a free body that no joint holds.
    Body {
        /// Index in the model.
        body: usize,
        /// Motion of its origin.
        motion: BodyState,
    },
    /// A coordinate of a mechanism without loops, and its rate.
    Coordinate {
        /// Index of the mechanism.
        mechanism: usize,
        /// Index of the coordinate.
        coordinate: usize,
        /// Value [m or rad].
        value: f64,
        /// Rate [m/s or rad/s].
        rate: f64,
    },
}

impl Set {
    /// The motion of the body of this name; an error says why it cannot be set.
    pub fn body(model: &Model, name: &str, motion: BodyState) -> Result<Set, String> {
        let names = || model.bodies.iter().map(|body| body.name.as_str()).collect::<Vec<_>>();
        let body = model
            .body(name)
            .ok_or_else(|| format!("there is no body \"{name}\". help: {}", did_you_mean(name, names())))?;
        let own = &model.bodies[body];
        if own.drive != Drive::Free {
            return Err(format!("body \"{name}\" is not free: its motion is given by the scene"));
        }
        if own.mechanism.is_some() {
            return Err(format!("body \"{name}\" is held by joints. help: set the coordinates of its joints"));
        }
        let (p, q) = (motion.position, motion.orientation);
        let finite = p.is_finite() && motion.velocity.is_finite() && motion.angular_velocity.is_finite();
        if !finite || !q.is_finite() || q.length() < 1e-6 {
            return Err(format!("body \"{name}\": a position, orientation or velocity is not a finite number"));
        }
        Ok(Set::Body { body, motion: BodyState { orientation: q.normalize(), ..motion } })
    }

    /// A coordinate by the name of its signal (`hinge.angle`); an error says why it cannot be set.
    pub fn coordinate(model: &Model, name: &str, value: f64, rate: f64) -> Result<Set, String> {
        let coordinates = || {
            model.signals.iter().filter_map(|signal| match signal.source {
                SignalSource::Coordinate { joint, coordinate } => Some((signal.name.as_str(), joint, coordinate)),
                _ => None,
            })
        };
        let Some((_, joint, coordinate)) = coordinates().find(|(own, ..)| *own == name) else {
            let names: Vec<&str> = coordinates().map(|(own, ..)| own).collect();
            return Err(format!("there is no coordinate \"{name}\". help: {}", did_you_mean(name, names)));
        };
        let Some(JointPlace::Link { mechanism, link }) = model.joints[joint as usize].place else {
            return Err(format!("the joint of \"{name}\" closes a loop: it has no coordinates of its own"));
        };
        let own = &model.mechanisms[mechanism as usize];
        let link = &own.links[link as usize];
        if own.has_rows() {
            return Err(format!(
                "\"{name}\" belongs to a mechanism with loops, whose coordinates depend on each other"
            ));
        }
        if link.joint.has_base() && coordinate < 3 {
            return Err(format!("\"{name}\" is part of an orientation and cannot be set alone"));
        }
        if !(value.is_finite() && rate.is_finite()) {
            return Err(format!("\"{name}\": the value or its rate is not a finite number"));
        }
        let coordinate = link.first + coordinate as usize;
        Ok(Set::Coordinate { mechanism: mechanism as usize, coordinate, value, rate })
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
    simulate_with(model, state, until, settings, &mut [], observe)
}

/// [`simulate`] with hooks, which the realtime clock alone has.
pub fn simulate_with(
    model: &Model,
    state: &mut State,
    until: f64,
    settings: &Settings,
    hooks: &mut [&mut dyn realtime::Hook],
    observe: &mut dyn Observe,
) -> Result<Summary, Failure> {
    match (state, settings) {
        (State::Precise(state), Settings::Precise(settings)) => {
            Ok(precise::simulate(model, state, until, settings, observe)?)
        }
        (State::Realtime(state), Settings::Realtime(settings)) => {
            Ok(realtime::simulate_with(model, state, until, settings, hooks, observe)?)
        }
        (State::Granular(state), Settings::Granular(settings)) => {
            Ok(granular::simulate(model, state, until, settings, observe)?)
        }
        (state, settings) => Err(Failure::Mixed { state: state.clock(), settings: settings.clock() }),
    }
}
