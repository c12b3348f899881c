//! Exceptions: the kinds of failure that the command line has exit codes for, with the same text.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use tippe_cli::Stop;

create_exception!(
    tippe,
    TippeError,
    PyException,
    "Something that Tippe could not do; what it says is what the command line says."
);
create_exception!(tippe, SceneError, TippeError, "A scene is wrong.");
create_exception!(tippe, SimulationError, TippeError, "A simulation could not go on; `run` is what there is of it.");
create_exception!(tippe, ResourceError, TippeError, "No space, memory or permission for the results.");
create_exception!(tippe, ExpectationError, TippeError, "An expectation was not met; `results` are all of them.");

/// The exception for an end without success.
pub fn exception(stop: Stop) -> PyErr {
    match stop {
        Stop::Usage(text) => PyValueError::new_err(text),
        Stop::Scene(text) => SceneError::new_err(text),
        Stop::Simulation(text) => SimulationError::new_err(text),
        Stop::Resource(text) => ResourceError::new_err(text),
        Stop::Expectation(text) => ExpectationError::new_err(text),
        Stop::Signal(_) => PyKeyboardInterrupt::new_err(()),
    }
}

/// Adds the exceptions to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("TippeError", py.get_type::<TippeError>())?;
    module.add("SceneError", py.get_type::<SceneError>())?;
    module.add("SimulationError", py.get_type::<SimulationError>())?;
    module.add("ResourceError", py.get_type::<ResourceError>())?;
    module.add("ExpectationError", py.get_type::<ExpectationError>())
}
