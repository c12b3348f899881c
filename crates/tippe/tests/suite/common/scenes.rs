//! Small scenes of the realtime clock, compiled and run.

use tippe::realtime::{Settings, State, simulate};
use tippe::run::{Recording, Subjects};
use tippe::scene::Scene;
use tippe::{Model, Summary};

/// Standard gravity of these tests [m/s^2].
pub const G: f64 = 9.81;

/// A steel half-space.
pub const FLOOR: &str = r#"
[[body]]
name = "floor"
fixed = true
material = "steel"
shape = { kind = "half_space" }
"#;

/// A scene of the realtime clock.
pub fn scene(text: &str) -> String {
    format!("format = 1\ntitle = \"test\"\n[run]\nclock = \"realtime\"\n{text}")
}

/// Its model, or what is wrong with it.
pub fn compiled(text: &str) -> Result<Model, String> {
    let scene = Scene::parse("test.toml", &scene(text), &[]).map_err(|e| e.to_string())?;
    Model::compile(&scene).map_err(|e| e.to_string())
}

/// Its model.
pub fn model(text: &str) -> Model {
    compiled(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// Gravity down, and steel on steel.
pub fn steel(friction: f64, restitution: f64) -> String {
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
pub fn cube(name: &str, x: f64, y: f64, z: f64) -> String {
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

/// Default settings on one thread.
pub fn one_thread() -> Settings {
    Settings { threads: 1, ..Settings::default() }
}

/// Index of a body by its name.
pub fn index(model: &Model, name: &str) -> usize {
    model.bodies.iter().position(|b| b.name == name).unwrap_or_else(|| panic!("no body {name}"))
}

/// Simulates to a time.
pub fn run(model: &Model, state: &mut State, until: f64, settings: &Settings) -> Summary {
    simulate(model, state, until, settings, &mut ()).unwrap_or_else(|e| panic!("{e}"))
}

/// Simulates from the start, recorded.
pub fn recorded(model: &Model, until: f64, settings: &Settings) -> (Recording, Summary) {
    let mut recording = Recording::new(Subjects::of(model));
    let mut state = State::start(model);
    let summary = simulate(model, &mut state, until, settings, &mut recording).unwrap_or_else(|e| panic!("{e}"));
    (recording, summary)
}
