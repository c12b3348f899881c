//! The ground: columns of layers over a grid of cells, kept tile by tile where something has touched them.
//!
//! Mass is what is kept, never height: a layer of mass m is  h = m (1 + e)/(rho_s s^2)  thick, s the side of a cell.

use crate::kind::SoilKind;
use crate::start::Start;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;

/// Cells along a side of a tile.
pub const TILE: usize = 16;
/// Cells of a tile.
const CELLS: usize = TILE * TILE;
/// Layers of a column at most.
pub const MOST_LAYERS: usize = 8;
/// Layers of one soil whose void ratios differ by less than this become one [-].
const SAME: f64 = 0.01;

/// A layer of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Layer {
    /// Mass of its grains [kg].
    pub mass: f64,
    /// e [-].
    pub void_ratio: f64,
    /// p_y [Pa].
    pub yield_pressure: f64,
    /// Soil, by index.
    pub kind: u8,
}

/// What a body that pressed on a column has left there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tread {
    /// Height of the surface when it was first pressed [m]; meaningless before.
    pub first: f64,
    /// Deepest it was pressed so far, from there [m], and with what pressure [Pa]; 0: never.
    pub deepest: f64,
    /// See `deepest`.
    pub pressure: f64,
    /// j: displacement of the body that presses along x and y [m].
    pub shear: [f64; 2],
    /// The body that presses, by index plus one; 0: none.
    pub body: u32,
    /// Height in which it was left [m].
    pub left: f64,
    /// What was pressed before soil came to lie on it: `first`, `deepest`, `pressure`; zeros: nothing.
    pub below: [f64; 3],
}

/// A column: its layers from the bottom up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Column {
    layers: [Layer; MOST_LAYERS],
    count: u8,
    /// Its top was moved and not pressed since: it has no cohesion against sliding.
    pub moved: bool,
    /// What pressed on it.
    pub tread: Tread,
}

impl Column {
    /// Layers from the bottom up.
    pub fn layers(&self) -> &[Layer] {
        &self.layers[..usize::from(self.count)]
    }

    /// See [`Column::layers`].
    pub fn layers_mut(&mut self) -> &mut [Layer] {
        &mut self.layers[..usize::from(self.count)]
    }

    /// The uppermost layer.
    pub fn top(&self) -> Option<&Layer> {
        self.layers().last()
    }

    /// Mass of its grains [kg].
    pub fn mass(&self) -> f64 {
        self.layers().iter().map(|layer| layer.mass).sum()
    }

    /// Adds a layer on top; one like the uppermost joins it.
    pub fn push(&mut self, layer: Layer) {
        if layer.mass <= 0.0 {
            return;
        }
        if let Some(top) = self.layers_mut().last_mut()
            && top.kind == layer.kind
            && (top.void_ratio - layer.void_ratio).abs() < SAME
        {
            join(top, &layer);
            return;
        }
        if usize::from(self.count) == MOST_LAYERS {
            self.make_room();
        }
        if usize::from(self.count) == MOST_LAYERS {
            // eight soils in turn: it joins what is of its kind
            let own = self.layers_mut().iter_mut().rev().find(|own| own.kind == layer.kind);
            if let Some(own) = own {
                join(own, &layer);
            }
            return;
        }
        self.layers[usize::from(self.count)] = layer;
        self.count += 1;
    }

    /// Joins the two neighbours of one soil that are most alike, or two of one soil with others between.
    fn make_room(&mut self) {
        let n = usize::from(self.count);
        let differ = |a: usize, b: usize| (self.layers[a].void_ratio - self.layers[b].void_ratio).abs();
        let pairs = (1..n).filter(|&k| self.layers[k].kind == self.layers[k - 1].kind).map(|k| (k - 1, k));
        let apart = || {
            let all = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
            all.filter(|&(a, b)| self.layers[a].kind == self.layers[b].kind).min_by_key(|(a, b)| b - a)
        };
        let best = pairs.min_by(|x, y| differ(x.0, x.1).total_cmp(&differ(y.0, y.1))).or_else(apart);
        let Some((a, b)) = best else { return };
        let upper = self.layers[b];
        join(&mut self.layers[a], &upper);
        self.layers.copy_within(b + 1..n, b);
        self.count -= 1;
    }

    /// Cuts the uppermost layer so that this much mass [kg] of it is a layer of its own on top, where there is room.
    pub fn split(&mut self, mass: f64) {
        let n = usize::from(self.count);
        if n == 0 || n == MOST_LAYERS || mass >= self.layers[n - 1].mass {
            return;
        }
        self.layers[n] = Layer { mass, ..self.layers[n - 1] };
        self.layers[n - 1].mass -= mass;
        self.count += 1;
    }

    /// Takes mass [kg] from the top, giving each piece away; returns what there was not.
    pub fn take(&mut self, mass: f64, mut give: impl FnMut(Layer)) -> f64 {
        let mut left = mass;
        while left > 0.0 && self.count > 0 {
            let top = &mut self.layers[usize::from(self.count) - 1];
            if top.mass <= left {
                left -= top.mass;
                give(*top);
                self.count -= 1;
            } else {
                top.mass -= left;
                give(Layer { mass: left, ..*top });
                left = 0.0;
            }
        }
        left
    }
}

/// Puts a layer into another of its soil: volumes and yield pressures by mass.
fn join(into: &mut Layer, layer: &Layer) {
    let mass = into.mass + layer.mass;
    let share = layer.mass / mass;
    into.void_ratio += (layer.void_ratio - into.void_ratio) * share;
    into.yield_pressure += (layer.yield_pressure - into.yield_pressure) * share;
    into.mass = mass;
}

/// Soil on its way: mass of grains by soil [kg].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parcel(pub Vec<f64>);

impl Parcel {
    /// Mass of its grains [kg].
    pub fn mass(&self) -> f64 {
        self.0.iter().sum()
    }

    /// Adds mass of a soil [kg].
    pub fn add(&mut self, kind: u8, mass: f64) {
        let k = usize::from(kind);
        if self.0.len() <= k {
            self.0.resize(k + 1, 0.0);
        }
        self.0[k] += mass;
    }

    /// Volume where it lies loose [m^3].
    pub fn volume(&self, kinds: &[SoilKind]) -> f64 {
        let own = |(mass, kind): (&f64, &SoilKind)| mass * (1.0 + kind.loose()) / kind.grain_density;
        self.0.iter().zip(kinds).map(own).sum()
    }

    /// Mass with its water [kg].
    pub fn wet(&self, kinds: &[SoilKind]) -> f64 {
        self.0.iter().zip(kinds).map(|(mass, kind)| mass * (1.0 + kind.water)).sum()
    }

    /// Takes out a share of all.
    pub fn take(&mut self, share: f64) -> Parcel {
        let mut out = Parcel::default();
        for (k, mass) in self.0.iter_mut().enumerate() {
            let part = if share >= 1.0 { *mass } else { *mass * share };
            *mass -= part;
            out.add(k as u8, part);
        }
        out
    }
}

/// Sixteen by sixteen cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tile {
    /// Columns, row by row.
    pub columns: Vec<Column>,
    /// Heights of their surfaces [m].
    pub heights: Vec<f64>,
    /// Speed of flow along +x, +y, +x+y, -x+y from each [m/s].
    pub speeds: Vec<[f64; 4]>,
    /// Something may flow.
    pub active: bool,
    /// How often it was changed.
    pub changes: u64,
}

/// The ground.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ground {
    /// Soils.
    pub kinds: Arc<Vec<SoilKind>>,
    /// As it was at the start.
    pub start: Arc<Start>,
    /// s: side of a cell [m].
    pub cell: f64,
    /// Lower corner [m].
    pub low: [f64; 2],
    /// Cells along x and y.
    pub counts: [usize; 2],
    /// By how much its columns have been raised since the start, their moments of mass with water about the hard ground [kg m].
    pub raised: f64,
    tiles: Vec<Option<Arc<Tile>>>,
    /// Tiles along x.
    across: usize,
}

impl Ground {
    /// The ground at the start: `counts` cells of side `cell` [m] from the corner `low` [m] on.
    pub fn new(kinds: Vec<SoilKind>, start: Start, cell: f64, low: [f64; 2], counts: [usize; 2]) -> Ground {
        let tiles = counts.map(|n| n.div_ceil(TILE));
        Ground {
            kinds: Arc::new(kinds),
            start: Arc::new(start),
            cell,
            low,
            counts,
            raised: 0.0,
            tiles: vec![None; tiles[0] * tiles[1]],
            across: tiles[0],
        }
    }

    /// Area of a cell [m^2].
    pub fn area(&self) -> f64 {
        self.cell * self.cell
    }

    /// Middle of a cell [m].
    pub fn centre(&self, at: [usize; 2]) -> [f64; 2] {
        [0, 1].map(|k| self.low[k] + (at[k] as f64 + 0.5) * self.cell)
    }

    /// The cell at a place, if there is one.
    pub fn cell_at(&self, p: [f64; 2]) -> Option<[usize; 2]> {
        let at = [0, 1].map(|k| ((p[k] - self.low[k]) / self.cell).floor());
        let inside = (0..2).all(|k| at[k] >= 0.0 && at[k] < self.counts[k] as f64);
        inside.then(|| at.map(|x| x as usize))
    }

    /// The cell nearest to a place.
    pub fn nearest(&self, p: [f64; 2]) -> [usize; 2] {
        [0, 1].map(|k| {
            let x = ((p[k] - self.low[k]) / self.cell).floor();
            x.clamp(0.0, (self.counts[k] - 1) as f64) as usize
        })
    }

    /// Tile of a cell, and its place there.
    pub(crate) fn place(&self, [i, j]: [usize; 2]) -> (usize, usize) {
        ((j / TILE) * self.across + i / TILE, (j % TILE) * TILE + i % TILE)
    }

    /// Height of the surface over a cell [m].
    #[inline]
    pub fn height(&self, at: [usize; 2]) -> f64 {
        let (tile, place) = self.place(at);
        match &self.tiles[tile] {
            Some(tile) => tile.heights[place],
            None => self.start.height(self.centre(at)),
        }
    }

    /// Height at a place [m]; none outside.
    pub fn height_at(&self, p: [f64; 2]) -> Option<f64> {
        self.cell_at(p).map(|at| self.height(at))
    }

    /// The column over a cell.
    pub fn column(&self, at: [usize; 2]) -> Cow<'_, Column> {
        let (tile, place) = self.place(at);
        match &self.tiles[tile] {
            Some(tile) => Cow::Borrowed(&tile.columns[place]),
            None => Cow::Owned(self.start.column(self.centre(at), self.area(), &self.kinds)),
        }
    }

    /// Makes the tile of a number, if it is not there yet.
    fn make(&mut self, number: usize) -> &mut Tile {
        if self.tiles[number].is_none() {
            let corner = [(number % self.across) * TILE, (number / self.across) * TILE];
            let (area, floor) = (self.area(), self.start.floor());
            let mut tile = Tile {
                columns: Vec::with_capacity(CELLS),
                heights: Vec::with_capacity(CELLS),
                speeds: vec![[0.0; 4]; CELLS],
                active: false,
                changes: 0,
            };
            for place in 0..CELLS {
                let at = [corner[0] + place % TILE, corner[1] + place / TILE];
                let inside = (0..2).all(|k| at[k] < self.counts[k]);
                let column =
                    if inside { self.start.column(self.centre(at), area, &self.kinds) } else { Column::default() };
                tile.heights.push(floor + thickness(&column, &self.kinds, area));
                tile.columns.push(column);
            }
            self.tiles[number] = Some(Arc::new(tile));
        }
        match &mut self.tiles[number] {
            Some(tile) => Arc::make_mut(tile),
            None => unreachable!("it was made above"),
        }
    }

    /// Changes the column over a cell; its tile wakes.
    pub fn change<T>(&mut self, at: [usize; 2], change: impl FnOnce(&mut Column) -> T) -> T {
        let (number, place) = self.place(at);
        let (kinds, area, floor) = (self.kinds.clone(), self.area(), self.start.floor());
        let tile = self.make(number);
        let before = moment(&tile.columns[place], &kinds, area, floor);
        let out = change(&mut tile.columns[place]);
        let risen = moment(&tile.columns[place], &kinds, area, floor) - before;
        tile.heights[place] = floor + thickness(&tile.columns[place], &kinds, area);
        tile.changes += 1;
        tile.active = true;
        self.raised += risen;
        if [0, 1].iter().any(|&k| at[k].is_multiple_of(TILE) || at[k] % TILE == TILE - 1) {
            self.wake_around(at);
        }
        out
    }

    /// Wakes the tiles that share an edge with the cell.
    fn wake_around(&mut self, [i, j]: [usize; 2]) {
        let (own, _) = self.place([i, j]);
        for b in j.saturating_sub(1)..=(j + 1).min(self.counts[1] - 1) {
            for a in i.saturating_sub(1)..=(i + 1).min(self.counts[0] - 1) {
                let (number, _) = self.place([a, b]);
                if number != own {
                    self.make(number).active = true;
                }
            }
        }
    }

    /// Changes what bodies left on a column, nothing else.
    pub fn tread(&mut self, at: [usize; 2], change: impl FnOnce(&mut Tread)) {
        let (number, place) = self.place(at);
        change(&mut self.make(number).columns[place].tread);
    }

    /// Numbers of the tiles that are there, rising.
    pub fn tiles(&self) -> impl Iterator<Item = (usize, &Arc<Tile>)> {
        self.tiles.iter().enumerate().filter_map(|(k, tile)| tile.as_ref().map(|tile| (k, tile)))
    }

    /// A tile by its number.
    pub fn tile(&self, number: usize) -> Option<&Arc<Tile>> {
        self.tiles.get(number)?.as_ref()
    }

    /// The tile of a number, to be changed, if it is there.
    pub(crate) fn tile_mut(&mut self, number: usize) -> Option<&mut Tile> {
        self.tiles.get_mut(number)?.as_mut().map(Arc::make_mut)
    }

    /// Tiles along x and y.
    pub fn tile_counts(&self) -> [usize; 2] {
        [self.across, self.tiles.len() / self.across]
    }

    /// Its first cell.
    pub fn corner(&self, number: usize) -> [usize; 2] {
        [(number % self.across) * TILE, (number / self.across) * TILE]
    }

    /// Wakes the tile of a cell.
    pub fn wake(&mut self, at: [usize; 2]) {
        let (number, _) = self.place(at);
        self.make(number).active = true;
    }

    /// Wakes every tile whose ground may not stand at the start.
    pub fn wake_all(&mut self) {
        if self.start.features.is_empty() && self.start.relief.is_none() {
            return;
        }
        let flat = |p: [f64; 2]| (self.start.height(p) - self.start.level).abs() < 1e-12;
        let rough: Vec<usize> = (0..self.tiles.len())
            .filter(|&number| {
                let corner = self.corner(number);
                // a cell more all around: what may slide into it
                let cells = (0..(TILE + 2) * (TILE + 2)).map(|k| [k % (TILE + 2), k / (TILE + 2)]);
                let mut points =
                    cells.map(|c| [0, 1].map(|k| self.low[k] + ((corner[k] + c[k]) as f64 - 0.5) * self.cell));
                !points.all(flat)
            })
            .collect();
        for number in rough {
            self.make(number).active = true;
        }
    }

    /// Mass of grains in tiles that are there, and in all of it [kg]: what nobody touched is summed row by row.
    pub fn mass(&self) -> f64 {
        let mut sum = 0.0;
        for number in 0..self.tiles.len() {
            sum += match &self.tiles[number] {
                Some(tile) => tile.columns.iter().map(Column::mass).sum::<f64>(),
                None => self.untouched(number),
            };
        }
        sum
    }

    /// Mass of a tile nobody touched [kg].
    fn untouched(&self, number: usize) -> f64 {
        let corner = self.corner(number);
        let cells = (0..CELLS).map(|k| [corner[0] + k % TILE, corner[1] + k / TILE]);
        let inside = cells.filter(|at| (0..2).all(|k| at[k] < self.counts[k]));
        inside.map(|at| self.start.column(self.centre(at), self.area(), &self.kinds).mass()).sum()
    }

    /// Mass of grains in tiles that are there [kg], and how much they had at the start.
    pub fn mass_of_tiles(&self) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for (number, tile) in self.tiles() {
            sums[0] += tile.columns.iter().map(Column::mass).sum::<f64>();
            sums[1] += self.untouched(number);
        }
        sums
    }

    /// Takes mass [kg] from the top of a column.
    pub fn take(&mut self, at: [usize; 2], mass: f64) -> Parcel {
        let mut parcel = Parcel::default();
        self.change(at, |column| column.take(mass, |piece| parcel.add(piece.kind, piece.mass)));
        parcel
    }

    /// Takes what lies higher than z [m] over a cell.
    pub fn take_above(&mut self, at: [usize; 2], z: f64) -> Parcel {
        let mut excess = self.height(at) - z;
        if excess <= 0.0 {
            return Parcel::default();
        }
        let (kinds, area) = (self.kinds.clone(), self.area());
        let mut parcel = Parcel::default();
        self.change(at, |column| {
            while excess > 0.0 {
                let Some(top) = column.top().copied() else { break };
                let per = (1.0 + top.void_ratio) / (kinds[usize::from(top.kind)].grain_density * area);
                let part = (excess / per).min(top.mass);
                column.take(part, |piece| parcel.add(piece.kind, piece.mass));
                if part < top.mass {
                    break;
                }
                excess -= top.mass * per;
            }
        });
        parcel
    }

    /// Lays soil on a column, as loose as it lies.
    pub fn lay(&mut self, at: [usize; 2], parcel: &Parcel) {
        let kinds = self.kinds.clone();
        self.change(at, |column| {
            column.moved = true;
            for (kind, &mass) in parcel.0.iter().enumerate() {
                let soil = &kinds[kind];
                let loose = soil.loose();
                let yield_pressure = soil.compression.yield_pressure(1.0 + loose);
                column.push(Layer { mass, void_ratio: loose, yield_pressure, kind: kind as u8 });
            }
        });
    }

    /// tan phi [-], c [Pa], density with water [kg/m^3] of the uppermost layer of a column.
    pub fn strength(&self, column: &Column) -> [f64; 3] {
        let Some(top) = column.top() else { return [f64::INFINITY, 0.0, 1.0] };
        let kind = &self.kinds[usize::from(top.kind)];
        let e = top.void_ratio;
        [libm::tan(kind.friction_at(e)), kind.cohesion_at(e), kind.density(e)]
    }

    /// FNV-1a over the bits of all columns.
    pub fn hash(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        let mut word = |x: u64| hash = (hash ^ x).wrapping_mul(0x0000_0100_0000_01b3);
        for (number, tile) in self.tiles() {
            word(number as u64);
            for column in &tile.columns {
                for layer in column.layers() {
                    word(layer.mass.to_bits());
                    word(layer.void_ratio.to_bits());
                }
                word(column.tread.deepest.to_bits());
            }
            tile.speeds.iter().flatten().for_each(|v| word(v.to_bits()));
        }
        hash
    }

    /// True where a state that was read belongs to this ground.
    pub fn fits(&self, other: &Ground) -> bool {
        (self.counts, self.cell.to_bits()) == (other.counts, other.cell.to_bits())
            && self.kinds.len() == other.kinds.len()
            && self.tiles.len() == other.tiles.len()
    }
}

/// Height of the middle of each layer times its mass with water [kg m].
fn moment(column: &Column, kinds: &[SoilKind], area: f64, floor: f64) -> f64 {
    let (mut z, mut sum) = (floor, 0.0);
    for layer in column.layers() {
        let kind = &kinds[usize::from(layer.kind)];
        let h = layer.mass * (1.0 + layer.void_ratio) / (kind.grain_density * area);
        sum += layer.mass * (1.0 + kind.water) * (z + 0.5 * h);
        z += h;
    }
    sum
}

/// Thickness of all layers [m].
pub(crate) fn thickness(column: &Column, kinds: &[SoilKind], area: f64) -> f64 {
    let of =
        |layer: &Layer| layer.mass * (1.0 + layer.void_ratio) / (kinds[usize::from(layer.kind)].grain_density * area);
    column.layers().iter().map(of).sum()
}
