//! Where solid 2 is as seen from solid 1, for points and for the boxes of their trees.

use super::surface::Surface;
use crate::tree::{Nodes, SMALL_ROUNDING, Tree};
use crate::{Aabb, Mat3, Pose, Vec3};

/// Solid 2 as seen from frame 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    pub R_12: Mat3,
    pub p_12: Vec3,
    /// Components of R_12 without sign.
    R_abs: Mat3,
}

impl Placement {
    pub fn new(X_w1: &Pose, X_w2: &Pose) -> Placement {
        let X_12 = X_w1.inverse().then(X_w2);
        let R_12 = Mat3::from_quat(X_12.rotation);
        let R_abs = Mat3::from_cols(R_12.x_axis.abs(), R_12.y_axis.abs(), R_12.z_axis.abs());
        Placement { R_12, p_12: X_12.position, R_abs }
    }

    pub fn point(&self, p_2: Vec3) -> Vec3 {
        self.R_12 * p_2 + self.p_12
    }

    pub fn point_into(&self, p_1: Vec3) -> Vec3 {
        self.R_12.transpose() * (p_1 - self.p_12)
    }

    /// Point of solid `side` in frame 1.
    pub fn of(&self, side: usize, p: Vec3) -> Vec3 {
        if side == 0 { p } else { self.point(p) }
    }

    pub fn vector_of(&self, side: usize, v: Vec3) -> Vec3 {
        if side == 0 { v } else { self.R_12 * v }
    }
}

/// Rounding of the square of a sine in single precision, with a safe factor [-].
const SMALL_SQUARE: f32 = 2e-6;

/// The placement in single precision, for boxes and discs.
pub(super) struct Descent {
    R: [[f32; 3]; 3],
    R_abs: [[f32; 3]; 3],
    p: [f32; 3],
    margin: f32,
}

impl Descent {
    /// `margin` [m] is what rounding in double precision may move corners by.
    pub fn new(X: &Placement, margin: f64, size: f64) -> Descent {
        let row = |m: &Mat3, i: usize| [m.x_axis[i] as f32, m.y_axis[i] as f32, m.z_axis[i] as f32];
        let p = [X.p_12.x as f32, X.p_12.y as f32, X.p_12.z as f32];
        let [R, R_abs] = [&X.R_12, &X.R_abs].map(|m| [row(m, 0), row(m, 1), row(m, 2)]);
        Descent { R, R_abs, p, margin: (margin + SMALL_ROUNDING * size) as f32 }
    }

    /// By how much pairs of nodes are apart (negative where they overlap) [m]: their boxes along the axes of frame 1, and their discs along
    /// the axis of either. With c and s the cosine and sine between the axes and d the distance of the centres, disc b reaches along n_a
    /// from n_a.d + (c low_b, c high_b in order) - s r_b to the same + s r_b.
    #[inline(always)]
    fn gaps<const N: usize>(&self, a: &Nodes<N>, b: &Nodes<N>) -> [[f32; N]; 5] {
        let (R, S) = (&self.R, &self.R_abs);
        let mut gaps = [[0.0; N]; 5];
        let (mut d, mut m) = ([[0.0; N]; 3], [[0.0; N]; 3]);
        for i in 0..3 {
            for k in 0..N {
                let turned = |v: &[[f32; N]; 3], R: &[f32; 3]| R[0] * v[0][k] + R[1] * v[1][k] + R[2] * v[2][k];
                d[i][k] = turned(&b.center, &R[i]) + self.p[i] - a.center[i][k];
                m[i][k] = turned(&b.normal, &R[i]);
                gaps[i][k] = d[i][k].abs() - (a.half[i][k] + turned(&b.half, &S[i]) + self.margin);
            }
        }
        for k in 0..N {
            let dot = |x: &[[f32; N]; 3], y: &[[f32; N]; 3]| x[0][k] * y[0][k] + x[1][k] * y[1][k] + x[2][k] * y[2][k];
            let c = dot(&a.normal, &m);
            let s = ((1.0 - c * c).abs() + SMALL_SQUARE).sqrt();
            let apart = |own: &Nodes<N>, other: &Nodes<N>, along: f32| {
                let (x, y) = (c * other.low[k], c * other.high[k]);
                let (x, y) = if x < y { (x, y) } else { (y, x) };
                let spread = s * other.radius[k] + self.margin;
                larger(along + x - spread - own.high[k], own.low[k] - along - y - spread)
            };
            gaps[3][k] = apart(a, b, dot(&a.normal, &d));
            gaps[4][k] = apart(b, a, -dot(&m, &d));
        }
        gaps
    }

    /// Lower bounds of the distance of what pairs of nodes hold [m].
    #[inline(always)]
    pub fn apart<const N: usize>(&self, a: &Nodes<N>, b: &Nodes<N>) -> [f32; N] {
        let gaps = self.gaps(a, b);
        std::array::from_fn(|k| {
            let [x, y, z, along_a, along_b] = gaps.map(|gap| larger(gap[k], 0.0));
            // rounding of the root itself
            let boxes = (x * x + y * y + z * z).sqrt() * (1.0 - 4.0 * f32::EPSILON);
            larger(boxes, larger(along_a, along_b))
        })
    }

    /// Which of some pairs of nodes may overlap.
    #[inline(always)]
    fn meet<const N: usize>(&self, a: &Nodes<N>, b: &Nodes<N>) -> [bool; N] {
        let [x, y, z, along_a, along_b] = self.gaps(a, b);
        let gap = |k: usize| larger(larger(x[k], y[k]), larger(z[k], larger(along_a[k], along_b[k])));
        std::array::from_fn(|k| gap(k) <= 0.0)
    }

    /// Opens the pairs of nodes of a level, the wider node of each: `next` is what there is below that may overlap, `leaves` gets the pairs that
    /// have nothing below.
    ///
    /// Which ones overlap is hard to foretell, so nothing branches on it, and all below a node are asked at once.
    pub fn open(&self, [t1, t2]: [&Tree; 2], level: &[Pair], next: &mut Vec<Pair>, leaves: &mut Vec<Pair>) {
        let (mut n, mut m) = (0, leaves.len());
        next.resize(4 * level.len(), (0, 0));
        leaves.resize(m + 4 * level.len(), (0, 0));
        for &(i, j) in level {
            let (a, b) = (&t1.small[i as usize], &t2.small[j as usize]);
            if a.count > 0 && b.count > 0 {
                leaves[m] = (i, j);
                m += 1;
                continue;
            }
            let extent = |[x, y, z]: [f32; 3]| x * x + y * y + z * z;
            let opens_first = (b.count > 0) | ((a.count == 0) & (extent(a.half) >= extent(b.half)));
            let (four, meet, other_is_leaf) = if opens_first {
                let four = &t1.fours[a.four as usize];
                (four, self.meet(&four.nodes, &Nodes::all(b)), b.count > 0)
            } else {
                let four = &t2.fours[b.four as usize];
                (four, self.meet(&Nodes::all(a), &four.nodes), a.count > 0)
            };
            for k in 0..4 {
                let pair = if opens_first { (four.index[k], j) } else { (i, four.index[k]) };
                let are_leaves = four.leaf[k] & other_is_leaf;
                next[n] = pair;
                leaves[m] = pair;
                n += (meet[k] & !are_leaves) as usize;
                m += (meet[k] & are_leaves) as usize;
            }
        }
        next.truncate(n);
        leaves.truncate(m);
    }
}

/// The larger of two numbers, neither of which is NaN: one instruction.
#[inline(always)]
fn larger(x: f32, y: f32) -> f32 {
    if x > y { x } else { y }
}

/// A node of the tree of each solid, or a triangle of each.
pub(super) type Pair = (u32, u32);

/// Box in frame 1 of a box of solid `side`.
pub(super) fn placed_box(side: usize, b: &Aabb, X: &Placement) -> Aabb {
    if side == 0 { *b } else { Aabb::around(X.point(b.center()), X.R_abs * b.half()) }
}

/// Box of a whole solid in frame 1.
pub(super) fn placed_bounds(side: usize, s: &Surface, X: &Placement) -> Aabb {
    placed_box(side, &s.bounds(), X)
}
