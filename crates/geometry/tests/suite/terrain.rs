//! Foundation of meshes on height grids: plane ground as a half-space, valleys, the gradient of its energy, grid lines and the rim.

use crate::random::Random;
use crate::surfaces::{ball, concave, cuboid, surface};
use tippe_geometry::{
    HeightGrid, Pose, Quat, Shape, Surface, SurfaceWork, TriMesh, Vec3, half_space_foundation, separation,
    terrain_foundation, terrain_patch,
};

fn grid(columns: usize, rows: usize, spacing: [f64; 2], height: impl Fn(f64, f64) -> f64) -> HeightGrid {
    let half = [(columns - 1) as f64 * spacing[0] / 2.0, (rows - 1) as f64 * spacing[1] / 2.0];
    let at = |k: usize| {
        let (column, row) = (k % columns, k / columns);
        height(column as f64 * spacing[0] - half[0], row as f64 * spacing[1] - half[1])
    };
    HeightGrid::new(columns, rows, spacing, (0..columns * rows).map(at).collect()).unwrap()
}

/// Plane ground, level or not, in cells of any size, is a half-space: wrench, energy, regions, patch.
#[test]
fn plane_ground_is_a_half_space() {
    let mut r = Random(61);
    let (mut work, mut twin) = (SurfaceWork::default(), SurfaceWork::default());
    let mut met = 0;
    for i in 0..60 {
        let s = surface(&concave(&mut r));
        let (a, b) = if i % 3 == 0 { (0.0, 0.0) } else { (r.uniform(-0.8, 0.8), r.uniform(-0.8, 0.8)) };
        let (columns, rows) = [(2, 2), (5, 9), (31, 23)][i % 3];
        let ground = grid(columns, rows, [8.0 / (columns - 1) as f64, 8.0 / (rows - 1) as f64], |x, y| a * x + b * y);
        let X1 = Pose::new(r.rotation(), r.vector(-0.2, 0.2));
        let X2 = Pose::new(r.rotation(), X1.point(Vec3::new(0.0, 0.0, r.uniform(-0.3, 0.3))));
        let about_w = r.vector(-1.0, 1.0);
        let f = terrain_foundation(&ground, &X1, &s, &X2, about_w, &mut work);
        let n = Vec3::new(-a, -b, 1.0).normalize();
        let level = X1.then(&Pose::new(Quat::from_rotation_arc(Vec3::Z, n), Vec3::ZERO));
        let g = half_space_foundation(&level, &s, &X2, about_w, &mut twin);
        assert!((f.force - g.force).length() < 1e-12, "{} {}", f.force, g.force);
        assert!((f.moment - g.moment).length() < 1e-12, "{} {}", f.moment, g.moment);
        assert!((f.energy - g.energy).abs() < 1e-12 && (f.area - g.area).abs() < 1e-12, "{f:?} {g:?}");
        assert!((f.depth - g.depth).abs() < 1e-12);
        assert_eq!(work.regions().len(), twin.regions().len());
        met += work.regions().len();
        for b in twin.regions() {
            let same = work.regions().iter().any(|a| {
                (a.volume - b.volume).abs() < 1e-12
                    && (a.centroid - b.centroid).length() < 1e-8
                    && (a.area - b.area).abs() < 1e-12
                    && (a.area < 1e-9 || (a.normal - b.normal).length() < 1e-6)
                    && (a.extent - b.extent).abs() < 1e-12
            });
            assert!(same, "{b:?} {:?}", work.regions());
        }
        let push: Vec3 = terrain_patch(&ground, &X1, &s, &X2, &mut work).iter().map(|p| p.push).sum();
        assert!((push - f.force).length() < 1e-12);
    }
    assert!(met > 40);
}

/// A keel with the slopes of the valley it lies in: its depth is the same all over both faces.
#[test]
fn a_keel_in_a_valley() {
    let slope: f64 = 0.75;
    let cosine = 1.0 / (1.0 + slope * slope).sqrt();
    let valley = grid(9, 6, [0.25, 0.4], |x, _| slope * x.abs());
    let (width, length) = (0.31, 0.7);
    let keel = surface(&prism(&[[0.0, 0.0], [width, slope * width], [-width, slope * width]], length));
    for sunk in [1e-2, 1e-4] {
        let mut work = SurfaceWork::default();
        let X2 = Pose::at(Vec3::new(0.0, 0.05, -sunk));
        let f = terrain_foundation(&valley, &Pose::IDENTITY, &keel, &X2, X2.position, &mut work);
        let depth = sunk * cosine;
        // the ends push one against the other, the deck down where its edges are below the ground
        let lift = 2.0 * width * length * depth - length * depth * sunk / slope;
        assert!((f.depth / depth - 1.0).abs() < 1e-9);
        assert!((f.force - Vec3::new(0.0, 0.0, lift)).length() < 1e-9 * lift, "{} {lift}", f.force);
        let below: f64 = work.points().iter().filter(|p| p.normal.z > 0.1).map(|p| p.area).sum();
        assert!((below / (2.0 * width / cosine * length) - 1.0).abs() < 1e-9, "{below}");
        assert_eq!(work.regions().len(), 1);
    }
}

/// On rough ground force and moment are the gradient of the energy, up to the quadrature; in a step over many cells nothing jumps.
#[test]
fn rough_ground_has_an_energy() {
    let mut r = Random(62);
    let mut work = SurfaceWork::default();
    let rough =
        grid(21, 21, [0.1, 0.1], |x, y| 0.05 * libm::sin(7.0 * x) * libm::cos(5.0 * y) + 0.03 * libm::sin(31.0 * x));
    let s = surface(&ball(0.4, 24));
    for _ in 0..20 {
        let X2 = Pose::new(r.rotation(), Vec3::new(r.uniform(-0.4, 0.4), r.uniform(-0.4, 0.4), r.uniform(0.33, 0.42)));
        let o = X2.position;
        let f = terrain_foundation(&rough, &Pose::IDENTITY, &s, &X2, o, &mut work);
        let scale = f.force.length();
        let (step, mut energy) =
            (1e-4, |X: Pose| terrain_foundation(&rough, &Pose::IDENTITY, &s, &X, o, &mut work).energy);
        for d in [Vec3::X, Vec3::Y, Vec3::Z] {
            let at = |h: f64| Pose::new(X2.rotation, o + d * h);
            let slope = (energy(at(step)) - energy(at(-step))) / (2.0 * step);
            assert!((slope + f.force.dot(d)).abs() < 5e-3 * scale + 1e-9, "{slope} {}", f.force.dot(d));
            let turned = |h: f64| Pose::new(Quat::from_scaled_axis(d * h) * X2.rotation, o);
            let turn = (energy(turned(step)) - energy(turned(-step))) / (2.0 * step);
            assert!((turn + f.moment.dot(d)).abs() < 5e-3 * 0.4 * scale + 1e-9, "{turn} {}", f.moment.dot(d));
        }
    }
    // along a line over lines and diagonals of the grid
    let mut last: Option<Vec3> = None;
    for k in 0..4000 {
        let along = k as f64 * 1e-4;
        let X2 = Pose::at(Vec3::new(-0.2 + along, -0.2 + along, 0.34));
        let f = terrain_foundation(&rough, &Pose::IDENTITY, &s, &X2, Vec3::ZERO, &mut work);
        if let Some(before) = last {
            assert!((f.force - before).length() < 5e-3 * f.force.length(), "{k}: {before} {}", f.force);
        }
        last = Some(f.force);
    }
}

/// Sides that stand on lines and diagonals of the grid are counted once.
#[test]
fn sides_on_lines_of_the_grid() {
    let flat = grid(9, 9, [0.25, 0.25], |_, _| 0.0);
    let depth = 1e-3;
    let mut work = SurfaceWork::default();
    for (half, turn) in [(0.25, 0.0), (0.125, 0.0), (0.25 * std::f64::consts::SQRT_2, 0.125)] {
        let s = surface(&cuboid(Vec3::new(half, half, 0.2)));
        let q = Quat::from_scaled_axis(Vec3::Z * (turn * std::f64::consts::TAU));
        for place in [[0.0, 0.0], [0.25, -0.25], [0.125, 0.125]] {
            let X2 = Pose::new(q, Vec3::new(place[0], place[1], 0.2 - depth));
            let f = terrain_foundation(&flat, &Pose::IDENTITY, &s, &X2, X2.position, &mut work);
            let lift = 4.0 * half * half * depth;
            assert!((f.force - Vec3::Z * lift).length() < 1e-9 * lift, "{half} {place:?}: {} {lift}", f.force);
            assert!(f.moment.length() < 1e-9 * lift);
            assert!((f.energy / (0.5 * lift * depth) - 1.0).abs() < 1e-9);
            assert_eq!(work.regions().len(), 1);
            assert!((work.regions()[0].volume / lift - 1.0).abs() < 1e-9);
        }
    }
}

/// Beyond the rim there is nothing: what stands over it is carried by the part inside, and pushed out sideways as the energy says; what runs into
/// the side is pushed back by a wall.
#[test]
fn at_the_rim_and_beyond() {
    let flat = grid(5, 5, [0.5, 0.5], |_, _| 0.0);
    let s = surface(&cuboid(Vec3::splat(0.2)));
    let (depth, mut work) = (1e-2, SurfaceWork::default());
    let mut at = |x: f64, s: &Surface| {
        let X2 = Pose::at(Vec3::new(x, 0.1, 0.2 - depth));
        terrain_foundation(&flat, &Pose::IDENTITY, s, &X2, Vec3::ZERO, &mut work)
    };
    let half = at(1.0, &s);
    // nearer to the rim than it is deep, the wall is what holds it
    assert!((half.force.z / (0.4 * depth * (0.2 - 0.5 * depth)) - 1.0).abs() < 1e-9, "{}", half.force);
    assert!((half.force.x / (0.5 * depth * depth * 0.4) - 1.0).abs() < 1e-9, "{}", half.force);
    let step = 1e-5;
    let slope = (at(1.0 + step, &s).energy - at(1.0 - step, &s).energy) / (2.0 * step);
    assert!((slope + half.force.x).abs() < 1e-9);
    let (into, below) = (1e-3, Vec3::new(1.2 - 1e-3, 0.1, -0.5));
    let mut work = SurfaceWork::default();
    for turned in 0..4 {
        let q = Quat::from_rotation_z(0.25 * std::f64::consts::TAU * f64::from(turned));
        let X2 = Pose::at(q * below);
        let wall = terrain_foundation(&flat, &Pose::IDENTITY, &s, &X2, X2.position, &mut work);
        let push = q * Vec3::X * (0.4 * 0.4 * into);
        assert!((wall.force - push).length() < 1e-9 * push.length(), "{} {push}", wall.force);
        assert!((wall.energy / (0.5 * push.length() * into) - 1.0).abs() < 1e-9 && (wall.depth - into).abs() < 1e-12);
    }
    for x in [1.2, 1.3, 50.0, -1.201] {
        let f = at(x, &s);
        assert!(f.force.length() == 0.0 && f.energy == 0.0 && f.depth == 0.0, "{x}: {f:?}");
    }
}

fn prism(outline: &[[f64; 2]], length: f64) -> TriMesh {
    let n = outline.len() as u32;
    let vertices = [-0.5 * length, 0.5 * length]
        .into_iter()
        .flat_map(|y| outline.iter().map(move |[x, z]| Vec3::new(*x, y, *z)))
        .collect();
    // anticlockwise in (x, z) is inward seen along y
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    for k in 1..n - 1 {
        triangles.push([0, k, k + 1]);
        triangles.push([n, n + k + 1, n + k]);
    }
    for k in 0..n {
        let l = (k + 1) % n;
        triangles.push([k, k + n, l]);
        triangles.push([l, k + n, l + n]);
    }
    TriMesh { vertices, triangles }
}

/// A sphere beside the ground meets its upright walls: as far as from a box that reaches down, outside and inside, on the way over the edge too.
#[test]
fn spheres_meet_the_walls_around_the_rim() {
    let ground = Shape::HeightGrid(grid(3, 3, [0.5, 0.5], |_, _| 0.2).into());
    let block = Shape::Box { half_extents: Vec3::new(0.5, 0.5, 5.0), smoothing: 0.0 };
    let (X_grid, X_block) = (Pose::IDENTITY, Pose::at(Vec3::new(0.0, 0.0, 0.2 - 5.0)));
    let ball = Shape::Sphere { radius: 0.05 };
    for centre in [
        Vec3::new(-0.6, 0.0, -0.5),
        Vec3::new(-0.52, 0.1, -0.5),
        Vec3::new(0.53, 0.52, -0.1),
        Vec3::new(-0.48, 0.1, -0.5),
        Vec3::new(0.2, 0.47, 0.0),
        Vec3::new(0.2, 0.47, 0.19),
        Vec3::new(0.2, 0.52, 0.21),
        Vec3::new(0.1, -0.3, 0.23),
        Vec3::new(0.5, 0.0, 0.0),
    ] {
        let a = separation(&ground, &X_grid, &ball, &Pose::at(centre));
        let b = separation(&block, &X_block, &ball, &Pose::at(centre));
        assert!((a.gap - b.gap).abs() < 1e-12, "{centre}: {} {}", a.gap, b.gap);
        assert!((a.normal - b.normal).length() < 1e-9, "{centre}: {} {}", a.normal, b.normal);
        assert!((a.point2 - b.point2).length() < 1e-9, "{centre}");
    }
}
