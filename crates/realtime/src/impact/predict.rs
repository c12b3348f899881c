//! When contact points strike, and at which geometry.

use super::gravity::REBOUND_STEPS;
use super::problem::{ImpactPoint, ImpactProblem};
use super::{Clock, READINGS, SIMULTANEOUS, TOUCHING_GAP, Touch, is_plastic};
use crate::joints::flat;
use tippe_geometry::space::any_orthogonal;
use tippe_geometry::{Manifold, Pose, Quat, Shape, Vec3};
use tippe_mechanics::joint::Six;
use tippe_numerics::kkt::GROUND;

/// Where the two bodies of a contact are at the instant of an impact.
struct Meeting {
    /// The instant, from the beginning of the step [s].
    instant: f64,
    /// {turn, shift} of the bodies until then.
    moved: [Six; 2],
    /// Their centres of mass [m] and orientations then.
    centre: [Vec3; 2],
    turned: [Quat; 2],
}

impl Clock {
    /// Predicts the instants of the groups of these contact points anew.
    pub(super) fn predict_again(&self, problem: &mut ImpactProblem, points: impl IntoIterator<Item = usize>) {
        let mut grips: Vec<u32> = points.into_iter().map(|k| problem.grip_of[k]).collect();
        grips.sort_unstable();
        grips.dedup();
        for grip in grips {
            self.predict_impacts(problem, grip as usize);
        }
    }

    /// Instants at which the contact points of a group close fast enough to rebound.
    ///
    /// Columns of a patch do not strike one by one, for a patch that rolls or slides on closes in front and opens
    /// behind: they do where those that touch when the first one would, close in the mean.
    pub(super) fn predict_impacts(&self, problem: &mut ImpactProblem, grip: usize) {
        let (first, count) = self.detected.grips[grip].touches;
        let range = first..first + count;
        let mut times = std::mem::take(&mut problem.times);
        let (touches, patch) = (&self.detected.touches[range.clone()], &problem.points[range.clone()]);
        self.predict_points(problem, touches, patch, &mut times[range]);
        problem.times = times;
    }

    fn predict_points(&self, problem: &ImpactProblem, touches: &[Touch], patch: &[ImpactPoint], times: &mut [f64]) {
        let mut brought: f64 = 0.0;
        for ((s, t), time) in patch.iter().zip(touches).zip(&mut *times) {
            let speed = -s.rate(0, &problem.u);
            // a contact that does not rebound strikes once
            let over = is_plastic(t) && s.total[0] > 0.0;
            let strikes = t.restitution > 0.0 && speed > t.rest_speed && !over;
            *time = if strikes { (s.gap / speed).max(0.0) } else { f64::INFINITY };
            // gravity may bring it in the step
            let (left, most) = (self.h - s.since, 0.5 * self.h * self.h);
            let lacks = s.gap - speed * left;
            let g = self.model.gravity_at(t.point).length();
            if *time > left
                && t.restitution * speed > REBOUND_STEPS * g * self.h
                && lacks <= most * g
                && lacks <= most * self.closing_by_gravity(problem, s)
            {
                *time = left;
                brought = brought.max(lacks);
            }
        }
        // from its instant on; the contact points of a group, of the same bodies, share it
        let (since, soon) = (patch[0].since, times.iter().copied().fold(f64::INFINITY, f64::min));
        times.iter_mut().for_each(|time| *time += since);
        if !touches[0].column || soon.is_infinite() {
            return;
        }
        let (mut hardness, mut approach) = (0.0, 0.0);
        for (s, t) in patch.iter().zip(touches) {
            let closing = -s.rate(0, &problem.u);
            if s.gap <= closing * soon * (1.0 + SIMULTANEOUS) + brought {
                hardness += t.hardness;
                approach += t.hardness * closing;
            }
        }
        if approach <= touches[0].rest_speed * hardness {
            times.fill(f64::INFINITY);
        }
    }

    /// Reads the pair of a contact point where its bodies will be at the instant at which they meet: true if they touch
    /// there, and impulses act at that geometry; otherwise its gap is corrected. Columns of meshes are carried along,
    /// for they were read where they meet; bodies of mechanisms meet at the geometry of the beginning of the step.
    pub(super) fn locate_impact(&self, problem: &mut ImpactProblem, first: usize, instant: f64) -> bool {
        let touch = &self.detected.touches[problem.points[first].touch as usize];
        if self.is_linked(touch) || problem.points[first].readings >= READINGS {
            return true;
        }
        let meeting = self.meeting(problem, first, instant);
        let elements = [touch.memory.pair.0, touch.memory.pair.1].map(|e| &self.model.colliders[e as usize]);
        if elements.iter().any(|e| matches!(e.shape, Shape::Mesh(_))) {
            self.carry_columns(problem, first, &meeting);
            return true;
        }
        let Meeting { centre, turned, .. } = meeting;
        let pose = [0, 1].map(|s| Pose::new(turned[s], centre[s]).then(&elements[s].X_cs));
        let size = touch.bodies.iter().map(|&b| self.model.bodies[b].size).fold(f64::INFINITY, f64::min);
        let mut found = Manifold::default();
        let points = self.settings.points;
        self.model.manifold(touch.memory.pair, &pose, size, points, &mut found);
        let same = |id: u32| found.points().iter().find(|p| p.id == id);
        if found.points().is_empty() {
            // they pass each other
            (problem.points[first].gap, problem.points[first].is_read) = (f64::INFINITY, true);
            return false;
        }
        let n = found.normal;
        let t1 = any_orthogonal(n);
        let axes = [n, t1, n.cross(t1)];
        let mut gap_then = f64::INFINITY;
        for k in self.points_of_pair(first) {
            let id = self.detected.touches[problem.points[k].touch as usize].memory.id;
            let nearest = || found.points().iter().min_by(|a, b| a.gap.total_cmp(&b.gap));
            let Some(p) = same(id).or_else(|| if k == first { nearest() } else { None }) else { continue };
            self.put(&mut problem.points[k], &problem.u, &meeting, (p.point, axes, p.gap));
            problem.points[k].is_read = true;
            if k == first {
                gap_then = p.gap;
            }
        }
        problem.points[first].readings += 1;
        // the rate of the new geometry leads from the new gap to the same instant: they touch
        let closing = -problem.points[first].rate(0, &problem.u);
        gap_then.abs() <= TOUCHING_GAP * size.max(closing * self.h) || instant >= self.h
    }

    /// Where the bodies of a contact point are at an instant.
    fn meeting(&self, problem: &ImpactProblem, first: usize, instant: f64) -> Meeting {
        let touch = &self.detected.touches[problem.points[first].touch as usize];
        let of = |s: usize| {
            let (path, u) = match problem.points[first].bodies[s] {
                GROUND => (&self.paths[touch.bodies[s]], self.paths[touch.bodies[s]].velocity()),
                k => (&problem.paths[k as usize], problem.velocity(k as usize)),
            };
            let moved = path.displacement_with(instant, u);
            (moved, path.kin.p + moved.linear, path.orientation_with(instant, u))
        };
        let [a, b] = [of(0), of(1)];
        Meeting { instant, moved: [a.0, b.0], centre: [a.1, b.1], turned: [a.2, b.2] }
    }

    /// Puts a contact point where it is at the instant of a meeting, with axes and gap there: arms from where the
    /// bodies are then, so that impulses keep the angular momentum.
    fn put(&self, s: &mut ImpactPoint, u: &[f64], meeting: &Meeting, (point, axes, gap): (Vec3, [Vec3; 3], f64)) {
        let bodies = self.detected.touches[s.touch as usize].bodies;
        (s.point, s.axes, s.given) = (point, axes, [0.0; 3]);
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            for axis in 0..3 {
                let J = Six::new((point - meeting.centre[side]).cross(axes[axis]), axes[axis]) * sign;
                if s.bodies[side] != GROUND {
                    s.J[axis][side] = flat(J);
                } else {
                    s.given[axis] += J.dot(&self.paths[bodies[side]].velocity());
                }
            }
        }
        s.gap = gap - (meeting.instant - s.since) * s.rate(0, u);
    }

    /// Carries the columns of a pair along to where its bodies meet.
    fn carry_columns(&self, problem: &mut ImpactProblem, first: usize, meeting: &Meeting) {
        let ImpactProblem { points, u, .. } = problem;
        let free = || (0..2).filter(|&s| points[first].bodies[s] != GROUND);
        let carried = free().map(|s| meeting.moved[s].linear).sum::<Vec3>() / free().count().max(1) as f64;
        for k in self.points_of_pair(first) {
            let (s, touch) = (&mut points[k], &self.detected.touches[k]);
            let gap = s.gap + (meeting.instant - s.since) * s.rate(0, u);
            self.put(s, u, meeting, (touch.point + carried, touch.axes, gap));
            s.ready = true;
        }
    }
}
