//! A unit as a function: what it gives at a time, inputs and states, in one of its discrete states.
//!
//! Clocks try steps and take them back, and two clocks may ask the same unit. So nothing a caller sees depends on what was asked before:
//! every discrete state the unit came to has a number, with the deed that led there. To ask in one of them, the unit goes back to it, or,
//! where it cannot (`canGetAndSetFMUstate`), is started anew and led through the same deeds. A deed that was done is not done again: the
//! same run gives the same numbers.

use crate::ImportError;
use crate::description::{Causality, Foreign};
use crate::process::{Process, Unpacked};
use crate::wire::Ask;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A Co-Simulation unit may end a step early this many times before its end.
const MOST_PARTS: usize = 10_000;

/// What is wanted of a unit.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Model Exchange, or Co-Simulation; by default the former where it is offered.
    pub exchange: Option<bool>,
    /// Names of its variables that are given.
    pub inputs: Vec<String>,
    /// Names of its variables that are read.
    pub outputs: Vec<String>,
    /// Values given before the start.
    pub starts: Vec<(String, f64)>,
    /// Longest time of a call [s].
    pub timeout: f64,
    /// Relative tolerance the unit is told [-].
    pub tolerance: f64,
}

/// What leads from one discrete state to the next.
#[derive(Clone, Debug, PartialEq)]
enum Deed {
    Start,
    Event { t: f64, inputs: Vec<f64>, states: Vec<f64> },
    Step { t: f64, h: f64, inputs: Vec<f64> },
}

/// A discrete state.
#[derive(Clone, Debug)]
struct Node {
    parent: usize,
    deed: Deed,
    /// Number of the state the unit can go back to, if it can.
    saved: Option<f64>,
    /// What the deed gave: of an event the next one that is known, then the states; of a step the outputs.
    gave: Vec<f64>,
    next: Vec<usize>,
}

/// The last question of Model Exchange with its answer.
#[derive(Default)]
struct Asked {
    node: usize,
    values: Vec<f64>,
    answer: Vec<f64>,
}

struct Inner {
    process: Process,
    nodes: Vec<Node>,
    /// The discrete state the unit is in.
    at: usize,
    asked: Option<Asked>,
    failure: Option<ImportError>,
}

/// A unit that answers as a function.
pub struct Guided {
    /// What it tells of itself.
    pub description: Foreign,
    /// Model Exchange, or Co-Simulation.
    pub exchange: bool,
    /// It can go back to states.
    pub can_save: bool,
    /// States at the start.
    pub states: Vec<f64>,
    /// Sizes of the states that matter to their errors.
    pub nominals: Vec<f64>,
    /// The next event that is known at the start [s].
    pub next: f64,
    /// Outputs at the start.
    pub outputs: Vec<f64>,
    inputs: Vec<u32>,
    /// References of inputs, then of outputs.
    both: Vec<u32>,
    read: Vec<usize>,
    starts: Vec<(u32, f64)>,
    tolerance: f64,
    inner: Mutex<Inner>,
}

impl std::fmt::Debug for Guided {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unit \"{}\"", self.description.name)
    }
}

/// Indices of variables that are real numbers, by name.
fn indices(own: &Foreign, names: &[String], what: &str, fits: &[Causality]) -> Result<Vec<usize>, String> {
    let find = |name: &String| {
        let k = own.find(name)?;
        let variable = &own.variables[k];
        if !variable.real {
            return Err(format!("\"{name}\" is no real number: it cannot be {what}"));
        }
        if !fits.contains(&variable.causality) {
            let all = own.variables.iter().filter(|own| own.real && fits.contains(&own.causality));
            let all: Vec<&str> = all.map(|own| own.name.as_str()).take(20).collect();
            let all = if all.is_empty() { "it has none".to_owned() } else { all.join(", ") };
            return Err(format!("\"{name}\" cannot be {what}. help: what can is {all}"));
        }
        Ok(k)
    };
    names.iter().map(find).collect()
}

impl Guided {
    /// Opens a unit and brings it to its start.
    pub fn open(path: &Path, wanted: &Wanted) -> Result<Guided, ImportError> {
        let unpacked = Unpacked::open(path)?;
        let unit = unpacked.unit.clone();
        let wish = |what: String| ImportError::Wish { unit: unit.clone(), what };
        let own = unpacked.description.clone();
        let exchange = wanted.exchange.unwrap_or(own.exchange.is_some());
        let given = indices(&own, &wanted.inputs, "given", &[Causality::Input]).map_err(wish)?;
        let all = [Causality::Output, Causality::Local, Causality::Input, Causality::Parameter];
        let read = indices(&own, &wanted.outputs, "read", &all).map_err(wish)?;
        let names: Vec<String> = wanted.starts.iter().map(|(name, _)| name.clone()).collect();
        let before = [Causality::Parameter, Causality::Input, Causality::Local];
        let started = indices(&own, &names, "given before the start", &before).map_err(wish)?;
        let reference = |k: &usize| own.variables[*k].reference;
        let inputs: Vec<u32> = given.iter().map(reference).collect();
        let both = inputs.iter().copied().chain(read.iter().map(reference)).collect();
        let starts = started.iter().map(reference).zip(wanted.starts.iter().map(|(_, value)| *value)).collect();
        let process = Process::start(unpacked, exchange, Duration::from_secs_f64(wanted.timeout))?;
        let first = Node { parent: 0, deed: Deed::Start, saved: None, gave: Vec::new(), next: Vec::new() };
        let inner = Inner { process, nodes: vec![first], at: 0, asked: None, failure: None };
        let can_save = own.can_save[usize::from(!exchange)];
        let mut guided = Guided {
            exchange,
            can_save,
            states: Vec::new(),
            nominals: Vec::new(),
            next: f64::INFINITY,
            outputs: Vec::new(),
            inputs,
            both,
            read,
            starts,
            tolerance: wanted.tolerance,
            inner: Mutex::new(inner),
            description: own,
        };
        guided.begin()?;
        Ok(guided)
    }

    /// Number of inputs.
    pub fn input_count(&self) -> usize {
        self.inputs.len()
    }

    /// Number of outputs.
    pub fn output_count(&self) -> usize {
        self.read.len()
    }

    fn begin(&mut self) -> Result<(), ImportError> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let gave = self.initialise(&mut inner.process)?;
        let outputs = inner.process.get(&self.read)?;
        if self.exchange {
            let nominals = inner.process.ask(Ask::Nominals, "get nominals", &[], &[])?;
            self.nominals = nominals.iter().map(|own| own.abs()).collect();
            (self.next, self.states) = (gave[0], gave[1..].to_vec());
        }
        inner.nodes[0].gave = if self.exchange { gave } else { outputs.clone() };
        self.save(&mut inner, 0)?;
        drop(inner);
        self.outputs = outputs;
        Ok(())
    }

    /// Brings the unit to its start; of Model Exchange the next event that is known, then the states.
    fn initialise(&self, process: &mut Process) -> Result<Vec<f64>, ImportError> {
        if !self.starts.is_empty() {
            let (references, values): (Vec<u32>, Vec<f64>) = self.starts.iter().copied().unzip();
            process.ask(Ask::Set, "set", &references, &values)?;
        }
        process.ask(Ask::Prepare, "enter initialization mode", &[], &[self.tolerance, self.description.start])?;
        let all = process.ask(Ask::Begin, "exit initialization mode", &[], &[])?;
        if self.exchange { discrete(process, &all) } else { Ok(Vec::new()) }
    }

    fn save(&self, inner: &mut Inner, node: usize) -> Result<(), ImportError> {
        if self.can_save {
            inner.nodes[node].saved = Some(inner.process.ask(Ask::Save, "get FMU state", &[], &[])?[0]);
        }
        Ok(())
    }

    /// Comes to a discrete state.
    fn bring(&self, inner: &mut Inner, node: usize) -> Result<(), ImportError> {
        if inner.at == node {
            return Ok(());
        }
        if let Some(saved) = inner.nodes.get(node).and_then(|own| own.saved) {
            inner.process.ask(Ask::Restore, "set FMU state", &[], &[saved])?;
            inner.at = node;
            return Ok(());
        }
        if node >= inner.nodes.len() {
            return Err(ImportError::Wish {
                unit: inner.process.unpacked.unit.clone(),
                what: format!(
                    "its state {node} was reached in another process, and units of others are not kept in checkpoints. help: run \
                     the scene from its start"
                ),
            });
        }
        let mut way = vec![node];
        while let Some(&last) = way.last()
            && last != 0
        {
            way.push(inner.nodes[last].parent);
        }
        inner.process.restart()?;
        self.initialise(&mut inner.process)?;
        for &step in way.iter().rev().skip(1) {
            let deed = inner.nodes[step].deed.clone();
            self.act(&mut inner.process, &deed)?;
        }
        inner.at = node;
        Ok(())
    }

    /// Does a deed where the unit is; what it gives.
    fn act(&self, process: &mut Process, deed: &Deed) -> Result<Vec<f64>, ImportError> {
        match deed {
            Deed::Start => Ok(Vec::new()),
            Deed::Event { t, inputs, states } => {
                process.time = *t;
                // inputs are given where the unit is at the time of the event
                let values: Vec<f64> = [*t].iter().chain(states).chain(inputs).copied().collect();
                process.ask(Ask::Look, "get derivatives", &self.inputs, &values)?;
                let all = process.ask(Ask::Event, "new discrete states", &[], &values[..=states.len()])?;
                discrete(process, &all)
            }
            Deed::Step { t, h, inputs } => {
                if !self.inputs.is_empty() {
                    process.ask(Ask::Set, "set", &self.inputs, inputs)?;
                }
                let (mut now, end) = (*t, t + h);
                for _ in 0..MOST_PARTS {
                    process.time = now;
                    let reached = process.ask(Ask::Step, "do step", &[], &[now, end - now])?;
                    if reached[0] >= end - 1e-12 * h {
                        process.time = end;
                        return process.get(&self.read);
                    }
                    now = reached[0];
                }
                Err(ImportError::Call {
                    unit: process.unpacked.unit.clone(),
                    time: now,
                    call: "do step".to_owned(),
                    what: format!("ended early {MOST_PARTS} times before {end} s"),
                })
            }
        }
    }

    /// The discrete state a deed leads to from another.
    fn lead(&self, inner: &mut Inner, from: usize, deed: Deed) -> Result<usize, ImportError> {
        let known = inner.nodes.get(from).map_or(&[][..], |own| &own.next);
        if let Some(&node) = known.iter().find(|&&node| inner.nodes[node].deed == deed) {
            return Ok(node);
        }
        self.bring(inner, from)?;
        // whatever comes of it, the unit is no longer where it was
        inner.at = usize::MAX;
        inner.asked = None;
        let gave = self.act(&mut inner.process, &deed)?;
        let node = inner.nodes.len();
        inner.nodes.push(Node { parent: from, deed, saved: None, gave, next: Vec::new() });
        inner.nodes[from].next.push(node);
        inner.at = node;
        self.save(inner, node)?;
        Ok(node)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Model Exchange: rates, event indicators and outputs into `out`, of as many numbers. Zeros once the unit has failed.
    pub fn look(&self, node: usize, t: f64, states: &[f64], inputs: &[f64], out: &mut [f64]) {
        let mut inner = self.inner();
        out.fill(0.0);
        if inner.failure.is_some() {
            return;
        }
        let new = || [t].into_iter().chain(states.iter().copied()).chain(inputs.iter().copied());
        let same = |own: &Asked| own.node == node && own.values.iter().copied().eq(new());
        if !inner.asked.as_ref().is_some_and(same) {
            let mut asked = inner.asked.take().unwrap_or_default();
            asked.values.clear();
            asked.values.extend(new());
            asked.node = node;
            let answer = self.bring(&mut inner, node).and_then(|()| {
                inner.process.time = t;
                let answer = inner.process.ask(Ask::Look, "get derivatives", &self.both, &asked.values)?;
                match answer.iter().position(|value| !value.is_finite()) {
                    None => Ok(answer),
                    Some(k) => Err(inner.process.not_finite("get derivatives", &self.name_of(k), answer[k])),
                }
            });
            match answer {
                Ok(answer) => {
                    asked.answer = answer;
                    inner.asked = Some(asked);
                }
                Err(failure) => {
                    inner.failure = Some(failure);
                    return;
                }
            }
        }
        if let Some(asked) = &inner.asked {
            out.iter_mut().zip(&asked.answer).for_each(|(out, value)| *out = *value);
        }
    }

    /// What number `k` of an answer is, for people.
    fn name_of(&self, k: usize) -> String {
        let (states, indicators) = (self.description.states.len(), self.description.indicators);
        let name = |k: usize| self.description.variables[k].name.clone();
        match k {
            k if k < states => format!("der({})", name(self.description.states[k])),
            k if k < states + indicators => format!("event indicator {}", k - states),
            k => self.read.get(k - states - indicators).map_or(String::new(), |&k| name(k)),
        }
    }

    /// Model Exchange: what an event at t leads to: the discrete state, the next event that is known [s], the states.
    pub fn event(&self, node: usize, t: f64, states: &[f64], inputs: &[f64]) -> (usize, Vec<f64>) {
        let deed = Deed::Event { t, inputs: inputs.to_vec(), states: states.to_vec() };
        let nothing = || [&[f64::INFINITY], states].concat();
        self.done(node, deed).unwrap_or_else(|| (node, nothing()))
    }

    /// Co-Simulation: what a step of length h from t with these inputs leads to: the discrete state, the outputs.
    pub fn step(&self, node: usize, t: f64, h: f64, inputs: &[f64]) -> (usize, Vec<f64>) {
        let deed = Deed::Step { t, h, inputs: inputs.to_vec() };
        self.done(node, deed).unwrap_or_else(|| (node, self.outputs.clone()))
    }

    fn done(&self, node: usize, deed: Deed) -> Option<(usize, Vec<f64>)> {
        let mut inner = self.inner();
        if inner.failure.is_some() {
            return None;
        }
        match self.lead(&mut inner, node, deed) {
            Ok(node) => Some((node, inner.nodes[node].gave.clone())),
            Err(failure) => {
                inner.failure = Some(failure);
                None
            }
        }
    }

    /// Why the unit can no longer answer.
    pub fn failure(&self) -> Option<ImportError> {
        self.inner().failure.clone()
    }

    /// Questions asked so far.
    pub fn asked(&self) -> u64 {
        self.inner().process.asked
    }
}

/// What an event gave: the next one that is known, then the states, all finite.
fn discrete(process: &Process, all: &[f64]) -> Result<Vec<f64>, ImportError> {
    if all.len() > 3 && all[3] > 0.0 {
        return Err(ImportError::Call {
            unit: process.unpacked.unit.clone(),
            time: process.time,
            call: "new discrete states".to_owned(),
            what: "asked for the end of the simulation".to_owned(),
        });
    }
    if let Some(value) = all.iter().skip(4).find(|value| !value.is_finite()) {
        return Err(process.not_finite("get continuous states", "a state", *value));
    }
    let next = if all.len() > 3 && all[1] > 0.0 && all[2] > process.time { all[2] } else { f64::INFINITY };
    Ok(std::iter::once(next).chain(all.iter().skip(4).copied()).collect())
}
