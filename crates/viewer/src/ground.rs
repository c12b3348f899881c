//! The ground of a live run as bytes, little endian: the number of the last change, side of a cell, lower corner x and y (f64), then of each
//! tile that changed since the page asked last (f32): its first cell along x and y, points along x and y, heights of 17 by 17 points, and
//! how densely it lies there, from 0 to 1.

use std::collections::{BTreeMap, BTreeSet};
use tippe::ground::{Ground, TILE};

/// Points along a side of a tile: its cells, and the first of the next tile.
const POINTS: usize = TILE + 1;
/// Tiles that nobody has touched are shown too where the ground has no more than this.
const ALL: usize = 1024;

/// What pages have been, or are to be, sent.
#[derive(Default)]
pub(crate) struct Terrain {
    version: u64,
    head: [f64; 3],
    /// Changes of each tile that were seen.
    seen: BTreeMap<usize, u64>,
    /// By tile: the number of its last change, and its numbers.
    tiles: BTreeMap<usize, (u64, Vec<f32>)>,
}

impl Terrain {
    /// Looks for what has changed.
    pub fn look(&mut self, ground: &Ground) {
        let [across, along] = ground.tile_counts();
        let mut changed = BTreeSet::new();
        if self.version == 0 {
            self.head = [ground.cell, ground.low[0], ground.low[1]];
            if across * along <= ALL {
                changed.extend(0..across * along);
            }
        }
        for (number, tile) in ground.tiles() {
            if self.seen.insert(number, tile.changes) == Some(tile.changes) {
                continue;
            }
            changed.insert(number);
            // tiles on the left and below show its first cells
            for (dx, dy) in [(1, 0), (0, 1), (1, 1)] {
                if number % across >= dx && number / across >= dy {
                    changed.insert(number - dx - dy * across);
                }
            }
        }
        if changed.is_empty() {
            return;
        }
        self.version += 1;
        for number in changed {
            self.tiles.insert(number, (self.version, numbers(ground, number)));
        }
    }

    /// What changed after the change of this number.
    pub fn since(&self, version: u64) -> Vec<u8> {
        let mut bytes = (self.version as f64).to_le_bytes().to_vec();
        self.head.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        for (_, numbers) in self.tiles.values().filter(|(own, _)| *own > version) {
            numbers.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        }
        bytes
    }
}

/// The numbers of a tile; points beyond the ground repeat the last ones.
fn numbers(ground: &Ground, number: usize) -> Vec<f32> {
    let corner = ground.corner(number);
    let cells = [0, 1].map(|k| POINTS.min(ground.counts[k] - corner[k]));
    let mut out = vec![corner[0] as f32, corner[1] as f32, cells[0] as f32, cells[1] as f32];
    let at = |k: usize| [k % POINTS, k / POINTS];
    let place = |k: usize| [0, 1].map(|a| (corner[a] + at(k)[a]).min(ground.counts[a] - 1));
    out.extend((0..POINTS * POINTS).map(|k| ground.height(place(k)) as f32));
    out.extend((0..POINTS * POINTS).map(|k| {
        let column = ground.column(place(k));
        let dense = |top: &tippe::ground::Layer| ground.kinds[usize::from(top.kind)].compactness(top.void_ratio);
        column.top().map_or(0.0, dense) as f32
    }));
    out
}
