//! Hooks of the realtime clock, and hands that pull in it.

use crate::common::scenes::{FLOOR, G, cube, index, model, one_thread, run, steel};
use tippe::joint::Six;
use tippe::realtime::{CustomRow, Grip, Hook, Owner, Pull, STEP, Settings, State, Touch, View, simulate_with};
use tippe::{Cause, Model, Observe, Summary};
use tippe_geometry::Vec3;
use tippe_numerics::kkt::{Row, Tie};

fn resting_box(friction: f64) -> Model {
    model(&format!("{}{FLOOR}{}", steel(friction, 0.0), cube("box", 0.0, 0.0, 0.1)))
}

fn hooked(model: &Model, state: &mut State, until: f64, hook: &mut dyn Hook) -> Summary {
    simulate_with(model, state, until, &one_thread(), &mut [hook], &mut ()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_hook_hears_of_contacts() {
    #[derive(Default)]
    struct Count {
        steps: usize,
        touches: usize,
        pairs: usize,
    }
    impl Hook for Count {
        fn contacts(&mut self, view: &View<'_>, touches: &mut [Touch], grips: &mut [Grip]) {
            assert_eq!(view.time, self.steps as f64 * view.step);
            self.steps += 1;
            self.touches += touches.len();
            self.pairs += grips.len();
        }
    }
    let model = resting_box(0.5);
    let mut count = Count::default();
    hooked(&model, &mut State::start(&model), 1.0, &mut count);
    // four corners of one pair in every one of the 60 steps
    assert_eq!((count.steps, count.touches, count.pairs), (60, 240, 60));
}

#[test]
fn a_hook_takes_friction_away() {
    struct Ice(bool);
    impl Hook for Ice {
        fn contacts(&mut self, _: &View<'_>, _: &mut [Touch], grips: &mut [Grip]) {
            if self.0 {
                for grip in grips {
                    grip.mu = [0.0; 2];
                }
            }
        }
    }
    // 20 degrees, mu = 0.5: it sticks unless there is ice
    let (s, c) = libm::sincos(20.0_f64.to_radians());
    let model = model(&format!(
        "[world]\ngravity = [{:e}, 0, {:e}]\n[[pair]]\nmaterials = [\"steel\", \"steel\"]\nfriction = 0.5\nrestitution = 0\n{FLOOR}{}",
        G * s,
        -G * c,
        cube("box", 0.0, 0.0, 0.1)
    ));
    let body = index(&model, "box");
    let end = |ice: bool| {
        let mut state = State::start(&model);
        hooked(&model, &mut state, 1.0, &mut Ice(ice));
        state.bodies()[body]
    };
    assert!(end(false).v.length() < 1e-9);
    let slid = end(true);
    assert!((slid.v.x / (G * s) - 1.0).abs() < 1e-9, "{}", slid.v);
    // and when it sleeps: the hook wakes it
    let settings = Settings { sleeping: true, ..one_thread() };
    let mut state = State::start(&model);
    let mut ice = Ice(false);
    simulate_with(&model, &mut state, 2.0, &settings, &mut [&mut ice], &mut ()).unwrap();
    assert_eq!(state.bodies()[body].v, Vec3::ZERO);
    ice.0 = true;
    simulate_with(&model, &mut state, 3.0, &settings, &mut [&mut ice], &mut ()).unwrap();
    assert!((state.bodies()[body].v.x / (G * s) - 1.0).abs() < 1e-9, "{}", state.bodies()[body].v);
}

#[test]
fn a_hook_switches_points_off() {
    struct Off;
    impl Hook for Off {
        fn contacts(&mut self, _: &View<'_>, touches: &mut [Touch], _: &mut [Grip]) {
            for touch in touches {
                touch.on = false;
            }
        }
    }
    let model = resting_box(0.5);
    let body = index(&model, "box");
    for sleeping in [false, true] {
        let settings = Settings { sleeping, ..one_thread() };
        let mut state = State::start(&model);
        run(&model, &mut state, 1.0, &settings);
        assert!((state.bodies()[body].p.z - 0.1).abs() < 1e-6);
        simulate_with(&model, &mut state, 2.0, &settings, &mut [&mut Off], &mut ()).unwrap();
        // free fall for one second
        let (z, v) = (state.bodies()[body].p.z, state.bodies()[body].v.z);
        assert!((v + G).abs() < 1e-6, "sleeping {sleeping}: {v} m/s");
        assert!((z - 0.1 + 0.5 * G).abs() < 0.1, "sleeping {sleeping}: at {z} m");
    }
}

#[test]
fn a_row_of_a_hook_holds_a_body() {
    /// The body climbs at 0.25 m/s.
    struct Winch {
        body: usize,
        impulse: f64,
        rows: usize,
    }
    impl Hook for Winch {
        fn rows(&mut self, _: &View<'_>, rows: &mut Vec<CustomRow>) {
            rows.push(CustomRow {
                ends: vec![(self.body, Six::new(Vec3::ZERO, Vec3::Z))],
                target: 0.25,
                ..CustomRow::default()
            });
        }
        fn after_solve(&mut self, view: &View<'_>, rows: &[Row], owners: &[Owner], velocities: &[Six]) {
            assert_eq!(view.step, STEP);
            assert_eq!(rows.len(), owners.len());
            for (row, owner) in rows.iter().zip(owners) {
                if *owner == Owner::Custom(0) {
                    self.impulse = row.lambda;
                    self.rows += 1;
                }
            }
            assert!((velocities[self.body].linear.z - 0.25).abs() < 1e-9);
        }
    }
    let model = model(&format!("{}{}", steel(0.5, 0.0), cube("box", 0.0, 0.0, 5.0)));
    let body = index(&model, "box");
    let mut winch = Winch { body, impulse: 0.0, rows: 0 };
    let mut state = State::start(&model);
    let summary = hooked(&model, &mut state, 2.0, &mut winch);
    assert_eq!(winch.rows, 120);
    assert!((winch.impulse / (G * STEP) - 1.0).abs() < 1e-8, "{}", winch.impulse);
    assert!((state.bodies()[body].p.z - 5.5).abs() < 1e-8, "{}", state.bodies()[body].p);
    // its work is in the books: the lift, and the speed
    assert!(
        (summary.energy[Cause::Work] - (G * 0.5 + 0.5 * 0.25 * 0.25)).abs() < 0.05,
        "{}",
        summary.energy[Cause::Work]
    );
    assert!(summary.energy.residual().abs() < 1e-9, "{:e}", summary.energy.residual());
}

/// A row that watches the speed along x and pushes along x and z: a body that is to reach 0.5 m/s and may be pushed with 0.1 N s in a
/// step gets as much upwards as forwards. Pivoting solves it, and its work is what its force does.
#[test]
fn a_row_of_a_hook_pushes_elsewhere_than_it_looks() {
    struct Wedge(usize);
    impl Hook for Wedge {
        fn rows(&mut self, _: &View<'_>, rows: &mut Vec<CustomRow>) {
            rows.push(CustomRow {
                ends: vec![(self.0, Six::new(Vec3::ZERO, Vec3::X))],
                force: vec![(self.0, Six::new(Vec3::ZERO, Vec3::X + Vec3::Z))],
                target: 0.5,
                lower: 0.0,
                upper: 0.1,
                ..CustomRow::default()
            });
        }
    }
    let free = model(&format!("{}{}", steel(0.5, 0.0), cube("box", 0.0, 0.0, 5.0)));
    let body = index(&free, "box");
    let mut state = State::start(&free);
    let summary = hooked(&free, &mut state, 10.0 * STEP, &mut Wedge(body));
    let v = state.bodies()[body].v;
    assert!((v.x - 0.5).abs() < 1e-9 && (v.z - (0.5 - 10.0 * G * STEP)).abs() < 1e-9, "{v}");
    assert_eq!((summary.solutions.pivoted, summary.solutions.lemke, summary.solutions.unconverged), (10, 0, 0));
    assert!(summary.energy.residual().abs() < 1e-9, "{:e}", summary.energy.residual());
    // on the floor it is pressed against a contact as well: N = m g h - lambda
    let rests = resting_box(0.0);
    let body = index(&rests, "box");
    let mut state = State::start(&rests);
    let summary = hooked(&rests, &mut state, 10.0 * STEP, &mut Wedge(body));
    let v = state.bodies()[body].v;
    assert!((v.x - 0.5).abs() < 1e-9 && v.z.abs() < 1e-5, "{v}");
    assert_eq!(summary.solutions.pivoted + summary.solutions.lemke, summary.solutions.direct);
    assert_eq!(summary.solutions.unconverged, 0);
}

/// Six cubes in free fall under one rope, sum of v_z >= 0: from rest it carries g h m/6 of each in a step; with half of
/// that as a bound they fall at half the rate. More than two bodies make one partition of them.
#[test]
fn a_row_of_a_hook_has_any_number_of_bodies_and_bounds() {
    struct Rope {
        bodies: Vec<usize>,
        upper: f64,
        impulse: f64,
    }
    impl Hook for Rope {
        fn rows(&mut self, _: &View<'_>, rows: &mut Vec<CustomRow>) {
            let ends = self.bodies.iter().map(|&b| (b, Six::new(Vec3::ZERO, Vec3::Z)));
            rows.push(CustomRow { ends: ends.collect(), lower: 0.0, upper: self.upper, ..CustomRow::default() });
        }
        fn after_solve_ties(&mut self, _: &View<'_>, ties: &[Tie], owners: &[Owner]) {
            assert_eq!((ties.len(), owners), (1, &[Owner::Custom(0)][..]));
            self.impulse = ties[0].lambda[0];
        }
    }
    let cubes: String = (0..6).map(|k| cube(&format!("box{k}"), f64::from(k), 0.0, 5.0)).collect();
    let model = model(&format!("{}{cubes}", steel(0.5, 0.0)));
    for (share, falls) in [(f64::INFINITY, 0.0), (0.5, 0.5)] {
        let bodies = (0..6).map(|k| index(&model, &format!("box{k}"))).collect();
        let mut rope = Rope { bodies, upper: share * G * STEP, impulse: 0.0 };
        let mut state = State::start(&model);
        let summary = hooked(&model, &mut state, 1.0, &mut rope);
        for b in &rope.bodies {
            let v = state.bodies()[*b].v.z;
            assert!((v + falls * G).abs() < 1e-8, "{v}");
        }
        assert!((rope.impulse / (G * STEP) - share.min(1.0)).abs() < 1e-8, "{}", rope.impulse);
        assert!(summary.energy.residual().abs() < 1e-8, "{:e}", summary.energy.residual());
    }
}

#[test]
fn a_row_of_a_hook_that_makes_no_sense_is_named() {
    struct Wrong(CustomRow);
    impl Hook for Wrong {
        fn rows(&mut self, _: &View<'_>, rows: &mut Vec<CustomRow>) {
            rows.push(self.0.clone());
        }
    }
    let model = resting_box(0.5);
    let ends = || vec![(index(&model, "box"), Six::new(Vec3::ZERO, Vec3::Z))];
    for (row, text) in [
        (CustomRow { ends: vec![(99, Six::ZERO)], ..CustomRow::default() }, "names body 99"),
        (CustomRow { ends: ends(), lower: 1.0, upper: 0.0, ..CustomRow::default() }, "the bounds 1 and 0"),
        (CustomRow { ends: ends(), target: f64::NAN, ..CustomRow::default() }, "not finite"),
        (CustomRow { ends: ends(), compliance: -1.0, ..CustomRow::default() }, "the compliance -1"),
    ] {
        let mut state = State::start(&model);
        let failure =
            simulate_with(&model, &mut state, 0.1, &one_thread(), &mut [&mut Wrong(row)], &mut ()).unwrap_err();
        let said = failure.to_string();
        assert!(said.contains("row of a hook \"0\"") && said.contains(text), "{said}");
    }
}

#[test]
fn a_hook_changes_a_bound_before_the_solution() {
    /// The floor gives at most half the weight.
    struct Weak(bool);
    impl Hook for Weak {
        fn before_solve(&mut self, view: &View<'_>, rows: &mut [Row], owners: &[Owner]) {
            for (row, owner) in rows.iter_mut().zip(owners) {
                if self.0 && matches!(owner, Owner::Normal(_)) {
                    row.upper = 0.5 * G * view.step / 4.0;
                }
            }
        }
    }
    let model = resting_box(0.5);
    let body = index(&model, "box");
    let end = |weak: bool| {
        let mut state = State::start(&model);
        hooked(&model, &mut state, 1.0, &mut Weak(weak));
        state.bodies()[body].v.z
    };
    assert!(end(false).abs() < 1e-9);
    assert!((end(true) + 0.5 * G).abs() < 1e-6, "{}", end(true));
}

#[test]
fn a_hook_sees_impulses_that_carry_the_weight() {
    #[derive(Default)]
    struct Sum(f64, usize);
    impl Hook for Sum {
        fn after_solve(&mut self, _: &View<'_>, rows: &[Row], owners: &[Owner], _: &[Six]) {
            let normals = || rows.iter().zip(owners).filter(|(_, o)| matches!(o, Owner::Normal(_)));
            self.0 = normals().map(|(row, _)| row.lambda).sum();
            self.1 = normals().count();
        }
    }
    let model = resting_box(0.5);
    let mut sum = Sum::default();
    hooked(&model, &mut State::start(&model), 1.0, &mut sum);
    assert_eq!(sum.1, 4);
    assert!((sum.0 / (G * STEP) - 1.0).abs() < 1e-9, "{}", sum.0);
}

#[test]
fn a_hand_pulls_a_body_and_a_recording_of_it_repeats_the_bits() {
    /// Pulls a corner of the box upwards for a second.
    struct Hand(Pull);
    impl Hook for Hand {
        fn pull(&mut self, view: &View<'_>) -> Option<Pull> {
            (view.time > 0.5 && view.time < 1.5).then_some(Pull { to: self.0.to + view.time * Vec3::X, ..self.0 })
        }
    }
    let model = model(&format!("{}{FLOOR}{}", steel(0.5, 0.3), cube("box", 0.0, 0.0, 0.1)));
    let body = index(&model, "box");
    let m = model.bodies[body].mass;
    let at = Vec3::splat(0.1);
    let pull = Pull { body, at, to: Vec3::new(0.0, 0.0, 1.0), stiffness: 40.0 * m, damping: 8.0 * m };
    let run = |hook: &mut dyn Hook, folder: Option<&std::path::Path>| {
        let mut state = State::start(&model);
        let mut lines = Lines(Vec::new());
        let summary = simulate_with(&model, &mut state, 2.0, &one_thread(), &mut [hook], &mut lines).unwrap();
        if let Some(folder) = folder {
            let text: Vec<String> = lines.0.iter().map(|(step, pull)| line(*step, *pull)).collect();
            std::fs::write(folder.join("inputs.jsonl"), text.join("\n")).unwrap();
        }
        (summary, state)
    };
    /// What is heard of the hand.
    struct Lines(Vec<(u64, Option<Pull>)>);
    impl Observe for Lines {
        fn pull(&mut self, step: u64, pull: Option<&Pull>) {
            self.0.push((step, pull.copied()));
        }
    }
    fn line(step: u64, pull: Option<Pull>) -> String {
        let Some(Pull { at, to, stiffness, damping, .. }) = pull else {
            return format!("{{\"step\":{step},\"pull\":null}}");
        };
        format!(
            "{{\"step\":{step},\"pull\":{{\"body\":\"box\",\"at\":{:?},\"to\":{:?},\"stiffness\":{stiffness:?},\"damping\":{damping:?}}}}}",
            at.to_array(),
            to.to_array()
        )
    }
    let dir = tempfile::tempdir().unwrap();
    let (pulled, state) = run(&mut Hand(pull), Some(dir.path()));
    let (alone, _) = run(&mut Hand(Pull { stiffness: f64::NAN, ..pull }), None);
    assert!(state.bodies()[body].p.distance(alone.bodies[body].position) > 0.1, "it was moved");
    // the hand's work is in the books
    assert!(pulled.energy[Cause::Work].abs() > 1.0, "{}", pulled.energy[Cause::Work]);
    assert!(pulled.energy.residual().abs() < 1e-6 * pulled.energy[Cause::Work].abs(), "{:e}", pulled.energy.residual());
    let mut replay = tippe::run::Replay::read(dir.path(), &model).unwrap();
    assert!(!replay.is_empty());
    assert_eq!(run(&mut replay, None).0.hash, pulled.hash);
    for (wrong, says) in [
        ("{\"step\":1,\"pull\":{\"body\":\"bix\",\"at\":[0,0,0],\"to\":[0,0,0],\"stiffness\":1,\"damping\":0}}", "bix"),
        (
            "{\"step\":1,\"pull\":{\"body\":\"floor\",\"at\":[0,0,0],\"to\":[0,0,0],\"stiffness\":1,\"damping\":0}}",
            "free",
        ),
        ("{\"step\":2,\"pull\":null}\n{\"step\":1,\"pull\":null}", "go back"),
    ] {
        std::fs::write(dir.path().join("inputs.jsonl"), wrong).unwrap();
        let message = tippe::run::Replay::read(dir.path(), &model).unwrap_err().to_string();
        assert!(message.contains(says), "{message}");
    }
}
