//! Pressure at every point of a patch, or in every region of an overlap, with its damping.

use super::motion::relative;
use super::{Kind, Laws, SurfacePair};
use crate::contact::normal::NormalGeometry;
use crate::kinematics::Kinematics;
use tippe_geometry::{PressurePoint, SurfaceWork, Vec3};

/// c of the damping of slow motion, where nothing is lost at higher speeds [-].
const SLOW_DAMPING: f64 = 1.2;
/// Motion slower than this is damped as at rest [m/s].
const SLOWEST: f64 = 1e-4;
/// beta: hysteresis turns around where the kinetic energy is below beta^2 times the elastic one [-].
const SMOOTH: f64 = 0.3;
/// Surfaces that bend less than this over a patch are flat [-].
const LEAST_BEND: f64 = 1e-6;
/// Restitution that hysteresis can have at least [-].
const RESTITUTION_MIN: f64 = 0.05;

/// One point of a patch under load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) point: Vec3,
    /// Unit normal from 1 to 2.
    pub(super) normal: Vec3,
    /// Area times depth [m^3].
    pub(super) weight: f64,
    /// Normal force [N].
    pub(super) force: f64,
}

/// Sums over the points.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) elastic: f64,
    pub(super) total: f64,
    pub(super) elastic_power: f64,
    pub(super) damping_power: f64,
    pub(super) force: Vec3,
    pub(super) torques: [Vec3; 2],
    /// u: what the patch travels over both surfaces [m/s].
    pub(super) travel: Vec3,
}

impl Tally {
    fn add(&mut self, sides: [&Kinematics; 2], point: Vec3, normal: Vec3, elastic: f64, force: f64, closing: f64) {
        self.elastic += elastic;
        self.total += force;
        self.elastic_power += elastic * closing;
        self.damping_power += (force - elastic) * closing;
        let f = normal * force;
        self.force += f;
        self.torques[0] -= (point - sides[0].p).cross(f);
        self.torques[1] += (point - sides[1].p).cross(f);
    }
}

impl SurfacePair {
    /// The foundation at every point.
    pub(super) fn press(
        &self,
        work: &SurfaceWork,
        sides: [&Kinematics; 2],
        laws: &Laws<'_>,
        energy: f64,
        loads: &mut Vec<Load>,
    ) -> Tally {
        let constants = laws.constants;
        let k = constants.modulus / self.layer();
        let (b, v_s) = (self.hysteresis, constants.rest_speed.max(SLOWEST));
        let c = SLOW_DAMPING * (1.0 - b).max(0.0);
        let (mut tally, sense) = (Tally::default(), self.sense());
        let on_plane = matches!(self.kind, Kind::Ground { .. });
        let Some(motion) = self.motion(work.points(), sides) else { return tally };
        tally.travel = motion.u;
        let slow = |v: f64, whole: f64| {
            let v2 = v * v + whole * whole + v_s * v_s;
            v * v_s * v_s * v_s / (v2 * v2)
        };
        let mass = laws.mass_along(sides, motion.x, motion.n.try_normalize().unwrap_or(Vec3::ZERO));
        let turn = (SMOOTH * SMOOTH * 2.0 * k * energy.max(0.0) / mass).max(SLOWEST * SLOWEST);
        let damped = |v: f64, whole: f64| b * v / (v * v + turn).sqrt() + c * slow(v, whole);
        let whole = (1.0 + damped(motion.V, 0.0)).max(0.0);
        // what rocks is damped along the normal of friction's plane, and not in the mean: columns would push across, the mean feed the closing of the whole; and it is
        // not slow while the whole comes or goes
        let column = |p: &PressurePoint| k * (p.area * p.normal.dot(p.axis)).max(0.0) * p.depth.max(0.0);
        let all: f64 = work.points().iter().map(column).sum();
        let mean = work.points().iter().map(|p| damped(motion.rocking(p), motion.V) * (column(p) / all)).sum::<f64>();
        let beside = |p: &PressurePoint| (damped(motion.rocking(p), motion.V) - mean).max(-whole);
        // friction acts in the plane of a half-space, or of the flatter surface: what rolls does not rub on its own curve, nor a corner on its faces
        let bent = bends(work.points());
        let facing = |p: &PressurePoint| {
            let [own, other] = [p.side as usize, 1 - p.side as usize].map(|side| bent[side] + LEAST_BEND);
            let between = p.normal * other + p.axis * own;
            if on_plane { p.axis } else { between.try_normalize().unwrap_or(p.axis) }
        };
        // nothing pulls: what cannot be taken is not given either, and the sum stays zero
        let (mut given, mut taken) = (0.0, 0.0);
        for p in work.points() {
            let own = column(p) * beside(p);
            (given, taken) = (given + own.max(0.0), taken - own.min(0.0));
        }
        let share = if given > taken { taken / given } else { 1.0 };
        for p in work.points() {
            let elastic = k * p.area * p.depth;
            if elastic <= 0.0 {
                continue;
            }
            let (n, v) = (p.normal * sense, relative(sides, p.point));
            let pressed = elastic * whole;
            tally.add(sides, p.point, n, elastic, pressed, -n.dot(v));
            let (beside, facing) = (beside(p), facing(p));
            let rocking = column(p) * if beside > 0.0 { share * beside } else { beside };
            let along = facing * sense;
            tally.add(sides, p.point, along, 0.0, rocking, -along.dot(v));
            let share = p.normal.dot(facing).max(0.0);
            let weight = p.area * p.depth * share;
            let force = (pressed * share + rocking).max(0.0);
            loads.push(Load { point: p.point, normal: along, weight, force });
        }
        tally
    }

    /// A law of the overlap of each region, at its centroid and along its mean normal; friction over the points of the region.
    pub(super) fn press_regions(
        &self,
        work: &SurfaceWork,
        sides: [&Kinematics; 2],
        laws: &Laws<'_>,
        loads: &mut Vec<Load>,
    ) -> Tally {
        let (mut tally, sense) = (Tally::default(), self.sense());
        tally.travel = self.motion(work.points(), sides).map_or(Vec3::ZERO, |motion| motion.u);
        for (index, region) in work.regions().iter().enumerate() {
            if region.volume <= 0.0 {
                continue;
            }
            let n = region.normal * sense;
            let v = -n.dot(relative(sides, region.centroid));
            let area = if region.area > 0.0 { region.area } else { region.volume / region.extent };
            let geometry = NormalGeometry {
                depth: region.extent,
                radius: (area / std::f64::consts::PI).sqrt(),
                volume: region.volume,
                extent: region.extent,
                layer: self.layer(),
                sink: f64::NAN,
            };
            let force = laws.normal.force(&geometry, v, laws.memory, laws.constants);
            tally.add(sides, region.centroid, n, force.elastic, force.total(), v);
            let points = || work.points().iter().filter(|p| p.region == index as u32 && p.depth > 0.0);
            let weight: f64 = points().map(|p| p.area * p.depth).sum();
            for p in points() {
                let own = p.area * p.depth;
                loads.push(Load { point: p.point, normal: n, weight: own, force: force.total() * own / weight });
            }
        }
        tally
    }
}

/// sigma: how much each surface bends over the patch, 1 - |mean of its normals| (docs/theory/contact.md, after eq. 31) [-].
fn bends(points: &[PressurePoint]) -> [f64; 2] {
    let (mut normals, mut all) = ([Vec3::ZERO; 2], 0.0);
    for p in points.iter().filter(|p| p.depth > 0.0) {
        let weight = p.area * p.depth;
        normals[p.side as usize] += p.normal * weight;
        normals[1 - p.side as usize] += p.axis * weight;
        all += weight;
    }
    normals.map(|n| (1.0 - n.length() / all).max(0.0))
}

/// b of the hysteresis that has this restitution.
pub(super) fn hysteresis(restitution: f64) -> f64 {
    if restitution >= 1.0 {
        return 0.0;
    }
    let wanted = 2.0 * libm::log(restitution.max(RESTITUTION_MIN));
    // r = (t/(1 - t))^2, midpoints
    const POINTS: usize = 128;
    let logarithm = |b: f64| {
        let mut sum = 0.0;
        for i in 0..POINTS {
            let t = (i as f64 + 0.5) / POINTS as f64;
            let root = t / (1.0 - t);
            let r = root * root;
            let q = root / (r + SMOOTH * SMOOTH).sqrt();
            // nothing pulls
            let back = r + (1.0 - b * q).max(0.0);
            let dr = 2.0 * root / ((1.0 - t) * (1.0 - t)) / POINTS as f64;
            sum += (1.0 / (1.0 + r + b * q) - 1.0 / back) * dr;
        }
        sum
    };
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..40 {
        let b = 0.5 * (low + high);
        (low, high) = if logarithm(b) > wanted { (b, high) } else { (low, b) };
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Impacts on springs F = x^n, integrated step by step, rebound with the restitution wanted.
    #[test]
    fn restitution_for_any_form() {
        for e in [0.95, 0.8, 0.5, 0.3, 0.1] {
            let b = hysteresis(e);
            for n in [1.0, 2.0, 3.0] {
                let (mut x, mut v, dt) = (0.0, 1.0, 2e-5);
                loop {
                    let energy = libm::pow(x, n + 1.0) / (n + 1.0);
                    let fast = SMOOTH * SMOOTH * 2.0 * energy;
                    let force = libm::pow(x, n) * (1.0 + b * v / (v * v + fast).sqrt()).max(0.0);
                    v -= dt * force;
                    x += dt * v;
                    if x <= 0.0 {
                        break;
                    }
                }
                assert!((-v - e).abs() < 3e-3, "{e} {n}: {}", -v);
            }
        }
        assert_eq!(hysteresis(1.0), 0.0);
    }
}
