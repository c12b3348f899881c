//! A scene that a program steps: its variables by index or name, time, states to go back to, events.

use std::sync::Arc;
use tippe::clock::Settings;
use tippe::foreign::Collide;
use tippe::model::Model;
use tippe::run::Signal;
use tippe::scene::{Clock, Scene, did_you_mean};
use tippe::stepping::{Saved, Stepping};
use tippe::variables::{Role, Variable, Variables};

/// A scene on its way.
pub struct Session {
    stepping: Stepping,
    variables: Vec<(Variable, Place)>,
}

/// A foreign collider, and the pairs of bodies it is asked for; none: all.
pub struct Asked {
    /// Names of bodies.
    pub pairs: Option<Vec<(String, String)>>,
    /// The function.
    pub collide: Arc<Collide>,
}

/// Where a variable is.
#[derive(Clone, Copy)]
enum Place {
    Given(f64),
    Input(usize),
    Output(Signal),
}

impl Session {
    /// A scene at its start, with a clock by name or its own.
    pub fn open(scene: &Scene, clock: Option<&str>) -> Result<Session, String> {
        Session::open_with(scene, clock, None)
    }

    /// As [`Self::open`], with somebody who gives contact points of pairs of bodies.
    pub fn open_with(scene: &Scene, clock: Option<&str>, foreign: Option<Asked>) -> Result<Session, String> {
        let clock = match clock {
            None => scene.run.clock,
            Some(name) => Clock::from_name(name).ok_or_else(|| {
                format!("there is no clock \"{name}\". help: {}", did_you_mean(name, Clock::NAMES.iter().copied()))
            })?,
        };
        let mut model = Model::compile_for(scene, clock).map_err(|errors| errors.to_string())?;
        if let Some(Asked { pairs, collide }) = foreign {
            model = model.with_foreign(clock, pairs.as_deref(), collide)?;
        }
        let model = Arc::new(model);
        let table = Variables::with_states(scene, &model, &[]);
        let mut variables: Vec<(Variable, Place)> = Vec::new();
        for own in table.parameters {
            let value = own.start.unwrap_or(0.0);
            variables.push((own, Place::Given(value)));
        }
        variables.extend(table.inputs.into_iter().enumerate().map(|(k, own)| (own, Place::Input(k))));
        let given: Vec<String> = variables.iter().map(|(own, _)| own.name.clone()).collect();
        let outputs = table.outputs.into_iter().filter(|(own, _)| !given.contains(&own.name));
        variables.extend(outputs.map(|(own, signal)| (own, Place::Output(signal))));
        let mut settings = Settings::from_scene(scene, clock);
        settings.set_threads(1);
        let starts: Vec<f64> = model.signal_inputs().map(|(input, _)| input.start).collect();
        let stepping = Stepping::new(model, settings, &starts).map_err(|failure| failure.to_string())?;
        Ok(Session { stepping, variables })
    }

    /// Parameters, inputs and outputs; any other signal joins them when [`Session::find`] is asked for it.
    pub fn variables(&self) -> impl ExactSizeIterator<Item = &Variable> {
        self.variables.iter().map(|(own, _)| own)
    }

    /// Index of a variable by name.
    pub fn find(&mut self, name: &str) -> Result<usize, String> {
        if let Some(k) = self.variables.iter().position(|(own, _)| own.name == name) {
            return Ok(k);
        }
        let subjects = self.stepping.subjects();
        let signal = tippe::run::Expression::signal(name, subjects).map_err(|error| format!("\"{name}\": {error}"))?;
        let unit = signal.unit(subjects).to_owned();
        let own =
            Variable { name: name.to_owned(), role: Role::Output, unit, start: None, nominal: None, limits: None };
        self.variables.push((own, Place::Output(signal)));
        Ok(self.variables.len() - 1)
    }

    fn place(&self, k: usize) -> Result<&(Variable, Place), String> {
        self.variables
            .get(k)
            .ok_or_else(|| format!("there are {} variables, number {k} is asked for", self.variables.len()))
    }

    /// Value of a variable now.
    pub fn get(&self, k: usize) -> Result<f64, String> {
        Ok(match self.place(k)?.1 {
            Place::Given(value) => value,
            Place::Input(k) => self.stepping.inputs()[k],
            Place::Output(signal) => self.stepping.moment().value(signal, self.stepping.subjects()),
        })
    }

    /// Gives an input a value from now on.
    pub fn set(&mut self, k: usize, value: f64) -> Result<(), String> {
        let (own, place) = self.place(k)?;
        match *place {
            _ if !value.is_finite() => Err(format!("\"{}\": {value} is not a finite number", own.name)),
            Place::Input(k) => {
                self.stepping.set_input(k, value);
                Ok(())
            }
            Place::Given(_) => Err(format!("parameter \"{}\" is given when the scene is opened", own.name)),
            Place::Output(_) => Err(format!("\"{}\" is an output; only inputs can be given", own.name)),
        }
    }

    /// Now [s].
    pub fn time(&self) -> f64 {
        self.stepping.time()
    }

    /// Goes on to a time [s].
    pub fn advance(&mut self, until: f64) -> Result<(), String> {
        self.check(until)?;
        self.stepping.advance(until).map_err(|failure| failure.to_string())
    }

    /// Goes on to a time [s], or to the first event before it; true if there was one.
    pub fn advance_to_event(&mut self, until: f64) -> Result<bool, String> {
        self.check(until)?;
        self.stepping.advance_to_event(until).map_err(|failure| failure.to_string())
    }

    fn check(&self, until: f64) -> Result<(), String> {
        if until.is_finite() && until >= self.time() {
            return Ok(());
        }
        Err(format!(
            "time goes on from {} s, {until} s cannot be reached. help: restore a saved state to go back",
            self.time()
        ))
    }

    /// Everything, to go back to.
    pub fn save(&self) -> Saved {
        self.stepping.save()
    }

    /// Goes back, or on, to what was saved of the same scene.
    pub fn restore(&mut self, saved: &Saved) -> Result<(), String> {
        self.stepping.restore(saved).map_err(|failure| failure.to_string())
    }

    /// Events of the last stretch: time [s], kind.
    pub fn events(&self) -> impl ExactSizeIterator<Item = (f64, &'static str)> {
        self.stepping.events().iter().map(|event| (event.time, event.kind.name()))
    }
}
