//! A solid as convex pieces: the piece whose hull adds most volume is cut by a plane until none adds any, or there are as
//! many as were asked for.
//!
//! With V the volume of a piece and H that of its hull, E = H - V is what the hull adds. A plane cuts a piece into parts with
//! hulls H_k, sum H_k <= H as each part's hull lies in the half of H on its side. Planes that may help run through an edge
//! where the surface is concave: along one of its two faces, which ends the concavity there, or midway between them, and a
//! few planes across the axes. The one with the least sum of H_k is taken. Solids with few concave edges come out exactly
//! (Chazelle 1984 cuts by the same planes, one for each edge); of curved ones a share of E is left, which is reported.

use super::SolidError;
use super::boolean::{Operation, combine};
use crate::mesh::edges;
use crate::space::any_orthogonal;
use crate::{Hull, Mesh, Shape, TriMesh, Vec3};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A solid taken apart into convex pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct Pieces {
    /// Hulls of the pieces, in the solid's frame.
    pub hulls: Vec<Arc<Hull>>,
    /// Volume that the hulls add to the solid, E summed over the pieces [m^3].
    pub excess: f64,
    /// How deep the surface of a piece lies at most under that of its hull, to one part in a hundred [m].
    pub depth: f64,
}

/// A piece that adds less than this share of the solid's volume is convex [-].
const CONVEX: f64 = 1e-9;
/// Corners this near to a plane lie in it, as a share of the solid's diagonal [-].
const NEAR: f64 = 1e-9;
/// Planes through concave edges that are weighed up: the heaviest, and others evenly spread [-].
const HEAVIEST: usize = 24;
const SPREAD: usize = 24;
/// How much an uneven cut counts against a plane, as a share of the hull [-]: it decides where volumes are equal.
const EVEN: f64 = 0.01;
/// Planes that are tried where the Boolean fails [-].
const TRIES: usize = 8;

impl Mesh {
    /// The solid as at most `most` convex pieces; parts that do not hang together are pieces of their own where `most` allows.
    pub fn pieces(&self, most: u32) -> Result<Pieces, SolidError> {
        super::count("pieces", most, 1, 4096)?;
        let most = most as usize;
        let size = self.surface().size();
        let least = CONVEX * self.volume();
        let mut pieces = parts_of(self.surface().clone(), least, most)?;
        loop {
            let is_open = |piece: &Piece| !piece.is_final && piece.excess() > least;
            if !pieces.iter().any(is_open) || (pieces.len() >= most && !unite(&mut pieces, least)) {
                break;
            }
            let open = (0..pieces.len()).filter(|&k| is_open(&pieces[k]));
            let worst = open.max_by(|&a, &b| pieces[a].excess().total_cmp(&pieces[b].excess()).then(b.cmp(&a)));
            let Some(k) = worst else { break };
            match pieces[k].cut(least, NEAR * size, most - pieces.len() + 1)? {
                Some(parts) => drop(pieces.splice(k..=k, parts)),
                None => pieces[k].is_final = true,
            }
        }
        unite(&mut pieces, least);
        let excess = pieces.iter().map(Piece::excess).sum::<f64>().max(0.0);
        let depth = pieces.par_iter().map(|piece| piece.depth(NEAR * size)).collect::<Vec<_>>();
        let depth = depth.into_iter().fold(0.0, f64::max);
        Ok(Pieces { hulls: pieces.into_iter().map(|piece| Arc::new(piece.hull)).collect(), excess, depth })
    }
}

/// Joins convex pieces that are convex together; true if there were any.
fn unite(pieces: &mut Vec<Piece>, least: f64) -> bool {
    let before = pieces.len();
    let mut i = 0;
    while i < pieces.len() {
        let joined = (i + 1..pieces.len()).find_map(|j| Some((j, pieces[i].with_other(&pieces[j], least)?)));
        match joined {
            Some((j, both)) => {
                pieces.remove(j);
                // it may fit with one that it did not fit with before
                pieces[i] = both;
            }
            None => i += 1,
        }
    }
    pieces.len() < before
}

struct Piece {
    surface: TriMesh,
    neighbours: Vec<[u32; 3]>,
    volume: f64,
    hull: Hull,
    hull_volume: f64,
    /// No plane was found that cuts it, or it was joined of convex ones.
    is_final: bool,
}

/// Points x with `normal . x = offset`.
#[derive(Clone, Copy)]
struct Plane {
    normal: Vec3,
    offset: f64,
}

impl Plane {
    fn height(&self, x: Vec3) -> f64 {
        self.normal.dot(x) - self.offset
    }
}

/// Pieces of a surface that do not hang together, if there are no more than `most`; else all of it as one.
fn parts_of(surface: TriMesh, least: f64, most: usize) -> Result<Vec<Piece>, SolidError> {
    let neighbours = crate::mesh::neighbours(&surface)?;
    let (part_of, count) = edges::parts(&neighbours);
    if count > 1 {
        let mut parts = vec![TriMesh { vertices: surface.vertices.clone(), triangles: Vec::new() }; count];
        for (t, part) in surface.triangles.iter().zip(&part_of) {
            parts[*part as usize].triangles.push(*t);
        }
        // the wall of a void belongs to what is around it
        let whole = parts.iter().all(|part| part.volume() > -least);
        parts.retain(|part| part.volume() > least);
        if whole && parts.len() <= most {
            return parts.into_iter().map(|part| Piece::new(used(part))).collect();
        }
    }
    Ok(vec![Piece::with(surface, neighbours)?])
}

/// Without the corners that no triangle has.
fn used(mut mesh: TriMesh) -> TriMesh {
    let mut index = vec![u32::MAX; mesh.vertices.len()];
    let mut vertices = Vec::new();
    for i in mesh.triangles.iter_mut().flatten() {
        let slot = &mut index[*i as usize];
        if *slot == u32::MAX {
            *slot = vertices.len() as u32;
            vertices.push(mesh.vertices[*i as usize]);
        }
        *i = *slot;
    }
    TriMesh { vertices, triangles: mesh.triangles }
}

fn hull_volume(hull: &Hull) -> f64 {
    let o = hull.vertices()[0];
    let cone = |f: &crate::shape::HullFace| {
        let [a, b, c] = f.corners.map(|i| hull.vertices()[i as usize] - o);
        a.dot(b.cross(c)) / 6.0
    };
    hull.faces().iter().map(cone).sum()
}

impl Piece {
    fn new(surface: TriMesh) -> Result<Piece, SolidError> {
        let neighbours = crate::mesh::neighbours(&surface)?;
        Piece::with(surface, neighbours)
    }

    fn with(surface: TriMesh, neighbours: Vec<[u32; 3]>) -> Result<Piece, SolidError> {
        let hull = Hull::new(&surface.vertices).map_err(|_| SolidError::Vanishes { operation: "decomposition" })?;
        let (volume, hull_volume) = (surface.volume(), hull_volume(&hull));
        Ok(Piece { surface, neighbours, volume, hull, hull_volume, is_final: false })
    }

    fn excess(&self) -> f64 {
        self.hull_volume - self.volume
    }

    /// Both as one, where both are convex and so is that.
    fn with_other(&self, other: &Piece, least: f64) -> Option<Piece> {
        if self.excess() > least || other.excess() > least {
            return None;
        }
        let hull = Hull::new(&[self.hull.vertices(), other.hull.vertices()].concat()).ok()?;
        let (volume, hull_volume) = (self.volume + other.volume, hull_volume(&hull));
        if hull_volume - volume > least {
            return None;
        }
        let surface = Shape::Hull(Arc::new(hull.clone())).surface_mesh(3);
        let neighbours = crate::mesh::neighbours(&surface).ok()?;
        Some(Piece { surface, neighbours, volume, hull, hull_volume, is_final: true })
    }

    fn corner(&self, i: u32) -> Vec3 {
        self.surface.vertices[i as usize]
    }

    /// The parts beyond the best plane that can be cut along, at most `most`; `None` where there is no such plane.
    fn cut(&self, least: f64, near: f64, most: usize) -> Result<Option<Vec<Piece>>, SolidError> {
        let planes = self.planes(near);
        let scores: Vec<Option<f64>> = planes.par_iter().map(|plane| self.score(plane, near, most)).collect();
        let mut order: Vec<(f64, usize)> = scores.iter().enumerate().filter_map(|(k, s)| s.map(|s| (s, k))).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (_, k) in order.into_iter().take(TRIES) {
            let half = half_space(&planes[k], 4.0 * self.surface.size());
            let sides = [Operation::Intersection, Operation::Difference].map(|o| combine(&self.surface, &half, o));
            let [Ok(above), Ok(below)] = sides else { continue };
            let lost = above.volume() + below.volume() - self.volume;
            if !(above.volume() > least && below.volume() > least && lost.abs() <= 1e-6 * self.volume) {
                continue;
            }
            let Ok(mut parts) = parts_of(above, least, most - 1) else { continue };
            let Ok(rest) = parts_of(below, least, most - parts.len()) else { continue };
            parts.extend(rest);
            return Ok(Some(parts));
        }
        Ok(None)
    }

    /// Planes that may end a concavity, and some across the axes.
    fn planes(&self, near: f64) -> Vec<Plane> {
        // Equal planes once, with the sum of length times sine of the edges that lie in them.
        let mut weights: BTreeMap<[i64; 4], (Plane, f64)> = BTreeMap::new();
        let mut add = |normal: Vec3, at: Vec3, weight: f64| {
            let Some(mut normal) = normal.try_normalize() else { return };
            // one of the two normals of a plane
            let lead = normal.to_array().into_iter().find(|x| x.abs() > 1e-6).unwrap_or(1.0);
            normal *= lead.signum();
            let plane = Plane { normal, offset: normal.dot(at) };
            let [x, y, z] = normal.to_array().map(|x| (x * 1e6).round() as i64);
            let key = [x, y, z, (plane.offset / (1e3 * near)).round() as i64];
            weights.entry(key).or_insert((plane, 0.0)).1 += weight;
        };
        let normal = |f: usize| {
            let [a, b, c] = self.surface.triangles[f].map(|i| self.corner(i));
            (b - a).cross(c - a).normalize_or_zero()
        };
        for (f, t) in self.surface.triangles.iter().enumerate() {
            for k in 0..3 {
                let g = self.neighbours[f][k] as usize;
                if f > g {
                    continue;
                }
                let (a, b) = (self.corner(t[k]), self.corner(t[(k + 1) % 3]));
                let (n1, n2) = (normal(f), normal(g));
                let beyond = self.surface.triangles[g].iter().map(|&i| n1.dot(self.corner(i) - a));
                // concave: the other face rises above this one
                if beyond.fold(0.0, f64::max) > near && n1.cross(n2).dot(b - a) < 0.0 {
                    let weight = n1.cross(n2).length() * (b - a).length();
                    add(n1, a, weight);
                    add(n2, a, weight);
                    add(n1 - n2, a, weight);
                }
            }
        }
        let mut planes: Vec<(Plane, f64)> = weights.into_values().collect();
        planes.sort_by(|a, b| b.1.total_cmp(&a.1));
        let rest = planes.split_off(planes.len().min(HEAVIEST));
        let mut planes: Vec<Plane> = planes.into_iter().map(|(plane, _)| plane).collect();
        let step = rest.len().div_ceil(SPREAD).max(1);
        planes.extend(rest.into_iter().step_by(step).map(|(plane, _)| plane));
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for v in &self.surface.vertices {
            (low, high) = (low.min(*v), high.max(*v));
        }
        for normal in [Vec3::X, Vec3::Y, Vec3::Z] {
            let across = |share: f64| Plane { normal, offset: normal.dot(low + (high - low) * share) };
            planes.extend([0.5, 0.25, 0.75].map(across));
        }
        planes
    }

    /// Sum of the hulls' volumes beyond the plane, and a little for an uneven cut [m^3]; `None` if it misses the piece.
    ///
    /// Hulls of corners and of points where edges pass the plane; the cut face adds none. Parts of the surface that do not
    /// hang together on a side count as one where that is less, for the cut face may join them, or if there may be no more
    /// than `most`.
    fn score(&self, plane: &Plane, near: f64, most: usize) -> Option<f64> {
        let heights: Vec<f64> = self.surface.vertices.iter().map(|v| plane.height(*v)).collect();
        let sides = [1.0, -1.0].map(|sign| self.side(&heights, sign, near));
        let many = sides[0].len() + sides[1].len() > most;
        let volume = |points: &Vec<Vec3>| Hull::new(points).map_or(0.0, |hull| hull_volume(&hull));
        let [above, below] = sides.map(|parts| {
            let together = volume(&parts.concat());
            if parts.len() == 1 || many { together } else { together.min(parts.iter().map(volume).sum()) }
        });
        let small = 1e-6 * self.hull_volume;
        (above > small && below > small).then(|| above + below + EVEN * (above - below).abs())
    }

    /// Points whose hulls are those of the parts of the surface where `sign * height` is positive.
    fn side(&self, heights: &[f64], sign: f64, near: f64) -> Vec<Vec<Vec3>> {
        let height = |i: u32| sign * heights[i as usize];
        let triangles = &self.surface.triangles;
        let is_here = |f: usize| triangles[f].iter().any(|&i| height(i) > near);
        let mut part_of = vec![u32::MAX; triangles.len()];
        let (mut parts, mut stack): (Vec<Vec<Vec3>>, Vec<usize>) = (Vec::new(), Vec::new());
        for start in 0..triangles.len() {
            if part_of[start] != u32::MAX || !is_here(start) {
                continue;
            }
            let mut points = Vec::new();
            part_of[start] = parts.len() as u32;
            stack.push(start);
            while let Some(f) = stack.pop() {
                for k in 0..3 {
                    let (i, j) = (triangles[f][k], triangles[f][(k + 1) % 3]);
                    let (hi, hj) = (height(i), height(j));
                    if hi >= -near {
                        points.push(self.corner(i));
                    }
                    if (hi > near && hj < -near) || (hi < -near && hj > near) {
                        points.push(self.corner(i).lerp(self.corner(j), hi / (hi - hj)));
                    }
                    let g = self.neighbours[f][k] as usize;
                    if hi.max(hj) > near && part_of[g] == u32::MAX {
                        part_of[g] = parts.len() as u32;
                        stack.push(g);
                    }
                }
            }
            parts.push(points);
        }
        parts
    }

    /// Largest distance of the surface from that of the hull [m], by branch and bound: the distance h_k(x) from each plane
    /// of the hull is linear, so on a triangle max min_k h_k is at most min_k max h_k, the maximum at a corner.
    fn depth(&self, near: f64) -> f64 {
        let planes = || self.hull.faces().iter().map(|f| Plane { normal: f.normal, offset: f.offset });
        let bound = |corners: &[Vec3; 3]| {
            let most = |plane: Plane| corners.map(|x| -plane.height(x)).into_iter().fold(f64::NEG_INFINITY, f64::max);
            planes().map(most).fold(f64::INFINITY, f64::min)
        };
        let triangles = self.surface.triangles.iter().map(|t| t.map(|i| self.corner(i)));
        let mut open: Vec<(f64, [Vec3; 3])> = triangles.map(|t| (bound(&t), t)).collect();
        open.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut best = 0.0f64;
        while let Some((most, [a, b, c])) = open.pop() {
            if most <= best * 1.01 + near {
                continue;
            }
            let middle = (a + b + c) / 3.0;
            best = best.max(planes().map(|plane| -plane.height(middle)).fold(f64::INFINITY, f64::min));
            let (ab, bc, ca) = (0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a));
            let parts = [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]];
            open.extend(parts.map(|part| (bound(&part), part)).into_iter().filter(|part| part.0 > best * 1.01 + near));
        }
        best
    }
}

/// A box whose one face lies in the plane, on the side of its normal.
fn half_space(plane: &Plane, side: f64) -> TriMesh {
    let n = plane.normal;
    let u = any_orthogonal(n);
    let v = n.cross(u);
    let o = n * plane.offset;
    let mut mesh = Shape::Box { half_extents: Vec3::ONE, smoothing: 0.0 }.surface_mesh(3);
    for p in &mut mesh.vertices {
        *p = o + n * (0.5 * side * (p.z + 1.0)) + u * (side * p.x) + v * (side * p.y);
    }
    mesh
}
