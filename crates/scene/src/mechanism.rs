//! The parts of a scene that make mechanisms: frames, joints, force elements, signals, components, sensors, changes.

use super::{Equation, Places};
use tippe_geometry::{Quat, Vec3};

/// A named frame on a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Name, unique on its body; `BODY.FRAME` elsewhere.
    pub name: String,
    /// Origin from the body origin, body axes [m].
    pub position: Vec3,
    /// Rotation taking frame components to body components.
    pub orientation: Quat,
    /// Where things were written.
    pub places: Places,
}

/// A frame something is fastened to: a body (or the world), and where on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attachment {
    /// Name of the body; `world` is the ground.
    pub body: String,
    /// Name of a frame on it; the body's own if empty.
    pub frame: String,
}

named! {
    /// Kinds of joints. The axis of a joint is z of its frames.
    JointKind {
        /// No motion.
        Fixed = "fixed",
        /// Rotation about z.
        Revolute = "revolute",
        /// Translation along z.
        Prismatic = "prismatic",
        /// Translation along and rotation about z.
        Cylindrical = "cylindrical",
        /// Rotation about a point.
        Spherical = "spherical",
        /// Rotation about z of frame 1, then about x of frame 2.
        Universal = "universal",
        /// Translation along x and y, rotation about z.
        Planar = "planar",
        /// All six.
        Free = "free",
        /// Rotation about z with translation along it, `pitch` per turn.
        Screw = "screw",
        /// Two origins at a given distance.
        Distance = "distance",
        /// Origin of frame 2 on the z-axis of frame 1.
        PointOnLine = "point_on_line",
        /// Two shafts (z) that bend but do not twist against each other.
        ConstantVelocity = "constant_velocity",
        /// A disc, ball or ellipsoid (body 2) rolls without slip on a plane (z of frame 1).
        Rolling = "rolling",
        /// Two coordinates at a fixed ratio.
        Gear = "gear",
        /// A rotation moves a translation, `radius` per radian.
        RackAndPinion = "rack_and_pinion",
        /// Two rotations joined by a belt over `radii`.
        Belt = "belt",
    }
}

/// A coordinate of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coordinate {
    /// Its name, the key of its start value.
    pub name: &'static str,
    /// Name of its rate, the key of the rate's start value.
    pub rate: &'static str,
    /// True for an angle [rad], false for a length [m].
    pub is_angle: bool,
}

impl JointKind {
    /// The scalar coordinates, in order. Spherical and free joints have quaternions instead; constraints have none.
    pub fn coordinates(self) -> &'static [Coordinate] {
        const fn angle(name: &'static str, rate: &'static str) -> Coordinate {
            Coordinate { name, rate, is_angle: true }
        }
        const fn length(name: &'static str, rate: &'static str) -> Coordinate {
            Coordinate { name, rate, is_angle: false }
        }
        match self {
            JointKind::Revolute | JointKind::Screw => &const { [angle("angle", "speed")] },
            JointKind::Prismatic => &const { [length("position", "speed")] },
            JointKind::Cylindrical => &const { [length("position", "speed"), angle("angle", "turn_speed")] },
            JointKind::Universal => &const { [angle("angle1", "speed1"), angle("angle2", "speed2")] },
            JointKind::Planar => &const { [length("x", "vx"), length("y", "vy"), angle("angle", "turn_speed")] },
            JointKind::ConstantVelocity => &const { [angle("bend1", "speed1"), angle("bend2", "speed2")] },
            _ => &[],
        }
    }

    /// True for what couples the coordinates of two other joints.
    pub fn is_coupling(self) -> bool {
        matches!(self, JointKind::Gear | JointKind::RackAndPinion | JointKind::Belt)
    }
}

/// A relation of any number of coordinates, a sum of terms that is held at a limit or kept on one side of it: a rope
/// over pulleys, a whippletree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constraint {
    /// Name, unique in the scene.
    pub name: String,
    /// Its terms, in order.
    pub terms: Vec<ConstraintTerm>,
    /// Which way it holds.
    pub holds: ConstraintHolds,
    /// What the sum is, is at most or is at least [m, or rad where all coordinates are angles].
    pub limit: f64,
    /// Where things were written.
    pub places: Places,
}

/// A coordinate times a factor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConstraintTerm {
    /// Joint.
    pub joint: String,
    /// Index of its coordinate.
    pub coordinate: usize,
    /// Factor [-, or m/rad for an angle in a sum of lengths].
    pub factor: f64,
}

/// Which way a constraint holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConstraintHolds {
    /// The sum is the limit.
    #[default]
    Equals,
    /// It is at most the limit: a rope.
    AtMost,
    /// It is at least the limit.
    AtLeast,
}

/// A joint between two bodies, or a coupling of two joints' coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Name, unique in the scene.
    pub name: String,
    /// What it lets free.
    pub kind: JointKind,
    /// What it joins: body 1 and body 2.
    pub between: [Attachment; 2],
    /// Point of the joint in the pose as written, resolved in world [m]; frames are used if absent.
    pub at: Option<Vec3>,
    /// Axis (z) in the pose as written, resolved in world; with frames their z if absent.
    pub axis: Option<Vec3>,
    /// Second axis of a universal joint, axis of a rolling disc, resolved in world; x if absent.
    pub axis2: Option<Vec3>,
    /// Start values of its coordinates [m or rad], in the joint's order; the written pose gives those absent.
    pub start: Vec<Option<f64>>,
    /// Start values of the rates of its coordinates [m/s or rad/s].
    pub start_rate: Vec<Option<f64>>,
    /// True if it must be a constraint, not a coordinate of a tree.
    pub rows: bool,
    /// Force [N] and torque [N m] at which it breaks; infinite if it never does.
    pub breaking: [f64; 2],
    /// True if its two bodies may touch.
    pub collide: bool,
    /// False if it holds only after a change attaches it.
    pub active: bool,
    /// Translation per turn of a screw [m].
    pub pitch: f64,
    /// Length of a distance joint [m]; that of the written pose if absent.
    pub length: Option<f64>,
    /// Semi-axes of what rolls [m]: equal for a ball, (r, r, 0) for a disc with axis z.
    pub semi_axes: Vec3,
    /// Joints whose coordinates a gear, rack or belt couples, with the coordinate's index.
    pub couples: Vec<(String, usize)>,
    /// Gear: rate of the first over rate of the second; rack: translation per radian [m]; belt: from its radii [-].
    pub ratio: f64,
    /// Springs and dampers on its coordinates.
    pub springs: Vec<CoordinateSpring>,
    /// Stops of its coordinates.
    pub limits: Vec<Limit>,
    /// Dry friction on its coordinates.
    pub frictions: Vec<JointFriction>,
    /// Drives of its coordinates.
    pub motors: Vec<Motor>,
    /// Where things were written.
    pub places: Places,
}

impl Default for Joint {
    fn default() -> Self {
        Joint {
            name: String::new(),
            kind: JointKind::Fixed,
            between: Default::default(),
            at: None,
            axis: None,
            axis2: None,
            start: Vec::new(),
            start_rate: Vec::new(),
            rows: false,
            breaking: [f64::INFINITY; 2],
            collide: false,
            active: true,
            pitch: 0.0,
            length: None,
            semi_axes: Vec3::ZERO,
            couples: Vec::new(),
            ratio: 1.0,
            springs: Vec::new(),
            limits: Vec::new(),
            frictions: Vec::new(),
            motors: Vec::new(),
            places: Places::default(),
        }
    }
}

/// A spring and damper on one coordinate: f = -stiffness (q - rest) - damping q'.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoordinateSpring {
    /// Index of the coordinate.
    pub coordinate: usize,
    /// Stiffness [N/m or N m/rad].
    pub stiffness: f64,
    /// Damping [N s/m or N m s/rad].
    pub damping: f64,
    /// Coordinate without force [m or rad].
    pub rest: f64,
    /// Where things were written.
    pub places: Places,
}

/// Elastic stops of one coordinate, with the damping that gives their restitution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limit {
    /// Index of the coordinate.
    pub coordinate: usize,
    /// Lower stop [m or rad].
    pub lower: Option<f64>,
    /// Upper stop [m or rad].
    pub upper: Option<f64>,
    /// Stiffness of the stops [N/m^exponent or N m/rad^exponent].
    pub stiffness: f64,
    /// Exponent of depth [-].
    pub exponent: f64,
    /// Coefficient of restitution [-].
    pub restitution: f64,
    /// Where things were written.
    pub places: Places,
}

/// Dry friction on one coordinate, with true stick.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointFriction {
    /// Index of the coordinate.
    pub coordinate: usize,
    /// Force or torque while it slides [N or N m].
    pub sliding: f64,
    /// Largest force or torque while it sticks [N or N m].
    pub sticking: f64,
    /// Where things were written.
    pub places: Places,
}

named! {
    /// Kinds of drives.
    MotorKind {
        /// The value is a force or torque.
        Torque = "torque",
        /// The value is a rate, held as long as the limit allows.
        Speed = "speed",
        /// The value is a coordinate, pulled to by stiffness and damping.
        Position = "position",
        /// The value is a coordinate, followed whatever it takes.
        Motion = "motion",
    }
}

/// A drive of one coordinate.
#[derive(Clone, Debug, PartialEq)]
pub struct Motor {
    /// Index of the coordinate.
    pub coordinate: usize,
    /// What the value means.
    pub kind: MotorKind,
    /// The value as an equation over time `t`, parameters and signals [N, N m, m/s, rad/s, m or rad].
    pub value: Equation,
    /// Largest force or torque [N or N m].
    pub limit: Option<f64>,
    /// Stiffness of a position drive [N/m or N m/rad].
    pub stiffness: f64,
    /// Damping of a position drive [N s/m or N m s/rad].
    pub damping: f64,
    /// Where things were written.
    pub places: Places,
}

/// A force element.
#[derive(Clone, Debug, PartialEq)]
pub struct Force {
    /// Name, unique in the scene.
    pub name: String,
    /// What it is.
    pub kind: ForceKind,
    /// Where things were written.
    pub places: Places,
}

/// Kinds of force elements. Equations are over time `t`, parameters, signals, and the names listed.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a scene has few force elements")]
pub enum ForceKind {
    /// A force and a torque on one body at a frame. Also known to its equations: the frame's position `x y z`, velocity
    /// `vx vy vz`, angular velocity `wx wy wz`, all resolved as the force is.
    Applied {
        /// Where it acts.
        on: Attachment,
        /// True if force and torque are resolved in the frame, false for world.
        local: bool,
        /// Force [N].
        force: Option<[Equation; 3]>,
        /// Torque [N m].
        torque: Option<[Equation; 3]>,
    },
    /// A spring and damper between two points, pulling them together by
    /// stiffness (length - rest) + damping length', or by a law over `length`, `stretch`, `rate`.
    Spring {
        /// The two ends.
        between: [Attachment; 2],
        /// Ends instead of the frames' origins, in the pose as written, resolved in world [m].
        at: Option<[Vec3; 2]>,
        /// Stiffness [N/m].
        stiffness: f64,
        /// Damping [N s/m].
        damping: f64,
        /// Length without force [m]; that of the written pose if absent.
        rest: Option<f64>,
        /// Tension [N] as an equation, instead of stiffness and damping.
        law: Option<Equation>,
        /// True if it can only pull.
        rope: bool,
    },
    /// Six springs and dampers between two frames, along and about the axes of frame 1.
    Bushing {
        /// The two frames.
        between: [Attachment; 2],
        /// Origin of both frames in the pose as written, resolved in world [m]; the frames' own if absent.
        at: Option<Vec3>,
        /// Stiffness along x, y, z [N/m].
        stiffness: Vec3,
        /// Damping along x, y, z [N s/m].
        damping: Vec3,
        /// Stiffness about x, y, z [N m/rad].
        turning_stiffness: Vec3,
        /// Damping about x, y, z [N m s/rad].
        turning_damping: Vec3,
        /// True if the written pose is free of force, false if coincident frames are.
        relaxed: bool,
    },
}

/// A named scalar over time, for equations.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// Name, unique in the scene.
    pub name: String,
    /// How it is found.
    pub kind: SignalKind,
    /// Where things were written.
    pub places: Places,
}

/// Kinds of signals.
#[derive(Clone, Debug, PartialEq)]
pub enum SignalKind {
    /// An equation over time `t`, parameters and other signals.
    Equation(Equation),
    /// Straight lines between points, constant outside.
    Table {
        /// Input of the table.
        input: Equation,
        /// Inputs, ascending.
        x: Vec<f64>,
        /// Outputs.
        y: Vec<f64>,
    },
    /// From one value to another at constant rate.
    Ramp {
        /// When it starts and ends [s].
        from: f64,
        /// See `from` [s].
        to: f64,
        /// Value before.
        start: f64,
        /// Value after.
        end: f64,
    },
    /// A square wave.
    Pulse {
        /// First rising edge [s].
        from: f64,
        /// From one rising edge to the next [s].
        period: f64,
        /// Time at the high value [s].
        width: f64,
        /// Value between pulses.
        low: f64,
        /// Value during a pulse.
        high: f64,
    },
    /// offset + amplitude sin(2 pi frequency t + phase).
    Sine {
        /// Amplitude.
        amplitude: f64,
        /// Frequency [Hz].
        frequency: f64,
        /// Phase [rad].
        phase: f64,
        /// Mean value.
        offset: f64,
    },
    /// A number from outside the scene: a slider, a key, a datagram.
    Input {
        /// Value until it is set.
        start: f64,
        /// Smallest value.
        low: f64,
        /// Largest value.
        high: f64,
    },
    /// u = P e + I integral(e) + D e', the derivative filtered, the output limited, the integral held at the limit.
    Pid {
        /// Wanted value.
        setpoint: Equation,
        /// Measured value.
        measured: Equation,
        /// Proportional gain.
        proportional: f64,
        /// Integral gain [1/s].
        integral: f64,
        /// Derivative gain [s].
        derivative: f64,
        /// Time constant of the derivative's filter [s].
        filter: f64,
        /// Largest output either way.
        limit: Option<f64>,
    },
}

/// A component with states of its own, written as equations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Component {
    /// Name, unique in the scene; `NAME.OUTPUT` and `NAME.STATE` are known to equations elsewhere.
    pub name: String,
    /// What it reads: names for its equations, each an equation over `t`, parameters and signals.
    pub inputs: Vec<Equation>,
    /// States with their start values.
    pub states: Vec<(String, f64)>,
    /// Intermediate results, in order.
    pub lets: Vec<Equation>,
    /// Rates of the states, one each, in the order of the states.
    pub rates: Vec<Equation>,
    /// Outputs.
    pub outputs: Vec<Equation>,
    /// What happens where.
    pub crossings: Vec<ComponentCrossing>,
    /// Where things were written.
    pub places: Places,
}

/// Where an equation rises through zero, states get new values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComponentCrossing {
    /// The equation that rises through zero.
    pub when: Equation,
    /// New values of states: name and equation.
    pub set: Vec<Equation>,
    /// Where things were written.
    pub places: Places,
}

named! {
    /// Kinds of sensors.
    SensorKind {
        /// Position and orientation of frame 2 in frame 1.
        Pose = "pose",
        /// Velocity and angular velocity of frame 2 relative to frame 1, in frame 1.
        Velocity = "velocity",
        /// Acceleration and angular acceleration of frame 2 relative to frame 1, in frame 1.
        Acceleration = "acceleration",
        /// Distance of the origins and its rate.
        Distance = "distance",
        /// Normal force, depth and whether two bodies touch.
        Contact = "contact",
    }
}

/// A sensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    /// Name, unique in the scene.
    pub name: String,
    /// What it measures.
    pub kind: SensorKind,
    /// Between what; for a contact, two bodies.
    pub between: [Attachment; 2],
    /// Where things were written.
    pub places: Places,
}

/// A structural change.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Name for the log.
    pub name: String,
    /// At this time [s] ...
    pub at: Option<f64>,
    /// ... or where this equation first rises through zero.
    pub when: Option<Equation>,
    /// What happens.
    pub action: Action,
    /// Where things were written.
    pub places: Places,
}

/// What a structural change does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// An inactive joint takes hold as things are.
    Attach(String),
    /// A joint lets go.
    Release(String),
    /// The coordinates of a joint are held where they are.
    Lock(String),
    /// Held coordinates are free again.
    Unlock(String),
    /// A body, and every joint and force on it, is gone.
    Delete(String),
    /// Two bodies may touch, or may not.
    Contact {
        /// The two bodies.
        between: [String; 2],
        /// Whether they may.
        on: bool,
    },
}
