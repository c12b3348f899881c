//! Binary tree of boxes, built by halving at the median of the longest side.

use super::BroadScratch;
use crate::{Aabb, Vec3};

/// Boxes per leaf: fewer make the tree deeper, more cost tests.
const LEAF: usize = 4;

/// Inner node: children follow it and lie at `skip`; leaf: `count` boxes from `first`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    bounds: Aabb,
    /// Node to go on with when this one is not entered.
    skip: u32,
    first: u32,
    count: u32,
}

pub(super) fn pairs(boxes: &[Aabb], scratch: &mut BroadScratch, out: &mut Vec<(u32, u32)>) {
    let BroadScratch { small, nodes, .. } = scratch;
    nodes.clear();
    if small.is_empty() {
        return;
    }
    build(boxes, small, 0, nodes);
    for &i in small.iter() {
        let b = &boxes[i as usize];
        let mut k = 0;
        while k < nodes.len() {
            let node = &nodes[k];
            if !node.bounds.overlaps(b) {
                k = node.skip as usize;
                continue;
            }
            for &j in &small[node.first as usize..(node.first + node.count) as usize] {
                if i < j && boxes[j as usize].overlaps(b) {
                    out.push((i, j));
                }
            }
            k += 1;
        }
    }
}

fn build(boxes: &[Aabb], who: &mut [u32], first: u32, nodes: &mut Vec<Node>) {
    let mut bounds = Aabb::EMPTY;
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for &i in who.iter() {
        let b = &boxes[i as usize];
        bounds = bounds.union(b);
        (low, high) = (low.min(b.center()), high.max(b.center()));
    }
    let here = nodes.len();
    nodes.push(Node { bounds, skip: 0, first, count: 0 });
    if who.len() <= LEAF {
        nodes[here].count = who.len() as u32;
    } else {
        let side = high - low;
        let axis = if side.x >= side.y && side.x >= side.z {
            0
        } else if side.y >= side.z {
            1
        } else {
            2
        };
        let middle = who.len() / 2;
        who.select_nth_unstable_by(middle, |a, b| {
            let (x, y) = (boxes[*a as usize].center()[axis], boxes[*b as usize].center()[axis]);
            x.total_cmp(&y).then(a.cmp(b))
        });
        let (left, right) = who.split_at_mut(middle);
        build(boxes, left, first, nodes);
        build(boxes, right, first + middle as u32, nodes);
    }
    nodes[here].skip = nodes.len() as u32;
}
