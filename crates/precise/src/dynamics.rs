//! The equations of motion of one island: its bodies, pairs and machines, and what acts on them.
//!
//! States of a body, resolved in world: centre of mass p, Gibbs vector g, velocity v, angular velocity w (that of a body
//! with unequal moments of inertia in its own axes: free rotation then knows nothing of the orientation). The orientation is
//!   R(t) = E(g) E(W (t - t_frame)) R_frame,     E(g) = rotation of the unit quaternion (1, g)/sqrt(1 + g^2)
//! with a frame that turns at the constant rate W, the angular velocity at the start of the step: a body that spins steadily
//! has g = 0, and a fast spin costs no steps. With w_rel = w - E(g) W:   g' = (w_rel + w_rel x g + (w_rel . g) g)/2.
//!   p' = v,   v' = gravity + F/m,   w' = I^-1 (tau - w x I w)
//! Behind the states come, per body, the integrals of the ledger; see [`Account`].
//! Forces on a body are summed in doubled precision, so that the order of its contacts does not matter and a mirrored
//! scene stays mirrored.

use super::actions::{Actions, LocalElement};
use super::columns::Columns;
use super::differences::Held;
use super::layout::{ACCOUNTS, Account, set, vector};
use super::machine::Machine;
use super::pair::Pair;
use super::skin::Skin;
use super::slopes::Slopes;
use rayon::prelude::*;
use tippe_geometry::{Mat3, Vec3};
use tippe_mechanics::contact::friction::Springs;
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::Frame;
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::model::{Model, prescribed};
use tippe_mechanics::resistance::Resistance;
use tippe_mechanics::state::ActionRecord;
use tippe_mechanics::structure::Structure;
use tippe_numerics::{BlockPattern, dense};

/// From this many readings on threads share them, this many at a time.
pub(super) const SHARED: usize = 32;
/// See `SHARED`.
const CHUNK: usize = 8;
/// Pairs nearer than this share of the smallest bounding radius are near [-].
const MARGIN: f64 = 0.05;

/// Islands with so many pairs keep a skin.
const MANY_PAIRS: usize = 12;

/// An elastic, frictionless pair of centred balls: everything its force needs in one cache line.
#[derive(Clone, Copy, Debug)]
pub struct Simple {
    /// Index in the list of pairs.
    pub pair: u32,
    /// Sum of the radii [m].
    pub reach: f64,
    /// Hertz stiffness [N/m^1.5].
    pub stiffness: f64,
    /// Where the states of its bodies start.
    pub offsets: [u32; 2],
    /// Its bodies, by local index.
    pub sides: [u32; 2],
    /// Length that matters to it [m].
    pub scale: f64,
}

impl Simple {
    /// Gap [m] and Hertz's force on body 2 [N], F = K depth^(3/2) along the centres; zero while apart.
    pub(super) fn press(&self, y: &[f64]) -> (f64, Vec3) {
        let apart = vector(y, self.offsets[1] as usize) - vector(y, self.offsets[0] as usize);
        let distance = apart.length();
        let gap = distance - self.reach;
        if gap > 0.0 {
            return (gap, Vec3::ZERO);
        }
        (gap, self.stiffness * -gap * (-gap).sqrt() * (apart / distance))
    }
}

/// Bodies and pairs of one island, and their equations.
#[derive(Clone, Debug)]
pub struct Dynamics {
    /// Free bodies, by model index, ascending.
    pub bodies: Vec<u32>,
    /// Fixed and prescribed bodies that its pairs touch, by model index, ascending.
    pub externals: Vec<u32>,
    /// Candidate pairs, ascending by id.
    pub pairs: Vec<Pair>,
    /// Turning frames of the free bodies.
    pub frames: Vec<Frame>,
    /// Time of the frames [s].
    pub frame_time: f64,
    /// Integrals of the ledger up to the island's beginning, by node [J]; those of y come on top.
    pub carried: Vec<[f64; ACCOUNTS]>,
    /// Node of each free body: a body that hangs on nothing is a node, and so is a mechanism.
    pub node_of: Vec<usize>,
    /// First body of each node.
    pub first_of: Vec<usize>,
    /// First state of each free body; not used for bodies of mechanisms.
    pub offset_of: Vec<usize>,
    /// Mechanism of the island and link of each free body, if joints hold it.
    pub link_of: Vec<Option<(u32, u32)>>,
    /// Mechanisms.
    pub machines: Vec<Machine>,
    /// Force elements and equations.
    pub actions: Actions,
    /// Bodies that are gone.
    pub(super) gone: Vec<bool>,
    /// {torque, force} from outside on the centres of mass of the bodies; empty for none.
    pub pushes: Vec<Six>,
    /// What resists the bodies, by body; empty for none.
    pub(super) resisting: Vec<Vec<Resistance>>,
    /// When they change: a step ends there [s].
    pub(super) handover: f64,
    /// Forces from outside on coordinates: machine, coordinate, force or torque [N or N m].
    pub efforts: Vec<(usize, usize, f64)>,
    /// Where the integrals of each node start, behind the states.
    pub(super) integral_starts: Vec<usize>,
    /// Accelerations of the bodies of mechanisms at the last evaluation [m/s^2].
    pub accelerations: Vec<Vec3>,
    /// Relative tolerance [-].
    pub tolerance: f64,
    /// Where each node's states start, those of bodies and mechanisms first, then the springs of every pair that has some; blocks of the Jacobian.
    pub pattern: BlockPattern,
    /// Motion of the free bodies, then of the externals, at the last evaluation.
    pub kinematics: Vec<Kinematics>,
    /// Body whose error decided the last norm, by local index.
    pub worst: usize,
    /// State of the network whose error decided it instead.
    pub worst_state: Option<usize>,
    /// Gaps of the pairs at the last evaluation [m].
    pub gaps: Vec<f64>,
    /// Pairs that need not be read.
    pub skin: Skin,
    /// Where differences are taken from.
    pub(super) held: Held,
    /// First body of the cable that each free body is an element of, or hangs on.
    pub(super) line_of: Vec<Option<usize>>,
    /// Speed of the fastest body of each cable, by its first [m/s].
    pub(super) fastest: Vec<f64>,
    /// Columns of the Jacobian that need no differences of all rates.
    pub(super) columns: Columns,
    /// Derivatives of the pairs that touch, where they were last asked for.
    pub(super) slopes: Vec<Slopes>,
    /// Length of the step that is tried [s].
    pub(super) step: f64,
    /// Some pairs may touch over an area.
    pub(super) has_patches: bool,
    /// Threads share the readings of many pairs.
    pub parallel: bool,
    /// Pairs read so far, and those that touched.
    pub read: [u64; 2],
    /// Pairs to be read, by index.
    pub(super) asked: Vec<bool>,
    /// `sides` and `memory.touching` of the pairs, side by side: what is far apart is passed over without a look at the pair.
    pub(super) ends: Vec<[u32; 2]>,
    pub(super) touching: Vec<bool>,
    /// Some pair has springs.
    pub sprung: bool,
    /// Pairs with a short way to their force.
    pub simple: Vec<Simple>,
    /// All other pairs.
    pub general: Vec<u32>,
    /// Which is which, by pair.
    pub is_simple: Vec<bool>,
    /// Forces of the pairs on their body 2 at the last evaluation [N].
    pub(super) forces: Vec<Vec3>,
    /// Integrals of the ledger of each node.
    pub(super) accounts: usize,
    pub(super) moving_externals: bool,
    /// For each free body the pairs that act on it: (pair, side).
    pub(super) acting: Vec<(u32, u8)>,
    pub(super) acting_starts: Vec<u32>,
    /// Length that matters to each body [m], in increments as a share of its size [-].
    pub(super) lengths: Vec<f64>,
    /// Error of place of each body in the last step: turn [rad], shift [m].
    pub(super) errors: Vec<Six>,
    /// Rotation that matters to a body [rad]: that of its depth on the extent of a flat patch, else one.
    pub(super) turns: Vec<f64>,
}

impl Dynamics {
    /// Takes over which bodies are gone and which changes were made.
    pub fn remember(&mut self, structure: &Structure) {
        for (gone, &body) in self.gone.iter_mut().zip(&self.bodies) {
            *gone = structure.gone[body as usize];
        }
        self.actions.done.clone_from(&structure.done);
        self.handover = structure.handover.unwrap_or(f64::INFINITY);
        if !structure.pushes.is_empty() {
            self.pushes.clear();
            self.pushes.extend(self.bodies.iter().map(|&body| structure.pushes[body as usize]));
        }
        self.resisting.clear();
        if !structure.resistances.is_empty() {
            let of = |body: &u32| structure.resistances.iter().filter(|own| own.body == *body).copied().collect();
            self.resisting.extend(self.bodies.iter().map(of));
        }
    }

    /// Takes over what elements and network carried.
    pub fn restore_actions(&mut self, model: &Model, record: &ActionRecord, y: &mut [f64]) {
        for local in &mut self.actions.elements {
            let k = local.element as usize;
            local.modes.copy_from_slice(&record.modes[model.elements[k].modes.clone()]);
            local.kept.copy_from_slice(&record.kept[model.elements[k].kept.clone()]);
            local.on = record.on[k];
            let energies = &record.energies[model.elements[k].accounts.clone()];
            local.carried[..energies.len()].copy_from_slice(energies);
        }
        self.actions.done.clone_from(&record.done);
        for (&at, value) in self.actions.state_at.iter().zip(&record.states) {
            if at != usize::MAX {
                y[at] = *value;
            }
        }
    }

    /// Energy of an account of an element until y [J].
    pub fn element_energy(&self, local: &LocalElement, account: usize, y: &[f64]) -> f64 {
        local.carried[account] + y[self.pattern.rows() + local.integral + account]
    }

    /// Hands over what elements and network carry at y.
    pub fn record_actions(&self, model: &Model, record: &mut ActionRecord, y: &[f64]) {
        for local in &self.actions.elements {
            let k = local.element as usize;
            record.modes[model.elements[k].modes.clone()].copy_from_slice(&local.modes);
            record.kept[model.elements[k].kept.clone()].copy_from_slice(&local.kept);
            record.on[k] = local.on;
            for (account, place) in model.elements[k].accounts.clone().enumerate() {
                record.energies[place] = self.element_energy(local, account, y);
            }
        }
        for (k, &at) in self.actions.state_at.iter().enumerate() {
            if at != usize::MAX {
                record.states[k] = y[at];
            }
        }
    }

    /// Number of states and integrals.
    pub fn length(&self) -> usize {
        self.pattern.rows() + self.integral_starts[self.pattern.nodes()]
    }

    /// Springs of a pair in the vector y.
    pub fn springs(pair: &Pair, y: &[f64]) -> Springs {
        match pair.springs {
            None => Springs::default(),
            Some(k) => Springs { f: vector(y, k), spin: y[k + 3], roll: vector(y, k + 4) },
        }
    }

    /// Writes the springs of a pair into y.
    pub fn set_springs(pair: &Pair, y: &mut [f64], springs: &Springs) {
        if let Some(k) = pair.springs {
            set(y, k, springs.f);
            y[k + 3] = springs.spin;
            set(y, k + 4, springs.roll);
        }
    }

    /// Integrals of node `k` in y; none in a conservative island.
    pub fn accounts<'y>(&self, y: &'y [f64], k: usize) -> &'y [f64] {
        &y[self.account_start(k)..][..self.accounts]
    }

    /// Where the accounts of node `k` start in y.
    pub fn account_start(&self, k: usize) -> usize {
        self.pattern.rows() + self.integral_starts[k]
    }

    /// Adds to one account of node `k`.
    pub fn book(&self, y: &mut [f64], k: usize, account: Account, energy: f64) {
        if self.accounts > 0 {
            y[self.account_start(k) + account as usize] += energy;
        }
    }

    /// Fills the kinematics of all bodies at (t, y).
    pub fn locate(&mut self, model: &Model, t: f64, y: &[f64]) {
        self.place_externals(model, t);
        for k in 0..self.bodies.len() {
            if self.link_of[k].is_some() {
                continue;
            }
            let o = self.offset_of[k];
            let kin = &mut self.kinematics[k];
            kin.p = vector(y, o);
            kin.v = vector(y, o + 6);
            kin.w = vector(y, o + 9);
            let body = &model.bodies[self.bodies[k] as usize];
            if body.oriented {
                let q = self.frames[k].orientation(t - self.frame_time, vector(y, o + 3));
                kin.R = Mat3::from_quat(q);
                if !body.isotropic {
                    kin.w = kin.R * kin.w;
                }
            }
        }
        for machine in &mut self.machines {
            let of = |body: u32| prescribed(model, body as usize, t);
            machine.place(model, y, &self.frames, t - self.frame_time, of);
            for (kin, &k) in machine.kinematics.iter().zip(&machine.bodies) {
                self.kinematics[k] = *kin;
            }
        }
    }

    /// Reads all pairs at the kinematics in place; y holds the springs (and the places of simple pairs).
    pub fn measure(&mut self, model: &Model, y: &[f64]) {
        if self.held.on {
            return self.measure_moved(model, y);
        }
        for s in &self.simple {
            let (gap, force) = s.press(y);
            self.gaps[s.pair as usize] = gap;
            self.forces[s.pair as usize] = force;
        }
        if self.skin.used && self.skin.is_worn(&self.kinematics) {
            self.list_near();
        }
        let list = if self.skin.used { &self.skin.near } else { &self.general };
        for &k in list {
            let k = k as usize;
            self.asked[k] = true;
            if self.skin.used && !self.touching[k] {
                let least = self.skin.least(k, self.ends[k], &self.kinematics);
                if least > 0.0 {
                    if self.gaps[k] <= 0.0 {
                        self.pairs[k].last.gap = least;
                    }
                    self.gaps[k] = least;
                    self.asked[k] = false;
                }
            }
        }
        self.read_asked(model, y);
        if self.skin.used {
            for i in 0..self.skin.near.len() {
                let k = self.skin.near[i] as usize;
                if self.asked[k] {
                    self.skin.renew(k, self.ends[k], self.gaps[k], &self.kinematics);
                }
            }
        }
    }

    /// True where it pays to know which pairs cannot touch yet: many, or some that are dear to read.
    pub(super) fn wants_skin(&self) -> bool {
        self.general.len() >= MANY_PAIRS || self.pairs.iter().any(Pair::is_surface)
    }

    /// Lists the pairs that may touch soon; the gaps of all others are as small as they can become before the next list.
    fn list_near(&mut self) {
        let finite = self.skin.radii.iter().copied().filter(|r| r.is_finite() && *r > 0.0);
        let margin = MARGIN * finite.fold(f64::INFINITY, f64::min);
        self.skin.margin = if margin.is_finite() { margin } else { 0.0 };
        self.skin.near.clear();
        self.asked.fill(false);
        for &k in &self.general {
            let at = k as usize;
            let least = self.skin.least(at, self.ends[at], &self.kinematics) - self.skin.margin;
            if self.touching[at] || least <= 0.0 {
                self.skin.near.push(k);
                continue;
            }
            if self.gaps[at] <= 0.0 {
                self.pairs[at].last.gap = least;
            }
            self.gaps[at] = least;
        }
        self.skin.listed.clear();
        self.skin.listed.extend(self.kinematics.iter().map(|k| (k.p, k.R)));
    }

    /// Reads the pairs that are asked for, each on its own.
    pub(super) fn read_asked(&mut self, model: &Model, y: &[f64]) {
        let kinematics = &self.kinematics;
        let read = |pair: &mut Pair, asked: bool| {
            if asked {
                pair.read_last(model, kinematics, |pair| Dynamics::springs(pair, y));
                pair.dipped |= pair.last.gap <= 0.0;
            }
        };
        let count = self.asked.iter().filter(|&&asked| asked).count();
        if self.parallel && count >= SHARED {
            let pairs = self.pairs.par_iter_mut().zip(&self.asked).with_min_len(CHUNK);
            pairs.for_each(|(pair, &asked)| read(pair, asked));
        } else {
            self.pairs.iter_mut().zip(&self.asked).for_each(|(pair, &asked)| read(pair, asked));
        }
        let pairs = self.pairs.iter().zip(&self.asked).zip(self.gaps.iter_mut().zip(&mut self.forces));
        for ((pair, _), (gap, force)) in pairs.filter(|((_, asked), _)| **asked) {
            self.read[1] += u64::from(pair.last.gap <= 0.0);
            (*gap, *force) = (pair.last.gap, pair.last.total);
        }
        self.read[0] += count as u64;
    }

    /// Acceleration and angular acceleration of body `k` (local) under what was measured [m/s^2], [rad/s^2]; that of a body
    /// with unequal moments of inertia, whose angular velocity in its own axes is `w_b`, in its own axes.
    pub fn acceleration(&self, model: &Model, k: usize, w_b: Vec3) -> (Vec3, Vec3) {
        let body = &model.bodies[self.bodies[k] as usize];
        let Six { angular: tau, linear: force } = self.load(k);
        let kin = &self.kinematics[k];
        if self.actions.added.iter().any(|(heavier, _)| *heavier == k) {
            return self.heavier(model, k);
        }
        let angular = if body.isotropic && tau == Vec3::ZERO {
            Vec3::ZERO
        } else if body.isotropic {
            tau * body.I_c_inverse.x_axis.x
        } else {
            let tau_b = if tau == Vec3::ZERO { tau } else { kin.R.transpose() * tau };
            body.I_c_inverse * (tau_b - w_b.cross(body.I_c * w_b))
        };
        (model.gravity_at(kin.p) + force / body.mass, angular)
    }

    /// Its acceleration with what elements add to its inertia K: ({J, m} + K) {alpha, a} = {torque - w x J w, force + m g}.
    fn heavier(&self, model: &Model, k: usize) -> (Vec3, Vec3) {
        let body = &model.bodies[self.bodies[k] as usize];
        let (kin, load) = (&self.kinematics[k], self.load(k));
        let w_b = kin.R.transpose() * kin.w;
        let J = kin.R * body.I_c * kin.R.transpose();
        let mut A = [0.0; 36];
        for c in 0..3 {
            (0..3).for_each(|r| A[6 * r + c] = J.col(c)[r]);
            A[6 * (3 + c) + 3 + c] = body.mass;
        }
        for (_, own) in self.actions.added.iter().filter(|(heavier, _)| *heavier == k) {
            (0..36).for_each(|i| A[i] += own.entry(i / 6, i % 6));
        }
        let torque = load.angular - kin.R * w_b.cross(body.I_c * w_b);
        let force = load.linear + model.gravity_at(kin.p) * body.mass;
        let mut x = [torque.x, torque.y, torque.z, force.x, force.y, force.z];
        dense::solve(&mut A, &mut x);
        let alpha = Vec3::new(x[0], x[1], x[2]);
        (Vec3::new(x[3], x[4], x[5]), if body.isotropic { alpha } else { kin.R.transpose() * alpha })
    }

    /// {torque, force} of contacts and force elements on body `k` (local), about its centre of mass.
    pub(super) fn load_anew(&self, k: usize) -> Six {
        if self.acting_starts[k] == self.acting_starts[k + 1] && self.pushes.is_empty() && self.resisting.is_empty() {
            return self.actions.loads.get(k).copied().unwrap_or_default();
        }
        let (mut force, mut torque) = (Sum::ZERO, Sum::ZERO);
        for load in self.actions.loads.get(k).into_iter().chain(self.pushes.get(k)) {
            force.add(load.linear);
            torque.add(load.angular);
        }
        for own in self.resisting.get(k).into_iter().flatten() {
            let load = own.wrench(&self.kinematics[k]);
            force.add(load.linear);
            torque.add(load.angular);
        }
        for &(pair, side) in &self.acting[self.acting_starts[k] as usize..self.acting_starts[k + 1] as usize] {
            if self.gaps[pair as usize] > 0.0 {
                continue;
            }
            let f = self.forces[pair as usize];
            force.add(if side == 0 { -f } else { f });
            if !self.is_simple[pair as usize] {
                torque.add(self.pairs[pair as usize].last.torques[side as usize]);
            }
        }
        Six { angular: torque.value(), linear: force.value() }
    }

    /// Rates of the mechanisms' states at (t, y) into f, under what was measured.
    pub(super) fn move_machines(&mut self, model: &Model, t: f64, y: &[f64], f: &mut [f64]) {
        let mut machines = std::mem::take(&mut self.machines);
        for &(machine, coordinate, effort) in &self.efforts {
            machines[machine].tau[coordinate] += effort;
        }
        for machine in &mut machines {
            for (link, &k) in machine.bodies.iter().enumerate() {
                let mass = model.bodies[self.bodies[k] as usize].mass;
                let mut load = self.load(k);
                load.linear += model.gravity_at(self.kinematics[k].p) * mass;
                machine.loads[link] = load;
            }
            machine.work.added.clear();
            for (k, own) in &self.actions.added {
                let link = machine.bodies.iter().position(|body| body == k);
                machine.work.added.extend(link.map(|link| (link, *own)));
            }
            machine.rates(model, y, f, &self.frames, |body| prescribed(model, body as usize, t));
            for (link, &k) in machine.bodies.iter().enumerate() {
                self.accelerations[k] = machine.work.links[link].a.linear;
            }
        }
        self.machines = machines;
    }

    /// Motion of body `k` (local, externals included) where `at` gives the states by index, `since` the frames were set [s].
    pub fn motion_at(&self, model: &Model, k: usize, since: f64, at: &dyn Fn(usize) -> f64) -> Kinematics {
        let t = self.frame_time + since;
        if k >= self.bodies.len() {
            return prescribed(model, self.externals[k - self.bodies.len()] as usize, t);
        }
        if let Some((machine, link)) = self.link_of[k] {
            let machine = &self.machines[machine as usize];
            let n = machine.tau.len();
            return model.mechanisms[machine.index as usize].place_one(
                link as usize,
                &|i| (at(machine.offset + i), at(machine.offset + n + i)),
                &|link| self.frames[machine.bodies[link]].at(since),
                &|body| prescribed(model, body as usize, t),
            );
        }
        let o = self.offset_of[k];
        let three = |i: usize| Vec3::new(at(i), at(i + 1), at(i + 2));
        let body = &model.bodies[self.bodies[k] as usize];
        let mut kin = Kinematics { p: three(o), v: three(o + 6), w: three(o + 9), R: self.kinematics[k].R };
        if body.oriented {
            kin.R = Mat3::from_quat(self.frames[k].orientation(since, three(o + 3)));
            if !body.isotropic {
                kin.w = kin.R * kin.w;
            }
        }
        kin
    }

    /// Rates of a pair's springs as measured, zero where it is apart or its touch is not yet handled.
    pub fn spring_rates(pair: &Pair) -> Springs {
        if pair.last.gap <= 0.0 && pair.memory.touching { pair.last.friction.rates } else { Springs::default() }
    }

    /// Prescribed bodies at time t.
    pub fn place_externals(&mut self, model: &Model, t: f64) {
        if self.moving_externals {
            for (k, &body) in self.externals.iter().enumerate() {
                self.kinematics[self.bodies.len() + k] = prescribed(model, body as usize, t);
            }
        }
    }

    /// Kinetic, potential and elastic energy at (t, y), and what of the last is still in the account of sliding [J].
    pub fn energies(&mut self, model: &Model, t: f64, y: &[f64]) -> [f64; 4] {
        self.locate(model, t, y);
        let [mut kinetic, mut potential, mut elastic, mut held] = [0.0; 4];
        if !self.actions.is_empty() {
            self.exert(model, t, y, &mut []);
            elastic += self.actions.elements.iter().map(|local| local.effect.stored).sum::<f64>();
        }
        for node in 0..self.first_of.len() {
            let since = self.accounts(y, node).get(Account::Elastic as usize).copied().unwrap_or(0.0);
            elastic += self.carried[node][Account::Elastic as usize] + since;
        }
        for (k, &body) in self.bodies.iter().enumerate() {
            let (body, kin) = (&model.bodies[body as usize], &self.kinematics[k]);
            if self.gone[k] {
                continue;
            }
            let w_b = if body.isotropic { kin.w } else { kin.R.transpose() * kin.w };
            kinetic += 0.5 * body.mass * kin.v.length_squared() + 0.5 * w_b.dot(body.I_c * w_b);
            potential += body.mass * model.potential_at(kin.p);
        }
        for machine in &self.machines {
            let mechanism = &model.mechanisms[machine.index as usize];
            kinetic += mechanism.kinetic_of_bending(&machine.kinematics, machine.states(y).1, &machine.work);
        }
        for pair in &self.pairs {
            let reading = pair.read(model, &self.kinematics, &Self::springs(pair, y), false);
            if reading.gap <= 0.0 {
                elastic += reading.friction.energy;
                held += if pair.books_what_friction_takes() { reading.friction.energy } else { 0.0 };
                if pair.energy_is_closed(&reading) {
                    elastic += reading.force.energy;
                }
            }
        }
        [kinetic, potential, elastic, held]
    }
}

/// A sum in doubled precision (Knuth's two-sum).
#[derive(Clone, Copy)]
struct Sum {
    high: Vec3,
    low: Vec3,
}

impl Sum {
    const ZERO: Sum = Sum { high: Vec3::ZERO, low: Vec3::ZERO };

    fn add(&mut self, x: Vec3) {
        let s = self.high + x;
        let b = s - self.high;
        self.low += (self.high - (s - b)) + (x - b);
        self.high = s;
    }

    fn value(self) -> Vec3 {
        self.high + self.low
    }
}
