//! Closest point of a surface, and the signed distance to it.

use super::surface::Surface;
use crate::Vec3;

/// What of a triangle is closest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feature {
    Face,
    Edge(usize),
    Vertex(usize),
}

/// Closest point of a surface to a query point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closest {
    pub triangle: u32,
    /// Distance to the surface, positive inside the solid [m].
    pub depth: f64,
    /// Unit direction in which the depth grows; zero on the surface [-].
    pub inward: Vec3,
}

/// Boxes are dropped only when farther than the best by more than rounding.
const PRUNE: f64 = 1.0 + 1e-12;
/// So many triangles about a place are looked at one after the other; more of them through the tree.
const FEW: usize = 24;

/// Where closest points are looked for; what it holds changes no bit of an answer.
#[derive(Debug, Default)]
pub(super) struct Search {
    stack: Vec<(f64, u32)>,
    /// All triangles that can be closest to a point of the ball of this radius [m] about `center`, and their planes; none if they are many.
    near: Vec<(u32, Vec3, f64)>,
    center: Vec3,
    radius: f64,
}

impl Search {
    /// Knows no place.
    pub fn forget(&mut self) {
        self.near.clear();
    }
}

impl Surface {
    /// Prepares a search for points of a ball about `center`, which has `at_center` closest.
    ///
    /// A point x of it is no farther from the surface than d(center) + r, so what is closest to x is no farther from the centre than
    /// d(center) + 2 r.
    pub(super) fn approach(&self, center: Vec3, at_center: &Closest, radius: f64, search: &mut Search) {
        let reach = at_center.depth.abs() + 2.0 * radius * PRUNE;
        let limit = reach * reach * PRUNE;
        let Search { stack, near, .. } = search;
        near.clear();
        stack.clear();
        stack.push((self.tree.nodes[0].distance_squared(center), 0));
        while let Some((least, i)) = stack.pop() {
            if least > limit {
                continue;
            }
            let node = &self.tree.nodes[i as usize];
            if node.count == 0 {
                for k in [i + 1, node.link] {
                    stack.push((self.tree.nodes[k as usize].distance_squared(center), k));
                }
                continue;
            }
            for &f in self.tree.leaf(node) {
                let (middle, r) = self.balls[f as usize];
                let far = reach + r;
                let n = self.normals[f as usize];
                // a triangle without a plane is never beyond it
                let beyond = n.dot(center - middle).abs() - self.slack[f as usize] > reach;
                if (center - middle).length_squared() <= far * far * PRUNE && !beyond {
                    if near.len() == FEW {
                        near.clear();
                        return;
                    }
                    near.push((f, n, n.dot(middle)));
                }
            }
        }
        (search.center, search.radius) = (center, radius);
    }

    /// Closest point, looked for from triangle `guess` on; all in the surface's own frame.
    ///
    /// The sign is that of the angle-weighted normal of the closest feature (Baerentzen and Aanaes 2005).
    pub(super) fn closest(&self, x: Vec3, guess: u32, search: &mut Search) -> Closest {
        let (mut best, mut found) = (f64::INFINITY, guess);
        let (mut point, mut feature) = (x, Feature::Face);
        let mut consider = |f: u32, best: &mut f64, found: &mut u32| {
            let (y, kind) = closest_on_triangle(x, self.corners(f));
            let d = (x - y).length_squared();
            if d < *best || (d == *best && f < *found) {
                (*best, *found, point, feature) = (d, f, y, kind);
            }
        };
        consider(guess, &mut best, &mut found);
        let Search { stack, near, center, radius } = search;
        if !near.is_empty() && (x - *center).length_squared() <= *radius * *radius {
            for &(f, n, offset) in near.iter() {
                let h = (n.dot(x) - offset).abs() - self.slack[f as usize];
                let beyond = h > 0.0 && h * h > best * PRUNE;
                if f != guess && !beyond {
                    consider(f, &mut best, &mut found);
                }
            }
        } else {
            stack.clear();
            stack.push((self.tree.nodes[0].distance_squared(x), 0));
            while let Some((least, i)) = stack.pop() {
                if least > best * PRUNE {
                    continue;
                }
                let node = &self.tree.nodes[i as usize];
                if node.count > 0 {
                    for &f in self.tree.leaf(node) {
                        consider(f, &mut best, &mut found);
                    }
                    continue;
                }
                let (left, right) = (i + 1, node.link);
                let near = [left, right].map(|k| self.tree.nodes[k as usize].distance_squared(x));
                if near[0] <= near[1] {
                    stack.push((near[1], right));
                    stack.push((near[0], left));
                } else {
                    stack.push((near[0], left));
                    stack.push((near[1], right));
                }
            }
        }
        let t = self.triangles[found as usize];
        let away = x - point;
        let normal = self.normals[found as usize];
        let (depth, inward) = match feature {
            Feature::Face => {
                let h = -normal.dot(away);
                (h, -normal)
            }
            Feature::Edge(k) => self.signed(away, self.edge_normals[self.face_edges[found as usize][k] as usize]),
            Feature::Vertex(k) => self.signed(away, self.vertex_normals[t[k] as usize]),
        };
        Closest { triangle: found, depth, inward }
    }

    fn signed(&self, away: Vec3, normal: Vec3) -> (f64, Vec3) {
        let d = away.length();
        let outside = normal.dot(away) > 0.0;
        let depth = if outside { -d } else { d };
        (depth, if d > 0.0 { away / depth } else { Vec3::ZERO })
    }
}

/// Closest point of a triangle by its Voronoi regions (Ericson 2005, 5.1.5).
pub(super) fn closest_on_triangle(p: Vec3, [a, b, c]: [Vec3; 3]) -> (Vec3, Feature) {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (a, Feature::Vertex(0));
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return (b, Feature::Vertex(1));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 && d1 > d3 {
        return (a + ab * (d1 / (d1 - d3)), Feature::Edge(0));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return (c, Feature::Vertex(2));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 && d2 > d6 {
        return (a + ac * (d2 / (d2 - d6)), Feature::Edge(2));
    }
    let va = d3 * d6 - d5 * d4;
    let (e, f) = (d4 - d3, d5 - d6);
    if va <= 0.0 && e >= 0.0 && f >= 0.0 && e + f > 0.0 {
        return (b + (c - b) * (e / (e + f)), Feature::Edge(1));
    }
    let sum = va + vb + vc;
    if sum > 0.0 { (a + ab * (vb / sum) + ac * (vc / sum), Feature::Face) } else { (a, Feature::Vertex(0)) }
}
