//! Broad phase: three methods, one answer.

use crate::random::Random;
use proptest::prelude::*;
use tippe_geometry::{Aabb, Broad, BroadScratch, Pose, Shape, Vec3, pairs, pairs_into, separation};

fn touching(centers: &[Vec3], radius: f64, method: Broad) -> usize {
    let ball = Shape::Sphere { radius };
    // Boxes of touching balls may miss each other by rounding: grow them by less than any gap that matters.
    let boxes: Vec<Aabb> = centers.iter().map(|c| ball.aabb(&Pose::at(*c)).grown(1e-9 * radius)).collect();
    let near = |i: u32, j: u32| {
        let at = |k: u32| Pose::at(centers[k as usize]);
        separation(&ball, &at(i), &ball, &at(j)).gap <= 1e-12 * radius
    };
    pairs(&boxes, method).into_iter().filter(|(i, j)| near(*i, *j)).count()
}

#[test]
fn a_line_of_balls_has_999_touching_pairs() {
    let exact: Vec<Vec3> = (0..1000).map(|k| Vec3::new(k as f64, 0.0, 0.0)).collect();
    let slanted: Vec<Vec3> = exact.iter().map(|c| Vec3::new(0.48, 0.64, 0.6) * c.x).collect();
    for method in [Broad::All, Broad::Bvh, Broad::Morton] {
        assert_eq!(touching(&exact, 0.5, method), 999);
        assert_eq!(touching(&slanted, 0.5, method), 999);
    }
    // Exact boxes alone give the same here.
    let boxes: Vec<Aabb> = exact.iter().map(|c| Aabb::around(*c, Vec3::splat(0.5))).collect();
    assert_eq!(pairs(&boxes, Broad::Morton).len(), 999);
}

#[test]
fn triangle_of_5050_balls_has_14850_touching_pairs() {
    let mut centers = Vec::new();
    for k in 1..=100 {
        for column in 0..k {
            let y = column as f64 - 0.5 * (k - 1) as f64;
            centers.push(Vec3::new(k as f64 * 3f64.sqrt() / 2.0, y, 0.0));
        }
    }
    for method in [Broad::All, Broad::Bvh, Broad::Morton] {
        assert_eq!(touching(&centers, 0.5, method), 14_850);
    }
}

fn any_box() -> impl Strategy<Value = Aabb> {
    let corner = (-10.0..10.0f64, -10.0..10.0f64, -10.0..10.0f64).prop_map(|(x, y, z)| Vec3::new(x, y, z));
    let size = prop_oneof![
        8 => (0.0..1.0f64).prop_map(Vec3::splat),
        2 => (0.0..9.0f64, 0.0..0.1f64, 0.0..2.0f64).prop_map(|(x, y, z)| Vec3::new(x, y, z)),
        1 => Just(Vec3::ZERO),
        1 => Just(Vec3::INFINITY),
        1 => Just(Vec3::splat(-1.0)),
        1 => Just(Vec3::new(1e9, 1.0, 1.0)),
    ];
    (corner, size, any::<bool>()).prop_map(|(p, s, snap)| {
        let p = if snap { p.round() } else { p };
        if s.x == f64::INFINITY { Aabb { min: Vec3::NEG_INFINITY, max: p } } else { Aabb { min: p, max: p + s } }
    })
}

proptest! {
    #[test]
    fn all_methods_agree(boxes in prop::collection::vec(any_box(), 0..120)) {
        let truth = pairs(&boxes, Broad::All);
        prop_assert!(truth.windows(2).all(|w| w[0] < w[1]));
        prop_assert_eq!(&pairs(&boxes, Broad::Bvh), &truth);
        prop_assert_eq!(&pairs(&boxes, Broad::Morton), &truth);
    }
}

#[test]
fn buffers_do_not_matter() {
    let mut r = Random(8);
    let (mut scratch, mut out) = (BroadScratch::default(), vec![(7, 7)]);
    for count in [300, 5, 0, 1000] {
        let boxes: Vec<Aabb> = (0..count).map(|_| Aabb::around(r.vector(-5.0, 5.0), r.vector(0.0, 0.5))).collect();
        for method in [Broad::Morton, Broad::Bvh, Broad::All] {
            pairs_into(&boxes, method, &mut scratch, &mut out);
            assert_eq!(out, pairs(&boxes, method));
        }
    }
}
