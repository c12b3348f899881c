//! Symmetric positive semidefinite systems with redundant rows: A x = b with x of least size.
//!
//! Cholesky with pivoting gives P A P^T = L L^T with as many columns as A has independent rows (Higham 2002, 10.3). With
//! L = Q R, orthonormal columns times a triangle, the solution of least size is x = Q R^-T R^-1 Q^T b. (L^T L in place of R
//! would square the condition: a loop near its dead point could not be passed.)

/// A row of size 1 less its part along others is zero if it is below this [-].
const ROUND_OFF: f64 = 1e-15;

/// Rows of size 1 that see less than this of themselves are left out: nothing moves them, and what they share with others is below its
/// root [-].
const NOTHING: f64 = 1e-28;

/// Factors of one matrix.
#[derive(Clone, Debug, Default)]
pub struct Semidefinite {
    n: usize,
    rank: usize,
    /// The scaled matrix, for one step of refinement.
    A: Vec<f64>,
    /// Row i of L belongs to row i of A.
    L: Vec<f64>,
    /// Rows in the order they were eliminated; those that nothing moves are left out.
    order: Vec<usize>,
    /// Orthonormal columns that span those of L, where rows are redundant; column after column.
    Q: Vec<f64>,
    /// L in these columns, upper triangle, row major.
    R: Vec<f64>,
    scale: Vec<f64>,
    rest: f64,
    work: Vec<f64>,
    /// Room for [`Self::solve`]: the right-hand side, the solution in the columns of Q, one correction.
    right: Vec<f64>,
    inner: Vec<f64>,
    correction: Vec<f64>,
}

impl Semidefinite {
    /// Factors A (n x n, row major). Row and column i are divided by the root of `sizes[i]` (zero: left out) first; what
    /// is then below `tolerance` is zero. Where the number of independent rows is `known` that many are taken, however near
    /// they come to being dependent, and no more. Returns the number of independent rows.
    pub fn factor(&mut self, A: &[f64], sizes: &[f64], tolerance: f64, known: Option<usize>) -> usize {
        let (most, tolerance) = known.map_or((sizes.len(), tolerance), |rank| (rank, ROUND_OFF));
        let n = sizes.len();
        self.n = n;
        self.scale.clear();
        self.scale.extend(sizes.iter().map(|&s| if s > 0.0 { 1.0 / s.sqrt() } else { 0.0 }));
        self.A.resize(n * n, 0.0);
        for i in 0..n {
            for j in 0..n {
                self.A[i * n + j] = A[i * n + j] * self.scale[i] * self.scale[j];
            }
        }
        self.L.clear();
        self.L.resize(n * n, 0.0);
        self.work.clear();
        self.work.extend((0..n).map(|i| self.A[i * n + i]));
        self.order.clear();
        self.order.extend((0..n).filter(|&i| self.work[i].is_nan() || self.work[i] > NOTHING));
        let count = self.order.len();
        self.rank = count;
        self.rest = 0.0;
        for r in 0..count {
            let mut best = r;
            for k in r + 1..count {
                if self.work[self.order[k]] > self.work[self.order[best]] {
                    best = k;
                }
            }
            self.order.swap(r, best);
            let pivot = self.order[r];
            if r == most || self.work[pivot].is_nan() || self.work[pivot] <= tolerance {
                self.rank = r;
                self.rest = self.work[pivot].max(0.0);
                break;
            }
            let d = self.work[pivot].sqrt();
            self.L[pivot * n + r] = d;
            for k in r + 1..count {
                let i = self.order[k];
                let mut sum = self.A[i * n + pivot];
                for c in 0..r {
                    sum -= self.L[i * n + c] * self.L[pivot * n + c];
                }
                let l = sum / d;
                self.L[i * n + r] = l;
                self.work[i] -= l * l;
            }
        }
        if self.rank < count {
            self.factor_orthogonal();
        }
        self.rank
    }

    /// What is left of the largest row beyond those taken, of rows of size 1; 0 if all were taken.
    pub fn rest(&self) -> f64 {
        self.rest
    }

    /// The smallest pivot of the last factors, of rows of size 1; 1 without rows. Small near where a row becomes redundant.
    pub fn smallest_pivot(&self) -> f64 {
        match self.rank {
            0 => 1.0,
            r => {
                let l = self.L[self.order[r - 1] * self.n + r - 1];
                l * l
            }
        }
    }

    /// L = Q R by Gram and Schmidt, each column made orthogonal twice.
    fn factor_orthogonal(&mut self) {
        let (n, r) = (self.n, self.rank);
        self.Q.clear();
        self.Q.resize(r * n, 0.0);
        self.R.clear();
        self.R.resize(r * r, 0.0);
        for a in 0..r {
            let (before, rest) = self.Q.split_at_mut(a * n);
            let column = &mut rest[..n];
            for (i, q) in column.iter_mut().enumerate() {
                *q = self.L[i * n + a];
            }
            for _ in 0..2 {
                for (b, q) in before.chunks_exact(n).enumerate() {
                    let along = dot(q, column);
                    self.R[b * r + a] += along;
                    column.iter_mut().zip(q).for_each(|(c, q)| *c -= along * q);
                }
            }
            let length = dot(column, column).sqrt();
            self.R[a * r + a] = length;
            column.iter_mut().for_each(|c| *c /= length);
        }
    }

    /// x with A x = b, of least size (in the scaled unknowns) where A is singular.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        let n = self.n;
        let mut work = std::mem::take(&mut self.work);
        work.clear();
        work.extend(b.iter().zip(&self.scale).map(|(b, s)| b * s));
        if self.rank == self.order.len() {
            x.fill(0.0);
            self.solve_regular(&mut work);
            for &i in &self.order {
                x[i] = work[i];
            }
        } else {
            x.fill(0.0);
            self.right.clone_from(&work);
            for _ in 0..2 {
                self.least(&work);
                for (x, c) in x.iter_mut().zip(&self.correction) {
                    *x += c;
                }
                for i in 0..n {
                    let row = &self.A[i * n..][..n];
                    work[i] = self.right[i] - row.iter().zip(x.iter()).map(|(a, x)| a * x).sum::<f64>();
                }
            }
        }
        for (x, s) in x.iter_mut().zip(&self.scale) {
            *x *= s;
        }
        self.work = work;
    }

    /// L L^T x = b in place.
    fn solve_regular(&self, b: &mut [f64]) {
        let (n, count) = (self.n, self.order.len());
        for r in 0..count {
            let i = self.order[r];
            let mut sum = b[i];
            for c in 0..r {
                sum -= self.L[i * n + c] * b[self.order[c]];
            }
            b[i] = sum / self.L[i * n + r];
        }
        for r in (0..count).rev() {
            let i = self.order[r];
            let mut sum = b[i];
            for c in r + 1..count {
                let j = self.order[c];
                sum -= self.L[j * n + r] * b[j];
            }
            b[i] = sum / self.L[i * n + r];
        }
    }

    /// Q R^-T R^-1 Q^T b, as the correction.
    fn least(&mut self, b: &[f64]) {
        let (n, r) = (self.n, self.rank);
        let y = &mut self.inner;
        y.clear();
        y.extend(self.Q.chunks_exact(n).map(|q| dot(q, b)));
        for a in (0..r).rev() {
            for c in a + 1..r {
                y[a] -= self.R[a * r + c] * y[c];
            }
            y[a] /= self.R[a * r + a];
        }
        for a in 0..r {
            for c in 0..a {
                y[a] -= self.R[c * r + a] * y[c];
            }
            y[a] /= self.R[a * r + a];
        }
        self.correction.clear();
        self.correction.resize(n, 0.0);
        for (q, y) in self.Q.chunks_exact(n).zip(y) {
            self.correction.iter_mut().zip(q).for_each(|(x, q)| *x += q * *y);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A = B B^T with B n x r from a fixed sequence.
    fn matrix(n: usize, r: usize) -> (Vec<f64>, Vec<f64>) {
        let B: Vec<f64> = (0..n * r).map(|k| libm::sin(1.0 + 1.7 * k as f64 + 0.3 * (k * k) as f64)).collect();
        let mut A = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                A[i * n + j] = (0..r).map(|c| B[i * r + c] * B[j * r + c]).sum();
            }
        }
        (A, B)
    }

    #[test]
    fn regular_and_redundant_systems_are_solved_with_least_size() {
        for (n, r) in [(5, 5), (7, 4), (12, 3), (1, 1)] {
            let (A, B) = matrix(n, r);
            let z: Vec<f64> = (0..r).map(|k| libm::cos(k as f64)).collect();
            // right-hand sides in the range of A, solutions in the range of B are of least size
            let y: Vec<f64> = (0..n).map(|i| (0..r).map(|c| B[i * r + c] * z[c]).sum()).collect();
            let b: Vec<f64> = (0..n).map(|i| (0..n).map(|j| A[i * n + j] * y[j]).sum()).collect();
            let mut solver = Semidefinite::default();
            assert_eq!(solver.factor(&A, &vec![1.0; n], 1e-10, None), r);
            let mut x = vec![0.0; n];
            solver.solve(&b, &mut x);
            for (x, y) in x.iter().zip(&y) {
                assert!((x - y).abs() < 1e-10, "{n} {r}: {x} {y}");
            }
        }
    }

    #[test]
    fn near_a_dead_point_the_error_grows_with_the_condition_not_its_square() {
        // A = Q diag(1, 1e-5)^2 Q^T + a redundant row: rows 1 and 3 equal, rows 1 and 2 nearly so
        let s = 1e-5;
        let B = [[1.0, 0.0], [1.0, s], [1.0, 0.0]];
        let mut A = vec![0.0; 9];
        for i in 0..3 {
            for j in 0..3 {
                A[3 * i + j] = B[i][0] * B[j][0] + B[i][1] * B[j][1];
            }
        }
        let y = [1.0, -2.0, 1.0];
        let b: Vec<f64> = (0..3).map(|i| (0..3).map(|j| A[3 * i + j] * y[j]).sum()).collect();
        let mut solver = Semidefinite::default();
        assert_eq!(solver.factor(&A, &[1.0; 3], 1e-13, None), 2);
        assert!((solver.smallest_pivot() - s * s).abs() < 1e-5 * s * s);
        let mut x = [0.0; 3];
        solver.solve(&b, &mut x);
        for (x, y) in x.iter().zip(&y) {
            assert!((x - y).abs() < 1e-5, "{x} {y}");
        }
        assert_eq!(solver.factor(&A, &[1.0; 3], 1e-9, None), 1);
        assert!((solver.rest() - s * s).abs() < 1e-5 * s * s);
        assert_eq!(solver.factor(&A, &[1.0; 3], 1e-9, Some(2)), 2);
        assert_eq!(solver.factor(&A, &[1.0; 3], 1e-13, Some(1)), 1);
    }

    #[test]
    fn rows_that_nothing_moves_do_not_make_the_others_redundant() {
        let tiny = 1e-31;
        let A = [2.0, tiny, 1.0, tiny, tiny, 0.0, 1.0, 0.0, 3.0];
        let mut solver = Semidefinite::default();
        assert_eq!(solver.factor(&A, &[1.0; 3], 1e-10, None), 2);
        assert!(solver.Q.is_empty() && solver.rest() == 0.0);
        let mut x = [1.0; 3];
        solver.solve(&[4.0, 1e-16, 7.0], &mut x);
        assert!((x[0] - 1.0).abs() < 1e-15 && x[1] == 0.0 && (x[2] - 2.0).abs() < 1e-15, "{x:?}");
    }

    #[test]
    fn rows_without_size_are_left_out() {
        let A = [2.0, 0.0, 0.0, 0.0];
        let mut solver = Semidefinite::default();
        assert_eq!(solver.factor(&A, &[2.0, 0.0], 1e-10, None), 1);
        let mut x = [0.0; 2];
        solver.solve(&[4.0, 1.0], &mut x);
        assert!((x[0] - 2.0).abs() < 1e-15 && x[1] == 0.0, "{x:?}");
    }
}
