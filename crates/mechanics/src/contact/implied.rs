//! What the materials of a pair imply for an impact: stiffness, depth, duration, force, restitution, step size.
//!
//! Default law N = K depth^(3/2) (1 + d v) at impact speed v0, beta = d v0, in units L = (m v0^2/K)^(2/5), T = L/v0,
//! F = K L^(3/2). With u the closing speed over v0, falling from 1 to -e, the energy integral is
//!   depth^(5/2)/(5/2) = G(u) = int_u^1 s/(1 + beta s) ds,   G(-e) = 0,
//! so depth_max = (5/2 G(0))^(2/5), duration = int_-e^1 du/((5/2 G)^(3/5) (1 + beta u)), force = (5/2 G)^(3/5) (1 + beta u)
//! Gravity is left out during the impact.

use serde::Serialize;
use tippe_parts::contact::normal::{NormalConstants, NormalLaw, returned_restitution};
use tippe_scene::material::effective_modulus;

/// Fixed steps that resolve one impact to about a thousandth.
const STEPS_PER_IMPACT: f64 = 40.0;

/// One of two solids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solid {
    /// Density [kg/m^3].
    pub density: f64,
    /// Young's modulus [Pa].
    pub young: f64,
    /// Poisson's ratio [-].
    pub poisson: f64,
}

/// A ball of the first solid hits the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// The two solids.
    pub solids: [Solid; 2],
    /// Radius of the first, a ball [m].
    pub radius: f64,
    /// Radius of the second [m]; `None` is a plane that does not move.
    pub radius2: Option<f64>,
    /// Wanted restitution [-].
    pub restitution: f64,
    /// Speed below which restitution fades out [m/s].
    pub blend_speed: f64,
    /// Impact speed [m/s].
    pub speed: f64,
    /// Factor on the stiffness [-].
    pub k_red: f64,
    /// Gravity [m/s^2].
    pub gravity: f64,
}

/// What follows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Implied {
    /// Reduced mass [kg].
    pub mass: f64,
    /// Effective radius R [m].
    pub radius: f64,
    /// Effective modulus E* with k_red [Pa].
    pub modulus: f64,
    /// K [N/m^1.5].
    pub stiffness: f64,
    /// Depth at rest under the lighter body's weight [m].
    pub static_depth: f64,
    /// Largest depth of the impact [m].
    pub depth: f64,
    /// Duration of the impact [s].
    pub duration: f64,
    /// Largest force [N].
    pub force: f64,
    /// Restitution asked for [-].
    pub restitution_asked: f64,
    /// Restitution returned at this speed [-].
    pub restitution: f64,
    /// d of the law at this speed [s/m].
    pub damping: f64,
    /// Restitution fades out below this speed [m/s].
    pub blend_speed: f64,
    /// Impacts slower than this do not leave [m/s].
    pub rest_speed: f64,
    /// Largest fixed step that resolves the impact [s].
    pub step: f64,
}

/// Contact parameters and the course of one impact.
pub fn implied(impact: &Impact) -> Implied {
    let [a, b] = impact.solids;
    let ball = |s: &Solid, r: f64| 4.0 / 3.0 * std::f64::consts::PI * r * r * r * s.density;
    let m1 = ball(&a, impact.radius);
    let (m, lighter, R) = match impact.radius2 {
        None => (m1, m1, impact.radius),
        Some(r2) => {
            let m2 = ball(&b, r2);
            (m1 * m2 / (m1 + m2), m1.min(m2), impact.radius * r2 / (impact.radius + r2))
        }
    };
    let modulus = impact.k_red * effective_modulus(a.young, a.poisson, b.young, b.poisson);
    let K = 4.0 / 3.0 * modulus * R.sqrt();
    let static_depth = libm::pow(lighter * impact.gravity / K, 2.0 / 3.0);
    let law = NormalLaw::Hertz { restitution: impact.restitution, blend_speed: impact.blend_speed };
    let constants = NormalConstants::new(&law, m, modulus, static_depth, impact.gravity, 0.0, 1.5);
    let v0 = impact.speed;
    let d = constants.damping(v0);
    let course = Course::new(d * v0);
    let L = libm::pow(m * v0 * v0 / K, 0.4);
    let duration = L / v0 * course.duration();
    Implied {
        mass: m,
        radius: R,
        modulus,
        stiffness: K,
        static_depth,
        depth: L * course.depth(),
        duration,
        force: K * L * L.sqrt() * course.force(),
        restitution_asked: impact.restitution,
        restitution: course.e,
        damping: d,
        blend_speed: constants.blend_speed,
        rest_speed: constants.rest_speed,
        step: duration / STEPS_PER_IMPACT,
    }
}

/// An impact in its own units.
struct Course {
    beta: f64,
    e: f64,
}

impl Course {
    fn new(beta: f64) -> Course {
        Course { beta, e: returned_restitution(beta) }
    }

    /// Integral of s/(1 + beta s) over a length x that starts at u.
    fn work(&self, u: f64, x: f64) -> f64 {
        let (b, q) = (self.beta, 1.0 + self.beta * u);
        let z = b * x / q;
        if z.abs() < 1e-3 {
            // (u + s)/(q (1 + z s/x)) expanded
            let series = |n: f64| 1.0 / n - z / (n + 1.0) + z * z / (n + 2.0) - z * z * z / (n + 3.0);
            return x / q * (u * series(1.0) + x * series(2.0));
        }
        x / b - libm::log1p(z) / (b * b)
    }

    /// depth^(3/2) at the speed 1 - x or, counted from the other end, y - e.
    fn power(&self, x: f64, y: f64) -> f64 {
        let G = if x < y { -self.work(1.0, -x) } else { -self.work(-self.e, y) };
        libm::pow((2.5 * G).max(0.0), 0.6)
    }

    fn depth(&self) -> f64 {
        libm::pow(2.5 * self.work(0.0, 1.0), 0.4)
    }

    /// Both ends are singular like (distance)^(-3/5): the tanh-sinh rule.
    fn duration(&self) -> f64 {
        let whole = 1.0 + self.e;
        let (mut sum, step) = (0.0, 1.0 / 32.0);
        for k in -160..=160 {
            let s = step * f64::from(k);
            let a = 0.5 * std::f64::consts::PI * libm::sinh(s);
            // shares of the interval on both sides, without cancellation
            let (x, y) = (whole / (1.0 + libm::exp(2.0 * a)), whole / (1.0 + libm::exp(-2.0 * a)));
            let weight = std::f64::consts::PI * libm::cosh(s) * x * y / whole;
            let rate = self.power(x, y) * (1.0 + self.beta * (y - self.e));
            if weight > 0.0 && rate > 0.0 {
                sum += step * weight / rate;
            }
        }
        sum
    }

    /// Largest of depth^(3/2) (1 + beta u), by golden section.
    fn force(&self) -> f64 {
        let whole = 1.0 + self.e;
        let force = |x: f64| self.power(x, whole - x) * (1.0 + self.beta * (1.0 - x));
        let (mut a, mut b) = (0.0, whole);
        for _ in 0..80 {
            let (c, d) = (a + 0.381966 * (b - a), a + 0.618034 * (b - a));
            if force(c) < force(d) {
                a = c;
            } else {
                b = d;
            }
        }
        force(0.5 * (a + b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn courses_match_the_table() {
        // by quadrature in 25 digits: beta, e, depth, duration, force
        for (beta, e, depth, duration, force) in [
            (0.0, 1.0, 1.09336, 3.21807, 1.14326),
            (0.17778, 0.89392, 1.04606, 3.25811, 1.08235),
            (0.68571, 0.68318, 0.94557, 3.38775, 1.03273),
            (1.6, 0.47044, 0.83093, 3.65471, 1.07438),
            (3.73333, 0.25621, 0.68672, 4.35915, 1.23998),
            (14.4, 0.06944, 0.45630, 7.75654, 1.84922),
        ] {
            let c = Course::new(beta);
            for (value, wanted) in [(c.e, e), (c.depth(), depth), (c.duration(), duration), (c.force(), force)] {
                assert!((value - wanted).abs() < 1.1e-5, "beta {beta}: {value} against {wanted}");
            }
        }
    }
}
