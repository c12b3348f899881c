//! A hydraulic cylinder on a coordinate that slides, its length: a pump feeds the flow Q = x Q_max, x the setting of its valve from -1 to 1,
//! and what the piston does not take winds up the oil, z [m^3], at the pressure p = K z + c z':
//!   r = Q - A u,   |p| <= the relief pressure, beyond which oil runs off,   r - z' = relief flow + G p,   force A p along the rod.
//! The side that is not under pressure is open to the tank: A is that of the whole bore where p pushes, and of the ring around the rod
//! where it pulls. With the valve shut it holds its load on the spring of the oil. How it holds stands in `hold.rs`, with the pressure for
//! the torque; its work is what the pump puts in, less what valve and oil heat.

use super::hold::{Grip, Hold, Line, MOST_LINES, Made, Rule};
use super::{SETTLES, formula};
use crate::cause::Cause;
use crate::element::written::Build;
use crate::element::{Element, ElementSpec};
use std::f64::consts::FRAC_PI_4;
use std::sync::Arc;
use tippe_format::equation::Dimension;
use tippe_format::key::{Coupled, Form, Range, Spec, equation, key, number};
use tippe_format::part::Part;

/// Bulk modulus of oil over a litre of it, where nothing is said [Pa/m^3].
const STIFFNESS: f64 = 1.4e12;

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "cylinder",
        about: "A hydraulic cylinder: a flow that a valve sets, within the pressure of its relief valve",
        keys: &[
            &[key(
                "shafts",
                Form::Coordinates(Coupled {
                    angles: &[Some(false)],
                    more: 0,
                    help: "one joint that slides, such as shafts = [\"rod\"]",
                }),
                "The coordinate that is its length: JOINT or JOINT.COORDINATE",
            )
            .required("one joint that slides, such as shafts = [\"rod\"]")],
            &[
                number("bore", Dimension::LENGTH, Range::Positive, "Diameter of its piston [m]")
                    .required("such as bore = \"120 mm\""),
                number("rod", Dimension::LENGTH, Range::NotNegative, "Diameter of its rod [m]").or(0.0),
                number("flow", Dimension::new(3, 0, -1), Range::Positive, "Flow of its pump, valve open [m^3/s]")
                    .required("such as flow = \"0.2 m^3/min\""),
                number("relief", Dimension::PRESSURE, Range::Positive, "Pressure at which the relief valve opens [Pa]")
                    .required("such as relief = \"35 MPa\""),
                equation("valve", "From -1, in, to 1, out [-]; default 0"),
                number("leakage", Dimension::new(4, -1, 1), Range::NotNegative, "Flow lost per pressure [m^3/(s Pa)]")
                    .or(0.0),
                number(
                    "stiffness",
                    Dimension::new(-4, 1, -2),
                    Range::Positive,
                    "Bulk modulus of the oil over its volume [Pa/m^3]",
                )
                .or(STIFFNESS),
            ],
        ],
        check: |check| {
            let (bore, rod) = (check.part.number("bore"), check.part.number("rod"));
            if rod >= bore && bore > 0.0 {
                let message = format!(" has a rod of {rod} m in a bore of {bore} m");
                check.error("rod", message, "a rod is thinner than its piston");
            }
        },
        example: "shafts = [\"slide\"]\nbore = 0.1\nflow = 1e-3\nrelief = 3e7",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

#[derive(Clone, Copy, Debug)]
struct Cylinder {
    /// A where it pushes, and where it pulls [m^2].
    areas: [f64; 2],
    flow: f64,
    relief: f64,
}

impl Rule for Cylinder {
    fn grips(&self, equations: &[f64], [wound, _]: [f64; MOST_LINES]) -> [Grip; MOST_LINES] {
        let feed = self.flow * equations[0].clamp(-1.0, 1.0);
        // without pressure the side that the flow will press on
        let pulls = wound < 0.0 || wound == 0.0 && feed < 0.0;
        let mut grip = Grip { capacity: self.relief, feed, ..Grip::default() };
        grip.factors[0] = -self.areas[usize::from(pulls)];
        [grip; MOST_LINES]
    }
}

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let stiffness = part.number("stiffness");
    let [bore, rod] = ["bore", "rod"].map(|key| part.number(key));
    let areas = [FRAC_PI_4 * bore * bore, FRAC_PI_4 * (bore * bore - rod * rod)];
    let made = Made {
        at: build.coordinates(part.coordinates("shafts"))?,
        lines: vec![Line { stiffness, damping: SETTLES * stiffness, leak: part.number("leakage") }],
        rule: Arc::new(Cylinder { areas, flow: part.number("flow"), relief: part.number("relief") }),
        formula: formula(part, build, &[("valve", "0")]),
        cause: Cause::Engine,
        effort: ("pressure", "Pa"),
    };
    Some(Element::Hold(Box::new(Hold::from(made))))
}
