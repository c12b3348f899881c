//! The ground under grains as heights that change from step to step: what is below them is solid.

use serde::{Deserialize, Serialize};
use tippe_geometry::Vec3;

/// Heights over a grid of points; between four of them the surface is bilinear, outside it is as high as at the edge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Heights {
    /// Number of points along x and y.
    pub counts: [usize; 2],
    /// First point [m].
    pub low: [f64; 2],
    /// Distance between points [m].
    pub spacing: f64,
    /// Heights, row by row from the lowest y [m].
    pub z: Vec<f64>,
}

impl Heights {
    /// The point at or before a place, and the share of the way to the next.
    fn place(&self, x: f64, axis: usize) -> (usize, f64) {
        let last = (self.counts[axis] - 1) as f64;
        let u = ((x - self.low[axis]) / self.spacing).clamp(0.0, last);
        let at = u.floor().min((last - 1.0).max(0.0));
        (at as usize, u - at)
    }

    /// Height at a place [m] and the normal of the surface there; none without points.
    pub fn at(&self, x: f64, y: f64) -> Option<(f64, Vec3)> {
        if self.z.is_empty() {
            return None;
        }
        let ((i, u), (j, v)) = (self.place(x, 0), self.place(y, 1));
        let z = |a: usize, b: usize| self.z[b.min(self.counts[1] - 1) * self.counts[0] + a.min(self.counts[0] - 1)];
        let [z00, z10, z01, z11] = [z(i, j), z(i + 1, j), z(i, j + 1), z(i + 1, j + 1)];
        let along_x = (z10 - z00) * (1.0 - v) + (z11 - z01) * v;
        let along_y = (z01 - z00) * (1.0 - u) + (z11 - z10) * u;
        let height = (z00 * (1.0 - u) + z10 * u) * (1.0 - v) + (z01 * (1.0 - u) + z11 * u) * v;
        Some((height, Vec3::new(-along_x, -along_y, self.spacing).normalize()))
    }

    /// Depth of a ball in the ground [m], to first order in the slope, and the normal.
    pub fn depth(&self, p: Vec3, radius: f64) -> Option<(f64, Vec3)> {
        self.at(p.x, p.y).map(|(z, n)| (radius - (p.z - z) * n.z, n))
    }

    /// Highest point within a distance of a place along both axes [m].
    pub fn highest(&self, p: Vec3, reach: f64) -> f64 {
        if self.z.is_empty() {
            return f64::NEG_INFINITY;
        }
        let range = |axis: usize| {
            let (low, _) = self.place(p[axis] - reach, axis);
            let (high, _) = self.place(p[axis] + reach, axis);
            low..=(high + 1).min(self.counts[axis] - 1)
        };
        let rows = range(1).flat_map(|j| range(0).map(move |i| self.z[j * self.counts[0] + i]));
        rows.fold(f64::NEG_INFINITY, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plane of slope 0.5 along x: heights, normals and depths are those of the plane.
    #[test]
    fn a_slope_is_a_plane() {
        let (counts, spacing) = ([4, 3], 0.5);
        let z = (0..12).map(|k| 0.25 * (k % 4) as f64).collect();
        let heights = Heights { counts, low: [0.0; 2], spacing, z };
        let (z, n) = heights.at(0.8, 0.3).unwrap_or_default();
        assert!((z - 0.4).abs() < 1e-12);
        assert!((n - Vec3::new(-0.5, 0.0, 1.0).normalize()).length() < 1e-12);
        let p = Vec3::new(0.8, 0.3, 0.4) + 0.05 * n;
        let (depth, _) = heights.depth(p, 0.1).unwrap_or_default();
        assert!((depth - 0.05).abs() < 1e-12, "{depth}");
        assert!((heights.highest(p, 0.1) - 0.5).abs() < 1e-12);
        assert!(Heights::default().at(0.0, 0.0).is_none());
    }
}
