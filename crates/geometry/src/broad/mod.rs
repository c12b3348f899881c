//! Broad phase: which axis-aligned boxes overlap.
//!
//! Three ways with the same sorted answer. Boxes without an end (half-spaces) are paired one by one with all others.

mod bvh;
mod morton;

use crate::Aabb;

/// How to look for overlapping boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broad {
    /// Every pair: best for a few dozen boxes.
    All,
    /// Tree of boxes: good in general.
    Bvh,
    /// Cells on a space-filling curve: many boxes of similar size.
    Morton,
}

/// Buffers to keep between calls; their content never matters.
#[derive(Clone, Debug, Default)]
pub struct BroadScratch {
    /// Boxes that are tested against all others.
    large: Vec<u32>,
    /// The rest.
    small: Vec<u32>,
    nodes: Vec<bvh::Node>,
    intervals: Vec<morton::Interval>,
    lengths: Vec<f64>,
}

/// Indices (i, j), i < j, of all boxes that overlap or touch, in rising order.
pub fn pairs(boxes: &[Aabb], method: Broad) -> Vec<(u32, u32)> {
    let mut out = Vec::new();
    pairs_into(boxes, method, &mut BroadScratch::default(), &mut out);
    out
}

/// Like [`pairs`], into buffers kept by the caller.
pub fn pairs_into(boxes: &[Aabb], method: Broad, scratch: &mut BroadScratch, out: &mut Vec<(u32, u32)>) {
    out.clear();
    scratch.large.clear();
    scratch.small.clear();
    match method {
        Broad::All => {
            for i in 0..boxes.len() {
                for j in i + 1..boxes.len() {
                    if boxes[i].overlaps(&boxes[j]) {
                        out.push((i as u32, j as u32));
                    }
                }
            }
            return;
        }
        Broad::Bvh => {
            split(boxes, f64::INFINITY, scratch);
            bvh::pairs(boxes, scratch, out);
        }
        Broad::Morton => {
            let limit = morton::size_limit(boxes, &mut scratch.lengths);
            split(boxes, limit, scratch);
            morton::pairs(boxes, scratch, out);
        }
    }
    with_large(boxes, scratch, out);
    out.sort_unstable();
    out.dedup();
}

/// Neither endless nor empty.
fn is_ordinary(b: &Aabb) -> bool {
    b.min.is_finite() && b.max.is_finite() && b.min.cmple(b.max).all()
}

/// Longest edge [m].
fn edge(b: &Aabb) -> f64 {
    (b.max - b.min).max_element()
}

/// Sorts the boxes into large (endless, empty, or longer than `limit`) and small ones.
fn split(boxes: &[Aabb], limit: f64, scratch: &mut BroadScratch) {
    for (i, b) in boxes.iter().enumerate() {
        let list = if is_ordinary(b) && edge(b) <= limit { &mut scratch.small } else { &mut scratch.large };
        list.push(i as u32);
    }
}

fn with_large(boxes: &[Aabb], scratch: &BroadScratch, out: &mut Vec<(u32, u32)>) {
    for &i in &scratch.large {
        for (j, b) in boxes.iter().enumerate() {
            let j = j as u32;
            if i != j && boxes[i as usize].overlaps(b) {
                out.push((i.min(j), i.max(j)));
            }
        }
    }
}
