//! Projected Newton: the least q(x) = x^T A x / 2 + b^T x in the box, A symmetric and positive semidefinite.
//!
//! With w = A x + b, the slope of q, rows held at their bounds are those that w pushes against them (Bertsekas 1982):
//! ```text
//!   x_i = l_i and w_i > 0,   or   x_i = u_i and w_i < 0                                               (1)
//! ```
//! The other rows F take the Newton step of their block, bent at the bounds:
//! ```text
//!   A_FF d_F = -w_F,   x(t) = clip(x + t d, l, u),   t = 1, 1/2, 1/4, ...                             (2)
//! ```
//! until q falls by a share of what its slope promises,
//! ```text
//!   q(x(t)) - q(x) = s^T w + s^T A s / 2 <= c s^T w,   s = x(t) - x                                   (3)
//! ```
//! Along (2) q always falls for small t, also at degenerate points; and straight ahead, t up to the first bound met.
//! The first few steps are bold: (1) is asked anew after each of them, and where bounds were met some passes of
//! projected Gauss-Seidel follow, which never raise q and find most of the rows (1) at the cost of a product with A
//! each (Morales, Nocedal, Smelyanskiy 2008). After that a row that has met its bound stays held until the face has its
//! least q, as in active-set methods (Fletcher 1987, 10.3), and only then (1) lets go of rows.
//!
//! So it ends: at most n steps lead to the least q of a face, each such value is below the one before, and there are
//! finitely many faces. What remains are rounding and a limit; both are reported with the best point found. Rows that
//! repeat each other make the block singular and steps long (pivots are raised, `factor.rs`); t ends them at the first
//! bounds. A start from the last solution mostly needs one or two factorisations.

use super::factor::{Face, dot};
use super::sweep::pass;
use super::{ACCEPTED, Best, EXACT, Failure, Found, Method, Problem};

/// Steps after which the best point is handed over: this, and four for each row.
const LIMIT: usize = 100;
/// Block pivots for a first guess.
const FLIPS: usize = 2;
/// Steps that may let go of rows before the least value of a face is found.
const BOLD: usize = 5;
/// Passes of Gauss-Seidel after a bold step that met bounds.
const PASSES: usize = 10;
/// Passes of Gauss-Seidel for want of a solution.
const CONSOLATION: usize = 20;
/// c in (3) [-].
const DESCENT: f64 = 1e-4;
/// Whole steps that lower neither q nor the residual after which rounding has won.
const PATIENCE: usize = 3;

/// Solves from `start`, a point of the box. `None` if A is not positive semidefinite.
pub(super) fn solve(problem: &Problem, start: &[f64]) -> Option<Found> {
    let mut newton = Newton::new(problem, start);
    let failure = newton.run()?;
    let x = if newton.best.share <= ACCEPTED { newton.refined() } else { newton.consolation(start) };
    Some(Found {
        x,
        method: Method::ProjectedNewton,
        eliminated: 0,
        factorisations: newton.factorisations,
        sweeps: newton.sweeps,
        failure,
    })
}

/// How a step went.
struct Step {
    /// With t = 1 and without meeting a bound: x has the least q of its face.
    whole: bool,
    /// With q lower by more than rounding.
    descent: bool,
}

struct Newton<'a> {
    problem: &'a Problem,
    x: Vec<f64>,
    /// A x + b, and the size of its terms.
    w: Vec<f64>,
    size: Vec<f64>,
    trial: Vec<f64>,
    /// s in (3).
    s: Vec<f64>,
    /// -1, 1: held at the lower, upper bound; 0: in F.
    held: Vec<i8>,
    face: Face,
    best: Best,
    factorisations: usize,
    sweeps: usize,
}

impl<'a> Newton<'a> {
    fn new(problem: &'a Problem, start: &[f64]) -> Self {
        let n = problem.n;
        Self {
            problem,
            x: start.to_vec(),
            w: vec![0.0; n],
            size: vec![0.0; n],
            trial: start.to_vec(),
            s: vec![0.0; n],
            held: vec![0; n],
            face: Face::new(n),
            best: Best::new(start),
            factorisations: 0,
            sweeps: 0,
        }
    }

    /// Iterates to the end: whether and how it failed. `None` if A is not positive semidefinite.
    fn run(&mut self) -> Option<Option<Failure>> {
        self.judge();
        self.guess()?;
        let (mut patience, mut release) = (PATIENCE, true);
        for step in 0..LIMIT + 4 * self.problem.n {
            if self.best.share <= EXACT {
                return Some(None);
            }
            if release {
                self.hold();
            }
            let known = self.factor()?;
            self.face.newton_step(&self.w);
            let before = self.best.share;
            let Step { whole, descent } = self.advance();
            self.judge();
            release = whole || step < BOLD;
            if step < BOLD && !whole && self.best.share > EXACT {
                for _ in 0..PASSES {
                    pass(self.problem, &mut self.x);
                }
                self.sweeps += PASSES;
                self.judge();
            }
            // steps that are not whole hold ever more rows and come to an end; on a known face only the residual counts,
            // for q falls without end along equations that contradict each other
            if self.best.share < 0.3 * before || descent && !known {
                patience = PATIENCE;
            } else if whole {
                patience -= 1;
            }
            if patience == 0 {
                return Some(Some(Failure::Stalled));
            }
        }
        Some(Some(Failure::Limit))
    }

    /// w, the sizes and the residual at x; the best point so far is kept.
    fn judge(&mut self) {
        let share = self.problem.evaluate(&self.x, &mut self.w, &mut self.size)[1];
        self.best.offer(&self.x, share);
    }

    /// (1)
    fn hold(&mut self) {
        for i in 0..self.problem.n {
            let (x, w, lower, upper) = (self.x[i], self.w[i], self.problem.lower[i], self.problem.upper[i]);
            self.held[i] = if x <= lower && (w > 0.0 || lower == upper) {
                -1
            } else if x >= upper && w < 0.0 {
                1
            } else {
                0
            };
        }
    }

    /// Factors of the rows that are not held; whether they were there already. `None`: not positive semidefinite.
    fn factor(&mut self) -> Option<bool> {
        let known = !self.face.choose(|i| self.held[i] == 0);
        if !known {
            self.factorisations += 1;
            self.face.factor_symmetric(self.problem).then_some(())?;
        }
        Some(known)
    }

    /// Solves a face, moves all rows that do not fit to the other side, and solves again: mostly nearer than any start,
    /// but nothing that may be relied on. Taken over only where q is less.
    fn guess(&mut self) -> Option<()> {
        let problem = self.problem;
        let (mut y, mut w, mut size) = (self.x.clone(), self.w.clone(), self.size.clone());
        self.hold();
        for _ in 0..FLIPS {
            if self.best.share <= EXACT {
                return Some(());
            }
            self.factor()?;
            self.face.newton_step(&w);
            for (&i, step) in self.face.rows.iter().zip(&self.face.step) {
                y[i] += step;
            }
            // a candidate: bent at the bounds, if q falls
            for (i, (trial, &y)) in self.trial.iter_mut().zip(&y).enumerate() {
                *trial = problem.clip(i, y);
            }
            if self.change().0 < 0.0 {
                self.x.copy_from_slice(&self.trial);
                self.judge();
            }
            problem.evaluate(&y, &mut w, &mut size);
            for i in 0..problem.n {
                let (lower, upper) = (problem.lower[i], problem.upper[i]);
                self.held[i] = match self.held[i] {
                    0 if y[i] < lower => -1,
                    0 if y[i] > upper => 1,
                    -1 if w[i] < 0.0 && lower < upper => 0,
                    1 if w[i] > 0.0 => 0,
                    same => same,
                };
                match self.held[i] {
                    -1 => y[i] = lower,
                    1 => y[i] = upper,
                    _ => {}
                }
            }
            problem.evaluate(&y, &mut w, &mut size);
        }
        Some(())
    }

    /// Moves x along (2) and holds the rows that met a bound.
    fn advance(&mut self) -> Step {
        // how far the first row goes
        let problem = self.problem;
        let mut first = f64::INFINITY;
        for (&i, &step) in self.face.rows.iter().zip(&self.face.step) {
            let bound = if step > 0.0 { problem.upper[i] } else { problem.lower[i] };
            if step != 0.0 {
                first = first.min((bound - self.x[i]) / step);
            }
        }
        for t in [1.0, 0.5, 0.25, 0.125, 64.0 * first, 8.0 * first] {
            // at least to the first bound: q falls that far
            let t = t.max(first.min(1.0));
            if t > 1.0 || t == 0.0 {
                continue;
            }
            self.bend(t);
            let (change, slope, rounding) = self.change();
            if change <= DESCENT * slope + rounding {
                return self.take(t, change < -rounding);
            }
        }
        // straight to the first bound, where q falls always; nowhere if rows let go of turn back at once: they are held again
        self.bend(first.min(1.0));
        let (change, _, rounding) = self.change();
        self.take(first, change < -rounding || first == 0.0)
    }

    /// The trial x(t).
    fn bend(&mut self, t: f64) {
        self.trial.copy_from_slice(&self.x);
        for (&i, step) in self.face.rows.iter().zip(&self.face.step) {
            self.trial[i] = self.problem.clip(i, self.x[i] + t * step);
        }
    }

    /// Makes the trial the point, and holds what it met.
    fn take(&mut self, t: f64, descent: bool) -> Step {
        let mut whole = t >= 1.0;
        for (&i, &step) in self.face.rows.iter().zip(&self.face.step) {
            let (lower, upper) = (self.problem.lower[i], self.problem.upper[i]);
            if step < 0.0 && self.trial[i] <= lower {
                self.held[i] = -1;
                whole = false;
            } else if step > 0.0 && self.trial[i] >= upper {
                self.held[i] = 1;
                whole = false;
            }
        }
        std::mem::swap(&mut self.x, &mut self.trial);
        Step { whole, descent }
    }

    /// Both sides of (3) without c, for s = trial - x, and what rounding of w makes of them.
    fn change(&mut self) -> (f64, f64, f64) {
        for ((s, y), x) in self.s.iter_mut().zip(&self.trial).zip(&self.x) {
            *s = y - x;
        }
        let (mut slope, mut change, mut rounding) = (0.0, 0.0, 0.0);
        for (i, &s) in self.s.iter().enumerate().filter(|(_, s)| **s != 0.0) {
            let As = dot(self.problem.row(i), &self.s);
            slope += s * self.w[i];
            change += s * (self.w[i] + 0.5 * As);
            rounding += f64::EPSILON * s.abs() * self.size[i];
        }
        (change, slope, rounding)
    }

    /// For want of a solution: the best point, or a few passes of Gauss-Seidel from the start where that is hardly
    /// worse. Equations that contradict each other would drive x to 1e10.
    fn consolation(&mut self, start: &[f64]) -> Vec<f64> {
        let mut x = start.to_vec();
        for _ in 0..CONSOLATION {
            pass(self.problem, &mut x);
        }
        self.sweeps += CONSOLATION;
        let mut residual = |x: &[f64]| self.problem.evaluate(x, &mut self.w, &mut self.size)[0];
        let (best, tame) = (residual(&self.best.x), residual(&x));
        if tame.is_finite() && tame <= 2.0 * best { x } else { self.best.x.clone() }
    }

    /// The best point, corrected on its face in twice the precision.
    fn refined(&mut self) -> Vec<f64> {
        let (x, share) = (self.best.x.clone(), self.best.share);
        let known = !self.face.choose(|i| x[i] > self.problem.lower[i] && x[i] < self.problem.upper[i]);
        if !known {
            self.factorisations += 1;
        }
        match known || self.face.factor_symmetric(self.problem) {
            true => self.face.refined(self.problem, &x, share, &mut self.w, &mut self.size),
            false => x,
        }
    }
}
