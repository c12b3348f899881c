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
/// More triangles than this are not gathered: the tree is faster.
const MANY_NEAR: usize = 24;

/// Triangles that can be closest to points within `reach` of `center`; none where they would be too many.
#[derive(Clone, Debug, Default)]
pub(super) struct Near {
    center: Vec3,
    reach: f64,
    triangles: Vec<u32>,
}

impl Near {
    pub fn holds(&self, x: Vec3) -> bool {
        !self.triangles.is_empty() && (x - self.center).length_squared() <= self.reach * self.reach
    }
}

/// The closest triangle so far; of equal ones the first, in whatever order they come.
struct Best {
    squared: f64,
    triangle: u32,
    point: Vec3,
    feature: Feature,
}

impl Best {
    fn new(s: &Surface, x: Vec3, triangle: u32) -> Best {
        let (point, feature) = closest_on_triangle(x, s.corners(triangle));
        Best { squared: (x - point).length_squared(), triangle, point, feature }
    }

    fn consider(&mut self, s: &Surface, x: Vec3, triangle: u32) {
        let (point, feature) = closest_on_triangle(x, s.corners(triangle));
        let squared = (x - point).length_squared();
        if squared < self.squared || (squared == self.squared && triangle < self.triangle) {
            *self = Best { squared, triangle, point, feature };
        }
    }
}

impl Surface {
    /// Closest point, looked for from triangle `guess` on; all in the surface's own frame.
    ///
    /// The sign is that of the angle-weighted normal of the closest feature (Baerentzen and Aanaes 2005).
    pub(super) fn closest(&self, x: Vec3, guess: u32, stack: &mut Vec<(f64, u32)>) -> Closest {
        let mut best = Best::new(self, x, guess);
        stack.clear();
        stack.push((self.tree.nodes[0].distance_squared(x), 0));
        while let Some((least, i)) = stack.pop() {
            if least > best.squared * PRUNE {
                continue;
            }
            let node = &self.tree.nodes[i as usize];
            if node.count > 0 {
                for &f in self.tree.leaf(node) {
                    best.consider(self, x, f);
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
        self.answer(x, &best)
    }

    /// The same for a point about which `near` has all triangles that can be closest.
    pub(super) fn closest_of(&self, x: Vec3, near: &Near) -> Closest {
        let mut best = Best::new(self, x, near.triangles[0]);
        for &f in &near.triangles[1..] {
            best.consider(self, x, f);
        }
        self.answer(x, &best)
    }

    /// Gathers the triangles that can be closest to points within `reach` of c, whose distance to the surface is `distance` [m].
    pub(super) fn gather(&self, c: Vec3, distance: f64, reach: f64, stack: &mut Vec<(f64, u32)>, near: &mut Near) {
        let within = (distance + 2.0 * reach) * PRUNE;
        (near.center, near.reach) = (c, reach);
        near.triangles.clear();
        stack.clear();
        stack.push((0.0, 0));
        while let Some((_, i)) = stack.pop() {
            let node = &self.tree.nodes[i as usize];
            if node.distance_squared(c) > within * within {
                continue;
            }
            if node.count > 0 {
                let close = |f: &u32| (closest_on_triangle(c, self.corners(*f)).0 - c).length() <= within;
                near.triangles.extend(self.tree.leaf(node).iter().copied().filter(close));
            } else {
                stack.push((0.0, node.link));
                stack.push((0.0, i + 1));
            }
            if near.triangles.len() > MANY_NEAR {
                near.triangles.clear();
                return;
            }
        }
    }

    fn answer(&self, x: Vec3, best: &Best) -> Closest {
        let &Best { triangle: found, point, feature, .. } = best;
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
