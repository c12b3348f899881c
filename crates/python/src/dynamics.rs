//! The equations of motion at an instant as arrays.

use crate::error::exception;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use tippe::clock::Failure;
use tippe::geometry::Vec3;
use tippe::scene::Clock;
use tippe::{Settings, Whole};
use tippe_cli::args::{Options, Source};

/// The whole model at an instant.
#[pyclass(frozen, module = "tippe._tippe")]
pub struct Dynamics {
    whole: Whole,
    /// The instant [s].
    #[pyo3(get)]
    time: f64,
}

#[pymethods]
impl Dynamics {
    /// Runs the precise clock to an instant.
    #[new]
    fn new(
        py: Python<'_>,
        name: String,
        file: String,
        text: String,
        sets: Vec<(String, String)>,
        at: f64,
    ) -> PyResult<Dynamics> {
        let options = Options { sets, clock: Some(Clock::Precise), ..Options::default() };
        let whole = py.detach(|| {
            let prepared = Source { name, file, text }.prepare(&options)?;
            let settings = Settings { threads: 1, ..Settings::from_scene(&prepared.scene) };
            Whole::at(&prepared.model, at, &settings).map_err(|failure| Failure::from(failure).into())
        });
        Ok(Dynamics { whole: whole.map_err(exception)?, time: at.max(0.0) })
    }

    /// Names and units of u.
    #[getter]
    fn rates(&self) -> Vec<(String, String)> {
        self.whole.rate_names().into_iter().map(|rate| (rate.name, rate.unit)).collect()
    }

    /// u.
    fn u<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.whole.generalised_rates().0)
    }

    /// u' as things are.
    fn acceleration<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.whole.generalised_rates().1)
    }

    /// M.
    fn mass_matrix<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let n = self.whole.rate_names().len();
        PyArray1::from_vec(py, self.whole.mass_matrix()).reshape([n, n])
    }

    /// G.
    fn constraints<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (n, rows) = (self.whole.rate_names().len(), self.whole.constraint_rows());
        let count = rows.len();
        PyArray1::from_vec(py, rows.concat()).reshape([count, n])
    }

    /// Jacobian of a point of a body, from its origin in body axes [m].
    fn jacobian<'py>(
        &self,
        py: Python<'py>,
        body: &str,
        point: (f64, f64, f64),
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = self.whole.model();
        let names = model.bodies.iter().map(|body| body.name.as_str());
        let index = model.body(body).ok_or_else(|| {
            let help = tippe::scene::did_you_mean(body, names);
            PyKeyError::new_err(format!("there is no body \"{body}\". help: {help}"))
        })?;
        let columns = self.whole.jacobian(index, Vec3::new(point.0, point.1, point.2));
        let row = |k: usize| columns.iter().map(move |c| if k < 3 { c.angular[k] } else { c.linear[k - 3] });
        PyArray1::from_vec(py, (0..6).flat_map(row).collect()).reshape([6, columns.len()])
    }
}
