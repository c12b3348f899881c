//! Meshes for the tests of surfaces: solids from shapes and Booleans, placed by hand; boolmesh as a second opinion.

use crate::random::Random;
use boolmesh::prelude::{Manifold, OpType, compute_boolean};
use tippe_geometry::{Pose, Shape, Surface, TriMesh, Vec3};

pub fn cuboid(h: Vec3) -> TriMesh {
    Shape::Box { half_extents: h, smoothing: 0.0 }.surface_mesh(3)
}

pub fn ball(radius: f64, segments: u32) -> TriMesh {
    Shape::Sphere { radius }.surface_mesh(segments)
}

pub fn placed(mesh: &TriMesh, X: &Pose) -> TriMesh {
    TriMesh { vertices: mesh.vertices.iter().map(|v| X.point(*v)).collect(), triangles: mesh.triangles.clone() }
}

pub fn surface(mesh: &TriMesh) -> Surface {
    Surface::new(mesh).unwrap()
}

fn manifold(mesh: &TriMesh) -> Manifold {
    let positions: Vec<f64> = mesh.vertices.iter().flat_map(|v| v.to_array()).collect();
    let indices: Vec<usize> = mesh.triangles.iter().flatten().map(|&i| i as usize).collect();
    Manifold::new(&positions, &indices).unwrap()
}

/// `None` when nothing is left.
pub fn boolean(a: &TriMesh, b: &TriMesh, operation: OpType) -> Option<TriMesh> {
    let result = compute_boolean(&manifold(a), &manifold(b), operation).ok()?;
    let vertices: Vec<Vec3> = result.ps.iter().map(|p| Vec3::new(p.x, p.y, p.z)).collect();
    let corners: Vec<u32> = result.hs.iter().map(|h| h.tail as u32).collect();
    Some(TriMesh { vertices, triangles: corners.chunks(3).map(|c| [c[0], c[1], c[2]]).collect() })
}

/// A concave solid: a box or ball with another cut out of it, or a third one added.
pub fn concave(r: &mut Random) -> TriMesh {
    loop {
        let piece = |r: &mut Random| {
            let mesh = match r.below(3) {
                0 => ball(r.uniform(0.3, 0.6), 3 + r.below(8) as u32),
                1 => Shape::Cylinder { radius: r.uniform(0.2, 0.5), half_height: r.uniform(0.2, 0.6), smoothing: 0.0 }
                    .surface_mesh(3 + r.below(7) as u32),
                _ => cuboid(r.vector(0.2, 0.6)),
            };
            placed(&mesh, &Pose::new(r.rotation(), r.vector(-0.3, 0.3)))
        };
        let (a, b, c) = (piece(r), piece(r), piece(r));
        let solid = boolean(&a, &b, OpType::Subtract).and_then(|d| boolean(&d, &c, OpType::Add));
        if let Some(solid) = solid
            && Surface::new(&solid).is_ok()
        {
            return solid;
        }
    }
}
