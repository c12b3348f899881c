//! Where solid 2 is as seen from solid 1, for points and for the boxes of their trees.

use super::surface::Surface;
use crate::tree::{SMALL_ROUNDING, Small, Tree};
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

    /// Centre of b from that of a, and by how much their boxes are apart along the axes of frame 1 (negative where they overlap) [m].
    #[inline(always)]
    fn boxes(&self, a: &Small, b: &Small) -> ([f32; 3], [f32; 3]) {
        let (R, S) = (&self.R, &self.R_abs);
        let (mut d, mut gap) = ([0.0f32; 3], [0.0f32; 3]);
        for i in 0..3 {
            d[i] = R[i][0] * b.center[0] + R[i][1] * b.center[1] + R[i][2] * b.center[2] + self.p[i] - a.center[i];
            let reach = a.half[i] + S[i][0] * b.half[0] + S[i][1] * b.half[1] + S[i][2] * b.half[2] + self.margin;
            gap[i] = d[i].abs() - reach;
        }
        (d, gap)
    }

    /// By how much their discs are apart along the axis of either, for the distance `d` of the centres [m]. With c and s the cosine and
    /// sine between the axes, disc b reaches along n_a from n_a.d + (c low_b, c high_b in order) - s r_b to the same + s r_b.
    #[inline(always)]
    fn discs(&self, a: &Small, b: &Small, d: [f32; 3]) -> [f32; 2] {
        let (R, n) = (&self.R, &b.normal);
        let m: [f32; 3] = std::array::from_fn(|i| R[i][0] * n[0] + R[i][1] * n[1] + R[i][2] * n[2]);
        let dot = |x: &[f32; 3], y: &[f32; 3]| x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
        let c = dot(&a.normal, &m);
        let s = ((1.0 - c * c).max(0.0) + SMALL_SQUARE).sqrt();
        let apart = |own: &Small, other: &Small, along: f32| {
            let (x, y) = (c * other.low, c * other.high);
            let spread = s * other.radius + self.margin;
            (along + x.min(y) - spread - own.high).max(own.low - along - x.max(y) - spread)
        };
        [apart(a, b, dot(&a.normal, &d)), apart(b, a, -dot(&m, &d))]
    }

    /// True when two nodes may overlap: neither axes of frame 1 separate their boxes nor their own ones their discs.
    #[inline(always)]
    fn meet(&self, a: &Small, b: &Small) -> bool {
        let (d, gap) = self.boxes(a, b);
        if gap[0] > 0.0 || gap[1] > 0.0 || gap[2] > 0.0 {
            return false;
        }
        let [along_a, along_b] = self.discs(a, b, d);
        along_a <= 0.0 && along_b <= 0.0
    }

    /// Lower bound of the distance of what two nodes hold [m].
    pub fn apart(&self, a: &Small, b: &Small) -> f64 {
        let (d, gap) = self.boxes(a, b);
        let [x, y, z] = gap.map(|g| g.max(0.0));
        let [along_a, along_b] = self.discs(a, b, d);
        // rounding of the root itself
        let boxes = (x * x + y * y + z * z).sqrt() * (1.0 - 4.0 * f32::EPSILON);
        boxes.max(along_a).max(along_b) as f64
    }

    /// What there is below a pair of boxes.
    #[inline(always)]
    pub fn open(&self, [t1, t2]: [&Tree; 2], (i, j): (u32, u32)) -> Below {
        let (a, b) = (&t1.small[i as usize], &t2.small[j as usize]);
        if !self.meet(a, b) {
            return Below::Nothing;
        }
        let extent = |n: &Small| n.half[0] * n.half[0] + n.half[1] * n.half[1] + n.half[2] * n.half[2];
        if a.count > 0 && b.count > 0 {
            Below::Leaves
        } else if b.count > 0 || (a.count == 0 && extent(a) >= extent(b)) {
            Below::Pairs((i + 1, j), (a.link, j))
        } else {
            Below::Pairs((i, j + 1), (i, b.link))
        }
    }
}

/// Below two boxes.
pub(super) enum Below {
    /// They are apart.
    Nothing,
    /// Both are leaves.
    Leaves,
    /// These two pairs, in order.
    Pairs((u32, u32), (u32, u32)),
}

/// Box in frame 1 of a box of solid `side`.
pub(super) fn placed_box(side: usize, b: &Aabb, X: &Placement) -> Aabb {
    if side == 0 { *b } else { Aabb::around(X.point(b.center()), X.R_abs * b.half()) }
}

/// Box of a whole solid in frame 1.
pub(super) fn placed_bounds(side: usize, s: &Surface, X: &Placement) -> Aabb {
    placed_box(side, &s.bounds(), X)
}
