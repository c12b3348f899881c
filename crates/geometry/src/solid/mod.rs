//! Solids built from simple ones: a [`Solid`] is a recipe, as data or as Rust calls, and [`Solid::mesh`] the checked result.
//!
//! ```
//! use tippe_geometry::{Solid, Vec3};
//! let disc = Solid::cylinder(0.04, 0.01, 96);
//! let slots = Solid::cuboid(Vec3::new(0.03, 0.006, 0.02)).at(Vec3::X * 0.035).around(6);
//! let wheel = disc.minus(slots).mesh()?;
//! assert!(wheel.volume() < std::f64::consts::PI * 0.04 * 0.04 * 0.01);
//! # Ok::<(), tippe_geometry::SolidError>(())
//! ```
//!
//! Curved surfaces are replaced by flat ones whose corners lie on them; `segments` is the number of corners of a full circle.

mod boolean;
mod film;
mod flat;
mod gear;
mod pieces;
mod polygon;
mod sweep;

use crate::mesh::FARTHEST;
use crate::{Mat3, Mesh, MeshError, Pose, Quat, Shape, TriMesh, Vec3};
use boolean::{Operation, combine};
pub use gear::Gear;
pub use pieces::Pieces;
use polygon::Polygon;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use thiserror::Error;

/// How a solid is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Solid {
    /// Box around the origin.
    Box {
        /// Lengths along x, y, z [m].
        size: Vec3,
    },
    /// Ball around the origin.
    Sphere {
        /// Radius [m].
        radius: f64,
        /// Corners of a full circle [-].
        segments: u32,
    },
    /// Cylinder around the origin, axis z.
    Cylinder {
        /// Radius [m].
        radius: f64,
        /// Length along z [m].
        length: f64,
        /// Corners of a full circle [-].
        segments: u32,
    },
    /// Cone or frustum along z, origin at mid height.
    Cone {
        /// Radius at the lower end [m].
        radius: f64,
        /// Radius at the upper end, 0 for a pointed cone [m].
        top_radius: f64,
        /// Length along z [m].
        length: f64,
        /// Corners of a full circle [-].
        segments: u32,
    },
    /// Polygon in the x-y plane, concave or not, swept along z from `-length/2` to `length/2`.
    Prism {
        /// Corners (x, y) [m].
        outline: Vec<[f64; 2]>,
        /// Outlines of holes [m].
        #[serde(default)]
        holes: Vec<Vec<[f64; 2]>>,
        /// Length along z [m].
        length: f64,
    },
    /// Polygon of points (r, z), r not negative, swept around z.
    Revolved {
        /// Corners (r, z) [m].
        profile: Vec<[f64; 2]>,
        /// Angle of the sweep from x towards y, 2 pi for a full turn [rad].
        angle: f64,
        /// Corners of a full circle [-].
        segments: u32,
    },
    /// Spur gear with involute teeth.
    Gear(Gear),
    /// Rod with a thread; the nut's hole is another one, wider by the play.
    Thread(Thread),
    /// Closed surface of triangles.
    Mesh(TriMesh),
    /// A solid in another place.
    Placed {
        /// What.
        of: Box<Solid>,
        /// Where.
        pose: Pose,
    },
    /// A solid stretched along x, y, z about the origin.
    Scaled {
        /// What.
        of: Box<Solid>,
        /// Factors, not zero [-].
        factors: Vec3,
    },
    /// A solid mirrored in the plane through the origin with this normal.
    Mirrored {
        /// What.
        of: Box<Solid>,
        /// Normal of the plane (any length) [-].
        normal: Vec3,
    },
    /// Copies turned about z, evenly over a full turn, united.
    Around {
        /// What.
        of: Box<Solid>,
        /// Number of copies [-].
        count: u32,
    },
    /// Copies each shifted against the last, united.
    Along {
        /// What.
        of: Box<Solid>,
        /// Number of copies [-].
        count: u32,
        /// Shift [m].
        step: Vec3,
    },
    /// All of them together.
    Union {
        /// Parts.
        of: Vec<Solid>,
    },
    /// The first without the others.
    Difference {
        /// Parts.
        of: Vec<Solid>,
    },
    /// What all have in common.
    Intersection {
        /// Parts.
        of: Vec<Solid>,
    },
}

/// Thread along z with flat ends at `-length/2` and `length/2`: a ridge with trapezoidal profile on a helix.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// Outer radius [m].
    pub radius: f64,
    /// Way along z of one turn [m].
    pub pitch: f64,
    /// Depth of the groove [m].
    pub depth: f64,
    /// Width of the ridge's top along z [m].
    pub crest: f64,
    /// Width of the groove's bottom along z [m].
    pub root: f64,
    /// Length along z [m].
    pub length: f64,
    /// Left-handed instead of right-handed.
    pub left_handed: bool,
    /// Corners of a full circle [-].
    pub segments: u32,
}

impl Thread {
    /// Right-handed metric thread (ISO 68): depth 5/8 of the height sqrt(3)/2 p of the triangle, crest p/8, root p/4.
    pub fn metric(radius: f64, pitch: f64, length: f64) -> Thread {
        let depth = 5.0 / 16.0 * 3f64.sqrt() * pitch;
        Thread { radius, pitch, depth, crest: pitch / 8.0, root: pitch / 4.0, length, left_handed: false, segments: 48 }
    }
}

/// Why a solid cannot be made.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SolidError {
    /// A length is zero, negative, too large or not a number.
    #[error("{what} must be a positive length up to {FARTHEST:e} m, but is {value:?} m")]
    Length {
        /// Which.
        what: &'static str,
        /// Value given [m].
        value: f64,
    },
    /// A count is out of range.
    #[error("{what} must be from {low} to {high}, but is {value}")]
    Count {
        /// Which.
        what: &'static str,
        /// Value given [-].
        value: u32,
        /// Smallest [-].
        low: u32,
        /// Largest [-].
        high: u32,
    },
    /// More triangles than `MOST_TRIANGLES`.
    #[error("{triangles} triangles are too many, at most {MOST_TRIANGLES} are made: take fewer segments or corners")]
    Triangles {
        /// Needed [-].
        triangles: u64,
    },
    /// A number is infinite or not a number.
    #[error("{what} contains a number that is not finite")]
    NotFinite {
        /// Where.
        what: &'static str,
    },
    /// A factor or direction is zero.
    #[error("{what} must not be zero")]
    Zero {
        /// Which.
        what: &'static str,
    },
    /// Too few corners.
    #[error("an outline needs at least 3 different corners, but has {points}")]
    Outline {
        /// Different corners given [-].
        points: usize,
    },
    /// Corners on one line.
    #[error("the {corners} corners of an outline lie on one line: it has no area")]
    OnALine {
        /// Corners of it [-].
        corners: usize,
    },
    /// An outline crosses itself or another one.
    #[error(
        "the outline crosses or touches itself or a hole at ({}, {}) m; list its corners in order around it, each once, and keep \
         holes clear of it", at[0], at[1]
    )]
    Crossing {
        /// Where (x, y) [m].
        at: [f64; 2],
    },
    /// A hole is not inside.
    #[error(
        "hole {hole} does not lie inside the outline, or lies inside another hole; parts that lie apart are solids of their own"
    )]
    Hole {
        /// Index of the hole [-].
        hole: usize,
    },
    /// A profile lies beyond the axis.
    #[error("the profile has a corner at r = {} m: a solid of revolution needs r >= 0", at[0])]
    Axis {
        /// The corner (r, z) [m].
        at: [f64; 2],
    },
    /// Not an angle to turn a profile by.
    #[error("the angle of a solid of revolution must be above 0 and at most a full turn, but is {value} rad")]
    Angle {
        /// Value given [rad].
        value: f64,
    },
    /// No such gear.
    #[error("gear: {why}")]
    Gear {
        /// What is wrong.
        why: &'static str,
    },
    /// No such thread.
    #[error("thread: {why}")]
    Thread {
        /// What is wrong.
        why: String,
    },
    /// Nothing to combine.
    #[error("{operation} of nothing")]
    Nothing {
        /// Which.
        operation: &'static str,
    },
    /// Nothing is left.
    #[error("nothing is left of the {operation}: {}", if *operation == "difference" {
        "the solid is covered by what is taken away"
    } else {
        "the solids have no volume in common"
    })]
    Vanishes {
        /// Which.
        operation: &'static str,
    },
    /// Faces lie in one plane, but not quite.
    #[error(
        "the {operation} leaves a film at {at} m: a wall or a crack {thickness:.1e} m thick; let faces that should be one agree \
         in more digits, or one solid reach through the other's face"
    )]
    Film {
        /// Which.
        operation: &'static str,
        /// Where [m].
        at: Vec3,
        /// How thick at most [m].
        thickness: f64,
    },
    /// The library gave up.
    #[error("the {operation} failed: {why}; move one of the solids a little")]
    Boolean {
        /// Which.
        operation: &'static str,
        /// In the library's words.
        why: String,
    },
    /// The result, or a mesh that went in, bounds no solid.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}

fn length(what: &'static str, value: f64) -> Result<(), SolidError> {
    if value > 0.0 && value <= FARTHEST { Ok(()) } else { Err(SolidError::Length { what, value }) }
}

fn count(what: &'static str, value: u32, low: u32, high: u32) -> Result<(), SolidError> {
    if (low..=high).contains(&value) { Ok(()) } else { Err(SolidError::Count { what, value, low, high }) }
}

/// Triangles of a solid at most [-].
pub(crate) const MOST_TRIANGLES: u32 = 4_000_000;

/// As many copies as make no more than [`MOST_TRIANGLES`].
fn copies(value: u32, mesh: &TriMesh) -> Result<(), SolidError> {
    let most = MOST_TRIANGLES as usize / mesh.triangles.len().max(1);
    let what =
        if most < 10_000 { "the number of copies, of 4 million triangles in all," } else { "the number of copies" };
    count(what, value, 1, most.clamp(1, 10_000) as u32)
}

fn segments(value: u32) -> Result<(), SolidError> {
    count("segments", value, 3, 10_000)
}

impl Solid {
    /// Box around the origin with these lengths [m].
    pub fn cuboid(size: Vec3) -> Solid {
        Solid::Box { size }
    }

    /// Ball around the origin.
    pub fn sphere(radius: f64, segments: u32) -> Solid {
        Solid::Sphere { radius, segments }
    }

    /// Cylinder around the origin, axis z.
    pub fn cylinder(radius: f64, length: f64, segments: u32) -> Solid {
        Solid::Cylinder { radius, length, segments }
    }

    /// Polygon of corners (x, y) swept along z.
    pub fn prism(outline: Vec<[f64; 2]>, length: f64) -> Solid {
        Solid::Prism { outline, holes: Vec::new(), length }
    }

    /// Polygon of corners (r, z) swept once around z.
    pub fn revolved(profile: Vec<[f64; 2]>, segments: u32) -> Solid {
        Solid::Revolved { profile, angle: 2.0 * PI, segments }
    }

    /// Shifted [m].
    pub fn at(self, position: Vec3) -> Solid {
        self.placed(Pose::at(position))
    }

    /// Turned about an axis through the origin (any length) by an angle [rad].
    pub fn turned(self, axis: Vec3, angle: f64) -> Solid {
        // Half the angle by libm: the same bits everywhere.
        let (s, c) = libm::sincos(0.5 * angle);
        let a = axis.normalize_or_zero() * s;
        self.placed(Pose::new(Quat::from_xyzw(a.x, a.y, a.z, c).normalize(), Vec3::ZERO))
    }

    /// In another place.
    pub fn placed(self, pose: Pose) -> Solid {
        Solid::Placed { of: Box::new(self), pose }
    }

    /// Stretched along x, y, z [-].
    pub fn scaled(self, factors: Vec3) -> Solid {
        Solid::Scaled { of: Box::new(self), factors }
    }

    /// Mirrored in the plane through the origin with this normal [-].
    pub fn mirrored(self, normal: Vec3) -> Solid {
        Solid::Mirrored { of: Box::new(self), normal }
    }

    /// Copies around z.
    pub fn around(self, count: u32) -> Solid {
        Solid::Around { of: Box::new(self), count }
    }

    /// Copies in a row, `step` apart [m].
    pub fn along(self, count: u32, step: Vec3) -> Solid {
        Solid::Along { of: Box::new(self), count, step }
    }

    /// Together with another solid.
    pub fn and(self, other: Solid) -> Solid {
        Solid::Union { of: vec![self, other] }
    }

    /// Without another solid.
    pub fn minus(self, other: Solid) -> Solid {
        Solid::Difference { of: vec![self, other] }
    }

    /// What lies in the other solid too.
    pub fn within(self, other: Solid) -> Solid {
        Solid::Intersection { of: vec![self, other] }
    }

    /// The solid's checked surface.
    pub fn mesh(&self) -> Result<Mesh, SolidError> {
        Ok(Mesh::new(self.surface()?)?)
    }

    /// Closed surface, its parts disjoint but not checked for crossing.
    fn surface(&self) -> Result<TriMesh, SolidError> {
        match self {
            Solid::Box { size } => {
                size.to_array().into_iter().try_for_each(|v| length("a length of the box", v))?;
                Ok(Shape::Box { half_extents: 0.5 * *size, smoothing: 0.0 }.surface_mesh(3))
            }
            Solid::Sphere { radius, segments: n } => {
                length("radius", *radius)?;
                count("segments", *n, 3, 1000)?;
                Ok(Shape::Sphere { radius: *radius }.surface_mesh(*n))
            }
            Solid::Cylinder { radius, length: l, segments: n } => {
                length("radius", *radius)?;
                length("length", *l)?;
                segments(*n)?;
                sweep::prism(&circle(*radius, *n)?, *l)
            }
            Solid::Cone { radius, top_radius, length: l, segments: n } => {
                length("length", *l)?;
                length("the larger radius", radius.max(*top_radius))?;
                segments(*n)?;
                if !(*radius >= 0.0 && *top_radius >= 0.0) {
                    return Err(SolidError::Length { what: "radius", value: radius.min(*top_radius) });
                }
                let h = 0.5 * l;
                let mut profile = vec![[0.0, -h], [*radius, -h], [*top_radius, h], [0.0, h]];
                profile.dedup();
                sweep::revolve(&profile, 2.0 * PI, *n)
            }
            Solid::Prism { outline, holes, length: l } => {
                length("length", *l)?;
                sweep::prism(&Polygon::new(outline, holes)?, *l)
            }
            Solid::Revolved { profile, angle, segments: n } => {
                segments(*n)?;
                sweep::revolve(profile, *angle, *n)
            }
            Solid::Gear(gear) => {
                length("width", gear.width)?;
                segments(gear.segments)?;
                let mut holes = Vec::new();
                if gear.hole != 0.0 {
                    length("hole", gear.hole)?;
                    holes.push(circle(gear.hole, gear.segments)?.points);
                }
                sweep::prism(&Polygon::new(&gear.outline()?, &holes)?, gear.width)
            }
            Solid::Thread(thread) => self::thread(thread),
            Solid::Mesh(surface) => Ok(Mesh::new(surface.clone())?.into()),
            Solid::Placed { of, pose } => {
                let unit = (pose.rotation.length_squared() - 1.0).abs() < 1e-9;
                if !unit || !pose.position.is_finite() {
                    return Err(SolidError::NotFinite { what: "the place of a solid" });
                }
                let mut mesh = of.surface()?;
                match quarter_turns(pose.rotation) {
                    Some(R) => mesh.vertices.iter_mut().for_each(|v| *v = R * *v + pose.position),
                    None => mesh.vertices.iter_mut().for_each(|v| *v = pose.point(*v)),
                }
                Ok(mesh)
            }
            Solid::Scaled { of, factors } => {
                if !factors.is_finite() {
                    return Err(SolidError::NotFinite { what: "factors" });
                }
                if factors.to_array().contains(&0.0) {
                    return Err(SolidError::Zero { what: "a factor" });
                }
                let mut mesh = of.surface()?;
                mesh.vertices.iter_mut().for_each(|v| *v *= *factors);
                let flips = factors.x * factors.y * factors.z < 0.0;
                Ok(if flips { mesh.turned() } else { mesh })
            }
            Solid::Mirrored { of, normal } => {
                let n = normal.try_normalize().ok_or(SolidError::Zero { what: "the normal of a mirror" })?;
                let mut mesh = of.surface()?;
                mesh.vertices.iter_mut().for_each(|v| *v -= n * (2.0 * n.dot(*v)));
                Ok(mesh.turned())
            }
            Solid::Around { of, count: n } => {
                let mesh = of.surface()?;
                copies(*n, &mesh)?;
                united((0..*n).map(|k| {
                    let (s, c) = libm::sincos(2.0 * PI * k as f64 / *n as f64);
                    moved(&mesh, |v| Vec3::new(c * v.x - s * v.y, s * v.x + c * v.y, v.z))
                }))
            }
            Solid::Along { of, count: n, step } => {
                if !step.is_finite() {
                    return Err(SolidError::NotFinite { what: "step" });
                }
                let mesh = of.surface()?;
                copies(*n, &mesh)?;
                united((0..*n).map(|k| moved(&mesh, |v| v + *step * k as f64)))
            }
            Solid::Union { of } => {
                let parts = of.iter().map(Solid::surface).collect::<Result<Vec<_>, _>>()?;
                united(parts.into_iter())
            }
            Solid::Difference { of } => {
                let (first, rest) = of.split_first().ok_or(SolidError::Nothing { operation: "difference" })?;
                let first = first.surface()?;
                rest.iter().try_fold(first, |left, tool| combine(&left, &tool.surface()?, Operation::Difference))
            }
            Solid::Intersection { of } => {
                let (first, rest) = of.split_first().ok_or(SolidError::Nothing { operation: "intersection" })?;
                let first = first.surface()?;
                rest.iter().try_fold(first, |left, part| combine(&left, &part.surface()?, Operation::Intersection))
            }
        }
    }
}

/// The exact matrix of a rotation by quarter turns about the axes, up to rounding: faces that lay in a plane across an axis lie
/// in one again.
fn quarter_turns(q: Quat) -> Option<Mat3> {
    let m = Mat3::from_quat(q).to_cols_array();
    let exact = m.map(f64::round);
    let is_near = m.iter().zip(&exact).all(|(x, y)| (x - y).abs() <= 4.0 * f64::EPSILON);
    is_near.then(|| Mat3::from_cols_array(&exact.map(|x| x + 0.0)))
}

fn circle(radius: f64, n: u32) -> Result<Polygon, SolidError> {
    let points: Vec<[f64; 2]> = (0..n)
        .map(|k| {
            let (s, c) = libm::sincos(2.0 * PI * k as f64 / n as f64);
            [radius * c, radius * s]
        })
        .collect();
    Polygon::new(&points, &[])
}

fn moved(mesh: &TriMesh, place: impl Fn(Vec3) -> Vec3) -> TriMesh {
    TriMesh { vertices: mesh.vertices.iter().map(|v| place(*v)).collect(), triangles: mesh.triangles.clone() }
}

/// Union by halves: each triangle takes part in few Booleans.
fn united(parts: impl Iterator<Item = TriMesh>) -> Result<TriMesh, SolidError> {
    let mut all: Vec<TriMesh> = parts.collect();
    while all.len() > 1 {
        let pairs: Vec<TriMesh> = all
            .chunks(2)
            .map(|pair| match pair {
                [a, b] => combine(a, b, Operation::Union),
                _ => Ok(pair[0].clone()),
            })
            .collect::<Result<_, _>>()?;
        all = pairs;
    }
    all.pop().ok_or(SolidError::Nothing { operation: "union" })
}

/// Turns of a thread, and segments of all of them together, at most [-].
const MOST_TURNS: u32 = 10_000;
const MOST_THREAD_SEGMENTS: u32 = 200_000;

fn thread(thread: &Thread) -> Result<TriMesh, SolidError> {
    let Thread { radius, pitch, depth, crest, root, length: l, left_handed, segments: n } = *thread;
    for (what, value) in [("radius", radius), ("pitch", pitch), ("depth", depth), ("crest", crest), ("root", root)] {
        length(what, value)?;
    }
    length("length", l)?;
    segments(n)?;
    if !(crest + root < pitch) {
        let why = format!("crest {crest} m and root {root} m leave no room for flanks in the pitch {pitch} m");
        return Err(SolidError::Thread { why });
    }
    if !(depth < radius) {
        return Err(SolidError::Thread { why: format!("its depth {depth} m is not below its radius {radius} m") });
    }
    let (turns, most) = (l / pitch, (MOST_THREAD_SEGMENTS / n).min(MOST_TURNS));
    if !(turns <= most as f64) {
        let why = format!(
            "its length is {turns} pitches; with {n} segments at most {most} turns are made: shorten it, or take fewer \
             segments"
        );
        return Err(SolidError::Thread { why });
    }
    // Flat ends: the ragged rod cut by a box that no corner of it lies on.
    let side = 3.0 * radius;
    let slab = Solid::cuboid(Vec3::new(side, side, l)).surface()?;
    let mesh = combine(&sweep::rod(thread)?, &slab, Operation::Intersection)?;
    Ok(if left_handed { moved(&mesh, |v| Vec3::new(v.x, -v.y, v.z)).turned() } else { mesh })
}
