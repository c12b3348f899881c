//! A motor that gives a force or torque on a coordinate, limited:   f = clamp(value, -limit, limit).

use super::{Acting, Action, At, Attached, EFFORT_INPUT, ElementAccount, InStep, Output, Seen, WORK};
use crate::network::Formula;

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

impl Acting for Torque {
    fn attached(&self) -> Attached<'_> {
        Attached { coordinates: std::slice::from_ref(&self.at), formula: Some(&self.value), ..Attached::default() }
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        WORK
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let effort = seen.value(&self.value, &[]).clamp(-self.limit, self.limit);
        out.drive(effort, 0.0, effort * seen.coordinate().u);
    }

    fn in_step(&self, _: &Seen<'_>, _: f64) -> InStep {
        InStep::Load
    }

    fn inputs(&self) -> &'static [Output] {
        EFFORT_INPUT
    }
}
