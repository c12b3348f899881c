//! A spring and a damper one behind the other, between two points at distance l (Maxwell's material). With x the stretch of the damper:
//!   tension = k (l - l0 - x),   c x' = tension.
//! In a step h, taken at its end, x+ = x + h tension+/c, so that the row of a spring of stiffness k/(1 + k h/c) and stretch l - l0 - x
//! gives the tension.

use super::{
    Acting, Action, Anchor, Attached, DAMPED, Effect, ElementAccount, ElementState, Output, RowEnd, RowList, Seen,
    StepAhead, Strut, UNBOUNDED,
};
use super::{Build, Element, ElementSpec};
use crate::six::Six;
use std::borrow::Cow;
use tippe_format::equation::Dimension;
use tippe_format::key::{Ends, Form, Range, Spec, key, number};
use tippe_format::part::Part;
use tippe_geometry::Vec3;

/// A spring and a damper one behind the other.
#[derive(Clone, Debug)]
pub struct Maxwell {
    /// The two points.
    pub ends: [Anchor; 2],
    /// k [N/m].
    pub stiffness: f64,
    /// c [N s/m].
    pub damping: f64,
    /// l0 [m].
    pub rest: f64,
}

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "maxwell",
        about: "A spring and a damper one behind the other, whose stretch is a state",
        keys: &[&[
            key("between", Form::Attachments(Ends::Bodies), "The two ends: BODY, BODY.FRAME or `world`")
                .required("such as between = [\"world\", \"mass\"]"),
            key("at", Form::Points, "The two ends in the pose as written, world [m]"),
            number("stiffness", Dimension::new(0, 1, -2), Range::Positive, "Stiffness of the spring [N/m]")
                .required(""),
            number("damping", Dimension::new(0, 1, -1), Range::Positive, "Damping of the damper [N s/m]").required(""),
            number(
                "rest",
                Dimension::LENGTH,
                Range::NotNegative,
                "Length without force at the start [m]; default that of the written pose",
            ),
        ]],
        example: "between = [\"a\", \"b\"]\nstiffness = 10\ndamping = 1",
        ..Spec::NONE
    },
    make: |part: &Part, build: &mut dyn Build| {
        let (between, at) = (part.between("between"), part.points("at"));
        let [a, b] = [0, 1].map(|k| build.anchor(&between[k], at.map(|at| at[k])));
        let ends = [a?, b?];
        let length = (build.pose(&ends[1]).1 - build.pose(&ends[0]).1).length();
        let rest = part.find_number("rest").unwrap_or(length);
        let (stiffness, damping) = (part.number("stiffness"), part.number("damping"));
        Some(Element::Maxwell(Maxwell { ends, stiffness, damping, rest }))
    },
    moves: false,
    rewrite: |part, element, pose| {
        if let Some(at) = part.points("at") {
            let ends = part.between("between");
            part.set("at", [0, 1].map(|k| pose.point(&ends[k].body, at[k])));
        }
        if let Element::Maxwell(own) = element {
            part.set("rest", own.rest);
        }
        Ok(())
    },
};

impl Maxwell {
    /// Unit vector from point 1 to point 2, and l - l0 - x [m]; `None` where the two points are one.
    fn stretch(&self, seen: &Seen<'_>) -> Option<(Vec3, f64)> {
        let d = seen.frames[1].p - seen.frames[0].p;
        let length = d.length();
        (length > 0.0).then(|| (d / length, length - self.rest - seen.states[0]))
    }
}

impl Acting for Maxwell {
    fn attached(&self) -> Attached<'_> {
        Attached { frames: &self.ends, ..Attached::default() }
    }

    /// Changes of x below a micrometre do not matter to the error of a step.
    fn states(&self) -> &[ElementState] {
        &[ElementState { name: Cow::Borrowed("stretch"), unit: "m", start: 0.0, scale: 1e-6 }]
    }

    fn outputs(&self) -> &[Output] {
        &[Output { name: Cow::Borrowed("tension"), unit: Some("N") }]
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        DAMPED
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let Some((along, stretch)) = self.stretch(seen) else { return };
        let tension = self.stiffness * stretch;
        out.wrench(1, seen.frames[1].p, Six::new(Vec3::ZERO, along * -tension));
        out.wrench(0, seen.frames[0].p, Six::new(Vec3::ZERO, along * tension));
        out.rates[0] = tension / self.damping;
        out.effect = Effect::new(tension, 0.5 * tension * stretch, tension * tension / self.damping);
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        let Some((along, phi)) = self.stretch(seen) else { return };
        let stiffness = self.stiffness / (1.0 + self.stiffness * step.h / self.damping);
        let strut =
            Strut { stiffness, damping: 0.0, phi, damped_by_step: true, bounds: UNBOUNDED, bound: f64::INFINITY };
        let [p1, p2] = [seen.frames[0].p, seen.frames[1].p];
        let ends = [
            RowEnd::Frame { frame: 0, at: p1, axes: Six::new(Vec3::ZERO, -along) },
            RowEnd::Frame { frame: 1, at: p2, axes: Six::new(Vec3::ZERO, along) },
        ];
        out.strut(0, strut, &ends);
    }

    fn stored(&self, seen: &Seen<'_>) -> f64 {
        self.stretch(seen).map_or(0.0, |(_, stretch)| 0.5 * self.stiffness * stretch * stretch)
    }

    fn effort_of_row(&self, _: f64, _: u8, force: f64) -> f64 {
        -force
    }

    fn line(&self) -> Option<&'static str> {
        Some("spring")
    }
}
