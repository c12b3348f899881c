//! A hydrostatic transmission: a pump of displacement V_1 per turn, set by its swash x from -1 to 1, and motors of V_k in parallel. The flow
//! that the motors do not take winds up the oil, z [m^3], whose pressure p all of them feel:
//!   r = (x V_1 u_1 - sum_k V_k u_k)/(2 pi),   p = K z + c z',   |p| <= the relief pressure, beyond which oil runs off,
//!   r - z' = relief flow + G p,   torques: -x V_1 p/(2 pi) on the pump, V_k p/(2 pi) on motor k.
//! How it holds stands in `hold.rs`, with the pressure for the torque.

use super::hold::{Grip, Hold, Line, MOST_LINES, MOST_SHAFTS, Made, Rule};
use super::{SETTLES, formula, shafts};
use crate::cause::Cause;
use crate::element::written::Build;
use crate::element::{Element, ElementSpec};
use std::f64::consts::TAU;
use std::sync::Arc;
use tippe_format::equation::Dimension;
use tippe_format::key::{Form, Range, Spec, equation, key, measure, number};
use tippe_format::part::Part;

/// Bulk modulus of oil over a litre of it, where nothing is said [Pa/m^3].
const STIFFNESS: f64 = 1.4e12;
const VOLUME: Dimension = Dimension::new(3, 0, 0);

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "hydrostatic",
        about: "A pump that drives one motor or several by oil, with a relief valve",
        keys: &[
            &[shafts(
                &[Some(true), Some(true)],
                MOST_SHAFTS - 2,
                "The pump, then its motors: JOINT or JOINT.COORDINATE",
                "joints that turn, such as shafts = [\"pump\", \"motor\"]",
            )],
            &[
                key(
                    "displacements",
                    Form::List(&Form::Number(measure(VOLUME, Range::Positive))),
                    "Volume per turn of the pump, then of each motor [m^3]",
                )
                .required("one for each shaft, such as displacements = [\"110 cm^3\", \"160 cm^3\"]"),
                number("relief", Dimension::PRESSURE, Range::Positive, "Pressure at which the relief valve opens [Pa]")
                    .required("such as relief = \"40 MPa\""),
                equation("swash", "Setting of the pump from -1 to 1 [-]; default 1"),
                number("leakage", Dimension::new(4, -1, 1), Range::NotNegative, "Flow lost per pressure [m^3/(s Pa)]")
                    .or(0.0),
                number(
                    "stiffness",
                    Dimension::new(-4, 1, -2),
                    Range::Positive,
                    "Bulk modulus of the oil over its volume in the lines [Pa/m^3]",
                )
                .or(STIFFNESS),
            ],
        ],
        example: "shafts = [\"hinge\", \"other\"]\ndisplacements = [1.1e-4, 1.6e-4]\nrelief = 4e7",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

#[derive(Clone, Debug)]
struct Hydrostatic {
    /// V/(2 pi) of pump and motors [m^3/rad].
    displacements: Vec<f64>,
    relief: f64,
}

impl Rule for Hydrostatic {
    fn grips(&self, equations: &[f64], _: [f64; MOST_LINES]) -> [Grip; MOST_LINES] {
        let mut grip = Grip { capacity: self.relief, ..Grip::default() };
        for (factor, volume) in grip.factors.iter_mut().zip(&self.displacements) {
            *factor = -volume;
        }
        grip.factors[0] *= -equations[0].clamp(-1.0, 1.0);
        [grip; MOST_LINES]
    }
}

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let stiffness = part.number("stiffness");
    let at = build.coordinates(part.coordinates("shafts"))?;
    let displacements: Vec<f64> = part.numbers("displacements").iter().map(|volume| volume / TAU).collect();
    if at.len() != displacements.len() {
        build.wrong(
            &format!("has {} shafts and {} displacements", at.len(), displacements.len()),
            "one for the pump and one for each motor",
        );
        return None;
    }
    let made = Made {
        at,
        lines: vec![Line { stiffness, damping: SETTLES * stiffness, leak: part.number("leakage") }],
        rule: Arc::new(Hydrostatic { displacements, relief: part.number("relief") }),
        formula: formula(part, build, &[("swash", "1")]),
        cause: Cause::Driveline,
        effort: ("pressure", "Pa"),
    };
    Some(Element::Hold(Box::new(Hold::from(made))))
}
