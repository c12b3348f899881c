//! Fiala's tyre (Fiala 1954, as multibody programs have it):
//!   S = min(1, sqrt(kappa^2 + tan^2 alpha)),   U = mu_max - (mu_max - mu_min) S,
//!   F_x = C_s kappa up to |kappa| = U F_z/(2 C_s),   beyond it sgn(kappa) (U F_z - (U F_z)^2/(4 |kappa| C_s)),
//!   H = 1 - C_a |tan alpha|/(3 U F_z),   F_y = -U F_z (1 - H^3) sgn(alpha),   M_z = U F_z w (1 - H) H^3 sgn(alpha)   while H > 0,
//! else F_y = -U F_z sgn(alpha), M_z = 0. F_x and F_y know nothing of each other but by U; with `coupled` both are
//! scaled to the circle U F_z where they exceed it.

use super::{Answer, Slip, Slopes, within_ellipse};
use libm::{hypot, tan};

/// Fiala's tyre.
#[derive(Clone, Debug, PartialEq)]
pub struct Fiala {
    /// C_s [N].
    pub slip: f64,
    /// C_a [N/rad].
    pub cornering: f64,
    /// mu_max and mu_min: friction without slip and when all slides [-].
    pub friction: [f64; 2],
    /// w [m].
    pub width: f64,
    /// Forces stay within the friction circle.
    pub coupled: bool,
}

impl Fiala {
    /// See [`super::Tyre::answer`].
    pub fn answer(&self, slip: &Slip) -> Answer {
        let Slip { kappa, alpha, load, grip, .. } = *slip;
        let side = tan(alpha).abs();
        let [most, least] = self.friction;
        let U = grip * (most - (most - least) * hypot(kappa, side).min(1.0));
        let full = U * load;
        let along = if kappa.abs() <= full / (2.0 * self.slip) {
            self.slip * kappa
        } else {
            (full - full * full / (4.0 * kappa.abs() * self.slip)).copysign(kappa)
        };
        let H = 1.0 - self.cornering * side / (3.0 * full);
        let sense = if alpha < 0.0 { -1.0 } else { 1.0 };
        let (across, trail) = if H > 0.0 {
            // w (1 - H) H^3/(1 - H^3) without a division by zero
            (-full * (1.0 - H * H * H) * sense, self.width * H * H * H / (1.0 + H + H * H))
        } else {
            (-full * sense, 0.0)
        };
        let force = [along, if side == 0.0 { 0.0 } else { across }];
        let force = if self.coupled { within_ellipse(force, [full; 2]) } else { force };
        Answer { force, aligning: -trail * force[1], trail, ..Answer::default() }
    }

    /// See [`super::Tyre::slopes`].
    pub fn slopes(&self, slip: &Slip) -> Slopes {
        let most = self.friction[0].max(self.friction[1]) * slip.grip * slip.load;
        Slopes { slip: [self.slip, self.cornering], relaxation: [0.0; 2], most: [most; 2] }
    }
}
