//! Who may depend on whom: one table, checked against the manifests and the sources.

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Path from the root and text of every source file of these crates.
pub fn sources(crates: &[&str]) -> Vec<(String, String)> {
    fn visit(folder: &Path, out: &mut Vec<(String, String)>) {
        let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                visit(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path.strip_prefix(root()).unwrap().display().to_string();
                out.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut out = Vec::new();
    for name in crates {
        visit(&root().join("crates").join(name).join("src"), &mut out);
    }
    out
}

/// Every crate and those of ours it may depend on. Clocks are siblings; doors know the front, and the front nobody above.
pub const ALLOWED: &[(&str, &[&str])] = &[
    ("geometry", &[]),
    ("numerics", &[]),
    ("granular", &["geometry"]),
    ("flexible", &["geometry"]),
    ("soil", &["geometry", "numerics"]),
    ("format", &["geometry"]),
    ("units", &["format"]),
    ("parts", &["format", "geometry", "numerics", "soil", "units"]),
    ("scene", &["format", "parts", "geometry", "granular", "soil"]),
    ("mechanics", &["flexible", "format", "parts", "scene", "geometry", "numerics", "granular", "soil", "units"]),
    ("precise", &["flexible", "format", "parts", "scene", "mechanics", "geometry", "numerics", "granular", "soil"]),
    ("realtime", &["flexible", "format", "parts", "scene", "mechanics", "geometry", "numerics", "granular", "soil"]),
    (
        "tippe",
        &[
            "flexible",
            "format",
            "parts",
            "scene",
            "mechanics",
            "precise",
            "realtime",
            "geometry",
            "numerics",
            "granular",
            "soil",
        ],
    ),
    ("doors", &["tippe", "units"]),
    ("viewer", &["tippe", "geometry"]),
    ("cli", &["tippe", "doors", "viewer", "units"]),
    ("python", &["tippe", "viewer", "cli"]),
];

/// Their names.
pub const CRATES: &[&str] = &[
    "geometry",
    "numerics",
    "granular",
    "flexible",
    "soil",
    "format",
    "units",
    "parts",
    "scene",
    "mechanics",
    "precise",
    "realtime",
    "tippe",
    "doors",
    "viewer",
    "cli",
    "python",
];

/// Package of a crate.
fn package(name: &str) -> String {
    if name == "tippe" { name.to_owned() } else { format!("tippe-{name}") }
}

#[test]
fn all_crates_are_in_the_table() {
    let listed: Vec<&str> = ALLOWED.iter().map(|(name, _)| *name).collect();
    assert_eq!(listed, CRATES);
    let mut found: Vec<String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("Cargo.toml").exists())
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    let mut listed = listed;
    found.sort();
    listed.sort();
    assert_eq!(found, listed, "ALLOWED in layering.rs");
}

#[test]
fn manifests_follow_the_table() {
    let mut wrong = Vec::new();
    for (name, allowed) in ALLOWED {
        let manifest = fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap();
        let section = manifest.split("[dependencies]").nth(1).unwrap_or("");
        let section = section.split("\n[").next().unwrap_or("");
        let names = section.lines().filter_map(|line| line.split(['=', '.', ' ']).next());
        for dependency in names.filter(|word| *word == "tippe" || word.starts_with("tippe-")) {
            if !allowed.iter().any(|other| package(other) == dependency) {
                wrong.push(format!("crates/{name} depends on {dependency}"));
            }
        }
    }
    assert!(wrong.is_empty(), "against ALLOWED in layering.rs:\n{}", wrong.join("\n"));
}

#[test]
fn sources_follow_the_table() {
    let mut wrong = Vec::new();
    for (name, allowed) in ALLOWED {
        for (path, text) in sources(&[name]) {
            let code = crate::house::code(&text);
            for other in CRATES.iter().filter(|other| *other != name && !allowed.contains(other)) {
                let word = format!("{}::", package(other).replace('-', "_"));
                let names = code
                    .match_indices(&word)
                    .any(|(k, _)| !code[..k].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'));
                if names {
                    wrong.push(format!("{path} names {}", package(other)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "against ALLOWED in layering.rs:\n{}", wrong.join("\n"));
}

fn nobody_says(crates: &[&str], words: &[&str]) {
    for (path, text) in sources(crates) {
        for (k, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            for word in words {
                assert!(!line.contains(word), "{path}:{} knows `{word}`: {line}", k + 1);
            }
        }
    }
}

/// Mathematics has no 3-vectors, the library no terminal, clocks and laws no file format.
#[test]
fn each_floor_keeps_to_its_own() {
    nobody_says(&["numerics"], &["glamx"]);
    nobody_says(&["tippe"], &["clap::", "indicatif"]);
    nobody_says(&["parts", "mechanics", "precise", "realtime"], &["toml::", "parquet"]);
}

/// Grains are a subsystem like any other: the clocks know the slot, not what is in it.
#[test]
fn clocks_know_no_subsystem_by_name() {
    nobody_says(&["precise", "realtime"], &["GrainRecord", "GrainCoupling", "ModelGrains", "model.grains"]);
}
