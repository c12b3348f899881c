//! Height grid against a convex shape: the prisms below the grid's triangles, one by one.

use super::{Separation, convex_convex, deepest};
use crate::shape::{Core, HeightGrid, core_of};
use crate::{Pose, Shape, Vec3};

/// Grid 1 against the convex shape 2. A sphere meets the triangles themselves; other shapes meet the prisms below them,
/// so a shape sunk deeper than a cell is wide may be pushed out sideways.
pub(super) fn grid_convex(grid: &HeightGrid, X_w1: &Pose, shape2: &Shape, X_w2: &Pose) -> Separation {
    if let Shape::Sphere { radius } = shape2 {
        return grid_sphere(grid, X_w1, X_w2.position, *radius);
    }
    let X_12 = X_w1.inverse().then(X_w2);
    let (core2, radius2) = core_of(shape2);
    let size = core2.size() + radius2;
    // the ground reaches down without end: below everything that is near
    let floor = (grid.height_range()[0] - grid.height_range()[1].abs()).min(X_12.position.z) - 4.0 * size;
    let against = |c: usize, r: usize| {
        let pair = grid.cell(c, r).map(|corners| {
            // Origin of the prism near its corners: no digits lost on large grids.
            let o = corners[0];
            let core1 = Core::Prism { corners: corners.map(|p| p - o), floor: floor - o.z };
            convex_convex(&core1, 0.0, &Pose::at(o), &core2, radius2, &X_12)
        });
        if pair[1].gap < pair[0].gap { pair[1] } else { pair[0] }
    };
    // The cell below the centre bounds the distance; nothing farther away than that can be nearer.
    let p = X_12.position;
    let [hx, hy] = grid.half_lengths();
    let (x, y) = (p.x.clamp(-hx, hx), p.y.clamp(-hy, hy));
    let [cs, rs] = grid.cells_under([x, y], [x, y]);
    let first = against(cs.start, rs.start);
    let reach = size + first.gap.max(0.0);
    let [cs, rs] = grid.cells_under([p.x - reach, p.y - reach], [p.x + reach, p.y + reach]);
    let all = rs.flat_map(|r| cs.clone().map(move |c| (c, r)));
    let best = deepest(std::iter::once(first).chain(all.map(|(c, r)| against(c, r)))).unwrap_or(first);
    placed(best, X_w1)
}

fn placed(s: Separation, X_w1: &Pose) -> Separation {
    Separation { gap: s.gap, normal: X_w1.vector(s.normal), point1: X_w1.point(s.point1), point2: X_w1.point(s.point2) }
}

/// Nearest point of the surface or of the upright walls around its rim to the centre; inside the distance counts negative.
fn grid_sphere(grid: &HeightGrid, X_w1: &Pose, p2: Vec3, r: f64) -> Separation {
    let q = X_w1.vector_into(p2 - X_w1.position);
    let [hx, hy] = grid.half_lengths();
    let (x, y) = (q.x.clamp(-hx, hx), q.y.clamp(-hy, hy));
    let surface = grid.height_at(x, y).unwrap_or(grid.height_range()[0]);
    if (x, y) != (q.x, q.y) && q.z < surface {
        let nearest = Vec3::new(x, y, q.z);
        return round(X_w1, p2, r, nearest, (q - nearest).length(), q - nearest);
    }
    let bound = (q - Vec3::new(x, y, surface)).length();
    let [cs, rs] = grid.cells_under([q.x - bound, q.y - bound], [q.x + bound, q.y + bound]);
    let mut best = (bound * bound, Vec3::new(x, y, surface), Vec3::Z);
    for row in rs {
        for column in cs.clone() {
            for t in grid.cell(column, row) {
                let nearest = nearest_on_triangle(q, t);
                let squared = (q - nearest).length_squared();
                if squared <= best.0 {
                    best = (squared, nearest, (t[1] - t[0]).cross(t[2] - t[0]));
                }
            }
        }
    }
    let below = grid.height_at(q.x, q.y).is_some_and(|h| q.z < h);
    if below {
        for out in [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y] {
            let depth = if out.x != 0.0 { hx } else { hy } - out.dot(q);
            let nearest = q + out * depth;
            if depth * depth < best.0 && grid.height_at(nearest.x, nearest.y).is_some_and(|h| q.z < h) {
                best = (depth * depth, nearest, out);
            }
        }
    }
    let (squared, nearest, up) = best;
    let distance = squared.sqrt();
    let away = if below { nearest - q } else { q - nearest };
    // On the surface itself the direction is the triangle's own.
    let away = if distance > 1e-9 * r { away } else { up.try_normalize().unwrap_or(Vec3::Z) };
    round(X_w1, p2, r, nearest, if below { -distance } else { distance }, away)
}

/// A sphere whose centre is this far from the nearest point, in the frame of the grid, and away from it in this direction.
fn round(X_w1: &Pose, p2: Vec3, r: f64, nearest: Vec3, distance: f64, away: Vec3) -> Separation {
    let (gap, n) = (distance - r, away.try_normalize().unwrap_or(Vec3::Z));
    let normal = X_w1.vector(n);
    let point2 = p2 - normal * r;
    Separation { gap, normal, point1: X_w1.point(nearest), point2 }
}

/// Nearest point of a triangle: inside by projection, else the nearest of three edges.
pub(crate) fn nearest_on_triangle(q: Vec3, [a, b, c]: [Vec3; 3]) -> Vec3 {
    let n = (b - a).cross(c - a);
    let inside = |u: Vec3, v: Vec3| (v - u).cross(q - u).dot(n) >= 0.0;
    if inside(a, b) && inside(b, c) && inside(c, a) && n != Vec3::ZERO {
        return q - n * (n.dot(q - a) / n.length_squared());
    }
    let on_edge = |u: Vec3, v: Vec3| {
        let e = v - u;
        let t = if e == Vec3::ZERO { 0.0 } else { ((q - u).dot(e) / e.length_squared()).clamp(0.0, 1.0) };
        u + e * t
    };
    let mut best = on_edge(a, b);
    for p in [on_edge(b, c), on_edge(c, a)] {
        if (q - p).length_squared() < (q - best).length_squared() {
            best = p;
        }
    }
    best
}
