//! Block LDL^T of a symmetric quasi-definite matrix with 6x6 blocks.
//!
//! Vertices are bodies (positive definite blocks) and groups of exact rows (zero or negative semidefinite blocks that become
//! negative definite once a body beside them is eliminated). With D_k = s G G^T the pivot and A_ki a block beside it,
//!   V_i = G^-1 A_ki,    A_ij <- A_ij - s V_i^T V_j   for all later neighbours i, j of k,
//! in the order that [`order`] finds.
//!
//! Vertices eliminated one after the other with the same later neighbours are one panel: their entries lie together row by row, and what
//! they subtract from later panels is a product of dense matrices.

use super::order;
use pulp::{Arch, Simd, WithSimd};

/// A 6x6 block by rows.
pub type Block = [f64; 36];

/// A row of a block with a cache line of its own: whole vectors of any machine. The last two numbers are zero.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Line([f64; 8]);

/// A 6x6 block, each row a `Line`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wide([Line; 6]);

impl From<&Block> for Wide {
    fn from(block: &Block) -> Wide {
        let mut wide = Wide::default();
        for i in 0..6 {
            wide.0[i].0[..6].copy_from_slice(&block[6 * i..6 * i + 6]);
        }
        wide
    }
}

impl Wide {
    /// Adds w a b^T.
    #[inline]
    pub fn add_product(&mut self, w: f64, a: &[f64; 6], b: &[f64; 6]) {
        for (line, a) in self.0.iter_mut().zip(a) {
            let x = w * a;
            for j in 0..6 {
                line.0[j] += x * b[j];
            }
        }
    }
}

/// What a vertex is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vertex {
    /// A body: its block is positive definite.
    Body,
    /// Exact rows: minus its block is positive definite when its turn comes.
    Rows,
}

/// Vertices of a panel that are eliminated before the rest of it is brought up to date: the depth of one product.
const SLAB: usize = 16;
/// Blocks of a tile: six rows of it are as many numbers as there are registers for.
const TILE: usize = 4;

/// A row of a tile.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Strip([f64; 6 * TILE]);

/// Six rows of a tile; whole vectors can be read from the first number of any block on.
#[repr(align(64))]
struct Tile([[f64; 8 * TILE]; 6]);
/// A panel joins the next one where that adds at most this share of zero blocks [-].
const ZEROS: f64 = 0.2;

/// Vertices that are eliminated together.
#[derive(Clone, Copy, Debug)]
struct Panel {
    /// Position of the first.
    first: usize,
    /// Their number.
    own: usize,
    /// Where its columns begin in `columns`; the first `own` are its own.
    columns: usize,
    /// Number of columns.
    width: usize,
    /// Where its entries begin: 6 own rows.
    entries: usize,
    /// From row to row: 6 width, and zeros for whole vectors from anywhere in it.
    stride: usize,
    /// Where its targets begin, and their number.
    targets: (usize, usize),
}

/// What a panel subtracts from a later one.
#[derive(Clone, Copy, Debug)]
struct Target {
    /// The later panel.
    panel: usize,
    /// First of the columns that are that panel's own.
    from: usize,
    /// End of them.
    to: usize,
    /// Where the places of all columns from `from` on begin in `places`.
    places: usize,
}

/// Pattern, order and factors.
#[derive(Clone, Debug, Default)]
pub struct BlockLdl {
    /// Vertex by position.
    order: Vec<u32>,
    /// True for bodies, by position.
    positive: Vec<bool>,
    panels: Vec<Panel>,
    targets: Vec<Target>,
    /// Positions of the columns of all panels.
    columns: Vec<u32>,
    /// Columns in a later panel of the columns of an earlier one.
    places: Vec<u32>,
    /// Diagonal blocks of A, by vertex.
    diagonals: Vec<Wide>,
    /// Blocks of A, by edge.
    beside: Vec<Wide>,
    /// Where the diagonal block of each vertex goes: first entry, and from row to row.
    home: Vec<(usize, usize)>,
    /// Where the block of each edge goes, likewise, and whether as it is (or transposed).
    slots: Vec<(usize, usize, bool)>,
    /// All panels: A, then V.
    entries: Vec<f64>,
    /// V of a slab, tile by tile, 6 [`SLAB`] strips each.
    tiles: Vec<Strip>,
    /// Roots G, by position.
    roots: Vec<Block>,
    x: Vec<[f64; 6]>,
    /// The unknowns of a panel, and zeros up to whole vectors.
    local: Vec<f64>,
}

impl BlockLdl {
    /// Order and pattern for these vertices and edges (a, b), a != b, each pair once.
    pub fn new(vertices: &[Vertex], edges: &[(u32, u32)]) -> BlockLdl {
        let n = vertices.len();
        let (order, beside) = order::of_elimination(vertices, edges);
        let mut place = vec![0; n];
        for (position, &v) in order.iter().enumerate() {
            place[v as usize] = position as u32;
        }
        let below: Vec<Vec<u32>> = beside
            .iter()
            .map(|list| {
                let mut list: Vec<u32> = list.iter().map(|&v| place[v as usize]).collect();
                list.sort_unstable();
                list
            })
            .collect();
        let mut ldl = BlockLdl {
            positive: order.iter().map(|&v| vertices[v as usize] == Vertex::Body).collect(),
            diagonals: vec![Wide::default(); n],
            beside: vec![Wide::default(); edges.len()],
            roots: vec![[0.0; 36]; n],
            x: vec![[0.0; 6]; n],
            order,
            ..BlockLdl::default()
        };
        ldl.cut_panels(&below);
        ldl.find_targets();
        let mut panel_of = vec![0; n];
        for (p, panel) in ldl.panels.iter().enumerate() {
            panel_of[panel.first..panel.first + panel.own].fill(p);
        }
        let slot = |row: u32, column: u32| {
            let panel = &ldl.panels[panel_of[row as usize]];
            let at = ldl.columns[panel.columns..][..panel.width].partition_point(|&c| c < column);
            (panel.entries + 6 * (row as usize - panel.first) * panel.stride + 6 * at, panel.stride)
        };
        ldl.home = place.iter().map(|&p| slot(p, p)).collect();
        ldl.slots = edges
            .iter()
            .map(|&(a, b)| {
                let (pa, pb) = (place[a as usize], place[b as usize]);
                let (entry, stride) = slot(pa.min(pb), pa.max(pb));
                (entry, stride, pa < pb)
            })
            .collect();
        ldl
    }

    /// Panels: vertices that follow each other, each beside the next, with nearly the same later neighbours.
    fn cut_panels(&mut self, below: &[Vec<u32>]) {
        let (mut first, mut entries, mut widest) = (0, 0, 0);
        while first < below.len() {
            // blocks of the panel from `first` to `last`, and those of them that are not zero by pattern
            let (mut last, mut true_blocks) = (first, below[first].len() + 1);
            while last + 1 < below.len() && below[last].first() == Some(&(last as u32 + 1)) {
                let more = true_blocks + below[last + 1].len() + 1;
                let own = last + 2 - first;
                let all = own * (own + 1) / 2 + own * below[last + 1].len();
                if (all - more) as f64 > ZEROS * all as f64 {
                    break;
                }
                (last, true_blocks) = (last + 1, more);
            }
            let own = last + 1 - first;
            let width = own + below[last].len();
            let stride = (6 * width + 7).next_multiple_of(8);
            let panel = Panel { first, own, columns: self.columns.len(), width, entries, stride, targets: (0, 0) };
            self.columns.extend(first as u32..=last as u32);
            self.columns.extend_from_slice(&below[last]);
            entries += 6 * own * stride;
            widest = widest.max(stride);
            self.panels.push(panel);
            first = last + 1;
        }
        self.entries = vec![0.0; entries];
        self.tiles = vec![Strip::default(); 6 * SLAB * widest.div_ceil(6 * TILE)];
        self.local = vec![0.0; widest + 8];
    }

    /// For each panel the later ones it subtracts from, and where.
    fn find_targets(&mut self) {
        for p in 0..self.panels.len() {
            let panel = self.panels[p];
            let columns = &self.columns[panel.columns..][..panel.width];
            let begin = self.targets.len();
            let mut from = panel.own;
            while from < panel.width {
                let later = self.panels.partition_point(|q| q.first + q.own <= columns[from] as usize);
                let q = &self.panels[later];
                let to = from + columns[from..].iter().take_while(|&&c| (c as usize) < q.first + q.own).count();
                self.targets.push(Target { panel: later, from, to, places: self.places.len() });
                let theirs = &self.columns[q.columns..][..q.width];
                let mut at = 0;
                for &c in &columns[from..] {
                    while theirs[at] != c {
                        at += 1;
                    }
                    self.places.push(at as u32);
                }
                from = to;
            }
            self.panels[p].targets = (begin, self.targets.len() - begin);
        }
    }

    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.order.len()
    }

    /// Number of blocks above the diagonal, fill included.
    pub fn blocks(&self) -> usize {
        self.panels.iter().map(|p| p.own * (p.own - 1) / 2 + p.own * (p.width - p.own)).sum()
    }

    /// All blocks zero.
    pub fn clear(&mut self) {
        self.diagonals.fill(Wide::default());
        self.beside.fill(Wide::default());
    }

    /// Diagonal block of a vertex, to be filled.
    #[inline]
    pub fn diagonal(&mut self, vertex: usize) -> &mut Wide {
        &mut self.diagonals[vertex]
    }

    /// Block A_ab of edge `k`, the k-th of those given to [`Self::new`], to be filled.
    #[inline]
    pub fn edge(&mut self, k: usize) -> &mut Wide {
        &mut self.beside[k]
    }

    /// Factors what was filled in, A_kk = s G G^T with s = 1 for bodies and -1 for rows. False if a pivot is not definite, even after a
    /// tiny share was added to it.
    ///   V_i = G^-1 A_ki,   A_ij <- A_ij - s V_i^T V_j:
    /// substitution, because an inverse of A_kk would be off by its condition, which stiff rows make large, and they enter twice.
    pub fn factor(&mut self) -> bool {
        self.entries.fill(0.0);
        for (wide, &(entry, stride)) in self.diagonals.iter().zip(&self.home) {
            for i in 0..6 {
                self.entries[entry + i * stride..][..6].copy_from_slice(&wide.0[i].0[..6]);
            }
        }
        for (wide, &(entry, stride, straight)) in self.beside.iter().zip(&self.slots) {
            let wide = if straight { *wide } else { transposed(wide) };
            for i in 0..6 {
                // a group may name a body twice
                for (a, b) in self.entries[entry + i * stride..][..6].iter_mut().zip(&wide.0[i].0) {
                    *a += b;
                }
            }
        }
        Arch::new().dispatch(Factor(self))
    }

    /// [`Self::factor`], compiled for whatever vectors the machine has; the same bits on all of them.
    #[inline(always)]
    fn factor_here<S: Simd>(&mut self, simd: S) -> bool {
        let mut good = true;
        for p in 0..self.panels.len() {
            let panel = self.panels[p];
            let own = panel.own;
            let mut from = 0;
            while from < own {
                let to = own.min(from + SLAB);
                for k in from..to {
                    if k > from {
                        self.subtract(simd, &panel, from..k, k..k + 1, Onto::Itself);
                    }
                    good &= self.eliminate_vertex(simd, &panel, k, k - from);
                }
                if to < own {
                    self.subtract(simd, &panel, from..to, to..own, Onto::Itself);
                }
                for t in panel.targets.0..panel.targets.0 + panel.targets.1 {
                    let target = self.targets[t];
                    self.subtract(simd, &panel, from..to, target.from..target.to, Onto::Later(target));
                }
                from = to;
            }
        }
        good
    }

    /// Root of the k-th pivot of a panel; its rows from A to V, and to the tiles as those of the vertex `at` of the slab.
    #[inline(always)]
    fn eliminate_vertex<S: Simd>(&mut self, simd: S, panel: &Panel, k: usize, at: usize) -> bool {
        let Panel { width, stride, .. } = *panel;
        let sign = if self.positive[panel.first + k] { 1.0 } else { -1.0 };
        let base = panel.entries + 6 * k * stride;
        let pivot: Block = std::array::from_fn(|e| self.entries[base + e / 6 * stride + 6 * k + e % 6]);
        let good = root(&pivot, sign, &mut self.roots[panel.first + k]);
        if k + 1 < width {
            // nobody reads the pivot and what is before it any more
            let from = 6 * (k + 1) / 8 * 8;
            let rows = six_rows_mut(&mut self.entries[base..base + 6 * stride], stride, from);
            substitute(simd, &self.roots[panel.first + k], rows);
            for r in 0..6 {
                let row = &self.entries[base + r * stride..][..6 * width];
                let strips = self.tiles[6 * at + r..].iter_mut().step_by(6 * SLAB);
                for (strip, part) in strips.zip(row.chunks(6 * TILE)).skip((k + 1) / TILE) {
                    strip.0[..part.len()].copy_from_slice(part);
                }
            }
        }
        good
    }

    /// A_ij <- A_ij - sum over k of s V_ki^T V_kj for the vertices k of a panel, its columns i among `rows` and j >= i.
    #[inline(always)]
    fn subtract<S: Simd>(
        &mut self,
        simd: S,
        panel: &Panel,
        vertices: std::ops::Range<usize>,
        rows: std::ops::Range<usize>,
        onto: Onto,
    ) {
        let Panel { width, stride, .. } = *panel;
        let signs = &self.positive[panel.first + vertices.start..panel.first + vertices.end];
        let depth = 6 * signs.len();
        for tile in rows.start / TILE..width.div_ceil(TILE) {
            let columns = rows.start.max(TILE * tile)..width.min(TILE * (tile + 1));
            let right = &self.tiles[6 * SLAB * tile..][..depth];
            for i in rows.start..rows.end.min(columns.end) {
                let left = &self.tiles[6 * SLAB * (i / TILE)..][..depth];
                let sums = product(simd, left, 6 * (i % TILE), right, signs);
                // columns before the row are the lower half, which nobody reads
                match onto {
                    Onto::Itself => {
                        let to = panel.entries + 6 * i * stride;
                        let from = TILE * tile;
                        match columns.len() == TILE {
                            true => subtract_tile(simd, &mut self.entries[to + 6 * from..], stride, &sums),
                            false => {
                                let places = columns.clone().map(|c| (c - from, c));
                                subtract_blocks(simd, &mut self.entries[to..], stride, &sums, places);
                            }
                        }
                    }
                    Onto::Later(target) => {
                        let later = &self.panels[target.panel];
                        let row = self.columns[panel.columns + i] as usize - later.first;
                        let to = later.entries + 6 * row * later.stride;
                        let places = &self.places[target.places + columns.start - target.from..][..columns.len()];
                        let first = places[0] as usize;
                        match columns.len() == TILE && places[TILE - 1] as usize == first + TILE - 1 {
                            true => subtract_tile(simd, &mut self.entries[to + 6 * first..], later.stride, &sums),
                            false => {
                                let places = places.iter().enumerate();
                                let places = places.map(|(c, p)| (columns.start - TILE * tile + c, *p as usize));
                                subtract_blocks(simd, &mut self.entries[to..], later.stride, &sums, places);
                            }
                        }
                    }
                }
            }
        }
    }

    /// x <- A^-1 x, six numbers per vertex in the order given to [`Self::new`].
    pub fn solve(&mut self, x: &mut [f64]) {
        for (own, &v) in self.x.iter_mut().zip(&self.order) {
            own.copy_from_slice(&x[6 * v as usize..6 * v as usize + 6]);
        }
        Arch::new().dispatch(Solve(self));
        for (own, &v) in self.x.iter().zip(&self.order) {
            x[6 * v as usize..6 * v as usize + 6].copy_from_slice(own);
        }
    }

    #[inline(always)]
    fn solve_here<S: Simd>(&mut self, simd: S) {
        let BlockLdl { panels, columns, positive, entries, roots, x, local, .. } = self;
        // y_k = G^-1 x_k,   x_i <- x_i - s V_i^T y_k
        for panel in panels.iter() {
            let Panel { first, own, width, stride, .. } = *panel;
            let columns = &columns[panel.columns..][..width];
            for (own, &c) in local.chunks_exact_mut(6).zip(columns) {
                own.copy_from_slice(&x[c as usize]);
            }
            for k in 0..own {
                let G = &roots[first + k];
                let sign = if positive[first + k] { -1.0 } else { 1.0 };
                let (before, after) = local.split_at_mut(6 * (k + 1));
                let y = &mut before[6 * k..];
                for i in 0..6 {
                    for j in 0..i {
                        y[i] -= G[6 * i + j] * y[j];
                    }
                    y[i] *= G[7 * i];
                }
                let s: [S::f64s; 6] = std::array::from_fn(|r| simd.splat_f64s(sign * y[r]));
                // what is read beyond the last column goes nowhere
                let length = (6 * (width - k - 1)).next_multiple_of(S::F64_LANES);
                let rows = six_rows(&entries[panel.entries + 6 * k * stride + 6 * (k + 1)..], stride, length);
                let rows = rows.map(|row| S::as_simd_f64s(row).0);
                for (v, target) in S::as_mut_simd_f64s(&mut after[..length]).0.iter_mut().enumerate() {
                    let mut sum = *target;
                    for r in 0..6 {
                        sum = simd.mul_add_f64s(s[r], rows[r][v], sum);
                    }
                    *target = sum;
                }
            }
            for (own, &c) in local.chunks_exact(6).zip(columns) {
                x[c as usize].copy_from_slice(own);
            }
        }
        // x_k = s G^-T (y_k - sum V_i x_i)
        for panel in panels.iter().rev() {
            let Panel { first, own, width, stride, .. } = *panel;
            let columns = &columns[panel.columns..][..width];
            for (own, &c) in local.chunks_exact_mut(6).zip(columns) {
                own.copy_from_slice(&x[c as usize]);
            }
            local[6 * width..6 * width + 8].fill(0.0);
            for k in (0..own).rev() {
                let G = &roots[first + k];
                let sign = if positive[first + k] { 1.0 } else { -1.0 };
                let (before, after) = local.split_at_mut(6 * (k + 1));
                // lanes of eight on every machine
                let length = (6 * (width - k - 1)).next_multiple_of(8);
                let rows = six_rows(&entries[panel.entries + 6 * k * stride + 6 * (k + 1)..], stride, length);
                let sums = rows_times(simd, rows, &after[..length]);
                let y = &mut before[6 * k..];
                for i in (0..6).rev() {
                    y[i] -= sums[i];
                    for j in i + 1..6 {
                        y[i] -= G[6 * j + i] * y[j];
                    }
                    y[i] *= G[7 * i];
                }
                for y in y.iter_mut() {
                    *y *= sign;
                }
            }
            for (own, &c) in local.chunks_exact(6).zip(&columns[..own]) {
                x[c as usize].copy_from_slice(own);
            }
        }
    }
}

/// What a product is subtracted from.
#[derive(Clone, Copy)]
enum Onto {
    /// The panel it comes from.
    Itself,
    /// A later one.
    Later(Target),
}

/// So much of six rows that follow each other.
#[inline(always)]
fn six_rows(entries: &[f64], stride: usize, length: usize) -> [&[f64]; 6] {
    std::array::from_fn(|r| &entries[r * stride..][..length])
}

/// Six rows that follow each other from column `from` on.
#[inline(always)]
fn six_rows_mut(entries: &mut [f64], stride: usize, from: usize) -> [&mut [f64]; 6] {
    let (a, rest) = entries.split_at_mut(stride);
    let (b, rest) = rest.split_at_mut(stride);
    let (c, rest) = rest.split_at_mut(stride);
    let (d, rest) = rest.split_at_mut(stride);
    let (e, f) = rest.split_at_mut(stride);
    [&mut a[from..], &mut b[from..], &mut c[from..], &mut d[from..], &mut e[from..], &mut f[from..]]
}

/// Each row times x, whole eights of numbers.
#[inline(always)]
fn rows_times<S: Simd>(simd: S, rows: [&[f64]; 6], x: &[f64]) -> [f64; 6] {
    let lanes = S::F64_LANES;
    let rows = rows.map(|row| S::as_simd_f64s(row).0);
    let x = S::as_simd_f64s(x).0;
    let mut sums = [[0.0; 8]; 6];
    for part in 0..8 / lanes {
        let mut own = [simd.splat_f64s(0.0); 6];
        let mut v = part;
        while v < x.len() {
            for r in 0..6 {
                own[r] = simd.mul_add_f64s(rows[r][v], x[v], own[r]);
            }
            v += 8 / lanes;
        }
        for r in 0..6 {
            S::as_mut_simd_f64s(&mut sums[r]).0[part] = own[r];
        }
    }
    sums.map(|s| ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])))
}

/// [`BlockLdl::factor`] as a task for the machine's vector instructions.
struct Factor<'a>(&'a mut BlockLdl);

impl WithSimd for Factor<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        self.0.factor_here(simd)
    }
}

/// [`BlockLdl::solve`], likewise.
struct Solve<'a>(&'a mut BlockLdl);

impl WithSimd for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.0.solve_here(simd);
    }
}

/// sum over the rows r of s V_r,i V_r,j for six columns i, from place `left` of their tile on, and the columns j of a tile, every product and
/// sum rounded once, in the order of r.
#[inline(always)]
fn product<S: Simd>(simd: S, left: &[Strip], at: usize, right: &[Strip], signs: &[bool]) -> Tile {
    let mut out = Tile([[0.0; 8 * TILE]; 6]);
    // as many sums at once as there are registers for
    match S::F64_LANES {
        8 => sums::<S, 3>(simd, left, at, right, signs, 0, &mut out),
        lanes => {
            for v in (0..6 * TILE / lanes).step_by(2) {
                sums::<S, 2>(simd, left, at, right, signs, v, &mut out);
            }
        }
    }
    out
}

/// N vectors of columns of [`product`], from vector `v` on.
#[inline(always)]
fn sums<S: Simd, const N: usize>(
    simd: S,
    left: &[Strip],
    at: usize,
    right: &[Strip],
    signs: &[bool],
    v: usize,
    out: &mut Tile,
) {
    let mut sums = [[simd.splat_f64s(0.0); N]; 6];
    for ((left, right), &positive) in left.chunks_exact(6).zip(right.chunks_exact(6)).zip(signs) {
        for (left, right) in left.iter().zip(right) {
            let a = &left.0[at..at + 6];
            let b = S::as_simd_f64s(&right.0).0;
            for i in 0..6 {
                let a = simd.splat_f64s(if positive { a[i] } else { -a[i] });
                for n in 0..N {
                    sums[i][n] = simd.mul_add_f64s(a, b[v + n], sums[i][n]);
                }
            }
        }
    }
    for (out, sums) in out.0.iter_mut().zip(&sums) {
        S::as_mut_simd_f64s(out).0[v..v + N].copy_from_slice(sums);
    }
}

/// Subtracts a tile from six rows, where its blocks lie beside each other as well.
#[inline(always)]
fn subtract_tile<S: Simd>(simd: S, entries: &mut [f64], stride: usize, tile: &Tile) {
    for (r, own) in tile.0.iter().enumerate() {
        let row = S::as_mut_simd_f64s(&mut entries[r * stride..][..6 * TILE]).0;
        for (a, b) in row.iter_mut().zip(S::as_simd_f64s(own).0) {
            *a = simd.sub_f64s(*a, *b);
        }
    }
}

/// Subtracts blocks of a tile from six rows, each at a place of its own.
#[inline(always)]
fn subtract_blocks<S: Simd>(
    simd: S,
    entries: &mut [f64],
    stride: usize,
    tile: &Tile,
    places: impl Iterator<Item = (usize, usize)>,
) {
    const PLACE: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    for (block, place) in places {
        for (r, own) in tile.0.iter().enumerate() {
            // eight numbers, the last two of which do not change
            let row = S::as_mut_simd_f64s(&mut entries[r * stride + 6 * place..][..8]).0;
            let own = S::as_simd_f64s(&own[6 * block..6 * block + 8]).0;
            for ((a, b), place) in row.iter_mut().zip(own).zip(S::as_simd_f64s(&PLACE).0) {
                let among = simd.less_than_f64s(*place, simd.splat_f64s(6.0));
                *a = simd.sub_f64s(*a, simd.select_f64s(among, *b, simd.splat_f64s(0.0)));
            }
        }
    }
}

/// V <- G^-1 V, whole vectors of columns.
#[inline(always)]
fn substitute<S: Simd>(simd: S, G: &Block, V: [&mut [f64]; 6]) {
    let [a, b, c, d, e, f] = V.map(|row| S::as_mut_simd_f64s(row).0.iter_mut());
    let columns = a.zip(b).zip(c.zip(d)).zip(e.zip(f));
    for (((a, b), (c, d)), (e, f)) in columns {
        let column = [a, b, c, d, e, f];
        let mut y: [S::f64s; 6] = std::array::from_fn(|i| *column[i]);
        for i in 0..6 {
            for j in 0..i {
                y[i] = simd.mul_add_f64s(simd.splat_f64s(-G[6 * i + j]), y[j], y[i]);
            }
            y[i] = simd.mul_f64s(y[i], simd.splat_f64s(G[7 * i]));
        }
        for (v, y) in column.into_iter().zip(y) {
            *v = y;
        }
    }
}

fn transposed(a: &Wide) -> Wide {
    let mut out = Wide::default();
    for i in 0..6 {
        for j in 0..6 {
            out.0[j].0[i] = a.0[i].0[j];
        }
    }
    out
}

/// Cholesky's factor of a definite block, with the inverses of its diagonal in their place; a pivot that rounding made indefinite counts as
/// a tiny share of its diagonal entry, and the answer is false when there was nothing to begin with.
fn root(a: &Block, sign: f64, G: &mut Block) -> bool {
    let mut good = true;
    for i in 0..6 {
        for j in 0..=i {
            let mut sum = sign * a[6 * i + j];
            for k in 0..j {
                sum -= G[6 * i + k] * G[6 * j + k];
            }
            if i == j {
                let scale = (sign * a[7 * i]).abs();
                let floor = 1e-14 * scale;
                if sum.is_nan() || sum <= floor {
                    good &= scale > 0.0;
                    sum = if floor > 0.0 { floor } else { 1.0 };
                }
                G[7 * i] = 1.0 / sum.sqrt();
            } else {
                G[6 * i + j] = sum * G[7 * j];
            }
        }
    }
    good
}
