//! A unit as one file: description, library, resources, licence, documentation, picture.

use crate::description::{description, escape};
use crate::plan::{PLAN, Package, RESOLVED, Slot, WRITTEN};
use std::fmt::Write;
use tippe_units::archive::{ArchiveError, Entry, pack};
use tippe_units::{Version, platform};

/// Texts of the licence of the library.
const LICENCES: [(&str, &str); 2] = [
    ("LICENSE-MIT", include_str!("../../../LICENSE-MIT")),
    ("LICENSE-APACHE", include_str!("../../../LICENSE-APACHE")),
];

/// Bytes of the unit with this library and, if there is one, this picture (PNG).
pub fn unit(package: &Package, library: Vec<u8>, picture: Option<Vec<u8>>) -> Result<Vec<u8>, ArchiveError> {
    let [two, three, ending] = platform().unwrap_or(["unknown", "unknown", "so"]);
    let place = if package.plan.version == Version::Two { two } else { three };
    let text = |name: &str, text: String| Entry { name: name.to_owned(), bytes: text.into_bytes() };
    let plan = serde_json::to_string_pretty(&package.plan).unwrap_or_default();
    let mut entries = vec![
        text("modelDescription.xml", description(package)),
        Entry { name: format!("binaries/{place}/{}.{ending}", package.identifier()), bytes: library },
        text(&format!("resources/{PLAN}"), plan),
        text(&format!("resources/{RESOLVED}"), package.resolved.clone()),
        text("documentation/index.html", page(package)),
    ];
    entries.extend(package.written.iter().map(|own| text(&format!("resources/{WRITTEN}"), own.clone())));
    for (name, licence) in LICENCES {
        entries.push(text(&format!("documentation/licenses/{name}"), licence.to_owned()));
    }
    entries.extend(picture.map(|bytes| Entry { name: "model.png".to_owned(), bytes }));
    pack(&entries)
}

/// The page of a unit.
fn page(package: &Package) -> String {
    let plan = &package.plan;
    let kinds = match (plan.model_exchange, plan.co_simulation) {
        (true, true) => format!("Model Exchange, and Co-Simulation with the {} clock", plan.clock),
        (true, false) => "Model Exchange".to_owned(),
        _ => format!("Co-Simulation with the {} clock", plan.clock),
    };
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title></head><body>\n<h1>{0}</h1>\n<p>{1}</p>\n\
         <p>{kinds}. All numbers are in SI units, vectors in the world's frame, orientations w, x, y, z. Losses, contacts and the scene \
         itself: <code>resources/{RESOLVED}</code>, which Tippe {2} runs.</p>\n<table>\n\
         <tr><th>variable</th><th>unit</th><th>start</th><th>what</th></tr>\n",
        escape(&package.scene.title),
        escape(package.scene.description.trim()),
        plan.tippe
    );
    for (_, item) in package.items_where(|slot| !matches!(slot, Slot::State(_) | Slot::Rate(_) | Slot::Time)) {
        let start = item.start.map_or(String::new(), |start| format!("{start:?}"));
        let _ = writeln!(
            text,
            "<tr><td>{}</td><td>{}</td><td>{start}</td><td>{}</td></tr>",
            escape(&item.name),
            escape(&item.unit),
            escape(&item.about)
        );
    }
    text + "</table>\n</body></html>\n"
}
