//! A closed triangle mesh prepared for overlaps: planes, edges, shells, normals of corners and edges, a tree of boxes.

use crate::mesh::{MeshError, check_numbers, check_volume, neighbours};
use crate::tree::{Tree, triangle_box};
use crate::{Aabb, TriMesh, Vec3};
use std::sync::Arc;

pub(super) use crate::tree::ROUNDING;

/// Triangles of two surfaces together from which on they are cut in lots [-].
const HEAVY: usize = 8_000;

/// A connected piece of a surface.
#[derive(Clone, Debug)]
pub(super) struct Shell {
    /// One of its corners.
    pub vertex: u32,
    pub bounds: Aabb,
}

/// A closed, outward-oriented triangle mesh, prepared once for [`super::surface_overlap`], [`super::foundation`] and
/// [`super::surface_distance`]. It may be concave and have several shells; it must not cross itself.
#[derive(Clone, Debug)]
pub struct Surface {
    pub(super) vertices: Vec<Vec3>,
    pub(super) triangles: Vec<[u32; 3]>,
    /// Edges of a triangle: k runs from corner k to the next one.
    pub(super) face_edges: Vec<[u32; 3]>,
    /// Corners of an edge, the smaller index first.
    pub(super) edges: Vec<[u32; 2]>,
    /// Triangle that has the edge forwards, triangle that has it backwards.
    pub(super) edge_faces: Vec<[u32; 2]>,
    /// Unit outward normals; zero for a triangle without area [-].
    pub(super) normals: Vec<Vec3>,
    /// How far a corner may lie from the computed plane by rounding [m].
    pub(super) slack: Vec<f64>,
    /// Areas [m^2].
    pub(super) areas: Vec<f64>,
    /// Area of the triangle that a point of the surface lies on, mean over the surface [m^2].
    pub(super) grain: f64,
    /// Balls around the triangles: centre and radius [m].
    pub(super) balls: Vec<(Vec3, f64)>,
    /// Sum of the normals of the two triangles of an edge.
    pub(super) edge_normals: Vec<Vec3>,
    /// Normals of the triangles around a corner weighted by their angles (Baerentzen and Aanaes 2005).
    pub(super) vertex_normals: Vec<Vec3>,
    /// Triangles around corner v: `around[around_first[v]..around_first[v + 1]]`.
    pub(super) around: Vec<u32>,
    pub(super) around_first: Vec<u32>,
    pub(super) shells: Vec<Shell>,
    pub(super) shell_of: Vec<u32>,
    /// Shared with the mesh it was made of.
    pub(super) tree: Arc<Tree>,
    /// Largest coordinate [m].
    pub(super) size: f64,
    volume: f64,
}

impl Surface {
    /// Prepares a mesh; an error says what keeps it from bounding a solid. Unlike [`crate::Mesh`] it may have triangles
    /// without area, and whether it crosses itself is not looked at.
    pub fn new(mesh: &TriMesh) -> Result<Surface, MeshError> {
        check_numbers(mesh)?;
        let neighbours = neighbours(mesh)?;
        check_volume(mesh)?;
        Ok(Surface::of(mesh, &neighbours, Arc::new(Tree::new(mesh))))
    }

    /// Prepares a mesh that is known to be closed, with the triangle across each side and its tree.
    pub(crate) fn of(mesh: &TriMesh, neighbours: &[[u32; 3]], tree: Arc<Tree>) -> Surface {
        let (vertices, triangles) = (mesh.vertices.clone(), mesh.triangles.clone());
        let corners = vertices.len();
        let (edges, edge_faces, face_edges) = join(&triangles, neighbours);
        let volume = mesh.volume();
        let used = triangles.iter().flatten();
        let size = used.fold(0.0, |s: f64, &i| s.max(vertices[i as usize].abs().max_element()));
        let mut normals = Vec::with_capacity(triangles.len());
        let mut slack = Vec::with_capacity(triangles.len());
        let mut areas = Vec::with_capacity(triangles.len());
        let mut balls = Vec::with_capacity(triangles.len());
        for t in &triangles {
            let [a, b, c] = t.map(|i| vertices[i as usize]);
            let twice = (b - a).cross(c - a);
            let length = twice.length();
            normals.push(if length > 0.0 { twice / length } else { Vec3::ZERO });
            areas.push(0.5 * length);
            let middle = a + ((b - a) + (c - a)) / 3.0;
            let radius = (a - middle).length().max((b - middle).length()).max((c - middle).length());
            balls.push((middle, radius + ROUNDING * size));
            // the cross product is off by rounding times the product of its sides
            slack.push(ROUNDING * size * (1.0 + (b - a).length() * (c - a).length() / length));
        }
        let edge_normals = edge_faces.iter().map(|f| normals[f[0] as usize] + normals[f[1] as usize]).collect();
        let mut vertex_normals = vec![Vec3::ZERO; corners];
        let mut around_first = vec![0u32; corners + 1];
        for (t, n) in triangles.iter().zip(&normals) {
            let p = t.map(|i| vertices[i as usize]);
            for k in 0..3 {
                let (u, v) = (p[(k + 1) % 3] - p[k], p[(k + 2) % 3] - p[k]);
                vertex_normals[t[k] as usize] += *n * libm::atan2(u.cross(v).length(), u.dot(v));
                around_first[t[k] as usize + 1] += 1;
            }
        }
        for v in 0..corners {
            around_first[v + 1] += around_first[v];
        }
        let mut fill = around_first.clone();
        let mut around = vec![0u32; 3 * triangles.len()];
        for (f, t) in triangles.iter().enumerate() {
            for &v in t {
                around[fill[v as usize] as usize] = f as u32;
                fill[v as usize] += 1;
            }
        }
        let whole: f64 = areas.iter().sum();
        let grain = areas.iter().map(|a| a * a).sum::<f64>() / whole.max(f64::MIN_POSITIVE);
        let bounds: Vec<Aabb> = triangles.iter().map(|t| triangle_box(mesh, t)).collect();
        let (shells, shell_of) = split(&triangles, neighbours, &bounds);
        Surface {
            vertices,
            triangles,
            face_edges,
            edges,
            edge_faces,
            normals,
            slack,
            areas,
            grain,
            balls,
            edge_normals,
            vertex_normals,
            around,
            around_first,
            shells,
            shell_of,
            tree,
            size,
            volume,
        }
    }

    /// Number of triangles [-].
    pub fn len(&self) -> usize {
        self.triangles.len()
    }

    /// Never true: a surface has triangles.
    pub fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// True when the overlap with another surface is shared out to the threads of the pool that the caller runs in.
    pub fn is_heavy_with(&self, other: &Surface) -> bool {
        self.len() + other.len() >= HEAVY
    }

    /// Unit outward normal of a triangle, zero for one without area [-].
    pub fn normal(&self, triangle: u32) -> Vec3 {
        self.normals[triangle as usize]
    }

    /// Enclosed volume [m^3].
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Box around the mesh in its own frame [m].
    pub fn bounds(&self) -> Aabb {
        self.tree.nodes.first().map_or(Aabb::EMPTY, |n| n.bounds())
    }

    /// Corners of a triangle [m].
    pub(super) fn corners(&self, face: u32) -> [Vec3; 3] {
        let [a, b, c] = self.triangles[face as usize];
        [self.vertices[a as usize], self.vertices[b as usize], self.vertices[c as usize]]
    }

    /// True when the triangle runs its edge k from the smaller index to the larger.
    pub(super) fn is_forward(&self, face: u32, k: usize) -> bool {
        let t = &self.triangles[face as usize];
        t[k] < t[(k + 1) % 3]
    }
}

type Edges = (Vec<[u32; 2]>, Vec<[u32; 2]>, Vec<[u32; 3]>);

/// Edges with their two triangles, in the order of the triangles that have them forwards.
fn join(triangles: &[[u32; 3]], neighbours: &[[u32; 3]]) -> Edges {
    let (mut edges, mut edge_faces) = (Vec::new(), Vec::new());
    let mut face_edges = vec![[0u32; 3]; triangles.len()];
    for (f, t) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            if a > b {
                continue;
            }
            let edge = edges.len() as u32;
            let g = neighbours[f][k];
            let twin = &triangles[g as usize];
            face_edges[f][k] = edge;
            for l in 0..3 {
                if twin[l] == b && twin[(l + 1) % 3] == a {
                    face_edges[g as usize][l] = edge;
                }
            }
            edges.push([a, b]);
            edge_faces.push([f as u32, g]);
        }
    }
    (edges, edge_faces, face_edges)
}

/// Connected pieces, in order of their first triangle.
fn split(triangles: &[[u32; 3]], neighbours: &[[u32; 3]], bounds: &[Aabb]) -> (Vec<Shell>, Vec<u32>) {
    let mut shells: Vec<Shell> = Vec::new();
    let mut shell_of = vec![u32::MAX; triangles.len()];
    let mut reached: Vec<u32> = Vec::with_capacity(triangles.len());
    for f in 0..triangles.len() {
        if shell_of[f] != u32::MAX {
            continue;
        }
        let (first, name) = (reached.len(), shells.len() as u32);
        let mut box_ = Aabb::EMPTY;
        reached.push(f as u32);
        shell_of[f] = name;
        let mut next = first;
        while next < reached.len() {
            let g = reached[next] as usize;
            next += 1;
            box_ = box_.union(&bounds[g]);
            for &h in &neighbours[g] {
                if shell_of[h as usize] == u32::MAX {
                    shell_of[h as usize] = name;
                    reached.push(h);
                }
            }
        }
        shells.push(Shell { vertex: triangles[f][0], bounds: box_ });
    }
    (shells, shell_of)
}
