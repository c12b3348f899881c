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
    for (document, most) in [("ARCHITECTURE.md", 250), ("CONVENTIONS.md", 150), ("CHANGELOG.md", 60)] {
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

/// Path from the root and text of every file below a folder with one of these extensions.
fn texts(folder: &str, extensions: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = entry.file_name().unwrap().to_string_lossy().into_owned();
            if entry.is_dir() && !["node_modules", "target", "dist"].contains(&name.as_str()) {
                folders.push(entry);
            } else if extensions.iter().any(|e| name.ends_with(&format!(".{e}"))) {
                let path = entry.strip_prefix(root()).unwrap().display().to_string();
                found.push((path, fs::read_to_string(&entry).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// Files between back quotes in the book exist.
#[test]
fn paths_named_in_the_book_exist() {
    let mut missing = Vec::new();
    for (page, text) in texts("docs", &["md"]).into_iter().chain(texts("bench", &["md"])) {
        for word in text.split('`').skip(1).step_by(2) {
            let ours = ["crates/", "scenes/", "schema/"].iter().any(|start| word.starts_with(start));
            if ours && !word.contains([' ', '*', '\n']) && !root().join(word).exists() {
                missing.push(format!("{page}: {word}"));
            }
        }
    }
    assert!(missing.is_empty(), "no such file:\n{}", missing.join("\n"));
}

/// `docs/theory/PAGE.md, eq. 5 and 6` in a comment: the page has equations (5) and (6).
#[test]
fn equations_cited_in_the_code_exist() {
    let mut wrong = Vec::new();
    let mut cited = 0;
    for (path, text) in texts("crates", &["rs"]) {
        for rest in text.split("docs/theory/").skip(1) {
            let Some((page, rest)) = rest.split_once(".md") else { continue };
            if !page.chars().all(|c| c.is_ascii_lowercase() || c == '-') {
                continue;
            }
            let Ok(theory) = fs::read_to_string(root().join(format!("docs/theory/{page}.md"))) else {
                wrong.push(format!("{path}: there is no page {page}"));
                continue;
            };
            let sentence = rest.split([')', '\n']).next().unwrap_or("");
            let Some((_, numbers)) = sentence.split_once("eq") else { continue };
            for number in numbers.split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty()) {
                cited += 1;
                if !theory.contains(&format!("({number})")) {
                    wrong.push(format!("{path}: {page} has no equation ({number})"));
                }
            }
        }
    }
    assert!(cited >= 6, "only {cited} equations are cited");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Theory pages are read in a terminal and in reviews: no walls.
#[test]
fn lines_of_the_theory_are_short() {
    for (page, text) in texts("docs/theory", &["md"]) {
        for (k, line) in text.lines().enumerate() {
            let length = line.chars().count();
            assert!(length <= 160, "{page}:{}: {length} characters", k + 1);
        }
        let longest = text.split("\n\n").map(|block| {
            let prose = block.lines().filter(|line| !line.starts_with(['|', '-', ' ', '#']));
            prose.count()
        });
        let longest = longest.max().unwrap_or(0);
        assert!(longest <= 9, "{page} has a paragraph of {longest} lines");
    }
}

/// Comments, scenes and pages cite what a reader can find: papers, and files of this repository.
#[test]
fn nothing_outside_of_the_repository_is_cited() {
    let outside = [
        "machine-modules",
        "modelica-contact",
        "peers-realtime",
        "style-anchors",
        "seed 00",
        "Seed 00",
        "source = \"truth ",
    ];
    let mut found = Vec::new();
    let folders = [("crates", &["rs", "md", "ts", "py", "json"][..]), ("docs", &["md"]), ("scenes", &["toml"])];
    for (path, text) in folders.into_iter().flat_map(|(folder, extensions)| texts(folder, extensions)) {
        if path.ends_with("suite/documents.rs") {
            continue;
        }
        for word in outside.iter().filter(|word| text.contains(**word)) {
            found.push(format!("{path}: {word}"));
        }
    }
    assert!(found.is_empty(), "not in this repository:\n{}", found.join("\n"));
}

/// What the page shows of an element is what stands in its file: the file is compiled, and its scene is checked.
#[test]
fn the_page_on_elements_shows_an_element_that_works() {
    let page = fs::read_to_string(root().join("docs/howto/add-an-element.md")).unwrap();
    let folder = root().join("crates/parts/src/element");
    let files = ["maxwell.rs", "mod.rs"].map(|file| fs::read_to_string(folder.join(file)).unwrap());
    let blocks: Vec<&str> = page.split("```rust\n").skip(1).filter_map(|rest| rest.split("\n```").next()).collect();
    assert!(blocks.len() > 5, "{} blocks", blocks.len());
    for part in blocks.iter().flat_map(|block| block.split("\n\n")) {
        assert!(files.iter().any(|file| file.contains(part)), "not in the file of the element:\n{part}");
    }
    let scene = fs::read_to_string(root().join("scenes/maxwell.toml")).unwrap();
    let shown = page.split("```text\n").nth(1).and_then(|rest| rest.split("\n```").next()).unwrap();
    assert!(shown.split("\n\n").all(|part| scene.contains(part)), "not in the scene:\n{shown}");
}
