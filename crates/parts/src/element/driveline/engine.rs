//! A combustion engine on a shaft that turns with w. F(w) is its torque at full load, D(w) <= 0 that of its drag without fuel:
//!   T = min(F, max(D + x (F - D), P (w_i - w) + y)),   x the throttle from 0 to 1,   y' = P (w_i - w)/T_i from 0 to F: the idle governor;
//! with a governed speed w_g:   T = P (w_g - w) within D and F.
//! Above its redline it gets no fuel until it is 2 % below; so does an engine that has stalled, which is one slower than 0.6 w_i for 0.2 s,
//! until it is faster again. The starter adds S b (1 - w/w_s), b from 0 to 1, below w_s. Drag falls to nothing at rest, D w/w_0 below w_0.
//! In a step h the torque answers to the rate: T + T' (w+ - w) within D and F, T' <= 0.

use super::table::{Table, pairs, rising};
use super::{formula, shafts};
use crate::cause::Cause;

use crate::element::written::Build;
use crate::element::{
    Acting, Action, Answering, At, Attached, Element, ElementAccount, ElementMode, ElementSpec, ElementState, Finish,
    Output, RowEnd, RowList, Seen, Settled, StepAhead, Trip,
};
use crate::event::EventKind;
use crate::network::Formula;
use std::borrow::Cow;
use tippe_format::equation::Dimension;
use tippe_format::key::{Range, Spec, equation, number};
use tippe_format::part::Part;

/// Below this speed drag falls to nothing, w_0 [rad/s]: chosen, a fifth of what a starter reaches.
const DRAG_SPEED: f64 = 5.0;
/// Torque of the idle governor at the speed nothing, as a share of full load there [-]: P = 2 F(w_i)/w_i.
const GOVERNS: f64 = 2.0;
/// T_i of its integral [s]: chosen, some turns at idle.
const IDLE_TIME: f64 = 0.5;
/// It burns again at this share of the redline [-].
const BURNS_AGAIN: f64 = 0.98;
/// It stalls below this share of the idle speed [-] ...
const STALL_SHARE: f64 = 0.6;
/// ... if that lasts as long as this [s].
const STALL_TIME: f64 = 0.2;
/// What is left of a slow moment is forgotten with this time [s]: a tenth of that in which it stalls.
const FORGETS: f64 = 0.02;
/// Change of speed by which slopes are measured [rad/s].
const CHANGE: f64 = 1e-3;
/// Which mode is that of its redline, and which that of stalling.
const CUT: usize = 0;
const STALLED: usize = 1;

/// A combustion engine.
#[derive(Clone, Debug)]
pub struct Engine {
    at: At,
    full: Table,
    drag: Table,
    /// Throttle, governed speed [rad/s], starter.
    inputs: Formula,
    is_governed: bool,
    /// P [N m s/rad].
    gain: f64,
    /// w_i [rad/s]; it neither idles nor stalls where it is zero.
    idle: f64,
    redline: f64,
    /// S [N m].
    starter: f64,
    /// w_s [rad/s].
    starter_speed: f64,
    states: [ElementState; 2],
}

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "engine",
        about: "A combustion engine on a shaft: full load and drag by tables, idle governor, redline, starter, stall",
        keys: &[
            &[shafts(
                &[Some(true)],
                0,
                "Its shaft: JOINT or JOINT.COORDINATE",
                "one joint that turns, such as shafts = [\"crank\"]",
            )],
            &[
                pairs("full_load", "Rows of (speed, torque) at full throttle [rad/s, N m], speeds rising")
                    .required("such as full_load = [[\"800 rpm\", 120], [\"3000 rpm\", 245], [\"6000 rpm\", 185]]"),
                pairs("drag", "Rows of (speed, torque) without fuel [rad/s, N m], torques not above 0; default none"),
                equation("throttle", "From 0 to 1 [-]; default 0"),
                equation("governor", "Speed that it is governed to, in place of a throttle [rad/s]"),
                number(
                    "gain",
                    Dimension::new(2, 1, -1),
                    Range::Positive,
                    "Torque per speed that its governor lacks [N m s/rad]; default twice full load at idle speed over that speed, or a tenth of full load per rad/s of a governed one",
                ),
                number(
                    "idle",
                    Dimension::ANGULAR_SPEED,
                    Range::Positive,
                    "Speed at which it idles [rad/s]; default none, and it does not stall",
                ),
                number(
                    "redline",
                    Dimension::ANGULAR_SPEED,
                    Range::Positive,
                    "Speed above which it gets no fuel [rad/s]; default none",
                ),
                equation("starter", "From 0, off, to 1 [-]; default 0"),
                number("starter_torque", Dimension::ENERGY, Range::NotNegative, "Torque of the starter at rest [N m]")
                    .or(0.0),
                number(
                    "starter_speed",
                    Dimension::ANGULAR_SPEED,
                    Range::Positive,
                    "Speed above which the starter gives nothing [rad/s]",
                )
                .or(26.0),
            ],
        ],
        check: |check| {
            rising(check, "full_load");
            rising(check, "drag");
            check.not_both("throttle", "governor");
            if let Some(pair) = check.part.numbers("drag").chunks_exact(2).find(|pair| pair[1] > 0.0) {
                let message = format!(": drag is {} N m at {} rad/s, and would drive", pair[1], pair[0]);
                check.error("drag", message, "write torques of drag with a minus sign");
            }
        },
        example: "shafts = [\"hinge\"]\nfull_load = [[80, 120], [300, 245], [600, 185]]\nthrottle = 1",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let at = *build.coordinates(part.coordinates("shafts"))?.first()?;
    let inputs = formula(part, build, &[("throttle", "0"), ("governor", "0"), ("starter", "0")])?;
    let (full, idle) = (Table::of(part, "full_load"), part.number("idle"));
    let is_governed = part.equation("governor").is_some();
    let gain = part.find_number("gain").unwrap_or(match (is_governed, idle > 0.0) {
        (true, _) => 0.1 * full.at(full.last()[0]),
        (false, true) => GOVERNS * full.at(idle) / idle,
        (false, false) => 0.0,
    });
    let state = |name, unit| ElementState { name: Cow::Borrowed(name), unit, start: 0.0, scale: 1e-6 };
    Some(Element::Engine(Box::new(Engine {
        at,
        full,
        drag: Table::of(part, "drag"),
        inputs,
        is_governed,
        gain,
        idle,
        redline: part.find_number("redline").unwrap_or(f64::INFINITY),
        starter: part.number("starter_torque"),
        starter_speed: part.number("starter_speed"),
        states: [state("idling", "N m"), state("slow", "s")],
    })))
}

/// What an engine gives at a speed.
#[derive(Clone, Copy, Debug)]
struct Given {
    /// Without its bounds [N m].
    wanted: f64,
    /// D and F, starter included [N m].
    bounds: [f64; 2],
}

impl Given {
    fn torque(&self) -> f64 {
        self.wanted.max(self.bounds[0]).min(self.bounds[1])
    }
}

impl Engine {
    /// Without its bounds, and these, at speed w.
    fn given(&self, seen: &Seen<'_>, w: f64) -> Given {
        let mut inputs = [0.0; 3];
        self.inputs.eval(|source| seen.read(source, &[]), &mut inputs);
        let [throttle, governor, starter] = inputs;
        let drag = self.drag.at(w.abs()) * (w / DRAG_SPEED).clamp(-1.0, 1.0);
        let full = if self.burns(seen.modes) { self.full.at(w).max(drag) } else { drag };
        let idles =
            if self.idle > 0.0 && !self.is_governed { self.governs(w, seen.states[0]) } else { f64::NEG_INFINITY };
        let wanted = match self.is_governed {
            true => self.gain * (governor - w),
            false => (drag + throttle.clamp(0.0, 1.0) * (full - drag)).max(idles),
        };
        let started = self.starter * starter.clamp(0.0, 1.0) * (1.0 - w / self.starter_speed).clamp(0.0, 1.0);
        Given { wanted: wanted + started, bounds: [drag + started, full + started] }
    }

    /// The idle governor's torque [N m].
    fn governs(&self, w: f64, integral: f64) -> f64 {
        self.gain * (self.idle - w) + integral
    }

    fn burns(&self, modes: &[ElementMode]) -> bool {
        !modes[CUT].held && !modes[STALLED].held
    }

    /// Rates of its states: the integral of the idle governor, and how long it has been slow.
    fn rates(&self, w: f64, states: &[f64]) -> [f64; 2] {
        if self.idle == 0.0 {
            return [0.0; 2];
        }
        let [integral, slow] = [states[0], states[1]];
        let grows = self.gain * (self.idle - w) / IDLE_TIME;
        let stays = integral <= 0.0 && grows < 0.0 || integral >= self.full.at(self.idle) && grows > 0.0;
        let is_slow = w < STALL_SHARE * self.idle;
        [if stays { 0.0 } else { grows }, if is_slow { 1.0 } else { -slow / FORGETS }]
    }
}

impl Acting for Engine {
    fn attached(&self) -> Attached<'_> {
        Attached { coordinates: std::slice::from_ref(&self.at), formula: Some(&self.inputs), ..Attached::default() }
    }

    fn states(&self) -> &[ElementState] {
        &self.states
    }

    fn outputs(&self) -> &[Output] {
        &[
            Output { name: Cow::Borrowed("torque"), unit: Some("N m") },
            Output { name: Cow::Borrowed("power"), unit: Some("W") },
        ]
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        &[ElementAccount { cause: Cause::Engine, name: "work" }]
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let w = seen.coordinate().u;
        let torque = self.given(seen, w).torque();
        out.drive(torque, 0.0, torque * w);
        out.shown.push(torque * w);
        out.rates.copy_from_slice(&self.rates(w, seen.states));
    }

    fn watched(&self) -> usize {
        2
    }

    fn mode_name(&self, which: usize) -> Option<&str> {
        Some(["redline", "stall"][which])
    }

    fn watch(&self, which: usize, seen: &Seen<'_>) -> f64 {
        let (w, held) = (seen.coordinate().u, seen.modes[which].held);
        match (which, held) {
            (CUT, _) if self.redline.is_infinite() => -1.0,
            (CUT, false) => w - self.redline,
            (CUT, true) => BURNS_AGAIN * self.redline - w,
            _ if self.idle == 0.0 => -1.0,
            (_, false) => seen.states[1] - STALL_TIME,
            (_, true) => w - STALL_SHARE * self.idle,
        }
    }

    fn event(&self, which: usize, mode: ElementMode) -> Option<EventKind> {
        Some(match (which, mode.held) {
            (CUT, false) => EventKind::EngineCut,
            (CUT, true) => EventKind::EngineBurn,
            (_, false) => EventKind::EngineStall,
            (_, true) => EventKind::EngineStart,
        })
    }

    fn trip(&self, which: usize, seen: &Seen<'_>) -> Trip {
        let mode = seen.modes[which];
        Trip::to(ElementMode { held: !mode.held, sense: 1.0, ..mode })
    }

    fn settle(&self, which: usize, seen: &Seen<'_>) -> Option<Settled> {
        let held = which == CUT && seen.coordinate().u > self.redline;
        let mode = ElementMode { held, sense: 1.0, speed: 0.0 };
        (seen.modes[which].sense == 0.0).then_some(Settled { mode, acts: true })
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        let w = seen.coordinate().u;
        let [now, faster] = [w, w + CHANGE].map(|w| self.given(seen, w));
        let slope = (faster.wanted - now.wanted) / CHANGE;
        let answering = Answering { effort: now.wanted, slope, rate: w, bounds: now.bounds };
        out.answer(0, answering, step.h, &[RowEnd::Coordinate { coordinate: 0, factor: 1.0 }]);
    }

    fn outputs_of_row(&self, seen: &Seen<'_>, _: u8, force: f64, outputs: &mut [f64]) {
        outputs[0] = force;
        outputs[1] = force * seen.coordinate().u;
    }

    fn finishes(&self) -> bool {
        true
    }

    fn finish(&self, step: &mut Finish<'_>) {
        let w = step.after.coordinates[0].u;
        let rates = self.rates(w, step.states);
        step.states[0] = (step.states[0] + step.h * rates[0]).max(0.0);
        step.states[1] = (step.states[1] + step.h * rates[1]).max(0.0);
        let beyond = if step.modes[CUT].held { w < BURNS_AGAIN * self.redline } else { w > self.redline };
        let stalled = match step.modes[STALLED].held {
            true => w > STALL_SHARE * self.idle,
            false => step.states[1] > STALL_TIME,
        };
        for (which, changes) in [(CUT, beyond), (STALLED, stalled && self.idle > 0.0)] {
            if changes {
                let was = step.modes[which];
                step.happened.push((which, was));
                step.modes[which] = ElementMode { held: !was.held, sense: 1.0, ..was };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::{CoordinateMotion, RowLaw, StepAhead};
    use tippe_format::equation::{Program, Scope};

    fn inputs(texts: [&str; 3]) -> Formula {
        let texts = texts.map(|text| ("", text));
        let program = Program::compile(&[], &Scope { names: Vec::new() }, &texts, 0).expect("compiles");
        Formula::new(program, Vec::new(), 3)
    }

    /// 0.2 kg m^2 at 200 rad/s, governed to 650 rad/s within -40 and 240 N m, under a load of 100 N m: 211.66667 rad/s after 1/60 s.
    #[test]
    fn a_governed_engine_gives_all_it_can_in_one_step() {
        let state = |name| ElementState { name: Cow::Borrowed(name), unit: "s", start: 0.0, scale: 1.0 };
        let engine = Engine {
            at: At { mechanism: 0, coordinate: 0 },
            full: Table::from(&[[0.0, 240.0]]),
            drag: Table::from(&[[0.0, -40.0]]),
            inputs: inputs(["0", "650", "0"]),
            is_governed: true,
            gain: 24.0,
            idle: 0.0,
            redline: f64::INFINITY,
            starter: 0.0,
            starter_speed: 26.0,
            states: [state("idling"), state("slow")],
        };
        let (w, h, load, inertia) = (200.0, 1.0 / 60.0, 100.0, 0.2);
        let coordinates = [CoordinateMotion { q: 0.0, u: w }];
        let modes = [ElementMode { held: false, sense: 1.0, speed: 0.0 }; 2];
        let (states, look) = ([0.0; 2], |_| 0.0);
        let seen = Seen {
            t: 0.0,
            frames: &[],
            coordinates: &coordinates,
            states: &states,
            modes: &modes,
            kept: &[],
            holding: 0.0,
            look: &look,
        };
        let mut list = RowList::default();
        engine.rows(&seen, &StepAhead { h, frames: &[], coordinates: &[] }, &mut list);
        let RowLaw::Answer { target, compliance } = list.rows[0].law else { panic!("an answer") };
        let free = w - load / inertia * h;
        let impulse =
            ((target - free) / (compliance + 1.0 / inertia)).clamp(list.rows[0].bounds[0], list.rows[0].bounds[1]);
        let after = free + impulse / inertia;
        assert!((after / 211.66666666666666 - 1.0).abs() < 1e-9, "{after}");
        let mut out = Action::default();
        out.clear(1, 2);
        engine.act(&seen, &mut out);
        assert_eq!(out.effect.effort, 240.0);
    }
}
