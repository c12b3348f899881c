//! A track as a belt on the ground: N patches along its contact, fixed to what carries the track, over which the belt runs backwards with
//! R w of its sprocket. Patch i stands on a spring and damper along the normal, F_n = k d/N + c d'/N, 0 or more. Its belt is sheared against the
//! ground by u, with s the velocity of the ground along the belt there (belt forward: s = R w x - v):
//!   u' = s - |s| u/K - |R w| (u - u_before)/dx,   F = mu F_n u/K,
//! u_before that of the patch which the belt comes from, zero for the first. At rest, or with one patch, that is the shear law of Janosi and
//! Hanamoto (1961), F = mu F_n (1 - exp(-j/K)) with the way j; rolling with the slip i it is their j = i x behind the front edge (Wong 2001,
//! 2.5). Both directions in the plane share one length K, so a track that turns slides as Coulomb says. The sprocket feels -R F_x and what
//! resists rolling, f F_n R. In a step h patches are springs along their slip, as tyres are (`tyre/bristle.rs`).
//!
//! On soft ground a patch of area a = b L/N stands on F_n = a p(d), p the law of pressure under a plate of the track's size, with the line of
//! unloading where the ground under it was pressed to w > d before (`crates/soil/src/soft/pressure.rs`), and holds a c + F_n tan(phi) in place of
//! mu F_n. The ground comes from the patch ahead, w' = -|v| (w - w_before)/dx, and w is d at least; what is pressed down as the track goes on,
//!   R = b sum_i (integral of p from w_before to w_i),
//! pushes back on what carries it: over level ground b times the integral of p down to the sinkage (Bekker 1956). Belt and ground are sheared
//! from the front edge on, j = i x, so that the pull is that of Wong (2008, 2.4).

use super::soft_ground::{GROWTH, SOIL, check_soil, soil};
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
use tippe_format::part::{Attachment, Check, Part};
use tippe_geometry::Vec3;
use tippe_soil::soft::{Plate, Soil, Unloading};

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
/// K on firm ground where nothing is said [m].
const SHEAR: f64 = 0.01;
/// Sinkage over which the slope of the pressure is taken [m].
const SMALL: f64 = 1e-6;
/// Intervals of the sum over the sinkage, even.
const INTERVALS: u32 = 8;

/// What a track lies on.
#[derive(Clone, Debug)]
enum Bed {
    /// k and c of a patch [N/m, N s/m], and mu along and across [-].
    Firm { stands: [f64; 2], friction: [f64; 2] },
    /// Ground that gives; its slab is the track's contact.
    Soft { soil: Soil, plate: Plate, unloading: Unloading },
}

/// What the bed does to a patch at a depth.
#[derive(Clone, Copy, Debug)]
struct Press {
    /// F_n without damping [N].
    load: f64,
    /// Its slope where the patch goes down or up [N/m], and damping [N s/m].
    stiffness: f64,
    damping: f64,
    /// How far it is from the bed, below zero in it, as its spring feels it [m].
    phi: f64,
}

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
    bed: Bed,
    /// a of a patch [m^2].
    area: f64,
    /// R [m].
    radius: f64,
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
                number(
                    "friction",
                    Dimension::ONE,
                    Range::NotNegative,
                    "Friction on firm ground along the belt [-]; soft ground has `soil` or `law` instead",
                ),
                number(
                    "friction_across",
                    Dimension::ONE,
                    Range::NotNegative,
                    "... and across it [-]; default the same",
                ),
                number(
                    "shear",
                    Dimension::LENGTH,
                    Range::Positive,
                    "Way K in which friction grows [m]; default that of the soil, else 0.025 m on soft ground and 0.01 m on firm ground",
                ),
                number("rolling", Dimension::ONE, Range::NotNegative, "Resistance to rolling over the load [-]")
                    .or(0.0),
                any("patches", Range::Count, "Patches along its contact, at most 40 [-]").or(10.0),
                number("width", Dimension::LENGTH, Range::Positive, "Width of the belt on soft ground [m]"),
                number(
                    "unloading",
                    Dimension::new(-2, 1, -2),
                    Range::NotNegative,
                    "Soft ground: k0, slope of unloading [N/m^3]",
                )
                .or(0.0),
                any("unloading_growth", Range::NotNegative, "... Au: what a metre of sinkage adds to it [N/m^4]")
                    .or(GROWTH),
            ],
            SOIL,
        ],
        check,
        example: "on = \"a\"\nshafts = [\"hinge\"]\nlength = 2.4\nradius = 0.35\nfriction = 0.8",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

/// Keys of firm ground alone.
const FIRM: [&str; 4] = ["friction", "friction_across", "stiffness", "damping"];

fn check(check: &mut Check<'_>) {
    let patches = check.part.number("patches");
    if patches > MOST_PATCHES as f64 {
        check.error("patches", format!(" has {patches} patches"), "40 at most");
    }
    if !(check.has("soil") || check.has("law")) {
        check.needs("friction", "such as friction = 0.8; or soil = \"dry_sand\" with the width of the belt");
        return;
    }
    check_soil(check);
    check.needs("width", "such as width = 0.5");
    for key in FIRM.into_iter().filter(|key| check.has(key)).collect::<Vec<_>>() {
        check.error(
            key,
            format!(" stands on soft ground and has `{key}`"),
            "that of firm ground; the soil has its own",
        );
    }
}

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let on = part.attachments("on").first().and_then(|on| build.anchor(on, None));
    let world = Attachment { body: "world".into(), frame: String::new() };
    let ground = build.anchor(part.attachments("ground").first().unwrap_or(&world), None);
    let at = *build.coordinates(part.coordinates("shafts"))?.first()?;
    let (n, length) = (part.number("patches").max(1.0), part.number("length"));
    let state = |name: String| ElementState { name: Cow::Owned(name), unit: "m", start: 0.0, scale: 1e-6 };
    let sheared = (0..n as usize).flat_map(|i| ["x", "y"].map(|axis| state(format!("sheared_{}.{axis}", i + 1))));
    let width = part.number("width");
    let (bed, shear, pressed) = if part.get("soil").is_some() || part.get("law").is_some() {
        let soil = soil(part)?;
        let plate = Plate { width: width.min(length), length: width.max(length) };
        let unloading = Unloading { k0: part.number("unloading"), growth: part.number("unloading_growth") };
        let pressed = (0..n as usize).map(|i| state(format!("pressed_{}", i + 1))).chain([state("pushed".to_owned())]);
        // the slope of an exponential law is 1/K
        (Bed::Soft { soil, plate, unloading }, 1.0 / soil.shear.slope(), pressed.collect())
    } else {
        let friction = part.number("friction");
        let friction = [friction, part.find_number("friction_across").unwrap_or(friction)];
        let stands = [part.number("stiffness") / n, part.number("damping") / n];
        (Bed::Firm { stands, friction }, part.find_number("shear").unwrap_or(SHEAR), Vec::new())
    };
    Some(Element::Track(Box::new(Track {
        ends: [on?, ground?],
        at: [at],
        patches: (0..n as usize).map(|i| length * (0.5 - (i as f64 + 0.5) / n)).collect(),
        spacing: length / n,
        bed,
        area: width * length / n,
        radius: part.number("radius"),
        shear,
        rolling: part.number("rolling"),
        states: sheared.chain([state("rolled".to_owned())]).chain(pressed).collect(),
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
    press: Press,
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
    /// How fast what carries it goes along x [m/s].
    way: f64,
}

impl Laid {
    fn load(&self) -> f64 {
        self.patches.iter().map(|patch| patch.load).sum()
    }
}

impl Track {
    /// What the bed does to patch i, which was pressed to `deepest` before.
    fn press(&self, depth: f64, rate: f64, deepest: f64) -> Press {
        match &self.bed {
            Bed::Firm { stands: [k, c], .. } => {
                Press { load: k * depth.max(0.0), stiffness: *k, damping: *c, phi: -depth }
            }
            Bed::Soft { soil, plate, unloading } => {
                let p = |z: f64, zu: f64| self.area * soil.pressure.again(z, zu, plate, unloading);
                let w = deepest.max(depth).max(0.0);
                let (load, most) = (p(depth, w), p(w, 0.0));
                // where it goes down the ground is that under it, where it comes up the line of unloading
                let stiffness = if depth >= deepest && rate >= 0.0 || w == 0.0 {
                    (p(w + SMALL, 0.0) - most) / SMALL
                } else {
                    self.area * unloading.firm([w, most / self.area])
                };
                let stiffness = stiffness.max(1.0);
                // without load it is as far from the ground as that came up
                let phi = if load > 0.0 { -load / stiffness } else { w - most / stiffness - depth };
                Press { load, stiffness, damping: SETTLING * stiffness, phi }
            }
        }
    }

    /// The largest force of a patch along an axis [N].
    fn holds(&self, axis: usize, load: f64) -> f64 {
        match &self.bed {
            Bed::Firm { friction, .. } => friction[axis] * load,
            Bed::Soft { soil, .. } => self.area * soil.strength(load / self.area),
        }
    }

    /// The patch from which what patch i meets has come, where that comes from the front or from behind.
    fn from(&self, i: usize, front: bool) -> Option<usize> {
        if front { i.checked_sub(1) } else { Some(i + 1).filter(|k| *k < self.n()) }
    }

    /// The state w of patch i, 0 on firm ground [m].
    fn deepest(&self, i: usize, states: &[f64]) -> f64 {
        states.get(2 * self.n() + 1 + i).copied().unwrap_or(0.0)
    }

    /// w of the ground that comes under patch i [m].
    fn coming(&self, laid: &Laid, i: usize, states: &[f64]) -> f64 {
        self.from(i, laid.way >= 0.0).map_or(0.0, |k| self.deepest(k, states).max(laid.patches[k].depth))
    }

    /// How w of patch i goes on [m/s].
    fn deepens(&self, laid: &Laid, i: usize, states: &[f64]) -> f64 {
        let (patch, w) = (&laid.patches[i], self.deepest(i, states));
        let depth = patch.depth.max(0.0);
        // what comes up from below the track is pressed down again at once
        let comes = -laid.way.abs() / self.spacing * (w - self.coming(laid, i, states).max(depth));
        if depth < w { comes } else { patch.rate.max(comes).max(0.0) + (depth - w) / IN_THE_AIR }
    }

    /// R: what pressing the ground down resists as the track goes on, as it grows with the way.
    fn ploughs(&self, laid: &Laid, states: &[f64]) -> Bristle {
        let Bed::Soft { soil, plate, .. } = &self.bed else { return Bristle::default() };
        let width = self.area / self.spacing;
        let work = |i: usize| {
            let (from, to) = (self.coming(laid, i, states), self.deepest(i, states).max(laid.patches[i].depth));
            if to <= from || laid.patches[i].load <= LEAST_LOAD {
                return 0.0;
            }
            // Simpson's rule over s, z = from + (to - from) s^2, which is smooth where the law begins with a root
            let step = 1.0 / f64::from(INTERVALS);
            let at = |k: u32| {
                let s = f64::from(k) * step;
                let z = from + (to - from) * s * s;
                2.0 * (to - from) * s * soil.pressure.again(z, 0.0, plate, &Unloading::default())
            };
            let inner: f64 = (1..INTERVALS).map(|k| if k % 2 == 1 { 4.0 * at(k) } else { 2.0 * at(k) }).sum();
            (at(0) + inner + at(INTERVALS)) * step / 3.0
        };
        let most = width * (0..self.n()).map(work).sum::<f64>();
        let stiffness = most / ROLLED;
        Bristle { stiffness, damping: stiffness * SETTLING, rate: laid.way.abs() / ROLLED, offset: 0.0, most }
    }

    /// How it lies, if its belt is not on edge or on its back.
    fn laid(&self, frames: &[Kinematics], w: f64, states: &[f64]) -> Option<Laid> {
        let [carrier, ground] = [&frames[0], &frames[1]];
        let (n, along) = (ground.R.z_axis, carrier.R.x_axis);
        let flat = along - n * along.dot(n);
        if carrier.R.z_axis.dot(n) <= 0.0 || flat.length() < 0.1 {
            return None;
        }
        let x = flat.normalize();
        let (y, belt) = (n.cross(x), self.radius * w);
        let moves = |at: Vec3| carrier.v + carrier.w.cross(at - carrier.p) - ground.v - ground.w.cross(at - ground.p);
        let patch = |(i, place): (usize, &f64)| {
            let at = carrier.p + along * *place;
            let v = moves(at);
            let (depth, rate) = (-(at - ground.p).dot(n), -v.dot(n));
            let press = self.press(depth, rate, self.deepest(i, states));
            let load = if press.load > 0.0 { (press.load + press.damping * rate).max(0.0) } else { 0.0 };
            Patch { at, depth, rate, load, press, slips: [belt - v.dot(x), -v.dot(y)] }
        };
        let patches = self.patches.iter().enumerate().map(patch).collect();
        Some(Laid { axes: [x, y, n], patches, belt, way: moves(carrier.p).dot(x) })
    }

    /// How the shear of patch i along an axis goes on.
    fn bristle(&self, laid: &Laid, i: usize, axis: usize, states: &[f64]) -> Bristle {
        let patch = &laid.patches[i];
        let (slip, runs) = (patch.slips[axis], laid.belt.abs() / self.spacing);
        if patch.load <= LEAST_LOAD {
            return Bristle::free(IN_THE_AIR, slip);
        }
        // the belt comes from the front where it drives forward
        let before = self.from(i, laid.belt >= 0.0).map_or(0.0, |k| states[2 * k + axis]);
        let most = self.holds(axis, patch.load);
        let stiffness = most / self.shear;
        let slides = hypot(patch.slips[0], patch.slips[1]) / self.shear;
        Bristle { stiffness, damping: stiffness * SETTLING, rate: slides + runs, offset: runs * before, most }
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
    fn shown(&self, laid: &Laid, forces: &[[f64; 3]], frame: &Kinematics, [torque, pushes]: [f64; 2]) -> [f64; 8] {
        let [x, y, n] = laid.axes;
        let (mut sums, mut turns) = ([0.0; 3], 0.0);
        for (patch, force) in laid.patches.iter().zip(forces) {
            (0..3).for_each(|k| sums[k] += force[k]);
            turns += (patch.at - frame.p).cross(x * force[0] + y * force[1]).dot(n);
        }
        let slip = laid.patches.iter().map(|patch| patch.slips[0]).sum::<f64>() / self.n() as f64;
        let sinkage = laid.patches.iter().map(|patch| patch.depth).sum::<f64>() / self.n() as f64;
        [sums[2], sums[0], sums[1], turns, slip, torque, sinkage, -pushes]
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
            output("sinkage", "m"),
            output("resistance", "N"),
        ];
        OUTPUTS
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        const SLIPS: ElementAccount = ElementAccount { cause: Cause::TyreSlip, name: "slip_loss" };
        const ROLLS: ElementAccount = ElementAccount { cause: Cause::Rolling, name: "rolling" };
        match self.bed {
            Bed::Firm { .. } => &[ElementAccount { cause: Cause::Damping, name: "loss" }, SLIPS, ROLLS],
            Bed::Soft { .. } => &[ElementAccount { cause: Cause::Compaction, name: "compaction" }, SLIPS, ROLLS],
        }
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let w = seen.coordinate().u;
        let Some(laid) = self.laid(seen.frames, w, seen.states) else {
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
            let elastic = patch.press.load;
            match self.bed {
                Bed::Firm { .. } => {
                    out.effect.powers[0] += (elastic - patch.load) * -patch.rate;
                    out.effect.stored += 0.5 * elastic * patch.depth.max(0.0);
                }
                Bed::Soft { .. } => {
                    out.effect.powers[0] += patch.load * patch.rate;
                    out.rates[2 * self.n() + 1 + i] = self.deepens(&laid, i, seen.states);
                }
            }
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
        let mut pushes = 0.0;
        if let Some(pushed) = seen.states.get(3 * self.n() + 1) {
            let ploughs = self.ploughs(&laid, seen.states);
            out.rates[3 * self.n() + 1] = ploughs.flow(*pushed, -laid.way);
            pushes = ploughs.force(*pushed, -laid.way);
            let on = Six::new(Vec3::ZERO, x * pushes);
            out.wrench(0, seen.frames[0].p, on);
            out.wrench(1, seen.frames[0].p, on * -1.0);
            out.effect.powers[0] -= pushes * laid.way;
        }
        out.shown.extend_from_slice(&self.shown(&laid, &forces, &seen.frames[0], [torque, pushes])[1..]);
    }

    fn acts_on_given(&self) -> bool {
        true
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        let Some(laid) = self.laid(seen.frames, seen.coordinate().u, seen.states) else { return };
        let [x, y, n] = laid.axes;
        let is_soft = matches!(self.bed, Bed::Soft { .. });
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
            let strut = Strut {
                stiffness: patch.press.stiffness,
                damping: patch.press.damping,
                phi: patch.press.phi,
                damped_by_step: is_soft,
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
        if let Some(pushed) = seen.states.get(3 * self.n() + 1) {
            let (at, axes) = (seen.frames[0].p, Six::new(Vec3::ZERO, x));
            let ends = [RowEnd::Frame { frame: 0, at, axes }, RowEnd::Frame { frame: 1, at, axes: axes * -1.0 }];
            out.strut(3 * self.n() as u8 + 1, self.ploughs(&laid, seen.states).strut(*pushed, step.h), &ends);
        }
    }

    fn stored(&self, seen: &Seen<'_>) -> f64 {
        let Bed::Firm { .. } = self.bed else { return 0.0 };
        let Some(laid) = self.laid(seen.frames, seen.coordinate().u, seen.states) else { return 0.0 };
        laid.patches.iter().map(|patch| 0.5 * patch.press.load * patch.depth.max(0.0)).sum()
    }

    fn finishes(&self) -> bool {
        true
    }

    fn finish(&self, step: &mut Finish<'_>) {
        step.outputs.clear();
        let begun = step.before.states.clone();
        let sights = [step.before, step.after].map(|sight| self.laid(&sight.frames, sight.coordinates[0].u, &begun));
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
            if let Bed::Soft { .. } = self.bed {
                let rate = 0.5 * (before.patches[i].rate + after.patches[i].rate);
                step.lost[0] += force[2] * rate * step.h;
                let (own, coming) = (self.deepest(i, &begun), self.coming(&before, i, &begun));
                let fades = libm::exp(-before.way.abs() / self.spacing * step.h);
                step.states[2 * n + 1 + i] = after.patches[i].depth.max(coming + (own - coming) * fades).max(0.0);
            }
        }
        let mut pushes = 0.0;
        if let Some(pushed) = begun.get(3 * n + 1) {
            pushes = effort(3 * n + 1);
            step.states[3 * n + 1] = self.ploughs(&before, &begun).after(*pushed, pushes, step.h);
            step.lost[0] -= pushes * 0.5 * (before.way + after.way) * step.h;
        }
        let drag = effort(3 * n);
        step.states[2 * n] = self.resists(&before).after(step.states[2 * n], drag, step.h);
        step.lost[2] += drag * -0.5 * (before.belt + after.belt) * step.h;
        torque += self.radius * drag;
        step.outputs.extend_from_slice(&self.shown(&after, &forces, &step.after.frames[0], [torque, pushes]));
    }

    fn drawn(&self, frames: &[Kinematics]) -> Vec<Vec3> {
        let along = frames[0].R.x_axis;
        [self.patches[0], self.patches[self.n() - 1]].map(|place| frames[0].p + along * place).to_vec()
    }
}
