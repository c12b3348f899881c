//! Mechanisms built in a program, against independent answers and against each other.

use tippe::joint::named;
use tippe::scene::{Attachment, Body, Clock, Integrator, Part, Scene};
use tippe::{Model, Settings, State, simulate};
use tippe_geometry::{Mat3, Vec3};

/// A joint of this kind.
fn joint(name: String, kind: &str) -> Part {
    Part::new(name, &named(kind).unwrap().kind)
}

fn on(body: &str) -> Attachment {
    Attachment { body: body.into(), frame: String::new() }
}

/// n rods of one length and mass, hinged end to end, released horizontal (as in scenes `double_pendulum` and `chain`).
fn chain(n: usize, length: f64, mass: f64, rows: bool) -> Scene {
    let inertia = mass * length * length / 12.0;
    let mut scene = Scene { gravity: Vec3::new(0.0, -9.81, 0.0), ..Scene::default() };
    for k in 0..n {
        let name = format!("rod{k}");
        scene.bodies.push(Body {
            name: name.clone(),
            mass: Some(mass),
            inertia: Some(Mat3::from_diagonal(Vec3::new(0.01 * inertia, inertia, inertia))),
            position: Vec3::new((k as f64 + 0.5) * length, 0.0, 0.0),
            ..Body::default()
        });
        let previous = if k == 0 { "world".into() } else { format!("rod{}", k - 1) };
        scene.joints.push(
            joint(format!("hinge{k}"), "revolute")
                .with("bodies", [on(&previous), on(&name)])
                .with("at", Vec3::new(k as f64 * length, 0.0, 0.0))
                .with("axis", Vec3::Z)
                .with("rows", rows),
        );
    }
    scene
}

fn end(scene: &Scene, until: f64, tolerance: f64) -> tippe::Summary {
    let model = Model::compile(scene).unwrap();
    let settings = Settings { tolerance, ..Settings::default() };
    simulate(&model, &mut State::start(&model), until, &settings, &mut ()).unwrap()
}

#[test]
fn a_double_pendulum_in_coordinates_and_in_rows() {
    // the reference of scene `double_pendulum` at 3 s: tip of the second rod
    let tip = Vec3::new(1.3304368251440482, -1.3986448605192046, 0.0);
    for rows in [false, true] {
        let summary = end(&chain(2, 1.0, 1.0, rows), 3.0, 1e-10);
        let b = &summary.bodies[1];
        let reached = b.position + b.orientation * Vec3::new(0.5, 0.0, 0.0);
        let error = (reached - tip).length();
        println!("rows {rows}: error {error:e}, residual {:e}, steps {}", summary.energy.residual(), summary.steps);
        assert!(error < 1e-9, "rows {rows}: {error:e}");
    }
}

/// A body on one joint to the world, another on a second joint of the same kind to the first; everything moves.
fn two_links(kind: &str, rows: bool) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.3, -2.0, -9.81), ..Scene::default() };
    for (k, position) in [Vec3::new(0.3, 0.1, -0.2), Vec3::new(0.7, -0.2, -0.1)].into_iter().enumerate() {
        let name = format!("link{k}");
        scene.bodies.push(Body {
            name: name.clone(),
            mass: Some(1.0 + k as f64),
            inertia: Some(Mat3::from_diagonal(Vec3::new(0.05, 0.06, 0.07))),
            position,
            ..Body::default()
        });
        let previous = if k == 0 { "world" } else { "link0" };
        let axis = if k == 0 { Vec3::new(0.2, 0.9, 0.3) } else { Vec3::new(-0.4, 0.5, 0.8) };
        let mut joint = joint(format!("joint{k}"), kind)
            .with("bodies", [on(previous), on(&name)])
            .with("at", Vec3::new(0.4 * k as f64, 0.0, 0.0))
            .with("axis", axis)
            .with("rows", rows);
        match kind {
            "universal" => joint.set("axis2", Vec3::new(1.0, 0.0, 0.0)),
            "screw" => joint.set("pitch", 0.2),
            _ => {}
        }
        scene.joints.push(joint);
    }
    scene
}

#[test]
fn coordinates_and_rows_of_every_joint_give_the_same_motion() {
    for kind in [
        "fixed",
        "revolute",
        "prismatic",
        "cylindrical",
        "spherical",
        "universal",
        "planar",
        "free",
        "screw",
        "constant_velocity",
    ] {
        let [tree, loops] = [false, true].map(|rows| end(&two_links(kind, rows), 0.5, 1e-10));
        for (a, b) in tree.bodies.iter().zip(&loops.bodies) {
            let apart = (a.position - b.position).length();
            assert!(apart < 1e-8, "{}: {apart:e} m apart", kind);
            assert!((a.velocity - b.velocity).length() < 1e-7, "{}", kind);
        }
        for (form, summary) in [("coordinates", &tree), ("rows", &loops)] {
            // ideal constraints do no work
            let residual = summary.energy.residual().abs();
            assert!(residual < 1e-8, "{} in {form}: residual {residual:e} J", kind);
        }
    }
}

#[test]
fn start_values_of_joints_in_rows_place_bodies_as_those_of_coordinates_do() {
    for kind in
        ["revolute", "prismatic", "cylindrical", "spherical", "universal", "planar", "screw", "constant_velocity"]
    {
        for reversed in [false, true] {
            let scene = |rows: bool, breaks: bool| {
                let mut scene = two_links(kind, rows);
                for (k, joint) in scene.joints.iter_mut().enumerate() {
                    let rate = |i: usize| 1.5 - 0.7 * (i + 2 * k) as f64;
                    for (i, coordinate) in joint.kind.coordinates.iter().enumerate() {
                        joint.set(coordinate.name, 0.3 + 0.2 * (i + k) as f64);
                        joint.set(coordinate.rate, rate(i));
                    }
                    if kind == "spherical" {
                        joint.set("angular_velocity", Vec3::new(rate(0), rate(1), rate(2)));
                    }
                    if breaks {
                        joint.set("breaking_force", 1e9);
                        joint.set("breaking_torque", 1e9);
                    }
                    if reversed {
                        let [first, second] = joint.between("bodies");
                        joint.set("bodies", [second, first]);
                    }
                }
                scene
            };
            let coordinates = Model::compile_for(&scene(false, false), Clock::Realtime).unwrap();
            for (rows, breaks) in [(true, false), (false, true)] {
                let loops = Model::compile_for(&scene(rows, breaks), Clock::Realtime).unwrap();
                let name = format!("{}, reversed {reversed}, breaks {breaks}", kind);
                assert_eq!(loops.warnings, coordinates.warnings, "{name}");
                for (a, b) in coordinates.start.iter().zip(&loops.start) {
                    assert!((a.position - b.position).length() < 1e-10, "{name}: {a:?} {b:?}");
                    assert!(a.orientation.dot(b.orientation).abs() > 1.0 - 1e-10, "{name}: {a:?} {b:?}");
                    assert!((a.velocity - b.velocity).length() < 1e-10, "{name}: {a:?} {b:?}");
                    assert!((a.angular_velocity - b.angular_velocity).length() < 1e-10, "{name}: {a:?} {b:?}");
                }
                assert!(coordinates.start[1].velocity.length() > 0.1, "{name}");
            }
        }
    }
}

#[test]
fn a_start_value_that_a_loop_of_rows_does_not_allow_is_said() {
    // a rod between two hinges of the world cannot turn
    let mut scene = chain(1, 1.0, 1.0, true);
    scene.joints[0].set("speed", 2.0);
    let mut other = scene.joints[0].clone();
    other.name = "other".into();
    other.set("at", Vec3::new(1.0, 0.0, 0.0));
    other.unset("speed");
    scene.joints.push(other);
    let model = Model::compile(&scene).unwrap();
    let said = model.warnings.join("\n");
    assert!(said.contains("joint \"hinge0\" closes a loop with rows"), "{said}");
    assert!(said.contains("its speed starts at 0.000000 rad/s, not at 2.000000 rad/s"), "{said}");
}

#[test]
fn a_restart_at_any_time_changes_no_bit() {
    for (name, until) in [
        ("double_pendulum", 1.0),
        ("four_bar", 0.5),
        ("heavy_top", 0.3),
        ("attach", 3.0),
        ("joint_friction", 8.0),
        ("speed_drive", 6.0),
        ("filter_pulse", 4.0),
        ("two_stage_rocket", 12.0),
    ] {
        let scene = Scene::load(name, &[]).unwrap();
        let model = Model::compile(&scene).unwrap();
        let settings = Settings { tolerance: 1e-7, ..Settings::default() };
        let whole = simulate(&model, &mut State::start(&model), until, &settings, &mut ()).unwrap();
        let mut state = State::start(&model);
        let mut parts = whole.clone();
        for share in [0.137, 0.31, 0.5, 0.77, 1.0] {
            let two = Settings { threads: 2, ..settings.clone() };
            parts = simulate(&model, &mut state, share * until, &two, &mut ()).unwrap();
            let saved = serde_json::to_string(&state).unwrap();
            state = serde_json::from_str(&saved).unwrap();
        }
        assert_eq!(whole.hash, parts.hash, "{name}");
    }
}

#[test]
fn integrators_keep_their_order_on_a_mechanism() {
    let truth = end(&chain(2, 1.0, 1.0, false), 0.5, 1e-12).bodies[1].position;
    let error = |integrator: Integrator, step: f64| {
        let model = Model::compile(&chain(2, 1.0, 1.0, false)).unwrap();
        let settings = Settings { integrator, step: Some(step), ..Settings::default() };
        let summary = simulate(&model, &mut State::start(&model), 0.5, &settings, &mut ()).unwrap();
        (summary.bodies[1].position - truth).length()
    };
    for (integrator, order) in [(Integrator::Rk4, 4.0), (Integrator::Heun, 2.0), (Integrator::Euler, 1.0)] {
        let seen = libm::log2(error(integrator, 0.005) / error(integrator, 0.0025));
        assert!((seen - order).abs() < 0.4, "{}: order {seen}", integrator.name());
    }
    for integrator in [Integrator::Dopri5, Integrator::Rodas4] {
        // the error follows the tolerance
        let error = |tolerance: f64| {
            let model = Model::compile(&chain(2, 1.0, 1.0, false)).unwrap();
            let settings = Settings { integrator, tolerance, ..Settings::default() };
            let summary = simulate(&model, &mut State::start(&model), 0.5, &settings, &mut ()).unwrap();
            (summary.bodies[1].position - truth).length()
        };
        let (coarse, fine) = (error(1e-5), error(1e-8));
        assert!(fine < coarse / 50.0 && fine < 1e-7, "{}: {coarse:e} {fine:e}", integrator.name());
    }
}
