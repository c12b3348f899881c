//! Overlaps against references in exact or 25-digit arithmetic (`tests/data`: caps and lenses, boxes, tetrahedra), and
//! against their own derivatives.

use crate::distance_truth::{number, pose, vector};
use crate::random::Random;
use serde_json::Value;
use std::sync::Arc;
use tippe_geometry::{Hull, Overlap, Pose, Quat, Shape, Vec3, overlap};

fn cases(text: &str) -> Vec<Value> {
    let v: Value = serde_json::from_str(text).unwrap();
    v["reference"]["cases"].as_array().unwrap().clone()
}

fn near(a: f64, b: f64, tolerance: f64, what: &str) {
    assert!((a - b).abs() <= tolerance, "{what}: {a} against {b}, off by {:e}", a - b);
}

#[test]
fn caps_and_lenses() {
    for c in cases(include_str!("../data/C01_sphere_overlap.json")) {
        let rel = |a: f64, key: &str| near(a / number(&c[key]), 1.0, 1e-13, key);
        if c["type"] == "sphere-plane" {
            let (r, depth) = (number(&c["r"]), number(&c["depth"]));
            let ball = Pose::at(Vec3::new(0.0, 0.0, r - depth));
            let o = overlap(&Shape::HalfSpace, &Pose::IDENTITY, &Shape::Sphere { radius: r }, &ball).unwrap();
            // The height of the centre is rounded to 1e-16 r: so is the depth.
            let rounding = 1e-13 + 3.0 * 1e-16 * r / depth;
            near(o.volume / number(&c["volume"]), 1.0, rounding, "volume");
            near(o.centroid.z / number(&c["centroid_height_above_plane"]), 1.0, rounding, "centroid");
            near(o.area / number(&c["projected_area"]), 1.0, rounding, "area");
            near(o.extent / number(&c["depth_along_normal"]), 1.0, rounding, "extent");
        } else {
            let (r1, r2) = (number(&c["r1"]), number(&c["r2"]));
            let X2 = Pose::at(Vec3::new(number(&c["centre_distance"]), 0.0, 0.0));
            let s = |radius| Shape::Sphere { radius };
            let o = overlap(&s(r1), &Pose::IDENTITY, &s(r2), &X2).unwrap();
            rel(o.volume, "volume");
            rel(o.centroid.x, "centroid_from_centre1_towards_centre2");
            if c.get("projected_area").is_some() && number(&c["projected_area"]) > 0.0 {
                rel(o.area, "projected_area");
            }
            if c.get("depth_along_normal").is_some() {
                rel(o.extent, "depth_along_normal");
            }
        }
    }
}

/// The columns of the patch fill the volume.
fn check_columns(o: &Overlap, tolerance: f64) {
    let (mut v, mut first) = (0.0, Vec3::ZERO);
    for p in &o.patch {
        assert!(p.area >= 0.0 && p.depth >= 0.0);
        v += p.area * p.depth;
        first += (p.point - o.centroid) * (p.area * p.depth);
    }
    near(v / o.volume, 1.0, tolerance, "columns' volume");
    let across = first - o.normal * o.normal.dot(first);
    assert!(across.length() <= tolerance * o.volume, "columns' first moment off by {:e}", across.length() / o.volume);
}

fn compare(o: &Overlap, c: &Value) {
    near(o.volume / number(&c["volume"]), 1.0, 1e-12, "volume");
    assert!((o.centroid - vector(&c["centroid"])).length() < 1e-11, "centroid {:?} {:?}", o.centroid, c["centroid"]);
    let area = number(&c["projected_area"]);
    if area > 1e-9 {
        assert!((o.normal - vector(&c["n_f"])).length() < 1e-11, "normal {:?} {:?}", o.normal, c["n_f"]);
        near(o.area, area, 1e-12, "area");
        near(o.extent, number(&c["depth_along_n_f"]), 1e-11, "extent");
        check_columns(o, 1e-10);
    }
}

#[test]
fn boxes() {
    for c in cases(include_str!("../data/C02_box_box.json")) {
        let s = |v: &Value| Shape::Box { half_extents: vector(&v["half_extents"]), smoothing: 0.0 };
        // Quaternions are given exactly as integers.
        let place = |v: &Value| {
            let q = &v["integer_quaternion"];
            let q = Quat::from_xyzw(number(&q[1]), number(&q[2]), number(&q[3]), number(&q[0]));
            Pose::new(q.normalize(), pose(v).position)
        };
        let o = overlap(&s(&c["A"]), &place(&c["A"]), &s(&c["B"]), &place(&c["B"]));
        compare(&o.unwrap_or_else(|| panic!("case {}", c["id"])), &c);
    }
}

#[test]
fn tetrahedra() {
    for c in cases(include_str!("../data/C04_tetra_tetra.json")) {
        let s = |v: &Value| {
            let points: Vec<Vec3> = v.as_array().unwrap().iter().map(vector).collect();
            Shape::Hull(Arc::new(Hull::new(&points).unwrap()))
        };
        let o = overlap(&s(&c["A"]), &Pose::IDENTITY, &s(&c["B"]), &Pose::IDENTITY);
        match o {
            None => assert!(number(&c["volume"]) == 0.0, "case {}", c["id"]),
            Some(o) => compare(&o, &c),
        }
    }
}

fn against_half_space() -> Vec<Shape> {
    let h = Vec3::new(0.5, 0.3, 0.2);
    let hull = Hull::new(&[Vec3::X, Vec3::Y, Vec3::Z * 0.7, Vec3::ZERO, Vec3::splat(0.5)]).unwrap();
    vec![
        Shape::Sphere { radius: 0.4 },
        Shape::Ellipsoid { semi_axes: h },
        Shape::Box { half_extents: h, smoothing: 0.0 },
        Shape::Hull(Arc::new(hull)),
        Shape::Cylinder { radius: 0.3, half_height: 0.4, smoothing: 0.0 },
        Shape::Capsule { radius: 0.3, half_length: 0.4 },
        Shape::Cone { base_radius: 0.3, top_radius: 0.0, half_height: 0.4, smoothing: 0.0 },
        Shape::Cone { base_radius: 0.2, top_radius: 0.4, half_height: 0.4, smoothing: 0.0 },
    ]
}

/// dV/dx = -area normal when solid 2 moves by x, by central differences.
fn check_derivative(s1: &Shape, X1: &Pose, s2: &Shape, X2: &Pose, tolerance: f64) {
    let Some(o) = overlap(s1, X1, s2, X2) else { return };
    let step = 1e-5;
    let volume = |d: Vec3| overlap(s1, X1, s2, &Pose::new(X2.rotation, X2.position + d)).map_or(0.0, |o| o.volume);
    for d in [Vec3::X, Vec3::Y, Vec3::Z] {
        let slope = (volume(d * step) - volume(d * -step)) / (2.0 * step);
        near(slope, -o.area * o.normal.dot(d), tolerance, &format!("{s1:?} {s2:?} dV along {d}"));
    }
}

#[test]
fn volume_changes_with_the_projected_area() {
    let mut r = Random(5);
    for s in against_half_space() {
        for _ in 0..60 {
            let X2 = Pose::new(r.rotation(), r.vector(-0.3, 0.3));
            let X1 = Pose::new(r.rotation(), r.vector(-0.1, 0.1));
            check_derivative(&Shape::HalfSpace, &X1, &s, &X2, 1e-6);
            check_derivative(&s, &X2, &Shape::HalfSpace, &X1, 1e-6);
        }
    }
    for _ in 0..300 {
        let b = |r: &mut Random| Shape::Box { half_extents: r.vector(0.2, 0.6), smoothing: 0.0 };
        let (s1, s2) = (b(&mut r), b(&mut r));
        let X1 = Pose::new(r.rotation(), r.vector(-0.3, 0.3));
        check_derivative(&s1, &X1, &s2, &Pose::new(r.rotation(), r.vector(-0.3, 0.3)), 1e-6);
    }
}

#[test]
fn half_space_overlaps_match_the_mesh() {
    // The same solid as a hull of its mesh: the volume differs by the mesh's own error.
    let mut r = Random(6);
    for s in against_half_space() {
        let points = s.surface_mesh(64).vertices;
        let mesh = Shape::Hull(Arc::new(Hull::new(&points).unwrap()));
        for _ in 0..5 {
            let q = r.rotation();
            // Some way into the solid from its lowest point.
            let lowest = (q * s.support(q.conjugate() * -Vec3::Z)).z;
            let X = Pose::new(q, Vec3::new(0.0, 0.0, -lowest - r.uniform(0.1, 0.3)));
            let (a, b) = (
                overlap(&Shape::HalfSpace, &Pose::IDENTITY, &s, &X).unwrap(),
                overlap(&Shape::HalfSpace, &Pose::IDENTITY, &mesh, &X).unwrap(),
            );
            near(a.volume / b.volume, 1.0, 2e-2, "volume");
            near(a.area / b.area, 1.0, 2e-2, "area");
            near(a.extent / b.extent, 1.0, 2e-2, "extent");
            assert!((a.centroid - b.centroid).length() < 3e-3, "{s:?}");
            if !a.patch.is_empty() {
                check_columns(&a, 1e-10);
            }
        }
    }
}

#[test]
fn lying_and_standing_cylinder() {
    let (r, h, d) = (0.3, 0.4, 1e-6);
    let s = Shape::Cylinder { radius: r, half_height: h, smoothing: 0.0 };
    let standing = Pose::at(Vec3::new(0.0, 0.0, h - d));
    let o = overlap(&Shape::HalfSpace, &Pose::IDENTITY, &s, &standing).unwrap();
    let disc = std::f64::consts::PI * r * r;
    near(o.volume / (disc * d), 1.0, 1e-9, "standing volume");
    near(o.area / disc, 1.0, 1e-9, "standing area");
    let q = Quat::from_xyzw(std::f64::consts::FRAC_1_SQRT_2, 0.0, 0.0, std::f64::consts::FRAC_1_SQRT_2);
    let lying = Pose::new(q, Vec3::new(0.0, 0.0, r - d));
    let o = overlap(&Shape::HalfSpace, &Pose::IDENTITY, &s, &lying).unwrap();
    let phi = libm::acos(1.0 - d / r);
    near(o.volume / (r * r * (phi - libm::sin(phi) * libm::cos(phi)) * 2.0 * h), 1.0, 1e-6, "lying volume");
    near(o.area / (2.0 * r * libm::sin(phi) * 2.0 * h), 1.0, 1e-6, "lying area");
}

/// The moments are those of the overlap's own columns, for every pose of a box or hull on a half-space and of boxes and hulls.
#[test]
fn moments_agree_with_the_overlap() {
    let mut random = Random(11);
    let cuboid = |h: Vec3| Shape::Box { half_extents: h, smoothing: 0.0 };
    let corners: Vec<Vec3> = (0..8).map(|_| random.direction() * 0.5).collect();
    let hull = Shape::Hull(Arc::new(Hull::new(&corners).unwrap()));
    let mut met = 0;
    for k in 0..5000 {
        let (a, b) = match k % 5 {
            0 => (Shape::HalfSpace, cuboid(Vec3::new(0.3, 0.2, 0.1))),
            1 => (hull.clone(), Shape::HalfSpace),
            2 => (hull.clone(), hull.clone()),
            3 => (cuboid(Vec3::new(0.2, 0.3, 0.1)), hull.clone()),
            _ => (cuboid(Vec3::new(0.3, 0.2, 0.1)), cuboid(Vec3::new(0.2, 0.25, 0.3))),
        };
        let pose = |r: &mut Random| Pose::new(r.rotation(), r.direction() * 0.3);
        let (X1, X2) = (pose(&mut random), pose(&mut random));
        let (o, m) = (overlap(&a, &X1, &b, &X2), tippe_geometry::moments(&a, &X1, &b, &X2));
        let (Some(o), Some(m)) = (&o, &m) else {
            assert!(o.as_ref().map_or(0.0, |o| o.volume) < 1e-12 && m.map_or(0.0, |m| m.volume) < 1e-12);
            continue;
        };
        if o.area < 1e-6 {
            continue;
        }
        met += 1;
        near(m.volume / o.volume, 1.0, 1e-9, "volume");
        assert!((m.centroid - o.centroid).length() < 1e-9, "centroid");
        assert!((m.normal - o.normal).length() < 1e-7, "normal");
        near(m.area, o.area, 1e-9, "area");
        near(m.extent, o.extent, 1e-8, "extent");
        // The second moment seen along the normal by brute force: three-point columns are exact to second order only.
        let s = m.second;
        let trace = s.x_axis.x + s.y_axis.y + s.z_axis.z;
        assert!(trace > 0.0 && trace < 0.2 * o.volume, "{trace} {}", o.volume);
    }
    assert!(met > 1000, "{met}");
}

/// A level box dipped in by d: m = a b d, second moments a b d (a^2, b^2, d^2)/12; flush boxes keep the normal of their faces.
#[test]
fn moments_of_prisms() {
    let cuboid = Shape::Box { half_extents: Vec3::new(0.1, 0.2, 0.3), smoothing: 0.0 };
    let d = 1e-6;
    let at = |x: f64, z: f64| Pose::at(Vec3::new(x, 0.0, z));
    let m = tippe_geometry::moments(&Shape::HalfSpace, &Pose::IDENTITY, &cuboid, &at(0.0, 0.3 - d)).unwrap();
    near(m.volume / (0.08 * d), 1.0, 1e-10, "volume");
    near(m.second.x_axis.x / (0.08 * d * 0.04 / 12.0), 1.0, 1e-9, "second moment");
    near(m.second.y_axis.y / (0.08 * d * 0.16 / 12.0), 1.0, 1e-9, "second moment");
    near(m.centroid.z, -0.5 * d, 1e-16, "centroid");
    for shift in [0.0, 1e-12, -1e-9] {
        let m = tippe_geometry::moments(&cuboid, &at(0.0, 0.0), &cuboid, &at(shift, 0.6 - d)).unwrap();
        near(m.volume / (0.08 * d), 1.0, 1e-8, "volume");
        assert!((m.face_normal - Vec3::Z).length() < 1e-12);
        near(m.depth, d, 1e-11, "depth");
    }
}
