//! Numbers from outside: one list of signals that somebody may set, and of efforts and loads that may be added to motors and applied
//! forces.

use super::Model;
use crate::network::BlockKind;

/// A number from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelInput {
    /// Name: `throttle`, `drive.effort`, `wind.force.x`.
    pub name: String,
    /// SI unit.
    pub unit: &'static str,
    /// Value until it is set.
    pub start: f64,
    /// Smallest and largest value.
    pub limits: [f64; 2],
    /// What it drives.
    pub place: InputPlace,
}

/// What an input drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputPlace {
    /// A `[[signal]]` of kind `input`: a state of the network.
    State(usize),
    /// It is added to a force element.
    Element {
        /// Force element, by model index.
        element: usize,
        /// Which of its inputs.
        input: usize,
    },
}

impl Model {
    /// Inputs that a clock listens to while it runs, with their states, in the order of [`crate::set::Set::Input`] and of the hooks.
    pub fn signal_inputs(&self) -> impl Iterator<Item = (&ModelInput, usize)> {
        self.inputs.iter().filter_map(|input| match input.place {
            InputPlace::State(state) => Some((input, state)),
            _ => None,
        })
    }

    /// Inputs that are added to a force element, with their number among its own.
    pub fn inputs_of_element(&self, of: usize) -> impl Iterator<Item = (&ModelInput, usize)> {
        self.inputs.iter().filter_map(move |own| match own.place {
            InputPlace::Element { element, input } if element == of => Some((own, input)),
            _ => None,
        })
    }
}

/// All inputs of a model: signals first, then what may be added to force elements, each in the model's order.
pub(super) fn inputs(model: &Model) -> Vec<ModelInput> {
    let mut inputs = Vec::new();
    for block in &model.network.blocks {
        if let BlockKind::Input { state, limits } = block.kind {
            let (state, name) = (state as usize, block.name.clone());
            let start = model.states[state].start;
            inputs.push(ModelInput { name, unit: "-", start, limits, place: InputPlace::State(state) });
        }
    }
    for (element, own) in model.elements.iter().enumerate() {
        let turns = own.kind.attached().coordinates.first().is_some_and(|at| model.turns(*at));
        for (input, spec) in own.kind.inputs().iter().enumerate() {
            let (name, limits) = (format!("{}.{}", own.name, spec.name), [f64::NEG_INFINITY, f64::INFINITY]);
            let unit = spec.unit.unwrap_or(if turns { "N m" } else { "N" });
            inputs.push(ModelInput { name, unit, start: 0.0, limits, place: InputPlace::Element { element, input } });
        }
    }
    inputs
}
