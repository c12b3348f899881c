//! A relation of coordinates that gives, phi = sum_k c_k q_k - L [m or rad]:
//!   f_e = -phi/compliance,   f = f_e - damping phi',   each of them within the bounds of the force;
//! coordinate k feels c_k f. One that holds one way has no force on the free side of its limit, and never one towards it.

use super::{
    Acting, Action, At, Attached, CoordinateMotion, DAMPED, Effect, ElementAccount, ElementMode, Output, RowEnd,
    RowList, Seen, Settled, Solved, StepAhead, Strut, Trip,
};
use crate::event::EventKind;
use std::borrow::Cow;

/// It gets its row when it may be taut within this many steps at its present rate [-].
const STEPS_AHEAD: f64 = 2.0;

/// A linear relation of coordinates that gives.
#[derive(Clone, Debug)]
pub struct Relation {
    /// Its coordinates.
    pub at: Vec<At>,
    /// c_k: unit of phi per unit of the coordinate.
    pub factors: Vec<f64>,
    /// L [m or rad].
    pub limit: f64,
    /// 1 if the sum is at most L, -1 if it is at least L; none if it holds both ways.
    pub sense: Option<f64>,
    /// phi is a length [m], else an angle [rad].
    pub length: bool,
    /// Stretch per force [m/N or rad/(N m)], not zero.
    pub compliance: f64,
    /// Force per rate of the stretch [N s/m or N m s/rad].
    pub damping: f64,
    /// Largest force [N or N m]; infinite if it has none.
    pub force_max: f64,
}

impl Relation {
    /// phi and its rate.
    fn stretch(&self, motions: &[CoordinateMotion]) -> CoordinateMotion {
        let sum = |of: fn(&CoordinateMotion) -> f64| -> f64 {
            self.factors.iter().zip(motions).map(|(factor, motion)| factor * of(motion)).sum()
        };
        CoordinateMotion { q: sum(|motion| motion.q) - self.limit, u: sum(|motion| motion.u) }
    }

    /// Smallest and largest force [N or N m].
    fn bounds(&self) -> [f64; 2] {
        match self.sense {
            None => [-self.force_max, self.force_max],
            Some(sense) if sense > 0.0 => [-self.force_max, 0.0],
            Some(_) => [0.0, self.force_max],
        }
    }

    /// How far it is beyond its limit, negative on its free side [m or rad].
    fn depth(&self, phi: f64) -> f64 {
        self.sense.map_or(phi.abs(), |sense| sense * phi)
    }

    /// The integral of f_e from its limit to phi [J].
    fn energy(&self, phi: f64) -> f64 {
        let (depth, yields) = (self.depth(phi).max(0.0), self.force_max * self.compliance);
        if depth <= yields { 0.5 * depth * depth / self.compliance } else { self.force_max * (depth - 0.5 * yields) }
    }

    /// The sense in which its row pushes.
    fn row_sense(&self) -> f64 {
        self.sense.map_or(1.0, |sense| -sense)
    }
}

impl Acting for Relation {
    fn attached(&self) -> Attached<'_> {
        Attached { coordinates: &self.at, ..Attached::default() }
    }

    fn outputs(&self) -> &[Output] {
        match self.length {
            true => &[Output { name: Cow::Borrowed("force"), unit: Some("N") }],
            false => &[Output { name: Cow::Borrowed("force"), unit: Some("N m") }],
        }
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        DAMPED
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let CoordinateMotion { q: phi, u: rate } = self.stretch(seen.coordinates);
        if self.depth(phi) <= 0.0 && self.sense.is_some() {
            return;
        }
        let [low, high] = self.bounds();
        let elastic = (-phi / self.compliance).clamp(low, high);
        let force = (elastic - self.damping * rate).clamp(low, high);
        for (effort, factor) in out.efforts.iter_mut().zip(&self.factors) {
            *effort = factor * force;
        }
        out.effect = Effect::new(force, self.energy(phi), (elastic - force) * rate);
    }

    fn watched(&self) -> usize {
        usize::from(self.sense.is_some())
    }

    fn watch(&self, _: usize, seen: &Seen<'_>) -> f64 {
        let depth = self.depth(self.stretch(seen.coordinates).q);
        if seen.mode().held { -depth } else { depth }
    }

    fn event(&self, _: usize, mode: ElementMode) -> Option<EventKind> {
        Some(if mode.held { EventKind::Slack } else { EventKind::Taut })
    }

    fn trip(&self, _: usize, seen: &Seen<'_>) -> Trip {
        Trip::to(ElementMode { held: !seen.mode().held, ..seen.mode() })
    }

    fn settle(&self, _: usize, seen: &Seen<'_>) -> Option<Settled> {
        // one that is taut from the start is no event
        let begins = self.sense.is_some() && seen.mode().sense == 0.0;
        let held = self.depth(self.stretch(seen.coordinates).q) > 0.0;
        begins.then_some(Settled { mode: ElementMode { held, sense: 1.0, speed: 0.0 }, acts: false })
    }

    fn acts_on_given(&self) -> bool {
        true
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        let sense = self.row_sense();
        let CoordinateMotion { q, u } = self.stretch(seen.coordinates);
        let ahead: f64 = self.factors.iter().zip(step.coordinates).map(|(factor, ahead)| factor * ahead.u).sum();
        let gap = sense * q;
        if self.sense.is_some() && gap > STEPS_AHEAD * step.h * (-sense * u).max(-sense * ahead) {
            return;
        }
        let most = step.h * self.force_max;
        // one that stays taut through the step holds like one that holds both ways
        let deep = gap < -STEPS_AHEAD * step.h * u.abs().max(ahead.abs());
        let strut = Strut {
            stiffness: 1.0 / self.compliance,
            damping: self.damping,
            phi: gap,
            damped_by_step: false,
            bounds: if self.sense.is_some() && !deep { [0.0, most] } else { [-most, most] },
            bound: gap,
        };
        let ends = self.factors.iter().enumerate();
        let ends: Vec<RowEnd> =
            ends.map(|(coordinate, factor)| RowEnd::Coordinate { coordinate, factor: sense * factor }).collect();
        out.strut(0, strut, &ends);
    }

    fn stored(&self, seen: &Seen<'_>) -> f64 {
        self.energy(self.stretch(seen.coordinates).q)
    }

    fn effort_of_row(&self, _: f64, _: u8, force: f64) -> f64 {
        self.row_sense() * force
    }

    fn mode_after(&self, mode: ElementMode, row: &Solved) -> (ElementMode, bool) {
        let held = mode.held || self.sense.is_some() && row.lambda > 0.0;
        // one that begins the step beyond its limit without a mode is taut from the start
        (ElementMode { held, sense: 1.0, ..mode }, row.bound >= 0.0)
    }

    fn lets_go(&self, seen: &Seen<'_>) -> bool {
        self.stored(seen) <= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relation(sense: Option<f64>) -> Relation {
        let at = [0, 1].map(|coordinate| At { mechanism: 0, coordinate }).to_vec();
        let factors = vec![1.0, 2.0];
        Relation { at, factors, limit: 1.0, sense, length: true, compliance: 0.01, damping: 5.0, force_max: 30.0 }
    }

    fn done(relation: &Relation, q: [f64; 2], u: [f64; 2]) -> Action {
        let coordinates = [0, 1].map(|k| CoordinateMotion { q: q[k], u: u[k] });
        let mode = ElementMode::default();
        let seen = Seen {
            t: 0.0,
            frames: &[],
            coordinates: &coordinates,
            states: &[],
            modes: &[mode],
            kept: &[],
            holding: 0.0,
            look: &|_| 0.0,
        };
        let mut out = Action::default();
        out.clear(2, 0);
        relation.act(&seen, &mut out);
        out
    }

    /// What it does to the coordinates is what it loses and no longer stores: f phi' = -(dE/dt) - loss.
    #[test]
    fn its_power_is_what_it_stores_and_loses() {
        for sense in [None, Some(1.0), Some(-1.0)] {
            let relation = relation(sense);
            for (q, u) in [([0.5, 0.35], [0.3, -0.1]), ([0.5, 0.15], [0.3, 1.1]), ([2.0, 0.35], [-0.3, -1.1])] {
                let now = done(&relation, q, u);
                let power: f64 = now.efforts.iter().zip(u).map(|(effort, u)| effort * u).sum();
                let at = |t: f64| done(&relation, [q[0] + t * u[0], q[1] + t * u[1]], u).effect.stored;
                let stores = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((power + stores + now.effect.powers[0]).abs() < 1e-6, "{sense:?} {q:?} {power} {stores}");
                assert!(now.effect.powers[0] >= 0.0 && now.effect.effort.abs() <= 30.0);
            }
        }
    }

    #[test]
    fn a_rope_that_gives_only_pulls() {
        let rope = relation(Some(1.0));
        assert_eq!(done(&rope, [0.5, 0.2], [1.0, 0.0]).efforts, [0.0, 0.0]);
        let taut = done(&rope, [0.5, 0.3], [0.0, 0.0]).efforts;
        assert!((taut[0] + 10.0).abs() < 1e-12 && (taut[1] + 20.0).abs() < 1e-12, "{taut:?}");
        assert_eq!(done(&rope, [0.5, 0.3], [-3.0, 0.0]).efforts, [0.0, 0.0]);
    }
}
