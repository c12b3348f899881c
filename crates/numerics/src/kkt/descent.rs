//! Newton's method on the velocities (Todorov 2014): every bounded row is soft, so its impulse follows from them, lambda = (b - J u)/eps taken back
//! into its bounds, and they make least
//!   f(u) = u^T M u/2 - p^T u + sum psi(b - J u),   psi' = lambda,
//! convex, with a continuous slope. Its second derivative is the matrix of the linear problem with the rows inside their bounds: a step is the
//! solution of that, taken as far as f falls. Rows however many are no more unknowns, but friction of hard rows makes kinks that hold it up.

use super::bounded::Bounded;
use super::newton::Status;
use super::{Problem, Report, Solver};

/// Slopes of f looked at along a step, at most ...
const LOOKS: usize = 40;
/// ... until one is this share of the first [-].
const LEVEL: f64 = 1e-3;

impl Solver {
    /// From the velocities at hand; true if it came to the solution.
    pub(super) fn descend(&mut self, problem: &mut Problem, limit: usize, tolerance: f64, report: &mut Report) -> bool {
        for round in 0..limit {
            self.start.clone_from(&problem.u);
            self.take_sides(problem);
            self.linear_problem(problem, tolerance, report);
            if self.consistent(problem, tolerance) {
                return true;
            }
            // exact rows hold after the first step, and then all along
            if round > 0 || problem.ties.is_empty() {
                self.go_down(problem);
            }
        }
        false
    }

    /// The sets at the velocities at hand.
    fn take_sides(&mut self, problem: &Problem) {
        self.states.clear();
        let mut k = 0;
        while k < problem.rows.len() {
            let row = problem.rows[k];
            let n = row.ball.max(1) as usize;
            let v = self.slip(problem, k, n);
            let size = v.iter().map(|v| v * v).sum::<f64>().sqrt();
            self.states.push(match row.ball {
                0 => Bounded::of_row(&row, self.yields[k]).at_velocity(v[0]),
                _ if row.upper <= 0.0 => Status::Bound(0.0),
                _ if size > row.compliance * row.upper => {
                    Status::Rim { d: v.map(|v| v / size), across: row.upper / size }
                }
                _ => Status::Free,
            });
            self.states.resize(k + n, Status::Later);
            k += n;
        }
        self.states.resize(k + 6 * problem.ties.len(), Status::Free);
        for (t, tie) in problem.ties.iter().enumerate() {
            for r in tie.bounded() {
                let (at, v) = (k + 6 * t + r, tie.target[r] - tie.rate(&problem.ends, r, &problem.u));
                self.states[at] = Bounded::of_tie(tie, r, self.yields[at]).at_velocity(v);
            }
        }
    }

    /// From the velocities `start` towards those at hand, u + d, as far as f falls.
    fn go_down(&mut self, problem: &mut Problem) {
        self.x.clear();
        self.x.extend(problem.u.iter().zip(&self.start).map(|(u, start)| u - start));
        std::mem::swap(&mut problem.u, &mut self.start);
        // f'(u + alpha d) d = d^T (M u - p) + alpha d^T M d + sum lambda(v + alpha s) s,   v = b - J u,   s = -J d
        let (mut first, mut second) = (0.0, 0.0);
        for (k, M) in problem.mass.iter().enumerate() {
            let (u, d) = (&problem.u[6 * k..][..6], &self.x[6 * k..][..6]);
            for i in 0..6 {
                let times = |x: &[f64]| (0..6).map(|j| M[6 * i + j] * x[j]).sum::<f64>();
                first += d[i] * (times(u) - problem.momentum[6 * k + i]);
                second += d[i] * times(d);
            }
        }
        let (x, u) = (&self.x, &problem.u);
        self.lines.clear();
        self.lines.extend(problem.rows.iter().map(|row| [row.target - Problem::rate(row, u), -Problem::rate(row, x)]));
        for tie in &problem.ties {
            let line = |r: usize| {
                let rate = |u: &[f64]| tie.rate(&problem.ends, r, u);
                [tie.target[r] - rate(u), -rate(x)]
            };
            self.lines.extend((0..tie.count).map(line));
        }
        let (rows, tied) = self.lines.split_at(problem.rows.len());
        let slope = |alpha: f64| {
            let mut sum = first + alpha * second;
            let mut k = 0;
            while k < rows.len() {
                let row = &problem.rows[k];
                let count = row.ball.max(1) as usize;
                let at = |[v, s]: [f64; 2]| v + alpha * s;
                sum += match row.ball {
                    0 => (at(rows[k]) / row.compliance).clamp(row.lower, row.upper) * rows[k][1],
                    _ => {
                        let own = || rows[k..k + count].iter();
                        let along: f64 = own().map(|line| at(*line) * line[1]).sum();
                        let size = own().map(|line| at(*line) * at(*line)).sum::<f64>().sqrt();
                        along / row.compliance.max(size / row.upper)
                    }
                };
                k += count;
            }
            let own = problem.ties.iter().flat_map(|tie| (0..tie.count).map(move |r| (tie, r)));
            // those without compliance do not move along d
            for ([v, s], (tie, r)) in tied.iter().zip(own).filter(|(_, (tie, r))| tie.compliance[*r] > 0.0) {
                sum += ((v + alpha * s) / tie.compliance[r]).clamp(tie.lower[r], tie.upper[r]) * s;
            }
            sum
        };
        let steepest = slope(0.0);
        let (mut low, mut high) = ((0.0, steepest), (1.0, slope(1.0)));
        let mut alpha = 1.0;
        if steepest < 0.0 && high.1 > 0.0 {
            for look in 0..LOOKS {
                // false position, and half way every now and then
                alpha = match look % 3 {
                    2 => 0.5 * (low.0 + high.0),
                    _ => low.0 - low.1 * (high.0 - low.0) / (high.1 - low.1),
                };
                let here = slope(alpha);
                if here.abs() <= -LEVEL * steepest {
                    break;
                }
                *(if here < 0.0 { &mut low } else { &mut high }) = (alpha, here);
            }
        }
        for (u, d) in problem.u.iter_mut().zip(&self.x) {
            *u += alpha * d;
        }
    }
}
