//! Clumps against rigid-body solutions.
#![allow(non_snake_case)]

use crate::settings;
use tippe_geometry::{Pose, Quat, Vec3};
use tippe_granular::{ClumpMass, ClumpSphere, ClumpStart, Domain, Grain, Grains, Probe, Settings, Sink, Wall};

fn sphere(x: f64, y: f64, z: f64, radius: f64) -> ClumpSphere {
    ClumpSphere { position: Vec3::new(x, y, z), radius }
}

/// A clump of class 0 that begins like this.
fn start(X_wb: Pose, velocity: Vec3, spin: Vec3) -> ClumpStart {
    ClumpStart { class: 0, X_wb, velocity, spin }
}

#[test]
fn a_free_dumbbell_precesses_at_l_over_i() {
    // axis of symmetry turns about L at |L|/I_perpendicular, angle to L stays
    let s = Settings { gravity: Vec3::new(0.0, 0.0, -9.81), ..settings(0.5, 0.5, 1e-5, 9.81) };
    let spheres = [sphere(0.0, 0.0, -0.002, 0.002), sphere(0.0, 0.0, 0.002, 0.002)];
    let mass = ClumpMass::of_spheres(&spheres, 2500.0);
    let mut grains = Grains::new();
    let (v, spin) = (Vec3::new(0.1, 0.0, 0.5), Vec3::new(20.0, 0.0, 60.0));
    grains.insert_clump(&spheres, &mass, &start(Pose::IDENTITY, v, spin), &s).unwrap();
    let axis_of = |c: &tippe_granular::Clump| c.X_wc.vector(mass.X_bc.vector_into(Vec3::Z));
    let (L, start) = (grains.clumps()[0].momentum, axis_of(&grains.clumps()[0]));
    let energy = grains.kinetic_energy();
    let across = mass.inertia.max_element();
    let steps = 20_000;
    grains.advance(&s, &mut [], steps).unwrap();
    let t = steps as f64 * s.step;
    let clump = &grains.clumps()[0];
    // free fall
    let fall = v * t + 0.5 * s.gravity * t * t;
    assert!((clump.X_wc.position - fall).length() < 1e-12, "{:?}", clump.X_wc.position - fall);
    let n = L.normalize();
    let angle = L.length() / across * t;
    let turn = Quat::from_axis_angle(n, angle);
    assert!((axis_of(clump) - turn * start).length() < 1e-5, "{:?} {:?}", axis_of(clump), turn * start);
    assert!((clump.momentum - L).length() < 1e-14 * L.length());
    let kinetic = grains.kinetic_energy() - 0.5 * mass.mass * clump.velocity.length_squared();
    let before = energy - 0.5 * mass.mass * v.length_squared();
    assert!((kinetic / before - 1.0).abs() < 1e-8, "{}", kinetic / before);
}

#[test]
fn an_asymmetric_clump_keeps_energy_and_momentum_while_it_tumbles() {
    let s = Settings { gravity: Vec3::ZERO, ..settings(0.5, 0.5, 1e-5, 0.0) };
    let spheres = [sphere(0.0, 0.0, 0.0, 0.002), sphere(0.003, 0.0, 0.0, 0.0015), sphere(0.0, 0.0015, 0.0, 0.001)];
    let mass = ClumpMass::of_spheres(&spheres, 2500.0);
    let mut grains = Grains::new();
    let spin = Vec3::new(1.0, 80.0, 2.0);
    grains.insert_clump(&spheres, &mass, &start(Pose::IDENTITY, Vec3::ZERO, spin), &s).unwrap();
    let (L, energy) = (grains.clumps()[0].momentum, grains.kinetic_energy());
    grains.advance(&s, &mut [], 50_000).unwrap();
    assert!((grains.clumps()[0].momentum - L).length() < 1e-13 * L.length());
    assert!((grains.kinetic_energy() / energy - 1.0).abs() < 1e-5);
}

#[test]
fn a_clump_of_one_sphere_is_a_grain() {
    let s = settings(0.6, 0.4, 1e-5, 9.81);
    let v = Vec3::new(0.2, 0.1, 0.0);
    let mut single = Grains::new();
    single.insert(&Grain { velocity: v, ..Grain::at(Vec3::Z * 0.005, 0.0025) }, &s).unwrap();
    let mut clump = Grains::new();
    let spheres = [sphere(0.0, 0.0, 0.0, 0.0025)];
    let mass = ClumpMass::of_spheres(&spheres, 2500.0);
    clump.insert_clump(&spheres, &mass, &start(Pose::at(Vec3::Z * 0.005), v, Vec3::ZERO), &s).unwrap();
    for grains in [&mut single, &mut clump] {
        grains.advance(&s, &mut [Wall::plane(Vec3::ZERO, Vec3::Z)], 20_000).unwrap();
    }
    let (a, b) = (single.grain(0), clump.grain(0));
    assert!((a.position - b.position).length() < 1e-10 && (a.spin - b.spin).length() < 1e-6, "{a:?} {b:?}");
}

#[test]
fn a_dumbbell_comes_to_rest_on_both_feet_and_the_books_balance() {
    let mut s = settings(0.3, 0.5, 5e-6, 9.81);
    s.ledger = true;
    let spheres = [sphere(-0.002, 0.0, 0.0, 0.002), sphere(0.002, 0.0, 0.0, 0.002)];
    let mass = ClumpMass::of_spheres(&spheres, 2500.0);
    let mut grains = Grains::new();
    let X_wb = Pose::new(Quat::from_rotation_y(0.4), Vec3::Z * 0.006);
    grains.insert_clump(&spheres, &mass, &start(X_wb, Vec3::ZERO, Vec3::ZERO), &s).unwrap();
    let mut walls = [Wall::plane(Vec3::ZERO, Vec3::Z)];
    grains.advance(&s, &mut walls, 150_000).unwrap();
    assert!((walls[0].force.z / (-mass.mass * 9.81) - 1.0).abs() < 1e-6, "{}", walls[0].force.z);
    let z: Vec<f64> = grains.by_id().iter().map(|g| g.1.position.z).collect();
    assert!((z[0] - z[1]).abs() < 1e-8 && z[0] < 0.002, "{z:?}");
    let books = grains.ledger(&s);
    assert!(books.residual.abs() < 1e-3 * books.losses.sum(), "{books:?}");
}

#[test]
fn clumps_in_a_periodic_box_with_the_same_bits_after_a_restart() {
    let size = 0.04;
    let domain = Domain { low: Vec3::ZERO, high: Vec3::splat(size), periodic: [true, true, false] };
    let s = Settings { domain: Some(domain), ..settings(0.5, 0.5, 1e-5, 9.81) };
    let spheres = [sphere(-0.0012, 0.0, 0.0, 0.002), sphere(0.0012, 0.0, 0.0, 0.002)];
    let mass = ClumpMass::of_spheres(&spheres, 2500.0);
    let mut grains = Grains::new();
    for k in 0..64 {
        let cell = Vec3::new(f64::from(k % 4), f64::from(k / 4 % 4), f64::from(k / 16)) * 0.009 + 0.005;
        let X_wb = Pose::new(Quat::from_rotation_z(f64::from(k)), cell);
        let v = Vec3::new(0.3, 0.1 * f64::from(k % 3), 0.0);
        grains.insert_clump(&spheres, &mass, &start(X_wb, v, Vec3::Y * 5.0), &s).unwrap();
    }
    let mut walls = vec![Wall::plane(Vec3::ZERO, Vec3::Z)];
    grains.advance(&s, &mut walls, 3000).unwrap();
    let text = serde_json::to_string(&(&grains, &walls)).unwrap();
    let (mut again, mut walls_again): (Grains, Vec<Wall>) = serde_json::from_str(&text).unwrap();
    grains.advance(&s, &mut walls, 3000).unwrap();
    again.advance(&s, &mut walls_again, 3000).unwrap();
    assert_eq!(grains.hash(), again.hash());
    assert_eq!(grains.len(), 128);
    assert!(grains.coordination() > 0.02, "{}", grains.coordination());
    for clump in grains.clumps() {
        let p = clump.X_wc.position;
        assert!(p.x > -0.01 && p.x < size + 0.01 && p.z > 0.0, "{p:?}");
    }
}

/// A sink takes a clump whole, by its centre of mass, counts it once and lets the others go on.
#[test]
fn a_sink_swallows_whole_clumps() {
    let s = settings(0.5, 0.5, 1e-5, 9.81);
    let spheres = [sphere(0.0, 0.0, 0.0, 0.002), sphere(0.003, 0.0, 0.0, 0.002)];
    let mass = ClumpMass::of_spheres(&spheres, 2500.0);
    let mut grains = Grains::new();
    for z in [0.001, 0.02] {
        let X_wb = Pose::new(Quat::IDENTITY, Vec3::Z * z);
        grains.insert_clump(&spheres, &mass, &start(X_wb, Vec3::ZERO, Vec3::ZERO), &s).unwrap();
    }
    let mut sink = Sink::new(Vec3::new(-1.0, -1.0, -1.0), Vec3::new(1.0, 1.0, 0.0), 0.05);
    let mut seen = Vec::new();
    for _ in 0..80 {
        grains.advance(&s, &mut [], 100).unwrap();
        if sink.swallow(&mut grains, &s, 100.0 * s.step) > 0 {
            grains.validate().expect("what is left holds together");
            seen.push((sink.count, grains.len(), sink.swallowed / mass.mass));
        }
    }
    assert_eq!(seen.iter().map(|s| (s.0, s.1)).collect::<Vec<_>>(), [(1, 2), (2, 0)]);
    assert!(seen.iter().all(|s| (s.2 - s.0 as f64).abs() < 1e-12), "{seen:?}");
}

/// The flow of falling clumps is their momentum over the length of the box, once for each clump.
#[test]
fn flow_counts_a_clump_once() {
    let s = settings(0.5, 0.5, 1e-5, 0.0);
    let spheres = [sphere(0.0, 0.0, 0.0, 0.002), sphere(0.003, 0.0, 0.0, 0.002), sphere(0.0, 0.003, 0.0, 0.001)];
    let mass = ClumpMass::of_spheres(&spheres, 2500.0);
    let mut grains = Grains::new();
    for z in [0.01, 0.03, 0.15] {
        let X_wb = Pose::new(Quat::IDENTITY, Vec3::Z * z);
        grains.insert_clump(&spheres, &mass, &start(X_wb, Vec3::Z * -0.5, Vec3::ZERO), &s).unwrap();
    }
    let probe = Probe { low: Vec3::new(-1.0, -1.0, 0.0), high: Vec3::new(1.0, 1.0, 0.1) };
    let flow = grains.probe(&probe, &s).flow.z;
    assert!((flow / (-2.0 * mass.mass * 0.5 / 0.1) - 1.0).abs() < 1e-12, "{flow}");
}
