//! One instance of a unit: what the functions of both standards ask for, without a word of C.

use crate::exchange::{Exchange, Handled};
use crate::plan::{Package, Slot, effort_count};
use std::sync::Arc;
use tippe::precise::Occasion;
use tippe::stepping::{Saved, Stepping};

/// What runs inside.
enum Engine {
    /// Not compiled yet, or no longer: parameters may be given.
    None,
    /// Co-Simulation.
    Steps(Box<Stepping>),
    /// Model Exchange.
    Equations(Box<Exchange>),
}

/// What `get` and `set` may do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Made.
    Instantiated,
    /// Parameters and inputs are given.
    Initialization,
    /// An event is handled.
    Event,
    /// Time goes on.
    Running,
    /// No more.
    Terminated,
}

/// Everything of an instance at one time, to go back to.
#[derive(Clone)]
pub struct Snapshot {
    engine: Kept,
    parameters: Vec<f64>,
    given: Vec<bool>,
    inputs: Vec<f64>,
    efforts: Vec<f64>,
    tolerance: Option<f64>,
    start: f64,
    phase: Phase,
}

#[derive(Clone)]
enum Kept {
    None,
    Steps(Box<Saved>),
    Equations(Box<Exchange>),
}

/// How a step of Co-Simulation ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stepped {
    /// Time that was reached, of the program around [s].
    pub time: f64,
    /// An event ended it early, or happened at its end.
    pub event: bool,
    /// It ended before it should.
    pub early: bool,
}

/// An instance of a unit.
pub struct Instance {
    /// What it was made from.
    pub package: Arc<Package>,
    exchange: bool,
    engine: Engine,
    parameters: Vec<f64>,
    /// Which of them somebody has given.
    given: Vec<bool>,
    inputs: Vec<f64>,
    efforts: Vec<f64>,
    tolerance: Option<f64>,
    /// Time of the program around at which the scene begins [s].
    pub start: f64,
    /// Where it is in its life.
    pub phase: Phase,
    /// The program around handles events.
    pub event_mode: bool,
    /// The program around lets steps end early.
    pub early_return: bool,
}

impl Instance {
    /// An instance for Model Exchange, or for Co-Simulation.
    pub fn new(package: Arc<Package>, exchange: bool) -> Result<Instance, String> {
        let offered = if exchange { package.plan.model_exchange } else { package.plan.co_simulation };
        if !offered {
            let kind = if exchange { "Model Exchange" } else { "Co-Simulation" };
            return Err(format!("this unit offers no {kind}"));
        }
        Ok(Instance {
            parameters: package.scene.params.iter().map(|param| param.value).collect(),
            given: vec![false; package.scene.params.len()],
            inputs: package.input_starts(),
            efforts: vec![0.0; effort_count(&package.model)],
            package,
            exchange,
            engine: Engine::None,
            tolerance: None,
            start: 0.0,
            phase: Phase::Instantiated,
            event_mode: false,
            early_return: false,
        })
    }

    /// Back to where it was made.
    pub fn reset(&mut self) -> Result<(), String> {
        *self = Instance {
            event_mode: self.event_mode,
            early_return: self.early_return,
            ..Instance::new(self.package.clone(), self.exchange)?
        };
        Ok(())
    }

    /// The experiment: tolerance, start [s].
    pub fn set_up(&mut self, tolerance: Option<f64>, start: f64) -> Result<(), String> {
        if !start.is_finite() || tolerance.is_some_and(|own| !(own > 0.0 && own < 1.0)) {
            return Err(format!("start time {start} s or tolerance {tolerance:?} cannot be"));
        }
        (self.tolerance, self.start) = (tolerance, start);
        self.engine = Engine::None;
        Ok(())
    }

    /// Compiles the model with the parameters as they are, if that was not done.
    pub fn ready(&mut self) -> Result<(), String> {
        if !matches!(self.engine, Engine::None) {
            return Ok(());
        }
        let package = self.package.clone();
        let given: Vec<(String, String)> = (package.scene.params.iter().zip(&self.parameters).enumerate())
            .filter(|(k, (param, value))| self.given[*k] && param.value.to_bits() != value.to_bits())
            .map(|(k, (_, value))| package.parameter_text(k, *value))
            .collect();
        let (model, scene) = package.compiled(&given)?;
        // those that the scene finds from others follow them
        for ((own, set), param) in self.parameters.iter_mut().zip(&self.given).zip(&scene.params) {
            if !set {
                *own = param.value;
            }
        }
        self.engine = if self.exchange {
            let mut equations = package.exchange(&model, self.tolerance);
            self.inputs.iter().enumerate().for_each(|(k, value)| equations.set_input(k, *value));
            self.efforts.iter().enumerate().for_each(|(k, value)| equations.set_effort(k, *value));
            Engine::Equations(Box::new(equations))
        } else {
            Engine::Steps(Box::new(package.stepping(model, &scene, self.tolerance, &self.inputs)?))
        };
        Ok(())
    }

    fn slot(&self, reference: u32) -> Result<Slot, String> {
        let item = self.package.items.get(reference as usize);
        item.map(|item| item.slot).ok_or_else(|| format!("there is no variable with value reference {reference}"))
    }

    /// Value of a variable.
    pub fn get(&mut self, reference: u32) -> Result<f64, String> {
        let slot = self.slot(reference)?;
        match slot {
            Slot::Parameter(k) => {
                self.ready()?;
                return Ok(self.parameters[k]);
            }
            Slot::Input(k) => return Ok(self.inputs[k]),
            Slot::Effort(k) => return Ok(self.efforts[k]),
            _ => self.ready()?,
        }
        Ok(match (&mut self.engine, slot) {
            (Engine::Steps(own), Slot::Time) => own.time() + self.start,
            (Engine::Steps(own), Slot::Output(signal)) => own.moment().value(signal, own.subjects()),
            (Engine::Equations(own), Slot::Time) => own.time() + self.start,
            (Engine::Equations(own), Slot::Output(signal)) => own.output(signal),
            (Engine::Equations(own), Slot::State(k)) => own.state(k),
            (Engine::Equations(own), Slot::Rate(k)) => own.rate(k),
            (Engine::Equations(own), Slot::Indicator(k)) => own.indicators()[k],
            // of a unit with both kinds, where nobody integrates outside: there is no such number
            _ => f64::NAN,
        })
    }

    /// Gives a variable a value.
    pub fn set(&mut self, reference: u32, value: f64) -> Result<(), String> {
        let slot = self.slot(reference)?;
        let name = || self.package.items[reference as usize].name.clone();
        if !value.is_finite() {
            return Err(format!("\"{}\": {value} is not a finite number", name()));
        }
        match slot {
            Slot::Parameter(k) => {
                if !matches!(self.phase, Phase::Instantiated | Phase::Initialization) {
                    return Err(format!("parameter \"{}\" is fixed once the initialisation has ended", name()));
                }
                if self.parameters[k].to_bits() != value.to_bits() {
                    (self.parameters[k], self.given[k]) = (value, true);
                    self.engine = Engine::None;
                }
            }
            Slot::Input(k) => {
                self.inputs[k] = value;
                match &mut self.engine {
                    // at the start the moment shows what the inputs make of it
                    Engine::Steps(_) if self.phase == Phase::Initialization => self.engine = Engine::None,
                    Engine::Steps(own) => own.set_input(k, value),
                    Engine::Equations(own) => own.set_input(k, value),
                    Engine::None => {}
                }
            }
            Slot::Effort(k) => {
                self.efforts[k] = value;
                if let Engine::Equations(own) = &mut self.engine {
                    own.set_effort(k, value);
                }
            }
            Slot::State(k) if self.exchange => {
                self.ready()?;
                if let Engine::Equations(own) = &mut self.engine {
                    own.set_state(k, value);
                }
            }
            _ => return Err(format!("\"{}\" is found, it cannot be given", name())),
        }
        Ok(())
    }

    /// The equations of Model Exchange.
    pub fn equations(&mut self) -> Result<&mut Exchange, String> {
        self.ready()?;
        match &mut self.engine {
            Engine::Equations(own) => Ok(own),
            _ => Err("this instance steps itself: it was made for Co-Simulation".to_owned()),
        }
    }

    /// Comes to a time of the program around [s].
    pub fn set_time(&mut self, time: f64) -> Result<(), String> {
        let local = time - self.start;
        self.equations()?.set_time(local);
        Ok(())
    }

    /// An event of Model Exchange is handled; times are those of the program around.
    pub fn handle_event(&mut self) -> Result<Handled, String> {
        let start = self.start;
        let handled = self.equations()?.handle();
        Ok(Handled { next: handled.next.map(|time| time + start), ..handled })
    }

    /// All event indicators.
    pub fn indicators(&mut self) -> Result<[f64; Occasion::ALL.len()], String> {
        Ok(self.equations()?.indicators())
    }

    /// A step of Co-Simulation from `now` by `length`, both of the program around [s].
    pub fn step(&mut self, now: f64, length: f64) -> Result<Stepped, String> {
        self.ready()?;
        let (stop, start) = (self.early_return && self.event_mode, self.start);
        let Engine::Steps(own) = &mut self.engine else {
            return Err("this instance is integrated from outside: it was made for Model Exchange".to_owned());
        };
        let until = now + length - start;
        let fixed = own.model().grains.is_none() && self.package.plan.clock == "realtime";
        let slack = if fixed { self.package.plan.step } else { 0.0 } + 1e-9 * own.time().abs().max(1.0);
        if !(length > 0.0 && until.is_finite()) || (now - start - own.time()).abs() > slack {
            return Err(format!(
                "a step from {now} s by {length} s cannot be made: the unit is at {} s. help: restore a saved state to go back",
                own.time() + start
            ));
        }
        let early = if stop { own.advance_to_event(until) } else { own.advance(until).map(|()| false) };
        let early = early.map_err(|failure| failure.to_string())?;
        let event = self.event_mode && !own.events().is_empty();
        let time = if early { own.time() + start } else { now + length };
        Ok(Stepped { time, event, early })
    }

    /// Names and times of the events of the last step, of the program around [s].
    pub fn events(&self) -> Vec<(f64, String)> {
        match &self.engine {
            Engine::Steps(own) => {
                own.events().iter().map(|event| (event.time + self.start, event.kind.name().to_owned())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Everything, to go back to.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            engine: match &self.engine {
                Engine::None => Kept::None,
                Engine::Steps(own) => Kept::Steps(Box::new(own.save())),
                Engine::Equations(own) => Kept::Equations(own.clone()),
            },
            parameters: self.parameters.clone(),
            given: self.given.clone(),
            inputs: self.inputs.clone(),
            efforts: self.efforts.clone(),
            tolerance: self.tolerance,
            start: self.start,
            phase: self.phase,
        }
    }

    /// Goes back, or on.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), String> {
        let bits = |list: &[f64]| list.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let same = bits(&self.parameters) == bits(&snapshot.parameters) && self.tolerance == snapshot.tolerance;
        self.parameters.clone_from(&snapshot.parameters);
        self.given.clone_from(&snapshot.given);
        self.inputs.clone_from(&snapshot.inputs);
        self.efforts.clone_from(&snapshot.efforts);
        (self.tolerance, self.start, self.phase) = (snapshot.tolerance, snapshot.start, snapshot.phase);
        match &snapshot.engine {
            Kept::None => self.engine = Engine::None,
            Kept::Equations(own) => self.engine = Engine::Equations(own.clone()),
            Kept::Steps(saved) => {
                if !same {
                    self.engine = Engine::None;
                }
                self.ready()?;
                if let Engine::Steps(own) = &mut self.engine {
                    own.restore(saved).map_err(|failure| failure.to_string())?;
                }
            }
        }
        Ok(())
    }

    /// A snapshot of Co-Simulation as bytes.
    pub fn to_bytes(&self, snapshot: &Snapshot) -> Result<Vec<u8>, String> {
        let engine = match &snapshot.engine {
            Kept::None => None,
            Kept::Steps(saved) => Some(saved.to_text()?),
            Kept::Equations(_) => {
                return Err("states of Model Exchange are not written as bytes; the description says so".to_owned());
            }
        };
        let phase = match snapshot.phase {
            Phase::Instantiated => 0,
            Phase::Initialization => 1,
            Phase::Event => 2,
            Phase::Running => 3,
            Phase::Terminated => 4,
        };
        let own = (
            self.package.token(),
            engine,
            (&snapshot.parameters, &snapshot.given),
            &snapshot.inputs,
            &snapshot.efforts,
            snapshot.tolerance,
            snapshot.start,
            phase,
        );
        serde_json::to_vec(&own).map_err(|error| error.to_string())
    }

    /// What [`Instance::to_bytes`] wrote.
    pub fn from_bytes(&self, bytes: &[u8]) -> Result<Snapshot, String> {
        type Written = (String, Option<String>, (Vec<f64>, Vec<bool>), Vec<f64>, Vec<f64>, Option<f64>, f64, u8);
        let own: Written = serde_json::from_slice(bytes).map_err(|error| format!("this is no saved state: {error}"))?;
        let (token, engine, (parameters, given), inputs, efforts, tolerance, start, phase) = own;
        let lengths = [parameters.len(), given.len(), inputs.len(), efforts.len()];
        let own = [self.parameters.len(), self.given.len(), self.inputs.len(), self.efforts.len()];
        if token != self.package.token() || lengths != own {
            return Err("this saved state is of another unit".to_owned());
        }
        let phase = match phase {
            0 => Phase::Instantiated,
            1 => Phase::Initialization,
            2 => Phase::Event,
            3 => Phase::Running,
            _ => Phase::Terminated,
        };
        let engine = match engine {
            None => Kept::None,
            Some(text) => Kept::Steps(Box::new(Saved::from_text(&text)?)),
        };
        Ok(Snapshot { engine, parameters, given, inputs, efforts, tolerance, start, phase })
    }

    /// Derivative of variables in a direction of others: sum over k of d unknown / d known_k times share_k.
    pub fn directional(&mut self, unknowns: &[u32], knowns: &[u32], shares: &[f64]) -> Result<Vec<f64>, String> {
        let slots: Vec<Slot> = unknowns.iter().map(|&r| self.slot(r)).collect::<Result<_, _>>()?;
        let (mut states, mut inputs) = (Vec::new(), Vec::new());
        for (&known, &share) in knowns.iter().zip(shares) {
            match self.slot(known)? {
                Slot::State(k) => states.push((k, share)),
                Slot::Input(k) => inputs.push((k, share)),
                _ => {
                    let name = &self.package.items[known as usize].name;
                    return Err(format!("there is no derivative by \"{name}\", only by states and signal inputs"));
                }
            }
        }
        let equations = self.equations()?;
        let mut ask = |own: &mut Exchange| -> Vec<f64> {
            let value = |own: &mut Exchange, slot: &Slot| match *slot {
                Slot::Rate(k) => own.rate(k),
                Slot::Output(signal) => own.output(signal),
                Slot::State(k) => own.state(k),
                Slot::Indicator(k) => own.indicators()[k],
                _ => 0.0,
            };
            slots.iter().map(|slot| value(own, slot)).collect()
        };
        Ok(equations.directional(&states, &inputs, &mut ask))
    }
}
