//! `tippe.h` from C and C++: a program is compiled, linked with the shared library and run.

use std::path::{Path, PathBuf};
use std::process::Command;
use tippe_doors::library::library;

fn run(compiler: &str, more: &[&str]) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Ok(library) = library() else { panic!("the shared library was not built with the tests") };
    let folder = tempfile::tempdir().unwrap();
    let program: PathBuf = folder.path().join("drop");
    let output = Command::new(compiler)
        .args(more)
        .args(["-Wall", "-Wextra", "-Werror", "-I"])
        .arg(here.join("include"))
        .arg(here.join("tests/data/drop.c"))
        .arg("-x")
        .arg("none")
        .arg(&library)
        .args(["-lm", "-o"])
        .arg(&program)
        .output();
    let Ok(output) = output else {
        println!("{compiler} is not installed: the header was NOT tested with it");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut command = Command::new(&program);
    let output = command.env("LD_LIBRARY_PATH", library.parent().unwrap()).output().unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn from_c() {
    run("cc", &["-std=c11", "-x", "c"]);
}

#[test]
fn from_cpp() {
    run("c++", &["-std=c++17", "-x", "c++"]);
}
