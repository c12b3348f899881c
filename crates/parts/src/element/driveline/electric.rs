//! An electric motor on a shaft that turns with w, both ways alike:
//!   |T| <= min(T_max, P_max/|w|),   T as it is asked for, or T = g (w_g - w) towards a speed.
//! In a step h its torque answers to the rate, T + T' (w+ - w) within that.

use super::{formula, shafts};
use crate::cause::Cause;

use crate::element::written::Build;
use crate::element::{
    Acting, Action, Answering, At, Attached, Element, ElementAccount, ElementSpec, Output, RowEnd, RowList, Seen,
    StepAhead,
};
use crate::network::Formula;
use std::borrow::Cow;
use tippe_format::equation::Dimension;
use tippe_format::key::{Range, Spec, equation, number};
use tippe_format::part::Part;

/// An electric motor.
#[derive(Clone, Debug)]
pub struct Electric {
    at: At,
    /// Torque [N m] and speed [rad/s] that are asked for.
    inputs: Formula,
    /// g [N m s/rad]; zero if a torque is asked for.
    gain: f64,
    /// T_max [N m].
    torque: f64,
    /// P_max [W].
    power: f64,
}

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "electric_motor",
        about: "An electric motor on a shaft, limited in torque and power",
        keys: &[
            &[shafts(
                &[Some(true)],
                0,
                "Its shaft: JOINT or JOINT.COORDINATE",
                "one joint that turns, such as shafts = [\"rotor\"]",
            )],
            &[
                number("torque_max", Dimension::ENERGY, Range::Positive, "Largest torque [N m]")
                    .required("such as torque_max = 300"),
                number("power_max", Dimension::POWER, Range::Positive, "Largest power [W]; default without limit"),
                equation("torque", "Torque that is asked for [N m]"),
                equation("speed", "Speed that is asked for, in place of a torque [rad/s]"),
                number(
                    "gain",
                    Dimension::new(2, 1, -1),
                    Range::Positive,
                    "Torque per speed that lacks [N m s/rad]; default a tenth of the largest torque per rad/s",
                ),
            ],
        ],
        check: |check| {
            check.at_least_one(&["torque", "speed"], "say what is asked of it");
            check.not_both("torque", "speed");
        },
        example: "shafts = [\"hinge\"]\ntorque_max = 300\ntorque = 100",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let at = *build.coordinates(part.coordinates("shafts"))?.first()?;
    let torque = part.number("torque_max");
    let gain = part.find_number("gain").unwrap_or(0.1 * torque);
    Some(Element::Electric(Electric {
        at,
        inputs: formula(part, build, &[("torque", "0"), ("speed", "0")])?,
        gain: if part.equation("speed").is_some() { gain } else { 0.0 },
        torque,
        power: part.find_number("power_max").unwrap_or(f64::INFINITY),
    }))
}

impl Electric {
    /// What is asked for at this rate, and the most it can give there [N m].
    fn asked(&self, seen: &Seen<'_>) -> [f64; 2] {
        let mut inputs = [0.0; 2];
        self.inputs.eval(|source| seen.read(source, &[]), &mut inputs);
        let [torque, speed] = inputs;
        let w = seen.coordinate().u;
        let asked = if self.gain > 0.0 { self.gain * (speed - w) } else { torque };
        [asked, if w == 0.0 { self.torque } else { self.torque.min(self.power / w.abs()) }]
    }
}

impl Acting for Electric {
    fn attached(&self) -> Attached<'_> {
        Attached { coordinates: std::slice::from_ref(&self.at), formula: Some(&self.inputs), ..Attached::default() }
    }

    fn outputs(&self) -> &[Output] {
        &[
            Output { name: Cow::Borrowed("torque"), unit: Some("N m") },
            Output { name: Cow::Borrowed("power"), unit: Some("W") },
        ]
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        &[ElementAccount { cause: Cause::Engine, name: "work" }]
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let ([asked, most], w) = (self.asked(seen), seen.coordinate().u);
        let torque = asked.min(most).max(-most);
        out.drive(torque, 0.0, torque * w);
        out.shown.push(torque * w);
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        let ([asked, most], rate) = (self.asked(seen), seen.coordinate().u);
        let answering = Answering { effort: asked, slope: -self.gain, rate, bounds: [-most, most] };
        out.answer(0, answering, step.h, &[RowEnd::Coordinate { coordinate: 0, factor: 1.0 }]);
    }

    fn outputs_of_row(&self, seen: &Seen<'_>, _: u8, force: f64, outputs: &mut [f64]) {
        outputs[0] = force;
        outputs[1] = force * seen.coordinate().u;
    }
}
