//! Rows whose impulse acts along another direction than the velocity they watch: no longer a quadratic program.
//!
//! With F the directions of the impulses, M u = p + F^T lambda and J u + eps lambda = b, so that the rows alone are
//!   A lambda + c = w,   A = J M^-1 F^T + eps,   c = J M^-1 p - b,
//! a dense linear complementarity problem for [`mlcp::solve`]: block pivoting, and Lemke's method where that fails. Balls become boxes.

use super::{Block, Ends, GROUND, LEAST_COMPLIANCE, Problem, Report, Solver};
use crate::mlcp;

/// Six numbers for each of some bodies.
type Directions = Vec<(u32, [f64; 6])>;

/// All rows of a problem, one after the other: what they watch and where they push.
#[derive(Default)]
struct Dense {
    watch: Vec<Directions>,
    /// Empty where a row pushes where it watches.
    push: Vec<Directions>,
    b: Vec<f64>,
    eps: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    start: Vec<f64>,
}

impl Dense {
    fn of(problem: &Problem) -> Dense {
        let mut all = Dense::default();
        for row in &problem.rows {
            let own = (0..2).map(|s| (row.bodies[s], row.J[s])).filter(|(body, _)| *body != GROUND);
            all.watch.push(own.collect());
            all.push.push(Directions::new());
            all.b.push(row.target);
            all.eps.push(row.compliance.max(LEAST_COMPLIANCE * row.yields(&problem.inverse)));
            all.lower.push(row.lower);
            all.upper.push(row.upper);
            all.start.push(row.lambda);
        }
        for tie in &problem.ties {
            for r in 0..tie.count {
                let own = |ends: Ends| ends.of(&problem.ends).iter().map(|end| (end.body, end.row(r))).collect();
                all.watch.push(own(tie.ends));
                all.push.push(own(tie.pushes));
                all.b.push(tie.target[r]);
                all.eps.push(tie.felt(r, tie.yields(&problem.ends, r, &problem.inverse)));
                all.lower.push(tie.lower[r]);
                all.upper.push(tie.upper[r]);
                all.start.push(tie.lambda[r]);
            }
        }
        for (x, (low, high)) in all.start.iter_mut().zip(all.lower.iter().zip(&all.upper)) {
            *x = if x.is_nan() { 0.0 } else { *x }.max(*low).min(*high);
        }
        all
    }

    /// Where a row pushes.
    fn acts(&self, k: usize) -> &Directions {
        if self.push[k].is_empty() { &self.watch[k] } else { &self.push[k] }
    }

    /// J u of a row.
    fn rate(&self, k: usize, u: &[f64]) -> f64 {
        let part = |(body, J): &(u32, [f64; 6])| (0..6).map(|i| J[i] * u[6 * *body as usize + i]).sum::<f64>();
        self.watch[k].iter().map(part).sum()
    }
}

impl Solver {
    /// Solves a problem with [`Tie::pushes`](super::Tie), or any other small one; the report says which method ran.
    pub fn dense(&mut self, problem: &mut Problem) -> Report {
        let rows = problem.rows.len();
        let all = Dense::of(problem);
        let n = all.watch.len();
        let mut a = vec![0.0; n * n];
        for j in 0..n {
            let answer: Directions =
                all.acts(j).iter().map(|(body, F)| (*body, times(&problem.inverse[*body as usize], F))).collect();
            for (i, watch) in all.watch.iter().enumerate() {
                for (body, J) in watch {
                    for (_, v) in answer.iter().filter(|v| v.0 == *body) {
                        a[n * i + j] += (0..6).map(|k| J[k] * v[k]).sum::<f64>();
                    }
                }
            }
            a[n * j + j] += all.eps[j];
        }
        let mut u: Vec<f64> = Vec::with_capacity(problem.momentum.len());
        for (k, W) in problem.inverse.iter().enumerate() {
            let p = &problem.momentum[6 * k..][..6];
            u.extend((0..6).map(|i| (0..6).map(|j| W[6 * i + j] * p[j]).sum::<f64>()));
        }
        let b = (0..n).map(|k| all.rate(k, &u) - all.b[k]).collect();
        let posed = mlcp::Problem { n, a, b, lower: all.lower.clone(), upper: all.upper.clone() };
        let (x, mut report) = match mlcp::solve(&posed, Some(&all.start)) {
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
            Err(_) => (all.start.clone(), Report::default()),
        };
        for (k, lambda) in x.iter().enumerate() {
            for (body, F) in all.acts(k) {
                let v = times(&problem.inverse[*body as usize], F);
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
        for tie in &mut problem.ties {
            tie.lambda[..tie.count].copy_from_slice(&x[at..at + tie.count]);
            at += tie.count;
        }
        report
    }
}

/// W F of one body.
fn times(W: &Block, F: &[f64; 6]) -> [f64; 6] {
    std::array::from_fn(|i| (0..6).map(|j| W[6 * i + j] * F[j]).sum())
}
