//! Block LDL^T of a symmetric quasi-definite matrix with 6x6 blocks.
//!
//! Vertices are bodies (positive definite blocks) and groups of exact rows (zero or negative semidefinite blocks that become
//! negative definite once a body beside them is eliminated). With D_k = s G G^T the pivot and A_ki a block beside it,
//!   V_i = G^-1 A_ki,    A_ij <- A_ij - s V_i^T V_j   for all later neighbours i, j of k,
//! in an order of least degree where a group of rows waits until a body beside it, which has not answered for another group
//! yet, is gone (or all of them are): its pivot is then -J M^-1 J^T of at least that body, which has full rank. Trees are
//! eliminated without fill.
//!
//! Vertices eliminated one after the other with the same later neighbours are one panel: their blocks lie together row by row, and what
//! they subtract from later panels is a product of dense matrices.

use pulp::{Arch, Simd, WithSimd};

/// A 6x6 block by rows.
pub type Block = [f64; 36];

/// A row of a block with a cache line of its own: whole vectors of any machine. The last two numbers are zero.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Line([f64; 8]);

/// Rows of two blocks beside each other.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Two([f64; 16]);

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

/// Vertices of a panel that are eliminated before the rest of it is brought up to date.
const SLAB: usize = 8;
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
    /// Where its lines begin: 6 own rows of `width` lines.
    lines: usize,
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
    /// Where the diagonal block of each vertex goes: first line and lines to the next row.
    home: Vec<(u32, u32)>,
    /// Where the block of each edge goes, likewise, and whether as it is (or transposed).
    slots: Vec<(u32, u32, bool)>,
    /// All panels: A, then V.
    lines: Vec<Line>,
    /// Roots G, by position.
    roots: Vec<Block>,
    /// s V of a panel, column by column.
    left: Vec<[f64; 6]>,
    /// V of two columns of a panel.
    right: Vec<Two>,
    x: Vec<Line>,
    local: Vec<Line>,
}

impl BlockLdl {
    /// Order and pattern for these vertices and edges (a, b), a != b, each pair once.
    pub fn new(vertices: &[Vertex], edges: &[(u32, u32)]) -> BlockLdl {
        let n = vertices.len();
        let (order, beside) = eliminate(vertices, edges);
        let (order, beside) = postorder(order, beside);
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
            x: vec![Line::default(); n],
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
            let line = panel.lines + 6 * (row as usize - panel.first) * panel.width + at;
            (line as u32, panel.width as u32)
        };
        ldl.home = place.iter().map(|&p| slot(p, p)).collect();
        ldl.slots = edges
            .iter()
            .map(|&(a, b)| {
                let (pa, pb) = (place[a as usize], place[b as usize]);
                let (line, stride) = slot(pa.min(pb), pa.max(pb));
                (line, stride, pa < pb)
            })
            .collect();
        ldl
    }

    /// Panels: vertices that follow each other, each beside the next, with nearly the same later neighbours.
    fn cut_panels(&mut self, below: &[Vec<u32>]) {
        let (mut first, mut lines, mut widest, mut largest) = (0, 0, 0, 0);
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
            let panel = Panel {
                first,
                own,
                columns: self.columns.len(),
                width: own + below[last].len(),
                lines,
                targets: (0, 0),
            };
            self.columns.extend(first as u32..=last as u32);
            self.columns.extend_from_slice(&below[last]);
            lines += 6 * own * panel.width;
            widest = widest.max(panel.width);
            largest = largest.max(own * panel.width);
            self.panels.push(panel);
            first = last + 1;
        }
        self.lines = vec![Line::default(); lines];
        self.left = vec![[0.0; 6]; 6 * largest];
        self.right = vec![Two::default(); 6 * self.panels.iter().map(|p| p.own).max().unwrap_or(0)];
        self.local = vec![Line::default(); widest];
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
        self.lines.fill(Line::default());
        for (wide, &(line, stride)) in self.diagonals.iter().zip(&self.home) {
            for i in 0..6 {
                self.lines[line as usize + i * stride as usize] = wide.0[i];
            }
        }
        for (wide, &(line, stride, straight)) in self.beside.iter().zip(&self.slots) {
            let wide = if straight { *wide } else { transposed(wide) };
            for i in 0..6 {
                // a group may name a body twice
                let line = &mut self.lines[line as usize + i * stride as usize];
                for j in 0..6 {
                    line.0[j] += wide.0[i].0[j];
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
                    good &= self.eliminate_vertex(simd, &panel, k);
                    if k + 1 < to {
                        self.subtract(simd, &panel, k..k + 1, k + 1..to, Onto::Itself);
                    }
                }
                if to < own {
                    self.subtract(simd, &panel, from..to, to..own, Onto::Itself);
                }
                from = to;
            }
            for t in panel.targets.0..panel.targets.0 + panel.targets.1 {
                let target = self.targets[t];
                self.subtract(simd, &panel, 0..own, target.from..target.to, Onto::Later(target));
            }
        }
        good
    }

    /// Root of the k-th pivot of a panel; its row of blocks from A to V.
    #[inline(always)]
    fn eliminate_vertex<S: Simd>(&mut self, simd: S, panel: &Panel, k: usize) -> bool {
        let Panel { own, width, .. } = *panel;
        let sign = if self.positive[panel.first + k] { 1.0 } else { -1.0 };
        let base = panel.lines + 6 * k * width;
        let pivot = Wide(std::array::from_fn(|i| self.lines[base + i * width + k]));
        let good = root(&pivot, sign, &mut self.roots[panel.first + k]);
        let G = &self.roots[panel.first + k];
        let (a, rest) = self.lines[base..base + 6 * width].split_at_mut(width);
        let (b, rest) = rest.split_at_mut(width);
        let (c, rest) = rest.split_at_mut(width);
        let (d, rest) = rest.split_at_mut(width);
        let (e, f) = rest.split_at_mut(width);
        for i in k + 1..width {
            let mut V = Wide([a[i], b[i], c[i], d[i], e[i], f[i]]);
            substitute(simd, G, &mut V);
            [a[i], b[i], c[i], d[i], e[i], f[i]] = V.0;
            for (left, line) in self.left[6 * (i * own + k)..][..6].iter_mut().zip(&V.0) {
                *left = std::array::from_fn(|j| sign * line.0[j]);
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
        let Panel { own, width, .. } = *panel;
        let depth = 6 * vertices.len();
        let mut column = rows.start;
        while column < width {
            let pair = if column + 1 < width { 2 } else { 1 };
            let right = &mut self.right[..depth];
            for (r, right) in (6 * vertices.start..).zip(right.iter_mut()) {
                let lines = &self.lines[panel.lines + r * width + column..][..pair];
                right.0[..8].copy_from_slice(&lines[0].0);
                if pair == 2 {
                    right.0[8..].copy_from_slice(&lines[1].0);
                }
            }
            for i in rows.start..rows.end.min(column + pair) {
                let left = &self.left[6 * (i * own + vertices.start)..][..depth];
                let product = product(simd, left, right);
                let (line, stride, [at, next]) = match onto {
                    Onto::Itself => (panel.lines + 6 * i * width, width, [column, column + 1]),
                    Onto::Later(target) => {
                        let later = &self.panels[target.panel];
                        let row = self.columns[panel.columns + i] as usize - later.first;
                        let at = |c: usize| self.places[target.places + c - target.from] as usize;
                        let next = if pair == 2 { at(column + 1) } else { 0 };
                        (later.lines + 6 * row * later.width, later.width, [at(column), next])
                    }
                };
                for (r, two) in product.iter().enumerate() {
                    let line = &mut self.lines[line + r * stride..][..stride];
                    // a column before its row is the lower half, which nobody reads
                    let low = &mut line[at].0;
                    for j in 0..8 {
                        low[j] -= two.0[j];
                    }
                    if pair == 2 {
                        let high = &mut line[next].0;
                        for j in 0..8 {
                            high[j] -= two.0[8 + j];
                        }
                    }
                }
            }
            column += pair;
        }
    }

    /// x <- A^-1 x, six numbers per vertex in the order given to [`Self::new`].
    pub fn solve(&mut self, x: &mut [f64]) {
        for (line, &v) in self.x.iter_mut().zip(&self.order) {
            line.0[..6].copy_from_slice(&x[6 * v as usize..6 * v as usize + 6]);
        }
        Arch::new().dispatch(Solve(self));
        for (line, &v) in self.x.iter().zip(&self.order) {
            x[6 * v as usize..6 * v as usize + 6].copy_from_slice(&line.0[..6]);
        }
    }

    #[inline(always)]
    fn solve_here<S: Simd>(&mut self, simd: S) {
        let BlockLdl { panels, columns, positive, lines, roots, x, local, .. } = self;
        // y_k = G^-1 x_k,   x_i <- x_i - s V_i^T y_k
        for panel in panels.iter() {
            let Panel { first, own, width, .. } = *panel;
            let columns = &columns[panel.columns..][..width];
            let local = &mut local[..width];
            for (line, &c) in local.iter_mut().zip(columns) {
                *line = x[c as usize];
            }
            for k in 0..own {
                let G = &roots[first + k];
                let sign = if positive[first + k] { -1.0 } else { 1.0 };
                let mut y = local[k].0;
                for i in 0..6 {
                    for j in 0..i {
                        y[i] -= G[6 * i + j] * y[j];
                    }
                    y[i] *= G[7 * i];
                }
                local[k].0 = y;
                let rows = six_rows(&lines[panel.lines + 6 * k * width..][..6 * width], width, k + 1);
                for (i, target) in local[k + 1..].iter_mut().enumerate() {
                    for (v, target) in S::as_mut_simd_f64s(&mut target.0).0.iter_mut().enumerate() {
                        let mut sum = *target;
                        for r in 0..6 {
                            sum = simd.mul_add_f64s(
                                simd.splat_f64s(sign * y[r]),
                                S::as_simd_f64s(&rows[r][i].0).0[v],
                                sum,
                            );
                        }
                        *target = sum;
                    }
                }
            }
            for (line, &c) in local.iter().zip(columns) {
                x[c as usize] = *line;
            }
        }
        // x_k = s G^-T (y_k - sum V_i x_i)
        for panel in panels.iter().rev() {
            let Panel { first, own, width, .. } = *panel;
            let columns = &columns[panel.columns..][..width];
            let local = &mut local[..width];
            for (line, &c) in local.iter_mut().zip(columns) {
                *line = x[c as usize];
            }
            for k in (0..own).rev() {
                let G = &roots[first + k];
                let sign = if positive[first + k] { 1.0 } else { -1.0 };
                let rows = six_rows(&lines[panel.lines + 6 * k * width..][..6 * width], width, k + 1);
                let mut sums = [Line::default(); 6];
                for (i, source) in local[k + 1..].iter().enumerate() {
                    for (v, source) in S::as_simd_f64s(&source.0).0.iter().enumerate() {
                        for r in 0..6 {
                            let sum = &mut S::as_mut_simd_f64s(&mut sums[r].0).0[v];
                            *sum = simd.mul_add_f64s(S::as_simd_f64s(&rows[r][i].0).0[v], *source, *sum);
                        }
                    }
                }
                let y = &mut local[k].0;
                for i in (0..6).rev() {
                    let s = &sums[i].0;
                    y[i] -= ((s[0] + s[1]) + (s[2] + s[3])) + (s[4] + s[5]);
                    for j in i + 1..6 {
                        y[i] -= G[6 * j + i] * y[j];
                    }
                    y[i] *= G[7 * i];
                }
                for y in y.iter_mut() {
                    *y *= sign;
                }
            }
            for (line, &c) in local[..own].iter().zip(columns) {
                x[c as usize] = *line;
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

/// The six rows of a vertex from column `from` on.
#[inline(always)]
fn six_rows(lines: &[Line], width: usize, from: usize) -> [&[Line]; 6] {
    std::array::from_fn(|r| &lines[r * width + from..(r + 1) * width])
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

/// Order of least degree and the vertices that remain beside each one when its turn comes.
fn eliminate(vertices: &[Vertex], edges: &[(u32, u32)]) -> (Vec<u32>, Vec<Vec<u32>>) {
    let n = vertices.len();
    let mut beside: Vec<Vec<u32>> = vec![Vec::new(); n];
    for &(a, b) in edges {
        beside[a as usize].push(b);
        beside[b as usize].push(a);
    }
    for list in &mut beside {
        list.sort_unstable();
        list.dedup();
    }
    // bodies a group of rows still waits for, and whether one has answered for it
    let mut waits: Vec<usize> = (0..n)
        .map(|v| match vertices[v] {
            Vertex::Body => 0,
            Vertex::Rows => beside[v].iter().filter(|&&b| vertices[b as usize] == Vertex::Body).count(),
        })
        .collect();
    let original = beside.clone();
    let mut queue: std::collections::BTreeSet<(u32, u32)> =
        (0..n).filter(|&v| waits[v] == 0).map(|v| (beside[v].len() as u32, v as u32)).collect();
    let mut gone = vec![false; n];
    let (mut order, mut columns) = (Vec::with_capacity(n), Vec::with_capacity(n));
    let mut merged = Vec::new();
    while let Some((_, v)) = queue.pop_first() {
        gone[v as usize] = true;
        let around = std::mem::take(&mut beside[v as usize]);
        for &a in &around {
            let list = &mut beside[a as usize];
            let queued = queue.remove(&(list.len() as u32, a));
            merged.clear();
            let (mut i, mut j) = (0, 0);
            while i < list.len() || j < around.len() {
                let next = match (list.get(i), around.get(j)) {
                    (Some(&x), Some(&y)) => x.min(y),
                    (Some(&x), None) => x,
                    (None, Some(&y)) => y,
                    (None, None) => break,
                };
                i += usize::from(list.get(i) == Some(&next));
                j += usize::from(around.get(j) == Some(&next));
                if next != v && next != a {
                    merged.push(next);
                }
            }
            std::mem::swap(list, &mut merged);
            if queued {
                queue.insert((list.len() as u32, a));
            }
        }
        if vertices[v as usize] == Vertex::Body {
            // it answers for one group; the others wait until all their bodies are gone
            let mut answered = false;
            for &r in &original[v as usize] {
                let r = r as usize;
                if vertices[r] != Vertex::Rows || gone[r] || waits[r] == 0 {
                    continue;
                }
                waits[r] -= 1;
                if waits[r] == 0 || !answered {
                    answered |= waits[r] > 0;
                    waits[r] = 0;
                    queue.insert((beside[r].len() as u32, r as u32));
                }
            }
        }
        order.push(v);
        columns.push(around);
    }
    (order, columns)
}

/// The same elimination in an order in which what is eliminated for the sake of a vertex comes right before it: the vertices of the tree
/// of eliminations from its leaves to its roots. Fill and pivots stay.
fn postorder(order: Vec<u32>, beside: Vec<Vec<u32>>) -> (Vec<u32>, Vec<Vec<u32>>) {
    let n = order.len();
    let mut place = vec![0; n];
    for (position, &v) in order.iter().enumerate() {
        place[v as usize] = position;
    }
    // the first later neighbour of each
    let mut children = vec![Vec::new(); n];
    let mut roots = Vec::new();
    for (k, list) in beside.iter().enumerate() {
        match list.iter().map(|&v| place[v as usize]).min() {
            Some(parent) => children[parent].push(k),
            None => roots.push(k),
        }
    }
    // the one with most neighbours last: it may share a panel with its parent
    for list in &mut children {
        list.sort_by_key(|&k| beside[k].len());
    }
    let (mut stack, mut backwards): (Vec<usize>, Vec<usize>) = (roots, Vec::with_capacity(n));
    while let Some(k) = stack.pop() {
        backwards.push(k);
        stack.extend(&children[k]);
    }
    let mut beside: Vec<Option<Vec<u32>>> = beside.into_iter().map(Some).collect();
    backwards.iter().rev().map(|&k| (order[k], beside[k].take().unwrap_or_default())).unzip()
}

/// sum over k of left_k right_k^T, every product and sum rounded once, in the order of k.
#[inline(always)]
fn product<S: Simd>(simd: S, left: &[[f64; 6]], right: &[Two]) -> [Two; 6] {
    let mut out = [Two::default(); 6];
    let lanes = 16 / S::F64_LANES;
    for v in (0..lanes).step_by(2) {
        let mut sums = [[simd.splat_f64s(0.0); 2]; 6];
        for (left, right) in left.iter().zip(right) {
            let right = S::as_simd_f64s(&right.0).0;
            let (low, high) = (right[v], right[v + 1]);
            for i in 0..6 {
                let a = simd.splat_f64s(left[i]);
                sums[i][0] = simd.mul_add_f64s(a, low, sums[i][0]);
                sums[i][1] = simd.mul_add_f64s(a, high, sums[i][1]);
            }
        }
        for i in 0..6 {
            let out = S::as_mut_simd_f64s(&mut out[i].0).0;
            (out[v], out[v + 1]) = (sums[i][0], sums[i][1]);
        }
    }
    out
}

/// V <- G^-1 V.
#[inline(always)]
fn substitute<S: Simd>(simd: S, G: &Block, V: &mut Wide) {
    for i in 0..6 {
        let (above, below) = V.0.split_at_mut(i);
        let row = S::as_mut_simd_f64s(&mut below[0].0).0;
        for (v, target) in row.iter_mut().enumerate() {
            let mut sum = *target;
            for (k, line) in above.iter().enumerate() {
                sum = simd.mul_add_f64s(simd.splat_f64s(-G[6 * i + k]), S::as_simd_f64s(&line.0).0[v], sum);
            }
            *target = simd.mul_f64s(sum, simd.splat_f64s(G[7 * i]));
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
fn root(a: &Wide, sign: f64, G: &mut Block) -> bool {
    let mut good = true;
    for i in 0..6 {
        for j in 0..=i {
            let mut sum = sign * a.0[i].0[j];
            for k in 0..j {
                sum -= G[6 * i + k] * G[6 * j + k];
            }
            if i == j {
                let scale = (sign * a.0[i].0[i]).abs();
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
