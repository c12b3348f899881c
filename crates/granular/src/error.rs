//! What can go wrong, said with where, how much, and what to try.

use thiserror::Error;

/// Why grains cannot be made or moved.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum GrainError {
    /// A setting has no meaning.
    #[error("{what} is {value}, but must be {wanted}")]
    Setting {
        /// Name of the setting.
        what: &'static str,
        /// Value given.
        value: f64,
        /// What would be accepted.
        wanted: &'static str,
    },
    /// The step is too long for explicit integration.
    #[error(
        "step {step} s is {share:.2} of the Rayleigh time {rayleigh:.3e} s of grain {id}: at most {limit} is stable; \
         try step = {try_step:.3e} s or softer grains"
    )]
    Step {
        /// Step given [s].
        step: f64,
        /// Rayleigh time of the grain with the shortest one [s].
        rayleigh: f64,
        /// Id of that grain.
        id: u32,
        /// step/rayleigh [-].
        share: f64,
        /// Largest share accepted [-].
        limit: f64,
        /// A step that would be accepted [s].
        try_step: f64,
    },
    /// A grain is not a ball with finite motion.
    #[error("grain {id}: {what} is {value}, but must be {wanted}")]
    Grain {
        /// Id of the grain.
        id: u32,
        /// Which number.
        what: &'static str,
        /// Value found.
        value: f64,
        /// What would be accepted.
        wanted: &'static str,
    },
    /// Where positions are corrected: gravity alone moves a grain by more than its radius in a step.
    #[error(
        "step {step} s lets a grain fall by {fall:.3e} m in a step, more than the smallest radius {radius:.3e} m; \
         try step = {try_step:.3e} s"
    )]
    Fall {
        /// Step given [s].
        step: f64,
        /// g h^2 [m].
        fall: f64,
        /// Smallest radius [m].
        radius: f64,
        /// A step that would be accepted [s].
        try_step: f64,
    },
    /// Two grains overlap more than elastic contact allows.
    #[error(
        "grains {id1} and {id2} overlap by {depth:.3e} m, more than {limit:.3e} m, half the smaller radius, where the law of \
         contact ends; try a smaller step, stiffer grains (`young`), or less load and speed"
    )]
    Overlap {
        /// Id of the one.
        id1: u32,
        /// Id of the other.
        id2: u32,
        /// Depth [m].
        depth: f64,
        /// Largest depth accepted [m].
        limit: f64,
    },
    /// A grain starts deep inside a wall.
    #[error(
        "grain {id} is {depth:.3e} m deep in wall {wall}, more than {limit:.3e} m, half its radius: a packing must not start \
         overlapped; try grains farther from the wall"
    )]
    InWall {
        /// Id of the grain.
        id: u32,
        /// Index of the wall.
        wall: usize,
        /// Depth [m].
        depth: f64,
        /// Largest depth accepted [m].
        limit: f64,
    },
    /// A state that was read is not whole, or was made by a version that lays grains out otherwise.
    #[error("the state of the grains does not hold together: {what}")]
    State {
        /// What does not fit.
        what: &'static str,
    },
    /// Motion became infinite or not a number.
    #[error("the motion of grain {id} is no longer finite at {time} s; try a smaller step than {step} s")]
    NotFinite {
        /// Time [s].
        time: f64,
        /// Id of the grain.
        id: u32,
        /// Step [s].
        step: f64,
    },
    /// The grains would not fit into memory.
    #[error(
        "{grains} grains need about {needed} bytes, more than the {limit} there are; try fewer grains, or say how much they may take: [granular] memory"
    )]
    Memory {
        /// Number of grains.
        grains: usize,
        /// Bytes needed.
        needed: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// A wall has no usable surface.
    #[error("wall {wall}: {what}")]
    Wall {
        /// Index of the wall.
        wall: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A file does not say what it should.
    #[error("{file}:{line}: {what}")]
    File {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
}
