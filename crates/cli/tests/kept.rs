//! Nothing is lost: folders that stay, runs that are killed and go on, files that are no files, scenes of others.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tippe::run::{Run, Status, Wanted};

/// Runs `tippe` in `folder`.
fn tippe(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tippe")).args(args).current_dir(folder).output().expect("the program starts")
}

/// Exit code and what was said.
fn said(folder: &Path, args: &[&str]) -> (i32, String) {
    let output = tippe(folder, args);
    (output.status.code().expect("it exits by itself"), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// What was said by a command that must succeed.
fn well(folder: &Path, args: &[&str]) -> String {
    let (rc, text) = said(folder, args);
    assert_eq!(rc, 0, "{args:?}: {text}");
    text
}

/// Steel balls that bounce for ever, `n` of them.
const SCENE: &str = r#"format = 1
title = "Balls that bounce for ever"
[params]
height = "0.5 m"
n = 2
[world]
gravity = [0, 0, -9.81]
[run]
until = 1e5
output_interval = 0.01
[contact]
restitution = 1
[[body]]
name = "floor"
fixed = true
material = "steel"
shape = { kind = "half_space" }
[[body]]
name = "ball{k}"
repeat = [{ index = "k", count = "n" }]
material = "steel"
shape = { kind = "sphere", radius = 0.05 }
position = ["k*1 m", 0, "height + k*0.1 m"]
"#;

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("balls.toml"), SCENE).unwrap();
    dir
}

fn begin(folder: &Path, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tippe"));
    command.args(args).current_dir(folder).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for a file that a run writes.
fn await_file(child: &mut Child, path: &Path) {
    let started = Instant::now();
    while !path.exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "{} does not come", path.display());
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Checkpoints of a run in the order of their times.
fn checkpoints(run: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(run).unwrap().flatten().map(|entry| entry.path());
    let time = |path: &PathBuf| -> Option<f64> {
        path.file_name()?.to_str()?.strip_prefix("checkpoint-")?.strip_suffix(".json")?.parse().ok()
    };
    let mut all: Vec<PathBuf> = files.filter(|path| time(path).is_some()).collect();
    all.sort_by(|a, b| time(a).partial_cmp(&time(b)).unwrap());
    all
}

#[test]
fn folders_of_others_stay() {
    let dir = folder();
    let own = dir.path().join("results");
    std::fs::create_dir(&own).unwrap();
    for name in ["signals.csv", "summary.json", "manifest.json", "events.jsonl"] {
        std::fs::write(own.join(name), "{\"years\": \"of work\"}").unwrap();
    }
    let text = well(dir.path(), &["run", "balls.toml", "--until", "0.1", "--out", "results"]);
    assert!(text.contains("results is not empty: the results go to results-2"), "{text}");
    assert!(text.contains("results  results-2"), "{text}");
    let (rc, text) = said(dir.path(), &["run", "balls.toml", "--until", "0.1", "--out", "results", "--force"]);
    assert_eq!(rc, 1, "{text}");
    assert!(text.contains("results was not written by tippe and is left as it is"), "{text}");
    assert_eq!(std::fs::read_dir(&own).unwrap().count(), 4);
    let first = Run::open(&dir.path().join("results-2")).unwrap();
    well(dir.path(), &["run", "balls.toml", "--until", "0.2", "--out", "results-2"]);
    assert_eq!(Run::open(&dir.path().join("results-2")).unwrap().manifest, first.manifest);
    well(dir.path(), &["run", "balls.toml", "--until", "0.3", "--out", "results-2", "--force"]);
    assert_eq!(Run::open(&dir.path().join("results-2")).unwrap().manifest.until, 0.3);
}

#[test]
fn one_run_writes_at_a_time() {
    let dir = folder();
    let mut child = begin(dir.path(), &["run", "balls.toml", "--out", "r"]);
    await_file(&mut child, &dir.path().join("r/events.jsonl"));
    for force in [&[][..], &["--force"]] {
        let (rc, text) = said(dir.path(), &[&["run", "balls.toml", "--until", "0.1", "--out", "r"], force].concat());
        assert_eq!(rc, 1, "{text}");
        assert!(text.contains("another run is writing into r."), "{text}");
    }
    assert_eq!(Run::open(&dir.path().join("r")).unwrap().manifest.status, Status::Running);
    child.kill().unwrap();
    child.wait().unwrap();
    // no lock is left behind
    well(dir.path(), &["run", "balls.toml", "--until", "0.1", "--out", "r", "--force"]);
}

/// What is there of a run after SIGKILL can be looked at, verified and gone on with.
#[test]
fn a_killed_run_goes_on() {
    for clock in ["precise", "realtime"] {
        let dir = folder();
        let options = ["run", "balls.toml", "--clock", clock, "--csv"];
        let mut child = begin(dir.path(), &[&options[..], &["--out", "r", "--checkpoint-every", "0.5"]].concat());
        await_file(&mut child, &dir.path().join("r/checkpoint-1.500000000.json"));
        child.kill().unwrap();
        child.wait().unwrap();
        let run = Run::open(&dir.path().join("r")).unwrap();
        assert_eq!(run.manifest.status, Status::Killed);
        let reached = run.reached().unwrap();
        assert!(reached >= 1.5 - 0.02, "{reached}");
        let recording = run.recording(Wanted::all(&run.manifest.subjects)).unwrap();
        assert!(recording.time.len() > 80 && !recording.events.is_empty());
        let text = well(dir.path(), &["plot", "r", "ball0.position.z"]);
        assert!(text.contains(&format!("the run in r was killed at t = {reached} s")), "{text}");
        let text = well(dir.path(), &["rerun", "r"]);
        assert!(text.contains("same bits as far as it came"), "{text}");

        let checkpoint = dir.path().join("r/checkpoint-1.000000000.json").display().to_string();
        well(dir.path(), &[&options[..], &["--until", "2", "--restart", &checkpoint, "--out", "r"]].concat());
        let text = well(dir.path(), &["rerun", "r"]);
        assert!(text.contains("same bits: "), "{text}");
        well(dir.path(), &[&options[..], &["--until", "2", "--out", "whole", "--checkpoint-every", "0.5"]].concat());
        for file in ["signals.csv", "energy.csv", "contacts.csv", "events.csv"] {
            let read = |run: &str| -> Vec<String> {
                let text = std::fs::read_to_string(dir.path().join(run).join(file)).unwrap();
                // rows that only a checkpoint of the precise clock called for
                text.lines().filter(|line| !line.starts_with("1.5,")).map(str::to_owned).collect()
            };
            assert_eq!(read("r"), read("whole"), "{clock} {file}");
        }
        let again = Run::open(&dir.path().join("r")).unwrap();
        assert_eq!(again.manifest.status, Status::Complete);
        assert_eq!((again.manifest.until, again.manifest.start), (2.0, 0.0));
    }
}

/// Rows are on the disk before a row group is full, without any checkpoint.
#[test]
fn seconds_are_kept() {
    let dir = folder();
    let mut child = begin(dir.path(), &["run", "balls.toml", "--out", "r", "--clock", "realtime", "--pace", "1"]);
    await_file(&mut child, &dir.path().join("r/rows.journal"));
    child.kill().unwrap();
    child.wait().unwrap();
    let run = Run::open(&dir.path().join("r")).unwrap();
    let reached = run.reached().unwrap();
    assert!((3.0..6.0).contains(&reached), "{reached}");
}

/// A checkpoint knows its scene, with all that was set, included and read.
#[test]
fn a_restart_of_another_scene_is_refused() {
    let dir = folder();
    let outer = "format = 1\n[world]\ngravity = [0, 0, -9.81]\n[[include]]\nfile = \"balls.toml\"\nprefix = \"in\"\n";
    std::fs::write(dir.path().join("outer.toml"), outer).unwrap();
    for clock in ["precise", "realtime"] {
        for scene in ["balls.toml", "outer.toml"] {
            let out = format!("{clock}-{scene}");
            let options = ["run", scene, "--clock", clock, "--until", "0.4"];
            well(dir.path(), &[&options[..], &["--out", &out, "--checkpoint-every", "0.2"]].concat());
            let file = checkpoints(&dir.path().join(&out))[0].display().to_string();
            let again = |more: &[&str]| said(dir.path(), &[&options[..], &["--restart", &file], more].concat());
            assert_eq!(again(&[]).0, 0);
            if scene == "outer.toml" {
                std::fs::write(dir.path().join("balls.toml"), SCENE.replace("radius = 0.05", "radius = 0.06")).unwrap();
                let (rc, text) = again(&[]);
                std::fs::write(dir.path().join("balls.toml"), SCENE).unwrap();
                assert_eq!(rc, 1, "{text}");
                assert!(text.contains("body \"in.ball0\".shape.radius is 0.06, was 0.05"), "{text}");
                continue;
            }
            let (rc, text) = again(&["--set", "n=3"]);
            assert_eq!(rc, 1, "{text}");
            assert!(text.contains("body \"ball2\" appeared"), "{text}");
            let (rc, text) = again(&["--set", "n=1"]);
            assert_eq!(rc, 1, "{text}");
            assert!(text.contains("body \"ball1\" vanished"), "{text}");
            let (rc, text) = again(&["--set", "height=0.7"]);
            assert_eq!(rc, 1, "{text}");
            assert!(text.contains("params.height is 0.7, was \"0.5 m\""), "{text}");
        }
    }
}

/// Devices and pipes are refused wherever a file is named, at once.
#[cfg(unix)]
#[test]
fn files_that_are_no_files() {
    let dir = folder();
    let path = |name: &str| dir.path().join(name);
    assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
    for (end, target) in [("toml", "/dev/zero"), ("stl", "/dev/zero"), ("csv", "/dev/zero")] {
        std::os::unix::fs::symlink(target, path(&format!("endless.{end}"))).unwrap();
    }
    let head = "format = 1\n[world]\ngravity = [0, 0, 0]\n";
    let scenes = [
        ("include", "[[include]]\nfile = \"endless.toml\"\nprefix = \"a\"\n".to_owned()),
        ("fifo", "[[include]]\nfile = \"pipe\"\nprefix = \"a\"\n".to_owned()),
        (
            "mesh",
            "[[body]]\nname = \"b\"\nmaterial = \"steel\"\nshape = { kind = \"mesh\", file = \"endless.stl\", unit = \"mm\" }\n"
                .to_owned(),
        ),
        (
            "table",
            "[[signal]]\nname = \"tab\"\nkind = \"table\"\ninput = \"t\"\nfile = \"endless.csv\"\n".to_owned(),
        ),
    ];
    let began = Instant::now();
    for (name, text) in scenes {
        let file = format!("{name}.toml");
        std::fs::write(path(&file), format!("{head}{text}")).unwrap();
        let (rc, said) = said(dir.path(), &["run", &file]);
        assert_eq!(rc, 2, "{name}: {said}");
        assert!(said.contains("no regular file"), "{name}: {said}");
    }
    for file in ["endless.toml", "pipe", "/dev/zero"] {
        let (rc, said) = said(dir.path(), &["run", file]);
        assert_eq!(rc, 2, "{said}");
        assert!(said.contains("no regular file"), "{file}: {said}");
        let (rc, said) = self::said(dir.path(), &["run", "balls.toml", "--until", "0.1", "--restart", file]);
        assert_eq!(rc, 1, "{said}");
        assert!(said.contains("no regular file"), "{file}: {said}");
    }
    assert!(began.elapsed() < Duration::from_secs(30));
}

/// What a scene of others holds does not order the terminal about, and what lies too far away is named.
#[test]
fn scenes_of_others() {
    let dir = folder();
    let title = SCENE.replace("Balls that bounce for ever", "\\u001b]0;owned\\u0007\\u001b[2J\\u009b1mBalls");
    std::fs::write(dir.path().join("title.toml"), title).unwrap();
    let output = tippe(dir.path(), &["run", "title.toml", "--until", "0.1"]);
    let explained = tippe(dir.path(), &["explain", "title.toml"]);
    for bytes in [output.stderr, output.stdout, explained.stdout, explained.stderr] {
        let text = String::from_utf8(bytes).unwrap();
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{text:?}");
    }
    let far = SCENE.replace("radius = 0.05 }", "radius = 0.05, position = [0, 0, 1e300] }");
    std::fs::write(dir.path().join("far.toml"), far).unwrap();
    let (rc, text) = said(dir.path(), &["run", "far.toml", "--until", "0.1"]);
    assert_eq!(rc, 2, "{text}");
    assert!(text.contains("body \"ball0\": its shape reaches 1.000e300 m"), "{text}");
}

/// One Ctrl-C ends a run that is looked at, while it goes on and when it is over.
#[cfg(all(unix, feature = "viewer"))]
#[test]
fn one_signal_ends_a_run_that_is_looked_at() {
    for until in ["1e5", "0.1"] {
        let dir = folder();
        let args = ["run", "balls.toml", "--until", until, "--out", "r", "--view", "--no-open", "-q"];
        let mut child = begin(dir.path(), &args);
        let last = if until == "0.1" { "r/summary.json" } else { "r/events.jsonl" };
        let started = Instant::now();
        while !dir.path().join(last).exists() {
            if let Some(status) = child.try_wait().unwrap() {
                // built without its page
                assert_eq!(status.code(), Some(1));
                return;
            }
            assert!(started.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(500));
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let asked = Instant::now();
        while child.try_wait().unwrap().is_none() {
            assert!(asked.elapsed() < Duration::from_secs(10), "it does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Where files may not grow, the run ends with the path and with what was kept, and that can be read.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_says_what_was_kept() {
    let dir = folder();
    let script = format!(
        "trap '' XFSZ; ulimit -f 2048; exec {} run balls.toml --out r --output-interval 0.0005 --checkpoint-every 0.5",
        env!("CARGO_BIN_EXE_tippe")
    );
    let output = Command::new("bash").args(["-c", &script]).current_dir(dir.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{text}");
    let run = Run::open(&dir.path().join("r")).unwrap();
    assert_eq!(run.manifest.status, Status::OutOfSpace);
    let reached = run.reached().unwrap();
    let last = checkpoints(&run.folder).pop().unwrap().display().to_string();
    assert!(
        text.contains("cannot write r/") && text.contains(&format!("r has the run until t = {reached} s")),
        "{text}"
    );
    let time: f64 = last.rsplit_once("checkpoint-").unwrap().1.strip_suffix(".json").unwrap().parse().unwrap();
    assert!(reached >= time - 1e-3, "{reached} {time}");
    assert!(run.recording(Wanted::all(&run.manifest.subjects)).is_ok());
    // with room again it goes on
    let until = format!("{}", time + 0.5);
    let options = ["run", "balls.toml", "--output-interval", "0.0005"];
    well(dir.path(), &[&options[..], &["--restart", &last, "--out", "r", "--until", &until]].concat());
    assert_eq!(Run::open(&dir.path().join("r")).unwrap().manifest.status, Status::Complete);
}
