//! A run of grains with the pairs it needs, in two lists: those closer than the skin when lists were made, and of them those that
//! may touch soon. Only the latter are looked at in every step and have a memory.
//!
//! Two grains come closer in a step by no more than the sum of their speeds times the step; `pace` bounds it by the largest
//! speeds of this chunk and of those around it. A pair left out at a gap of at least `margin` cannot touch before the paces
//! since then sum up to `margin`: then the chunk chooses again. So a fast grain makes its own surroundings work, not all.

use crate::law::full::{Extra, NO_EXTRA};
use crate::law::{V4, each};
use crate::neighbours::{PeriodicSizes, nearest_image};
use crate::wall::{WallHistory, WallPair};
use pulp::{Arch, Simd, WithSimd};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;

/// Marks a pair that touches.
pub(crate) const TOUCH: u32 = 1 << 31;
/// Steps for which a choice of pairs should last.
const STEPS_PER_CHOICE: f64 = 16.0;
/// Least margin, in skins.
const MARGIN_SKINS: f64 = 0.01;

/// What is kept of pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) enum Lists {
    /// Those that may touch soon, with the memory of Hertz, Mindlin and Coulomb.
    #[default]
    Plain,
    /// The same with the memory of the whole law.
    Full,
    /// All within the skin whose second grain is in the chunk, without memory: positions are corrected.
    Positions,
}

/// A run of grains with its pairs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Chunk {
    /// First grain.
    pub start: u32,
    /// Number of grains.
    pub len: u32,
    /// What is kept of its pairs.
    pub lists: Lists,
    /// First and second grain of the pairs closer than the skin: pairs whose second grain is in this chunk in its order, then pairs
    /// whose second grain is in a later one. The first grain comes earlier in the arrays: it has just been in the cache, and the
    /// second ones are fetched in a row. Empty where `Lists::Positions` are kept.
    pub listed: Vec<[u32; 2]>,
    /// Number of the former.
    pub listed_own: u32,
    /// Those of them that may touch soon, in the same order; the second grain has the mark.
    pub pairs: Vec<[u32; 2]>,
    /// Number of those whose second grain is in this chunk.
    pub own: u32,
    /// For each of them the spring force on its second grain [N] and the patch radius it belongs to [m].
    pub memory: Vec<V4>,
    /// More memory where the law needs it: see `crate::law::full`.
    pub extra: Vec<Extra>,
    /// Other chunks that hold grains of its pairs.
    around: Vec<u32>,
    /// Bound on how much closer two grains come in this step [m].
    pace: f64,
    /// Gap up to which pairs were chosen [m], and the sum of paces since.
    margin: f64,
    since_choice: f64,
    /// Sum of paces since lists were made [m].
    pub since_listing: f64,
    /// Grains of this chunk near walls.
    pub walls: Vec<WallPair>,
    /// Triangles of those pairs.
    pub triangles: Vec<u32>,
    /// Contacts of those pairs.
    pub wall_history: Vec<WallHistory>,
    /// More memory of those contacts where the law needs it.
    pub wall_extra: Vec<Extra>,
}

impl Chunk {
    /// Grains from place `start` to `end`, without pairs.
    pub fn new(start: usize, end: usize, lists: Lists) -> Chunk {
        Chunk { start: start as u32, len: (end - start) as u32, lists, ..Chunk::default() }
    }

    /// Pairs that no other chunk counts.
    pub fn own_pairs(&self) -> &[[u32; 2]] {
        &self.pairs[..self.own as usize]
    }

    /// The same of those listed.
    pub fn listed_own(&self) -> &[[u32; 2]] {
        &self.listed[..self.listed_own as usize]
    }

    pub fn bytes(&self) -> usize {
        (self.listed.capacity() + self.pairs.capacity()) * 8
            + self.memory.capacity() * size_of::<V4>()
            + self.extra.capacity() * size_of::<Extra>()
            + self.walls.capacity() * size_of::<WallPair>()
            + self.triangles.capacity() * 4
            + self.wall_history.capacity() * size_of::<WallHistory>()
            + self.wall_extra.capacity() * size_of::<Extra>()
    }

    /// Whether its lists are whole and name none but the `n` grains and the chunks there are.
    pub fn fits(&self, n: usize, chunks: usize) -> bool {
        let inside = |p: &[u32; 2]| (p[0] as usize) < n && ((p[1] & !TOUCH) as usize) < n;
        let memories = match self.lists {
            Lists::Plain => [self.pairs.len(), 0],
            Lists::Full => [self.pairs.len(); 2],
            Lists::Positions => [0; 2],
        };
        let wall_extra = if self.lists == Lists::Full { self.wall_history.len() } else { 0 };
        self.listed.iter().chain(&self.pairs).all(inside)
            && (self.listed.is_empty() || self.listed_own as usize <= self.listed.len())
            && self.around.iter().all(|c| (*c as usize) < chunks)
            && self.own as usize <= self.pairs.len()
            && [self.memory.len(), self.extra.len()] == memories
            && self.wall_extra.len() == wall_extra
            && self.walls.iter().all(|w| (w.grain as usize) < n && w.fits(&self.triangles, &self.wall_history))
    }

    /// Everything that survives, word by word.
    pub fn words(&self, word: &mut impl FnMut(u64)) {
        self.pairs.iter().flatten().for_each(|x| word(u64::from(*x)));
        self.memory.iter().flatten().for_each(|x| word(x.to_bits()));
        self.extra.iter().flatten().for_each(|x| word(x.to_bits()));
        self.wall_history.iter().for_each(|h| h.words(word));
        self.wall_extra.iter().flatten().for_each(|x| word(x.to_bits()));
    }

    /// Finds the chunks around chunk `own`; all have `length` grains.
    pub fn find_around(&mut self, own: usize, length: usize) {
        self.around.clear();
        let mut last = own as u32;
        for [first, second] in &self.listed {
            let inside = *first >= self.start && *second < self.start + self.len;
            if inside {
                continue;
            }
            let c = if *first < self.start { *first } else { *second } / length as u32;
            if c != last && !self.around.contains(&c) {
                self.around.push(c);
            }
            last = c;
        }
        self.around.shrink_to_fit();
    }

    /// Sets the pace of a step `h` [s] of chunk `own` from the largest speed of every chunk [m/s].
    pub fn set_pace(&mut self, own: usize, top_speeds: &[f64], h: f64) {
        let fastest = self.around.iter().fold(top_speeds[own], |top, c| top.max(top_speeds[*c as usize]));
        self.pace = h * (top_speeds[own] + fastest);
    }

    /// Grains have moved at this pace.
    pub fn moved(&mut self) {
        self.since_choice += self.pace;
        self.since_listing += self.pace;
    }

    /// True when a pair that was left out may touch.
    pub fn is_due(&self) -> bool {
        self.since_choice >= self.margin
    }

    /// Chooses the pairs that may touch within the next steps; those chosen before keep their memory. Pairs attract each
    /// other up to the gap `pull` [m].
    pub fn choose(&mut self, position: &[V4], sizes: &PeriodicSizes, skin: f64, pull: f64) {
        if self.lists == Lists::Positions {
            self.listed.truncate(self.listed_own as usize);
            (self.pairs, self.own) = (std::mem::take(&mut self.listed), self.listed_own);
            return;
        }
        self.margin = (STEPS_PER_CHOICE * self.pace).clamp(MARGIN_SKINS * skin, skin);
        self.since_choice = 0.0;
        let reach = self.margin + pull;
        CHOICE.with_borrow_mut(|room| {
            let Room { chosen, memory, extra } = room;
            chosen.resize(self.listed.len(), [0; 3]);
            let Chunk { listed, listed_own, pairs, own, .. } = self;
            // ends the old list: no pair is like this
            pairs.push([u32::MAX; 2]);
            let own_count = *listed_own as usize;
            let arch = Arch::new();
            let mut at = [0; 2];
            for (listed, own) in [(&listed[..own_count], Some(own)), (&listed[own_count..], None)] {
                at = arch.dispatch(Choice { listed, pairs, position, sizes, reach, chosen, at });
                if let Some(own) = own {
                    *own = at[0] as u32;
                }
            }
            let chosen = &chosen[..at[0]];
            memory.clear();
            memory.extend(chosen.iter().map(|c| self.memory.get(c[2] as usize).copied().unwrap_or_default()));
            extra.clear();
            if self.lists == Lists::Full {
                extra.extend(chosen.iter().map(|c| self.extra.get(c[2] as usize).copied().unwrap_or(NO_EXTRA)));
            }
            make_room(&mut self.pairs, chosen.len() + 1);
            self.pairs.extend(chosen.iter().map(|c| [c[0], c[1]]));
            make_room(&mut self.memory, memory.len());
            self.memory.extend_from_slice(memory);
            make_room(&mut self.extra, extra.len());
            self.extra.extend_from_slice(extra);
        });
    }
}

/// Empties a list and makes room for `count`, and for a few more where it has to grow, lest it grow every time.
fn make_room<T>(list: &mut Vec<T>, count: usize) {
    list.clear();
    if list.capacity() < count {
        list.reserve_exact(count + count / 32);
    }
}

/// Room of a thread to choose pairs in: first grain, second grain with its mark, place among the pairs chosen before.
struct Room {
    chosen: Vec<[u32; 3]>,
    memory: Vec<V4>,
    extra: Vec<Extra>,
}

thread_local! {
    static CHOICE: RefCell<Room> = const { RefCell::new(Room { chosen: Vec::new(), memory: Vec::new(), extra: Vec::new() }) };
}

/// Pairs closer than `reach` beyond touch, one after the other and without a branch.
struct Choice<'a> {
    listed: &'a [[u32; 2]],
    /// Pairs chosen before, a part of those listed in the same order, and one that is none of them.
    pairs: &'a [[u32; 2]],
    position: &'a [V4],
    sizes: &'a PeriodicSizes,
    reach: f64,
    chosen: &'a mut [[u32; 3]],
    /// How many have been chosen, and how many of those chosen before have been met.
    at: [usize; 2],
}

impl WithSimd for Choice<'_> {
    type Output = [usize; 2];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [usize; 2] {
        let Choice { listed, pairs, position, sizes, reach, chosen, at: [mut count, mut met] } = self;
        for &[i, j] in listed {
            let (p, q) = (&position[i as usize], &position[j as usize]);
            let mut d = each(|c| q[c] - p[c]);
            if sizes.any {
                d = each(|c| nearest_image(d[c], sizes.size[c], sizes.inv[c]));
            }
            let dd = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            let far = p[3] + q[3] + reach;
            let [first, mark] = pairs[met];
            let known = first == i && mark & !TOUCH == j;
            chosen[count] = if known { [i, mark, met as u32] } else { [i, j, u32::MAX] };
            count += usize::from(dd < far * far);
            met += usize::from(known);
        }
        [count, met]
    }
}
