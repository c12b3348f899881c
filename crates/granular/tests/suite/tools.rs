//! Packings, emitters, sinks, measurements, files.

use crate::{cloud, settings};
use std::f64::consts::PI;
use tippe_geometry::Vec3;
use tippe_granular::{
    Domain, Emitter, Grain, Grains, Probe, Random, Settings, Sink, Sizes, Wall, grains_from_csv, lattice,
    random_sequential,
};

const R: f64 = 0.0025;

#[test]
fn packings_do_not_overlap_and_fill_what_they_say() {
    let (low, high) = (Vec3::ZERO, Vec3::splat(0.05));
    let mut random = Random { seed: 1 };
    let sizes = Sizes::Uniform { smallest: 0.001, largest: 0.0025 };
    for grains in
        [lattice(low, high, &sizes, 500, 0.5, &mut random), random_sequential(low, high, &sizes, 2000, &mut random)]
    {
        assert!(grains.len() >= 400, "{}", grains.len());
        for (i, a) in grains.iter().enumerate() {
            assert!((a.position - a.radius).cmpge(low).all() && (a.position + a.radius).cmple(high).all());
            for b in &grains[..i] {
                assert!((a.position - b.position).length() >= a.radius + b.radius);
            }
        }
    }
    let dense = random_sequential(low, high, &Sizes::Same { radius: 0.002 }, 100_000, &mut random);
    let volume: f64 = dense.iter().map(|g| 4.0 / 3.0 * PI * g.radius * g.radius * g.radius).sum();
    assert!(volume / 1.25e-4 > 0.25, "{}", volume / 1.25e-4);
}

#[test]
fn sieve_curves_come_out_by_mass() {
    let curve = vec![(0.001, 0.0), (0.002, 0.5), (0.004, 1.0)];
    let sizes = Sizes::Sieve { curve };
    sizes.validate().unwrap();
    let mut random = Random { seed: 4 };
    let (mut below, mut all) = (0.0, 0.0);
    for _ in 0..200_000 {
        let r = sizes.draw(&mut random);
        let m = r * r * r;
        all += m;
        below += if r < 0.002 { m } else { 0.0 };
    }
    assert!((below / all - 0.5).abs() < 0.02, "{}", below / all);
    assert!(Sizes::Sieve { curve: vec![(0.002, 0.1), (0.001, 1.0)] }.validate().is_err());
    assert!(Sizes::Sieve { curve: vec![(0.001, 1.0)] }.validate().is_err());
}

#[test]
fn what_is_emitted_is_in_the_box_or_in_the_sink() {
    let s = settings(0.3, 0.5, 2e-5, 9.81);
    let mut emitter = Emitter {
        low: Vec3::new(0.0, 0.0, 0.04),
        high: Vec3::new(0.02, 0.02, 0.05),
        velocity: Vec3::Z * -0.5,
        sizes: Sizes::Same { radius: 0.002 },
        class: 0,
        rate: 0.1,
        owed: 0.0,
        random: Random { seed: 8 },
        emitted: 0.0,
    };
    let mut sink = Sink::new(Vec3::new(-1.0, -1.0, -1.0), Vec3::new(1.0, 1.0, 0.0), 0.05);
    let mut grains = Grains::new();
    for _ in 0..100 {
        emitter.emit(&mut grains, &[], &s, 100.0 * s.step).unwrap();
        grains.advance(&s, &mut [], 100).unwrap();
        sink.swallow(&mut grains, &s, 100.0 * s.step);
    }
    let inside: f64 = (0..grains.len()).map(|k| grains.mass(k)).sum();
    assert!((emitter.emitted - inside - sink.swallowed).abs() < 1e-12);
    assert!((emitter.emitted + emitter.owed - 0.1 * 0.2).abs() < 1e-12);
    assert!(sink.swallowed > 0.0 && inside > 0.0);
    // steady stream: mass flow through a section between is the rate
    let between = Probe { low: Vec3::new(-0.05, -0.05, 0.0), high: Vec3::new(0.05, 0.05, 0.04) };
    let flow = -grains.probe(&between, &s).flow.z;
    assert!((flow / 0.1 - 1.0).abs() < 0.15, "{flow}");
}

#[test]
fn a_grain_that_leaves_the_domain_is_counted() {
    let domain = Domain { low: Vec3::splat(-0.02), high: Vec3::splat(0.02), periodic: [false; 3] };
    let s = Settings { domain: Some(domain), ..settings(0.5, 0.5, 1e-5, 9.81) };
    let mut grains = Grains::new();
    grains.insert(&Grain::at(Vec3::ZERO, R), &s).unwrap();
    let away = Grain { velocity: Vec3::X * 2.0, ..Grain::at(Vec3::X * 0.01, R) };
    grains.insert(&away, &s).unwrap();
    assert!(grains.insert(&Grain::at(Vec3::X * 0.03, R), &s).is_err());
    grains.advance(&s, &mut [], 1000).unwrap();
    assert_eq!((grains.len(), grains.lost), (1, 1));
}

#[test]
fn stress_under_a_settled_bed_is_its_weight_per_area() {
    let s = settings(0.2, 0.3, 2e-5, 9.81);
    let size = 8.0 * 0.0055;
    let domain =
        Domain { low: Vec3::new(0.0, 0.0, -0.01), high: Vec3::new(size, size, 0.2), periodic: [true, true, false] };
    let s = Settings { domain: Some(domain), ..s };
    let mut grains = cloud(&s, [8, 8, 10], 0.2, 3);
    let mut walls = [Wall::plane(Vec3::ZERO, Vec3::Z)];
    grains.advance(&s, &mut walls, 25_000).unwrap();
    let mass: f64 = (0..grains.len()).map(|k| grains.mass(k)).sum();
    let pressure = mass * 9.81 / (size * size);
    assert!((walls[0].force.z / (-mass * 9.81) - 1.0).abs() < 0.02);
    // the integral of sigma_zz over the bed is sum of m g z
    let top = 0.06;
    let stress = grains.probe(&Probe { low: Vec3::ZERO, high: Vec3::new(size, size, top) }, &s).stress;
    let moment: f64 = (0..grains.len()).map(|k| grains.mass(k) * 9.81 * (grains.grain(k).position.z - R)).sum();
    let expected = moment / (size * size * top);
    assert!((stress.z_axis.z / expected - 1.0).abs() < 0.05, "{} {expected} {pressure}", stress.z_axis.z);
    let inside = Probe { low: Vec3::new(0.0, 0.0, 0.005), high: Vec3::new(size, size, 0.03) };
    let fraction = grains.probe(&inside, &s).packing;
    assert!((0.5..0.66).contains(&fraction), "{fraction}");
    let z = grains.coordination();
    assert!((3.5..6.5).contains(&z), "{z}");
    // a probe of the whole world holds all of it, images of what pokes through its sides too
    let whole = Probe { low: Vec3::new(0.0, 0.0, -0.01), high: Vec3::new(size, size, 0.2) };
    let probed = grains.probe(&whole, &s);
    let volume = grains.len() as f64 * 4.0 / 3.0 * std::f64::consts::PI * R * R * R;
    assert!((probed.packing * size * size * 0.21 / volume - 1.0).abs() < 1e-12, "{}", probed.packing);
    assert!((probed.mass / mass - 1.0).abs() < 1e-12);
    assert!((probed.coordination - z).abs() < 1e-12);
    assert!((probed.stress.z_axis.z / (moment / (size * size * 0.21)) - 1.0).abs() < 0.05);
    // two halves make the whole
    let mut halves = [whole; 2];
    (halves[0].high.x, halves[1].low.x) = (0.4 * size, 0.4 * size);
    let halves = halves.map(|half| grains.probe(&half, &s));
    let sum = 0.4 * halves[0].stress + 0.6 * halves[1].stress;
    let apart = (sum - probed.stress).to_cols_array().into_iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    assert!(apart < 1e-3 * probed.stress.z_axis.z, "{apart}");
    assert!((0.4 * halves[0].packing + 0.6 * halves[1].packing - probed.packing).abs() < 1e-12);
}

#[test]
fn a_cone_has_its_angle() {
    let s = settings(0.5, 0.5, 1e-5, 9.81);
    let mut grains = Grains::new();
    let slope = 0.5;
    for x in -20i32..=20 {
        for y in -20i32..=20 {
            let p = Vec3::new(f64::from(x), f64::from(y), 0.0) * 2.0 * R;
            let height = slope * (20.0 * 2.0 * R - p.length());
            let mut z = R;
            while z + R <= height {
                grains.insert(&Grain::at(p + Vec3::Z * z, R), &s).unwrap();
                z += 2.0 * R;
            }
        }
    }
    let pile = grains.angle_of_repose(None, 8).unwrap();
    assert!((pile.angle.to_degrees() - 26.6).abs() < 4.0, "{pile:?}");
    assert!(Grains::new().angle_of_repose(None, 8).is_none());
}

#[test]
fn files_come_back_as_they_were() {
    let s = settings(0.5, 0.5, 1e-5, 9.81);
    let grains = cloud(&s, [3, 3, 3], 0.5, 6);
    let text = grains.to_csv();
    let back = grains_from_csv("a.csv", &text).unwrap();
    assert_eq!(back, grains_from_csv("a.csv", &format!("\u{feff}{text}")).unwrap());
    let start: Vec<Grain> = grains.by_id().iter().map(|g| g.1).collect();
    assert_eq!(back, start);
    let vtk = grains.to_vtk();
    assert!(vtk.contains("POINTS 27 double") && vtk.contains("VECTORS spin double"));
    for (text, line) in [
        ("", 1),
        ("x,y,z\n1,2,3", 1),
        ("x,y,z,radius\n1,2,3", 2),
        ("x,y,z,radius\n1,2,3,nan", 2),
        ("x,q", 1),
        ("x,y,z,radius\n", 1),
        ("x,x,y,z,radius", 1),
    ] {
        let error = grains_from_csv("a.csv", text).unwrap_err();
        assert!(error.to_string().starts_with(&format!("a.csv:{line}:")), "{error}");
    }
}
