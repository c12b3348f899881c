//! Searches in a mesh through its tree of boxes: overlapping boxes, farthest corner, rays, winding numbers.

use super::TriMesh;
use crate::tree::Tree;
use crate::{Aabb, Vec3};

/// Directions of test rays: no plane, edge or symmetry of a part made by hand lies along them.
pub(super) const DIRECTIONS: [Vec3; 5] = [
    Vec3::new(0.5399413527, 0.2610913401, 0.8001987129),
    Vec3::new(-0.3912874611, 0.7712339817, 0.5021129341),
    Vec3::new(0.8171293471, -0.5412236019, 0.1977123491),
    Vec3::new(0.1103817439, 0.6120971183, -0.7830446127),
    Vec3::new(-0.6912350813, -0.2391174403, 0.6819301177),
];

/// Distance from an edge, in barycentric coordinates, and from the origin of a ray, as a share of the size, below which the
/// number of crossings is in doubt [-].
const DOUBT: f64 = 1e-9;

impl Tree {
    /// Calls `found` with every triangle whose box overlaps `b`, in the order of the tree.
    pub(super) fn overlapping(&self, b: &Aabb, mut found: impl FnMut(u32)) {
        self.walk(|node, leaf| {
            let enters = node.bounds().overlaps(b);
            if enters {
                leaf.iter().for_each(|t| found(*t));
            }
            enters
        });
    }

    /// A corner farthest along `d`, the first of several if `first`, and how far.
    pub(super) fn farthest_vertex(&self, surface: &TriMesh, d: Vec3, first: bool) -> (u32, f64) {
        let bound = |k: usize| self.nodes[k].center.dot(d) + self.nodes[k].half.dot(d.abs());
        let (mut best, mut reach) = (surface.triangles[0][0], f64::NEG_INFINITY);
        // Halving keeps the tree below 32 levels, and a level leaves one node waiting.
        let (mut stack, mut waiting) = ([0usize; 64], 1);
        while waiting > 0 {
            waiting -= 1;
            let k = stack[waiting];
            let node = &self.nodes[k];
            if bound(k) < reach || !first && bound(k) == reach {
                continue;
            }
            if node.count == 0 {
                // The nearer child is looked at first.
                let (a, b) = (k + 1, node.link as usize);
                (stack[waiting], stack[waiting + 1]) = if bound(a) >= bound(b) { (b, a) } else { (a, b) };
                waiting += 2;
                continue;
            }
            for t in self.leaf(node) {
                for &i in &surface.triangles[*t as usize] {
                    let r = surface.vertices[i as usize].dot(d);
                    if r > reach || r == reach && i < best {
                        (best, reach) = (i, r);
                    }
                }
            }
        }
        (best, reach)
    }

    /// Nearest triangle on a ray, from either side: distance and outward unit normal.
    pub(super) fn first_hit(&self, surface: &TriMesh, o: Vec3, d: Vec3) -> Option<(f64, Vec3)> {
        let inverse = d.recip();
        let mut best: Option<(f64, Vec3)> = None;
        self.walk(|node, leaf| {
            let limit = best.map_or(f64::INFINITY, |b| b.0);
            if !meets(&node.bounds(), o, inverse, limit) {
                return false;
            }
            for t in leaf {
                // A little beyond the edges, so that a ray never slips through between two triangles.
                if let Some((distance, margin, n)) = pierce(corners(surface, *t), o, d)
                    && margin >= -1e-12
                    && distance >= 0.0
                    && best.is_none_or(|b| distance < b.0)
                {
                    best = Some((distance, n));
                }
            }
            true
        });
        best.map(|(distance, n)| (distance, n.normalize()))
    }

    /// How many times the surface, without the triangle `except`, goes around `p`; `None` when the ray along `d` grazes an
    /// edge or starts on the surface.
    pub(super) fn winding(&self, surface: &TriMesh, p: Vec3, d: Vec3, except: u32) -> Option<i32> {
        let inverse = d.recip();
        let doubt = DOUBT * self.nodes.first()?.half.length();
        let mut count = Some(0);
        self.walk(|node, leaf| {
            if count.is_none() || !meets(&node.bounds(), p - d * doubt, inverse, f64::INFINITY) {
                return false;
            }
            for t in leaf.iter().filter(|t| **t != except) {
                let Some((distance, margin, n)) = pierce(corners(surface, *t), p, d) else { continue };
                if margin < -DOUBT || distance < -doubt {
                    continue;
                }
                if margin < DOUBT || distance < doubt {
                    count = None;
                    return false;
                }
                count = count.map(|c| c + if n.dot(d) > 0.0 { 1 } else { -1 });
            }
            true
        });
        count
    }
}

fn corners(surface: &TriMesh, triangle: u32) -> [Vec3; 3] {
    surface.triangles[triangle as usize].map(|i| surface.vertices[i as usize])
}

/// A ray with reciprocal direction meets a box before `limit`.
fn meets(b: &Aabb, o: Vec3, inverse: Vec3, limit: f64) -> bool {
    let (mut from, mut to) = (0.0f64, limit);
    for k in 0..3 {
        let (s, t) = ((b.min[k] - o[k]) * inverse[k], (b.max[k] - o[k]) * inverse[k]);
        // 0 times infinity: the ray runs in the face of the box.
        if s.is_nan() || t.is_nan() {
            continue;
        }
        from = from.max(s.min(t));
        to = to.min(s.max(t));
    }
    from <= to * (1.0 + 1e-12)
}

/// Line and plane of a triangle (Moeller and Trumbore 1997): distance, smallest barycentric coordinate, normal (not unit).
/// `None` when parallel.
fn pierce([a, b, c]: [Vec3; 3], o: Vec3, d: Vec3) -> Option<(f64, f64, Vec3)> {
    let (ab, ac) = (b - a, c - a);
    let n = ab.cross(ac);
    let facing = -n.dot(d);
    if facing == 0.0 {
        return None;
    }
    let ao = o - a;
    let e = ao.cross(d);
    let (u, v) = (ac.dot(e) / facing, -ab.dot(e) / facing);
    Some((n.dot(ao) / facing, u.min(v).min(1.0 - u - v), n))
}
