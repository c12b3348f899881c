//! The `tippe` command as a person or a script meets it: what it prints where, what it leaves behind, how it exits.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tippe::run::{Run, Status, Wanted};

/// Runs `tippe` in `folder`.
fn tippe(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tippe")).args(args).current_dir(folder).output().expect("the program starts")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("it exits by itself")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder with the starter scene as `first.toml`.
fn starter() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let made = tippe(dir.path(), &["new", "first"]);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    dir
}

#[test]
fn new_scene_runs_checks_and_is_never_overwritten() {
    let dir = starter();
    let run = tippe(dir.path(), &["run", "first.toml"]);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    assert_eq!(stdout(&run), "");
    let text = stderr(&run);
    for part in ["simulated", "wall time", "steps", "contact_start 3", "residual", "hash", "runs/first", "tippe plot"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let check = tippe(dir.path(), &["check", "first.toml"]);
    assert_eq!(code(&check), 0, "{}", stdout(&check));
    assert!(stdout(&check).contains("PASS  event.contact_start(ball, floor)[0].time"));
    assert!(stderr(&check).contains("1 scene, 2 of 2 expectations met"));

    let again = tippe(dir.path(), &["new", "first"]);
    assert_eq!(code(&again), 1);
    assert!(stderr(&again).contains("first.toml exists already"));
}

/// Grains that a run wrote start another one.
#[test]
fn grains_go_out_as_csv_and_in_again() {
    let dir = tempfile::tempdir().unwrap();
    let scene = |packing: &str| {
        format!(
            "format = 1\n[world]\ngravity = [0, 0, 0]\n[run]\nclock = \"granular\"\nuntil = 1e-3\n[materials.beads]\ndensity = 2500\nyoung = 5e6\npoisson = 0.3\n\
             [[grains]]\nname = \"bed\"\nmaterial = \"beads\"\nrestitution = 0.5\nfriction = 0.5\n{packing}\n"
        )
    };
    let listed = scene("packing = \"listed\"\nspheres = [[0, 0, 0, 0.002], [0.01, 0, 0, 0.003]]");
    std::fs::write(dir.path().join("first.toml"), listed).unwrap();
    let run = tippe(dir.path(), &["run", "first.toml", "--out", "first", "--csv"]);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    std::fs::write(dir.path().join("again.toml"), scene("packing = \"file\"\nfile = \"first/grains-000000.csv\""))
        .unwrap();
    let again = tippe(dir.path(), &["run", "again.toml", "--out", "again", "--csv"]);
    assert_eq!(code(&again), 0, "{}", stderr(&again));
    let read = |run: &str| std::fs::read_to_string(dir.path().join(run).join("grains-000000.csv")).unwrap();
    assert_eq!(read("first"), read("again"));
    assert_eq!(read("first").lines().count(), 3);
}

/// What grains have to say before a run: a step that fits the clock, and codes that do not depend on where a step was given.
#[test]
fn steps_of_grains_are_told_and_refused() {
    let dir = tempfile::tempdir().unwrap();
    let scene = |step: &str| {
        format!(
            "format = 1\n[world]\ngravity = [0, 0, 0]\n[run]\nclock = \"granular\"\nuntil = 1e-3\n[granular]\n{step}\n[materials.beads]\n\
             density = 2500\nyoung = 5e6\npoisson = 0.3\n[[grains]]\nname = \"bed\"\nmaterial = \"beads\"\nrestitution = 0.5\n\
             friction = 0.5\npacking = \"listed\"\nspheres = [[0, 0, 0, 0.002]]\n"
        )
    };
    std::fs::write(dir.path().join("good.toml"), scene("")).unwrap();
    std::fs::write(dir.path().join("long.toml"), scene("step = 0.1")).unwrap();
    let said = |args: &[&str]| {
        let run = tippe(dir.path(), args);
        (code(&run), stderr(&run))
    };
    let (rc, text) = said(&["run", "good.toml", "--out", "good", "--checkpoint-every", "5e-4"]);
    assert_eq!(rc, 0, "{text}");
    assert!(text.contains("grains: step 4.895e-5 s, 0.200 of the shortest Rayleigh time\n"), "{text}");
    assert!(!text.contains("warning: "), "{text}");
    for args in [&["run", "long.toml"][..], &["run", "good.toml", "--step", "0.1"]] {
        let (rc, text) = said(args);
        assert_eq!(rc, 2, "{text}");
        assert!(text.contains("at most 0.4 is stable"), "{text}");
    }
    let folder = std::fs::read_dir(dir.path().join("good")).unwrap().flatten().map(|entry| entry.path());
    let checkpoint = folder.map(|path| path.display().to_string()).find(|path| path.contains("checkpoint-")).unwrap();
    let (rc, text) = said(&["run", "good.toml", "--restart", &checkpoint, "--until", "1e-4", "--out", "again"]);
    assert_eq!(rc, 0, "{text}");
    assert!(text.contains("and the run ends at 0.0001 s: there is nothing to do"), "{text}");
    let (rc, text) = said(&["run", "good.toml", "--step", "1e-30"]);
    assert_eq!(rc, 2, "{text}");
    assert!(text.contains("makes 1.0e27 steps"), "{text}");
}

/// A checkpoint beyond the end of a run leaves nothing to do, and that is said, in every clock.
#[test]
fn a_restart_with_nothing_to_do_says_so() {
    let dir = starter();
    for clock in ["precise", "realtime"] {
        let run =
            tippe(dir.path(), &["run", "first.toml", "--clock", clock, "--out", clock, "--checkpoint-every", "0.4"]);
        assert_eq!(code(&run), 0, "{}", stderr(&run));
        let folder = std::fs::read_dir(dir.path().join(clock)).unwrap().flatten();
        let mut checkpoints: Vec<_> = folder.map(|entry| entry.path()).collect();
        checkpoints.retain(|path| path.to_string_lossy().contains("checkpoint-0.8"));
        let file = checkpoints[0].to_string_lossy().into_owned();
        let out = format!("{clock}-again");
        let args = ["run", "first.toml", "--clock", clock, "--restart", &file, "--until", "0.5", "--out", &out];
        let again = tippe(dir.path(), &args);
        assert_eq!(code(&again), 0, "{}", stderr(&again));
        assert!(stderr(&again).contains("and the run ends at 0.5 s: there is nothing to do"), "{}", stderr(&again));
    }
}

#[test]
fn json_is_one_object_with_everything() {
    let dir = starter();
    let run =
        tippe(dir.path(), &["run", "first.toml", "--json", "--out", "here", "--set", "height=0.5", "--until", "0.25"]);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    let report: serde_json::Value = serde_json::from_str(&stdout(&run)).unwrap();
    let keys = [
        "scene",
        "clock",
        "sim_s",
        "wall_s",
        "steps",
        "rejected",
        "rhs_evaluations",
        "events",
        "energy",
        "bodies",
        "hash",
    ];
    for key in keys {
        assert!(!report[key].is_null(), "no {key}");
    }
    for key in ["initial", "final", "by_cause", "residual"] {
        assert!(!report["energy"][key].is_null(), "no energy.{key}");
    }
    assert_eq!(report["sim_s"], 0.25);
    assert_eq!(report["clock"], "precise");
    // Free fall from radius + 0.5 m.
    let z = report["bodies"]["ball"]["position"][2].as_f64().unwrap();
    assert!((z - (0.55 - 0.5 * 9.81 * 0.0625)).abs() < 1e-9, "{z}");
    assert_eq!(report["bodies"]["ball"]["orientation"], serde_json::json!([1.0, 0.0, 0.0, 0.0]));
    let stored: serde_json::Value =
        serde_json::from_slice(&std::fs::read(dir.path().join("here/summary.json")).unwrap()).unwrap();
    assert_eq!(report, stored);
}

#[test]
fn runs_are_repeated_bit_by_bit() {
    let dir = starter();
    let out = |args: &[&str]| {
        let run = tippe(dir.path(), args);
        assert_eq!(code(&run), 0, "{}", stderr(&run));
        let report: serde_json::Value = serde_json::from_str(&stdout(&run)).unwrap();
        report["hash"].as_str().unwrap().to_owned()
    };
    let whole = out(&["run", "first.toml", "--json", "--out", "whole"]);
    let stepped = out(&["run", "first.toml", "--json", "--out", "stepped", "--checkpoint-every", "0.4", "--csv"]);
    assert_eq!(whole, stepped);
    let checkpoint = "stepped/checkpoint-0.800000000.json";
    let rest = out(&["run", "first.toml", "--json", "--out", "rest", "--restart", checkpoint, "--threads", "2"]);
    assert_eq!(whole, rest);
    assert!(dir.path().join("stepped/signals.csv").exists());

    let rerun = tippe(dir.path(), &["rerun", "whole"]);
    assert_eq!(code(&rerun), 0, "{}", stderr(&rerun));
    assert!(stderr(&rerun).contains("same bits"));
    let manifest = dir.path().join("whole/manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, text.replace(&whole, "0123456789abcdef")).unwrap();
    let differs = tippe(dir.path(), &["rerun", "whole"]);
    assert_eq!(code(&differs), 3);
    assert!(stderr(&differs).contains("the run differs"));
    // A checkpoint of another scene is refused.
    let scene = std::fs::read_to_string(dir.path().join("first.toml")).unwrap();
    std::fs::write(dir.path().join("first.toml"), scene.replace("0.6", "0.7")).unwrap();
    let other = tippe(dir.path(), &["run", "first.toml", "--restart", checkpoint]);
    assert_eq!(code(&other), 1);
    assert!(stderr(&other).contains("another scene"), "{}", stderr(&other));
}

#[test]
fn figures() {
    let dir = starter();
    assert_eq!(code(&tippe(dir.path(), &["run", "first.toml"])), 0);
    let plot = tippe(dir.path(), &["plot", "runs/first", "ball.position.z", "ball.velocity", "energy", "-o", "a.svg"]);
    assert_eq!(code(&plot), 0, "{}", stderr(&plot));
    let svg = std::fs::read_to_string(dir.path().join("a.svg")).unwrap();
    for part in
        ["position [m]", "velocity [m/s]", "energy [J]", "residual [J]", "time [s]", "ball.velocity.x", "contact"]
    {
        assert!(svg.contains(part), "no {part}");
    }
    assert_eq!(code(&tippe(dir.path(), &["plot", "runs/first"])), 0);
    assert!(dir.path().join("runs/first/plot.png").exists());
    let wrong = tippe(dir.path(), &["plot", "runs/first", "bal.position.z"]);
    assert_eq!(code(&wrong), 1);
    assert!(stderr(&wrong).contains("did you mean `ball`?"), "{}", stderr(&wrong));
    assert_eq!(code(&tippe(dir.path(), &["plot", "runs/first", "-o", "a.gif"])), 4);
    assert_eq!(code(&tippe(dir.path(), &["plot", "no-such-run"])), 1);
}

#[test]
fn conversions() {
    let dir = tempfile::tempdir().unwrap();
    let scene = "format = 1\n[params]\nn = 3\n[world]\ngravity = [0, 0, 0]\n\
        [[solid]]\nname = \"pins\"\nkind = \"cylinder\"\nradius = 0.01\nlength = 0.02\nsegments = 12\n\
        position = [0.05, 0, 0]\naround = \"n\"\n\
        [[body]]\nname = \"pins\"\nmaterial = \"steel\"\ncollide = false\nshape = { kind = \"mesh\", solid = \"pins\" }\n";
    std::fs::write(dir.path().join("s.toml"), scene).unwrap();
    let convert = |args: &[&str]| {
        let done = tippe(dir.path(), &[&["convert"], args].concat());
        (code(&done), stderr(&done))
    };
    let (code, said) = convert(&["s.toml", "pins.stl", "--solid", "pins", "--set", "n=5"]);
    let unit = "note: one unit of pins.stl is 0.001 m; --unit-out for another\n";
    assert!(code == 0 && said == format!("solid pins: volume 3.000000e-5 m3\n{unit}"), "{said}");
    let (code, said) = convert(&["pins.stl", "pins.glb", "--unit", "mm"]);
    assert!(code == 0 && said.contains("5 closed parts"), "{said}");
    let (code, said) = convert(&["pins.glb", "pins.obj"]);
    assert!(code == 0 && said.contains("5 closed parts"), "{said}");
    let (code, said) = convert(&["pins.glb", "tiny.obj", "--unit", "mm"]);
    assert!(code == 0 && said.contains("note: pins.glb states its unit, 1 m"), "{said}");
    let (code, said) = convert(&["pins.obj", "./pins.obj", "--unit", "mm"]);
    assert!(code == 1 && said.contains("pins.obj would be written over itself"), "{said}");
    assert_eq!(convert(&["s.toml", "s.json"]).0, 0);
    assert_eq!(convert(&["s.json", "back.toml"]).0, 0);
    let (code, said) = convert(&["pins.stl", "x.obj"]);
    assert!(code == 2 && said.contains("no unit"), "{said}");
    let (code, said) = convert(&["s.toml", "x.stl", "--solid", "pin"]);
    assert!(code == 1 && said.contains("one of: pins"), "{said}");
    let (code, said) = convert(&["part.step", "x.stl"]);
    assert!(code == 2 && said.contains("FreeCAD"), "{said}");
    std::fs::write(dir.path().join("o.svg"), "<svg><path d='M0 0 h10 v10 h-10 z'/></svg>").unwrap();
    let (code, said) = convert(&["o.svg", "o.stl", "--unit", "mm"]);
    assert!(code == 2 && said.contains("--extrude"), "{said}");
    assert_eq!(convert(&["o.svg", "o.stl", "--unit", "mm", "--extrude", "0.005"]).0, 0);
    // A hole before its outline.
    std::fs::write(dir.path().join("h.svg"), "<svg><path d='M3 3h2v2h-2z M0 0h10v10h-10z'/></svg>").unwrap();
    assert_eq!(convert(&["h.svg", "h.stl", "--unit", "m", "--extrude", "1"]).0, 0);
    let (code, said) = convert(&["h.stl", "h.obj", "--unit", "mm"]);
    assert!(code == 0 && said.contains("volume 9.600000e1 m3"), "{said}");
}

/// What bounds no solid is refused with the name of its file, and nothing is written; repairs are said.
#[test]
fn conversions_of_bad_files() {
    let dir = tempfile::tempdir().unwrap();
    let good = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    let twice = "v 0.1 0.1 0.1\nv 1.1 0.1 0.1\nv 0.1 1.1 0.1\nv 0.1 0.1 1.1\nf 5 7 6\nf 5 6 8\nf 5 8 7\nf 6 7 8\n";
    let refused = [
        ("open.obj", good.replace("f 2 3 4\n", ""), "open.obj: mesh: not closed: 3 edges"),
        ("cross.obj", format!("{good}{twice}"), "cross.obj: mesh: passes through itself"),
        ("flat.obj", good.replace("v 0 0 1", "v 0.2 0.2 0"), "flat.obj: mesh: flat: its 4 triangles"),
        ("far.obj", good.replace("v 0 0 1", "v 0 0 3e38"), "far.obj: mesh: corner 3 has the coordinate 3e38 m"),
        ("empty.obj", "v 0 0 0\n".into(), "there are no triangles in empty.obj"),
        ("bad.obj", good.replace("f 2 3 4", "f 2 3 9"), "bad.obj: OBJ: line 8: corner 9 of 4"),
    ];
    for (name, text, part) in refused {
        std::fs::write(dir.path().join(name), text).unwrap();
        let done = tippe(dir.path(), &["convert", name, "out.stl", "--unit", "m"]);
        assert!(code(&done) == 2 && stderr(&done).contains(part), "{}", stderr(&done));
        assert!(!dir.path().join("out.stl").exists(), "{name}");
    }
    std::fs::write(dir.path().join("turned.obj"), good.replace("f 1 3 2", "f 1 2 3")).unwrap();
    let done = tippe(dir.path(), &["convert", "turned.obj", "out.stl", "--unit", "m"]);
    assert!(code(&done) == 0 && stderr(&done).contains("turned.obj: repaired: 1 closed part; 1 triangle turned"));
    // Single precision does not hold what is tiny or far away; double precision does.
    let corners = |size: f64, at: f64| {
        let corner = |x: f64, y: f64, z: f64| format!("v {} {} {}\n", at + size * x, at + size * y, at + size * z);
        let corners = [corner(0.0, 0.0, 0.0), corner(1.0, 0.0, 0.0), corner(0.0, 1.0, 0.0), corner(0.0, 0.0, 1.0)];
        corners.concat() + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    };
    for (size, at) in [(1e-50, 0.0), (1e-3, 1e5)] {
        std::fs::write(dir.path().join("fine.obj"), corners(size, at)).unwrap();
        let done = tippe(dir.path(), &["convert", "fine.obj", "fine.stl", "--unit", "m"]);
        assert!(code(&done) == 2 && stderr(&done).contains("fine.stl: the part is too small"), "{}", stderr(&done));
        assert_eq!(code(&tippe(dir.path(), &["convert", "fine.obj", "again.obj", "--unit", "m"])), 0);
    }
    // The same in a scene: `check --no-run` and `run` say it.
    let scene = "format = 1\n[world]\ngravity = [0, 0, 0]\n[run]\nuntil = 0.01\n[[body]]\nname = \"a\"\nmaterial = \"steel\"\n\
        shape = { kind = \"mesh\", file = \"turned.obj\", unit = \"m\" }\n";
    write(dir.path(), "s.toml", scene);
    let checked = tippe(dir.path(), &["check", "s.toml", "--no-run"]);
    assert!(code(&checked) == 0 && stdout(&checked).contains("warning: body \"a\""), "{}", stdout(&checked));
    let ran = tippe(dir.path(), &["run", "s.toml", "--out", "run"]);
    assert!(code(&ran) == 0 && stderr(&ran).contains("its mesh was repaired"), "{}", stderr(&ran));
}

#[test]
fn exit_codes() {
    let dir = starter();
    let scene = std::fs::read_to_string(dir.path().join("first.toml")).unwrap();
    let edit = |from: &str, to: &str| {
        assert!(scene.contains(from));
        std::fs::write(dir.path().join("edited.toml"), scene.replace(from, to)).unwrap();
    };
    assert_eq!(code(&tippe(dir.path(), &["--version"])), 0);
    assert_eq!(code(&tippe(dir.path(), &["run", "--help"])), 0);
    assert_eq!(code(&tippe(dir.path(), &["rnu"])), 1);
    assert_eq!(code(&tippe(dir.path(), &["run", "first.toml", "--until", "-1"])), 1);
    assert_eq!(code(&tippe(dir.path(), &["run", "first.toml", "--set", "height"])), 1);
    let fixed = tippe(dir.path(), &["run", "first.toml", "--integrator", "rk4"]);
    assert_eq!(code(&fixed), 1);
    assert!(stderr(&fixed).contains("--step"));
    let unknown = tippe(dir.path(), &["run", "first.toml", "--set", "heigth=1"]);
    assert_eq!(code(&unknown), 2);
    assert!(stderr(&unknown).contains("did you mean `height`?"), "{}", stderr(&unknown));

    edit("restitution", "restituton");
    let misspelt = tippe(dir.path(), &["run", "edited.toml"]);
    assert_eq!(code(&misspelt), 2);
    assert!(stderr(&misspelt).contains("edited.toml:24:1"), "{}", stderr(&misspelt));
    assert!(stderr(&misspelt).contains("did you mean `restitution`?"), "{}", stderr(&misspelt));

    edit("event.contact_start(ball, floor)", "event.contact_start(ball, flor)");
    let question = tippe(dir.path(), &["check", "edited.toml"]);
    assert_eq!(code(&question), 2);
    assert!(stdout(&question).contains("did you mean `floor`?"), "{}", stdout(&question));

    edit("is = \"sqrt(2*height/g)\"", "is = \"1.01*sqrt(2*height/g)\"");
    let unmet = tippe(dir.path(), &["check", "edited.toml", "first.toml", "--json"]);
    assert_eq!(code(&unmet), 5);
    let results: serde_json::Value = serde_json::from_str(&stdout(&unmet)).unwrap();
    assert_eq!(results["pass"], false);
    assert_eq!(results["scenes"][0]["expectations"][0]["pass"], false);
    assert_eq!(results["scenes"][1]["pass"], true);
    assert_eq!(code(&tippe(dir.path(), &["check", "edited.toml", "--no-run"])), 0);
}

/// A law that has no value beyond some depth: the run says when, who and what to try, and leaves what it has.
#[test]
fn failures_are_named() {
    let dir = starter();
    let scene = std::fs::read_to_string(dir.path().join("first.toml")).unwrap();
    let scene = scene.replace("friction = 0.3", "friction = 0.3\nlaw = \"odd\"");
    let law = "\n[law.odd]\nnormal = \"1e6*sqrt(1e-5 - depth)\"\n";
    std::fs::write(dir.path().join("odd.toml"), scene + law).unwrap();
    let run = tippe(dir.path(), &["run", "odd.toml", "--out", "odd"]);
    assert_eq!(code(&run), 3, "{}", stderr(&run));
    for part in ["at t = 0.45", "body \"ball\"", "help:", "results so far: odd"] {
        assert!(stderr(&run).contains(part), "no `{part}` in {}", stderr(&run));
    }
    let run = Run::open(&dir.path().join("odd")).unwrap();
    assert_eq!(run.manifest.status, Status::Failed);
    assert!(run.manifest.failure.as_ref().is_some_and(|text| text.contains("ball")));
    assert!(run.time().is_ok_and(|time| !time.is_empty()));
    assert_eq!(code(&tippe(dir.path(), &["check", "odd.toml"])), 3);
    let rerun = tippe(dir.path(), &["rerun", "odd"]);
    assert_eq!(code(&rerun), 0);
    assert!(stderr(&rerun).contains("same bits as far as it came"), "{}", stderr(&rerun));
}

/// An expectation may ask for other parameters, another end and another tolerance.
#[test]
fn expectations_with_parameters() {
    let dir = starter();
    let mut scene = std::fs::read_to_string(dir.path().join("first.toml")).unwrap();
    scene += "\n[[expect]]\nvalue = \"event.contact_start[0].time\"\nis = \"sqrt(2*height/g)\"\nwithin = 1e-6\n";
    scene += "source = \"free fall\"\nwith = { height = \"20 cm\" }\nuntil = 0.5\ntolerance = 1e-8\n";
    std::fs::write(dir.path().join("first.toml"), scene).unwrap();
    let check = tippe(dir.path(), &["check", "first.toml"]);
    assert_eq!(code(&check), 0, "{}", stdout(&check));
    assert!(stdout(&check).contains("with height=20 cm, tolerance 1e-8, until 0.5 s"), "{}", stdout(&check));
    assert!(stdout(&check).contains("0.2019"), "{}", stdout(&check));
}

/// A folder that is not a run is left alone; runs without `--out` get a new number.
#[test]
fn folders() {
    let dir = starter();
    std::fs::create_dir(dir.path().join("precious")).unwrap();
    std::fs::write(dir.path().join("precious/thesis.tex"), "years").unwrap();
    let beside = tippe(dir.path(), &["run", "first.toml", "--out", "precious"]);
    assert_eq!(code(&beside), 0, "{}", stderr(&beside));
    assert!(stderr(&beside).contains("the results go to precious-2"), "{}", stderr(&beside));
    for name in ["runs/first", "runs/first-2"] {
        assert_eq!(code(&tippe(dir.path(), &["run", "first.toml"])), 0);
        assert_eq!(Run::open(&dir.path().join(name)).unwrap().manifest.status, Status::Complete);
    }
}

/// A scene that would run for a very long time.
fn endless(dir: &Path) {
    let scene = std::fs::read_to_string(dir.join("first.toml")).unwrap();
    let scene = scene.replace("restitution = 0.6", "restitution = 1").replace("\"1.5 s\"", "1e5");
    std::fs::write(dir.join("endless.toml"), scene).unwrap();
}

#[cfg(unix)]
#[test]
fn signals_stop_a_run_in_good_order() {
    for (signal, exit) in [("INT", 130), ("TERM", 143)] {
        let dir = starter();
        endless(dir.path());
        let mut child = Command::new(env!("CARGO_BIN_EXE_tippe"))
            .args(["run", "endless.toml", "--out", "run", "--output-interval", "0.01"])
            .current_dir(dir.path())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let started = Instant::now();
        let table = dir.path().join("run/signals.parquet");
        while std::fs::metadata(&table).map_or(0, |file| file.len()) < 100_000 {
            assert!(started.elapsed() < Duration::from_secs(60), "nothing is written");
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            std::thread::sleep(Duration::from_millis(20));
        }
        let kill = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        assert_eq!(child.wait().unwrap().code(), Some(exit));
        let run = Run::open(&dir.path().join("run")).unwrap();
        assert_eq!(run.manifest.status, Status::Interrupted);
        let report = run.report().unwrap();
        assert!(report.stopped);
        let time = run.time().unwrap();
        assert_eq!(time.last().copied(), Some(report.sim_s));
        let recording = run.recording(Wanted::all(&run.manifest.subjects)).unwrap();
        assert_eq!(recording.time, time);
        assert!(!recording.events.is_empty());
    }
}

/// With no space left the run ends with code 4, and what fitted can be read.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_a_readable_folder() {
    let dir = starter();
    endless(dir.path());
    // Files of at most 1 MiB stand for the full disk; the signal that comes with that limit is ignored, as the shell's
    // children inherit it.
    let script = format!(
        "trap '' XFSZ; ulimit -f 1024; exec {} run endless.toml --out run --output-interval 0.001 --csv",
        env!("CARGO_BIN_EXE_tippe")
    );
    let run = Command::new("bash").args(["-c", &script]).current_dir(dir.path()).output().unwrap();
    assert_eq!(code(&run), 4, "{}", stderr(&run));
    assert!(stderr(&run).contains("cannot write"), "{}", stderr(&run));
    let run = Run::open(&dir.path().join("run")).unwrap();
    assert_eq!(run.manifest.status, Status::OutOfSpace);
    assert!(run.manifest.failure.as_deref().unwrap_or("").contains("cannot write"));
    assert!(run.time().is_ok());
    assert!(run.recording(Wanted::all(&run.manifest.subjects)).is_ok());
    for name in ["signals.csv", "events.jsonl"] {
        let text = std::fs::read_to_string(dir.path().join("run").join(name)).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "{name} ends with half a line");
    }
}

#[test]
fn explanations() {
    let dir = tempfile::tempdir().unwrap();
    let all = tippe(dir.path(), &["explain"]);
    assert!(stdout(&all).contains("exit-codes"));
    assert!(stdout(&tippe(dir.path(), &["explain", "hertz"])).contains("restitution"));
    assert!(stdout(&tippe(dir.path(), &["explain", "signals"])).contains("crossing"));
    assert!(stdout(&tippe(dir.path(), &["explain", "height_grid"])).contains("diagonal"));
    assert!(stdout(&tippe(dir.path(), &["explain", "solids"])).contains("## thread"));
    assert!(stdout(&tippe(dir.path(), &["explain", "box_on_table"])).contains("## Masses"));
    // a file comes before a topic of its name
    std::fs::write(
        dir.path().join("e.toml"),
        "format = 1\ntitle = \"Mine\"\n[world]\ngravity = [0, 0, 0]\n[run]\nuntil = 1\n[[body]]\nname = \"b\"\nmaterial = \"steel\"\nshape = { kind = \"sphere\", radius = 1 }\n",
    )
    .unwrap();
    assert!(stdout(&tippe(dir.path(), &["explain", "e.toml"])).contains("`tippe run e.toml`"));
    let wrong = tippe(dir.path(), &["explain", "hetrz"]);
    assert_eq!(code(&wrong), 1);
    assert!(stderr(&wrong).contains("did you mean `hertz`?"));
}

#[test]
fn gallery_is_listed_and_timed() {
    let dir = starter();
    let list = tippe(dir.path(), &["list", "--json"]);
    assert_eq!(code(&list), 0);
    let list: serde_json::Value = serde_json::from_str(&stdout(&list)).unwrap();
    assert!(!list["scenes"].as_array().unwrap().is_empty());
    let bench = tippe(dir.path(), &["bench", "first.toml", "--repeat", "2", "--json"]);
    assert_eq!(code(&bench), 0, "{}", stderr(&bench));
    let bench: serde_json::Value = serde_json::from_str(&stdout(&bench)).unwrap();
    assert_eq!(bench["scenes"][0]["met"], serde_json::json!([2, 2]));
    assert!(bench["machine"].as_str().is_some_and(|name| !name.is_empty()));
}

/// A four-bar linkage in a plane: one coordinate moves, the loop's five rows hold three that the others imply.
const FOUR_BAR: &str = r#"format = 1
[world]
gravity = [0, -9.81, 0]
[run]
until = 0.2
[defaults]
collide = false
[[body]]
name = "crank"
mass = 1
inertia = [0.01, 0.01, 0.01]
frames = [{ name = "foot" }, { name = "tip", position = [0, 1, 0] }]
[[body]]
name = "coupler"
mass = 1
inertia = [0.01, 0.01, 0.01]
position = [0, 1, 0]
frames = [{ name = "left" }, { name = "right", position = [2, 0, 0] }]
[[body]]
name = "rocker"
mass = 1
inertia = [0.01, 0.01, 0.01]
position = [2, 0, 0]
frames = [{ name = "foot" }, { name = "tip", position = [0, 1, 0] }]
[[joint]]
name = "A"
kind = "revolute"
bodies = ["world", "crank.foot"]
speed = 2
[[joint]]
name = "B"
kind = "revolute"
bodies = ["crank.tip", "coupler.left"]
[[joint]]
name = "C"
kind = "revolute"
bodies = ["coupler.right", "rocker.tip"]
[[joint]]
name = "D"
kind = "revolute"
bodies = ["world", "rocker"]
at = [2, 0, 0]
[[expect]]
value = "max(abs(B.speed + A.speed))"
below = 1e-6
source = "the coupler of a parallelogram only translates"
"#;

/// Joints are signals everywhere: in the folder, in plots, in expectations, in the summary.
#[test]
fn mechanisms_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("bars.toml"), FOUR_BAR).unwrap();
    let run = tippe(dir.path(), &["run", "bars.toml", "--json", "--csv"]);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    let text = stderr(&run);
    let sentence = "the linkage of 3 bodies (crank, coupler, rocker) has 3 redundant constraints; \
        it runs with reactions of least size";
    for part in ["mechanism", "coordinates", "largest drift", sentence] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let report: serde_json::Value = serde_json::from_str(&stdout(&run)).unwrap();
    let mechanism = &report["mechanisms"][0];
    assert_eq!(mechanism["bodies"], serde_json::json!(["crank", "coupler", "rocker"]));
    let counts = ["coordinates", "rows", "redundant", "freedom"].map(|key| mechanism[key].as_u64().unwrap());
    assert_eq!(counts, [3, 5, 3, 1]);
    assert!(mechanism["drift"].as_f64().unwrap() < 1e-6);
    let causes = report["energy"]["by_cause"].as_object().unwrap();
    assert!(["damping", "joint_friction", "fastening"].iter().all(|cause| causes[*cause] == 0.0));
    let signal = |name: &str| report["signals"][name].as_f64().unwrap();
    assert!((signal("B.speed") + signal("A.speed")).abs() < 1e-6);

    let folder = Run::open(&dir.path().join("runs/bars")).unwrap();
    assert_eq!(folder.signal("A.speed").unwrap().first(), Some(&2.0));
    assert_eq!(folder.signal("A.angle").unwrap().last(), Some(&signal("A.angle")));
    let named = |name: &str| folder.manifest.subjects.signals.iter().find(|signal| signal.name == name).unwrap();
    assert_eq!((&named("A.angle").unit[..], &named("C.torque.z").unit[..]), ("rad", "N m"));
    let plot = tippe(dir.path(), &["plot", "runs/bars", "A.angle", "B.force", "D", "2*C.force.x", "-o", "a.svg"]);
    assert_eq!(code(&plot), 0, "{}", stderr(&plot));
    let svg = std::fs::read_to_string(dir.path().join("a.svg")).unwrap();
    for part in ["angle [rad]", "force [N]", "torque [N m]", "B.force.y", "D.torque.z"] {
        assert!(svg.contains(part), "no {part}");
    }
    let wrong = tippe(dir.path(), &["plot", "runs/bars", "A.angel"]);
    assert_eq!(code(&wrong), 1);
    assert!(stderr(&wrong).contains("did you mean `A.angle`?"), "{}", stderr(&wrong));
    let check = tippe(dir.path(), &["check", "bars.toml"]);
    assert_eq!(code(&check), 0, "{}{}", stdout(&check), stderr(&check));
}

/// More points than anybody can keep are refused before the run.
#[test]
fn too_many_points_are_refused() {
    let dir = starter();
    let asked = tippe(dir.path(), &["run", "first.toml", "--output-interval", "1e-12"]);
    assert_eq!(code(&asked), 1);
    let said = "an output interval of 1e-12 s until 1.5 s makes 1.5e12 points; a run has at most 1e9";
    assert!(stderr(&asked).contains(said), "{}", stderr(&asked));
    let scene = std::fs::read_to_string(dir.path().join("first.toml")).unwrap();
    let scene = scene.replace("until = \"1.5 s\"", "until = \"1.5 s\"\noutput_interval = 1e-300");
    std::fs::write(dir.path().join("tiny.toml"), scene).unwrap();
    for command in ["run", "check", "bench"] {
        let refused = tippe(dir.path(), &[command, "tiny.toml"]);
        assert_eq!(code(&refused), 2, "{command}: {}{}", stdout(&refused), stderr(&refused));
    }
    assert!(!dir.path().join("runs").exists());
}

/// The pose of rest: table, JSON, a scene that starts there; what falls is an error that names it.
#[test]
fn equilibrium_of_a_scene() {
    let dir = tempfile::tempdir().unwrap();
    let table = tippe(dir.path(), &["equilibrium", "oscillator"]);
    assert_eq!(code(&table), 0, "{}", stderr(&table));
    for part in ["body", "weight", "guide.position", "frequency [Hz]", "damping ratio"] {
        assert!(stdout(&table).contains(part), "no `{part}` in\n{}", stdout(&table));
    }
    assert!(stderr(&table).starts_with("stable; largest acceleration left"), "{}", stderr(&table));

    let json = tippe(dir.path(), &["equilibrium", "oscillator", "--json", "--out", "rest.toml"]);
    assert_eq!(code(&json), 0, "{}", stderr(&json));
    let report: serde_json::Value = serde_json::from_str(&stdout(&json)).unwrap();
    // rest - m g/k
    let position = report["signals"]["guide.position"].as_f64().unwrap();
    assert!((position + 0.005 + 9.81 / 100.0).abs() < 1e-9, "{position}");
    assert_eq!(report["stability"], "stable");
    let again = tippe(dir.path(), &["equilibrium", "rest.toml", "--json"]);
    let again: serde_json::Value = serde_json::from_str(&stdout(&again)).unwrap();
    assert_eq!(again["steps"], 0);

    let scene = "format = 1\ntitle = \"t\"\n[world]\ngravity = [0, 0, -1]\n[run]\nuntil = 1\n\
        [[body]]\nname = \"stone\"\nmass = 1\ninertia = [1, 1, 1]\n";
    std::fs::write(dir.path().join("falls.toml"), scene).unwrap();
    let falls = tippe(dir.path(), &["equilibrium", "falls.toml"]);
    assert_eq!(code(&falls), 3);
    assert!(stderr(&falls).contains("body \"stone\" falls"), "{}", stderr(&falls));
}

/// A linear system: table, JSON, files.
#[test]
fn linear_system_of_a_scene() {
    let dir = tempfile::tempdir().unwrap();
    let table = tippe(dir.path(), &["linearize", "oscillator", "--at", "0.5", "--out", "system.csv"]);
    assert_eq!(code(&table), 0, "{}", stderr(&table));
    assert!(stdout(&table).contains("time constant [s]") && stdout(&table).contains("1.59155"), "{}", stdout(&table));
    let csv = std::fs::read_to_string(dir.path().join("system.csv")).unwrap();
    assert!(csv.starts_with("matrix,row,column,value\nA,\"guide.position\",\"guide.position\","), "{csv}");
    let json = tippe(dir.path(), &["linearize", "oscillator", "--json", "--out", "system.json"]);
    let report: serde_json::Value = serde_json::from_str(&stdout(&json)).unwrap();
    assert!((report["A"][1][0].as_f64().unwrap() + 100.0).abs() < 1e-6, "{}", report["A"]);
    // omega = 10 rad/s, c/(2 m omega) = 0.1
    assert!((report["modes"][0]["damping"].as_f64().unwrap() - 0.1).abs() < 1e-8);
    let stored = std::fs::read(dir.path().join("system.json")).unwrap();
    assert_eq!(report, serde_json::from_slice::<serde_json::Value>(&stored).unwrap());
    let wrong = tippe(dir.path(), &["linearize", "oscillator", "--out", "system.txt"]);
    assert_eq!(code(&wrong), 1);
    assert!(stderr(&wrong).contains(".json or .csv"));
    assert_eq!(code(&tippe(dir.path(), &["linearize", "oscillator", "--at", "-1"])), 1);
}

/// A ball that comes to rest on a floor, quickly.
const REST: &str = r#"format = 1
title = "A ball comes to rest"
[world]
gravity = [0, 0, -9.81]
[run]
until = 0.5
[realtime]
step = "1/200"
[contact]
restitution = 0
[[body]]
name = "floor"
fixed = true
material = "steel"
shape = { kind = "half_space" }
[[body]]
name = "ball"
material = "steel"
shape = { kind = "sphere", radius = 0.1 }
position = [0, 0, 0.15]
"#;

fn write(dir: &Path, name: &str, text: &str) {
    std::fs::write(dir.join(name), text).unwrap();
}

/// The realtime clock: run folder, manifest, checkpoints, restart, repetition; options and checkpoints of the other clock are refused.
#[test]
fn a_run_in_the_realtime_clock() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "rest.toml", REST);
    let out = |args: &[&str]| {
        let run = tippe(dir.path(), args);
        assert_eq!(code(&run), 0, "{}", stderr(&run));
        let report: serde_json::Value = serde_json::from_str(&stdout(&run)).unwrap();
        (report, stderr(&run))
    };
    let (whole, text) = out(&["run", "rest.toml", "--clock", "realtime", "--json", "--out", "whole"]);
    assert_eq!((&whole["clock"], &whole["steps"]), (&"realtime".into(), &100.into()));
    assert!(whole["solutions"]["direct"].as_u64().unwrap() > 0 && whole["solutions"]["swept"] == 0, "{whole}");
    for part in ["solutions", "factorisations", "direct", "realtime 100"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    assert!(!text.contains("rejected"), "{text}");
    let z = whole["bodies"]["ball"]["position"][2].as_f64().unwrap();
    assert!((z - 0.1).abs() < 1e-5, "{z}");
    let manifest = Run::open(&dir.path().join("whole")).unwrap().manifest;
    assert_eq!(manifest.clock, "realtime");
    let json = serde_json::to_value(&manifest.settings).unwrap();
    for (key, value) in
        [("step", 0.005.into()), ("friction", "cone".into()), ("points", 4.into()), ("solver", "auto".into())]
            as [(&str, serde_json::Value); 4]
    {
        assert_eq!(json[key], value, "{json}");
    }

    let (parts, _) =
        out(&["run", "rest.toml", "--clock", "realtime", "--json", "--out", "parts", "--checkpoint-every", "0.2"]);
    assert_eq!((&parts["hash"], &parts["steps"]), (&whole["hash"], &whole["steps"]));
    let checkpoint = "parts/checkpoint-0.200000000.json";
    let restart = ["run", "rest.toml", "--json", "--out", "rest", "--restart", checkpoint];
    let (rest, _) = out(&[&restart[..], &["--clock", "realtime", "--threads", "2"]].concat());
    assert_eq!(rest["hash"], whole["hash"]);
    let other = tippe(dir.path(), &restart);
    assert_eq!(code(&other), 1);
    assert!(stderr(&other).contains("it is a state of the realtime clock, the run is precise"), "{}", stderr(&other));
    let rerun = tippe(dir.path(), &["rerun", "whole"]);
    assert_eq!(code(&rerun), 0, "{}", stderr(&rerun));
    assert!(stderr(&rerun).contains("same bits"));

    for option in [["--tolerance", "1e-3"], ["--integrator", "rk4"]] {
        let wrong = tippe(dir.path(), &["run", "rest.toml", "--clock", "realtime", option[0], option[1]]);
        assert_eq!(code(&wrong), 1);
        let words = format!("{} belongs to the precise clock", option[0]);
        assert!(stderr(&wrong).contains(&words), "{}", stderr(&wrong));
    }
    let misspelt = tippe(dir.path(), &["run", "rest.toml", "--clock", "realtme"]);
    assert_eq!(code(&misspelt), 1);
    assert!(stderr(&misspelt).contains("did you mean `realtime`?"), "{}", stderr(&misspelt));
    let (coarse, _) = out(&["run", "rest.toml", "--clock", "realtime", "--step", "1/100", "--json", "--out", "coarse"]);
    assert_eq!(coarse["steps"], 50);

    let bench = tippe(dir.path(), &["bench", "rest.toml", "--clock", "realtime", "--repeat", "1", "--json"]);
    let bench: serde_json::Value = serde_json::from_str(&stdout(&bench)).unwrap();
    assert_eq!((&bench["scenes"][0]["clock"], &bench["scenes"][0]["step"]), (&"realtime".into(), &0.005.into()));
}

/// `[run] clock` is what `tippe run` uses; what a clock cannot do is refused with name, place and reason.
#[test]
fn a_scene_names_its_clock() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "own.toml", &REST.replace("until = 0.5", "until = 0.5\nclock = \"realtime\""));
    let run = tippe(dir.path(), &["run", "own.toml", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&stdout(&run)).unwrap();
    assert_eq!(report["clock"], "realtime");
    assert_eq!(code(&tippe(dir.path(), &["run", "own.toml", "--clock", "precise", "--tolerance", "1e-4"])), 0);

    let hung = REST.to_owned()
        + "[[joint]]\nname = \"glue\"\nkind = \"fixed\"\nbodies = [\"world\", \"ball\"]\nat = [0, 0, 0.15]\nbreaking_force = 1000\n";
    write(dir.path(), "hung.toml", &hung);
    let precise = tippe(dir.path(), &["run", "hung.toml"]);
    assert_eq!(code(&precise), 2, "{}", stderr(&precise));
    assert!(stderr(&precise).contains("a joint breaks by the mean reaction of a fixed step"), "{}", stderr(&precise));
    let realtime = tippe(dir.path(), &["run", "hung.toml", "--clock", "realtime"]);
    assert_eq!(code(&realtime), 0, "{}", stderr(&realtime));

    let odd = REST.replace("restitution = 0", "law = \"odd\"") + "[law.odd]\nnormal = \"(1e6 N/m)*depth\"\n";
    write(dir.path(), "odd.toml", &odd);
    let run = tippe(dir.path(), &["run", "odd.toml", "--clock", "realtime"]);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    assert!(stderr(&run).contains("warning: [contact]: law of the scene in the realtime clock"), "{}", stderr(&run));
}

/// Expectations of the one clock, the other, both, and of their difference.
#[test]
fn expectations_of_both_clocks() {
    let dir = tempfile::tempdir().unwrap();
    let expect = |value: &str, limit: &str, clock: &str| {
        format!("[[expect]]\nvalue = \"{value}\"\n{limit}\nsource = \"closed form\"\n{clock}\n")
    };
    let mut scene = REST.to_owned();
    scene += &expect("ball.position.z", "is = 0.1\nwithin = 1e-5", "clock = \"both\"");
    scene += &expect(
        "ball.position.z",
        "is = \"0.15 - 9.81*0.0502^2/2\"\nwithin = 1e-6\nat = 0.0502",
        "clock = \"realtime\"",
    );
    scene += &expect("compare.position", "below = 1e-3", "");
    write(dir.path(), "both.toml", &scene);
    let check = tippe(dir.path(), &["check", "both.toml"]);
    assert_eq!(code(&check), 0, "{}", stdout(&check));
    assert!(stderr(&check).contains("4 of 4 expectations met"), "{}", stderr(&check));
    assert!(stdout(&check).contains("with realtime"), "{}", stdout(&check));
    let one = tippe(dir.path(), &["check", "both.toml", "--clock", "realtime"]);
    assert!(stderr(&one).contains("2 of 2 expectations met"), "{}", stderr(&one));
    let one = tippe(dir.path(), &["check", "both.toml", "--clock", "precise"]);
    assert!(stderr(&one).contains("1 of 1 expectations met"), "{}", stderr(&one));
    write(dir.path(), "limit.toml", &scene.replace("below = 1e-3", "below = 1e-12"));
    let check = tippe(dir.path(), &["check", "limit.toml"]);
    assert_eq!(code(&check), 5, "{}", stdout(&check));
    assert!(stdout(&check).contains("FAIL  compare.position"), "{}", stdout(&check));
    write(dir.path(), "wrong.toml", &scene.replace("compare.position", "compare.posiion"));
    let check = tippe(dir.path(), &["check", "wrong.toml", "--no-run"]);
    assert_eq!(code(&check), 2);
    assert!(stdout(&check).contains("did you mean `position`?"), "{}", stdout(&check));
}

#[test]
fn clocks_are_compared() {
    let dir = tempfile::tempdir().unwrap();
    let limits = "[[expect]]\nvalue = \"compare.divergence\"\nabove = 0.45\nsource = \"regression\"\n\
                  [[expect]]\nvalue = \"compare.position\"\nbelow = \"1 mm\"\nsource = \"regression\"\n";
    write(dir.path(), "rest.toml", &format!("{REST}{limits}"));
    let compare = tippe(dir.path(), &["compare", "rest.toml", "--plot", "gap.svg"]);
    assert_eq!(code(&compare), 0, "{}{}", stdout(&compare), stderr(&compare));
    let text = stdout(&compare);
    for part in
        ["precise", "realtime", "position", "velocity", "contact_force", "energy", "contact starts: 1 precise", "PASS"]
    {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    assert!(std::fs::read_to_string(dir.path().join("gap.svg")).unwrap().contains("position [m]"));

    // The same bits any number of times and threads, but for the wall times.
    let json = |args: &[&str]| {
        let compare = tippe(dir.path(), &[&["compare", "rest.toml", "--json"], args].concat());
        let mut value: serde_json::Value = serde_json::from_str(&stdout(&compare)).unwrap();
        value["wall"] = serde_json::Value::Null;
        (code(&compare), value)
    };
    let (one, first) = json(&["--threads", "1"]);
    assert_eq!((one, &first), (0, &json(&["--threads", "2"]).1));
    assert_eq!(first["limits"][0]["pass"], true);
    let gap = first["gaps"]["position"]["worst"].as_f64().unwrap();
    assert!(gap > 0.0 && gap < 1e-3, "{gap}");

    // A coarse step exceeds the limit; a step that meets a target is found and confirmed.
    assert_eq!(json(&["--step", "1/12"]).0, 5);
    let (_, found) = json(&["--step", "1/50", "--target", "0.5mm"]);
    let step = found["target"]["step"].as_f64().unwrap();
    let tried = found["target"]["tried"].as_array().unwrap();
    let last = tried.last().unwrap();
    assert_eq!(last[0].as_f64(), Some(step));
    assert!(last[1].as_f64().unwrap() <= 0.5e-3 && tried.len() > 1, "{found}");
    for wrong in [["--target", "1kg"], ["--target", "-1"], ["--step", "0"], ["--plot", "gap.gif"]] {
        let compare = tippe(dir.path(), &["compare", "rest.toml", wrong[0], wrong[1]]);
        assert!([1, 4].contains(&code(&compare)), "{wrong:?} {}", stderr(&compare));
    }
}

/// A paced run takes as long as it simulates, and says how it kept its time.
#[test]
fn a_paced_run_keeps_wall_time() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "rest.toml", REST);
    let started = Instant::now();
    let run = tippe(dir.path(), &["run", "rest.toml", "--clock", "realtime", "--pace", "1", "--json"]);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    assert!(started.elapsed() >= Duration::from_millis(495));
    let report: serde_json::Value = serde_json::from_str(&stdout(&run)).unwrap();
    assert_eq!(report["pace"]["steps"], 100);
    let seconds = |key: &str| report["pace"][key].as_f64().unwrap();
    assert!(seconds("median_s") <= seconds("p999_s") && seconds("p999_s") <= seconds("worst_s"));
    for part in ["missed deadlines", "longest step", "99.9 %"] {
        assert!(stderr(&run).contains(part), "{}", stderr(&run));
    }
    let precise = tippe(dir.path(), &["run", "rest.toml", "--pace", "1"]);
    assert_eq!(code(&precise), 1);
    assert!(stderr(&precise).contains("it goes with the realtime clock"), "{}", stderr(&precise));
}

#[test]
fn inputs_are_recorded_and_repeated() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "changes.jsonl",
        "{\"step\":30,\"input\":\"throttle\",\"value\":4.0}\n{\"step\":60,\"input\":\"throttle\",\"value\":99.0}\n",
    );
    let run = tippe(dir.path(), &["run", "remote_cart", "--inputs", "changes.jsonl", "--out", "one", "--json", "-q"]);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    // 4 N from 0.5 s, the limit of 10 N from 1 s to 2 s, on 2 kg
    let summary: serde_json::Value = serde_json::from_str(&stdout(&run)).unwrap();
    let speed = summary["bodies"]["cart"]["velocity"][0].as_f64().unwrap();
    assert!((speed - 6.0).abs() < 1e-9, "{speed}");
    let recorded = std::fs::read_to_string(dir.path().join("one/inputs.jsonl")).unwrap();
    assert_eq!(recorded.lines().count(), 2, "{recorded}");
    let rerun = tippe(dir.path(), &["rerun", "one"]);
    assert_eq!(code(&rerun), 0, "{}", stderr(&rerun));

    write(dir.path(), "other.jsonl", "{\"step\":1,\"input\":\"brake\",\"value\":1}\n");
    let wrong = tippe(dir.path(), &["run", "remote_cart", "--inputs", "other.jsonl"]);
    assert!(stderr(&wrong).contains("line 1: the scene has no input `brake`"), "{}", stderr(&wrong));
    let deaf = tippe(dir.path(), &["run", "bouncing_ball", "--clock", "realtime", "--udp", "0"]);
    assert!(stderr(&deaf).contains("the scene has no inputs"), "{}", stderr(&deaf));
    let precise = tippe(dir.path(), &["run", "bouncing_ball", "--udp", "0"]);
    assert!(stderr(&precise).contains("only the realtime clock listens"), "{}", stderr(&precise));
}

#[test]
fn datagrams_are_inputs() {
    let dir = tempfile::tempdir().unwrap();
    let port = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let send = std::thread::spawn(move || {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        for _ in 0..200 {
            let _ = socket.send_to(b"throttle 2\nnonsense\n", ("127.0.0.1", port));
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    });
    let args = ["run", "remote_cart", "--pace", "2", "--udp", &port.to_string(), "--out", "live", "--json", "-q"];
    let run = tippe(dir.path(), &args);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    let summary: serde_json::Value = serde_json::from_str(&stdout(&run)).unwrap();
    assert!(summary["bodies"]["cart"]["velocity"][0].as_f64().unwrap() > 0.1, "{summary}");
    let rerun = tippe(dir.path(), &["rerun", "live"]);
    assert_eq!(code(&rerun), 0, "{}", stderr(&rerun));
    send.join().unwrap();
}

/// A hand that was recorded pulls again, and the run repeats bit by bit; a recording that does not fit is told with its line.
#[test]
fn a_hand_is_repeated() {
    let dir = tempfile::tempdir().unwrap();
    let pull = |step: u64, x: f64| {
        format!(
            "{{\"step\":{step},\"pull\":{{\"body\":\"cart\",\"at\":[0.1,0,0],\"to\":[{x},0,0],\"stiffness\":50,\"damping\":5}}}}\n"
        )
    };
    let lines = format!(
        "{}{}{{\"step\":60,\"pull\":null}}\n{{\"step\":90,\"input\":\"throttle\",\"value\":-1}}\n",
        pull(10, 0.5),
        pull(30, 0.8)
    );
    write(dir.path(), "hand.jsonl", &lines);
    let run = tippe(dir.path(), &["run", "remote_cart", "--inputs", "hand.jsonl", "--out", "pulled", "--json"]);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    let report: serde_json::Value = serde_json::from_str(&stdout(&run)).unwrap();
    assert!(report["bodies"]["cart"]["position"][0].as_f64().unwrap() > 0.3, "{report}");
    assert!(report["energy"]["work"].as_f64().unwrap() > 0.0);
    let kept = std::fs::read_to_string(dir.path().join("pulled/inputs.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 4, "{kept}");
    let again = tippe(dir.path(), &["rerun", "pulled"]);
    assert_eq!(code(&again), 0, "{}", stderr(&again));
    assert!(stderr(&again).contains("same bits"));
    write(dir.path(), "wrong.jsonl", &pull(1, 0.0).replace("cart", "card"));
    let wrong = tippe(dir.path(), &["run", "remote_cart", "--inputs", "wrong.jsonl"]);
    assert_eq!(code(&wrong), 1);
    assert!(stderr(&wrong).contains("line 1: the scene has no body `card`"), "{}", stderr(&wrong));
}

/// A wheel on dry sand as Wong and Reece have it, shear after a hump, and what is refused.
#[test]
fn soft_ground_answers_without_a_scene() {
    let dir = tempfile::tempdir().unwrap();
    let soil = |text: &str| tippe(dir.path(), &[&["soil"], &text.split(' ').collect::<Vec<_>>()[..]].concat());
    let wheel = soil("dry_sand --width 0.25 --radius 0.4 --weight 2000 --slip 0.2 --peak 0.18,0.32 --json");
    let lines: serde_json::Value = serde_json::from_slice(&wheel.stdout).unwrap();
    let value =
        |what: &str| lines.as_array().unwrap().iter().find(|line| line["what"] == what).unwrap()["value"].as_f64();
    assert!((value("drawbar pull").unwrap() - 288.51).abs() < 0.01 && (value("torque").unwrap() - 295.95).abs() < 0.01);
    let shear = soil("--shear residual --set Kr=0.66 --set Kw=0.045 --sheared 0.08");
    assert!(stdout(&shear).contains("0.90044"), "{}", stdout(&shear));
    for (words, told) in [
        ("dry_snad --width 1 --pressure 1", "did you mean `dry_sand`?"),
        ("dry_sand --pressure 1", "it needs --width"),
        ("dry_sand --width 1", "say what is asked"),
        ("--set n=1 --width 1 --pressure 1", "it needs `kc`"),
        ("dry_sand --set phi=90 --width 1 --pressure 1", "out of range"),
        ("dry_sand --width 0.3 --weight 1 --radius 1 --slip 1", "not between -1 and 1"),
    ] {
        let refused = soil(words);
        assert!(code(&refused) == 1 && stderr(&refused).contains(told), "{words}: {}", stderr(&refused));
    }
}

/// Fiala's tyre at two slips; a load below zero and a file without a model are refused.
#[test]
fn a_tyre_file_answers_without_a_scene() {
    let dir = tempfile::tempdir().unwrap();
    let file = "PROPERTY_FILE_FORMAT = 'FIALA'\nUNLOADED_RADIUS = 0.3\nWIDTH = 0.2\nCSLIP = 1e5\nCALPHA = 6e4\nUMAX = 1\nUMIN = 0.7\n";
    std::fs::write(dir.path().join("a.tir"), file).unwrap();
    std::fs::write(dir.path().join("b.tir"), "UNLOADED_RADIUS = 0.3\n").unwrap();
    let forces = tippe(dir.path(), &["tyre", "a.tir", "--kappa", "0.05:0.2:0.15", "--csv"]);
    assert_eq!(code(&forces), 0, "{}", stderr(&forces));
    assert!(stdout(&forces).contains(",3163.8") && stdout(&forces).contains(",3583.2"), "{}", stdout(&forces));
    for (args, told) in
        [(["tyre", "a.tir", "--fz=-1"], "less than zero"), (["tyre", "b.tir", "--fz=1"], "PROPERTY_FILE_FORMAT")]
    {
        let refused = tippe(dir.path(), &args);
        assert!(code(&refused) == 1 && stderr(&refused).contains(told), "{}", stderr(&refused));
    }
}
