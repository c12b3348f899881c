//! Parts kept apart: few rows c between parts whose own matrix A has no block between them. With J_c the rows that hold their equation,
//!   [A  J_c^T; J_c  -eps_c] (x, -mu) = (r, 0):   (J_c A^-1 J_c^T + eps_c) mu = J_c A^-1 r,   x = A^-1 r - A^-1 J_c^T mu,
//! which is (A + J_c^T eps_c^-1 J_c)^-1 r to rounding (Peiret, Andrews, Kövecses, Kry and Teichmann 2019, Schur complement-based
//! substructuring of stiff multibody systems with contact).

use super::newton::Status;
use super::{BlockLdl, Problem, push};

/// Schur complement of the rows between parts.
#[derive(Clone, Debug, Default)]
pub(super) struct Joined {
    /// Rows that hold their equation.
    rows: Vec<u32>,
    /// A^-1 J_c^T, row by row.
    Y: Vec<f64>,
    /// Cholesky's factor of the complement, by rows.
    G: Vec<f64>,
    mu: Vec<f64>,
}

impl Joined {
    /// Number of rows.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// After each factorisation of the parts.
    pub fn factor(&mut self, problem: &Problem, states: &[Status], ldl: &mut BlockLdl) {
        self.rows.clear();
        let free = |k: &usize| problem.rows[*k].apart && states[*k] == Status::Free;
        self.rows.extend((0..problem.rows.len()).filter(free).map(|k| k as u32));
        let (c, size) = (self.rows.len(), 6 * ldl.vertices());
        self.Y.clear();
        self.Y.resize(c * size, 0.0);
        self.G.clear();
        self.G.resize(c * c, 0.0);
        self.mu.resize(c, 0.0);
        for (i, &k) in self.rows.iter().enumerate() {
            let y = &mut self.Y[i * size..][..size];
            push(&problem.rows[k as usize], 1.0, y);
            ldl.solve(y);
        }
        for i in 0..c {
            let row = &problem.rows[self.rows[i] as usize];
            for j in 0..=i {
                let mut sum = Problem::rate(row, &self.Y[j * size..][..size]);
                if i == j {
                    sum += row.compliance;
                }
                for k in 0..j {
                    sum -= self.G[c * i + k] * self.G[c * j + k];
                }
                // compliance is there: it stays positive but for rounding
                self.G[c * i + j] = if i == j { sum.max(f64::MIN_POSITIVE).sqrt() } else { sum / self.G[c * j + j] };
            }
        }
    }

    /// From x = A^-1 r to the solution with the rows between the parts.
    pub fn correct(&mut self, problem: &Problem, x: &mut [f64]) {
        let (c, size) = (self.rows.len(), x.len());
        for i in 0..c {
            let mut sum = Problem::rate(&problem.rows[self.rows[i] as usize], x);
            for k in 0..i {
                sum -= self.G[c * i + k] * self.mu[k];
            }
            self.mu[i] = sum / self.G[c * i + i];
        }
        for i in (0..c).rev() {
            for k in i + 1..c {
                self.mu[i] -= self.G[c * k + i] * self.mu[k];
            }
            self.mu[i] /= self.G[c * i + i];
            for (x, y) in x.iter_mut().zip(&self.Y[i * size..][..size]) {
                *x -= self.mu[i] * y;
            }
        }
    }
}
