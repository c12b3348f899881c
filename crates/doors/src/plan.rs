//! What a unit holds in its resources: the scene as it was resolved, its text where parameters may be given, and which variables
//! were chosen. From these the library makes models; from the same the description is written.

use crate::exchange::Exchange;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tippe::clock::Settings;
use tippe::equation::Kind;
use tippe::model::{InputPlace, Model};
use tippe::precise::Occasion;
use tippe::run::{Resolved, Signal, Subjects};
use tippe::scene::{Clock, SMALLEST_TOLERANCE, Scene};
use tippe::stepping::Stepping;
use tippe::variables::{Variable, Variables, follows_from_states, no_exchange};
use tippe_units::Version;

/// File of the resources with the plan.
pub const PLAN: &str = "tippe.json";
/// File of the resources with the scene as it was resolved.
pub const RESOLVED: &str = "scene.json";
/// File of the resources with the scene as it was written, where its parameters may be given.
pub const WRITTEN: &str = "scene.toml";
/// Layout of the plan.
const FORMAT: u32 = 1;

/// What was chosen when the unit was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Layout of this file.
    pub format: u32,
    /// Version of the program.
    pub tippe: String,
    /// Name of the scene.
    pub name: String,
    /// The standard.
    pub version: Version,
    /// Clock of Co-Simulation.
    pub clock: String,
    /// Whether an integrator from outside may have the equations.
    pub model_exchange: bool,
    /// Whether the unit steps itself.
    pub co_simulation: bool,
    /// Names of the parameters.
    pub parameters: Vec<String>,
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// Parameters given when the unit was made, each a name and an expression.
    pub sets: Vec<(String, String)>,
    /// Relative tolerance of the precise clock [-].
    pub tolerance: f64,
    /// Step of the realtime clock [s].
    pub step: f64,
}

/// What a variable of the unit is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Slot {
    /// The independent variable.
    Time,
    /// Parameter of the scene.
    Parameter(usize),
    /// Input of a clock.
    Input(usize),
    /// Effort that is added.
    Effort(usize),
    /// Signal.
    Output(Signal),
    /// State.
    State(usize),
    /// Rate of a state.
    Rate(usize),
    /// Event indicator.
    Indicator(usize),
}

/// A variable of the unit; its place in the list is its value reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Name in the description.
    pub name: String,
    /// What it is.
    pub slot: Slot,
    /// SI unit, `-` if none.
    pub unit: String,
    /// Value at the start, where it is given.
    pub start: Option<f64>,
    /// Size that matters to its error.
    pub nominal: Option<f64>,
    /// Smallest and largest value.
    pub limits: Option<[f64; 2]>,
    /// A sentence about it.
    pub about: String,
}

/// A scene on its way into or out of a unit.
pub struct Package {
    /// What was chosen.
    pub plan: Plan,
    /// The scene as it was resolved, JSON.
    pub resolved: String,
    /// The scene as it was written, TOML or JSON, where it needs no other file.
    pub written: Option<String>,
    /// The scene, with the parameters it was exported with.
    pub scene: Scene,
    /// Its model.
    pub model: Arc<Model>,
    /// Variables by value reference.
    pub items: Vec<Item>,
    /// Who takes part.
    pub subjects: Arc<Subjects>,
}

/// Wishes for a unit.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// The clock; by default the scene's.
    pub clock: Option<Clock>,
    /// The standard.
    pub three: bool,
    /// Only this kind, if one is named: `me` or `cs`.
    pub kind: Option<String>,
    /// Names of parameters, inputs and outputs; by default all there are.
    pub parameters: Option<Vec<String>>,
    /// See `parameters`.
    pub inputs: Option<Vec<String>>,
    /// See `parameters`.
    pub outputs: Option<Vec<String>>,
    /// Parameters given now.
    pub sets: Vec<(String, String)>,
    /// Relative tolerance.
    pub tolerance: Option<f64>,
    /// Step of the realtime clock [s].
    pub step: Option<f64>,
}

impl Package {
    /// A unit for a scene of this name with this text, and what there is to say about it.
    pub fn new(name: &str, file: &str, text: &str, wishes: &Wishes) -> Result<(Package, Vec<String>), String> {
        let mut notes = Vec::new();
        let scene = Scene::parse(file, text, &wishes.sets).map_err(|errors| errors.to_string())?;
        let clock = wishes.clock.unwrap_or(scene.run.clock);
        if let Some(own) = scene.components.iter().find(|own| own.unit.is_some()) {
            return Err(format!(
                "component \"{}\" is a unit, and a unit cannot hold another. help: couple both in the program around",
                own.name
            ));
        }
        if clock == Clock::Granular {
            return Err("the granular clock cannot be exported: nothing can be given to it while it runs. help: --clock realtime".to_owned());
        }
        let model = Arc::new(Model::compile_for(&scene, clock).map_err(|errors| errors.to_string())?);
        let written = self_contained(file, text, &wishes.sets, &scene);
        let parameters = match (&wishes.parameters, &written) {
            (Some(names), None) if !names.is_empty() => {
                return Err(NO_PARAMETERS.to_owned());
            }
            (Some(names), _) => names.clone(),
            (None, Some(_)) => scene.params.iter().map(|param| param.name.clone()).collect(),
            (None, None) => {
                if !scene.params.is_empty() {
                    notes.push(format!("parameters are fixed: {NO_PARAMETERS}"));
                }
                Vec::new()
            }
        };
        let exchange = exchange_wanted(wishes, &scene, &model, &mut notes)?;
        let co_simulation = wishes.kind.as_deref() != Some("me");
        let table = match no_exchange(&model) {
            None if exchange => Variables::of(&scene, &model),
            _ => Variables::with_states(&scene, &model, &[]),
        };
        let inputs = match &wishes.inputs {
            Some(names) => names.clone(),
            None => {
                let efforts = table.efforts.iter().filter(|_| !co_simulation);
                table.inputs.iter().chain(efforts).map(|input| input.name.clone()).collect()
            }
        };
        let outputs = match &wishes.outputs {
            Some(names) => names.clone(),
            None => table.outputs.iter().map(|(own, _)| own.name.clone()).filter(|own| !inputs.contains(own)).collect(),
        };
        let plan = Plan {
            format: FORMAT,
            tippe: env!("CARGO_PKG_VERSION").to_owned(),
            name: name.to_owned(),
            version: if wishes.three { Version::Three } else { Version::Two },
            clock: clock.name().to_owned(),
            model_exchange: exchange,
            co_simulation,
            parameters,
            inputs,
            outputs,
            sets: wishes.sets.clone(),
            tolerance: wishes.tolerance.unwrap_or(scene.run.tolerance),
            step: wishes.step.unwrap_or(scene.realtime.step),
        };
        let items = items(&plan, &table)?;
        let resolved = scene.to_json();
        // without parameters nobody reads the text again
        let written = written.filter(|_| !plan.parameters.is_empty());
        let subjects = Arc::new(table.subjects);
        Ok((Package { plan, resolved, written, scene, model, items, subjects }, notes))
    }

    /// The unit whose resources are in this folder.
    pub fn load(folder: &Path) -> Result<Package, String> {
        let read = |name: &str| {
            let path = folder.join(name);
            fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))
        };
        let plan: Plan = serde_json::from_str(&read(PLAN)?).map_err(|error| format!("{PLAN}: {error}"))?;
        if plan.format != FORMAT {
            return Err(format!("{PLAN} has layout {}, this library knows {FORMAT}", plan.format));
        }
        let resolved = read(RESOLVED)?;
        let written = if folder.join(WRITTEN).is_file() { Some(read(WRITTEN)?) } else { None };
        let scene = Scene::parse(RESOLVED, &resolved, &[]).map_err(|errors| errors.to_string())?;
        let clock = clock_of(&plan)?;
        let model = Arc::new(Model::compile_for(&scene, clock).map_err(|errors| errors.to_string())?);
        let table = match plan.model_exchange {
            true => Variables::of(&scene, &model),
            false => Variables::with_states(&scene, &model, &[]),
        };
        let items = items(&plan, &table)?;
        Ok(Package { plan, resolved, written, scene, model, items, subjects: Arc::new(table.subjects) })
    }

    /// The model with these values of the parameters: (name, text) pairs beyond those the unit was made with.
    pub fn compiled(&self, given: &[(String, String)]) -> Result<(Arc<Model>, Scene), String> {
        if given.is_empty() {
            return Ok((self.model.clone(), self.scene.clone()));
        }
        let Some(text) = &self.written else { return Err(NO_PARAMETERS.to_owned()) };
        let sets: Vec<(String, String)> = self.plan.sets.iter().chain(given).cloned().collect();
        let scene = Scene::parse(WRITTEN, text, &sets).map_err(|errors| errors.to_string())?;
        let model = Model::compile_for(&scene, clock_of(&self.plan)?).map_err(|errors| errors.to_string())?;
        if !same_names(&Subjects::of(&model), &self.subjects) {
            return Err(
                "these parameters change which bodies and signals there are. help: export another unit with --set"
                    .to_owned(),
            );
        }
        Ok((Arc::new(model), scene))
    }

    /// How Co-Simulation runs.
    pub fn settings(&self, scene: &Scene, tolerance: Option<f64>) -> Result<Settings, String> {
        let mut settings = Settings::from_scene(scene, clock_of(&self.plan)?);
        // the program around has its own threads
        settings.set_threads(1);
        match &mut settings {
            Settings::Precise(own) => {
                own.tolerance = tolerance.unwrap_or(self.plan.tolerance).max(SMALLEST_TOLERANCE);
            }
            Settings::Realtime(own) => own.step = self.plan.step,
            Settings::Granular(_) => {}
        }
        Ok(settings)
    }

    /// A unit that steps itself, at its start.
    pub fn stepping(
        &self,
        model: Arc<Model>,
        scene: &Scene,
        tolerance: Option<f64>,
        inputs: &[f64],
    ) -> Result<Stepping, String> {
        Stepping::new(model, self.settings(scene, tolerance)?, inputs).map_err(|failure| failure.to_string())
    }

    /// The equations, at their start.
    pub fn exchange(&self, model: &Model, tolerance: Option<f64>) -> Exchange {
        Exchange::new(model, tolerance.unwrap_or(self.plan.tolerance))
    }

    /// Signal inputs in the order of the clock, with their values at the start.
    pub fn input_starts(&self) -> Vec<f64> {
        self.model.signal_inputs().map(|(input, _)| input.start).collect()
    }

    /// What tells this unit from another: a hash of its scene and its choices.
    pub fn token(&self) -> String {
        let plan = serde_json::to_string(&self.plan).unwrap_or_default();
        let text = format!("{plan}\n{}\n{}", self.resolved, self.written.as_deref().unwrap_or(""));
        tippe::run::fingerprint(text.as_bytes())
    }

    /// Identifier of the unit: a name of C.
    pub fn identifier(&self) -> String {
        let good = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
        let name: String = self.plan.name.chars().map(good).take(100).collect();
        if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("scene_{name}") }
    }

    /// Items of a kind, with their value references.
    pub fn items_where(&self, of: impl Fn(Slot) -> bool) -> impl Iterator<Item = (usize, &Item)> {
        self.items.iter().enumerate().filter(move |(_, item)| of(item.slot))
    }

    /// A parameter's value as text that the scene's reader takes.
    pub fn parameter_text(&self, k: usize, value: f64) -> (String, String) {
        let param = &self.scene.params[k];
        let unit = match param.kind {
            Kind::Dim(dimension) => dimension.written().map_or(String::new(), |unit| format!(" {unit}")),
            _ => String::new(),
        };
        (param.name.clone(), format!("{value:?}{unit}"))
    }
}

const NO_PARAMETERS: &str = "the scene reads other files, so its parameters cannot be given inside a unit. help: give them at export with \
                             --set, or put everything into one file";

fn clock_of(plan: &Plan) -> Result<Clock, String> {
    Clock::from_name(&plan.clock).ok_or_else(|| format!("{PLAN}: there is no clock \"{}\"", plan.clock))
}

/// The text of a scene, if it reads the same where none of its neighbours is.
fn self_contained(file: &str, text: &str, sets: &[(String, String)], scene: &Scene) -> Option<String> {
    if file.to_ascii_lowercase().ends_with(".json") {
        return None;
    }
    let alone = Scene::parse("no such folder/scene.toml", text, sets).ok()?;
    (Resolved::of(&alone).hash == Resolved::of(scene).hash).then(|| text.to_owned())
}

/// Whether the unit offers Model Exchange; an error where it was asked for and cannot be.
fn exchange_wanted(wishes: &Wishes, scene: &Scene, model: &Model, notes: &mut Vec<String>) -> Result<bool, String> {
    if wishes.kind.as_deref() == Some("cs") {
        return Ok(false);
    }
    let refused = match wishes.clock.unwrap_or(scene.run.clock) {
        Clock::Precise => no_exchange(model),
        clock => Some(format!("the {} clock has steps of its own, which no integrator can make for it", clock.name())),
    };
    let table = Variables::with_states(scene, model, &[]);
    let refused = refused.or_else(|| {
        let names = wishes.outputs.iter().flatten();
        let mut foreign = names.filter(|name| table.output(name).is_ok_and(|(_, signal)| !follows_from_states(signal)));
        foreign.next().map(|name| format!("output \"{name}\" is integrated by the clocks, not given by the states"))
    });
    match refused {
        None => Ok(true),
        Some(reason) if wishes.kind.as_deref() == Some("me") => {
            Err(format!("no Model Exchange: {reason}. help: export --kind cs"))
        }
        Some(reason) => {
            notes.push(format!("Co-Simulation only: {reason}"));
            Ok(false)
        }
    }
}

/// The variables of a unit, by value reference.
fn items(plan: &Plan, table: &Variables) -> Result<Vec<Item>, String> {
    let missing = |what: &str, name: &str, names: Vec<&str>| {
        let help = tippe::scene::did_you_mean(name, names);
        format!("there is no {what} \"{name}\". help: {help}; `tippe explain variables SCENE` lists all")
    };
    let names = |list: &[Variable]| -> Vec<String> { list.iter().map(|own| own.name.clone()).collect() };
    let mut items = vec![item("time", Slot::Time, "s", "Time")];
    for name in &plan.parameters {
        let Some(k) = table.parameters.iter().position(|own| own.name == *name) else {
            let all = names(&table.parameters);
            return Err(missing("parameter", name, all.iter().map(String::as_str).collect()));
        };
        items.push(of(&table.parameters[k], Slot::Parameter(k), "Parameter of the scene"));
    }
    for name in &plan.inputs {
        let signal = table.inputs.iter().position(|own| own.name == *name);
        let effort = table.efforts.iter().position(|own| own.name == *name);
        items.push(match (signal, effort) {
            (Some(k), _) => of(&table.inputs[k], Slot::Input(k), "Signal that is given"),
            (None, Some(k)) if !plan.co_simulation => of(&table.efforts[k], Slot::Effort(k), "Added to the force element"),
            (None, Some(_)) => {
                return Err(format!(
                    "\"{name}\" is added to the equations by an integrator from outside; the clocks do not listen to it while they run. \
                     help: export --kind me, or add a signal of kind \"input\" to the scene"
                ));
            }
            (None, None) => {
                let all: Vec<String> = names(&table.inputs).into_iter().chain(names(&table.efforts)).collect();
                return Err(missing("input", name, all.iter().map(String::as_str).collect()));
            }
        });
    }
    for name in &plan.outputs {
        let (own, signal) = table.output(name).map_err(|error| format!("output \"{name}\": {error}"))?;
        items.push(of(&own, Slot::Output(signal), "Signal of the run"));
    }
    if plan.model_exchange {
        for (k, own) in table.states.iter().enumerate() {
            items.push(of(own, Slot::State(k), "State"));
        }
        for (k, own) in table.states.iter().enumerate() {
            let unit = if own.unit == "-" { "1/s".to_owned() } else { format!("{}/s", own.unit) };
            items.push(item(&format!("der({})", own.name), Slot::Rate(k), &unit, "Rate of the state"));
        }
        for (k, occasion) in Occasion::ALL.into_iter().enumerate() {
            let about = "Event indicator: crosses zero where something of this kind happens";
            items.push(item(&format!("event({})", occasion.name()), Slot::Indicator(k), "-", about));
        }
    }
    separate_names(&mut items);
    Ok(items)
}

fn item(name: &str, slot: Slot, unit: &str, about: &str) -> Item {
    let (name, unit, about) = (name.to_owned(), unit.to_owned(), about.to_owned());
    Item { name, slot, unit, start: None, nominal: None, limits: None, about }
}

fn of(own: &Variable, slot: Slot, about: &str) -> Item {
    Item { start: own.start, nominal: own.nominal, limits: own.limits, ..item(&own.name, slot, &own.unit, about) }
}

/// A parameter may have the name of a signal: it is then `params.NAME`.
fn separate_names(items: &mut [Item]) {
    let taken: std::collections::BTreeSet<String> =
        items.iter().filter(|own| !matches!(own.slot, Slot::Parameter(_))).map(|own| own.name.clone()).collect();
    for own in items.iter_mut().filter(|own| matches!(own.slot, Slot::Parameter(_))) {
        if taken.contains(&own.name) {
            own.name = format!("params.{}", own.name);
        }
    }
}

/// Whether two models have the same bodies, signals and inputs, whatever they weigh.
fn same_names(one: &Subjects, other: &Subjects) -> bool {
    let bodies = |own: &Subjects| own.bodies.iter().map(|body| body.name.clone()).collect::<Vec<_>>();
    bodies(one) == bodies(other) && one.signals == other.signals && one.inputs == other.inputs
}

/// Efforts of a model, in the order of [`tippe::Whole::inputs`].
pub fn effort_count(model: &Model) -> usize {
    model.inputs.iter().filter(|input| matches!(input.place, InputPlace::Element { .. })).count()
}
