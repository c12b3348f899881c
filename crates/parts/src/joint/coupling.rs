//! Couplings of joint coordinates: gear, rack and pinion, belt. One row each, linear in coordinates:
//!   phi = sum_k c_k (q_k - q_k0) = 0,   phi' = sum_k c_k u_k,   phi'' = sum_k c_k u_k'
//! so that c_k is also the force or torque that a unit multiplier exerts on coordinate k. The coordinates must be those
//! whose rate is their derivative: not the Gibbs vectors of spherical and free joints.

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

/// A linear relation of coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Coupling {
    /// Its terms; each coordinate once.
    pub terms: Vec<Term>,
    /// phi is a length [m], else an angle [rad].
    pub length: bool,
}

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
        Coupling { terms: terms.to_vec(), length }
    }

    /// Violation [m] if `length`, else [rad].
    pub fn phi(&self, q: &[f64]) -> f64 {
        self.terms.iter().map(|term| term.factor * (q[term.coordinate] - term.start)).sum()
    }

    /// Its rate, and with the rates of the rates its second derivative.
    pub fn rate(&self, u: &[f64]) -> f64 {
        self.terms.iter().map(|term| term.factor * u[term.coordinate]).sum()
    }
}
