//! What scenes of the gallery show that an `[[expect]]` cannot say.

use tippe::model::Drive;
use tippe::run::{Questions, Recording, Subjects, cases};
use tippe::scene::{Integrator, Scene, gallery};
use tippe::{EventKind, Model, Settings, State, Summary, simulate};
use tippe_geometry::Vec3;

fn scene(name: &str, sets: &[(&str, &str)]) -> Scene {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let (_, text) = gallery().iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("no scene {name}"));
    Scene::parse(&format!("{name}.toml"), text, &sets).unwrap_or_else(|errors| panic!("{errors}"))
}

fn run(scene: &Scene, settings: &Settings) -> (Recording, Summary) {
    let model = Model::compile(scene).unwrap_or_else(|errors| panic!("{errors}"));
    let mut recording = Recording::new(Subjects::of(&model));
    let summary = simulate(&model, &mut State::start(&model), scene.run.until, settings, &mut recording)
        .unwrap_or_else(|failure| panic!("{failure}"));
    (recording, summary)
}

/// Every expectation of a scene text: in words, and whether it is met.
pub fn verdicts(file: &str, text: &str) -> Vec<(String, bool)> {
    let scene = Scene::parse(file, text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let mut out = Vec::new();
    for case in cases(&scene) {
        let scene = Scene::parse(file, text, &case.with).unwrap_or_else(|errors| panic!("{errors}"));
        let model = Model::compile(&scene).unwrap_or_else(|errors| panic!("{errors}"));
        let questions = Questions::read(&scene, &case, &Subjects::of(&model)).unwrap();
        let (record_at, marks) = (questions.times(), questions.marks(&model));
        let settings = Settings { record_at, marks, ..Settings::from_scene(&scene) };
        let mut recording = questions.recording();
        simulate(&model, &mut State::start(&model), scene.run.until, &settings, &mut recording).unwrap();
        for v in questions.judge(&recording) {
            out.push((format!("{}: {:?}, expected {}", v.question, v.value, v.expected), v.pass));
        }
    }
    out
}

#[test]
fn every_scene_has_a_title_a_source_and_cited_expectations() {
    for (name, text) in gallery() {
        let scene = Scene::parse(&format!("{name}.toml"), text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        assert!(!scene.title.is_empty() && !scene.description.is_empty(), "{name} has no title or description");
        assert!(scene.source.is_some() && scene.cost.is_some(), "{name} has no source or cost");
        assert!(!scene.expects.is_empty(), "{name} expects nothing");
        Model::compile(&scene).unwrap_or_else(|errors| panic!("{errors}"));
    }
}

/// The momentum the balls gain is what walls and posts gave, to rounding; and the impulses of the single contacts, as far
/// as their normals do not turn, add up to the same.
#[test]
fn momentum_in_the_pool_is_what_the_obstacles_gave() {
    let mut scene = scene("pool", &[]);
    scene.expects.clear();
    let (recording, summary) = run(&scene, &Settings::from_scene(&scene));
    let model = Model::compile(&scene).unwrap();
    let gained = *recording.momentum.last().unwrap() - recording.momentum[0];
    let scale = model.bodies.iter().filter(|b| b.drive == Drive::Free).map(|b| 3.0 * b.mass).sum::<f64>();
    let error = (gained - summary.energy.impulse).length() / scale;
    assert!(summary.energy.impulse.length() > 0.01 * scale && error < 1e-12, "relative difference {error:e}");

    scene.bodies.retain(|body| body.name != "post" && body.name != "box");
    let (recording, summary) = run(&scene, &Settings::from_scene(&scene));
    let model = Model::compile(&scene).unwrap();
    let fixed = |body: usize| model.bodies[body].drive == Drive::Fixed;
    let ends = recording.events.iter().filter(|e| e.kind == EventKind::ContactEnd).filter_map(|e| e.contact);
    let given = ends.filter(|c| fixed(c.body1)).map(|c| c.episode.unwrap().impulse * c.normal).sum::<Vec3>();
    let error = (summary.energy.impulse - given).length() / scale;
    assert!(error < 1e-6, "relative difference {error:e}");
}

fn evaluations(name: &str, integrator: Integrator) -> Summary {
    let scene = scene(name, &[]);
    let settings = Settings { integrator, ..Settings::from_scene(&scene) };
    run(&scene, &settings).1
}

#[test]
fn a_ball_at_rest_is_implicit_work() {
    let (auto, explicit) =
        (evaluations("implicit_wins", Integrator::Auto), evaluations("implicit_wins", Integrator::Dopri5));
    assert!(auto.steps_by_integrator.contains_key("rodas4"), "{:?}", auto.steps_by_integrator);
    assert!(
        10 * auto.rhs_evaluations < explicit.rhs_evaluations,
        "{} and {} evaluations",
        auto.rhs_evaluations,
        explicit.rhs_evaluations
    );
}

#[test]
fn an_elastic_impact_is_explicit_work() {
    let (auto, implicit) =
        (evaluations("explicit_wins", Integrator::Auto), evaluations("explicit_wins", Integrator::Rodas4));
    assert!(!auto.steps_by_integrator.contains_key("rodas4"), "{:?}", auto.steps_by_integrator);
    let read = |summary: &Summary| summary.solutions.pairs;
    assert!(5 * read(&auto) < read(&implicit), "{} and {} readings of the pair", read(&auto), read(&implicit));
}

/// What moves along a contact does not disturb what holds across it: neither method crawls, and the choice costs next to nothing.
#[test]
fn a_rolling_ball_is_no_work() {
    let [auto, explicit, implicit] =
        [Integrator::Auto, Integrator::Dopri5, Integrator::Rodas4].map(|integrator| evaluations("ramp", integrator));
    assert!(2 * auto.rhs_evaluations < 3 * explicit.rhs_evaluations, "{} evaluations", auto.rhs_evaluations);
    assert!(implicit.steps < 20_000, "{} implicit steps", implicit.steps);
}

/// Balls on level ground are thrown straight up: one that drifts or spins by itself does not bring its neighbours into its island,
/// and a horizon is as long as the run allows.
#[test]
fn balls_on_level_ground_keep_to_themselves() {
    let scene = scene("bouncing_balls", &[("n", "25")]);
    let summary = run(&scene, &Settings::from_scene(&scene)).1;
    assert!(summary.horizons < 30 && summary.horizons_repeated == 0, "{} horizons", summary.horizons);
}

/// Results at two tolerances agree within ten times the coarser one, relative to each body's speed and place.
#[test]
fn tolerance_means_what_it_says() {
    for name in ["sliding_to_rolling", "two_balls", "cushion", "rack_break", "cradle_free"] {
        let scene = scene(name, &[]);
        let with = |tolerance: f64| run(&scene, &Settings { tolerance, ..Settings::from_scene(&scene) }).1;
        let (coarse, fine) = (with(1e-5), with(1e-9));
        let speed = fine.bodies.iter().map(|b| b.velocity.length()).fold(0.0, f64::max);
        let way = speed * scene.run.until;
        for (a, b) in coarse.bodies.iter().zip(&fine.bodies) {
            let dv = (a.velocity - b.velocity).length() / speed;
            let dp = (a.position - b.position).length() / way;
            assert!(dv < 1e-4 && dp < 1e-4, "{name}: velocity {dv:e}, position {dp:e}");
        }
    }
}

/// The default law, rewritten as equations in the scene, gives the same billiards: until 0.1 s after the break, within ten times
/// the tolerance.
#[test]
fn hertz_written_by_a_user_gives_the_same_billiards() {
    let (_, text) = gallery().iter().find(|(name, _)| *name == "billiards").unwrap();
    let laws = include_str!("../data/user_laws.toml");
    let end = |text: &str| {
        let mut scene = Scene::parse("billiards.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        scene.run.until = 0.64;
        // a break multiplies small differences
        scene.run.tolerance *= 0.1;
        run(&scene, &Settings::from_scene(&scene)).1
    };
    let (built_in, written) = (end(text), end(&text.replace("[defaults]", &format!("{laws}\n[defaults]"))));
    for (a, b) in built_in.bodies.iter().zip(&written.bodies) {
        let (dp, dv) = ((a.position - b.position).length(), (a.velocity - b.velocity).length());
        assert!(dp < 3e-4 && dv < 3e-4, "position {dp:e} m, velocity {dv:e} m/s");
    }
    assert!(
        written.rhs_evaluations < 2 * built_in.rhs_evaluations,
        "{} and {} evaluations",
        written.rhs_evaluations,
        built_in.rhs_evaluations
    );
}
