//! Terrain: heights over a regular grid, solid below.

use super::ShapeError;
use crate::{Aabb, Pose, Vec3};
use serde::{Deserialize, Serialize};

/// Heights z over a regular grid in x and y, centred on the origin; each cell is two triangles that share the diagonal
/// from its low to its high corner. The solid reaches down without end; beyond the grid there is nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "GridData", into = "GridData")]
pub struct HeightGrid {
    columns: usize,
    rows: usize,
    spacing: [f64; 2],
    heights: Vec<f64>,
    /// Cosine of the slope at each point, mean over the triangles around it [-].
    cosines: Vec<f64>,
    lowest: f64,
    highest: f64,
}

#[derive(Serialize, Deserialize)]
struct GridData {
    columns: usize,
    rows: usize,
    spacing: [f64; 2],
    heights: Vec<f64>,
}

impl TryFrom<GridData> for HeightGrid {
    type Error = ShapeError;
    fn try_from(g: GridData) -> Result<Self, ShapeError> {
        HeightGrid::new(g.columns, g.rows, g.spacing, g.heights)
    }
}

impl From<HeightGrid> for GridData {
    fn from(g: HeightGrid) -> Self {
        GridData { columns: g.columns, rows: g.rows, spacing: g.spacing, heights: g.heights }
    }
}

impl HeightGrid {
    /// Grid of `columns` points along x and `rows` along y, `spacing` apart [m]; `heights[row * columns + column]` [m].
    pub fn new(columns: usize, rows: usize, spacing: [f64; 2], heights: Vec<f64>) -> Result<Self, ShapeError> {
        let expected = columns.saturating_mul(rows);
        if columns < 2 || rows < 2 || heights.len() != expected {
            return Err(ShapeError::GridSize { columns, rows, expected, found: heights.len() });
        }
        super::length("height grid", "spacing along x", spacing[0])?;
        super::length("height grid", "spacing along y", spacing[1])?;
        if !heights.iter().all(|h| h.is_finite()) {
            return Err(ShapeError::NotFinite { shape: "height grid", what: "a height" });
        }
        let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut grid = HeightGrid { columns, rows, spacing, heights, cosines: vec![0.0; expected], lowest, highest };
        grid.find_cosines();
        Ok(grid)
    }

    /// Points along x [-].
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Points along y [-].
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Distance between points along x and y [m].
    pub fn spacing(&self) -> [f64; 2] {
        self.spacing
    }

    /// Lowest and highest point [m].
    pub fn height_range(&self) -> [f64; 2] {
        [self.lowest, self.highest]
    }

    /// Half the lengths along x and y [m].
    pub fn half_lengths(&self) -> [f64; 2] {
        [0.5 * (self.columns - 1) as f64 * self.spacing[0], 0.5 * (self.rows - 1) as f64 * self.spacing[1]]
    }

    /// Grid point [m].
    pub fn point(&self, column: usize, row: usize) -> Vec3 {
        let [hx, hy] = self.half_lengths();
        let z = self.heights[row * self.columns + column];
        Vec3::new(column as f64 * self.spacing[0] - hx, row as f64 * self.spacing[1] - hy, z)
    }

    /// All grid points, row by row [m].
    pub fn points(&self) -> impl Iterator<Item = Vec3> + '_ {
        (0..self.rows).flat_map(move |r| (0..self.columns).map(move |c| self.point(c, r)))
    }

    /// The two triangles of a cell, anticlockwise from above [m].
    pub fn cell(&self, column: usize, row: usize) -> [[Vec3; 3]; 2] {
        let (a, b) = (self.point(column, row), self.point(column + 1, row));
        let (c, d) = (self.point(column + 1, row + 1), self.point(column, row + 1));
        [[a, b, c], [a, c, d]]
    }

    /// Columns and rows of the cells that meet a rectangle, as two half-open ranges; empty when it lies outside.
    pub fn cells_under(&self, min: [f64; 2], max: [f64; 2]) -> [std::ops::Range<usize>; 2] {
        let half = self.half_lengths();
        let counts = [self.columns - 1, self.rows - 1];
        [0, 1].map(|k| {
            if !(max[k] >= -half[k] && min[k] <= half[k]) {
                return 0..0;
            }
            // Casts from f64 saturate, so bounds far outside are clamped.
            let from = (((min[k] + half[k]) / self.spacing[k]).floor().max(0.0) as usize).min(counts[k] - 1);
            let to = (((max[k] + half[k]) / self.spacing[k]).floor().max(0.0) as usize).min(counts[k] - 1);
            from..to + 1
        })
    }

    /// Nothing of the ground below a box is higher: of the planes of the cells there, or of the whole grid where they are more than `few` [m]; below
    /// all where there are none.
    pub(crate) fn highest_under(&self, min: Vec3, max: Vec3, few: usize) -> f64 {
        let [columns, rows] = self.cells_under([min.x, min.y], [max.x, max.y]);
        if columns.len() * rows.len() > few {
            return self.highest;
        }
        let mut highest = f64::NEG_INFINITY;
        for row in rows {
            for column in columns.clone() {
                let [[a, b, c], [_, _, d]] = self.cell(column, row);
                let (from, to) = (min.max(a), max.min(c));
                // a plane is highest in a corner of what of the rectangle lies in the cell
                let top = |x: [Vec3; 2], y: [Vec3; 2]| {
                    let slope = [(x[1].z - x[0].z) / self.spacing[0], (y[1].z - y[0].z) / self.spacing[1]];
                    let run = [if slope[0] > 0.0 { to.x } else { from.x }, if slope[1] > 0.0 { to.y } else { from.y }];
                    a.z + slope[0] * (run[0] - a.x) + slope[1] * (run[1] - a.y)
                };
                let first = top([a, b], [b, c]).min(a.z.max(b.z).max(c.z));
                let second = top([d, c], [a, d]).min(a.z.max(c.z).max(d.z));
                highest = first.max(second).max(highest);
            }
        }
        highest
    }

    fn find_cosines(&mut self) {
        let mut counts = vec![0.0; self.heights.len()];
        for row in 0..self.rows - 1 {
            for column in 0..self.columns - 1 {
                let [low, high] = [row, row + 1].map(|r| r * self.columns + column);
                let corners = [[low, low + 1, high + 1], [low, high + 1, high]];
                for ([a, b, c], corners) in self.cell(column, row).into_iter().zip(corners) {
                    let cosine = (b - a).cross(c - a).normalize().z;
                    for k in corners {
                        self.cosines[k] += cosine;
                        counts[k] += 1.0;
                    }
                }
            }
        }
        for (cosine, count) in self.cosines.iter_mut().zip(counts) {
            *cosine /= count;
        }
    }

    /// Cosine of the slope at a grid point, mean over the triangles around it [-].
    pub(crate) fn slope_cosine(&self, column: usize, row: usize) -> f64 {
        self.cosines[row * self.columns + column]
    }

    /// Height of the surface at (x, y) [m]; `None` beyond the grid.
    pub fn height_at(&self, x: f64, y: f64) -> Option<f64> {
        let half = self.half_lengths();
        if !(x.abs() <= half[0] && y.abs() <= half[1]) {
            return None;
        }
        let [cs, rs] = self.cells_under([x, y], [x, y]);
        let (c, r) = (cs.start, rs.start);
        let a = self.point(c, r);
        let (u, v) = ((x - a.x) / self.spacing[0], (y - a.y) / self.spacing[1]);
        let z = |dc: usize, dr: usize| self.heights[(r + dr) * self.columns + c + dc];
        Some(if u >= v {
            a.z + u * (z(1, 0) - z(0, 0)) + v * (z(1, 1) - z(1, 0))
        } else {
            a.z + v * (z(0, 1) - z(0, 0)) + u * (z(1, 1) - z(0, 1))
        })
    }

    pub(super) fn support(&self, d: Vec3) -> Vec3 {
        let mut best = (f64::NEG_INFINITY, Vec3::ZERO);
        for p in self.points() {
            if p.dot(d) > best.0 {
                best = (p.dot(d), p);
            }
        }
        if d.z < 0.0 { Vec3::new(best.1.x, best.1.y, f64::NEG_INFINITY) } else { best.1 }
    }

    pub(super) fn aabb(&self, X_ws: &Pose) -> Aabb {
        let mut b = Aabb::EMPTY;
        for p in self.points() {
            let q = X_ws.point(p);
            b = Aabb { min: b.min.min(q), max: b.max.max(q) };
        }
        // The solid goes on along -z of the shape without end.
        let down = -X_ws.vector(Vec3::Z);
        for i in 0..3 {
            if down[i] > 0.0 {
                b.max[i] = f64::INFINITY;
            } else if down[i] < 0.0 {
                b.min[i] = f64::NEG_INFINITY;
            }
        }
        b
    }
}
