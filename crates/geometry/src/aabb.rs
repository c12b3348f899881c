//! Axis-aligned boxes.

use crate::Vec3;
use serde::{Deserialize, Serialize};

/// Axis-aligned box between two corners [m]; empty when some `min` exceeds its `max`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aabb {
    /// Smallest coordinates [m].
    pub min: Vec3,
    /// Largest coordinates [m].
    pub max: Vec3,
}

impl Aabb {
    /// The box that contains nothing.
    pub const EMPTY: Aabb = Aabb { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// Box around a centre [m] with half extents [m].
    pub fn around(center: Vec3, half: Vec3) -> Self {
        Aabb { min: center - half, max: center + half }
    }

    /// Smallest box that contains both.
    pub fn union(&self, other: &Aabb) -> Aabb {
        Aabb { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The box grown by `margin` [m] on every side.
    pub fn grown(&self, margin: f64) -> Aabb {
        Aabb { min: self.min - Vec3::splat(margin), max: self.max + Vec3::splat(margin) }
    }

    /// True when the boxes share at least a point.
    pub fn overlaps(&self, other: &Aabb) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }

    /// True when `other` lies inside.
    pub fn contains(&self, other: &Aabb) -> bool {
        self.min.cmple(other.min).all() && other.max.cmple(self.max).all()
    }

    /// Centre [m].
    pub fn center(&self) -> Vec3 {
        0.5 * (self.min + self.max)
    }

    /// Half extents [m].
    pub fn half(&self) -> Vec3 {
        0.5 * (self.max - self.min)
    }
}
