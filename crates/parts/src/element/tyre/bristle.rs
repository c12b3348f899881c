//! How a tyre's force follows its slip: the carcass gives, the tread follows. With u its deflection, s the slip speed, f the force of a
//! steady slip, K the slope of f at no slip, sigma the relaxation length:
//!   u' = s - lambda u + g,   F = C u + c u',   C = K/sigma,   lambda = V/sigma,   g = lambda f/C - s,
//! so that u = sigma kappa' with the usual kappa'' sigma = s - |v| kappa' at small slips, and F = f at a steady one. V is |v| of the
//! wheel, or the speed |K s|/|f| where the tread slides, whichever is larger: a wheel at rest holds with its deflection, and slides at the
//! largest force (Dahl 1968). In a step h, taken at its end, F is that of a spring along s.

use crate::element::Strut;

/// Deflection and force along one direction at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bristle {
    /// C [N/m].
    pub stiffness: f64,
    /// c [N s/m].
    pub damping: f64,
    /// lambda [1/s].
    pub rate: f64,
    /// g [m/s].
    pub offset: f64,
    /// Largest force [N].
    pub most: f64,
}

impl Bristle {
    /// Nothing touches: the deflection goes back within this time [s].
    pub fn free(time: f64, slip: f64) -> Bristle {
        Bristle { rate: 1.0 / time, offset: -slip, ..Bristle::default() }
    }

    /// u' [m/s].
    pub fn flow(&self, u: f64, slip: f64) -> f64 {
        slip - self.rate * u + self.offset
    }

    /// F [N].
    pub fn force(&self, u: f64, slip: f64) -> f64 {
        (self.stiffness * u + self.damping * self.flow(u, slip)).min(self.most).max(-self.most)
    }

    /// Its spring and damper in a step, along -s.
    pub fn strut(&self, u: f64, h: f64) -> Strut {
        let Bristle { stiffness: C, damping: c, rate, offset, most } = *self;
        let behind = 1.0 + h * rate;
        let stiffness = (C + c / h) / behind;
        // C u+ + c (u+ - u)/h without slip
        let begun = (C + c / h) * (u + h * offset) / behind - c / h * u;
        let (phi, bound) = (if stiffness > 0.0 { -begun / stiffness } else { 0.0 }, most * h);
        Strut { stiffness, damping: 0.0, phi, damped_by_step: true, bounds: [-bound, bound], bound: f64::INFINITY }
    }

    /// u at the end of a step in which the force was F.
    pub fn after(&self, u: f64, force: f64, h: f64) -> f64 {
        let hardness = self.stiffness + self.damping / h;
        if hardness > 0.0 { (force + self.damping / h * u) / hardness } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// kappa' = s/(sigma (1 + h V/sigma)) after the first step from rest, and s/V at last.
    #[test]
    fn it_relaxes_at_walking_pace() {
        let (V, s, sigma, h) = (0.05, 0.02, 0.5, 0.016666667);
        let own = Bristle { stiffness: 1e5, rate: V / sigma, most: f64::INFINITY, ..Bristle::default() };
        let mut u = 0.0;
        for k in 0..20_000 {
            let strut = own.strut(u, h);
            u = own.after(u, strut.stiffness * (h * s - strut.phi), h);
            if k == 0 {
                assert!((u / sigma / 0.0006655574 - 1.0).abs() < 1e-7, "{}", u / sigma);
            }
        }
        assert!((u / sigma - 0.4).abs() < 1e-9, "{u}");
    }
}
