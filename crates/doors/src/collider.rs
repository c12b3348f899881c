//! The collider alone: two bodies and two poses in, contact points out. Without time and memory, so any order of questions is right:
//! the arrangement of Bardaro et al. (2017, appendix A), with what it lacked: the distance while apart, which goes through zero where
//! they touch, so that an integrator can locate the event.

use std::sync::Arc;
use tippe::geometry::{
    ContactKind, Manifold, Pose, Shape, Surface, SurfaceWork, Vec3, contact_kind, foundation, half_space_foundation,
    manifold, overlap, separation, surface_distance,
};
use tippe::model::Model;
use tippe::scene::Scene;

/// Most points that a pair of convex shapes has.
const POINTS: usize = 8;

/// One shape of a body, in the body's frame.
struct Part {
    X_bs: Pose,
    shape: Shape,
    surface: Option<Arc<Surface>>,
}

/// The bodies of a scene as shapes.
pub struct Collider {
    names: Vec<String>,
    parts: Vec<Vec<Part>>,
}

/// A contact point of two bodies a and b.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// On the surface of a, in a's frame [m].
    pub p_a: Vec3,
    /// On the surface of b, in b's frame [m].
    pub p_b: Vec3,
    /// Unit normal out of a there, in the world [-].
    pub normal_a: Vec3,
    /// Unit normal out of b there, in the world [-].
    pub normal_b: Vec3,
    /// Depth; negative, minus the distance, while apart [m].
    pub depth: f64,
    /// Area it stands for; zero where unknown [m^2].
    pub area: f64,
    /// The same number for the same features at other poses.
    pub id: u64,
}

/// What two bodies have in common.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Touching {
    /// The points, the deepest first; at least one where both bodies have shapes.
    pub points: Vec<Point>,
    /// Depth of the deepest; negative, minus the distance, while apart [m].
    pub depth: f64,
    /// Volume that both fill, where it is known [m^3].
    pub volume: f64,
    /// Its centroid in the world [m].
    pub centroid: Vec3,
    /// Area of the patch [m^2].
    pub area: f64,
}

impl Collider {
    /// The bodies of a scene.
    pub fn new(scene: &Scene) -> Result<Collider, String> {
        let model = Model::compile(scene).map_err(|errors| errors.to_string())?;
        Ok(Collider::of(&model))
    }

    /// The bodies of a model.
    pub fn of(model: &Model) -> Collider {
        let mut parts: Vec<Vec<Part>> = model.bodies.iter().map(|_| Vec::new()).collect();
        for own in &model.colliders {
            let body = &model.bodies[own.body as usize];
            let X_bs = Pose::at(body.p_bc).then(&own.X_cs);
            parts[own.body as usize].push(Part { X_bs, shape: own.shape.clone(), surface: own.surface.clone() });
        }
        Collider { names: model.bodies.iter().map(|body| body.name.clone()).collect(), parts }
    }

    /// Names of the bodies.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Index of the body with this name.
    pub fn body(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|own| own == name)
    }

    /// What bodies `a` and `b` have in common where their frames have these poses in the world.
    pub fn pair(&self, a: usize, X_wa: &Pose, b: usize, X_wb: &Pose) -> Result<Touching, String> {
        self.pair_within(a, X_wa, b, X_wb, 0.0)
    }

    /// As [`Self::pair`]; convex bodies that are less than `margin` apart [m] have all their points already.
    pub fn pair_within(&self, a: usize, X_wa: &Pose, b: usize, X_wb: &Pose, margin: f64) -> Result<Touching, String> {
        let (Some(first), Some(second)) = (self.parts.get(a), self.parts.get(b)) else {
            return Err(format!("there are {} bodies, {a} and {b} are asked for", self.names.len()));
        };
        let mut all = Touching { depth: f64::NEG_INFINITY, ..Touching::default() };
        for (i, one) in first.iter().enumerate() {
            for (j, other) in second.iter().enumerate() {
                let places = [X_wa.then(&one.X_bs), X_wb.then(&other.X_bs)];
                let id = ((i * second.len() + j) as u64) << 32;
                touch(one, other, &places, [X_wa, X_wb], (id, margin), &mut all)?;
            }
        }
        all.points.sort_by(|one, other| other.depth.total_cmp(&one.depth).then(one.id.cmp(&other.id)));
        all.depth = all.points.first().map_or(f64::NEG_INFINITY, |point| point.depth);
        if all.volume > 0.0 {
            all.centroid /= all.volume;
        }
        Ok(all)
    }
}

/// A point in the world with its depth along a normal from a to b.
fn point(p_w: Vec3, normal: Vec3, depth: f64, area: f64, id: u64, X: [&Pose; 2]) -> Point {
    let half = 0.5 * depth * normal;
    Point {
        // the midpoint lies half a depth inside of both
        p_a: X[0].point_into(p_w + half),
        p_b: X[1].point_into(p_w - half),
        normal_a: normal,
        normal_b: -normal,
        depth,
        area,
        id,
    }
}

fn touch(
    one: &Part,
    other: &Part,
    places: &[Pose; 2],
    X: [&Pose; 2],
    (id, margin): (u64, f64),
    all: &mut Touching,
) -> Result<(), String> {
    if contact_kind(&one.shape, &other.shape) == ContactKind::Surface {
        return touch_surfaces(one, other, places, X, id, all);
    }
    let apart = separation(&one.shape, &places[0], &other.shape, &places[1]);
    if !apart.gap.is_finite() {
        return Err("these two overlap without end: walls and terrain do not touch each other".to_owned());
    }
    let mut points = Manifold::default();
    let found =
        apart.gap < margin && manifold(&one.shape, &places[0], &other.shape, &places[1], margin, POINTS, &mut points);
    if !found || points.count == 0 {
        let middle = 0.5 * (apart.point1 + apart.point2);
        all.points.push(point(middle, apart.normal, -apart.gap, 0.0, id, X));
    } else {
        let own = points.points().iter();
        all.points.extend(own.map(|p| point(p.point, points.normal, -p.gap, p.area, id | u64::from(p.id), X)));
    }
    if apart.gap < 0.0
        && let Some(shared) = overlap(&one.shape, &places[0], &other.shape, &places[1])
    {
        all.volume += shared.volume;
        all.centroid += shared.volume * shared.centroid;
        all.area += shared.area;
    }
    Ok(())
}

fn touch_surfaces(
    one: &Part,
    other: &Part,
    places: &[Pose; 2],
    X: [&Pose; 2],
    id: u64,
    all: &mut Touching,
) -> Result<(), String> {
    let mut work = SurfaceWork::default();
    let about = places[0].position;
    // a half-space comes first in the closed form: the normal then points the other way
    let (sign, shared) = match (&one.shape, &one.surface, &other.shape, &other.surface) {
        (_, Some(s1), _, Some(s2)) => (1.0, foundation(s1, &places[0], s2, &places[1], about, &mut work)),
        (Shape::HalfSpace, _, _, Some(s2)) => {
            (1.0, half_space_foundation(&places[0], s2, &places[1], about, &mut work))
        }
        (_, Some(s1), Shape::HalfSpace, _) => {
            (-1.0, half_space_foundation(&places[1], s1, &places[0], about, &mut work))
        }
        _ => return Err("one of these shapes has no surface of triangles the other could touch".to_owned()),
    };
    if !work.points().is_empty() {
        for (k, own) in work.points().iter().enumerate() {
            let normal = sign * own.normal;
            // the point lies on one of the surfaces, the other is a depth away
            let on_first = (own.side == 0) == (sign > 0.0);
            let middle = own.point - if on_first { 0.5 } else { -0.5 } * own.depth * normal;
            all.points.push(point(middle, normal, own.depth, own.area, id | k as u64, X));
        }
        for region in work.regions() {
            all.volume += region.volume;
            all.centroid += region.volume * region.centroid;
        }
        all.area += shared.area;
        return Ok(());
    }
    all.points.extend(apart_by_surfaces(one, other, places, id, X));
    Ok(())
}

/// The nearest points of two surfaces that share no volume.
fn apart_by_surfaces(one: &Part, other: &Part, places: &[Pose; 2], id: u64, X: [&Pose; 2]) -> Option<Point> {
    if let (Some(s1), Some(s2)) = (&one.surface, &other.surface) {
        let (mut near, mut stack) = ([0, 0], Vec::new());
        let gap = surface_distance(s1, &places[0], s2, &places[1], f64::INFINITY, &mut near, &mut stack)?;
        let way = gap.point2 - gap.point1;
        let normal =
            if gap.distance > 0.0 { way / gap.distance } else { (places[1].position - places[0].position).normalize() };
        return Some(point(0.5 * (gap.point1 + gap.point2), normal, -gap.distance, 0.0, id, X));
    }
    // against a half-space the hull touches where the mesh does
    let apart = separation(&one.shape, &places[0], &other.shape, &places[1]);
    Some(point(0.5 * (apart.point1 + apart.point2), apart.normal, -apart.gap, 0.0, id, X))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tippe::geometry::Quat;

    const SCENE: &str = r#"
format = 1
[world]
gravity = [0, 0, 0]
[[body]]
name = "floor"
fixed = true
material = "steel"
shape = { kind = "half_space" }
[[body]]
name = "ball"
material = "steel"
shape = { kind = "sphere", radius = 0.1 }
position = [0, 0, 1]
[[body]]
name = "box"
material = "steel"
shape = { kind = "box", size = [0.2, 0.4, 0.6] }
position = [5, 0, 1]
"#;

    fn collider() -> Collider {
        Collider::new(&Scene::parse("test.toml", SCENE, &[]).unwrap()).unwrap()
    }

    fn at(z: f64) -> Pose {
        Pose::new(Quat::IDENTITY, Vec3::new(0.0, 0.0, z))
    }

    /// The depth of a ball over a floor is r - z on both sides of zero, and its volume that of a cap, pi d^2 (r - d/3).
    #[test]
    fn depth_goes_through_zero() {
        let own = collider();
        let (floor, ball) = (own.body("floor").unwrap(), own.body("ball").unwrap());
        for z in [0.3, 0.1 + 1e-9, 0.1 - 1e-9, 0.08] {
            let found = own.pair(floor, &at(0.0), ball, &at(z)).unwrap();
            assert!((found.depth - (0.1 - z)).abs() < 1e-15, "{z}: {}", found.depth);
            assert_eq!(found.points[0].normal_a, Vec3::Z);
            assert!((found.points[0].p_b - Vec3::new(0.0, 0.0, -0.1)).length() < 1e-15);
        }
        let d: f64 = 0.02;
        let cap = std::f64::consts::PI * d * d * (0.1 - d / 3.0);
        let found = own.pair(floor, &at(0.0), ball, &at(0.1 - d)).unwrap();
        assert!((found.volume / cap - 1.0).abs() < 1e-12);
    }

    /// A box on the floor: four corners, areas that add up to its face, the same from either side.
    #[test]
    fn a_box_has_four_points() {
        let own = collider();
        let (floor, cube) = (own.body("floor").unwrap(), own.body("box").unwrap());
        let found = own.pair(floor, &at(0.0), cube, &at(0.3 - 1e-3)).unwrap();
        assert_eq!(found.points.len(), 4);
        assert!((found.points.iter().map(|p| p.area).sum::<f64>() - 0.08).abs() < 1e-12);
        assert!((found.volume - 0.08e-3).abs() < 1e-15);
        let other = own.pair(cube, &at(0.3 - 1e-3), floor, &at(0.0)).unwrap();
        assert_eq!(other.points.len(), 4);
        assert!((other.depth - found.depth).abs() < 1e-15);
        assert_eq!(other.points[0].normal_a, -Vec3::Z);
    }
}
