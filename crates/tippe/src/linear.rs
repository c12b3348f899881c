//! The linear system about an instant: x' = A x + B u, y = C x + D u, and its modes.

pub use crate::precise::tangent::Quantity;
use crate::precise::tangent::Tangent;
use crate::{Failure, Model, Settings, Whole};
use serde::Serialize;
use std::f64::consts::TAU;
use tippe_numerics::dense;

/// An eigenvalue, or a pair of conjugate ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Eigenmode {
    /// Real part [1/s].
    pub real: f64,
    /// Imaginary part, not negative [rad/s].
    pub imaginary: f64,
    /// Frequency without damping, |lambda|/(2 pi); 0 if it does not oscillate [Hz].
    pub frequency: f64,
    /// -real/|lambda| [-]; 1 if it decays without oscillating, -1 if it grows so, 0 for lambda = 0.
    pub damping: f64,
    /// Time in which it decays by e, -1/real [s]; negative if it grows, infinite (`null` in JSON) if it stays.
    pub time_constant: f64,
}

/// A model linearised about an instant in minimal coordinates.
///
/// States are positions of free bodies and independent coordinates of mechanisms, then their rates, then states of components
/// and controllers. Rotations with three axes are small turns about the axes of world (of frame 1 of a joint) [rad]; angular
/// velocities of free bodies with unequal moments of inertia are in their own axes. Sticking contacts are springs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Linearization {
    /// The instant [s].
    pub time: f64,
    /// States x.
    pub states: Vec<Quantity>,
    /// Inputs u: what is added to the force or torque of a motor, to a component of an applied force.
    pub inputs: Vec<Quantity>,
    /// Outputs y: coordinates and rates of joints, sensors, values of signals and components.
    pub outputs: Vec<Quantity>,
    /// A, row by row.
    #[serde(rename = "A")]
    pub A: Vec<Vec<f64>>,
    /// B, row by row.
    #[serde(rename = "B")]
    pub B: Vec<Vec<f64>>,
    /// C, row by row.
    #[serde(rename = "C")]
    pub C: Vec<Vec<f64>>,
    /// D, row by row.
    #[serde(rename = "D")]
    pub D: Vec<Vec<f64>>,
    /// Eigenvalues of A by frequency.
    pub modes: Vec<Eigenmode>,
}

/// Why there is no linear system.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LinearizeError {
    /// The simulation did not get to the instant.
    #[error(transparent)]
    Simulation(#[from] Failure),
    /// Loops cannot be closed next to where the model is.
    #[error(
        "{0} cannot be displaced: a loop does not close next to this pose. help: choose another instant, away from dead points"
    )]
    Locked(String),
    /// Grains have no tangent.
    #[error("grains have no linear system: their contacts come and go. help: leave them out of the scene")]
    Grains,
    /// Soil has no linear system.
    #[error(
        "a scene with soil has no linear system: soil gives way at bounds and does not come back. help: leave the soil out"
    )]
    Soil,
    /// Numbers that are not finite, or an iteration without end.
    #[error("the eigenvalues of the linear system were not found. help: choose another instant")]
    NoEigenvalues,
}

/// Runs the precise clock to `time` and linearises there.
pub fn linearize(model: &Model, time: f64, settings: &Settings) -> Result<Linearization, LinearizeError> {
    if model.grains.is_some() {
        return Err(LinearizeError::Grains);
    }
    if model.soil.is_some() {
        return Err(LinearizeError::Soil);
    }
    linearize_here(&mut Tangent::new(Whole::at(model, time, settings)?, time))
}

/// The linear system about where a model is.
pub(crate) fn linearize_here(here: &mut Tangent) -> Result<Linearization, LinearizeError> {
    let outputs = here.output_signals();
    let (n, m) = (here.variables.len(), outputs.len());
    let mut system = Linearization {
        time: here.time,
        states: here.variables.iter().map(|v| Quantity { name: v.name.clone(), unit: v.unit.clone() }).collect(),
        inputs: here.whole.inputs().iter().map(|i| Quantity { name: i.name.clone(), unit: i.unit.clone() }).collect(),
        outputs: Vec::new(),
        A: vec![Vec::new(); n],
        B: vec![Vec::new(); n],
        C: vec![Vec::new(); m],
        D: vec![Vec::new(); m],
        modes: Vec::new(),
    };
    for &k in &outputs {
        let signal = &here.whole.model().signals[k as usize];
        system.outputs.push(Quantity { name: signal.name.clone(), unit: signal.unit.clone() });
    }
    for column in 0..n {
        let (rates, values) =
            here.column(column, &outputs).ok_or_else(|| LinearizeError::Locked(here.variables[column].name.clone()))?;
        system.A.iter_mut().zip(rates).for_each(|(row, x)| row.push(x));
        system.C.iter_mut().zip(values).for_each(|(row, x)| row.push(x));
    }
    for k in 0..system.inputs.len() {
        let (rates, values) = here.input_column(k, &outputs);
        system.B.iter_mut().zip(rates).for_each(|(row, x)| row.push(x));
        system.D.iter_mut().zip(values).for_each(|(row, x)| row.push(x));
    }
    let eigenvalues = dense::eigenvalues(&system.A.concat(), n).ok_or(LinearizeError::NoEigenvalues)?;
    system.modes = modes(&eigenvalues);
    Ok(system)
}

/// Modes of eigenvalues (real, imaginary), by frequency.
fn modes(eigenvalues: &[[f64; 2]]) -> Vec<Eigenmode> {
    let mut modes: Vec<Eigenmode> = (eigenvalues.iter().filter(|z| z[1] >= 0.0))
        .map(|&[real, imaginary]| {
            let size = libm::hypot(real, imaginary);
            Eigenmode {
                real,
                imaginary,
                frequency: if imaginary > 0.0 { size / TAU } else { 0.0 },
                damping: if size > 0.0 { -real / size } else { 0.0 },
                time_constant: if real == 0.0 { f64::INFINITY } else { -1.0 / real },
            }
        })
        .collect();
    modes.sort_by(|a, b| a.frequency.total_cmp(&b.frequency).then(a.real.total_cmp(&b.real)));
    modes
}
