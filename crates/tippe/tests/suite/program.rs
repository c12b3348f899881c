//! What a program brings to a scene: contact laws, numbers and motions set while it runs, equations of motion to look at.

use std::sync::Arc;
use tippe::clock::Set;
use tippe::contact::normal::{CustomLaw, LawInput, NormalForce};
use tippe::geometry::Vec3;
use tippe::model::ProgramLaw;
use tippe::run::{Recording, Subjects};
use tippe::scene::{Clock, Scene};
use tippe::{BodyState, Model, Observe, Sample, Settings, State, Whole, realtime, simulate};

const BALL: &str = r#"
format = 1
world.gravity = [0, 0, -9.81]
contact = { friction = 0, restitution = 1, law = "mine" }
law.mine.normal = "4/3*modulus*sqrt(radius)*depth^1.5"
[[body]]
name = "floor"
fixed = true
material = "steel"
shape.kind = "half_space"
[[body]]
name = "ball"
material = "steel"
position = [0, 0, 0.2]
shape = { kind = "sphere", radius = 0.1 }
"#;

const PENDULUM: &str = r#"
format = 1
world.gravity = [0, 0, -9.81]
[[body]]
name = "bob"
mass = 2.0
inertia = [1e-9, 1e-9, 1e-9]
position = [0.5, 0, 0]
[[joint]]
name = "hinge"
kind = "revolute"
bodies = ["world", "bob"]
at = [0, 0, 0]
axis = [0, -1, 0]
[[signal]]
name = "push"
kind = "input"
low = -5
high = 5
[[force]]
name = "wind"
kind = "applied"
on = "bob"
force = [0, 0, "push"]
"#;

fn scene(text: &str) -> Scene {
    Scene::parse("s.toml", text, &[]).unwrap()
}

#[derive(Debug)]
struct Hertz;

impl CustomLaw for Hertz {
    fn force(&self, x: &LawInput) -> NormalForce {
        let elastic = 4.0 / 3.0 * x.modulus * x.radius.sqrt() * x.depth * x.depth.sqrt();
        NormalForce { elastic, damping: 0.0, energy: f64::NAN }
    }
}

#[test]
fn a_law_of_a_program_takes_the_place_of_its_equations() {
    let scene = scene(BALL);
    let height = |laws: &[ProgramLaw]| {
        let model = Model::compile_with(&scene, Clock::Precise, laws).unwrap();
        let mut recording = Recording::new(Subjects::of(&model));
        simulate(&model, &mut State::start(&model), 0.5, &Settings::from_scene(&scene), &mut recording).unwrap();
        recording.motion[1].last().unwrap().position.z
    };
    let own = height(&[("mine".to_owned(), Arc::new(Hertz))]);
    assert!((own - height(&[])).abs() < 1e-9);
}

/// The last thing that was seen.
#[derive(Default)]
struct Last {
    bodies: Vec<BodyState>,
    signals: Vec<f64>,
    residual: f64,
}

impl Observe for Last {
    fn sample(&mut self, sample: &Sample<'_>) {
        self.bodies = sample.bodies.to_vec();
        self.signals = sample.signals.to_vec();
        self.residual = sample.energy.residual();
    }
}

#[test]
fn the_precise_clock_goes_on_from_what_was_set() {
    let scene = scene(PENDULUM);
    let model = Model::compile(&scene).unwrap();
    let settings = Settings { threads: 1, ..Settings::from_scene(&scene) };
    let (mut state, mut last) = (State::start(&model), Last::default());
    simulate(&model, &mut state, 0.1, &settings, &mut last).unwrap();
    let set = Set::coordinate(&model, "hinge.angle", -std::f64::consts::FRAC_PI_2, 0.0).unwrap();
    state.set(&model, &settings, &[set]).unwrap();
    simulate(&model, &mut state, 0.5, &settings, &mut last).unwrap();
    // straight down, at rest: it stays
    assert!((last.bodies[0].position - Vec3::new(0.0, 0.0, -0.5)).length() < 1e-6);
    assert!(last.residual.abs() < 1e-6);
    // an input beyond its limits is at the limit
    state.set(&model, &settings, &[Set::Input { input: 0, value: 99.0 }]).unwrap();
    simulate(&model, &mut state, 0.6, &settings, &mut last).unwrap();
    let push = model.signals.iter().position(|signal| signal.name == "push").unwrap();
    assert_eq!(last.signals[push], 5.0);
    for (name, part) in [("hinge.angel", "did you mean `hinge.angle`"), ("bob", "no coordinate")] {
        assert!(Set::coordinate(&model, name, 0.0, 0.0).unwrap_err().contains(part));
    }
    assert!(Set::coordinate(&model, "hinge.angle", f64::NAN, 0.0).unwrap_err().contains("finite"));
    assert!(Set::body(&model, "bob", last.bodies[0]).unwrap_err().contains("held by joints"));
}

#[test]
fn the_realtime_clock_goes_on_from_what_was_set() {
    let scene = scene(BALL.replace("law = \"mine\"", "law = \"hertz\"").as_str());
    let model = Model::compile_for(&scene, Clock::Realtime).unwrap();
    let settings = realtime::Settings { threads: 1, ..realtime::Settings::from_scene(&scene) };
    let mut clock = realtime::Clock::resume(&model, &realtime::State::start(&model), &settings);
    clock.begin(&mut ());
    for _ in 0..30 {
        clock.step();
        clock.record(1.0, &mut ()).unwrap();
    }
    let motion = BodyState { position: Vec3::new(0.0, 0.0, 2.0), velocity: Vec3::X, ..clock.body(1) };
    clock.set(&[Set::body(&model, "ball", motion).unwrap()]);
    let mut last = Last::default();
    clock.sample(&mut last);
    assert_eq!(last.bodies[1].position, motion.position);
    for _ in 0..6 {
        clock.step();
        clock.record(1.0, &mut ()).unwrap();
    }
    clock.sample(&mut last);
    assert!((last.bodies[1].position.x - 0.1).abs() < 1e-12);
    assert!(last.residual.abs() < 1e-9, "{}", last.residual);
    assert!(Set::body(&model, "floor", motion).unwrap_err().contains("not free"));
}

#[test]
fn mass_matrix_and_jacobian_of_a_pendulum() {
    let model = Model::compile(&scene(PENDULUM)).unwrap();
    let whole = Whole::new(&model);
    let rates = whole.rate_names();
    assert_eq!((rates[0].name.as_str(), rates[0].unit.as_str()), ("hinge.speed", "rad/s"));
    assert!((whole.mass_matrix()[0] - 2.0 * 0.25).abs() < 1e-8);
    // lies level: -g/l
    assert!((whole.generalised_rates().1[0] + 9.81 / 0.5).abs() < 1e-6);
    let columns = whole.jacobian(0, Vec3::new(0.1, 0.0, 0.0));
    assert!((columns[0].linear - Vec3::new(0.0, 0.0, 0.6)).length() < 1e-12);
    assert!(whole.constraint_rows().is_empty());
}
