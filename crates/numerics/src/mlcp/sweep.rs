//! Row after row: projected Gauss-Seidel, and the same accelerated.
//!
//! One pass sets each row to what its own equation wants, within its bounds,
//! ```text
//!   x_i <- clip(x_i - w_i / a_ii, l_i, u_i),   w_i = b_i + sum_j a_ij x_j                             (1)
//! ```
//! For symmetric positive definite A each assignment lowers q(x) = x^T A x / 2 + b^T x (Cottle, Pang, Stone 1992, 5.2),
//! but the number of passes grows with the condition of A: a heavy weight on a light chain needs millions.
//!
//! The accelerated form takes the displacement d = pass(x) - x for a slope and adds conjugate directions to it
//! (Silcowitz, Niebe, Erleben 2010):
//! ```text
//!   beta = |d|^2 / |d_before|^2,   p <- d + beta p,   x <- pass(x) + beta p_before                    (2)
//! ```
//! starting over with p = 0 where beta > 1. Lengths are measured with the diagonal of A, |d|^2 = sum a_ii d_i^2, which
//! makes the result independent of the units of rows.

use super::factor::dot;
use super::{Best, Error, Failure, Found, Method, Problem, Solution};

/// Which iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// Projected Gauss-Seidel (1).
    GaussSeidel,
    /// Conjugate directions on top (2).
    Accelerated,
}

/// At most `limit` passes from `warm` or from 0, until the natural residual is at most `tolerance` [the larger of the
/// units of x and w]. Returns the point of least residual among those met, with [`Failure::Limit`] if that is above the
/// tolerance.
pub fn sweep(
    problem: &Problem,
    kind: Sweep,
    limit: usize,
    tolerance: f64,
    warm: Option<&[f64]>,
) -> Result<Solution, Error> {
    let n = problem.n;
    let mut x = problem.start(warm)?;
    let mut best = Best::new(&x);
    let (mut w, mut size) = (vec![0.0; n], vec![0.0; n]);
    let (mut before, mut p) = (x.clone(), vec![0.0; n]);
    let mut length_before = f64::INFINITY;
    let (mut sweeps, mut failure) = (0, Some(Failure::Limit));
    while sweeps <= limit {
        before.copy_from_slice(&x);
        // what the pass met on its way ranks the point before it at no cost; the true residual decides
        let met = pass(problem, &mut x);
        if !met.is_finite() {
            failure = Some(Failure::Overflow);
            break;
        }
        best.offer(&before, met);
        if met <= 2.0 * tolerance && problem.evaluate(&before, &mut w, &mut size)[0] <= tolerance {
            best.x.copy_from_slice(&before);
            failure = None;
            break;
        }
        sweeps += 1;
        if kind == Sweep::Accelerated {
            let d = |i: usize| x[i] - before[i];
            let length: f64 = (0..n).map(|i| problem.a[i * n + i].abs() * d(i) * d(i)).sum();
            let beta = length / length_before;
            // also where the length before was 0 or infinite
            let go_on = beta <= 1.0;
            for i in 0..n {
                let d = x[i] - before[i];
                let along = if go_on { beta * p[i] } else { 0.0 };
                x[i] = problem.clip(i, x[i] + along);
                p[i] = d + along;
            }
            length_before = length;
        }
    }
    let method = match kind {
        Sweep::GaussSeidel => Method::GaussSeidel,
        Sweep::Accelerated => Method::Accelerated,
    };
    let found = Found { x: best.x, method, eliminated: 0, factorisations: 0, sweeps, failure };
    Ok(found.judged(problem))
}

/// One pass (1); returns the largest natural residual met on the way. A row without a positive diagonal goes to the
/// bound that w drives it to, if there is one.
pub(super) fn pass(problem: &Problem, x: &mut [f64]) -> f64 {
    let mut worst = 0.0_f64;
    for i in 0..problem.n {
        let row = problem.row(i);
        let w = problem.b[i] + dot(row, x);
        let r = w.max(x[i] - problem.upper[i]).min(x[i] - problem.lower[i]).abs();
        worst = if r.is_finite() { worst.max(r) } else { f64::INFINITY };
        let y = if row[i] > 0.0 {
            problem.clip(i, x[i] - w / row[i])
        } else if w > 0.0 {
            problem.lower[i]
        } else if w < 0.0 {
            problem.upper[i]
        } else {
            x[i]
        };
        if y.is_finite() {
            x[i] = y;
        }
    }
    worst
}
