//! How to run the realtime clock.

use serde::{Deserialize, Serialize};
use tippe_scene::{Coupled, DIRECT_BODIES, FrictionBound, FrictionLoad, Scene, Solver, endless, is_endless};

/// Default step [s].
pub const STEP: f64 = 1.0 / 60.0;

/// How to run the realtime clock. In files an output interval without end is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Step h [s].
    pub step: f64,
    /// Time between communication points [s]; they are the steps nearest to it.
    #[serde(default = "endless", skip_serializing_if = "is_endless")]
    pub output_interval: f64,
    /// Threads; 0 for all there are. The result does not depend on it.
    #[serde(skip)]
    pub threads: usize,
    /// Friction bound.
    pub friction: FrictionBound,
    /// Solutions per step with the friction bounds of the last one, at most.
    pub passes: usize,
    /// Points per pair of shapes, 1 to 8.
    pub points: usize,
    /// How partitions are solved.
    pub solver: Solver,
    /// What becomes of parts that only force elements and rows of hooks join.
    #[serde(default)]
    pub coupled: Coupled,
    /// Small steps per step where partitions are swept.
    pub sweeps: usize,
    /// Of which solution the normal impulses are that friction bounds follow.
    #[serde(default)]
    pub friction_load: FrictionLoad,
    /// Bodies of a partition up to which it is solved directly where the solver is chosen.
    #[serde(default = "direct_bodies")]
    pub direct_bodies: usize,
    /// Contact points of a step at most; more are a failure.
    #[serde(default)]
    pub max_contacts: Option<usize>,
    /// Contact points of a convex pair nearer to each other than this are one [m].
    #[serde(default)]
    pub merge_distance: f64,
    /// How far beyond what bodies travel in a step contacts are looked for [m]; a share of their size if absent.
    #[serde(default)]
    pub search_margin: Option<f64>,
    /// Partitions that came to rest are left alone until something reaches them.
    #[serde(default)]
    pub sleeping: bool,
}

/// That of settings without.
fn direct_bodies() -> usize {
    DIRECT_BODIES
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            step: STEP,
            output_interval: STEP,
            threads: 0,
            friction: FrictionBound::Cone,
            passes: 3,
            points: 4,
            solver: Solver::Auto,
            coupled: Coupled::Merged,
            sweeps: 10,
            friction_load: FrictionLoad::Solution,
            direct_bodies: DIRECT_BODIES,
            max_contacts: None,
            merge_distance: 0.0,
            search_margin: None,
            sleeping: false,
        }
    }
}

impl Settings {
    /// The scene's own settings.
    pub fn from_scene(scene: &Scene) -> Self {
        let own = &scene.realtime;
        Settings {
            step: own.step,
            output_interval: scene.run.output_interval,
            friction: own.friction,
            passes: own.passes,
            points: own.points,
            solver: own.solver,
            coupled: own.coupled,
            sweeps: own.sweeps,
            friction_load: own.friction_load,
            direct_bodies: own.direct_bodies,
            max_contacts: own.max_contacts,
            merge_distance: own.merge_distance,
            search_margin: own.search_margin,
            sleeping: own.sleeping,
            threads: 0,
        }
    }
}
