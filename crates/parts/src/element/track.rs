//! A track as a belt on the ground: N patches along its contact, fixed to what carries the track, over which the belt runs backwards with
//! R w of its sprocket. Patch i stands on a spring and damper along the normal, F_n = k d/N + c d'/N, 0 or more. Its belt is sheared against the
//! ground by u, with s the velocity of the ground along the belt there (belt forward: s = R w x - v):
//!   u' = s - |s| u/K - |R w| (u - u_before)/dx,   F = mu F_n u/K,
//! u_before that of the patch which the belt comes from, zero for the first. At rest, or with one patch, that is the shear law of Janosi and
//! Hanamoto (1961), F = mu F_n (1 - exp(-j/K)) with the way j; rolling with the slip i it is their j = i x behind the front edge (Wong 2001,
//! 2.5). Both directions in the plane share one length K, so a track that turns slides as Coulomb says. The sprocket feels -R F_x and what
//! resists rolling, f F_n R. In a step h patches are springs along their slip, as tyres are (`tyre/bristle.rs`).

use super::tyre::bristle::Bristle;
use super::{
    Acting, Action, Anchor, At, Attached, Element, ElementAccount, ElementSpec, ElementState, Finish, Output, RowEnd,
    RowList, Seen, StepAhead, Strut,
};
use crate::cause::Cause;
use crate::element::written::Build;
use crate::kinematics::Kinematics;
use crate::six::Six;
use libm::hypot;
use std::borrow::Cow;
use tippe_format::equation::Dimension;
use tippe_format::key::{Coupled, Form, Range, Spec, any, key, number};
use tippe_format::part::{Attachment, Part};
use tippe_geometry::Vec3;

/// Patches at most, so that rows have numbers.
const MOST_PATCHES: usize = 40;
/// Belts that press with less than this hold nothing [N].
const LEAST_LOAD: f64 = 1e-9;
/// In the air a belt loses its shear within this time [s].
const IN_THE_AIR: f64 = 0.02;
/// A track that resists rolling has run this far before it does so in full [m].
const ROLLED: f64 = 0.01;
/// Damping of the shear over its stiffness [s]: chosen, as tyres have it.
const SETTLING: f64 = 0.005;

/// A track on the ground.
#[derive(Clone, Debug)]
pub struct Track {
    /// What carries it, x along the belt and z up, and the ground, z its normal.
    ends: [Anchor; 2],
    /// Its sprocket.
    at: [At; 1],
    /// Where its patches are along x [m], from the front.
    patches: Vec<f64>,
    /// Their distance [m].
    spacing: f64,
    /// k and c of a patch [N/m, N s/m].
    stands: [f64; 2],
    /// R [m].
    radius: f64,
    /// mu along and across [-].
    friction: [f64; 2],
    /// K [m].
    shear: f64,
    /// f [-].
    rolling: f64,
    states: Vec<ElementState>,
}

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "track",
        about: "A track as a belt between a sprocket and the ground, a plane",
        keys: &[
            &[
                key(
                    "on",
                    Form::Attachment,
                    "Frame in the middle of its contact, x along it and z up: BODY or BODY.FRAME",
                )
                .required("such as on = \"loader.left_track\""),
                key(
                    "ground",
                    Form::Frame,
                    "Frame of the ground, z its normal: BODY, BODY.FRAME or `world`; default `world`",
                ),
                key(
                    "shafts",
                    Form::Coordinates(Coupled {
                        angles: &[Some(true)],
                        more: 0,
                        help: "one joint that turns, such as shafts = [\"sprocket\"]",
                    }),
                    "Its sprocket: JOINT or JOINT.COORDINATE",
                )
                .required("one joint that turns, such as shafts = [\"sprocket\"]"),
            ],
            &[
                number("length", Dimension::LENGTH, Range::Positive, "Length of its contact [m]")
                    .required("such as length = 2.4"),
                number("radius", Dimension::LENGTH, Range::Positive, "Radius of its sprocket [m]")
                    .required("such as radius = 0.35"),
                number("stiffness", Dimension::new(0, 1, -2), Range::Positive, "Stiffness of what it stands on [N/m]")
                    .or(4e6),
                number("damping", Dimension::new(0, 1, -1), Range::NotNegative, "Damping of it [N s/m]").or(1e5),
                number("friction", Dimension::ONE, Range::NotNegative, "Friction on the ground along the belt [-]")
                    .required("such as friction = 0.8"),
                number(
                    "friction_across",
                    Dimension::ONE,
                    Range::NotNegative,
                    "... and across it [-]; default the same",
                ),
                number("shear", Dimension::LENGTH, Range::Positive, "Way K in which friction grows [m]").or(0.01),
                number("rolling", Dimension::ONE, Range::NotNegative, "Resistance to rolling over the load [-]")
                    .or(0.0),
                any("patches", Range::Count, "Patches along its contact, at most 40 [-]").or(10.0),
            ],
        ],
        check: |check| {
            let patches = check.part.number("patches");
            if patches > MOST_PATCHES as f64 {
                check.error("patches", format!(" has {patches} patches"), "40 at most");
            }
        },
        example: "on = \"a\"\nshafts = [\"hinge\"]\nlength = 2.4\nradius = 0.35\nfriction = 0.8",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let on = part.attachments("on").first().and_then(|on| build.anchor(on, None));
    let world = Attachment { body: "world".into(), frame: String::new() };
    let ground = build.anchor(part.attachments("ground").first().unwrap_or(&world), None);
    let at = *build.coordinates(part.coordinates("shafts"))?.first()?;
    let (n, length) = (part.number("patches").max(1.0), part.number("length"));
    let friction = part.number("friction");
    let state = |name: String| ElementState { name: Cow::Owned(name), unit: "m", start: 0.0, scale: 1e-6 };
    let sheared = (0..n as usize).flat_map(|i| ["x", "y"].map(|axis| state(format!("sheared_{}.{axis}", i + 1))));
    Some(Element::Track(Box::new(Track {
        ends: [on?, ground?],
        at: [at],
        patches: (0..n as usize).map(|i| length * (0.5 - (i as f64 + 0.5) / n)).collect(),
        spacing: length / n,
        stands: [part.number("stiffness") / n, part.number("damping") / n],
        radius: part.number("radius"),
        friction: [friction, part.find_number("friction_across").unwrap_or(friction)],
        shear: part.number("shear"),
        rolling: part.number("rolling"),
        states: sheared.chain([state("rolled".to_owned())]).collect(),
    })))
}

/// A patch over the ground.
#[derive(Clone, Copy, Debug)]
struct Patch {
    /// Where it is, resolved in world [m].
    at: Vec3,
    /// d [m].
    depth: f64,
    /// d' [m/s].
    rate: f64,
    /// F_n [N].
    load: f64,
    /// s along and across [m/s].
    slips: [f64; 2],
}

/// All of them.
#[derive(Clone)]
struct Laid {
    /// x, y, n, resolved in world.
    axes: [Vec3; 3],
    patches: Vec<Patch>,
    /// R w [m/s].
    belt: f64,
}

impl Laid {
    fn load(&self) -> f64 {
        self.patches.iter().map(|patch| patch.load).sum()
    }
}

impl Track {
    /// How it lies, if its belt is not on edge or on its back.
    fn laid(&self, frames: &[Kinematics], w: f64) -> Option<Laid> {
        let [carrier, ground] = [&frames[0], &frames[1]];
        let (n, along) = (ground.R.z_axis, carrier.R.x_axis);
        let flat = along - n * along.dot(n);
        if carrier.R.z_axis.dot(n) <= 0.0 || flat.length() < 0.1 {
            return None;
        }
        let x = flat.normalize();
        let (y, belt) = (n.cross(x), self.radius * w);
        let patch = |place: &f64| {
            let at = carrier.p + along * *place;
            let v = carrier.v + carrier.w.cross(at - carrier.p) - ground.v - ground.w.cross(at - ground.p);
            let (depth, rate) = (-(at - ground.p).dot(n), -v.dot(n));
            let pushes = self.stands[0] * depth + self.stands[1] * rate;
            let load = if depth > 0.0 { pushes.max(0.0) } else { 0.0 };
            Patch { at, depth, rate, load, slips: [belt - v.dot(x), -v.dot(y)] }
        };
        Some(Laid { axes: [x, y, n], patches: self.patches.iter().map(patch).collect(), belt })
    }

    /// How the shear of patch i along an axis goes on.
    fn bristle(&self, laid: &Laid, i: usize, axis: usize, states: &[f64]) -> Bristle {
        let patch = &laid.patches[i];
        let (slip, runs) = (patch.slips[axis], laid.belt.abs() / self.spacing);
        if patch.load <= LEAST_LOAD {
            return Bristle::free(IN_THE_AIR, slip);
        }
        // the belt comes from the front where it drives forward
        let from = if laid.belt >= 0.0 { i.checked_sub(1) } else { Some(i + 1).filter(|k| *k < self.patches.len()) };
        let before = from.map_or(0.0, |k| states[2 * k + axis]);
        let stiffness = self.friction[axis] * patch.load / self.shear;
        let slides = hypot(patch.slips[0], patch.slips[1]) / self.shear;
        Bristle {
            stiffness,
            damping: stiffness * SETTLING,
            rate: slides + runs,
            offset: runs * before,
            most: self.friction[axis] * patch.load,
        }
    }

    /// What resists rolling, as it grows with the way.
    fn resists(&self, laid: &Laid) -> Bristle {
        let most = self.rolling * laid.load();
        let stiffness = most / ROLLED;
        Bristle { stiffness, damping: stiffness * SETTLING, rate: laid.belt.abs() / ROLLED, offset: 0.0, most }
    }

    /// Number of patches.
    fn n(&self) -> usize {
        self.patches.len()
    }

    /// Its outputs, from what acts at patches {along, across, up}, and its shaft.
    fn shown(&self, laid: &Laid, forces: &[[f64; 3]], frame: &Kinematics, torque: f64) -> [f64; 6] {
        let [x, y, n] = laid.axes;
        let (mut sums, mut turns) = ([0.0; 3], 0.0);
        for (patch, force) in laid.patches.iter().zip(forces) {
            (0..3).for_each(|k| sums[k] += force[k]);
            turns += (patch.at - frame.p).cross(x * force[0] + y * force[1]).dot(n);
        }
        let slip = laid.patches.iter().map(|patch| patch.slips[0]).sum::<f64>() / self.n() as f64;
        [sums[2], sums[0], sums[1], turns, slip, torque]
    }
}

impl Acting for Track {
    fn attached(&self) -> Attached<'_> {
        Attached { frames: &self.ends, coordinates: &self.at, ..Attached::default() }
    }

    fn states(&self) -> &[ElementState] {
        &self.states
    }

    fn outputs(&self) -> &[Output] {
        const fn output(name: &'static str, unit: &'static str) -> Output {
            Output { name: Cow::Borrowed(name), unit: Some(unit) }
        }
        const OUTPUTS: &[Output] = &[
            output("load", "N"),
            output("force.x", "N"),
            output("force.y", "N"),
            output("torque.z", "N m"),
            output("slip", "m/s"),
            output("torque", "N m"),
        ];
        OUTPUTS
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        &[
            ElementAccount { cause: Cause::Damping, name: "loss" },
            ElementAccount { cause: Cause::TyreSlip, name: "slip_loss" },
            ElementAccount { cause: Cause::Rolling, name: "rolling" },
        ]
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let w = seen.coordinate().u;
        let Some(laid) = self.laid(seen.frames, w) else {
            let free = Bristle::free(IN_THE_AIR, 0.0);
            out.rates.iter_mut().zip(seen.states).for_each(|(rate, u)| *rate = free.flow(*u, 0.0));
            out.shown.resize(self.outputs().len() - 1, 0.0);
            return;
        };
        let [x, y, n] = laid.axes;
        let (mut forces, mut torque) = (Vec::with_capacity(self.n()), 0.0);
        for (i, patch) in laid.patches.iter().enumerate() {
            let mut force = [0.0, 0.0, patch.load];
            for axis in 0..2 {
                let (bristle, u) = (self.bristle(&laid, i, axis, seen.states), seen.states[2 * i + axis]);
                out.rates[2 * i + axis] = bristle.flow(u, patch.slips[axis]);
                force[axis] = bristle.force(u, patch.slips[axis]);
            }
            let on = Six::new(Vec3::ZERO, x * force[0] + y * force[1] + n * force[2]);
            out.wrench(0, patch.at, on);
            out.wrench(1, patch.at, on * -1.0);
            torque -= self.radius * force[0];
            let elastic = self.stands[0] * patch.depth.max(0.0);
            out.effect.stored += 0.5 * elastic * patch.depth.max(0.0);
            out.effect.powers[0] += (elastic - patch.load) * -patch.rate;
            out.effect.powers[1] += force[0] * patch.slips[0] + force[1] * patch.slips[1];
            forces.push(force);
        }
        let (resists, rolled) = (self.resists(&laid), 2 * self.n());
        let slip = -laid.belt;
        out.rates[rolled] = resists.flow(seen.states[rolled], slip);
        let drag = resists.force(seen.states[rolled], slip);
        torque += self.radius * drag;
        out.effect.powers[2] = drag * slip;
        out.efforts[0] = torque;
        out.effect.effort = laid.load();
        out.shown.extend_from_slice(&self.shown(&laid, &forces, &seen.frames[0], torque)[1..]);
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        let Some(laid) = self.laid(seen.frames, seen.coordinate().u) else { return };
        let [x, y, n] = laid.axes;
        for (i, patch) in laid.patches.iter().enumerate() {
            let ends = |axis: Vec3| {
                let axes = Six::new(Vec3::ZERO, axis);
                [
                    RowEnd::Frame { frame: 0, at: patch.at, axes },
                    RowEnd::Frame { frame: 1, at: patch.at, axes: axes * -1.0 },
                ]
            };
            if patch.depth + 2.0 * step.h * patch.rate.max(0.0) <= 0.0 {
                continue;
            }
            let [stiffness, damping] = self.stands;
            let strut = Strut {
                stiffness,
                damping,
                phi: -patch.depth,
                damped_by_step: false,
                bounds: [0.0, f64::INFINITY],
                bound: f64::INFINITY,
            };
            let part = 3 * i as u8;
            out.strut(part, strut, &ends(n));
            if patch.load <= LEAST_LOAD {
                continue;
            }
            let strut =
                |axis: usize| self.bristle(&laid, i, axis, seen.states).strut(seen.states[2 * i + axis], step.h);
            let [near, far] = ends(x);
            out.strut(part + 1, strut(0), &[near, far, RowEnd::Coordinate { coordinate: 0, factor: -self.radius }]);
            out.strut(part + 2, strut(1), &ends(y));
        }
        let rolled = seen.states[2 * self.n()];
        let ends = [RowEnd::Coordinate { coordinate: 0, factor: self.radius }];
        out.strut(3 * self.n() as u8, self.resists(&laid).strut(rolled, step.h), &ends);
    }

    fn stored(&self, seen: &Seen<'_>) -> f64 {
        let Some(laid) = self.laid(seen.frames, seen.coordinate().u) else { return 0.0 };
        laid.patches.iter().map(|patch| 0.5 * self.stands[0] * patch.depth.max(0.0) * patch.depth.max(0.0)).sum()
    }

    fn finishes(&self) -> bool {
        true
    }

    fn finish(&self, step: &mut Finish<'_>) {
        step.outputs.clear();
        let sights = [step.before, step.after].map(|sight| self.laid(&sight.frames, sight.coordinates[0].u));
        let [Some(before), after] = sights else {
            step.outputs.resize(self.outputs().len(), 0.0);
            step.states.fill(0.0);
            return;
        };
        let after = after.unwrap_or_else(|| before.clone());
        let effort = |part: usize| {
            let row = step.impulses.iter().find(|row| usize::from(row.0) == part);
            row.map_or(0.0, |row| row.1 / step.h)
        };
        let (n, mut forces, mut torque) = (self.n(), Vec::with_capacity(self.n()), 0.0);
        let begun = step.before.states.clone();
        for i in 0..n {
            let force = [effort(3 * i + 1), effort(3 * i + 2), effort(3 * i)];
            for axis in 0..2 {
                let u = &mut step.states[2 * i + axis];
                *u = self.bristle(&before, i, axis, &begun).after(*u, force[axis], step.h);
                let slip = 0.5 * (before.patches[i].slips[axis] + after.patches[i].slips[axis]);
                step.lost[1] += force[axis] * slip * step.h;
            }
            torque -= self.radius * force[0];
            forces.push(force);
        }
        let drag = effort(3 * n);
        step.states[2 * n] = self.resists(&before).after(step.states[2 * n], drag, step.h);
        step.lost[2] += drag * -0.5 * (before.belt + after.belt) * step.h;
        torque += self.radius * drag;
        step.outputs.extend_from_slice(&self.shown(&after, &forces, &step.after.frames[0], torque));
    }

    fn drawn(&self, frames: &[Kinematics]) -> Vec<Vec3> {
        let along = frames[0].R.x_axis;
        [self.patches[0], self.patches[self.n() - 1]].map(|place| frames[0].p + along * place).to_vec()
    }
}
