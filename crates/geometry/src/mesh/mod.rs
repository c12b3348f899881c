//! Triangle meshes: [`TriMesh`], any triangles with shared corners, and [`Mesh`], a closed surface that is known to bound a
//! solid. What comes from a file is a `TriMesh`; [`Mesh::repaired`] makes a `Mesh` of it and reports what it had to change.

pub(crate) mod apart;
mod crossing;
pub(crate) mod edges;
mod repair;
mod search;

use crate::tree::Tree;
use crate::{Pose, Surface, Vec3};
pub use repair::MeshReport;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{Arc, OnceLock};
use thiserror::Error;

/// Triangles with shared corners, anticlockwise seen from outside. Nothing is promised about them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TriMesh {
    /// Corners [m].
    pub vertices: Vec<Vec3>,
    /// Indices of corners.
    pub triangles: Vec<[u32; 3]>,
}

impl TriMesh {
    /// Volume inside, by the divergence theorem [m^3].
    pub fn volume(&self) -> f64 {
        let o = self.vertices.first().copied().unwrap_or(Vec3::ZERO);
        let mut six = 0.0;
        for t in &self.triangles {
            let [a, b, c] = t.map(|i| self.vertices[i as usize] - o);
            six += a.dot(b.cross(c));
        }
        six / 6.0
    }

    /// Area of all triangles [m^2].
    pub fn area(&self) -> f64 {
        let twice = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| self.vertices[i as usize]);
            (b - a).cross(c - a).length()
        };
        0.5 * self.triangles.iter().map(twice).sum::<f64>()
    }

    /// True when every directed edge has exactly one twin the other way.
    pub fn is_closed(&self) -> bool {
        edges::neighbours(&self.triangles).is_ok()
    }

    /// Adds the triangles of another mesh, its corners put where `place` says.
    pub fn append(&mut self, other: &TriMesh, place: impl Fn(Vec3) -> Vec3) {
        let base = self.vertices.len() as u32;
        self.vertices.extend(other.vertices.iter().map(|v| place(*v)));
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|i| i + base)));
    }

    /// The same triangles seen from behind.
    pub fn turned(mut self) -> TriMesh {
        for t in &mut self.triangles {
            t.swap(1, 2);
        }
        self
    }

    /// Diagonal of the box around the corners [m].
    pub fn size(&self) -> f64 {
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for v in &self.vertices {
            (low, high) = (low.min(*v), high.max(*v));
        }
        (high - low).length()
    }
}

/// What is wrong with a mesh.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MeshError {
    /// No triangle.
    #[error("mesh: has no triangles: a solid needs at least 4")]
    Empty,
    /// Triangles that enclose nothing.
    #[error("mesh: flat: its {triangles} triangles enclose no volume; a sheet needs a thickness to be a solid")]
    Flat {
        /// Triangles given [-].
        triangles: usize,
    },
    /// More corners than an index can count.
    #[error("mesh: {vertices} corners and {triangles} triangles are too many")]
    TooMany {
        /// Corners [-].
        vertices: usize,
        /// Triangles [-].
        triangles: usize,
    },
    /// A coordinate is infinite or not a number.
    #[error("mesh: corner {vertex} has a coordinate that is not finite")]
    NotFinite {
        /// Index of the corner [-].
        vertex: usize,
    },
    /// A coordinate is beyond [`FARTHEST`].
    #[error(
        "mesh: corner {vertex} has the coordinate {value:e} m; they end at {FARTHEST:e} m: is the unit of length or a factor \
         wrong?"
    )]
    Far {
        /// Index of the corner [-].
        vertex: usize,
        /// Coordinate [m].
        value: f64,
    },
    /// A triangle refers to a corner that is not there.
    #[error("mesh: triangle {triangle} refers to corner {corner}, but there are only {vertices}")]
    Corner {
        /// Index of the triangle [-].
        triangle: usize,
        /// Index it refers to [-].
        corner: u32,
        /// Corners there are [-].
        vertices: usize,
    },
    /// The surface has a hole.
    #[error(
        "mesh: not closed: {edges} edges have no neighbour, the first from {from} to {to} m: is a face missing there, or do \
         corners not quite meet (a larger `weld` joins them)?"
    )]
    Open {
        /// Edges with one triangle [-].
        edges: usize,
        /// One of them: start [m].
        from: Vec3,
        /// One of them: end [m].
        to: Vec3,
    },
    /// Three or more triangles share an edge.
    #[error(
        "mesh: not a surface: {edges} edges belong to more than two triangles, the first from {from} to {to} m to \
         {triangles}; parts that touch along an edge need corners of their own"
    )]
    Fork {
        /// Edges with more than two triangles [-].
        edges: usize,
        /// One of them: start [m].
        from: Vec3,
        /// One of them: end [m].
        to: Vec3,
        /// Triangles at that edge [-].
        triangles: usize,
    },
    /// Neighbours disagree on what is outside.
    #[error(
        "mesh: {edges} edges join triangles that disagree on which side is outside, the first from {from} to {to} m"
    )]
    Orientation {
        /// Edges [-].
        edges: usize,
        /// One of them: start [m].
        from: Vec3,
        /// One of them: end [m].
        to: Vec3,
    },
    /// A one-sided surface, as a Moebius strip.
    #[error("mesh: one-sided: no choice of outside fits around the edge from {from} to {to} m")]
    OneSided {
        /// Start of the edge [m].
        from: Vec3,
        /// End of the edge [m].
        to: Vec3,
    },
    /// A triangle without area.
    #[error("mesh: {triangles} triangles have no area, the first at {:?} m", at.to_array())]
    Degenerate {
        /// Triangles [-].
        triangles: usize,
        /// Corner of the first [m].
        at: Vec3,
    },
    /// The outside is inside.
    #[error("mesh: inside out: its volume is {volume} m3")]
    InsideOut {
        /// Signed volume [m^3].
        volume: f64,
    },
    /// The surface passes through itself.
    #[error(
        "mesh: passes through itself: {pairs} pairs of triangles cross, the first {first} and {second} near {at} m; parts \
         that overlap can be solids of their own, put together with `union`"
    )]
    Crossing {
        /// Crossing pairs [-].
        pairs: usize,
        /// Index of a triangle [-].
        first: u32,
        /// Index of the other [-].
        second: u32,
        /// Where [m].
        at: Vec3,
    },
    /// Part of the surface lies inside the solid, or a part is inside out.
    #[error(
        "mesh: the surface at {at} m bounds nothing: just outside of it lies {winding} times the inside; parts \
         overlap, are nested or inside out (unite them, or turn a part that is a cavity)"
    )]
    Winding {
        /// Where [m].
        at: Vec3,
        /// Winding number just outside, which should be 0 [-].
        winding: i32,
    },
}

/// Closed, outward-oriented surface that does not pass through itself: the boundary of a solid, perhaps of several parts
/// and with cavities.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TriMesh", into = "TriMesh")]
pub struct Mesh {
    surface: TriMesh,
    neighbours: Vec<[u32; 3]>,
    parts: usize,
    radius: f64,
    /// Shared with the prepared surface.
    tree: Arc<Tree>,
    prepared: Prepared,
}

/// The surface as overlaps need it, made when first asked for. It follows from the triangles: all are equal.
#[derive(Clone, Default)]
struct Prepared(OnceLock<Arc<Surface>>);

impl PartialEq for Prepared {
    fn eq(&self, _: &Prepared) -> bool {
        true
    }
}

/// Counts instead of a thousand numbers.
impl fmt::Debug for Mesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (vertices, triangles) = (self.vertices().len(), self.triangles().len());
        write!(f, "Mesh {{ {vertices} vertices, {triangles} triangles, {} parts, {} m3 }}", self.parts, self.volume())
    }
}

impl TryFrom<TriMesh> for Mesh {
    type Error = MeshError;
    fn try_from(surface: TriMesh) -> Result<Self, MeshError> {
        Mesh::new(surface)
    }
}

impl From<Mesh> for TriMesh {
    fn from(mesh: Mesh) -> Self {
        mesh.surface
    }
}

/// Largest coordinate of a mesh and largest length of a solid [m]: more than the radius of the sun.
pub const FARTHEST: f64 = 1e9;

/// A triangle whose height is below this share of the mesh's diagonal has no area [-].
pub(crate) const THIN: f64 = 1e-14;

impl Mesh {
    /// Takes a surface as it is, or says what keeps it from bounding a solid.
    pub fn new(surface: TriMesh) -> Result<Mesh, MeshError> {
        check_numbers(&surface)?;
        let neighbours = neighbours(&surface)?;
        let size = surface.size();
        let thin: Vec<&[u32; 3]> = surface.triangles.iter().filter(|t| !(height(&surface, t) > THIN * size)).collect();
        if let Some(t) = thin.first() {
            return Err(MeshError::Degenerate { triangles: thin.len(), at: surface.vertices[t[0] as usize] });
        }
        check_volume(&surface)?;
        let tree = Arc::new(Tree::new(&surface));
        crossing::check(&surface, &neighbours, &tree)?;
        let parts = edges::parts(&neighbours).1;
        let radius = surface.vertices.iter().map(|v| v.length_squared()).fold(0.0, f64::max).sqrt();
        Ok(Mesh { surface, neighbours, parts, radius, tree, prepared: Prepared::default() })
    }

    /// Corners [m].
    pub fn vertices(&self) -> &[Vec3] {
        &self.surface.vertices
    }

    /// Indices of corners, anticlockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.surface.triangles
    }

    /// `neighbours()[t][k]` is the triangle across the edge from corner k to corner k+1 of triangle t.
    pub fn neighbours(&self) -> &[[u32; 3]] {
        &self.neighbours
    }

    /// Corners and triangles together.
    pub fn surface(&self) -> &TriMesh {
        &self.surface
    }

    /// The surface prepared for overlaps, foundations and distances; the first call makes it.
    pub fn prepared(&self) -> &Arc<Surface> {
        self.prepared.0.get_or_init(|| Arc::new(Surface::of(&self.surface, &self.neighbours, self.tree.clone())))
    }

    /// Corners of a triangle [m].
    pub fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.surface.triangles[triangle as usize].map(|i| self.surface.vertices[i as usize])
    }

    /// Number of connected surfaces [-]; a cavity is one of them.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// Volume inside [m^3].
    pub fn volume(&self) -> f64 {
        self.surface.volume()
    }

    /// Largest distance of a corner from the origin [m].
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Index of a corner farthest along `d` (any length).
    pub fn farthest_vertex(&self, d: Vec3) -> u32 {
        self.tree.farthest_vertex(&self.surface, d, true).0
    }

    /// Largest `d . p` over the corners, for `d` of any length.
    pub(crate) fn reach(&self, d: Vec3) -> f64 {
        self.tree.farthest_vertex(&self.surface, d, false).1
    }

    /// Mean of the corners farthest along `d` [m].
    pub(crate) fn middle_support(&self, d: Vec3) -> Vec3 {
        let reach = self.reach(d);
        let (mut sum, mut count) = (Vec3::ZERO, 0.0);
        for v in self.vertices() {
            if v.dot(d) >= reach {
                sum += *v;
                count += 1.0;
            }
        }
        if count > 0.0 { sum / count } else { self.vertices()[self.farthest_vertex(d) as usize] }
    }

    /// First point on a ray with a unit direction: distance [m] and outward normal; `None` for a miss. From inside, the
    /// distance is 0 and the normal against the ray.
    pub fn cast(&self, origin: Vec3, direction: Vec3) -> Option<(f64, Vec3)> {
        let (distance, n) = self.tree.first_hit(&self.surface, origin, direction)?;
        Some(if n.dot(direction) > 0.0 { (0.0, -direction) } else { (distance, n) })
    }

    /// True when the point lies inside [m]; on the surface either answer may come.
    pub fn contains(&self, p: Vec3) -> bool {
        search::DIRECTIONS
            .iter()
            .find_map(|d| self.tree.winding(&self.surface, p, *d, u32::MAX))
            .is_some_and(|winding| winding != 0)
    }

    /// The same solid in another place.
    pub fn placed(&self, X_ab: &Pose) -> Mesh {
        let mut surface = self.surface.clone();
        for v in &mut surface.vertices {
            *v = X_ab.point(*v);
        }
        let radius = surface.vertices.iter().map(|v| v.length_squared()).fold(0.0, f64::max).sqrt();
        let tree = Arc::new(Tree::new(&surface));
        Mesh {
            surface,
            neighbours: self.neighbours.clone(),
            parts: self.parts,
            radius,
            tree,
            prepared: Prepared::default(),
        }
    }
}

/// Distance of a corner from the longest side [m].
pub(crate) fn height(surface: &TriMesh, t: &[u32; 3]) -> f64 {
    let [a, b, c] = t.map(|i| surface.vertices[i as usize]);
    let longest = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared()).sqrt();
    let twice_area = (b - a).cross(c - a).length();
    if longest > 0.0 { twice_area / longest } else { 0.0 }
}

/// Triangle across each side of a closed surface.
pub(crate) fn neighbours(surface: &TriMesh) -> Result<Vec<[u32; 3]>, MeshError> {
    edges::neighbours(&surface.triangles).map_err(|flaw| flaw.named(&surface.vertices))
}

/// Something inside, and the outside outside.
pub(crate) fn check_volume(surface: &TriMesh) -> Result<(), MeshError> {
    let volume = surface.volume();
    if volume > 0.0 && volume > THIN * surface.size() * surface.area() {
        return Ok(());
    }
    if volume < -THIN * surface.size() * surface.area() {
        return Err(MeshError::InsideOut { volume });
    }
    Err(MeshError::Flat { triangles: surface.triangles.len() })
}

/// Finite corners, valid indices, at least one triangle.
pub(crate) fn check_numbers(surface: &TriMesh) -> Result<(), MeshError> {
    let TriMesh { vertices, triangles } = surface;
    if triangles.is_empty() {
        return Err(MeshError::Empty);
    }
    if vertices.len() >= u32::MAX as usize || triangles.len() >= u32::MAX as usize / 3 {
        return Err(MeshError::TooMany { vertices: vertices.len(), triangles: triangles.len() });
    }
    for (vertex, v) in vertices.iter().enumerate() {
        if !v.is_finite() {
            return Err(MeshError::NotFinite { vertex });
        }
        if let Some(&value) = v.to_array().iter().find(|x| x.abs() > FARTHEST) {
            return Err(MeshError::Far { vertex, value });
        }
    }
    for (triangle, t) in triangles.iter().enumerate() {
        if let Some(&corner) = t.iter().find(|i| **i as usize >= vertices.len()) {
            return Err(MeshError::Corner { triangle, corner, vertices: vertices.len() });
        }
    }
    Ok(())
}
