//! Octree cells as intervals on the Morton curve (Elmqvist and others 2015, 5.2, after Lavrov).
//!
//! A box takes the octree level at which it covers at most two cells a side; each of its one to eight cells is an interval of
//! codes. Cells are nested or apart, so after sorting by start every interval that meets this one starts before its end.

use super::{BroadScratch, edge, is_ordinary};
use crate::{Aabb, Vec3};

/// Bits a side: three times 21 fit into 64.
const BITS: u32 = 21;
/// Boxes longer than this many times the median are tested against all others: as cells they would hold everyone [-].
const LARGE: f64 = 16.0;
/// But at most this many of them; beyond that large boxes are no exception.
const LARGE_COUNT: usize = 64;

/// Cell of box `id`: codes from `start` to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Interval {
    start: u64,
    /// Complement of the end: longer cells sort first.
    shortness: u64,
    id: u32,
}

/// Longest edge of a box that still counts as small [m].
pub(super) fn size_limit(boxes: &[Aabb], lengths: &mut Vec<f64>) -> f64 {
    lengths.clear();
    lengths.extend(boxes.iter().filter(|b| is_ordinary(b)).map(edge));
    if lengths.is_empty() {
        return f64::INFINITY;
    }
    lengths.sort_unstable_by(f64::total_cmp);
    let count = lengths.len();
    let limit = LARGE * lengths[count / 2];
    let beyond = count - lengths.partition_point(|l| *l <= limit);
    if beyond <= LARGE_COUNT { limit } else { lengths[count - 1 - LARGE_COUNT] }
}

pub(super) fn pairs(boxes: &[Aabb], scratch: &mut BroadScratch, out: &mut Vec<(u32, u32)>) {
    let BroadScratch { small, intervals, .. } = scratch;
    intervals.clear();
    let all = small.iter().fold(Aabb::EMPTY, |a, &i| a.union(&boxes[i as usize]));
    let side = (all.max - all.min).max_element();
    let cells = (1u64 << BITS) as f64;
    let scale = if side > 0.0 && side.is_finite() { cells / side } else { 0.0 };
    // Casts from f64 saturate: nothing falls outside.
    let index = |p: Vec3| ((p - all.min) * scale).to_array().map(|x| (x as u64).min((1 << BITS) - 1));
    for &i in small.iter() {
        let (low, high) = (index(boxes[i as usize].min), index(boxes[i as usize].max));
        let mut level = 0;
        while (0..3).any(|k| (high[k] >> level) - (low[k] >> level) > 1) {
            level += 1;
        }
        for x in low[0] >> level..=high[0] >> level {
            for y in low[1] >> level..=high[1] >> level {
                for z in low[2] >> level..=high[2] >> level {
                    let start = (spread(x) | spread(y) << 1 | spread(z) << 2) << (3 * level);
                    let end = start + ((1u64 << (3 * level)) - 1);
                    intervals.push(Interval { start, shortness: !end, id: i });
                }
            }
        }
    }
    intervals.sort_unstable();
    for (k, a) in intervals.iter().enumerate() {
        for b in &intervals[k + 1..] {
            if b.start > !a.shortness {
                break;
            }
            if a.id != b.id && boxes[a.id as usize].overlaps(&boxes[b.id as usize]) {
                out.push((a.id.min(b.id), a.id.max(b.id)));
            }
        }
    }
}

/// Puts two zero bits between the 21 lowest bits.
fn spread(x: u64) -> u64 {
    let mut x = x & 0x1f_ffff;
    x = (x | x << 32) & 0x001f_0000_0000_ffff;
    x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}
