//! Where two surfaces cross and which parts of each lie inside the other.
//!
//! Corners of solid 2 are placed in frame 1 once per use with the same rounding; every sign is exact (`predicate`). So
//! - an edge of one and a triangle of the other cross or not, whoever asks;
//! - two triangles that meet share one segment whose ends are such crossings;
//! - on a triangle f of 1 the boundary of its part inside 2 is a closed chain: the parts of its edges inside 2, and the
//!   segments it shares with triangles g of 2, each running along n_f x n_g (docs/theory/overlap.md, eq. 1).
//!
//! Integrals over the part are integrals over the chain, in any order; no loop needs to be walked, concave or with holes.

use super::placement::{Descent, Pair, Placement, placed_bounds, placed_box};
use super::predicate::{Of, is_above, is_left, passes};
use super::surface::{ROUNDING, Surface};
use super::{are_shared, shared};
use crate::Vec3;
use rayon::prelude::*;
use std::ops::Range;

/// Crossings of an edge closer than this share of its length are looked at again before their order decides [-].
const CLOSE: f64 = 1e-7;

/// An edge of one solid passes a triangle of the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    pub edge: u32,
    pub face: u32,
    /// Place on the edge from its smaller corner, 0 to 1 [-].
    pub t: f64,
    /// +1 where the edge, run from its smaller corner, enters the other solid, -1 where it leaves.
    pub sign: i32,
    /// In frame 1 [m].
    pub point: Vec3,
}

/// End of a segment: the crossing of `edge` of solid `side` and `face` of the other.
#[derive(Clone, Copy, Debug)]
struct End {
    side: usize,
    edge: u32,
    face: u32,
    point: Vec3,
}

/// What triangle `faces[0]` of 1 and `faces[1]` of 2 share, run along n1 x n2: on 1 the inside of 2 lies left.
#[derive(Clone, Copy, Debug)]
struct Segment {
    faces: [u32; 2],
    ends: [End; 2],
    /// Members of the union-find that its ends are.
    nodes: [u32; 2],
}

/// A piece of a closed chain on a triangle, in frame 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub a: Vec3,
    pub b: Vec3,
    /// How often it is run [-]: 1, unless rounding swapped two crossings of an edge.
    pub weight: f64,
    /// Member of the union-find that says which region it bounds.
    pub node: u32,
}

/// The part of a triangle that lies inside the other solid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub face: u32,
    /// Its chain in `Cut::links`; a triangle that lies inside as a whole has none.
    pub first: u32,
    pub count: u32,
    /// Member of the union-find, for a whole triangle.
    pub node: u32,
}

const OUTSIDE: u32 = u32::MAX;

/// Marks that vanish when the epoch changes.
#[derive(Debug, Default)]
struct Marks {
    epoch: u32,
    /// Component of a corner inside the other solid.
    vertex: Vec<(u32, u32)>,
    /// First crossing of an edge.
    edge: Vec<(u32, u32)>,
    /// Triangles that carry segments or are counted.
    face: Vec<u32>,
    shell: Vec<u32>,
}

/// What is found of one of the two solids.
#[derive(Debug, Default)]
pub(super) struct Side {
    marks: Marks,
    /// Crossings of its edges, by edge and place.
    pub crossings: Vec<Crossing>,
    /// (face, segment), sorted.
    touched: Vec<(u32, u32)>,
    /// Corners inside the other solid with their component, which is a member of the union-find.
    pub inside: Vec<(u32, u32)>,
    pub parts: Vec<Part>,
    /// Members of the union-find: its first crossing, its next component.
    first: u32,
    component: u32,
    pending: Vec<u32>,
    rays: Vec<u32>,
}

fn grow<T: Clone + Default>(v: &mut Vec<T>, len: usize) {
    if v.len() < len {
        v.resize(len, T::default());
    }
}

/// Where several threads may share a pair, its boxes are opened until there are so many lots of so many pairs of boxes [-].
const LOTS: usize = 16;
/// See `LOTS`.
const STARTS: usize = 32;
/// Segments on the triangles of one lot of chains, about [-].
const CHAINS: usize = 512;

/// What is found below one pair of boxes, and what is chained on some triangles. Lots are the same on any number of threads, and put together in their order.
#[derive(Debug, Default)]
struct Lot {
    /// Pairs of boxes to be opened, those below them, and those of leaves.
    level: Vec<Pair>,
    below: Vec<Pair>,
    leaves: Vec<Pair>,
    /// Segments to be chained.
    chained: Range<usize>,
    crossings: [Vec<Crossing>; 2],
    segments: Vec<Segment>,
    links: Vec<Link>,
    parts: Vec<Part>,
    /// Members of the union-find that belong together.
    joined: Vec<(u32, u32)>,
}

/// Buffers for one pair of surfaces at a time; what they hold never changes a result.
#[derive(Debug, Default)]
pub(super) struct Cut {
    pub sides: [Side; 2],
    lots: Vec<Lot>,
    /// Pairs of boxes from which lots begin.
    starts: [Vec<Pair>; 3],
    segments: Vec<Segment>,
    /// Union-find: crossings of 1, crossings of 2, room for the components of corners of 1, components of corners of 2.
    parent: Vec<u32>,
    pub links: Vec<Link>,
    roots: Vec<(u32, f64, Vec3)>,
}

impl Lot {
    /// Crossings and segments of all triangles below the pairs of boxes of `level`.
    fn intersect(&mut self, [s1, s2]: [&Surface; 2], X: &Placement, descent: &Descent) {
        let [t1, t2] = [&*s1.tree, &*s2.tree];
        self.leaves.clear();
        while !self.level.is_empty() {
            descent.open([t1, t2], &self.level, &mut self.below, &mut self.leaves);
            std::mem::swap(&mut self.level, &mut self.below);
        }
        self.crossings.iter_mut().for_each(Vec::clear);
        self.segments.clear();
        let rounding = rounding([s1, s2], X);
        let leaves = std::mem::take(&mut self.leaves);
        for &(i, j) in &leaves {
            let (a, b) = (&t1.small[i as usize], &t2.small[j as usize]);
            for &f in &t1.order[a.link as usize..(a.link + a.count) as usize] {
                let (p, n1, slack1) = (s1.corners(f), s1.normals[f as usize], s1.slack[f as usize] + rounding);
                for &g in &t2.order[b.link as usize..(b.link + b.count) as usize] {
                    let q = s2.corners(g).map(|x| X.point(x));
                    let Some(over_p) = sides(Of::Two, &q, &p, n1, slack1) else { continue };
                    let (n2, slack2) = (X.R_12 * s2.normals[g as usize], s2.slack[g as usize] + rounding);
                    let Some(over_q) = sides(Of::One, &p, &q, n2, slack2) else { continue };
                    self.intersect_pair([s1, s2], [f, g], [p, q], [over_q, over_p]);
                }
            }
        }
        self.leaves = leaves;
    }

    /// Crossings of the edges of each triangle with the other one; two of them are the ends of a segment. `over` are the
    /// heights of the corners of each over the plane of the other.
    fn intersect_pair(&mut self, surfaces: [&Surface; 2], faces: [u32; 2], x: [[Vec3; 3]; 2], over: [[Height; 3]; 2]) {
        let mut ends: [Option<End>; 2] = [None; 2];
        let doubt = doubt(&x);
        for side in 0..2 {
            let (own, other, over) = (&x[side], &x[1 - side], &over[side]);
            for k in 0..3 {
                let l = (k + 1) % 3;
                if over[k].1 == over[l].1 || !goes_through(side, own[k], own[l], other, doubt) {
                    continue;
                }
                let s = surfaces[side];
                let (face, edge) = (faces[side], s.face_edges[faces[side] as usize][k]);
                let (i, j) = if s.is_forward(face, k) { (k, l) } else { (l, k) };
                let span = over[i].0 - over[j].0;
                let t = if span != 0.0 { (over[i].0 / span).clamp(0.0, 1.0) } else { 0.5 };
                let point = own[i] + (own[j] - own[i]) * t;
                if s.edge_faces[edge as usize][0] == face {
                    let sign = if over[i].1 { 1 } else { -1 };
                    self.crossings[side].push(Crossing { edge, face: faces[1 - side], t, sign, point });
                }
                // On 1, an edge that enters 2 starts here, so the segment ends here; on 2 the segment runs backwards.
                let enters = over[k].1;
                ends[(enters == (side == 0)) as usize] = Some(End { side, edge, face: faces[1 - side], point });
            }
        }
        if let [Some(start), Some(end)] = ends {
            self.segments.push(Segment { faces, ends: [start, end], nodes: [0; 2] });
        }
    }
}

impl Lot {
    /// Chains of some triangles of one side, given with their segments.
    fn chain(&mut self, cut: &Cut, side: usize, s: &Surface, touched: &[(u32, u32)], X: &Placement) {
        self.links.clear();
        self.parts.clear();
        self.joined.clear();
        for on_face in touched.chunk_by(|a, b| a.0 == b.0) {
            let (face, first) = (on_face[0].0, self.links.len());
            for (_, segment) in on_face {
                let Segment { ends: [start, end], nodes: [node, _], .. } = cut.segments[*segment as usize];
                let node = if node == OUTSIDE { 0 } else { node };
                let (a, b) = if side == 0 { (start.point, end.point) } else { (end.point, start.point) };
                self.links.push(Link { a, b, weight: 1.0, node });
            }
            for k in 0..3 {
                self.chain_edge(cut, side, s, face, k, X);
            }
            let count = (self.links.len() - first) as u32;
            self.parts.push(Part { face, first: first as u32, count, node: 0 });
        }
    }

    /// The parts of an edge that lie inside the other solid, as the triangle runs it.
    fn chain_edge(&mut self, cut: &Cut, side: usize, s: &Surface, face: u32, k: usize, X: &Placement) {
        let edge = s.face_edges[face as usize][k];
        let forward = s.is_forward(face, k);
        let [va, vb] = s.edges[edge as usize];
        let place = |v: u32| X.of(side, s.vertices[v as usize]);
        let own = &cut.sides[side];
        let component = own.component(va);
        let mut weight = if component != OUTSIDE { 1 } else { 0 };
        let (mut from, mut node) = (place(va), component);
        let emit = |links: &mut Vec<Link>, from: Vec3, to: Vec3, weight: i32, node: u32| {
            let (a, b) = if forward { (from, to) } else { (to, from) };
            links.push(Link { a, b, weight: weight as f64, node });
        };
        for (c, crossing) in own.on_edge(edge) {
            let here = own.first + c;
            if weight != 0 {
                emit(&mut self.links, from, crossing.point, weight, here);
                if node != OUTSIDE {
                    self.joined.push((node, here));
                }
            }
            weight += crossing.sign;
            (from, node) = (crossing.point, here);
        }
        if weight != 0 {
            emit(&mut self.links, from, place(vb), weight, node);
            let end = own.component(vb);
            if end != OUTSIDE && node != OUTSIDE {
                self.joined.push((node, end));
            }
        }
    }
}

impl Side {
    fn clear(&mut self, s: &Surface) {
        let marks = &mut self.marks;
        if marks.epoch == u32::MAX {
            *marks = Marks::default();
        }
        marks.epoch += 1;
        grow(&mut marks.vertex, s.vertices.len());
        grow(&mut marks.edge, s.edges.len());
        grow(&mut marks.face, s.triangles.len());
        grow(&mut marks.shell, s.shells.len());
        self.crossings.clear();
        self.touched.clear();
        self.inside.clear();
        self.parts.clear();
    }

    /// Crossings in the order of the edges, segments in that of the triangles.
    fn sort(&mut self, side: usize, s: &Surface, segments: &[Segment]) {
        let Side { marks, crossings, touched, .. } = self;
        crossings.sort_unstable_by(|a, b| a.edge.cmp(&b.edge).then(a.t.total_cmp(&b.t)).then(a.face.cmp(&b.face)));
        for (i, c) in crossings.iter().enumerate().rev() {
            marks.edge[c.edge as usize] = (marks.epoch, i as u32);
            marks.shell[s.shell_of[s.edge_faces[c.edge as usize][0] as usize] as usize] = marks.epoch;
        }
        for (i, segment) in segments.iter().enumerate() {
            let face = segment.faces[side];
            touched.push((face, i as u32));
            // also a shell that is pierced without a crossing edge of its own
            marks.shell[s.shell_of[face as usize] as usize] = marks.epoch;
            marks.face[face as usize] = marks.epoch;
        }
        touched.sort_unstable_by_key(|&(face, segment)| (face as u64) << 32 | segment as u64);
    }

    /// Crossings of an edge, in order, with their places.
    fn on_edge(&self, edge: u32) -> impl Iterator<Item = (u32, &Crossing)> + Clone {
        let (epoch, first) = self.marks.edge[edge as usize];
        let first = if epoch == self.marks.epoch { first as usize } else { self.crossings.len() };
        let on_edge = self.crossings[first..].iter().take_while(move |c| c.edge == edge);
        on_edge.enumerate().map(move |(k, c)| ((first + k) as u32, c))
    }

    /// Sum of the signs of the crossings of an edge; `None` where it has none.
    fn balance(&self, edge: u32) -> Option<i32> {
        let mut on_edge = self.on_edge(edge).peekable();
        on_edge.peek()?;
        Some(on_edge.map(|(_, c)| c.sign).sum())
    }

    fn component(&self, vertex: u32) -> u32 {
        let (epoch, component) = self.marks.vertex[vertex as usize];
        if epoch == self.marks.epoch { component } else { OUTSIDE }
    }

    /// Finds the corners and whole triangles inside the other solid.
    ///
    /// An edge whose crossings do not cancel has one end inside; from there the inside spreads over edges without crossings.
    fn label(&mut self, side: usize, surfaces: [&Surface; 2], X: &Placement) {
        let s = surfaces[side];
        let mut i = 0;
        while i < self.crossings.len() {
            let edge = self.crossings[i].edge;
            let on_edge = self.on_edge(edge);
            let sum: i32 = on_edge.clone().map(|(_, c)| c.sign).sum();
            i += on_edge.count();
            if sum != 0 {
                let end = s.edges[edge as usize][(sum > 0) as usize];
                self.spread(s, end);
            }
        }
        // Edges whose crossings cancel: both ends inside or both outside. First entering, then leaving: outside.
        let mut i = 0;
        while i < self.crossings.len() {
            let edge = self.crossings[i].edge;
            let count = self.on_edge(edge).count();
            let on_edge = &self.crossings[i..i + count];
            i += count;
            let sum: i32 = on_edge.iter().map(|c| c.sign).sum();
            let [a, b] = s.edges[edge as usize];
            if sum != 0 || self.component(a) != OUTSIDE || self.component(b) != OUTSIDE {
                continue;
            }
            let is_clear = on_edge[0].sign > 0 && on_edge.windows(2).all(|w| w[1].t - w[0].t > CLOSE);
            if !is_clear && self.is_inside(side, s.vertices[a as usize], surfaces, X) {
                self.spread(s, a);
                self.spread(s, b);
            }
        }
        // Shells that cross nothing lie inside or outside as a whole.
        let other = placed_bounds(1 - side, surfaces[1 - side], X);
        for (k, shell) in s.shells.iter().enumerate() {
            if self.marks.shell[k] == self.marks.epoch {
                continue;
            }
            let own = placed_box(side, &shell.bounds, X);
            let p = s.vertices[shell.vertex as usize];
            if own.overlaps(&other) && self.is_inside(side, p, surfaces, X) {
                self.spread(s, shell.vertex);
            }
        }
    }

    /// The corner lies inside: so does what is connected to it without a crossing.
    fn spread(&mut self, s: &Surface, seed: u32) {
        self.pending.clear();
        self.pending.push(seed);
        let epoch = self.marks.epoch;
        while let Some(seed) = self.pending.pop() {
            if self.component(seed) != OUTSIDE {
                continue;
            }
            let component = self.component;
            self.component += 1;
            let mut next = self.inside.len();
            self.inside.push((seed, component));
            self.marks.vertex[seed as usize] = (epoch, component);
            while next < self.inside.len() {
                let v = self.inside[next].0;
                next += 1;
                let (first, last) = (s.around_first[v as usize], s.around_first[v as usize + 1]);
                for &f in &s.around[first as usize..last as usize] {
                    let t = &s.triangles[f as usize];
                    let marks = &mut self.marks;
                    if marks.face[f as usize] != epoch {
                        // No crossing on its edges: the whole triangle lies inside.
                        marks.face[f as usize] = epoch;
                        self.parts.push(Part { face: f, first: 0, count: 0, node: component });
                        for &u in t {
                            if marks.vertex[u as usize].0 != epoch {
                                marks.vertex[u as usize] = (epoch, component);
                                self.inside.push((u, component));
                            }
                        }
                        continue;
                    }
                    for k in 0..3 {
                        let (a, b) = (t[k], t[(k + 1) % 3]);
                        if a != v && b != v {
                            continue;
                        }
                        let u = a ^ b ^ v;
                        if self.component(u) != OUTSIDE {
                            continue;
                        }
                        match self.balance(s.face_edges[f as usize][k]) {
                            None => {
                                self.marks.vertex[u as usize] = (epoch, component);
                                self.inside.push((u, component));
                            }
                            Some(0) => self.pending.push(u),
                            Some(_) => {}
                        }
                    }
                }
            }
        }
    }

    /// Exactly: does a corner of solid `side` lie inside the other? Counts triangles over it along z of frame 1.
    fn is_inside(&mut self, side: usize, p: Vec3, surfaces: [&Surface; 2], X: &Placement) -> bool {
        let other = 1 - side;
        let s = surfaces[other];
        let of = if side == 0 { Of::One } else { Of::Two };
        let p = X.of(side, p);
        // The line in the frame of the other solid, for its boxes.
        let (o, d) = if other == 0 { (p, Vec3::Z) } else { (X.point_into(p), X.R_12.transpose() * Vec3::Z) };
        let margin = ROUNDING * (s.size + surfaces[side].size + X.p_12.abs().max_element());
        let mut winding = 0;
        self.rays.clear();
        self.rays.push(0);
        while let Some(i) = self.rays.pop() {
            let node = &s.tree.nodes[i as usize];
            // Separating axes of a line and a box: d x e_i.
            let c = (node.center - o).cross(d).abs();
            let (h, e) = (node.half + Vec3::splat(margin), d.abs());
            let reach = Vec3::new(h.y * e.z + h.z * e.y, h.z * e.x + h.x * e.z, h.x * e.y + h.y * e.x);
            if !c.cmple(reach + Vec3::splat(margin)).all() {
                continue;
            }
            if node.count == 0 {
                self.rays.push(node.link);
                self.rays.push(i + 1);
                continue;
            }
            for &f in s.tree.leaf(node) {
                let t = s.corners(f).map(|v| X.of(other, v));
                let left = is_left(of, p, t[0], t[1]);
                if is_left(of, p, t[1], t[2]) != left || is_left(of, p, t[2], t[0]) != left {
                    continue;
                }
                let above = is_above(of, p, t);
                // Anticlockwise from above: the normal points up; the triangle lies over p when p is below its plane.
                if above != left {
                    winding += if left { 1 } else { -1 };
                }
            }
        }
        winding > 0
    }
}

impl Cut {
    /// Finds the parts of each surface that lie inside the other.
    pub fn run(&mut self, surfaces: [&Surface; 2], X: &Placement) {
        for (side, s) in self.sides.iter_mut().zip(surfaces) {
            side.clear(s);
        }
        self.links.clear();
        self.intersect(surfaces, X);
        self.number(surfaces);
        let segments = &self.segments;
        let [one, two] = &mut self.sides;
        let find = |own: &mut Side, side: usize| {
            own.sort(side, surfaces[side], segments);
            own.label(side, surfaces, X);
        };
        if are_shared(surfaces) {
            rayon::join(|| find(one, 0), || find(two, 1));
        } else {
            find(one, 0);
            find(two, 1);
        }
        self.link_segments(surfaces);
        for side in 0..2 {
            self.chain(side, surfaces, X);
        }
        for side in 0..2 {
            self.join_holes(side, surfaces, X);
        }
    }

    /// Members of the union-find. A component begins at an end of an edge that is crossed, or with a shell.
    fn number(&mut self, surfaces: [&Surface; 2]) {
        let most = |side: usize| (2 * self.sides[side].crossings.len() + surfaces[side].shells.len()) as u32;
        let crossings = self.sides.each_ref().map(|side| side.crossings.len() as u32);
        let first = crossings[0] + crossings[1];
        let all = first + most(0) + most(1);
        let components = [first, first + most(0)];
        (self.sides[0].first, self.sides[1].first) = (0, crossings[0]);
        for (side, component) in self.sides.iter_mut().zip(components) {
            side.component = component;
        }
        self.parent.clear();
        self.parent.extend(0..all);
    }

    /// Crossings and segments of all pairs of triangles, in an order that does not depend on the pose.
    fn intersect(&mut self, surfaces: [&Surface; 2], X: &Placement) {
        let size = surfaces[0].size + surfaces[1].size + X.p_12.abs().max_element();
        let descent = Descent::new(X, ROUNDING * size, size);
        let trees = surfaces.map(|s| &*s.tree);
        let [starts, below, leaves] = &mut self.starts;
        leaves.clear();
        starts.clear();
        starts.push((0, 0));
        // all of it in one lot where there is little
        let most = if surfaces[0].is_heavy_with(surfaces[1]) { LOTS * STARTS } else { 0 };
        while !starts.is_empty() && starts.len() + leaves.len() < most {
            descent.open(trees, starts, below, leaves);
            std::mem::swap(starts, below);
        }
        starts.append(leaves);
        let share = if starts.len() < most { most } else { starts.len().div_ceil(LOTS) };
        let used = starts.len().div_ceil(share);
        if self.lots.len() < used {
            self.lots.resize_with(used, Lot::default);
        }
        let lots = &mut self.lots[..used];
        for (lot, starts) in lots.iter_mut().zip(starts.chunks(share)) {
            lot.level.clear();
            lot.level.extend_from_slice(starts);
        }
        shared(surfaces, lots, |lot| lot.intersect(surfaces, X, &descent));
        self.segments.clear();
        for lot in lots {
            for side in 0..2 {
                self.sides[side].crossings.append(&mut lot.crossings[side]);
            }
            self.segments.append(&mut lot.segments);
        }
    }

    fn root(&mut self, mut i: u32) -> u32 {
        while self.parent[i as usize] != i {
            let up = self.parent[self.parent[i as usize] as usize];
            self.parent[i as usize] = up;
            i = up;
        }
        i
    }

    /// Crossings with their members of the union-find.
    pub fn crossings(&self) -> impl Iterator<Item = (u32, Vec3)> + '_ {
        let all = self.sides.iter().flat_map(|side| &side.crossings);
        all.enumerate().map(|(i, c)| (i as u32, c.point))
    }

    /// Some corners of one solid inside the other, with their members of the union-find.
    pub fn corners<'a>(
        &'a self,
        side: usize,
        range: Range<usize>,
        surfaces: [&'a Surface; 2],
        X: &'a Placement,
    ) -> impl Iterator<Item = (u32, Vec3)> + 'a {
        let place = move |v: u32| X.of(side, surfaces[side].vertices[v as usize]);
        self.sides[side].inside[range].iter().map(move |&(v, node)| (node, place(v)))
    }

    /// Points every member of the union-find at its root.
    pub fn flatten(&mut self) {
        // unite() keeps parents below their children
        for i in 0..self.parent.len() {
            self.parent[i] = self.parent[self.parent[i] as usize];
        }
    }

    /// Root of a member, after `flatten`.
    pub fn flat_root(&self, i: u32) -> u32 {
        self.parent[i as usize]
    }

    /// Members of the union-find.
    pub fn members(&self) -> usize {
        self.parent.len()
    }

    fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    /// Which crossings the ends of the segments are; both belong to one region.
    fn link_segments(&mut self, surfaces: [&Surface; 2]) {
        let Cut { sides, segments, .. } = self;
        let node_of = |end: &End| {
            let own = &sides[end.side];
            own.on_edge(end.edge).find(|(_, c)| c.face == end.face).map_or(OUTSIDE, |(i, _)| own.first + i)
        };
        let look_up = |segment: &mut Segment| segment.nodes = segment.ends.each_ref().map(node_of);
        match are_shared(surfaces) {
            true => segments.par_iter_mut().with_min_len(CHAINS).for_each(look_up),
            false => segments.iter_mut().for_each(look_up),
        }
        for i in 0..self.segments.len() {
            let [a, b] = self.segments[i].nodes;
            if a != OUTSIDE && b != OUTSIDE {
                self.unite(a, b);
            }
        }
    }

    /// Chains of the triangles that carry segments, before the whole triangles.
    fn chain(&mut self, side: usize, surfaces: [&Surface; 2], X: &Placement) {
        let touched = std::mem::take(&mut self.sides[side].touched);
        let mut lots = std::mem::take(&mut self.lots);
        // lots end where a triangle does
        let ranges = &mut self.starts[0];
        ranges.clear();
        let mut from = 0;
        while from < touched.len() {
            let mut to = (from + CHAINS).min(touched.len());
            while to < touched.len() && touched[to].0 == touched[to - 1].0 {
                to += 1;
            }
            ranges.push((from as u32, to as u32));
            from = to;
        }
        let ranges = std::mem::take(ranges);
        if lots.len() < ranges.len() {
            lots.resize_with(ranges.len(), Lot::default);
        }
        for (lot, range) in lots.iter_mut().zip(&ranges) {
            lot.chained = range.0 as usize..range.1 as usize;
        }
        let cut = &*self;
        shared(surfaces, &mut lots[..ranges.len()], |lot| {
            let range = lot.chained.clone();
            lot.chain(cut, side, surfaces[side], &touched[range], X);
        });
        for lot in &mut lots[..ranges.len()] {
            let first = self.links.len() as u32;
            self.links.append(&mut lot.links);
            self.sides[side].parts.extend(lot.parts.iter().map(|p| Part { first: p.first + first, ..*p }));
            for &(a, b) in &lot.joined {
                self.unite(a, b);
            }
        }
        self.starts[0] = ranges;
        self.lots = lots;
        self.sides[side].touched = touched;
    }

    /// A hole in the part of a triangle belongs to the region around it.
    fn join_holes(&mut self, side: usize, surfaces: [&Surface; 2], X: &Placement) {
        self.flatten();
        let mut roots = std::mem::take(&mut self.roots);
        for i in 0..self.sides[side].parts.len() {
            let Part { face, first, count, .. } = self.sides[side].parts[i];
            if count == 0 {
                continue;
            }
            let range = first as usize..(first + count) as usize;
            let (o, node) = (self.links[range.start].a, self.links[range.start].node);
            if self.links[range.clone()].iter().all(|link| self.flat_root(link.node) == self.flat_root(node)) {
                continue;
            }
            let n = X.vector_of(side, surfaces[side].normals[face as usize]);
            roots.clear();
            for k in range.clone() {
                let Link { a, b, weight, node } = self.links[k];
                let root = self.root(node);
                let area = weight * n.dot((a - o).cross(b - o));
                match roots.iter_mut().find(|r| r.0 == root) {
                    Some(r) => r.1 += area,
                    None => roots.push((root, area, a)),
                }
            }
            if roots.len() < 2 {
                continue;
            }
            for h in 0..roots.len() {
                let (hole, area, x) = roots[h];
                if area >= 0.0 {
                    continue;
                }
                // The smallest outline that runs around the hole.
                let mut around: Option<(f64, u32)> = None;
                for &(root, area, _) in roots.iter().filter(|r| r.1 > 0.0) {
                    if around.is_some_and(|(least, _)| least <= area) {
                        continue;
                    }
                    let mut winding = 0.0;
                    for k in range.clone() {
                        let link = self.links[k];
                        if self.root(link.node) == root {
                            winding += link.weight * turn(x, link.a, link.b, n);
                        }
                    }
                    if winding > 0.5 {
                        around = Some((area, root));
                    }
                }
                if let Some((_, root)) = around {
                    self.unite(hole, root);
                }
            }
        }
        self.roots = roots;
    }
}

/// Height over a plane [m] and whether it counts as above.
type Height = (f64, bool);

/// True when all heights are on one side of what is in doubt.
fn is_beyond(h: [f64; 3], slack: f64) -> bool {
    let above = (h[0] > slack) & (h[1] > slack) & (h[2] > slack);
    let below = (h[0] < -slack) & (h[1] < -slack) & (h[2] < -slack);
    above | below
}

/// By how much rounding may move corners of two solids in frame 1 [m].
fn rounding([s1, s2]: [&Surface; 2], X: &Placement) -> f64 {
    ROUNDING * (s1.size + s2.size + X.p_12.abs().max_element())
}

/// Heights of three corners of solid `of` over a triangle with this unit normal; `None` when all are on one side. Heights
/// beyond `slack` need no exact sign.
fn sides(of: Of, x: &[Vec3; 3], triangle: &[Vec3; 3], n: Vec3, slack: f64) -> Option<[Height; 3]> {
    let h = x.map(|x| n.dot(x - triangle[0]));
    if is_beyond(h, slack) {
        return None;
    }
    let mut out = [(0.0, false); 3];
    for k in 0..3 {
        out[k] = (h[k], if h[k].abs() > slack { h[k] > 0.0 } else { is_above(of, x[k], *triangle) });
    }
    (out[0].1 != out[1].1 || out[1].1 != out[2].1).then_some(out)
}

/// True when the edge ab of solid `side`, whose ends lie on both sides of the triangle's plane, passes through it: it runs left of all sides
/// of the triangle or right of all. Determinants beyond `doubt` need no exact sign.
fn goes_through(side: usize, a: Vec3, b: Vec3, t: &[Vec3; 3], doubt: f64) -> bool {
    let (d, r) = (b - a, [t[0] - a, t[1] - a, t[2] - a]);
    let left = |det: f64, k: usize, l: usize| {
        if det.abs() > doubt {
            det > 0.0
        } else if side == 0 {
            passes(a, b, t[k], t[l])
        } else {
            passes(t[k], t[l], a, b)
        }
    };
    let moment = d.cross(r[0]);
    let first = left(moment.dot(r[1]), 0, 1);
    left(-moment.dot(r[2]), 2, 0) == first && left(d.cross(r[1]).dot(r[2]), 1, 2) == first
}

/// Determinants of three distances between corners of two triangles are off by less than this [m^3]: 16 roundings of the product of their lengths.
fn doubt(x: &[[Vec3; 3]; 2]) -> f64 {
    let [p, q] = x;
    let from = |x: Vec3| (x - p[0]).abs();
    let farthest = from(p[1]).max(from(p[2])).max(from(q[0])).max(from(q[1])).max(from(q[2])).max_element();
    let length = 2.0 * farthest;
    100.0 * f64::EPSILON * length * length * length
}

/// Turns of the link around x seen against n: +1 or -1 when it crosses a ray from x in the plane, else 0.
fn turn(x: Vec3, a: Vec3, b: Vec3, n: Vec3) -> f64 {
    let u = crate::space::any_orthogonal(n);
    let v = n.cross(u);
    let (ya, yb) = (v.dot(a - x), v.dot(b - x));
    if (ya > 0.0) == (yb > 0.0) {
        return 0.0;
    }
    let (xa, xb) = (u.dot(a - x), u.dot(b - x));
    let at = xa + (xb - xa) * (ya / (ya - yb));
    if at <= 0.0 {
        0.0
    } else if yb > ya {
        1.0
    } else {
        -1.0
    }
}
