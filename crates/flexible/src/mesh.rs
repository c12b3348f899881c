//! Meshes of triangles and tetrahedra, with straight or with curved (quadratic) sides.

use crate::FlexibleError;
use crate::element::{self, Point};
use std::collections::BTreeMap;
use tippe_geometry::Vec3;

/// What the elements of a mesh are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Triangles of three nodes: constant strain.
    Tri3,
    /// Triangles of six nodes, the last three in the middles of the sides 01, 12, 20.
    Tri6,
    /// Tetrahedra of four nodes: constant strain.
    Tet4,
    /// Tetrahedra of ten nodes, the last six in the middles of 01, 12, 20, 03, 13, 23 (the order of Abaqus and CalculiX).
    Tet10,
}

impl Kind {
    /// Nodes of an element.
    pub fn nodes(self) -> usize {
        match self {
            Kind::Tri3 => 3,
            Kind::Tri6 => 6,
            Kind::Tet4 => 4,
            Kind::Tet10 => 10,
        }
    }

    /// Corners of an element.
    pub fn corners(self) -> usize {
        if self.dimension() == 2 { 3 } else { 4 }
    }

    /// Dimension of the elements: displacements of a node.
    pub fn dimension(self) -> usize {
        match self {
            Kind::Tri3 | Kind::Tri6 => 2,
            Kind::Tet4 | Kind::Tet10 => 3,
        }
    }

    /// True for elements with nodes in the middles of their sides.
    pub fn quadratic(self) -> bool {
        matches!(self, Kind::Tri6 | Kind::Tet10)
    }

    /// Ends of the sides in whose middles the nodes after the corners are.
    pub fn sides(self) -> &'static [[usize; 2]] {
        match self {
            Kind::Tri6 | Kind::Tri3 => &[[0, 1], [1, 2], [2, 0]],
            Kind::Tet10 | Kind::Tet4 => &[[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]],
        }
    }
}

/// A mesh of elements of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// What the elements are.
    pub kind: Kind,
    /// Places of the nodes; those of plane meshes have z = 0 [m].
    pub nodes: Vec<Vec3>,
    /// Nodes of the elements, one element after the other.
    pub elements: Vec<u32>,
    /// Named sets of nodes.
    pub sets: BTreeMap<String, Vec<u32>>,
}

/// Mass, centre and moments of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassOfMesh {
    /// Mass [kg].
    pub mass: f64,
    /// Centre of mass [m].
    pub centre: Vec3,
    /// int rho x_i x_j about the origin, rows of three [kg m2].
    pub second: [[f64; 3]; 3],
}

impl Mesh {
    /// Elements.
    pub fn count(&self) -> usize {
        self.elements.len() / self.kind.nodes()
    }

    /// Nodes of element e.
    pub fn element(&self, e: usize) -> &[u32] {
        let n = self.kind.nodes();
        &self.elements[e * n..(e + 1) * n]
    }

    /// Places of the nodes of element e [m].
    pub fn places(&self, e: usize) -> Vec<Vec3> {
        self.element(e).iter().map(|&n| self.nodes[n as usize]).collect()
    }

    /// Smallest and largest coordinates [m].
    pub fn bounds(&self) -> [Vec3; 2] {
        let far = Vec3::splat(f64::INFINITY);
        self.nodes.iter().fold([far, -far], |[low, high], p| [low.min(*p), high.max(*p)])
    }

    /// The same with nodes in the middles of all sides.
    pub fn quadratic(self) -> Mesh {
        let kind = match self.kind {
            Kind::Tri3 => Kind::Tri6,
            Kind::Tet4 => Kind::Tet10,
            _ => return self,
        };
        let mut middle: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let mut nodes = self.nodes.clone();
        let mut elements = Vec::with_capacity(self.count() * kind.nodes());
        for e in 0..self.count() {
            let corners = self.element(e);
            elements.extend_from_slice(corners);
            for &[i, j] in kind.sides() {
                let (a, b) = (corners[i], corners[j]);
                let key = (a.min(b), a.max(b));
                let at = *middle.entry(key).or_insert_with(|| {
                    nodes.push((self.nodes[a as usize] + self.nodes[b as usize]) * 0.5);
                    nodes.len() as u32 - 1
                });
                elements.push(at);
            }
        }
        let mut sets = self.sets;
        for set in sets.values_mut() {
            let of: std::collections::BTreeSet<u32> = set.iter().copied().collect();
            let ends = middle.iter().filter(|((a, b), _)| of.contains(a) && of.contains(b));
            set.extend(ends.map(|(_, m)| *m));
        }
        Mesh { kind, nodes, elements, sets }
    }

    /// Mass, centre and second moments for a density [kg/m3] and, of plane meshes, a thickness [m]: by the quadrature of the mass matrix.
    pub fn mass(&self, density: f64, thickness: f64) -> MassOfMesh {
        self.mass_by(|_| density, thickness)
    }

    /// The same, with a density by element [kg/m3].
    pub fn mass_by(&self, density: impl Fn(usize) -> f64, thickness: f64) -> MassOfMesh {
        let points = element::mass_points(self.kind);
        let (mut mass, mut first, mut second) = (0.0, Vec3::ZERO, [[0.0; 3]; 3]);
        for e in 0..self.count() {
            let places = self.places(e);
            for point in points {
                let (x, weight) = at_point(self.kind, &places, point);
                let w = weight * density(e) * thickness;
                mass += w;
                first += x * w;
                for i in 0..3 {
                    for j in 0..3 {
                        second[i][j] += w * x[i] * x[j];
                    }
                }
            }
        }
        MassOfMesh { mass, centre: first / mass, second }
    }

    /// Checks that every element is the right way round and not too thin, and that every node is used; turns elements of straight sides
    /// that are the wrong way round.
    pub fn checked(mut self) -> Result<Mesh, FlexibleError> {
        if self.count() == 0 {
            return Err(FlexibleError::Mesh("the mesh has no elements".to_owned()));
        }
        let n = self.kind.nodes();
        let mut used = vec![false; self.nodes.len()];
        self.elements.iter().for_each(|&k| used[k as usize] = true);
        for e in 0..self.count() {
            let places = self.places(e);
            if element::volume(self.kind, &places[..self.kind.corners()]) < 0.0 {
                let own = &mut self.elements[e * n..(e + 1) * n];
                let swaps: &[(usize, usize)] = match self.kind {
                    Kind::Tri3 | Kind::Tet4 => &[(0, 1)],
                    Kind::Tri6 => &[(0, 1), (4, 5)],
                    Kind::Tet10 => &[(0, 1), (5, 6), (7, 8)],
                };
                swaps.iter().for_each(|&(a, b)| own.swap(a, b));
            }
            let places = self.places(e);
            let corners = &places[..self.kind.corners()];
            let quality = element::quality(self.kind, corners);
            let at = corners.iter().sum::<Vec3>() / corners.len() as f64;
            if quality < 1e-4 {
                return Err(FlexibleError::Mesh(format!(
                    "element {} of the mesh, at ({:.4}, {:.4}, {:.4}) m, is a sliver: its quality is {quality:.1e} of 1 for a \
                     regular one. help: mesh it anew, with another size",
                    e + 1,
                    at.x,
                    at.y,
                    at.z
                )));
            }
            for point in element::mass_points(self.kind) {
                if at_point(self.kind, &places, point).1 <= 0.0 {
                    return Err(FlexibleError::Mesh(format!(
                        "element {} of the mesh, at ({:.4}, {:.4}, {:.4}) m, is folded: its curved sides cross. help: are its \
                         middle nodes in the order of another program? .inp: 12 23 31 14 24 34; .msh: 12 23 31 14 34 24",
                        e + 1,
                        at.x,
                        at.y,
                        at.z
                    )));
                }
            }
        }
        if used.iter().all(|u| *u) {
            return Ok(self);
        }
        // nodes of no element would be free of stiffness: they are left out
        let mut now = vec![u32::MAX; self.nodes.len()];
        let mut nodes = Vec::new();
        for (k, used) in used.iter().enumerate() {
            if *used {
                now[k] = nodes.len() as u32;
                nodes.push(self.nodes[k]);
            }
        }
        self.nodes = nodes;
        self.elements.iter_mut().for_each(|k| *k = now[*k as usize]);
        for set in self.sets.values_mut() {
            set.retain(|k| now[*k as usize] != u32::MAX);
            set.iter_mut().for_each(|k| *k = now[*k as usize]);
        }
        Ok(self)
    }

    /// Faces on the outside: triangles of corner nodes, out of the body (of plane meshes: the triangles themselves), each with its element.
    pub fn skin(&self) -> Vec<([u32; 3], u32)> {
        if self.kind.dimension() == 2 {
            return (0..self.count()).map(|e| ([0, 1, 2].map(|k| self.element(e)[k]), e as u32)).collect();
        }
        let mut faces: BTreeMap<[u32; 3], Option<([u32; 3], u32)>> = BTreeMap::new();
        for e in 0..self.count() {
            let c = self.element(e);
            for [a, b, d] in [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]] {
                let face = [c[a], c[b], c[d]];
                let mut key = face;
                key.sort_unstable();
                faces.entry(key).and_modify(|f| *f = None).or_insert(Some((face, e as u32)));
            }
        }
        faces.into_values().flatten().collect()
    }
}

/// Place [m] and weight (weight of the quadrature times the determinant) [m3 or m2] of a point of an element.
pub fn at_point(kind: Kind, places: &[Vec3], point: &Point) -> (Vec3, f64) {
    let shape = element::shape(kind, point.at);
    let x = shape.N.iter().zip(places).fold(Vec3::ZERO, |x, (N, p)| x + *p * *N);
    (x, element::gradients(kind, &shape, places).1 * point.weight)
}
