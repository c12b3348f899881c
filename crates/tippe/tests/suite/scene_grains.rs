//! Grains: every way to place them, written back, and what can be wrong with them.

use tippe::geometry::Vec3;
use tippe::kinematics::BodyState;
use tippe::model::Drive;
use tippe::observe::Summary;
use tippe::scene::{Clock, Packing, Scene};
use tippe::{Cause, Model, clock};

/// Every key of grains, but `file`.
const GRAINS: &str = include_str!("../data/grains.toml");

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
        (
            "high = [0.1, 0.1, \"0.1*k + 0.1\"]",
            "high = [0.1, 0.1, \"0.1*k\"]",
            "probe \"core_0\": its box has no inside",
        ),
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
        ("ignore = [\"floor\"]\n", "ignore = [\"row\"]\n", "\"row\" is a set of grains, not a body"),
        ("[\"3*k*r\", -0.5", "[\"k*r\", -0.5", "starts 2.000e-3 m deep in grain"),
        (
            "[0.6, 0.6, 0.6]",
            "[0.6, 0.6, 1.6]",
            "its emitter reaches from z = 0.5 to 1.6 m, outside of the world from -1 to 1 m",
        ),
        ("cohesion = 1000", "cohesion = 1e8", "cohesion of 1.000e8 Pa presses them"),
        ("adhesion = 0.1", "adhesion = 1e6", "adhesion of 1.000e6 J/m2 presses them"),
        (
            "high = [0.1, 0.1, \"0.1*k + 0.1\"]",
            "high = [1.1, 0.1, \"0.1*k + 0.1\"]",
            "over the sides of the grains' world from -1 to 1 m, which repeats",
        ),
    ] {
        let text = said(from, to);
        assert!(text.contains(what) && text.starts_with("s.toml:"), "{to}: {text}");
    }
}

const BALLS: &str = r#"format = 1
[world]
gravity = [0, 0, -9.81]
[contact]
friction = 0.5
restitution = 0.5
[[body]]
name = "floor"
fixed = true
shape = { kind = "half_space" }
[[probe]]
name = "core"
low = [0, 0, 0]
high = [0.1, 0.1, 0.1]
[[grains]]
name = "balls"
material = "glass"
packing = "random"
low = [0, 0, 0]
high = [0.1, 0.1, 0.1]
count = 4
radius = 0.01
"#;

#[test]
fn a_number_that_is_wrong_is_the_one_named() {
    for (from, to, what) in [
        ("count = 4", "count = -5", "s.toml:21:9: grains \"balls\" has count -5"),
        (
            "radius = 0.01",
            "sieve = [[0.01, 0.5]]",
            "the number of points of the sieve curve is 1, but must be two or more",
        ),
        (
            "radius = 0.01",
            "sieve = [[0.01, 0.5], [0.02, 0.4]]",
            "a share of the sieve curve is 0.4, but must be at least",
        ),
        (
            "radius = 0.01",
            "sieve = [[0.01, 0.5], [0.01, 1]]",
            "a radius of the sieve curve is 0.01, but must be larger",
        ),
        (
            "radius = 0.01",
            "sieve = [[0.01, 0], [0.02, 0.9]]",
            "the last share of the sieve curve is 0.9, but must be 1",
        ),
        (
            "radius = 0.01",
            "radius_range = [0.02, 0.01]",
            "the smallest radius is 0.02, but must be at most the largest",
        ),
        ("radius = 0.01", "median = 0.01\ndeviation = 3", "the deviation is 3, but must be from 0 to 2"),
        (
            "packing = \"random\"\nlow = [0, 0, 0]\nhigh = [0.1, 0.1, 0.1]\ncount = 4",
            "packing = \"lattice\"\nlow = [0, 0, 0]\nhigh = [0.1, 0.1, 0.001]",
            "no room for a single grain",
        ),
        (
            "restitution = 0.5\n",
            "",
            "have no restitution, and [contact] has none either. help: such as restitution = 0.5",
        ),
    ] {
        assert!(BALLS.contains(from), "{from}");
        let errors = match Scene::parse("s.toml", &BALLS.replace(from, to), &[]) {
            Err(errors) => errors,
            Ok(scene) => Model::compile_for(&scene, Clock::Granular).expect_err("must not compile"),
        };
        assert!(errors.0.len() == 1 && errors.to_string().contains(what), "{to}: {errors}");
    }
}

#[test]
fn what_grains_take_for_granted_is_said() {
    let said = |text: &str, clock: Clock| {
        let scene = Scene::parse("s.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        Model::compile_for(&scene, clock).unwrap_or_else(|errors| panic!("{errors}")).warnings.join("\n")
    };
    let bare = "body \"floor\" has no material: as a wall of grains it is of \"glass\"";
    assert!(said(BALLS, Clock::Granular).contains(bare));
    let made = BALLS.replace("fixed = true", "fixed = true\nmaterial = \"steel\"");
    assert!(!said(&made, Clock::Granular).contains("no material"));
    // positions are corrected without a bounce: nobody has to say one
    let placed = made.replace("restitution = 0.5\n", "") + "[granular]\nmethod = \"position\"\n";
    said(&placed, Clock::Granular);
    let bodies = &made[..made.find("[[grains]]").unwrap()];
    assert!(said(bodies, Clock::Precise).contains("probe \"core\" has nothing to do: the scene has no grains"));
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
    let lost = end.energy.dissipated() - end.energy[Cause::Integration];
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

/// One ball of radius 1 mm high up, with more of the scene behind it.
fn one_ball(more: &str) -> String {
    format!(
        r#"format = 1
[world]
gravity = [0, 0, -9.81]
[materials.soft]
density = 1000
young = "1 MPa"
poisson = 0.3
[[grains]]
name = "ball"
material = "soft"
packing = "listed"
spheres = [[0, 0, 1, 0.001]]
friction = 0.5
restitution = 0.5
{more}"#
    )
}

fn scene_of(text: &str) -> Scene {
    Scene::parse("s.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

#[track_caller]
fn refused(text: &str, clock: Clock) -> String {
    Model::compile_for(&scene_of(text), clock).expect_err("must not compile").to_string()
}

/// Grains that start in each other, or in a wall, are named with their sets and the place of the later one.
#[test]
fn a_packing_that_overlaps_is_named() {
    let other =
        "[[grains]]\nname = \"other\"\nmaterial = \"soft\"\npacking = \"listed\"\nfriction = 0\nrestitution = 1\n";
    let deep = one_ball(&format!("{other}spheres = [[0, 0, 2, 0.002], [0, 0.0006, 1, 0.002]]\n"));
    for clock in [Clock::Granular, Clock::Realtime, Clock::Precise] {
        assert_eq!(
            refused(&deep, clock),
            "s.toml:15:1: grains \"other\": grain 2 starts 2.400e-3 m deep in grain 0 of \"ball\", 2.40 of the smaller radius \
             1.000e-3 m; at most 0.5 is possible. help: place them farther apart, or make them smaller"
        );
    }
    let floor = "[[body]]\nname = \"floor\"\nfixed = true\nmaterial = \"soft\"\nposition = [0, 0, 1]\n\
                 shape = { kind = \"half_space\" }\n";
    assert_eq!(
        refused(&one_ball(floor), Clock::Granular),
        "s.toml:8:1: grains \"ball\": grain 0 starts 1.000e-3 m deep in body \"floor\", 1.00 of its radius; at most 0.5 is possible. \
         help: start the grains outside of the walls"
    );
}

/// A pull is refused where it presses grains into each other by more than a tenth of their reduced radius, to the digit.
#[test]
fn cohesion_that_elasticity_cannot_balance_is_refused() {
    // E* of two equal materials; (3 pi p/(4 E*))^2 = 0.1
    let modulus = 1e6 / (2.0 * (1.0 - 0.09));
    let limit = 0.1f64.sqrt() * 4.0 * modulus / (3.0 * std::f64::consts::PI);
    let text = |p: f64| one_ball(&format!("cohesion = {p}\n"));
    assert!(Model::compile_for(&scene_of(&text(0.999 * limit)), Clock::Granular).is_ok());
    for pressure in [1.001 * limit, 3e6, 1e12] {
        let said = refused(&text(pressure), Clock::Granular);
        assert!(said.starts_with("s.toml:15:12: grains \"ball\": cohesion of"), "{said}");
        assert!(said.contains("deep into each other, where the law of contact holds to 0.1"), "{said}");
    }
    // pictures know a pull only
    let position = format!("{}[granular]\nmethod = \"position\"\n", text(3e6));
    assert!(Model::compile_for(&scene_of(&position), Clock::Granular).is_ok());
}

/// A body that moves by more than a radius in a step is told once with its name, in all clocks; a slow one, and a plane that slides
/// along itself, are not.
#[test]
fn a_wall_that_is_too_fast_is_told() {
    let body = |shape: &str, velocity: &str| {
        one_ball(&format!(
            "[[body]]\nname = \"ram\"\nmaterial = \"soft\"\nposition = [-9, 0, 0]\nmotion = {{ velocity = {velocity} }}\nshape = {shape}\n"
        ))
    };
    let ram = "{ kind = \"box\", size = [0.001, 1, 1] }";
    let told = |text: &str, clock: Clock| {
        let warnings = ran(text, clock, 1e-3).1.warnings;
        warnings.into_iter().filter(|warning| warning.starts_with("body \"ram\" moves at")).collect::<Vec<_>>()
    };
    for clock in [Clock::Granular, Clock::Realtime, Clock::Precise] {
        let said = told(&body(ram, "[100, 0, 0]"), clock);
        assert_eq!(said.len(), 1, "{clock:?}");
        assert!(said[0].contains("1.000e2 m/s from t = 0.000000e0 s on"), "{}", said[0]);
        assert!(said[0].contains("more than the smallest radius 1.000e-3 m"), "{}", said[0]);
        assert!(told(&body(ram, "[1, 0, 0]"), clock).is_empty(), "{clock:?}");
        assert!(told(&body("{ kind = \"half_space\" }", "[100, 0, 0]"), clock).is_empty(), "{clock:?}");
    }
    let position = body(ram, "[1, 0, 0]") + "[granular]\nmethod = \"position\"\n";
    assert_eq!(told(&position, Clock::Granular).len(), 1);
}

/// An emitter whose box is full tells at the end how much of its rate it kept, in all clocks.
#[test]
fn an_emitter_without_room_is_told() {
    let text = |rate: f64| {
        one_ball(&format!(
            "[[grains]]\nname = \"poured\"\nmaterial = \"soft\"\npacking = \"emitter\"\nlow = [0, 0, 0]\nhigh = [0.01, 0.01, 0.01]\n\
             radius = 0.002\nrate = {rate}\nfriction = 0.5\nrestitution = 0.5\n[run]\noutput_interval = 0.005\n"
        ))
    };
    for clock in [Clock::Granular, Clock::Realtime, Clock::Precise] {
        let said = |rate: f64| ran(&text(rate), clock, 0.02).1.warnings.join("\n");
        let full = said(1.0);
        assert!(full.contains("grains \"poured\": the emitter gave ") && full.contains(" % of its rate"), "{full}");
        assert!(!said(1e-3).contains("emitter"), "{clock:?}");
    }
}

/// The step of the grains that is told before a run is the one it takes.
#[test]
fn the_step_of_grains_is_that_of_the_run() {
    let scene = scene_of(&one_ball("[run]\nuntil = 0.01\n"));
    for clock in [Clock::Granular, Clock::Realtime, Clock::Precise] {
        let model = Model::compile_for(&scene, clock).unwrap_or_else(|errors| panic!("{errors}"));
        let settings = clock::Settings::from_scene(&scene, clock);
        let end = clock::simulate(&model, &mut settings.start(&model), 0.01, &settings, &mut ());
        let step = end.unwrap_or_else(|f| panic!("{f}")).grains.expect("has grains").step;
        assert_eq!(settings.grain_step(&model), Some(step), "{clock:?}");
        assert!(!model.warnings.iter().any(|warning| warning.contains("Rayleigh")), "{:?}", model.warnings);
    }
}

/// A step that is too long for the grains, or so short that nobody would see the end, is an error before the run, wherever it was given.
#[test]
fn steps_that_make_no_run_are_refused() {
    let said = |more: &str, clock: Clock, step: Option<f64>| {
        let scene = scene_of(&one_ball(more));
        let model = Model::compile_for(&scene, clock).unwrap_or_else(|errors| panic!("{errors}"));
        let mut settings = clock::Settings::from_scene(&scene, clock);
        match &mut settings {
            clock::Settings::Granular(settings) => settings.step = step.or(settings.step),
            clock::Settings::Realtime(settings) => settings.step = step.unwrap_or(settings.step),
            clock::Settings::Precise(_) => {}
        }
        settings.check_steps(&scene, &model, 1.0).map_err(|error| error.to_string()).err().unwrap_or_default()
    };
    assert_eq!(
        said("[granular]\nstep = 1e-30\n", Clock::Granular, None),
        "s.toml:16:8: grains: a step of 1.000e-30 s until 1 s makes 1.0e30 steps; a run has at most 1e12. help: a longer step, with larger \
         or softer (`young`) grains, or a nearer end (--until)"
    );
    for clock in [Clock::Granular, Clock::Realtime, Clock::Precise] {
        assert_eq!(said("", clock, None), "");
        assert!(said("[granular]\nstep = 1e-30\n", clock, None).contains("steps; a run has at most"), "{clock:?}");
    }
    assert!(said("", Clock::Realtime, Some(1e-30)).contains("a run has at most"));
    let long = said("", Clock::Granular, Some(0.1));
    assert!(long.starts_with("s.toml: grains: step 0.1 s is") && long.contains("at most 0.4 is stable"), "{long}");
}

/// Where positions are corrected a grain falls by no more than its radius in a step; fine grains have a shorter step of themselves.
#[test]
fn a_step_of_corrected_positions_has_an_end() {
    let text = |more: &str| one_ball(&format!("[granular]\nmethod = \"position\"\n{more}"));
    let said = refused(&text("step = 0.5\n"), Clock::Granular);
    assert!(said.starts_with("s.toml:17:8: grains: step 0.5 s lets a grain fall by 2.453e0 m in a step"), "{said}");
    let step = |text: &str| {
        let model = Model::compile_for(&scene_of(text), Clock::Granular).unwrap_or_else(|errors| panic!("{errors}"));
        model.grains.expect("has grains").settings.step
    };
    assert_eq!(step(&text("")), 1.0 / 240.0);
    let fine = step(&text("").replace("0.001]", "1e-6]"));
    assert!(9.81 * fine * fine < 1e-6 && 9.81 * fine * fine > 1e-7, "{fine}");
}

/// Bodies that are kept apart need no data of their contact; those that are not are told how.
#[test]
fn ignored_bodies_need_no_contact_data() {
    let bodies = "[materials.odd]\ndensity = 1000\nyoung = 1e9\npoisson = 0.3\n[[body]]\nname = \"floor\"\nfixed = true\n\
                  material = \"soft\"\nshape = { kind = \"half_space\" }\n[[body]]\nname = \"plate\"\nmaterial = \"odd\"\n\
                  position = [0, 0, 3]\nshape = { kind = \"box\", size = [1, 1, 0.1] }\n";
    let apart = format!("{bodies}[[ignore]]\nbodies = [\"plate\", \"floor\"]\n");
    for clock in [Clock::Granular, Clock::Realtime, Clock::Precise] {
        assert!(Model::compile_for(&scene_of(&one_ball(&apart)), clock).is_ok(), "{clock:?}");
    }
    let said = refused(&one_ball(bodies), Clock::Granular);
    assert!(said.contains("keep them apart with [[ignore]]"), "{said}");
    // a third body that may touch the plate needs them still
    let third = format!(
        "{apart}[[body]]\nname = \"table\"\nfixed = true\nmaterial = \"soft\"\nshape = {{ kind = \"half_space\" }}\n"
    );
    assert!(refused(&one_ball(&third), Clock::Realtime).contains("needed by bodies"));
}

/// The granular clock ends with the first step that reaches the end.
#[test]
fn a_run_ends_with_the_step_that_reaches_its_end() {
    let scene = scene_of(&one_ball("[granular]\nstep = 1e-5\n"));
    let model = Model::compile_for(&scene, Clock::Granular).unwrap_or_else(|errors| panic!("{errors}"));
    let settings = clock::Settings::from_scene(&scene, Clock::Granular);
    for (until, end) in [(1e-3, 1e-3), (1.003e-3, 1.01e-3)] {
        let mut state = settings.start(&model);
        clock::simulate(&model, &mut state, until, &settings, &mut ()).unwrap_or_else(|f| panic!("{f}"));
        assert!((state.time() - end).abs() < 1e-12, "{} instead of {end}", state.time());
    }
}

/// Grains pressed too deep into each other on the way are told with the time, and with step and stiffness as what to try.
#[test]
fn an_overlap_on_the_way_speaks_of_the_step() {
    let text = one_ball("").replace(
        "[[0, 0, 1, 0.001]]",
        "[[0, 0, 1, 0.001], [0, 0, 1.02, 0.001]]\nvelocities = [[0, 0, 20], [0, 0, -20]]",
    );
    let scene = scene_of(&text);
    let model = Model::compile_for(&scene, Clock::Granular).unwrap_or_else(|errors| panic!("{errors}"));
    let settings = clock::Settings::from_scene(&scene, Clock::Granular);
    let failure = clock::simulate(&model, &mut settings.start(&model), 0.01, &settings, &mut ());
    let said = failure.expect_err("cannot go on").to_string();
    assert!(
        said.contains("grains 0 and 1 overlap by") && said.contains("try a smaller step, stiffer grains"),
        "{said}"
    );
    assert!(!said.contains("at t = 0 s"), "{said}");
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

/// An emitter in a wall gives nothing, one beyond the memory ends the run, and a wall over one side of a periodic world is warned of.
#[test]
fn emitters_and_walls_where_they_cannot_be() {
    let emitter = "[[grains]]\nname = \"rain\"\nmaterial = \"soft\"\npacking = \"emitter\"\nlow = [0, 0, 0]\nhigh = [0.1, 0.1, 0.1]\n\
         radius = 0.002\nrate = 0.05\nfriction = 0.5\nrestitution = 0.5\n";
    let block = "[[body]]\nname = \"block\"\nfixed = true\nmaterial = \"soft\"\nposition = [0.05, 0.05, 0.05]\n\
         shape = { kind = \"box\", size = [0.2, 0.2, 0.2] }\n";
    for clock in [Clock::Granular, Clock::Realtime] {
        let (model, end) = ran(&one_ball(&format!("{emitter}{block}")), clock, 0.05);
        let count = model.signals.iter().position(|s| s.name == "rain.count").expect("is there");
        assert_eq!(end.signals[count], 0.0, "{clock:?}");
    }
    let text = one_ball(&format!("{emitter}[granular]\nmemory = 10000\n"));
    let model = Model::compile_for(&scene_of(&text), Clock::Granular).unwrap_or_else(|errors| panic!("{errors}"));
    let settings = clock::Settings::from_scene(&scene_of(&text), Clock::Granular);
    let error = clock::simulate(&model, &mut settings.start(&model), 0.1, &settings, &mut ()).expect_err("too many");
    assert!(error.to_string().contains("6 grains need about 12000 bytes, more than the 10000 there are"), "{error}");
    let world = "[granular]\nlow = [-0.1, -1, -1]\nhigh = [0.1, 1, 2]\nperiodic = [\"x\"]\n";
    let (model, _) = ran(&one_ball(&format!("{block}{world}")), Clock::Granular, 0.001);
    assert!(
        model.warnings.iter().any(|w| w.contains("\"block\" reaches over the side x = 0.1 m")),
        "{:?}",
        model.warnings
    );
}

/// Positions that are corrected have no forces: the stress is not a number, everything else is there. A grain far away costs nothing.
#[test]
fn probes_of_positions_and_grains_far_away() {
    let text = |more: &str| {
        one_ball(&format!(
            "[[grains]]\nname = \"bed\"\nmaterial = \"soft\"\npacking = \"lattice\"\nlow = [0, 0, 0]\nhigh = [0.02, 0.02, 0.02]\n\
             radius = 0.002\nfriction = 0.5\nrestitution = 0.5\n[[body]]\nname = \"floor\"\nfixed = true\nmaterial = \"soft\"\n\
             shape = {{ kind = \"half_space\" }}\n[[probe]]\nname = \"all\"\nlow = [-1, -1, -1]\nhigh = [1, 1, 2]\n{more}"
        ))
    };
    let (model, end) = ran(&text("[granular]\nmethod = \"position\"\nstep = 1e-3\n"), Clock::Granular, 0.1);
    let value = |name: &str| end.signals[model.signals.iter().position(|s| s.name == name).expect("is there")];
    assert!(value("all.stress.zz").is_nan() && value("all.packing") > 0.0);
    assert!(model.warnings.iter().any(|w| w.contains("its stress is not a number")), "{:?}", model.warnings);
    let far = text("").replace("[[0, 0, 1, 0.001]]", "[[1e8, 0, 1, 0.001], [-1e8, 1e8, 1, 0.001]]");
    let (_, end) = ran(&far, Clock::Granular, 0.01);
    assert!(end.grains.is_some_and(|grains| grains.bytes < 10_000_000));
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
    let settings = tippe::clock::Settings::from_scene(&scene, Clock::Precise);
    let hash = |ends: &[f64]| {
        let mut state = settings.start(&model);
        let went =
            |end: &f64| tippe::clock::simulate(&model, &mut state, *end, &settings, &mut ()).expect("it runs").hash;
        ends.iter().map(went).last()
    };
    let whole = hash(&[0.1]);
    // at hand-overs, beside them, and in the middle of one interval
    for ends in [&[0.02, 0.1][..], &[0.013, 0.026, 0.039, 0.1], &[0.07, 0.0701, 0.07013, 0.1], &[0.0599999, 0.1]] {
        assert_eq!(hash(ends), whole, "{ends:?}");
    }
}
