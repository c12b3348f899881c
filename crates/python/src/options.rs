//! How to run, as Python says it.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tippe::scene::{Integrator, SMALLEST_TOLERANCE};
use tippe_cli::args::Options;

/// Options of the command line from a dictionary.
pub fn options(given: &Bound<'_, PyDict>) -> PyResult<Options> {
    fn get<'py, T: for<'a> FromPyObject<'a, 'py>>(dict: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<T>>
    where
        for<'a> <T as FromPyObject<'a, 'py>>::Error: Into<PyErr>,
    {
        match dict.get_item(name)? {
            Some(value) if !value.is_none() => value.extract::<T>().map(Some).map_err(Into::into),
            _ => Ok(None),
        }
    }
    let word = |name: &str| get::<String>(given, name);
    let positive = |name: &str| match get::<f64>(given, name)? {
        Some(value) if !(value > 0.0 && value.is_finite()) => {
            Err(PyValueError::new_err(format!("{name} = {value}: a number greater than zero is needed")))
        }
        value => Ok(value),
    };
    let clock = match word("clock")? {
        None => None,
        Some(word) => Some(tippe_cli::args::clock(&word).map_err(|help| unknown("clock", &word, &help))?),
    };
    let integrator = match word("integrator")? {
        None => None,
        Some(word) => Some(Integrator::from_name(&word).ok_or_else(|| {
            unknown("integrator", &word, &tippe::scene::did_you_mean(&word, Integrator::NAMES.iter().copied()))
        })?),
    };
    Ok(Options {
        until: positive("until")?,
        clock,
        tolerance: match positive("tolerance")? {
            Some(value) if value < SMALLEST_TOLERANCE => {
                return Err(PyValueError::new_err(format!(
                    "tolerance {value:e}: {SMALLEST_TOLERANCE:e} or more is needed"
                )));
            }
            value => value,
        },
        threads: get(given, "threads")?,
        sets: get::<Vec<(String, String)>>(given, "sets")?.unwrap_or_default(),
        integrator,
        step: positive("step")?,
        output_interval: positive("output_interval")?,
        quiet: true,
    })
}

fn unknown(what: &str, word: &str, help: &str) -> PyErr {
    PyValueError::new_err(format!("there is no {what} \"{word}\". help: {help}"))
}
