//! A simulation that Python steps, or runs to its end with everything recorded.

use crate::checkpoint::Checkpoint;
use crate::error::exception;
use crate::foreign::{Asked, with_collider};
use crate::hook::PythonHook;
use crate::law::{Raised, laws};
use crate::options::options;
use crate::run::{RunData, events};
use crate::tape::{MOTION, Tape, motion};
use crate::watch::{Pending, Watch};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rayon::prelude::*;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tippe::clock::{Failure, Set, Settings};
use tippe::geometry::{Quat, Vec3};
use tippe::run::{Account, Claim, Manifest, Moment, Report, Resolved, RunWriter, SceneCopy, Status, Subjects};
use tippe::scene::{Clock, Scene};
use tippe::{BodyState, Event, realtime};
use tippe_cli::Stop;
use tippe_cli::args::Source;

/// A scene on its way through time.
#[pyclass(subclass, module = "tippe._tippe")]
pub struct Simulation {
    simulation: tippe::Simulation,
    latest: Moment,
    /// Whether `latest` is that of the state; that of the realtime clock is looked at when somebody asks.
    fresh: bool,
    states: Py<PyArray2<f64>>,
    subjects: Subjects,
    names: Vec<String>,
    inputs: Vec<(String, [f64; 2])>,
    pending: Vec<(usize, f64)>,
    hook: Option<PythonHook>,
    raised: Raised,
    events: Vec<Event>,
    tape: Option<Tape>,
    writer: Option<RunWriter>,
    manifest: Manifest,
    scene: Scene,
    /// Hash of the scene as it was resolved, once somebody needed it.
    scene_hash: OnceLock<String>,
    name: String,
    wall: Duration,
    until: f64,
}

#[pymethods]
impl Simulation {
    /// A scene by name for people, file for messages, and text; `laws` are contact laws of the scene that are functions.
    #[new]
    #[pyo3(signature = (name, file, text, given, functions, record=false, out=None, csv=false, force=false, collider=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        py: Python<'_>,
        name: String,
        file: String,
        text: String,
        given: &Bound<'_, PyDict>,
        functions: Vec<(String, Py<PyAny>)>,
        record: bool,
        out: Option<PathBuf>,
        csv: bool,
        force: bool,
        collider: Option<Asked>,
    ) -> PyResult<Simulation> {
        let (mut options, raised) = (options(given)?, Raised::default());
        if !functions.is_empty() || collider.is_some() {
            // functions of Python run one at a time anyway
            options.threads = Some(1);
        }
        let (laws, source) = (laws(functions, &raised), Source { name, file, text });
        let prepared = py.detach(|| source.prepare_with(&options, &laws)).map_err(exception)?;
        let (mut settings, until) = (prepared.settings, prepared.until);
        let model = with_collider(prepared.model, settings.clock(), collider, &raised)?;
        let subjects = Subjects::of(&model);
        let manifest = Manifest {
            format: 1,
            tippe: env!("CARGO_PKG_VERSION").to_owned(),
            status: Status::Running,
            failure: None,
            command: vec!["python".to_owned()],
            scene: SceneCopy::new(&source.file, &source.text),
            sets: options.sets.clone(),
            clock: settings.clock().name().to_owned(),
            settings: settings.clone(),
            warnings: model.warnings.clone(),
            subjects: subjects.clone(),
            start: 0.0,
            until,
            restart: None,
            hash: None,
        };
        let writer = match &out {
            Some(folder) => {
                let claim = Claim::take(folder, force).map_err(|e| exception(e.into()))?;
                Some(RunWriter::create(claim, manifest.clone(), csv).map_err(|e| exception(e.into()))?)
            }
            None => None,
        };
        let record = record || writer.is_some();
        if !record {
            settings.set_output_interval(f64::INFINITY);
        }
        let names: Vec<String> = model.bodies.iter().map(|body| body.name.clone()).collect();
        let inputs = model.signal_inputs().map(|(input, _)| (input.name.clone(), input.limits)).collect();
        let states = PyArray2::<f64>::zeros(py, [names.len(), MOTION], false).unbind();
        let mut inside = tippe::Simulation::new(model, settings);
        inside.end = until;
        let mut simulation = Simulation {
            simulation: inside,
            latest: Moment::default(),
            fresh: false,
            states,
            tape: record.then(|| Tape::new(subjects.clone())),
            subjects,
            names,
            inputs,
            pending: Vec::new(),
            hook: None,
            raised,
            events: Vec::new(),
            writer,
            manifest,
            scene: prepared.scene,
            scene_hash: OnceLock::new(),
            name: source.name,
            wall: Duration::ZERO,
            until,
        };
        simulation.stretch(py, 0.0, None, None)?;
        Ok(simulation)
    }

    /// Makes steps of the realtime clock.
    #[pyo3(signature = (n=1))]
    fn step(&mut self, py: Python<'_>, n: u64) -> PyResult<()> {
        if !self.is_realtime() {
            let text = "clock has no steps of its own. help: use advance(time), or clock=\"realtime\"";
            return Err(PyValueError::new_err(format!("the {} {text}", self.clock())));
        }
        self.stretch(py, f64::INFINITY, Some(n), None)
    }

    /// Goes on to a time [s]; the realtime clock to the end of its step.
    #[pyo3(signature = (until, tell=None))]
    fn advance(&mut self, py: Python<'_>, until: f64, tell: Option<Py<PyAny>>) -> PyResult<()> {
        if !until.is_finite() {
            return Err(PyValueError::new_err(format!("until = {until}: a finite time is needed")));
        }
        self.stretch(py, until, None, tell)
    }

    /// Simulated time [s].
    #[getter]
    fn time(&self) -> f64 {
        if self.is_realtime() { self.simulation.time() } else { self.latest.time }
    }

    /// End of the run, as the scene or the caller says [s].
    #[getter]
    fn until(&self) -> f64 {
        self.until
    }

    /// Step of the realtime clock [s].
    #[getter]
    fn step_size(&self) -> Option<f64> {
        match self.simulation.settings() {
            Settings::Realtime(settings) => Some(settings.step),
            _ => None,
        }
    }

    /// `precise` or `realtime`.
    #[getter]
    fn clock(&self) -> &str {
        &self.manifest.clock
    }

    /// All bodies: position, orientation w x y z, velocity, angular velocity; one array, refilled by every step.
    #[getter]
    fn states<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.states.bind(py).clone()
    }

    /// Names of the bodies.
    #[getter]
    fn bodies(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Names of the signals of the model, and their units.
    #[getter]
    fn signals(&self) -> Vec<(&str, &str)> {
        self.subjects.signals.iter().map(|signal| (signal.name.as_str(), signal.unit.as_str())).collect()
    }

    /// Values of the signals now.
    fn values<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.refresh();
        PyArray1::from_slice(py, &self.latest.signals)
    }

    /// Names of the inputs with their limits.
    #[getter]
    fn inputs(&self) -> Vec<(String, [f64; 2])> {
        self.inputs.clone()
    }

    /// Gives an input a value from the next step on.
    fn set_input(&mut self, py: Python<'_>, name: &str, value: f64) -> PyResult<()> {
        let Some(input) = self.inputs.iter().position(|(own, _)| own == name) else {
            let names = self.inputs.iter().map(|(own, _)| own.as_str());
            let help = match self.inputs.is_empty() {
                true => "the scene has none; add a signal of kind \"input\"".to_owned(),
                false => tippe::scene::did_you_mean(name, names),
            };
            return Err(PyKeyError::new_err(format!("there is no input \"{name}\". help: {help}")));
        };
        if !value.is_finite() {
            return Err(PyValueError::new_err(format!("input \"{name}\": {value} is not a finite number")));
        }
        if !self.is_realtime() {
            return self.set(py, &[Set::Input { input, value }]);
        }
        self.pending.retain(|(own, _)| *own != input);
        self.pending.push((input, value));
        Ok(())
    }

    /// Functions that every step of the realtime clock asks: `contacts(time, contacts)` may change contact points, `rows(time)` returns more rows.
    #[pyo3(signature = (contacts=None, rows=None))]
    fn set_hook(&mut self, contacts: Option<Py<PyAny>>, rows: Option<Py<PyAny>>) -> PyResult<()> {
        if !self.is_realtime() {
            let text = format!("the {} clock has no steps to hook into. help: use clock=\"realtime\"", self.clock());
            return Err(PyValueError::new_err(text));
        }
        let any = contacts.is_some() || rows.is_some();
        let names = self.names.clone();
        self.hook = any.then(|| PythonHook { contacts, rows, names, raised: self.raised.clone() });
        Ok(())
    }

    /// Sets the motion of a free body: position, orientation w x y z, velocity, angular velocity.
    fn set_body(&mut self, py: Python<'_>, name: &str, numbers: [f64; MOTION]) -> PyResult<()> {
        let v = |at: usize| Vec3::new(numbers[at], numbers[at + 1], numbers[at + 2]);
        let motion = BodyState {
            position: v(0),
            orientation: Quat::from_xyzw(numbers[4], numbers[5], numbers[6], numbers[3]),
            velocity: v(7),
            angular_velocity: v(10),
        };
        let set = Set::body(self.simulation.model(), name, motion).map_err(PyValueError::new_err)?;
        self.set(py, &[set])
    }

    /// Sets coordinates of joints by the names of their signals, with their rates.
    fn set_coordinates(&mut self, py: Python<'_>, values: Vec<(String, f64, f64)>) -> PyResult<()> {
        let set =
            |(name, value, rate): &(String, f64, f64)| Set::coordinate(self.simulation.model(), name, *value, *rate);
        let sets = values.iter().map(set).collect::<Result<Vec<_>, _>>().map_err(PyValueError::new_err)?;
        self.set(py, &sets)
    }

    /// Where the run is written, if it is.
    #[getter]
    fn folder(&self) -> Option<PathBuf> {
        self.writer.as_ref().map(|writer| writer.folder().to_owned())
    }

    /// Everything that survives, to go back to.
    fn checkpoint(&mut self) -> Checkpoint {
        self.refresh();
        let state = self.simulation.state();
        Checkpoint { state, latest: self.latest.clone(), scene_hash: self.scene_hash().to_owned() }
    }

    /// Goes back, or on, to a checkpoint of the same scene and clock.
    fn restore(&mut self, py: Python<'_>, checkpoint: &Checkpoint) -> PyResult<()> {
        if checkpoint.scene_hash != self.scene_hash() {
            let text = "the checkpoint belongs to another scene or another version of this one";
            return Err(PyValueError::new_err(text));
        }
        if self.tape.is_some() {
            return Err(PyValueError::new_err("a simulation that records cannot go to a checkpoint"));
        }
        self.simulation.restore(&checkpoint.state).map_err(|failure| PyValueError::new_err(failure.to_string()))?;
        self.pending.clear();
        self.latest = checkpoint.latest.clone();
        self.fresh = true;
        self.fill(py)
    }

    /// Events of the last step or stretch.
    #[getter]
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        events(py, &self.subjects, &self.events)
    }

    /// Touching pairs now: names of both bodies, position, normal, force on body 2, depth, slipping.
    #[getter]
    fn contacts<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.refresh();
        let list = PyList::empty(py);
        for contact in &self.latest.contacts {
            let dict = PyDict::new(py);
            dict.set_item("bodies", (&self.names[contact.body1], &self.names[contact.body2]))?;
            dict.set_item("position", contact.position.to_array())?;
            dict.set_item("normal", contact.normal.to_array())?;
            dict.set_item("force", contact.force.to_array())?;
            dict.set_item("torque", contact.torque.to_array())?;
            dict.set_item("depth", contact.depth)?;
            dict.set_item("closing_speed", contact.closing_speed)?;
            dict.set_item("slipping", contact.slipping)?;
            list.append(dict)?;
        }
        Ok(list)
    }

    /// The ledger now [J].
    #[getter]
    fn energy<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.refresh();
        let dict = PyDict::new(py);
        for account in Account::ALL {
            dict.set_item(account.name(), account.of(&self.latest.energy))?;
        }
        Ok(dict)
    }

    /// Ends a run that was recorded, and hands it over. `failure` says what stopped it, if something did.
    #[pyo3(signature = (failure=None, interrupted=false))]
    fn finish(&mut self, py: Python<'_>, failure: Option<String>, interrupted: bool) -> PyResult<RunData> {
        let Some(tape) = self.tape.take() else {
            return Err(PyValueError::new_err("nothing was recorded. help: make the simulation with record=True"));
        };
        let (summary, time) = (self.simulation.summary(), self.time());
        let clock = Clock::from_name(&self.manifest.clock).unwrap_or(Clock::Precise);
        let mut report = Report::new(&self.name, clock, time, self.wall.as_secs_f64(), &summary, &self.subjects);
        report.stopped = interrupted;
        self.manifest.status = match (&failure, interrupted) {
            (Some(_), _) => Status::Failed,
            (None, true) => Status::Interrupted,
            (None, false) => Status::Complete,
        };
        self.manifest.failure = failure;
        self.manifest.until = self.manifest.until.max(time);
        let report = self.manifest.failure.is_none().then_some(report);
        self.manifest.hash = report.as_ref().map(|report| report.hash.clone());
        if let Some(mut writer) = self.writer.take() {
            let early = self.manifest.status != Status::Complete;
            if early && time > 0.0 && writer.error().is_none() {
                let state = self.checkpoint().state;
                writer.checkpoint(&self.scene, time, &state).map_err(|error| exception(error.into()))?;
            }
            let (status, failure) = (self.manifest.status, self.manifest.failure.clone());
            writer.finish(status, failure, report.as_ref()).map_err(|error| exception(error.into()))?;
        }
        RunData::new(py, self.manifest.clone(), report, tape)
    }

    /// What the scene and the model had to say.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.manifest.warnings.clone()
    }
}

impl Simulation {
    fn scene_hash(&self) -> &str {
        self.scene_hash.get_or_init(|| Resolved::of(&self.scene).hash)
    }

    fn is_realtime(&self) -> bool {
        self.simulation.settings().clock() == Clock::Realtime
    }

    /// A stretch of the run.
    fn stretch(&mut self, py: Python<'_>, until: f64, steps: Option<u64>, tell: Option<Py<PyAny>>) -> PyResult<()> {
        let failed = py.detach(|| self.go(until, steps, tell));
        self.settle(py, failed)?;
        py.check_signals()
    }

    /// A stretch of the run, without the interpreter.
    fn go(&mut self, until: f64, steps: Option<u64>, tell: Option<Py<PyAny>>) -> Option<Failure> {
        let Simulation { simulation, latest, events, tape, writer, raised, names, pending, hook, .. } = self;
        events.clear();
        let started = Instant::now();
        let looked = tell.as_ref().map(|_| started);
        let (tape, writer) = (tape.as_mut(), writer.as_mut());
        let mut watch = Watch { latest, tape, writer, events, raised, names, tell, looked, calls: 0 };
        let mut pending = Pending(pending);
        let mut hooks: Vec<&mut dyn realtime::Hook> = Vec::new();
        if !pending.0.is_empty() || hook.is_some() {
            hooks.push(&mut pending);
        }
        hooks.extend(hook.as_mut().map(|hook| hook as &mut dyn realtime::Hook));
        let failed = match steps {
            Some(count) => simulation.steps(count, &mut hooks, &mut watch),
            None => simulation.advance_with(until, &mut hooks, &mut watch).map(|_| ()),
        };
        let failed = failed.err();
        self.wall += started.elapsed();
        self.fresh = !self.is_realtime();
        failed
    }

    /// After a stretch: the arrays, and what was raised or failed.
    fn settle(&mut self, py: Python<'_>, failed: Option<Failure>) -> PyResult<()> {
        self.fill(py)?;
        match (self.raised.take(), failed) {
            (Some(error), _) => Err(error),
            (None, Some(failure)) => Err(exception(Stop::from(failure))),
            (None, None) => Ok(()),
        }
    }

    /// Sets things where the simulation has come to.
    fn set(&mut self, py: Python<'_>, sets: &[Set]) -> PyResult<()> {
        if self.simulation.settings().clock() == Clock::Granular {
            return Err(PyValueError::new_err("nothing can be set in the granular clock while it runs"));
        }
        let simulation = &mut self.simulation;
        py.detach(|| simulation.set(sets)).map_err(|failure| exception(failure.into()))?;
        if !self.is_realtime() {
            for set in sets {
                if let Set::Body { body, motion } = set {
                    self.latest.bodies[*body] = *motion;
                }
            }
        }
        self.fresh = !self.is_realtime();
        self.fill(py)
    }

    /// Looks at everything as it is now.
    fn refresh(&mut self) {
        if !self.fresh && self.is_realtime() {
            self.simulation.look(&mut self.latest);
            self.fresh = true;
        }
    }

    /// Numbers among the states of bodies (true) or the signals (false), now.
    fn look(&mut self, places: &[(bool, usize)]) -> Vec<f64> {
        if places.iter().any(|(body, _)| !body) {
            self.refresh();
        }
        let state = |at: usize| motion(&self.body(at / MOTION))[at % MOTION];
        places.iter().map(|&(body, at)| if body { state(at) } else { self.latest.signals[at] }).collect()
    }

    /// Motion of a body now.
    fn body(&self, body: usize) -> BodyState {
        if self.is_realtime() { self.simulation.body(body) } else { self.latest.bodies[body] }
    }

    /// The motions as they are now into the array.
    fn fill(&mut self, py: Python<'_>) -> PyResult<()> {
        let mut array = self.states.bind(py).try_readwrite()?;
        let rows = array.as_slice_mut()?.chunks_exact_mut(MOTION);
        rows.enumerate().for_each(|(b, row)| row.copy_from_slice(&motion(&self.body(b))));
        Ok(())
    }
}

/// Work that takes longer than this is worth waking other threads for [s]; less is done before they are awake.
const WORTH: f64 = 2e-3;

/// Makes `n` steps of many realtime simulations, on all cores where it is worth it. Row k of `actions` are the values of the inputs with these indices for simulation k; row
/// k of `seen` receives what is to be seen of it: each place is a number among the states of its bodies (true) or among its signals (false).
/// Returns their times [s].
#[pyfunction]
pub fn step_many<'py>(
    py: Python<'py>,
    simulations: Vec<Bound<'py, Simulation>>,
    n: u64,
    inputs: Vec<usize>,
    actions: PyReadonlyArray2<'py, f64>,
    places: Vec<(bool, usize)>,
    seen: &Bound<'py, PyArray2<f64>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let mut borrowed = simulations.iter().map(|one| one.try_borrow_mut()).collect::<Result<Vec<_>, _>>()?;
    let mut all: Vec<&mut Simulation> = borrowed.iter_mut().map(|one| &mut **one).collect();
    if !all.iter().all(|one| one.is_realtime()) {
        return Err(PyValueError::new_err("only the realtime clock has steps of its own"));
    }
    let (count, width) = (all.len(), inputs.len());
    let (actions, mut seen) = (actions.as_array(), seen.try_readwrite()?);
    let fits = |one: &&mut Simulation| {
        inputs.iter().all(|&input| input < one.inputs.len())
            && places
                .iter()
                .all(|&(body, at)| at < if body { MOTION * one.names.len() } else { one.subjects.signals.len() })
    };
    if actions.dim() != (count, width) || seen.as_array().dim() != (count, places.len()) || !all.iter().all(fits) {
        return Err(PyValueError::new_err("actions, places and simulations do not fit each other"));
    }
    if let Some(wrong) = actions.iter().find(|action| !action.is_finite()) {
        return Err(PyValueError::new_err(format!("an action is {wrong}, not a finite number")));
    }
    let actions: Vec<Vec<f64>> = actions.rows().into_iter().map(|row| row.to_vec()).collect();
    let rows: Vec<(Option<Failure>, Vec<f64>)> = py.detach(|| {
        let go = |(one, values): (&mut &mut Simulation, &Vec<f64>)| {
            one.pending.clear();
            one.pending.extend(inputs.iter().copied().zip(values.iter().copied()));
            let failed = one.go(f64::INFINITY, Some(n), None);
            (failed, one.look(&places))
        };
        // The first one shows how much work there is.
        let (first, others) = all.split_at_mut(count.min(1));
        let (first_actions, other_actions) = actions.split_at(count.min(1));
        let began = Instant::now();
        let mut rows: Vec<_> = first.iter_mut().zip(first_actions).map(go).collect();
        if began.elapsed().as_secs_f64() * others.len() as f64 > WORTH {
            rows.par_extend(others.par_iter_mut().zip(other_actions).with_min_len(4).map(go));
        } else {
            rows.extend(others.iter_mut().zip(other_actions).map(go));
        }
        rows
    });
    let mut seen = seen.as_array_mut();
    for ((one, (failed, row)), mut out) in all.iter_mut().zip(rows).zip(seen.rows_mut()) {
        one.settle(py, failed)?;
        out.iter_mut().zip(row).for_each(|(out, value)| *out = value);
    }
    py.check_signals()?;
    Ok(PyArray1::from_iter(py, all.iter().map(|one| one.time())))
}
