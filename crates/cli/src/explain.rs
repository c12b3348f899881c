//! `tippe explain`: short texts on the scene file, shapes, laws, events, materials, settings, signals, clocks, analyses and exit codes; the texts are `explain/*.md`. And any scene: what it
//! shows and where its numbers come from.

use crate::args::Source;
use crate::gallery::about;
use crate::table::table;
use crate::{Stop, materials, print, print_json, say};
use std::path::Path;
use tippe::Model;
use tippe::model::Drive;
use tippe::scene::{Scene, did_you_mean, gallery, kinds, template, templates};
use tippe::variables::{Variables, no_exchange};

/// Arguments of `tippe explain`.
#[derive(clap::Args)]
pub struct Args {
    /// A topic, or a heading inside one, or a scene; without it, all topics
    topic: Option<String>,
    /// Behind `variables`: the scene whose parameters, inputs, outputs and states are listed. Behind `vehicle`: a template, a vehicle file, or a scene with vehicles
    name: Option<String>,
    /// With `variables`: one JSON list on stdout
    #[arg(long)]
    json: bool,
}

/// Topics by name.
const TOPICS: [(&str, &str); 13] = [
    ("scene", include_str!("../explain/scene.md")),
    ("solids", include_str!("../explain/solids.md")),
    ("materials", include_str!("../explain/materials.md")),
    ("laws", include_str!("../explain/laws.md")),
    ("friction", include_str!("../explain/friction.md")),
    ("events", include_str!("../explain/events.md")),
    ("energy", include_str!("../explain/energy.md")),
    ("signals", include_str!("../explain/signals.md")),
    ("settings", include_str!("../explain/settings.md")),
    ("clocks", include_str!("../explain/clocks.md")),
    ("grains", include_str!("../explain/grains.md")),
    ("analysis", include_str!("../explain/analysis.md")),
    ("exit-codes", include_str!("../explain/exit-codes.md")),
];

/// Bodies whose masses are shown, at most.
const MOST_BODIES: usize = 20;

/// The trees of vehicles: of a template, of a vehicle file, of all in a scene.
fn vehicle(name: Option<&str>) -> Result<(), Stop> {
    let Some(name) = name else {
        return print(&format!(
            "tippe explain vehicle NAME: a scene, a vehicle file, or one of\n\n{}",
            templates().collect::<Vec<_>>().join("\n")
        ));
    };
    let alone = format!(
        "format = 1\n[world]\ngravity = [0, 0, -9.80665]\n[[vehicle]]\nname = \"vehicle\"\nvehicle = {name:?}\n"
    );
    let scene = match Scene::load(name, &[]) {
        Ok(scene) if template(name).is_err() => scene,
        // what is no scene may be a vehicle
        _ => Scene::parse("vehicle.toml", &alone, &[])?,
    };
    if scene.vehicles.is_empty() {
        return print(&format!("{name} has no vehicle"));
    }
    print(scene.vehicles.iter().map(|vehicle| vehicle.text.trim_end()).collect::<Vec<_>>().join("\n\n").as_str())
}

/// Runs the command.
pub fn explain(args: &Args) -> Result<(), Stop> {
    let Some(topic) = &args.topic else {
        let mut text = String::from("tippe explain TOPIC, where TOPIC is one of\n");
        for (name, body) in TOPICS {
            let first = body.lines().next().unwrap_or("").trim_start_matches("# ");
            text += &format!("\n{name:<12}{first}\n");
            let entries: Vec<&str> = entries(body).map(|(heading, _)| heading).collect();
            if !entries.is_empty() {
                text += &format!("            {}\n", entries.join(", "));
            }
        }
        text += "\nor the name of a scene (`tippe list`), or a scene file; `variables SCENE`: what other programs may give a scene, read from it and \
             integrate for it";
        return print(text.trim_end());
    };
    if topic == "variables" {
        return variables(args);
    }
    if topic == "vehicle" {
        return vehicle(args.name.as_deref());
    }
    if let Some(more) = &args.name {
        return Err(Stop::Usage(format!(
            "`{more}` is one word too many. help: only `tippe explain variables SCENE` and `tippe explain vehicle NAME` have two"
        )));
    }
    let is_file = Path::new(topic).is_file();
    let mut found: Vec<String> = Vec::new();
    if !is_file {
        let word = topic.to_lowercase();
        found.extend(find(&word).into_iter().map(str::to_owned));
        found.extend(kinds_of(&word));
        found.extend((word == "materials").then(materials::all));
        found.extend(materials::one(&word));
    }
    if !found.is_empty() {
        return print(found.join("\n\n").trim_end());
    }
    if is_file || gallery().iter().any(|(name, _)| name == topic) {
        let source = Source::find(topic)?;
        let scene = Scene::parse(&source.file, &source.text, &[])?;
        let name = if is_file { topic } else { &source.name };
        let text = about(name, &scene) + &masses(&Model::compile(&scene)?);
        return print(text.trim_end());
    }
    let all =
        TOPICS.iter().flat_map(|(name, body)| std::iter::once(*name).chain(entries(body).map(|(heading, _)| heading)));
    let words = kinds().into_iter().map(|(_, kind)| kind.word);
    let materials = tippe::material::MATERIALS.iter().map(|material| material.name);
    let names: Vec<&str> = all.chain(words).chain(materials).chain(gallery().iter().map(|(name, _)| *name)).collect();
    let help = match did_you_mean(topic, names.iter().copied()) {
        help if help.is_empty() => "`tippe explain` shows all topics".to_owned(),
        help => help,
    };
    Err(Stop::Usage(format!("there is nothing on `{topic}`. help: {help}")))
}

/// The one table of variables of a scene: what other programs may give it, read from it and integrate for it.
fn variables(args: &Args) -> Result<(), Stop> {
    let Some(name) = &args.name else {
        return Err(Stop::Usage("whose variables? help: `tippe explain variables SCENE`".to_owned()));
    };
    let source = Source::find(name)?;
    let scene = Scene::parse(&source.file, &source.text, &[])?;
    let model = Model::compile_for(&scene, scene.run.clock)?;
    let all = Variables::of(&scene, &model);
    if args.json {
        return print_json(&all.all().collect::<Vec<_>>());
    }
    let value = |number: Option<f64>| number.map_or_else(String::new, |number| format!("{number}"));
    let rows: Vec<Vec<String>> = all
        .all()
        .map(|own| {
            let limits = own.limits.map_or_else(String::new, |[low, high]| format!("{low} to {high}"));
            vec![
                own.name.clone(),
                own.role.name().to_owned(),
                own.unit.clone(),
                value(own.start),
                value(own.nominal),
                limits,
            ]
        })
        .collect();
    let head =
        [("name", false), ("role", false), ("unit", false), ("start", true), ("nominal", true), ("limits", false)];
    print(table(&head, &rows).trim_end())?;
    if let Some(reason) = no_exchange(&model) {
        say(&format!("note: no states for an integrator from outside: {reason}"));
    }
    Ok(())
}

/// What the tables of the format say of a word: of `joints`, `forces`, ... a list of the kinds, of a kind its keys.
fn kinds_of(word: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let listed: Vec<_> = kinds().into_iter().filter(|(table, _)| format!("{table}s") == word).collect();
    if !listed.is_empty() {
        let lines = listed.iter().map(|(_, kind)| format!("  {:<19}{}\n", kind.word, kind.about));
        texts.push(format!("Kinds; `tippe explain KIND` lists the keys of one.\n\n{}", lines.collect::<String>()));
    }
    for (table, kind) in kinds().into_iter().filter(|(_, kind)| kind.word == word) {
        let mut text = format!("## {} ({table})\n{}.\n\n", kind.word, kind.about);
        for key in kind.keys() {
            let required = if key.required { " (required)" } else { "" };
            text += &format!("  {:<19}{}{required}\n", key.name, key.description());
        }
        texts.push(text);
    }
    texts
}

/// Masses, centres of mass and moments of inertia of the free bodies.
fn masses(model: &Model) -> String {
    let free = || model.bodies.iter().filter(|body| body.drive == Drive::Free);
    if free().next().is_none() {
        return String::new();
    }
    let mut text = String::from(
        "\n## Masses\n\nCentre of mass from the body's origin, moments of inertia about it, along the body's axes.\n\n\
         | body | mass [kg] | centre of mass [m] | xx, yy, zz [kg m^2] | xy, xz, yz [kg m^2] |\n|---|---|---|---|---|\n",
    );
    for body in free().take(MOST_BODIES) {
        let (I, c) = (&body.I_c, body.p_bc);
        let largest = I.x_axis.x.max(I.y_axis.y).max(I.z_axis.z);
        let list = |values: [f64; 3], scale: f64| {
            // what is nothing but rounding is none
            values.map(|x| if x.abs() <= 1e-12 * scale { "0".to_owned() } else { format!("{x:.6e}") }).join(", ")
        };
        text += &format!(
            "| {} | {:.6e} | {} | {} | {} |\n",
            body.name,
            body.mass,
            list([c.x, c.y, c.z], body.radius),
            list([I.x_axis.x, I.y_axis.y, I.z_axis.z], largest),
            list([I.y_axis.x, I.z_axis.x, I.z_axis.y], largest),
        );
    }
    let more = free().count().saturating_sub(MOST_BODIES);
    if more > 0 {
        text += &format!("\nand {more} more\n");
    }
    text
}

/// The topic of this name, or every entry with this heading; of a signal such as `bed.centre.x` the entry `NAME.centre`.
fn find(word: &str) -> Vec<&'static str> {
    if let Some((_, body)) = TOPICS.iter().find(|(name, _)| *name == word) {
        return vec![body];
    }
    TOPICS
        .iter()
        .flat_map(|(_, body)| entries(body))
        .filter(|(heading, _)| heading.split(", ").any(|name| is_named(name, word)))
        .map(|(_, text)| text)
        .collect()
}

/// Whether a word, in lower case, asks for the entry of this name: by the name, or for `NAME.what` by `what`, of anything or alone.
fn is_named(name: &str, word: &str) -> bool {
    let signal = |what: &str| word.split('.').take(2).any(|part| part == what);
    name == word || name.split_once('.').is_some_and(|(_, what)| signal(what))
}

/// Headings `## name` of a text, each with what stands under it.
fn entries(body: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    body.match_indices("\n## ").map(|(start, _)| {
        let text = &body[start + 1..];
        let end = text[3..].find("\n## ").map_or(text.len(), |end| end + 3);
        let heading = text.lines().next().unwrap_or("").trim_start_matches("## ");
        (heading, text[..end].trim_end())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tippe::model::{GrainMeasure, SinkMeasure};
    use tippe::scene::{FrictionLaw, Integrator, NormalLaw};

    /// Every key of the tables of grains is in what is told of them.
    #[test]
    fn every_key_of_grains_is_explained() {
        let schema: serde_json::Value =
            serde_json::from_str(include_str!("../../../schema/scene.schema.json")).expect("a schema");
        let text = [find("grains"), find("granular")].concat().concat();
        let words: Vec<&str> = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
        for table in ["grains/items", "sink/items", "granular", "body/items/properties/servo"] {
            let keys = schema.pointer(&format!("/properties/{table}/properties")).and_then(|keys| keys.as_object());
            for key in keys.expect("a table").keys().filter(|key| *key != "repeat") {
                assert!(words.contains(&key.as_str()), "`{key}` of {table} is not explained");
            }
        }
    }

    /// Every account of the ledger is in what is told of it.
    #[test]
    fn every_account_of_the_ledger_is_explained() {
        let text = find("energy").concat();
        for account in tippe::run::Account::ALL {
            let signal = format!("`energy.{}`", account.name());
            assert!(text.contains(&signal), "{signal} is not explained");
        }
    }

    /// Every material has an entry with its source, and a signal or law of the same name has its own too.
    #[test]
    fn every_material_is_explained() {
        let all = materials::all();
        for m in &tippe::material::MATERIALS {
            assert!(all.contains(m.name), "{} is in no table", m.name);
            assert!(materials::one(m.name).is_some_and(|text| text.contains(m.source)), "{} has no source", m.name);
        }
        assert!(materials::one("teflon").is_some_and(|text| text.contains("steel on ptfe")));
        assert!(materials::one("nonsense").is_none());
    }

    /// Every word a scene may use for a law or an integrator is explained, and every exit code.
    #[test]
    fn every_word_is_explained() {
        for word in NormalLaw::NAMES.iter().chain(FrictionLaw::NAMES).chain(Integrator::NAMES) {
            assert!(!find(word).is_empty(), "{word} is not explained");
        }
        for word in tippe::EventKind::ALL.iter().map(|kind| kind.name()) {
            assert!(!find(word).is_empty(), "{word} is not explained");
        }
        for word in ["0", "1", "2", "3", "4", "5", "tolerance", "repeat"] {
            assert!(!find(word).is_empty(), "{word} is not explained");
        }
        let schema = tippe::scene::schema();
        let solids = schema["properties"]["solid"]["items"]["properties"]["kind"]["enum"].as_array();
        let shapes = schema["$defs"]["shape"]["anyOf"].as_array().into_iter().flatten();
        let shapes = shapes.map(|shape| &shape["properties"]["kind"]["const"]);
        let kinds: Vec<&str> = solids.into_iter().flatten().chain(shapes).filter_map(|kind| kind.as_str()).collect();
        assert!(kinds.contains(&"thread") && kinds.contains(&"height_grid"), "{kinds:?}");
        for word in kinds {
            assert!(!find(word).is_empty(), "{word} is not explained");
        }
        for (_, kind) in super::kinds() {
            let said = kinds_of(kind.word).concat();
            assert!(kind.keys().all(|key| said.contains(key.name)), "{} is not explained", kind.word);
        }
        assert!(kinds_of("joints")[0].contains("revolute"));
        assert!(find("nonsense").is_empty() && kinds_of("nonsense").is_empty());
        assert!(find("bed.nonsense").is_empty());
        for word in ["grains", "emitter", "sink", "clump", "granular", "servo"] {
            assert!(!find(word).is_empty(), "{word} is not explained");
        }
        let of_sets = GrainMeasure::ALL.map(|measure| measure.name_and_unit().0);
        let of_sinks = SinkMeasure::ALL.map(|(_, name, _)| name.to_owned());
        for signal in of_sets.into_iter().chain(of_sinks) {
            for word in [signal.clone(), format!("bed.{signal}"), format!("name.{signal}")] {
                assert!(!find(&word).is_empty(), "{word} is not explained");
            }
        }
        assert!(find("bed.slope")[0].contains("Not a number"));
        assert!(!find("plate.grain_force.x").is_empty());
        for (name, body) in TOPICS {
            assert!(body.starts_with("# "), "{name} has no title");
        }
    }
}
