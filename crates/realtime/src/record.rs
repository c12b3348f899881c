//! After the solution: positions, memories, the books, samples, the summary.

use super::contacts::{Hold, Memory};
use super::joints::flat;
use super::partition::Owner;
use super::{Clock, Failure};
use tippe_geometry::{Mat3, Quat, Shape, Vec3};
use tippe_mechanics::cause::Cause;
use tippe_mechanics::event::{Event, EventContact, EventKind};
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::{Kinematics, rotated};
use tippe_mechanics::mechanism::Parent;
use tippe_mechanics::model::Drive;
use tippe_mechanics::model::{body_state, kinetic, prescribed};
use tippe_mechanics::observe::hash;
use tippe_mechanics::observe::{
    BodyState, ContactSample, MechanismSummary, Observe, Progress, Sample, Solutions, Summary,
};
use tippe_numerics::kkt::{GROUND, Row};
use tippe_numerics::mlcp::Method;

/// Bodies that move farther than contacts were looked for, by this share of their size, may pass through others [-].
const BLIND: f64 = 0.02;
/// Slower bodies are at rest [m/s].
const REST_SPEED: f64 = 1e-4;

/// Energy that steps of taut chains may make of nothing, as a share of the largest kinetic energy [-].
const RESTRAINT: f64 = 0.005;

/// Counts of a run.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Solutions of partitions.
    pub solutions: u64,
    /// Factorisations.
    pub factorisations: u64,
    /// First motion that jumped: end of the step [s], force element, how far [m or rad].
    pub jump: Option<(f64, usize, f64)>,
    /// Solutions that did not converge.
    pub unconverged: u64,
    /// Solutions by sweeps.
    pub swept: u64,
    /// Solutions with parts kept apart, with block pivoting, with Lemke's method.
    pub special: [u64; 3],
    /// Pairs of shapes tested for contact, and those that pushed, step by step.
    pub pairs: u64,
    /// See `pairs`.
    pub contacts: u64,
    /// Events so far.
    pub events: u64,
    /// Next communication point.
    pub next: u64,
    /// Partitions that slept, step by step.
    pub slept: u64,
    /// The first body that travelled more than its size in a step: when, who, how far [m].
    pub fast: Option<(f64, usize, f64)>,
    /// The first body with a mesh that moved much farther than contacts were looked for: when, who, how far, how far it was looked [m].
    pub blind: Option<(f64, usize, [f64; 2])>,
    /// The first pair of surfaces of which one passed the middle of the other: when, which elements, how deep [m].
    pub beyond: Option<(f64, (u32, u32), f64)>,
    /// The step that gained most energy without work: when, how much [J].
    pub gain: (f64, f64),
    /// The first slender body that rows turned far in a step: when, who, how far [rad].
    pub whirl: Option<(f64, usize, f64)>,
}

/// Rows that turn a slender body farther than this in a step do not know where it is then [rad].
const WHIRL: f64 = 0.1;

/// x^(1/n).
fn depth_of(x: f64, n: f64) -> f64 {
    if n == 1.5 {
        let root = libm::cbrt(x);
        root * root
    } else if n == 1.0 {
        x
    } else {
        libm::pow(x, 1.0 / n)
    }
}

/// Integral of x^n.
fn energy_of(x: f64, n: f64) -> f64 {
    let power = if n == 1.0 { x * x } else { libm::pow(x, n + 1.0) };
    power / (n + 1.0)
}

/// J u of a row by velocities of all bodies, those whose motion is given included.
fn rate(row: &Row, u: &[Six]) -> f64 {
    let ends = row.bodies.iter().zip(&row.J).filter(|(b, _)| **b != GROUND);
    row.given + ends.map(|(&b, J)| dot(J, u[b as usize])).sum::<f64>()
}

impl Clock {
    /// Positions at the end of the step, and what contacts remember.
    pub(super) fn integrate(&mut self) {
        let h = self.h;
        let n = self.model.bodies.len();
        let mut velocity = std::mem::take(&mut self.solved);
        velocity.clear();
        velocity.extend((0..n).map(|b| self.stood(b)));
        self.pushed.fill(false);
        for partition in self.partitions.iter().filter(|p| p.asleep) {
            for &b in &partition.bodies {
                let b = b as usize;
                (self.coasted[b], velocity[b]) = (Six::ZERO, Six::ZERO);
                (self.kin[b].v, self.kin[b].w) = (Vec3::ZERO, Vec3::ZERO);
                self.turned[b] = self.state.bodies[b].q;
            }
            for &m in &partition.machines {
                self.machines[m as usize].freeze(&mut self.state.machines[m as usize]);
            }
        }
        for partition in self.partitions.iter_mut().filter(|p| p.active) {
            for (k, &b) in partition.bodies.iter().enumerate() {
                let u = &partition.problem.u[6 * k..6 * k + 6];
                velocity[b as usize] = Six::new(Vec3::new(u[0], u[1], u[2]), Vec3::new(u[3], u[4], u[5]));
            }
            if partition.swept {
                for (k, &b) in partition.bodies.iter().enumerate() {
                    let d = &partition.moved[6 * k..6 * k + 6];
                    let moved = Six::new(Vec3::new(d[0], d[1], d[2]), Vec3::new(d[3], d[4], d[5]));
                    self.hops[b as usize] = self.hops[b as usize] + (moved - velocity[b as usize] * h);
                    self.struck[b as usize] = true;
                }
            }
            let pushes = partition.give_back(&mut self.rows);
            if pushes || !partition.problem.ties.is_empty() {
                for &b in &partition.bodies {
                    self.pushed[b as usize] = true;
                }
            }
        }
        for b in 0..n {
            if !self.is_free(b) || self.model.bodies[b].mechanism.is_some() {
                continue;
            }
            let kin = self.kin[b];
            let u = velocity[b];
            let hop = self.hops[b];
            let body = &self.model.bodies[b];
            let (slender, stood, spun_up) = (self.is_slender(b), self.stood(b).angular, self.spun_up(b));
            let kicked = (slender && self.pushed[b] && !self.ahead[b]).then(|| self.turned_by(b, u.angular));
            let hop_turn = if self.swung[b].is_some() { Vec3::ZERO } else { hop.angular };
            let motion = &mut self.state.bodies[b];
            let (v0, w_free) = (kin.v, self.coasted[b].angular);
            // rows act at the end of the step: q+ = q + h u+; without rows the path is a parabola
            let shift = if self.pushed[b] { u.linear * h } else { 0.5 * h * (v0 + u.linear) };
            motion.p = kin.p + shift + hop.linear;
            let given = u.angular - stood;
            // the free turn knows nothing of torques, the velocities do: as for the shift
            let turn = (given + spun_up * if self.pushed[b] { 1.0 } else { 0.5 }) * h + hop_turn;
            motion.q = rotated(self.turned[b], turn);
            motion.v = u.linear;
            if slender && given.length() * h > WHIRL && self.tally.whirl.is_none() {
                self.tally.whirl = Some((self.state.time, b, given.length() * h));
            }
            // rows and impacts add to the angular momentum: I(q+) w+ = I(q_free) w_free + I(q0) (w - w_free)
            let spatial = |q: Quat, x: Vec3| q * (body.I_c * (q.conjugate() * x));
            motion.w = if let Some((q, w)) = kicked {
                motion.q = rotated(q, hop_turn);
                rotated(Quat::IDENTITY, hop_turn) * w
            } else if slender {
                // the velocity they gave turns with the body, and its energy stays
                rotated(Quat::IDENTITY, turn) * (w_free + given)
            } else if body.oriented && self.pushed[b] | self.struck[b] {
                let L =
                    spatial(self.turned[b], w_free) + kin.R * (body.I_c * (kin.R.transpose() * (u.angular - w_free)));
                motion.q * (body.I_c_inverse * (motion.q.conjugate() * L))
            } else {
                u.angular
            };
        }
        for k in 0..self.machines.len() {
            self.hop_coordinates(k);
            let bodies = &self.model.mechanisms[k].links;
            let solved = bodies.iter().any(|l| self.pushed[l.body as usize]);
            self.read_reactions(k);
            self.integrate_machine(k, solved, &velocity);
        }
        self.break_joints();
        self.remember(&velocity);
        self.rest(&velocity);
        self.state.steps += 1;
        self.state.time = self.state.steps as f64 * h;
        for k in 0..self.machines.len() {
            self.place_machine(k);
            self.restrain(k, &velocity);
        }
        self.solved = velocity;
        self.advance_states();
    }

    /// Euler steps of a taut chain may make energy of nothing where it goes slack and taut again. What they made so far,
    ///   sum of   T+ - T0 - (V0 - V+) - sum lambda J (u+ + u0)/2 - h f (u+ + u0)/2,
    /// may reach a small share of the largest kinetic energy; the rates give back what is more. It is booked as the step's own.
    fn restrain(&mut self, k: usize, velocity: &[Six]) {
        let (model, machine) = (&self.model.clone(), &self.machines[k]);
        let mechanism = &model.mechanisms[k];
        let driven = machine.given.iter().any(Option::is_some)
            || machine.tau.iter().any(|tau| *tau != 0.0)
            || mechanism.links.iter().any(|link| match link.parent {
                Parent::Body(b) => model.bodies[b as usize].drive != Drive::Fixed,
                _ => false,
            });
        if machine.smooth || driven {
            return;
        }
        let mean = |b: usize| (velocity[b] + Six::new(self.kin[b].w, self.kin[b].v)) * 0.5;
        let (mut before, mut after, mut put_in) = (0.0, 0.0, 0.0);
        for (link, now) in mechanism.links.iter().zip(&machine.kinematics) {
            let b = link.body as usize;
            let (body, kin) = (&model.bodies[b], &self.kin[b]);
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
        let excess = (*made - RESTRAINT * *largest).min(after);
        if excess > 0.0 {
            *made -= excess;
            let share = (1.0 - excess / after).sqrt();
            self.state.machines[k].u.iter_mut().for_each(|u| *u *= share);
            self.place_machine(k);
        }
    }

    /// Counts steps at rest, and bodies too fast for the step.
    fn rest(&mut self, velocity: &[Six]) {
        for (b, u) in velocity.iter().enumerate() {
            let body = &self.model.bodies[b];
            if !self.is_free(b) {
                continue;
            }
            let reach = body.radius.min(1e3);
            let speed = u.linear.length() + u.angular.length() * reach;
            self.state.still[b] = if speed < REST_SPEED { self.state.still[b].saturating_add(1) } else { 0 };
            // what pushes it in this step is not known when contacts are looked for
            let mesh = |e: &usize| matches!(self.model.colliders[*e].shape, Shape::Mesh(_));
            if self.tally.blind.is_none()
                && let Some(e) = body.colliders.clone().find(mesh)
                && let Some(&looked) = self.pairs.margins().get(e)
                && speed * self.h > looked + BLIND * body.size
            {
                self.tally.blind = Some((self.state.time, b, [speed * self.h, looked]));
            }
            if u.linear.length() * self.h > body.size && self.tally.fast.is_none() && !body.colliders.is_empty() {
                self.tally.fast = Some((self.state.time, b, u.linear.length() * self.h));
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

    /// Memories of the contacts, their energies (see [`Clock::book`]), and their events.
    fn remember(&mut self, velocity: &[Six]) {
        let h = self.h;
        self.mean.clear();
        self.mean.extend(velocity.iter().zip(&self.kin).map(|(u, kin)| (*u + Six::new(kin.w, kin.v)) * 0.5));
        let mean = &self.mean;
        std::mem::swap(&mut self.before, &mut self.state.contacts);
        let mut contacts = std::mem::take(&mut self.state.contacts);
        contacts.clear();
        let rows = &self.rows;
        let struck = &mut self.struck_pairs;
        struck.clear();
        struck.extend(self.blows.iter().map(|blow| blow.pair));
        struck.sort_unstable();
        struck.dedup();
        let partition = |b: usize| self.partitions.get(self.partition_of[b] as usize);
        let is_swept = |b: usize| partition(b).is_some_and(|p| p.active && p.swept);
        let ledger = &mut self.state.ledger;
        // what contacts and their friction stored, also those that are gone: their points need not be the same ones
        let stored_before: f64 = self.before.iter().map(|m| m.stored).sum();
        let strained = Hold::all_stored(&self.state.holds);
        ledger[Cause::ContactDamping] += stored_before;
        let mut stored = 0.0;
        self.state.holds.clear();
        for grip in &mut self.grips {
            let (first, count) = grip.touches;
            let swept = grip.bodies.iter().any(|&b| is_swept(b));
            let mut normal = 0.0;
            for touch in &mut self.touches[first..first + count] {
                let row = &rows.rows[touch.row];
                let memory = &mut touch.memory;
                memory.normal = row.lambda;
                normal += row.lambda.max(0.0);
                // what the law stores at the force it carries: a deep overlap that is pushed out slowly stores no more
                let n = touch.exponent;
                let force = (row.lambda / h).max(0.0);
                memory.stored = force * depth_of(force / touch.hardness, n) / (n + 1.0);
                if memory.stored > 0.0 {
                    // dampers, and sweeps, may load a small column beyond its law: it stores no more than its overlap
                    let phi = if swept { touch.gap + rate(row, &self.hops) - row.given } else { row.gap };
                    let overlap = (-phi - h * rate(row, velocity)).max(0.0);
                    memory.stored = memory.stored.min(touch.hardness * energy_of(overlap, n));
                }
                memory.struck = struck.binary_search(&memory.pair).is_ok();
                stored += memory.stored;
                ledger[Cause::ContactDamping] -= row.lambda * rate(row, mean) + memory.stored;
                ledger[Cause::Work] -= row.lambda * row.given;
                contacts.push(*memory);
            }
            let memory = &mut grip.memory;
            (memory.tangent, memory.twist, memory.turn) = (Vec3::ZERO, 0.0, Vec3::ZERO);
            let (mut size, mut limit) = (0.0, 0.0);
            let (mut slip, mut spin) = (Vec3::ZERO, 0.0);
            for k in grip.row..rows.contacts {
                let row = &rows.rows[k];
                let cause = match rows.owners[k] {
                    Owner::Tangent(_, a) => {
                        memory.tangent += grip.axes[a as usize + 1] * row.lambda;
                        slip += grip.axes[a as usize + 1] * rate(row, velocity);
                        size += row.lambda * row.lambda;
                        // the bound of the solution, where that is not settled yet
                        limit = row.upper.min(rows.follows[k].bound(normal));
                        &mut ledger[Cause::Sliding]
                    }
                    Owner::Twist(_) => {
                        memory.twist = row.lambda;
                        spin = rate(row, velocity);
                        size += row.lambda * row.lambda;
                        &mut ledger[Cause::Spin]
                    }
                    Owner::Roll(_, a) => {
                        memory.turn += grip.axes[a as usize + 1] * row.lambda;
                        &mut ledger[Cause::Rolling]
                    }
                    _ => break,
                };
                *cause -= row.lambda * rate(row, mean);
                ledger[Cause::Work] -= row.lambda * row.given;
            }
            let size = size.sqrt();
            memory.sliding = size > 0.0 && size >= limit * (1.0 - 1e-7);
            let touches = &self.touches[first..first + count];
            // where the solution put it
            if memory.sliding && touches[0].column && !swept && rows.rows[grip.row].given == 0.0 {
                grip.point = touches.iter().map(|t| t.point * (t.memory.normal.max(0.0) / normal)).sum();
            }
            if normal <= 0.0 {
                *memory = Hold { pair: memory.pair, point: memory.point, ..Default::default() };
            } else if memory.sliding || swept {
                // the spring carries what slides; sweeps hold without one
                memory.spring = -memory.tangent / (h * grip.stiffness);
                memory.wound = -memory.twist / (h * grip.stiffness);
            } else {
                // no more than what slides
                let most = limit / (h * grip.stiffness);
                let turning = grip.turning - grip.axes[0] * grip.axes[0].dot(grip.turning);
                memory.spring = (memory.spring + (slip + turning) * h).clamp_length_max(most);
                memory.wound = (memory.wound + spin * h).min(most).max(-most);
            }
            self.state.holds.push(*memory);
        }
        let strained_now = Hold::all_stored(&self.state.holds);
        ledger[Cause::Sliding] += strained[0] - strained_now[0];
        ledger[Cause::Spin] += strained[1] - strained_now[1];
        self.elastic = [stored_before + strained[0] + strained[1], stored + strained_now[0] + strained_now[1]];
        // what was struck and has flown too far to be looked at
        let gone = |pair: &(u32, u32)| self.touches.binary_search_by_key(pair, |t| t.memory.pair).is_err();
        let left = struck.iter().filter(|pair| gone(pair));
        contacts.extend(left.map(|&pair| Memory { pair, struck: true, ..Memory::default() }));
        self.state.holds.sort_unstable_by_key(|m| m.pair);
        contacts.sort_unstable_by_key(|m| (m.pair, m.id));
        self.state.contacts = contacts;
        self.note_contacts();
    }

    /// Events of pairs that began or ceased to touch.
    fn note_contacts(&mut self) {
        fn touching(list: &[Memory], pairs: &mut Vec<(u32, u32)>) {
            pairs.clear();
            pairs.extend(list.iter().filter(|m| m.normal > 0.0 || m.struck).map(|m| m.pair));
            pairs.dedup();
        }
        let (mut old, mut new) = (std::mem::take(&mut self.ended), std::mem::take(&mut self.began));
        touching(&self.before, &mut old);
        touching(&self.state.contacts, &mut new);
        self.tally.contacts += new.len() as u64;
        if old == new {
            (self.ended, self.began) = (old, new);
            return;
        }
        for (pair, kind) in
            (new.iter().filter(|p| old.binary_search(p).is_err()).map(|p| (*p, EventKind::ContactStart)))
                .chain(old.iter().filter(|p| new.binary_search(p).is_err()).map(|p| (*p, EventKind::ContactEnd)))
        {
            let first = self.touches.partition_point(|t| t.memory.pair < pair);
            let touch = self.touches.get(first).filter(|t| t.memory.pair == pair);
            let flown = touch.is_none() && kind == EventKind::ContactStart;
            let blow = if flown { self.blows.iter().find(|blow| blow.pair == pair) } else { None };
            let [b1, b2] = [pair.0, pair.1].map(|e| self.model.colliders[e as usize].body as usize);
            let at = |b: usize, p: Vec3| self.kin[b].v + self.kin[b].w.cross(p - self.kin[b].p);
            let (gap, normal, position) = match (touch, blow) {
                (Some(t), _) => (t.gap, t.axes[0], t.point),
                (None, Some(blow)) => (0.0, blow.normal, blow.point),
                (None, None) => self.pairs.between(&self.model, pair),
            };
            let contact = EventContact {
                body1: b1,
                body2: b2,
                pair,
                gap,
                closing_speed: normal.dot(at(b1, position) - at(b2, position)),
                normal,
                position,
                episode: None,
                regions: None,
            };
            self.events.push(Event { time: self.state.time + self.h, kind, source: None, contact: Some(contact) });
        }
        (self.ended, self.began) = (old, new);
    }

    /// The step's energies by cause. For constant masses
    ///   M (u+ - u0) = P_free + J^T lambda   means   T+ - T0 = (P_free + J^T lambda) . (u+ + u0)/2,
    /// so each row's energy is lambda (J u+ + J u0)/2, and what the fixed step makes of the rest is booked by name. Rows of contacts are
    /// booked already, where they are read ([`Clock::remember`]).
    pub(super) fn book(&mut self) {
        let h = self.h;
        let velocity = std::mem::take(&mut self.solved);
        let mut ledger = self.state.ledger;
        let mean = std::mem::take(&mut self.mean);
        let [mut elastic_before, mut elastic] = self.elastic;
        for k in self.rows.contacts..self.rows.rows.len() {
            let row = &self.rows.rows[k];
            let own: f64 =
                (0..2).filter(|&s| row.bodies[s] != GROUND).map(|s| dot(&row.J[s], mean[row.bodies[s] as usize])).sum();
            let work = row.lambda * (own + row.given);
            ledger[Cause::Work] -= row.lambda * row.given;
            match self.rows.owners[k] {
                Owner::Bend => ledger[Cause::Damping] -= work,
                Owner::Custom(_) => ledger[Cause::Work] += work,
                _ => {}
            }
        }
        for (k, tie) in self.rows.ties.iter().enumerate() {
            let along = if tie.pushes.is_empty() { tie.ends } else { tie.pushes };
            let ends = along.of(&self.rows.ends).iter();
            let own: f64 = ends.map(|end| dot(&end.row(0), mean[end.body as usize])).sum();
            let work = tie.lambda[0] * (own + self.rows.tie_given[k]);
            ledger[Cause::Work] -= tie.lambda[0] * self.rows.tie_given[k];
            if let Owner::Custom(_) = self.rows.tie_owners[k] {
                ledger[Cause::Work] += work;
            }
        }
        self.book_elements(&mean, &mut ledger, &mut elastic, &mut elastic_before);
        // free motion: gravity is potential, loads are work, the rest is the step's own
        for b in 0..self.model.bodies.len() {
            if !self.is_free(b) {
                continue;
            }
            let body = &self.model.bodies[b];
            let R = &self.stance(b);
            let change = self.stood(b) - Six::new(self.kin[b].w, self.kin[b].v);
            let turned = (R.transpose() * mean[b].angular).dot(body.I_c * (R.transpose() * change.angular));
            let external = turned + body.mass * mean[b].linear.dot(change.linear);
            let load = self.loads[b];
            let pushed = h * load.dot(&mean[b]);
            let after = self.motion(b);
            let fall = body.mass * (self.model.potential_at(self.kin[b].p) - self.model.potential_at(after.p));
            ledger[Cause::Integration] -= external - pushed - fall;
            // the state's kinetic energy against that of the solved velocities
            ledger[Cause::Integration] -= kinetic(body, &after) - {
                let u = velocity[b];
                kinetic(body, &Kinematics { p: after.p, v: u.linear, w: u.angular, R: *R })
            };
            if self.is_slender(b) || self.swung[b].is_some() {
                // and of those it began with
                let began = |R: Mat3| kinetic(body, &Kinematics { R, ..self.kin[b] });
                ledger[Cause::Integration] -= began(*R) - began(self.base(b));
            }
        }
        ledger[Cause::Integration] -= elastic_before - ledger.elastic;
        ledger.elastic = elastic;
        self.book_loads(&mean, &mut ledger);
        self.book_subsystem(&mean, &mut ledger);
        self.state.ledger = ledger;
        let gain = ledger.gained_since(&self.opened);
        if gain > self.tally.gain.1 {
            self.tally.gain = (self.state.time - h, gain);
        }
        self.solved = velocity;
        self.mean = mean;
        self.tally.slept += self.partitions.iter().filter(|p| p.asleep).count() as u64;
        for partition in self.partitions.iter().filter(|p| p.active) {
            self.tally.solutions += 1;
            self.tally.factorisations += partition.report.factorisations as u64;
            self.tally.unconverged += u64::from(!partition.report.converged && !partition.swept);
            self.tally.swept += u64::from(partition.swept);
            let pivoting = partition.report.pivoting;
            self.tally.special[0] += u64::from(partition.report.apart > 0);
            self.tally.special[1] += u64::from(pivoting.is_some_and(|method| method != Method::Lemke));
            self.tally.special[2] += u64::from(pivoting == Some(Method::Lemke));
        }
    }

    /// Motion of a body as the state has it now.
    pub(super) fn motion(&self, b: usize) -> Kinematics {
        match self.model.bodies[b].drive {
            Drive::Free => {
                let s = &self.state.bodies[b];
                Kinematics { p: s.p, v: s.v, w: s.w, R: Mat3::from_quat(s.q) }
            }
            _ => prescribed(&self.model, b, self.state.time),
        }
    }

    /// Records the start, if it was not recorded yet: once before the first step.
    pub fn begin(&mut self, observe: &mut dyn Observe) {
        self.tally.next = self.point(self.state.time) + 1;
        if self.state.recorded {
            return;
        }
        self.place();
        self.detect();
        let mut ledger = tippe_mechanics::Ledger::default();
        for b in 0..self.model.bodies.len() {
            if self.is_free(b) {
                let (body, kin) = (&self.model.bodies[b], self.motion(b));
                ledger.kinetic += kinetic(body, &kin);
                ledger.potential += body.mass * self.model.potential_at(kin.p);
            }
        }
        // columns stand where surfaces will be at the end of the step
        let plain = self.touches.iter().filter(|t| !(t.column && t.exponent == 1.0));
        let plain: f64 = plain.map(|t| t.hardness * energy_of((-t.gap).max(0.0), t.exponent)).sum();
        ledger.elastic = plain + self.pairs.stored() + self.stored();
        let mut all = ledger;
        self.add_subsystem(&mut all);
        ledger.initial = all.stored();
        self.state.ledger = ledger;
        self.state.recorded = true;
        self.touches.clear();
        self.grips.clear();
        self.sample(observe);
    }

    fn point(&self, t: f64) -> u64 {
        ((t + 0.5 * self.h) / self.settings.output_interval.max(self.h)).floor() as u64
    }

    /// True when the run is over.
    pub fn reached(&self, until: f64) -> bool {
        self.stopped || self.state.time >= until - 1e-9 * self.h
    }

    /// Hands the step to the observer, once after every step; true at communication points. A failure is one of the step: `state` is no
    /// longer good.
    pub fn record(&mut self, until: f64, observe: &mut dyn Observe) -> Result<bool, Failure> {
        self.check()?;
        self.watch_motions();
        self.heard.iter().for_each(|heard| observe.input(heard));
        if self.pull_changed {
            // the step that was made: its number is one less
            observe.pull(self.state.steps.saturating_sub(1), self.pull.as_ref());
        }
        for event in std::mem::take(&mut self.events) {
            *self.summary.events.entry(event.kind).or_default() += 1;
            self.tally.events += 1;
            observe.event(&event);
        }
        self.summary.steps += 1;
        let at = self.point(self.state.time);
        let due = at >= self.tally.next || self.state.time >= until - 1e-9 * self.h;
        if due {
            self.tally.next = at + 1;
            self.sample(observe);
        }
        let progress = Progress {
            time: self.state.time,
            until,
            step: self.h,
            limiter: None,
            steps: self.summary.steps,
            contacts: self.summary.max_contacts,
            events: self.tally.events,
        };
        self.stopped = !observe.progress(&progress);
        Ok(due)
    }

    /// Remembers the first motion that jumped in the last step: it went more than its largest speed there, twice over, explains.
    fn watch_motions(&mut self) {
        if self.tally.jump.is_some() {
            return;
        }
        let (h, end) = (self.h, self.state.time);
        for (k, element) in self.model.elements.iter().enumerate() {
            if let Some(way) = element.kind.jump(end, h) {
                self.tally.jump = Some((end, k, way));
                return;
            }
        }
    }

    /// Finite, or a failure that says who is not.
    fn check(&self) -> Result<(), Failure> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let (time, step) = (self.state.time, self.h);
        let states = &self.state.actions.states;
        if let Some(k) = states.iter().position(|x| !x.is_finite()) {
            let state = &self.model.states[k];
            return Err(Failure {
                time,
                kind: state.kind,
                name: state.owner.clone(),
                what: format!(
                    "has a state that is not a finite number: {} is {} (step {step:.3e} s). help: look for a division by zero or a \
                     state that grows without bound in its equations, or use a smaller step",
                    state.name, states[k]
                ),
            });
        }
        let lost = |b: usize, what: &str| {
            let what = format!(
                "has {what} that is not a finite number (step {step:.3e} s). help: look for forces that grow without bound, or use a \
                 smaller step"
            );
            Err(Failure { time, kind: "body", name: self.model.bodies[b].name.clone(), what })
        };
        for (b, s) in self.state.bodies.iter().enumerate() {
            if !(s.p.is_finite() && s.v.is_finite() && s.w.is_finite() && s.q.is_finite()) {
                return lost(b, "a position or velocity");
            }
            if self.is_free(b) {
                let kin = Kinematics { p: s.p, v: s.v, w: s.w, R: Mat3::from_quat(s.q) };
                let body = &self.model.bodies[b];
                if !(kinetic(body, &kin) + body.mass * self.model.potential_at(s.p)).is_finite() {
                    return lost(b, "a kinetic or potential energy");
                }
            }
        }
        let books = &self.state.ledger;
        if !(books.dissipated() - books.put_in()).is_finite() {
            // the fastest body, where nobody is lost yet
            let speed = |b: &usize| self.state.bodies[*b].v.length();
            let fastest = (0..self.state.bodies.len()).max_by(|a, b| speed(a).total_cmp(&speed(b)));
            return fastest.map_or(Ok(()), |b| lost(b, "work or a loss in the books"));
        }
        Ok(())
    }

    /// Motion of a body's origin as the state has it now.
    pub fn body(&self, b: usize) -> BodyState {
        self.at_origin(b, &self.motion(b))
    }

    fn at_origin(&self, b: usize, kin: &Kinematics) -> BodyState {
        let q = match self.model.bodies[b].drive {
            Drive::Free => self.state.bodies[b].q,
            _ => Quat::from_mat3(&kin.R),
        };
        body_state(&self.model, b, kin.p, q, kin.v, kin.w)
    }

    /// Shows the observer everything as the state has it now.
    pub fn sample(&mut self, observe: &mut dyn Observe) {
        let model = &self.model.clone();
        let mut ledger = self.state.ledger;
        (ledger.kinetic, ledger.potential) = (0.0, 0.0);
        let mut bodies: Vec<BodyState> = Vec::with_capacity(model.bodies.len());
        for b in 0..model.bodies.len() {
            let kin = self.motion(b);
            if self.is_free(b) {
                ledger.kinetic += kinetic(&model.bodies[b], &kin);
                ledger.potential += model.bodies[b].mass * model.potential_at(kin.p);
            }
            bodies.push(self.at_origin(b, &kin));
        }
        self.add_subsystem(&mut ledger);
        let contacts = self.contact_samples();
        let signals = self.signals(&contacts);
        self.summary.max_contacts = self.summary.max_contacts.max(contacts.len());
        observe.sample(&Sample {
            time: self.state.time,
            bodies: &bodies,
            contacts: &contacts,
            energy: &ledger,
            signals: &signals,
        });
        self.show_subsystem(observe);
        self.summary.bodies = bodies;
        self.summary.signals = signals;
        self.summary.energy = ledger;
    }

    /// Touching pairs: the points of each with their forces summed up at their centre of pressure.
    fn contact_samples(&self) -> Vec<ContactSample> {
        // with the sum of the normal forces
        let mut samples: Vec<(ContactSample, Vec3)> = Vec::new();
        for blow in &self.blows {
            let pressed = blow.normal * (blow.normal.dot(blow.push) / self.h);
            let sample = ContactSample {
                body1: blow.bodies[0],
                body2: blow.bodies[1],
                pair: blow.pair,
                position: blow.point,
                normal: blow.normal,
                depth: 0.0,
                closing_speed: 0.0,
                force: blow.push / self.h,
                torque: Vec3::ZERO,
                slipping: false,
            };
            samples.push((sample, pressed));
        }
        for grip in &self.grips {
            let group = &self.touches[grip.touches.0..grip.touches.0 + grip.touches.1];
            let loaded = || group.iter().filter(|t| t.memory.normal != 0.0);
            let total: f64 = loaded().map(|t| t.memory.normal).sum();
            if total == 0.0 {
                continue;
            }
            let mean = loaded().map(|t| t.axes[0] * t.memory.normal).sum::<Vec3>();
            let normal = mean.try_normalize().unwrap_or(grip.axes[0]);
            let position = loaded().map(|t| t.point * t.memory.normal).sum::<Vec3>() / total;
            let hold = &grip.memory;
            let mut force = hold.tangent / self.h;
            let mut torque =
                (grip.point - position).cross(force) + (grip.axes[0] * (hold.twist * grip.lever) + hold.turn) / self.h;
            let mut depth = 0.0_f64;
            for t in loaded() {
                let f = t.axes[0] * (t.memory.normal / self.h);
                force += f;
                torque += (t.point - position).cross(f);
                depth = depth.max(-t.gap);
            }
            let [b1, b2] = group[0].bodies;
            let at = |b: usize| self.kin[b].v + self.kin[b].w.cross(position - self.kin[b].p);
            let sample = ContactSample {
                body1: b1,
                body2: b2,
                pair: group[0].memory.pair,
                position,
                normal,
                depth,
                closing_speed: normal.dot(at(b1) - at(b2)),
                force,
                torque,
                slipping: hold.sliding,
            };
            samples.push((sample, mean / self.h));
        }
        samples.sort_by_key(|(s, _)| s.pair);
        // one line per pair, at the common centre of pressure: an impact and what rested before and after it, all its regions
        samples.dedup_by(|(b, b_pressed), (a, a_pressed)| {
            let same = a.pair == b.pair;
            if same {
                let (load_a, load_b) = (a_pressed.length(), b_pressed.length());
                let position = (a.position * load_a + b.position * load_b) / (load_a + load_b);
                let moved = |s: &ContactSample| s.torque + (s.position - position).cross(s.force);
                a.torque = moved(a) + moved(b);
                a.position = position;
                a.force += b.force;
                *a_pressed += *b_pressed;
                a.normal = a_pressed.try_normalize().unwrap_or(a.normal);
                a.depth = a.depth.max(b.depth);
                a.slipping |= b.slipping;
            }
            same
        });
        samples.into_iter().map(|(sample, _)| sample).collect()
    }

    /// Counts and the last sample so far.
    pub fn summary(&mut self) -> Summary {
        if self.summary.bodies.is_empty() {
            // no step was left to make: the end is the start
            self.sample(&mut ());
        }
        let mut summary = self.summary.clone();
        summary.stopped = self.stopped;
        summary.mechanisms = (self.model.mechanisms.iter().zip(&self.model.mechanism_starts).zip(&self.machines))
            .map(|((mechanism, start), machine)| MechanismSummary {
                bodies: mechanism.links.iter().map(|l| self.model.bodies[l.body as usize].name.clone()).collect(),
                coordinates: mechanism.coordinates,
                rows: start.rows,
                redundant: start.redundant,
                freedom: (mechanism.coordinates + start.redundant).saturating_sub(start.rows),
                drift: machine.drift,
            })
            .collect();
        summary.hash = hash(&summary.bodies, &summary.energy);
        let mut of_subsystem = Summary::default();
        if let (Some(subsystem), Some(record)) = (&self.subsystem, &self.state.subsystem) {
            subsystem.summarise(&self.model, record, &mut of_subsystem);
        }
        summary.grains = of_subsystem.grains;
        summary.hash ^= of_subsystem.hash;
        summary.solutions = Solutions {
            direct: self.tally.solutions - self.tally.swept,
            swept: self.tally.swept,
            kept_apart: self.tally.special[0],
            pivoted: self.tally.special[1],
            lemke: self.tally.special[2],
            factorisations: self.tally.factorisations,
            unconverged: self.tally.unconverged,
            pairs: self.tally.pairs,
            contacts: self.tally.contacts,
        };
        summary.steps_by_integrator.insert("realtime".to_owned(), self.summary.steps);
        summary.warnings = self.model.warnings.clone();
        if self.model.is_booked() {
            summary.warnings.extend(summary.energy.imbalance());
            summary.warnings.extend(summary.energy.made_in_step(self.tally.gain));
        }
        if let Some((time, body, turn)) = self.tally.whirl {
            summary.warnings.push(format!(
                "body \"{}\" is turned by {turn:.2} rad in the step at t = {} s by contacts or joints: energy and angular momentum may be off. help: use a smaller step",
                self.model.bodies[body].name,
                tippe_scene::text::plain(time)
            ));
        }
        summary.warnings.extend(of_subsystem.warnings);
        if self.tally.unconverged > 0 {
            summary.warnings.push(format!(
                "{} of {} solutions did not converge: the best point found was taken",
                self.tally.unconverged, self.tally.solutions
            ));
        }
        if let Some((time, element, way)) = self.tally.jump {
            summary.warnings.push(format!(
                "{}: its motion jumps by {way:.3e} (m or rad) in the step that ends at t = {} s: speeds and forces do not know of it. \
                 help: write a smooth function of `t`",
                self.model.elements[element].name,
                tippe_scene::text::plain(time)
            ));
        }
        if let Some((time, body, far)) = self.tally.fast {
            summary.warnings.push(format!(
                "body \"{}\" travels {far:.2e} m in the step at t = {} s, more than its size {:.2e} m: use a smaller step",
                self.model.bodies[body].name,
                tippe_scene::text::plain(time),
                self.model.bodies[body].size
            ));
        }
        if let Some((time, body, [far, looked])) = self.tally.blind {
            summary.warnings.push(format!(
                "body \"{}\" moves {far:.3e} m in the step at t = {} s, and contacts of its mesh were looked for up to {looked:.3e} m: it may pass \
                 through thin parts. help: use a smaller step",
                self.model.bodies[body].name,
                tippe_scene::text::plain(time)
            ));
        }
        summary.warnings.extend(self.tally.beyond.map(|beyond| self.model.pressed_through(beyond)));
        for kind in [EventKind::ContactStart, EventKind::ContactEnd] {
            summary.events.entry(kind).or_default();
        }
        summary
    }
}

fn dot(J: &[f64; 6], u: Six) -> f64 {
    let u = flat(u);
    (0..6).map(|i| J[i] * u[i]).sum()
}
