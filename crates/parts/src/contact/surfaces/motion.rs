//! How two surfaces move against each other over their patch, by the pressure there: the mean, and what of it travels or rocks.

use super::SurfacePair;
use crate::kinematics::Kinematics;
use tippe_geometry::{Mat3, PressurePoint, Vec3};

/// Slopes of the depth below this are rounding: such a patch does not travel, it rocks [-].
const LEAST_SLOPE: f64 = 1e-4;
/// Shares of the slopes that one curve must explain for a patch to travel: none of it below the first, all above the second [-].
const ONE_CURVE: [f64; 2] = [0.2, 0.5];
/// Patches thinner than this share of their size (squared) are flat [-].
const FLAT: f64 = 1e-6;

impl SurfacePair {
    /// How the bodies move against each other at the points under load.
    pub(super) fn motion<'s>(&self, points: &[PressurePoint], sides: [&'s Kinematics; 2]) -> Option<Motion<'s>> {
        let column = |p: &PressurePoint| (p.area * p.normal.dot(p.axis)).max(0.0) * p.depth.max(0.0);
        let N: f64 = points.iter().map(column).sum();
        if N <= 0.0 {
            return None;
        }
        let mut m = Motion { sides, sense: self.sense(), ..Motion::at_rest(sides) };
        for p in points {
            let share = column(p) / N;
            // what the whole gives or takes: the rates of the depths do not add up to it where columns point to both faces of an edge
            m.V -= m.sense * p.normal.dot(relative(sides, p.point)) * (p.area * p.depth.max(0.0) / N);
            m.drift += (m.velocity(0, p.point) + m.velocity(1, p.point)) * (0.5 * share);
            m.x += p.point * share;
            m.n += p.axis * share;
        }
        m.g = points.iter().map(|p| m.flat(slope(p)) * (column(p) / N)).sum();
        // slopes over the patch: facets have one each, what they are facets of has none that jumps
        let (mut M, mut B, mut jumps) = (Mat3::ZERO, Mat3::ZERO, 0.0);
        for p in points {
            let (share, x, g) = (column(p) / N, m.flat(p.point - m.x), m.flat(slope(p)) - m.g);
            M += outer(x, x * share);
            B += outer(g, x * share);
            jumps += g.length_squared() * share;
        }
        let spread = M.x_axis.x + M.y_axis.y + M.z_axis.z;
        if spread > 0.0 {
            m.G = B * (M + Mat3::from_diagonal(Vec3::splat(FLAT * spread))).inverse();
        }
        m.v = points.iter().map(|p| m.rate(p) * (column(p) / N)).sum();
        // what it travels beyond the mean of both surfaces, least squares: sum p (v - v_mean + u.(g - g_mean))^2
        let (mut C, mut r) = (Mat3::from_diagonal(Vec3::splat(LEAST_SLOPE * LEAST_SLOPE)), Vec3::ZERO);
        let mut smooth = 0.0;
        for p in points {
            let (share, g) = (column(p) / N, m.G * m.flat(p.point - m.x));
            C += outer(g, g * share);
            r -= g * (share * (m.rate(p) - m.v));
            smooth += g.length_squared() * share;
        }
        // several feet, each with slopes of its own, do not travel: they rock
        let [few, most] = ONE_CURVE;
        let rolls = ((smooth / jumps.max(f64::MIN_POSITIVE) - few) / (most - few)).clamp(0.0, 1.0);
        m.u = m.flat(C.inverse() * r) * (rolls * rolls * (3.0 - 2.0 * rolls));
        Some(m)
    }
}

/// How two bodies move against each other over a patch, by the pressure there.
pub(super) struct Motion<'s> {
    sides: [&'s Kinematics; 2],
    sense: f64,
    /// V = U'/N: mean closing speed [m/s].
    pub(super) V: f64,
    /// Mean of both surfaces' velocities [m/s].
    drift: Vec3,
    /// Centre of pressure [m].
    pub(super) x: Vec3,
    /// Mean direction in which the depth grows; shorter than one where they differ.
    pub(super) n: Vec3,
    /// Slope g + G (x - x_mean) of the depth along the surfaces [-, 1/m].
    g: Vec3,
    G: Mat3,
    /// Mean rate of the depth where the patch travels with the mean of both surfaces [m/s].
    v: f64,
    /// What it travels beyond that [m/s].
    pub(super) u: Vec3,
}

impl<'s> Motion<'s> {
    fn at_rest(sides: [&'s Kinematics; 2]) -> Motion<'s> {
        let (x, n, g, u, drift) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
        Motion { sides, sense: 1.0, V: 0.0, drift, x, n, g, G: Mat3::ZERO, v: 0.0, u }
    }

    fn velocity(&self, body: usize, x: Vec3) -> Vec3 {
        self.sides[body].v + self.sides[body].w.cross(x - self.sides[body].p)
    }

    /// What of a vector lies in the patch.
    fn flat(&self, x: Vec3) -> Vec3 {
        x - self.n * self.n.dot(x)
    }

    fn deepening(&self, p: &PressurePoint) -> f64 {
        -self.sense * p.axis.dot(relative(self.sides, p.point))
    }

    /// Rate of the depth in a patch that travels with the mean of both surfaces [m/s].
    fn rate(&self, p: &PressurePoint) -> f64 {
        let body = if self.sense > 0.0 { p.side as usize } else { 1 - p.side as usize };
        let g = self.g + self.G * self.flat(p.point - self.x);
        self.deepening(p) + g.dot(self.drift - self.velocity(body, p.point))
    }

    /// w: what of the rate is neither the mean nor travel [m/s].
    pub(super) fn rocking(&self, p: &PressurePoint) -> f64 {
        self.rate(p) - self.v + self.u.dot(self.G * self.flat(p.point - self.x))
    }
}

/// Slope of the depth along the surface of a point [-].
fn slope(p: &PressurePoint) -> Vec3 {
    let slope = p.axis - p.normal * p.normal.dot(p.axis);
    if p.side == 0 { slope } else { -slope }
}

/// a b^T
fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Velocity of 2 relative to 1 at a point [m/s].
pub(super) fn relative(sides: [&Kinematics; 2], point: Vec3) -> Vec3 {
    let [k1, k2] = sides;
    (k2.v + k2.w.cross(point - k2.p)) - (k1.v + k1.w.cross(point - k1.p))
}
