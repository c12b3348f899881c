//! Stiffness and mass of a mesh, some sets of whose nodes move as rigid bodies.
//!
//! A node of a rigid set at r from its point moves by U + theta x r: its unknowns are put in the place of the node's by elements, so that
//! K = T^T K T holds exactly (rigid multi-point constraints, Cook et al. 2002, chapter 13). Unknowns of free nodes come first, then those of
//! the sets: three (plane) or six each, {force directions, turns}.

use crate::element::{self, Lame};
use crate::mesh::{Kind, MassOfMesh, Mesh};
use crate::sparse::Symmetric;
use crate::topology::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use tippe_geometry::Vec3;

/// An isotropic material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elastic {
    /// Young's modulus [Pa].
    pub young: f64,
    /// Poisson's ratio [-].
    pub poisson: f64,
    /// Density [kg/m3].
    pub density: f64,
}

/// What a plane mesh does across its plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plane {
    /// No stress: thin parts.
    Stress,
    /// No strain: thick or held ones.
    Strain,
}

impl Elastic {
    /// Lame's constants for elements of a kind.
    pub fn lame(&self, kind: Kind, plane: Plane) -> Lame {
        let (E, nu) = (self.young, self.poisson);
        let mu = E / (2.0 * (1.0 + nu));
        let lambda = match (kind.dimension(), plane) {
            (2, Plane::Stress) => E * nu / (1.0 - nu * nu),
            _ => E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)),
        };
        Lame { lambda, mu }
    }
}

/// Nodes that move as one.
#[derive(Clone, Debug, PartialEq)]
pub struct RigidSet {
    /// Its point, about which it turns [m].
    pub at: Vec3,
    /// Its nodes.
    pub nodes: Vec<u32>,
}

/// A mesh with its material and its rigid sets.
#[derive(Clone, Debug)]
pub struct Structure {
    /// The mesh.
    pub mesh: Mesh,
    /// Its material.
    pub elastic: Elastic,
    /// What a plane mesh does across its plane.
    pub plane: Plane,
    /// Thickness of a plane mesh [m]; 1 of a solid one.
    pub thickness: f64,
    /// Nodes that move as one.
    pub sets: Vec<RigidSet>,
    /// By element the factors of its stiffness and of its mass, where it is not full of its material everywhere [-].
    pub shares: Option<Arc<Vec<[f64; 2]>>>,
    /// By node: its first unknown if it is free, else its set.
    places: Vec<Place>,
    /// Unknowns of free nodes.
    pub inner: usize,
    /// All unknowns.
    pub n: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Own(usize),
    Set(usize),
}

impl Structure {
    /// A structure; the first set that has a node keeps it.
    pub fn new(mesh: Mesh, elastic: Elastic, plane: Plane, thickness: f64, sets: Vec<RigidSet>) -> Structure {
        let d = mesh.kind.dimension();
        let mut places = vec![Place::Own(usize::MAX); mesh.nodes.len()];
        for (s, set) in sets.iter().enumerate().rev() {
            set.nodes.iter().for_each(|&k| places[k as usize] = Place::Set(s));
        }
        let mut inner = 0;
        for place in &mut places {
            if let Place::Own(first) = place {
                *first = inner;
                inner += d;
            }
        }
        let thickness = if d == 2 { thickness } else { 1.0 };
        let n = inner + sets.len() * per_set(d);
        Structure { mesh, elastic, plane, thickness, sets, shares: None, places, inner, n }
    }

    /// Factor of the stiffness of an element [-].
    pub fn stiff(&self, e: usize) -> f64 {
        self.shares.as_ref().map_or(1.0, |shares| shares[e][0])
    }

    /// Mass per volume of an element, or per area of a plane one [kg/m3 or kg/m2].
    pub fn density(&self, e: usize) -> f64 {
        self.elastic.density * self.thickness * self.shares.as_ref().map_or(1.0, |shares| shares[e][1])
    }

    /// Mass, centre and moments.
    pub fn mass(&self) -> MassOfMesh {
        self.mesh.mass_by(|e| self.elastic.density * self.shares.as_ref().map_or(1.0, |s| s[e][1]), self.thickness)
    }

    /// Unknowns of a set.
    pub fn per_set(&self) -> usize {
        per_set(self.mesh.kind.dimension())
    }

    /// First unknown of a set.
    pub fn of_set(&self, set: usize) -> usize {
        self.inner + set * self.per_set()
    }

    /// Unknowns that displacement `a` of a node is made of, with their factors.
    fn terms(&self, node: u32, a: usize) -> ([(usize, f64); 4], usize) {
        let mut out = [(0, 0.0); 4];
        match self.places[node as usize] {
            Place::Own(first) => {
                out[0] = (first + a, 1.0);
                (out, 1)
            }
            Place::Set(set) => {
                let first = self.of_set(set);
                let r = self.mesh.nodes[node as usize] - self.sets[set].at;
                out[0] = (first + a, 1.0);
                let mut count = 1;
                let d = self.mesh.kind.dimension();
                let turns: &[Vec3] = if d == 2 { &[Vec3::Z] } else { &[Vec3::X, Vec3::Y, Vec3::Z] };
                for (k, axis) in turns.iter().enumerate() {
                    let by = axis.cross(r)[a];
                    if by != 0.0 {
                        out[count] = (first + d + k, by);
                        count += 1;
                    }
                }
                (out, count)
            }
        }
    }

    /// Displacements of all nodes from the unknowns [m].
    pub fn displacements(&self, x: &[f64]) -> Vec<Vec3> {
        let d = self.mesh.kind.dimension();
        let at = |node: u32| {
            let mut u = Vec3::ZERO;
            for a in 0..d {
                let (terms, count) = self.terms(node, a);
                u[a] = terms[..count].iter().map(|(k, factor)| factor * x[*k]).sum();
            }
            u
        };
        (0..self.mesh.nodes.len() as u32).map(at).collect()
    }

    /// Adds what a force on a node does to the unknowns.
    pub fn push(&self, node: u32, force: Vec3, f: &mut [f64]) {
        for a in 0..self.mesh.kind.dimension() {
            let (terms, count) = self.terms(node, a);
            terms[..count].iter().for_each(|(k, factor)| f[*k] += factor * force[a]);
        }
    }

    /// Unknowns of displacements that are rigid in every set, such as those of the whole body.
    pub fn unknowns(&self, displacement: impl Fn(Vec3) -> Vec3, turn: Vec3) -> Vec<f64> {
        let d = self.mesh.kind.dimension();
        let mut x = vec![0.0; self.n];
        for (k, place) in self.places.iter().enumerate() {
            if let Place::Own(first) = place {
                let u = displacement(self.mesh.nodes[k]);
                (0..d).for_each(|a| x[first + a] = u[a]);
            }
        }
        for (s, set) in self.sets.iter().enumerate() {
            let (first, u) = (self.of_set(s), displacement(set.at));
            (0..d).for_each(|a| x[first + a] = u[a]);
            match d {
                2 => x[first + 2] = turn.z,
                _ => (0..3).for_each(|k| x[first + 3 + k] = turn[k]),
            }
        }
        x
    }

    /// Motions of the whole as a rigid body about a point: shifts, then turns.
    pub fn rigid(&self, centre: Vec3) -> Vec<Vec<f64>> {
        let d = self.mesh.kind.dimension();
        let shifts = [Vec3::X, Vec3::Y, Vec3::Z].into_iter().take(d);
        let turns = [Vec3::X, Vec3::Y, Vec3::Z].into_iter().skip(if d == 2 { 2 } else { 0 });
        let mut out: Vec<Vec<f64>> = shifts.map(|e| self.unknowns(|_| e, Vec3::ZERO)).collect();
        out.extend(turns.map(|e| self.unknowns(|x| e.cross(x - centre), e)));
        out
    }

    /// Stiffness and mass, in one pattern.
    pub fn matrices(&self) -> (Symmetric, Symmetric) {
        let mut K = self.pattern();
        let mut M = K.clone();
        let (kind, d) = (self.mesh.kind, self.mesh.kind.dimension());
        let (nodes, size) = (kind.nodes(), d * kind.nodes());
        let lame = self.elastic.lame(kind, self.plane);
        let (mut k, mut m) = (vec![0.0; size * size], vec![0.0; nodes * nodes]);
        for e in 0..self.mesh.count() {
            let places = self.mesh.places(e);
            k.fill(0.0);
            m.fill(0.0);
            element::stiffness(kind, &places, lame, self.thickness * self.stiff(e), &mut k);
            element::mass(kind, &places, self.density(e), &mut m);
            self.scatter(e, &k, &m, &mut K.value, &mut M.value, &K.start, &K.row);
        }
        (K, M)
    }

    /// Its elements as cells of material, each where it is full.
    pub fn cells(&self) -> Vec<Cell> {
        let (kind, d) = (self.mesh.kind, self.mesh.kind.dimension());
        let size = d * kind.nodes();
        let lame = self.elastic.lame(kind, self.plane);
        let of = |e: usize| {
            let places = self.mesh.places(e);
            let mut k = vec![0.0; size * size];
            element::stiffness(kind, &places, lame, self.thickness, &mut k);
            let nodes = self.mesh.element(e).iter();
            let terms: Vec<_> = nodes.flat_map(|&node| (0..d).map(move |a| self.terms(node, a))).collect();
            let all = terms.iter().flat_map(|(terms, count)| terms[..*count].iter().map(|(u, _)| *u as u32));
            let unknowns: Vec<u32> = all.collect::<BTreeSet<u32>>().into_iter().collect();
            let mut own = vec![0.0; unknowns.len() * (unknowns.len() + 1) / 2];
            let at = |u: usize| unknowns.partition_point(|k| (*k as usize) < u);
            for i in 0..size {
                for j in 0..size {
                    for &(r, f_r) in &terms[i].0[..terms[i].1] {
                        for &(c, f_c) in &terms[j].0[..terms[j].1] {
                            if r >= c {
                                own[at(r) * (at(r) + 1) / 2 + at(c)] += f_r * f_c * k[i * size + j];
                            }
                        }
                    }
                }
            }
            let corners = &places[..kind.corners()];
            let volume = element::volume(kind, corners) * self.thickness;
            Cell { unknowns, k: own, volume, centre: corners.iter().sum::<Vec3>() / corners.len() as f64 }
        };
        (0..self.mesh.count()).map(of).collect()
    }

    /// Unknowns of displacements of the nodes, and the shift and turn of each set.
    pub fn unknowns_of(&self, u: &[Vec3], sets: &[(Vec3, Vec3)]) -> Vec<f64> {
        let d = self.mesh.kind.dimension();
        let mut x = vec![0.0; self.n];
        for (place, u) in self.places.iter().zip(u) {
            if let Place::Own(first) = place {
                (0..d).for_each(|a| x[first + a] = u[a]);
            }
        }
        for (s, (shift, turn)) in sets.iter().enumerate() {
            let first = self.of_set(s);
            (0..d).for_each(|a| x[first + a] = shift[a]);
            match d {
                2 => x[first + 2] = turn.z,
                _ => (0..3).for_each(|k| x[first + 3 + k] = turn[k]),
            }
        }
        x
    }

    /// Unknowns that hold the whole in place and no more: those of the first set, or of three nodes far from each other.
    pub fn support(&self) -> Vec<usize> {
        if !self.sets.is_empty() {
            return (0..self.per_set()).map(|k| self.inner + k).collect();
        }
        let nodes = &self.mesh.nodes;
        let farthest = |from: &dyn Fn(Vec3) -> f64| {
            (0..nodes.len()).fold(0, |best, k| if from(nodes[k]) > from(nodes[best]) { k } else { best })
        };
        let a = farthest(&|p| p.x + p.y + p.z);
        let b = farthest(&|p| (p - nodes[a]).length());
        let along = (nodes[b] - nodes[a]).normalize();
        let c = farthest(&|p| (p - nodes[a]).cross(along).length());
        // which direction of b, and of c, no turn about what is held before leaves alone
        let largest = |v: Vec3| (0..3).fold(0, |best, k| if v[k].abs() > v[best].abs() { k } else { best });
        let first = |k: usize| if let Place::Own(first) = self.places[k] { first } else { 0 };
        if self.mesh.kind.dimension() == 2 {
            let across = if along.x.abs() > along.y.abs() { 1 } else { 0 };
            return vec![first(a), first(a) + 1, first(b) + across];
        }
        let normal = largest(along.cross(nodes[c] - nodes[a]));
        let skip = largest(along);
        let of_b = (0..3).filter(|k| *k != skip).map(|k| first(b) + k);
        (0..3).map(|k| first(a) + k).chain(of_b).chain([first(c) + normal]).collect()
    }

    /// Adds the matrices of an element.
    #[expect(clippy::too_many_arguments, reason = "two matrices of one pattern")]
    fn scatter(&self, e: usize, k: &[f64], m: &[f64], K: &mut [f64], M: &mut [f64], start: &[usize], row: &[usize]) {
        let element = self.mesh.element(e);
        let (nodes, d) = (element.len(), self.mesh.kind.dimension());
        let terms: Vec<([(usize, f64); 4], usize)> =
            element.iter().flat_map(|&node| (0..d).map(move |a| self.terms(node, a))).collect();
        let size = d * nodes;
        for j in 0..size {
            for i in 0..size {
                let k_ij = k[i * size + j];
                let m_ij = if i % d == j % d { m[(i / d) * nodes + j / d] } else { 0.0 };
                for &(c, f_c) in &terms[j].0[..terms[j].1] {
                    for &(r, f_r) in &terms[i].0[..terms[i].1] {
                        if r < c {
                            continue;
                        }
                        let column = &row[start[c]..start[c + 1]];
                        if let Ok(at) = column.binary_search(&r) {
                            K[start[c] + at] += f_r * f_c * k_ij;
                            M[start[c] + at] += f_r * f_c * m_ij;
                        }
                    }
                }
            }
        }
    }

    /// Which unknowns meet: a matrix of zeros.
    fn pattern(&self) -> Symmetric {
        let d = self.mesh.kind.dimension();
        // nodes and sets are groups of unknowns: first unknown and count
        let group = |node: u32| match self.places[node as usize] {
            Place::Own(first) => (first, d),
            Place::Set(set) => (self.of_set(set), self.per_set()),
        };
        let mut meets: Vec<BTreeSet<(usize, usize)>> = vec![BTreeSet::new(); self.n];
        for e in 0..self.mesh.count() {
            let groups: BTreeSet<(usize, usize)> = self.mesh.element(e).iter().map(|&node| group(node)).collect();
            for &(first, _) in &groups {
                meets[first].extend(groups.range((first, 0)..));
            }
        }
        let mut out = Symmetric { n: self.n, start: vec![0], ..Symmetric::default() };
        let mut first = 0;
        while first < self.n {
            let count = if first < self.inner { d } else { self.per_set() };
            meets[first].insert((first, count));
            for a in 0..count {
                for &(row, rows) in &meets[first] {
                    out.row.extend((row..row + rows).filter(|r| *r >= first + a));
                }
                out.start.push(out.row.len());
            }
            first += count;
        }
        out.value = vec![0.0; out.row.len()];
        out
    }
}

fn per_set(d: usize) -> usize {
    if d == 2 { 3 } else { 6 }
}
