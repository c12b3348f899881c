//! A linear tyre:   F_x = K_x kappa,   F_y = -K_y alpha - K_g gamma,   within the friction circle mu F_z;   M_z = -t F_y.

use super::{Answer, Slip, Slopes};

/// A linear tyre.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// K_x [N].
    pub slip: f64,
    /// K_y [N/rad].
    pub cornering: f64,
    /// K_g [N/rad].
    pub camber: f64,
    /// mu [-]; infinite where it never slides.
    pub friction: f64,
    /// t [m].
    pub trail: f64,
}

impl Linear {
    /// See [`super::Tyre::answer`].
    pub fn answer(&self, slip: &Slip) -> Answer {
        let force = [self.slip * slip.kappa, -self.cornering * slip.alpha - self.camber * slip.camber];
        let most = self.friction * slip.grip * slip.load;
        let size = libm::hypot(force[0], force[1]);
        let force = if size > most { force.map(|f| f * (most / size)) } else { force };
        Answer { force, aligning: -self.trail * force[1], trail: self.trail, ..Answer::default() }
    }

    /// See [`super::Tyre::slopes`].
    pub fn slopes(&self, slip: &Slip) -> Slopes {
        let most = self.friction * slip.grip * slip.load;
        Slopes { slip: [self.slip, self.cornering], relaxation: [0.0; 2], most: [most; 2] }
    }
}
