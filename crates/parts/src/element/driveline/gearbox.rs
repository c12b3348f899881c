//! A gearbox with gears by number, 0 for neutral and -1 for reverse: in gear g the input turns i_g times the output,
//!   r = u_1 - i_g u_2,   and the teeth hold whatever comes.
//! A shift frees both shafts for the shift time; then the synchroniser of the new gear carries so much and no more until both turn together,
//! and the teeth go in. It refuses a gear where |r| is above its limit at that moment: the box stays in neutral until another gear is asked for.
//! How teeth and synchronisers hold stands in `hold.rs`.
//! Its second mode keeps the gear in `sense` and the time at which the teeth came out in `speed`; it is held while teeth are in. The third is held while its
//! synchroniser works, and keeps in `speed` the r with which that began.

use super::hold::{Grip, Line, Now, sign};
use super::{EFFICIENCY, formula, shafts, yielding, yields};
use crate::cause::Cause;
use crate::element::written::Build;
use crate::element::{
    Acting, Action, At, Attached, CoordinateMotion, Effect, Element, ElementAccount, ElementMode, ElementSpec,
    ElementState, Finish, Output, RowList, Seen, Settled, StepAhead, Trip,
};
use crate::event::EventKind;
use crate::network::Formula;
use std::borrow::Cow;
use tippe_format::equation::Dimension;
use tippe_format::key::{Form, Range, Spec, equation, key, measure, number};
use tippe_format::part::Part;

/// Torque of a synchroniser where nothing is said [N m].
const SYNCHRONISER: f64 = 60.0;
/// Modes: what the gears carry, the gear, and its synchroniser at work.
const GRIP: usize = 0;
const GEAR: usize = 1;
const SYNC: usize = 2;
/// An impulse within this share of its bound is within it [-].
const WITHIN: f64 = 1.0 - 1e-7;

/// A gearbox.
#[derive(Clone, Debug)]
pub struct Gearbox {
    /// Input and output.
    at: Vec<At>,
    line: Line,
    /// i of the first gear and up.
    ratios: Vec<f64>,
    /// That of reverse.
    reverse: Option<f64>,
    /// The gear that is asked for.
    gear: Formula,
    /// [s].
    shift_time: f64,
    /// What a synchroniser carries [N m].
    synchroniser: f64,
    /// |r| above which a gear is refused [rad/s].
    refuses: f64,
    /// Share of the power that comes through [-].
    efficiency: f64,
    states: [ElementState; 1],
}

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "gearbox",
        about: "Gears between two shafts, one at a time, changed while they turn",
        keys: &[
            &[shafts(
                &[Some(true), Some(true)],
                0,
                "Input and output: JOINT or JOINT.COORDINATE",
                "two joints that turn, such as shafts = [\"clutch\", \"propshaft\"]",
            )],
            &[
                key(
                    "ratios",
                    Form::List(&Form::Number(measure(Dimension::ONE, Range::NotZero))),
                    "Rate of the input over rate of the output in each gear [-]",
                )
                .required("first gear first, such as ratios = [3.6, 2.1, 1.4, 1]"),
                number("reverse", Dimension::ONE, Range::NotZero, "The same in reverse, below 0 to turn back [-]"),
                equation("gear", "Number of the gear: 0 is neutral, -1 reverse; rounded [-]")
                    .required("such as gear = 1"),
                number("shift_time", Dimension::TIME, Range::NotNegative, "Time in neutral as gears change [s]")
                    .or(0.0),
                number(
                    "synchroniser",
                    Dimension::ENERGY,
                    Range::Positive,
                    "Torque at the input that brings both shafts together [N m]",
                )
                .or(SYNCHRONISER),
                number(
                    "refuses",
                    Dimension::ANGULAR_SPEED,
                    Range::Positive,
                    "Difference of speeds at the input above which it refuses a gear [rad/s]; default never",
                ),
                EFFICIENCY,
            ],
            &yields("Torsional stiffness of its gears and shafts, seen from the input [N m/rad]"),
        ],
        check: |check| {
            if check.has("ratios") && check.part.numbers("ratios").is_empty() && check.part.get("ratios").is_some() {
                check.error("ratios", " has no gear", "first gear first, such as ratios = [3.6, 2.1, 1.4, 1]");
            }
        },
        example: "shafts = [\"hinge\", \"other\"]\nratios = [3.6, 2.1]\ngear = 1",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let [stiffness, damping] = yielding(part);
    let state = ElementState { name: Cow::Borrowed("wound"), unit: "rad", start: 0.0, scale: 1e-9 };
    Some(Element::Gearbox(Box::new(Gearbox {
        at: build.coordinates(part.coordinates("shafts"))?,
        line: Line { stiffness, damping, leak: 0.0 },
        ratios: part.numbers("ratios").to_vec(),
        reverse: part.find_number("reverse"),
        gear: formula(part, build, &[("gear", "0")])?,
        shift_time: part.number("shift_time"),
        synchroniser: part.number("synchroniser"),
        refuses: part.find_number("refuses").unwrap_or(f64::INFINITY),
        efficiency: part.number("efficiency"),
        states: [state],
    })))
}

impl Gearbox {
    /// The gear that is asked for; one that there is not is neutral.
    fn asked(&self, seen: &Seen<'_>) -> f64 {
        let gear = seen.value(&self.gear, &[]).round();
        if self.ratio(gear).is_some() { gear } else { 0.0 }
    }

    /// i of a gear; none of neutral.
    fn ratio(&self, gear: f64) -> Option<f64> {
        if gear < 0.0 { self.reverse } else { (gear as usize).checked_sub(1).and_then(|k| self.ratios.get(k)).copied() }
    }

    /// How it holds at time t with these modes.
    fn grip(&self, modes: &[ElementMode]) -> Grip {
        let mut grip = Grip::default();
        let gear = modes[GEAR];
        let ratio = self.ratio(gear.sense);
        grip.factors[..2].copy_from_slice(&[1.0, -ratio.unwrap_or(self.ratios[0])]);
        grip.capacity = match (ratio, gear.held, modes[SYNC].held) {
            (Some(_), true, _) => f64::INFINITY,
            (Some(_), false, true) if !self.refused(modes) => self.synchroniser,
            _ => 0.0,
        };
        grip
    }

    /// The same, with what its gears lose.
    fn geared(&self, modes: &[ElementMode], seen: &Seen<'_>) -> Grip {
        let mut grip = self.grip(modes);
        if self.efficiency < 1.0 {
            grip.lost = Grip::wasted(self.efficiency, self.line.stiffness * seen.states[0], seen.coordinates[0].u);
        }
        grip
    }

    /// Its modes, where they are not known before its first step: in gear.
    fn known(&self, seen: &Seen<'_>) -> [ElementMode; 3] {
        let [grip, gear, sync] = [GRIP, GEAR, SYNC].map(|which| seen.modes[which]);
        if grip.sense != 0.0 || gear.speed != 0.0 {
            return [grip, gear, sync];
        }
        let in_gear = ElementMode { held: true, sense: self.asked(seen), speed: -1.0 };
        [
            ElementMode { held: true, sense: 1.0, speed: 0.0 },
            in_gear,
            ElementMode { held: true, sense: 1.0, speed: 0.0 },
        ]
    }

    /// r [rad/s].
    fn rate(&self, modes: &[ElementMode], shafts: &[CoordinateMotion]) -> f64 {
        shafts.iter().zip(self.grip(modes).factors).map(|(shaft, factor)| factor * shaft.u).sum()
    }

    fn now(&self, modes: &[ElementMode; 3], seen: &Seen<'_>) -> (Grip, Now) {
        let grip = self.geared(modes, seen);
        (grip, self.line.now(&grip, seen.coordinates, seen.states[0], modes[GRIP]))
    }

    /// True if its synchroniser found the shafts too far apart.
    fn refused(&self, modes: &[ElementMode]) -> bool {
        modes[SYNC].held && modes[SYNC].speed.abs() > self.refuses
    }

    /// The gear that it is in, or goes to.
    fn shown(&self, modes: &[ElementMode]) -> f64 {
        if self.refused(modes) { 0.0 } else { modes[GEAR].sense }
    }
}

impl Acting for Gearbox {
    fn attached(&self) -> Attached<'_> {
        Attached { coordinates: &self.at, formula: Some(&self.gear), ..Attached::default() }
    }

    fn states(&self) -> &[ElementState] {
        &self.states
    }

    fn outputs(&self) -> &[Output] {
        &[
            Output { name: Cow::Borrowed("torque"), unit: Some("N m") },
            Output { name: Cow::Borrowed("torque_1"), unit: Some("N m") },
            Output { name: Cow::Borrowed("torque_2"), unit: Some("N m") },
            Output { name: Cow::Borrowed("gear"), unit: Some("-") },
            Output { name: Cow::Borrowed("asked"), unit: Some("-") },
        ]
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        &[ElementAccount { cause: Cause::Driveline, name: "heat" }]
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let modes = self.known(seen);
        let (grip, now) = self.now(&modes, seen);
        let z = seen.states[0];
        for (k, effort) in out.efforts.iter_mut().enumerate() {
            *effort = -grip.pushes(k) * now.torque;
        }
        out.rates[0] = now.winds;
        out.effect = Effect::new(now.torque, self.line.stored(z), self.line.heats(&now, z, &grip, seen.coordinates));
        let Action { efforts, shown, .. } = out;
        shown.extend_from_slice(efforts);
        shown.extend([self.shown(&modes), self.asked(seen)]);
    }

    fn watched(&self) -> usize {
        3
    }

    fn mode_name(&self, which: usize) -> Option<&str> {
        Some(["grip", "gear", "synchroniser"][which])
    }

    fn watch(&self, which: usize, seen: &Seen<'_>) -> f64 {
        let modes = self.known(seen);
        let gear = modes[GEAR];
        match which {
            GRIP => {
                let (grip, now) = self.now(&modes, seen);
                self.line.watch(&now, grip.capacity, modes[GRIP])
            }
            GEAR => (self.asked(seen) - gear.sense).abs() - 0.5,
            _ if modes[SYNC].held || gear.sense == 0.0 => -1.0,
            _ => seen.t - gear.speed - self.shift_time,
        }
    }

    fn event(&self, which: usize, mode: ElementMode) -> Option<EventKind> {
        match (which, mode.held) {
            (GRIP, true) => Some(EventKind::GripSlip),
            (GRIP, false) => Some(EventKind::GripStick),
            (GEAR, _) => Some(EventKind::GearOut),
            _ => Some(EventKind::Synchronise),
        }
    }

    fn trip(&self, which: usize, seen: &Seen<'_>) -> Trip {
        let modes = self.known(seen);
        Trip::to(match which {
            GRIP => {
                let (grip, now) = self.now(&modes, seen);
                self.line.trip(&now, grip.capacity, modes[GRIP])
            }
            GEAR => ElementMode { held: false, sense: self.asked(seen), speed: seen.t },
            _ => {
                let speed = self.rate(&modes, seen.coordinates);
                ElementMode { held: true, speed, ..modes[SYNC] }
            }
        })
    }

    fn settle(&self, which: usize, seen: &Seen<'_>) -> Option<Settled> {
        let (mode, modes) = (seen.modes[which], self.known(seen));
        let (grip, now) = self.now(&modes, seen);
        let gear = modes[GEAR];
        let settled = match which {
            GRIP if mode.sense == 0.0 => modes[GRIP],
            GRIP => self.line.settle(&now, grip.capacity, mode)?,
            GEAR if mode.speed == 0.0 => ElementMode { held: true, sense: self.asked(seen), speed: -1.0 },
            // both shafts turn together: the teeth go in
            GEAR if !mode.held && modes[SYNC].held && modes[GRIP].held && grip.capacity > 0.0 => {
                ElementMode { held: true, ..mode }
            }
            SYNC if mode.sense == 0.0 => modes[SYNC],
            SYNC if mode.held && !gear.held && seen.t < gear.speed + self.shift_time => {
                ElementMode { held: false, speed: 0.0, ..mode }
            }
            _ => return None,
        };
        Some(Settled { mode: settled, acts: true })
    }

    fn acts_on_given(&self) -> bool {
        true
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        self.line.row(0, &self.geared(&self.known(seen), seen), seen.states[0], step.h, out);
    }

    fn stored(&self, seen: &Seen<'_>) -> f64 {
        self.line.stored(seen.states[0])
    }

    fn outputs_of_row(&self, seen: &Seen<'_>, _: u8, force: f64, outputs: &mut [f64]) {
        let modes = self.known(seen);
        let grip = self.geared(&modes, seen);
        outputs.copy_from_slice(&[
            -force,
            grip.pushes(0) * force,
            grip.pushes(1) * force,
            self.shown(&modes),
            self.asked(seen),
        ]);
    }

    fn finishes(&self) -> bool {
        true
    }

    fn finish(&self, step: &mut Finish<'_>) {
        let Some(&(_, impulse)) = step.impulses.first() else { return };
        let [gear, asked] = [step.outputs[3], step.outputs[4]];
        let t = step.before.t + step.h;
        if step.modes[GEAR].speed == 0.0 {
            // before its first step it was in gear
            step.modes[GEAR] = ElementMode { held: true, sense: gear, speed: -1.0 };
            step.modes[SYNC] = ElementMode { held: true, sense: 1.0, speed: 0.0 };
        }
        let grip = self.grip(step.modes);
        step.states[0] = self.line.wound(step.states[0], impulse, step.h);
        let carries = impulse.abs() < grip.capacity * step.h * WITHIN;
        step.modes[GRIP] = ElementMode { held: carries, sense: -sign(impulse), speed: 0.0 };
        let mode = step.modes[GEAR];
        if asked != gear && asked != mode.sense {
            step.modes[GEAR] = ElementMode { held: false, sense: asked, speed: t };
            step.modes[SYNC] = ElementMode { held: false, sense: 1.0, speed: 0.0 };
            step.happened.push((GEAR, mode));
        } else if !step.modes[SYNC].held && mode.sense != 0.0 && t >= mode.speed + self.shift_time {
            let speed = self.rate(step.modes, &step.after.coordinates);
            step.happened.push((SYNC, step.modes[SYNC]));
            step.modes[SYNC] = ElementMode { held: true, sense: 1.0, speed };
        } else if !mode.held && step.modes[SYNC].held && carries && grip.capacity > 0.0 {
            step.modes[GEAR].held = true;
        }
    }
}
