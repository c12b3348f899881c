//! Mechanisms in a step: free motion of trees, rows of joints, coordinates read off the velocities of the bodies.

use super::Clock;
use tippe_geometry::{Mat3, Quat, Vec3};
use tippe_mechanics::event::Event;
use tippe_mechanics::joint::{Joint, Row, Six};
use tippe_mechanics::kinematics::gibbs_rate;
use tippe_mechanics::kinematics::{Kinematics, rotated};
use tippe_mechanics::mechanism::{Mechanism, Mode, Parent, Side, Standpoint, Work};
use tippe_mechanics::model::{Drive, Model};
use tippe_mechanics::model::{inertia, prescribed};
use tippe_mechanics::state::MachineRecord;
use tippe_numerics::kkt::{self, End, Ends, Tie};

/// Free motion is taken to high order while the tension of joints swings no body faster than this, h omega [-].
const SMOOTH: f64 = 4.0;
/// ... and this many times faster where loops are closed [-].
const LOOPS: f64 = 4.0;
/// ... in substeps of at most this [-].
const SWING: f64 = 0.5;
/// Coordinates move at most by this per substep of the free motion [m or rad].
const STRIDE: f64 = 0.1;
/// Rounds of projection of loops after a step.
const PROJECTIONS: usize = 2;

/// A mechanism with room to work in.
#[derive(Clone, Debug)]
pub struct Machine {
    /// What the recursions left.
    pub work: Work,
    /// Motion of its links at the beginning of the step.
    pub kinematics: Vec<Kinematics>,
    /// Forces on its coordinates.
    pub tau: Vec<f64>,
    /// True if its free motion was taken to high order.
    pub smooth: bool,
    /// True if it is ready to answer to impulses before the free motion of the step is known.
    pub ready: bool,
    /// Rates at the end of the step without rows.
    pub u_free: Vec<f64>,
    /// Coordinates and bases there.
    pub q_free: Vec<f64>,
    /// See `q_free`.
    pub bases_free: Vec<Quat>,
    /// Row of each coordinate: its rate is that times the relative motion at the child's centre of mass.
    pub dual: Vec<Six>,
    /// {torque, force} of each joint on its link's centre of mass at the beginning of the step, without rows.
    pub reactions: Vec<Six>,
    /// {torque, force} that rows of the solution add on side 2 of each link's joint, then of each loop, about frame 2.
    pub added: Vec<Six>,
    /// {torque, force} of each loop on its side 2 about frame 2 at the beginning of the step, without rows of the solution.
    pub loop_reactions: Vec<Six>,
    /// Coordinates given by a motion: rate in this step.
    pub given: Vec<Option<f64>>,
    /// Multipliers that couplings, and loops of one row, have in the free motion of the step, by owner; NaN for
    /// those that are slack in it.
    pub tension: Vec<f64>,
    /// True if the free motion ends where one of them that is slack in it is beyond its limit: rows must act.
    pub overruns: bool,
    /// What impacts inside the step add to the coordinates.
    pub hop: Vec<f64>,
    /// Largest violation of a loop.
    pub drift: f64,
    loads: Vec<Six>,
    /// Indices of all links, no forces on coordinates, and motions: how the mechanism answers to a row.
    all_links: Vec<u32>,
    no_forces: Vec<f64>,
    pub motions: Vec<Six>,
    all_loads: Vec<Six>,
    torque: Vec<f64>,
    fresh: Vec<Row>,
    stage_q: Vec<f64>,
    /// Rates of the modes that the rows gave, by coordinate.
    pub modal_u: Vec<f64>,
    /// Rates of a stage of the free motion, or those that a row gives.
    pub stage_u: Vec<f64>,
    sum_q: Vec<f64>,
    sum_u: Vec<f64>,
    k_q: Vec<f64>,
    k_u: Vec<f64>,
    moved: Vec<Kinematics>,
    /// Ends of a coupling's row.
    pulls: Vec<(u32, [f64; 6])>,
}

/// Rows of a joint, and what they tie.
struct JointTie {
    tie: Tie,
    /// The bodies on its two sides, those that forces move.
    bodies: [Option<u32>; 2],
    /// Derivatives of the rows by their velocities.
    J: [kkt::Block; 2],
    /// {torque, force} of each row on side 2, per impulse.
    reaction: [Six; 6],
}

impl Machine {
    /// Room for mechanism `k`.
    pub fn new(model: &Model, k: usize) -> Machine {
        let mechanism = &model.mechanisms[k];
        let (links, n) = (mechanism.links.len(), mechanism.coordinates);
        Machine {
            work: mechanism.work(),
            kinematics: vec![Kinematics::WORLD; links],
            tau: vec![0.0; n],
            smooth: true,
            ready: false,
            u_free: vec![0.0; n],
            q_free: vec![0.0; n],
            bases_free: vec![Quat::IDENTITY; links],
            dual: vec![Six::ZERO; n],
            reactions: vec![Six::ZERO; links],
            added: vec![Six::ZERO; links + mechanism.loops.len()],
            loop_reactions: vec![Six::ZERO; mechanism.loops.len()],
            given: vec![None; n],
            tension: vec![f64::NAN; mechanism.loops.len() + mechanism.couplings.len()],
            overruns: false,
            hop: vec![0.0; n],
            drift: 0.0,
            loads: vec![Six::ZERO; links],
            all_links: (0..links as u32).collect(),
            no_forces: vec![0.0; n],
            motions: vec![Six::ZERO; links],
            all_loads: Vec::with_capacity(links),
            torque: vec![0.0; links],
            fresh: Vec::new(),
            stage_q: vec![0.0; n],
            modal_u: vec![0.0; n],
            stage_u: vec![0.0; n],
            sum_q: vec![0.0; n],
            sum_u: vec![0.0; n],
            k_q: vec![0.0; n],
            k_u: vec![0.0; n],
            moved: vec![Kinematics::WORLD; links],
            pulls: Vec::new(),
        }
    }

    /// Multipliers of couplings, and of loops of one row, in the free motion, from the rows in place.
    fn note_tensions(&mut self, mechanism: &Mechanism) {
        self.tension.fill(f64::NAN);
        let Work { rows, lambda, taut, .. } = &self.work;
        let single = |owner: usize| mechanism.loops.get(owner).is_none_or(|closing| closing.joint.row_count() == 1);
        for (row, lambda) in rows.iter().zip(lambda).filter(|(row, _)| single(row.owner)) {
            if taut[row.owner] {
                self.tension[row.owner] = *lambda;
            }
        }
    }

    /// What a loop carries in the free motion, if that holds it: nothing that counts of one that holds both ways. One that
    /// holds one way and is slack in it closes what is open.
    fn held_in_free_motion(&self, joint: &Joint, owner: Option<usize>) -> Option<f64> {
        let tension = self.tension[owner.filter(|_| self.smooth)?];
        match joint.holds().sense() {
            None => Some(0.0),
            Some(_) => Some(tension).filter(|tension| !tension.is_nan()),
        }
    }

    /// Whether the free motion ends, at time t, where something that holds one way and is slack in it is beyond its limit.
    fn find_overruns(&mut self, model: &Model, mechanism: &Mechanism, t: f64) {
        let of = |body: u32| prescribed(model, body as usize, t);
        if mechanism.has_one_way_loops() {
            mechanism.place(&self.q_free, &self.u_free, &self.bases_free, of, &mut self.work, &mut self.moved);
        }
        let motion = Standpoint { q: &self.q_free, u: &self.u_free, kinematics: &self.moved, of };
        self.overruns = mechanism
            .one_way()
            .any(|owner| self.tension[owner].is_nan() && mechanism.standing(owner, &motion, &self.work).beyond > 0.0);
    }

    /// Gets ready to answer at the motion of `record`.
    pub fn prepare(&mut self, model: &Model, k: usize, record: &MachineRecord, t: f64) {
        self.stage_q.clone_from(&record.q);
        self.stage_u.clone_from(&record.u);
        self.bases_free.clone_from(&record.bases);
        self.rates(model, k, t);
        self.ready = true;
    }

    /// Rate that a row with these ends on links gives per impulse, loops open.
    pub fn answer_to(&mut self, mechanism: &Mechanism, ends: impl Iterator<Item = (usize, Six)> + Clone) -> f64 {
        self.loads.fill(Six::ZERO);
        for (l, J) in ends.clone() {
            self.loads[l] = self.loads[l] + J;
        }
        let Machine { all_links, loads, no_forces, work, stage_u, motions, .. } = self;
        mechanism.answer(all_links, loads, no_forces, work, stage_u, motions);
        ends.map(|(l, J)| J.dot(&self.motions[l])).sum()
    }

    /// Says of the modes of flexible bodies what decides their rates.
    fn hold_modes(&mut self, mechanism: &Mechanism, mode: Mode) {
        for link in &mechanism.links {
            self.work.modes[link.first + link.joint.coordinates()..link.first + link.count].fill(mode);
        }
    }

    /// What joints and loops carry in the free motion, from the rates in place.
    fn note_reactions(&mut self, model: &Model, mechanism: &Mechanism) {
        let Machine { all_loads: all, moved, work, reactions, loop_reactions, .. } = self;
        loop_reactions.fill(Six::ZERO);
        for (row, lambda) in work.rows.iter().zip(&work.lambda) {
            if let Some(reaction) = loop_reactions.get_mut(row.owner) {
                *reaction = *reaction + row.on_2 * *lambda;
            }
            for &(link, wrench) in work.ends_of(row) {
                all[link as usize] = all[link as usize] + wrench * *lambda;
            }
        }
        mechanism.reactions(moved, |b| inertia(model, b), all, work, reactions);
    }

    /// The mechanism stays as it is in this step.
    pub fn freeze(&mut self, record: &mut MachineRecord) {
        record.u.fill(0.0);
        self.u_free.fill(0.0);
        self.q_free.clone_from(&record.q);
        self.bases_free.clone_from(&record.bases);
    }

    /// Rates of coordinates and rates at (q, u) under the loads in place, loops closed.
    fn rates(&mut self, model: &Model, k: usize, t: f64) {
        let mechanism = &model.mechanisms[k];
        let of = |body: u32| prescribed(model, body as usize, t);
        let body = |b: u32| inertia(model, b);
        let (q, u) = (&self.stage_q, &self.stage_u);
        mechanism.place(q, u, &self.bases_free, of, &mut self.work, &mut self.moved);
        self.all_loads.clear();
        for ((link, kin), load) in mechanism.links.iter().zip(&self.moved).zip(&self.loads) {
            let mass = model.bodies[link.body as usize].mass;
            self.all_loads.push(Six::new(load.angular, load.linear + model.gravity_at(kin.p) * mass));
        }
        mechanism.accelerate(&self.moved, body, &self.all_loads, &self.tau, &mut self.work, &mut self.k_u);
        if mechanism.has_rows() {
            mechanism.measure_rows(q, u, &self.moved, of, body, &mut self.work);
            mechanism.close(&mut self.work, &mut self.k_u);
        }
        self.k_q.copy_from_slice(u);
        for link in mechanism.links.iter().filter(|l| l.joint.has_base()) {
            let i = link.first;
            let g = Vec3::new(q[i], q[i + 1], q[i + 2]);
            let w = Vec3::new(u[i], u[i + 1], u[i + 2]);
            self.k_q[i..i + 3].copy_from_slice(&gibbs_rate(g, w, Vec3::ZERO).to_array());
        }
    }
}

impl Clock {
    /// Motion of the links of mechanism `k` from its coordinates, and of their bodies.
    pub(super) fn place_machine(&mut self, k: usize) {
        let (model, t) = (&self.model.clone(), self.state.time);
        let mechanism = &model.mechanisms[k];
        let machine = &mut self.machines[k];
        let record = &self.state.machines[k];
        machine.work.active.clone_from(&record.active);
        machine.work.taut.clone_from(&record.taut);
        machine.work.held_at.clone_from(&record.held_at);
        for (i, mode) in machine.work.modes.iter_mut().enumerate() {
            *mode = if record.locked[i] { Mode::Given(0.0) } else { Mode::Free };
        }
        let of = |body: u32| prescribed(model, body as usize, t);
        mechanism.place(&record.q, &record.u, &record.bases, of, &mut machine.work, &mut machine.kinematics);
        for (link, kin) in mechanism.links.iter().zip(&machine.kinematics) {
            let b = link.body as usize;
            if self.state.structure.gone[b] {
                continue;
            }
            let motion = &mut self.state.bodies[b];
            (motion.p, motion.v, motion.w) = (kin.p, kin.v, kin.w);
            motion.q = Quat::from_mat3(&kin.R).normalize();
        }
        for link in &mechanism.links {
            let own = link.first..link.first + link.joint.coordinates();
            dual(&machine.work.S[own.clone()], &mut machine.dual[own]);
        }
        machine.given.fill(None);
        machine.tau.fill(0.0);
    }

    /// Free motion of mechanism `k`: coordinates and rates by Runge-Kutta while that is stable, velocities of its bodies from one Euler
    /// step otherwise.
    pub(super) fn coast_machine(&mut self, k: usize) {
        let (model, h, t) = (&self.model.clone(), self.h, self.state.time);
        let mechanism = &model.mechanisms[k];
        let record = &self.state.machines[k];
        let machine = &mut self.machines[k];
        for (link, load) in mechanism.links.iter().zip(&mut machine.loads) {
            *load = self.loads[link.body as usize];
        }
        machine.q_free.clone_from(&record.q);
        machine.u_free.clone_from(&record.u);
        machine.bases_free.clone_from(&record.bases);
        for (i, given) in machine.given.iter().enumerate() {
            if given.is_some() {
                machine.work.modes[i] = Mode::Given(0.0);
            }
        }
        if mechanism.has_one_way_rows() {
            let of = |body: u32| prescribed(model, body as usize, t);
            let motion = Standpoint { q: &record.q, u: &record.u, kinematics: &machine.kinematics, of };
            mechanism.find_touching(&motion, true, &mut machine.work);
            machine.work.decides = true;
        }
        let n = mechanism.coordinates;
        let fastest = record.u.iter().fold(0.0_f64, |most, u| most.max(u.abs()));
        let mut parts = (fastest * h / STRIDE).ceil().clamp(2.0, 16.0);
        let mut part = 0;
        while part < parts as usize {
            let mut dt = h / parts;
            machine.sum_q.fill(0.0);
            machine.sum_u.fill(0.0);
            for (stage, (ahead, share)) in [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)].into_iter().enumerate() {
                for i in 0..n {
                    machine.stage_q[i] = machine.q_free[i] + if stage > 0 { ahead * dt * machine.k_q[i] } else { 0.0 };
                    machine.stage_u[i] = machine.u_free[i] + if stage > 0 { ahead * dt * machine.k_u[i] } else { 0.0 };
                }
                machine.rates(model, k, t + (part as f64 + ahead) * dt);
                if part == 0 && stage == 0 {
                    machine.note_tensions(mechanism);
                    machine.note_reactions(model, mechanism);
                    let omega = swing(model, k, machine).sqrt();
                    // loops hold most of what could swing
                    let most = if mechanism.has_rows() { LOOPS * SMOOTH } else { SMOOTH };
                    // modes are stiff: they are solved for at the end of the step
                    machine.smooth = h * omega < most && !mechanism.bends();
                    if !machine.smooth {
                        break;
                    }
                    parts = parts.max((h * omega / SWING).ceil());
                    dt = h / parts;
                }
                for i in 0..n {
                    machine.sum_q[i] += share / 6.0 * machine.k_q[i];
                    machine.sum_u[i] += share / 6.0 * machine.k_u[i];
                }
            }
            if !machine.smooth {
                break;
            }
            for i in 0..n {
                machine.q_free[i] += dt * machine.sum_q[i];
                machine.u_free[i] += dt * machine.sum_u[i];
            }
            fold(model, k, &mut machine.q_free, &mut machine.bases_free);
            part += 1;
        }
        machine.find_overruns(model, mechanism, t + h);
        let of = |body: u32| prescribed(model, body as usize, t);
        // S and frames of the beginning again
        mechanism.place(&record.q, &record.u, &record.bases, of, &mut machine.work, &mut machine.moved);
        if machine.smooth {
            mechanism.place(&record.q, &machine.u_free, &record.bases, of, &mut machine.work, &mut machine.moved);
            for (link, kin) in mechanism.links.iter().zip(&machine.moved) {
                self.paths[link.body as usize].free_velocity = Six::new(kin.w, kin.v);
            }
        } else {
            self.push_bodies(k);
        }
    }

    /// Velocities of the bodies of mechanism `k` at the end of the step as if no joint held them, by one Euler step.
    fn push_bodies(&mut self, k: usize) {
        let (model, h) = (&self.model.clone(), self.h);
        let (mechanism, machine) = (&model.mechanisms[k], &self.machines[k]);
        for (l, (link, kin)) in mechanism.links.iter().zip(&machine.kinematics).enumerate() {
            let b = link.body as usize;
            let body = &model.bodies[b];
            let load = self.loads[b];
            let L = kin.R * (body.I_c * (kin.R.transpose() * kin.w));
            let torque = load.angular - kin.w.cross(L) - machine.work.bent[l].bias_torque(kin);
            let turn = kin.R * (body.I_c_inverse * (kin.R.transpose() * torque));
            let v = kin.v + (model.gravity_at(kin.p) + load.linear / body.mass) * h;
            self.paths[b].free_velocity = Six::new(kin.w + turn * h, v);
        }
        // forces on coordinates act on the bodies
        for (i, &tau) in machine.tau.iter().enumerate().filter(|(_, tau)| **tau != 0.0) {
            let l = mechanism.link_of(i);
            for (body, push) in sides(model, k, l, machine.dual[i], machine.work.links[l].r) {
                let kin = &self.paths[body].kin;
                let m = &model.bodies[body];
                let turn = kin.R * (m.I_c_inverse * (kin.R.transpose() * push.angular));
                self.paths[body].free_velocity =
                    self.paths[body].free_velocity + Six::new(turn, push.linear / m.mass) * (tau * h);
            }
        }
    }

    /// Rows of mechanism `k` into `ties`, with the bodies' model indices; `owners` gets the link, or links + loop, or
    /// links + loops + coupling.
    pub(super) fn joint_ties(
        &mut self,
        k: usize,
        ties: &mut Vec<Tie>,
        ends: &mut Vec<End>,
        owners: &mut Vec<(u32, u32, [Six; 6])>,
    ) {
        let mechanism = &self.model.clone().mechanisms[k];
        for l in 0..mechanism.links.len() + mechanism.loops.len() {
            if mechanism.links.get(l).is_some_and(|link| self.state.structure.gone[link.body as usize]) {
                continue;
            }
            if mechanism.links.get(l).is_some_and(|link| link.elastic.is_interface_joint()) {
                ties.push(self.interface_tie(k, l, ends));
                owners.push((k as u32, l as u32, interface_reaction()));
                continue;
            }
            if let Some(JointTie { tie, bodies, J, reaction }) = self.joint_tie(k, l) {
                let first = ends.len() as u32;
                let sides = bodies.into_iter().zip(J);
                ends.extend(sides.filter_map(|(body, J)| body.map(|body| End { body, J })));
                ties.push(Tie { ends: Ends { first, end: ends.len() as u32 }, ..tie });
                owners.push((k as u32, l as u32, reaction));
            }
        }
        self.coupling_ties(k, ties, ends, owners);
    }

    /// Rows of joint `l` of mechanism `k`, if forces move a body of it.
    fn joint_tie(&mut self, k: usize, l: usize) -> Option<JointTie> {
        let (model, h, t) = (&self.model.clone(), self.h, self.state.time);
        let mechanism = &model.mechanisms[k];
        let machine = &mut self.machines[k];
        let centre = |on: Parent, kinematics: &[Kinematics]| match on {
            Parent::World => (None, Kinematics::WORLD),
            Parent::Body(body) => (Some(body as usize), prescribed(model, body as usize, t)),
            Parent::Link(l) => (Some(mechanism.links[l as usize].body as usize), kinematics[l as usize]),
        };
        let links = mechanism.links.len();
        let (joint, sides, coordinates) = joint_of(mechanism, &machine.work, l)?;
        let one_way = joint.holds().sense().is_some();
        let held = machine.held_in_free_motion(joint, l.checked_sub(links));
        let on = sides.map(|side| centre(side.on, &machine.kinematics));
        let frames = [0, 1].map(|s| on[s].1.of_frame(sides[s].p, &sides[s].R));
        machine.fresh.clear();
        joint.rows(&frames[0], &frames[1], &mut machine.fresh);
        let mut tie = Tie::default();
        // the bodies on its two sides, those that forces move
        let mut bodies = [None; 2];
        let mut J_s = [[0.0; 36]; 2];
        let mut reaction = [Six::ZERO; 6];
        for (r, row) in machine.fresh.iter().enumerate() {
            tie.count = r + 1;
            reaction[r] = row.J[1];
            let mut target = if machine.smooth { 0.0 } else { -h * row.convective };
            if one_way {
                let bounds = joint.holds().bounds().map(|bound| bound - h * held.unwrap_or(0.0));
                [tie.lower[r], tie.upper[r]] = bounds;
                target = if held.is_some() { 0.0 } else { -row.phi / h };
            }
            for s in 0..2 {
                let (body, kin) = on[s];
                let arm = frames[s].p - kin.p;
                let J = row.J[s];
                let at = Six::new(J.angular + arm.cross(J.linear), J.linear);
                if let Some(b) = body.filter(|&b| model.bodies[b].drive == Drive::Free) {
                    bodies[s] = Some(b as u32);
                    write(&mut J_s[s], r, at);
                    if held.is_some() {
                        // the free motion closed the loop where it ends: the rows act on what comes on top
                        target += at.dot(&self.paths[b].free_velocity);
                    } else if !machine.smooth && !one_way {
                        target -= h * J.linear.dot(kin.w.cross(kin.w.cross(arm)));
                    }
                } else if held.is_none() {
                    target -= at.dot(&Six::new(kin.w, kin.v));
                }
            }
            tie.target[r] = target;
        }
        for i in coordinates {
            let rate = match (machine.given[i], machine.work.modes[i]) {
                (Some(rate), _) => rate,
                (None, Mode::Given(_)) => 0.0,
                _ => continue,
            };
            let r = tie.count;
            tie.count += 1;
            tie.target[r] = rate;
            let row = coordinate_row(model, k, l, machine.dual[i], machine.work.links[l].r);
            for (s, (body, J)) in row.into_iter().enumerate() {
                let Some(body) = body else { continue };
                // sides of the group: 0 and 1 as above; the link is side 1 unless it is reversed
                let s = if mechanism.links[l].reversed { s } else { 1 - s };
                if s == 1 {
                    let arm = frames[1].p - on[1].1.p;
                    reaction[r] = Six::new(J.angular - arm.cross(J.linear), J.linear);
                }
                if model.bodies[body].drive == Drive::Free {
                    write(&mut J_s[s], r, J);
                } else {
                    let kin = &self.paths[body].kin;
                    tie.target[r] -= J.dot(&Six::new(kin.w, kin.v));
                }
            }
        }
        (tie.count > 0 && bodies != [None; 2]).then_some(JointTie { tie, bodies, J: J_s, reaction })
    }

    /// Rows of the couplings of mechanism `k`, likewise.
    fn coupling_ties(
        &mut self,
        k: usize,
        ties: &mut Vec<Tie>,
        ends: &mut Vec<End>,
        owners: &mut Vec<(u32, u32, [Six; 6])>,
    ) {
        let (model, h) = (&self.model.clone(), self.h);
        let mechanism = &model.mechanisms[k];
        let machine = &mut self.machines[k];
        let links = mechanism.links.len();
        for (c, coupled) in mechanism.couplings.iter().enumerate() {
            let mut tie = Tie { count: 1, ..Tie::default() };
            let (q, u) = (&self.state.machines[k].q, &machine.u_free);
            let [lower, upper] = coupled.coupling.holds.bounds();
            let tension = machine.tension[mechanism.loops.len() + c];
            let carried = machine.smooth && (coupled.coupling.holds.sense().is_none() || !tension.is_nan());
            // one that the free motion holds may let go of what it carries there; one that is slack closes what is open
            tie.target[0] = if carried { coupled.coupling.rate(u) } else { -coupled.coupling.phi(q) / h };
            let held = if carried && !tension.is_nan() { h * tension } else { 0.0 };
            (tie.lower[0], tie.upper[0]) = (lower - held, upper - held);
            machine.pulls.clear();
            for term in &coupled.coupling.terms {
                let l = mechanism.link_of(term.coordinate);
                let row = coordinate_row(model, k, l, machine.dual[term.coordinate], machine.work.links[l].r);
                for (body, J) in row {
                    let Some(body) = body.filter(|&b| model.bodies[b].drive == Drive::Free) else { continue };
                    machine.pulls.push((body as u32, flat(J * term.factor)));
                }
            }
            tie.ends = kkt::join_ends(ends, &machine.pulls);
            ties.push(tie);
            owners.push((k as u32, (links + mechanism.loops.len() + c) as u32, [Six::ZERO; 6]));
        }
    }

    /// Coordinates and rates of mechanism `k` after the step; `u` are the velocities of its bodies if rows acted.
    pub(super) fn integrate_machine(&mut self, k: usize, solved: bool, velocity: &[Six]) {
        let (model, h, t) = (&self.model.clone(), self.h, self.state.time);
        self.switch_one_way(k);
        let mechanism = &model.mechanisms[k];
        let machine = &mut self.machines[k];
        let record = &mut self.state.machines[k];
        let at_mean = mechanism.links.iter().all(|link| self.paths[link.body as usize].at_mean);
        if !solved {
            record.q.clone_from(&machine.q_free);
            record.u.clone_from(&machine.u_free);
            record.bases.clone_from(&machine.bases_free);
        } else {
            for (l, link) in mechanism.links.iter().enumerate() {
                let parent = match link.parent {
                    Parent::World => Six::ZERO,
                    Parent::Body(b) => {
                        let kin = prescribed(model, b as usize, t);
                        Six::new(kin.w, kin.v)
                    }
                    Parent::Link(p) => velocity[mechanism.links[p as usize].body as usize],
                };
                let r = machine.work.links[l].r;
                let own = velocity[link.body as usize];
                let mut relative =
                    Six::new(own.angular - parent.angular, own.linear - parent.linear - parent.angular.cross(r));
                if !machine.smooth {
                    relative = relative - machine.work.links[l].zeta() * h;
                }
                for i in link.first..link.first + link.joint.coordinates() {
                    record.u[i] = machine.dual[i].dot(&relative);
                    if !(link.joint.has_base() && i < link.first + 3) {
                        record.q[i] = match at_mean {
                            true => machine.q_free[i] + 0.5 * h * (record.u[i] - machine.u_free[i]),
                            false => record.q[i] + h * record.u[i],
                        };
                    }
                }
                if link.joint.has_base() {
                    let three = |u: &[f64]| Vec3::from_slice(&u[link.first..link.first + 3]);
                    let w = three(&record.u);
                    record.bases[l] = match at_mean {
                        true => rotated(machine.bases_free[l], (w - three(&machine.u_free)) * (0.5 * h)),
                        false => rotated(record.bases[l], w * h),
                    };
                }
            }
        }
        displace(mechanism, record, &machine.hop);
        if solved && mechanism.bends() {
            self.integrate_modes(k);
        }
        let machine = &mut self.machines[k];
        let record = &mut self.state.machines[k];
        if mechanism.has_rows() && record.active.iter().any(|a| *a) || !mechanism.couplings.is_empty() {
            // rigid motion closes the loops: what modes did is theirs, and to bend them would cost energy
            machine.hold_modes(mechanism, Mode::Given(0.0));
            for round in 0..PROJECTIONS {
                machine.stage_q.clone_from(&record.q);
                machine.stage_u.clone_from(&record.u);
                machine.bases_free.clone_from(&record.bases);
                machine.rates(model, k, t + h);
                let violation = mechanism.correction(false, &mut machine.work, &mut machine.k_q);
                if round == 0 {
                    machine.drift = machine.drift.max(violation);
                }
                displace(mechanism, record, &machine.k_q);
                mechanism.correction(true, &mut machine.work, &mut machine.k_q);
                for (u, c) in record.u.iter_mut().zip(&machine.k_q) {
                    *u += c;
                }
            }
            machine.hold_modes(mechanism, Mode::Free);
        }
    }

    /// Impulse of a coupling, or of a loop of one row, of mechanism `k` in the step, by its owner [N s or N m s].
    pub(super) fn impulse_of_row(&self, k: usize, owner: usize) -> f64 {
        let (machine, mechanism) = (&self.machines[k], &self.model.mechanisms[k]);
        let slot = mechanism.links.len() + owner;
        let tension = machine.tension[owner];
        let mut total = if machine.smooth && !tension.is_nan() { self.h * tension } else { 0.0 };
        for partition in self.partitions.iter().filter(|p| p.active) {
            let own = |owner: &(u32, u32, [Six; 6])| owner.0 as usize == k && owner.1 as usize == slot;
            if let Some(t) = partition.owners.iter().position(own) {
                total += partition.problem.ties[t].lambda[0];
            }
        }
        total
    }

    /// What holds one way is taut at the end of the step if it carried something in it. Those
    /// that switch are logged, at its end if they became taut, else at its beginning.
    fn switch_one_way(&mut self, k: usize) {
        let model = &self.model.clone();
        let mechanism = &model.mechanisms[k];
        if !mechanism.has_one_way_rows() {
            return;
        }
        for owner in mechanism.one_way() {
            let (was, taut) = (self.state.machines[k].taut[owner], self.impulse_of_row(k, owner) != 0.0);
            let machine = &mut self.machines[k];
            self.state.machines[k].taut[owner] = taut;
            // what has just become taut still closes a little: the next step stops it, no projection
            machine.work.taut[owner] = taut && !machine.tension[owner].is_nan();
            // one that is taut from the start is no event
            let begins = self.state.steps == 0 && !machine.tension[owner].is_nan();
            if was != taut && !begins {
                let kind = mechanism.switching(owner, taut);
                let time = self.state.time + if taut { self.h } else { 0.0 };
                let source = Some(model.name_of_row(k as u32, owner));
                self.shown.events.push(Event { time, kind, source, contact: None });
            }
        }
    }
}

/// {torque, force} that each row of an interface's tie exerts on its body, per impulse.
fn interface_reaction() -> [Six; 6] {
    let axes = [Vec3::X, Vec3::Y, Vec3::Z];
    std::array::from_fn(|r| if r < 3 { Six::new(axes[r], Vec3::ZERO) } else { Six::new(Vec3::ZERO, axes[r - 3]) })
}

/// Joint `l` of a mechanism, those of its links before those that close loops: its sides, and the coordinates it has. None for
/// one that is open.
fn joint_of<'m>(
    mechanism: &'m Mechanism,
    work: &Work,
    l: usize,
) -> Option<(&'m Joint, [Side; 2], std::ops::Range<usize>)> {
    if let Some(link) = mechanism.links.get(l) {
        let own =
            Side { on: Parent::Link(l as u32), p: -(link.R_2c.transpose() * link.p_2c), R: link.R_2c.transpose() };
        let other = Side { on: link.parent, p: link.p_p1, R: link.R_p1 };
        let sides = if link.reversed { [own, other] } else { [other, own] };
        return Some((&link.joint, sides, link.first..link.first + link.joint.coordinates()));
    }
    let owner = l - mechanism.links.len();
    let closing = &mechanism.loops[owner];
    let mut sides = closing.sides;
    if let Some((p, q)) = work.held_at[owner] {
        (sides[1].p, sides[1].R) = (p, Mat3::from_quat(q));
    }
    work.active[owner].then_some((&closing.joint, sides, 0..0))
}

/// Largest omega^2 [1/s^2] at which forces of the joints swing a body about its centre of mass.
fn swing(model: &Model, k: usize, machine: &mut Machine) -> f64 {
    let mechanism = &model.mechanisms[k];
    let torque = &mut machine.torque;
    torque.fill(0.0);
    for (l, link) in mechanism.links.iter().enumerate() {
        let force = machine.reactions[l].linear.length();
        torque[l] += force * (machine.work.links[l].origin - machine.moved[l].p).length();
        if let Parent::Link(p) = link.parent {
            torque[p as usize] += force * (machine.work.links[l].origin - machine.moved[p as usize].p).length();
        }
    }
    let mut most: f64 = 0.0;
    for (l, link) in mechanism.links.iter().enumerate() {
        // a body turns about an axis across the force: its smaller moment about the axes it can turn about is not known, the middle one
        // is a fair guess for slender ones
        let I = &model.bodies[link.body as usize].I_c;
        let mut moments = [I.x_axis.x, I.y_axis.y, I.z_axis.z];
        moments.sort_by(f64::total_cmp);
        if moments[1] > 0.0 && matches!(link.parent, Parent::Link(_)) || mechanism.links.len() > 1 {
            most = most.max(torque[l] / moments[1]);
        }
    }
    most
}

/// Moves the coordinates of a mechanism; turns of joints with three rotations go into their bases.
fn displace(mechanism: &Mechanism, record: &mut MachineRecord, by: &[f64]) {
    for (l, link) in mechanism.links.iter().enumerate() {
        let i = link.first;
        if link.joint.has_base() {
            record.bases[l] = rotated(record.bases[l], Vec3::new(by[i], by[i + 1], by[i + 2]));
        }
        for i in i + if link.joint.has_base() { 3 } else { 0 }..i + link.count {
            record.q[i] += by[i];
        }
    }
}

/// Gibbs vectors into the bases.
fn fold(model: &Model, k: usize, q: &mut [f64], bases: &mut [Quat]) {
    for (l, link) in model.mechanisms[k].links.iter().enumerate().filter(|(_, l)| l.joint.has_base()) {
        let i = link.first;
        let g = Quat::from_xyzw(q[i], q[i + 1], q[i + 2], 1.0).normalize();
        bases[l] = (g * bases[l]).normalize();
        q[i..i + 3].fill(0.0);
    }
}

/// Rows D with D_i . S_j = 1 if i = j, else 0: D = S (S^T S)^-1.
fn dual(S: &[Six], D: &mut [Six]) {
    let n = S.len();
    let mut G = [[0.0; 12]; 6];
    for i in 0..n {
        for j in 0..n {
            G[i][j] = S[i].dot(&S[j]);
        }
        G[i][6 + i] = 1.0;
    }
    for i in 0..n {
        let pivot = if G[i][i] != 0.0 { 1.0 / G[i][i] } else { 0.0 };
        for x in &mut G[i] {
            *x *= pivot;
        }
        for r in 0..n {
            if r != i {
                let factor = G[r][i];
                for c in 0..12 {
                    G[r][c] -= factor * G[i][c];
                }
            }
        }
    }
    for i in 0..n {
        D[i] = Six::ZERO;
        for j in 0..n {
            D[i] = D[i] + S[j] * G[i][6 + j];
        }
    }
}

/// A row D on the relative motion of link `l` and its parent, as rows on both bodies: the link, then the parent.
pub fn coordinate_row(model: &Model, k: usize, l: usize, D: Six, r: Vec3) -> [(Option<usize>, Six); 2] {
    let mechanism = &model.mechanisms[k];
    let link = &mechanism.links[l];
    let parent = match link.parent {
        Parent::World => None,
        Parent::Body(b) => Some(b as usize),
        Parent::Link(p) => Some(mechanism.links[p as usize].body as usize),
    };
    [(Some(link.body as usize), D), (parent, -Six::new(D.angular + r.cross(D.linear), D.linear))]
}

/// The free bodies among those of a row.
fn sides(model: &Model, k: usize, l: usize, D: Six, r: Vec3) -> impl Iterator<Item = (usize, Six)> {
    let free = |b: &usize| model.bodies[*b].drive == Drive::Free;
    let row = coordinate_row(model, k, l, D, r).map(|(b, J)| (b.filter(free), J));
    row.into_iter().filter_map(|(b, J)| b.map(|b| (b, J)))
}

/// Six numbers, angular first.
pub fn flat(J: Six) -> [f64; 6] {
    [J.angular.x, J.angular.y, J.angular.z, J.linear.x, J.linear.y, J.linear.z]
}

fn write(block: &mut tippe_numerics::kkt::Block, r: usize, J: Six) {
    block[6 * r..6 * r + 6].copy_from_slice(&flat(J));
}
