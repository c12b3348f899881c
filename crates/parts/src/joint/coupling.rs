//! Couplings of joint coordinates: gear, rack and pinion, belt, rope. One row each, linear in any number of
//! coordinates:
//!   phi = sum_k c_k (q_k - q_k0) - L,   phi' = sum_k c_k u_k,   phi'' = sum_k c_k u_k'
//! so that c_k is also the force or torque that a unit multiplier exerts on coordinate k. A coupling holds both ways,
//! phi = 0, or one way:
//!   at most    phi <= 0,  lambda <= 0,  phi lambda = 0   (a rope of length L),
//!   at least   phi >= 0,  lambda >= 0,  phi lambda = 0.
//! The coordinates must be those whose rate is their derivative: not the Gibbs vectors of spherical and free joints.

use super::{ACTIVE, Glyph, JOINT, JointSpec, Make};
use tippe_format::equation::Dimension;
use tippe_format::key::{Coupled, Form, Key, Range, Spec, flag, key, measure, number};

const fn joints(angles: &'static [Option<bool>; 2], help: &'static str) -> [Key; 1] {
    let form = Form::Coordinates(Coupled { angles, more: 0, help });
    let joints = key("joints", form, "The two coordinates it couples: JOINT or JOINT.COORDINATE");
    [joints.required("the two joints it couples, such as joints = [\"a\", \"b\"]")]
}

const COUPLING: JointSpec = JointSpec { kind: Spec::NONE, glyph: Glyph::None, ..JOINT };

/// A gear as scenes know it.
pub const GEAR: JointSpec = JointSpec {
    kind: Spec {
        word: "gear",
        about: "Two coordinates at a fixed ratio",
        keys: &[
            &joints(&[None, None], ""),
            &[number("ratio", Dimension::ONE, Range::NotZero, "Rate of the first over rate of the second [-]")
                .required("rate of the first over rate of the second")],
            &ACTIVE,
        ],
        example: "joints = [\"hinge\", \"other\"]\nratio = 2",
        ..COUPLING.kind
    },
    make: Make::Coupling(|part, coordinates| Coupling::gear(coordinates, part.number("ratio"), [0.0; 2])),
    ..COUPLING
};

/// A rack and pinion as scenes know it.
pub const RACK_AND_PINION: JointSpec = JointSpec {
    kind: Spec {
        word: "rack_and_pinion",
        about: "A rotation moves a translation, `radius` per radian",
        keys: &[
            &joints(&[Some(true), Some(false)], "a rack and pinion couples first an angle, then a position"),
            &[number("radius", Dimension::LENGTH, Range::NotZero, "Translation per radian [m]")
                .required("translation per radian, such as radius = \"30 mm\"")],
            &ACTIVE,
        ],
        example: "joints = [\"hinge\", \"slide\"]\nradius = 0.1",
        ..COUPLING.kind
    },
    make: Make::Coupling(|part, coordinates| Coupling::rack_and_pinion(coordinates, part.number("radius"), [0.0; 2])),
    ..COUPLING
};

/// A belt as scenes know it.
pub const BELT: JointSpec = JointSpec {
    kind: Spec {
        word: "belt",
        about: "Two rotations joined by a belt over `radii`",
        keys: &[
            &joints(&[Some(true), Some(true)], "a belt couples two angles"),
            &[
                key(
                    "radii",
                    Form::Vector(2, measure(Dimension::LENGTH, Range::Positive)),
                    "Radii of the two pulleys [m]",
                )
                .required("radii of the two pulleys, such as radii = [0.1, 0.2]"),
                flag("crossed", "True if the belt is crossed"),
            ],
            &ACTIVE,
        ],
        example: "joints = [\"hinge\", \"other\"]\nradii = [0.1, 0.2]",
        ..COUPLING.kind
    },
    make: Make::Coupling(|part, coordinates| {
        let [r1, r2] = match part.numbers("radii") {
            [r1, r2] => [*r1, *r2],
            _ => [1.0; 2],
        };
        let ratio = if part.flag("crossed") { -r2 / r1 } else { r2 / r1 };
        Coupling::gear(coordinates, ratio, [0.0; 2])
    }),
    ..COUPLING
};

/// One coordinate in a coupling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// Index of the coordinate, by the counting of the caller.
    pub coordinate: usize,
    /// c_k: unit of phi per unit of the coordinate.
    pub factor: f64,
    /// q_k0: the coordinate at which the coupling was put together [rad] or [m].
    pub start: f64,
}

/// Which way a coupling holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Holds {
    /// phi = 0.
    #[default]
    Equal,
    /// phi <= 0.
    AtMost,
    /// phi >= 0.
    AtLeast,
}

impl Holds {
    /// s with s phi <= 0 and s lambda <= 0; `None` where both ways are held.
    pub fn sense(self) -> Option<f64> {
        match self {
            Holds::Equal => None,
            Holds::AtMost => Some(1.0),
            Holds::AtLeast => Some(-1.0),
        }
    }

    /// Smallest and largest multiplier.
    pub fn bounds(self) -> [f64; 2] {
        match self {
            Holds::Equal => [f64::NEG_INFINITY, f64::INFINITY],
            Holds::AtMost => [f64::NEG_INFINITY, 0.0],
            Holds::AtLeast => [0.0, f64::INFINITY],
        }
    }
}

/// A linear relation of coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coupling {
    /// Its terms; each coordinate once.
    pub terms: Vec<Term>,
    /// phi is a length [m], else an angle [rad].
    pub length: bool,
    /// L [m or rad].
    pub limit: f64,
    /// Which way it holds.
    pub holds: Holds,
}

/// A coupling that holds one way touches its limit where phi is this share of its terms short of it, and this much [m
/// or rad]. Rounding of coordinates leaves 1e-16; an opening that small closes unseen.
pub const TOUCHES: f64 = 1e-10;
/// Its terms neither open nor close it where phi' is this share of them, and this much [m/s or rad/s]. The realtime
/// clock solves velocities to 1e-10.
pub const RESTS: f64 = 1e-8;

impl Coupling {
    /// Angles in proportion: q1 - q10 = ratio (q2 - q20). For two outer gears with n1 and n2 teeth the ratio is -n2/n1,
    /// with an inner one n2/n1.
    pub fn gear(coordinates: [usize; 2], ratio: f64, start: [f64; 2]) -> Self {
        Coupling::of_two(coordinates, [1.0, -ratio], start, false)
    }

    /// The rack's position follows the pinion's angle: x - x0 = radius (q - q0), radius [m].
    /// Coordinates: pinion, rack. A negative radius is a rack on the other side.
    pub fn rack_and_pinion(coordinates: [usize; 2], radius: f64, start: [f64; 2]) -> Self {
        Coupling::of_two(coordinates, [-radius, 1.0], start, true)
    }

    /// Equal lengths of belt run over both pulleys: r1 (q1 - q10) = r2 (q2 - q20), radii [m]; a crossed belt turns them
    /// in opposite senses.
    pub fn belt(coordinates: [usize; 2], radii: [f64; 2], crossed: bool, start: [f64; 2]) -> Self {
        let sense = if crossed { 1.0 } else { -1.0 };
        Coupling::of_two(coordinates, [radii[0], sense * radii[1]], start, true)
    }

    fn of_two(coordinates: [usize; 2], factors: [f64; 2], start: [f64; 2], length: bool) -> Self {
        let terms = [0, 1].map(|k| Term { coordinate: coordinates[k], factor: factors[k], start: start[k] });
        Coupling { terms: terms.to_vec(), length, ..Coupling::default() }
    }

    /// Violation [m] if `length`, else [rad].
    pub fn phi(&self, q: &[f64]) -> f64 {
        self.terms.iter().map(|term| term.factor * (q[term.coordinate] - term.start)).sum::<f64>() - self.limit
    }

    /// How far it is beyond its limit, less what counts as touching it: negative where it is free [m or rad].
    pub fn beyond(&self, q: &[f64]) -> f64 {
        let size: f64 = self.terms.iter().map(|term| (term.factor * (q[term.coordinate] - term.start)).abs()).sum();
        self.holds.sense().unwrap_or(1.0) * self.phi(q) - TOUCHES * (1.0 + size)
    }

    /// True where it touches its limit.
    pub fn touches(&self, q: &[f64]) -> bool {
        let size: f64 = self.terms.iter().map(|term| (term.factor * (q[term.coordinate] - term.start)).abs()).sum();
        self.holds.sense().unwrap_or(1.0) * self.phi(q) >= -TOUCHES * (1.0 + size)
    }

    /// True where it is beyond its limit by no more than counts as touching it.
    pub fn touches_closely(&self, q: &[f64]) -> bool {
        self.touches(q) && self.beyond(q) <= 0.0
    }

    /// How fast it closes beyond what counts as rest: 0 at rest, negative where it opens [m/s or rad/s].
    pub fn closing(&self, u: &[f64]) -> f64 {
        let size: f64 = self.terms.iter().map(|term| (term.factor * u[term.coordinate]).abs()).sum();
        let speed = self.holds.sense().unwrap_or(1.0) * self.rate(u);
        if speed.abs() <= RESTS * (1.0 + size) { 0.0 } else { speed }
    }

    /// Its rate, and with the rates of the rates its second derivative.
    pub fn rate(&self, u: &[f64]) -> f64 {
        self.terms.iter().map(|term| term.factor * u[term.coordinate]).sum()
    }
}
