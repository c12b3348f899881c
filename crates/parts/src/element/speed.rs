//! A motor that holds the rate of a coordinate:   q' = value(t)   as long as that needs no more than its limit, else it pushes
//! with the limit.

use super::written::{COORDINATE, LIMITED, value};
use super::{
    Acting, Action, At, Attached, CoordinateMotion, ElementAccount, ElementMode, InStep, RowList, Seen, Settled,
    Solved, StepAhead, Trip, WORK, exceeds,
};
use super::{Build, Element, ElementSpec};
use crate::event::EventKind;
use crate::network::Formula;
use tippe_format::key::Spec;
use tippe_format::part::Part;

/// Rates that differ by less than this share are the same at the start [-].
const SAME_RATE: f64 = 1e-12;
/// Size of a rate below which that share is of this [m/s or rad/s].
const LEAST_RATE: f64 = 1e-3;

/// A motor that holds a speed.
#[derive(Clone, Debug)]
pub struct Speed {
    /// Where.
    pub at: At,
    /// The rate wanted, a function of time [m/s or rad/s].
    pub value: Formula,
    /// Largest force or torque [N or N m].
    pub limit: f64,
}

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "speed",
        about: "The value is a rate, held as long as the limit allows",
        keys: &[&[COORDINATE, value("The rate over time `t` and signals of time [m/s or rad/s]"), LIMITED]],
        example: "value = \"1\"\nlimit = 5",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let value = build.followed(part.equation("value")?, false)?;
    let limit = part.find_number("limit").unwrap_or(f64::INFINITY);
    Some(Element::Speed(Speed { at: build.coordinate()?, value, limit }))
}

impl Acting for Speed {
    fn attached(&self) -> Attached<'_> {
        Attached { coordinates: std::slice::from_ref(&self.at), formula: Some(&self.value), ..Attached::default() }
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        WORK
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        if seen.mode().held {
            out.given = Some(self.value.value_and_rate(seen.t).1);
            return;
        }
        // before it has settled which way to push it does not push, without limit neither
        let effort = if seen.mode().sense == 0.0 { 0.0 } else { seen.mode().sense * self.limit };
        out.drive(effort, 0.0, effort * seen.coordinate().u);
    }

    fn watched(&self) -> usize {
        usize::from(self.limit.is_finite())
    }

    fn watch(&self, _: usize, seen: &Seen<'_>) -> f64 {
        match seen.mode().held {
            true => exceeds(seen.holding, self.limit),
            false => (seen.coordinate().u - self.value.value_and_rate(seen.t).0) * seen.mode().sense,
        }
    }

    fn event(&self, _: usize, mode: ElementMode) -> Option<EventKind> {
        Some(if mode.held { EventKind::MotorLimit } else { EventKind::MotorHold })
    }

    fn trip(&self, _: usize, seen: &Seen<'_>) -> Trip {
        match seen.mode().held {
            true => Trip::to(ElementMode { held: false, sense: seen.holding.signum(), speed: 0.0 }),
            false => Trip {
                mode: ElementMode { held: true, ..seen.mode() },
                rate: Some(self.value.value_and_rate(seen.t).0),
                lost: 0.0,
            },
        }
    }

    fn settle(&self, _: usize, seen: &Seen<'_>) -> Option<Settled> {
        let (mode, CoordinateMotion { u, .. }) = (seen.mode(), seen.coordinate());
        let wanted = self.value.value_and_rate(seen.t).0;
        if !mode.held && mode.sense == 0.0 {
            let same = (u - wanted).abs() <= SAME_RATE * wanted.abs().max(LEAST_RATE);
            let sense = if wanted >= u { 1.0 } else { -1.0 };
            let held = self.limit.is_infinite() || same;
            return Some(Settled { mode: ElementMode { held, sense, ..mode }, acts: true });
        }
        let yields = mode.held && exceeds(seen.holding, self.limit) > 0.0;
        let sense = seen.holding.signum();
        yields.then_some(Settled { mode: ElementMode { held: false, sense, ..mode }, acts: true })
    }

    fn follow(&self, t: f64, mode: ElementMode) -> Option<(Option<f64>, f64)> {
        mode.held.then(|| (None, self.value.value_and_rate(t).0))
    }

    fn in_step(&self, seen: &Seen<'_>, h: f64) -> InStep {
        match self.limit.is_infinite() {
            true => InStep::Rate(self.value.value_and_rate(seen.t + h).0),
            false => InStep::Rows,
        }
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        out.limited(self.value.value_and_rate(seen.t + step.h).0, self.limit, step.h);
    }

    fn mode_after(&self, mode: ElementMode, row: &Solved) -> (ElementMode, bool) {
        (ElementMode { held: row.within, sense: row.lambda.signum(), ..mode }, mode.sense != 0.0)
    }
}
