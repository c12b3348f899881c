//! Makes a closed oriented surface of the triangles of a file, as far as that needs no guess, and says what was changed.

use super::apart::apart;
use super::search::DIRECTIONS;
use super::{Mesh, MeshError, THIN, TriMesh, check_numbers, edges, height};
use crate::Vec3;
use crate::tree::Tree;
use std::collections::HashMap;
use std::fmt;

/// What [`Mesh::repaired`] changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshReport {
    /// Distance up to which corners were made one [m].
    pub weld: f64,
    /// Corners that were equal to another and became one with it: numbering, no change [-].
    pub shared: usize,
    /// Corners that were moved to another near by [-].
    pub welded: usize,
    /// Triangles without area that were dropped [-].
    pub dropped: usize,
    /// Needles whose long side was given to a neighbour instead [-].
    pub flipped_edges: usize,
    /// Triangles that were there twice, or once from each side [-].
    pub doubled: usize,
    /// Edges along which parts touch that got corners of their own [-].
    pub parted: usize,
    /// Triangles turned to agree with their neighbours [-].
    pub turned: usize,
    /// Connected parts that were inside out [-].
    pub inside_out: usize,
    /// Connected parts [-].
    pub parts: usize,
}

impl MeshReport {
    /// True when nothing but the numbering of corners was changed.
    pub fn is_clean(&self) -> bool {
        self.welded + self.dropped + self.flipped_edges + self.doubled + self.parted + self.turned + self.inside_out
            == 0
    }
}

impl fmt::Display for MeshReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} closed {}", self.parts, if self.parts == 1 { "part" } else { "parts" })?;
        let counts = [
            (self.welded, "corner welded", "corners welded"),
            (self.dropped, "triangle without area dropped", "triangles without area dropped"),
            (self.flipped_edges, "needle flipped", "needles flipped"),
            (self.doubled, "doubled triangle removed", "doubled triangles removed"),
            (
                self.parted,
                "edge where parts touch given corners of its own",
                "edges where parts touch given corners of their own",
            ),
            (
                self.turned,
                "triangle turned to agree with its neighbours",
                "triangles turned to agree with their neighbours",
            ),
            (self.inside_out, "part turned that was inside out", "parts turned that were inside out"),
        ];
        for (count, one, many) in counts.iter().filter(|c| c.0 > 0) {
            write!(f, "; {count} {}", if *count == 1 { one } else { many })?;
        }
        if self.welded > 0 {
            write!(f, " (corners nearer than {:.3e} m are one)", self.weld)?;
        }
        Ok(())
    }
}

/// Rounds of flipping needles; each needs a neighbour that is not one itself.
const ROUNDS: usize = 4;

impl Mesh {
    /// Repairs what can be repaired without a guess: corners nearer than `weld` [m] become one, triangles without area and
    /// doubled ones go, parts that touch along an edge get corners of their own, neighbours are made to agree, parts that are
    /// inside out are turned. The rest is an error.
    ///
    /// For a file whose numbers have seven digits, `weld` = 1e-7 of [`TriMesh::size`] is a good value; zero joins only
    /// corners that are equal.
    pub fn repaired(surface: &TriMesh, weld: f64) -> Result<(Mesh, MeshReport), MeshError> {
        check_numbers(surface)?;
        let mut report = MeshReport { weld, ..MeshReport::default() };
        let mut mesh = welded(surface, weld, &mut report);
        let before = mesh.triangles.len();
        mesh.triangles.retain(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0]);
        report.dropped = before - mesh.triangles.len();
        remove_doubled(&mut mesh, &mut report);
        drop_loose_needles(&mut mesh, &mut report);
        flip_needles(&mut mesh, &mut report);
        if mesh.triangles.is_empty() {
            return Err(MeshError::Flat { triangles: surface.triangles.len() });
        }
        part_touching(&mut mesh, &mut report);
        let neighbours = match edges::neighbours(&mesh.triangles) {
            Err(edges::Flaw::Orientation { .. }) => orient(&mut mesh, &mut report)?,
            other => other.map_err(|flaw| flaw.named(&mesh.vertices))?,
        };
        let (part, count) = edges::parts(&neighbours);
        report.parts = count;
        turn_inside_out(&mut mesh, &part, count, &mut report);
        drop_unused(&mut mesh);
        Mesh::new(mesh).map(|mesh| (mesh, report))
    }
}

/// Corners nearer than `weld` become the first of them; cells of that length make it a local search.
fn welded(surface: &TriMesh, weld: f64, report: &mut MeshReport) -> TriMesh {
    let cell = |v: Vec3| {
        let scaled = if weld > 0.0 { v / weld } else { v };
        // Casts saturate: far out cells become one, which only costs time.
        [scaled.x.floor() as i64, scaled.y.floor() as i64, scaled.z.floor() as i64]
    };
    let mut cells: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
    let mut exact: HashMap<[u64; 3], u32> = HashMap::new();
    let mut vertices: Vec<Vec3> = Vec::new();
    let mut index = Vec::with_capacity(surface.vertices.len());
    for &v in &surface.vertices {
        // + 0.0 makes one zero of two.
        let bits = [v.x + 0.0, v.y + 0.0, v.z + 0.0].map(f64::to_bits);
        let mut found = exact.get(&bits).copied();
        if found.is_none() && weld > 0.0 {
            let c = cell(v);
            for k in 0..27 {
                let near = [
                    c[0].saturating_add(k % 3 - 1),
                    c[1].saturating_add(k / 3 % 3 - 1),
                    c[2].saturating_add(k / 9 - 1),
                ];
                for &i in cells.get(&near).into_iter().flatten() {
                    if (vertices[i as usize] - v).length_squared() <= weld * weld && found.is_none_or(|f| i < f) {
                        found = Some(i);
                    }
                }
            }
        }
        let i = found.unwrap_or(vertices.len() as u32);
        if found.is_none() {
            vertices.push(v);
            if weld > 0.0 {
                cells.entry(cell(v)).or_default().push(i);
            }
        } else if vertices[i as usize] == v {
            report.shared += 1;
        } else {
            report.welded += 1;
        }
        exact.entry(bits).or_insert(i);
        index.push(i);
    }
    let triangles = surface.triangles.iter().map(|t| t.map(|i| index[i as usize])).collect();
    TriMesh { vertices, triangles }
}

/// Of triangles over the same corners, equal ones count once and opposite ones cancel.
fn remove_doubled(mesh: &mut TriMesh, report: &mut MeshReport) {
    let sorted = |t: &[u32; 3]| {
        let mut s = *t;
        s.sort_unstable();
        s
    };
    let even = |t: &[u32; 3]| {
        let s = sorted(t);
        [[s[0], s[1], s[2]], [s[1], s[2], s[0]], [s[2], s[0], s[1]]].contains(t)
    };
    let mut order: Vec<usize> = (0..mesh.triangles.len()).collect();
    order.sort_by_key(|&i| (sorted(&mesh.triangles[i]), i));
    let mut keep = vec![true; order.len()];
    for group in order.chunk_by(|&i, &j| sorted(&mesh.triangles[i]) == sorted(&mesh.triangles[j])) {
        if group.len() == 1 {
            continue;
        }
        let both = group.iter().any(|&i| even(&mesh.triangles[i])) && group.iter().any(|&i| !even(&mesh.triangles[i]));
        for (k, &i) in group.iter().enumerate() {
            keep[i] = k == 0 && !both;
        }
    }
    let before = mesh.triangles.len();
    let mut k = keep.iter();
    mesh.triangles.retain(|_| k.next() == Some(&true));
    report.doubled = before - mesh.triangles.len();
}

/// Needles whose sides nothing meets, or triangles that meet there without them, bound nothing.
fn drop_loose_needles(mesh: &mut TriMesh, report: &mut MeshReport) {
    let limit = THIN * mesh.size();
    let thin = |mesh: &TriMesh, t: &[u32; 3]| !(height(mesh, t) > limit);
    if !mesh.triangles.iter().any(|t| thin(mesh, t)) {
        return;
    }
    let sides = edges::sides(&mesh.triangles);
    let is_loose = |i: usize| {
        (0..3).all(|k| {
            let (a, b) = (mesh.triangles[i][k], mesh.triangles[i][(k + 1) % 3]);
            let key = [a.min(b), a.max(b)];
            let from = sides.partition_point(|s| s.0 < key);
            sides[from..].iter().take_while(|s| s.0 == key).count() % 2 == 1
        })
    };
    let loose: Vec<bool> = (0..mesh.triangles.len()).map(|i| thin(mesh, &mesh.triangles[i]) && is_loose(i)).collect();
    report.dropped += loose.iter().filter(|loose| **loose).count();
    let mut k = loose.iter();
    mesh.triangles.retain(|_| k.next() == Some(&false));
}

/// A needle (a, b, c) with c on the side ab and its neighbour (b, a, d) become (a, d, c) and (d, b, c).
fn flip_needles(mesh: &mut TriMesh, report: &mut MeshReport) {
    let limit = THIN * mesh.size();
    for _ in 0..ROUNDS {
        let thin: Vec<usize> =
            (0..mesh.triangles.len()).filter(|&i| !(height(mesh, &mesh.triangles[i]) > limit)).collect();
        if thin.is_empty() {
            return;
        }
        let sides = edges::sides(&mesh.triangles);
        let at = |edge: [u32; 2]| {
            let key = [edge[0].min(edge[1]), edge[0].max(edge[1])];
            let from = sides.partition_point(|s| s.0 < key);
            sides[from..].iter().take_while(move |s| s.0 == key).map(|s| s.1)
        };
        let mut changed = vec![false; mesh.triangles.len()];
        for i in thin {
            let t = mesh.triangles[i];
            let length =
                |k: usize| (mesh.vertices[t[k] as usize] - mesh.vertices[t[(k + 1) % 3] as usize]).length_squared();
            let k = (0..3).fold(0, |best, k| if length(k) > length(best) { k } else { best });
            let (a, b, c) = (t[k], t[(k + 1) % 3], t[(k + 2) % 3]);
            let Some(other) = at([a, b]).map(|s| s as usize / 3).find(|&o| o != i) else { continue };
            let d = mesh.triangles[other].iter().copied().find(|v| *v != a && *v != b);
            let Some(d) = d.filter(|&d| d != c && at([c, d]).next().is_none()) else { continue };
            if changed[i] || changed[other] {
                continue;
            }
            (changed[i], changed[other]) = (true, true);
            mesh.triangles[i] = [a, d, c];
            mesh.triangles[other] = [d, b, c];
            report.flipped_edges += 1;
        }
    }
}

/// Where parts touch along an edge, each gets corners of its own: which triangles bound the same matter is seen around the
/// edge, once the outside is known.
fn part_touching(mesh: &mut TriMesh, report: &mut MeshReport) {
    let Err(edges::Flaw::Fork { edges, .. }) = edges::neighbours(&mesh.triangles) else { return };
    let inside_out = mesh.volume() < 0.0;
    let outside = |mesh: TriMesh| if inside_out { mesh.turned() } else { mesh };
    let Some(parted) = apart(&outside(mesh.clone())) else { return };
    *mesh = outside(parted);
    report.parted = edges;
}

/// Turns triangles until neighbours agree, the first of each part giving the direction.
fn orient(mesh: &mut TriMesh, report: &mut MeshReport) -> Result<Vec<[u32; 3]>, MeshError> {
    let sides = edges::sides(&mesh.triangles);
    let mut across = vec![[u32::MAX; 3]; mesh.triangles.len()];
    for pair in sides.chunk_by(|a, b| a.0 == b.0) {
        if let [(_, s), (_, r)] = pair {
            across[*s as usize / 3][*s as usize % 3] = *r;
            across[*r as usize / 3][*r as usize % 3] = *s;
        }
    }
    let side = |triangles: &[[u32; 3]], s: u32| {
        let (t, k) = (&triangles[s as usize / 3], s as usize % 3);
        [t[k], t[(k + 1) % 3]]
    };
    let mut turn: Vec<Option<bool>> = vec![None; mesh.triangles.len()];
    let mut stack = Vec::new();
    for seed in 0..mesh.triangles.len() {
        if turn[seed].is_some() {
            continue;
        }
        let mut members = vec![seed];
        turn[seed] = Some(false);
        stack.push(seed);
        while let Some(t) = stack.pop() {
            for k in 0..3 {
                let r = across[t][k];
                let (own, other) = (side(&mesh.triangles, (3 * t + k) as u32), side(&mesh.triangles, r));
                let wanted = turn[t] == Some(own != other);
                let n = r as usize / 3;
                match turn[n] {
                    None => {
                        // Same direction along the edge: one of the two must be turned.
                        turn[n] = Some(wanted);
                        members.push(n);
                        stack.push(n);
                    }
                    Some(is) if is != wanted => {
                        let [from, to] = own.map(|i| mesh.vertices[i as usize]);
                        return Err(MeshError::OneSided { from, to });
                    }
                    Some(_) => {}
                }
            }
        }
        // The majority was right.
        let turned = members.iter().filter(|&&t| turn[t] == Some(true)).count();
        if 2 * turned > members.len() {
            members.iter().for_each(|&t| turn[t] = turn[t].map(|x| !x));
        }
    }
    for (t, _) in mesh.triangles.iter_mut().zip(&turn).filter(|(_, x)| **x == Some(true)) {
        t.swap(1, 2);
        report.turned += 1;
    }
    edges::neighbours(&mesh.triangles).map_err(|flaw| flaw.named(&mesh.vertices))
}

/// A part inside an even number of others bounds matter, inside an odd number a cavity. When all outer parts are inside
/// out the whole mesh is turned, otherwise only those outer parts that are.
fn turn_inside_out(mesh: &mut TriMesh, part: &[u32], count: usize, report: &mut MeshReport) {
    let o = mesh.vertices[mesh.triangles[0][0] as usize];
    let mut volume = vec![0.0; count];
    let mut seed = vec![u32::MAX; count];
    for (i, t) in mesh.triangles.iter().enumerate() {
        let [a, b, c] = t.map(|i| mesh.vertices[i as usize] - o);
        volume[part[i] as usize] += a.dot(b.cross(c));
        if seed[part[i] as usize] == u32::MAX {
            seed[part[i] as usize] = i as u32;
        }
    }
    if volume.iter().all(|v| *v > 0.0) {
        return;
    }
    let inner: Vec<bool> = (0..count as u32).map(|p| count > 1 && is_inner(mesh, part, p, seed[p as usize])).collect();
    let outer = |p: usize| !inner[p];
    let all = (0..count).filter(|&p| outer(p)).all(|p| volume[p] < 0.0);
    let turn: Vec<bool> = (0..count).map(|p| all || outer(p) && volume[p] < 0.0).collect();
    report.inside_out = (0..count).filter(|&p| outer(p) && turn[p]).count();
    for (t, p) in mesh.triangles.iter_mut().zip(part) {
        if turn[*p as usize] {
            t.swap(1, 2);
        }
    }
}

/// True when a corner of the part lies inside an odd number of the other parts.
fn is_inner(mesh: &TriMesh, part: &[u32], p: u32, seed: u32) -> bool {
    let others: Vec<[u32; 3]> = mesh.triangles.iter().zip(part).filter(|(_, q)| **q != p).map(|(t, _)| *t).collect();
    let others = TriMesh { vertices: mesh.vertices.clone(), triangles: others };
    let tree = Tree::new(&others);
    let [a, b, c] = mesh.triangles[seed as usize].map(|i| mesh.vertices[i as usize]);
    let winding = DIRECTIONS.iter().find_map(|d| tree.winding(&others, (a + b + c) / 3.0, *d, u32::MAX));
    winding.is_some_and(|w| w % 2 != 0)
}

/// Corners that no triangle has go, the others keep their order.
fn drop_unused(mesh: &mut TriMesh) {
    let mut used = vec![false; mesh.vertices.len()];
    mesh.triangles.iter().flatten().for_each(|i| used[*i as usize] = true);
    let mut index = vec![0; used.len()];
    let mut count = 0;
    for (slot, used) in index.iter_mut().zip(&used) {
        *slot = count;
        count += *used as u32;
    }
    mesh.triangles.iter_mut().flatten().for_each(|i| *i = index[*i as usize]);
    let mut keep = used.iter();
    mesh.vertices.retain(|_| keep.next() == Some(&true));
}
