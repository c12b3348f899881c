//! Films: two parts of a surface that lie on each other back to back, with nothing between them but rounding. A Boolean
//! leaves one where faces of its solids lie in one plane up to rounding: a wall of no thickness, or a crack of no width.
//!
//! A surface is a sum of oriented triangles whose edges cancel. In the plane of a film all triangles are replaced by others
//! with the same rim: the plane is cut into triangles along the rim, and each counts how often the rim goes around it, w.
//! Where w = 1 the surface faces along the normal, where w = -1 against it, and where w = 0 the two sides of the film have
//! cancelled. Rims stay as they are, so the surface stays closed. For sides to be one where they differ by rounding,
//! corners in the plane that are near each other are made one before, and edges are split at corners that lie on them.

use crate::mesh::apart::apart;
use crate::mesh::{edges, height};
use crate::space::any_orthogonal;
use crate::triangulate::point;
use crate::{TriMesh, Vec3};
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};
use std::collections::{BTreeMap, BTreeSet};

/// Normals this near lie along one line, as the difference of one coordinate [-].
const ALIKE: f64 = 1e-8;
/// That coordinate is along a direction that no drawing has; normals of different faces differ in it.
const ASKEW: Vec3 = Vec3::new(0.475_823_719, 0.618_539_247, 0.625_318_113);

/// Two triangles back to back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Film {
    /// Middle of the smaller triangle [m].
    pub at: Vec3,
    /// Largest distance of its corners from the other's plane [m].
    pub thickness: f64,
    /// The larger triangle.
    pub triangle: u32,
}

struct Side {
    triangle: u32,
    normal: Vec3,
    /// Distance of the plane from the origin [m], and twice the area [m^2].
    offset: f64,
    extent: f64,
    low: Vec3,
    high: Vec3,
}

/// Triangles that lie back to back nearer than `thickness` and cover each other by more than that [m].
pub(super) fn films(mesh: &TriMesh, thickness: f64) -> Vec<Film> {
    let Some(&o) = mesh.vertices.first() else { return Vec::new() };
    let corners = |t: u32| mesh.triangles[t as usize].map(|i| mesh.vertices[i as usize]);
    let mut order: Vec<(f64, u32)> = Vec::with_capacity(mesh.triangles.len());
    for triangle in 0..mesh.triangles.len() as u32 {
        let [a, b, c] = corners(triangle);
        let area = (b - a).cross(c - a);
        let longest = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
        // Needles have no normal.
        if area.length_squared() > 16.0 * thickness * thickness * longest {
            order.push((area.dot(ASKEW).abs() / area.length(), triangle));
        }
    }
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let reach = thickness.max(ALIKE * mesh.size());
    let mut found = Vec::new();
    for parallel in order.chunk_by(|a, b| b.0 - a.0 <= ALIKE).filter(|parallel| parallel.len() > 1) {
        let side = |&(_, triangle): &(f64, u32)| {
            let [a, b, c] = corners(triangle);
            let area = (b - a).cross(c - a);
            let normal = area / area.length();
            let (offset, extent) = (normal.dot(a - o).abs(), area.length());
            Side { triangle, normal, offset, extent, low: a.min(b).min(c), high: a.max(b).max(c) }
        };
        let mut parallel: Vec<Side> = parallel.iter().map(side).collect();
        if parallel.iter().all(|s| s.normal.dot(parallel[0].normal) > 0.0) {
            continue;
        }
        parallel.sort_unstable_by(|a, b| a.offset.total_cmp(&b.offset).then(a.triangle.cmp(&b.triangle)));
        for plane in parallel.chunk_by_mut(|a, b| b.offset - a.offset <= reach) {
            if plane.iter().all(|s| s.normal.dot(plane[0].normal) > 0.0) {
                continue;
            }
            plane.sort_unstable_by(|a, b| a.low.x.total_cmp(&b.low.x).then(a.triangle.cmp(&b.triangle)));
            for (k, s) in plane.iter().enumerate() {
                for r in plane[k + 1..].iter().take_while(|r| r.low.x <= s.high.x + thickness) {
                    if s.normal.dot(r.normal) < -0.999
                        && (s.low - thickness).cmple(r.high).all()
                        && (r.low - thickness).cmple(s.high).all()
                    {
                        let (large, small) = if s.extent < r.extent { (r, s) } else { (s, r) };
                        let (p, q) = (corners(large.triangle), corners(small.triangle));
                        let apart = q.iter().fold(0.0, |m: f64, x| large.normal.dot(*x - p[0]).abs().max(m));
                        if apart <= thickness && cover(&p, &q, large.normal, thickness) {
                            let at = (q[0] + q[1] + q[2]) / 3.0;
                            found.push(Film { at, thickness: apart, triangle: large.triangle });
                        }
                    }
                }
            }
        }
    }
    found
}

/// A triangle lies in the plane of no triangle of these surfaces, or is off it by more than some `near` [m].
pub(super) fn has_foreign_faces(mesh: &TriMesh, of: &[&TriMesh], near: f64) -> bool {
    let Some(&o) = mesh.vertices.first() else { return false };
    let plane = |mesh: &TriMesh, t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| mesh.vertices[i as usize]);
        ((b - a).cross(c - a).normalize_or_zero(), a)
    };
    // Direction along ASKEW [-], distance from o [m], surface and triangle.
    let mut known: Vec<(f64, f64, [u32; 2])> = Vec::with_capacity(of.iter().map(|mesh| mesh.triangles.len()).sum());
    for (k, mesh) in of.iter().enumerate() {
        for (i, t) in mesh.triangles.iter().enumerate() {
            let (n, a) = plane(mesh, t);
            known.push((n.dot(ASKEW).abs(), n.dot(a - o).abs(), [k as u32, i as u32]));
        }
    }
    known.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut parallel = Vec::new();
    for group in known.chunk_by_mut(|a, b| b.0 - a.0 <= ALIKE) {
        let (low, high) = (group[0].0, group[group.len() - 1].0);
        group.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
        parallel.push((low, high, group));
    }
    let size = mesh.size();
    mesh.triangles.iter().any(|t| {
        let h = height(mesh, t);
        if h < 1e3 * near {
            return false;
        }
        let (n, a) = plane(mesh, t);
        let (along, offset) = (n.dot(ASKEW).abs(), n.dot(a - o).abs());
        let corners = t.map(|i| mesh.vertices[i as usize]);
        let turn = ALIKE + 8.0 * near / h;
        let reach = near + turn * size;
        let first = parallel.partition_point(|(_, high, _)| *high < along - turn);
        let mut groups = parallel[first..].iter().take_while(|(low, ..)| *low <= along + turn);
        !groups.any(|(.., group)| {
            let first = group.partition_point(|p| p.1 < offset - reach);
            let mut near_by = group[first..].iter().take_while(|p| p.1 <= offset + reach);
            near_by.any(|p| {
                let surface = of[p.2[0] as usize];
                let (n, a) = plane(surface, &surface.triangles[p.2[1] as usize]);
                corners.iter().all(|x| n.dot(*x - a).abs() <= 16.0 * near)
            })
        })
    })
}

/// Triangles in one plane with normal `n` have more than a strip of this width in common [m]: no side of either separates
/// them.
fn cover(p: &[Vec3; 3], q: &[Vec3; 3], n: Vec3, width: f64) -> bool {
    let apart = |p: &[Vec3; 3], q: &[Vec3; 3]| {
        (0..3).any(|k| {
            let out = (p[(k + 1) % 3] - p[k]).cross(n).normalize_or_zero();
            let reach = |t: &[Vec3; 3]| t.map(|x| out.dot(x - p[k]));
            let (own, other) = (reach(p), reach(q));
            let low = |x: [f64; 3]| x[0].min(x[1]).min(x[2]);
            let high = |x: [f64; 3]| x[0].max(x[1]).max(x[2]);
            high(own).min(high(other)) - low(own).max(low(other)) <= 4.0 * width
        })
    };
    !apart(p, q) && !apart(q, p)
}

/// Largest neighbours of triangles without area, those lower than `thin` [m]: cutting their planes anew takes them away.
pub(super) fn beside_needles(mesh: &TriMesh, thin: f64) -> Vec<u32> {
    let is_needle = |t: &[u32; 3]| !(height(mesh, t) > thin);
    if !mesh.triangles.iter().any(is_needle) {
        return Vec::new();
    }
    let Ok(neighbours) = edges::neighbours(&mesh.triangles) else { return Vec::new() };
    let largest = |of: &[u32; 3]| {
        let by_extent = |i: &u32, j: &u32| extent(mesh, *i).total_cmp(&extent(mesh, *j)).then(j.cmp(i));
        of.iter().copied().max_by(by_extent)
    };
    let needles = mesh.triangles.iter().zip(&neighbours).filter(|(t, _)| is_needle(t));
    needles.filter_map(|(_, around)| largest(around)).collect()
}

/// Twice the area [m^2].
fn extent(mesh: &TriMesh, triangle: u32) -> f64 {
    let [a, b, c] = mesh.triangles[triangle as usize].map(|i| mesh.vertices[i as usize]);
    (b - a).cross(c - a).length()
}

/// The surface without films and needles, `near` thick at most [m], in the planes of these triangles; `None` where it cannot be
/// closed without them.
pub(super) fn without(mesh: &TriMesh, triangles: &[u32], near: f64) -> Option<TriMesh> {
    let planes = planes(mesh, triangles, near);
    let mut one = Merged { root: (0..mesh.vertices.len() as u32).collect() };
    let on: Vec<Vec<(f64, u32)>> = planes.iter().map(|plane| plane.corners(mesh, near)).collect();
    on.iter().for_each(|on| one.merge(mesh, on, 2.0 * near));
    let triangles: Vec<[u32; 3]> = mesh.triangles.iter().map(|t| t.map(|i| one.root(i))).collect();

    // Edges in the planes and the corners on them; triangles in the planes.
    let mut ways = Ways::new();
    let mut plane_of = vec![u32::MAX; triangles.len()];
    let mut is_on = vec![u32::MAX; mesh.vertices.len()];
    for (k, on) in on.iter().enumerate() {
        let mut roots: Vec<(f64, u32)> = on.iter().map(|c| (c.0, one.root(c.1))).collect();
        roots.dedup_by_key(|c| c.1);
        roots.iter().for_each(|c| is_on[c.1 as usize] = k as u32);
        let mut edges = BTreeSet::new();
        for (t, of) in triangles.iter().zip(&mut plane_of) {
            let here = t.map(|i| is_on[i as usize] == k as u32);
            if here == [true; 3] && *of == u32::MAX {
                *of = k as u32;
            }
            for s in 0..3 {
                let (a, b) = (t[s], t[(s + 1) % 3]);
                if here[s] && here[(s + 1) % 3] && a != b {
                    edges.insert([a.min(b), a.max(b)]);
                }
            }
        }
        for edge in edges {
            let [a, b] = edge.map(|i| mesh.vertices[i as usize]);
            let Some(u) = (b - a).try_normalize() else { continue };
            let [from, to] = [a, b].map(|x| planes[k].across.dot(x));
            let first = roots.partition_point(|c| c.0 < from.min(to) - 4.0 * near);
            for &(_, i) in roots[first..].iter().take_while(|c| c.0 <= from.max(to) + 4.0 * near) {
                let x = mesh.vertices[i as usize] - a;
                let inside = x.dot(u) > 0.0 && x.dot(u) < (b - a).length();
                if inside && !edge.contains(&i) && x.cross(u).length() <= 2.0 * near {
                    ways.entry(edge).or_default().insert(i);
                }
            }
        }
    }
    // Sides that cross in a plane get a corner there: apart by rounding, they had none.
    let mut vertices = mesh.vertices.clone();
    let mut rims: Vec<Rim> = vec![Rim::default(); planes.len()];
    for (t, of) in triangles.iter().zip(&plane_of) {
        if let Some(rim) = rims.get_mut(*of as usize) {
            (0..3).for_each(|k| rim.add(&way(&[t[k], t[(k + 1) % 3]], &ways, &vertices)));
        }
    }
    let mut crossed = BTreeMap::new();
    rims.iter().zip(&planes).for_each(|(rim, plane)| rim.cross(plane, &mut vertices, &mut crossed, near));

    rims.fill(Rim::default());
    let mut new = Vec::with_capacity(triangles.len());
    for (t, of) in triangles.iter().zip(&plane_of) {
        let sides = [0, 1, 2].map(|k| {
            let side = way(&[t[k], t[(k + 1) % 3]], &ways, &vertices);
            if crossed.is_empty() { side } else { way(&side, &crossed, &vertices) }
        });
        if let Some(rim) = rims.get_mut(*of as usize) {
            sides.iter().for_each(|side| rim.add(side));
        } else if sides.iter().all(|side| side.len() == 2 && side[0] != side[1]) {
            new.push(*t);
        } else {
            let mut rim = Rim::default();
            sides.iter().for_each(|side| rim.add(side));
            let [a, b, c] = t.map(|i| vertices[i as usize]);
            rim.fill(&vertices, (b - a).cross(c - a).normalize_or_zero(), &mut new)?;
        }
    }
    for (rim, plane) in rims.iter().zip(&planes) {
        rim.fill(&vertices, plane.normal, &mut new)?;
    }
    let made = apart(&TriMesh { vertices, triangles: new })?;
    // Films have no volume.
    let lost = (made.volume() - mesh.volume()).abs();
    (lost <= near * mesh.area()).then_some(made)
}

/// Corners that lie on edges, which run from the smaller corner to the larger.
type Ways = BTreeMap<[u32; 2], BTreeSet<u32>>;

/// The way along these corners and those between them.
fn way(along: &[u32], between: &Ways, vertices: &[Vec3]) -> Vec<u32> {
    let mut all = vec![along[0]];
    for s in along.windows(2) {
        let start = all.len();
        all.extend(between.get(&[s[0].min(s[1]), s[0].max(s[1])]).into_iter().flatten());
        let [a, b] = [s[0], s[1]].map(|i| vertices[i as usize]);
        let at = |i: u32| (vertices[i as usize] - a).dot(b - a);
        all[start..].sort_by(|&i, &j| at(i).total_cmp(&at(j)).then(i.cmp(&j)));
        all.push(s[1]);
    }
    all
}

/// Points x with `normal . x = offset`; corners in it are sorted along `across`.
struct Plane {
    normal: Vec3,
    offset: f64,
    across: Vec3,
}

/// Planes of triangles, each once, the largest first.
fn planes(mesh: &TriMesh, triangles: &[u32], near: f64) -> Vec<Plane> {
    let mut order: Vec<(f64, u32)> = triangles.iter().map(|&t| (extent(mesh, t), t)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    order.dedup();
    let mut planes: Vec<Plane> = Vec::new();
    for (_, t) in order {
        let [a, b, c] = mesh.triangles[t as usize].map(|i| mesh.vertices[i as usize]);
        let is_in = |p: &Plane| [a, b, c].iter().all(|x| (p.normal.dot(*x) - p.offset).abs() <= near);
        if !planes.iter().any(is_in) {
            let normal = (b - a).cross(c - a).normalize_or_zero();
            planes.push(Plane { normal, offset: normal.dot(a), across: any_orthogonal(normal) });
        }
    }
    planes
}

impl Plane {
    /// Corners in the plane with their place along `across` [m], in that order.
    fn corners(&self, mesh: &TriMesh, near: f64) -> Vec<(f64, u32)> {
        let all = mesh.vertices.iter().zip(0u32..);
        let mut on: Vec<(f64, u32)> = all
            .filter(|(v, _)| (self.normal.dot(**v) - self.offset).abs() <= 2.0 * near)
            .map(|(v, i)| (self.across.dot(*v), i))
            .collect();
        on.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        on
    }
}

/// Corners that are one; the first of them stands for all.
struct Merged {
    root: Vec<u32>,
}

impl Merged {
    fn root(&self, mut i: u32) -> u32 {
        while self.root[i as usize] != i {
            i = self.root[i as usize];
        }
        i
    }

    /// Makes corners one that are nearer than `near`, out of those sorted by their first number [m].
    fn merge(&mut self, mesh: &TriMesh, sorted: &[(f64, u32)], near: f64) {
        for (k, (x, i)) in sorted.iter().enumerate() {
            for (_, j) in sorted[k + 1..].iter().take_while(|(y, _)| y - x <= near) {
                let (a, b) = (self.root(*i), self.root(*j));
                if a != b && mesh.vertices[*i as usize].distance(mesh.vertices[*j as usize]) <= near {
                    self.root[a.max(b) as usize] = a.min(b);
                }
            }
        }
    }
}

/// Edges of a part of the surface that have not cancelled: how often from the smaller corner to the larger [-].
#[derive(Clone, Default)]
struct Rim(BTreeMap<[u32; 2], i32>);

impl Rim {
    fn add(&mut self, way: &[u32]) {
        for s in way.windows(2).filter(|s| s[0] != s[1]) {
            let sign = if s[0] < s[1] { 1 } else { -1 };
            *self.0.entry([s[0].min(s[1]), s[0].max(s[1])]).or_insert(0) += sign;
        }
    }

    /// Corners where sides of the rim cross, and the sides they lie on.
    fn cross(&self, plane: &Plane, vertices: &mut Vec<Vec3>, crossed: &mut Ways, near: f64) {
        let (first, n) = (vertices.len(), plane.normal);
        let range = |e: &[u32; 2], vertices: &[Vec3]| {
            let [a, b] = e.map(|i| plane.across.dot(vertices[i as usize]));
            (a.min(b), a.max(b))
        };
        let mut edges: Vec<[u32; 2]> = self.0.iter().filter(|(_, m)| **m != 0).map(|(e, _)| *e).collect();
        edges.sort_by(|d, e| range(d, vertices).0.total_cmp(&range(e, vertices).0).then(d.cmp(e)));
        for (k, d) in edges.iter().enumerate() {
            for e in &edges[k + 1..] {
                if range(e, vertices).0 > range(d, vertices).1 {
                    break;
                }
                let ([a, b], [p, q]) = (d.map(|i| vertices[i as usize]), e.map(|i| vertices[i as usize]));
                let side = |o: Vec3, to: Vec3, x: Vec3| n.dot((to - o).cross(x - o));
                let (hp, hq) = (side(a, b, p), side(a, b, q));
                let apart = (hp > 0.0) == (hq > 0.0) || (side(p, q, a) > 0.0) == (side(p, q, b) > 0.0);
                if apart || d.contains(&e[0]) || d.contains(&e[1]) {
                    continue;
                }
                let x = p + (q - p) * (hp / (hp - hq));
                // Three may cross in a point.
                let known = vertices[first..].iter().position(|y| y.distance(x) <= 2.0 * near);
                let i = first + known.unwrap_or(vertices.len() - first);
                if known.is_none() {
                    vertices.push(x);
                }
                for edge in [d, e] {
                    crossed.entry(*edge).or_default().insert(i as u32);
                }
            }
        }
    }

    /// Triangles in the plane with this unit normal that have this rim; `None` where the rim crosses itself, or goes around
    /// a place twice.
    fn fill(&self, vertices: &[Vec3], normal: Vec3, out: &mut Vec<[u32; 3]>) -> Option<()> {
        let edges: Vec<[u32; 2]> = self.0.iter().filter(|(_, m)| **m != 0).map(|(e, _)| *e).collect();
        let Some(first) = edges.first() else { return Some(()) };
        let mut corners: Vec<u32> = edges.iter().flatten().copied().collect();
        corners.sort_unstable();
        corners.dedup();
        let (s, o) = (any_orthogonal(normal), vertices[first[0] as usize]);
        let t = normal.cross(s);
        let flat = |i: &u32| {
            let p = vertices[*i as usize] - o;
            point([p.dot(s), p.dot(t)])
        };
        let index = |i: u32| corners.binary_search(&i).unwrap_or_default();
        let mut conflict = false;
        let cdt = ConstrainedDelaunayTriangulation::<Point2<f64>>::try_bulk_load_cdt(
            corners.iter().map(flat).collect(),
            edges.iter().map(|e| e.map(index)).collect(),
            |_| conflict = true,
        )
        .ok()?;
        if conflict || cdt.num_vertices() != corners.len() {
            return None;
        }
        // From outside inwards: w grows by the times that the rim passes from right to left.
        let times = |from: usize, to: usize| {
            let (i, j) = (corners[from], corners[to]);
            let m = self.0.get(&[i.min(j), i.max(j)]).copied().unwrap_or(0);
            if i < j { m } else { -m }
        };
        let mut winding: Vec<Option<i32>> = vec![None; cdt.num_all_faces()];
        winding[cdt.outer_face().index()] = Some(0);
        let rim = cdt.directed_edges().filter(|e| e.face().is_outer());
        let mut stack: Vec<_> = rim.map(|e| (0, e.fix())).collect();
        while let Some((left, e)) = stack.pop() {
            let e = cdt.directed_edge(e);
            let right = left - times(e.from().index(), e.to().index());
            let f = e.rev().face();
            match winding[f.index()] {
                None => {
                    winding[f.index()] = Some(right);
                    stack.extend(f.as_inner()?.adjacent_edges().map(|e| (right, e.fix())));
                }
                // The rim is no rim.
                Some(w) if w != right => return None,
                Some(_) => {}
            }
        }
        for f in cdt.inner_faces() {
            let [a, b, c] = f.vertices().map(|v| corners[v.index()]);
            match winding[f.index()]? {
                0 => {}
                1 => out.push([a, b, c]),
                -1 => out.push([a, c, b]),
                _ => return None,
            }
        }
        Some(())
    }
}
