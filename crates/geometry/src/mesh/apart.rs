//! Corners of their own for parts that touch.

use super::TriMesh;
use crate::Vec3;
use crate::space::any_orthogonal;

/// Parts that touch along edges or at corners get corners of their own: around an edge, triangles belong together that bound
/// the same matter. An edge that stays with four triangles, as both its ends hang together elsewhere, gets a corner in its
/// middle for two of them. `None` where edges have no twins.
pub(crate) fn apart(mesh: &TriMesh) -> Option<TriMesh> {
    let twin = twins(mesh)?;
    let (corner, vertices) = corners(mesh, &twin);
    let triangles: Vec<[u32; 3]> = corner.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect();
    let parts = TriMesh { vertices, triangles };
    let key = |s: &u32| edge(&parts.triangles, *s);
    let mut pairs: Vec<u32> = (0..twin.len() as u32).filter(|s| *s < twin[*s as usize]).collect();
    pairs.sort_by_key(|s| (key(s), *s));
    let forks: Vec<u32> = pairs.windows(2).filter(|w| key(&w[0]) == key(&w[1])).map(|w| w[1]).collect();
    if forks.is_empty() { Some(parts) } else { apart(&halved(parts, &forks, &twin)) }
}

/// Ends of side k of triangle t, which is 3 t + k.
fn ends(triangles: &[[u32; 3]], s: u32) -> [u32; 2] {
    let (t, k) = (&triangles[s as usize / 3], s as usize % 3);
    [t[k], t[(k + 1) % 3]]
}

/// The edge a side is on: its ends, the smaller one first.
fn edge(triangles: &[[u32; 3]], s: u32) -> [u32; 2] {
    let [a, b] = ends(triangles, s);
    [a.min(b), a.max(b)]
}

/// For each side the one on the same edge that bounds the same matter; `None` where one has none.
fn twins(mesh: &TriMesh) -> Option<Vec<u32>> {
    let triangles = &mesh.triangles;
    let key = |s: &u32| edge(triangles, *s);
    let mut sides: Vec<u32> = (0..3 * triangles.len() as u32).collect();
    sides.sort_by_key(|s| (key(s), *s));
    let mut twin = vec![u32::MAX; sides.len()];
    for around in sides.chunk_by(|s, r| key(s) == key(r)) {
        let mut turns = turns_around(mesh, around);
        turns.sort_by(|s, r| s.0.total_cmp(&r.0).then(s.1.cmp(&r.1)).then(s.2.cmp(&r.2)));
        let n = turns.len();
        for k in 0..n {
            if turns[k].1 {
                // clockwise from here to the triangle that closes the matter
                let before = turns[(k + n - 1) % n];
                if before.1 || n < 2 {
                    return None;
                }
                twin[turns[k].2 as usize] = before.2;
                twin[before.2 as usize] = turns[k].2;
            }
        }
    }
    (!twin.contains(&u32::MAX)).then_some(twin)
}

/// Triangles around an edge by their sides there: angle [rad], whether the side goes from the smaller end to the larger, side. Seen along the
/// edge in that direction, the outside of a triangle with such a side comes next anticlockwise.
fn turns_around(mesh: &TriMesh, around: &[u32]) -> Vec<(f64, bool, u32)> {
    let triangles = &mesh.triangles;
    let [a, b] = edge(triangles, around[0]);
    let (o, axis) = (mesh.vertices[a as usize], mesh.vertices[b as usize] - mesh.vertices[a as usize]);
    let axis = axis.normalize_or_zero();
    let x = any_orthogonal(axis);
    let y = axis.cross(x);
    let turn = |&s: &u32| {
        let third = mesh.vertices[triangles[s as usize / 3][(s as usize % 3 + 2) % 3] as usize] - o;
        // Two belong together, however they lie.
        let third = if around.len() == 2 { x } else { third };
        (libm::atan2(third.dot(y), third.dot(x)), ends(triangles, s)[0] == a, s)
    };
    around.iter().map(turn).collect()
}

/// Corner at which each side starts, and the corners: sides that can be reached from each other around one share it.
fn corners(mesh: &TriMesh, twin: &[u32]) -> (Vec<u32>, Vec<Vec3>) {
    // The side after the twin of a side starts where that does.
    let next = |s: u32| if s % 3 == 2 { s - 2 } else { s + 1 };
    let mut corner = vec![u32::MAX; twin.len()];
    let mut vertices = Vec::new();
    for s in 0..twin.len() as u32 {
        if corner[s as usize] != u32::MAX {
            continue;
        }
        let mut r = s;
        while corner[r as usize] == u32::MAX {
            corner[r as usize] = vertices.len() as u32;
            r = next(twin[r as usize]);
        }
        vertices.push(mesh.vertices[ends(&mesh.triangles, s)[0] as usize]);
    }
    (corner, vertices)
}

/// Halves the two triangles at each of these sides; each triangle once, the rest in the next round.
fn halved(mesh: TriMesh, forks: &[u32], twin: &[u32]) -> TriMesh {
    let TriMesh { mut vertices, mut triangles } = mesh;
    let mut halved = vec![false; triangles.len()];
    for &s in forks {
        let both = [s, twin[s as usize]];
        if both.iter().any(|s| halved[*s as usize / 3]) {
            continue;
        }
        let m = vertices.len() as u32;
        let [a, b] = edge(&triangles, s).map(|i| vertices[i as usize]);
        vertices.push(0.5 * (a + b));
        for s in both {
            let (t, k) = (s as usize / 3, s as usize % 3);
            halved[t] = true;
            triangles.push([m, triangles[t][(k + 1) % 3], triangles[t][(k + 2) % 3]]);
            triangles[t][(k + 1) % 3] = m;
        }
    }
    TriMesh { vertices, triangles }
}
