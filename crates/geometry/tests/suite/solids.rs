//! Solids built from simple ones: volumes in closed form, coplanar and touching faces, the same bits every time, errors.

use std::f64::consts::PI;
use tippe_geometry::{Gear, Mesh, MeshError, Pose, Quat, Solid, SolidError, Thread, Vec3};

use crate::random::Random;

/// Area of the regular polygon with n corners on a circle, over that of the circle.
fn share(n: u32) -> f64 {
    let a = 2.0 * PI / n as f64;
    libm::sin(a) / a
}

#[track_caller]
fn volume(solid: &Solid, exact: f64, within: f64) -> Mesh {
    let mesh = solid.mesh().unwrap_or_else(|e| panic!("{e}"));
    let error = mesh.volume() / exact - 1.0;
    assert!(error.abs() <= within, "{} instead of {exact}: {error:e}", mesh.volume());
    mesh
}

#[test]
fn simple_solids_have_the_volume_of_their_polyhedra() {
    volume(&Solid::cuboid(Vec3::new(1.0, 2.0, 3.0)), 6.0, 1e-15);
    volume(&Solid::cylinder(0.5, 2.0, 37), share(37) * PI * 0.25 * 2.0, 1e-13);
    let cone = |radius, top_radius| Solid::Cone { radius, top_radius, length: 3.0, segments: 24 };
    volume(&cone(0.5, 0.0), share(24) * PI * 0.25, 1e-13);
    volume(&cone(0.0, 0.5), share(24) * PI * 0.25, 1e-13);
    volume(&cone(0.5, 0.25), share(24) * PI * (0.25 + 0.125 + 0.0625), 1e-13);
    let ball = Solid::sphere(1.0, 400).mesh().unwrap();
    assert!((ball.volume() / (4.0 / 3.0 * PI) - 1.0).abs() < 2e-4);
    // A torus with a square cross-section, a ring, and a quarter of it (Pappus: area times the way of the centroid).
    let square = vec![[2.0, 0.0], [3.0, 0.0], [3.0, 1.0], [2.0, 1.0]];
    volume(&Solid::revolved(square.clone(), 100), share(100) * 2.0 * PI * 2.5, 1e-13);
    let clockwise: Vec<[f64; 2]> = square.iter().rev().copied().collect();
    volume(&Solid::revolved(clockwise, 100), share(100) * 2.0 * PI * 2.5, 1e-13);
    let quarter = Solid::Revolved { profile: square, angle: 0.5 * PI, segments: 100 };
    volume(&quarter, share(100) * 0.5 * PI * 2.5, 1e-13);
    // Half a ball as a revolved profile that lies along the axis.
    let profile = vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
    volume(&Solid::revolved(profile, 50), share(50) * PI / 3.0, 1e-13);
}

#[test]
fn concave_polygons_with_holes() {
    // An L with a square and a triangular hole.
    let outline = vec![[0.0, 0.0], [4.0, 0.0], [4.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0], [0.0, 0.0]];
    let holes =
        vec![vec![[0.25, 0.25], [0.75, 0.25], [0.75, 0.75], [0.25, 0.75]], vec![[2.0, 0.25], [3.0, 0.25], [2.0, 0.75]]];
    let solid = Solid::Prism { outline: outline.clone(), holes, length: 2.0 };
    let mesh = volume(&solid, 2.0 * (4.0 + 2.0 - 0.25 - 0.25), 1e-14);
    assert_eq!(mesh.parts(), 1);
    // Bow tie: the crossing is named.
    let tie = Solid::prism(vec![[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [0.0, 2.0]], 1.0);
    assert_eq!(tie.mesh().unwrap_err(), SolidError::Crossing { at: [1.0, 1.0] });
    assert!(tie.mesh().unwrap_err().to_string().contains("(1, 1)"));
    // Touching itself, folding back, a hole outside, a hole that crosses.
    let bad = |outline: Vec<[f64; 2]>, holes| Solid::Prism { outline, holes, length: 1.0 }.mesh().unwrap_err();
    let touching = vec![[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [1.0, 0.0], [0.0, 2.0]];
    assert_eq!(bad(touching, vec![]), SolidError::Crossing { at: [1.0, 0.0] });
    let folded = vec![[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [1.0, 1.0]];
    let on_a_line = vec![[0.0, 0.0], [1.0, 0.5], [3.0, 1.5], [2.0, 1.0]];
    assert_eq!(bad(on_a_line, vec![]), SolidError::OnALine { corners: 4 });
    assert!(matches!(bad(folded, vec![]), SolidError::Crossing { .. }));
    let square = |x: f64, y: f64| vec![[x, y], [x + 0.5, y], [x + 0.5, y + 0.5], [x, y + 0.5]];
    assert_eq!(bad(outline.clone(), vec![square(7.0, 0.0)]), SolidError::Hole { hole: 0 });
    assert!(matches!(bad(outline.clone(), vec![square(0.75, 0.7)]), SolidError::Crossing { .. }));
    assert_eq!(bad(vec![[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]], vec![]), SolidError::Outline { points: 2 });
    assert!(matches!(bad(vec![[0.0, f64::NAN], [1.0, 0.0], [0.0, 1.0]], vec![]), SolidError::NotFinite { .. }));
    let big = Solid::Prism { outline, holes: vec![], length: 0.0 };
    assert!(matches!(big.mesh(), Err(SolidError::Length { what: "length", .. })));
}

#[test]
fn booleans_of_boxes_are_exact_also_where_faces_touch() {
    let unit = || Solid::cuboid(Vec3::ONE);
    for (shift, common) in [
        (Vec3::new(0.5, 0.25, 0.125), 0.5 * 0.75 * 0.875),
        (Vec3::new(0.5, 0.0, 0.0), 0.5),  // four faces in the planes of the other's
        (Vec3::new(0.5, 0.5, 0.0), 0.25), // edges that meet edges
        (Vec3::ZERO, 1.0),                // the same solid
    ] {
        volume(&unit().and(unit().at(shift)), 2.0 - common, 1e-14);
        volume(&unit().within(unit().at(shift)), common, 1e-14);
        let rest = unit().minus(unit().at(shift));
        if common < 1.0 {
            volume(&rest, 1.0 - common, 1e-14);
        } else {
            assert_eq!(rest.mesh().unwrap_err(), SolidError::Vanishes { operation: "difference" });
        }
    }
    // Face on face: one box of 12 triangles and no face inside.
    let joined = volume(&unit().and(unit().at(Vec3::X)), 2.0, 1e-14);
    assert_eq!((joined.parts(), joined.triangles().len(), joined.vertices().len()), (1, 12, 8));
    // Edge on edge, corner on corner, apart: two parts.
    for shift in [Vec3::new(1.0, 1.0, 0.0), Vec3::ONE, Vec3::X * 3.0] {
        volume(&unit().and(unit().at(shift)), 2.0, 1e-14);
        let gone = unit().within(unit().at(shift)).mesh().unwrap_err();
        assert_eq!(gone, SolidError::Vanishes { operation: "intersection" });
    }
    // A cavity, and matter in it again.
    let hollow = unit().minus(unit().scaled(Vec3::splat(0.5)));
    assert_eq!(volume(&hollow, 0.875, 1e-14).parts(), 2);
    let core = unit().scaled(Vec3::splat(0.25));
    assert_eq!(volume(&hollow.and(core), 0.875 + 1.0 / 64.0, 1e-14).parts(), 3);
    assert!(matches!(Solid::Union { of: vec![] }.mesh(), Err(SolidError::Nothing { .. })));
}

/// Cylinder of 6 slots and 6 locking arcs: a Geneva wheel.
fn geneva(slots: u32) -> Solid {
    let disc = Solid::cylinder(0.05, 0.01, 128);
    let slot = Solid::cuboid(Vec3::new(0.05, 0.006, 0.02)).at(Vec3::X * 0.05);
    let arc = Solid::cylinder(0.02, 0.02, 64).at(Vec3::X * 0.06).turned(Vec3::Z, PI / slots as f64);
    disc.minus(slot.around(slots)).minus(arc.around(slots))
}

#[test]
fn the_same_recipe_gives_the_same_bits() {
    let first = geneva(6).mesh().unwrap();
    for _ in 0..10 {
        assert_eq!(geneva(6).mesh().unwrap(), first);
    }
    assert_eq!(first.parts(), 1);
    for slots in [3, 4, 8] {
        geneva(slots).mesh().unwrap();
    }
    // Recipes are data.
    let text = serde_json::to_string(&geneva(6)).unwrap();
    let again: Solid = serde_json::from_str(&text).unwrap();
    assert_eq!(again.mesh().unwrap(), first);
}

#[test]
fn volumes_of_union_and_intersection_add_up() {
    // vol(A) + vol(B) = vol(A u B) + vol(A n B) = vol(A \ B) + vol(A n B) + vol(B), near-coplanar poses included.
    let mut random = Random(77);
    let (mut worst, mut tried) = (0.0f64, 0);
    for k in 0..150 {
        let a = Solid::cuboid(random.vector(0.5, 1.5));
        let b = match k % 3 {
            0 => Solid::cuboid(random.vector(0.5, 1.5)),
            1 => Solid::cylinder(random.uniform(0.2, 0.8), random.uniform(0.3, 1.5), 5 + k),
            _ => Solid::sphere(random.uniform(0.3, 0.8), 12),
        };
        let tilt = if k % 2 == 0 { 1.0 } else { libm::pow(10.0, -random.uniform(3.0, 16.0)) };
        let q = Quat::from_scaled_axis(random.direction() * tilt);
        let b = b.placed(Pose::new(q, random.vector(-0.4, 0.4) * if k % 5 == 0 { 0.0 } else { 1.0 }));
        let v = |s: Solid| match s.mesh() {
            Ok(m) => m.volume(),
            Err(SolidError::Vanishes { .. }) => 0.0,
            Err(e) => panic!("case {k}: {e}"),
        };
        let (va, vb) = (v(a.clone()), v(b.clone()));
        let common = v(a.clone().within(b.clone()));
        let error = (v(a.clone().and(b.clone())) + common - va - vb).abs().max((v(a.minus(b)) + common - va).abs());
        worst = worst.max(error);
        tried += 1;
    }
    println!("{tried} pairs, worst sum of volumes off by {worst:.1e}");
    assert!(worst < 1e-10, "{worst:e}");
}

#[test]
fn gears_mesh_at_their_pitch_circles() {
    // Tooth and gap at the pitch circle are pi m/2 each, less the backlash.
    let gear = Gear { backlash: 1e-4, flank_points: 60, segments: 400, hole: 0.005, ..Gear::new(0.002, 20, 0.01) };
    let outline = gear.outline().unwrap();
    let r = gear.pitch_radius();
    assert_eq!(r, 0.02);
    let crossing = outline
        .windows(2)
        .filter_map(|w| {
            let (r0, r1) = (libm::hypot(w[0][0], w[0][1]), libm::hypot(w[1][0], w[1][1]));
            let t = (r - r0) / (r1 - r0);
            ((r0 < r) != (r1 < r))
                .then(|| libm::atan2(w[0][1] + t * (w[1][1] - w[0][1]), w[0][0] + t * (w[1][0] - w[0][0])))
        })
        .collect::<Vec<f64>>();
    assert_eq!(crossing.len(), 40);
    let thickness = (crossing[1] - crossing[0]) * r;
    assert!((thickness - (0.5 * PI * 0.002 - 1e-4)).abs() < 1e-6, "{thickness}");
    Solid::Gear(gear).mesh().unwrap();
    // Two gears at the distance of their pitch radii, a tooth in a gap: they touch at most by the error of the chords.
    let wheel = |teeth| Gear { flank_points: 40, segments: 200, ..Gear::new(0.002, teeth, 0.01) };
    let (a, b) = (Solid::Gear(wheel(20)), Solid::Gear(wheel(31)));
    let d = wheel(20).pitch_radius() + wheel(31).pitch_radius();
    let tooth_in_gap = PI; // 31 teeth: a gap of b points at -x
    let b = b.turned(Vec3::Z, tooth_in_gap - PI).at(Vec3::X * d);
    match a.within(b).mesh() {
        Err(SolidError::Vanishes { .. }) => {}
        Ok(m) => assert!(m.volume() < 1e-5 * 0.01 * 0.002 * 0.002, "{}", m.volume()),
        Err(e) => panic!("{e}"),
    }
    let bad = |g: Gear| Solid::Gear(g).mesh().unwrap_err();
    assert!(matches!(bad(Gear { teeth: 2, ..gear }), SolidError::Gear { .. }));
    assert!(bad(Gear { addendum: 3.0, ..gear }).to_string().contains("pointed"));
    assert!(matches!(bad(Gear { hole: 0.018, ..gear }), SolidError::Gear { .. }));
    assert!(matches!(bad(Gear { module: f64::NAN, ..gear }), SolidError::Gear { .. }));
}

#[test]
fn threads_for_bolt_and_nut() {
    let bolt = Thread { segments: 48, ..Thread::metric(0.005, 0.0015, 0.012) };
    let mesh = Solid::Thread(bolt).mesh().unwrap();
    assert_eq!(mesh.parts(), 1);
    // Volume of whole turns: pi times the mean of r^2 over a pitch, times the length, within the chords.
    let (R, r) = (bolt.radius, bolt.radius - bolt.depth);
    let flanks = bolt.pitch - bolt.crest - bolt.root;
    let mean = (bolt.crest * R * R + bolt.root * r * r + flanks * (R * R + R * r + r * r) / 3.0) / bolt.pitch;
    let exact = PI * mean * bolt.length;
    assert!((mesh.volume() / exact - share(48)).abs() < 2e-3, "{}", mesh.volume() / exact);
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    mesh.vertices().iter().for_each(|v| (low, high) = (low.min(v.z), high.max(v.z)));
    assert!((low + 0.006).abs() < 1e-15 && (high - 0.006).abs() < 1e-15);
    // The nut: a hexagon without a rod that is wider by the play. The bolt fits in, turned and advanced by one pitch per turn.
    let hexagon =
        (0..6).map(|k| [0.01 * libm::cos(PI / 3.0 * k as f64), 0.01 * libm::sin(PI / 3.0 * k as f64)]).collect();
    let play = 1e-4;
    let hole = Thread { radius: bolt.radius + play, length: 0.012, ..bolt };
    let nut = Solid::prism(hexagon, 0.006).minus(Solid::Thread(hole));
    assert_eq!(nut.mesh().unwrap().parts(), 1);
    for turn in [0.0, 0.25, 0.6] {
        let screwed = Solid::Thread(bolt).turned(Vec3::Z, 2.0 * PI * turn).at(Vec3::Z * (bolt.pitch * turn));
        let overlap = nut.clone().within(screwed).mesh();
        assert_eq!(overlap.unwrap_err(), SolidError::Vanishes { operation: "intersection" }, "{turn}");
    }
    let pushed = Solid::Thread(bolt).at(Vec3::Z * (0.5 * bolt.pitch));
    assert!(nut.within(pushed).mesh().unwrap().volume() > 1e-9);
    let left = Solid::Thread(Thread { left_handed: true, ..bolt }).mesh().unwrap();
    assert!((left.volume() / mesh.volume() - 1.0).abs() < 1e-12);
    assert!(matches!(Solid::Thread(Thread { crest: 0.0014, ..bolt }).mesh(), Err(SolidError::Thread { .. })));
    assert!(matches!(
        Solid::Thread(Thread { pitch: 0.004, ..Thread::metric(0.005, 0.004, 0.01) }).mesh(),
        Err(SolidError::Thread { .. })
    ));
    // A turned profile of too many corners.
    let comb: Vec<[f64; 2]> =
        (0..500).map(|k| [1.0 + (k % 2) as f64, k as f64]).chain([[0.0, 499.0], [0.0, 0.0]]).collect();
    assert_eq!(
        Solid::revolved(comb, 10_000).mesh().unwrap_err(),
        SolidError::Triangles { triangles: 2 * 502 * 10_000 }
    );
    // Far too long: refused by number before anything is made.
    for (thread, part) in [
        (Thread { length: 100.0, ..bolt }, "with 48 segments at most 4166 turns"),
        (Thread { length: 1e9, ..bolt }, "its length is 666666666666.6"),
        (Thread { length: 1e10, ..bolt }, "length must be a positive length up to 1e9 m, but is 10000000000.0 m"),
        (Thread { depth: 0.006, ..bolt }, "its depth 0.006 m is not below its radius 0.005 m"),
    ] {
        let error = Solid::Thread(thread).mesh().unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn places_mirrors_and_copies() {
    let l = Solid::prism(vec![[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]], 1.0);
    volume(&l.clone().mirrored(Vec3::new(1.0, 2.0, 0.5)), 4.0, 1e-14);
    volume(&l.clone().scaled(Vec3::new(-2.0, 1.0, 0.5)), 4.0, 1e-14);
    volume(&l.clone().turned(Vec3::new(0.3, -1.0, 2.0), 1.0).at(Vec3::splat(5.0)), 4.0, 1e-13);
    volume(&Solid::cuboid(Vec3::ONE).along(5, Vec3::X), 5.0, 1e-14);
    assert_eq!(Solid::cuboid(Vec3::ONE).along(5, Vec3::X * 2.0).mesh().unwrap().parts(), 5);
    assert_eq!(Solid::cuboid(Vec3::ONE).at(Vec3::X * 5.0).around(7).mesh().unwrap().parts(), 7);
    assert!(matches!(l.clone().around(0).mesh(), Err(SolidError::Count { .. })));
    assert!(matches!(l.clone().scaled(Vec3::new(0.0, 1.0, 1.0)).mesh(), Err(SolidError::Zero { .. })));
    assert!(matches!(l.mirrored(Vec3::ZERO).mesh(), Err(SolidError::Zero { .. })));
    let open = Solid::Mesh(tippe_geometry::TriMesh {
        vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        triangles: vec![[0, 1, 2]],
    });
    assert!(matches!(open.mesh(), Err(SolidError::Mesh(MeshError::Open { .. }))));
}
