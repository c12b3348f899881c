//! One impact in micro-time: contacts compress and separate by their elastic laws, with damping and Coulomb friction.
//!
//! A micro-step of dt moves the depths at the velocities at hand, and the forces there change the velocities:
//!   depth += dt c,   P = max(0, K depth^n (1 + b c/c_0)) dt,   P_t = -min(mu P, P_t that stops the pair) v_t/|v_t|.

use super::problem::{ImpactPoint, ImpactProblem};
use super::{Clock, TOUCHING_GAP, is_plastic};
use crate::contacts::{LEAST_RESTITUTION, Touch};
use tippe_mechanics::Ledger;
use tippe_mechanics::cause::Cause;
use tippe_mechanics::contact::normal::exact_damping;
use tippe_numerics::kkt::GROUND;

/// Micro-steps per half period of the shortest contact. The restitution is wrong by about its inverse squared.
const RESOLUTION: f64 = 60.0;
/// Half a period over depth/speed [-]: pi for n = 1, 2.94 for Hertz.
const HALF_PERIOD: f64 = 3.0;
/// Share of the hardness of all columns that those which touch count for at least where they tell the length of
/// micro-steps [-]: fewer would make them too long.
const HARDNESS_MIN: f64 = 1e-6;
/// Most micro-steps of one impact: a bound against endless loops.
const MICRO_STEPS: usize = 200_000;
/// The same where nothing rebounds: rows stop what is left.
const PLASTIC_MICRO_STEPS: usize = 2_000;
/// Micro-steps in a row, at most, in which nothing that touches moves by more than a hundredth of the first speed:
/// bodies that are wedged stay so.
const QUIET_MICRO_STEPS: usize = 60;
/// Micro-steps within which a contact that is apart must touch for the impact to go on.
const AHEAD: f64 = 10.0;

/// Lengths of the micro-steps of one impact.
struct MicroSteps {
    /// Largest closing speed at its beginning [m/s].
    speed: f64,
    /// That of the shortest contact between convex shapes [s].
    longest: f64,
    /// Least mass that a column moves [kg], and hardness of all columns [N/m].
    lightest: f64,
    columns: f64,
    /// Least length where columns are about to touch [s].
    shortest: f64,
    /// The last length in which columns touched [s].
    last: f64,
    /// Time since the beginning, and the most that an impact may take [s].
    lasted: f64,
    most: f64,
}

impl Clock {
    fn touch_of(&self, s: &ImpactPoint) -> &Touch {
        &self.detected.touches[s.touch as usize]
    }

    /// Contact points of one pair: they stand together in a cluster.
    fn are_of_one_pair(&self, i: usize, k: usize) -> bool {
        self.detected.touches[i].memory.pair == self.detected.touches[k].memory.pair
    }

    /// The contacts that strike and those that touch them, directly or through others, compress and separate.
    pub(super) fn integrate_impact(
        &self,
        strikes: &[usize],
        now: f64,
        problem: &mut ImpactProblem,
        ledger: &mut Ledger,
    ) {
        let cluster = self.gather_cluster(strikes, now, problem);
        problem.advance_to(now, self);
        let falling = self.add_gravity_until_impact(&cluster, now, problem);
        for &k in &cluster {
            problem.points[k].yields = problem.points[k].yields_to(&problem.response.inverse);
        }
        let mut steps = self.micro_steps(&cluster, problem);
        self.close_gaps(strikes, &cluster, problem);
        let mut depths: Vec<f64> = Vec::with_capacity(cluster.len());
        for &k in &cluster {
            let s = &mut problem.points[k];
            depths.push((-s.gap).min(0.0));
            (s.fastest, s.gap) = (0.0, 0.0);
        }
        let plastic = cluster.iter().all(|&k| is_plastic(self.touch_of(&problem.points[k])));
        let mut quiet = 0;
        for _ in 0..if plastic { PLASTIC_MICRO_STEPS } else { MICRO_STEPS } {
            for &b in problem.reached.iter() {
                let range = 6 * b as usize..6 * b as usize + 6;
                problem.started[range.clone()].copy_from_slice(&problem.u[range]);
            }
            let Some(dt) = self.next_micro_step(&cluster, &depths, &mut steps, problem) else { break };
            let (busy, moves) = self.compress(&cluster, &mut depths, dt, steps.speed, problem);
            quiet = if moves { 0 } else { quiet + 1 };
            if !busy || quiet > QUIET_MICRO_STEPS {
                break;
            }
            self.damp_and_rub(&cluster, problem);
            push(&cluster, problem);
            book(&cluster, problem, ledger);
        }
        for (depth, &k) in depths.iter().zip(&cluster) {
            problem.points[k].gap = (-depth).max(0.0);
        }
        self.take_back_gravity(&falling, now, problem);
    }

    /// Contact points that strike, and all that hang together with them by touching, in ascending order.
    fn gather_cluster(&self, strikes: &[usize], now: f64, problem: &mut ImpactProblem) -> Vec<usize> {
        let near = |s: &ImpactPoint| {
            let bodies = self.touch_of(s).bodies;
            TOUCHING_GAP * bodies.iter().map(|&b| self.model.bodies[b].size).fold(f64::INFINITY, f64::min)
        };
        for b in problem.reached.drain(..) {
            problem.is_reached[b as usize] = false;
        }
        // body by body
        let mut cluster = strikes.to_vec();
        let (mut seen, mut looked) = (0, 0);
        while seen < cluster.len() {
            for b in problem.points[cluster[seen]].bodies.into_iter().filter(|&b| b != GROUND) {
                problem.reach(b);
            }
            seen += 1;
            while seen == cluster.len() && looked < problem.reached.len() {
                let body = problem.reached[looked] as usize;
                for at in problem.starts[body]..problem.starts[body + 1] {
                    let k = problem.points_of[at as usize] as usize;
                    let s = &mut problem.points[k];
                    s.advance_to(now, &problem.u);
                    if !s.active && s.gap <= near(s) {
                        s.active = true;
                        cluster.push(k);
                    }
                }
                looked += 1;
            }
        }
        // all points of a pair that strikes, those that do not touch yet too: they may before it is over; but no
        // columns that wait beside a patch that newly touches
        cluster.sort_unstable();
        let mut gathered = 0;
        for k in 0..cluster.len() {
            if cluster[k] >= gathered {
                let of_pair = self.points_of_pair(cluster[k]);
                gathered = of_pair.end;
                let grip = problem.grip_of[cluster[k]];
                for other in of_pair {
                    let waits = !self.detected.touches[other].known && problem.grip_of[other] != grip;
                    let s = &mut problem.points[other];
                    if !s.active && !waits && s.gap.is_finite() {
                        s.active = true;
                        cluster.push(other);
                    }
                }
            }
        }
        cluster.sort_unstable();
        cluster
    }

    /// Lengths of micro-steps from half a period of K depth^n at the largest closing speed; that of columns changes
    /// with the number that touch. An impact takes no longer than the step, than gravity needs for the same speed, and
    /// than the columns need for one period.
    fn micro_steps(&self, cluster: &[usize], problem: &ImpactProblem) -> MicroSteps {
        let ImpactProblem { points, u, .. } = problem;
        let speed = cluster.iter().map(|&k| -points[k].rate(0, u)).fold(0.0, f64::max);
        let (mut longest, mut lightest, mut columns) = (f64::INFINITY, f64::INFINITY, 0.0);
        let touch = |k: usize| self.touch_of(&points[k]);
        for group in cluster.chunk_by(|&i, &k| self.are_of_one_pair(i, k) && touch(k).column) {
            let t = touch(group[0]);
            let m = 1.0 / group.iter().map(|&k| points[k].yields[0]).fold(0.0, f64::max);
            let n = t.exponent;
            let hardness: f64 = group.iter().map(|&k| touch(k).hardness).sum();
            if t.column && n == 1.0 {
                lightest = lightest.min(m);
                columns += hardness;
                continue;
            }
            let depth = libm::pow(0.5 * (n + 1.0) * m * speed * speed / hardness, 1.0 / (n + 1.0));
            longest = longest.min(HALF_PERIOD * depth / speed / RESOLUTION);
        }
        let shortest = if columns > 0.0 { HALF_PERIOD * (lightest / columns).sqrt() / RESOLUTION } else { 0.0 };
        let period = if columns > 0.0 { std::f64::consts::TAU * (lightest / columns).sqrt() } else { 0.0 };
        let g = cluster.first().map_or(0.0, |&k| self.model.gravity_at(touch(k).point).length());
        let most = self.h.max(speed / g).max(period);
        MicroSteps { speed, longest, lightest, columns, shortest, last: f64::INFINITY, lasted: 0.0, most }
    }

    /// The first points of each pair that strike touch now, those that gravity brings too.
    fn close_gaps(&self, strikes: &[usize], cluster: &[usize], problem: &mut ImpactProblem) {
        let points = &mut problem.points;
        for of_pair in cluster.chunk_by(|&i, &k| self.are_of_one_pair(i, k)) {
            let first =
                of_pair.iter().filter(|k| strikes.contains(k)).map(|&k| points[k].gap).fold(f64::INFINITY, f64::min);
            if first.is_finite() {
                of_pair.iter().for_each(|&k| points[k].gap = (points[k].gap - first).max(0.0));
            }
        }
    }

    /// Length of the next micro-step [s]; none where the impact is over.
    #[inline]
    fn next_micro_step(
        &self,
        cluster: &[usize],
        depths: &[f64],
        steps: &mut MicroSteps,
        problem: &ImpactProblem,
    ) -> Option<f64> {
        let (mut stiffness, mut first) = (0.0, f64::INFINITY);
        for (depth, &k) in depths.iter().zip(cluster) {
            let s = &problem.points[k];
            let t = self.touch_of(s);
            if !t.column {
                continue;
            }
            if *depth >= 0.0 {
                stiffness += t.hardness;
            } else {
                let closing = -s.rate(0, &problem.u);
                first = first.min(if closing > 0.0 { -depth / closing } else { f64::INFINITY });
            }
        }
        let dt = if stiffness > 0.0 {
            let hardness = stiffness.max(HARDNESS_MIN * steps.columns);
            // the next column to touch is not passed
            steps.last = (HALF_PERIOD * (steps.lightest / hardness).sqrt() / RESOLUTION).min(first.max(steps.shortest));
            steps.last
        } else if first <= AHEAD * steps.last {
            first
        } else {
            f64::INFINITY
        };
        let dt = dt.min(steps.longest);
        steps.lasted += dt;
        // columns of hardly any area hold nothing
        let over = dt.is_infinite() || steps.lasted > steps.most;
        (!over).then_some(dt)
    }

    /// Depths after a micro-step, and the impulses there: elastic along the normal, and that of the damper in the place
    /// of a tangent until those of its pair are known. Whether the impact goes on, and whether anything that touches
    /// moves.
    #[inline]
    fn compress(
        &self,
        cluster: &[usize],
        depths: &mut [f64],
        dt: f64,
        speed: f64,
        problem: &mut ImpactProblem,
    ) -> (bool, bool) {
        let (mut busy, mut moves) = (false, false);
        for (depth, &k) in depths.iter_mut().zip(cluster) {
            let s = &mut problem.points[k];
            let t = &self.detected.touches[s.touch as usize];
            let closing = -s.rate(0, &problem.u);
            *depth += dt * closing;
            s.impulse = [0.0; 3];
            // a contact that does not rebound is over when it closes no more: dampers let it out slowly
            let lasts = !is_plastic(t) || closing > LEAST_RESTITUTION * speed;
            if *depth <= 0.0 {
                s.fastest = 0.0;
                busy |= lasts && closing > 0.0 && *depth + AHEAD * dt * closing > 0.0;
                continue;
            }
            busy |= lasts;
            moves |= closing.abs() > LEAST_RESTITUTION * speed;
            s.fastest = s.fastest.max(closing);
            let elastic = t.hardness * libm::pow(*depth, t.exponent);
            let damping = if t.varies { self.damping_at(t, s.fastest) } else { t.damping };
            let damper = if s.fastest > 0.0 { elastic * damping / s.fastest } else { 0.0 };
            (s.impulse[0], s.impulse[1]) = (elastic * dt, damper * dt);
        }
        (busy, moves)
    }

    /// b of the exact damping of a contact whose restitution depends on the closing speed [m/s], [-].
    fn damping_at(&self, touch: &Touch, speed: f64) -> f64 {
        let near = &self.detected.pairs.near;
        let own = near.binary_search_by_key(&touch.memory.pair, |near| near.pair).ok();
        own.and_then(|k| near[k].restitution_curve.at(speed)).map_or(touch.damping, exact_damping)
    }

    /// Impulses of dampers and friction, pair by pair.
    #[inline]
    fn damp_and_rub(&self, cluster: &[usize], problem: &mut ImpactProblem) {
        let ImpactProblem { points, u, .. } = problem;
        for of_pair in cluster.chunk_by(|&i, &k| self.are_of_one_pair(i, k)) {
            let damped: f64 = of_pair.iter().map(|&k| points[k].impulse[1]).sum();
            let yields = of_pair.iter().map(|&k| points[k].yields[0]).fold(0.0, f64::max);
            // the dampers of a pair take no more than its speed: deep columns that strike anew would be thrown
            let share = 1.0 / (damped * yields).max(1.0);
            for &k in of_pair {
                let s = &mut points[k];
                let lossy = -share * s.impulse[1] * s.rate(0, u);
                (s.impulse[0], s.impulse[1]) = ((s.impulse[0] + lossy).max(0.0), 0.0);
            }
            let pressed: f64 = of_pair.iter().map(|&k| points[k].impulse[0]).sum();
            for &k in of_pair {
                let s = &mut points[k];
                let (mu, P) = (self.detected.touches[s.touch as usize].mu, s.impulse[0]);
                let v = [s.rate(1, u), s.rate(2, u)];
                let size = libm::hypot(v[0], v[1]);
                if mu * P > 0.0 && size > 0.0 {
                    // the points of a pair stop it together, each by its share: if every one did, they would throw it
                    // back
                    let grip = (mu * P).min(P / pressed * size / s.yields[1]) / size;
                    s.impulse[1] = -grip * v[0];
                    s.impulse[2] = -grip * v[1];
                }
            }
        }
    }
}

/// Velocities after the impulses of a micro-step.
#[inline]
fn push(cluster: &[usize], problem: &mut ImpactProblem) {
    let ImpactProblem { points, momenta, response, reached, u, .. } = problem;
    for &k in cluster {
        let s = &points[k];
        for axis in 0..3 {
            if s.impulse[axis] == 0.0 {
                continue;
            }
            for side in (0..2).filter(|&side| s.bodies[side] != GROUND) {
                let p = &mut momenta[6 * s.bodies[side] as usize..][..6];
                for i in 0..6 {
                    p[i] += s.J[axis][side][i] * s.impulse[axis];
                }
            }
        }
    }
    response.apply(reached, momenta, u);
}

/// Sums of the impulses, and the energy that damping and friction took in a micro-step.
#[inline]
fn book(cluster: &[usize], problem: &mut ImpactProblem, ledger: &mut Ledger) {
    let ImpactProblem { points, started, u, .. } = problem;
    for &k in cluster {
        let s = &mut points[k];
        if s.impulse[0] == 0.0 {
            continue;
        }
        for axis in 0..3 {
            s.total[axis] += s.impulse[axis];
        }
        let energy = |axis: usize| s.impulse[axis] * 0.5 * (s.rate(axis, started) + s.rate(axis, u));
        ledger[Cause::ContactDamping] -= energy(0);
        ledger[Cause::Sliding] -= energy(1) + energy(2);
        ledger[Cause::Work] -= (0..3).map(|a| s.impulse[a] * s.given[a]).sum::<f64>();
    }
}
