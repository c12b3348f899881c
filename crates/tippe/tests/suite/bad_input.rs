//! Everything a person can get wrong: each a clear error with its place, its name, its number and what to try.

use tippe::precise::Trouble;
use tippe::scene::Scene;
use tippe::{Failure, Model, Observe, Progress, Sample, Settings, State, simulate};
use toml::de::{DeTable, DeValue};

/// A scene without a fault; line 5 is gravity, 8 the end, 11 to 14 the floor, 17 to 20 the ball.
const GOOD: &str = include_str!("../data/mistakes/good.toml");

/// The good scene with edits: from line `from` on, `count` lines are replaced by a text.
fn edited(edits: &[(usize, usize, &str)]) -> String {
    let mut lines: Vec<String> = GOOD.lines().map(|line| format!("{line}\n")).collect();
    for &(from, count, text) in edits.iter().rev() {
        let text = if text.is_empty() { String::new() } else { format!("{text}\n") };
        lines.splice(from - 1..from - 1 + count, [text]);
    }
    lines.concat()
}

/// What reading and compiling say, a line for each error, then the warnings.
fn complaints(text: &str) -> String {
    let model = Scene::parse("bad.toml", text, &[]).and_then(|scene| Model::compile(&scene));
    match model {
        Ok(model) => model.warnings.join("\n"),
        Err(errors) => errors.to_string(),
    }
}

#[track_caller]
fn expect(edits: &[(usize, usize, &str)], message: &str) {
    let text = edited(edits);
    let said = complaints(&text);
    assert!(said.lines().any(|line| line.trim() == message), "expected\n{message}\nbut was told\n{said}\nof\n{text}");
}

/// Mistakes of a data file: with `lines` replaced `by` a text, the program says `error`.
#[test]
fn mistakes_are_named_with_place_and_help() {
    let list = DeTable::parse(include_str!("../data/mistakes/scenes.toml")).unwrap();
    let mistakes = list.get_ref()["mistake"].get_ref().as_array().unwrap();
    for mistake in mistakes {
        let part = |value: &DeValue<'_>, key: &str| value.get(key).unwrap().get_ref().as_str().unwrap().to_owned();
        let edit = |edit: &DeValue<'_>| {
            let lines = edit.get("lines").unwrap().get_ref().as_array().unwrap();
            let number = |k: usize| lines[k].get_ref().as_integer().unwrap().as_str().parse::<usize>().unwrap();
            (number(0), number(1), part(edit, "by"))
        };
        let edits: Vec<(usize, usize, String)> = match mistake.get_ref().get("edits") {
            Some(edits) => edits.get_ref().as_array().unwrap().iter().map(|one| edit(one.get_ref())).collect(),
            None => vec![edit(mistake.get_ref())],
        };
        let edits: Vec<(usize, usize, &str)> =
            edits.iter().map(|(from, count, by)| (*from, *count, by.as_str())).collect();
        expect(&edits, &part(mistake.get_ref(), "error"));
    }
    assert_eq!(mistakes.len(), 152);
}

#[test]
fn the_good_scene_is_good() {
    assert_eq!(complaints(GOOD), "");
}

#[test]
fn a_law_without_its_stiffness_names_two_bodies() {
    for law in ["linear", "bardaro", "collisionlib"] {
        expect(
            &[(
                9,
                0,
                &format!(
                    "[contact]\nlaw = \"{law}\"\n[[body]]\nname = \"other\"\nmaterial = \"steel\"\n\
                     shape = {{ kind = \"sphere\", radius = 0.1 }}\nposition = [1, 0, 1]"
                ),
            )],
            &format!(
                "bad.toml:10:7: law \"{law}\" between bodies \"other\" and \"ball\" needs `stiffness`. help: add stiffness = ... to the [[pair]] or to [contact]"
            ),
        );
    }
}

/// A force without a value is a failure of the run with a name, not a panic.
#[test]
fn absurd_exponents_are_a_named_failure() {
    let text = edited(&[(9, 0, "[contact]\nlaw = \"collisionlib\"\nstiffness = 1e5\ndamping = 1\nexponent = 1e300")]);
    let scene = Scene::parse("bad.toml", &text, &[]).expect("reads");
    let model = Model::compile(&scene).expect("compiles");
    let mut state = tippe::State::start(&model);
    let settings = tippe::Settings::from_scene(&scene);
    match tippe::simulate(&model, &mut state, 1.0, &settings, &mut ()) {
        Ok(summary) => assert!(summary.bodies.iter().all(|body| body.position.is_finite())),
        Err(failure) => assert!(failure.to_string().contains("body \"ball\""), "{failure}"),
    }
}

/// A number without a unit may carry any; then the unit of the law's result is not known, and that is said.
#[test]
fn units_of_a_law_that_cannot_be_checked_are_a_warning() {
    let law = |params: &str, normal: &str| {
        complaints(&edited(&[
            (3, 0, &format!("[params]\n{params}")),
            (9, 0, &format!("[contact]\nlaw = \"mine\"\n[law.mine]\nnormal = \"{normal}\"")),
        ]))
    };
    assert_eq!(law("k = \"1e6 N/m\"", "k*depth"), "");
    assert_eq!(law("k = 2", "4/k*modulus*sqrt(radius)*depth^1.5*(1 + k*closing_speed/(1 m/s))"), "");
    assert_eq!(
        law("k = 1e6", "k*depth"),
        "law \"mine\": whether `normal` has [N] cannot be checked, as it has numbers without units; read as pure numbers they \
         make it [m]. help: write the units, such as \"1e6 N/m\""
    );
    assert!(law("k = 1e6", "k*depth + 3*closing_speed").contains("units that do not match"));
    assert!(law("k = \"1e6 N\"", "k*depth").contains("the result is [J]"));
}

#[test]
fn physics_that_is_only_odd_is_a_warning() {
    let shallow = complaints(&edited(&[(20, 1, "position = [0, 0, 0.0995]")]));
    assert_eq!(shallow, "bodies \"floor\" and \"ball\" start 5.000e-4 m deep in each other");
    let heavy = complaints(&edited(&[(20, 1, "mass = 1\ninertia = [1, 1, 1]\nposition = [0, 0, 1]")]));
    assert!(heavy.starts_with("body \"ball\": inertia 1.000e0 kg m2 is larger than"), "{heavy}");
}

#[test]
fn all_errors_of_a_file_come_at_once() {
    let said = complaints(&edited(&[(17, 1, "name = \"floor\""), (19, 1, "shape = { kind = \"cube\" }")]));
    assert!(said.contains("bad.toml:17:8") && said.contains("bad.toml:19:18"), "{said}");
}

/// Counts communication points, and the most between two calls of `progress`.
#[derive(Default)]
struct Points {
    all: usize,
    since: usize,
    most: usize,
    calls: usize,
    stop_after: usize,
}

impl Observe for Points {
    fn sample(&mut self, sample: &Sample<'_>) {
        assert!((sample.time - self.all as f64 * 1e-6).abs() < 1e-12 || self.stop_after > 0);
        self.all += 1;
        self.since += 1;
    }

    fn progress(&mut self, _: &Progress) -> bool {
        self.most = self.most.max(self.since);
        self.since = 0;
        self.calls += 1;
        self.stop_after == 0 || self.calls < self.stop_after
    }
}

/// Steps between two looks at a run, at most.
#[derive(Default)]
struct Looks {
    steps: u64,
    most: u64,
    calls: usize,
    stop_after: usize,
}

impl Observe for Looks {
    fn progress(&mut self, progress: &Progress) -> bool {
        self.most = self.most.max(progress.steps - self.steps);
        self.steps = progress.steps;
        self.calls += 1;
        self.calls != self.stop_after
    }
}

/// Steps of surfaces are slow: a run can be stopped after a few of them, wherever the horizon ends.
#[test]
fn slow_steps_can_be_stopped() {
    let text = r#"
format = 1
[world]
gravity = [0, 0, -9.81]
[contact]
friction = 0.3
restitution = 0.3
[materials.soft]
density = 1000
young = "1 MPa"
poisson = 0.3
[[solid]]
name = "cube"
kind = "box"
size = [0.1, 0.1, 0.1]
[[body]]
name = "table"
fixed = true
material = "soft"
shape = { kind = "half_space" }
[[body]]
name = "cube"
material = "soft"
shape = { kind = "mesh", solid = "cube" }
position = [0, 0, 0.06]
velocity = [1, 0, 0]
"#;
    let scene = Scene::parse("t.toml", text, &[]).unwrap();
    let model = Model::compile(&scene).unwrap();
    let run = |stop_after: usize| {
        let mut looks = Looks { stop_after, ..Looks::default() };
        let settings = Settings { tolerance: 1e-9, threads: 1, ..Settings::default() };
        let summary = simulate(&model, &mut State::start(&model), 0.3, &settings, &mut looks).unwrap();
        (looks, summary)
    };
    let (looks, summary) = run(0);
    assert!(!summary.stopped && summary.steps > 200 && looks.most <= 50, "{} {}", summary.steps, looks.most);
    let (looks, summary) = run(12);
    assert!(summary.stopped && looks.calls == 12);
}

/// However many points are asked for, they are handed over in parts, and the run can be stopped between them.
#[test]
fn tiny_output_intervals() {
    let scene = Scene::parse("t.toml", GOOD, &[]).unwrap();
    let model = Model::compile(&scene).unwrap();
    let run = |output_interval: f64, stop_after: usize| {
        let settings = Settings { output_interval, threads: 1, ..Settings::from_scene(&scene) };
        let mut points = Points { stop_after, ..Points::default() };
        let summary = simulate(&model, &mut State::start(&model), 0.3, &settings, &mut points).unwrap();
        (points, summary)
    };
    let (points, summary) = run(1e-6, 0);
    assert_eq!(points.all, 300_001);
    assert!(points.most <= 100_001, "{}", points.most);
    let z = summary.bodies[1].position.z;
    assert!((z - (1.0 - 0.5 * 9.81 * 0.09)).abs() < 1e-9, "{z}");
    for interval in [1e-12, 1e-19, 1e-300, f64::MIN_POSITIVE] {
        let (points, summary) = run(interval, 3);
        assert!(summary.stopped && points.calls == 3 && points.most <= 100_003, "{interval:e}: {}", points.most);
    }
    let settings = |output_interval: f64| Settings { output_interval, ..Settings::default() };
    assert_eq!(
        settings(1e-12).too_many_points(2.0).as_deref(),
        Some("an output interval of 1e-12 s until 2 s makes 2.0e12 points; a run has at most 1e9")
    );
    assert!(settings(1e-300).too_many_points(1e300).is_some());
    assert_eq!(settings(1e-9).too_many_points(0.9), None);
    assert_eq!(settings(f64::INFINITY).too_many_points(1.0), None);
}

#[test]
fn times_of_failures_are_short() {
    let at = |time: f64| {
        let failure = Failure {
            time,
            step: 1e-15,
            trouble: Trouble::Stall,
            body: "ball".to_owned(),
            component: None,
            suspects: Vec::new(),
            contacts: false,
        };
        failure.to_string().split(" body").next().unwrap().to_owned()
    };
    assert_eq!(at(1e-300), "at t = 1e-300 s");
    assert_eq!(at(0.0), "at t = 0 s");
    assert_eq!(at(0.451_523_6), "at t = 0.4515236 s");
    assert_eq!(at(1.5e300), "at t = 1.5e300 s");
}

/// A motion that begins elsewhere than its joint: closed loops cannot follow, and say so.
#[test]
fn a_motion_that_jumps_in_a_closed_loop_is_an_error() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/driven_linkage.toml"))
        .unwrap()
        .replace("value = \"1 + 6*t\"", "value = \"2 + 6*t\"");
    let scene = tippe::scene::Scene::parse("bad.toml", &text, &[]).unwrap();
    let said = tippe::Model::compile(&scene).unwrap_err().to_string();
    assert!(
        said.contains("its motion starts at 2.000000000, the joint at 1.000000000: closed loops do not follow a jump"),
        "{said}"
    );
}

/// What a drive cannot follow is named: what jumps, what bends under a prescribed motion, what is no function of time.
#[test]
fn drives_follow_smooth_functions_of_time() {
    let text = include_str!("../../../../scenes/drive_cycle.toml");
    let refuse = |from: &str, to: &str, part: &str| {
        assert!(text.contains(from), "{from}");
        let said = complaints(&text.replacen(from, to, 1));
        assert!(said.contains(part), "{part}\nbut was told\n{said}");
    };
    refuse(
        "value = \"place\"",
        "value = \"cycle\"",
        "motor of joint \"rail\": a motion drive cannot follow signal \"cycle\": a table bends, and the speed of the drive would jump",
    );
    refuse(
        "kind = \"table\"\ninput = \"t\"\nx = [\"0 s\", \"2 s\", \"4 s\", \"6 s\"]\ny = [0, 3, 1, 1]",
        "kind = \"pulse\"\nfrom = 1\nperiod = 2\nwidth = 1\nlow = 0\nhigh = 1",
        "motor of joint \"shaft\": a speed drive cannot follow signal \"cycle\": a pulse jumps",
    );
    refuse(
        "value = \"place\"",
        "value = \"shaft.angle\"",
        "motor of joint \"rail\": a motion drive follows a function of time, but its value reads `shaft.angle`",
    );
    refuse("value = \"sway*t/(1 s)\"", "value = \"place*t\"", "place");
}
