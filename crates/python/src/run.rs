//! A finished run for Python: columns as arrays, questions, the folder.

use crate::error::exception;
use crate::tape::{BOOKS, MOTION, Tape, replay};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::{Path, PathBuf};
use tippe::geometry::{Quat, Vec3};
use tippe::run::{
    Account, Claim, Expression, Manifest, Questions, Recording, Report, Run, RunError, RunWriter, Runs, Subjects,
    Wanted, cases,
};
use tippe::scene::{Clock, Scene};
use tippe::{BodyState, Event, Model, Observe, Progress};
use tippe_cli::Stop;

/// What a simulation left behind.
#[pyclass(frozen, module = "tippe._tippe")]
pub struct RunData {
    manifest: Manifest,
    report: Option<Report>,
    /// The rest of the tape; its columns are in the arrays.
    tape: Tape,
    time: Py<PyArray1<f64>>,
    motion: Vec<Py<PyArray2<f64>>>,
    signals: Vec<Py<PyArray1<f64>>>,
    books: Py<PyArray2<f64>>,
}

fn table(py: Python<'_>, column: Vec<f64>, width: usize) -> PyResult<Py<PyArray2<f64>>> {
    let rows = column.len() / width;
    Ok(PyArray1::from_vec(py, column).reshape([rows, width])?.unbind())
}

impl RunData {
    /// Hands the columns of a tape over to numpy.
    pub fn new(py: Python<'_>, manifest: Manifest, report: Option<Report>, mut tape: Tape) -> PyResult<RunData> {
        let motion = std::mem::take(&mut tape.motion);
        let signals = std::mem::take(&mut tape.signals);
        Ok(RunData {
            manifest,
            report,
            time: PyArray1::from_vec(py, std::mem::take(&mut tape.time)).unbind(),
            motion: motion.into_iter().map(|column| table(py, column, MOTION)).collect::<PyResult<_>>()?,
            signals: signals.into_iter().map(|column| PyArray1::from_vec(py, column).unbind()).collect(),
            books: table(py, std::mem::take(&mut tape.books), BOOKS)?,
            tape,
        })
    }

    /// Shows an observer all rows, with the motions and signals that are wanted.
    fn show(&self, py: Python<'_>, wanted: &Wanted, observe: &mut dyn Observe) -> PyResult<()> {
        let time = self.time.bind(py).try_readonly()?;
        let motion: Vec<PyReadonlyArray2<'_, f64>> =
            self.motion.iter().map(|a| Ok(a.bind(py).try_readonly()?)).collect::<PyResult<_>>()?;
        let signals: Vec<PyReadonlyArray1<'_, f64>> =
            self.signals.iter().map(|a| Ok(a.bind(py).try_readonly()?)).collect::<PyResult<_>>()?;
        let body = |k: usize, i: usize| {
            let row = motion[k].as_slice().map_or(&[][..], |all| &all[i * MOTION..(i + 1) * MOTION]);
            let v = |at: usize| Vec3::new(row[at], row[at + 1], row[at + 2]);
            BodyState {
                position: v(0),
                orientation: Quat::from_xyzw(row[4], row[5], row[6], row[3]),
                velocity: v(7),
                angular_velocity: v(10),
            }
        };
        let signal = |k: usize, i: usize| signals[k].as_slice().map_or(f64::NAN, |all| all[i]);
        replay(&self.tape, time.as_slice()?, body, signal, wanted, observe);
        Ok(())
    }

    fn subjects(&self) -> &Subjects {
        &self.tape.subjects
    }

    fn expression(&self, text: &str) -> PyResult<Expression> {
        Expression::parse(text, self.subjects()).map_err(|error| {
            let help = if error.help.is_empty() { String::new() } else { format!(". help: {}", error.help) };
            PyKeyError::new_err(format!("in `{text}`, column {}: {}{help}", error.column, error.message))
        })
    }

    fn recording(&self, py: Python<'_>, text: &str, expression: &Expression) -> PyResult<Recording> {
        let mut wanted = Wanted::none(self.subjects());
        expression.mark(&mut wanted);
        let mut recording = Recording::only(self.subjects().clone(), wanted.clone());
        // momentum is that of all bodies
        let shown = if text.contains("momentum") { Wanted::all(self.subjects()) } else { wanted };
        self.show(py, &shown, &mut recording)?;
        Ok(recording)
    }
}

#[pymethods]
impl RunData {
    /// Communication points [s].
    #[getter]
    fn time<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.time.bind(py).clone()
    }

    /// Names of the bodies.
    #[getter]
    fn bodies(&self) -> Vec<&str> {
        self.subjects().bodies.iter().map(|body| body.name.as_str()).collect()
    }

    /// Names and units of the signals of the model.
    #[getter]
    fn signals(&self) -> Vec<(&str, &str)> {
        self.subjects().signals.iter().map(|signal| (signal.name.as_str(), signal.unit.as_str())).collect()
    }

    /// Motion of a body: position, orientation w x y z, velocity, angular velocity in 13 columns.
    fn motion<'py>(&self, py: Python<'py>, body: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let array = self.motion.get(body).ok_or_else(|| PyKeyError::new_err(body))?;
        Ok(array.bind(py).clone())
    }

    /// Values of a signal of the model.
    fn signal<'py>(&self, py: Python<'py>, signal: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let array = self.signals.get(signal).ok_or_else(|| PyKeyError::new_err(signal))?;
        Ok(array.bind(py).clone())
    }

    /// The ledger: one column for each of `accounts`, then linear momentum.
    #[getter]
    fn books<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.books.bind(py).clone()
    }

    /// Names of the columns of `books`.
    #[getter]
    fn accounts(&self) -> Vec<String> {
        let accounts = Account::ALL.iter().map(|account| account.name().to_owned());
        accounts.chain(["x", "y", "z"].map(|axis| format!("momentum.{axis}"))).collect()
    }

    /// Any signal or expression at all communication points.
    fn series<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let expression = self.expression(text)?;
        let recording = self.recording(py, text, &expression)?;
        let series = expression.series(&recording).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(PyArray1::from_vec(py, series))
    }

    /// The answer to a question, at the end or at a time.
    #[pyo3(signature = (text, at=None))]
    fn value(&self, py: Python<'_>, text: &str, at: Option<f64>) -> PyResult<f64> {
        let expression = self.expression(text)?;
        let recording = self.recording(py, text, &expression)?;
        let answer = match (expression.value(&recording, at), at) {
            (Err(tippe::run::NoAnswer::NoSample { .. }), Some(time)) => expression.between(&recording, time),
            (answer, _) => answer,
        };
        answer.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Unit of a signal or expression, where it has one.
    fn unit(&self, text: &str) -> PyResult<Option<String>> {
        Ok(self.expression(text)?.unit(self.subjects()).map(str::to_owned))
    }

    /// Events, each a dictionary.
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        events(py, self.subjects(), &self.tape.events)
    }

    /// Touching pairs of all times: row of the time, first and second body, and 17 numbers: position, normal, force and torque on body 2,
    /// depth, closing speed, slipping, element of body 1 and of body 2.
    #[allow(clippy::type_complexity)] // three arrays
    fn contacts<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray2<i64>>, Bound<'py, PyArray2<f64>>)> {
        let (mut rows, mut bodies, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..self.tape.contact_start.len() {
            let end = self.tape.contact_start.get(i + 1).copied().unwrap_or(self.tape.contacts.len());
            for contact in &self.tape.contacts[self.tape.contact_start[i]..end] {
                rows.push(i as i64);
                bodies.extend([contact.body1 as i64, contact.body2 as i64]);
                for v in [contact.position, contact.normal, contact.force, contact.torque] {
                    numbers.extend(v.to_array());
                }
                numbers.extend([contact.depth, contact.closing_speed, f64::from(u8::from(contact.slipping))]);
                numbers.extend([f64::from(contact.pair.0), f64::from(contact.pair.1)]);
            }
        }
        let n = rows.len();
        Ok((
            PyArray1::from_vec(py, rows),
            PyArray1::from_vec(py, bodies).reshape([n, 2])?,
            PyArray1::from_vec(py, numbers).reshape([n, 17])?,
        ))
    }

    /// `summary.json`; none if the run did not end in good order.
    #[getter]
    fn summary(&self) -> Option<String> {
        self.report.as_ref().and_then(|report| serde_json::to_string(report).ok())
    }

    /// `manifest.json`.
    #[getter]
    fn manifest(&self) -> String {
        serde_json::to_string(&self.manifest).unwrap_or_default()
    }

    /// What the scene expects of a run like this one: question, value, why there is none, what is expected, source, whether it is met.
    #[allow(clippy::type_complexity)] // a row of a table
    fn expectations(
        &self,
        py: Python<'_>,
    ) -> PyResult<Vec<(String, Option<f64>, Option<f64>, Option<String>, String, String, bool)>> {
        let manifest = &self.manifest;
        let stop = |errors: tippe::scene::SceneErrors| exception(Stop::from(errors));
        let scene = Scene::parse(&manifest.scene.name, &manifest.scene.text, &manifest.sets).map_err(stop)?;
        let clock = Clock::from_name(&manifest.clock).unwrap_or(scene.run.clock);
        let mut all = Vec::new();
        for mut case in cases(&scene).into_iter().filter(|case| case.runs == Runs::One(clock)) {
            if !case.with.iter().all(|set| manifest.sets.contains(set)) || case.tolerance.is_some() {
                continue;
            }
            case.until = None;
            let questions = Questions::read(&scene, &case, self.subjects())
                .map_err(|errors| stop(tippe::scene::SceneErrors(errors)))?;
            let mut recording = Recording::new(self.subjects().clone());
            self.show(py, &Wanted::all(self.subjects()), &mut recording)?;
            for verdict in questions.judge(&recording) {
                let (value, why) = match verdict.value {
                    Ok(value) => (Some(value), None),
                    Err(why) => (None, Some(why)),
                };
                all.push((verdict.question, verdict.at, value, why, verdict.expected, verdict.source, verdict.pass));
            }
        }
        Ok(all)
    }

    /// Writes the run folder.
    #[pyo3(signature = (folder, csv=false, force=false))]
    fn save(&self, py: Python<'_>, folder: PathBuf, csv: bool, force: bool) -> PyResult<PathBuf> {
        let wrong = |error: RunError| exception(Stop::from(error));
        let claim = Claim::take(&folder, force).map_err(wrong)?;
        let folder = claim.folder().to_owned();
        let mut writer = RunWriter::create(claim, self.manifest.clone(), csv).map_err(wrong)?;
        self.tape.inputs.iter().for_each(|heard| writer.input(heard));
        self.show(py, &Wanted::all(self.subjects()), &mut writer)?;
        let (status, failure) = (self.manifest.status, self.manifest.failure.clone());
        writer.finish(status, failure, self.report.as_ref()).map_err(wrong)?;
        Ok(folder)
    }

    /// Bytes of all arrays.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> usize {
        let tables = self.motion.iter().chain([&self.books]).map(|a| a.bind(py).len());
        let columns = self.signals.iter().chain([&self.time]).map(|a| a.bind(py).len());
        8 * (tables.sum::<usize>() + columns.sum::<usize>())
    }
}

/// Events with the names of their bodies.
pub fn events<'py>(py: Python<'py>, subjects: &Subjects, events: &[Event]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for event in events {
        let dict = PyDict::new(py);
        dict.set_item("time", event.time)?;
        dict.set_item("kind", event.kind.name())?;
        if let Some(source) = &event.source {
            dict.set_item("source", source)?;
        }
        if let Some(contact) = &event.contact {
            let name = |body: usize| subjects.bodies.get(body).map_or("", |subject| subject.name.as_str());
            dict.set_item("bodies", (name(contact.body1), name(contact.body2)))?;
            dict.set_item("gap", contact.gap)?;
            dict.set_item("closing_speed", contact.closing_speed)?;
            dict.set_item("normal", contact.normal.to_array())?;
            dict.set_item("position", contact.position.to_array())?;
            if let Some(episode) = &contact.episode {
                let part = PyDict::new(py);
                part.set_item("start", episode.start)?;
                part.set_item("duration", episode.duration)?;
                part.set_item("start_closing_speed", episode.start_closing_speed)?;
                part.set_item("max_depth", episode.max_depth)?;
                part.set_item("max_force", episode.max_force)?;
                part.set_item("impulse", episode.impulse)?;
                dict.set_item("episode", part)?;
            }
        }
        list.append(dict)?;
    }
    Ok(list)
}

/// Opens a run folder.
#[pyfunction]
pub fn open_run(py: Python<'_>, folder: PathBuf) -> PyResult<RunData> {
    let wrong = |error: RunError| exception(Stop::from(error));
    let (run, recording) = py
        .detach(|| {
            let run = Run::open(&folder)?;
            let recording = run.recording(Wanted::all(&run.manifest.subjects))?;
            Ok((run, recording))
        })
        .map_err(wrong)?;
    let mut tape = Tape::of(&recording);
    // the folder tells changes of inputs by name and step
    let model = Scene::parse(&run.manifest.scene.name, &run.manifest.scene.text, &run.manifest.sets)
        .ok()
        .and_then(|scene| Model::compile_for(&scene, Clock::Realtime).ok());
    if let Some(replay) = model.and_then(|model| tippe::run::Replay::read(&run.folder, &model).ok()) {
        tape.inputs = replay.changes().to_vec();
    }
    let report = run.report().ok();
    RunData::new(py, run.manifest, report, tape)
}

/// Run folders as one page that a browser opens from anywhere.
#[pyfunction]
pub fn html(py: Python<'_>, folders: Vec<PathBuf>) -> PyResult<String> {
    py.detach(|| {
        let open = |folder: &PathBuf| tippe_viewer::Recorded::open(Path::new(folder));
        let runs = folders.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        tippe_viewer::standalone(&runs.iter().collect::<Vec<_>>())
    })
    .map_err(|error: tippe_viewer::ViewerError| exception(Stop::Resource(error.to_string())))
}

/// How far a run is, for a function of Python.
pub fn progress<'py>(py: Python<'py>, p: &Progress, limiter: Option<&str>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("time", p.time)?;
    dict.set_item("until", p.until)?;
    dict.set_item("step", p.step)?;
    dict.set_item("limiter", limiter)?;
    dict.set_item("steps", p.steps)?;
    dict.set_item("contacts", p.contacts)?;
    dict.set_item("events", p.events)?;
    Ok(dict)
}
