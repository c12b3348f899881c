//! Factors of the block of A that belongs to the rows between their bounds (a face of the box), and steps on it.
//!
//! Symmetric: A_FF = L D L^T without exchanges, stable for positive definite blocks (Golub and Van Loan, Matrix
//! Computations, 4.1). A pivot that vanishes beside its diagonal element stands for a redundant row: it is raised to
//! `RAISED` of it, which refinement takes back where the equations agree. General: P A_FF = L U with row exchanges.

use super::{EXACT, Problem};

/// Pivots below this share of their diagonal element are raised to it [-]. Larger: more refinement for badly
/// conditioned blocks; smaller: longer steps where equations contradict each other, up to which nothing can be told.
const RAISED: f64 = 1e-10;
/// A pivot more negative than this share of its diagonal element says that A is not semidefinite [-].
const INDEFINITE: f64 = 1e-9;
/// A pivot of a row of size 1 below this is zero [-].
const SINGULAR: f64 = 1e-14;
/// Corrections with a residual in twice the precision.
const REFINEMENTS: usize = 3;

/// The rows between their bounds, the factors of their block, and room for steps.
pub(super) struct Face {
    n: usize,
    /// F: rows between their bounds, ascending.
    pub rows: Vec<usize>,
    /// The last step, one number for each of `rows`.
    pub step: Vec<f64>,
    factors: Vec<f64>,
    pivots: Vec<f64>,
    order: Vec<usize>,
    symmetric: bool,
    work: Vec<f64>,
}

impl Face {
    pub fn new(n: usize) -> Self {
        Self {
            n,
            rows: Vec::with_capacity(n),
            step: Vec::with_capacity(n),
            factors: Vec::with_capacity(n * n),
            pivots: Vec::with_capacity(n),
            order: Vec::with_capacity(n),
            symmetric: false,
            work: Vec::with_capacity(n),
        }
    }

    /// Sets the rows; whether they changed.
    pub fn choose(&mut self, free: impl Fn(usize) -> bool) -> bool {
        let n = self.n;
        let same = (0..n).filter(|&i| free(i)).eq(self.rows.iter().copied());
        if !same {
            self.rows.clear();
            self.rows.extend((0..n).filter(|&i| free(i)));
        }
        !same
    }

    /// A_FF = L D L^T of the symmetric part; false if it is not positive semidefinite.
    pub fn factor_symmetric(&mut self, problem: &Problem) -> bool {
        let (n, m) = (problem.n, self.rows.len());
        self.symmetric = true;
        self.factors.resize(m * m, 0.0);
        self.pivots.resize(m, 0.0);
        let largest = self.rows.iter().fold(0.0, |most: f64, &i| most.max(problem.a[i * n + i].abs()));
        let largest = if largest > 0.0 { largest } else { 1.0 };
        for r in 0..m {
            let i = self.rows[r];
            let (above, row) = self.factors.split_at_mut(r * m);
            for (c, &j) in self.rows[..r].iter().enumerate() {
                let a = 0.5 * (problem.a[i * n + j] + problem.a[j * n + i]);
                // v_c = a_rc - sum_k v_k l_ck with v = l d
                row[c] = a - dot(&row[..c], &above[c * m..][..c]);
            }
            let a = problem.a[i * n + i];
            let mut d = a;
            for (v, p) in row[..r].iter_mut().zip(&self.pivots) {
                let l = *v / p;
                d -= *v * l;
                *v = l;
            }
            let size = if a > 0.0 { a } else { largest };
            if d < -INDEFINITE * size {
                return false;
            }
            self.pivots[r] = d.max(RAISED * size);
        }
        true
    }

    /// P A_FF = L U with the largest share of its row as pivot; false if the block is singular.
    pub fn factor_general(&mut self, problem: &Problem) -> bool {
        let (n, m) = (problem.n, self.rows.len());
        self.symmetric = false;
        self.factors.resize(m * m, 0.0);
        self.order.clear();
        self.order.extend(0..m);
        self.work.clear();
        for (r, &i) in self.rows.iter().enumerate() {
            let row = &mut self.factors[r * m..][..m];
            row.iter_mut().zip(&self.rows).for_each(|(f, &j)| *f = problem.a[i * n + j]);
            self.work.push(row.iter().fold(0.0, |most: f64, f| most.max(f.abs())));
        }
        for k in 0..m {
            let share = |r: usize| self.factors[r * m + k].abs() / self.work[r];
            let pivot = (k..m).max_by(|&r, &s| share(r).total_cmp(&share(s))).unwrap_or(k);
            // not (a number above): also what is not a number
            if !matches!(share(pivot).partial_cmp(&SINGULAR), Some(std::cmp::Ordering::Greater)) {
                return false;
            }
            if pivot != k {
                let (above, below) = self.factors.split_at_mut(pivot * m);
                above[k * m..][..m].swap_with_slice(&mut below[..m]);
                self.order.swap(k, pivot);
                self.work.swap(k, pivot);
            }
            let (above, below) = self.factors.split_at_mut((k + 1) * m);
            let pivot_row = &above[k * m..];
            for row in below.chunks_exact_mut(m) {
                let l = row[k] / pivot_row[k];
                row[k] = l;
                if l != 0.0 {
                    row[k + 1..].iter_mut().zip(&pivot_row[k + 1..]).for_each(|(f, p)| *f -= l * p);
                }
            }
        }
        true
    }

    /// The step -A_FF^-1 w_F that makes w vanish on the face.
    pub fn newton_step(&mut self, w: &[f64]) {
        let m = self.rows.len();
        self.step.clear();
        if self.symmetric {
            self.step.extend(self.rows.iter().map(|&i| -w[i]));
        } else {
            self.step.extend(self.order.iter().map(|&r| -w[self.rows[r]]));
        }
        for r in 0..m {
            self.step[r] -= dot(&self.factors[r * m..][..r], &self.step[..r]);
        }
        if self.symmetric {
            self.step.iter_mut().zip(&self.pivots).for_each(|(y, d)| *y /= d);
            for r in (0..m).rev() {
                let (before, y) = self.step.split_at_mut(r);
                before.iter_mut().zip(&self.factors[r * m..]).for_each(|(x, l)| *x -= l * y[0]);
            }
        } else {
            for r in (0..m).rev() {
                let row = &self.factors[r * m..][..m];
                self.step[r] = (self.step[r] - dot(&row[r + 1..], &self.step[r + 1..])) / row[r];
            }
        }
    }

    /// x after a few corrections with w in twice the precision (Higham 2002, 12.1): right to rounding also where the
    /// block is badly conditioned. As it was if that leaves the box or makes the share of the residual, `before`,
    /// larger.
    pub fn refined(&mut self, problem: &Problem, x: &[f64], before: f64, w: &mut [f64], size: &mut [f64]) -> Vec<f64> {
        let mut y = x.to_vec();
        for _ in 0..REFINEMENTS {
            for &i in &self.rows {
                w[i] = dot_twice(problem.row(i), &y, problem.b[i]);
            }
            self.newton_step(w);
            self.rows.iter().zip(&self.step).for_each(|(&i, s)| y[i] += s);
        }
        let inside = self.rows.iter().all(|&i| problem.lower[i] <= y[i] && y[i] <= problem.upper[i]);
        let after = problem.evaluate(&y, w, size)[1];
        if inside && (after < before || after <= EXACT) { y } else { x.to_vec() }
    }
}

/// Sum of a_i b_i: eight partial sums, the same on every machine.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a8.remainder().iter().zip(b8.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a8.zip(b8) {
        for k in 0..8 {
            sums[k] += a[k] * b[k];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// Sum of a_i b_i and sum of |a_i b_i|.
pub(super) fn dot_with_size(a: &[f64], b: &[f64]) -> (f64, f64) {
    let (mut sums, mut sizes) = ([0.0; 4], [0.0; 4]);
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let (mut sum, mut size) = (0.0, 0.0);
    for (a, b) in a4.remainder().iter().zip(b4.remainder()) {
        sum += a * b;
        size += (a * b).abs();
    }
    for (a, b) in a4.zip(b4) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
            sizes[k] += (a[k] * b[k]).abs();
        }
    }
    (sums.iter().sum::<f64>() + sum, sizes.iter().sum::<f64>() + size)
}

/// c + sum of a_i b_i as if summed in twice the precision (Ogita, Rump, Oishi 2005, algorithm 5.3); the plain sum where
/// the split overflows.
fn dot_twice(a: &[f64], b: &[f64], c: f64) -> f64 {
    // a = high + low with 26 bits each (Dekker 1971)
    let split = |a: f64| {
        let t = 134_217_729.0 * a;
        let high = t - (t - a);
        (high, a - high)
    };
    let (mut sum, mut error) = (c, 0.0);
    for (&a, &b) in a.iter().zip(b) {
        let product = a * b;
        let ((a1, a2), (b1, b2)) = (split(a), split(b));
        let lost = a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2);
        let next = sum + product;
        let part = next - sum;
        error += ((sum - (next - part)) + (product - part)) + lost;
        sum = next;
    }
    let total = sum + error;
    if total.is_finite() { total } else { c + dot(a, b) }
}
