//! The Magic Formula of 1989 and 1994 (Bakker, Pacejka and Lidner 1989), loads in kN, kappa in percent, angles in degrees:
//!   y = D sin(C atan(B x - E (B x - atan(B x)))) + S_v,   x = X + S_h,   B = BCD/(C D);
//! along:  C = b0, D = (b1 Fz + b2) Fz, BCD = (b3 Fz^2 + b4 Fz) exp(-b5 Fz), E = b6 Fz^2 + b7 Fz + b8, S_h = b9 Fz + b10;
//! across: C = a0, D = (a1 Fz + a2) Fz, BCD = a3 sin(2 atan(Fz/a4)) (1 - a5 |gamma|), E = a6 Fz + a7,
//!   S_h = a8 gamma + a9 Fz + a10, S_v = a11 Fz gamma + a12 Fz + a13;
//! torque: C = c0, D = c1 Fz^2 + c2 Fz, BCD = (c3 Fz^2 + c4 Fz) (1 - c6 |gamma|) exp(-c5 Fz),
//!   E = (c7 Fz^2 + c8 Fz + c9) (1 - c10 |gamma|), S_h = c11 gamma + c12 Fz + c13,
//!   S_v = (c14 Fz^2 + c15 Fz) gamma + c16 Fz + c17.
//! It has no combined slip: each pure force, at the size of the whole slip, counts with its share of the slip's direction, the friction
//! ellipse. alpha and gamma count against ours.

use super::{Answer, Slip, Slopes, shared};
use libm::{atan, exp, hypot, sin, tan};

/// Its numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MagicFormula89 {
    /// a0 to a13.
    pub across: [f64; 14],
    /// b0 to b10.
    pub along: [f64; 11],
    /// c0 to c17; no aligning torque if all are zero.
    pub torque: [f64; 18],
}

/// B, C, D, E, S_h, S_v.
#[derive(Clone, Copy, Debug)]
struct Curve {
    B: f64,
    C: f64,
    D: f64,
    E: f64,
    shift: f64,
    offset: f64,
}

impl Curve {
    fn at(&self, X: f64, grip: f64) -> f64 {
        let x = self.B / grip * (X + self.shift);
        grip * self.D * sin(self.C * atan(x - self.E * (x - atan(x)))) + self.offset
    }
}

/// BCD over C D, none of a curve without either.
fn steepness(BCD: f64, C: f64, D: f64) -> f64 {
    if C * D == 0.0 { 0.0 } else { BCD / (C * D) }
}

impl MagicFormula89 {
    fn along(&self, F: f64) -> Curve {
        let [b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10] = self.along;
        let D = (b1 * F + b2) * F;
        let BCD = (b3 * F * F + b4 * F) * exp(-b5 * F);
        Curve { B: steepness(BCD, b0, D), C: b0, D, E: b6 * F * F + b7 * F + b8, shift: b9 * F + b10, offset: 0.0 }
    }

    fn across(&self, F: f64, camber: f64) -> Curve {
        let [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13] = self.across;
        let D = (a1 * F + a2) * F;
        let BCD = a3 * sin(2.0 * atan(F / a4)) * (1.0 - a5 * camber.abs());
        let shift = a8 * camber + a9 * F + a10;
        Curve { B: steepness(BCD, a0, D), C: a0, D, E: a6 * F + a7, shift, offset: a11 * F * camber + a12 * F + a13 }
    }

    fn torque(&self, F: f64, camber: f64) -> Curve {
        let c = &self.torque;
        let (D, lean) = (c[1] * F * F + c[2] * F, camber.abs());
        let BCD = (c[3] * F * F + c[4] * F) * (1.0 - c[6] * lean) * exp(-c[5] * F);
        let E = (c[7] * F * F + c[8] * F + c[9]) * (1.0 - c[10] * lean);
        let shift = c[11] * camber + c[12] * F + c[13];
        let offset = (c[14] * F * F + c[15] * F) * camber + c[16] * F + c[17];
        Curve { B: steepness(BCD, c[0], D), C: c[0], D, E, shift, offset }
    }

    /// The pure F_x at kappa [%] and the pure F_y and M_z at alpha and gamma [degrees] as the authors count them, load [kN] [N, N m].
    pub fn published(&self, percent: f64, alpha: f64, camber: f64, load: f64) -> [f64; 3] {
        [
            self.along(load).at(percent, 1.0),
            self.across(load, camber).at(alpha, 1.0),
            self.torque(load, camber).at(alpha, 1.0),
        ]
    }

    /// See [`super::Tyre::answer`].
    pub fn answer(&self, slip: &Slip) -> Answer {
        let Slip { kappa, alpha, camber, load, grip, .. } = *slip;
        let (F, lean) = (load / 1000.0, -camber.to_degrees());
        let [x, y] = [self.along(F), self.across(F, lean)];
        let grip = grip.max(f64::MIN_POSITIVE);
        let slopes = self.slopes(slip).slip;
        let side = tan(alpha);
        if kappa == 0.0 || side == 0.0 {
            let force = [x.at(100.0 * kappa, grip), y.at(-alpha.to_degrees(), grip)];
            return Answer { force, aligning: self.torque(F, lean).at(-alpha.to_degrees(), grip), ..Answer::default() };
        }
        // the same pull on both pure curves: slips that give it alone
        let whole = hypot(slopes[0] * kappa, slopes[1] * side);
        let [along, across] = shared(slip, slopes);
        let reach = [(whole / slopes[0]).copysign(kappa), atan((whole / slopes[1]).copysign(side))];
        let force = [along * x.at(100.0 * reach[0], grip), across * y.at(-reach[1].to_degrees(), grip)];
        let aligning = across * self.torque(F, lean).at(-reach[1].to_degrees(), grip);
        Answer { force, aligning, ..Answer::default() }
    }

    /// See [`super::Tyre::slopes`].
    pub fn slopes(&self, slip: &Slip) -> Slopes {
        let F = slip.load / 1000.0;
        let [x, y] = [self.along(F), self.across(F, -slip.camber.to_degrees())];
        let slope = |curve: &Curve, per: f64| curve.B * curve.C * curve.D * per;
        let most = |curve: &Curve| slip.grip * curve.D.abs() + curve.offset.abs();
        Slopes {
            slip: [slope(&x, 100.0), slope(&y, 1.0_f64.to_degrees())],
            relaxation: [0.0; 2],
            most: [most(&x), most(&y)],
        }
    }
}
