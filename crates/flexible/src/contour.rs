//! The shape of a design: where the share of material is above a level, as outlines of a plane part or as a closed surface.
//!
//! Shares are linear between nodes; each element is cut where they meet the level, and what two elements agree about is no boundary. What does not
//! hang together with the largest piece is left out.

use crate::FlexibleError;
use crate::element;
use crate::mesh::Mesh;
use std::collections::{BTreeMap, BTreeSet};
use tippe_geometry::{TriMesh, Vec3};

/// A corner of the shape: a node twice, or the ends of a side that is cut, the smaller one first.
type Corner = (u32, u32);

/// A design as a field over the nodes of its mesh.
struct Field<'a> {
    mesh: &'a Mesh,
    share: Vec<f64>,
    level: f64,
}

/// Points of a cut nearer than this part of an element's side to the one before are left out [-].
const SHORT: f64 = 0.5;

impl Field<'_> {
    fn inside(&self, node: u32) -> bool {
        self.share[node as usize] > self.level
    }

    fn place(&self, (a, b): Corner) -> Vec3 {
        let [p, q] = [a, b].map(|n| self.mesh.nodes[n as usize]);
        if a == b {
            return p;
        }
        let [s, t] = [a, b].map(|n| self.share[n as usize]);
        p + (q - p) * ((self.level - s) / (t - s))
    }

    /// What of a polygon of nodes is inside.
    fn clipped(&self, nodes: &[u32]) -> Vec<Corner> {
        let mut out = Vec::new();
        for (k, &a) in nodes.iter().enumerate() {
            let b = nodes[(k + 1) % nodes.len()];
            if self.inside(a) {
                out.push((a, a));
            }
            if self.inside(a) != self.inside(b) {
                out.push((a.min(b), a.max(b)));
            }
        }
        out
    }

    /// Leaves the largest piece alone.
    fn keep_largest(&mut self) {
        let n = self.mesh.kind.corners();
        let mut root: Vec<u32> = (0..self.share.len() as u32).collect();
        fn find(root: &mut [u32], mut k: u32) -> u32 {
            while root[k as usize] != k {
                root[k as usize] = root[root[k as usize] as usize];
                k = root[k as usize];
            }
            k
        }
        for e in 0..self.mesh.count() {
            let within: Vec<u32> = self.mesh.element(e)[..n].iter().copied().filter(|k| self.inside(*k)).collect();
            for pair in within.windows(2) {
                let (a, b) = (find(&mut root, pair[0]), find(&mut root, pair[1]));
                root[a.max(b) as usize] = a.min(b);
            }
        }
        let mut volumes: BTreeMap<u32, f64> = BTreeMap::new();
        for e in 0..self.mesh.count() {
            let corners: Vec<Vec3> = self.mesh.places(e)[..n].to_vec();
            let volume = element::volume(self.mesh.kind, &corners) / n as f64;
            for &k in self.mesh.element(e)[..n].iter().filter(|k| self.inside(**k)) {
                *volumes.entry(find(&mut root, k)).or_default() += volume;
            }
        }
        let Some((&largest, _)) = volumes.iter().max_by(|a, b| a.1.total_cmp(b.1)) else { return };
        for k in 0..self.share.len() as u32 {
            if self.inside(k) && find(&mut root, k) != largest {
                self.share[k as usize] = 0.0;
            }
        }
    }

    /// Volume, or area, of what is inside.
    fn volume(&self) -> f64 {
        let n = self.mesh.kind.corners();
        let of = |e: usize| {
            let nodes = &self.mesh.element(e)[..n];
            let places: Vec<Vec3> = nodes.iter().map(|&k| self.mesh.nodes[k as usize]).collect();
            let s: Vec<f64> = nodes.iter().map(|&k| self.share[k as usize] - self.level).collect();
            element::volume(self.mesh.kind, &places) * above(&s)
        };
        (0..self.mesh.count()).map(of).sum()
    }
}

/// Share of a simplex on which a linear field with these values at its corners is above zero.
fn above(s: &[f64]) -> f64 {
    let inner: Vec<f64> = s.iter().copied().filter(|s| *s > 0.0).collect();
    let outer: Vec<f64> = s.iter().copied().filter(|s| *s <= 0.0).collect();
    // a corner alone cuts off the product of its shares of the sides
    let alone = |own: f64, others: &[f64]| others.iter().map(|o| own / (own - o)).product::<f64>();
    match (inner.len(), outer.len()) {
        (0, _) => 0.0,
        (_, 0) => 1.0,
        (1, _) => alone(inner[0], &outer),
        (_, 1) => 1.0 - alone(outer[0], &inner),
        // two and two: a corner alone, and the other one's part of what is left
        _ => {
            let [a, b] = [inner[0], inner[1]];
            let [p, q] = [outer[0], outer[1]];
            let (ap, aq, bp, bq) = (a / (a - p), a / (a - q), b / (b - p), b / (b - q));
            ap * aq + ap * (1.0 - aq) * bq + (1.0 - ap) * bp * bq
        }
    }
}

fn field<'a>(mesh: &'a Mesh, shares: &[f64], volume: f64) -> Result<Field<'a>, FlexibleError> {
    let n = mesh.kind.corners();
    let (mut sums, mut weights) = (vec![0.0; mesh.nodes.len()], vec![0.0; mesh.nodes.len()]);
    let mut all = 0.0;
    for e in 0..mesh.count() {
        let own = element::volume(mesh.kind, &mesh.places(e)[..n]);
        all += own;
        for &k in &mesh.element(e)[..n] {
            sums[k as usize] += own * shares[e];
            weights[k as usize] += own;
        }
    }
    let share: Vec<f64> = sums.iter().zip(&weights).map(|(s, w)| if *w > 0.0 { s / w } else { 0.0 }).collect();
    let (mut low, mut high) = (0.05, 0.95);
    let mut found = Field { mesh, share: share.clone(), level: 0.5 };
    for _ in 0..40 {
        found = Field { mesh, share: share.clone(), level: 0.5 * (low + high) };
        found.keep_largest();
        if found.volume() > volume * all { low = found.level } else { high = found.level }
    }
    if found.volume() < 0.5 * volume * all {
        return Err(FlexibleError::Mesh(
            "the design has fallen apart: its largest piece is less than half of it. help: a larger `filter`, or more `volume`"
                .to_owned(),
        ));
    }
    Ok(found)
}

/// The outlines of a plane design, the outer one first, and the holes in it; the level is where it has this share of the volume.
pub fn outlines(mesh: &Mesh, shares: &[f64], volume: f64) -> Result<Vec<Vec<[f64; 2]>>, FlexibleError> {
    let field = field(mesh, shares, volume)?;
    let mut next: BTreeMap<Corner, Corner> = BTreeMap::new();
    let mut edges: BTreeSet<(Corner, Corner)> = BTreeSet::new();
    for e in 0..mesh.count() {
        let polygon = field.clipped(&mesh.element(e)[..3]);
        for (k, a) in polygon.iter().enumerate() {
            let b = polygon[(k + 1) % polygon.len()];
            if !edges.remove(&(b, *a)) {
                edges.insert((*a, b));
            }
        }
    }
    next.extend(edges);
    let side = (mesh.mass(1.0, 1.0).mass / mesh.count() as f64 * 4.0 / 3.0_f64.sqrt()).sqrt();
    let mut loops: Vec<Vec<[f64; 2]>> = Vec::new();
    while let Some((&first, _)) = next.iter().next() {
        let mut corners = vec![first];
        let mut at = first;
        while let Some(to) = next.remove(&at) {
            if to == first {
                break;
            }
            corners.push(to);
            at = to;
        }
        let of = thinned(&field, &corners, SHORT * side);
        if of.len() > 2 {
            loops.push(of);
        }
    }
    let area = |points: &[[f64; 2]]| -> f64 {
        points.iter().zip(points.iter().cycle().skip(1)).map(|(a, b)| 0.5 * (a[0] * b[1] - a[1] * b[0])).sum()
    };
    loops.retain(|points| area(points).abs() > side * side);
    loops.sort_by(|a, b| area(b).total_cmp(&area(a)));
    Ok(loops)
}

/// A loop without cuts that are too near to each other; nodes stay.
fn thinned(field: &Field<'_>, corners: &[Corner], short: f64) -> Vec<[f64; 2]> {
    let mut out: Vec<(Corner, Vec3)> = Vec::new();
    for &corner in corners {
        let p = field.place(corner);
        let own = corner.0 == corner.1;
        if let Some(&(last, at)) = out.last()
            && (p - at).length() < short
        {
            match (own, last.0 == last.1) {
                (false, _) => continue,
                (true, false) => {
                    out.pop();
                }
                (true, true) => {}
            }
        }
        out.push((corner, p));
    }
    if let (Some(&(_, first)), Some(&(last, at))) = (out.first(), out.last())
        && out.len() > 3
        && last.0 != last.1
        && (first - at).length() < short
    {
        out.pop();
    }
    out.iter().map(|(_, p)| [p.x, p.y]).collect()
}

/// The closed surface of a solid design; the level is where it has this share of the volume.
pub fn surface(mesh: &Mesh, shares: &[f64], volume: f64) -> Result<TriMesh, FlexibleError> {
    let field = field(mesh, shares, volume)?;
    let mut triangles: Vec<[Corner; 3]> = Vec::new();
    for (face, _) in mesh.skin() {
        let polygon = field.clipped(&face);
        for k in 2..polygon.len() {
            triangles.push([polygon[0], polygon[k - 1], polygon[k]]);
        }
    }
    for e in 0..mesh.count() {
        let nodes = &mesh.element(e)[..4];
        let [inner, outer]: [Vec<u32>; 2] =
            [true, false].map(|side| nodes.iter().copied().filter(|n| field.inside(*n) == side).collect());
        let cut = |a: u32, b: u32| (a.min(b), a.max(b));
        let polygon: Vec<Corner> = match (inner.len(), outer.len()) {
            (1, 3) => outer.iter().map(|o| cut(inner[0], *o)).collect(),
            (3, 1) => inner.iter().map(|i| cut(*i, outer[0])).collect(),
            (2, 2) => {
                vec![cut(inner[0], outer[0]), cut(inner[0], outer[1]), cut(inner[1], outer[1]), cut(inner[1], outer[0])]
            }
            _ => continue,
        };
        let p: Vec<Vec3> = polygon.iter().map(|c| field.place(*c)).collect();
        let middle = |of: &[u32]| of.iter().map(|n| mesh.nodes[*n as usize]).sum::<Vec3>() / of.len() as f64;
        let outward = (p[1] - p[0]).cross(p[2] - p[0]).dot(middle(&outer) - middle(&inner)) > 0.0;
        for k in 2..polygon.len() {
            let [a, b, c] = [polygon[0], polygon[k - 1], polygon[k]];
            triangles.push(if outward { [a, b, c] } else { [a, c, b] });
        }
    }
    let mut number: BTreeMap<Corner, u32> = BTreeMap::new();
    triangles.iter().flatten().for_each(|c| {
        number.insert(*c, 0);
    });
    let mut out = TriMesh { vertices: Vec::new(), triangles: Vec::new() };
    for (corner, own) in &mut number {
        *own = out.vertices.len() as u32;
        out.vertices.push(field.place(*corner));
    }
    out.triangles = triangles.iter().map(|t| t.map(|c| number[&c])).collect();
    Ok(out)
}
