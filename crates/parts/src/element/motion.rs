//! A motor that moves a coordinate as a function of time, whatever it takes:   q = value(t).

use super::written::{COORDINATE, value};
use super::{Acting, Action, At, Attached, CoordinateMotion, ElementAccount, ElementMode, InStep, Seen, WORK};
use super::{Build, Element, ElementSpec};
use crate::network::Formula;
use tippe_format::key::Spec;
use tippe_format::part::Part;

/// Rates at the start that differ by less than this share are the same [-].
const SAME_RATE: f64 = 1e-6;
/// A motion that goes further in a step than its largest rate there explains, by more than this share of it, jumps [-].
const JUMP: f64 = 1e-6;

/// A motor that moves a coordinate as a function of time.
#[derive(Clone, Debug)]
pub struct Motion {
    /// Where.
    pub at: At,
    /// The coordinate [m or rad].
    pub value: Formula,
}

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "motion",
        about: "The value is a coordinate, followed whatever it takes",
        keys: &[&[COORDINATE, value("The coordinate over time `t` and signals of time [m or rad]")]],
        example: "value = \"0.1*t\"",
        ..Spec::NONE
    },
    make,
    moves: true,
    rewrite: |_, _, _| Ok(()),
};

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let value = build.followed(part.equation("value")?, true)?;
    Some(Element::Motion(Motion { at: build.coordinate()?, value }))
}

impl Acting for Motion {
    fn attached(&self) -> Attached<'_> {
        Attached { coordinates: std::slice::from_ref(&self.at), formula: Some(&self.value), ..Attached::default() }
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        WORK
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        out.given = Some(self.value.value_and_rates(seen.t)[2]);
    }

    fn follow(&self, t: f64, _: ElementMode) -> Option<(Option<f64>, f64)> {
        let (value, rate) = self.value.value_and_rate(t);
        Some((Some(value), rate))
    }

    fn in_step(&self, seen: &Seen<'_>, h: f64) -> InStep {
        InStep::Rate((self.value.value_and_rate(seen.t + h).0 - seen.coordinate().q) / h)
    }

    fn jump(&self, t: f64, h: f64) -> Option<f64> {
        let at = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| self.value.value_and_rate(t - h * share));
        let way = (at[0].0 - at[4].0).abs();
        let speed = at.iter().map(|(_, rate)| rate.abs()).fold(0.0, f64::max);
        (way > 2.0 * h * speed + JUMP * at[0].0.abs().max(1.0)).then_some(way)
    }

    fn start_warning(&self, start: CoordinateMotion) -> Option<String> {
        let (speed, wanted) = (start.u, self.value.value_and_rate(0.0).1);
        ((wanted - speed).abs() > SAME_RATE * wanted.abs().max(speed.abs())).then(|| {
            format!(
                "it starts with the speed {wanted:.6e}, its joint with {speed:.6e}: the books do not know the energy of this \
                 jump. help: give the joint the same speed"
            )
        })
    }
}
