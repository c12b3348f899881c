//! Triangles of flat polygons, concave ones and such with holes.

use crate::Vec3;
use crate::space::any_orthogonal;
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};

/// A point as the library takes it: one zero, and nothing but that below its least number.
pub(crate) fn point(p: [f64; 2]) -> Point2<f64> {
    let [x, y] = p.map(|x| if x.abs() < spade::MIN_ALLOWED_VALUE { 0.0 } else { x });
    Point2::new(x, y)
}

/// Constrained Delaunay triangulation of what the loops enclose an odd number of times; `None` where two points are one or
/// sides cross.
pub(crate) fn triangulate(points: &[[f64; 2]], loops: &[Vec<u32>]) -> Option<Vec<[u32; 3]>> {
    let vertices = points.iter().map(|p| point(*p)).collect();
    let sides = loops.iter().flat_map(|l| (0..l.len()).map(|i| [l[i] as usize, l[(i + 1) % l.len()] as usize]));
    let mut conflict = false;
    let cdt = ConstrainedDelaunayTriangulation::<Point2<f64>>::try_bulk_load_cdt(vertices, sides.collect(), |_| {
        conflict = true;
    })
    .ok()?;
    if conflict || cdt.num_vertices() != points.len() {
        return None;
    }
    // From outside inwards: a side of a loop changes the answer.
    let mut inside: Vec<Option<bool>> = vec![None; cdt.num_all_faces()];
    let mut stack = Vec::new();
    for e in cdt.directed_edges().filter(|e| e.face().is_outer()) {
        let f = e.rev().face();
        if !f.is_outer() && inside[f.index()].is_none() {
            inside[f.index()] = Some(e.is_constraint_edge());
            stack.push(f.fix());
        }
    }
    while let Some(f) = stack.pop() {
        let here = inside[f.index()];
        for e in cdt.face(f).as_inner()?.adjacent_edges() {
            let n = e.rev().face();
            if !n.is_outer() && inside[n.index()].is_none() {
                inside[n.index()] = here.map(|h| h != e.is_constraint_edge());
                stack.push(n.fix());
            }
        }
    }
    let mut out = Vec::new();
    for f in cdt.inner_faces().filter(|f| inside[f.index()] == Some(true)) {
        out.push(f.vertices().map(|v| v.index() as u32));
    }
    Some(out)
}

/// Triangles of a polygon in space, concave or not, with the corners' own numbers; a fan where it is not flat enough to tell.
pub(crate) fn polygon_triangles(corners: &[Vec3]) -> Vec<[u32; 3]> {
    let n = corners.len() as u32;
    let fan = || (2..n).map(|k| [0, k - 1, k]).collect();
    if n <= 3 {
        return fan();
    }
    // Area vector by Newell: the normal of the plane that fits best.
    let area: Vec3 = (0..corners.len()).map(|k| corners[k].cross(corners[(k + 1) % corners.len()])).sum();
    let Some(normal) = area.try_normalize() else { return fan() };
    let s = any_orthogonal(normal);
    let t = normal.cross(s);
    let flat: Vec<[f64; 2]> = corners.iter().map(|p| [(*p - corners[0]).dot(s), (*p - corners[0]).dot(t)]).collect();
    match triangulate(&flat, &[(0..n).collect()]) {
        Some(triangles) if triangles.len() as u32 == n - 2 => triangles,
        _ => fan(),
    }
}
