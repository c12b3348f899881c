//! Tyres as scenes know them.

use super::RoadTyre;
use crate::element::{Build, Element, ElementSpec};
use crate::tyre;
use tippe_format::equation::Dimension;
use tippe_format::key::{Form, Range, Spec, any, flag, key, number, text};
use tippe_format::part::{Attachment, Check, Part};
use tippe_geometry::file::regular;

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "tyre",
        about: "A tyre between a wheel and a road: load, forces from slip with relaxation, torques; it holds at rest",
        keys: &[
            &[
                key(
                    "on",
                    Form::Attachment,
                    "The wheel, BODY or BODY.FRAME, whose y axis is its axle; x is forward where z is up",
                )
                .required("the wheel, such as on = \"wheel\""),
                key(
                    "ground",
                    Form::Frame,
                    "Frame of the road, a plane whose normal is its z axis: BODY, BODY.FRAME or `world`; default `world`",
                ),
            ],
            &[
                text("file", "Tyre file (.tir) from the scene's folder"),
                text("data", "The lines of a tyre file, NAME = VALUE, instead"),
                flag(
                    "terrain",
                    "True if the road is the shapes of its body, under an enveloping patch, not a plane; default false",
                ),
                any("grip", Range::NotNegative, "Factor of the friction of the road [-]").or(1.0),
                number(
                    "settling",
                    Dimension::TIME,
                    Range::NotNegative,
                    "Damping of the carcass in the plane of the road, over its stiffness [s]",
                )
                .or(0.005),
            ],
        ],
        check,
        example: "on = \"a\"\ndata = \"PROPERTY_FILE_FORMAT = 'FIALA'\"",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

/// The lines of its file take the file's place, so that a scene that is written anew stands alone.
fn check(check: &mut Check<'_>) {
    check.not_both("file", "data");
    check.at_least_one(&["file", "data"], "such as file = \"tyre.tir\"");
    if !check.wrong.is_empty() {
        return;
    }
    let key = if check.has("file") { "file" } else { "data" };
    if check.has("file") {
        let path = check.folder.join(check.part.word("file"));
        match regular::read_text(&path, regular::TEXT) {
            Ok(text) => {
                check.part.unset("file");
                check.part.set("data", tippe_format::part::Value::Text(text));
            }
            Err(error) => {
                let message = format!(": cannot read {}: {error}", path.display());
                check.error(key, message, "the path is from the scene's folder");
                return;
            }
        }
    }
    if let Err(message) = tyre::read(check.part.word("data")) {
        check.error(key, format!(": {message}"), "");
    }
}

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let read = tyre::read(part.word("data")).ok()?;
    for note in &read.notes {
        build.warn(&format!("has a tyre file that {note}"));
    }
    let on = part.attachments("on").first().and_then(|on| build.anchor(on, None));
    let world = Attachment { body: "world".into(), frame: String::new() };
    let ground = build.anchor(part.attachments("ground").first().unwrap_or(&world), None);
    let ground = ground?;
    let road = match ground.body {
        Some(body) if part.flag("terrain") => build.shapes(body),
        _ => Vec::new(),
    };
    if part.flag("terrain") && road.is_empty() {
        build.wrong(
            "has no body with shapes for its terrain",
            "such as ground = \"hills\", a body with a height grid, a mesh or boxes",
        );
        return None;
    }
    let (grip, settling) = (part.number("grip"), part.number("settling"));
    Some(Element::Tyre(Box::new(RoadTyre { ends: [on?, ground], road, tyre: Box::new(read.tyre), grip, settling })))
}
