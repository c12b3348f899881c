//! Wheels on soft ground that keeps their ruts. With H the height of a wheel's centre over the undisturbed plane, i its slip and alpha its drift,
//!   z = R cos(gamma) - H,   i = (R Omega - v) sgn(v)/max(|R Omega|, |v|),   cos(theta_1) = 1 - (z - z_e)/R,
//! the ground does to it what Wong and Reece (1967) sum up over its rim (`crates/soil/src/soft/wheel.rs`): weight, thrust T, resistance,
//! torque M. z_e is the depth of the rut that it rolls in, as unloading left it (Wong 1984); a wheel that has come up from its deepest sinkage w
//! since is on that line of unloading too, and w follows the ground that comes under it,
//!   w' = z' where z > w,   w' = -|v| tan(theta_1/2) min(1, k_u (w - z)/p(w)) elsewhere:
//! a wheel that rolls presses fresh ground at the mean slope of its rim, as fast as it lacks the pressure of that depth.
//! Thrust follows the slip as that of a tyre does (`tyre/bristle.rs`): the ground under the wheel holds as a spring C = T_most tau'(0), tau' the
//! slope of the shear law, forgets what it was sheared by over half of its length, and slides at T; so a wheel stands. Beside it, the wall of
//! the rut pushes against its side with the passive pressure of Rankine (1857), gamma h^2/2 N + 2 c h sqrt(N), N = tan^2(45 deg + phi/2).
//! What the ground keeps is how deep it was pressed at the nodes of a grid: wheels write it behind their lowest point, and read it ahead.

mod rut;
mod written;

pub(in crate::element) use written::{GROWTH, SOIL, check_soil, soil};
pub use written::{SPEC, WHEEL_KINDS};

use super::tyre::bristle::Bristle;
use super::{
    Acting, Action, Anchor, Attached, ElementAccount, ElementState, Finish, Output, RowEnd, RowList, Seen, StepAhead,
    Strut,
};
use crate::cause::Cause;
use crate::kinematics::Kinematics;
use crate::six::Six;
use libm::{acos, sin, sqrt, tan};
use rut::Grid;
use std::f64::consts::FRAC_PI_4;
use tippe_geometry::Vec3;
use tippe_soil::soft::{Meeting, Plate, RigidWheel, Rolling, Soil, Unloading};

/// A wheel that lies flatter than this does not roll: |cos(gamma)| [-].
const FLAT: f64 = 0.2;
/// Where slip itself counts the speed is taken as this at least [m/s].
const LEAST_SPEED: f64 = 0.02;
/// Slips stay this far from those of a wheel that is locked, where the ground would be sheared without end [-].
const LOCKED: f64 = 0.99;
/// Shear is forgotten within this time in the air [s].
const IN_THE_AIR: f64 = 0.02;
/// A wheel meets the whole resistance after this way [m].
const ROLLED: f64 = 0.01;
/// A wheel sinks in up to its axle at most [-].
const DEEPEST: f64 = 0.95;
/// Sinkage over which the slope of the weight is taken [m].
const SMALL: f64 = 1e-6;
/// States of a wheel: sheared along and across, rolled, w.
const STATES: usize = 4;
/// Rows of a wheel: load, along, across, resistance, torque beside that of the thrust.
const ROWS: usize = 5;
/// Outputs of a wheel.
const SHOWN: [(&str, &str); 9] = [
    ("load", "N"),
    ("force.x", "N"),
    ("force.y", "N"),
    ("torque", "N m"),
    ("slip", "-"),
    ("sinkage", "m"),
    ("thrust", "N"),
    ("resistance", "N"),
    ("rut", "m"),
];

/// A rigid wheel on it.
#[derive(Clone, Debug)]
struct Wheel {
    name: String,
    /// Its size, and where its pressure is largest.
    rim: RigidWheel,
}

/// Soft ground under wheels.
#[derive(Clone, Debug)]
pub struct SoftGround {
    /// The ground, z its normal, then the wheels, whose y axes are their axles.
    ends: Vec<Anchor>,
    wheels: Vec<Wheel>,
    soil: Soil,
    unloading: Unloading,
    /// n1 of slip sinkage [-].
    sinks: f64,
    /// gamma [N/m^3].
    weight: f64,
    /// Damping over stiffness [s].
    settling: f64,
    grid: Option<Grid>,
    states: Vec<ElementState>,
    outputs: Vec<Output>,
}

/// A wheel over the ground at one instant.
#[derive(Clone, Copy, Debug)]
struct Over {
    /// x, y, n, and the axle, resolved in world.
    axes: [Vec3; 3],
    axle: Vec3,
    /// Its centre, and its lowest point [m].
    centre: Vec3,
    low: Vec3,
    /// z [m] and z' [m/s].
    depth: f64,
    rate: f64,
    /// v along and across, R Omega [m/s].
    speed: [f64; 2],
    /// The same of the ground under its lowest point [m/s].
    slips: [f64; 2],
    rim: f64,
    /// Which way it goes, from -1 to 1, and how fast the faster of wheel and rim is [m/s].
    way: f64,
    going: f64,
    /// z_e and zu of the rut ahead [m].
    rut: [f64; 2],
}

/// What the ground does to it.
#[derive(Clone, Copy, Debug)]
struct Push {
    rolling: Rolling,
    /// i [-].
    slip: f64,
    /// Along, across, resistance.
    bristles: [Bristle; 3],
    /// Weight with what damps [N], and that damping [N s/m].
    load: f64,
    damping: f64,
    /// Torque against the spin beside R T [N m].
    beside: f64,
}

impl SoftGround {
    fn plate(&self, wheel: &Wheel) -> Plate {
        Plate { width: wheel.rim.width, length: f64::INFINITY }
    }

    /// Where wheel k is over the ground; none where it lies on its side or under it.
    fn over(&self, k: usize, seen: [&Kinematics; 2], kept: &[f64]) -> Option<Over> {
        let ([ground, wheel], rim) = (seen, &self.wheels[k].rim);
        let (n, axle) = (ground.R.z_axis, wheel.R.y_axis);
        let lean = axle.dot(n);
        let upright = sqrt((1.0 - lean * lean).max(0.0));
        if upright < FLAT {
            return None;
        }
        let x = axle.cross(n) / upright;
        let y = n.cross(x);
        let down = (n - axle * lean) / -upright;
        let height = (wheel.p - ground.p).dot(n);
        let v = wheel.v - ground.v - ground.w.cross(wheel.p - ground.p);
        let low = wheel.p + down * rim.radius;
        let speed = [v.dot(x), v.dot(y)];
        let sweeps = v + (wheel.w - ground.w).cross(low - wheel.p);
        let rim_speed = (wheel.w - ground.w).dot(axle) * rim.radius;
        let going = speed[0].abs().max(rim_speed.abs());
        // the faster of both says which way it goes
        let leads = if speed[0].abs() >= rim_speed.abs() { speed[0] } else { rim_speed };
        let mut over = Over {
            axes: [x, y, n],
            axle,
            centre: wheel.p,
            low,
            depth: (rim.radius * upright - height).min(DEEPEST * rim.radius),
            rate: -v.dot(n),
            speed,
            slips: [-sweeps.dot(x), -sweeps.dot(y)],
            rim: rim_speed,
            way: (leads / LEAST_SPEED).clamp(-1.0, 1.0),
            going,
            rut: [0.0; 2],
        };
        over.rut = self.rut_ahead(k, ground, &over, kept);
        Some(over)
    }

    /// z_e and zu where the wheel will enter: ahead and behind as it goes, or half and half where it stands.
    fn rut_ahead(&self, k: usize, ground: &Kinematics, over: &Over, kept: &[f64]) -> [f64; 2] {
        let Some(grid) = self.grid.as_ref().filter(|grid| kept.len() >= grid.nodes() && over.depth > 0.0) else {
            return [0.0; 2];
        };
        let wheel = &self.wheels[k];
        let reach = wheel.rim.radius * sin(enters(wheel.rim.radius, over.depth)) + grid.cell;
        let [x, y, _] = over.axes;
        let at = |side: f64| {
            let mean = |lines: [f64; 3]| {
                let deep = lines.map(|line| {
                    let p = over.low + x * (side * reach) + y * (line * wheel.rim.width) - ground.p;
                    grid.depth(kept, [p.dot(ground.R.x_axis), p.dot(ground.R.y_axis)])
                });
                (deep[0] + deep[1] + deep[2]) / 3.0
            };
            mean([-1.0 / 3.0, 0.0, 1.0 / 3.0])
        };
        let ahead = 0.5 * (1.0 + over.way);
        let zu = ahead * at(1.0) + (1.0 - ahead) * at(-1.0);
        if zu <= 0.0 {
            return [0.0; 2];
        }
        let pu = self.soil.pressure.again(zu, 0.0, &self.plate(wheel), &self.unloading);
        [zu - pu / self.unloading.firm([zu, pu]), zu]
    }

    /// How wheel k, at a sinkage and with its deepest one, meets the ground.
    fn met(&self, k: usize, over: &Over, depth: f64, deepest: f64) -> Rolling {
        let wheel = &self.wheels[k];
        let deepest = deepest.max(depth).min(DEEPEST * wheel.rim.radius);
        let slip = self.slip(over);
        let meeting = Meeting {
            slip,
            aside: over.speed[1].abs() / over.speed[0].abs().max(over.going * (1.0 - LOCKED)).max(LEAST_SPEED),
            enters: enters(wheel.rim.radius, deepest - over.rut[0]),
            begins: over.rut[0],
            pressed: over.rut[1],
            lifted: (deepest - depth).max(0.0),
            unloading: self.unloading,
        };
        let pressure = self.soil.pressure.steeper(self.sinks * slip.abs());
        wheel.rim.meeting(&Soil { pressure, ..self.soil }, &meeting)
    }

    /// i [-].
    fn slip(&self, over: &Over) -> f64 {
        let way = if over.way >= 0.0 { 1.0 } else { -1.0 };
        let i = way * (over.rim - over.speed[0]) / over.going.max(LEAST_SPEED);
        i.clamp(-LOCKED, 1.0)
    }

    /// What the ground does to wheel k; none in the air.
    fn push(&self, k: usize, over: &Over, states: &[f64]) -> Option<Push> {
        let (radius, w) = (self.wheels[k].rim.radius, states[3]);
        if over.depth <= 0.0 {
            return None;
        }
        let rolling = self.met(k, over, over.depth, w);
        if rolling.weight <= 0.0 || rolling.most <= 0.0 {
            return None;
        }
        let length = radius * sin(rolling.enters).max(1e-3);
        let firm = (rolling.weight - self.met(k, over, over.depth - SMALL, w.max(over.depth)).weight) / SMALL;
        let damping = self.settling * firm.max(0.0);
        let load = (rolling.weight + damping * over.rate).max(0.0);
        let along = over.way * rolling.thrust;
        let [slip, aside] = over.slips;
        let stiffness = rolling.most * self.soil.shear.slope();
        let forgets = 0.5 * length;
        let bristle = |steady: f64, most: f64, s: f64| {
            let pull = stiffness * forgets * s.abs();
            let slides = if steady == 0.0 { over.going } else { over.going.max(pull / steady.abs()) };
            Bristle {
                stiffness,
                damping: stiffness * self.settling,
                rate: slides / forgets,
                offset: slides * steady / (stiffness * forgets) - s,
                most: most.max(steady.abs()),
            }
        };
        let wall = self.wall(k, over, &rolling);
        let across = aside.signum() * (rolling.across + wall);
        let resistance = Bristle {
            stiffness: rolling.resistance / ROLLED,
            damping: rolling.resistance / ROLLED * self.settling,
            rate: over.speed[0].abs() / ROLLED,
            offset: 0.0,
            most: rolling.resistance,
        };
        Some(Push {
            rolling,
            slip: self.slip(over),
            bristles: [bristle(along, rolling.most, slip), bristle(across, rolling.most + wall, aside), resistance],
            load,
            damping,
            beside: over.way * (rolling.torque - radius * rolling.thrust),
        })
    }

    /// The wall of the rut against the wheel's side, as far as it is sheared there [N].
    fn wall(&self, k: usize, over: &Over, rolling: &Rolling) -> f64 {
        let aside = over.speed[1].abs();
        if self.weight == 0.0 || aside == 0.0 {
            return 0.0;
        }
        let radius = self.wheels[k].rim.radius;
        let passive = tan(FRAC_PI_4 + 0.5 * self.soil.friction);
        let depth = |theta: f64| radius * (libm::cos(theta) - libm::cos(rolling.enters)).max(0.0);
        let pressed = |theta: f64| {
            let h = depth(theta);
            0.5 * self.weight * h * h * passive * passive + 2.0 * self.soil.cohesion * h * passive
        };
        // Simpson's rule over the chord, which is cut at the same angles on both sides
        let n = 8;
        let step = rolling.enters / f64::from(n);
        let at = |j: u32| pressed(f64::from(j) * step) * libm::cos(f64::from(j) * step);
        let inner: f64 = (1..n).map(|j| if j % 2 == 1 { 4.0 * at(j) } else { 2.0 * at(j) }).sum();
        let whole = 2.0 * radius * step / 3.0 * (at(0) + inner + at(n));
        let moved = radius * rolling.enters * aside / over.going.max(LEAST_SPEED);
        whole * self.soil.shear.at(moved)
    }

    /// w' [m/s].
    fn deepens(&self, k: usize, over: &Over, w: f64) -> f64 {
        let depth = over.depth.max(0.0);
        if depth >= w {
            return over.rate.max(0.0) + (depth - w) / IN_THE_AIR;
        }
        let [slope, unloads] = self.comes_up(k, over, w);
        -over.speed[0].abs() * slope * ((w - depth) / unloads).min(1.0)
    }

    /// tan(theta_1/2), and p(w)/k_u, how far a wheel has come up that the ground does not push any more [m].
    fn comes_up(&self, k: usize, over: &Over, w: f64) -> [f64; 2] {
        let wheel = &self.wheels[k];
        let slope = tan(0.5 * enters(wheel.rim.radius, w - over.rut[0]));
        let p = self.soil.pressure.again(w, over.rut[1], &self.plate(wheel), &self.unloading);
        let firm = self.unloading.firm([w.max(over.rut[1]), p]);
        [slope, if firm > 0.0 { (p / firm).max(SMALL) } else { w }]
    }

    /// Outputs of a wheel, from the forces on it: load, along, across, resistance, and its torque.
    fn shown(over: &Over, push: &Push, forces: [f64; 4], torque: f64) -> [f64; SHOWN.len()] {
        let [load, along, across, resists] = forces;
        [load, along + resists, across, torque, push.slip, over.depth, along, -resists, over.rut[1]]
    }

    fn states_of<'a>(&self, k: usize, states: &'a [f64]) -> &'a [f64] {
        &states[STATES * k..STATES * (k + 1)]
    }

    /// What wheels leave behind.
    fn write(&self, frames: &[Kinematics], states: &[f64], kept: &mut [f64]) {
        let Some(grid) = &self.grid else { return };
        for (k, wheel) in self.wheels.iter().enumerate() {
            let Some(over) = self.over(k, [&frames[0], &frames[k + 1]], kept) else { continue };
            let p = over.low - frames[0].p;
            let at = [p.dot(frames[0].R.x_axis), p.dot(frames[0].R.y_axis)];
            let depth = if over.depth > 0.0 { over.depth.max(self.states_of(k, states)[3]) } else { 0.0 };
            grid.roll(kept, k, [at[0], at[1], depth], wheel.rim.width);
        }
    }
}

/// theta_1 of a wheel that is so deep [rad].
fn enters(radius: f64, depth: f64) -> f64 {
    acos((1.0 - depth / radius).clamp(1.0 - DEEPEST, 1.0))
}

/// The directions along which the rows of a wheel act: where, and which.
fn direction(over: &Over, part: usize) -> (Vec3, Six) {
    let [x, y, n] = over.axes;
    match part {
        0 => (over.centre, Six::new(Vec3::ZERO, n)),
        1 => (over.low, Six::new(Vec3::ZERO, x)),
        2 => (over.low, Six::new(Vec3::ZERO, y)),
        3 => (over.centre, Six::new(Vec3::ZERO, x)),
        _ => (over.centre, Six::new(over.axle, Vec3::ZERO)),
    }
}

impl Acting for SoftGround {
    fn attached(&self) -> Attached<'_> {
        Attached { frames: &self.ends, ..Attached::default() }
    }

    fn states(&self) -> &[ElementState] {
        &self.states
    }

    fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        &[
            ElementAccount { cause: Cause::Compaction, name: "compaction" },
            ElementAccount { cause: Cause::TyreSlip, name: "slip" },
            ElementAccount { cause: Cause::Damping, name: "loss" },
        ]
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let mut whole = 0.0;
        for k in 0..self.wheels.len() {
            let own = self.states_of(k, seen.states);
            let first = STATES * k;
            let over = self.over(k, [&seen.frames[0], &seen.frames[k + 1]], seen.kept);
            let push = over.and_then(|over| self.push(k, &over, own).map(|push| (over, push)));
            let Some((over, push)) = push else {
                let free = Bristle::free(IN_THE_AIR, 0.0);
                (0..3).for_each(|j| out.rates[first + j] = free.flow(own[j], 0.0));
                out.rates[first + 3] = over.map_or(0.0, |over| self.deepens(k, &over, own[3]));
                out.shown.extend([0.0; SHOWN.len()]);
                continue;
            };
            let slips = [over.slips[0], over.slips[1], -over.speed[0]];
            let mut forces = [push.load, 0.0, 0.0, 0.0];
            for j in 0..3 {
                out.rates[first + j] = push.bristles[j].flow(own[j], slips[j]);
                forces[j + 1] = push.bristles[j].force(own[j], slips[j]);
            }
            out.rates[first + 3] = self.deepens(k, &over, own[3]);
            let efforts = [forces[0], forces[1], forces[2], forces[3], -push.beside];
            for (part, effort) in efforts.into_iter().enumerate() {
                let (at, axes) = direction(&over, part);
                out.wrench(k + 1, at, axes * effort);
                out.wrench(0, at, axes * -effort);
            }
            let radius = self.wheels[k].rim.radius;
            let damped = push.load - push.rolling.weight;
            out.effect.powers[0] += push.rolling.weight * over.rate - forces[3] * over.speed[0];
            out.effect.powers[1] += forces[1] * slips[0] + forces[2] * slips[1] + push.beside * over.rim / radius;
            out.effect.powers[2] += damped * over.rate;
            whole += push.load;
            let torque = -radius * forces[1] - push.beside;
            out.shown.extend(SoftGround::shown(&over, &push, forces, torque));
        }
        out.effect.effort = whole;
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        let h = step.h;
        for k in 0..self.wheels.len() {
            let own = self.states_of(k, seen.states);
            let Some(over) = self.over(k, [&seen.frames[0], &seen.frames[k + 1]], seen.kept) else { continue };
            let Some(push) = self.push(k, &over, own) else { continue };
            let ends = |part: usize| {
                let (at, axes) = direction(&over, part);
                [RowEnd::Frame { frame: k + 1, at, axes }, RowEnd::Frame { frame: 0, at, axes: axes * -1.0 }]
            };
            let part = |j: usize| (ROWS * k + j) as u8;
            let moves = |frame: usize| {
                let (u, p) = (step.frames[frame], seen.frames[frame].p);
                (u.linear + u.angular.cross(over.centre - p)).dot(over.axes[2])
            };
            // where it will go down the ground is that under it, where it will come up the line of unloading
            let sinks = 0.5 * (over.rate + moves(0) - moves(k + 1)) >= 0.0;
            let by = if sinks { SMALL } else { -SMALL };
            let deepest = own[3].max(over.depth);
            let next = self.met(k, &over, over.depth + by, deepest.max(over.depth + by)).weight;
            let stiffness = ((next - push.rolling.weight) / by).max(1.0);
            let strut = Strut {
                stiffness,
                damping: push.damping,
                phi: -push.rolling.weight / stiffness,
                damped_by_step: true,
                bounds: [0.0, f64::INFINITY],
                bound: f64::INFINITY,
            };
            out.strut(part(0), strut, &ends(0));
            for (j, bristle) in push.bristles.iter().enumerate() {
                out.strut(part(j + 1), bristle.strut(own[j], h), &ends(j + 1));
            }
            if push.beside != 0.0 {
                out.given(part(4), -push.beside * h, &ends(4));
            }
        }
    }

    fn keeps(&self) -> usize {
        self.grid.as_ref().map_or(0, |grid| grid.keeps(self.wheels.len()))
    }

    fn keep(&self, seen: &Seen<'_>, kept: &mut [f64]) {
        self.write(seen.frames, seen.states, kept);
    }

    fn finishes(&self) -> bool {
        true
    }

    fn finish(&self, step: &mut Finish<'_>) {
        step.outputs.clear();
        step.outputs.push(0.0);
        for k in 0..self.wheels.len() {
            let first = STATES * k;
            let over = |frames: &[Kinematics], kept: &[f64]| self.over(k, [&frames[0], &frames[k + 1]], kept);
            let [before, after] = [&step.before.frames, &step.after.frames].map(|frames| over(frames, step.kept));
            let own: [f64; STATES] = std::array::from_fn(|j| step.before.states[first + j]);
            let after = after.or(before);
            step.states[first + 3] = after.map_or(own[3], |after| self.deepened(k, &after, own[3], step.h));
            let push = before.and_then(|before| self.push(k, &before, &own).map(|push| (before, push)));
            let (Some((before, push)), Some(after)) = (push, after) else {
                step.states[first..first + 3].fill(0.0);
                step.outputs.extend([0.0; SHOWN.len()]);
                continue;
            };
            let effort = |j: usize| {
                let part = (ROWS * k + j) as u8;
                step.impulses.iter().find(|row| row.0 == part).map_or(0.0, |row| row.1 / step.h)
            };
            let forces = [effort(0), effort(1), effort(2), effort(3)];
            for j in 0..3 {
                step.states[first + j] = push.bristles[j].after(own[j], forces[j + 1], step.h);
            }
            let mean = |of: fn(&Over) -> f64| 0.5 * (of(&before) + of(&after));
            let (speed, rim) = (mean(|o| o.speed[0]), mean(|o| o.rim));
            let [slip, aside] = [mean(|o| o.slips[0]), mean(|o| o.slips[1])];
            let (rate, radius) = (mean(|o| o.rate), self.wheels[k].rim.radius);
            let damped = push.damping * rate;
            step.lost[0] += ((forces[0] - damped) * rate - forces[3] * speed) * step.h;
            step.lost[1] += (forces[1] * slip + forces[2] * aside + push.beside * rim / radius) * step.h;
            step.lost[2] += damped * rate * step.h;
            step.outputs[0] += forces[0];
            let torque = -radius * forces[1] - push.beside;
            step.outputs.extend(SoftGround::shown(&after, &push, forces, torque));
        }
        self.write(&step.after.frames, step.states, step.kept);
    }

    fn drawn(&self, frames: &[Kinematics]) -> Vec<Vec3> {
        frames[1..].iter().map(|frame| frame.p).collect()
    }
}

impl SoftGround {
    /// w at the end of a step.
    fn deepened(&self, k: usize, after: &Over, w: f64, h: f64) -> f64 {
        let depth = after.depth.max(0.0);
        if depth >= w {
            return depth;
        }
        let [slope, unloads] = self.comes_up(k, after, w);
        let (up, fall) = (w - depth, after.speed[0].abs() * slope * h);
        depth + (up * libm::exp(-fall / unloads)).max(up - fall)
    }
}
