//! How to run the precise clock.

use serde::{Deserialize, Serialize};
use tippe_mechanics::observe::Mark;
use tippe_numerics::Method;
use tippe_scene::{Integrator, Scene, endless, is_endless};

/// A run has at most this many communication points [-].
const MOST_POINTS: f64 = 1e9;

/// How to run the precise clock. In files what is infinite, or not given, is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Relative tolerance [-].
    pub tolerance: f64,
    /// Integrator; [`Integrator::Auto`] chooses for every island.
    pub integrator: Integrator,
    /// Step of the fixed-step integrators [s].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// Largest step [s].
    #[serde(default = "endless", skip_serializing_if = "is_endless")]
    pub max_step: f64,
    /// Time between communication points [s]; infinite for none but start and end. See [`Settings::too_many_points`].
    #[serde(default = "endless", skip_serializing_if = "is_endless")]
    pub output_interval: f64,
    /// More times to record at, ascending [s].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub record_at: Vec<f64>,
    /// What to record where it is largest or smallest or crosses zero, between the other times too.
    #[serde(skip)]
    pub marks: Vec<Mark>,
    /// Threads; 0 for all there are. The result does not depend on it.
    #[serde(skip)]
    pub threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            tolerance: 1e-6,
            integrator: Integrator::Auto,
            step: None,
            max_step: f64::INFINITY,
            output_interval: f64::INFINITY,
            record_at: Vec::new(),
            marks: Vec::new(),
            threads: 0,
        }
    }
}

impl Settings {
    /// The scene's own settings.
    pub fn from_scene(scene: &Scene) -> Self {
        Settings {
            tolerance: scene.run.tolerance,
            integrator: scene.run.integrator,
            step: scene.run.step,
            max_step: scene.run.max_step.unwrap_or(f64::INFINITY),
            output_interval: scene.run.output_interval,
            ..Settings::default()
        }
    }

    /// Says why a run from time zero to `until` [s] would record more than anybody can keep.
    pub fn too_many_points(&self, until: f64) -> Option<String> {
        let points = until / self.output_interval;
        (points > MOST_POINTS).then(|| {
            format!(
                "an output interval of {:e} s until {until} s makes {points:.1e} points; a run has at most {MOST_POINTS:e}",
                self.output_interval
            )
        })
    }
}

/// The method of an integrator; none where every island chooses.
pub fn method(integrator: Integrator) -> Option<Method> {
    match integrator {
        Integrator::Auto => None,
        Integrator::Dopri5 => Some(Method::Dopri5),
        Integrator::Rodas4 => Some(Method::Rodas4),
        Integrator::Rk4 => Some(Method::Rk4),
        Integrator::Heun => Some(Method::Heun),
        Integrator::Euler => Some(Method::Euler),
    }
}
