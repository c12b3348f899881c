//! The joint between two elements of a flexible cable, each of length l: a bushing as stiff across as along,
//!   k = EA/l,   k_t = (GJ, EI, EI)/l about the axis along the cable and the two across,
//! of half a cell, 2 EA/l, 2 EI/l, 2 GJ/l, at the ends of the cable. With d and theta as in `bushing.rs`, its material loses D = tau K of their rates:
//!   f = -k (d + tau v),   torque = -J^-T K_t (theta + tau theta'),   theta' = J^-1 w,
//! and each of six directions is one row of a fixed step. They stand for a stiff rope: along it a step damps them, and bodies move as its end finds
//! them, so that the pull of a taut cable, whose direction stands still in a step, makes no energy.
//!
//! In a fixed step h the elements of a taut cable between heavy bodies swing faster than the step: 2 sqrt(T/(m l)), with T the tension and m the
//! mass of an element. The direction of the pull stands still within a step, so that this stiffness acts from its beginning, and needs damping; in
//! the rate at which joints bend,   c = 5 h^3 T^2/(32 m)   where 3 h^2 T > m l,   it takes nothing from slow modes. (The worst lateral mode of
//! a chain, of stiffness k_t mu and damping c mu^2/l^2 with k_t = T/l and mu up to 4, needs c >= h^3 T^2/(32 m) for point masses; rods five times that.
//! Ends of rods that swing in turn have K = 4 T/l on M = m/3, stable up to h^2 K = 4 M without it.)
//!
//! Where a cable has a budget of joints, a fixed step welds those that move little and releases those that would bend: `Welding`.

use super::bushing::{Bushing, inverse_left_jacobian};
use super::{
    Acting, Action, Anchor, Attached, Circle, Course, Effect, ElementAccount, ElementMode, Finish, Output, RowEnd,
    RowList, Seen, StepAhead, Strut, Trip, UNBOUNDED, Welding,
};
use super::{Build, Element, ElementSpec};
use crate::cause::Cause;
use crate::event::EventKind;
use crate::six::Six;
use std::borrow::Cow;
use tippe_format::equation::Dimension;
use tippe_format::key::{Ends, Form, Range, Spec, any, key, number};
use tippe_format::part::Part;
use tippe_geometry::Vec3;

/// The joint between two elements of a cable.
#[derive(Clone, Debug)]
pub struct CableJoint {
    /// Its two frames, x along the cable.
    pub ends: [Anchor; 2],
    /// k [N/m].
    pub stiffness: f64,
    /// k_t: about the axis of the cable, and across [N m/rad].
    pub turning_stiffness: Vec3,
    /// tau [s].
    pub damping_time: f64,
    /// m: mass of an element; zero at ends of the cable [kg].
    pub mass: f64,
    /// l: length of an element [m].
    pub length: f64,
    /// How many joints of its cable may move at once, and the angle that is worth a joint [rad], if it may be welded.
    pub budget: Option<(usize, f64)>,
    /// Tension at which it breaks [N]; infinite if it does not.
    pub breaking: f64,
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
            number(
                "breaking_load",
                Dimension::FORCE,
                Range::Positive,
                "Tension at which it breaks [N]; never, if there is none",
            ),
            any("joints", Range::Count, "Realtime: joints of its cable that may move at once; the others are welded"),
            any("join_angle", Range::Positive, "Realtime: a bend that is worth a joint [rad]").or(0.01),
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
    let length = part.number("length");
    let bending = part.number("bending_stiffness") / length;
    Some(Element::CableJoint(Box::new(CableJoint {
        ends: [a?, b?],
        stiffness: part.number("axial_stiffness") / length,
        turning_stiffness: Vec3::new(part.number("torsional_stiffness") / length, bending, bending),
        damping_time: part.number("damping_time"),
        mass: part.number("mass"),
        length,
        budget: part.find_number("joints").map(|joints| (joints as usize, part.number("join_angle"))),
        breaking: part.find_number("breaking_load").unwrap_or(f64::INFINITY),
    })))
}

impl CableJoint {
    /// Energy that it stores with this offset and turn [J].
    fn energy(&self, d: Vec3, theta: Vec3) -> f64 {
        0.5 * (self.stiffness * d.length_squared() + theta.dot(self.turning_stiffness * theta))
    }

    /// Damping of bending that a step needs [N m s].
    fn bend_damping(&self, tension: f64, h: f64) -> f64 {
        let fast = self.mass > 0.0 && 3.0 * h * h * tension > self.mass * self.length;
        if fast { 5.0 * h * h * h * tension * tension / (32.0 * self.mass) } else { 0.0 }
    }
}

impl Acting for CableJoint {
    fn attached(&self) -> Attached<'_> {
        Attached { frames: &self.ends, ..Attached::default() }
    }

    fn sees_frames_alone(&self) -> bool {
        true
    }

    fn joins_as_one(&self) -> bool {
        true
    }

    fn course(&self) -> Option<Course> {
        let point = Circle { radius: 0.0, sense: 1.0 };
        Some(Course {
            circles: vec![point],
            tensions: vec![0],
            rests: Vec::new(),
            feeds: [None, None],
            segments: Vec::new(),
        })
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
        const LOSS: ElementAccount = ElementAccount { cause: Cause::Damping, name: "loss" };
        const BROKEN: ElementAccount = ElementAccount { cause: Cause::Breaking, name: "broken" };
        if self.breaking.is_finite() { &[LOSS, BROKEN] } else { &[LOSS] }
    }

    fn watched(&self) -> usize {
        usize::from(self.breaking.is_finite())
    }

    fn watch(&self, _: usize, seen: &Seen<'_>) -> f64 {
        let (d, _) = Bushing::offset(seen);
        if seen.mode().held { -1.0 } else { self.stiffness * d.length() / self.breaking - 1.0 }
    }

    fn event(&self, _: usize, mode: ElementMode) -> Option<EventKind> {
        (!mode.held).then_some(EventKind::Break)
    }

    fn trip(&self, _: usize, seen: &Seen<'_>) -> Trip {
        Trip { mode: ElementMode { held: true, ..seen.mode() }, rate: None, lost: self.stored(seen) }
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        if seen.mode().held {
            out.shown.extend([0.0; 2]);
            return;
        }
        let [f1, f2] = [&seen.frames[0], &seen.frames[1]];
        let (R1, tau) = (f1.R.transpose(), self.damping_time);
        let (d, theta) = Bushing::offset(seen);
        let v = R1 * (f2.v - f1.v - f1.w.cross(f2.p - f1.p));
        let grows = inverse_left_jacobian(theta);
        let rate = grows * (R1 * (f2.w - f1.w));
        let (pull, moment) = (self.stiffness * d, self.turning_stiffness * theta);
        let [force, torque] = [-(pull + self.stiffness * tau * v), -(moment + self.turning_stiffness * (tau * rate))];
        let on_2 = Six::new(f1.R * (grows.transpose() * torque), f1.R * force);
        out.wrench(1, f2.p, on_2);
        out.wrench(0, f2.p, -on_2);
        let lost = tau * (self.stiffness * v.length_squared() + rate.dot(self.turning_stiffness * rate));
        out.effect = Effect::new(pull.length().copysign(pull.x), self.energy(d, theta), lost);
        out.shown.extend([libm::hypot(moment.y, moment.z), moment.x]);
    }

    /// Rows along the axes of frame 1, and about the directions in which theta grows.
    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        if seen.mode().held {
            return;
        }
        let [f1, f2] = [&seen.frames[0], &seen.frames[1]];
        let (d, theta) = Bushing::offset(seen);
        let step_damping = self.bend_damping(self.stiffness * d.length(), step.h);
        let grows = (f1.R * inverse_left_jacobian(theta).transpose()).to_cols_array_2d();
        let between = |along: Six| {
            [RowEnd::Frame { frame: 0, at: f2.p, axes: -along }, RowEnd::Frame { frame: 1, at: f2.p, axes: along }]
        };
        let strut = |stiffness: f64, phi, damped_by_step| Strut {
            stiffness,
            damping: stiffness * self.damping_time,
            phi,
            damped_by_step,
            bounds: UNBOUNDED,
            bound: f64::INFINITY,
        };
        for (i, axis) in [f1.R.x_axis, f1.R.y_axis, f1.R.z_axis].into_iter().enumerate() {
            out.strut(i as u8, strut(self.stiffness, d[i], true), &between(Six::new(Vec3::ZERO, axis)));
        }
        for i in 0..3 {
            let about = between(Six::new(Vec3::from_array(grows[i]), Vec3::ZERO));
            let needed = if i == 0 { 0.0 } else { step_damping };
            out.damped_strut(3 + i as u8, strut(self.turning_stiffness[i], theta[i], false), needed, &about);
        }
    }

    fn stored(&self, seen: &Seen<'_>) -> f64 {
        if seen.mode().held {
            return 0.0;
        }
        let (d, theta) = Bushing::offset(seen);
        self.energy(d, theta)
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

    fn finishes(&self) -> bool {
        self.breaking.is_finite()
    }

    /// Breaks where the rows along the step pulled with more than it bears.
    fn finish(&self, step: &mut Finish<'_>) {
        let pulls = step.impulses.iter().filter(|(part, _)| *part < 3);
        let tension = libm::sqrt(pulls.map(|(_, impulse)| impulse * impulse).sum::<f64>()) / step.h;
        if step.modes[0].held || tension <= self.breaking {
            return;
        }
        let (d, theta) = Bushing::between(&step.after.frames);
        step.lost[1] += self.energy(d, theta);
        step.happened.push((0, step.modes[0]));
        step.modes[0].held = true;
    }

    fn line(&self) -> Option<&'static str> {
        None
    }

    fn welding(&self) -> Option<Welding> {
        let (joints, angle) = self.budget?;
        let bending = self.turning_stiffness.y;
        Some(Welding {
            joints,
            angle,
            bending,
            axial: self.stiffness * self.length,
            length: self.length,
            mass: self.mass,
        })
    }
}
