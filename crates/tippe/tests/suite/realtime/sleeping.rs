//! What sleeps in the realtime clock, what wakes it, and bodies that are carried.

use crate::common::scenes::{FLOOR, G, cube, index, model, one_thread, run, steel};
use tippe::Model;
use tippe::realtime::{Settings, Solver, State};
use tippe_geometry::Vec3;

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
