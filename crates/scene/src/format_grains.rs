//! The tables of grains and of the clock that moves them.

use super::format::{Form, Key, Measure, Range, Table};
use super::format::{REPEATED, flag, key, measure, number, text, texts, vector, word};
use crate::equation::Dimension as D;
use Range::{Any, Count, Fraction, NotNegative, Positive, Whole};

/// Words under `packing` of `[[grains]]`.
pub(super) const PACKINGS: &[&str] = &["lattice", "random", "listed", "file", "emitter", "soil"];
/// Words under `method` of `[granular]`.
pub(super) const METHODS: &[&str] = &["force", "position"];
/// Words under `rolling_law`.
pub(super) const ROLLING_LAWS: &[&str] = &["constant", "elastic_plastic"];

const BOXED: &[&str] = &["lattice", "random", "emitter"];
const COUNTED: &[&str] = &["lattice", "random"];
const LISTED: &[&str] = &["listed"];
const RADIUS: &[&str] = &["lattice", "random", "listed", "emitter", "soil"];
const STIFFNESS: D = D::new(0, 1, -2);
const AREA: D = D::new(2, 0, 0);
const SURFACE_ENERGY: D = D::new(0, 1, -2);
const MASS_FLOW: D = D::new(0, 1, -1);
const fn list(name: &'static str, form: &'static Form, about: &'static str) -> Key {
    key(name, Form::List(form), about)
}

pub(super) const GRAINS: Table = Table {
    name: "[[grains]]", kinds: &[],
    keys: &[
        &[
            text("name", "Name; copies by `repeat` that have one name are one set")
                .required("a set of grains has a name"),
            REPEATED,
            text("material", "Material: density, Young's modulus, Poisson's ratio")
                .required("such as material = \"glass\""),
            word("packing", PACKINGS, "How they are placed")
                .required("packing = \"lattice\" with low and high, \"random\", \"listed\", \"file\" or \"soil\""),
            vector("low", D::LENGTH, "Lower corner of the box they are in [m]").of(BOXED),
            vector("high", D::LENGTH, "Upper corner of the box they are in [m]").of(BOXED),
            number("count", D::ONE, Count, "How many; default as many as there is room for on a lattice").of(COUNTED),
            text("soil", "What tools cut from layers of this soil becomes grains; those at rest on the ground become soil")
                .of(&["soil"]),
            number("rate", MASS_FLOW, Positive, "Mass that appears per time in the box [kg/s]").of(&["emitter"]),
            number(
                "jitter",
                D::ONE,
                Fraction,
                "Largest displacement from the lattice, as a share of the room between neighbours [-]; default 0",
            )
            .of(&["lattice"]),
            number("seed", D::ONE, Whole, "Start of the random numbers; default 1").of(BOXED),
            vector("position", D::LENGTH, "Centre of a single grain [m]").of(LISTED),
            list("spheres", &Form::Vector(4, measure(D::LENGTH, Any)), "Centre x, y, z and radius of each [m]")
                .of(LISTED),
            list("velocities", &Form::Vector(3, measure(D::SPEED, Any)), "Velocity of each [m/s]").of(LISTED),
            list("spins", &Form::Vector(3, measure(D::ANGULAR_SPEED, Any)), "Angular velocity of each [rad/s]")
                .of(LISTED),
            text(
                "file",
                "CSV file, from the folder of the scene: x, y, z, radius and, if it likes, vx, vy, vz, wx, wy, wz",
            )
            .of(&["file"]),
            list(
                "clump",
                &Form::Vector(4, measure(D::LENGTH, Any)),
                "Rigid clumps instead of balls: centre x, y, z and radius of each sphere of one [m]; placed by its centre of mass",
            )
            .of(&["lattice", "random", "listed", "file"]),
            list(
                "hull",
                &Form::Vector(3, measure(D::LENGTH, Any)),
                "Convex polyhedra instead of balls: corners of one [m]; placed by its centre of mass",
            )
            .of(&["lattice", "random", "listed", "file"]),
            number("clump_seed", D::ONE, Whole, "Start of the random numbers that turn clumps and hulls; without it all stand as given"),
        ],
        &[
            number("radius", D::LENGTH, Positive, "Radius of all [m]").of(RADIUS),
            key(
                "radius_range",
                Form::Vector(2, measure(D::LENGTH, Positive)),
                "Smallest and largest radius, uniform by number [m]",
            )
            .of(BOXED),
            number("median", D::LENGTH, Positive, "Median radius, lognormal by number, cut at two deviations [m]")
                .of(BOXED),
            number("deviation", D::ONE, NotNegative, "Deviation of the logarithm of the radius, with `median` [-]")
                .of(BOXED),
            list("sieve", &Form::Vector(2, NO_UNIT), "Sieve curve: radius [m] and share of mass below it, up to 1")
                .of(BOXED),
        ],
        &[
            vector("velocity", D::SPEED, "Velocity at the start [m/s]"),
            vector("angular_velocity", D::ANGULAR_SPEED, "Angular velocity at the start [rad/s]"),
            flag("frozen", "True if they never move"),
            number("restitution", D::ONE, Fraction, "Restitution, above 0 [-]; default that of [contact]"),
            number("friction", D::ONE, NotNegative, "Sliding friction [-]; default that of [contact]"),
            number("rolling", D::ONE, NotNegative, "Rolling friction [-]; default 0"),
            word("rolling_law", ROLLING_LAWS, "Law of rolling friction; default constant"),
            number(
                "rolling_damping",
                D::ONE,
                Fraction,
                "Share of critical damping of elastic_plastic rolling [-]; default 0.3",
            ),
            number("adhesion", SURFACE_ENERGY, NotNegative, "Work of adhesion (Johnson, Kendall, Roberts) [J/m2]"),
            number("cohesion", D::PRESSURE, NotNegative, "Attraction as a pressure on the contact patch instead [Pa]"),
        ],
    ],
};

pub(super) const SINK: Table = Table {
    name: "[[sink]]",
    kinds: &[],
    keys: &[&[
        text("name", "Name of its signals").required("a sink has a name"),
        REPEATED,
        vector("low", D::LENGTH, "Lower corner of the box in which grains vanish [m]").required("two corners of a box"),
        vector("high", D::LENGTH, "Upper corner of it [m]").required("two corners of a box"),
        number("smoothing", D::TIME, Positive, "Time over which its flow is averaged [s]; default 0.05"),
    ]],
};

pub(super) const PROBE: Table = Table {
    name: "[[probe]]",
    kinds: &[],
    keys: &[&[
        text("name", "Name of its signals").required("a probe has a name"),
        REPEATED,
        vector("low", D::LENGTH, "Lower corner of the box in which grains are measured [m]")
            .required("two corners of a box"),
        vector("high", D::LENGTH, "Upper corner of it [m]").required("two corners of a box"),
    ]],
};

pub(super) const SERVO: Table = Table {
    name: "servo",
    kinds: &[],
    keys: &[&[
        key("axis", Form::Vector(3, NO_UNIT), "Direction in which it presses, world axes")
            .required("such as [0, 0, -1]"),
        number("force", D::FORCE, Positive, "Force with which it presses on the grains [N]"),
        number("stress", D::PRESSURE, Positive, "Or the stress, with `area` [Pa]"),
        number("area", AREA, Positive, "Area on which `stress` acts [m2]"),
        number("speed", D::SPEED, Positive, "Speed while no grains press against it, and its limit [m/s]")
            .required("such as \"0.02 m/s\""),
    ]],
};

const NO_UNIT: Measure = Measure { dimension: None, range: Any };

pub(super) const GRANULAR: Table = Table {
    name: "[granular]",
    kinds: &[],
    keys: &[&[
        word("method", METHODS, "Forces by explicit steps, or positions corrected, in long steps; default force"),
        number(
            "stiffness",
            STIFFNESS,
            Positive,
            "Method position: stiffness of contacts [N/m]; default Young's modulus times the largest radius",
        ),
        number(
            "step",
            D::TIME,
            Positive,
            "Step [s]; default a fifth of the shortest Rayleigh time, 1/240 s with method position",
        ),
        flag("books", "True if losses are booked by cause; default up to 20000 grains"),
        number(
            "snapshot_interval",
            D::TIME,
            Positive,
            "Time between snapshots of all grains [s]; default a tenth of the run, down to a sixtieth where grains are few",
        ),
        number("memory", D::ONE, Positive, "Memory that grains may take [bytes]; default what the machine has to give"),
        vector("low", D::LENGTH, "Lower corner of the grains' world [m]; who leaves it is gone"),
        vector("high", D::LENGTH, "Upper corner of the grains' world [m]"),
        texts("periodic", "Axes along which what leaves on one side of it enters on the other: x, y, z"),
    ]],
};
