//! A spring and damper on a coordinate q:   f = -k (q - q0) - c q'.

use super::written::COORDINATE;
use super::{Acting, Action, At, Attached, DAMPED, ElementAccount, RowEnd, RowList, Seen, StepAhead, Strut, UNBOUNDED};
use super::{Build, Element, ElementSpec};
use tippe_format::key::{Along, Range, Spec, along, flag};
use tippe_format::part::Part;

/// A spring and damper on a joint's coordinate.
#[derive(Clone, Debug)]
pub struct JointSpring {
    /// Where.
    pub at: At,
    /// k [N/m or N m/rad].
    pub stiffness: f64,
    /// c [N s/m or N m s/rad].
    pub damping: f64,
    /// q0 [m or rad].
    pub rest: f64,
    /// Its force in a fixed step is that of the end of the step.
    pub damped_by_step: bool,
}

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "spring",
        about: "A spring and damper on one coordinate: f = -stiffness (q - rest) - damping q'",
        keys: &[&[
            COORDINATE,
            along("stiffness", Along::Stiffness, Range::NotNegative, "Stiffness [N/m or N m/rad]"),
            along("damping", Along::Damping, Range::NotNegative, "Damping [N s/m or N m s/rad]"),
            along("rest", Along::Value, Range::Any, "Coordinate without force [m or rad]").or(0.0),
            flag(
                "damped_by_step",
                "Realtime: its force is that of the end of the step, which damps it; for springs that stand for stiff constraints",
            ),
        ]],
        check: |check| check.at_least_one(&["stiffness", "damping"], ""),
        example: "stiffness = 3\ndamping = 0.1",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let [stiffness, damping, rest] = ["stiffness", "damping", "rest"].map(|key| part.number(key));
    Some(Element::JointSpring(JointSpring {
        at: build.coordinate()?,
        stiffness,
        damping,
        rest,
        damped_by_step: part.flag("damped_by_step"),
    }))
}

impl Acting for JointSpring {
    fn attached(&self) -> Attached<'_> {
        Attached { coordinates: std::slice::from_ref(&self.at), ..Attached::default() }
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        DAMPED
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let c = seen.coordinate();
        let effort = -self.stiffness * (c.q - self.rest) - self.damping * c.u;
        out.drive(effort, self.stored(seen), self.damping * c.u * c.u);
    }

    fn acts_on_given(&self) -> bool {
        true
    }

    fn rows(&self, seen: &Seen<'_>, _: &StepAhead<'_>, out: &mut RowList) {
        let phi = seen.coordinate().q - self.rest;
        let (stiffness, damping) = (self.stiffness, self.damping);
        let strut = Strut {
            stiffness,
            damping,
            phi,
            damped_by_step: self.damped_by_step,
            bounds: UNBOUNDED,
            bound: f64::INFINITY,
        };
        out.strut(0, strut, &[RowEnd::Coordinate { coordinate: 0, factor: 1.0 }]);
    }

    fn stored(&self, seen: &Seen<'_>) -> f64 {
        let stretch = seen.coordinate().q - self.rest;
        0.5 * self.stiffness * stretch * stretch
    }
}
