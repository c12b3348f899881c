//! Impacts, in their own phase: touching bodies are integrated in micro-time with the elastic laws of their contacts,
//!   M du = J^T dP,   dP = (K depth^n (1 + b c/c_0)) dt along the normal,   |dP_t| <= mu dP_n,
//! c and c_0 the closing speed and its largest value, at the geometry of the instant at which they meet, until all
//! separate; the rows of the step then see no restitution.
//!
//! One simultaneous solution with Newton's restitution gets a row of touching balls wrong: which ball moves on depends
//! on the order in which contacts are compressed, so that is resolved. Between impacts of one step bodies move freely;
//! what gravity does to them meanwhile is in `impact/gravity.rs`.

mod gravity;
mod integrate;
mod mechanism;
mod predict;
mod problem;

use super::Clock;
use super::contacts::{LEAST_RESTITUTION, Touch};
use problem::ImpactProblem;
use tippe_geometry::Vec3;
use tippe_mechanics::Ledger;
use tippe_mechanics::cause::Cause;
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::model::kinetic;

/// Impacts one after the other in one step, at most, per contact. A ball that comes to rest in a corner needs some
/// tens.
const IMPACTS_PER_CONTACT: usize = 64;
/// Most searches for contacts after impacts in one step; bodies that would be struck later are stopped by rows.
const ROUNDS: usize = 8;
/// Gap below which shapes touch, as a share of the size of their bodies [-]: above rounding, below any deformation.
const TOUCHING_GAP: f64 = 1e-9;
/// Impacts within this share of a step happen at once [-]: above rounding, so that a mirrored scene stays mirrored.
const SIMULTANEOUS: f64 = 1e-12;
/// Most readings of the geometry of one impact until its instant is found.
const READINGS: u8 = 12;

/// An impact at one contact point.
#[derive(Clone, Copy, Debug)]
pub struct Impact {
    /// The two elements.
    pub pair: (u32, u32),
    /// Their bodies.
    pub bodies: [usize; 2],
    /// Where [m].
    pub point: Vec3,
    /// Unit normal from 1 to 2.
    pub normal: Vec3,
    /// Impulse on body 2, resolved in world [N s].
    pub impulse: Vec3,
}

/// Impacts of a step: `strike` writes.
#[derive(Debug, Default)]
pub struct Struck {
    /// The impacts, round by round.
    pub impacts: Vec<Impact>,
    /// The books before the step moved anything.
    pub ledger_at_start: Ledger,
}

/// True if a contact does not rebound: b of `LEAST_RESTITUTION` is just below its inverse.
fn is_plastic(touch: &Touch) -> bool {
    touch.damping > 0.5 / LEAST_RESTITUTION
}

impl Clock {
    /// Impacts of the step: velocities jump, and paths bend.
    pub(super) fn strike(&mut self) {
        self.struck.impacts.clear();
        self.struck.ledger_at_start = self.state.ledger;
        let began = self.kinetic_energy();
        let mut now = 0.0;
        // bodies that were struck may reach others: contacts are looked for again
        for round in 0..ROUNDS {
            if !self.impacts_ahead(now) {
                break;
            }
            let impacts = self.struck.impacts.len();
            now = self.strike_round(now);
            if self.struck.impacts.len() == impacts {
                break;
            }
            if round + 1 < ROUNDS {
                self.detect(now);
            }
        }
        self.paths.iter_mut().for_each(|path| path.end_impacts(now));
        if !self.struck.impacts.is_empty() {
            // slender bodies have another energy in the orientation that an impact saw than in the last one
            let (books, now) = (&self.struck.ledger_at_start, &self.state.ledger);
            let lost =
                now[Cause::ContactDamping] - books[Cause::ContactDamping] + now[Cause::Sliding] - books[Cause::Sliding];
            let given = now[Cause::Work] - books[Cause::Work];
            self.state.ledger[Cause::Integration] -= self.kinetic_energy() - began + lost - given;
        }
        for k in 0..self.machines.len() {
            self.strike_machine(k);
        }
    }

    /// Kinetic energy of all bodies that forces move, as impacts left them [J].
    fn kinetic_energy(&self) -> f64 {
        let free = (0..self.paths.len()).filter(|&b| self.is_free(b));
        free.map(|b| {
            let path = &self.paths[b];
            kinetic(&self.model.bodies[b], &Kinematics { R: path.orientation_after_impacts(), ..path.kin })
        })
        .sum()
    }

    /// True if two bodies meet in the rest of the step after the instant `now` fast enough to rebound.
    fn impacts_ahead(&self, now: f64) -> bool {
        self.detected.rebounds
            && self.detected.touches.iter().filter(|t| t.on && t.restitution > 0.0).any(|t| {
                let at = |b: usize| self.paths[b].velocity_of(t.point);
                let speed = t.axes[0].dot(at(t.bodies[0]) - at(t.bodies[1]));
                let fall = 0.5 * self.model.gravity_at(t.point).length() * self.h * self.h;
                speed > t.rest_speed && t.gap + self.gap_change(t, now) <= speed * (self.h - now) + fall
            })
    }

    /// What the paths of its bodies until `t` add to the gap of a contact point [m].
    fn gap_change(&self, touch: &Touch, t: f64) -> f64 {
        let along = |s: usize| {
            let b = touch.bodies[s];
            self.lever(b, touch.point, touch.axes[0], s).dot(&self.paths[b].displacement(t))
        };
        along(0) + along(1)
    }

    /// Impacts between the contacts at hand, from the instant `start` of the step on. Returns the time of the last [s].
    fn strike_round(&mut self, start: f64) -> f64 {
        let mut problem = self.build_impact_problem(start);
        let mut ledger = self.state.ledger;
        let now = self.integrate_impacts(start, &mut problem, &mut ledger);
        self.state.ledger = ledger;
        problem.reached = (0..problem.bodies.len() as u32).collect();
        for b in 0..problem.bodies.len() {
            if !problem.paths[b].struck && problem.velocity(b) == problem.paths[b].velocity() {
                problem.paths[b].forget_rotation();
            }
        }
        problem.advance_to(now, self);
        if problem.points.iter().all(|s| s.total[0] == 0.0) {
            self.clear(&problem);
        }
        for s in problem.points.iter().filter(|s| s.total[0] > 0.0) {
            let t = &self.detected.touches[s.touch as usize];
            let impulse = (0..3).map(|a| s.axes[a] * s.total[a]).sum::<Vec3>();
            self.struck.impacts.push(Impact {
                pair: t.memory.pair,
                point: s.point,
                normal: s.axes[0],
                bodies: t.bodies,
                impulse,
            });
        }
        let mut takes_part = vec![false; self.paths.len()];
        for (k, &b) in problem.bodies.iter().enumerate() {
            takes_part[b] = true;
            self.paths[b].kick(&problem.paths[k], problem.velocity(k));
        }
        for (path, takes_part) in self.paths.iter_mut().zip(takes_part) {
            if path.struck && !takes_part {
                path.pass_impacts(now);
            }
        }
        now
    }

    /// Where no impact came, contact points that were read keep what the paths of their bodies say of the end of the step.
    fn clear(&mut self, problem: &ImpactProblem) {
        for s in problem.points.iter().filter(|s| s.is_read) {
            let touch = &mut self.detected.touches[s.touch as usize];
            let size = touch.bodies.iter().map(|&b| self.model.bodies[b].size).fold(f64::INFINITY, f64::min);
            touch.clears = Some((s.gap + (self.h - s.since) * s.rate(0, &problem.u)).min(size));
        }
    }

    /// Impacts in the order of their instants, until the end of the step. Returns the time of the last [s].
    fn integrate_impacts(&self, start: f64, problem: &mut ImpactProblem, ledger: &mut Ledger) -> f64 {
        let h = self.h;
        let mut now = start;
        for grip in 0..self.detected.grips.len() {
            self.predict_impacts(problem, grip);
        }
        for _ in 0..(IMPACTS_PER_CONTACT * problem.points.len() * READINGS as usize) {
            // those of one instant go together, so that a mirrored scene stays mirrored
            let time = problem.times.iter().copied().fold(f64::INFINITY, f64::min);
            if time > h {
                break;
            }
            let soon = time + SIMULTANEOUS * h;
            let next: Vec<usize> = (0..problem.times.len()).filter(|&k| problem.times[k] <= soon).collect();
            let mut sought = false;
            for &k in next.iter() {
                if !problem.points[k].ready {
                    let instant = problem.times[k];
                    problem.points[k].ready = self.locate_impact(problem, k, instant);
                    sought = true;
                }
            }
            if sought {
                self.predict_again(problem, next.iter().copied());
                continue;
            }
            now = time.max(now);
            next.iter().for_each(|&k| problem.points[k].active = true);
            self.integrate_impact(&next, now, problem, ledger);
            let moved: Vec<usize> = problem.reached.iter().flat_map(|&b| problem.points_of(b)).collect();
            for &k in &moved {
                let s = &mut problem.points[k];
                (s.active, s.readings, s.ready) = (false, 0, false);
            }
            self.predict_again(problem, moved);
        }
        now
    }

    /// The contact points of a pair, which stand together.
    fn points_of_pair(&self, touch: usize) -> std::ops::Range<usize> {
        let pair = self.detected.touches[touch].memory.pair;
        let same = |t: &&Touch| t.memory.pair == pair;
        let from = touch - self.detected.touches[..touch].iter().rev().take_while(same).count();
        from..touch + self.detected.touches[touch..].iter().take_while(same).count()
    }

    /// True for a contact of a body that joints hold.
    pub(super) fn is_linked(&self, touch: &Touch) -> bool {
        touch.bodies.iter().any(|&b| self.model.bodies[b].mechanism.is_some())
    }
}
