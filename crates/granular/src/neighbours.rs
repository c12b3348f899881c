//! Who may touch whom: grains sorted by Morton code, cut into chunks, each chunk with the pairs it needs.
//!
//! Grains are sorted by the Morton code of their cell (Elmqvist and others 2015, section 5.2), so that neighbours in space are neighbours in memory.
//! The sorted array is cut into chunks of fixed length that do not depend on the number of threads. A pair inside a chunk
//! is computed once and acts on both; a pair across two chunks is computed by both, each time from the lower grain to the upper
//! one, and each chunk keeps its own half. So chunks share nothing while forces are summed, and the bits are the same for any
//! number of threads.
//!
//! Pairs are listed up to a skin beyond touch and kept until a grain may have crossed it. History is kept per
//! pair that may touch soon (`crate::chunk`) and carried over when lists are made anew; a pair that parts forgets.

use crate::chunk::{Chunk, Lists, TOUCH};
use crate::clump::NONE;
use crate::grains::Six;
use crate::law::full::{Extra, NO_EXTRA, pull_range};
use crate::law::{V3, V4, each};
use crate::wall::WallHistory;
use crate::{GrainError, Grains, Settings, Wall};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use std::ops::Range;
use tippe_geometry::Vec3;

/// Least and largest number of grains of a chunk: pairs across chunks are computed twice, so chunks should be large.
const CHUNK: (usize, usize) = (2500, 8192);
/// Steps for which lists should last.
const STEPS_PER_LIST: f64 = 150.0;
/// Least and largest skin found from the speed, in radii.
const SKIN_RADII: (f64, f64) = (0.1, 0.6);
/// Depth above which the law of forces does not hold, in smaller radii.
pub(crate) const DEEPEST: f64 = 0.5;
/// Bits of a cell coordinate.
pub(crate) const CELL_BITS: u32 = 21;

/// Length of chunks for so many grains: sixteen of them where that many are large enough, for threads to share.
pub(crate) fn chunk_length(grains: usize) -> usize {
    grains.div_ceil(16).clamp(CHUNK.0, CHUNK.1)
}

/// Spreads 21 bits so that two zeros follow each.
fn spread(x: u32) -> u64 {
    let mut x = u64::from(x);
    x = (x | x << 32) & 0x001f_0000_0000_ffff;
    x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

/// Steps from a cell to itself and the cells around it.
pub(crate) const STEPS: [[i32; 3]; 27] = {
    let mut steps = [[0; 3]; 27];
    let mut k = 0;
    while k < 27 {
        steps[k as usize] = [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1];
        k += 1;
    }
    steps
};

/// Morton code of a cell.
fn morton(c: [u32; 3]) -> u64 {
    spread(c[0]) | spread(c[1]) << 1 | spread(c[2]) << 2
}

/// Cells of one size over the grains; periodic axes have a whole number of them.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    low: V3,
    inv: V3,
    count: [u32; 3],
    periodic: [bool; 3],
}

impl Grid {
    /// Cells of at least the size `cutoff` [m] over these grains.
    pub fn new(position: &[V4], cutoff: f64, settings: &Settings) -> Grid {
        let mut low = [f64::MAX; 3];
        let mut high = [f64::MIN; 3];
        for p in position {
            for i in 0..3 {
                low[i] = low[i].min(p[i]);
                high[i] = high[i].max(p[i]);
            }
        }
        let mut grid = Grid { low, inv: [0.0; 3], count: [1; 3], periodic: [false; 3] };
        for i in 0..3 {
            let most = f64::from((1u32 << CELL_BITS) - 1);
            match &settings.domain {
                Some(d) if d.periodic[i] => {
                    grid.periodic[i] = true;
                    grid.low[i] = d.low[i];
                    let size = d.high[i] - d.low[i];
                    let n = (size / cutoff).floor().clamp(1.0, most);
                    grid.count[i] = n as u32;
                    grid.inv[i] = n / size;
                }
                _ => {
                    let n = ((high[i] - low[i]) / cutoff).floor().clamp(0.0, most - 1.0) + 1.0;
                    grid.count[i] = n as u32;
                    grid.inv[i] = (1.0 / cutoff).min(most / (high[i] - low[i]).max(cutoff));
                }
            }
        }
        grid
    }

    pub fn cell(&self, p: &V4) -> [u32; 3] {
        [0, 1, 2].map(|i| {
            let (x, n) = ((p[i] - self.low[i]) * self.inv[i], f64::from(self.count[i]));
            // spheres of clumps may stick out of a periodic box
            let x = if self.periodic[i] { x - n * (x / n).floor() } else { x };
            x.clamp(0.0, n - 1.0) as u32
        })
    }

    fn row_by_row(&self, c: [u32; 3]) -> usize {
        let [nx, ny, _] = self.count.map(|n| n as usize);
        (c[2] as usize * ny + c[1] as usize) * nx + c[0] as usize
    }

    /// The neighbour of a cell, none beyond the end. With one or two cells along a periodic axis some neighbours are
    /// the same cell: only the first of them counts.
    pub fn neighbour(&self, c: [u32; 3], step: [i32; 3]) -> Option<[u32; 3]> {
        let mut out = c;
        for i in 0..3 {
            let n = self.count[i] as i32;
            let x = c[i] as i32 + step[i];
            out[i] = if (0..n).contains(&x) {
                x as u32
            } else if self.periodic[i] && n > 2 {
                x.rem_euclid(n) as u32
            } else if self.periodic[i] && n == 2 && step[i] == 1 && c[i] == 1 {
                0
            } else {
                return None;
            };
        }
        Some(out)
    }
}

/// Codes with the places they came from, sorted by code; equal codes keep their order. Least digit first, 11 bits a pass.
fn radix_sort(keys: &mut Vec<(u64, u32)>, bits: u32) {
    let mut other = vec![(0u64, 0u32); keys.len()];
    for shift in (0..bits).step_by(11) {
        let digit = |key: u64| (key >> shift & 0x7ff) as usize;
        let mut count = [0usize; 2048];
        keys.iter().for_each(|(key, _)| count[digit(*key)] += 1);
        let mut sum = 0;
        for c in &mut count {
            sum += std::mem::replace(c, sum);
        }
        for &(key, place) in keys.iter() {
            let slot = &mut count[digit(key)];
            other[*slot] = (key, place);
            *slot += 1;
        }
        std::mem::swap(keys, &mut other);
    }
}

/// Occupied cells in the order of their codes.
struct Cells {
    code: Vec<u64>,
    /// First grain of each cell, and the number of grains at the end.
    start: Vec<u32>,
    /// Place of every cell of the grid, row by row, where the grid has few cells for its grains; empty where it has many.
    map: Vec<u32>,
}

impl Cells {
    fn new(keys: &[(u64, u32)], position: &[V4], grid: &Grid) -> Cells {
        let mut code = Vec::new();
        let mut start = Vec::new();
        for (k, (key, _)) in keys.iter().enumerate() {
            if code.last() != Some(key) {
                code.push(*key);
                start.push(k as u32);
            }
        }
        let mut map = Vec::new();
        let all = grid.count.iter().fold(1usize, |n, c| n.saturating_mul(*c as usize));
        if all <= 4 * keys.len() {
            map.resize(all, u32::MAX);
            for (k, first) in start.iter().enumerate() {
                map[grid.row_by_row(grid.cell(&position[*first as usize]))] = k as u32;
            }
        }
        start.push(keys.len() as u32);
        Cells { code, start, map }
    }

    /// Place of a cell, if it is occupied.
    fn find(&self, grid: &Grid, cell: [u32; 3]) -> Option<usize> {
        if self.map.is_empty() {
            return self.code.binary_search(&morton(cell)).ok();
        }
        let k = self.map[grid.row_by_row(cell)];
        (k != u32::MAX).then_some(k as usize)
    }
}

/// Contacts of the old lists, by the old place of their second grain; and those with walls.
struct Kept {
    row: Vec<u32>,
    first: Vec<u32>,
    memory: Vec<V4>,
    extra: Vec<Extra>,
    /// Which old places are polyhedra; empty where none is.
    solid: Vec<bool>,
    /// Old place, wall, contact; sorted.
    walls: Vec<(u32, u32, (WallHistory, Extra))>,
}

impl Kept {
    fn take(grains: &mut Grains) -> Kept {
        let mut kept = Kept { row: vec![], first: vec![], memory: vec![], extra: vec![], solid: vec![], walls: vec![] };
        if grains.has_solids() {
            kept.solid.extend((0..grains.len()).map(|k| grains.solid(k).is_some()));
        }
        let touching = |p: &&[u32; 2]| p[1] & TOUCH != 0;
        let marked = grains.chunks.iter().map(|c| c.own_pairs().iter().filter(touching).count()).sum();
        kept.row.reserve_exact(grains.len());
        kept.first.reserve_exact(marked);
        kept.memory.reserve_exact(marked);
        for chunk in std::mem::take(&mut grains.chunks) {
            for (s, pair) in chunk.own_pairs().iter().enumerate().filter(|(_, p)| touching(p)) {
                kept.row.resize((pair[1] & !TOUCH) as usize + 1, kept.first.len() as u32);
                kept.first.push(pair[0]);
                kept.memory.push(chunk.memory.get(s).copied().unwrap_or_default());
                if !chunk.extra.is_empty() {
                    kept.extra.push(chunk.extra[s]);
                }
            }
            for pair in &chunk.walls {
                for k in pair.slots().filter(|k| chunk.wall_history[*k].touches()) {
                    let extra = chunk.wall_extra.get(k).copied().unwrap_or(NO_EXTRA);
                    kept.walls.push((pair.grain, pair.wall, (chunk.wall_history[k], extra)));
                }
            }
        }
        kept.row.resize(grains.len() + 1, kept.first.len() as u32);
        kept
    }

    /// Memory of the pair of old places `i` and `j`, as seen with `i` first.
    fn find(&self, i: u32, j: u32) -> Option<(V4, Extra)> {
        let (a, b) = (i.min(j), i.max(j));
        let row = self.row[b as usize] as usize..self.row[b as usize + 1] as usize;
        let k = row.start + self.first[row].iter().position(|s| *s == a)?;
        let mut memory = self.memory[k];
        let mut extra = self.extra.get(k).copied().unwrap_or_default();
        if i > j {
            memory[..3].iter_mut().for_each(|x| *x = -*x);
            extra[..9].iter_mut().for_each(|x| *x = -*x);
            // the place of a contact of polyhedra is the same from both sides
            if [i, j].iter().any(|k| self.solid.get(*k as usize).is_some_and(|solid| *solid)) {
                extra[3..6].iter_mut().for_each(|x| *x = -*x);
            }
        }
        Some((memory, extra))
    }

    /// Gives the pairs of a new chunk the memory they had; `order` has the old place of each grain.
    fn hand_on(&self, chunk: &mut Chunk, order: &[u32]) {
        if self.first.is_empty() {
            return;
        }
        for (s, [first, mark]) in chunk.pairs.iter_mut().enumerate() {
            if let Some((memory, extra)) = self.find(order[*first as usize], order[*mark as usize]) {
                *mark |= TOUCH;
                if let Some(slot) = chunk.memory.get_mut(s) {
                    *slot = memory;
                }
                if let Some(slot) = chunk.extra.get_mut(s) {
                    *slot = extra;
                }
            }
        }
    }

    fn walls_of(&self, place: u32, wall: u32) -> impl Iterator<Item = &(WallHistory, Extra)> {
        let first = self.walls.partition_point(|w| (w.0, w.1) < (place, wall));
        self.walls[first..].iter().take_while(move |w| (w.0, w.1) == (place, wall)).map(|w| &w.2)
    }
}

/// Shortest way from `a` to `b` on the periodic axes.
#[inline(always)]
pub(crate) fn nearest_image(d: f64, size: f64, inv_size: f64) -> f64 {
    // round half away from zero is the same on both sides of a pair
    d - size * (d * inv_size).round()
}

impl Grains {
    /// Sorts the grains and lists their pairs anew. History is carried over. A pair deeper than `deepest` smaller radii is
    /// an error.
    pub(crate) fn rebuild(
        &mut self,
        settings: &Settings,
        walls: &[Wall],
        lists: Lists,
        deepest: f64,
    ) -> Result<(), GrainError> {
        let sizes = PeriodicSizes::new(settings);
        self.wrap(settings);
        let (mut r_max, mut v_max) = (0.0f64, 0.0f64);
        for (p, m) in self.position.iter().zip(&self.motion) {
            let v = m.linear;
            r_max = r_max.max(p[3]);
            v_max = v_max.max(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        }
        let auto = 2.0 * v_max.sqrt() * settings.step * STEPS_PER_LIST;
        self.skin = settings.skin.unwrap_or(auto.clamp(SKIN_RADII.0 * r_max, SKIN_RADII.1 * r_max));
        let pull = pull_range(settings, r_max);
        let reach = self.skin + pull;
        let grid = Grid::new(&self.position, 2.0 * r_max + reach, settings);
        let mut kept = Kept::take(self);
        kept.walls.sort_by_key(|w| (w.0, w.1));
        let (order, cells) = self.sort_into_cells(&grid, &sizes, settings.gravity);
        let length = chunk_length(self.len());
        let job = Job { grains: self, grid: &grid, cells: &cells, sizes: &sizes, lists, reach, deepest };
        let mut chunks = job.chunks(length)?;
        drop(cells);
        share_pairs(&mut chunks, length);
        // those that may touch soon, and history
        self.top_speeds = self
            .motion
            .chunks(length)
            .map(|chunk| chunk.iter().map(Six::speed_squared).fold(0.0, f64::max).sqrt())
            .collect();
        chunks.par_iter_mut().with_max_len(1).enumerate().for_each(|(c, chunk)| {
            chunk.listed.shrink_to_fit();
            if lists != Lists::Positions {
                chunk.find_around(c, length);
                chunk.set_pace(c, &self.top_speeds, settings.step);
            }
            chunk.choose(&self.position, &sizes, self.skin, pull);
            kept.hand_on(chunk, &order);
        });
        self.chunks = chunks;
        self.list_walls(walls, reach, lists == Lists::Full, |grain, wall| {
            kept.walls_of(order[grain as usize], wall).copied().collect::<Vec<(WallHistory, Extra)>>()
        });
        self.travel = 0.0;
        self.wall_travel = 0.0;
        self.rebuilds += 1;
        Ok(())
    }

    /// Sorts the grains by the codes of their cells: the place each had before, and the cells. Grains outside of the domain fall out here.
    fn sort_into_cells(&mut self, grid: &Grid, sizes: &PeriodicSizes, gravity: Vec3) -> (Vec<u32>, Cells) {
        let mut gone = vec![false; self.clumps.len()];
        for (k, clump) in self.clump.iter().enumerate().filter(|(_, c)| **c != NONE) {
            gone[*clump as usize] |= !sizes.holds(&self.position[k]);
        }
        let mut keys: Vec<(u64, u32)> = Vec::with_capacity(self.len());
        for (k, p) in self.position.iter().enumerate() {
            let clump = self.clump.get(k).copied().unwrap_or(NONE);
            let stays = if clump == NONE { sizes.holds(p) } else { !gone[clump as usize] };
            if stays {
                keys.push((morton(grid.cell(p)), k as u32));
            } else if clump == NONE && self.motion[k].linear[3] > 0.0 {
                self.books.put_in -= self.energy_of(k, gravity);
            }
        }
        for index in (0..gone.len()).filter(|c| gone[*c]) {
            if !self.clumps[index].ids.is_empty() {
                self.dismiss(index, gravity);
            }
        }
        self.lost += (self.len() - keys.len()) as u64;
        let bits = 3 * (32 - grid.count.iter().max().copied().unwrap_or(1).leading_zeros());
        radix_sort(&mut keys, bits);
        let order: Vec<u32> = keys.iter().map(|k| k.1).collect();
        self.reorder(&order);
        let cells = Cells::new(&keys, &self.position, grid);
        (order, cells)
    }

    /// Keeps the grains at the places in `order` only, in that order, and the pairs among them.
    pub(crate) fn drop_all_but(&mut self, order: &[u32]) {
        let mut place = vec![u32::MAX; self.len()];
        for (new, old) in order.iter().enumerate() {
            place[*old as usize] = new as u32;
        }
        let held = self.books.elastic;
        for chunk in &mut self.chunks {
            let Chunk { listed, pairs, own, memory, extra, walls, .. } = chunk;
            listed.clear();
            let mut kept = 0;
            let mut kept_own = 0;
            for k in 0..pairs.len() {
                let [i, j] = [pairs[k][0], pairs[k][1] & !TOUCH].map(|i| place[i as usize]);
                if i != u32::MAX && j != u32::MAX {
                    pairs[kept] = [i, j | pairs[k][1] & TOUCH];
                    if !memory.is_empty() {
                        memory[kept] = memory[k];
                    }
                    if !extra.is_empty() {
                        extra[kept] = extra[k];
                    }
                    kept += 1;
                    kept_own += u32::from((k as u32) < *own);
                }
            }
            pairs.truncate(kept);
            memory.truncate(kept);
            extra.truncate(kept);
            *own = kept_own;
            walls.retain_mut(|pair| {
                pair.grain = place[pair.grain as usize];
                pair.grain != u32::MAX
            });
        }
        self.reorder(order);
        self.books.elastic = held;
        self.travel = f64::MAX;
        self.fresh = false;
    }

    /// Puts grains that left through a periodic side back in on the other, clumps as a whole; against gravity that costs
    /// energy.
    fn wrap(&mut self, settings: &Settings) {
        let Some(d) = &settings.domain else { return };
        let periodic = Vec3::from_array(d.periodic.map(f64::from));
        let size = d.high - d.low;
        let shift = |x: Vec3| ((x - d.low) / size).floor() * size * periodic;
        let mut shifts = Vec::with_capacity(self.clumps.len());
        for clump in &mut self.clumps {
            let by = shift(clump.X_wc.position);
            clump.X_wc.position -= by;
            self.books.put_in += clump.mass * settings.gravity.dot(by);
            shifts.push(by);
        }
        for (k, p) in self.position.iter_mut().enumerate() {
            let clump = self.clump.get(k).copied().unwrap_or(NONE);
            let by = if clump == NONE { shift(Vec3::new(p[0], p[1], p[2])) } else { shifts[clump as usize] };
            if by != Vec3::ZERO {
                *p = [p[0] - by.x, p[1] - by.y, p[2] - by.z, p[3]];
                if clump == NONE && self.motion[k].linear[3] > 0.0 {
                    self.books.put_in += settings.gravity.dot(by) / self.motion[k].linear[3];
                }
            }
        }
    }

    /// Array `k` of the new order is array `order[k]` of the old one. Loads are stale here: their array lends its space.
    fn reorder(&mut self, order: &[u32]) {
        let n = order.len();
        self.load.resize(n, Six::default());
        self.load.par_iter_mut().zip(order).for_each(|(to, from)| *to = self.motion[*from as usize]);
        std::mem::swap(&mut self.motion, &mut self.load);
        self.load.truncate(n);
        self.next_position.resize(n, [0.0; 4]);
        self.next_position.par_iter_mut().zip(order).for_each(|(to, from)| *to = self.position[*from as usize]);
        std::mem::swap(&mut self.position, &mut self.next_position);
        if self.listed_at.len() == self.class.len() {
            self.listed_at = order.iter().map(|k| self.listed_at[*k as usize]).collect();
        }
        self.class = order.iter().map(|k| self.class[*k as usize]).collect();
        self.id = order.iter().map(|k| self.id[*k as usize]).collect();
        if !self.clump.is_empty() {
            self.clump = order.iter().map(|k| self.clump[*k as usize]).collect();
            self.places.resize(self.next_id as usize, u32::MAX);
            for (place, id) in self.id.iter().enumerate() {
                self.places[*id as usize] = place as u32;
            }
        }
    }
}

/// Sizes of the periodic axes, zero along the others; and the bounds along the others.
pub(crate) struct PeriodicSizes {
    pub size: V3,
    pub inv: V3,
    pub any: bool,
    bounds: Option<(Vec3, Vec3, [bool; 3])>,
}

impl PeriodicSizes {
    pub fn new(settings: &Settings) -> PeriodicSizes {
        let mut sizes = PeriodicSizes { size: [0.0; 3], inv: [0.0; 3], any: false, bounds: None };
        if let Some(d) = &settings.domain {
            sizes.bounds = Some((d.low, d.high, d.periodic));
            for i in (0..3).filter(|i| d.periodic[*i]) {
                sizes.size[i] = d.high[i] - d.low[i];
                sizes.inv[i] = 1.0 / sizes.size[i];
                sizes.any = true;
            }
        }
        sizes
    }

    /// The shortest of all ways that are the same as this one [m].
    #[inline(always)]
    pub fn shortest(&self, way: V3) -> V3 {
        if self.any { [0, 1, 2].map(|c| nearest_image(way[c], self.size[c], self.inv[c])) } else { way }
    }

    /// The place inside the bounds that is the same as this one, along periodic axes: grains go home when pairs are listed [m].
    pub fn home(&self, p: Vec3) -> Vec3 {
        let Some((low, ..)) = self.bounds.filter(|_| self.any) else { return p };
        Vec3::from_array([0, 1, 2].map(|c| p[c] - self.size[c] * ((p[c] - low[c]) * self.inv[c]).floor()))
    }

    /// Whether a grain is within the bounds.
    pub fn holds(&self, p: &V4) -> bool {
        self.bounds
            .is_none_or(|(low, high, periodic)| (0..3).all(|i| periodic[i] || (low[i]..=high[i]).contains(&p[i])))
    }
}

/// Gives the chunk of the first grain the other half of pairs across chunks.
fn share_pairs(chunks: &mut [Chunk], length: usize) {
    for c in 0..chunks.len() {
        let start = (c * length) as u32;
        let (before, after) = chunks.split_at_mut(c);
        for pair in after[0].listed_own().iter().filter(|p| p[0] < start) {
            before[pair[0] as usize / length].listed.push(*pair);
        }
    }
}

/// What is needed to list pairs.
struct Job<'a> {
    grains: &'a Grains,
    grid: &'a Grid,
    cells: &'a Cells,
    sizes: &'a PeriodicSizes,
    lists: Lists,
    reach: f64,
    deepest: f64,
}

impl Job<'_> {
    /// All chunks of this length, each with the pairs whose second grain it holds.
    fn chunks(&self, length: usize) -> Result<Vec<Chunk>, GrainError> {
        let count = self.grains.len().div_ceil(length);
        let built: Vec<Result<Chunk, GrainError>> =
            (0..count).into_par_iter().with_max_len(1).map(|c| self.rows(c * length, length)).collect();
        built.into_iter().collect()
    }

    /// The chunk from `start` on: pairs whose second grain it holds.
    fn rows(&self, start: usize, length: usize) -> Result<Chunk, GrainError> {
        let position = &self.grains.position;
        let end = (start + length).min(position.len());
        let mut chunk = Chunk::new(start, end, self.lists);
        chunk.listed.reserve(5 * (end - start));
        let mut cell = self.cells.start.partition_point(|s| *s as usize <= start) - 1;
        let mut near: Vec<(u32, u32)> = Vec::new();
        let mut others = Others::default();
        let mut listed = usize::MAX;
        let mut before = 0;
        for i in start..end {
            while self.cells.start[cell + 1] as usize <= i {
                cell += 1;
            }
            let first = self.cells.start[cell];
            if listed != cell {
                listed = cell;
                self.earlier_cells(cell, &mut near);
                before = others.fill(&near, first..self.cells.start[cell + 1], position);
            }
            self.pairs_of(i, before + i - first as usize, &mut others, &mut chunk.listed)?;
        }
        chunk.listed_own = chunk.listed.len() as u32;
        Ok(chunk)
    }

    /// Grains of the neighbour cells that come earlier in the order.
    fn earlier_cells(&self, cell: usize, near: &mut Vec<(u32, u32)>) {
        near.clear();
        let c = self.grid.cell(&self.grains.position[self.cells.start[cell] as usize]);
        for other in STEPS.iter().filter_map(|step| self.grid.neighbour(c, *step)) {
            if let Some(k) = self.cells.find(self.grid, other)
                && k < cell
            {
                near.push((self.cells.start[k], self.cells.start[k + 1]));
            }
        }
        near.sort_unstable();
        // cells that follow each other are one run
        near.dedup_by(|later, earlier| {
            let follows = later.0 <= earlier.1;
            if follows {
                earlier.1 = earlier.1.max(later.1);
            }
            follows
        });
    }

    /// Depth of a pair and the most it may be [m]: of balls as given, of polyhedra that of what they share.
    fn overlap(&self, [j, i]: [usize; 2], depth: f64, limit: f64) -> (f64, f64) {
        let (p, q) = (self.grains.position[j], self.grains.position[i]);
        let way = Vec3::from_array(each(|c| q[c] - p[c]));
        let shift = Vec3::from_array(self.sizes.shortest(way.to_array())) - way;
        self.grains.solid_depth([j, i], shift).map_or((depth, limit), |[depth, size]| (depth, self.deepest * size))
    }

    fn same_clump(&self, i: usize, j: usize) -> bool {
        let clump = &self.grains.clump;
        !clump.is_empty() && clump[i] != NONE && clump[i] == clump[j]
    }

    /// Pairs of grain `i` with the first `count` of the others. Most are too far apart: distances are tested in lanes, and only
    /// those near enough are looked at.
    fn pairs_of(
        &self,
        i: usize,
        count: usize,
        others: &mut Others,
        pairs: &mut Vec<[u32; 2]>,
    ) -> Result<(), GrainError> {
        let g = self.grains;
        let p = g.position[i];
        let near = Arch::new().dispatch(Distances { p, count, others, sizes: self.sizes, reach: self.reach });
        for &k in &others.near[..near] {
            let j = others.who[k as usize] as usize;
            if self.same_clump(i, j) || (g.motion[i].linear[3] == 0.0 && g.motion[j].linear[3] == 0.0) {
                continue;
            }
            let (dd, r) = (others.dd[k as usize], g.position[j][3]);
            let (sum, limit) = (p[3] + r, self.deepest * p[3].min(r));
            if sum * sum > dd && sum - dd.sqrt() > limit {
                let (depth, limit) = self.overlap([j, i], sum - dd.sqrt(), limit);
                if depth <= limit {
                    pairs.push([j as u32, i as u32]);
                    continue;
                }
                return Err(GrainError::Overlap { id1: g.id[j], id2: g.id[i], depth, limit });
            }
            pairs.push([j as u32, i as u32]);
        }
        Ok(())
    }
}

/// Grains that those of one cell may pair with, and the cell's own behind them, one array for each number.
#[derive(Default)]
struct Others {
    who: Vec<u32>,
    x: [Vec<f64>; 3],
    r: Vec<f64>,
    /// Squares of their distances from the grain at work [m^2], and which of them are near.
    dd: Vec<f64>,
    near: Vec<u32>,
}

impl Others {
    /// Fills it and returns the number of those before the cell's own.
    fn fill(&mut self, near: &[(u32, u32)], own: Range<u32>, position: &[V4]) -> usize {
        self.who.clear();
        near.iter().for_each(|run| self.who.extend(run.0..run.1));
        let before = self.who.len();
        self.who.extend(own);
        let n = self.who.len();
        self.x.iter_mut().chain([&mut self.r, &mut self.dd]).for_each(|a| a.resize(n, 0.0));
        self.near.resize(n, 0);
        let [x, y, z] = &mut self.x;
        let to = x.iter_mut().zip(y).zip(z).zip(&mut self.r);
        for ((((x, y), z), r), who) in to.zip(&self.who) {
            [*x, *y, *z, *r] = position[*who as usize];
        }
        before
    }
}

/// Squares of the distances of the first `count` others from `p`; gives the number of those near.
struct Distances<'a> {
    p: V4,
    count: usize,
    others: &'a mut Others,
    sizes: &'a PeriodicSizes,
    reach: f64,
}

impl WithSimd for Distances<'_> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        let Distances { p, count, others: Others { x, r, dd, near, .. }, sizes, reach } = self;
        let [x, y, z] = x;
        let (x, y, z, r) = (&x[..count], &y[..count], &z[..count], &r[..count]);
        let (dd, near) = (&mut dd[..count], &mut near[..count]);
        for k in 0..count {
            let mut d = [x[k] - p[0], y[k] - p[1], z[k] - p[2]];
            if sizes.any {
                d = [0, 1, 2].map(|i| nearest_image(d[i], sizes.size[i], sizes.inv[i]));
            }
            dd[k] = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        }
        let mut found = 0;
        for k in 0..count {
            let far = p[3] + r[k] + reach;
            near[found] = k as u32;
            found += usize::from(dd[k] < far * far);
        }
        found
    }
}
