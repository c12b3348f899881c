//! A differential: an input shaft (1) turns two outputs (2, 3) by the ratio i and the share a of torque that the second shaft gets,
//!   gears:  r = u_1 - i (a u_2 + (1 - a) u_3),   they hold whatever comes;
//!   lock:   r = u_2 - u_3,   it carries (T_0 + b |T_in|)/2, so that the torques of the outputs differ by at most T_0 + b |T_in|,
//! T_in the torque behind the gears, i times that of the input.
//! Open: both zero. Locked: T_0 without end. With a = 1/2 it is that of an axle, else the planetary one between axles.
//! How both hold stands in `hold.rs`.

use super::hold::{Grip, Hold, Line, MOST_LINES, Made, Rule};
use super::{EFFICIENCY, formula, shafts, yielding, yields};
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
        word: "differential",
        about: "A differential between an input shaft and two outputs: open, locked or of limited slip",
        keys: &[
            &[shafts(
                &[Some(true), Some(true), Some(true)],
                0,
                "Input, first and second output: JOINT or JOINT.COORDINATE",
                "three joints that turn, such as shafts = [\"propshaft\", \"left\", \"right\"]",
            )],
            &[
                number(
                    "ratio",
                    Dimension::ONE,
                    Range::NotZero,
                    "Rate of the input over the mean rate of the outputs [-]",
                )
                .or(1.0),
                number("share", Dimension::ONE, Range::Fraction, "Share of the torque that the first output gets [-]")
                    .or(0.5),
                number(
                    "preload",
                    Dimension::ENERGY,
                    Range::NotNegative,
                    "Difference of the torques of the outputs that its lock carries without load [N m]",
                )
                .or(0.0),
                number(
                    "bias",
                    Dimension::ONE,
                    Range::NotNegative,
                    "Difference it carries beside, per torque of both outputs together [-]",
                )
                .or(0.0),
                EFFICIENCY,
                equation("locked", "Where it is above 0.5 the outputs are locked [-]; default 0"),
            ],
            &yields("Torsional stiffness of its gears and lock, seen from the outputs [N m/rad]"),
        ],
        example: "shafts = [\"hinge\", \"other\", \"third\"]\nratio = 3.7",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

#[derive(Clone, Copy, Debug)]
struct Differential {
    ratio: f64,
    share: f64,
    preload: f64,
    bias: f64,
    efficiency: f64,
}

impl Rule for Differential {
    fn grips(&self, equations: &[f64], [_, wound]: [f64; MOST_LINES]) -> [Grip; MOST_LINES] {
        let Differential { ratio, share, preload, bias, .. } = *self;
        let is_locked = equations[0] > 0.5;
        let carries = if is_locked { f64::INFINITY } else { 0.5 * (preload + bias * (ratio * wound).abs()) };
        let (mut lock, mut gears) = (Grip { capacity: carries, ..Grip::default() }, Grip::default());
        lock.factors[1..3].copy_from_slice(&[1.0, -1.0]);
        gears.capacity = f64::INFINITY;
        gears.factors[..3].copy_from_slice(&[1.0, -ratio * share, -ratio * (1.0 - share)]);
        [lock, gears]
    }

    fn efficiency(&self) -> f64 {
        self.efficiency
    }
}

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let [stiffness, damping] = yielding(part);
    let ratio = part.number("ratio");
    let at_input = 1.0 / (ratio * ratio);
    let gears = Line { stiffness: stiffness * at_input, damping: damping * at_input, leak: 0.0 };
    let [share, preload, bias] = ["share", "preload", "bias"].map(|key| part.number(key));
    let made = Made {
        at: build.coordinates(part.coordinates("shafts"))?,
        lines: vec![Line { stiffness, damping, leak: 0.0 }, gears],
        rule: Arc::new(Differential { ratio, share, preload, bias, efficiency: part.number("efficiency") }),
        formula: formula(part, build, &[("locked", "0")]),
        cause: Cause::Driveline,
        effort: ("lock", "N m"),
    };
    Some(Element::Hold(Box::new(Hold::from(made))))
}
