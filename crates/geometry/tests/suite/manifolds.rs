//! Contact manifolds against closed forms: where the points are, how deep, and that they stay.

use crate::random::Random;
use crate::random_pairs::case;
use std::f64::consts::{FRAC_PI_4, PI};
use std::sync::Arc;
use tippe_geometry::{HeightGrid, Hull, Manifold, ManifoldPoint, Pose, Quat, Shape, Vec3, manifold, separation};

fn cube(x: f64, y: f64, z: f64) -> Shape {
    Shape::Box { half_extents: Vec3::new(x, y, z), smoothing: 0.0 }
}

fn points_of(s1: &Shape, X1: &Pose, s2: &Shape, X2: &Pose, margin: f64, limit: usize) -> (Vec3, Vec<ManifoldPoint>) {
    let mut m = Manifold::default();
    let found = manifold(s1, X1, s2, X2, margin, limit, &mut m);
    assert_eq!(found, m.count > 0);
    assert!(m.count <= limit);
    assert!(m.points().windows(2).all(|w| w[0].id < w[1].id), "not sorted, or an id twice: {m:?}");
    (m.normal, m.points().to_vec())
}

/// Largest distance from a point of `a` to its nearest in `b`, both ways round.
fn apart(a: &[Vec3], b: &[Vec3]) -> f64 {
    let one = |a: &[Vec3], b: &[Vec3]| {
        a.iter().map(|p| b.iter().map(|q| (*p - *q).length()).fold(f64::INFINITY, f64::min)).fold(0.0, f64::max)
    };
    one(a, b).max(one(b, a))
}

fn places(points: &[ManifoldPoint]) -> Vec<Vec3> {
    points.iter().map(|p| p.point).collect()
}

fn area(points: &[ManifoldPoint]) -> f64 {
    points.iter().map(|p| p.area).sum()
}

fn about_z(angle: f64) -> Quat {
    Quat::from_xyzw(0.0, 0.0, libm::sin(0.5 * angle), libm::cos(0.5 * angle))
}

#[test]
fn box_on_a_half_space_touches_with_four_corners() {
    let body = cube(0.5, 0.3, 0.2);
    for gap in [-1e-3, 0.0, 1e-3] {
        for X1 in [Pose::IDENTITY, Pose::at(Vec3::new(100.0, -50.0, 7.0))] {
            let X2 = Pose::new(about_z(0.3), X1.position + Vec3::new(3.0, 2.0, 0.2 + gap));
            let (n, points) = points_of(&Shape::HalfSpace, &X1, &body, &X2, 0.01, 4);
            assert_eq!(n, Vec3::Z);
            assert_eq!(points.len(), 4);
            let corners = [(-0.5, -0.3), (0.5, -0.3), (0.5, 0.3), (-0.5, 0.3)]
                .map(|(x, y)| X2.point(Vec3::new(x, y, -0.2)) - Vec3::Z * (0.5 * gap));
            assert!(apart(&places(&points), &corners) < 3e-14, "{points:?}");
            assert!(points.iter().all(|p| (p.gap - gap).abs() <= 1e-14 * X1.position.length().max(1.0)), "{points:?}");
            assert!((area(&points) - 0.6).abs() < 1e-12);
        }
    }
    // Tilted: each corner with its own gap.
    let tilt = 0.01;
    let X2 = Pose::new(Quat::from_xyzw(0.0, libm::sin(0.5 * tilt), 0.0, libm::cos(0.5 * tilt)), Vec3::Z * 0.2);
    let (_, points) = points_of(&Shape::HalfSpace, &Pose::IDENTITY, &body, &X2, 0.1, 4);
    let (s, c) = libm::sincos(tilt);
    for p in &points {
        let expected = 0.2 - 0.2 * c - 0.5 * s * p.point.x.signum();
        assert!((p.gap - expected).abs() < 1e-14, "{p:?} {expected}");
    }
    assert_eq!(points.len(), 4);
}

#[test]
fn box_on_box_shares_a_rectangle() {
    let (lower, upper) = (cube(0.5, 0.5, 0.5), cube(0.25, 0.4, 0.25));
    for (x, y, gap) in [(0.0, 0.0, -1e-4), (0.4, 0.3, -1e-4), (0.4, 0.3, 1e-3), (-0.6, 0.0, 0.0), (0.25, 0.1, 1e-6)] {
        let X2 = Pose::at(Vec3::new(x, y, 0.75 + gap));
        let (n, points) = points_of(&lower, &Pose::IDENTITY, &upper, &X2, 0.01, 4);
        let clamp = |c: f64| c.clamp(-0.5, 0.5);
        let (x0, x1, y0, y1) = (clamp(x - 0.25), clamp(x + 0.25), clamp(y - 0.4), clamp(y + 0.4));
        let z = 0.5 + 0.5 * gap;
        let corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)].map(|(x, y)| Vec3::new(x, y, z));
        assert_eq!(points.len(), 4, "{x} {y} {gap}: {points:?}");
        assert!((n - Vec3::Z).length() < 1e-15);
        assert!(apart(&places(&points), &corners) < 1e-14, "{x} {y} {gap}: {points:?}");
        assert!(points.iter().all(|p| (p.gap - gap).abs() < 1e-14));
        assert!((area(&points) - (x1 - x0) * (y1 - y0)).abs() < 1e-13);
    }
}

#[test]
fn equal_boxes_flat_on_each_other_have_four_points_whatever_the_rounding() {
    let body = cube(0.5, 0.5, 0.5);
    let mut r = Random(11);
    let mut ids: Option<Vec<u32>> = None;
    for _ in 0..5000 {
        let noise = |r: &mut Random| libm::pow(10.0, r.uniform(-17.0, -8.0));
        let turn = Quat::from_scaled_axis(r.direction() * noise(&mut r)).normalize();
        let off = r.direction() * noise(&mut r);
        let X2 = Pose::new(turn, Vec3::new(0.0, 0.0, 1.0) + off);
        let (n, points) = points_of(&body, &Pose::IDENTITY, &body, &X2, 1e-3, 4);
        assert_eq!(points.len(), 4, "{X2:?}: {points:?}");
        assert!((n - Vec3::Z).length() < 1e-7);
        let now: Vec<u32> = points.iter().map(|p| p.id).collect();
        assert_eq!(*ids.get_or_insert(now.clone()), now, "{X2:?}");
        assert!((area(&points) - 1.0).abs() < 1e-6);
    }
}

#[test]
fn turned_by_45_degrees_eight_corners_or_four_of_them() {
    let body = cube(0.5, 0.5, 0.5);
    let X2 = Pose::new(about_z(FRAC_PI_4), Vec3::Z * 0.999);
    let (_, all) = points_of(&body, &Pose::IDENTITY, &body, &X2, 0.01, 8);
    // Regular octagon with inradius 1/2.
    let octagon = 2.0 * (2f64.sqrt() - 1.0);
    let radius = 0.5 / libm::cos(PI / 8.0);
    let corners: Vec<Vec3> = (0..8)
        .map(|k| {
            let (s, c) = libm::sincos((k as f64 + 0.5) * FRAC_PI_4);
            Vec3::new(radius * c, radius * s, 0.4995)
        })
        .collect();
    assert_eq!(all.len(), 8);
    assert!(apart(&places(&all), &corners) < 1e-14);
    assert!((area(&all) - octagon).abs() < 1e-13);
    let (_, four) = points_of(&body, &Pose::IDENTITY, &body, &X2, 0.01, 4);
    assert_eq!(four.len(), 4);
    assert!((area(&four) - octagon).abs() < 1e-13);
    // Every second one: a square around the middle.
    let middle = four.iter().map(|p| p.point).sum::<Vec3>() / 4.0;
    assert!((middle - Vec3::Z * 0.4995).length() < 1e-14, "{four:?}");
    assert!(four.iter().all(|p| all.iter().any(|q| (p.point - q.point).length() < 1e-15)));
}

#[test]
fn edge_on_edge_and_corner_on_face_touch_once() {
    let body = cube(0.5, 0.5, 0.5);
    // Edge along y of 1 up, edge along x of 2 down.
    let up = Quat::from_xyzw(0.0, libm::sin(0.5 * FRAC_PI_4), 0.0, libm::cos(0.5 * FRAC_PI_4));
    let down = Quat::from_xyzw(libm::sin(0.5 * FRAC_PI_4), 0.0, 0.0, libm::cos(0.5 * FRAC_PI_4));
    for gap in [-1e-3, 1e-3] {
        let X2 = Pose::new(down, Vec3::new(0.1, 0.2, 2f64.sqrt() + gap));
        let (n, points) = points_of(&body, &Pose::new(up, Vec3::ZERO), &body, &X2, 0.01, 4);
        assert_eq!(points.len(), 1);
        assert!((n - Vec3::Z).length() < 1e-12);
        let expected = Vec3::new(0.0, 0.2, 0.5f64.sqrt() + 0.5 * gap);
        assert!((points[0].point - expected).length() < 1e-9, "{points:?} {expected}");
        assert!((points[0].gap - gap).abs() < 1e-12);
        assert_eq!(points[0].area, 0.0);
        // Parallel edges share a line; sunk into each other they part faster along a face.
        if gap < 0.0 {
            continue;
        }
        let X2 = Pose::new(up, Vec3::new(0.0, 0.25, 2f64.sqrt() + gap));
        let (_, points) = points_of(&body, &Pose::new(up, Vec3::ZERO), &body, &X2, 0.01, 4);
        let z = 0.5f64.sqrt() + 0.5 * gap;
        assert!(apart(&places(&points), &[Vec3::new(0.0, -0.25, z), Vec3::new(0.0, 0.5, z)]) < 1e-9, "{points:?}");
    }
    // The diagonal upright: the corner points down.
    let q = Quat::from_rotation_arc(Vec3::ONE.normalize(), -Vec3::Z);
    let X2 = Pose::new(q, Vec3::new(0.1, -0.2, 0.5 + 0.75f64.sqrt() - 1e-3));
    for (s1, X1) in [(&body, Pose::IDENTITY), (&Shape::HalfSpace, Pose::at(Vec3::Z * 0.5))] {
        let (n, points) = points_of(s1, &X1, &body, &X2, 0.01, 4);
        assert_eq!(points.len(), 1);
        assert!((n - Vec3::Z).length() < 1e-15);
        assert!((points[0].point - Vec3::new(0.1, -0.2, 0.4995)).length() < 1e-14);
        assert!((points[0].gap + 1e-3).abs() < 1e-14);
    }
}

#[test]
fn capsules_touch_with_two_points_when_parallel() {
    let capsule = Shape::Capsule { radius: 0.1, half_length: 0.5 };
    let body = cube(0.4, 1.0, 0.3);
    let lying = Quat::from_xyzw(0.0, 0.5f64.sqrt(), 0.0, 0.5f64.sqrt());
    let at = |x: f64, z: f64| Pose::new(lying, Vec3::new(x, 0.0, z));
    let both = |a: f64, b: f64, z: f64| [Vec3::new(a, 0.0, z), Vec3::new(b, 0.0, z)];
    let (_, p) = points_of(&capsule, &at(0.0, 0.0), &capsule, &at(0.3, 0.199), 0.01, 4);
    assert!(apart(&places(&p), &both(-0.2, 0.5, 0.0995)) < 1e-14, "{p:?}");
    let (_, p) = points_of(&Shape::HalfSpace, &Pose::IDENTITY, &capsule, &at(0.0, 0.099), 0.01, 4);
    assert!(apart(&places(&p), &both(-0.5, 0.5, -0.0005)) < 1e-14, "{p:?}");
    let (_, p) = points_of(&body, &Pose::IDENTITY, &capsule, &at(0.2, 0.399), 0.01, 4);
    assert!(apart(&places(&p), &both(-0.3, 0.4, 0.2995)) < 1e-14, "{p:?}");
    assert!(p.iter().all(|p| (p.gap + 1e-3).abs() < 1e-15 * 2.0), "{p:?}");
    let crossed = Pose::new(about_z(1.0) * lying, Vec3::new(0.0, 0.0, 0.199));
    let (_, p) = points_of(&capsule, &at(0.0, 0.0), &capsule, &crossed, 0.01, 4);
    assert_eq!(p.len(), 1);
}

#[test]
fn cylinders_stand_on_their_rim_and_lie_on_a_line() {
    let can = Shape::Cylinder { radius: 0.3, half_height: 0.5, smoothing: 0.0 };
    let cone = Shape::Cone { base_radius: 0.3, top_radius: 0.0, half_height: 0.5, smoothing: 0.0 };
    let table = cube(1.0, 1.0, 0.5);
    let top = Shape::HalfSpace;
    for (below, X1) in [(&top, Pose::IDENTITY), (&table, Pose::at(Vec3::Z * -0.5)), (&can, Pose::at(Vec3::Z * -0.5))] {
        for body in [&can, &cone] {
            let X2 = Pose::new(about_z(0.7), Vec3::Z * 0.499);
            let (n, points) = points_of(below, &X1, body, &X2, 0.01, 4);
            assert!((n - Vec3::Z).length() < 1e-14);
            assert_eq!(points.len(), 4, "{points:?}");
            assert!((area(&points) - PI * 0.09).abs() < 1e-12);
            assert!(points.iter().all(|p| (p.gap + 1e-3).abs() < 1e-12));
            assert!(points.iter().all(|p| ((p.point + Vec3::Z * 0.0005).length() - 0.3).abs() < 1e-12), "{points:?}");
            if below != &can {
                // Fixed to the cylinder.
                let rim = [Vec3::X, Vec3::Y, -Vec3::X, -Vec3::Y].map(|d| X2.vector(d * 0.3) - Vec3::Z * 0.0005);
                assert!(apart(&places(&points), &rim) < 1e-12);
            }
        }
        if below != &can {
            let lying = Pose::new(Quat::from_xyzw(0.0, 0.5f64.sqrt(), 0.0, 0.5f64.sqrt()), Vec3::Z * 0.299);
            let (_, points) = points_of(below, &X1, &can, &lying, 0.01, 4);
            let ends = [Vec3::new(-0.5, 0.0, -0.0005), Vec3::new(0.5, 0.0, -0.0005)];
            assert!(apart(&places(&points), &ends) < 1e-12, "{points:?}");
        }
    }
    // Half over the edge of the table: a half disc.
    let X2 = Pose::at(Vec3::new(1.0, 0.0, 0.499));
    let (_, points) = points_of(&table, &Pose::at(Vec3::Z * -0.5), &can, &X2, 0.01, 4);
    assert_eq!(points.len(), 4);
    assert!((area(&points) / (0.5 * PI * 0.09) - 1.0).abs() < 0.03);
    assert!(points.iter().all(|p| p.point.x < 1.0 + 1e-12));
}

#[test]
fn hull_of_a_box_touches_like_the_box() {
    let corners: Vec<Vec3> =
        (0..8).map(|k| Vec3::new((k & 1) as f64 - 0.5, (k >> 1 & 1) as f64 - 0.5, (k >> 2 & 1) as f64 - 0.5)).collect();
    let hull = Shape::Hull(Arc::new(Hull::new(&corners).unwrap()));
    let body = cube(0.5, 0.5, 0.5);
    for (x, y, angle) in [(0.0, 0.0, 0.0), (0.3, 0.2, 0.0), (0.1, 0.2, 0.4), (0.0, 0.0, FRAC_PI_4)] {
        let X2 = Pose::new(about_z(angle), Vec3::new(x, y, 0.999));
        let (_, expected) = points_of(&body, &Pose::IDENTITY, &body, &X2, 0.01, 8);
        for (a, b) in [(&hull, &body), (&body, &hull), (&hull, &hull)] {
            let (_, points) = points_of(a, &Pose::IDENTITY, b, &X2, 0.01, 8);
            assert!(apart(&places(&points), &places(&expected)) < 1e-12, "{points:?}");
            assert!((area(&points) - area(&expected)).abs() < 1e-12);
        }
    }
    let (_, points) = points_of(&Shape::HalfSpace, &Pose::IDENTITY, &hull, &Pose::at(Vec3::Z * 0.499), 0.01, 4);
    assert_eq!(points.len(), 4);
    assert!((area(&points) - 1.0).abs() < 1e-12);
}

#[test]
fn mirrored_scenes_have_mirrored_points() {
    let (lower, upper) = (cube(0.5, 0.4, 0.5), cube(0.3, 0.7, 0.25));
    let mut r = Random(5);
    for _ in 0..2000 {
        let tilt = libm::pow(10.0, r.uniform(-6.0, -2.0));
        let q = (about_z(r.uniform(-3.0, 3.0)) * Quat::from_scaled_axis(r.direction() * tilt)).normalize();
        let p = Vec3::new(r.uniform(-0.3, 0.3), r.uniform(-0.3, 0.3), 0.75 + r.uniform(-1e-3, 1e-3));
        // Mirror at x = 0: of an axial vector the components along the mirror change sign.
        let mirror = |v: Vec3| Vec3::new(-v.x, v.y, v.z);
        let X = Pose::new(q, p);
        let mirrored = Pose::new(Quat::from_xyzw(q.x, -q.y, -q.z, q.w), mirror(p));
        let (n, points) = points_of(&lower, &Pose::IDENTITY, &upper, &X, 0.1, 8);
        let (m, others) = points_of(&lower, &Pose::IDENTITY, &upper, &mirrored, 0.1, 8);
        assert!((mirror(n) - m).length() < 1e-15);
        assert_eq!(points.len(), others.len());
        let others: Vec<Vec3> = others.iter().map(|p| mirror(p.point)).collect();
        assert!(apart(&places(&points), &others) < 1e-15, "{points:?} {others:?}");
    }
}

/// A box sliding and turning on another: of the points of one step nearly all are there in the next.
#[test]
fn points_keep_their_ids_while_a_box_slides_and_turns() {
    let (lower, upper) = (cube(1.0, 0.8, 0.5), cube(0.5, 0.4, 0.25));
    let can = Shape::Cylinder { radius: 0.4, half_height: 0.25, smoothing: 0.0 };
    for (below, body, limit) in [(&lower, &upper, 4), (&lower, &upper, 8), (&lower, &can, 4), (&upper, &upper, 4)] {
        let (mut kept, mut total) = (0, 0);
        let mut last: Vec<u32> = Vec::new();
        for k in 0..4000 {
            let t = k as f64 * 1e-3;
            let wobble = Quat::from_scaled_axis(Vec3::new(libm::sin(97.0 * t), libm::cos(61.0 * t), 0.0) * 1e-7);
            let height = if below == &lower { 0.5 } else { 0.25 } + 0.25 + 1e-6 * libm::sin(31.0 * t) - 1e-6;
            let X = Pose::new((about_z(0.5 * t) * wobble).normalize(), Vec3::new(0.3 * t, 0.1 * t, height));
            let (_, points) = points_of(below, &Pose::IDENTITY, body, &X, 1e-3, limit);
            let now: Vec<u32> = points.iter().map(|p| p.id).collect();
            if k > 0 {
                total += now.len();
                kept += now.iter().filter(|i| last.contains(i)).count();
            }
            last = now;
        }
        let share = kept as f64 / total as f64;
        assert!(share > 0.98, "{} on {}, limit {limit}: {share}", body.name(), below.name());
    }
}

fn check(s1: &Shape, X1: &Pose, s2: &Shape, X2: &Pose) -> Result<(), String> {
    let s = separation(s1, X1, s2, X2);
    let mut m = Manifold::default();
    for (margin, limit) in [(1e-3, 4), (0.05, 8), (0.0, 2)] {
        let found = manifold(s1, X1, s2, X2, margin, limit, &mut m);
        if (s.gap - margin).abs() < 1e-12 {
            continue;
        }
        if found != (s.gap < margin) || found != (m.count > 0) || m.count > limit {
            return Err(format!("gap {} margin {margin}: {m:?}", s.gap));
        }
        if !found {
            continue;
        }
        if (m.normal.length() - 1.0).abs() > 1e-12 || !m.points().iter().all(|p| p.point.is_finite()) {
            return Err(format!("not finite: {m:?}"));
        }
        if !m.points().windows(2).all(|w| w[0].id < w[1].id) {
            return Err(format!("ids: {m:?}"));
        }
        if !m.points().iter().all(|p| p.area >= 0.0 && p.gap < margin) {
            return Err(format!("area or gap: {m:?}"));
        }
        // Along a normal turned by an angle a the depth grows by 1/cos a.
        let cos = m.normal.dot(s.normal).abs();
        let least = m.points().iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        let scale = (X1.position - X2.position).length() + 1.0;
        let slack = if has_rim(s1) || has_rim(s2) { 3e-6 } else { 1e-9 } * scale;
        // Two ways out may be equally short.
        let along = |n: Vec3| n.dot(X2.point(s2.support(X2.vector_into(-n))) - X1.point(s1.support(X1.vector_into(n))));
        if cos < 0.99 && (along(m.normal) > s.gap - 1e-9 || s.gap.abs() < 1e-9) && (least - s.gap).abs() < 1e-9 {
            continue;
        }
        if cos < 0.99 || least < (s.gap / cos).min(s.gap) - slack || least > s.gap + slack {
            return Err(format!("cos {cos}, least {least}, separation {}: {m:?}", s.gap));
        }
        let mut w = Manifold::default();
        if !manifold(s2, X2, s1, X1, margin, limit, &mut w) {
            return Err("swapped: nothing".into());
        }
        let swapped = w.points().iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        if (swapped - least).abs() > slack {
            return Err(format!("swapped: {least} {swapped}"));
        }
    }
    Ok(())
}

fn has_rim(s: &Shape) -> bool {
    matches!(s, Shape::Cylinder { .. } | Shape::Cone { .. })
}

#[test]
fn hundred_thousand_pairs() {
    let mut failures = Vec::new();
    for k in 0..100_000usize {
        let mut r = Random((k as u64 + 77).wrapping_mul(0x2545_f491_4f6c_dd1d));
        let (s1, X1, mut s2, mut X2) = case(&mut r);
        if k % 10 == 0 {
            s2 = Shape::HalfSpace;
            X2.position = X1.point(s1.support(X1.vector_into(-X2.vector(Vec3::Z))));
        }
        if let Err(why) = check(&s1, &X1, &s2, &X2) {
            failures.push(format!("case {k}: {}-{}: {why}", s1.name(), s2.name()));
        }
    }
    let shown: Vec<_> = failures.iter().take(12).cloned().collect();
    assert!(failures.is_empty(), "{} cases:\n{}", failures.len(), shown.join("\n"));
}

#[test]
fn height_grids_carry_bodies_at_their_corners() {
    let flat = Shape::HeightGrid(Arc::new(HeightGrid::new(21, 21, [0.13, 0.17], vec![0.2; 441]).unwrap()));
    let body = cube(0.5, 0.3, 0.2);
    for angle in [0.0, 0.3, 1.2] {
        let X2 = Pose::new(about_z(angle), Vec3::new(0.05, -0.1, 0.399));
        let (n, points) = points_of(&flat, &Pose::IDENTITY, &body, &X2, 0.01, 4);
        let corners = [(-0.5, -0.3), (0.5, -0.3), (0.5, 0.3), (-0.5, 0.3)]
            .map(|(x, y)| X2.point(Vec3::new(x, y, -0.2)) + Vec3::Z * 0.0005);
        assert!((n - Vec3::Z).length() < 1e-12);
        assert!(apart(&places(&points), &corners) < 1e-9, "{angle} {points:?}");
        assert!(points.iter().all(|p| (p.gap + 1e-3).abs() < 1e-12));
        assert!((area(&points) - 0.6).abs() < 1e-6, "{}", area(&points));
        let (m, swapped) = points_of(&body, &X2, &flat, &Pose::IDENTITY, 0.01, 4);
        assert!((n + m).length() < 1e-12);
        assert_eq!(places(&points), places(&swapped));
    }
    let lying = Quat::from_xyzw(0.0, 0.5f64.sqrt(), 0.0, 0.5f64.sqrt());
    let capsule = Shape::Capsule { radius: 0.1, half_length: 0.4 };
    let (_, points) = points_of(&flat, &Pose::IDENTITY, &capsule, &Pose::new(lying, Vec3::Z * 0.299), 0.01, 4);
    assert!(apart(&places(&points), &[Vec3::new(-0.4, 0.0, 0.1995), Vec3::new(0.4, 0.0, 0.1995)]) < 1e-9, "{points:?}");
    // beside the rim, far below the surface: an upright wall, as the side of a box
    let wall = Vec3::new(1.3, 0.2, -3.0);
    for (X2, body, corners) in [
        (
            Pose::at(wall + Vec3::X * 0.499),
            cube(0.5, 0.3, 0.2),
            vec![[0.3, 0.2], [0.3, -0.2], [-0.3, 0.2], [-0.3, -0.2]],
        ),
        (Pose::at(wall + Vec3::X * 0.099), capsule, vec![[0.0, 0.4], [0.0, -0.4]]),
    ] {
        let (n, points) = points_of(&flat, &Pose::IDENTITY, &body, &X2, 0.01, 4);
        let corners: Vec<Vec3> = corners.into_iter().map(|[y, z]| wall + Vec3::new(-0.0005, y, z)).collect();
        assert!((n - Vec3::X).length() < 1e-9, "{n}");
        assert!(apart(&places(&points), &corners) < 1e-6, "{points:?}");
        assert!(points.iter().all(|p| (p.gap + 1e-3).abs() < 1e-9), "{points:?}");
    }
    // Bumps: never NaN, the smallest gap is that of the nearest points.
    let mut r = Random(3);
    let heights: Vec<f64> = (0..441).map(|_| r.uniform(0.0, 0.1)).collect();
    let rough = Shape::HeightGrid(Arc::new(HeightGrid::new(21, 21, [0.13, 0.17], heights).unwrap()));
    for _ in 0..300 {
        let (s2, _, _, mut X2) = case(&mut r);
        X2.position = Vec3::new(r.uniform(-0.5, 0.5), r.uniform(-0.5, 0.5), 1.0);
        for _ in 0..3 {
            X2.position.z -= separation(&rough, &Pose::IDENTITY, &s2, &X2).gap;
        }
        let s = separation(&rough, &Pose::IDENTITY, &s2, &X2);
        let (n, points) = points_of(&rough, &Pose::IDENTITY, &s2, &X2, 0.02, 4);
        assert!(points.len() <= 4 && n.is_finite() && points.iter().all(|p| p.point.is_finite()));
        if s.gap < 0.02 {
            let least = points.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
            assert!(least <= s.gap + 1e-6, "{} {s:?} {points:?}", s2.name());
        }
    }
}

/// Some body resting on a box: flat, a little tilted, anywhere on it, a little above or below its surface.
fn resting(r: &mut Random) -> (Shape, Shape, Pose) {
    let lower = cube(r.uniform(0.3, 1.0), r.uniform(0.3, 1.0), 0.5);
    let points: Vec<Vec3> = (0..10)
        .map(|k| {
            let (s, c) = libm::sincos(0.2 * PI * (k as f64 + r.uniform(0.0, 0.8)));
            Vec3::new(0.6 * c, 0.5 * s, if k < 5 { -0.25 } else { 0.25 })
        })
        .collect();
    let upper = match r.below(5) {
        0 => cube(r.uniform(0.2, 1.0), r.uniform(0.2, 1.0), 0.25),
        1 => Shape::Hull(Arc::new(Hull::new(&points).unwrap())),
        2 => Shape::Cylinder { radius: r.uniform(0.2, 0.6), half_height: 0.25, smoothing: 0.0 },
        3 => Shape::Box { half_extents: Vec3::new(0.5, 0.3, 0.25), smoothing: 0.05 },
        _ => Shape::Capsule { radius: 0.25, half_length: 0.5 },
    };
    let lying = match upper {
        Shape::Capsule { .. } => Quat::from_xyzw(0.0, 0.5f64.sqrt(), 0.0, 0.5f64.sqrt()),
        _ => Quat::IDENTITY,
    };
    let tilt = if r.below(2) == 0 { 0.0 } else { libm::pow(10.0, r.uniform(-5.0, -2.0)) };
    let turn = about_z(r.uniform(-3.0, 3.0)) * Quat::from_scaled_axis(r.direction() * tilt) * lying;
    let p = Vec3::new(r.uniform(-0.5, 0.5), r.uniform(-0.5, 0.5), 0.75 + r.uniform(-2e-3, 2e-3));
    (lower, upper, Pose::new(turn.normalize(), p))
}

#[test]
fn same_points_the_other_way_round_and_in_any_frame() {
    let mut r = Random(21);
    let mut several = 0;
    for k in 0..5000 {
        let (s1, s2, X2) = resting(&mut r);
        let (n, points) = points_of(&s1, &Pose::IDENTITY, &s2, &X2, 0.05, 8);
        several += (points.len() > 1) as usize;
        let (m, swapped) = points_of(&s2, &X2, &s1, &Pose::IDENTITY, 0.05, 8);
        let who = format!("{k}: {} {X2:?}\n{points:#?}\n{swapped:#?}", s2.name());
        assert!((n + m).length() < 1e-9, "{n} {m} {who}");
        assert!((area(&points) - area(&swapped)).abs() < 1e-6, "{who}");
        if has_rim(&s2) {
            // Of many equal corners on a rim not always the same ones are taken.
            continue;
        }
        // Where corners lie on edges to 1e-7 either may be taken.
        assert!(apart(&places(&points), &places(&swapped)) < 2e-7, "{who}");
        let gaps = |p: &[ManifoldPoint]| {
            let mut g: Vec<f64> = p.iter().map(|p| p.gap).collect();
            g.sort_by(f64::total_cmp);
            g
        };
        assert!(gaps(&points).iter().zip(gaps(&swapped)).all(|(a, b)| (a - b).abs() < 1e-9), "{who}");
        let X = Pose::new(r.rotation(), r.vector(-10.0, 10.0));
        let (m, moved) = points_of(&s1, &X, &s2, &X.then(&X2), 0.05, 8);
        let who = format!("{k}: {} {X2:?}\n{points:#?}\n{moved:#?}", s2.name());
        assert!((X.vector(n) - m).length() < 1e-9, "{who}");
        assert_eq!(points.len(), moved.len(), "{who}");
        for (p, q) in points.iter().zip(&moved) {
            assert!(p.id == q.id && (X.point(p.point) - q.point).length() < 1e-7, "{who}");
            assert!((p.gap - q.gap).abs() < 1e-9 && (p.area - q.area).abs() < 1e-9, "{who}");
        }
    }
    assert!(several > 4000, "{several}");
}

/// An edge that lies across the diagonal of a cell touches at both of its ends, whatever the normal is rounded to.
#[test]
fn an_edge_over_a_diagonal_touches_at_its_ends() {
    let flat = Shape::HeightGrid(Arc::new(HeightGrid::new(2, 2, [1.0, 1.0], vec![0.0; 4]).unwrap()));
    let body = cube(0.05, 0.05, 0.05);
    let tilt = 10f64.to_radians();
    let ((s, c), (sin, cos)) = (libm::sincos(0.5 * tilt), libm::sincos(tilt));
    for k in 0..40 {
        let (x, y) = (0.01 * (k % 8) as f64 - 0.05, 0.01 * (k / 8) as f64 - 0.02);
        for gap in [2e-4, -1e-5] {
            let X2 = Pose::new(Quat::from_xyzw(0.0, s, 0.0, c), Vec3::new(x, y, 0.05 * (cos + sin) + gap));
            for margin in [5e-4, 0.1] {
                let (_, points) = points_of(&flat, &Pose::IDENTITY, &body, &X2, margin, 4);
                let edge = x + 0.05 * (cos - sin);
                let ends = [y - 0.05, y + 0.05].map(|y| Vec3::new(edge, y, 0.5 * gap));
                let found = |end: &Vec3| points.iter().any(|p| (p.point - *end).length() < 1e-9);
                assert!(ends.iter().all(found), "{x} {y} {gap} {margin}: {points:?}");
                let low = points.iter().filter(|p| p.gap < gap + 1e-9).count();
                assert_eq!(low, 2, "{x} {y} {gap} {margin}: {points:?}");
            }
        }
    }
}
