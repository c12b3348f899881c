//! A motor that gives a force or torque on a coordinate, limited:   f = clamp(value, -limit, limit).

use super::written::{COORDINATE, LIMITED, value};
use super::{Acting, Action, At, Attached, EFFORT, ElementAccount, InStep, Output, Seen, WORK};
use super::{Build, Element, ElementSpec};
use crate::network::Formula;
use tippe_format::key::Spec;
use tippe_format::part::Part;

/// A motor that gives a force or torque.
#[derive(Clone, Debug)]
pub struct Torque {
    /// Where.
    pub at: At,
    /// Its value [N or N m].
    pub value: Formula,
    /// Largest [N or N m].
    pub limit: f64,
}

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "torque",
        about: "The value is a force or torque",
        keys: &[&[COORDINATE, value("The force or torque over time `t`, parameters and signals [N or N m]"), LIMITED]],
        example: "value = \"0.1\"",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let value = build.formula(&[part.equation("value")?], &[])?;
    let limit = part.find_number("limit").unwrap_or(f64::INFINITY);
    Some(Element::Torque(Torque { at: build.coordinate()?, value, limit }))
}

impl Torque {
    fn wanted(&self, seen: &Seen<'_>) -> f64 {
        seen.value(&self.value, &[])
    }
}

impl Acting for Torque {
    fn attached(&self) -> Attached<'_> {
        Attached { coordinates: std::slice::from_ref(&self.at), formula: Some(&self.value), ..Attached::default() }
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        WORK
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let effort = self.wanted(seen).clamp(-self.limit, self.limit);
        out.drive(effort, 0.0, effort * seen.coordinate().u);
    }

    fn in_step(&self, _: &Seen<'_>, _: f64) -> InStep {
        InStep::Load
    }

    fn most(&self) -> f64 {
        self.limit
    }

    fn unlimited(&self, seen: &Seen<'_>) -> Option<f64> {
        Some(self.wanted(seen))
    }

    fn inputs(&self) -> &[Output] {
        EFFORT
    }
}
