//! The flat or straight part of a core that faces a direction.

use crate::shape::Core;
use crate::{Mat3, Pose, Vec3};
use std::f64::consts::FRAC_1_SQRT_2;

/// Most corners of a face; of a hull's face with more every so manieth is taken.
pub(super) const ROOM: usize = 16;
/// Corners of a box's face: less room is less to clear.
pub(super) const QUAD: usize = 4;

/// Corner of a face with its number on the shape.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Corner {
    pub p: Vec3,
    pub tag: usize,
}

/// Face (three corners and more), line (two) or plane without end (none), along the world's axes.
#[derive(Clone, Debug)]
pub(super) struct Facet<const N: usize = ROOM> {
    /// Outward unit normal of a face [-].
    pub normal: Vec3,
    /// Corners, anticlockwise seen from outside [m].
    pub corners: [Corner; N],
    pub count: usize,
    /// Number of the face on the shape.
    pub id: usize,
    /// Centre and radius, where the corners stand for a circle [m].
    pub disc: Option<(Vec3, f64)>,
}

/// Cosine and sine of k/16 of a turn for k = 0..4; the other quarters follow by symmetry, so that every bit mirrors.
const QUARTER: [(f64, f64); 4] = [
    (1.0, 0.0),
    (0.923_879_532_511_286_7, 0.382_683_432_365_089_8),
    (FRAC_1_SQRT_2, FRAC_1_SQRT_2),
    (0.382_683_432_365_089_8, 0.923_879_532_511_286_7),
];

fn around(k: usize) -> (f64, f64) {
    let (c, s) = QUARTER[k % 4];
    match k / 4 % 4 {
        0 => (c, s),
        1 => (-s, c),
        2 => (-c, -s),
        _ => (s, -c),
    }
}

impl<const N: usize> Default for Facet<N> {
    fn default() -> Self {
        Facet { normal: Vec3::ZERO, corners: [Corner::default(); N], count: 0, id: 0, disc: None }
    }
}

impl<const N: usize> Facet<N> {
    pub(super) fn is_face(&self) -> bool {
        self.count != 2
    }

    /// The side of a box that faces d_s most, seen from the shape. Corners are numbered by the signs of their coordinates, a bit each.
    pub(super) fn side_of_box(&mut self, half: Vec3, R: &Mat3, p: Vec3, d_s: Vec3) {
        let a = d_s.abs();
        let i = if a.x >= a.y && a.x >= a.z {
            0
        } else if a.y >= a.z {
            1
        } else {
            2
        };
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let up = d_s[i] > 0.0;
        let axes = [R.x_axis, R.y_axis, R.z_axis];
        self.normal = if up { axes[i] } else { -axes[i] };
        (self.count, self.id) = (4, 2 * i + up as usize);
        let (c, u, v) = (p + self.normal * half[i], axes[j] * half[j], axes[k] * half[k]);
        let around = if up {
            [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
        } else {
            [(-1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (1.0, -1.0)]
        };
        for (corner, (s, t)) in self.corners.iter_mut().zip(around) {
            let tag = (up as usize) << i | ((s > 0.0) as usize) << j | ((t > 0.0) as usize) << k;
            *corner = Corner { p: c + u * s + v * t, tag };
        }
    }

    /// Only the edge that reaches farthest along n; a line stays.
    pub(super) fn keep_edge(&mut self, n: Vec3) {
        if self.count <= 2 {
            return;
        }
        let height = |k: usize| n.dot(self.corners[k % self.count].p);
        let (mut best, mut most) = (0, f64::NEG_INFINITY);
        for k in 0..self.count {
            let both = height(k) + height(k + 1);
            if both > most {
                (best, most) = (k, both);
            }
        }
        let (a, b) = (self.corners[best], self.corners[(best + 1) % self.count]);
        (self.corners[0], self.corners[1]) = if a.tag < b.tag { (a, b) } else { (b, a) };
        self.count = 2;
        self.disc = None;
    }
}

impl Facet {
    /// The face of a half-space.
    pub(super) fn endless(&mut self, X_ws: &Pose, normal: Vec3, o_w: Vec3) {
        self.normal = normal;
        self.count = 0;
        self.corners[0] = Corner { p: X_ws.position - o_w, tag: 0 };
    }

    /// The part of a core that faces the unit direction `d` most.
    pub(super) fn set(&mut self, core: &Core<'_>, X_ws: &Pose, o_w: Vec3, d: Vec3) {
        let R = Mat3::from_quat(X_ws.rotation);
        let (p, d_s) = (X_ws.position - o_w, R.mul_transpose_vec3(d));
        self.disc = None;
        match core {
            Core::Box { half } => self.side_of_box(*half, &R, p, d_s),
            Core::Segment { half } => {
                self.normal = d;
                self.line(p - R.z_axis * *half, p + R.z_axis * *half);
            }
            Core::Frustum { low, low_radius, high, high_radius } => {
                let rho = (d_s.x * d_s.x + d_s.y * d_s.y).sqrt();
                let (H, W) = (high - low, low_radius - high_radius);
                let slope = (rho * H + d_s.z * W) / (H * H + W * W).sqrt();
                let up = d_s.z > 0.0;
                let (z, radius) = if up { (*high, *high_radius) } else { (*low, *low_radius) };
                if d_s.z.abs() >= slope && radius > 0.0 {
                    self.normal = if up { R.z_axis } else { -R.z_axis };
                    let c = p + R.z_axis * z;
                    self.count = ROOM;
                    self.id = up as usize;
                    self.disc = Some((c, radius));
                    for k in 0..ROOM {
                        let tag = if up { k } else { (ROOM - k) % ROOM };
                        let (cos, sin) = around(tag);
                        let q = c + R.x_axis * (radius * cos) + R.y_axis * (radius * sin);
                        self.corners[k] = Corner { p: q, tag: tag + ROOM * up as usize };
                    }
                } else {
                    self.normal = d;
                    let out = if rho > 0.0 { (R.x_axis * d_s.x + R.y_axis * d_s.y) / rho } else { R.x_axis };
                    self.line(p + R.z_axis * *low + out * *low_radius, p + R.z_axis * *high + out * *high_radius);
                }
            }
            Core::Hull(hull) => {
                let (mut best, mut most) = (0, f64::NEG_INFINITY);
                for (i, f) in hull.facets().iter().enumerate() {
                    let along = f.normal.dot(d_s);
                    if along > most {
                        (best, most) = (i, along);
                    }
                }
                let facet = &hull.facets()[best];
                let outline = hull.outline(facet);
                self.normal = R * facet.normal;
                self.id = best;
                self.count = outline.len().min(ROOM);
                for k in 0..self.count {
                    let i = outline[k * outline.len() / self.count];
                    self.corners[k] = Corner { p: p + R * hull.vertices()[i as usize], tag: i as usize };
                }
            }
            Core::Point | Core::Ellipsoid { .. } | Core::Mesh(_) | Core::Prism { .. } | Core::Profile(_) => {
                self.normal = d;
                self.line(p, p);
            }
        }
    }

    fn line(&mut self, a: Vec3, b: Vec3) {
        (self.count, self.id) = (2, 0);
        self.corners[0] = Corner { p: a, tag: 0 };
        self.corners[1] = Corner { p: b, tag: 1 };
    }
}
