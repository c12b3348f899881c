//! Nearest point of the difference body to the origin (Gilbert, Johnson, Keerthi 1988).
//!
//! A simplex of up to four points of D holds the nearest point v found so far; the point w of D farthest along -v joins
//! it. |v| is an upper, v.w/|v| a lower bound of the distance.

use super::convex::{Pair, Vertex};
use crate::Vec3;

/// Up to four points of D and the weights of the nearest point.
#[derive(Clone, Copy, Default)]
pub(super) struct Simplex {
    vertex: [Vertex; 4],
    weight: [f64; 4],
    count: usize,
}

/// What GJK found.
pub(super) enum Nearest {
    /// The cores are apart; v is the nearest point of D.
    Apart { simplex: Simplex, v: Vec3 },
    /// D holds the origin, or misses it by rounding only.
    Overlapping { simplex: Simplex },
}

/// Rounding of a difference of support points, as a share of the size [-].
const ROUNDING: f64 = 1e-15;
/// Polytopes end after a few corners; curved shapes take more. Reached only when rounding makes the search circle.
const LIMIT: usize = 100;

/// GJK from the line of centres.
pub(super) fn nearest(pair: &Pair<'_>) -> Nearest {
    let mut simplex = Simplex::default();
    let start = if pair.p_12 == Vec3::ZERO { Vec3::X } else { pair.p_12 };
    simplex.push(pair.support(-start));
    let mut v = simplex.vertex[0].w;
    simplex.weight[0] = 1.0;
    let noise = ROUNDING * pair.size;
    for _ in 0..LIMIT {
        let squared = v.length_squared();
        if squared <= 1e4 * noise * noise {
            return Nearest::Overlapping { simplex };
        }
        let new = pair.support(-v);
        // The bounds meet: |v| - v.w/|v| within rounding.
        let slack = squared - v.dot(new.w);
        if slack <= 1e-14 * squared + 4.0 * noise * squared.sqrt() || simplex.holds(&new) {
            return Nearest::Apart { simplex, v };
        }
        let before = simplex;
        simplex.push(new);
        match simplex.reduce() {
            None => return Nearest::Overlapping { simplex },
            Some(next) if next.length_squared() < squared => v = next,
            Some(_) => return Nearest::Apart { simplex: before, v },
        }
    }
    Nearest::Apart { simplex, v }
}

impl Simplex {
    pub(super) fn vertices(&self) -> &[Vertex] {
        &self.vertex[..self.count]
    }

    pub(super) fn weights(&self) -> &[f64] {
        &self.weight[..self.count]
    }

    /// Points of core 1 and 2 that belong to the nearest point.
    pub(super) fn witness(&self) -> (Vec3, Vec3) {
        let (mut a, mut b) = (Vec3::ZERO, Vec3::ZERO);
        for k in 0..self.count {
            a += self.vertex[k].a * self.weight[k];
            b += self.vertex[k].b * self.weight[k];
        }
        (a, b)
    }

    fn push(&mut self, v: Vertex) {
        self.vertex[self.count] = v;
        self.count += 1;
    }

    fn holds(&self, new: &Vertex) -> bool {
        self.vertices().iter().any(|v| v.w == new.w)
    }

    /// Drops the points that the nearest point to the origin does not need; `None` when the origin lies inside.
    #[inline]
    fn reduce(&mut self) -> Option<Vec3> {
        let w = self.vertex.map(|v| v.w);
        let (foot, which) = match self.count {
            2 => (segment(w[0], w[1]), [0, 1, 1]),
            3 => (triangle(w[0], w[1], w[2]), [0, 1, 2]),
            _ => tetrahedron(&w)?,
        };
        let old = self.vertex;
        self.count = 0;
        for k in 0..3 {
            if foot.weight[k] > 0.0 {
                self.vertex[self.count] = old[which[k]];
                self.weight[self.count] = foot.weight[k];
                self.count += 1;
            }
        }
        Some(foot.v)
    }
}

/// Nearest point to the origin as weights of up to three corners; a corner without weight is not needed.
struct Foot {
    v: Vec3,
    weight: [f64; 3],
}

#[inline]
fn segment(a: Vec3, b: Vec3) -> Foot {
    let e = b - a;
    let (along, squared) = (-a.dot(e), e.length_squared());
    if along <= 0.0 {
        Foot { v: a, weight: [1.0, 0.0, 0.0] }
    } else if along >= squared {
        Foot { v: b, weight: [0.0, 1.0, 0.0] }
    } else {
        let t = along / squared;
        Foot { v: a + e * t, weight: [1.0 - t, t, 0.0] }
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
        return Foot { v: n * (n.dot(a) / squared), weight: [u[0] / sum, u[1] / sum, u[2] / sum] };
    }
    let mut best = Foot { v: Vec3::INFINITY, weight: [0.0; 3] };
    let mut least = f64::INFINITY;
    for (i, p, q) in [(0, b, c), (1, c, a), (2, a, b)] {
        if u[i] <= 0.0 || squared == 0.0 {
            let f = segment(p, q);
            let d = f.v.length_squared();
            if d < least {
                least = d;
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                best = Foot { v: f.v, weight: [0.0; 3] };
                best.weight[j] = f.weight[0];
                best.weight[k] = f.weight[1];
            }
        }
    }
    best
}

/// Nearest of the faces that the origin lies outside of; `None` inside. A tetrahedron without volume has no inside.
fn tetrahedron(w: &[Vec3; 4]) -> Option<(Foot, [usize; 3])> {
    const FACES: [[usize; 4]; 4] = [[0, 1, 2, 3], [0, 3, 1, 2], [0, 2, 3, 1], [1, 3, 2, 0]];
    let (e1, e2, e3) = (w[1] - w[0], w[2] - w[0], w[3] - w[0]);
    let volume = e1.cross(e2).dot(e3).abs();
    let flat = volume <= 1e-14 * (e1.length_squared() * e2.length_squared() * e3.length_squared()).sqrt();
    let mut best: Option<(Foot, [usize; 3])> = None;
    let mut least = f64::INFINITY;
    for [i, j, k, l] in FACES {
        let n = (w[j] - w[i]).cross(w[k] - w[i]);
        let (origin, inner) = (-n.dot(w[i]), n.dot(w[l] - w[i]));
        if flat || origin * inner < 0.0 {
            let f = triangle(w[i], w[j], w[k]);
            let d = f.v.length_squared();
            if d < least {
                least = d;
                best = Some((f, [i, j, k]));
            }
        }
    }
    best
}
