//! Rows with bounds of their own, and what they do in the linear problem: one rule for rows of two bodies and rows of ties.

use super::newton::Status;
use super::{Row, Tie};

/// An impulse may leave its bounds by this share of them before its row changes sides [-].
pub(super) const SLACK: f64 = 1e-12;

/// A row with bounds of its own, of two bodies or of a tie: where it stands. v = b - J u is what it misses without its compliance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounded {
    lower: f64,
    upper: f64,
    lambda: f64,
    compliance: f64,
    /// Compliance included.
    yields: f64,
}

impl Bounded {
    pub(super) fn of_row(row: &Row, yields: f64) -> Bounded {
        let Row { lower, upper, lambda, compliance, .. } = *row;
        Bounded { lower, upper, lambda, compliance, yields }
    }

    pub(super) fn of_tie(tie: &Tie, r: usize, yields: f64) -> Bounded {
        let [lower, upper, lambda, compliance] = [&tie.lower, &tie.upper, &tie.lambda, &tie.compliance].map(|x| x[r]);
        Bounded { lower, upper, lambda, compliance, yields }
    }

    /// At a bound if its impulse is there and it does not want to leave, or is `held` there.
    pub(super) fn at_impulse(self, held: bool, v: impl Fn() -> f64) -> Status {
        let wants = || v() - self.compliance * self.lambda;
        if self.lambda <= self.lower && (held || wants() <= 0.0) {
            Status::Bound(self.lower)
        } else if self.lambda >= self.upper && (held || wants() >= 0.0) {
            Status::Bound(self.upper)
        } else {
            Status::Free
        }
    }

    /// At a bound if its compliance would put its impulse beyond it.
    pub(super) fn at_velocity(self, v: f64) -> Status {
        if v <= self.compliance * self.lower {
            Status::Bound(self.lower)
        } else if v >= self.compliance * self.upper {
            Status::Bound(self.upper)
        } else {
            Status::Free
        }
    }

    /// The other side where it does not fit the linear solution.
    pub(super) fn other_side(self, old: Status, noise: f64, v: f64) -> Status {
        let slack = noise / self.yields;
        let wants = v - self.compliance * self.lambda;
        match old {
            Status::Free if self.lambda < self.lower - slack => Status::Bound(self.lower),
            Status::Free if self.lambda > self.upper + slack => Status::Bound(self.upper),
            Status::Bound(at) if at == self.lower && wants > noise => Status::Free,
            Status::Bound(at) if at == self.upper && wants < -noise => Status::Free,
            old => old,
        }
    }

    /// True if it fits the linear solution.
    pub(super) fn fits(self, state: Status, noise: f64, v: impl Fn() -> f64) -> bool {
        let size = |bound: f64| if bound.is_finite() { bound.abs() } else { 0.0 };
        let span = size(self.upper).max(size(self.lower));
        match state {
            Status::Free => {
                let slack = SLACK * span + noise / self.yields;
                self.lambda >= self.lower - slack && self.lambda <= self.upper + slack
            }
            _ => {
                let v = v();
                let low = self.lambda == self.lower && v <= self.compliance * self.lower + noise;
                let high = self.lambda == self.upper && v >= self.compliance * self.upper - noise;
                low || high
            }
        }
    }
}
