//! The one table of variables of a scene: what a program outside may give it, read from it and integrate for it, by name, with
//! units and sizes. Functional mock-up units, the C interface, Python and the command line all have this table.

use crate::Whole;
use crate::equation::Kind;
use crate::model::{InputPlace, Model};
use crate::precise::OuterState;
use crate::run::{Account, Expression, ExpressionError, Quantity, Signal, Subjects};
use crate::scene::Scene;
use serde::Serialize;

/// What a variable is to a program outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A `[params]` entry: given before the start, the scene is compiled with it.
    Parameter,
    /// A signal of kind `input`: given while the clock runs.
    Input,
    /// A force or torque that is added to a motor or an applied force; the integrator from outside has these.
    Effort,
    /// Any signal of the run.
    Output,
    /// A state of the equations of the precise clock.
    State,
}

impl Role {
    /// Name.
    pub fn name(self) -> &'static str {
        match self {
            Role::Parameter => "parameter",
            Role::Input => "input",
            Role::Effort => "effort",
            Role::Output => "output",
            Role::State => "state",
        }
    }
}

/// One number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Variable {
    /// Name, with its owner's.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// SI unit, `-` if none.
    pub unit: String,
    /// Value at the start, where it is given and not found [`unit`].
    pub start: Option<f64>,
    /// Size that matters to its error, of states [`unit`].
    pub nominal: Option<f64>,
    /// Smallest and largest value, where there are such [`unit`].
    pub limits: Option<[f64; 2]>,
}

/// All of them.
#[derive(Clone, Debug)]
pub struct Variables {
    /// Names and units of what takes part.
    pub subjects: Subjects,
    /// `[params]`, in the order of the file.
    pub parameters: Vec<Variable>,
    /// What a clock listens to while it runs, in the order of [`crate::clock::Set::Input`].
    pub inputs: Vec<Variable>,
    /// What an integrator from outside may add, in the order of [`Whole::inputs`].
    pub efforts: Vec<Variable>,
    /// What a program sees where it does not choose: motion of all free bodies, signals of the model, what is stored and not explained.
    pub outputs: Vec<(Variable, Signal)>,
    /// What an integrator from outside integrates; empty where it cannot ([`no_exchange`] says why).
    pub states: Vec<Variable>,
}

impl Variables {
    /// Those of a scene and its model.
    pub fn of(scene: &Scene, model: &Model) -> Variables {
        let states = match no_exchange(model) {
            Some(_) => Vec::new(),
            None => Whole::new(model).states(),
        };
        Variables::with_states(scene, model, &states)
    }

    /// Those of a scene and its model, whose states are these.
    pub fn with_states(scene: &Scene, model: &Model, states: &[OuterState]) -> Variables {
        let subjects = Subjects::of(model);
        let parameters = scene.params.iter().map(|param| {
            let unit = match param.kind {
                Kind::Dim(dimension) => dimension.to_string(),
                _ => "-".to_owned(),
            };
            Variable { start: Some(param.value), ..plain(&param.name, Role::Parameter, &unit) }
        });
        let given = |effort: bool| {
            let own = model.inputs.iter().filter(move |i| matches!(i.place, InputPlace::Element { .. }) == effort);
            own.map(move |input| Variable {
                start: Some(input.start),
                limits: input.limits.iter().any(|limit| limit.is_finite()).then_some(input.limits),
                ..plain(&input.name, if effort { Role::Effort } else { Role::Input }, input.unit)
            })
        };
        let state = |own: &OuterState| Variable {
            nominal: Some(own.nominal),
            ..plain(&format!("state({})", own.name), Role::State, &own.unit)
        };
        Variables {
            parameters: parameters.collect(),
            inputs: given(false).collect(),
            efforts: given(true).collect(),
            outputs: outputs(&subjects),
            states: states.iter().filter(|own| own.input.is_none()).map(state).collect(),
            subjects,
        }
    }

    /// Any signal of the run as an output.
    pub fn output(&self, name: &str) -> Result<(Variable, Signal), ExpressionError> {
        if let Some(own) = self.outputs.iter().find(|(own, _)| own.name == name) {
            return Ok(own.clone());
        }
        let signal = Expression::signal(name, &self.subjects)?;
        Ok((plain(name, Role::Output, signal.unit(&self.subjects)), signal))
    }

    /// All of them, one after the other.
    pub fn all(&self) -> impl Iterator<Item = &Variable> {
        let outputs = self.outputs.iter().map(|(variable, _)| variable);
        self.parameters.iter().chain(&self.inputs).chain(&self.efforts).chain(outputs).chain(&self.states)
    }
}

fn plain(name: &str, role: Role, unit: &str) -> Variable {
    Variable { name: name.to_owned(), role, unit: unit.to_owned(), start: None, nominal: None, limits: None }
}

/// Motion of every body that moves, signals of the model.
fn outputs(subjects: &Subjects) -> Vec<(Variable, Signal)> {
    let mut all: Vec<Signal> = Vec::new();
    let mut names = Vec::new();
    for (body, subject) in subjects.bodies.iter().enumerate().filter(|(_, subject)| subject.mass > 0.0) {
        for quantity in Quantity::STORED {
            all.push(Signal::Body { body, quantity });
            names.push(format!("{}.{}", subject.name, quantity.name()));
        }
    }
    for (k, signal) in subjects.signals.iter().enumerate() {
        all.push(Signal::Model(k));
        names.push(signal.name.clone());
    }
    let variable = |(signal, name): (Signal, String)| (plain(&name, Role::Output, signal.unit(subjects)), signal);
    all.into_iter().zip(names).map(variable).collect()
}

/// Whether the value of a signal follows from the states alone, so that an integrator from outside can have it.
pub fn follows_from_states(signal: Signal) -> bool {
    match signal {
        Signal::Time | Signal::Body { .. } | Signal::Momentum(_) | Signal::Contact { .. } | Signal::Model(_) => true,
        Signal::Energy(account) => matches!(account, Account::Kinetic | Account::Potential),
    }
}

/// Why the equations of a model cannot be handed to an integrator from outside, if so.
pub fn no_exchange(model: &Model) -> Option<String> {
    if let Some(change) = model.changes.first() {
        return Some(format!(
            "change \"{}\" alters the structure while the scene runs, and the number of states with it",
            change.name
        ));
    }
    if model.grains.is_some() {
        return Some("grains have steps of their own and no states that could be integrated for them".to_owned());
    }
    None
}
