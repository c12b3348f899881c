//! Whatever a scene has can be read: joints, whichever of a loop closes it, and bodies in equations; and what is read is a number.

use tippe::clock::{Settings, simulate};
use tippe::run::{Expression, Recording, Subjects};
use tippe::scene::{Clock, Scene};
use tippe::{Cause, Model, Summary};

/// A slider and crank in which one joint is rows; equations read that joint and two bodies.
fn slider_crank(closing: &str) -> String {
    let joint = |name: &str, keys: &str| {
        let rows = if name == closing { "rows = true\n" } else { "" };
        format!("[[joint]]\nname = \"{name}\"\n{keys}\n{rows}\n")
    };
    let joints = [
        joint("bearing", "kind = \"revolute\"\nbodies = [\"world\", \"crank.foot\"]"),
        joint("crank_pin", "kind = \"revolute\"\nbodies = [\"crank.tip\", \"rod.big\"]"),
        joint("guide", "kind = \"prismatic\"\nbodies = [\"world\", \"slider\"]\nat = [0, 0, 0]\naxis = \"x\""),
        joint("wrist_pin", "kind = \"revolute\"\nbodies = [\"rod.small\", \"slider\"]"),
    ];
    format!(
        r#"format = 1
[world]
gravity = [0, -9.81, 0]
[run]
until = 0.4
tolerance = 1e-10
output_interval = 0.01
[realtime]
step = 1e-4
[defaults]
collide = false
[[body]]
name = "crank"
mass = 1.2
inertia = [1e-4, 0.009, 0.009]
position = [0.12, 0.09, 0]
orientation = {{ axis = [0, 0, 1], angle = "atan2(0.09, 0.12)" }}
frames = [{{ name = "foot", position = [-0.15, 0, 0] }}, {{ name = "tip", position = [0.15, 0, 0] }}]
[[body]]
name = "rod"
mass = 2
inertia = [1e-4, 0.135, 0.135]
position = ["0.24 + 0.45*cos(asin(0.2))", 0.09, 0]
orientation = {{ axis = [0, 0, 1], angle = "-asin(0.2)" }}
frames = [{{ name = "big", position = [-0.45, 0, 0] }}, {{ name = "small", position = [0.45, 0, 0] }}]
[[body]]
name = "slider"
mass = 1.5
inertia = [0.001, 0.001, 0.001]
position = ["0.24 + 0.9*cos(asin(0.2))", 0, 0]
{}
[[signal]]
name = "read"
kind = "equation"
value = "guide.speed + bearing.angle + wrist_pin.speed + crank_pin.angle"
[[signal]]
name = "body"
kind = "equation"
value = "slider.velocity.x + rod.position.y + crank.angular_velocity.z"
"#,
        joints.concat()
    )
}

fn run(text: &str, clock: Clock) -> (Recording, Result<Summary, String>) {
    let scene = Scene::parse("test.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let model = Model::compile_for(&scene, clock).unwrap_or_else(|errors| panic!("{errors}"));
    let settings = Settings::from_scene(&scene, clock);
    let mut recording = Recording::new(Subjects::of(&model));
    let mut state = settings.start(&model);
    let end = simulate(&model, &mut state, scene.run.until, &settings, &mut recording);
    (recording, end.map_err(|failure| failure.to_string()))
}

fn series(recording: &Recording, signal: &str) -> Vec<f64> {
    let asked = Expression::parse(signal, &recording.subjects).unwrap_or_else(|error| panic!("{signal}: {error}"));
    asked.series(recording).unwrap()
}

#[test]
fn every_joint_of_a_loop_is_read_whichever_closes_it() {
    let signals = [
        "bearing.angle",
        "bearing.speed",
        "crank_pin.angle",
        "crank_pin.speed",
        "guide.position",
        "guide.speed",
        "wrist_pin.angle",
        "wrist_pin.speed",
        "read",
        "body",
    ];
    for (clock, near) in [(Clock::Precise, 1e-6), (Clock::Realtime, 2e-2)] {
        let first = run(&slider_crank("wrist_pin"), clock).0;
        for closing in ["bearing", "crank_pin", "guide"] {
            let (other, end) = run(&slider_crank(closing), clock);
            end.unwrap();
            for signal in signals {
                let [a, b] = [&first, &other].map(|recording| series(recording, signal));
                let gap = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(gap < near, "{signal} is {gap:e} off where {closing} closes the loop, {}", clock.name());
                assert!(a.iter().any(|x| x.abs() > 0.1), "{signal} stays at zero");
            }
        }
        // an equation reads what a recording shows
        let [read, body] = ["read", "body"].map(|signal| series(&first, signal));
        let sum = series(&first, "guide.speed + bearing.angle + wrist_pin.speed + crank_pin.angle");
        let bodies = series(&first, "slider.velocity.x + rod.position.y + crank.angular_velocity.z");
        for (own, other) in read.iter().zip(&sum).chain(body.iter().zip(&bodies)) {
            assert!((own - other).abs() < 1e-9, "{own} is not {other}, {}", clock.name());
        }
    }
}

#[test]
fn an_acceleration_says_why_no_equation_reads_it() {
    let text = slider_crank("guide")
        + "[[sensor]]\nname = \"acc\"\nkind = \"acceleration\"\nbetween = [\"world\", \"rod\"]\n"
        + "[[signal]]\nname = \"wrong\"\nkind = \"equation\"\nvalue = \"acc.z\"\n";
    let scene = Scene::parse("test.toml", &text, &[]).unwrap();
    let said = Model::compile(&scene).unwrap_err().to_string();
    assert!(said.contains("nothing called `acc.z`") && said.contains("acc.az"), "{said}");
}

/// A ball in free fall with an equation, and a motor beside an applied force.
const FALL: &str = r#"format = 1
[world]
gravity = [0, 0, -9.81]
[run]
until = 1
[[body]]
name = "ball"
mass = 1
inertia = [1, 1, 1]
"#;

#[test]
fn what_is_no_number_ends_the_run_by_name() {
    let root = format!("{FALL}[[signal]]\nname = \"lost\"\nkind = \"equation\"\nvalue = \"sqrt(0.5 - t)\"\n");
    for clock in [Clock::Precise, Clock::Realtime] {
        let said = run(&root, clock).1.unwrap_err();
        assert!(said.contains("lost is NaN") && said.starts_with("t = 0.5"), "{said}");
        let heavy = FALL.replace("-9.81", "-1e308");
        let said = run(&heavy, clock).1.unwrap_err();
        assert!(said.contains("t = ") && (said.contains("finite") || said.contains("ball")), "{said}");
    }
}

#[test]
fn drives_without_a_limit_begin_with_a_number() {
    let (recording, end) = run(
        &format!(
            "{FALL}[[joint]]\nname = \"shaft\"\nkind = \"revolute\"\nbodies = [\"world\", \"ball\"]\nat = [0, 0, 0]\naxis = \"z\"\n\
             motor = {{ kind = \"speed\", value = \"1 + t\" }}\n"
        ),
        Clock::Realtime,
    );
    end.unwrap();
    assert!(series(&recording, "shaft.motor.effort").iter().all(|x| x.is_finite()));
}

#[test]
fn work_of_motors_and_of_loads_stand_apart() {
    let text = format!(
        "{FALL}[[joint]]\nname = \"rail\"\nkind = \"prismatic\"\nbodies = [\"world\", \"ball\"]\nat = [0, 0, 0]\naxis = \"x\"\n\
         motor = {{ kind = \"torque\", value = \"2\" }}\n\
         [[force]]\nname = \"push\"\nkind = \"applied\"\non = \"ball\"\nforce = [\"3\", \"0\", \"0\"]\n"
    );
    for (clock, near) in [(Clock::Precise, 1e-9), (Clock::Realtime, 0.3)] {
        let (recording, end) = run(&text, clock);
        let energy = end.unwrap().energy;
        // 5 N move 1 kg by 2.5 m in a second
        let way = *series(&recording, "ball.position.x").last().unwrap();
        assert!((way - 2.5).abs() < near, "{way}");
        let apart = [(Cause::Work, 5.0), (Cause::Loads, 7.5)];
        for (cause, work) in apart {
            assert!((energy[cause] - work).abs() < 3.0 * near, "{}: {} J", cause.name(), energy[cause]);
        }
    }
}

#[test]
fn impacts_between_two_points_show_their_peak() {
    let text = "format = 1\n[world]\ngravity = [0, 0, -9.81]\n[run]\nuntil = 1\noutput_interval = 0.1\n\
        [[body]]\nname = \"floor\"\nfixed = true\nmaterial = \"steel\"\nshape = { kind = \"half_space\" }\n\
        [[body]]\nname = \"ball\"\nmaterial = \"steel\"\nshape = { kind = \"sphere\", radius = 0.1 }\nposition = [0, 0, 1.1]\n";
    let (recording, end) = run(text, Clock::Precise);
    end.unwrap();
    let asked = |text: &str| Expression::parse(text, &recording.subjects).unwrap().value(&recording, None).unwrap();
    assert_eq!(asked("max(contact(floor, ball).force)"), 0.0, "a point is inside the impact");
    let peak = asked("event.contact_end(ball, floor)[0].episode.max_force");
    assert!(peak > 1e3 && asked("max(contact(floor, ball).peak_force)") == peak, "{peak}");
}

#[test]
fn steps_longer_than_the_run_are_refused() {
    let scene = Scene::parse("test.toml", FALL, &[]).unwrap();
    let model = Model::compile_for(&scene, Clock::Realtime).unwrap();
    let mut settings = Settings::from_scene(&scene, Clock::Realtime);
    if let Settings::Realtime(settings) = &mut settings {
        settings.step = 1e9;
    }
    let said = settings.check_steps(&scene, &model, scene.run.until).unwrap_err().to_string();
    assert!(said.contains("1000000000 s is longer than the whole run"), "{said}");
}
