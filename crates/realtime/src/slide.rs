//! What friction of a pair may be in a step, and how it rises with the slip.
//!
//! Elastic stick is a spring that slides at its bound. Laws without springs, f(V) along the slip, are lines through zero at the slip speed
//! that the pair would have at the end of the step if it were alone,
//!   u = V_free - h w f(u),   f = D V with D = f(u)/u,
//! so that alone it has the implicit Euler step of its law; w is what an impulse along the slip changes of it, V_free the slip without
//! friction.
//!
//! Bristles (`crates/parts/src/contact/friction/brush.rs`) of stiffness k = sigma N that are bent by z, slip v of the step's end, beta and T of u = |v|:
//!   z' = v - beta z in closed form:   z+ = e z + S v,   e = exp(-beta h),   S = (1 - e)/beta,
//!   f = -k (z+ + T (v - beta z+)) = -A k z - B v,   A = (1 - T beta) e,   B = k ((1 - T beta) S + T),
//!   u = |v_free - h w A k z|/(1 + h w B).

use super::Clock;
use super::contacts::Grip;
use tippe_geometry::Vec3;
use tippe_mechanics::contact::friction::brush::{Bent, Bristles};
use tippe_mechanics::contact::friction::{FrictionConstants, FrictionLaw};

/// Share of the steep part of a law at which its slope at rest is taken [-].
const AT_REST: f64 = 1e-3;
/// Factor from one speed to the next where the slip of the end of a step is looked for, and how many are tried.
const SLOWER: (f64, usize) = (0.7, 80);
/// Halvings of the interval that has it: to rounding.
const HALVINGS: usize = 52;

/// Friction of a pair in a step.
#[derive(Clone, Copy, Debug)]
pub struct Slide {
    /// Bound over the normal force [-], while it has not been reached in this step.
    pub mu: f64,
    /// The same once it has.
    pub slides: f64,
    /// Force per slip speed below the bound [N s/m]; none where a spring holds.
    pub rate: Option<f64>,
    /// Displacement by which the springs pull over their own [-].
    pub gamma: f64,
    /// See [`Grip::keeps`].
    pub keeps: (f64, f64),
    /// True if it resists spin about the normal too.
    pub spins: bool,
}

impl Clock {
    /// Friction of a pair whose points had this normal impulse together in the last step [N s]; infinite: it is not known.
    pub(super) fn slide(&self, grip: &Grip, load: f64) -> Slide {
        let (gamma, keeps) = (self.h / (self.h + grip.relaxation), (1.0, self.h));
        let Some((law, constants, weight)) = grip.smooth else {
            let mu = if grip.memory.sliding { grip.mu[0] } else { grip.mu[1] };
            return Slide { mu, slides: grip.mu[0], rate: None, spins: true, gamma, keeps };
        };
        let spins = law.rubs_by_spin();
        let N = if load.is_finite() { load / self.h } else { weight };
        let coefficients = match grip.fixed > 0.0 && N > 0.0 {
            true => FrictionConstants { mu: grip.fixed / N, mu_static: grip.fixed / N, ..constants },
            false => constants,
        };
        if let FrictionLaw::Brush { stiffness, slip_speed } = law {
            return self.brush(grip, &coefficients, &Bristles { stiffness, slip_speed });
        }
        let force = |V: f64| law.sliding_force(&coefficients, N, V).unwrap_or_default();
        let (_, steep) = force(0.0);
        if N <= 0.0 || steep <= 0.0 {
            return Slide { mu: grip.mu[0], slides: grip.mu[0], rate: None, spins, gamma, keeps };
        }
        let (free, spin, w) = self.free_slip(grip, spins);
        let free = libm::hypot(free.length(), spin);
        let over = |u: f64| u + self.h * w * force(u).0 - free;
        let u = if free > AT_REST * steep { slowed(free, over).max(AT_REST * steep) } else { AT_REST * steep };
        let most = law.largest_coefficient(&coefficients);
        let mu = if u > steep { force(u).0 / N } else { most };
        Slide { mu, slides: mu, rate: Some((force(u).0 / u).max(f64::MIN_POSITIVE)), spins, gamma, keeps }
    }

    /// Friction of bristles.
    fn brush(&self, grip: &Grip, c: &FrictionConstants, bristles: &Bristles) -> Slide {
        let (h, k, z) = (self.h, grip.stiffness, grip.memory.spring);
        let (free, _, w) = self.free_slip(grip, false);
        // e, S, A and B
        let step = |u: f64| {
            let Bent { beta, damping } = bristles.at(c, u, grip.relaxation);
            let keeps = libm::exp(-beta * h);
            let winds = if beta > 0.0 { -libm::expm1(-beta * h) / beta } else { h };
            let left = 1.0 - damping * beta;
            (keeps, winds, left * keeps, k * (left * winds + damping))
        };
        let slip = |u: f64| {
            let (_, _, A, B) = step(u);
            (free - z * (h * w * A * k)).length() / (1.0 + h * w * B)
        };
        let (mut low, mut high) = (0.0, free.length() + h * w * k * z.length());
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if slip(middle) > middle { low = middle } else { high = middle }
        }
        let (keeps, winds, A, B) = step(high);
        let mu = c.mu_static.max(c.mu);
        Slide { mu, slides: mu, rate: Some(B), spins: false, gamma: h * A * k / B, keeps: (keeps, winds) }
    }

    /// Slip of a pair at the end of the step if nothing rubbed [m/s], spin over its lever where it counts [m/s], and what an impulse along the
    /// slip changes of it [1/kg]. Where several points keep them from turning, bodies do not turn.
    fn free_slip(&self, grip: &Grip, spins: bool) -> (Vec3, f64, f64) {
        let normal = grip.axes[0];
        let velocity = |k: usize| {
            let (b, path) = (grip.bodies[k], &self.paths[grip.bodies[k]]);
            let u = if self.is_free(b) { path.free_velocity_for_rows() } else { path.velocity() };
            (u.linear + u.angular.cross(grip.point - path.kin.p), u.angular)
        };
        let ((v1, w1), (v2, w2)) = (velocity(0), velocity(1));
        let v = v2 - v1;
        let v = v - normal * normal.dot(v);
        let spin = if spins { grip.lever * normal.dot(w2 - w1) } else { 0.0 };
        let along = v.try_normalize().unwrap_or(grip.axes[1]);
        let yields = |k: usize| {
            let b = grip.bodies[k];
            if !self.is_free(b) {
                return 0.0;
            }
            let (body, path) = (&self.model.bodies[b], &self.paths[b]);
            let r = (grip.point - path.kin.p).cross(along);
            let turn = path.kin.R.transpose() * if grip.touches.1 == 1 { r } else { Vec3::ZERO };
            1.0 / body.mass + turn.dot(body.I_c_inverse * turn)
        };
        (v, spin, yields(0) + yields(1))
    }
}

/// The largest root of a function that is positive at `free`, or zero.
fn slowed(free: f64, over: impl Fn(f64) -> f64) -> f64 {
    let (factor, most) = SLOWER;
    let (mut high, mut low) = (free, factor * free);
    for _ in 0..most {
        if over(low) <= 0.0 {
            break;
        }
        (high, low) = (low, factor * low);
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if over(middle) > 0.0 { high = middle } else { low = middle }
    }
    high
}
