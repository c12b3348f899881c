//! Elastic foundation over meshes: closed forms, energy, continuity across merging regions.

use crate::random::Random;
use crate::surfaces::{ball, boolean, concave, cuboid, placed, surface};
use boolmesh::prelude::OpType;
use tippe_geometry::{
    Foundation, Pose, Quat, Solid, Surface, SurfaceWork, TriMesh, Vec3, foundation, half_space_foundation,
    half_space_patch, half_space_points, surface_distance, surface_patch,
};

fn solve(s1: &Surface, X1: &Pose, s2: &Surface, X2: &Pose) -> (Foundation, SurfaceWork) {
    let mut work = SurfaceWork::default();
    (foundation(s1, X1, s2, X2, Vec3::ZERO, &mut work), work)
}

/// Box on box: force = depth times area up to second order in the depth, energy half of depth squared times area.
#[test]
fn box_on_box() {
    let (big, small) = (surface(&cuboid(Vec3::new(1.0, 1.0, 0.5))), surface(&cuboid(Vec3::new(0.3, 0.2, 0.2))));
    for depth in [1e-2, 1e-3, 1e-5] {
        for q in [Quat::IDENTITY, Quat::from_xyzw(0.0, 0.0, 0.3, 0.9).normalize()] {
            let X2 = Pose::new(q, Vec3::new(0.1, 0.2, 0.7 - depth));
            let (f, work) = solve(&big, &Pose::IDENTITY, &small, &X2);
            let area = 0.6 * 0.4;
            let order = 6.0 * depth;
            assert!((f.force.z / (depth * area) - 1.0).abs() < order, "{} {}", f.force.z, depth * area);
            assert!(f.force.x.abs() + f.force.y.abs() < 1e-12 * area);
            assert!((f.energy / (0.5 * depth * depth * area) - 1.0).abs() < order);
            assert!((f.depth / depth - 1.0).abs() < 1e-6);
            assert!((f.area / area - 1.0).abs() < order);
            // the force acts at the middle of the patch: m = c x f
            let m = X2.position.cross(f.force);
            assert!((f.moment - m).length() < 1e-3 * m.length() + 1e-12, "{} {m}", f.moment);
            let total: f64 = work.points().iter().map(|p| p.area).sum();
            assert!((total / f.area - 1.0).abs() < 1e-12);
            assert!(work.points().iter().all(|p| p.region == 0));
        }
    }
}

/// Body 2 pushes back with the same wrench when the pair is named the other way round.
#[test]
fn symmetric_in_the_pair() {
    let mut r = Random(31);
    for _ in 0..30 {
        let (s1, s2) = (surface(&concave(&mut r)), surface(&concave(&mut r)));
        let X2 = Pose::new(r.rotation(), r.vector(-0.5, 0.5));
        let (f, _) = solve(&s1, &Pose::IDENTITY, &s2, &X2);
        let (b, _) = solve(&s2, &X2, &s1, &Pose::IDENTITY);
        let scale = f.area * f.depth + 1e-12;
        assert!((f.force + b.force).length() < 1e-9 * scale, "{f:?} {b:?}");
        assert!((f.moment + b.moment).length() < 1e-9 * scale);
    }
}

/// U1 + U2 over 2 by brute force: points of a lattice in the overlap.
fn lattice_energy(s: [(&TriMesh, &Pose); 2], n: usize) -> f64 {
    let meshes = s.map(|(m, X)| placed(m, X));
    let Some(body) = boolean(&meshes[0], &meshes[1], OpType::Intersect) else { return 0.0 };
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for v in &body.vertices {
        (low, high) = (low.min(*v), high.max(*v));
    }
    let side = (high - low) / n as f64;
    let distance = |m: &TriMesh, x: Vec3| {
        m.triangles
            .iter()
            .map(|t| triangle_distance(x, t.map(|i| m.vertices[i as usize])))
            .fold(f64::INFINITY, f64::min)
    };
    let inside = |m: &TriMesh, x: Vec3| {
        // solid angle
        let total: f64 = m
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| m.vertices[i as usize] - x);
                let (la, lb, lc) = (a.length(), b.length(), c.length());
                let den = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
                2.0 * libm::atan2(a.dot(b.cross(c)), den)
            })
            .sum();
        total > 2.0 * std::f64::consts::PI
    };
    let mut sum = 0.0;
    for i in 0..n * n * n {
        let k = Vec3::new((i % n) as f64 + 0.5, (i / n % n) as f64 + 0.5, (i / n / n) as f64 + 0.5);
        let x = low + side * k;
        if inside(&body, x) {
            sum += 0.5 * (distance(&meshes[0], x) + distance(&meshes[1], x));
        }
    }
    sum * side.x * side.y * side.z
}

fn triangle_distance(x: Vec3, [a, b, c]: [Vec3; 3]) -> f64 {
    let n = (b - a).cross(c - a);
    let edge = |p: Vec3, q: Vec3| {
        let t = ((x - p).dot(q - p) / (q - p).length_squared()).clamp(0.0, 1.0);
        (x - p - (q - p) * t).length()
    };
    let left = |p: Vec3, q: Vec3| n.dot((q - p).cross(x - p)) >= 0.0;
    if left(a, b) && left(b, c) && left(c, a) {
        (n.dot(x - a) / n.length()).abs()
    } else {
        edge(a, b).min(edge(b, c)).min(edge(c, a))
    }
}

/// The force is the derivative of the energy of the theory, deep and with edges and corners: the quadrature's accuracy.
#[test]
fn force_is_the_derivative_of_the_energy() {
    let a = cuboid(Vec3::new(0.5, 0.4, 0.3));
    let b = cuboid(Vec3::new(0.3, 0.3, 0.3));
    let X2 = Pose::new(Quat::from_xyzw(0.2, 0.1, 0.3, 0.9).normalize(), Vec3::new(0.35, 0.25, 0.4));
    let (s1, s2) = (surface(&a), surface(&b));
    let (f, _) = solve(&s1, &Pose::IDENTITY, &s2, &X2);
    let step = 2e-2;
    let mut slope = Vec3::ZERO;
    for d in [Vec3::X, Vec3::Y, Vec3::Z] {
        let at = |h: f64| {
            let X = Pose::new(X2.rotation, X2.position + d * h);
            lattice_energy([(&a, &Pose::IDENTITY), (&b, &X)], 24)
        };
        slope -= d * ((at(step) - at(-step)) / (2.0 * step));
    }
    assert!((f.force - slope).length() < 0.02 * slope.length(), "{} {slope}", f.force);
}

/// Along shallow random paths the work of the force is the change of the energy.
#[test]
fn work_along_a_path() {
    let mut r = Random(33);
    let (s1, s2) = (surface(&ball(0.5, 24)), surface(&ball(0.4, 20)));
    let q = r.rotation();
    let u = r.direction();
    let at = |gap: f64| solve(&s1, &Pose::IDENTITY, &s2, &Pose::new(q, u * (0.9 + gap))).0;
    let (start, end) = (at(-0.01), at(-0.03));
    let n = 64;
    let mut work = 0.0;
    for i in 0..n {
        let x = -0.01 - 0.02 * (i as f64 + 0.5) / n as f64;
        work += at(x).force.dot(u) * 0.02 / n as f64;
    }
    let stored = end.energy - start.energy;
    assert!((work / stored - 1.0).abs() < 0.02, "{work} {stored}");
}

/// Two bumps dip into a flat face, then the valley between them: two regions become one, the force goes on.
#[test]
fn no_jump_where_regions_merge() {
    let bump = |x: f64| placed(&cuboid(Vec3::splat(0.2)), &Pose::new(turned(), Vec3::new(x, 0.03, 0.0)));
    let two = boolean(&bump(-0.15), &bump(0.17), OpType::Add).unwrap();
    let (floor, bumps) = (surface(&cuboid(Vec3::new(1.0, 1.0, 0.5))), surface(&two));
    let tilt = Quat::from_xyzw(0.01, 0.02, 0.0, 1.0).normalize();
    let mut work = SurfaceWork::default();
    let mut at = |z: f64| {
        let f = foundation(
            &floor,
            &Pose::IDENTITY,
            &bumps,
            &Pose::new(tilt, Vec3::new(0.0, 0.0, 0.5 + z)),
            Vec3::ZERO,
            &mut work,
        );
        (f, work.regions().len())
    };
    // The pose at which the regions merge, to the last digit.
    let (mut apart, mut joined) = (0.25, 0.0);
    assert_eq!((at(apart).1, at(joined).1), (2, 1));
    for _ in 0..60 {
        let middle = 0.5 * (apart + joined);
        if at(middle).1 > 1 { apart = middle } else { joined = middle }
    }
    assert!(apart - joined < 1e-12);
    let (a, b) = (at(apart + 1e-9).0, at(joined - 1e-9).0);
    assert!(a.force.length() > 1e-3);
    assert!((a.force - b.force).length() < 1e-6 * a.force.length(), "{} {}", a.force, b.force);
    assert!((a.moment - b.moment).length() < 1e-6 * a.moment.length());
    // And nowhere along the way: the step is a thousand times the last difference allowed.
    let mut last = at(0.25).0.force;
    let mut steps: Vec<f64> = Vec::new();
    for i in 1..=2000 {
        let f = at(0.25 - 0.25 * i as f64 / 2000.0).0.force;
        steps.push((f - last).length());
        last = f;
    }
    for w in steps.windows(3) {
        assert!(w[1] < 1.5 * w[0].max(w[2]) + 1e-5 * last.length(), "{w:?}");
    }
}

/// A cube that stands on a corner.
fn turned() -> Quat {
    Quat::from_rotation_arc(Vec3::ONE.normalize(), Vec3::Z)
}

/// Tiny moves give tiny changes, everywhere.
#[test]
fn continuous_at_random_poses() {
    let mut r = Random(34);
    let mut worst = 0.0f64;
    for _ in 0..40 {
        let (s1, s2) = (surface(&concave(&mut r)), surface(&concave(&mut r)));
        for _ in 0..10 {
            let X2 = Pose::new(r.rotation(), r.vector(-0.5, 0.5));
            let (a, _) = solve(&s1, &Pose::IDENTITY, &s2, &X2);
            let (b, _) = solve(&s1, &Pose::IDENTITY, &s2, &Pose::new(X2.rotation, X2.position + r.direction() * 1e-9));
            let scale = a.area * a.depth;
            if scale > 1e-6 {
                worst = worst.max((a.force - b.force).length() / scale);
            }
        }
    }
    assert!(worst < 1e-6, "{worst}");
}

/// Columns along the gradient of the depth carry the wrench of the foundation where faces lie on each other; under a corner some end on its
/// medial surface.
#[test]
fn columns_carry_the_wrench() {
    let floor = surface(&cuboid(Vec3::new(2.0, 2.0, 0.5)));
    let small = surface(&cuboid(Vec3::new(0.3, 0.2, 0.2)));
    let mut r = Random(37);
    let turned = Pose::new(r.rotation(), Vec3::new(0.1, 0.2, 0.0));
    let lowest = small_corner(&turned, 0.3, 0.2, 0.2);
    let corner = Pose::new(turned.rotation, Vec3::new(0.1, 0.2, 0.5 - lowest - 1e-3));
    let mut work = SurfaceWork::default();
    for (X2, exact) in [(Pose::at(Vec3::new(0.1, 0.2, 0.7 - 1e-4)), 2e-3), (corner, 0.3)] {
        let f = foundation(&floor, &Pose::IDENTITY, &small, &X2, X2.position, &mut work);
        let (mut force, mut moment) = (Vec3::ZERO, Vec3::ZERO);
        for p in work.points() {
            let push = p.axis * (p.area * p.normal.dot(p.axis).max(0.0) * p.depth.max(0.0));
            force += push;
            moment += (p.point - X2.position).cross(push);
        }
        assert!((force - f.force).length() < exact * f.force.length(), "{force} {}", f.force);
        assert!((moment - f.moment).length() < exact * f.force.length() * 0.2, "{moment} {}", f.moment);
    }
}

/// Lowest corner of a turned box of these half sizes over the box's centre.
fn small_corner(X: &Pose, x: f64, y: f64, z: f64) -> f64 {
    let down = X.vector_into(Vec3::Z).abs();
    -(down.x * x + down.y * y + down.z * z)
}

/// Area of a polygon's rings against its normal: holes count negative.
fn ring_area(p: &tippe_geometry::PatchPolygon) -> f64 {
    let out = if p.side == 0 { p.normal } else { -p.normal };
    let fan = |r: &Vec<Vec3>| (1..r.len() - 1).map(|k| (r[k] - r[0]).cross(r[k + 1] - r[0])).sum::<Vec3>();
    p.rings.iter().map(|r| 0.5 * out.dot(fan(r))).sum()
}

/// The polygons of a patch have the area of the foundation and carry its force, whole triangles and holes too.
#[test]
fn patch_polygons() {
    let mut r = Random(31);
    let solids = [surface(&ball(0.5, 12)), surface(&concave(&mut r)), surface(&cuboid(Vec3::new(0.4, 0.4, 0.05)))];
    let mut work = SurfaceWork::default();
    let (mut touching, mut holes) = (0, 0);
    for i in 0..300 {
        let (s1, s2) = (&solids[i % 3], &solids[(i / 3) % 3]);
        let X1 = Pose::new(r.rotation(), Vec3::ZERO);
        let X2 = Pose::new(r.rotation(), r.vector(-0.6, 0.6));
        let f = foundation(s1, &X1, s2, &X2, Vec3::ZERO, &mut work);
        let patch = surface_patch(s1, &X1, s2, &X2, &mut work);
        let (area, push) = patch.iter().fold((0.0, Vec3::ZERO), |(a, p), q| (a + 0.5 * q.area, p + q.push));
        assert!((area - f.area).abs() <= 1e-9 * f.area, "{area} {}", f.area);
        assert!((push - f.force).length() <= 1e-9 * f.area, "{push} {}", f.force);
        let drawn: f64 = patch.iter().map(|p| 0.5 * ring_area(p)).sum();
        assert!((drawn - f.area).abs() <= 1e-9 * (f.area + 1e-3), "{i}: {drawn} {}", f.area);
        touching += usize::from(f.area > 0.0);
        holes += patch.iter().filter(|p| p.rings.len() > 1).count();
    }
    assert!(touching > 100 && holes > 0, "{touching} {holes}");

    let X2 = Pose::new(r.rotation(), Vec3::new(0.1, 0.2, 0.3));
    let f = half_space_foundation(&Pose::IDENTITY, &solids[0], &X2, Vec3::ZERO, &mut work);
    let patch = half_space_patch(&Pose::IDENTITY, &solids[0], &X2, &mut work);
    let push: Vec3 = patch.iter().map(|p| p.push).sum();
    let drawn: f64 = patch.iter().map(ring_area).sum();
    assert!(f.area > 0.0 && (push - f.force).length() < 1e-12 && (drawn - f.area).abs() < 1e-12);
}

#[test]
fn distance_of_surfaces() {
    let (mut near, mut stack) = ([0; 2], Vec::new());
    let (a, b) = (surface(&cuboid(Vec3::splat(0.5))), surface(&cuboid(Vec3::new(0.3, 0.2, 0.1))));
    // corner to corner, edge to edge, face to face
    for (x, d) in [
        (Vec3::new(1.8, 1.7, 1.6), Vec3::ONE.length()),
        (Vec3::new(1.8, 1.7, 0.0), std::f64::consts::SQRT_2),
        (Vec3::new(0.0, 0.1, -1.6), 1.0),
    ] {
        let gap = surface_distance(&a, &Pose::IDENTITY, &b, &Pose::at(x), 10.0, &mut near, &mut stack).unwrap();
        assert!((gap.distance - d).abs() < 1e-14, "{gap:?}");
        assert!(((gap.point1 - gap.point2).length() - d).abs() < 1e-14);
        assert!(surface_distance(&a, &Pose::IDENTITY, &b, &Pose::at(x), 0.9 * d, &mut near, &mut stack).is_none());
    }
    let mut r = Random(35);
    for _ in 0..60 {
        let (m1, m2) = (concave(&mut r), concave(&mut r));
        let X2 = Pose::new(r.rotation(), r.direction() * 1.2);
        let (s1, s2) = (surface(&m1), surface(&m2));
        let mut from = |mut near: [u32; 2]| {
            surface_distance(&s1, &Pose::IDENTITY, &s2, &X2, f64::INFINITY, &mut near, &mut stack).unwrap()
        };
        let gap = from([u32::MAX; 2]);
        // wherever the search begins
        assert!((0..s1.len() as u32).all(|f| from([f, f % s2.len() as u32]) == gap) && from(gap.triangles) == gap);
        let placed = placed(&m2, &X2);
        let near = |m: &TriMesh, p: Vec3| {
            let d = m.triangles.iter().map(|t| triangle_distance(p, t.map(|i| m.vertices[i as usize])));
            d.fold(f64::INFINITY, f64::min)
        };
        // no corner is nearer, the points lie on the surfaces, and crossing surfaces have none between them
        for v in &placed.vertices {
            assert!(near(&m1, *v) >= gap.distance - 1e-12);
        }
        for v in &m1.vertices {
            assert!(near(&placed, *v) >= gap.distance - 1e-12);
        }
        assert!(near(&m1, gap.point1) < 1e-12 && near(&placed, gap.point2) < 1e-12);
        let mut work = SurfaceWork::default();
        if gap.distance > 1e-9 {
            let shared = tippe_geometry::surface_overlap(&s1, &Pose::IDENTITY, &s2, &X2, &mut work);
            assert!(shared.is_empty() || shared[0].area == 0.0);
        }
    }
}

/// Half-space: force = volume along the normal, moment at the centroid, energy their integral, regions as with a large box.
#[test]
fn half_space_in_closed_form() {
    let mut r = Random(36);
    let mut work = SurfaceWork::default();
    let floor = surface(&cuboid(Vec3::new(20.0, 20.0, 10.0)));
    let mut met = 0;
    for _ in 0..60 {
        let s = surface(&concave(&mut r));
        let X1 = Pose::new(r.rotation(), r.vector(-0.2, 0.2));
        let X2 = Pose::new(r.rotation(), r.vector(-0.4, 0.4));
        let f = half_space_foundation(&X1, &s, &X2, Vec3::ZERO, &mut work);
        let regions = work.regions().to_vec();
        let n = X1.vector(Vec3::Z);
        let volume: f64 = regions.iter().map(|r| r.volume).sum();
        assert!((f.force - n * volume).length() < 1e-12, "{} {}", f.force, n * volume);
        let first = regions.iter().fold(Vec3::ZERO, |sum, r| sum + r.centroid * r.volume);
        assert!((f.moment - first.cross(n)).length() < 1e-12);
        let step = 1e-4;
        let at = |h: f64, work: &mut SurfaceWork| {
            half_space_foundation(&X1, &s, &Pose::new(X2.rotation, X2.position + n * h), Vec3::ZERO, work).energy
        };
        let slope = (at(step, &mut work) - at(-step, &mut work)) / (2.0 * step);
        assert!((slope + f.force.dot(n)).abs() < 1e-7, "{slope} {}", f.force.dot(n));
        // the same solid on a box as large as the ground
        let X = X1.then(&Pose::at(Vec3::new(0.0, 0.0, -10.0)));
        let boxed = tippe_geometry::surface_overlap(&floor, &X, &s, &X2, &mut work);
        assert_eq!(boxed.len(), regions.len());
        met += boxed.len();
        for b in boxed {
            let twin = regions
                .iter()
                .find(|r| (r.volume - b.volume).abs() < 1e-9 && (r.centroid - b.centroid).length() < 1e-6);
            let twin = twin.expect("the same region");
            assert!((twin.area - b.area).abs() < 1e-9);
            // a solid wholly below has no area and no normal of its own
            assert!(b.area == 0.0 || (twin.extent - b.extent).abs() < 1e-9);
        }
    }
    assert!(met > 40);
    let small = surface(&cuboid(Vec3::new(0.3, 0.2, 0.2)));
    let X2 = Pose::at(Vec3::new(0.1, 0.2, 0.2 - 1e-4));
    // cut at the plane: points below carry the foundation, those above wait
    let points = half_space_points(&Pose::IDENTITY, &small, &X2, [f64::NEG_INFINITY, 1e-3], &mut work).to_vec();
    let sum: f64 = points.iter().map(|p| p.area * p.normal.dot(p.axis)).sum();
    assert!((sum - 0.24).abs() < 1e-12, "{sum}");
    assert!(points.iter().all(|p| (p.depth - 1e-4).abs() < 1e-12 && p.axis == Vec3::Z));
    for height in [0.2, 0.2 + 5e-4] {
        let above = Pose::at(Vec3::new(0.1, 0.2, height));
        let points = half_space_points(&Pose::IDENTITY, &small, &above, [f64::NEG_INFINITY, 1e-3], &mut work);
        let sum: f64 = points.iter().map(|p| p.area * p.normal.dot(p.axis)).sum();
        assert!((sum - 0.24).abs() < 1e-12, "{sum}");
    }
    for _ in 0..20 {
        let X2 = Pose::new(r.rotation(), Vec3::ZERO);
        let X2 = Pose::new(X2.rotation, Vec3::new(0.1, 0.2, -small_corner(&X2, 0.3, 0.2, 0.2) - 1e-3));
        let f = half_space_foundation(&Pose::IDENTITY, &small, &X2, Vec3::ZERO, &mut work);
        let points = half_space_points(&Pose::IDENTITY, &small, &X2, [f64::NEG_INFINITY, 1e-3], &mut work);
        let (mut force, mut moment) = (Vec3::ZERO, Vec3::ZERO);
        for p in points.iter().filter(|p| p.depth > 0.0) {
            let push = p.axis * (p.area * p.normal.dot(p.axis) * p.depth);
            force += push;
            moment += p.point.cross(push);
        }
        assert!((force - f.force).length() < 1e-9 * f.force.length() && force.z > 0.0, "{force} {}", f.force);
        assert!((moment - f.moment).length() < 1e-9 * f.force.length(), "{moment} {}", f.moment);
        assert!(points.iter().any(|p| p.depth < 0.0) && points.iter().all(|p| p.depth > -1.001e-3));
    }
}

/// A heavy pair is cut in lots: the same bits on any number of threads, and outside of all pools; what lots add up to is the closed form.
#[test]
fn heavy_pairs_on_any_number_of_threads() {
    let s = surface(&ball(1.0, 100));
    assert!(s.is_heavy_with(&s), "{}", s.len());
    let q = Quat::from_xyzw(0.1, 0.2, 0.3, 0.9).normalize();
    for distance in [1.97, 1.4] {
        let X2 = Pose::new(q, Vec3::new(0.6, 0.3, 0.2).normalize() * distance);
        let answer = || {
            let (f, work) = solve(&s, &Pose::IDENTITY, &s, &X2);
            (f, work.regions().to_vec(), work.points().to_vec())
        };
        let outside = answer();
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(answer) == outside, "{threads} threads");
        }
        let lens = std::f64::consts::PI * (4.0 + distance) * (2.0 - distance) * (2.0 - distance) / 12.0;
        assert_eq!(outside.1.len(), 1);
        let share = outside.1[0].volume / lens;
        assert!((0.9..1.0).contains(&share), "{share}");
    }
}

/// A keel whose edges lie on the flanks of a V, one face touching both: the overlap at an edge is a triangle of area w d^2/2 cot a, so force and energy grow with d^2 and
/// d^3, F d = 3 U, and nothing is deeper than d/sqrt(2). Parts of its top and ends have pieces at both flanks.
#[test]
fn one_face_on_two_flanks() {
    let v = |x: f64, y: f64| [x * 1e-3, y * 1e-3];
    let along_x = |s: Solid| s.turned(Vec3::ONE.normalize(), 2.0 * std::f64::consts::FRAC_PI_3);
    let groove = along_x(Solid::prism(vec![v(-21.0, 1.0), v(0.0, -20.0), v(21.0, 1.0)], 0.7));
    let rail = Solid::cuboid(Vec3::new(0.6, 0.08, 0.04)).at(Vec3::new(0.0, 0.0, -0.02)).minus(groove);
    let rail = surface(rail.mesh().unwrap().surface());
    for top in [14.0, 14.5, 14.85] {
        let keel = along_x(Solid::prism(vec![v(-15.0, top), v(15.0, top), v(0.0, 0.0)], 0.06));
        let keel = surface(keel.mesh().unwrap().surface());
        for d in [1e-7, 1e-6, 1e-5, 5e-5] {
            // the edges are at y = 15 mm, where the flank is at z = -5 mm
            let X2 = Pose::new(Quat::IDENTITY, Vec3::new(-0.2, 0.0, -5e-3 - top * 1e-3 - d));
            let (f, work) = solve(&rail, &Pose::IDENTITY, &keel, &X2);
            assert!((f.force.z * d / f.energy - 3.0).abs() < 1e-3, "{top} {d}: {f:?}");
            assert!(f.depth <= d / std::f64::consts::SQRT_2, "{top} {d}: {}", f.depth);
            assert!(work.points().iter().all(|p| p.depth >= 0.0));
        }
    }
}
