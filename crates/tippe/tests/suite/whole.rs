//! An integrator from outside on the public right-hand side and its two event indicators.

use tippe::model::SignalSource;
use tippe::scene::Scene;
use tippe::{Model, Settings, State, Whole, simulate};

/// One event: when, whether it was the second indicator, and y there.
struct Passed {
    time: f64,
    begins: bool,
    y: Vec<f64>,
}

/// Dormand and Prince's pair of order 5(4): y after the step h, and the error of every component.
fn step(whole: &mut Whole, t: f64, y: &[f64], h: f64) -> (Vec<f64>, Vec<f64>) {
    const A: [&[f64]; 7] = [
        &[],
        &[1.0 / 5.0],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
        &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
        &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
        &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
    ];
    const C: [f64; 7] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];
    const LOWER: [f64; 7] =
        [5179.0 / 57600.0, 0.0, 7571.0 / 16695.0, 393.0 / 640.0, -92097.0 / 339200.0, 187.0 / 2100.0, 1.0 / 40.0];
    let n = y.len();
    let mut k: Vec<Vec<f64>> = Vec::new();
    let mut end = y.to_vec();
    for stage in 0..7 {
        end = (0..n).map(|i| y[i] + h * (0..stage).map(|j| A[stage][j] * k[j][i]).sum::<f64>()).collect();
        let mut rate = vec![0.0; n];
        whole.rates(t + C[stage] * h, &end, &mut rate);
        k.push(rate);
    }
    let error = (0..n)
        .map(|i| h * (0..7).map(|j| (LOWER[j] - A[6].get(j).copied().unwrap_or(0.0)) * k[j][i]).sum::<f64>())
        .collect();
    (end, error)
}

/// Advances to `until`; events are bisected on the step itself and handled on their far side. `at` are times to hit.
fn integrate(whole: &mut Whole, until: f64, tolerance: f64, at: &[f64]) -> (Vec<Passed>, Vec<Vec<f64>>) {
    let (mut t, mut y, mut h) = (0.0, whole.start(), 1e-6);
    let (mut events, mut states) = (Vec::new(), Vec::new());
    let mut stops = at.to_vec();
    stops.push(until);
    for &stop in &stops {
        while t < stop {
            let last = t + h >= stop;
            let tried = if last { stop - t } else { h };
            let (end, error) = step(whole, t, &y, tried);
            let size = error.iter().map(|e| e.abs()).fold(0.0, f64::max) / tolerance;
            if size > 1.0 {
                h = tried * (0.9 / libm::pow(size, 0.2)).max(0.2);
                continue;
            }
            h = if last { h } else { tried * (0.9 / libm::pow(size.max(1e-6), 0.2)).min(3.0) };
            let crossed = |z: [f64; 2]| z[0] > 0.0 || z[1] <= 0.0;
            let z = whole.indicators(t + tried, &end);
            if !crossed(z) {
                (t, y) = (if last { stop } else { t + tried }, end);
                whole.accept(t, &y);
                continue;
            }
            let (mut low, mut high) = (0.0, tried);
            while high - low > 1e-15 + 1e-12 * tried {
                let middle = 0.5 * (low + high);
                let (there, _) = step(whole, t, &y, middle);
                if crossed(whole.indicators(t + middle, &there)) {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            let (there, _) = step(whole, t, &y, high);
            (t, y) = (t + high, there);
            let begins = whole.indicators(t, &y)[1] <= 0.0;
            whole.handle_event(t, &mut y);
            events.push(Passed { time: t, begins, y: y.clone() });
            assert!(events.len() < 1000, "events without end at {t}");
            h = h.min(1e-6);
        }
        states.push(y.clone());
    }
    (events, states)
}

fn whole(scene: &str) -> Whole {
    let path = format!("{}/../../scenes/{scene}.toml", env!("CARGO_MANIFEST_DIR"));
    Whole::new(&Model::compile(&Scene::load(&path, &[]).unwrap()).unwrap())
}

#[test]
fn bouncing_to_rest_from_outside() {
    // as in scene `zeno`: start of all contacts; the last one stays
    let starts = [
        0.2019275109384609,
        0.47792514910199513,
        0.666468420164728,
        0.7952631402972705,
        0.8832373945129657,
        0.943322451246123,
        0.9843526369559493,
        1.0123632967895497,
        1.0314775347394145,
        1.0445120099780318,
        1.053390788047678,
        1.0594280394701314,
        1.0635210799237185,
        1.066281367770324,
        1.0681151134087299,
        1.0692504414483275,
    ];
    let (events, _) = integrate(&mut whole("zeno"), 1.08, 1e-11, &[]);
    let begun: Vec<f64> = events.iter().filter(|e| e.begins).map(|e| e.time).collect();
    assert_eq!(begun.len(), starts.len());
    assert_eq!(events.iter().filter(|e| !e.begins).count(), 15);
    for (a, b) in begun.iter().zip(starts) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

#[test]
fn two_balls_from_outside() {
    // as in scene `two_balls`
    let (events, states) = integrate(&mut whole("two_balls"), 0.2, 1e-11, &[0.1]);
    let hit: Vec<&Passed> = events.iter().filter(|e| e.time > 0.19).collect();
    assert_eq!(hit.len(), 2, "{:?}", events.iter().map(|e| e.time).collect::<Vec<_>>());
    assert!((hit[0].time - 0.19625114893853246).abs() < 1e-7, "{}", hit[0].time);
    assert!((hit[1].time - 0.19664797012314914).abs() < 1e-7, "{}", hit[1].time);
    // velocity of the first body is at 7, of the second at 13 + 7
    assert!((hit[1].y[20] - 1.414676033425973).abs() < 1e-6, "{}", hit[1].y[20]);
    assert!((hit[1].y[7] - 0.00012909883560029812).abs() < 1e-6, "{}", hit[1].y[7]);
    assert!((states[0][7] - 1.4215511144711417).abs() < 1e-6, "{}", states[0][7]);
}

/// Elastic stick from outside: a sliding block comes to rest and stays.
#[test]
fn a_sliding_block_sticks_from_outside() {
    let text = r#"
format = 1
title = "block"
[world]
gravity = [0, 0, -9.81]
[run]
until = 0.1
[contact]
k_red = 1e-3
restitution = 0.5
friction = 0.5
[[body]]
name = "table"
fixed = true
shape = { kind = "half_space" }
material = "steel"
[[body]]
name = "block"
shape = { kind = "box", size = [0.2, 0.2, 0.1] }
material = "steel"
position = [0, 0, 0.05]
velocity = [0.05, 0, 0]
"#;
    let model = Model::compile(&Scene::parse("block.toml", text, &[]).unwrap()).unwrap();
    let mut whole = Whole::new(&model);
    let (_, states) = integrate(&mut whole, 0.1, 1e-10, &[0.06]);
    // v^2/(2 mu g)
    assert!((states[1][0] - 0.05 * 0.05 / (2.0 * 0.5 * 9.81)).abs() < 1e-5, "{}", states[1][0]);
    assert!((states[1][0] - states[0][0]).abs() < 1e-8, "{}", states[1][0] - states[0][0]);
}

/// n steps of the classical method of order 4; loops are closed after each.
fn fixed_steps(whole: &mut Whole, until: f64, n: usize) -> Vec<f64> {
    let mut y = whole.start();
    let h = until / n as f64;
    let len = y.len();
    for step in 0..n {
        let t = step as f64 * h;
        let mut k = vec![vec![0.0; len]; 4];
        for (stage, share) in [0.0, 0.5, 0.5, 1.0].into_iter().enumerate() {
            let at: Vec<f64> = match stage {
                0 => y.clone(),
                _ => (0..len).map(|i| y[i] + share * h * k[stage - 1][i]).collect(),
            };
            whole.rates(t + share * h, &at, &mut k[stage]);
        }
        for i in 0..len {
            y[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
        }
        whole.project(t + h, &mut y);
        whole.accept(t + h, &y);
        if step + 1 < n && (whole.next_instant(t + 0.5 * h) - (t + h)).abs() < 0.1 * h {
            whole.handle_event(t + h, &mut y);
        }
    }
    y
}

/// From outside and by the clock: y and signals agree at `until`.
fn agree(model: &Model, until: f64, steps: usize, within: f64) {
    let settings = Settings { tolerance: 1e-11, threads: 1, ..Settings::default() };
    let summary = simulate(model, &mut State::start(model), until, &settings, &mut ()).unwrap();
    let mut outside = Whole::new(model);
    let y = fixed_steps(&mut outside, until, steps);
    let clock = Whole::at(model, until, &settings).unwrap().start();
    assert_eq!(y.len(), clock.len());
    for (k, (a, b)) in y.iter().zip(&clock).enumerate() {
        assert!((a - b).abs() < within, "y[{k}]: {a} {b}, difference {:e}", a - b);
    }
    // coordinates without quaternions are in y as they are recorded, those of joints that close loops are measured
    for (signal, value) in model.signals.iter().zip(&summary.signals) {
        if matches!(signal.source, SignalSource::Sensor { .. }) {
            continue;
        }
        if signal.name.ends_with(".angle") || signal.name.ends_with(".speed") || signal.name.ends_with(".position") {
            assert!(y.iter().any(|x| (x - value).abs() < within), "{} = {value} is not in {y:?}", signal.name);
        }
    }
}

fn gallery(scene: &str) -> Model {
    let path = format!("{}/../../scenes/{scene}.toml", env!("CARGO_MANIFEST_DIR"));
    Model::compile(&Scene::load(&path, &[]).unwrap()).unwrap()
}

#[test]
fn a_double_pendulum_from_outside() {
    let model = gallery("double_pendulum");
    assert_eq!(Whole::new(&model).len(), 4);
    agree(&model, 1.0, 2000, 1e-8);
}

#[test]
fn a_heavy_top_from_outside() {
    let model = gallery("heavy_top");
    // the quaternion of the ball joint and three rates
    assert_eq!(Whole::new(&model).len(), 7);
    agree(&model, 0.2, 4000, 1e-7);
}

#[test]
fn loops_from_outside() {
    agree(&gallery("slider_crank"), 0.3, 1500, 1e-8);
    let four_bar = r#"
format = 1
title = "four bars"
[world]
gravity = [0, -9.81, 0]
[run]
until = 1
[[body]]
name = "crank"
mass = 1
inertia = [1e-3, 1e-2, 1e-2]
position = [0, 0.15, 0]
[[body]]
name = "coupler"
mass = 2
inertia = [1e-3, 2e-2, 2e-2]
position = [0.4, 0.4, 0]
[[body]]
name = "rocker"
mass = 1.5
inertia = [1e-3, 1e-2, 1e-2]
position = [0.8, 0.25, 0]
[[joint]]
name = "a"
kind = "revolute"
bodies = ["world", "crank"]
at = [0, 0, 0]
speed = 2
[[joint]]
name = "b"
kind = "revolute"
bodies = ["crank", "coupler"]
at = [0, 0.3, 0]
[[joint]]
name = "c"
kind = "revolute"
bodies = ["coupler", "rocker"]
at = [0.8, 0.5, 0]
[[joint]]
name = "d"
kind = "revolute"
bodies = ["world", "rocker"]
at = [0.8, 0, 0]
"#;
    let model = Model::compile(&Scene::parse("four_bar.toml", four_bar, &[]).unwrap()).unwrap();
    agree(&model, 0.3, 1500, 1e-8);
}

#[test]
fn components_and_pulses_from_outside() {
    // the counter jumps at 1/3 s: short of that; the pulse begins at 1 s
    agree(&gallery("filter_pulse"), 0.3, 300, 1e-9);
    let text = r#"
format = 1
title = "a motor with its own current"
[world]
gravity = [0, 0, 0]
[run]
until = 1
[[body]]
name = "rotor"
mass = 1
inertia = [0.01, 0.01, 0.01]
[[joint]]
name = "shaft"
kind = "revolute"
bodies = ["world", "rotor"]
at = [0, 0, 0]
spring = { stiffness = 0.2, damping = 0.01 }
motor = { kind = "torque", value = "armature.torque" }
[[signal]]
name = "supply"
kind = "pulse"
from = 0.25
period = 0.5
width = 0.25
low = 0
high = 12
[[component]]
name = "armature"
inputs = { v = "supply", w = "shaft.speed" }
states = { i = 0 }
der = { i = "(v - 0.5*i - 0.1*w)/0.02" }
outputs = { torque = "0.1*i" }
"#;
    let model = Model::compile(&Scene::parse("motor.toml", text, &[]).unwrap()).unwrap();
    agree(&model, 0.6, 1200, 1e-7);
}
