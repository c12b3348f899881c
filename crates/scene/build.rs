//! Embeds the gallery: every `scenes/**/*.toml` of the workspace, by file stem.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    let manifest = std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo");
    let out = std::env::var("OUT_DIR").expect("set by cargo");
    let folder = Path::new(&manifest).join("../../scenes");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut scenes = BTreeMap::new();
    collect(&folder, &mut scenes);
    let mut code = String::from("const SCENES: &[(&str, &str)] = &[\n");
    for (name, path) in &scenes {
        println!("cargo::rerun-if-changed={}", path.display());
        writeln!(code, "    ({name:?}, include_str!({:?})),", path.display().to_string()).expect("a string grows");
    }
    code.push_str("];\n");
    std::fs::write(Path::new(&out).join("gallery.rs"), code).expect("OUT_DIR can be written");
}

/// Scene files below `folder`; two of the same name stop the build.
fn collect(folder: &Path, scenes: &mut BTreeMap<String, PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            println!("cargo::rerun-if-changed={}", path.display());
            collect(&path, scenes);
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            if let Some(other) = scenes.insert(name, path.clone()) {
                panic!("two scenes have one name: {} and {}", other.display(), path.display());
            }
        }
    }
}
