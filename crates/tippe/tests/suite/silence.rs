//! What a run must not pass over in silence, and what it must say of it.

use tippe::clock::{Settings, simulate};
use tippe::run::{Recording, Subjects};
use tippe::scene::{Clock, Scene};
use tippe::{EventKind, Model, Summary};
use tippe_geometry::Vec3;

/// A box of steel that falls on a floor.
const BOX: &str = r#"
[world]
gravity = [0, 0, -9.81]
[run]
until = 0.5
output_interval = 0.05
[contact]
restitution = 0.5
friction = 0.3
[[body]]
name = "f"
fixed = true
material = "steel"
shape = { kind = "half_space" }
[[body]]
name = "b"
material = "steel"
shape = { kind = "box", size = [0.1, 0.1, 0.1] }
position = [0, 0, 0.06]
"#;

/// A slider along z.
const SLIDER: &str = r#"
[world]
gravity = [0, 0, 0]
[run]
until = 0.5
[[body]]
name = "c"
mass = 1
inertia = [0.001, 0.001, 0.001]
position = [0, 0, 1]
"#;

fn parsed(text: &str) -> Result<Scene, String> {
    Scene::parse("test.toml", &format!("format = 1\n{text}"), &[]).map_err(|errors| errors.to_string())
}

fn compiled(text: &str, clock: Clock) -> Result<Model, String> {
    Model::compile_for(&parsed(text)?, clock).map_err(|errors| errors.to_string())
}

/// A whole run: what it recorded, and how it ended.
fn run(text: &str, clock: Clock) -> (Recording, Result<Summary, String>) {
    let scene = parsed(text).unwrap();
    let model = compiled(text, clock).unwrap();
    let mut settings = Settings::from_scene(&scene, clock);
    settings.set_threads(1);
    let mut recording = Recording::new(Subjects::of(&model));
    let mut state = settings.start(&model);
    let end = simulate(&model, &mut state, scene.run.until, &settings, &mut recording);
    (recording, end.map_err(|failure| failure.to_string()))
}

#[test]
fn start_values_of_rows_turn_in_both_clocks() {
    let joint = |more: &str| {
        format!(
            "{SLIDER}[[joint]]\nname = \"p\"\nkind = \"revolute\"\nbodies = [\"world\", \"c\"]\nat = [0.5, 0, 1]\nspeed = 2\n{more}\n"
        )
    };
    let cases =
        [("rows = true", Clock::Precise), ("rows = true", Clock::Realtime), ("breaking_force = 1e6", Clock::Realtime)];
    for (more, clock) in cases {
        let end = run(&joint(more), clock).1.unwrap();
        let w = end.bodies[0].angular_velocity;
        assert!((w - Vec3::new(0.0, 0.0, 2.0)).length() < 1e-6, "{more}, {}: {w}", clock.name());
    }
}
