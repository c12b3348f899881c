//! The position-based variant.

use crate::{SOFT, law, settings};
use std::f64::consts::PI;
use tippe_geometry::Vec3;
use tippe_granular::{Cohesion, Frame, Grain, Grains, PairLaw, Random, Settings, Sizes, Wall, lattice};

const R: f64 = 0.03;

fn frame(substeps: u32) -> Frame {
    Frame { time: 1.0 / 60.0, substeps, stiffness: 1e5 }
}

#[test]
fn a_column_rests_and_the_floor_carries_it() {
    let s = settings(0.5, 0.5, 1e-5, 9.81);
    let mut grains = Grains::new();
    for k in 0..4 {
        grains.insert(&Grain::at(Vec3::Z * (R + 2.0 * R * f64::from(k)), R), &s).unwrap();
    }
    let mut walls = [Wall::plane(Vec3::ZERO, Vec3::Z)];
    for _ in 0..120 {
        grains.advance_frame(&s, &mut walls, &frame(10)).unwrap();
    }
    walls[0].impulse = Vec3::ZERO;
    for _ in 0..60 {
        grains.advance_frame(&s, &mut walls, &frame(10)).unwrap();
    }
    let weight = 4.0 * 2500.0 * 4.0 / 3.0 * PI * R * R * R * 9.81;
    assert!((walls[0].impulse.z / -weight - 1.0).abs() < 0.01, "{}", walls[0].impulse.z / weight);
    let top = grains.by_id()[3].1;
    assert!((top.position.z - 7.0 * R).abs() < 0.1 * R && top.velocity.length() < 0.01, "{top:?}");
}

#[test]
fn friction_holds_a_grain_on_a_slope_below_mu() {
    for (slope, holds) in [(0.3, true), (0.6, false)] {
        let s = Settings { gravity: Vec3::new(9.81 * slope, 0.0, -9.81), ..settings(0.5, 0.45, 1e-5, 9.81) };
        let mut grains = Grains::new();
        grains.insert(&Grain::at(Vec3::Z * R, R), &s).unwrap();
        for _ in 0..60 {
            grains.advance_frame(&s, &mut [Wall::plane(Vec3::ZERO, Vec3::Z)], &frame(10)).unwrap();
        }
        let moved = grains.grain(0).position.x;
        // a = g (sin - mu cos) in units of cos
        let expected = 0.5 * 9.81 * (slope - 0.45);
        assert!(if holds { moved < 0.01 } else { (moved / expected - 1.0).abs() < 0.1 }, "{slope}: {moved}");
    }
}

#[test]
fn adhesion_carries_what_it_can_bear() {
    let weight = 2500.0 * 4.0 / 3.0 * PI * R * R * R * 9.81;
    // 1.5 pi w R/2 for two equal balls
    let needed = weight / (0.75 * PI * R);
    // the weight comes on at once: up to twice of it is felt
    for (share, holds) in [(2.2, true), (0.7, false)] {
        let sticky = PairLaw { cohesion: Cohesion::Jkr { work: share * needed }, ..law(0.5, 0.5) };
        let s = Settings::uniform(SOFT, sticky, 1e-5, Vec3::new(0.0, 0.0, -9.81));
        let mut grains = Grains::new();
        grains.insert(&Grain { frozen: true, ..Grain::at(Vec3::ZERO, R) }, &s).unwrap();
        grains.insert(&Grain::at(Vec3::Z * (-2.0 * R + 1e-4), R), &s).unwrap();
        for _ in 0..60 {
            grains.advance_frame(&s, &mut [], &frame(10)).unwrap();
        }
        assert_eq!(grains.by_id()[1].1.position.z > -2.1 * R, holds, "{share}");
    }
}

#[test]
fn piles_stand_in_the_order_of_friction_and_adhesion() {
    let pile = |friction: f64, work: f64| {
        let pair = PairLaw { cohesion: Cohesion::Jkr { work }, ..law(0.5, friction) };
        let s = Settings::uniform(SOFT, pair, 1e-5, Vec3::new(0.0, 0.0, -9.81));
        let mut grains = Grains::new();
        let sizes = Sizes::Same { radius: R };
        let (low, high) = (Vec3::new(-0.3, -0.3, 0.0), Vec3::new(0.3, 0.3, 1.2));
        for grain in lattice(low, high, &sizes, 1000, 0.1, &mut Random { seed: 3 }) {
            grains.insert(&grain, &s).unwrap();
        }
        for _ in 0..180 {
            grains.advance_frame(&s, &mut [Wall::plane(Vec3::ZERO, Vec3::Z)], &frame(8)).unwrap();
        }
        (0..grains.len()).map(|k| grains.grain(k).position.z).sum::<f64>() / grains.len() as f64
    };
    let (slick, rough, sticky) = (pile(0.1, 0.0), pile(0.6, 0.0), pile(0.6, 40.0));
    assert!(slick < rough && rough < sticky, "{slick} {rough} {sticky}");
}

#[test]
fn a_restarted_run_has_the_same_bits() {
    let s = settings(0.5, 0.3, 1e-5, 9.81);
    let mut grains = Grains::new();
    let (low, high) = (Vec3::new(-0.3, -0.3, 0.0), Vec3::new(0.3, 0.3, 1.2));
    for grain in lattice(low, high, &Sizes::Same { radius: R }, 800, 0.1, &mut Random { seed: 7 }) {
        grains.insert(&grain, &s).unwrap();
    }
    let mut walls = [Wall::plane(Vec3::ZERO, Vec3::Z)];
    let mut again: Option<Grains> = None;
    for k in 0..90 {
        if k % 30 == 20 {
            let text = serde_json::to_string(again.as_ref().unwrap_or(&grains)).unwrap();
            again = Some(serde_json::from_str(&text).unwrap());
        }
        grains.advance_frame(&s, &mut walls.clone(), &frame(4)).unwrap();
        if let Some(again) = &mut again {
            again.advance_frame(&s, &mut walls, &frame(4)).unwrap();
            assert_eq!(grains.hash(), again.hash(), "{k}");
        }
    }
}
