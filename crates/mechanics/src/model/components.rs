//! Components of a scene: states of their own, written as equations, or functional mock-up units of others.

use super::ModelState;
use super::compile::Compiler;
use super::forces::{NETWORK_SCALE, Names, state_of};
use crate::network::{Block, BlockCrossing, BlockKind, Formula, MOST_RESULTS, Source};
use std::path::Path;
use std::sync::Arc;
use tippe_parts::network::unit::{MOST_ENDS, UnitBlock, plain};
use tippe_scene::{Component, ComponentUnit, Equation, did_you_mean};
use tippe_units::description::{Causality, Foreign};
use tippe_units::guided::{Guided, Wanted};
use tippe_units::process::described;

/// A unit that was opened, with the names that scenes know.
pub(super) struct OpenUnit {
    block: UnitBlock,
    /// Outputs.
    outputs: Vec<String>,
    /// States: name, start, size that matters to its error, unit.
    states: Vec<(String, f64, f64, &'static str)>,
}

impl Compiler<'_> {
    /// Opens the units of the scene, each in a process of its own.
    pub(super) fn open_units(&mut self) {
        for component in &self.scene.components {
            let opened = component.unit.as_ref().map(|unit| self.open_unit(component, unit));
            match opened.transpose() {
                Ok(unit) => self.units.push(unit),
                Err(message) => {
                    let owner = format!("component \"{}\"", component.name);
                    self.fail(component.places.of("fmu"), format!("{owner}: {message}"), "");
                    self.units.push(None);
                }
            }
        }
    }

    fn open_unit(&self, component: &Component, unit: &ComponentUnit) -> Result<OpenUnit, String> {
        let path = Path::new(&unit.file);
        let own = described(path).map_err(|error| error.to_string())?;
        let outputs = match unit.outputs.as_slice() {
            [] => all_outputs(&own),
            named => named.to_vec(),
        };
        let inputs: Vec<String> = component.inputs.iter().map(|equation| equation.name.clone()).collect();
        for (what, count) in [("inputs", inputs.len()), ("outputs", outputs.len())] {
            if count > MOST_ENDS {
                return Err(format!(
                    "the unit has {count} {what}; at most {MOST_ENDS} fit one component. help: name those you need: {what} = {{ ... }}"
                ));
            }
        }
        let wanted = Wanted {
            exchange: unit.exchange,
            inputs: inputs.clone(),
            outputs: outputs.iter().map(|(_, variable)| variable.clone()).collect(),
            starts: unit.start.clone(),
            timeout: unit.timeout,
            tolerance: self.scene.run.tolerance,
        };
        let guided = Guided::open(path, &wanted).map_err(|error| error.to_string())?;
        let step = match (guided.exchange, unit.step.or(own.step)) {
            (true, _) => f64::INFINITY,
            (false, Some(step)) if step > 0.0 => step,
            _ => return Err("Co-Simulation has steps. help: add step = \"1 ms\"".to_owned()),
        };
        let outputs: Vec<String> = outputs.into_iter().map(|(name, _)| name).collect();
        let place = |names: &[String], name: &str| {
            let help = did_you_mean(name, names.iter().map(String::as_str));
            names.iter().position(|own| own == name).ok_or(format!("power: there is no \"{name}\". help: {help}"))
        };
        let power = unit.power.iter().map(|(output, input)| Ok([place(&outputs, output)?, place(&inputs, input)?]));
        let power = power.collect::<Result<Vec<_>, String>>()?;
        if guided.exchange && !power.is_empty() {
            return Err(
                "power is booked over the interface of Co-Simulation; Model Exchange has no error there".to_owned()
            );
        }
        let block = UnitBlock { unit: Arc::new(guided), inputs: None, step, power };
        let mut states = block.states(
            [&inputs, &outputs]
                .map(|names| names.iter().map(|name| plain(name)).collect::<Vec<_>>())
                .each_ref()
                .map(Vec::as_slice),
        );
        separate(&mut states, &outputs);
        if states.len() + outputs.len() > MOST_RESULTS {
            let count = states.len() + outputs.len();
            return Err(format!("it has {count} states and outputs; at most {MOST_RESULTS} fit one component"));
        }
        Ok(OpenUnit { block, outputs, states })
    }

    /// Names of the states of component `k`.
    pub(super) fn component_states(&self, k: usize) -> Vec<String> {
        match &self.units[k] {
            Some(unit) => unit.states.iter().map(|(name, ..)| name.clone()).collect(),
            None => self.scene.components[k].states.iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    /// Names of the outputs of component `k`.
    pub(super) fn component_outputs(&self, k: usize) -> Vec<String> {
        match &self.units[k] {
            Some(unit) => unit.outputs.clone(),
            None => self.scene.components[k].outputs.iter().map(|output| output.name.clone()).collect(),
        }
    }

    /// Component `k` at work; its states come behind those there are.
    pub(super) fn component(
        &mut self,
        k: usize,
        states: &mut Vec<ModelState>,
        value: usize,
        names: &Names,
    ) -> Option<Block> {
        let component = &self.scene.components[k];
        let first = states.len();
        let kind = match self.units[k].take() {
            None => self.equations(component, states, names),
            Some(opened) => {
                let kind = self.unit_block(component, &opened, names);
                states.extend(opened.states.iter().map(|(name, start, scale, unit)| ModelState {
                    unit,
                    scale: NETWORK_SCALE * scale,
                    ..state_of(&component.name, name, *start)
                }));
                self.units[k] = Some(opened);
                kind
            }
        };
        let name = component.name.clone();
        Some(Block { name, kind: kind?, value, states: first..states.len(), of_time: false, home: 0 })
    }

    fn unit_block(&mut self, component: &Component, opened: &OpenUnit, names: &Names) -> Option<BlockKind> {
        let owner = format!("component \"{}\"", component.name);
        let equations: Vec<&Equation> = component.inputs.iter().collect();
        let inputs = match equations.is_empty() {
            true => None,
            false => Some(self.formula(&owner, &equations, 0, &[], names)?),
        };
        Some(BlockKind::Unit(Box::new(UnitBlock { inputs, ..opened.block.clone() })))
    }

    fn equations(&mut self, component: &Component, states: &mut Vec<ModelState>, names: &Names) -> Option<BlockKind> {
        let owner = format!("component \"{}\"", component.name);
        let first = states.len();
        let mut own: Vec<(&str, Source)> = Vec::new();
        for (k, (name, start)) in component.states.iter().enumerate() {
            own.push((name, Source::State((first + k) as u32)));
            states.push(state_of(&component.name, name, *start));
        }
        let lets: Vec<&Equation> = component.inputs.iter().chain(&component.lets).collect();
        let results = component.rates.iter().chain(&component.outputs);
        let equations: Vec<&Equation> = lets.iter().copied().chain(results).collect();
        let outputs = equations.len() - lets.len();
        if outputs > MOST_RESULTS {
            self.fail(
                component.places.entity,
                format!("{owner} has {outputs} rates and outputs; at most {MOST_RESULTS} fit one component"),
                "split it in two",
            );
            return None;
        }
        let formula = self.formula(&owner, &equations, lets.len(), &own, names);
        let mut crossings = Vec::new();
        for crossing in &component.crossings {
            let with = |equation| lets.iter().copied().chain(std::iter::once(equation)).collect::<Vec<_>>();
            let when = self.formula(&owner, &with(&crossing.when), lets.len(), &own, names);
            let all: Vec<&Equation> = lets.iter().copied().chain(&crossing.set).collect();
            let set: Option<Formula> = self.formula(&owner, &all, lets.len(), &own, names);
            let targets: Vec<usize> = crossing
                .set
                .iter()
                .filter_map(|e| component.states.iter().position(|(n, _)| *n == e.name))
                .map(|k| first + k)
                .collect();
            if let (Some(when), Some(set)) = (when, set) {
                crossings.push(BlockCrossing { when, set, states: targets });
            }
        }
        formula.map(|formula| BlockKind::Component { formula, crossings })
    }
}

/// All real outputs of a unit, by a name that equations can have.
fn all_outputs(own: &Foreign) -> Vec<(String, String)> {
    let real = own.variables.iter().filter(|own| own.real && own.causality == Causality::Output);
    real.map(|own| (plain(&own.name), own.name.clone())).collect()
}

/// States have other names than outputs, and than each other.
fn separate(states: &mut [(String, f64, f64, &'static str)], outputs: &[String]) {
    for k in 0..states.len() {
        while outputs.contains(&states[k].0) || states[..k].iter().any(|own| own.0 == states[k].0) {
            states[k].0.push('_');
        }
    }
}
