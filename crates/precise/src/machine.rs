//! A mechanism inside an island: its coordinates among the island's states.

use tippe_geometry::{Quat, Vec3};
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::kinematics::{Frame, gibbs_rate};
use tippe_mechanics::mechanism::{ClosureRow, Mechanism, Mode, Parent, Standpoint, Work};
use tippe_mechanics::model::Model;
use tippe_mechanics::model::{inertia, kinetic, prescribed};
use tippe_mechanics::state::MachineRecord;

/// A mechanism with room to work in.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Which of the model's mechanisms.
    pub index: u32,
    /// Where its coordinates start in the states; the rates follow.
    pub offset: usize,
    /// The island's bodies by link.
    pub bodies: Vec<usize>,
    /// What the recursions left.
    pub work: Work,
    /// Motion of its links.
    pub kinematics: Vec<Kinematics>,
    /// {torque, force} on the centres of mass of its links.
    pub loads: Vec<Six>,
    /// Forces on its coordinates.
    pub tau: Vec<f64>,
    /// Coordinates that are held.
    pub locked: Vec<bool>,
    /// Largest violation of a row before it was projected away [m, or - for directions].
    pub drift: f64,
    all_loads: Vec<Six>,
    bases: Vec<Quat>,
    change: Vec<f64>,
    /// What [`Self::displace`] left.
    pub displaced: Vec<Six>,
}

impl Machine {
    /// Mechanism `index` with its states at `offset`.
    pub fn new(model: &Model, index: u32, offset: usize, bodies: Vec<usize>) -> Machine {
        let mechanism = &model.mechanisms[index as usize];
        let (links, n) = (mechanism.links.len(), mechanism.coordinates);
        Machine {
            index,
            offset,
            bodies,
            work: mechanism.work(),
            kinematics: vec![Kinematics::WORLD; links],
            loads: vec![Six::default(); links],
            tau: vec![0.0; n],
            locked: vec![false; n],
            drift: 0.0,
            all_loads: Vec::new(),
            bases: vec![Quat::IDENTITY; links],
            change: vec![0.0; n],
            displaced: vec![Six::default(); links],
        }
    }

    /// No force on any coordinate, none given.
    pub fn unload(&mut self) {
        self.tau.fill(0.0);
        self.work.modes.fill(Mode::Free);
    }

    /// Coordinates and rates in y.
    pub fn states<'y>(&self, y: &'y [f64]) -> (&'y [f64], &'y [f64]) {
        let n = self.tau.len();
        (&y[self.offset..][..n], &y[self.offset + n..][..n])
    }

    /// Motion of all links at y; `turned` is the time since the frames were set [s], `of` the motion of a body that is
    /// not free.
    pub fn place(&mut self, model: &Model, y: &[f64], frames: &[Frame], turned: f64, of: impl Fn(u32) -> Kinematics) {
        let mechanism = &model.mechanisms[self.index as usize];
        for (k, link) in mechanism.links.iter().enumerate() {
            if link.joint.has_base() {
                self.bases[k] = frames[self.bodies[k]].at(turned);
            }
        }
        let n = self.tau.len();
        let (q, u) = (&y[self.offset..][..n], &y[self.offset + n..][..n]);
        mechanism.place(q, u, &self.bases, of, &mut self.work, &mut self.kinematics);
    }

    /// Rates of the states at y into f, under the loads and forces in place.
    pub fn rates(&mut self, model: &Model, y: &[f64], f: &mut [f64], frames: &[Frame], of: impl Fn(u32) -> Kinematics) {
        let mechanism = &model.mechanisms[self.index as usize];
        let n = self.tau.len();
        let (q, u) = (&y[self.offset..][..n], &y[self.offset + n..][..n]);
        let (q_dot, u_dot) = f[self.offset..][..2 * n].split_at_mut(n);
        let body = |b: u32| inertia(model, b);
        for (mode, locked) in self.work.modes.iter_mut().zip(&self.locked) {
            if *locked {
                *mode = Mode::Given(0.0);
            }
        }
        mechanism.accelerate(&self.kinematics, body, &self.loads, &self.tau, &mut self.work, u_dot);
        if mechanism.has_rows() {
            mechanism.measure_rows(q, u, &self.kinematics, of, body, &mut self.work);
            mechanism.close(&mut self.work, u_dot);
        }
        q_dot.copy_from_slice(u);
        for (k, link) in mechanism.links.iter().enumerate() {
            if link.joint.has_base() {
                let i = link.first;
                let g = Vec3::new(q[i], q[i + 1], q[i + 2]);
                let w = Vec3::new(u[i], u[i + 1], u[i + 2]);
                let rate = gibbs_rate(g, w, frames[self.bodies[k]].rate);
                q_dot[i..i + 3].copy_from_slice(&rate.to_array());
            }
        }
    }

    /// Frames of joints with three rotations start anew at time since `turned`: g = 0, turning at the present rate.
    pub fn turn_frames(&self, model: &Model, y: &mut [f64], f: &mut [f64], frames: &mut [Frame], turned: f64) {
        let mechanism = &model.mechanisms[self.index as usize];
        let n = self.tau.len();
        for (k, link) in mechanism.links.iter().enumerate().filter(|(_, l)| l.joint.has_base()) {
            let i = self.offset + link.first;
            let g = Vec3::new(y[i], y[i + 1], y[i + 2]);
            let rate = Vec3::new(y[n + i], y[n + i + 1], y[n + i + 2]);
            let frame = &mut frames[self.bodies[k]];
            *frame = Frame { rotation: frame.orientation(turned, g).normalize(), rate };
            y[i..i + 3].fill(0.0);
            f[i..i + 3].fill(0.0);
        }
    }

    /// Coordinates at an instant, from y there.
    pub fn record(&self, model: &Model, y: &[f64], frames: &[Frame], turned: f64) -> MachineRecord {
        let mechanism = &model.mechanisms[self.index as usize];
        let (q, u) = self.states(y);
        let mut record = MachineRecord {
            q: q.to_vec(),
            u: u.to_vec(),
            bases: self.bases.clone(),
            active: self.work.active.clone(),
            taut: self.work.taut.clone(),
            held_at: self.work.held_at.clone(),
            locked: self.locked.clone(),
            counted: self.work.counted.clone(),
        };
        for (k, link) in mechanism.links.iter().enumerate().filter(|(_, l)| l.joint.has_base()) {
            let g = Vec3::new(q[link.first], q[link.first + 1], q[link.first + 2]);
            record.bases[k] = frames[self.bodies[k]].orientation(turned, g).normalize();
            record.q[link.first..link.first + 3].fill(0.0);
        }
        record
    }

    /// Writes a record into y and the frames.
    pub fn restore(&mut self, model: &Model, record: &MachineRecord, y: &mut [f64], frames: &mut [Frame]) {
        let mechanism = &model.mechanisms[self.index as usize];
        let n = self.tau.len();
        y[self.offset..][..n].copy_from_slice(&record.q);
        y[self.offset + n..][..n].copy_from_slice(&record.u);
        self.take_structure(record);
        for (k, link) in mechanism.links.iter().enumerate().filter(|(_, l)| l.joint.has_base()) {
            let i = link.first;
            let rate = Vec3::new(record.u[i], record.u[i + 1], record.u[i + 2]);
            frames[self.bodies[k]] = Frame { rotation: record.bases[k], rate };
        }
    }

    /// Takes over which loops hold and which coordinates are held.
    pub fn take_structure(&mut self, record: &MachineRecord) {
        self.work.active.clone_from(&record.active);
        self.work.taut.clone_from(&record.taut);
        self.work.held_at.clone_from(&record.held_at);
        self.locked.clone_from(&record.locked);
        self.work.counted.clone_from(&record.counted);
    }

    /// Moves coordinates and rates in y onto the rows; after an evaluation at y. Returns the largest violation there was;
    /// `corrections` receives what was added to the coordinates and rates, one after the other.
    pub fn project(&mut self, model: &Model, y: &mut [f64], corrections: &mut Vec<f64>) -> f64 {
        let mechanism = &model.mechanisms[self.index as usize];
        let n = self.tau.len();
        corrections.clear();
        if self.work.rows.is_empty() {
            return 0.0;
        }
        let violation = mechanism.correction(false, &mut self.work, &mut self.change);
        self.drift = self.drift.max(violation);
        mechanism.count_rows(violation, &mut self.work);
        self.halve_bases(mechanism);
        corrections.extend_from_slice(&self.change);
        mechanism.correction(true, &mut self.work, &mut self.change);
        corrections.extend_from_slice(&self.change);
        for (y, c) in y[self.offset..][..2 * n].iter_mut().zip(corrections.iter()) {
            *y += c;
        }
        violation
    }

    /// A small change of coordinates that was found as one of rates: g' = w/2 near g = 0.
    fn halve_bases(&mut self, mechanism: &Mechanism) {
        for link in mechanism.links.iter().filter(|l| l.joint.has_base()) {
            for i in link.first..link.first + 3 {
                self.change[i] *= 0.5;
            }
        }
    }

    /// Force or torque beyond `tau` that gives coordinate `i` its acceleration; after an evaluation.
    pub fn held_effort(&mut self, model: &Model, i: usize) -> f64 {
        let mechanism = &model.mechanisms[self.index as usize];
        let Some(link) = mechanism.links.iter().position(|l| (l.first..l.first + l.count).contains(&i)) else {
            return 0.0;
        };
        self.carried_loads();
        mechanism.reactions(&self.kinematics, |b| inertia(model, b), &self.all_loads, &self.work, &mut self.displaced);
        let mut effort = self.work.S[i].dot(&self.displaced[link]) - self.tau[i];
        for (row, lambda) in self.work.rows.iter().zip(&self.work.lambda) {
            let own = self.work.terms_of(row).iter().filter(|(coordinate, _)| *coordinate == i);
            effort -= own.map(|(_, factor)| factor * lambda).sum::<f64>();
        }
        effort
    }

    /// Loads on the links with those of the rows.
    fn carried_loads(&mut self) {
        self.all_loads.clone_from(&self.loads);
        for (row, lambda) in self.work.rows.iter().zip(&self.work.lambda) {
            for &(link, wrench) in self.work.ends_of(row) {
                self.all_loads[link as usize] = self.all_loads[link as usize] + wrench * *lambda;
            }
        }
    }

    /// {torque, force} each joint exerts on its body 2 about the origin of its frame 2, resolved in world: those of the
    /// links, then of the loops; after an evaluation at y.
    pub fn reactions(&mut self, model: &Model, t: f64) -> Vec<Six> {
        let mechanism = &model.mechanisms[self.index as usize];
        let of = |body: u32| prescribed(model, body as usize, t);
        let mut on = vec![Six::default(); mechanism.links.len()];
        self.carried_loads();
        mechanism.reactions(&self.kinematics, |b| inertia(model, b), &self.all_loads, &self.work, &mut on);
        let at = |wrench: Six, from: Vec3, to: Vec3| {
            Six::new(wrench.angular + (from - to).cross(wrench.linear), wrench.linear)
        };
        for (k, link) in mechanism.links.iter().enumerate() {
            let centre = self.kinematics[k].p;
            on[k] = if link.reversed {
                // the body is on side 1: what acts on side 2 is the reaction, at the origin there
                let parent = match link.parent {
                    Parent::World => Kinematics::WORLD,
                    Parent::Body(body) => of(body),
                    Parent::Link(parent) => self.kinematics[parent as usize],
                };
                -at(on[k], centre, parent.p + parent.R * link.p_p1)
            } else {
                at(on[k], centre, self.work.links[k].origin)
            };
        }
        for owner in 0..mechanism.loops.len() {
            let mut total = Six::default();
            for (row, lambda) in self.work.rows.iter().zip(&self.work.lambda).filter(|(row, _)| row.owner == owner) {
                total = total + row.on_2 * *lambda;
            }
            on.push(total);
        }
        on
    }

    /// How far a loop or coupling that holds one way is from switching where it was evaluated last, at (t, y): its
    /// multiplier where it is taut, how far it is beyond its limit where it is slack. Negative until it switches.
    pub fn one_way_margin(&self, model: &Model, owner: usize, t: f64, y: &[f64]) -> f64 {
        let mechanism = &model.mechanisms[self.index as usize];
        let Some(sense) = mechanism.holds(owner).sense() else { return -1.0 };
        if !self.work.taut[owner] {
            let (q, u) = self.states(y);
            let of = |body: u32| prescribed(model, body as usize, t);
            let motion = Standpoint { q, u, kinematics: &self.kinematics, of };
            return mechanism.standing(owner, &motion, &self.work).beyond;
        }
        self.multiplier(owner).map_or(-1.0, |lambda| sense * lambda)
    }

    /// Multiplier of a loop's (first) row or of a coupling where it was evaluated last [N or N m]; none if it is slack.
    pub fn multiplier(&self, owner: usize) -> Option<f64> {
        let own = self.work.rows.iter().zip(&self.work.lambda).find(|(row, _)| row.owner == owner);
        own.map(|(_, lambda)| *lambda)
    }

    /// What holds one way at y, where it was evaluated last: those that touch their limit and close stop in a
    /// plastic impact, whose loss [J] is given; the next evaluation decides which of those that touch and rest carry
    /// something.
    pub fn settle_one_way(&mut self, model: &Model, y: &mut [f64], of: impl Fn(u32) -> Kinematics) -> f64 {
        let mechanism = &model.mechanisms[self.index as usize];
        let n = self.tau.len();
        let (q, u) = y[self.offset..][..2 * n].split_at_mut(n);
        let body = |b: u32| inertia(model, b);
        let mut loss = 0.0;
        let motion = Standpoint { q, u, kinematics: &self.kinematics, of: &of };
        if mechanism.closes(&motion, &self.work) {
            mechanism.find_touching(&motion, false, &mut self.work);
            mechanism.measure_rows(q, u, &self.kinematics, &of, body, &mut self.work);
            mechanism.factor_rows(&mut self.work);
            mechanism.stop(&mut self.work, u, &mut self.change);
            mechanism.displace(&self.change, &self.work, &mut self.displaced);
            for ((link, kin), jump) in mechanism.links.iter().zip(&mut self.kinematics).zip(&self.displaced) {
                let after = Kinematics { v: kin.v + jump.linear, w: kin.w + jump.angular, ..*kin };
                let body = &model.bodies[link.body as usize];
                loss += kinetic(body, kin) - kinetic(body, &after);
                *kin = after;
            }
            u.iter_mut().zip(&self.change).for_each(|(u, change)| *u += change);
            // what touches is put onto its limit: what is open there would hold the next step
            mechanism.correction(false, &mut self.work, &mut self.change);
            self.halve_bases(mechanism);
            q.iter_mut().zip(&self.change).for_each(|(q, change)| *q += change);
        }
        let motion = Standpoint { q, u, kinematics: &self.kinematics, of: &of };
        mechanism.find_touching(&motion, true, &mut self.work);
        self.work.counted = None;
        self.work.decides = true;
        loss
    }

    /// How far its loops are open where it was evaluated last: lengths as shares of `size` [m], directions as they are [-].
    pub fn open(&self, size: f64) -> f64 {
        let share = |row: &ClosureRow| row.phi.abs() / if row.on_2.linear == Vec3::ZERO { 1.0 } else { size };
        self.work.rows.iter().filter(|row| row.holonomic).map(share).fold(0.0, f64::max)
    }

    /// Displacements {turn, shift} of the bodies that changes of the coordinates (`rates` false) or rates mean, by link; without
    /// what the projection will take away, so that the error of a step counts along the rows only.
    pub fn displace(&mut self, model: &Model, error: &[f64], rates: bool) {
        let mechanism = &model.mechanisms[self.index as usize];
        let n = self.tau.len();
        let from = self.offset + if rates { n } else { 0 };
        self.change.copy_from_slice(&error[from..from + n]);
        if !rates {
            for link in mechanism.links.iter().filter(|l| l.joint.has_base()) {
                for i in link.first..link.first + 3 {
                    self.change[i] *= 2.0;
                }
            }
        }
        mechanism.displace(&self.change, &self.work, &mut self.displaced);
        if !self.work.rows.is_empty() {
            mechanism.keep_along_rows(rates, &mut self.work, &mut self.change, &mut self.displaced);
        }
    }
}
