//! The run folder and its questions, on a ball that bounces by closed form.

use super::*;
use crate::cause::{Accounts, Cause};
use crate::event::{Episode, Event, EventContact, EventKind};
use crate::scene::{Clock, Scene};
use crate::{BodyState, ContactSample, Ledger, MechanismSummary, Model, Observe, Sample, Summary, clock};
use std::collections::BTreeSet;
use std::path::Path;
use tippe_geometry::{Quat, Vec3};

const G: f64 = 9.81;
const HEIGHT: f64 = 1.0;
const RESTITUTION: f64 = 0.7;
const MASS: f64 = 2.0;
/// The bounces pile up at a finite time; after this many the ball falls for ever.
const MAX_BOUNCES: i32 = 6;

/// Time of the k-th impact, k = 0, 1, ...: t0 (1 + 2 e + ... + 2 e^k) with t0 = sqrt(2 h/g).
fn impact(k: i32) -> f64 {
    (2.0 * HEIGHT / G).sqrt() * (1.0 + 2.0 * (1..=k).map(|j| libm::pow(RESTITUTION, f64::from(j))).sum::<f64>())
}

fn impact_speed(k: i32) -> f64 {
    (2.0 * G * HEIGHT).sqrt() * libm::pow(RESTITUTION, f64::from(k))
}

fn subjects() -> Subjects {
    let subject = |name: &str, mass| Subject { name: name.to_owned(), mass, centre_of_mass: Vec3::ZERO };
    let signal = |name: &str, unit: &str| SignalName { name: name.to_owned(), unit: unit.to_owned() };
    Subjects {
        bodies: vec![subject("floor", 0.0), subject("ball", MASS), subject("ball-2", 0.5)],
        signals: vec![signal("hinge.angle", "rad"), signal("arm-2.hinge.force.x", "N"), signal("supply", "V")],
        sources: ["hinge", "arm-2", "arm-2.hinge", "arm-2.hinge.friction"].map(str::to_owned).to_vec(),
        inputs: Vec::new(),
    }
}

fn still(position: Vec3) -> BodyState {
    BodyState { position, orientation: Quat::IDENTITY, velocity: Vec3::ZERO, angular_velocity: Vec3::ZERO }
}

fn joint_event(time: f64, kind: EventKind, source: &str) -> Event {
    Event { time, kind, source: Some(source.to_owned()), contact: None }
}

/// Shows a bouncing ball to `observe` until `until`, every `dt` seconds; a second ball flies along x at 3 m/s, a hinge turns
/// at 0.5 rad/s, and a motor of 8 W works against damping (2 W), joint friction (5 W) and fastening (1 W).
fn bounce(until: f64, dt: f64, observe: &mut dyn Observe) {
    let mut bounces = 0;
    let mut touching = Vec::new();
    let samples = (until / dt).round() as usize;
    for i in 0..=samples {
        let t = i as f64 * dt;
        while bounces < MAX_BOUNCES && impact(bounces) <= t {
            let v = impact_speed(bounces);
            let event = |kind, closing_speed, episode| Event {
                time: impact(bounces),
                kind,
                source: None,
                contact: Some(EventContact {
                    body1: 0,
                    body2: 1,
                    pair: (0, 1),
                    gap: 0.0,
                    closing_speed,
                    normal: Vec3::Z,
                    position: Vec3::ZERO,
                    episode,
                    regions: None,
                }),
            };
            let episode = Episode { start: impact(bounces), start_closing_speed: v, ..Episode::default() };
            observe.event(&event(EventKind::ContactStart, v, None));
            observe.event(&event(EventKind::ContactEnd, -RESTITUTION * v, Some(episode)));
            touching = vec![ContactSample {
                pair: (0, 1),
                body1: 0,
                body2: 1,
                position: Vec3::ZERO,
                normal: Vec3::Z,
                depth: 1e-3 * f64::from(bounces + 1),
                closing_speed: v,
                force: Vec3::new(3.0, 0.0, 4.0),
                torque: Vec3::ZERO,
                slipping: true,
            }];
            bounces += 1;
        }
        if i > 0 && i % 50 == 0 {
            observe.event(&joint_event(t, EventKind::JointStick, "hinge"));
            observe.event(&joint_event(t, EventKind::JointStick, "arm-2.hinge.friction"));
        }
        // Flight after the last impact: z = v t - g t^2/2, before the first: z = h - g t^2/2.
        let (z, v) = if bounces == 0 {
            (HEIGHT - 0.5 * G * t * t, -G * t)
        } else {
            let (s, v0) = (t - impact(bounces - 1), impact_speed(bounces));
            (v0 * s - 0.5 * G * s * s, v0 - G * s)
        };
        let ball = BodyState { velocity: Vec3::new(0.0, 0.0, v), ..still(Vec3::new(0.0, 0.0, z)) };
        let other = BodyState { velocity: Vec3::new(3.0, 0.0, 0.0), ..still(Vec3::new(3.0 * t, 0.0, 0.0)) };
        let initial = MASS * G * HEIGHT;
        let energy = Ledger {
            kinetic: 0.5 * MASS * v * v,
            potential: MASS * G * z,
            accounts: Accounts::of([
                (Cause::ContactDamping, initial * (1.0 - libm::pow(RESTITUTION, 2.0 * f64::from(bounces)))),
                (Cause::Damping, 2.0 * t),
                (Cause::JointFriction, 5.0 * t),
                (Cause::Fastening, t),
                (Cause::Work, 8.0 * t),
            ]),
            initial,
            ..Ledger::default()
        };
        let bodies = [still(Vec3::ZERO), ball, other];
        let signals = [0.5 * t, 3.0 - t, 12.0];
        let sample = Sample { time: t, bodies: &bodies, contacts: &touching, energy: &energy, signals: &signals };
        observe.sample(&sample);
        touching.clear();
    }
}

fn recording() -> Recording {
    let mut recording = Recording::new(subjects());
    bounce(1.6, 0.01, &mut recording);
    recording
}

fn ask(recording: &Recording, text: &str, at: Option<f64>) -> f64 {
    let question = Expression::parse(text, &recording.subjects).unwrap_or_else(|error| panic!("{text}: {error}"));
    question.value(recording, at).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn signals_at_times() {
    let r = recording();
    let near = |text: &str, at, expected: f64| {
        let value = ask(&r, text, at);
        assert!((value - expected).abs() < 1e-12, "{text} = {value}, not {expected}");
    };
    near("ball.position.z", Some(0.2), HEIGHT - 0.5 * G * 0.04);
    near("ball.velocity.z", Some(0.2), -G * 0.2);
    near("ball.speed", Some(0.2), G * 0.2);
    near("ball.orientation.w", None, 1.0);
    near("ball.axis_z.z", None, 1.0);
    near("ball-2.position.x - ball.position.x", Some(1.0), 3.0);
    near("hypot(ball-2.velocity.x, 4)", None, 5.0);
    near("momentum.x", None, 1.5);
    near("time", None, 1.6);
    near("energy.initial", None, MASS * G);
    near("energy.residual", Some(1.2), 0.0);
    near("energy.stored + energy.dissipated - energy.work - energy.initial", Some(1.2), 0.0);
    near("2 ^ 3 ^ 2 / -4 + sqrt(16)*1.5e1 - (2-3)", None, -128.0 + 60.0 + 1.0);
    near("sin(pi/6)", None, 0.5);
    near("-2^2", None, -4.0);
    near("max(ball.position.z)", None, 1.0);
    near("max(ball.position.z, 2, 1.5)", None, 2.0);
    near("min(1, 3) + min(ball-2.position.x)", None, 1.0);
    near("at(ball.position.z, 0.2)", None, HEIGHT - 0.5 * G * 0.04);
}

#[test]
fn events_and_contacts() {
    let r = recording();
    let bounces = ask(&r, "events.contact_start", None);
    assert_eq!(bounces, 3.0);
    assert_eq!(ask(&r, "events.contact_start(ball)", None), bounces);
    assert_eq!(ask(&r, "events.contact_end( floor , ball )", None), bounces);
    assert_eq!(ask(&r, "events.contact_start(ball, ball-2)", None), 0.0);
    assert_eq!(ask(&r, "events.slip_start", None), 0.0);
    assert_eq!(ask(&r, "event.contact_start(ball,floor)[2].time", None), impact(2));
    assert_eq!(ask(&r, "event.contact_start[-1].time", None), impact(2));
    assert_eq!(ask(&r, "event.contact_start.closing_speed", None), impact_speed(0));
    assert_eq!(ask(&r, "event.contact_end[1].episode.start_closing_speed", None), impact_speed(1));
    let e = ask(&r, "-event.contact_end[0].closing_speed / event.contact_end[0].episode.start_closing_speed", None);
    assert!((e - RESTITUTION).abs() < 1e-15);
    assert_eq!(ask(&r, "event.contact_start[0].normal.z", None), 1.0);
    // The sample after the first impact shows the contact; the force is that on the body named second.
    let at = Some((impact(0) * 100.0).ceil() / 100.0);
    assert_eq!(ask(&r, "contact(ball, floor).depth", at), 1e-3);
    assert_eq!(ask(&r, "contact(floor, ball).force", at), 5.0);
    assert_eq!(ask(&r, "contact(floor, ball).force.x", at), 3.0);
    assert_eq!(ask(&r, "contact(ball, floor).force.x", at), -3.0);
    assert_eq!(ask(&r, "contact(ball).force.x", at), 3.0);
    assert_eq!(ask(&r, "contact(ball, floor).normal_force", at), 4.0);
    assert_eq!(ask(&r, "contact(ball, floor).slipping", at), 1.0);
    assert_eq!(ask(&r, "contact(ball, floor).depth", Some(0.1)), 0.0);
    assert_eq!(ask(&r, "max(contact(ball, floor).depth)", None), 3e-3);
}

/// Events that belong to a joint are asked by its name; every kind has its name in files.
#[test]
fn events_of_joints() {
    let r = recording();
    assert_eq!(ask(&r, "events.joint_stick", None), 6.0);
    assert_eq!(ask(&r, "events.joint_stick( arm-2.hinge )", None), 3.0);
    assert_eq!(ask(&r, "events.joint_stick(arm-2.hinge.friction)", None), 3.0);
    assert_eq!(ask(&r, "events.joint_stick(arm-2)", None), 0.0);
    assert_eq!(ask(&r, "event.joint_stick(hinge)[0].time", None), 0.5);
    assert_eq!(ask(&r, "event.joint_stick(arm-2.hinge)[-1].time", None), 1.5);
    assert_eq!(ask(&r, "events.joint_slip(hinge) + events.crossing + events.change", None), 0.0);
    for kind in EventKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        assert!(Expression::parse(&format!("event.{}[0].time", kind.name()), &subjects()).is_ok());
    }
    let text = serde_json::to_string(&joint_event(0.5, EventKind::StopStart, "hinge")).unwrap();
    assert_eq!(text, r#"{"time":0.5,"kind":"stop_start","source":"hinge"}"#);
}

/// Signals of the model are asked by their whole name, whatever it holds; the longest name that fits is meant.
#[test]
fn signals_of_the_model() {
    let r = recording();
    assert_eq!(ask(&r, "hinge.angle", Some(0.5)), 0.25);
    assert_eq!(ask(&r, "2*hinge.angle-0.25", Some(0.5)), 0.25);
    assert_eq!(ask(&r, "arm-2.hinge.force.x^2", Some(1.0)), 4.0);
    assert_eq!(ask(&r, "min(arm-2.hinge.force.x)", None), 3.0 - 1.6);
    assert!((ask(&r, "crossing(arm-2.hinge.force.x, 2.25)", None) - 0.75).abs() < 1e-14);
    assert!((ask(&r, "at(hinge.angle, 0.123)", None) - 0.0615).abs() < 1e-15);
    assert_eq!(ask(&r, "supply*(1 + hinge.angle)", Some(1.0)), 18.0);
    assert_eq!(ask(&r, "energy.damping + 10*energy.joint_friction + 100*energy.fastening", Some(1.0)), 152.0);
    assert!(ask(&r, "max(abs(energy.residual))", None) < 1e-13);
    let mut more = subjects();
    let named = |name: &str| SignalName { name: name.to_owned(), unit: "-".to_owned() };
    more.signals.extend(["ball", "hinge.angle.x", "max"].map(named));
    let parse = |text: &str| Expression::parse(text, &more).unwrap();
    assert_eq!(parse("ball"), parse("(ball)"));
    assert_ne!(parse("ball-2.speed"), parse("ball - 2"));
    assert_eq!(parse("ball.speed").unit(&more), Some("m/s"));
    assert_eq!(parse("hinge.angle.x").unit(&more), Some("-"));
    assert_eq!(parse("max(ball)").unit(&more), None);
}

/// Crossings by a cubic through four points are exact for the parabola of a flight, and off by dt^2 next to an impact.
#[test]
fn crossings_are_located() {
    let r = recording();
    let down = (2.0 * 0.5 / G).sqrt();
    assert!((ask(&r, "crossing(ball.position.z, 0.5)", None) - down).abs() < 1e-14);
    let apex = impact(0) + impact_speed(1) / G;
    assert!((ask(&r, "crossing(ball.velocity.z, 0)[1]", None) - apex).abs() < 1e-14);
    // The velocity jumps at the impact: a line through the two points around it.
    assert!((ask(&r, "crossing(ball.velocity.z, 0)[0]", None) - impact(0)).abs() < 0.01);
    assert!((ask(&r, "at(ball.position.z, 0.1234)", None) - (HEIGHT - 0.5 * G * 0.1234 * 0.1234)).abs() < 1e-14);
}

#[test]
fn questions_without_an_answer() {
    let r = recording();
    let refuse = |text: &str, at, part: &str| {
        let error = Expression::parse(text, &r.subjects).unwrap().value(&r, at).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    };
    refuse("ball.position.z", Some(0.123), "nearest time is 0.12 s");
    refuse("event.contact_start[7].time", None, "no event contact_start[7]: there are 3");
    refuse("event.contact_start[-4].time", None, "there are 3");
    refuse("crossing(ball.position.z, 2)", None, "there are 0");
    refuse("at(ball.position.z, 1.7)", None, "outside the recording");
    let empty = Recording::new(subjects());
    let question = Expression::parse("max(ball.position.z)", &empty.subjects).unwrap();
    assert_eq!(question.value(&empty, None), Err(NoAnswer::Empty));
    let wanted = Wanted { bodies: vec![true, false, true], signals: vec![false, true, true], contacts: true };
    let part = Recording::only(subjects(), wanted);
    assert_eq!(question.value(&part, None), Err(NoAnswer::NotRecorded("ball".to_owned())));
    let question = Expression::parse("hinge.angle", &empty.subjects).unwrap();
    assert_eq!(question.value(&part, None), Err(NoAnswer::SignalNotRecorded("hinge.angle".to_owned())));
}

#[test]
fn mistakes_are_named() {
    let refuse = |text: &str, message: &str| {
        let error = Expression::parse(text, &subjects()).unwrap_err().to_string();
        assert_eq!(error, message, "{text}");
    };
    refuse("bal.position.z", "column 1: there is no body, signal or function `bal`. help: did you mean `ball`?");
    refuse(
        "1 + ball.positoin.z",
        "column 10: there is no quantity of a body `positoin.z`. help: did you mean `position.z`?",
    );
    refuse(
        "ball",
        "column 1: body \"ball\" has more than one number. help: ask for ball.position.z or another quantity of it",
    );
    let kinds: Vec<&str> = EventKind::ALL.iter().map(|kind| kind.name()).collect();
    refuse(
        "event.touchdown[0].time",
        &format!("column 7: there is no kind of event `touchdown`. help: possible: {}", kinds.join(", ")),
    );
    refuse("events.joint_stick(hing)", "column 20: there is no joint \"hing\". help: did you mean `hinge`?");
    refuse("event.change(hinge)[0].gap", "column 27: change has no field but time");
    refuse(
        "event.contact_start(hinge)[0].gap",
        "column 21: there is no body \"hinge\". help: possible: floor, ball, ball-2",
    );
    refuse(
        "event.contact_start(ball,flor)[0].time",
        "column 26: there is no body \"flor\". help: did you mean `floor`?",
    );
    refuse(
        "event.contact_start[0].episode.impulse",
        "column 39: only contact_end has an episode. help: ask event.contact_end[...].episode",
    );
    refuse(
        "event.contact_end[0].regions.after",
        "column 35: only regions_merge and regions_split have regions. help: ask event.regions_merge[...].regions.after",
    );
    refuse("sqrt(1, 2)", "column 11: sqrt does not take 2 arguments");
    refuse("sqroot(1)", "column 1: there is no body, signal or function `sqroot`. help: did you mean `sqrt`?");
    refuse("(1 + 2", "column 7: `)` is expected here");
    refuse("1 2", "column 3: an operator or the end is expected here");
    refuse("", "column 1: a number, a signal or a function is expected here");
    refuse("1e999", "column 1: `1e999` is not a finite number");
    refuse("energy.kinetics", "column 8: there is no energy `kinetics`. help: did you mean `kinetic`?");
    refuse("hinge.angel-1", "column 1: there is no signal `hinge.angel`. help: did you mean `hinge.angle`?");
    refuse("2*hing.angle", "column 3: there is no signal `hing.angle`. help: did you mean `hinge.angle`?");
    refuse("hinge.position.x", "column 1: there is no signal `hinge.position.x`. help: possible: hinge.angle");
    refuse("hinge.angle.x", "column 1: there is no signal `hinge.angle.x`. help: did you mean `hinge.angle`?");
    refuse("arm-2.hinge", "column 1: \"arm-2.hinge\" has more than one number. help: possible: arm-2.hinge.force.x");
    refuse("suply", "column 1: there is no body, signal or function `suply`. help: did you mean `supply`?");
    refuse("at(time, time)", "column 15: the time in at(signal, time) must not be a signal");
    assert!(Expression::parse(&"(".repeat(1500), &subjects()).is_err());
    assert!(Expression::parse(&"-".repeat(1500), &subjects()).is_err());
    assert!(Expression::parse(&"1+".repeat(1500), &subjects()).is_err());
}

#[test]
fn what_a_question_needs() {
    let question = Expression::parse("at(ball.position.z, 0.25) - max(ball-2.speed)", &subjects()).unwrap();
    let mut wanted = Wanted::none(&subjects());
    question.mark(&mut wanted);
    assert_eq!(wanted, Wanted { bodies: vec![false, true, true], ..Wanted::none(&subjects()) });
    assert_eq!(question.times(), [0.25]);
    assert!(question.is_constant());
    let unit = |text: &str| Expression::parse(text, &subjects()).unwrap().unit(&subjects()).map(str::to_owned);
    assert_eq!(unit("ball.speed").as_deref(), Some("m/s"));
    assert_eq!(unit("arm-2.hinge.force.x").as_deref(), Some("N"));
    assert_eq!(unit("supply").as_deref(), Some("V"));
    assert_eq!(unit("2*supply"), None);
    let mut wanted = Wanted::none(&subjects());
    Expression::parse("max(hinge.angle) + supply", &subjects()).unwrap().mark(&mut wanted);
    assert_eq!(wanted, Wanted { signals: vec![true, false, true], ..Wanted::none(&subjects()) });
}

const WEIGHTLESS: &str =
    "format = 1\n[world]\ngravity = [0, 0, 0]\n[[body]]\nname = \"b\"\nmass = 1\ninertia = [1, 1, 1]\n";

fn weightless() -> Scene {
    Scene::parse("s.toml", WEIGHTLESS, &[]).unwrap()
}

fn manifest() -> Manifest {
    Manifest {
        format: 1,
        tippe: env!("CARGO_PKG_VERSION").to_owned(),
        status: Status::Running,
        failure: None,
        command: vec!["tippe".to_owned(), "run".to_owned(), "bouncing".to_owned()],
        scene: SceneCopy::new("bouncing", "format = 1\n"),
        sets: vec![("height".to_owned(), "1".to_owned())],
        clock: "precise".to_owned(),
        start: 0.0,
        until: 1.5,
        restart: None,
        settings: clock::Settings::Precise(crate::Settings { max_step: 0.1, ..crate::Settings::default() }),
        warnings: vec![],
        subjects: subjects(),
        hash: None,
    }
}

fn report() -> Report {
    let bodies: Vec<BodyState> = (0..3).map(|k| still(Vec3::splat(f64::from(k)))).collect();
    let mechanism = MechanismSummary {
        bodies: vec!["ball".to_owned(), "ball-2".to_owned()],
        coordinates: 3,
        rows: 3,
        redundant: 1,
        freedom: 1,
        drift: 1e-12,
    };
    let signals = vec![0.75, 1.5, f64::NAN];
    let summary = Summary { bodies, signals, mechanisms: vec![mechanism], hash: 42, ..Summary::default() };
    Report::new("bouncing", Clock::Precise, 1.5, 0.1, &summary, &subjects())
}

/// A ball half a second after it was thrown.
fn thrown(clock: Clock) -> clock::State {
    let text = "format = 1\n[world]\ngravity = [0, 0, -9.81]\n[realtime]\nstep = 0.05\n[[body]]\nname = \"ball\"\n\
                mass = 1\ninertia = [1e-3, 2e-3, 2.5e-3]\nvelocity = [0.1, 0, 3]\nangular_velocity = [1, 2, 3]\n";
    let scene = Scene::parse("thrown.toml", text, &[]).unwrap();
    let model = Model::compile(&scene).unwrap();
    let settings = clock::Settings::from_scene(&scene, clock);
    let mut state = settings.start(&model);
    clock::simulate(&model, &mut state, 0.5, &settings, &mut ()).unwrap();
    state
}

/// A checkpoint reads back bit by bit in its own clock, and in no other.
#[test]
fn checkpoints_of_both_clocks() {
    let dir = tempfile::tempdir().unwrap();
    for (own, other) in [(Clock::Precise, Clock::Realtime), (Clock::Realtime, Clock::Precise)] {
        let state = thrown(own);
        let mut writer =
            RunWriter::create(Claim::take(&dir.path().join(own.name()), false).unwrap(), manifest(), false).unwrap();
        let path = writer.checkpoint(&weightless(), 0.5, &state).unwrap();
        assert!(path.ends_with("checkpoint-0.500000000.json"), "{}", path.display());
        let scene = weightless();
        assert_eq!(Run::checkpoint(&path, &scene, own).unwrap(), state);
        let error = Run::checkpoint(&path, &scene, other).unwrap_err().to_string();
        let words = format!("it is a state of the {} clock, the run is {}", own.name(), other.name());
        assert!(error.contains(&words), "{error}");
        // a state handed to the other clock is refused as well
        let model = Model::compile(&scene).unwrap();
        let settings = clock::Settings::from_scene(&scene, other);
        let failure = clock::simulate(&model, &mut state.clone(), 1.0, &settings, &mut ()).unwrap_err();
        assert_eq!(failure, clock::Failure::Mixed { state: own, settings: other });
    }
}

/// Balls and clumps of grains a few hundredths of a second after they were let go, and where the clock can a ball that lies on the floor.
fn with_grains(clock: Clock) -> clock::State {
    let text = r#"
format = 1
[world]
gravity = [0, 0, -9.81]
[run]
output_interval = 0.01
[granular]
step = 1e-4
[contact]
restitution = 0.5
friction = 0.5
[materials.soft]
density = 1000
young = "1 MPa"
poisson = 0.3
[[body]]
name = "floor"
fixed = true
material = "soft"
shapes = [{ kind = "half_space" }]
[[grains]]
name = "balls"
material = "soft"
packing = "lattice"
low = [0, 0, 0]
high = [0.1, 0.1, 0.1]
count = 30
radius = "1 cm"
[[grains]]
name = "pairs"
material = "soft"
packing = "lattice"
low = [0.2, 0, 0]
high = [0.4, 0.1, 0.1]
count = 2
clump = [[0, 0, 0, "1 cm"], ["1 cm", 0, 0, "1 cm"]]
"#;
    let ball = "[[body]]\nname = \"ball\"\nmaterial = \"soft\"\nposition = [1, 0, \"49 mm\"]\n\
                shapes = [{ kind = \"sphere\", radius = \"5 cm\" }]\n";
    // bodies do not touch each other in the granular clock
    let text = if clock == Clock::Granular { text.to_owned() } else { format!("{text}{ball}") };
    let scene = Scene::parse("grains.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let model = Model::compile_for(&scene, clock).unwrap_or_else(|errors| panic!("{errors}"));
    let settings = clock::Settings::from_scene(&scene, clock);
    let mut state = settings.start(&model);
    clock::simulate(&model, &mut state, 0.035, &settings, &mut ()).unwrap_or_else(|failure| panic!("{failure}"));
    state
}

/// A checkpoint of another version is refused by name in every clock, and so is one whose grains do not hold together.
#[test]
fn checkpoints_of_other_versions() {
    let dir = tempfile::tempdir().unwrap();
    let scene = weightless();
    for clock in [Clock::Precise, Clock::Realtime, Clock::Granular] {
        let state = with_grains(clock);
        let mut writer =
            RunWriter::create(Claim::take(&dir.path().join(clock.name()), false).unwrap(), manifest(), false).unwrap();
        let path = writer.checkpoint(&weightless(), 0.02, &state).unwrap();
        assert_eq!(Run::checkpoint(&path, &scene, clock).unwrap(), state);
        let whole: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let read = |change: &dyn Fn(&mut serde_json::Value)| {
            let mut other = whole.clone();
            change(&mut other);
            std::fs::write(&path, other.to_string()).unwrap();
            Run::checkpoint(&path, &scene, clock).unwrap_err()
        };
        // before layouts had numbers, and a later one
        let unnumbered = read(&|file| drop(file.as_object_mut().unwrap().remove("format")));
        assert!(matches!(unnumbered, RunError::Layout { layout: OtherLayout { found: 0 }, .. }), "{unnumbered}");
        let later = read(&|file| file["format"] = (CHECKPOINT_FORMAT + 1).into());
        let words = format!("layout {}, those of this version layout {CHECKPOINT_FORMAT}", CHECKPOINT_FORMAT + 1);
        assert!(later.to_string().contains(&words), "{later}");
        // the right number over something else
        let grains = match clock {
            Clock::Precise => "/state/grains/records/list/0/grains/grains",
            Clock::Realtime => "/state/grains/list/0/grains/grains",
            Clock::Granular => "/state/grains",
        };
        let cut = |place: &str, to: serde_json::Value| {
            let error = read(&|file| *file.pointer_mut(&format!("{grains}{place}")).unwrap() = to.clone());
            assert!(error.to_string().contains("does not hold together"), "{place}: {error}");
        };
        cut("/class", vec![0; 3].into());
        cut("/next_id", 1.into());
        cut("/chunks/0/pairs/0/0", 1000.into());
        cut("/chunks/0/memory", serde_json::json!([]));
        cut("/chunks/0/len", 7.into());
        cut("/chunks/0/walls/0/grain", 1000.into());
        cut("/clumps/0/ids/0", 1000.into());
    }
}

/// What states consist of belongs to the number of their layout: a change of the one is a change of the other.
#[test]
fn layout_of_checkpoints() {
    fn collect(value: &serde_json::Value, place: &str, all: &mut BTreeSet<String>) {
        all.insert(place.to_owned());
        match value {
            serde_json::Value::Array(items) => items.iter().for_each(|v| collect(v, &format!("{place}[]"), all)),
            serde_json::Value::Object(keys) => keys.iter().for_each(|(k, v)| collect(v, &format!("{place}.{k}"), all)),
            _ => (),
        }
    }
    let mut all = BTreeSet::new();
    for clock in [Clock::Precise, Clock::Realtime, Clock::Granular] {
        let state = match with_grains(clock) {
            clock::State::Precise(state) => serde_json::to_value(state),
            clock::State::Realtime(state) => serde_json::to_value(state),
            clock::State::Granular(state) => serde_json::to_value(state),
        };
        collect(&state.unwrap(), clock.name(), &mut all);
    }
    let text = all.into_iter().collect::<Vec<String>>().join("\n");
    let layout = (CHECKPOINT_FORMAT, fingerprint(text.as_bytes()));
    assert_eq!(
        layout,
        (10, "4f14710a63cd297a".to_owned()),
        "states are laid out anew: count CHECKPOINT_FORMAT up\n{text}"
    );
}

/// Settings of both clocks come back from a manifest.
#[test]
fn settings_survive_the_manifest() {
    let text = "format = 1\n[world]\ngravity = [0, 0, 0]\n[realtime]\nstep = \"1/240\"\nfriction = \"box\"\npasses = 3\npoints = 8\n\
                solver = \"sweeps\"\nsweeps = 99\n[[body]]\nname = \"b\"\nmass = 1\ninertia = [1, 1, 1]\n";
    // a scene that says nothing has the clocks' own defaults
    let none = crate::realtime::Settings::from_scene(&Scene::default());
    let own = crate::realtime::Settings { output_interval: none.output_interval, ..Default::default() };
    assert_eq!(none, own);
    let scene = Scene::parse("s.toml", text, &[]).unwrap();
    for clock in [Clock::Precise, Clock::Realtime] {
        let settings = clock::Settings::from_scene(&scene, clock);
        let json = serde_json::to_string(&settings).unwrap();
        let copy: clock::Settings = serde_json::from_str(&json).unwrap();
        assert_eq!(copy, settings, "{json}");
    }
}

/// What is read back from a folder is, bit by bit, what was recorded in memory.
#[test]
fn folder_round_trip() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("run");
    let mut writer = RunWriter::create(Claim::take(&folder, false).unwrap(), manifest(), true).unwrap();
    bounce(1.6, 0.01, &mut writer);
    writer.checkpoint(&weightless(), 0.5, &thrown(Clock::Precise)).unwrap();
    let written = writer.finish(Status::Complete, None, Some(&report())).unwrap();

    let run = Run::open(&folder).unwrap();
    assert_eq!(run.manifest, written);
    assert_eq!(run.manifest.status, Status::Complete);
    let clock::Settings::Precise(settings) = &run.manifest.settings else { panic!("another clock") };
    assert_eq!(settings.max_step, 0.1);
    assert_eq!(run.manifest.hash.as_deref(), Some("000000000000002a"));
    assert_eq!(run.report().unwrap(), report());
    assert_eq!(report().signals["hinge.angle"], Some(0.75));
    assert_eq!(report().signals["supply"], None);
    assert_eq!(report().energy.by_cause.len(), 20);
    assert_eq!(run.recording(Wanted::all(&subjects())).unwrap(), recording());
    let tables = RunTables::open(&run).unwrap();
    let all = recording();
    for rows in [0..1, 3..40, 45..46, 46..47, 44..49, 100..100_000] {
        let part = tables.recording(rows.clone(), Wanted::all(&subjects())).unwrap();
        let rows = rows.start..rows.end.min(tables.rows());
        assert_eq!(part.time, all.time[rows.clone()]);
        assert_eq!(part.motion[0], all.motion[0][rows.clone()]);
        assert_eq!(part.energy, all.energy[rows.clone()]);
        rows.clone().for_each(|i| assert_eq!(part.contacts_at(i - rows.start), all.contacts_at(i), "{i}"));
    }
    assert_eq!(tables.signal("energy.kinetic", 7..9).unwrap(), [7, 8].map(|i| all.energy[i].kinetic));
    assert_eq!(run.signal("ball.position.z").unwrap().len(), run.time().unwrap().len());
    assert!(run.signal("ball.position.q").is_err());
    assert_eq!(run.signal("hinge.angle").unwrap(), recording().signals[0]);
    let log = std::fs::read_to_string(folder.join("events.jsonl")).unwrap();
    assert!(log.lines().any(|line| line == r#"{"time":0.5,"kind":"joint_stick","source":"hinge"}"#), "{log}");
    let csv = std::fs::read_to_string(folder.join("events.csv")).unwrap();
    assert!(csv.contains("\n0.5,joint_stick,hinge,,,,,,,,,,,,\n"), "{csv}");
    assert!(csv.lines().all(|line| line.split(',').count() == 15));
    let broken = log.replacen("\"gap\"", "\"gab\"", 1);
    std::fs::write(folder.join("events.jsonl"), broken).unwrap();
    assert_eq!(
        run.events().unwrap_err().to_string(),
        format!("cannot read {}: line 1: the event contact_start is not whole", folder.join("events.jsonl").display())
    );
    std::fs::write(folder.join("events.jsonl"), log).unwrap();
    let csv = std::fs::read_to_string(folder.join("signals.csv")).unwrap();
    assert!(csv.lines().next().unwrap().ends_with(",ball-2.angular_velocity.z,hinge.angle,arm-2.hinge.force.x,supply"));
    let part = Wanted { signals: vec![false, true, false], ..Wanted::none(&subjects()) };
    let part = run.recording(part).unwrap();
    assert_eq!((part.signals[0].len(), part.signals[1].len()), (0, part.time.len()));

    let checkpoint = folder.join("checkpoint-0.500000000.json");
    let state = Run::checkpoint(&checkpoint, &weightless(), Clock::Precise).unwrap();
    assert_eq!(state, thrown(Clock::Precise));
    let heavier = Scene::parse("s.toml", &WEIGHTLESS.replace("mass = 1", "mass = 2"), &[]).unwrap();
    let error = Run::checkpoint(&checkpoint, &heavier, Clock::Precise).unwrap_err();
    assert!(error.to_string().contains("body \"b\".mass is 2, was 1"), "{error}");

    let mut names: Vec<String> =
        std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let csv = ["contacts.csv", "energy.csv", "events.csv", "signals.csv"];
    let others = [".lock", "checkpoint-0.500000000.json", "contacts.parquet", "energy.parquet", "events.jsonl"];
    let rest = ["manifest.json", "scene.json", "signals.parquet", "summary.json"];
    let mut expected: Vec<&str> = csv.iter().chain(&others).chain(&rest).copied().collect();
    expected.sort_unstable();
    assert_eq!(names, expected);
}

/// A folder of a version that knew neither signals of the model nor sources nor the newer losses is read.
#[test]
fn older_folders_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let bodies = Subjects { bodies: subjects().bodies, ..Subjects::default() };
    let mut writer = RunWriter::create(
        Claim::take(dir.path(), true).unwrap(),
        Manifest { subjects: bodies.clone(), ..manifest() },
        false,
    )
    .unwrap();
    bounce(0.5, 0.1, &mut Bodies(&mut writer));
    writer.finish(Status::Complete, None, None).unwrap();
    let text = std::fs::read_to_string(dir.path().join("manifest.json")).unwrap();
    assert!(!text.contains("\"signals\"") && !text.contains("\"sources\""));
    let energy = super::table::TableWriter::create(&dir.path().join("energy.parquet"), older_energy(), false);
    let mut energy = energy.unwrap();
    let columns = older_energy().len();
    for _ in 0..6 {
        energy.row((0..columns).map(|k| super::table::Cell::Real(k as f64))).unwrap();
    }
    energy.flush().unwrap();
    let run = Run::open(dir.path()).unwrap();
    assert_eq!(run.manifest.subjects, bodies);
    let recording = run.recording(Wanted::all(&bodies)).unwrap();
    assert_eq!(recording.time.len(), 6);
    assert_eq!(recording.energy[5][Cause::Rolling], 7.0);
    assert_eq!(recording.energy[5][Cause::JointFriction], 0.0);
}

/// Hands on all but the signals of the model.
struct Bodies<'a>(&'a mut RunWriter);

impl Observe for Bodies<'_> {
    fn sample(&mut self, sample: &Sample<'_>) {
        self.0.sample(&Sample { signals: &[], ..*sample });
    }
}

/// Columns of `energy.parquet` before there were joints.
fn older_energy() -> Vec<(String, super::table::Column)> {
    let names = ["time", "kinetic", "potential", "elastic", "contact_damping", "sliding", "spin", "rolling", "work"];
    let rest = ["initial", "residual", "momentum.x", "momentum.y", "momentum.z"];
    let column = |name: &&str| ((*name).to_owned(), super::table::Column::Real(Vec::new()));
    names.iter().chain(&rest).map(column).collect()
}

/// A run that is dropped without `finish` (a killed process) can be opened and says that it did not end.
#[test]
fn killed_run_is_readable() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = RunWriter::create(Claim::take(dir.path(), false).unwrap(), manifest(), false).unwrap();
    bounce(50.0, 0.001, &mut writer);
    assert_eq!(Run::open(dir.path()).unwrap().manifest.status, Status::Running);
    drop(writer);
    let run = Run::open(dir.path()).unwrap();
    assert_eq!(run.manifest.status, Status::Killed);
    let recording =
        run.recording(Wanted { bodies: vec![false, true, false], signals: vec![true; 3], contacts: true }).unwrap();
    assert!(recording.time.len() >= 3 * 16_384, "{}", recording.time.len());
    assert!(run.report().is_err());
}

/// What was made durable is read back bit by bit, from the journal too, whatever was on its way when the process was killed.
#[test]
fn rows_of_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    let all = Wanted::all(&subjects());
    for (until, dt) in [(0.1, 0.01), (1.6, 0.01), (20.0, 0.001)] {
        let mut writer = RunWriter::create(Claim::take(dir.path(), true).unwrap(), manifest(), false).unwrap();
        let mut whole = Recording::new(subjects());
        bounce(until, dt, &mut writer);
        bounce(until, dt, &mut whole);
        writer.sync().unwrap();
        let read = || Run::open(dir.path()).unwrap().recording(all.clone()).unwrap();
        let kept = read();
        assert_eq!(kept, whole);
        // half a record, half a row group, half a line
        let append = |name: &str, bytes: &[u8]| {
            let path = dir.path().join(name);
            let text = std::fs::read(&path).unwrap();
            std::fs::write(&path, [&text, bytes].concat()).unwrap();
        };
        append("rows.journal", &[9, 0, 0, 0, 0, 0, 0, 0, 1, 2]);
        append("signals.parquet", &[7; 100]);
        append("events.jsonl", b"{\"time\":");
        drop(writer);
        assert_eq!(read(), whole);
    }
}

/// A run that goes on in its folder from a checkpoint leaves what an unbroken one leaves.
#[test]
fn a_run_goes_on_in_its_folder() {
    struct Until<'a>(f64, f64, &'a mut RunWriter);
    impl Observe for Until<'_> {
        fn sample(&mut self, sample: &Sample<'_>) {
            if self.0 < sample.time && sample.time <= self.1 {
                self.2.sample(sample);
            }
        }
        fn event(&mut self, event: &Event) {
            if self.0 < event.time && event.time <= self.1 {
                self.2.event(event);
            }
        }
    }
    let scene = weightless();
    let model = Model::compile(&scene).unwrap();
    for (dt, at) in [(0.01, 0.905), (0.0001, 0.90501), (0.0001, 1.9)] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r");
        let mut writer = RunWriter::create(Claim::take(&path, false).unwrap(), manifest(), true).unwrap();
        bounce(2.0, dt, &mut Until(-1.0, at, &mut writer));
        let checkpoint = writer.checkpoint(&scene, 0.9, &thrown(Clock::Precise)).unwrap();
        bounce(2.0, dt, &mut Until(at, 1.95, &mut writer));
        drop(writer);
        let again = || Claim::again(&path).unwrap();
        let mut writer = RunWriter::resume(again(), &manifest(), &checkpoint, &model, true).unwrap();
        assert!(matches!(Claim::again(&path), Err(RunError::Held(_))));
        let checkpoint = writer.checkpoint(&scene, 0.9, &thrown(Clock::Precise)).unwrap();
        drop(writer);
        let mut writer = RunWriter::resume(again(), &manifest(), &checkpoint, &model, true).unwrap();
        bounce(2.0, dt, &mut Until(at, 9.0, &mut writer));
        writer.finish(Status::Complete, None, Some(&report())).unwrap();
        let mut whole = Recording::new(subjects());
        bounce(2.0, dt, &mut whole);
        let run = Run::open(&path).unwrap();
        assert_eq!(run.recording(Wanted::all(&subjects())).unwrap(), whole);
        let lines = |name: &str| std::fs::read_to_string(path.join(name)).unwrap().lines().count();
        assert_eq!(lines("signals.csv"), 1 + whole.time.len());
        assert_eq!(lines("events.csv"), 1 + whole.events.len());
        let other = clock::Settings::Precise(crate::Settings { max_step: 0.2, ..crate::Settings::default() });
        let error = RunWriter::resume(again(), &Manifest { settings: other, ..manifest() }, &checkpoint, &model, false);
        let error = error.err().unwrap().to_string();
        assert!(error.contains("max_step is 0.2, was 0.1"), "{error}");
    }
}

/// A run is replaced only where that is asked for; a folder with other things in it is left alone; one run writes at a time.
#[test]
fn folders_are_replaced_with_care() {
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().join("own");
    for _ in 0..2 {
        let mut writer = RunWriter::create(Claim::take(&own, true).unwrap(), manifest(), false).unwrap();
        bounce(0.1, 0.01, &mut writer);
        assert!(matches!(Claim::take(&own, true), Err(RunError::Held(_))));
        assert!(matches!(Claim::take(&own, false), Err(RunError::Held(_))));
        writer.finish(Status::Interrupted, None, Some(&report())).unwrap();
    }
    assert_eq!(Run::open(&own).unwrap().time().unwrap().len(), 11);
    assert_eq!(Claim::take(&own, false).unwrap().folder(), dir.path().join("own-2"));
    std::fs::write(own.join("notes.txt"), "mine").unwrap();
    drop(Claim::take(&own, true).unwrap());
    assert!(own.join("notes.txt").exists() && !own.join("signals.parquet").exists());
    for name in ["thesis.tex", "signals.csv", "summary.json", "manifest.json"] {
        let other = dir.path().join(format!("with-{name}"));
        std::fs::create_dir(&other).unwrap();
        std::fs::write(other.join(name), "{\"years\": \"of work\"}").unwrap();
        assert!(matches!(Claim::take(&other, true), Err(RunError::Occupied(_))));
        assert!(matches!(Claim::again(&other), Err(RunError::Occupied(_))));
        assert_eq!(Claim::take(&other, false).unwrap().folder(), dir.path().join(format!("with-{name}-2")));
        assert_eq!(std::fs::read_to_string(other.join(name)).unwrap(), "{\"years\": \"of work\"}");
        assert_eq!(std::fs::read_dir(&other).unwrap().count(), 1);
    }
    assert!(Run::open(Path::new("no-such-folder")).is_err());
}

#[test]
fn expectations_are_judged() {
    use crate::scene::{Equation, Expect, Scene};
    let expect =
        |text: &str| Expect { value: Equation { text: text.to_owned(), ..Equation::default() }, ..Expect::default() };
    let z = HEIGHT - 0.5 * G * 0.04;
    let scene = Scene {
        expects: vec![
            Expect { at: Some(0.2), is: Some(z), within: Some(1e-9), ..expect("ball.position.z") },
            Expect {
                at: Some(0.2),
                is: Some(1.01 * z),
                within: Some(0.02),
                relative: true,
                ..expect("ball.position.z")
            },
            Expect {
                at: Some(0.2),
                is: Some(1.1 * z),
                within: Some(0.02),
                relative: true,
                ..expect("ball.position.z")
            },
            Expect { below: Some(1e-9), ..expect("abs(energy.residual)") },
            Expect { above: Some(7.0), tolerance: Some(1e-9), ..expect("events.contact_start") },
            Expect { is: Some(0.0), ..expect("event.contact_start[99].time") },
            Expect { is: Some(0.0), ..expect("sqrt(0-1)") },
        ],
        ..Scene::default()
    };
    let cases = cases(&scene);
    assert_eq!(cases.len(), 2);
    assert_eq!((&cases[0].expects[..], &cases[1].expects[..]), (&[0, 1, 2, 3, 5, 6][..], &[4][..]));

    let all = Case { expects: (0..7).collect(), ..cases[0].clone() };
    let questions = Questions::read(&scene, &all, &subjects()).unwrap();
    assert_eq!(questions.times(), [0.2]);
    let mut recording = questions.recording();
    assert!(recording.has(1) && !recording.has(2));
    bounce(1.6, 0.01, &mut recording);
    let verdicts = questions.judge(&recording);
    assert_eq!(verdicts.iter().map(|v| v.pass).collect::<Vec<_>>(), [true, true, false, true, false, false, false]);
    assert_eq!(verdicts[4].difference, -4.0);
    assert_eq!(verdicts[4].expected, "above 7");
    assert!(verdicts[5].value.is_err() && verdicts[5].difference.is_nan());

    let bad = Scene { expects: vec![expect("bal.speed")], ..Scene::default() };
    let errors = Questions::read(&bad, &Case { expects: vec![0], ..cases[0].clone() }, &subjects()).unwrap_err();
    assert_eq!(
        errors[0].to_string(),
        "in `bal.speed`, column 1: there is no body, signal or function `bal`. help: did you mean `ball`?"
    );
}

/// An expectation is about the scene's own clock unless it names one; differences of clocks are a case of their own.
#[test]
fn expectations_by_clock() {
    use crate::scene::{Equation, Expect, ExpectClock};
    let expect = |text: &str, clock: Option<ExpectClock>| Expect {
        value: Equation { text: text.to_owned(), ..Equation::default() },
        clock,
        at: Some(0.205),
        below: Some(1.0),
        ..Expect::default()
    };
    let mut scene = Scene {
        expects: vec![
            expect("ball.position.z", None),
            expect("ball.position.z", Some(ExpectClock::Both)),
            expect("2*compare.position", None),
            expect("ball.position.z", Some(ExpectClock::Realtime)),
        ],
        ..Scene::default()
    };
    let shown = |scene: &Scene| cases(scene).into_iter().map(|case| (case.runs, case.expects)).collect::<Vec<_>>();
    let (precise, realtime) = (Runs::One(Clock::Precise), Runs::One(Clock::Realtime));
    assert_eq!(shown(&scene), [(precise, vec![0, 1]), (realtime, vec![1, 3]), (Runs::Compared, vec![2])]);
    scene.run.clock = Clock::Realtime;
    assert_eq!(shown(&scene), [(realtime, vec![0, 1, 3]), (precise, vec![1]), (Runs::Compared, vec![2])]);

    // Between the steps of the realtime clock values are interpolated; the precise clock must have recorded there.
    let cases = cases(&scene);
    let mut recording = Recording::new(subjects());
    bounce(0.4, 0.01, &mut recording);
    let verdicts = |case: &Case| Questions::read(&scene, case, &subjects()).unwrap().judge(&recording);
    let z = HEIGHT - 0.5 * G * 0.205 * 0.205;
    assert!((verdicts(&cases[0])[0].value.clone().unwrap() - z).abs() < 1e-12);
    assert!(verdicts(&cases[1])[0].value.clone().unwrap_err().contains("nothing was recorded at 0.205 s"));
    assert!(verdicts(&cases[2])[0].value.clone().unwrap_err().contains("not compared"));
    let mut gaps = Gaps::default();
    gaps.position.worst = 0.25;
    let mut compared = Recording::new(subjects());
    compared.gaps = Some(gaps);
    let questions = Questions::read(&scene, &cases[2], &subjects()).unwrap();
    let verdict = &questions.judge(&compared)[0];
    assert_eq!((verdict.value.clone(), verdict.pass), (Ok(0.5), true));
    let wrong = Expression::parse("compare.positon", &subjects()).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "column 9: there is no difference of clocks `positon`. help: did you mean `position`?"
    );
}

/// A step of gap = C step^p that meets a target is found and confirmed, whatever the order.
#[test]
fn the_step_for_a_target() {
    for p in [1.0, 2.0, 1.5] {
        let gap = |step: f64| 3.0 * libm::pow(step, p);
        let found = compare::step_for(1e-3, (0.1, gap(0.1)), |step| Ok::<f64, ()>(gap(step))).unwrap();
        let step = found.step.expect("a step is found");
        assert!(gap(step) <= 1e-3 && gap(2.0 * step) > 1e-3, "{found:?}");
        assert!((found.order.unwrap() - p).abs() < 1e-9 && (0.1 / step).fract() == 0.0, "{found:?}");
    }
    let met = compare::step_for(1.0, (0.1, 0.5), |_| Err(())).unwrap();
    assert_eq!((met.step, met.tried.len()), (Some(0.1), 1));
    let never = compare::step_for(1e-3, (0.1, 1.0), |_| Ok::<f64, ()>(1.0)).unwrap();
    assert_eq!((never.step, never.order, never.tried.len()), (None, None, 8));
}

fn compared(text: &str, step: f64, until: f64) -> Comparison {
    use compare::{Grid, Track};
    let scene = Scene::parse("s.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let model = Model::compile(&scene).unwrap();
    let grid = Grid::new(step, until);
    let settings = crate::Settings { tolerance: 1e-9, threads: 1, ..crate::Settings::from_scene(&scene) };
    let precise = Track::precise(&model, &settings, grid, &mut |_| true).unwrap();
    let settings = crate::realtime::Settings { step, threads: 1, ..crate::realtime::Settings::from_scene(&scene) };
    let realtime = Track::realtime(&model, &settings, grid, &mut |_| true).unwrap();
    assert!(precise.is_whole() && realtime.is_whole());
    Comparison::of(&model, &precise, &realtime)
}

const FALL: &str = "format = 1\n[world]\ngravity = [0, 0, -9.81]\n[[body]]\nname = \"ball\"\nmaterial = \"steel\"\n\
                    shape = { kind = \"sphere\", radius = 0.1 }\nposition = [0, 0, 0.6]\n";

/// In free fall both clocks follow the parabola: nothing differs.
#[test]
fn free_fall_is_the_same_in_both_clocks() {
    let comparison = compared(FALL, 0.01, 0.3);
    assert_eq!((comparison.divergence.clone(), comparison.series.time.len()), (None, 31));
    assert!((comparison.gaps.divergence - 0.3).abs() < 1e-12);
    for kind in [GapKind::Position, GapKind::Velocity, GapKind::Orientation, GapKind::Energy] {
        assert!(comparison.gaps.get(kind).worst < 1e-10, "{kind:?} {:?}", comparison.gaps.get(kind));
    }
}

/// What lies on the floor from the start does not begin to touch it, in neither clock.
#[test]
fn what_touches_from_the_start_is_no_start() {
    let floor = "[contact]\nrestitution = 0\n[[body]]\nname = \"floor\"\nfixed = true\nmaterial = \"steel\"\nshape = { kind = \"half_space\" }\n";
    let comparison = compared(&format!("{FALL}{floor}").replace("[0, 0, 0.6]", "[0, 0, 0.1]"), 0.01, 0.1);
    assert_eq!((comparison.starts_precise, comparison.starts_realtime), (0, 0));
}

/// A ball that comes to rest: its weight is the mean contact force in both clocks at the end, and it starts to touch when
/// it has fallen half a metre.
#[test]
fn a_ball_on_a_floor_in_both_clocks() {
    let floor = "[contact]\nrestitution = 0\n[[body]]\nname = \"floor\"\nfixed = true\nmaterial = \"steel\"\nshape = { kind = \"half_space\" }\n";
    let comparison = compared(&format!("{FALL}{floor}"), 0.001, 0.6);
    let starts = (comparison.starts_matched, comparison.starts_precise, comparison.starts_realtime);
    // the precise clock sees the ball leave once more, by nanometres
    assert!(starts.0 > 0 && starts.2 <= starts.1, "{starts:?}");
    assert!(comparison.gaps.contact_start.worst <= 0.002, "{:?}", comparison.gaps.contact_start);
    assert_eq!(comparison.divergence, None, "{:?}", comparison.gaps.position);
    let weight = 9.81 * 7850.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3;
    let last = *comparison.series.contact_force.last().unwrap();
    assert!(last < 1e-3 * weight, "{last} N, weight {weight} N");
}

/// A word of a question, or something that has no business there.
fn any_word() -> impl proptest::strategy::Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "ball",
        "ball-2",
        "floor",
        ".",
        "position",
        "x",
        "speed",
        "(",
        ")",
        "[",
        "]",
        ",",
        "+",
        "-",
        "*",
        "/",
        "^",
        "1",
        "0.5",
        "2e3",
        "max",
        "min",
        "at",
        "crossing",
        "event",
        "events",
        "contact_start",
        "contact_end",
        "episode",
        "time",
        "gap",
        "energy",
        "residual",
        "contact",
        "depth",
        "momentum",
        "sqrt",
        "hypot",
        "pi",
        " ",
        "é",
        "\u{0}",
        "1e",
        "..",
        "hinge",
        "angle",
        "arm-2",
        "force",
        "supply",
        "joint_stick",
    ])
}

proptest::proptest! {
    /// Whatever is written, the answer is a number or an error, never a panic.
    #[test]
    fn questions_never_panic(words in proptest::collection::vec(any_word(), 0..25), at in proptest::option::of(-1.0..3.0)) {
        let text: String = words.concat();
        if let Ok(question) = Expression::parse(&text, &subjects()) {
            let recording = recording();
            let _ = question.value(&recording, at);
            let _ = question.series(&recording);
            let _ = question.value(&Recording::new(subjects()), at);
        }
    }

    /// A damaged file of a run is an error, never a panic.
    #[test]
    fn damaged_folders_are_refused(which in 0_usize..5, place in 0.0..1.0, byte in proptest::num::u8::ANY) {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = RunWriter::create(Claim::take(dir.path(), true).unwrap(), manifest(), false).unwrap();
        bounce(0.6, 0.1, &mut writer);
        writer.finish(Status::Complete, None, Some(&report())).unwrap();
        let name = ["manifest.json", "signals.parquet", "energy.parquet", "contacts.parquet", "events.jsonl"][which];
        let path = dir.path().join(name);
        let mut bytes = std::fs::read(&path).unwrap();
        let k = ((bytes.len() - 1) as f64 * place) as usize;
        bytes[k] = byte;
        std::fs::write(&path, bytes).unwrap();
        if let Ok(run) = Run::open(dir.path()) {
            let _ = run.recording(Wanted::all(&run.manifest.subjects));
            let _ = run.signal("ball.position.z");
        }
    }
}

/// A box 1 mm deep in a table and one in the ground: polygons of the faces' size that share the force of their pair.
#[test]
fn patches_of_boxes() {
    let text = r#"
format = 1
title = "boxes"
[world]
gravity = [0, 0, 0]
[run]
until = 1
[contact]
restitution = 0.5
friction = 0.1
[materials.plastic]
density = 1000
young = "1 GPa"
poisson = 0.3
[[solid]]
name = "cube"
kind = "box"
size = [0.1, 0.1, 0.1]
[[body]]
name = "ground"
fixed = true
material = "plastic"
shape = { kind = "half_space" }
[[body]]
name = "table"
fixed = true
material = "plastic"
shape = { kind = "box", size = [1, 1, 0.2] }
position = [3, 0, 0]
[[body]]
name = "box"
material = "plastic"
shape = { kind = "mesh", solid = "cube" }
position = [0, 0, 0.049]
"#;
    let model = Model::compile(&Scene::parse("boxes.toml", text, &[]).unwrap()).unwrap();
    let subjects = Subjects::of(&model);
    let dir = tempfile::tempdir().unwrap();
    let mut writer = RunWriter::create(
        Claim::take(dir.path(), true).unwrap(),
        Manifest { subjects: subjects.clone(), ..manifest() },
        false,
    )
    .unwrap();
    writer.record_patches(&model).unwrap();
    let force = Vec3::new(1.0, 0.5, 10.0);
    let apart = Vec3::new(0.0, 0.0, 2e-3);
    let down = [(0, Vec3::new(0.0, 0.0, 0.049)), (1, Vec3::new(3.0, 0.0, 0.149))];
    for (other, position) in down.into_iter().chain(down.map(|(other, position)| (other, position + apart))) {
        let mut bodies = model.start.clone();
        bodies[2] = still(position);
        let contact = ContactSample {
            body1: other,
            body2: 2,
            pair: (other as u32, 2),
            position,
            normal: Vec3::Z,
            depth: 1e-3,
            closing_speed: 0.0,
            force,
            torque: Vec3::ZERO,
            slipping: false,
        };
        let (energy, signals) = (Ledger::default(), vec![0.0; subjects.signals.len()]);
        let time = other as f64;
        writer.sample(&Sample { time, bodies: &bodies, contacts: &[contact], energy: &energy, signals: &signals });
    }
    writer.finish(Status::Complete, None, None).unwrap();
    let text = std::fs::read_to_string(dir.path().join("patches.jsonl")).unwrap();
    let patches: Vec<Patch> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(patches.len(), 4);
    for (k, (patch, other)) in patches.iter().zip(["ground", "table", "ground", "table"]).enumerate() {
        assert_eq!(patch.bodies, [other, "box"]);
        let sum: Vec3 = patch.polygons.iter().map(|p| p.force).sum();
        assert!((sum - force).length() < 1e-12, "{sum}");
        let bottom = |p: &&Polygon| p.body == 2 && p.normal.z > 0.9;
        let area: f64 = patch.polygons.iter().filter(bottom).map(|p| p.area).sum();
        assert!((area - 0.01).abs() < 1e-12, "{area}");
        for p in patch.polygons.iter().filter(bottom) {
            let depth = if k < 2 { 1e-3 } else { 0.0 };
            assert!((p.depth - depth).abs() < 1e-5 && p.region == Some(0) && p.rings.len() == 1);
        }
    }
}
