//! Tyres: forces between a tyre and a hard road from its slips. Formulas only, no bodies.
//!
//! With v the velocity of the wheel's centre over the road, x along the wheel, y to its left, z up off the road, Omega the spin and Re the
//! radius at which it rolls freely:
//!   kappa = (Omega Re - v_x)/|v_x|,   tan(alpha) = v_y/|v_x|,   gamma: the wheel's top leans to its right (the turn about x).
//! Forces on the wheel: F_x with kappa, F_y against alpha, M_z about z (ISO 8855). Models whose authors count alpha the other way are
//! turned here.

mod composite;
mod fiala;
mod file;
mod linear;
mod magic_formula;
mod magic_formula_89;
mod magic_formula_numbers;
#[cfg(test)]
mod tests;

pub use composite::Composite;
pub use fiala::Fiala;
pub use file::{Read, read};
pub use linear::Linear;
pub use magic_formula::MagicFormula;
pub use magic_formula_89::MagicFormula89;
pub use magic_formula_numbers::Numbers;

use libm::{atan, tan};

/// Relaxation lengths do not fall below this share of those at the nominal load [-].
const LEAST_RELAXATION: f64 = 0.1;

/// How a tyre slips.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slip {
    /// kappa [-].
    pub kappa: f64,
    /// alpha [rad].
    pub alpha: f64,
    /// gamma [rad].
    pub camber: f64,
    /// Force of the road along its normal, 0 or more [N].
    pub load: f64,
    /// Speed along the wheel |v_x| [m/s].
    pub speed: f64,
    /// Factor of the friction of the road [-].
    pub grip: f64,
}

/// What the road does to a tyre.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answer {
    /// F_x and F_y [N].
    pub force: [f64; 2],
    /// M_x: overturning [N m].
    pub overturning: f64,
    /// M_z: aligning [N m].
    pub aligning: f64,
    /// How far behind the middle of the patch F_y acts [m]; zero where a model does not say.
    pub trail: f64,
    /// Torque that resists rolling [N m].
    pub rolling: f64,
}

/// How forces begin, and end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slopes {
    /// dF_x/dkappa [N] and -dF_y/dtan(alpha) [N] without slip.
    pub slip: [f64; 2],
    /// Relaxation lengths along and across [m].
    pub relaxation: [f64; 2],
    /// Largest forces along and across [N].
    pub most: [f64; 2],
}

/// What all tyres have.
#[derive(Clone, Debug, PartialEq)]
pub struct Carcass {
    /// R0: free radius [m].
    pub radius: f64,
    /// Width of the tread [m].
    pub width: f64,
    /// Fz0: nominal load [N].
    pub load: f64,
    /// Cz: force per deflection [N/m].
    pub stiffness: f64,
    /// Force per rate of deflection [N s/m].
    pub damping: f64,
    /// B, D, F of the radius at which it rolls: Re = R0 - Fz0/Cz (D atan(B x) + F x), x = deflection Cz/Fz0 [-]; a third of the deflection
    /// if there are none.
    pub rolling_radius: Option<[f64; 3]>,
    /// Torque that resists rolling over load and radius [-].
    pub rolling: f64,
    /// Relaxation lengths along and across at the nominal load [m], where its model has none.
    pub relaxation: [f64; 2],
}

impl Carcass {
    /// Re at a deflection [m].
    pub fn rolling_radius(&self, deflection: f64) -> f64 {
        let depth = deflection.max(0.0);
        match self.rolling_radius {
            None => self.radius - depth / 3.0,
            Some([b, d, f]) => {
                let (nominal, x) = (self.load / self.stiffness, depth * self.stiffness / self.load);
                self.radius - nominal * (d * atan(b * x) + f * x)
            }
        }
    }
}

/// A model of the forces.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// Straight lines up to the friction circle.
    Linear(Linear),
    /// Fiala's.
    Fiala(Fiala),
    /// The Magic Formula of 1989 and 1994, with a0 to a17, b0 to b13, c0 to c20.
    MagicFormula89(Box<MagicFormula89>),
    /// The composite slip of Allen, Rosenthal and Szostak.
    Composite(Box<Composite>),
    /// The Magic Formula 5.2, with what 6.1 adds.
    MagicFormula(Box<MagicFormula>),
}

/// A tyre.
#[derive(Clone, Debug, PartialEq)]
pub struct Tyre {
    /// What all tyres have.
    pub carcass: Carcass,
    /// Its forces.
    pub model: Model,
}

impl Tyre {
    /// Forces at a steady slip.
    pub fn answer(&self, slip: &Slip) -> Answer {
        if slip.load <= 0.0 {
            return Answer::default();
        }
        let mut answer = match &self.model {
            Model::Linear(model) => model.answer(slip),
            Model::Fiala(model) => model.answer(slip),
            Model::MagicFormula89(model) => model.answer(slip),
            Model::Composite(model) => model.answer(slip),
            Model::MagicFormula(model) => return model.answer(slip, self.carcass.rolling),
        };
        answer.rolling = self.carcass.rolling * slip.load * self.carcass.radius;
        answer
    }

    /// Forces of each slip by itself, as tables of pure slip have them; of models that know the difference.
    pub fn pure(&self, slip: &Slip) -> Answer {
        match &self.model {
            Model::MagicFormula(model) if slip.load > 0.0 => model.pure(slip),
            _ => self.answer(slip),
        }
    }

    /// Slopes and ends at this load and camber.
    pub fn slopes(&self, slip: &Slip) -> Slopes {
        let of_load = |load: f64| {
            let slip = Slip { load, ..*slip };
            match &self.model {
                Model::Linear(model) => model.slopes(&slip),
                Model::Fiala(model) => model.slopes(&slip),
                Model::MagicFormula89(model) => model.slopes(&slip),
                Model::Composite(model) => model.slopes(&slip),
                Model::MagicFormula(model) => model.slopes(&slip),
            }
        };
        let mut slopes = of_load(slip.load.max(0.0));
        for axis in 0..2 {
            let (own, fixed) = (&mut slopes.relaxation[axis], self.carcass.relaxation[axis]);
            let least = LEAST_RELAXATION * fixed;
            *own = if *own > 0.0 { own.max(least) } else { fixed };
        }
        slopes
    }
}

/// Both of two pure forces within their friction ellipse: each times the same factor, so that (F_x/most_x)^2 + (F_y/most_y)^2 is 1 at most.
fn within_ellipse(force: [f64; 2], most: [f64; 2]) -> [f64; 2] {
    let share = [0, 1].map(|k| if most[k] > 0.0 { force[k] / most[k] } else { 0.0 });
    let size = libm::hypot(share[0], share[1]);
    if size > 1.0 { force.map(|f| f / size) } else { force }
}

/// Share of each of two pure forces, which act at slips kappa and tan(alpha), in the direction of the slip.
fn shared(slip: &Slip, slopes: [f64; 2]) -> [f64; 2] {
    let parts = [slopes[0] * slip.kappa, slopes[1] * tan(slip.alpha)];
    let size = libm::hypot(parts[0], parts[1]);
    if size > 0.0 { parts.map(|part| part.abs() / size) } else { [1.0; 2] }
}
