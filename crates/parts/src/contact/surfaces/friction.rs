//! Friction of surfaces: over the points under load, point by point, with one field of springs that sticks, or sliding as a whole.

use super::motion::relative;
use super::press::Load;
use super::reading::SurfaceReading;
use super::{Laws, SurfacePair};
use crate::contact::friction::{FrictionConstants, FrictionInput, Springs, damped_spin, patch_gamma};
use crate::kinematics::Kinematics;
use tippe_geometry::{Mat3, Vec3};

/// Rate at which overloaded springs give way, over their natural frequency and the excess of the load [-].
const YIELD_RATE: f64 = 4.0;
/// Load of the springs over its limit at which slip begins [-].
const SLIP_LOAD: f64 = 1.3;
/// Damping ratio of the tangential springs [-].
const STICK_RATIO: f64 = 0.5;
/// Share of the largest speed at which slip may end that is used [-].
const STICK_SAFETY: f64 = 0.9;
/// Springs of patches smaller than this share of the size get no softer [-].
const SMALLEST_PATCH: f64 = 1e-4;

/// The field z(x) = delta + theta x (x - o) of the stretch of all tangential springs.
struct Field<'a> {
    sides: [&'a Kinematics; 2],
    o: Vec3,
    delta: Vec3,
    theta: Vec3,
}

impl Field<'_> {
    /// Stretch and velocity of a point in its plane.
    #[inline]
    fn at(&self, l: &Load) -> (Vec3, Vec3) {
        let z = self.delta + self.theta.cross(l.point - self.o);
        let v = relative(self.sides, l.point);
        (z - l.normal * l.normal.dot(z), v - l.normal * l.normal.dot(v))
    }

    /// Velocity of the origin on body `k` [m/s].
    fn velocity(&self, k: usize) -> Vec3 {
        self.sides[k].v + self.sides[k].w.cross(self.o - self.sides[k].p)
    }

    /// Velocity [m/s] and angular velocity [rad/s] of body 2 relative to body 1, at the origin.
    fn relative(&self) -> (Vec3, Vec3) {
        (self.velocity(1) - self.velocity(0), self.sides[1].w - self.sides[0].w)
    }
}

/// The springs of a pair behind their gear.
struct Gear {
    /// Stiffness of all springs together [N/m].
    k_0: f64,
    /// Their stiffness against turns [N m].
    inertia: f64,
    /// g [-].
    g: f64,
    /// Natural frequency [rad/s].
    omega: f64,
    /// T of the dampers beside them [s].
    T: f64,
}

/// Means of stretch and slip over the points, by their forces.
struct Means {
    /// Sum of the normal forces [N].
    N: f64,
    /// Of the normals.
    n: Vec3,
    /// Share of what lies about the middle that is held [-].
    gamma: f64,
    /// Of the stretch [m].
    z: Vec3,
    /// Of the slip [m/s].
    v: Vec3,
    /// |z|^2 [m^2], |v|^2 [m^2/s^2] and |z + T g v|^2 [m^2]: those of the whole, and gamma times those about its middle. Spin alone is held
    /// with mu N times the mean distance.
    zz: f64,
    vv: f64,
    both: f64,
}

impl Means {
    fn of(loads: &[Load], field: &Field<'_>, gear: &Gear, area: f64) -> Means {
        let N: f64 = loads.iter().map(|l| l.force).sum();
        let n = loads.iter().map(|l| l.normal * (l.force / N)).sum::<Vec3>();
        let (mut zz, mut vv, mut both) = (0.0, 0.0, 0.0);
        let (mut z_mean, mut v_mean, mut middle, mut second) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO, Mat3::ZERO);
        for l in loads {
            let (z, v) = field.at(l);
            let (s, r) = (l.force / N, l.point - field.o);
            zz += s * z.length_squared();
            vv += s * v.length_squared();
            both += s * (z + v * (gear.T * gear.g)).length_squared();
            (z_mean, v_mean, middle) = (z_mean + s * z, v_mean + s * v, middle + s * r);
            second += Mat3::from_cols(r * (s * r.x), r * (s * r.y), r * (s * r.z));
        }
        second -= Mat3::from_cols(middle * middle.x, middle * middle.y, middle * middle.z);
        let gamma = patch_gamma(area, &second);
        let held = |all: f64, mean: Vec3| mean.length_squared() + gamma * (all - mean.length_squared()).max(0.0);
        let both = held(both, z_mean + v_mean * (gear.T * gear.g));
        Means { N, n, gamma, z: z_mean, v: v_mean, zz: held(zz, z_mean), vv: held(vv, v_mean), both }
    }

    /// What of `x`, whose mean is this, acts in the plane of its point.
    #[inline]
    fn acting(&self, l: &Load, x: Vec3, mean: Vec3) -> Vec3 {
        let x = mean + (x - mean) * self.gamma;
        x - l.normal * l.normal.dot(x)
    }
}

impl SurfaceReading {
    /// Friction on body 2 at a point.
    #[inline]
    fn add_friction(&mut self, sides: [&Kinematics; 2], point: Vec3, force: Vec3) {
        self.friction.force += force;
        self.total += force;
        self.torques[0] -= (point - sides[0].p).cross(force);
        self.torques[1] += (point - sides[1].p).cross(force);
    }
}

impl SurfacePair {
    /// Friction over the points under load of a patch that travels like this [m/s].
    pub(super) fn rub(
        &self,
        sides: [&Kinematics; 2],
        laws: &Laws<'_>,
        springs: &Springs,
        loads: &[Load],
        travel: Vec3,
        reading: &mut SurfaceReading,
    ) {
        self.rub_by_law(sides, laws, springs, loads, travel, reading);
        let c = laws.coefficients;
        if c.spin_damping > 0.0 {
            let N: f64 = loads.iter().map(|l| l.force).sum();
            let w_n = (sides[1].w - sides[0].w).dot(reading.normal);
            let M_r = damped_spin(c, reading.area, N, w_n);
            reading.friction.spin -= M_r * w_n;
            reading.torques[0] -= reading.normal * M_r;
            reading.torques[1] += reading.normal * M_r;
        }
    }

    /// Friction of the law alone.
    fn rub_by_law(
        &self,
        sides: [&Kinematics; 2],
        laws: &Laws<'_>,
        springs: &Springs,
        loads: &[Load],
        travel: Vec3,
        reading: &mut SurfaceReading,
    ) {
        if !laws.friction.has_springs() {
            return rub_point_by_point(sides, laws, springs, loads, reading);
        }
        let c = laws.coefficients;
        let k_0 = c.kappa * c.patch_stiffness;
        if k_0 <= 0.0 || c.mu <= 0.0 {
            return;
        }
        let inertia = k_0 * self.size * self.size;
        let g = (reading.area / (std::f64::consts::PI * self.size * self.size)).sqrt().max(SMALLEST_PATCH);
        let omega = (g * g * k_0 / c.mass.max(f64::MIN_POSITIVE)).sqrt();
        let gear = Gear { k_0, inertia, g, omega, T: 2.0 * STICK_RATIO / omega };
        let o = sides[self.reference].p;
        let field = Field { sides, o, delta: springs.f / k_0, theta: springs.roll / inertia };
        let means = Means::of(loads, &field, &gear, reading.area);
        reading.friction.gear = g;
        if laws.slipping {
            slide(&field, &gear, &means, c, loads, reading);
        } else {
            let drift = sides[self.reference].v - 0.5 * (field.velocity(0) + field.velocity(1)) - travel;
            let over = stick(&field, &gear, &means, c, loads, reading);
            // what travels leaves its springs behind after its own length
            let left = travel.length() / (reading.area / std::f64::consts::PI).sqrt();
            let give = YIELD_RATE * omega * (over.min(SLIP_LOAD) - 1.0) + left;
            reading.friction.rates = follow(&field, &gear, means.n, give, drift);
        }
    }
}

/// The published curves at every point: spin is what their sum makes of it.
fn rub_point_by_point(
    sides: [&Kinematics; 2],
    laws: &Laws<'_>,
    springs: &Springs,
    loads: &[Load],
    reading: &mut SurfaceReading,
) {
    let mut lost = 0.0;
    for l in loads {
        let v = relative(sides, l.point);
        let input = FrictionInput {
            normal: l.normal,
            N: l.force,
            elastic: l.force,
            depth: reading.mean_depth,
            closing_speed: -l.normal.dot(v),
            radius: 0.0,
            patch_radius: 0.0,
            lever: 0.0,
            area: 0.0,
            exponent: 1.0,
            damping: 0.0,
            damping_speed: 1.0,
            v_t: v - l.normal * l.normal.dot(v),
            omega: Vec3::ZERO,
        };
        let f = laws.friction.evaluate(laws.coefficients, &input, springs, Default::default()).force;
        lost -= f.dot(input.v_t);
        reading.add_friction(sides, l.point, f);
    }
    reading.friction.sliding = lost;
}

/// Surfaces that slide on each other, and the springs that would go on with their force.
fn slide(
    field: &Field<'_>,
    gear: &Gear,
    means: &Means,
    c: &FrictionConstants,
    loads: &[Load],
    reading: &mut SurfaceReading,
) {
    let &Gear { k_0, inertia, g, omega, T } = gear;
    let (limit, V) = (c.mu * means.N, means.vv.sqrt());
    let end = STICK_SAFETY * (2.0 * STICK_RATIO).min(1.0) * limit * omega / (g * g * k_0);
    let scale = limit / V.max(0.1 * end);
    let mut power = 0.0;
    for l in loads {
        let (_, v) = field.at(l);
        let f = means.acting(l, v, means.v) * (-scale * l.force / means.N);
        power -= f.dot(v);
        reading.add_friction(field.sides, l.point, f);
    }
    reading.friction.sliding = power;
    reading.friction.slip_margin = 1.0 - V / end;
    // springs that go on with the force: k_0 g (z + T g v) = scale v
    let stretch = scale / (k_0 * g) - T * g;
    let (v_o, w) = field.relative();
    reading.stick = Springs { f: v_o * (stretch * k_0), spin: 0.0, roll: w * (stretch * inertia) };
}

/// Surfaces that stick to each other; how far their springs are over the limit, one below it [-].
fn stick(
    field: &Field<'_>,
    gear: &Gear,
    means: &Means,
    c: &FrictionConstants,
    loads: &[Load],
    reading: &mut SurfaceReading,
) -> f64 {
    let &Gear { k_0, g, T, .. } = gear;
    let limit = c.mu * means.N * (c.mu_static / c.mu).max(1.0);
    let over = (k_0 * g * means.both.sqrt() / limit).max(1.0);
    let mut power = 0.0;
    for l in loads {
        let (z, v) = field.at(l);
        let f = means.acting(l, z + v * (T * g), means.z + means.v * (T * g)) * (-k_0 * g / over * l.force / means.N);
        power -= f.dot(v);
        reading.add_friction(field.sides, l.point, f);
    }
    reading.friction.sliding = power;
    reading.friction.energy = 0.5 * k_0 * means.zz;
    reading.friction.yields = over > 1.0;
    reading.friction.slip_margin = over * over / (SLIP_LOAD * SLIP_LOAD) - 1.0;
    over
}

/// Rates of springs that give way at the rate `give` [1/s]: the field goes along with the mean of the two motions, and with the patch,
/// which drifts over the origin.
fn follow(field: &Field<'_>, gear: &Gear, n: Vec3, give: f64, drift: Vec3) -> Springs {
    let &Gear { k_0, inertia, g, .. } = gear;
    let (delta, theta) = (field.delta, field.theta);
    let (v_o, w) = field.relative();
    // springs do not stretch with the approach along the mean normal: no point of a flat patch sees it
    let approach = n.dot(v_o);
    let w_mean = 0.5 * (field.sides[0].w + field.sides[1].w);
    let delta_rate = (v_o - n * approach) * g - delta * give + w_mean.cross(delta) + theta.cross(drift);
    let theta_rate = w * g - theta * give + w_mean.cross(theta);
    Springs { f: delta_rate * k_0, spin: 0.0, roll: theta_rate * inertia }
}
