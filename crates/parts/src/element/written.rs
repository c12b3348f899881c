//! Force elements as scenes know them: their words and keys, and what becomes of what was written.

use super::{
    Anchor, At, Element, applied, bushing, cable, cable_joint, driveline, fin, fluid, friction, joint_spring, maxwell,
    motion, position, propeller, soft_ground, speed, spring, stop, torque, track, tyre,
};
use crate::network::Formula;
use tippe_format::key::{Along, Form, Key, Range, Spec, Table, along, equation, key};
use tippe_format::part::{Attachment, CoordinateOf, Equation, Part};
use tippe_geometry::{Mat3, Pose, Shape, Vec3};

/// A kind of force element as scenes know it.
pub struct ElementSpec {
    /// Its word and keys.
    pub kind: Spec,
    /// What becomes of what was written; `None` where that was reported.
    pub make: fn(&Part, &mut dyn Build) -> Option<Element>,
    /// Whether it moves its coordinate, whatever that takes.
    pub moves: bool,
    /// Puts what refers to the pose as written into another pose; an error says why it cannot be.
    pub rewrite: fn(&mut Part, &Element, &dyn NewPose) -> Result<(), String>,
}

/// A pose that bodies take instead of the one that was written.
pub trait NewPose {
    /// Where a point of a body is in it, resolved in world [m].
    fn point(&self, body: &str, written: Vec3) -> Vec3;
    /// Whether a body is written elsewhere.
    fn moves(&self, body: &str) -> bool;
}

/// What elements are made of: the model so far.
pub trait Build {
    /// A frame of the scene, or the place on its body that is at a point of the pose as written, resolved in world [m].
    fn anchor(&mut self, of: &Attachment, at: Option<Vec3>) -> Option<Anchor>;
    /// Axes and origin of a frame at the start, resolved in world [m].
    fn pose(&self, anchor: &Anchor) -> (Mat3, Vec3);
    /// The frame of a body that has these axes and this origin at the start.
    fn placed(&self, body: Option<u32>, pose: (Mat3, Vec3)) -> Anchor;
    /// Shapes of a body in a fluid or of a road, and where they are in its frame c.
    fn shapes(&self, body: u32) -> Vec<(Shape, Pose)>;
    /// Mass [kg] and inertia about the centre of mass, body axes [kg m^2].
    fn inertia(&self, body: u32) -> (f64, Mat3);
    /// Uniform gravity, resolved in world [m/s^2].
    fn gravity(&self) -> Vec3;
    /// The coordinate it hangs on.
    fn coordinate(&self) -> Option<At>;
    /// The coordinates that a part names.
    fn coordinates(&mut self, of: &[CoordinateOf]) -> Option<Vec<At>>;
    /// Equations over time, parameters, signals and these names of its own.
    fn formula(&mut self, equations: &[&Equation], own: &[&str]) -> Option<Formula>;
    /// Something is wrong: `message` continues what the element is called.
    fn wrong(&mut self, message: &str, help: &str);
    /// Something its user should know.
    fn warn(&mut self, message: &str);
    /// An equation as a function of time alone; if it must be smooth, its rate has no jumps.
    fn followed(&mut self, value: &Equation, smooth: bool) -> Option<Formula>;
}

/// Every kind of force element between bodies.
pub const FORCES: &[&ElementSpec] = &[
    &applied::SPEC,
    &spring::SPEC,
    &bushing::SPEC,
    &maxwell::SPEC,
    &tyre::SPEC,
    &fin::SPEC,
    &propeller::SPEC,
    &track::SPEC,
    &soft_ground::SPEC,
    &cable_joint::SPEC,
    &driveline::ENGINE,
    &driveline::ELECTRIC,
    &driveline::CLUTCH,
    &driveline::CONVERTER,
    &driveline::GEARBOX,
    &driveline::DIFFERENTIAL,
    &driveline::HYDROSTATIC,
    &driveline::CYLINDER,
    &driveline::BRAKE,
];

/// Every kind of element on a coordinate of a joint.
pub const HUNG: &[&ElementSpec] =
    &[&joint_spring::SPEC, &stop::SPEC, &friction::SPEC, &torque::SPEC, &speed::SPEC, &position::SPEC, &motion::SPEC];

/// Words and keys of force elements between bodies.
pub const FORCE_KINDS: [&Spec; FORCES.len()] = {
    let mut kinds = [&FORCES[0].kind; FORCES.len()];
    let mut k = 0;
    while k < FORCES.len() {
        kinds[k] = &FORCES[k].kind;
        k += 1;
    }
    kinds
};

/// Springs on coordinates.
pub const SPRING: Table = Table { name: "spring", keys: &[], kinds: &[&joint_spring::SPEC.kind] };
/// Stops of coordinates.
pub const LIMIT: Table = Table { name: "limit", keys: &[], kinds: &[&stop::SPEC.kind] };
/// Dry friction on coordinates.
pub const FRICTION: Table = Table { name: "friction", keys: &[], kinds: &[&friction::SPEC.kind] };
/// Drives of coordinates.
pub const MOTOR: Table = Table {
    name: "motor",
    keys: &[&[key("kind", Form::Kind, "What the value means").required("")]],
    kinds: &[&torque::SPEC.kind, &speed::SPEC.kind, &position::SPEC.kind, &motion::SPEC.kind],
};

/// The joint between two elements of a flexible cable.
pub fn joint_of_cable() -> &'static ElementSpec {
    &cable_joint::SPEC
}

/// Words and keys of cables.
pub const CABLE_KINDS: [&Spec; 1] = [&cable::SPEC.kind];

/// Words and keys of fluids.
pub const FLUID_KINDS: [&Spec; 1] = [&fluid::SPEC.kind];

/// The kind of force element between bodies with this word.
pub fn force(word: &str) -> Option<&'static ElementSpec> {
    FORCES.iter().copied().chain([&cable::SPEC, &fluid::SPEC]).find(|spec| spec.kind.word == word)
}

/// The kind of element on a coordinate with this word.
pub fn hung(word: &str) -> Option<&'static ElementSpec> {
    HUNG.iter().copied().find(|spec| spec.kind.word == word)
}

/// The coordinate of the joint it hangs on.
pub(super) const COORDINATE: Key =
    key("coordinate", Form::Coordinate, "Name of the coordinate; default the joint's first");
/// The largest effort of a motor.
pub(super) const LIMITED: Key = along("limit", Along::Force, Range::Positive, "Largest force or torque [N or N m]");
/// What a motor follows.
pub(super) const fn value(about: &'static str) -> Key {
    equation("value", about).required("a number or an equation, such as value = \"10*t\"")
}
