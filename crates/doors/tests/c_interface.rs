//! `tippe.h` from C and C++: a program is compiled, linked with the shared library and run.

use std::path::{Path, PathBuf};
use std::process::Command;
use tippe_doors::library::library;

fn run(compiler: &str, source: &str, more: &[&str]) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Ok(library) = library() else { panic!("the shared library was not built with the tests") };
    let folder = tempfile::tempdir().unwrap();
    let program: PathBuf = folder.path().join("drop");
    let output = Command::new(compiler)
        .args(more)
        .args(["-Wall", "-Wextra", "-Werror", "-I"])
        .arg(here.join("include"))
        .arg("-I")
        .arg(here.join("../../modelica/TippeContact/Resources/Include"))
        .arg(here.join("tests/data").join(source))
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
    run("cc", "drop.c", &["-std=c11", "-x", "c"]);
}

#[test]
fn from_cpp() {
    run("c++", "drop.c", &["-std=c++17", "-x", "c++"]);
}

/// The balloons of Bardaro and others (2017), whose contact points a function in C gives: the run is that of our own geometry.
#[test]
fn a_foreign_collider_in_c() {
    run("cc", "foreign.c", &["-std=c11", "-x", "c"]);
}

/// The functions of the Modelica library in the order a solver asks them: forwards, backwards, again.
#[test]
fn the_modelica_functions_in_the_order_of_a_solver() {
    run("cc", "solver.c", &["-std=c11", "-x", "c"]);
}
