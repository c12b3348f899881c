//! The order in which vertices of a block matrix are eliminated: little fill.
//!
//! Least degree, where a group of rows waits until a body beside it, which has not answered for another group yet, is gone (or all of them
//! are): its pivot is then -J M^-1 J^T of at least that body, which has full rank. Trees are eliminated without fill. Where there are only
//! bodies, and many, nested dissection as well (George 1973), and whichever makes fewer products of blocks: few vertices that part the
//! others in two halves come last, the halves before them, each in the same way. Such vertices lie between the distances from a vertex, or from two, and are
//! then improved one by one (Ashcraft, Liu 1997).

use super::Vertex;

/// Vertices in order, and those that remain beside each one when its turn comes.
pub(super) type Elimination = (Vec<u32>, Vec<Vec<u32>>);

/// Fewer vertices are not dissected.
const MANY: usize = 64;
/// Where dissection leaves more products per vertex than this, least degree is not tried: it takes long there and leaves more.
const DENSE: u64 = 200;
/// Vertices from which distances are measured.
const SOURCES: usize = 4;
/// Cuts that are improved.
const CUTS: usize = 3;
/// Moves without gain before an improvement ends.
const PATIENCE: usize = 40;

/// An order for these vertices and edges.
pub(super) fn of_elimination(vertices: &[Vertex], edges: &[(u32, u32)]) -> Elimination {
    let mut beside: Vec<Vec<u32>> = vec![Vec::new(); vertices.len()];
    for &(a, b) in edges {
        beside[a as usize].push(b);
        beside[b as usize].push(a);
    }
    for list in &mut beside {
        list.sort_unstable();
        list.dedup();
    }
    let dissected = (vertices.len() >= MANY && vertices.iter().all(|v| *v == Vertex::Body)).then(|| {
        let mut order = Vec::with_capacity(vertices.len());
        Graph { beside: beside.clone(), names: (0..vertices.len() as u32).collect() }.dissect(&mut order);
        in_order(order, &beside)
    });
    let most = dissected.as_ref().map_or(u64::MAX, |(_, columns)| columns.iter().map(|list| products_of(list)).sum());
    let found = match dissected {
        Some(dissected) if most > DENSE * vertices.len() as u64 => dissected,
        dissected => by_degree(vertices, &beside, most).or(dissected).unwrap_or_default(),
    };
    postorder(found)
}

/// Products of blocks that eliminating a vertex with these beside it takes.
fn products_of(around: &[u32]) -> u64 {
    let d = around.len() as u64;
    d * (d + 1) / 2
}

/// What remains beside each vertex in a given order.
fn in_order(order: Vec<u32>, beside: &[Vec<u32>]) -> Elimination {
    let n = order.len();
    let mut place = vec![0; n];
    for (position, &v) in order.iter().enumerate() {
        place[v as usize] = position;
    }
    // those of a vertex and, but for itself, those of the vertices of which it is the first
    let mut columns: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut firsts: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut seen = vec![u32::MAX; n];
    for (k, &v) in order.iter().enumerate() {
        let mut list = Vec::new();
        seen[v as usize] = k as u32;
        let children = std::mem::take(&mut firsts[k]);
        let lists = children.iter().map(|&child| &columns[child as usize]);
        for &w in lists.chain([&beside[v as usize]]).flatten() {
            if place[w as usize] > k && seen[w as usize] != k as u32 {
                seen[w as usize] = k as u32;
                list.push(w);
            }
        }
        if let Some(first) = list.iter().map(|&w| place[w as usize]).min() {
            firsts[first].push(k as u32);
        }
        columns[k] = list;
    }
    (order, columns)
}

/// Part of the vertices, numbered anew.
struct Graph {
    beside: Vec<Vec<u32>>,
    /// What its vertices are called outside.
    names: Vec<u32>,
}

/// Where a vertex is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Low,
    Between,
    High,
}

/// Vertices between two sides.
#[derive(Clone)]
struct Cut {
    side: Vec<Side>,
    /// How good it is: few vertices between sides of about the same size; less is better.
    score: u64,
}

/// For so many vertices between sides, the larger of which has `larger` of `n` vertices.
fn score(between: usize, larger: usize, n: usize) -> u64 {
    between as u64 * (n + 2 * larger).max(2 * n) as u64
}

impl Graph {
    /// Appends the names of its vertices in an order of nested dissection.
    fn dissect(self, order: &mut Vec<u32>) {
        let n = self.names.len();
        let apart = self.distances(0);
        if apart.contains(&u32::MAX) {
            for part in self.connected() {
                part.dissect(order);
            }
            return;
        }
        let cut = if n > SOURCES { self.cut(&apart) } else { None };
        let Some(cut) = cut else {
            // a star has none, and its middle must come last
            let least = by_degree(&vec![Vertex::Body; n], &self.beside, u64::MAX);
            let own = least.map_or_else(|| (0..n as u32).collect(), |(own, _)| own);
            order.extend(own.iter().map(|&v| self.names[v as usize]));
            return;
        };
        for side in [Side::Low, Side::High] {
            let part = self.part(|v| cut.side[v] == side);
            if !part.names.is_empty() {
                part.dissect(order);
            }
        }
        order.extend((0..n).filter(|&v| cut.side[v] == Side::Between).map(|v| self.names[v]));
    }

    /// Its connected parts.
    fn connected(&self) -> Vec<Graph> {
        let n = self.names.len();
        // which part each vertex is in, and its number there
        let (mut part, mut number) = (vec![u32::MAX; n], vec![0; n]);
        let mut parts: Vec<Graph> = Vec::new();
        for seed in 0..n {
            if part[seed] != u32::MAX {
                continue;
            }
            part[seed] = parts.len() as u32;
            let mut members = vec![seed];
            let mut next = 0;
            while let Some(&v) = members.get(next) {
                number[v] = next as u32;
                next += 1;
                for &w in &self.beside[v] {
                    if part[w as usize] == u32::MAX {
                        part[w as usize] = parts.len() as u32;
                        members.push(w as usize);
                    }
                }
            }
            let among = |&v: &usize| self.beside[v].iter().map(|&w| number[w as usize]).collect();
            let beside = members.iter().map(among).collect();
            parts.push(Graph { beside, names: members.iter().map(|&v| self.names[v]).collect() });
        }
        parts
    }

    /// The vertices chosen, and the edges between them.
    fn part(&self, chosen: impl Fn(usize) -> bool) -> Graph {
        let mut number = vec![u32::MAX; self.names.len()];
        let mut names = Vec::new();
        for v in (0..number.len()).filter(|&v| chosen(v)) {
            number[v] = names.len() as u32;
            names.push(self.names[v]);
        }
        let among = |list: &Vec<u32>| list.iter().map(|&w| number[w as usize]).filter(|&w| w != u32::MAX).collect();
        let own = self.beside.iter().zip(&number).filter(|(_, v)| **v != u32::MAX);
        Graph { beside: own.map(|(list, _)| among(list)).collect(), names }
    }

    /// Edges on the way from a vertex to each; `u32::MAX` where there is none.
    fn distances(&self, from: usize) -> Vec<u32> {
        let mut distance = vec![u32::MAX; self.names.len()];
        distance[from] = 0;
        let mut reached = Vec::with_capacity(distance.len());
        reached.push(from);
        let mut next = 0;
        while let Some(&v) = reached.get(next) {
            next += 1;
            for &w in &self.beside[v] {
                if distance[w as usize] == u32::MAX {
                    distance[w as usize] = distance[v] + 1;
                    reached.push(w as usize);
                }
            }
        }
        distance
    }

    /// The vertex farthest away, of those the one with fewest neighbours.
    fn farthest(&self, distance: &[u32]) -> usize {
        let rank = |v: &usize| (distance[*v], std::cmp::Reverse((self.beside[*v].len(), *v)));
        (0..distance.len()).max_by_key(rank).unwrap_or(0)
    }

    /// The best cut found, `apart` being the distances from any vertex.
    fn cut(&self, apart: &[u32]) -> Option<Cut> {
        let mut sources = vec![self.distances(self.farthest(apart))];
        let mut nearest = sources[0].clone();
        while sources.len() < SOURCES {
            let next = self.distances(self.farthest(&nearest));
            for (near, next) in nearest.iter_mut().zip(&next) {
                *near = (*near).min(*next);
            }
            sources.push(next);
        }
        let mut cuts = Vec::new();
        for (k, a) in sources.iter().enumerate() {
            cuts.extend(self.cut_between(a));
            for b in &sources[..k] {
                // of two distances: at least zero
                let most = *b.iter().max()?;
                let both: Vec<u32> = a.iter().zip(b).map(|(a, b)| most + a - b).collect();
                cuts.extend(self.cut_between(&both));
            }
        }
        cuts.sort_by_key(|cut| cut.score);
        cuts.truncate(CUTS);
        cuts.into_iter().map(|cut| self.improved(cut)).min_by_key(|cut| cut.score)
    }

    /// The best cut between vertices of a smaller and of a larger key, at least three tenths of all on each side.
    fn cut_between(&self, key: &[u32]) -> Option<Cut> {
        let n = key.len();
        let values = *key.iter().max()? as usize + 1;
        // by threshold t, differences: vertices below it; of those the ones beside vertices from t on; of the latter the ones beside the former
        let (mut below, mut low, mut high) = (vec![0; values + 1], vec![0_i32; values + 1], vec![0_i32; values + 1]);
        for (v, list) in self.beside.iter().enumerate() {
            let own = key[v] as usize;
            below[own + 1] += 1;
            let keys = || list.iter().map(|&w| key[w as usize] as usize);
            let (least, most) = (keys().min().unwrap_or(own), keys().max().unwrap_or(own));
            if most > own {
                low[own + 1] += 1;
                if most < values {
                    low[most + 1] -= 1;
                }
            }
            if least < own {
                high[least + 1] += 1;
                high[own + 1] -= 1;
            }
        }
        let mut best: Option<(u64, u32, bool)> = None;
        let (mut below_t, mut low_t, mut high_t) = (0_usize, 0, 0);
        for t in 0..values {
            below_t += below[t];
            low_t += low[t];
            high_t += high[t];
            if 10 * below_t.min(n - below_t) < 3 * n {
                continue;
            }
            for (between, lower) in [(low_t as usize, true), (high_t as usize, false)] {
                let sizes = if lower { [below_t - between, n - below_t] } else { [below_t, n - below_t - between] };
                let score = score(between, sizes[0].max(sizes[1]), n);
                if best.is_none_or(|b| score < b.0) {
                    best = Some((score, t as u32, lower));
                }
            }
        }
        let (score, t, lower) = best?;
        let side = (0..n).map(|v| {
            let beside_other = self.beside[v].iter().any(|&w| (key[w as usize] < t) != (key[v] < t));
            match key[v] < t {
                own if own == lower && beside_other => Side::Between,
                true => Side::Low,
                false => Side::High,
            }
        });
        Some(Cut { side: side.collect(), score })
    }

    /// Vertices from between to a side, whose neighbours on the other side come in between, as long as that makes it better every now and then.
    fn improved(&self, mut best: Cut) -> Cut {
        let n = best.side.len();
        loop {
            let start = best.score;
            let mut side = best.side.clone();
            let mut moved = vec![false; n];
            let mut between: Vec<usize> = (0..n).filter(|&v| side[v] == Side::Between).collect();
            let mut sizes = [Side::Low, Side::High].map(|s| side.iter().filter(|own| **own == s).count());
            let mut patience = PATIENCE;
            while patience > 0 {
                // the move that brings fewest in between, to the smaller side
                let mut next: Option<((usize, usize, usize), usize)> = None;
                for &v in between.iter().filter(|&&v| !moved[v]) {
                    for (s, other) in [Side::High, Side::Low].into_iter().enumerate() {
                        if 10 * (sizes[s] + 1) > 6 * n {
                            continue;
                        }
                        let pulled = self.beside[v].iter().filter(|&&w| side[w as usize] == other).count();
                        let rank = (pulled, sizes[s], v);
                        if next.is_none_or(|b| rank < b.0) {
                            next = Some((rank, s));
                        }
                    }
                }
                let Some(((_, _, v), s)) = next else { break };
                let (to, other) = if s == 0 { (Side::Low, Side::High) } else { (Side::High, Side::Low) };
                between.retain(|&w| w != v);
                (side[v], moved[v]) = (to, true);
                sizes[s] += 1;
                for &w in &self.beside[v] {
                    if side[w as usize] == other {
                        side[w as usize] = Side::Between;
                        between.push(w as usize);
                        sizes[1 - s] -= 1;
                    }
                }
                let now = score(between.len(), sizes[0].max(sizes[1]), n);
                if now < best.score {
                    best = Cut { side: side.clone(), score: now };
                    patience = PATIENCE;
                } else {
                    patience -= 1;
                }
            }
            if best.score == start {
                return best;
            }
        }
    }
}

/// Order of least degree, unless that makes more products than `most`.
fn by_degree(vertices: &[Vertex], original: &[Vec<u32>], most: u64) -> Option<Elimination> {
    let n = vertices.len();
    let mut beside = original.to_vec();
    let mut products = 0;
    // bodies a group of rows still waits for, and whether one has answered for it
    let mut waits: Vec<usize> = (0..n)
        .map(|v| match vertices[v] {
            Vertex::Body => 0,
            Vertex::Rows => beside[v].iter().filter(|&&b| vertices[b as usize] == Vertex::Body).count(),
        })
        .collect();
    let mut queue: std::collections::BTreeSet<(u32, u32)> =
        (0..n).filter(|&v| waits[v] == 0).map(|v| (beside[v].len() as u32, v as u32)).collect();
    let mut gone = vec![false; n];
    let (mut order, mut columns) = (Vec::with_capacity(n), Vec::with_capacity(n));
    let mut merged = Vec::new();
    while let Some((_, v)) = queue.pop_first() {
        gone[v as usize] = true;
        let around = std::mem::take(&mut beside[v as usize]);
        products += products_of(&around);
        if products > most {
            return None;
        }
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
    Some((order, columns))
}

/// The same elimination in an order in which what is eliminated for the sake of a vertex comes right before it: the vertices of the tree
/// of eliminations from its leaves to its roots. Fill and pivots stay.
fn postorder((order, beside): Elimination) -> Elimination {
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
