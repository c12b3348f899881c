//! Force elements: springs, bushings, applied forces, and what acts on a joint's coordinate.

use crate::cause::Cause;
use crate::joint::Six;
use crate::kinematics::{Kinematics, rotation_vector};
use crate::network::{Formula, Source};
use serde::{Deserialize, Serialize};
use tippe_geometry::{Mat3, Vec3};

/// A frame on a body, or on the world.
#[derive(Clone, Copy, Debug)]
pub struct Anchor {
    /// The body, by model index.
    pub body: Option<u32>,
    /// Origin in the body's frame c [m].
    pub p: Vec3,
    /// Axes in the body's frame c.
    pub R: Mat3,
}

/// A coordinate of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Mechanism.
    pub mechanism: u32,
    /// Coordinate.
    pub coordinate: u32,
}

/// What an element remembers from step to step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ForceMode {
    /// Friction sticks, a drive holds its speed, a stop is touched.
    pub held: bool,
    /// Sense in which friction slides or a drive pushes: -1 or 1; a stop: which.
    pub sense: f64,
    /// Speed at which a stop was touched [m/s or rad/s].
    pub speed: f64,
}

/// A force element.
#[derive(Clone, Debug)]
pub struct ForceElement {
    /// Name for signals and messages.
    pub name: String,
    /// What it is.
    pub kind: ForceKind,
    /// Free bodies it acts on or reads, ascending.
    pub bodies: Vec<u32>,
}

/// Kinds of force elements.
#[derive(Clone, Debug)]
pub enum ForceKind {
    /// Force (outputs 0 to 2) and torque (3 to 5) of a formula, at a frame. Its own quantities are position, velocity and
    /// angular velocity of the frame.
    Applied {
        /// Where.
        on: Anchor,
        /// Resolved in the frame, not in world.
        local: bool,
        /// What.
        formula: Formula,
    },
    /// Pulls two points together.
    Spring {
        /// The two points.
        ends: [Anchor; 2],
        /// Stiffness [N/m].
        stiffness: f64,
        /// Damping [N s/m].
        damping: f64,
        /// Length without force [m].
        rest: f64,
        /// Tension [N] instead; own quantities are length, stretch, rate.
        law: Option<Formula>,
        /// It can only pull.
        rope: bool,
    },
    /// Six springs and dampers along and about the axes of frame 1.
    Bushing {
        /// The two frames.
        ends: [Anchor; 2],
        /// Stiffness [N/m].
        stiffness: Vec3,
        /// Damping [N s/m].
        damping: Vec3,
        /// Stiffness [N m/rad].
        turning_stiffness: Vec3,
        /// Damping [N m s/rad].
        turning_damping: Vec3,
    },
    /// f = -stiffness (q - rest) - damping q'.
    Coordinate {
        /// Where.
        at: At,
        /// Stiffness [N/m or N m/rad].
        stiffness: f64,
        /// Damping [N s/m or N m s/rad].
        damping: f64,
        /// Coordinate without force [m or rad].
        rest: f64,
    },
    /// Elastic stops: f = k depth^n (1 + b depth'/v), v the speed of impact, b for the restitution wanted.
    Stop {
        /// Where.
        at: At,
        /// Lower and upper [m or rad].
        bounds: [f64; 2],
        /// Stiffness k [N/m^n or N m/rad^n].
        stiffness: f64,
        /// Exponent n [-].
        exponent: f64,
        /// Wanted: speed after over speed before an impact [-].
        restitution: f64,
        /// b of the exact damping [-].
        damping: f64,
    },
    /// A force or torque, limited.
    Torque {
        /// Where.
        at: At,
        /// Its value [N or N m].
        value: Formula,
        /// Largest [N or N m].
        limit: f64,
    },
    /// stiffness (value - q) - damping q', limited.
    Position {
        /// Where.
        at: At,
        /// The coordinate wanted [m or rad].
        value: Formula,
        /// Stiffness [N/m or N m/rad].
        stiffness: f64,
        /// Damping [N s/m or N m s/rad].
        damping: f64,
        /// Largest force or torque [N or N m].
        limit: f64,
    },
    /// Dry friction: holds a coordinate, or slides.
    Friction {
        /// Where.
        at: At,
        /// While it slides [N or N m].
        sliding: f64,
        /// At most while it sticks [N or N m].
        sticking: f64,
    },
    /// Holds the rate of a coordinate as long as the limit allows.
    Speed {
        /// Where.
        at: At,
        /// The rate wanted, a function of time [m/s or rad/s].
        value: Formula,
        /// Largest force or torque [N or N m].
        limit: f64,
    },
    /// The coordinate is a function of time.
    Motion {
        /// Where.
        at: At,
        /// The coordinate [m or rad].
        value: Formula,
    },
}

/// What an element does at one instant.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effect {
    /// Force or torque it is known by: tension, effort [N or N m].
    pub effort: f64,
    /// Energy it stores [J].
    pub stored: f64,
    /// Power it loses, or puts in [W].
    pub power: f64,
}

impl ForceKind {
    /// Where its power is booked.
    pub fn cause(&self) -> Cause {
        match self {
            ForceKind::Friction { .. } => Cause::JointFriction,
            ForceKind::Spring { law: None, .. }
            | ForceKind::Bushing { .. }
            | ForceKind::Coordinate { .. }
            | ForceKind::Stop { .. } => Cause::Damping,
            _ => Cause::Work,
        }
    }

    /// The coordinate it acts on, if it acts on one.
    pub fn at(&self) -> Option<At> {
        match self {
            ForceKind::Coordinate { at, .. }
            | ForceKind::Stop { at, .. }
            | ForceKind::Torque { at, .. }
            | ForceKind::Position { at, .. }
            | ForceKind::Friction { at, .. }
            | ForceKind::Speed { at, .. }
            | ForceKind::Motion { at, .. } => Some(*at),
            ForceKind::Applied { .. } | ForceKind::Spring { .. } | ForceKind::Bushing { .. } => None,
        }
    }

    /// The frames it acts on.
    pub fn anchors(&self) -> Vec<Anchor> {
        match self {
            ForceKind::Applied { on, .. } => vec![*on],
            ForceKind::Spring { ends, .. } | ForceKind::Bushing { ends, .. } => ends.to_vec(),
            _ => Vec::new(),
        }
    }
}

/// Tension of a spring between two points [N], and what it does. `law` gives tension from length, stretch and rate.
pub fn spring(
    f1: &Kinematics,
    f2: &Kinematics,
    stiffness: f64,
    damping: f64,
    rest: f64,
    law: Option<&dyn Fn(f64, f64, f64) -> f64>,
    rope: bool,
) -> (Vec3, Effect) {
    let d = f2.p - f1.p;
    let length = d.length();
    if length == 0.0 {
        return (Vec3::ZERO, Effect::default());
    }
    let along = d / length;
    let rate = along.dot(f2.v - f1.v);
    let stretch = length - rest;
    if let Some(law) = law {
        let mut tension = law(length, stretch, rate);
        if rope {
            tension = tension.max(0.0);
        }
        return (along * -tension, Effect { effort: tension, stored: 0.0, power: -tension * rate });
    }
    if rope && stretch <= 0.0 {
        return (Vec3::ZERO, Effect::default());
    }
    let elastic = stiffness * stretch;
    let mut lossy = damping * rate;
    if rope {
        lossy = lossy.max(-elastic);
    }
    let tension = elastic + lossy;
    (along * -tension, Effect { effort: tension, stored: 0.5 * stiffness * stretch * stretch, power: lossy * rate })
}

/// Force on a coordinate, the rate of its rate if that is given, and what the element does.
pub fn coordinate_force(
    kind: &ForceKind,
    mode: ForceMode,
    t: f64,
    q: f64,
    u: f64,
    look: impl Fn(Source) -> f64,
) -> (f64, Option<f64>, Effect) {
    match kind {
        ForceKind::Coordinate { stiffness, damping, rest, .. } => {
            let stretch = q - rest;
            let tau = -stiffness * stretch - damping * u;
            let stored = 0.5 * stiffness * stretch * stretch;
            (tau, None, Effect { effort: tau, stored, power: damping * u * u })
        }
        ForceKind::Stop { bounds, stiffness, exponent, damping, .. } => {
            let (depth, closing_speed, sense) = if q < bounds[0] {
                (bounds[0] - q, -u, 1.0)
            } else if q > bounds[1] {
                (q - bounds[1], u, -1.0)
            } else {
                return (0.0, None, Effect::default());
            };
            let elastic = stiffness * libm::pow(depth, *exponent);
            let speed = mode.speed.max(closing_speed);
            let lossy = if *damping > 0.0 && speed > 0.0 {
                (elastic * damping * closing_speed / speed).max(-elastic)
            } else {
                0.0
            };
            let stored = elastic * depth / (exponent + 1.0);
            let tau = sense * (elastic + lossy);
            (tau, None, Effect { effort: tau, stored, power: lossy * closing_speed })
        }
        ForceKind::Torque { value, limit, .. } => {
            let tau = value.value(look).clamp(-limit, *limit);
            (tau, None, Effect { effort: tau, stored: 0.0, power: tau * u })
        }
        ForceKind::Position { value, stiffness, damping, limit, .. } => {
            let tau = (stiffness * (value.value(look) - q) - damping * u).clamp(-limit, *limit);
            (tau, None, Effect { effort: tau, stored: 0.0, power: tau * u })
        }
        ForceKind::Friction { .. } if mode.held => (0.0, Some(0.0), Effect::default()),
        ForceKind::Friction { sliding, .. } => {
            let tau = -mode.sense * sliding;
            (tau, None, Effect { effort: tau, stored: 0.0, power: -tau * u })
        }
        ForceKind::Speed { value, .. } if mode.held => (0.0, Some(value.value_and_rate(t).1), Effect::default()),
        ForceKind::Speed { limit, .. } => {
            let tau = mode.sense * limit;
            (tau, None, Effect { effort: tau, stored: 0.0, power: tau * u })
        }
        ForceKind::Motion { value, .. } => (0.0, Some(value.value_and_rates(t)[2]), Effect::default()),
        ForceKind::Applied { .. } | ForceKind::Spring { .. } | ForceKind::Bushing { .. } => {
            (0.0, None, Effect::default())
        }
    }
}

/// {torque, force} of a bushing on frame 2, at its origin, and what it does.
///
/// With d and v the place and velocity of frame 2 seen in frame 1, theta the rotation vector and w the relative angular
/// velocity there:   f = -K d - D v,   torque = -J^-T K_t theta - D_t w,   theta' = J^-1 w   (J the left Jacobian of the
/// exponential map), so that K_t stores theta^T K_t theta/2 exactly.
pub fn bushing(
    f1: &Kinematics,
    f2: &Kinematics,
    stiffness: Vec3,
    damping: Vec3,
    turning_stiffness: Vec3,
    turning_damping: Vec3,
) -> (Six, Effect) {
    let R1 = f1.R.transpose();
    let arm = f2.p - f1.p;
    let d = R1 * arm;
    let v = R1 * (f2.v - f1.v - f1.w.cross(arm));
    let w = R1 * (f2.w - f1.w);
    let theta = rotation_vector(&(R1 * f2.R));
    let elastic = turning_stiffness * theta;
    let force = -(stiffness * d) - damping * v;
    let torque = -inverse_left_jacobian_transposed(theta, elastic) - turning_damping * w;
    let effect = Effect {
        effort: force.length(),
        stored: 0.5 * (d.dot(stiffness * d) + theta.dot(elastic)),
        power: v.dot(damping * v) + w.dot(turning_damping * w),
    };
    (Six::new(f1.R * torque, f1.R * force), effect)
}

/// J^-T x with J^-1 = 1 - theta~/2 + c theta~^2,   c = 1/t^2 - (1 + cos t)/(2 t sin t).
pub fn inverse_left_jacobian_transposed(theta: Vec3, x: Vec3) -> Vec3 {
    let t2 = theta.length_squared();
    let c = if t2 < 1e-6 {
        1.0 / 12.0 + t2 / 720.0
    } else {
        let t = t2.sqrt();
        let (s, cos) = libm::sincos(t);
        1.0 / t2 - (1.0 + cos) / (2.0 * t * s)
    };
    x + 0.5 * theta.cross(x) + c * theta.cross(theta.cross(x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tippe_geometry::Quat;

    fn frame(turn: Vec3, p: Vec3, v: Vec3, w: Vec3) -> Kinematics {
        let a = turn.length();
        let axis = if a > 0.0 { turn / a * libm::sin(0.5 * a) } else { Vec3::ZERO };
        let q = Quat::from_xyzw(axis.x, axis.y, axis.z, libm::cos(0.5 * a));
        Kinematics { p, v, w, R: Mat3::from_quat(q) }
    }

    #[test]
    fn power_of_a_bushing_is_the_rate_of_what_it_stores() {
        let (k, kt) = (Vec3::new(50.0, 100.0, 200.0), Vec3::new(5.0, 10.0, 20.0));
        let at = |h: f64| {
            let (v1, w1) = (Vec3::new(0.3, -0.2, 0.5), Vec3::new(0.4, 0.1, -0.6));
            let (v2, w2) = (Vec3::new(-0.1, 0.7, 0.2), Vec3::new(-0.3, 0.8, 0.5));
            let turned = |turn: Vec3, w: Vec3, h: f64| {
                let base = frame(turn, Vec3::ZERO, Vec3::ZERO, Vec3::ZERO).R;
                frame(w * h, Vec3::ZERO, Vec3::ZERO, Vec3::ZERO).R * base
            };
            let mut f1 = frame(Vec3::ZERO, Vec3::new(0.1, 0.2, 0.3) + v1 * h, v1, w1);
            let mut f2 = frame(Vec3::ZERO, Vec3::new(0.4, -0.1, 0.5) + v2 * h, v2, w2);
            f1.R = turned(Vec3::new(0.5, -0.3, 0.2), w1, h);
            f2.R = turned(Vec3::new(-0.7, 0.6, 1.1), w2, h);
            (f1, f2)
        };
        let stored = |h: f64| {
            let (f1, f2) = at(h);
            bushing(&f1, &f2, k, Vec3::ZERO, kt, Vec3::ZERO).1.stored
        };
        let (f1, f2) = at(0.0);
        let (on, _) = bushing(&f1, &f2, k, Vec3::ZERO, kt, Vec3::ZERO);
        let arm = f2.p - f1.p;
        let power = on.linear.dot(f2.v - f1.v - f1.w.cross(arm)) + on.angular.dot(f2.w - f1.w);
        let slope = (stored(1e-5) - stored(-1e-5)) / 2e-5;
        assert!((power + slope).abs() < 1e-6 * slope.abs(), "{power} {slope}");
    }

    #[test]
    fn a_rope_does_not_push() {
        let at = |x: f64, v: f64| frame(Vec3::ZERO, Vec3::new(x, 0.0, 0.0), Vec3::new(v, 0.0, 0.0), Vec3::ZERO);
        let (slack, _) = spring(&at(0.0, 0.0), &at(0.9, 0.0), 100.0, 1.0, 1.0, None, true);
        assert_eq!(slack, Vec3::ZERO);
        let (taut, effect) = spring(&at(0.0, 0.0), &at(1.1, 0.5), 100.0, 1.0, 1.0, None, true);
        assert!(
            (taut.x + 10.5).abs() < 1e-12 && (effect.stored - 0.5).abs() < 1e-12 && (effect.power - 0.25).abs() < 1e-12
        );
    }
}
