//! A step of the realtime clock asks for no memory once it has made a few.

use tippe::Model;
use tippe::realtime::{Clock, Settings, State};
use tippe::scene::Scene;

fn model(text: &str, set: &[(&str, &str)]) -> Model {
    let set: Vec<(String, String)> = set.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    let scene = Scene::parse("test.toml", text, &set).unwrap_or_else(|e| panic!("{e}"));
    Model::compile(&scene).unwrap_or_else(|e| panic!("{e}"))
}

/// Allocations of `count` steps after `warm` steps.
fn allocations(model: &Model, warm: usize, count: usize) -> u64 {
    let settings = Settings { threads: 1, ..Settings::default() };
    let mut clock = Clock::resume(model, &State::start(model), &settings);
    for _ in 0..warm {
        clock.step();
    }
    let info = allocation_counter::measure(|| {
        for _ in 0..count {
            clock.step();
        }
    });
    assert!(clock.state.bodies().iter().all(|b| b.p.is_finite()));
    info.count_total
}

#[test]
fn a_pyramid_at_rest() {
    let pyramid = model(include_str!("../../../scenes/box_pyramid.toml"), &[("rows", "6")]);
    assert_eq!(allocations(&pyramid, 120, 240), 0);
}

#[test]
fn a_pendulum() {
    let text = r#"
        format = 1
        title = "pendulum"
        [run]
        clock = "realtime"
        [world]
        gravity = [0, 0, -9.81]
        [[body]]
        name = "bob"
        mass = 1
        inertia = [0.01, 0.01, 0.01]
        position = [1, 0, 0]
        [[joint]]
        name = "hinge"
        kind = "revolute"
        bodies = ["world", "bob"]
        at = [0, 0, 0]
        axis = "y"
        friction = { sliding = 0.01 }
        spring = { damping = 0.1 }
        "#;
    assert_eq!(allocations(&model(text, &[]), 10, 600), 0);
}

#[test]
fn a_heavy_chain() {
    let mut text = String::from(
        r#"
        format = 1
        title = "chain"
        [run]
        clock = "realtime"
        [world]
        gravity = [0, 0, -9.81]
        "#,
    );
    let (s, c) = libm::sincos(30.0_f64.to_radians());
    for k in 0..21 {
        let (mass, inertia) = if k == 20 { (1e4, 1e3) } else { (1.0, 0.02) };
        let parent = if k == 0 { "world".to_owned() } else { format!("link{}", k - 1) };
        text.push_str(&format!(
            r#"
            [[body]]
            name = "link{k}"
            mass = {mass}
            inertia = [{inertia}, {inertia}, {inertia}]
            position = [{x}, 0, {z}]
            [[joint]]
            name = "joint{k}"
            kind = "spherical"
            bodies = ["{parent}", "link{k}"]
            at = [{x_at}, 0, {z_at}]
            "#,
            x = s * (0.25 + 0.5 * f64::from(k)),
            z = -c * (0.25 + 0.5 * f64::from(k)),
            x_at = s * 0.5 * f64::from(k),
            z_at = -c * 0.5 * f64::from(k)
        ));
    }
    assert_eq!(allocations(&model(&text, &[]), 10, 300), 0);
}
