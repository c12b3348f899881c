//! Smallest translation that separates overlapping cores: the expanding polytope (van den Bergen 2001).
//!
//! A polytope inside D grows at the face nearest to the origin by the point of D farthest along that face's normal m.
//! The face's distance is a lower bound of the depth, the support's m.w an upper one; they meet at a face of D. With
//! curved cores the last digits come from Newton on the touching features, and the polytope only has to show that no
//! other direction is better.

use super::convex::{Pair, Vertex, Witness};
use super::gjk::Simplex;
use super::polish;
use crate::Vec3;
use std::cell::RefCell;

/// Face of the growing polytope: `across[k]` lies over the edge from corner k to corner k+1.
#[derive(Clone, Copy)]
struct Face {
    corners: [u16; 3],
    across: [u16; 3],
    m: Vec3,
    distance: f64,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// May still hold the answer.
    Open,
    /// Part of the surface, but ruled out.
    Closed,
    /// Inside by now.
    Gone,
}

/// Buffers kept between calls; their content never is.
#[derive(Default)]
struct Polytope {
    vertices: Vec<Vertex>,
    faces: Vec<Face>,
    horizon: Vec<(u16, u16, u16)>,
    stack: Vec<(u16, u8, u8)>,
    seen: Vec<(u16, State)>,
}

thread_local! {
    static POLYTOPE: RefCell<Polytope> = RefCell::default();
}

/// Most points the polytope may have; curved shapes with coincident centres come near it.
const LIMIT: usize = 250;
/// Bounds this near to each other count as met, as a share of the size [-].
const MET: f64 = 4e-15;
/// Faces whose normals differ by less lie in one plane [1 - cosine].
const COPLANAR: f64 = 1e-12;
/// Normals this near to a proven optimum belong to it if the same parts touch there [cosine]: by the number of straight
/// directions of the touching features. Two fix the normal, so any other one is another candidate.
const SAME: [f64; 3] = [0.995, 0.9995, 1.0 - 1e-12];

/// Depth of overlapping cores as a negative gap.
pub(super) fn penetration(pair: &Pair<'_>, simplex: &Simplex) -> Witness {
    POLYTOPE.with(|cell| match cell.try_borrow_mut() {
        Ok(mut p) => p.run(pair, simplex),
        Err(_) => Polytope::default().run(pair, simplex),
    })
}

impl Polytope {
    fn run(&mut self, pair: &Pair<'_>, simplex: &Simplex) -> Witness {
        self.vertices.clear();
        self.faces.clear();
        if !self.begin(pair, simplex) {
            return flat(pair);
        }
        let met = MET * pair.size;
        // Best upper bound of the depth so far, and the proven optimum it came from.
        let mut best: Option<Witness> = None;
        let mut same = 1.0;
        let mut direction = Vec3::ZERO;
        let mut depth = f64::INFINITY;
        let mut next_polish = 0.1;
        while self.vertices.len() < LIMIT {
            let Some(f) = self.nearest_open() else { break };
            let face = self.faces[f];
            if face.distance >= depth - met {
                // The bounds met between two faces: the normal is the upper bound's, the points are its nearest face's.
                best = best.or_else(|| Some(Witness { n: -direction, ..self.witness(self.facing(direction), depth) }));
                break;
            }
            let new = pair.support(face.m);
            if let Some(b) = &best
                && pair.curved
                && -b.n.dot(face.m) > same
                && pair.touches(&new, b.n)
            {
                self.faces[f].state = State::Closed;
                continue;
            }
            let reach = face.m.dot(new.w);
            let slack = reach - face.distance;
            if reach < depth - met || depth == f64::INFINITY {
                depth = reach;
                direction = face.m;
                best = None;
                if slack <= met {
                    best = Some(self.witness(f, reach));
                    break;
                }
            }
            if pair.curved && best.is_none() && slack < next_polish * pair.size {
                let corners = face.corners.map(|i| self.vertices[i as usize]);
                match polish::polish(pair, &corners, &weights(&corners, face.m), -face.m) {
                    Some(found) if -found.witness.gap <= depth + met => {
                        depth = -found.witness.gap;
                        best = Some(found.witness);
                        same = SAME[found.straight.min(2)];
                    }
                    _ => next_polish *= 0.3,
                }
            }
            if slack <= met || !self.insert(f, new, met) {
                self.faces[f].state = State::Closed;
                if best.is_none() {
                    best = Some(self.witness(f, reach));
                    depth = reach;
                }
            }
        }
        match best {
            Some(b) if self.vertices.len() < LIMIT => b,
            Some(b) => {
                let other = self.rough(pair);
                if other.gap > b.gap { other } else { b }
            }
            None => self.rough(pair),
        }
    }

    fn nearest_open(&self) -> Option<usize> {
        let mut best = (f64::INFINITY, None);
        for (i, f) in self.faces.iter().enumerate() {
            if f.distance < best.0 && f.state == State::Open {
                best = (f.distance, Some(i));
            }
        }
        best.1
    }

    /// The face that looks most along m.
    fn facing(&self, m: Vec3) -> usize {
        let mut best = (0, f64::NEG_INFINITY);
        for (i, f) in self.faces.iter().enumerate() {
            if f.state != State::Gone && f.m.dot(m) > best.1 {
                best = (i, f.m.dot(m));
            }
        }
        best.0
    }

    /// Out of points: the best of the directions the faces know, refined if it can be.
    fn rough(&self, pair: &Pair<'_>) -> Witness {
        // Faces with the smallest depth, best first.
        let mut best = [(usize::MAX, f64::INFINITY); 6];
        for (i, f) in self.faces.iter().enumerate().filter(|(_, f)| f.state != State::Gone && f.m != Vec3::ZERO) {
            let reach = -pair.sigma(-f.m);
            if let Some(k) = best.iter().position(|b| reach < b.1) {
                best[k..].rotate_right(1);
                best[k] = (i, reach);
            }
        }
        let mut found: Option<Witness> = None;
        for &(f, reach) in best.iter().filter(|b| b.1 < f64::INFINITY) {
            let face = &self.faces[f];
            let corners = face.corners.map(|i| self.vertices[i as usize]);
            let fine = polish::polish(pair, &corners, &weights(&corners, face.m), -face.m);
            for w in fine.map(|p| p.witness).into_iter().chain([self.witness(f, reach)]) {
                if found.is_none_or(|b| w.gap > b.gap) {
                    found = Some(w);
                }
            }
        }
        found.unwrap_or_else(|| flat(pair))
    }

    /// Witness points on a face; the depth is the support's, which is never too small.
    fn witness(&self, f: usize, reach: f64) -> Witness {
        // A flat part of D may be several triangles: go to the one that holds the origin's foot.
        let m = self.faces[f].m;
        let (mut at, mut corners, mut u) = (f, [Vertex::default(); 3], [0.0; 3]);
        for _ in 0..16 {
            corners = self.faces[at].corners.map(|i| self.vertices[i as usize]);
            u = areas(&corners, m);
            let k = if u[0] <= u[1] && u[0] <= u[2] {
                0
            } else if u[1] <= u[2] {
                1
            } else {
                2
            };
            // Weight k is negative beyond the edge from corner k+1 to corner k+2.
            let next = self.faces[at].across[(k + 1) % 3] as usize;
            let coplanar = self.faces[next].m.dot(m) > 1.0 - COPLANAR && self.faces[next].state != State::Gone;
            if u[k] >= 0.0 || !coplanar {
                break;
            }
            at = next;
        }
        let weight = normalized(u);
        let (mut a, mut b) = (Vec3::ZERO, Vec3::ZERO);
        for k in 0..3 {
            a += corners[k].a * weight[k];
            b += corners[k].b * weight[k];
        }
        Witness { gap: -reach, n: -m, a, b }
    }

    fn face(&self, corners: [u16; 3], across: [u16; 3]) -> Face {
        let [a, b, c] = corners.map(|i| self.vertices[i as usize].w);
        let (ab, ac, bc) = (b - a, c - a, c - b);
        // The shorter two edges give the more accurate normal.
        let m = if bc.length_squared() < ac.length_squared() { ab.cross(bc) } else { ab.cross(ac) };
        let length = m.length();
        if length > 1e-290 {
            let m = m / length;
            Face { corners, across, m, distance: m.dot(a).min(m.dot(b)).min(m.dot(c)), state: State::Open }
        } else {
            Face { corners, across, m: Vec3::ZERO, distance: f64::INFINITY, state: State::Closed }
        }
    }

    /// First tetrahedron: GJK's when it has volume, else the widest one found among extreme points.
    fn begin(&mut self, pair: &Pair<'_>, simplex: &Simplex) -> bool {
        self.vertices.extend(simplex.vertices().copied());
        let healthy = self.vertices.len() == 4 && {
            let w = |i: usize| self.vertices[i].w;
            let (e1, e2, e3) = (w(1) - w(0), w(2) - w(0), w(3) - w(0));
            let volume = e1.cross(e2).dot(e3).abs();
            volume > 1e-3 * (e1.length_squared() * e2.length_squared() * e3.length_squared()).sqrt()
        };
        if !healthy {
            for d in [Vec3::X, Vec3::Y, Vec3::Z] {
                self.vertices.push(pair.support(d));
                self.vertices.push(pair.support(-d));
            }
            if !self.widest(pair) {
                return false;
            }
        }
        let w = |i: usize| self.vertices[i].w;
        if (w(1) - w(0)).cross(w(2) - w(0)).dot(w(3) - w(0)) > 0.0 {
            self.vertices.swap(1, 2);
        }
        // The base (0, 1, 2) looks away from 3.
        let tetrahedron =
            [([0, 1, 2], [1, 2, 3]), ([1, 0, 3], [0, 3, 2]), ([2, 1, 3], [0, 1, 3]), ([0, 2, 3], [0, 2, 1])];
        for (corners, across) in tetrahedron {
            let face = self.face(corners, across);
            self.faces.push(face);
        }
        true
    }

    /// Leaves four points that span a volume; asks for more where those at hand are flat.
    fn widest(&mut self, pair: &Pair<'_>) -> bool {
        let farthest = |all: &[Vertex], measure: &dyn Fn(Vec3) -> f64| {
            let mut best = (0, f64::NEG_INFINITY);
            for (i, v) in all.iter().enumerate() {
                if measure(v.w) > best.1 {
                    best = (i, measure(v.w));
                }
            }
            best
        };
        let thin = 1e-14 * pair.size;
        let p = self.vertices[0];
        let (i, long) = farthest(&self.vertices, &|w| (w - p.w).length());
        if long <= thin {
            return false;
        }
        let q = self.vertices[i];
        let e = (q.w - p.w) / long;
        let s = crate::space::any_orthogonal(e);
        let t = e.cross(s);
        for d in [s, -s, t, -t] {
            self.vertices.push(pair.support(d));
        }
        let (i, wide) = farthest(&self.vertices, &|w| (w - p.w).cross(e).length());
        if wide <= thin {
            return false;
        }
        let r = self.vertices[i];
        let n = e.cross(r.w - p.w).normalize_or_zero();
        self.vertices.push(pair.support(n));
        self.vertices.push(pair.support(-n));
        let (i, high) = farthest(&self.vertices, &|w| (w - p.w).dot(n).abs());
        if high <= thin {
            return false;
        }
        let top = self.vertices[i];
        self.vertices.clear();
        self.vertices.extend([p, q, r, top]);
        true
    }

    /// Adds a point that face f sees; false when rounding would tear the surface.
    fn insert(&mut self, f: usize, new: Vertex, met: f64) -> bool {
        // Coplanar neighbours may count as seen or not; one of the choices gives a simple horizon.
        if ![0.25 * met, -met, 4.0 * met].into_iter().any(|threshold| self.find_horizon(f, new.w, threshold)) {
            return false;
        }
        let apex = self.vertices.len() as u16;
        self.vertices.push(new);
        let (start, count) = (self.faces.len(), self.horizon.len());
        for k in 0..count {
            let (from, to, beyond) = self.horizon[k];
            let next = (start + (k + 1) % count) as u16;
            let previous = (start + (k + count - 1) % count) as u16;
            let face = self.face([from, to, apex], [beyond, next, previous]);
            self.faces.push(face);
            if let Some(twin) = self.faces[beyond as usize].corners.iter().position(|&c| c == to) {
                self.faces[beyond as usize].across[twin] = (start + k) as u16;
            }
        }
        true
    }

    /// Removes the faces that see the point and leaves their rim as one closed loop; changes nothing when it is none.
    fn find_horizon(&mut self, f: usize, w: Vec3, threshold: f64) -> bool {
        self.horizon.clear();
        self.stack.clear();
        self.seen.clear();
        self.seen.push((f as u16, self.faces[f].state));
        self.faces[f].state = State::Gone;
        self.stack.push((f as u16, 0, 3));
        while let Some((g, edge, left)) = self.stack.pop() {
            if left == 0 {
                continue;
            }
            self.stack.push((g, (edge + 1) % 3, left - 1));
            let here = &self.faces[g as usize];
            let k = edge as usize;
            let (from, to, beyond) = (here.corners[k], here.corners[(k + 1) % 3], here.across[k]);
            let next = &self.faces[beyond as usize];
            if next.state == State::Gone {
                continue;
            }
            // Slivers without a normal go with their neighbours.
            if next.m == Vec3::ZERO || next.m.dot(w - self.vertices[next.corners[0] as usize].w) > threshold {
                let enter = next.corners.iter().position(|&c| c == to).unwrap_or(0) as u8;
                self.seen.push((beyond, next.state));
                self.faces[beyond as usize].state = State::Gone;
                self.stack.push((beyond, (enter + 1) % 3, 2));
            } else {
                self.horizon.push((from, to, beyond));
            }
        }
        let count = self.horizon.len();
        let closed = (0..count).all(|k| self.horizon[k].1 == self.horizon[(k + 1) % count].0);
        let simple = (0..count).all(|k| (k + 1..count).all(|l| self.horizon[k].0 != self.horizon[l].0));
        if count >= 3 && closed && simple {
            return true;
        }
        for &(g, state) in &self.seen {
            self.faces[g as usize].state = state;
        }
        false
    }
}

/// Barycentric weights of the origin's foot on a face, kept inside.
fn weights(corners: &[Vertex; 3], m: Vec3) -> [f64; 3] {
    normalized(areas(corners, m))
}

/// Twice the areas that the origin's foot spans with the edges opposite to the corners [m^2].
fn areas(corners: &[Vertex; 3], m: Vec3) -> [f64; 3] {
    let [a, b, c] = corners.map(|v| v.w);
    [m.dot(b.cross(c)), m.dot(c.cross(a)), m.dot(a.cross(b))]
}

fn normalized(u: [f64; 3]) -> [f64; 3] {
    let u = u.map(|x| x.max(0.0));
    let sum = u[0] + u[1] + u[2];
    if sum > 0.0 { u.map(|x| x / sum) } else { [1.0 / 3.0; 3] }
}

/// D has no volume (crossing segments): part along the thinnest of a few directions.
fn flat(pair: &Pair<'_>) -> Witness {
    let z2 = pair.R_12.z_axis;
    let across = Vec3::Z.cross(z2).try_normalize().unwrap_or(Vec3::X);
    let mut best = (f64::NEG_INFINITY, Vec3::X);
    for n in [across, -across, Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y, Vec3::Z, -Vec3::Z] {
        let sigma = pair.sigma(n);
        if sigma > best.0 {
            best = (sigma, n);
        }
    }
    let (gap, n) = best;
    let v = pair.support(-n);
    Witness { gap, n, a: v.b - n * gap, b: v.b }
}
