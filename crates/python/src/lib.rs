//! Tippe for Python: the module `tippe._tippe` behind the package in `python/tippe`.
//!
//! Python collects a scene as the JSON of the file format; from there on everything is the library's and the command line's: the same
//! reader, the same messages, the same defaults. Arrays are handed over without copying them.
#![allow(non_snake_case)] // matrices and poses are capital letters, as in CONVENTIONS.md

mod checkpoint;
mod dynamics;
mod error;
mod foreign;
mod hook;
mod law;
mod options;
mod run;
mod simulation;
mod tape;
mod watch;

use error::exception;
use pyo3::prelude::*;
use std::ffi::OsString;
use tippe_cli::args::Source;

/// Runs the command line, the program's name first; returns the exit code.
#[pyfunction]
fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| tippe_cli::main(words))
}

/// Runs a command and returns what it prints, and the exception it ends with, if it does.
#[pyfunction]
fn answer(py: Python<'_>, words: Vec<OsString>) -> (String, Option<PyErr>) {
    let stop = || Python::attach(|py| py.check_signals().is_err());
    let (data, done) = py.detach(|| tippe_cli::answer(words, stop));
    (data, done.err().map(exception))
}

/// Name, file and text of a scene that is a file or comes with the program.
#[pyfunction]
fn find(path_or_name: &str) -> PyResult<(String, String, String)> {
    let Source { name, file, text } = Source::find(path_or_name).map_err(exception)?;
    Ok((name, file, text))
}

/// A scene's text as one in which every number is in SI and nothing is left to be worked out: `toml` or `json`.
#[pyfunction]
fn convert(file: &str, text: &str, sets: Vec<(String, String)>, format: &str) -> PyResult<String> {
    let scene = tippe::scene::Scene::parse(file, text, &sets).map_err(|errors| exception(errors.into()))?;
    Ok(if format == "toml" { scene.to_toml() } else { scene.to_json() })
}

/// JSON Schema of the scene format.
#[pyfunction]
fn schema() -> String {
    serde_json::to_string(&tippe::scene::schema()).unwrap_or_default()
}

/// Tippe for Python.
#[pymodule]
fn _tippe(module: &Bound<'_, PyModule>) -> PyResult<()> {
    error::add(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<checkpoint::Checkpoint>()?;
    module.add_class::<dynamics::Dynamics>()?;
    module.add_class::<run::RunData>()?;
    module.add_function(wrap_pyfunction!(simulation::step_many, module)?)?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(answer, module)?)?;
    module.add_function(wrap_pyfunction!(find, module)?)?;
    module.add_function(wrap_pyfunction!(convert, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(run::open_run, module)?)?;
    module.add_function(wrap_pyfunction!(run::html, module)?)?;
    Ok(())
}
