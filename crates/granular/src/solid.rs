//! Convex polyhedra among the grains: what two of them share, and the law of contact over it (grains.md eq. 28 to 30).
//!
//!   (28) N = 4/3 E* a d - gamma_n v.n,   a = sqrt(V/(pi d))         Elmqvist and others 2015, section 6: E* k sqrt(V d), k = 4/(3 sqrt(pi))
//!   (29) gamma_n = 2 beta sqrt((p + 1)/(2 p) k_n m*),   k_n = p N/d,   p = (A d/V + 1)/2
//!   (30) 1/m* = sum of 1/m_i + (r_i x n).I_i^-1 (r_i x n)
//!
//! V is the volume of what both share, d its length along its mean normal n, A its area seen along n; the force acts at its centroid. On
//! a ball that dips into a plane a is the radius of Hertz's patch and p = 3/2, so that (3) to (6) are what is left; under a face p = 1,
//! under a corner p = 2. Friction is the tangential chain (8), (9) with this a.
//!
//! A polyhedron moves as a clump of one ball does, the ball that holds it; that ball is what lists know of it.

use crate::chunk::{Chunk, TOUCH};
use crate::clump::{Clump, NONE};
use crate::forces::{ChunkBooks, ChunkSums, Pass, View, WallSum, forces_of};
use crate::grains::Six;
use crate::law::full::{Extra, Losses, NO_EXTRA};
use crate::law::{V4, tangential};
use crate::neighbours::nearest_image;
use crate::settings::Coefficients;
use crate::wall::WallHistory;
use crate::{ClumpMass, ClumpSphere, ClumpStart, GrainError, Grains, Settings, Surface, Wall};
use std::f64::consts::PI;
use tippe_geometry::{Hull, Pose, Shape, Vec3, moments, separation};

/// The exponent p of the force lies between that of a face and that of a needle [-].
const EXPONENTS: [f64; 2] = [1.0, 3.0];

/// What touches.
#[derive(Clone, Copy)]
pub(crate) enum Form<'a> {
    /// A ball with its radius [m].
    Ball(f64),
    /// A convex polyhedron or a half-space.
    Solid(&'a Shape),
}

/// One of the two that meet.
pub(crate) struct Side<'a> {
    form: Form<'a>,
    /// Centre of mass and principal axes; of a wall its own frame.
    X: Pose,
    /// Velocity of its origin [m/s].
    v: Vec3,
    /// Angular velocity [rad/s].
    w: Vec3,
    /// 1/m [1/kg]; zero for walls.
    inv_mass: f64,
    /// One over the principal moments of inertia [1/(kg m^2)].
    inv_inertia: Vec3,
}

impl Side<'_> {
    fn velocity_at(&self, arm: Vec3) -> Vec3 {
        self.v + self.w.cross(arm)
    }

    /// Change of its speed along n by a unit impulse along n at an arm [1/kg], eq. 30.
    fn answer(&self, arm: Vec3, n: Vec3) -> f64 {
        let turn = self.X.vector_into(arm.cross(n));
        self.inv_mass + turn.dot(turn * self.inv_inertia)
    }

    /// Farthest it reaches along d [m].
    fn reach(&self, d: Vec3) -> f64 {
        let own = match self.form {
            Form::Ball(radius) => radius,
            Form::Solid(shape) => self.X.vector_into(d).dot(shape.support(self.X.vector_into(d))),
        };
        self.X.position.dot(d) + own
    }
}

/// Where and how deep two touch.
struct Touching {
    /// Unit normal from 1 to 2 [-].
    n: Vec3,
    /// d [m].
    depth: f64,
    /// a [m].
    a: f64,
    /// p [-].
    exponent: f64,
    /// Where the force acts [m].
    point: Vec3,
}

/// What two solids share, or a solid and a ball; two balls are no matter of this file.
fn touching(sides: &[Side<'_>; 2]) -> Option<Touching> {
    let [one, two] = sides;
    match (one.form, two.form) {
        (Form::Solid(shape1), Form::Solid(shape2)) => {
            let m = moments(shape1, &one.X, shape2, &two.X).filter(|m| m.extent > 0.0)?;
            let depth = m.extent;
            let exponent = 0.5 * (m.area * depth / m.volume + 1.0);
            let a = (m.volume / (PI * depth)).sqrt();
            let exponent = exponent.clamp(EXPONENTS[0], EXPONENTS[1]);
            Some(Touching { n: m.normal, depth, a, exponent, point: m.centroid })
        }
        (Form::Solid(shape), Form::Ball(radius)) => ball_on(shape, &one.X, two.X.position, radius),
        (Form::Ball(radius), Form::Solid(shape)) => {
            ball_on(shape, &two.X, one.X.position, radius).map(|t| Touching { n: -t.n, ..t })
        }
        (Form::Ball(_), Form::Ball(_)) => None,
    }
}

/// A ball on a solid, as on a plane: normal into the ball.
fn ball_on(shape: &Shape, X: &Pose, centre: Vec3, radius: f64) -> Option<Touching> {
    let s = separation(shape, X, &Shape::Sphere { radius }, &Pose::at(centre));
    let depth = -s.gap;
    let point = centre - s.normal * (radius - 0.5 * depth);
    (depth > 0.0).then(|| Touching { n: s.normal, depth, a: (radius * depth).sqrt(), exponent: 1.5, point })
}

/// Direction in which two that are apart lie apart.
fn axis_between(sides: &[Side<'_>; 2]) -> Option<Vec3> {
    let [one, two] = sides;
    let (Form::Solid(shape1), Form::Solid(shape2)) = (one.form, two.form) else { return None };
    let s = separation(shape1, &one.X, shape2, &two.X);
    (s.gap > 0.0).then_some(s.normal)
}

/// What a contact of solids remembers besides its tangential spring: force on 2 [N], its place from the middle of both origins [m], normal, elastic
/// energy of the normal force [J]. While they are apart the place of the normal has a direction in which they lately were.
struct Past {
    force: Vec3,
    arm: Vec3,
    normal: Vec3,
    energy: f64,
}

impl Past {
    fn of(extra: &Extra) -> Past {
        let at = |k: usize| Vec3::new(extra[k], extra[k + 1], extra[k + 2]);
        Past { force: at(0), arm: at(3), normal: at(6), energy: extra[9] }
    }

    fn written(&self) -> Extra {
        let (f, r, n) = (self.force, self.arm, self.normal);
        [f.x, f.y, f.z, r.x, r.y, r.z, n.x, n.y, n.z, self.energy]
    }
}

/// Force on the second of a pair with a polyhedron when it was last looked at [N].
pub(crate) fn last_force(extra: &Extra) -> Vec3 {
    Past::of(extra).force
}

/// Two that may touch in this step.
pub(crate) struct Encounter<'a> {
    sides: [Side<'a>; 2],
    c: &'a Coefficients,
    h: f64,
}

/// What comes of it.
pub(crate) struct Answer {
    /// They touch.
    touches: bool,
    /// Force on 2 [N].
    force: Vec3,
    /// Torques about the origins of both [N m].
    torques: [Vec3; 2],
    /// Normal from 1 to 2; zero where they do not touch.
    normal: Vec3,
    losses: Losses,
    /// Energy held [J].
    elastic: f64,
}

impl Encounter<'_> {
    /// Forces at the present positions, and what the step took; `None` where they were apart and are.
    fn resolve(&self, touched: bool, memory: &mut V4, extra: &mut Extra) -> Option<Answer> {
        let [one, two] = &self.sides;
        let axis = Past::of(extra).normal;
        if !touched && axis != Vec3::ZERO && one.reach(axis) <= -two.reach(-axis) {
            return None;
        }
        if !touched {
            (*memory, *extra) = ([0.0; 4], NO_EXTRA);
        }
        let Some(t) = touching(&self.sides) else {
            let end = touched.then(|| self.part(memory, extra));
            (*memory, *extra) = ([0.0; 4], NO_EXTRA);
            if let Some(normal) = axis_between(&self.sides) {
                *extra = Past { force: Vec3::ZERO, arm: Vec3::ZERO, normal, energy: 0.0 }.written();
            }
            return end;
        };
        Some(self.press(&t, memory, extra))
    }

    /// Velocity of 2 relative to 1 at the contact as it stood at the beginning of the step [m/s].
    fn velocity_before(&self, past: &Past) -> Vec3 {
        let [one, two] = &self.sides;
        let half = 0.5 * ((two.X.position - two.v * self.h) - (one.X.position - one.v * self.h));
        two.velocity_at(past.arm - half) - one.velocity_at(past.arm + half)
    }

    /// Energy of the tangential spring as it was [J].
    fn spring_before(&self, memory: &V4) -> f64 {
        let f = Vec3::new(memory[0], memory[1], memory[2]);
        if memory[3] > 0.0 { f.length_squared() / (2.0 * self.c.tangential * memory[3]) } else { 0.0 }
    }

    fn press(&self, t: &Touching, memory: &mut V4, extra: &mut Extra) -> Answer {
        let Encounter { sides: [one, two], c, h } = self;
        let &Touching { n, depth, a, exponent: p, point } = t;
        let arms = [point - one.X.position, point - two.X.position];
        let past = Past::of(extra);
        let v0 = self.velocity_before(&past);
        let v = two.velocity_at(arms[1]) - one.velocity_at(arms[0]);
        let v_n = n.dot(v);
        let mass = 1.0 / (one.answer(arms[0], n) + two.answer(arms[1], n));
        let root = (a * mass).sqrt();
        // (28), (29): of (4) there is sqrt(5/6) in the damping, which is sqrt((p + 1)/2) of sqrt(k_n) here
        let elastic = c.normal * a * depth;
        let normal = elastic - c.normal_damping * root * (0.4 * (p + 1.0)).sqrt() * v_n;
        let energy = elastic * depth / (p + 1.0);

        let v_t = v - n * v_n;
        let (k_t, gamma_t) = (c.tangential * a, c.tangential_damping * root);
        let soften = if a < memory[3] { a / memory[3] } else { 1.0 };
        let held = self.spring_before(memory);
        let old = Vec3::new(memory[0], memory[1], memory[2]);
        let f0 = (old - n * n.dot(old)) * soften;
        let limit = c.friction * normal.max(0.0);
        let out = tangential(k_t, gamma_t, limit, *h, n.to_array(), a, soften, v_t.to_array(), *memory);
        let f_t = Vec3::from_array(out.force);
        *memory = out.memory;

        // the work of each part in this step, half with the force before and half with that of now
        let half = 0.5 * h;
        let past_t = past.force - past.normal * past.normal.dot(past.force);
        let work_n = half * (past.normal.dot(past.force) * past.normal.dot(v0) + normal * v_n);
        let work_t = half * (past_t.dot(v0) + f_t.dot(v_t));
        let slip = v_t - (f0 - f_t) / (k_t * h + gamma_t);
        let friction = -half * (f0 + (past_t - old) + f_t).dot(slip);
        let spring = self.spring_before(memory);
        let losses = Losses {
            normal: -work_n - (energy - past.energy),
            tangential: -work_t - (spring - held) - friction,
            friction,
            ..Losses::default()
        };
        let force = n * normal + f_t;
        *extra = Past { force, arm: 0.5 * (arms[0] + arms[1]), normal: n, energy }.written();
        let torques = [-arms[0].cross(force), arms[1].cross(force)];
        Answer { touches: true, force, torques, normal: n, losses, elastic: energy + spring }
    }

    /// A contact that has ended: what it held, less what its last force still did.
    fn part(&self, memory: &V4, extra: &Extra) -> Answer {
        let past = Past::of(extra);
        let v0 = self.velocity_before(&past);
        let along = past.normal.dot(past.force);
        let across = past.force - past.normal * along;
        let losses = Losses {
            normal: past.energy - 0.5 * self.h * along * past.normal.dot(v0),
            tangential: self.spring_before(memory) - 0.5 * self.h * across.dot(v0),
            ..Losses::default()
        };
        let o = Vec3::ZERO;
        Answer { touches: false, force: o, torques: [o; 2], normal: o, losses, elastic: 0.0 }
    }
}

impl<'a> View<'a> {
    /// The clump of the grain at a place, if it is a polyhedron.
    fn solid(&self, place: usize) -> Option<&'a Clump> {
        let clump = self.clump.get(place).filter(|c| **c != NONE)?;
        self.clumps.get(*clump as usize).filter(|clump| clump.solid.is_some())
    }

    /// True where a pair is one of two balls; the second one may be marked.
    pub fn is_of_balls(&self, [first, mark]: &[u32; 2]) -> bool {
        let ball = |place: u32| self.solid(place as usize).is_none();
        self.clumps.is_empty() || ball(*first) && ball(*mark & !TOUCH)
    }

    /// The grain at a place, moved by `shift` [m].
    fn side(&self, place: usize, shift: Vec3) -> Side<'a> {
        let (p, m) = (self.position[place], self.motion[place]);
        let v3 = |a: V4| Vec3::new(a[0], a[1], a[2]);
        let (v, w, inv_mass) = (v3(m.linear), v3(m.angular), m.linear[3]);
        let position = v3(p) + shift;
        match self.solid(place).and_then(|clump| clump.solid.as_ref().map(|shape| (clump, shape))) {
            Some((clump, shape)) => {
                let X = Pose::new(clump.X_wc.rotation, position);
                Side { form: Form::Solid(shape), X, v, w, inv_mass, inv_inertia: clump.inertia.recip() }
            }
            None => {
                let inv_inertia = Vec3::splat(m.angular[3]);
                Side { form: Form::Ball(p[3]), X: Pose::at(position), v, w, inv_mass, inv_inertia }
            }
        }
    }
}

/// A wall as polyhedra meet it; `None` where they cannot.
fn wall_form(wall: &Wall) -> Option<Form<'_>> {
    match &wall.surface {
        Surface::Plane => Some(Form::Solid(&Shape::HalfSpace)),
        Surface::Shape(shape @ (Shape::Box { .. } | Shape::Hull(_) | Shape::HalfSpace)) => Some(Form::Solid(shape)),
        Surface::Shape(Shape::Sphere { radius }) => Some(Form::Ball(*radius)),
        Surface::Shape(_) | Surface::Mesh(_) | Surface::Ground(_) => None,
    }
}

fn wall_side<'a>(wall: &'a Wall) -> Option<Side<'a>> {
    let form = wall_form(wall)?;
    Some(Side { form, X: wall.X_ws, v: wall.velocity, w: wall.spin, inv_mass: 0.0, inv_inertia: Vec3::ZERO })
}

/// Adds force and torque to a grain of the chunk that begins at `start`, if it is one.
fn push(load: &mut [Six], start: u32, place: usize, force: Vec3, torque: Vec3) {
    if let Some(to) = load.get_mut(place.wrapping_sub(start as usize)) {
        for c in 0..3 {
            to.linear[c] += force[c];
            to.angular[c] += torque[c];
        }
    }
}

/// Forces and torques on the grains of one chunk, balls and polyhedra.
pub(crate) fn forces_of_all(chunk: &mut Chunk, view: &View<'_>, pass: &Pass, load: &mut [Six]) -> ChunkSums {
    let (mut sums, mut books) = forces_of(chunk, view, pass, load);
    if pass.solids {
        solid_pairs(chunk, view, pass, load, &mut books);
        solid_walls(chunk, view, pass, load, &mut books, &mut sums);
    }
    (sums, books)
}

/// Forces of the pairs of one chunk that have a polyhedron. Pairs across chunks are booked by the upper one.
fn solid_pairs(chunk: &mut Chunk, view: &View<'_>, pass: &Pass, load: &mut [Six], books: &mut ChunkBooks) {
    let Chunk { start, pairs, own, memory, extra, .. } = chunk;
    for (slot, [first, mark]) in pairs.iter_mut().enumerate().filter(|(_, pair)| !view.is_of_balls(pair)) {
        let (i, j) = (*first as usize, (*mark & !TOUCH) as usize);
        let (p, q) = (view.position[i], view.position[j]);
        let apart = Vec3::new(q[0] - p[0], q[1] - p[1], q[2] - p[2]);
        let mut d = apart;
        if pass.sizes.any {
            d = Vec3::from_array([0, 1, 2].map(|c| nearest_image(apart[c], pass.sizes.size[c], pass.sizes.inv[c])));
        }
        let touched = *mark & TOUCH != 0;
        let sum = p[3] + q[3];
        if !touched && d.length_squared() >= sum * sum {
            continue;
        }
        let c = &pass.table[view.class[i] as usize * pass.classes + view.class[j] as usize];
        let sides = [view.side(i, Vec3::ZERO), view.side(j, d - apart)];
        let encounter = Encounter { sides, c, h: pass.h };
        let Some(answer) = encounter.resolve(touched, &mut memory[slot], &mut extra[slot]) else { continue };
        *mark = if answer.touches { *mark | TOUCH } else { *mark & !TOUCH };
        push(load, *start, i, -answer.force, answer.torques[0]);
        push(load, *start, j, answer.force, answer.torques[1]);
        if slot < *own as usize {
            books.losses.add(&answer.losses);
            books.elastic += answer.elastic;
        }
    }
}

/// Forces of walls on the polyhedra of one chunk, added to the sums of the walls.
fn solid_walls(
    chunk: &mut Chunk,
    view: &View<'_>,
    pass: &Pass,
    load: &mut [Six],
    books: &mut ChunkBooks,
    sums: &mut [WallSum],
) {
    let Chunk { start, walls, wall_history, wall_extra, .. } = chunk;
    for pair in walls.iter() {
        let i = pair.grain as usize;
        if view.solid(i).is_none() {
            continue;
        }
        let wall = &view.walls[pair.wall as usize];
        let Some(side) = wall_side(wall) else { continue };
        let c = &pass.table[wall.class as usize * pass.classes + view.class[i] as usize];
        let encounter = Encounter { sides: [side, view.side(i, Vec3::ZERO)], c, h: pass.h };
        let slot = pair.slot as usize;
        let (history, extra) = (&mut wall_history[slot], &mut wall_extra[slot]);
        let WallHistory { memory, normal } = history;
        let touched = *normal != Vec3::ZERO;
        let Some(answer) = encounter.resolve(touched, memory, extra) else { continue };
        *normal = answer.normal;
        push(load, *start, i, answer.force, answer.torques[1]);
        let sum = &mut sums[pair.wall as usize];
        sum[0] -= answer.force;
        sum[1] += answer.torques[0];
        books.losses.add(&answer.losses);
        books.elastic += answer.elastic;
    }
}

/// A polyhedron as grains of a set are: its faces in its frame c, its mass.
#[derive(Clone, Debug)]
pub struct Solid {
    /// Its hull about its centre of mass, along its principal axes.
    pub shape: Shape,
    /// Mass, and c in the frame its corners were given in.
    pub mass: ClumpMass,
    /// Radius of the ball about the centre of mass that holds it [m].
    pub radius: f64,
    /// Radius of the ball about the centre of mass that it holds [m].
    pub inner: f64,
}

impl Solid {
    /// The convex hull of corners [m] of one density [kg/m^3]; what is wrong with them otherwise.
    pub fn new(corners: &[Vec3], density: f64) -> Result<Solid, String> {
        let hull = Hull::new(corners).map_err(|error| error.to_string())?;
        let own = Shape::Hull(hull.into()).mass_properties(density).map_err(|error| error.to_string())?;
        let mass = ClumpMass::of(own.mass, own.center, own.inertia);
        let about: Vec<Vec3> = corners.iter().map(|p| mass.X_bc.point_into(*p)).collect();
        let hull = Hull::new(&about).map_err(|error| error.to_string())?;
        let inner = hull.faces().iter().map(|f| f.offset).fold(f64::INFINITY, f64::min);
        if !(inner > 0.0) {
            return Err(format!("its centre of mass is {inner:.1e} m inside of its faces"));
        }
        Ok(Solid { radius: hull.radius(), inner, mass, shape: Shape::Hull(hull.into()) })
    }
}

/// Radius of the ball about the origin that a hull holds [m].
fn inner_radius(shape: &Shape) -> f64 {
    match shape {
        Shape::Hull(hull) => hull.faces().iter().map(|f| f.offset).fold(f64::INFINITY, f64::min),
        _ => f64::INFINITY,
    }
}

impl Grains {
    /// Puts a polyhedron in and returns the index of its clump.
    pub fn insert_solid(
        &mut self,
        solid: &Solid,
        start: &ClumpStart,
        settings: &Settings,
    ) -> Result<usize, GrainError> {
        let ball = ClumpSphere { position: solid.mass.X_bc.position, radius: solid.radius };
        let index = self.insert_clump(&[ball], &solid.mass, start, settings)?;
        self.clumps[index].solid = Some(solid.shape.clone());
        Ok(index)
    }

    /// The clump of the grain at a place, if it is a polyhedron.
    pub fn solid(&self, place: usize) -> Option<&Clump> {
        self.clump_of(place).map(|c| &self.clumps[c]).filter(|clump| clump.solid.is_some())
    }

    /// True when some grain is a polyhedron.
    pub fn has_solids(&self) -> bool {
        self.clumps.iter().any(|clump| clump.solid.is_some())
    }

    /// Radius that stands for the size of the grain at a place: of a polyhedron that of the ball inside [m].
    pub(crate) fn thickness(&self, place: usize) -> f64 {
        let shape = self.solid(place).and_then(|clump| clump.solid.as_ref());
        shape.map_or(self.position[place][3], inner_radius)
    }

    /// An error where polyhedra would meet a wall that they cannot.
    pub(crate) fn check_walls_of_solids(&self, walls: &[Wall]) -> Result<(), GrainError> {
        if !self.has_solids() {
            return Ok(());
        }
        match walls.iter().position(|wall| wall_form(wall).is_none()) {
            Some(wall) => Err(GrainError::Wall {
                wall,
                what: "polyhedral grains meet planes, boxes, hulls and balls; try convex pieces".into(),
            }),
            None => Ok(()),
        }
    }

    fn side(&self, place: usize, shift: Vec3) -> Side<'_> {
        let Grains { position, motion, class, clump, clumps, skin, .. } = self;
        let view = View { position, motion, class, clump, clumps, walls: &[], normals: &[], skin: *skin };
        view.side(place, shift)
    }

    /// Depth of what two grains share, the second moved by `shift`, where one is a polyhedron, and the smaller of their thicknesses [m].
    pub(crate) fn solid_depth(&self, [i, j]: [usize; 2], shift: Vec3) -> Option<[f64; 2]> {
        if self.solid(i).is_none() && self.solid(j).is_none() {
            return None;
        }
        let depth = touching(&[self.side(i, Vec3::ZERO), self.side(j, shift)]).map_or(0.0, |t| t.depth);
        Some([depth, self.thickness(i).min(self.thickness(j))])
    }

    /// Depth of a polyhedron in a wall [m]; `None` of a ball.
    pub(crate) fn solid_depth_in_wall(&self, place: usize, wall: &Wall) -> Option<f64> {
        self.solid(place)?;
        let side = wall_side(wall)?;
        Some(touching(&[side, self.side(place, Vec3::ZERO)]).map_or(0.0, |t| t.depth))
    }
}
