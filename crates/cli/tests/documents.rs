//! The book and the README: every `sh` and `toml` block runs, the table of contents has every page, links lead somewhere. Blocks of Python
//! run in `crates/python/tests/test_documents.py`, those of Rust are compiled as examples.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the checkout")
}

/// All pages below a folder, in order of their names.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("docs").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Pages with text of people: the README and the book, without what `tippe gallery` writes.
fn written() -> Vec<PathBuf> {
    let book = pages(&root().join("docs")).into_iter().filter(|page| !page.starts_with(root().join("docs/gallery")));
    [root().join("README.md")].into_iter().chain(book).collect()
}

/// Language, line and text of every block.
fn blocks(text: &str) -> Vec<(String, usize, String)> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(language) = line.strip_prefix("```") else { continue };
        let inside = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
        blocks.push((language.to_owned(), at + 1, inside.map(|line| format!("{line}\n")).collect()));
    }
    blocks
}

/// A folder to run blocks in: `tippe` and `cargo run --` are the program under test, what installs or tests Tippe itself does nothing
/// (that is what the test command and the release script run), and a viewer is closed once it is there. Files that pages
/// take for granted lie beside.
fn workplace() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let bin = dir.path().join("bin");
    fs::create_dir(&bin).expect("a folder");
    let tippe = env!("CARGO_BIN_EXE_tippe");
    let shim = format!(
        r#"#!/bin/sh
serves=no
case "$1" in view) serves=yes ;; esac
for word in "$@"; do
    case "$word" in --view) serves=yes ;; esac
done
for word in "$@"; do
    case "$word" in --html) serves=no ;; esac
done
[ $serves = no ] && exec {tippe} "$@"
log=$(mktemp)
{tippe} "$@" --no-open 2> "$log" &
child=$!
for i in $(seq 600); do
    grep -q '^viewer: ' "$log" && kill -INT $child && wait $child
    kill -0 $child 2> /dev/null || break
    sleep 0.1
done
cat "$log" >&2
grep -q '^viewer: ' "$log"
"#
    );
    let shims = [
        ("tippe", shim.as_str()),
        (
            "cargo",
            "#!/bin/sh\n[ \"$1\" = run ] || exit 0\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec tippe \"$@\"\n",
        ),
        ("pip", "#!/bin/sh\n"),
        ("../test", "#!/bin/sh\n"),
        ("../release", "#!/bin/sh\n"),
    ];
    for (name, text) in shims {
        let path = bin.join(name);
        fs::write(&path, text).expect("a shim");
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a shim");
    }
    let scenes = root().join("scenes");
    fs::create_dir(dir.path().join("scenes")).expect("a folder");
    for entry in fs::read_dir(&scenes).expect("scenes").flatten().filter(|entry| entry.path().is_file()) {
        fs::copy(entry.path(), dir.path().join("scenes").join(entry.file_name())).expect("a copy");
    }
    fs::copy(scenes.join("geneva.toml"), dir.path().join("geneva.toml")).expect("a copy");
    fs::copy(scenes.join("bouncing_ball.toml"), dir.path().join("scene.toml")).expect("a copy");
    run(dir.path(), "tippe convert geneva.toml part.stl --solid wheel", "part.stl").expect("a part");
    let dxf = "0\nSECTION\n2\nENTITIES\n0\nLWPOLYLINE\n90\n4\n70\n1\n10\n0\n20\n0\n10\n0.1\n20\n0\n10\n0.1\n20\n0.1\n10\n0\n20\n0.1\n0\nENDSEC\n0\nEOF\n";
    fs::write(dir.path().join("plate.dxf"), format!("0\nSECTION\n2\nHEADER\n9\n$INSUNITS\n70\n6\n0\nENDSEC\n{dxf}"))
        .expect("a file");
    dir
}

/// Runs a script in a folder; every line must succeed.
fn run(folder: &Path, script: &str, place: &str) -> Result<(), String> {
    let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let done =
        Command::new("sh").args(["-e", "-c", script]).current_dir(folder).env("PATH", path).output().expect("sh");
    if done.status.success() {
        return Ok(());
    }
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    Err(format!("{place}: {script}\n{out}{err}"))
}

/// What to do with a block of TOML: write or extend the file its first line names and check it; check a whole scene; read a part of one.
fn toml(folder: &Path, text: &str, place: &str) -> Result<(), String> {
    let first = text.lines().next().unwrap_or("");
    let name = first.strip_prefix("# ").map(|name| name.trim_end_matches(", at the end"));
    match name.filter(|name| name.ends_with(".toml") && !name.contains(' ')) {
        Some(name) if first.ends_with(", at the end") => {
            let before =
                fs::read_to_string(folder.join(name)).unwrap_or_else(|_| panic!("{place}: there is no {name} yet"));
            fs::write(folder.join(name), before + "\n" + text).expect("a file");
            run(folder, &format!("tippe check {name}"), place)
        }
        Some(name) => {
            fs::write(folder.join(name), text).expect("a file");
            run(folder, &format!("tippe check {name}"), place)
        }
        None if text.contains("format = 1") => {
            fs::write(folder.join("block.toml"), text).expect("a file");
            run(folder, "tippe check block.toml", place)
        }
        None => {
            let rest = "[world]\ngravity = [0, 0, -9.81]\n[[body]]\nname = \"any\"\nmaterial = \"steel\"\nshape = { kind = \"sphere\", radius = 1 }\nposition = [0, 0, -5]\n";
            fs::write(folder.join("part.toml"), format!("format = 1\n{text}\n{rest}")).expect("a file");
            run(folder, "tippe check --no-run part.toml", place)
        }
    }
}

#[test]
#[cfg(unix)]
fn blocks_of_the_documents_run() {
    let one = |page: &PathBuf| -> Vec<String> {
        let text = fs::read_to_string(page).expect("a page");
        let blocks = blocks(&text);
        let name = page.strip_prefix(root()).unwrap_or(page).display().to_string();
        let known = ["sh", "toml", "python", "rust", "json", "text", ""];
        for (language, line, _) in &blocks {
            assert!(known.contains(&language.as_str()), "{name}:{line}: nobody runs blocks of `{language}`");
        }
        if !blocks.iter().any(|(language, ..)| ["sh", "toml"].contains(&language.as_str())) {
            return Vec::new();
        }
        let folder = workplace();
        let ran = blocks.iter().filter_map(|(language, line, text)| {
            let place = format!("{name}:{line}");
            match language.as_str() {
                "toml" => toml(folder.path(), text, &place).err(),
                "sh" => run(folder.path(), text, &place).err(),
                _ => None,
            }
        });
        ran.collect()
    };
    let pages = written();
    assert!(pages.len() > 15, "{pages:?}");
    let troubles: Vec<String> = pages.iter().flat_map(one).collect();
    assert!(troubles.is_empty(), "{}", troubles.join("\n"));
}

/// Every page of the book is in its table of contents or, for a scene, in the index of the gallery; links lead somewhere.
#[test]
fn pages_can_be_found() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).expect("a table of contents");
    for page in pages(&docs) {
        let name = page.strip_prefix(&docs).expect("below docs").display().to_string();
        let text = fs::read_to_string(&page).expect("a page");
        let scene = name.starts_with("gallery/") && name != "gallery/README.md";
        assert!(scene || name == "SUMMARY.md" || summary.contains(&format!("({name})")), "SUMMARY.md has no {name}");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = link.split('#').next().unwrap_or("");
            let there = path.is_empty() || page.parent().expect("a folder").join(path).exists();
            assert!(link.starts_with("https://") || there, "{name}: {link}");
        }
    }
    for (name, _) in tippe::scene::gallery() {
        let there = ["md", "png"].iter().all(|kind| docs.join(format!("gallery/{name}.{kind}")).exists());
        assert!(there, "docs/gallery has no page of {name}. help: `tippe gallery docs/gallery {name}` writes it");
    }
    let index = fs::read_to_string(docs.join("gallery/README.md")).expect("an index");
    for page in pages(&docs.join("gallery")) {
        let name = page.file_stem().expect("a name").to_string_lossy().into_owned();
        let known = name == "README" || tippe::scene::gallery().iter().any(|(scene, _)| *scene == name);
        assert!(known, "docs/gallery/{name}.md belongs to no scene: remove it");
        assert!(name == "README" || index.contains(&format!("({name}.md)")), "the index has no {name}");
    }
}

/// `tippe explain SCENE` and the page of the scene say the same: a page that says otherwise is old.
#[test]
fn pages_of_scenes_are_those_of_explain() {
    for name in ["bouncing_ball", "billiards", "four_bar"] {
        let output = Command::new(env!("CARGO_BIN_EXE_tippe")).args(["explain", name]).output().expect("tippe");
        let explained = String::from_utf8_lossy(&output.stdout).into_owned();
        // masses are not of the page
        let explained = explained.split("\n## Masses\n").next().unwrap_or_default();
        let page = fs::read_to_string(root().join(format!("docs/gallery/{name}.md"))).expect("a page");
        let prose = |line: &&str| !line.is_empty() && !line.starts_with('|');
        for line in explained.lines().filter(prose) {
            assert!(
                page.contains(line),
                "docs/gallery/{name}.md lacks: {line}. help: `tippe gallery docs/gallery {name}`"
            );
        }
        for part in ["![", "| cost |", "## What it must show", "| from |"] {
            assert!(page.contains(part), "docs/gallery/{name}.md lacks {part}");
        }
    }
}

/// A page with picture and answers is written for any scene; one that cannot run is told by name.
#[test]
fn a_gallery_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let scene = fs::read_to_string(root().join("scenes/bouncing_ball.toml")).expect("a scene");
    fs::write(folder.path().join("mine.toml"), &scene).expect("a file");
    let tippe = |args: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_tippe")).args(args).current_dir(folder.path()).output().expect("tippe")
    };
    let done = tippe(&["gallery", "pages", "mine.toml"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let first = fs::read(folder.path().join("pages/mine.png")).expect("a picture");
    assert!(first.starts_with(b"\x89PNG") && first.len() < 60_000, "{}", first.len());
    let page = fs::read_to_string(folder.path().join("pages/mine.md")).expect("a page");
    assert!(page.contains("contact_start") && page.contains("free fall"), "{page}");
    assert!(!page.contains("not met"), "{page}");
    // the same bytes again
    assert!(tippe(&["gallery", "pages", "mine.toml"]).status.success());
    assert_eq!(fs::read(folder.path().join("pages/mine.png")).expect("a picture"), first);
    fs::write(folder.path().join("wrong.toml"), scene.replace("[world]", "[wurld]")).expect("a file");
    let wrong = tippe(&["gallery", "pages", "wrong.toml"]);
    assert!(!wrong.status.success());
    assert!(
        String::from_utf8_lossy(&wrong.stderr).contains("wrong.toml"),
        "{}",
        String::from_utf8_lossy(&wrong.stderr)
    );
}
