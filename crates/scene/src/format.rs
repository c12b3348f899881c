//! The scene format as data: every table, every key, its unit and range, one line on each.
//!
//! The reader checks keys, units and ranges against these tables and the JSON Schema is generated from them, so the
//! two cannot disagree.

use super::{
    Axis, Clock, Coupled, ExpectClock, FrictionBound, FrictionLaw, FrictionLoad, Integrator, Lever, Solver,
    format_grains, format_mechanism as mechanism, format_solid, soil,
};
use crate::equation::Dimension;
pub(super) use tippe_format::key::*;
use tippe_parts::curve::CURVE;

use Dimension as D;
use Range::{Any, Count, Fraction, NotNegative, Poisson, Positive, Tolerance, Whole};

pub(super) const SCENE: Table = Table {
    name: "scene",
    kinds: &[],
    keys: &[&[
        number("format", D::ONE, Whole, "Version of the file format: 1")
            .required("the first line of a scene is `format = 1`"),
        text("title", "One line for `tippe list`"),
        text("description", "More about the scene"),
        text("source", "Where the example comes from"),
        texts("tags", "Words to find it by; `slow` keeps it out of the ordinary test command"),
        text("cost", "What a run costs, as text for lists"),
        key("params", Form::Values, "Names for expressions, in order; `--set name=value` overrides them"),
        key("world", Form::Table(&WORLD), "Surroundings").required(GRAVITY_HELP),
        key("run", Form::Table(&RUN), "How to run the scene"),
        key("realtime", Form::Table(&REALTIME), "How the realtime clock runs the scene"),
        key("granular", Form::Table(&format_grains::GRANULAR), "How the granular clock runs the scene"),
        key("contact", Form::Table(&CONTACT), "Contact parameters wherever a pair says nothing"),
        key("materials", Form::Named(&MATERIAL), "Materials by name, beside the built-in ones"),
        key("pair", Form::Tables(&PAIR), "Contact parameters of two materials or two bodies"),
        key("law", Form::Named(&LAW), "Contact laws by name, written as equations"),
        key("defaults", Form::Table(&DEFAULTS), "What bodies have that do not say otherwise"),
        key("solid", Form::Tables(&format_solid::SOLID), "Solids built step by step, for meshes of bodies"),
        key(
            "vehicle",
            Form::Tables(&super::format_vehicle::VEHICLE),
            "Vehicles: chassis, driveline, wheels, tracks, driver",
        ),
        key("body", Form::Tables(&BODY), "Bodies"),
        key("grains", Form::Tables(&format_grains::GRAINS), "Grains by the million: spheres for the granular clock"),
        key("sink", Form::Tables(&format_grains::SINK), "Boxes in which grains vanish and are counted"),
        key("probe", Form::Tables(&format_grains::PROBE), "Boxes in which grains are measured"),
        key("soil", Form::Tables(&soil::SOIL), "Ground that is cut, heaped and pressed: columns with layers"),
        key("ignore", Form::Tables(&IGNORE), "Bodies or groups that never collide with each other"),
        key("include", Form::Tables(&INCLUDE), "Scenes that enter this one under a prefix"),
        key("joint", Form::Tables(&mechanism::JOINT), "Joints between bodies, and couplings of joints"),
        key(
            "constraint",
            Form::Tables(&mechanism::CONSTRAINT),
            "Sums of coordinates that are held at a limit, or on one side of it",
        ),
        key("force", Form::Tables(&mechanism::FORCE), "Force elements"),
        key("cable", Form::Tables(&mechanism::CABLE), "Cables over points, pulleys, sheaves and drums"),
        key("fluid", Form::Tables(&mechanism::FLUID), "Water and air around bodies"),
        key("signal", Form::Tables(&mechanism::SIGNAL), "Named scalars over time, for equations"),
        key("component", Form::Tables(&mechanism::COMPONENT), "Components with states of their own, as equations"),
        key("sensor", Form::Tables(&mechanism::SENSOR), "Sensors"),
        key("drawing", Form::Tables(&mechanism::DRAWING), "Surfaces that are drawn and nothing else"),
        key("change", Form::Tables(&mechanism::CHANGE), "Structural changes"),
        super::optimize::KEY,
        key("expect", Form::Tables(&EXPECT), "What a run must show; checked by `tippe check`"),
    ]],
};

const GRAVITY_HELP: &str =
    "gravity is never assumed: write `[world]` and `gravity = [0, 0, -9.81]`, or `[0, 0, 0]` for none";

const WORLD: Table = Table {
    name: "[world]",
    kinds: &[],
    keys: &[&[
        vector("gravity", D::ACCELERATION, "Gravity [m/s2]").required(GRAVITY_HELP),
        key("attractors", Form::Tables(&mechanism::ATTRACTOR), "Point masses that attract every body"),
    ]],
};

const RUN: Table = Table {
    name: "[run]",
    kinds: &[],
    keys: &[&[
        number("until", D::TIME, Positive, "End of the run [s]; default 1 s"),
        number("tolerance", D::ONE, Tolerance, "Relative tolerance [-]; default 1e-6"),
        number("output_interval", D::TIME, Positive, "Time between communication points [s]; default until/200"),
        word("integrator", Integrator::NAMES, "Integrator; default auto"),
        number("step", D::TIME, Positive, "Step of the fixed-step integrators [s]"),
        number("max_step", D::TIME, Positive, "Largest step [s]"),
        word("clock", Clock::NAMES, "Clock that runs the scene where nobody says otherwise; default precise"),
    ]],
};

/// Contact points of a pair at most [-].
pub(super) const MOST_POINTS: usize = 8;

const REALTIME: Table = Table {
    name: "[realtime]",
    kinds: &[],
    keys: &[&[
        number("step", D::TIME, Positive, "Step [s]; default 1/60 s")
            .help("a fraction of a second is an expression: step = \"1/60\" or \"1 s/60\""),
        word("friction", FrictionBound::NAMES, "Form of the friction bound; default cone"),
        number(
            "passes",
            D::ONE,
            Count,
            "Solutions per step with the friction bounds of the last one, at most; default 3",
        ),
        number("points", D::ONE, Count, "Contact points per pair of shapes, 1 to 8; default 4"),
        word("solver", Solver::NAMES, "How partitions are solved; default auto"),
        word(
            "coupled",
            Coupled::NAMES,
            "Parts that only force elements join: one matrix or each its own; default merged",
        ),
        word(
            "friction_load",
            FrictionLoad::NAMES,
            "Whose normal impulses bound friction: of the solution, pass by pass, or of the last step; default solution",
        ),
        number(
            "direct_bodies",
            D::ONE,
            Count,
            "Bodies of a partition up to which `solver = \"auto\"` solves it directly; default 1500",
        ),
        number("max_contacts", D::ONE, Count, "Contact points in a step, at most: more end the run with an error"),
        number(
            "merge_distance",
            D::LENGTH,
            NotNegative,
            "Contact points of two convex shapes nearer to each other than this are one [m]; default 0",
        ),
        number(
            "search_margin",
            D::LENGTH,
            NotNegative,
            "How far beyond the travel of a step contacts are looked for [m]; default a thousandth of the size",
        ),
        number("sweeps", D::ONE, Count, "Small steps per step where partitions are swept; default 10"),
        flag("sleeping", "True if partitions at rest are left alone until something reaches them; default false"),
    ]],
};

/// A speed [m/s] and what there is at it.
const AT_SPEED: Form = Form::Vector(2, Measure { dimension: None, range: NotNegative });

const CONTACT_KEYS: [Key; 30] = [
    number("restitution", D::ONE, Fraction, "Coefficient of restitution [-]"),
    number("friction", D::ONE, NotNegative, "Coefficient of sliding friction [-]"),
    number("static_friction", D::ONE, NotNegative, "Coefficient of static friction [-]"),
    number("rolling", D::ONE, NotNegative, "Coefficient of rolling resistance [-]"),
    number("spin", D::ONE, NotNegative, "Coefficient of spin friction [-]"),
    text(
        "law",
        "Normal law: hertz, modia3d, collisionlib, nassauer, bardaro, volume, foundation, linear or a [law.NAME]",
    ),
    word("friction_law", FrictionLaw::NAMES, "Friction law"),
    any("stiffness", Positive, "Stiffness of the law [N/m^exponent, N/m2 for volume laws]"),
    number("exponent", D::ONE, Positive, "Exponent of depth [-]"),
    any("damping", NotNegative, "Damping of the law [unit of the law]"),
    number("damping_max", D::SLOWNESS, Positive, "Upper bound of the damping factor d_max [s/m]"),
    number("restitution_min", D::ONE, Fraction, "Restitution at vanishing impact speed [-]"),
    number("blend_speed", D::SPEED, Positive, "Impact speed around which restitution blends to its minimum [m/s]"),
    number("slip_speed", D::SPEED, Positive, "Slip speed of regularised friction [m/s]"),
    number("spin_speed", D::ANGULAR_SPEED, Positive, "Angular speed of regularised rolling and spin friction [rad/s]"),
    number("patch_radius", D::LENGTH, NotNegative, "Radius of the contact patch for spin friction [m]"),
    number(
        "spin_damping",
        D::SLOWNESS,
        NotNegative,
        "Torque against spin over normal force, area of contact and angular speed, beside any friction law [s/m]",
    ),
    number("radius", D::LENGTH, Positive, "Effective radius of curvature [m]"),
    number("modulus", D::PRESSURE, Positive, "Effective elastic modulus E* [Pa]"),
    number(
        "force_max",
        D::FORCE,
        Positive,
        "Largest friction force [N]: of collisionlib's friction, and of the realtime clock",
    ),
    number("normal_force_max", D::FORCE, Positive, "Largest normal force, in the realtime clock [N]"),
    number("adhesion", D::FORCE, NotNegative, "Force that must be overcome to part the two [N]"),
    number(
        "adhesion_pressure",
        D::PRESSURE,
        NotNegative,
        "Tension that must be overcome to part the two, times the area over which they touch [Pa]",
    ),
    number(
        "slip",
        D::new(0, -1, 1),
        Positive,
        "Slip speed per friction force, of friction_law = \"viscous\" [m/(N s)]",
    ),
    number(
        "bristle_stiffness",
        D::new(0, -1, 0),
        Positive,
        "Stiffness of the bristles of friction_law = \"brush\" over the normal force [1/m]",
    ),
    number(
        "friction_force",
        D::FORCE,
        Positive,
        "Limit of friction while they touch, whatever the normal force is [N]",
    ),
    key(
        "friction_curve",
        Form::List(&AT_SPEED),
        "Coefficient of sliding friction over the slip speed, instead of `friction`: points [m/s, -], 2 to 8",
    ),
    key(
        "restitution_curve",
        Form::List(&AT_SPEED),
        "Coefficient of restitution over the closing speed, instead of `restitution`: points [m/s, -], 2 to 8",
    ),
    number("points", D::ONE, Count, "Contact points of a pair of shapes in the realtime clock, 1 to 8"),
    word("lever", Lever::NAMES, "Where the contact force acts"),
];

const K_RED: [Key; 1] = [number("k_red", D::ONE, Positive, "Factor on the elastic modulus of contacts [-]; 1 is true")];

pub(super) const CONTACT: Table = Table { name: "[contact]", kinds: &[], keys: &[&CONTACT_KEYS, &K_RED] };

pub(super) const MATERIAL: Table = Table {
    name: "material",
    kinds: &[],
    keys: &[&[
        number("density", D::DENSITY, Positive, "Density [kg/m3]").required(""),
        number("young", D::PRESSURE, Positive, "Young's modulus [Pa]").required(""),
        number("poisson", D::ONE, Poisson, "Poisson's ratio [-]").required(""),
    ]],
};

pub(super) const PAIR: Table = Table {
    name: "[[pair]]",
    kinds: &[],
    keys: &[
        &[
            texts("materials", "Names of two materials, in any order"),
            texts("bodies", "Names of two bodies, or `group:NAME`, in any order"),
            flag("ignore", "True if they never collide"),
            REPEATED,
        ],
        &CONTACT_KEYS,
        &K_RED,
    ],
};

pub(super) const LAW: Table = Table {
    name: "law",
    kinds: &[],
    keys: &[&[
        key("let", Form::Values, "Intermediate results by name, in order"),
        text("normal", "Normal force [N] as an equation of depth, closing_speed, impact_speed, radius, modulus, ...")
            .required("an equation for the normal force [N], such as \"1e6*depth\""),
        text("energy", "Elastic energy [J] as an equation of depth"),
        text("friction", "Friction coefficient [-] as an equation of slip_speed, ..."),
    ]],
};

pub(super) const DEFAULTS: Table = Table {
    name: "[defaults]",
    kinds: &[],
    keys: &[&[
        text("material", "Material"),
        number("smoothing", D::LENGTH, NotNegative, "Radius of rounded edges [m]"),
        texts("groups", "Groups"),
        flag("collide", "False if bodies do not collide"),
    ]],
};

pub(super) const BODY: Table = Table {
    name: "[[body]]",
    kinds: &[],
    keys: &[&[
        text("name", "Name, unique; `{k}` is replaced by the value of k").required("every body has a name of its own"),
        REPEATED,
        flag("fixed", "True if it never moves"),
        key("shape", Form::Shape, "Its only shape"),
        key("shapes", Form::List(&Form::Shape), "Its shapes"),
        text("material", "Material of all shapes that name none"),
        number("density", D::DENSITY, Positive, "Density instead of the material's [kg/m3]"),
        vector("position", D::LENGTH, "Body origin in the world [m]"),
        key("orientation", Form::Orientation, "Rotation: (w, x, y, z), axis and angle, or angles and order"),
        vector("velocity", D::SPEED, "Velocity of the body origin at the start, world axes [m/s]"),
        vector("angular_velocity", D::ANGULAR_SPEED, "Angular velocity at the start, world axes [rad/s]"),
        vector("angular_velocity_body", D::ANGULAR_SPEED, "Angular velocity at the start, body axes [rad/s]"),
        number("mass", D::MASS, Positive, "Mass [kg]").help("leave it out to compute it from shape and density"),
        key("inertia", Form::Either(&INERTIA), "Inertia about the centre of mass, body axes [kg m2]: diagonal or 3x3")
            .help("leave it out to compute it from the shapes"),
        vector("center_of_mass", D::LENGTH, "Centre of mass from the body origin, body axes [m]"),
        key("motion", Form::Table(&MOTION), "Given motion; then the body is not free"),
        key("servo", Form::Table(&format_grains::SERVO), "Moves along an axis so that grains press on it as told"),
        texts("groups", "Groups it belongs to"),
        texts("ignore", "Bodies, and `group:NAME`s, it never collides with"),
        flag("collide", "False if none of its shapes ever collides"),
        word(
            "solver",
            Solver::NAMES,
            "How the realtime clock solves what it is joined to by contacts and joints; direct where two bodies of it differ",
        ),
        key("frames", Form::Tables(&mechanism::FRAME), "Named frames on it; `BODY.FRAME` elsewhere"),
        super::flexible::KEY,
    ]],
};

pub(super) const REPEATED: Key =
    key("repeat", Form::Tables(&REPEAT), "Copies of this table: loops from the outermost to the innermost");

pub(super) const REPEAT: Table = Table {
    name: "repeat",
    kinds: &[],
    keys: &[&[
        text("index", "Name of the index").required("a name for the index, such as \"k\""),
        number("from", D::ONE, Whole, "First value; default 0"),
        number("to", D::ONE, Whole, "Last value"),
        number("count", D::ONE, Whole, "Number of values, instead of `to`"),
    ]],
};

pub(super) const MOTION: Table = Table {
    name: "motion",
    kinds: &[],
    keys: &[&[
        vector("velocity", D::SPEED, "Velocity of the body origin, world axes [m/s]"),
        vector("angular_velocity", D::ANGULAR_SPEED, "Angular velocity, world axes [rad/s]"),
    ]],
};

pub(super) const ORIENTATION: [Form; 3] =
    [Form::Vector(4, measure(D::ONE, Any)), Form::Table(&AXIS_ANGLE), Form::Table(&ANGLES)];

pub(super) const AXIS_ANGLE: Table = Table {
    name: "orientation",
    kinds: &[],
    keys: &[&[
        key("axis", Form::Vector(3, Measure { dimension: None, range: Any }), "Direction of the axis").required(""),
        number("angle", D::ONE, Any, "Angle [rad]").required("an angle about the axis, such as \"30 deg\""),
    ]],
};

pub(super) const ANGLES: Table = Table {
    name: "orientation",
    kinds: &[],
    keys: &[&[
        key("angles", Form::Vector(3, measure(D::ONE, Any)), "Angles [rad], in the order of `order`").required(""),
        text("order", "Three of x, y, z: axes of successive rotations, each in the rotated frame")
            .required("such as \"xyz\": first about x, then about the new y, then about the new z"),
    ]],
};

const INERTIA: [Form; 2] =
    [Form::Vector(3, measure(D::INERTIA, Any)), Form::List(&Form::Vector(3, measure(D::INERTIA, Any)))];

const PLACED: [Key; 6] = [
    text("kind", "Form of the shape").required("such as kind = \"sphere\""),
    vector("position", D::LENGTH, "Shape origin from the body origin, body axes [m]"),
    key("orientation", Form::Orientation, "Rotation in the body"),
    text("material", "Material instead of the body's"),
    number("density", D::DENSITY, Positive, "Density instead of the body's or the material's [kg/m3]"),
    flag("collide", "False if the shape has mass only"),
];
const SIZED: Measure = measure(D::LENGTH, Positive);
const RADIUS: [Key; 2] = [
    number("radius", D::LENGTH, Positive, "Radius [m]"),
    number("diameter", D::LENGTH, Positive, "Diameter instead of radius [m]"),
];
const LENGTH_AND_AXIS: [Key; 2] = [
    number("length", D::LENGTH, Positive, "Length [m]").required(""),
    word("axis", Axis::NAMES, "Direction of the axis; default z"),
];
const SMOOTHING: [Key; 1] =
    [number("smoothing", D::LENGTH, NotNegative, "Radius of rounded edges, inside the outer dimensions [m]")];

pub(super) const SHAPES: [Table; 12] = [
    Table { name: "sphere", kinds: &[], keys: &[&PLACED, &RADIUS] },
    Table {
        name: "ellipsoid",
        kinds: &[],
        keys: &[
            &PLACED,
            &[
                key("semi_axes", Form::Vector(3, SIZED), "Semi-axes along x, y, z [m]"),
                key("lengths", Form::Vector(3, SIZED), "Whole lengths along x, y, z instead [m]"),
            ],
        ],
    },
    Table {
        name: "box",
        kinds: &[],
        keys: &[
            &PLACED,
            &SMOOTHING,
            &[
                key("size", Form::Vector(3, SIZED), "Edge lengths along x, y, z [m]"),
                key("half_extents", Form::Vector(3, SIZED), "Half the edge lengths instead [m]"),
            ],
        ],
    },
    Table { name: "cylinder", kinds: &[], keys: &[&PLACED, &RADIUS, &LENGTH_AND_AXIS, &SMOOTHING] },
    Table { name: "capsule", kinds: &[], keys: &[&PLACED, &RADIUS, &LENGTH_AND_AXIS] },
    Table {
        name: "cone",
        kinds: &[],
        keys: &[
            &PLACED,
            &RADIUS,
            &LENGTH_AND_AXIS,
            &SMOOTHING,
            &[number("top_radius", D::LENGTH, NotNegative, "Radius of the top [m]; default 0")],
        ],
    },
    Table {
        name: "half_space",
        kinds: &[],
        keys: &[
            &PLACED,
            &[key("normal", Form::Vector(3, Measure { dimension: None, range: Any }), "Outward normal; default z")],
        ],
    },
    Table {
        name: "profile",
        kinds: &[],
        keys: &[
            &PLACED,
            &[
                key(
                    "curve",
                    Form::Curve(&CURVE),
                    "Smooth outline across z: a curve, or the name of a [[solid]] that has one",
                )
                .required("such as curve = { kind = \"circle\", radius = \"20 mm\" }"),
                number("length", D::LENGTH, Positive, "Length along z [m]").required(""),
            ],
        ],
    },
    Table {
        name: "hull",
        kinds: &[],
        keys: &[
            &PLACED,
            &SMOOTHING,
            &[key("points", Form::List(&Form::Vector(3, measure(D::LENGTH, Any))), "Points [m]").required("")],
        ],
    },
    Table {
        name: "height_grid",
        kinds: &[],
        keys: &[
            &PLACED,
            &[
                key(
                    "heights",
                    Form::List(&Form::List(&Form::Number(measure(D::LENGTH, Any)))),
                    "Rows along y of heights along x [m]",
                )
                .required(""),
                key("size", Form::Vector(2, SIZED), "Extent along x and y [m]").required(""),
            ],
        ],
    },
    Table { name: "mesh", kinds: &[], keys: &[&PLACED, &format_solid::MESH_SHAPE] },
    Table {
        name: "pipe",
        kinds: &[],
        keys: &[
            &PLACED,
            &RADIUS,
            &[
                key(
                    "control",
                    Form::List(&Form::Vector(3, measure(D::LENGTH, Any))),
                    "Control points of its middle line, a uniform cubic B-spline, 4 or more [m]",
                )
                .required("such as control = [[0, 0, 0], [1, 0, 0], [2, 1, 0], [3, 1, 0]]"),
                number("pieces", D::ONE, Count, "Straight pieces for each control point but three; default 8"),
                number("mass_per_length", D::new(-1, 1, 0), NotNegative, "Mass per length of pipe; default 0 [kg/m]"),
            ],
        ],
    },
];

pub(super) const IGNORE: Table = Table {
    name: "[[ignore]]",
    kinds: &[],
    keys: &[&[
        texts("bodies", "Two bodies, or `group:NAME`s"),
        texts("groups", "Two groups; the same one twice for within a group"),
        REPEATED,
    ]],
};

pub(super) const INCLUDE: Table = Table {
    name: "[[include]]",
    kinds: &[],
    keys: &[&[
        text("file", "Scene file, from the folder of this one, or a scene of the gallery")
            .required("the scene to include, such as file = \"arm.toml\""),
        text("prefix", "Everything of it is called PREFIX.NAME here; `{k}` is replaced by the value of k")
            .required("a name for this copy, such as prefix = \"left\""),
        REPEATED,
        key("params", Form::Values, "Parameters of the included scene"),
        vector("position", D::LENGTH, "Where its origin is in the world [m]"),
        key("orientation", Form::Orientation, "How it is turned about its origin"),
    ]],
};

pub(super) const EXPECT: Table = Table {
    name: "[[expect]]",
    kinds: &[],
    keys: &[&[
        text("value", "Expression over signals, such as \"ball.position.z\"; `{k}` is replaced by the value of k")
            .required("a signal, such as \"ball.position.z\""),
        number("at", D::TIME, NotNegative, "When [s]; default the end of the run"),
        any("is", Any, "The value must be this ..."),
        any("within", NotNegative, "... within this"),
        flag("relative", "True if `within` is a fraction of `is`"),
        any("below", Any, "The value must be below this"),
        any("above", Any, "The value must be above this"),
        text("source", "Where the number comes from; `regression` marks values of our own runs")
            .required("where the number comes from; \"regression\" for a value of our own run"),
        key("with", Form::Values, "Parameters to load the scene with"),
        number("tolerance", D::ONE, Tolerance, "Tolerance of the run instead of the scene's [-]"),
        number("until", D::TIME, Positive, "End of the run instead of the scene's [s]"),
        word("clock", ExpectClock::NAMES, "Whose run it is about; default the scene's own clock"),
        REPEATED,
    ]],
};
