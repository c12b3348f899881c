//! A cam (body 1, its curve in the plane x, y of frame 1) and its follower (body 2): a point or roller whose centre is
//! the origin of frame 2, or a flat face through that origin with the outward normal z of frame 2. One row, the
//! distance along the normal n of the curve,
//!   phi = n . (p2 - c) - r   for a roller of radius r at the nearest point c of the curve,
//!   phi = m . (p1 + c - p2)  for a face with the normal m at the point c of the curve that lies least far along m.
//! A cam that holds one way pushes: phi >= 0, lambda >= 0, phi lambda = 0.

use super::coupling::Holds;
use super::{Axis2, Glyph, HELD, JOINT, Joint, JointSpec, Make, Row, Six};
use crate::curve::{CURVE, curve};
use crate::kinematics::Kinematics;
use std::sync::Arc;
use tippe_format::equation::Dimension;
use tippe_format::key::{Form, Key, Range, Spec, flag, key, number};
use tippe_format::part::{Check, Part, Wrong};
use tippe_geometry::{Curve, Vec2, Vec3};

/// A cam and what touches it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cam {
    /// The curve, in the plane x, y of frame 1 [m].
    pub curve: Curve,
    /// What follows it.
    pub follower: CamFollower,
    /// Which way it holds: both, or it pushes only.
    pub holds: Holds,
}

/// What touches the curve of a cam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CamFollower {
    /// A point or roller, at this distance of its centre from the curve [m].
    Roller {
        /// Radius, less that which the curve is already the path of [m].
        radius: f64,
    },
    /// A flat face.
    Face,
}

const CAM: [Key; 6] = [
    key(
        "at",
        Form::Point,
        "Point or centre of the roller, or a point of the face, in the pose as written, world; default the frame of body 2",
    ),
    key(
        "curve",
        Form::Curve(&CURVE),
        "Outline of the cam in x, y of its frame: a curve, or the name of a [[solid]] that has one",
    )
    .required("such as curve = { kind = \"circle\", radius = 0.02, centre = [0.005, 0] }"),
    number(
        "radius",
        Dimension::LENGTH,
        Range::Positive,
        "Radius of the roller [m]; default a point, or that of the curve's table",
    ),
    key("face", Form::Direction, "Outward normal of a flat face that follows, in the pose as written, world"),
    flag("one_sided", "True if the follower may lift off; else it is held from both sides, as in a groove"),
    flag("apart", "True if a one-sided follower starts where it was written, without touching"),
];

fn check(check: &mut Check<'_>) {
    check.not_both("radius", "face");
    if check.part.flag("apart") && !check.part.flag("one_sided") {
        check.error(
            "apart",
            " starts apart, but is held from both sides",
            "add one_sided = true, or leave out `apart`",
        );
    }
}

fn make(part: &Part, _apart: f64) -> Result<Joint, Wrong> {
    let curve = curve(part, "curve")?;
    let wrong = |key, message: String, help: &str| Wrong { key, message, help: help.into() };
    let [least, most] = curve.curvatures();
    let table = part.parts("curve").first();
    let lifts_face = table.is_some_and(|table| table.kind.word == "lift" && table.flag("face"));
    let follower = if part.vector("face").is_some() {
        if least.is_nan() || least <= 0.0 {
            let message = format!(
                "cam \"{}\": a flat face follows convex curves only, but this one has a curvature of {least:.6} /m somewhere",
                part.name
            );
            return Err(wrong(
                "face",
                message,
                "let a roller follow it: radius = ..., or make the curve convex without straight parts",
            ));
        }
        CamFollower::Face
    } else {
        if lifts_face {
            let message = format!("cam \"{}\" has a curve that lifts a flat face, but its follower is none", part.name);
            return Err(wrong("curve", message, "give the joint `face`, or leave out face = true of the curve"));
        }
        let radius = part.find_number("radius").unwrap_or(curve.inset) - curve.inset;
        if !(1.0 + least * radius > 0.0 && 1.0 + most * radius > 0.0) {
            let message = format!(
                "cam \"{}\": its roller does not fit the curve, whose radii of curvature go down to {:.6} m",
                part.name,
                1.0 / least.abs().max(most.abs())
            );
            return Err(wrong("radius", message, "take a smaller roller, or a smoother curve"));
        }
        CamFollower::Roller { radius }
    };
    let holds = if part.flag("one_sided") { Holds::AtLeast } else { Holds::Equal };
    Ok(Joint::Cam(Arc::new(Cam { curve, follower, holds })))
}

/// How scenes know it.
pub const SPEC: JointSpec = JointSpec {
    kind: Spec {
        word: "cam",
        about: "A point, roller or flat face (body 2) on the smooth curve of a cam (body 1); without friction",
        keys: &[&HELD, &CAM],
        check,
        example: "bodies = [\"a\", \"b\"]\ncurve = { kind = \"circle\", radius = 0.1 }\nat = [0.1, 0, 0]",
        ..JOINT.kind
    },
    glyph: Glyph::Link,
    axis2: Axis2::Follower,
    make: Make::Joint(make),
    ..JOINT
};

impl Cam {
    /// Its row.
    pub fn row(&self, f1: &Kinematics, f2: &Kinematics) -> Row {
        match self.follower {
            CamFollower::Roller { radius } => self.row_of_roller(radius, f1, f2),
            CamFollower::Face => self.row_of_face(f1, f2),
        }
    }

    /// With d = p2 - p1 and its velocity V = v2 - v1 - w1 x d as seen in frame 1, n and t the normal and tangent at the
    /// nearest point, k the curvature there and D = n . (p2 - c):
    ///   phi'  = n . V
    ///   phi'' = n . (a2 - a1 - alpha1 x d - 2 w1 x V - w1 x (w1 x d)) + k/(1 + k D) (t . V)^2
    fn row_of_roller(&self, radius: f64, f1: &Kinematics, f2: &Kinematics) -> Row {
        let d = f2.p - f1.p;
        let (point, distance) = self.curve.nearest(Vec2::new(f1.R.x_axis.dot(d), f1.R.y_axis.dot(d)));
        let n = f1.in_plane(point.normal());
        let V = f2.v - f1.v - f1.w.cross(d);
        let along = f1.in_plane(point.tangent).dot(V);
        let spread = 1.0 + point.curvature * distance;
        Row {
            phi: distance - radius,
            J: [Six::new(n.cross(d), -n), Six::new(Vec3::ZERO, n)],
            convective: point.curvature / spread * along * along
                - n.dot(2.0 * f1.w.cross(V) + f1.w.cross(f1.w.cross(d))),
            holonomic: true,
            length: true,
        }
    }

    /// With g = p1 + c - p2, W = v1 + w1 x c - v2, m' = w2 x m, t and k the tangent and curvature at c; the touching point
    /// runs along the curve so that t . m = 0:
    ///   phi'  = m . W + m' . g
    ///   phi'' = m . (a1 + alpha1 x c + w1 x (w1 x c) - a2) + alpha2 . (m x g) + 2 m' . W + w2 . (m' x g)
    ///           - (t . ((w2 - w1) x m))^2/(k |m in the plane|)
    fn row_of_face(&self, f1: &Kinematics, f2: &Kinematics) -> Row {
        let m = f2.R.z_axis;
        let flat = Vec2::new(f1.R.x_axis.dot(m), f1.R.y_axis.dot(m));
        let point = self.curve.lowest(flat);
        let (c, t) = (f1.in_plane(point.position), f1.in_plane(point.tangent));
        let g = f1.p + c - f2.p;
        let W = f1.v + f1.w.cross(c) - f2.v;
        let m_dot = f2.w.cross(m);
        let turn = t.dot((f2.w - f1.w).cross(m));
        // a face at right angles to the axis touches nowhere in particular
        let runs = if flat == Vec2::ZERO { 0.0 } else { turn * turn / (point.curvature * flat.length()) };
        Row {
            phi: m.dot(g),
            J: [Six::new(c.cross(m), m), Six::new(m.cross(g), -m)],
            convective: 2.0 * m_dot.dot(W) + m.dot(f1.w.cross(f1.w.cross(c))) + f2.w.dot(m_dot.cross(g)) - runs,
            holonomic: true,
            length: true,
        }
    }
}

impl Kinematics {
    /// A vector of its plane x, y, in world.
    fn in_plane(&self, v: Vec2) -> Vec3 {
        self.R.x_axis * v.x + self.R.y_axis * v.y
    }
}
