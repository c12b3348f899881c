//! Block LDL^T of a symmetric quasi-definite matrix with 6x6 blocks.
//!
//! Vertices are bodies (positive definite blocks) and groups of exact rows (zero or negative semidefinite blocks that become
//! negative definite once a body beside them is eliminated). With D_k = s G G^T the pivot and A_ki a block beside it,
//!   V_i = G^-1 A_ki,    A_ij <- A_ij - s V_i^T V_j   for all later neighbours i, j of k,
//! in an order of least degree where a group of rows waits until a body beside it, which has not answered for another group
//! yet, is gone (or all of them are): its pivot is then -J M^-1 J^T of at least that body, which has full rank. Trees are
//! eliminated without fill.

use pulp::{Arch, Simd, WithSimd};

/// A 6x6 block by rows.
pub type Block = [f64; 36];

/// A 6x6 block with a cache line for each row: rows are whole vectors of any machine. The last two columns are zero.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct Wide(pub [[f64; 8]; 6]);

impl From<&Block> for Wide {
    fn from(block: &Block) -> Wide {
        let mut wide = Wide::default();
        for i in 0..6 {
            wide.0[i][..6].copy_from_slice(&block[6 * i..6 * i + 6]);
        }
        wide
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

/// Pattern, order and factors.
#[derive(Clone, Debug, Default)]
pub struct BlockLdl {
    /// Vertex by position.
    order: Vec<u32>,
    /// Position by vertex.
    place: Vec<u32>,
    /// True for bodies, by position.
    positive: Vec<bool>,
    /// Where the column of a position begins in `rows`, and the end of the last.
    start: Vec<u32>,
    /// Positions of the blocks below the diagonal, ascending in each column.
    rows: Vec<u32>,
    /// Those blocks: A_ik, then V_i of row i.
    values: Vec<Wide>,
    /// Diagonal blocks of A, then of D = s G G^T.
    pivots: Vec<Wide>,
    /// Their roots G.
    roots: Vec<Block>,
    /// Where the block of each edge is, and whether it is that of (b, a) there.
    slots: Vec<(u32, bool)>,
    /// Room for a column with the sign of its pivot.
    column: Vec<Wide>,
    x: Vec<f64>,
}

impl BlockLdl {
    /// Order and pattern for these vertices and edges (a, b), a != b, each pair once.
    pub fn new(vertices: &[Vertex], edges: &[(u32, u32)]) -> BlockLdl {
        let n = vertices.len();
        let (order, columns) = eliminate(vertices, edges);
        let mut place = vec![0; n];
        for (position, &v) in order.iter().enumerate() {
            place[v as usize] = position as u32;
        }
        let (mut start, mut rows) = (vec![0], Vec::new());
        for column in &columns {
            let from = rows.len();
            rows.extend(column.iter().map(|&v| place[v as usize]));
            rows[from..].sort_unstable();
            start.push(rows.len() as u32);
        }
        let slots = edges
            .iter()
            .map(|&(a, b)| {
                let (pa, pb) = (place[a as usize], place[b as usize]);
                let (low, high) = (pa.min(pb), pa.max(pb));
                let column = start[low as usize] as usize..start[low as usize + 1] as usize;
                let at = rows[column.clone()].partition_point(|&r| r < high);
                ((column.start + at) as u32, pa > pb)
            })
            .collect();
        let widest = columns.iter().map(Vec::len).max().unwrap_or(0);
        BlockLdl {
            positive: order.iter().map(|&v| vertices[v as usize] == Vertex::Body).collect(),
            values: vec![Wide::default(); rows.len()],
            pivots: vec![Wide::default(); n],
            roots: vec![[0.0; 36]; n],
            column: vec![Wide::default(); widest],
            x: vec![0.0; 6 * n],
            order,
            place,
            start,
            rows,
            slots,
        }
    }

    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.order.len()
    }

    /// Number of blocks below the diagonal, fill included.
    pub fn blocks(&self) -> usize {
        self.rows.len()
    }

    /// All blocks zero.
    pub fn clear(&mut self) {
        self.values.fill(Wide::default());
        self.pivots.fill(Wide::default());
    }

    /// Diagonal block of a vertex, to be filled.
    #[inline]
    pub fn diagonal(&mut self, vertex: usize) -> &mut Wide {
        &mut self.pivots[self.place[vertex] as usize]
    }

    /// Adds a block to A_ab of edge `k`, the k-th of those given to [`Self::new`].
    #[inline]
    pub fn add(&mut self, k: usize, block: &Block) {
        let (slot, straight) = self.slots[k];
        let target = &mut self.values[slot as usize].0;
        for i in 0..6 {
            for j in 0..6 {
                // a is eliminated after b: the stored block is A_ab
                let (row, column) = if straight { (i, j) } else { (j, i) };
                target[row][column] += block[6 * i + j];
            }
        }
    }

    /// Factors what was filled in, A_kk = s G G^T with s = 1 for bodies and -1 for rows. False if a pivot is not definite, even after a
    /// tiny share was added to it.
    ///   V_i = G^-1 A_ki,   A_ij <- A_ij - s V_i^T V_j:
    /// substitution, because an inverse of A_kk would be off by its condition, which stiff rows make large, and they enter twice.
    pub fn factor(&mut self) -> bool {
        Arch::new().dispatch(Factor(self))
    }

    /// [`Self::factor`], compiled for whatever vectors the machine has; the same bits on all of them.
    #[inline(always)]
    fn factor_here<S: Simd>(&mut self, simd: S) -> bool {
        let mut good = true;
        for k in 0..self.order.len() {
            let (pivot, sign) = (self.pivots[k], if self.positive[k] { 1.0 } else { -1.0 });
            good &= root(&pivot, sign, &mut self.roots[k]);
            let span = self.start[k] as usize..self.start[k + 1] as usize;
            let below = span.len();
            for (scaled, value) in self.column.iter_mut().zip(&mut self.values[span.clone()]) {
                *value = transposed(value);
                substitute(simd, &self.roots[k], value);
                *scaled = Wide(value.0.map(|row| row.map(|x| sign * x)));
            }
            for j in 0..below {
                let target = self.rows[span.start + j] as usize;
                subtract(simd, &self.values[span.start + j], &self.column[j], &mut self.pivots[target]);
                let mut at = self.start[target] as usize;
                for i in j + 1..below {
                    let row = self.rows[span.start + i];
                    while self.rows[at] != row {
                        at += 1;
                    }
                    // values of column k come before those of later columns
                    let (left, right) = self.values.split_at_mut(at);
                    subtract(simd, &left[span.start + i], &self.column[j], &mut right[0]);
                }
            }
        }
        good
    }

    /// x <- A^-1 x, six numbers per vertex in the order given to [`Self::new`].
    pub fn solve(&mut self, x: &mut [f64]) {
        for (position, &v) in self.order.iter().enumerate() {
            self.x[6 * position..6 * position + 6].copy_from_slice(&x[6 * v as usize..6 * v as usize + 6]);
        }
        // y_k = G^-1 x_k,   x_i <- x_i - s V_i^T y_k
        for k in 0..self.order.len() {
            let (before, after) = self.x.split_at_mut(6 * k + 6);
            let own = &mut before[6 * k..];
            let (G, sign) = (&self.roots[k], if self.positive[k] { 1.0 } else { -1.0 });
            for i in 0..6 {
                let mut sum = own[i];
                for j in 0..i {
                    sum -= G[6 * i + j] * own[j];
                }
                own[i] = sum * G[7 * i];
            }
            for s in self.start[k] as usize..self.start[k + 1] as usize {
                let row = self.rows[s] as usize;
                let target = &mut after[6 * (row - k - 1)..][..6];
                let V = &self.values[s].0;
                let mut sum = [0.0; 6];
                for i in 0..6 {
                    for j in 0..6 {
                        sum[j] += V[i][j] * own[i];
                    }
                }
                for j in 0..6 {
                    target[j] -= sign * sum[j];
                }
            }
        }
        // x_k = s G^-T (y_k - sum V_i x_i)
        for k in (0..self.order.len()).rev() {
            let (before, after) = self.x.split_at_mut(6 * k + 6);
            let own = &mut before[6 * k..];
            let (G, sign) = (&self.roots[k], if self.positive[k] { 1.0 } else { -1.0 });
            for s in self.start[k] as usize..self.start[k + 1] as usize {
                let row = self.rows[s] as usize;
                let source = &after[6 * (row - k - 1)..][..6];
                let V = &self.values[s].0;
                for i in 0..6 {
                    let mut sum = 0.0;
                    for j in 0..6 {
                        sum += V[i][j] * source[j];
                    }
                    own[i] -= sum;
                }
            }
            for i in (0..6).rev() {
                let mut sum = own[i];
                for j in i + 1..6 {
                    sum -= G[6 * j + i] * own[j];
                }
                own[i] = sum * G[7 * i];
            }
            for x in own.iter_mut() {
                *x *= sign;
            }
        }
        for (position, &v) in self.order.iter().enumerate() {
            x[6 * v as usize..6 * v as usize + 6].copy_from_slice(&self.x[6 * position..6 * position + 6]);
        }
    }
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

/// out -= a^T b, every product and difference rounded once.
#[inline(always)]
fn subtract<S: Simd>(simd: S, a: &Wide, b: &Wide, out: &mut Wide) {
    for i in 0..6 {
        let row = S::as_mut_simd_f64s(&mut out.0[i]).0;
        for (v, target) in row.iter_mut().enumerate() {
            let mut sum = *target;
            for k in 0..6 {
                sum = simd.mul_add_f64s(simd.splat_f64s(-a.0[k][i]), S::as_simd_f64s(&b.0[k]).0[v], sum);
            }
            *target = sum;
        }
    }
}

/// V <- G^-1 V.
#[inline(always)]
fn substitute<S: Simd>(simd: S, G: &Block, V: &mut Wide) {
    for i in 0..6 {
        let (above, below) = V.0.split_at_mut(i);
        let row = S::as_mut_simd_f64s(&mut below[0]).0;
        for (v, target) in row.iter_mut().enumerate() {
            let mut sum = *target;
            for (k, line) in above.iter().enumerate() {
                sum = simd.mul_add_f64s(simd.splat_f64s(-G[6 * i + k]), S::as_simd_f64s(line).0[v], sum);
            }
            *target = simd.mul_f64s(sum, simd.splat_f64s(G[7 * i]));
        }
    }
}

#[inline(always)]
fn transposed(a: &Wide) -> Wide {
    let mut out = Wide::default();
    for i in 0..6 {
        for j in 0..6 {
            out.0[j][i] = a.0[i][j];
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
            let mut sum = sign * a.0[i][j];
            for k in 0..j {
                sum -= G[6 * i + k] * G[6 * j + k];
            }
            if i == j {
                let scale = (sign * a.0[i][i]).abs();
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
