//! Times a step of the ground: a blade of 32 slices that pushes a heap over 200 by 200 cells that are all awake, and the three sizes of
//! Chrono's benchmarks of soft ground under a wheel. `cargo run --release -p tippe-soil --example soil_step`

use std::time::Instant;
use tippe_geometry::{Pose, Quat, Shape, Vec3};
use tippe_soil::bearing::{Motion, Patch, Presser};
use tippe_soil::tool::{Tool, ToolRecord};
use tippe_soil::{Ground, SoilKind, Start, StartLayer};

const H: f64 = 1.0 / 60.0;

fn ground(soil: &str, cell: f64, counts: [usize; 2]) -> Ground {
    let kind = SoilKind::named(soil).unwrap_or_else(|| panic!("no soil {soil}"));
    let layer = StartLayer { kind: 0, thickness: 1.0, void_ratio: kind.loose(), yield_pressure: 1e3 };
    let start = Start { level: 0.0, layers: vec![layer], features: Vec::new(), relief: None };
    Ground::new(vec![kind], start, cell, [0.0; 2], counts)
}

fn moving(at: Vec3, v: Vec3) -> Motion {
    Motion { X_wc: Pose::new(Quat::IDENTITY, at), v, w: Vec3::ZERO }
}

fn blade() {
    let mut ground = ground("loam", 0.1, [200, 200]);
    let tool = Tool {
        name: "blade".into(),
        body: 0,
        edge: [Vec3::new(0.0, -1.6, 0.0), Vec3::new(0.0, 1.6, 0.0)],
        top: Vec3::new(-0.35, 0.0, 0.6),
        thickness: 0.02,
        teeth: (0, 0.0),
        bucket: None,
        loosens: Vec::new(),
    };
    let mut record = ToolRecord::default();
    let mass = ground.mass();
    let (steps, speed) = (600, 1.0);
    let (mut bites, mut rest) = (0.0, 0.0);
    for k in 0..steps {
        // all cells are looked at
        (0..200).step_by(16).for_each(|i| (0..200).step_by(16).for_each(|j| ground.wake([i, j])));
        let [from, to] =
            [k, k + 1].map(|k| moving(Vec3::new(2.0 + speed * f64::from(k) * H, 10.0, -0.15), Vec3::X * speed));
        let begin = Instant::now();
        let bite = tool.bite(&ground, &from, 9.81);
        bites += begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let places = [&from, &to].map(|motion| tool.placed(motion));
        if let ([Some(a), Some(b)], Some(_)) = (&places, &bite) {
            tool.sweep(&mut ground, &mut record, a, b);
            ground.settle(H, 9.81, &[tool.fence(b)], &[]);
        }
        rest += begin.elapsed().as_secs_f64();
    }
    println!(
        "blade, 32 slices, 200 x 200 cells: {:.3} ms to cut, {:.3} ms to move and slide, mass off by {:.1e}",
        1e3 * bites / f64::from(steps),
        1e3 * rest / f64::from(steps),
        (ground.mass() - mass) / mass
    );
}

fn wheel(name: &str, size: [f64; 2], cell: f64) {
    let mut ground = ground("sand", cell, size.map(|x| (x / cell).round() as usize));
    let shape = Shape::Cylinder { radius: 0.5, half_height: 0.15, smoothing: 0.0 };
    let lying = Pose::new(Quat::from_rotation_x(std::f64::consts::FRAC_PI_2), Vec3::ZERO);
    let presser = Presser { body: 0, shapes: vec![(shape, lying)] };
    let steps = 200;
    let begin = Instant::now();
    let mut cells = 0;
    for k in 0..steps {
        let x = (0.7 + f64::from(k) * H).min(size[0] - 0.7);
        let motion = Motion { w: Vec3::Y * 2.4, ..moving(Vec3::new(x, 0.5 * size[1].min(2.0), 0.46), Vec3::X) };
        let patch = Patch::of(&ground, &presser, &motion);
        let mut rows = Vec::new();
        patch.rows(ground.area(), 0, &motion, H, &mut rows);
        patch.leave(&mut ground, 0, &motion, H);
        ground.settle(H, 9.81, &[], &[]);
        cells += patch.nodes.len();
    }
    let time = begin.elapsed().as_secs_f64();
    let tiles = ground.tiles().count();
    println!(
        "wheel on {name}: {:.3} ms a step, {} cells under it, {tiles} tiles, {:.1} MB",
        1e3 * time / f64::from(steps),
        cells / steps as usize,
        tiles as f64 * 256.0 * std::mem::size_of::<tippe_soil::Column>() as f64 * 1e-6
    );
}

fn main() {
    blade();
    wheel("10 x 1 m at 0.01 m", [10.0, 1.0], 0.01);
    wheel("50 x 50 m at 0.05 m", [50.0, 50.0], 0.05);
    wheel("300 x 300 m at 0.02 m", [300.0, 300.0], 0.02);
}
