//! Contact points between surfaces: the columns of their foundation as rows of the step.
//!
//! Columns are other ones in every step, so what they remember is that of their pair, and the impulse they start from
//! is that of the law. Those of a region that face one way share their friction.

use super::super::Clock;
use super::columns::{Encounter, ImpactThreshold, Side, SurfacePoint};
use super::grip::{Grip, Hold};
use super::near::Near;
use super::touch::{Memory, RESOLVED_ANGLE, Touch};
use super::{Found, LEAST_RESTITUTION};
use tippe_geometry::space::any_orthogonal;
use tippe_geometry::{ManifoldPoint, Mat3, Pose, Vec3};
use tippe_mechanics::contact::surfaces::SurfacePair;
use tippe_mechanics::model::Drive;

/// Cosine between the normals of columns above which they share their friction [-]: 45 degrees apart they are two
/// flanks.
const SAME_FACE_COS: f64 = 0.7;
/// Surfaces that touch have an impact where their columns would push this many times harder than before [-]. With a
/// smaller one, a patch that rolls on strikes with its front; with a larger one, blows on a resting body do not
/// rebound.
const IMPACT_FACTOR: f64 = 4.0;

/// What all columns of a pair have in common.
struct PairOfColumns<'a> {
    near: &'a Near,
    bodies: [usize; 2],
    /// Section of all [m^2].
    area: f64,
    /// Largest closing speed of all now, and since they touched [m/s].
    fastest_now: f64,
    fastest: f64,
    /// True if they touched in the last step, and with which impulse [N s].
    known: bool,
    carried: f64,
    stiffening: f64,
}

impl Clock {
    /// Columns between the surfaces of a pair, at `X_ws` at the beginning of the step, from the instant `now` on [s].
    pub(super) fn find_columns(
        &self,
        now: f64,
        near: &Near,
        surfaces: &SurfacePair,
        X_ws: [Pose; 2],
        margin: f64,
        found: &mut Found,
    ) {
        let bodies = self.bodies_of(near);
        let rest = self.h - now;
        let side = |k: usize| {
            let (path, body) = (&self.paths[bodies[k]], &self.model.bodies[bodies[k]]);
            let (kin, X_ws) = (&path.kin, X_ws[k]);
            let (fall, inverse) = match body.drive {
                Drive::Free => {
                    let turning = kin.R * body.I_c_inverse * kin.R.transpose();
                    (self.model.gravity_at(kin.p) * (rest * rest), (1.0 / body.mass, turning))
                }
                _ => (Vec3::ZERO, (0.0, Mat3::ZERO)),
            };
            Side { path, X_ws, fall, inverse }
        };
        let constants = &near.constants;
        let softness = surfaces.layer() / constants.modulus;
        let speed = constants.rest_speed + self.gravity_on(bodies) * self.h;
        let touching = self.memories_of(near.pair).iter().any(|m| m.normal > 0.0 || near.adheres() && m.normal != 0.0);
        let threshold = ImpactThreshold { softness, speed };
        let encounter = Encounter::new(surfaces, [side(0), side(1)], [now, self.h], touching, margin, threshold);
        found.beyond = encounter.columns(true, &mut found.points);
        // a law that is read at the depth of the beginning needs the columns from there
        let area: f64 = found.points.iter().map(|p| p.area).sum();
        let stiff = |stiffening: f64| {
            stiffening * area * self.h * self.h >= RESOLVED_ANGLE * RESOLVED_ANGLE * constants.mass * softness
        };
        let sure = touching || stiff(1.0);
        found.stiffening = if sure { 1.0 } else { self.stiffening(near, surfaces, X_ws, &found.points) };
        if !stiff(found.stiffening) {
            encounter.columns(false, &mut found.points);
        }
    }

    /// Bodies of a pair.
    pub(super) fn bodies_of(&self, near: &Near) -> [usize; 2] {
        [near.pair.0, near.pair.1].map(|e| self.model.colliders[e as usize].body as usize)
    }

    /// Closing speed of two bodies at a column [m/s].
    fn closing(&self, bodies: [usize; 2], p: &SurfacePoint) -> f64 {
        let [v_1, v_2] = bodies.map(|b| self.paths[b].velocity_of(p.point));
        p.normal.dot(v_1 - v_2)
    }

    /// How many times stiffer surfaces that begin to touch will be where they are deepest than over the columns at hand
    /// [-]: a round or pointed body touches with next to no area. Read where they will be one step after they meet, A,
    /// d and r d are the area there, the depth and its mean:
    ///   A (x/d)^p at depth x,   p = 1/r - 1 (0 for a face, 1 for a ball, 2 for a corner)
    ///   k A r d^2 (D/d)^(p+2)/(p+2) = m V^2/2,   area where deepest A (D/d)^p
    fn stiffening(&self, near: &Near, surfaces: &SurfacePair, X_ws: [Pose; 2], points: &[SurfacePoint]) -> f64 {
        let bodies = self.bodies_of(near);
        let (mut area, mut V, mut gap) = (0.0, 0.0, f64::INFINITY);
        for p in points {
            let [v_1, v_2] = bodies.map(|b| self.paths[b].velocity_of(p.point));
            area += p.area;
            V += p.area * p.normal.dot(v_1 - v_2);
            gap = gap.min(p.gap);
        }
        let (Some(layer), true) = (near.constants.layer, V > 0.0) else { return 1.0 };
        V /= area;
        // surfaces that do not meet in this step may do so in another
        if gap > V * self.h {
            return 1.0;
        }
        let time = self.h + gap.max(0.0) / V;
        let there = [0, 1].map(|s| Pose { position: X_ws[s].position + self.paths[bodies[s]].kin.v * time, ..X_ws[s] });
        let (A, mean, d) = surfaces.extent(&there);
        if A <= 0.0 || mean <= 0.0 {
            return 1.0;
        }
        let r = (mean / d).clamp(1.0 / 3.0, 1.0);
        let p = 1.0 / r - 1.0;
        let work = near.constants.mass * V * V * layer / (2.0 * near.constants.modulus * A * r * d * d);
        (A / area * libm::pow((p + 2.0) * work, p / (p + 2.0))).max(1.0)
    }

    /// Contact points of the columns that were found between two surfaces, in groups that face one way: each has its
    /// own friction.
    pub(super) fn touch_surfaces(
        &self,
        near: &Near,
        holds: &[Hold],
        found: &mut Found,
        touches: &mut Vec<Touch>,
        grips: &mut Vec<Grip>,
    ) {
        let bodies = self.bodies_of(near);
        let points = &mut found.points;
        let before = self.memories_of(near.pair);
        let pair = PairOfColumns {
            near,
            bodies,
            area: points.iter().map(|p| p.area).sum(),
            fastest_now: points.iter().map(|p| self.closing(bodies, p)).fold(0.0, f64::max),
            fastest: before.iter().filter(|m| m.normal > 0.0).fold(0.0, |most, m| f64::max(most, m.fastest)),
            known: before.iter().any(|m| m.normal > 0.0 || near.adheres() && m.normal != 0.0),
            carried: before.iter().map(|m| m.normal.max(0.0)).sum(),
            stiffening: found.stiffening,
        };
        let (first_grip, first_touch) = (grips.len(), touches.len());
        let mut left = points.as_mut_slice();
        while let Some((count, seed)) = gather_face(left) {
            let (group, rest) = left.split_at_mut(count);
            let from = touches.len();
            let normal = self.touch_face(&pair, group, seed, (from - first_touch) as u32, touches);
            let grip = self.grip(near, holds, normal, from, &touches[from..], &grips[first_grip..]);
            touches[from..].iter_mut().for_each(|touch| touch.mu = grip.mu[0]);
            grips.push(grip);
            left = rest;
        }
    }

    /// Contact points of columns that face one way, the first with this id. Returns their mean normal.
    fn touch_face(
        &self,
        pair: &PairOfColumns<'_>,
        group: &[SurfacePoint],
        seed: SurfacePoint,
        first_id: u32,
        touches: &mut Vec<Touch>,
    ) -> Vec3 {
        let PairOfColumns { near, bodies, area, fastest_now, fastest, known, carried, stiffening } = *pair;
        let constants = &near.constants;
        let closing = |p: &SurfacePoint| self.closing(bodies, p);
        let pressed: f64 = group.iter().map(load).sum();
        let weight = |p: &SurfacePoint| if pressed > 0.0 { load(p) } else { p.area };
        let mean = group.iter().map(|p| p.normal * weight(p)).sum::<Vec3>();
        let normal = mean.try_normalize().unwrap_or(seed.normal);
        // a patch that rolls or slides on closes in front and opens behind: an impact would push harder than anything
        // yet
        let later = |p: &SurfacePoint| p.area * (self.h * closing(p) - p.gap).max(0.0);
        let ahead: f64 = group.iter().map(later).sum();
        let approach = match ahead > 0.0 {
            true => group.iter().map(|p| closing(p) * later(p)).sum::<f64>() / ahead,
            // or the speed of the column that comes nearest
            false => {
                let then = |p: &SurfacePoint| p.gap - self.h * closing(p);
                group.iter().min_by(|a, b| then(a).total_cmp(&then(b))).map_or(0.0, closing)
            }
        };
        let modulus = constants.layer.map_or(f64::INFINITY, |layer| constants.modulus / layer);
        let least = IMPACT_FACTOR * (carried + constants.mass * constants.rest_speed);
        // a patch that newly touches while it rolls does so at the speed of its approach, not of its front
        let slowly = !known && approach <= constants.rest_speed + self.gravity_on(bodies) * self.h;
        let smooth = slowly || known && self.h * modulus * ahead < least;
        for (id, p) in (first_id..).zip(group) {
            let point = ManifoldPoint { point: p.point, gap: p.gap, id, area: p.area };
            let memory = Memory { pair: near.pair, id, fastest, normal: f64::from(known), ..Memory::default() };
            let mut touch = Touch::of(constants, self.h, &point, p.area / area, fastest_now, stiffening, &memory);
            touch.memory.normal = self.h * touch.hardness * libm::pow((-p.gap).max(0.0), touch.exponent);
            (touch.known, touch.column, touch.bodies) = (known, true, bodies);
            touch.lands = !known || ahead == 0.0;
            touch.drift = (smooth || p.gap <= 0.0).then(|| approach - closing(p));
            touch.nears = pressed == 0.0;
            touch.bound(near.normal_force_max * p.area / area);
            near.adhere(&mut touch, p.area / area);
            touch.varies = !near.restitution_curve.is_empty();
            // surfaces that do not rebound need an impact that stops them all the same
            let stops = !smooth && touch.limit == f64::INFINITY && (touch.restitution > 0.0 || !touch.soft);
            touch.restitution = if stops { touch.restitution.max(LEAST_RESTITUTION) } else { 0.0 };
            let t1 = any_orthogonal(p.normal);
            touch.axes = [p.normal, t1, p.normal.cross(t1)];
            touches.push(touch);
        }
        normal
    }
}

/// Force of a column over the modulus of its layer [m^3].
fn load(p: &SurfacePoint) -> f64 {
    p.area * (-p.gap).max(0.0)
}

/// Brings the most loaded column of the first region and all that face its way to the front. How many they are, and
/// that one.
fn gather_face(left: &mut [SurfacePoint]) -> Option<(usize, SurfacePoint)> {
    let region = left.first()?.region;
    let of_region = left.iter().filter(|p| p.region == region);
    let seed = of_region.max_by(|a, b| load(a).total_cmp(&load(b))).copied()?;
    let mut count = 0;
    for k in 0..left.len() {
        if left[k].region == region && left[k].normal.dot(seed.normal) > SAME_FACE_COS {
            left[count..=k].rotate_right(1);
            count += 1;
        }
    }
    Some((count, seed))
}
