//! Numbers from outside: one list of signals that somebody may set, and of efforts and loads that may be added to motors and applied
//! forces.

use super::Model;
use crate::force::{At, ForceKind};
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
    /// It is added to the effort of a motor at a coordinate.
    Effort {
        /// Force element, by model index.
        element: usize,
        /// Its coordinate.
        at: At,
    },
    /// It is added to a component of an applied force (0 to 2) or torque (3 to 5).
    Component {
        /// Force element, by model index.
        element: usize,
        /// Which component.
        component: usize,
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

    /// Inputs that are added to a force element.
    pub fn inputs_of_element(&self, of: usize) -> impl Iterator<Item = &ModelInput> {
        self.inputs.iter().filter(move |input| match input.place {
            InputPlace::Effort { element, .. } | InputPlace::Component { element, .. } => element == of,
            InputPlace::State(_) => false,
        })
    }
}

/// All inputs of a model: signals first, then what may be added to force elements, each in the model's order.
pub(super) fn inputs(model: &Model) -> Vec<ModelInput> {
    let mut inputs = Vec::new();
    for block in &model.network.blocks {
        if let BlockKind::Input { state, limits } = block.kind {
            let (state, name) = (state as usize, block.name.clone());
            let start = model.network.starts[state];
            inputs.push(ModelInput { name, unit: "-", start, limits, place: InputPlace::State(state) });
        }
    }
    for (element, force) in model.forces.iter().enumerate() {
        let mut add = |what: String, unit, place| {
            let (name, limits) = (format!("{}.{what}", force.name), [f64::NEG_INFINITY, f64::INFINITY]);
            inputs.push(ModelInput { name, unit, start: 0.0, limits, place });
        };
        match &force.kind {
            ForceKind::Torque { at, .. } | ForceKind::Position { at, .. } => {
                let unit = if model.turns(*at) { "N m" } else { "N" };
                add("effort".to_owned(), unit, InputPlace::Effort { element, at: *at });
            }
            ForceKind::Applied { .. } => {
                for (component, axis) in ["x", "y", "z", "x", "y", "z"].into_iter().enumerate() {
                    let (what, unit) = if component < 3 { ("force", "N") } else { ("torque", "N m") };
                    add(format!("{what}.{axis}"), unit, InputPlace::Component { element, component });
                }
            }
            _ => {}
        }
    }
    inputs
}

impl Model {
    /// Whether a coordinate is an angle.
    fn turns(&self, at: At) -> bool {
        let i = at.coordinate as usize;
        let links = &self.mechanisms[at.mechanism as usize].links;
        let link = links.iter().find(|link| (link.first..link.first + link.count).contains(&i));
        link.is_some_and(|link| link.joint.is_rotation(i - link.first))
    }
}
