//! Small dense matrices, row by row: linear equations, pivots, eigenvalues.

/// Iterations for one eigenvalue after which the search has failed.
const ITERATIONS: usize = 90;
/// Iterations after which rounding of the whole matrix is negligible too: many equal eigenvalues stay that far apart.
const PATIENCE: usize = 30;
/// Elements on the diagonal below this share of the largest element say nothing about what is negligible beside them [-].
const NEGLIGIBLE: f64 = 1e-6;

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
    let rows = G.len().checked_div(n).unwrap_or(0);
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

/// Eigenvalues (real, imaginary) of the n x n matrix A by size, conjugate pairs together; `None` if A has elements that are not
/// finite or the iteration does not converge.
///
/// A is balanced, reduced to Hessenberg form by reflections, and split by QR steps with two shifts at a time (Golub and Van
/// Loan, Matrix Computations, 7.4 and 7.5); every tenth step has shifts that fit nothing, for matrices on which the usual
/// ones walk in a circle.
pub fn eigenvalues(A: &[f64], n: usize) -> Option<Vec<[f64; 2]>> {
    if A.iter().any(|a| !a.is_finite()) {
        return None;
    }
    let mut H = A.to_vec();
    balance(&mut H, n);
    hessenberg(&mut H, n);
    let largest = H.iter().fold(0.0, |m: f64, h| m.max(h.abs()));
    let mut all = Vec::with_capacity(n);
    let (mut end, mut steps) = (n, 0);
    while end > 0 {
        let least = if steps > PATIENCE { largest } else { NEGLIGIBLE * largest };
        // the last block: from `start` on no element below the diagonal is negligible
        let mut start = end - 1;
        while start > 0 {
            let size = H[(start - 1) * n + start - 1].abs() + H[start * n + start].abs();
            if H[start * n + start - 1].abs() <= f64::EPSILON * size.max(least) {
                H[start * n + start - 1] = 0.0;
                break;
            }
            start -= 1;
        }
        match end - start {
            1 => all.push([H[start * n + start], 0.0]),
            2 => {
                let k = start * n + start;
                all.extend(of_two(H[k], H[k + 1], H[k + n], H[k + n + 1]));
            }
            _ => {
                steps += 1;
                if steps > ITERATIONS {
                    return None;
                }
                double_step(&mut H, n, start, end, steps % 10 == 0);
                continue;
            }
        }
        (end, steps) = (start, 0);
    }
    all.sort_by(|a, b| {
        let size = |z: &[f64; 2]| libm::hypot(z[0], z[1]);
        size(a).total_cmp(&size(b)).then(a[0].total_cmp(&b[0])).then(a[1].total_cmp(&b[1]))
    });
    Some(all)
}

/// Eigenvalues of [a b; c d].
fn of_two(a: f64, b: f64, c: f64, d: f64) -> [[f64; 2]; 2] {
    let (middle, half) = (0.5 * (a + d), 0.5 * (a - d));
    let square = half * half + b * c;
    if square < 0.0 {
        let imaginary = (-square).sqrt();
        return [[middle, -imaginary], [middle, imaginary]];
    }
    // the larger one first; the product gives the other without cancellation
    let large = middle + square.sqrt().copysign(middle);
    let small = if large == 0.0 { 0.0 } else { (a * d - b * c) / large };
    [[large, 0.0], [small, 0.0]]
}

/// v and beta of the reflection 1 - beta v v^T that takes x to a multiple of the first axis, v[0] = 1; x becomes v.
fn reflection(x: &mut [f64]) -> f64 {
    let tail: f64 = x[1..].iter().map(|x| x * x).sum();
    if tail == 0.0 {
        x[0] = 1.0;
        return 0.0;
    }
    let norm = (x[0] * x[0] + tail).sqrt();
    let first = if x[0] <= 0.0 { x[0] - norm } else { -tail / (x[0] + norm) };
    let beta = 2.0 * first * first / (tail + first * first);
    x[1..].iter_mut().for_each(|x| *x /= first);
    x[0] = 1.0;
    beta
}

/// P = 1 - beta v v^T on rows and columns from `at` on.
struct Reflection<'a> {
    v: &'a [f64],
    beta: f64,
    at: usize,
}

/// A <- P A P over these rows and columns.
fn reflect(A: &mut [f64], n: usize, P: &Reflection<'_>, columns: std::ops::Range<usize>, rows: std::ops::Range<usize>) {
    let Reflection { v, beta, at } = *P;
    for j in columns {
        let sum: f64 = v.iter().enumerate().map(|(i, v)| v * A[(at + i) * n + j]).sum();
        v.iter().enumerate().for_each(|(i, v)| A[(at + i) * n + j] -= beta * sum * v);
    }
    for i in rows {
        let sum: f64 = v.iter().enumerate().map(|(j, v)| v * A[i * n + at + j]).sum();
        v.iter().enumerate().for_each(|(j, v)| A[i * n + at + j] -= beta * sum * v);
    }
}

/// Zeros below the first subdiagonal, by reflections.
fn hessenberg(A: &mut [f64], n: usize) {
    for k in 0..n.saturating_sub(2) {
        let mut v: Vec<f64> = (k + 1..n).map(|i| A[i * n + k]).collect();
        let beta = reflection(&mut v);
        reflect(A, n, &Reflection { v: &v, beta, at: k + 1 }, k..n, 0..n);
        (k + 2..n).for_each(|i| A[i * n + k] = 0.0);
    }
}

/// One QR step with two shifts, real or conjugate, on the block from `start` to `end` (not included) of at least three rows.
fn double_step(H: &mut [f64], n: usize, start: usize, end: usize, odd: bool) {
    let at = |i: usize, j: usize| i * n + j;
    let last = end - 1;
    // first column of (H - s1)(H - s2), divided by its second row's element: with differences to the first diagonal
    // element nothing cancels where all eigenvalues are nearly equal
    let (a, b, c, d) =
        (H[at(start, start)], H[at(start, start + 1)], H[at(start + 1, start)], H[at(start + 1, start + 1)]);
    // (s1 - a)(s2 - a) and s1 + s2 - 2 a, of the eigenvalues of the last two rows
    let (r, s) = (H[at(last, last)] - a, H[at(last - 1, last - 1)] - a);
    let (mut product, mut sum) = (r * s - H[at(last, last - 1)] * H[at(last - 1, last)], r + s);
    if odd {
        let size = H[at(last, last - 1)].abs() + H[at(last - 1, last - 2)].abs();
        let e = r + 0.75 * size;
        (product, sum) = (e * e + 0.4375 * size * size, 2.0 * e);
    }
    let mut column = [product / c + b, d - a - sum, H[at(start + 2, start + 1)]];
    for k in start..last {
        let size = 3.min(end - k);
        let beta = reflection(&mut column[..size]);
        let left = if k > start { k - 1 } else { k };
        reflect(H, n, &Reflection { v: &column[..size], beta, at: k }, left..end, start..end.min(k + 4));
        if k > start {
            (k + 1..k + size).for_each(|i| H[at(i, k - 1)] = 0.0);
        }
        if k + 1 < last {
            let next = 3.min(end - k - 1);
            (0..next).for_each(|i| column[i] = H[at(k + 1 + i, k)]);
        }
    }
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

    #[test]
    fn many_equal_eigenvalues() {
        // forty times the same damped oscillator, mixed by reflections
        let n = 80;
        let mut A = vec![0.0; n * n];
        for k in 0..n / 2 {
            A[2 * k * n + 2 * k + 1] = 1.0;
            A[(2 * k + 1) * n + 2 * k] = -1e6;
            A[(2 * k + 1) * n + 2 * k + 1] = -2e3;
        }
        for turn in 0..20 {
            let mut v: Vec<f64> = (0..n).map(|i| libm::cos((3 * i + 7 * turn + 1) as f64)).collect();
            let beta = reflection(&mut v);
            reflect(&mut A, n, &Reflection { v: &v, beta, at: 0 }, 0..n, 0..n);
        }
        let found = eigenvalues(&A, n).unwrap();
        assert_eq!(found.len(), n);
        for z in &found {
            // double and defective: known to the root of the rounding, of a matrix of size 1e6
            assert!(libm::hypot(z[0] + 1e3, z[1]) < 1.0, "{z:?}");
        }
    }

    #[test]
    fn eigenvalues_survive_a_change_of_basis() {
        // block diagonal with known eigenvalues, turned by reflections
        let n = 9;
        let known = [[-3.0, 0.0], [0.5, -2.0], [0.5, 2.0], [-1e-3, -40.0], [-1e-3, 40.0], [7.0, 0.0], [0.0, 0.0]];
        let mut A = vec![0.0; n * n];
        A[0] = -3.0;
        for (k, (re, im)) in [(1, (0.5, 2.0)), (3, (-1e-3, 40.0))] {
            A[k * n + k] = re;
            A[(k + 1) * n + k + 1] = re;
            A[k * n + k + 1] = im;
            A[(k + 1) * n + k] = -im;
        }
        A[5 * n + 5] = 7.0;
        // two states that do nothing, and one that is their integral
        A[6 * n + 7] = 1.0;
        for turn in 0..n {
            let mut v: Vec<f64> = (0..n).map(|i| libm::cos((3 * i + 7 * turn + 1) as f64)).collect();
            let beta = reflection(&mut v);
            reflect(&mut A, n, &Reflection { v: &v, beta, at: 0 }, 0..n, 0..n);
        }
        let found = eigenvalues(&A, n).unwrap();
        assert_eq!(found.len(), n);
        for w in known {
            let off = found.iter().map(|z| libm::hypot(z[0] - w[0], z[1] - w[1])).fold(f64::INFINITY, f64::min);
            // a double zero is known to the root of the rounding only
            let within = if w == [0.0, 0.0] { 1e-6 } else { 1e-12 * libm::hypot(w[0], w[1]).max(10.0) };
            assert!(off < within, "{w:?}: {off:e} of {found:?}");
        }
    }
}
