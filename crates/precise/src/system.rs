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

    /// The error of a free body is measured against its size and speed. Where it touches, the error of the gap counts against the depth:
    ///   |(e_p + e_phi x r) . n| / depth,    r from the centre of mass to the contact,
    /// for a flat patch with |e_phi x n| a on top, a half the extent of the smaller solid. That along the contact counts against the size again;
    /// errors of surfaces, which have many normals, and of patches that stick against the depth in all directions.
    fn error_norm(&mut self, y0: &[f64], y1: &[f64], error: &[f64]) -> f64 {
        let d = &mut *self.dynamics;
        let tolerance = STEP_SHARE * d.tolerance;
        let mut norm: f64 = 0.0;
        let mut judge = |share: f64, k: usize, worst: &mut usize| {
            if share > norm {
                norm = share;
                *worst = k;
            }
        };
        for (k, &body) in d.bodies.iter().enumerate() {
            d.lengths[k] = self.model.bodies[body as usize].size.max(1e-9);
            d.turns[k] = 1.0;
            if d.link_of[k].is_none() {
                let o = d.offset_of[k];
                d.errors[k] = Six::new(2.0 * vector(error, o + 3), vector(error, o));
            }
        }
        for machine in &mut d.machines {
            machine.displace(self.model, error, false);
            for (displaced, &k) in machine.displaced.iter().zip(&machine.bodies) {
                d.errors[k] = *displaced;
            }
        }
        for s in &d.simple {
            let gap = d.gaps[s.pair as usize];
            if gap <= 0.0 {
                for side in s.sides {
                    let length = &mut d.lengths[side as usize];
                    *length = length.min(s.scale.max(-gap));
                }
            }
        }
        for &k in &d.general {
            let pair = &d.pairs[k as usize];
            if d.gaps[k as usize] > 0.0 && !d.touching[k as usize] {
                continue;
            }
            let length = pair.scale.max(-pair.last.gap);
            for side in pair.sides.into_iter().filter(|&side| side < d.bodies.len()) {
                if pair.holds_all_ways() {
                    let size = self.model.bodies[d.bodies[side] as usize].size.max(1e-9);
                    d.lengths[side] = d.lengths[side].min(length);
                    d.turns[side] = d.turns[side].min(length / size);
                } else if pair.last.gap <= 0.0 {
                    let (e, r) = (&d.errors[side], pair.last.point - d.kinematics[side].p);
                    let along = (e.linear + e.angular.cross(r)).dot(pair.last.normal);
                    let rocking = e.angular.cross(pair.last.normal).length() * pair.half_extent();
                    judge((along.abs() + rocking) / (length * tolerance), side, &mut d.worst);
                }
            }
            if let Some(k) = pair.springs {
                let N = pair.last.force.total().max(1e-3 * pair.laws.normal.mass);
                let place = d.kinematics[d.first_of[pair.node]].p.length() + pair.reach();
                let rounding = pair.laws.friction.kappa * pair.laws.friction.patch_stiffness * ROUNDING * place;
                let limit = (tolerance * pair.laws.friction.mu.max(1e-3) * N).max(rounding);
                let share = pair.last.friction.gear * vector(error, k).length() / limit;
                judge(share, d.first_of[pair.node], &mut d.worst);
            }
        }
        let mut hardest = (0.0, None);
        for (k, &at) in d.actions.state_at.iter().enumerate().filter(|(_, at)| **at != usize::MAX) {
            let size = y0[at].abs().max(y1[at].abs()).max(self.model.states[k].scale);
            let worst = d.worst;
            let share = error[at].abs() / (size * tolerance);
            judge(share, worst, &mut d.worst);
            if share > hardest.0 {
                hardest = (share, Some(k));
            }
        }
        for (k, e) in d.errors.iter().enumerate() {
            let share = (e.linear.length() / d.lengths[k]).max(e.angular.length() / d.turns[k]) / tolerance;
            judge(share, k, &mut d.worst);
        }
        for machine in &mut d.machines {
            // the projection takes errors across the rows away, all of them where drives leave no freedom: what is open holds the step
            let of = |&k: &usize| self.model.bodies[d.bodies[k] as usize].size.max(1e-9);
            let size = machine.bodies.iter().map(of).fold(0.0, f64::max);
            judge(machine.open(size) / d.tolerance, machine.bodies[0], &mut d.worst);
            machine.displace(self.model, error, true);
            for (e, &k) in machine.displaced.iter().zip(&machine.bodies) {
                let size = self.model.bodies[d.bodies[k] as usize].size.max(1e-9);
                let kin = &d.kinematics[k];
                let (speed, spin) = (kin.v.length().max(SPEED_FLOOR), kin.w.length().max(SPEED_FLOOR / size));
                let share = (e.linear.length() / speed).max(e.angular.length() / spin) / tolerance;
                judge(share, k, &mut d.worst);
            }
        }
        for (k, &body) in d.bodies.iter().enumerate() {
            if d.link_of[k].is_some() {
                continue;
            }
            let o = d.offset_of[k];
            let radius = self.model.bodies[body as usize].size.max(1e-9);
            let size = |from: usize| vector(y0, from).length().max(vector(y1, from).length());
            let speed = size(o + 6).max(SPEED_FLOOR);
            let spin = size(o + 9).max(SPEED_FLOOR / radius);
            let share = (vector(error, o + 6).length() / speed).max(vector(error, o + 9).length() / spin) / tolerance;
            judge(share, k, &mut d.worst);
        }
        d.worst_state = hardest.1.filter(|_| hardest.0 >= norm);
        norm
    }

    fn hold(&mut self, at: Option<(f64, &[f64])>) {
        self.dynamics.hold(self.model, at);
    }

    fn jacobian(&mut self, t: f64, y: &[f64], J: &mut Jacobian) -> bool {
        self.dynamics.write_slopes(self.model, t, y, J)
    }

    fn increments(&mut self, y: &[f64], delta: &mut [f64], central: &mut [bool]) {
        let d = &mut *self.dynamics;
        for (k, &body) in d.bodies.iter().enumerate() {
            let radius = self.model.bodies[body as usize].size.max(1e-9);
            let o = d.offset_of[k];
            let mut length = radius;
            let mut sloped = false;
            for &(index, _) in &d.acting[d.acting_starts[k] as usize..d.acting_starts[k + 1] as usize] {
                let pair = &d.pairs[index as usize];
                let gap = d.gaps[index as usize];
                if gap <= 0.0 || pair.memory.touching {
                    sloped |= goes_by_slopes(pair);
                    if !goes_by_slopes(pair) {
                        length = length.min(pair.scale.max(-gap));
                    }
                }
            }
            let touches = length < radius;
            // more than one: nothing but contacts that go by their slopes
            d.lengths[k] = if sloped && !touches { f64::INFINITY } else { length / radius };
            if d.link_of[k].is_some() {
                continue;
            }
            let odd = turning_side(vector(y, o));
            let p = vector(y, o).length();
            let v = vector(y, o + 6).length();
            let w = vector(y, o + 9).length();
            // along a contact the slopes of the coordinates must cancel; taken one way they differ by the curvature of the law, and by its
            // kink where a contact that neither closes nor opens begins to do one or the other
            if d.lengths[k] > 1.0 {
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
        for (k, &at) in d.actions.state_at.iter().enumerate() {
            if at != usize::MAX {
                delta[at] = 1e-7 * y[at].abs().max(self.model.states[k].start.abs()).max(self.model.states[k].scale);
            }
        }
        for machine in &d.machines {
            let mechanism = &self.model.mechanisms[machine.index as usize];
            let n = mechanism.coordinates;
            let touched = machine.bodies.iter().map(|&k| d.lengths[k]).fold(1.0, f64::min);
            let sloped = touched == 1.0 && machine.bodies.iter().any(|&k| d.lengths[k] > 1.0);
            let turn = match touched {
                _ if sloped => LARGE,
                touched if touched < 1.0 => 3e-5 * touched,
                _ => 1e-7,
            };
            central[machine.offset..machine.offset + n].fill(sloped);
            let (q, u) = machine.states(y);
            for (link, &k) in mechanism.links.iter().zip(&machine.bodies) {
                let size = self.model.bodies[d.bodies[k] as usize].size.max(1e-9);
                for i in 0..link.count {
                    let length = if link.joint.is_rotation(i) { 1.0 } else { size };
                    let i = link.first + i;
                    delta[machine.offset + i] = toward((turn * length).max(1e-13 * q[i].abs()), u[i], q[i]);
                    let speed = (1e-7 * SPEED_FLOOR * length / size).max(1e-7 * u[i].abs());
                    delta[machine.offset + n + i] = toward(speed, u[i], q[i]);
                }
            }
        }
        for pair in &d.pairs {
            if let Some(k) = pair.springs {
                if !pair.memory.touching && pair.last.gap > 0.0 {
                    delta[k..k + SPRING_STATES].fill(0.0);
                    continue;
                }
                let N = pair.last.force.total().max(1e-3 * pair.laws.normal.mass);
                let p = d.kinematics[d.first_of[pair.node]].p;
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
fn toward(delta: f64, motion: f64, place: f64) -> f64 {
    if motion < 0.0 || (motion == 0.0 && place < 0.0) { -delta } else { delta }
}

/// What [`toward`] takes for the place of an angular velocity or a torque: it changes its sign in a mirror as they do.
fn turning_side(p: Vec3) -> Vec3 {
    p.x * p.y * p.z * p
}
