//! The tables of mechanisms: frames, joints, force elements, signals, components, sensors, changes.

use super::format::{Form, Key, Measure, Range, Table};
use super::format::{REPEATED, any, flag, key, measure, number, text, texts, vector, word};
use super::{JointKind, MotorKind, SensorKind};
use crate::equation::Dimension as D;
use Range::{Any, Fraction, NotNegative, Positive, Whole};

const NAME: Key =
    text("name", "Name, unique; `{k}` is replaced by the value of k").required("everything has a name of its own");
const NO_UNIT: Measure = Measure { dimension: None, range: Any };

const fn equation(name: &'static str, about: &'static str) -> Key {
    key(name, Form::Equation, about)
}

pub(super) const ATTRACTOR: Table = Table {
    name: "attractor",
    keys: &[&[
        vector("position", D::LENGTH, "Where it is [m]; default the origin"),
        number("mu", D::new(3, 0, -2), Positive, "Gravitational parameter G M [m3/s2]").required(""),
    ]],
};

pub(super) const FRAME: Table = Table {
    name: "frame",
    keys: &[&[
        text("name", "Name, unique on its body").required("a frame has a name, for `BODY.FRAME`"),
        vector("position", D::LENGTH, "Origin from the body origin, body axes [m]"),
        key("orientation", Form::Orientation, "Rotation in the body"),
    ]],
};

/// Kinds that join two bodies.
const JOINING: &[&str] = &[
    "fixed",
    "revolute",
    "prismatic",
    "cylindrical",
    "spherical",
    "universal",
    "planar",
    "free",
    "screw",
    "distance",
    "point_on_line",
    "constant_velocity",
    "rolling",
];
/// Kinds with one point and one axis.
const PLACED: &[&str] = &[
    "fixed",
    "revolute",
    "prismatic",
    "cylindrical",
    "spherical",
    "universal",
    "planar",
    "free",
    "screw",
    "point_on_line",
    "constant_velocity",
    "rolling",
];
/// Kinds with scalar coordinates.
const MOVING: &[&str] = &["revolute", "prismatic", "cylindrical", "universal", "planar", "screw", "constant_velocity"];
const COUPLING: &[&str] = &["gear", "rack_and_pinion", "belt"];

/// Directions with a name.
pub(super) const DIRECTIONS: &[&str] = &["x", "y", "z", "-x", "-y", "-z"];
const DIRECTION: [Form; 2] = [Form::Vector(3, NO_UNIT), Form::Word(DIRECTIONS)];

const fn angle(name: &'static str, about: &'static str) -> Key {
    number(name, D::ONE, Any, about)
}
const fn turning(name: &'static str, about: &'static str) -> Key {
    number(name, D::ANGULAR_SPEED, Any, about)
}

pub(super) const JOINT: Table = Table {
    name: "[[joint]]",
    keys: &[&[
        NAME,
        REPEATED,
        word("kind", JointKind::NAMES, "What it lets free").required("such as kind = \"revolute\""),
        texts("bodies", "Body 1 and body 2: BODY, BODY.FRAME or `world`").of(JOINING),
        vector("at", D::LENGTH, "Point of the joint in the pose as written, world [m]; default the frames").of(PLACED),
        key("axis", Form::Either(&DIRECTION), "Axis (z) in the pose as written, world; default z of the frames")
            .of(PLACED),
        key("axis2", Form::Either(&DIRECTION), "Second axis of a universal joint, axis of what rolls; default x")
            .of(&["universal", "rolling"]),
        angle("angle", "Angle at the start [rad]").of(&["revolute", "screw", "cylindrical", "planar"]),
        number("position", D::LENGTH, Any, "Position at the start [m]").of(&["prismatic", "cylindrical"]),
        angle("angle1", "Angle about the first axis at the start [rad]").of(&["universal"]),
        angle("angle2", "Angle about the second axis at the start [rad]").of(&["universal"]),
        angle("bend1", "First bend at the start [rad]").of(&["constant_velocity"]),
        angle("bend2", "Second bend at the start [rad]").of(&["constant_velocity"]),
        number("x", D::LENGTH, Any, "Position along x at the start [m]").of(&["planar"]),
        number("y", D::LENGTH, Any, "Position along y at the start [m]").of(&["planar"]),
        any("speed", Any, "Rate at the start [rad/s or m/s]").of(&["revolute", "screw", "prismatic", "cylindrical"]),
        turning("turn_speed", "Rate of the angle at the start [rad/s]").of(&["cylindrical", "planar"]),
        turning("speed1", "Rate of the first angle at the start [rad/s]").of(&["universal", "constant_velocity"]),
        turning("speed2", "Rate of the second angle at the start [rad/s]").of(&["universal", "constant_velocity"]),
        number("vx", D::SPEED, Any, "Speed along x at the start [m/s]").of(&["planar"]),
        number("vy", D::SPEED, Any, "Speed along y at the start [m/s]").of(&["planar"]),
        vector("angular_velocity", D::ANGULAR_SPEED, "Relative angular velocity at the start, frame 1 [rad/s]")
            .of(&["spherical", "free"]),
        vector("velocity", D::SPEED, "Relative velocity at the start, frame 1 [m/s]").of(&["free"]),
        flag("rows", "True if it must be a constraint, not a coordinate of a tree").of(JOINING),
        number("breaking_force", D::FORCE, Positive, "Reaction force at which it breaks [N]; it is then a constraint")
            .of(JOINING),
        number(
            "breaking_torque",
            D::ENERGY,
            Positive,
            "Reaction torque at which it breaks [N m]; it is then a constraint",
        )
        .of(JOINING),
        flag("collide", "True if its two bodies may touch").of(JOINING),
        flag("active", "False if it waits for a change to attach it"),
        number("pitch", D::LENGTH, Any, "Translation per turn [m]").of(&["screw"]),
        number("length", D::LENGTH, Positive, "Distance [m]; default that of the written pose").of(&["distance"]),
        number("radius", D::LENGTH, Any, "Radius of what rolls, translation per radian of a rack [m]")
            .of(&["rolling", "rack_and_pinion"]),
        word("shape", &["disc", "ball"], "What rolls, with `radius`").of(&["rolling"]),
        key("semi_axes", Form::Vector(3, measure(D::LENGTH, Positive)), "Semi-axes of an ellipsoid that rolls [m]")
            .of(&["rolling"]),
        texts("joints", "The two coordinates it couples: JOINT or JOINT.COORDINATE").of(COUPLING),
        number("ratio", D::ONE, Any, "Rate of the first over rate of the second [-]").of(&["gear"]),
        key("radii", Form::Vector(2, measure(D::LENGTH, Positive)), "Radii of the two pulleys [m]").of(&["belt"]),
        flag("crossed", "True if the belt is crossed").of(&["belt"]),
        key("spring", Form::Either(&[Form::Table(&SPRING), Form::Tables(&SPRING)]), "Springs on coordinates")
            .of(MOVING),
        key("limit", Form::Either(&[Form::Table(&LIMIT), Form::Tables(&LIMIT)]), "Stops of coordinates").of(MOVING),
        key("friction", Form::Either(&[Form::Table(&FRICTION), Form::Tables(&FRICTION)]), "Dry friction").of(MOVING),
        key("motor", Form::Either(&[Form::Table(&MOTOR), Form::Tables(&MOTOR)]), "Drives of coordinates").of(MOVING),
    ]],
};

const COORDINATE: Key = text("coordinate", "Name of the coordinate; default the joint's first");

pub(super) const SPRING: Table = Table {
    name: "spring",
    keys: &[&[
        COORDINATE,
        any("stiffness", NotNegative, "Stiffness [N/m or N m/rad]"),
        any("damping", NotNegative, "Damping [N s/m or N m s/rad]"),
        any("rest", Any, "Coordinate without force [m or rad]; default 0"),
    ]],
};

pub(super) const LIMIT: Table = Table {
    name: "limit",
    keys: &[&[
        COORDINATE,
        any("lower", Any, "Lower stop [m or rad]"),
        any("upper", Any, "Upper stop [m or rad]"),
        any("stiffness", Positive, "Stiffness of the stops [N/m^exponent or N m/rad^exponent]")
            .required("how stiff the stops are, such as stiffness = 1e4"),
        number("exponent", D::ONE, Positive, "Exponent of depth [-]; default 1.5"),
        number("restitution", D::ONE, Fraction, "Coefficient of restitution [-]; default 0.5"),
    ]],
};

pub(super) const FRICTION: Table = Table {
    name: "friction",
    keys: &[&[
        COORDINATE,
        any("sliding", NotNegative, "Force or torque while it slides [N or N m]").required("such as sliding = 0.1"),
        any("sticking", NotNegative, "Largest force or torque while it sticks [N or N m]; default `sliding`"),
    ]],
};

pub(super) const MOTOR: Table = Table {
    name: "motor",
    keys: &[&[
        COORDINATE,
        word("kind", MotorKind::NAMES, "What the value means").required("such as kind = \"speed\""),
        equation("value", "The value over time `t`, parameters and signals [N, N m, m/s, rad/s, m or rad]")
            .required("a number or an equation, such as value = \"10*t\""),
        any("limit", Positive, "Largest force or torque [N or N m]").of(&["torque", "speed", "position"]),
        any("stiffness", NotNegative, "Stiffness [N/m or N m/rad]").of(&["position"]),
        any("damping", NotNegative, "Damping [N s/m or N m s/rad]").of(&["position"]),
    ]],
};

/// Kinds of force elements.
pub(super) const FORCES: &[&str] = &["applied", "spring", "bushing"];

/// A number for all three axes, or one for each.
const fn per_axis(name: &'static str, about: &'static str) -> Key {
    const FORMS: [Form; 2] = [
        Form::Number(Measure { dimension: None, range: NotNegative }),
        Form::Vector(3, Measure { dimension: None, range: NotNegative }),
    ];
    key(name, Form::Either(&FORMS), about)
}

pub(super) const FORCE: Table = Table {
    name: "[[force]]",
    keys: &[&[
        NAME,
        REPEATED,
        word("kind", FORCES, "What it is").required("one of applied, spring, bushing"),
        text("on", "Where it acts: BODY or BODY.FRAME").of(&["applied"]),
        key("force", Form::List(&Form::Equation), "Force, three numbers or equations [N]").of(&["applied"]),
        key("torque", Form::List(&Form::Equation), "Torque, three numbers or equations [N m]").of(&["applied"]),
        word("resolved", &["world", "local"], "Axes of force and torque; default world").of(&["applied"]),
        texts("between", "The two ends: BODY, BODY.FRAME or `world`").of(&["spring", "bushing"]),
        key(
            "at",
            Form::Either(&[
                Form::Vector(3, measure(D::LENGTH, Any)),
                Form::List(&Form::Vector(3, measure(D::LENGTH, Any))),
            ]),
            "Spring: the two ends; bushing: the point; in the pose as written, world [m]",
        )
        .of(&["spring", "bushing"]),
        per_axis("stiffness", "Stiffness [N/m]; of a bushing also along x, y, z of frame 1").of(&["spring", "bushing"]),
        per_axis("damping", "Damping [N s/m]; of a bushing also along x, y, z of frame 1").of(&["spring", "bushing"]),
        per_axis("turning_stiffness", "Stiffness about x, y, z of frame 1 [N m/rad]").of(&["bushing"]),
        per_axis("turning_damping", "Damping about x, y, z of frame 1 [N m s/rad]").of(&["bushing"]),
        flag("relaxed", "True (default) if the written pose is free of force, false if coincident frames are")
            .of(&["bushing"]),
        number("rest", D::LENGTH, NotNegative, "Length without force [m]; default that of the written pose")
            .of(&["spring"]),
        equation("law", "Tension [N] over length, stretch, rate, instead of stiffness and damping").of(&["spring"]),
        flag("rope", "True if it can only pull").of(&["spring"]),
    ]],
};

/// Kinds of signals.
pub(super) const SIGNALS: &[&str] = &["equation", "table", "ramp", "pulse", "sine", "input", "pid"];

pub(super) const SIGNAL: Table = Table {
    name: "[[signal]]",
    keys: &[&[
        NAME,
        REPEATED,
        word("kind", SIGNALS, "How it is found").required("one of equation, table, ramp, pulse, sine, input, pid"),
        equation("value", "Equation over time `t`, parameters and signals").of(&["equation"]),
        equation("input", "Input of the table; default t").of(&["table"]),
        key("x", Form::List(&Form::Number(NO_UNIT)), "Inputs, ascending").of(&["table"]),
        key("y", Form::List(&Form::Number(NO_UNIT)), "Outputs").of(&["table"]),
        text("file", "CSV file with the table, from the scene's folder").of(&["table"]),
        key("columns", Form::Vector(2, measure(D::ONE, Whole)), "Columns of input and output, from 0; default [0, 1]")
            .of(&["table"]),
        number("from", D::TIME, Any, "When it starts [s]; default 0").of(&["ramp", "pulse"]),
        number("to", D::TIME, Any, "When it ends [s]").of(&["ramp"]),
        any("start", Any, "Value before, or until it is set; default 0").of(&["ramp", "input"]),
        any("end", Any, "Value after; default 1").of(&["ramp"]),
        number("period", D::TIME, Positive, "From one rising edge to the next [s]").of(&["pulse"]),
        number("width", D::TIME, Positive, "Time at the high value [s]; default half the period").of(&["pulse"]),
        any("low", Any, "Value between pulses, default 0; smallest input, default -1").of(&["pulse", "input"]),
        any("high", Any, "Value during a pulse, largest input; default 1").of(&["pulse", "input"]),
        any("amplitude", Any, "Amplitude; default 1").of(&["sine"]),
        number("frequency", D::ANGULAR_SPEED, NotNegative, "Frequency [Hz]").of(&["sine"]),
        angle("phase", "Phase [rad]; default 0").of(&["sine"]),
        any("offset", Any, "Mean value; default 0").of(&["sine"]),
        equation("setpoint", "Wanted value").of(&["pid"]),
        equation("measured", "Measured value").of(&["pid"]),
        any("proportional", Any, "Proportional gain; default 0").of(&["pid"]),
        any("integral", Any, "Integral gain [1/s]; default 0").of(&["pid"]),
        any("derivative", Any, "Derivative gain [s]; default 0").of(&["pid"]),
        number("filter", D::TIME, Positive, "Time constant of the derivative's filter [s]").of(&["pid"]),
        any("limit", Positive, "Largest output either way").of(&["pid"]),
    ]],
};

pub(super) const COMPONENT: Table = Table {
    name: "[[component]]",
    keys: &[&[
        NAME,
        REPEATED,
        key("inputs", Form::Values, "What it reads: names, each with an equation over `t`, parameters and signals"),
        key("states", Form::Values, "States with their start values"),
        key("let", Form::Values, "Intermediate results by name, in order"),
        key("der", Form::Values, "Rates of the states"),
        key("outputs", Form::Values, "Outputs: `NAME.OUTPUT` elsewhere"),
        key("crossing", Form::Tables(&CROSSING), "New values of states where an equation rises through zero"),
    ]],
};

pub(super) const CROSSING: Table = Table {
    name: "crossing",
    keys: &[&[
        equation("when", "The equation that rises through zero").required("such as when = \"i - 10\""),
        key("set", Form::Values, "New values of states").required("such as set = { i = \"10\" }"),
    ]],
};

pub(super) const SENSOR: Table = Table {
    name: "[[sensor]]",
    keys: &[&[
        NAME,
        REPEATED,
        word("kind", SensorKind::NAMES, "What it measures").required("such as kind = \"pose\""),
        texts("between", "Frame 1 and frame 2: BODY, BODY.FRAME or `world`; for a contact two bodies")
            .required("such as between = [\"world\", \"link.tip\"]"),
    ]],
};

pub(super) const CHANGE: Table = Table {
    name: "[[change]]",
    keys: &[&[
        text("name", "Name for the log").required("a name for the log"),
        REPEATED,
        number("at", D::TIME, NotNegative, "When [s]"),
        equation("when", "Where this equation first rises through zero, instead of `at`"),
        text("attach", "Joint that takes hold as things are"),
        text("release", "Joint that lets go"),
        text("lock", "Joint whose coordinates are held where they are"),
        text("unlock", "Joint whose coordinates are free again"),
        text("delete", "Body that is gone with every joint and force on it"),
        texts("contact_on", "Two bodies that may touch from now on"),
        texts("contact_off", "Two bodies that may not touch from now on"),
    ]],
};
