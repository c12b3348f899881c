//! The joint between two elements of a flexible cable, each of length l: a bushing as stiff across as along,
//!   k = EA/l,   k_t = (GJ, EI, EI)/l about the axis along the cable and the two across,
//! of half a cell, 2 EA/l, 2 EI/l, 2 GJ/l, at the ends of the cable. Its material loses D = tau K.
//!
//! In a fixed step h the elements of a taut cable between heavy bodies swing faster than the step: 2 sqrt(T/(m l)), with T the tension and m the
//! mass of an element. The direction of the pull stands still within a step, so that this stiffness acts from its beginning, and needs damping; in
//! the rate at which joints bend,   c = 5 h^3 T^2/(32 m)   where 3 h^2 T > m l,   it takes nothing from slow modes. (The worst lateral mode of
//! a chain, of stiffness k_t mu and damping c mu^2/l^2 with k_t = T/l and mu up to 4, needs c >= h^3 T^2/(32 m) for point masses; rods five times that.
//! Ends of rods that swing in turn have K = 4 T/l on M = m/3, stable up to h^2 K = 4 M without it.)

use super::bushing::Bushing;
use super::{
    Acting, Action, Attached, Circle, Course, ElementAccount, Output, RowEnd, RowList, Seen, StepAhead, Strut,
    UNBOUNDED,
};
use super::{Build, Element, ElementSpec};
use crate::cause::Cause;
use crate::six::Six;
use std::borrow::Cow;
use tippe_format::equation::Dimension;
use tippe_format::key::{Ends, Form, Range, Spec, key, number};
use tippe_format::part::Part;
use tippe_geometry::Vec3;

/// First part of the rows that damp bending for the step.
const BEND: u8 = 9;

/// The joint between two elements of a cable.
#[derive(Clone, Debug)]
pub struct CableJoint {
    /// Its springs and dampers of stretch; x runs along the cable. They stand for a stiff rope: a step damps them, and bodies move as its end finds
    /// them, so that the pull of a taut cable, whose direction stands still in a step, makes no energy.
    pub stretching: Bushing,
    /// Those of bending and twist.
    pub bending: Bushing,
    /// m: mass of an element; zero at ends of the cable [kg].
    pub mass: f64,
    /// l: length of an element [m].
    pub length: f64,
}

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "cable_joint",
        about: "The joint between two elements of a flexible cable, whose frames have x along it",
        keys: &[&[
            key("between", Form::Attachments(Ends::Bodies), "The two ends: BODY, BODY.FRAME or `world`")
                .required("such as between = [\"rope.e1.end\", \"rope.e2.begin\"]"),
            number(
                "length",
                Dimension::LENGTH,
                Range::Positive,
                "Length of cable that gives in it: an element, half of one at its ends [m]",
            )
            .required(""),
            number(
                "mass",
                Dimension::MASS,
                Range::Positive,
                "Mass of an element; none at ends, whose bending the step does not damp [kg]",
            ),
            number("axial_stiffness", Dimension::FORCE, Range::Positive, "EA: tension per strain [N]").required(""),
            number(
                "bending_stiffness",
                Dimension::new(3, 1, -2),
                Range::NotNegative,
                "EI: moment per curvature [N m^2]",
            )
            .or(0.0),
            number("torsional_stiffness", Dimension::new(3, 1, -2), Range::NotNegative, "GJ: torque per twist [N m^2]")
                .or(0.0),
            number(
                "damping_time",
                Dimension::TIME,
                Range::NotNegative,
                "Damping of the material over its stiffness [s]",
            )
            .or(0.0),
        ]],
        example: "between = [\"a\", \"b\"]\nlength = 1\nmass = 1\naxial_stiffness = 10",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let between = part.between("between");
    let [a, b] = [0, 1].map(|k| build.anchor(&between[k], None));
    let (length, tau) = (part.number("length"), part.number("damping_time"));
    let stiffness = Vec3::splat(part.number("axial_stiffness") / length);
    let bending = part.number("bending_stiffness") / length;
    let turning_stiffness = Vec3::new(part.number("torsional_stiffness") / length, bending, bending);
    let (none, ends) = (Vec3::ZERO, [a?, b?]);
    let stretching = Bushing {
        ends,
        stiffness,
        damping: stiffness * tau,
        turning_stiffness: none,
        turning_damping: none,
        damped_by_step: true,
    };
    let bending = Bushing {
        ends,
        stiffness: none,
        damping: none,
        turning_stiffness,
        turning_damping: turning_stiffness * tau,
        damped_by_step: false,
    };
    Some(Element::CableJoint(Box::new(CableJoint { stretching, bending, mass: part.number("mass"), length })))
}

impl CableJoint {
    /// Forces and torques of its springs, in frame 1 [N, N m].
    fn pulls(&self, seen: &Seen<'_>) -> (Vec3, Vec3) {
        let (d, theta) = Bushing::offset(seen);
        (self.stretching.stiffness * d, self.bending.turning_stiffness * theta)
    }

    /// Damping of bending that a step needs [N m s].
    fn bend_damping(&self, tension: f64, h: f64) -> f64 {
        let fast = self.mass > 0.0 && 3.0 * h * h * tension > self.mass * self.length;
        if fast { 5.0 * h * h * h * tension * tension / (32.0 * self.mass) } else { 0.0 }
    }
}

impl Acting for CableJoint {
    fn attached(&self) -> Attached<'_> {
        self.stretching.attached()
    }

    fn course(&self) -> Option<Course> {
        let point = Circle { radius: 0.0, sense: 1.0 };
        Some(Course { circles: vec![point], tensions: vec![0], rests: Vec::new(), feeds: [None, None] })
    }

    fn outputs(&self) -> &[Output] {
        const OUTPUTS: &[Output] = &[
            Output { name: Cow::Borrowed("tension"), unit: Some("N") },
            Output { name: Cow::Borrowed("bending"), unit: Some("N m") },
            Output { name: Cow::Borrowed("torque"), unit: Some("N m") },
        ];
        OUTPUTS
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        &[ElementAccount { cause: Cause::Damping, name: "loss" }]
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        self.stretching.act(seen, out);
        let stretching = out.effect;
        self.bending.act(seen, out);
        let (force, torque) = self.pulls(seen);
        out.effect.effort = force.length().copysign(force.x);
        out.effect.stored += stretching.stored;
        out.effect.powers[0] += stretching.powers[0];
        out.shown.extend([libm::hypot(torque.y, torque.z), torque.x]);
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        self.stretching.rows(seen, step, out);
        self.bending.rows(seen, step, out);
        let (force, _) = self.pulls(seen);
        let damping = self.bend_damping(force.length(), step.h);
        if damping == 0.0 {
            return;
        }
        let [f1, f2] = [&seen.frames[0], &seen.frames[1]];
        for (k, axis) in [f1.R.y_axis, f1.R.z_axis].into_iter().enumerate() {
            let along = Six::new(axis, Vec3::ZERO);
            let ends =
                [RowEnd::Frame { frame: 0, at: f2.p, axes: -along }, RowEnd::Frame { frame: 1, at: f2.p, axes: along }];
            let strut = Strut {
                stiffness: 0.0,
                damping,
                phi: 0.0,
                damped_by_step: true,
                bounds: UNBOUNDED,
                bound: f64::INFINITY,
            };
            out.strut(BEND + k as u8, strut, &ends);
        }
    }

    fn stored(&self, seen: &Seen<'_>) -> f64 {
        self.stretching.stored(seen) + self.bending.stored(seen)
    }

    fn outputs_of_row(&self, _: &Seen<'_>, part: u8, force: f64, outputs: &mut [f64]) {
        let [tension, bending, torque] = outputs else { return };
        match part {
            0 => *tension = -force,
            1 | 2 => *tension = libm::hypot(*tension, force).copysign(*tension),
            3 => *torque = -force,
            4 | 5 => *bending = libm::hypot(*bending, force),
            _ => {}
        }
    }

    fn line(&self) -> Option<&'static str> {
        None
    }
}
