//! Doors know the library, the library knows geometry and numerics, and these know nobody.

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

fn nobody_says(crates: &[&str], words: &[&str]) {
    for (path, text) in sources(crates) {
        for (k, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            for word in words {
                assert!(!line.contains(word), "{path}:{} knows `{word}`: {line}", k + 1);
            }
        }
    }
}

#[test]
fn geometry_and_numerics_know_nobody() {
    nobody_says(&["geometry"], &["tippe_numerics", "tippe::"]);
    nobody_says(&["numerics"], &["tippe_geometry", "tippe::", "glamx"]);
    for name in ["geometry", "numerics"] {
        let manifest = fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap();
        let own = format!("tippe-{name}");
        for line in manifest.lines().filter(|line| line.starts_with("tippe")) {
            assert!(line.starts_with(&own), "{name} depends on {line}");
        }
    }
}

#[test]
fn the_library_knows_no_door() {
    nobody_says(&["tippe"], &["tippe_cli", "clap::", "indicatif"]);
}

#[test]
fn the_command_line_has_no_physics() {
    nobody_says(&["cli"], &["tippe_geometry", "tippe_numerics"]);
}

/// Inside the library: contact laws know neither scenes nor clocks (but a user's law comes from a scene), the clock knows
/// no file format.
#[test]
fn contact_knows_no_clock_and_the_clock_no_file() {
    let lines = |part: &str, words: &[&str]| {
        for (path, text) in sources(&["tippe"]).into_iter().filter(|(path, _)| path.contains(part)) {
            for word in words {
                assert!(!text.contains(word), "{path} knows {word}");
            }
        }
    };
    lines("src/contact/", &["crate::precise", "crate::run"]);
    lines("src/precise/", &["crate::run", "toml::", "parquet"]);
}

/// Grains are a subsystem like any other: the clocks know the slot, not what is in it.
#[test]
fn clocks_know_no_subsystem_by_name() {
    nobody_says(&["precise", "realtime"], &["GrainRecord", "GrainCoupling", "ModelGrains", "model.grains"]);
}
