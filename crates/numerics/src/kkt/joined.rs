//! Parts kept apart: few rows c between parts whose own matrix A has no block between them. With J_c the rows that hold their equation,
//!   [A  J_c^T; J_c  -eps_c] (x, -mu) = (r, 0):   (J_c A^-1 J_c^T + eps_c) mu = J_c A^-1 r,   x = A^-1 r - A^-1 J_c^T mu,
//! which is (A + J_c^T eps_c^-1 J_c)^-1 r to rounding (Peiret, Andrews, Kövecses, Kry and Teichmann 2019, Schur complement-based
//! substructuring of stiff multibody systems with contact). A tie has a vertex of its own,
//! apart from all others, whose equation is -x = m: there r is what it misses, J x - eps mu = m, and the answer mu.

use super::newton::Status;
use super::{BlockLdl, Problem, SOFTENING, push};

/// A row between parts.
#[derive(Clone, Copy, Debug)]
enum Between {
    /// Of the rows.
    Row(usize),
    /// Of a tie, and which of its rows.
    Tie(usize, usize),
}

impl Between {
    /// J x.
    fn rate(self, problem: &Problem, x: &[f64]) -> f64 {
        match self {
            Between::Row(k) => Problem::rate(&problem.rows[k], x),
            Between::Tie(t, r) => problem.ties[t].rate(&problem.ends, r, x),
        }
    }

    /// Adds J^T.
    fn push(self, problem: &Problem, x: &mut [f64]) {
        match self {
            Between::Row(k) => push(&problem.rows[k], 1.0, x),
            Between::Tie(t, r) => {
                let mut unit = [0.0; 6];
                unit[r] = 1.0;
                problem.ties[t].push(&problem.ends, &unit, x);
            }
        }
    }

    /// eps; rows of ties have at least what gives redundant ones a pivot.
    fn compliance(self, problem: &Problem) -> f64 {
        match self {
            Between::Row(k) => problem.rows[k].compliance,
            Between::Tie(t, r) => {
                let tie = &problem.ties[t];
                tie.compliance[r].max(SOFTENING * tie.yields(&problem.ends, r, &problem.inverse))
            }
        }
    }

    /// Where a row of a tie stands among the unknowns.
    fn slot(self, problem: &Problem) -> Option<usize> {
        match self {
            Between::Row(_) => None,
            Between::Tie(t, r) => Some(6 * (problem.mass.len() + t) + r),
        }
    }
}

/// Schur complement of the rows between parts.
#[derive(Clone, Debug, Default)]
pub(super) struct Joined {
    /// Rows that hold their equation.
    rows: Vec<Between>,
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
        let rows = problem.rows.len();
        let free = |k: &usize| problem.rows[*k].apart && states[*k] == Status::Free;
        self.rows.extend((0..rows).filter(free).map(Between::Row));
        for (t, tie) in problem.ties.iter().enumerate().filter(|(_, tie)| tie.apart) {
            let free = |r: &usize| states[rows + 6 * t + r] == Status::Free;
            self.rows.extend((0..tie.count).filter(free).map(|r| Between::Tie(t, r)));
        }
        let (c, size) = (self.rows.len(), 6 * ldl.vertices());
        self.Y.clear();
        self.Y.resize(c * size, 0.0);
        self.G.clear();
        self.G.resize(c * c, 0.0);
        self.mu.resize(c, 0.0);
        for (i, row) in self.rows.iter().enumerate() {
            let y = &mut self.Y[i * size..][..size];
            row.push(problem, y);
            ldl.solve(y);
        }
        for i in 0..c {
            let row = self.rows[i];
            for j in 0..=i {
                let mut sum = row.rate(problem, &self.Y[j * size..][..size]);
                if i == j {
                    sum += row.compliance(problem);
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
            let mut sum = self.rows[i].rate(problem, x);
            if let Some(slot) = self.rows[i].slot(problem) {
                sum += x[slot];
            }
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
            if let Some(slot) = self.rows[i].slot(problem) {
                x[slot] = self.mu[i];
            }
        }
    }
}
