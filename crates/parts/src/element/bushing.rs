//! Six springs and dampers between two frames.
//!
//! With d and v the place and velocity of frame 2 seen in frame 1, theta the rotation vector and w the relative angular
//! velocity there:   f = -K d - D v,   torque = -J^-T K_t theta - D_t w,   theta' = J^-1 w   (J the left Jacobian of the
//! exponential map), so that K_t stores theta^T K_t theta/2 exactly. The force acts at the origin of frame 2.

use super::{
    Acting, Action, Anchor, Attached, DAMPED, Effect, ElementAccount, FORCE, Output, RowEnd, RowList, Seen, StepAhead,
    Strut, UNBOUNDED,
};
use super::{Build, Element, ElementSpec, NewPose};
use crate::kinematics::{Kinematics, rotation_vector};
use crate::six::Six;
use tippe_format::equation::Dimension;
use tippe_format::key::{Ends, Form, Range, Spec, flag, key, per_axis};
use tippe_format::part::Part;
use tippe_geometry::{Mat3, Vec3};

/// Turns smaller than this take the series of c instead of its closed form, t^2 [rad^2]: both agree to 1e-13 there.
const SMALL_TURN: f64 = 1e-6;

/// Six springs and dampers along and about the axes of frame 1.
#[derive(Clone, Debug)]
pub struct Bushing {
    /// The two frames.
    pub ends: [Anchor; 2],
    /// Diagonal of K [N/m].
    pub stiffness: Vec3,
    /// Diagonal of D [N s/m].
    pub damping: Vec3,
    /// Diagonal of K_t [N m/rad].
    pub turning_stiffness: Vec3,
    /// Diagonal of D_t [N m s/rad].
    pub turning_damping: Vec3,
    /// Its forces in a fixed step are those of the end of the step.
    pub damped_by_step: bool,
}

const KEYS: [&str; 4] = ["stiffness", "damping", "turning_stiffness", "turning_damping"];

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "bushing",
        about: "Six springs and dampers between two frames, along and about the axes of frame 1",
        keys: &[&[
            key("between", Form::Attachments(Ends::Bodies), "The two ends: BODY, BODY.FRAME or `world`")
                .required("such as between = [\"world\", \"crank\"]"),
            key("at", Form::Point, "Origin of both frames in the pose as written, world [m]"),
            per_axis(KEYS[0], Dimension::new(0, 1, -2), Range::NotNegative, "Stiffness along x, y, z of frame 1 [N/m]"),
            per_axis(KEYS[1], Dimension::new(0, 1, -1), Range::NotNegative, "Damping along x, y, z of frame 1 [N s/m]"),
            per_axis(KEYS[2], Dimension::ENERGY, Range::NotNegative, "Stiffness about x, y, z of frame 1 [N m/rad]"),
            per_axis(
                KEYS[3],
                Dimension::new(2, 1, -1),
                Range::NotNegative,
                "Damping about x, y, z of frame 1 [N m s/rad]",
            ),
            flag("relaxed", "True if the written pose is free of force, false if coincident frames are").or_true(),
            flag(
                "damped_by_step",
                "Realtime: its force is that of the end of the step, which damps it; for springs that stand for stiff constraints",
            ),
        ]],
        check: |check| {
            if !KEYS.iter().any(|key| check.has(key)) {
                check.error("", " has neither stiffness nor damping", format!("give one of {}", KEYS.join(", ")));
            }
        },
        example: "between = [\"a\", \"b\"]\nstiffness = [10, 10, 10]",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite,
};

/// What is free of force in the pose as written cannot say so in another pose.
fn rewrite(part: &mut Part, _: &Element, pose: &dyn NewPose) -> Result<(), String> {
    let refers = part.flag("relaxed") || part.get("at").is_some();
    if refers && part.attachments("between").iter().any(|end| pose.moves(&end.body)) {
        return Err(format!(
            "bushing \"{}\" is free of force in the pose as written, which changes. help: give it frames and relaxed = false",
            part.name
        ));
    }
    Ok(())
}

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let (between, at) = (part.between("between"), part.vector("at"));
    let [a, b] = [0, 1].map(|k| build.anchor(&between[k], at));
    let (a, mut b) = (a?, b?);
    if part.flag("relaxed") {
        // frame 2 where frame 1 is now
        b = build.placed(b.body, build.pose(&a));
    }
    let [stiffness, damping, turning_stiffness, turning_damping] = KEYS.map(|key| part.vector(key).unwrap_or_default());
    let damped_by_step = part.flag("damped_by_step");
    let ends = [a, b];
    Some(Element::Bushing(Bushing { ends, stiffness, damping, turning_stiffness, turning_damping, damped_by_step }))
}

impl Bushing {
    /// d and theta.
    pub(super) fn offset(seen: &Seen<'_>) -> (Vec3, Vec3) {
        Bushing::between(seen.frames)
    }

    /// Those of two frames.
    pub(super) fn between(frames: &[Kinematics]) -> (Vec3, Vec3) {
        let [f1, f2] = [&frames[0], &frames[1]];
        let R1 = f1.R.transpose();
        (R1 * (f2.p - f1.p), rotation_vector(&(R1 * f2.R)))
    }
}

impl Acting for Bushing {
    fn attached(&self) -> Attached<'_> {
        Attached { frames: &self.ends, ..Attached::default() }
    }

    fn sees_frames_alone(&self) -> bool {
        true
    }

    fn outputs(&self) -> &[Output] {
        FORCE
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        DAMPED
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let [f1, f2] = [&seen.frames[0], &seen.frames[1]];
        let R1 = f1.R.transpose();
        let arm = f2.p - f1.p;
        let (d, theta) = Bushing::offset(seen);
        let v = R1 * (f2.v - f1.v - f1.w.cross(arm));
        let w = R1 * (f2.w - f1.w);
        let elastic = self.turning_stiffness * theta;
        let force = -(self.stiffness * d) - self.damping * v;
        let torque = -inverse_left_jacobian_transposed(theta, elastic) - self.turning_damping * w;
        let on_2 = Six::new(f1.R * torque, f1.R * force);
        out.wrench(1, f2.p, on_2);
        out.wrench(0, f2.p, -on_2);
        let stored = 0.5 * (d.dot(self.stiffness * d) + theta.dot(elastic));
        out.effect = Effect::new(force.length(), stored, v.dot(self.damping * v) + w.dot(self.turning_damping * w));
    }

    /// Rows along the axes of frame 1; springs about the directions in which theta grows, dampers about the axes.
    fn rows(&self, seen: &Seen<'_>, _: &StepAhead<'_>, out: &mut RowList) {
        let [f1, f2] = [&seen.frames[0], &seen.frames[1]];
        let (d, theta) = Bushing::offset(seen);
        let between = |along: Six| {
            [RowEnd::Frame { frame: 0, at: f2.p, axes: -along }, RowEnd::Frame { frame: 1, at: f2.p, axes: along }]
        };
        let damped_by_step = self.damped_by_step;
        let strut = |stiffness, damping, phi| Strut {
            stiffness,
            damping,
            phi,
            damped_by_step,
            bounds: UNBOUNDED,
            bound: f64::INFINITY,
        };
        for i in 0..3 {
            let mut unit = Vec3::ZERO;
            unit[i] = 1.0;
            let axis = f1.R * unit;
            let along = between(Six::new(Vec3::ZERO, axis));
            out.strut(i as u8, strut(self.stiffness[i], self.damping[i], d[i]), &along);
            let grows = f1.R * inverse_left_jacobian_transposed(theta, unit);
            let about = between(Six::new(grows, Vec3::ZERO));
            out.strut(3 + i as u8, strut(self.turning_stiffness[i], 0.0, theta[i]), &about);
            let about = between(Six::new(axis, Vec3::ZERO));
            out.strut(6 + i as u8, strut(0.0, self.turning_damping[i], 0.0), &about);
        }
    }

    fn stored(&self, seen: &Seen<'_>) -> f64 {
        let (d, theta) = Bushing::offset(seen);
        0.5 * (d.dot(self.stiffness * d) + theta.dot(self.turning_stiffness * theta))
    }

    fn effort_of_row(&self, sum: f64, part: u8, force: f64) -> f64 {
        if part < 3 { libm::hypot(sum, force) } else { sum }
    }

    fn line(&self) -> Option<&'static str> {
        Some("bushing")
    }
}

/// J^-T x with J^-1 = 1 - theta~/2 + c theta~^2.
fn inverse_left_jacobian_transposed(theta: Vec3, x: Vec3) -> Vec3 {
    x + 0.5 * theta.cross(x) + second_order(theta) * theta.cross(theta.cross(x))
}

/// J^-1 as a matrix.
pub(super) fn inverse_left_jacobian(theta: Vec3) -> Mat3 {
    let c = second_order(theta);
    let column = |x: Vec3| x - 0.5 * theta.cross(x) + c * theta.cross(theta.cross(x));
    Mat3::from_cols(column(Vec3::X), column(Vec3::Y), column(Vec3::Z))
}

/// c = 1/t^2 - (1 + cos t)/(2 t sin t).
fn second_order(theta: Vec3) -> f64 {
    let t2 = theta.length_squared();
    if t2 < SMALL_TURN {
        return 1.0 / 12.0 + t2 / 720.0;
    }
    let t = t2.sqrt();
    let (s, cos) = libm::sincos(t);
    1.0 / t2 - (1.0 + cos) / (2.0 * t * s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementMode;
    use crate::kinematics::Kinematics;
    use tippe_geometry::Quat;

    fn turned(turn: Vec3) -> Mat3 {
        let a = turn.length();
        let axis = if a > 0.0 { turn / a * libm::sin(0.5 * a) } else { Vec3::ZERO };
        Mat3::from_quat(Quat::from_xyzw(axis.x, axis.y, axis.z, libm::cos(0.5 * a)))
    }

    #[test]
    fn power_of_a_bushing_is_the_rate_of_what_it_stores() {
        let world = Anchor { body: None, p: Vec3::ZERO, R: Mat3::IDENTITY };
        let bushing = Bushing {
            ends: [world; 2],
            stiffness: Vec3::new(50.0, 100.0, 200.0),
            damping: Vec3::ZERO,
            turning_stiffness: Vec3::new(5.0, 10.0, 20.0),
            turning_damping: Vec3::ZERO,
            damped_by_step: false,
        };
        let at = |h: f64| {
            let (v1, w1) = (Vec3::new(0.3, -0.2, 0.5), Vec3::new(0.4, 0.1, -0.6));
            let (v2, w2) = (Vec3::new(-0.1, 0.7, 0.2), Vec3::new(-0.3, 0.8, 0.5));
            let frame = |p: Vec3, v: Vec3, w: Vec3, turn: Vec3| Kinematics {
                p: p + v * h,
                v,
                w,
                R: turned(w * h) * turned(turn),
            };
            [
                frame(Vec3::new(0.1, 0.2, 0.3), v1, w1, Vec3::new(0.5, -0.3, 0.2)),
                frame(Vec3::new(0.4, -0.1, 0.5), v2, w2, Vec3::new(-0.7, 0.6, 1.1)),
            ]
        };
        let act = |h: f64| {
            let (frames, look) = (at(h), |_| 0.0);
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
            bushing.act(&seen, &mut out);
            out
        };
        let [f1, f2] = at(0.0);
        let on = act(0.0).wrenches[0].on;
        let arm = f2.p - f1.p;
        let power = on.linear.dot(f2.v - f1.v - f1.w.cross(arm)) + on.angular.dot(f2.w - f1.w);
        let slope = (act(1e-5).effect.stored - act(-1e-5).effect.stored) / 2e-5;
        assert!((power + slope).abs() < 1e-6 * slope.abs(), "{power} {slope}");
    }
}
