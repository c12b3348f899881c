//! The cases of `bench/grains`: one line of JSON for each.
//!
//! grains balls5050
//! grains tile OUT                             6,500 spheres settled in a periodic column, 10.5 diameters wide
//! grains settle FILE WIDTH STEP WARM STEPS [OUT]   spheres x y z vx vy vz of FILE in a box, WIDTH wide [m]
//! grains realtime                             5,000 spheres of 30 mm poured, position-based: milliseconds per frame
//! grains drum FILE STL STEP WARM STEPS [OUT]

use std::time::Instant;
use tippe_geometry::{Pose, TriMesh, Vec3};
use tippe_granular::{
    Domain, Frame, Grain, Grains, Material, PairLaw, Random, Settings, Sizes, Surface, Wall, WallMesh, lattice,
};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = |k: usize| args.get(k).map(String::as_str).unwrap_or_default();
    let number = |k: usize| text(k).parse::<f64>().unwrap_or_else(|_| panic!("argument {k} must be a number"));
    match text(1) {
        "balls5050" => balls5050(),
        "tile" => tile(text(2)),
        "realtime" => realtime(),
        "settle" => write(&settle(text(2), number(3), number(4), number(5) as u64, number(6) as u64), text(7)),
        "drum" => write(&drum(text(2), text(3), number(4), number(5) as u64, number(6) as u64), text(7)),
        other => panic!("no case `{other}`: balls5050, tile, realtime, settle, drum"),
    }
}

/// Peak memory of this process [bytes].
fn peak_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|x| x.parse::<f64>().ok()).unwrap_or(f64::NAN) * 1024.0
}

/// Processor time of all threads of this process so far [s].
fn cpu_seconds() -> f64 {
    thread_seconds().iter().sum()
}

/// Processor time of each thread of this process so far [s].
fn thread_seconds() -> Vec<f64> {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
    let one = |task: std::fs::DirEntry| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        text.split_whitespace().next().and_then(|x| x.parse::<f64>().ok()).unwrap_or(0.0) * 1e-9
    };
    let mut tasks: Vec<std::fs::DirEntry> = tasks.flatten().collect();
    tasks.sort_by_key(|t| t.file_name());
    tasks.into_iter().map(one).collect()
}

fn read(path: &str, settings: &Settings, radius: f64) -> Grains {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let mut grains = Grains::new();
    grains.reserve(text.lines().count());
    for line in text.lines() {
        let mut x = line.split_whitespace().map(|x| x.parse::<f64>().unwrap_or(f64::NAN));
        let mut next = || Vec3::from_array([0; 3].map(|_| x.next().unwrap_or(f64::NAN)));
        let grain = Grain { position: next(), velocity: next(), ..Grain::at(Vec3::ZERO, radius) };
        grains.insert(&grain, settings).unwrap_or_else(|e| panic!("{path}: {e}"));
    }
    grains
}

fn run(case: &str, mut grains: Grains, settings: &Settings, mut walls: Vec<Wall>, warm: u64, steps: u64) -> Grains {
    grains.advance(settings, &mut walls, warm).unwrap_or_else(|e| panic!("{e}"));
    let (start, cpu) = (Instant::now(), thread_seconds());
    let report = grains.advance(settings, &mut walls, steps).unwrap_or_else(|e| panic!("{e}"));
    let seconds = start.elapsed().as_secs_f64();
    let spent: Vec<f64> = thread_seconds().iter().zip(&cpu).map(|(after, before)| after - before).collect();
    let (cpu, busiest) = (spent.iter().sum::<f64>(), spent.iter().copied().fold(0.0, f64::max));
    println!(
        "{{\"case\":\"{case}\",\"n\":{},\"dt\":{},\"steps\":{steps},\"seconds\":{seconds:.4},\"cpu_seconds\":{cpu:.4},\"busiest_thread_seconds\":{busiest:.4},\"million_particle_steps_per_s\":{:.3},\
         \"contacts_per_particle\":{:.3},\"rebuilds\":{},\"bytes_per_particle\":{:.0},\"arrays_per_particle\":{:.0},\
         \"kinetic_energy\":{:.9e},\"threads\":{},\"hash\":\"{:016x}\"}}",
        grains.len(),
        settings.step,
        grains.len() as f64 * steps as f64 / cpu / 1e6,
        grains.coordination(),
        report.rebuilds,
        peak_memory() / grains.len() as f64,
        grains.bytes() as f64 / grains.len() as f64,
        grains.kinetic_energy(),
        rayon::current_num_threads(),
        grains.hash(),
    );
    grains
}

/// A triangle of 5050 balls struck by one.
fn balls5050() {
    let material = Material { density: 1000.0, youngs_modulus: 1e8, poisson_ratio: 0.3 };
    let law = PairLaw { restitution: 1.0, friction: 0.0, rolling: Default::default(), cohesion: Default::default() };
    let settings = Settings::uniform(material, law, 8e-4, Vec3::ZERO);
    let mut grains = Grains::new();
    for layer in 1..=100 {
        for c in 1..=layer {
            let (x, y) = (f64::from(layer) * (3.0f64.sqrt() / 2.0), f64::from(c) - (f64::from(layer) + 1.0) / 2.0);
            grains.insert(&Grain::at(Vec3::new(x, y, 0.0), 0.5), &settings).expect("a ball");
        }
    }
    let striker = Grain { velocity: Vec3::X, ..Grain::at(Vec3::new(-5.0, 0.0, 0.0), 0.5) };
    let id = grains.insert(&striker, &settings).expect("the striker");
    let start = 0.5 / (1.0 / (1000.0 * std::f64::consts::PI / 6.0));
    let grains = run("balls5050", grains, &settings, Vec::new(), 0, 10_000);
    let after = grains.by_id()[id as usize].1.velocity.x;
    println!("{{\"striker\":{after:.6},\"kinetic_share\":{:.6}}}", grains.kinetic_energy() / start);
}

fn gravel() -> Settings {
    let material = Material { density: 2500.0, youngs_modulus: 5e6, poisson_ratio: 0.3 };
    let law = PairLaw { restitution: 0.5, friction: 0.5, rolling: Default::default(), cohesion: Default::default() };
    Settings::uniform(material, law, 1e-5, Vec3::new(0.0, 0.0, -9.81))
}

/// Writes x y z vx vy vz, if asked to.
fn write(grains: &Grains, path: &str) {
    let line = |(_, g): &(u32, Grain)| {
        let (x, v) = (g.position, g.velocity);
        format!("{} {} {} {} {} {}\n", x.x, x.y, x.z, v.x, v.y, v.z)
    };
    if !path.is_empty() {
        let text: String = grains.by_id().iter().map(line).collect();
        std::fs::write(path, text).unwrap_or_else(|e| panic!("{path}: {e}"));
    }
}

fn tile(path: &str) {
    let (d, count) = (0.005, 6500);
    let size = 10.5 * d;
    let domain = Domain { low: Vec3::Z * -d, high: Vec3::new(size, size, 0.5), periodic: [true, true, false] };
    let settings = Settings { step: 4e-5, domain: Some(domain), ..gravel() };
    let mut random = Random { seed: 20_240_501 };
    let mut grains = Grains::new();
    for k in 0..count {
        let cell = Vec3::new(f64::from(k % 10), f64::from(k / 10 % 10), f64::from(k / 100)) + 0.5;
        let position = cell * (size / 10.0) + random.cube() * (0.02 * d);
        let grain = Grain { velocity: random.cube() * 0.15, ..Grain::at(position, d / 2.0) };
        grains.insert(&grain, &settings).unwrap_or_else(|e| panic!("{e}"));
    }
    let grains = run("tile", grains, &settings, vec![Wall::plane(Vec3::ZERO, Vec3::Z)], 0, 10_500);
    write(&grains, path);
}

fn realtime() {
    let settings = gravel();
    let sizes = Sizes::Same { radius: 0.03 };
    let (low, high) = (Vec3::new(-0.6, -0.6, 0.0), Vec3::new(0.6, 0.6, 2.0));
    let mut grains = Grains::new();
    for grain in lattice(low, high, &sizes, 5000, 0.1, &mut Random { seed: 1 }) {
        grains.insert(&grain, &settings).unwrap_or_else(|e| panic!("{e}"));
    }
    let frame = Frame { time: 1.0 / 60.0, substeps: 4, stiffness: 1e5 };
    let mut walls = [Wall::plane(Vec3::ZERO, Vec3::Z)];
    let mut spent = Vec::new();
    for _ in 0..240 {
        let start = cpu_seconds();
        grains.advance_frame(&settings, &mut walls, &frame).unwrap_or_else(|e| panic!("{e}"));
        spent.push((cpu_seconds() - start) * 1e3);
    }
    spent.sort_by(f64::total_cmp);
    println!(
        "{{\"case\":\"realtime\",\"n\":{},\"kinetic_energy\":{:.4},\"median_ms\":{:.3},\"worst_ms\":{:.3},\"rebuilds\":{}}}",
        grains.len(),
        grains.kinetic_energy(),
        spent[spent.len() / 2],
        spent[spent.len() - 1],
        grains.rebuilds
    );
}

fn settle(path: &str, width: f64, step: f64, warm: u64, steps: u64) -> Grains {
    let settings = Settings { step, ..gravel() };
    let walls = vec![
        Wall::plane(Vec3::ZERO, Vec3::Z),
        Wall::plane(Vec3::ZERO, Vec3::X),
        Wall::plane(Vec3::X * width, -Vec3::X),
        Wall::plane(Vec3::ZERO, Vec3::Y),
        Wall::plane(Vec3::Y * width, -Vec3::Y),
    ];
    let grains = read(path, &settings, 0.0025);
    run("settle", grains, &settings, walls, warm, steps)
}

/// Corners of an ASCII STL file, three by three.
fn read_stl(path: &str) -> TriMesh {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let mut mesh = TriMesh::default();
    for line in text.lines().filter_map(|l| l.trim().strip_prefix("vertex ")) {
        let mut x = line.split_whitespace().map(|x| x.parse::<f64>().unwrap_or(f64::NAN));
        mesh.vertices.push(Vec3::from_array([0; 3].map(|_| x.next().unwrap_or(f64::NAN))));
    }
    mesh.triangles = (0..mesh.vertices.len() as u32 / 3).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    mesh
}

fn drum(path: &str, stl: &str, step: f64, warm: u64, steps: u64) -> Grains {
    let settings = Settings { step, ..gravel() };
    let mesh = WallMesh::new(&read_stl(stl)).unwrap_or_else(|e| panic!("{stl}: {e}"));
    let mut shell = Wall::new(Surface::Mesh(mesh.into()), Pose::IDENTITY);
    shell.spin = Vec3::X * (2.0 * std::f64::consts::PI * 15.0 / 60.0);
    let length = 50.0 * 0.005;
    let walls = vec![shell, Wall::plane(Vec3::ZERO, Vec3::X), Wall::plane(Vec3::X * length, -Vec3::X)];
    let grains = read(path, &settings, 0.0025);
    run("drum", grains, &settings, walls, warm, steps)
}
