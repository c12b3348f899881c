//! Lists of the position-based variant, renewed where they are worn.
//!
//! Every pair closer than the skin s beyond touch is listed, judged by y, where each of its grains was when that grain was listed
//! last. A pair that is not listed cannot touch as long as
//!
//!   |x - y| <= s/2   for every grain       (grains.md eq. 26)
//!
//! A grain that has gone farther is worn: it alone is listed anew, where it is. So a few fast grains cost what few grains
//! cost; all are sorted and listed anew only where many are worn at once.

use crate::chunk::{Chunk, Lists, TOUCH};
use crate::law::full::pull_range;
use crate::law::{V4, dot, each};
use crate::neighbours::{CELL_BITS, Grid, PeriodicSizes, STEPS, chunk_length};
use crate::{Cohesion, GrainError, Grains, Settings, Wall};

/// Skin, in largest radii.
const SKIN_RADII: f64 = 0.5;
/// All grains are listed anew where more than one in so many is worn.
const WORN_SHARE: usize = 6;
/// Cells are larger by this than pairs are listed far: rounding does not matter.
const CELL_ROOM: f64 = 1.0 + 1e-9;
/// No grain.
const END: u32 = u32::MAX;

/// Where each grain was when it was listed last, cell by cell, and room to work in. All of it follows from `Grains::listed_at`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Whereabouts {
    /// None where the rest is out of date.
    grid: Option<Grid>,
    /// Cells with the same hash are one row: its first grain, and for every grain the next one.
    head: Vec<u32>,
    next: Vec<u32>,
    /// Cell of each grain.
    code: Vec<u64>,
    /// Grains that are worn, in rising order, and for every grain whether it is.
    worn: Vec<u32>,
    is_worn: Vec<bool>,
    /// Their new pairs; those they had that touched; room for the list of a chunk.
    fresh: Vec<[u32; 2]>,
    touched: Vec<[u32; 2]>,
    merged: Vec<[u32; 2]>,
    /// Triangles near a grain.
    near: Vec<u32>,
    /// Room of a substep: where grains were before it.
    pub before: Vec<V4>,
}

/// Pairs are listed in the order of their second grains.
fn place(pair: &[u32; 2]) -> (u32, u32) {
    (pair[1] & !TOUCH, pair[0])
}

/// Number of a cell.
fn code_of(cell: [u32; 3]) -> u64 {
    u64::from(cell[0]) | u64::from(cell[1]) << CELL_BITS | u64::from(cell[2]) << (2 * CELL_BITS)
}

impl Whereabouts {
    /// Row of a cell (Fibonacci hashing).
    fn row(&self, code: u64) -> usize {
        (code.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - self.head.len().trailing_zeros())) as usize
    }

    /// Puts all grains into cells of this size [m].
    fn fill(&mut self, listed_at: &[V4], size: f64, settings: &Settings) {
        let grid = Grid::new(listed_at, size, settings);
        self.head.clear();
        self.head.resize((2 * listed_at.len()).next_power_of_two().max(2), END);
        self.next.clear();
        self.next.resize(listed_at.len(), END);
        self.code.clear();
        self.code.extend(listed_at.iter().map(|y| code_of(grid.cell(y))));
        for k in 0..listed_at.len() {
            let row = self.row(self.code[k]);
            self.next[k] = std::mem::replace(&mut self.head[row], k as u32);
        }
        self.grid = Some(grid);
    }

    /// Grain `k` is in this cell from now on.
    fn shift(&mut self, k: u32, code: u64) {
        let own = k as usize;
        if self.code[own] == code {
            return;
        }
        let row = self.row(self.code[own]);
        if self.head[row] == k {
            self.head[row] = self.next[own];
        } else {
            let mut before = self.head[row] as usize;
            while self.next[before] != k {
                before = self.next[before] as usize;
            }
            self.next[before] = self.next[own];
        }
        self.code[own] = code;
        let row = self.row(code);
        self.next[own] = std::mem::replace(&mut self.head[row], k);
    }

    /// Finds the pairs that worn grains have up to `reach` beyond touch [m].
    fn find_fresh(&mut self, listed_at: &[V4], sizes: &PeriodicSizes, reach: f64) {
        self.fresh.clear();
        let Some(grid) = &self.grid else { return };
        for &k in &self.worn {
            let p = &listed_at[k as usize];
            let cell = grid.cell(p);
            for step in STEPS {
                let Some(near) = grid.neighbour(cell, step) else { continue };
                let code = code_of(near);
                let mut other = self.head[self.row(code)];
                while other != END {
                    let j = other as usize;
                    // a pair of two worn grains is found by the later one
                    if self.code[j] == code && (other < k || other > k && !self.is_worn[j]) {
                        let q = &listed_at[j];
                        let d = sizes.shortest(each(|c| q[c] - p[c]));
                        let far = p[3] + q[3] + reach;
                        if dot(d, d) < far * far {
                            self.fresh.push([k.min(other), k.max(other)]);
                        }
                    }
                    other = self.next[j];
                }
            }
        }
        self.fresh.sort_unstable_by_key(place);
    }
}

impl Grains {
    /// Sorts all grains and lists all pairs; `before` comes along into the new order.
    pub(crate) fn list_positions(
        &mut self,
        settings: &Settings,
        walls: &[Wall],
        deepest: f64,
        before: &mut Vec<V4>,
    ) -> Result<(), GrainError> {
        let r_max = self.position.iter().map(|p| p[3]).fold(0.0, f64::max);
        // only pairs that stick must know that they touched
        if !sticks(settings) {
            self.chunks.clear();
        }
        let listed = Settings { skin: Some(SKIN_RADII * r_max), ..settings.clone() };
        std::mem::swap(&mut self.listed_at, before);
        let built = self.rebuild(&listed, walls, Lists::Positions, deepest);
        std::mem::swap(&mut self.listed_at, before);
        self.listed_at.clone_from(&self.position);
        self.whereabouts.grid = None;
        built
    }

    /// Grains have moved from `before` and walls as well: lists anew those that are worn, or all.
    pub(crate) fn list_worn(
        &mut self,
        settings: &Settings,
        walls: &[Wall],
        before: &mut Vec<V4>,
    ) -> Result<(), GrainError> {
        let half = 0.5 * self.skin;
        let worn = &mut self.whereabouts.worn;
        worn.clear();
        for (k, (x, y)) in self.position.iter().zip(&self.listed_at).enumerate() {
            let gone = each(|c| x[c] - y[c]);
            if !(dot(gone, gone) <= half * half) {
                worn.push(k as u32);
            }
        }
        // who leaves the world falls out when all are listed
        let sizes = PeriodicSizes::new(settings);
        let left = worn.iter().any(|k| !sizes.holds(&self.position[*k as usize]));
        let cluttered = self.chunks.iter().any(Chunk::is_cluttered);
        if worn.len() * WORN_SHARE > self.position.len() || self.wall_travel > half || cluttered || left {
            return self.list_positions(settings, walls, f64::INFINITY, before);
        }
        if !worn.is_empty() {
            self.renew_worn(settings, &sizes, walls);
        }
        Ok(())
    }

    /// Lists the worn grains anew.
    fn renew_worn(&mut self, settings: &Settings, sizes: &PeriodicSizes, walls: &[Wall]) {
        let r_max = self.position.iter().map(|p| p[3]).fold(0.0, f64::max);
        let reach = self.skin + pull_range(settings, r_max);
        let length = chunk_length(self.len()) as u32;
        let Grains { position, listed_at, whereabouts, chunks, .. } = self;
        let w = &mut **whereabouts;
        if w.grid.is_none() {
            w.fill(listed_at, (2.0 * r_max + reach) * CELL_ROOM, settings);
        }
        w.is_worn.resize(position.len(), false);
        for n in 0..w.worn.len() {
            let k = w.worn[n];
            listed_at[k as usize] = position[k as usize];
            w.is_worn[k as usize] = true;
            if let Some(code) = w.grid.as_ref().map(|grid| code_of(grid.cell(&listed_at[k as usize]))) {
                w.shift(k, code);
            }
        }
        w.find_fresh(listed_at, sizes, reach);

        let Whereabouts { worn, is_worn, fresh, touched, merged, near, .. } = w;
        touched.clear();
        if sticks(settings) {
            let of_worn = |p: &&[u32; 2]| is_worn[p[0] as usize] || is_worn[(p[1] & !TOUCH) as usize];
            let all = chunks.iter().flat_map(Chunk::own_pairs);
            touched.extend(all.filter(|p| p[1] & TOUCH != 0).filter(of_worn));
            for pair in fresh.iter_mut() {
                if touched.binary_search_by_key(&place(pair), place).is_ok() {
                    pair[1] |= TOUCH;
                }
            }
        }
        for chunk in chunks.iter_mut() {
            let (start, end) = (chunk.start, chunk.start + length);
            let cut = |to: u32| fresh.partition_point(|p| place(p).0 < to);
            chunk.replace_pairs(is_worn, &fresh[cut(start)..cut(end)], merged);
            chunk.walls.retain(|pair| !is_worn[pair.grain as usize]);
            let cut = |to: u32| worn.partition_point(|k| *k < to);
            for k in &worn[cut(start)..cut(end)] {
                chunk.list_walls_of(*k, &position[*k as usize], walls, reach, false, near, |_, _| None);
            }
        }
        worn.iter().for_each(|k| is_worn[*k as usize] = false);
    }
}

impl Chunk {
    /// Puts the new pairs of worn grains in the place of the old ones.
    fn replace_pairs(&mut self, is_worn: &[bool], fresh: &[[u32; 2]], merged: &mut Vec<[u32; 2]>) {
        merged.clear();
        let mut fresh = fresh.iter().peekable();
        for pair in &self.pairs {
            if is_worn[pair[0] as usize] || is_worn[(pair[1] & !TOUCH) as usize] {
                continue;
            }
            while let Some(new) = fresh.next_if(|new| place(new) < place(pair)) {
                merged.push(*new);
            }
            merged.push(*pair);
        }
        merged.extend(fresh);
        std::mem::swap(&mut self.pairs, merged);
        self.own = self.pairs.len() as u32;
    }

    /// Whether most triangles and contacts of its lists belong to pairs that are gone.
    fn is_cluttered(&self) -> bool {
        let triangles: usize = self.walls.iter().map(|pair| pair.count as usize).sum();
        let contacts: usize = self.walls.iter().map(|pair| pair.slots as usize).sum();
        self.triangles.len() > 2 * triangles + 1024 || self.wall_history.len() > 2 * contacts + 1024
    }
}

/// Whether any grains stick to each other.
fn sticks(settings: &Settings) -> bool {
    settings.pairs.iter().any(|law| law.cohesion != Cohesion::None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Frame, Grain, Material, PairLaw};
    use std::collections::BTreeSet;
    use tippe_geometry::Vec3;

    /// However grains have been listed, all together or one by one, the lists hold the pairs within the skin, each once, and
    /// the walls.
    #[test]
    fn lists_renewed_in_part_are_whole() {
        let material = Material { density: 2500.0, youngs_modulus: 5e6, poisson_ratio: 0.3 };
        for cohesion in [Cohesion::None, Cohesion::Jkr { work: 1.0 }] {
            let law = PairLaw { restitution: 0.5, friction: 0.3, rolling: Default::default(), cohesion };
            let settings = Settings::uniform(material, law, 1e-5, Vec3::Z * -9.81);
            let mut grains = Grains::new();
            for k in 0..3000 {
                let [x, y, z] = [k % 15, k / 15 % 15, k / 225].map(|i| 0.06 * f64::from(i) + 0.031);
                // one in forty flies
                let velocity = if k % 40 == 0 { Vec3::new(2.0, -1.0, 3.0) } else { Vec3::ZERO };
                grains.insert(&Grain { velocity, ..Grain::at(Vec3::new(x, y, z), 0.03) }, &settings).unwrap();
            }
            let mut walls = [Wall::plane(Vec3::ZERO, Vec3::Z), Wall::plane(Vec3::ZERO, Vec3::X)];
            let frame = Frame { time: 1.0 / 60.0, substeps: 4, stiffness: 1e5 };
            for _ in 0..40 {
                grains.advance_frame(&settings, &mut walls, &frame).unwrap();
                let reach = grains.skin + pull_range(&settings, 0.03);
                let y = &grains.listed_at;
                let near = |i: usize, j: usize| {
                    let d = each(|c| y[i][c] - y[j][c]);
                    dot(d, d) < (0.06 + reach) * (0.06 + reach)
                };
                let wanted: BTreeSet<(u32, u32)> = (0..3000u32)
                    .flat_map(|j| (0..j).map(move |i| (j, i)))
                    .filter(|(j, i)| near(*i as usize, *j as usize))
                    .collect();
                let listed: Vec<(u32, u32)> = grains.chunks.iter().flat_map(|c| c.own_pairs()).map(place).collect();
                assert!(listed.iter().eq(&wanted), "{} listed, {} wanted", listed.len(), wanted.len());
                for (k, y) in y.iter().enumerate() {
                    let held = grains.chunks.iter().flat_map(|c| &c.walls).filter(|w| w.grain as usize == k);
                    let near = [y[2], y[0]].iter().filter(|gap| **gap < 0.03 + reach).count();
                    assert_eq!(held.count(), near, "{y:?}");
                }
            }
            assert!(grains.rebuilds < 100, "{}", grains.rebuilds);
        }
    }
}
