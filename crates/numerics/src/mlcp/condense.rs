//! Elimination of rows without bounds: [M -J^T; J eps] becomes J M^-1 J^T + eps.
//!
//! A row k without bounds is an equation, w_k = 0, and gives x_k in terms of the others; in them
//! ```text
//!   a_ij <- a_ij - a_ik a_kj / a_kk,   b_i <- b_i - a_ik b_k / a_kk                                   (1)
//! ```
//! the Schur complement of the rows taken. Pivots are taken on the diagonal, the largest share of its row first: that
//! keeps a symmetric part positive semidefinite (Golub and Van Loan, Matrix Computations, 4.2.2), lets redundant
//! equations stay where they are, and makes the result symmetric where the coupling was antisymmetric.

use super::Problem;

/// A diagonal element below this share of what its row was is no pivot [-].
const NO_PIVOT: f64 = 1e-11;

/// A problem without the rows taken.
pub(super) struct Condensed {
    pub problem: Problem,
    /// Rows of the whole problem that are left.
    pub kept: Vec<usize>,
    /// Rows taken, in this order.
    taken: Vec<usize>,
    /// The matrix and the constant part as elimination left them.
    a: Vec<f64>,
    b: Vec<f64>,
}

impl Condensed {
    /// Takes as many rows as have pivots; `None` if that is none.
    pub fn new(whole: &Problem) -> Option<Self> {
        let n = whole.n;
        let (mut a, mut b) = (whole.a.clone(), whole.b.clone());
        let size: Vec<f64> = (0..n).map(|i| whole.row(i).iter().fold(0.0, |most: f64, a| most.max(a.abs()))).collect();
        let mut left = vec![true; n];
        let mut taken = Vec::with_capacity(n);
        let mut pivot_row = vec![0.0; n];
        loop {
            let share = |k: usize| a[k * n + k] / size[k];
            let open = (0..n).filter(|&k| left[k] && whole.unbounded(k) && share(k) > NO_PIVOT);
            let Some(k) = open.max_by(|&i, &j| share(i).total_cmp(&share(j))) else { break };
            left[k] = false;
            taken.push(k);
            pivot_row.copy_from_slice(&a[k * n..][..n]);
            for i in (0..n).filter(|&i| left[i]) {
                let row = &mut a[i * n..][..n];
                let factor = row[k] / pivot_row[k];
                if factor != 0.0 {
                    row.iter_mut().zip(&pivot_row).for_each(|(a, p)| *a -= factor * p);
                    b[i] -= factor * b[k];
                }
            }
        }
        let kept: Vec<usize> = (0..n).filter(|&i| left[i]).collect();
        let of = |values: &[f64]| kept.iter().map(|&i| values[i]).collect();
        let problem = Problem {
            n: kept.len(),
            a: kept.iter().flat_map(|&i| kept.iter().map(|&j| a[i * n + j]).collect::<Vec<_>>()).collect(),
            b: of(&b),
            lower: of(&whole.lower),
            upper: of(&whole.upper),
        };
        (!taken.is_empty() && problem.validate().is_ok()).then_some(Self { problem, kept, taken, a, b })
    }

    pub fn eliminated(&self) -> usize {
        self.taken.len()
    }

    /// The whole x from the rows kept: the equations of the rows taken, last to first.
    pub fn expand(&self, whole: &Problem, kept: &[f64]) -> Vec<f64> {
        let n = whole.n;
        let mut x = vec![0.0; n];
        self.kept.iter().zip(kept).for_each(|(&i, &y)| x[i] = y);
        for &k in self.taken.iter().rev() {
            // x of rows taken before k is still 0, and so is x_k
            let sum: f64 = self.a[k * n..][..n].iter().zip(&x).map(|(a, x)| a * x).sum();
            x[k] = -(self.b[k] + sum) / self.a[k * n + k];
        }
        x
    }
}
