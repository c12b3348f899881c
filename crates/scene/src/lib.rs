//! The scene: what a person writes.
//!
//! A scene file is TOML (or the identical JSON). Numbers are SI, or strings with units and arithmetic: `"2*r + 1 mm"`.
//! Reading is strict, collects every error of the file, and leaves plain structs in which every number is an `f64` in SI:
//! parameters, units and `repeat` are gone. The same structs can be filled from a program and written back with
//! [`Scene::to_toml`]. Whoever compiles a scene reports what is wrong through [`Scene::error`], where it was written.
#![allow(non_snake_case)] // matrices and poses are capital letters, as in CONVENTIONS.md

mod cable;
mod error;
mod expect;
mod fluid;
mod format;
mod format_grains;
mod format_mechanism;
mod format_solid;
mod format_vehicle;
mod gallery;
mod grains;
mod include;
mod include_part;
mod json;
mod law;
pub mod material;
mod node;
mod placed;
mod read;
mod read_body;
mod read_grains;
mod read_mechanism;
mod read_part;
mod read_solid;
mod reader;
mod references;
mod repeat;
mod schema;
mod shape_kind;
mod soil;
mod vehicle;
mod write;
mod write_grains;
mod write_mechanism;
mod write_part;
mod write_solid;

pub use error::{Place, Places, SceneError, SceneErrors};
pub use flexible::{Flexible, InterfaceBody};
pub use format_mechanism::kinds;
pub use gallery::gallery;
pub use grains::{
    ClumpForm, ClumpSpec, GrainMethod, GrainsSpec, Granular, MOST_GRAINS, Packing, ProbeSpec, Region, Servo, SinkSpec,
};
pub use law::LAW_INPUTS;
pub use placed::{shape_rotation, shapes_of};
pub use repeat::Building;
pub use schema::schema;
pub use shape_kind::{ShapeKind, Touching};
pub use soil::{SoilFeed, SoilLayer, SoilSpec, SoilTool};
pub use tippe_format::key::{SMALLEST_TOLERANCE, Spec};
pub use tippe_format::part::{Attachment, CoordinateOf, Equation, Part, Value};
pub use tippe_format::text::{closest, did_you_mean};
pub use tippe_format::{equation, text};
pub use tippe_parts::sensor::SensorKind;
pub use vehicle::{VehicleTree, template, templates};

use std::sync::Arc;
use tippe_geometry::{Mat3, Mesh, Quat, Solid, Vec3, file::regular};

/// A whole scene: bodies, what they are made of, how they touch, how long to look, what to expect.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// File it was read from, as the user named it; empty for a scene built in a program.
    pub file: String,
    /// One line for lists.
    pub title: String,
    /// More about it.
    pub description: String,
    /// Where the example comes from.
    pub source: Option<String>,
    /// Words to find it by; `slow` keeps it out of the ordinary test command.
    pub tags: Vec<String>,
    /// What a run costs, as text for lists.
    pub cost: Option<String>,
    /// Parameters with their values, in the order of the file.
    pub params: Vec<Param>,
    /// Gravity, resolved in world [m/s2].
    pub gravity: Vec3,
    /// Masses that attract every body, beside uniform gravity.
    pub attractors: Vec<Attractor>,
    /// How to run it.
    pub run: Run,
    /// How the realtime clock runs it.
    pub realtime: Realtime,
    /// How the granular clock runs it.
    pub granular: Granular,
    /// Contact parameters wherever a pair says nothing.
    pub contact: ContactSpec,
    /// Materials of this scene, beside the built-in ones.
    pub materials: Vec<Material>,
    /// Contact parameters of pairs of materials or of bodies.
    pub pairs: Vec<Pair>,
    /// Contact laws written as equations.
    pub laws: Vec<Law>,
    /// Solids built step by step, in the order of the file.
    pub solids: Vec<SolidSpec>,
    /// What reading had to change or leave out, for the warnings of a run.
    pub notes: Vec<String>,
    /// Vehicles, which are bodies, joints and the rest below.
    pub vehicles: Vec<VehicleTree>,
    /// Bodies, repeats expanded, in the order of the file.
    pub bodies: Vec<Body>,
    /// Sets of grains, in the order of the file.
    pub grains: Vec<GrainsSpec>,
    /// Boxes in which grains vanish.
    pub sinks: Vec<SinkSpec>,
    /// Boxes in which grains are measured.
    pub probes: Vec<ProbeSpec>,
    /// The ground, if it can be cut and pressed.
    pub soils: Vec<SoilSpec>,
    /// Pairs that never collide.
    pub ignores: Vec<Ignore>,
    /// Joints.
    pub joints: Vec<Part>,
    /// Relations of coordinates of joints.
    pub constraints: Vec<Constraint>,
    /// Force elements.
    pub forces: Vec<Part>,
    /// Named scalars for equations.
    pub signals: Vec<Part>,
    /// Components with states of their own.
    pub components: Vec<Component>,
    /// Sensors.
    pub sensors: Vec<Part>,
    /// Surfaces that are drawn and nothing else.
    pub drawings: Vec<Part>,
    /// Structural changes.
    pub changes: Vec<Change>,
    /// What a run must show.
    pub expects: Vec<Expect>,
    /// A body to be made of less material.
    pub optimize: Option<Optimize>,
    /// Where things were written.
    pub places: Places,
}

impl Scene {
    /// Reads a scene from a file, or by name from the gallery; a file of that name wins. `sets` override parameters,
    /// each a name and an expression.
    pub fn load(path_or_name: &str, sets: &[(String, String)]) -> Result<Scene, SceneErrors> {
        let path = std::path::Path::new(path_or_name);
        if path.exists() && !path.is_dir() {
            let text = regular::read_text(path, regular::TEXT);
            return Scene::parse(path_or_name, &text.map_err(|error| gallery::unreadable(path_or_name, &error))?, sets);
        }
        let (name, text) = gallery::find(path_or_name)?;
        Scene::parse(&format!("{name}.toml"), text, sets)
    }

    /// Reads a scene from a text. `file` is for messages; a name that ends in `.json` makes it JSON.
    pub fn parse(file: &str, text: &str, sets: &[(String, String)]) -> Result<Scene, SceneErrors> {
        Scene::parse_up_to(file, text, sets, repeat::MAX_TURNS)
    }

    /// Reads a scene that is, or is included by, the files being read.
    fn parse_within(
        file: &str,
        text: &str,
        sets: &[(String, String)],
        max_turns: usize,
        files: &mut include::Files,
        building: &Building,
    ) -> Result<Scene, SceneErrors> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let json = file.to_ascii_lowercase().ends_with(".json");
        let (top, errors) = if json { json::from_json(file, text) } else { node::from_toml(file, text) };
        if !errors.is_empty() {
            return Err(SceneErrors(errors));
        }
        let mut reader = reader::Reader {
            file,
            errors,
            scope: Default::default(),
            turns: max_turns,
            building,
            files: std::mem::take(files),
            solids: Default::default(),
            curves: Default::default(),
            failed_solids: Default::default(),
            pieces: Vec::new(),
            couplings: Vec::new(),
            notes: Vec::new(),
        };
        let mut scene = read::scene(&mut reader, &top, sets);
        scene.notes.append(&mut reader.notes);
        *files = std::mem::take(&mut reader.files);
        if reader.errors.is_empty() {
            return Ok(scene);
        }
        // Errors of included files come last, in their own order.
        reader.errors.sort_by_key(|error| match error.place.line > 0 && error.file != file {
            true => (true, Place::default()),
            false => (false, error.place),
        });
        Err(SceneErrors(reader.errors))
    }

    /// The scene as TOML that reads back as an equal scene: numbers in SI, no parameters left in expressions.
    pub fn to_toml(&self) -> String {
        node::to_toml(&write::scene(self))
    }

    /// The scene as JSON that reads back as an equal scene.
    pub fn to_json(&self) -> String {
        node::to_json(&node::Node::new(node::Value::Table(write::scene(self))))
    }

    /// An error at a place of this scene's file.
    pub fn error(&self, place: Place, message: impl Into<String>, help: impl Into<String>) -> SceneError {
        SceneError { file: self.file.clone(), place, message: message.into(), help: help.into() }
    }
}

/// A named number for expressions.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Name.
    pub name: String,
    /// Value in SI [unit of `kind`].
    pub value: f64,
    /// Its unit, if one was given.
    pub kind: crate::equation::Kind,
    /// Where it was written.
    pub places: Places,
}

/// How to run a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// End of the run [s].
    pub until: f64,
    /// Relative tolerance of the variable-step integrators [-].
    pub tolerance: f64,
    /// Time between communication points [s].
    pub output_interval: f64,
    /// Integrator.
    pub integrator: Integrator,
    /// Step of the fixed-step integrators [s].
    pub step: Option<f64>,
    /// Largest step [s].
    pub max_step: Option<f64>,
    /// The clock that runs it where nobody says otherwise.
    pub clock: Clock,
    /// Where things were written.
    pub places: Places,
}

impl Default for Run {
    fn default() -> Self {
        Run {
            until: 1.0,
            tolerance: 1e-6,
            output_interval: 1.0 / 200.0,
            integrator: Integrator::Auto,
            step: None,
            max_step: None,
            clock: Clock::Precise,
            places: Places::default(),
        }
    }
}

/// What a limit in a file is that is absent: none.
pub fn endless() -> f64 {
    f64::INFINITY
}

/// True for a limit that files leave out.
pub fn is_endless(limit: &f64) -> bool {
    limit.is_infinite()
}

/// Declares an enum of names: the word in the file, the variant, what it is.
macro_rules! named {
    ($(#[$outer:meta])* $name:ident { $($(#[$inner:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$inner])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// The words of the file, in order.
            pub const NAMES: &'static [&'static str] = &[$($word),+];

            /// The word of the file.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }

            /// From the word of the file.
            pub fn from_name(word: &str) -> Option<Self> {
                match word {
                    $($word => Some($name::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

mod contact;
pub mod flexible;
mod mechanism;
pub mod optimize;
mod realtime;
pub use contact::ContactSpec;
pub use expect::Expect;
pub use mechanism::{Action, Attractor, Change, Component, ComponentCrossing, ComponentUnit};
pub use mechanism::{Constraint, ConstraintHolds, ConstraintTerm, Frame};
pub use optimize::Optimize;
pub use realtime::{Coupled, DIRECT_BODIES, FrictionBound, FrictionLoad, Realtime, Solver};

named! {
    /// The clocks: ways to advance a scene in time.
    Clock {
        /// Variable step with error control, every event located.
        Precise = "precise",
        /// Fixed step, rows with bounds.
        Realtime = "realtime",
        /// Grains by explicit steps, bodies as walls.
        Granular = "granular",
    }
}

named! {
    /// Whose run an expectation is about.
    ExpectClock {
        /// The precise clock's.
        Precise = "precise",
        /// The realtime clock's.
        Realtime = "realtime",
        /// The granular clock's.
        Granular = "granular",
        /// The precise and the realtime clock's, each.
        Both = "both",
    }
}

named! {
    /// Which integrator advances the islands.
    Integrator {
        /// Chosen per island, reported.
        Auto = "auto",
        /// Explicit, fifth order, variable step.
        Dopri5 = "dopri5",
        /// Linearly implicit, fourth order, variable step.
        Rodas4 = "rodas4",
        /// Classical Runge-Kutta, fixed step.
        Rk4 = "rk4",
        /// Second order, fixed step.
        Heun = "heun",
        /// Explicit Euler, fixed step.
        Euler = "euler",
    }
}

impl Integrator {
    /// True for the integrators that need `run.step`.
    pub fn fixed_step(self) -> bool {
        matches!(self, Integrator::Rk4 | Integrator::Heun | Integrator::Euler)
    }
}

named! {
    /// Built-in normal contact laws.
    NormalLaw {
        /// Hertz with exact restitution.
        Hertz = "hertz",
        /// Modia3D as published.
        Modia3d = "modia3d",
        /// CollisionLib as published.
        Collisionlib = "collisionlib",
        /// Overlap of spherical caps (Nassauer).
        Nassauer = "nassauer",
        /// Bardaro as published.
        Bardaro = "bardaro",
        /// Overlap volume.
        Volume = "volume",
        /// Elastic foundation.
        Foundation = "foundation",
        /// Linear spring and damper.
        Linear = "linear",
    }
}

named! {
    /// Friction laws.
    FrictionLaw {
        /// Elastic stick, then slip.
        Mindlin = "mindlin",
        /// Regularised as in Modia3D.
        Regularised = "regularised",
        /// Slip over the square root of slip and regularisation speed (Bardaro).
        Sqrt = "sqrt",
        /// Smooth static and kinetic curve (Nassauer).
        Nassauer = "nassauer",
        /// CollisionLib as published.
        Collisionlib = "collisionlib",
        /// Coulomb-Contensou: sliding and spin joined.
        Contensou = "contensou",
        /// Slip speed per force, up to Coulomb's limit.
        Viscous = "viscous",
        /// Bristles that bend and slip off one by one.
        Brush = "brush",
        /// No friction.
        None = "none",
    }
}

named! {
    /// Where the contact force acts.
    Lever {
        /// Midway between the two surfaces.
        Midpoint = "midpoint",
        /// On the surface of the first body.
        Surface1 = "surface1",
        /// On the surface of the second body.
        Surface2 = "surface2",
    }
}

named! {
    /// Direction of a shape's own axis.
    Axis {
        /// Along x.
        X = "x",
        /// Along y.
        Y = "y",
        /// Along z.
        Z = "z",
    }
}

/// The normal law of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LawChoice {
    /// One of the built-in laws.
    BuiltIn(NormalLaw),
    /// A `[law.NAME]` of the scene.
    Custom(String),
}

/// A material of the scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Material {
    /// Name.
    pub name: String,
    /// Density [kg/m3].
    pub density: f64,
    /// Young's modulus [Pa].
    pub young: f64,
    /// Poisson's ratio [-].
    pub poisson: f64,
    /// Where things were written.
    pub places: Places,
}

/// Whom contact parameters are for; the order does not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Between {
    /// Two materials.
    Materials(String, String),
    /// Two bodies; `group:NAME` stands for every body of a group.
    Bodies(String, String),
}

/// Contact parameters of two materials or two bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Whom they are for.
    pub between: Between,
    /// The parameters.
    pub contact: ContactSpec,
    /// True if they never collide.
    pub ignore: bool,
    /// Where things were written.
    pub places: Places,
}

/// A contact law written as equations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Law {
    /// Name.
    pub name: String,
    /// Intermediate results, in order.
    pub lets: Vec<Equation>,
    /// Normal force [N].
    pub normal: Equation,
    /// Elastic energy [J].
    pub energy: Option<Equation>,
    /// Friction coefficient [-].
    pub friction: Option<Equation>,
    /// Where things were written.
    pub places: Places,
}

/// Motion that is given, not computed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motion {
    /// Velocity of the body origin, resolved in world [m/s].
    pub velocity: Vec3,
    /// Angular velocity, resolved in world [rad/s].
    pub angular_velocity: Vec3,
}

/// A body.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Name, unique in the scene.
    pub name: String,
    /// True if it never moves.
    pub fixed: bool,
    /// Its shapes; none for a bare mass.
    pub shapes: Vec<ShapeSpec>,
    /// Material of all shapes that name none themselves.
    pub material: Option<String>,
    /// Density instead of the material's [kg/m3].
    pub density: Option<f64>,
    /// Body origin, from the world's, resolved in world [m].
    pub position: Vec3,
    /// Rotation taking body components to world components.
    pub orientation: Quat,
    /// Velocity of the body origin at the start, resolved in world [m/s].
    pub velocity: Vec3,
    /// Angular velocity at the start, resolved in world [rad/s].
    pub angular_velocity: Vec3,
    /// Mass [kg]; computed from shapes and density if absent.
    pub mass: Option<f64>,
    /// Inertia about the centre of mass, body axes [kg m2]; computed if absent.
    pub inertia: Option<Mat3>,
    /// Centre of mass from the body origin, body axes [m]; computed if absent.
    pub center_of_mass: Option<Vec3>,
    /// Given motion; then the body is not free.
    pub motion: Option<Motion>,
    /// Presses on grains as told; then the body is not free.
    pub servo: Option<Servo>,
    /// Groups it belongs to.
    pub groups: Vec<String>,
    /// Bodies, and `group:NAME`s, it never collides with.
    pub ignore: Vec<String>,
    /// False if none of its shapes ever collides.
    pub collide: bool,
    /// How the realtime clock solves the partition it is in, instead of the setting for all.
    pub solver: Option<Solver>,
    /// Named frames on it.
    pub frames: Vec<Frame>,
    /// How it bends, if it does.
    pub flexible: Option<Flexible>,
    /// The interface of a flexible body that it stands for.
    pub interface_of: Option<InterfaceBody>,
    /// Where things were written.
    pub places: Places,
}

impl Default for Body {
    fn default() -> Self {
        Body {
            name: String::new(),
            fixed: false,
            shapes: Vec::new(),
            material: None,
            density: None,
            position: Vec3::ZERO,
            orientation: Quat::IDENTITY,
            velocity: Vec3::ZERO,
            angular_velocity: Vec3::ZERO,
            mass: None,
            inertia: None,
            center_of_mass: None,
            motion: None,
            servo: None,
            groups: Vec::new(),
            ignore: Vec::new(),
            collide: true,
            solver: None,
            frames: Vec::new(),
            flexible: None,
            interface_of: None,
            places: Places::default(),
        }
    }
}

/// A shape of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeSpec {
    /// What it is.
    pub kind: ShapeKind,
    /// Shape origin from the body origin, body axes [m].
    pub position: Vec3,
    /// Rotation taking shape components to body components.
    pub orientation: Quat,
    /// Material instead of the body's.
    pub material: Option<String>,
    /// Density instead of the body's or the material's [kg/m3].
    pub density: Option<f64>,
    /// False if this shape has mass only.
    pub collide: bool,
    /// Where things were written.
    pub places: Places,
}

impl Default for ShapeSpec {
    fn default() -> Self {
        ShapeSpec {
            kind: ShapeKind::Sphere { radius: 1.0 },
            position: Vec3::ZERO,
            orientation: Quat::IDENTITY,
            material: None,
            density: None,
            collide: true,
            places: Places::default(),
        }
    }
}

/// A named solid: a step, what is then done with it, and the result.
#[derive(Clone, Debug, PartialEq)]
pub struct SolidSpec {
    /// Name.
    pub name: String,
    /// How it is made.
    pub form: SolidForm,
    /// Where it is put and how often.
    pub placing: Placing,
    /// What comes out.
    pub mesh: Arc<Mesh>,
    /// Where it was written.
    pub places: Places,
}

/// How a named solid is made.
#[derive(Clone, Debug, PartialEq)]
pub enum SolidForm {
    /// From numbers alone.
    Simple(Solid),
    /// Of solids before it.
    Combined {
        /// How.
        how: Combination,
        /// Their names.
        of: Vec<String>,
    },
}

/// How solids become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combination {
    /// All together.
    Union,
    /// The first without the others.
    Difference,
    /// What they have in common.
    Intersection,
}

/// What is done with a solid, in this order: stretch, mirror, turn, shift, copy around z, copy in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placing {
    /// Factors along x, y, z [-].
    pub scale: Option<Vec3>,
    /// Normal of the mirror through the origin [-].
    pub mirror: Option<Vec3>,
    /// Rotation.
    pub orientation: Quat,
    /// Shift [m].
    pub position: Vec3,
    /// Copies around z [-].
    pub around: u32,
    /// Copies in a row [-].
    pub along: u32,
    /// From one copy in the row to the next [m].
    pub step: Vec3,
}

/// Two bodies that never collide with each other; `group:NAME` stands for every body of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ignore {
    /// The one.
    pub first: String,
    /// The other.
    pub second: String,
    /// Where things were written.
    pub places: Places,
}

#[cfg(test)]
mod tests;
