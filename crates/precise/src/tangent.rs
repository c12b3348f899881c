//! Small motions about an instant in independent coordinates: what statics and linearisation share.
//!
//! Of the coordinates of a mechanism with loops as many depend on the others as its rows G u = 0 have rank; elimination with
//! full exchange on G chooses them. A displacement of the independent ones is completed by Newton's method on the rows, their
//! rates by G u = 0. Sticking contacts take their springs along: f moves by what its rate would be per unit of speed.

use super::dynamics::Dynamics;
use super::layout::{set, vector};
use super::whole::Whole;
use serde::Serialize;
use tippe_geometry::{Mat3, Vec3};
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::BodyState;
use tippe_mechanics::mechanism::Mode;
use tippe_mechanics::model::SignalSource;
use tippe_numerics::dense::{pivot_columns, solve};

/// A state, input or output of a linear system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Quantity {
    /// Name, with its owner's.
    pub name: String,
    /// SI unit, `-` if none.
    pub unit: String,
}

/// Differences displace a body by this share of its size, or of the depth of its contacts [-].
const SHARE: f64 = 1e-5;
/// See `SHARE`.
const DEPTH_SHARE: f64 = 1e-3;
/// Differences of rates, as a share of a body's size per second, or of one radian per second [-].
const RATE_SHARE: f64 = 1e-4;
/// Rows below this share of the largest are redundant [-].
const REDUNDANT: f64 = 1e-9;
/// Rounds of Newton's method on the rows.
const ROUNDS: usize = 30;
/// Contacts less deep than this share of their scale have just begun to touch [-].
const SHALLOW: f64 = 0.1;
/// Speed at which the springs of contacts are asked for their stiffness [m/s].
const SLOW: f64 = 1e-6;

/// A number that can be varied independently of all others.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Name, with its owner's.
    pub name: String,
    /// SI unit.
    pub unit: String,
    /// Where it is among the states of the island.
    at: usize,
    /// Change there per change of the variable: rotations are halved to Gibbs vectors [-].
    factor: f64,
    /// Step of differences.
    step: f64,
}

/// A variable whose step of differences is not nothing.
fn variable(name: String, unit: &str, at: usize, factor: f64, step: f64) -> Variable {
    Variable { name, unit: unit.into(), at, factor, step: step.max(1e-12) }
}

/// Positions, and their rates in the same order.
#[derive(Default)]
struct Found {
    positions: Vec<Variable>,
    rates: Vec<Variable>,
}

/// Share of each body's size that matters to it: less where it touches less deep [-].
fn shares_of_contacts(d: &Dynamics, sizes: &[f64]) -> Vec<f64> {
    let mut shares = vec![SHARE; sizes.len()];
    for (pair, &gap) in d.pairs.iter().zip(&d.gaps) {
        if gap <= 0.0 || pair.memory.touching {
            let depth = if gap < 0.0 { -gap } else { pair.scale };
            for &k in pair.sides.iter().filter(|&&k| k < sizes.len()) {
                shares[k] = shares[k].min(DEPTH_SHARE * depth / sizes[k]);
            }
        }
    }
    shares
}

/// Pose, acceleration and share of the model's inertia of one body.
#[derive(Clone, Copy, Debug)]
pub struct Moving {
    /// Which of the model's.
    pub body: u32,
    /// Centre of mass [m].
    p: Vec3,
    R: Mat3,
    /// Acceleration {angular, linear} of the centre of mass [rad/s^2, m/s^2].
    pub a: Six,
    /// {torque, force} it takes [N m, N].
    force: Six,
}

impl Moving {
    /// Centre of mass [m].
    pub fn place(&self) -> Vec3 {
        self.p
    }
}

/// The model at one instant, and the ways it can move from there.
#[derive(Clone, Debug)]
pub struct Tangent {
    /// The model.
    pub whole: Whole,
    /// The instant [s].
    pub time: f64,
    /// Positions, as many rates, then states of the network.
    pub variables: Vec<Variable>,
    /// Number of positions.
    pub freedom: usize,
    base: Vec<f64>,
    base_rates: Vec<f64>,
    /// Dependent coordinates of each machine.
    dependent: Vec<Vec<usize>>,
}

impl Tangent {
    /// The ways a model can move from where it is at time t.
    pub fn new(whole: Whole, time: f64) -> Tangent {
        let mut tangent = Tangent {
            time,
            variables: Vec::new(),
            freedom: 0,
            base: Vec::new(),
            base_rates: Vec::new(),
            dependent: Vec::new(),
            whole,
        };
        tangent.settle();
        tangent
    }

    /// The states in place are those of the instant.
    fn settle(&mut self) {
        let whole = &mut self.whole;
        let y = whole.present(self.time);
        whole.read(self.time, &y);
        whole.turn_frames();
        whole.evaluate(self.time);
        self.base.clone_from(&whole.inner);
        self.base_rates.clone_from(&whole.rates);
        self.dependent = vec![Vec::new(); whole.dynamics.machines.len()];
        self.find_variables();
    }

    /// Positions and rates of bodies that hang on nothing, then of mechanisms; states of the network.
    fn find_variables(&mut self) {
        let d = &self.whole.dynamics;
        let of_size = |&body: &u32| self.whole.model.bodies[body as usize].size.max(1e-9);
        let sizes: Vec<f64> = d.bodies.iter().map(of_size).collect();
        let shares = shares_of_contacts(d, &sizes);
        let mut found = self.variables_of_bodies(&sizes, &shares);
        for m in 0..self.whole.dynamics.machines.len() {
            let lengths = self.lengths_of_coordinates(m, &sizes);
            self.find_dependent(m, &lengths);
            // a mechanism moves as a whole: the most delicate contact decides
            let bodies = &self.whole.dynamics.machines[m].bodies;
            let share = bodies.iter().map(|&k| shares[k]).fold(SHARE, f64::min);
            self.variables_of_machine(m, &lengths, share, &mut found);
        }
        self.freedom = found.positions.len();
        self.variables = found.positions;
        self.variables.extend(found.rates);
        self.variables.extend(self.variables_of_network());
    }

    /// Three positions and three turns of each body that hangs on nothing, with their rates.
    fn variables_of_bodies(&self, sizes: &[f64], shares: &[f64]) -> Found {
        let (model, d) = (&self.whole.model, &self.whole.dynamics);
        let mut found = Found::default();
        for k in (0..sizes.len()).filter(|&k| d.link_of[k].is_none()) {
            let (o, name) = (d.offset_of[k], &model.bodies[d.bodies[k] as usize].name);
            for (i, axis) in ["x", "y", "z"].into_iter().enumerate() {
                found.positions.push(variable(
                    format!("{name}.position.{axis}"),
                    "m",
                    o + i,
                    1.0,
                    shares[k] * sizes[k],
                ));
                let rate = format!("{name}.velocity.{axis}");
                found.rates.push(variable(rate, "m/s", o + 6 + i, 1.0, RATE_SHARE * sizes[k]));
            }
            for (i, axis) in ["x", "y", "z"].into_iter().enumerate() {
                found.positions.push(variable(format!("{name}.turn.{axis}"), "rad", o + 3 + i, 0.5, shares[k]));
                let rate = format!("{name}.angular_velocity.{axis}");
                found.rates.push(variable(rate, "rad/s", o + 9 + i, 1.0, RATE_SHARE));
            }
        }
        found
    }

    /// Length that matters to each coordinate of machine `m`: the size of the body it moves, or one radian.
    fn lengths_of_coordinates(&self, m: usize, sizes: &[f64]) -> Vec<f64> {
        let machine = &self.whole.dynamics.machines[m];
        let mechanism = &self.whole.model.mechanisms[machine.index as usize];
        let mut lengths = vec![1.0; mechanism.coordinates];
        for (link, &k) in mechanism.links.iter().zip(&machine.bodies) {
            for i in (0..link.count).filter(|&i| !link.joint.is_rotation(i)) {
                lengths[link.first + i] = sizes[k];
            }
        }
        lengths
    }

    /// Which coordinates of machine `m` depend on the others by its rows.
    fn find_dependent(&mut self, m: usize, lengths: &[f64]) {
        let machine = &mut self.whole.dynamics.machines[m];
        let mechanism = &self.whole.model.mechanisms[machine.index as usize];
        if !mechanism.has_rows() {
            return;
        }
        let n = mechanism.coordinates;
        let mut G = Vec::new();
        mechanism.gradients(&machine.work, &mut machine.displaced, &mut G);
        for (j, g) in G.iter_mut().enumerate() {
            *g *= if machine.work.modes[j % n] == Mode::Free { lengths[j % n] } else { 0.0 };
        }
        self.dependent[m] = pivot_columns(&mut G, n, REDUNDANT);
    }

    /// Free and independent coordinates of machine `m`, with their rates; its bodies move by this share of their lengths.
    fn variables_of_machine(&self, m: usize, lengths: &[f64], share: f64, found: &mut Found) {
        let (model, machine) = (&self.whole.model, &self.whole.dynamics.machines[m]);
        let mechanism = &model.mechanisms[machine.index as usize];
        let n = mechanism.coordinates;
        for link in &mechanism.links {
            let owner = match link.source {
                Some(joint) => &model.joints[joint as usize].name,
                None => &model.bodies[link.body as usize].name,
            };
            for i in 0..link.count {
                let at = link.first + i;
                if machine.work.modes[at] != Mode::Free || self.dependent[m].contains(&at) {
                    continue;
                }
                let (turns, based) = (link.joint.is_rotation(i), link.joint.has_base() && i < 3);
                let name = match based {
                    _ if i >= link.joint.coordinates() => {
                        let body = &model.bodies[link.body as usize].name;
                        let name = format!("{body}.mode{}", i - link.joint.coordinates() + 1);
                        found.positions.push(variable(
                            name.clone(),
                            "m kg^0.5",
                            machine.offset + at,
                            1.0,
                            share * lengths[at],
                        ));
                        let at_rate = machine.offset + n + at;
                        found.rates.push(variable(
                            format!("{name}_rate"),
                            "m kg^0.5/s",
                            at_rate,
                            1.0,
                            RATE_SHARE * lengths[at],
                        ));
                        continue;
                    }
                    true => format!("{owner}.turn.{}", ["x", "y", "z"][i]),
                    false => format!("{owner}.{}", link.joint.coordinate_names()[i].0),
                };
                let (unit, rate_unit) = if turns { ("rad", "rad/s") } else { ("m", "m/s") };
                let factor = if based { 0.5 } else { 1.0 };
                found.positions.push(variable(name, unit, machine.offset + at, factor, share * lengths[at]));
                let rate = format!("{owner}.{}", link.joint.rate_names()[i]);
                found.rates.push(variable(rate, rate_unit, machine.offset + n + at, 1.0, RATE_SHARE * lengths[at]));
            }
        }
    }

    /// States of the network and of elements.
    fn variables_of_network(&self) -> Vec<Variable> {
        let mut states = Vec::new();
        let places = self.whole.dynamics.actions.state_at.iter().enumerate();
        for (k, &at) in places.filter(|(_, at)| **at != usize::MAX) {
            let state = &self.whole.model.states[k];
            let size = self.base[at].abs().max(state.start.abs()).max(10.0 * state.scale);
            states.push(variable(state.name.clone(), state.unit, at, 1.0, SHARE * size));
        }
        states
    }

    /// Moves from the instant by these changes of the variables, loops closed, springs of contacts taken along; the
    /// equations are evaluated there. False if that is not possible.
    pub fn displace(&mut self, change: &[f64]) -> bool {
        self.whole.inner.clone_from(&self.base);
        for (variable, change) in self.variables.iter().zip(change) {
            self.whole.inner[variable.at] += variable.factor * change;
        }
        let moved = change[..self.freedom].iter().any(|&c| c != 0.0);
        let turned = change[..2 * self.freedom].iter().any(|&c| c != 0.0);
        self.whole.evaluate(self.time);
        if turned && !self.close(moved) {
            return false;
        }
        if moved {
            self.take_springs();
        }
        self.whole.evaluate(self.time);
        self.whole.rates.iter().all(|x| x.is_finite())
    }

    /// Closes all loops by their dependent coordinates (if places have changed) and rates.
    fn close(&mut self, places: bool) -> bool {
        let mut G = Vec::new();
        for m in 0..self.dependent.len() {
            if self.dependent[m].is_empty() {
                continue;
            }
            let mut before = f64::INFINITY;
            let mut round = if places { 0 } else { ROUNDS };
            while round <= ROUNDS {
                let rates = round == ROUNDS;
                let machine = &mut self.whole.dynamics.machines[m];
                let mechanism = &self.whole.model.mechanisms[machine.index as usize];
                let n = mechanism.coordinates;
                let mut halves = vec![1.0; n];
                for link in mechanism.links.iter().filter(|l| l.joint.has_base()) {
                    halves[link.first..link.first + 3].fill(0.5);
                }
                mechanism.gradients(&machine.work, &mut machine.displaced, &mut G);
                let mut right = Vec::new();
                for (r, row) in machine.work.rows.iter().enumerate() {
                    right.push(match (rates, row.holonomic) {
                        (true, _) => -row.rate,
                        (false, true) => -row.phi,
                        // rolling: the way must obey the rate's rule
                        (false, false) => {
                            let at = |i: usize| machine.offset + i;
                            let moved = |i: usize| (self.whole.inner[at(i)] - self.base[at(i)]) / halves[i];
                            -(0..n).map(|i| G[r * n + i] * moved(i)).sum::<f64>()
                        }
                    });
                }
                let wrong = right.iter().fold(0.0, |w: f64, x| w.max(x.abs()));
                if !wrong.is_finite() {
                    return false;
                }
                if !rates && (wrong == 0.0 || (wrong < 1e-9 && wrong > 0.25 * before)) {
                    round = ROUNDS;
                    continue;
                }
                if round + 1 == ROUNDS {
                    return false;
                }
                before = wrong;
                let Some(x) = least_squares(&G, n, &self.dependent[m], &right) else { return false };
                let from = machine.offset + if rates { n } else { 0 };
                for (&i, x) in self.dependent[m].iter().zip(&x) {
                    self.whole.inner[from + i] += if rates { *x } else { halves[i] * x };
                }
                self.whole.evaluate(self.time);
                round += 1;
            }
        }
        true
    }

    /// Springs of sticking contacts go along with the displacement in place.
    fn take_springs(&mut self) {
        let d = &self.whole.dynamics;
        let springs: Vec<usize> = (d.pairs.iter().filter(|p| p.memory.touching).filter_map(|p| p.springs))
            .flat_map(|k| k..k + super::pair::SPRING_STATES)
            .collect();
        if springs.is_empty() {
            return;
        }
        let moved = self.whole.inner.clone();
        let mut y = self.base.clone();
        // the displacement as a velocity
        let mut ways: Vec<(usize, usize, f64)> = Vec::new();
        let mut largest: f64 = 0.0;
        for k in (0..d.bodies.len()).filter(|&k| d.link_of[k].is_none()) {
            let o = d.offset_of[k];
            let turn = (vector(&moved, o + 3) - vector(&self.base, o + 3)) * 2.0;
            let isotropic = self.whole.model.bodies[d.bodies[k] as usize].isotropic;
            let turn = if isotropic { turn } else { d.frames[k].rotation.conjugate() * turn };
            let way = vector(&moved, o) - vector(&self.base, o);
            for i in 0..3 {
                ways.push((o, 6 + i, way[i]));
                ways.push((o, 9 + i, turn[i]));
            }
        }
        for machine in &d.machines {
            let mechanism = &self.whole.model.mechanisms[machine.index as usize];
            for link in &mechanism.links {
                for i in 0..link.count {
                    let half = if link.joint.has_base() && i < 3 { 0.5 } else { 1.0 };
                    let at = machine.offset + link.first + i;
                    ways.push((at, mechanism.coordinates, (moved[at] - self.base[at]) / half));
                }
            }
        }
        for way in &ways {
            largest = largest.max(way.2.abs());
        }
        if largest == 0.0 {
            return;
        }
        let speed = SLOW / largest;
        for (at, rate, way) in ways {
            y[at + rate] += speed * way;
        }
        self.whole.inner = y;
        self.whole.evaluate(self.time);
        let fast: Vec<f64> = springs.iter().map(|&k| self.whole.rates[k]).collect();
        self.whole.inner = moved;
        for (&k, rate) in springs.iter().zip(fast) {
            self.whole.inner[k] += (rate - self.base_rates[k]) / speed;
        }
    }

    /// Rates of the variables where the equations were evaluated last.
    pub fn rates(&self) -> Vec<f64> {
        self.variables.iter().map(|v| self.whole.rates[v.at] / v.factor).collect()
    }

    /// Values of the outputs (indices of the model's signals) where the equations were evaluated last.
    fn outputs(&self, which: &[u32]) -> Vec<f64> {
        let all = self.signals();
        which.iter().map(|&k| all[k as usize]).collect()
    }

    /// States of the network where the equations were evaluated last, by index; zero where there is no such state.
    pub fn states(&self) -> Vec<f64> {
        let at = |&k: &usize| self.whole.inner.get(k).copied().unwrap_or(0.0);
        self.whole.dynamics.actions.state_at.iter().map(at).collect()
    }

    /// Values of all signals of the model where the equations were evaluated last.
    pub fn signals(&self) -> Vec<f64> {
        self.whole.signals(self.time)
    }

    /// Signals of the model that are outputs of the linear system: what joints and sensors measure, and values of equations.
    pub fn output_signals(&self) -> Vec<u32> {
        let is_output = |source: &SignalSource| {
            matches!(
                source,
                SignalSource::Coordinate { .. }
                    | SignalSource::Orientation { .. }
                    | SignalSource::Rate { .. }
                    | SignalSource::Sensor { .. }
                    | SignalSource::Value(_)
            )
        };
        let signals = self.whole.model.signals.iter().enumerate();
        signals.filter(|(_, s)| is_output(&s.source)).map(|(k, _)| k as u32).collect()
    }

    /// Derivatives by variable `column` of the rates of all variables and of the outputs, by central differences; `None` where
    /// the model cannot be displaced.
    pub fn column(&mut self, column: usize, outputs: &[u32]) -> Option<(Vec<f64>, Vec<f64>)> {
        let mut change = vec![0.0; self.variables.len()];
        let h = self.variables[column].step;
        let mut at = |tangent: &mut Tangent, h: f64| {
            change[column] = h;
            tangent.displace(&change).then(|| (tangent.rates(), tangent.outputs(outputs)))
        };
        let (up, down) = (at(self, h)?, at(self, -h)?);
        Some((slope(&up.0, &down.0, h), slope(&up.1, &down.1, h)))
    }

    /// Derivatives by input `k` of the rates of all variables and of the outputs.
    pub fn input_column(&mut self, k: usize, outputs: &[u32]) -> (Vec<f64>, Vec<f64>) {
        self.whole.inner.clone_from(&self.base);
        let mut at = |value: f64| {
            self.whole.set_input(k, value);
            self.whole.evaluate(self.time);
            (self.rates(), self.outputs(outputs))
        };
        let (up, down) = (at(1.0), at(-1.0));
        at(0.0);
        (slope(&up.0, &down.0, 1.0), slope(&up.1, &down.1, 1.0))
    }

    /// Everything stands still: rates are zero, and those of the dependent coordinates what the rows ask for.
    pub fn stop(&mut self) {
        let d = &self.whole.dynamics;
        for k in (0..d.bodies.len()).filter(|&k| d.link_of[k].is_none()) {
            let o = d.offset_of[k];
            set(&mut self.base, o + 6, Vec3::ZERO);
            set(&mut self.base, o + 9, Vec3::ZERO);
        }
        for machine in &d.machines {
            let n = machine.tau.len();
            self.base[machine.offset + n..machine.offset + 2 * n].fill(0.0);
        }
        self.whole.inner.clone_from(&self.base);
        self.whole.turn_frames();
        self.whole.evaluate(self.time);
        self.base_rates.clone_from(&self.whole.rates);
    }

    /// True if a sticking contact would slip where the equations were evaluated last.
    pub fn slips(&self) -> bool {
        let sticks = self.whole.dynamics.pairs.iter().filter(|p| p.springs.is_some() && p.memory.touching);
        sticks.filter(|p| p.last.gap <= 0.0 && !p.memory.modes.slipping).any(|p| p.last.friction.yields)
    }

    /// Longest way before contacts that have just begun to touch know their stiffness, as a share of the bodies' sizes [-].
    pub fn shallow(&self) -> f64 {
        let d = &self.whole.dynamics;
        let mut share = f64::INFINITY;
        for (pair, &gap) in d.pairs.iter().zip(&d.gaps) {
            if pair.springs.is_some() && pair.memory.touching && -gap < SHALLOW * pair.scale {
                for &k in pair.sides.iter().filter(|&&k| k < d.bodies.len()) {
                    share = share.min(pair.scale / self.whole.model.bodies[d.bodies[k] as usize].size.max(1e-9));
                }
            }
        }
        share
    }

    /// The place of the last displacement is the new instant's: contacts join and leave the contact set there.
    pub fn accept(&mut self) {
        self.whole.rebuild(self.time, false);
        self.settle();
    }

    /// Free bodies where the equations were evaluated last.
    pub fn moving(&self) -> Vec<Moving> {
        let d = &self.whole.dynamics;
        (0..d.bodies.len())
            .map(|k| {
                let (kin, body) = (&d.kinematics[k], &self.whole.model.bodies[d.bodies[k] as usize]);
                let a = d.body_acceleration(&self.whole.model, k);
                let torque = kin.R * (body.I_c * (kin.R.transpose() * a.angular));
                let force = Six::new(torque, a.linear * body.mass);
                Moving { body: d.bodies[k], p: kin.p, R: kin.R, a, force }
            })
            .collect()
    }

    /// Motion of all bodies of the model where the equations were evaluated last.
    pub fn bodies(&self) -> Vec<BodyState> {
        self.whole.bodies(self.time)
    }
}

/// Work of the mean of two forces on the way between two places, and of the first alone [J]; largest way as a share of the
/// sizes of the bodies [-]; largest turn [rad].
pub fn work(from: &[Moving], to: &[Moving], size: impl Fn(u32) -> f64) -> (f64, f64, f64, f64) {
    let (mut mean, mut first, mut way, mut angle): (f64, f64, f64, f64) = (0.0, 0.0, 0.0, 0.0);
    for (a, b) in from.iter().zip(to) {
        let turn = b.R * a.R.transpose();
        let turn = 0.5
            * Vec3::new(turn.y_axis.z - turn.z_axis.y, turn.z_axis.x - turn.x_axis.z, turn.x_axis.y - turn.y_axis.x);
        let moved = Six::new(turn, b.p - a.p);
        mean += 0.5 * (a.force + b.force).dot(&moved);
        first += a.force.dot(&moved);
        way = way.max(moved.linear.length() / size(a.body));
        angle = angle.max(moved.angular.length());
    }
    (mean, first, way, angle)
}

fn slope(up: &[f64], down: &[f64], h: f64) -> Vec<f64> {
    up.iter().zip(down).map(|(up, down)| (up - down) / (2.0 * h)).collect()
}

/// x with G x nearest to `right`, over these columns of G (rows of length n), by the normal equations.
fn least_squares(G: &[f64], n: usize, columns: &[usize], right: &[f64]) -> Option<Vec<f64>> {
    let m = columns.len();
    let (mut N, mut x) = (vec![0.0; m * m], vec![0.0; m]);
    for (r, right) in right.iter().enumerate() {
        let row = &G[r * n..][..n];
        for (i, &a) in columns.iter().enumerate() {
            x[i] += row[a] * right;
            for (j, &b) in columns.iter().enumerate() {
                N[i * m + j] += row[a] * row[b];
            }
        }
    }
    solve(&mut N, &mut x).then_some(x)
}
