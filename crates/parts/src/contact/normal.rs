//! Normal contact force.
//!
//! Every law gives the force N >= 0 that pushes the two bodies apart, split into an elastic and a damping part so that the
//! ledger can book each; `depth` > 0 while overlapping, `closing_speed` > 0 while approaching.
//!
//! Hertz, with the damping that returns the wanted restitution exactly (default):
//!   N = K depth^(3/2) (1 + d closing_speed),  K = k_red 4/3 E* sqrt(R),  d = b/v
//!   ln((1 + b)/(1 - e b)) = b (1 + e)     exact for every K, mass and exponent, where Flores' 8(1-e)/(5e) is not
//! v is the largest closing speed since the contact opened or since it began to compress anew, not the speed at first
//! touch: in a row of touching balls every contact but the first opens at speed zero.
//! Below the blending speed the wanted e fades out: with n = 3/2 the exponent of the law (1 for the elastic foundation),
//! v_rest the impact speed whose depth is the static depth, v_rest^2 = 2 g depth_static/(n + 1), and
//! d_crit = 2 sqrt(n/(g depth_static)) critical damping at rest,
//!   b(v) = b(e) + (d_crit v - b(e)) (1 - S),  S = smoothstep((v - v_rest)/(v_blend - v_rest)),  v >= v_rest
//! so that a resting contact is critically damped and nothing bounces for ever. e = 1 is conservative at any speed.

use super::curve::Curve;
use std::sync::Arc;

/// Speed below which restitution fades out unless the scene says otherwise [m/s] (Neumayr and Otter 2019, figure captions: v_min = 0.01).
pub const BLEND_SPEED: f64 = 0.01;
/// Smallest restitution the damped laws can return; smaller ones are raised to it and reported.
pub const RESTITUTION_MIN: f64 = 0.01;
/// Without gravity the rest speed is this fraction of the blending speed.
const REST_FRACTION: f64 = 0.1;

/// A law of the user's own: normal force [N] from the state of one contact.
pub trait CustomLaw: Send + Sync + std::fmt::Debug {
    /// Elastic and damping part of the normal force, their sum is clamped at zero; elastic energy if it has a closed
    /// form, NaN if it is to be integrated.
    fn force(&self, contact: &LawInput) -> NormalForce;
    /// Friction coefficient [-] at this slip speed, if the law has its own.
    fn friction(&self, contact: &LawInput) -> Option<f64> {
        let _ = contact;
        None
    }
}

/// What a law may look at.
#[derive(Clone, Copy, Debug, Default)]
pub struct LawInput {
    /// Depth [m].
    pub depth: f64,
    /// Closing speed [m/s].
    pub closing_speed: f64,
    /// Largest closing speed since touch or recompression [m/s].
    pub impact_speed: f64,
    /// Effective radius [m].
    pub radius: f64,
    /// Effective modulus E* times k_red [Pa].
    pub modulus: f64,
    /// Friction coefficient [-].
    pub friction: f64,
    /// Reduced mass of the pair [kg].
    pub mass: f64,
    /// Slip speed [m/s].
    pub slip_speed: f64,
}

/// The laws.
#[derive(Clone, Debug)]
pub enum NormalLaw {
    /// Hertz with exact-restitution damping; `blend_speed` [m/s].
    Hertz {
        /// Wanted restitution [-].
        restitution: f64,
        /// Speed below which the restitution fades out [m/s].
        blend_speed: f64,
    },
    /// Neumayr and Otter 2019 as published, eq. (3b), (6), (7), (10).
    Modia3d {
        /// Given restitution [-].
        restitution: f64,
        /// v_min of eq. (6), (7) [m/s].
        blend_speed: f64,
        /// cor_min of eq. (7) [-].
        restitution_min: f64,
        /// d_max of eq. (10) [s/m].
        damping_max: f64,
        /// True for pairs without a sphere: linear spring with c_geo = 1.
        linear: bool,
    },
    /// Hofmann and others 2014, eq. 2-4: K depth^n, with a linear damper clamped to +-K depth^n.
    CollisionLib {
        /// K [N/m^n].
        stiffness: f64,
        /// n [-].
        exponent: f64,
        /// D [N s/m].
        damping: f64,
    },
    /// Elmqvist and others 2015, section 6: E k sqrt(V d) (1 + c v), V the overlap volume, d its extent.
    Volume {
        /// c [s/m].
        damping: f64,
    },
    /// Bardaro and others 2017, section 3.1: k_e sqrt(V d) + D v, the damper not clamped.
    Bardaro {
        /// k_e [N/m^2].
        stiffness: f64,
        /// D [N s/m].
        damping: f64,
    },
    /// Linear spring and damper, clamped at zero.
    Linear {
        /// k [N/m].
        stiffness: f64,
        /// c [N s/m].
        damping: f64,
    },
    /// Elastic foundation on a flat patch, p = E* depth / L; with the damping factor of `Hertz`.
    Foundation {
        /// Wanted restitution [-].
        restitution: f64,
        /// Speed below which the restitution fades out [m/s].
        blend_speed: f64,
    },
    /// The user's own.
    Custom(Arc<dyn CustomLaw>),
}

/// Constants of one pair that its law needs, found once when the pair becomes a candidate.
#[derive(Clone, Copy, Debug, Default)]
pub struct NormalConstants {
    /// b(e) of the exact damping [-].
    pub b: f64,
    /// Rest speed, floor of the damping memory [m/s].
    pub rest_speed: f64,
    /// End of the blend [m/s].
    pub blend_speed: f64,
    /// Critical damping at rest [s/m].
    pub critical: f64,
    /// Reduced mass [kg].
    pub mass: f64,
    /// E* k_red [Pa].
    pub modulus: f64,
    /// Wanted restitution, raised to `RESTITUTION_MIN` where needed [-].
    pub restitution: f64,
    /// Friction coefficient, for laws that look at it [-].
    pub friction: f64,
    /// Depth at rest under the lighter body's weight [m].
    pub static_depth: f64,
    /// Wanted restitution over the closing speed, where it is not the same at all [m/s], [-].
    pub rebound: Curve,
}

/// Geometry of one contact as the laws see it.
#[derive(Clone, Copy, Debug, Default)]
pub struct NormalGeometry {
    /// Depth [m].
    pub depth: f64,
    /// Effective radius [m].
    pub radius: f64,
    /// Overlap volume [m^3], where the law needs it.
    pub volume: f64,
    /// Extent of the overlap along the normal [m], where the law needs it.
    pub extent: f64,
    /// L of the elastic foundation [m].
    pub layer: f64,
    /// Depth of the overlap's centroid below the patch [m], NaN where it is not known.
    pub sink: f64,
}

/// The answer of a law.
#[derive(Clone, Copy, Debug, Default)]
pub struct NormalForce {
    /// Elastic part [N].
    pub elastic: f64,
    /// Damping part [N]; elastic + damping is the whole force.
    pub damping: f64,
    /// Elastic energy [J], NaN where it must be integrated.
    pub energy: f64,
}

impl NormalForce {
    /// N [N].
    pub fn total(&self) -> f64 {
        self.elastic + self.damping
    }
}

/// What one touching pair remembers of its normal motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct NormalMemory {
    /// Closing speed at first touch [m/s].
    pub touch_speed: f64,
    /// Largest closing speed since touch or recompression, at the last accepted step [m/s].
    pub impact_speed: f64,
}

/// b with ln((1 + b)/(1 - e b)) = b (1 + e), 0 < b < 1/e; zero for e = 1.
pub fn exact_damping(e: f64) -> f64 {
    thread_local! {
        /// The last answer: pairs of the same materials ask again and again.
        static LAST: std::cell::Cell<(f64, f64)> = const { std::cell::Cell::new((1.0, 0.0)) };
    }
    let (asked, answer) = LAST.get();
    if asked == e {
        return answer;
    }
    let b = find_damping(e);
    LAST.set((e, b));
    b
}

fn find_damping(e: f64) -> f64 {
    if e >= 1.0 {
        return 0.0;
    }
    let e = e.max(RESTITUTION_MIN);
    // g rises from 0 at b = 0 through its only other zero to +infinity at 1/e
    let g = |b: f64| libm::log1p(b) - libm::log1p(-e * b) - b * (1.0 + e);
    let high = (1.0 - 1e-15) / e;
    let mut low = 1.5 * (1.0 - e);
    while g(low) > 0.0 {
        low *= 0.5;
    }
    tippe_numerics::root::solve_increasing(low, high, g)
}

/// Restitution that a Hertz contact with damping b = d v0 returns: -b e - ln(1 - b e) = b - ln(1 + b).
pub fn returned_restitution(b: f64) -> f64 {
    if b <= 0.0 {
        return 1.0;
    }
    let right = b - libm::log1p(b);
    tippe_numerics::root::solve_increasing(0.0, (1.0 - 1e-16) / b, |e| -b * e - libm::log1p(-b * e) - right)
}

/// reg(v, s) of Neumayr and Otter 2019, eq. (4): |v| above s, a C2 curve with minimum s/3 below.
pub fn regularised(v: f64, s: f64) -> f64 {
    let a = v.abs();
    if a >= s { a } else { a * a / s * (1.0 - a / (3.0 * s)) + s / 3.0 }
}

impl NormalLaw {
    /// True when the law's damping depends on a remembered speed.
    pub fn has_memory(&self) -> bool {
        match self {
            NormalLaw::Hertz { restitution, .. } | NormalLaw::Foundation { restitution, .. } => *restitution < 1.0,
            NormalLaw::Custom(_) => true,
            _ => false,
        }
    }

    /// True when the force needs the closing speed at first touch.
    pub fn needs_touch_speed(&self) -> bool {
        matches!(self, NormalLaw::Modia3d { .. })
    }

    /// True when the force or its slope jumps where the gap vanishes.
    pub fn jumps_at_touch(&self) -> bool {
        match self {
            NormalLaw::Bardaro { .. } | NormalLaw::Linear { .. } | NormalLaw::Custom(_) => true,
            NormalLaw::CollisionLib { exponent, .. } => *exponent <= 1.0,
            NormalLaw::Modia3d { linear, .. } => *linear,
            _ => false,
        }
    }

    /// True when the law loses nothing and knows its energy in closed form.
    pub fn is_conservative(&self) -> bool {
        match self {
            NormalLaw::Hertz { restitution, .. } | NormalLaw::Foundation { restitution, .. } => *restitution >= 1.0,
            _ => false,
        }
    }

    /// True when the law reads overlap volume and extent.
    pub fn needs_volume(&self) -> bool {
        matches!(self, NormalLaw::Volume { .. } | NormalLaw::Bardaro { .. } | NormalLaw::Foundation { .. })
    }

    /// The law over a patch: Hertz needs curvature, and means the elastic foundation there.
    pub fn on_patch(&self) -> NormalLaw {
        match *self {
            NormalLaw::Hertz { restitution, blend_speed } => NormalLaw::Foundation { restitution, blend_speed },
            _ => self.clone(),
        }
    }

    /// c = dN/dv at this elastic force [N s/m]; `d` is the damping of the exact laws [s/m].
    pub fn damping_rate(&self, elastic: f64, d: f64) -> f64 {
        match self {
            NormalLaw::Hertz { .. } | NormalLaw::Foundation { .. } => elastic * d,
            NormalLaw::Volume { damping } => elastic * damping,
            NormalLaw::Bardaro { damping, .. } | NormalLaw::Linear { damping, .. } => *damping,
            NormalLaw::Modia3d { .. } | NormalLaw::CollisionLib { .. } | NormalLaw::Custom(_) => 0.0,
        }
    }

    /// Force at the given geometry; `memory` as of the last accepted step.
    #[inline]
    pub fn force(
        &self,
        geometry: &NormalGeometry,
        closing_speed: f64,
        memory: &NormalMemory,
        constants: &NormalConstants,
    ) -> NormalForce {
        let depth = geometry.depth;
        match self {
            NormalLaw::Hertz { .. } => {
                let K = 4.0 / 3.0 * constants.modulus * geometry.radius.sqrt();
                let elastic = K * depth * depth.sqrt();
                let d = constants.damping(memory.impact_speed.max(closing_speed));
                clamped(elastic, elastic * d * closing_speed, 0.4 * elastic * depth)
            }
            NormalLaw::Foundation { .. } => {
                // N = (E*/L) integral of depth, energy (E*/L) integral of depth^2/2 = N times the depth of the centroid
                let elastic = constants.modulus / geometry.layer * geometry.volume;
                let d = constants.damping(memory.impact_speed.max(closing_speed));
                clamped(elastic, elastic * d * closing_speed, elastic * geometry.sink)
            }
            NormalLaw::Modia3d { restitution, blend_speed, restitution_min, damping_max, linear } => {
                let (K, power, energy) = if *linear {
                    (constants.modulus, depth, 0.5)
                } else {
                    (4.0 / 3.0 * constants.modulus * geometry.radius.sqrt(), depth * depth.sqrt(), 0.4)
                };
                let d = modia3d_damping(*restitution, memory.touch_speed, *blend_speed, *restitution_min, *damping_max);
                let elastic = K * power;
                clamped(elastic, elastic * d * closing_speed, energy * elastic * depth)
            }
            NormalLaw::CollisionLib { stiffness, exponent, damping } => {
                let power = if *exponent == 1.5 { depth * depth.sqrt() } else { libm::pow(depth, *exponent) };
                let elastic = stiffness * power;
                // not `clamp`: a force without a value has to stay one, and is told as a failure of the run
                let damper = (damping * closing_speed).min(elastic).max(-elastic);
                NormalForce { elastic, damping: damper, energy: elastic * depth / (exponent + 1.0) }
            }
            NormalLaw::Volume { damping } => {
                let k = 4.0 / 3.0 / std::f64::consts::PI.sqrt();
                let elastic = constants.modulus * k * (geometry.volume * geometry.extent).max(0.0).sqrt();
                clamped(elastic, elastic * damping * closing_speed, f64::NAN)
            }
            NormalLaw::Bardaro { stiffness, damping } => {
                let elastic = stiffness * (geometry.volume * geometry.extent).max(0.0).sqrt();
                NormalForce { elastic, damping: damping * closing_speed, energy: f64::NAN }
            }
            NormalLaw::Linear { stiffness, damping } => {
                let elastic = stiffness * depth;
                clamped(elastic, damping * closing_speed, 0.5 * elastic * depth)
            }
            NormalLaw::Custom(law) => {
                let input = LawInput {
                    depth,
                    closing_speed,
                    impact_speed: memory.impact_speed.max(closing_speed).max(constants.rest_speed),
                    radius: geometry.radius,
                    modulus: constants.modulus,
                    friction: constants.friction,
                    mass: constants.mass,
                    slip_speed: 0.0,
                };
                let force = law.force(&input);
                clamped(force.elastic, force.damping, force.energy)
            }
        }
    }
}

/// N = max(0, elastic + damping): nothing pulls.
fn clamped(elastic: f64, damping: f64, energy: f64) -> NormalForce {
    NormalForce { elastic, damping: damping.max(-elastic), energy }
}

/// Neumayr and Otter 2019, eq. (6), (7), (10), with cor_reg kept at or above cor_min: their (7) falls to zero with speed where
/// cor < cor_min, as for billiard tables with cor = 0.
pub fn modia3d_damping(cor: f64, touch_speed: f64, v_min: f64, cor_min: f64, d_max: f64) -> f64 {
    let v = touch_speed.abs();
    let cor_reg = (cor + (cor_min - cor) * libm::exp(libm::log(0.01) * v / v_min)).max(cor_min);
    (8.0 * (1.0 - cor_reg) / (5.0 * cor_reg * regularised(v, v_min))).min(d_max)
}

impl NormalConstants {
    /// Constants of a pair: reduced mass [kg], effective modulus times k_red [Pa], static depth [m], gravity [m/s^2],
    /// exponent of the force [-].
    pub fn new(
        law: &NormalLaw,
        mass: f64,
        modulus: f64,
        static_depth: f64,
        gravity: f64,
        friction: f64,
        exponent: f64,
    ) -> Self {
        let mut constants = NormalConstants { mass, modulus, static_depth, friction, ..Default::default() };
        if let NormalLaw::Hertz { restitution, blend_speed } | NormalLaw::Foundation { restitution, blend_speed } = law
        {
            let e = if *restitution < 1.0 { restitution.max(RESTITUTION_MIN) } else { 1.0 };
            constants.restitution = e;
            constants.b = exact_damping(e);
            let resting = gravity > 0.0 && static_depth > 0.0;
            constants.rest_speed = if resting {
                (2.0 / (exponent + 1.0) * gravity * static_depth).sqrt()
            } else {
                REST_FRACTION * blend_speed
            };
            constants.critical = 2.0 * (2.0 * exponent / (exponent + 1.0)).sqrt() / constants.rest_speed;
            constants.blend_speed = blend_speed.max(2.0 * constants.rest_speed);
        }
        if matches!(law, NormalLaw::Custom(_)) && gravity > 0.0 && static_depth > 0.0 {
            constants.rest_speed = (2.0 / (exponent + 1.0) * gravity * static_depth).sqrt();
            constants.critical = 2.0 * (exponent / (gravity * static_depth)).sqrt();
        }
        if let NormalLaw::Modia3d { restitution, .. } = law {
            constants.restitution = *restitution;
        }
        constants
    }

    /// d(v) [s/m] of the Hertz law for the largest closing speed v [m/s].
    #[inline]
    pub fn damping(&self, speed: f64) -> f64 {
        if self.b == 0.0 {
            return 0.0;
        }
        let v = speed.max(self.rest_speed);
        let b = self.rebound.at(v).map_or(self.b, exact_damping);
        if v >= self.blend_speed {
            return b / v;
        }
        let s = (v - self.rest_speed) / (self.blend_speed - self.rest_speed);
        let S = s * s * (3.0 - 2.0 * s);
        let b_rest = (self.critical * v).min(1.0 / RESTITUTION_MIN);
        (b + (b_rest - b) * (1.0 - S)) / v
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_damping_matches_the_table() {
        // roots of ln((1 + b)/(1 - e b)) = b (1 + e) in 25 digits
        for (e, b) in [(0.9, 0.16648195), (0.7, 0.63482828), (0.5, 1.43275053), (0.3, 3.08708198), (0.1, 9.99815940)] {
            assert!((exact_damping(e) - b).abs() < 1e-8, "{e} {}", exact_damping(e));
            assert!((returned_restitution(exact_damping(e)) - e).abs() < 1e-12);
        }
        assert_eq!(exact_damping(1.0), 0.0);
    }

    #[test]
    fn flores_damping_returns_less_than_asked() {
        // b = 8 (1 - e)/(5 e) with e = 0.7 returns the root of -b e - ln(1 - b e) = b - ln(1 + b)
        assert!((returned_restitution(8.0 * 0.3 / (5.0 * 0.7)) - 0.6831841997306839).abs() < 1e-12);
    }

    #[test]
    fn damping_is_continuous_at_the_blend() {
        let law = NormalLaw::Hertz { restitution: 0.3, blend_speed: 0.01 };
        let c = NormalConstants::new(&law, 0.2, 4e9, 1.6e-6, 9.81, 0.5, 1.5);
        let below = c.damping(c.blend_speed * (1.0 - 1e-9));
        let above = c.damping(c.blend_speed * (1.0 + 1e-9));
        assert!((below / above - 1.0).abs() < 1e-6);
        assert!((c.damping(0.0) - c.critical).abs() < 1e-9 * c.critical);
    }
}
