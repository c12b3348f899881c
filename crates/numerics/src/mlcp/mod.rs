//! Linear complementarity with bounds: the multipliers of contacts, stops, motors and dry friction of one instant.
//!
//! Find x and w = w+ - w- with
//! ```text
//!   A x + b = w+ - w-,   l <= x <= u                                                                  (1)
//!   0 <= w+  perpendicular to  x - l >= 0,   0 <= w-  perpendicular to  u - x >= 0                    (2)
//! ```
//! In words, row by row: between its bounds a multiplier makes w vanish; at the lower bound w may be positive, at the
//! upper bound negative. Bounds may be infinite: with both infinite the row is an equation. The natural residual
//! ```text
//!   r_i = x_i - clip(x_i - w_i, l_i, u_i) = min(x_i - l_i, max(x_i - u_i, w_i)),   w = A x + b        (3)
//! ```
//! vanishes exactly at solutions and is the one judge of every solver here ([`residual`]).
//!
//! - A symmetric and positive semidefinite: (1), (2) are the conditions for the least q(x) = x^T A x / 2 + b^T x in the
//!   box, found by projected Newton steps (`newton.rs`).
//! - Rows without bounds in a matrix that is not symmetric, as in [M -J^T; J eps], are eliminated first (`condense.rs`);
//!   what is left of that form is J M^-1 J^T + eps, symmetric again.
//! - Everything else: block pivoting (`pivot.rs`), and complementary pivoting after Lemke where that fails (`lemke.rs`).
//! - [`sweep`]: projected Gauss-Seidel and an accelerated variant, for many rows and moderate accuracy (`sweep.rs`).

mod condense;
mod factor;
mod lemke;
mod newton;
mod pivot;
mod problem;
mod sweep;

pub use problem::{Error, Problem, relative_residual, residual};
pub use sweep::{Sweep, sweep};

use condense::Condensed;
use factor::Face;
use std::fmt;

/// A direct solution is accepted if no row's residual is larger than this share of the row's largest terms [-].
/// Rounding leaves about 1e-15; equations that contradict each other, with x driven to 1e10 by raised pivots, 1e-11.
const ACCEPTED: f64 = 1e-12;
/// At this share only rounding is left: iterations stop [-].
const EXACT: f64 = 1e-14;

/// Which solver gave a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Projected Newton on the quadratic program, A symmetric.
    ProjectedNewton,
    /// Block principal pivoting.
    BlockPivoting,
    /// Complementary pivoting after Lemke.
    Lemke,
    /// Projected Gauss-Seidel.
    GaussSeidel,
    /// Gauss-Seidel accelerated by conjugate directions.
    Accelerated,
}

/// Why a solution is only the best point found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The limit on factorisations, pivots or sweeps was reached.
    Limit,
    /// No step makes anything better: there is no solution nearby, or rounding hides it.
    Stalled,
    /// Complementary pivoting left along a ray: in general there is no solution.
    Ray,
    /// Numbers grew beyond what can be represented.
    Overflow,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Limit => "the limit on iterations was reached",
            Self::Stalled => "no step makes the residual smaller: there may be no solution",
            Self::Ray => "pivoting left along a ray: there may be no solution",
            Self::Overflow => "numbers grew beyond what can be represented",
        })
    }
}

/// A point between the bounds, and how it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// x, between its bounds even after a failure [unit of x].
    pub x: Vec<f64>,
    /// w = A x + b [unit of b].
    pub w: Vec<f64>,
    /// -1 at the lower bound, 1 at the upper bound, 0 between. Where both bounds are equal the sign of w decides.
    pub active: Vec<i8>,
    /// Natural residual (3), [`residual`].
    pub residual: f64,
    /// [`relative_residual`] [-].
    pub relative_residual: f64,
    /// The solver that gave x.
    pub method: Method,
    /// Rows without bounds that were eliminated first.
    pub eliminated: usize,
    /// Factorisations of blocks of A; for Lemke's method the pivots as well.
    pub factorisations: usize,
    /// Passes over all rows.
    pub sweeps: usize,
    /// Nothing, or why x is only the best point found.
    pub failure: Option<Failure>,
}

impl Solution {
    /// Whether x solves the problem to the solver's tolerance.
    pub fn converged(&self) -> bool {
        self.failure.is_none()
    }
}

/// Solves by factorisation, starting from `warm` or from 0. An error names what is wrong with the problem; a problem
/// without solution comes back with its [`Failure`] and the best point found.
///
/// ```
/// use tippe_numerics::mlcp::{Problem, solve};
/// // a weight of 2 on a table: x >= 0 pushes, w >= 0 separates
/// let problem = Problem { n: 1, a: vec![0.5], b: vec![-1.0], lower: vec![0.0], upper: vec![f64::INFINITY] };
/// let solution = solve(&problem, None)?;
/// assert!(solution.converged() && solution.x == [2.0] && solution.active == [0]);
/// # Ok::<(), tippe_numerics::mlcp::Error>(())
/// ```
pub fn solve(problem: &Problem, warm: Option<&[f64]>) -> Result<Solution, Error> {
    let start = problem.start(warm)?;
    if let Some(found) = symmetric(problem, &start) {
        return Ok(found.judged(problem));
    }
    let condensed = Condensed::new(problem).map(|condensed| {
        let start: Vec<f64> = condensed.kept.iter().map(|&i| start[i]).collect();
        let inner = &condensed.problem;
        let mut found = symmetric(inner, &start).unwrap_or_else(|| asymmetric(inner, &start));
        found.x = condensed.expand(problem, &found.x);
        found.eliminated = condensed.eliminated();
        found.polish(problem);
        found.judged(problem)
    });
    if let Some(solution) = condensed.as_ref().filter(|solution| solution.converged()) {
        return Ok(solution.clone());
    }
    let mut found = asymmetric(problem, &start);
    found.polish(problem);
    let whole = found.judged(problem);
    Ok(match condensed {
        Some(condensed) if !whole.converged() && condensed.relative_residual < whole.relative_residual => condensed,
        _ => whole,
    })
}

/// Projected Newton; `None` if A is not symmetric or not positive semidefinite.
fn symmetric(problem: &Problem, start: &[f64]) -> Option<Found> {
    if problem.is_symmetric() { newton::solve(problem, start) } else { None }
}

/// Block pivoting, and Lemke's method where that gives up; the better of both points.
fn asymmetric(problem: &Problem, start: &[f64]) -> Found {
    let first = pivot::solve(problem, start);
    if first.failure.is_none() {
        return first;
    }
    let mut second = lemke::solve(problem);
    second.factorisations += first.factorisations;
    let share = |found: &Found| problem.judged(&found.x)[1];
    if second.failure.is_some() && share(&first) < share(&second) {
        return Found { factorisations: second.factorisations, ..first };
    }
    second
}

/// What a solver hands over, not judged yet.
struct Found {
    x: Vec<f64>,
    method: Method,
    eliminated: usize,
    factorisations: usize,
    sweeps: usize,
    failure: Option<Failure>,
}

impl Found {
    /// Solves the rows between their bounds once more with all of A and a residual in twice the precision; keeps the
    /// result if it is inside its bounds and no worse.
    fn polish(&mut self, problem: &Problem) {
        let n = problem.n;
        let (mut w, mut size) = (vec![0.0; n], vec![0.0; n]);
        let before = problem.evaluate(&self.x, &mut w, &mut size)[1];
        let mut face = Face::new(n);
        face.choose(|i| self.x[i] > problem.lower[i] && self.x[i] < problem.upper[i]);
        self.factorisations += 1;
        if face.factor_general(problem) {
            self.x = face.refined(problem, &self.x, before, &mut w, &mut size);
        }
    }

    fn judged(mut self, problem: &Problem) -> Solution {
        let n = problem.n;
        if self.x.iter().any(|x| !x.is_finite()) {
            self.x = (0..n).map(|i| problem.clip(i, 0.0)).collect();
            self.failure = self.failure.or(Some(Failure::Overflow));
        }
        let (mut w, mut size) = (vec![0.0; n], vec![0.0; n]);
        let [residual, relative_residual] = problem.evaluate(&self.x, &mut w, &mut size);
        let failure = match self.method {
            Method::GaussSeidel | Method::Accelerated => self.failure,
            _ if relative_residual <= ACCEPTED => None,
            _ => self.failure.or(Some(Failure::Stalled)),
        };
        let active = |(i, &x): (usize, &f64)| match (x <= problem.lower[i], x >= problem.upper[i]) {
            (true, true) => [-1, 1][usize::from(w[i] < 0.0)],
            (at_lower, at_upper) => i8::from(at_upper) - i8::from(at_lower),
        };
        Solution {
            active: self.x.iter().enumerate().map(active).collect(),
            x: self.x,
            w,
            residual,
            relative_residual,
            method: self.method,
            eliminated: self.eliminated,
            factorisations: self.factorisations,
            sweeps: self.sweeps,
            failure,
        }
    }
}

/// The best point seen so far.
struct Best {
    x: Vec<f64>,
    share: f64,
}

impl Best {
    fn new(x: &[f64]) -> Self {
        Self { x: x.to_vec(), share: f64::INFINITY }
    }

    /// Keeps x if its share is smaller.
    fn offer(&mut self, x: &[f64], share: f64) {
        if share < self.share {
            self.x.copy_from_slice(x);
            self.share = share;
        }
    }
}
