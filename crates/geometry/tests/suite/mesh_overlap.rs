//! Regions of the overlap of meshes: exact references (`tests/data`), boolmesh, derivatives, what coincides.

use crate::distance_truth::{number, pose, vector};
use crate::random::Random;
use crate::surfaces::{ball, boolean, concave, cuboid, placed, surface};
use boolmesh::prelude::OpType;
use serde_json::Value;
use tippe_geometry::{Pose, Quat, Region, Shape, Surface, SurfaceWork, TriMesh, Vec3, surface_overlap};

fn cases(text: &str) -> Vec<Value> {
    let v: Value = serde_json::from_str(text).unwrap();
    v["reference"]["cases"].as_array().unwrap().clone()
}

fn regions(s1: &Surface, X1: &Pose, s2: &Surface, X2: &Pose) -> Vec<Region> {
    surface_overlap(s1, X1, s2, X2, &mut SurfaceWork::default()).to_vec()
}

fn volume(s1: &Surface, X1: &Pose, s2: &Surface, X2: &Pose) -> f64 {
    regions(s1, X1, s2, X2).iter().map(|r| r.volume).sum()
}

fn compare(found: &[Region], c: &Value) {
    let v = number(&c["volume"]);
    if v == 0.0 {
        assert!(found.is_empty(), "{found:?}");
        return;
    }
    assert_eq!(found.len(), 1, "case {}", c["id"]);
    let r = &found[0];
    assert!((r.volume / v - 1.0).abs() < 1e-9, "case {}: {} {v}", c["id"], r.volume);
    assert!((r.centroid - vector(&c["centroid"])).length() < 1e-9);
    let area = number(&c["projected_area"]);
    if area > 1e-9 {
        assert!((r.normal - vector(&c["n_f"])).length() < 1e-9);
        assert!((r.area / area - 1.0).abs() < 1e-9);
        assert!((r.extent / number(&c["depth_along_n_f"]) - 1.0).abs() < 1e-9);
    } else {
        assert_eq!(r.area, 0.0);
    }
}

#[test]
fn truth_boxes() {
    for c in cases(include_str!("../data/C02_box_box.json")) {
        let s = |v: &Value| surface(&cuboid(vector(&v["half_extents"])));
        let place = |v: &Value| {
            let q = &v["integer_quaternion"];
            let q = Quat::from_xyzw(number(&q[1]), number(&q[2]), number(&q[3]), number(&q[0]));
            Pose::new(q.normalize(), vector(&v["position"]))
        };
        compare(&regions(&s(&c["A"]), &place(&c["A"]), &s(&c["B"]), &place(&c["B"])), &c);
    }
}

#[test]
fn truth_tetrahedra() {
    let tetrahedron = |v: &Value| {
        let vertices: Vec<Vec3> = v.as_array().unwrap().iter().map(vector).collect();
        let mut mesh = TriMesh { vertices, triangles: vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]] };
        if mesh.volume() < 0.0 {
            mesh.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        }
        surface(&mesh)
    };
    for c in cases(include_str!("../data/C04_tetra_tetra.json")) {
        compare(&regions(&tetrahedron(&c["A"]), &Pose::IDENTITY, &tetrahedron(&c["B"]), &Pose::IDENTITY), &c);
    }
}

/// Round solids as meshes: the error is that of the mesh and falls with its square.
#[test]
fn truth_round_solids() {
    for c in cases(include_str!("../data/C01_sphere_overlap.json")) {
        if c["type"] == "sphere-plane" || number(&c["volume"]) < 1e-3 {
            continue;
        }
        let X2 = Pose::at(Vec3::new(number(&c["centre_distance"]), 0.0, 0.0));
        let [coarse, fine] = [60, 120].map(|n| {
            let (s1, s2) = (surface(&ball(number(&c["r1"]), n)), surface(&ball(number(&c["r2"]), n)));
            (1.0 - volume(&s1, &Pose::IDENTITY, &s2, &X2) / number(&c["volume"])).abs()
        });
        assert!(coarse < 0.1 && fine < 0.3 * coarse, "{coarse} {fine}");
    }
    for c in cases(include_str!("../data/C03_cylinder_box.json")) {
        let (cylinder, b) = (&c["cylinder"], &c["box"]);
        let (radius, half_height) = (number(&cylinder["radius"]), number(&cylinder["half_height"]));
        let shape = Shape::Cylinder { radius, half_height, smoothing: 0.0 };
        let [coarse, fine] = [48, 96].map(|n| {
            let s1 = surface(&shape.surface_mesh(n));
            let found = regions(&s1, &Pose::IDENTITY, &surface(&cuboid(vector(&b["half_extents"]))), &pose(b));
            assert_eq!(found.len(), 1);
            assert!((found[0].centroid - vector(&c["centroid"])).length() < 20.0 * radius / (n * n) as f64);
            (1.0 - found[0].volume / number(&c["volume"])).abs()
        });
        assert!(coarse < 0.1 && fine < 0.4 * coarse + 1e-5, "{coarse} {fine}");
    }
}

#[test]
fn concave_meshes_agree_with_boolmesh() {
    let mut r = Random(21);
    let mut work = SurfaceWork::default();
    for case in 0..150 {
        let (a, b) = (concave(&mut r), concave(&mut r));
        let X2 = Pose::new(r.rotation(), r.vector(-0.5, 0.5));
        let found = surface_overlap(&surface(&a), &Pose::IDENTITY, &surface(&b), &X2, &mut work);
        let total: f64 = found.iter().map(|r| r.volume).sum();
        let reference = boolean(&a, &placed(&b, &X2), OpType::Intersect).map_or(0.0, |m| m.volume());
        let scale = a.volume().min(b.volume());
        assert!((total - reference).abs() < 1e-9 * scale, "case {case}: {total} {reference}");
    }
}

#[test]
fn volume_changes_with_the_area_vector() {
    let mut r = Random(22);
    let mut met = 0;
    for _ in 0..60 {
        let (s1, s2) = (surface(&concave(&mut r)), surface(&concave(&mut r)));
        let X1 = Pose::new(r.rotation(), r.vector(-0.1, 0.1));
        let X2 = Pose::new(r.rotation(), r.vector(-0.6, 0.6));
        let found = regions(&s1, &X1, &s2, &X2);
        let vector = found.iter().fold(Vec3::ZERO, |v, r| v + r.normal * r.area);
        met += found.len();
        let step = 1e-5;
        for d in [Vec3::X, Vec3::Y, Vec3::Z] {
            let at = |h: f64| volume(&s1, &X1, &s2, &Pose::new(X2.rotation, X2.position + d * h));
            // fourth order: the second derivative jumps where corners pass faces
            let slope = (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * step);
            assert!((slope + vector.dot(d)).abs() < 1e-6, "{slope} {}", vector.dot(d));
        }
    }
    assert!(met > 50, "{met}");
}

/// Turning the pair around, moving both, scaling both: the same answer.
#[test]
fn regions_do_not_depend_on_the_frame() {
    let mut r = Random(23);
    for _ in 0..60 {
        let (a, b) = (concave(&mut r), concave(&mut r));
        let (s1, s2) = (surface(&a), surface(&b));
        let X2 = Pose::new(r.rotation(), r.vector(-0.5, 0.5));
        let forward = regions(&s1, &Pose::IDENTITY, &s2, &X2);
        let total: f64 = forward.iter().map(|r| r.volume).sum();
        let back = regions(&s2, &X2, &s1, &Pose::IDENTITY);
        assert_eq!(forward.len(), back.len());
        for f in &forward {
            let twin = back
                .iter()
                .min_by(|x, y| (x.centroid - f.centroid).length().total_cmp(&(y.centroid - f.centroid).length()));
            let twin = twin.unwrap();
            assert!((twin.volume - f.volume).abs() < 1e-12 && (twin.centroid - f.centroid).length() < 1e-6);
            assert!((twin.normal * twin.area + f.normal * f.area).length() < 1e-11);
        }
        let moved = Pose::new(r.rotation(), r.vector(-1.0, 1.0));
        assert!((volume(&s1, &moved, &s2, &moved.then(&X2)) - total).abs() < 1e-12);
        for scale in [1e-6, 1e6] {
            let grown = |m: &TriMesh| {
                surface(&TriMesh {
                    vertices: m.vertices.iter().map(|v| *v * scale).collect(),
                    triangles: m.triangles.clone(),
                })
            };
            let X2 = Pose::new(X2.rotation, X2.position * scale);
            let v = volume(&grown(&a), &Pose::IDENTITY, &grown(&b), &X2) / (scale * scale * scale);
            assert!((v - total).abs() < 1e-12);
        }
    }
}

#[test]
fn coinciding_faces_edges_and_corners() {
    let h = Vec3::new(0.5, 0.4, 0.3);
    let s = surface(&cuboid(h));
    let full = s.volume();
    let at = |x: f64, y: f64, z: f64| Pose::at(Vec3::new(x, y, z));
    // Identical, flush on two, one and no sides, touching in a face, an edge, a corner.
    for (X2, share) in [
        (at(0.0, 0.0, 0.0), 1.0),
        (at(0.5, 0.0, 0.0), 0.5),
        (at(0.5, 0.4, 0.0), 0.25),
        (at(-0.5, 0.4, 0.3), 0.125),
        (at(1.0, 0.0, 0.0), 0.0),
        (at(-1.0, 0.0, 0.0), 0.0),
        (at(1.0, 0.8, 0.0), 0.0),
        (at(-1.0, 0.8, -0.6), 0.0),
        (at(0.0, 0.0, 0.6), 0.0),
        (at(0.0, 0.2, -0.6), 0.0),
    ] {
        let v = volume(&s, &Pose::IDENTITY, &s, &X2);
        assert!((v - share * full).abs() < 1e-15, "{X2:?} {v}");
        let v = volume(&s, &X2, &s, &Pose::IDENTITY);
        assert!((v - share * full).abs() < 1e-15, "{X2:?} {v}");
    }
    // One inside the other, free and with a common face.
    let small = surface(&cuboid(0.5 * h));
    for X in [at(0.0, 0.0, 0.0), at(0.25, 0.0, 0.0), at(0.25, 0.2, 0.15)] {
        for found in [regions(&s, &Pose::IDENTITY, &small, &X), regions(&small, &X, &s, &Pose::IDENTITY)] {
            assert_eq!(found.len(), 1);
            assert!((found[0].volume / small.volume() - 1.0).abs() < 1e-12);
            assert!((found[0].centroid - X.position).length() < 1e-12);
        }
    }
    let inside = &regions(&s, &Pose::IDENTITY, &small, &Pose::IDENTITY)[0];
    assert_eq!(inside.area, 0.0);
}

/// Meshes with themselves and with their own parts, turned by quarter turns: as many coincidences as there can be.
#[test]
fn concave_meshes_with_themselves() {
    let mut r = Random(24);
    for _ in 0..40 {
        let a = concave(&mut r);
        let s = surface(&a);
        let v = volume(&s, &Pose::IDENTITY, &s, &Pose::IDENTITY);
        assert!((v / s.volume() - 1.0).abs() < 1e-12, "{v} {}", s.volume());
        let b = cuboid(r.vector(0.2, 0.6));
        if let Some(rest) = boolean(&a, &b, OpType::Subtract)
            && let Ok(rest) = Surface::new(&rest)
        {
            // What is left touches the box everywhere along the cut and shares nothing with it but rounding.
            let v = volume(&rest, &Pose::IDENTITY, &surface(&b), &Pose::IDENTITY);
            assert!(v.abs() < 1e-12, "{v}");
            let v = volume(&rest, &Pose::IDENTITY, &s, &Pose::IDENTITY);
            assert!((v / rest.volume() - 1.0).abs() < 1e-11, "{v} {}", rest.volume());
        }
    }
}

/// A frame with a pin through its window, a ring around a bar: parts with holes, regions with voids.
#[test]
fn holes_and_voids() {
    let slab = cuboid(Vec3::new(1.0, 1.0, 0.1));
    let frame = boolean(&slab, &cuboid(Vec3::new(0.5, 0.5, 1.0)), OpType::Subtract).unwrap();
    let s = surface(&frame);
    // A plate pressed onto the frame: one region with a hole in the middle.
    let plate = surface(&cuboid(Vec3::new(0.8, 0.9, 0.1)));
    let found = regions(&s, &Pose::IDENTITY, &plate, &Pose::at(Vec3::new(0.0, 0.0, 0.15)));
    assert_eq!(found.len(), 1);
    let area = 1.6 * 1.8 - 1.0;
    assert!((found[0].volume / (0.05 * area) - 1.0).abs() < 1e-9);
    assert!((found[0].area / area - 1.0).abs() < 1e-9 && (found[0].normal - Vec3::Z).length() < 1e-9);
    assert!((found[0].extent / 0.05 - 1.0).abs() < 1e-9);
    // The same by a plate without corners on the frame's triangles: the window is a hole of one large triangle.
    let found = regions(&plate, &Pose::at(Vec3::new(0.0, 0.0, 0.15)), &s, &Pose::IDENTITY);
    assert_eq!(found.len(), 1);
    // A bar through the window touches nothing; a thicker one crosses in one ring, a flat one in two places.
    let bar = |x: f64, y: f64| surface(&cuboid(Vec3::new(x, y, 1.0)));
    assert!(regions(&s, &Pose::IDENTITY, &bar(0.4, 0.4), &Pose::IDENTITY).is_empty());
    assert_eq!(regions(&s, &Pose::IDENTITY, &bar(0.6, 0.6), &Pose::IDENTITY).len(), 1);
    let two = regions(&s, &Pose::IDENTITY, &bar(0.6, 0.3), &Pose::IDENTITY);
    assert_eq!(two.len(), 2);
    for r in &two {
        assert!((r.volume / (0.1 * 0.6 * 0.2) - 1.0).abs() < 1e-9, "{r:?}");
    }
    // A hollow box that swallows a hollow ball.
    let mut hollow = ball(0.4, 12);
    let core = ball(0.2, 12);
    let base = hollow.vertices.len() as u32;
    hollow.vertices.extend(&core.vertices);
    hollow.triangles.extend(core.triangles.iter().map(|t| [t[0] + base, t[2] + base, t[1] + base]));
    let hollow = surface(&hollow);
    let found = regions(&surface(&cuboid(Vec3::ONE)), &Pose::IDENTITY, &hollow, &Pose::IDENTITY);
    assert_eq!(found.len(), 1);
    assert!((found[0].volume / hollow.volume() - 1.0).abs() < 1e-12);
}

/// Small meshes on a coarse lattice of poses: corners, edges and faces coincide all the time.
fn lattice_cases(count: u64, seed: u64) {
    let mut r = Random(seed);
    let mut work = SurfaceWork::default();
    let step = |r: &mut Random| (r.below(5) as f64 - 2.0) * 0.25;
    let quarter = [
        Quat::IDENTITY,
        Quat::from_xyzw(0.0, 0.0, 1.0, 0.0),
        Quat::from_xyzw(0.5, 0.5, 0.5, 0.5),
        Quat::from_xyzw(0.5, -0.5, 0.5, 0.5),
        Quat::from_xyzw(1.0, 0.0, 0.0, 0.0),
    ];
    let tetra = TriMesh {
        vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
        triangles: vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
    };
    let ell = boolean(
        &cuboid(Vec3::splat(0.5)),
        &placed(&cuboid(Vec3::splat(0.5)), &Pose::at(Vec3::new(0.5, 0.5, 0.0))),
        OpType::Subtract,
    )
    .unwrap();
    let meshes = [cuboid(Vec3::splat(0.5)), cuboid(Vec3::new(0.5, 0.25, 0.75)), tetra, ell, ball(0.5, 4)];
    let solids = meshes.each_ref().map(surface);
    for case in 0..count {
        let (i, j) = (r.below(5), r.below(5));
        let pose = |r: &mut Random| {
            let mut x = Vec3::new(step(r), step(r), step(r));
            let mut q = quarter[r.below(5)];
            match r.below(4) {
                0 => x += r.vector(-1e-15, 1e-15),
                1 => q = (q * Quat::from_xyzw(1e-9, 0.0, -1e-12, 1.0)).normalize(),
                _ => {}
            }
            Pose::new(q, x)
        };
        let (X1, X2) = (pose(&mut r), pose(&mut r));
        let found = surface_overlap(&solids[i], &X1, &solids[j], &X2, &mut work);
        let total: f64 = found.iter().map(|r| r.volume).sum();
        for r in found {
            assert!(r.volume > 0.0 && r.volume.is_finite() && r.centroid.is_finite(), "case {case} {r:?}");
            assert!(r.normal.is_normalized() && r.area >= 0.0 && r.extent >= 0.0, "case {case} {r:?}");
        }
        let least = solids[i].volume().min(solids[j].volume());
        assert!(total <= least * (1.0 + 1e-9), "case {case}: {total} of {least}");
        // moved by nothing that matters: the volume does not jump
        let shifted = Pose::new(X2.rotation, X2.position + r.vector(-1e-9, 1e-9));
        let near: f64 =
            surface_overlap(&solids[i], &X1, &solids[j], &shifted, &mut work).iter().map(|r| r.volume).sum();
        assert!((near - total).abs() < 2e-8, "case {case}: {total} {near}, {i} {X1:?} {j} {X2:?}");
    }
}

#[test]
fn degenerate_lattice() {
    lattice_cases(10_000, 25);
}

/// `cargo test --release -p tippe-geometry -- --ignored a_million`
#[test]
#[ignore = "a minute in a release build"]
fn a_million_degenerate_cases() {
    lattice_cases(1_000_000, 26);
}
