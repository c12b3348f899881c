//! Force elements as scenes know them.

use tippe_format::equation::Dimension;
use tippe_format::key::{Ends, Form, Key, Range, Spec, flag, key, number, per_axis, word};
use tippe_format::part::Check;

/// Stiffness [N/m].
const STIFFNESS: Dimension = Dimension::new(0, 1, -2);
/// Damping [N s/m].
const DAMPING: Dimension = Dimension::new(0, 1, -1);
/// Damping about an axis [N m s/rad].
const TURNING_DAMPING: Dimension = Dimension::new(2, 1, -1);

/// Every kind of force element between bodies.
pub const FORCES: &[&Spec] = &[&APPLIED, &SPRING, &BUSHING];

/// What its frame tells an applied force: position [m], velocity [m/s], angular velocity [rad/s], resolved as the force is.
pub const FRAME_NAMES: &[&str] = &["x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz"];
/// What a spring tells its law: length and stretch [m], rate [m/s].
pub const SPRING_NAMES: &[&str] = &["length", "stretch", "rate"];

const APPLIED: Spec = Spec {
    word: "applied",
    about: "A force and a torque on one body at a frame",
    keys: &[&[
        key("on", Form::Attachment, "Where it acts: BODY or BODY.FRAME").required("the body or BODY.FRAME it acts on"),
        key("force", Form::Equations(3, FRAME_NAMES), "Force, three numbers or equations [N]"),
        key("torque", Form::Equations(3, FRAME_NAMES), "Torque, three numbers or equations [N m]"),
        word("resolved", &["world", "local"], "Axes of force and torque").or_word("world"),
    ]],
    check: |check| check.at_least_one(&["force", "torque"], "such as force = [0, 0, \"10*sin(t)\"]"),
    example: "on = \"a\"\nforce = [1, 0, 0]",
    ..Spec::NONE
};

const fn between() -> Key {
    key("between", Form::Attachments(Ends::Bodies), "The two ends: BODY, BODY.FRAME or `world`")
        .required("such as between = [\"world\", \"crank\"]")
}

const SPRING: Spec = Spec {
    word: "spring",
    about: "A spring and damper between two points, pulling them together by stiffness (length - rest) + damping length'",
    keys: &[&[
        between(),
        key("at", Form::Points, "The two ends in the pose as written, world [m]"),
        number("stiffness", STIFFNESS, Range::NotNegative, "Stiffness [N/m]"),
        number("damping", DAMPING, Range::NotNegative, "Damping [N s/m]"),
        number(
            "rest",
            Dimension::LENGTH,
            Range::NotNegative,
            "Length without force [m]; default that of the written pose",
        ),
        key(
            "law",
            Form::Equation(SPRING_NAMES),
            "Tension [N] over length, stretch, rate, instead of stiffness and damping",
        ),
        flag("rope", "True if it can only pull"),
    ]],
    check: |check: &mut Check<'_>| {
        check.not_both("law", "stiffness");
        check.not_both("law", "damping");
        check.at_least_one(&["stiffness", "damping", "law"], "");
    },
    example: "between = [\"a\", \"b\"]\nstiffness = 10",
    ..Spec::NONE
};

const BUSHING: Spec = Spec {
    word: "bushing",
    about: "Six springs and dampers between two frames, along and about the axes of frame 1",
    keys: &[&[
        between(),
        key("at", Form::Point, "Origin of both frames in the pose as written, world [m]"),
        per_axis("stiffness", STIFFNESS, Range::NotNegative, "Stiffness, also along x, y, z of frame 1 [N/m]"),
        per_axis("damping", DAMPING, Range::NotNegative, "Damping, also along x, y, z of frame 1 [N s/m]"),
        per_axis(
            "turning_stiffness",
            Dimension::ENERGY,
            Range::NotNegative,
            "Stiffness about x, y, z of frame 1 [N m/rad]",
        ),
        per_axis(
            "turning_damping",
            TURNING_DAMPING,
            Range::NotNegative,
            "Damping about x, y, z of frame 1 [N m s/rad]",
        ),
        flag("relaxed", "True if the written pose is free of force, false if coincident frames are").or_true(),
    ]],
    check: |check| {
        let keys = ["stiffness", "damping", "turning_stiffness", "turning_damping"];
        if !keys.iter().any(|key| check.has(key)) {
            check.error("", " has neither stiffness nor damping", format!("give one of {}", keys.join(", ")));
        }
    },
    example: "between = [\"a\", \"b\"]\nstiffness = [10, 10, 10]",
    ..Spec::NONE
};
