//! Overlap of two bumpy balls in shallow contact: time of volume and centroid, of the foundation, of the distance.
//!
//! `cargo bench -p tippe-geometry --bench mesh` ; `-- poses FOLDER` writes meshes and poses for `bench/mesh/manifold.py`;
//! `-- light` leaves out the heavy pair.
//!
//! 510 and 4,998 triangles each, 200 poses with an overlap of 1 to 5 % of the radius, as in the peers' runs; a random walk of
//! 2,000 steps of a thousandth of the radius with kept and with fresh buffers; two balls of 5,000, 50,000 and 100,000 triangles on
//! one and two threads, with the same bits; `-- heavy` makes these alone.
#![allow(non_snake_case)]

use std::f64::consts::PI;
use std::hint::black_box;
use std::time::Instant;
use tippe_geometry::{Pose, Quat, Surface, SurfaceWork, TriMesh, Vec3, foundation, surface_distance, surface_overlap};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn uniform(&mut self, a: f64, b: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        a + (b - a) * ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn direction(&mut self) -> Vec3 {
        loop {
            let v = Vec3::new(self.uniform(-1.0, 1.0), self.uniform(-1.0, 1.0), self.uniform(-1.0, 1.0));
            if v.length_squared() <= 1.0 && v.length_squared() > 1e-4 {
                return v.normalize();
            }
        }
    }

    fn rotation(&mut self) -> Quat {
        let (u, angle) = (self.direction(), self.uniform(0.0, 2.0 * PI));
        let (s, c) = libm::sincos(0.5 * angle);
        Quat::from_xyzw(u.x * s, u.y * s, u.z * s, c)
    }
}

/// Closed bumpy ball of about unit radius with 2 lon (lat - 1) triangles.
fn bumpy(lat: u32, lon: u32, phase: [f64; 2]) -> TriMesh {
    let at = |i: u32, j: u32| {
        let (theta, phi) = (PI * i as f64 / lat as f64, 2.0 * PI * j as f64 / lon as f64);
        let (st, ct) = libm::sincos(theta);
        let (sp, cp) = libm::sincos(phi);
        let bump = 0.1 * libm::sin(3.0 * phi + phase[0]) * st * st * st + 0.05 * libm::sin(4.0 * theta + phase[1]);
        Vec3::new(st * cp, st * sp, ct) * (1.0 + bump)
    };
    let mut vertices = vec![at(0, 0)];
    for i in 1..lat {
        vertices.extend((0..lon).map(|j| at(i, j)));
    }
    vertices.push(at(lat, 0));
    let last = vertices.len() as u32 - 1;
    let index = |i: u32, j: u32| 1 + (i - 1) * lon + j % lon;
    let mut triangles = Vec::new();
    for j in 0..lon {
        triangles.push([0, index(1, j), index(1, j + 1)]);
        triangles.push([last, index(lat - 1, j + 1), index(lat - 1, j)]);
        for i in 1..lat - 1 {
            let (a, b, c, d) = (index(i, j), index(i + 1, j), index(i + 1, j + 1), index(i, j + 1));
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    TriMesh { vertices, triangles }
}

/// Pose along a direction at which the surfaces are deeper by `depth` than where they touch.
fn pressed(a: &Surface, b: &Surface, q: Quat, u: Vec3, depth: f64) -> Pose {
    let mut stack = Vec::new();
    let X = |s: f64| Pose::new(q, u * s);
    let (mut s, mut near) = (3.0, [0; 2]);
    // conservative advancement to the first touch
    for _ in 0..200 {
        let gap =
            surface_distance(a, &Pose::IDENTITY, b, &X(s), 10.0, &mut near, &mut stack).map_or(0.0, |g| g.distance);
        s -= gap;
        if gap < 1e-9 {
            break;
        }
    }
    X(s - depth)
}

/// Best of 25 passes, microseconds a call: others on the machine slow some of them down, not all.
fn time(count: usize, mut f: impl FnMut(usize)) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..25 {
        let start = Instant::now();
        for i in 0..count {
            f(i);
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / count as f64);
    }
    best
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let folder = arguments.iter().position(|a| a == "poses").and_then(|i| arguments.get(i + 1));
    let light = if arguments.iter().any(|a| a == "heavy") { &[][..] } else { &[(16, 17), (50, 51)] };
    for &(lat, lon) in light {
        let meshes = [bumpy(lat, lon, [0.3, 1.1]), bumpy(lat, lon, [2.5, 4.0])];
        let [a, b] = meshes.each_ref().map(|m| Surface::new(m).expect("closed"));
        let mut r = Random(7);
        let poses: Vec<Pose> =
            (0..200).map(|_| pressed(&a, &b, r.rotation(), r.direction(), r.uniform(0.01, 0.05))).collect();
        if let Some(folder) = folder {
            write(folder, &meshes, &poses);
            continue;
        }
        let n = a.len();
        let mut work = SurfaceWork::default();
        let X1 = Pose::IDENTITY;
        let mut volume = 0.0;
        for X2 in &poses {
            volume += surface_overlap(&a, &X1, &b, X2, &mut work).iter().map(|r| r.volume).sum::<f64>() / 200.0;
        }
        let row = |what: &str, us: f64| println!("{n:>6} triangles  {what:<52} {us:>9.1} us");
        row(
            &format!("volume, centroid, ... (mean volume {volume:.6e})"),
            time(200, |i| {
                black_box(surface_overlap(&a, &X1, &b, &poses[i], &mut work));
            }),
        );
        row(
            "foundation with points and regions",
            time(200, |i| {
                black_box(foundation(&a, &X1, &b, &poses[i], Vec3::ZERO, &mut work));
            }),
        );
        // Random walk about a shallow pose.
        let mut walk = Vec::new();
        let mut X = poses[0];
        for _ in 0..2000 {
            let (axis, x) = (r.direction() * 0.0005, X.position + r.direction() * 0.001);
            let turn = Quat::from_xyzw(axis.x, axis.y, axis.z, 1.0).normalize();
            X = Pose::new(turn * X.rotation, x + (poses[0].position - x) * 0.02);
            walk.push(X);
        }
        row(
            "random walk, kept buffers",
            time(2000, |i| {
                black_box(surface_overlap(&a, &X1, &b, &walk[i], &mut work));
            }),
        );
        row(
            "random walk, fresh buffers",
            time(2000, |i| {
                black_box(surface_overlap(&a, &X1, &b, &walk[i], &mut SurfaceWork::default()));
            }),
        );
        let mut stack = Vec::new();
        let apart: Vec<Pose> = poses.iter().map(|X| Pose::new(X.rotation, X.position * 1.1)).collect();
        row(
            "distance, a tenth of the radius apart",
            time(200, |i| {
                black_box(surface_distance(&a, &X1, &b, &apart[i], f64::INFINITY, &mut [0; 2], &mut stack));
            }),
        );
    }
    if folder.is_none() && !arguments.iter().any(|a| a == "light") {
        heavy();
    }
}

/// One heavy pair on one and two threads in turn: the best wall time of several passes each, and their ratio. Other work on the machine must leave
/// both cores alone meanwhile (`chrt -f 1` does, for one who may).
fn heavy() {
    let pools = [1, 2].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("threads"));
    for (lat, lon, passes) in [(50, 51, 200), (158, 159, 20), (224, 224, 10)] {
        let [a, b] = [[0.3, 1.1], [2.5, 4.0]].map(|phase| Surface::new(&bumpy(lat, lon, phase)).expect("closed"));
        let q = Quat::from_xyzw(0.1, 0.2, 0.3, 0.9).normalize();
        let u = Vec3::new(0.6, 0.3, 0.2).normalize();
        for (place, X2) in [("shallow", pressed(&a, &b, q, u, 0.05)), ("half in", Pose::new(q, 0.7 * u))] {
            let mut works = [SurfaceWork::default(), SurfaceWork::default()];
            let (mut best, mut answers) = ([[f64::INFINITY; 2]; 2], [None, None]);
            for _ in 0..passes {
                for (k, pool) in pools.iter().enumerate() {
                    let work = &mut works[k];
                    let (times, answer) = pool.install(|| {
                        // brings back to the caches what the foundation before put there
                        surface_overlap(&a, &Pose::IDENTITY, &b, &X2, work);
                        let start = Instant::now();
                        black_box(surface_overlap(&a, &Pose::IDENTITY, &b, &X2, work));
                        let between = Instant::now();
                        let sum = foundation(&a, &Pose::IDENTITY, &b, &X2, Vec3::ZERO, work);
                        ([between - start, between.elapsed()], sum)
                    });
                    for (best, time) in best.iter_mut().zip(times) {
                        best[k] = best[k].min(time.as_secs_f64() * 1e6);
                    }
                    answers[k] = Some((answer, work.regions().to_vec(), work.points().to_vec()));
                }
            }
            assert!(answers[0] == answers[1], "the same bits on any number of threads");
            for (what, [one, two]) in ["regions", "foundation"].iter().zip(best) {
                let (n, times) = (a.len(), format!("{one:>9.0} us, two threads {two:>9.0} us"));
                println!("{n:>6} triangles  {place}: {what:<10} {times}: {:.2}", one / two);
            }
        }
    }
}

fn write(folder: &str, meshes: &[TriMesh; 2], poses: &[Pose]) {
    use std::fmt::Write;
    let mut text = String::new();
    for m in meshes {
        let _ = writeln!(text, "{} {}", m.vertices.len(), m.triangles.len());
        for v in &m.vertices {
            let _ = writeln!(text, "{:?} {:?} {:?}", v.x, v.y, v.z);
        }
        for t in &m.triangles {
            let _ = writeln!(text, "{} {} {}", t[0], t[1], t[2]);
        }
    }
    let _ = writeln!(text, "{}", poses.len());
    for X in poses {
        let (q, p) = (X.rotation, X.position);
        let _ = writeln!(text, "{:?} {:?} {:?} {:?} {:?} {:?} {:?}", q.w, q.x, q.y, q.z, p.x, p.y, p.z);
    }
    let path = std::path::Path::new(folder).join(format!("pair_{}.txt", meshes[0].triangles.len()));
    if let Err(error) = std::fs::write(&path, text) {
        eprintln!("{}: {error}", path.display());
    }
}
