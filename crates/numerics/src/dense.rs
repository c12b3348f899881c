//! Small dense matrices, row by row: linear equations, pivots, eigenvalues.

use nalgebra::{DMatrix, Schur};

/// Iterations per eigenvalue after which the search has failed.
const ITERATIONS: usize = 100;

/// Solves A x = b by elimination with row exchanges; A and b are used up, x is left in b. False if A is singular.
pub fn solve(A: &mut [f64], b: &mut [f64]) -> bool {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| A[i * n + k].abs().total_cmp(&A[j * n + k].abs())).unwrap_or(k);
        if A[pivot * n + k] == 0.0 || !A[pivot * n + k].is_finite() {
            return false;
        }
        if pivot != k {
            (0..n).for_each(|j| A.swap(k * n + j, pivot * n + j));
            b.swap(k, pivot);
        }
        for i in k + 1..n {
            let factor = A[i * n + k] / A[k * n + k];
            if factor != 0.0 {
                (k..n).for_each(|j| A[i * n + j] -= factor * A[k * n + j]);
                b[i] -= factor * b[k];
            }
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| A[k * n + j] * b[j]).sum();
        b[k] = (b[k] - sum) / A[k * n + k];
    }
    true
}

/// Columns of G (rows of length n) that elimination with full exchange takes for pivots, ascending: as many as G has rank.
/// What is left of G counts as zero below `threshold` times its largest element. G is used up.
pub fn pivot_columns(G: &mut [f64], n: usize, threshold: f64) -> Vec<usize> {
    let rows = if n == 0 { 0 } else { G.len() / n };
    let largest = G.iter().fold(0.0, |m: f64, g| m.max(g.abs()));
    let mut columns = Vec::new();
    for k in 0..rows.min(n) {
        let (mut at, mut best) = ((k, 0), 0.0);
        for i in k..rows {
            for j in (0..n).filter(|j| !columns.contains(j)) {
                // of equals the first is taken, whatever rounding left
                if G[i * n + j].abs() > best * (1.0 + 1e-9) {
                    (at, best) = ((i, j), G[i * n + j].abs());
                }
            }
        }
        if best <= threshold * largest {
            break;
        }
        let (row, column) = at;
        (0..n).for_each(|j| G.swap(k * n + j, row * n + j));
        for i in k + 1..rows {
            let factor = G[i * n + column] / G[k * n + column];
            (0..n).for_each(|j| G[i * n + j] -= factor * G[k * n + j]);
        }
        columns.push(column);
    }
    columns.sort_unstable();
    columns
}

/// Eigenvalues (real, imaginary) of the n x n matrix A, conjugate pairs together; `None` if A has elements that are not
/// finite or the iteration does not converge.
pub fn eigenvalues(A: &[f64], n: usize) -> Option<Vec<[f64; 2]>> {
    if n == 0 {
        return Some(Vec::new());
    }
    if A.iter().any(|a| !a.is_finite()) {
        return None;
    }
    let mut A = A.to_vec();
    balance(&mut A, n);
    let found = Schur::try_new(DMatrix::from_row_slice(n, n, &A), f64::EPSILON, ITERATIONS * n)?.complex_eigenvalues();
    let mut all: Vec<[f64; 2]> = found.iter().map(|z| [z.re, z.im]).collect();
    all.sort_by(|a, b| {
        let size = |z: &[f64; 2]| libm::hypot(z[0], z[1]);
        size(a).total_cmp(&size(b)).then(a[0].total_cmp(&b[0])).then(a[1].total_cmp(&b[1]))
    });
    Some(all)
}

/// Scales rows and columns by powers of two until both have about the same size: A <- D^-1 A D has the same eigenvalues
/// (Parlett and Reinsch 1969).
fn balance(A: &mut [f64], n: usize) {
    for _ in 0..100 {
        let mut changed = false;
        for i in 0..n {
            let others =
                |k: usize| (0..n).filter(move |&j| j != i).map(move |j| if k == 0 { j * n + i } else { i * n + j });
            let column: f64 = others(0).map(|k| A[k].abs()).sum();
            let row: f64 = others(1).map(|k| A[k].abs()).sum();
            if column == 0.0 || row == 0.0 {
                continue;
            }
            let f = libm::exp2((0.5 * libm::log2(row / column)).round());
            if f * column + row / f < 0.95 * (column + row) {
                changed = true;
                for j in 0..n {
                    A[j * n + i] *= f;
                    A[i * n + j] /= f;
                }
            }
        }
        if !changed {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations() {
        let mut A = [0.0, 2.0, 1.0, 1.0, 1.0, 1.0, 4.0, 0.0, -1.0];
        let mut b = [7.0, 6.0, 1.0];
        assert!(solve(&mut A, &mut b));
        for (x, y) in b.iter().zip([1.0, 2.0, 3.0]) {
            assert!((x - y).abs() < 1e-14);
        }
        assert!(!solve(&mut [1.0, 2.0, 2.0, 4.0], &mut [1.0, 2.0]));
    }

    #[test]
    fn redundant_rows_have_no_pivot() {
        let mut G = [1.0, 2.0, 0.0, 2.0, 4.0, 0.0, 0.0, 0.0, 3.0];
        assert_eq!(pivot_columns(&mut G, 3, 1e-10), vec![1, 2]);
    }

    #[test]
    fn eigenvalues_of_known_matrices() {
        // companion matrix of (x - 1)(x - 2)(x^2 + 2 x + 5)
        let c = [10.0, -11.0, 1.0, -1.0];
        let mut A = vec![0.0; 16];
        for i in 0..3 {
            A[i * 4 + i + 1] = 1.0;
        }
        (0..4).for_each(|j| A[12 + j] = -c[j]);
        let found = eigenvalues(&A, 4).unwrap();
        for (z, w) in found.iter().zip([[1.0, 0.0], [2.0, 0.0], [-1.0, -2.0], [-1.0, 2.0]]) {
            assert!((z[0] - w[0]).abs() < 1e-12 && (z[1] - w[1]).abs() < 1e-12, "{found:?}");
        }
        // undamped oscillators of widely different stiffness, all alike in pairs
        let n = 6;
        let mut A = vec![0.0; 4 * n * n];
        for k in 0..n {
            A[k * 2 * n + n + k] = 1.0;
            A[(n + k) * 2 * n + k] = -libm::pow(10.0, (k / 2 * 6) as f64);
        }
        let found = eigenvalues(&A, 2 * n).unwrap();
        for (k, z) in found.iter().enumerate() {
            let w = libm::pow(10.0, (k / 4 * 3) as f64);
            assert!(z[0].abs() < 1e-9 * w && (z[1].abs() - w).abs() < 1e-9 * w, "{found:?}");
        }
        // cyclic: the shifts of the double step see nothing
        let found = eigenvalues(&[0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0], 3).unwrap();
        for z in &found {
            assert!((libm::hypot(z[0], z[1]) - 1.0).abs() < 1e-12, "{found:?}");
        }
        assert!(eigenvalues(&[f64::NAN], 1).is_none());
    }
}
