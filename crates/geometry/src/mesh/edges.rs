//! Which triangle lies across which edge.

use super::MeshError;
use crate::Vec3;

/// Why triangles form no closed oriented surface: how many edges, and one of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Flaw {
    Open { edges: usize, first: [u32; 2] },
    Fork { edges: usize, first: [u32; 2], triangles: usize },
    Orientation { edges: usize, first: [u32; 2] },
}

impl Flaw {
    pub(super) fn named(self, vertices: &[Vec3]) -> MeshError {
        let ends = |[a, b]: [u32; 2]| (vertices[a as usize], vertices[b as usize]);
        match self {
            Flaw::Open { edges, first } => {
                let (from, to) = ends(first);
                MeshError::Open { edges, from, to }
            }
            Flaw::Fork { edges, first, triangles } => {
                let (from, to) = ends(first);
                MeshError::Fork { edges, from, to, triangles }
            }
            Flaw::Orientation { edges, first } => {
                let (from, to) = ends(first);
                MeshError::Orientation { edges, from, to }
            }
        }
    }
}

/// Side of a triangle: undirected edge, then 3 times the triangle plus the number of the side.
pub(super) type Side = ([u32; 2], u32);

/// All sides, those of one edge next to each other.
pub(super) fn sides(triangles: &[[u32; 3]]) -> Vec<Side> {
    let mut sides: Vec<Side> = Vec::with_capacity(3 * triangles.len());
    for (i, t) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            sides.push(([a.min(b), a.max(b)], (3 * i + k) as u32));
        }
    }
    sides.sort_unstable();
    sides
}

/// True when the side runs from the smaller index to the larger.
fn forward(triangles: &[[u32; 3]], side: u32) -> bool {
    let (t, k) = (&triangles[side as usize / 3], side as usize % 3);
    t[k] < t[(k + 1) % 3]
}

/// Triangle across each side; the worst flaw where the surface is not closed, not a surface or not oriented.
pub(crate) fn neighbours(triangles: &[[u32; 3]]) -> Result<Vec<[u32; 3]>, Flaw> {
    let sides = sides(triangles);
    let mut out = vec![[u32::MAX; 3]; triangles.len()];
    let (mut open, mut fork, mut turned) = ((0, [0; 2]), (0, [0; 2], 0), (0, [0; 2]));
    for group in sides.chunk_by(|a, b| a.0 == b.0) {
        let edge = group[0].0;
        match group {
            [(_, s), (_, r)] if edge[0] != edge[1] => {
                if forward(triangles, *s) == forward(triangles, *r) {
                    turned = (turned.0 + 1, if turned.0 == 0 { edge } else { turned.1 });
                }
                out[*s as usize / 3][*s as usize % 3] = r / 3;
                out[*r as usize / 3][*r as usize % 3] = s / 3;
            }
            [_] => open = (open.0 + 1, if open.0 == 0 { edge } else { open.1 }),
            _ if fork.0 == 0 => fork = (1, edge, group.len()),
            _ => fork.0 += 1,
        }
    }
    if fork.0 > 0 {
        Err(Flaw::Fork { edges: fork.0, first: fork.1, triangles: fork.2 })
    } else if open.0 > 0 {
        Err(Flaw::Open { edges: open.0, first: open.1 })
    } else if turned.0 > 0 {
        Err(Flaw::Orientation { edges: turned.0, first: turned.1 })
    } else {
        Ok(out)
    }
}

/// Number of the connected part each triangle belongs to, and how many there are.
pub(crate) fn parts(neighbours: &[[u32; 3]]) -> (Vec<u32>, usize) {
    let mut part = vec![u32::MAX; neighbours.len()];
    let (mut count, mut stack) = (0, Vec::new());
    for seed in 0..neighbours.len() {
        if part[seed] != u32::MAX {
            continue;
        }
        part[seed] = count;
        stack.push(seed);
        while let Some(t) = stack.pop() {
            for &n in &neighbours[t] {
                if part[n as usize] == u32::MAX {
                    part[n as usize] = count;
                    stack.push(n as usize);
                }
            }
        }
        count += 1;
    }
    (part, count as usize)
}
