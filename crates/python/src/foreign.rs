//! A foreign collider that is a Python function.

use crate::law::Raised;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;
use tippe::foreign::{Collide, ForeignPoint, Question};
use tippe::geometry::{Pose, Vec3};
use tippe::model::Model;
use tippe::scene::Clock;

type Three = [f64; 3];
/// A function, and the pairs of bodies it is asked for; none: all.
pub type Asked = (Py<PyAny>, Option<Vec<(String, String)>>);

/// Position x, y, z and orientation w, x, y, z.
fn seven(X: &Pose) -> (f64, f64, f64, f64, f64, f64, f64) {
    let (p, q) = (X.position, X.rotation);
    (p.x, p.y, p.z, q.w, q.x, q.y, q.z)
}

/// A point as Python gives it: p_a, p_b, normal, depth, and where they are known area and id.
fn point(own: &Bound<'_, PyAny>) -> PyResult<ForeignPoint> {
    let point = |(p_a, p_b, normal, depth): (Three, Three, Three, f64), area: f64, id: u64| ForeignPoint {
        p_a: Vec3::from_array(p_a),
        p_b: Vec3::from_array(p_b),
        normal_a: Vec3::from_array(normal),
        depth,
        area,
        id,
    };
    match own.len()? {
        4 => Ok(point(own.extract()?, 0.0, 0)),
        5 => own.extract().map(|(a, b, n, d, area): (Three, Three, Three, f64, f64)| point((a, b, n, d), area, 0)),
        6 => {
            let (a, b, n, d, area, id): (Three, Three, Three, f64, f64, u64) = own.extract()?;
            Ok(point((a, b, n, d), area, id))
        }
        count => {
            let text = format!("a contact point is (p_a, p_b, normal, depth[, area[, id]]), not {count} things");
            Err(PyValueError::new_err(text))
        }
    }
}

/// The model whose contact points of these pairs of bodies, or of all, a function gives.
pub fn with_collider(
    model: Arc<Model>,
    clock: Clock,
    collider: Option<Asked>,
    raised: &Raised,
) -> PyResult<Arc<Model>> {
    let Some((function, pairs)) = collider else { return Ok(model) };
    let names = model.bodies.iter().map(|body| body.name.clone()).collect();
    let collide = collide(function, names, raised.clone());
    let with = Arc::unwrap_or_clone(model).with_foreign(clock, pairs.as_deref(), collide);
    with.map(Arc::new).map_err(PyValueError::new_err)
}

/// A function of Python as a foreign collider; it knows bodies by these names.
fn collide(function: Py<PyAny>, names: Vec<String>, raised: Raised) -> Arc<Collide> {
    Arc::new(move |question: &Question, out: &mut Vec<ForeignPoint>| {
        if raised.any() {
            return Err("raised an exception".to_owned());
        }
        let asked = Python::attach(|py| -> PyResult<()> {
            let [a, b] = question.bodies.map(|body| names[body].as_str());
            let [pose_a, pose_b] = question.X_wb.each_ref().map(seven);
            let points = function.call1(py, (a, pose_a, b, pose_b, question.margin))?;
            for own in points.bind(py).try_iter()? {
                out.push(point(&own?)?);
            }
            Ok(())
        });
        asked.map_err(|error| {
            let text = format!("raised {error}");
            raised.keep(error);
            text
        })
    })
}
