//! Where the shared library of this crate is: it is what a unit holds, and what C programs link.

use std::path::{Path, PathBuf};

/// Environment variable that names it.
pub const VARIABLE: &str = "TIPPE_LIBRARY";

/// The shared library that was built with this program.
pub fn library() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os(VARIABLE) {
        let path = PathBuf::from(path);
        return match path.is_file() {
            true => Ok(path),
            false => Err(format!("{VARIABLE} names {}, which is no file", path.display())),
        };
    }
    let name = format!("{}tippe_doors{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let program = std::env::current_exe().unwrap_or_default();
    let beside = program.parent().unwrap_or(Path::new("")).to_owned();
    // a build first: beside a program that was installed there is nothing newer
    let folders = [
        beside.join("deps"),
        beside.clone(),
        beside.join("../lib/tippe"),
        beside.join("../lib"),
        PathBuf::from(env!("TIPPE_DOORS_FOLDER")),
    ];
    let found = folders.iter().map(|folder| folder.join(&name)).find(|path| path.is_file());
    found.ok_or_else(|| {
        let tried: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        format!(
            "the library {name} was not found in {}. help: it comes with the program's archive; put it beside the program, name it in \
             {VARIABLE}, or build it: cargo build --release -p tippe-doors",
            tried.join(", ")
        )
    })
}
