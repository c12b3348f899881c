//! The tables of vehicles: what `[[vehicle]]`, and a vehicle file, can say.

use super::format::{Form, Key, Range, Table, any, equation, flag, key, measure, number, text, texts, vector};
use super::format_mechanism::NAME;
use crate::equation::Dimension as D;
use Range::{Any, Count, NotNegative, NotZero, Positive};
use tippe_parts::element;

const TORSIONAL_DAMPING: D = D::new(2, 1, -1);
const STIFFNESS: D = D::new(0, 1, -2);

const PAIRS: Form = Form::List(&Form::Vector(2, super::format::Measure { dimension: None, range: Any }));

/// The driver's signals: name, value where nothing is said, smallest and largest input from outside.
pub(super) const INPUTS: [(&str, &str, [f64; 2]); 9] = [
    ("throttle", "0", [0.0, 1.0]),
    ("brake", "0", [0.0, 1.0]),
    ("clutch_pedal", "0", [0.0, 1.0]),
    ("steer", "0", [-1.0, 1.0]),
    ("gear", "1", [-1.0, 20.0]),
    ("handbrake", "0", [0.0, 1.0]),
    ("starter", "0", [0.0, 1.0]),
    ("lock", "0", [0.0, 1.0]),
    ("steer_mode", "0", [0.0, 3.0]),
];

pub(super) const VEHICLE: Table = Table {
    name: "[[vehicle]]",
    kinds: &[],
    keys: &[&[
        NAME,
        text(
            "vehicle",
            "A template by name, or a vehicle file (TOML or JSON) from the scene's folder; what is written here comes over it",
        ),
        vector("position", D::LENGTH, "Where its origin, on the ground below it, is in the world [m]"),
        key("orientation", Form::Orientation, "How it is turned; it drives along its x axis, y to the left"),
        number("speed", D::SPEED, Any, "Speed along its x axis at the start [m/s]"),
        number("start_gear", D::ONE, Count, "Gear in which its shafts turn at the start; default 1"),
        key("ground", Form::Frame, "Frame of the road: BODY, BODY.FRAME or `world`; default `world`"),
        texts("inputs", "Signals of the driver that are set from outside: `throttle`, `brake`, `steer`, ..."),
        equation("throttle", "Pedal of the engine from 0 to 1 [-]; default 0"),
        equation("brake", "Pedal of the brakes from 0 to 1 [-]; default 0"),
        equation("clutch_pedal", "Pedal of the clutch from 0, up and engaged, to 1 [-]; default 0"),
        equation("steer", "Steering from -1, to the right, to 1, to the left [-]; default 0"),
        equation("gear", "Gear; for an automatic gearbox 1 to drive, 0 neutral, -1 reverse [-]; default 1"),
        equation("handbrake", "Lever of the handbrake from 0 to 1 [-]; default 0"),
        equation("starter", "Starter of the engine from 0 to 1 [-]; default 0"),
        equation("lock", "Above 0.5 differentials are locked [-]; default 0"),
        equation("steer_mode", "0 as a car, 1 with all wheels, 2 sideways, 3 on the spot [-]; default 0"),
        key("signals", Form::Values, "Signals of its own, each with an equation: NAME.SIGNAL elsewhere"),
        key("chassis", Form::Table(&CHASSIS), "Its first body"),
        key(
            "carrier",
            Form::Tables(&CARRIER),
            "Further bodies: behind an articulation or a hitch, bogies, beam axles, booms",
        ),
        key("part", Form::Tables(&PART), "What drives it, from the engine to the last shaft"),
        key("tyre", Form::Table(&TYRE), "Tyres of all wheels that say nothing"),
        key(
            "soft_ground",
            Form::Table(&SOFT_GROUND),
            "Soft ground under all its wheels, in place of a road under tyres",
        ),
        key("axle", Form::Tables(&AXLE), "Pairs of wheels, or single ones"),
        key("track", Form::Tables(&TRACK), "Tracks on the ground"),
        key("cylinder", Form::Tables(&CYLINDER), "Hydraulic cylinders between its bodies"),
        key("steering", Form::Table(&STEERING), "How its wheels are steered"),
        key("driver", Form::Table(&DRIVER), "A driver who follows a path"),
    ]],
};

const BULK: [Key; 6] = [
    number("mass", D::MASS, Positive, "Mass [kg]").required("such as mass = 1500"),
    key(
        "inertia",
        Form::Vector(3, measure(D::INERTIA, Positive)),
        "Inertia about its centre of mass, along x, y, z [kg m2]; default that of its box",
    ),
    vector("center_of_mass", D::LENGTH, "Centre of mass from the vehicle's origin [m]")
        .required("such as center_of_mass = [0, 0, 0.55]"),
    vector("size", D::LENGTH, "Edge lengths of the box that is drawn [m]"),
    vector("box_at", D::LENGTH, "Middle of that box from the vehicle's origin [m]; default the centre of mass"),
    text("material", "Material of that box, which then touches other bodies; default none, and it does not"),
];

pub(super) const CHASSIS: Table = Table {
    name: "chassis",
    kinds: &[],
    keys: &[
        &BULK,
        &[
            number("drag_area", D::new(2, 0, 0), NotNegative, "Drag coefficient times frontal area [m2]; default 0"),
            number("air_density", D::DENSITY, NotNegative, "Density of the air [kg/m3]; default 1.2"),
        ],
    ],
};

/// How a carrier hangs on what carries it.
pub(super) const CARRIERS: &[&str] = &["articulation", "hitch", "bogie", "beam", "hinge", "fixed"];

pub(super) const CARRIER: Table = Table {
    name: "carrier",
    kinds: &[],
    keys: &[
        &[
            text("name", "Name, unique in its vehicle").required("everything has a name of its own"),
            key("kind", Form::Word(CARRIERS), "articulation: about z; hitch: a ball; bogie: about y; beam: up and down, and about x; hinge: about y, by a cylinder; fixed")
                .required("such as kind = \"articulation\""),
            text("on", "What carries it; default the chassis"),
            vector("at", D::LENGTH, "Its joint from the vehicle's origin [m]").required("such as at = [0, 0, 0.8]"),
            any("steer", Any, "Share of the steering that turns it [-]; default 0"),
            any("stiffness", NotNegative, "Of an articulation that is steered or a hinge [N m/rad], of each spring of a beam [N/m]"),
            any("damping", NotNegative, "Likewise [N m s/rad or N s/m]"),
            number("springs_at", D::LENGTH, Positive, "Distance of a beam's springs from its middle [m]; default 0.5 m"),
            number("angle", D::ONE, Any, "Angle of its joint at the start [rad]"),
        ],
        &BULK,
    ],
};

pub(super) const PART: Table = Table {
    name: "part of a vehicle",
    keys: &[&[
        text("name", "Name, unique in its vehicle").required("everything has a name of its own"),
        key("kind", Form::Kind, "What it is").required("such as kind = \"engine\""),
        text("from", "The part that drives it"),
        text(
            "at_shaft",
            "The part on whose shaft it sits, for an engine, a motor or a retarder without a shaft of its own",
        ),
        text("carrier", "The body that carries it; default the chassis"),
        vector(
            "at",
            D::LENGTH,
            "Where its shaft turns, from the vehicle's origin [m]; default the centre of mass of its carrier",
        ),
        key("axis", Form::Direction, "Axis of its shaft; default x"),
        number("inertia", D::INERTIA, Positive, "Inertia of its shaft [kg m2]; default 0.02"),
        number("mass", D::MASS, Positive, "Mass of its shaft [kg]; default 2"),
        number(
            "speed",
            D::ANGULAR_SPEED,
            Any,
            "Speed of its shaft at the start [rad/s]; default as the wheels turn it",
        ),
    ]],
    kinds: &PARTS,
};

/// Keys of an element but its shafts, which the vehicle knows.
const fn behind(keys: &'static [&'static [Key]]) -> &'static [&'static [Key]] {
    match keys {
        [_, rest @ ..] => rest,
        [] => &[],
    }
}

use tippe_format::key::Spec;

const fn of(spec: &'static Spec, more: &'static str) -> Spec {
    Spec { word: spec.word, about: spec.about, keys: behind(spec.keys), example: more, ..Spec::NONE }
}

const ENGINE: Spec = of(&element::ENGINE.kind, "");
const MOTOR: Spec = of(&element::ELECTRIC.kind, "");
const CLUTCH: Spec = of(&element::CLUTCH.kind, "");
const CONVERTER: Spec = Spec {
    word: "converter",
    about: "A torque converter, with a clutch that locks it up",
    keys: &[
        behind(element::CONVERTER.kind.keys)[0],
        &[
            number(
                "lock_up",
                D::ENERGY,
                Positive,
                "Torque of the clutch between its pump and its turbine [N m]; default without",
            ),
            equation("locks", "Engagement of that clutch from 0 to 1 [-]; default 0"),
        ],
    ],
    ..Spec::NONE
};
const DIFFERENTIAL: Spec = of(&element::DIFFERENTIAL.kind, "");
const HYDROSTATIC: Spec = Spec {
    word: "hydrostatic",
    about: "A pump on the shaft of what drives it, and motors of its own by oil",
    keys: &[
        behind(element::HYDROSTATIC.kind.keys)[0],
        &[
            texts("outputs", "Names of the shafts of its motors; default one shaft with its own name"),
            number(
                "swash_rate",
                D::ANGULAR_SPEED,
                Positive,
                "Largest rate of its swash plate [1/s]; default without limit",
            ),
        ],
    ],
    ..Spec::NONE
};
const GEARBOX: Spec = Spec {
    word: "gearbox",
    about: "Gears, shifted by the gear lever, or by themselves over a shift map",
    keys: &[
        behind(element::GEARBOX.kind.keys)[0],
        behind(element::GEARBOX.kind.keys)[1],
        &[
            key(
                "up",
                PAIRS,
                "It shifts by itself: throttle, and speed of its input above which it shifts up [-, rad/s]",
            ),
            key("down", PAIRS, "Throttle, and speed of its input below which it shifts down [-, rad/s]"),
            number("shift_pause", D::TIME, Positive, "Time between two shifts, at least [s]; default 1 s"),
        ],
    ],
    ..Spec::NONE
};
const SHAFT: Spec = Spec {
    word: "shaft",
    about: "A shaft: turned at a ratio, or an output of a differential",
    keys: &[
        &[
            number("ratio", D::ONE, NotZero, "Rate of what drives it over its own [-]; default 1"),
            equation("torque", "Torque on it from outside, at a power take-off [N m]"),
        ],
        behind(element::CLUTCH.kind.keys)[1],
    ],
    ..Spec::NONE
};
const RETARDER: Spec = Spec {
    word: "retarder",
    about: "A retarder on the shaft of `at_shaft`: it brakes in proportion to the speed up to a torque",
    keys: &[&[
        number("capacity", D::ENERGY, Positive, "Largest torque [N m]").required("such as capacity = 2000"),
        equation("applied", "From 0 to 1 [-]; default 1"),
        number("full_at", D::ANGULAR_SPEED, Positive, "Speed from which it gives all [rad/s]; default 20 rad/s"),
    ]],
    ..Spec::NONE
};
const PARTS: [&Spec; 9] =
    [&ENGINE, &MOTOR, &CLUTCH, &CONVERTER, &GEARBOX, &HYDROSTATIC, &DIFFERENTIAL, &SHAFT, &RETARDER];

/// Keys of a tyre but where it is.
pub(super) const TYRE: Table = Table { name: "tyre", kinds: &[], keys: &[&[], behind(element::TYRE.kind.keys)[0]] };

/// Keys of soft ground but its wheels.
pub(super) const SOFT_GROUND: Table =
    Table { name: "soft ground", kinds: &[], keys: behind(element::SOFT_GROUND.kind.keys) };

pub(super) const AXLE: Table = Table {
    name: "axle",
    kinds: &[],
    keys: &[&[
        text("name", "Name; its wheels are NAME_left and NAME_right, or NAME if there is one")
            .required("everything has a name of its own"),
        text("carrier", "The body that its wheels hang on; default the chassis"),
        number("x", D::LENGTH, Any, "Where it is along the vehicle [m]").required("such as x = 1.4"),
        number("track", D::LENGTH, NotNegative, "Distance of its wheels; one wheel if it is 0 [m]")
            .required("such as track = 1.55, or 0"),
        number("y", D::LENGTH, Any, "Where its middle is across the vehicle [m]; default 0"),
        number(
            "height",
            D::LENGTH,
            Positive,
            "Height of the wheels' centres over the ground [m]; default their radius",
        ),
        number("radius", D::LENGTH, Positive, "Radius of its wheels [m]").required("such as radius = 0.33"),
        number("width", D::LENGTH, Positive, "Width of its wheels [m]; default 0.2 m"),
        number("mass", D::MASS, Positive, "Mass of each wheel [kg]; default 20"),
        number("inertia", D::INERTIA, Positive, "Inertia of each wheel about its axle [kg m2]; default 1"),
        flag("steered", "True if its wheels turn with the steering; default false"),
        text("from", "The part that drives its wheels"),
        number("ratio", D::ONE, NotZero, "Rate of that part over the rate of the wheel [-]; default 1"),
        number("brake", D::ENERGY, NotNegative, "Torque of each brake at full pedal [N m]; default 0"),
        number("handbrake", D::ENERGY, NotNegative, "Torque of each brake at full handbrake [N m]; default 0"),
        key(
            "abs",
            Form::Vector(2, measure(D::ONE, Positive)),
            "Slip at which its anti-lock brakes begin to give way, and at which they are open [-]",
        ),
        key("suspension", Form::Table(&SUSPENSION), "What its wheels hang on the body with; default rigid"),
        number(
            "anti_roll",
            STIFFNESS,
            NotNegative,
            "Stiffness of its anti-roll bar between the wheels' travels [N/m]; default 0",
        ),
        key("tyre", Form::Table(&TYRE), "Its tyres"),
        key(
            "grip",
            Form::Vector(2, measure(D::ONE, NotNegative)),
            "Factor of the friction of the road under its left and its right wheel [-]; default that of the tyre",
        ),
        number("caster", D::ONE, Any, "How far the top of a kingpin leans back [rad]; default 0"),
        number("kingpin", D::ONE, Any, "How far the top of a kingpin leans inwards [rad]; default 0"),
        number("trail", D::LENGTH, Any, "How far ahead of the wheel a kingpin meets the ground [m]; default 0"),
        number("scrub", D::LENGTH, Any, "How far inside of the wheel a kingpin meets the ground [m]; default 0"),
    ]],
};

pub(super) const SUSPENSION: Table = Table {
    name: "suspension",
    kinds: &[],
    keys: &[&[
        key(
            "kind",
            Form::Word(&["strut", "arm"]),
            "strut: the wheel moves along z; arm: about a hinge across, in front of it or behind; default strut",
        ),
        any("stiffness", Positive, "Of a strut [N/m], of an arm's torsion bar [N m/rad]")
            .required("such as stiffness = 28e3"),
        any("damping", NotNegative, "Of a strut [N s/m], of an arm [N m s/rad]; default 0"),
        number("hub_mass", D::MASS, Positive, "Mass that moves with the wheel without turning [kg]; default 10"),
        number("load", D::FORCE, NotNegative, "Force of the spring as written [N]; default what stands on the wheel"),
        any("bump", Positive, "Travel up to the bump stop [m or rad]; default without"),
        any("rebound", Positive, "Travel down to the rebound stop [m or rad]; default without"),
        any("stop_stiffness", Positive, "Stiffness of both stops [N/m^1.5 or N m/rad^1.5]; default 2e6"),
        key(
            "camber",
            PAIRS,
            "Camber over the travel of a strut, rising [m, rad]; the top leans out where it is above 0",
        ),
        key("toe", PAIRS, "Angle to the inside over the travel of a strut, rising [m, rad]"),
        vector("pivot", D::LENGTH, "Hinge of an arm from the centre of its wheel [m], along x and z"),
    ]],
};

pub(super) const TRACK: Table = Table {
    name: "track",
    kinds: &[],
    keys: &[
        &[
            text("name", "Name, unique in its vehicle").required("everything has a name of its own"),
            text("carrier", "The body that it is on; default the chassis"),
            text("from", "The part that drives its sprocket"),
            number("ratio", D::ONE, NotZero, "Rate of that part over the rate of the sprocket [-]; default 1"),
            vector("at", D::LENGTH, "Middle of its contact with the ground, from the vehicle's origin [m]")
                .required("such as at = [0, 0.9, 0]"),
            number("inertia", D::INERTIA, Positive, "Inertia of its sprocket with the belt [kg m2]; default 10"),
            number("mass", D::MASS, Positive, "Mass of its sprocket [kg]; default 50"),
            number("brake", D::ENERGY, NotNegative, "Torque of its brake at full pedal [N m]; default 0"),
            key(
                "shoes",
                Form::Table(&SHOES),
                "Shoes with pins around sprocket, idler and road wheels, in place of a belt; `length` is then that between the outer road wheels",
            ),
        ],
        behind(element::TRACK.kind.keys)[0],
        behind(element::TRACK.kind.keys)[1],
    ],
};

const PLACE: Form = Form::Vector(2, measure(D::LENGTH, Any));

pub(super) const SHOES: Table = Table {
    name: "shoes of a track",
    kinds: &[],
    keys: &[&[
        any("count", Count, "How many there are; default 50"),
        number("mass", D::MASS, Positive, "Mass of each [kg]").required("such as mass = 18"),
        number("width", D::LENGTH, Positive, "Width of each [m]; default 0.5 m"),
        number("thickness", D::LENGTH, Positive, "Thickness of each [m]; default 0.05 m"),
        text("material", "Material of shoes and of the wheels inside; default steel"),
        key("sprocket", PLACE, "Axle of the sprocket, x and z from the middle of the contact [m]")
            .required("such as sprocket = [-1.4, 0.46]"),
        key("idler", PLACE, "Axle of the idler, x and z from the middle of the contact [m]")
            .required("such as idler = [1.4, 0.46]"),
        number("idler_radius", D::LENGTH, Positive, "Radius of the idler [m]; default that of the sprocket"),
        number("idler_mass", D::MASS, Positive, "Mass of the idler [kg]; default 50"),
        any("wheels", Count, "Road wheels along the contact; default 5"),
        number("wheel_radius", D::LENGTH, Positive, "Radius of the road wheels [m]")
            .required("such as wheel_radius = 0.2"),
        number("wheel_mass", D::MASS, Positive, "Mass of each road wheel [kg]; default 30"),
        number("wheel_stiffness", STIFFNESS, Positive, "Stiffness of each road wheel's spring [N/m]; default rigid"),
        number("wheel_damping", D::new(0, 1, -1), NotNegative, "Damping of that spring [N s/m]; default 0"),
        number("grip", D::ONE, NotNegative, "Friction between wheels and shoes [-]; default 1"),
        number(
            "tension",
            D::FORCE,
            NotNegative,
            "Force of the spring behind the idler at the start [N]; default 20 kN",
        ),
        number("tension_stiffness", STIFFNESS, Positive, "Stiffness of that spring [N/m]; default 1e6"),
        number("tension_damping", D::new(0, 1, -1), NotNegative, "Damping of that spring [N s/m]; default 2e4"),
        number("compliance", D::new(0, -1, 2), Positive, "How far a pin gives [m/N]; default 1e-8"),
        number("pin_damping", D::new(0, 1, -1), NotNegative, "Damping of a pin [N s/m]; default 2e4"),
    ]],
};

pub(super) const CYLINDER: Table = Table {
    name: "cylinder",
    kinds: &[],
    keys: &[
        &[
            text("name", "Name, unique in its vehicle").required("everything has a name of its own"),
            texts("between", "The bodies that its barrel and its rod are pinned to")
                .required("such as between = [\"chassis\", \"boom\"]"),
            key(
                "pins",
                Form::List(&Form::Vector(3, measure(D::LENGTH, Any))),
                "Where they are pinned, from the vehicle's origin [m]",
            )
            .required("such as pins = [[0.5, 0, 1], [1.5, 0, 1.6]]"),
            number("mass", D::MASS, Positive, "Mass of barrel, and of rod [kg]; default 20"),
        ],
        behind(element::CYLINDER.kind.keys)[0],
    ],
};

pub(super) const STEERING: Table = Table {
    name: "steering",
    kinds: &[],
    keys: &[&[
        number(
            "angle_max",
            D::ONE,
            Positive,
            "Angle of the wheel in the middle of the front axle, or of the articulation, at full steering [rad]",
        )
        .required("such as angle_max = \"35 deg\""),
        number("rate", D::ANGULAR_SPEED, Positive, "Largest rate of that angle [rad/s]; default without limit"),
        number(
            "fixed_at",
            D::LENGTH,
            Any,
            "Where the axle is whose wheels do not turn [m]; default the last axle that is not steered",
        ),
        number("stiffness", D::ENERGY, Positive, "Stiffness of the steering at each wheel [N m/rad]; default 1e5"),
        number("damping", TORSIONAL_DAMPING, NotNegative, "Its damping [N m s/rad]; default 300"),
    ]],
};

pub(super) const DRIVER: Table = Table {
    name: "driver",
    kinds: &[],
    keys: &[&[
        key(
            "path",
            Form::List(&Form::Vector(2, measure(D::LENGTH, Any))),
            "Points of the path in the world, x and y [m]",
        )
        .required("such as path = [[0, 0], [50, 0], [80, 3.5]]"),
        equation("speed", "Speed it drives [m/s]; without it, the pedals are the scene's"),
        number("preview", D::TIME, Positive, "How far it looks ahead [s]; default 0.6 s"),
        number("preview_min", D::LENGTH, Positive, "... and at least [m]; default 5 m"),
        number("understeer", D::new(-1, 0, 2), Any, "Angle it adds per lateral acceleration [rad s2/m]; default 0"),
        number("gain", D::new(-1, 0, 1), Positive, "Pedal per speed that lacks [s/m]; default 0.5"),
        number("integral", D::new(-1, 0, 0), NotNegative, "... and per way that lacks [1/m]; default 0.1"),
    ]],
};
