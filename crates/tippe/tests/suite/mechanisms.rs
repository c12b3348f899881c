//! Mechanisms built in a program, against independent answers and against each other.

use tippe::scene::{Attachment, Body, Joint, JointKind, Scene};
use tippe::{Model, Settings, State, simulate};
use tippe_geometry::{Mat3, Vec3};

fn on(body: &str) -> Attachment {
    Attachment { body: body.into(), frame: String::new() }
}

/// n rods of one length and mass, hinged end to end, released horizontal (truth A01, A02).
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
        scene.joints.push(Joint {
            name: format!("hinge{k}"),
            kind: JointKind::Revolute,
            between: [on(&previous), on(&name)],
            at: Some(Vec3::new(k as f64 * length, 0.0, 0.0)),
            axis: Some(Vec3::Z),
            rows,
            ..Joint::default()
        });
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
    // truth A01 at 3 s: tip of the second rod
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
