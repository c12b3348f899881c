//! Walls: planes, triangle meshes and shapes that move rigidly, and what the grains do to them.
//!
//! The caller sets pose and velocity before an interval and finds the impulse after it. A wall is body 1 of its
//! contacts, the grain body 2: normals point from the wall into the grain.

use crate::chunk::{Chunk, Lists};
use crate::ground::Heights;
use crate::law::V4;
use crate::law::full::{Extra, NO_EXTRA};
use crate::neighbours::DEEPEST;
use crate::{GrainError, Grains, Settings};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;
use tippe_geometry::{Aabb, Pose, Quat, Shape, TriMesh, Vec3, separation};

/// Surface of a wall in its own frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    /// Everything with z <= 0 is solid.
    Plane,
    /// Triangles, both sides of each; need not be closed.
    Mesh(Arc<WallMesh>),
    /// A solid of the geometry library, from outside.
    Shape(Shape),
    /// Heights in world; the wall stands still.
    Ground(Arc<Heights>),
}

/// A rigid wall.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wall {
    /// Its surface.
    pub surface: Surface,
    /// Class: row of `Settings::materials`.
    pub class: u8,
    /// Pose in the world.
    pub X_ws: Pose,
    /// Velocity of the origin of its frame [m/s].
    pub velocity: Vec3,
    /// Angular velocity [rad/s], resolved in the world.
    pub spin: Vec3,
    /// Force of the grains on it at the present positions [N].
    pub force: Vec3,
    /// Their torque about the origin of its frame [N m].
    pub torque: Vec3,
    /// Integral of `force` since the caller last set it to zero [N s].
    pub impulse: Vec3,
    /// Integral of `torque` [N m s].
    pub angular_impulse: Vec3,
    /// Work done by it on the grains, likewise [J].
    pub work: f64,
}

impl Wall {
    /// A wall at rest, class 0.
    pub fn new(surface: Surface, X_ws: Pose) -> Wall {
        let o = Vec3::ZERO;
        Wall {
            surface,
            class: 0,
            X_ws,
            velocity: o,
            spin: o,
            force: o,
            torque: o,
            impulse: o,
            angular_impulse: o,
            work: 0.0,
        }
    }

    /// A plane through `point` [m]; grains are on the side of `normal`.
    pub fn plane(point: Vec3, normal: Vec3) -> Wall {
        let rotation = Quat::from_rotation_arc(Vec3::Z, normal.normalize_or(Vec3::Z));
        Wall::new(Surface::Plane, Pose::new(rotation, point))
    }

    /// Velocity of its point `p` [m], given in the world [m/s].
    pub fn velocity_at(&self, p: Vec3) -> Vec3 {
        self.velocity + self.spin.cross(p - self.X_ws.position)
    }

    /// Pose after `h` [s] at constant velocity and spin.
    pub(crate) fn move_by(&mut self, h: f64) {
        self.X_ws.position += self.velocity * h;
        let angle = self.spin.length() * h;
        if angle != 0.0 {
            let axis = self.spin / self.spin.length();
            let (s, c) = libm::sincos(0.5 * angle);
            let turn = Quat::from_xyzw(axis.x * s, axis.y * s, axis.z * s, c);
            self.X_ws.rotation = (turn * self.X_ws.rotation).normalize();
        }
    }

    /// Largest speed of any of its points that grains can meet [m/s]; `reach` bounds their distance from its origin [m].
    pub(crate) fn top_speed(&self, reach: impl Fn() -> f64) -> f64 {
        let turning = self.spin.length();
        let turned = match &self.surface {
            _ if turning == 0.0 => 0.0,
            Surface::Mesh(mesh) => turning * mesh.extent,
            Surface::Plane | Surface::Shape(_) | Surface::Ground(_) => turning * reach(),
        };
        self.velocity.length() + turned
    }

    /// Largest speed with which it comes towards grains [m/s]: of a plane that along its normal, of others that of any point.
    pub(crate) fn closing_speed(&self, reach: impl Fn() -> f64) -> f64 {
        let turning = self.spin.length();
        match &self.surface {
            Surface::Plane => {
                let n = self.X_ws.rotation * Vec3::Z;
                // a turn about the normal leaves it where it is
                let tilting = (self.spin - n * n.dot(self.spin)).length();
                n.dot(self.velocity).abs() + if tilting > 1e-9 * turning { tilting * reach() } else { 0.0 }
            }
            Surface::Mesh(mesh) => self.velocity.length() + turning * mesh.extent,
            Surface::Shape(shape) => self.velocity.length() + turning * shape.bounding_radius_about(Vec3::ZERO),
            Surface::Ground(_) => 0.0,
        }
    }

    pub(crate) fn validate(&self, wall: usize, classes: usize) -> Result<(), GrainError> {
        let bad = |what: &str| Err(GrainError::Wall { wall, what: what.to_string() });
        if self.class as usize >= classes {
            return bad("its class is no row of the materials");
        }
        let motion = [self.X_ws.position, self.velocity, self.spin];
        if !(motion.iter().all(|v| v.is_finite()) && (self.X_ws.rotation.length() - 1.0).abs() < 1e-6) {
            return bad("pose and velocity must be finite, its rotation a unit quaternion");
        }
        if let Surface::Shape(shape) = &self.surface {
            shape.validate().map_err(|e| GrainError::Wall { wall, what: e.to_string() })?;
        }
        Ok(())
    }
}

/// Triangles with a tree of boxes over them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WallMesh {
    corners: Vec<[Vec3; 3]>,
    nodes: Vec<Node>,
    /// Largest distance of a corner from the origin [m].
    extent: f64,
}

/// A box over triangles: a leaf holds `count` triangles from `first` on, an inner node has children `first` and `count`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Node {
    low: Vec3,
    high: Vec3,
    first: u32,
    count: u32,
    leaf: bool,
}

impl WallMesh {
    /// Triangles of a mesh [m]. Triangles without area, corners that are not finite or do not exist are an error.
    pub fn new(mesh: &TriMesh) -> Result<WallMesh, GrainError> {
        let bad = |what: String| Err(GrainError::Wall { wall: 0, what });
        let mut corners = Vec::with_capacity(mesh.triangles.len());
        for (k, t) in mesh.triangles.iter().enumerate() {
            if t.iter().any(|i| *i as usize >= mesh.vertices.len()) {
                return bad(format!("triangle {k} names a corner that does not exist"));
            }
            let [a, b, c] = t.map(|i| mesh.vertices[i as usize]);
            if !(a.is_finite() && b.is_finite() && c.is_finite()) {
                return bad(format!("triangle {k} has a corner that is not finite"));
            }
            if !((b - a).cross(c - a).length() > 0.0) {
                return bad(format!("triangle {k} has no area"));
            }
            corners.push([a, b, c]);
        }
        if corners.is_empty() {
            return bad("the mesh has no triangles".to_string());
        }
        let extent = corners.iter().flatten().fold(0.0f64, |e, p| e.max(p.length()));
        let mut out = WallMesh { corners, nodes: Vec::new(), extent };
        let count = out.corners.len();
        out.split(0, count);
        Ok(out)
    }

    /// Box around it at a pose.
    pub fn aabb(&self, X_ws: &Pose) -> Aabb {
        let points = self.corners.iter().flatten().map(|p| X_ws.point(*p));
        let (mut min, mut max) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for p in points {
            (min, max) = (min.min(p), max.max(p));
        }
        Aabb { min, max }
    }

    /// Number of triangles.
    pub fn triangles(&self) -> usize {
        self.corners.len()
    }

    fn split(&mut self, first: usize, count: usize) -> u32 {
        let part = &mut self.corners[first..first + count];
        let low = part.iter().flatten().copied().reduce(Vec3::min).unwrap_or(Vec3::ZERO);
        let high = part.iter().flatten().copied().reduce(Vec3::max).unwrap_or(Vec3::ZERO);
        let node = self.nodes.len();
        self.nodes.push(Node { low, high, first: first as u32, count: count as u32, leaf: true });
        if count > 4 {
            let size = high - low;
            let axis = (0..3).max_by(|a, b| size[*a].total_cmp(&size[*b])).unwrap_or(0);
            part.sort_by(|a, b| {
                let middle = |t: &[Vec3; 3]| t[0][axis] + t[1][axis] + t[2][axis];
                middle(a).total_cmp(&middle(b))
            });
            let left = self.split(first, count / 2);
            let right = self.split(first + count / 2, count - count / 2);
            self.nodes[node] = Node { low, high, first: left, count: right, leaf: false };
        }
        node as u32
    }

    /// Triangles closer to `p` than `reach` [m], in rising order.
    fn near(&self, p: Vec3, reach: f64, out: &mut Vec<u32>) {
        let mut stack = [0u32; 64];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let node = &self.nodes[stack[top] as usize];
            if (p - p.clamp(node.low, node.high)).length_squared() > reach * reach {
                continue;
            }
            if node.leaf {
                for k in node.first..node.first + node.count {
                    if (p - closest_point(&self.corners[k as usize], p)).length_squared() <= reach * reach {
                        out.push(k);
                    }
                }
            } else {
                stack[top] = node.count;
                stack[top + 1] = node.first;
                top += 2;
            }
        }
    }
}

/// Point of a triangle closest to `p` (regions of Voronoi; Ericson 2005, section 5.1.5).
fn closest_point([a, b, c]: &[Vec3; 3], p: Vec3) -> Vec3 {
    let (ab, ac, ap) = (*b - *a, *c - *a, p - *a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return *a;
    }
    let bp = p - *b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return *b;
    }
    let cp = p - *c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return *c;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return *a + ab * (d1 / (d1 - d3));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return *a + ac * (d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        return *b + (*c - *b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    let sum = va + vb + vc;
    *a + ab * (vb / sum) + ac * (vc / sum)
}

/// Contacts a grain may have with one wall at once.
pub(crate) const CONTACTS: usize = 3;

/// A grain near a wall.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct WallPair {
    pub grain: u32,
    pub wall: u32,
    /// Triangles in `Chunk::triangles`.
    pub first: u32,
    pub count: u32,
    /// Place in `Chunk::wall_history` and number of contacts there.
    pub slot: u32,
    pub slots: u32,
}

impl WallPair {
    pub fn slots(&self) -> Range<usize> {
        self.slot as usize..(self.slot + self.slots) as usize
    }

    /// Whether its triangles and contacts are among those of its chunk.
    pub fn fits(&self, triangles: &[u32], contacts: &[WallHistory]) -> bool {
        let within = |first: u32, count: u32, all: usize| u64::from(first) + u64::from(count) <= all as u64;
        within(self.first, self.count, triangles.len()) && within(self.slot, self.slots, contacts.len())
    }

    fn triangles(&self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// What one contact of a grain with a wall remembers. The normal says which contact it was; zero for none.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WallHistory {
    pub memory: V4,
    pub normal: Vec3,
}

impl WallHistory {
    pub fn touches(&self) -> bool {
        self.normal != Vec3::ZERO
    }

    pub fn words(&self, word: &mut impl FnMut(u64)) {
        self.memory.iter().for_each(|x| word(x.to_bits()));
        self.normal.to_array().iter().for_each(|x| word(x.to_bits()));
    }
}

/// Where a grain touches a wall: depth [m], normal into the grain.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WallContact {
    pub depth: f64,
    pub normal: Vec3,
}

impl Wall {
    /// Contacts with a ball at `p` [m], at most `CONTACTS`, deepest first. `n` is the z axis of the
    /// wall's frame. Contacts up to the gap `pull` [m] have negative depth.
    #[inline(always)]
    pub(crate) fn contacts(
        &self,
        n: Vec3,
        p: Vec3,
        radius: f64,
        pull: f64,
        triangles: &[u32],
        out: &mut [WallContact; CONTACTS],
    ) -> usize {
        match &self.surface {
            Surface::Plane => {
                let depth = radius - n.dot(p - self.X_ws.position);
                out[0] = WallContact { depth, normal: n };
                usize::from(depth > -pull)
            }
            Surface::Shape(shape) => self.shape_contact(shape, p, radius, pull, out),
            Surface::Mesh(mesh) => mesh.contacts(&self.X_ws, p, radius, pull, triangles, out),
            Surface::Ground(heights) => {
                let Some((depth, normal)) = heights.depth(p, radius) else { return 0 };
                out[0] = WallContact { depth, normal };
                usize::from(depth > -pull)
            }
        }
    }

    #[inline(never)]
    fn shape_contact(
        &self,
        shape: &Shape,
        p: Vec3,
        radius: f64,
        pull: f64,
        out: &mut [WallContact; CONTACTS],
    ) -> usize {
        let s = separation(shape, &self.X_ws, &Shape::Sphere { radius }, &Pose::at(p));
        out[0] = WallContact { depth: -s.gap, normal: s.normal };
        usize::from(s.gap < pull)
    }

    /// Depth of a ball at `p` in the wall; anything less than `limit` where it is less [m].
    pub fn depth(&self, p: Vec3, radius: f64, limit: f64) -> f64 {
        match &self.surface {
            Surface::Plane => radius - (self.X_ws.rotation * Vec3::Z).dot(p - self.X_ws.position),
            Surface::Shape(shape) => {
                let own = self.X_ws.point_into(p);
                let near = shape.aabb(&Pose::IDENTITY).grown((radius - limit).max(0.0));
                if own.cmpge(near.min).all() && own.cmple(near.max).all() {
                    -separation(shape, &self.X_ws, &Shape::Sphere { radius }, &Pose::at(p)).gap
                } else {
                    // its centre is farther outside than it may be deep
                    0.0
                }
            }
            // both sides of it are surfaces: no ball is deeper than its radius
            Surface::Mesh(mesh) => {
                let own = self.X_ws.point_into(p);
                let mut near = Vec::new();
                mesh.near(own, radius - limit, &mut near);
                let distance = |k: &u32| (own - closest_point(&mesh.corners[*k as usize], own)).length();
                radius - near.iter().map(distance).fold(radius, f64::min)
            }
            Surface::Ground(heights) => heights.depth(p, radius).map_or(f64::NEG_INFINITY, |(depth, _)| depth),
        }
    }

    /// True when a ball at `p` is within `reach` of the surface [m].
    fn is_near(&self, p: Vec3, radius: f64, reach: f64) -> bool {
        match &self.surface {
            Surface::Plane => (self.X_ws.rotation * Vec3::Z).dot(p - self.X_ws.position) < radius + reach,
            Surface::Shape(shape) => separation(shape, &self.X_ws, &Shape::Sphere { radius }, &Pose::at(p)).gap < reach,
            Surface::Mesh(_) => true,
            Surface::Ground(heights) => p.z - heights.highest(p, radius + reach) < radius + reach,
        }
    }
}

impl WallMesh {
    /// Contacts with the listed triangles. A corner or edge counts only where no deeper contact's plane holds it: a ball
    /// on a flat surface touches once, however it is cut into triangles; a ball in a groove touches twice.
    #[inline(never)]
    fn contacts(
        &self,
        X_ws: &Pose,
        p_w: Vec3,
        radius: f64,
        pull: f64,
        triangles: &[u32],
        out: &mut [WallContact; CONTACTS],
    ) -> usize {
        let p = X_ws.point_into(p_w);
        let range = radius + pull;
        let mut found = [(0.0f64, Vec3::ZERO, Vec3::ZERO); 8];
        let mut count = 0;
        for k in triangles {
            let t = &self.corners[*k as usize];
            let q = closest_point(t, p);
            let d = p - q;
            let dist = d.length();
            if dist < range {
                let normal = if dist > 1e-9 * radius { d / dist } else { (t[1] - t[0]).cross(t[2] - t[0]).normalize() };
                let depth = radius - dist;
                let mut at = count.min(found.len() - 1);
                if count < found.len() {
                    count += 1;
                } else if found[at].0 >= depth {
                    continue;
                }
                while at > 0 && found[at - 1].0 < depth {
                    found[at] = found[at - 1];
                    at -= 1;
                }
                found[at] = (depth, q, normal);
            }
        }
        let mut kept = 0;
        let mut points = [Vec3::ZERO; CONTACTS];
        for &(depth, q, normal) in &found[..count] {
            let same = (0..kept).any(|m| {
                let n = X_ws.vector_into(out[m].normal);
                (q - points[m]).dot(n).abs() < 1e-6 * radius
            });
            if !same && kept < CONTACTS {
                points[kept] = q;
                out[kept] = WallContact { depth, normal: X_ws.vector(normal) };
                kept += 1;
            }
        }
        kept
    }
}

impl Grains {
    /// An error where a packing starts with grains deeper in each other, or in a wall, than half the smaller radius. Places of
    /// grains may change.
    pub fn check_packing(&mut self, settings: &Settings, walls: &[Wall]) -> Result<(), GrainError> {
        self.check_walls_of_solids(walls)?;
        self.check_walls(walls)?;
        if self.is_empty() {
            return Ok(());
        }
        self.rebuild(settings, walls, Lists::Positions, DEEPEST)
    }

    /// An error where a grain is deeper in a wall than half its radius.
    fn check_walls(&self, walls: &[Wall]) -> Result<(), GrainError> {
        for (k, (p, id)) in self.position.iter().zip(&self.id).enumerate() {
            // what is frozen may be part of a wall
            if self.motion[k].linear[3] == 0.0 && self.clump_of(k).is_none() {
                continue;
            }
            let (centre, radius) = (Vec3::new(p[0], p[1], p[2]), p[3]);
            let limit = DEEPEST * radius;
            for (wall, w) in walls.iter().enumerate() {
                let (depth, limit) = match self.solid_depth_in_wall(k, w) {
                    Some(depth) => (depth, DEEPEST * self.thickness(k)),
                    None => (w.depth(centre, radius, limit), limit),
                };
                if depth > limit {
                    return Err(GrainError::InWall { id: *id, wall, depth, limit });
                }
            }
        }
        Ok(())
    }

    /// Lists grains within `reach` of walls [m], chunk by chunk, with the history `recall` gives for grain and wall.
    pub(crate) fn list_walls(
        &mut self,
        walls: &[Wall],
        reach: f64,
        full: bool,
        recall: impl Fn(u32, u32) -> Vec<(WallHistory, Extra)> + Sync,
    ) {
        let position = &self.position;
        self.chunks.par_iter_mut().with_max_len(1).for_each(|chunk| {
            chunk.walls.clear();
            chunk.triangles.clear();
            chunk.wall_history.clear();
            chunk.wall_extra.clear();
            let mut near = Vec::new();
            for grain in chunk.start..chunk.start + chunk.len {
                chunk.list_walls_of(grain, &position[grain as usize], walls, reach, full, &mut near, &recall);
            }
            chunk.walls.shrink_to_fit();
            chunk.triangles.shrink_to_fit();
            chunk.wall_history.shrink_to_fit();
            chunk.wall_extra.shrink_to_fit();
        });
    }
}

impl Chunk {
    /// Lists the walls within `reach` of a grain [m]; `near` is room for triangles.
    #[expect(
        clippy::too_many_arguments,
        reason = "one grain and what is looked for around it, and a buffer of the caller"
    )]
    pub fn list_walls_of<H: IntoIterator<Item = (WallHistory, Extra)>>(
        &mut self,
        grain: u32,
        p: &V4,
        walls: &[Wall],
        reach: f64,
        full: bool,
        near: &mut Vec<u32>,
        recall: impl Fn(u32, u32) -> H,
    ) {
        let (centre, radius) = (Vec3::new(p[0], p[1], p[2]), p[3]);
        let Chunk { walls: pairs, triangles, wall_history, wall_extra, .. } = self;
        for (wall, w) in walls.iter().enumerate() {
            near.clear();
            let mut slots = 1;
            if let Surface::Mesh(mesh) = &w.surface {
                mesh.near(w.X_ws.point_into(centre), radius + reach, near);
                if near.is_empty() {
                    continue;
                }
                near.sort_unstable();
                slots = CONTACTS;
            } else if !w.is_near(centre, radius, reach) {
                continue;
            }
            let slot = wall_history.len();
            let (first, count) = (triangles.len() as u32, near.len() as u32);
            triangles.extend_from_slice(near);
            wall_history.resize(slot + slots, WallHistory::default());
            if full {
                wall_extra.resize(slot + slots, NO_EXTRA);
            }
            for (k, (history, extra)) in recall(grain, wall as u32).into_iter().take(slots).enumerate() {
                wall_history[slot + k] = history;
                if full {
                    wall_extra[slot + k] = extra;
                }
            }
            let (slot, slots, wall) = (slot as u32, slots as u32, wall as u32);
            pairs.push(WallPair { grain, wall, first, count, slot, slots });
        }
    }
}

impl WallPair {
    /// Triangles of this pair.
    pub fn triangles_of<'a>(&self, all: &'a [u32]) -> &'a [u32] {
        &all[self.triangles()]
    }
}
