//! Soil against closed forms and values computed apart from this program.

use crate::compaction::{Compression, Packed};
use crate::cutting::{Cut, Profile};
use crate::stability::{height, long_slope, vertical};
use crate::*;
use std::f64::consts::PI;

fn near(value: f64, truth: f64, within: f64) {
    assert!((value - truth).abs() <= within * truth.abs().max(1e-9), "{value} is not {truth}");
}

fn cut(unit_weight: f64, c: f64, ca: f64, [phi, delta, rake]: [f64; 3]) -> Cut {
    Cut {
        unit_weight,
        cohesion: c,
        friction: phi.to_radians(),
        tool_friction: delta.to_radians(),
        adhesion: ca,
        rake: rake.to_radians(),
        surcharge: 0.0,
        speed: 0.0,
        gravity: 9.80665,
    }
}

/// Rankine: a smooth upright wall.
#[test]
fn upright_blade() {
    let cut = cut(17e3, 5e3, 0.0, [30.0, 0.0, 90.0]);
    let out = cut.resistance(&Profile { points: &[[0.05, 0.5], [1.0, 0.5]], ends: [0.0; 2] });
    near(out.force, 15035.254, 1e-6);
    near(out.angle.to_degrees(), 30.0, 1e-4);
    near(out.along, 15035.254, 1e-6);
}

#[test]
fn dozer_blade() {
    let cut = cut(16.5e3, 4e3, 1e3, [32.0, 21.0, 60.0]);
    let flat = Profile { points: &[[0.05, 0.2]], ends: [0.0; 2] };
    let out = cut.resistance(&flat);
    near(3.2 * out.force, 11441.289, 1e-6);
    near(3.2 * out.along, 11669.932, 1e-6);
    near(3.2 * out.down, 1149.812, 1e-5);
    let loaded = Cut { surcharge: 8e3, ..cut }.resistance(&flat);
    near(3.2 * loaded.force, 28782.285, 1e-6);
    near(3.2 * loaded.down, 3862.5413, 1e-5);
    near(loaded.angle.to_degrees(), 29.37588, 1e-4);
}

/// Ground that rises or falls from where the blade meets it.
#[test]
fn sloping_ground() {
    let cut = cut(16.5e3, 4e3, 1e3, [32.0, 21.0, 60.0]);
    for (slope, P, H) in [
        (-15.0, 6446.0072, 6736.1503),
        (0.0, 11441.289, 11669.932),
        (10.0, 16707.769, 16871.573),
        (20.0, 25024.85, 25086.257),
    ] {
        let t = libm::tan(f64::to_radians(slope));
        let lead = 0.2 / libm::tan(f64::to_radians(60.0));
        let points = [[0.0, 0.2 + t * lead], [5.0, 0.2 + t * (lead + 5.0)]];
        let out = cut.resistance(&Profile { points: &points, ends: [t; 2] });
        near(3.2 * out.force, P, 1e-5);
        near(3.2 * out.along, H, 1e-5);
    }
}

#[test]
fn stands_or_falls() {
    let soil = [8e3, PI / 6.0, 18e3];
    near(vertical(soil), 3.0792014, 1e-7);
    near(height(PI / 3.0, soil), 9.9521355, 1e-7);
    near(long_slope(f64::to_radians(40.0), 2.0, soil), 1.13936, 1e-5);
    assert_eq!(height(PI / 6.0, [0.0, PI / 6.0, 18e3]), f64::INFINITY);
    for (c, h) in [(1e3, 0.48024553), (2e3, 0.96049106), (5e3, 2.4012277)] {
        near(vertical([c, f64::to_radians(35.0), 16e3]), h, 1e-7);
    }
}

const LOAM: Compression = Compression { virgin: 1.9392, lambda: 0.06037, kappa: 0.00608, kappa_again: 0.01916, m: 1.3 };

#[test]
fn compaction_of_a_loam() {
    let v0: f64 = 2670.0 / 1550.0;
    let start = Packed { volume: v0, yield_pressure: LOAM.yield_pressure(v0) };
    near(start.yield_pressure, 12736.26, 1e-6);
    near(LOAM.virgin_pressure(start), 85530.192, 1e-6);
    for (p, loaded, void, density) in [
        (50e3, 1.6809077, 0.70469283, 1566.2646),
        (100e3, 1.6611859, 0.68918531, 1580.6436),
        (200e3, 1.6193406, 0.65155435, 1616.6589),
        (300e3, 1.5948627, 0.62954165, 1638.4975),
        (600e3, 1.5530174, 0.59191069, 1677.2298),
    ] {
        near(LOAM.loaded(start, p), loaded, 1e-7);
        let after = LOAM.pressed(start, p, 1.0);
        near(after.volume - 1.0, void, 1e-6);
        near(2670.0 / after.volume, density, 1e-6);
        // the same again changes nothing, and passes one after the other end as the last alone does
        assert_eq!(LOAM.pressed(after, p, 1.0), after);
        near(LOAM.pressed(LOAM.pressed(start, 0.6 * p, 1.0), p, 1.0).volume, after.volume, 1e-12);
    }
}

#[test]
fn moisture() {
    for (w, truth) in [(8.0, [2.37368, 0.047157647, 0.0037920296]), (18.0, [2.17568, 0.035510588, 0.0011426054])] {
        Compression::sandy_loam(w).into_iter().zip(truth).for_each(|(own, truth)| near(own, truth, 1e-6));
    }
    for (w, truth) in [(11.2, [2.320968, 0.029383385, 0.0024587112]), (18.0, [2.808392, 0.048130462, 0.0029951956])] {
        Compression::clay_loam(w).into_iter().zip(truth).for_each(|(own, truth)| near(own, truth, 1e-6));
    }
}

fn sand(phi: f64) -> SoilKind {
    let mut kind = SoilKind::named("sand").unwrap();
    kind.friction = [phi.to_radians(); 2];
    kind
}

fn ground(kind: SoilKind, e: f64, features: Vec<Feature>, cell: f64, low: [f64; 2], counts: [usize; 2]) -> Ground {
    let layer = StartLayer { kind: 0, thickness: 0.5, void_ratio: e, yield_pressure: 1e3 };
    let start = Start { level: 0.0, layers: vec![layer], features, relief: None };
    let mut ground = Ground::new(vec![kind], start, cell, low, counts);
    ground.wake_all();
    ground
}

fn settle(ground: &mut Ground, seconds: f64) -> f64 {
    (0..(seconds * 60.0) as usize).map(|_| ground.settle(1.0 / 60.0, 9.81, &[], &[]).lost).sum()
}

/// A block of dry sand ends as a trapezoid with slopes of phi, and loses no mass.
#[test]
fn block_collapses() {
    let (phi, cell) = (33.0, 0.05);
    let block = Feature { kind: FeatureKind::Block { low: [-1.0, -9.0], high: [1.0, 9.0] }, height: 1.0 };
    let mut ground = ground(sand(phi), 0.85, vec![block], cell, [-3.0, 0.0], [120, 3]);
    let mass = ground.mass();
    let lost = settle(&mut ground, 30.0);
    near(ground.mass(), mass, 1e-13);
    assert!(lost > 0.0);
    let heights: Vec<f64> = (0..120).map(|i| ground.height([i, 1])).collect();
    let steepest = heights.windows(2).map(|z| (z[0] - z[1]).abs() / cell).fold(0.0, f64::max);
    near(steepest, libm::tan(f64::to_radians(phi)), 0.005);
    let base = heights.iter().filter(|z| **z > 1e-3).count() as f64 * cell;
    near(base, 3.539865, 0.03);
    near(heights[60], 1.0, 0.02);
    let top = heights.iter().filter(|z| **z > 0.99).count() as f64 * cell;
    assert!((top - 0.46).abs() < 2.1 * cell, "{top}");
}

/// A vertical step of cohesive soil stands up to the height of Terzaghi, and falls above.
#[test]
fn steps_stand() {
    let (c, truth) = (2e3, 0.96049106);
    for (factor, stands) in [(0.97, true), (1.06, false)] {
        let mut kind = sand(35.0);
        kind.cohesion = [c, c];
        kind.water = 0.0;
        let e = kind.grain_density * 9.81 / 16e3 - 1.0;
        kind.void_ratios = [e - 0.1, e];
        let bank = Feature { kind: FeatureKind::Block { low: [0.0, -9.0], high: [9.0, 9.0] }, height: factor * truth };
        let mut ground = ground(kind, e, vec![bank], 0.05, [-2.0, 0.0], [80, 3]);
        let lost = settle(&mut ground, 1.0);
        assert_eq!(lost == 0.0, stands, "{factor}: {lost}");
    }
}

/// A cone of too steep sand spreads evenly, and a heap keeps its mass to the last bits.
#[test]
fn cone_spreads() {
    let cone = Feature { kind: FeatureKind::Cone { at: [0.0, 0.0], radius: 0.6 }, height: 1.0 };
    let mut ground = ground(sand(32.0), 0.85, vec![cone], 0.05, [-2.0, -2.0], [80, 80]);
    let mass = ground.mass();
    settle(&mut ground, 20.0);
    near(ground.mass(), mass, 1e-13);
    let (along, across) = (ground.height([50, 39]), ground.height([39, 50]));
    assert!((along - across).abs() < 1e-9);
    let reach = |d: [f64; 2]| {
        let far = (1..1000).find(|k| {
            let r = *k as f64 * 0.002;
            ground.height_at([d[0] * r, d[1] * r]).unwrap() < 0.01
        });
        far.unwrap() as f64 * 0.002
    };
    let (straight, diagonal) = (reach([1.0, 0.0]), reach([std::f64::consts::FRAC_1_SQRT_2; 2]));
    near(diagonal, straight, 0.08);
}

/// A blade moves soil and keeps its mass; the ground behind it is as low as its edge.
#[test]
fn blade_pushes() {
    use crate::bearing::Motion;
    use crate::tool::{Tool, ToolRecord};
    use tippe_geometry::{Pose, Quat, Vec3};
    let mut ground = ground(sand(32.0), 0.6, vec![], 0.1, [-1.0, -2.0], [80, 40]);
    let tool = Tool {
        name: "blade".into(),
        body: 0,
        edge: [Vec3::new(0.0, -1.0, 0.0), Vec3::new(0.0, 1.0, 0.0)],
        top: Vec3::new(-0.2, 0.0, 0.6),
        thickness: 0.02,
        teeth: (0, 0.0),
        bucket: None,
        loosens: Vec::new(),
    };
    let mut record = ToolRecord::default();
    let mass = ground.mass();
    let at = |x: f64| Motion { X_wc: Pose::new(Quat::IDENTITY, Vec3::new(x, 0.0, -0.1)), v: Vec3::X, w: Vec3::ZERO };
    let first = tool.bite(&ground, &at(0.0), 9.81).unwrap().along;
    assert!(first > 0.0);
    for k in 0..240 {
        let [from, to] = [k, k + 1].map(|k| tool.placed(&at(k as f64 / 60.0)).unwrap());
        assert_eq!(from.forward, Vec3::X);
        tool.sweep(&mut ground, &mut record, &from, &to);
        ground.settle(1.0 / 60.0, 9.81, &[tool.fence(&to)], &[]);
    }
    near(ground.mass(), mass, 1e-13);
    near(ground.height_at([1.05, 0.0]).unwrap(), -0.1, 0.1);
    assert!(ground.height_at([4.3, 0.0]).unwrap() > 0.1);
    assert!(tool.bite(&ground, &at(4.0), 9.81).unwrap().along > 2.0 * first);
    assert!(record.moved > 0.7);
}

/// A plate that presses leaves the ground lower, denser, and all its mass in it.
#[test]
fn plate_presses() {
    use crate::bearing::{Motion, Patch, Presser};
    use tippe_geometry::{Pose, Quat, Shape, Vec3};
    let mut ground = ground(SoilKind::named("loam").unwrap(), 0.8, vec![], 0.05, [-1.0, -1.0], [40, 40]);
    let mass = ground.mass();
    let shape = Shape::Box { half_extents: Vec3::new(0.25, 0.25, 0.1), smoothing: 0.0 };
    let presser = Presser { body: 0, shapes: vec![(shape, Pose::IDENTITY)] };
    let motion =
        |z: f64| Motion { X_wc: Pose::new(Quat::IDENTITY, Vec3::new(0.0, 0.0, z)), v: -Vec3::Z, w: Vec3::ZERO };
    let before = ground.column([20, 20]).top().unwrap().void_ratio;
    for k in 1..=20 {
        let now = motion(0.1 - 0.002 * f64::from(k));
        let patch = Patch::of(&ground, &presser, &now);
        assert_eq!(patch.nodes.len(), 100);
        near(patch.width, 0.25, 1e-9);
        let mut rows = Vec::new();
        patch.rows(ground.area(), 0, &now, 1.0 / 60.0, &mut rows);
        assert!(rows.len() >= 3, "{rows:?}");
        patch.leave(&mut ground, 0, &now, 0.0);
    }
    near(ground.mass(), mass, 1e-13);
    let top = *ground.column([20, 20]).top().unwrap();
    assert!(top.void_ratio < before);
    assert!(ground.height([20, 20]) < -0.03);
    // lifted by less than it springs back it carries less, by more nothing
    let p = |z: f64| Patch::of(&ground, &presser, &motion(z)).nodes.first().map_or(0.0, |node| node.pressure);
    assert!(p(0.0602) > 0.0 && p(0.0602) < p(0.06));
    assert_eq!(p(0.07), 0.0);
}

/// What is written is read again: ASCII and CSV to the last bit, PNG to a step of its greys.
#[test]
fn height_grids_of_files() {
    let heights: Vec<f64> = (0..12).map(|k| 0.1 * f64::from(k * k)).collect();
    let relief = Relief { counts: [4, 3], low: [1.0, -2.0], spacing: 0.5, heights };
    let folder = std::env::temp_dir().join(format!("tippe-soil-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, within) in [("a.asc", 0.0), ("a.csv", 0.0), ("a.png", 12.1 / 65535.0)] {
        let path = folder.join(name);
        file::write(&path, &relief).unwrap();
        let again = file::read(&path).unwrap();
        assert_eq!((again.counts, again.low, again.spacing), (relief.counts, relief.low, relief.spacing));
        let off = again.heights.iter().zip(&relief.heights).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off <= within, "{name}: {off}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    let error = file::from_ascii("x.asc", "ncols 2\nnrows 2\ncellsize 1\n1 2 3\n").unwrap_err();
    assert_eq!(error.to_string(), "x.asc: it has 3 heights, not 2 times 2");
}
