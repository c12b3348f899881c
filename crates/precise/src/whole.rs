//! The whole model as one system of equations for an integrator from outside: its right-hand side, and two functions whose
//! zeros are events (Neumayr and Otter 2019, section 4). This is the seam a functional mock-up unit is made from.
//!
//! The vector y holds, one after the other,
//! - for every free body that no joint holds the place of its centre of mass (3), its orientation w, x, y, z (4), velocity
//!   (3) and angular velocity (3), resolved in world;
//! - for every mechanism its coordinates, then their rates; the three rotations of spherical and free joints are the
//!   quaternion w, x, y, z of frame 2 in frame 1;
//! - 7 springs for every pair with elastic stick;
//! - the states of components and controllers.
//!
//! The equations are those of the precise clock: y is written into the states of one island that holds everything.

use super::Clock;
use super::State;
use super::dynamics::Dynamics;
use super::failure::Failure;
use super::island::{Motion, PairRecord};
use super::layout::{set, vector};
use super::pair::SPRING_STATES;
use super::settings::Settings;
use super::system::Bound;
use std::ops::Range;
use tippe_geometry::{Quat, Vec3};
use tippe_mechanics::contact::friction::Springs;
use tippe_mechanics::element::{Push, Wrench};
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::Frame;
use tippe_mechanics::model::{Drive, Model};
use tippe_mechanics::state::MachineRecord;
use tippe_mechanics::structure::Structure;
use tippe_numerics::System;

/// First indicator without a contact, second without a pair that is apart (Neumayr and Otter 2019, eq. 13, 14) [m].
pub(super) const NONE: f64 = 42.0;
/// Rounds in which joint friction and drives find out who holds and who gives way.
const SETTLING: usize = 10;

/// A piece of y and where it is among the states of the island.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// A free body, by local index: 13 numbers.
    Body(usize),
    /// Three rotations of the joint that holds a body, by local index, whose Gibbs vector and rates are at these places:
    /// 4 numbers.
    Turn(usize, usize, usize),
    /// Numbers that are the same.
    Same(Range<usize>),
}

impl Piece {
    pub(super) fn len(&self) -> usize {
        match self {
            Piece::Body(_) => 13,
            Piece::Turn(..) => 4,
            Piece::Same(range) => range.len(),
        }
    }
}

/// A force or torque that can be added from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Name of the motor or force, with the component: `drive.effort`, `wind.force.x`.
    pub name: String,
    /// SI unit.
    pub unit: String,
    /// What it adds [N or N m].
    pub value: f64,
    /// Element of the island, and which of its inputs.
    at: [usize; 2],
}

/// Pairs of elements, by index, between which a contact is defined and the structure leaves it be.
fn pairs_that_may_touch(model: &Model, structure: &Structure) -> Vec<(u32, u32)> {
    let n = model.colliders.len();
    let mut ids = Vec::new();
    for i in 0..n {
        for j in i + 1..n {
            let [a, b] = [i, j].map(|e| model.colliders[e].body);
            if model.contact_between(i, j).is_some() && structure.may_touch(a, b) {
                ids.push((i as u32, j as u32));
            }
        }
    }
    ids
}

/// States of the bodies that hang on nothing, from their motions, and their pieces of y.
fn place_bodies(model: &Model, motions: &[Motion], d: &mut Dynamics, inner: &mut [f64]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for k in (0..d.bodies.len()).filter(|&k| d.link_of[k].is_none()) {
        let (m, o) = (&motions[d.bodies[k] as usize], d.offset_of[k]);
        set(inner, o, m.p);
        set(inner, o + 6, m.v);
        let isotropic = model.bodies[d.bodies[k] as usize].isotropic;
        set(inner, o + 9, if isotropic { m.w } else { m.q.conjugate() * m.w });
        d.frames[k] = Frame { rotation: m.q, rate: Vec3::ZERO };
        pieces.push(Piece::Body(k));
    }
    pieces
}

/// States of the mechanisms, from their records, and their pieces of y, in the order of the model.
fn place_machines(model: &Model, records: &[MachineRecord], d: &mut Dynamics, inner: &mut [f64]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut order: Vec<usize> = (0..d.machines.len()).collect();
    order.sort_unstable_by_key(|&k| d.machines[k].index);
    for k in order {
        let machine = &mut d.machines[k];
        machine.restore(model, &records[machine.index as usize], inner, &mut d.frames);
        let mechanism = &model.mechanisms[machine.index as usize];
        let (at, n) = (machine.offset, mechanism.coordinates);
        for (link, &body) in mechanism.links.iter().zip(&machine.bodies) {
            let mut first = at + link.first;
            if link.joint.has_base() {
                pieces.push(Piece::Turn(body, first, first + n));
                d.frames[body].rate = Vec3::ZERO;
                first += 3;
            }
            pieces.push(Piece::Same(first..at + link.first + link.count));
        }
        pieces.push(Piece::Same(at + n..at + 2 * n));
    }
    pieces
}

/// The whole model and its contact set.
#[derive(Clone, Debug)]
pub struct Whole {
    pub(super) model: Model,
    pub(super) dynamics: Dynamics,
    /// States of the island, and their rates.
    pub(super) inner: Vec<f64>,
    pub(super) rates: Vec<f64>,
    pub(super) pieces: Vec<Piece>,
    length: usize,
    start: Vec<f64>,
    inputs: Vec<Input>,
    /// Pairs that opened at the last accepted step.
    opening: Vec<bool>,
    /// Values of the watches at the last accepted step.
    pub(super) watched: Vec<f64>,
}

impl Whole {
    /// The model at its start, contacts that already touch in the contact set.
    pub fn new(model: &Model) -> Whole {
        let settings = Settings { threads: 1, ..Settings::default() };
        let clock = Clock::resume(model, &State::start(model), &settings);
        let motions = clock.motions_now();
        Whole::of(&clock, 0.0, &motions, &[])
    }

    /// The model as the precise clock has it at time t.
    pub fn at(model: &Model, time: f64, settings: &Settings) -> Result<Whole, Failure> {
        if time <= 0.0 {
            return Ok(Whole::new(model));
        }
        let mut clock = Clock::resume(model, &State::start(model), settings);
        loop {
            clock.restructure(&mut ());
            clock.reach();
            clock.regroup();
            clock.advance(time, &mut ());
            if clock.last && clock.failure.is_none() {
                let mut motions = clock.motions_now();
                let mut records = Vec::new();
                for mut island in std::mem::take(&mut clock.islands) {
                    let (own, pairs) = island.harvest(model, time, &mut clock.machines, &mut clock.actions);
                    for (&body, motion) in island.dynamics.bodies.iter().zip(own) {
                        motions[body as usize] = motion;
                    }
                    records.extend(pairs);
                }
                records.sort_unstable_by_key(|r| r.id);
                return Ok(Whole::of(&clock, time, &motions, &records));
            }
            clock.record(time, &mut ());
            if let Some(failure) = clock.failure {
                return Err(failure);
            }
        }
    }

    fn of(clock: &Clock<'_>, time: f64, motions: &[Motion], records: &[PairRecord]) -> Whole {
        let (model, structure) = (clock.model, &clock.structure);
        let there = |body: usize| {
            let b = &model.bodies[body];
            b.drive == Drive::Free && (b.mechanism.is_some() || !structure.gone[body])
        };
        let bodies: Vec<u32> = (0..model.bodies.len()).filter(|&b| there(b)).map(|b| b as u32).collect();
        let mut d = Dynamics::new(model, bodies, &pairs_that_may_touch(model, structure), 1.0);
        d.remember(structure);
        let mut inner = vec![0.0; d.length()];
        let mut pieces = place_bodies(model, motions, &mut d, &mut inner);
        pieces.extend(place_machines(model, &clock.machines, &mut d, &mut inner));
        d.restore_actions(model, &clock.actions, &mut inner);
        for pair in &mut d.pairs {
            if let Ok(k) = records.binary_search_by_key(&pair.id, |r| r.id) {
                pair.memory = records[k].memory;
                Dynamics::set_springs(pair, &mut inner, &records[k].springs);
            }
        }
        pieces.extend(d.pairs.iter().filter_map(|p| p.springs).map(|k| Piece::Same(k..k + SPRING_STATES)));
        let states = d.actions.state_at.iter().filter(|&&at| at != usize::MAX);
        pieces.extend(states.map(|&at| Piece::Same(at..at + 1)));
        d.frame_time = time;
        d.actions.edge = time * (1.0 + 4.0 * f64::EPSILON);
        let mut whole = Whole {
            model: model.clone(),
            length: pieces.iter().map(Piece::len).sum(),
            rates: inner.clone(),
            inner,
            pieces,
            start: Vec::new(),
            inputs: inputs(model, &d),
            opening: vec![false; d.pairs.len()],
            watched: Vec::new(),
            dynamics: d,
        };
        whole.rebuild(time, records.is_empty());
        whole.watch(time);
        let mut start = vec![0.0; whole.length];
        whole.write(&mut start);
        whole.start = start;
        whole
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Length of y.
    #[allow(clippy::len_without_is_empty)] // never a collection
    pub fn len(&self) -> usize {
        self.length
    }

    /// y at the start of the scene, or at the time the whole was made for.
    pub fn start(&self) -> Vec<f64> {
        self.start.clone()
    }

    /// Forces and torques that can be added: one for every motor, six for every applied force.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Adds this much at input `k` from now on [N or N m].
    pub fn set_input(&mut self, k: usize, value: f64) {
        self.inputs[k].value = value;
    }

    /// dy/dt at (t, y).
    ///
    /// q' = (0, w) q/2; orientations are used as if they had unit length, and their length does not change.
    pub fn rates(&mut self, t: f64, y: &[f64], dydt: &mut [f64]) {
        self.come_to(t, y);
        self.rates_here(y, dydt);
    }

    /// Evaluates the equations at (t, y): what is asked of them afterwards is answered there.
    pub fn come_to(&mut self, t: f64, y: &[f64]) {
        self.read(t, y);
        self.evaluate(t);
    }

    /// dy/dt at the y the whole has come to.
    pub fn rates_here(&self, y: &[f64], dydt: &mut [f64]) {
        let mut at = 0;
        for piece in &self.pieces {
            match *piece {
                Piece::Body(k) => {
                    let o = self.dynamics.offset_of[k];
                    let w = vector(y, at + 10);
                    let isotropic = self.model.bodies[self.dynamics.bodies[k] as usize].isotropic;
                    let mut angular = vector(&self.rates, o + 9);
                    if !isotropic {
                        angular = orientation(y, at + 3).normalize() * angular;
                    }
                    set(dydt, at, vector(y, at + 7));
                    set_orientation(dydt, at + 3, turning(w, orientation(y, at + 3)));
                    set(dydt, at + 7, vector(&self.rates, o + 6));
                    set(dydt, at + 10, angular);
                }
                Piece::Turn(_, _, rates) => {
                    set_orientation(dydt, at, turning(vector(&self.inner, rates), orientation(y, at)));
                }
                Piece::Same(ref range) => dydt[at..at + range.len()].copy_from_slice(&self.rates[range.clone()]),
            }
            at += piece.len();
        }
    }

    /// The two event indicators at (t, y) [m].
    ///
    /// The first is the largest gap of a pair in contact, less its hysteresis: rising through zero, some pair separates. It
    /// also rises through zero where a contact begins or ends to slip or roll, joint friction lets go or takes hold, a drive
    /// meets its limit, a stop is touched, a component jumps. The second is the smallest gap of all other pairs: falling
    /// through zero, some pair begins to touch. -42 and 42 where there is nothing of the kind.
    pub fn indicators(&mut self, t: f64, y: &[f64]) -> [f64; 2] {
        self.come_to(t, y);
        let [separate, touch, others @ ..] = self.occasions(t);
        [others.into_iter().fold(separate, f64::max), touch]
    }

    /// The first time after t at which equations have a kink or a jump [s]: end a step there and call
    /// [`Self::handle_event`].
    pub fn next_instant(&self, t: f64) -> f64 {
        self.dynamics.next_instant(&self.model, t)
    }

    /// Call it where an indicator has changed its sign, on the far side of the zero: pairs join and leave the contact set,
    /// slip and stick change, memories are set as the precise clock sets them. True if anything changed, y included; the
    /// integrator must then start anew. Structural changes of the scene are not made.
    pub fn handle_event(&mut self, t: f64, y: &mut [f64]) -> bool {
        self.read(t, y);
        self.dynamics.actions.edge = t * (1.0 + 4.0 * f64::EPSILON);
        let changed = self.rebuild(t, false);
        self.watch(t);
        if changed {
            self.write(y);
        }
        changed
    }

    /// Call it after every accepted step, so that contacts with restitution remember their largest closing speed.
    pub fn accept(&mut self, t: f64, y: &[f64]) {
        self.read(t, y);
        self.evaluate(t);
        for (pair, opening) in self.dynamics.pairs.iter_mut().zip(&mut self.opening) {
            let speed = if pair.memory.touching && pair.last.gap <= 0.0 { pair.last.closing_speed } else { 0.0 };
            let memory = &mut pair.memory.normal;
            if *opening && speed > 0.0 {
                // a new compression
                memory.impact_speed = 0.0;
            }
            *opening = speed < 0.0;
            memory.impact_speed = memory.impact_speed.max(speed);
        }
        self.watch(t);
    }

    /// Moves coordinates and rates in y back onto the rows of loops, from which steps of an integrator drift away. Returns
    /// the largest violation there was [m, or - for directions].
    pub fn project(&mut self, t: f64, y: &mut [f64]) -> f64 {
        self.read(t, y);
        self.evaluate(t);
        let mut corrections = Vec::new();
        let mut largest: f64 = 0.0;
        for machine in &mut self.dynamics.machines {
            largest = largest.max(machine.project(&self.model, &mut self.inner, &mut corrections));
        }
        if largest > 0.0 {
            self.write(y);
        }
        largest
    }

    /// y of the states in place.
    pub(super) fn present(&self, t: f64) -> Vec<f64> {
        debug_assert!(self.dynamics.frame_time == t);
        let mut y = vec![0.0; self.length];
        self.write(&mut y);
        y
    }

    /// y to the states of the island.
    pub(super) fn read(&mut self, t: f64, y: &[f64]) {
        let d = &mut self.dynamics;
        d.frame_time = t;
        let mut at = 0;
        for piece in &self.pieces {
            match *piece {
                Piece::Body(k) => {
                    let o = d.offset_of[k];
                    let q = orientation(y, at + 3).normalize();
                    d.frames[k].rotation = q;
                    set(&mut self.inner, o, vector(y, at));
                    set(&mut self.inner, o + 3, Vec3::ZERO);
                    set(&mut self.inner, o + 6, vector(y, at + 7));
                    let w = vector(y, at + 10);
                    let isotropic = self.model.bodies[d.bodies[k] as usize].isotropic;
                    set(&mut self.inner, o + 9, if isotropic { w } else { q.conjugate() * w });
                }
                Piece::Turn(body, first, _) => {
                    d.frames[body].rotation = orientation(y, at).normalize();
                    set(&mut self.inner, first, Vec3::ZERO);
                }
                Piece::Same(ref range) => self.inner[range.clone()].copy_from_slice(&y[at..at + range.len()]),
            }
            at += piece.len();
        }
    }

    /// Frames of orientations turn as the bodies do: small turns from there are turns relative to the motion itself.
    pub(super) fn turn_frames(&mut self) {
        let d = &mut self.dynamics;
        for piece in &self.pieces {
            match *piece {
                Piece::Body(k) => {
                    let w = vector(&self.inner, d.offset_of[k] + 9);
                    let isotropic = self.model.bodies[d.bodies[k] as usize].isotropic;
                    d.frames[k].rate = if isotropic { w } else { d.frames[k].rotation * w };
                }
                Piece::Turn(body, _, rates) => d.frames[body].rate = vector(&self.inner, rates),
                Piece::Same(_) => {}
            }
        }
    }

    /// States of the island to y.
    pub(super) fn write(&self, y: &mut [f64]) {
        let d = &self.dynamics;
        let mut at = 0;
        for piece in &self.pieces {
            match *piece {
                Piece::Body(k) => {
                    let o = d.offset_of[k];
                    let q = d.frames[k].orientation(0.0, vector(&self.inner, o + 3));
                    let w = vector(&self.inner, o + 9);
                    let isotropic = self.model.bodies[d.bodies[k] as usize].isotropic;
                    set(y, at, vector(&self.inner, o));
                    set_orientation(y, at + 3, q);
                    set(y, at + 7, vector(&self.inner, o + 6));
                    set(y, at + 10, if isotropic { w } else { q * w });
                }
                Piece::Turn(body, first, _) => {
                    set_orientation(y, at, d.frames[body].orientation(0.0, vector(&self.inner, first)));
                }
                Piece::Same(ref range) => y[at..at + range.len()].copy_from_slice(&self.inner[range.clone()]),
            }
            at += piece.len();
        }
    }

    /// Everything at the states in place, at time t.
    pub(super) fn evaluate(&mut self, t: f64) {
        let model = &self.model;
        let d = &mut self.dynamics;
        if self.inputs.iter().any(|input| input.value != 0.0) {
            d.locate(model, t, &self.inner);
            d.efforts.clear();
            d.pushes.clear();
            d.pushes.resize(d.bodies.len(), Six::default());
            for input in &self.inputs {
                push(model, d, t, &self.inner, input);
            }
        } else {
            d.efforts.clear();
            d.pushes.clear();
        }
        Bound { model, dynamics: d }.rates(t, &self.inner, &mut self.rates);
    }

    fn watch(&mut self, t: f64) {
        let mut watched = std::mem::take(&mut self.watched);
        self.dynamics.watch(&self.model, t, &self.inner, &mut watched);
        self.watched = watched;
    }

    /// Contact set and modes at the states in place; true if anything changed. The equations are left evaluated.
    pub(super) fn rebuild(&mut self, t: f64, first: bool) -> bool {
        self.evaluate(t);
        let mut changed = false;
        let (model, y) = (&self.model, &mut self.inner);
        let d = &mut self.dynamics;
        for k in 0..d.pairs.len() {
            let pair = &d.pairs[k];
            // placed in touch: within what rounding leaves of it
            let rounding = if first { 64.0 * f64::EPSILON * d.kinematics[pair.sides[0]].p.length() } else { 0.0 };
            let reading = pair.read(model, &d.kinematics, &Springs::default(), true);
            match pair.memory.touching {
                true if reading.gap > pair.hysteresis => d.leave(k, y),
                false if reading.gap <= pair.hysteresis.max(rounding) => d.touch(k, &reading, t, y),
                _ => continue,
            }
            changed = true;
        }
        for k in 0..d.pairs.len() {
            let pair = &d.pairs[k];
            if pair.springs.is_none() || !pair.memory.touching || d.gaps[k] > 0.0 {
                continue;
            }
            let (modes, friction) = (pair.memory.modes, pair.last.friction);
            for (slip, moving, margin) in
                [(true, modes.slipping, friction.slip_margin), (false, modes.rolling, friction.roll_margin)]
            {
                if margin >= 0.0 {
                    if moving {
                        d.fasten(k, slip, y);
                    } else {
                        d.loosen(k, slip, y);
                    }
                    changed = true;
                }
            }
        }
        let mut values = Vec::new();
        d.watch(model, t, y, &mut values);
        for (k, value) in values.iter().enumerate() {
            if *value > 0.0 && self.watched.get(k).is_some_and(|before| *before <= 0.0) {
                d.trip(model, k, t, y);
                changed = true;
            }
        }
        self.evaluate(t);
        for round in 0..SETTLING {
            let elements = self.dynamics.settle_elements(&self.model, t, &self.inner);
            let one_way = (elements || round == 0) && self.dynamics.settle_one_way(&self.model, t, &mut self.inner);
            if !elements && !one_way {
                break;
            }
            self.dynamics.follow_motions(&self.model, t, &mut self.inner);
            self.evaluate(t);
            changed = true;
        }
        changed
    }
}

/// What can be added to force elements from outside.
fn inputs(model: &Model, d: &Dynamics) -> Vec<Input> {
    let mut inputs = Vec::new();
    for (k, local) in d.actions.elements.iter().enumerate() {
        for (input, own) in model.inputs_of_element(local.element as usize) {
            inputs.push(Input {
                name: input.name.clone(),
                unit: input.unit.to_owned(),
                value: input.start,
                at: [k, own],
            });
        }
    }
    inputs
}

/// Adds what an input does; after the bodies were located at (t, y).
fn push(model: &Model, d: &mut Dynamics, t: f64, y: &[f64], input: &Input) {
    let [at, index] = input.at;
    let mut local = d.actions.elements[at].clone();
    d.place_sight(model, t, y, &d.machines, &mut local);
    let kind = &model.elements[local.element as usize].kind;
    let attached = kind.attached();
    let look = |source| d.look_up(model, t, y, source);
    let seen = local.sight.seen((&local.modes, &local.kept), local.holding, &look);
    match kind.push(&seen, index, input.value) {
        Push::Coordinate(effort) => {
            if let (&[at], &[machine]) = (attached.coordinates, local.machines.as_slice()) {
                d.efforts.push((machine, at.coordinate as usize, effort));
            }
        }
        Push::Frame(Wrench { frame, at, on }) => {
            let body = attached.frames[frame].body;
            if let Some(k) = body.and_then(|body| d.bodies.binary_search(&body).ok()) {
                let arm = at - d.kinematics[k].p;
                d.pushes[k] = d.pushes[k] + Six::new(on.angular + arm.cross(on.linear), on.linear);
            }
        }
    }
}

/// (0, w) q/2.
fn turning(w: Vec3, q: Quat) -> Quat {
    Quat::from_xyzw(w.x, w.y, w.z, 0.0) * q * 0.5
}

fn orientation(y: &[f64], k: usize) -> Quat {
    Quat::from_xyzw(y[k + 1], y[k + 2], y[k + 3], y[k])
}

fn set_orientation(y: &mut [f64], k: usize, q: Quat) {
    y[k..k + 4].copy_from_slice(&[q.w, q.x, q.y, q.z]);
}
