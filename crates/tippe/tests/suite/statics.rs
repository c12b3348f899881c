//! Poses of rest and linear systems against closed forms.

use std::f64::consts::{PI, TAU};
use tippe::linear::linearize;
use tippe::scene::Scene;
use tippe::statics::{NoEquilibrium, Search, Stability, equilibrium, settled};
use tippe::{Equilibrium, Linearization, Model, Settings};

const G: f64 = 9.81;

fn compile(body: &str) -> Model {
    Model::compile(&scene(body)).unwrap_or_else(|errors| panic!("{errors}"))
}

fn scene(body: &str) -> Scene {
    let text = format!("format = 1\ntitle = \"statics\"\n[run]\nuntil = 1\n{body}");
    Scene::parse("statics.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

fn rest(model: &Model) -> Equilibrium {
    let found = equilibrium(model, &Search::default()).unwrap_or_else(|error| panic!("{error}"));
    println!("{} steps, residual {:e}, {:?}", found.steps, found.residual, found.stability);
    found
}

fn linear(model: &Model, time: f64) -> Linearization {
    linearize(model, time, &Settings { tolerance: 1e-10, threads: 1, ..Settings::default() }).unwrap()
}

fn signal(model: &Model, pose: &Equilibrium, name: &str) -> f64 {
    pose.signals[model.signals.iter().position(|s| s.name == name).unwrap()]
}

fn near(a: f64, b: f64, within: f64) {
    assert!((a - b).abs() <= within * b.abs().max(1e-300), "{a} {b}, relative {:e}", (a - b) / b);
}

/// A rod of 2 kg, centre 0.3 m from its hinge, 0.05 kg m^2 about it, at this angle from the x-axis.
fn pendulum(angle: f64, more: &str) -> String {
    format!(
        r#"
[world]
gravity = [0, -9.81, 0]
[[body]]
name = "rod"
mass = 2
inertia = [0.001, 0.05, 0.05]
frames = [{{ name = "foot", position = [-0.3, 0, 0] }}]
[[joint]]
name = "hinge"
kind = "revolute"
bodies = ["world", "rod.foot"]
angle = {angle}
{more}
"#
    )
}

/// sqrt(m g l/(I + m l^2)).
fn pendulum_frequency() -> f64 {
    (2.0 * G * 0.3 / (0.05 + 2.0 * 0.09)).sqrt()
}

#[test]
fn a_pendulum_comes_to_hang() {
    for angle in [0.0, 1.4, 2.5, -3.0] {
        let model = compile(&pendulum(angle, ""));
        let pose = rest(&model);
        let found = signal(&model, &pose, "hinge.angle");
        assert!((libm::remainder(found + PI / 2.0, TAU)).abs() < 1e-8, "from {angle}: {found}");
        assert_eq!(pose.stability, Stability::Stable);
        near(pose.modes[0].frequency, pendulum_frequency() / TAU, 1e-7);
        near(signal(&model, &pose, "hinge.force.y"), 2.0 * G, 1e-9);
    }
}

#[test]
fn an_inverted_pendulum_is_unstable() {
    let model = compile(&pendulum(PI / 2.0, ""));
    let pose = rest(&model);
    assert_eq!((pose.steps, pose.stability), (0, Stability::Unstable));
    let growth = pose.modes.iter().map(|m| m.real).fold(0.0, f64::max);
    near(growth, pendulum_frequency(), 1e-7);
}

#[test]
fn a_damped_oscillator() {
    let (m, k, c) = (2.0, 50.0, 3.0);
    let model = compile(&format!(
        r#"
[world]
gravity = [0, 0, -9.81]
[[body]]
name = "mass"
mass = {m}
inertia = [1, 1, 1]
[[joint]]
name = "rail"
kind = "prismatic"
bodies = ["world", "mass"]
at = [0, 0, 0]
spring = {{ stiffness = {k}, damping = {c} }}
motor = {{ kind = "torque", value = "0" }}
"#
    ));
    let pose = rest(&model);
    near(signal(&model, &pose, "rail.position"), -m * G / k, 1e-10);
    let system = linear(&model, 0.7);
    assert_eq!(system.modes.len(), 1);
    let omega = libm::sqrt(k / m);
    near(system.modes[0].frequency, omega / TAU, 1e-8);
    near(system.modes[0].damping, c / (2.0 * libm::sqrt(k * m)), 1e-8);
    near(system.modes[0].time_constant, 2.0 * m / c, 1e-8);
    assert_eq!(system.states.iter().map(|s| &s.name[..]).collect::<Vec<_>>(), ["rail.position", "rail.speed"]);
    assert_eq!(system.inputs.len(), 1);
    assert_eq!(system.inputs[0].unit, "N");
    for (row, expected) in system.A.iter().zip([[0.0, 1.0], [-k / m, -c / m]]) {
        for (a, b) in row.iter().zip(expected) {
            assert!((a - b).abs() < 1e-7, "{:?}", system.A);
        }
    }
    assert!(system.B[0][0].abs() < 1e-12 && (system.B[1][0] - 1.0 / m).abs() < 1e-12, "{:?}", system.B);
    let place = system.outputs.iter().position(|o| o.name == "rail.position").unwrap();
    assert!((system.C[place][0] - 1.0).abs() < 1e-9 && system.C[place][1].abs() < 1e-9);
    assert_eq!(system.D[place], [0.0]);
}

#[test]
fn the_two_frequencies_of_a_double_pendulum() {
    // two uniform rods, m = l = 1: det(K - w^2 M) = 0 with M = [4/3 1/2; 1/2 1/3], K = g [3/2 0; 0 1/2]
    let path = format!("{}/../../scenes/double_pendulum.toml", env!("CARGO_MANIFEST_DIR"));
    let model = Model::compile(&Scene::load(&path, &[]).unwrap()).unwrap();
    let pose = rest(&model);
    let (a, b, c) = (4.0 / 9.0 - 0.25, -(4.0 / 3.0 * 0.5 + 1.0 / 3.0 * 1.5) * G, 0.75 * G * G);
    let root = libm::sqrt(b * b - 4.0 * a * c);
    for (mode, square) in pose.modes.iter().zip([(-b - root) / (2.0 * a), (-b + root) / (2.0 * a)]) {
        near(mode.frequency, libm::sqrt(square) / TAU, 1e-7);
    }
    assert_eq!((pose.modes.len(), pose.stability), (2, Stability::Stable));
}

#[test]
fn a_mass_on_a_spring_between_points() {
    let text = r#"
[world]
gravity = [0, 0, -9.81]
[[body]]
name = "weight"
mass = 3
inertia = [0.1, 0.2, 0.3]
position = [0.2, 0, -0.5]
[[force]]
name = "coil"
kind = "spring"
between = ["world", "weight"]
stiffness = 400
rest = 0.4
"#;
    let model = compile(text);
    let pose = rest(&model);
    let length = 0.4 + 3.0 * G / 400.0;
    assert!((pose.bodies[0].position.z + length).abs() < 1e-9 && pose.bodies[0].position.x.abs() < 1e-7);
    // nothing turns it about its centre
    assert_eq!(pose.stability, Stability::Neutral);
    let fastest = pose.modes.iter().map(|m| m.frequency).fold(0.0, f64::max);
    near(fastest, libm::sqrt(400.0 / 3.0) / TAU, 1e-6);
    // the scene of the pose is at rest, and its spring as long without force as it was
    let scene = settled(&scene(text), &model, &pose).unwrap();
    let again = rest(&Model::compile(&Scene::parse("again.toml", &scene.to_toml(), &[]).unwrap()).unwrap());
    assert_eq!(again.steps, 0);
}

/// A parallelogram of two light cranks and a coupler, held up by a torsion spring at one crank:
/// k (q - q0) = W r sin q with q from upright.
#[test]
fn a_four_bar_with_a_spring() {
    let text = r#"
[world]
gravity = [0, -9.81, 0]
[[body]]
name = "left"
mass = 1
inertia = [1e-3, 1e-2, 1e-2]
position = [0, 0.2, 0]
[[body]]
name = "right"
mass = 1
inertia = [1e-3, 1e-2, 1e-2]
position = [1, 0.2, 0]
[[body]]
name = "coupler"
mass = 2
inertia = [1e-3, 1e-1, 1e-1]
position = [0.5, 0.4, 0]
[[joint]]
name = "a"
kind = "revolute"
bodies = ["world", "left"]
at = [0, 0, 0]
angle = 0.3
spring = { stiffness = 20 }
[[joint]]
name = "b"
kind = "revolute"
bodies = ["left", "coupler"]
at = [0, 0.4, 0]
[[joint]]
name = "c"
kind = "revolute"
bodies = ["coupler", "right"]
at = [1, 0.4, 0]
[[joint]]
name = "d"
kind = "revolute"
bodies = ["world", "right"]
at = [1, 0, 0]
"#;
    let model = compile(text);
    let pose = rest(&model);
    let q = signal(&model, &pose, "a.angle");
    // centres of the cranks at 0.2 m, the coupler at 0.4 m
    let moment = (2.0 * 0.2 + 2.0 * 0.4) * G;
    assert!(moment * libm::sin(q.abs()) < 20.0 && (20.0 * q - moment * libm::sin(q)).abs() < 1e-7, "{q}");
    assert_eq!(pose.modes.len(), 1);
    // I = 2 (J + m r^2) + M l^2
    let inertia = 2.0 * (0.01 + 0.04) + 2.0 * 0.16;
    let stiffness = 20.0 - moment * libm::cos(q);
    near(pose.modes[0].frequency, libm::sqrt(stiffness / inertia) / TAU, 1e-6);
    let scene = settled(&scene(text), &model, &pose).unwrap();
    let again = rest(&Model::compile(&Scene::parse("again.toml", &scene.to_toml(), &[]).unwrap()).unwrap());
    assert!(again.steps <= 1, "{}", again.steps);
}

fn ball(height: f64, more: &str) -> String {
    format!(
        r#"
[world]
gravity = [0, 0, -9.81]
[[body]]
name = "floor"
fixed = true
material = "steel"
shape = {{ kind = "half_space" }}
[[body]]
name = "ball"
material = "steel"
shape = {{ kind = "sphere", radius = 0.1 }}
position = [0, 0, {height}]
{more}
"#
    )
}

#[test]
fn a_ball_rests_on_the_floor() {
    for height in [0.1, 0.5, 0.09999] {
        let model = compile(&ball(height, ""));
        let pose = rest(&model);
        // N = 4/3 E* sqrt(R) depth^1.5
        let (e, nu): (f64, f64) =
            (tippe::material::find("steel").unwrap().young, tippe::material::find("steel").unwrap().poisson);
        let weight = model.bodies[1].mass * G;
        let stiffness = 4.0 / 3.0 * e / (2.0 * (1.0 - nu * nu)) * 0.1_f64.sqrt();
        let depth = libm::pow(weight / stiffness, 2.0 / 3.0);
        near(0.1 - pose.bodies[1].position.z, depth, 1e-6);
        assert_ne!(pose.stability, Stability::Unstable);
        // k = 1.5 N/depth
        let omega = libm::sqrt(1.5 * weight / depth / model.bodies[1].mass);
        // at rest the default law is critically damped: two real eigenvalues, -omega both
        let pair: Vec<f64> = pose.modes.iter().map(|m| m.real).filter(|x| (x / omega + 1.0).abs() < 1e-2).collect();
        assert_eq!(pair.len(), 2, "{omega} {:?}", pose.modes);
        near(pair[0] * pair[1], omega * omega, 1e-6);
    }
}

#[test]
fn a_block_holds_on_a_slope_by_friction() {
    let text = r#"
[world]
gravity = ["9.81*sin(0.2)", 0, "-9.81*cos(0.2)"]
[contact]
friction = 0.5
k_red = 1e-3
[[body]]
name = "slope"
fixed = true
material = "steel"
shape = { kind = "half_space" }
[[body]]
name = "block"
material = "steel"
shape = { kind = "box", size = [0.2, 0.2, 0.1] }
position = [0, 0, 0.05]
"#;
    let pose = rest(&compile(text));
    assert!(pose.bodies[1].position.x > 0.0 && pose.bodies[1].position.x < 1e-4, "{:?}", pose.bodies[1].position);
}

#[test]
fn what_falls_is_named() {
    let model = compile(
        r#"
[world]
gravity = [0, 0, -9.81]
[[body]]
name = "stone"
mass = 1
inertia = [1, 1, 1]
"#,
    );
    match equilibrium(&model, &Search::default()) {
        Err(NoEquilibrium::Falls { body, acceleration, .. }) => {
            assert_eq!(body, "stone");
            near(acceleration, G, 1e-12);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_state_that_counts_on_is_named() {
    let model = compile(&pendulum(
        -1.0,
        "[[component]]\nname = \"clock\"\nstates = { n = 0 }\nder = { n = \"3\" }\noutputs = { out = \"n + 0*hinge.speed\" }",
    ));
    match equilibrium(&model, &Search::default()) {
        Err(NoEquilibrium::Changes { state, rate }) => assert!(state.ends_with("n") && rate == 3.0, "{state} {rate}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_position_drive_sags_under_load() {
    let model = compile(&pendulum(0.0, "motor = { kind = \"position\", value = \"0\", stiffness = 100, damping = 2 }"));
    let pose = rest(&model);
    let q = signal(&model, &pose, "hinge.angle");
    assert!((100.0 * q + 2.0 * G * 0.3 * libm::cos(q)).abs() < 1e-7, "{q}");
    assert_eq!(pose.stability, Stability::Stable);
}

#[test]
fn a_spinning_top_sleeps_where_it_is_fast_enough() {
    // a symmetric top upright on a ball joint is stable for I3^2 w^2 > 4 I1 m g l
    for (spin, grows) in [(20.0, true), (80.0, false)] {
        let path = format!("{}/../../scenes/heavy_top.toml", env!("CARGO_MANIFEST_DIR"));
        let sets = [("theta".to_owned(), "0".to_owned()), ("spin".to_owned(), format!("{spin}"))];
        let model = Model::compile(&Scene::load(&path, &sets).unwrap()).unwrap();
        let system = linear(&model, 0.0);
        let growth = system.modes.iter().map(|m| m.real).fold(0.0, f64::max);
        let (i1, i3, mgl) = (0.02, 0.004, 0.1 * G);
        let expected = mgl / i1 - (i3 * spin / (2.0 * i1)) * (i3 * spin / (2.0 * i1));
        assert_eq!(expected > 0.0, grows);
        if grows {
            near(growth, libm::sqrt(expected), 1e-6);
        } else {
            assert!(growth < 1e-5, "{growth}");
        }
    }
}
