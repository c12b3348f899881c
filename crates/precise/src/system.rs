//! What the integrator sees of an island: rates, the size of an error, increments for the Jacobian.

use super::dynamics::Dynamics;
use super::layout::{Account, BODY_STATES, SPEED_FLOOR, set, vector};
use super::machine::Machine;
use super::pair::SPRING_STATES;
use super::slopes::goes_by_slopes;
use tippe_geometry::Vec3;
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::gibbs_rate;
use tippe_mechanics::model::Model;
use tippe_numerics::{BlockPattern, Jacobian, System};

/// Differences of states on which nothing but contacts that go by their slopes presses, as a share of size and speed [-].
const LARGE: f64 = 1e-5;
/// Rounding of the depth of a flat patch as a share of its place and extent: no error of its springs is told from what this makes of them [-].
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// Global errors gather over many steps: each step is held to this share of the tolerance [-].
pub(super) const STEP_SHARE: f64 = 0.1;

/// Dynamics with the model it belongs to: the system the integrator advances.
pub struct Bound<'a> {
    /// The model.
    pub model: &'a Model,
    /// The island's equations.
    pub dynamics: &'a mut Dynamics,
}

impl System for Bound<'_> {
    fn len(&self) -> usize {
        self.dynamics.length()
    }

    fn quadratures(&self, node: usize) -> std::ops::Range<usize> {
        self.dynamics.integral_starts[node]..self.dynamics.integral_starts[node + 1]
    }

    fn pattern(&self) -> &BlockPattern {
        &self.dynamics.pattern
    }

    fn rates(&mut self, t: f64, y: &[f64], f: &mut [f64]) {
        let model = self.model;
        self.dynamics.locate(model, t, y);
        let d = &mut *self.dynamics;
        d.measure(model, y);
        let rows = d.pattern.rows();
        let accounts = d.accounts;
        f[rows..].fill(0.0);
        let acting = !d.actions.is_empty();
        if acting {
            d.exert(model, t, y, f);
        } else {
            d.machines.iter_mut().for_each(Machine::unload);
        }
        for k in 0..d.bodies.len() {
            if d.link_of[k].is_some() {
                continue;
            }
            let o = d.offset_of[k];
            let (linear, angular) = d.acceleration(model, k, vector(y, o + 9));
            let kin = &d.kinematics[k];
            if d.gone[k] {
                f[o..o + BODY_STATES].fill(0.0);
                continue;
            }
            set(f, o, kin.v);
            set(f, o + 3, gibbs_rate(vector(y, o + 3), kin.w, d.frames[k].rate));
            set(f, o + 6, linear);
            set(f, o + 9, angular);
        }
        d.move_machines(model, t, y, f);
        if acting {
            d.book_elements(model, y, f);
        }
        for &k in &d.general {
            if !d.sprung && d.gaps[k as usize] > 0.0 {
                continue;
            }
            let pair = &d.pairs[k as usize];
            let last = &pair.last;
            if let Some(k) = pair.springs {
                let rates = Dynamics::spring_rates(pair);
                set(f, k, rates.f);
                f[k + 3] = rates.spin;
                set(f, k + 4, rates.roll);
            }
            if accounts == 0 || last.gap > 0.0 {
                continue;
            }
            let start = d.account_start(pair.node);
            let books = &mut f[start..][..accounts];
            for (book, power) in books[Account::Damping as usize..].iter_mut().zip(d.powers(k)) {
                *book += power;
            }
            for side in 0..2 {
                if pair.sides[side] < d.bodies.len() {
                    continue;
                }
                let force = if side == 0 { -last.total } else { last.total };
                for i in 0..3 {
                    books[Account::Impulse as usize + i] -= force[i];
                }
                if d.moving_externals {
                    let kin = &d.kinematics[pair.sides[side]];
                    books[Account::Work as usize] -= force.dot(kin.v) + last.torques[side].dot(kin.w);
                }
            }
        }
    }

    fn error_norm(&mut self, y0: &[f64], y1: &[f64], error: &[f64]) -> f64 {
        self.dynamics.error_norm(self.model, &Step { y0, y1, error })
    }

    fn hold(&mut self, at: Option<(f64, &[f64])>) {
        self.dynamics.hold(self.model, at);
    }

    fn jacobian(&mut self, t: f64, y: &[f64], J: &mut Jacobian) -> bool {
        if self.dynamics.write_slopes(self.model, t, y, J) {
            return true;
        }
        self.dynamics.write_columns(self.model, t, y, J);
        false
    }

    fn writes(&self, node: usize) -> bool {
        self.dynamics.columns.written.get(node).copied().unwrap_or(false)
    }

    fn increments(&mut self, y: &[f64], delta: &mut [f64], central: &mut [bool]) {
        let d = &mut *self.dynamics;
        d.increments_of_bodies(self.model, y, delta, central);
        d.increments_of_states(self.model, y, delta);
        d.increments_of_machines(self.model, y, delta, central);
        d.increments_of_springs(y, delta);
    }
}

/// An attempted step: states at its start and end, and what they are off by.
struct Step<'a> {
    y0: &'a [f64],
    y1: &'a [f64],
    error: &'a [f64],
}

/// The largest share so far of what a step may be off by.
struct Judge {
    /// What a step may be off by, as a share of size and speed [-].
    tolerance: f64,
    /// The largest share [-].
    norm: f64,
    /// Body it belongs to, by local index.
    worst: usize,
}

impl Judge {
    /// Looks at one share, that of body `k`.
    fn see(&mut self, share: f64, k: usize) {
        if share > self.norm {
            self.norm = share;
            self.worst = k;
        }
    }
}

impl Dynamics {
    /// The error of a free body is measured against its size and speed. Where it touches, the error of the gap counts against the depth:
    ///   |(e_p + e_phi x r) . n| / depth,    r from the centre of mass to the contact,
    /// for a flat patch with |e_phi x n| a on top, a half the extent of the smaller solid. That along the contact counts against the size again;
    /// errors of surfaces, which have many normals, and of patches that stick against the depth in all directions.
    fn error_norm(&mut self, model: &Model, step: &Step<'_>) -> f64 {
        let mut judge = Judge { tolerance: STEP_SHARE * self.tolerance, norm: 0.0, worst: self.worst };
        self.find_errors_of_places(model, step.error);
        self.shorten_to_depths_of_balls();
        self.judge_contacts(model, step.error, &mut judge);
        let (share, hardest) = self.judge_states(model, step, &mut judge);
        for (k, e) in self.errors.iter().enumerate() {
            let share = (e.linear.length() / self.lengths[k]).max(e.angular.length() / self.turns[k]) / judge.tolerance;
            judge.see(share, k);
        }
        self.judge_machines(model, step.error, &mut judge);
        self.judge_velocities(model, step, &mut judge);
        self.worst = judge.worst;
        self.worst_state = hardest.filter(|_| share >= judge.norm);
        judge.norm
    }

    /// Errors of place of all bodies; the lengths they count against are their sizes.
    fn find_errors_of_places(&mut self, model: &Model, error: &[f64]) {
        for (k, &body) in self.bodies.iter().enumerate() {
            self.lengths[k] = model.bodies[body as usize].size.max(1e-9);
            self.turns[k] = 1.0;
            if self.link_of[k].is_none() {
                let o = self.offset_of[k];
                self.errors[k] = Six::new(2.0 * vector(error, o + 3), vector(error, o));
            }
        }
        for machine in &mut self.machines {
            machine.displace(model, error, false);
            for (displaced, &k) in machine.displaced.iter().zip(&machine.bodies) {
                self.errors[k] = *displaced;
            }
        }
    }

    /// Errors of balls that touch as simple pairs count against their depths.
    fn shorten_to_depths_of_balls(&mut self) {
        for s in &self.simple {
            let gap = self.gaps[s.pair as usize];
            if gap <= 0.0 {
                for side in s.sides {
                    let length = &mut self.lengths[side as usize];
                    *length = length.min(s.scale.max(-gap));
                }
            }
        }
    }

    /// Errors of the gaps of all other pairs, and of their springs.
    fn judge_contacts(&mut self, model: &Model, error: &[f64], judge: &mut Judge) {
        for &k in &self.general {
            let pair = &self.pairs[k as usize];
            if self.gaps[k as usize] > 0.0 && !self.touching[k as usize] {
                continue;
            }
            let length = pair.scale.max(-pair.last.gap);
            for side in pair.sides.into_iter().filter(|&side| side < self.bodies.len()) {
                if pair.holds_all_ways() {
                    let size = model.bodies[self.bodies[side] as usize].size.max(1e-9);
                    self.lengths[side] = self.lengths[side].min(length);
                    self.turns[side] = self.turns[side].min(length / size);
                } else if pair.last.gap <= 0.0 {
                    let (e, r) = (&self.errors[side], pair.last.point - self.kinematics[side].p);
                    let along = (e.linear + e.angular.cross(r)).dot(pair.last.normal);
                    let rocking = e.angular.cross(pair.last.normal).length() * pair.half_extent();
                    judge.see((along.abs() + rocking) / (length * judge.tolerance), side);
                }
            }
            if let Some(k) = pair.springs {
                let N = pair.last.force.total().max(1e-3 * pair.laws.normal.mass);
                let place = self.kinematics[self.first_of[pair.node]].p.length() + pair.reach();
                let rounding = pair.laws.friction.kappa * pair.laws.friction.patch_stiffness * ROUNDING * place;
                let limit = (judge.tolerance * pair.laws.friction.mu.max(1e-3) * N).max(rounding);
                judge.see(pair.last.friction.gear * vector(error, k).length() / limit, self.first_of[pair.node]);
            }
        }
    }

    /// Errors of the states of the network and of elements; the largest share among them, and whose it is.
    fn judge_states(&self, model: &Model, step: &Step<'_>, judge: &mut Judge) -> (f64, Option<usize>) {
        let mut hardest = (0.0, None);
        for (k, &at) in self.actions.state_at.iter().enumerate().filter(|(_, at)| **at != usize::MAX) {
            let size = step.y0[at].abs().max(step.y1[at].abs()).max(model.states[k].scale);
            let share = step.error[at].abs() / (size * judge.tolerance);
            judge.see(share, judge.worst);
            if share > hardest.0 {
                hardest = (share, Some(k));
            }
        }
        hardest
    }

    /// How far loops are open, and errors of the velocities of bodies that joints hold.
    fn judge_machines(&mut self, model: &Model, error: &[f64], judge: &mut Judge) {
        for machine in &mut self.machines {
            // the projection takes errors across the rows away, all of them where drives leave no freedom: what is open holds the step
            let of = |&k: &usize| model.bodies[self.bodies[k] as usize].size.max(1e-9);
            let size = machine.bodies.iter().map(of).fold(0.0, f64::max);
            judge.see(machine.open(size) / self.tolerance, machine.bodies[0]);
            machine.displace(model, error, true);
            for (e, &k) in machine.displaced.iter().zip(&machine.bodies) {
                let size = model.bodies[self.bodies[k] as usize].size.max(1e-9);
                let kin = &self.kinematics[k];
                let (speed, spin) = (kin.v.length().max(SPEED_FLOOR), kin.w.length().max(SPEED_FLOOR / size));
                judge.see((e.linear.length() / speed).max(e.angular.length() / spin) / judge.tolerance, k);
            }
        }
    }

    /// Errors of the velocities of bodies that hang on nothing. Elements of one cable, and what it holds, count as one body: against the
    /// fastest of them.
    fn judge_velocities(&mut self, model: &Model, step: &Step<'_>, judge: &mut Judge) {
        let size = |from: usize| vector(step.y0, from).length().max(vector(step.y1, from).length());
        self.fastest.fill(SPEED_FLOOR);
        for (k, line) in self.line_of.iter().enumerate() {
            if let (Some(line), None) = (*line, self.link_of[k]) {
                self.fastest[line] = self.fastest[line].max(size(self.offset_of[k] + 6));
            }
        }
        for (k, &body) in self.bodies.iter().enumerate() {
            if self.link_of[k].is_some() {
                continue;
            }
            let o = self.offset_of[k];
            let radius = model.bodies[body as usize].size.max(1e-9);
            let slowest = self.line_of[k].map_or(SPEED_FLOOR, |line| self.fastest[line]);
            let speed = size(o + 6).max(slowest);
            let spin = size(o + 9).max(slowest / radius);
            let (linear, angular) = (vector(step.error, o + 6).length(), vector(step.error, o + 9).length());
            judge.see((linear / speed).max(angular / spin) / judge.tolerance, k);
        }
    }

    /// Length that matters to body `k` of this size where its contacts do not go by slopes, and whether others do [m].
    fn length_of_contacts(&self, k: usize, radius: f64) -> (f64, bool) {
        let (mut length, mut sloped) = (radius, false);
        for &(index, _) in &self.acting[self.acting_starts[k] as usize..self.acting_starts[k + 1] as usize] {
            let pair = &self.pairs[index as usize];
            let gap = self.gaps[index as usize];
            if gap <= 0.0 || pair.memory.touching {
                sloped |= goes_by_slopes(pair);
                if !goes_by_slopes(pair) {
                    length = length.min(pair.scale.max(-gap));
                }
            }
        }
        (length, sloped)
    }

    /// Increments of bodies that hang on nothing; the lengths of all become shares of their sizes.
    fn increments_of_bodies(&mut self, model: &Model, y: &[f64], delta: &mut [f64], central: &mut [bool]) {
        for k in 0..self.bodies.len() {
            let radius = model.bodies[self.bodies[k] as usize].size.max(1e-9);
            let o = self.offset_of[k];
            let (length, sloped) = self.length_of_contacts(k, radius);
            let touches = length < radius;
            // more than one: nothing but contacts that go by their slopes
            self.lengths[k] = if sloped && !touches { f64::INFINITY } else { length / radius };
            if self.link_of[k].is_some() {
                continue;
            }
            let odd = turning_side(vector(y, o));
            let p = vector(y, o).length();
            let v = vector(y, o + 6).length();
            let w = vector(y, o + 9).length();
            // along a contact the slopes of the coordinates must cancel; taken one way they differ by the curvature of the law, and by its
            // kink where a contact that neither closes nor opens begins to do one or the other
            if self.lengths[k] > 1.0 {
                // contacts are linear here, and differences large enough to tell their directions from each other
                central[o..o + BODY_STATES].fill(true);
                delta[o..o + 3].fill(LARGE * radius);
                delta[o + 3..o + 6].fill(LARGE);
                delta[o + 6..o + 9].fill(LARGE * v.max(SPEED_FLOOR));
                delta[o + 9..o + 12].fill(LARGE * w.max(SPEED_FLOOR / radius));
                continue;
            }
            let share = if touches { 1e-3 } else { 3e-5 };
            central[o..o + 3].fill(touches);
            central[o + 6..o + 9].fill(touches);
            for i in 0..3 {
                delta[o + i] = toward((share * length).max(1e-13 * p), y[o + 6 + i], y[o + i]);
                delta[o + 3 + i] = toward((3e-5 * length / radius).max(1e-13), y[o + 9 + i], odd[i]);
                delta[o + 6 + i] = toward((1e-7 * SPEED_FLOOR).max(1e-13 * v), y[o + 6 + i], y[o + i]);
                delta[o + 9 + i] = toward((1e-7 * SPEED_FLOOR / radius).max(1e-13 * w), y[o + 9 + i], odd[i]);
            }
        }
    }

    /// Increments of the states of the network and of elements.
    fn increments_of_states(&self, model: &Model, y: &[f64], delta: &mut [f64]) {
        for (k, &at) in self.actions.state_at.iter().enumerate() {
            if at != usize::MAX {
                delta[at] = 1e-7 * y[at].abs().max(model.states[k].start.abs()).max(model.states[k].scale);
            }
        }
    }

    /// Increments of coordinates and rates of mechanisms.
    fn increments_of_machines(&self, model: &Model, y: &[f64], delta: &mut [f64], central: &mut [bool]) {
        for machine in &self.machines {
            let mechanism = &model.mechanisms[machine.index as usize];
            let n = mechanism.coordinates;
            let touched = machine.bodies.iter().map(|&k| self.lengths[k]).fold(1.0, f64::min);
            let sloped = touched == 1.0 && machine.bodies.iter().any(|&k| self.lengths[k] > 1.0);
            let turn = match touched {
                _ if sloped => LARGE,
                touched if touched < 1.0 => 3e-5 * touched,
                _ => 1e-7,
            };
            central[machine.offset..machine.offset + n].fill(sloped);
            let (q, u) = machine.states(y);
            for (link, &k) in mechanism.links.iter().zip(&machine.bodies) {
                let size = model.bodies[self.bodies[k] as usize].size.max(1e-9);
                for i in 0..link.count {
                    let length = if link.joint.is_rotation(i) { 1.0 } else { size };
                    let i = link.first + i;
                    delta[machine.offset + i] = toward((turn * length).max(1e-13 * q[i].abs()), u[i], q[i]);
                    let speed = (1e-7 * SPEED_FLOOR * length / size).max(1e-7 * u[i].abs());
                    delta[machine.offset + n + i] = toward(speed, u[i], q[i]);
                }
            }
        }
    }

    /// Increments of the springs of contacts.
    fn increments_of_springs(&self, y: &[f64], delta: &mut [f64]) {
        for pair in &self.pairs {
            if let Some(k) = pair.springs {
                if !pair.memory.touching && pair.last.gap > 0.0 {
                    delta[k..k + SPRING_STATES].fill(0.0);
                    continue;
                }
                let N = pair.last.force.total().max(1e-3 * pair.laws.normal.mass);
                let p = self.kinematics[self.first_of[pair.node]].p;
                let odd = turning_side(p);
                let place = [p.x, p.y, p.z, p.x * p.y * p.z, odd.x, odd.y, odd.z];
                for i in 0..7 {
                    let lever = if i < 3 { 1.0 } else { pair.last.radius.max(1e-6) };
                    delta[k + i] = toward(1e-6 * N * lever, y[k + i], place[i]);
                }
            }
        }
    }
}

/// An increment in the direction of motion (or else of the place), so that a mirrored scene has mirrored increments.
pub(super) fn toward(delta: f64, motion: f64, place: f64) -> f64 {
    if motion < 0.0 || (motion == 0.0 && place < 0.0) { -delta } else { delta }
}

/// What [`toward`] takes for the place of an angular velocity or a torque: it changes its sign in a mirror as they do.
pub(super) fn turning_side(p: Vec3) -> Vec3 {
    p.x * p.y * p.z * p
}
