//! A force and a torque at a frame, as equations of its motion:   f = f(t, p, v, w),   tau = tau(t, p, v, w).

use super::{
    Acting, Action, Anchor, Attached, Effect, ElementAccount, FORCE, InStep, LOAD_WORK, Output, Push, Seen, Wrench,
};
use super::{Build, Element, ElementSpec};
use crate::kinematics::Kinematics;
use crate::network::Formula;
use crate::six::Six;
use std::borrow::Cow;
use tippe_format::key::{Form, Spec, key, word};
use tippe_format::part::{Equation, Part};
use tippe_geometry::{Mat3, Vec3};

/// What its frame tells its equations, all resolved as the force is: position, velocity, angular velocity.
pub const NAMES: [&str; 9] = ["x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz"];

const INPUTS: &[Output] = &[
    Output { name: Cow::Borrowed("force.x"), unit: Some("N") },
    Output { name: Cow::Borrowed("force.y"), unit: Some("N") },
    Output { name: Cow::Borrowed("force.z"), unit: Some("N") },
    Output { name: Cow::Borrowed("torque.x"), unit: Some("N m") },
    Output { name: Cow::Borrowed("torque.y"), unit: Some("N m") },
    Output { name: Cow::Borrowed("torque.z"), unit: Some("N m") },
];

/// A force and a torque at a frame.
#[derive(Clone, Debug)]
pub struct Applied {
    /// Where.
    pub on: Anchor,
    /// Resolved in the frame, not in world.
    pub local: bool,
    /// Force (results 0 to 2) [N] and torque (3 to 5) [N m]; its own quantities are those of `NAMES`.
    pub formula: Formula,
}

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "applied",
        about: "A force and a torque on one body at a frame",
        keys: &[&[
            key("on", Form::Attachment, "Where it acts: BODY or BODY.FRAME")
                .required("the body or BODY.FRAME it acts on"),
            key("force", Form::Equations(3, &NAMES), "Force, three numbers or equations [N]"),
            key("torque", Form::Equations(3, &NAMES), "Torque, three numbers or equations [N m]"),
            word("resolved", &["world", "local"], "Axes of force and torque").or_word("world"),
        ]],
        check: |check| check.at_least_one(&["force", "torque"], "such as force = [0, 0, \"10*sin(t)\"]"),
        example: "on = \"a\"\nforce = [1, 0, 0]",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let zero = Equation { name: "zero".into(), text: "0".into(), ..Equation::default() };
    let mut equations: Vec<&Equation> = Vec::new();
    for key in ["force", "torque"] {
        match part.equations(key) {
            [] => equations.extend([&zero; 3]),
            three => equations.extend(three),
        }
    }
    let formula = build.formula(&equations, &NAMES);
    let on = part.attachments("on").first().and_then(|on| build.anchor(on, None));
    let local = part.word("resolved") == "local";
    Some(Element::Applied(Applied { on: on?, local, formula: formula? }))
}

impl Applied {
    /// Axes in which force and torque are resolved.
    fn axes(&self, kin: &Kinematics) -> Option<Mat3> {
        self.local.then_some(kin.R)
    }
}

impl Acting for Applied {
    fn attached(&self) -> Attached<'_> {
        Attached { frames: std::slice::from_ref(&self.on), formula: Some(&self.formula), ..Attached::default() }
    }

    fn outputs(&self) -> &[Output] {
        FORCE
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        LOAD_WORK
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let kin = &seen.frames[0];
        let axes = self.axes(kin);
        let seen_in = |v: Vec3| axes.map_or(v, |R| R.transpose() * v);
        let (p, v, w) = (seen_in(kin.p), seen_in(kin.v), seen_in(kin.w));
        let own = [p.x, p.y, p.z, v.x, v.y, v.z, w.x, w.y, w.z];
        let mut six = [0.0; 6];
        self.formula.eval(|source| seen.read(source, &own), &mut six);
        let in_world = |v: Vec3| axes.map_or(v, |R| R * v);
        let force = in_world(Vec3::new(six[0], six[1], six[2]));
        let torque = in_world(Vec3::new(six[3], six[4], six[5]));
        out.wrench(0, kin.p, Six::new(torque, force));
        out.effect = Effect::new(force.length(), 0.0, force.dot(kin.v) + torque.dot(kin.w));
    }

    fn in_step(&self, _: &Seen<'_>, _: f64) -> InStep {
        InStep::Load
    }

    fn effort_of_row(&self, sum: f64, part: u8, force: f64) -> f64 {
        if part < 3 { sum } else { libm::hypot(sum, force) }
    }

    fn inputs(&self) -> &[Output] {
        INPUTS
    }

    fn push(&self, seen: &Seen<'_>, input: usize, value: f64) -> Push {
        let kin = &seen.frames[0];
        let axis = [Vec3::X, Vec3::Y, Vec3::Z][input % 3] * value;
        let axis = self.axes(kin).map_or(axis, |R| R * axis);
        let on = if input < 3 { Six::new(Vec3::ZERO, axis) } else { Six::new(axis, Vec3::ZERO) };
        Push::Frame(Wrench { frame: 0, at: kin.p, on })
    }
}
