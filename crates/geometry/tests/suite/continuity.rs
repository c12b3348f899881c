//! Along a smooth path the gap is continuous, and smooth while shallower than the smoothing radii.

use crate::random::Random;
use std::sync::Arc;
use tippe_geometry::{Hull, Pose, Quat, Shape, Vec3, separation};

fn shapes() -> Vec<Shape> {
    let h = Vec3::new(0.5, 0.3, 0.2);
    let mut r = Random(30);
    let points: Vec<Vec3> = (0..40).map(|_| r.direction() * h).collect();
    vec![
        Shape::Sphere { radius: 0.4 },
        Shape::Ellipsoid { semi_axes: h },
        Shape::Box { half_extents: h, smoothing: 0.0 },
        Shape::Box { half_extents: h, smoothing: 0.05 },
        Shape::Hull(Arc::new(Hull::new(&points).unwrap())),
        Shape::Cylinder { radius: 0.3, half_height: 0.4, smoothing: 0.0 },
        Shape::Cylinder { radius: 0.3, half_height: 0.4, smoothing: 0.05 },
        Shape::Capsule { radius: 0.3, half_length: 0.4 },
        Shape::Cone { base_radius: 0.3, top_radius: 0.0, half_height: 0.4, smoothing: 0.0 },
        Shape::Cone { base_radius: 0.3, top_radius: 0.1, half_height: 0.4, smoothing: 0.03 },
    ]
}

struct Path {
    q: Quat,
    turn: Vec3,
    p: Vec3,
    v: Vec3,
}

impl Path {
    fn at(&self, t: f64) -> Pose {
        Pose::new((Quat::from_scaled_axis(self.turn * t) * self.q).normalize(), self.p + self.v * t)
    }
}

/// The gap's change over a step is bounded by the motion: |v| + |omega| times the size.
#[test]
fn no_jumps() {
    let mut r = Random(31);
    let all = shapes();
    for s1 in &all {
        for s2 in &all {
            for _ in 0..4 {
                let path =
                    Path { q: r.rotation(), turn: r.direction(), p: r.vector(-1.0, 1.0), v: r.vector(-1.0, 1.0) };
                let dt = 1e-3;
                let mut before = f64::NAN;
                for k in 0..1000 {
                    let gap = separation(s1, &Pose::IDENTITY, s2, &path.at(k as f64 * dt)).gap;
                    let bound = (path.v.length() + 0.8) * dt;
                    assert!(!((gap - before).abs() > bound), "{s1:?} {s2:?} step {k}: {before} to {gap}");
                    before = gap;
                }
            }
        }
    }
}

/// Second differences of a C1 gap: no kinks beyond the curvature of the rounding, no noise.
#[test]
fn smooth_while_shallower_than_the_smoothing() {
    let mut r = Random(32);
    let all: Vec<Shape> = shapes();
    let radius = |s: &Shape| match s {
        Shape::Sphere { radius } | Shape::Capsule { radius, .. } => *radius,
        Shape::Box { smoothing, .. } | Shape::Cylinder { smoothing, .. } | Shape::Cone { smoothing, .. } => *smoothing,
        _ => 0.0,
    };
    let dt = 1e-5;
    for s1 in &all {
        for s2 in all.iter().filter(|s| radius(s) + radius(s1) > 0.02) {
            for _ in 0..20 {
                // Start at a gap of 0 with any attitude.
                let mut path =
                    Path { q: r.rotation(), turn: r.direction(), p: r.direction() * 2.0, v: r.vector(-1.0, 1.0) };
                let s = separation(s1, &Pose::IDENTITY, s2, &path.at(0.0));
                path.p -= s.normal * s.gap;
                let gap = |k: i32| separation(s1, &Pose::IDENTITY, s2, &path.at(k as f64 * dt)).gap;
                for k in 0..50 {
                    let second = gap(k + 1) - 2.0 * gap(k) + gap(k - 1);
                    // Largest curvature of a rounding of 0.02 m moving at up to about 2.5 m/s.
                    let bound = 400.0 * dt * dt + 4e-14;
                    assert!(second.abs() < bound, "{s1:?} {s2:?} step {k}: {second:e} over {bound:e}");
                }
            }
        }
    }
}
