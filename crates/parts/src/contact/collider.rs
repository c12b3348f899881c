//! A shape of a body that may collide.

use std::sync::Arc;
use tippe_geometry::{Aabb, Pose, Shape, Vec3};

/// One shape of a body that may collide.
#[derive(Clone, Debug)]
pub struct Collider {
    /// Index of its body.
    pub body: u32,
    /// Pose of the shape in the body's frame c (origin at the centre of mass).
    pub X_cs: Pose,
    /// The shape.
    pub shape: Shape,
    /// Radius of the ball about the shape's origin that holds it [m].
    pub radius: f64,
    /// Class for the table of contact parameters.
    pub class: u32,
    /// Its surface of triangles, where it may touch something over one.
    pub surface: Option<Arc<tippe_geometry::Surface>>,
}

impl Collider {
    /// Box of the shape when its body's frame c is at `X_wc` [m].
    pub fn aabb(&self, X_wc: &Pose) -> Aabb {
        match self.shape {
            Shape::Sphere { radius } => Aabb::around(X_wc.point(self.X_cs.position), Vec3::splat(radius)),
            _ => self.shape.aabb(&X_wc.then(&self.X_cs)),
        }
    }
}
