//! The realtime clock under bad treatment: finite, or a failure with a name.

use crate::common::scenes::{FLOOR, G, compiled, cube, index, model, one_thread, run, steel};
use tippe::realtime::{Failure, Settings, State, simulate};
use tippe::run::{Recording, Subjects};
use tippe::scene::Scene;
use tippe::{Cause, Model};
use tippe_geometry::Vec3;

/// Ends finite or with a named failure; stored energy within the work put in and a share of what there was.
fn behaves(what: &str, text: &str, until: f64) {
    let model = match compiled(text) {
        Ok(model) => model,
        Err(errors) => {
            assert!(errors.contains("test.toml"), "{what}: {errors}");
            println!("{what}: refused: {}", errors.lines().next().unwrap_or_default());
            return;
        }
    };
    let state = State::start(&model);
    goes_on(what, &model, state, until);
}

fn goes_on(what: &str, model: &Model, mut state: State, until: f64) {
    let mut recording = Recording::new(Subjects::of(model));
    match simulate(model, &mut state, until, &one_thread(), &mut recording) {
        Ok(summary) => {
            for (body, s) in model.bodies.iter().zip(state.bodies()) {
                let finite = s.p.is_finite() && s.q.is_finite() && s.v.is_finite() && s.w.is_finite();
                assert!(finite, "{what}: {} is not finite", body.name);
            }
            let first = &recording.energy[0];
            let scale = recording.energy.iter().map(|e| e.put_in().abs()).fold(first.stored().abs(), f64::max).max(1.0);
            for e in &recording.energy {
                let grown = e.kinetic + e.potential - first.stored() - e.put_in();
                assert!(grown < 1e-3 * scale, "{what}: energy grew by {grown:e} J beyond the work {:e} J", e.put_in());
            }
            println!("{what}: kinetic {:.3e} J, warnings {:?}", summary.energy.kinetic, summary.warnings);
        }
        Err(Failure { name, what: why, .. }) => {
            assert!(model.bodies.iter().any(|b| b.name == name), "{what}: failure names \"{name}\"");
            assert!(why.contains("help: "), "{what}: {why}");
            println!("{what}: {name} {why}");
        }
    }
}

#[test]
fn joints_that_disagree() {
    for distance in [0.01, 0.5] {
        behaves(
            &format!("two posts {distance} m apart"),
            &format!(
                r#"{}
                [[body]]
                name = "post1"
                fixed = true
                frames = [{{ name = "pin", position = [0, 0, 1] }}]
                [[body]]
                name = "post2"
                fixed = true
                frames = [{{ name = "pin", position = [{distance}, 0, 1] }}]
                [[body]]
                name = "beam"
                mass = 1
                inertia = [1, 1, 1]
                position = [0, 0, 1]
                frames = [{{ name = "pin", position = [0, 0, 0] }}]
                [[joint]]
                name = "first"
                kind = "fixed"
                bodies = ["post1.pin", "beam.pin"]
                [[joint]]
                name = "second"
                kind = "fixed"
                bodies = ["post2.pin", "beam.pin"]
                rows = true
                "#,
                steel(0.5, 0.0)
            ),
            1.0,
        );
    }
}

#[test]
fn drives_without_force() {
    for (kind, more) in [("position", "stiffness = 1e6, damping = 1e3, "), ("speed", "")] {
        behaves(
            kind,
            &format!(
                r#"{}
                [[body]]
                name = "arm"
                mass = 1
                inertia = [0.1, 0.1, 0.1]
                position = [0.5, 0, 0]
                [[joint]]
                name = "hinge"
                kind = "revolute"
                bodies = ["world", "arm"]
                at = [0, 0, 0]
                axis = "y"
                motor = {{ kind = "{kind}", value = 1, {more}limit = 0 }}
                "#,
                steel(0.5, 0.0)
            ),
            2.0,
        );
    }
}

#[test]
fn enormous_forces() {
    for (what, force, torque) in [
        ("up", "[0, 0, 1e12]", "[0, 0, 0]"),
        ("down", "[0, 0, -1e12]", "[0, 0, 0]"),
        ("sideways", "[1e12, 0, 0]", "[0, 0, 0]"),
        ("turning", "[0, 0, 0]", "[0, 1e12, 1e12]"),
        ("larger than numbers", "[\"1e300*1e300\", 0, 0]", "[0, 0, 0]"),
    ] {
        behaves(
            what,
            &format!(
                r#"{}{FLOOR}{}{}
                [[force]]
                name = "push"
                kind = "applied"
                on = "box0"
                force = {force}
                torque = {torque}
                "#,
                steel(0.5, 0.3),
                cube("box0", 0.0, 0.0, 0.1),
                cube("box1", 0.0, 0.0, 0.3)
            ),
            1.0,
        );
    }
}

#[test]
fn bodies_that_start_in_each_other() {
    for depth in [0.01, 0.1, 0.19] {
        behaves(
            &format!("overlap of {depth} m"),
            &format!(
                "{}{FLOOR}{}{}",
                steel(0.5, 0.5),
                cube("box0", 0.0, 0.0, 0.1),
                cube("box1", 0.02, 0.01, 0.3 - depth)
            ),
            3.0,
        );
    }
    for centre in [0.0, -0.05, -0.3] {
        behaves(
            &format!("centre at {centre} m"),
            &format!("{}{FLOOR}{}", steel(0.5, 0.5), cube("box", 0.0, 0.0, centre)),
            3.0,
        );
    }
}

#[test]
fn a_body_that_is_put_into_another() {
    let text = format!("{}{FLOOR}{}{}", steel(0.5, 0.5), cube("box0", 0.0, 0.0, 0.1), cube("box1", 1.0, 0.0, 0.1));
    let model = model(&text);
    for shift in [[-1.0, 0.0, 0.0], [-0.9, 0.05, 0.1], [0.0, 0.0, -0.15]] {
        let mut state = State::start(&model);
        run(&model, &mut state, 0.5, &one_thread());
        let mut value = serde_json::to_value(&state).unwrap();
        let p = &mut value["bodies"][index(&model, "box1")]["p"];
        for (k, d) in shift.iter().enumerate() {
            p[k] = (p[k].as_f64().unwrap() + d).into();
        }
        value["recorded"] = false.into();
        let moved: State = serde_json::from_value(value).unwrap();
        goes_on(&format!("moved by {shift:?}"), &model, moved, 4.0);
    }
}

/// Scenes the clock once got wrong; each says in its first lines how.
#[test]
fn mended_scenes_stay_finite_and_in_their_books() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mended");
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("a scene");
        let scene = Scene::parse("mended.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        let model = Model::compile(&scene).unwrap_or_else(|errors| panic!("{errors}"));
        let mut state = State::start(&model);
        let run =
            tippe::realtime::simulate(&model, &mut state, scene.run.until, &Settings::from_scene(&scene), &mut ());
        match run {
            Err(failure) => wrong.push(format!("{}: {failure}", path.display())),
            Ok(summary) => {
                let energy = summary.energy;
                let turned = Cause::LOST.iter().fold(0.0_f64, |most, &cause| most.max(energy[cause].abs()));
                if turned > 2.0 * energy.initial.abs().max(1.0) {
                    wrong.push(format!("{}: {turned} J booked, {} J at the start", path.display(), energy.initial));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What starts on a slab without any depth slides on, wherever it stands: the normal of surfaces that only touch is that of their faces, not the
/// line between their middles.
#[test]
fn meshes_that_only_touch_slide_on() {
    for (x, gravity, mu) in [(-0.5, G, 0.3), (-0.137, G, 0.3), (0.9, G, 0.3), (-0.5, 0.0, 0.3), (-0.5, G, 0.0)] {
        let text = format!(
            r#"
[world]
gravity = [0, 0, {}]
[contact]
friction = {mu}
restitution = 0.3
[[solid]]
name = "slab"
kind = "box"
size = [4, 1, 0.2]
[[solid]]
name = "block"
kind = "box"
size = [0.3, 0.1, 0.05]
[[body]]
name = "slab"
fixed = true
material = "steel"
shape = {{ kind = "mesh", solid = "slab" }}
position = [0, 0, -0.1]
[[body]]
name = "block"
material = "steel"
shape = {{ kind = "mesh", solid = "block" }}
position = [{x}, 0, 0.025]
velocity = [1, 0, 0]
"#,
            -gravity
        );
        let model = model(&text);
        let mut state = State::start(&model);
        simulate(&model, &mut state, 0.02, &Settings { step: 1e-3, ..Settings::default() }, &mut ()).expect("runs");
        let v = state.bodies()[1].v;
        assert!((v - Vec3::new(1.0 - mu * gravity * 0.02, 0.0, 0.0)).length() < 1e-3, "{x} {gravity} {mu}: {v}");
    }
}
