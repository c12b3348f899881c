//! Flat faces triangulated anew: the result of a Boolean depends on the solid alone, and its triangles are good ones.
//!
//! Triangles in one plane that hang together form a region. Its rim is made of edges between planes, which no choice of
//! triangles can change; corners in the middle of a straight edge between two regions go. Where a region cannot be cut into
//! triangles that way (its rim touches itself), its triangles stay as they are.

use crate::mesh::apart::apart;
use crate::mesh::edges;
use crate::space::any_orthogonal;
use crate::triangulate::triangulate;
use crate::{TriMesh, Vec3};
use std::collections::BTreeMap;

/// Corners this near to a plane or line lie on it, as a share of the diagonal [-].
const FLAT: f64 = 1e-11;

/// Equivalent surface with flat faces triangulated anew and everything in a fixed order; corners are known to `rounding` [m].
pub(super) fn tidied(mesh: &TriMesh, rounding: f64) -> TriMesh {
    let mut mesh = sorted(mesh);
    let mut neighbours = edges::neighbours(&mesh.triangles);
    if let (Err(_), Some(parted)) = (&neighbours, apart(&mesh)) {
        mesh = sorted(&parted);
        neighbours = edges::neighbours(&mesh.triangles);
    }
    let Ok(neighbours) = neighbours else { return mesh };
    let near = rounding.max(FLAT * mesh.size());
    let (region, normals) = regions(&mesh, &neighbours, near);
    let keep = corners_to_keep(&mesh, &neighbours, &region, near);
    let mut triangles: Vec<Vec<[u32; 3]>> = vec![Vec::new(); normals.len()];
    for (t, r) in mesh.triangles.iter().zip(&region) {
        triangles[*r as usize].push(*t);
    }
    // A corner goes only if both its regions can do without it.
    let mut keep = keep;
    let mut made: Vec<Option<Vec<[u32; 3]>>>;
    loop {
        made = (0..normals.len()).map(|r| cut_anew(&mesh, &triangles[r], normals[r], &keep, near)).collect();
        let mut changed = false;
        for (r, new) in made.iter().enumerate() {
            for i in triangles[r].iter().flatten().filter(|_| new.is_none()) {
                changed |= !std::mem::replace(&mut keep[*i as usize], true);
            }
        }
        if !changed {
            break;
        }
    }
    let all = made.into_iter().zip(triangles).flat_map(|(new, old)| new.unwrap_or(old)).collect();
    let tidy = sorted(&TriMesh { vertices: mesh.vertices.clone(), triangles: all });
    if tidy.is_closed() {
        return tidy;
    }
    apart(&tidy).map_or(mesh, |parted| sorted(&parted))
}

/// Corners by position, triangles by their smallest corner; unused corners left out.
fn sorted(mesh: &TriMesh) -> TriMesh {
    let mut used = vec![false; mesh.vertices.len()];
    mesh.triangles.iter().flatten().for_each(|i| used[*i as usize] = true);
    let mut order: Vec<usize> = (0..mesh.vertices.len()).filter(|&i| used[i]).collect();
    let key = |i: usize| mesh.vertices[i];
    order.sort_by(|&i, &j| {
        let (a, b) = (key(i), key(j));
        a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)).then(a.z.total_cmp(&b.z)).then(i.cmp(&j))
    });
    let mut index = vec![u32::MAX; mesh.vertices.len()];
    order.iter().enumerate().for_each(|(k, &i)| index[i] = k as u32);
    let mut triangles: Vec<[u32; 3]> = mesh
        .triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|i| index[i as usize]);
            if a < b && a < c {
                [a, b, c]
            } else if b < c {
                [b, c, a]
            } else {
                [c, a, b]
            }
        })
        .collect();
    triangles.sort_unstable();
    TriMesh { vertices: order.iter().map(|&i| mesh.vertices[i]).collect(), triangles }
}

/// Region of each triangle and unit normal of each region; regions grow from their largest triangle.
fn regions(mesh: &TriMesh, neighbours: &[[u32; 3]], near: f64) -> (Vec<u32>, Vec<Vec3>) {
    let corners = |t: usize| mesh.triangles[t].map(|i| mesh.vertices[i as usize]);
    let area = |t: usize| {
        let [a, b, c] = corners(t);
        (b - a).cross(c - a)
    };
    let mut order: Vec<usize> = (0..mesh.triangles.len()).collect();
    order.sort_by(|&i, &j| area(j).length_squared().total_cmp(&area(i).length_squared()).then(i.cmp(&j)));
    let mut region = vec![u32::MAX; mesh.triangles.len()];
    let mut normals = Vec::new();
    for seed in order {
        if region[seed] != u32::MAX {
            continue;
        }
        let id = normals.len() as u32;
        let n = area(seed).try_normalize().unwrap_or(Vec3::Z);
        let o = corners(seed)[0];
        region[seed] = id;
        normals.push(n);
        let mut stack = vec![seed];
        while let Some(t) = stack.pop() {
            for &next in &neighbours[t] {
                let next = next as usize;
                let in_plane = || corners(next).iter().all(|p| n.dot(*p - o).abs() <= near);
                // Needles of no area have no normal of their own.
                let alike = || area(next).dot(n) >= -near * near;
                if region[next] == u32::MAX && in_plane() && alike() {
                    region[next] = id;
                    stack.push(next);
                }
            }
        }
    }
    (region, normals)
}

/// False for corners inside a region and for those in the middle of a straight edge between two regions.
fn corners_to_keep(mesh: &TriMesh, neighbours: &[[u32; 3]], region: &[u32], near: f64) -> Vec<bool> {
    let mut ends: Vec<Vec<u32>> = vec![Vec::new(); mesh.vertices.len()];
    for (t, around) in neighbours.iter().enumerate() {
        for k in 0..3 {
            if region[t] != region[around[k] as usize] {
                ends[mesh.triangles[t][k] as usize].push(mesh.triangles[t][(k + 1) % 3]);
            }
        }
    }
    let at = |i: u32| mesh.vertices[i as usize];
    (0..mesh.vertices.len())
        .map(|i| match ends[i][..] {
            [] => false,
            [a, b] => {
                let (p, u) = (mesh.vertices[i], at(b) - at(a));
                let straight = (p - at(a)).cross(u).length() <= near * u.length();
                !(straight && (p - at(a)).dot(at(b) - p) > 0.0)
            }
            _ => true,
        })
        .collect()
}

/// Triangles of a region from its rim alone; `None` where that fails.
fn cut_anew(mesh: &TriMesh, old: &[[u32; 3]], n: Vec3, keep: &[bool], near: f64) -> Option<Vec<[u32; 3]>> {
    let mut sides: Vec<[u32; 2]> = old.iter().flat_map(|t| (0..3).map(|k| [t[k], t[(k + 1) % 3]])).collect();
    sides.sort_unstable();
    let mut next: BTreeMap<u32, u32> = BTreeMap::new();
    for s in sides.iter().filter(|s| sides.binary_search(&[s[1], s[0]]).is_err()) {
        if next.insert(s[0], s[1]).is_some() {
            return None;
        }
    }
    let (mut loops, mut corners): (Vec<Vec<u32>>, Vec<u32>) = (Vec::new(), Vec::new());
    while let Some((&start, _)) = next.first_key_value() {
        let (mut l, mut here) = (Vec::new(), start);
        while let Some(to) = next.remove(&here) {
            if keep[here as usize] {
                l.push(corners.len() as u32);
                corners.push(here);
            }
            here = to;
        }
        if here != start || l.len() < 3 {
            return None;
        }
        loops.push(l);
    }
    let s = any_orthogonal(n);
    let t = n.cross(s);
    let o = mesh.vertices[old[0][0] as usize];
    let flat: Vec<[f64; 2]> = corners
        .iter()
        .map(|i| {
            let p = mesh.vertices[*i as usize] - o;
            [p.dot(s), p.dot(t)]
        })
        .collect();
    let new: Vec<[u32; 3]> = triangulate(&flat, &loops)?.into_iter().map(|t| t.map(|i| corners[i as usize])).collect();
    // The same area, and no triangle without one.
    let area = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| mesh.vertices[i as usize]);
        (b - a).cross(c - a).dot(n)
    };
    let (before, after): (f64, f64) = (old.iter().map(area).sum(), new.iter().map(area).sum());
    let sound = new.iter().all(|t| area(t) > near * near) && (before - after).abs() <= 1e-9 * before.abs();
    sound.then_some(new)
}
