//! Convex polytopes from points.
//!
//! Quickhull (Barber, Dobkin, Huhdanpaa 1996): a tetrahedron grows by the point farthest outside one of its faces; the
//! faces that see the point go, a fan from the horizon to the point comes.

use super::ShapeError;
use crate::Vec3;
use serde::{Deserialize, Serialize};

/// Convex polytope with triangular faces; flat faces of more corners are several triangles with one normal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Vec3>", into = "Vec<Vec3>")]
pub struct Hull {
    vertices: Vec<Vec3>,
    faces: Vec<HullFace>,
    edges: Vec<[u32; 2]>,
    /// Neighbours of vertex i: `neighbours[first[i]..first[i + 1]]`.
    first: Vec<u32>,
    neighbours: Vec<u32>,
    /// Where hill climbing starts: farthest vertices along -x, +x, -y, +y, -z, +z.
    extremes: [u32; 6],
    radius: f64,
    facets: Vec<Facet>,
    /// Corners of all facets, one after the other.
    outlines: Vec<u32>,
}

/// Flat face of a hull: all triangles of one plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Facet {
    /// Outward unit normal [-].
    pub normal: Vec3,
    /// `normal . p` for its first corner p [m].
    pub offset: f64,
    /// Its corners: from here in the list of outlines ...
    pub from: u32,
    /// ... to here.
    pub to: u32,
}

/// Triangle of a hull.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HullFace {
    /// Indices of the corners, anticlockwise seen from outside.
    pub corners: [u32; 3],
    /// Outward unit normal [-].
    pub normal: Vec3,
    /// `normal . p` for points p of the face [m].
    pub offset: f64,
}

/// Below this many vertices a scan beats hill climbing.
const SCAN_LIMIT: usize = 24;

impl TryFrom<Vec<Vec3>> for Hull {
    type Error = ShapeError;
    fn try_from(points: Vec<Vec3>) -> Result<Self, ShapeError> {
        Hull::new(&points)
    }
}

impl From<Hull> for Vec<Vec3> {
    fn from(hull: Hull) -> Self {
        hull.vertices
    }
}

impl Hull {
    /// Convex hull of the points [m]. Points inside or within rounding of a face are left out.
    pub fn new(points: &[Vec3]) -> Result<Hull, ShapeError> {
        if !points.iter().all(|p| p.is_finite()) {
            return Err(ShapeError::NotFinite { shape: "hull", what: "a point" });
        }
        let flat = ShapeError::Flat { points: points.len() };
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for p in points {
            (low, high) = (low.min(*p), high.max(*p));
        }
        let size = (high - low).max_element() + low.abs().max(high.abs()).max_element() * 1e-3;
        // Thickness below which a point counts as on the plane; grown when rounding tears the surface.
        let mut tolerance = 4e-15 * size;
        for _ in 0..6 {
            let Some(triangles) = quickhull(points, tolerance) else { return Err(flat) };
            if let Some(hull) = Hull::from_triangles(points, &triangles, tolerance.max(1e-12 * size)) {
                return Ok(hull);
            }
            tolerance *= 30.0;
        }
        Err(flat)
    }

    /// Corners [m].
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Triangles.
    pub fn faces(&self) -> &[HullFace] {
        &self.faces
    }

    /// Pairs of corners joined by an edge, including those between coplanar triangles.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges
    }

    /// Flat faces.
    pub(crate) fn facets(&self) -> &[Facet] {
        &self.facets
    }

    /// Corners of all facets, one after the other.
    pub(crate) fn outlines(&self) -> &[u32] {
        &self.outlines
    }

    /// Indices of a facet's corners, anticlockwise seen from outside.
    pub(crate) fn outline(&self, facet: &Facet) -> &[u32] {
        &self.outlines[facet.from as usize..facet.to as usize]
    }

    /// Largest distance of a corner from the origin [m].
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// True when `p` is inside, or outside by no more than `slip` [m].
    pub fn contains(&self, p: Vec3, slip: f64) -> bool {
        self.faces.iter().all(|f| f.normal.dot(p) - f.offset <= slip)
    }

    /// Index of a vertex farthest along `d` (any length).
    #[inline]
    pub fn farthest_vertex(&self, d: Vec3) -> u32 {
        self.farthest_vertex_near(d, u32::MAX)
    }

    /// Like `farthest_vertex`, faster when the answer is near the vertex `hint`.
    #[inline]
    pub(crate) fn farthest_vertex_near(&self, d: Vec3, hint: u32) -> u32 {
        if self.vertices.len() <= SCAN_LIMIT {
            let (mut best, mut reach) = (0, self.vertices[0].dot(d));
            for (i, v) in self.vertices.iter().enumerate().skip(1) {
                let r = v.dot(d);
                if r > reach {
                    (best, reach) = (i as u32, r);
                }
            }
            return best;
        }
        let a = d.abs();
        let axis = if a.x >= a.y && a.x >= a.z {
            0
        } else if a.y >= a.z {
            1
        } else {
            2
        };
        let start = self.extremes[2 * axis + (d[axis] > 0.0) as usize];
        match self.vertices.get(hint as usize) {
            Some(h) if h.dot(d) > self.vertices[start as usize].dot(d) => self.climb(d, hint),
            _ => self.climb(d, start),
        }
    }

    /// Hill climbing from a given vertex: on a convex body a local maximum is the global one.
    #[inline]
    pub(crate) fn climb(&self, d: Vec3, start: u32) -> u32 {
        let (mut best, mut reach) = (start, self.vertices[start as usize].dot(d));
        loop {
            let here = best;
            let (from, to) = (self.first[here as usize] as usize, self.first[here as usize + 1] as usize);
            for &k in &self.neighbours[from..to] {
                let r = self.vertices[k as usize].dot(d);
                if r > reach {
                    (best, reach) = (k, r);
                }
            }
            if best == here {
                return best;
            }
        }
    }

    /// Mean of the vertices farthest along `d`.
    pub(crate) fn middle_support(&self, d: Vec3) -> Vec3 {
        let reach = self.vertices[self.farthest_vertex(d) as usize].dot(d);
        let (mut sum, mut count) = (Vec3::ZERO, 0.0);
        for v in &self.vertices {
            if v.dot(d) >= reach {
                sum += *v;
                count += 1.0;
            }
        }
        if count > 0.0 { sum / count } else { self.vertices[self.farthest_vertex(d) as usize] }
    }

    /// Builds the tables; `None` when the triangles are no closed convex surface around all points.
    fn from_triangles(points: &[Vec3], triangles: &[[u32; 3]], tolerance: f64) -> Option<Hull> {
        let mut index = vec![u32::MAX; points.len()];
        let mut vertices = Vec::new();
        let mut faces = Vec::new();
        for t in triangles {
            let corners = t.map(|i| {
                let slot = &mut index[i as usize];
                if *slot == u32::MAX {
                    *slot = vertices.len() as u32;
                    vertices.push(points[i as usize]);
                }
                *slot
            });
            let [a, b, c] = t.map(|i| points[i as usize]);
            let normal = (b - a).cross(c - a).try_normalize()?;
            faces.push(HullFace { corners, normal, offset: normal.dot(a) });
        }
        let convex = faces.iter().all(|f| vertices.iter().all(|v| f.normal.dot(*v) - f.offset <= tolerance * 100.0));
        let mut half_edges: Vec<[u32; 2]> =
            faces.iter().flat_map(|f| (0..3).map(|k| [f.corners[k], f.corners[(k + 1) % 3]])).collect();
        half_edges.sort_unstable();
        let unique = half_edges.windows(2).all(|w| w[0] != w[1]);
        let paired = half_edges.iter().all(|e| half_edges.binary_search(&[e[1], e[0]]).is_ok());
        let euler = vertices.len() + faces.len() == half_edges.len() / 2 + 2;
        if !(convex && unique && paired && euler) {
            return None;
        }
        let mut first = vec![0u32; vertices.len() + 1];
        for e in &half_edges {
            first[e[0] as usize + 1] += 1;
        }
        for i in 0..vertices.len() {
            first[i + 1] += first[i];
        }
        let neighbours = half_edges.iter().map(|e| e[1]).collect();
        let edges = half_edges.iter().copied().filter(|e| e[0] < e[1]).collect();
        let radius = vertices.iter().map(|v: &Vec3| v.length()).fold(0.0, f64::max);
        let mut extremes = [0u32; 6];
        for (k, slot) in extremes.iter_mut().enumerate() {
            let sign = if k % 2 == 1 { 1.0 } else { -1.0 };
            for (i, v) in vertices.iter().enumerate() {
                if sign * v[k / 2] > sign * vertices[*slot as usize][k / 2] {
                    *slot = i as u32;
                }
            }
        }
        let (facets, outlines) = flat_faces(&vertices, &faces, radius);
        Some(Hull { vertices, faces, edges, first, neighbours, extremes, radius, facets, outlines })
    }
}

/// Corners this near to the plane of a triangle lie in it, as a share of the radius [-].
const COPLANAR: f64 = 1e-6;

/// Joins triangles that lie in one plane, the largest first, and walks around each group.
fn flat_faces(vertices: &[Vec3], faces: &[HullFace], radius: f64) -> (Vec<Facet>, Vec<u32>) {
    let twice_area = |f: &HullFace| {
        let [a, b, c] = f.corners.map(|i| vertices[i as usize]);
        (b - a).cross(c - a).length()
    };
    let mut order: Vec<usize> = (0..faces.len()).collect();
    order.sort_by(|&i, &j| twice_area(&faces[j]).total_cmp(&twice_area(&faces[i])).then(i.cmp(&j)));
    let mut taken = vec![false; faces.len()];
    let (mut facets, mut outlines) = (Vec::new(), Vec::new());
    let mut next = vec![u32::MAX; vertices.len()];
    for &seed in &order {
        if taken[seed] {
            continue;
        }
        let plane = &faces[seed];
        let in_plane = |f: &HullFace| {
            f.normal.dot(plane.normal) > 0.5
                && f.corners
                    .iter()
                    .all(|&i| (plane.normal.dot(vertices[i as usize]) - plane.offset).abs() <= COPLANAR * radius)
        };
        let (mut sides, mut normal) = (Vec::new(), Vec3::ZERO);
        for (i, f) in faces.iter().enumerate() {
            if i == seed || !taken[i] && in_plane(f) {
                taken[i] = true;
                normal += f.normal * twice_area(f);
                sides.extend((0..3).map(|k| [f.corners[k], f.corners[(k + 1) % 3]]));
            }
        }
        // Sides without a twin are the rim.
        sides.sort_unstable();
        for s in sides.iter().filter(|s| sides.binary_search(&[s[1], s[0]]).is_err()) {
            next[s[0] as usize] = s[1];
        }
        let from = outlines.len();
        // The seed may lie inside, with no corner on the rim; where rounding leaves a hole the widest way around is the rim.
        let (mut rim, mut widest) = (Vec::new(), f64::NEG_INFINITY);
        for start in plane.corners.into_iter().chain(sides.iter().map(|s| s[0])) {
            let (mut around, mut here) = (Vec::new(), start);
            while next[here as usize] != u32::MAX {
                around.push(here);
                here = std::mem::replace(&mut next[here as usize], u32::MAX);
            }
            let at = |i: u32| vertices[i as usize] - vertices[start as usize];
            let twice = around.windows(2).map(|s| at(s[0]).cross(at(s[1])).dot(plane.normal)).sum::<f64>();
            if !around.is_empty() && twice > widest {
                (rim, widest) = (around, twice);
            }
        }
        outlines.extend(rim);
        for s in &sides {
            next[s[0] as usize] = u32::MAX;
        }
        let normal = normal.try_normalize().unwrap_or(plane.normal);
        let offset = outlines.get(from).map_or(plane.offset, |&i: &u32| normal.dot(vertices[i as usize]));
        facets.push(Facet { normal, offset, from: from as u32, to: outlines.len() as u32 });
    }
    (facets, outlines)
}

/// Face while the hull grows: `across[k]` lies over the edge from corner k to corner k+1.
struct Growing {
    corners: [u32; 3],
    across: [u32; 3],
    normal: Vec3,
    offset: f64,
    outside: Vec<u32>,
    alive: bool,
}

fn face(points: &[Vec3], corners: [u32; 3], across: [u32; 3]) -> Growing {
    let [a, b, c] = corners.map(|i| points[i as usize]);
    let normal = (b - a).cross(c - a).normalize_or_zero();
    Growing { corners, across, normal, offset: normal.dot(a), outside: Vec::new(), alive: true }
}

/// Four points that span the largest volume a greedy search finds, oriented; `None` for flat sets.
fn first_tetrahedron(points: &[Vec3], tolerance: f64) -> Option<[u32; 4]> {
    let farthest = |measure: &dyn Fn(Vec3) -> f64| {
        let mut best = (0u32, f64::NEG_INFINITY);
        for (i, p) in points.iter().enumerate() {
            let m = measure(*p);
            if m > best.1 {
                best = (i as u32, m);
            }
        }
        best
    };
    let a = farthest(&|p| -p.x).0;
    let pa = *points.get(a as usize)?;
    let (b, ab) = farthest(&|p| (p - pa).length());
    let e = (points[b as usize] - pa).try_normalize().filter(|_| ab > tolerance)?;
    let (c, ac) = farthest(&|p| (p - pa).cross(e).length());
    let n = e.cross(points[c as usize] - pa).try_normalize().filter(|_| ac > tolerance)?;
    let (d, ad) = farthest(&|p| (p - pa).dot(n).abs());
    if ad <= 100.0 * tolerance {
        return None;
    }
    Some(if (points[d as usize] - pa).dot(n) > 0.0 { [a, c, b, d] } else { [a, b, c, d] })
}

/// Triangles of the convex hull, anticlockwise from outside.
fn quickhull(points: &[Vec3], tolerance: f64) -> Option<Vec<[u32; 3]>> {
    // The base (a, b, c) looks away from d.
    let [a, b, c, d] = first_tetrahedron(points, tolerance)?;
    let mut faces = vec![
        face(points, [a, b, c], [1, 2, 3]),
        face(points, [b, a, d], [0, 3, 2]),
        face(points, [c, b, d], [0, 1, 3]),
        face(points, [a, c, d], [0, 2, 1]),
    ];
    let everyone: Vec<u32> = (0..points.len() as u32).collect();
    assign(points, &mut faces, 0, &everyone, tolerance);
    let mut todo: Vec<usize> = vec![3, 2, 1, 0];
    while let Some(f) = todo.pop() {
        if !faces[f].alive || faces[f].outside.is_empty() {
            continue;
        }
        let height = |i: u32| faces[f].normal.dot(points[i as usize]);
        let mut apex = faces[f].outside[0];
        for &i in &faces[f].outside {
            if height(i) > height(apex) {
                apex = i;
            }
        }
        // Faces that see the apex, and the edges between seen and unseen, in order.
        let p = points[apex as usize];
        let (mut horizon, mut orphans) = (Vec::new(), Vec::new());
        walk_visible(&mut faces, f as u32, p, tolerance, &mut horizon, &mut orphans);
        let count = horizon.len();
        if count < 3 {
            return Some(Vec::new());
        }
        let start = faces.len();
        for (k, &(from, to, beyond)) in horizon.iter().enumerate() {
            let me = (start + k) as u32;
            let next = (start + (k + 1) % count) as u32;
            let previous = (start + (k + count - 1) % count) as u32;
            faces.push(face(points, [from, to, apex], [beyond, next, previous]));
            let twin = (0..3).find(|&j| faces[beyond as usize].corners[j] == to)?;
            faces[beyond as usize].across[twin] = me;
            todo.push(me as usize);
        }
        orphans.retain(|&i| i != apex);
        assign(points, &mut faces, start, &orphans, tolerance);
    }
    Some(faces.into_iter().filter(|f| f.alive).map(|f| f.corners).collect())
}

/// Gives each point to the face from `start` on that it is farthest outside of.
fn assign(points: &[Vec3], faces: &mut [Growing], start: usize, who: &[u32], tolerance: f64) {
    for &i in who {
        let mut best = (tolerance, usize::MAX);
        for (k, f) in faces.iter().enumerate().skip(start) {
            let out = f.normal.dot(points[i as usize]) - f.offset;
            if out > best.0 {
                best = (out, k);
            }
        }
        if best.1 != usize::MAX {
            faces[best.1].outside.push(i);
        }
    }
}

/// Depth-first walk over the faces that see `p`; the horizon comes out as one closed loop.
fn walk_visible(
    faces: &mut [Growing],
    start: u32,
    p: Vec3,
    tolerance: f64,
    horizon: &mut Vec<(u32, u32, u32)>,
    orphans: &mut Vec<u32>,
) {
    // (face, first edge to look at, edges left)
    let mut stack = vec![(start, 0usize, 3usize)];
    faces[start as usize].alive = false;
    orphans.append(&mut faces[start as usize].outside);
    while let Some((f, edge, left)) = stack.pop() {
        if left == 0 {
            continue;
        }
        stack.push((f, (edge + 1) % 3, left - 1));
        let here = &faces[f as usize];
        let (from, to, beyond) = (here.corners[edge], here.corners[(edge + 1) % 3], here.across[edge]);
        if !faces[beyond as usize].alive {
            continue;
        }
        let g = &faces[beyond as usize];
        if g.normal.dot(p) - g.offset > tolerance {
            let enter = (0..3).find(|&j| g.corners[j] == to).unwrap_or(0);
            faces[beyond as usize].alive = false;
            let mut theirs = std::mem::take(&mut faces[beyond as usize].outside);
            orphans.append(&mut theirs);
            stack.push((beyond, (enter + 1) % 3, 2));
        } else {
            horizon.push((from, to, beyond));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube() -> Vec<Vec3> {
        (0..8).map(|k| Vec3::new((k & 1) as f64, (k >> 1 & 1) as f64, (k >> 2 & 1) as f64)).collect()
    }

    #[test]
    fn cube_with_points_inside_on_faces_and_twice() {
        let mut points = cube();
        points.extend(cube());
        points.push(Vec3::splat(0.5));
        for i in 0..=10 {
            for j in 0..=10 {
                points.push(Vec3::new(0.1 * i as f64, 0.1 * j as f64, 1.0));
                points.push(Vec3::new(0.0, 0.1 * i as f64, 0.1 * j as f64));
            }
        }
        let hull = Hull::new(&points).unwrap();
        assert_eq!(hull.vertices().len(), 8);
        assert_eq!(hull.faces().len(), 12);
        assert_eq!(hull.edges().len(), 18);
        // Six squares, anticlockwise from outside.
        assert_eq!(hull.facets().len(), 6);
        for f in hull.facets() {
            let corners: Vec<Vec3> = hull.outline(f).iter().map(|&i| hull.vertices()[i as usize]).collect();
            assert_eq!(corners.len(), 4);
            let area: Vec3 = (1..3).map(|k| 0.5 * (corners[k] - corners[0]).cross(corners[k + 1] - corners[0])).sum();
            assert!((area - f.normal).length() < 1e-15);
        }
    }

    /// A flat face with corners inside that stand out by rounding: its largest triangle has no side on the rim.
    #[test]
    fn faces_flat_but_for_rounding_have_a_rim() {
        let mut points = Vec::new();
        for k in 0..6 {
            let (s, c) = libm::sincos(std::f64::consts::TAU * k as f64 / 6.0);
            points.extend([-0.05, 0.05].map(|z| Vec3::new(0.2 * c, 0.2 * s, z)));
            if k % 2 == 1 {
                points.push(Vec3::new(-0.12 * s, 0.12 * c, 0.05 + 1e-7));
            }
        }
        let hull = Hull::new(&points).unwrap();
        assert_eq!(hull.vertices().len(), 15);
        assert_eq!(hull.facets().len(), 8);
        let mut corners: Vec<usize> = hull.facets().iter().map(|f| hull.outline(f).len()).collect();
        corners.sort_unstable();
        assert_eq!(corners, [4, 4, 4, 4, 4, 4, 6, 6]);
    }

    #[test]
    fn flat_and_bad_sets_are_errors() {
        let flat: Vec<Vec3> = (0..9).map(|k| Vec3::new((k % 3) as f64, (k / 3) as f64, 2.0)).collect();
        assert!(matches!(Hull::new(&flat), Err(ShapeError::Flat { .. })));
        assert!(matches!(Hull::new(&[]), Err(ShapeError::Flat { .. })));
        assert!(matches!(Hull::new(&[Vec3::ONE; 7]), Err(ShapeError::Flat { .. })));
        assert!(matches!(Hull::new(&[Vec3::NAN; 7]), Err(ShapeError::NotFinite { .. })));
    }

    #[test]
    fn climbing_finds_what_a_scan_finds() {
        let mut points = Vec::new();
        for i in 0..40 {
            for j in 0..20 {
                let (s, c) = libm::sincos(0.157 * i as f64);
                let (sj, cj) = libm::sincos(0.15 * j as f64);
                points.push(Vec3::new(c * sj, 0.7 * s * sj, 0.4 * cj));
            }
        }
        let hull = Hull::new(&points).unwrap();
        for k in 0..2000 {
            let t = k as f64;
            let d = Vec3::new(libm::sin(1.3 * t), libm::sin(0.7 * t + 1.0), libm::cos(2.1 * t));
            let reach = hull.vertices().iter().map(|v| v.dot(d)).fold(f64::NEG_INFINITY, f64::max);
            let found = hull.vertices()[hull.farthest_vertex(d) as usize].dot(d);
            assert!(reach - found < 1e-14, "{reach} {found}");
        }
    }
}
