//! Contact points of two convex shapes, where their motion in the step makes others than those of its beginning the
//! right ones.

use super::super::Clock;
use super::grip::{Grip, Hold};
use super::near::{Near, RADIUS_MAX};
use super::touch::{Memory, Touch};
use tippe_geometry::{Manifold, ManifoldPoint, Pose, Vec3};

/// Gap below which two shapes meet on their way past each other, as a share of the smaller size [-].
const MEETING_GAP: f64 = 1e-4;
/// Most steps of conservative advancement of two shapes past each other; with fewer, more of them count as meeting.
const ADVANCES: usize = 12;
/// Gap and approach below which two shapes lie flush at the end of the step, as a share of the smaller size [-].
const FLUSH: f64 = 1e-4;
/// Cosine between the normals now and at the end of the step above which they are of the same side [-]: 120 degrees
/// apart they are of opposite faces.
const SAME_SIDE_COS: f64 = -0.5;

impl Clock {
    /// True if two convex bodies moving at their current velocities miss each other within this step (conservative
    /// advancement on separating planes). A contact along the current normal would stop bodies that only pass.
    pub(super) fn passes_by(&self, near: &Near, X_ws: [Pose; 2], found: &Manifold) -> bool {
        let bodies = self.bodies_of(near);
        let (mut gap, mut normal) =
            (found.points().iter().fold(f64::INFINITY, |least, p| least.min(p.gap)), found.normal);
        if gap <= 0.0 || bodies.iter().any(|&b| self.model.bodies[b].mechanism.is_some()) {
            return false;
        }
        let paths = bodies.map(|b| &self.paths[b]);
        let fall = |k: usize| match self.is_free(bodies[k]) {
            true => self.model.gravity_at(paths[k].kin.p) * self.h,
            false => Vec3::ZERO,
        };
        let v = [paths[0].kin.v + fall(0), paths[1].kin.v + fall(1)];
        let radius = |k: usize| self.model.bodies[bodies[k]].radius.min(RADIUS_MAX);
        let spin: f64 = (0..2).map(|k| paths[k].kin.w.length() * radius(k)).sum();
        let at = |k: usize, time: f64| paths[k].pose_at_steady_velocity(&X_ws[k], v[k], time);
        let meeting_gap = MEETING_GAP * self.smaller_size(bodies);
        let mut time = 0.0;
        for _ in 0..ADVANCES {
            let closing = normal.dot(v[0] - v[1]) + spin;
            if closing <= 0.0 || time + gap / closing > self.h {
                return time > 0.0;
            }
            time += gap / closing;
            let then = self.model.separation(near.pair, &[at(0, time), at(1, time)]);
            (gap, normal) = (then.gap, then.normal);
            if gap <= meeting_gap {
                return false;
            }
        }
        false
    }

    /// Convex shapes that approach and will only just touch at the end of the step, while they move along each other,
    /// slide onto each other, as over a flush seam: they get the points of the end, for the edge ahead of them now
    /// would stop them.
    pub(super) fn slide_onto(&self, near: &Near, X_ws: [Pose; 2], margin: f64, found: &mut Manifold) {
        let bodies = self.bodies_of(near);
        let paths = bodies.map(|b| &self.paths[b]);
        let relative = |x: Vec3| paths[1].velocity_of(x) - paths[0].velocity_of(x);
        let nearest = found.points().iter().fold(f64::INFINITY, |least, p| least.min(p.gap));
        let middle = found.points()[0].point;
        let tolerance = FLUSH * self.smaller_size(bodies);
        let closing = -found.normal.dot(relative(middle));
        if nearest < -tolerance || self.h * closing < nearest.max(0.0) + tolerance {
            return;
        }
        let end = |k: usize| paths[k].pose_at_steady_velocity(&X_ws[k], paths[k].kin.v, self.h);
        let mut then = Manifold::default();
        if !self.model.manifold(near.pair, &[end(0), end(1)], margin, near.points, &mut then) || then.count == 0 {
            return;
        }
        let deepest = then.points().iter().fold(f64::INFINITY, |least, p| least.min(p.gap));
        let along = |p: &ManifoldPoint| self.h * then.normal.dot(relative(p.point)).abs() < tolerance;
        if deepest.abs() < tolerance && then.normal.dot(found.normal) > SAME_SIDE_COS && then.points().iter().all(along)
        {
            let free = paths.iter().zip(bodies).filter(|(_, b)| self.is_free(*b));
            let (sum, count) = free.fold((Vec3::ZERO, 0), |(sum, n), (path, _)| (sum + path.kin.v * self.h, n + 1));
            let normal = then.normal;
            for p in &mut then.points[..then.count] {
                p.point -= sum / f64::max(count as f64, 1.0);
                p.gap -= self.h * normal.dot(relative(p.point));
            }
            *found = then;
        }
    }

    /// Size of the smaller of two bodies [m].
    fn smaller_size(&self, bodies: [usize; 2]) -> f64 {
        bodies.iter().map(|&b| self.model.bodies[b].size).fold(f64::INFINITY, f64::min)
    }

    /// Contact points of a pair of convex shapes; `memories` and `holds` begin with what it remembers.
    pub(super) fn touch_convex(
        &self,
        near: &Near,
        memories: &[Memory],
        holds: &[Hold],
        found: &Manifold,
        touches: &mut Vec<Touch>,
        grips: &mut Vec<Grip>,
    ) {
        let bodies = self.bodies_of(near);
        let from = touches.len();
        let (normal, points) = (found.normal, found.points());
        let share = 1.0 / points.len() as f64;
        let of_pair = memories.iter().take_while(|m| m.pair == near.pair).count();
        let [path_1, path_2] = bodies.map(|b| &self.paths[b]);
        touches.extend(points.iter().map(|point| {
            let own = memories[..of_pair].iter().find(|m| m.id == point.id);
            let memory = own.copied().unwrap_or_default();
            let closing = normal.dot(path_1.velocity_of(point.point) - path_2.velocity_of(point.point));
            let mut touch = Touch::of(&near.constants, self.h, point, share, closing, 1.0, &memory);
            touch.bound(near.normal_force_max * share);
            (touch.memory.pair, touch.memory.id) = (near.pair, point.id);
            touch.known = own.is_some();
            touch.bodies = bodies;
            touch.varies = !near.restitution_curve.is_empty();
            near.adhere(&mut touch, share);
            touch
        }));
        let grip = self.grip(near, holds, normal, from, &touches[from..], &[]);
        for touch in &mut touches[from..] {
            touch.axes = grip.axes;
            touch.mu = grip.mu[0];
        }
        grips.push(grip);
    }
}
