//! A wheel on soft ground (Wong and Reece 1967). Angles from the bottom, theta_1 where it enters, theta_2 where it leaves, the pressure is
//! largest at theta_m = (c1 + c2 i) theta_1:
//!   front  sigma = p(R (cos theta - cos theta_1)),
//!   rear   the same at theta_1 - (theta - theta_2)/(theta_m - theta_2) (theta_1 - theta_m),
//!   tau = (c + sigma tan phi) times the share of the shear law at j = R ((theta_1 - theta) - (1 - i)(sin theta_1 - sin theta)),
//! i the slip, 1 - v/(R omega) of a driven wheel, R omega/v - 1 of a braked one, for which 1/(1 + i) stands instead of 1 - i; and
//!   W = b R (integral of sigma cos + tau sin),   thrust = b R (integral of tau cos),   resistance = b R (integral of sigma sin),
//!   torque = b R^2 (integral of tau);   theta_1 is that at which W is the weight.
//! In closed form, with a parabola for the circle (Bekker 1969), D = 2 R, k = kc/b + kphi:
//!   z = (3 W/((3 - n) b k sqrt D))^(2/(2 n + 1)),   resistance b k z^(n+1)/(n+1).
//! A tyre is rigid where its own pressure is above p_cr = k^(1/(2n+1)) (3 W/((3 - n) b sqrt D))^(2n/(2n+1)); else it is flat over
//! W/(b p) with z = (p/k)^(1/n).

use super::{Plate, Pressure, Soil, Unloading};
use libm::{cos, hypot, pow, sin, sqrt};
use std::f64::consts::FRAC_PI_2;
use tippe_numerics::root::solve_increasing;

/// Positive points and weights of Gauss's rule with twenty points on -1 to 1.
const GAUSS: [[f64; 2]; 10] = [
    [0.9931285991850949, 0.017614007139152264],
    [0.9639719272779138, 0.04060142980038705],
    [0.912234428251326, 0.06267204833410904],
    [0.8391169718222189, 0.08327674157670474],
    [0.7463319064601508, 0.10193011981724048],
    [0.636053680726515, 0.11819453196151831],
    [0.5108670019508271, 0.1316886384491765],
    [0.37370608871541955, 0.14209610931838215],
    [0.22778585114164507, 0.14917298647260382],
    [0.07652652113349734, 0.15275338713072598],
];
/// Angles of entry up to this [rad].
const DEEPEST: f64 = 0.999 * FRAC_PI_2;

/// A rigid wheel on soft ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidWheel {
    /// R [m].
    pub radius: f64,
    /// b [m].
    pub width: f64,
    /// c1, c2 [-].
    pub peak: [f64; 2],
    /// theta_2 [rad].
    pub leaves: f64,
}

/// How a wheel meets the ground.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Meeting {
    /// i [-].
    pub slip: f64,
    /// tan(alpha) of how it drifts aside, 0 or more [-].
    pub aside: f64,
    /// theta_1 [rad].
    pub enters: f64,
    /// Depth of the rut it rolls in, unloaded [m].
    pub begins: f64,
    /// zu: how deep that was pressed under load [m].
    pub pressed: f64,
    /// How far it has come up since it was deepest [m].
    pub lifted: f64,
    /// How the ground unloads.
    pub unloading: Unloading,
}

/// What the ground does to a wheel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rolling {
    /// theta_1 [rad].
    pub enters: f64,
    /// theta_m [rad].
    pub peak: f64,
    /// z [m].
    pub sinkage: f64,
    /// Weight it carries [N], and what of it the shear stress does.
    pub weight: f64,
    /// See `weight` [N].
    pub sheared: f64,
    /// [N].
    pub thrust: f64,
    /// Against its drift [N].
    pub across: f64,
    /// Thrust where all of the ground under it shears as much as it can [N].
    pub most: f64,
    /// [N].
    pub resistance: f64,
    /// Thrust less resistance [N].
    pub drawbar: f64,
    /// [N m].
    pub torque: f64,
    /// Largest pressure [Pa].
    pub pressure: f64,
}

impl RigidWheel {
    /// What the ground does to the wheel that enters at theta_1 [rad] with slip i.
    pub fn entering(&self, soil: &Soil, i: f64, enters: f64) -> Rolling {
        self.meeting(soil, &Meeting { slip: i, enters, ..Meeting::default() })
    }

    /// What it does to a wheel that also drifts aside, in a rut, or on its way up. Shear is along the way of the rim through the ground, of
    /// j along and j_y = R (theta_1 - theta) (1 - i) tan(alpha) aside (Ishigami and others 2007, eq. 12).
    pub fn meeting(&self, soil: &Soil, own: &Meeting) -> Rolling {
        let (R, leaves, enters, i) = (self.radius, self.leaves, own.enters, own.slip);
        // the smaller side of the patch is taken to be the width
        let plate = Plate { width: self.width, length: f64::INFINITY };
        let carries = if i >= 0.0 { 1.0 - i } else { 1.0 / (1.0 + i) };
        let peak = ((self.peak[0] + self.peak[1] * i.abs()) * enters).clamp(leaves.min(enters), enters);
        let sigma = |theta: f64| {
            let z = own.begins + R * (cos(theta) - cos(enters));
            let p = soil.pressure.again(z, own.pressed, &plate, &own.unloading);
            if own.lifted == 0.0 || p == 0.0 {
                return p;
            }
            let firm = own.unloading.firm([z.max(own.pressed), p]);
            (p - firm * own.lifted).max(0.0)
        };
        let mut sums = [0.0; 7];
        // pressure begins with a power of the distance from each end: its third root is what is summed over
        for (end, span, front) in [(enters, peak - enters, true), (leaves, peak - leaves, false)] {
            if span == 0.0 {
                continue;
            }
            for [x, weight] in GAUSS {
                for s in [0.5 * (1.0 - x), 0.5 * (1.0 + x)] {
                    let theta = end + span * s * s * s;
                    let over = 1.5 * weight * s * s * span.abs();
                    let front_angle = if front { theta } else { enters - (theta - leaves) / span * (enters - peak) };
                    let normal = sigma(front_angle);
                    let (c, s) = (cos(theta), sin(theta));
                    let j = R * ((enters - theta) - carries * (sin(enters) - s));
                    let aside = R * (enters - theta) * carries * own.aside;
                    let way = hypot(j, aside);
                    let strength = if normal > 0.0 { soil.strength(normal) } else { 0.0 };
                    let stress = strength * soil.shear.at(way);
                    let [tau, tau_y] = if way > 0.0 { [stress * j / way, stress * aside / way] } else { [0.0; 2] };
                    let own = [normal * c, tau * c, normal * s, tau, tau * s, tau_y, strength * c];
                    sums.iter_mut().zip(own).for_each(|(sum, value)| *sum += over * value);
                }
            }
        }
        let [borne, thrust, resistance, torque, sheared, across, most] = sums.map(|sum| sum * self.width * R);
        Rolling {
            enters,
            peak,
            sinkage: own.begins + R * (1.0 - cos(enters)),
            weight: borne + sheared,
            sheared,
            thrust,
            across,
            most,
            resistance,
            drawbar: thrust - resistance,
            torque: torque * R,
            pressure: sigma(peak),
        }
    }

    /// What it does to a wheel of this weight [N] at slip i; `None` where the ground does not carry it.
    pub fn carrying(&self, soil: &Soil, weight: f64, i: f64) -> Option<Rolling> {
        let over = |enters: f64| self.entering(soil, i, enters).weight - weight;
        let least = self.leaves.max(0.0);
        if over(DEEPEST).partial_cmp(&0.0).is_none_or(|order| order.is_lt()) {
            return None;
        }
        let enters = solve_increasing(least, DEEPEST, over);
        Some(self.entering(soil, i, enters))
    }
}

/// z of a rigid wheel by the parabola [m]; Bekker's law with width b [m], diameter D [m], weight W [N].
pub fn parabolic_sinkage(soil: &Soil, [b, D, W]: [f64; 3]) -> Option<f64> {
    let Pressure::Bekker { kc, kphi, n } = soil.pressure else { return None };
    Some(pow(3.0 * W / ((3.0 - n) * (kc + b * kphi) * sqrt(D)), 2.0 / (2.0 * n + 1.0)))
}

/// Resistance of ground that a width b is pressed into by z [m] [N]; Bekker's law.
pub fn compaction(soil: &Soil, b: f64, z: f64) -> Option<f64> {
    let Pressure::Bekker { kc, kphi, n } = soil.pressure else { return None };
    Some((kc + b * kphi) * pow(z, n + 1.0) / (n + 1.0))
}

/// A tyre on soft ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pneumatic {
    /// b [m].
    pub width: f64,
    /// D [m].
    pub diameter: f64,
    /// Pressure of its air and of its carcass together [Pa].
    pub pressure: f64,
}

impl Pneumatic {
    /// p_cr under a weight [N] [Pa]; Bekker's law.
    pub fn critical(&self, soil: &Soil, weight: f64) -> Option<f64> {
        let Pressure::Bekker { kc, kphi, n } = soil.pressure else { return None };
        let per = pow(kc / self.width + kphi, 1.0 / (2.0 * n + 1.0));
        Some(per * pow(3.0 * weight / ((3.0 - n) * self.width * sqrt(self.diameter)), 2.0 * n / (2.0 * n + 1.0)))
    }

    /// z, and the length that is flat [m], zero of one that stays round; Bekker's law.
    pub fn sinkage(&self, soil: &Soil, weight: f64) -> Option<[f64; 2]> {
        if self.pressure < self.critical(soil, weight)? {
            let plate = Plate { width: self.width, length: f64::INFINITY };
            return Some([soil.pressure.sinkage(self.pressure, &plate), weight / (self.width * self.pressure)]);
        }
        Some([parabolic_sinkage(soil, [self.width, self.diameter, weight])?, 0.0])
    }
}
