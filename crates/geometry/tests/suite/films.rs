//! Solids with faces in one plane up to rounding: turned, scaled or far away, a Boolean leaves no film of no thickness, and
//! what is written is read again. Volumes and areas in closed form.

use crate::random::Random;
use std::f64::consts::PI;
use tippe_geometry::file::{Format, read, write};
use tippe_geometry::{Mesh, Pose, Quat, Solid, SolidError, Vec3};

const DEGREE: f64 = PI / 180.0;

/// Two solids, what is made of them, and the volume and area of that [m^3, m^2].
struct Case {
    name: &'static str,
    a: Solid,
    b: Solid,
    make: fn(Solid, Solid) -> Solid,
    volume: f64,
    area: f64,
}

fn cuboid(x: f64, y: f64, z: f64) -> Solid {
    Solid::cuboid(Vec3::new(x, y, z))
}

fn up(z: f64) -> Vec3 {
    Vec3::new(0.0, 0.0, z)
}

/// A slot of 0.08 m by 0.04 m along the top of a block, made in ways that round differently, and other pairs of faces.
fn cases() -> Vec<Case> {
    let block = || cuboid(0.2, 1.0, 0.1);
    let slot = |name, b: Solid| Case {
        name,
        a: block(),
        b,
        make: Solid::minus,
        volume: 0.02 - 0.08 * 0.04,
        area: 0.64 + 2.0 * 0.04 - 2.0 * 0.08 * 0.04,
    };
    let outline = vec![[-0.04, 0.0], [-0.04, -0.04], [0.04, -0.04], [0.04, 0.0]];
    let mut all = vec![
        slot("plain", cuboid(0.08, 2.0, 0.04).at(up(0.03))),
        slot("flush ends", cuboid(0.08, 0.04, 1.0).turned(Vec3::X, 0.5 * PI).at(up(0.03))),
        slot("x 90", cuboid(0.08, 0.04, 2.0).turned(Vec3::X, 0.5 * PI).at(up(0.03))),
        slot("x 270", cuboid(0.08, 0.04, 2.0).turned(Vec3::X, -0.5 * PI).at(up(0.03))),
        slot("y 90", cuboid(0.04, 2.0, 0.08).turned(Vec3::Y, 0.5 * PI).at(up(0.03))),
        slot("x 180", cuboid(0.08, 2.0, 0.04).turned(Vec3::X, PI).at(up(0.03))),
        slot("z 90", cuboid(2.0, 0.08, 0.04).turned(Vec3::Z, 0.5 * PI).at(up(0.03))),
        slot("prism", Solid::prism(outline, 2.0).turned(Vec3::X, 0.5 * PI).at(up(0.05))),
        slot("mirrored", cuboid(0.08, 2.0, 0.04).at(up(-0.03)).mirrored(Vec3::Z)),
        slot("three turns", {
            let turn = |s: Solid| s.turned(Vec3::X, 30.0 * DEGREE);
            turn(turn(turn(cuboid(0.08, 0.04, 2.0)))).at(up(0.03))
        }),
        slot("turned about a corner", {
            let c = cuboid(0.08, 2.0, 0.04).at(Vec3::new(0.3, 0.7, 0.1)).turned(Vec3::new(1.0, 2.0, 3.0), 0.7);
            c.turned(Vec3::new(1.0, 2.0, 3.0), -0.7).at(Vec3::new(-0.3, -0.7, -0.07))
        }),
    ];
    // Slots through the six sides of a hexagon.
    let (hexagon, apothem) = (1.5 * 3f64.sqrt() * 0.04, 0.1 * 3f64.sqrt());
    let long = apothem - 0.1;
    let teeth = cuboid(long, 0.04, 0.2).at(Vec3::X * (0.1 + 0.5 * long)).turned(Vec3::Z, 30.0 * DEGREE).around(6);
    all.push(Case {
        name: "hexagon",
        a: Solid::cylinder(0.2, 0.1, 6),
        b: teeth,
        make: Solid::minus,
        volume: 0.1 * (hexagon - 6.0 * 0.04 * long),
        area: 2.0 * (hexagon - 6.0 * 0.04 * long) + 1.2 * 0.1 + 12.0 * 0.1 * long,
    });
    // A rib on the block, its lower face in the block's upper one.
    let rib = |name, b, area| Case { name, a: block(), b, make: Solid::and, volume: 0.02 + 0.08 * 0.04 * 0.5, area };
    let sides = 2.0 * 0.08 * 0.04 + 2.0 * 0.5 * 0.04;
    all.push(rib("rib", cuboid(0.08, 0.04, 0.5).turned(Vec3::X, 0.5 * PI).at(up(0.07)), 0.64 + sides));
    let flush = Vec3::new(0.06, 0.25, 0.07);
    all.push(rib("flush rib", cuboid(0.08, 0.04, 0.5).turned(Vec3::X, 0.5 * PI).at(flush), 0.64 + sides));
    // A hole filled again: 64 facets on 64 facets.
    let quarter = |s: Solid| s.turned(Vec3::Y, 0.5 * PI);
    all.push(Case {
        name: "filled hole",
        a: quarter(cuboid(0.2, 0.2, 0.2).minus(Solid::cylinder(0.05, 0.1, 64).at(up(0.05)))),
        b: quarter(Solid::cylinder(0.05, 0.1, 64)).at(Vec3::X * 0.05),
        make: Solid::and,
        volume: 0.008,
        area: 0.24,
    });
    // What lies in both, three faces of each in the other's; and what only touches.
    let half = cuboid(0.08, 0.04, 0.5).turned(Vec3::X, 0.5 * PI);
    all.push(Case {
        name: "common part",
        a: block(),
        b: half.clone().at(Vec3::new(0.06, 0.25, 0.03)),
        make: Solid::within,
        volume: 0.08 * 0.04 * 0.5,
        area: 2.0 * (0.08 * 0.04 + 0.04 * 0.5 + 0.08 * 0.5),
    });
    all.push(Case { name: "touching", a: block(), b: half.at(up(0.07)), make: Solid::minus, volume: 0.02, area: 0.64 });
    // A dovetail: oblique flanks.
    let tail = vec![[-0.02, -0.03], [0.02, -0.03], [0.03, 0.0], [-0.03, 0.0]];
    let flank = (0.01f64 * 0.01 + 0.03 * 0.03).sqrt();
    let dovetail = Solid::prism(tail, 1.0).turned(Vec3::X, 0.5 * PI).turned(Vec3::Y, PI).at(up(0.02));
    all.push(Case {
        name: "dovetail",
        a: block(),
        b: dovetail.clone(),
        make: Solid::minus,
        volume: 0.02 - 0.05 * 0.03,
        area: 0.64 - 0.04 + 0.06 + 2.0 * flank - 2.0 * 0.05 * 0.03,
    });
    let grooved = block().minus(dovetail.clone());
    all.push(Case { name: "filled dovetail", a: grooved, b: dovetail, make: Solid::and, volume: 0.02, area: 0.64 });
    all
}

fn check(solid: &Solid, volume: f64, area: f64, within: f64) -> Result<Mesh, String> {
    let mesh = solid.mesh().map_err(|e| e.to_string())?;
    let (v, a) = (mesh.volume() / volume - 1.0, mesh.surface().area() / area - 1.0);
    let is_right = v.abs() <= within && a.abs() <= within;
    if is_right { Ok(mesh) } else { Err(format!("volume off by {v:e}, area by {a:e}")) }
}

#[test]
fn no_film_where_faces_lie_in_one_plane() {
    for c in cases() {
        let solid = (c.make)(c.a, c.b);
        let mesh = check(&solid, c.volume, c.area, 1e-9).unwrap_or_else(|e| panic!("{}: {e}", c.name));
        assert_eq!(mesh, solid.mesh().unwrap(), "{}", c.name);
    }
}

#[test]
fn no_film_in_oblique_planes_far_away_and_of_any_size() {
    let mut random = Random(5);
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for k in 0..12 {
        let (axis, angle) = match k {
            0 => (Vec3::new(1.0, 2.0, 3.0), 30.0 * DEGREE),
            1 => (Vec3::X, 30.0 * DEGREE),
            2 => (Vec3::Y, 45.0 * DEGREE),
            3 => (Vec3::Z, 90.0 * DEGREE),
            _ => (random.direction(), random.uniform(-PI, PI)),
        };
        for (size, far) in [(1.0, 0.0), (1e-3, 0.0), (100.0, 0.0), (1.0, 1e3), (1.0, 1e6), (1e-3, 1.0)] {
            let position = random.direction() * far;
            for c in cases() {
                // Each by itself: planes agree up to rounding.
                let placed = |s: Solid| s.scaled(Vec3::splat(size)).turned(axis, angle).at(position);
                let solid = (c.make)(placed(c.a), placed(c.b));
                // Coordinates far away are that coarse.
                let within = 1e-9 + 1e3 * f64::EPSILON * far / size;
                tried += 1;
                if let Err(e) = check(&solid, c.volume * size * size * size, c.area * size * size, within) {
                    wrong.push(format!("{}, pose {k}, size {size}, {far} m away: {e}", c.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_is_written_is_read_again() {
    for c in cases() {
        for turn in [0.0, 30.0 * DEGREE] {
            let q = Quat::from_scaled_axis(Vec3::new(1.0, 2.0, 3.0).normalize() * turn);
            let placed = |s: &Solid| s.clone().placed(Pose::new(q, Vec3::ZERO));
            let solid = (c.make)(placed(&c.a), placed(&c.b));
            let mesh = check(&solid, c.volume, c.area, 1e-9).unwrap_or_else(|e| panic!("{}: {e}", c.name));
            for (format, unit, within) in
                [(Format::Stl, 1e-3, 1e-5), (Format::Obj, 1e-3, 1e-9), (Format::Glb, 1.0, 1e-5)]
            {
                let bytes = write(mesh.surface(), format, unit).unwrap();
                let found = read(&bytes, format, Some(unit)).unwrap().surface;
                let again = Mesh::repaired(&found, 1e-7 * found.size());
                let (again, _) = again.unwrap_or_else(|e| panic!("{}, {format:?}: {e}", c.name));
                let (v, a) = (again.volume() / c.volume - 1.0, again.surface().area() / c.area - 1.0);
                assert!(v.abs() < within && a.abs() < within, "{}, {format:?}: {v:e}, {a:e}", c.name);
                assert_eq!(again.triangles().len(), mesh.triangles().len(), "{}, {format:?}", c.name);
            }
        }
    }
}

/// Blocks of whole cells, united, taken away and intersected at random: volume and area are those of the cells.
#[test]
fn cells_of_a_turned_grid_add_up() {
    const N: usize = 5;
    let mut random = Random(11);
    let (mut wrong, tried) = (Vec::new(), 600);
    for k in 0..tried {
        let (q, size) = (random.rotation(), libm::pow(10.0, random.uniform(-3.0, 2.0)));
        let position = random.direction() * size * [0.0, 1.0, 100.0][k % 3];
        let mut block = || {
            let mut range = || {
                let (a, b) = (random.below(N), random.below(N));
                (a.min(b), a.max(b) + 1)
            };
            let r = [range(), range(), range()];
            let low = Vec3::from_array(r.map(|r| r.0 as f64));
            let high = Vec3::from_array(r.map(|r| r.1 as f64));
            let s = Solid::cuboid((high - low) * size).at((0.5 * (low + high)) * size).placed(Pose::new(q, position));
            (s, move |c: [usize; 3]| (0..3).all(|i| (r[i].0..r[i].1).contains(&c[i])))
        };
        let cell = |i: usize| [i % N, i / N % N, i / N / N];
        let (mut solid, is_in) = block();
        let mut full: Vec<bool> = (0..N * N * N).map(|i| is_in(cell(i))).collect();
        let mut ways = Vec::new();
        for _ in 0..2 + k % 5 {
            let (other, is_in) = block();
            ways.push((other, is_in));
        }
        for (other, is_in) in ways {
            let how = if random.below(8) == 0 { 2 } else { random.below(2) };
            for (i, full) in full.iter_mut().enumerate() {
                *full = match how {
                    0 => *full || is_in(cell(i)),
                    1 => *full && !is_in(cell(i)),
                    _ => *full && is_in(cell(i)),
                };
            }
            solid = match how {
                0 => solid.and(other),
                1 => solid.minus(other),
                _ => solid.within(other),
            };
            if !full.contains(&true) {
                break;
            }
        }
        let volume = full.iter().filter(|full| **full).count();
        let open = |c: [usize; 3], axis: usize, step: isize| {
            let next = c[axis] as isize + step;
            let mut d = c;
            d[axis] = next as usize;
            !(0..N as isize).contains(&next) || !full[d[0] + N * (d[1] + N * d[2])]
        };
        let cells = (0..full.len()).filter(|i| full[*i]).map(cell);
        let area: usize = cells.map(|c| (0..6).filter(|f| open(c, f % 3, if *f < 3 { 1 } else { -1 })).count()).sum();
        match solid.mesh() {
            Err(SolidError::Vanishes { .. }) if volume == 0 => {}
            _ if volume == 0 => wrong.push(format!("case {k}: something is left")),
            _ => {
                let (v, a) = (volume as f64 * size * size * size, area as f64 * size * size);
                if let Err(e) = check(&solid, v, a, 1e-9) {
                    wrong.push(format!("case {k}: {e}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn quarter_turns_are_exact() {
    let size = Vec3::new(0.1, 0.2, 0.3);
    for (axis, swapped) in
        [(Vec3::X, Vec3::new(0.1, 0.3, 0.2)), (Vec3::Y, Vec3::new(0.3, 0.2, 0.1)), (Vec3::Z, Vec3::new(0.2, 0.1, 0.3))]
    {
        for k in -4..=4 {
            let mesh = Solid::cuboid(size).turned(axis, 0.5 * PI * k as f64).mesh().unwrap();
            let half = 0.5 * if k % 2 == 0 { size } else { swapped };
            assert!(mesh.vertices().iter().all(|v| v.abs() == half), "{axis}, {k} quarters");
        }
    }
}

#[test]
fn a_film_too_thick_for_rounding_is_refused() {
    let block = || cuboid(0.2, 1.0, 0.1);
    let slot = |z: f64| block().minus(cuboid(0.08, 2.0, 0.04).at(up(z)));
    for thickness in [1e-16, 1e-13, 5e-12] {
        check(&slot(0.03 - thickness), 0.0168, 0.7136, 1e-9).unwrap_or_else(|e| panic!("{thickness}: {e}"));
    }
    for thickness in [5e-11, 1e-10, 5e-10] {
        let Err(SolidError::Film { operation: "difference", at, thickness: found }) = slot(0.03 - thickness).mesh()
        else {
            panic!("{thickness}")
        };
        assert!((at.z - 0.05).abs() < 1e-8 && (found / thickness - 1.0).abs() < 1e-3, "{at} {found}");
    }
    // A crack between boxes that do not even touch.
    for gap in [1e-12, 1e-10, 1e-8] {
        let both = block().and(block().at(up(0.1 + gap))).mesh();
        match gap {
            1e-12 => assert_eq!(both.unwrap().parts(), 1),
            1e-10 => assert!(matches!(both, Err(SolidError::Film { operation: "union", .. })), "{both:?}"),
            _ => assert_eq!(both.unwrap().parts(), 2),
        }
    }
    // A wall somebody may have meant.
    let wall = slot(0.03 - 1e-6).mesh().unwrap();
    assert!((wall.surface().area() - 0.7136 - 2.0 * 0.08).abs() < 1e-4);
}

#[test]
fn no_corner_is_cut_off() {
    // Two boxes with a corner and three planes in common; with the axes in this order the library cut a corner off.
    let q = Quat::from_xyzw(0.2558111087055691, -0.7615095070016796, -0.4017629502990406, 0.43960263781726455);
    let s = 0.026299819772204865;
    let block = |size: Vec3| Solid::cuboid(size * s).at(0.5 * size * s).placed(Pose::new(q, Vec3::ZERO));
    let both = block(Vec3::new(1.0, 2.0, 4.0)).and(block(Vec3::new(3.0, 1.0, 2.0)));
    check(&both, 12.0 * s * s * s, 40.0 * s * s, 1e-9).unwrap();
}
