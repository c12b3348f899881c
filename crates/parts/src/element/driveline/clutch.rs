//! A clutch between two shafts: it carries the torque C e(x), x the engagement from 0 to 1, e a smooth step between the bite points a and b,
//!   e = y^2 (3 - 2 y),   y = (x - a)/(b - a) within 0 and 1.
//! How it holds and slips stands in `hold.rs`; r = u_1 - u_2.

use super::hold::{Grip, Hold, Line, MOST_LINES, Made, Rule};
use super::{formula, shafts, yielding, yields};
use crate::cause::Cause;
use crate::element::written::Build;
use crate::element::{Element, ElementSpec};
use std::sync::Arc;
use tippe_format::equation::Dimension;
use tippe_format::key::{Form, Range, Spec, equation, key, measure, number};
use tippe_format::part::Part;

/// Where a clutch bites if nothing is said [-].
const BITE: [f64; 2] = [0.3, 0.7];

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "clutch",
        about: "A clutch between two shafts: it holds up to a torque, and slips beyond",
        keys: &[
            &[shafts(
                &[Some(true), Some(true)],
                0,
                "The two shafts: JOINT or JOINT.COORDINATE",
                "two joints that turn, such as shafts = [\"engine\", \"gearbox\"]",
            )],
            &[
                number("capacity", Dimension::ENERGY, Range::NotNegative, "Torque it carries, fully engaged [N m]")
                    .required("such as capacity = 350"),
                equation("engagement", "From 0, open, to 1, closed [-]; default 1"),
                key(
                    "bite",
                    Form::Vector(2, measure(Dimension::ONE, Range::Any)),
                    "Engagement at which it begins to carry, and at which it carries all [-]; default 0.3 and 0.7",
                ),
            ],
            &yields("Torsional stiffness of its springs and shafts [N m/rad]"),
        ],
        check: |check| {
            if let [a, b] = *check.part.numbers("bite")
                && a >= b
            {
                let message = format!(" begins to bite at {a} and carries all at {b}");
                check.error("bite", message, "the second is larger than the first, such as bite = [0.3, 0.7]");
            }
        },
        example: "shafts = [\"hinge\", \"other\"]\ncapacity = 350",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

#[derive(Clone, Copy, Debug)]
struct Clutch {
    capacity: f64,
    bite: [f64; 2],
}

impl Rule for Clutch {
    fn grips(&self, equations: &[f64], _: [f64; MOST_LINES]) -> [Grip; MOST_LINES] {
        let [a, b] = self.bite;
        let y = ((equations[0] - a) / (b - a)).clamp(0.0, 1.0);
        let mut grip = Grip { capacity: self.capacity * y * y * (3.0 - 2.0 * y), ..Grip::default() };
        grip.factors[..2].copy_from_slice(&[1.0, -1.0]);
        [grip; MOST_LINES]
    }
}

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let [stiffness, damping] = yielding(part);
    let bite = if let [a, b] = *part.numbers("bite") { [a, b] } else { BITE };
    let made = Made {
        at: build.coordinates(part.coordinates("shafts"))?,
        lines: vec![Line { stiffness, damping, leak: 0.0 }],
        rule: Arc::new(Clutch { capacity: part.number("capacity"), bite }),
        formula: formula(part, build, &[("engagement", "1")]),
        cause: Cause::Clutch,
        effort: ("torque", "N m"),
    };
    Some(Element::Hold(Box::new(Hold::from(made))))
}
