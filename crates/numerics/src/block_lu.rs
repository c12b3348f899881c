//! Block-sparse LU of a matrix whose block graph is symmetric: a node for a body, for the springs of a contact, ...,
//! an edge between two that interact.
//!
//! Elimination in minimum-degree order. With A_kk = P_k L_k U_k (partial pivoting inside the block) and X_kj = A_kk^-1 A_kj:
//!   A_ij <- A_ij - A_ik X_kj   for all later neighbours i, j of k            (Duff, Erisman, Reid 2017, chapter 10)
//! then  z_k = A_kk^-1 b_k,  b_i <- b_i - A_ik z_k   forward, and  x_k = z_k - sum_j X_kj x_j   backward.

/// Which blocks of a square matrix may be non-zero.
#[derive(Clone, Debug, Default)]
pub struct BlockPattern {
    /// First row of each node, and after the last node the number of rows.
    pub offsets: Vec<usize>,
    /// Neighbours of each node, sorted, without the node itself; symmetric.
    pub neighbours: Vec<Vec<u32>>,
    /// Decides between nodes of equal degree before their index does; empty if the index may. A key that does not know the
    /// nodes' order makes the result independent of it.
    pub priority: Vec<u64>,
}

impl BlockPattern {
    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.neighbours.len()
    }

    /// Rows of node `k`.
    pub fn size(&self, k: usize) -> usize {
        self.offsets[k + 1] - self.offsets[k]
    }

    /// Where the block of rows of node `i` and columns of node `j` stands in its row, see [`BlockMatrix::block`]; `None` if it is zero.
    pub fn slot(&self, i: usize, j: usize) -> Option<usize> {
        if i == j { Some(0) } else { self.neighbours[i].binary_search(&(j as u32)).ok().map(|k| k + 1) }
    }

    /// Number of rows of the whole matrix.
    pub fn rows(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Colours such that two nodes of one colour share neither an edge nor a neighbour: their columns of a Jacobian can
    /// be found from one evaluation (Curtis, Powell, Reid 1974). Nodes that are `known` have none, `u32::MAX`.
    pub fn colours(&self, known: impl Fn(usize) -> bool) -> Vec<u32> {
        let n = self.nodes();
        let mut colour = vec![u32::MAX; n];
        let mut taken = vec![u32::MAX; n + 1];
        for k in (0..n).filter(|k| !known(*k)) {
            for &i in &self.neighbours[k] {
                if colour[i as usize] != u32::MAX {
                    taken[colour[i as usize] as usize] = k as u32;
                }
                for &j in &self.neighbours[i as usize] {
                    if colour[j as usize] != u32::MAX {
                        taken[colour[j as usize] as usize] = k as u32;
                    }
                }
            }
            let mut c = 0;
            while taken[c as usize] == k as u32 {
                c += 1;
            }
            colour[k] = c;
        }
        colour
    }
}

/// Values on a [`BlockPattern`]: for each node its diagonal block, then the blocks of its row in neighbour order; each
/// block row major.
#[derive(Clone, Debug, Default)]
pub struct BlockMatrix {
    values: Vec<f64>,
    starts: Vec<Vec<usize>>,
}

impl BlockMatrix {
    /// Room for the blocks of `pattern`, all zero.
    pub fn new(pattern: &BlockPattern) -> Self {
        let mut next = 0;
        let mut starts = Vec::with_capacity(pattern.nodes());
        for i in 0..pattern.nodes() {
            let mut row = vec![next];
            next += pattern.size(i) * pattern.size(i);
            for &j in &pattern.neighbours[i] {
                row.push(next);
                next += pattern.size(i) * pattern.size(j as usize);
            }
            starts.push(row);
        }
        BlockMatrix { values: vec![0.0; next], starts }
    }

    /// The diagonal block (`slot` 0) or the block of the row's neighbour `slot - 1`.
    pub fn block(&self, row: usize, slot: usize, length: usize) -> &[f64] {
        &self.values[self.starts[row][slot]..][..length]
    }

    /// Mutable [`Self::block`].
    pub fn block_mut(&mut self, row: usize, slot: usize, length: usize) -> &mut [f64] {
        &mut self.values[self.starts[row][slot]..][..length]
    }

    /// All blocks zero.
    pub fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// y = A x.
    pub fn multiply(&self, pattern: &BlockPattern, x: &[f64], y: &mut [f64]) {
        for i in 0..pattern.nodes() {
            let rows = pattern.size(i);
            let yi = &mut y[pattern.offsets[i]..][..rows];
            yi.fill(0.0);
            for slot in 0..=pattern.neighbours[i].len() {
                let j = if slot == 0 { i } else { pattern.neighbours[i][slot - 1] as usize };
                let columns = pattern.size(j);
                let xj = &x[pattern.offsets[j]..][..columns];
                let block = self.block(i, slot, rows * columns);
                for (r, yr) in yi.iter_mut().enumerate() {
                    *yr += dot(&block[r * columns..][..columns], xj);
                }
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut s = 0.0;
    for (x, y) in a.iter().zip(b) {
        s += x * y;
    }
    s
}

/// A pivot vanished: the row of the matrix that became zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Singular(pub usize);

/// Factors of one matrix on one pattern; the symbolic part is reused by every [`Self::factor`].
#[derive(Clone, Debug, Default)]
pub struct BlockLu {
    order: Vec<u32>,
    /// For node k (in elimination order) its later neighbours with the fill included, by position in the order.
    later: Vec<Vec<u32>>,
    sizes: Vec<usize>,
    offsets: Vec<usize>,
    diagonal: Vec<usize>,
    /// Start of block A_ik (i later than k) and X_kj, for slot s of `later[k]`.
    lower: Vec<Vec<usize>>,
    upper: Vec<Vec<usize>>,
    values: Vec<f64>,
    pivots: Vec<u32>,
    work: Vec<f64>,
}

impl BlockLu {
    /// Chooses the elimination order and lays out the factors.
    pub fn new(pattern: &BlockPattern) -> Self {
        let n = pattern.nodes();
        let (order, later_nodes) = minimum_degree(pattern);
        let mut position = vec![0u32; n];
        for (at, &k) in order.iter().enumerate() {
            position[k as usize] = at as u32;
        }
        let mut lu = BlockLu { order: order.clone(), ..Default::default() };
        lu.sizes = order.iter().map(|&k| pattern.size(k as usize)).collect();
        lu.offsets = order.iter().map(|&k| pattern.offsets[k as usize]).collect();
        let mut next = 0;
        for (at, nodes) in later_nodes.iter().enumerate() {
            let mut later: Vec<u32> = nodes.iter().map(|&j| position[j as usize]).collect();
            later.sort_unstable();
            let size = lu.sizes[at];
            lu.diagonal.push(next);
            next += size * size;
            let (mut lower, mut upper) = (Vec::new(), Vec::new());
            for &j in &later {
                lower.push(next);
                next += size * lu.sizes[j as usize];
                upper.push(next);
                next += size * lu.sizes[j as usize];
            }
            lu.later.push(later);
            lu.lower.push(lower);
            lu.upper.push(upper);
        }
        lu.values = vec![0.0; next];
        lu.pivots = vec![0; pattern.rows()];
        lu.work = vec![0.0; pattern.rows().max(1)];
        lu
    }

    /// Start of block (row i, column j), both positions in the elimination order.
    fn at(&self, i: usize, j: usize) -> usize {
        if i == j {
            self.diagonal[i]
        } else if i > j {
            let slot = self.later[j].binary_search(&(i as u32)).expect("fill is part of the pattern");
            self.lower[j][slot]
        } else {
            let slot = self.later[i].binary_search(&(j as u32)).expect("fill is part of the pattern");
            self.upper[i][slot]
        }
    }

    /// Factors W = shift I - J.
    pub fn factor(&mut self, pattern: &BlockPattern, J: &BlockMatrix, shift: f64) -> Result<(), Singular> {
        self.load(pattern, J, shift);
        for k in 0..self.order.len() {
            self.eliminate(k)?;
        }
        Ok(())
    }

    fn load(&mut self, pattern: &BlockPattern, J: &BlockMatrix, shift: f64) {
        self.values.fill(0.0);
        let mut position = vec![0usize; self.order.len()];
        for (at, &k) in self.order.iter().enumerate() {
            position[k as usize] = at;
        }
        for i in 0..pattern.nodes() {
            let rows = pattern.size(i);
            for slot in 0..=pattern.neighbours[i].len() {
                let j = if slot == 0 { i } else { pattern.neighbours[i][slot - 1] as usize };
                let length = rows * pattern.size(j);
                let start = self.at(position[i], position[j]);
                for (w, v) in self.values[start..start + length].iter_mut().zip(J.block(i, slot, length)) {
                    *w = -v;
                }
                if slot == 0 {
                    for r in 0..rows {
                        self.values[start + r * rows + r] += shift;
                    }
                }
            }
        }
    }

    fn eliminate(&mut self, k: usize) -> Result<(), Singular> {
        let n = self.sizes[k];
        let offset = self.offsets[k];
        let d = self.diagonal[k];
        // A_kk = P L U in place
        for c in 0..n {
            let mut p = c;
            for r in c + 1..n {
                if self.values[d + r * n + c].abs() > self.values[d + p * n + c].abs() {
                    p = r;
                }
            }
            self.pivots[offset + c] = p as u32;
            let pivot = self.values[d + p * n + c];
            if pivot == 0.0 || !pivot.is_finite() {
                return Err(Singular(offset + c));
            }
            if p != c {
                for j in 0..n {
                    self.values.swap(d + c * n + j, d + p * n + j);
                }
            }
            let inverse = 1.0 / pivot;
            let (top, bottom) = self.values[d..d + n * n].split_at_mut((c + 1) * n);
            let pivot_row = &top[c * n..];
            for row in bottom.chunks_exact_mut(n) {
                let l = row[c] * inverse;
                row[c] = l;
                if l != 0.0 {
                    for (a, b) in row[c + 1..].iter_mut().zip(&pivot_row[c + 1..]) {
                        *a -= l * b;
                    }
                }
            }
        }
        // X_kj = A_kk^-1 A_kj
        for slot in 0..self.later[k].len() {
            let columns = self.sizes[self.later[k][slot] as usize];
            let start = self.upper[k][slot];
            let (before, after) = self.values.split_at_mut(start);
            solve_block(&before[d..d + n * n], &self.pivots[offset..offset + n], &mut after[..n * columns], columns);
        }
        // A_ij <- A_ij - A_ik X_kj
        for a in 0..self.later[k].len() {
            let i = self.later[k][a] as usize;
            let rows = self.sizes[i];
            for b in 0..self.later[k].len() {
                let j = self.later[k][b] as usize;
                let columns = self.sizes[j];
                let target = self.at(i, j);
                let (left, right) = (self.lower[k][a], self.upper[k][b]);
                // blocks of later nodes lie behind those of node k
                let (source, sink) = self.values.split_at_mut(target);
                for r in 0..rows {
                    let sink_row = &mut sink[r * columns..][..columns];
                    for m in 0..n {
                        let l = source[left + r * n + m];
                        if l != 0.0 {
                            for (s, x) in sink_row.iter_mut().zip(&source[right + m * columns..][..columns]) {
                                *s -= l * x;
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Solves W x = b in place with the last factors.
    pub fn solve(&mut self, b: &mut [f64]) {
        for k in 0..self.order.len() {
            let (n, offset, d) = (self.sizes[k], self.offsets[k], self.diagonal[k]);
            solve_block(&self.values[d..d + n * n], &self.pivots[offset..offset + n], &mut b[offset..offset + n], 1);
            self.work[..n].copy_from_slice(&b[offset..offset + n]);
            for slot in 0..self.later[k].len() {
                let i = self.later[k][slot] as usize;
                let block = &self.values[self.lower[k][slot]..];
                for r in 0..self.sizes[i] {
                    b[self.offsets[i] + r] -= dot(&block[r * n..][..n], &self.work[..n]);
                }
            }
        }
        for k in (0..self.order.len()).rev() {
            let (n, offset) = (self.sizes[k], self.offsets[k]);
            for slot in 0..self.later[k].len() {
                let j = self.later[k][slot] as usize;
                let columns = self.sizes[j];
                let block = &self.values[self.upper[k][slot]..];
                for r in 0..n {
                    let s = dot(&block[r * columns..][..columns], &b[self.offsets[j]..][..columns]);
                    b[offset + r] -= s;
                }
            }
        }
    }
}

/// B <- A^-1 B for B of `columns` columns, with A factored in place and its pivots.
fn solve_block(A: &[f64], pivots: &[u32], B: &mut [f64], columns: usize) {
    let n = pivots.len();
    for (c, &p) in pivots.iter().enumerate() {
        if p as usize != c {
            for j in 0..columns {
                B.swap(c * columns + j, p as usize * columns + j);
            }
        }
    }
    for r in 1..n {
        let (done, row) = B.split_at_mut(r * columns);
        for c in 0..r {
            let l = A[r * n + c];
            if l != 0.0 {
                for j in 0..columns {
                    row[j] -= l * done[c * columns + j];
                }
            }
        }
    }
    for r in (0..n).rev() {
        let (head, done) = B.split_at_mut((r + 1) * columns);
        let row = &mut head[r * columns..];
        for c in r + 1..n {
            let u = A[r * n + c];
            if u != 0.0 {
                for j in 0..columns {
                    row[j] -= u * done[(c - r - 1) * columns + j];
                }
            }
        }
        let inverse = 1.0 / A[r * n + r];
        for x in row.iter_mut() {
            *x *= inverse;
        }
    }
}

/// Elimination order by smallest current degree (ties by index), and the later neighbours of each node, fill included.
fn minimum_degree(pattern: &BlockPattern) -> (Vec<u32>, Vec<Vec<u32>>) {
    let n = pattern.nodes();
    let mut graph: Vec<std::collections::BTreeSet<u32>> =
        pattern.neighbours.iter().map(|list| list.iter().copied().collect()).collect();
    let key = |degree: usize, k: u32| (degree, pattern.priority.get(k as usize).copied().unwrap_or(0), k);
    let mut queue: std::collections::BTreeSet<(usize, u64, u32)> =
        (0..n as u32).map(|k| key(graph[k as usize].len(), k)).collect();
    let (mut order, mut later) = (Vec::with_capacity(n), Vec::with_capacity(n));
    while let Some((_, _, k)) = queue.pop_first() {
        let list: Vec<u32> = std::mem::take(&mut graph[k as usize]).into_iter().collect();
        for &i in &list {
            queue.remove(&key(graph[i as usize].len(), i));
            graph[i as usize].remove(&k);
        }
        for (a, &i) in list.iter().enumerate() {
            for &j in &list[a + 1..] {
                graph[i as usize].insert(j);
                graph[j as usize].insert(i);
            }
        }
        for &i in &list {
            queue.insert(key(graph[i as usize].len(), i));
        }
        order.push(k);
        later.push(list);
    }
    (order, later)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of nodes of different sizes: fill appears, pivoting is needed.
    fn ring(n: usize) -> BlockPattern {
        let mut offsets = vec![0];
        for k in 0..n {
            offsets.push(offsets[k] + 2 + k % 3);
        }
        let neighbours = (0..n)
            .map(|k| {
                let mut list = vec![((k + 1) % n) as u32, ((k + n - 1) % n) as u32];
                list.sort_unstable();
                list.dedup();
                list
            })
            .collect();
        BlockPattern { offsets, neighbours, priority: Vec::new() }
    }

    #[test]
    fn solve_reverses_multiply() {
        let pattern = ring(9);
        let mut J = BlockMatrix::new(&pattern);
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        for v in J.values.iter_mut() {
            *v = random();
        }
        let shift = 0.3;
        let x: Vec<f64> = (0..pattern.rows()).map(|_| random()).collect();
        let mut b = vec![0.0; x.len()];
        J.multiply(&pattern, &x, &mut b);
        for (bi, xi) in b.iter_mut().zip(&x) {
            *bi = shift * xi - *bi;
        }
        let mut lu = BlockLu::new(&pattern);
        lu.factor(&pattern, &J, shift).unwrap();
        lu.solve(&mut b);
        for (bi, xi) in b.iter().zip(&x) {
            assert!((bi - xi).abs() < 1e-11, "{bi} {xi}");
        }
    }

    #[test]
    fn colours_do_not_collide() {
        let pattern = ring(10);
        let colours = pattern.colours(|_| false);
        for k in 0..10 {
            for &i in &pattern.neighbours[k] {
                assert_ne!(colours[k], colours[i as usize]);
                for &j in &pattern.neighbours[i as usize] {
                    assert!(j as usize == k || colours[k] != colours[j as usize]);
                }
            }
        }
    }

    #[test]
    fn singular_matrix_is_named() {
        let pattern = BlockPattern { offsets: vec![0, 2], neighbours: vec![vec![]], priority: vec![] };
        let J = BlockMatrix::new(&pattern);
        assert_eq!(BlockLu::new(&pattern).factor(&pattern, &J, 0.0), Err(Singular(0)));
    }
}
