//! Does a closed surface pass through itself?
//!
//! Two tests. Every pair of triangles whose boxes overlap: an edge of one that goes through the inside of the other. And, as
//! edges that meet edges exactly or lie in the other's plane escape that one: the winding number just outside of a triangle,
//! counted along a ray, must be 0. Surfaces that touch without crossing pass.

use super::search::DIRECTIONS;
use super::{MeshError, TriMesh};
use crate::Vec3;
use crate::tree::{Tree, triangle_box};

/// How far an edge must reach through a triangle to cross it, as a share of the diagonal [-]: above the rounding of
/// Booleans, below anything a person draws.
const THROUGH: f64 = 1e-9;

/// Points whose winding number is counted at most: the middles of triangles, sampled evenly where there are more, and places near their corners
/// where there is room for them.
const SAMPLES: usize = 20_000;
/// How near, from the corner to the middle [-].
const NEAR: f64 = 0.02;

pub(super) fn check(surface: &TriMesh, neighbours: &[[u32; 3]], tree: &Tree) -> Result<(), MeshError> {
    let slip = THROUGH * surface.size();
    let (mut pairs, mut first) = (0, None);
    for i in 0..surface.triangles.len() as u32 {
        let b = triangle_box(surface, &surface.triangles[i as usize]);
        tree.overlapping(&b, |j| {
            if j > i
                && !neighbours[i as usize].contains(&j)
                && let Some(at) = crossing(surface, i, j, slip)
            {
                pairs += 1;
                first.get_or_insert((i, j, at));
            }
        });
    }
    if let Some((first, second, at)) = first {
        return Err(MeshError::Crossing { pairs, first, second, at });
    }
    let step = surface.triangles.len().div_ceil(SAMPLES).max(1);
    let corners = if 4 * surface.triangles.len() <= SAMPLES { 3 } else { 0 };
    for i in (0..surface.triangles.len()).step_by(step) {
        let [a, b, c] = surface.triangles[i].map(|k| surface.vertices[k as usize]);
        let (middle, n) = ((a + b + c) / 3.0, (b - a).cross(c - a).normalize());
        let near = [a, b, c].map(|corner| corner + NEAR * (middle - corner));
        for &p in std::iter::once(&middle).chain(&near[..corners]) {
            let found = DIRECTIONS.iter().find_map(|d| {
                let out = if d.dot(n) > 0.0 { *d } else { -*d };
                if out.dot(n) > 0.1 { tree.winding(surface, p, out, i as u32) } else { None }
            });
            if let Some(winding) = found.filter(|w| *w != 0) {
                return Err(MeshError::Winding { at: p, winding });
            }
        }
    }
    Ok(())
}

/// A point where an edge of one triangle goes through the other by more than `slip` [m].
fn crossing(surface: &TriMesh, i: u32, j: u32, slip: f64) -> Option<Vec3> {
    let (s, t) = (&surface.triangles[i as usize], &surface.triangles[j as usize]);
    edge_through(surface, s, t, slip).or_else(|| edge_through(surface, t, s, slip))
}

fn edge_through(surface: &TriMesh, s: &[u32; 3], t: &[u32; 3], slip: f64) -> Option<Vec3> {
    let at = |i: u32| surface.vertices[i as usize];
    let corners = t.map(at);
    let n = (corners[1] - corners[0]).cross(corners[2] - corners[0]).try_normalize()?;
    for k in 0..3 {
        let (from, to) = (s[k], s[(k + 1) % 3]);
        if t.contains(&from) || t.contains(&to) {
            continue;
        }
        let (p, q) = (at(from), at(to));
        let (hp, hq) = (n.dot(p - corners[0]), n.dot(q - corners[0]));
        if hp.abs() <= slip || hq.abs() <= slip || (hp > 0.0) == (hq > 0.0) {
            continue;
        }
        let x = p + (q - p) * (hp / (hp - hq));
        let inside = (0..3).all(|m| {
            let (a, b) = (corners[m], corners[(m + 1) % 3]);
            let side = n.cross(b - a);
            side.dot(x - a) > slip * side.length()
        });
        if inside {
            return Some(x);
        }
    }
    None
}
