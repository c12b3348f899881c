//! Solids taken apart into convex pieces: exact where few edges are concave, reported where they are not.

use crate::random::Random;
use tippe_geometry::{Mesh, Pieces, Shape, Solid, SolidError, Vec3};

fn volume(pieces: &Pieces) -> f64 {
    pieces.hulls.iter().map(|hull| Shape::Hull(hull.clone()).mass_properties(1.0).unwrap().mass).sum()
}

fn is_inside(pieces: &Pieces, x: Vec3, slack: f64) -> bool {
    pieces.hulls.iter().any(|hull| hull.faces().iter().all(|f| f.normal.dot(x) - f.offset <= slack))
}

/// As many pieces as expected, nothing added, and the same points inside.
#[track_caller]
fn exact(name: &str, mesh: &Mesh, most: u32, count: std::ops::RangeInclusive<usize>) {
    let pieces = mesh.pieces(most).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(count.contains(&pieces.hulls.len()), "{name}: {} pieces", pieces.hulls.len());
    let size = mesh.surface().size();
    assert!(pieces.excess <= 1e-8 * mesh.volume(), "{name}: {:e}", pieces.excess);
    assert!((volume(&pieces) / mesh.volume() - 1.0).abs() < 1e-8, "{name}");
    assert!(pieces.depth < 1e-5 * size, "{name}: {:e}", pieces.depth);
    let mut random = Random(3);
    for _ in 0..2000 {
        let x = random.vector(-1.0, 1.0) * mesh.radius();
        let inside = mesh.contains(x);
        assert!(is_inside(&pieces, x, if inside { 1e-9 } else { -1e-9 } * size) == inside, "{name}: {x}");
    }
}

fn prism(outline: &[[f64; 2]]) -> Mesh {
    Solid::prism(outline.to_vec(), 2.0).mesh().unwrap()
}

fn u() -> Mesh {
    prism(&[[0.0, 0.0], [3.0, 0.0], [3.0, 3.0], [2.0, 3.0], [2.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]])
}

#[test]
fn solids_with_few_concave_edges_come_apart_exactly() {
    exact("box", &Solid::cuboid(Vec3::new(1.0, 2.0, 3.0)).mesh().unwrap(), 8, 1..=1);
    let l = prism(&[[0.0, 0.0], [4.0, 0.0], [4.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]]);
    exact("L", &l, 8, 2..=2);
    exact("U", &u(), 8, 3..=3);
    let bar = |size| Solid::cuboid(size);
    let plus = bar(Vec3::new(3.0, 1.0, 1.0)).and(bar(Vec3::new(1.0, 3.0, 1.0))).mesh().unwrap();
    exact("plus", &plus, 8, 3..=4);
    let jack = bar(Vec3::new(3.0, 1.0, 1.0)).and(bar(Vec3::new(1.0, 3.0, 1.0))).and(bar(Vec3::new(1.0, 1.0, 3.0)));
    exact("jack", &jack.mesh().unwrap(), 16, 5..=9);
    let teeth = bar(Vec3::new(0.5, 1.0, 1.0)).along(5, Vec3::X).at(Vec3::new(-2.0, 0.0, 1.0));
    let comb = bar(Vec3::new(5.0, 1.0, 1.0)).and(teeth).mesh().unwrap();
    exact("comb", &comb, 8, 6..=6);
    // turned, so that no plane is across an axis
    let tilted = Solid::Mesh(u().surface().clone()).turned(Vec3::new(0.3, -0.5, 0.8), 0.7).mesh().unwrap();
    exact("tilted U", &tilted, 8, 3..=3);
    // two parts, and a cavity
    let two = bar(Vec3::ONE).and(bar(Vec3::ONE).at(Vec3::X * 2.0)).mesh().unwrap();
    exact("two", &two, 8, 2..=2);
    let hollow = bar(Vec3::splat(3.0)).minus(bar(Vec3::ONE)).mesh().unwrap();
    exact("hollow", &hollow, 32, 6..=26);
    let frame = bar(Vec3::new(3.0, 3.0, 1.0)).minus(bar(Vec3::new(1.0, 1.0, 2.0))).mesh().unwrap();
    exact("frame", &frame, 8, 4..=8);
}

#[test]
fn what_is_left_over_is_reported() {
    // One piece is the hull: the notch of 1 x 2 x 2; its bottom lies 1 under the base, the ends and no nearer the sides.
    let one = u().pieces(1).unwrap();
    assert_eq!(one.hulls.len(), 1);
    assert!((one.excess - 4.0).abs() < 1e-12 && (one.depth - 1.0).abs() < 0.011, "{} {}", one.excess, one.depth);
    // Two leave less, and a curved bowl less with every piece.
    let two = u().pieces(2).unwrap();
    assert!(two.hulls.len() == 2 && two.excess < 3.0 && two.excess > 0.5, "{}", two.excess);
    let bowl = Solid::cylinder(1.0, 1.2, 24).at(Vec3::Z * -0.6).minus(Solid::sphere(0.9, 24)).mesh().unwrap();
    let mut last = f64::INFINITY;
    for most in [1, 4, 8, 16, 32] {
        let pieces = bowl.pieces(most).unwrap();
        assert!(pieces.hulls.len() <= most as usize);
        assert!((volume(&pieces) - bowl.volume() - pieces.excess).abs() < 1e-9);
        assert!(pieces.excess < last, "{most}: {} after {last}", pieces.excess);
        last = pieces.excess;
    }
    assert!(last < 0.1 * bowl.volume(), "{}", last / bowl.volume());
}

#[test]
fn pieces_are_the_same_every_time_and_cover_the_solid() {
    let gear = Solid::cylinder(1.0, 0.4, 32).minus(Solid::cylinder(0.2, 1.0, 8).at(Vec3::X * 0.9).around(6));
    let mesh = gear.mesh().unwrap();
    let first = mesh.pieces(20).unwrap();
    assert_eq!(first, gear.mesh().unwrap().pieces(20).unwrap());
    let mut random = Random(5);
    for _ in 0..2000 {
        let x = random.vector(-1.0, 1.0) * Vec3::new(1.0, 1.0, 0.2);
        assert!(!mesh.contains(x) || is_inside(&first, x, 1e-9), "{x}");
    }
    assert!(matches!(mesh.pieces(0), Err(SolidError::Count { what: "pieces", value: 0, .. })));
}
