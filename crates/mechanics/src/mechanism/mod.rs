//! Mechanisms: bodies joined by joints. Joints that span a forest give coordinates, all others rows with multipliers.

mod closure;
pub mod elastic;
mod forest;
mod one_way;

pub use forest::LinkMotion;
pub use one_way::{Standing, Standpoint};

use crate::joint::coupling::Coupling;
use crate::joint::{Joint, Row, Six};
use elastic::{Bent, Elastic};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use tippe_geometry::{Mat3, Quat, Vec3};
use tippe_numerics::Semidefinite;
use tippe_parts::six::Tensor;

/// Bodies that hang on each other, or are held together by rows.
#[derive(Clone, Debug, Default)]
pub struct Mechanism {
    /// Parents before children.
    pub links: Vec<Link>,
    /// Number of coordinates.
    pub coordinates: usize,
    /// Joints that are rows.
    pub loops: Vec<Loop>,
    /// Couplings of coordinates.
    pub couplings: Vec<Coupled>,
}

/// What a link hangs on, or a row pulls at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parent {
    /// The world's frame.
    World,
    /// A fixed or prescribed body, by model index.
    Body(u32),
    /// A link of the same mechanism, by position in its list.
    Link(u32),
}

/// A body and the joint it hangs by.
#[derive(Clone, Debug)]
pub struct Link {
    /// The body, by model index.
    pub body: u32,
    /// What it hangs on.
    pub parent: Parent,
    /// Its joint.
    pub joint: Joint,
    /// True if the body is on side 1 of the joint.
    pub reversed: bool,
    /// The joint of the scene, by model index; `None` for the six coordinates of a body that hangs on nothing.
    pub source: Option<u32>,
    /// Frame 1 of the joint in the parent's frame (at its centre of mass): axes and origin [m].
    pub R_p1: Mat3,
    /// See `R_p1`.
    pub p_p1: Vec3,
    /// The body's frame c (at its centre of mass) in frame 2 of the joint: axes and origin [m].
    pub R_2c: Mat3,
    /// See `R_2c`.
    pub p_2c: Vec3,
    /// Index of its first coordinate.
    pub first: usize,
    /// Number of its coordinates: of its joint, then of its modes.
    pub count: usize,
    /// What bends in it, or what it is held by.
    pub elastic: Elastic,
}

/// A joint that is rows.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The joint.
    pub joint: Joint,
    /// The joint of the scene, by model index.
    pub source: u32,
    /// Its two frames.
    pub sides: [Side; 2],
}

/// A frame on something.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// What it is fastened to.
    pub on: Parent,
    /// Its origin in the frame (at the centre of mass) of that [m].
    pub p: Vec3,
    /// Its axes.
    pub R: Mat3,
}

/// A coupling of coordinates.
#[derive(Clone, Debug)]
pub struct Coupled {
    /// What it is called.
    pub name: String,
    /// Where it stands in the scene.
    pub source: CoupledBy,
    /// The relation.
    pub coupling: Coupling,
}

/// What of a scene couples coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoupledBy {
    /// A joint, by model index.
    Joint(u32),
    /// A constraint, by its index in the scene.
    Constraint(u32),
    /// A coordinate that is held.
    Lock,
}

/// What decides the rate of one coordinate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Mode {
    /// Forces.
    #[default]
    Free,
    /// Given: the rate of its rate [m/s^2 or rad/s^2].
    Given(f64),
}

/// Room for the recursions of one mechanism.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// By link.
    pub links: Vec<LinkMotion>,
    /// Columns of S, by coordinate.
    pub S: Vec<Six>,
    Y: Vec<Six>,
    /// Factors of D by link, from `L_from`: lower triangle L by rows, 1/d on the diagonal.
    L: Vec<f64>,
    L_from: Vec<usize>,
    /// What bending adds, by link; empty for rigid ones.
    pub bent: Vec<Bent>,
    /// What is added to the inertia of links, about their centres of mass, resolved in world.
    pub added: Vec<(usize, Tensor)>,
    /// Modes of the coordinates.
    pub modes: Vec<Mode>,
    /// Loops that hold.
    pub active: Vec<bool>,
    /// Loops, then couplings, that hold: those that hold one way do where they touch their limit and carry something.
    pub taut: Vec<bool>,
    /// The next [`Mechanism::close`] decides which of those in `taut` that hold one way carry something.
    pub decides: bool,
    /// Frame 2 of loops that took hold during the run, in the frame c of its body [m].
    pub held_at: Vec<Option<(Vec3, Quat)>>,
    e: Vec<f64>,
    /// Rows of the active loops and couplings.
    pub rows: Vec<ClosureRow>,
    /// What the rows pull at: links, with {torque, force} on their centres of mass; and coordinates, with their
    /// factors.
    ends: Vec<(u32, Six)>,
    terms: Vec<(usize, f64)>,
    /// Multipliers of the rows [N or N m].
    pub lambda: Vec<f64>,
    /// Number of rows that are not redundant.
    pub rank: usize,
    /// The number kept between steps, and which loops were active, which coordinates given and what holds one way taut
    /// when it was found.
    pub counted: Option<(usize, Vec<bool>)>,
    fresh: Vec<Row>,
    /// Answers of coordinates and links to a unit multiplier, row by row.
    answers_u: Vec<f64>,
    answers_a: Vec<Six>,
    A: Vec<f64>,
    right: Vec<f64>,
    /// Accelerations of the links without the rows.
    free: Vec<Six>,
    loads: Vec<Six>,
    tau: Vec<f64>,
    /// Tree of each link, and the links of each tree, ascending.
    tree_of: Vec<u32>,
    trees: Vec<Vec<u32>>,
    /// Trees that each row pulls at, row by row from `pulled_from`.
    pulled: Vec<u32>,
    pulled_from: Vec<usize>,
    solver: Semidefinite,
    /// The smallest and the largest of the smallest pivots since [`Work::begin`] [-].
    pivots: [f64; 2],
}

/// A row of a mechanism: what a unit multiplier does.
#[derive(Clone, Debug, Default)]
pub struct ClosureRow {
    /// Loop (or loops + coupling) it belongs to.
    pub owner: usize,
    /// The links it pulls at, among [`Work::ends_of`].
    ends: Range<usize>,
    /// The coordinates it pulls at, among [`Work::terms_of`].
    terms: Range<usize>,
    /// Smallest and largest multiplier; the row of a loop has no bounds.
    pub bounds: Option<[f64; 2]>,
    /// {torque, force} on side 2 about the origin of its frame.
    pub on_2: Six,
    /// Violation [m, or - for directions].
    pub phi: f64,
    /// Its rate at the present rates [m/s, or 1/s for directions].
    pub rate: f64,
    convective: f64,
    /// False if only the rate is constrained.
    pub holonomic: bool,
    /// Size of the inverse mass it would see if its bodies were free.
    scale: f64,
}

/// Below this smallest pivot of the rows a mechanism is near a dead point [-].
const NEAR: f64 = 1e-4;
/// A pivot smaller than another by this is much nearer to the dead point, by its root [-].
const MUCH_NEARER: f64 = 1.0 / 16.0;

impl Work {
    /// {torque, force} that a unit multiplier of a row exerts on the centres of mass of links: any number of them.
    pub fn ends_of(&self, row: &ClosureRow) -> &[(u32, Six)] {
        &self.ends[row.ends.clone()]
    }

    /// Force or torque that it exerts on coordinates: any number of them.
    pub fn terms_of(&self, row: &ClosureRow) -> &[(usize, f64)] {
        &self.terms[row.terms.clone()]
    }

    /// A step is about to be tried.
    pub fn begin(&mut self) {
        self.pivots = [f64::INFINITY, 0.0];
    }

    /// The smallest pivot since [`Self::begin`] [-].
    pub fn least_pivot(&self) -> f64 {
        self.pivots[0]
    }

    /// True where the last evaluation was much nearer to a dead point than another since [`Self::begin`].
    pub fn ends_at_dead_point(&self) -> bool {
        self.near_dead_point() && self.solver.smallest_pivot() < MUCH_NEARER * self.pivots[1]
    }

    /// True near a place where a row becomes redundant; after the rows were factored.
    pub fn near_dead_point(&self) -> bool {
        !self.rows.is_empty() && self.solver.smallest_pivot() < NEAR
    }
}

impl Mechanism {
    /// True if some link bends.
    pub fn bends(&self) -> bool {
        self.links.iter().any(|link| link.elastic.modes() > 0)
    }

    /// The body that something is fastened to, by model index; none of the world.
    pub fn body_of(&self, on: Parent) -> Option<u32> {
        match on {
            Parent::World => None,
            Parent::Body(body) => Some(body),
            Parent::Link(link) => Some(self.links[link as usize].body),
        }
    }

    /// True if some of its joints are rows.
    pub fn has_rows(&self) -> bool {
        !(self.loops.is_empty() && self.couplings.is_empty())
    }

    /// The link a coordinate belongs to.
    pub fn link_of(&self, coordinate: usize) -> usize {
        self.links.partition_point(|link| link.first <= coordinate) - 1
    }

    /// Room for the recursions.
    pub fn work(&self) -> Work {
        let (mut tree_of, mut trees) = (Vec::with_capacity(self.links.len()), Vec::<Vec<u32>>::new());
        for (k, link) in self.links.iter().enumerate() {
            let tree = match link.parent {
                Parent::Link(parent) => tree_of[parent as usize],
                _ => trees.len() as u32,
            };
            if tree as usize == trees.len() {
                trees.push(Vec::new());
            }
            trees[tree as usize].push(k as u32);
            tree_of.push(tree);
        }
        Work {
            tree_of,
            trees,
            links: self.links.iter().map(LinkMotion::new).collect(),
            S: vec![Six::default(); self.coordinates],
            Y: vec![Six::default(); self.coordinates],
            L: vec![0.0; self.links.iter().map(|link| link.count * (link.count + 1) / 2).sum()],
            L_from: (self.links.iter())
                .scan(0, |from, link| {
                    let own = *from;
                    *from += link.count * (link.count + 1) / 2;
                    Some(own)
                })
                .collect(),
            bent: self.links.iter().map(Bent::new).collect(),
            added: Vec::new(),
            modes: vec![Mode::Free; self.coordinates],
            active: vec![true; self.loops.len()],
            taut: vec![true; self.loops.len() + self.couplings.len()],
            held_at: vec![None; self.loops.len()],
            e: vec![0.0; self.coordinates],
            loads: vec![Six::default(); self.links.len()],
            tau: vec![0.0; self.coordinates],
            ..Work::default()
        }
    }
}
