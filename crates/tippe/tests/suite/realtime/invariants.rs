//! The realtime clock keeps bits, energy and momentum.

use crate::common::random::Random;
use crate::common::scenes::{FLOOR, cube, model, one_thread, recorded, run, steel};
use std::fmt::Write;
use tippe::realtime::{Clock, Settings, State, simulate};
use tippe::run::{Recording, Subjects};
use tippe::scene::Scene;
use tippe::{Cause, Ledger, Model};
use tippe_geometry::Vec3;

/// A figure of six bodies, jointed and with limits, that falls on the floor.
fn ragdoll() -> String {
    let mut text = format!("{}{FLOOR}", steel(0.6, 0.3));
    text.push_str(
        r#"
        [[body]]
        name = "torso"
        material = "steel"
        mass = 30
        shape = { kind = "box", size = [0.3, 0.2, 0.5] }
        position = [0, 0, 1.5]
        velocity = [0.5, 0.8, 0]
        frames = [
            { name = "neck", position = [0, 0, 0.25] },
            { name = "left", position = [0.2, 0, 0.2] },
            { name = "right", position = [-0.2, 0, 0.2] },
            { name = "hip_left", position = [0.1, 0, -0.25] },
            { name = "hip_right", position = [-0.1, 0, -0.25] },
        ]
        [[body]]
        name = "head"
        material = "steel"
        mass = 4
        shape = { kind = "sphere", radius = 0.1 }
        position = [0, 0, 1.87]
        frames = [{ name = "neck", position = [0, 0, -0.12] }]
        [[joint]]
        name = "neck"
        kind = "spherical"
        bodies = ["torso.neck", "head.neck"]
        "#,
    );
    for (side, sign) in [("left", 1), ("right", -1)] {
        let _ = write!(
            text,
            r#"
            [[body]]
            name = "arm_{side}"
            material = "steel"
            mass = 3
            shape = {{ kind = "capsule", radius = 0.04, length = 0.4 }}
            position = [{x_arm}, 0, 1.45]
            frames = [{{ name = "top", position = [0, 0, 0.25] }}]
            [[joint]]
            name = "shoulder_{side}"
            kind = "spherical"
            bodies = ["torso.{side}", "arm_{side}.top"]
            [[body]]
            name = "leg_{side}"
            material = "steel"
            mass = 8
            shape = {{ kind = "box", size = [0.08, 0.08, 0.6] }}
            position = [{x_leg}, 0, 0.9]
            frames = [{{ name = "top", position = [0, 0, 0.35] }}]
            [[joint]]
            name = "hip_{side}"
            kind = "revolute"
            bodies = ["torso.hip_{side}", "leg_{side}.top"]
            axis = "x"
            limit = {{ lower = "-30 deg", upper = "60 deg", stiffness = 2000, restitution = 0.3 }}
            "#,
            x_arm = 0.2 * f64::from(sign),
            x_leg = 0.1 * f64::from(sign)
        );
    }
    text
}

/// 64 boxes that settle on each other.
fn block_of_boxes() -> String {
    let mut text = format!("{}{FLOOR}", steel(0.5, 0.0));
    for (i, j, k) in (0..64).map(|n| (n % 4, n / 4 % 4, n / 16)) {
        let at = |n: i32, shift: f64| 0.205 * f64::from(n) + shift;
        text.push_str(&cube(
            &format!("box_{i}_{j}_{k}"),
            at(i, 0.003 * f64::from(k)),
            at(j, -0.002 * f64::from(k)),
            0.1 + 0.203 * f64::from(k) + 0.001,
        ));
    }
    text
}

/// A cue ball that meets a triangle of ten on a table.
fn break_shot() -> String {
    let mut text = format!("{}{FLOOR}", steel(0.2, 0.95));
    let mut ball = |name: String, x: f64, y: f64, v: f64| {
        let _ = write!(
            text,
            r#"
            [[body]]
            name = "{name}"
            material = "steel"
            mass = 0.17
            shape = {{ kind = "sphere", radius = 0.03 }}
            position = [{x}, {y}, 0.03]
            velocity = [{v}, 0, 0]
            "#
        );
    };
    ball("cue".to_owned(), -0.5, 0.004, 6.0);
    for row in 0..4 {
        for k in 0..=row {
            let (x, y) = (0.0521 * f64::from(row), 0.0601 * (f64::from(k) - 0.5 * f64::from(row)));
            ball(format!("ball_{row}_{k}"), x, y, 0.0);
        }
    }
    text
}

/// The bits of a state: every number is written so that it reads back the same.
fn bits(state: &State) -> String {
    serde_json::to_string(state).unwrap()
}

fn same_bits(text: &str, steps: usize) {
    let model = model(text);
    let start = State::start(&model);
    let one = one_thread();
    let two = Settings { threads: 2, ..one_thread() };
    let mut straight = Clock::resume(&model, &start, &one);
    let mut parallel = Clock::resume(&model, &start, &two);
    let mut dropped = start.clone();
    let mut written = start;
    for step in 1..=steps {
        straight.step();
        parallel.step();
        let expected = bits(&straight.state);
        assert_eq!(expected, bits(&parallel.state), "step {step}: two threads");
        let mut again = Clock::resume(&model, &dropped, &one);
        again.step();
        dropped = again.state.clone();
        assert_eq!(expected, bits(&dropped), "step {step}: a clock for every step");
        if step == steps / 2 {
            written = serde_json::from_str(&expected).unwrap();
            assert_eq!(straight.state, written);
        }
    }
    let mut continued = Clock::resume(&model, &written, &one);
    for _ in steps / 2..steps {
        continued.step();
    }
    assert_eq!(bits(&straight.state), bits(&continued.state), "from the file");
    assert!(straight.state.bodies().iter().all(|b| b.p.is_finite() && b.v.is_finite()));
}

#[test]
fn a_ragdoll_has_the_same_bits() {
    same_bits(&ragdoll(), 240);
}

#[test]
fn a_block_of_boxes_has_the_same_bits() {
    same_bits(&block_of_boxes(), 90);
}

#[test]
fn a_break_shot_has_the_same_bits() {
    same_bits(&break_shot(), 120);
}

/// Bodies of all kinds dropped on each other.
fn heap(seed: u64, restitution: f64) -> String {
    let mut r = Random(seed);
    let mut text = format!("{}{FLOOR}", steel(r.uniform(0.1, 0.8), restitution));
    for k in 0..10 {
        let mut x = |low: f64, high: f64| r.uniform(low, high);
        let shape = match k % 5 {
            0 => format!("kind = \"box\", size = [{:e}, {:e}, {:e}]", x(0.1, 0.3), x(0.1, 0.3), x(0.1, 0.3)),
            1 => format!("kind = \"sphere\", radius = {:e}", x(0.05, 0.15)),
            2 => format!("kind = \"cylinder\", radius = {:e}, length = {:e}", x(0.05, 0.12), x(0.1, 0.3)),
            3 => format!("kind = \"capsule\", radius = {:e}, length = {:e}", x(0.05, 0.1), x(0.1, 0.2)),
            _ => {
                let points: Vec<String> = (0..8)
                    .map(|c| {
                        let corner = |bit: i32, v: f64| if c >> bit & 1 == 1 { v } else { -v };
                        let (a, b, c) = (x(0.06, 0.14), x(0.06, 0.14), x(0.06, 0.14));
                        format!("[{:e}, {:e}, {:e}]", corner(0, a), corner(1, b), corner(2, c))
                    })
                    .collect();
                format!("kind = \"hull\", points = [{}]", points.join(", "))
            }
        };
        let _ = write!(
            text,
            r#"
            [[body]]
            name = "body{k}"
            material = "steel"
            density = 800
            shape = {{ {shape} }}
            position = [{:e}, {:e}, {:e}]
            orientation = {{ axis = [1, {:e}, {:e}], angle = {:e} }}
            velocity = [{:e}, {:e}, {:e}]
            angular_velocity = [{:e}, {:e}, {:e}]
            "#,
            x(-0.2, 0.2),
            x(-0.2, 0.2),
            0.3 + 0.45 * f64::from(k),
            x(-1.0, 1.0),
            x(-1.0, 1.0),
            x(0.0, 3.0),
            x(-1.0, 1.0),
            x(-1.0, 1.0),
            x(-1.0, 0.0),
            x(-5.0, 5.0),
            x(-5.0, 5.0),
            x(-5.0, 5.0)
        );
    }
    text
}

/// Largest growth of kinetic and potential energy beyond the work put in, from any time to any later one, and largest residual, as shares of
/// the largest energy above the lowest.
fn growth(energy: &[Ledger]) -> (f64, f64) {
    let own = |e: &Ledger| e.kinetic + e.potential;
    let (least, most) =
        energy.iter().map(own).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), e| (a.min(e), b.max(e)));
    let (mut lowest, mut grown, mut residual) = (f64::INFINITY, 0.0_f64, 0.0_f64);
    for e in energy {
        lowest = lowest.min(own(e) - e.put_in());
        grown = grown.max(own(e) - e.put_in() - lowest);
        residual = residual.max(e.residual().abs());
    }
    (grown / (most - least), residual / (most - least))
}

#[test]
fn heaps_never_gain_energy() {
    for restitution in [0.0, 0.5] {
        for seed in 0..10 {
            let model = model(&heap(seed, restitution));
            let (recording, summary) = recorded(&model, 2.5, &one_thread());
            let (grown, residual) = growth(&recording.energy);
            println!(
                "e = {restitution}, seed {seed}: grown {grown:.1e}, residual {residual:.1e}, {} of {} not converged",
                summary.solutions.unconverged, summary.solutions.direct
            );
            assert!(residual < 1e-9, "e = {restitution}, seed {seed}: residual {residual:e}");
            // overlaps that a step left are pushed out: a little lift
            assert!(grown < 1e-4, "e = {restitution}, seed {seed}: energy grew by {grown:e}");
            for (body, state) in model.bodies.iter().zip(&summary.bodies) {
                assert!(state.position.z > -1e-3, "e = {restitution}, seed {seed}: {} fell through", body.name);
            }
        }
    }
}

/// A bucket enters loose stones that are swept: the patches of its mesh come and go, and with them the springs of their friction. What these store is
/// booked where it came from.
#[test]
fn friction_of_patches_that_come_and_go_books_a_loss() {
    let text = include_str!("../../../../../scenes/belgian_blocks.toml").replace("\"-0.9 m\", 0,", "\"-0.4 m\", 0,");
    let scene = Scene::parse("belgian_blocks.toml", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
    let model = Model::compile(&scene).unwrap_or_else(|e| panic!("{e}"));
    let settings = Settings { threads: 1, ..Settings::from_scene(&scene) };
    let mut state = State::start(&model);
    let mut last = run(&model, &mut state, 0.1, &settings).energy;
    for k in 1..=5 {
        let energy = run(&model, &mut state, 0.1 + 0.02 * f64::from(k), &settings).energy;
        let [sliding, own] =
            [energy[Cause::Sliding] - last[Cause::Sliding], energy[Cause::Integration] - last[Cause::Integration]];
        println!("t = {} s: sliding {sliding:.3} J, integration {own:.3} J", state.time);
        assert!(sliding > -0.5, "sliding gave {} J", -sliding);
        assert!(own.abs() < 0.5, "the step itself lost {own} J");
        last = energy;
    }
    assert!(
        last.put_in() > 5.0 && last[Cause::Sliding] > 1.0,
        "work {} J, sliding {} J",
        last.put_in(),
        last[Cause::Sliding]
    );
}

/// Shares of linear and angular momentum that a box and a capsule lose when they meet in space.
fn lost_momenta(restitution: f64) -> [f64; 2] {
    let model = model(&format!(
        r#"
        [world]
        gravity = [0, 0, 0]
        [[pair]]
        materials = ["steel", "steel"]
        friction = 0.4
        restitution = {restitution}
        [[body]]
        name = "left"
        material = "steel"
        mass = 2
        shape = {{ kind = "box", size = [0.2, 0.3, 0.25] }}
        position = [-1, 0.02, 0]
        orientation = {{ axis = [1, 2, 3], angle = 0.7 }}
        velocity = [3, 0, 0.1]
        angular_velocity = [1, 2, -1]
        [[body]]
        name = "right"
        material = "steel"
        mass = 3
        shape = {{ kind = "capsule", radius = 0.1, length = 0.2 }}
        position = [0.5, 0, 0]
        velocity = [-1, 0, 0]
        angular_velocity = [0, -3, 1]
        "#
    ));
    let momenta = |state: &State| {
        let (mut linear, mut angular) = (Vec3::ZERO, Vec3::ZERO);
        for (body, s) in model.bodies.iter().zip(state.bodies()) {
            linear += s.v * body.mass;
            angular += s.p.cross(s.v * body.mass) + s.q * (body.I_c * (s.q.conjugate() * s.w));
        }
        [linear, angular]
    };
    let mut state = State::start(&model);
    let (before, v) = (momenta(&state), state.bodies()[0].v);
    run(&model, &mut state, 1.5, &one_thread());
    let after = momenta(&state);
    assert!((state.bodies()[0].v - v).length() > 0.5, "they did not meet");
    [0, 1].map(|k| (after[k] - before[k]).length() / before[k].length())
}

#[test]
fn colliding_bodies_keep_their_momentum() {
    for restitution in [0.0, 0.5, 0.9] {
        let [linear, _] = lost_momenta(restitution);
        assert!(linear < 1e-12, "e = {restitution}: momentum off by {linear:e}");
    }
}

#[test]
fn colliding_bodies_keep_their_angular_momentum() {
    for restitution in [0.0, 0.5, 0.9] {
        let [_, angular] = lost_momenta(restitution);
        // they touch to 1e-9 of their size
        assert!(angular < 1e-9, "e = {restitution}: angular momentum off by {angular:e}");
    }
}

/// Blocks of 4:2:1 that tumble at some 20 rad/s and meet several times, at 1/60 s: a third of a turn in a step.
#[test]
fn tumbling_blocks_keep_their_angular_momentum() {
    let blocks = |shape: &str| {
        model(&format!(
            r#"
            [world]
            gravity = [0, 0, 0]
            [contact]
            friction = 0
            restitution = 0.5
            [defaults]
            material = "steel"
            [[solid]]
            name = "block"
            kind = "box"
            size = [0.2, 0.1, 0.05]
            [[body]]
            name = "a"
            shape = {shape}
            velocity = [1, 0.1, 0]
            angular_velocity = [0.5, 1, 3]
            [[body]]
            name = "b"
            shape = {shape}
            position = [0.4, 0.06, 0.01]
            velocity = [-1.5, -0.2, 0]
            angular_velocity = [-1, 2, 5]
            orientation = {{ axis = [1, 1, 0], angle = "40 deg" }}
            "#
        ))
    };
    for (shape, most) in
        [(r#"{ kind = "box", size = [0.2, 0.1, 0.05] }"#, 1e-6), (r#"{ kind = "mesh", solid = "block" }"#, 0.02)]
    {
        let model = blocks(shape);
        let angular = |state: &State| {
            let both = model.bodies.iter().zip(state.bodies());
            both.map(|(b, s)| s.p.cross(s.v * b.mass) + s.q * (b.I_c * (s.q.conjugate() * s.w))).sum::<Vec3>()
        };
        let mut state = State::start(&model);
        let before = angular(&state);
        run(&model, &mut state, 0.3, &one_thread());
        let lost = (angular(&state) - before).length() / before.length();
        println!("{shape}: {lost:e}");
        assert!(state.bodies()[0].w.length() > 15.0 && lost < most, "{shape}: {lost:e}");
    }
}

/// Energy of a chain of 20 links of 1 kg with a load at its end that is let go at an angle from the vertical [deg]: largest growth over 6 s as
/// a share of what there is to fall.
fn chain_gain(load: f64, tilt: f64) -> f64 {
    let (s, c) = libm::sincos(tilt.to_radians());
    let mut text = steel(0.5, 0.0);
    for k in 0..21 {
        let (mass, inertia) = if k == 20 { (load, 0.1 * load) } else { (1.0, 0.02) };
        let parent = if k == 0 { "world".to_owned() } else { format!("link{}", k - 1) };
        let (centre, joint) = (0.25 + 0.5 * f64::from(k), 0.5 * f64::from(k));
        let _ = write!(
            text,
            r#"
            [[body]]
            name = "link{k}"
            mass = {mass}
            inertia = [{inertia}, {inertia}, {inertia}]
            position = [{:e}, 0, {:e}]
            [[joint]]
            name = "joint{k}"
            kind = "spherical"
            bodies = ["{parent}", "link{k}"]
            at = [{:e}, 0, {:e}]
            "#,
            s * centre,
            -c * centre,
            s * joint,
            -c * joint
        );
    }
    let model = model(&text);
    let mut recording = Recording::new(Subjects::of(&model));
    if simulate(&model, &mut State::start(&model), 6.0, &one_thread(), &mut recording).is_err() {
        return f64::INFINITY;
    }
    let first = recording.energy[0].stored();
    let gain = recording.energy.iter().map(|e| e.stored() - first).fold(0.0, f64::max);
    let fall = recording.energy.iter().map(|e| recording.energy[0].potential - e.potential).fold(0.0, f64::max);
    gain / fall
}

#[test]
fn a_heavy_chain_swings_without_gain() {
    for (load, tilt) in [(1e2, 30.0), (1e4, 30.0), (1e4, 60.0)] {
        let gain = chain_gain(load, tilt);
        println!("{load} kg from {tilt} deg: gains {gain:e}");
        assert!(gain < 0.02, "{load} kg from {tilt} deg: gains {gain:e}");
    }
}

#[test]
fn a_heavy_chain_from_the_horizontal_swings_without_gain() {
    for load in [1e2, 1e4] {
        let gain = chain_gain(load, 90.0);
        println!("{load} kg from 90 deg: gains {gain:e}");
        assert!(gain < 0.02, "{load} kg from 90 deg: gains {gain:e}");
    }
}
