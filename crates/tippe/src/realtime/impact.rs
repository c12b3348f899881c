//! Impacts, in their own phase: touching bodies are integrated in micro-time with the elastic laws of their contacts, at the geometry of the
//! instant at which they meet, until all separate; the rows of the step then see no restitution.
//!
//! One simultaneous solution with Newton's restitution gets a row of touching balls wrong: which one moves on is a matter of the order
//! in which contacts are compressed, so that is resolved. Between impacts of one step bodies move on straight lines.

use super::Clock;
use super::free::rotated;
use super::joints::flat;
use super::partition::masses;
use crate::joint::Six;
use tippe_geometry::{Manifold, Pose, Shape, Vec3, manifold};
use tippe_numerics::kkt::{Block, BlockLdl, GROUND, Vertex, Wide, border};

/// Micro-steps per duration of the shortest contact.
const RESOLUTION: f64 = 60.0;
/// Micro-steps of one impact at most.
const LONGEST: usize = 200_000;
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
    /// Until the impact, at the rates at hand [s].
    time: f64,
    /// Gap at the present instant [m].
    gap: f64,
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

/// What impulses do to velocities: free bodies one by one, bodies of mechanisms together with their joints.
struct Response {
    inverse: Vec<Block>,
    joined: Option<(BlockLdl, Vec<bool>, Vec<f64>)>,
}

impl Response {
    /// u += answer to the momenta `push`, which are cleared.
    fn apply(&mut self, push: &mut [f64], u: &mut [f64]) {
        let n = self.inverse.len();
        if let Some((ldl, held, x)) = &mut self.joined {
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
        for (b, W) in self.inverse.iter().enumerate() {
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

impl Clock<'_> {
    /// Impacts of the step: velocities jump, and bodies hop.
    pub(super) fn strike(&mut self) {
        self.hops.fill(Six::ZERO);
        self.struck.fill(false);
        self.blows.clear();
        let mut elapsed = 0.0;
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
        self.elapsed = 0.0;
        // from the path until the last impact to what is beyond h u
        for b in 0..self.hops.len() {
            if self.struck[b] {
                self.hops[b] = self.hops[b] - Six::new(self.kin[b].w, self.kin[b].v) * elapsed;
            }
        }
        for k in 0..self.machines.len() {
            self.hop_machine(k);
        }
    }

    /// True if two bodies meet in the rest of the step fast enough to rebound.
    fn impacts_ahead(&self, elapsed: f64) -> bool {
        self.touches.iter().filter(|t| t.on && t.restitution > 0.0).any(|t| {
            let at = |b: usize| self.kin[b].v + self.kin[b].w.cross(t.point - self.kin[b].p);
            let speed = t.axes[0].dot(at(t.bodies[0]) - at(t.bodies[1]));
            speed > t.rest_speed && t.gap + self.moved(t, elapsed) <= speed * (self.h - elapsed)
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
        let (mut list, bodies, mut response) = self.gather(start);
        let mut u: Vec<f64> = bodies.iter().flat_map(|&b| flat(Six::new(self.kin[b].w, self.kin[b].v))).collect();
        let before = u.clone();
        let mut path: Vec<f64> = bodies.iter().flat_map(|&b| flat(self.path(b, start))).collect();
        let mut push = vec![0.0; u.len()];
        let mut elapsed = start;
        let mut ledger = self.state.ledger;
        for _ in 0..(IMPACTS * list.len() * LOOKS as usize) {
            // the next ones that close fast enough to rebound; those of one instant go together, so that a mirrored scene stays mirrored
            for s in &mut list {
                let t = &self.touches[s.touch as usize];
                let speed = -s.rate(0, &u);
                let strikes = t.restitution > 0.0 && speed > t.rest_speed;
                s.time = if strikes { (s.gap / speed).max(0.0) } else { f64::INFINITY };
            }
            self.wait_for_patches(&mut list, &u);
            let time = list.iter().map(|s| s.time).fold(f64::INFINITY, f64::min);
            if elapsed + time > h {
                break;
            }
            let soon = time + SAME * h;
            let mut sought = false;
            for k in 0..list.len() {
                if list[k].time <= soon && !list[k].ready {
                    list[k].ready = self.meets(&mut list, k, &path, &u, elapsed);
                    sought = true;
                }
            }
            if sought {
                continue;
            }
            for s in &mut list {
                s.gap += time * s.rate(0, &u);
                s.active = s.time <= soon;
            }
            for (p, u) in path.iter_mut().zip(&u) {
                *p += time * u;
            }
            elapsed += time;
            self.collide(&mut list, &mut response, &mut u, &mut push, &mut ledger);
            for s in &mut list {
                (s.looks, s.ready) = (0, false);
            }
        }
        self.state.ledger = ledger;
        for s in list.iter().filter(|s| s.total[0] > 0.0) {
            let t = &self.touches[s.touch as usize];
            let push = (0..3).map(|a| s.axes[a] * s.total[a]).sum::<Vec3>();
            self.blows.push(Blow { pair: t.memory.pair, point: s.point, normal: s.axes[0], bodies: t.bodies, push });
        }
        let six = |x: &[f64]| Six::new(Vec3::new(x[0], x[1], x[2]), Vec3::new(x[3], x[4], x[5]));
        let mut taking_part = vec![false; self.kin.len()];
        for (k, &b) in bodies.iter().enumerate() {
            taking_part[b] = true;
            let after = six(&u[6 * k..6 * k + 6]);
            self.struck[b] |= after != six(&before[6 * k..6 * k + 6]);
            if self.struck[b] {
                self.hops[b] = six(&path[6 * k..6 * k + 6]);
                (self.kin[b].w, self.kin[b].v) = (after.angular, after.linear);
            }
        }
        for (b, kin) in self.kin.iter().enumerate().filter(|&(b, _)| !taking_part[b]) {
            if self.struck[b] {
                self.hops[b] = self.hops[b] + Six::new(kin.w, kin.v) * (elapsed - start);
            }
        }
        elapsed
    }

    /// Columns of a patch do not strike one by one, for one that rolls or slides on closes in front and opens behind: they do where those
    /// that touch when the first one would, close in the mean.
    fn wait_for_patches(&self, list: &mut [Striking], u: &[f64]) {
        for grip in &self.grips {
            let (first, count) = grip.touches;
            let touches = &self.touches[first..first + count];
            let patch = &mut list[first..first + count];
            let soon = patch.iter().map(|s| s.time).fold(f64::INFINITY, f64::min);
            if !touches[0].column || soon.is_infinite() {
                continue;
            }
            let (mut hardness, mut approach) = (0.0, 0.0);
            for (s, t) in patch.iter().zip(touches) {
                let closing = -s.rate(0, u);
                if s.gap <= closing * soon * (1.0 + SAME) {
                    hardness += t.hardness;
                    approach += t.hardness * closing;
                }
            }
            if approach <= touches[0].rest_speed * hardness {
                patch.iter_mut().for_each(|s| s.time = f64::INFINITY);
            }
        }
    }

    /// Looks at the pair of a contact point where its bodies will be when they meet: true if they touch there, and impulses act at that
    /// geometry; otherwise its gap is corrected. Meshes and bodies of mechanisms meet at the geometry of the step's beginning.
    fn meets(&self, list: &mut [Striking], first: usize, path: &[f64], u: &[f64], elapsed: f64) -> bool {
        let time = list[first].time;
        let touch = &self.touches[list[first].touch as usize];
        let jointed = touch.bodies.iter().any(|&b| self.model.bodies[b].mechanism.is_some());
        let elements = [touch.memory.pair.0, touch.memory.pair.1].map(|e| &self.model.elements[e as usize]);
        let mesh = elements.iter().any(|e| matches!(e.shape, Shape::Mesh(_)));
        if jointed || mesh || list[first].looks >= LOOKS {
            return true;
        }
        let pair = touch.memory.pair;
        let moved = [0, 1].map(|s| match list[first].bodies[s] {
            GROUND => self.path(touch.bodies[s], elapsed + time),
            k => {
                let at = |i: usize| path[6 * k as usize + i] + time * u[6 * k as usize + i];
                Six::new(Vec3::new(at(0), at(1), at(2)), Vec3::new(at(3), at(4), at(5)))
            }
        });
        let centre = [0, 1].map(|s| self.kin[touch.bodies[s]].p + moved[s].linear);
        let pose = [0, 1].map(|s| {
            let q = rotated(self.orientation(touch.bodies[s]), moved[s].angular);
            Pose::new(q, centre[s]).then(&elements[s].X_cs)
        });
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
        for k in 0..list.len() {
            if self.touches[list[k].touch as usize].memory.pair != pair {
                continue;
            }
            let id = self.touches[list[k].touch as usize].memory.id;
            let nearest = || found.points().iter().min_by(|a, b| a.gap.total_cmp(&b.gap));
            let Some(p) = same(id).or_else(|| if k == first { nearest() } else { None }) else { continue };
            let s = &mut list[k];
            (s.point, s.axes) = (p.point, axes);
            s.given = [0.0; 3];
            for (side, sign) in [(0, -1.0), (1, 1.0)] {
                for axis in 0..3 {
                    let J = Six::new((p.point - centre[side]).cross(axes[axis]), axes[axis]) * sign;
                    if s.bodies[side] != GROUND {
                        s.J[axis][side] = flat(J);
                    } else {
                        let kin = &self.kin[touch.bodies[side]];
                        s.given[axis] += J.dot(&Six::new(kin.w, kin.v));
                    }
                }
            }
            s.gap = p.gap - time * s.rate(0, u);
            if k == first {
                gap_then = p.gap;
            }
        }
        list[first].looks += 1;
        // the rate of the new geometry leads from the new gap to the same instant: they touch
        let closing = -list[first].rate(0, u);
        gap_then.abs() <= TOUCHING * size.max(closing * self.h)
    }

    /// Contact points and bodies that take part, with the bodies' answer to impulses.
    fn gather(&mut self, start: f64) -> (Vec<Striking>, Vec<usize>, Response) {
        let model = self.model;
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
        for &b in &bodies {
            let (M, W) = masses(&model.bodies[b], &self.kin[b].R);
            mass.push(M);
            inverse.push(W);
        }
        let joined = (!machines.is_empty()).then(|| {
            let (mut groups, mut owners) = (Vec::new(), Vec::new());
            for &m in &machines {
                self.joint_groups(m, &mut groups, &mut owners);
            }
            for group in &mut groups {
                group.bodies = group.bodies.map(|b| if b == GROUND { GROUND } else { index[b as usize] });
            }
            let n = bodies.len();
            let held: Vec<bool> = bodies.iter().map(|&b| model.bodies[b].mechanism.is_some()).collect();
            let mut vertices = vec![Vertex::Body; n];
            vertices.resize(n + groups.len(), Vertex::Rows);
            let mut edges = Vec::new();
            for (g, group) in groups.iter().enumerate() {
                edges.extend(group.bodies.iter().filter(|&&b| b != GROUND).map(|&b| (b, (n + g) as u32)));
            }
            let mut ldl = BlockLdl::new(&vertices, &edges);
            ldl.clear();
            for (k, M) in mass.iter().enumerate() {
                *ldl.diagonal(k) = Wide::from(M);
            }
            let mut edge = 0;
            for (g, group) in groups.iter().enumerate() {
                border(&mut ldl, n + g, edge, group, &inverse);
                edge += group.bodies.iter().filter(|&&b| b != GROUND).count();
            }
            ldl.factor();
            let room = vec![0.0; 6 * (n + groups.len())];
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
                time: f64::INFINITY,
                gap: 0.0,
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
            let yields = |axis: usize| {
                let mut sum = 0.0;
                for side in (0..2).filter(|&side| s.bodies[side] != GROUND) {
                    let (W, J) = (&inverse[s.bodies[side] as usize], &s.J[axis][side]);
                    for i in 0..6 {
                        sum += J[i] * (0..6).map(|j| W[6 * i + j] * J[j]).sum::<f64>();
                    }
                }
                sum
            };
            s.yields = [yields(0), yields(1).max(yields(2))];
            let moved = self.moved(touch, start);
            s.gap = if touch.on { (touch.gap + moved).max(0.0) } else { f64::INFINITY };
            list.push(s);
        }
        (list, bodies, Response { inverse, joined })
    }

    /// The active contacts and those that touch them, directly or through others, compress and separate.
    fn collide(
        &self,
        list: &mut [Striking],
        response: &mut Response,
        u: &mut [f64],
        push: &mut [f64],
        ledger: &mut crate::Ledger,
    ) {
        let near = |s: &Striking| {
            let t = &self.touches[s.touch as usize];
            TOUCHING * t.bodies.iter().map(|&b| self.model.bodies[b].size).fold(f64::INFINITY, f64::min)
        };
        // all that hang together by touching
        let mut reached = vec![false; response.inverse.len()];
        let mut cluster: Vec<usize> = Vec::new();
        cluster.extend((0..list.len()).filter(|&k| list[k].active));
        let mut grown = true;
        while grown {
            grown = false;
            let mut struck: Vec<(u32, u32)> =
                cluster.iter().map(|&k| self.touches[list[k].touch as usize].memory.pair).collect();
            struck.sort_unstable();
            struck.dedup();
            for &k in &cluster {
                for b in list[k].bodies.into_iter().filter(|&b| b != GROUND) {
                    reached[b as usize] = true;
                }
            }
            if let Some((_, held, _)) = &response.joined
                && reached.iter().zip(held).any(|(r, h)| *r && *h)
            {
                for (r, h) in reached.iter_mut().zip(held) {
                    *r |= *h;
                }
            }
            for k in 0..list.len() {
                let touches = list[k].gap <= near(&list[k]);
                let meets = list[k].bodies.iter().any(|&b| b != GROUND && reached[b as usize]);
                // all columns of a pair that strikes, those that do not touch yet too
                let pair = |k: usize| self.touches[list[k].touch as usize].memory.pair;
                let column = self.touches[list[k].touch as usize].column && list[k].gap.is_finite();
                let touches = touches || (column && struck.binary_search(&pair(k)).is_ok());
                if !list[k].active && touches && meets {
                    list[k].active = true;
                    cluster.push(k);
                    grown = true;
                }
            }
        }
        cluster.sort_unstable();
        let speed = cluster.iter().map(|&k| -list[k].rate(0, u)).fold(0.0, f64::max);
        let (mut longest, mut lightest, mut columns) = (f64::INFINITY, f64::INFINITY, 0.0);
        let pair = |k: usize| self.touches[list[k].touch as usize].memory.pair;
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
        let mut depths: Vec<f64> = Vec::with_capacity(cluster.len());
        for &k in &cluster {
            let waits = self.touches[list[k].touch as usize].column;
            depths.push(if waits { -list[k].gap } else { 0.0 });
            list[k].fastest = 0.0;
            list[k].gap = 0.0;
        }
        let shortest = if columns > 0.0 { 3.0 * (lightest / columns).sqrt() / RESOLUTION } else { 0.0 };
        let mut started = u.to_vec();
        // the last micro-step in which columns touched
        let mut last = f64::INFINITY;
        for _ in 0..LONGEST {
            let mut busy = false;
            started.copy_from_slice(u);
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
                last = (3.0 * (lightest / stiffness).sqrt() / RESOLUTION).min(first.max(shortest));
                last
            } else if first <= 10.0 * last {
                first
            } else {
                f64::INFINITY
            };
            let dt = dt.min(longest);
            if dt.is_infinite() {
                break;
            }
            for (depth, &k) in depths.iter_mut().zip(&cluster) {
                let s = &mut list[k];
                let t = &self.touches[s.touch as usize];
                let closing = -s.rate(0, u);
                *depth += dt * closing;
                s.impulse = [0.0; 3];
                if *depth <= 0.0 {
                    s.fastest = 0.0;
                    busy |= closing > 0.0 && *depth + 10.0 * dt * closing > 0.0;
                    continue;
                }
                busy = true;
                s.fastest = s.fastest.max(closing);
                let elastic = t.hardness * libm::pow(*depth, t.exponent);
                let damped = if s.fastest > 0.0 { 1.0 + t.damping * closing / s.fastest } else { 1.0 };
                let P = (elastic * damped).max(0.0) * dt;
                s.impulse[0] = P;
                if t.mu > 0.0 {
                    let v = [s.rate(1, u), s.rate(2, u)];
                    let size = libm::hypot(v[0], v[1]);
                    if size > 0.0 {
                        let grip = (t.mu * P).min(size / s.yields[1]) / size;
                        s.impulse[1] = -grip * v[0];
                        s.impulse[2] = -grip * v[1];
                    }
                }
            }
            if !busy {
                break;
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
            response.apply(push, u);
            for &k in &cluster {
                let s = &list[k];
                if s.impulse[0] == 0.0 {
                    continue;
                }
                for axis in 0..3 {
                    list[k].total[axis] += list[k].impulse[axis];
                }
                let s = &list[k];
                let energy = |axis: usize| s.impulse[axis] * 0.5 * (s.rate(axis, &started) + s.rate(axis, u));
                ledger.contact_damping -= energy(0);
                ledger.sliding -= energy(1) + energy(2);
                ledger.work -= (0..3).map(|a| s.impulse[a] * s.given[a]).sum::<f64>();
            }
        }
        for (depth, &k) in depths.iter().zip(&cluster) {
            if self.touches[list[k].touch as usize].column {
                list[k].gap = (-depth).max(0.0);
            }
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
        let (model, t) = (self.model, self.state.time);
        let record = &self.state.machines[k];
        let machine = &mut self.machines[k];
        let of = |body: u32| crate::precise::prescribed(model, body as usize, t);
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
                crate::mechanism::Parent::World => Six::ZERO,
                crate::mechanism::Parent::Body(b) => motions[b as usize],
                crate::mechanism::Parent::Link(p) => motions[mechanism.links[p as usize].body as usize],
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
