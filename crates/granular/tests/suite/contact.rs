//! One or a few grains against closed forms.

use crate::{SOFT, law, settings};
use std::f64::consts::PI;
use std::sync::Arc;
use tippe_geometry::{Pose, Shape, TriMesh, Vec3};
use tippe_granular::{
    Cohesion, Domain, Grain, GrainError, Grains, PairLaw, Rolling, Settings, Surface, Wall, WallMesh,
};

const R: f64 = 0.0025;

fn mass() -> f64 {
    2500.0 * 4.0 / 3.0 * PI * R * R * R
}

/// Two balls that meet head on at `speed` each [m/s]; their speeds after, and the time of touch.
fn head_on(e: f64, speed: f64, h: f64) -> (f64, f64) {
    let s = Settings::uniform(SOFT, law(e, 0.5), h, Vec3::ZERO);
    let mut grains = Grains::new();
    for side in [-1.0, 1.0] {
        let grain = Grain { velocity: Vec3::X * (-side * speed), ..Grain::at(Vec3::X * (side * (R + 1e-7)), R) };
        grains.insert(&grain, &s).unwrap();
    }
    let mut touching = 0;
    for _ in 0..4000 {
        grains.advance(&s, &mut [], 1).unwrap();
        touching += u32::from(grains.coordination() > 0.0);
    }
    (grains.by_id()[1].1.velocity.x, f64::from(touching) * h)
}

#[test]
fn hertz_impact_lasts_as_long_as_hertz_says() {
    // delta_max = (5 m* v^2/(4 K))^(2/5), T = 2.9432750 delta_max/v; K = 4/3 E* sqrt(R*)
    let (v, e_star) = (0.2, 5e6 / (2.0 * (1.0 - 0.09)));
    let (m, k) = (mass() / 2.0, 4.0 / 3.0 * e_star * (R / 2.0).sqrt());
    let depth = libm::pow(5.0 * m * v * v / (4.0 * k), 0.4);
    let expected = 2.943_275_0 * depth / v;
    let (after, time) = head_on(1.0, v / 2.0, 1e-6);
    assert!((time / expected - 1.0).abs() < 3e-3, "{time} {expected}");
    assert!((after - v / 2.0).abs() < 1e-6 * v, "{after}");
}

#[test]
fn restitution_is_the_one_asked_for_at_any_speed() {
    for e in [0.9, 0.5, 0.2] {
        for speed in [0.01, 0.1, 0.5] {
            let (after, _) = head_on(e, speed, 1e-6);
            assert!((after / speed - e).abs() < 2e-3, "e {e}, speed {speed}: {}", after / speed);
        }
    }
}

#[test]
fn a_ball_that_slips_throughout_an_oblique_impact_gets_mu_times_the_normal_impulse() {
    // e = 1: J_n = 2 m v_n, J_t = mu J_n; v_t' = v_t - 2 mu v_n, w' = 5/2 * 2 mu v_n/r
    let (mu, v_n, v_t) = (0.1, 0.02, 0.5);
    let s = Settings::uniform(SOFT, law(1.0, mu), 1e-6, Vec3::ZERO);
    let mut grains = Grains::new();
    let grain = Grain { velocity: Vec3::new(v_t, 0.0, -v_n), ..Grain::at(Vec3::Z * (R + 1e-7), R) };
    grains.insert(&grain, &s).unwrap();
    let mut walls = [Wall::plane(Vec3::ZERO, Vec3::Z)];
    grains.advance(&s, &mut walls, 8000).unwrap();
    let after = grains.grain(0);
    assert!((after.velocity.x - (v_t - 2.0 * mu * v_n)).abs() < 2e-4 * v_t, "{:?}", after.velocity);
    assert!((after.spin.y * R / (5.0 * mu * v_n) - 1.0).abs() < 0.02, "{:?}", after.spin);
    assert!((walls[0].impulse.x - 2.0 * mu * v_n * mass()).abs() < 0.01 * 2.0 * mu * v_n * mass());
    assert!((walls[0].impulse.z + 2.0 * v_n * mass()).abs() < 1e-5 * 2.0 * v_n * mass());
}

#[test]
fn an_oblique_impact_that_sticks_turns_the_slip_round() {
    // at kappa v_t/(mu v_n) near 2 the tangential spring throws the contact point back (Maw, Barber, Fawcett 1976)
    let s = Settings::uniform(SOFT, law(1.0, 0.3), 1e-6, Vec3::ZERO);
    let mut grains = Grains::new();
    let grain = Grain { velocity: Vec3::new(0.15, 0.0, -0.2), ..Grain::at(Vec3::Z * (R + 1e-7), R) };
    grains.insert(&grain, &s).unwrap();
    let before = grains.kinetic_energy();
    grains.advance(&s, &mut [Wall::plane(Vec3::ZERO, Vec3::Z)], 4000).unwrap();
    let after = grains.grain(0);
    let slip = after.velocity.x - after.spin.y * R;
    assert!(slip < 0.0 && slip > -0.15, "{slip}");
    let loss = 1.0 - grains.kinetic_energy() / before;
    assert!((0.0..0.3).contains(&loss), "{loss}");
}

#[test]
fn a_sliding_ball_ends_rolling_at_five_sevenths() {
    // t = 2 v0/(7 mu g), v = 5/7 v0, w = v/r
    let (mu, g, v0) = (0.3, 9.81, 0.2);
    let s = settings(0.3, mu, 5e-6, g);
    let mut grains = Grains::new();
    let e_star = 5e6 / (2.0 * (1.0 - 0.09));
    let sink = libm::pow(mass() * g / (4.0 / 3.0 * e_star * R.sqrt()), 2.0 / 3.0);
    let grain = Grain { velocity: Vec3::X * v0, ..Grain::at(Vec3::Z * (R - sink), R) };
    grains.insert(&grain, &s).unwrap();
    let mut walls = [Wall::plane(Vec3::ZERO, Vec3::Z)];
    let half = 0.5 * 2.0 * v0 / (7.0 * mu * g);
    grains.advance(&s, &mut walls, (half / 5e-6) as u64).unwrap();
    let midway = grains.grain(0).velocity.x;
    assert!((midway - (v0 - mu * g * half)).abs() < 2e-3 * v0, "{midway}");
    grains.advance(&s, &mut walls, 10_000).unwrap();
    let end = grains.grain(0);
    assert!((end.velocity.x / (5.0 / 7.0 * v0) - 1.0).abs() < 2e-3, "{:?}", end.velocity);
    assert!((end.spin.y * R / end.velocity.x - 1.0).abs() < 2e-3, "{:?}", end.spin);
}

#[test]
fn a_column_at_rest_carries_the_weight_above() {
    let s = settings(0.1, 0.5, 1e-5, 9.81);
    let mut grains = Grains::new();
    for k in 0..5 {
        grains.insert(&Grain::at(Vec3::Z * (R + 2.0 * R * f64::from(k)), R), &s).unwrap();
    }
    let mut walls = [Wall::plane(Vec3::ZERO, Vec3::Z)];
    grains.advance(&s, &mut walls, 60_000).unwrap();
    let weight = mass() * 9.81;
    assert!((walls[0].force.z / (-5.0 * weight) - 1.0).abs() < 1e-6, "{}", walls[0].force.z / weight);
    // depth of the contact under ball k+1 carries the balls above: K depth^(3/2) = (4 - k) m g
    let k_hertz = 4.0 / 3.0 * 5e6 / (2.0 * (1.0 - 0.09)) * (R / 2.0).sqrt();
    let balls = grains.by_id();
    for k in 0..4 {
        let depth = 2.0 * R - (balls[k + 1].1.position.z - balls[k].1.position.z);
        let force = k_hertz * depth * depth.sqrt();
        assert!((force / ((4 - k) as f64 * weight) - 1.0).abs() < 1e-5, "{k}: {}", force / weight);
    }
    assert!(grains.kinetic_energy() < 1e-18, "{}", grains.kinetic_energy());
}

/// A square of side `a` cut into `n` x `n` x 2 triangles, around the origin.
fn floor(a: f64, n: u32) -> TriMesh {
    let at = |k: u32| a * (f64::from(k) / f64::from(n) - 0.5);
    let mut mesh = TriMesh::default();
    for i in 0..=n {
        for j in 0..=n {
            mesh.vertices.push(Vec3::new(at(i), at(j), 0.0));
        }
    }
    for i in 0..n {
        for j in 0..n {
            let c = i * (n + 1) + j;
            mesh.triangles.push([c, c + n + 1, c + n + 2]);
            mesh.triangles.push([c, c + n + 2, c + 1]);
        }
    }
    mesh
}

#[test]
fn a_floor_of_triangles_and_a_box_are_planes() {
    let s = settings(0.5, 0.4, 1e-5, 9.81);
    let mut ends = Vec::new();
    let mesh = WallMesh::new(&floor(0.1, 23)).unwrap();
    let block = Shape::Box { half_extents: Vec3::new(0.05, 0.05, 0.01), smoothing: 0.0 };
    for wall in [
        Wall::plane(Vec3::ZERO, Vec3::Z),
        Wall::new(Surface::Mesh(Arc::new(mesh)), Pose::IDENTITY),
        Wall::new(Surface::Shape(block), Pose::at(Vec3::Z * -0.01)),
    ] {
        let mut grains = Grains::new();
        let start = Grain { velocity: Vec3::new(0.3, 0.17, 0.0), ..Grain::at(Vec3::new(-0.03, -0.02, 0.003), R) };
        grains.insert(&start, &s).unwrap();
        let mut walls = [wall];
        grains.advance(&s, &mut walls, 15_000).unwrap();
        ends.push((grains.grain(0), walls[0].impulse));
    }
    for (end, impulse) in &ends[1..] {
        assert!((end.position - ends[0].0.position).length() < 1e-9, "{end:?} {:?}", ends[0].0);
        assert!((end.spin - ends[0].0.spin).length() < 1e-6);
        assert!((*impulse - ends[0].1).length() < 1e-10);
    }
    assert!(ends[0].0.position.x > 0.0);
}

#[test]
fn a_moving_wall_takes_a_ball_along() {
    // belt at constant speed: the ball on it ends at the speed of the belt without turning
    let s = settings(0.2, 0.5, 1e-5, 9.81);
    let mut grains = Grains::new();
    grains.insert(&Grain::at(Vec3::Z * R, R), &s).unwrap();
    let mut belt = Wall::plane(Vec3::ZERO, Vec3::Z);
    belt.velocity = Vec3::X * 0.1;
    let mut walls = [belt];
    grains.advance(&s, &mut walls, 20_000).unwrap();
    // a free ball on an accelerated belt: v = 2/7 of the belt's speed when it rolls
    let end = grains.grain(0);
    assert!((end.velocity.x - 0.1 * 2.0 / 7.0).abs() < 1e-4, "{:?}", end.velocity);
    assert!((walls[0].impulse.x + mass() * end.velocity.x).abs() < 1e-6 * mass());
    assert!((walls[0].X_ws.position.x - 0.02).abs() < 1e-12);
}

/// Grains that touch to rounding, in any direction: no force, no NaN in the springs.
#[test]
fn a_touch_without_depth_is_none() {
    let s = Settings { ledger: true, ..settings(0.5, 0.5, 1e-5, 0.0) };
    for k in 0..64 {
        let angle = 0.1 * f64::from(k);
        let mut grains = Grains::new();
        for at in [Vec3::ZERO, Vec3::new(libm::cos(angle), libm::sin(angle), 0.0) * (2.0 * R)] {
            grains.insert(&Grain::at(at, R), &s).unwrap();
        }
        grains.advance(&s, &mut [], 20).unwrap();
        assert!(grains.by_id().iter().all(|(_, g)| g.velocity.length() < 1e-9), "{angle}");
    }
}

#[test]
fn bad_input_is_named() {
    let s = settings(0.5, 0.5, 1e-5, 9.81);
    let mut grains = Grains::new();
    assert!(matches!(grains.insert(&Grain::at(Vec3::ZERO, -1.0), &s), Err(GrainError::Grain { .. })));
    assert!(matches!(grains.insert(&Grain::at(Vec3::NAN, 1.0), &s), Err(GrainError::Grain { .. })));
    grains.insert(&Grain::at(Vec3::ZERO, R), &s).unwrap();
    grains.insert(&Grain::at(Vec3::X * R, R), &s).unwrap();
    assert!(matches!(grains.clone().advance(&s, &mut [], 1), Err(GrainError::Overlap { .. })));
    let long = Settings { step: 1e-3, ..s.clone() };
    let error = grains.clone().advance(&long, &mut [], 1).unwrap_err();
    assert!(matches!(error, GrainError::Step { .. }), "{error}");
    assert!(WallMesh::new(&TriMesh::default()).is_err());
    let wild = Settings { step: f64::NAN, ..s };
    assert!(matches!(grains.advance(&wild, &mut [], 1), Err(GrainError::Setting { .. })));
}

#[test]
fn adhesion_lets_go_at_one_and_a_half_pi_w_r() {
    let work = 0.5;
    let jkr = PairLaw { cohesion: Cohesion::Jkr { work }, ..law(0.3, 0.5) };
    let mut s = Settings::uniform(SOFT, jkr, 2e-6, Vec3::ZERO);
    let mut grains = Grains::new();
    grains.insert(&Grain::at(Vec3::Z * (R - 1e-8), R), &s).unwrap();
    let mut walls = [Wall::plane(Vec3::ZERO, Vec3::Z)];
    grains.advance(&s, &mut walls, 20_000).unwrap();
    // at rest the forces balance with the surface drawn in: depth = (pi^2 w^2 R/(...))^(1/3) > 0
    assert!(grains.grain(0).position.z < R && walls[0].force.length() < 1e-6);
    // raise the pull slowly
    let pull_off = 1.5 * PI * work * R / mass();
    let mut let_go = 0.0;
    for k in 0..=150 {
        let share = if k < 90 { 0.01 * f64::from(k) } else { 0.9 + 0.002 * f64::from(k - 90) };
        s.gravity = Vec3::Z * (share * pull_off);
        grains.advance(&s, &mut walls, 2000).unwrap();
        if grains.grain(0).position.z > 1.02 * R {
            let_go = share;
            break;
        }
    }
    assert!((let_go - 1.0).abs() < 0.01, "{let_go}");
}

#[test]
fn linear_cohesion_holds_where_hertz_and_pressure_balance() {
    // 4/3 E* sqrt(R d) d = p pi R d  =>  d = (3 pi p/(4 E*))^2 R
    let pressure = 2e5;
    let sticky = PairLaw { cohesion: Cohesion::Linear { pressure }, ..law(0.2, 0.5) };
    let s = Settings::uniform(SOFT, sticky, 5e-6, Vec3::ZERO);
    let mut grains = Grains::new();
    grains.insert(&Grain::at(Vec3::Z * (R - 1e-5), R), &s).unwrap();
    grains.advance(&s, &mut [Wall::plane(Vec3::ZERO, Vec3::Z)], 40_000).unwrap();
    let e_star = 5e6 / (2.0 * (1.0 - 0.09));
    let ratio = 3.0 * PI * pressure / (4.0 * e_star);
    let depth = R - grains.grain(0).position.z;
    assert!((depth / (ratio * ratio * R) - 1.0).abs() < 1e-4, "{depth}");
}

/// A ball at rest on a plane, its weight carried.
fn resting(s: &Settings, velocity: Vec3, spin: Vec3) -> Grains {
    let e_star = 5e6 / (2.0 * (1.0 - 0.09));
    let g = s.gravity.z.abs();
    let sink = libm::pow(mass() * g / (4.0 / 3.0 * e_star * R.sqrt()), 2.0 / 3.0);
    let mut grains = Grains::new();
    grains.insert(&Grain { velocity, spin, ..Grain::at(Vec3::Z * (R - sink), R) }, s).unwrap();
    grains
}

#[test]
fn rolling_friction_slows_a_rolling_ball_by_five_sevenths_mu_g() {
    for rolling in
        [Rolling::Constant { coefficient: 0.05 }, Rolling::ElasticPlastic { coefficient: 0.05, damping: 0.3 }]
    {
        let s = Settings { pairs: vec![PairLaw { rolling, ..law(0.3, 0.5) }], ..settings(0.3, 0.5, 1e-5, 9.81) };
        let v0 = 0.2;
        let mut grains = resting(&s, Vec3::X * v0, Vec3::Y * (v0 / R));
        let mut walls = [Wall::plane(Vec3::ZERO, Vec3::Z)];
        grains.advance(&s, &mut walls, 20_000).unwrap();
        let expected = v0 - 5.0 / 7.0 * 0.05 * 9.81 * 0.2;
        let v = grains.grain(0).velocity.x;
        assert!((v / expected - 1.0).abs() < 0.01, "{rolling:?}: {v} {expected}");
        grains.advance(&s, &mut walls, 60_000).unwrap();
        assert!(grains.grain(0).velocity.length() < 1e-4, "{rolling:?}: {:?}", grains.grain(0));
    }
}

#[test]
fn a_ball_with_elastic_rolling_friction_rests_on_a_slope() {
    let rolling = Rolling::ElasticPlastic { coefficient: 0.1, damping: 0.5 };
    for (slope, rests) in [(0.07, true), (0.13, false)] {
        let pairs = vec![PairLaw { rolling, ..law(0.3, 0.5) }];
        let s = Settings { pairs, gravity: Vec3::new(9.81 * slope, 0.0, -9.81), ..settings(0.3, 0.5, 1e-5, 9.81) };
        let mut grains = resting(&s, Vec3::ZERO, Vec3::ZERO);
        grains.advance(&s, &mut [Wall::plane(Vec3::ZERO, Vec3::Z)], 60_000).unwrap();
        let speed = grains.grain(0).velocity.length();
        assert_eq!(speed < 1e-9, rests, "slope {slope}: {speed}");
    }
}

/// A packing is judged before the first step, in walls and in each other, across a periodic side too; half a radius is the limit.
#[test]
fn packings_are_judged_before_the_first_step() {
    let s = settings(0.5, 0.5, 1e-5, 0.0);
    let world = Domain { low: Vec3::ZERO, high: Vec3::ONE, periodic: [true, false, false] };
    let judged = |places: &[Vec3], walls: &[Wall], s: &Settings| {
        let mut grains = Grains::new();
        places.iter().for_each(|p| _ = grains.insert(&Grain::at(*p, 0.01), s).unwrap());
        grains.check_packing(s, walls)
    };
    assert_eq!(judged(&[], &[], &s), Ok(()));
    let apart = |gap: f64| judged(&[Vec3::splat(0.5), Vec3::new(0.52 + gap, 0.5, 0.5)], &[], &s);
    assert_eq!(apart(-0.0049), Ok(()));
    assert!(matches!(apart(-0.0051), Err(GrainError::Overlap { id1: 0, id2: 1, .. })));
    let sides = [Vec3::new(0.001, 0.5, 0.5), Vec3::new(0.999, 0.5, 0.5)];
    assert_eq!(judged(&sides, &[], &s), Ok(()));
    let around = Settings { domain: Some(world), ..s.clone() };
    assert!(matches!(judged(&sides, &[], &around), Err(GrainError::Overlap { .. })));
    let floor = [Wall::plane(Vec3::Z * 0.5, Vec3::Z)];
    assert!(matches!(judged(&[Vec3::splat(0.5)], &floor, &s), Err(GrainError::InWall { id: 0, wall: 0, .. })));
}

/// A wall that moves by more than a radius in a step is reported; a plane that slides or spins along itself is not.
#[test]
fn walls_that_are_too_fast_are_reported() {
    let s = settings(0.5, 0.5, 1e-5, 0.0);
    let report = |velocity: Vec3, spin: Vec3, wall: Wall| {
        let mut grains = Grains::new();
        grains.insert(&Grain::at(Vec3::splat(1.0), 0.01), &s).unwrap();
        grains.advance(&s, &mut [Wall { velocity, spin, ..wall }], 1).unwrap().hasty_wall
    };
    let plane = || Wall::plane(Vec3::ZERO, Vec3::Z);
    let ball = || Wall::new(Surface::Shape(Shape::Sphere { radius: 0.1 }), Pose::IDENTITY);
    let fast = report(Vec3::Z * -2000.0, Vec3::ZERO, plane()).unwrap();
    assert_eq!((fast.wall, fast.time, fast.speed, fast.radius, fast.step), (0, 0.0, 2000.0, 0.01, 1e-5));
    assert_eq!(report(Vec3::X * 2000.0, Vec3::Z * 1e6, plane()), None);
    assert!(report(Vec3::ZERO, Vec3::X * 2000.0, plane()).is_some());
    assert!(report(Vec3::X * 2000.0, Vec3::ZERO, ball()).is_some());
    assert!(report(Vec3::ZERO, Vec3::X * 2e4, ball()).is_some());
    assert_eq!(report(Vec3::X * 900.0, Vec3::ZERO, ball()), None);
}
