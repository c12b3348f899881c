//! A bend without twist: R_12 = exp of the rotation vector phi = (q0, q1, 0), p_12 = 0. With t = |phi|
//!   R_12 = 1 + (sin t/t) [phi] + a [phi]^2,        a = (1 - cos t)/t^2
//!   w = u + a phi x u + b phi x (phi x u),         b = (t - sin t)/t^3
//! ([phi] y = phi x y; u = phi'). Both shafts turn equally fast: the relative angular velocity has no component along
//! z1 + z2, so w1 = W1 z1 and w2 = W2 z2 have W1 = W2. For bends of less than half a turn.

use super::{Glyph, HANGING, HELD, JOINT, Joint, JointSpec, Make, Motion, PLACED, Row, Six, part};
use crate::kinematics::Kinematics;
use tippe_format::key::{Coordinate, Spec};
use tippe_geometry::{Mat3, Vec3};

const FIRST: Coordinate = Coordinate::angle(
    "bend1",
    "speed1",
    ["First bend at the start [rad]", "Rate of the first bend at the start [rad/s]"],
);
const SECOND: Coordinate = Coordinate::angle(
    "bend2",
    "speed2",
    ["Second bend at the start [rad]", "Rate of the second bend at the start [rad/s]"],
);

/// How scenes know it.
pub const SPEC: JointSpec = JointSpec {
    kind: Spec {
        word: "constant_velocity",
        about: "Two shafts (z) that bend but do not twist against each other",
        keys: &[&HELD, &PLACED, &HANGING],
        coordinates: &[FIRST, SECOND],
        ..JOINT.kind
    },
    glyph: Glyph::Ball,
    make: Make::Joint(|_, _| Ok(Joint::ConstantVelocity)),
    ..JOINT
};

#[inline]
pub fn motion(q: &[f64], u: &[f64]) -> Motion {
    let phi = Vec3::new(q[0], q[1], 0.0);
    let phi_dot = Vec3::new(u[0], u[1], 0.0);
    let Factors { sinc, a, b, a1, b1 } = Factors::at(phi.length_squared());
    let mut motion = Motion::NONE;
    // Columns of R_12: y + sinc phi x y + a phi x (phi x y) for y = x, y, z.
    let [x, y, z] = Vec3::AXES.map(|axis| {
        let once = phi.cross(axis);
        axis + once * sinc + phi.cross(once) * a
    });
    motion.R_12 = Mat3::from_cols(x, y, z);
    for (column, axis) in motion.S[..2].iter_mut().zip(Vec3::AXES) {
        let once = phi.cross(axis);
        column.angular = axis + once * a + phi.cross(once) * b;
    }
    // S' u = a' phi x u + b' phi x (phi x u) + b u x (phi x u),   a' = a1 phi . u,   b' = b1 phi . u
    let once = phi.cross(phi_dot);
    let stretch = phi.dot(phi_dot);
    let bias = once * (a1 * stretch) + phi.cross(once) * (b1 * stretch) + phi_dot.cross(once) * b;
    motion.bias = Six::new(bias, Vec3::ZERO);
    motion
}

/// sin t/t, (1 - cos t)/t^2, (t - sin t)/t^3, and twice the derivatives of the latter two by t^2.
struct Factors {
    sinc: f64,
    a: f64,
    b: f64,
    a1: f64,
    b1: f64,
}

impl Factors {
    #[inline]
    fn at(t2: f64) -> Self {
        if t2 < 1.0 {
            // Power series: a = 1/2! - t^2/4! + ..., b = 1/3! - t^2/5! + ...; nine terms leave 1/20!.
            let (a, a1) = series(&A, t2);
            let (b, b1) = series(&B, t2);
            return Factors { sinc: 1.0 - t2 * b, a, b, a1, b1 };
        }
        let t = t2.sqrt();
        let (s, c) = libm::sincos(t);
        let (sinc, a) = (s / t, (1.0 - c) / t2);
        let b = (1.0 - sinc) / t2;
        Factors { sinc, a, b, a1: (sinc - 2.0 * a) / t2, b1: (a - 3.0 * b) / t2 }
    }
}

/// Terms of the power series.
const TERMS: usize = 9;

/// (-1)^k/(2 k + first)!
const fn coefficients(first: usize) -> [f64; TERMS] {
    let mut coefficients = [1.0; TERMS];
    let (mut k, mut n, mut factorial) = (0, 1, 1.0);
    while k < TERMS {
        while n <= 2 * k + first {
            factorial *= n as f64;
            n += 1;
        }
        coefficients[k] = if k % 2 == 0 { 1.0 / factorial } else { -1.0 / factorial };
        k += 1;
    }
    coefficients
}

const A: [f64; TERMS] = coefficients(2);
const B: [f64; TERMS] = coefficients(3);

/// The polynomial sum_k c_k x^k and twice its derivative.
#[inline]
fn series(c: &[f64; TERMS], x: f64) -> (f64, f64) {
    let (mut value, mut derivative) = (0.0, 0.0);
    for c_k in c.iter().rev() {
        derivative = derivative * x + value;
        value = value * x + c_k;
    }
    (value, 2.0 * derivative)
}

/// One point and no twist: (y1 . x2 - x1 . y2)/2 = 2 w z = 0 with the relative quaternion (w, x, y, z), which vanishes
/// for z = 0, no twist, or at half a turn, w = 0. Its gradient is (z1 + z2)/2.
pub fn rows(f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
    part::same_origin(f1, f2, rows);
    let [s, _] = part::twist_sine_and_cosine(f1, f2);
    rows.push(s);
}

/// The shortest rotation that takes z to z2: about z x z2, by their angle.
pub fn coordinates_of(R_12: &Mat3, q: &mut [f64]) {
    let z2 = R_12.z_axis;
    let sine = (z2.x * z2.x + z2.y * z2.y).sqrt();
    let angle = libm::atan2(sine, z2.z);
    let (nx, ny) = if sine > 0.0 { (-z2.y / sine, z2.x / sine) } else { (1.0, 0.0) };
    q[..2].copy_from_slice(&[angle * nx, angle * ny]);
}
