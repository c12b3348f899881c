//! Builds the page with Node and embeds it. Without Node, or without its packages, the crate still builds: it then
//! knows why there is no page, and says so when asked for one.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

/// Everything the page is made of, relative to `page/`.
const SOURCES: [&str; 6] = ["package.json", "package-lock.json", "build.mjs", "index.html", "style.css", "src"];
/// What the bundler leaves.
const BUILT: [&str; 4] = ["index.html", "page.js", "page.css", "standalone.html"];

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let page = out.join("page");
    for source in SOURCES {
        println!("cargo::rerun-if-changed=page/{source}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    let embedded = match build(&page) {
        Ok(()) => {
            let text = |name: &str| format!("include_str!({:?})", page.join("dist").join(name).display().to_string());
            let [index, script, style, standalone] = BUILT.map(text);
            format!("Ok(Page {{ index: {index}, script: {script}, style: {style}, standalone: {standalone} }})")
        }
        Err(reason) => {
            println!("cargo::warning=the viewer's page was not built: {reason}");
            // A file that is never there: the script runs again with the next build, when Node may have come.
            println!("cargo::rerun-if-changed=page/.retry");
            format!("Err({reason:?})")
        }
    };
    let code = format!("const EMBEDDED: Result<Page, &str> = {embedded};\n");
    if let Err(error) = fs::write(out.join("embedded.rs"), code) {
        println!("cargo::error=cannot write to {}: {error}", out.display());
    }
}

/// Bundles the page in `page`, with its packages beside it; these are fetched again only when the lock file changes.
fn build(page: &Path) -> Result<(), String> {
    let wrong = |what: &str, error: io::Error| format!("{what}: {error}");
    fs::create_dir_all(page).map_err(|error| wrong("cannot create its folder", error))?;
    let _ = fs::remove_dir_all(page.join("src"));
    for source in SOURCES {
        copy(&Path::new("page").join(source), &page.join(source)).map_err(|error| wrong(source, error))?;
    }
    let lock = fs::read(page.join("package-lock.json")).map_err(|error| wrong("package-lock.json", error))?;
    let fetched = page.join("node_modules/.fetched");
    if fs::read(&fetched).ok().as_ref() != Some(&lock) {
        npm(page, &["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=1"])?;
        fs::write(&fetched, &lock).map_err(|error| wrong("node_modules", error))?;
    }
    npm(page, &["run", "--silent", "build"])?;
    match BUILT.iter().find(|name| !page.join("dist").join(name).is_file()) {
        Some(name) => Err(format!("the bundler left no {name}")),
        None => Ok(()),
    }
}

fn npm(page: &Path, arguments: &[&str]) -> Result<(), String> {
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let run = Command::new(program).args(arguments).current_dir(page).stdin(Stdio::null()).output();
    let output = run.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "Node.js is not installed (there is no npm)".to_owned(),
        _ => format!("npm cannot be started: {error}"),
    })?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(6).collect();
    Err(format!("`npm {}` failed: {}", arguments.join(" "), lines.join(" | ")))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    fs::copy(from, to).map(|_| ())
}
