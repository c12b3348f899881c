//! Forms of shapes as they are written.

use crate::Axis;
use std::sync::Arc;
use tippe_format::part::Part;
use tippe_geometry::{Mesh, Pieces, Vec3};

/// Forms a shape can have; the origin is the centre unless said otherwise.
#[derive(Clone, Debug, PartialEq)]
pub enum ShapeKind {
    /// Ball.
    Sphere {
        /// Radius [m].
        radius: f64,
    },
    /// Ellipsoid.
    Ellipsoid {
        /// Semi-axes along x, y, z [m].
        semi_axes: Vec3,
    },
    /// Cuboid.
    Box {
        /// Half the edge lengths along x, y, z [m].
        half_extents: Vec3,
        /// Radius of rounded edges, inside the outer dimensions [m].
        smoothing: Option<f64>,
    },
    /// Cylinder.
    Cylinder {
        /// Radius [m].
        radius: f64,
        /// Length [m].
        length: f64,
        /// Direction of its axis.
        axis: Axis,
        /// Radius of rounded edges, inside the outer dimensions [m].
        smoothing: Option<f64>,
    },
    /// Cylinder with two half balls.
    Capsule {
        /// Radius [m].
        radius: f64,
        /// Length of the cylindrical part [m].
        length: f64,
        /// Direction of its axis.
        axis: Axis,
    },
    /// Cone or frustum; the base is at -length/2, the top at +length/2 along the axis.
    Cone {
        /// Radius of the base [m].
        radius: f64,
        /// Radius of the top [m]; 0 for a cone.
        top_radius: f64,
        /// Length [m].
        length: f64,
        /// Direction from base to top.
        axis: Axis,
        /// Radius of rounded edges, inside the outer dimensions [m].
        smoothing: Option<f64>,
    },
    /// Everything below the plane through the origin.
    HalfSpace {
        /// Outward unit normal, shape axes.
        normal: Vec3,
    },
    /// Prism along z over a closed smooth curve in x and y.
    Profile {
        /// The curve as it is written.
        curve: Part,
        /// Length along z [m].
        length: f64,
    },
    /// Convex hull of points.
    Hull {
        /// Points [m].
        points: Vec<Vec3>,
        /// Radius of rounded edges [m].
        smoothing: Option<f64>,
    },
    /// Terrain: heights over a rectangle centred at the origin, rows along y, columns along x.
    HeightGrid {
        /// Heights, `heights[row][column]` [m].
        heights: Vec<Vec<f64>>,
        /// Extent along x and y [m].
        size: [f64; 2],
    },
    /// Closed surface of triangles.
    Mesh {
        /// The surface.
        mesh: Arc<Mesh>,
        /// Name of the solid it is, where it is one of the scene's.
        solid: Option<String>,
        /// What of it touches others.
        touches: Touching,
    },
}

/// What touches in the place of a mesh; the mass is that of the mesh.
#[derive(Clone, Debug, PartialEq)]
pub enum Touching {
    /// The mesh itself.
    Mesh,
    /// Its convex hull.
    Hull,
    /// Convex pieces that it is taken apart into.
    Pieces {
        /// No more than this many [-].
        most: u32,
        /// The pieces.
        pieces: Arc<Pieces>,
    },
}
