//! Meshes made from shapes: boxes by a grid, outlines by Delaunay refinement, extrusions of them by layers, any closed surface by a lattice.

use crate::FlexibleError;
use crate::mesh::{Kind, Mesh};
use spade::{AngleLimit, ConstrainedDelaunayTriangulation, Point2, RefinementParameters, Triangulation};
use std::collections::BTreeMap;
use tippe_geometry::{Mesh as Surface, Vec3};

/// Nodes of a mesh at most.
const MOST_NODES: f64 = 2e6;

/// A box from corner to corner in cells of about `size`, each six tetrahedra around its diagonal (Kuhn 1960), which fit their neighbours.
pub fn block(low: Vec3, high: Vec3, size: f64) -> Result<Mesh, FlexibleError> {
    let extent = high - low;
    let cells = [0, 1, 2].map(|c| (extent[c] / size).round().max(1.0));
    enough(cells.iter().product::<f64>() * 8.0, size)?;
    let [nx, ny, nz] = cells.map(|n| n as usize);
    let at = |i: usize, j: usize, k: usize| ((i * (ny + 1) + j) * (nz + 1) + k) as u32;
    let mut nodes = Vec::new();
    for i in 0..=nx {
        for j in 0..=ny {
            for k in 0..=nz {
                let t = Vec3::new(i as f64 / nx as f64, j as f64 / ny as f64, k as f64 / nz as f64);
                nodes.push(low + extent * t);
            }
        }
    }
    let mut elements = Vec::new();
    for i in 0..nx {
        for j in 0..ny {
            for k in 0..nz {
                for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [1, 0, 2], [0, 2, 1], [2, 1, 0]] {
                    let mut c = [i, j, k];
                    let mut tet = vec![at(c[0], c[1], c[2])];
                    for axis in order {
                        c[axis] += 1;
                        tet.push(at(c[0], c[1], c[2]));
                    }
                    elements.extend(tet);
                }
            }
        }
    }
    Mesh { kind: Kind::Tet4, nodes, elements, sets: BTreeMap::new() }.checked()
}

fn enough(nodes: f64, size: f64) -> Result<(), FlexibleError> {
    if nodes > MOST_NODES {
        return Err(FlexibleError::Mesh(format!(
            "a mesh of {size} m would have {nodes:.1e} nodes; {MOST_NODES:.0e} are the most. help: a larger `mesh`; is its unit right?"
        )));
    }
    Ok(())
}

/// Triangles inside closed loops, the outer one first; sides of about `size` and no angle below 20 degrees where the loops allow it
/// (Ruppert 1995, by spade).
pub fn outline(loops: &[Vec<[f64; 2]>], size: f64) -> Result<Mesh, FlexibleError> {
    let wrong = |why: &str| FlexibleError::Mesh(format!("the outline cannot be meshed: {why}"));
    let mut area = 0.0;
    let mut cdt = ConstrainedDelaunayTriangulation::<Point2<f64>>::new();
    for outline in loops {
        let points = divided(outline, size);
        if points.len() < 3 {
            return Err(wrong("a loop has fewer than three points"));
        }
        let sum: f64 = points.iter().zip(points.iter().cycle().skip(1)).map(|(a, b)| a[0] * b[1] - a[1] * b[0]).sum();
        area += sum.abs() / 2.0;
        let handles = points.iter().map(|p| cdt.insert(Point2::new(p[0], p[1])));
        let handles: Vec<_> = handles.collect::<Result<_, _>>().map_err(|e| wrong(&e.to_string()))?;
        for (a, b) in handles.iter().zip(handles.iter().cycle().skip(1)) {
            if a != b && !cdt.can_add_constraint(*a, *b) {
                return Err(wrong("it crosses itself. help: check its points"));
            }
            if a != b {
                cdt.add_constraint(*a, *b);
            }
        }
    }
    let cell = 3.0_f64.sqrt() / 4.0 * size * size;
    enough(area / cell, size)?;
    let parameters = RefinementParameters::<f64>::new()
        .exclude_outer_faces(true)
        .with_max_allowed_area(1.3 * cell)
        .with_angle_limit(AngleLimit::from_deg(20.0))
        .with_max_additional_vertices((20.0 * area / cell) as usize + 1000);
    let refined = cdt.refine(parameters);
    let outside: std::collections::BTreeSet<usize> = refined.excluded_faces.iter().map(|f| f.index()).collect();
    let nodes = cdt.vertices().map(|v| Vec3::new(v.position().x, v.position().y, 0.0)).collect();
    let faces = cdt.inner_faces().filter(|f| !outside.contains(&f.fix().index()));
    let elements = faces.flat_map(|f| f.vertices().map(|v| v.fix().index() as u32)).collect();
    Mesh { kind: Kind::Tri3, nodes, elements, sets: BTreeMap::new() }.checked()
}

/// A loop with its long sides divided.
fn divided(outline: &[[f64; 2]], size: f64) -> Vec<[f64; 2]> {
    let mut out = Vec::new();
    for (a, b) in outline.iter().zip(outline.iter().cycle().skip(1)) {
        let length = libm::hypot(b[0] - a[0], b[1] - a[1]);
        let parts = (length / size).round().max(1.0) as usize;
        for k in 0..parts {
            let t = k as f64 / parts as f64;
            out.push([a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]);
        }
    }
    out
}

/// A plane mesh swept along z between two heights in layers of about `size`: prisms, each cut into three tetrahedra by the order of its nodes,
/// so that neighbours fit (Dompierre et al. 1999).
pub fn extrude(plane: &Mesh, low: f64, high: f64, size: f64) -> Result<Mesh, FlexibleError> {
    let layers = ((high - low) / size).round().max(1.0);
    let per = plane.nodes.len();
    enough(layers * per as f64 * 8.0, size)?;
    let layers = layers as usize;
    let mut nodes = Vec::new();
    for k in 0..=layers {
        let z = low + (high - low) * k as f64 / layers as f64;
        nodes.extend(plane.nodes.iter().map(|p| Vec3::new(p.x, p.y, z)));
    }
    let mut elements = Vec::new();
    for k in 0..layers {
        for e in 0..plane.count() {
            let mut c = [0, 1, 2].map(|i| plane.element(e)[i] + (k * per) as u32);
            c.sort_unstable();
            let up = c.map(|n| n + per as u32);
            elements.extend([c[0], c[1], c[2], up[2]]);
            elements.extend([c[0], c[1], up[1], up[2]]);
            elements.extend([c[0], up[0], up[1], up[2]]);
        }
    }
    Mesh { kind: Kind::Tet4, nodes, elements, sets: BTreeMap::new() }.checked()
}

/// Tetrahedra inside a closed surface: isosurface stuffing (Labelle, Shewchuk 2007) of a body-centred lattice of side `size`. Lattice points near
/// the surface are moved onto it, cut edges get a node on it, and what is inside of each lattice tetrahedron is cut by its signs.
pub fn lattice(surface: &Surface, size: f64) -> Result<Mesh, FlexibleError> {
    let far = Vec3::splat(f64::INFINITY);
    let [first, last] = surface.vertices().iter().fold([far, -far], |[low, high], p| [low.min(*p), high.max(*p)]);
    let (low, extent) = (first - Vec3::splat(1.5 * size), last - first + Vec3::splat(3.0 * size));
    let cells = [0, 1, 2].map(|c| (extent[c] / size).ceil() as usize + 1);
    enough(cells.iter().map(|n| *n as f64).product::<f64>() * 2.0, size)?;
    let mut grid = Grid { low, size, cells, places: Vec::new(), inside: Vec::new() };
    grid.fill(surface);
    let (cut, tets) = (grid.cut(surface), grid.tets());
    let (places, inside, cut) = grid.warp(cut);
    stuff(&places, &inside, &cut, &tets)
}

/// The body-centred lattice: corners first, then centres.
struct Grid {
    low: Vec3,
    size: f64,
    cells: [usize; 3],
    places: Vec<Vec3>,
    inside: Vec<bool>,
}

/// Cuts of edges by the surface: the point on it.
type Cuts = BTreeMap<(u32, u32), Vec3>;

impl Grid {
    fn corner(&self, c: [usize; 3]) -> u32 {
        ((c[0] * self.cells[1] + c[1]) * self.cells[2] + c[2]) as u32
    }

    fn centre(&self, c: [usize; 3]) -> u32 {
        let corners = self.cells.iter().product::<usize>();
        (corners + (c[0] * (self.cells[1] - 1) + c[1]) * (self.cells[2] - 1) + c[2]) as u32
    }

    fn fill(&mut self, surface: &Surface) {
        for (shift, less) in [(0.0, 0), (0.5, 1)] {
            let n = self.cells.map(|n| n - less);
            for i in 0..n[0] {
                for j in 0..n[1] {
                    for k in 0..n[2] {
                        let at = Vec3::new(i as f64 + shift, j as f64 + shift, k as f64 + shift);
                        let p = self.low + at * self.size;
                        self.places.push(p);
                        self.inside.push(surface.contains(p));
                    }
                }
            }
        }
    }

    /// Tetrahedra of the lattice: each face between two centres, with each of its four edges.
    fn tets(&self) -> Vec<[u32; 4]> {
        let n = self.cells.map(|n| n - 1);
        let mut out = Vec::new();
        for axis in 0..3 {
            let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
            for i in 0..n[0] {
                for j in 0..n[1] {
                    for k in 0..n[2] {
                        let here = [i, j, k];
                        if here[axis] + 1 >= n[axis] {
                            continue;
                        }
                        let mut beyond = here;
                        beyond[axis] += 1;
                        let (a0, a1) = (self.centre(here), self.centre(beyond));
                        let ring = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[s, t]| {
                            let mut corner = beyond;
                            corner[b] += s;
                            corner[c] += t;
                            self.corner(corner)
                        });
                        for r in 0..4 {
                            out.push([a0, a1, ring[r], ring[(r + 1) % 4]]);
                        }
                    }
                }
            }
        }
        out
    }

    /// Where edges between an inner and an outer point meet the surface.
    fn cut(&self, surface: &Surface) -> Cuts {
        let mut out = Cuts::new();
        for tet in self.tets() {
            for i in 0..4 {
                for j in 0..i {
                    let key = (tet[i].min(tet[j]), tet[i].max(tet[j]));
                    let (a, b) = (key.0 as usize, key.1 as usize);
                    if self.inside[a] != self.inside[b] && !out.contains_key(&key) {
                        let (mut lo, mut hi) = if self.inside[a] { (0.0, 1.0) } else { (1.0, 0.0) };
                        // the surface is where the answer changes
                        for _ in 0..40 {
                            let mid = 0.5 * (lo + hi);
                            let p = self.places[a] + (self.places[b] - self.places[a]) * mid;
                            if surface.contains(p) { lo = mid } else { hi = mid }
                        }
                        out.insert(key, self.places[a] + (self.places[b] - self.places[a]) * (0.5 * (lo + hi)));
                    }
                }
            }
        }
        out
    }

    /// Moves lattice points onto the nearest cut that is nearer than a quarter of the edge or so; these have no sign then (Labelle,
    /// Shewchuk 2007, table 1: 0.24999 of long edges, 0.41189 of short ones).
    fn warp(self, mut cuts: Cuts) -> (Vec<Vec3>, Vec<i8>, Cuts) {
        let mut sign: Vec<i8> = self.inside.iter().map(|i| if *i { 1 } else { -1 }).collect();
        let mut places = self.places.clone();
        type CutsOf = BTreeMap<u32, Vec<((u32, u32), Vec3)>>;
        let mut of = CutsOf::new();
        for (key, p) in &cuts {
            of.entry(key.0).or_default().push((*key, *p));
            of.entry(key.1).or_default().push((*key, *p));
        }
        for (point, own) in of {
            let near = own.iter().filter(|(key, p)| {
                let ends = [self.places[key.0 as usize], self.places[key.1 as usize]];
                let length = (ends[1] - ends[0]).length();
                let share = if length > 0.95 * self.size { 0.24999 } else { 0.41189 };
                cuts.contains_key(key) && (*p - self.places[point as usize]).length() < share * length
            });
            let best = near.min_by(|a, b| {
                let d = |p: &Vec3| (*p - self.places[point as usize]).length();
                d(&a.1).total_cmp(&d(&b.1))
            });
            if let Some((_, p)) = best {
                places[point as usize] = *p;
                sign[point as usize] = 0;
                own.iter().for_each(|(key, _)| {
                    cuts.remove(key);
                });
            }
        }
        (places, sign, cuts)
    }
}

/// What of each lattice tetrahedron is inside.
fn stuff(places: &[Vec3], sign: &[i8], cuts: &Cuts, tets: &[[u32; 4]]) -> Result<Mesh, FlexibleError> {
    let mut nodes: Vec<Vec3> = places.to_vec();
    let cut_node: BTreeMap<(u32, u32), u32> = cuts
        .iter()
        .map(|(key, p)| {
            nodes.push(*p);
            (*key, nodes.len() as u32 - 1)
        })
        .collect();
    let mut elements: Vec<u32> = Vec::new();
    for tet in tets {
        let s = tet.map(|n| sign[n as usize]);
        if !s.contains(&1) {
            continue;
        }
        let cut = |a: u32, b: u32| cut_node.get(&(a.min(b), a.max(b))).copied();
        let inner: Vec<u32> = tet.iter().filter(|n| sign[**n as usize] == 1).copied().collect();
        let on: Vec<u32> = tet.iter().filter(|n| sign[**n as usize] == 0).copied().collect();
        let outer: Vec<u32> = tet.iter().filter(|n| sign[**n as usize] == -1).copied().collect();
        let c = |a: u32, b: u32| cut(a, b).unwrap_or(a);
        match (inner.len(), on.len(), outer.len()) {
            (_, _, 0) => elements.extend(tet),
            (1, _, _) => {
                elements.push(inner[0]);
                elements.extend(&on);
                elements.extend(outer.iter().map(|o| c(inner[0], *o)));
            }
            (2, 1, 1) => {
                let (p, q) = (c(inner[0], outer[0]), c(inner[1], outer[0]));
                pyramid([inner[0], inner[1], q, p], on[0], &mut elements);
            }
            (3, 0, 1) => prism([inner[0], inner[1], inner[2]], [0, 1, 2].map(|k| c(inner[k], outer[0])), &mut elements),
            (2, 0, 2) => prism(
                [inner[0], c(inner[0], outer[0]), c(inner[0], outer[1])],
                [inner[1], c(inner[1], outer[0]), c(inner[1], outer[1])],
                &mut elements,
            ),
            _ => {}
        }
    }
    let mut mesh = Mesh { kind: Kind::Tet4, nodes, elements, sets: BTreeMap::new() };
    // what the cutting made flat has no volume to lose
    let flat = |e: &[u32]| {
        let c: Vec<Vec3> = e.iter().map(|&n| mesh.nodes[n as usize]).collect();
        crate::element::quality(Kind::Tet4, &c).abs() < 1e-3
    };
    mesh.elements = mesh.elements.chunks(4).filter(|e| !flat(e)).flatten().copied().collect();
    if mesh.elements.is_empty() {
        return Err(FlexibleError::Mesh(
            "nothing of the part is as thick as the mesh is wide. help: a smaller `mesh`".to_owned(),
        ));
    }
    mesh.checked()
}

/// A pyramid on a quadrangle, cut along the diagonal of its smallest node: as its neighbour does.
fn pyramid(base: [u32; 4], top: u32, out: &mut Vec<u32>) {
    let least = (0..4).fold(0, |l, k| if base[k] < base[l] { k } else { l });
    let b = [0, 1, 2, 3].map(|k| base[(least + k) % 4]);
    out.extend([b[0], b[1], b[2], top, b[0], b[2], b[3], top]);
}

/// A prism between two triangles, its quadrangles cut along the diagonals of their smallest nodes (Dompierre et al. 1999).
fn prism(a: [u32; 3], b: [u32; 3], out: &mut Vec<u32>) {
    let all = [a[0], a[1], a[2], b[0], b[1], b[2]];
    let least = (0..6).fold(0, |l, k| if all[k] < all[l] { k } else { l });
    // with the smallest node first: v0 is it, v1 and v2 its triangle, v3 across from v0
    let turn = least % 3;
    let (near, far) = if least < 3 { (a, b) } else { (b, a) };
    let v: Vec<u32> = (0..3).map(|k| near[(turn + k) % 3]).chain((0..3).map(|k| far[(turn + k) % 3])).collect();
    if v[1].min(v[5]) < v[2].min(v[4]) {
        out.extend([v[0], v[1], v[2], v[5], v[0], v[1], v[5], v[4], v[0], v[4], v[5], v[3]]);
    } else {
        out.extend([v[0], v[1], v[2], v[4], v[0], v[4], v[2], v[5], v[0], v[4], v[5], v[3]]);
    }
}
