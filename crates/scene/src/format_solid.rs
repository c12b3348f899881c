//! The tables of solids: parts built step by step, and meshes as shapes.

use super::format::{Form, Key, Measure, Range, Table};
use super::format::{REPEATED, flag, key, measure, number, text, texts, vector, word};
use crate::equation::Dimension as D;
use Range::{Any, Between, NotNegative, Positive};
use tippe_parts::curve::CURVE;

/// Words under `kind` of a `[[solid]]`.
pub(super) const KINDS: &[&str] = &[
    "box",
    "sphere",
    "cylinder",
    "cone",
    "prism",
    "revolved",
    "gear",
    "thread",
    "mesh",
    "union",
    "difference",
    "intersection",
];

const ROUND: &[&str] = &["sphere", "cylinder", "cone", "prism", "revolved", "gear", "thread"];
const LONG: &[&str] = &["cylinder", "cone", "prism", "thread"];
const GEAR: &[&str] = &["gear"];
const THREAD: &[&str] = &["thread"];
const PRISM: &[&str] = &["prism"];
const MESH: &[&str] = &["mesh"];
/// What a scale is.
pub(super) const FACTOR: Measure = measure(D::ONE, Any);
const SCALE: [Form; 2] = [Form::Number(FACTOR), Form::Vector(3, FACTOR)];
const POINT: Form = Form::Vector(2, measure(D::LENGTH, Any));
const NO_UNIT: Measure = Measure { dimension: None, range: Any };

/// Where triangles come from.
pub(super) const SURFACE: [Key; 6] = [
    text("file", "Mesh file, from the folder of the scene: STL, OBJ, glTF, DXF or SVG"),
    text("unit", "Unit of length of the file: m, cm, mm, um, in or ft").help("the file does not say it"),
    key("vertices", Form::List(&Form::Vector(3, measure(D::LENGTH, Any))), "Corners [m]"),
    key(
        "triangles",
        Form::List(&Form::Vector(3, measure(D::ONE, Range::Whole))),
        "Three corners each, counted from 0, anticlockwise seen from outside",
    ),
    number("weld", D::LENGTH, NotNegative, "Corners nearer than this are one [m]; default 1e-7 of the size"),
    text("path", "Outline as path data of SVG, such as \"M 0 0 H 10 V 5 Z\"; y points down there").of(PRISM),
];

pub(super) const SOLID: Table = Table {
    name: "[[solid]]",
    kinds: &[],
    keys: &[
        &[
            text("name", "Name, unique; `{k}` is replaced by the value of k")
                .required("a solid has a name, to be used"),
            REPEATED,
            word("kind", KINDS, "How it is made").required("such as kind = \"cylinder\" or kind = \"difference\""),
            texts("of", "Names of the solids it is made of, each defined above; the first minus the others").of(&[
                "union",
                "difference",
                "intersection",
            ]),
            key("size", Form::Vector(3, measure(D::LENGTH, Positive)), "Edge lengths along x, y, z [m]").of(&["box"]),
            number("radius", D::LENGTH, Positive, "Radius; of a cone that of the base, of a thread the outer one [m]")
                .of(&["sphere", "cylinder", "cone", "thread"]),
            number("top_radius", D::LENGTH, NotNegative, "Radius of the top [m]; default 0").of(&["cone"]),
            number("length", D::LENGTH, Positive, "Length along z, half of it on each side of the origin [m]").of(LONG),
            number("segments", D::ONE, Between(3, 10_000), "Corners of a full circle; default 64, of a curve 360")
                .of(ROUND),
            key("outline", Form::List(&POINT), "Corners (x, y) of the polygon [m]").of(PRISM),
            key(
                "curve",
                Form::Curve(&CURVE),
                "Smooth outline, drawn by a polygon of `segments`: a curve, or the name of a [[solid]] that has one",
            )
            .of(PRISM),
            key("holes", Form::List(&Form::List(&POINT)), "Corners (x, y) of polygons left out [m]").of(PRISM),
            key("profile", Form::List(&POINT), "Corners (r, z) of the polygon turned about z [m]").of(&["revolved"]),
            number("angle", D::ONE, Positive, "Angle of the turn [rad]; default all around").of(&["revolved"]),
        ],
        &[
            number("module", D::LENGTH, Positive, "Pitch diameter over number of teeth [m]").of(GEAR),
            number("teeth", D::ONE, Between(1, 10_000), "Number of teeth").of(GEAR),
            number("width", D::LENGTH, Positive, "Length along z [m]").of(GEAR),
            number("pressure_angle", D::ONE, Positive, "Pressure angle [rad]; default 20 deg").of(GEAR),
            number("addendum", D::ONE, Any, "Height of teeth over the pitch circle, in modules; default 1").of(GEAR),
            number("dedendum", D::ONE, Any, "Depth of gaps below the pitch circle, in modules; default 1.25").of(GEAR),
            number("backlash", D::LENGTH, Any, "Play along the pitch circle, off every tooth [m]; default 0").of(GEAR),
            number("shift", D::ONE, Any, "Profile shift, in modules; default 0").of(GEAR),
            number("hole", D::LENGTH, Positive, "Radius of the hole around the axis [m]; default none").of(GEAR),
            number("flank_points", D::ONE, Between(1, 1000), "Corners on the flank of a tooth; default 8").of(GEAR),
            number("pitch", D::LENGTH, Positive, "Way along z of one turn [m]").of(THREAD),
            number("depth", D::LENGTH, Positive, "Depth of the groove [m]; default 0.541 pitch").of(THREAD),
            number("crest", D::LENGTH, Positive, "Width of the ridge's top [m]; default pitch/8").of(THREAD),
            number("root", D::LENGTH, Positive, "Width of the groove's bottom [m]; default pitch/4").of(THREAD),
            flag("left_handed", "True for a left-handed thread").of(THREAD),
        ],
        &SURFACE_OF_SOLID,
        &[
            key("scale", Form::Either(&SCALE), "Factor, or factors along x, y, z, before it is placed"),
            key(
                "mirror",
                Form::Vector(3, NO_UNIT),
                "Normal of a plane through the origin it is mirrored in, after `scale`",
            ),
            key("orientation", Form::Orientation, "How it is turned, after `mirror`"),
            vector("position", D::LENGTH, "Where its origin is put, after `orientation` [m]"),
            number("around", D::ONE, Between(1, 10_000), "Number of copies around z, united"),
            number("along", D::ONE, Between(1, 10_000), "Number of copies in a row, `step` apart, united"),
            vector("step", D::LENGTH, "From one copy to the next [m]"),
        ],
    ],
};

/// `SURFACE` with the kinds that take it.
const SURFACE_OF_SOLID: [Key; 6] = {
    let [file, unit, vertices, triangles, weld, path] = SURFACE;
    [
        file.of(&["mesh", "prism"]),
        unit.of(&["mesh", "prism"]),
        vertices.of(MESH),
        triangles.of(MESH),
        weld.of(MESH),
        path,
    ]
};

/// Keys of a mesh as a shape, beside its place.
pub(super) const MESH_SHAPE: [Key; 9] = {
    let [file, unit, vertices, triangles, weld, _] = SURFACE;
    [
        text("solid", "Name of a [[solid]]"),
        file,
        unit,
        number("scale", D::ONE, Positive, "Factor on all lengths; default 1"),
        vertices,
        triangles,
        weld,
        flag("hull", "True if its convex hull touches instead of it; the mass stays that of the mesh"),
        number(
            "pieces",
            D::ONE,
            Between(1, 4096),
            "At most so many convex pieces touch instead of it, which it is taken apart into",
        ),
    ]
};
