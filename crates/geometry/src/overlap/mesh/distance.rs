//! Distance of two surfaces that do not touch.

use super::placement::{Descent, Placement};
use super::surface::{ROUNDING, Surface};
use crate::tree::Nodes;
use crate::{Pose, Vec3};

/// Closest points of two surfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Distance of the surfaces, zero when they cross [m].
    pub distance: f64,
    /// Closest point of surface 1 in the world [m].
    pub point1: Vec3,
    /// Closest point of surface 2 in the world [m].
    pub point2: Vec3,
    /// Triangles that carry them.
    pub triangles: [u32; 2],
}

/// Boxes are dropped only when farther than the best by more than rounding.
const PRUNE: f64 = 1.0 - 1e-12;

/// The distance of two triangles known from before bounds that of the surfaces with this factor [-].
const BOUND: f64 = 1.0 + 1e-9;

/// Distance of two placed surfaces if it is below `limit` [m], else `None`. Exact up to rounding. A solid inside the other
/// has the distance of its surface: ask [`super::surface_overlap`] whether they share volume.
///
/// `near` are triangles to look at first, and become those that carry the closest points: the better they are the less is searched, but no bit of
/// the answer depends on them. `stack` is a buffer.
pub fn surface_distance(
    surface1: &Surface,
    X_w1: &Pose,
    surface2: &Surface,
    X_w2: &Pose,
    limit: f64,
    near: &mut [u32; 2],
    stack: &mut Vec<(f64, u32, u32)>,
) -> Option<Gap> {
    let X = Placement::new(X_w1, X_w2);
    let (s1, s2) = (surface1, surface2);
    let mut best = limit;
    let mut found: Option<Gap> = None;
    let size = s1.size + s2.size + X.p_12.abs().max_element();
    let descent = Descent::new(&X, ROUNDING * size, size);
    let placed = |g: u32| s2.corners(g).map(|corner| X.point(corner));
    if (near[0] as usize) < s1.len() && (near[1] as usize) < s2.len() {
        // a bound, no answer: of pairs that are as near the first in the order of the search is found, whatever the bound
        let known = between(s1.corners(near[0]), placed(near[1]), f64::INFINITY).0;
        best = best.min(known * BOUND + ROUNDING * size);
    }
    stack.clear();
    stack.push((0.0, 0, 0));
    while let Some((least, i, j)) = stack.pop() {
        if least * PRUNE >= best {
            continue;
        }
        let (a, b) = (&s1.tree.nodes[i as usize], &s2.tree.nodes[j as usize]);
        if a.count > 0 && b.count > 0 {
            for &f in s1.tree.leaf(a) {
                let p = s1.corners(f);
                let (c1, r1) = s1.balls[f as usize];
                for &g in s2.tree.leaf(b) {
                    let (c2, r2) = s2.balls[g as usize];
                    let reach = (r1 + r2 + best) / PRUNE;
                    if (X.point(c2) - c1).length_squared() > reach * reach {
                        continue;
                    }
                    let q = placed(g);
                    if boxes_apart(&p, &q).length_squared() * PRUNE > best * best {
                        continue;
                    }
                    let (d, x, y) = between(p, q, best / PRUNE);
                    if d < best {
                        best = d;
                        let (point1, point2) = (X_w1.point(x), X_w1.point(y));
                        found = Some(Gap { distance: d, point1, point2, triangles: [f, g] });
                        *near = [f, g];
                    }
                }
            }
            continue;
        }
        let (small1, small2) = (&s1.tree.small[i as usize], &s2.tree.small[j as usize]);
        let splits_1 = b.count > 0 || (a.count == 0 && a.half.length_squared() >= b.half.length_squared());
        let (four, apart) = if splits_1 {
            let four = &s1.tree.fours[small1.four as usize];
            (four, descent.apart(&four.nodes, &Nodes::all(small2)))
        } else {
            let four = &s2.tree.fours[small2.four as usize];
            (four, descent.apart(&Nodes::all(small1), &four.nodes))
        };
        // the nearest comes last, to be opened first
        let first = stack.len();
        for (&child, least) in four.index.iter().zip(apart).take(four.count) {
            let pair = if splits_1 { (child, j) } else { (i, child) };
            stack.push((f64::from(least), pair.0, pair.1));
        }
        stack[first..].sort_by(|a, b| b.0.total_cmp(&a.0));
    }
    found
}

/// Shortest vector between the boxes of two triangles; no longer than the distance of the triangles [m].
fn boxes_apart(p: &[Vec3; 3], q: &[Vec3; 3]) -> Vec3 {
    let (p_low, p_high) = (p[0].min(p[1]).min(p[2]), p[0].max(p[1]).max(p[2]));
    let (q_low, q_high) = (q[0].min(q[1]).min(q[2]), q[0].max(q[1]).max(q[2]));
    (q_low - p_high).max(p_low - q_high).max(Vec3::ZERO)
}

/// Distance of two triangles with closest points, if it is below `limit`: corner to triangle or edge to edge; zero when an edge passes through.
fn between(p: [Vec3; 3], q: [Vec3; 3], limit: f64) -> (f64, Vec3, Vec3) {
    let mut best = (f64::INFINITY, p[0], q[0]);
    // middle and half the length of the edges: those whose balls are farther apart than the limit are not looked at
    let edges = |t: &[Vec3; 3]| {
        [0, 1, 2].map(|k| {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            (0.5 * (a + b), 0.5 * (b - a).length())
        })
    };
    let (edges_p, edges_q) = (edges(&p), edges(&q));
    // corners farther from the plane of the other triangle than the limit are not either
    let off = |t: &[Vec3; 3]| {
        let n = (t[1] - t[0]).cross(t[2] - t[0]);
        (n, limit * limit * n.length_squared())
    };
    let ((n_p, off_p), (n_q, off_q)) = (off(&p), off(&q));
    // of a triangle without area nothing is far
    let far = |h: f64, off: f64| h * h > off;
    for k in 0..3 {
        if !far(n_q.dot(p[k] - q[0]), off_q) {
            let y = super::closest::closest_on_triangle(p[k], q).0;
            let d = (p[k] - y).length();
            if d < best.0 {
                best = (d, p[k], y);
            }
        }
        if !far(n_p.dot(q[k] - p[0]), off_p) {
            let x = super::closest::closest_on_triangle(q[k], p).0;
            let d = (q[k] - x).length();
            if d < best.0 {
                best = (d, x, q[k]);
            }
        }
        for l in 0..3 {
            let ((m_p, r_p), (m_q, r_q)) = (edges_p[k], edges_q[l]);
            let reach = r_p + r_q + limit;
            if (m_p - m_q).length_squared() > reach * reach {
                continue;
            }
            let (x, y) = between_edges([p[k], p[(k + 1) % 3]], [q[l], q[(l + 1) % 3]]);
            let d = (x - y).length();
            if d < best.0 {
                best = (d, x, y);
            }
        }
    }
    if let Some(x) = through(p, q).or_else(|| through(q, p)) {
        best = (0.0, x, x);
    }
    best
}

/// Closest points of two line segments (Ericson 2005, 5.1.9).
fn between_edges([p, p1]: [Vec3; 2], [q, q1]: [Vec3; 2]) -> (Vec3, Vec3) {
    let (d1, d2, r) = (p1 - p, q1 - q, p - q);
    let (a, e, f) = (d1.length_squared(), d2.length_squared(), d2.dot(r));
    let (b, c) = (d1.dot(d2), d1.dot(r));
    let det = a * e - b * b;
    let mut s = if det > 0.0 { ((b * f - c * e) / det).clamp(0.0, 1.0) } else { 0.0 };
    let t = if e > 0.0 { ((b * s + f) / e).clamp(0.0, 1.0) } else { 0.0 };
    if a > 0.0 {
        s = ((b * t - c) / a).clamp(0.0, 1.0);
    }
    (p + d1 * s, q + d2 * t)
}

/// Point where an edge of the first triangle passes through the second.
fn through(p: [Vec3; 3], q: [Vec3; 3]) -> Option<Vec3> {
    let n = (q[1] - q[0]).cross(q[2] - q[0]);
    let h = p.map(|x| n.dot(x - q[0]));
    for k in 0..3 {
        let l = (k + 1) % 3;
        if (h[k] > 0.0) == (h[l] > 0.0) {
            continue;
        }
        let x = p[k] + (p[l] - p[k]) * (h[k] / (h[k] - h[l]));
        if (0..3).all(|m| n.dot((q[(m + 1) % 3] - q[m]).cross(x - q[m])) >= 0.0) {
            return Some(x);
        }
    }
    None
}
