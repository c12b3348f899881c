//! Rays against every shape.

use crate::random::Random;
use std::sync::Arc;
use tippe_geometry::{HeightGrid, Hull, Pose, Shape, Vec3, cast, separation};

fn shapes() -> Vec<Shape> {
    let h = Vec3::new(0.5, 0.3, 0.2);
    let hull = Hull::new(&[Vec3::X, Vec3::Y, Vec3::Z * 0.7, -Vec3::ONE, Vec3::splat(0.5)]).unwrap();
    let ball = Shape::Sphere { radius: 0.3 };
    let cube = Shape::Box { half_extents: h, smoothing: 0.0 };
    vec![
        Shape::Sphere { radius: 0.4 },
        Shape::Ellipsoid { semi_axes: h },
        cube.clone(),
        Shape::Box { half_extents: h, smoothing: 0.1 },
        Shape::Hull(Arc::new(hull)),
        Shape::Cylinder { radius: 0.3, half_height: 0.4, smoothing: 0.0 },
        Shape::Cylinder { radius: 0.3, half_height: 0.4, smoothing: 0.05 },
        Shape::Capsule { radius: 0.3, half_length: 0.4 },
        Shape::Cone { base_radius: 0.3, top_radius: 0.0, half_height: 0.4, smoothing: 0.0 },
        Shape::Cone { base_radius: 0.3, top_radius: 0.1, half_height: 0.4, smoothing: 0.03 },
        Shape::Compound(vec![(Pose::at(Vec3::X * 0.4), ball), (Pose::at(Vec3::X * -0.4), cube)]),
        Shape::HalfSpace,
    ]
}

/// A hit lies on the surface, the ray was outside before, and its normal is the surface's; a miss stays outside.
#[test]
fn hits_lie_on_the_surface_and_misses_stay_outside() {
    let mut r = Random(11);
    let dot = Shape::Sphere { radius: 0.0 };
    for s in shapes() {
        let mut hits = 0;
        for _ in 0..500 {
            let X = Pose::new(r.rotation(), r.vector(-1.0, 1.0));
            let origin = X.position + r.direction() * r.uniform(1.2, 4.0);
            let direction = X.position + r.vector(-0.6, 0.6) - origin;
            let gap = |p: Vec3| separation(&s, &X, &dot, &Pose::at(p));
            if gap(origin).gap < 0.0 {
                let hit = cast(&s, &X, origin, direction, 10.0).unwrap();
                assert_eq!((hit.distance, hit.point), (0.0, origin));
                continue;
            }
            match cast(&s, &X, origin, direction, 10.0) {
                Some(hit) => {
                    hits += 1;
                    let here = gap(hit.point);
                    assert!(here.gap.abs() < 1e-9, "{s:?} {:e}", here.gap);
                    assert!((hit.normal.length() - 1.0).abs() < 1e-9 && hit.normal.dot(direction) <= 1e-9);
                    for k in 0..20 {
                        let p = origin + (hit.point - origin) * (k as f64 / 20.0);
                        assert!(gap(p).gap > -1e-9, "{s:?} already inside before the hit");
                    }
                    assert!(cast(&s, &X, origin, direction, 0.999 * hit.distance).is_none());
                }
                None => {
                    for k in 0..200 {
                        let p = origin + direction.normalize() * (0.05 * k as f64);
                        assert!(gap(p).gap > -1e-9, "{s:?} missed");
                    }
                }
            }
        }
        assert!(hits > 50, "{s:?} {hits}");
    }
}

#[test]
fn terrain() {
    let mut r = Random(12);
    let (columns, rows) = (12, 9);
    let heights: Vec<f64> = (0..columns * rows).map(|_| r.uniform(-0.3, 0.3)).collect();
    let grid = HeightGrid::new(columns, rows, [0.5, 0.7], heights).unwrap();
    let s = Shape::HeightGrid(Arc::new(grid.clone()));
    let [hx, hy] = grid.half_lengths();
    for _ in 0..2000 {
        let origin = Vec3::new(r.uniform(-hx, hx), r.uniform(-hy, hy), r.uniform(0.4, 2.0));
        let target = Vec3::new(r.uniform(-hx, hx), r.uniform(-hy, hy), -0.4);
        let hit = cast(&s, &Pose::IDENTITY, origin, target - origin, 100.0).unwrap();
        let surface = grid.height_at(hit.point.x, hit.point.y).unwrap();
        assert!((surface - hit.point.z).abs() < 1e-9);
        for k in 0..100 {
            let p = origin + (hit.point - origin) * (k as f64 / 100.0);
            assert!(p.z > grid.height_at(p.x, p.y).unwrap() - 1e-9, "passed through the ground");
        }
        // A ball over the surface: its gap is no more than its height above the ground below it.
        let ball = Shape::Sphere { radius: 0.1 };
        let gap = separation(&s, &Pose::IDENTITY, &ball, &Pose::at(origin));
        let below = grid.height_at(origin.x, origin.y).unwrap();
        assert!(gap.gap <= origin.z - below - 0.1 + 1e-12 && gap.normal.z > 0.0);
        assert!((gap.point2 - gap.point1 - gap.normal * gap.gap).length() < 1e-12);
        let small = Shape::Ellipsoid { semi_axes: Vec3::splat(0.1) };
        let other = separation(&s, &Pose::IDENTITY, &small, &Pose::at(origin));
        assert!((other.gap - gap.gap).abs() < 1e-9, "{} {}", other.gap, gap.gap);
    }
    // Straight down, from the side, from below, past it.
    let down = cast(&s, &Pose::IDENTITY, Vec3::new(0.1, 0.2, 5.0), -Vec3::Z, 10.0).unwrap();
    assert!((down.point.z - grid.height_at(0.1, 0.2).unwrap()).abs() < 1e-12);
    let side = cast(&s, &Pose::IDENTITY, Vec3::new(-10.0, 0.0, -1.0), Vec3::X, 20.0).unwrap();
    assert!((side.point.x + hx).abs() < 1e-12 && side.normal == -Vec3::X);
    assert!(cast(&s, &Pose::IDENTITY, Vec3::new(-10.0, 0.0, 1.0), Vec3::X, 30.0).is_none());
    assert!(cast(&s, &Pose::IDENTITY, Vec3::new(-10.0, 99.0, 1.0), Vec3::X, 30.0).is_none());
}
