//! Rates of rows, and depth and energy of a contact law: what memory and books read off a solution.

use super::joints::flat;
use tippe_mechanics::joint::Six;
use tippe_numerics::kkt::{GROUND, Row};

/// x^(1/n).
pub fn depth_of(x: f64, n: f64) -> f64 {
    if n == 1.5 {
        let root = libm::cbrt(x);
        root * root
    } else if n == 1.0 {
        x
    } else {
        libm::pow(x, 1.0 / n)
    }
}

/// Integral of x^n.
pub fn energy_of(x: f64, n: f64) -> f64 {
    let power = if n == 1.0 { x * x } else { libm::pow(x, n + 1.0) };
    power / (n + 1.0)
}

/// J u of a row by velocities of all bodies, those whose motion is given included.
pub fn rate(row: &Row, u: &[Six]) -> f64 {
    rate_with(row, |b| u[b])
}

/// The same with a function that gives the velocities.
pub fn rate_with(row: &Row, u: impl Fn(usize) -> Six) -> f64 {
    let ends = row.bodies.iter().zip(&row.J).filter(|(b, _)| **b != GROUND);
    row.given + ends.map(|(&b, J)| dot(J, u(b as usize))).sum::<f64>()
}

/// J u of one end of a row.
pub fn dot(J: &[f64; 6], u: Six) -> f64 {
    let u = flat(u);
    (0..6).map(|i| J[i] * u[i]).sum()
}
