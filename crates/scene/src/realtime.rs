//! How the realtime clock runs a scene.

use super::Places;

/// Bodies of a partition up to which it is solved directly where nobody says otherwise [-].
pub const DIRECT_BODIES: usize = 1500;

/// How the realtime clock runs a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Realtime {
    /// Step [s].
    pub step: f64,
    /// Form of the friction bound.
    pub friction: FrictionBound,
    /// Solutions per step with the friction bounds of the last one, at most [-].
    pub passes: usize,
    /// Contact points per pair of shapes, 1 to 8 [-].
    pub points: usize,
    /// How partitions are solved.
    pub solver: Solver,
    /// What becomes of parts that few rows join.
    pub coupled: Coupled,
    /// Small steps per step where partitions are swept [-].
    pub sweeps: usize,
    /// Of which solution the normal impulses are that friction bounds follow.
    pub friction_load: FrictionLoad,
    /// Bodies of a partition up to which it is solved directly where `solver` is auto [-].
    pub direct_bodies: usize,
    /// Contact points of all pairs together in a step, at most: more end the run.
    pub max_contacts: Option<usize>,
    /// Contact points of a pair of convex shapes nearer to each other than this are one [m].
    pub merge_distance: f64,
    /// How far beyond what bodies travel in a step contacts are looked for [m]; a thousandth of their size if absent.
    pub search_margin: Option<f64>,
    /// Partitions at rest are left alone.
    pub sleeping: bool,
    /// Where things were written.
    pub places: Places,
}

impl Default for Realtime {
    fn default() -> Self {
        Realtime {
            step: 1.0 / 60.0,
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
            places: Places::default(),
        }
    }
}

named! {
    /// Forms of the friction bound of the realtime clock.
    FrictionBound {
        /// The same in all directions.
        Cone = "cone",
        /// Each of two axes on its own, the first along the slip.
        Box = "box",
    }
}

named! {
    /// What becomes of parts that only force elements join.
    #[derive(Default)]
    Coupled {
        /// One matrix.
        #[default]
        Merged = "merged",
        /// Each its own, joined by a Schur complement of the rows between them.
        Kept = "kept",
    }
}

named! {
    /// How the realtime clock solves partitions.
    Solver {
        /// Direct up to some size, sweeps beyond it unless masses differ much.
        Auto = "auto",
        /// Projected Newton with a sparse factorisation.
        Direct = "direct",
        /// Small steps of soft Gauss-Seidel passes.
        Sweeps = "sweeps",
    }
}

named! {
    /// Of which solution the normal impulses are that bounds of friction follow.
    #[derive(Default)]
    FrictionLoad {
        /// Of the one at hand, pass by pass.
        #[default]
        Solution = "solution",
        /// Of the last step: one solution for each step.
        LastStep = "last_step",
    }
}
