//! Composite slip (Allen, Rosenthal and Szostak 1987, with later refinements). In the units of the authors, pounds and feet, T_w in inches,
//! T_p in psi, loads F_z in pounds:
//!   a_p0 = 0.0768 sqrt(F_z F_zt)/(T_w (T_p + 5)),   a_p = a_p0 (1 - K_a F_x/F_z),
//!   K_s = (2/a_p0^2) (A0 + A1 F_z - (A1/A2) F_z^2),   K_c = (2/a_p0^2) F_z (CS/FZ),
//!   sigma = pi a_p^2/(8 mu0 F_z) sqrt(K_s^2 tan^2 alpha + K_c^2 (S/(1 - S))^2),
//!   f = (C1 sigma^3 + C2 sigma^2 + 4 sigma/pi)/(C1 sigma^3 + C3 sigma^2 + C4 sigma + 1),
//!   mu = mu0 (1 - K_mu q),   K_c' = K_c + (K_s - K_c) q,   q = sqrt(sin^2 alpha + S^2 cos^2 alpha),
//!   F_y = mu F_z f K_s tan alpha/root + Y_g gamma,   F_x = mu F_z f K_c' S/root,   root = sqrt(K_s^2 tan^2 alpha + K_c'^2 S^2),
//!   M_z = K_m a_p^2 tan alpha/(1 + G1 sigma^2)^2 (K_s/2 - G2 K_c S/(1 - S) (2 + sigma^2)).
//! S is the share of the speed that is lost in slip, so that S/(1 - S) is kappa of a braked wheel; alpha counts against ours.

use super::{Answer, Slip, Slopes};
use libm::{cos, hypot, sin, sqrt, tan};
use std::f64::consts::PI;

/// Newtons in a pound-force.
const POUND: f64 = 4.448_221_615_260_5;
/// Metres in a foot.
const FOOT: f64 = 0.3048;
/// S nearer to 1 than this is taken as this [-].
const LOCKED: f64 = 1e-9;

/// Numbers of a tyre of composite slip.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Composite {
    /// T_w: width of the tread [in].
    pub width: f64,
    /// T_p: inflation pressure [psi].
    pub pressure: f64,
    /// F_zt: design load [lb].
    pub design_load: f64,
    /// C1 to C4 [-].
    pub shape: [f64; 4],
    /// A0, A1, A2.
    pub cornering: [f64; 3],
    /// K_a [-].
    pub growth: f64,
    /// CS/FZ [-].
    pub slip: f64,
    /// mu0 [-].
    pub friction: f64,
    /// K_mu [-].
    pub fading: f64,
    /// Y_g: force per camber angle over load [1/rad].
    pub camber: f64,
    /// K_m [-]; no aligning torque if zero.
    pub aligning: f64,
    /// G1, G2 [-].
    pub trail: [f64; 2],
}

/// The patch at a load.
#[derive(Clone, Copy, Debug)]
pub struct Patch {
    /// a_p0 [ft].
    pub length: f64,
    /// K_s and K_c [lb/ft^2].
    pub stiffness: [f64; 2],
}

impl Composite {
    /// The patch at a load [lb].
    pub fn patch(&self, load: f64) -> Patch {
        let length = 0.0768 * sqrt(load * self.design_load) / (self.width * (self.pressure + 5.0));
        let [a0, a1, a2] = self.cornering;
        let per = 2.0 / (length * length);
        Patch { length, stiffness: [per * (a0 + a1 * load - a1 / a2 * load * load), per * load * self.slip] }
    }

    /// sigma of a patch at this load [lb], slip S and alpha [rad]; its length, grown by the force along it [ft].
    fn sigma(&self, patch: &Patch, length: f64, at: [f64; 4]) -> f64 {
        let [load, S, side, grip] = at;
        let [ks, kc] = patch.stiffness;
        PI * length * length / (8.0 * self.friction * grip * load) * hypot(ks * side, kc * S / (1.0 - S))
    }

    /// f(sigma) [-].
    pub fn saturation(&self, sigma: f64) -> f64 {
        let [c1, c2, c3, c4] = self.shape;
        let cube = c1 * sigma * sigma * sigma;
        (cube + c2 * sigma * sigma + 4.0 / PI * sigma) / (cube + c3 * sigma * sigma + c4 * sigma + 1.0)
    }

    /// F_x and F_y [N] and M_z [N m] at slip S [-], alpha [rad] as the authors count them, load [N], grip [-].
    pub fn published(&self, S: f64, alpha: f64, load: f64, grip: f64) -> [f64; 3] {
        let (F_z, S) = (load / POUND, S.clamp(-1.0 + LOCKED, 1.0 - LOCKED));
        let patch = self.patch(F_z);
        let [ks, kc] = patch.stiffness;
        let side = tan(alpha);
        let q = hypot(sin(alpha), S * cos(alpha));
        let kc_ = kc + (ks - kc) * q;
        let root = hypot(ks * side, kc_ * S);
        let sigma = self.sigma(&patch, patch.length, [F_z, S.abs(), side, grip]);
        if root == 0.0 {
            return [0.0; 3];
        }
        let mu = self.friction * grip * (1.0 - self.fading * q);
        let full = mu * F_z * self.saturation(sigma);
        let (along, across) = (full * kc_ * S / root, full * ks * side / root);
        // the patch grows under braking
        let length = patch.length * (1.0 - self.growth * along / F_z);
        let [g1, g2] = self.trail;
        let spread = 1.0 + g1 * sigma * sigma;
        let inside = 0.5 * ks - g2 * kc * S.abs() / (1.0 - S.abs()) * (2.0 + sigma * sigma);
        let aligning = self.aligning * length * length * side / (spread * spread) * inside;
        [along * POUND, across * POUND, aligning * POUND * FOOT]
    }

    /// S of a wheel with slip kappa: the share of the larger of its two speeds that is slip.
    fn share(kappa: f64) -> f64 {
        if kappa > 0.0 { kappa / (1.0 + kappa) } else { kappa }
    }

    /// See [`super::Tyre::answer`].
    pub fn answer(&self, slip: &Slip) -> Answer {
        let Slip { kappa, alpha, camber, load, grip, .. } = *slip;
        let [along, across, aligning] = self.published(Composite::share(kappa), -alpha, load, grip);
        Answer { force: [along, across - self.camber * load * camber], aligning, ..Answer::default() }
    }

    /// See [`super::Tyre::slopes`].
    pub fn slopes(&self, slip: &Slip) -> Slopes {
        let load = slip.load.max(f64::MIN_POSITIVE) / POUND;
        let patch = self.patch(load);
        // mu F_z f(sigma) at small sigma: F = (a_p^2/2) K slip
        let per = 0.5 * patch.length * patch.length * POUND;
        let most = self.friction * slip.grip * slip.load;
        Slopes { slip: [per * patch.stiffness[1], per * patch.stiffness[0]], relaxation: [0.0; 2], most: [most; 2] }
    }
}
