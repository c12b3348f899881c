//! Positions and velocities at the end of the step, from the solution of its rows:   q+ = q + h u+.

use super::Clock;
use super::contacts::RADIUS_MAX;
use super::rates::{dot, rate_with};
use super::rows::Owner;
use tippe_geometry::{Shape, Vec3};
use tippe_mechanics::joint::Six;
use tippe_mechanics::mechanism::Parent;
use tippe_mechanics::model::{Drive, kinetic};
use tippe_numerics::kkt::GROUND;

/// A body may pass through others if it moves this much farther than contacts were looked for, as a share of its size
/// [-].
const UNSEEN_TRAVEL: f64 = 0.02;
/// Speed, of the centre of mass and of the rim, below which a body is at rest [m/s].
const REST_SPEED: f64 = 1e-4;
/// Bodies slide where they move at most this share of their speed across what they touch [-], which is 0.06 degrees off its
/// surface: what lands, lifts off or turns with a curved surface within the step is above it.
const ACROSS: f64 = 1e-3;
/// Turn that rows give a slender body in a step above which a warning tells that its orientation is uncertain [rad].
const UNCERTAIN_TURN: f64 = 0.1;
/// Energy that steps of taut chains may make of nothing, as a share of the largest kinetic energy [-]. With less,
/// chains that swing freely are slowed down; with more, they visibly gain height.
const CHAIN_ENERGY: f64 = 0.005;

/// The solution of a step: `integrate` writes.
#[derive(Debug)]
pub struct Solved {
    /// Velocities {w, v} at the end of the step as solved, before bodies of mechanisms are placed anew.
    pub velocity: Vec<Six>,
    /// Mean of the velocities at the beginning of the step and of the solved ones.
    pub mean: Vec<Six>,
    /// Whether an impulse of a row acted on a body.
    pub has_impulse: Vec<bool>,
}

impl Solved {
    /// For this many bodies.
    pub fn new(bodies: usize) -> Solved {
        Solved { velocity: vec![Six::ZERO; bodies], mean: vec![Six::ZERO; bodies], has_impulse: vec![false; bodies] }
    }
}

impl Clock {
    /// Positions at the end of the step, and what contacts remember.
    pub(super) fn integrate(&mut self) {
        self.open_bending();
        let mut velocity = std::mem::take(&mut self.solved.velocity);
        velocity.clear();
        velocity.extend(self.paths.iter().map(|path| path.free_velocity_for_rows()));
        self.solved.has_impulse.fill(false);
        self.read_solution(&mut velocity);
        self.follow_leaders(&mut velocity);
        self.find_sliders(&velocity);
        for b in 0..self.model.bodies.len() {
            let body = &self.model.bodies[b];
            if !self.is_free(b) || body.mechanism.is_some() {
                continue;
            }
            let (path, u) = (&self.paths[b], velocity[b]);
            self.state.bodies[b] = path.end(body, u, self.solved.has_impulse[b]);
            if path.is_slender() && self.shown.tally.whirl.is_none() {
                let turn = (u.angular - path.free_velocity_for_rows().angular).length() * self.h;
                self.shown.tally.whirl = (turn > UNCERTAIN_TURN).then_some((self.state.time, b, turn));
            }
        }
        self.place_led(&velocity);
        for k in 0..self.machines.len() {
            self.displace_coordinates(k);
            let bodies = &self.model.mechanisms[k].links;
            let solved = bodies.iter().any(|l| self.solved.has_impulse[l.body as usize]);
            self.read_reactions(k);
            self.read_modes(k);
            self.integrate_machine(k, solved, &velocity);
        }
        self.break_joints();
        self.remember(&velocity);
        self.count_rest(&velocity);
        self.state.steps += 1;
        self.state.time = self.state.steps as f64 * self.h;
        for k in 0..self.machines.len() {
            self.place_machine(k);
            self.restrain(k, &velocity);
        }
        self.solved.velocity = velocity;
        self.advance_states();
    }

    /// Velocities of the bodies from the solutions of the partitions, and impulses into the rows.
    fn read_solution(&mut self, velocity: &mut [Six]) {
        let six = |x: &[f64]| Six::new(Vec3::new(x[0], x[1], x[2]), Vec3::new(x[3], x[4], x[5]));
        for partition in self.partitions.iter().filter(|p| p.asleep) {
            for &b in &partition.bodies {
                self.paths[b as usize].freeze();
                velocity[b as usize] = Six::ZERO;
            }
            for &m in &partition.machines {
                self.machines[m as usize].freeze(&mut self.state.machines[m as usize]);
            }
        }
        for partition in self.partitions.iter_mut().filter(|p| p.active) {
            for (k, &b) in partition.bodies.iter().enumerate() {
                velocity[b as usize] = six(&partition.problem.u[6 * k..6 * k + 6]);
            }
            if partition.swept {
                for (k, &b) in partition.bodies.iter().enumerate() {
                    self.paths[b as usize].sweep(six(&partition.moved[6 * k..6 * k + 6]), velocity[b as usize]);
                }
            }
            let pushes = partition.give_back(&mut self.rows);
            if pushes || !partition.problem.ties.is_empty() {
                for &b in &partition.bodies {
                    self.solved.has_impulse[b as usize] = true;
                }
            }
        }
    }

    /// Bodies that slide or roll all through the step, along what they touch and not across it, go as far as their mean
    /// velocity takes them in the direction in which they move, if all that touch each other do and no rope or joint holds them: at the velocity of the end,
    /// with which contacts close, ways would be wrong by h (u+ - u)/2 in each step.
    pub(super) fn find_sliders(&mut self, velocity: &[Six]) {
        for p in 0..self.partitions.len() {
            let partition = &self.partitions[p];
            let free = |&b: &u32| {
                let path = &self.paths[b as usize];
                // without an impulse its path is a parabola already
                self.solved.has_impulse[b as usize] && !path.sprung && !path.struck && !path.is_slender()
            };
            let slides = partition.active
                && !partition.swept
                && !self.rows.seen
                && partition.machines.is_empty()
                && partition.problem.ties.is_empty()
                && partition.bodies.iter().all(free)
                && partition.rows.iter().all(|&k| self.slides(k as usize, velocity));
            if slides {
                for &b in &self.partitions[p].bodies {
                    let (b, radius) = (b as usize, self.model.bodies[b as usize].radius.min(RADIUS_MAX));
                    self.paths[b].slow_down(velocity[b], REST_SPEED, REST_SPEED / radius);
                }
            }
        }
    }

    /// True if a row is of a contact whose bodies slide or roll.
    fn slides(&self, k: usize, velocity: &[Six]) -> bool {
        let row = &self.rows.rows[k];
        match self.rows.owners[k] {
            Owner::Normal(_) => {}
            owner => return owner.is_friction(),
        }
        let [start, end] = [rate_with(row, |b| self.paths[b].velocity()), rate_with(row, |b| velocity[b])];
        let speed = |b: usize| self.paths[b].velocity().linear.length().min(velocity[b].linear.length());
        let fastest = row.bodies.iter().filter(|&&b| b != GROUND).map(|&b| speed(b as usize)).fold(0.0, f64::max);
        fastest > REST_SPEED && start.abs().max(end.abs()) <= ACROSS * fastest
    }

    /// Euler steps of a taut chain may make energy of nothing where it goes slack and taut again. What they made so
    /// far,
    ///   sum of   T+ - T0 - (V0 - V+) - sum lambda J (u+ + u0)/2 - h f (u+ + u0)/2,
    /// may reach a small share of the largest kinetic energy; the rates give back what is more. It is booked as the
    /// step's own.
    fn restrain(&mut self, k: usize, velocity: &[Six]) {
        let (model, machine) = (&self.model.clone(), &self.machines[k]);
        let mechanism = &model.mechanisms[k];
        let driven = machine.given.iter().any(Option::is_some)
            || machine.tau.iter().any(|tau| *tau != 0.0)
            || mechanism.links.iter().any(|link| match link.parent {
                Parent::Body(b) => model.bodies[b as usize].drive != Drive::Fixed,
                _ => false,
            });
        if machine.smooth || driven || mechanism.bends() {
            return;
        }
        let mean = |b: usize| (velocity[b] + self.paths[b].velocity()) * 0.5;
        let (mut before, mut after, mut put_in) = (0.0, 0.0, 0.0);
        for (link, now) in mechanism.links.iter().zip(&machine.kinematics) {
            let b = link.body as usize;
            let (body, kin) = (&model.bodies[b], &self.paths[b].kin);
            before += kinetic(body, kin);
            after += kinetic(body, now);
            put_in += body.mass * (model.potential_at(kin.p) - model.potential_at(now.p));
            put_in += self.h * self.loads[b].dot(&mean(b));
        }
        for row in &self.rows.rows {
            for s in (0..2).filter(|&s| row.bodies[s] != GROUND) {
                let b = row.bodies[s] as usize;
                if model.bodies[b].mechanism.is_some_and(|(own, _)| own as usize == k) {
                    put_in += row.lambda * dot(&row.J[s], mean(b));
                }
            }
        }
        for tie in &self.rows.ties {
            for end in tie.ends.of(&self.rows.ends) {
                let b = end.body as usize;
                if model.bodies[b].mechanism.is_some_and(|(own, _)| own as usize == k) {
                    put_in += tie.lambda[0] * dot(&end.row(0), mean(b));
                }
            }
        }
        self.state.restraint.resize(self.machines.len(), [0.0; 2]);
        let [made, largest] = &mut self.state.restraint[k];
        *largest = largest.max(before);
        *made += after - before - put_in;
        let excess = (*made - CHAIN_ENERGY * *largest).min(after);
        if excess > 0.0 {
            *made -= excess;
            let share = (1.0 - excess / after).sqrt();
            self.state.machines[k].u.iter_mut().for_each(|u| *u *= share);
            self.place_machine(k);
        }
    }

    /// Counts steps at rest, and notes bodies too fast for the step.
    fn count_rest(&mut self, velocity: &[Six]) {
        for (b, u) in velocity.iter().enumerate() {
            let body = &self.model.bodies[b];
            if !self.is_free(b) {
                continue;
            }
            let reach = body.radius.min(RADIUS_MAX);
            let speed = u.linear.length() + u.angular.length() * reach;
            self.state.still[b] = if speed < REST_SPEED { self.state.still[b].saturating_add(1) } else { 0 };
            // contacts are looked for before it is known what pushes the body in this step
            let mesh = |e: &usize| matches!(self.model.colliders[*e].shape, Shape::Mesh(_));
            if self.shown.tally.blind.is_none()
                && let Some(e) = body.colliders.clone().find(mesh)
                && let Some(&looked) = self.detected.pairs.margins().get(e)
                && speed * self.h > looked + UNSEEN_TRAVEL * body.size
            {
                self.shown.tally.blind = Some((self.state.time, b, [speed * self.h, looked]));
            }
            if u.linear.length() * self.h > body.size && self.shown.tally.fast.is_none() && !body.colliders.is_empty() {
                self.shown.tally.fast = Some((self.state.time, b, u.linear.length() * self.h));
            }
        }
    }

    /// What the exact rows of the solution add to the reactions of joints.
    fn read_reactions(&mut self, k: usize) {
        self.machines[k].added.fill(Six::ZERO);
        for partition in self.partitions.iter().filter(|p| p.active) {
            for (tie, (machine, slot, wrench)) in partition.problem.ties.iter().zip(&partition.owners) {
                if *machine as usize == k
                    && let Some(added) = self.machines[k].added.get_mut(*slot as usize)
                {
                    *added = Six::ZERO;
                    for r in 0..tie.count {
                        *added = *added + wrench[r] * (tie.lambda[r] / self.h);
                    }
                }
            }
        }
    }
}
