//! Large symmetric matrices: lower triangles by columns, factors by faer's supernodal Cholesky, eigenvalues by block Lanczos.

use crate::FlexibleError;
use faer::linalg::solvers::Solve;
use faer::sparse::linalg::solvers::{Llt, SymbolicLlt};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Mat, MatMut, Side};

/// The lower triangle of a symmetric matrix, by columns, rows ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Symmetric {
    /// Rows and columns.
    pub n: usize,
    /// Where each column starts, and the end.
    pub start: Vec<usize>,
    /// Rows.
    pub row: Vec<usize>,
    /// Entries.
    pub value: Vec<f64>,
}

impl Symmetric {
    /// y = A x.
    pub fn times(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for c in 0..self.n {
            let mut sum = 0.0;
            for k in self.start[c]..self.start[c + 1] {
                let (r, a) = (self.row[k], self.value[k]);
                y[r] += a * x[c];
                if r != c {
                    sum += a * x[r];
                }
            }
            y[c] += sum;
        }
    }

    /// x^T A y.
    pub fn between(&self, x: &[f64], y: &[f64]) -> f64 {
        let mut Ay = vec![0.0; self.n];
        self.times(y, &mut Ay);
        dot(x, &Ay)
    }

    /// The first `n` rows and columns.
    pub fn leading(&self, n: usize) -> Symmetric {
        let mut out = Symmetric { n, start: vec![0], ..Symmetric::default() };
        for c in 0..n {
            for k in self.start[c]..self.start[c + 1] {
                if self.row[k] < n {
                    out.row.push(self.row[k]);
                    out.value.push(self.value[k]);
                }
            }
            out.start.push(out.row.len());
        }
        out
    }

    /// A + factor B of the same pattern.
    pub fn plus(&self, factor: f64, B: &Symmetric) -> Symmetric {
        let value = self.value.iter().zip(&B.value).map(|(a, b)| a + factor * b).collect();
        Symmetric { value, ..self.clone() }
    }

    /// In which order to eliminate matrices of this pattern.
    pub fn ordering(&self, what: &str) -> Result<Ordering, FlexibleError> {
        let pattern = SymbolicSparseColMatRef::new_checked(self.n, self.n, &self.start, None, &self.row);
        let found = SymbolicLlt::try_new(pattern, Side::Lower);
        found.map(Ordering).map_err(|_| FlexibleError::Singular(format!("{what}: not enough memory")))
    }

    /// Its Cholesky factor; `what` says in an error what is not held.
    pub fn factor(&self, what: &str) -> Result<Factor, FlexibleError> {
        self.factor_in(&self.ordering(what)?, what)
    }

    /// Likewise, with the order of its pattern known.
    pub fn factor_in(&self, ordering: &Ordering, what: &str) -> Result<Factor, FlexibleError> {
        let pattern = SymbolicSparseColMatRef::new_checked(self.n, self.n, &self.start, None, &self.row);
        let matrix = SparseColMatRef::new(pattern, &self.value);
        let llt = Llt::try_new_with_symbolic(ordering.0.clone(), matrix, Side::Lower).map_err(|_| {
            FlexibleError::Singular(format!(
                "{what}: its stiffness is not positive definite. help: do its pieces hang together by more than a point or an edge?"
            ))
        })?;
        Ok(Factor { n: self.n, llt })
    }
}

/// In which order the unknowns of a pattern are eliminated.
#[derive(Clone, Debug)]
pub struct Ordering(SymbolicLlt<usize>);

/// A factored matrix.
pub struct Factor {
    n: usize,
    llt: Llt<usize, f64>,
}

impl Factor {
    /// Columns of length n, one after the other, become A^-1 times themselves.
    pub fn solve(&self, columns: &mut [f64]) {
        let k = columns.len() / self.n.max(1);
        self.llt.solve_in_place(MatMut::from_column_major_slice_mut(columns, self.n, k));
    }
}

/// x . y.
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// y += a x.
pub fn add(a: f64, x: &[f64], y: &mut [f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
}

/// Eigenvalues, ascending, and vectors, one after the other, of a dense symmetric matrix.
pub fn dense_eigen(A: &[f64], n: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
    if n == 0 {
        return (Vec::new(), Vec::new());
    }
    let A = Mat::from_fn(n, n, |i, j| 0.5 * (A[i * n + j] + A[j * n + i]));
    match A.self_adjoint_eigen(Side::Lower) {
        Ok(found) => {
            let (S, U) = (found.S().column_vector(), found.U());
            ((0..n).map(|i| S[i]).collect(), (0..n).map(|j| (0..n).map(|i| U[(i, j)]).collect()).collect())
        }
        // entries that are not finite: nothing can be said of them
        Err(_) => (vec![f64::NAN; n], vec![vec![f64::NAN; n]; n]),
    }
}

/// Vectors made orthonormal in M by the order they come; those that depend on the ones before (by `least` of their norm) are left out.
pub fn orthonormalise(M: &Symmetric, vectors: Vec<Vec<f64>>, least: f64) -> Vec<Vec<f64>> {
    let (mut out, mut M_out): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    let mut Mv = vec![0.0; M.n];
    for mut v in vectors {
        M.times(&v, &mut Mv);
        let before = dot(&v, &Mv).max(0.0).sqrt();
        for _ in 0..2 {
            for (w, Mw) in out.iter().zip(&M_out) {
                let share = dot(Mw, &v);
                add(-share, w, &mut v);
            }
        }
        M.times(&v, &mut Mv);
        let norm = dot(&v, &Mv).max(0.0).sqrt();
        if norm > least * before {
            v.iter_mut().for_each(|x| *x /= norm);
            M_out.push(Mv.iter().map(|x| x / norm).collect());
            out.push(v);
        }
    }
    out
}

/// Vectors in a block.
const BLOCK: usize = 6;
/// An eigenvalue counts as found when its residual is this share of it [-].
const CONVERGED: f64 = 1e-11;

/// The `count` smallest eigenvalues of K x = lambda M x and their vectors, orthonormal in M, without the space of `without` (orthonormal in M).
/// `factor` is of K + shift M. Block Lanczos with full orthogonalisation (Golub, Underwood 1977; Grimes, Lewis, Simon 1994) on
/// (K + shift M)^-1 M from a start that is always the same: the largest of 1/(lambda + shift) come first.
pub fn smallest(
    factor: &Factor,
    M: &Symmetric,
    shift: f64,
    count: usize,
    without: &[Vec<f64>],
) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = M.n;
    let most = n.saturating_sub(without.len());
    let count = count.min(most);
    if count == 0 {
        return (Vec::new(), Vec::new());
    }
    let block = BLOCK.min(most);
    let mut lanczos = Lanczos { M, basis: Vec::new(), M_basis: Vec::new(), M_without: Vec::new(), without };
    for w in without {
        let mut Mw = vec![0.0; n];
        M.times(w, &mut Mw);
        lanczos.M_without.push(Mw);
    }
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut next: Vec<Vec<f64>> = (0..block).map(|_| (0..n).map(|_| random(&mut seed)).collect()).collect();
    let mut T: Vec<Vec<f64>> = Vec::new();
    loop {
        let first = lanczos.basis.len();
        lanczos.extend(std::mem::take(&mut next), &mut seed);
        let added = lanczos.basis.len() - first;
        let mut columns: Vec<f64> = lanczos.M_basis[first..].iter().flatten().copied().collect();
        factor.solve(&mut columns);
        let size = lanczos.basis.len();
        for column in columns.chunks(n) {
            T.push(lanczos.M_basis.iter().map(|v| dot(v, column)).collect());
        }
        next = columns.chunks(n).map(<[f64]>::to_vec).collect();
        let full = size >= most || added == 0;
        if size < count + block && !full {
            continue;
        }
        let mut dense = vec![0.0; size * size];
        for (j, column) in T.iter().enumerate() {
            for (i, t) in column.iter().enumerate() {
                dense[i * size + j] = *t;
                dense[j * size + i] = *t;
            }
        }
        let (theta, y) = dense_eigen(&dense, size);
        let remainder = lanczos.remainder(&next);
        let far = |k: usize| {
            let last = &y[k][first..];
            let sum: f64 = last.iter().zip(&remainder).map(|(y, r)| y.abs() * r).sum();
            sum > CONVERGED * theta[k].abs()
        };
        if !full && (size - count..size).any(far) {
            continue;
        }
        let mut found = Vec::with_capacity(count);
        let mut values = Vec::with_capacity(count);
        for k in (size - count..size).rev() {
            let mut v = vec![0.0; n];
            for (basis, y) in lanczos.basis.iter().zip(&y[k]) {
                add(*y, basis, &mut v);
            }
            values.push(1.0 / theta[k] - shift);
            found.push(v);
        }
        return (values, found);
    }
}

/// A basis orthonormal in M, as it grows.
struct Lanczos<'a> {
    M: &'a Symmetric,
    basis: Vec<Vec<f64>>,
    M_basis: Vec<Vec<f64>>,
    M_without: Vec<Vec<f64>>,
    without: &'a [Vec<f64>],
}

impl Lanczos<'_> {
    /// Takes off what lies in the basis and in the space left out.
    fn clean(&self, v: &mut [f64]) {
        for _ in 0..2 {
            for (w, Mw) in self.without.iter().zip(&self.M_without).chain(self.basis.iter().zip(&self.M_basis)) {
                let share = dot(Mw, v);
                add(-share, w, v);
            }
        }
    }

    /// More vectors; one that depends on the others gives way to a random one.
    fn extend(&mut self, vectors: Vec<Vec<f64>>, seed: &mut u64) {
        let most = self.M.n - self.without.len();
        for mut v in vectors {
            if self.basis.len() >= most {
                return;
            }
            let mut Mv = vec![0.0; self.M.n];
            self.M.times(&v, &mut Mv);
            let before = dot(&v, &Mv).max(0.0).sqrt();
            self.clean(&mut v);
            self.M.times(&v, &mut Mv);
            let mut norm = dot(&v, &Mv).max(0.0).sqrt();
            if norm.is_nan() || norm <= 1e-12 * before {
                v.iter_mut().for_each(|x| *x = random(seed));
                self.clean(&mut v);
                self.M.times(&v, &mut Mv);
                norm = dot(&v, &Mv).max(0.0).sqrt();
            }
            if norm > 0.0 {
                v.iter_mut().chain(Mv.iter_mut()).for_each(|x| *x /= norm);
                self.basis.push(v);
                self.M_basis.push(Mv);
            }
        }
    }

    /// Norms of vectors without what lies in the basis.
    fn remainder(&self, vectors: &[Vec<f64>]) -> Vec<f64> {
        let norm = |v: &Vec<f64>| {
            let mut v = v.clone();
            self.clean(&mut v);
            self.M.between(&v, &v).max(0.0).sqrt()
        };
        vectors.iter().map(norm).collect()
    }
}

/// A number between -1 and 1: always the same sequence (xorshift, Marsaglia 2003).
fn random(seed: &mut u64) -> f64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    (*seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}
