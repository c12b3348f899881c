//! Curves as they are written: outlines of solids and of cams.

use tippe_format::equation::Dimension;
use tippe_format::key::{Form, Key, Measure, Range, Spec, Table, flag, key, measure, number};
use tippe_format::part::{Check, Part, Wrong};
use tippe_geometry::{Curve, CurveError, Follower, Vec2};

const LENGTH: Measure = measure(Dimension::LENGTH, Range::Any);
const BULGED: Measure = Measure { dimension: None, range: Range::Any };

const CIRCLE: Spec = Spec {
    word: "circle",
    about: "A circle, about the origin or beside it",
    keys: &[&[
        number("radius", Dimension::LENGTH, Range::Positive, "Radius [m]").required("such as radius = \"20 mm\""),
        key("centre", Form::Vector(2, LENGTH), "Its centre (x, y) [m]; default the origin"),
    ]],
    check,
    ..Spec::NONE
};

const ARCS: Spec = Spec {
    word: "arcs",
    about: "Lines and circular arcs from point to point, without corners",
    keys: &[&[key(
        "points",
        Form::List(&Form::Vector(3, BULGED)),
        "(x, y, bulge) [m, m, -]: the way to the next point turns by an angle whose quarter has the tangent `bulge`, to the left if positive; 0 is a line",
    )
    .required("such as points = [[-1, -1, 0], [1, -1, 1], [1, 1, 0], [-1, 1, 1]]")]],
    check,
    ..Spec::NONE
};

const SPLINE: Spec = Spec {
    word: "spline",
    about: "The closed cubic spline through points, of continuous curvature",
    keys: &[&[key("points", Form::List(&Form::Vector(2, LENGTH)), "Points (x, y) it goes through [m]")
        .required("such as points = [[0.02, 0], [0, 0.03], [-0.02, 0], [0, -0.02]]")]],
    check,
    ..Spec::NONE
};

const LIFT: Spec = Spec {
    word: "lift",
    about: "What lifts a follower on a ray from the origin by a table over the angle of the ray",
    keys: &[&[
        number("base", Dimension::LENGTH, Range::Positive, "Radius of the outline where the lift is 0 [m]")
            .required("such as base = \"20 mm\""),
        key(
            "table",
            Form::List(&Form::Vector(2, BULGED)),
            "(angle, lift) [rad, m], angles rising within one turn; a closed cubic spline goes through it",
        )
        .required("such as table = [[\"0 deg\", 0], [\"120 deg\", \"5 mm\"], [\"240 deg\", 0]]"),
        number("roller", Dimension::LENGTH, Range::Positive, "Radius of the roller it lifts [m]; default a point"),
        flag("face", "True if it lifts a flat face at right angles to the ray"),
    ]],
    check,
    ..Spec::NONE
};

/// Closed smooth curves.
pub const CURVE: Table = Table {
    name: "curve",
    keys: &[&[
        key("kind", Form::Kind, "What it is made of").required("kind = \"spline\", \"arcs\", \"circle\" or \"lift\"")
    ]],
    kinds: &[&CIRCLE, &ARCS, &SPLINE, &LIFT],
};

fn check(check: &mut Check<'_>) {
    if check.part.kind.key("face").is_some() {
        check.not_both("roller", "face");
    }
    let keys: Vec<&'static Key> = check.part.kind.keys().filter(|key| key.required).collect();
    if keys.iter().all(|key| check.part.get(key.name).is_some())
        && let Err(error) = built(check.part)
    {
        check.error("", format!(": {error}"), "");
    }
}

/// Rows of numbers under a key.
fn rows<const N: usize>(part: &Part, key: &str) -> Vec<[f64; N]> {
    let whole = part.numbers(key).chunks_exact(N);
    whole.map(|row| std::array::from_fn(|k| row[k])).collect()
}

/// The curve that a part says.
pub fn built(part: &Part) -> Result<Curve, CurveError> {
    match part.kind.word {
        "circle" => {
            let centre = match part.numbers("centre") {
                [x, y] => Vec2::new(*x, *y),
                _ => Vec2::ZERO,
            };
            Curve::circle(centre, part.number("radius"))
        }
        "arcs" => Curve::arcs(&rows(part, "points")),
        "spline" => Curve::spline(&rows(part, "points")),
        _ => {
            let follower = match part.flag("face") {
                true => Follower::Face,
                false => Follower::Roller { radius: part.number("roller") },
            };
            Curve::lift(part.number("base"), &rows(part, "table"), follower)
        }
    }
}

/// The curve that was written under a key of a part.
pub fn curve(part: &Part, key: &'static str) -> Result<Curve, Wrong> {
    let wrong = |message: String| Wrong {
        key,
        message,
        help: "say what it is made of, such as curve = { kind = \"circle\", radius = 0.02 }".into(),
    };
    let Some(written) = part.parts(key).first() else {
        return Err(wrong(format!("\"{}\" has no {key}", part.name)));
    };
    built(written).map_err(|error| wrong(format!("\"{}\": {error}", part.name)))
}
