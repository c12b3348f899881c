//! Closed meshes: what is accepted, what is repaired and reported, what is refused by name; mass, support, rays.

use std::f64::consts::PI;
use std::sync::Arc;
use tippe_geometry::{
    ContactKind, Mat3, Mesh, MeshError, Pose, Quat, Shape, TriMesh, Vec3, cast, contact_kind, separation,
};

use crate::random::Random;

fn block(half: Vec3) -> TriMesh {
    Shape::Box { half_extents: half, smoothing: 0.0 }.surface_mesh(3)
}

fn soup(mesh: &TriMesh) -> TriMesh {
    let mut out = TriMesh::default();
    for t in &mesh.triangles {
        let base = out.vertices.len() as u32;
        out.vertices.extend(t.map(|i| mesh.vertices[i as usize]));
        out.triangles.push([base, base + 1, base + 2]);
    }
    out
}

fn close(a: f64, b: f64, within: f64) -> bool {
    (a - b).abs() <= within * b.abs().max(1e-300)
}

#[test]
fn mass_of_meshes_is_that_of_the_solid() {
    // A box far from its origin and turned: mass, centre and inertia to rounding.
    let h = Vec3::new(0.3, 0.2, 0.7);
    let X =
        Pose::new(Quat::from_axis_angle(Vec3::new(1.0, 2.0, -0.5).normalize(), 0.7), Vec3::new(1000.0, -500.0, 200.0));
    let mesh = Mesh::new(block(h)).unwrap().placed(&X);
    let own = Shape::Mesh(Arc::new(mesh)).mass_properties(7800.0).unwrap();
    let exact = Shape::Box { half_extents: h, smoothing: 0.0 }.mass_properties(7800.0).unwrap();
    let R = Mat3::from_quat(X.rotation);
    let I = R * exact.inertia * R.transpose();
    // Corners 1e3 m away carry 1e-13 m of rounding, 1e-12 of the box.
    assert!(close(own.mass, exact.mass, 1e-11), "{} {}", own.mass, exact.mass);
    assert!((own.center - X.position).length() < 1e-11);
    for k in 0..3 {
        assert!((own.inertia.col(k) - I.col(k)).length() < 1e-10 * I.col(k).length());
    }
    // A ball with a concentric cavity: rho 4/3 pi (R^3 - r^3), 2/5 m (R^5 - r^5)/(R^3 - r^3), within the mesh error.
    let mut shell = Shape::Sphere { radius: 1.0 }.surface_mesh(200);
    let cavity = Shape::Sphere { radius: 0.5 }.surface_mesh(200).turned();
    shell.append(&cavity, |v| v);
    let mesh = Mesh::new(shell).unwrap();
    assert_eq!(mesh.parts(), 2);
    let own = Shape::Mesh(Arc::new(mesh)).mass_properties(1.0).unwrap();
    let m = 4.0 / 3.0 * PI * (1.0 - 0.125);
    assert!(close(own.mass, m, 1e-3));
    let i = 0.4 * m * (1.0 - 0.5f64.powi(5)) / (1.0 - 0.125);
    assert!(close(own.inertia.x_axis.x, i, 2e-3) && close(own.inertia.z_axis.z, i, 2e-3));
}

#[test]
fn a_soup_is_welded_and_reported() {
    let ball = Shape::Sphere { radius: 0.2 }.surface_mesh(40);
    let (mesh, report) = Mesh::repaired(&soup(&ball), 0.0).unwrap();
    assert_eq!(mesh.vertices().len(), ball.vertices.len());
    assert_eq!(mesh.triangles().len(), ball.triangles.len());
    assert_eq!((report.shared, report.welded), (3 * ball.triangles.len() - ball.vertices.len(), 0));
    assert!(report.is_clean() && report.parts == 1);
    assert!(close(mesh.volume(), ball.volume(), 1e-12));
    // Noise of single precision: open without a tolerance, closed with one.
    let mut noisy = soup(&ball);
    let mut random = Random(4);
    for v in &mut noisy.vertices {
        *v += random.vector(-1e-8, 1e-8);
    }
    assert!(matches!(Mesh::repaired(&noisy, 0.0), Err(MeshError::Open { .. })));
    let (mesh, report) = Mesh::repaired(&noisy, 1e-7).unwrap();
    assert_eq!(mesh.vertices().len(), ball.vertices.len());
    assert!(report.to_string().contains("corners welded"), "{report}");
    assert!(!report.is_clean() && report.welded > 0);
}

#[test]
fn repairs_are_reported() {
    let good = block(Vec3::splat(0.5));
    // Inside out.
    let (mesh, report) = Mesh::repaired(&good.clone().turned(), 0.0).unwrap();
    assert_eq!((report.inside_out, report.turned), (1, 0));
    assert_eq!(mesh.volume(), 1.0);
    assert!(matches!(Mesh::new(good.clone().turned()), Err(MeshError::InsideOut { volume }) if volume == -1.0));
    // Some triangles turned.
    let mut mixed = good.clone();
    for k in [1, 4, 7] {
        mixed.triangles[k].swap(0, 1);
    }
    assert!(matches!(Mesh::new(mixed.clone()), Err(MeshError::Orientation { .. })));
    let (mesh, report) = Mesh::repaired(&mixed, 0.0).unwrap();
    assert_eq!((report.turned, mesh.volume()), (3, 1.0));
    // A triangle without area, a doubled one, a fin seen from both sides.
    let mut dirty = good.clone();
    dirty.triangles.push([0, 1, 1]);
    dirty.triangles.push(good.triangles[2]);
    dirty.triangles.extend([[0, 3, 5], [5, 3, 0]]);
    let (mesh, report) = Mesh::repaired(&dirty, 0.0).unwrap();
    assert_eq!((report.dropped, report.doubled, mesh.triangles().len()), (1, 3, 12));
    // A triangle without area that hangs on nothing.
    let mut loose = good.clone();
    let first = loose.vertices.len() as u32;
    loose.vertices.extend([2.0, 3.0, 4.0].map(Vec3::splat));
    loose.triangles.push([first, first + 1, first + 2]);
    let (mesh, report) = Mesh::repaired(&loose, 0.0).unwrap();
    assert_eq!((report.dropped, mesh.triangles().len(), mesh.vertices().len()), (1, 12, 8));
    // The same over a side that two others share.
    let mut over = good.clone();
    let [a, b, _] = over.triangles[0];
    over.vertices.push(0.5 * (over.vertices[a as usize] + over.vertices[b as usize]));
    over.triangles.push([a, b, over.vertices.len() as u32 - 1]);
    let (mesh, report) = Mesh::repaired(&over, 0.0).unwrap();
    assert_eq!((report.dropped, mesh.triangles().len(), mesh.vertices().len()), (1, 12, 8));
    // A needle: the middle of a side as a corner of its own, joined by a triangle without area.
    let mut needle = good.clone();
    let [a, b, c] = needle.triangles[0];
    let m = needle.vertices.len() as u32;
    needle.vertices.push(0.5 * (needle.vertices[a as usize] + needle.vertices[b as usize]));
    needle.triangles[0] = [a, m, c];
    needle.triangles.push([m, b, c]);
    needle.triangles.push([a, b, m]);
    assert!(matches!(Mesh::new(needle.clone()), Err(MeshError::Degenerate { triangles: 1, .. })));
    let (mesh, report) = Mesh::repaired(&needle, 0.0).unwrap();
    assert_eq!(report.flipped_edges, 1);
    assert!(close(mesh.volume(), 1.0, 1e-15));
    // Of two boxes the second is inside out.
    let mut two = good.clone();
    two.append(&good.clone().turned(), |v| v + Vec3::X * 3.0);
    let (mesh, report) = Mesh::repaired(&two, 0.0).unwrap();
    assert_eq!((report.inside_out, report.parts, mesh.volume()), (1, 2, 2.0));
    // Two boxes that share the corners of an edge, all of it inside out or not.
    let mut two = good.clone();
    two.append(&good, |v| v + Vec3::new(1.0, 1.0, 0.0));
    for (surface, inside_out) in [(two.clone(), 0), (two.turned(), 2)] {
        let (mesh, report) = Mesh::repaired(&surface, 0.0).unwrap();
        assert_eq!((report.parted, report.parts, report.inside_out, mesh.volume()), (1, 2, inside_out, 2.0));
    }
    // A whole shell with its cavity inside out.
    let mut shell = good.clone().turned();
    shell.append(&good, |v| v * 0.5);
    let (mesh, report) = Mesh::repaired(&shell, 0.0).unwrap();
    assert_eq!((report.inside_out, mesh.volume()), (1, 1.0 - 0.125));
}

#[test]
fn what_bounds_no_solid_is_refused_by_name() {
    let good = block(Vec3::splat(0.5));
    assert_eq!(Mesh::new(TriMesh::default()), Err(MeshError::Empty));
    let mut bad = good.clone();
    bad.vertices[3].y = f64::NAN;
    assert_eq!(Mesh::new(bad.clone()), Err(MeshError::NotFinite { vertex: 3 }));
    assert_eq!(Mesh::repaired(&bad, 1e-6).unwrap_err(), MeshError::NotFinite { vertex: 3 });
    // Beyond the sun: a wrong unit.
    let mut bad = good.clone();
    bad.vertices[2].x = 1e35;
    let found = Mesh::new(bad.clone()).unwrap_err();
    assert!(
        matches!(found, MeshError::Far { vertex: 2, .. }) && found.to_string().contains("1e35 m; they end at 1e9 m"),
        "{found}"
    );
    assert!(matches!(Mesh::repaired(&bad, 0.0), Err(MeshError::Far { vertex: 2, .. })));
    // A sheet of two sides, and a tetrahedron with its tip in its base.
    let sheet = TriMesh { vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y], triangles: vec![[0, 1, 2], [0, 2, 1]] };
    assert_eq!(Mesh::repaired(&sheet, 0.0).unwrap_err(), MeshError::Flat { triangles: 2 });
    assert_eq!(Mesh::new(sheet).unwrap_err(), MeshError::Flat { triangles: 2 });
    let flat = TriMesh {
        vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(0.3, 0.3, 0.0)],
        triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    };
    assert_eq!(Mesh::repaired(&flat, 0.0).unwrap_err(), MeshError::Flat { triangles: 4 });
    let mut bad = good.clone();
    bad.triangles[5][1] = 8;
    assert_eq!(Mesh::new(bad), Err(MeshError::Corner { triangle: 5, corner: 8, vertices: 8 }));
    let mut bad = good.clone();
    bad.triangles.pop();
    assert!(matches!(Mesh::repaired(&bad, 0.0), Err(MeshError::Open { edges: 3, .. })));
    // Two boxes that share the corners of an edge.
    let mut bad = good.clone();
    bad.append(&good, |v| v + Vec3::new(1.0, 1.0, 0.0));
    assert!(Mesh::new(bad.clone()).is_ok(), "touching with corners of their own is fine");
    // A wall inside a box: which side of it is outside cannot be told.
    let mut bad = good.clone();
    let wall = (0..8).filter(|&i| good.vertices[i as usize].x > 0.0).collect::<Vec<u32>>();
    bad.vertices.push(Vec3::ZERO);
    bad.triangles.push([wall[0], wall[1], 8]);
    assert!(matches!(Mesh::repaired(&bad, 0.0), Err(MeshError::Fork { .. })));
    // Two boxes that overlap, in general position and with edges that meet edges and faces in one plane.
    for shift in [
        Vec3::new(0.3, 0.41, 0.37),
        Vec3::new(0.5, 0.5, 0.0),
        Vec3::new(0.5, 0.0, 0.0),
        Vec3::splat(0.5),
        Vec3::splat(0.8),
    ] {
        let mut bad = good.clone();
        bad.append(&good, |v| v + shift);
        let found = Mesh::new(bad);
        assert!(matches!(found, Err(MeshError::Crossing { .. } | MeshError::Winding { .. })), "{shift} {found:?}");
    }
    // Matter inside matter.
    let mut bad = good.clone();
    bad.append(&good, |v| v * 0.5);
    assert!(matches!(Mesh::new(bad), Err(MeshError::Winding { winding: 1, .. })));
    // A Klein bottle, immersed: closed by its edges, but one-sided.
    let (n, mut klein) = (24u32, TriMesh::default());
    for i in 0..n {
        for j in 0..n {
            let (u, v) = (2.0 * PI * i as f64 / n as f64, 2.0 * PI * j as f64 / n as f64);
            let r = 2.0 + libm::cos(u / 2.0) * libm::sin(v) - libm::sin(u / 2.0) * libm::sin(2.0 * v);
            let z = libm::sin(u / 2.0) * libm::sin(v) + libm::cos(u / 2.0) * libm::sin(2.0 * v);
            klein.vertices.push(Vec3::new(r * libm::cos(u), r * libm::sin(u), z));
        }
    }
    let at = |i: u32, j: u32| if i < n { i * n + j % n } else { (n - j % n) % n };
    for i in 0..n {
        for j in 0..n {
            klein.triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            klein.triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    assert!(matches!(Mesh::repaired(&klein, 0.0), Err(MeshError::OneSided { .. })));
}

#[test]
fn neighbours_lie_across_their_edges() {
    let mesh = Mesh::new(Shape::Sphere { radius: 1.0 }.surface_mesh(12)).unwrap();
    for (t, around) in mesh.neighbours().iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (mesh.triangles()[t][k], mesh.triangles()[t][(k + 1) % 3]);
            let other = mesh.triangles()[around[k] as usize];
            assert!((0..3).any(|m| other[m] == b && other[(m + 1) % 3] == a));
        }
    }
}

#[test]
fn a_box_as_mesh_answers_like_the_box() {
    let h = Vec3::new(0.3, 0.2, 0.7);
    let shape = Shape::Box { half_extents: h, smoothing: 0.0 };
    let mesh = Shape::Mesh(Arc::new(Mesh::new(block(h)).unwrap()));
    let mut random = Random(11);
    for _ in 0..2000 {
        let mut v = || random.vector(-1.0, 1.0);
        let (d, o, p) = (v(), 2.0 * v(), v());
        let X = Pose::new(Quat::from_axis_angle(v().normalize(), 3.0 * d.x), p);
        assert!((mesh.support(d) - shape.support(d)).length() < 1e-15);
        let (b1, b2) = (mesh.aabb(&X), shape.aabb(&X));
        assert!((b1.min - b2.min).length() < 1e-14 && (b1.max - b2.max).length() < 1e-14);
        assert!(close(mesh.bounding_radius_about(p), shape.bounding_radius_about(p), 1e-14));
        match (cast(&mesh, &X, o, d, 5.0), cast(&shape, &X, o, d, 5.0)) {
            (Some(m), Some(s)) => {
                assert!((m.distance - s.distance).abs() < 1e-12 && (m.normal - s.normal).length() < 1e-12)
            }
            (None, None) => {}
            other => panic!("{other:?}"),
        }
        let ball = Shape::Sphere { radius: 0.1 };
        let (m, s) = (separation(&mesh, &X, &ball, &Pose::at(o)), separation(&shape, &X, &ball, &Pose::at(o)));
        assert!((m.gap - s.gap).abs() < 1e-9, "{} {}", m.gap, s.gap);
    }
    assert_eq!(contact_kind(&mesh, &Shape::HalfSpace), ContactKind::Surface);
    assert_eq!(contact_kind(&Shape::Sphere { radius: 1.0 }, &mesh), ContactKind::Surface);
    // What is written is read again.
    let text = serde_json::to_string(&mesh).unwrap();
    assert_eq!(serde_json::from_str::<Shape>(&text).unwrap(), mesh);
    assert!(serde_json::from_str::<Shape>(&text.replace("0.7", "0.0")).is_err());
}

#[test]
fn checking_a_mesh_grows_as_its_triangles_do() {
    let checked = |segments: u32| {
        let ball = Shape::Sphere { radius: 1.0 }.surface_mesh(segments);
        let start = std::time::Instant::now();
        let (mesh, _) = Mesh::repaired(&ball, 1e-9).unwrap();
        (mesh.triangles().len(), start.elapsed().as_secs_f64())
    };
    // n log n is 20 times for 16 times as many, n^2 256 times
    let ((few, short), (many, long)) = (checked(250), checked(1000));
    assert!(many > 990_000 && many > 15 * few, "{many} {few}");
    assert!(long < 100.0 * short, "{many} triangles in {long} s, {few} in {short} s");
    println!("{many} triangles checked in {long} s, {few} in {short} s");
}
