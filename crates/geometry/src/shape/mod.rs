//! Shapes and the questions they answer: support, box, mass, surface mesh, curvature.
//!
//! Every shape lives in its own frame s. `smoothing` rounds the edges of a flat shape: the shape is first shrunk by that
//! radius (inner parallel body, the *core*) and then thickened by it, so faces stay where they are and edges turn round.

mod core;
mod curvature;
mod height_grid;
mod hull;
mod mass;
mod profile;
mod surface;

use crate::{Aabb, CurveError, Mat3, Mesh, MeshError, Pose, Vec3};
pub(crate) use core::{Core, Tag, core_of};
pub use height_grid::HeightGrid;
pub(crate) use hull::Facet;
pub use hull::{Hull, HullFace};
pub use mass::MassProperties;
pub use profile::Profile;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use thiserror::Error;

/// A solid in its own frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Ball around the origin.
    Sphere {
        /// Radius [m].
        radius: f64,
    },
    /// Ellipsoid around the origin.
    Ellipsoid {
        /// Semi axes along x, y, z [m].
        semi_axes: Vec3,
    },
    /// Box around the origin.
    Box {
        /// Half lengths along x, y, z [m].
        half_extents: Vec3,
        /// Radius that rounds edges [m]; outer dimensions stay.
        #[serde(default)]
        smoothing: f64,
    },
    /// Cylinder around the origin, axis z.
    Cylinder {
        /// Radius [m].
        radius: f64,
        /// Half the length along z [m].
        half_height: f64,
        /// Radius that rounds edges [m]; outer dimensions stay.
        #[serde(default)]
        smoothing: f64,
    },
    /// Cylinder with two half balls, axis z.
    Capsule {
        /// Radius [m].
        radius: f64,
        /// Half the length of the straight part [m].
        half_length: f64,
    },
    /// Cone or frustum, axis z, origin at mid height, base disc at `z = -half_height`.
    Cone {
        /// Radius of the disc at `-half_height` [m].
        base_radius: f64,
        /// Radius of the disc at `+half_height` [m]; zero for a pointed cone.
        #[serde(default)]
        top_radius: f64,
        /// Half the height [m].
        half_height: f64,
        /// Radius that rounds edges and tip [m]; faces stay, a tip gets blunt.
        #[serde(default)]
        smoothing: f64,
    },
    /// Everything with `z <= 0`; outward normal +z.
    HalfSpace,
    /// Prism over a smooth curve.
    Profile(Arc<Profile>),
    /// Convex hull of points.
    Hull(Arc<Hull>),
    /// Terrain: solid below a grid of heights.
    HeightGrid(Arc<HeightGrid>),
    /// Solid inside a closed surface of triangles, concave or not.
    Mesh(Arc<Mesh>),
    /// Several shapes that move together; overlapping parts count twice in the mass.
    Compound(Vec<(Pose, Shape)>),
}

/// What is wrong with a shape.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ShapeError {
    /// A length is zero, negative, infinite or not a number.
    #[error("{shape}: {what} must be a positive finite length, but is {value} m")]
    Length {
        /// Shape.
        shape: &'static str,
        /// Field.
        what: &'static str,
        /// Value given [m].
        value: f64,
    },
    /// The smoothing radius leaves no core.
    #[error(
        "{shape}: smoothing {value} m must be at least 0 and below {limit} m, the radius of the largest ball inside"
    )]
    Smoothing {
        /// Shape.
        shape: &'static str,
        /// Value given [m].
        value: f64,
        /// Largest value allowed, exclusive [m].
        limit: f64,
    },
    /// Some coordinate is infinite or not a number.
    #[error("{shape}: {what} contains a number that is not finite")]
    NotFinite {
        /// Shape.
        shape: &'static str,
        /// Where.
        what: &'static str,
    },
    /// The points span no volume.
    #[error("hull: the {points} points lie in a plane, on a line or in a point: a convex hull needs a volume")]
    Flat {
        /// Number of points given [-].
        points: usize,
    },
    /// The height grid has the wrong size.
    #[error(
        "height grid: {columns} x {rows} points need {expected} heights and at least 2 x 2 points, but {found} are given"
    )]
    GridSize {
        /// Points along x [-].
        columns: usize,
        /// Points along y [-].
        rows: usize,
        /// Heights needed [-].
        expected: usize,
        /// Heights given [-].
        found: usize,
    },
    /// A compound has no parts.
    #[error("compound: needs at least one part")]
    Empty,
    /// A pose in a compound is not rigid.
    #[error("compound: part {part} has a rotation that is not a unit quaternion or a position that is not finite")]
    Pose {
        /// Index of the part [-].
        part: usize,
    },
    /// The question has no answer for a shape without end.
    #[error("{shape}: has no {what}, it is not bounded")]
    Unbounded {
        /// Shape.
        shape: &'static str,
        /// What was asked for.
        what: &'static str,
    },
    /// A mesh bounds no solid.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// No smooth curve.
    #[error(transparent)]
    Curve(#[from] CurveError),
    /// A density that no solid has.
    #[error("density must be positive and finite, but is {value} kg/m3")]
    Density {
        /// Value given [kg/m^3].
        value: f64,
    },
}

fn length(shape: &'static str, what: &'static str, value: f64) -> Result<(), ShapeError> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(ShapeError::Length { shape, what, value }) }
}

fn lengths(shape: &'static str, what: &'static str, value: Vec3) -> Result<(), ShapeError> {
    value.to_array().into_iter().try_for_each(|v| length(shape, what, v))
}

fn rounding(shape: &'static str, value: f64, limit: f64) -> Result<(), ShapeError> {
    if value >= 0.0 && value < limit { Ok(()) } else { Err(ShapeError::Smoothing { shape, value, limit }) }
}

impl Shape {
    /// Name used in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Shape::Sphere { .. } => "sphere",
            Shape::Ellipsoid { .. } => "ellipsoid",
            Shape::Box { .. } => "box",
            Shape::Cylinder { .. } => "cylinder",
            Shape::Capsule { .. } => "capsule",
            Shape::Cone { .. } => "cone",
            Shape::HalfSpace => "half-space",
            Shape::Profile(_) => "profile",
            Shape::Hull(_) => "hull",
            Shape::HeightGrid(_) => "height grid",
            Shape::Mesh(_) => "mesh",
            Shape::Compound(_) => "compound",
        }
    }

    /// Checks all numbers; every other function may be called only on shapes that pass.
    pub fn validate(&self) -> Result<(), ShapeError> {
        let name = self.name();
        match self {
            Shape::Sphere { radius } => length(name, "radius", *radius),
            Shape::Ellipsoid { semi_axes } => lengths(name, "semi_axes", *semi_axes),
            Shape::Box { half_extents, smoothing } => {
                lengths(name, "half_extents", *half_extents)?;
                rounding(name, *smoothing, half_extents.min_element())
            }
            Shape::Cylinder { radius, half_height, smoothing } => {
                length(name, "radius", *radius)?;
                length(name, "half_height", *half_height)?;
                rounding(name, *smoothing, radius.min(*half_height))
            }
            Shape::Capsule { radius, half_length } => {
                length(name, "radius", *radius)?;
                length(name, "half_length", *half_length)
            }
            Shape::Cone { base_radius, top_radius, half_height, smoothing } => {
                length(name, "half_height", *half_height)?;
                for (what, value) in [("base_radius", *base_radius), ("top_radius", *top_radius)] {
                    if value != 0.0 {
                        length(name, what, value)?;
                    }
                }
                length(name, "larger radius", base_radius.max(*top_radius))?;
                rounding(name, *smoothing, core::cone_inradius(*base_radius, *top_radius, *half_height))
            }
            Shape::HalfSpace | Shape::Profile(_) | Shape::Hull(_) | Shape::HeightGrid(_) | Shape::Mesh(_) => Ok(()),
            Shape::Compound(parts) => {
                if parts.is_empty() {
                    return Err(ShapeError::Empty);
                }
                for (part, (X_sp, shape)) in parts.iter().enumerate() {
                    let unit = (X_sp.rotation.length_squared() - 1.0).abs() < 1e-9;
                    if !unit || !X_sp.position.is_finite() {
                        return Err(ShapeError::Pose { part });
                    }
                    shape.validate()?;
                }
                Ok(())
            }
        }
    }

    /// Farthest point in the given direction (any length but zero) [m].
    ///
    /// Where a whole edge or face is farthest, its middle, so that the answer mirrors with the direction. A half-space and
    /// a compound that holds one answer with an infinite point, except along the outward normal.
    pub fn support(&self, direction_s: Vec3) -> Vec3 {
        let d = direction_s;
        match self {
            Shape::HalfSpace => {
                if d.x == 0.0 && d.y == 0.0 && d.z > 0.0 {
                    Vec3::ZERO
                } else {
                    Vec3::new(far(d.x), far(d.y), if d.z > 0.0 { 0.0 } else { f64::NEG_INFINITY })
                }
            }
            Shape::HeightGrid(grid) => grid.support(d),
            Shape::Compound(parts) => {
                let mut best = (f64::NEG_INFINITY, Vec3::ZERO);
                for (X_sp, part) in parts {
                    let own = part.support(X_sp.vector_into(d));
                    if !own.is_finite() {
                        return Vec3::new(far(d.x), far(d.y), far(d.z));
                    }
                    let p = X_sp.point(own);
                    let reach = p.dot(d);
                    if reach > best.0 || best.0 == f64::NEG_INFINITY {
                        best = (reach, p);
                    }
                }
                best.1
            }
            _ => {
                let (core, radius) = core_of(self);
                let p = core.middle_support(d);
                if radius > 0.0 { p + d * (radius / d.length()) } else { p }
            }
        }
    }

    /// Smallest axis-aligned box around the placed shape [m].
    pub fn aabb(&self, X_ws: &Pose) -> Aabb {
        let p = X_ws.position;
        match self {
            Shape::Sphere { radius } => Aabb::around(p, Vec3::splat(*radius)),
            Shape::HalfSpace => half_space_box(X_ws),
            Shape::HeightGrid(grid) => grid.aabb(X_ws),
            Shape::Hull(hull) => {
                let R = Mat3::from_quat(X_ws.rotation);
                let mut b = Aabb::EMPTY;
                for &v in hull.vertices() {
                    let q = p + R * v;
                    b = Aabb { min: b.min.min(q), max: b.max.max(q) };
                }
                b
            }
            Shape::Compound(parts) => {
                parts.iter().fold(Aabb::EMPTY, |b, (X_sp, part)| b.union(&part.aabb(&X_ws.then(X_sp))))
            }
            _ => {
                // Rows of R are the world axes resolved in s: max_i = p_i + R_i . support(R_i).
                let R = Mat3::from_quat(X_ws.rotation).transpose();
                let (core, radius) = core_of(self);
                let extent = |e_s: Vec3| core.reach(e_s) + radius;
                let high = Vec3::new(extent(R.x_axis), extent(R.y_axis), extent(R.z_axis));
                let low = Vec3::new(extent(-R.x_axis), extent(-R.y_axis), extent(-R.z_axis));
                Aabb { min: p - low, max: p + high }
            }
        }
    }

    /// Largest distance of a point of the shape from `p_s` [m]; infinite for a half-space.
    pub fn bounding_radius_about(&self, p_s: Vec3) -> f64 {
        let a = p_s.abs();
        match self {
            Shape::Sphere { radius } => p_s.length() + radius,
            // Upper bound, exact on the axes.
            Shape::Ellipsoid { semi_axes } => p_s.length() + semi_axes.max_element(),
            Shape::Box { half_extents, smoothing } => {
                (a + (*half_extents - Vec3::splat(*smoothing))).length() + smoothing
            }
            Shape::Cylinder { radius, half_height, smoothing } => {
                let rho = (a.x * a.x + a.y * a.y).sqrt() + radius - smoothing;
                let z = a.z + half_height - smoothing;
                (rho * rho + z * z).sqrt() + smoothing
            }
            Shape::Capsule { radius, half_length } => {
                (p_s.x * p_s.x + p_s.y * p_s.y + sq(a.z + half_length)).sqrt() + radius
            }
            Shape::Cone { .. } => {
                let (core, radius) = core_of(self);
                core.farthest_from(p_s) + radius
            }
            Shape::HalfSpace => f64::INFINITY,
            Shape::Profile(profile) => profile.bounding_radius_about(p_s),
            Shape::Hull(hull) => hull.vertices().iter().map(|v| (*v - p_s).length_squared()).fold(0.0, f64::max).sqrt(),
            Shape::Mesh(mesh) => mesh.vertices().iter().map(|v| (*v - p_s).length_squared()).fold(0.0, f64::max).sqrt(),
            Shape::HeightGrid(grid) => grid.points().map(|v| (v - p_s).length_squared()).fold(0.0, f64::max).sqrt(),
            Shape::Compound(parts) => {
                parts.iter().map(|(X_sp, part)| part.bounding_radius_about(X_sp.point_into(p_s))).fold(0.0, f64::max)
            }
        }
    }
}

fn sq(x: f64) -> f64 {
    x * x
}

fn far(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { f64::INFINITY.copysign(x) }
}

/// Infinite box, bounded only where the half-space's face is exactly at right angles to an axis.
fn half_space_box(X_ws: &Pose) -> Aabb {
    let n = X_ws.vector(Vec3::Z);
    let mut b = Aabb { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY };
    for i in 0..3 {
        if n[(i + 1) % 3] == 0.0 && n[(i + 2) % 3] == 0.0 {
            if n[i] > 0.0 {
                b.max[i] = X_ws.position[i];
            } else {
                b.min[i] = X_ws.position[i];
            }
        }
    }
    b
}

/// How a pair of shapes touches, and with that which measure the contact laws get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactKind {
    /// In one point: use [`crate::separation`].
    Point,
    /// Along a face or a line: use [`crate::overlap()`].
    Patch,
    /// Anywhere, in any number of regions: use [`crate::foundation`] on surfaces of triangles.
    Surface,
    /// Neither measure is reliable for this pair.
    Unsupported {
        /// What is missing, for the message.
        why: &'static str,
    },
}

/// Kind of contact between two shapes, the same in either order.
pub fn contact_kind(shape1: &Shape, shape2: &Shape) -> ContactKind {
    use ContactKind::{Patch, Point, Surface, Unsupported};
    use Shape::*;
    match (shape1, shape2) {
        (Compound(parts), other) | (other, Compound(parts)) => {
            let mut kind = Point;
            for (_, part) in parts {
                match contact_kind(part, other) {
                    Unsupported { why } => return Unsupported { why },
                    Surface => return Surface,
                    Patch => kind = Patch,
                    Point => {}
                }
            }
            kind
        }
        (HalfSpace | HeightGrid(_), HalfSpace | HeightGrid(_)) => {
            Unsupported { why: "neither half-spaces nor height grids touch each other" }
        }
        (Mesh(_), _) | (_, Mesh(_)) => Surface,
        (Profile(_), Sphere { .. } | Capsule { .. }) | (Sphere { .. } | Capsule { .. }, Profile(_)) => Point,
        (Profile(_), HalfSpace) | (HalfSpace, Profile(_)) => Patch,
        (Profile(_), _) | (_, Profile(_)) => Surface,
        (Sphere { .. } | Ellipsoid { .. }, _) | (_, Sphere { .. } | Ellipsoid { .. }) => Point,
        (Capsule { .. }, Capsule { .. }) => Point,
        (HalfSpace, _) | (_, HalfSpace) => Patch,
        (Box { .. } | Hull(_), Box { .. } | Hull(_)) => Patch,
        (HeightGrid(_) | Capsule { .. } | Cylinder { .. } | Cone { .. }, _)
        | (_, HeightGrid(_) | Capsule { .. } | Cylinder { .. } | Cone { .. }) => Surface,
    }
}
