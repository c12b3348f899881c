//! How the ground lies at the start, column by column, so that tiles nobody touched need not be kept.

use crate::ground::{Column, Layer};
use crate::kind::SoilKind;
use serde::{Deserialize, Serialize};

/// A layer at the start, from the top down.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartLayer {
    /// Soil, by index.
    pub kind: u8,
    /// Thickness [m].
    pub thickness: f64,
    /// e [-].
    pub void_ratio: f64,
    /// p_y [Pa].
    pub yield_pressure: f64,
}

/// What stands on the flat ground, or is dug into it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Feature {
    /// Its form.
    pub kind: FeatureKind,
    /// Height over the ground, below it if negative [m].
    pub height: f64,
}

/// Forms of features.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum FeatureKind {
    /// Over a rectangle.
    Block {
        /// Its corners [m].
        low: [f64; 2],
        /// See `low`.
        high: [f64; 2],
    },
    /// Highest over a point, nothing at a distance.
    Cone {
        /// The point [m].
        at: [f64; 2],
        /// The distance [m].
        radius: f64,
    },
    /// Over a rectangle, rising along x or y from nothing.
    Ramp {
        /// Its corners [m].
        low: [f64; 2],
        /// See `low`.
        high: [f64; 2],
        /// 0 for x, 1 for y.
        axis: usize,
    },
}

impl Feature {
    /// What it adds to the height at a place [m].
    pub fn at(&self, p: [f64; 2]) -> f64 {
        let inside = |low: [f64; 2], high: [f64; 2]| (0..2).all(|k| p[k] >= low[k] && p[k] <= high[k]);
        match self.kind {
            FeatureKind::Block { low, high } if inside(low, high) => self.height,
            FeatureKind::Ramp { low, high, axis } if inside(low, high) => {
                self.height * (p[axis] - low[axis]) / (high[axis] - low[axis])
            }
            FeatureKind::Cone { at, radius } => {
                let d = libm::hypot(p[0] - at[0], p[1] - at[1]);
                self.height * (1.0 - d / radius).max(0.0)
            }
            _ => 0.0,
        }
    }
}

/// Heights over a grid of points, row by row from the lowest y.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Relief {
    /// Points along x and y.
    pub counts: [usize; 2],
    /// First point [m].
    pub low: [f64; 2],
    /// Distance between points [m].
    pub spacing: f64,
    /// Heights [m].
    pub heights: Vec<f64>,
}

impl Relief {
    /// Height at a place, between its four neighbours; that of the edge outside [m].
    pub fn at(&self, p: [f64; 2]) -> f64 {
        let place = [0, 1].map(|k| {
            let last = (self.counts[k] - 1) as f64;
            let x = ((p[k] - self.low[k]) / self.spacing).clamp(0.0, last);
            let cell = x.floor().min((last - 1.0).max(0.0));
            (cell as usize, x - cell)
        });
        let [(i, u), (j, v)] = place;
        let z = |a: usize, b: usize| {
            let (a, b) = (a.min(self.counts[0] - 1), b.min(self.counts[1] - 1));
            self.heights[b * self.counts[0] + a]
        };
        let low = z(i, j) + (z(i + 1, j) - z(i, j)) * u;
        let high = z(i, j + 1) + (z(i + 1, j + 1) - z(i, j + 1)) * u;
        low + (high - low) * v
    }
}

/// The ground at the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// Height of the flat ground [m].
    pub level: f64,
    /// Layers under it, from the top down; below is hard ground.
    pub layers: Vec<StartLayer>,
    /// What lies on it: the first layer is thicker there, or missing.
    pub features: Vec<Feature>,
    /// Heights over the flat ground from a file.
    pub relief: Option<Relief>,
}

impl Start {
    /// Height of the hard ground [m].
    pub fn floor(&self) -> f64 {
        self.level - self.layers.iter().map(|layer| layer.thickness).sum::<f64>()
    }

    /// Height at a place [m].
    pub fn height(&self, p: [f64; 2]) -> f64 {
        let relief = self.relief.as_ref().map_or(0.0, |relief| relief.at(p));
        let rise: f64 = self.features.iter().map(|feature| feature.at(p)).sum();
        (self.level + relief + rise).max(self.floor())
    }

    /// The column at a place, over an area [m^2].
    pub fn column(&self, p: [f64; 2], area: f64, kinds: &[SoilKind]) -> Column {
        let mut column = Column::default();
        let mut rise = self.height(p) - self.level;
        let mut layers = self.layers.clone();
        for layer in &mut layers {
            let thickness = (layer.thickness + rise).max(0.0);
            rise -= thickness - layer.thickness;
            layer.thickness = thickness;
        }
        for layer in layers.iter().rev().filter(|layer| layer.thickness > 0.0) {
            let density = kinds[usize::from(layer.kind)].grain_density;
            let mass = density * area * layer.thickness / (1.0 + layer.void_ratio);
            column.push(Layer {
                mass,
                void_ratio: layer.void_ratio,
                yield_pressure: layer.yield_pressure,
                kind: layer.kind,
            });
        }
        column
    }
}
