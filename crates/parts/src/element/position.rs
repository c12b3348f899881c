//! A motor that pulls a coordinate q to a value:   f = clamp(k (value - q) - c q', -limit, limit).

use super::written::{COORDINATE, LIMITED, value};
use super::{
    Acting, Action, At, Attached, CoordinateMotion, EFFORT, ElementAccount, ElementMode, Output, RowEnd, RowList, Seen,
    Settled, StepAhead, Strut, Trip, WORK,
};
use super::{Build, Element, ElementSpec};
use crate::event::EventKind;
use crate::network::Formula;
use tippe_format::key::{Along, Range, Spec, along};
use tippe_format::part::Part;

/// A motor that pulls a coordinate to a value.
#[derive(Clone, Debug)]
pub struct Position {
    /// Where.
    pub at: At,
    /// The coordinate wanted [m or rad].
    pub value: Formula,
    /// k [N/m or N m/rad].
    pub stiffness: f64,
    /// c [N s/m or N m s/rad].
    pub damping: f64,
    /// Largest force or torque [N or N m].
    pub limit: f64,
}

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "position",
        about: "The value is a coordinate, pulled to by stiffness and damping",
        keys: &[&[
            COORDINATE,
            value("The coordinate over time `t`, parameters and signals [m or rad]"),
            LIMITED,
            along("stiffness", Along::Stiffness, Range::NotNegative, "Stiffness [N/m or N m/rad]")
                .required("how hard it pulls to the position"),
            along("damping", Along::Damping, Range::NotNegative, "Damping [N s/m or N m s/rad]").or(0.0),
        ]],
        example: "value = \"0.1\"\nstiffness = 10\ndamping = 1",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let value = build.formula(&[part.equation("value")?], &[])?;
    let [stiffness, damping] = ["stiffness", "damping"].map(|key| part.number(key));
    let limit = part.find_number("limit").unwrap_or(f64::INFINITY);
    Some(Element::Position(Position { at: build.coordinate()?, value, stiffness, damping, limit }))
}

impl Position {
    /// Force without the limit [N or N m].
    fn unlimited(&self, seen: &Seen<'_>) -> f64 {
        let CoordinateMotion { q, u } = seen.coordinate();
        self.stiffness * (seen.value(&self.value, &[]) - q) - self.damping * u
    }
}

impl Acting for Position {
    fn attached(&self) -> Attached<'_> {
        Attached { coordinates: std::slice::from_ref(&self.at), formula: Some(&self.value), ..Attached::default() }
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        WORK
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let effort = self.unlimited(seen).clamp(-self.limit, self.limit);
        out.drive(effort, 0.0, effort * seen.coordinate().u);
    }

    fn watched(&self) -> usize {
        usize::from(self.limit.is_finite())
    }

    fn watch(&self, _: usize, seen: &Seen<'_>) -> f64 {
        let beyond = self.unlimited(seen).abs() - self.limit;
        if seen.mode().held { beyond } else { -beyond }
    }

    fn event(&self, _: usize, mode: ElementMode) -> Option<EventKind> {
        Some(if mode.held { EventKind::MotorLimit } else { EventKind::MotorHold })
    }

    fn trip(&self, _: usize, seen: &Seen<'_>) -> Trip {
        Trip::to(ElementMode { held: !seen.mode().held, ..seen.mode() })
    }

    /// Its force is clamped as it is: the mode is for the log alone.
    fn settle(&self, _: usize, seen: &Seen<'_>) -> Option<Settled> {
        let unknown = self.limit.is_finite() && seen.mode().sense == 0.0;
        unknown.then(|| {
            let held = self.unlimited(seen).abs() <= self.limit;
            Settled { mode: ElementMode { held, sense: 1.0, speed: 0.0 }, acts: false }
        })
    }

    fn acts_on_given(&self) -> bool {
        true
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        let h = step.h;
        let wanted = match self.value.is_of_time() {
            true => self.value.value_and_rate(seen.t + h).0,
            false => seen.value(&self.value, &[]),
        };
        let (stiffness, damping, most) = (self.stiffness, self.damping, self.limit * h);
        let phi = seen.coordinate().q - wanted;
        let strut = Strut { stiffness, damping, phi, damped_by_step: true, bounds: [-most, most], bound: most };
        out.strut(0, strut, &[RowEnd::Coordinate { coordinate: 0, factor: 1.0 }]);
    }

    fn inputs(&self) -> &[Output] {
        EFFORT
    }
}
