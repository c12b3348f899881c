//! Distances, masses and curvatures that are known in closed form.

use crate::random::Random;
use std::f64::consts::PI;
use std::sync::Arc;
use tippe_geometry::{
    ContactKind, HeightGrid, Hull, Mat3, Pose, Quat, Separation, Shape, ShapeError, Vec3, contact_kind, separation,
    separation_mpr,
};

const BALL: Shape = Shape::Sphere { radius: 0.3 };

fn cube(h: Vec3, smoothing: f64) -> Shape {
    Shape::Box { half_extents: h, smoothing }
}

fn hull_of(s: &Shape, segments: u32) -> Shape {
    Shape::Hull(Arc::new(Hull::new(&s.surface_mesh(segments).vertices).unwrap()))
}

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} against {b}, off by {:e}", a - b);
}

#[test]
fn spheres_mirror_and_swap_bit_by_bit() {
    let mut r = Random(21);
    for _ in 0..20_000 {
        let (s1, s2) = (Shape::Sphere { radius: r.uniform(0.1, 1.0) }, Shape::Sphere { radius: r.uniform(0.1, 1.0) });
        let (p1, p2) = (r.vector(-1.0, 1.0), r.vector(-1.0, 1.0));
        let s = separation(&s1, &Pose::at(p1), &s2, &Pose::at(p2));
        let t = separation(&s2, &Pose::at(p2), &s1, &Pose::at(p1));
        assert_eq!(s, t.flipped());
        let mirror = |v: Vec3| Vec3::new(v.x, -v.y, v.z);
        let m = separation(&s1, &Pose::at(mirror(p1)), &s2, &Pose::at(mirror(p2)));
        let expected =
            Separation { gap: s.gap, normal: mirror(s.normal), point1: mirror(s.point1), point2: mirror(s.point2) };
        assert_eq!(m, expected);
    }
}

#[test]
fn sphere_on_half_space_and_box() {
    let floor = Pose::at(Vec3::new(5.0, 5.0, 1.0));
    let s = separation(&Shape::HalfSpace, &floor, &BALL, &Pose::at(Vec3::new(-2.0, 3.0, 1.29)));
    close(s.gap, -0.01, 1e-15);
    assert_eq!(s.normal, Vec3::Z);
    let table = cube(Vec3::new(1.0, 1.0, 0.1), 0.0);
    for (x, gap, n) in [
        (Vec3::new(0.5, 0.2, 0.35), -0.05, Vec3::Z),
        (Vec3::new(0.5, 0.2, -0.5), 0.1, -Vec3::Z),
        (Vec3::new(1.3, 0.0, 0.5), 0.2, Vec3::new(0.6, 0.0, 0.8)),
        (Vec3::new(0.0, 0.0, 0.04), -0.36, Vec3::Z),
    ] {
        let s = separation(&table, &Pose::IDENTITY, &BALL, &Pose::at(x));
        close(s.gap, gap, 1e-15);
        assert!((s.normal - n).length() < 1e-15);
    }
    // A rounded edge: 0.1 from the sharp one in both directions lies the centre of the rounding.
    let round = cube(Vec3::splat(1.0), 0.1);
    let s = separation(&round, &Pose::IDENTITY, &BALL, &Pose::at(Vec3::new(1.2, 1.3, 0.0)));
    close(s.gap, 0.5 - 0.4, 1e-15);
}

/// Closed forms for a sphere agree with the general routine, which sees the sphere as an ellipsoid.
#[test]
fn sphere_against_everything_agrees_with_the_general_routine() {
    let mut r = Random(22);
    let h = Vec3::new(0.5, 0.3, 0.2);
    let shapes = [
        cube(h, 0.0),
        cube(h, 0.08),
        Shape::Cylinder { radius: 0.3, half_height: 0.5, smoothing: 0.0 },
        Shape::Cylinder { radius: 0.3, half_height: 0.5, smoothing: 0.1 },
        Shape::Capsule { radius: 0.2, half_length: 0.4 },
        Shape::Cone { base_radius: 0.4, top_radius: 0.0, half_height: 0.5, smoothing: 0.0 },
        Shape::Cone { base_radius: 0.4, top_radius: 0.2, half_height: 0.5, smoothing: 0.05 },
        Shape::Ellipsoid { semi_axes: h },
    ];
    let round = Shape::Ellipsoid { semi_axes: Vec3::splat(0.3) };
    for s in &shapes {
        for _ in 0..2000 {
            let X = Pose::new(r.rotation(), r.vector(-1.0, 1.0));
            let ball = Pose::new(r.rotation(), X.position + r.direction() * r.uniform(0.0, 1.2));
            let (a, b) = (separation(s, &X, &BALL, &ball), separation(s, &X, &round, &ball));
            close(a.gap, b.gap, 1e-9);
        }
    }
}

#[test]
fn capsules() {
    let c = Shape::Capsule { radius: 0.1, half_length: 1.0 };
    let lying = Quat::from_rotation_arc(Vec3::Z, Vec3::X);
    let s = separation(&c, &Pose::IDENTITY, &c, &Pose::new(lying, Vec3::new(0.3, 0.5, 0.2)));
    close(s.gap, 0.3, 1e-15);
    assert!((s.normal - Vec3::Y).length() < 1e-15);
    // Parallel: in the middle of the stretch they share.
    let s = separation(&c, &Pose::IDENTITY, &c, &Pose::at(Vec3::new(0.5, 0.0, 1.0)));
    close(s.gap, 0.3, 1e-15);
    close(s.point1.z, 0.5, 1e-15);
    // Crossing axes part along the common perpendicular.
    let s = separation(&c, &Pose::IDENTITY, &c, &Pose::new(lying, Vec3::ZERO));
    close(s.gap, -0.2, 1e-15);
    close(s.normal.y.abs(), 1.0, 1e-15);
}

#[test]
fn masses_of_solids_and_of_their_meshes() {
    let h = Vec3::new(0.5, 0.3, 0.2);
    let shapes = [
        Shape::Sphere { radius: 0.4 },
        Shape::Ellipsoid { semi_axes: h },
        cube(h, 0.0),
        Shape::Cylinder { radius: 0.3, half_height: 0.5, smoothing: 0.0 },
        Shape::Capsule { radius: 0.2, half_length: 0.4 },
        Shape::Cone { base_radius: 0.4, top_radius: 0.0, half_height: 0.5, smoothing: 0.0 },
        Shape::Cone { base_radius: 0.2, top_radius: 0.5, half_height: 0.5, smoothing: 0.0 },
    ];
    let scale = |m: Mat3| m.x_axis.x + m.y_axis.y + m.z_axis.z;
    for s in shapes {
        let exact = s.mass_properties(800.0).unwrap();
        // A mesh of n segments is wrong by c/n^2: two of them give the limit.
        let [a, b] = [24, 48].map(|n| hull_of(&s, n).mass_properties(800.0).unwrap());
        let limit = |x: f64, y: f64| y + (y - x) / 3.0;
        close(limit(a.mass, b.mass) / exact.mass, 1.0, 3e-4);
        close(limit(a.center.z, b.center.z), exact.center.z, 2e-4);
        for k in 0..3 {
            let (x, y, z) = (a.inertia.col(k)[k], b.inertia.col(k)[k], exact.inertia.col(k)[k]);
            close(limit(x, y) / z, 1.0, 2e-3);
        }
        // In parts and turned: a compound of one is the shape itself.
        let X = Pose::new(Quat::from_xyzw(0.5, 0.5, 0.5, 0.5), Vec3::new(1.0, 2.0, 3.0));
        let moved = Shape::Compound(vec![(X, s.clone())]).mass_properties(800.0).unwrap();
        assert!((moved.center - X.point(exact.center)).length() < 1e-14);
        close(scale(moved.inertia) / scale(exact.inertia), 1.0, 1e-14);
    }
    // Two half boxes are the box.
    let half = cube(Vec3::new(0.25, 0.3, 0.2), 0.0);
    let at = |x: f64| Pose::at(Vec3::new(x, 0.0, 0.0));
    let two = Shape::Compound(vec![(at(-0.25), half.clone()), (at(0.25), half)]).mass_properties(1.0).unwrap();
    let one = cube(h, 0.0).mass_properties(1.0).unwrap();
    close(two.mass, one.mass, 1e-15);
    for k in 0..3 {
        close(two.inertia.col(k)[k], one.inertia.col(k)[k], 1e-16);
    }
    assert!(matches!(Shape::HalfSpace.mass_properties(1.0), Err(ShapeError::Unbounded { .. })));
    assert!(matches!(BALL.mass_properties(-1.0), Err(ShapeError::Density { .. })));
}

#[test]
fn curvatures() {
    let sharp = cube(Vec3::ONE, 0.0);
    let round = cube(Vec3::ONE, 0.1);
    let (edge, corner) = (Vec3::new(0.6, 0.8, 0.0), Vec3::splat(1.0 / 3f64.sqrt()));
    assert_eq!(sharp.curvature_radius(Vec3::X, Vec3::X), f64::INFINITY);
    assert_eq!(sharp.curvature_radius(Vec3::ONE, edge), 0.0);
    assert_eq!(round.curvature_radius(Vec3::ONE, edge), 0.2);
    assert_eq!(round.curvature_radius(Vec3::ONE, corner), 0.1);
    close(BALL.curvature_radius(Vec3::X * 0.3, Vec3::X), 0.3, 0.0);
    let rod = Shape::Cylinder { radius: 0.3, half_height: 1.0, smoothing: 0.0 };
    close(rod.curvature_radius(Vec3::X * 0.3, Vec3::X), 0.6, 1e-15);
    assert_eq!(rod.curvature_radius(Vec3::Z, Vec3::Z), f64::INFINITY);
    assert_eq!(rod.curvature_radius(Vec3::new(0.3, 0.0, 1.0), Vec3::new(0.6, 0.0, 0.8)), 0.0);
    // An ellipsoid of equal axes is a sphere; a long one has a^2/b along its length and b across.
    let e = Shape::Ellipsoid { semi_axes: Vec3::new(0.4, 0.1, 0.1) };
    close(Shape::Ellipsoid { semi_axes: Vec3::splat(0.4) }.curvature_radius(Vec3::X, edge), 0.4, 1e-15);
    close(e.curvature_radius(Vec3::Y * 0.1, Vec3::Y), 2.0 / (0.1 / 0.16 + 1.0 / 0.1), 1e-15);
    close(e.curvature_radius(Vec3::X * 0.4, Vec3::X), 0.01 / 0.4, 1e-15);
    // A cone's slope: one curvature is 0, the other n_rho/rho.
    let cone = Shape::Cone { base_radius: 0.6, top_radius: 0.0, half_height: 0.4, smoothing: 0.0 };
    let (k, rho) = (0.75, 0.3);
    let slope = Vec3::new(1.0, 0.0, k).normalize();
    close(cone.curvature_radius(Vec3::new(rho, 0.0, 0.0), slope), 2.0 * rho / slope.x, 1e-14);
    assert_eq!(cone.curvature_radius(Vec3::Z * 0.4, Vec3::Z), 0.0);
    assert_eq!(cone.curvature_radius(Vec3::Z * -0.4, -Vec3::Z), f64::INFINITY);
    // A compound asks the part that is there.
    let pair = Shape::Compound(vec![(Pose::at(Vec3::X), BALL), (Pose::at(-Vec3::X), sharp)]);
    close(pair.curvature_radius(Vec3::X * 1.3, Vec3::X), 0.3, 1e-15);
}

#[test]
fn bad_shapes_are_named() {
    let bad = [
        Shape::Sphere { radius: 0.0 },
        Shape::Sphere { radius: f64::NAN },
        Shape::Ellipsoid { semi_axes: Vec3::new(1.0, -1.0, 1.0) },
        cube(Vec3::new(1.0, f64::INFINITY, 1.0), 0.0),
        cube(Vec3::ONE, 1.0),
        cube(Vec3::ONE, -0.1),
        cube(Vec3::ONE, f64::NAN),
        Shape::Cylinder { radius: 1.0, half_height: 0.1, smoothing: 0.2 },
        Shape::Capsule { radius: 1.0, half_length: 0.0 },
        Shape::Cone { base_radius: 0.0, top_radius: 0.0, half_height: 1.0, smoothing: 0.0 },
        Shape::Cone { base_radius: 1.0, top_radius: -1.0, half_height: 1.0, smoothing: 0.0 },
        Shape::Compound(vec![]),
        Shape::Compound(vec![(Pose::IDENTITY, Shape::Sphere { radius: -1.0 })]),
        Shape::Compound(vec![(Pose::at(Vec3::NAN), BALL)]),
    ];
    for s in bad {
        let message = s.validate().unwrap_err().to_string();
        assert!(!message.is_empty());
    }
    assert!(HeightGrid::new(2, 2, [1.0, 1.0], vec![0.0; 3]).is_err());
    assert!(HeightGrid::new(1, 4, [1.0, 1.0], vec![0.0; 4]).is_err());
    assert!(HeightGrid::new(2, 2, [1.0, 0.0], vec![0.0; 4]).is_err());
    assert!(HeightGrid::new(2, 2, [1.0, 1.0], vec![f64::NAN; 4]).is_err());
}

#[test]
fn shapes_survive_json() {
    let hull = hull_of(&BALL, 8);
    let grid = Shape::HeightGrid(Arc::new(HeightGrid::new(2, 3, [1.0, 0.5], vec![0.1; 6]).unwrap()));
    for s in [BALL, hull, grid, Shape::HalfSpace, Shape::Compound(vec![(Pose::at(Vec3::X), cube(Vec3::ONE, 0.1))])] {
        let text = serde_json::to_string(&s).unwrap();
        let back: Shape = serde_json::from_str(&text).unwrap();
        back.validate().unwrap();
        let (a, b) = (s.aabb(&Pose::IDENTITY), back.aabb(&Pose::IDENTITY));
        assert_eq!(a, b);
    }
    assert!(serde_json::from_str::<Shape>(r#"{"hull": [[0,0,0],[1,0,0],[0,1,0]]}"#).is_err());
}

#[test]
fn boxes_around_shapes_are_exact() {
    let mut r = Random(24);
    for s in [
        Shape::Ellipsoid { semi_axes: Vec3::new(0.5, 0.3, 0.2) },
        cube(Vec3::new(0.5, 0.3, 0.2), 0.05),
        Shape::Cone { base_radius: 0.4, top_radius: 0.1, half_height: 0.5, smoothing: 0.03 },
        hull_of(&BALL, 7),
    ] {
        for _ in 0..200 {
            let X = Pose::new(r.rotation(), r.vector(-3.0, 3.0));
            let b = s.aabb(&X);
            for (k, d) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().enumerate() {
                let reach = |d: Vec3| X.point(s.support(X.vector_into(d))).dot(d);
                close(b.max[k], reach(d), 1e-14);
                close(b.min[k], -reach(-d), 1e-14);
                assert!(s.bounding_radius_about(Vec3::ZERO) >= (reach(d) - X.position.dot(d)) - 1e-14);
            }
        }
    }
    let floor = Shape::HalfSpace.aabb(&Pose::at(Vec3::new(1.0, 2.0, 3.0)));
    assert_eq!(floor.max, Vec3::new(f64::INFINITY, f64::INFINITY, 3.0));
    assert_eq!(floor.min, Vec3::NEG_INFINITY);
}

#[test]
fn contact_kinds() {
    let (b, c) = (cube(Vec3::ONE, 0.0), Shape::Cylinder { radius: 1.0, half_height: 1.0, smoothing: 0.0 });
    assert_eq!(contact_kind(&BALL, &c), ContactKind::Point);
    assert_eq!(contact_kind(&Shape::HalfSpace, &c), ContactKind::Patch);
    assert_eq!(contact_kind(&b, &b), ContactKind::Patch);
    assert_eq!(contact_kind(&b, &c), ContactKind::Surface);
    assert!(matches!(contact_kind(&Shape::HalfSpace, &Shape::HalfSpace), ContactKind::Unsupported { .. }));
    let both = Shape::Compound(vec![(Pose::IDENTITY, BALL), (Pose::IDENTITY, b.clone())]);
    assert_eq!(contact_kind(&both, &Shape::HalfSpace), ContactKind::Patch);
    assert_eq!(contact_kind(&both, &BALL), ContactKind::Point);
}

/// Portal refinement: right sign always, and an error of second order in the gap.
#[test]
fn portal_refinement() {
    let mut r = Random(25);
    let shapes = [
        Shape::Ellipsoid { semi_axes: Vec3::new(0.5, 0.3, 0.2) },
        cube(Vec3::new(0.5, 0.3, 0.2), 0.02),
        Shape::Capsule { radius: 0.2, half_length: 0.4 },
        Shape::Cylinder { radius: 0.3, half_height: 0.5, smoothing: 0.02 },
        BALL,
    ];
    let (mut shallow, mut exact) = (0, 0);
    for s1 in &shapes {
        for s2 in &shapes {
            for _ in 0..400 {
                let X1 = Pose::new(r.rotation(), r.vector(-1.0, 1.0));
                let mut X2 = Pose::new(r.rotation(), X1.position + r.direction() * r.uniform(0.0, 1.5));
                let s = separation(s1, &X1, s2, &X2);
                X2.position += s.normal * (r.uniform(-1e-4, 1e-4) - s.gap);
                let s = separation(s1, &X1, s2, &X2);
                let m = separation_mpr(s1, &X1, s2, &X2);
                assert!(m.gap.is_finite() && m.normal.is_finite() && m.point1.is_finite());
                if s.gap.abs() > 1e-9 {
                    assert!(m.gap * s.gap > 0.0, "{s1:?} {s2:?} {} {}", m.gap, s.gap);
                }
                shallow += 1;
                exact += ((m.gap - s.gap).abs() < 0.02 * s.gap.abs() + 1e-11) as i32;
            }
        }
    }
    assert!(exact * 100 > shallow * 99, "{exact} of {shallow}");
    let stuck = separation_mpr(&shapes[1], &Pose::IDENTITY, &shapes[1], &Pose::IDENTITY);
    assert!(stuck.gap < 0.0 && stuck.normal.is_finite());
}

#[test]
fn volume_of_the_unit_ball() {
    close(Shape::Sphere { radius: 1.0 }.mass_properties(1.0).unwrap().mass, 4.0 / 3.0 * PI, 1e-15);
}
