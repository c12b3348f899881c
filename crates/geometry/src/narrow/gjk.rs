//! Nearest point of the difference body to the origin (Gilbert, Johnson, Keerthi 1988).
//!
//! A simplex of up to four points of D holds the nearest point v found so far; the point w of D farthest along -v joins
//! it. |v| is an upper, v.w/|v| a lower bound of the distance.

use super::convex::{Pair, Vertex, Witness};
use super::polish;
use crate::Vec3;

/// Up to four points of D and the weights of the nearest point.
#[derive(Clone, Copy, Default)]
pub(super) struct Simplex {
    /// Slots; those in use are listed in `used`.
    slot: [Vertex; 4],
    used: [u8; 4],
    weight: [f64; 4],
    count: usize,
}

/// What GJK found.
pub(super) enum Nearest {
    /// The cores are apart; v is the nearest point of D, unless rounding stopped the search before the bounds met.
    Apart { v: Vec3, converged: bool },
    /// The cores are apart, and the touching features are known.
    Proven(Witness),
    /// D holds the origin, or misses it by rounding only.
    Overlapping,
}

/// Rounding of a difference of support points, as a share of the size [-].
const ROUNDING: f64 = 1e-15;
/// Polytopes end after a few corners; curved shapes take more. Reached only when rounding makes the search circle.
const LIMIT: usize = 100;
/// Curved cores: slack of the bounds, as a share of the squared distance, at which the features are tried [-].
const TRIES: [f64; 3] = [3e-2, 1e-3, 1e-6];

/// GJK from the point of D farthest along -start.
pub(super) fn nearest(pair: &Pair<'_>, start: Vec3, simplex: &mut Simplex) -> Nearest {
    let start = if start == Vec3::ZERO { Vec3::X } else { start };
    *simplex = Simplex::default();
    simplex.slot[0] = pair.support(-start);
    simplex.weight[0] = 1.0;
    simplex.count = 1;
    let mut v = simplex.slot[0].w;
    let noise = ROUNDING * pair.size;
    let mut tries = 0;
    for _ in 0..LIMIT {
        let squared = v.length_squared();
        if squared <= 1e4 * noise * noise {
            return Nearest::Overlapping;
        }
        let new = pair.support(-v);
        // The bounds meet: |v| - v.w/|v| within rounding.
        let slack = squared - v.dot(new.w);
        if slack <= 1e-14 * squared + 4.0 * noise * squared.sqrt() || simplex.holds(&new) {
            return Nearest::Apart { v, converged: true };
        }
        if pair.curved && tries < TRIES.len() && slack < TRIES[tries] * squared {
            tries += 1;
            if let Some(found) = polish::apart(pair, simplex, v / squared.sqrt()) {
                return Nearest::Proven(found);
            }
        }
        match simplex.with(new) {
            None => return Nearest::Overlapping,
            Some(next) if next.v.length_squared() < squared => {
                simplex.keep(&next);
                v = next.v;
            }
            Some(_) => return Nearest::Apart { v, converged: false },
        }
    }
    Nearest::Apart { v, converged: false }
}

impl Simplex {
    /// Points in use.
    pub(super) fn vertices(&self) -> impl Iterator<Item = &Vertex> {
        self.used[..self.count].iter().map(|&i| &self.slot[i as usize])
    }

    pub(super) fn weights(&self) -> &[f64] {
        &self.weight[..self.count]
    }

    /// Points of core 1 and 2 that belong to the nearest point.
    pub(super) fn witness(&self) -> (Vec3, Vec3) {
        let (mut a, mut b) = (Vec3::ZERO, Vec3::ZERO);
        for (p, weight) in self.vertices().zip(self.weights()) {
            a += p.a * *weight;
            b += p.b * *weight;
        }
        (a, b)
    }

    fn holds(&self, new: &Vertex) -> bool {
        self.vertices().any(|v| v.w == new.w)
    }

    /// Nearest point of the simplex with one more point, which goes to a free slot; `None` when the origin lies inside.
    #[inline]
    fn with(&mut self, new: Vertex) -> Option<Foot> {
        let free = (0..4u8).find(|i| !self.used[..self.count].contains(i)).unwrap_or(3);
        self.slot[free as usize] = new;
        self.used[self.count] = free;
        let w = |k: usize| self.slot[self.used[k] as usize].w;
        match self.count {
            1 => Some(segment(w(0), w(1))),
            2 => Some(triangle(w(0), w(1), w(2))),
            _ => {
                let foot = tetrahedron(&[w(0), w(1), w(2), w(3)]);
                if foot.is_none() {
                    self.count = 4;
                }
                foot
            }
        }
    }

    /// Drops the points without weight.
    #[inline]
    fn keep(&mut self, foot: &Foot) {
        let old = self.used;
        self.count = 0;
        for k in 0..4 {
            if foot.weight[k] > 0.0 {
                self.used[self.count] = old[k];
                self.weight[self.count] = foot.weight[k];
                self.count += 1;
            }
        }
    }
}

/// Nearest point to the origin as weights of the corners; a corner without weight is not needed.
struct Foot {
    v: Vec3,
    weight: [f64; 4],
}

#[inline]
fn segment(a: Vec3, b: Vec3) -> Foot {
    let e = b - a;
    let (along, squared) = (-a.dot(e), e.length_squared());
    if along <= 0.0 {
        Foot { v: a, weight: [1.0, 0.0, 0.0, 0.0] }
    } else if along >= squared {
        Foot { v: b, weight: [0.0, 1.0, 0.0, 0.0] }
    } else {
        let t = along / squared;
        Foot { v: a + e * t, weight: [1.0 - t, t, 0.0, 0.0] }
    }
}

/// Barycentric weights are areas seen along the normal; an edge with a negative one may hold the nearest point.
#[inline]
fn triangle(a: Vec3, b: Vec3, c: Vec3) -> Foot {
    // The two shorter edges give the more accurate normal.
    let (ab, ac, bc) = (b - a, c - a, c - b);
    let n = if ab.length_squared() + bc.length_squared() < ab.length_squared() + ac.length_squared() {
        ab.cross(bc)
    } else {
        ab.cross(ac)
    };
    let squared = n.length_squared();
    let u = [n.dot(b.cross(c)), n.dot(c.cross(a)), n.dot(a.cross(b))];
    if u[0] > 0.0 && u[1] > 0.0 && u[2] > 0.0 && squared > 0.0 {
        let sum = u[0] + u[1] + u[2];
        return Foot { v: n * (n.dot(a) / squared), weight: [u[0] / sum, u[1] / sum, u[2] / sum, 0.0] };
    }
    let mut best = Foot { v: Vec3::INFINITY, weight: [0.0; 4] };
    let mut least = f64::INFINITY;
    for (i, p, q) in [(0, b, c), (1, c, a), (2, a, b)] {
        if u[i] <= 0.0 || squared == 0.0 {
            let f = segment(p, q);
            let d = f.v.length_squared();
            if d < least {
                least = d;
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                best = Foot { v: f.v, weight: [0.0; 4] };
                best.weight[j] = f.weight[0];
                best.weight[k] = f.weight[1];
            }
        }
    }
    best
}

/// Nearest of the faces that the origin lies outside of; `None` inside. A tetrahedron without volume has no inside.
fn tetrahedron(w: &[Vec3; 4]) -> Option<Foot> {
    const FACES: [[usize; 4]; 4] = [[0, 1, 2, 3], [0, 3, 1, 2], [0, 2, 3, 1], [1, 3, 2, 0]];
    let (e1, e2, e3) = (w[1] - w[0], w[2] - w[0], w[3] - w[0]);
    let volume = e1.cross(e2).dot(e3);
    let flat = volume * volume <= 1e-28 * (e1.length_squared() * e2.length_squared() * e3.length_squared());
    let mut best: Option<Foot> = None;
    let mut least = f64::INFINITY;
    for [i, j, k, l] in FACES {
        let n = (w[j] - w[i]).cross(w[k] - w[i]);
        let (origin, inner) = (-n.dot(w[i]), n.dot(w[l] - w[i]));
        if flat || origin * inner < 0.0 {
            let f = triangle(w[i], w[j], w[k]);
            let d = f.v.length_squared();
            if d < least {
                least = d;
                let mut weight = [0.0; 4];
                (weight[i], weight[j], weight[k]) = (f.weight[0], f.weight[1], f.weight[2]);
                best = Some(Foot { v: f.v, weight });
            }
        }
    }
    best
}
