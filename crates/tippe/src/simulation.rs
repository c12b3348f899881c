//! A simulation: model, settings, state and clock in one value, the same for all three clocks.

use crate::clock::{self, Failure, Set, Settings, State};
use crate::kinematics::BodyState;
use crate::model::Model;
use crate::observe::{Observe, Summary};
use crate::realtime::{self, Hook};
use crate::scene::{Scene, SceneErrors};
use std::sync::Arc;
use tippe_mechanics::finite::Finite;

/// A model on its way through time.
pub struct Simulation {
    model: Arc<Model>,
    settings: Settings,
    engine: Engine,
    summary: Summary,
    /// Whether there was a stretch of which `summary` tells.
    begun: bool,
    /// End of the whole run [s], if its stretches end before: progress is told as a part of it, and the realtime clock records
    /// the step that reaches it.
    pub end: f64,
}

/// What goes on from stretch to stretch.
enum Engine {
    /// The realtime clock keeps its work arrays, and its last good state.
    Realtime(Box<realtime::Clock>, Box<realtime::State>),
    /// The other clocks have nothing but a state between stretches.
    Standing(Box<State>),
}

impl Simulation {
    /// At the start of the model's scene.
    pub fn new(model: impl Into<Arc<Model>>, settings: Settings) -> Simulation {
        let model = model.into();
        let state = settings.start(&model);
        Simulation::going_on(model, settings, state)
    }

    /// A scene with its own clock and settings.
    pub fn of_scene(scene: &Scene) -> Result<Simulation, SceneErrors> {
        let clock = scene.run.clock;
        Ok(Simulation::new(Model::compile_for(scene, clock)?, Settings::from_scene(scene, clock)))
    }

    /// From a state on that the same scene and clock came to.
    pub fn resume(model: impl Into<Arc<Model>>, settings: Settings, state: State) -> Result<Simulation, Failure> {
        if state.clock() != settings.clock() {
            return Err(Failure::Mixed { state: state.clock(), settings: settings.clock() });
        }
        Ok(Simulation::going_on(model.into(), settings, state))
    }

    fn going_on(model: Arc<Model>, settings: Settings, state: State) -> Simulation {
        let engine = match (state, &settings) {
            (State::Realtime(state), Settings::Realtime(settings)) => {
                let clock = realtime::Clock::new(model.clone(), state.clone(), settings.clone());
                Engine::Realtime(Box::new(clock), Box::new(state))
            }
            (state, _) => Engine::Standing(Box::new(state)),
        };
        Simulation { model, settings, engine, summary: Summary::default(), begun: false, end: 0.0 }
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Now [s].
    pub fn time(&self) -> f64 {
        match &self.engine {
            Engine::Realtime(clock, _) => clock.state.time,
            Engine::Standing(state) => state.time(),
        }
    }

    /// Everything that survives: a checkpoint. After a failure the last one in good order.
    pub fn state(&self) -> State {
        match &self.engine {
            Engine::Realtime(clock, _) => State::Realtime(clock.state.clone()),
            Engine::Standing(state) => (**state).clone(),
        }
    }

    /// Goes back, or on, to a state of the same scene and clock.
    pub fn restore(&mut self, state: &State) -> Result<(), Failure> {
        match (&mut self.engine, state) {
            (Engine::Realtime(clock, good), State::Realtime(state)) => {
                clock.restore(state);
                state.copy_to(good);
                clock.begin(&mut ());
                Ok(())
            }
            (Engine::Standing(own), state) if own.clock() == state.clock() => {
                **own = state.clone();
                Ok(())
            }
            (_, state) => Err(Failure::Mixed { state: state.clock(), settings: self.settings.clock() }),
        }
    }

    /// Goes on to `until` [s], the realtime clock to the end of the step that reaches it, and hands everything on the way to
    /// `observe`. Returns the summary of all stretches so far; after a failure the state is the last good one.
    pub fn advance(&mut self, until: f64, observe: &mut dyn Observe) -> Result<Summary, Failure> {
        self.advance_with(until, &mut [], observe)
    }

    /// [`Simulation::advance`] with hooks, which the realtime clock alone asks.
    pub fn advance_with(
        &mut self,
        until: f64,
        hooks: &mut [&mut dyn Hook],
        observe: &mut dyn Observe,
    ) -> Result<Summary, Failure> {
        self.stretch(until, u64::MAX, hooks, observe)?;
        Ok(self.summary())
    }

    /// Makes steps of the realtime clock; the others have none of their own.
    pub fn steps(&mut self, count: u64, hooks: &mut [&mut dyn Hook], observe: &mut dyn Observe) -> Result<(), Failure> {
        match self.engine {
            Engine::Realtime(..) => self.stretch(f64::INFINITY, count, hooks, observe),
            Engine::Standing(_) => Err(Failure::NoSteps { clock: self.settings.clock() }),
        }
    }

    fn stretch(
        &mut self,
        until: f64,
        count: u64,
        hooks: &mut [&mut dyn Hook],
        observe: &mut dyn Observe,
    ) -> Result<(), Failure> {
        match &mut self.engine {
            Engine::Realtime(clock, good) => {
                let end = if until.is_finite() { self.end.max(until) } else { self.end };
                let model = &self.model;
                let mut finite = Finite::new(model, observe);
                let observe = &mut finite;
                clock.begin(observe);
                clock.state.copy_to(good);
                let mut left = count;
                while left > 0 && !clock.reached(until) {
                    clock.step_with(hooks);
                    left -= 1;
                    let recorded = clock.record(end, observe).map_err(Failure::from);
                    match recorded
                        .and_then(|point| observe.lost.take().map_or(Ok(point), |lost| Err(Failure::NotFinite(lost))))
                    {
                        Ok(true) => clock.state.copy_to(good),
                        Ok(false) => {}
                        Err(failure) => {
                            good.copy_to(&mut clock.state);
                            return Err(failure);
                        }
                    }
                }
                observe.lost.take().map_or(Ok(()), |lost| Err(Failure::NotFinite(lost)))
            }
            Engine::Standing(state) => {
                let part = clock::simulate(&self.model, state, until, &self.settings, observe)?;
                let told = std::mem::take(&mut self.summary);
                // a stretch that was over before it began has no motion to show
                let empty = part.steps == 0 && part.horizons == 0 && !told.bodies.is_empty();
                self.summary = if self.begun { part.after(&told) } else { part };
                if empty {
                    let Summary { bodies, signals, energy, .. } = told;
                    (self.summary.bodies, self.summary.signals, self.summary.energy) = (bodies, signals, energy);
                }
                self.begun = true;
                Ok(())
            }
        }
    }

    /// Sets things where the simulation has come to; in the granular clock nothing can be set.
    pub fn set(&mut self, sets: &[Set]) -> Result<(), Failure> {
        match (&mut self.engine, &self.settings) {
            (Engine::Realtime(clock, _), _) => clock.set(sets),
            (Engine::Standing(state), Settings::Precise(settings)) => {
                if let State::Precise(state) = &mut **state {
                    state.set(&self.model, settings, sets)?;
                }
            }
            (Engine::Standing(_), settings) => return Err(Failure::NothingToSet { clock: settings.clock() }),
        }
        Ok(())
    }

    /// All grains, where the model has any.
    pub fn grains(&self) -> Option<&tippe_granular::Grains> {
        match &self.engine {
            Engine::Realtime(clock, _) => clock.state.grains(),
            Engine::Standing(state) => state.grains(),
        }
    }

    /// Its ground as it is, if it has any.
    pub fn ground(&self) -> Option<&tippe_soil::Ground> {
        match &self.engine {
            Engine::Realtime(clock, _) => clock.state.ground(),
            Engine::Standing(state) => state.ground(),
        }
    }

    /// What there is to say of all stretches so far.
    pub fn summary(&mut self) -> Summary {
        match &mut self.engine {
            Engine::Realtime(clock, _) => clock.summary(),
            Engine::Standing(_) => self.summary.clone(),
        }
    }

    /// Motion of a body now; the precise and the granular clock know it from the last stretch.
    pub fn body(&self, body: usize) -> BodyState {
        match &self.engine {
            Engine::Realtime(clock, _) => clock.body(body),
            Engine::Standing(_) => self.summary.bodies.get(body).copied().unwrap_or(self.model.start[body]),
        }
    }

    /// Shows the realtime clock's state as it is now to an observer, whether or not it is due.
    pub fn look(&mut self, observe: &mut dyn Observe) {
        if let Engine::Realtime(clock, _) = &mut self.engine {
            clock.sample(observe);
        }
    }
}
