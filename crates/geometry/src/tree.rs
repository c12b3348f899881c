//! Tree of boxes over triangles: one flat array in depth-first order, halved at the median of the longest side.

use crate::{Aabb, TriMesh, Vec3};

/// Triangles per leaf: fewer make the tree deeper, more cost tests.
const LEAF: usize = 1;

/// Rounding of a coordinate, with a safe factor, relative to the size of the mesh [-].
pub(crate) const ROUNDING: f64 = 1e-14;

/// A box with what lies in it. The left child of an inner node follows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Node {
    /// Middle of the box [m].
    pub center: Vec3,
    /// Half lengths, a little larger than needed: rounding loses no pair [m].
    pub half: Vec3,
    /// Inner node: right child. Leaf: first place in `order`.
    pub link: u32,
    /// Triangles of a leaf; zero for an inner node.
    pub count: u32,
}

/// The same box in single precision, rounded outwards, for the descent of two trees at once; and a disc around the same triangles, which is
/// thin where they are nearly flat, however they lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Small {
    pub center: [f32; 3],
    pub half: [f32; 3],
    /// Axis of the disc: the mean normal of the triangles.
    pub normal: [f32; 3],
    /// The disc begins and ends there, along its axis from the centre [m].
    pub low: f32,
    pub high: f32,
    /// Largest distance from the axis through the centre [m].
    pub radius: f32,
    /// As in [`Node`].
    pub link: u32,
    pub count: u32,
    /// Inner node: what lies below it, in `fours`.
    pub four: u32,
}

/// Some nodes side by side, as in [`Small`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Nodes<const N: usize> {
    pub center: [[f32; N]; 3],
    pub half: [[f32; N]; 3],
    pub normal: [[f32; N]; 3],
    pub low: [f32; N],
    pub high: [f32; N],
    pub radius: [f32; N],
}

impl<const N: usize> Nodes<N> {
    /// The same node at all places.
    #[inline(always)]
    pub fn all(n: &Small) -> Nodes<N> {
        let three = |v: [f32; 3]| v.map(|x| [x; N]);
        Nodes {
            center: three(n.center),
            half: three(n.half),
            normal: three(n.normal),
            low: [n.low; N],
            high: [n.high; N],
            radius: [n.radius; N],
        }
    }
}

/// What lies below a node: its children, and theirs in place of the larger ones, so that up to four are asked at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Four {
    /// Places without a node hold a box that meets nothing.
    pub nodes: Nodes<4>,
    /// Their indices.
    pub index: [u32; 4],
    /// True where a node is a leaf.
    pub leaf: [bool; 4],
    /// So many places have one.
    pub count: usize,
}

/// Half lengths of a box that meets nothing [m].
const NOWHERE: f32 = -1e30;

/// Boxes over triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tree {
    pub nodes: Vec<Node>,
    /// The nodes in single precision.
    pub small: Vec<Small>,
    /// Inner nodes once more, by what lies below them.
    pub fours: Vec<Four>,
    /// Triangles as the leaves hold them.
    pub order: Vec<u32>,
}

impl Node {
    /// Square of the distance from a point to the box [m^2].
    pub fn distance_squared(&self, x: Vec3) -> f64 {
        ((x - self.center).abs() - self.half).max(Vec3::ZERO).length_squared()
    }

    /// The box.
    pub fn bounds(&self) -> Aabb {
        Aabb::around(self.center, self.half)
    }
}

/// Rounding of single precision, with a safe factor, relative to the coordinates it is applied to [-].
pub(crate) const SMALL_ROUNDING: f64 = 1e-6;

/// A node in single precision, with the disc around its triangles `who`.
fn small(node: &Node, mesh: &TriMesh, who: &[u32]) -> Small {
    let round = |v: Vec3| [v.x as f32, v.y as f32, v.z as f32];
    let exact = |v: [f32; 3]| Vec3::new(v[0] as f64, v[1] as f64, v[2] as f64);
    let error = SMALL_ROUNDING * (node.center.abs() + node.half).max_element();
    let half = node.half + Vec3::splat(error);
    let corners = |i: u32| mesh.triangles[i as usize].map(|v| mesh.vertices[v as usize]);
    let twice_area = |i: u32| {
        let [a, b, c] = corners(i);
        (b - a).cross(c - a)
    };
    let mean = who.iter().map(|&i| twice_area(i)).sum::<Vec3>();
    let (center, normal) = (round(node.center), round(mean.try_normalize().unwrap_or(Vec3::Z)));
    let (o, n) = (exact(center), exact(normal));
    let (mut low, mut high, mut square) = (f64::INFINITY, f64::NEG_INFINITY, 0.0f64);
    for p in who.iter().flat_map(|&i| corners(i)) {
        let along = n.dot(p - o);
        (low, high) = (low.min(along), high.max(along));
        square = square.max((p - o - n * along).length_squared());
    }
    let (low, high, radius) = ((low - error) as f32, (high + error) as f32, (square.sqrt() + error) as f32);
    Small { center, half: round(half), normal, low, high, radius, link: node.link, count: node.count, four: u32::MAX }
}

impl Tree {
    /// Tree over the triangles of a mesh whose corners are finite.
    pub fn new(mesh: &TriMesh) -> Tree {
        let boxes: Vec<Aabb> = mesh.triangles.iter().map(|t| triangle_box(mesh, t)).collect();
        let size = boxes.iter().fold(0.0, |s: f64, b| s.max(b.min.abs().max(b.max.abs()).max_element()));
        let mut tree = Tree { order: (0..boxes.len() as u32).collect(), ..Tree::default() };
        if !boxes.is_empty() {
            tree.nodes.reserve(2 * boxes.len().div_ceil(LEAF));
            let mut order = std::mem::take(&mut tree.order);
            tree.build(mesh, &boxes, ROUNDING * size, &mut order, 0);
            tree.order = order;
            tree.gather(0);
        }
        tree
    }

    /// Gathers what lies below a node, and so on down to the leaves.
    fn gather(&mut self, node: u32) {
        let Small { link, count, .. } = self.small[node as usize];
        if count > 0 {
            return;
        }
        let extent = |n: u32| {
            let Node { half, count, .. } = self.nodes[n as usize];
            if count > 0 { -1.0 } else { half.length_squared() }
        };
        let (mut below, mut n) = ([node + 1, link, 0, 0], 2);
        while n < 4 {
            let widest = (1..n).fold(0, |w, k| if extent(below[k]) > extent(below[w]) { k } else { w });
            let opened = below[widest];
            if self.nodes[opened as usize].count > 0 {
                break;
            }
            (below[widest], below[n]) = (opened + 1, self.nodes[opened as usize].link);
            n += 1;
        }
        let nowhere = Small { half: [NOWHERE; 3], low: 0.0, high: 0.0, radius: 0.0, ..self.small[node as usize] };
        let own = |k: usize| if k < n { self.small[below[k] as usize] } else { nowhere };
        let own = [own(0), own(1), own(2), own(3)];
        let three = |of: fn(&Small) -> [f32; 3]| [0, 1, 2].map(|i| own.map(|s| of(&s)[i]));
        let nodes = Nodes {
            center: three(|s| s.center),
            half: three(|s| s.half),
            normal: three(|s| s.normal),
            low: own.map(|s| s.low),
            high: own.map(|s| s.high),
            radius: own.map(|s| s.radius),
        };
        self.small[node as usize].four = self.fours.len() as u32;
        self.fours.push(Four { nodes, index: below, leaf: own.map(|s| s.count > 0), count: n });
        below[..n].iter().for_each(|&child| self.gather(child));
    }

    fn build(&mut self, mesh: &TriMesh, boxes: &[Aabb], margin: f64, who: &mut [u32], first: u32) {
        let mut bounds = Aabb::EMPTY;
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for &i in who.iter() {
            let b = &boxes[i as usize];
            bounds = bounds.union(b);
            (low, high) = (low.min(b.center()), high.max(b.center()));
        }
        let here = self.nodes.len();
        let half = bounds.half() + Vec3::splat(margin);
        self.nodes.push(Node { center: bounds.center(), half, link: first, count: who.len() as u32 });
        self.small.push(small(&self.nodes[here], mesh, who));
        if who.len() <= LEAF {
            return;
        }
        let axis = (high - low).max_position();
        let middle = who.len() / 2;
        who.select_nth_unstable_by(middle, |a, b| {
            let (x, y) = (boxes[*a as usize].center()[axis], boxes[*b as usize].center()[axis]);
            x.total_cmp(&y).then(a.cmp(b))
        });
        let (left, right) = who.split_at_mut(middle);
        self.build(mesh, boxes, margin, left, first);
        let right_child = self.nodes.len() as u32;
        (self.nodes[here].link, self.nodes[here].count) = (right_child, 0);
        (self.small[here].link, self.small[here].count) = (right_child, 0);
        self.build(mesh, boxes, margin, right, first + middle as u32);
    }

    /// Triangles of a leaf.
    pub fn leaf(&self, node: &Node) -> &[u32] {
        &self.order[node.link as usize..(node.link + node.count) as usize]
    }

    /// Shows every node, with the triangles of a leaf, in depth-first order; what lies below a node is left out where the answer is false.
    pub fn walk(&self, mut enters: impl FnMut(&Node, &[u32]) -> bool) {
        // halving keeps the tree below 32 levels, and a level leaves one node waiting
        let (mut stack, mut waiting) = ([0u32; 64], usize::from(!self.nodes.is_empty()));
        while waiting > 0 {
            waiting -= 1;
            let k = stack[waiting];
            let node = &self.nodes[k as usize];
            let leaf = if node.count > 0 { self.leaf(node) } else { &[] };
            if enters(node, leaf) && node.count == 0 {
                (stack[waiting], stack[waiting + 1]) = (node.link, k + 1);
                waiting += 2;
            }
        }
    }
}

/// Box around a triangle.
pub(crate) fn triangle_box(mesh: &TriMesh, t: &[u32; 3]) -> Aabb {
    let [a, b, c] = t.map(|i| mesh.vertices[i as usize]);
    Aabb { min: a.min(b).min(c), max: a.max(b).max(c) }
}
