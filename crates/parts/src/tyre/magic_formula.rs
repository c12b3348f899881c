//! The Magic Formula 5.2, with the terms that 6.1 adds (Pacejka 2012, "Tire and vehicle dynamics", chapter 4). With g = gamma,
//! dfz = (Fz - Fz0)/Fz0, dp = (p - p0)/p0, factors of scale left out:
//!   y = D sin(C atan(B x - E (B x - atan(B x)))) + S_v,   x = X + S_h,   B = K/(C D);
//! along: C = PCX1, D = Fz (PDX1 + PDX2 dfz)(1 + PPX3 dp + PPX4 dp^2)(1 - PDX3 g^2),
//!   E = (PEX1 + PEX2 dfz + PEX3 dfz^2)(1 - PEX4 sgn x), 1 at most,
//!   K = Fz (PKX1 + PKX2 dfz) exp(PKX3 dfz)(1 + PPX1 dp + PPX2 dp^2), S_h = PHX1 + PHX2 dfz, S_v = Fz (PVX1 + PVX2 dfz);
//! across: C = PCY1, D = Fz (PDY1 + PDY2 dfz)(1 + PPY3 dp + PPY4 dp^2)(1 - PDY3 g^2),
//!   E = (PEY1 + PEY2 dfz)(1 + PEY5 g^2 - (PEY3 + PEY4 g) sgn x), 1 at most,
//!   K = PKY1 Fz0 (1 + PPY1 dp) sin(PKY4 atan(Fz/((PKY2 + PKY5 g^2)(1 + PPY2 dp) Fz0)))(1 - PKY3 |g|),
//!   S_v = Fz (PVY1 + PVY2 dfz) + S_vg, S_vg = Fz (PVY3 + PVY4 dfz) g,
//!   S_h = PHY1 + PHY2 dfz + PHY3 g, or, of a file with PKY6, PHY1 + PHY2 dfz + (Fz (PKY6 + PKY7 dfz)(1 + PPY5 dp) g - S_vg)/K;
//! weights G(s) = cos(C atan(B s - E (B s - atan(B s)))) over the same without slip, F_x = G_x F_x0, F_y = G_y F_y0 + S_vyk:
//!   x: s = alpha + RHX1, B = (RBX1 + RBX3 g^2) cos(atan(RBX2 kappa)), C = RCX1, E = REX1 + REX2 dfz;
//!   y: s = kappa + RHY1 + RHY2 dfz, B = (RBY1 + RBY4 g^2) cos(atan(RBY2 (alpha - RBY3))), C = RCY1, E = REY1 + REY2 dfz,
//!   S_vyk = D_y (RVY1 + RVY2 dfz + RVY3 g) cos(atan(RVY4 alpha)) sin(RVY5 atan(RVY6 kappa));
//! torque: M_z = -t (F_y - S_vyk) + M_zr + s F_x, t = D_t cos(C_t atan(B_t a - E_t (B_t a - atan(B_t a)))) cos(alpha) at
//!   a = atan(sqrt(tan^2 a_t + (K_x kappa/K_y)^2)) sgn a_t, a_t = alpha + QHZ1 + QHZ2 dfz + (QHZ3 + QHZ4 dfz) g,
//!   M_zr = D_r cos(atan(B_r a)) cos(alpha) at the same of a_r = alpha + S_hy + S_vy/K_y,
//!   s = R0 (SSZ1 + SSZ2 F_y/Fz0 + (SSZ3 + SSZ4 dfz) g);
//! M_x = R0 Fz (QSX1 - QSX2 g + QSX3 F_y/Fz0), rolling R0 Fz (QSY1 + QSY2 F_x/Fz0 + QSY3 V/V0 + QSY4 (V/V0)^4);
//! relaxation: along Fz (PTX1 + PTX2 dfz) exp(PTX3 dfz) R0/Fz0, across PTY1 sin(2 atan(Fz/(PTY2 Fz0)))(1 - PKY3 |g|) R0.

use super::{Answer, Numbers, Slip, Slopes};
use libm::{atan, cos, exp, sin, sqrt, tan};

/// Slip is taken as this steep at least where a curve has no slope [-].
const LEAST: f64 = 1e-9;

/// A tyre of the Magic Formula.
#[derive(Clone, Debug, PartialEq)]
pub struct MagicFormula {
    /// Its numbers.
    pub numbers: Numbers,
    /// R0 [m].
    pub radius: f64,
    /// Fz0 [N].
    pub load: f64,
    /// dp [-].
    pub pressure: f64,
    /// V0 [m/s].
    pub speed: f64,
}

/// B, C, D, E of a curve and its shifts.
#[derive(Clone, Copy, Debug)]
struct Curve {
    /// K = B C D.
    slope: f64,
    C: f64,
    D: f64,
    /// E for x above and below zero.
    E: [f64; 2],
    shift: f64,
    offset: f64,
}

impl Curve {
    fn B(&self) -> f64 {
        let over = self.C * self.D;
        if over == 0.0 { 0.0 } else { self.slope / over }
    }

    fn at(&self, X: f64) -> f64 {
        let x = X + self.shift;
        let (E, x) = (self.E[usize::from(x < 0.0)].min(1.0), self.B() * x);
        self.D * sin(self.C * atan(x - E * (x - atan(x)))) + self.offset
    }
}

/// cos(C atan(B s - E (B s - atan(B s)))).
fn weight(s: f64, [B, C, E]: [f64; 3]) -> f64 {
    let x = B * s;
    cos(C * atan(x - E * (x - atan(x))))
}

/// What depends on the load and the lean alone.
struct State {
    dfz: f64,
    /// Fz0 with its factor [N].
    nominal: f64,
    x: Curve,
    y: Curve,
}

impl MagicFormula {
    fn state(&self, slip: &Slip) -> State {
        let (n, dp, Fz) = (&self.numbers, self.pressure, slip.load);
        let nominal = self.load * n.lfzo;
        let dfz = (Fz - nominal) / nominal;
        let lean = slip.camber * n.lgax;
        let mu = (n.pdx1 + n.pdx2 * dfz) * (1.0 + n.ppx3 * dp + n.ppx4 * dp * dp) * (1.0 - n.pdx3 * lean * lean);
        let E = (n.pex1 + n.pex2 * dfz + n.pex3 * dfz * dfz) * n.lex;
        let K = Fz * (n.pkx1 + n.pkx2 * dfz) * exp(n.pkx3 * dfz) * (1.0 + n.ppx1 * dp + n.ppx2 * dp * dp) * n.lkx;
        let x = Curve {
            slope: K,
            C: n.pcx1 * n.lcx,
            D: mu * Fz * n.lmux * slip.grip,
            E: [E * (1.0 - n.pex4), E * (1.0 + n.pex4)],
            shift: (n.phx1 + n.phx2 * dfz) * n.lhx,
            offset: Fz * (n.pvx1 + n.pvx2 * dfz) * n.lvx * n.lmux * slip.grip,
        };
        State { dfz, nominal, x, y: self.across(slip, nominal, dfz) }
    }

    fn across(&self, slip: &Slip, nominal: f64, dfz: f64) -> Curve {
        let (n, dp, Fz) = (&self.numbers, self.pressure, slip.load);
        let lean = slip.camber * n.lgay;
        let grip = n.lmuy * slip.grip;
        let mu = (n.pdy1 + n.pdy2 * dfz) * (1.0 + n.ppy3 * dp + n.ppy4 * dp * dp) * (1.0 - n.pdy3 * lean * lean) * grip;
        let steep = (n.pky2 + n.pky5 * lean * lean) * (1.0 + n.ppy2 * dp) * nominal;
        let K = n.pky1
            * nominal
            * (1.0 + n.ppy1 * dp)
            * sin(n.pky4 * atan(Fz / steep))
            * (1.0 - n.pky3 * lean.abs())
            * n.lky;
        let of_lean = Fz * (n.pvy3 + n.pvy4 * dfz) * lean * grip;
        let shift = if n.pky6 != 0.0 || n.pky7 != 0.0 {
            let thrust = Fz * (n.pky6 + n.pky7 * dfz) * (1.0 + n.ppy5 * dp) * n.lkyc;
            (n.phy1 + n.phy2 * dfz) * n.lhy + (thrust * lean - of_lean) / K
        } else {
            (n.phy1 + n.phy2 * dfz) * n.lhy + n.phy3 * lean
        };
        let E = (n.pey1 + n.pey2 * dfz) * n.ley;
        let (even, odd) = (1.0 + n.pey5 * lean * lean, n.pey3 + n.pey4 * lean);
        Curve {
            slope: K,
            C: n.pcy1 * n.lcy,
            D: mu * Fz,
            E: [E * (even - odd), E * (even + odd)],
            shift,
            offset: Fz * (n.pvy1 + n.pvy2 * dfz) * n.lvy * grip + of_lean,
        }
    }

    /// See [`super::Tyre::answer`]; `rolling` over load and radius counts where the file has no QSY1.
    pub fn answer(&self, slip: &Slip, rolling: f64) -> Answer {
        let (n, state) = (&self.numbers, self.state(slip));
        let Slip { kappa, alpha, camber, load, .. } = *slip;
        let State { dfz, nominal, x, y } = &state;
        let squared = camber * camber;
        let B = (n.rbx1 + n.rbx3 * squared) * cos(atan(n.rbx2 * kappa)) * n.lxal;
        let shape = [B, n.rcx1, (n.rex1 + n.rex2 * dfz).min(1.0)];
        let along = x.at(kappa) * weight(alpha + n.rhx1, shape) / weight(n.rhx1, shape);
        let B = (n.rby1 + n.rby4 * squared) * cos(atan(n.rby2 * (alpha - n.rby3))) * n.lyka;
        let shape = [B, n.rcy1, (n.rey1 + n.rey2 * dfz).min(1.0)];
        let shift = n.rhy1 + n.rhy2 * dfz;
        let induced = y.D
            * (n.rvy1 + n.rvy2 * dfz + n.rvy3 * camber)
            * cos(atan(n.rvy4 * alpha))
            * sin(n.rvy5 * atan(n.rvy6 * kappa))
            * n.lvyka;
        let side = y.at(alpha) * weight(kappa + shift, shape) / weight(shift, shape);
        let across = side + induced;
        let [trail, residual] = self.trail(slip, &state);
        let lean = camber * n.lgaz;
        let arm = self.radius * (n.ssz1 + n.ssz2 * across / nominal + (n.ssz3 + n.ssz4 * dfz) * lean) * n.ls;
        let tipping = n.qsx1 * n.lvmx - n.qsx2 * camber + n.qsx3 * across / nominal;
        let V = slip.speed / self.speed;
        let resists = if n.qsy1 == 0.0 && n.qsy2 == 0.0 && n.qsy3 == 0.0 {
            rolling
        } else {
            (n.qsy1 + n.qsy2 * along / nominal + n.qsy3 * V + n.qsy4 * V * V * V * V) * n.lmy
        };
        Answer {
            force: [along, across],
            overturning: self.radius * load * tipping * n.lmx,
            aligning: -trail * side + residual + arm * along,
            trail,
            rolling: (resists * load * self.radius).max(0.0),
        }
    }

    /// What each pure slip does by itself: F_x of kappa, F_y and M_z of alpha, as tables of pure slip have them.
    pub fn pure(&self, slip: &Slip) -> Answer {
        let state = self.state(slip);
        let force = [state.x.at(slip.kappa), state.y.at(slip.alpha)];
        let [trail, residual] = self.trail(&Slip { kappa: 0.0, ..*slip }, &state);
        Answer { force, aligning: -trail * force[1] + residual, trail, ..Answer::default() }
    }

    /// t [m] and M_zr [N m].
    fn trail(&self, slip: &Slip, state: &State) -> [f64; 2] {
        let (n, dp) = (&self.numbers, self.pressure);
        let Slip { kappa, alpha, load, .. } = *slip;
        let State { dfz, nominal, x, y } = state;
        let g = slip.camber * n.lgaz;
        let steep = if y.slope.abs() > LEAST { y.slope } else { LEAST.copysign(y.slope) };
        let ratio = x.slope / steep * kappa;
        let equal = |a: f64| {
            let t = tan(a);
            atan(sqrt(t * t + ratio * ratio)).copysign(a)
        };
        let a_t = alpha + n.qhz1 + n.qhz2 * dfz + (n.qhz3 + n.qhz4 * dfz) * g;
        let B = (n.qbz1 + n.qbz2 * dfz + n.qbz3 * dfz * dfz) * (1.0 + n.qbz4 * g + n.qbz5 * g.abs()) * n.lky / n.lmuy;
        let of_lean = if n.pky6 != 0.0 { n.qdz3 * g.abs() } else { n.qdz3 * g };
        let D = load
            * (n.qdz1 + n.qdz2 * dfz)
            * (1.0 - n.ppz1 * dp)
            * (1.0 + of_lean + n.qdz4 * g * g)
            * (self.radius / nominal)
            * n.ltr;
        let bend = (n.qez4 + n.qez5 * g) * std::f64::consts::FRAC_2_PI * atan(B * n.qcz1 * a_t);
        let E = ((n.qez1 + n.qez2 * dfz + n.qez3 * dfz * dfz) * (1.0 + bend)).min(1.0);
        let trail = D * weight(equal(a_t), [B, n.qcz1, E]) * cos(alpha);
        let a_r = alpha + y.shift + y.offset / steep;
        let B_r = n.qbz9 * n.lky / n.lmuy + n.qbz10 * y.B() * y.C;
        let of_lean = (n.qdz8 + n.qdz9 * dfz) * (1.0 + n.ppz2 * dp) + (n.qdz10 + n.qdz11 * dfz) * g.abs();
        let D_r = load * ((n.qdz6 + n.qdz7 * dfz) * n.lres + of_lean * n.lkzc * g) * self.radius * n.lmuy * slip.grip;
        [trail, D_r * cos(atan(B_r * equal(a_r))) * cos(alpha)]
    }

    /// See [`super::Tyre::slopes`].
    pub fn slopes(&self, slip: &Slip) -> Slopes {
        let n = &self.numbers;
        let State { dfz, nominal, x, y } = self.state(slip);
        let along = slip.load * (n.ptx1 + n.ptx2 * dfz) * exp(n.ptx3 * dfz) * self.radius / nominal * n.lsgkp;
        let lean = 1.0 - n.pky3 * (slip.camber * n.lgay).abs();
        let across = n.pty1 * sin(2.0 * atan(slip.load / (n.pty2 * nominal))) * lean * self.radius * n.lfzo * n.lsgal;
        let most = |curve: &Curve| curve.D.abs() + curve.offset.abs();
        Slopes { slip: [x.slope, y.slope.abs()], relaxation: [along, across], most: [most(&x), most(&y)] }
    }
}
