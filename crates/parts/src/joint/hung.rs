//! What hangs on a coordinate of a joint, as scenes know it: springs, stops, dry friction, motors.

use tippe_format::equation::Dimension;
use tippe_format::key::{Along, Form, Key, Range, Spec, Table, along, any, equation, key, number};
use tippe_format::part::{Check, Part};

const COORDINATE: Key = key("coordinate", Form::Coordinate, "Name of the coordinate; default the joint's first");

/// Springs on coordinates.
pub const SPRING: Table = Table { name: "spring", keys: &[], kinds: &[&SPRING_KIND] };
/// Stops of coordinates.
pub const LIMIT: Table = Table { name: "limit", keys: &[], kinds: &[&LIMIT_KIND] };
/// Dry friction on coordinates.
pub const FRICTION: Table = Table { name: "friction", keys: &[], kinds: &[&FRICTION_KIND] };
/// Drives of coordinates.
pub const MOTOR: Table = Table {
    name: "motor",
    keys: &[&[key("kind", Form::Kind, "What the value means").required("")]],
    kinds: &[&TORQUE, &SPEED, &POSITION, &MOTION],
};

const SPRING_KIND: Spec = Spec {
    word: "spring",
    about: "A spring and damper on one coordinate: f = -stiffness (q - rest) - damping q'",
    keys: &[&[
        COORDINATE,
        along("stiffness", Along::Stiffness, Range::NotNegative, "Stiffness [N/m or N m/rad]"),
        along("damping", Along::Damping, Range::NotNegative, "Damping [N s/m or N m s/rad]"),
        along("rest", Along::Value, Range::Any, "Coordinate without force [m or rad]").or(0.0),
    ]],
    check: |check| check.at_least_one(&["stiffness", "damping"], ""),
    example: "stiffness = 3\ndamping = 0.1",
    ..Spec::NONE
};

const LIMIT_KIND: Spec = Spec {
    word: "limit",
    about: "Elastic stops of one coordinate, with the damping that gives their restitution",
    keys: &[&[
        COORDINATE,
        along("lower", Along::Value, Range::Any, "Lower stop [m or rad]"),
        along("upper", Along::Value, Range::Any, "Upper stop [m or rad]"),
        any("stiffness", Range::Positive, "Stiffness of the stops [N/m^exponent or N m/rad^exponent]")
            .required("how stiff the stops are, such as stiffness = 1e4"),
        number("exponent", Dimension::ONE, Range::Positive, "Exponent of depth [-]").or(1.5),
        number("restitution", Dimension::ONE, Range::Fraction, "Coefficient of restitution [-]").or(0.5),
    ]],
    check: |check| {
        check.at_least_one(&["lower", "upper"], "");
        if let (Some(lower), Some(upper)) = (check.part.find_number("lower"), check.part.find_number("upper"))
            && lower >= upper
        {
            let unit = check.coordinate.map_or("", |coordinate| coordinate.unit);
            let message = format!(" has lower {lower} {unit} not below upper {upper} {unit}");
            check.error("upper", message, "the lower stop is below the upper one");
        }
    },
    example: "lower = -1\nupper = 1\nstiffness = 1e4",
    ..Spec::NONE
};

const FRICTION_KIND: Spec = Spec {
    word: "friction",
    about: "Dry friction on one coordinate, with true stick",
    keys: &[&[
        COORDINATE,
        along("sliding", Along::Force, Range::NotNegative, "Force or torque while it slides [N or N m]")
            .required("such as sliding = 0.1"),
        along(
            "sticking",
            Along::Force,
            Range::NotNegative,
            "Largest force or torque while it sticks [N or N m]; default `sliding`",
        ),
    ]],
    check: |check| {
        let (sliding, sticking) = (check.part.number("sliding"), check.part.find_number("sticking"));
        if let Some(sticking) = sticking.filter(|sticking| *sticking < sliding) {
            let message = format!(" has sticking {sticking} below sliding {sliding}");
            check.error("sticking", message, "sticking friction is at least sliding friction");
        }
    },
    example: "sliding = 0.1",
    ..Spec::NONE
};

const fn value(about: &'static str) -> Key {
    equation("value", about).required("a number or an equation, such as value = \"10*t\"")
}
const LIMITED: Key = along("limit", Along::Force, Range::Positive, "Largest force or torque [N or N m]");

const TORQUE: Spec = Spec {
    word: "torque",
    about: "The value is a force or torque",
    keys: &[&[COORDINATE, value("The force or torque over time `t`, parameters and signals [N or N m]"), LIMITED]],
    example: "value = \"0.1\"",
    ..Spec::NONE
};

const SPEED: Spec = Spec {
    word: "speed",
    about: "The value is a rate, held as long as the limit allows",
    keys: &[&[COORDINATE, value("The rate over time `t` and signals of time [m/s or rad/s]"), LIMITED]],
    example: "value = \"1\"\nlimit = 5",
    ..Spec::NONE
};

const POSITION: Spec = Spec {
    word: "position",
    about: "The value is a coordinate, pulled to by stiffness and damping",
    keys: &[&[
        COORDINATE,
        value("The coordinate over time `t`, parameters and signals [m or rad]"),
        LIMITED,
        along("stiffness", Along::Stiffness, Range::NotNegative, "Stiffness [N/m or N m/rad]")
            .required("how hard it pulls to the position"),
        along("damping", Along::Damping, Range::NotNegative, "Damping [N s/m or N m s/rad]").or(0.0),
    ]],
    example: "value = \"0.1\"\nstiffness = 10\ndamping = 1",
    ..Spec::NONE
};

const MOTION: Spec = Spec {
    word: "motion",
    about: "The value is a coordinate, followed whatever it takes",
    keys: &[&[COORDINATE, value("The coordinate over time `t` and signals of time [m or rad]")]],
    example: "value = \"0.1*t\"",
    ..Spec::NONE
};

/// Index of the coordinate something hangs on: the one it names, else the first.
pub fn coordinate(joint: &Part, hung: &Part) -> usize {
    let name = hung.word("coordinate");
    joint.kind.coordinates.iter().position(|coordinate| coordinate.name == name).unwrap_or(0)
}

/// A coordinate has one motor.
pub(super) fn one_motor_each(check: &mut Check<'_>) {
    let mut driven = Vec::new();
    for motor in check.part.parts("motor") {
        let k = coordinate(check.part, motor);
        if driven.contains(&k) {
            let name = check.part.kind.coordinates.get(k).map_or("", |coordinate| coordinate.name);
            let message = format!(" has two motors on its coordinate {name}");
            check.error("motor", message, "keep one of them, or add their values");
            return;
        }
        driven.push(k);
    }
}
