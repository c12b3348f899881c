//! Everything a person can get wrong: each a clear error with its place, its name, its number and what to try.

use tippe::precise::Trouble;
use tippe::scene::Scene;
use tippe::{Failure, Model, Observe, Progress, Sample, Settings, State, simulate};

/// A scene without a fault; line 5 is gravity, 8 the end, 11 to 14 the floor, 17 to 20 the ball.
const GOOD: &str = r#"format = 1
title = "t"

[world]
gravity = [0, 0, -9.81]

[run]
until = 1.0

[[body]]
name = "floor"
fixed = true
material = "steel"
shape = { kind = "half_space" }

[[body]]
name = "ball"
material = "steel"
shape = { kind = "sphere", radius = 0.1 }
position = [0, 0, 1]
"#;

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

#[test]
fn the_good_scene_is_good() {
    assert_eq!(complaints(GOOD), "");
}

#[test]
fn missing_things_are_named() {
    expect(&[(1, 1, "")], "bad.toml:1:1: the scene has no `format`. help: the first line of a scene is `format = 1`");
    expect(
        &[(5, 1, "")],
        "bad.toml:4:1: [world] has no `gravity`. help: gravity is never assumed: write `[world]` and `gravity = [0, 0, -9.81]`, or `[0, 0, 0]` for none",
    );
    expect(&[(17, 1, "")], "bad.toml:16:1: [[body]] has no `name`. help: every body has a name of its own");
    expect(
        &[(19, 1, r#"shape = { kind = "sphere" }"#)],
        r#"bad.toml:19:9: body "ball": sphere has neither `radius` nor `diameter`"#,
    );
    expect(
        &[(19, 1, "shape = { radius = 0.1 }")],
        r#"bad.toml:19:9: body "ball": shape has no `kind`. help: one of sphere, ellipsoid, box, cylinder, capsule, cone, half_space, hull, height_grid, mesh"#,
    );
    expect(
        &[(18, 1, "")],
        r#"bad.toml:16:1: body "ball" has no mass and no material to compute it from. help: give a material, a density, or the mass"#,
    );
}

#[test]
fn a_scene_has_bodies() {
    expect(
        &[(10, 11, "")],
        "bad.toml:1:1: the scene has no bodies. help: add [[body]] with a name, a shape and a material; `tippe new NAME` writes a scene to start from",
    );
    // a loop without turns and a list without tables are no bodies either
    expect(
        &[(10, 11, "[[body]]\nname = \"b_{k}\"\nrepeat = [{ index = \"k\", count = 0 }]")],
        "bad.toml:10:1: the scene has no bodies. help: add [[body]] with a name, a shape and a material; `tippe new NAME` writes a scene to start from",
    );
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

#[test]
fn long_numbers_are_told_shortly() {
    expect(
        &[(9, 0, "[contact]\nrestitution = 1e300")],
        "bad.toml:10:15: [contact] has restitution 1e300; a restitution is from 0 to 1",
    );
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

#[test]
fn misspelt_words_get_a_suggestion() {
    expect(
        &[(20, 1, "positon = [0, 0, 1]")],
        r#"bad.toml:20:1: body "ball" has an unknown key `positon`. help: did you mean `position`?"#,
    );
    expect(&[(4, 1, "[wrold]")], "bad.toml:4:2: the scene has an unknown key `wrold`. help: did you mean `world`?");
    expect(
        &[(19, 1, r#"shape = { kind = "spehre", radius = 0.1 }"#)],
        r#"bad.toml:19:18: body "ball": shape has unknown kind "spehre". help: did you mean `sphere`?"#,
    );
    expect(
        &[(18, 1, r#"material = "stel""#)],
        r#"bad.toml:18:12: body "ball": unknown material "stel". help: did you mean `steel`?"#,
    );
    expect(
        &[(
            21,
            0,
            r#"
[contact]
law = "hertzz""#,
        )],
        r#"bad.toml:23:7: unknown law "hertzz". help: did you mean `hertz`?"#,
    );
    expect(
        &[(
            21,
            0,
            r#"
[contact]
law = "mine"

[law.mine]
normal = "depht*1e6""#,
        )],
        r#"bad.toml:26:11: law "mine": normal: unknown name `depht`. help: did you mean `depth`?"#,
    );
}

#[test]
fn contradictions_show_both_sides() {
    expect(
        &[(19, 1, r#"shape = { kind = "sphere", radius = 0.1, diameter = 0.2 }"#)],
        r#"bad.toml:19:53: body "ball": sphere has both `radius` and `diameter`. help: keep one of them"#,
    );
    expect(
        &[(20, 0, r#"shapes = [{ kind = "sphere", radius = 0.2 }]"#)],
        r#"bad.toml:20:10: body "ball" has both `shape` and `shapes`. help: keep one of them"#,
    );
    expect(
        &[(20, 0, "fixed = true\nmotion = { velocity = [1, 0, 0] }")],
        r#"bad.toml:21:10: body "ball" is fixed and has `motion`. help: leave out one of them"#,
    );
    expect(
        &[(13, 0, "velocity = [1, 0, 0]")],
        r#"bad.toml:13:12: body "floor" is fixed and has `velocity`. help: leave out one of them"#,
    );
}

#[test]
fn numbers_are_finite() {
    expect(
        &[(20, 1, "position = [0, 0, nan]")],
        r#"bad.toml:20:19: body "ball": position is NaN, not a finite number"#,
    );
    expect(
        &[(19, 1, r#"shape = { kind = "sphere", radius = inf }"#)],
        r#"bad.toml:19:37: body "ball": sphere: radius is inf, not a finite number"#,
    );
    expect(
        &[(20, 1, r#"position = [0, 0, "sqrt(0 - 1)"]"#)],
        r#"bad.toml:20:20: body "ball": position: square root of -1"#,
    );
    expect(&[(20, 1, r#"position = [0, 0, "1/0"]"#)], r#"bad.toml:20:21: body "ball": position: division by zero"#);
}

#[test]
fn numbers_are_in_their_range() {
    expect(
        &[(20, 0, "mass = -0.2")],
        r#"bad.toml:20:8: body "ball" has mass -0.2 kg; a mass is > 0. help: leave it out to compute it from shape and density"#,
    );
    expect(
        &[(19, 1, r#"shape = { kind = "sphere", radius = -0.1 }"#)],
        r#"bad.toml:19:37: body "ball": sphere has radius -0.1 m; a radius is > 0"#,
    );
    expect(
        &[(20, 1, "position = [0, 0, 1e300]")],
        r#"bad.toml:20:12: body "ball" is 1.000e300 m from the origin; places end at 1e12 m. help: is the unit of length or a factor wrong?"#,
    );
    expect(&[(8, 1, "until = -1")], "bad.toml:8:9: [run] has until -1 s; until is > 0");
    expect(&[(9, 0, "tolerance = 0")], "bad.toml:9:13: [run] has tolerance 0; a tolerance is 1e-14 or more");
    expect(
        &[(21, 0, "\n[contact]\nrestitution = 1.5")],
        "bad.toml:23:15: [contact] has restitution 1.5; a restitution is from 0 to 1",
    );
    expect(
        &[(21, 0, "\n[contact]\nfriction = -0.1")],
        "bad.toml:23:12: [contact] has friction -0.1; a friction is >= 0",
    );
    expect(
        &[(21, 0, "\n[materials.x]\ndensity = 1\nyoung = 1e9\npoisson = 0.5")],
        r#"bad.toml:25:11: material "x" has poisson 0.5; poisson is between -1 and 0.5"#,
    );
}

#[test]
fn nothing_has_zero_size() {
    expect(
        &[(19, 1, r#"shape = { kind = "sphere", radius = 0 }"#)],
        r#"bad.toml:19:37: body "ball": sphere has radius 0 m; a radius is > 0"#,
    );
    expect(
        &[(19, 1, r#"shape = { kind = "box", size = [1, 0, 1] }"#)],
        r#"bad.toml:19:36: body "ball": box has size 0 m; a size is > 0"#,
    );
    expect(
        &[(19, 1, r#"shape = { kind = "hull", points = [[0,0,0],[1,0,0],[0,1,0],[1,1,0]] }"#)],
        r#"bad.toml:19:9: body "ball": hull: the 4 points lie in a plane, on a line or in a point: a convex hull needs a volume"#,
    );
    expect(
        &[(20, 0, "orientation = { axis = [0, 0, 0], angle = 1 }")],
        r#"bad.toml:20:24: body "ball": orientation: axis has length 0"#,
    );
    expect(
        &[(20, 0, "orientation = [0, 0, 0, 0]")],
        r#"bad.toml:20:15: body "ball": orientation (0, 0, 0, 0) is no rotation. help: no rotation is [1, 0, 0, 0]"#,
    );
    expect(
        &[(14, 1, r#"shape = { kind = "half_space", normal = [0, 0, 0] }"#)],
        r#"bad.toml:14:41: body "floor": half_space: normal has length 0"#,
    );
}

#[test]
fn names_are_unique() {
    expect(
        &[(17, 1, r#"name = "floor""#)],
        r#"bad.toml:17:8: two bodies have the name "floor". help: the other one is in line 10"#,
    );
    expect(
        &[(18, 0, r#"repeat = [{ index = "k", count = 2 }]"#)],
        r#"bad.toml:17:8: two bodies have the name "ball". help: use every index of `repeat` in the name, such as "ball_{k}""#,
    );
}

#[test]
fn references_are_resolved() {
    expect(
        &[(
            21,
            0,
            r#"
[[pair]]
bodies = ["ball", "flor"]
friction = 0.1"#,
        )],
        r#"bad.toml:23:10: [[pair]]: unknown body "flor". help: did you mean `floor`?"#,
    );
    expect(
        &[(
            21,
            0,
            r#"
[[pair]]
materials = ["steel", "woood"]
friction = 0.1"#,
        )],
        r#"bad.toml:23:13: [[pair]]: unknown material "woood". help: did you mean `wood`?"#,
    );
    expect(
        &[(
            21,
            0,
            r#"
[[ignore]]
bodies = ["ball", "wall"]"#,
        )],
        r#"bad.toml:22:1: [[ignore]]: unknown body "wall". help: did you mean `ball`?"#,
    );
    expect(
        &[(
            21,
            0,
            r#"
[[ignore]]
bodies = ["ball", "group:walls"]"#,
        )],
        r#"bad.toml:22:1: [[ignore]]: no body is in the group "walls""#,
    );
    expect(
        &[(3, 0, "\n[params]\nheight = 1"), (20, 1, r#"position = [0, 0, "2*heigth"]"#)],
        r#"bad.toml:23:22: body "ball": position: unknown name `heigth`. help: did you mean `height`?"#,
    );
}

#[test]
fn units_are_checked() {
    expect(
        &[(20, 1, r#"position = [0, 0, "1 kg"]"#)],
        r#"bad.toml:20:19: body "ball" has position in [kg]; a position has the unit [m]"#,
    );
    expect(
        &[(20, 1, r#"position = [0, 0, "1 m + 2 s"]"#)],
        r#"bad.toml:20:24: body "ball": position: units do not match: [m] and [s]"#,
    );
    expect(
        &[(20, 1, r#"position = [0, 0, "1 parsecs"]"#)],
        r#"bad.toml:20:22: body "ball": position: unknown unit `parsecs`. help: to multiply write `1*parsecs`"#,
    );
}

#[test]
fn deep_overlap_at_the_start_is_an_error() {
    expect(
        &[(20, 1, "position = [0, 0, 0.05]")],
        r#"bad.toml:16:1: bodies "floor" and "ball" start 0.0500 m deep in each other, more than a tenth of their size. help: move them apart, or let them ignore each other ([[ignore]] bodies = [...])"#,
    );
}

#[test]
fn missing_material_pairs_name_materials_and_bodies() {
    expect(
        &[(18, 1, r#"material = "billiard_table""#)],
        r#"bad.toml:16:1: no contact data for materials "steel" and "billiard_table", needed by bodies "floor" and "ball". help: add [[pair]] materials = ["steel", "billiard_table"] with restitution and friction"#,
    );
}

#[test]
fn absurd_inertia_is_an_error() {
    expect(
        &[(20, 0, "mass = 1\ninertia = [1, 1, 3]")],
        r#"bad.toml:21:11: body "ball": inertia belongs to no body: one principal moment exceeds the sum of the other two. help: leave it out to compute it from the shapes"#,
    );
    expect(
        &[(20, 0, "mass = 1\ninertia = [1, -1, 1]")],
        r#"bad.toml:21:11: body "ball": inertia is not positive. help: leave it out to compute it from the shapes"#,
    );
    expect(
        &[(20, 0, "mass = 1\ninertia = [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]")],
        r#"bad.toml:21:11: body "ball": inertia is not symmetric. help: leave it out to compute it from the shapes"#,
    );
}

#[test]
fn a_half_space_that_moves_freely_is_an_error() {
    expect(
        &[(12, 1, "")],
        r#"bad.toml:13:9: body "floor" moves freely and has a half_space. help: write fixed = true"#,
    );
}

#[test]
fn settings_that_cannot_be_are_errors() {
    expect(
        &[(9, 0, r#"integrator = "rk4""#)],
        r#"bad.toml:9:14: integrator rk4 needs a `step`. help: such as step = "1 ms""#,
    );
    expect(
        &[(
            17,
            1,
            r#"name = "ball_{k}"
repeat = [{ index = "k", count = 1e9 }]"#,
        )],
        r#"bad.toml:18:11: body "ball_{k}" is repeated too often. help: the loops of a scene take at most 10000000 turns in all"#,
    );
    expect(
        &[(19, 1, r#"shape = { kind = "box", size = [0.1, 0.1, 0.1], smoothing = 0.2 }"#)],
        r#"bad.toml:19:61: body "ball": box has smoothing 0.2 m; half its smallest dimension is 0.05 m. help: rounding stays inside the outer dimensions"#,
    );
    expect(&[(7, 1, "[run")], "bad.toml:7:5: unclosed table, expected `]`");
    expect(
        &[(9, 0, "until = 2.0")],
        "bad.toml:9:1: duplicate key `until`. help: keep one of them; tables of a list have double brackets: [[body]]",
    );
    expect(
        &[(10, 7, "[body]")],
        "bad.toml:10:1: body is a table, not a list. help: write [[body]], with double brackets",
    );
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
