//! A spring and damper between two points at distance l:   tension = k (l - l0) + c l',   or a law of l, l - l0, l'.
//! A rope only pulls: no tension at l <= l0, and its damper takes no more than its spring gives.

use super::{
    Acting, Action, Anchor, Attached, DAMPED, Effect, ElementAccount, InStep, LOAD_WORK, Output, RowEnd, RowList, Seen,
    StepAhead, Strut, UNBOUNDED,
};
use super::{Build, Element, ElementSpec, NewPose};
use crate::network::Formula;
use crate::six::Six;
use std::borrow::Cow;
use tippe_format::equation::Dimension;
use tippe_format::key::{Ends, Form, Range, Spec, flag, key, number};
use tippe_format::part::Part;
use tippe_geometry::Vec3;

/// What it tells its law: l, l - l0 [m], l' [m/s].
pub const NAMES: [&str; 3] = ["length", "stretch", "rate"];
/// A rope gets its row when it may be taut within this many steps at its present speed [-].
const STEPS_AHEAD: f64 = 2.0;

/// A spring and damper between two points.
#[derive(Clone, Debug)]
pub struct Spring {
    /// The two points.
    pub ends: [Anchor; 2],
    /// k [N/m].
    pub stiffness: f64,
    /// c [N s/m].
    pub damping: f64,
    /// l0 [m].
    pub rest: f64,
    /// Tension [N] instead; its own quantities are those of `NAMES`.
    pub law: Option<Formula>,
    /// It can only pull.
    pub rope: bool,
    /// Its force in a fixed step is that of the end of the step.
    pub damped_by_step: bool,
}

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "spring",
        about: "A spring and damper between two points, pulling them together by stiffness (length - rest) + damping length'",
        keys: &[&[
            key("between", Form::Attachments(Ends::Bodies), "The two ends: BODY, BODY.FRAME or `world`")
                .required("such as between = [\"world\", \"crank\"]"),
            key("at", Form::Points, "The two ends in the pose as written, world [m]"),
            number("stiffness", Dimension::new(0, 1, -2), Range::NotNegative, "Stiffness [N/m]"),
            number("damping", Dimension::new(0, 1, -1), Range::NotNegative, "Damping [N s/m]"),
            number(
                "rest",
                Dimension::LENGTH,
                Range::NotNegative,
                "Length without force [m]; default that of the written pose",
            ),
            key(
                "law",
                Form::Equation(&NAMES),
                "Tension [N] over length, stretch, rate, instead of stiffness and damping",
            ),
            flag("rope", "True if it can only pull"),
            flag(
                "damped_by_step",
                "Realtime: its force is that of the end of the step, which damps it; for springs that stand for stiff constraints",
            ),
        ]],
        check: |check| {
            check.not_both("law", "stiffness");
            check.not_both("law", "damping");
            check.at_least_one(&["stiffness", "damping", "law"], "");
        },
        example: "between = [\"a\", \"b\"]\nstiffness = 10",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite,
};

/// Ends move along; the length without force stays as it is.
fn rewrite(part: &mut Part, element: &Element, pose: &dyn NewPose) -> Result<(), String> {
    if let Some(at) = part.points("at") {
        let ends = part.between("between");
        part.set("at", [0, 1].map(|k| pose.point(&ends[k].body, at[k])));
    }
    if let Element::Spring(spring) = element {
        part.set("rest", spring.rest);
    }
    Ok(())
}

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let (between, at) = (part.between("between"), part.points("at"));
    let [a, b] = [0, 1].map(|k| build.anchor(&between[k], at.map(|at| at[k])));
    let (a, b) = (a?, b?);
    let law = match part.equation("law") {
        None => None,
        Some(law) => Some(build.formula(&[law], &NAMES)?),
    };
    let length = (build.pose(&b).1 - build.pose(&a).1).length();
    Some(Element::Spring(Spring {
        ends: [a, b],
        stiffness: part.number("stiffness"),
        damping: part.number("damping"),
        rest: part.find_number("rest").unwrap_or(length),
        law,
        rope: part.flag("rope"),
        damped_by_step: part.flag("damped_by_step"),
    }))
}

/// Its points at one instant.
struct Line {
    /// Unit vector from point 1 to point 2, resolved in world.
    along: Vec3,
    /// l [m].
    length: f64,
    /// l' [m/s].
    rate: f64,
}

impl Spring {
    /// `None` where the two points are one.
    fn line(seen: &Seen<'_>) -> Option<Line> {
        let [f1, f2] = [&seen.frames[0], &seen.frames[1]];
        let d = f2.p - f1.p;
        let length = d.length();
        if length == 0.0 {
            return None;
        }
        let along = d / length;
        Some(Line { along, length, rate: along.dot(f2.v - f1.v) })
    }

    fn pull(&self, seen: &Seen<'_>, line: &Line) -> Effect {
        let Line { length, rate, .. } = *line;
        let stretch = length - self.rest;
        if let Some(law) = &self.law {
            let tension = seen.value(law, &[length, stretch, rate]);
            let tension = if self.rope { tension.max(0.0) } else { tension };
            return Effect::new(tension, 0.0, -tension * rate);
        }
        if self.rope && stretch <= 0.0 {
            return Effect::default();
        }
        let elastic = self.stiffness * stretch;
        let lossy = self.damping * rate;
        let lossy = if self.rope { lossy.max(-elastic) } else { lossy };
        Effect::new(elastic + lossy, 0.5 * self.stiffness * stretch * stretch, lossy * rate)
    }
}

impl Acting for Spring {
    fn attached(&self) -> Attached<'_> {
        Attached { frames: &self.ends, formula: self.law.as_ref(), ..Attached::default() }
    }

    fn outputs(&self) -> &[Output] {
        &[Output { name: Cow::Borrowed("tension"), unit: Some("N") }]
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        if self.law.is_some() { LOAD_WORK } else { DAMPED }
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let Some(line) = Spring::line(seen) else { return };
        let effect = self.pull(seen, &line);
        let on_2 = line.along * -effect.effort;
        out.wrench(1, seen.frames[1].p, Six::new(Vec3::ZERO, on_2));
        out.wrench(0, seen.frames[0].p, Six::new(Vec3::ZERO, -on_2));
        out.effect = effect;
    }

    fn in_step(&self, _: &Seen<'_>, _: f64) -> InStep {
        if self.law.is_some() { InStep::Load } else { InStep::Rows }
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        let Some(Line { along, length, .. }) = Spring::line(seen) else { return };
        let [f1, f2] = [&seen.frames[0], &seen.frames[1]];
        let phi = length - self.rest;
        if self.rope && phi < 0.0 {
            let ahead = |k: usize, axis: Vec3| axis.dot(step.frames[k].linear).max(axis.dot(seen.frames[k].v));
            if phi + STEPS_AHEAD * step.h * (ahead(0, -along) + ahead(1, along)) < 0.0 {
                return;
            }
        }
        let bounds = if self.rope { [f64::NEG_INFINITY, 0.0] } else { UNBOUNDED };
        let ends = [
            RowEnd::Frame { frame: 0, at: f1.p, axes: Six::new(Vec3::ZERO, -along) },
            RowEnd::Frame { frame: 1, at: f2.p, axes: Six::new(Vec3::ZERO, along) },
        ];
        let Spring { stiffness, damping, damped_by_step, .. } = *self;
        let strut = Strut { stiffness, damping, phi, damped_by_step, bounds, bound: f64::INFINITY };
        out.strut(0, strut, &ends);
    }

    fn stored(&self, seen: &Seen<'_>) -> f64 {
        if self.law.is_some() {
            return 0.0;
        }
        let stretch = (seen.frames[1].p - seen.frames[0].p).length() - self.rest;
        let stretch = if self.rope { stretch.max(0.0) } else { stretch };
        0.5 * self.stiffness * stretch * stretch
    }

    fn effort_of_row(&self, _: f64, _: u8, force: f64) -> f64 {
        -force
    }

    fn line(&self) -> Option<&'static str> {
        Some(if self.rope { "rope" } else { "spring" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementMode;
    use crate::kinematics::Kinematics;

    fn rope_at(x: f64, v: f64) -> Action {
        let world = Anchor { body: None, p: Vec3::ZERO, R: tippe_geometry::Mat3::IDENTITY };
        let rope = Spring {
            ends: [world; 2],
            stiffness: 100.0,
            damping: 1.0,
            rest: 1.0,
            law: None,
            rope: true,
            damped_by_step: false,
        };
        let frames = [
            Kinematics::WORLD,
            Kinematics { p: Vec3::new(x, 0.0, 0.0), v: Vec3::new(v, 0.0, 0.0), ..Kinematics::WORLD },
        ];
        let look = |_| 0.0;
        let seen = Seen {
            t: 0.0,
            frames: &frames,
            coordinates: &[],
            states: &[],
            modes: &[ElementMode::default()],
            kept: &[],
            holding: 0.0,
            look: &look,
        };
        let mut out = Action::default();
        rope.act(&seen, &mut out);
        out
    }

    #[test]
    fn a_rope_does_not_push() {
        let slack = rope_at(0.9, 0.0);
        assert!(slack.wrenches.iter().all(|w| w.on.linear == Vec3::ZERO));
        let taut = rope_at(1.1, 0.5);
        assert!((taut.wrenches[0].on.linear.x + 10.5).abs() < 1e-12);
        assert!((taut.effect.stored - 0.5).abs() < 1e-12 && (taut.effect.powers[0] - 0.25).abs() < 1e-12);
    }
}
