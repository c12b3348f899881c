//! Tippe as one more engine of the peers' benchmark: reads a token file, runs the realtime clock, writes the trajectory.
//!
//! `peer CONFIG scene.txt out.bin cap_s`; CONFIG is `direct` or `sweeps`. The formats are those of bench/peers/README.md.

use std::fmt::Write as _;
use std::io::Write as _;
use tippe::realtime::{Clock, Settings, Solver, State};
use tippe::{Model, scene::Scene};

/// Seconds of processor time of this thread.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) * 1e-9
}

/// A scene of what the token file says, and time step, steps, and how often to write.
fn scene_of(text: &str) -> Option<(String, f64, u64, u64)> {
    let mut out = String::from("format = 1\ntitle = \"peer\"\n");
    let (mut surfaces, mut bodies, mut joints) = (Vec::<(f64, f64)>::new(), String::new(), String::new());
    let (mut gravity, mut time) = ([0.0; 3], (0.0, 0, 0));
    let (mut statics, mut movers, mut hinges) = (0, 0, 0);
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let x: Vec<f64> = words.iter().map(|w| w.parse().unwrap_or(f64::NAN)).collect();
        let mut surface = |mu: f64, e: f64| {
            surfaces.iter().position(|s| *s == (mu, e)).unwrap_or_else(|| {
                surfaces.push((mu, e));
                surfaces.len() - 1
            })
        };
        match *words.first()? {
            "gravity" => gravity = [x[1], x[2], x[3]],
            "time" => time = (x[1], x[2] as u64, x[3] as u64),
            "static" if words[1] == "plane" => {
                let s = surface(x[8], x[9]);
                statics += 1;
                let _ = write!(
                    bodies,
                    "[[body]]\nname = \"static_{statics}\"\nfixed = true\nmaterial = \"m{s}\"\nposition = [{:e}, {:e}, {:e}]\nshape = {{ kind = \"half_space\", normal = [{:e}, {:e}, {:e}] }}\n",
                    x[5], x[6], x[7], x[2], x[3], x[4]
                );
            }
            "static" => {
                let s = surface(x[8], x[9]);
                statics += 1;
                let _ = write!(
                    bodies,
                    "[[body]]\nname = \"static_{statics}\"\nfixed = true\nmaterial = \"m{s}\"\nposition = [{:e}, {:e}, {:e}]\nshape = {{ kind = \"box\", size = [{:e}, {:e}, {:e}] }}\n",
                    x[5],
                    x[6],
                    x[7],
                    2.0 * x[2],
                    2.0 * x[3],
                    2.0 * x[4]
                );
            }
            "body" => {
                let s = surface(x[19], x[20]);
                let shape = match words[1] {
                    "sphere" => format!("shape = {{ kind = \"sphere\", radius = {:e} }}", x[2]),
                    "box" => format!(
                        "shape = {{ kind = \"box\", size = [{:e}, {:e}, {:e}] }}",
                        2.0 * x[2],
                        2.0 * x[3],
                        2.0 * x[4]
                    ),
                    _ => "shape = { kind = \"sphere\", radius = 0.01, collide = false }".to_owned(),
                };
                let _ = write!(
                    bodies,
                    "[[body]]\nname = \"body_{movers}\"\nmaterial = \"m{s}\"\nposition = [{:e}, {:e}, {:e}]\norientation = [{:e}, {:e}, {:e}, {:e}]\nvelocity = [{:e}, {:e}, {:e}]\nmass = {:e}\ninertia = [{:e}, {:e}, {:e}]\n{shape}\n",
                    x[5], x[6], x[7], x[8], x[9], x[10], x[11], x[12], x[13], x[14], x[15], x[16], x[17], x[18]
                );
                movers += 1;
            }
            "joint" => {
                let name = |k: f64| if k < 0.0 { "world".to_owned() } else { format!("body_{k}") };
                let kind = if words[1] == "ball" { "spherical" } else { "revolute" };
                let axis = if words[1] == "ball" {
                    String::new()
                } else {
                    format!("axis = [{:e}, {:e}, {:e}]\n", x[7], x[8], x[9])
                };
                hinges += 1;
                let _ = write!(
                    joints,
                    "[[joint]]\nname = \"joint_{hinges}\"\nkind = \"{kind}\"\nbodies = [\"{}\", \"{}\"]\nat = [{:e}, {:e}, {:e}]\n{axis}",
                    name(x[2]),
                    name(x[3]),
                    x[4],
                    x[5],
                    x[6]
                );
            }
            _ => {}
        }
    }
    let _ = write!(
        out,
        "[world]\ngravity = [{:e}, {:e}, {:e}]\n[run]\nuntil = {:e}\n",
        gravity[0],
        gravity[1],
        gravity[2],
        time.0 * time.1 as f64
    );
    for (k, a) in surfaces.iter().enumerate() {
        let _ = write!(out, "[materials.m{k}]\ndensity = 7850\nyoung = 2.1e11\npoisson = 0.3\n");
        for (j, b) in surfaces.iter().enumerate().take(k + 1) {
            let _ = write!(
                out,
                "[[pair]]\nmaterials = [\"m{j}\", \"m{k}\"]\nrestitution = {}\nfriction = {}\nrolling = 0\n",
                a.1 * b.1,
                a.0 * b.0
            );
        }
    }
    Some((out + &bodies + &joints, time.0, time.1, time.2))
}

fn main() -> Result<(), String> {
    let args: Vec<String> = std::env::args().collect();
    let [_, config, file, out, cap] = args.as_slice() else { return Err("peer CONFIG scene.txt out.bin cap_s".into()) };
    let text = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
    let (scene, dt, steps, every) = scene_of(&text).ok_or("not a token file")?;
    let scene = Scene::parse("peer.toml", &scene, &[]).map_err(|e| format!("{e:?}"))?;
    let model = Model::compile(&scene).map_err(|e| format!("{e:?}"))?;
    let solver = if config == "sweeps" { Solver::Sweeps } else { Solver::Direct };
    let settings = Settings { step: dt, threads: 1, solver, ..Settings::default() };
    let state = State::start(&model);
    let mut clock = Clock::resume(&model, &state, &settings);
    let free: Vec<usize> = (0..model.bodies.len()).filter(|&b| model.bodies[b].mass.is_finite()).collect();
    let mut frames: Vec<f64> = Vec::new();
    let mut frame = |state: &State| {
        frames.push(state.time);
        for &b in &free {
            let s = &state.bodies()[b];
            frames.extend([s.p.x, s.p.y, s.p.z, s.q.w, s.q.x, s.q.y, s.q.z, s.v.x, s.v.y, s.v.z, s.w.x, s.w.y, s.w.z]);
        }
    };
    frame(&clock.state);
    let cap: f64 = cap.parse().map_err(|_| "cap_s")?;
    let before = cpu();
    let (mut wall, mut done) = (0.0, 0);
    while done < steps {
        let started = std::time::Instant::now();
        let count = every.min(steps - done);
        for _ in 0..count {
            clock.step();
        }
        wall += started.elapsed().as_secs_f64();
        done += count;
        frame(&clock.state);
        if cpu() - before > cap || !clock.state.bodies().iter().all(|s| s.p.is_finite() && s.v.is_finite()) {
            break;
        }
    }
    let used = cpu() - before;
    let size = 1 + 13 * free.len();
    let head = [done as f64, wall, used, free.len() as f64, (frames.len() / size) as f64];
    let bytes: Vec<u8> = head.iter().chain(&frames).flat_map(|x| x.to_le_bytes()).collect();
    std::fs::File::create(out).and_then(|mut f| f.write_all(&bytes)).map_err(|e| e.to_string())
}
