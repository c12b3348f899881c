//! Constraints that hold one way, in both clocks: three masses on vertical sliders under one rope over pulleys, q1 + 2
//! q2 + q3 <= L with q downwards, against closed forms. With c = (1, 2, 1) and D = sum c^2/m a taut rope gives m q'' =
//! m g + F + c lambda with
//!   lambda = -(4 g + sum c F/m)/D,
//! and one that becomes taut the impulses c p with p = -(sum c u)/D, at the cost of (sum c u)^2/(2 D).

use tippe::run::{Recording, Subjects};
use tippe::scene::{Constraint, ConstraintHolds, ConstraintTerm, Scene};
use tippe::{Cause, EventKind, Model, realtime};

const G: f64 = 10.0;
const C: [f64; 3] = [1.0, 2.0, 1.0];
const M: [f64; 3] = [1.0, 3.0, 2.0];
/// Step of the realtime clock [s].
const H: f64 = 1e-3;

/// D = sum c^2/m.
fn yields() -> f64 {
    (0..3).map(|k| C[k] * C[k] / M[k]).sum()
}

/// Masses 1 to 3 on sliders that point down, each under a force downwards.
fn sliders(forces: [&str; 3]) -> Scene {
    let mut text = format!("format = 1\ntitle = \"sliders\"\n[world]\ngravity = [0, 0, {}]\n", -G);
    for k in 0..3 {
        text += &format!(
            r#"
            [[body]]
            name = "mass_{k}"
            mass = {m}
            inertia = [1, 1, 1]
            position = [{k}, 0, 0]
            [[joint]]
            name = "slide_{k}"
            kind = "prismatic"
            bodies = ["world", "mass_{k}"]
            at = [{k}, 0, 0]
            axis = "-z"
            [[force]]
            name = "pull_{k}"
            kind = "applied"
            on = "mass_{k}"
            force = [0, 0, "-({force})"]
            "#,
            m = M[k],
            force = forces[k]
        );
    }
    Scene::parse("sliders.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

fn rope(name: &str, limit: f64) -> Constraint {
    let term = |k: usize| ConstraintTerm { joint: format!("slide_{k}"), coordinate: 0, factor: C[k] };
    let terms = (0..3).map(term).collect();
    Constraint { name: name.to_string(), terms, holds: ConstraintHolds::AtMost, limit, ..Constraint::default() }
}

/// Runs in the precise and in the realtime clock, recorded every `H`.
fn both(scene: &Scene, until: f64) -> [(&'static str, Recording); 2] {
    let model = Model::compile(scene).unwrap_or_else(|errors| panic!("{errors}"));
    let mut precise = Recording::new(Subjects::of(&model));
    let settings = tippe::Settings { tolerance: 1e-9, output_interval: H, threads: 1, ..tippe::Settings::default() };
    let mut state = tippe::State::start(&model);
    tippe::simulate(&model, &mut state, until, &settings, &mut precise).unwrap_or_else(|e| panic!("{e}"));
    let mut stepped = Recording::new(Subjects::of(&model));
    let settings = realtime::Settings { step: H, output_interval: H, threads: 1, ..realtime::Settings::default() };
    let mut state = realtime::State::start(&model);
    realtime::simulate(&model, &mut state, until, &settings, &mut stepped).unwrap_or_else(|e| panic!("{e}"));
    [("precise", precise), ("realtime", stepped)]
}

fn signal<'a>(recording: &'a Recording, name: &str) -> &'a [f64] {
    let k = recording.subjects.signals.iter().position(|s| s.name == name);
    &recording.signals[k.unwrap_or_else(|| panic!("no signal {name}"))]
}

/// The last value of a coordinate and its rate.
fn end(recording: &Recording, k: usize) -> [f64; 2] {
    ["position", "speed"].map(|what| *signal(recording, &format!("slide_{k}.{what}")).last().unwrap())
}

/// Times at which ropes became taut or slack.
fn switches(recording: &Recording, kind: EventKind) -> Vec<f64> {
    recording.events.iter().filter(|event| event.kind == kind).map(|event| event.time).collect()
}

fn near(clock: &str, what: &str, value: f64, wanted: f64, within: f64) {
    assert!((value - wanted).abs() <= within, "{clock}: {what} is {value}, not {wanted}: off by {:e}", value - wanted);
}

/// Largest residual of the books as a share of what was turned over.
fn residual(recording: &Recording) -> f64 {
    let first = &recording.energy[0];
    let size =
        recording.energy.iter().map(|e| e.kinetic.abs() + (e.potential - first.potential).abs() + e.put_in().abs());
    let turned = size.fold(0.0, f64::max);
    recording.energy.iter().map(|e| e.residual().abs()).fold(0.0, f64::max) / turned
}

#[test]
fn a_taut_rope_gives_the_accelerations_of_the_closed_form() {
    let mut scene = sliders(["0"; 3]);
    scene.constraints.push(rope("rope", 0.0));
    let lambda = -4.0 * G / yields();
    for (clock, recording) in both(&scene, 0.5) {
        for k in 0..3 {
            let a = G + C[k] * lambda / M[k];
            let [q, u] = end(&recording, k);
            near(clock, "rate", u, a * 0.5, 1e-10);
            near(clock, "coordinate", q, 0.5 * a * 0.25, 1e-10);
        }
        assert!(switches(&recording, EventKind::Slack).is_empty() && residual(&recording) < 1e-10, "{clock}");
        assert!(recording.energy.last().unwrap()[Cause::Fastening].abs() < 1e-10, "{clock}");
    }
}

/// The second mass is lifted by k t: the tension vanishes at t = 2 g m2/k, and all fall from then on, the second one
/// under what lifts it.
#[test]
fn a_rope_goes_slack_when_its_tension_vanishes() {
    let lift = 120.0;
    let slack = 2.0 * G * M[1] / lift;
    let mut scene = sliders(["0", &format!("-{lift}*t"), "0"]);
    scene.constraints.push(rope("rope", 0.0));
    for (clock, recording) in both(&scene, 0.8) {
        let exact = clock == "precise";
        let at = switches(&recording, EventKind::Slack);
        assert_eq!(at.len(), 1, "{clock}: {at:?}");
        near(clock, "the release", at[0], slack, if exact { 1e-9 } else { H });
        assert!(switches(&recording, EventKind::Taut).is_empty(), "{clock}");
        let rest = 0.8 - slack;
        for k in 0..3 {
            // taut: q'' = g + F/m + c lambda/m with lambda = -(4 g - 2 lift t/m2)/D
            let (constant, slope) = (4.0 * G, -C[1] * lift / M[1]);
            let force = if k == 1 { -lift / M[1] } else { 0.0 };
            let (a, b) = (G - C[k] / M[k] * constant / yields(), force - C[k] / M[k] * slope / yields());
            let u = a * slack + 0.5 * b * slack * slack;
            let u = u + G * rest + 0.5 * force * (0.8 * 0.8 - slack * slack);
            near(clock, "rate", end(&recording, k)[1], u, if exact { 1e-8 } else { 0.05 });
        }
        assert!(residual(&recording) < 1e-6, "{clock}: {:e}", residual(&recording));
    }
}

/// A rope with s to spare: all fall freely until t = sqrt(s/(2 g)), and rates jump as momentum and the rope demand.
#[test]
fn a_rope_that_becomes_taut_stops_what_it_holds() {
    let spare = 0.8;
    let taut = (spare / (2.0 * G)).sqrt();
    let mut scene = sliders(["0"; 3]);
    scene.constraints.push(rope("rope", spare));
    let p = -4.0 * G * taut / yields();
    let lambda = -4.0 * G / yields();
    for (clock, recording) in both(&scene, 0.5) {
        let exact = clock == "precise";
        let at = switches(&recording, EventKind::Taut);
        assert_eq!(at.len(), 1, "{clock}: {at:?}");
        near(clock, "the catch", at[0], taut, if exact { 1e-9 } else { 2.0 * H });
        assert!(switches(&recording, EventKind::Slack).is_empty(), "{clock}");
        let rest = 0.5 - taut;
        let mut sum = 0.0;
        for k in 0..3 {
            let [q, u] = end(&recording, k);
            let after = G * taut + C[k] * p / M[k];
            near(clock, "rate", u, after + (G + C[k] * lambda / M[k]) * rest, if exact { 1e-8 } else { 0.03 });
            sum += C[k] * q;
        }
        near(clock, "the length", sum, spare, 1e-9);
        let loss = (4.0 * G * taut).powi(2) / (2.0 * yields());
        let books = recording.energy.last().unwrap();
        near(clock, "the loss", books[Cause::Fastening], loss, if exact { 1e-7 } else { 0.05 * loss });
        assert!(residual(&recording) < 1e-6, "{clock}: {:e}", residual(&recording));
    }
}

/// A rope with s to spare that gives by c: taut at t = sqrt(s/(2 g)) with the rate v, then
///   phi'' = b - w^2 phi with b = 4 g and w^2 = D/c, until tan(w t/2) = -v w/b, with the rate -v and nothing lost.
#[test]
fn a_rope_that_gives_throws_back_what_it_catches() {
    let (spare, compliance) = (0.2, 2e-3);
    let taut = (spare / (2.0 * G)).sqrt();
    let (b, v, w) = (4.0 * G, 4.0 * G * taut, (yields() / compliance).sqrt());
    let held = 2.0 / w * (std::f64::consts::PI - libm::atan(v * w / b));
    let impulse = -(2.0 * v + b * held) / yields();
    let mut scene = sliders(["0"; 3]);
    scene.constraints.push(Constraint { compliance, ..rope("rope", spare) });
    for (clock, recording) in both(&scene, 0.3) {
        let exact = clock == "precise";
        let (at, off) = (switches(&recording, EventKind::Taut), switches(&recording, EventKind::Slack));
        assert_eq!((at.len(), off.len()), (1, 1), "{clock}: {at:?} {off:?}");
        near(clock, "the catch", at[0], taut, if exact { 1e-8 } else { 2.0 * H });
        near(clock, "the release", off[0], taut + held, if exact { 1e-7 } else { 3.0 * H });
        for k in 0..3 {
            let u = G * 0.3 + C[k] / M[k] * impulse;
            near(clock, "rate", end(&recording, k)[1], u, if exact { 1e-6 } else { 0.1 });
        }
        near(clock, "the force", *signal(&recording, "rope.force").last().unwrap(), 0.0, 0.0);
        assert!(residual(&recording) < 1e-8, "{clock}: {:e}", residual(&recording));
        assert!(!exact || recording.energy.last().unwrap()[Cause::Damping].abs() < 1e-9, "{clock}");
    }
}

/// One that pulls with F at most, less than what holds: F is reached where phi = F c, at cos(w t) = 1 - F D/b, and stays.
#[test]
fn a_rope_pulls_with_its_largest_force() {
    let (most, compliance, until) = (8.0, 2e-3, 0.3);
    let (b, w) = (4.0 * G, (yields() / compliance).sqrt());
    let reached = libm::acos(1.0 - most * yields() / b) / w;
    let impulse = b * (libm::sin(w * reached) / w - reached) / yields() - most * (until - reached);
    for holds in [ConstraintHolds::AtMost, ConstraintHolds::Equals] {
        let mut scene = sliders(["0"; 3]);
        let one = rope("rope", 0.0);
        scene.constraints.push(Constraint { compliance, force_max: Some(most), holds, ..one });
        for (clock, recording) in both(&scene, until) {
            let exact = clock == "precise";
            for k in 0..3 {
                let u = G * until + C[k] / M[k] * impulse;
                near(clock, "rate", end(&recording, k)[1], u, if exact { 1e-7 } else { 0.01 });
            }
            near(clock, "the force", *signal(&recording, "rope.force").last().unwrap(), -most, 1e-6);
            assert!(residual(&recording) < 1e-8, "{clock}: {:e}", residual(&recording));
        }
    }
}

/// Two that give and damp, in a file, where nothing else connects the masses: c x'' of both ends settles to the weight.
#[test]
fn a_file_ties_mechanisms_that_nothing_else_connects() {
    let tie = "[[constraint]]\nname = \"tie\"\nterms = { \"slide_0.position\" = 1, \"slide_2.position\" = -2 }\n\
               equals = \"10 mm\"\n[[constraint]]\nname = \"mount\"\nterms = { slide_2 = 1 }\nequals = 0\n\
               compliance = \"1 mm/N\"\ndamping = \"60 N s/m\"\n";
    let text = format!("{}{tie}", sliders(["0"; 3]).to_toml())
        .replace("slide_0\"\nkind = \"prismatic\"", "slide_0\"\nposition = 0.01\nkind = \"prismatic\"");
    let scene = Scene::parse("tie.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    for (clock, recording) in both(&scene, 3.0) {
        // the second mass feels its weight and twice that of the first
        let load = G * (M[2] + 2.0 * M[0]);
        near(clock, "the sag", end(&recording, 2)[0], load * 1e-3, 1e-6);
        near(clock, "the mount", *signal(&recording, "mount.force").last().unwrap(), -load, 1e-3);
        near(clock, "the tie", *signal(&recording, "tie.force").last().unwrap(), -G * M[0], 1e-3);
        near(clock, "the length", end(&recording, 0)[0] - 2.0 * end(&recording, 2)[0], 0.01, 1e-9);
        assert!(residual(&recording) < 1e-8, "{clock}: {:e}", residual(&recording));
    }
}

/// Three ropes over the same pulleys, one of them with a little more length, and a rod that holds both ways: as many
/// rows as will are redundant.
#[test]
fn redundant_ropes_hold_like_one() {
    let spare = 0.8;
    for rod in [false, true] {
        let mut alone = sliders(["0", "-120*t", "0"]);
        alone.constraints.push(rope("rope", spare));
        if rod {
            let terms = [(0, 1.0), (2, -1.0)];
            let term =
                |(k, factor): (usize, f64)| ConstraintTerm { joint: format!("slide_{k}"), coordinate: 0, factor };
            let terms: Vec<ConstraintTerm> = terms.into_iter().map(term).collect();
            for name in ["rod", "second_rod"] {
                let constraint = Constraint { name: name.into(), terms: terms.clone(), ..Constraint::default() };
                alone.constraints.push(constraint);
            }
        }
        let mut many = alone.clone();
        many.constraints.push(rope("second", spare));
        many.constraints.push(rope("longer", spare + 1.0));
        for ((clock, one), (_, all)) in both(&alone, 0.8).into_iter().zip(both(&many, 0.8)) {
            for k in 0..3 {
                let ([q, u], [q_all, u_all]) = (end(&one, k), end(&all, k));
                near(clock, "coordinate", q_all, q, 1e-8);
                near(clock, "rate", u_all, u, 1e-8);
            }
            let fastening = |recording: &Recording| recording.energy.last().unwrap()[Cause::Fastening];
            near(clock, "the loss", fastening(&all), fastening(&one), 1e-8);
            assert!(fastening(&one) > 0.1 && residual(&all) < 1e-6, "{clock}: {:e}", residual(&all));
        }
    }
}

/// A rope through twelve sliders: no term is left out.
#[test]
fn a_rope_has_any_number_of_terms() {
    let count = 12;
    let mut text = format!("format = 1\ntitle = \"sliders\"\n[world]\ngravity = [0, 0, {}]\n", -G);
    for k in 0..count {
        text += &format!(
            "[[body]]\nname = \"mass_{k}\"\nmass = {}\ninertia = [1, 1, 1]\nposition = [{k}, 0, 0]\n[[joint]]\nname = \"slide_{k}\"\n\
             kind = \"prismatic\"\nbodies = [\"world\", \"mass_{k}\"]\nat = [{k}, 0, 0]\naxis = \"-z\"\n",
            k + 1
        );
    }
    let mut scene = Scene::parse("sliders.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let factor = |k: usize| 1.0 + 0.1 * k as f64;
    let term = |k: usize| ConstraintTerm { joint: format!("slide_{k}"), coordinate: 0, factor: factor(k) };
    let terms = (0..count).map(term).collect();
    scene.constraints.push(Constraint { terms, holds: ConstraintHolds::AtMost, ..rope("rope", 0.0) });
    let sum: f64 = (0..count).map(|k| factor(k) * factor(k) / (k + 1) as f64).sum();
    let lambda = -G * (0..count).map(factor).sum::<f64>() / sum;
    for (clock, recording) in both(&scene, 0.2) {
        for k in 0..count {
            near(clock, "rate", end(&recording, k)[1], 0.2 * (G + factor(k) * lambda / (k + 1) as f64), 1e-9);
        }
    }
}

#[test]
fn what_a_constraint_cannot_be_is_named() {
    let wrong = |change: fn(&mut Constraint)| {
        let mut scene = sliders(["0"; 3]);
        let mut constraint = rope("rope", 1.0);
        change(&mut constraint);
        scene.constraints.push(constraint);
        Model::compile(&scene).map(|_| ()).unwrap_err().to_string()
    };
    type Change = fn(&mut Constraint);
    let cases: [(Change, &str); 10] = [
        (|c| c.damping = 1.0, "damping and no compliance"),
        (|c| c.force_max = Some(1.0), "a force_max and no compliance"),
        (|c| c.compliance = -1.0, "the compliance -1"),
        (|c| c.terms[0].joint = "nowhere".into(), "joint \"nowhere\", which has no coordinates"),
        (|c| c.terms[0].coordinate = 1, "a coordinate joint \"slide_0\" does not have"),
        (|c| c.terms[1].joint = "slide_0".into(), "two terms of joint \"slide_0\""),
        (|c| c.terms[1].factor = 0.0, "a term with the factor 0"),
        (|c| c.terms.clear(), "has no term"),
        (|c| c.limit = f64::NAN, "has the limit NaN"),
        (|c| c.limit = -0.5, "5.000e-1 m beyond its limit -0.5 m"),
    ];
    for (change, text) in cases {
        let said = wrong(change);
        assert!(said.contains("constraint \"rope\"") && said.contains(text), "{said}");
    }
}
