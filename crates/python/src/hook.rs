//! Hooks into the steps of the realtime clock that are Python functions.

use crate::law::Raised;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tippe::geometry::Vec3;
use tippe::joint::Six;
use tippe::realtime::{CustomRow, Grip, Hook, Touch, View};

/// Functions of one simulation.
pub struct PythonHook {
    /// `contacts(time, contacts)`: a list of dictionaries, which may be changed.
    pub contacts: Option<Py<PyAny>>,
    /// `rows(time)`: a list of dictionaries.
    pub rows: Option<Py<PyAny>>,
    /// Names of the bodies.
    pub names: Vec<String>,
    /// What a function raised; the run stops then.
    pub raised: Raised,
}

impl PythonHook {
    /// Calls Python unless it has raised something already.
    fn ask(&self, work: impl FnOnce(Python<'_>) -> PyResult<()>) {
        if self.raised.any() {
            return;
        }
        if let Err(error) = Python::attach(work) {
            self.raised.keep(error);
        }
    }

    fn shown<'py>(&self, py: Python<'py>, touch: &Touch, grip: &Grip) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let [a, b] = touch.bodies.map(|body| self.names.get(body).map_or("", String::as_str));
        dict.set_item("bodies", (a, b))?;
        dict.set_item("position", touch.point.to_array())?;
        dict.set_item("normal", touch.axes[0].to_array())?;
        dict.set_item("gap", touch.gap)?;
        dict.set_item("stiffness", touch.stiffness)?;
        dict.set_item("restitution", touch.restitution)?;
        dict.set_item("friction", grip.mu[0])?;
        dict.set_item("adhesion", touch.adhesion)?;
        dict.set_item("on", touch.on)?;
        Ok(dict)
    }

    fn row(&self, row: &Bound<'_, PyAny>) -> PyResult<CustomRow> {
        let row = row.cast::<PyDict>().map_err(|_| PyValueError::new_err("a row is a dictionary"))?;
        for key in row.keys() {
            let key: String = key.extract()?;
            if !["bodies", "jacobian", "force", "target", "compliance", "lower", "upper"].contains(&key.as_str()) {
                let help = "help: bodies, jacobian, force, target, compliance, lower, upper";
                return Err(PyKeyError::new_err(format!("a row has no \"{key}\". {help}")));
            }
        }
        let number = |name: &str, otherwise: f64| match row.get_item(name)? {
            Some(value) => value.extract::<f64>(),
            None => Ok(otherwise),
        };
        let need =
            |name: &str| row.get_item(name)?.ok_or_else(|| PyKeyError::new_err(format!("a row needs \"{name}\"")));
        let names: Vec<Option<String>> = need("bodies")?.extract()?;
        let index = |name: &Option<String>| match name {
            None => Ok(None),
            Some(name) if name == "world" => Ok(None),
            Some(name) => match self.names.iter().position(|own| own == name) {
                Some(body) => Ok(Some(body)),
                None => Err(PyKeyError::new_err(format!("there is no body \"{name}\""))),
            },
        };
        let bodies: Vec<Option<usize>> = names.iter().map(index).collect::<PyResult<_>>()?;
        let jacobian: Vec<Vec<f64>> = need("jacobian")?.extract()?;
        let force: Option<Vec<Vec<f64>>> = row.get_item("force")?.map(|force| force.extract()).transpose()?;
        let force = force.unwrap_or_default();
        if jacobian.len() != bodies.len() || !(force.is_empty() || force.len() == bodies.len()) {
            let help = "help: bodies (\"world\" for none), and as many lists of six numbers in the jacobian, and in the force if there is one";
            return Err(PyValueError::new_err(format!(
                "a row needs a list of six numbers for each of its bodies. {help}"
            )));
        }
        let six = |numbers: &Vec<f64>| match <[f64; 6]>::try_from(numbers.as_slice()) {
            Ok([a, b, c, x, y, z]) => Ok(Six::new(Vec3::new(a, b, c), Vec3::new(x, y, z))),
            Err(_) => Err(PyValueError::new_err("a jacobian has six numbers for each body: angular, then linear")),
        };
        let ends = |lists: &[Vec<f64>]| -> PyResult<Vec<(usize, Six)>> {
            let mut ends = Vec::with_capacity(lists.len());
            for (body, numbers) in bodies.iter().zip(lists) {
                let J = six(numbers)?;
                ends.extend(body.map(|body| (body, J)));
            }
            Ok(ends)
        };
        let made = CustomRow {
            ends: ends(&jacobian)?,
            force: ends(&force)?,
            target: number("target", 0.0)?,
            compliance: number("compliance", 0.0)?,
            lower: number("lower", f64::NEG_INFINITY)?,
            upper: number("upper", f64::INFINITY)?,
            ..CustomRow::default()
        };
        let finite = |lists: &[Vec<f64>]| lists.iter().flatten().all(|x| x.is_finite());
        if !finite(&jacobian)
            || !finite(&force)
            || !made.target.is_finite()
            || !made.compliance.is_finite()
            || made.compliance < 0.0
            || made.lower.is_nan()
            || made.lower > made.upper
            || made.upper.is_nan()
        {
            return Err(PyValueError::new_err("a row needs finite numbers, compliance >= 0 and lower <= upper"));
        }
        Ok(made)
    }
}

impl Hook for PythonHook {
    fn contacts(&mut self, view: &View<'_>, touches: &mut [Touch], grips: &mut [Grip]) {
        let Some(function) = &self.contacts else { return };
        self.ask(|py| {
            let list = PyList::empty(py);
            let mut places = Vec::new();
            for (g, grip) in grips.iter().enumerate() {
                let (first, count) = grip.touches;
                for (t, touch) in touches.iter().enumerate().skip(first).take(count) {
                    list.append(self.shown(py, touch, grip)?)?;
                    places.push((g, t));
                }
            }
            if places.is_empty() {
                return Ok(());
            }
            function.call1(py, (view.time, &list))?;
            if list.len() != places.len() {
                return Err(PyValueError::new_err("contacts can be changed or switched off, not added or removed"));
            }
            for ((g, t), shown) in places.into_iter().zip(list.iter()) {
                let number = |name: &str| -> PyResult<f64> {
                    let value: f64 = shown.get_item(name)?.extract()?;
                    if value >= 0.0 && value.is_finite() {
                        return Ok(value);
                    }
                    Err(PyValueError::new_err(format!("{name} of a contact is {value}; it is a number >= 0")))
                };
                let (touch, grip) = (&mut touches[t], &mut grips[g]);
                touch.stiffness = number("stiffness")?;
                touch.restitution = number("restitution")?;
                touch.adhesion = number("adhesion")?;
                touch.on = shown.get_item("on")?.extract()?;
                let friction = number("friction")?;
                if friction != grip.mu[0] {
                    (grip.mu, touch.mu) = ([friction; 2], friction);
                }
            }
            Ok(())
        });
    }

    fn rows(&mut self, view: &View<'_>, rows: &mut Vec<CustomRow>) {
        let Some(function) = &self.rows else { return };
        self.ask(|py| {
            for row in function.call1(py, (view.time,))?.bind(py).try_iter()? {
                rows.push(self.row(&row?)?);
            }
            Ok(())
        });
    }
}
