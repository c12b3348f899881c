//! Contact laws that are Python functions.

use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use tippe::contact::normal::{CustomLaw, LawInput, NormalForce};
use tippe::model::ProgramLaw;

/// The first exception that a function raised while the interpreter was not running.
#[derive(Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Keeps an exception, if it is the first.
    pub fn keep(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// True if there was one.
    pub fn any(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The exception, once.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// N = f(depth, closing_speed, impact_speed, radius, modulus, friction, mass) [N]. Its part at rest is elastic, the rest is damping.
struct PythonLaw {
    name: String,
    function: Py<PyAny>,
    raised: Raised,
}

impl std::fmt::Debug for PythonLaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PythonLaw({})", self.name)
    }
}

impl PythonLaw {
    fn normal(&self, py: Python<'_>, x: &LawInput) -> PyResult<f64> {
        let input = (x.depth, x.closing_speed, x.impact_speed, x.radius, x.modulus, x.friction, x.mass);
        self.function.call1(py, input)?.extract(py)
    }
}

impl CustomLaw for PythonLaw {
    fn force(&self, contact: &LawInput) -> NormalForce {
        let nothing = NormalForce { elastic: 0.0, damping: 0.0, energy: f64::NAN };
        if self.raised.any() {
            return nothing;
        }
        let both = Python::attach(|py| {
            let elastic = self.normal(py, &LawInput { closing_speed: 0.0, ..*contact })?;
            let whole = if contact.closing_speed == 0.0 { elastic } else { self.normal(py, contact)? };
            Ok((elastic, whole))
        });
        match both {
            Ok((elastic, whole)) => NormalForce { elastic, damping: whole - elastic, energy: f64::NAN },
            Err(error) => {
                self.raised.keep(error);
                nothing
            }
        }
    }
}

/// Laws of a scene from functions by name.
pub fn laws(functions: Vec<(String, Py<PyAny>)>, raised: &Raised) -> Vec<ProgramLaw> {
    let law = |(name, function): (String, Py<PyAny>)| {
        let law = PythonLaw { name: name.clone(), function, raised: raised.clone() };
        (name, Arc::new(law) as Arc<dyn CustomLaw>)
    };
    functions.into_iter().map(law).collect()
}
