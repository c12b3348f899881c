//! What the documents say about the code is true.

use crate::layering::{root, sources};
use std::fs;

#[test]
fn paths_named_in_the_architecture_exist() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let named: Vec<&str> =
        text.split('`').skip(1).step_by(2).filter(|word| word.contains('/') && !word.contains(' ')).collect();
    assert!(named.len() > 30, "only {} paths found", named.len());
    let missing: Vec<&&str> = named.iter().filter(|path| !root().join(path).exists()).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names {missing:?}");
}

#[test]
fn links_between_documents_lead_somewhere() {
    let pages =
        ["README.md", "ARCHITECTURE.md", "CONVENTIONS.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/RESULTS.md"];
    for document in pages {
        let path = root().join(document);
        let text = fs::read_to_string(&path).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let there = link.starts_with("https://") || path.parent().unwrap().join(link).exists();
            assert!(there, "{document}: {link}");
        }
    }
}

#[test]
fn documents_are_short_enough_to_read() {
    for (document, most) in [("ARCHITECTURE.md", 210), ("CONVENTIONS.md", 150), ("CHANGELOG.md", 60)] {
        let lines = fs::read_to_string(root().join(document)).unwrap().lines().count();
        assert!(lines <= most, "{document} has {lines} lines");
    }
}

#[test]
fn the_example_of_the_readme_is_the_one_that_is_compiled() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let example = fs::read_to_string(root().join("crates/tippe/examples/bounce.rs")).unwrap();
    let code = readme.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert!(example.ends_with(code), "README.md and crates/tippe/examples/bounce.rs differ");
}

#[test]
fn the_scene_of_the_readme_meets_its_expectation() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let text = readme.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    for (verdict, pass) in crate::gallery::verdicts("readme.toml", text) {
        assert!(pass, "{verdict}");
    }
}

/// True if the module of this file is declared `pub mod`.
fn is_public(path: &str) -> bool {
    let path = root().join(path);
    let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
    let parent = path.parent().unwrap();
    let declared =
        |file: &str| fs::read_to_string(parent.join(file)).is_ok_and(|text| text.contains(&format!("pub mod {stem};")));
    ["lib", "mod"].contains(&stem.as_str()) || declared("mod.rs") || declared("lib.rs")
}

/// Public numbers say their unit: `/// Mass [kg].` above `pub mass: f64`.
#[test]
fn public_numbers_are_documented_with_their_unit() {
    let mut silent = Vec::new();
    for (path, text) in sources(&["geometry", "numerics", "tippe"]) {
        if path.contains("/numerics/") || !is_public(&path) {
            continue; // mathematics has no units
        }
        let mut comment = String::new();
        for (k, line) in text.lines().enumerate() {
            let line = line.trim();
            if let Some(words) = line.strip_prefix("///") {
                comment.push_str(words);
            } else if !line.starts_with("#[") {
                let number = line.starts_with("pub ")
                    && (line.ends_with(": f64,") || line.ends_with(": Vec3,") || line.ends_with(": Option<f64>,"));
                let see = comment.contains("See `");
                // directions have no unit but length one
                if number && !comment.contains('[') && !comment.to_lowercase().contains("unit") && !see {
                    silent.push(format!("{path}:{}: {line}", k + 1));
                }
                comment.clear();
            }
        }
    }
    assert!(silent.is_empty(), "no unit:\n{}", silent.join("\n"));
}
