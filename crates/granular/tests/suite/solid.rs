//! Polyhedra against closed forms and their books.
#![allow(non_snake_case)]

use crate::{Random, settings};
use tippe_geometry::{Pose, Quat, Shape, Vec3};
use tippe_granular::{ClumpStart, Grain, Grains, Settings, Solid, Surface, Wall};

const HALF: f64 = 0.01;

/// A cube whose corners are given away from its middle.
fn cube() -> Solid {
    let bit = |k: usize, b: usize| (k >> b & 1) as f64;
    let corners: Vec<Vec3> =
        (0..8).map(|k| Vec3::new(bit(k, 0), bit(k, 1), bit(k, 2)) * (2.0 * HALF) + Vec3::splat(0.3)).collect();
    Solid::new(&corners, 2500.0).unwrap()
}

/// Puts a cube in with its middle and axes here.
fn put(grains: &mut Grains, s: &Settings, X_wc: Pose, velocity: Vec3, spin: Vec3) {
    let solid = cube();
    let start = ClumpStart { class: 0, X_wb: X_wc.then(&Pose::at(Vec3::splat(-0.3 - HALF))), velocity, spin };
    grains.insert_solid(&solid, &start, s).unwrap();
}

fn floor() -> Wall {
    Wall::plane(Vec3::ZERO, Vec3::Z)
}

/// Energy at the start, now with what is held and lost, and what is left over [J].
fn books(grains: &Grains, s: &Settings) -> (f64, f64) {
    let ledger = grains.ledger(s);
    (ledger.residual, ledger.losses.sum())
}

#[test]
fn a_cube_weighs_what_it_is() {
    let solid = cube();
    let mass = 2500.0 * 8.0 * HALF * HALF * HALF;
    assert!((solid.mass.mass / mass - 1.0).abs() < 1e-12 && (solid.inner - HALF).abs() < 1e-12);
    assert!((solid.mass.inertia - Vec3::splat(mass * HALF * HALF * 2.0 / 3.0)).length() < 1e-12 * mass * HALF * HALF);
}

#[test]
fn a_cube_stands_as_deep_as_the_law_says() {
    let s = settings(0.2, 0.5, 2e-5, 9.81);
    let mut grains = Grains::new();
    put(&mut grains, &s, Pose::at(Vec3::Z * HALF), Vec3::ZERO, Vec3::ZERO);
    let mut walls = [floor()];
    grains.advance(&s, &mut walls, 20_000).unwrap();
    // 4/3 E* a d = m g, a = 2 HALF/sqrt(pi)
    let modulus = 5e6 / (2.0 * (1.0 - 0.09));
    let a = 2.0 * HALF / std::f64::consts::PI.sqrt();
    let weight = 2500.0 * 8.0 * HALF * HALF * HALF * 9.81;
    let depth = HALF - grains.clumps()[0].X_wc.position.z;
    assert!((depth / (weight / (4.0 / 3.0 * modulus * a)) - 1.0).abs() < 1e-6, "{depth}");
    assert!((walls[0].force.z / -weight - 1.0).abs() < 1e-6, "{}", walls[0].force);
}

/// Speed with which a cube of this orientation leaves the floor, as a share of that of its impact.
fn rebound(e: f64, rotation: Quat, step: f64) -> (f64, f64) {
    let s = settings(e, 0.0, step, 0.0);
    let mut grains = Grains::new();
    put(&mut grains, &s, Pose::new(rotation, Vec3::Z * 0.018), Vec3::new(0.0, 0.0, -0.5), Vec3::ZERO);
    grains.advance(&s, &mut [floor()], (0.06 / step) as u64).unwrap();
    let energy = 0.5 * grains.clumps()[0].mass * 0.25;
    (grains.clumps()[0].velocity.z / 0.5, books(&grains, &s).0 / energy)
}

#[test]
fn faces_edges_and_corners_rebound_as_asked() {
    let diagonal = Quat::from_rotation_arc(Vec3::ONE.normalize(), -Vec3::Z);
    let edge = Quat::from_rotation_x(std::f64::consts::FRAC_PI_4);
    for e in [0.3, 0.7, 1.0] {
        for rotation in [Quat::IDENTITY, edge, diagonal] {
            let (out, residual) = rebound(e, rotation, 1e-5);
            assert!((out - e).abs() < 0.02, "{e} {out}");
            assert!(residual.abs() < 2e-3, "{e} {residual}");
        }
    }
    // the face has closed form: an oscillator with damping
    assert!((rebound(0.6, Quat::IDENTITY, 2e-6).0 - 0.6).abs() < 2e-3);
}

#[test]
fn two_cubes_keep_momentum_and_their_books_close() {
    let mut random = Random(5);
    for _ in 0..40 {
        let s = settings(0.6, 0.4, 1e-5, 0.0);
        let mut grains = Grains::new();
        let mut turn = || Quat::from_scaled_axis(random.vector() * 3.0);
        let (one, two) = (turn(), turn());
        put(&mut grains, &s, Pose::new(one, Vec3::ZERO), Vec3::X * 0.4, Vec3::new(3.0, 5.0, -2.0));
        put(&mut grains, &s, Pose::new(two, Vec3::new(0.035, 0.006, 0.003)), Vec3::X * -0.4, Vec3::ZERO);
        let sums = |grains: &Grains| {
            let linear = grains.clumps().iter().map(|c| c.velocity * c.mass).sum::<Vec3>();
            let angular =
                grains.clumps().iter().map(|c| c.momentum + c.X_wc.position.cross(c.velocity * c.mass)).sum::<Vec3>();
            (linear, angular)
        };
        let (before, energy) = (sums(&grains), grains.kinetic_energy());
        grains.advance(&s, &mut [], 8000).unwrap();
        let after = sums(&grains);
        let scale = grains.clumps()[0].mass;
        assert!((after.0 - before.0).length() < 1e-13 * scale, "{:?}", after.0 - before.0);
        assert!((after.1 - before.1).length() < 1e-14 * scale, "{:?}", after.1 - before.1);
        let (residual, lost) = books(&grains, &s);
        assert!(residual.abs() < 3e-3 * energy, "{residual} of {energy}, lost {lost}");
        assert!(lost >= -1e-3 * energy, "{lost} of {energy}");
    }
}

#[test]
fn a_cube_holds_on_a_slope_below_its_friction_and_slides_above() {
    for (slope, slides) in [(0.45f64, false), (0.55, true)] {
        let (sin, cos) = (slope / (1.0 + slope * slope).sqrt(), 1.0 / (1.0 + slope * slope).sqrt());
        let mut s = settings(0.3, 0.5, 2e-5, 0.0);
        s.gravity = Vec3::new(9.81 * sin, 0.0, -9.81 * cos);
        let mut grains = Grains::new();
        put(&mut grains, &s, Pose::at(Vec3::Z * (HALF - 1e-6)), Vec3::ZERO, Vec3::ZERO);
        grains.advance(&s, &mut [floor()], 10_000).unwrap();
        let v = grains.clumps()[0].velocity.x;
        let free = 9.81 * (sin - 0.5 * cos) * 0.2;
        if slides {
            assert!((v / free - 1.0).abs() < 0.02, "{v} {free}");
        } else {
            // what the jerk of the start left swings, and goes nowhere
            let from = grains.clumps()[0].X_wc.position.x;
            grains.advance(&s, &mut [floor()], 10_000).unwrap();
            let creep = grains.clumps()[0].X_wc.position.x - from;
            assert!(creep.abs() < 1e-7 && v.abs() < 1e-4, "{creep} {v}");
        }
    }
}

#[test]
fn a_pile_of_cubes_and_balls_comes_to_rest_in_a_box_and_bits_do_not_depend_on_threads() {
    let s = settings(0.3, 0.5, 4e-5, 9.81);
    let run = |threads: usize| {
        let mut random = Random(3);
        let mut grains = Grains::new();
        for k in 0..18 {
            let cell = Vec3::new((k % 3) as f64, (k / 3 % 3) as f64, (k / 9) as f64);
            let place = cell * 0.04 + Vec3::new(-0.04, -0.04, 0.025);
            if k % 4 == 3 {
                grains.insert(&Grain::at(place, HALF), &s).unwrap();
            } else {
                put(
                    &mut grains,
                    &s,
                    Pose::new(Quat::from_scaled_axis(random.vector() * 3.0), place),
                    Vec3::ZERO,
                    Vec3::ZERO,
                );
            }
        }
        let mut walls = vec![floor()];
        for n in [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y] {
            walls.push(Wall::plane(n * -0.07, n));
        }
        let block = Shape::Box { half_extents: Vec3::splat(0.015), smoothing: 0.0 };
        walls.push(Wall::new(Surface::Shape(block), Pose::at(Vec3::Z * 0.001)));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| grains.advance(&s, &mut walls, 16_000)).unwrap();
        grains
    };
    let grains = run(1);
    assert_eq!(grains.hash(), run(2).hash());
    let (residual, lost) = books(&grains, &s);
    assert!(residual.abs() < 5e-3 * lost, "{residual} of {lost}");
    assert!(grains.kinetic_energy() < 1e-3 * lost, "{} of {lost}", grains.kinetic_energy());
    // nothing has fallen through the floor or another
    assert!(grains.clumps().iter().all(|c| c.X_wc.position.z > 0.9 * HALF));
}

#[test]
fn a_mesh_is_refused_as_a_wall() {
    let s = settings(0.3, 0.5, 4e-5, 9.81);
    let mut grains = Grains::new();
    put(&mut grains, &s, Pose::at(Vec3::Z), Vec3::ZERO, Vec3::ZERO);
    let wall = Wall::new(Surface::Shape(Shape::Capsule { radius: 0.1, half_length: 1.0 }), Pose::IDENTITY);
    let error = grains.advance(&s, &mut [wall], 1).unwrap_err();
    assert!(error.to_string().contains("polyhedral grains meet"), "{error}");
}
