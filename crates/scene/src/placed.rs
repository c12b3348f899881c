//! Shapes of a scene as the geometry knows them.

use crate::{Axis, ShapeKind, ShapeSpec, Touching};
use std::sync::Arc;
use tippe_geometry::{HeightGrid, Hull, Pose, Profile, Quat, Shape, ShapeError, Vec3};

impl ShapeSpec {
    /// What touches, each with its pose X_bs in the body (origin at the body's origin): one shape, or the pieces of a mesh.
    pub fn placed(&self) -> Result<Vec<(Pose, Shape)>, ShapeError> {
        let X_bs = Pose::new(self.orientation * shape_rotation(&self.kind), self.position);
        Ok(shapes_of(&self.kind)?.into_iter().map(|shape| (X_bs, shape)).collect())
    }
}

/// The geometry's shapes, at least one; their axis is z.
pub fn shapes_of(kind: &ShapeKind) -> Result<Vec<Shape>, ShapeError> {
    let shape = match kind {
        ShapeKind::Sphere { radius } => Shape::Sphere { radius: *radius },
        ShapeKind::Ellipsoid { semi_axes } => Shape::Ellipsoid { semi_axes: *semi_axes },
        ShapeKind::Box { half_extents, smoothing } => {
            Shape::Box { half_extents: *half_extents, smoothing: smoothing.unwrap_or(0.0) }
        }
        ShapeKind::Cylinder { radius, length, smoothing, .. } => {
            Shape::Cylinder { radius: *radius, half_height: 0.5 * length, smoothing: smoothing.unwrap_or(0.0) }
        }
        ShapeKind::Capsule { radius, length, .. } => Shape::Capsule { radius: *radius, half_length: 0.5 * length },
        ShapeKind::Cone { radius, top_radius, length, smoothing, .. } => Shape::Cone {
            base_radius: *radius,
            top_radius: *top_radius,
            half_height: 0.5 * length,
            smoothing: smoothing.unwrap_or(0.0),
        },
        ShapeKind::HalfSpace { .. } => Shape::HalfSpace,
        ShapeKind::Profile { curve, length } => {
            Shape::Profile(Arc::new(Profile::new(tippe_parts::curve::built(curve)?, 0.5 * length)?))
        }
        ShapeKind::Hull { points, .. } => Shape::Hull(Arc::new(Hull::new(points)?)),
        ShapeKind::HeightGrid { heights, size } => {
            let rows = heights.len();
            let columns = heights.first().map_or(0, Vec::len);
            let spacing =
                [size[0] / columns.saturating_sub(1).max(1) as f64, size[1] / rows.saturating_sub(1).max(1) as f64];
            Shape::HeightGrid(Arc::new(HeightGrid::new(columns, rows, spacing, heights.concat())?))
        }
        ShapeKind::Mesh { touches: Touching::Pieces { pieces, .. }, .. } => {
            return Ok(pieces.hulls.iter().map(|hull| Shape::Hull(hull.clone())).collect());
        }
        ShapeKind::Mesh { mesh, touches: Touching::Hull, .. } => Shape::Hull(Arc::new(Hull::new(mesh.vertices())?)),
        ShapeKind::Mesh { mesh, touches: Touching::Mesh, .. } => Shape::Mesh(mesh.clone()),
    };
    shape.validate()?;
    Ok(vec![shape])
}

/// Rotation that brings the geometry's z axis to the axis the scene asked for.
pub fn shape_rotation(kind: &ShapeKind) -> Quat {
    match kind {
        ShapeKind::Cylinder { axis, .. } | ShapeKind::Capsule { axis, .. } | ShapeKind::Cone { axis, .. } => match axis
        {
            Axis::X => Quat::from_xyzw(0.5, 0.5, 0.5, 0.5),
            Axis::Y => Quat::from_xyzw(-0.5, -0.5, -0.5, 0.5),
            Axis::Z => Quat::IDENTITY,
        },
        ShapeKind::HalfSpace { normal } if *normal != Vec3::Z => {
            if *normal == -Vec3::Z {
                Quat::from_xyzw(1.0, 0.0, 0.0, 0.0)
            } else {
                // half way between z and the normal, twice
                let h = (Vec3::Z + *normal).normalize();
                let v = Vec3::Z.cross(h);
                Quat::from_xyzw(v.x, v.y, v.z, Vec3::Z.dot(h)).normalize()
            }
        }
        _ => Quat::IDENTITY,
    }
}
