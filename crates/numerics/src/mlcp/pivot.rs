//! Block principal pivoting for matrices that need not be symmetric (Judice and Pires 1994).
//!
//! Every row is at its lower bound, at its upper bound or free. With bound rows at their bounds the free ones solve
//! ```text
//!   A_FF x_F = -b_F - A_FB x_B                                                                        (1)
//! ```
//! and a row is wrong if it is free beyond a bound, or at a bound with w of the other sign. All wrong rows change sides
//! at once while their number falls; if it has not fallen for a while only the last wrong row does (Murty 1974), which
//! ends for every matrix with positive principal minors, until the number has fallen again. A singular block (1) or too
//! many factorisations end it without success.

use super::factor::Face;
use super::{Best, Failure, Found, Method, Problem};

/// Blocks of changes in a row that may leave the number of wrong rows as it is.
const PATIENCE: usize = 10;
/// Factorisations allowed: this, and two for each row.
const LIMIT: usize = 60;
/// A row is wrong if it is beyond by more than this share of the size of its terms [-].
const WRONG: f64 = 1e-13;

/// Solves from the sides that `start` suggests.
pub(super) fn solve(problem: &Problem, start: &[f64]) -> Found {
    let n = problem.n;
    let (mut x, mut w, mut size) = (start.to_vec(), vec![0.0; n], vec![0.0; n]);
    let mut best = Best::new(start);
    let mut face = Face::new(n);
    let (mut clipped, mut next) = (start.to_vec(), vec![0; n]);
    best.offer(start, problem.evaluate(start, &mut w, &mut size)[1]);
    let mut side: Vec<i8> = (0..n)
        .map(|i| match (problem.lower[i], problem.upper[i]) {
            (lower, upper) if x[i] <= lower && (w[i] > 0.0 || lower == upper) => -1,
            (_, upper) if x[i] >= upper && w[i] < 0.0 => 1,
            _ => 0,
        })
        .collect();
    let (mut fewest, mut patience, mut factorisations) = (n + 1, PATIENCE, 0);
    let failure = loop {
        if factorisations >= LIMIT + 2 * n {
            break Some(Failure::Limit);
        }
        // (1), and once more for what rounding left
        face.choose(|i| side[i] == 0);
        factorisations += 1;
        if !face.factor_general(problem) {
            break Some(Failure::Stalled);
        }
        for i in 0..n {
            match side[i] {
                -1 => x[i] = problem.lower[i],
                1 => x[i] = problem.upper[i],
                _ => {}
            }
        }
        for _ in 0..2 {
            problem.evaluate(&x, &mut w, &mut size);
            face.newton_step(&w);
            face.rows.iter().zip(&face.step).for_each(|(&i, step)| x[i] += step);
        }
        problem.evaluate(&x, &mut w, &mut size);
        if x.iter().any(|x| !x.is_finite()) {
            break Some(Failure::Overflow);
        }

        // which rows are wrong, and where they belong
        let (mut count, mut last) = (0, 0);
        for i in 0..n {
            let (lower, upper, slack) = (problem.lower[i], problem.upper[i], WRONG * size[i]);
            next[i] = match side[i] {
                0 if x[i] < lower - WRONG * (x[i].abs() + lower.abs()) => -1,
                0 if x[i] > upper + WRONG * (x[i].abs() + upper.abs()) => 1,
                -1 if w[i] < -slack && lower < upper => 0,
                1 if w[i] > slack => 0,
                same => same,
            };
            if next[i] != side[i] {
                (count, last) = (count + 1, i);
            }
            clipped[i] = problem.clip(i, x[i]);
        }
        if count == 0 {
            break None;
        }

        // all of them, or the last one
        if count < fewest || patience > 0 {
            side.copy_from_slice(&next);
        } else {
            side[last] = next[last];
        }
        patience = if count < fewest { PATIENCE } else { patience.saturating_sub(1) };
        fewest = fewest.min(count);
        best.offer(&clipped, problem.evaluate(&clipped, &mut w, &mut size)[1]);
    };
    let x = if failure.is_none() { clipped } else { best.x };
    Found { x, method: Method::BlockPivoting, eliminated: 0, factorisations, sweeps: 0, failure }
}
