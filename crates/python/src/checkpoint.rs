//! What a simulation has come to, and states to go back to.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};
use tippe::clock::State;
use tippe::grains::Grains;
use tippe::run::{CHECKPOINT_FORMAT, Moment, OtherLayout};

/// A state that a simulation of the same scene and clock can go back to, or on from.
#[pyclass(frozen, module = "tippe._tippe")]
pub struct Checkpoint {
    /// Everything that survives.
    pub state: State,
    /// What was there to see.
    pub latest: Moment,
    /// Of the scene it belongs to.
    pub scene_hash: String,
}

#[pymethods]
impl Checkpoint {
    /// Simulated time [s].
    #[getter]
    fn time(&self) -> f64 {
        self.latest.time
    }

    /// As the file that `tippe run --restart` reads.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = match &self.state {
            State::Precise(state) => serde_json::to_value(state),
            State::Realtime(state) => serde_json::to_value(state),
            State::Granular(state) => serde_json::to_value(state),
        };
        let Moment { time, bodies, contacts, energy, signals } = &self.latest;
        let whole = json!({
            "format": CHECKPOINT_FORMAT,
            "scene_hash": self.scene_hash,
            "clock": self.state.clock().name(),
            "state": state.map_err(unwritable)?,
            "latest": { "time": time, "bodies": bodies, "contacts": contacts, "energy": energy, "signals": signals },
        });
        Ok(PyBytes::new(py, &serde_json::to_vec(&whole).map_err(unwritable)?))
    }

    /// From what [`Checkpoint::to_bytes`] gave.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Checkpoint> {
        let wrong = |what: &str| PyValueError::new_err(format!("this is no checkpoint to go on from: {what}"));
        let mut whole: Value = serde_json::from_slice(bytes).map_err(|error| wrong(&error.to_string()))?;
        OtherLayout::refuse(whole.get("format").and_then(Value::as_u64))
            .map_err(|layout| wrong(&layout.to_string()))?;
        let mut take = |name: &str| whole.get_mut(name).map(Value::take).unwrap_or_default();
        let (state, clock, hash, mut latest) = (take("state"), take("clock"), take("scene_hash"), take("latest"));
        let state = match clock.as_str() {
            Some("precise") => State::Precise(serde_json::from_value(state).map_err(|e| wrong(&e.to_string()))?),
            Some("realtime") => State::Realtime(serde_json::from_value(state).map_err(|e| wrong(&e.to_string()))?),
            Some("granular") => State::Granular(serde_json::from_value(state).map_err(|e| wrong(&e.to_string()))?),
            _ => return Err(wrong("it names no clock")),
        };
        state.grains().map_or(Ok(()), Grains::validate).map_err(|error| wrong(&error.to_string()))?;
        let mut part = |name: &str| latest.get_mut(name).map(Value::take).unwrap_or_default();
        let (time, bodies, contacts) = (part("time"), part("bodies"), part("contacts"));
        let (energy, signals) = (part("energy"), part("signals"));
        let read = |error: serde_json::Error| {
            wrong(&format!("{error}; `tippe run` writes checkpoints without the last motion"))
        };
        Ok(Checkpoint {
            state,
            latest: Moment {
                time: serde_json::from_value(time).map_err(read)?,
                bodies: serde_json::from_value(bodies).map_err(read)?,
                contacts: serde_json::from_value(contacts).map_err(read)?,
                energy: serde_json::from_value(energy).map_err(read)?,
                signals: serde_json::from_value(signals).map_err(read)?,
            },
            scene_hash: hash.as_str().unwrap_or_default().to_owned(),
        })
    }
}

fn unwritable(error: serde_json::Error) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
