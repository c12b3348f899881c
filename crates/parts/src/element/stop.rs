//! Elastic stops of a coordinate:   f = k depth^n (1 + b depth'/v),   v the speed of impact, b for the restitution wanted.

use super::written::COORDINATE;
use super::{
    Acting, Action, At, Attached, CoordinateMotion, DAMPED, ElementAccount, ElementMode, RowEnd, RowList, Seen, Solved,
    StepAhead, Strut, Trip,
};
use super::{Build, Element, ElementSpec};
use crate::contact::normal::exact_damping;
use crate::event::EventKind;
use tippe_format::equation::Dimension;
use tippe_format::key::{Along, Range, Spec, along, any, number};
use tippe_format::part::Part;

/// Restitution below which the damping of the law would be without bound [-].
const LEAST_RESTITUTION: f64 = 0.01;
/// An impact that takes more steps than this is integrated by the law, else the coordinate rebounds at once [-]: with fewer the
/// restitution of a strut is off by more than a hundredth.
const STEPS_OF_IMPACT: f64 = 60.0;
/// Length of an impact over depth/v: half a period of a linear spring is pi of them [-].
const IMPACT_LENGTH: f64 = 3.0;
/// A stop gets its row when it may be reached within this many steps at the present speed [-].
const STEPS_AHEAD: f64 = 2.0;
/// Coordinates slower than this do not rebound [m/s or rad/s].
const LEAST_REBOUND: f64 = 1e-6;
/// Depth from which the secant of the law is taken at least [m or rad].
const LEAST_DEPTH: f64 = 1e-9;
/// A joint may start so far beyond its stop without a warning, as a share of its coordinate [-].
const START_BEYOND: f64 = 1e-3;

/// Elastic stops of a coordinate.
#[derive(Clone, Debug)]
pub struct Stop {
    /// Where.
    pub at: At,
    /// Lower and upper [m or rad].
    pub bounds: [f64; 2],
    /// k [N/m^n or N m/rad^n].
    pub stiffness: f64,
    /// n [-].
    pub exponent: f64,
    /// Wanted: speed after over speed before an impact [-].
    pub restitution: f64,
    /// b [-].
    damping: f64,
}

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "limit",
        about: "Elastic stops of one coordinate, with the damping that gives their restitution",
        keys: &[&[
            COORDINATE,
            along("lower", Along::Value, Range::Any, "Lower stop [m or rad]"),
            along("upper", Along::Value, Range::Any, "Upper stop [m or rad]"),
            any("stiffness", Range::Positive, "Stiffness of the stops [N/m^exponent or N m/rad^exponent]")
                .required("how stiff the stops are, such as stiffness = 1e4"),
            number("exponent", Dimension::ONE, Range::Positive, "Exponent of depth [-]").or(1.5),
            number("restitution", Dimension::ONE, Range::Fraction, "Coefficient of restitution [-]").or(0.5),
        ]],
        check: |check| {
            check.at_least_one(&["lower", "upper"], "");
            if let (Some(lower), Some(upper)) = (check.part.find_number("lower"), check.part.find_number("upper"))
                && lower >= upper
            {
                let unit = check.coordinate.map_or("", |coordinate| coordinate.unit);
                let message = format!(" has lower {lower} {unit} not below upper {upper} {unit}");
                check.error("upper", message, "the lower stop is below the upper one");
            }
        },
        example: "lower = -1\nupper = 1\nstiffness = 1e4",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let lower = part.find_number("lower").unwrap_or(f64::NEG_INFINITY);
    let upper = part.find_number("upper").unwrap_or(f64::INFINITY);
    let [stiffness, exponent, restitution] = ["stiffness", "exponent", "restitution"].map(|key| part.number(key));
    Some(Element::Stop(Stop::new(build.coordinate()?, [lower, upper], stiffness, exponent, restitution)))
}

impl Stop {
    /// With the b that gives this restitution.
    pub fn new(at: At, bounds: [f64; 2], stiffness: f64, exponent: f64, restitution: f64) -> Stop {
        let damping = if restitution < 1.0 { exact_damping(restitution.max(LEAST_RESTITUTION)) } else { 0.0 };
        Stop { at, bounds, stiffness, exponent, restitution, damping }
    }

    /// Energy stored at these depths of the two stops [J].
    fn energy(&self, depth: f64) -> f64 {
        let n = self.exponent;
        if depth > 0.0 { self.stiffness * libm::pow(depth, n + 1.0) / (n + 1.0) } else { 0.0 }
    }

    /// The row of one stop.
    fn row(&self, part: u8, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        let (CoordinateMotion { q, u }, ahead, h) = (seen.coordinate(), step.coordinates[0], step.h);
        let bound = self.bounds[part as usize];
        let sense = if part == 0 { 1.0 } else { -1.0 };
        let (gap, closing) = (sense * (q - bound), -sense * u);
        if !bound.is_finite() || gap > STEPS_AHEAD * h * closing.max(-sense * ahead.u).max(0.0) {
            return;
        }
        let n = self.exponent;
        let speed = if seen.mode().held { seen.mode().speed } else { closing };
        // m v^2/2 = k depth^(n+1)/(n+1), and back in about three times depth/v
        let depth = libm::pow(0.5 * (n + 1.0) * ahead.inertia * speed * speed / self.stiffness, 1.0 / (n + 1.0));
        let resolved = speed > 0.0 && IMPACT_LENGTH * depth > STEPS_OF_IMPACT * h * speed;
        // forces that press it there change the speed by this much per step
        let gained = (ahead.u - u).abs();
        if !resolved && closing > 2.0 * gained + LEAST_REBOUND && gap <= closing * h {
            out.rebound(part, sense, self.restitution * closing, closing);
            return;
        }
        let rest = libm::pow(ahead.inertia * gained / h / self.stiffness, 1.0 / n);
        let depth = (-gap).max(closing * h - gap).max(rest).max(LEAST_DEPTH);
        let stiffness = self.stiffness * libm::pow(depth, n - 1.0);
        let damping = if resolved && gap < 0.0 { self.damping * stiffness * depth / speed } else { 0.0 };
        let strut =
            Strut { stiffness, damping, phi: gap, damped_by_step: false, bounds: [0.0, f64::INFINITY], bound: closing };
        out.strut(part, strut, &[RowEnd::Coordinate { coordinate: 0, factor: sense }]);
    }
}

impl Acting for Stop {
    fn attached(&self) -> Attached<'_> {
        Attached { coordinates: std::slice::from_ref(&self.at), ..Attached::default() }
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        DAMPED
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let CoordinateMotion { q, u } = seen.coordinate();
        let (depth, closing_speed, sense) = if q < self.bounds[0] {
            (self.bounds[0] - q, -u, 1.0)
        } else if q > self.bounds[1] {
            (q - self.bounds[1], u, -1.0)
        } else {
            return;
        };
        let elastic = self.stiffness * libm::pow(depth, self.exponent);
        let speed = seen.mode().speed.max(closing_speed);
        let lossy = if self.damping > 0.0 && speed > 0.0 {
            (elastic * self.damping * closing_speed / speed).max(-elastic)
        } else {
            0.0
        };
        let stored = elastic * depth / (self.exponent + 1.0);
        out.drive(sense * (elastic + lossy), stored, lossy * closing_speed);
    }

    fn watched(&self) -> usize {
        1
    }

    fn watch(&self, _: usize, seen: &Seen<'_>) -> f64 {
        let q = seen.coordinate().q;
        let depth = (self.bounds[0] - q).max(q - self.bounds[1]);
        if seen.mode().held { -depth } else { depth }
    }

    fn event(&self, _: usize, mode: ElementMode) -> Option<EventKind> {
        Some(if mode.held { EventKind::StopEnd } else { EventKind::StopStart })
    }

    fn trip(&self, _: usize, seen: &Seen<'_>) -> Trip {
        let mode = match seen.mode().held {
            true => ElementMode::default(),
            false => ElementMode { held: true, sense: 0.0, speed: seen.coordinate().u.abs() },
        };
        Trip::to(mode)
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        for part in 0..2 {
            self.row(part, seen, step, out);
        }
    }

    fn stored(&self, seen: &Seen<'_>) -> f64 {
        let q = seen.coordinate().q;
        self.energy(self.bounds[0] - q) + self.energy(q - self.bounds[1])
    }

    fn effort_of_row(&self, sum: f64, part: u8, force: f64) -> f64 {
        if part == 0 { sum + force } else { sum - force }
    }

    fn mode_after(&self, mode: ElementMode, row: &Solved) -> (ElementMode, bool) {
        let touched = row.lambda > 0.0 && !mode.held;
        let mode = if touched { ElementMode { held: true, speed: row.bound.max(0.0), ..mode } } else { mode };
        (mode, true)
    }

    fn lets_go(&self, seen: &Seen<'_>) -> bool {
        seen.mode().held && self.stored(seen) <= 0.0
    }

    fn start_warning(&self, start: CoordinateMotion) -> Option<String> {
        let q = start.q;
        let beyond = (self.bounds[0] - q).max(q - self.bounds[1]);
        (beyond > START_BEYOND * q.abs().max(1.0)).then(|| {
            format!(
                "its joint starts at {q:.6}, {beyond:.3e} (m or rad) beyond its stops at {:.6} and {:.6}: they push it back at once. \
                 help: give the joint a start value between them",
                self.bounds[0], self.bounds[1]
            )
        })
    }
}
