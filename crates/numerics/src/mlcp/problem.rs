//! A problem, what may be wrong with it, and the judge of its solutions.

use super::factor::dot_with_size;
use std::fmt;

/// a_ij and a_ji that differ by less than this share of the diagonal are equal [-]. Not critical: symmetric solvers
/// correct their steps with A as given.
const SYMMETRIC: f64 = 1e-10;

/// A problem (1), (2) of [`super`]. Units are those of the rows: for velocity rows A [1/kg], b [m/s], bounds [N s].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Problem {
    /// Number of rows.
    pub n: usize,
    /// A, row by row [unit of b / unit of x].
    pub a: Vec<f64>,
    /// Constant part of w [unit of b].
    pub b: Vec<f64>,
    /// l, lower bounds [unit of x]; -inf for none.
    pub lower: Vec<f64>,
    /// u, upper bounds [unit of x]; inf for none.
    pub upper: Vec<f64>,
}

/// What is wrong with a problem or a start.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// A list has the wrong length.
    Length {
        /// Which list.
        list: &'static str,
        /// Its length.
        found: usize,
        /// The length it must have.
        wanted: usize,
    },
    /// A number is not finite (bounds: not a number).
    NotFinite {
        /// Which list.
        list: &'static str,
        /// Row of the problem.
        row: usize,
        /// The number.
        value: f64,
    },
    /// No finite number lies between the bounds of a row.
    Bounds {
        /// Row of the problem.
        row: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { list, found, wanted } => write!(f, "{list} has {found} numbers, {wanted} are needed"),
            Self::NotFinite { list, row, value } => write!(f, "{list} has {value} in row {row}: give a finite number"),
            Self::Bounds { row, lower, upper } => {
                write!(f, "row {row} has infeasible bounds: lower {lower}, upper {upper}; no number lies between")
            }
        }
    }
}

impl std::error::Error for Error {}

impl Problem {
    /// Whether the problem can be posed: lengths fit, numbers are finite, no lower bound is above its upper bound.
    pub fn validate(&self) -> Result<(), Error> {
        let n = self.n;
        let lists = [("b", &self.b, n), ("lower", &self.lower, n), ("upper", &self.upper, n)];
        for (list, values, wanted) in [("a", &self.a, n.saturating_mul(n))].into_iter().chain(lists) {
            if values.len() != wanted {
                return Err(Error::Length { list, found: values.len(), wanted });
            }
        }
        for row in 0..n {
            let finite = |list, value: f64, good: bool| match good {
                true => Ok(()),
                false => Err(Error::NotFinite { list, row, value }),
            };
            for &a in self.row(row) {
                finite("a", a, a.is_finite())?;
            }
            let (lower, upper) = (self.lower[row], self.upper[row]);
            finite("b", self.b[row], self.b[row].is_finite())?;
            finite("lower", lower, !lower.is_nan())?;
            finite("upper", upper, !upper.is_nan())?;
            if lower > upper || lower == f64::INFINITY || upper == f64::NEG_INFINITY {
                return Err(Error::Bounds { row, lower, upper });
            }
        }
        Ok(())
    }

    pub(super) fn row(&self, i: usize) -> &[f64] {
        &self.a[i * self.n..][..self.n]
    }

    pub(super) fn clip(&self, i: usize, x: f64) -> f64 {
        x.max(self.lower[i]).min(self.upper[i])
    }

    pub(super) fn unbounded(&self, i: usize) -> bool {
        self.lower[i] == f64::NEG_INFINITY && self.upper[i] == f64::INFINITY
    }

    pub(super) fn is_symmetric(&self) -> bool {
        let diagonal = |i: usize| self.a[i * self.n + i];
        (0..self.n).all(|i| {
            (0..i).all(|j| {
                let size = (diagonal(i).abs().sqrt()) * (diagonal(j).abs().sqrt());
                (self.a[i * self.n + j] - self.a[j * self.n + i]).abs() <= SYMMETRIC * size
            })
        })
    }

    /// The start: the point of the box nearest to `warm`, or to 0.
    pub(super) fn start(&self, warm: Option<&[f64]>) -> Result<Vec<f64>, Error> {
        self.validate()?;
        if let Some(x) = warm {
            if x.len() != self.n {
                return Err(Error::Length { list: "warm start", found: x.len(), wanted: self.n });
            }
            if let Some(row) = x.iter().position(|x| !x.is_finite()) {
                return Err(Error::NotFinite { list: "warm start", row, value: x[row] });
            }
        }
        Ok((0..self.n).map(|i| self.clip(i, warm.map_or(0.0, |x| x[i]))).collect())
    }

    /// w = A x + b and the size of its terms, |b_i| + sum_j |a_ij x_j|; returns the natural residual and the largest
    /// share of it in the row's terms. Not finite counts as infinite.
    pub(super) fn evaluate(&self, x: &[f64], w: &mut [f64], size: &mut [f64]) -> [f64; 2] {
        let mut worst = [0.0_f64; 2];
        for i in 0..self.n {
            (w[i], size[i]) = dot_with_size(self.row(i), x);
            w[i] += self.b[i];
            size[i] += self.b[i].abs();
            // natural residual (3), without the cancellation in x - (x - w)
            let r = w[i].max(x[i] - self.upper[i]).min(x[i] - self.lower[i]).abs();
            let share = if r == 0.0 { 0.0 } else { r / size[i] };
            for (worst, r) in worst.iter_mut().zip([r, share]) {
                *worst = if r.is_finite() && w[i].is_finite() { worst.max(r) } else { f64::INFINITY };
            }
        }
        worst
    }

    pub(super) fn judged(&self, x: &[f64]) -> [f64; 2] {
        if self.validate().is_err() || x.len() != self.n {
            return [f64::INFINITY; 2];
        }
        self.evaluate(x, &mut vec![0.0; self.n], &mut vec![0.0; self.n])
    }
}

/// Natural residual (3) of [`super`] of x, the largest of all rows [the larger of the units of x and w]; infinite if x
/// or the problem is unusable.
pub fn residual(problem: &Problem, x: &[f64]) -> f64 {
    problem.judged(x)[0]
}

/// The largest share of a row's natural residual in the size of the row's terms, |b_i| + sum_j |a_ij x_j| [-]: rounding
/// alone gives about 1e-16, whatever the units. Direct solutions are accepted at 1e-12.
pub fn relative_residual(problem: &Problem, x: &[f64]) -> f64 {
    problem.judged(x)[1]
}
