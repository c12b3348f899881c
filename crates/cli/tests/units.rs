//! Units of others that are ill: each ends with the unit, the time, the call and what happened, and the program goes on.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tippe_units::archive::{Entry, pack};
use tippe_units::platform;

const DESCRIPTION: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="ill" guid="1" generationTool="cc" numberOfEventIndicators="0">
  <CoSimulation modelIdentifier="ill"/>
  <ModelVariables>
    <ScalarVariable name="y" valueReference="1" causality="output" variability="continuous" initial="calculated"><Real/></ScalarVariable>
    <ScalarVariable name="p" valueReference="2" causality="parameter" variability="fixed" initial="exact"><Real start="1"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="1"/></Outputs></ModelStructure>
</fmiModelDescription>
"#;

/// A unit with this illness; none where there is no C compiler.
fn unit(folder: &Path, illness: u8, description: &str, platform: &str) -> Option<()> {
    let library = folder.join("ill.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/ill.c");
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", &format!("-DILL={illness}"), "-o"])
        .arg(&library)
        .arg(source)
        .output();
    let Ok(made) = made else {
        println!("cc is not installed: units of others were NOT tested");
        return None;
    };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let entry = |name: &str, bytes: Vec<u8>| Entry { name: name.to_owned(), bytes };
    let bytes = pack(&[
        entry("modelDescription.xml", description.as_bytes().to_vec()),
        entry(&format!("binaries/{platform}/ill.so"), fs::read(library).unwrap()),
    ]);
    fs::write(folder.join("ill.fmu"), bytes.unwrap()).unwrap();
    Some(())
}

fn tippe(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tippe")).current_dir(folder).args(words).output().unwrap()
}

fn run(folder: &Path, more: &[&str]) -> (Option<i32>, String, String) {
    let words = ["fmu", "run", "ill.fmu", "--until", "1", "--step", "0.1", "--timeout", "2"];
    let output = tippe(folder, &[&words, more].concat());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn units_that_are_ill() {
    let Some([here, ..]) = platform() else { return };
    let cases = [
        (1, "at t = 0.30000000000000004 s the call do step did not return within 2 s; its process was ended"),
        (2, "the call do step ended the process of the unit (exit status: 7)"),
        (3, "the call do step ended the process of the unit (signal: 6"),
        (4, "the call get gave NaN for \"y\", not a finite number"),
        (5, "the call do step failed: fmi2DoStep returned an error: the wheel came off"),
        (6, "the call do step failed: the library has no function fmi2DoStep"),
    ];
    for (illness, wanted) in cases {
        let folder = tempfile::tempdir().unwrap();
        if unit(folder.path(), illness, DESCRIPTION, here).is_none() {
            return;
        }
        let (code, _, said) = run(folder.path(), &[]);
        assert_eq!(code, Some(3), "{illness}: {said}");
        assert!(said.contains("ill.fmu") && said.contains(wanted), "{illness}: {said}");
    }
}

#[test]
fn a_unit_that_is_well_and_wrong_wishes() {
    let Some([here, ..]) = platform() else { return };
    let folder = tempfile::tempdir().unwrap();
    if unit(folder.path(), 0, DESCRIPTION, here).is_none() {
        return;
    }
    let (code, shown, said) = run(folder.path(), &["--set", "p=2"]);
    assert_eq!(code, Some(0), "{said}");
    let y: f64 = shown.lines().nth(1).unwrap().split(' ').nth(2).unwrap().parse().unwrap();
    assert!((y - 3.0).abs() < 1e-12 && !shown.contains("talks"), "{shown}");
    for (more, code, wanted) in [
        (["--set", "q=1"], 1, "there is no variable \"q\""),
        (["--set", "y=1"], 1, "\"y\" is an output of the unit, it cannot be given"),
        (["--kind", "me"], 2, "the unit offers no Model Exchange"),
    ] {
        let (own, _, said) = run(folder.path(), &more);
        assert_eq!(own, Some(code), "{said}");
        assert!(said.contains(wanted), "{said}");
    }
    for (description, place, wanted) in [
        (DESCRIPTION, "sparc-solaris", "there is no library for this platform"),
        ("<!DOCTYPE a><a/>", here, "modelDescription.xml"),
        (&DESCRIPTION.replace("\"2.0\"", "\"1.0\""), here, "it is of FMI 1.0; 2.0 and 3.0 are known"),
    ] {
        unit(folder.path(), 0, description, place);
        let (code, _, said) = run(folder.path(), &[]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(wanted), "{said}");
    }
    fs::write(folder.path().join("ill.fmu"), b"PK no archive").unwrap();
    let (code, _, said) = run(folder.path(), &[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("this is no ZIP archive"), "{said}");
}
