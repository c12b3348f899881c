//! Reach boxes, candidate pairs and the islands they make.
//!
//! For a horizon H each free body gets the box that its centre of mass will not leave: its path under the present velocity
//! and acceleration, and a margin. A body that may come to touch something it does not touch yet may be thrown back, so its
//! box is as wide as its speed in every direction; a ball that meets nothing but level ground is thrown along the ground's
//! normal, and moves along the ground no faster than its speed and spin allow. Who leaves the box all the same ends the
//! horizon there.

use super::island::Motion;
use tippe_geometry::broad::{Broad, pairs};
use tippe_geometry::{Aabb, Shape, Vec3, separation};
use tippe_mechanics::model::{Drive, Model};
use tippe_mechanics::structure::Structure;

/// Margin of a reach box as a share of the body's radius [-].
const MARGIN: f64 = 0.05;
/// Beyond this many times gravity an acceleration belongs to an impact and does not last [-].
const LASTING: f64 = 2.0;

/// Bodies that may touch each other within a horizon.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Free bodies, ascending.
    pub bodies: Vec<u32>,
    /// Candidate pairs of elements, ascending.
    pub pairs: Vec<(u32, u32)>,
}

/// Where a body may be thrown within a horizon.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Throw {
    /// It keeps to its path.
    No,
    /// Up from a fixed half-space with this normal in the world.
    Along(Vec3),
    /// In any direction.
    Anywhere,
}

impl Throw {
    /// What both together do.
    fn and(self, other: Throw) -> Throw {
        match (self, other) {
            (Throw::No, throw) | (throw, Throw::No) => throw,
            (Throw::Along(n), Throw::Along(m)) if n == m => self,
            _ => Throw::Anywhere,
        }
    }
}

/// Boxes of the centres of mass by body (`speeds`: what a body may reach when thrown [m/s]), and the candidate pairs of elements, ascending.
#[expect(clippy::too_many_arguments, reason = "to be cut: what moves, and two buffers of the caller")]
pub fn find(
    model: &Model,
    structure: &Structure,
    motions: &[Motion],
    speeds: &[f64],
    touching: &[(u32, u32)],
    time: f64,
    H: f64,
    boxes: &mut Vec<Aabb>,
    candidates: &mut Vec<(u32, u32)>,
) {
    let mut throws = vec![Throw::No; model.bodies.len()];
    // what a body touches throws it while it is pressed together, and has a say where it is thrown by something else
    let mut touched = vec![Throw::No; model.bodies.len()];
    for &(a, b) in touching {
        for (this, other) in [(a, b), (b, a)] {
            let body = model.colliders[this as usize].body as usize;
            touched[body] = touched[body].and(throw(model, motions, this, other));
        }
    }
    for (k, body) in model.bodies.iter().enumerate() {
        if body.drive == Drive::Free && motions[k].a.length() > LASTING * model.gravity_at(motions[k].p).length() {
            throws[k] = if touched[k] == Throw::No { Throw::Anywhere } else { touched[k] };
        }
    }
    let mut found = sweep(model, structure, motions, speeds, &throws, time, H, boxes);
    let mut any = false;
    for &(a, b) in &found {
        if touching.binary_search(&(a, b)).is_err() {
            for (this, other) in [(a, b), (b, a)] {
                let body = model.colliders[this as usize].body as usize;
                throws[body] = throws[body].and(touched[body]).and(throw(model, motions, this, other));
            }
            any = true;
        }
    }
    if any {
        found = sweep(model, structure, motions, speeds, &throws, time, H, boxes);
    }
    *candidates = found;
}

/// Where the body of element `this` goes when it meets element `other`.
fn throw(model: &Model, motions: &[Motion], this: u32, other: u32) -> Throw {
    let (this, other) = (&model.colliders[this as usize], &model.colliders[other as usize]);
    let ball = matches!(this.shape, Shape::Sphere { .. }) && this.X_cs.position == Vec3::ZERO;
    let fixed = model.bodies[other.body as usize].drive == Drive::Fixed;
    match other.shape {
        Shape::HalfSpace if ball && fixed => {
            Throw::Along(motions[other.body as usize].q * (other.X_cs.rotation * Vec3::Z))
        }
        _ => Throw::Anywhere,
    }
}

#[expect(clippy::too_many_arguments, reason = "to be cut with `find`")]
fn sweep(
    model: &Model,
    structure: &Structure,
    motions: &[Motion],
    speeds: &[f64],
    throws: &[Throw],
    time: f64,
    H: f64,
    boxes: &mut Vec<Aabb>,
) -> Vec<(u32, u32)> {
    boxes.clear();
    let mut elements = Vec::with_capacity(model.colliders.len());
    for (k, body) in model.bodies.iter().enumerate() {
        let m = &motions[k];
        let center = match body.drive {
            Drive::Free => {
                let margin = MARGIN * body.radius;
                let gravity = model.gravity_at(m.p);
                let far = speeds[k] * H + 0.5 * gravity.length() * H * H + margin;
                match throws[k] {
                    Throw::No => path(m.p, m.v, m.a, H).grown(margin),
                    Throw::Anywhere => Aabb::around(m.p, Vec3::splat(far)),
                    Throw::Along(n) => {
                        let slide = |x: Vec3| (x - n * n.dot(x)).length();
                        let speed = slide(m.v) + m.w.length() * body.radius;
                        let aside = speed * H + 0.5 * slide(gravity) * H * H + margin;
                        Aabb::around(m.p, n.abs() * far + (Vec3::ONE - n * n).max(Vec3::ZERO).map(f64::sqrt) * aside)
                    }
                }
            }
            Drive::Fixed => Aabb::around(m.p, Vec3::ZERO),
            Drive::Prescribed { velocity, .. } => {
                let from = m.p + velocity * time;
                Aabb::around(from, Vec3::ZERO).union(&Aabb::around(from + velocity * H, Vec3::ZERO))
            }
        };
        // a body that nobody can touch may go anywhere
        boxes.push(if body.colliders.is_empty() {
            Aabb { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY }
        } else {
            center
        });
        for e in body.colliders.clone() {
            let element = &model.colliders[e];
            let turning = match body.drive {
                Drive::Free => !(matches!(element.shape, Shape::Sphere { .. }) && element.X_cs.position == Vec3::ZERO),
                Drive::Fixed => false,
                Drive::Prescribed { angular_velocity, .. } => angular_velocity != Vec3::ZERO,
            };
            elements.push(if turning {
                center.grown(element.X_cs.position.length() + element.radius)
            } else {
                let here = element.aabb(&tippe_geometry::Pose::new(m.q, Vec3::ZERO));
                Aabb { min: center.min + here.min, max: center.max + here.max }
            });
        }
    }
    let method = if elements.len() < 32 { Broad::All } else { Broad::Bvh };
    let mut found = pairs(&elements, method);
    found.retain(|&(a, b)| {
        let (b1, b2) = (model.colliders[a as usize].body, model.colliders[b as usize].body);
        model.contact_between(a as usize, b as usize).is_some()
            && structure.may_touch(b1, b2)
            && !far_from_plane(model, motions, boxes, a, b)
    });
    found
}

/// The box of a half-space says little: its true distance decides.
fn far_from_plane(model: &Model, motions: &[Motion], boxes: &[Aabb], a: u32, b: u32) -> bool {
    let (e1, e2) = (&model.colliders[a as usize], &model.colliders[b as usize]);
    if !(matches!(e1.shape, Shape::HalfSpace) || matches!(e2.shape, Shape::HalfSpace)) {
        return false;
    }
    let mut travel = 0.0;
    let mut still = true;
    let X = [e1, e2].map(|e| {
        let k = e.body as usize;
        let m = &motions[k];
        match model.bodies[k].drive {
            Drive::Free => {
                let reach = &boxes[k];
                let far = (reach.max - m.p).max(m.p - reach.min).length();
                travel += far + model.bodies[k].radius * if model.bodies[k].oriented { 2.0 } else { 0.0 };
            }
            Drive::Fixed => {}
            Drive::Prescribed { .. } => still = false,
        }
        tippe_geometry::Pose::new(m.q, m.p).then(&e.X_cs)
    });
    still && separation(&e1.shape, &X[0], &e2.shape, &X[1]).gap > travel
}

/// Box of p + v s + a s^2/2 over 0 <= s <= H.
fn path(p: Vec3, v: Vec3, a: Vec3, H: f64) -> Aabb {
    let end = p + v * H + 0.5 * a * H * H;
    let mut reach = Aabb { min: p.min(end), max: p.max(end) };
    for i in 0..3 {
        let turn = -v[i] / a[i];
        if turn > 0.0 && turn < H {
            let x = p[i] + 0.5 * v[i] * turn;
            reach.min[i] = reach.min[i].min(x);
            reach.max[i] = reach.max[i].max(x);
        }
    }
    reach
}

/// A measure of the work of the islands that candidate pairs make: the sum of the squares of their sizes.
pub fn work(model: &Model, gone: &[bool], candidates: &[(u32, u32)]) -> u64 {
    let mut sizes = vec![0u64; model.bodies.len()];
    for (k, &root) in joined(model, gone, candidates).iter().enumerate() {
        sizes[root as usize] += u64::from(model.bodies[k].drive == Drive::Free);
    }
    sizes.iter().map(|s| s * s).sum()
}

/// Groups of free bodies joined by candidate pairs, in the order of their first body.
pub fn groups(model: &Model, gone: &[bool], candidates: &[(u32, u32)]) -> Vec<Group> {
    let roots = joined(model, gone, candidates);
    let mut index = vec![usize::MAX; model.bodies.len()];
    let mut groups: Vec<Group> = Vec::new();
    for (k, body) in model.bodies.iter().enumerate() {
        if body.drive != Drive::Free {
            continue;
        }
        let root = roots[k] as usize;
        if index[root] == usize::MAX {
            index[root] = groups.len();
            groups.push(Group { bodies: Vec::new(), pairs: Vec::new() });
        }
        groups[index[root]].bodies.push(k as u32);
    }
    for &(a, b) in candidates {
        let (b1, b2) = (model.colliders[a as usize].body as usize, model.colliders[b as usize].body as usize);
        let free = if model.bodies[b1].drive == Drive::Free { b1 } else { b2 };
        groups[index[roots[free] as usize]].pairs.push((a, b));
    }
    groups
}

/// Root of each body in the forest of joined free bodies: its smallest member.
fn joined(model: &Model, gone: &[bool], pairs: &[(u32, u32)]) -> Vec<u32> {
    let mut root: Vec<u32> = (0..model.bodies.len() as u32).collect();
    fn find(root: &mut [u32], mut k: u32) -> u32 {
        while root[k as usize] != k {
            root[k as usize] = root[root[k as usize] as usize];
            k = root[k as usize];
        }
        k
    }
    for mechanism in &model.mechanisms {
        for link in &mechanism.links[1..] {
            let (r1, r2) = (find(&mut root, mechanism.links[0].body), find(&mut root, link.body));
            root[r1.max(r2) as usize] = r1.min(r2);
        }
    }
    for element in &model.elements {
        let Some(home) = element.home else { continue };
        for &body in element.bodies.iter().filter(|b| **b != home && !gone[**b as usize]) {
            let (r1, r2) = (find(&mut root, home), find(&mut root, body));
            root[r1.max(r2) as usize] = r1.min(r2);
        }
    }
    for &(a, b) in pairs {
        let (b1, b2) = (model.colliders[a as usize].body, model.colliders[b as usize].body);
        if model.bodies[b1 as usize].drive == Drive::Free && model.bodies[b2 as usize].drive == Drive::Free {
            let (r1, r2) = (find(&mut root, b1), find(&mut root, b2));
            root[r1.max(r2) as usize] = r1.min(r2);
        }
    }
    (0..root.len() as u32).map(|k| find(&mut root, k)).collect()
}
