//! The model: a scene compiled, validated, immutable, indexed.

pub mod capability;
mod compile;
mod components;
mod contact_table;
mod drawings;
mod drives;
mod facets;
mod flexible;
mod forces;
pub mod foreign;
mod grain_measures;
mod grains;
mod homes;
mod inputs;
mod mechanisms;
mod relations;
mod soil;
mod starts;

pub use crate::contact::collider::Collider;
pub use drawings::{Coloured, ModelDrawing};
pub use flexible::Part as FlexiblePart;
use foreign::Foreign;
pub use grain_measures::{GrainMeasure, ProbeMeasure, SinkMeasure};
pub use grains::{GrainClump, GrainForm, GrainServo, GrainSet, GrainWall, ModelGrains, Pace};
pub use inputs::{InputPlace, ModelInput};
pub use mechanisms::JointPlace;
pub use soil::{ModelFeed, ModelSoil, PointMeasure, SoilMeasure, Spoil, ToolMeasure};
pub use starts::MechanismStart;
pub use tippe_parts::sensor::Sensor as ModelSensor;

use crate::contact::curve::Curve;
use crate::contact::friction::FrictionLaw;
use crate::contact::normal::{CustomLaw, NormalLaw};
use crate::element::{At, Element, Give};
use crate::joint::{Joint, JointSpec};
use crate::kinematics::{BodyState, Frame, Kinematics};
use crate::mechanism::Mechanism;
use crate::network::{Formula, Network};
use std::collections::BTreeMap;
use std::sync::Arc;
use tippe_geometry::{Mat3, Quat, Vec3};
use tippe_scene::{Attractor, Solver};

/// A contact law of a program, under the name that the scene knows it by.
pub type ProgramLaw = (String, Arc<dyn CustomLaw>);

/// A scene ready to run.
#[derive(Clone, Debug)]
pub struct Model {
    /// Bodies in the order of the scene.
    pub bodies: Vec<Body>,
    /// Shapes that may collide, grouped by body in the order of the bodies.
    pub colliders: Vec<Collider>,
    /// Gravity, resolved in world [m/s^2].
    pub gravity: Vec3,
    /// What the user should know about the scene.
    pub warnings: Vec<String>,
    /// Contact parameters, shared by many pairs.
    pub parameters: Vec<ContactParameters>,
    /// Parameters of two classes of elements, `classes * class1 + class2`; `None` never collides.
    by_class: Vec<Option<u32>>,
    classes: usize,
    /// Parameters of two bodies that were named, smaller index first; `None` never collides.
    by_bodies: BTreeMap<(u32, u32), Option<u32>>,
    /// Motion of the bodies' origins at the start, in the order of the scene.
    pub start: Vec<crate::BodyState>,
    /// Masses that attract every body.
    pub attractors: Vec<Attractor>,
    /// Joints in the order of the scene.
    pub joints: Vec<ModelJoint>,
    /// Bodies held together by joints.
    pub mechanisms: Vec<Mechanism>,
    /// Their coordinates at the start.
    pub mechanism_starts: Vec<MechanismStart>,
    /// Force elements.
    pub elements: Vec<ModelElement>,
    /// States beside those of bodies and joints: of signals and components, then of elements.
    pub states: Vec<ModelState>,
    /// Signals and components.
    pub network: Network,
    /// Sensors.
    pub sensors: Vec<ModelSensor>,
    /// Structural changes.
    pub changes: Vec<ModelChange>,
    /// Numbers from outside: signals first, then what may be added to force elements.
    pub inputs: Vec<ModelInput>,
    /// What is recorded beside bodies, contacts and energy: joints, force elements, sensors, equations.
    pub signals: Vec<ModelSignal>,
    /// Surfaces that are drawn and nothing else.
    pub drawings: Vec<ModelDrawing>,
    /// Grains, in a model compiled for a clock that moves them.
    pub grains: Option<ModelGrains>,
    /// The ground, if it can be cut and pressed.
    pub soil: Option<ModelSoil>,
    /// Who gives contact points instead of the geometry, if anybody does.
    pub foreign: Option<Foreign>,
}

/// A force element in a model.
#[derive(Clone, Debug)]
pub struct ModelElement {
    /// Name for signals and messages.
    pub name: String,
    /// What it is.
    pub kind: Element,
    /// Free bodies it acts on or reads, ascending.
    pub bodies: Vec<u32>,
    /// The first of them that it is gone with: where it is at home.
    pub home: Option<u32>,
    /// Its states among [`Model::states`].
    pub states: std::ops::Range<usize>,
    /// Its modes among those of all elements.
    pub modes: std::ops::Range<usize>,
    /// Numbers it keeps among those of all elements.
    pub kept: std::ops::Range<usize>,
    /// Its accounts among those of all elements.
    pub accounts: std::ops::Range<usize>,
}

impl ModelElement {
    /// How events name one of its modes.
    pub fn mode_source(&self, which: usize) -> String {
        match self.kind.mode_name(which) {
            Some(mode) => format!("{}.{mode}", self.name),
            None => self.name.clone(),
        }
    }
}

/// A state beside those of bodies and joints.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelState {
    /// Name, with its owner's: `motor.current`.
    pub name: String,
    /// SI unit, `-` if none.
    pub unit: &'static str,
    /// Value at the start.
    pub start: f64,
    /// Size below which changes do not matter to the error of a step.
    pub scale: f64,
    /// What kind of thing it belongs to: `component`, `force`.
    pub kind: &'static str,
    /// Whose it is.
    pub owner: String,
}

/// A structural change.
#[derive(Clone, Debug)]
pub struct ModelChange {
    /// Name for the log.
    pub name: String,
    /// At this time [s] ...
    pub at: Option<f64>,
    /// ... or where this first rises through zero.
    pub when: Option<Formula>,
    /// The free body whose island watches for it.
    pub home: u32,
    /// What happens.
    pub action: ChangeAction,
}

/// What a structural change does; joints and bodies by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeAction {
    /// A joint that is rows takes hold as things are.
    Attach(u32),
    /// A joint that is rows lets go.
    Release(u32),
    /// Coordinates of a joint are held.
    Lock(u32),
    /// Coordinates of a joint are free again.
    Unlock(u32),
    /// A body is gone.
    Delete(u32),
    /// Two bodies may touch, or may not.
    Contact {
        /// The two bodies, smaller first.
        bodies: (u32, u32),
        /// Whether they may.
        on: bool,
    },
}

/// A number recorded at every communication point.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSignal {
    /// Name, with its owner's: `hinge.angle`.
    pub name: String,
    /// SI unit, `-` if none.
    pub unit: String,
    /// Where it comes from.
    pub source: SignalSource,
}

/// Where a recorded number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalSource {
    /// Coordinate of a joint.
    Coordinate {
        /// Joint.
        joint: u32,
        /// Coordinate.
        coordinate: u32,
    },
    /// Component w, x, y, z of the relative orientation of a joint with three rotations.
    Orientation {
        /// Joint.
        joint: u32,
        /// Component.
        component: u32,
    },
    /// Rate of a coordinate.
    Rate {
        /// Joint.
        joint: u32,
        /// Coordinate.
        coordinate: u32,
    },
    /// Component of the force (0 to 2) and torque (3 to 5) a joint exerts on body 2 at its frame 2, resolved in world.
    Reaction {
        /// Joint.
        joint: u32,
        /// Component.
        component: u32,
    },
    /// Force of a cam, or of a constraint that does not give: each coordinate feels its factor times it [N or N m].
    Multiplier {
        /// Mechanism.
        mechanism: u32,
        /// Its loop, or the number of loops plus the coupling.
        owner: u32,
    },
    /// Largest von Mises stress at the nodes of a flexible body [Pa].
    Stress {
        /// Mechanism.
        mechanism: u32,
        /// Link.
        link: u32,
    },
    /// Amplitude of a mode of a flexible body [m kg^0.5].
    Mode {
        /// Mechanism.
        mechanism: u32,
        /// Its coordinate.
        coordinate: u32,
    },
    /// Output of a force element.
    Output {
        /// Element.
        element: u32,
        /// Output.
        output: u32,
    },
    /// Energy a force element lost or put in since the start [J].
    Energy {
        /// Element.
        element: u32,
        /// Account.
        account: u32,
    },
    /// Component of a sensor.
    Sensor {
        /// Sensor.
        sensor: u32,
        /// Component.
        component: u32,
    },
    /// A value of the network.
    Value(u32),
    /// A state of [`Model::states`].
    State(u32),
    /// A measure of a set of grains.
    Grains {
        /// Set.
        set: u32,
        /// What of it.
        measure: GrainMeasure,
    },
    /// What a sink has swallowed.
    Sink {
        /// Sink.
        sink: u32,
        /// What of it.
        measure: SinkMeasure,
    },
    /// What a probe measures.
    Probe {
        /// Probe.
        probe: u32,
        /// What of it.
        measure: ProbeMeasure,
    },
    /// Of the ground, its tools and points.
    Soil(SoilMeasure),
    /// Component of the force (0 to 2) and torque about the centre of mass (3 to 5) of the grains on a body, resolved in world.
    GrainLoad {
        /// Body.
        body: u32,
        /// Component.
        component: u32,
    },
}

/// A joint of the scene.
#[derive(Clone, Debug)]
pub struct ModelJoint {
    /// Name in the scene.
    pub name: String,
    /// Kind in the scene.
    pub kind: &'static JointSpec,
    /// What it lets move.
    pub joint: Joint,
    /// Bodies it joins, by index; `None` is the world.
    pub bodies: [Option<u32>; 2],
    /// False if it holds only after a change attaches it.
    pub active: bool,
    /// Force [N] and torque [N m] at which it breaks.
    pub breaking: [f64; 2],
    /// Where its coordinates or rows are.
    pub place: Option<JointPlace>,
    /// What acts in its place where it gives.
    pub gives: Option<Give>,
}

/// What moves a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drive {
    /// Forces.
    Free,
    /// Nothing: it stays where it is.
    Fixed,
    /// A given constant velocity [m/s] and angular velocity [rad/s], resolved in world.
    Prescribed {
        /// Velocity of the centre of mass (or origin, if it has no mass) [m/s].
        velocity: Vec3,
        /// Angular velocity [rad/s].
        angular_velocity: Vec3,
    },
}

/// One rigid body. Its frame c has its origin at the centre of mass and the axes of the body.
#[derive(Clone, Debug)]
pub struct Body {
    /// Name in the scene.
    pub name: String,
    /// What moves it.
    pub drive: Drive,
    /// Mass [kg]; infinite unless free.
    pub mass: f64,
    /// Inertia about the centre of mass, body axes [kg m^2].
    pub I_c: Mat3,
    /// Inverse of `I_c` [1/(kg m^2)].
    pub I_c_inverse: Mat3,
    /// True when all three principal inertias are equal: orientation does not matter to rotation.
    pub isotropic: bool,
    /// Centre of mass from the body's origin, body axes [m].
    pub p_bc: Vec3,
    /// Range of its elements in the model's list.
    pub colliders: std::ops::Range<usize>,
    /// Radius of the ball about the centre of mass that holds all its elements [m].
    pub radius: f64,
    /// True when the forces depend on its orientation.
    pub oriented: bool,
    /// Length its errors are measured by [m].
    pub size: f64,
    /// Mechanism and link, if joints hold it.
    pub mechanism: Option<(u32, u32)>,
    /// How a clock with a fixed step solves the partition it is in, instead of its setting.
    pub solver: Option<Solver>,
    /// How it bends, if it does.
    pub flexible: Option<Arc<tippe_flexible::Reduced>>,
    /// The flexible body and which of its interfaces it stands for.
    pub interface_of: Option<(u32, usize)>,
}

/// Where the contact force acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lever {
    /// Midway between the two surfaces.
    Midpoint,
    /// On the surface of body 1.
    Surface1,
    /// On the surface of body 2.
    Surface2,
}

/// Everything that says how two elements touch, apart from their geometry and mass.
#[derive(Clone, Debug)]
pub struct ContactParameters {
    /// Normal law.
    pub law: NormalLaw,
    /// Friction law.
    pub friction_law: FrictionLaw,
    /// E* times k_red [Pa].
    pub modulus: f64,
    /// kappa = 4 G*/E* [-].
    pub kappa: f64,
    /// mu, kinetic [-].
    pub friction: f64,
    /// mu, static [-].
    pub static_friction: f64,
    /// mu_r [-].
    pub rolling: f64,
    /// Spin torque over normal force and effective radius [-]; zero: from the patch.
    pub spin: f64,
    /// Patch radius [m]; zero: from Hertz.
    pub patch_radius: f64,
    /// c_r: torque against spin over normal force, area and spin [s/m].
    pub spin_damping: f64,
    /// Effective radius instead of the shapes' [m].
    pub radius: Option<f64>,
    /// Where the force acts.
    pub lever: Lever,
    /// Contact points at most, in the realtime clock; those of its settings if absent.
    pub points: Option<usize>,
    /// Largest normal force, in the realtime clock [N].
    pub normal_force_max: f64,
    /// Largest friction force, in the realtime clock [N].
    pub force_max: f64,
    /// Largest pull [N], and on an area [Pa].
    pub adhesion: [f64; 2],
    /// Limit of friction instead of mu N [N]; zero: mu N.
    pub friction_force: f64,
    /// mu over the slip speed, where it is not the same at all.
    pub friction_curve: Curve,
    /// Restitution over the closing speed, where it is not the same at all.
    pub restitution_curve: Curve,
}

impl Model {
    /// A warning of two elements of which one has passed the middle of the other: when, which, how deep [s], [m].
    pub fn pressed_through(&self, (time, pair, depth): (f64, (u32, u32), f64)) -> String {
        let [a, b] = [pair.0, pair.1].map(|e| &self.bodies[self.colliders[e as usize].body as usize].name);
        format!(
            "\"{a}\" and \"{b}\" are {depth:.2e} m deep in each other at t = {} s, beyond the middle of the thinner part: from there contact pushes through \
             it, not back. help: a smaller step of the realtime clock, stiffer or thicker material, or a box or hull for it, which has no middle",
            tippe_scene::text::plain(time)
        )
    }

    /// True when all losses are booked by cause: the residual of the energy is an error.
    pub fn is_booked(&self) -> bool {
        self.grains.as_ref().is_none_or(|grains| grains.booked)
    }

    /// Appends a force element; bodies it belongs to are found when all are there.
    fn add_element(&mut self, name: String, kind: Element) {
        let first = self.states.len();
        self.states.extend(kind.states().iter().map(|state| ModelState {
            name: format!("{name}.{}", state.name),
            unit: state.unit,
            start: state.start,
            scale: state.scale,
            kind: "force",
            owner: name.clone(),
        }));
        let accounts = self.elements.last().map_or(0, |e| e.accounts.end);
        let accounts = accounts..accounts + kind.accounts().len();
        let states = first..self.states.len();
        let modes = self.elements.last().map_or(0, |e| e.modes.end);
        let modes = modes..modes + kind.watched().max(1);
        let kept = self.elements.last().map_or(0, |e| e.kept.end);
        let kept = kept..kept + kind.keeps();
        self.elements.push(ModelElement { name, kind, bodies: Vec::new(), home: None, states, modes, kept, accounts });
    }

    /// True if a coordinate is an angle, false if it is a length.
    pub fn turns(&self, at: At) -> bool {
        let i = at.coordinate as usize;
        let links = &self.mechanisms[at.mechanism as usize].links;
        links.iter().any(|l| (l.first..l.first + l.count).contains(&i) && l.joint.is_rotation(i - l.first))
    }

    /// How two elements touch; `None` if they never do.
    pub fn contact_between(&self, element1: usize, element2: usize) -> Option<&ContactParameters> {
        let (e1, e2) = (&self.colliders[element1], &self.colliders[element2]);
        if e1.body == e2.body {
            return None;
        }
        if self.bodies[e1.body as usize].drive != Drive::Free && self.bodies[e2.body as usize].drive != Drive::Free {
            return None;
        }
        let bodies = (e1.body.min(e2.body), e1.body.max(e2.body));
        let index = if self.by_bodies.is_empty() {
            self.by_class[self.classes * e1.class as usize + e2.class as usize]
        } else {
            match self.by_bodies.get(&bodies) {
                Some(index) => *index,
                None => self.by_class[self.classes * e1.class as usize + e2.class as usize],
            }
        };
        index.map(|k| &self.parameters[k as usize])
    }

    /// Acceleration of gravity at a place [m/s^2].
    #[inline]
    pub fn gravity_at(&self, p: Vec3) -> Vec3 {
        let mut g = self.gravity;
        for a in &self.attractors {
            let d = a.position - p;
            let r = d.length();
            g += d * (a.mu / (r * r * r));
        }
        g
    }

    /// The larger of the accelerations of gravity at the start of the free bodies of two colliders [m/s^2]: the scale of their weight.
    pub fn gravity_at_start(&self, pair: (u32, u32)) -> f64 {
        let bodies = [pair.0, pair.1].map(|collider| self.colliders[collider as usize].body);
        let free = bodies.into_iter().filter(|&body| self.bodies[body as usize].drive == Drive::Free);
        free.map(|body| self.gravity_at(self.standing(body).p).length()).fold(0.0, f64::max)
    }

    /// Potential of gravity at a place, per mass [J/kg].
    pub fn potential_at(&self, p: Vec3) -> f64 {
        -self.gravity.dot(p) - self.attractors.iter().map(|a| a.mu / (a.position - p).length()).sum::<f64>()
    }

    /// Motion of a body's frame c at the start.
    pub fn standing(&self, body: u32) -> Kinematics {
        centre(&self.bodies[body as usize], &self.start[body as usize])
    }

    /// Index of the body of this name.
    pub fn body(&self, name: &str) -> Option<usize> {
        self.bodies.iter().position(|b| b.name == name)
    }
}

/// Motion of a prescribed body at time t.
pub fn prescribed(model: &Model, body: usize, t: f64) -> Kinematics {
    let start = &model.start[body];
    let (v, w) = match model.bodies[body].drive {
        Drive::Prescribed { velocity, angular_velocity } => (velocity, angular_velocity),
        _ => (Vec3::ZERO, Vec3::ZERO),
    };
    let rotation = Frame { rotation: start.orientation, rate: w }.at(t);
    Kinematics { p: start.position + v * t, v, w, R: Mat3::from_quat(rotation) }
}

/// Motion of a body's origin from that of its centre of mass.
pub fn body_state(model: &Model, body: usize, p: Vec3, q: Quat, v: Vec3, w: Vec3) -> BodyState {
    let arm = q * model.bodies[body].p_bc;
    BodyState { position: p - arm, orientation: q, velocity: v - w.cross(arm), angular_velocity: w }
}

/// Motion of a body's frame c, whose origin moves like this.
pub fn centre(body: &Body, origin: &BodyState) -> Kinematics {
    let R = Mat3::from_quat(origin.orientation);
    let (arm, w) = (R * body.p_bc, origin.angular_velocity);
    Kinematics { p: origin.position + arm, v: origin.velocity + w.cross(arm), w, R }
}

/// Mass and inertia of a body.
pub fn inertia(model: &Model, body: u32) -> (f64, Mat3) {
    let body = &model.bodies[body as usize];
    (body.mass, body.I_c)
}

/// Kinetic energy [J].
pub fn kinetic(body: &Body, kin: &Kinematics) -> f64 {
    let w_b = kin.R.transpose() * kin.w;
    0.5 * body.mass * kin.v.length_squared() + 0.5 * w_b.dot(body.I_c * w_b)
}
