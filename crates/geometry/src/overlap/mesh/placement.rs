//! Where solid 2 is as seen from solid 1, for points and for the boxes of their trees.

use super::surface::Surface;
use crate::tree::{Node, SMALL_ROUNDING, Small, Tree};
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

    /// Lower bound of the distance of two boxes [m].
    pub fn apart(&self, a: &Node, b: &Node) -> f64 {
        let d = self.point(b.center) - a.center;
        let e = self.R_12.transpose() * d;
        let from_1 = (d.abs() - a.half - self.R_abs * b.half).max(Vec3::ZERO).length_squared();
        let from_2 = (e.abs() - b.half - self.R_abs.transpose() * a.half).max(Vec3::ZERO).length_squared();
        from_1.max(from_2).sqrt()
    }
}

/// The placement in single precision, for boxes.
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

    /// True when two boxes may overlap: the six normals of their faces do not separate them.
    #[inline(always)]
    fn meet(&self, a: &Small, b: &Small) -> bool {
        let (R, S) = (&self.R, &self.R_abs);
        let (mut d, mut apart) = ([0.0f32; 3], false);
        for i in 0..3 {
            let c = R[i][0] * b.center[0] + R[i][1] * b.center[1] + R[i][2] * b.center[2] + self.p[i];
            d[i] = c - a.center[i];
            let reach = a.half[i] + S[i][0] * b.half[0] + S[i][1] * b.half[1] + S[i][2] * b.half[2] + self.margin;
            apart |= d[i].abs() > reach;
        }
        if apart {
            return false;
        }
        for i in 0..3 {
            let e = R[0][i] * d[0] + R[1][i] * d[1] + R[2][i] * d[2];
            let reach = b.half[i] + S[0][i] * a.half[0] + S[1][i] * a.half[1] + S[2][i] * a.half[2] + self.margin;
            apart |= e.abs() > reach;
        }
        !apart
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
