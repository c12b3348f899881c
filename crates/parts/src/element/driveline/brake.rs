//! A brake on a shaft, against what its joint hangs on: it carries the torque C b, b its application from 0 to 1.
//! How it holds and slips stands in `hold.rs`; r = u. At rest it holds without creep.

use super::hold::{Grip, Hold, Line, MOST_LINES, Made, Rule};
use super::{formula, shafts, yielding, yields};
use crate::cause::Cause;
use crate::element::written::Build;
use crate::element::{Element, ElementSpec};
use std::sync::Arc;
use tippe_format::equation::Dimension;
use tippe_format::key::{Range, Spec, equation, number};
use tippe_format::part::Part;

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "brake",
        about: "A brake on a shaft: it holds up to a torque, and slips beyond",
        keys: &[
            &[shafts(
                &[Some(true)],
                0,
                "The shaft: JOINT or JOINT.COORDINATE",
                "one joint that turns, such as shafts = [\"wheel\"]",
            )],
            &[
                number("capacity", Dimension::ENERGY, Range::NotNegative, "Torque it carries, fully applied [N m]")
                    .required("such as capacity = 1500"),
                equation("applied", "From 0, off, to 1 [-]; default 1"),
            ],
            &yields("Torsional stiffness of its pads and what carries them [N m/rad]"),
        ],
        example: "shafts = [\"hinge\"]\ncapacity = 1500",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

#[derive(Clone, Copy, Debug)]
struct Brake {
    capacity: f64,
}

impl Rule for Brake {
    fn grips(&self, equations: &[f64], _: [f64; MOST_LINES]) -> [Grip; MOST_LINES] {
        let mut grip = Grip { capacity: self.capacity * equations[0].clamp(0.0, 1.0), ..Grip::default() };
        grip.factors[0] = 1.0;
        [grip; MOST_LINES]
    }
}

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let [stiffness, damping] = yielding(part);
    let made = Made {
        at: build.coordinates(part.coordinates("shafts"))?,
        lines: vec![Line { stiffness, damping, leak: 0.0 }],
        rule: Arc::new(Brake { capacity: part.number("capacity") }),
        formula: formula(part, build, &[("applied", "1")]),
        cause: Cause::Brake,
        effort: ("torque", "N m"),
    };
    Some(Element::Hold(Box::new(Hold::from(made))))
}
