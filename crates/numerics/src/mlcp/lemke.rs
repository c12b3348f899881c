//! Complementary pivoting (Lemke 1965; Cottle, Pang, Stone 1992, 4.4): slow and patient, for what block pivoting cannot
//! do.
//!
//! Bounds are taken away first. With x = l + z, or x = u - z where only u is finite, or x = z - z' without bounds, and
//! a further v >= 0 that stands for w- where both bounds are finite, all rows have the form
//! ```text
//!   y = M z + q,   y >= 0,   z >= 0,   y^T z = 0                                                      (1)
//! ```
//! with rows y = w + v and u - l - z for the last kind. M is positive semidefinite if A is. A further unknown z0 with
//! positive coefficients d makes y = M z + q + d z0 >= 0 feasible; it is then driven out: each pivot brings in the
//! partner of what went out last, and the first to reach zero goes out. The path ends where z0 goes out, a solution, or
//! on a ray.

use super::{Failure, Found, Method, Problem};

/// Pivots allowed for each row of (1), and as many again for small problems.
const LIMIT: usize = 20;
/// Coefficients below this share of the largest one in their column are zero [-].
const NO_PIVOT: f64 = 1e-12;
/// Ratios that differ by less than this share are equal [-].
const TIE: f64 = 1e-12;

/// One z of (1): x of `row` is its base plus `sign` z; sign 0: the v of a row with two bounds.
struct Unknown {
    row: usize,
    sign: f64,
}

/// Solves from scratch.
pub(super) fn solve(problem: &Problem) -> Found {
    let n = problem.n;
    let mut base = vec![0.0; n];
    let mut unknowns = Vec::with_capacity(2 * n);
    for row in 0..n {
        let (lower, upper) = (problem.lower[row], problem.upper[row]);
        let kinds: &[f64] = match (lower.is_finite(), upper.is_finite()) {
            (true, true) if lower == upper => &[],
            (true, true) => &[1.0, 0.0],
            (true, false) => &[1.0],
            (false, true) => &[-1.0],
            (false, false) => &[1.0, -1.0],
        };
        base[row] = if lower.is_finite() {
            lower
        } else if upper.is_finite() {
            upper
        } else {
            0.0
        };
        unknowns.extend(kinds.iter().map(|&sign| Unknown { row, sign }));
    }
    let mut w = vec![0.0; n];
    problem.evaluate(&base, &mut w, &mut vec![0.0; n]);
    let mut tableau = Tableau::new(problem, &unknowns, &w);
    let (failure, pivots) = tableau.run();
    let mut x = base;
    for (k, unknown) in unknowns.iter().enumerate() {
        x[unknown.row] += unknown.sign * tableau.value(k);
    }
    x.iter_mut().enumerate().for_each(|(i, x)| *x = problem.clip(i, *x));
    Found { x, method: Method::Lemke, eliminated: 0, factorisations: pivots, sweeps: 0, failure }
}

/// Basic unknowns as functions of the others: basic = q + T other. y_k has the number k, z_k the number m + k, z0 2 m.
struct Tableau {
    m: usize,
    /// m rows of m + 1 coefficients.
    T: Vec<f64>,
    q: Vec<f64>,
    basic: Vec<usize>,
    other: Vec<usize>,
    row: Vec<f64>,
}

impl Tableau {
    fn new(problem: &Problem, unknowns: &[Unknown], w: &[f64]) -> Self {
        let (n, m) = (problem.n, unknowns.len());
        let mut T = vec![0.0; m * (m + 1)];
        let mut q = vec![0.0; m];
        for (k, y) in unknowns.iter().enumerate() {
            let row = &mut T[k * (m + 1)..][..=m];
            for (t, z) in row.iter_mut().zip(unknowns) {
                *t = match (y.sign == 0.0, z.sign == 0.0) {
                    (false, false) => y.sign * problem.a[y.row * n + z.row] * z.sign,
                    (false, true) if y.row == z.row => 1.0,
                    (true, false) if y.row == z.row => -1.0,
                    _ => 0.0,
                };
            }
            q[k] = if y.sign == 0.0 { problem.upper[y.row] - problem.lower[y.row] } else { y.sign * w[y.row] };
            let largest = row.iter().fold(0.0, |most: f64, t| most.max(t.abs()));
            row[m] = if largest > 0.0 { largest } else { 1.0 };
        }
        let other = (m..2 * m).chain([2 * m]).collect();
        Self { m, T, q, basic: (0..m).collect(), other, row: vec![0.0; m + 1] }
    }

    /// Pivots to the end: the failure, if any, and the number of pivots.
    fn run(&mut self) -> (Option<Failure>, usize) {
        let (m, z0) = (self.m, 2 * self.m);
        // z0 comes in where it must be largest
        let need = |r: usize| -self.q[r] / self.T[r * (m + 1) + m];
        let Some(r) = (0..m).filter(|&r| self.q[r] < 0.0).max_by(|&r, &s| need(r).total_cmp(&need(s))) else {
            return (None, 0);
        };
        let (mut leaving, mut column) = (r, m);
        for pivots in 1..=LIMIT * (m + LIMIT) {
            let gone = self.pivot(leaving, column);
            if self.q.iter().any(|q| !q.is_finite()) {
                return (Some(Failure::Overflow), pivots);
            }
            if gone == z0 {
                return (None, pivots);
            }
            let partner = if gone < m { gone + m } else { gone - m };
            column = self.other.iter().position(|&k| k == partner).unwrap_or(m);
            let Some(r) = self.first_at_zero(column) else { return (Some(Failure::Ray), pivots) };
            leaving = r;
        }
        (Some(Failure::Limit), LIMIT * (m + LIMIT))
    }

    /// The basic unknown that reaches zero first as the one of `column` grows. Of equals z0, else the largest
    /// coefficient.
    fn first_at_zero(&self, column: usize) -> Option<usize> {
        let m = self.m;
        let t = |r: usize| self.T[r * (m + 1) + column];
        let largest = (0..m).fold(0.0, |most: f64, r| most.max(t(r).abs()));
        let ratio = |r: usize| self.q[r].max(0.0) / -t(r);
        let falling = || (0..m).filter(|&r| t(r) < -NO_PIVOT * largest);
        let least = falling().map(ratio).min_by(f64::total_cmp)?;
        let equal = falling().filter(|&r| ratio(r) <= least + TIE * least.abs());
        equal.max_by(|&r, &s| {
            let rank = |r: usize| (self.basic[r] == 2 * m, -t(r));
            let ((z_r, t_r), (z_s, t_s)) = (rank(r), rank(s));
            z_r.cmp(&z_s).then(t_r.total_cmp(&t_s))
        })
    }

    /// Exchanges the basic unknown of row r with the one of `column`; returns what went out.
    fn pivot(&mut self, r: usize, column: usize) -> usize {
        let width = self.m + 1;
        // basic_r = q + sum t other  =>  other_c = (basic_r - q - the rest of the sum) / t_c
        let at = &mut self.T[r * width..][..width];
        let t = at[column];
        at[column] = -1.0;
        at.iter_mut().for_each(|a| *a /= -t);
        self.q[r] /= -t;
        self.row.copy_from_slice(at);
        for i in (0..self.m).filter(|&i| i != r) {
            let row = &mut self.T[i * width..][..width];
            let factor = row[column];
            if factor != 0.0 {
                row[column] = 0.0;
                row.iter_mut().zip(&self.row).for_each(|(a, p)| *a += factor * p);
                self.q[i] += factor * self.q[r];
            }
        }
        std::mem::swap(&mut self.basic[r], &mut self.other[column]);
        self.other[column]
    }

    /// z_k
    fn value(&self, k: usize) -> f64 {
        self.basic.iter().position(|&b| b == self.m + k).map_or(0.0, |r| self.q[r].max(0.0))
    }
}
