//! Narrow phase against parry3d-f64 in the same run: time a query and accuracy, separated and penetrating.
//!
//! `cargo bench -p tippe-geometry --bench narrow`
//!
//! 2000 poses a row, fixed seed: a random attitude, a random direction u, the second body moved along u to a gap of 10 to 300
//! mm between the supports, or 2 to 50 mm deeper than where it begins to touch on that line.
//! `-- manifold` times the contact manifolds only, `-- manifold box-capsule` those of one pair.
#![allow(non_snake_case)]

use parry3d_f64::query::{contact, distance};
use parry3d_f64::shape::{ConvexPolyhedron, Cuboid, Cylinder};
use std::cell::RefCell;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use tippe_geometry::{Hull, Manifold, Mat3, Pose, Quat, Shape, Vec3, manifold, overlap, separation, separation_mpr};

type ParryPose = parry3d_f64::math::Pose;
const POSES: usize = 2000;

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
        loop {
            let q = [0; 4].map(|_| self.uniform(-1.0, 1.0));
            let q = Quat::from_xyzw(q[0], q[1], q[2], q[3]);
            if q.length_squared() <= 1.0 && q.length_squared() > 1e-4 {
                return q.normalize();
            }
        }
    }
}

/// Signed distance along n, a lower bound of the true one.
fn along(s1: &Shape, s2: &Shape, X2: &Pose, n: Vec3) -> f64 {
    X2.point(s2.support(X2.vector_into(-n))).dot(n) - s1.support(n).dot(n)
}

fn poses(s1: &Shape, s2: &Shape, apart: bool, r: &mut Random) -> Vec<Pose> {
    (0..POSES)
        .map(|_| {
            let (q, u) = (r.rotation(), r.direction());
            if apart {
                let touch = -along(s1, s2, &Pose::new(q, Vec3::ZERO), u);
                return Pose::new(q, u * (touch + r.uniform(0.01, 0.3)));
            }
            let (mut low, mut high) = (0.0, 5.0);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                let gap = separation(s1, &Pose::IDENTITY, s2, &Pose::new(q, u * middle)).gap;
                if gap > 0.0 { high = middle } else { low = middle }
            }
            Pose::new(q, u * (low - r.uniform(0.002, 0.05)))
        })
        .collect()
}

/// Best direction found by a search that knows nothing of any engine but the supports, started from given normals.
fn reference(s1: &Shape, s2: &Shape, X2: &Pose, start: &[Vec3], r: &mut Random) -> f64 {
    let mut best = (f64::NEG_INFINITY, Vec3::Z);
    let look = |n: Vec3, best: &mut (f64, Vec3)| {
        let s = along(s1, s2, X2, n);
        if s > best.0 {
            *best = (s, n);
        }
    };
    for n in start {
        look(*n, &mut best);
    }
    for _ in 0..400 {
        look(r.direction(), &mut best);
    }
    let mut reach = 0.2;
    while reach > 1e-9 {
        let before = best.0;
        for _ in 0..10 {
            let n = (best.1 + r.direction() * reach).normalize();
            look(n, &mut best);
        }
        if best.0 == before {
            reach *= 0.6;
        }
    }
    best.0
}

/// Microseconds a query: for every fifty poses the best of forty sweeps, so that other work on the machine counts little.
fn time<P>(poses: &[P], query: impl Fn(&P) -> f64) -> f64 {
    let mut total = 0.0;
    for some in poses.chunks(50) {
        let mut best = f64::INFINITY;
        for _ in 0..40 {
            let start = Instant::now();
            for p in some {
                black_box(query(black_box(p)));
            }
            best = best.min(start.elapsed().as_secs_f64());
        }
        total += best;
    }
    total / poses.len() as f64 * 1e6
}

fn row(pair: &str, kind: &str, who: &str, us: f64, errors: &[f64]) {
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let max = errors.iter().copied().fold(0.0, f64::max);
    println!("{pair:10} {kind:12} {who:24} {us:8.3} us   relative error mean {mean:8.1e} max {max:8.1e}");
}

/// Closed forms and overlaps, which the integrator calls most: time only, their accuracy is tested elsewhere.
fn closed_forms(r: &mut Random) {
    let ball = Shape::Sphere { radius: 0.3 };
    let cube = Shape::Box { half_extents: Vec3::new(0.5, 0.3, 0.2), smoothing: 0.0 };
    let rounded = Shape::Box { half_extents: Vec3::new(0.5, 0.3, 0.2), smoothing: 0.02 };
    let capsule = Shape::Capsule { radius: 0.2, half_length: 0.4 };
    let cylinder = Shape::Cylinder { radius: 0.3, half_height: 0.4, smoothing: 0.0 };
    let ellipsoid = Shape::Ellipsoid { semi_axes: Vec3::new(0.5, 0.3, 0.2) };
    let poses: Vec<Pose> = (0..POSES).map(|_| Pose::new(r.rotation(), r.direction() * r.uniform(0.2, 0.8))).collect();
    let floor = Shape::HalfSpace;
    let pairs = [
        ("sphere-sphere", &ball, &ball),
        ("half-space-sphere", &floor, &ball),
        ("box-sphere", &cube, &ball),
        ("rounded box-sphere", &rounded, &ball),
        ("capsule-sphere", &capsule, &ball),
        ("cylinder-sphere", &cylinder, &ball),
        ("ellipsoid-sphere", &ellipsoid, &ball),
        ("capsule-capsule", &capsule, &capsule),
        ("half-space-box", &floor, &cube),
        ("half-space-ellipsoid", &floor, &ellipsoid),
    ];
    for (name, s1, s2) in pairs {
        let us = time(&poses, |X| separation(s1, &Pose::IDENTITY, s2, X).gap);
        println!("{name:24} closed form      {:8.1} ns", 1e3 * us);
    }
    for (name, s1, s2) in
        [("half-space-box", &floor, &cube), ("box-box", &cube, &rounded), ("half-space-cylinder", &floor, &cylinder)]
    {
        let us = time(&poses, |X| overlap(s1, &Pose::IDENTITY, s2, X).map_or(0.0, |o| o.volume));
        println!("{name:24} overlap          {:8.1} ns", 1e3 * us);
    }
}

/// Manifolds of bodies that rest on each other and of bodies in any attitude, 2 mm deep to 1 mm apart, up to four points.
fn manifolds(wanted: &[String], r: &mut Random) {
    let ball = Shape::Sphere { radius: 0.3 };
    let cube = Shape::Box { half_extents: Vec3::new(0.5, 0.3, 0.2), smoothing: 0.0 };
    let capsule = Shape::Capsule { radius: 0.2, half_length: 0.4 };
    let cylinder = Shape::Cylinder { radius: 0.3, half_height: 0.2, smoothing: 0.0 };
    let twelve: Vec<Vec3> = (0..12).map(|_| r.direction() * Vec3::new(0.5, 0.4, 0.3)).collect();
    let hull = Shape::Hull(Arc::new(Hull::new(&twelve).expect("points on an ellipsoid span a volume")));
    let floor = Shape::HalfSpace;
    let pairs = [
        ("sphere-sphere", &ball, &ball),
        ("half-space-box", &floor, &cube),
        ("box-box", &cube, &cube),
        ("box-sphere", &cube, &ball),
        ("capsule-capsule", &capsule, &capsule),
        ("box-capsule", &cube, &capsule),
        ("box-cylinder", &cube, &cylinder),
        ("cylinder-cylinder", &cylinder, &cylinder),
        ("hull-hull, 20 faces", &hull, &hull),
    ];
    let named = |name: &str| wanted.iter().any(|w| w == name);
    let all = !pairs.iter().any(|(name, ..)| named(name));
    for (name, s1, s2) in pairs.into_iter().filter(|(name, ..)| all || named(name)) {
        for (how, resting) in [("resting", true), ("any attitude", false)] {
            let poses: Vec<Pose> = (0..POSES)
                .map(|_| {
                    let angle = 0.5 * r.uniform(-3.0, 3.0);
                    let z = Quat::from_xyzw(0.0, 0.0, libm::sin(angle), libm::cos(angle));
                    let (q, u) = if resting {
                        (z, Vec3::new(r.uniform(-0.2, 0.2), r.uniform(-0.2, 0.2), 1.0))
                    } else if *s1 == floor {
                        (r.rotation(), Vec3::Z)
                    } else {
                        (r.rotation(), r.direction())
                    };
                    let mut X = Pose::new(q, u);
                    for _ in 0..4 {
                        let s = separation(s1, &Pose::IDENTITY, s2, &X);
                        X.position -= s.normal * s.gap;
                    }
                    let s = separation(s1, &Pose::IDENTITY, s2, &X);
                    X.position -= s.normal * (s.gap - r.uniform(-2e-3, 1e-3));
                    X
                })
                .collect();
            let mut m = Manifold::default();
            let mut count = 0;
            for X in &poses {
                manifold(s1, &Pose::IDENTITY, s2, X, 2e-3, 4, &mut m);
                count += m.count;
            }
            let shared = RefCell::new(m);
            let us = time(&poses, |X| {
                let mut m = shared.borrow_mut();
                manifold(s1, &Pose::IDENTITY, s2, X, 2e-3, 4, &mut m);
                m.points[0].gap
            });
            let alone = time(&poses, |X| separation(s1, &Pose::IDENTITY, s2, X).gap);
            let mean = count as f64 / POSES as f64;
            println!(
                "{name:20} manifold, {how:14} {:8.1} ns, of them separation {:8.1} ns, {mean:.1} points",
                1e3 * us,
                1e3 * alone
            );
        }
    }
}

fn main() {
    let mut r = Random(7);
    let points = |r: &mut Random| -> Vec<Vec3> { (0..200).map(|_| r.direction() * Vec3::new(0.5, 0.4, 0.3)).collect() };
    let (points1, points2) = (points(&mut r), points(&mut r));
    let hull = |p: &[Vec3]| Shape::Hull(Arc::new(Hull::new(p).expect("points on an ellipsoid span a volume")));
    let parry_hull = |p: &[Vec3]| ConvexPolyhedron::from_convex_hull(p).expect("points on an ellipsoid span a volume");
    let cube = |h: Vec3| Shape::Box { half_extents: h, smoothing: 0.0 };
    let (h1, h2) = (Vec3::new(0.5, 0.3, 0.2), Vec3::new(0.4, 0.4, 0.25));
    let (b1, b2) = (Cuboid::new(h1), Cuboid::new(h2));
    // parry's cylinder stands along y, ours along z.
    let cylinder = Cylinder::new(0.4, 0.3);
    let upright = ParryPose::from_parts(Vec3::ZERO, Quat::from_mat3(&Mat3::from_cols(Vec3::X, Vec3::Z, -Vec3::Y)));
    let (q1, q2) = (parry_hull(&points1), parry_hull(&points2));
    type Row<'a> =
        (&'a str, Shape, Shape, &'a dyn parry3d_f64::shape::Shape, &'a dyn parry3d_f64::shape::Shape, ParryPose);
    let rows: [Row<'_>; 3] = [
        ("box-box", cube(h1), cube(h2), &b1, &b2, ParryPose::IDENTITY),
        (
            "cyl-box",
            Shape::Cylinder { radius: 0.3, half_height: 0.4, smoothing: 0.0 },
            cube(h2),
            &cylinder,
            &b2,
            upright,
        ),
        ("hull-hull", hull(&points1), hull(&points2), &q1, &q2, ParryPose::IDENTITY),
    ];
    // Names of pairs as arguments pick rows; without any, all are run.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    if wanted.is_empty() || wanted.iter().any(|w| w == "closed") {
        closed_forms(&mut r);
    }
    if wanted.is_empty() || wanted.iter().any(|w| w == "manifold") {
        manifolds(&wanted, &mut r);
    }
    for (pair, s1, s2, p1, p2, X1) in rows {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == pair) {
            continue;
        }
        for apart in [true, false] {
            let kind = if apart { "separated" } else { "penetrating" };
            let ours = poses(&s1, &s2, apart, &mut r);
            let theirs: Vec<ParryPose> = ours.iter().map(|X| ParryPose::from_parts(X.position, X.rotation)).collect();
            let gap = |X: &Pose| separation(&s1, &Pose::IDENTITY, &s2, X).gap;
            let mpr = |X: &Pose| separation_mpr(&s1, &Pose::IDENTITY, &s2, X).gap;
            let parry = |X: &ParryPose| contact(&X1, p1, X, p2, 1e3).ok().flatten().map_or(f64::NAN, |c| c.dist);
            let parry_distance = |X: &ParryPose| distance(&X1, p1, X, p2).map_or(f64::NAN, |d| d.distance);
            let references: Vec<f64> = ours
                .iter()
                .take(200)
                .map(|X| reference(&s1, &s2, X, &[separation(&s1, &Pose::IDENTITY, &s2, X).normal], &mut r))
                .collect();
            let errors = |d: &dyn Fn(usize) -> f64| -> Vec<f64> {
                references.iter().enumerate().map(|(k, x)| ((d(k) - x) / x).abs()).collect()
            };
            row(pair, kind, "tippe", time(&ours, gap), &errors(&|k| gap(&ours[k])));
            row(pair, kind, "parry contact", time(&theirs, parry), &errors(&|k| parry(&theirs[k])));
            if apart {
                let e = errors(&|k| parry_distance(&theirs[k]));
                row(pair, kind, "parry distance", time(&theirs, parry_distance), &e);
            }
            row(pair, kind, "tippe mpr, by name", time(&ours, mpr), &errors(&|k| mpr(&ours[k])));
        }
    }
}
