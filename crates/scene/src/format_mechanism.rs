//! The tables of mechanisms: frames, joints, constraints, force elements, signals, components, sensors, changes.

use super::format::{Form, Key, Range, Table};
use super::format::{REPEATED, any, equation, key, number, text, texts, vector, word};
use crate::equation::Dimension as D;
use Range::{NotNegative, Positive};
use tippe_parts::{drawing, element, joint, sensor, signal};

pub(super) const NAME: Key =
    text("name", "Name, unique; `{k}` is replaced by the value of k").required("everything has a name of its own");
pub(super) const ATTRACTOR: Table = Table {
    name: "attractor",
    kinds: &[],
    keys: &[&[
        vector("position", D::LENGTH, "Where it is [m]; default the origin"),
        number("mu", D::new(3, 0, -2), Positive, "Gravitational parameter G M [m3/s2]").required(""),
    ]],
};

pub(super) const FRAME: Table = Table {
    name: "frame",
    kinds: &[],
    keys: &[&[
        text("name", "Name, unique on its body").required("a frame has a name, for `BODY.FRAME`"),
        vector("position", D::LENGTH, "Origin from the body origin, body axes [m]"),
        key("orientation", Form::Orientation, "Rotation in the body"),
    ]],
};

const fn kind(about: &'static str) -> Key {
    key("kind", Form::Kind, about).required("")
}

pub(super) const JOINT: Table =
    Table { name: "[[joint]]", keys: &[&[NAME, REPEATED, kind("What it lets free")]], kinds: &joint::KINDS };

pub(super) const CONSTRAINT: Table = Table {
    name: "[[constraint]]",
    kinds: &[],
    keys: &[&[
        NAME,
        REPEATED,
        key(
            "terms",
            Form::Values,
            "Its sum: JOINT.COORDINATE in quotes, each with its factor [-, or m/rad for an angle among lengths]",
        )
        .required("such as terms = { \"left.position\" = 1, \"right.position\" = 2 }"),
        any("equals", Range::Any, "What the sum is [m or rad]"),
        any("at_most", Range::Any, "What the sum is at most [m or rad]: a rope"),
        any("at_least", Range::Any, "What the sum is at least [m or rad]"),
        any("compliance", NotNegative, "How far it gives under a force [m/N or rad/(N m)]").or(0.0),
        any("damping", NotNegative, "Of one that gives: force per rate of what it gives [N s/m or N m s/rad]").or(0.0),
        any("force_max", Positive, "Of one that gives: its largest force [N or N m]"),
    ]],
};

pub(super) const FORCE: Table =
    Table { name: "[[force]]", keys: &[&[NAME, REPEATED, kind("What it is")]], kinds: &element::FORCE_KINDS };

pub(super) const FLUID: Table = Table { name: "[[fluid]]", keys: &[&[NAME, REPEATED]], kinds: &element::FLUID_KINDS };
pub(super) const CABLE: Table = Table { name: "[[cable]]", keys: &[&[NAME, REPEATED]], kinds: &element::CABLE_KINDS };

pub(super) const SIGNAL: Table =
    Table { name: "[[signal]]", keys: &[&[NAME, REPEATED, kind("How it is found")]], kinds: &signal::KINDS };

pub(super) const SENSOR: Table =
    Table { name: "[[sensor]]", keys: &[&[NAME, REPEATED, kind("What it measures")]], kinds: &sensor::KINDS };

pub(super) const DRAWING: Table = Table { name: "[[drawing]]", keys: &[&[NAME, REPEATED]], kinds: &[&drawing::KIND] };

pub(super) const COMPONENT: Table = Table {
    name: "[[component]]",
    kinds: &[],
    keys: &[&[
        NAME,
        REPEATED,
        key("inputs", Form::Values, "What it reads: names, each with an equation over `t`, parameters and signals"),
        key("states", Form::Values, "States with their start values"),
        key("let", Form::Values, "Intermediate results by name, in order"),
        key("der", Form::Values, "Rates of the states"),
        key("outputs", Form::Values, "Outputs: `NAME.OUTPUT` elsewhere; of a unit: names here, each with its variable"),
        key("crossing", Form::Tables(&CROSSING), "New values of states where an equation rises through zero"),
        text("fmu", "A functional mock-up unit instead of equations: its file, from the folder of the scene"),
        word(
            "kind",
            &["me", "cs"],
            "Model Exchange or Co-Simulation of a unit; by default the former where it is offered",
        ),
        number("step", D::TIME, Positive, "Time between communication points of Co-Simulation [s]"),
        key("start", Form::Values, "Values of parameters and start values of a unit"),
        key(
            "power",
            Form::Values,
            "Outputs of a unit, each with the input it makes power with: its energy over the interface is booked",
        ),
        number("timeout", D::TIME, Positive, "Longest time that a call of a unit may take [s]").or(10.0),
    ]],
};

pub(super) const CROSSING: Table = Table {
    name: "crossing",
    kinds: &[],
    keys: &[&[
        equation("when", "The equation that rises through zero").required("such as when = \"i - 10\""),
        key("set", Form::Values, "New values of states").required("such as set = { i = \"10\" }"),
    ]],
};

pub(super) const CHANGE: Table = Table {
    name: "[[change]]",
    kinds: &[],
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

/// Every kind of part that a scene can have: the table it stands in (`joint`, `force`, ...) and how it is written.
pub fn kinds() -> Vec<(&'static str, &'static super::format::Spec)> {
    let tables = [
        ("joint", &JOINT),
        ("force", &FORCE),
        ("cable", &CABLE),
        ("point of a cable", &element::POINT_KINDS),
        ("segment of a cable", &element::SEGMENT_KINDS),
        ("fluid", &FLUID),
        ("body of a fluid", &element::WET_KINDS),
        ("cable of a fluid", &element::WET_CABLE_KINDS),
        ("wave of a fluid", &element::WAVE_KINDS),
        ("sea of a fluid", &element::SEA_KINDS),
        ("wheel of soft ground", &element::WHEEL_KINDS),
        ("signal", &SIGNAL),
        ("sensor", &SENSOR),
        ("drawing", &DRAWING),
        ("motor", &element::MOTOR),
        ("spring of a joint", &element::SPRING),
        ("limit of a joint", &element::LIMIT),
        ("friction of a joint", &element::FRICTION),
    ];
    tables.into_iter().flat_map(|(name, table)| table.kinds.iter().map(move |kind| (name, *kind))).collect()
}
