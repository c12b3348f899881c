//! Signed distances against 1000 reference pairs, bracketed from both sides (`tests/data/D01_signed_distance.jsonl`).

use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use tippe_geometry::{Hull, Pose, Quat, Shape, Vec3, separation};

pub fn number(v: &Value) -> f64 {
    v.as_f64().unwrap()
}

pub fn vector(v: &Value) -> Vec3 {
    Vec3::new(number(&v[0]), number(&v[1]), number(&v[2]))
}

pub fn pose(v: &Value) -> Pose {
    let q = &v["quaternion_wxyz"];
    let q = Quat::from_xyzw(number(&q[1]), number(&q[2]), number(&q[3]), number(&q[0])).normalize();
    Pose::new(q, vector(&v["position"]))
}

fn shape(v: &Value) -> Shape {
    match v["type"].as_str().unwrap() {
        "box" => Shape::Box { half_extents: vector(&v["half_extents"]), smoothing: 0.0 },
        "cylinder" => {
            Shape::Cylinder { radius: number(&v["radius"]), half_height: number(&v["half_height"]), smoothing: 0.0 }
        }
        "capsule" => Shape::Capsule { radius: number(&v["radius"]), half_length: number(&v["half_length"]) },
        "cone" => Shape::Cone {
            base_radius: number(&v["base_radius"]),
            top_radius: 0.0,
            half_height: 0.5 * number(&v["height"]),
            smoothing: 0.0,
        },
        "ellipsoid" => Shape::Ellipsoid { semi_axes: vector(&v["semi_axes"]) },
        "hull" => {
            let points: Vec<Vec3> = v["vertices"].as_array().unwrap().iter().map(vector).collect();
            Shape::Hull(Arc::new(Hull::new(&points).unwrap()))
        }
        "sphere" => Shape::Sphere { radius: number(&v["radius"]) },
        other => panic!("{other}"),
    }
}

#[test]
fn a_thousand_reference_pairs() {
    let text = include_str!("../data/D01_signed_distance.jsonl");
    let mut worst: BTreeMap<String, (f64, f64, usize)> = BTreeMap::new();
    let mut failures = Vec::new();
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let (s1, s2) = (shape(&case["A"]), shape(&case["B"]));
        s1.validate().unwrap();
        s2.validate().unwrap();
        let (X_w1, X_w2) = (pose(&case["A"]), pose(&case["B"]));
        let r = separation(&s1, &X_w1, &s2, &X_w2);
        let reference = number(&case["signed_distance"]);
        let polytope = |s: &Shape| matches!(s, Shape::Box { .. } | Shape::Hull(_));
        let polytopes = polytope(&s1) && polytope(&s2);
        let tolerance = match (reference > 0.0, polytopes) {
            (true, false) => 1e-8,
            (true, true) => 1e-10,
            (false, false) => 1e-6,
            (false, true) => 1e-9,
        };
        let error = (r.gap - reference).abs();
        let turned = 1.0 - r.normal.dot(vector(&case["normal_A_to_B"]));
        let key = format!("{} {}-{}", if reference > 0.0 { "apart" } else { "deep" }, s1.name(), s2.name());
        let entry = worst.entry(key).or_default();
        entry.0 = entry.0.max(error);
        entry.2 += 1;
        // Normals where they are unique: not aligned, and no second direction nearly as good.
        if !case["aligned"].as_bool().unwrap() && error < 1e-9 {
            entry.1 = entry.1.max(turned);
        }
        if !(error <= tolerance) {
            failures.push(format!("{} error {error:.2e} gap {} reference {reference}", case["id"], r.gap));
        }
        let consistent = (r.point2 - r.point1 - r.normal * r.gap).length();
        assert!(consistent < 1e-12, "{} {consistent}", case["id"]);
    }
    for (key, (error, turned, count)) in &worst {
        println!("{key:30} {count:4} pairs, gap error {error:.1e}, normal 1 - cos {turned:.1e}");
    }
    assert!(failures.is_empty(), "{} of 1000 pairs:\n{}", failures.len(), failures.join("\n"));
}
