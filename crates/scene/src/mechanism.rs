//! Things of a scene that are no [`Part`](super::Part)s: frames, components, structural changes.

use super::{Equation, Places};
use tippe_geometry::{Quat, Vec3};

/// A point mass that attracts every body: acceleration mu/r^2 toward it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Attractor {
    /// Where it is, resolved in world [m].
    pub position: Vec3,
    /// Its gravitational parameter G M [m3/s2].
    pub mu: f64,
}

/// A named frame on a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Name, unique on its body; `BODY.FRAME` elsewhere.
    pub name: String,
    /// Origin from the body origin, body axes [m].
    pub position: Vec3,
    /// Rotation taking frame components to body components.
    pub orientation: Quat,
    /// Where things were written.
    pub places: Places,
}

/// A relation of any number of coordinates, a sum of terms that is held at a limit or kept on one side of it: a rope
/// over pulleys, a whippletree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constraint {
    /// Name, unique in the scene.
    pub name: String,
    /// Its terms, in order.
    pub terms: Vec<ConstraintTerm>,
    /// Which way it holds.
    pub holds: ConstraintHolds,
    /// What the sum is, is at most or is at least [m, or rad where all coordinates are angles].
    pub limit: f64,
    /// How far it gives under a force [m/N or rad/(N m)]; 0: not at all.
    pub compliance: f64,
    /// Force per rate of what it gives [N s/m or N m s/rad].
    pub damping: f64,
    /// Largest force of one that gives [N or N m].
    pub force_max: Option<f64>,
    /// Where things were written.
    pub places: Places,
}

/// A coordinate times a factor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConstraintTerm {
    /// Joint.
    pub joint: String,
    /// Index of its coordinate.
    pub coordinate: usize,
    /// Factor [-, or m/rad for an angle in a sum of lengths].
    pub factor: f64,
}

/// Which way a constraint holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConstraintHolds {
    /// The sum is the limit.
    #[default]
    Equals,
    /// It is at most the limit: a rope.
    AtMost,
    /// It is at least the limit.
    AtLeast,
}

impl ConstraintHolds {
    /// What scene files call them.
    pub const WORDS: [(&str, ConstraintHolds); 3] = [
        ("equals", ConstraintHolds::Equals),
        ("at_most", ConstraintHolds::AtMost),
        ("at_least", ConstraintHolds::AtLeast),
    ];
}

/// A component with states of its own, written as equations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Component {
    /// Name, unique in the scene; `NAME.OUTPUT` and `NAME.STATE` are known to equations elsewhere.
    pub name: String,
    /// What it reads: names for its equations, each an equation over `t`, parameters and signals.
    pub inputs: Vec<Equation>,
    /// States with their start values.
    pub states: Vec<(String, f64)>,
    /// Intermediate results, in order.
    pub lets: Vec<Equation>,
    /// Rates of the states, one each, in the order of the states.
    pub rates: Vec<Equation>,
    /// Outputs.
    pub outputs: Vec<Equation>,
    /// What happens where.
    pub crossings: Vec<ComponentCrossing>,
    /// Where things were written.
    pub places: Places,
}

/// Where an equation rises through zero, states get new values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComponentCrossing {
    /// The equation that rises through zero.
    pub when: Equation,
    /// New values of states: name and equation.
    pub set: Vec<Equation>,
    /// Where things were written.
    pub places: Places,
}

/// A structural change.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Name for the log.
    pub name: String,
    /// At this time [s] ...
    pub at: Option<f64>,
    /// ... or where this equation first rises through zero.
    pub when: Option<Equation>,
    /// What happens.
    pub action: Action,
    /// Where things were written.
    pub places: Places,
}

/// What a structural change does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// An inactive joint takes hold as things are.
    Attach(String),
    /// A joint lets go.
    Release(String),
    /// The coordinates of a joint are held where they are.
    Lock(String),
    /// Held coordinates are free again.
    Unlock(String),
    /// A body, and every joint and force on it, is gone.
    Delete(String),
    /// Two bodies may touch, or may not.
    Contact {
        /// The two bodies.
        between: [String; 2],
        /// Whether they may.
        on: bool,
    },
}
