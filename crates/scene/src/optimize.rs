//! `[optimize]`: which flexible body is to be made of less material, and what of it stays.

use super::format::{Form, Key, Range, Table, key, number, text, vector};
use super::reader::{Fields, Reader};
use super::write::{Writer, numbers, tables};
use super::*;
use crate::equation::Dimension as D;
use Range::{Between, Count, Positive};

/// How the shape of a flexible body is looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimize {
    /// The body.
    pub body: String,
    /// Share of its volume that may stay [-].
    pub volume: f64,
    /// Radius of the filter: no detail is smaller [m].
    pub filter: f64,
    /// What is nearer to the nodes of an interface stays [m].
    pub rim: f64,
    /// Boxes that stay: lowest and highest corner in the frame of the body [m].
    pub keep: Vec<[Vec3; 2]>,
    /// Runs at most [-].
    pub rounds: u32,
    /// Steps of the design after each run [-].
    pub steps: u32,
    /// Power of the share of material in the stiffness [-].
    pub power: f64,
    /// How sharply the last designs tell full from empty [-].
    pub sharpness: f64,
    /// Where it was written.
    pub places: Places,
}

/// Keys of a box that stays.
const KEEP: Table = Table {
    name: "keep",
    kinds: &[],
    keys: &[&[
        vector("low", D::LENGTH, "Lowest corner, in the frame of the body [m]").required("such as [-0.01, 0, -1]"),
        vector("high", D::LENGTH, "Highest corner [m]").required("such as [0.01, 0.02, 1]"),
    ]],
};

/// Keys of `[optimize]`.
const OPTIMIZE: Table = Table {
    name: "[optimize]",
    kinds: &[],
    keys: &[&[
        text("body", "The flexible body whose shape is looked for").required("the name of a body with `flexible`"),
        number("volume", D::ONE, Range::Fraction, "Share of its volume that may stay [-]").required("such as 0.5"),
        number("filter", D::LENGTH, Positive, "Radius of the filter: no detail is smaller [m]; default 2 elements"),
        number("rim", D::LENGTH, Positive, "What is nearer to the nodes of an interface stays [m]; default the filter"),
        key("keep", Form::Tables(&KEEP), "Boxes of the body that stay"),
        number("rounds", D::ONE, Count, "Runs of the scene at most; default 12"),
        number("steps", D::ONE, Count, "Steps of the design after each run; default 10"),
        number("power", D::ONE, Between(1, 9), "Power of the share of material in the stiffness [-]; default 3"),
        number("sharpness", D::ONE, Positive, "How sharply the last designs tell full from empty [-]; default 16"),
    ]],
};

/// The key of a scene.
pub(super) const KEY: Key = key("optimize", Form::Table(&OPTIMIZE), "A body to be made of less material");

/// Reads `[optimize]`; the bodies are known.
pub(super) fn read(reader: &mut Reader<'_>, scene: &Scene, top: &Fields<'_>) -> Option<Optimize> {
    let fields = &reader.table(top, "optimize", &OPTIMIZE)?;
    let body = reader.text(fields, "body")?.to_owned();
    let Some(flexible) = scene.bodies.iter().find(|own| own.name == body).and_then(|own| own.flexible.as_ref()) else {
        let flexible = scene.bodies.iter().filter(|own| own.flexible.is_some());
        let help = did_you_mean(&body, flexible.map(|own| own.name.as_str()));
        reader.error(fields.place_of("body"), format!("[optimize]: \"{body}\" is no flexible body"), help);
        return None;
    };
    let volume = reader.number(fields, "volume")?;
    if volume <= 0.0 || volume >= 1.0 {
        let message = format!("[optimize]: a volume of {volume} leaves nothing to choose");
        reader.error(fields.place_of("volume"), message, "a share between 0 and 1, such as 0.5");
    }
    let filter = match (reader.number(fields, "filter"), flexible.size) {
        (Some(filter), _) => filter,
        (None, Some(size)) => 2.0 * size,
        (None, None) => {
            let help = "about twice the side of its elements, such as filter = \"6 mm\"";
            reader.error(fields.place, "[optimize] has no `filter`, and the body a mesh of a file", help);
            return None;
        }
    };
    let mut keep = Vec::new();
    if let Some(node) = fields.get("keep") {
        for item in reader.items(node, "[optimize]: keep") {
            let Some(fields) = reader.fields(item, &KEEP, "[optimize]: keep") else { continue };
            keep.extend(reader.vec3(&fields, "low").zip(reader.vec3(&fields, "high")).map(|(low, high)| [low, high]));
        }
    }
    let count = |reader: &mut Reader<'_>, name, default| reader.number(fields, name).map_or(default, |n| n as u32);
    Some(Optimize {
        body,
        volume,
        filter,
        rim: reader.number(fields, "rim").unwrap_or(filter),
        keep,
        rounds: count(reader, "rounds", 12),
        steps: count(reader, "steps", 10),
        power: reader.number(fields, "power").unwrap_or(3.0),
        sharpness: reader.number(fields, "sharpness").unwrap_or(16.0),
        places: fields.places(),
    })
}

/// `[optimize]` as it is written.
pub(super) fn write(of: &Optimize) -> Writer {
    let mut table = Writer::default();
    table.text("body", Some(&of.body));
    let numbers_of = [("volume", of.volume), ("filter", of.filter), ("rim", of.rim)];
    numbers_of.into_iter().for_each(|(name, value)| table.number(name, Some(value)));
    tables(&mut table, "keep", &of.keep, |[low, high]| {
        let mut table = Writer::default();
        table.put("low", numbers(&low.to_array()));
        table.put("high", numbers(&high.to_array()));
        table
    });
    let counts = [("rounds", of.rounds), ("steps", of.steps)];
    counts.into_iter().for_each(|(name, value)| table.number(name, Some(f64::from(value))));
    table.number("power", Some(of.power));
    table.number("sharpness", Some(of.sharpness));
    table
}
