//! Grains: every way to place them, written back, and what can be wrong with them.

use super::*;
use crate::model::Drive;
use crate::observe::{BodyState, Summary};
use crate::scene::{Clock, Packing};
use crate::{Model, clock};

/// Every key of grains, but `file`.
pub(super) const GRAINS: &str = include_str!("../../../tests/data/grains.toml");

#[track_caller]
fn grains() -> Scene {
    Scene::parse("grains.toml", GRAINS, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn grains_are_written_back() {
    let scene = grains();
    for (file, text) in [("back.toml", scene.to_toml()), ("back.json", scene.to_json())] {
        let read = Scene::parse(file, &text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        assert_eq!(Scene { file: scene.file.clone(), ..read }, scene);
    }
}

#[test]
fn copies_with_one_name_are_one_set() {
    let scene = grains();
    let row = scene.grains.iter().find(|set| set.name == "row").expect("is there");
    let Packing::Listed(row) = &row.packing else { panic!("{row:?}") };
    assert_eq!(row.iter().map(|grain| grain.position.x).collect::<Vec<_>>(), [0.0, 0.006, 0.012]);
}

#[test]
fn grains_of_a_file_are_those_written_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let set = "[[grains]]\nname = \"g\"\nmaterial = \"glass\"\npacking = \"file\"\nfile = \"g.csv\"\n";
    let text = format!("format = 1\n[world]\ngravity = [0, 0, 0]\n{set}");
    let path = folder.path().join("s.toml");
    let file = path.display().to_string();
    std::fs::write(folder.path().join("g.csv"), "x,y,z,radius,vx\n1,2,3,0.1,4\n1,2,4,0.2,5\n").expect("written");
    let scene = Scene::parse(&file, &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let all = scene.grains[0].grains().expect("can be placed");
    assert_eq!((all[1].radius, all[1].position.z, all[1].velocity.x), (0.2, 4.0, 5.0));
    std::fs::write(folder.path().join("g.csv"), "x,y,z\n1,2,3\n").expect("written");
    let errors = Scene::parse(&file, &text, &[]).expect_err("no radius").to_string();
    assert!(errors.contains("column `radius` is missing"), "{errors}");
}

#[test]
fn what_is_wrong_with_grains_is_said_where_it_stands() {
    let said = |from: &str, to: &str| {
        assert!(GRAINS.contains(from), "{from}");
        match Scene::parse("s.toml", &GRAINS.replacen(from, to, 1), &[]) {
            Err(errors) => errors.to_string(),
            Ok(scene) => Model::compile(&scene).expect_err("must not compile").to_string(),
        }
    };
    for (from, to, what) in [
        ("step = 2e-6", "step = 1e-3", "at most 0.4 is stable"),
        ("memory = 1e8", "memory = 1e4", "more than the 10000 there are"),
        ("count = 20", "count = 1e8", "more than the 100000000 there are"),
        ("count = 20", "count = 20000", "its box has room for"),
        ("radius = \"r\"\nvelocity", "velocity", "has 0 of radius"),
        (
            "material = \"sand\"\npacking = \"lattice\"",
            "material = \"send\"\npacking = \"lattice\"",
            "unknown material",
        ),
        ("high = [0.1, 0.1, 0.2]", "high = [0.1, 0.1, 0.1]", "its box has no inside"),
        ("packing = \"lattice\"", "packing = \"latice\"", "lattice"),
        ("jitter = 0.5", "jiter = 0.5", "jitter"),
        ("name = \"row\"", "name = \"floor\"", "has the name of a body"),
        ("0.6, 0.002]", "0.6, -0.002]", "a radius is > 0"),
        ("velocities = [[0, 0, 0], ", "velocities = [", "1 velocities for 2 spheres"),
        ("cohesion = 1000", "cohesion = 1000\nadhesion = 1", "both `adhesion` and `cohesion`"),
        ("[\"r\", 0, 0, \"r\"], [0, \"r\", 0, \"r\"]", "[0, \"r\", 0, 0]", "sphere 1 of its clump has radius 0"),
        ("clump = [[0, 0, 0, \"r\"], [0, 0, \"r\", \"r/2\"]]", "clump = []", "its clump has no spheres"),
        ("clump = [[0, 0, 0, \"r\"], [0, 0, \"r\", \"r/2\"]]\n", "", "has no `clump`"),
        ("method = \"force\"", "method = \"forces\"", "force"),
        ("method = \"force\"", "stiffness = 1e5", "`stiffness`, but contacts have that of their materials"),
        ("method = \"force\"", "method = \"position\"", "positions of balls alone can be corrected"),
        ("clump_seed = 3", "frozen = true", "are clumps and frozen"),
        ("rate = \"0.05 kg/s\"", "rate = 1\nclump = [[0, 0, 0, 1]]", "which takes no `clump`"),
        ("high = [0.7, 0.7, 0.499]", "high = [0.7, 0.3, 0.499]", "sink \"drain\": its box has no inside"),
        ("name = \"drain\"", "name = \"press\"", "sink \"press\" has the name of a body"),
        ("smoothing = 0.02", "smoothing = 0", "smoothing"),
        ("high = [0.1, 0.1, \"0.1*k + 0.1\"]", "high = [0.1, 0.1, \"0.1*k\"]", "probe \"core_0\": its box has no inside"),
        ("name = \"core_{k}\"", "name = \"drain\"", "probe \"drain\" has the name of a sink"),
        ("axis = [0, 0, -1]", "axis = [0, 0, 0]", "servo has an axis of length 0"),
        ("force = \"0.1 N\", ", "", "servo has neither `force` nor `stress`"),
        ("area = 0.01, ", "", "servo has no `area`"),
        ("speed = \"0.1 m/s\" }", "speed = 1 }\nvelocity = [1, 0, 0]", "has both `servo` and `velocity`"),
        ("periodic = [\"x\"]", "periodic = [\"u\"]", "no axis"),
        ("[contact]\nrestitution = 0.6\nfriction = 0.4\n", "", "have no restitution"),
        ("spheres = [[-0.5,", "spheres = [[-5,", "a grain is at x = -5 m, outside of the world from -1 to 1 m"),
        ("0.6, 0.002]", "0.6, 0.6]", "the world repeats after 2 m along x, but a grain has a radius of 0.6 m"),
        ("ignore = [\"floor\"]\n", "", "bodies touch grains, and not each other"),
    ] {
        let text = said(from, to);
        assert!(text.contains(what) && text.starts_with("s.toml:"), "{to}: {text}");
    }
}

/// A run in two parts through a checkpoint has the same bits as one in one part, for any number of threads.
#[test]
fn a_continued_run_has_the_same_bits() {
    let scene = grains();
    let model = Model::compile(&scene).unwrap_or_else(|errors| panic!("{errors}"));
    let mut settings = clock::Settings::from_scene(&scene, Clock::Granular);
    settings.set_threads(1);
    let mut state = settings.start(&model);
    let whole = clock::simulate(&model, &mut state, 0.01, &settings, &mut ()).unwrap_or_else(|f| panic!("{f}"));
    settings.set_threads(2);
    let mut state = settings.start(&model);
    clock::simulate(&model, &mut state, 0.0037, &settings, &mut ()).unwrap_or_else(|f| panic!("{f}"));
    let clock::State::Granular(state) = &state else { panic!("another clock") };
    let text = serde_json::to_string(state).expect("can be written");
    let mut state = clock::State::Granular(serde_json::from_str(&text).expect("can be read"));
    let parts = clock::simulate(&model, &mut state, 0.01, &settings, &mut ()).unwrap_or_else(|f| panic!("{f}"));
    assert_eq!(whole.hash, parts.hash);
    assert_eq!(whole.energy, parts.energy);
}

/// Linear and angular momentum about the origin, of free bodies and grains.
fn momenta(model: &Model, state: &clock::State, bodies: &[BodyState]) -> [Vec3; 2] {
    let grains = state.grains().expect("has grains");
    let mut sum = [Vec3::ZERO; 2];
    for (body, at) in model.bodies.iter().zip(bodies).filter(|(body, _)| body.drive == Drive::Free) {
        let arm = at.orientation * body.p_bc;
        let p = body.mass * (at.velocity + at.angular_velocity.cross(arm));
        let spin = at.orientation * (body.I_c * (at.orientation.conjugate() * at.angular_velocity));
        sum[0] += p;
        sum[1] += (at.position + arm).cross(p) + spin;
    }
    for place in 0..grains.len() {
        let (grain, mass) = (grains.grain(place), grains.mass(place));
        sum[0] += mass * grain.velocity;
        sum[1] += mass * (grain.position.cross(grain.velocity) + 0.4 * grain.radius * grain.radius * grain.spin);
    }
    sum
}

/// A cube of balls that hits the edge of a plate.
const SHOT: &str = r#"
format = 1
[world]
gravity = [0, 0, 0]
[run]
clock = "granular"
until = 0.1
[materials.soft]
density = 1000
young = "1 MPa"
poisson = 0.3
[[grains]]
name = "shot"
material = "soft"
packing = "lattice"
low = [0, 0, 0.05]
high = [0.05, 0.05, 0.1]
radius = 0.005
velocity = [0, 0, -1]
friction = 0.5
restitution = 0.5
[[body]]
name = "plate"
material = "soft"
position = [0.03, 0.02, 0]
shape = { kind = "box", size = [0.1, 0.1, 0.02] }
"#;

/// Runs the shot; gives the plate at the end, the share of linear and of angular momentum that is missing, and the residual of the
/// energy as a share of the losses.
fn shot(clock: Clock, step: f64) -> (BodyState, [f64; 2], f64) {
    let text = if clock == Clock::Precise { format!("{SHOT}[granular]\nstep = {step}\n") } else { SHOT.to_owned() };
    let scene = Scene::parse("s.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let model = Model::compile_for(&scene, clock).unwrap_or_else(|errors| panic!("{errors}"));
    let mut settings = clock::Settings::from_scene(&scene, clock);
    match &mut settings {
        clock::Settings::Granular(settings) => settings.step = Some(step),
        clock::Settings::Realtime(settings) => settings.step = step,
        // that of the scene
        clock::Settings::Precise(_) => {}
    }
    let mut state = settings.start(&model);
    let before = momenta(&model, &state, &model.start);
    let end = clock::simulate(&model, &mut state, 0.1, &settings, &mut ()).unwrap_or_else(|f| panic!("{f}"));
    let after = momenta(&model, &state, &end.bodies);
    let missing = [0, 1].map(|k| (after[k] - before[k]).length() / before[k].length());
    let lost = end.energy.dissipated() - end.energy.integration;
    (end.bodies[0], missing, end.energy.residual().abs() / lost)
}

/// A free body and the grains that hit it keep both momenta to rounding; energy closes with the step, as the law is not smooth where
/// contact begins.
#[test]
fn a_free_body_gets_what_the_grains_lose() {
    let mut residuals = Vec::new();
    for step in [2e-4, 5e-5] {
        let (plate, missing, residual) = shot(Clock::Granular, step);
        assert!(missing.iter().all(|m| *m < 1e-12), "{missing:?}");
        assert!(plate.velocity.z < -0.01 && plate.angular_velocity.length() > 0.01, "{plate:?}");
        residuals.push(residual);
    }
    assert!(residuals[0] < 0.02 && residuals[1] < 0.15 * residuals[0], "{residuals:?}");
}

/// So do those of the realtime clock, but for the angular momentum, which closes with the step; both clocks agree.
#[test]
fn grains_make_substeps_in_the_realtime_clock() {
    let (own, ..) = shot(Clock::Granular, 5e-5);
    let (mut lost, mut gaps) = (Vec::new(), Vec::new());
    for step in [4e-4, 1e-4] {
        let (plate, missing, residual) = shot(Clock::Realtime, step);
        assert!(missing[0] < 1e-12, "{missing:?}");
        gaps.push((plate.velocity - own.velocity).length() / own.velocity.length());
        assert!(residual < 0.02, "{residual}");
        lost.push(missing[1]);
    }
    assert!(gaps[0] < 0.05 && gaps[1] < 0.5 * gaps[0], "{gaps:?}");
    assert!(lost[0] < 1e-2 && lost[1] < 0.5 * lost[0], "{lost:?}");
}

/// In the precise clock they hand over at every step of the grains; linear momentum is kept to rounding once they have parted,
/// angular momentum closes with the square of the step, and the plate goes as in the granular clock.
#[test]
fn grains_and_bodies_hand_over_in_the_precise_clock() {
    let (mut lost, mut gaps) = (Vec::new(), Vec::new());
    for step in [1e-4, 5e-5] {
        let (own, ..) = shot(Clock::Granular, step);
        let (plate, missing, residual) = shot(Clock::Precise, step);
        assert!(missing[0] < 1e-12, "{missing:?}");
        gaps.push((plate.velocity - own.velocity).length() / own.velocity.length());
        assert!(residual < 0.02, "{residual}");
        lost.push(missing[1]);
    }
    assert!(gaps[0] < 2e-4 && gaps[1] < 0.3 * gaps[0], "{gaps:?}");
    assert!(lost[0] < 1e-8 && lost[1] < 0.3 * lost[0], "{lost:?}");
}

/// A run in two parts through a checkpoint has the same bits as one in one part, for any number of threads, in both clocks of bodies.
#[test]
fn a_continued_run_of_bodies_with_grains_has_the_same_bits() {
    let scene = Scene::parse("s.toml", SHOT, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    for clock in [Clock::Realtime, Clock::Precise] {
        let model = Model::compile_for(&scene, clock).unwrap_or_else(|errors| panic!("{errors}"));
        let mut settings = clock::Settings::from_scene(&scene, clock);
        let mut hashes = Vec::new();
        for (threads, parts) in [(1, &[0.1][..]), (2, &[0.05, 0.1]), (1, &[0.051234, 0.1])] {
            settings.set_threads(threads);
            let mut state = settings.start(&model);
            let mut hash = 0;
            for until in parts {
                state = match &state {
                    clock::State::Realtime(own) => clock::State::Realtime(through_text(own)),
                    clock::State::Precise(own) => clock::State::Precise(through_text(own)),
                    clock::State::Granular(_) => panic!("another clock"),
                };
                let end = clock::simulate(&model, &mut state, *until, &settings, &mut ());
                hash = end.unwrap_or_else(|f| panic!("{f}")).hash;
            }
            hashes.push(hash);
        }
        assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{hashes:?}");
    }
}

/// What a checkpoint makes of a state.
fn through_text<T: serde::Serialize + serde::de::DeserializeOwned>(state: &T) -> T {
    let text = serde_json::to_string(state).expect("can be written");
    serde_json::from_str(&text).expect("can be read")
}

/// A scene in a clock to a time.
fn ran(text: &str, clock: Clock, until: f64) -> (Model, Summary) {
    let scene = Scene::parse("s.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let model = Model::compile_for(&scene, clock).unwrap_or_else(|errors| panic!("{errors}"));
    let settings = clock::Settings::from_scene(&scene, clock);
    let end = clock::simulate(&model, &mut settings.start(&model), until, &settings, &mut ());
    (model, end.unwrap_or_else(|f| panic!("{f}")))
}

/// An emitter puts in what its rate says, to one grain, in all clocks.
#[test]
fn an_emitter_keeps_its_rate() {
    let text = r#"
format = 1
[world]
gravity = [0, 0, -9.81]
[materials.soft]
density = 1000
young = "1 MPa"
poisson = 0.3
[[grains]]
name = "poured"
material = "soft"
packing = "emitter"
low = [-0.05, -0.05, 0]
high = [0.05, 0.05, 0.02]
radius = 0.002
rate = "20 g/s"
velocity = [0, 0, -1]
friction = 0.5
restitution = 0.5
"#;
    for clock in [Clock::Granular, Clock::Realtime, Clock::Precise] {
        let (model, end) = ran(text, clock, 0.2);
        let count = end.signals[model.signals.iter().position(|s| s.name == "poured.count").expect("is there")];
        let mass = 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.002f64.powi(3);
        // what is due comes at the beginning of a puff or step
        let due = |time: f64| (0.02 * time / mass).floor();
        assert!(due(0.2) <= count && count <= due(0.2 + 1.0 / 60.0), "{count} instead of {}", due(0.2));
    }
}

/// A cube of falling balls ends in a sink, all of it, in all clocks; what it takes away is booked.
#[test]
fn a_sink_takes_all_that_falls_into_it() {
    let text = r#"
format = 1
[world]
gravity = [0, 0, -9.81]
[materials.soft]
density = 1000
young = "1 MPa"
poisson = 0.3
[[grains]]
name = "fallen"
material = "soft"
packing = "lattice"
low = [0, 0, 0.1]
high = [0.05, 0.05, 0.15]
radius = 0.005
friction = 0.5
restitution = 0.5
[[sink]]
name = "drain"
low = [-1, -1, -0.5]
high = [1, 1, 0]
"#;
    for clock in [Clock::Granular, Clock::Realtime, Clock::Precise] {
        let (model, end) = ran(text, clock, 0.25);
        let value = |name: &str| end.signals[model.signals.iter().position(|s| s.name == name).expect("is there")];
        let count = model.grains.as_ref().map_or(0.0, |own| own.start.len() as f64);
        assert!(count >= 100.0);
        assert_eq!((value("drain.count"), value("fallen.count")), (count, 0.0), "{clock:?}");
        let mass = count * 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.005f64.powi(3);
        assert!((value("drain.mass") - mass).abs() < 1e-12, "{clock:?}");
        assert!(end.energy.residual().abs() < 1e-6 * end.energy.initial, "{clock:?} {:?}", end.energy);
    }
}

/// A block of balls falls through a box: what the probe says of it is counted from the balls, in all clocks.
#[test]
fn a_probe_says_what_is_in_its_box() {
    let text = r#"
format = 1
[world]
gravity = [0, 0, -9.81]
[materials.soft]
density = 1000
young = "1 MPa"
poisson = 0.3
[[grains]]
name = "falling"
material = "soft"
packing = "lattice"
low = [0, 0, 0.1]
high = [0.05, 0.05, 0.15]
radius = 0.005
velocity = [0.1, 0, 0]
friction = 0.5
restitution = 0.5
[[probe]]
name = "box"
low = [-1, -1, -1]
high = [1, 1, 1]
[[probe]]
name = "aside"
low = [2, 0, 0]
high = [3, 1, 1]
"#;
    for clock in [Clock::Granular, Clock::Realtime, Clock::Precise] {
        let (model, end) = ran(text, clock, 0.1);
        let value = |name: &str| end.signals[model.signals.iter().position(|s| s.name == name).expect("is there")];
        let mass = value("falling.mass");
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs().max(1e-6);
        assert!(close(value("box.mass"), mass), "{clock:?}");
        assert!(close(value("box.packing"), mass / 1000.0 / 8.0), "{clock:?} {}", value("box.packing"));
        assert!(close(value("box.flow.x"), 0.1 * mass / 2.0), "{clock:?}");
        assert!(close(value("box.flow.z"), value("falling.velocity.z") * mass / 2.0), "{clock:?}");
        assert!(value("box.flow.z") < -0.4 * mass && value("box.stress.zz").abs() < 1e-9, "{clock:?}");
        assert_eq!((value("aside.packing"), value("aside.mass"), value("aside.stress.xy")), (0.0, 0.0, 0.0));
        assert!(value("aside.coordination").is_nan());
    }
}

/// A ball falls into gravel: a run in pieces is the run in one, grains and all, wherever it is cut.
#[test]
fn the_precise_clock_goes_on_with_grains_bit_by_bit() {
    let text = r#"
format = 1
[world]
gravity = [0, 0, -9.81]
[run]
output_interval = 0.02
[granular]
step = 2e-4
[contact]
friction = 0.5
restitution = 0.5
[materials.soft]
density = 2500
young = "0.5 MPa"
poisson = 0.3
[[body]]
name = "floor"
fixed = true
material = "soft"
shape = { kind = "box", size = [0.2, 0.2, 0.02], position = [0, 0, -0.01] }
[[body]]
name = "ball"
material = "soft"
position = [0.003, 0, 0.04]
velocity = [0.3, 0, -0.5]
shape = { kind = "sphere", radius = 0.01 }
[[grains]]
name = "gravel"
material = "soft"
packing = "lattice"
low = [-0.02, -0.02, 0]
high = [0.02, 0.02, 0.02]
radius = 0.004
"#;
    let scene = Scene::parse("s.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let model = Model::compile_for(&scene, Clock::Precise).unwrap_or_else(|errors| panic!("{errors}"));
    let settings = crate::clock::Settings::from_scene(&scene, Clock::Precise);
    let hash = |ends: &[f64]| {
        let mut state = settings.start(&model);
        let went = |end: &f64| crate::clock::simulate(&model, &mut state, *end, &settings, &mut ()).expect("it runs").hash;
        ends.iter().map(went).last()
    };
    let whole = hash(&[0.1]);
    // at hand-overs, beside them, and in the middle of one interval
    for ends in [&[0.02, 0.1][..], &[0.013, 0.026, 0.039, 0.1], &[0.07, 0.0701, 0.07013, 0.1], &[0.0599999, 0.1]] {
        assert_eq!(hash(ends), whole, "{ends:?}");
    }
}

#[test]
fn mutated_grains_never_panic() {
    for seed in 0..400 {
        survives("m.toml", &mutate(GRAINS, seed));
    }
}
