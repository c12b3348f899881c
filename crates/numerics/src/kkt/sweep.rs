//! Projected Gauss-Seidel: one row (or disc, or tie) after the other takes the impulse that satisfies it.

use super::{End, LEAST_COMPLIANCE, Problem, Solver, Tie};

impl Solver {
    /// What every row yields, its compliance included; compliances are raised to what can be felt.
    pub(super) fn measure(&mut self, problem: &mut Problem) {
        self.yields.clear();
        for k in 0..problem.rows.len() {
            let sum = problem.rows[k].yields(&problem.inverse);
            let row = &mut problem.rows[k];
            row.compliance = row.compliance.max(LEAST_COMPLIANCE * sum);
            self.yields.push(sum + row.compliance);
        }
        let Problem { inverse, ties, ends, .. } = problem;
        for tie in ties {
            let first = self.yields.len();
            self.yields.resize(first + 6, 0.0);
            for r in tie.bounded() {
                let sum = tie.yields(ends, r, inverse);
                tie.compliance[r] = tie.felt(r, sum);
                self.yields[first + r] = sum + tie.compliance[r];
            }
        }
    }

    /// One pass over all ties and rows; the velocities are those of the impulses before and after. Returns the largest
    /// change
    /// of a velocity.
    pub(super) fn pass(&mut self, problem: &mut Problem, backward: bool) -> f64 {
        let Problem { inverse, u, rows, ties, ends, .. } = problem;
        let mut largest: f64 = 0.0;
        for t in 0..ties.len() {
            let t = if !backward { t } else { ties.len() - 1 - t };
            largest = largest.max(settle(inverse, &mut ties[t], ends, u));
        }
        let mut k = 0;
        while k < rows.len() {
            let at = if !backward { k } else { rows.len() - 1 - k };
            // backwards a ball is met at its last row
            let at = if backward { first_of(rows, at) } else { at };
            let row = rows[at];
            let rate = Problem::rate(&row, u);
            if row.ball > 0 {
                let n = row.ball as usize;
                let scale = self.yields[at..at + n].iter().fold(0.0_f64, |most, y| most.max(*y));
                let mut wanted = [0.0; 3];
                let mut size = 0.0;
                for i in 0..n {
                    let row = &rows[at + i];
                    wanted[i] = row.lambda + (row.target - Problem::rate(row, u) - row.compliance * row.lambda) / scale;
                    size += wanted[i] * wanted[i];
                }
                let size = size.sqrt();
                let shrink = if size > row.upper { row.upper / size } else { 1.0 };
                for i in 0..n {
                    let change = wanted[i] * shrink - rows[at + i].lambda;
                    rows[at + i].lambda += change;
                    let row = &rows[at + i];
                    shift(inverse, &row.bodies, &row.J, change, u);
                    largest = largest.max(scale * change.abs());
                }
                k += n;
            } else {
                let wanted = row.lambda + (row.target - rate - row.compliance * row.lambda) / self.yields[at];
                let change = wanted.clamp(row.lower, row.upper) - row.lambda;
                rows[at].lambda += change;
                shift(inverse, &row.bodies, &row.J, change, u);
                largest = largest.max(self.yields[at] * change.abs());
                k += 1;
            }
        }
        largest
    }
}

/// The first row of the ball that ends at row `k`, or `k` itself.
fn first_of(rows: &[super::Row], k: usize) -> usize {
    for back in 1..3 {
        if k >= back && rows[k - back].ball as usize == back + 1 {
            return k - back;
        }
    }
    k
}

/// W x.
#[inline]
fn times(W: &super::Block, x: &[f64; 6]) -> [f64; 6] {
    std::array::from_fn(|i| (0..6).map(|j| W[6 * i + j] * x[j]).sum())
}

/// u += M^-1 J^T lambda.
#[inline]
fn shift(inverse: &[super::Block], bodies: &[u32; 2], J: &[[f64; 6]; 2], lambda: f64, u: &mut [f64]) {
    if lambda == 0.0 {
        return;
    }
    for side in 0..2 {
        if bodies[side] != super::GROUND {
            let WJ = times(&inverse[bodies[side] as usize], &J[side]);
            let u = &mut u[6 * bodies[side] as usize..][..6];
            for i in 0..6 {
                u[i] += WJ[i] * lambda;
            }
        }
    }
}

/// u += M^-1 J^T lambda of a tie.
pub(super) fn shift_tie(inverse: &[super::Block], tie: &Tie, ends: &[End], lambda: &[f64; 6], u: &mut [f64]) {
    for End { body, J } in tie.ends.of(ends) {
        let push: [f64; 6] = std::array::from_fn(|i| (0..tie.count).map(|r| J[6 * r + i] * lambda[r]).sum());
        let du = times(&inverse[*body as usize], &push);
        let u = &mut u[6 * *body as usize..][..6];
        for i in 0..6 {
            u[i] += du[i];
        }
    }
}

/// Satisfies the rows of one tie: together, (J M^-1 J^T + eps) dlambda = miss, or one after the other where there are
/// bounds. Returns the largest miss (with bounds the largest change of a velocity).
pub(super) fn settle(inverse: &[super::Block], tie: &mut Tie, ends: &[End], u: &mut [f64]) -> f64 {
    let n = tie.count;
    let mut A = [0.0; 36];
    for End { body, J } in tie.ends.of(ends) {
        let W = &inverse[*body as usize];
        for s in 0..n {
            let WJ = times(W, &std::array::from_fn(|i| J[6 * s + i]));
            for r in 0..n {
                A[6 * r + s] += (0..6).map(|i| J[6 * r + i] * WJ[i]).sum::<f64>();
            }
        }
    }
    let mut miss = [0.0; 6];
    let mut largest: f64 = 0.0;
    if tie.bounded().next().is_some() {
        for r in 0..n {
            let yields = A[7 * r] + tie.compliance[r];
            // nothing moves it
            if yields == 0.0 {
                continue;
            }
            let missing = tie.target[r] - tie.rate(ends, r, u) - tie.compliance[r] * tie.lambda[r];
            let wanted = (tie.lambda[r] + missing / yields).clamp(tie.lower[r], tie.upper[r]);
            let mut change = [0.0; 6];
            change[r] = wanted - tie.lambda[r];
            tie.lambda[r] = wanted;
            shift_tie(inverse, tie, ends, &change, u);
            largest = largest.max(yields * change[r].abs());
        }
        return largest;
    }
    for r in 0..n {
        A[7 * r] = A[7 * r] * (1.0 + 1e-12) + tie.compliance[r];
        miss[r] = tie.target[r] - tie.rate(ends, r, u) - tie.compliance[r] * tie.lambda[r];
        largest = largest.max(miss[r].abs());
    }
    // Cholesky in place, forward, backward
    for i in 0..n {
        for j in 0..=i {
            let mut sum = A[6 * i + j];
            for k in 0..j {
                sum -= A[6 * i + k] * A[6 * j + k];
            }
            A[6 * i + j] =
                if i == j { sum.max(1e-14 * A[7 * i].abs()).max(f64::MIN_POSITIVE).sqrt() } else { sum / A[7 * j] };
        }
    }
    for i in 0..n {
        for k in 0..i {
            miss[i] -= A[6 * i + k] * miss[k];
        }
        miss[i] /= A[7 * i];
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            miss[i] -= A[6 * k + i] * miss[k];
        }
        miss[i] /= A[7 * i];
    }
    for r in 0..n {
        tie.lambda[r] += miss[r];
    }
    shift_tie(inverse, tie, ends, &miss, u);
    largest
}
