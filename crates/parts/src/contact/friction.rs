//! Friction in the contact plane: sliding, spin about the normal, rolling resistance.
//!
//! Default (`Mindlin`): elastic stick. Springs between the surfaces carry the tangential force f and the spin torque M,
//! rolling resistance M_r is a third:
//!   stick:  f' = -k_t v_t,  force f - c_t v_t;   M' = -k_s w_n;   M_r' = -k_r w_r      (+ f k_t'/k_t while depth shrinks)
//!   slip:   f = -mu N v_t/V,  M = -mu N b^2 w_n/V,  V^2 = v_t^2 + (b w_n)^2             (Coulomb-Contensou)
//!   limit:  (f/mu N)^2 + (M/(mu N b))^2 = 1,  and |M_r| = mu_r R N
//! k_t = kappa k_n with kappa = 4 G*/E* (Mindlin 1949), k_n the tangent stiffness of the normal law, k_s = k_t a^2, k_r = k_t R^2;
//! a the Hertz patch radius sqrt(R depth), b = 3 pi a/16 (Leine, Glocker 2003). c/k is that of the normal law, depth d/n.
//! On a flat patch, a the radius of a disc with its area and a_0 that of the whole face, k_t = k_0 a/a_0 with k_0 of a rigid
//! punch, k_s = k_t a^2, b = 2/3 a. There the state is f_0 = f sqrt(k_0/k_t), a spring of constant stiffness behind a gear:
//! f_0' = -sqrt(k_0 k_t) v_t and f = f_0 sqrt(k_t/k_0), so that nothing is lost or gained when the area changes; M likewise.
//! Slip ends when V falls below min(1, 2 zeta) mu N/sqrt(k_t m_t): there the spring can be set so that the force is continuous
//! and falls. At rest nothing creeps. While k_t grows f stays, while it shrinks f shrinks with it: both lose
//! |k_t'| f^2/(2 k_t^2), which is booked. Between the two, where a contact neither closes nor opens, there is no kink: with g = k_t'/k_t
//!   f' = ... + f (g - s)/2,   lost s f^2/(2 k_t),   s = sqrt(g^2 + e^2) - e,   e a thousandth of the springs' rate k/c.
//! Springs that are asked for more than the limit give way before slip begins: with L >= 1 the force over its limit,
//!   force (f - c_t v_t)/L,   f' = -k_t v_t - r f,   M' = -k_s w_n - r (k_s/(k_t b^2)) M,   r = 4 omega_t (L - 1)
//! which is Coulomb's force, turning into the direction of slip within the length mu N/k_t. Slow slip (a load that creeps
//! over the limit, a normal force that falls) stays in this regime; slip proper begins at L = 1.3, above the speed at which
//! it ends. The spin torque is held to mu N b before L is taken: under a corner b is so small that any spin is too fast for
//! its spring, and that alone is no slip.
//!
//! Beside any of them spin may be damped (Elmqvist and others 2015, 6.2.3): M_r = -A N c_r w_n, A the area over which they touch.
//!
//! `Brush` has bristles, springs that give way as they slip: [`brush`]. The other forms are published ones, by name (docs/theory/sources.md); they have no states
//! and all of them creep.

pub mod brush;

use super::normal::regularised;
use libm::hypot;
use serde::{Deserialize, Serialize};
use tippe_geometry::{Mat3, Vec3};

/// Smallest tangential damping, as b of the normal law: without it a conservative contact would never come to stick.
const TANGENTIAL_B_MIN: f64 = 0.1;
/// Slip speed over v_G within which CollisionLib's force is made continuous [-].
const COLLISIONLIB_STEEP: f64 = 1e-2;
/// Peak of Nassauer's curve over mu_s, at most [-].
const NASSAUER_PEAK: f64 = 1.01;
/// Share of the largest speed at which slip may end that is used.
const STICK_SAFETY: f64 = 0.9;
/// Rate at which overloaded springs give way, over their natural frequency and the excess of the load [-].
const YIELD_RATE: f64 = 4.0;
/// Load of the springs over its limit at which slip begins [-].
const SLIP_LOAD: f64 = 1.3;
/// Speed b w_n over mu N/sqrt(k_t m_t) at which spin alone begins to slip [-].
const SPIN_SPEED: f64 = 2.0;
/// Rate at which stiffness grows that counts as none, over the springs' own k/c [-].
const STEADY: f64 = 1e-3;
/// Springs of flat patches smaller than this share of the face get no softer [-].
const SMALLEST_PATCH: f64 = 1e-4;
/// b over the radius of a Hertz patch: 3 pi/16 (Leine, Glocker 2003) [-].
pub const CONTENSOU: f64 = 3.0 * std::f64::consts::PI / 16.0;
/// The spin spring gives way faster than the tangential one by no more than this [-]; for a Hertz patch it is 2.9.
const SPIN_YIELD: f64 = 3.0;

/// The friction laws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum FrictionLaw {
    /// Frictionless.
    None,
    /// Elastic stick, Coulomb-Contensou slip.
    Mindlin,
    /// Neumayr and Otter 2019, eq. (3c), (3d), (4): mu N v/reg(v, v_min), and mu_r on the whole relative rotation.
    Regularised {
        /// v_min [m/s].
        slip_speed: f64,
        /// omega_min [rad/s].
        spin_speed: f64,
    },
    /// Bardaro and others 2017, section 3.1: mu F_elastic v/sqrt(v^2 + v_eps^2).
    Sqrt {
        /// v_eps [m/s].
        slip_speed: f64,
    },
    /// Elmqvist and others 2015, section 6.2.2: a curve through mu_s near v_s that falls to mu_k.
    Nassauer {
        /// v_s [m/s].
        slip_speed: f64,
    },
    /// Hofmann and others 2014, eq. 10-13: mu_s below v_G, mu_k above, |f| <= F_max; the direction is made continuous over v_G/1000.
    CollisionLib {
        /// v_G [m/s].
        slip_speed: f64,
        /// F_max [N].
        force_max: f64,
    },
    /// Coulomb-Contensou: mu N v/sqrt(v^2 + (b w_n)^2 + v_eps^2).
    Contensou {
        /// v_eps [m/s].
        slip_speed: f64,
    },
    /// A film: v/s up to mu N.
    Viscous {
        /// s: slip speed per force [m/(N s)].
        slip: f64,
    },
    /// Bristles that bend and slip off one by one: Dahl 1968, Canudas de Wit and others 1995, Deur and others 2004.
    Brush {
        /// sigma: stiffness of the bristles over the elastic normal force [1/m].
        stiffness: f64,
        /// v_s [m/s].
        slip_speed: f64,
    },
}

/// Coefficients of one pair.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrictionConstants {
    /// mu (kinetic) [-].
    pub mu: f64,
    /// mu_s (static) [-], where the law has one.
    pub mu_static: f64,
    /// mu_r: rolling resistance torque over radius and normal force [-].
    pub rolling: f64,
    /// Spin torque over normal force and effective radius [-]; zero: from the patch.
    pub spin: f64,
    /// Patch radius a [m]; zero: from Hertz.
    pub patch_radius: f64,
    /// c_r: torque against spin over normal force, area and spin [s/m].
    pub spin_damping: f64,
    /// kappa = 4 G*/E* [-].
    pub kappa: f64,
    /// Normal stiffness of a flat patch, constant [N/m]; zero for point contacts.
    pub patch_stiffness: f64,
    /// Radius of the flat patch that stiffness belongs to [m].
    pub patch_size: f64,
    /// Effective mass at the contact point, tangential [kg].
    pub mass: f64,
    /// Effective moment of inertia [kg m^2].
    pub inertia: f64,
}

/// One contact as friction sees it; force and velocities are those of body 2 relative to body 1.
#[derive(Clone, Copy, Debug)]
pub struct FrictionInput {
    /// Unit normal from 1 to 2.
    pub normal: Vec3,
    /// Normal force [N].
    pub N: f64,
    /// Elastic part of the normal force [N].
    pub elastic: f64,
    /// Depth [m].
    pub depth: f64,
    /// Closing speed [m/s].
    pub closing_speed: f64,
    /// Effective radius R [m].
    pub radius: f64,
    /// Radius of the disc with the area of a flat patch [m]; zero for point contacts.
    pub patch_radius: f64,
    /// Mean distance of a flat patch from its middle [m], see [`patch_lever`].
    pub lever: f64,
    /// A: area over which they touch [m^2].
    pub area: f64,
    /// Tangent stiffness over secant stiffness of the normal law: 1.5 for Hertz, 1 for linear [-].
    pub exponent: f64,
    /// d of the normal law [s/m].
    pub damping: f64,
    /// Speed that d refers to [m/s].
    pub damping_speed: f64,
    /// Tangential velocity of 2 relative to 1 at the contact point [m/s].
    pub v_t: Vec3,
    /// Angular velocity of 2 relative to 1 [rad/s].
    pub omega: Vec3,
}

/// Springs of an elastic-stick contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Springs {
    /// Tangential spring force on 2 [N]; on a flat patch that of the spring behind its gear, and so all three; of bristles that over the elastic normal force.
    pub f: Vec3,
    /// Spin torque on 2 about the normal [N m].
    pub spin: f64,
    /// Rolling torque on 2 [N m].
    pub roll: Vec3,
}

/// Discrete modes of an elastic-stick contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Modes {
    /// The surfaces slide on each other.
    pub slipping: bool,
    /// Rolling resistance is at its limit.
    pub rolling: bool,
}

/// The answer: what acts on body 2 at the contact point, what it costs, how the springs change.
#[derive(Clone, Copy, Debug, Default)]
pub struct Friction {
    /// Tangential force on 2 [N].
    pub force: Vec3,
    /// Torque on 2 about the contact point [N m].
    pub torque: Vec3,
    /// Power lost by sliding [W].
    pub sliding: f64,
    /// Power lost by spin [W].
    pub spin: f64,
    /// Power lost by rolling [W].
    pub rolling: f64,
    /// Energy in the springs [J].
    pub energy: f64,
    /// Rates of the springs [N/s], [N m/s].
    pub rates: Springs,
    /// Tangential force over the state of its spring [-].
    pub gear: f64,
    /// The springs of a sticking contact are beyond their limit and give way.
    pub yields: bool,
    /// Rises through zero where stick turns to slip or slip to stick [-].
    pub slip_margin: f64,
    /// Rises through zero where rolling resistance reaches or leaves its limit [-].
    pub roll_margin: f64,
}

impl FrictionLaw {
    /// True when the law has springs as states.
    pub fn has_springs(&self) -> bool {
        matches!(self, FrictionLaw::Mindlin | FrictionLaw::Brush { .. })
    }

    /// True when its springs hold or let go as a whole, which the pair remembers.
    pub fn lets_go(&self) -> bool {
        matches!(self, FrictionLaw::Mindlin)
    }

    /// Force of the laws without springs at a slip speed V [m/s] under the normal force N [N], and the slip speed up to which it rises
    /// steeply [m/s]; none of those with springs. V has the spin in it where [`FrictionLaw::rubs_by_spin`].
    pub fn sliding_force(&self, c: &FrictionConstants, N: f64, V: f64) -> Option<(f64, f64)> {
        let force = match *self {
            FrictionLaw::None | FrictionLaw::Mindlin | FrictionLaw::Brush { .. } => return None,
            FrictionLaw::Regularised { slip_speed, .. } => (c.mu * N * V / regularised(V, slip_speed), slip_speed),
            FrictionLaw::Sqrt { slip_speed } | FrictionLaw::Contensou { slip_speed } => {
                (c.mu * N * V / (V * V + slip_speed * slip_speed).sqrt(), slip_speed)
            }
            FrictionLaw::Nassauer { slip_speed } => (nassauer_coefficient(c, V / slip_speed) * N, slip_speed),
            FrictionLaw::CollisionLib { slip_speed, force_max } => {
                let mu = if V < slip_speed { c.mu_static } else { c.mu };
                let steep = COLLISIONLIB_STEEP * slip_speed;
                ((mu * N).min(force_max) * V / hypot(V, steep), steep)
            }
            FrictionLaw::Viscous { slip } => ((V / slip).min(c.mu * N), c.mu * N * slip),
        };
        Some(force)
    }

    /// Largest force over the normal force that the law has at any slip speed [-].
    pub fn largest_coefficient(&self, c: &FrictionConstants) -> f64 {
        match self {
            FrictionLaw::None => 0.0,
            FrictionLaw::Nassauer { .. } => NASSAUER_PEAK * c.mu_static.max(c.mu),
            FrictionLaw::CollisionLib { .. } | FrictionLaw::Mindlin | FrictionLaw::Brush { .. } => {
                c.mu_static.max(c.mu)
            }
            _ => c.mu,
        }
    }

    /// True when sliding and spin share one friction.
    pub fn rubs_by_spin(&self) -> bool {
        matches!(self, FrictionLaw::Mindlin | FrictionLaw::Contensou { .. })
    }

    /// Friction at one contact; `springs` and `modes` only matter to laws with springs.
    pub fn evaluate(&self, c: &FrictionConstants, x: &FrictionInput, springs: &Springs, modes: Modes) -> Friction {
        let mut friction = self.rub(c, x, springs, modes);
        if c.spin_damping > 0.0 {
            let w_n = x.omega.dot(x.normal);
            let M_r = damped_spin(c, x.area, x.N, w_n);
            friction.torque += M_r * x.normal;
            friction.spin -= M_r * w_n;
        }
        friction
    }

    fn rub(&self, c: &FrictionConstants, x: &FrictionInput, springs: &Springs, modes: Modes) -> Friction {
        match *self {
            FrictionLaw::None => rolling_regularised(c, x, 0.01),
            FrictionLaw::Mindlin => mindlin(c, x, springs, modes),
            FrictionLaw::Brush { stiffness, slip_speed } => {
                brush::friction(c, x, springs, modes, &brush::Bristles { stiffness, slip_speed })
            }
            FrictionLaw::Regularised { slip_speed, spin_speed } => {
                let v = x.v_t.length();
                let w = x.omega.length();
                let force = -c.mu * x.N * x.v_t / regularised(v, slip_speed);
                let torque = -c.rolling * x.radius * x.N * x.omega / regularised(w, spin_speed);
                let along = x.normal.dot(x.omega);
                let spin = -torque.dot(x.normal) * along;
                Friction {
                    force,
                    torque,
                    sliding: -force.dot(x.v_t),
                    spin,
                    rolling: -torque.dot(x.omega) - spin,
                    ..Friction::default()
                }
            }
            FrictionLaw::Sqrt { slip_speed } => {
                let force = -c.mu * x.elastic * x.v_t / (x.v_t.length_squared() + slip_speed * slip_speed).sqrt();
                sliding(c, x, force)
            }
            FrictionLaw::Nassauer { slip_speed } => {
                let v = x.v_t.length();
                if v == 0.0 {
                    return rolling_regularised(c, x, 0.01);
                }
                sliding(c, x, -nassauer_coefficient(c, v / slip_speed) * x.N / v * x.v_t)
            }
            FrictionLaw::CollisionLib { slip_speed, force_max } => {
                let v = x.v_t.length();
                let mu = if v < slip_speed { c.mu_static } else { c.mu };
                let limit = (mu * x.N).min(force_max);
                sliding(c, x, -limit * x.v_t / hypot(v, COLLISIONLIB_STEEP * slip_speed))
            }
            FrictionLaw::Viscous { slip } => {
                let v = x.v_t.length();
                let limit = c.mu * x.N;
                sliding(c, x, if v < limit * slip { -x.v_t / slip } else { -limit * x.v_t / v.max(f64::MIN_POSITIVE) })
            }
            FrictionLaw::Contensou { slip_speed } => {
                let b = contensou_radius(c, x);
                let w_n = x.omega.dot(x.normal);
                let V = (x.v_t.length_squared() + b * b * w_n * w_n + slip_speed * slip_speed).sqrt();
                let mut friction = sliding(c, x, -c.mu * x.N / V * x.v_t);
                let M = -c.mu * x.N * b * b * w_n / V;
                friction.torque += M * x.normal;
                friction.spin -= M * w_n;
                friction
            }
        }
    }
}

/// Elmqvist and others 2015, 6.2.2: (2 mus* - muk) x^2/(x^4 + 1) + muk - muk/(x^2 + 1), mus* = mus (1 - 0.09 (muk/mus)^4).
pub fn nassauer_coefficient(c: &FrictionConstants, x: f64) -> f64 {
    let ratio = if c.mu_static > 0.0 { c.mu / c.mu_static } else { 0.0 };
    let mus = c.mu_static * (1.0 - 0.09 * ratio * ratio * ratio * ratio);
    let x2 = x * x;
    (2.0 * mus - c.mu) * x2 / (x2 * x2 + 1.0) + c.mu - c.mu / (x2 + 1.0)
}

/// Torque on 2 about the normal that damps its spin w_n relative to 1 [N m]: M_r = -A F c_r w_n, Elmqvist and others 2015, 6.2.3.
pub fn damped_spin(c: &FrictionConstants, A: f64, F: f64, w_n: f64) -> f64 {
    -A * F.max(0.0) * c.spin_damping * w_n
}

/// b of the limit surface [m].
fn contensou_radius(c: &FrictionConstants, x: &FrictionInput) -> f64 {
    if c.spin > 0.0 && c.mu > 0.0 {
        return c.spin * x.radius / c.mu;
    }
    if c.patch_radius == 0.0 && x.patch_radius > 0.0 {
        return x.lever;
    }
    let a = if c.patch_radius > 0.0 { c.patch_radius } else { (x.radius * x.depth).sqrt() };
    CONTENSOU * a
}

/// Mean over square of the root mean square distance of a patch of area A [m^2] from its middle under even pressure [-], by the second moment C of its points
/// [m^2] with the trace T and the product D of its two principal values:
///   gamma = 1 - (1 - gamma_0) phi^2,   gamma_0 = 0.75 + 0.135 (4 D/T^2),   phi = A/(12 sqrt D) <= 1.
/// gamma_0 is that of a full rectangle (a line 3/4, a square 0.878; a disc 8/9), phi tells what part of it the patch fills: about (1 - rho^2)/(1 + rho^2) of a ring,
/// whose gamma goes to 1. Within 1.2 % of the closed forms (tests).
pub fn patch_gamma(area: f64, C: &Mat3) -> f64 {
    let square = *C * *C;
    let T = C.x_axis.x + C.y_axis.y + C.z_axis.z;
    let D = 0.5 * (T * T - (square.x_axis.x + square.y_axis.y + square.z_axis.z)).max(0.0);
    let full = 0.75 + 0.135 * (4.0 * D / (T * T)).min(1.0);
    let fills = (area / (12.0 * D.sqrt())).min(1.0);
    1.0 - (1.0 - full) * fills * fills
}

/// b: mean distance of a patch from its middle under even pressure [m]; a disc has the least that its area allows.
pub fn patch_lever(area: f64, C: &Mat3) -> f64 {
    let T = C.x_axis.x + C.y_axis.y + C.z_axis.z;
    let least = 2.0 / 3.0 * (area / std::f64::consts::PI).sqrt();
    if T > 0.0 { (patch_gamma(area, C) * T).sqrt().max(least) } else { least }
}

/// A sliding force, with regularised rolling resistance beside it.
fn sliding(c: &FrictionConstants, x: &FrictionInput, force: Vec3) -> Friction {
    let mut friction = rolling_regularised(c, x, 0.01);
    friction.force = force;
    friction.sliding = -force.dot(x.v_t);
    friction
}

/// Rolling resistance for the laws without springs, regularised over `w_min` [rad/s].
fn rolling_regularised(c: &FrictionConstants, x: &FrictionInput, w_min: f64) -> Friction {
    if c.rolling == 0.0 {
        return Friction::default();
    }
    let w_r = x.omega - x.normal * x.normal.dot(x.omega);
    let torque = -c.rolling * x.radius * x.N / regularised(w_r.length(), w_min) * w_r;
    Friction { torque, rolling: -torque.dot(w_r), ..Friction::default() }
}

/// Stiffnesses and dampings of the springs at one instant.
struct Stiffness {
    k_t: f64,
    k_s: f64,
    k_r: f64,
    /// c/k of all springs [s].
    relaxation: f64,
    /// Force and torque over their states: sqrt(k_t/k_0) (and of k_r), sqrt(k_s/(k_0 a_0^2)); one for point contacts [-].
    gear: f64,
    spin_gear: f64,
    /// Rate at which the springs of k_t and k_r follow their stiffness; those of k_s three times it (k_t ~ depth^(1/2), k_s ~
    /// depth^(3/2)) [1/s].
    shrink: f64,
    /// Share of their energy that is lost by it, per time; three times that for k_s [1/s].
    fade: f64,
    b: f64,
}

fn stiffness(c: &FrictionConstants, x: &FrictionInput) -> Stiffness {
    let d = x.damping.max(TANGENTIAL_B_MIN / x.damping_speed);
    if c.patch_stiffness > 0.0 {
        let a = x.patch_radius.clamp(SMALLEST_PATCH * c.patch_size, c.patch_size);
        let gear = (a / c.patch_size).sqrt();
        let k_t = c.kappa * c.patch_stiffness * gear * gear;
        return Stiffness {
            k_t,
            k_s: k_t * a * a,
            k_r: k_t * x.radius * x.radius,
            // c_t = kappa dN/dv as everywhere
            relaxation: c.kappa * x.elastic * d / k_t,
            gear,
            spin_gear: gear * gear * gear,
            shrink: 0.0,
            fade: 0.0,
            b: contensou_radius(c, x),
        };
    }
    let k_t = c.kappa * x.exponent * x.elastic / x.depth;
    let a2 = if c.patch_radius > 0.0 { c.patch_radius * c.patch_radius } else { x.radius * x.depth };
    let relaxation = x.depth * d / x.exponent;
    let g = (x.exponent - 1.0) * x.closing_speed / x.depth;
    let e = STEADY / relaxation;
    let s = (g * g + e * e).sqrt() - e;
    Stiffness {
        k_t,
        k_s: k_t * a2,
        k_r: k_t * x.radius * x.radius,
        relaxation,
        gear: 1.0,
        spin_gear: 1.0,
        shrink: 0.5 * (g - s),
        fade: s,
        b: contensou_radius(c, x),
    }
}

/// A vector of the old contact plane in the plane of `n`, at the same length: springs turn with the normal.
fn into_plane(f: Vec3, n: Vec3) -> Vec3 {
    let projected = f - n * n.dot(f);
    let length2 = projected.length_squared();
    // below this the squares lose their digits
    if length2 > 1e-280 { projected * (f.length_squared() / length2).sqrt() } else { projected }
}

fn mindlin(c: &FrictionConstants, x: &FrictionInput, springs: &Springs, modes: Modes) -> Friction {
    if x.N <= 0.0 || x.elastic <= 0.0 {
        // springs that nothing holds any more have to let go
        let margin = |is_free: bool| if is_free { -1.0 } else { 1.0 };
        let slip_margin = margin(modes.slipping || (springs.f == Vec3::ZERO && springs.spin == 0.0));
        let roll_margin = margin(modes.rolling || springs.roll == Vec3::ZERO);
        return Friction { slip_margin, roll_margin, ..Friction::default() };
    }
    let k = stiffness(c, x);
    let n = x.normal;
    let w_n = x.omega.dot(n);
    let mut out = Friction { slip_margin: -1.0, roll_margin: -1.0, ..Friction::default() };

    let limit = c.mu * x.N;
    if limit > 0.0 {
        if modes.slipping {
            let V = (x.v_t.length_squared() + k.b * k.b * w_n * w_n).sqrt();
            let end = stick_speed(&k, limit, c.mass);
            // the direction stays defined when V passes through zero between two stages of a step
            let scale = limit / V.max(0.1 * end);
            out.force = -scale * x.v_t;
            let M = -scale * k.b * k.b * w_n;
            out.torque = M * n;
            out.sliding = -out.force.dot(x.v_t);
            out.spin = -M * w_n;
            out.slip_margin = 1.0 - V / end;
        } else {
            let (f_s, M_s) = (k.gear * into_plane(springs.f, n), k.spin_gear * springs.spin);
            let (mut T, mut M) = (f_s - k.k_t * k.relaxation * x.v_t, M_s - k.k_s * k.relaxation * w_n);
            let limit = limit * (c.mu_static / c.mu).max(1.0);
            let (mut give, mut give_spin, mut spin_margin) = (0.0, 0.0, -1.0);
            let share = || (k.k_s / (k.k_t * k.b * k.b)).min(SPIN_YIELD);
            if M.abs() > limit * k.b {
                let load = M.abs() / (limit * k.b);
                M /= load;
                give_spin = share() * yield_rate(k.k_t, c.mass, load);
                let speed = k.b * w_n.abs() * (k.k_t * c.mass).sqrt() / limit;
                spin_margin = load.min(speed / SPIN_SPEED) - 1.0;
                out.yields = true;
            }
            let load2 = (T.length_squared() + M * M / (k.b * k.b)) / (limit * limit);
            if load2 > 1.0 {
                let load = load2.sqrt();
                T /= load;
                M /= load;
                give = yield_rate(k.k_t, c.mass, load);
                give_spin += share() * give;
                out.yields = true;
            }
            out.slip_margin = spin_margin.max(load2 / (SLIP_LOAD * SLIP_LOAD) - 1.0);
            out.force = T;
            out.torque = M * n;
            let (f2, s2) = (f_s.length_squared(), M_s * M_s);
            // power taken from the bodies less what the springs keep of it
            out.sliding = (f_s - T).dot(x.v_t) + (0.5 * k.fade + give) * f2 / k.k_t;
            out.spin = (M_s - M) * w_n + (1.5 * k.fade + give_spin) * s2 / k.k_s;
            out.energy = 0.5 * (f2 / k.k_t + s2 / k.k_s);
            out.rates.f = (-k.k_t * x.v_t + (k.shrink - give) * f_s) * (1.0 / k.gear);
            out.rates.spin = (-k.k_s * w_n + (3.0 * k.shrink - give_spin) * M_s) / k.spin_gear;
            out.gear = k.gear;
        }
    }
    roll(c, x, springs, modes, &k, &mut out);
    out
}

/// Rolling resistance by a spring that slides at mu_r R N.
fn roll(c: &FrictionConstants, x: &FrictionInput, springs: &Springs, modes: Modes, k: &Stiffness, out: &mut Friction) {
    let n = x.normal;
    let w_n = x.omega.dot(n);
    let roll_limit = c.rolling * x.radius * x.N;
    if roll_limit > 0.0 {
        let w_r = x.omega - w_n * n;
        if modes.rolling {
            let W = w_r.length();
            let end = stick_speed(&Stiffness { k_t: k.k_r, ..*k }, roll_limit, c.inertia);
            let M = -roll_limit / W.max(0.1 * end) * w_r;
            out.torque += M;
            out.rolling = -M.dot(w_r);
            out.roll_margin = 1.0 - W / end;
        } else {
            let M_s = k.gear * into_plane(springs.roll, n);
            let mut M = M_s - k.k_r * k.relaxation * w_r;
            let load2 = M.length_squared() / (roll_limit * roll_limit);
            let mut give = 0.0;
            if load2 > 1.0 {
                let load = load2.sqrt();
                M /= load;
                give = yield_rate(k.k_r, c.inertia, load);
            }
            out.torque += M;
            let m2 = M_s.length_squared();
            out.rolling = (M_s - M).dot(w_r) + (0.5 * k.fade + give) * m2 / k.k_r;
            out.energy += 0.5 * m2 / k.k_r;
            out.rates.roll = (-k.k_r * w_r + (k.shrink - give) * M_s) * (1.0 / k.gear);
            out.roll_margin = load2 / (SLIP_LOAD * SLIP_LOAD) - 1.0;
        }
    }
}

/// r: rate at which springs of this load above one give way [1/s]; it need not grow beyond loads at which they slip.
fn yield_rate(k: f64, mass: f64, load: f64) -> f64 {
    YIELD_RATE * (load.min(SLIP_LOAD) - 1.0) * (k / mass).sqrt()
}

/// Largest slip speed at which the spring can take over with a continuous, falling force.
fn stick_speed(k: &Stiffness, limit: f64, mass: f64) -> f64 {
    let omega_t = (k.k_t / mass).sqrt();
    let zeta = 0.5 * k.relaxation * omega_t;
    STICK_SAFETY * (2.0 * zeta).min(1.0) * limit * omega_t / k.k_t
}

/// Springs that continue the force of the slipping (or rolling) contact when it comes to stick: f_s = f + c v.
pub fn springs_at_stick(
    c: &FrictionConstants,
    x: &FrictionInput,
    friction: &Friction,
    old: &Springs,
    slip_ends: bool,
) -> Springs {
    let k = stiffness(c, x);
    let n = x.normal;
    let w_n = x.omega.dot(n);
    let mut springs = *old;
    if slip_ends {
        springs.f = (friction.force + k.k_t * k.relaxation * x.v_t) / k.gear;
        let M = friction.torque.dot(n) - damped_spin(c, x.area, x.N, w_n);
        springs.spin = (M + k.k_s * k.relaxation * w_n) / k.spin_gear;
    } else {
        let roll = friction.torque - n * friction.torque.dot(n);
        springs.roll = (roll + k.k_r * k.relaxation * (x.omega - w_n * n)) / k.gear;
    }
    springs
}

/// Energy of the springs of a sticking contact: (tangential and spin [J], rolling [J]).
pub fn spring_energies(law: &FrictionLaw, c: &FrictionConstants, x: &FrictionInput, springs: &Springs) -> (f64, f64) {
    if x.elastic <= 0.0 && c.patch_stiffness == 0.0 {
        return (0.0, 0.0);
    }
    let k = stiffness(c, x);
    let (f, M, M_r) = (k.gear * springs.f, k.spin_gear * springs.spin, k.gear * springs.roll);
    // a flat face has no radius to roll on
    let rolling = if k.k_r > 0.0 { 0.5 * M_r.length_squared() / k.k_r } else { 0.0 };
    if let FrictionLaw::Brush { stiffness, .. } = law {
        return (brush::energy(springs.f, *stiffness, x.elastic), rolling);
    }
    (0.5 * (f.length_squared() / k.k_t + M * M / k.k_s), rolling)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nassauer_peak_is_the_published_one() {
        // extremum of the curve in 25 digits: mu_s 0.6, mu_k 0.4: peak 0.6023989 at x = 1.143166, value 0.589333 at x = 1
        let c = FrictionConstants { mu: 0.4, mu_static: 0.6, ..Default::default() };
        assert!((nassauer_coefficient(&c, 1.1431660701489632) - 0.6023989091519688).abs() < 1e-12);
        assert!((nassauer_coefficient(&c, 1.0) - 0.5893333333333334).abs() < 1e-12);
    }

    /// Mean distance over the root of T by closed forms: disc 2/3 sqrt 2, line 1/2 sqrt 3, ring 2/3 (1 - rho^3)/(1 - rho^2) over sqrt((1 + rho^2)/2), rectangle
    /// d/3 + a^2/(6 b) ln((b + d)/a) + b^2/(6 a) ln((a + d)/b), d^2 = a^2 + b^2.
    #[test]
    fn levers_of_patches_are_their_mean_distances() {
        let check = |area: f64, x2: f64, y2: f64, mean: f64| {
            let C = Mat3::from_cols(Vec3::X * x2, Vec3::Y * y2, Vec3::ZERO);
            let b = patch_lever(area, &C);
            assert!((b / mean - 1.0).abs() < 0.012, "{area} {x2} {y2}: {b} {mean}");
        };
        let pi = std::f64::consts::PI;
        check(pi, 0.25, 0.25, 2.0 / 3.0);
        for rho in [0.2, 0.5, 0.8, 0.95] {
            let q = 0.25 * (1.0 + rho * rho);
            let mean = 2.0 / 3.0 * (1.0 - rho * rho * rho) / (1.0 - rho * rho);
            check(pi * (1.0 - rho * rho), q, q, mean);
        }
        for (a, b) in [(1.0_f64, 1.0_f64), (1.0, 0.5), (1.0, 0.2), (1.0, 0.04)] {
            let d = libm::hypot(a, b);
            let mean =
                d / 3.0 + a * a / (6.0 * b) * libm::log((b + d) / a) + b * b / (6.0 * a) * libm::log((a + d) / b);
            check(4.0 * a * b, a * a / 3.0, b * b / 3.0, mean);
        }
        // four feet stand as far out as they are
        check(0.04, 0.5, 0.5, 1.0);
    }

    #[test]
    fn stick_and_slip_meet_with_a_continuous_force() {
        let c =
            FrictionConstants { mu: 0.5, kappa: 0.8, mass: 0.05, inertia: 1e-4, rolling: 0.01, ..Default::default() };
        let depth: f64 = 2e-6;
        let elastic = 1e9 * depth * depth.sqrt();
        let mut x = FrictionInput {
            normal: Vec3::Z,
            N: elastic,
            elastic,
            depth,
            closing_speed: 0.0,
            radius: 0.03,
            patch_radius: 0.0,
            area: 0.0,
            lever: 0.0,
            exponent: 1.5,
            damping: 500.0,
            damping_speed: 4e-3,
            v_t: Vec3::X,
            omega: Vec3::new(0.0, 30.0, 0.0),
        };
        let modes = Modes { slipping: true, rolling: true };
        let speed = {
            let f = FrictionLaw::Mindlin.evaluate(&c, &x, &Springs::default(), modes);
            x.v_t.length() / (1.0 - f.slip_margin)
        };
        x.v_t = Vec3::X * speed * (1.0 - 1e-9);
        let before = FrictionLaw::Mindlin.evaluate(&c, &x, &Springs::default(), modes);
        assert!(before.slip_margin >= 0.0);
        let springs = springs_at_stick(&c, &x, &before, &Springs::default(), true);
        let modes = Modes { slipping: false, rolling: true };
        let after = FrictionLaw::Mindlin.evaluate(&c, &x, &springs, modes);
        assert!((after.force - before.force).length() < 1e-12 * before.force.length());
    }
}
