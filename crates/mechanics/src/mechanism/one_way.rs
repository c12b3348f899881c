//! Rows that hold one way, as an active set: which of those that touch their limit carry something, and the impulse
//! that stops them.
//!
//! With G all rows that hold or touch, A = G M^-1 G^T, and the multipliers of rows that hold one way within their
//! bounds, l <= lambda <= u,
//!   A lambda + G u_f' - gamma = w+ - w-,   0 <= w+ perpendicular to lambda - l,   0 <= w- perpendicular to u - lambda
//! says which rows hold on (lambda inside its bounds) and which open (lambda = 0, w != 0): Signorini's conditions on
//! accelerations. The same with rates, A p + G u- = w+ - w-, is the plastic impact (e = 0) of rows that close; the
//! rates after it are u- + M^-1 G^T p. Redundant rows have many multipliers: those that others hold for are left out
//! one after the other, so that what is left is unique.

use super::{Mechanism, Mode, Work};
use crate::event::EventKind;
use crate::joint::Joint;
use crate::joint::coupling::{Holds, RESTS, TOUCHES};
use crate::kinematics::Kinematics;
use tippe_numerics::Semidefinite;
use tippe_numerics::mlcp;

/// A row whose multiplier changes its rate by less than this share of what its terms do carries nothing [-]: where a
/// tension vanishes, the located instant is off by about 1e-13 of a step.
const NOTHING: f64 = 1e-9;
/// Rounding of a multiplier, as a share of it [-].
const ROUNDING: f64 = 1e-12;
/// Rows that see less than this share of themselves are redundant [-].
const REDUNDANT: f64 = 1e-10;
/// What a row may miss when others hold for it, as a share of the largest right-hand side [-].
const MISSED: f64 = 1e-8;

/// A motion of a mechanism: coordinates and rates, its links, and bodies that are not free.
#[derive(Debug)]
pub struct Standpoint<'a, F> {
    /// Coordinates [m or rad].
    pub q: &'a [f64],
    /// Their rates [m/s or rad/s].
    pub u: &'a [f64],
    /// Motion of the links.
    pub kinematics: &'a [Kinematics],
    /// Motion of a body that is not free.
    pub of: F,
}

/// Where something that holds one way stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// How far it is beyond its limit, less what counts as touching it: negative where it is free [m or rad].
    pub beyond: f64,
    /// True where it touches its limit.
    pub touches: bool,
    /// How fast it closes beyond what counts as rest: 0 at rest, negative where it opens [m/s or rad/s].
    pub closing: f64,
}

impl Mechanism {
    /// Which way a loop, or behind the loops a coupling, holds.
    pub fn holds(&self, owner: usize) -> Holds {
        match self.loops.get(owner) {
            Some(closing) => closing.joint.holds(),
            None => self.couplings[owner - self.loops.len()].coupling.holds,
        }
    }

    /// Loops, and behind them couplings, that hold one way.
    pub fn one_way(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.loops.len() + self.couplings.len()).filter(|owner| self.holds(*owner).sense().is_some())
    }

    /// True if something holds one way.
    pub fn has_one_way_rows(&self) -> bool {
        self.one_way().next().is_some()
    }

    /// True if a loop holds one way.
    pub fn has_one_way_loops(&self) -> bool {
        self.one_way().any(|owner| owner < self.loops.len())
    }

    /// The event of one that becomes taut, or slack.
    pub fn switching(&self, owner: usize, taut: bool) -> EventKind {
        match (owner < self.loops.len(), taut) {
            (true, true) => EventKind::Landing,
            (true, false) => EventKind::LiftOff,
            (false, true) => EventKind::Taut,
            (false, false) => EventKind::Slack,
        }
    }

    /// Where one that holds one way stands at this motion.
    pub fn standing(&self, owner: usize, motion: &Standpoint<'_, impl Fn(u32) -> Kinematics>, work: &Work) -> Standing {
        let Standpoint { q, u, kinematics, of } = motion;
        let Some(closing) = self.loops.get(owner) else {
            let coupling = &self.couplings[owner - self.loops.len()].coupling;
            return Standing { beyond: coupling.beyond(q), touches: coupling.touches(q), closing: coupling.closing(u) };
        };
        let apart = Standing { beyond: f64::NEG_INFINITY, touches: false, closing: 0.0 };
        let (Joint::Cam(cam), true) = (&closing.joint, work.active[owner]) else { return apart };
        let (_, [f1, f2]) = self.frames(owner, kinematics, of, work);
        let row = cam.row(&f1, &f2);
        let sense = cam.holds.sense().unwrap_or(1.0);
        let size = 1.0 + (f2.p - f1.p).length();
        let speed = 1.0 + f1.v.length() + f2.v.length();
        let rate = sense * row.rate(&f1, &f2);
        Standing {
            beyond: sense * row.phi - TOUCHES * size,
            touches: sense * row.phi >= -TOUCHES * size,
            closing: if rate.abs() <= RESTS * speed { 0.0 } else { rate },
        }
    }

    /// What holds one way is taut where it touches its limit, and, with `resting`, neither opens nor closes.
    pub fn find_touching(&self, motion: &Standpoint<'_, impl Fn(u32) -> Kinematics>, resting: bool, work: &mut Work) {
        for owner in self.one_way() {
            let standing = self.standing(owner, motion, work);
            work.taut[owner] = standing.touches && (!resting || standing.closing == 0.0);
        }
    }

    /// True if something that holds one way touches its limit and closes.
    pub fn closes(&self, motion: &Standpoint<'_, impl Fn(u32) -> Kinematics>, work: &Work) -> bool {
        self.one_way().any(|owner| {
            let standing = self.standing(owner, motion, work);
            standing.touches && standing.closing > 0.0
        })
    }

    /// Multipliers of A lambda = right within the bounds of the rows, where coordinates accelerate with `u_dot` without
    /// them; couplings that carry nothing are taut no more.
    pub(super) fn decide(&self, work: &mut Work, u_dot: &[f64], lambda: &mut [f64]) {
        work.decides = false;
        let carries = self.within_bounds(work, u_dot, lambda);
        for (r, row) in work.rows.iter().enumerate().filter(|(_, row)| row.bounds.is_some()) {
            work.taut[row.owner] = carries[r];
        }
        // how many rows count is not that of the rows that carry
        work.counted = None;
    }

    /// Rates jump to those of the plastic impact of all rows in place, whose rates are `rate` at the rates u; after
    /// [`Self::measure_rows`] and [`Self::factor_rows`]. `change` receives the jump.
    pub fn stop(&self, work: &mut Work, u: &[f64], change: &mut [f64]) {
        change.fill(0.0);
        let mut impulse = vec![0.0; work.rows.len()];
        work.right.clear();
        work.right.extend(work.rows.iter().map(|row| -row.rate));
        self.within_bounds(work, u, &mut impulse);
        self.add_answers(&impulse, work, change, None);
        for (change, mode) in change.iter_mut().zip(&work.modes) {
            if *mode != Mode::Free {
                *change = 0.0;
            }
        }
    }

    /// A lambda = right within the bounds; tells which rows carry something.
    fn within_bounds(&self, work: &mut Work, rates: &[f64], lambda: &mut [f64]) -> Vec<bool> {
        let m = work.rows.len();
        let bound = |side: usize, without: f64| -> Vec<f64> {
            work.rows.iter().map(|row| row.bounds.map_or(without, |bounds| bounds[side])).collect()
        };
        let problem = mlcp::Problem {
            n: m,
            a: work.A[..m * m].to_vec(),
            b: work.right.iter().map(|right| -right).collect(),
            lower: bound(0, f64::NEG_INFINITY),
            upper: bound(1, f64::INFINITY),
        };
        let mut carries = vec![true; m];
        // what is not finite is found by the integrator, and named there
        let Ok(solution) = mlcp::solve(&problem, None) else {
            work.solver.solve(&work.right, lambda);
            return carries;
        };
        for (r, row) in work.rows.iter().enumerate() {
            let size: f64 = work.terms_of(row).iter().map(|(i, factor)| (factor * rates[*i]).abs()).sum();
            let carried = (solution.x[r] * work.A[r * m + r]).abs();
            carries[r] = row.bounds.is_none() || carried > NOTHING * size;
        }
        self.leave_out_redundant(work, &mut carries, lambda);
        carries
    }

    /// Leaves out rows with bounds that the others hold for, the last ones first; the multipliers of those that are
    /// left.
    fn leave_out_redundant(&self, work: &mut Work, carries: &mut [bool], lambda: &mut [f64]) {
        let m = work.rows.len();
        let most = work.right.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let mut solver = Semidefinite::default();
        let mut attempt = |carries: &[bool], lambda: &mut [f64]| {
            let sizes: Vec<f64> = (0..m).map(|r| if carries[r] { work.rows[r].scale } else { 0.0 }).collect();
            let rank = solver.factor(&work.A[..m * m], &sizes, REDUNDANT, None);
            solver.solve(&work.right, lambda);
            rank
        };
        let mut rank = attempt(carries, lambda);
        for r in (0..m).rev() {
            let count = carries.iter().filter(|c| **c).count();
            if rank == count {
                break;
            }
            let Some([low, high]) = work.rows[r].bounds.filter(|_| carries[r]) else { continue };
            carries[r] = false;
            let fewer = attempt(carries, lambda);
            let within = |k: usize| {
                let slack = ROUNDING * lambda[k].abs();
                work.rows[k].bounds.is_none_or(|[low, high]| lambda[k] >= low - slack && lambda[k] <= high + slack)
            };
            let held: f64 = (0..m).map(|k| work.A[r * m + k] * lambda[k]).sum();
            if fewer == rank && (held - work.right[r]).abs() <= MISSED * most && (0..m).all(within) && low <= high {
                continue;
            }
            carries[r] = true;
            rank = attempt(carries, lambda);
        }
    }
}
