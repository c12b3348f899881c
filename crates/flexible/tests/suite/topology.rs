//! Designs against the settings of Andreassen et al. (2011), 60 by 20 cells, computed by another program; shapes of designs.

use super::{STEEL, near};
use tippe_flexible::topology::{Cell, Filter, Topology, Wish};
use tippe_flexible::{Kind, Plane, Structure, contour, make, stress};
use tippe_geometry::Vec3;

/// Half of a beam on two supports under a load in its middle: square bilinear cells of side 1, E = 1, nu = 0.3, held unknowns left out.
fn beam(wish: Wish) -> (Topology, Vec<f64>) {
    let (nx, ny, nu) = (60, 20, 0.3);
    let k = [
        0.5 - nu / 6.0,
        0.125 + nu / 8.0,
        -0.25 - nu / 12.0,
        -0.125 + 3.0 * nu / 8.0,
        -0.25 + nu / 12.0,
        -0.125 - nu / 8.0,
        nu / 6.0,
        0.125 - 3.0 * nu / 8.0,
    ];
    let order = [
        [0, 1, 2, 3, 4, 5, 6, 7],
        [1, 0, 7, 6, 5, 4, 3, 2],
        [2, 7, 0, 5, 6, 3, 4, 1],
        [3, 6, 5, 0, 7, 2, 1, 4],
        [4, 5, 6, 7, 0, 1, 2, 3],
        [5, 4, 3, 2, 1, 0, 7, 6],
        [6, 3, 4, 1, 2, 7, 0, 5],
        [7, 2, 1, 4, 3, 6, 5, 0],
    ];
    // columns from the left, nodes from the top, y down
    let node = |i: usize, j: usize| i * (ny + 1) + j;
    let held = |u: usize| (u.is_multiple_of(2) && u < 2 * (ny + 1)) || u == 2 * node(nx, ny) + 1;
    let mut number = vec![None; 2 * (nx + 1) * (ny + 1)];
    let mut n = 0;
    for (u, number) in number.iter_mut().enumerate() {
        if !held(u) {
            *number = Some(n as u32);
            n += 1;
        }
    }
    let mut cells = Vec::new();
    for i in 0..nx {
        for j in 0..ny {
            let corners = [node(i, j), node(i + 1, j), node(i + 1, j + 1), node(i, j + 1)];
            let mut own: Vec<(u32, usize)> =
                (0..8).filter_map(|a| Some((number[2 * corners[a / 2] + a % 2]?, a))).collect();
            own.sort_unstable();
            let lower = (0..own.len()).flat_map(|r| (0..=r).map(move |c| (r, c)));
            cells.push(Cell {
                unknowns: own.iter().map(|(u, _)| *u).collect(),
                k: lower.map(|(r, c)| k[order[own[r].1][own[c].1]] / (1.0 - nu * nu)).collect(),
                volume: 1.0,
                centre: Vec3::new(i as f64 + 0.5, j as f64 + 0.5, 0.0),
            });
        }
    }
    let mut load = vec![0.0; n];
    load[number[1].expect("it is free") as usize] = 1.0;
    let kept = vec![false; cells.len()];
    (Topology::new(cells, n, &[], kept, wish).expect("it is held"), load)
}

#[test]
fn a_beam_as_others_find_it() {
    let rows = [
        (Filter::Sensitivity, 1.5, 94, 203.182_593_259_150_17, 0.492_5),
        (Filter::Density, 2.4, 144, 233.713_200_683_210_54, 0.51),
    ];
    for (filter, radius, most, wanted, solid) in rows {
        let wish = Wish { volume: 0.5, radius, filter, power: 3.0, least: 1e-9, limit: 0.2 };
        let (mut part, load) = beam(wish);
        let full = part.compliance(&vec![1.0; 1200], std::slice::from_ref(&load)).expect("it is held").0;
        near(full, 125.877_763_475_768_25, 1e-8);
        let mut y = part.start();
        let mut last = None;
        for k in 0..most {
            let step = part.step(&mut y, 0.0, std::slice::from_ref(&load)).expect("it is held");
            if k == 0 {
                near(step.compliance, 1_007.022_100_712_020_5, 1e-8);
            }
            assert!(step.volume < 0.5 * (1.0 + 1e-4), "{}", step.volume);
            last = Some(step.compliance);
        }
        let found = last.expect("it made steps");
        assert!(found < 1.005 * wanted, "{found} instead of {wanted}");
        near(found, wanted, 0.01);
        let x = part.shares(&y, 0.0);
        near(x.iter().filter(|x| **x > 0.5).count() as f64 / 1200.0, solid, 0.05);
    }
}

/// What a change of a share is worth, by differences, also through the projection.
#[test]
fn slopes_are_slopes() {
    let wish = Wish { volume: 0.5, radius: 2.4, filter: Filter::Density, power: 3.0, least: 1e-9, limit: 0.2 };
    let (mut part, load) = beam(wish);
    let loads = [load];
    let x: Vec<f64> = (0..1200).map(|k| 0.3 + 0.4 * f64::from(k % 7) / 6.0).collect();
    let (_, slope) = part.compliance(&x, &loads).expect("it is held");
    for e in [0, 617, 1199] {
        let at = |by: f64| {
            let mut x = x.clone();
            x[e] += by;
            x
        };
        let [more, less] = [1e-5, -1e-5].map(|by| part.compliance(&at(by), &loads).expect("it is held").0);
        near((more - less) / 2e-5, slope[e], 1e-5);
    }
}

/// A part that nothing holds, pulled at both ends: springs that hold it do no work, and the stiffness of half the material is a power of it.
#[test]
fn springs_do_nothing_in_balance() {
    let (E, t) = (210e9, 0.01);
    let flat = make::outline(&[vec![[0.0, 0.0], [0.2, 0.0], [0.2, 0.05], [0.0, 0.05]]], 0.01).expect("a strip");
    let solid = make::block(Vec3::ZERO, Vec3::new(0.2, 0.05, t), 0.0125).expect("a bar");
    for mesh in [flat.quadratic(), solid.quadratic()] {
        let s = Structure::new(mesh, STEEL, Plane::Stress, t, Vec::new());
        // sigma in balance: what linear displacements need at the nodes
        let u = s.unknowns(|p| Vec3::new(p.x, -0.3 * p.y, -0.3 * p.z) * 1e-3, Vec3::ZERO);
        let (K, _) = s.matrices();
        let mut f = vec![0.0; s.n];
        K.times(&u, &mut f);
        let cells = s.cells();
        let kept = vec![false; cells.len()];
        let wish = Wish { volume: 0.5, radius: 0.02, filter: Filter::Density, power: 3.0, least: 1e-9, limit: 0.2 };
        let n = cells.len();
        let mut part = Topology::new(cells, s.n, &s.support(), kept, wish).expect("it is held");
        let (work, _) = part.compliance(&vec![1.0; n], std::slice::from_ref(&f)).expect("it is held");
        near(work, E * 1e-6 * 0.2 * 0.05 * t, 1e-9);
        let (work, _) = part.compliance(&vec![0.5; n], &[f]).expect("it is held");
        near(work, 8.0 * E * 1e-6 * 0.2 * 0.05 * t, 1e-6);
    }
}

/// The outline of a design, and its closed surface: a disc and a ball in a square and a cube, and what is apart from them.
#[test]
fn designs_become_shapes() {
    let ball = |p: Vec3, r: f64| if (p - Vec3::splat(0.5)).length() < r { 1.0 } else { 0.0 };
    let flat = make::outline(&[vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]], 0.03).expect("a square");
    let middle = |mesh: &tippe_flexible::Mesh, e: usize| mesh.places(e).iter().sum::<Vec3>() / mesh.kind.nodes() as f64;
    let ring = |e: usize| {
        let p = middle(&flat, e) + Vec3::Z * 0.5;
        let apart = f64::from(u8::from(p.x < 0.08 && p.y < 0.08));
        ball(p, 0.4) - ball(p, 0.15) + apart
    };
    let shares: Vec<f64> = (0..flat.count()).map(ring).collect();
    let wanted = std::f64::consts::PI * (0.16 - 0.0225);
    let loops = contour::outlines(&flat, &shares, wanted).expect("a ring");
    assert_eq!(loops.len(), 2, "an outline and a hole, and nothing apart");
    let again = make::outline(&loops, 0.03).expect("it can be meshed");
    near(again.mass(1.0, 1.0).mass, wanted, 0.01);
    let cube = make::block(Vec3::ZERO, Vec3::ONE, 0.08).expect("a cube");
    let shares: Vec<f64> = (0..cube.count()).map(|e| ball(middle(&cube, e), 0.4)).collect();
    let wanted = 4.0 / 3.0 * std::f64::consts::PI * 0.064;
    let surface = contour::surface(&cube, &shares, wanted).expect("a ball");
    let closed = tippe_geometry::Mesh::new(surface).expect("it is closed");
    near(closed.volume(), wanted, 1e-6);
    assert_eq!(make::lattice(&closed, 0.1).expect("it can be meshed").kind, Kind::Tet4);
}

/// Half the material everywhere, in stiffness and mass alike: the same as half the thickness.
#[test]
fn a_share_of_material_is_thinner() {
    let mesh = make::outline(&[vec![[0.0, 0.0], [0.2, 0.0], [0.2, 0.05], [0.0, 0.05]]], 0.02).expect("a strip");
    let n = mesh.count();
    let mut s = Structure::new(mesh.clone(), STEEL, Plane::Stress, 0.01, Vec::new());
    s.shares = Some(std::sync::Arc::new(vec![[0.5, 0.5]; n]));
    let thin = Structure::new(mesh, STEEL, Plane::Stress, 0.005, Vec::new());
    assert_eq!(s.matrices(), thin.matrices());
    near(s.mass().mass, thin.mass().mass, 1e-14);
    let u: Vec<Vec3> = s.mesh.nodes.iter().map(|p| Vec3::new(1e-3 * p.x, 0.0, 0.0)).collect();
    near(stress::at_nodes(&s, &u)[0][0], 0.5 * stress::at_nodes(&thin, &u)[0][0], 1e-12);
}
