//! Exact questions about points of two solids, with an answer also where points coincide.
//!
//! Coordinates are taken as they are (rounded once, when solid 2 is placed in frame 1), signs of determinants are exact
//! (Shewchuk 1997). Where a determinant is zero, solid 2 counts as shifted by (e, e^2, e^3) with e > 0 as small as you like
//! (Simulation of Simplicity, Edelsbrunner and Muecke 1990, with the shift as the only perturbation): the sign is that of
//! the first derivative along x, y, z that does not vanish. A shifted solid is a solid, so all answers fit together:
//! pieces of surface close up whatever coincides. docs/theory/overlap.md, section 2.

use crate::Vec3;
use robust::{Coord, Coord3D, orient2d, orient3d};

fn c3(p: Vec3) -> Coord3D<f64> {
    Coord3D { x: p.x, y: p.y, z: p.z }
}

fn c2(x: f64, y: f64) -> Coord<f64> {
    Coord { x, y }
}

/// Which solid the point belongs to; the plane or edge belongs to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    One,
    Two,
}

/// True when a point counts as above the plane through a, b, c: on the side from which they run anticlockwise. A triangle
/// without area has everything above.
pub(super) fn is_above(of: Of, p: Vec3, [a, b, c]: [Vec3; 3]) -> bool {
    let h = -orient3d(c3(a), c3(b), c3(c), c3(p));
    if h != 0.0 {
        return h > 0.0;
    }
    // d/dshift of n.(p - a): +n when p moves, -n when the plane moves
    let along = [
        orient2d(c2(a.y, a.z), c2(b.y, b.z), c2(c.y, c.z)),
        orient2d(c2(a.z, a.x), c2(b.z, b.x), c2(c.z, c.x)),
        orient2d(c2(a.x, a.y), c2(b.x, b.y), c2(c.x, c.y)),
    ];
    along.into_iter().find(|n| *n != 0.0).is_none_or(|n| (n > 0.0) == (of == Of::Two))
}

/// True when det [q - p, a - p, b - p] counts as positive: edge pq of solid 1 passes edge ab of solid 2 on its left.
pub(super) fn passes(p: Vec3, q: Vec3, a: Vec3, b: Vec3) -> bool {
    let det = -orient3d(c3(p), c3(q), c3(a), c3(b));
    if det != 0.0 {
        return det > 0.0;
    }
    // d/dshift: (b - a) x (q - p)
    for (i, j) in [(1, 2), (2, 0), (0, 1)] {
        let s = cross_sign(b[i], a[i], b[j], a[j], q[i], p[i], q[j], p[j]);
        if s != 0.0 {
            return s > 0.0;
        }
    }
    true // parallel edges: never asked of an edge that crosses the plane
}

/// True when the point at the plane's (x, y) lies left of the edge from a to b; the point belongs to solid `of`.
pub(super) fn is_left(of: Of, p: Vec3, a: Vec3, b: Vec3) -> bool {
    let det = orient2d(c2(a.x, a.y), c2(b.x, b.y), c2(p.x, p.y));
    if det != 0.0 {
        return det > 0.0;
    }
    // det = (b - a) x (p - a): d/dx of p is -(b - a).y, d/dy is (b - a).x
    let slope = if a.y != b.y { a.y - b.y } else { b.x - a.x };
    (slope > 0.0) == (of == Of::Two)
}

/// Sign of (x1 - x0)(v1 - v0) - (y1 - y0)(u1 - u0), exactly.
#[expect(clippy::too_many_arguments, reason = "the eight numbers of a determinant")]
fn cross_sign(x1: f64, x0: f64, y1: f64, y0: f64, u1: f64, u0: f64, v1: f64, v0: f64) -> f64 {
    let (dx, dy, du, dv) = (two_diff(x1, x0), two_diff(y1, y0), two_diff(u1, u0), two_diff(v1, v0));
    let det = dx[0] * dv[0] - dy[0] * du[0];
    // each product is off by less than 4 roundings
    if det.abs() > 8.0 * f64::EPSILON * ((dx[0] * dv[0]).abs() + (dy[0] * du[0]).abs()) {
        return det;
    }
    let mut sum = Expansion { terms: [0.0; 16], len: 0 };
    for a in dx {
        for b in dv {
            sum.add_product(a, b);
        }
    }
    for a in dy {
        for b in du {
            sum.add_product(-a, b);
        }
    }
    sum.terms[..sum.len].iter().rev().copied().find(|t| *t != 0.0).unwrap_or(0.0)
}

/// a - b as a rounded value and its error.
fn two_diff(a: f64, b: f64) -> [f64; 2] {
    let x = a - b;
    let bv = a - x;
    let av = x + bv;
    [x, (a - av) + (bv - b)]
}

fn two_sum(a: f64, b: f64) -> [f64; 2] {
    let x = a + b;
    let bv = x - a;
    let av = x - bv;
    [x, (a - av) + (b - bv)]
}

/// Veltkamp's halves.
fn halves(a: f64) -> [f64; 2] {
    let c = 134_217_729.0 * a;
    let high = c - (c - a);
    [high, a - high]
}

/// A sum of terms that do not overlap, smallest first (Shewchuk 1997, grow-expansion).
struct Expansion {
    terms: [f64; 16],
    len: usize,
}

impl Expansion {
    fn add(&mut self, value: f64) {
        let mut carry = value;
        for t in &mut self.terms[..self.len] {
            let [sum, error] = two_sum(carry, *t);
            (*t, carry) = (error, sum);
        }
        self.terms[self.len] = carry;
        self.len += 1;
    }

    fn add_product(&mut self, a: f64, b: f64) {
        let x = a * b;
        let ([ah, al], [bh, bl]) = (halves(a), halves(b));
        let error = al * bl - (((x - ah * bh) - al * bh) - ah * bl);
        self.add(error);
        self.add(x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sign_of_a_difference_of_products_is_exact() {
        // (1 + 2^-52)(1 - 2^-52) against 1: the difference is -2^-104.
        let e = f64::EPSILON;
        assert!(cross_sign(1.0 + e, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0 - e, 0.0) < 0.0);
        assert!(cross_sign(1.0, 0.0, 1.0 + e, 0.0, 1.0 - e, 0.0, 1.0, 0.0) > 0.0);
        assert_eq!(cross_sign(0.3, 0.1, 0.7, 0.2, 0.3, 0.1, 0.7, 0.2), 0.0);
        // Differences that are not representable.
        assert!(cross_sign(1.0, 1e-30, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0) < 0.0);
    }

    #[test]
    fn ties_turn_with_the_order_of_the_corners() {
        let (a, b, c) = (Vec3::ZERO, Vec3::X, Vec3::Y);
        for of in [Of::One, Of::Two] {
            for p in [a, b, c, Vec3::new(0.3, 0.3, 0.0), Vec3::new(5.0, 1.0, 0.0)] {
                assert_ne!(is_above(of, p, [a, b, c]), is_above(of, p, [a, c, b]));
            }
        }
        // Crossing edges that meet in a point.
        let (p, q) = (Vec3::new(0.5, 0.0, -1.0), Vec3::new(0.5, 0.0, 1.0));
        assert_ne!(passes(p, q, a, b), passes(q, p, a, b));
        assert_ne!(passes(p, q, a, b), passes(p, q, b, a));
    }
}
