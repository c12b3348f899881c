//! What of a body is wet, and what a fluid does to it, in sums over the triangles of its surface.
//!
//! Triangles are cut by the surface of the fluid. With A the area of a wet triangle, n its normal outwards, x its centre and o a point on the surface of the
//! fluid, so that the lid which closes the wet part adds nothing,
//!   V = sum V_k,   V (b - o) = sum V_k (a_k + b_k + c_k)/4,   V_k = a_k.(b_k x c_k)/6   its corners from o: the volume and its centre,
//!   A_w = -sum A n.up,   I_w = -sum int (r - f)(r - f)^T n.up dA        the water plane, its moments about its centre f (divergence theorem).
//! A triangle that moves with v against the fluid, f = max(0, n.v/|v|) of it facing the flow, feels
//!   drag = -rho/2 C_d A f |v| v,   lift = -rho/2 C_l A f |v|^2 vh x (n x vh),   vh = v/|v|,
//! and each wet one, v_t its speed along itself,   friction = -rho/2 C_f A |v_t| v_t,   C_f = 0.075/(log10 Re - 2)^2   (ITTC 1957),
//! of laminar flow, Re < 5e5,   C_f = 1.328/sqrt(Re)   (Blasius 1908).

use super::response::{self, Plane};
use super::waves::Wave;
use crate::kinematics::Kinematics;
use crate::six::Response;
use libm::{cbrt, log10, sqrt};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_3, PI};
use tippe_geometry::{Mat3, Pose, Shape, TriMesh, Vec3};

/// Divisions of a full circle of round shapes: forces of drag are right to 0.3 %.
const SEGMENTS: u32 = 48;
/// Reynolds number at which the flow along a plate becomes turbulent [-].
const TURBULENT: f64 = 5e5;
/// Smallest Reynolds number of a laminar layer [-].
const CREEPING: f64 = 10.0;

/// The surface of a body.
#[derive(Clone, Debug)]
pub struct Hull {
    /// Corners in the body's frame c [m].
    pub corners: Vec<Vec3>,
    /// Triangles, normals outwards.
    pub triangles: Vec<[u32; 3]>,
    /// Centre [m] and radius [m] of a body that is one ball.
    pub ball: Option<(Vec3, f64)>,
    /// A length of the body for Reynolds' number: the edge of a cube of its volume [m].
    pub length: f64,
    /// Volume [m^3].
    pub volume: f64,
    /// Its centre in the frame c [m].
    pub centre: Vec3,
}

impl Hull {
    /// Of shapes at their places. Round ones have facets, scaled about their axis so that the volume is right.
    pub fn new(shapes: &[(Shape, Pose)]) -> Hull {
        let mut mesh = TriMesh::default();
        for (shape, place) in shapes {
            let own = shape.surface_mesh(SEGMENTS);
            let exact = shape.mass_properties(1.0).map_or(own.volume(), |properties| properties.mass);
            let ratio = exact / own.volume();
            let scale = match shape {
                Shape::Cylinder { .. } | Shape::Capsule { .. } | Shape::Cone { .. } => {
                    Vec3::new(sqrt(ratio), sqrt(ratio), 1.0)
                }
                Shape::Sphere { .. } | Shape::Ellipsoid { .. } => Vec3::splat(cbrt(ratio)),
                _ => Vec3::ONE,
            };
            mesh.append(&own, |v| place.point(v * scale));
        }
        let ball = match shapes {
            [(Shape::Sphere { radius }, place)] => Some((place.position, *radius)),
            _ => None,
        };
        weld(&mut mesh);
        let volume = mesh.volume();
        let moment = mesh.triangles.iter().fold(Vec3::ZERO, |sum, triangle| {
            let [a, b, c] = triangle.map(|k| mesh.vertices[k as usize]);
            sum + (a + b + c) * (a.dot(b.cross(c)) / 24.0)
        });
        let centre = if volume > 0.0 { moment / volume } else { Vec3::ZERO };
        Hull { length: cbrt(volume), volume, centre, ball, corners: mesh.vertices, triangles: mesh.triangles }
    }
}

/// Corners at the same place become one: each is asked once how deep it is, not for each of its triangles.
fn weld(mesh: &mut TriMesh) {
    let mut places = BTreeMap::new();
    let mut corners = Vec::new();
    let names: Vec<u32> = mesh
        .vertices
        .iter()
        .map(|v| {
            // -0 and 0 are one place
            let key = (*v + Vec3::ZERO).to_array().map(f64::to_bits);
            *places.entry(key).or_insert_with(|| {
                corners.push(*v);
                corners.len() as u32 - 1
            })
        })
        .collect();
    mesh.triangles.iter_mut().flatten().for_each(|k| *k = names[*k as usize]);
    mesh.vertices = corners;
}

/// The fluid around a body at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Water<'a> {
    /// Time [s].
    pub t: f64,
    /// rho [kg/m^3].
    pub density: f64,
    /// Dynamic viscosity [Pa s]; zero: no friction of its skin.
    pub viscosity: f64,
    /// Up, a unit vector, resolved in world.
    pub up: Vec3,
    /// Size of gravity [m/s^2].
    pub fall: f64,
    /// Height of its surface along up [m]; infinite if it has none.
    pub level: f64,
    /// Velocity where no waves are, resolved in world [m/s].
    pub current: Vec3,
    /// Its waves.
    pub waves: &'a [Wave],
    /// C_d [-].
    pub drag: f64,
    /// C_l [-].
    pub lift: f64,
    /// Asked how what it does answers to the motion.
    pub answers: bool,
}

impl Water<'_> {
    /// How deep a point is below the surface [m].
    pub fn depth(&self, x: Vec3) -> f64 {
        self.level + self.waves.iter().map(|wave| wave.elevation(x, self.t)).sum::<f64>() - self.up.dot(x)
    }

    /// True if it does more than press.
    fn rubs(&self) -> bool {
        self.drag > 0.0 || self.lift > 0.0 || self.viscosity > 0.0
    }

    /// How fast its surface rises over a point [m/s].
    fn rises(&self, x: Vec3) -> f64 {
        self.waves.iter().map(|wave| wave.rises(x, self.t)).sum()
    }

    /// How its velocity changes along the way of what moves with v [m/s^2]; that of the current does not.
    pub fn rate_along(&self, x: Vec3, v: Vec3) -> Vec3 {
        let below = (self.level - self.up.dot(x)).max(0.0);
        self.waves.iter().fold(Vec3::ZERO, |sum, wave| sum + wave.rate_along(x, v, below, self.up, self.t))
    }

    /// Velocity of the fluid at a point, resolved in world [m/s].
    pub fn velocity(&self, x: Vec3) -> Vec3 {
        let below = (self.level - self.up.dot(x)).max(0.0);
        self.waves.iter().fold(self.current, |sum, wave| sum + wave.velocity(x, below, self.up, self.t))
    }

    /// Its acceleration [m/s^2].
    pub fn acceleration(&self, x: Vec3) -> Vec3 {
        let below = (self.level - self.up.dot(x)).max(0.0);
        self.waves.iter().fold(Vec3::ZERO, |sum, wave| sum + wave.acceleration(x, below, self.up, self.t))
    }

    /// C_f of a surface along which the fluid passes at a speed [m/s], a length of it [m] behind its edge [-].
    fn friction(&self, speed: f64, length: f64) -> f64 {
        let Re = self.density * speed * length / self.viscosity;
        if Re > TURBULENT {
            let digits = log10(Re) - 2.0;
            0.075 / (digits * digits)
        } else {
            1.328 / sqrt(Re.max(CREEPING))
        }
    }
}

/// What a fluid does to a body at one instant.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wet {
    /// V [m^3].
    pub volume: f64,
    /// b, its centre, resolved in world [m].
    pub centre: Vec3,
    /// How deep that is below the surface [m].
    pub depth: f64,
    /// Force of buoyancy, with what waves accelerate, resolved in world [N].
    pub buoyancy: Vec3,
    /// Forces of drag and friction, and of lift, resolved in world [N].
    pub drag: Vec3,
    /// See `drag` [N].
    pub lift: Vec3,
    /// Torque of all of them about the body's centre of mass, resolved in world [N m].
    pub torque: Vec3,
    /// Power lost to drag and friction [W].
    pub lost: f64,
    /// Power that the moving fluid puts in by them [W].
    pub given: f64,
    /// Smallest second moment of the water plane about an axis through its centre [m^4].
    pub plane: f64,
    /// How fast more of it becomes wet: dV/dt = sum A n.v + A_w times the rise of the surface [m^3/s].
    pub grows: f64,
    /// How all of it answers to the motion, where that was asked and there is no lift, which has no such form here.
    pub response: Option<Response>,
}

/// Sums over wet triangles.
struct Sums {
    /// V, and V (b - o).
    volume: f64,
    moment: Vec3,
    /// -A_w along up, and the first and second moments of the water plane about o.
    area: f64,
    first: Vec3,
    second: Mat3,
}

thread_local! {
    /// Where the corners of a hull are and how deep: room, each with its own reading.
    static CORNERS: RefCell<Vec<(Vec3, f64)>> = const { RefCell::new(Vec::new()) };
}

/// What `water` does to a body that moves like this.
pub fn wet(hull: &Hull, kin: &Kinematics, water: &Water<'_>) -> Wet {
    let response = (water.answers && water.lift == 0.0).then(Response::default);
    let mut out = Wet { response, ..Wet::default() };
    // a point of the surface above or below the body
    let o = if water.level.is_finite() { kin.p + water.up * water.depth(kin.p) } else { kin.p };
    let mut sums = Sums { volume: 0.0, moment: Vec3::ZERO, area: 0.0, first: Vec3::ZERO, second: Mat3::ZERO };
    // a ball that is wet or dry as a whole needs no triangles, nor does what is wet anyway and feels no flow
    let rubs = water.rubs();
    let whole = match hull.ball {
        Some((centre, r)) => !rubs || water.depth(kin.p + kin.R * centre).abs() >= r,
        None => !rubs && !water.level.is_finite(),
    };
    if !whole {
        CORNERS.with_borrow_mut(|placed| {
            placed.clear();
            placed.extend(hull.corners.iter().map(|corner| {
                let x = kin.p + kin.R * *corner;
                (x, water.depth(x))
            }));
            for triangle in &hull.triangles {
                let [a, b, c] = triangle.map(|k| placed[k as usize]);
                cut([a.0, b.0, c.0], [a.1, b.1, c.1], |part| add(part, o, (hull, kin, water), &mut sums, &mut out));
            }
        });
    }
    match hull.ball {
        Some((centre, radius)) => ball(kin.p + kin.R * centre, [radius, hull.length], water, kin, &mut out),
        None if whole => {
            out.volume = hull.volume;
            out.centre = kin.p + kin.R * hull.centre;
        }
        None => {
            out.volume = sums.volume;
            out.centre = if sums.volume > 0.0 { o + sums.moment / sums.volume } else { kin.p };
            out.plane = sums.least_moment(water.up);
            out.grows += sums.area * water.rises(kin.p);
        }
    }
    out.depth = if water.level.is_finite() { water.depth(out.centre) } else { 0.0 };
    out.buoyancy = water.density * out.volume * (water.up * water.fall + water.acceleration(out.centre));
    let arm = out.centre - kin.p;
    out.torque += arm.cross(out.buoyancy);
    if let Some(answer) = &mut out.response {
        let plane = match hull.ball {
            Some((centre, r)) => round_plane(kin.R * centre, r, water.depth(kin.p + kin.R * centre), water.up),
            None => sums.plane_about(o - kin.p),
        };
        response::add_buoyancy(answer, &plane, water.density * water.fall, water.up, (out.volume, arm));
    }
    out
}

/// The water plane of a ball whose centre is at an arm from the centre of mass and so deep [m].
fn round_plane(arm: Vec3, r: f64, depth: f64, up: Vec3) -> Plane {
    let square = (r * r - depth * depth).max(0.0);
    let area = PI * square;
    let middle = arm + up * depth;
    let level = Mat3::IDENTITY - outer(up, up);
    Plane { area, first: middle * area, second: outer(middle, middle) * area + level * (0.25 * area * square) }
}

/// The parts of a triangle that are below the surface.
fn cut(corners: [Vec3; 3], depths: [f64; 3], mut each: impl FnMut([Vec3; 3])) {
    let wet = depths.map(|depth| depth > 0.0);
    let count = wet.iter().filter(|wet| **wet).count();
    if count == 3 {
        each(corners);
    }
    if count == 0 || count == 3 {
        return;
    }
    // the corner that is alone on its side comes first
    let first = (0..3).find(|&k| wet[k] == (count == 1)).unwrap_or(0);
    let [a, b, c] = [0, 1, 2].map(|k| (first + k) % 3);
    let on = |k: usize| corners[a] + (corners[k] - corners[a]) * (depths[a] / (depths[a] - depths[k]));
    let [p, q] = [on(b), on(c)];
    if count == 1 {
        each([corners[a], p, q]);
    } else {
        each([p, corners[b], corners[c]]);
        each([p, corners[c], q]);
    }
}

/// Adds a wet triangle.
fn add(part: [Vec3; 3], o: Vec3, (hull, kin, water): (&Hull, &Kinematics, &Water<'_>), sums: &mut Sums, out: &mut Wet) {
    let [a, b, c] = part.map(|x| x - o);
    let twice = (b - a).cross(c - a);
    let size = twice.length();
    if size == 0.0 {
        return;
    }
    let (n, A, middle) = (twice / size, 0.5 * size, (a + b + c) / 3.0);
    out.grows += A * n.dot(kin.v + kin.w.cross(o + middle - kin.p));
    if hull.ball.is_none() {
        let volume = a.dot(b.cross(c)) / 6.0;
        sums.volume += volume;
        sums.moment += (a + b + c) * (0.25 * volume);
        let lid = -A * n.dot(water.up);
        sums.area += lid;
        sums.first += middle * lid;
        // the mean of a quadratic over a triangle is that of its values at the middles of the edges
        for m in [0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)] {
            sums.second += outer(m, m) * (lid / 3.0);
        }
    }
    if !water.rubs() {
        return;
    }
    let x = o + middle;
    let flow = water.velocity(x);
    let v = kin.v + kin.w.cross(x - kin.p) - flow;
    let speed = v.length();
    if speed == 0.0 {
        return;
    }
    let half = 0.5 * water.density * A;
    let along = v / speed;
    let facing = n.dot(along).max(0.0);
    let mut drag = -half * water.drag * facing * speed * v;
    let lift = -half * water.lift * facing * speed * speed * along.cross(n.cross(along));
    if let (Some(answer), true) = (&mut out.response, facing > 0.0 && water.drag > 0.0) {
        response::add_drag(answer, x - kin.p, half * water.drag, n, v);
    }
    if water.viscosity > 0.0 {
        let v_t = v - n * n.dot(v);
        let slip = v_t.length();
        let k = half * water.friction(slip, hull.length);
        drag -= k * slip * v_t;
        if let Some(answer) = &mut out.response {
            response::add_square(answer, x - kin.p, k, v_t);
        }
    }
    push(x, (drag, lift), (flow, v), kin, out);
}

/// Forces of drag and lift at a point, where the fluid flows with `flow` and the surface passes it with `v`.
fn push(x: Vec3, (drag, lift): (Vec3, Vec3), (flow, v): (Vec3, Vec3), kin: &Kinematics, out: &mut Wet) {
    out.drag += drag;
    out.lift += lift;
    out.torque += (x - kin.p).cross(drag + lift);
    out.lost -= (drag + lift).dot(v);
    out.given += (drag + lift).dot(flow);
}

/// A ball of radius r and a length for Reynolds' number: the cap that is wet, a full cross-section of drag if all of it is. `centre` resolved in world [m].
fn ball(centre: Vec3, [r, length]: [f64; 2], water: &Water<'_>, kin: &Kinematics, out: &mut Wet) {
    let depth = water.depth(centre);
    // h of the wet cap: V = pi h^2 (3 r - h)/3, its centre 3 (2 r - h)^2/(4 (3 r - h)) below that of the ball
    let h = (r + depth).clamp(0.0, 2.0 * r);
    out.volume = FRAC_PI_3 * h * h * (3.0 * r - h);
    let below = if h > 0.0 { 0.75 * (2.0 * r - h) * (2.0 * r - h) / (3.0 * r - h) } else { 0.0 };
    out.centre = centre - water.up * below;
    let plane = if depth.abs() < r { r * r - depth * depth } else { 0.0 };
    out.plane = 0.25 * PI * plane * plane;
    let sinks = water.rises(centre) - water.up.dot(kin.v + kin.w.cross(centre - kin.p));
    out.grows = PI * plane * sinks;
    if depth >= r {
        let flow = water.velocity(centre);
        let v = kin.v + kin.w.cross(centre - kin.p) - flow;
        let area = PI * r * r * water.drag;
        // |v_t| = |v| sin(theta), and along v sin(theta) of that: the mean of sin^3 over the ball
        let skin =
            if water.viscosity > 0.0 { 0.75 * PI * PI * r * r * water.friction(v.length(), length) } else { 0.0 };
        let k = 0.5 * water.density * (area + skin);
        push(centre, (-k * v.length() * v, Vec3::ZERO), (flow, v), kin, out);
        if let Some(answer) = &mut out.response {
            response::add_square(answer, centre - kin.p, k, v);
        }
    }
}

impl Sums {
    /// The water plane about a point from which o lies at `shift`.
    fn plane_about(&self, shift: Vec3) -> Plane {
        let mixed = outer(self.first, shift);
        let second = self.second + mixed + mixed.transpose() + outer(shift, shift) * self.area;
        Plane { area: self.area, first: self.first + shift * self.area, second }
    }

    /// Smallest second moment of the water plane about a level axis through its centre [m^4].
    fn least_moment(&self, up: Vec3) -> f64 {
        if self.area <= 0.0 {
            return 0.0;
        }
        let f = self.first / self.area;
        let second = self.second - outer(f, f) * self.area;
        let one = tippe_geometry::space::any_orthogonal(up);
        let other = up.cross(one);
        let [xx, yy, xy] = [one.dot(second * one), other.dot(second * other), one.dot(second * other)];
        let mean = 0.5 * (xx + yy);
        let apart = sqrt(0.25 * (xx - yy) * (xx - yy) + xy * xy);
        (mean - apart).max(0.0)
    }
}

/// a b^T.
pub fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tippe_geometry::Quat;

    fn still() -> Water<'static> {
        Water {
            t: 0.0,
            density: 1000.0,
            viscosity: 0.0,
            up: Vec3::Z,
            fall: 9.80665,
            level: 0.0,
            current: Vec3::ZERO,
            waves: &[],
            drag: 1.0,
            lift: 1.0,
            answers: false,
        }
    }

    fn at(p: Vec3, q: Quat, v: Vec3) -> Kinematics {
        Kinematics { p, v, w: Vec3::ZERO, R: Mat3::from_quat(q) }
    }

    fn block(x: f64, y: f64, z: f64) -> Hull {
        let half_extents = Vec3::new(0.5 * x, 0.5 * y, 0.5 * z);
        Hull::new(&[(Shape::Box { half_extents, smoothing: 0.0 }, Pose::IDENTITY)])
    }

    fn near(is: f64, expected: f64, share: f64) {
        assert!((is - expected).abs() <= share * expected.abs().max(1e-12), "{is} instead of {expected}");
    }

    /// A box 2 x 1 x 0.6 m turned by 25 degrees about (1, 0.5, 0.2), its centre 50 mm above the water: volume, centre of buoyancy, torque.
    #[test]
    fn a_tilted_box_is_cut_exactly() {
        let turn = Quat::from_axis_angle(Vec3::new(1.0, 0.5, 0.2).normalize(), 25.0_f64.to_radians());
        let found = wet(&block(2.0, 1.0, 0.6), &at(Vec3::new(0.0, 0.0, 0.05), turn, Vec3::ZERO), &still());
        near(found.volume, 0.49732902, 1e-8);
        near(found.centre.x, 0.21512119, 1e-7);
        near(found.centre.y, -0.050453983, 1e-7);
        near(found.centre.z, -0.15742998, 1e-7);
        near(found.torque.x, -246.07071, 1e-7);
        near(found.torque.y, -1049.1744, 1e-7);
    }

    /// A cube and a ball under water feel the drag of their cross-sections; a plate at 45 degrees sin and sin cos of it.
    #[test]
    fn drag_counts_what_faces_the_flow() {
        let moving = |q: Quat| at(Vec3::new(0.0, 0.0, -5.0), q, Vec3::new(2.0, 0.0, 0.0));
        near(-wet(&block(1.0, 1.0, 1.0), &moving(Quat::IDENTITY), &still()).drag.x, 2000.0, 1e-12);
        let ball = Hull::new(&[(Shape::Sphere { radius: 0.5 }, Pose::IDENTITY)]);
        near(-wet(&ball, &moving(Quat::IDENTITY), &still()).drag.x, 1570.7963, 1e-7);
        let plate = wet(&block(1e-9, 1.0, 1.0), &moving(Quat::from_rotation_y(-45.0_f64.to_radians())), &still());
        near(-plate.drag.x, 1414.2136, 1e-6);
        near(plate.lift.length(), 1000.0, 1e-6);
    }

    /// A ball of relative density 0.7 and radius 0.5 m: immersion 0.63674251 m, volume 0.36651914 m^3, its centre 0.11464367 m below.
    #[test]
    fn the_cap_of_a_ball_is_closed_form() {
        let ball = Hull::new(&[(Shape::Sphere { radius: 0.5 }, Pose::IDENTITY)]);
        let found = wet(&ball, &at(Vec3::new(0.0, 0.0, 0.5 - 0.63674251), Quat::IDENTITY, Vec3::ZERO), &still());
        near(found.volume, 0.36651914, 1e-7);
        near(found.centre.z, 0.5 - 0.63674251 - 0.11464367, 1e-7);
    }

    /// A barge 20 x 8 m with a draft of 1.2 m: I_w/V = 8^2/(12 1.2).
    #[test]
    fn the_water_plane_has_its_moments() {
        let found = wet(&block(20.0, 8.0, 3.0), &at(Vec3::new(3.0, 4.0, 0.3), Quat::IDENTITY, Vec3::ZERO), &still());
        near(found.volume, 192.0, 1e-12);
        near(found.plane / found.volume, 64.0 / 14.4, 1e-12);
    }

    /// A ball under water has the friction of its facets.
    #[test]
    fn a_ball_rubs_as_its_facets_do() {
        let water = Water { viscosity: 1e-3, drag: 0.0, lift: 0.0, ..still() };
        let mut ball = Hull::new(&[(Shape::Sphere { radius: 0.5 }, Pose::IDENTITY)]);
        let moving = at(Vec3::new(0.0, 0.0, -5.0), Quat::IDENTITY, Vec3::new(2.0, 0.0, 0.0));
        let closed = wet(&ball, &moving, &water).drag.x;
        ball.ball = None;
        // C_f is taken at the speed of each facet
        near(wet(&ball, &moving, &water).drag.x, closed, 0.06);
    }

    /// How forces answer to the motion is what a small motion changes, of a block and of a ball that float and drift.
    #[test]
    fn answers_are_derivatives() {
        let turn = Quat::from_axis_angle(Vec3::new(1.0, 0.5, 0.2).normalize(), 0.3);
        let water = Water { lift: 0.0, viscosity: 0.0, answers: true, ..still() };
        let ball = Hull::new(&[(Shape::Sphere { radius: 0.5 }, Pose::at(Vec3::new(0.1, 0.0, 0.2)))]);
        for (hull, depth) in [(block(2.0, 1.0, 0.6), 0.05), (ball.clone(), -0.3), (ball, -2.0)] {
            let kin = Kinematics {
                w: Vec3::new(0.3, -0.2, 0.1),
                ..at(Vec3::new(0.0, 0.0, depth), turn, Vec3::new(1.0, 0.3, -0.4))
            };
            let here = wet(&hull, &kin, &water);
            let Some(answer) = here.response else { panic!("it was asked for") };
            // a ball that is partly wet has the drag of its facets
            let small = 1e-6;
            for k in 0..6 {
                let step = if k % 3 == 0 {
                    Vec3::X
                } else if k % 3 == 1 {
                    Vec3::Y
                } else {
                    Vec3::Z
                } * small;
                let (turned, moved) = if k < 3 { (step, Vec3::ZERO) } else { (Vec3::ZERO, step) };
                let place =
                    Kinematics { p: kin.p + moved, R: Mat3::from_quat(Quat::from_scaled_axis(turned)) * kin.R, ..kin };
                let motion = Kinematics { w: kin.w + turned, v: kin.v + moved, ..kin };
                let motion = wet(&hull, &motion, &water);
                let pressing = Water { drag: 0.0, ..water };
                let (place, still) = (wet(&hull, &place, &pressing), wet(&hull, &kin, &pressing));
                let by_velocity = [(motion.torque - here.torque) / small, (motion.drag - here.drag) / small];
                let by_place = [(place.torque - still.torque) / small, (place.buoyancy - still.buoyancy) / small];
                let size = 1e4 * 3e-3;
                for (found, wanted) in [(answer.slowing.0[k], by_velocity), (answer.restoring.0[k], by_place)] {
                    assert!((found.angular - wanted[0]).length() < size, "{depth} {k}: {found:?} {wanted:?}");
                    assert!((found.linear - wanted[1]).length() < size, "{depth} {k}: {found:?} {wanted:?}");
                }
            }
        }
    }

    /// A block has eight corners, however many its triangles name.
    #[test]
    fn triangles_share_their_corners() {
        let block = block(2.0, 1.0, 0.6);
        assert_eq!((block.corners.len(), block.triangles.len()), (8, 12));
        near(block.volume, 1.2, 1e-12);
    }

    /// Facets of round shapes have the volume of the shape.
    #[test]
    fn round_shapes_keep_their_volume() {
        let cylinder =
            Hull::new(&[(Shape::Cylinder { radius: 0.5, half_height: 1.0, smoothing: 0.0 }, Pose::IDENTITY)]);
        near(cylinder.volume, 0.5 * PI, 1e-12);
    }
}
