//! `tippe list`: the scenes that come with the program.

use crate::table::{number, table};
use crate::{Stop, print, print_json, say};
use serde::Serialize;
use tippe::scene::{Scene, gallery};

/// Parameters shown for each scene; `--json` has all.
const MAX_PARAMS: usize = 4;

/// Arguments of `tippe list`.
#[derive(clap::Args)]
pub struct Args {
    /// Only scenes with this word in name, title or tags
    word: Option<String>,
    /// Print one JSON object on stdout
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Entry {
    name: String,
    title: String,
    cost: String,
    tags: Vec<String>,
    source: String,
    params: Vec<(String, f64)>,
}

#[derive(Serialize)]
struct List {
    scenes: Vec<Entry>,
}

/// Runs the command.
pub fn list(args: &Args) -> Result<(), Stop> {
    let mut scenes = Vec::new();
    for (name, text) in gallery() {
        let scene = match Scene::parse(&format!("{name}.toml"), text, &[]) {
            Ok(scene) => scene,
            Err(errors) => {
                say(&format!("warning: {errors}"));
                continue;
            }
        };
        let word = args.word.as_deref().unwrap_or("").to_lowercase();
        let texts = [*name, &scene.title].into_iter().chain(scene.tags.iter().map(String::as_str));
        if !texts.map(str::to_lowercase).any(|text| text.contains(&word)) {
            continue;
        }
        scenes.push(Entry {
            name: (*name).to_owned(),
            title: scene.title,
            cost: scene.cost.unwrap_or_default(),
            tags: scene.tags,
            source: scene.source.unwrap_or_default(),
            params: scene.params.into_iter().map(|param| (param.name, param.value)).collect(),
        });
    }
    if args.json {
        return print_json(&List { scenes });
    }
    let rows: Vec<Vec<String>> = scenes
        .into_iter()
        .map(|entry| {
            let some = entry.params.iter().take(MAX_PARAMS);
            let mut params: Vec<String> = some.map(|(name, value)| format!("{name}={}", number(*value))).collect();
            if entry.params.len() > MAX_PARAMS {
                params.push("...".to_owned());
            }
            vec![entry.name, entry.title, entry.cost, params.join(" ")]
        })
        .collect();
    print(&table(&[("scene", false), ("", false), ("cost", false), ("--set", false)], &rows))
}
