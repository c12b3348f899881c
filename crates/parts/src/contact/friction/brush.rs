//! Friction of bristles: they bend with the slip and slip off one by one.
//!
//! With F_e the elastic part of the normal force N and g(v) the coefficient of steady sliding,
//!   z' = v_t - |v_t| sigma/g z,   f = -sigma F_e z,   g = mu + (mu_s - mu) exp(-(v/v_s)^2),
//! Dahl 1968 with one coefficient, Canudas de Wit, Olsson, Astrom and Lischinsky 1995 with Stribeck's curve, in the plane by Deur, Asgari
//! and Hrovat 2004. At constant N and slip along a line f = mu N (1 - exp(-sigma x/mu)): there is no stick and no slip, only less
//! and less stiffness, and what is pulled and let go keeps a part of the way.
//!
//! As the load changes f stays while F_e grows and falls with it, as with all springs here, so that bristles under a growing load are not
//! wound up by nothing. Damping acts on the force of the surfaces, by phi = N/F_e. With the state q = -sigma z = f/F_e,
//!   q' = -phi u - r q,   u = sigma v_t + beta q,   force N (q - T u),   beta = |v_t| sigma/g,   T = tau/(1 + tau beta),
//!   r = (G + s)/2,   G = F_e'/F_e,   s = sqrt(G^2 + e^2) - e,   e as for all springs,   tau = c/k of the normal law,
//!   held F_e q^2/(2 sigma),   lost N (beta q^2/sigma + T u v_t) + s F_e q^2/(2 sigma).
//! T beta <= 1 keeps the loss positive at any slip (with a damper that does not fade it is not: Olsson 1996), and |force| <= g N. The
//! force itself would be no state: it fades as fast as the load where a contact ends, all the faster the less is left.

use super::{
    Friction, FrictionConstants, FrictionInput, Modes, STEADY, Springs, TANGENTIAL_B_MIN, into_plane, roll, stiffness,
};
use tippe_geometry::Vec3;

/// The bristles of a pair.
#[derive(Clone, Copy, Debug)]
pub struct Bristles {
    /// sigma [1/m].
    pub stiffness: f64,
    /// v_s [m/s].
    pub slip_speed: f64,
}

/// A pair of surfaces at one slip speed.
#[derive(Clone, Copy, Debug)]
pub struct Bent {
    /// beta: share of the bristles that slip off per time [1/s].
    pub beta: f64,
    /// T [s].
    pub damping: f64,
}

impl Bristles {
    /// g(v) [-].
    pub fn steady(&self, c: &FrictionConstants, v: f64) -> f64 {
        let x = v / self.slip_speed;
        c.mu + (c.mu_static - c.mu).max(0.0) * libm::exp(-x * x)
    }

    /// Bristles at this slip speed [m/s], tau [s] the damper of the normal law over its spring.
    pub fn at(&self, c: &FrictionConstants, v: f64, tau: f64) -> Bent {
        let beta = v * self.stiffness / self.steady(c, v);
        Bent { beta, damping: tau / (1.0 + tau * beta) }
    }
}

/// Energy of bristles of stiffness sigma [1/m] under the elastic force F_e [N] [J].
pub fn energy(q: Vec3, sigma: f64, F_e: f64) -> f64 {
    0.5 * F_e.max(0.0) * q.length_squared() / sigma
}

pub(super) fn friction(
    c: &FrictionConstants,
    x: &FrictionInput,
    springs: &Springs,
    modes: Modes,
    bristles: &Bristles,
) -> Friction {
    let mut out = Friction { slip_margin: -1.0, roll_margin: -1.0, ..Friction::default() };
    if x.elastic <= 0.0 {
        // nothing presses them together: a spring against rolling has to let go
        out.roll_margin = if modes.rolling || springs.roll == Vec3::ZERO { -1.0 } else { 1.0 };
        return out;
    }
    let (N, sigma) = (x.N.max(0.0), bristles.stiffness);
    let tau = x.depth * x.damping.max(TANGENTIAL_B_MIN / x.damping_speed) / x.exponent;
    let G = x.exponent * x.closing_speed / x.depth;
    let e = STEADY / tau;
    let s = (G * G + e * e).sqrt() - e;
    if c.mu > 0.0 {
        let q = into_plane(springs.f, x.normal);
        let Bent { beta, damping } = bristles.at(c, x.v_t.length(), tau);
        let u = sigma * x.v_t + beta * q;
        out.force = N * (q - damping * u);
        out.energy = energy(q, sigma, x.elastic);
        out.sliding = N * (beta * q.length_squared() / sigma + damping * u.dot(x.v_t)) + s * out.energy;
        out.rates.f = -N / x.elastic * u - 0.5 * (G + s) * q;
        out.gear = N;
    }
    if x.N > 0.0 && c.rolling > 0.0 {
        roll(c, x, springs, modes, &stiffness(c, x), &mut out);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::FrictionLaw;
    use super::*;

    const SIGMA: f64 = 2e3;

    fn ball(v: f64, closing_speed: f64, N_over: f64) -> FrictionInput {
        let elastic = 50.0;
        FrictionInput {
            normal: Vec3::Z,
            N: elastic * N_over,
            elastic,
            depth: 1e-4,
            closing_speed,
            radius: 0.1,
            patch_radius: 0.0,
            lever: 0.0,
            area: 0.0,
            exponent: 1.5,
            damping: 20.0,
            damping_speed: 0.05,
            v_t: Vec3::X * v,
            omega: Vec3::ZERO,
        }
    }

    const LAW: FrictionLaw = FrictionLaw::Brush { stiffness: SIGMA, slip_speed: 0.01 };

    /// Dahl 1968: f = mu N (1 - exp(-sigma x/mu)) along a line, and Stribeck's curve where it slides on.
    #[test]
    fn bristles_bend_as_dahl_says_and_slide_as_stribeck_says() {
        let c = FrictionConstants { mu: 0.4, mu_static: 0.4, ..Default::default() };
        let (v, n) = (1e-3, 20_000);
        let length = 0.5e-3;
        let h = length / v / n as f64;
        let mut springs = Springs::default();
        for _ in 0..n {
            // midpoint
            let x = ball(v, 0.0, 1.0);
            let half = Springs {
                f: springs.f + LAW.evaluate(&c, &x, &springs, Modes::default()).rates.f * (0.5 * h),
                ..springs
            };
            springs.f += LAW.evaluate(&c, &x, &half, Modes::default()).rates.f * h;
        }
        let wanted = 0.4 * (1.0 - libm::exp(-SIGMA * length / 0.4));
        assert!((-springs.f.x / wanted - 1.0).abs() < 1e-7, "{} {wanted}", springs.f.x);
        let c = FrictionConstants { mu_static: 0.6, ..c };
        for v in [1e-4, 0.01, 0.03, 1.0] {
            let g = 0.4 + 0.2 * libm::exp(-(v / 0.01) * (v / 0.01));
            let steady = Springs { f: Vec3::X * -g, ..Springs::default() };
            let friction = LAW.evaluate(&c, &ball(v, 0.0, 1.0), &steady, Modes::default());
            assert!((friction.force.x + g * 50.0).abs() < 1e-12 * g * 50.0);
            assert!(friction.rates.f.length() < 1e-9 * SIGMA * v);
        }
    }

    /// However they are bent, and whatever the normal force does, they give back no more than they hold: the power taken from the bodies is what
    /// the springs gain and what is lost, and nothing is lost below zero; the force is never above Coulomb's.
    #[test]
    fn bristles_are_passive() {
        let c = FrictionConstants { mu: 0.3, mu_static: 0.5, ..Default::default() };
        for v in [-2.0, -0.02, -1e-4, 0.0, 3e-4, 0.01, 5.0] {
            for (closing, over) in [(0.0, 1.0), (0.2, 1.7), (-0.1, 0.3), (-0.3, 0.0)] {
                for share in [-1.0, -0.4, 0.0, 0.7, 1.0] {
                    let x = ball(v, closing, over);
                    let g = Bristles { stiffness: SIGMA, slip_speed: 0.01 }.steady(&c, v.abs());
                    let springs = Springs { f: Vec3::X * (share * g), ..Springs::default() };
                    let friction = LAW.evaluate(&c, &x, &springs, Modes::default());
                    assert!(friction.sliding >= 0.0, "{v} {closing} {share}: {}", friction.sliding);
                    assert!(friction.force.length() <= g * x.N * (1.0 + 1e-12));
                    // d/dt F_e q^2/(2 sigma)
                    let load_rate = x.elastic * x.exponent * closing / x.depth;
                    let q = springs.f;
                    let stored = (x.elastic * q.dot(friction.rates.f) + 0.5 * load_rate * q.length_squared()) / SIGMA;
                    let given = -friction.force.dot(x.v_t);
                    let scale = given.abs() + stored.abs() + friction.sliding + f64::MIN_POSITIVE;
                    assert!(
                        (given - stored - friction.sliding).abs() < 1e-12 * scale,
                        "{given} {stored} {}",
                        friction.sliding
                    );
                }
            }
        }
    }
}
