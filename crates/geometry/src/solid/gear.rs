//! Outline of an involute gear.
//!
//! With pitch radius r = m z/2, base radius r_b = r cos(alpha) and inv(a) = tan(a) - a, the half angle of a tooth at the
//! radius rho is psi(rho) = s/(2 r) + inv(alpha) - inv(a), cos(a) = r_b/rho, where s = pi m/2 + 2 x m tan(alpha) - j is the
//! thickness at the pitch circle, x the profile shift and j the backlash (ISO 21771). Below the base circle the flank goes
//! on along the radius. A tooth is centred on the x axis.

use super::SolidError;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Spur gear: involute teeth around z.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gear {
    /// Pitch diameter over number of teeth [m].
    pub module: f64,
    /// Number of teeth [-].
    pub teeth: u32,
    /// Pressure angle alpha [rad].
    pub pressure_angle: f64,
    /// Height of the teeth over the pitch circle, in modules [-].
    pub addendum: f64,
    /// Depth of the gaps below the pitch circle, in modules [-].
    pub dedendum: f64,
    /// Play along the pitch circle, taken off every tooth [m].
    pub backlash: f64,
    /// Profile shift, in modules [-].
    pub shift: f64,
    /// Length along z [m].
    pub width: f64,
    /// Radius of the hole around the axis; 0 for none [m].
    pub hole: f64,
    /// Points on a flank [-].
    pub flank_points: u32,
    /// Divisions of a full circle, for hole, tips and roots [-].
    pub segments: u32,
}

impl Gear {
    /// Gear after ISO 53: pressure angle 20 degrees, addendum 1, dedendum 1.25, no backlash, shift or hole.
    pub fn new(module: f64, teeth: u32, width: f64) -> Gear {
        Gear {
            module,
            teeth,
            pressure_angle: PI / 9.0,
            addendum: 1.0,
            dedendum: 1.25,
            backlash: 0.0,
            shift: 0.0,
            width,
            hole: 0.0,
            flank_points: 8,
            segments: 64,
        }
    }

    /// Pitch radius m z/2 [m].
    pub fn pitch_radius(&self) -> f64 {
        0.5 * self.module * self.teeth as f64
    }

    /// Outline, anticlockwise [m].
    pub fn outline(&self) -> Result<Vec<[f64; 2]>, SolidError> {
        let bad = |why: &'static str| Err(SolidError::Gear { why });
        let numbers = [self.module, self.pressure_angle, self.addendum, self.dedendum, self.backlash, self.shift];
        if !numbers.iter().all(|x| x.is_finite()) || !(self.module > 0.0) {
            return bad("its module must be positive and all numbers finite");
        }
        let flanks = self.teeth as u64 * self.flank_points as u64;
        if !(3..=10_000).contains(&self.teeth) || !(2..=1000).contains(&self.flank_points) || flanks > 100_000 {
            return bad("it needs 3 to 10000 teeth, 2 to 1000 points on a flank, and at most 100000 on all flanks");
        }
        if !(self.pressure_angle > 0.0 && self.pressure_angle < PI / 4.0) {
            return bad("its pressure angle must lie between 0 and 45 degrees");
        }
        let (m, alpha, r) = (self.module, self.pressure_angle, self.pitch_radius());
        let r_b = r * libm::cos(alpha);
        let (tip, foot) = (r + m * (self.addendum + self.shift), r - m * (self.dedendum - self.shift));
        if !(foot > 0.0 && foot < tip && tip > r_b) {
            return bad("its addendum or dedendum leaves no teeth");
        }
        if self.hole >= foot {
            return bad("its hole, of which the radius is given, reaches the roots of its teeth");
        }
        let inv = |a: f64| libm::tan(a) - a;
        let s = 0.5 * PI * m + 2.0 * self.shift * m * libm::tan(alpha) - self.backlash;
        let psi = |rho: f64| s / (2.0 * r) + inv(alpha) - inv(libm::acos((r_b / rho).min(1.0)));
        let start = foot.max(r_b);
        let (at_tip, at_foot, pitch) = (psi(tip), psi(start), 2.0 * PI / self.teeth as f64);
        if !(at_tip > 0.0) {
            return bad("its teeth are pointed: lower the addendum, the shift or the backlash");
        }
        if !(2.0 * at_foot < pitch) {
            return bad("its teeth meet at the root: raise the backlash or lower the shift");
        }
        // Right flank outwards, tip, left flank inwards, root. Equal steps of the involute's roll angle.
        let mut flank = Vec::new();
        if foot < r_b {
            flank.push((foot, at_foot));
        }
        let roll = |rho: f64| ((rho / r_b) * (rho / r_b) - 1.0).max(0.0).sqrt();
        for k in 0..self.flank_points {
            let share = k as f64 / (self.flank_points - 1) as f64;
            let t = roll(start) + (roll(tip) - roll(start)) * share;
            let rho = r_b * (1.0 + t * t).sqrt();
            flank.push((rho, s / (2.0 * r) + inv(alpha) - (t - libm::atan(t))));
        }
        let arc = |from: f64, to: f64| ((to - from) * self.segments as f64 / (2.0 * PI)).ceil().max(1.0) as u32;
        let mut outline = Vec::new();
        for tooth in 0..self.teeth {
            let middle = pitch * tooth as f64;
            let mut put = |rho: f64, angle: f64| {
                let (sin, cos) = libm::sincos(middle + angle);
                outline.push([rho * cos, rho * sin]);
            };
            flank.iter().for_each(|(rho, half)| put(*rho, -half));
            let steps = arc(-at_tip, at_tip);
            (1..steps).for_each(|k| put(tip, at_tip * (2.0 * k as f64 / steps as f64 - 1.0)));
            flank.iter().rev().for_each(|(rho, half)| put(*rho, *half));
            let (from, to) = (at_foot, pitch - at_foot);
            let steps = arc(from, to);
            (1..steps).for_each(|k| put(foot, from + (to - from) * k as f64 / steps as f64));
        }
        Ok(outline)
    }
}
