//! Joints: what they let move and what they hold.
//!
//! A joint connects frame 1, on body 1, with frame 2, on body 2; its axis is z of both. It has two equal forms:
//! - **motion**: frame 2 in frame 1 as a function of coordinates q and rates u, for trees;
//! - **rows**: constraints phi = 0 on the motion of the two frames, for joints that close a loop.
//!
//! One file per joint; the `match`es below are the only places that list them. Rows are put together from the parts in
//! `part.rs`. Joints without coordinates of their own (distance, point on line, rolling, cam) exist as rows only.
//! Couplings of coordinates (gear, rack and pinion, belt) are in [`coupling`].

pub mod cam;
mod constant_velocity;
pub mod coupling;
mod cylindrical;
mod distance;
mod fixed;
mod free;
mod part;
mod planar;
mod point_on_line;
mod prismatic;
mod revolute;
mod rolling;
mod screw;
mod spherical;
#[cfg(test)]
mod tests;
mod universal;

use crate::element::{self, Restrains};
use crate::kinematics::Kinematics;
pub use crate::row::Row;
pub use crate::six::{Six, Tensor};
use coupling::Holds;
use std::sync::Arc;
use tippe_format::equation::Dimension;
use tippe_format::key::{Coordinate, Ends, Form, Key, Range, Spec, flag, key, number};
use tippe_format::part::{Check, Part, Wrong};
use tippe_geometry::{Mat3, Quat, Vec3};

/// What a joint lets move. Frame 2 relative to frame 1; the axis is z of both frames.
#[derive(Clone, Debug, PartialEq)]
pub enum Joint {
    /// Nothing moves.
    Fixed,
    /// Rotation about z: q = [angle].
    Revolute,
    /// Translation along z: q = [position].
    Prismatic,
    /// Both, independently: q = [position, angle].
    Cylindrical,
    /// All rotations: q = Gibbs vector g, R_12 = E(g) base, u = relative angular velocity in frame 1.
    Spherical,
    /// Two crossed axes, z of frame 1 and x of frame 2: R_12 = Rz(q0) Rx(q1).
    Universal,
    /// Translation in the plane x, y of frame 1 and rotation about z: q = [x, y, angle].
    Planar,
    /// Everything moves: q = [g, p], u = [angular velocity, velocity], all in frame 1; R_12 = E(g) base.
    Free,
    /// Rotation about z and translation along it in proportion: q = [angle].
    Screw {
        /// Translation per rotation [m/rad].
        pitch: f64,
    },
    /// The origins keep their distance; rows only.
    Distance {
        /// Distance of the origins [m], positive.
        length: f64,
    },
    /// Origin 2 stays on the line through origin 1 along z of frame 1; rows only.
    PointOnLine,
    /// Bends without twist, so that both shafts turn at the same speed: R_12 = exp of the rotation vector (q0, q1, 0).
    ConstantVelocity,
    /// An ellipsoid, ball or disc rolls without slip on the plane x, y of frame 1, on its side z > 0; rows only.
    Rolling {
        /// Semi-axes along x, y, z of frame 2, centred at its origin [m]; a disc has zero along its axis.
        semi_axes: Vec3,
    },
    /// A point, roller or face on the curve of a cam; one row only, which may hold one way.
    Cam(Arc<cam::Cam>),
}

/// A kind of joint, or of coupling, as scenes know it.
pub struct JointSpec {
    /// Its word, keys and scalar coordinates.
    pub kind: Spec,
    /// Coordinates of a joint whose rotation is measured from a base; they have no start values of their own.
    pub based: &'static [Coordinate],
    /// What `axis2` places.
    pub axis2: Axis2,
    /// How it is drawn.
    pub glyph: Glyph,
    /// What becomes of what was written.
    pub make: Make,
}

impl std::fmt::Debug for JointSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.kind.fmt(f)
    }
}

impl JointSpec {
    /// All coordinates.
    #[inline]
    pub const fn coordinates(&self) -> &'static [Coordinate] {
        if self.based.is_empty() { self.kind.coordinates } else { self.based }
    }
}

/// What a second axis places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis2 {
    /// There is none: x of both frames is any perpendicular to the axis.
    None,
    /// x of both frames.
    X,
    /// z of frame 2, so that `at` and `axis` place frame 1 alone.
    OfBody2,
    /// There is none: `at` and `face` (z) place frame 2 alone.
    Follower,
}

/// How a joint is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyph {
    /// A pin along its axis.
    Pin,
    /// A slide along its axis.
    Slide,
    /// A ball.
    Ball,
    /// A line between its two frames.
    Link,
    /// Nothing: it has no frames.
    None,
}

impl Glyph {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Glyph::Pin => "pin",
            Glyph::Slide => "slide",
            Glyph::Ball => "ball",
            Glyph::Link => "link",
            Glyph::None => "none",
        }
    }
}

/// What becomes of what was written.
#[derive(Clone, Copy)]
pub enum Make {
    /// A joint between two bodies, whose frames are so far apart in the pose as written [m].
    Joint(fn(&Part, f64) -> Result<Joint, Wrong>),
    /// A relation of two coordinates, by the counting of the caller.
    Coupling(fn(&Part, [usize; 2]) -> coupling::Coupling),
}

/// Every kind of joint and coupling.
pub const JOINTS: &[&JointSpec] = &[
    &fixed::SPEC,
    &revolute::SPEC,
    &prismatic::SPEC,
    &cylindrical::SPEC,
    &spherical::SPEC,
    &universal::SPEC,
    &planar::SPEC,
    &free::SPEC,
    &screw::SPEC,
    &distance::SPEC,
    &point_on_line::SPEC,
    &constant_velocity::SPEC,
    &rolling::SPEC,
    &cam::SPEC,
    &coupling::GEAR,
    &coupling::RACK_AND_PINION,
    &coupling::BELT,
];

/// Their words, keys and coordinates.
pub const KINDS: [&Spec; JOINTS.len()] = {
    let mut kinds = [&JOINTS[0].kind; JOINTS.len()];
    let mut k = 0;
    while k < JOINTS.len() {
        kinds[k] = &JOINTS[k].kind;
        k += 1;
    }
    kinds
};

/// The kind of joint with this word.
pub fn named(word: &str) -> Option<&'static JointSpec> {
    JOINTS.iter().copied().find(|spec| spec.kind.word == word)
}

/// What kinds of joints start from.
const JOINT: JointSpec = JointSpec {
    kind: Spec { check: placed, example: "bodies = [\"world\", \"a\"]\nat = [0, 0, 0.2]", ..Spec::NONE },
    based: &[],
    axis2: Axis2::None,
    glyph: Glyph::Link,
    make: Make::Joint(|_, _| Ok(Joint::Fixed)),
};

/// Whether it holds.
const ACTIVE: [Key; 1] = [flag("active", "False if it waits for a change to attach it").or_true()];

/// Length per force.
const COMPLIANCE: Dimension = Dimension::new(0, -1, 2);
/// Angle per torque.
const TURNING_COMPLIANCE: Dimension = Dimension::new(-2, -1, 2);
/// Keys of joints that give.
pub const GIVING: [&str; 6] =
    ["compliance", "turning_compliance", "damping", "turning_damping", "force_max", "torque_max"];

/// What joints between two bodies can say.
const HELD: [Key; 12] = [
    number("compliance", COMPLIANCE, Range::Positive, "It gives by this along what it holds [m/N]"),
    number(
        "damping",
        Dimension::new(0, 1, -1),
        Range::NotNegative,
        "Of one that gives: its damping along that [N s/m]",
    ),
    number(
        "force_max",
        Dimension::FORCE,
        Range::Positive,
        "Of one that gives: its largest force along each direction it holds [N]",
    ),
    number(
        "turning_compliance",
        TURNING_COMPLIANCE,
        Range::Positive,
        "It gives by this about the axes it holds [rad/(N m)]",
    ),
    number(
        "turning_damping",
        Dimension::new(2, 1, -1),
        Range::NotNegative,
        "Of one that gives: its damping about them [N m s/rad]",
    ),
    number(
        "torque_max",
        Dimension::ENERGY,
        Range::Positive,
        "Of one that gives: its largest torque about each of them [N m]",
    ),
    key("bodies", Form::Attachments(Ends::Bodies), "Body 1 and body 2: BODY, BODY.FRAME or `world`")
        .required("such as bodies = [\"world\", \"crank\"]"),
    flag("rows", "True if it must be a constraint, not a coordinate of a tree"),
    number(
        "breaking_force",
        Dimension::FORCE,
        Range::Positive,
        "Reaction force at which it breaks [N]; it is then a constraint",
    ),
    number(
        "breaking_torque",
        Dimension::ENERGY,
        Range::Positive,
        "Reaction torque at which it breaks [N m]; it is then a constraint",
    ),
    flag("collide", "True if its two bodies may touch"),
    ACTIVE[0],
];

/// Keys of joints with one point and one axis.
const PLACED: [Key; 2] = [
    key("at", Form::Point, "Point of the joint in the pose as written, world [m]; default the frames"),
    key("axis", Form::Direction, "Axis (z) in the pose as written, world; default z of the frames")
        .help("an axis is a direction, such as [0, 0, 1]"),
];

/// Keys of joints with scalar coordinates.
const HANGING: [Key; 4] = [
    key("spring", Form::Parts(&element::SPRING), "Springs on coordinates"),
    key("limit", Form::Parts(&element::LIMIT), "Stops of coordinates"),
    key("friction", Form::Parts(&element::FRICTION), "Dry friction"),
    key("motor", Form::Parts(&element::MOTOR), "Drives of coordinates"),
];

/// A joint at a point has the axis z unless it says another; a coordinate has one motor.
fn placed(check: &mut Check<'_>) {
    if check.part.vector("at").is_some() && !check.has("axis") {
        check.part.set("axis", Vec3::Z);
    }
    one_motor_each(check);
}

/// Index of the coordinate something hangs on: the one it names, else the first.
pub fn hangs_on(joint: &Part, hung: &Part) -> usize {
    let name = hung.word("coordinate");
    joint.kind.coordinates.iter().position(|coordinate| coordinate.name == name).unwrap_or(0)
}

/// A coordinate has one motor.
fn one_motor_each(check: &mut Check<'_>) {
    let mut driven = Vec::new();
    for motor in check.part.parts("motor") {
        let k = hangs_on(check.part, motor);
        if driven.contains(&k) {
            let name = check.part.kind.coordinates.get(k).map_or("", |coordinate| coordinate.name);
            let message = format!(" has two motors on its coordinate {name}");
            check.error("motor", message, "keep one of them, or add their values");
            return;
        }
        driven.push(k);
    }
}

/// Start values of the coordinates of a joint [m or rad], where they were written.
pub fn starts(part: &Part) -> Vec<Option<f64>> {
    part.kind.coordinates.iter().map(|coordinate| part.find_number(coordinate.name)).collect()
}

/// Start values of the rates of its coordinates [m/s or rad/s], where they were written.
pub fn start_rates(part: &Part) -> Vec<Option<f64>> {
    let vectors = ["angular_velocity", "velocity"].into_iter().filter(|key| part.kind.key(key).is_some());
    let vectors = vectors.flat_map(|key| part.vector(key).map_or([None; 3], |v| v.to_array().map(Some)));
    let rates = part.kind.coordinates.iter().map(|coordinate| part.find_number(coordinate.rate));
    rates.chain(vectors).collect()
}

/// Takes the start values of a joint away.
pub fn forget_starts(part: &mut Part) {
    let coordinates = part.kind.coordinates.iter().flat_map(|coordinate| [coordinate.name, coordinate.rate]);
    coordinates.chain(["angular_velocity", "velocity"]).for_each(|key| part.unset(key));
}

/// True if a joint gives instead of holding.
pub fn gives(part: &Part) -> bool {
    GIVING.iter().any(|key| part.find_number(key).is_some())
}

/// Force [N] and torque [N m] at which a joint breaks; infinite if it never does.
pub fn breaking(part: &Part) -> [f64; 2] {
    ["breaking_force", "breaking_torque"].map(|key| part.find_number(key).unwrap_or(f64::INFINITY))
}

/// What the coordinates of a joint say, resolved in frame 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Rotation taking components in frame 2 to components in frame 1.
    pub R_12: Mat3,
    /// Origin of frame 2 in frame 1 [m].
    pub p_12: Vec3,
    /// Column k: angular velocity of frame 2 relative to frame 1 and velocity of frame 2's origin as seen in frame 1,
    /// per unit of rate k. Columns from the number of coordinates on are zero.
    pub S: [Six; 6],
    /// S' u: the acceleration at zero rate of the rates (derivative taken in frame 1).
    pub bias: Six,
}

impl Motion {
    /// Frame 2 is frame 1, and stays.
    const NONE: Motion = Motion { R_12: Mat3::IDENTITY, p_12: Vec3::ZERO, S: [Six::ZERO; 6], bias: Six::ZERO };

    /// The same motion seen from frame 2: frame 1 in frame 2, resolved there. With R, p, w, v of frame 2 in frame 1,
    ///   p_21 = -R^T p,   w_21 = -R^T w,   v_21 = -R^T (v - w x p),
    ///   a_21 = -R^T (a - alpha x p - 2 w x v + w x (w x p)),   alpha_21 = -R^T alpha.
    pub fn reversed(&self, u: &[f64]) -> Motion {
        let (R, p) = (self.R_12.transpose(), self.p_12);
        let mut reversed = Motion { R_12: R, p_12: -(R * p), ..Motion::NONE };
        let (mut w, mut v) = (Vec3::ZERO, Vec3::ZERO);
        for (k, &u) in u.iter().enumerate() {
            let S = &self.S[k];
            w += S.angular * u;
            v += S.linear * u;
            reversed.S[k] = Six::new(-(R * S.angular), -(R * (S.linear - S.angular.cross(p))));
        }
        let Six { angular, linear } = self.bias;
        let a = linear - angular.cross(p) - 2.0 * w.cross(v) + w.cross(w.cross(p));
        reversed.bias = Six::new(-(R * angular), -(R * a));
        reversed
    }
}

impl Restrains for Joint {
    fn rows(&self, f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
        Joint::rows(self, f1, f2, rows);
    }
}

impl Joint {
    /// Number of coordinates, and of rates; 0 for joints that exist as rows only.
    #[inline]
    pub fn coordinates(&self) -> usize {
        self.coordinate_list().len()
    }

    /// Whether the joint can be part of a tree; the others exist as rows only.
    #[inline]
    pub fn has_motion(&self) -> bool {
        !matches!(self, Joint::Distance { .. } | Joint::PointOnLine | Joint::Rolling { .. } | Joint::Cam(_))
    }

    /// Frame 2 in frame 1 at coordinates q and rates u. `base` is the orientation that the Gibbs vector of spherical
    /// and free joints starts from; the others ignore it. Joints without motion answer as the fixed one.
    #[inline]
    pub fn motion(&self, q: &[f64], u: &[f64], base: Quat) -> Motion {
        match self {
            Joint::Revolute => revolute::motion(q),
            Joint::Prismatic => prismatic::motion(q),
            Joint::Cylindrical => cylindrical::motion(q),
            Joint::Spherical => spherical::motion(q, base),
            Joint::Universal => universal::motion(q, u),
            Joint::Planar => planar::motion(q),
            Joint::Free => free::motion(q, base),
            Joint::Screw { pitch } => screw::motion(*pitch, q),
            Joint::ConstantVelocity => constant_velocity::motion(q, u),
            Joint::Fixed | Joint::Distance { .. } | Joint::PointOnLine | Joint::Rolling { .. } | Joint::Cam(_) => {
                Motion::NONE
            }
        }
    }

    /// True if its rotation is measured from a base by a Gibbs vector, the first three coordinates.
    #[inline]
    pub fn has_base(&self) -> bool {
        !self.spec().based.is_empty()
    }

    /// True if coordinate `k` (its rate, where there is a base) turns, false if it moves along.
    pub fn is_rotation(&self, k: usize) -> bool {
        self.coordinate_list().get(k).is_none_or(|coordinate| coordinate.turns)
    }

    /// How many rows [`Joint::rows`] writes.
    #[inline]
    pub fn row_count(&self) -> usize {
        match self {
            Joint::Distance { .. } | Joint::Cam(_) => 1,
            Joint::PointOnLine => 2,
            Joint::Rolling { .. } => 3,
            _ => 6 - self.coordinates(),
        }
    }

    /// Which way its rows hold.
    #[inline]
    pub fn holds(&self) -> Holds {
        match self {
            Joint::Cam(cam) => cam.holds,
            _ => Holds::Equal,
        }
    }

    /// Appends the constraints of the joint.
    pub fn rows(&self, f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
        match self {
            Joint::Fixed => fixed::rows(f1, f2, rows),
            Joint::Revolute => revolute::rows(f1, f2, rows),
            Joint::Prismatic => prismatic::rows(f1, f2, rows),
            Joint::Cylindrical => cylindrical::rows(f1, f2, rows),
            Joint::Spherical => spherical::rows(f1, f2, rows),
            Joint::Universal => universal::rows(f1, f2, rows),
            Joint::Planar => planar::rows(f1, f2, rows),
            Joint::Free => {}
            Joint::Screw { pitch } => screw::rows(*pitch, f1, f2, rows),
            Joint::Distance { length } => distance::rows(*length, f1, f2, rows),
            Joint::PointOnLine => point_on_line::rows(f1, f2, rows),
            Joint::ConstantVelocity => constant_velocity::rows(f1, f2, rows),
            Joint::Rolling { semi_axes } => rolling::rows(*semi_axes, f1, f2, rows),
            Joint::Cam(cam) => rows.push(cam.row(f1, f2)),
        }
    }

    /// Coordinates from the relative pose, for start values; a projection if the pose does not fit exactly. Angles are
    /// in [-pi, pi] (that of a screw is the turn its position tells); Gibbs vectors are those of the base 1, and grow
    /// without bound towards half a turn: whoever may start there puts the rotation into the base instead.
    pub fn coordinates_of(&self, R_12: &Mat3, p_12: Vec3, q: &mut [f64]) {
        match self {
            Joint::Revolute => q[0] = twist(R_12),
            Joint::Prismatic => q[0] = p_12.z,
            Joint::Cylindrical => cylindrical::coordinates_of(R_12, p_12, q),
            Joint::Spherical => spherical::coordinates_of(R_12, q),
            Joint::Universal => universal::coordinates_of(R_12, q),
            Joint::Planar => planar::coordinates_of(R_12, p_12, q),
            Joint::Free => free::coordinates_of(R_12, p_12, q),
            Joint::Screw { pitch } => q[0] = screw::angle(*pitch, R_12, p_12),
            Joint::ConstantVelocity => constant_velocity::coordinates_of(R_12, q),
            Joint::Fixed | Joint::Distance { .. } | Joint::PointOnLine | Joint::Rolling { .. } | Joint::Cam(_) => {}
        }
    }

    /// How scenes know it.
    #[inline]
    pub fn spec(&self) -> &'static JointSpec {
        match self {
            Joint::Fixed => &fixed::SPEC,
            Joint::Revolute => &revolute::SPEC,
            Joint::Prismatic => &prismatic::SPEC,
            Joint::Cylindrical => &cylindrical::SPEC,
            Joint::Spherical => &spherical::SPEC,
            Joint::Universal => &universal::SPEC,
            Joint::Planar => &planar::SPEC,
            Joint::Free => &free::SPEC,
            Joint::Screw { .. } => &screw::SPEC,
            Joint::Distance { .. } => &distance::SPEC,
            Joint::PointOnLine => &point_on_line::SPEC,
            Joint::ConstantVelocity => &constant_velocity::SPEC,
            Joint::Rolling { .. } => &rolling::SPEC,
            Joint::Cam(_) => &cam::SPEC,
        }
    }

    /// Its coordinates with their names, units and rates.
    #[inline]
    pub fn coordinate_list(&self) -> &'static [Coordinate] {
        self.spec().coordinates()
    }

    /// Name and unit of each coordinate.
    pub fn coordinate_names(&self) -> Vec<(&'static str, &'static str)> {
        self.coordinate_list().iter().map(|coordinate| (coordinate.name, coordinate.unit)).collect()
    }

    /// Names of the rates of the coordinates.
    pub fn rate_names(&self) -> Vec<&'static str> {
        self.coordinate_list().iter().map(|coordinate| coordinate.rate).collect()
    }
}

/// Rz(angle).
#[inline]
fn about_z(angle: f64) -> Mat3 {
    let (s, c) = libm::sincos(angle);
    Mat3::from_cols(Vec3::new(c, s, 0.0), Vec3::new(-s, c, 0.0), Vec3::Z)
}

/// The angle about z in [-pi, pi] that is left of a rotation when the shortest rotation that takes z to R z is removed:
/// with R's quaternion (w, x, y, z) it is 2 atan2(z, w), and 4 w z = R10 - R01, 2 (w^2 - z^2) = R00 + R11.
fn twist(R: &Mat3) -> f64 {
    libm::atan2(R.x_axis.y - R.y_axis.x, R.x_axis.x + R.y_axis.y)
}
