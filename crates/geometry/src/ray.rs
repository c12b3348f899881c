//! Rays against shapes.

use crate::shape::HeightGrid;
use crate::{Pose, Shape, Vec3, separation};

/// Where a ray meets a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// From the origin of the ray [m].
    pub distance: f64,
    /// In the world [m].
    pub point: Vec3,
    /// Outward unit normal of the surface, in the world [-].
    pub normal: Vec3,
}

/// First point of a solid on a ray from `origin` along `direction` (any length but zero), at most `max` away [m].
///
/// A ray that starts inside hits at once: distance 0, normal against the ray. `None` for a miss and for a direction that is
/// zero or not finite.
pub fn cast(shape: &Shape, X_ws: &Pose, origin: Vec3, direction: Vec3, max: f64) -> Option<Hit> {
    let d_w = direction.try_normalize()?;
    if !origin.is_finite() {
        return None;
    }
    let (o, d) = (X_ws.point_into(origin), X_ws.vector_into(d_w));
    let (distance, n) = match shape {
        Shape::Compound(parts) => {
            let mut best: Option<Hit> = None;
            for (X_sp, part) in parts {
                let limit = best.map_or(max, |b| b.distance);
                if let Some(hit) = cast(part, &X_ws.then(X_sp), origin, direction, limit)
                    && best.is_none_or(|b| hit.distance < b.distance)
                {
                    best = Some(hit);
                }
            }
            return best;
        }
        Shape::HalfSpace => through_planes(std::iter::once((Vec3::Z, 0.0)), o, d)?,
        Shape::Box { half_extents: h, smoothing: 0.0 } => {
            let planes =
                [(Vec3::X, h.x), (-Vec3::X, h.x), (Vec3::Y, h.y), (-Vec3::Y, h.y), (Vec3::Z, h.z), (-Vec3::Z, h.z)];
            through_planes(planes.into_iter(), o, d)?
        }
        Shape::Hull(hull) => through_planes(hull.faces().iter().map(|f| (f.normal, f.offset)), o, d)?,
        Shape::Sphere { radius } => sphere(*radius, o, d)?,
        Shape::HeightGrid(grid) => terrain(grid, o, d, max)?,
        Shape::Mesh(mesh) => mesh.cast(o, d)?,
        _ => curved(shape, o, d, max)?,
    };
    (distance <= max).then(|| Hit { distance, point: origin + d_w * distance, normal: X_ws.vector(n) })
}

/// Intersection of half-spaces n.p <= c: the last plane entered before the first one left.
fn through_planes(planes: impl Iterator<Item = (Vec3, f64)>, o: Vec3, d: Vec3) -> Option<(f64, Vec3)> {
    let (mut enter, mut leave, mut normal) = (0.0, f64::INFINITY, -d);
    for (n, c) in planes {
        let (height, rate) = (n.dot(o) - c, n.dot(d));
        if rate < 0.0 {
            let t = -height / rate;
            if t > enter {
                (enter, normal) = (t, n);
            }
        } else if rate > 0.0 {
            leave = f64::min(leave, -height / rate);
        } else if height > 0.0 {
            return None;
        }
    }
    (enter <= leave).then_some((enter, normal))
}

fn sphere(r: f64, o: Vec3, d: Vec3) -> Option<(f64, Vec3)> {
    let along = o.dot(d);
    let outside = o.length_squared() - r * r;
    if outside <= 0.0 {
        return Some((0.0, -d));
    }
    // Distance of the line from the centre, not the discriminant of the quadratic: no cancellation far away.
    let foot = o - d * along;
    let under = r * r - foot.length_squared();
    if along >= 0.0 || under < 0.0 {
        return None;
    }
    let t = -along - under.sqrt();
    Some((t.max(0.0), (foot - d * under.sqrt()) / r))
}

/// Steps of Newton after which a ray counts as a miss; only grazing ones come near.
const STEPS: usize = 200;

/// Any convex shape: the distance of a point on the ray is convex along it, so Newton from outside never overshoots.
fn curved(shape: &Shape, o: Vec3, d: Vec3, max: f64) -> Option<(f64, Vec3)> {
    let dot = Shape::Sphere { radius: 0.0 };
    let radius = shape.bounding_radius_about(Vec3::ZERO);
    // Start where the ray enters a ball around the shape.
    let (mut t, _) = sphere(radius * 1.001, o, d)?;
    let touch = 4e-16 * radius;
    let mut normal = -d;
    for _ in 0..STEPS {
        let s = separation(shape, &Pose::IDENTITY, &dot, &Pose::at(o + d * t));
        if s.gap <= touch {
            return Some((t, if t > 0.0 { normal } else { -d }));
        }
        normal = s.normal;
        let rate = s.normal.dot(d);
        let step = -s.gap / rate;
        if !(rate < 0.0) || !(t + step <= max + radius) {
            return None;
        }
        if t + step <= t {
            return Some((t, normal));
        }
        t += step;
    }
    None
}

/// Walks over the cells below the ray.
fn terrain(grid: &HeightGrid, o: Vec3, d: Vec3, max: f64) -> Option<(f64, Vec3)> {
    let [hx, hy] = grid.half_lengths();
    // Part of the ray over the grid.
    let sides = [(Vec3::X, hx), (-Vec3::X, hx), (Vec3::Y, hy), (-Vec3::Y, hy)];
    let (from, wall) = through_planes(sides.into_iter(), o, d)?;
    let mut to = max;
    for (n, c) in sides {
        if n.dot(d) > 0.0 {
            to = to.min((c - n.dot(o)) / n.dot(d));
        }
    }
    let entry = o + d * from;
    let height = grid.height_at(entry.x.clamp(-hx, hx), entry.y.clamp(-hy, hy))?;
    if entry.z <= height {
        return Some((from, if from > 0.0 { wall } else { -d }));
    }
    // One row or column of cells after the other, along the axis the ray runs faster.
    let [dx, dy] = grid.spacing();
    let axis = if d.x.abs() / dx >= d.y.abs() / dy { 0 } else { 1 };
    let (speed, spacing, half) = (d[axis], grid.spacing()[axis], grid.half_lengths()[axis]);
    let mut t = from;
    loop {
        // To the next grid line across the axis, a little beyond so that no cell is missed.
        let next = if speed == 0.0 {
            to
        } else {
            let here = (o[axis] + d[axis] * t + half) / spacing;
            let line = if speed > 0.0 { here.floor() + 1.0 } else { here.ceil() - 1.0 };
            to.min((line * spacing - half - o[axis]) / speed).max(t)
        };
        let (p, q) = (o + d * t, o + d * next);
        let slip = 1e-9 * spacing;
        let low = [p.x.min(q.x) - slip, p.y.min(q.y) - slip];
        let high = [p.x.max(q.x) + slip, p.y.max(q.y) + slip];
        let [columns, rows] = grid.cells_under(low, high);
        let mut best: Option<(f64, Vec3)> = None;
        for row in rows {
            for column in columns.clone() {
                for corners in grid.cell(column, row) {
                    if let Some(hit) = triangle(corners, o, d)
                        && hit.0 <= max
                        && best.is_none_or(|b| hit.0 < b.0)
                    {
                        best = Some(hit);
                    }
                }
            }
        }
        if best.is_some() || next >= to {
            return best;
        }
        t = if next > t { next } else { t + slip };
    }
}

/// A triangle from its front side (Moeller and Trumbore 1997).
fn triangle([a, b, c]: [Vec3; 3], o: Vec3, d: Vec3) -> Option<(f64, Vec3)> {
    let (ab, ac) = (b - a, c - a);
    let n = ab.cross(ac);
    let facing = -n.dot(d);
    if !(facing > 0.0) {
        return None;
    }
    let ao = o - a;
    let e = ao.cross(d);
    let (u, v) = (ac.dot(e), -ab.dot(e));
    // A little beyond the edges, so that a ray never slips through between two triangles.
    let slip = -1e-12 * facing;
    let t = n.dot(ao) / facing;
    (u >= slip && v >= slip && u + v <= facing - slip && t >= 0.0).then(|| (t, n.normalize()))
}
