//! Impacts, in their own phase: touching bodies are integrated in micro-time with the elastic laws of their contacts, at the geometry of the
//! instant at which they meet, until all separate; the rows of the step then see no restitution.
//!
//! One simultaneous solution with Newton's restitution gets a row of touching balls wrong: which one moves on is a matter of the order
//! in which contacts are compressed, so that is resolved. Between impacts of one step bodies move on straight lines; what
//! gravity does to them meanwhile is in `impact/fall.rs`.

mod fall;

pub use fall::Fall;

use super::Clock;
use super::contacts::LEAST_RESTITUTION;
use super::joints::flat;
use super::partition::masses;
use fall::{Falling, RISES, linear};
use tippe_geometry::{Manifold, Mat3, Pose, Quat, Shape, Vec3, manifold};
use tippe_mechanics::cause::Cause;
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::{Kinematics, rotated};
use tippe_mechanics::model::kinetic;
use tippe_numerics::kkt::{Block, BlockLdl, GROUND, Vertex, Wide, border};

/// Micro-steps per duration of the shortest contact.
const RESOLUTION: f64 = 60.0;
/// Columns with less than this share of the stiffness of all do not tell the length of micro-steps [-].
const NEGLIGIBLE: f64 = 1e-6;
/// Micro-steps of one impact at most.
const LONGEST: usize = 200_000;
/// The same where nothing rebounds: rows stop what is left.
const PLASTIC: usize = 2_000;
/// Micro-steps in a row, at most, in which nothing that touches moves by more than a hundredth of the first speed.
const WEDGED: usize = 60;
/// Impacts one after the other in one step, at most, per contact.
const IMPACTS: usize = 64;
/// Searches for contacts after impacts in one step, at most.
const ROUNDS: usize = 8;
/// Gaps below this share of a body's size count as touching [-].
const TOUCHING: f64 = 1e-9;
/// Impacts within this share of a step happen at once [-].
const SAME: f64 = 1e-12;
/// Looks at the geometry of one impact, at most, until its instant is found.
const LOOKS: u8 = 12;

/// An impact at one contact point.
#[derive(Clone, Copy, Debug)]
pub struct Blow {
    /// The two elements.
    pub pair: (u32, u32),
    /// Their bodies.
    pub bodies: [usize; 2],
    /// Where [m].
    pub point: Vec3,
    /// Unit normal from 1 to 2.
    pub normal: Vec3,
    /// Impulse on body 2, resolved in world [N s].
    pub push: Vec3,
}

/// A contact point during impacts.
#[derive(Clone, Copy, Debug)]
struct Striking {
    touch: u32,
    bodies: [u32; 2],
    /// Normal and tangents, on both bodies.
    J: [[[f64; 6]; 2]; 3],
    /// Where [m], and the normal from 1 to 2 with two tangents, at the instant looked at last.
    point: Vec3,
    axes: [Vec3; 3],
    /// How often the geometry was looked at, and whether that of the impact is found.
    looks: u8,
    ready: bool,
    /// Gap at the instant `since` [m], [s]; it goes on with the rates at hand.
    gap: f64,
    since: f64,
    /// What bodies whose motion is given add to the rates.
    given: [f64; 3],
    /// J M^-1 J^T of the normal, and the larger of the tangents.
    yields: [f64; 2],
    fastest: f64,
    /// Impulses of the present micro-step.
    impulse: [f64; 3],
    /// Impulses of all.
    total: [f64; 3],
    active: bool,
}

impl Striking {
    /// Brings the gap to an instant.
    fn settle(&mut self, now: f64, u: &[f64]) {
        if now > self.since && self.gap.is_finite() {
            self.gap += (now - self.since) * self.rate(0, u);
        }
        self.since = now;
    }

    /// J M^-1 J^T of the normal, and the larger of the tangents.
    fn yields_to(&self, inverse: &[Block]) -> [f64; 2] {
        let along = |axis: usize| {
            let mut sum = 0.0;
            for side in (0..2).filter(|&side| self.bodies[side] != GROUND) {
                let (W, J) = (&inverse[self.bodies[side] as usize], &self.J[axis][side]);
                for i in 0..6 {
                    sum += J[i] * (0..6).map(|j| W[6 * i + j] * J[j]).sum::<f64>();
                }
            }
            sum
        };
        [along(0), along(1).max(along(2))]
    }

    fn rate(&self, axis: usize, u: &[f64]) -> f64 {
        let mut sum = self.given[axis];
        for s in 0..2 {
            if self.bodies[s] != GROUND {
                let u = &u[6 * self.bodies[s] as usize..][..6];
                let J = &self.J[axis][s];
                sum += (J[0] * u[0] + J[1] * u[1] + J[2] * u[2]) + (J[3] * u[3] + J[4] * u[4] + J[5] * u[5]);
            }
        }
        sum
    }
}

/// The contact points of a round of impacts and what moves them. What an impact does not reach is not touched by it.
struct Melee {
    /// One for each of the clock's `touches`, in their order.
    list: Vec<Striking>,
    /// Instants of the impacts to come, one for each of the list [s].
    times: Vec<f64>,
    /// Which group of contact points each belongs to.
    grip_of: Vec<u32>,
    /// Bodies of the model that take part.
    bodies: Vec<usize>,
    /// Contact points of each body: `of_body[starts[b]..starts[b + 1]]`.
    of_body: Vec<u32>,
    starts: Vec<u32>,
    /// Velocities, angular before linear, and those of reached bodies before a micro-step.
    u: Vec<f64>,
    started: Vec<f64>,
    /// Paths until the instants `since`, as [`Clock::path`].
    path: Vec<f64>,
    since: Vec<f64>,
    /// Orientations at the beginning of the step and then, of bodies that turn: between impacts their momentum stays, not their velocity.
    tumbling: Vec<Option<[Quat; 2]>>,
    response: Response,
    /// Bodies that hang together with an impact, and whether each does.
    reached: Vec<u32>,
    is_reached: Vec<bool>,
    /// Momenta of a micro-step.
    push: Vec<f64>,
    /// Whether no impact of the step has moved a body yet, and what its first one saw of gravity.
    fresh: Vec<bool>,
    falls: Vec<Fall>,
}

impl Melee {
    /// Contact points of a body.
    fn contacts(&self, body: u32) -> impl Iterator<Item = usize> {
        let range = self.starts[body as usize] as usize..self.starts[body as usize + 1] as usize;
        self.of_body[range].iter().map(|&k| k as usize)
    }

    /// A body hangs together with the impact; all of mechanisms do where one does.
    fn reach(&mut self, body: u32) {
        if std::mem::replace(&mut self.is_reached[body as usize], true) {
            return;
        }
        self.reached.push(body);
        if let Some((_, held, _)) = &self.response.joined
            && held[body as usize]
        {
            for b in 0..held.len() {
                if held[b] && !std::mem::replace(&mut self.is_reached[b], true) {
                    self.reached.push(b as u32);
                }
            }
        }
    }

    /// Gaps and paths of all that is reached are those of this instant, velocities too.
    fn settle(&mut self, now: f64, clock: &Clock) {
        for b in self.reached.iter().map(|&b| b as usize) {
            for &k in &self.of_body[self.starts[b] as usize..self.starts[b + 1] as usize] {
                self.list[k as usize].settle(now, &self.u);
            }
        }
        for b in self.reached.iter().map(|&b| b as usize) {
            let time = now - self.since[b];
            for i in 6 * b..6 * b + 6 {
                self.path[i] += time * self.u[i];
            }
            self.since[b] = now;
            if let Some([first, q]) = &mut self.tumbling[b]
                && time > 0.0
            {
                let body = self.bodies[b];
                let (turned, w) = clock.principal[body].turn(*q, Vec3::from_slice(&self.u[6 * b..]), time);
                *q = turned;
                w.write_to_slice(&mut self.u[6 * b..6 * b + 3]);
                turn_between(*first, turned).write_to_slice(&mut self.path[6 * b..6 * b + 3]);
                self.response.inverse[b] = masses(&clock.model.bodies[body], &Mat3::from_quat(turned)).1;
            }
        }
    }
}

/// The shortest turn from one orientation to another, resolved in world [rad].
fn turn_between(from: Quat, to: Quat) -> Vec3 {
    let turn = to * from.conjugate();
    let turn = if turn.w < 0.0 { -turn } else { turn };
    let v = Vec3::new(turn.x, turn.y, turn.z);
    let sin = v.length();
    if sin == 0.0 { Vec3::ZERO } else { v * (2.0 * libm::atan2(sin, turn.w) / sin) }
}

/// What impulses do to velocities: free bodies one by one, bodies of mechanisms together with their joints.
struct Response {
    inverse: Vec<Block>,
    joined: Option<(BlockLdl, Vec<bool>, Vec<f64>)>,
}

impl Response {
    /// u += answer to the momenta `push` of these bodies, which are cleared.
    fn apply(&mut self, bodies: &[u32], push: &mut [f64], u: &mut [f64]) {
        let n = self.inverse.len();
        if let Some((ldl, held, x)) = &mut self.joined
            && bodies.iter().any(|&b| held[b as usize])
        {
            x.fill(0.0);
            for b in (0..n).filter(|&b| held[b]) {
                x[6 * b..6 * b + 6].copy_from_slice(&push[6 * b..6 * b + 6]);
            }
            ldl.solve(x);
            for b in (0..n).filter(|&b| held[b]) {
                for i in 0..6 {
                    u[6 * b + i] += x[6 * b + i];
                    push[6 * b + i] = 0.0;
                }
            }
        }
        for &b in bodies {
            let (b, W) = (b as usize, &self.inverse[b as usize]);
            let p: [f64; 6] = std::array::from_fn(|i| push[6 * b + i]);
            if p == [0.0; 6] {
                continue;
            }
            for i in 0..6 {
                u[6 * b + i] += (0..6).map(|j| W[6 * i + j] * p[j]).sum::<f64>();
                push[6 * b + i] = 0.0;
            }
        }
    }
}

/// True of contacts that do not rebound: b of `LEAST_RESTITUTION` is just below its inverse.
fn is_plastic(touch: &super::Touch) -> bool {
    touch.damping > 0.5 / LEAST_RESTITUTION
}

impl Clock {
    /// Impacts of the step: velocities jump, and bodies hop.
    pub(super) fn strike(&mut self) {
        self.hops.fill(Six::ZERO);
        self.struck.fill(false);
        self.swung.fill(None);
        self.tumbled.fill(false);
        self.falls.fill(Fall::default());
        self.blows.clear();
        let mut elapsed = 0.0;
        self.opened = self.state.ledger;
        let began = self.kinetic_energy();
        // what was struck may reach others: contacts are looked for again
        for round in 0..ROUNDS {
            if !self.impacts_ahead(elapsed) {
                break;
            }
            let blows = self.blows.len();
            elapsed = self.strike_once(elapsed);
            if self.blows.len() == blows {
                break;
            }
            if round + 1 < ROUNDS {
                self.elapsed = elapsed;
                self.detect();
            }
        }
        (self.elapsed, self.struck_at) = (0.0, elapsed);
        // from the path until the last impact to what is beyond h u
        for b in 0..self.hops.len() {
            if self.struck[b] {
                let q = || rotated(self.orientation(b), self.hops[b].angular);
                self.swung[b] = (self.tumbled[b] || self.is_slender(b)).then(q);
                self.hops[b] = self.hops[b] - Six::new(self.kin[b].w, self.kin[b].v) * elapsed;
                let Fall { v, hop } = self.falls[b];
                self.kin[b].v -= v;
                self.hops[b].linear += hop;
            }
        }
        if !self.blows.is_empty() {
            // slender bodies have another energy in the orientation that an impact saw than in the last one
            let (books, now) = (&self.opened, &self.state.ledger);
            let lost =
                now[Cause::ContactDamping] - books[Cause::ContactDamping] + now[Cause::Sliding] - books[Cause::Sliding];
            let given = now[Cause::Work] - books[Cause::Work];
            self.state.ledger[Cause::Integration] -= self.kinetic_energy() - began + lost - given;
        }
        for k in 0..self.machines.len() {
            self.hop_machine(k);
        }
    }

    /// Kinetic energy of all bodies that forces move, as impacts left them [J].
    fn kinetic_energy(&self) -> f64 {
        let free = (0..self.kin.len()).filter(|&b| self.is_free(b));
        free.map(|b| kinetic(&self.model.bodies[b], &Kinematics { R: self.base(b), ..self.kin[b] })).sum()
    }

    /// True if two bodies meet in the rest of the step fast enough to rebound.
    fn impacts_ahead(&self, elapsed: f64) -> bool {
        self.rebounds
            && self.touches.iter().filter(|t| t.on && t.restitution > 0.0).any(|t| {
                let at = |b: usize| self.kin[b].v + self.kin[b].w.cross(t.point - self.kin[b].p);
                let speed = t.axes[0].dot(at(t.bodies[0]) - at(t.bodies[1]));
                let fall = 0.5 * self.model.gravity_at(t.point).length() * self.h * self.h;
                speed > t.rest_speed && t.gap + self.moved(t, elapsed) <= speed * (self.h - elapsed) + fall
            })
    }

    /// What the paths of its bodies until `elapsed` add to the gap of a contact point [m].
    fn moved(&self, touch: &super::Touch, elapsed: f64) -> f64 {
        let along = |s: usize| {
            let b = touch.bodies[s];
            self.lever(b, touch.point, touch.axes[0], s).dot(&self.path(b, elapsed))
        };
        along(0) + along(1)
    }

    /// Path of a body until `elapsed`.
    pub(super) fn path(&self, body: usize, elapsed: f64) -> Six {
        if self.struck[body] { self.hops[body] } else { Six::new(self.kin[body].w, self.kin[body].v) * elapsed }
    }

    /// Impacts between the contacts at hand; `hops` are the paths of the bodies struck so far until `start`. Returns the time of the last.
    fn strike_once(&mut self, start: f64) -> f64 {
        let h = self.h;
        let mut melee = self.gather(start);
        let before = melee.u.clone();
        let mut elapsed = start;
        let mut ledger = self.state.ledger;
        for grip in 0..self.grips.len() {
            self.foresee(&mut melee, grip);
        }
        for _ in 0..(IMPACTS * melee.list.len() * LOOKS as usize) {
            // those of one instant go together, so that a mirrored scene stays mirrored
            let time = melee.times.iter().copied().fold(f64::INFINITY, f64::min);
            if time > h {
                break;
            }
            let soon = time + SAME * h;
            let next: Vec<usize> = (0..melee.times.len()).filter(|&k| melee.times[k] <= soon).collect();
            let mut sought = false;
            for &k in next.iter() {
                if !melee.list[k].ready {
                    let instant = melee.times[k];
                    melee.list[k].ready = self.meets(&mut melee, k, instant);
                    sought = true;
                }
            }
            if sought {
                self.foresee_again(&mut melee, next.iter().copied());
                continue;
            }
            elapsed = time.max(elapsed);
            next.iter().for_each(|&k| melee.list[k].active = true);
            self.collide(&next, elapsed, &mut melee, &mut ledger);
            let moved: Vec<usize> = melee.reached.iter().flat_map(|&b| melee.contacts(b)).collect();
            for &k in &moved {
                let s = &mut melee.list[k];
                (s.active, s.looks, s.ready) = (false, 0, false);
            }
            self.foresee_again(&mut melee, moved);
        }
        melee.reached = (0..melee.bodies.len() as u32).collect();
        for b in 0..melee.bodies.len() {
            // those that nothing struck go on as they came
            let struck = self.struck[melee.bodies[b]] || melee.u[6 * b..6 * b + 6] != before[6 * b..6 * b + 6];
            melee.tumbling[b] = melee.tumbling[b].filter(|_| struck);
        }
        melee.settle(elapsed, self);
        self.state.ledger = ledger;
        for s in melee.list.iter().filter(|s| s.total[0] > 0.0) {
            let t = &self.touches[s.touch as usize];
            let push = (0..3).map(|a| s.axes[a] * s.total[a]).sum::<Vec3>();
            self.blows.push(Blow { pair: t.memory.pair, point: s.point, normal: s.axes[0], bodies: t.bodies, push });
        }
        let six = |x: &[f64]| Six::new(Vec3::new(x[0], x[1], x[2]), Vec3::new(x[3], x[4], x[5]));
        let mut taking_part = vec![false; self.kin.len()];
        for (k, &b) in melee.bodies.iter().enumerate() {
            taking_part[b] = true;
            let after = six(&melee.u[6 * k..6 * k + 6]);
            self.struck[b] |= after != six(&before[6 * k..6 * k + 6]);
            self.tumbled[b] |= melee.tumbling[k].is_some();
            if self.struck[b] {
                self.hops[b] = six(&melee.path[6 * k..6 * k + 6]);
                self.falls[b].v += melee.falls[k].v;
                self.falls[b].hop += melee.falls[k].hop;
                (self.kin[b].w, self.kin[b].v) = (after.angular, after.linear);
            }
        }
        for b in (0..self.kin.len()).filter(|&b| self.struck[b] && !taking_part[b]) {
            let (time, Kinematics { v, w, .. }) = (elapsed - start, self.kin[b]);
            let [first, q] = self.tumbling(b);
            self.hops[b] = self.hops[b] + Six::new(w, v) * time;
            if self.turns(b) {
                let (q, w) = self.principal[b].turn(q, w, time);
                (self.hops[b].angular, self.kin[b].w) = (turn_between(first, q), w);
            }
        }
        elapsed
    }

    /// The contact points of a pair, which stand together.
    fn of_pair_with(&self, touch: usize) -> std::ops::Range<usize> {
        let pair = self.touches[touch].memory.pair;
        let same = |t: &&super::Touch| t.memory.pair == pair;
        let from = touch - self.touches[..touch].iter().rev().take_while(same).count();
        from..touch + self.touches[touch..].iter().take_while(same).count()
    }

    /// Instants of the groups of these contact points, anew.
    fn foresee_again(&self, melee: &mut Melee, contacts: impl IntoIterator<Item = usize>) {
        let mut grips: Vec<u32> = contacts.into_iter().map(|k| melee.grip_of[k]).collect();
        grips.sort_unstable();
        grips.dedup();
        for grip in grips {
            self.foresee(melee, grip as usize);
        }
    }

    /// Instants at which the contact points of a group close fast enough to rebound.
    ///
    /// Columns of a patch do not strike one by one, for one that rolls or slides on closes in front and opens behind: they do where those
    /// that touch when the first one would, close in the mean.
    fn foresee(&self, melee: &mut Melee, grip: usize) {
        let (first, count) = self.grips[grip].touches;
        let range = first..first + count;
        let mut times = std::mem::take(&mut melee.times);
        let (touches, patch) = (&self.touches[range.clone()], &melee.list[range.clone()]);
        self.foresee_points(melee, touches, patch, &mut times[range]);
        melee.times = times;
    }

    fn foresee_points(&self, melee: &Melee, touches: &[super::Touch], patch: &[Striking], times: &mut [f64]) {
        let mut brought: f64 = 0.0;
        for ((s, t), time) in patch.iter().zip(touches).zip(&mut *times) {
            let speed = -s.rate(0, &melee.u);
            // what does not rebound strikes once
            let over = is_plastic(t) && s.total[0] > 0.0;
            let strikes = t.restitution > 0.0 && speed > t.rest_speed && !over;
            *time = if strikes { (s.gap / speed).max(0.0) } else { f64::INFINITY };
            // gravity may bring it in the step
            let (left, most) = (self.h - s.since, 0.5 * self.h * self.h);
            let lacks = s.gap - speed * left;
            let g = self.model.gravity_at(t.point).length();
            if *time > left
                && t.restitution * speed > RISES * g * self.h
                && lacks <= most * g
                && lacks <= most * self.closing_by_gravity(melee, s)
            {
                *time = left;
                brought = brought.max(lacks);
            }
        }
        // from its instant on; the contact points of a group, of the same bodies, share it
        let (since, soon) = (patch[0].since, times.iter().copied().fold(f64::INFINITY, f64::min));
        times.iter_mut().for_each(|time| *time += since);
        if !touches[0].column || soon.is_infinite() {
            return;
        }
        let (mut hardness, mut approach) = (0.0, 0.0);
        for (s, t) in patch.iter().zip(touches) {
            let closing = -s.rate(0, &melee.u);
            if s.gap <= closing * soon * (1.0 + SAME) + brought {
                hardness += t.hardness;
                approach += t.hardness * closing;
            }
        }
        if approach <= touches[0].rest_speed * hardness {
            times.fill(f64::INFINITY);
        }
    }

    /// Looks at the pair of a contact point where its bodies will be at the instant at which they meet: true if they touch there, and impulses act at that
    /// geometry; otherwise its gap is corrected. Columns of meshes are carried along, as they were read where they meet; bodies of mechanisms meet at the
    /// geometry of the step's beginning.
    fn meets(&self, melee: &mut Melee, first: usize, instant: f64) -> bool {
        let Melee { list, u, path, since, tumbling, .. } = melee;
        let touch = &self.touches[list[first].touch as usize];
        let jointed = touch.bodies.iter().any(|&b| self.model.bodies[b].mechanism.is_some());
        let elements = [touch.memory.pair.0, touch.memory.pair.1].map(|e| &self.model.colliders[e as usize]);
        let mesh = elements.iter().any(|e| matches!(e.shape, Shape::Mesh(_)));
        if jointed || list[first].looks >= LOOKS {
            return true;
        }
        let moved = [0, 1].map(|s| match list[first].bodies[s] {
            GROUND => self.path(touch.bodies[s], instant),
            k => {
                let time = instant - since[k as usize];
                let at = |i: usize| path[6 * k as usize + i] + time * u[6 * k as usize + i];
                Six::new(Vec3::new(at(0), at(1), at(2)), Vec3::new(at(3), at(4), at(5)))
            }
        });
        let centre = [0, 1].map(|s| self.kin[touch.bodies[s]].p + moved[s].linear);
        let turned = [0, 1].map(|s| {
            let (b, k) = (touch.bodies[s], list[first].bodies[s] as usize);
            match tumbling.get(k) {
                Some(Some([_, q])) => self.principal[b].turn(*q, Vec3::from_slice(&u[6 * k..]), instant - since[k]).0,
                _ => rotated(self.orientation(b), moved[s].angular),
            }
        });
        // arms from where the bodies are then: impulses keep the angular momentum
        let stand = |s: &mut Striking, point: Vec3, axes: [Vec3; 3], gap: f64| {
            (s.point, s.axes, s.given) = (point, axes, [0.0; 3]);
            for (side, sign) in [(0, -1.0), (1, 1.0)] {
                for axis in 0..3 {
                    let J = Six::new((point - centre[side]).cross(axes[axis]), axes[axis]) * sign;
                    if s.bodies[side] != GROUND {
                        s.J[axis][side] = flat(J);
                    } else {
                        let kin = &self.kin[touch.bodies[side]];
                        s.given[axis] += J.dot(&Six::new(kin.w, kin.v));
                    }
                }
            }
            s.gap = gap - (instant - s.since) * s.rate(0, u);
        };
        if mesh {
            let free = || (0..2).filter(|&s| list[first].bodies[s] != GROUND);
            let carried = free().map(|s| moved[s].linear).sum::<Vec3>() / free().count().max(1) as f64;
            for k in self.of_pair_with(first) {
                let (s, touch) = (&mut list[k], &self.touches[k]);
                let gap = s.gap + (instant - s.since) * s.rate(0, u);
                stand(s, touch.point + carried, touch.axes, gap);
                s.ready = true;
            }
            return true;
        }
        let pose = [0, 1].map(|s| Pose::new(turned[s], centre[s]).then(&elements[s].X_cs));
        let size = touch.bodies.iter().map(|&b| self.model.bodies[b].size).fold(f64::INFINITY, f64::min);
        let mut found = Manifold::default();
        let points = self.settings.points;
        manifold(&elements[0].shape, &pose[0], &elements[1].shape, &pose[1], size, points, &mut found);
        let same = |id: u32| found.points().iter().find(|p| p.id == id);
        if found.points().is_empty() {
            // they pass each other
            list[first].gap = f64::INFINITY;
            return false;
        }
        let n = found.normal;
        let t1 = tippe_geometry::space::any_orthogonal(n);
        let axes = [n, t1, n.cross(t1)];
        let mut gap_then = f64::INFINITY;
        for k in self.of_pair_with(first) {
            let id = self.touches[list[k].touch as usize].memory.id;
            let nearest = || found.points().iter().min_by(|a, b| a.gap.total_cmp(&b.gap));
            let Some(p) = same(id).or_else(|| if k == first { nearest() } else { None }) else { continue };
            stand(&mut list[k], p.point, axes, p.gap);
            if k == first {
                gap_then = p.gap;
            }
        }
        list[first].looks += 1;
        // the rate of the new geometry leads from the new gap to the same instant: they touch
        let closing = -list[first].rate(0, u);
        gap_then.abs() <= TOUCHING * size.max(closing * self.h) || instant >= self.h
    }

    /// Contact points and bodies that take part, with the bodies' answer to impulses.
    fn gather(&mut self, start: f64) -> Melee {
        let model = &self.model.clone();
        let mut index = vec![GROUND; model.bodies.len()];
        let mut bodies: Vec<usize> = Vec::new();
        let mut machines: Vec<usize> = Vec::new();
        for touch in &self.touches {
            for &b in touch.bodies.iter().filter(|&&b| self.is_free(b)) {
                if index[b] == GROUND {
                    index[b] = 0;
                    bodies.push(b);
                    if let Some((m, _)) = model.bodies[b].mechanism
                        && !machines.contains(&(m as usize))
                    {
                        machines.push(m as usize);
                    }
                }
            }
        }
        machines.sort_unstable();
        for &m in &machines {
            for link in &model.mechanisms[m].links {
                let b = link.body as usize;
                if index[b] == GROUND && self.is_free(b) {
                    index[b] = 0;
                    bodies.push(b);
                }
            }
        }
        bodies.sort_unstable();
        for (k, &b) in bodies.iter().enumerate() {
            index[b] = k as u32;
        }
        let (mut mass, mut inverse) = (Vec::new(), Vec::new());
        let tumbling: Vec<_> = bodies.iter().map(|&b| self.turns(b).then(|| self.tumbling(b))).collect();
        for (&b, tumbling) in bodies.iter().zip(&tumbling) {
            let R = tumbling.map_or(self.kin[b].R, |[_, q]| Mat3::from_quat(q));
            let (M, W) = masses(&model.bodies[b], &R);
            mass.push(M);
            inverse.push(W);
        }
        let joined = (!machines.is_empty()).then(|| {
            let (mut ties, mut ends, mut owners) = (Vec::new(), Vec::new(), Vec::new());
            for &m in &machines {
                self.joint_ties(m, &mut ties, &mut ends, &mut owners);
            }
            for end in &mut ends {
                end.body = index[end.body as usize];
            }
            let n = bodies.len();
            let held: Vec<bool> = bodies.iter().map(|&b| model.bodies[b].mechanism.is_some()).collect();
            let mut vertices = vec![Vertex::Body; n];
            vertices.resize(n + ties.len(), Vertex::Rows);
            let mut edges = Vec::new();
            for (t, tie) in ties.iter().enumerate() {
                edges.extend(tie.ends.of(&ends).iter().map(|end| (end.body, (n + t) as u32)));
            }
            let mut ldl = BlockLdl::new(&vertices, &edges);
            ldl.clear();
            for (k, M) in mass.iter().enumerate() {
                *ldl.diagonal(k) = Wide::from(M);
            }
            let mut edge = 0;
            for (t, tie) in ties.iter().enumerate() {
                // ropes that carry something hold, others do not
                border(&mut ldl, [n + t, edge], tie, &ends, &inverse, |r| tie.lower[r] < 0.0 && tie.upper[r] > 0.0);
                edge += tie.ends.len();
            }
            ldl.factor();
            let room = vec![0.0; 6 * (n + ties.len())];
            (ldl, held, room)
        });
        let mut list = Vec::with_capacity(self.touches.len());
        for (k, touch) in self.touches.iter().enumerate() {
            let mut s = Striking {
                touch: k as u32,
                bodies: [GROUND; 2],
                J: [[[0.0; 6]; 2]; 3],
                point: touch.point,
                axes: touch.axes,
                looks: 0,
                ready: false,
                gap: 0.0,
                since: start,
                given: [0.0; 3],
                yields: [0.0; 2],
                fastest: 0.0,
                impulse: [0.0; 3],
                total: [0.0; 3],
                active: false,
            };
            for side in 0..2 {
                let b = touch.bodies[side];
                for axis in 0..3 {
                    let J = self.lever(b, touch.point, touch.axes[axis], side);
                    if self.is_free(b) {
                        s.bodies[side] = index[b];
                        s.J[axis][side] = flat(J);
                    } else {
                        s.given[axis] += J.dot(&Six::new(self.kin[b].w, self.kin[b].v));
                    }
                }
            }
            let moved = self.moved(touch, start);
            s.gap = if touch.on { (touch.gap + moved).max(0.0) } else { f64::INFINITY };
            list.push(s);
        }
        let n = bodies.len();
        // those that turn, and that nothing struck yet, have their velocity from the beginning
        let since = |&b: &usize| if self.turns(b) && !self.struck[b] { 0.0 } else { start };
        let since: Vec<f64> = bodies.iter().map(since).collect();
        let mut starts = vec![0u32; n + 1];
        let each = |s: &Striking| s.bodies.into_iter().filter(|&b| b != GROUND);
        for b in list.iter().flat_map(each) {
            starts[b as usize + 1] += 1;
        }
        for b in 0..n {
            starts[b + 1] += starts[b];
        }
        let mut fill = starts.clone();
        let mut of_body = vec![0u32; starts[n] as usize];
        for (k, s) in list.iter().enumerate() {
            for b in each(s) {
                of_body[fill[b as usize] as usize] = k as u32;
                fill[b as usize] += 1;
            }
        }
        let mut grip_of = vec![0u32; list.len()];
        for (g, grip) in self.grips.iter().enumerate() {
            grip_of[grip.touches.0..grip.touches.0 + grip.touches.1].fill(g as u32);
        }
        Melee {
            times: vec![f64::INFINITY; list.len()],
            grip_of,
            of_body,
            starts,
            u: bodies.iter().flat_map(|&b| flat(Six::new(self.kin[b].w, self.kin[b].v))).collect(),
            started: vec![0.0; 6 * n],
            path: bodies.iter().zip(&since).flat_map(|(&b, &since)| flat(self.path(b, since))).collect(),
            tumbling,
            since,
            response: Response { inverse, joined },
            reached: Vec::new(),
            is_reached: vec![false; n],
            push: vec![0.0; 6 * n],
            fresh: bodies.iter().map(|&b| !self.struck[b]).collect(),
            falls: vec![Fall::default(); n],
            list,
            bodies,
        }
    }

    /// Orientations of a body at the beginning of the step and at its last impact.
    fn tumbling(&self, body: usize) -> [Quat; 2] {
        let q = self.orientation(body);
        [q, if self.struck[body] { rotated(q, self.hops[body].angular) } else { q }]
    }

    /// The contacts that strike and those that touch them, directly or through others, compress and separate.
    fn collide(&self, strikes: &[usize], now: f64, melee: &mut Melee, ledger: &mut tippe_mechanics::Ledger) {
        let touch_of = |s: &Striking| &self.touches[s.touch as usize];
        let near = |s: &Striking| {
            TOUCHING * touch_of(s).bodies.iter().map(|&b| self.model.bodies[b].size).fold(f64::INFINITY, f64::min)
        };
        // all that hang together by touching, body by body
        for b in melee.reached.drain(..) {
            melee.is_reached[b as usize] = false;
        }
        let mut cluster = strikes.to_vec();
        let (mut seen, mut looked) = (0, 0);
        while seen < cluster.len() {
            for b in melee.list[cluster[seen]].bodies.into_iter().filter(|&b| b != GROUND) {
                melee.reach(b);
            }
            seen += 1;
            while seen == cluster.len() && looked < melee.reached.len() {
                let body = melee.reached[looked] as usize;
                for at in melee.starts[body]..melee.starts[body + 1] {
                    let k = melee.of_body[at as usize] as usize;
                    let s = &mut melee.list[k];
                    s.settle(now, &melee.u);
                    if !s.active && s.gap <= near(s) {
                        s.active = true;
                        cluster.push(k);
                    }
                }
                looked += 1;
            }
        }
        // all points of a pair that strikes, those that do not touch yet too: they may before it is over; but for columns that wait beside what newly touches
        cluster.sort_unstable();
        let mut gathered = 0;
        for k in 0..cluster.len() {
            if cluster[k] >= gathered {
                let columns = self.of_pair_with(cluster[k]);
                gathered = columns.end;
                let grip = melee.grip_of[cluster[k]];
                for other in columns {
                    let waits = !self.touches[other].known && melee.grip_of[other] != grip;
                    let s = &mut melee.list[other];
                    if !s.active && !waits && s.gap.is_finite() {
                        s.active = true;
                        cluster.push(other);
                    }
                }
            }
        }
        melee.settle(now, self);
        cluster.sort_unstable();
        let falling = self.let_fall(&cluster, now, melee);
        let Melee { list, u, started, response, reached, push, falls, .. } = melee;
        for &k in &cluster {
            list[k].yields = list[k].yields_to(&response.inverse);
        }
        let speed = cluster.iter().map(|&k| -list[k].rate(0, u)).fold(0.0, f64::max);
        let (mut longest, mut lightest, mut columns) = (f64::INFINITY, f64::INFINITY, 0.0);
        let pair = |k: usize| self.touches[k].memory.pair;
        for group in cluster.chunk_by(|&i, &k| pair(i) == pair(k) && self.touches[list[k].touch as usize].column) {
            let touch = |k: usize| &self.touches[list[k].touch as usize];
            let t = touch(group[0]);
            let m = 1.0 / group.iter().map(|&k| list[k].yields[0]).fold(0.0, f64::max);
            // half a period of K depth^n at that speed, about; that of columns changes with those that touch
            let n = t.exponent;
            let hardness: f64 = group.iter().map(|&k| touch(k).hardness).sum();
            if t.column && n == 1.0 {
                lightest = lightest.min(m);
                columns += hardness;
                continue;
            }
            let depth = libm::pow(0.5 * (n + 1.0) * m * speed * speed / hardness, 1.0 / (n + 1.0));
            longest = longest.min(3.0 * depth / speed / RESOLUTION);
        }
        // those that gravity brings touch now
        for points in cluster.chunk_by(|&i, &k| pair(i) == pair(k)) {
            let first =
                points.iter().filter(|k| strikes.contains(k)).map(|&k| list[k].gap).fold(f64::INFINITY, f64::min);
            if first.is_finite() {
                points.iter().for_each(|&k| list[k].gap = (list[k].gap - first).max(0.0));
            }
        }
        let mut depths: Vec<f64> = Vec::with_capacity(cluster.len());
        for &k in &cluster {
            depths.push((-list[k].gap).min(0.0));
            list[k].fastest = 0.0;
            list[k].gap = 0.0;
        }
        let shortest = if columns > 0.0 { 3.0 * (lightest / columns).sqrt() / RESOLUTION } else { 0.0 };
        // the last micro-step in which columns touched
        let mut last = f64::INFINITY;
        let plastic = cluster.iter().all(|&k| is_plastic(&self.touches[list[k].touch as usize]));
        // micro-steps in which nothing that touches moves: what is wedged stays so
        let (mut quiet, mut lasted) = (0, 0.0);
        // what goes on for longer than the step, than gravity takes for the same, and than the columns take once, is no impact
        let once = if columns > 0.0 { std::f64::consts::TAU * (lightest / columns).sqrt() } else { 0.0 };
        let g = cluster.first().map_or(0.0, |&k| {
            let point = self.touches[list[k].touch as usize].point;
            self.model.gravity_at(point).length()
        });
        let most = self.h.max(speed / g).max(once);
        for _ in 0..if plastic { PLASTIC } else { LONGEST } {
            let (mut busy, mut moves) = (false, false);
            for &b in reached.iter() {
                let range = 6 * b as usize..6 * b as usize + 6;
                started[range.clone()].copy_from_slice(&u[range]);
            }
            let (mut stiffness, mut first) = (0.0, f64::INFINITY);
            for (depth, &k) in
                depths.iter().zip(&cluster).filter(|(_, k)| self.touches[list[**k].touch as usize].column)
            {
                if *depth >= 0.0 {
                    stiffness += self.touches[list[k].touch as usize].hardness;
                } else {
                    let closing = -list[k].rate(0, u);
                    first = first.min(if closing > 0.0 { -depth / closing } else { f64::INFINITY });
                }
            }
            let dt = if stiffness > 0.0 {
                // the next column to touch is not passed
                last = (3.0 * (lightest / stiffness.max(NEGLIGIBLE * columns)).sqrt() / RESOLUTION)
                    .min(first.max(shortest));
                last
            } else if first <= 10.0 * last {
                first
            } else {
                f64::INFINITY
            };
            let dt = dt.min(longest);
            lasted += dt;
            // columns of hardly any area hold nothing
            if dt.is_infinite() || lasted > most {
                break;
            }
            for (depth, &k) in depths.iter_mut().zip(&cluster) {
                let s = &mut list[k];
                let t = &self.touches[s.touch as usize];
                let closing = -s.rate(0, u);
                *depth += dt * closing;
                s.impulse = [0.0; 3];
                // what does not rebound is over when nothing closes any more: dampers let it out slowly
                let lasts = !is_plastic(t) || closing > LEAST_RESTITUTION * speed;
                if *depth <= 0.0 {
                    s.fastest = 0.0;
                    busy |= lasts && closing > 0.0 && *depth + 10.0 * dt * closing > 0.0;
                    continue;
                }
                busy |= lasts;
                moves |= closing.abs() > LEAST_RESTITUTION * speed;
                s.fastest = s.fastest.max(closing);
                let elastic = t.hardness * libm::pow(*depth, t.exponent);
                let damper = if s.fastest > 0.0 { elastic * t.damping / s.fastest } else { 0.0 };
                // the damper waits in the place of a tangent until those of its pair are known
                (s.impulse[0], s.impulse[1]) = (elastic * dt, damper * dt);
            }
            quiet = if moves { 0 } else { quiet + 1 };
            if !busy || quiet > WEDGED {
                break;
            }
            let pair = |k: usize| self.touches[k].memory.pair;
            for points in cluster.chunk_by(|&i, &k| pair(i) == pair(k)) {
                let damped: f64 = points.iter().map(|&k| list[k].impulse[1]).sum();
                let yields = points.iter().map(|&k| list[k].yields[0]).fold(0.0, f64::max);
                // the dampers of a pair take no more than its speed: what stood deep and comes anew would be thrown
                let share = 1.0 / (damped * yields).max(1.0);
                for &k in points {
                    let s = &mut list[k];
                    let lossy = -share * s.impulse[1] * s.rate(0, u);
                    (s.impulse[0], s.impulse[1]) = ((s.impulse[0] + lossy).max(0.0), 0.0);
                }
                let pressed: f64 = points.iter().map(|&k| list[k].impulse[0]).sum();
                for &k in points {
                    let s = &mut list[k];
                    let (mu, P) = (self.touches[s.touch as usize].mu, s.impulse[0]);
                    let v = [s.rate(1, u), s.rate(2, u)];
                    let size = libm::hypot(v[0], v[1]);
                    if mu * P > 0.0 && size > 0.0 {
                        // the points of a pair stop it together, each by its share: if every one did, they would throw it back
                        let grip = (mu * P).min(P / pressed * size / s.yields[1]) / size;
                        s.impulse[1] = -grip * v[0];
                        s.impulse[2] = -grip * v[1];
                    }
                }
            }
            for &k in &cluster {
                let s = &list[k];
                for axis in 0..3 {
                    if s.impulse[axis] == 0.0 {
                        continue;
                    }
                    for side in (0..2).filter(|&side| s.bodies[side] != GROUND) {
                        let p = &mut push[6 * s.bodies[side] as usize..][..6];
                        for i in 0..6 {
                            p[i] += s.J[axis][side][i] * s.impulse[axis];
                        }
                    }
                }
            }
            response.apply(reached, push, u);
            for &k in &cluster {
                let s = &list[k];
                if s.impulse[0] == 0.0 {
                    continue;
                }
                for axis in 0..3 {
                    list[k].total[axis] += list[k].impulse[axis];
                }
                let s = &list[k];
                let energy = |axis: usize| s.impulse[axis] * 0.5 * (s.rate(axis, started) + s.rate(axis, u));
                ledger[Cause::ContactDamping] -= energy(0);
                ledger[Cause::Sliding] -= energy(1) + energy(2);
                ledger[Cause::Work] -= (0..3).map(|a| s.impulse[a] * s.given[a]).sum::<f64>();
            }
        }
        for (depth, &k) in depths.iter().zip(&cluster) {
            list[k].gap = (-depth).max(0.0);
        }
        for Falling { body, a, tau, v } in falling {
            // v tau + a tau^2/2 + u' (h - tau) + a (h - tau)^2/2 for v now + u' (h - now), at the velocity u' - a tau
            let changed = v - linear(u, body);
            falls[body as usize] = Fall { v: a * tau, hop: changed * (tau - now) + a * (tau * tau) };
        }
    }

    /// Rates of a mechanism from the velocities of its bodies.
    fn hop_machine(&mut self, k: usize) {
        let mechanism = &self.model.mechanisms[k];
        if !mechanism.links.iter().any(|l| self.struck[l.body as usize]) {
            return;
        }
        let velocity: Vec<Six> = self.kin.iter().map(|kin| Six::new(kin.w, kin.v)).collect();
        let mut u = std::mem::take(&mut self.state.machines[k].u);
        self.along_coordinates(k, &velocity, &mut u);
        self.state.machines[k].u = u;
        let (model, t) = (&self.model.clone(), self.state.time);
        let record = &self.state.machines[k];
        let machine = &mut self.machines[k];
        let of = |body: u32| tippe_mechanics::model::prescribed(model, body as usize, t);
        mechanism.place(&record.q, &record.u, &record.bases, of, &mut machine.work, &mut machine.kinematics);
    }

    /// What hops of its bodies add to the coordinates of a mechanism.
    pub(super) fn hop_coordinates(&mut self, k: usize) {
        let mechanism = &self.model.mechanisms[k];
        let mut hop = std::mem::take(&mut self.machines[k].hop);
        hop.fill(0.0);
        if mechanism.links.iter().any(|l| self.struck[l.body as usize]) {
            self.along_coordinates(k, &self.hops, &mut hop);
        }
        self.machines[k].hop = hop;
    }

    /// Motions of bodies as motions of the coordinates of mechanism `k`.
    fn along_coordinates(&self, k: usize, motions: &[Six], out: &mut [f64]) {
        let mechanism = &self.model.mechanisms[k];
        let machine = &self.machines[k];
        for (l, link) in mechanism.links.iter().enumerate() {
            let parent = match link.parent {
                tippe_mechanics::mechanism::Parent::World => Six::ZERO,
                tippe_mechanics::mechanism::Parent::Body(b) => motions[b as usize],
                tippe_mechanics::mechanism::Parent::Link(p) => motions[mechanism.links[p as usize].body as usize],
            };
            let own = motions[link.body as usize];
            let r = machine.work.links[l].r;
            let relative = Six::new(own.angular - parent.angular, own.linear - parent.linear - parent.angular.cross(r));
            for i in link.first..link.first + link.count {
                out[i] = machine.dual[i].dot(&relative);
            }
        }
    }
}
