//! Contact points: who may touch, where, how stiff, and what they remember.

use super::{Clock, FrictionBound, share};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tippe_geometry::space::any_orthogonal;
use tippe_geometry::{
    Aabb, Broad, BroadScratch, Manifold, ManifoldPoint, Mat3, Pose, Quat, Shape, Vec3, manifold, pairs_into, separation,
};
use tippe_mechanics::contact::friction::patch_lever;
use tippe_mechanics::contact::surfaces::{Blow, Path, SurfacePair, SurfacePoint};
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::{Kinematics, rotated};
use tippe_mechanics::model::{Collider, Drive, Model};
use tippe_mechanics::pair::ContactConstants;

/// Below this many elements all pairs of boxes are tried.
const FEW: usize = 24;
/// From this many pairs on threads share them.
const SHARED: usize = 64;
/// Shapes nearer than this share of the size meet [-].
const TOUCHES: f64 = 1e-4;
/// Looks at shapes on their way past each other, at most.
const LOOKS: usize = 12;
/// Pairs that a thread takes at a time.
const LOT: usize = 8;
/// Overlap is pushed out over this many steps where a contact is stiff [-].
const PUSH_STEPS: f64 = 3.0;
/// Points of a surface face one way where the cosine of their normals is above this [-].
const SAME_WAY: f64 = 0.7;
/// Contacts are looked for this much farther than bodies travel in a step, as a share of their size [-].
const MARGIN: f64 = 1e-3;

/// Shapes that overlap by less than this share of their size at the end of a step in which they move along each other lie flush [-].
const FLUSH: f64 = 1e-4;

/// Pairs are looked for anew when a box leaves its room: the box as it was, grown by this share of the body's size ...
const SPARE: f64 = 0.01;
/// ... and by this many of its margins [-].
const TRAVEL: f64 = 2.0;

/// A step below this share of a contact's radian resolves it [-].
const RESOLVED: f64 = 0.5;
/// Dampers hold what comes to rest back for no more than this [rad].
const CREEP: f64 = 6.0;
/// Impacts during which gravity changes velocities by less than this share of theirs are impulses, resolved or not [-].
const BRIEF: f64 = 0.05;

/// Contacts are as stiff as if they had to stop at least this speed [m/s].
const SLOW: f64 = 1e-4;

/// Columns of surfaces that touch strike where they would push this much harder than before [-].
const IMPACT: f64 = 4.0;
/// Restitution of surfaces that do not rebound [-].
pub(super) const LEAST_RESTITUTION: f64 = 0.01;

/// What a contact point carries from step to step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// The two elements.
    pub pair: (u32, u32),
    /// Which features touch.
    pub id: u32,
    /// Impulse of the last step [N s].
    pub normal: f64,
    /// Largest closing speed since it touched [m/s].
    pub fastest: f64,
    /// Whether its pair was struck in the last step.
    pub struck: bool,
    /// Energy it stores at the end of the step [J].
    pub stored: f64,
}

/// What the friction of a pair carries from step to step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hold {
    /// The two elements.
    pub pair: (u32, u32),
    /// Middle of its contact points [m].
    pub point: Vec3,
    /// Impulse of the last step on 2, resolved in world [N s].
    pub tangent: Vec3,
    /// Impulse about the normal over `lever` [N s].
    pub twist: f64,
    /// Displacement of the tangential spring, of 2 relative to 1, resolved in world [m].
    pub spring: Vec3,
    /// Rotation about the normal since it stuck, times the lever [m].
    pub wound: f64,
    /// Impulse of the resistance to rolling, resolved in world [N m s].
    pub turn: Vec3,
    /// Whether it slid.
    pub sliding: bool,
    /// Stiffness of the springs [N/m].
    #[serde(default)]
    pub stiffness: f64,
}

impl Hold {
    /// Energy of the springs of all of them: along the tangents, and about the normals [J].
    pub fn all_stored(holds: &[Hold]) -> [f64; 2] {
        holds.iter().fold([0.0; 2], |[spring, wound], hold| {
            let k = 0.5 * hold.stiffness;
            [spring + k * hold.spring.length_squared(), wound + k * hold.wound * hold.wound]
        })
    }
}

/// One contact point in a step.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// What it remembers, and will.
    pub memory: Memory,
    /// Whether it was there in the last step.
    pub known: bool,
    /// Its bodies.
    pub bodies: [usize; 2],
    /// Midpoint [m].
    pub point: Vec3,
    /// Unit normal from 1 to 2, and two tangents.
    pub axes: [Vec3; 3],
    /// Gap [m].
    pub gap: f64,
    /// Area of the patch it stands for [m^2].
    pub area: f64,
    /// Stiffness k [N/m].
    pub stiffness: f64,
    /// Damping over stiffness c/k [s].
    pub relaxation: f64,
    /// The step resolves it: the law is read at the depth of the step's beginning, and nothing happens before it touches.
    pub soft: bool,
    /// k of the elastic law F = k depth^n [N/m^n].
    pub hardness: f64,
    /// n [-].
    pub exponent: f64,
    /// mu, kinetic [-].
    pub mu: f64,
    /// Restitution [-].
    pub restitution: f64,
    /// Closing speeds below this do not rebound [m/s].
    pub rest_speed: f64,
    /// b of the exact damping [-].
    pub damping: f64,
    /// Its row.
    pub row: usize,
    /// Largest pull [N].
    pub adhesion: f64,
    /// Largest push [N].
    pub limit: f64,
    /// False: it does not push.
    pub on: bool,
    /// One of many columns between two surfaces, found anew in every step: all of them take part in an impact of the pair.
    pub column: bool,
    /// Rate of its gap beyond the mean of its patch at the beginning of the step: a patch that travels on is not damped [m/s]. None where
    /// it is yet to touch.
    pub drift: Option<f64>,
    /// Nothing of its patch touches yet.
    pub nears: bool,
    /// It is one of a patch that did not touch before, or will not as it moves: what comes near is not damped until it does.
    pub lands: bool,
}

/// Friction of one pair in a step: at the centre of pressure, limited together with spin about the normal,
///   (f/mu N)^2 + (M/(mu N b))^2 <= 1   (the limit surface of the precise clock).
#[derive(Clone, Copy, Debug)]
pub struct Grip {
    /// What it remembers, and will.
    pub memory: Hold,
    /// Middle of its contact points in the last step, zero if there was none [m].
    pub before: Vec3,
    /// Whether it was there in the last step.
    pub known: bool,
    /// Its contact points: first and number.
    pub touches: (usize, usize),
    /// Its bodies.
    pub bodies: [usize; 2],
    /// Centre of pressure [m].
    pub point: Vec3,
    /// Unit normal from 1 to 2, and two tangents.
    pub axes: [Vec3; 3],
    /// Tangential stiffness [N/m].
    pub stiffness: f64,
    /// Damping over stiffness [s].
    pub relaxation: f64,
    /// mu, kinetic and static [-].
    pub mu: [f64; 2],
    /// What turning bodies add to the slip in the middle of the step [m/s].
    pub turning: Vec3,
    /// b [m].
    pub lever: f64,
    /// Largest rolling torque over normal force [m].
    pub rolling: f64,
    /// Largest friction force, spin over its lever included [N].
    pub limit: f64,
    /// First of its rows.
    pub row: usize,
}

/// A pair of elements whose rooms overlap.
#[derive(Clone, Debug)]
pub struct Near {
    /// The two elements.
    pub pair: (u32, u32),
    /// How hard they are.
    pub constants: ContactConstants,
    /// Their surfaces, where one of them is a mesh.
    pub surfaces: Option<Arc<SurfacePair>>,
    /// Contact points at most.
    pub points: usize,
    /// Largest normal force [N].
    pub normal_force_max: f64,
    /// Largest friction force [N].
    pub force_max: f64,
}

/// Pairs near each other.
#[derive(Debug, Default)]
pub struct Pairs {
    /// Pairs whose rooms overlap, ascending, and the list before.
    near: Vec<Near>,
    last: Vec<Near>,
    /// Those of them whose boxes overlap and that may touch.
    now: Vec<u32>,
    boxes: Vec<Aabb>,
    /// What boxes may not leave as long as the list stands.
    rooms: Vec<Aabb>,
    margins: Vec<f64>,
    /// Poses of the elements.
    X_ws: Vec<Pose>,
    found: Vec<(u32, u32)>,
    scratch: BroadScratch,
    looks: Vec<Look>,
}

/// What is found between the two elements of a pair.
#[derive(Clone, Debug, Default)]
struct Look {
    /// Points between convex shapes, and whether there are any.
    manifold: Manifold,
    touches: bool,
    /// Columns between surfaces, and how many times stiffer they will be.
    points: Vec<SurfacePoint>,
    stiffening: f64,
    /// How deep surfaces are of which one has passed the middle of the other [m].
    beyond: Option<f64>,
}

impl Pairs {
    /// How far beyond each element contacts are looked for [m].
    pub fn margins(&self) -> &[f64] {
        &self.margins
    }

    /// Gap [m], normal and middle of two elements, which may be far apart; of meshes whose boxes are apart that of their hulls.
    pub fn between(&self, model: &Model, pair: (u32, u32)) -> (f64, Vec3, Vec3) {
        let X_ws = [pair.0, pair.1].map(|e| self.X_ws[e as usize]);
        let near = self.near.binary_search_by_key(&pair, |near| near.pair).ok();
        if let Some(surfaces) = near.and_then(|k| self.near[k].surfaces.as_ref()) {
            let (gap, normal, p1, p2) = surfaces.measure(&X_ws, true);
            return (gap, normal, 0.5 * (p1 + p2));
        }
        let [a, b] = [pair.0, pair.1].map(|e| &model.colliders[e as usize].shape);
        let s = separation(a, &X_ws[0], b, &X_ws[1]);
        (s.gap, s.normal, 0.5 * (s.point1 + s.point2))
    }

    /// Energy that the foundations between surfaces store where they are [J].
    pub fn stored(&self) -> f64 {
        let of = |&k: &u32| {
            let near = &self.near[k as usize];
            let (surfaces, layer) = (near.surfaces.as_ref()?, near.constants.layer?);
            let X_ws = [near.pair.0, near.pair.1].map(|e| self.X_ws[e as usize]);
            Some(near.constants.modulus / layer * surfaces.energy(&X_ws))
        };
        self.now.iter().filter_map(of).sum()
    }
}

impl Clock {
    /// Contact points of the step.
    pub(super) fn detect(&mut self) {
        self.search();
        let mut touches = std::mem::take(&mut self.touches);
        touches.clear();
        let mut grips = std::mem::take(&mut self.grips);
        grips.clear();
        let mut pairs = std::mem::take(&mut self.pairs);
        let Pairs { near, now, margins, X_ws, looks, .. } = &mut pairs;
        self.tally.pairs += now.len() as u64;
        let is_heavy = |k: &u32| near[*k as usize].surfaces.as_ref().is_some_and(|surfaces| surfaces.is_heavy());
        let heavy = now.iter().any(is_heavy);
        let pool = self.pool.as_ref().filter(|_| now.len() >= SHARED || heavy);
        // threads look at all pairs before the first is read; one alone reads what it has just seen
        let room = if pool.is_some() { now.len() } else { 1 };
        if looks.len() < room {
            looks.resize_with(room, Look::default);
        }
        if let Some(pool) = pool {
            let look_at = |(look, k): (&mut Look, &u32)| self.probe(&near[*k as usize], margins, X_ws, look);
            if heavy {
                pool.install(|| looks[..room].par_iter_mut().zip(now.par_iter()).for_each(look_at));
            } else {
                let lots = looks[..room].chunks_mut(LOT).zip(now.chunks(LOT));
                share(pool, lots, |(looks, pairs)| looks.iter_mut().zip(pairs).for_each(look_at));
            }
        }
        // pairs and what they remember are in the same order
        let (mut memories, mut holds) = (self.state.contacts.as_slice(), self.state.holds.as_slice());
        let mut rebounds = false;
        for (place, &k) in now.iter().enumerate() {
            let near = &near[k as usize];
            let look = &mut looks[if pool.is_some() { place } else { 0 }];
            if pool.is_none() {
                self.probe(near, margins, X_ws, look);
            }
            while let [first, rest @ ..] = memories
                && first.pair < near.pair
            {
                memories = rest;
            }
            while let [first, rest @ ..] = holds
                && first.pair < near.pair
            {
                holds = rest;
            }
            rebounds |= near.surfaces.is_some() || near.constants.restitution > 0.0;
            if near.surfaces.is_some() {
                let time = self.state.time;
                self.tally.beyond = self.tally.beyond.or(look.beyond.map(|depth| (time, near.pair, depth)));
                self.touch_surfaces(near, holds, look.stiffening, &mut look.points, &mut touches, &mut grips);
                continue;
            }
            if !look.touches {
                continue;
            }
            let [a, b] = [near.pair.0, near.pair.1].map(|e| &self.model.colliders[e as usize]);
            let from = touches.len();
            let (normal, points) = (look.manifold.normal, look.manifold.points());
            let share = 1.0 / points.len() as f64;
            let of_pair = memories.iter().take_while(|m| m.pair == near.pair).count();
            let (kin_a, kin_b) = (&self.kin[a.body as usize], &self.kin[b.body as usize]);
            let at = |kin: &Kinematics, point: Vec3| kin.v + kin.w.cross(point - kin.p);
            touches.extend(points.iter().map(|point| {
                let own = memories[..of_pair].iter().find(|m| m.id == point.id);
                let memory = own.copied().unwrap_or_default();
                let closing = normal.dot(at(kin_a, point.point) - at(kin_b, point.point));
                let mut touch = Touch::of(&near.constants, self.h, point, share, closing, 1.0, &memory);
                touch.bound(near.normal_force_max * share);
                (touch.memory.pair, touch.memory.id) = (near.pair, point.id);
                touch.known = own.is_some();
                touch.bodies = [a.body as usize, b.body as usize];
                touch
            }));
            let grip = self.grip(near, holds, normal, from, &touches[from..], &[]);
            for touch in &mut touches[from..] {
                touch.axes = grip.axes;
            }
            grips.push(grip);
        }
        self.rebounds = rebounds;
        self.grips = grips;
        self.pairs = pairs;
        self.touches = touches;
    }

    /// Where the elements of a pair touch or soon may.
    fn probe(&self, near: &Near, margins: &[f64], X_ws: &[Pose], look: &mut Look) {
        let (e1, e2) = near.pair;
        let [a, b] = [e1, e2].map(|e| &self.model.colliders[e as usize]);
        let margin = margins[e1 as usize] + margins[e2 as usize];
        let (X_1, X_2) = (X_ws[e1 as usize], X_ws[e2 as usize]);
        let Some(surfaces) = &near.surfaces else {
            look.touches = manifold(&a.shape, &X_1, &b.shape, &X_2, margin, near.points, &mut look.manifold);
            if look.touches && self.elapsed == 0.0 {
                self.slide_onto(near, [a, b], [X_1, X_2], margin, &mut look.manifold);
                look.touches = !self.passes_by([a, b], [X_1, X_2], &look.manifold);
            }
            return;
        };
        let path = |e: &Collider, X_ws: Pose| {
            let b = e.body as usize;
            let kin = &self.kin[b];
            let rate = Six::new(kin.w, kin.v);
            // what was struck in this step has a path of its own until then
            let past = if self.elapsed > 0.0 { self.path(b, self.elapsed) } else { Six::ZERO };
            let rest = self.h - self.elapsed;
            let body = &self.model.bodies[b];
            let (fall, inverse) = match body.drive {
                Drive::Free => {
                    let turning = kin.R * body.I_c_inverse * kin.R.transpose();
                    (self.model.gravity_at(kin.p) * (rest * rest), (1.0 / body.mass, turning))
                }
                _ => (Vec3::ZERO, (0.0, Mat3::ZERO)),
            };
            let tumbling = self.tumbles(b).then(|| (self.principal[b], rotated(self.state.bodies[b].q, past.angular)));
            Path { X_ws, centre: kin.p, past, rest, rate, tumbling, fall, inverse }
        };
        let constants = &near.constants;
        let softness = surfaces.layer() / constants.modulus;
        let blow =
            Blow { softness, slow: constants.rest_speed + self.gravity_on([a, b].map(|e| e.body as usize)) * self.h };
        let touching = self.of_pair(near.pair).iter().any(|m| m.normal > 0.0);
        let encounter = surfaces.encounter([path(a, X_1), path(b, X_2)], touching, margin, blow);
        look.beyond = encounter.columns(true, &mut look.points);
        // a law that is read at the depth of the beginning wants the columns from there
        let area: f64 = look.points.iter().map(|p| p.area).sum();
        let stiff =
            |stiffening: f64| stiffening * area * self.h * self.h >= RESOLVED * RESOLVED * constants.mass * softness;
        let sure = touching || stiff(1.0);
        look.stiffening = if sure { 1.0 } else { self.stiffening(near, surfaces, [X_1, X_2], &look.points) };
        if !stiff(look.stiffening) {
            encounter.columns(false, &mut look.points);
        }
    }

    /// True of convex shapes of free bodies that come near, and whose ways by themselves lead past each other in the step: each plane between them is as far off as it can be
    /// come to until then, or left behind. What is nearest now may lie askew to the way, and would stop what only passes.
    fn passes_by(&self, [a, b]: [&Collider; 2], X_ws: [Pose; 2], found: &Manifold) -> bool {
        let bodies = [a.body as usize, b.body as usize];
        let (mut gap, mut normal) =
            (found.points().iter().fold(f64::INFINITY, |least, p| least.min(p.gap)), found.normal);
        if gap <= 0.0 || bodies.iter().any(|&b| self.model.bodies[b].mechanism.is_some()) {
            return false;
        }
        let kin = bodies.map(|b| &self.kin[b]);
        let fall =
            |k: usize| if self.is_free(bodies[k]) { self.model.gravity_at(kin[k].p) * self.h } else { Vec3::ZERO };
        let v = [kin[0].v + fall(0), kin[1].v + fall(1)];
        let spin: f64 = (0..2).map(|k| kin[k].w.length() * self.model.bodies[bodies[k]].radius.min(1e3)).sum();
        let at = |k: usize, time: f64| {
            let turn = Quat::from_scaled_axis(kin[k].w * time);
            Pose::new(turn * X_ws[k].rotation, kin[k].p + v[k] * time + turn * (X_ws[k].position - kin[k].p))
        };
        let touches = TOUCHES * bodies.iter().map(|&b| self.model.bodies[b].size).fold(f64::INFINITY, f64::min);
        let mut time = 0.0;
        for _ in 0..LOOKS {
            let closing = normal.dot(v[0] - v[1]) + spin;
            if closing <= 0.0 || time + gap / closing > self.h {
                return time > 0.0;
            }
            time += gap / closing;
            let then = separation(&a.shape, &at(0, time), &b.shape, &at(1, time));
            (gap, normal) = (then.gap, then.normal);
            if gap <= touches {
                return false;
            }
        }
        false
    }

    /// Convex shapes that come near and will only just touch at the end of the step, while they move along each other, slide onto each other: over a flush seam. Their points
    /// are those of the end, for what lies ahead now is an edge that would stop them.
    fn slide_onto(&self, near: &Near, [a, b]: [&Collider; 2], X_ws: [Pose; 2], margin: f64, found: &mut Manifold) {
        let bodies = [a.body as usize, b.body as usize];
        let kin = bodies.map(|b| &self.kin[b]);
        let relative = |x: Vec3| {
            let at = |k: usize| kin[k].v + kin[k].w.cross(x - kin[k].p);
            at(1) - at(0)
        };
        let nearest = found.points().iter().fold(f64::INFINITY, |least, p| least.min(p.gap));
        let middle = found.points()[0].point;
        let tolerance = FLUSH * bodies.iter().map(|&b| self.model.bodies[b].size).fold(f64::INFINITY, f64::min);
        let closing = -found.normal.dot(relative(middle));
        if nearest < -tolerance || self.h * closing < nearest.max(0.0) + tolerance {
            return;
        }
        let end = |k: usize| {
            let turn = Quat::from_scaled_axis(kin[k].w * self.h);
            let centre = kin[k].p + kin[k].v * self.h;
            Pose::new(turn * X_ws[k].rotation, centre + turn * (X_ws[k].position - kin[k].p))
        };
        let mut then = Manifold::default();
        if !manifold(&a.shape, &end(0), &b.shape, &end(1), margin, near.points, &mut then) || then.count == 0 {
            return;
        }
        let deepest = then.points().iter().fold(f64::INFINITY, |least, p| least.min(p.gap));
        let along = |p: &ManifoldPoint| self.h * then.normal.dot(relative(p.point)).abs() < tolerance;
        if deepest.abs() < tolerance && then.normal.dot(found.normal) > -0.5 && then.points().iter().all(along) {
            let free = kin.iter().zip(bodies).filter(|(_, b)| self.is_free(*b));
            let (sum, count) = free.fold((Vec3::ZERO, 0), |(sum, n), (kin, _)| (sum + kin.v * self.h, n + 1));
            let normal = then.normal;
            for p in &mut then.points[..then.count] {
                p.point -= sum / f64::max(count as f64, 1.0);
                p.gap -= self.h * normal.dot(relative(p.point));
            }
            *found = then;
        }
    }

    /// How many times stiffer surfaces that begin to touch will be where they are deepest than over the columns at hand [-]: what is round or pointed touches
    /// with next to no area. Read where they will be one step after they meet, A, d and r d are the area there, the depth and its mean:
    ///   A (x/d)^p at depth x,   p = 1/r - 1 (0 for a face, 1 for a ball, 2 for a corner)
    ///   k A r d^2 (D/d)^(p+2)/(p+2) = m V^2/2,   area where deepest A (D/d)^p
    fn stiffening(&self, near: &Near, surfaces: &SurfacePair, X_ws: [Pose; 2], points: &[SurfacePoint]) -> f64 {
        let bodies = [near.pair.0, near.pair.1].map(|e| self.model.colliders[e as usize].body as usize);
        let (mut area, mut V, mut gap) = (0.0, 0.0, f64::INFINITY);
        for p in points {
            let at = |b: usize| self.kin[b].v + self.kin[b].w.cross(p.point - self.kin[b].p);
            area += p.area;
            V += p.area * p.normal.dot(at(bodies[0]) - at(bodies[1]));
            gap = gap.min(p.gap);
        }
        let (Some(layer), true) = (near.constants.layer, V > 0.0) else { return 1.0 };
        V /= area;
        // what does not meet in this step may do so in another
        if gap > V * self.h {
            return 1.0;
        }
        let time = self.h + gap.max(0.0) / V;
        let there = [0, 1].map(|s| Pose { position: X_ws[s].position + self.kin[bodies[s]].v * time, ..X_ws[s] });
        let (A, mean, d) = surfaces.extent(&there);
        if A <= 0.0 || mean <= 0.0 {
            return 1.0;
        }
        let r = (mean / d).clamp(1.0 / 3.0, 1.0);
        let p = 1.0 / r - 1.0;
        let work = near.constants.mass * V * V * layer / (2.0 * near.constants.modulus * A * r * d * d);
        (A / area * libm::pow((p + 2.0) * work, p / (p + 2.0))).max(1.0)
    }

    /// Columns between surfaces, in groups that face one way: each has its own friction. They are other ones in every step, so what they
    /// remember is that of their pair, and the impulse they start from is that of the law.
    fn touch_surfaces(
        &self,
        near: &Near,
        holds: &[Hold],
        stiffening: f64,
        points: &mut [SurfacePoint],
        touches: &mut Vec<Touch>,
        grips: &mut Vec<Grip>,
    ) {
        let bodies = [near.pair.0, near.pair.1].map(|e| self.model.colliders[e as usize].body as usize);
        let area: f64 = points.iter().map(|p| p.area).sum();
        let closing = |p: &SurfacePoint| {
            let at = |b: usize| self.kin[b].v + self.kin[b].w.cross(p.point - self.kin[b].p);
            p.normal.dot(at(bodies[0]) - at(bodies[1]))
        };
        let fastest_now = points.iter().map(closing).fold(0.0, f64::max);
        let before = self.of_pair(near.pair);
        let known = before.iter().any(|m| m.normal > 0.0);
        let fastest = before.iter().filter(|m| m.normal > 0.0).fold(0.0, |most, m| f64::max(most, m.fastest));
        let load = |p: &SurfacePoint| p.area * (-p.gap).max(0.0);
        let carried: f64 = before.iter().map(|m| m.normal.max(0.0)).sum();
        let first = grips.len();
        let mut id = 0;
        let mut left = &mut *points;
        while !left.is_empty() {
            // the most loaded column of the region and all that face its way
            let region = left[0].region;
            let of_region = left.iter().filter(|p| p.region == region);
            let Some(seed) = of_region.max_by(|a, b| load(a).total_cmp(&load(b))).copied() else { break };
            let mut count = 0;
            for k in 0..left.len() {
                if left[k].region == region && left[k].normal.dot(seed.normal) > SAME_WAY {
                    left[count..=k].rotate_right(1);
                    count += 1;
                }
            }
            let (group, rest) = left.split_at_mut(count);
            let from = touches.len();
            let pressed: f64 = group.iter().map(load).sum();
            let weight = |p: &SurfacePoint| if pressed > 0.0 { load(p) } else { p.area };
            let mean = group.iter().map(|p| p.normal * weight(p)).sum::<Vec3>();
            let normal = mean.try_normalize().unwrap_or(seed.normal);
            // a patch that rolls or slides on closes in front and opens behind: an impact would push harder than anything yet
            let later = |p: &SurfacePoint| p.area * (self.h * closing(p) - p.gap).max(0.0);
            let ahead: f64 = group.iter().map(later).sum();
            let approach = match ahead > 0.0 {
                true => group.iter().map(|p| closing(p) * later(p)).sum::<f64>() / ahead,
                // or what comes nearest
                false => {
                    let then = |p: &SurfacePoint| p.gap - self.h * closing(p);
                    group.iter().min_by(|a, b| then(a).total_cmp(&then(b))).map_or(0.0, closing)
                }
            };
            let modulus = near.constants.layer.map_or(f64::INFINITY, |layer| near.constants.modulus / layer);
            let least = IMPACT * (carried + near.constants.mass * near.constants.rest_speed);
            // what newly touches while it rolls does so at the speed of its approach, not of its front
            let slowly = !known && approach <= near.constants.rest_speed + self.gravity_on(bodies) * self.h;
            let smooth = slowly || known && self.h * modulus * ahead < least;
            for p in group.iter() {
                let point = ManifoldPoint { point: p.point, gap: p.gap, id, area: p.area };
                let memory = Memory { pair: near.pair, id, fastest, normal: f64::from(known), ..Memory::default() };
                let mut touch =
                    Touch::of(&near.constants, self.h, &point, p.area / area, fastest_now, stiffening, &memory);
                touch.memory.normal = self.h * touch.hardness * libm::pow((-p.gap).max(0.0), touch.exponent);
                (touch.known, touch.column, touch.bodies) = (known, true, bodies);
                touch.lands = !known || ahead == 0.0;
                touch.drift = (smooth || p.gap <= 0.0).then(|| approach - closing(p));
                touch.nears = pressed == 0.0;
                touch.bound(near.normal_force_max * p.area / area);
                // where nothing rebounds something must still stop it
                let stops = !smooth && touch.limit == f64::INFINITY && (touch.restitution > 0.0 || !touch.soft);
                touch.restitution = if stops { touch.restitution.max(LEAST_RESTITUTION) } else { 0.0 };
                let t1 = any_orthogonal(p.normal);
                touch.axes = [p.normal, t1, p.normal.cross(t1)];
                touches.push(touch);
                id += 1;
            }
            let grip = self.grip(near, holds, normal, from, &touches[from..], &grips[first..]);
            grips.push(grip);
            left = rest;
        }
    }

    /// The larger of the accelerations of gravity on two bodies of which at least one is free [m/s^2].
    fn gravity_on(&self, bodies: [usize; 2]) -> f64 {
        let free = bodies.into_iter().filter(|&b| self.is_free(b));
        free.map(|b| self.model.gravity_at(self.kin[b].p).length()).fold(0.0, f64::max)
    }

    /// Pairs of elements whose boxes, grown by what bodies can travel, overlap.
    fn search(&mut self) {
        let mut pairs = std::mem::take(&mut self.pairs);
        let (model, h) = (&self.model.clone(), self.h);
        pairs.boxes.clear();
        pairs.margins.clear();
        pairs.X_ws.clear();
        let mut stays = true;
        for e in &model.colliders {
            let body = &model.bodies[e.body as usize];
            let kin = &self.kin[e.body as usize];
            let radius = body.radius.min(1e3);
            let g = if body.drive == Drive::Free { model.gravity_at(kin.p).length() } else { 0.0 };
            let mut reach = (kin.v.length() + g * h + kin.w.length() * radius) * h;
            if self.elapsed > 0.0 {
                // boxes are those of the step's beginning
                let past = self.path(e.body as usize, self.elapsed);
                reach += past.linear.length() + past.angular.length() * radius;
            }
            let moving = body.drive != Drive::Fixed;
            let margin = if moving { reach + MARGIN * body.size } else { 0.0 };
            let X_wc = Pose::new(self.state.bodies[e.body as usize].q, kin.p);
            let X_wc = if body.drive == Drive::Free { X_wc } else { Pose::new(Quat::from_mat3(&kin.R), kin.p) };
            let bounds = e.aabb(&X_wc).grown(margin);
            stays &= pairs.rooms.get(pairs.boxes.len()).is_some_and(|room| room.contains(&bounds));
            pairs.boxes.push(bounds);
            pairs.margins.push(margin);
            pairs.X_ws.push(X_wc.then(&e.X_cs));
        }
        self.pairs = pairs;
        if !stays {
            self.look_around();
        }
        let Pairs { near, now, boxes, .. } = &mut self.pairs;
        now.clear();
        for (k, Near { pair: (e1, e2), .. }) in near.iter().enumerate() {
            let [a, b] = [*e1, *e2].map(|e| e as usize);
            let bodies = [a, b].map(|e| model.colliders[e].body);
            if boxes[a].overlaps(&boxes[b]) && self.state.structure.may_touch(bodies[0], bodies[1]) {
                now.push(k as u32);
            }
        }
    }

    /// Pairs whose boxes may overlap before one of them leaves its room.
    fn look_around(&mut self) {
        let (model, pairs) = (&self.model.clone(), &mut self.pairs);
        pairs.rooms.clear();
        for ((e, bounds), margin) in model.colliders.iter().zip(&pairs.boxes).zip(&pairs.margins) {
            let body = &model.bodies[e.body as usize];
            let spare = if body.drive == Drive::Fixed { 0.0 } else { SPARE * body.size + TRAVEL * margin };
            pairs.rooms.push(bounds.grown(spare));
        }
        let method = if pairs.rooms.len() < FEW { Broad::All } else { Broad::Bvh };
        pairs_into(&pairs.rooms, method, &mut pairs.scratch, &mut pairs.found);
        std::mem::swap(&mut pairs.near, &mut pairs.last);
        pairs.near.clear();
        let mut old = pairs.last.drain(..).peekable();
        for &(e1, e2) in &pairs.found {
            while old.next_if(|n| n.pair < (e1, e2)).is_some() {}
            if let Some(near) = old.next_if(|n| n.pair == (e1, e2)) {
                pairs.near.push(near);
            } else if let (Some((constants, surfaces)), Some(own)) =
                (ContactConstants::of(model, (e1, e2)), model.contact_between(e1 as usize, e2 as usize))
            {
                let is_mesh = |e: u32| matches!(model.colliders[e as usize].shape, Shape::Mesh(_));
                let surfaces = surfaces.filter(|_| is_mesh(e1) || is_mesh(e2)).map(Arc::new);
                pairs.near.push(Near {
                    pair: (e1, e2),
                    constants,
                    surfaces,
                    points: own.points.unwrap_or(self.settings.points),
                    normal_force_max: own.normal_force_max,
                    force_max: own.force_max,
                });
            }
        }
    }

    /// What the contact points of a pair remember.
    fn of_pair(&self, pair: (u32, u32)) -> &[Memory] {
        let list = &self.state.contacts;
        let first = list.partition_point(|m| m.pair < pair);
        let count = list[first..].partition_point(|m| m.pair == pair);
        &list[first..first + count]
    }

    /// Orientation of a body at the beginning of the step.
    pub(super) fn orientation(&self, body: usize) -> Quat {
        match self.model.bodies[body].drive {
            Drive::Free => self.state.bodies[body].q,
            _ => Quat::from_mat3(&self.kin[body].R),
        }
    }

    /// Friction of a pair over its contact points; `holds` begin with what it remembers, `others` are the grips it has already.
    #[inline]
    fn grip(
        &self,
        near: &Near,
        holds: &[Hold],
        normal: Vec3,
        first: usize,
        touches: &[Touch],
        others: &[Grip],
    ) -> Grip {
        // it goes on with the nearest of those of the pair that nobody else has
        let at = touches.iter().map(|t| t.point).sum::<Vec3>() / touches.len() as f64;
        let of_pair = holds.iter().take_while(|m| m.pair == near.pair);
        let of_pair = of_pair.filter(|m| others.iter().all(|o| o.before != m.point));
        let nearest = of_pair.min_by(|a, b| (a.point - at).length().total_cmp(&(b.point - at).length()));
        let (mut memory, known) = match nearest {
            Some(hold) => (*hold, true),
            None => (Hold { pair: near.pair, ..Hold::default() }, false),
        };
        let before = memory.point;
        memory.point = at;
        let count = touches.len();
        let load: f64 = touches.iter().map(|t| t.memory.normal.max(0.0)).sum();
        let area: f64 = touches.iter().map(|t| t.area).sum();
        // columns that carry nothing yet are as many as triangles make them
        let weight = |t: &Touch| match t.column && area > 0.0 {
            _ if load > 0.0 => t.memory.normal.max(0.0) / load,
            true => t.area / area,
            false => 1.0 / count as f64,
        };
        let point = touches.iter().map(|t| t.point * weight(t)).sum::<Vec3>();
        let constants = &near.constants;
        let lever = if constants.spin > 0.0 {
            constants.spin
        } else if area > 0.0 {
            let mut second = Mat3::ZERO;
            for t in touches {
                let r = t.point - point;
                second += Mat3::from_cols(r * r.x, r * r.y, r * r.z) * weight(t);
            }
            // corners of a regular polygon lie farther out than its area
            let corners = (2.0 + libm::cos(2.0 * std::f64::consts::PI / count as f64)) / 6.0;
            patch_lever(area, &(second * if touches[0].column { 1.0 } else { corners }))
        } else if count > 1 {
            touches.iter().map(|t| (t.point - point).length() * weight(t)).sum()
        } else {
            // Hertz: a^3 = 3 N R/(4 E*), b = 3 pi a/16
            let N = (load / self.h).max(0.2 * constants.weight);
            let a = libm::cbrt(0.75 * N * constants.radius / constants.modulus.max(f64::MIN_POSITIVE));
            3.0 * std::f64::consts::PI / 16.0 * a.min(constants.radius)
        };
        let mut grip = Grip {
            memory,
            before,
            known,
            touches: (first, count),
            bodies: touches[0].bodies,
            point,
            axes: [normal; 3],
            stiffness: constants.kappa * touches.iter().map(|t| t.stiffness).sum::<f64>(),
            relaxation: touches[0].relaxation,
            mu: [constants.mu, constants.mu_static],
            turning: Vec3::ZERO,
            lever,
            rolling: constants.rolling,
            limit: near.force_max,
            row: usize::MAX,
        };
        // what newly touches is not strained yet: a stiffer spring carries what it did
        let strained = grip.memory.stiffness / grip.stiffness;
        if strained > 0.0 && strained < 1.0 {
            grip.memory.spring *= strained;
            grip.memory.wound *= strained;
        }
        grip.memory.stiffness = grip.stiffness;
        // tangential memory stays in the plane of the contact
        grip.memory.spring -= normal * normal.dot(grip.memory.spring);
        grip.memory.tangent -= normal * normal.dot(grip.memory.tangent);
        grip.axes = self.axes(normal, &grip);
        grip
    }

    /// Normal and tangents; where friction is a box the first one is along the slip.
    fn axes(&self, normal: Vec3, grip: &Grip) -> [Vec3; 3] {
        let mut first = any_orthogonal(normal);
        if self.settings.friction == FrictionBound::Box {
            let at = |b: usize| self.kin[b].v + self.kin[b].w.cross(grip.point - self.kin[b].p);
            let v = at(grip.bodies[1]) - at(grip.bodies[0]);
            let v = v - normal * normal.dot(v);
            let along = if v.length() > 1e-6 { v } else { grip.memory.tangent };
            if let Some(t) = (along - normal * normal.dot(along)).try_normalize() {
                first = t;
            }
        }
        [normal, first, normal.cross(first)]
    }

    /// Derivative of a point's relative velocity (2 minus 1) along `axis` by the motion of side k, about its centre of mass.
    pub(super) fn lever(&self, body: usize, point: Vec3, axis: Vec3, side: usize) -> Six {
        let sign = if side == 0 { -1.0 } else { 1.0 };
        Six::new((point - self.kin[body].p).cross(axis), axis) * sign
    }
}

impl Touch {
    /// Pushes at most with this force [N]; what is limited does not rebound: an impact would push as hard as its law says.
    fn bound(&mut self, limit: f64) {
        self.limit = limit;
        if limit < f64::INFINITY {
            self.restitution = 0.0;
        }
    }
}

impl Touch {
    /// A contact point of this pair that carries this share of it: its stiffness is the secant of the law at the load of the last step, so
    /// that it rests at the depth of the law; one that was not loaded yet gets the load that stops what closes in one step. Stiff contacts
    /// push out over a few steps; those that the step resolves follow their law at the depth they have. It will be `stiffening` times stiffer.
    #[inline(always)]
    fn of(
        constants: &ContactConstants,
        h: f64,
        point: &tippe_geometry::ManifoldPoint,
        share: f64,
        closing: f64,
        stiffening: f64,
        memory: &Memory,
    ) -> Touch {
        let hardness = match constants.layer {
            Some(layer) if point.area > 0.0 => constants.modulus / layer * point.area,
            _ => constants.stiffness * share,
        };
        let (n, mass) = (constants.exponent, constants.mass * share);
        // depth of an impact at the speed it has, or had, and at rest: K depth^(n+1)/(n+1) = m v^2/2, K depth^n = N
        let speed = closing.max(memory.fastest).max(SLOW);
        let linear = n == 1.0;
        let impact_depth = || libm::pow(0.5 * (n + 1.0) * mass * speed * speed / hardness, 1.0 / (n + 1.0));
        let rest_depth = || libm::pow(0.2 * constants.weight * share / hardness, 1.0 / n);
        let tangent = if linear { 1.0 } else { libm::pow(impact_depth().max(rest_depth()), n - 1.0) };
        let omega = (hardness * tangent / mass).sqrt();
        let soft = stiffening.sqrt() * omega * h < RESOLVED;
        let brief = std::f64::consts::PI / omega * constants.weight < BRIEF * constants.mass * speed;
        let depth = (-point.gap).max(0.0);
        let stiffness = if linear {
            hardness
        } else if soft {
            hardness * libm::pow(depth.max(1e-6 * impact_depth()), n - 1.0)
        } else {
            // k depth = K depth^n = N
            let load =
                (memory.normal / h).max(share * (0.2 * constants.weight).max(constants.mass * closing.max(SLOW) / h));
            libm::pow(hardness, 1.0 / n) * libm::pow(load, 1.0 - 1.0 / n)
        };
        let fastest = if memory.normal > 0.0 { memory.fastest.max(closing) } else { closing.max(0.0) };
        let relaxation = match constants.damper {
            _ if !soft => PUSH_STEPS * h,
            Some(c) => c * share / stiffness,
            // K depth^n (1 + b v/v_impact), and what comes to rest does not creep
            None => (constants.damping * depth / fastest.max(SLOW)).min(CREEP / omega),
        };
        Touch {
            memory: Memory { fastest, ..*memory },
            known: false,
            bodies: [0; 2],
            point: point.point,
            axes: [Vec3::ZERO; 3],
            gap: point.gap,
            area: point.area,
            stiffness,
            relaxation: relaxation.max(1e-6 * h),
            soft,
            hardness,
            exponent: n,
            mu: constants.mu,
            restitution: if brief || !soft { constants.restitution } else { 0.0 },
            rest_speed: constants.rest_speed,
            damping: constants.damping,
            row: usize::MAX,
            adhesion: 0.0,
            limit: f64::INFINITY,
            on: true,
            column: false,
            drift: None,
            nears: false,
            lands: false,
        }
    }
}
