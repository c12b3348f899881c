//! The realtime clock against closed forms, and what a scene asks of its pairs.

use crate::common::scenes::{FLOOR, G, cube, index, model, one_thread, recorded, run, steel};
use serde_json::Value;
use std::fmt::Write;
use tippe::realtime::{
    Clock, Coupled, FrictionBound, Grip, Hook, STEP, Settings, Solver, State, Touch, View, simulate, simulate_with,
};
use tippe::{Observe, Sample};
use tippe_geometry::Vec3;

/// A block on a plane that is tilted by `slope` [deg], downhill in the direction `heading` [deg] from x: position and velocity of its
/// centre downhill, step by step.
fn slide(slope: f64, mu: f64, heading: f64, friction: FrictionBound, steps: usize) -> Vec<(f64, f64)> {
    let (s, c) = libm::sincos(slope.to_radians());
    let (sh, ch) = libm::sincos(heading.to_radians());
    let downhill = Vec3::new(ch, sh, 0.0);
    let model = model(&format!(
        r#"
        [world]
        gravity = [{:e}, {:e}, {:e}]
        [[pair]]
        materials = ["steel", "steel"]
        friction = {mu}
        restitution = 0
        {FLOOR}
        {}
        "#,
        G * s * ch,
        G * s * sh,
        -G * c,
        cube("block", 0.0, 0.0, 0.1)
    ));
    let settings = Settings { friction, ..one_thread() };
    let block = index(&model, "block");
    let mut clock = Clock::resume(&model, &State::start(&model), &settings);
    (0..steps)
        .map(|_| {
            clock.step();
            let body = clock.state.bodies()[block];
            (body.p.dot(downhill), body.v.dot(downhill))
        })
        .collect()
}

#[test]
fn a_block_on_a_slope_sticks_or_slides() {
    let truth: Value = serde_json::from_str(include_str!("../../data/E01_block_slope.json")).unwrap();
    let rows = truth["reference"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    let ways = [(0.0, FrictionBound::Cone), (45.0, FrictionBound::Cone), (0.0, FrictionBound::Box)];
    for row in rows {
        let value = |name: &str| row[name].as_f64().unwrap();
        let (slope, mu) = (value("slope_deg"), value("mu"));
        for (heading, friction) in ways {
            let at = format!("{slope} deg, mu {mu}, downhill at {heading} deg, {friction:?}");
            if row["sticks"].as_bool().unwrap() {
                let path = slide(slope, mu, heading, friction, 660);
                // the elastic shear of the contact comes first, then nothing
                let settled = path[59].0;
                assert!(settled.abs() < 1e-8, "{at}: sheared by {settled:e} m");
                for (p, v) in &path[60..] {
                    assert!((p - settled).abs() < 1e-9, "{at}: drifted by {:e} m", p - settled);
                    assert!(v.abs() < 1e-9, "{at}: creeps at {v:e} m/s");
                }
            } else {
                let expected = value("discrete_speed_after_60_steps");
                let error = slide(slope, mu, heading, friction, 60)[59].1 / expected - 1.0;
                assert!(error.abs() < 1e-10, "{at}: speed off by {error:e}");
            }
        }
    }
}

#[test]
fn a_stack_of_ten_boxes() {
    let truth: Value = serde_json::from_str(include_str!("../../data/E02_stack10.json")).unwrap();
    let boxes: String = (0..10).map(|k| cube(&format!("box{k}"), 0.0, 0.0, 0.1 + 0.2 * f64::from(k))).collect();
    let model = model(&format!("{}{FLOOR}{boxes}", steel(0.5, 0.0)));
    let expected = truth["reference"]["interface_normal_force"].as_array().unwrap();
    // sorted by pair: the floor and box 0, box 0 and box 1, ...
    let mut last: Vec<f64> = Vec::new();
    struct Forces<'a>(&'a mut Vec<f64>);
    impl Observe for Forces<'_> {
        fn sample(&mut self, sample: &Sample<'_>) {
            self.0.clear();
            self.0.extend(sample.contacts.iter().map(|c| c.force.dot(c.normal)));
        }
    }
    let mut state = State::start(&model);
    simulate(&model, &mut state, 1.0, &one_thread(), &mut Forces(&mut last)).unwrap();
    assert_eq!(last.len(), 10);
    for (k, (force, expected)) in last.iter().zip(expected).enumerate() {
        let error = force / expected.as_f64().unwrap() - 1.0;
        assert!(error.abs() < 1e-6, "interface {k}: {force} N, off by {error:e}");
    }
    // from the start: the stack compresses by what its elastic foundations say
    let top = index(&model, "box9");
    run(&model, &mut state, 10.0, &one_thread());
    let start = State::start(&model).bodies()[top];
    let end = state.bodies()[top];
    let (drift, turn) = ((end.p - start.p).length(), end.q.angle_between(start.q));
    assert!(drift < 1e-6, "top drifted by {drift:e} m");
    assert!(turn < 1e-6, "top turned by {turn:e} rad");
    assert!(end.v.length() < 1e-9, "top moves at {:e} m/s", end.v.length());
}

#[test]
fn a_tumbling_body_keeps_its_energy() {
    // I = (1, 2, 3), w = (0.01, 5, 0.01), h = 1/60: explicit Euler has 1.224 after 10 s
    let model = model(
        r#"
        [world]
        gravity = [0, 0, 0]
        [[body]]
        name = "top"
        mass = 1
        inertia = [1, 2, 3]
        angular_velocity = [0.01, 5, 0.01]
        "#,
    );
    let (recording, summary) = recorded(&model, 10.0, &one_thread());
    let first = recording.energy[0].kinetic;
    for energy in &recording.energy {
        let ratio = energy.kinetic / first;
        // a symmetric splitting goes down and up with each tumble (by 4.8e-5 with one substep), and comes back
        assert!((ratio - 1.0).abs() < 5e-5, "energy ratio {ratio}");
    }
    let ratio = summary.energy.kinetic / first;
    assert!((ratio - 1.0).abs() < 5e-7, "energy ratio {ratio}");
    // w at 5 s with four substeps is truth's (-0.011331018, -4.9999972, 0.010462504): the tumble is in phase
    let mut state = State::start(&model);
    run(&model, &mut state, 5.0, &one_thread());
    let body = state.bodies()[0];
    let w = body.q.conjugate() * body.w;
    assert!((w - Vec3::new(-0.011331018, -4.9999972, 0.010462504)).length() < 1e-4, "{w}");
}

/// A box at rest on the floor, with more in its pair, a pull along x and settings.
fn asked(pair: &str, pull: f64, settings: &Settings, speed: f64) -> (Vec3, Vec3, usize) {
    struct Points(usize);
    impl Hook for Points {
        fn contacts(&mut self, _: &View<'_>, touches: &mut [Touch], _: &mut [Grip]) {
            self.0 = self.0.max(touches.len());
        }
    }
    let world = steel(0.5, 0.0).replace(&format!("[0, 0, -{G}]"), &format!("[{pull}, 0, -{G}]"));
    let body = cube("box", 0.0, 0.0, 0.1) + &format!("velocity = [{speed}, 0, 0]\n");
    let model = model(&format!("{world}{pair}\n{FLOOR}{body}"));
    let (mut state, mut points) = (State::start(&model), Points(0));
    let settings = Settings { threads: 1, ..settings.clone() };
    let until = 30.0 * settings.step;
    simulate_with(&model, &mut state, until, &settings, &mut [&mut points], &mut ()).unwrap_or_else(|e| panic!("{e}"));
    let motion = state.bodies()[index(&model, "box")];
    (motion.p, motion.v, points.0)
}

#[test]
fn a_pair_has_the_points_it_asks_for() {
    let default = Settings::default();
    assert_eq!(asked("", 0.0, &default, 0.0).2, 4);
    assert_eq!(asked("points = 3", 0.0, &default, 0.0).2, 3);
    assert_eq!(asked("", 0.0, &Settings { points: 2, ..default.clone() }, 0.0).2, 2);
    assert_eq!(asked("points = 1", 0.0, &Settings { points: 2, ..default }, 0.0).2, 1);
}

/// At most 5 N carry a weight of 9.81 N: it sinks with the rest.
#[test]
fn a_pair_pushes_at_most_with_what_it_is_given() {
    let (_, v, _) = asked("", 0.0, &Settings::default(), 0.0);
    assert!(v.length() < 1e-6, "{v}");
    let (_, v, _) = asked("normal_force_max = 5", 0.0, &Settings::default(), 0.0);
    assert!((v.z + (G - 5.0) * 0.5).abs() < 1e-6, "{v}");
}

/// Friction could hold 4.9 N; at most 1 N of it lets 3 N pull with 2 m/s2.
#[test]
fn a_pair_rubs_at_most_with_what_it_is_given() {
    let (_, v, _) = asked("", 3.0, &Settings::default(), 0.0);
    assert!(v.length() < 1e-6, "{v}");
    for solver in [Solver::Direct, Solver::Sweeps] {
        let (_, v, _) = asked("force_max = 1", 3.0, &Settings { solver, ..Settings::default() }, 0.0);
        assert!((v.x - 2.0 * 0.5).abs() < 0.02 && v.z.abs() < 1e-3, "{solver:?} {v}");
    }
}

/// More contact points than asked for end the run, and the message says who, how many, and what to try.
#[test]
fn contacts_beyond_their_limit_end_the_run() {
    let model = model(&format!("{}{FLOOR}{}", steel(0.5, 0.0), cube("box", 0.0, 0.0, 0.1)));
    let run = |most: usize| {
        let mut state = State::start(&model);
        let settings = Settings { max_contacts: Some(most), ..one_thread() };
        simulate(&model, &mut state, 0.1, &settings, &mut ()).map(|_| ())
    };
    assert!(run(4).is_ok());
    let message = run(3).unwrap_err().to_string();
    assert!(message.contains("contact point 4 of 4") && message.contains("max_contacts"), "{message}");
}

/// What is pulled beyond static friction has that of sliding from the first step on.
#[test]
fn what_breaks_away_slides_in_that_step() {
    let world = steel(0.3, 0.0).replace(&format!("[0, 0, -{G}]"), &format!("[6, 0, -{G}]"));
    let model = model(&format!("{world}static_friction = 0.6\n{FLOOR}{}", cube("box", 0.0, 0.0, 0.1)));
    let settings = one_thread();
    let mut clock = Clock::resume(&model, &State::start(&model), &settings);
    for step in 1..=5 {
        clock.step();
        let v = clock.state.bodies()[index(&model, "box")].v.x;
        let expected = f64::from(step) * settings.step * (6.0 - 0.3 * G);
        assert!((v / expected - 1.0).abs() < 1e-6, "step {step}: {v} m/s, {expected}");
    }
}

/// A box that slides from the start: in the first step nobody knows how hard it is pressed. One pass sticks; the more there are, the nearer
/// they come to mu g.
#[test]
fn passes_find_the_friction_of_a_contact_that_begins() {
    let off = |passes| {
        let v = asked("", 0.0, &Settings { passes, ..Settings::default() }, 4.0).1;
        (v.x - (4.0 - 0.5 * G * 0.5)).abs()
    };
    let (once, thrice, often) = (off(1), off(3), off(12));
    assert!(once > 0.5 && thrice < 0.5 * once && often <= thrice, "{once} {thrice} {often}");
}

/// Two chains of 50 bodies each with springs between them, as one matrix and kept apart.
#[test]
fn coupled_parts_kept_apart_move_as_the_merged_ones() {
    let mut text = steel(0.5, 0.0);
    for (side, x) in [("a", 0.0), ("b", 1.0)] {
        for k in 0..50 {
            let parent = if k == 0 { "world".to_owned() } else { format!("{side}{}", k - 1) };
            let (at, centre) = (0.1 * f64::from(k), 0.1 * f64::from(k) + 0.05);
            let _ = write!(
                text,
                r#"
                [[body]]
                name = "{side}{k}"
                mass = 0.5
                inertia = [1e-3, 1e-3, 1e-3]
                position = [{x}, {centre}, 0]
                [[joint]]
                name = "{side}{k}_joint"
                kind = "spherical"
                bodies = ["{parent}", "{side}{k}"]
                at = [{x}, {at}, 0]
                "#
            );
        }
    }
    for k in [9, 24, 49] {
        let _ = write!(
            text,
            r#"
            [[force]]
            name = "spring{k}"
            kind = "spring"
            between = ["a{k}", "b{k}"]
            stiffness = 2e3
            damping = 5
            rest = 0.8
            "#
        );
    }
    let model = model(&text);
    let after = |coupled: Coupled| {
        let mut state = State::start(&model);
        let summary = run(&model, &mut state, 10.0 * STEP, &Settings { coupled, ..one_thread() });
        (state, summary.solutions)
    };
    let (merged, how) = after(Coupled::Merged);
    assert_eq!(how.kept_apart, 0);
    let (kept, how) = after(Coupled::Kept);
    assert_eq!((how.kept_apart, how.unconverged), (how.direct, 0));
    assert!(how.direct > 0);
    for (a, b) in merged.bodies().iter().zip(kept.bodies()) {
        assert!((a.p - b.p).length() < 1e-8 && (a.v - b.v).length() < 1e-8, "{} {}", a.p, b.p);
    }
    // they do feel each other
    let middle = merged.bodies()[index(&model, "a49")].p;
    assert!(middle.x > 1e-4, "{middle}");
}

#[test]
fn a_bullet_does_not_pass_a_plate() {
    for restitution in [0.0, 0.5] {
        for start in [1.0, 1.3, 1.9, 2.7] {
            let model = model(&format!(
                r#"{}
                [[body]]
                name = "plate"
                fixed = true
                material = "steel"
                shape = {{ kind = "box", size = [0.001, 1, 1] }}
                [[body]]
                name = "bullet"
                material = "steel"
                shape = {{ kind = "sphere", radius = 0.002 }}
                position = [-{start}, 0, 0.2]
                velocity = [100, 0, 0]
                "#,
                steel(0.3, restitution)
            ));
            let mut state = State::start(&model);
            let summary = run(&model, &mut state, 0.2, &one_thread());
            let bullet = state.bodies()[index(&model, "bullet")];
            assert!(bullet.p.x < 0.0, "e = {restitution}, from {start} m: passed, at {} m", bullet.p.x);
            assert!(bullet.v.x < 1e-6, "e = {restitution}, from {start} m: still {} m/s", bullet.v.x);
            assert!(
                summary.warnings.iter().any(|w| w.contains("\"bullet\"") && w.contains("smaller step")),
                "no warning: {:?}",
                summary.warnings
            );
        }
    }
}

/// The rebound of two balls at steps far longer than the impact, about as long, and so short that they resolve it.
#[test]
fn restitution_does_not_depend_on_the_step() {
    let model = model(
        r#"
        [world]
        gravity = [0, 0, 0]
        [contact]
        restitution = 0.7
        friction = 0
        [defaults]
        material = "steel"
        [[body]]
        name = "left"
        shape = { kind = "sphere", radius = 0.025 }
        velocity = [1, 0, 0]
        [[body]]
        name = "right"
        shape = { kind = "sphere", radius = 0.025 }
        position = [0.051, 0, 0]
        "#,
    );
    for step in [1e-2, 1e-3, 1e-4, 1e-5, 1e-6] {
        let mut state = State::start(&model);
        run(&model, &mut state, (2e-3_f64).max(step), &Settings { step, ..one_thread() });
        let bounce = state.bodies()[1].v.x - state.bodies()[0].v.x;
        assert!((bounce - 0.7).abs() < 1e-4, "h = {step} s: {bounce}");
    }
}
