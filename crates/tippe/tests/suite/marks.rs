//! Extremes and crossings of expectations are located on the dense output, and do not depend on how often a run records.

use tippe::precise::{Settings, State, simulate};
use tippe::run::{Questions, Subjects, cases};
use tippe::scene::{Clock, Scene};
use tippe::{Model, Simulation, clock};

/// Two oscillators that nothing joins, recorded twice in a swing.
const OSCILLATORS: &str = r#"
format = 1
title = "oscillators"
[params]
w = "2*pi/(1 s)"
[world]
gravity = [0, 0, 0]
[run]
until = 2.3
tolerance = 1e-12
output_interval = 0.55
[realtime]
step = "1 ms"
[[body]]
name = "bob_{k}"
repeat = [{ index = "k", from = 1, to = 2 }]
mass = 1
inertia = [1, 1, 1]
position = [0, "k*1 m", 0]
[[joint]]
name = "guide_{k}"
repeat = [{ index = "k", from = 1, to = 2 }]
kind = "prismatic"
bodies = ["world", "bob_{k}"]
at = [0, "k*1 m", 0]
axis = "x"
position = "k*0.1 m"
spring = { stiffness = "k*k*w^2*(1 kg)" }
"#;

const EXPECTATIONS: &str = r#"
[[expect]]
value = "max(guide_1.position)"
is = 0.1
within = 1e-9
source = "closed form"
[[expect]]
value = "max(guide_1.speed)"
is = "0.1*2*pi"
within = 1e-9
source = "closed form"
[[expect]]
value = "min(guide_2.speed)"
is = "-0.2*4*pi"
within = 1e-9
source = "closed form"
[[expect]]
value = "max(bob_2.velocity.x)"
is = "0.2*4*pi"
within = 1e-9
source = "closed form"
[[expect]]
value = "max(abs(bob_1.position.x) + 3*bob_1.position.x^2)"
is = "0.1 + 0.03"
within = 1e-9
source = "closed form"
[[expect]]
value = "crossing(guide_1.position, 0)"
is = 0.25
within = 1e-9
source = "closed form"
[[expect]]
value = "crossing(guide_1.position, 0.05)[1]"
is = "5/6"
within = 1e-9
source = "closed form"
[[expect]]
value = "crossing(guide_2.position, 0)[-1]"
is = 2.125
within = 1e-9
source = "closed form"
[[expect]]
value = "max(guide_1.speed)"
is = "0.1*2*pi"
within = 1e-5
clock = "realtime"
source = "closed form, to a step"
"#;

#[test]
fn extremes_and_crossings_do_not_depend_on_the_output() {
    let text = format!("{OSCILLATORS}{EXPECTATIONS}");
    let scene = Scene::parse("oscillators.toml", &text, &[]).unwrap();
    let mut asked = 0;
    for case in cases(&scene) {
        let tippe::run::Runs::One(which) = case.runs else { panic!("{case:?}") };
        let model = Model::compile_for(&scene, which).unwrap();
        let questions = Questions::read(&scene, &case, &Subjects::of(&model)).unwrap();
        let mut settings = clock::Settings::from_scene(&scene, which);
        settings.record_marks(questions.marks(&model));
        let mut recording = questions.recording();
        Simulation::new(model, settings).advance(scene.run.until, &mut recording).unwrap();
        assert!(recording.time.windows(2).all(|t| t[0] < t[1]));
        assert!(which != Clock::Precise || recording.time.len() < 60, "{}", recording.time.len());
        for verdict in questions.judge(&recording) {
            assert!(verdict.pass, "{}: {:?}, expected {}", verdict.question, verdict.value, verdict.expected);
            asked += 1;
        }
    }
    assert_eq!(asked, 9);
}

/// What is recorded does not move a bit of the run.
#[test]
fn looking_changes_no_bit() {
    let text = format!("{OSCILLATORS}{EXPECTATIONS}");
    let scene = Scene::parse("oscillators.toml", &text, &[]).unwrap();
    let model = Model::compile(&scene).unwrap();
    let questions = Questions::read(&scene, &cases(&scene)[0], &Subjects::of(&model)).unwrap();
    let run = |marks| {
        let settings = Settings { marks, ..Settings::from_scene(&scene) };
        let mut state = State::start(&model);
        let summary = simulate(&model, &mut state, scene.run.until, &settings, &mut ()).unwrap();
        (summary.hash, summary.steps, summary.bodies)
    };
    assert_eq!(run(Vec::new()), run(questions.marks(&model)));
}
