//! What holds shafts together until it slips: a spring and damper that is wound up by z, behind a friction that carries a torque C and
//! beside a leak G. With r = sum_k c_k u_k the rate between its sides and f its torque (or, of oil, flow and pressure):
//!   f = k z + c z',   r - z' = slip + G f,
//! (where oil is fed in, r = sum_k c_k u_k + r_0 of that flow r_0),
//!   it holds: slip = 0 as long as |f| <= C;   it slips: f = s C as long as s slip > 0.
//! Shaft k feels -c_k f. At rest z stays where it is, so that a clutch or brake that holds does not creep.
//! In a step h, taken at its end, f is that of a spring and damper k/(1 + (k h + c) G), c/(1 + (k h + c) G) with stretch z, within C, and
//!   z+ = (f + c z/h)/(k + c/h).

use crate::cause::Cause;
use crate::element::{
    Acting, Action, At, Attached, CoordinateMotion, Effect, ElementAccount, ElementMode, ElementState, Finish,
    LIMIT_ROUNDING, Output, RowEnd, RowList, Seen, Settled, Solved, StepAhead, Strut, Trip, exceeds,
};
use crate::event::EventKind;
use crate::network::Formula;
use std::borrow::Cow;
use std::sync::Arc;

/// Shafts of one element, at most.
pub(super) const MOST_SHAFTS: usize = 8;
/// Holds of one element, at most.
pub(super) const MOST_LINES: usize = 2;
/// Winding up by less than this is nothing to the error of a step [rad].
const WOUND: f64 = 1e-9;
/// Oil that gives less pressure than this is nothing to it either [Pa].
const PRESSED: f64 = 1e3;

/// One rate between shafts that is held.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// k [N m/rad].
    pub stiffness: f64,
    /// c [N m s/rad].
    pub damping: f64,
    /// G [rad/(N m s)].
    pub leak: f64,
}

/// How a line holds at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Grip {
    /// c_k of each shaft.
    pub factors: [f64; MOST_SHAFTS],
    /// C [N m].
    pub capacity: f64,
    /// r_0: what r is where nothing turns, a flow that is fed in [rad/s or m^3/s].
    pub feed: f64,
    /// Share of their torque that shafts behind the first do not get: teeth and bearings heat it [-].
    pub lost: f64,
}

impl Grip {
    /// Factor of f on shaft k, but its sign.
    pub fn pushes(&self, k: usize) -> f64 {
        if k == 0 { self.factors[0] } else { self.factors[k] * (1.0 - self.lost) }
    }

    /// What gears of this efficiency lose where f drives the first shaft that turns with u [rad/s]: the shafts behind it get the share eta of what
    /// it gives, and it gets the share eta of what they give. Within a rate of one radian per second one goes over into the other.
    pub fn wasted(efficiency: f64, f: f64, u: f64) -> f64 {
        let way = (u * sign(f)).clamp(-1.0, 1.0);
        1.0 - libm::pow(efficiency.max(0.01), way)
    }
}

/// What the kinds of holds differ in.
pub(super) trait Rule: std::fmt::Debug + Send + Sync {
    /// How its lines hold; `equations` are the results of its formula, `wound` the torques k z of its lines.
    fn grips(&self, equations: &[f64], wound: [f64; MOST_LINES]) -> [Grip; MOST_LINES];

    /// Efficiency of its gears [-].
    fn efficiency(&self) -> f64 {
        1.0
    }
}

/// Something that holds shafts together until it slips.
#[derive(Clone, Debug)]
pub struct Hold {
    /// Its shafts.
    at: Vec<At>,
    lines: Vec<Line>,
    rule: Arc<dyn Rule>,
    formula: Option<Formula>,
    cause: Cause,
    states: Vec<ElementState>,
    outputs: Vec<Output>,
}

/// What [`Hold`] is made of.
pub(super) struct Made {
    /// Its shafts.
    pub at: Vec<At>,
    /// Its lines.
    pub lines: Vec<Line>,
    /// How they hold.
    pub rule: Arc<dyn Rule>,
    /// Equations it reads, at most four.
    pub formula: Option<Formula>,
    /// Where its heat goes.
    pub cause: Cause,
    /// Name and unit of f of its first line.
    pub effort: (&'static str, &'static str),
}

impl From<Made> for Hold {
    fn from(made: Made) -> Hold {
        let Made { at, lines, rule, formula, cause, effort: (name, unit) } = made;
        let wound = |(k, line): (usize, &Line)| {
            let (unit, scale) = if unit == "Pa" { ("m^3", PRESSED / line.stiffness) } else { ("rad", WOUND) };
            ElementState { name: Cow::Borrowed(["wound", "wound_inside"][k]), unit, start: 0.0, scale }
        };
        let states = lines.iter().enumerate().map(wound).collect();
        let slides = cause == Cause::Engine;
        let torque = |k: usize| match slides {
            true => Output { name: Cow::Borrowed("force"), unit: Some("N") },
            false => Output { name: Cow::Owned(format!("torque_{}", k + 1)), unit: Some("N m") },
        };
        let first = Output { name: Cow::Borrowed(name), unit: Some(unit) };
        let outputs = std::iter::once(first).chain((0..at.len()).map(torque)).collect();
        Hold { at, lines, rule, formula, cause, states, outputs }
    }
}

/// A line at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Now {
    /// r [rad/s].
    pub rate: f64,
    /// f where it holds [N m].
    pub held: f64,
    /// f as it is [N m].
    pub torque: f64,
    /// z' [rad/s].
    pub winds: f64,
    /// slip [rad/s].
    pub slip: f64,
}

impl Line {
    /// What it does where it is wound up by z.
    pub fn now(&self, grip: &Grip, shafts: &[CoordinateMotion], z: f64, mode: ElementMode) -> Now {
        let Line { stiffness, damping, leak } = *self;
        let turns: f64 = shafts.iter().zip(grip.factors).map(|(shaft, factor)| factor * shaft.u).sum();
        let rate = turns + grip.feed;
        let held = (stiffness * z + damping * rate) / (1.0 + damping * leak);
        let begins = !mode.held && mode.sense == 0.0;
        let mode = if begins { begun(held, grip.capacity) } else { mode };
        let torque = if mode.held { held } else { mode.sense * grip.capacity };
        let winds = if mode.held { rate - leak * held } else { (torque - stiffness * z) / damping };
        Now { rate, held, torque, winds, slip: rate - winds - leak * torque }
    }

    /// What rises through zero where it begins to slip, or to hold.
    pub fn watch(&self, now: &Now, capacity: f64, mode: ElementMode) -> f64 {
        match mode.held {
            true if capacity.is_infinite() => -1.0,
            true => exceeds(now.held, capacity),
            false => -mode.sense * now.slip,
        }
    }

    /// Its mode from there on.
    pub fn trip(&self, now: &Now, capacity: f64, mode: ElementMode) -> ElementMode {
        match (mode.held, capacity > 0.0) {
            (true, _) => ElementMode { held: false, sense: sign(now.held), ..mode },
            (false, true) => ElementMode { held: true, ..mode },
            // what carries nothing does not hold: it slips the other way
            (false, false) => ElementMode { sense: -mode.sense, ..mode },
        }
    }

    /// Its mode where it has none yet, or holds with more than it can.
    pub fn settle(&self, now: &Now, capacity: f64, mode: ElementMode) -> Option<ElementMode> {
        let (begins, begun) = (!mode.held && mode.sense == 0.0, begun(now.held, capacity));
        (begins || mode.held && !begun.held).then_some(ElementMode { speed: mode.speed, ..begun })
    }

    /// Its row in a step of length h [s].
    pub fn row(&self, part: u8, grip: &Grip, z: f64, h: f64, out: &mut RowList) {
        let leaks = 1.0 + (self.stiffness * h + self.damping) * self.leak;
        let most = grip.capacity * h;
        let strut = Strut {
            stiffness: self.stiffness / leaks,
            damping: self.damping / leaks,
            phi: z + (h + self.damping / self.stiffness) * grip.feed,
            damped_by_step: true,
            bounds: [-most, most],
            bound: most,
        };
        let begin = out.ends.len();
        let shafts = grip.factors.iter().enumerate().filter(|(_, factor)| **factor != 0.0);
        out.ends.extend(shafts.map(|(coordinate, &factor)| RowEnd::Coordinate { coordinate, factor }));
        let own = begin..out.ends.len();
        if grip.lost != 0.0 {
            let shafts = (0..MOST_SHAFTS).filter(|k| grip.factors[*k] != 0.0);
            out.ends.extend(shafts.map(|k| RowEnd::Coordinate { coordinate: k, factor: grip.pushes(k) }));
        }
        out.strut_of_ends(part, strut, own);
    }

    /// z at the end of a step of length h [s] in which its row gave this impulse.
    pub fn wound(&self, z: f64, impulse: f64, h: f64) -> f64 {
        (self.damping * z - impulse) / (self.stiffness * h + self.damping)
    }

    /// What it stores [J].
    pub fn stored(&self, z: f64) -> f64 {
        0.5 * self.stiffness * z * z
    }

    /// What it turns into heat [W].
    pub fn heats(&self, now: &Now, z: f64, grip: &Grip, shafts: &[CoordinateMotion]) -> f64 {
        let behind: f64 = shafts.iter().zip(grip.factors).skip(1).map(|(shaft, factor)| factor * shaft.u).sum();
        now.torque * (now.rate - grip.lost * behind) - self.stiffness * z * now.winds
    }
}

impl Hold {
    /// True if energy is fed in.
    fn feeds(&self) -> bool {
        self.cause == Cause::Engine
    }

    fn grips(&self, seen: &Seen<'_>) -> [Grip; MOST_LINES] {
        let mut results = [0.0; 4];
        if let Some(formula) = &self.formula {
            formula.eval(|source| seen.read(source, &[]), &mut results[..formula.outputs]);
        }
        let mut wound = [0.0; MOST_LINES];
        for ((wound, line), z) in wound.iter_mut().zip(&self.lines).zip(seen.states) {
            *wound = line.stiffness * z;
        }
        let mut grips = self.rule.grips(&results, wound);
        let efficiency = self.rule.efficiency();
        if efficiency < 1.0 {
            let gears = self.lines.len() - 1;
            grips[gears].lost = Grip::wasted(efficiency, wound[gears], seen.coordinates[0].u);
        }
        grips
    }

    fn now(&self, which: usize, grip: &Grip, seen: &Seen<'_>) -> Now {
        self.lines[which].now(grip, seen.coordinates, seen.states[which], seen.modes[which])
    }
}

impl Acting for Hold {
    fn attached(&self) -> Attached<'_> {
        Attached { coordinates: &self.at, formula: self.formula.as_ref(), ..Attached::default() }
    }

    fn states(&self) -> &[ElementState] {
        &self.states
    }

    fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        match self.cause {
            Cause::Clutch => &[ElementAccount { cause: Cause::Clutch, name: "heat" }],
            Cause::Brake => &[ElementAccount { cause: Cause::Brake, name: "heat" }],
            Cause::Engine => &[ElementAccount { cause: Cause::Engine, name: "work" }],
            _ => &[ElementAccount { cause: Cause::Driveline, name: "heat" }],
        }
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let grips = self.grips(seen);
        let mut effect = Effect::default();
        for (which, line) in self.lines.iter().enumerate() {
            let now = self.now(which, &grips[which], seen);
            for (k, effort) in out.efforts.iter_mut().enumerate() {
                *effort -= grips[which].pushes(k) * now.torque;
            }
            out.rates[which] = now.winds;
            effect.stored += line.stored(seen.states[which]);
            let heats = line.heats(&now, seen.states[which], &grips[which], seen.coordinates);
            // of what gives energy, that which it feeds in less what it heats
            effect.powers[0] += if self.feeds() { now.torque * grips[which].feed - heats } else { heats };
            if which == 0 {
                effect.effort = now.torque;
            }
        }
        let Action { efforts, shown, .. } = out;
        shown.extend_from_slice(efforts);
        out.effect = effect;
    }

    fn watched(&self) -> usize {
        self.lines.len()
    }

    fn mode_name(&self, which: usize) -> Option<&str> {
        (self.lines.len() > 1).then_some(["lock", "gears"][which])
    }

    fn watch(&self, which: usize, seen: &Seen<'_>) -> f64 {
        let grip = &self.grips(seen)[which];
        self.lines[which].watch(&self.now(which, grip, seen), grip.capacity, seen.modes[which])
    }

    fn event(&self, _: usize, mode: ElementMode) -> Option<EventKind> {
        Some(if mode.held { EventKind::GripSlip } else { EventKind::GripStick })
    }

    fn trip(&self, which: usize, seen: &Seen<'_>) -> Trip {
        let grip = &self.grips(seen)[which];
        Trip::to(self.lines[which].trip(&self.now(which, grip, seen), grip.capacity, seen.modes[which]))
    }

    fn settle(&self, which: usize, seen: &Seen<'_>) -> Option<Settled> {
        let grip = &self.grips(seen)[which];
        let mode = self.lines[which].settle(&self.now(which, grip, seen), grip.capacity, seen.modes[which]);
        mode.map(|mode| Settled { mode, acts: true })
    }

    fn acts_on_given(&self) -> bool {
        true
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        let grips = self.grips(seen);
        for (which, line) in self.lines.iter().enumerate() {
            line.row(which as u8, &grips[which], seen.states[which], step.h, out);
        }
    }

    fn stored(&self, seen: &Seen<'_>) -> f64 {
        self.lines.iter().zip(seen.states).map(|(line, z)| line.stored(*z)).sum()
    }

    fn outputs_of_row(&self, seen: &Seen<'_>, part: u8, force: f64, outputs: &mut [f64]) {
        if part == 0 {
            outputs[0] = -force;
        }
        let grip = self.grips(seen)[part as usize];
        for (k, output) in outputs[1..].iter_mut().enumerate() {
            *output += grip.pushes(k) * force;
        }
    }

    fn mode_after(&self, mode: ElementMode, row: &Solved) -> (ElementMode, bool) {
        if row.part > 0 {
            return (mode, false);
        }
        (ElementMode { held: row.within, sense: -sign(row.lambda), ..mode }, mode.sense != 0.0)
    }

    fn finishes(&self) -> bool {
        true
    }

    fn finish(&self, step: &mut Finish<'_>) {
        for &(part, impulse) in step.impulses {
            let z = &mut step.states[part as usize];
            *z = self.lines[part as usize].wound(*z, impulse, step.h);
        }
    }
}

/// Whether it holds where it would hold with this torque, and else which way it slips.
fn begun(held: f64, capacity: f64) -> ElementMode {
    ElementMode { held: held.abs() <= capacity * (1.0 + LIMIT_ROUNDING), sense: sign(held), speed: 0.0 }
}

/// 1 or -1, 1 for zero.
pub(super) fn sign(x: f64) -> f64 {
    if x < 0.0 { -1.0 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Fixed(Grip);

    impl Rule for Fixed {
        fn grips(&self, _: &[f64], _: [f64; MOST_LINES]) -> [Grip; MOST_LINES] {
            [self.0; MOST_LINES]
        }
    }

    fn hold(capacity: f64, leak: f64) -> Hold {
        let mut grip = Grip { capacity, ..Grip::default() };
        grip.factors[..2].copy_from_slice(&[1.0, -2.0]);
        let at = [0, 1].map(|coordinate| At { mechanism: 0, coordinate }).to_vec();
        let lines = vec![Line { stiffness: 300.0, damping: 2.0, leak }];
        let (rule, cause) = (Arc::new(Fixed(grip)), Cause::Clutch);
        Hold::from(Made { at, lines, rule, formula: None, cause, effort: ("torque", "N m") })
    }

    /// What it does to the shafts is what it loses and no longer stores, whether it holds, slips or leaks.
    #[test]
    fn its_power_is_what_it_stores_and_loses() {
        for (capacity, leak, held) in [(50.0, 0.0, true), (50.0, 0.0, false), (50.0, 1e-2, true), (0.0, 0.0, false)] {
            let (hold, u, z) = (hold(capacity, leak), [30.0, 0.4], 0.03);
            let coordinates = u.map(|u| CoordinateMotion { q: 0.0, u });
            let mode = ElementMode { held, sense: 1.0, speed: 0.0 };
            let seen = Seen {
                t: 0.0,
                frames: &[],
                coordinates: &coordinates,
                states: &[z],
                modes: &[mode],
                kept: &[],
                holding: 0.0,
                look: &|_| 0.0,
            };
            let mut out = Action::default();
            out.clear(2, 1);
            hold.act(&seen, &mut out);
            let power: f64 = out.efforts.iter().zip(u).map(|(effort, u)| effort * u).sum();
            let stores = 300.0 * z * out.rates[0];
            assert!((power + stores + out.effect.powers[0]).abs() < 1e-12, "{capacity} {leak} {held}");
            assert!(out.effect.powers[0] >= 0.0 && out.efforts[1] == -2.0 * out.efforts[0]);
        }
    }

    /// A step ends where its own equations hold: f = k z+ + c (z+ - z)/h, r - (z+ - z)/h = G f.
    #[test]
    fn a_step_winds_it_up_as_its_row_says() {
        let line = Line { stiffness: 300.0, damping: 2.0, leak: 1e-2 };
        let grip = Grip { capacity: f64::INFINITY, factors: [1.0; MOST_SHAFTS], ..Grip::default() };
        let (z, h, rate) = (0.03, 0.01, 1.5);
        let mut list = RowList::default();
        line.row(0, &grip, z, h, &mut list);
        let crate::element::RowLaw::Strut(strut) = list.rows[0].law else { panic!("a strut") };
        let [b, eps] = strut.at_end(h);
        let impulse = (b - rate) / eps;
        let (after, f) = (line.wound(z, impulse, h), -impulse / h);
        assert!((f - 300.0 * after - 2.0 * (after - z) / h).abs() < 1e-10);
        assert!((rate - (after - z) / h - 1e-2 * f).abs() < 1e-10);
    }
}
