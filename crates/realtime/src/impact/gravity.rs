//! Gravity inside of the step in which a body strikes: the impact sees what it has done since the step began, and the
//! step goes on from there (docs/theory/realtime.md, "Impacts").

use super::problem::{ImpactPoint, ImpactProblem};
use super::{Clock, TOUCHING_GAP, Touch};
use crate::path::GravityUntilImpact;
use tippe_geometry::Vec3;
use tippe_mechanics::joint::Six;
use tippe_numerics::kkt::GROUND;

/// A body that rebounds slower than this many times the speed that gravity gives in a step may come to rest in it [-]:
/// with twice g h it is still in the air at the end of the step.
pub(super) const REBOUND_STEPS: f64 = 2.0;

/// A body that strikes at the instant `tau` [s] with the acceleration `a` [m/s^2]; `v` is its velocity without that
/// [m/s].
pub(super) struct Falling {
    pub body: u32,
    pub a: Vec3,
    pub tau: f64,
    pub v: Vec3,
}

/// Linear velocity of a body that takes part [m/s].
pub(super) fn linear(u: &[f64], body: u32) -> Vec3 {
    Vec3::from_slice(&u[6 * body as usize + 3..])
}

impl Clock {
    /// True for a body that comes through the air: no impact of the step has moved it, and all it touches throws it
    /// back.
    fn is_in_free_flight(&self, problem: &ImpactProblem, body: u32) -> bool {
        let b = problem.bodies[body as usize];
        let least = REBOUND_STEPS * self.model.gravity_at(self.paths[b].kin.p).length() * self.h;
        let near = TOUCHING_GAP * self.model.bodies[b].size;
        let passes = |s: &ImpactPoint| {
            s.gap > near || self.detected.touches[s.touch as usize].restitution * -s.rate(0, &problem.u) > least
        };
        problem.untouched[body as usize]
            && self.model.bodies[b].mechanism.is_none()
            && problem.points_of(body).all(|k| passes(&problem.points[k]))
    }

    /// By how much gravity makes a contact close faster, of its bodies in free flight [m/s^2].
    pub(super) fn closing_by_gravity(&self, problem: &ImpactProblem, s: &ImpactPoint) -> f64 {
        let of = |side: usize| match s.bodies[side] {
            GROUND => 0.0,
            body if !self.is_in_free_flight(problem, body) => 0.0,
            body => {
                let a = self.model.gravity_at(self.paths[problem.bodies[body as usize]].kin.p);
                -Vec3::from_slice(&s.J[0][side][3..]).dot(a)
            }
        };
        of(0) + of(1)
    }

    /// Bodies in free flight strike at the instant tau, with the speed that gravity has given them until then:
    ///   c tau + a_c tau^2/2 = c now,   c and a_c closing speed and acceleration, now the instant without gravity;   v + a tau.
    /// Others do not: what they touch carries their weight.
    pub(super) fn add_gravity_until_impact(
        &self,
        cluster: &[usize],
        now: f64,
        problem: &mut ImpactProblem,
    ) -> Vec<Falling> {
        let h = self.h;
        let mut falling = Vec::new();
        for &body in &problem.reached {
            if !self.is_in_free_flight(problem, body) {
                continue;
            }
            let b = problem.bodies[body as usize];
            let a = self.model.gravity_at(self.paths[b].kin.p);
            if a == Vec3::ZERO {
                continue;
            }
            let fast = |s: &&ImpactPoint| {
                let t = &self.detected.touches[s.touch as usize];
                s.bodies.contains(&body) && t.restitution * -s.rate(0, &problem.u) > REBOUND_STEPS * a.length() * h
            };
            let points = cluster.iter().map(|&k| &problem.points[k]).filter(fast);
            let Some(s) = points.min_by(|s, other| s.gap.total_cmp(&other.gap)) else { continue };
            let (c, a_c) = (-s.rate(0, &problem.u), self.closing_by_gravity(problem, s));
            let way = c * now + s.gap.max(0.0);
            let root = c * c + 2.0 * a_c * way;
            if root > 0.0 {
                let tau = (2.0 * way / (c + root.sqrt())).min(h);
                falling.push(Falling { body, a, tau, v: linear(&problem.u, body) });
            }
        }
        for &body in &problem.reached {
            problem.untouched[body as usize] = false;
        }
        for f in &falling {
            let v = f.v + f.a * f.tau;
            problem.u[6 * f.body as usize + 3..][..3].copy_from_slice(&[v.x, v.y, v.z]);
        }
        falling
    }

    /// What the path of the step counts twice of gravity, once impacts at `now` have given the bodies new velocities:
    ///   v tau + a tau^2/2 + u' (h - tau) + a (h - tau)^2/2   for   v now + u' (h - now),   at the velocity u' - a tau.
    pub(super) fn take_back_gravity(&self, falling: &[Falling], now: f64, problem: &mut ImpactProblem) {
        for &Falling { body, a, tau, v } in falling {
            let changed = v - linear(&problem.u, body);
            problem.paths[body as usize].gravity =
                GravityUntilImpact { velocity: a * tau, shift: changed * (tau - now) + a * (tau * tau) };
        }
    }

    /// True for a contact whose bodies approach or part fast enough to rebound, and do not meet on their parabolas in
    /// the rest of the step; h u+ ends lower.
    pub(crate) fn passes_over(&self, touch: &Touch, J: &[Six; 2], gap: f64) -> bool {
        if touch.soft || touch.restitution == 0.0 || self.is_linked(touch) {
            return false;
        }
        let rate = |of: &dyn Fn(usize) -> Six| (0..2).map(|s| J[s].dot(&of(touch.bodies[s]))).sum::<f64>();
        let began = rate(&|b| self.paths[b].velocity());
        touch.restitution * began.abs() > REBOUND_STEPS * self.model.gravity_at(touch.point).length() * self.h
            && gap + 0.5 * self.h * (began + rate(&|b| self.paths[b].free_velocity)) > 0.0
    }
}
