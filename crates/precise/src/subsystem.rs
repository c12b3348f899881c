//! The subsystems in this clock (docs/theory/grains.md, eq. 24): horizons end where subsystems and bodies hand over, one step of the
//! shortest apart. All islands step exactly there; from there on bodies feel what they will do by what they did in the last two
//! intervals.

use super::Clock;
use super::failure::{Failure, Trouble};
use super::settings::Settings;
use serde::{Deserialize, Serialize};
use tippe_geometry::{Mat3, Pose, Quat};
use tippe_mechanics::cause::{Accounts, Cause};
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::rotation_vector;
use tippe_mechanics::ledger::Ledger;
use tippe_mechanics::model::{Drive, Model, prescribed};
use tippe_mechanics::observe::Observe;
use tippe_mechanics::resistance::Resistance;
use tippe_mechanics::soil::cause_of;
use tippe_mechanics::structure::Structure;
use tippe_mechanics::subsystem::{SubsystemRecords, Subsystems};
use tippe_soil::bearing::{Motion, Row};

/// Interval between communication points where there are none [s].
const NO_POINTS: f64 = 1e-2;
/// Times nearer than this share of an interval are the same [-].
const SAME: f64 = 1e-6;

/// What survives a hand-over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Handover {
    pub records: SubsystemRecords,
    /// Motion of the bodies at the last hand-over.
    motions: Vec<Motion>,
    /// {torque, force} on each body in the interval before the last: means.
    before: Vec<Six>,
    /// Time between hand-overs; none before the first [s].
    interval: Option<f64>,
    /// What the delay of the hand-over makes of the energy [J].
    lost: f64,
    /// What rows took from free bodies.
    taken: Accounts,
}

/// Books of the subsystems, and their signals by number.
pub(super) type Look = (Ledger, Vec<(u32, f64)>);

impl Handover {
    /// Of a model at its start, if it has subsystems.
    pub fn start(model: &Model) -> Option<Handover> {
        let motions = (0..model.bodies.len()).map(|b| {
            let kin = model.standing(b as u32);
            Motion { X_wc: Pose::new(model.start[b].orientation, kin.p), v: kin.v, w: kin.w }
        });
        Some(Handover {
            records: SubsystemRecords::start(model)?,
            motions: motions.collect(),
            before: vec![Six::default(); model.bodies.len()],
            interval: None,
            lost: 0.0,
            taken: Accounts::default(),
        })
    }

    /// Books and signals of the subsystems.
    fn look(&self, model: &Model, subsystems: &Subsystems) -> Look {
        let mut books = subsystems.books(model, &self.records);
        books[Cause::Integration] += self.lost;
        books.accounts += self.taken;
        (books, subsystems.signals(model, &self.records))
    }
}

/// The subsystems at work, in intervals of at most a step of their own, of which communication points are a whole number apart.
pub(super) fn resume(model: &Model, handover: Option<&Handover>, settings: &Settings) -> Option<Subsystems> {
    let (handover, longest) = (handover?, Subsystems::longest_interval(model)?);
    let interval = handover.interval.unwrap_or(settings.handover_interval(longest));
    Subsystems::resume(model, Some(&handover.records), interval, settings.threads)
}

impl Settings {
    /// The longest interval up to `longest` of which communication points are a whole number apart [s].
    pub fn handover_interval(&self, longest: f64) -> f64 {
        let points = if self.output_interval.is_finite() { self.output_interval } else { NO_POINTS };
        points / (points / longest - SAME).ceil().max(1.0)
    }
}

impl Clock<'_> {
    /// Next time at which subsystems and bodies hand over [s].
    pub(super) fn next_handover(&self) -> f64 {
        match (&self.subsystems, &self.handover) {
            (Some(subsystems), Some(handover)) => (handover.records.intervals() + 1) as f64 * subsystems.interval(),
            _ => f64::INFINITY,
        }
    }

    /// The subsystems follow the bodies to the hand-over, if the horizon ends there; for the next interval bodies get
    ///   F_k+1 = 2 F_k - F_k-1,   F_k = mean of the last interval.
    pub(super) fn advance_subsystem(&mut self, observe: &mut dyn Observe) {
        let next = self.next_handover();
        let model = self.model;
        let (Some(mut subsystems), Some(mut handover)) = (self.subsystems.take(), self.handover.take()) else { return };
        let interval = subsystems.interval();
        if self.initial.is_none() {
            subsystems.show(model, &mut handover.records, self.time, observe);
        }
        if self.failure.is_some() || self.stopped || self.end < next - SAME * interval {
            (self.subsystems, self.handover) = (Some(subsystems), Some(handover));
            return;
        }
        if self.last {
            // the last horizon is made again by whoever goes on from here
            self.handover_before = Some(handover.clone());
        }
        let earlier = self.samples.iter().any(|&t| t < next - SAME * interval);
        self.earlier = earlier.then(|| handover.look(model, &subsystems));
        let motions = self.motions_at(next);
        let path: Vec<[Pose; 2]> =
            handover.motions.iter().zip(&motions).map(|(from, to)| [from.X_wc, to.X_wc]).collect();
        for own in &self.structure.resistances {
            let [impulse, work] = own.done(&path[own.body as usize][1], interval);
            subsystems.answer(own.row as usize, impulse);
            handover.taken[cause_of(own.about)] -= work;
        }
        for (b, body) in model.bodies.iter().enumerate() {
            if body.drive == Drive::Free
                && let Some(push) = self.structure.pushes.get(b)
            {
                let [from, to] = path[b];
                let turn = Mat3::from_quat(to.rotation * from.rotation.conjugate());
                let moved = Six::new(rotation_vector(&turn), to.position - from.position);
                handover.lost -= push.dot(&moved);
            }
        }
        handover.before.clear();
        handover.before.extend_from_slice(handover.records.delayed_loads());
        handover.interval = Some(interval);
        match subsystems.follow(model, &mut handover.records, &path) {
            Ok(work) => handover.lost -= work,
            Err(failure) => {
                self.put_back();
                self.failure = Some(Failure {
                    time: self.end,
                    step: interval,
                    trouble: Trouble::Subsystem(failure.kind),
                    body: failure.name,
                    component: None,
                    suspects: vec![failure.what],
                    contacts: false,
                });
            }
        }
        handover.motions = motions;
        (self.subsystems, self.handover) = (Some(subsystems), Some(handover));
        if !self.last {
            if self.failure.is_none() {
                self.push();
            }
            self.structure.handover = Some(self.next_handover());
            self.remind();
        }
    }

    /// What subsystems do to bodies until the next hand-over: loads foreseen, and rows.
    fn push(&mut self) {
        let (Some(subsystems), Some(handover)) = (&mut self.subsystems, &mut self.handover) else { return };
        let Structure { gone, pushes, resistances, .. } = &mut self.structure;
        resistances.clear();
        let Handover { records, motions, before, .. } = &mut **handover;
        if Subsystems::resist(self.model) {
            subsystems.prepare(self.model, records, &|b| (!gone[b]).then_some(motions[b]));
            let H = subsystems.interval();
            let free = |row: &Row| self.model.bodies[row.body as usize].drive == Drive::Free;
            let rows = (0..).zip(subsystems.rows()).filter(|(_, row)| free(row));
            resistances.extend(rows.map(|(k, row)| Resistance::of(k, row, &motions[row.body as usize], H)));
        }
        pushes.clear();
        pushes.resize(motions.len(), Six::ZERO);
        for (push, (now, before)) in pushes.iter_mut().zip(records.delayed_loads().iter().zip(before.iter())) {
            *push = *now * 2.0 - *before;
        }
        for (push, load) in pushes.iter_mut().zip(records.present_loads()) {
            *push = *push + *load;
        }
    }

    /// All islands take over what pushes them.
    fn remind(&mut self) {
        for island in &mut self.islands {
            island.dynamics.remember(&self.structure);
        }
    }

    /// Rows of subsystems where a run begins, or goes on.
    pub(super) fn resist(&mut self) {
        if !self.last && self.subsystems.is_some() && Subsystems::resist(self.model) {
            let pushes = self.structure.pushes.clone();
            self.push();
            if self.initial.is_some() {
                // what was foreseen of delayed loads goes on
                self.structure.pushes = pushes;
            }
            self.remind();
        }
    }

    /// Motion of all bodies at time t.
    fn motions_at(&self, t: f64) -> Vec<Motion> {
        let model = self.model;
        let mut motions: Vec<Motion> = (0..model.bodies.len())
            .map(|b| {
                let kin = prescribed(model, b, t);
                Motion { X_wc: Pose::new(Quat::from_mat3(&kin.R), kin.p), v: kin.v, w: kin.w }
            })
            .collect();
        for island in &self.islands {
            for (k, &body) in island.dynamics.bodies.iter().enumerate() {
                let motion = island.motion(model, k, t);
                motions[body as usize] = Motion { X_wc: Pose::new(motion.q, motion.p), v: motion.v, w: motion.w };
            }
        }
        motions
    }

    /// Adds books of the subsystems at time t of the horizon, and writes their signals.
    pub(super) fn add_subsystem(&self, t: f64, ledger: &mut Ledger, signals: &mut [f64]) {
        let (Some(subsystems), Some(handover)) = (&self.subsystems, &self.handover) else { return };
        let (books, values) = match &self.earlier {
            Some(earlier) if t < self.end - SAME * subsystems.interval() => earlier.clone(),
            _ => handover.look(self.model, subsystems),
        };
        *ledger += books;
        for (k, value) in values {
            signals[k as usize] = value;
        }
    }

    /// Shows the state of the subsystems where that is due.
    pub(super) fn show_subsystem(&mut self, observe: &mut dyn Observe) {
        if let (Some(subsystems), Some(handover)) = (&self.subsystems, &mut self.handover) {
            subsystems.show(self.model, &mut handover.records, self.end, observe);
            if let Some(before) = &mut self.handover_before {
                before.records.shown_as(&handover.records);
            }
        }
    }
}
