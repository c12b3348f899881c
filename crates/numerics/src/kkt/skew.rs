//! Rows whose impulse acts along another direction than the velocity they watch: no longer a quadratic program.
//!
//! With F the directions of the impulses, M u = p + F^T lambda and J u + eps lambda = b, so that the rows alone are
//!   A lambda + c = w,   A = J M^-1 F^T + eps,   c = J M^-1 p - b,
//! a dense linear complementarity problem for [`mlcp::solve`]: block pivoting, and Lemke's method where that fails. Balls become boxes.

use super::{Block, GROUND, LEAST_COMPLIANCE, Problem, Report, Solver};
use crate::mlcp;

/// Six numbers for each of up to four bodies.
type Directions = [(u32, [f64; 6]); 4];

impl Solver {
    /// Solves a problem with [`Problem::forces`], or any other small one; the report says which method ran.
    pub fn dense(&mut self, problem: &mut Problem) -> Report {
        let rows = problem.rows.len();
        let (mut watch, mut act): (Vec<Directions>, Vec<Directions>) = (Vec::new(), Vec::new());
        let (mut b, mut eps, mut lower, mut upper, mut start) = (vec![], vec![], vec![], vec![], vec![]);
        for row in &problem.rows {
            let own = |J: &[[f64; 6]; 2]| {
                let mut all = [(GROUND, [0.0; 6]); 4];
                for s in 0..2 {
                    all[s] = (row.bodies[s], J[s]);
                }
                all
            };
            let k = watch.len() as u32;
            watch.push(own(&row.J));
            act.push(match problem.forces.binary_search_by_key(&k, |f| f.0) {
                Ok(at) => own(&problem.forces[at].1),
                Err(_) => own(&row.J),
            });
            b.push(row.target);
            eps.push(row.compliance.max(LEAST_COMPLIANCE * row.yields(&problem.inverse)));
            lower.push(row.lower);
            upper.push(row.upper);
            start.push(if row.lambda.is_nan() { 0.0 } else { row.lambda });
        }
        for group in &problem.groups {
            for r in 0..group.count {
                let own: Directions =
                    std::array::from_fn(|s| (group.bodies[s], std::array::from_fn(|i| group.J[s][6 * r + i])));
                watch.push(own);
                act.push(own);
                b.push(group.target[r]);
                eps.push(group.compliance[r]);
                lower.push(f64::NEG_INFINITY);
                upper.push(f64::INFINITY);
                start.push(0.0);
            }
        }
        let n = watch.len();
        let mut a = vec![0.0; n * n];
        for (j, act) in act.iter().enumerate() {
            let answer = act.map(|(body, F)| (body, times(&problem.inverse, body, &F)));
            for (i, watch) in watch.iter().enumerate() {
                for (body, J) in watch.iter().filter(|w| w.0 != GROUND) {
                    for (_, v) in answer.iter().filter(|v| v.0 == *body) {
                        a[n * i + j] += (0..6).map(|k| J[k] * v[k]).sum::<f64>();
                    }
                }
            }
            a[n * j + j] += eps[j];
        }
        let mut u: Vec<f64> = Vec::with_capacity(problem.momentum.len());
        for (k, W) in problem.inverse.iter().enumerate() {
            let p = &problem.momentum[6 * k..][..6];
            u.extend((0..6).map(|i| (0..6).map(|j| W[6 * i + j] * p[j]).sum::<f64>()));
        }
        for (b, watch) in b.iter_mut().zip(&watch) {
            let rate: f64 = watch
                .iter()
                .filter(|w| w.0 != GROUND)
                .map(|(body, J)| (0..6).map(|i| J[i] * u[6 * *body as usize + i]).sum::<f64>())
                .sum();
            *b = rate - *b;
        }
        for (x, (low, high)) in start.iter_mut().zip(lower.iter().zip(&upper)) {
            *x = x.max(*low).min(*high);
        }
        let rest = start.clone();
        let posed = mlcp::Problem { n, a, b, lower, upper };
        let (x, mut report) = match mlcp::solve(&posed, Some(&start)) {
            Ok(found) => (
                found.x.clone(),
                Report {
                    factorisations: found.factorisations,
                    converged: found.converged(),
                    pivoting: Some(found.method),
                    ..Report::default()
                },
            ),
            // something is not finite: nothing is pushed, and the clock's own check names the body
            Err(_) => (rest, Report::default()),
        };
        for (act, lambda) in act.iter().zip(&x) {
            for (body, F) in act.iter().filter(|f| f.0 != GROUND) {
                let v = times(&problem.inverse, *body, F);
                for i in 0..6 {
                    u[6 * *body as usize + i] += v[i] * lambda;
                }
            }
        }
        report.converged &= u.iter().all(|u| u.is_finite());
        problem.u = u;
        for (row, lambda) in problem.rows.iter_mut().zip(&x) {
            row.lambda = *lambda;
        }
        let mut at = rows;
        for group in &mut problem.groups {
            group.lambda[..group.count].copy_from_slice(&x[at..at + group.count]);
            at += group.count;
        }
        report
    }
}

/// M^-1 F of one body.
fn times(inverse: &[Block], body: u32, F: &[f64; 6]) -> [f64; 6] {
    match inverse.get(body as usize) {
        Some(W) => std::array::from_fn(|i| (0..6).map(|j| W[6 * i + j] * F[j]).sum()),
        None => [0.0; 6],
    }
}
