//! Meshes and modes against closed forms and references independent of Tippe.
#![allow(missing_docs, non_snake_case)]

use tippe_flexible::interface::{Hold, Interface, Select};
use tippe_flexible::reduce::{Choice, Damping, Reduced, Stiffening};
use tippe_flexible::structure::{Elastic, Plane, RigidSet, Structure};
use tippe_flexible::{Kind, Mesh, element, make, read, stress};
use tippe_geometry::{Solid, Vec3};

mod topology;

const STEEL: Elastic = Elastic { young: 210e9, poisson: 0.3, density: 7850.0 };

fn near(got: f64, wanted: f64, share: f64) {
    assert!((got - wanted).abs() <= share * wanted.abs(), "{got} instead of {wanted}, by {:.2e}", got / wanted - 1.0);
}

/// Two curved elements of an .inp with gaps, continued lines and generated sets; mass by quadrature and by the divergence theorem.
#[test]
fn an_inp_file_is_read() {
    let mesh = read::read("two_tets.inp", include_str!("two_tets.inp"), 1.0).expect("it is right");
    let of = mesh.mass(7850.0, 1.0);
    assert_eq!((mesh.kind, mesh.count(), mesh.nodes.len()), (Kind::Tet10, 2, 14));
    near(of.mass, 2.0872283997105985, 1e-12);
    near(of.centre.x, 0.050982443122861244, 1e-12);
    // x x det is of degree 7 where sides are curved, the points are exact to 5
    near(of.second[0][1], 0.004070115742733753, 1e-5);
    near(of.second[1][1] + of.second[2][2], 0.006384666130056391, 1e-5);
    assert_eq!((mesh.sets["left"].len(), mesh.sets["gen"].len()), (3, 4));
    // as gmsh writes it, and back
    let again = read::read("x.msh", &read::write_msh(&mesh), 1.0).expect("it was just written");
    near(again.mass(7850.0, 1.0).mass, of.mass, 1e-14);
}

#[test]
fn wrong_files_are_named() {
    let text = include_str!("two_tets.inp");
    let wrong = |text: &str| read::read("a.inp", text, 1.0).expect_err("it is wrong").to_string();
    assert!(wrong(&text.replace("C3D10", "C3D20")).contains("type C3D20"));
    assert!(wrong(&text.replace("10, 0.000000E+00", "10, zero")).contains("line 5"));
    // the last two middle nodes exchanged, as gmsh has them
    let swapped = text.replace("66, 73, 80", "66, 80, 73").replace("73, 101, 80", "73, 80, 101");
    assert!(wrong(&swapped).contains("folded"));
}

/// A free block: Ritz with Legendre products of degree 14.
#[test]
fn frequencies_of_a_free_block() {
    let half = Vec3::new(0.05, 0.03, 0.015);
    let mesh = make::block(-half, half, 0.0075).expect("a block").quadratic();
    let none = Damping::Ratio(0.0);
    let body =
        Reduced::new(mesh, STEEL, (Plane::Stress, 1.0), &[], Choice::Modes(10), none, Stiffening::None).expect("modes");
    for (k, wanted) in [
        11686.035274827194,
        12659.793398971738,
        18197.672166522487,
        23109.091132141024,
        25287.89448739997,
        26226.8346569758,
        26514.76019985469,
        28750.374378036,
        32510.90939657401,
        34675.88248248651,
    ]
    .into_iter()
    .enumerate()
    {
        near(body.frequency(k), wanted, 3e-3);
    }
    near(body.mass, 7850.0 * 0.1 * 0.06 * 0.03, 1e-12);
    near(body.I.x_axis.x, body.mass * (0.06 * 0.06 + 0.03 * 0.03) / 12.0, 1e-12);
}

/// A linear field gives the same stress everywhere, also where the mesh is irregular, flat or solid.
#[test]
fn constant_strain_is_exact() {
    let mut solid = make::block(Vec3::ZERO, Vec3::ONE, 0.5).expect("a block");
    for p in &mut solid.nodes {
        if [p.x, p.y, p.z].iter().all(|c| *c > 0.01 && *c < 0.99) {
            *p += Vec3::new(0.07, -0.05, 0.03);
        }
    }
    let flat = make::outline(&[vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]], 0.3).expect("a square");
    for mesh in [solid.clone(), solid.quadratic(), flat.clone(), flat.quadratic()] {
        let flat = mesh.kind.dimension() == 2;
        let s = Structure::new(mesh, STEEL, Plane::Stress, 0.01, Vec::new());
        let u: Vec<Vec3> = s.mesh.nodes.iter().map(|p| Vec3::new(1e-3 * p.x, 2e-4 * p.x, 0.0)).collect();
        let (E, nu) = (210e9, 0.3);
        let xx = if flat { E / (1.0 - nu * nu) } else { E * (1.0 - nu) / ((1.0 + nu) * (1.0 - 2.0 * nu)) } * 1e-3;
        for sigma in stress::at_nodes(&s, &u) {
            near(sigma[0], xx, 1e-11);
            near(sigma[3], E / (2.0 * (1.0 + nu)) * 2e-4, 1e-11);
        }
    }
}

/// A cantilever between two rigid ends: Timoshenko's frequency, and the same bits again.
#[test]
fn modes_of_a_held_bar() {
    let bar = || {
        let mesh = make::block(Vec3::ZERO, Vec3::new(0.2, 0.02, 0.02), 0.005).expect("a bar").quadratic();
        let nodes =
            Interface { name: "root".into(), at: Vec3::ZERO, select: Select::Face(-Vec3::X), hold: Hold::Rigid };
        let held = nodes.nodes(&mesh).expect("a face");
        let s = Structure::new(mesh, STEEL, Plane::Stress, 1.0, vec![RigidSet { at: Vec3::ZERO, nodes: held }]);
        let (K, M) = s.matrices();
        let (K, M) = (K.leading(s.inner), M.leading(s.inner));
        let factor = K.factor("bar").expect("it is held");
        tippe_flexible::sparse::smallest(&factor, &M, 0.0, 4, &[])
    };
    let (squares, modes) = bar();
    // Timoshenko with the held section's 0.4 %
    near(squares[0].sqrt() / (2.0 * std::f64::consts::PI), 414.5, 0.01);
    near(squares[1], squares[0], 1e-3);
    assert_eq!(bar().1, modes);
}

/// Pulled along, a bar is stiffer across: for a unit of pull G of the lowest bending mode of a free slender bar is int phi'^2 of that mode under the
/// tension N(x) of a pull at its ends (which inertia does not relieve: both ends are pulled).
#[test]
fn a_pull_stiffens() {
    let (L, b) = (1.0, 0.02);
    let mesh = make::block(Vec3::new(-0.5, -0.01, -0.01), Vec3::new(0.5, 0.01, 0.01), 0.02).expect("a bar").quadratic();
    let face = |name: &str, sign: f64| Interface {
        name: name.into(),
        at: Vec3::new(sign * 0.5, 0.0, 0.0),
        select: Select::Face(Vec3::X * sign),
        hold: Hold::Rigid,
    };
    let ends = [face("left", -1.0), face("right", 1.0)];
    let body = Reduced::new(
        mesh,
        STEEL,
        (Plane::Stress, 1.0),
        &ends,
        Choice::Modes(4),
        Damping::Ratio(0.0),
        Stiffening::Geometric,
    )
    .expect("modes");
    near(
        body.frequency(0),
        22.373_29 / (2.0 * std::f64::consts::PI) * f64::sqrt(210e9 * b * b / (12.0 * 7850.0)) / (L * L),
        0.01,
    );
    // free-free: int phi'^2 = 49.481/L^2 of int phi^2 = 1 (Blevins 1979, table 8-1)
    let m = body.modes();
    let G = body.held[1].second[0][0] - body.held[0].second[0][0];
    near(G, 49.481 / (7850.0 * b * b * L * L), 0.02);
    // both ends alike
    near(body.held[1].second[0][m + 1], -body.held[0].second[0][m + 1], 0.02);
    // an interface turns with the rigid face
    near(body.held[0].turn[0].length(), body.held[1].turn[0].length(), 1e-6);
}

/// Solids by layers and by lattice weigh what they are.
#[test]
fn meshes_of_solids() {
    let ring: Vec<Vec<[f64; 2]>> = [0.05, 0.02]
        .into_iter()
        .map(|r| {
            (0..64)
                .map(|k| {
                    let (s, c) = libm::sincos(k as f64 * std::f64::consts::PI / 32.0);
                    [r * c, r * s]
                })
                .collect()
        })
        .collect();
    let flat = make::outline(&ring, 0.006).expect("a ring");
    let area = 32.0 * libm::sin(std::f64::consts::PI / 32.0) * (0.05 * 0.05 - 0.02 * 0.02);
    near(flat.mass(1.0, 1.0).mass, area, 1e-12);
    let solid = make::extrude(&flat, -0.01, 0.01, 0.006).expect("a thick ring");
    near(solid.mass(1.0, 1.0).mass, 0.02 * area, 1e-12);
    let ball = Solid::Sphere { radius: 0.05, segments: 48 }.mesh().expect("a ball");
    let mesh: Mesh = make::lattice(&ball, 0.012).expect("a ball of tetrahedra");
    near(mesh.mass(1.0, 1.0).mass, ball.volume(), 0.03);
    let worst = (0..mesh.count()).map(|e| element::quality(Kind::Tet4, &mesh.places(e))).fold(1.0, f64::min);
    assert!(worst > 0.05, "the worst element has the quality {worst}");
}
