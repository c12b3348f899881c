//! The realtime clock against closed forms, against itself, and under bad treatment.

use serde_json::Value;
use std::fmt::Write;
use tippe::joint::Six;
use tippe::realtime::{
    Clock, Coupled, CustomRow, Failure, FrictionBound, Grip, Hook, Owner, Pull, STEP, Settings, Solver, State, Touch,
    View, simulate, simulate_with,
};
use tippe::run::{Recording, Subjects};
use tippe::scene::Scene;
use tippe::{Cause, Ledger, Model, Observe, Sample, Summary};
use tippe_geometry::Vec3;
use tippe_numerics::kkt::{Row, Tie};

/// Standard gravity of these tests [m/s^2].
const G: f64 = 9.81;

/// A steel half-space.
const FLOOR: &str = r#"
[[body]]
name = "floor"
fixed = true
material = "steel"
shape = { kind = "half_space" }
"#;

fn scene(text: &str) -> String {
    format!("format = 1\ntitle = \"test\"\n[run]\nclock = \"realtime\"\n{text}")
}

fn compiled(text: &str) -> Result<Model, String> {
    let scene = Scene::parse("test.toml", &scene(text), &[]).map_err(|e| e.to_string())?;
    Model::compile(&scene).map_err(|e| e.to_string())
}

fn model(text: &str) -> Model {
    compiled(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// Gravity down, and steel on steel.
fn steel(friction: f64, restitution: f64) -> String {
    format!(
        r#"
        [world]
        gravity = [0, 0, -{G}]
        [[pair]]
        materials = ["steel", "steel"]
        friction = {friction}
        restitution = {restitution}
        "#
    )
}

/// A steel box of 1 kg with edges of 0.2 m.
fn cube(name: &str, x: f64, y: f64, z: f64) -> String {
    format!(
        r#"
        [[body]]
        name = "{name}"
        material = "steel"
        mass = 1
        shape = {{ kind = "box", size = [0.2, 0.2, 0.2] }}
        position = [{x}, {y}, {z}]
        "#
    )
}

fn one_thread() -> Settings {
    Settings { threads: 1, ..Settings::default() }
}

fn index(model: &Model, name: &str) -> usize {
    model.bodies.iter().position(|b| b.name == name).unwrap_or_else(|| panic!("no body {name}"))
}

fn run(model: &Model, state: &mut State, until: f64, settings: &Settings) -> Summary {
    simulate(model, state, until, settings, &mut ()).unwrap_or_else(|e| panic!("{e}"))
}

fn recorded(model: &Model, until: f64, settings: &Settings) -> (Recording, Summary) {
    let mut recording = Recording::new(Subjects::of(model));
    let mut state = State::start(model);
    let summary = simulate(model, &mut state, until, settings, &mut recording).unwrap_or_else(|e| panic!("{e}"));
    (recording, summary)
}

/// SplitMix64: the same scenes everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

// ---------------------------------------------------------------------------------------------------------------------------------
// closed forms

/// A block on a plane that is tilted by `slope` [deg], downhill in the direction `heading` [deg] from x: position and velocity of its
/// centre downhill, step by step.
fn slide(slope: f64, mu: f64, heading: f64, friction: FrictionBound, steps: usize) -> Vec<(f64, f64)> {
    let (s, c) = libm::sincos(slope.to_radians());
    let (sh, ch) = libm::sincos(heading.to_radians());
    let downhill = Vec3::new(ch, sh, 0.0);
    let model = model(&format!(
        r#"
        [world]
        gravity = [{:e}, {:e}, {:e}]
        [[pair]]
        materials = ["steel", "steel"]
        friction = {mu}
        restitution = 0
        {FLOOR}
        {}
        "#,
        G * s * ch,
        G * s * sh,
        -G * c,
        cube("block", 0.0, 0.0, 0.1)
    ));
    let settings = Settings { friction, ..one_thread() };
    let block = index(&model, "block");
    let mut clock = Clock::resume(&model, &State::start(&model), &settings);
    (0..steps)
        .map(|_| {
            clock.step();
            let body = clock.state.bodies()[block];
            (body.p.dot(downhill), body.v.dot(downhill))
        })
        .collect()
}

#[test]
fn a_block_on_a_slope_sticks_or_slides() {
    let truth: Value = serde_json::from_str(include_str!("../data/E01_block_slope.json")).unwrap();
    let rows = truth["reference"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    let ways = [(0.0, FrictionBound::Cone), (45.0, FrictionBound::Cone), (0.0, FrictionBound::Box)];
    for row in rows {
        let value = |name: &str| row[name].as_f64().unwrap();
        let (slope, mu) = (value("slope_deg"), value("mu"));
        for (heading, friction) in ways {
            let at = format!("{slope} deg, mu {mu}, downhill at {heading} deg, {friction:?}");
            if row["sticks"].as_bool().unwrap() {
                let path = slide(slope, mu, heading, friction, 660);
                // the elastic shear of the contact comes first, then nothing
                let settled = path[59].0;
                assert!(settled.abs() < 1e-8, "{at}: sheared by {settled:e} m");
                for (p, v) in &path[60..] {
                    assert!((p - settled).abs() < 1e-9, "{at}: drifted by {:e} m", p - settled);
                    assert!(v.abs() < 1e-9, "{at}: creeps at {v:e} m/s");
                }
            } else {
                let expected = value("discrete_speed_after_60_steps");
                let error = slide(slope, mu, heading, friction, 60)[59].1 / expected - 1.0;
                assert!(error.abs() < 1e-10, "{at}: speed off by {error:e}");
            }
        }
    }
}

#[test]
fn a_stack_of_ten_boxes() {
    let truth: Value = serde_json::from_str(include_str!("../data/E02_stack10.json")).unwrap();
    let boxes: String = (0..10).map(|k| cube(&format!("box{k}"), 0.0, 0.0, 0.1 + 0.2 * f64::from(k))).collect();
    let model = model(&format!("{}{FLOOR}{boxes}", steel(0.5, 0.0)));
    let expected = truth["reference"]["interface_normal_force"].as_array().unwrap();
    // sorted by pair: the floor and box 0, box 0 and box 1, ...
    let mut last: Vec<f64> = Vec::new();
    struct Forces<'a>(&'a mut Vec<f64>);
    impl Observe for Forces<'_> {
        fn sample(&mut self, sample: &Sample<'_>) {
            self.0.clear();
            self.0.extend(sample.contacts.iter().map(|c| c.force.dot(c.normal)));
        }
    }
    let mut state = State::start(&model);
    simulate(&model, &mut state, 1.0, &one_thread(), &mut Forces(&mut last)).unwrap();
    assert_eq!(last.len(), 10);
    for (k, (force, expected)) in last.iter().zip(expected).enumerate() {
        let error = force / expected.as_f64().unwrap() - 1.0;
        assert!(error.abs() < 1e-6, "interface {k}: {force} N, off by {error:e}");
    }
    // from the start: the stack compresses by what its elastic foundations say
    let top = index(&model, "box9");
    run(&model, &mut state, 10.0, &one_thread());
    let start = State::start(&model).bodies()[top];
    let end = state.bodies()[top];
    let (drift, turn) = ((end.p - start.p).length(), end.q.angle_between(start.q));
    assert!(drift < 1e-6, "top drifted by {drift:e} m");
    assert!(turn < 1e-6, "top turned by {turn:e} rad");
    assert!(end.v.length() < 1e-9, "top moves at {:e} m/s", end.v.length());
}

#[test]
fn a_tumbling_body_keeps_its_energy() {
    // I = (1, 2, 3), w = (0.01, 5, 0.01), h = 1/60: explicit Euler has 1.224 after 10 s
    let model = model(
        r#"
        [world]
        gravity = [0, 0, 0]
        [[body]]
        name = "top"
        mass = 1
        inertia = [1, 2, 3]
        angular_velocity = [0.01, 5, 0.01]
        "#,
    );
    let (recording, summary) = recorded(&model, 10.0, &one_thread());
    let first = recording.energy[0].kinetic;
    for energy in &recording.energy {
        let ratio = energy.kinetic / first;
        // a symmetric splitting goes down and up with each tumble (by 4.8e-5 with one substep), and comes back
        assert!((ratio - 1.0).abs() < 5e-5, "energy ratio {ratio}");
    }
    let ratio = summary.energy.kinetic / first;
    assert!((ratio - 1.0).abs() < 5e-7, "energy ratio {ratio}");
    // w at 5 s with four substeps is truth's (-0.011331018, -4.9999972, 0.010462504): the tumble is in phase
    let mut state = State::start(&model);
    run(&model, &mut state, 5.0, &one_thread());
    let body = state.bodies()[0];
    let w = body.q.conjugate() * body.w;
    assert!((w - Vec3::new(-0.011331018, -4.9999972, 0.010462504)).length() < 1e-4, "{w}");
}

// ---------------------------------------------------------------------------------------------------------------------------------
// same bits

/// A figure of six bodies, jointed and with limits, that falls on the floor.
fn ragdoll() -> String {
    let mut text = format!("{}{FLOOR}", steel(0.6, 0.3));
    text.push_str(
        r#"
        [[body]]
        name = "torso"
        material = "steel"
        mass = 30
        shape = { kind = "box", size = [0.3, 0.2, 0.5] }
        position = [0, 0, 1.5]
        velocity = [0.5, 0.8, 0]
        frames = [
            { name = "neck", position = [0, 0, 0.25] },
            { name = "left", position = [0.2, 0, 0.2] },
            { name = "right", position = [-0.2, 0, 0.2] },
            { name = "hip_left", position = [0.1, 0, -0.25] },
            { name = "hip_right", position = [-0.1, 0, -0.25] },
        ]
        [[body]]
        name = "head"
        material = "steel"
        mass = 4
        shape = { kind = "sphere", radius = 0.1 }
        position = [0, 0, 1.87]
        frames = [{ name = "neck", position = [0, 0, -0.12] }]
        [[joint]]
        name = "neck"
        kind = "spherical"
        bodies = ["torso.neck", "head.neck"]
        "#,
    );
    for (side, sign) in [("left", 1), ("right", -1)] {
        let _ = write!(
            text,
            r#"
            [[body]]
            name = "arm_{side}"
            material = "steel"
            mass = 3
            shape = {{ kind = "capsule", radius = 0.04, length = 0.4 }}
            position = [{x_arm}, 0, 1.45]
            frames = [{{ name = "top", position = [0, 0, 0.25] }}]
            [[joint]]
            name = "shoulder_{side}"
            kind = "spherical"
            bodies = ["torso.{side}", "arm_{side}.top"]
            [[body]]
            name = "leg_{side}"
            material = "steel"
            mass = 8
            shape = {{ kind = "box", size = [0.08, 0.08, 0.6] }}
            position = [{x_leg}, 0, 0.9]
            frames = [{{ name = "top", position = [0, 0, 0.35] }}]
            [[joint]]
            name = "hip_{side}"
            kind = "revolute"
            bodies = ["torso.hip_{side}", "leg_{side}.top"]
            axis = "x"
            limit = {{ lower = "-30 deg", upper = "60 deg", stiffness = 2000, restitution = 0.3 }}
            "#,
            x_arm = 0.2 * f64::from(sign),
            x_leg = 0.1 * f64::from(sign)
        );
    }
    text
}

/// 64 boxes that settle on each other.
fn block_of_boxes() -> String {
    let mut text = format!("{}{FLOOR}", steel(0.5, 0.0));
    for (i, j, k) in (0..64).map(|n| (n % 4, n / 4 % 4, n / 16)) {
        let at = |n: i32, shift: f64| 0.205 * f64::from(n) + shift;
        text.push_str(&cube(
            &format!("box_{i}_{j}_{k}"),
            at(i, 0.003 * f64::from(k)),
            at(j, -0.002 * f64::from(k)),
            0.1 + 0.203 * f64::from(k) + 0.001,
        ));
    }
    text
}

/// A cue ball that meets a triangle of ten on a table.
fn break_shot() -> String {
    let mut text = format!("{}{FLOOR}", steel(0.2, 0.95));
    let mut ball = |name: String, x: f64, y: f64, v: f64| {
        let _ = write!(
            text,
            r#"
            [[body]]
            name = "{name}"
            material = "steel"
            mass = 0.17
            shape = {{ kind = "sphere", radius = 0.03 }}
            position = [{x}, {y}, 0.03]
            velocity = [{v}, 0, 0]
            "#
        );
    };
    ball("cue".to_owned(), -0.5, 0.004, 6.0);
    for row in 0..4 {
        for k in 0..=row {
            let (x, y) = (0.0521 * f64::from(row), 0.0601 * (f64::from(k) - 0.5 * f64::from(row)));
            ball(format!("ball_{row}_{k}"), x, y, 0.0);
        }
    }
    text
}

/// The bits of a state: every number is written so that it reads back the same.
fn bits(state: &State) -> String {
    serde_json::to_string(state).unwrap()
}

fn same_bits(text: &str, steps: usize) {
    let model = model(text);
    let start = State::start(&model);
    let one = one_thread();
    let two = Settings { threads: 2, ..one_thread() };
    let mut straight = Clock::resume(&model, &start, &one);
    let mut parallel = Clock::resume(&model, &start, &two);
    let mut dropped = start.clone();
    let mut written = start;
    for step in 1..=steps {
        straight.step();
        parallel.step();
        let expected = bits(&straight.state);
        assert_eq!(expected, bits(&parallel.state), "step {step}: two threads");
        let mut again = Clock::resume(&model, &dropped, &one);
        again.step();
        dropped = again.state.clone();
        assert_eq!(expected, bits(&dropped), "step {step}: a clock for every step");
        if step == steps / 2 {
            written = serde_json::from_str(&expected).unwrap();
            assert_eq!(straight.state, written);
        }
    }
    let mut continued = Clock::resume(&model, &written, &one);
    for _ in steps / 2..steps {
        continued.step();
    }
    assert_eq!(bits(&straight.state), bits(&continued.state), "from the file");
    assert!(straight.state.bodies().iter().all(|b| b.p.is_finite() && b.v.is_finite()));
}

#[test]
fn a_ragdoll_has_the_same_bits() {
    same_bits(&ragdoll(), 240);
}

#[test]
fn a_block_of_boxes_has_the_same_bits() {
    same_bits(&block_of_boxes(), 90);
}

#[test]
fn a_break_shot_has_the_same_bits() {
    same_bits(&break_shot(), 120);
}

// ---------------------------------------------------------------------------------------------------------------------------------
// what a scene asks for

/// A box at rest on the floor, with more in its pair, a pull along x and settings.
fn asked(pair: &str, pull: f64, settings: &Settings, speed: f64) -> (Vec3, Vec3, usize) {
    struct Points(usize);
    impl Hook for Points {
        fn contacts(&mut self, _: &View<'_>, touches: &mut [Touch], _: &mut [Grip]) {
            self.0 = self.0.max(touches.len());
        }
    }
    let world = steel(0.5, 0.0).replace(&format!("[0, 0, -{G}]"), &format!("[{pull}, 0, -{G}]"));
    let body = cube("box", 0.0, 0.0, 0.1) + &format!("velocity = [{speed}, 0, 0]\n");
    let model = model(&format!("{world}{pair}\n{FLOOR}{body}"));
    let (mut state, mut points) = (State::start(&model), Points(0));
    let settings = Settings { threads: 1, ..settings.clone() };
    let until = 30.0 * settings.step;
    simulate_with(&model, &mut state, until, &settings, &mut [&mut points], &mut ()).unwrap_or_else(|e| panic!("{e}"));
    let motion = state.bodies()[index(&model, "box")];
    (motion.p, motion.v, points.0)
}

#[test]
fn a_pair_has_the_points_it_asks_for() {
    let default = Settings::default();
    assert_eq!(asked("", 0.0, &default, 0.0).2, 4);
    assert_eq!(asked("points = 3", 0.0, &default, 0.0).2, 3);
    assert_eq!(asked("", 0.0, &Settings { points: 2, ..default.clone() }, 0.0).2, 2);
    assert_eq!(asked("points = 1", 0.0, &Settings { points: 2, ..default }, 0.0).2, 1);
}

/// At most 5 N carry a weight of 9.81 N: it sinks with the rest.
#[test]
fn a_pair_pushes_at_most_with_what_it_is_given() {
    let (_, v, _) = asked("", 0.0, &Settings::default(), 0.0);
    assert!(v.length() < 1e-6, "{v}");
    let (_, v, _) = asked("normal_force_max = 5", 0.0, &Settings::default(), 0.0);
    assert!((v.z + (G - 5.0) * 0.5).abs() < 1e-6, "{v}");
}

/// Friction could hold 4.9 N; at most 1 N of it lets 3 N pull with 2 m/s2.
#[test]
fn a_pair_rubs_at_most_with_what_it_is_given() {
    let (_, v, _) = asked("", 3.0, &Settings::default(), 0.0);
    assert!(v.length() < 1e-6, "{v}");
    for solver in [Solver::Direct, Solver::Sweeps] {
        let (_, v, _) = asked("force_max = 1", 3.0, &Settings { solver, ..Settings::default() }, 0.0);
        assert!((v.x - 2.0 * 0.5).abs() < 0.02 && v.z.abs() < 1e-3, "{solver:?} {v}");
    }
}

/// A box that slides from the start: in the first step nobody knows how hard it is pressed. One pass sticks; the more there are, the nearer
/// they come to mu g.
#[test]
fn passes_find_the_friction_of_a_contact_that_begins() {
    let off = |passes| {
        let v = asked("", 0.0, &Settings { passes, ..Settings::default() }, 4.0).1;
        (v.x - (4.0 - 0.5 * G * 0.5)).abs()
    };
    let (once, thrice, often) = (off(1), off(3), off(12));
    assert!(once > 0.5 && thrice < 0.5 * once && often <= thrice, "{once} {thrice} {often}");
}

/// Two chains of 50 bodies each with springs between them, as one matrix and kept apart.
#[test]
fn coupled_parts_kept_apart_move_as_the_merged_ones() {
    let mut text = steel(0.5, 0.0);
    for (side, x) in [("a", 0.0), ("b", 1.0)] {
        for k in 0..50 {
            let parent = if k == 0 { "world".to_owned() } else { format!("{side}{}", k - 1) };
            let (at, centre) = (0.1 * f64::from(k), 0.1 * f64::from(k) + 0.05);
            let _ = write!(
                text,
                r#"
                [[body]]
                name = "{side}{k}"
                mass = 0.5
                inertia = [1e-3, 1e-3, 1e-3]
                position = [{x}, {centre}, 0]
                [[joint]]
                name = "{side}{k}_joint"
                kind = "spherical"
                bodies = ["{parent}", "{side}{k}"]
                at = [{x}, {at}, 0]
                "#
            );
        }
    }
    for k in [9, 24, 49] {
        let _ = write!(
            text,
            r#"
            [[force]]
            name = "spring{k}"
            kind = "spring"
            between = ["a{k}", "b{k}"]
            stiffness = 2e3
            damping = 5
            rest = 0.8
            "#
        );
    }
    let model = model(&text);
    let after = |coupled: Coupled| {
        let mut state = State::start(&model);
        let summary = run(&model, &mut state, 10.0 * STEP, &Settings { coupled, ..one_thread() });
        (state, summary.solutions)
    };
    let (merged, how) = after(Coupled::Merged);
    assert_eq!(how.kept_apart, 0);
    let (kept, how) = after(Coupled::Kept);
    assert_eq!((how.kept_apart, how.unconverged), (how.direct, 0));
    assert!(how.direct > 0);
    for (a, b) in merged.bodies().iter().zip(kept.bodies()) {
        assert!((a.p - b.p).length() < 1e-8 && (a.v - b.v).length() < 1e-8, "{} {}", a.p, b.p);
    }
    // they do feel each other
    let middle = merged.bodies()[index(&model, "a49")].p;
    assert!(middle.x > 1e-4, "{middle}");
}

// ---------------------------------------------------------------------------------------------------------------------------------
// hooks

fn resting_box(friction: f64) -> Model {
    model(&format!("{}{FLOOR}{}", steel(friction, 0.0), cube("box", 0.0, 0.0, 0.1)))
}

fn hooked(model: &Model, state: &mut State, until: f64, hook: &mut dyn Hook) -> Summary {
    simulate_with(model, state, until, &one_thread(), &mut [hook], &mut ()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_hook_hears_of_contacts() {
    #[derive(Default)]
    struct Count {
        steps: usize,
        touches: usize,
        pairs: usize,
    }
    impl Hook for Count {
        fn contacts(&mut self, view: &View<'_>, touches: &mut [Touch], grips: &mut [Grip]) {
            assert_eq!(view.time, self.steps as f64 * view.step);
            self.steps += 1;
            self.touches += touches.len();
            self.pairs += grips.len();
        }
    }
    let model = resting_box(0.5);
    let mut count = Count::default();
    hooked(&model, &mut State::start(&model), 1.0, &mut count);
    // four corners of one pair in every one of the 60 steps
    assert_eq!((count.steps, count.touches, count.pairs), (60, 240, 60));
}

#[test]
fn a_hook_takes_friction_away() {
    struct Ice(bool);
    impl Hook for Ice {
        fn contacts(&mut self, _: &View<'_>, _: &mut [Touch], grips: &mut [Grip]) {
            if self.0 {
                for grip in grips {
                    grip.mu = [0.0; 2];
                }
            }
        }
    }
    // 20 degrees, mu = 0.5: it sticks unless there is ice
    let (s, c) = libm::sincos(20.0_f64.to_radians());
    let model = model(&format!(
        "[world]\ngravity = [{:e}, 0, {:e}]\n[[pair]]\nmaterials = [\"steel\", \"steel\"]\nfriction = 0.5\nrestitution = 0\n{FLOOR}{}",
        G * s,
        -G * c,
        cube("box", 0.0, 0.0, 0.1)
    ));
    let body = index(&model, "box");
    let end = |ice: bool| {
        let mut state = State::start(&model);
        hooked(&model, &mut state, 1.0, &mut Ice(ice));
        state.bodies()[body]
    };
    assert!(end(false).v.length() < 1e-9);
    let slid = end(true);
    assert!((slid.v.x / (G * s) - 1.0).abs() < 1e-9, "{}", slid.v);
    // and when it sleeps: the hook wakes it
    let settings = Settings { sleeping: true, ..one_thread() };
    let mut state = State::start(&model);
    let mut ice = Ice(false);
    simulate_with(&model, &mut state, 2.0, &settings, &mut [&mut ice], &mut ()).unwrap();
    assert_eq!(state.bodies()[body].v, Vec3::ZERO);
    ice.0 = true;
    simulate_with(&model, &mut state, 3.0, &settings, &mut [&mut ice], &mut ()).unwrap();
    assert!((state.bodies()[body].v.x / (G * s) - 1.0).abs() < 1e-9, "{}", state.bodies()[body].v);
}

#[test]
fn a_hook_switches_points_off() {
    struct Off;
    impl Hook for Off {
        fn contacts(&mut self, _: &View<'_>, touches: &mut [Touch], _: &mut [Grip]) {
            for touch in touches {
                touch.on = false;
            }
        }
    }
    let model = resting_box(0.5);
    let body = index(&model, "box");
    for sleeping in [false, true] {
        let settings = Settings { sleeping, ..one_thread() };
        let mut state = State::start(&model);
        run(&model, &mut state, 1.0, &settings);
        assert!((state.bodies()[body].p.z - 0.1).abs() < 1e-6);
        simulate_with(&model, &mut state, 2.0, &settings, &mut [&mut Off], &mut ()).unwrap();
        // free fall for one second
        let (z, v) = (state.bodies()[body].p.z, state.bodies()[body].v.z);
        assert!((v + G).abs() < 1e-6, "sleeping {sleeping}: {v} m/s");
        assert!((z - 0.1 + 0.5 * G).abs() < 0.1, "sleeping {sleeping}: at {z} m");
    }
}

#[test]
fn a_row_of_a_hook_holds_a_body() {
    /// The body climbs at 0.25 m/s.
    struct Winch {
        body: usize,
        impulse: f64,
        rows: usize,
    }
    impl Hook for Winch {
        fn rows(&mut self, _: &View<'_>, rows: &mut Vec<CustomRow>) {
            rows.push(CustomRow {
                ends: vec![(self.body, Six::new(Vec3::ZERO, Vec3::Z))],
                target: 0.25,
                ..CustomRow::default()
            });
        }
        fn after_solve(&mut self, view: &View<'_>, rows: &[Row], owners: &[Owner], velocities: &[Six]) {
            assert_eq!(view.step, STEP);
            assert_eq!(rows.len(), owners.len());
            for (row, owner) in rows.iter().zip(owners) {
                if *owner == Owner::Custom(0) {
                    self.impulse = row.lambda;
                    self.rows += 1;
                }
            }
            assert!((velocities[self.body].linear.z - 0.25).abs() < 1e-9);
        }
    }
    let model = model(&format!("{}{}", steel(0.5, 0.0), cube("box", 0.0, 0.0, 5.0)));
    let body = index(&model, "box");
    let mut winch = Winch { body, impulse: 0.0, rows: 0 };
    let mut state = State::start(&model);
    let summary = hooked(&model, &mut state, 2.0, &mut winch);
    assert_eq!(winch.rows, 120);
    assert!((winch.impulse / (G * STEP) - 1.0).abs() < 1e-8, "{}", winch.impulse);
    assert!((state.bodies()[body].p.z - 5.5).abs() < 1e-8, "{}", state.bodies()[body].p);
    // its work is in the books: the lift, and the speed
    assert!(
        (summary.energy[Cause::Work] - (G * 0.5 + 0.5 * 0.25 * 0.25)).abs() < 0.05,
        "{}",
        summary.energy[Cause::Work]
    );
    assert!(summary.energy.residual().abs() < 1e-9, "{:e}", summary.energy.residual());
}

/// A row that watches the speed along x and pushes along x and z: a body that is to reach 0.5 m/s and may be pushed with 0.1 N s in a
/// step gets as much upwards as forwards. Pivoting solves it, and its work is what its force does.
#[test]
fn a_row_of_a_hook_pushes_elsewhere_than_it_looks() {
    struct Wedge(usize);
    impl Hook for Wedge {
        fn rows(&mut self, _: &View<'_>, rows: &mut Vec<CustomRow>) {
            rows.push(CustomRow {
                ends: vec![(self.0, Six::new(Vec3::ZERO, Vec3::X))],
                force: vec![(self.0, Six::new(Vec3::ZERO, Vec3::X + Vec3::Z))],
                target: 0.5,
                lower: 0.0,
                upper: 0.1,
                ..CustomRow::default()
            });
        }
    }
    let free = model(&format!("{}{}", steel(0.5, 0.0), cube("box", 0.0, 0.0, 5.0)));
    let body = index(&free, "box");
    let mut state = State::start(&free);
    let summary = hooked(&free, &mut state, 10.0 * STEP, &mut Wedge(body));
    let v = state.bodies()[body].v;
    assert!((v.x - 0.5).abs() < 1e-9 && (v.z - (0.5 - 10.0 * G * STEP)).abs() < 1e-9, "{v}");
    assert_eq!((summary.solutions.pivoted, summary.solutions.lemke, summary.solutions.unconverged), (10, 0, 0));
    assert!(summary.energy.residual().abs() < 1e-9, "{:e}", summary.energy.residual());
    // on the floor it is pressed against a contact as well: N = m g h - lambda
    let rests = resting_box(0.0);
    let body = index(&rests, "box");
    let mut state = State::start(&rests);
    let summary = hooked(&rests, &mut state, 10.0 * STEP, &mut Wedge(body));
    let v = state.bodies()[body].v;
    assert!((v.x - 0.5).abs() < 1e-9 && v.z.abs() < 1e-5, "{v}");
    assert_eq!(summary.solutions.pivoted + summary.solutions.lemke, summary.solutions.direct);
    assert_eq!(summary.solutions.unconverged, 0);
}

/// Six cubes in free fall under one rope, sum of v_z >= 0: from rest it carries g h m/6 of each in a step; with half of
/// that as a bound they fall at half the rate. More than two bodies make one partition of them.
#[test]
fn a_row_of_a_hook_has_any_number_of_bodies_and_bounds() {
    struct Rope {
        bodies: Vec<usize>,
        upper: f64,
        impulse: f64,
    }
    impl Hook for Rope {
        fn rows(&mut self, _: &View<'_>, rows: &mut Vec<CustomRow>) {
            let ends = self.bodies.iter().map(|&b| (b, Six::new(Vec3::ZERO, Vec3::Z)));
            rows.push(CustomRow { ends: ends.collect(), lower: 0.0, upper: self.upper, ..CustomRow::default() });
        }
        fn after_solve_ties(&mut self, _: &View<'_>, ties: &[Tie], owners: &[Owner]) {
            assert_eq!((ties.len(), owners), (1, &[Owner::Custom(0)][..]));
            self.impulse = ties[0].lambda[0];
        }
    }
    let cubes: String = (0..6).map(|k| cube(&format!("box{k}"), f64::from(k), 0.0, 5.0)).collect();
    let model = model(&format!("{}{cubes}", steel(0.5, 0.0)));
    for (share, falls) in [(f64::INFINITY, 0.0), (0.5, 0.5)] {
        let bodies = (0..6).map(|k| index(&model, &format!("box{k}"))).collect();
        let mut rope = Rope { bodies, upper: share * G * STEP, impulse: 0.0 };
        let mut state = State::start(&model);
        let summary = hooked(&model, &mut state, 1.0, &mut rope);
        for b in &rope.bodies {
            let v = state.bodies()[*b].v.z;
            assert!((v + falls * G).abs() < 1e-8, "{v}");
        }
        assert!((rope.impulse / (G * STEP) - share.min(1.0)).abs() < 1e-8, "{}", rope.impulse);
        assert!(summary.energy.residual().abs() < 1e-8, "{:e}", summary.energy.residual());
    }
}

#[test]
fn a_row_of_a_hook_that_makes_no_sense_is_named() {
    struct Wrong(CustomRow);
    impl Hook for Wrong {
        fn rows(&mut self, _: &View<'_>, rows: &mut Vec<CustomRow>) {
            rows.push(self.0.clone());
        }
    }
    let model = resting_box(0.5);
    let ends = || vec![(index(&model, "box"), Six::new(Vec3::ZERO, Vec3::Z))];
    for (row, text) in [
        (CustomRow { ends: vec![(99, Six::ZERO)], ..CustomRow::default() }, "names body 99"),
        (CustomRow { ends: ends(), lower: 1.0, upper: 0.0, ..CustomRow::default() }, "the bounds 1 and 0"),
        (CustomRow { ends: ends(), target: f64::NAN, ..CustomRow::default() }, "not finite"),
        (CustomRow { ends: ends(), compliance: -1.0, ..CustomRow::default() }, "the compliance -1"),
    ] {
        let mut state = State::start(&model);
        let failure =
            simulate_with(&model, &mut state, 0.1, &one_thread(), &mut [&mut Wrong(row)], &mut ()).unwrap_err();
        let said = failure.to_string();
        assert!(said.contains("row of a hook \"0\"") && said.contains(text), "{said}");
    }
}

#[test]
fn a_hook_changes_a_bound_before_the_solution() {
    /// The floor gives at most half the weight.
    struct Weak(bool);
    impl Hook for Weak {
        fn before_solve(&mut self, view: &View<'_>, rows: &mut [Row], owners: &[Owner]) {
            for (row, owner) in rows.iter_mut().zip(owners) {
                if self.0 && matches!(owner, Owner::Normal(_)) {
                    row.upper = 0.5 * G * view.step / 4.0;
                }
            }
        }
    }
    let model = resting_box(0.5);
    let body = index(&model, "box");
    let end = |weak: bool| {
        let mut state = State::start(&model);
        hooked(&model, &mut state, 1.0, &mut Weak(weak));
        state.bodies()[body].v.z
    };
    assert!(end(false).abs() < 1e-9);
    assert!((end(true) + 0.5 * G).abs() < 1e-6, "{}", end(true));
}

#[test]
fn a_hook_sees_impulses_that_carry_the_weight() {
    #[derive(Default)]
    struct Sum(f64, usize);
    impl Hook for Sum {
        fn after_solve(&mut self, _: &View<'_>, rows: &[Row], owners: &[Owner], _: &[Six]) {
            let normals = || rows.iter().zip(owners).filter(|(_, o)| matches!(o, Owner::Normal(_)));
            self.0 = normals().map(|(row, _)| row.lambda).sum();
            self.1 = normals().count();
        }
    }
    let model = resting_box(0.5);
    let mut sum = Sum::default();
    hooked(&model, &mut State::start(&model), 1.0, &mut sum);
    assert_eq!(sum.1, 4);
    assert!((sum.0 / (G * STEP) - 1.0).abs() < 1e-9, "{}", sum.0);
}

// ---------------------------------------------------------------------------------------------------------------------------------
// sleeping

fn sleeper() -> Settings {
    Settings { sleeping: true, ..one_thread() }
}

/// Three boxes on each other.
fn short_stack() -> String {
    (0..3).map(|k| cube(&format!("box{k}"), 0.0, 0.0, 0.1 + 0.2 * f64::from(k))).collect()
}

/// Runs until everything sleeps; says so if it does not.
fn fall_asleep(model: &Model, until: f64) -> State {
    let mut state = State::start(model);
    run(model, &mut state, until, &sleeper());
    let summary = run(model, &mut state, until + 0.2, &sleeper());
    assert_eq!(summary.steps, 12);
    assert_eq!(summary.solutions.direct + summary.solutions.swept, 0, "solved although all sleeps");
    for (body, motion) in model.bodies.iter().zip(state.bodies()) {
        assert_eq!((motion.v, motion.w), (Vec3::ZERO, Vec3::ZERO), "{} moves", body.name);
    }
    state
}

#[test]
fn a_stack_falls_asleep_and_a_ball_wakes_it() {
    let text = format!(
        r#"{}{FLOOR}{}
        [[body]]
        name = "ball"
        material = "steel"
        mass = 0.5
        shape = {{ kind = "sphere", radius = 0.05 }}
        position = [-20, 0, 0.5]
        velocity = [10, 0, 9.81]
        "#,
        steel(0.5, 0.0),
        short_stack()
    );
    // a ball thrown for two seconds: it meets the top box where it started, at 0.5 m
    let model = model(&text);
    let mut state = State::start(&model);
    let tops = ["box0", "box1", "box2"].map(|name| index(&model, name));
    run(&model, &mut state, 1.9, &sleeper());
    for b in tops {
        assert_eq!((state.bodies()[b].v, state.bodies()[b].w), (Vec3::ZERO, Vec3::ZERO), "{b} does not sleep");
    }
    let summary = run(&model, &mut state, 1.95, &sleeper());
    assert_eq!(summary.solutions.direct, 0);
    let before = state.bodies()[tops[2]].p;
    run(&model, &mut state, 2.2, &sleeper());
    let after = state.bodies()[tops[2]];
    assert!(after.p.x - before.x > 0.01, "nobody woke: {}", after.p);
}

#[test]
fn a_stack_wakes_when_its_support_goes() {
    // the lowest box is deleted, may not touch the floor any longer, or hung from a joint that lets go
    let stack = |more: &str| format!("{}{FLOOR}{}{more}", steel(0.5, 0.0), short_stack());
    let hung = format!(
        r#"{}
        [[body]]
        name = "box0"
        material = "steel"
        mass = 1
        shape = {{ kind = "box", size = [0.2, 0.2, 0.2] }}
        position = [0, 0, 0.1]
        [[joint]]
        name = "weld"
        kind = "fixed"
        bodies = ["world", "box0"]
        at = [0, 0, 0.1]
        {}{}
        [[change]]
        name = "drop"
        at = 2
        release = "weld"
        "#,
        steel(0.5, 0.0),
        cube("box1", 0.0, 0.0, 0.3),
        cube("box2", 0.0, 0.0, 0.5)
    );
    for (what, text) in [
        ("delete", stack("[[change]]\nname = \"away\"\nat = 2\ndelete = \"box0\"\n")),
        ("contact_off", stack("[[change]]\nname = \"away\"\nat = 2\ncontact_off = [\"floor\", \"box0\"]\n")),
        ("release", hung),
    ] {
        let model = model(&text);
        let mut state = fall_asleep(&model, 1.7);
        run(&model, &mut state, 2.1, &sleeper());
        let top = state.bodies()[index(&model, "box2")];
        assert!((top.v.z + 0.1 * G).abs() < 0.2, "{what}: the top box does not fall: {} m/s", top.v.z);
    }
}

/// Friction takes it along with mu g until it has the speed of the belt; the belt rises under it.
#[test]
fn a_body_goes_with_a_moving_one() {
    let text = format!(
        r#"{}
        [[body]]
        name = "belt"
        material = "steel"
        shape = {{ kind = "box", size = [4, 4, 0.2] }}
        position = [0, 0, -0.1]
        motion = {{ velocity = [0.5, 0, 0.2] }}
        {}
        "#,
        steel(0.5, 0.0),
        cube("box", 0.0, 0.0, 0.1)
    );
    let model = model(&text);
    for solver in [Solver::Direct, Solver::Sweeps] {
        let mut state = State::start(&model);
        run(&model, &mut state, 1.0, &Settings { solver, ..one_thread() });
        let body = state.bodies()[index(&model, "box")];
        let slid = 0.5 * 0.5 * 0.5 / (0.5 * G);
        assert!((body.v.x - 0.5).abs() < 1e-3 && (body.v.z - 0.2).abs() < 1e-3, "{solver:?} {}", body.v);
        assert!((body.p.x - (0.5 - slid)).abs() < 0.02 && (body.p.z - 0.3).abs() < 1e-3, "{solver:?} {}", body.p);
    }
}

#[test]
fn a_body_on_a_moving_one_does_not_sleep() {
    // slower than the speed that counts as rest
    let speed = 5e-5;
    let text = format!(
        r#"{}
        [[body]]
        name = "belt"
        material = "steel"
        shape = {{ kind = "box", size = [2, 2, 0.2] }}
        position = [0, 0, -0.1]
        motion = {{ velocity = [{speed}, 0, 0] }}
        {}
        "#,
        steel(0.5, 0.0),
        cube("box", 0.0, 0.0, 0.1)
    );
    let model = model(&text);
    let mut state = State::start(&model);
    run(&model, &mut state, 5.0, &sleeper());
    let moved = state.bodies()[index(&model, "box")].p.x;
    assert!((moved / (5.0 * speed) - 1.0).abs() < 0.01, "moved by {moved:e} m");
}

// ---------------------------------------------------------------------------------------------------------------------------------
// fast bodies

#[test]
fn a_bullet_does_not_pass_a_plate() {
    for restitution in [0.0, 0.5] {
        for start in [1.0, 1.3, 1.9, 2.7] {
            let model = model(&format!(
                r#"{}
                [[body]]
                name = "plate"
                fixed = true
                material = "steel"
                shape = {{ kind = "box", size = [0.001, 1, 1] }}
                [[body]]
                name = "bullet"
                material = "steel"
                shape = {{ kind = "sphere", radius = 0.002 }}
                position = [-{start}, 0, 0.2]
                velocity = [100, 0, 0]
                "#,
                steel(0.3, restitution)
            ));
            let mut state = State::start(&model);
            let summary = run(&model, &mut state, 0.2, &one_thread());
            let bullet = state.bodies()[index(&model, "bullet")];
            assert!(bullet.p.x < 0.0, "e = {restitution}, from {start} m: passed, at {} m", bullet.p.x);
            assert!(bullet.v.x < 1e-6, "e = {restitution}, from {start} m: still {} m/s", bullet.v.x);
            assert!(
                summary.warnings.iter().any(|w| w.contains("\"bullet\"") && w.contains("smaller step")),
                "no warning: {:?}",
                summary.warnings
            );
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------------------
// energy and momentum

/// Bodies of all kinds dropped on each other.
fn heap(seed: u64, restitution: f64) -> String {
    let mut r = Random(seed);
    let mut text = format!("{}{FLOOR}", steel(r.between(0.1, 0.8), restitution));
    for k in 0..10 {
        let mut x = |low: f64, high: f64| r.between(low, high);
        let shape = match k % 5 {
            0 => format!("kind = \"box\", size = [{:e}, {:e}, {:e}]", x(0.1, 0.3), x(0.1, 0.3), x(0.1, 0.3)),
            1 => format!("kind = \"sphere\", radius = {:e}", x(0.05, 0.15)),
            2 => format!("kind = \"cylinder\", radius = {:e}, length = {:e}", x(0.05, 0.12), x(0.1, 0.3)),
            3 => format!("kind = \"capsule\", radius = {:e}, length = {:e}", x(0.05, 0.1), x(0.1, 0.2)),
            _ => {
                let points: Vec<String> = (0..8)
                    .map(|c| {
                        let corner = |bit: i32, v: f64| if c >> bit & 1 == 1 { v } else { -v };
                        let (a, b, c) = (x(0.06, 0.14), x(0.06, 0.14), x(0.06, 0.14));
                        format!("[{:e}, {:e}, {:e}]", corner(0, a), corner(1, b), corner(2, c))
                    })
                    .collect();
                format!("kind = \"hull\", points = [{}]", points.join(", "))
            }
        };
        let _ = write!(
            text,
            r#"
            [[body]]
            name = "body{k}"
            material = "steel"
            density = 800
            shape = {{ {shape} }}
            position = [{:e}, {:e}, {:e}]
            orientation = {{ axis = [1, {:e}, {:e}], angle = {:e} }}
            velocity = [{:e}, {:e}, {:e}]
            angular_velocity = [{:e}, {:e}, {:e}]
            "#,
            x(-0.2, 0.2),
            x(-0.2, 0.2),
            0.3 + 0.45 * f64::from(k),
            x(-1.0, 1.0),
            x(-1.0, 1.0),
            x(0.0, 3.0),
            x(-1.0, 1.0),
            x(-1.0, 1.0),
            x(-1.0, 0.0),
            x(-5.0, 5.0),
            x(-5.0, 5.0),
            x(-5.0, 5.0)
        );
    }
    text
}

/// Largest growth of kinetic and potential energy beyond the work put in, from any time to any later one, and largest residual, as shares of
/// the largest energy above the lowest.
fn growth(energy: &[Ledger]) -> (f64, f64) {
    let own = |e: &Ledger| e.kinetic + e.potential;
    let (least, most) =
        energy.iter().map(own).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), e| (a.min(e), b.max(e)));
    let (mut lowest, mut grown, mut residual) = (f64::INFINITY, 0.0_f64, 0.0_f64);
    for e in energy {
        lowest = lowest.min(own(e) - e[Cause::Work]);
        grown = grown.max(own(e) - e[Cause::Work] - lowest);
        residual = residual.max(e.residual().abs());
    }
    (grown / (most - least), residual / (most - least))
}

#[test]
fn heaps_never_gain_energy() {
    for restitution in [0.0, 0.5] {
        for seed in 0..10 {
            let model = model(&heap(seed, restitution));
            let (recording, summary) = recorded(&model, 2.5, &one_thread());
            let (grown, residual) = growth(&recording.energy);
            println!(
                "e = {restitution}, seed {seed}: grown {grown:.1e}, residual {residual:.1e}, {} of {} not converged",
                summary.solutions.unconverged, summary.solutions.direct
            );
            assert!(residual < 1e-9, "e = {restitution}, seed {seed}: residual {residual:e}");
            // overlaps that a step left are pushed out: a little lift
            assert!(grown < 1e-4, "e = {restitution}, seed {seed}: energy grew by {grown:e}");
            for (body, state) in model.bodies.iter().zip(&summary.bodies) {
                assert!(state.position.z > -1e-3, "e = {restitution}, seed {seed}: {} fell through", body.name);
            }
        }
    }
}

/// A bucket enters loose stones that are swept: the patches of its mesh come and go, and with them the springs of their friction. What these store is
/// booked where it came from.
#[test]
fn friction_of_patches_that_come_and_go_books_a_loss() {
    let text = include_str!("../../../../scenes/belgian_blocks.toml").replace("\"-0.9 m\", 0,", "\"-0.4 m\", 0,");
    let scene = Scene::parse("belgian_blocks.toml", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
    let model = Model::compile(&scene).unwrap_or_else(|e| panic!("{e}"));
    let settings = Settings { threads: 1, ..Settings::from_scene(&scene) };
    let mut state = State::start(&model);
    let mut last = run(&model, &mut state, 0.1, &settings).energy;
    for k in 1..=5 {
        let energy = run(&model, &mut state, 0.1 + 0.02 * f64::from(k), &settings).energy;
        let [sliding, own] =
            [energy[Cause::Sliding] - last[Cause::Sliding], energy[Cause::Integration] - last[Cause::Integration]];
        println!("t = {} s: sliding {sliding:.3} J, integration {own:.3} J", state.time);
        assert!(sliding > -0.5, "sliding gave {} J", -sliding);
        assert!(own.abs() < 0.5, "the step itself lost {own} J");
        last = energy;
    }
    assert!(
        last[Cause::Work] > 5.0 && last[Cause::Sliding] > 1.0,
        "work {} J, sliding {} J",
        last[Cause::Work],
        last[Cause::Sliding]
    );
}

/// Shares of linear and angular momentum that a box and a capsule lose when they meet in space.
fn lost_momenta(restitution: f64) -> [f64; 2] {
    let model = model(&format!(
        r#"
        [world]
        gravity = [0, 0, 0]
        [[pair]]
        materials = ["steel", "steel"]
        friction = 0.4
        restitution = {restitution}
        [[body]]
        name = "left"
        material = "steel"
        mass = 2
        shape = {{ kind = "box", size = [0.2, 0.3, 0.25] }}
        position = [-1, 0.02, 0]
        orientation = {{ axis = [1, 2, 3], angle = 0.7 }}
        velocity = [3, 0, 0.1]
        angular_velocity = [1, 2, -1]
        [[body]]
        name = "right"
        material = "steel"
        mass = 3
        shape = {{ kind = "capsule", radius = 0.1, length = 0.2 }}
        position = [0.5, 0, 0]
        velocity = [-1, 0, 0]
        angular_velocity = [0, -3, 1]
        "#
    ));
    let momenta = |state: &State| {
        let (mut linear, mut angular) = (Vec3::ZERO, Vec3::ZERO);
        for (body, s) in model.bodies.iter().zip(state.bodies()) {
            linear += s.v * body.mass;
            angular += s.p.cross(s.v * body.mass) + s.q * (body.I_c * (s.q.conjugate() * s.w));
        }
        [linear, angular]
    };
    let mut state = State::start(&model);
    let (before, v) = (momenta(&state), state.bodies()[0].v);
    run(&model, &mut state, 1.5, &one_thread());
    let after = momenta(&state);
    assert!((state.bodies()[0].v - v).length() > 0.5, "they did not meet");
    [0, 1].map(|k| (after[k] - before[k]).length() / before[k].length())
}

#[test]
fn colliding_bodies_keep_their_momentum() {
    for restitution in [0.0, 0.5, 0.9] {
        let [linear, _] = lost_momenta(restitution);
        assert!(linear < 1e-12, "e = {restitution}: momentum off by {linear:e}");
    }
}

#[test]
fn colliding_bodies_keep_their_angular_momentum() {
    for restitution in [0.0, 0.5, 0.9] {
        let [_, angular] = lost_momenta(restitution);
        // they touch to 1e-9 of their size
        assert!(angular < 1e-9, "e = {restitution}: angular momentum off by {angular:e}");
    }
}

/// Blocks of 4:2:1 that tumble at some 20 rad/s and meet several times, at 1/60 s: a third of a turn in a step.
#[test]
fn tumbling_blocks_keep_their_angular_momentum() {
    let blocks = |shape: &str| {
        model(&format!(
            r#"
            [world]
            gravity = [0, 0, 0]
            [contact]
            friction = 0
            restitution = 0.5
            [defaults]
            material = "steel"
            [[solid]]
            name = "block"
            kind = "box"
            size = [0.2, 0.1, 0.05]
            [[body]]
            name = "a"
            shape = {shape}
            velocity = [1, 0.1, 0]
            angular_velocity = [0.5, 1, 3]
            [[body]]
            name = "b"
            shape = {shape}
            position = [0.4, 0.06, 0.01]
            velocity = [-1.5, -0.2, 0]
            angular_velocity = [-1, 2, 5]
            orientation = {{ axis = [1, 1, 0], angle = "40 deg" }}
            "#
        ))
    };
    for (shape, most) in
        [(r#"{ kind = "box", size = [0.2, 0.1, 0.05] }"#, 1e-6), (r#"{ kind = "mesh", solid = "block" }"#, 0.02)]
    {
        let model = blocks(shape);
        let angular = |state: &State| {
            let both = model.bodies.iter().zip(state.bodies());
            both.map(|(b, s)| s.p.cross(s.v * b.mass) + s.q * (b.I_c * (s.q.conjugate() * s.w))).sum::<Vec3>()
        };
        let mut state = State::start(&model);
        let before = angular(&state);
        run(&model, &mut state, 0.3, &one_thread());
        let lost = (angular(&state) - before).length() / before.length();
        println!("{shape}: {lost:e}");
        assert!(state.bodies()[0].w.length() > 15.0 && lost < most, "{shape}: {lost:e}");
    }
}

/// The rebound of two balls at steps far longer than the impact, about as long, and so short that they resolve it.
#[test]
fn restitution_does_not_depend_on_the_step() {
    let model = model(
        r#"
        [world]
        gravity = [0, 0, 0]
        [contact]
        restitution = 0.7
        friction = 0
        [defaults]
        material = "steel"
        [[body]]
        name = "left"
        shape = { kind = "sphere", radius = 0.025 }
        velocity = [1, 0, 0]
        [[body]]
        name = "right"
        shape = { kind = "sphere", radius = 0.025 }
        position = [0.051, 0, 0]
        "#,
    );
    for step in [1e-2, 1e-3, 1e-4, 1e-5, 1e-6] {
        let mut state = State::start(&model);
        run(&model, &mut state, (2e-3_f64).max(step), &Settings { step, ..one_thread() });
        let bounce = state.bodies()[1].v.x - state.bodies()[0].v.x;
        assert!((bounce - 0.7).abs() < 1e-4, "h = {step} s: {bounce}");
    }
}

/// Energy of a chain of 20 links of 1 kg with a load at its end that is let go at an angle from the vertical [deg]: largest growth over 6 s as
/// a share of what there is to fall.
fn chain_gain(load: f64, tilt: f64) -> f64 {
    let (s, c) = libm::sincos(tilt.to_radians());
    let mut text = steel(0.5, 0.0);
    for k in 0..21 {
        let (mass, inertia) = if k == 20 { (load, 0.1 * load) } else { (1.0, 0.02) };
        let parent = if k == 0 { "world".to_owned() } else { format!("link{}", k - 1) };
        let (centre, joint) = (0.25 + 0.5 * f64::from(k), 0.5 * f64::from(k));
        let _ = write!(
            text,
            r#"
            [[body]]
            name = "link{k}"
            mass = {mass}
            inertia = [{inertia}, {inertia}, {inertia}]
            position = [{:e}, 0, {:e}]
            [[joint]]
            name = "joint{k}"
            kind = "spherical"
            bodies = ["{parent}", "link{k}"]
            at = [{:e}, 0, {:e}]
            "#,
            s * centre,
            -c * centre,
            s * joint,
            -c * joint
        );
    }
    let model = model(&text);
    let mut recording = Recording::new(Subjects::of(&model));
    if simulate(&model, &mut State::start(&model), 6.0, &one_thread(), &mut recording).is_err() {
        return f64::INFINITY;
    }
    let first = recording.energy[0].stored();
    let gain = recording.energy.iter().map(|e| e.stored() - first).fold(0.0, f64::max);
    let fall = recording.energy.iter().map(|e| recording.energy[0].potential - e.potential).fold(0.0, f64::max);
    gain / fall
}

#[test]
fn a_heavy_chain_swings_without_gain() {
    for (load, tilt) in [(1e2, 30.0), (1e4, 30.0), (1e4, 60.0)] {
        let gain = chain_gain(load, tilt);
        println!("{load} kg from {tilt} deg: gains {gain:e}");
        assert!(gain < 0.02, "{load} kg from {tilt} deg: gains {gain:e}");
    }
}

#[test]
fn a_heavy_chain_from_the_horizontal_swings_without_gain() {
    for load in [1e2, 1e4] {
        let gain = chain_gain(load, 90.0);
        println!("{load} kg from 90 deg: gains {gain:e}");
        assert!(gain < 0.02, "{load} kg from 90 deg: gains {gain:e}");
    }
}

// ---------------------------------------------------------------------------------------------------------------------------------
// bad input

/// Ends finite or with a named failure; stored energy within the work put in and a share of what there was.
fn behaves(what: &str, text: &str, until: f64) {
    let model = match compiled(text) {
        Ok(model) => model,
        Err(errors) => {
            assert!(errors.contains("test.toml"), "{what}: {errors}");
            println!("{what}: refused: {}", errors.lines().next().unwrap_or_default());
            return;
        }
    };
    let state = State::start(&model);
    goes_on(what, &model, state, until);
}

fn goes_on(what: &str, model: &Model, mut state: State, until: f64) {
    let mut recording = Recording::new(Subjects::of(model));
    match simulate(model, &mut state, until, &one_thread(), &mut recording) {
        Ok(summary) => {
            for (body, s) in model.bodies.iter().zip(state.bodies()) {
                let finite = s.p.is_finite() && s.q.is_finite() && s.v.is_finite() && s.w.is_finite();
                assert!(finite, "{what}: {} is not finite", body.name);
            }
            let first = &recording.energy[0];
            let scale =
                recording.energy.iter().map(|e| e[Cause::Work].abs()).fold(first.stored().abs(), f64::max).max(1.0);
            for e in &recording.energy {
                let grown = e.kinetic + e.potential - first.stored() - e[Cause::Work];
                assert!(
                    grown < 1e-3 * scale,
                    "{what}: energy grew by {grown:e} J beyond the work {:e} J",
                    e[Cause::Work]
                );
            }
            println!("{what}: kinetic {:.3e} J, warnings {:?}", summary.energy.kinetic, summary.warnings);
        }
        Err(Failure { name, what: why, .. }) => {
            assert!(model.bodies.iter().any(|b| b.name == name), "{what}: failure names \"{name}\"");
            assert!(why.contains("help: "), "{what}: {why}");
            println!("{what}: {name} {why}");
        }
    }
}

#[test]
fn joints_that_disagree() {
    for distance in [0.01, 0.5] {
        behaves(
            &format!("two posts {distance} m apart"),
            &format!(
                r#"{}
                [[body]]
                name = "post1"
                fixed = true
                frames = [{{ name = "pin", position = [0, 0, 1] }}]
                [[body]]
                name = "post2"
                fixed = true
                frames = [{{ name = "pin", position = [{distance}, 0, 1] }}]
                [[body]]
                name = "beam"
                mass = 1
                inertia = [1, 1, 1]
                position = [0, 0, 1]
                frames = [{{ name = "pin", position = [0, 0, 0] }}]
                [[joint]]
                name = "first"
                kind = "fixed"
                bodies = ["post1.pin", "beam.pin"]
                [[joint]]
                name = "second"
                kind = "fixed"
                bodies = ["post2.pin", "beam.pin"]
                rows = true
                "#,
                steel(0.5, 0.0)
            ),
            1.0,
        );
    }
}

#[test]
fn drives_without_force() {
    for (kind, more) in [("position", "stiffness = 1e6, damping = 1e3, "), ("speed", "")] {
        behaves(
            kind,
            &format!(
                r#"{}
                [[body]]
                name = "arm"
                mass = 1
                inertia = [0.1, 0.1, 0.1]
                position = [0.5, 0, 0]
                [[joint]]
                name = "hinge"
                kind = "revolute"
                bodies = ["world", "arm"]
                at = [0, 0, 0]
                axis = "y"
                motor = {{ kind = "{kind}", value = 1, {more}limit = 0 }}
                "#,
                steel(0.5, 0.0)
            ),
            2.0,
        );
    }
}

#[test]
fn enormous_forces() {
    for (what, force, torque) in [
        ("up", "[0, 0, 1e12]", "[0, 0, 0]"),
        ("down", "[0, 0, -1e12]", "[0, 0, 0]"),
        ("sideways", "[1e12, 0, 0]", "[0, 0, 0]"),
        ("turning", "[0, 0, 0]", "[0, 1e12, 1e12]"),
        ("larger than numbers", "[\"1e300*1e300\", 0, 0]", "[0, 0, 0]"),
    ] {
        behaves(
            what,
            &format!(
                r#"{}{FLOOR}{}{}
                [[force]]
                name = "push"
                kind = "applied"
                on = "box0"
                force = {force}
                torque = {torque}
                "#,
                steel(0.5, 0.3),
                cube("box0", 0.0, 0.0, 0.1),
                cube("box1", 0.0, 0.0, 0.3)
            ),
            1.0,
        );
    }
}

#[test]
fn bodies_that_start_in_each_other() {
    for depth in [0.01, 0.1, 0.19] {
        behaves(
            &format!("overlap of {depth} m"),
            &format!(
                "{}{FLOOR}{}{}",
                steel(0.5, 0.5),
                cube("box0", 0.0, 0.0, 0.1),
                cube("box1", 0.02, 0.01, 0.3 - depth)
            ),
            3.0,
        );
    }
    for centre in [0.0, -0.05, -0.3] {
        behaves(
            &format!("centre at {centre} m"),
            &format!("{}{FLOOR}{}", steel(0.5, 0.5), cube("box", 0.0, 0.0, centre)),
            3.0,
        );
    }
}

#[test]
fn a_body_that_is_put_into_another() {
    let text = format!("{}{FLOOR}{}{}", steel(0.5, 0.5), cube("box0", 0.0, 0.0, 0.1), cube("box1", 1.0, 0.0, 0.1));
    let model = model(&text);
    for shift in [[-1.0, 0.0, 0.0], [-0.9, 0.05, 0.1], [0.0, 0.0, -0.15]] {
        let mut state = State::start(&model);
        run(&model, &mut state, 0.5, &one_thread());
        let mut value = serde_json::to_value(&state).unwrap();
        let p = &mut value["bodies"][index(&model, "box1")]["p"];
        for (k, d) in shift.iter().enumerate() {
            p[k] = (p[k].as_f64().unwrap() + d).into();
        }
        value["recorded"] = false.into();
        let moved: State = serde_json::from_value(value).unwrap();
        goes_on(&format!("moved by {shift:?}"), &model, moved, 4.0);
    }
}

/// Scenes the clock once got wrong; each says in its first lines how.
#[test]
fn mended_scenes_stay_finite_and_in_their_books() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mended");
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("a scene");
        let scene = Scene::parse("mended.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        let model = Model::compile(&scene).unwrap_or_else(|errors| panic!("{errors}"));
        let mut state = State::start(&model);
        let run =
            tippe::realtime::simulate(&model, &mut state, scene.run.until, &Settings::from_scene(&scene), &mut ());
        match run {
            Err(failure) => wrong.push(format!("{}: {failure}", path.display())),
            Ok(summary) => {
                let energy = summary.energy;
                let turned = Cause::LOST.iter().fold(0.0_f64, |most, &cause| most.max(energy[cause].abs()));
                if turned > 2.0 * energy.initial.abs().max(1.0) {
                    wrong.push(format!("{}: {turned} J booked, {} J at the start", path.display(), energy.initial));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_hand_pulls_a_body_and_a_recording_of_it_repeats_the_bits() {
    /// Pulls a corner of the box upwards for a second.
    struct Hand(Pull);
    impl Hook for Hand {
        fn pull(&mut self, view: &View<'_>) -> Option<Pull> {
            (view.time > 0.5 && view.time < 1.5).then_some(Pull { to: self.0.to + view.time * Vec3::X, ..self.0 })
        }
    }
    let model = model(&format!("{}{FLOOR}{}", steel(0.5, 0.3), cube("box", 0.0, 0.0, 0.1)));
    let body = index(&model, "box");
    let m = model.bodies[body].mass;
    let at = Vec3::splat(0.1);
    let pull = Pull { body, at, to: Vec3::new(0.0, 0.0, 1.0), stiffness: 40.0 * m, damping: 8.0 * m };
    let run = |hook: &mut dyn Hook, folder: Option<&std::path::Path>| {
        let mut state = State::start(&model);
        let mut lines = Lines(Vec::new());
        let summary = simulate_with(&model, &mut state, 2.0, &one_thread(), &mut [hook], &mut lines).unwrap();
        if let Some(folder) = folder {
            let text: Vec<String> = lines.0.iter().map(|(step, pull)| line(*step, *pull)).collect();
            std::fs::write(folder.join("inputs.jsonl"), text.join("\n")).unwrap();
        }
        (summary, state)
    };
    /// What is heard of the hand.
    struct Lines(Vec<(u64, Option<Pull>)>);
    impl Observe for Lines {
        fn pull(&mut self, step: u64, pull: Option<&Pull>) {
            self.0.push((step, pull.copied()));
        }
    }
    fn line(step: u64, pull: Option<Pull>) -> String {
        let Some(Pull { at, to, stiffness, damping, .. }) = pull else {
            return format!("{{\"step\":{step},\"pull\":null}}");
        };
        format!(
            "{{\"step\":{step},\"pull\":{{\"body\":\"box\",\"at\":{:?},\"to\":{:?},\"stiffness\":{stiffness:?},\"damping\":{damping:?}}}}}",
            at.to_array(),
            to.to_array()
        )
    }
    let dir = tempfile::tempdir().unwrap();
    let (pulled, state) = run(&mut Hand(pull), Some(dir.path()));
    let (alone, _) = run(&mut Hand(Pull { stiffness: f64::NAN, ..pull }), None);
    assert!(state.bodies()[body].p.distance(alone.bodies[body].position) > 0.1, "it was moved");
    // the hand's work is in the books
    assert!(pulled.energy[Cause::Work].abs() > 1.0, "{}", pulled.energy[Cause::Work]);
    assert!(pulled.energy.residual().abs() < 1e-6 * pulled.energy[Cause::Work].abs(), "{:e}", pulled.energy.residual());
    let mut replay = tippe::run::Replay::read(dir.path(), &model).unwrap();
    assert!(!replay.is_empty());
    assert_eq!(run(&mut replay, None).0.hash, pulled.hash);
    for (wrong, says) in [
        ("{\"step\":1,\"pull\":{\"body\":\"bix\",\"at\":[0,0,0],\"to\":[0,0,0],\"stiffness\":1,\"damping\":0}}", "bix"),
        (
            "{\"step\":1,\"pull\":{\"body\":\"floor\",\"at\":[0,0,0],\"to\":[0,0,0],\"stiffness\":1,\"damping\":0}}",
            "free",
        ),
        ("{\"step\":2,\"pull\":null}\n{\"step\":1,\"pull\":null}", "go back"),
    ] {
        std::fs::write(dir.path().join("inputs.jsonl"), wrong).unwrap();
        let message = tippe::run::Replay::read(dir.path(), &model).unwrap_err().to_string();
        assert!(message.contains(says), "{message}");
    }
}

/// What starts on a slab without any depth slides on, wherever it stands: the normal of surfaces that only touch is that of their faces, not the
/// line between their middles.
#[test]
fn meshes_that_only_touch_slide_on() {
    for (x, gravity, mu) in [(-0.5, G, 0.3), (-0.137, G, 0.3), (0.9, G, 0.3), (-0.5, 0.0, 0.3), (-0.5, G, 0.0)] {
        let text = format!(
            r#"
[world]
gravity = [0, 0, {}]
[contact]
friction = {mu}
restitution = 0.3
[[solid]]
name = "slab"
kind = "box"
size = [4, 1, 0.2]
[[solid]]
name = "block"
kind = "box"
size = [0.3, 0.1, 0.05]
[[body]]
name = "slab"
fixed = true
material = "steel"
shape = {{ kind = "mesh", solid = "slab" }}
position = [0, 0, -0.1]
[[body]]
name = "block"
material = "steel"
shape = {{ kind = "mesh", solid = "block" }}
position = [{x}, 0, 0.025]
velocity = [1, 0, 0]
"#,
            -gravity
        );
        let model = model(&text);
        let mut state = State::start(&model);
        simulate(&model, &mut state, 0.02, &Settings { step: 1e-3, ..Settings::default() }, &mut ()).expect("runs");
        let v = state.bodies()[1].v;
        assert!((v - Vec3::new(1.0 - mu * gravity * 0.02, 0.0, 0.0)).length() < 1e-3, "{x} {gravity} {mu}: {v}");
    }
}
