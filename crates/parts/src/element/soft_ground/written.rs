//! Soft ground as scenes know it.

use super::rut::Grid;
use super::{SHOWN, SoftGround, Wheel};
use crate::element::{Build, Element, ElementSpec, ElementState, Output};
use std::borrow::Cow;
use tippe_format::equation::Dimension;
use tippe_format::key::{Form, Key, Measure, Range, Spec, Table, any, key, number, text, word};
use tippe_format::part::{Attachment, Check, Part};
use tippe_soil::soft::{self, Pressure, RigidWheel, Shear, Soil, Unloading};

/// Words of the laws of pressure and of shear.
const LAWS: [&str; 4] = ["bekker", "reece", "muskeg", "snow"];
const SHEARS: [&str; 3] = ["exponential", "residual", "hump"];
/// Keys that a soil by its name has already.
const OWN: [&str; 11] =
    ["law", "kc", "kphi", "cohesive", "frictional", "n", "peat", "mat", "deepest", "hardness", "cohesion"];
/// Wheels at most, so that rows have numbers.
const MOST_WHEELS: usize = 50;
/// Nodes of a grid of ruts at most: 40 MB.
const MOST_NODES: f64 = 5e6;
/// Au of LETE sand (Wong 2008) [N/m^4].
pub(in crate::element) const GROWTH: f64 = 5.03e8;

/// A wheel as scenes know it.
const WHEEL: Spec = Spec {
    word: "wheel",
    about: "A rigid wheel on the soft ground",
    keys: &[&[
        key("on", Form::Attachment, "The wheel, BODY or BODY.FRAME, whose y axis is its axle")
            .required("the name of a body"),
        number("radius", Dimension::LENGTH, Range::Positive, "Its radius [m]").required("such as radius = 0.4"),
        number("width", Dimension::LENGTH, Range::Positive, "Its width [m]").required("such as width = 0.25"),
    ]],
    ..Spec::NONE
};

/// Wheels on soft ground.
pub const WHEEL_KINDS: Table = Table { name: "wheel of soft ground", keys: &[], kinds: &[&WHEEL] };

const PLACE: Measure = Measure { dimension: Some(Dimension::LENGTH), range: Range::Any };
const PER_VOLUME: Dimension = Dimension::new(-2, 1, -2);

/// Which soil it is: by its name, or by the numbers of its law.
pub(in crate::element) const SOIL: &[Key] = &[
    text("soil", "A soil that was measured, by its name (`tippe soil` lists them)"),
    word("law", &LAWS, "Law of pressure and sinkage of a soil of one's own").or_word("bekker"),
    any("kc", Range::Any, "Bekker: kc [N/m^(n+1)]").or(0.0),
    any("kphi", Range::NotNegative, "Bekker: kphi [N/m^(n+2)]").or(0.0),
    number("cohesive", Dimension::PRESSURE, Range::NotNegative, "Reece: c kc' [Pa]").or(0.0),
    any("frictional", Range::NotNegative, "Reece: gamma kphi' [N/m^3]").or(0.0),
    any("n", Range::Positive, "Bekker, Reece: n [-]").or(1.0),
    number("peat", PER_VOLUME, Range::Positive, "Muskeg: kp [N/m^3]").or(1e5),
    number("mat", PER_VOLUME, Range::NotNegative, "Muskeg: mM [N/m^3]").or(0.0),
    number("deepest", Dimension::LENGTH, Range::Positive, "Snow: zw [m], where it is all pressed").or(0.2),
    number("hardness", Dimension::PRESSURE, Range::Positive, "Snow: pw [Pa]").or(6e3),
    number("cohesion", Dimension::PRESSURE, Range::NotNegative, "c [Pa]").or(0.0),
    number("friction_angle", Dimension::ONE, Range::NotNegative, "phi [rad]").or(0.0),
];

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "soft_ground",
        about: "Soft ground under wheels: sinkage, thrust and resistance from pressure and shear, and the ruts that they leave",
        keys: &[
            &[
                key(
                    "wheels",
                    Form::Parts(&WHEEL_KINDS),
                    "The wheels on it, such as [{ on = \"wheel\", radius = 0.4, width = 0.25 }]",
                )
                .required("such as wheels = [{ on = \"wheel\", radius = 0.4, width = 0.25 }]"),
                key(
                    "ground",
                    Form::Frame,
                    "Frame of the ground, z its normal: BODY, BODY.FRAME or `world`; default `world`",
                ),
            ],
            SOIL,
            &[
                word(
                    "shear_law",
                    &SHEARS,
                    "How shear stress rises: to its largest value, to a peak and a residual, to a peak and away",
                )
                .or_word("exponential"),
                number(
                    "shear",
                    Dimension::LENGTH,
                    Range::Positive,
                    "K, or Kw at the peak [m]; default that of the soil, else 0.025",
                ),
                any("residual", Range::Fraction, "Kr: what is left behind the peak [-]").or(0.7),
                any(
                    "peak",
                    Range::NotNegative,
                    "c1: theta of the largest pressure over theta of entry, at no slip [-]",
                )
                .or(0.4),
                any("peak_slip", Range::Any, "c2: what slip adds to it [-]").or(0.2),
                number("unloading", PER_VOLUME, Range::NotNegative, "k0: slope of unloading [N/m^3]").or(0.0),
                any("unloading_growth", Range::NotNegative, "Au: what a metre of sinkage adds to it [N/m^4]")
                    .or(GROWTH),
                any("slip_sinkage", Range::NotNegative, "n1: what slip adds to n [-]").or(0.0),
                number(
                    "unit_weight",
                    PER_VOLUME,
                    Range::NotNegative,
                    "Weight of the soil, for what its wall does to the side of a wheel [N/m^3]",
                )
                .or(0.0),
                number("settling", Dimension::TIME, Range::NotNegative, "Damping over stiffness [s]").or(0.005),
            ],
            &[
                key(
                    "low",
                    Form::Vector(2, PLACE),
                    "Least x and y of the grid of ruts, in the ground's frame [m]; without it every wheel meets fresh ground",
                ),
                key("high", Form::Vector(2, PLACE), "... and largest"),
                number("cell", Dimension::LENGTH, Range::Positive, "Distance of its nodes [m]").or(0.05),
            ],
        ],
        check,
        example: "soil = \"dry_sand\"\nwheels = [{ on = \"a\", radius = 0.4, width = 0.25 }]",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

fn check(check: &mut Check<'_>) {
    let number = check.part.parts("wheels").len();
    if check.has("wheels") && (number == 0 || number > MOST_WHEELS) {
        check.error("wheels", format!(" has {number} wheels"), format!("1 to {MOST_WHEELS}"));
    }
    check_soil(check);
    if check.has("low") != check.has("high") {
        check.error("", " has one corner of its grid of ruts", "both, such as low = [-1, -1] and high = [9, 1]");
    }
    if let ([x0, y0], [x1, y1]) = (check.part.numbers("low"), check.part.numbers("high")) {
        let (cell, size) = (check.part.number("cell"), [x1 - x0, y1 - y0]);
        if size.iter().any(|side| *side <= 0.0) {
            check.error(
                "high",
                " has a grid of ruts whose high corner is not above its low one",
                "high = [9, 1] over low = [-1, -1]",
            );
        } else if size[0] / cell * (size[1] / cell) > MOST_NODES {
            let nodes = size[0] / cell * (size[1] / cell);
            check.error(
                "cell",
                format!(" has {nodes:.3e} nodes of ruts"),
                format!("{MOST_NODES:.0e} at most: a smaller grid, or a larger cell"),
            );
        }
    }
}

/// Says what is wrong with the soil that was written.
pub(in crate::element) fn check_soil(check: &mut Check<'_>) {
    if check.has("soil") {
        let name = check.part.word("soil").to_owned();
        if soft::find(&name).is_none() {
            let names = soft::SOILS.iter().map(|soil| soil.name).collect::<Vec<_>>().join(", ");
            check.error("soil", format!(": there is no soil \"{name}\""), format!("one of {names}"));
        }
        for key in OWN.into_iter().filter(|key| check.has(key)).collect::<Vec<_>>() {
            check.error(key, format!(" has both `soil` and `{key}`"), "the soil by its name, or its numbers");
        }
        if check.has("friction_angle") {
            check.error(
                "friction_angle",
                " has both `soil` and `friction_angle`",
                "the soil by its name, or its numbers",
            );
        }
    } else {
        let needed: &[&'static str] = match check.part.word("law") {
            "reece" => &["frictional", "n"],
            "muskeg" => &["peat"],
            "snow" => &["deepest", "hardness"],
            _ => &["kphi", "n"],
        };
        for key in needed {
            check.needs(key, "or soil = \"dry_sand\"");
        }
    }
    if check.part.number("friction_angle") >= std::f64::consts::FRAC_PI_2 {
        check.error(
            "friction_angle",
            " is 90 degrees or more",
            "sand has 28 to 40 degrees: friction_angle = \"30 deg\"",
        );
    }
}

/// The soil that was written.
pub(in crate::element) fn soil(part: &Part) -> Option<Soil> {
    let mut own = match part.get("soil") {
        Some(_) => soft::find(part.word("soil"))?,
        None => {
            let n = part.number("n");
            let pressure = match part.word("law") {
                "reece" => {
                    Pressure::Reece { cohesive: part.number("cohesive"), frictional: part.number("frictional"), n }
                }
                "muskeg" => Pressure::Muskeg { peat: part.number("peat"), mat: part.number("mat") },
                "snow" => Pressure::Snow { depth: part.number("deepest"), pressure: part.number("hardness") },
                _ => Pressure::Bekker { kc: part.number("kc"), kphi: part.number("kphi"), n },
            };
            let (cohesion, friction) = (part.number("cohesion"), part.number("friction_angle"));
            Soil { pressure, shear: Shear::Exponential(0.025), cohesion, friction }
        }
    };
    let given = match own.shear {
        Shear::Exponential(K) => K,
        Shear::Residual { peak, .. } | Shear::Hump(peak) => peak,
    };
    let K = part.find_number("shear").unwrap_or(given);
    own.shear = match part.word("shear_law") {
        "residual" => Shear::Residual { share: part.number("residual").max(1e-3), peak: K },
        "hump" => Shear::Hump(K),
        _ => Shear::Exponential(K),
    };
    Some(own)
}

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let world = Attachment { body: "world".into(), frame: String::new() };
    let mut ends = vec![build.anchor(part.attachments("ground").first().unwrap_or(&world), None)?];
    let mut wheels: Vec<Wheel> = Vec::new();
    for own in part.parts("wheels") {
        let on = own.attachments("on").first()?;
        ends.push(build.anchor(on, None)?);
        let last = on.body.rsplit('.').next().unwrap_or(&on.body);
        let is_there = wheels.iter().any(|other| other.name == last);
        let name = if is_there { on.written().replace('.', "_") } else { last.to_owned() };
        if wheels.iter().any(|other| other.name == name) {
            build.wrong(&format!("has wheel \"{}\" twice", on.written()), "name each wheel once");
            return None;
        }
        let peak = [part.number("peak"), part.number("peak_slip")];
        let rim = RigidWheel { radius: own.number("radius"), width: own.number("width"), peak, leaves: 0.0 };
        wheels.push(Wheel { name, rim });
    }
    let soil = soil(part)?;
    let grid = match (part.numbers("low"), part.numbers("high")) {
        ([x0, y0], [x1, y1]) => {
            let cell = part.number("cell");
            let count = [x1 - x0, y1 - y0].map(|side| (side / cell).round() as usize + 1);
            Some(Grid { low: [*x0, *y0], cell, count: count.map(|n| n.max(2)) })
        }
        _ => None,
    };
    if let Some(grid) = &grid
        && let Some(wheel) = wheels.iter().find(|wheel| wheel.rim.width < grid.cell)
    {
        let (width, cell) = (wheel.rim.width, grid.cell);
        build.warn(&format!(
            "has wheel \"{}\", {width} m wide, on nodes {cell} m apart: its rut falls between them",
            wheel.name
        ));
    }
    let state = |wheel: &Wheel, name: &str| ElementState {
        name: Cow::Owned(format!("{}.{name}", wheel.name)),
        unit: "m",
        start: 0.0,
        scale: 1e-5,
    };
    let states = |wheel: &Wheel| ["sheared.x", "sheared.y", "rolled", "deepest"].map(|name| state(wheel, name));
    let shown = |wheel: &Wheel| {
        let of = |(name, unit): (&str, &'static str)| Output {
            name: Cow::Owned(format!("{}.{name}", wheel.name)),
            unit: Some(unit),
        };
        SHOWN.map(of)
    };
    let load = Output { name: Cow::Borrowed("load"), unit: Some("N") };
    Some(Element::SoftGround(Box::new(SoftGround {
        states: wheels.iter().flat_map(states).collect(),
        outputs: std::iter::once(load).chain(wheels.iter().flat_map(shown)).collect(),
        ends,
        wheels,
        soil,
        unloading: Unloading { k0: part.number("unloading"), growth: part.number("unloading_growth") },
        sinks: part.number("slip_sinkage"),
        weight: part.number("unit_weight"),
        settling: part.number("settling"),
        grid,
    })))
}
