//! Dry friction of a coordinate with true stick: holds it with up to `sticking`, slides against its rate with `sliding`.

use super::written::COORDINATE;
use super::{
    Acting, Action, At, Attached, CoordinateMotion, ElementAccount, ElementMode, RowList, Seen, Settled, Solved,
    StepAhead, Trip, exceeds,
};
use super::{Build, Element, ElementSpec};
use crate::cause::Cause;
use crate::event::EventKind;
use tippe_format::key::{Along, Range, Spec, along};
use tippe_format::part::Part;

/// Dry friction of a coordinate.
#[derive(Clone, Debug)]
pub struct Friction {
    /// Where.
    pub at: At,
    /// While it slides [N or N m].
    pub sliding: f64,
    /// At most while it sticks [N or N m].
    pub sticking: f64,
}

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "friction",
        about: "Dry friction on one coordinate, with true stick",
        keys: &[&[
            COORDINATE,
            along("sliding", Along::Force, Range::NotNegative, "Force or torque while it slides [N or N m]")
                .required("such as sliding = 0.1"),
            along(
                "sticking",
                Along::Force,
                Range::NotNegative,
                "Largest force or torque while it sticks [N or N m]; default `sliding`",
            ),
        ]],
        check: |check| {
            let (sliding, sticking) = (check.part.number("sliding"), check.part.find_number("sticking"));
            if let Some(sticking) = sticking.filter(|sticking| *sticking < sliding) {
                let message = format!(" has sticking {sticking} below sliding {sliding}");
                check.error("sticking", message, "sticking friction is at least sliding friction");
            }
        },
        example: "sliding = 0.1",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let sliding = part.number("sliding");
    let sticking = part.find_number("sticking").unwrap_or(sliding);
    Some(Element::Friction(Friction { at: build.coordinate()?, sliding, sticking }))
}

impl Acting for Friction {
    fn attached(&self) -> Attached<'_> {
        Attached { coordinates: std::slice::from_ref(&self.at), ..Attached::default() }
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        &[ElementAccount { cause: Cause::JointFriction, name: "loss" }]
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        if seen.mode().held {
            out.given = Some(0.0);
            return;
        }
        let effort = -seen.mode().sense * self.sliding;
        out.drive(effort, 0.0, -effort * seen.coordinate().u);
    }

    fn holding_power(&self, _: f64, _: f64) -> f64 {
        0.0
    }

    fn watched(&self) -> usize {
        1
    }

    fn watch(&self, _: usize, seen: &Seen<'_>) -> f64 {
        match seen.mode().held {
            true => exceeds(seen.holding, self.sticking),
            false => -seen.coordinate().u * seen.mode().sense,
        }
    }

    fn event(&self, _: usize, mode: ElementMode) -> Option<EventKind> {
        Some(if mode.held { EventKind::JointSlip } else { EventKind::JointStick })
    }

    fn trip(&self, _: usize, seen: &Seen<'_>) -> Trip {
        match seen.mode().held {
            // it lets go against the force it held with
            true => Trip::to(slips_from(seen)),
            false => Trip { mode: ElementMode { held: true, ..seen.mode() }, rate: Some(0.0), lost: 0.0 },
        }
    }

    fn settle(&self, _: usize, seen: &Seen<'_>) -> Option<Settled> {
        let (mode, CoordinateMotion { u, .. }) = (seen.mode(), seen.coordinate());
        if !mode.held && mode.sense == 0.0 {
            let sense = if u == 0.0 { 1.0 } else { u.signum() };
            return Some(Settled { mode: ElementMode { held: u == 0.0, sense, ..mode }, acts: true });
        }
        let slips = mode.held && exceeds(seen.holding, self.sticking) > 0.0;
        slips.then(|| Settled { mode: ElementMode { speed: mode.speed, ..slips_from(seen) }, acts: true })
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        let mode = seen.mode();
        let sticks = mode.held || mode.sense == 0.0 && seen.coordinate().u == 0.0;
        out.limited(0.0, if sticks { self.sticking } else { self.sliding }, step.h);
    }

    fn mode_after(&self, mode: ElementMode, row: &Solved) -> (ElementMode, bool) {
        let sense = if row.within && mode.sense == 0.0 { 1.0 } else { -row.lambda.signum() };
        (ElementMode { held: row.within, sense, ..mode }, mode.sense != 0.0)
    }
}

/// Sliding against the force it held with.
fn slips_from(seen: &Seen<'_>) -> ElementMode {
    ElementMode { held: false, sense: -seen.holding.signum(), speed: 0.0 }
}
