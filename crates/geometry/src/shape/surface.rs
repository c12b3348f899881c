//! Closed surface meshes of shapes.

use super::{HeightGrid, Shape};
use crate::{TriMesh, Vec3};
use std::f64::consts::PI;

impl Shape {
    /// Closed, outward-oriented triangle mesh with `segments` divisions of a full circle (at least 3).
    ///
    /// Corners lie on the surface, smoothing radii are left out. A half-space gives an empty mesh; a height grid is closed
    /// by walls and a floor one grid length below its lowest point. Parts of a compound keep their own closed surfaces.
    pub fn surface_mesh(&self, segments: u32) -> TriMesh {
        let n = segments.max(3);
        match self {
            Shape::Sphere { radius } => globe(n, |d| d * *radius),
            Shape::Ellipsoid { semi_axes } => globe(n, |d| d * *semi_axes),
            Shape::Box { half_extents, .. } => block(*half_extents),
            Shape::Cylinder { radius, half_height, .. } => {
                revolve(n, &[(*radius, -half_height), (*radius, *half_height)], -half_height, *half_height)
            }
            Shape::Capsule { radius, half_length } => capsule(n, *radius, *half_length),
            Shape::Cone { base_radius, top_radius, half_height, .. } => {
                let mut profile = Vec::new();
                if *base_radius > 0.0 {
                    profile.push((*base_radius, -half_height));
                }
                if *top_radius > 0.0 {
                    profile.push((*top_radius, *half_height));
                }
                revolve(n, &profile, -half_height, *half_height)
            }
            Shape::HalfSpace => TriMesh::default(),
            Shape::Profile(profile) => profile.surface_mesh(n),
            Shape::Hull(hull) => TriMesh {
                vertices: hull.vertices().to_vec(),
                triangles: hull.faces().iter().map(|f| f.corners).collect(),
            },
            Shape::HeightGrid(grid) => terrain(grid),
            Shape::Mesh(mesh) => mesh.surface().clone(),
            Shape::Compound(parts) => {
                let mut mesh = TriMesh::default();
                for (X_sp, part) in parts {
                    mesh.append(&part.surface_mesh(n), |v| X_sp.point(v));
                }
                mesh
            }
        }
    }
}

/// Surface of revolution about z: rings of given radius and height from bottom to top, poles at both ends.
fn revolve(n: u32, rings: &[(f64, f64)], bottom: f64, top: f64) -> TriMesh {
    let mut mesh = TriMesh::default();
    mesh.vertices.push(Vec3::new(0.0, 0.0, bottom));
    for (radius, z) in rings {
        for k in 0..n {
            let (s, c) = libm::sincos(2.0 * PI * k as f64 / n as f64);
            mesh.vertices.push(Vec3::new(radius * c, radius * s, *z));
        }
    }
    let last = mesh.vertices.len() as u32;
    mesh.vertices.push(Vec3::new(0.0, 0.0, top));
    let at = |ring: u32, k: u32| 1 + ring * n + k % n;
    let count = rings.len() as u32;
    for k in 0..n {
        mesh.triangles.push([0, at(0, k + 1), at(0, k)]);
        for ring in 0..count - 1 {
            mesh.triangles.push([at(ring, k), at(ring, k + 1), at(ring + 1, k + 1)]);
            mesh.triangles.push([at(ring, k), at(ring + 1, k + 1), at(ring + 1, k)]);
        }
        mesh.triangles.push([last, at(count - 1, k), at(count - 1, k + 1)]);
    }
    mesh
}

/// Unit sphere by latitude, mapped.
fn globe(n: u32, place: impl Fn(Vec3) -> Vec3) -> TriMesh {
    let bands = n.div_ceil(2).max(2);
    let rings: Vec<(f64, f64)> = (1..bands)
        .map(|j| {
            let (s, c) = libm::sincos(PI * j as f64 / bands as f64);
            (s, -c)
        })
        .collect();
    let mut mesh = revolve(n, &rings, -1.0, 1.0);
    for v in &mut mesh.vertices {
        *v = place(*v);
    }
    mesh
}

fn capsule(n: u32, r: f64, l: f64) -> TriMesh {
    let quarter = n.div_ceil(4).max(1);
    let mut rings = Vec::new();
    for j in 1..=quarter {
        let (s, c) = libm::sincos(0.5 * PI * j as f64 / quarter as f64);
        rings.push((r * s, -l - r * c));
    }
    for j in (1..=quarter).rev() {
        let (s, c) = libm::sincos(0.5 * PI * j as f64 / quarter as f64);
        rings.push((r * s, l + r * c));
    }
    revolve(n, &rings, -l - r, l + r)
}

/// Box with two triangles a side.
fn block(h: Vec3) -> TriMesh {
    let sign = |k: u32, bit: u32| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
    let vertices = (0..8).map(|k| Vec3::new(sign(k, 0) * h.x, sign(k, 1) * h.y, sign(k, 2) * h.z)).collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|q: &[u32; 4]| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    TriMesh { vertices, triangles }
}

fn terrain(grid: &HeightGrid) -> TriMesh {
    let (c, r) = (grid.columns() as u32, grid.rows() as u32);
    let [hx, hy] = grid.half_lengths();
    let floor = grid.height_range()[0] - 2.0 * hx.max(hy);
    let mut vertices: Vec<Vec3> = grid.points().collect();
    let below: Vec<Vec3> = vertices.iter().map(|p| Vec3::new(p.x, p.y, floor)).collect();
    vertices.extend(below);
    let (top, low) = (|i: u32, j: u32| j * c + i, |i: u32, j: u32| c * r + j * c + i);
    let mut triangles = Vec::new();
    for j in 0..r - 1 {
        for i in 0..c - 1 {
            triangles.push([top(i, j), top(i + 1, j), top(i + 1, j + 1)]);
            triangles.push([top(i, j), top(i + 1, j + 1), top(i, j + 1)]);
            triangles.push([low(i, j), low(i + 1, j + 1), low(i + 1, j)]);
            triangles.push([low(i, j), low(i, j + 1), low(i + 1, j + 1)]);
        }
    }
    // Walls: around the rim anticlockwise from above.
    let mut rim: Vec<(u32, u32)> = (0..c - 1).map(|i| (i, 0)).collect();
    rim.extend((0..r - 1).map(|j| (c - 1, j)));
    rim.extend((1..c).rev().map(|i| (i, r - 1)));
    rim.extend((1..r).rev().map(|j| (0, j)));
    for k in 0..rim.len() {
        let ((i, j), (p, q)) = (rim[k], rim[(k + 1) % rim.len()]);
        triangles.push([low(i, j), low(p, q), top(p, q)]);
        triangles.push([low(i, j), top(p, q), top(i, j)]);
    }
    TriMesh { vertices, triangles }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meshes_are_closed_and_converge_to_the_volume() {
        let h = Vec3::new(0.5, 0.3, 0.2);
        let shapes = [
            Shape::Sphere { radius: 0.7 },
            Shape::Ellipsoid { semi_axes: h },
            Shape::Box { half_extents: h, smoothing: 0.0 },
            Shape::Cylinder { radius: 0.3, half_height: 0.8, smoothing: 0.0 },
            Shape::Capsule { radius: 0.3, half_length: 0.8 },
            Shape::Cone { base_radius: 0.3, top_radius: 0.0, half_height: 0.8, smoothing: 0.0 },
            Shape::Cone { base_radius: 0.3, top_radius: 0.5, half_height: 0.8, smoothing: 0.0 },
            Shape::Cone { base_radius: 0.0, top_radius: 0.5, half_height: 0.8, smoothing: 0.0 },
        ];
        for s in shapes {
            let exact = s.mass_properties(1.0).unwrap().mass;
            for n in [3, 7, 200] {
                let mesh = s.surface_mesh(n);
                assert!(mesh.is_closed(), "{s:?}");
                let error = 1.0 - mesh.volume() / exact;
                assert!(error > -1e-12 && error < 20.0 / (n * n) as f64, "{s:?} {n} {error}");
            }
        }
        let grid = HeightGrid::new(3, 4, [1.0, 0.5], vec![0.1; 12]).unwrap();
        let mesh = Shape::HeightGrid(std::sync::Arc::new(grid)).surface_mesh(3);
        assert!(mesh.is_closed());
        assert!((mesh.volume() - 2.0 * 1.5 * 2.0).abs() < 1e-12);
    }
}
