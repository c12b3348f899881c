//! A tyre between a wheel and a road: a spring and damper that only pushes along the road's normal, forces that follow the slip with the
//! relaxation lengths of the tyre (`bristle.rs`) in the plane of the road, and the torques of the model
//!   M_z = M_z(slip) - t (F_y - F_y(slip)),   M_x = M_x(slip),   M_y = -sgn(Omega) of what resists rolling.
//! Lengths that its carcass is pushed along and across, and how far it has rolled into its resistance, are states.

pub(super) mod bristle;
mod envelope;
mod touch;
mod written;

pub use written::SPEC;

use super::{
    Acting, Action, Anchor, Attached, ElementAccount, ElementMode, ElementState, Finish, Output, RowEnd, RowList, Seen,
    Settled, StepAhead, Strut, Trip, UNBOUNDED,
};
use crate::cause::Cause;
use crate::kinematics::Kinematics;
use crate::six::Six;
use crate::tyre::{Answer, Slip, Tyre};
use bristle::Bristle;
use std::borrow::Cow;
use tippe_geometry::{Pose, Shape, Vec3};
use touch::{IN_THE_AIR, Touch};

/// A tyre that will be on the road for this many steps at its present rate holds like a spring that also pulls [-].
const STEPS_AHEAD: f64 = 2.0;
/// Rows: the load, along, across, rolling, about the normal, about the direction of travel.
const LOAD: u8 = 0;
const ROLLING: u8 = 3;
const ALIGNING: u8 = 4;
const OVERTURNING: u8 = 5;

/// A tyre between a wheel and a road.
#[derive(Clone, Debug)]
pub struct RoadTyre {
    /// The wheel, whose y axis is its axle, and the road, whose z axis is its normal.
    pub ends: [Anchor; 2],
    /// Shapes of the road in the frame c of its body; none where the road is the plane of its frame.
    pub road: Vec<(Shape, Pose)>,
    /// Its model.
    pub tyre: Box<Tyre>,
    /// Factor of the friction of the road [-].
    pub grip: f64,
    /// Damping of the carcass over its stiffness [s].
    pub settling: f64,
}

/// What acts on a wheel.
struct Pushes {
    slip: Slip,
    load: f64,
    /// Along, across, and rolling [N].
    forces: [f64; 3],
    /// M_x and M_z [N m].
    torques: [f64; 2],
}

impl RoadTyre {
    /// Aligning torque with F_y as it is [N m].
    fn aligning(settled: &Answer, across: f64) -> f64 {
        settled.aligning - settled.trail * (across - settled.force[1])
    }

    /// Its outputs.
    fn shown(touch: &Touch, pushes: &Pushes) -> [f64; 10] {
        let Pushes { slip, load, forces: [along, across, rolling], torques: [tips, aligns] } = *pushes;
        let torque = rolling * touch.radius;
        [load, along, across, tips, torque, aligns, slip.kappa, slip.alpha, touch.camber, touch.depth]
    }

    /// What goes to slip and to rolling, with these velocities of the wheel over the road [W].
    fn powers(touch: &Touch, pushes: &Pushes, slips: [f64; 3], turning: Vec3) -> [f64; 2] {
        let [x, _, n] = touch.axes;
        let [along, across, rolling] = pushes.forces;
        let [tips, aligns] = pushes.torques;
        let slip = along * slips[0] + across * slips[1] - tips * turning.dot(x) - aligns * turning.dot(n);
        [slip, rolling * slips[2]]
    }
}

/// What pushes at the wheel, and at the road: frames with the wrench on each.
fn both(at: Vec3, on: Six, mut out: impl FnMut(usize, Vec3, Six)) {
    out(0, at, on);
    out(1, at, on * -1.0);
}

/// The directions along which its rows act: where, and which.
fn direction(touch: &Touch, part: u8) -> (Vec3, Six) {
    let [x, y, n] = touch.axes;
    match part {
        LOAD => (touch.at[2], Six::new(Vec3::ZERO, n)),
        1 => (touch.at[0], Six::new(Vec3::ZERO, x)),
        2 => (touch.at[1], Six::new(Vec3::ZERO, y)),
        ROLLING => (touch.at[2], Six::new(touch.axle * touch.radius, Vec3::ZERO)),
        ALIGNING => (touch.at[2], Six::new(n, Vec3::ZERO)),
        _ => (touch.at[2], Six::new(x, Vec3::ZERO)),
    }
}

impl Acting for RoadTyre {
    fn attached(&self) -> Attached<'_> {
        Attached { frames: &self.ends, ..Attached::default() }
    }

    fn states(&self) -> &[ElementState] {
        const fn state(name: &'static str) -> ElementState {
            ElementState { name: Cow::Borrowed(name), unit: "m", start: 0.0, scale: 1e-6 }
        }
        const STATES: &[ElementState] = &[state("pushed.x"), state("pushed.y"), state("rolled")];
        STATES
    }

    fn outputs(&self) -> &[Output] {
        const fn output(name: &'static str, unit: &'static str) -> Output {
            Output { name: Cow::Borrowed(name), unit: Some(unit) }
        }
        const OUTPUTS: &[Output] = &[
            output("load", "N"),
            output("force.x", "N"),
            output("force.y", "N"),
            output("torque.x", "N m"),
            output("torque.y", "N m"),
            output("torque.z", "N m"),
            output("kappa", "-"),
            output("alpha", "rad"),
            output("camber", "rad"),
            output("deflection", "m"),
        ];
        OUTPUTS
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        &[
            ElementAccount { cause: Cause::Damping, name: "loss" },
            ElementAccount { cause: Cause::TyreSlip, name: "slip" },
            ElementAccount { cause: Cause::Rolling, name: "rolling" },
        ]
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let Some(touch) = Touch::of(self, seen.frames) else {
            let free = Bristle::free(IN_THE_AIR, 0.0);
            out.rates.iter_mut().zip(seen.states).for_each(|(rate, u)| *rate = free.flow(*u, 0.0));
            out.shown.resize(self.outputs().len() - 1, 0.0);
            return;
        };
        let load = touch.load(self);
        let (slip, settled) = touch.settled(self, load);
        let bristles = touch.bristles(self, load, &settled);
        let mut forces = [0.0; 3];
        for k in 0..3 {
            out.rates[k] = bristles[k].flow(seen.states[k], touch.slips[k]);
            forces[k] = bristles[k].force(seen.states[k], touch.slips[k]);
        }
        let torques = [settled.overturning, RoadTyre::aligning(&settled, forces[1])];
        let pushes = Pushes { slip, load, forces, torques };
        let efforts = [load, forces[0], forces[1], forces[2], torques[1], torques[0]];
        if load > 0.0 {
            for (part, effort) in efforts.into_iter().enumerate() {
                let (at, axes) = direction(&touch, part as u8);
                both(at, axes * effort, |frame, at, on| out.wrench(frame, at, on));
            }
        }
        let carcass = &self.tyre.carcass;
        let (depth, elastic) = (touch.depth.max(0.0), carcass.stiffness * touch.depth.max(0.0));
        let turning = seen.frames[0].w - seen.frames[1].w;
        let [slips, rolls] = RoadTyre::powers(&touch, &pushes, touch.slips, turning);
        out.effect.effort = load;
        out.effect.stored = 0.5 * elastic * depth;
        out.effect.powers = [load * touch.closing - elastic * touch.rate, slips, rolls];
        out.shown.extend_from_slice(&RoadTyre::shown(&touch, &pushes)[1..]);
    }

    fn watched(&self) -> usize {
        1
    }

    fn watch(&self, _: usize, seen: &Seen<'_>) -> f64 {
        let depth = Touch::of(self, seen.frames).map_or(-1.0, |touch| touch.depth);
        if seen.mode().held { -depth } else { depth }
    }

    fn trip(&self, _: usize, seen: &Seen<'_>) -> Trip {
        let mode = seen.mode();
        Trip::to(ElementMode { held: !mode.held, ..mode })
    }

    fn settle(&self, _: usize, seen: &Seen<'_>) -> Option<Settled> {
        if seen.mode().sense != 0.0 {
            return None;
        }
        let held = Touch::of(self, seen.frames).is_some_and(|touch| touch.depth > 0.0);
        Some(Settled { mode: ElementMode { held, sense: 1.0, speed: 0.0 }, acts: false })
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        let Some(touch) = Touch::of(self, seen.frames) else { return };
        let h = step.h;
        let ends = |part: u8| {
            let (at, axes) = direction(&touch, part);
            [RowEnd::Frame { frame: 0, at, axes }, RowEnd::Frame { frame: 1, at, axes: axes * -1.0 }]
        };
        let (low, n) = (touch.at[2], touch.axes[2]);
        let moves = |frame: usize| {
            let (u, p) = (step.frames[frame], seen.frames[frame].p);
            (u.linear + u.angular.cross(low - p)).dot(n)
        };
        let soon = touch.rate.max(moves(1) - moves(0));
        let leaves = touch.rate.min(moves(1) - moves(0));
        if touch.depth + STEPS_AHEAD * h * soon <= 0.0 {
            return;
        }
        let stays = touch.depth + STEPS_AHEAD * h * leaves > 0.0 && touch.load(self) > 0.0;
        let carcass = &self.tyre.carcass;
        let strut = Strut {
            stiffness: carcass.stiffness,
            damping: carcass.damping,
            phi: -touch.depth,
            damped_by_step: false,
            bounds: if stays { UNBOUNDED } else { [0.0, f64::INFINITY] },
            bound: f64::INFINITY,
        };
        out.strut(LOAD, strut, &ends(LOAD));
        let load = touch.load(self);
        if load <= 0.0 {
            return;
        }
        let (_, settled) = touch.settled(self, load);
        let mut bristles = touch.bristles(self, load, &settled);
        let across = bristles[1].force(seen.states[1], touch.slips[1]);
        bristles.iter_mut().zip(touch.turned(h)).for_each(|(bristle, more)| bristle.offset += more);
        for (k, bristle) in bristles.iter().enumerate() {
            let part = k as u8 + 1;
            out.strut(part, bristle.strut(seen.states[k], h), &ends(part));
        }
        for (part, torque) in [(ALIGNING, RoadTyre::aligning(&settled, across)), (OVERTURNING, settled.overturning)] {
            if torque != 0.0 {
                out.given(part, torque * h, &ends(part));
            }
        }
    }

    fn stored(&self, seen: &Seen<'_>) -> f64 {
        let depth = Touch::of(self, seen.frames).map_or(0.0, |touch| touch.depth.max(0.0));
        0.5 * self.tyre.carcass.stiffness * depth * depth
    }

    fn finishes(&self) -> bool {
        true
    }

    fn finish(&self, step: &mut Finish<'_>) {
        step.outputs.clear();
        let touches = [step.before, step.after].map(|sight| Touch::of(self, &sight.frames));
        let [Some(before), after] = touches else {
            step.outputs.resize(self.outputs().len(), 0.0);
            step.states.fill(0.0);
            step.modes[0] = ElementMode { held: false, sense: 1.0, speed: 0.0 };
            return;
        };
        let effort = |part: u8| step.impulses.iter().find(|row| row.0 == part).map_or(0.0, |row| row.1 / step.h);
        let load = before.load(self);
        let (_, settled) = before.settled(self, load);
        let bristles = before.bristles(self, load, &settled);
        let forces = [effort(1), effort(2), effort(ROLLING)];
        for k in 0..3 {
            step.states[k] = bristles[k].after(step.states[k], forces[k], step.h);
        }
        let after = after.unwrap_or(before);
        let (slip, _) = after.settled(self, load);
        let pushes = Pushes { slip, load: effort(LOAD), forces, torques: [effort(OVERTURNING), effort(ALIGNING)] };
        let mean = [0, 1, 2].map(|k| 0.5 * (before.slips[k] + after.slips[k]));
        let turns = |frames: &[Kinematics]| frames[0].w - frames[1].w;
        let turning = (turns(&step.before.frames) + turns(&step.after.frames)) * 0.5;
        let [slips, rolls] = RoadTyre::powers(&before, &pushes, mean, turning);
        (step.lost[1], step.lost[2]) = (slips * step.h, rolls * step.h);
        step.outputs.extend_from_slice(&RoadTyre::shown(&after, &pushes));
        step.modes[0] = ElementMode { held: pushes.load > 0.0, sense: 1.0, speed: 0.0 };
    }

    fn drawn(&self, frames: &[Kinematics]) -> Vec<Vec3> {
        let wheel = frames[0].p;
        Touch::of(self, frames).map_or_else(|| vec![wheel], |touch| vec![wheel, touch.at[2]])
    }
}
