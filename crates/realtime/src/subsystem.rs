//! The subsystems in this clock: an interval is a step, and what they do to bodies in a step acts in the next one
//! (docs/theory/grains.md, eq. 23).

use super::rows::{Owner, Rows};
use super::{Clock, Failure};
use tippe_geometry::{Mat3, Pose, Quat, Vec3};
use tippe_mechanics::cause::Cause;
use tippe_mechanics::joint::Six;
use tippe_mechanics::ledger::Ledger;
use tippe_mechanics::observe::Observe;
use tippe_mechanics::soil::cause_of;
use tippe_numerics::kkt::{Follow, Row};
use tippe_soil::bearing::Motion;

impl Clock {
    /// The subsystems push the bodies as they did in the last step, or as they say now.
    pub(super) fn load_subsystem(&mut self) {
        if let (Some(subsystems), Some(records)) = (&mut self.subsystems, &mut self.state.subsystems) {
            let (paths, gone) = (&self.paths, &self.state.structure.gone);
            subsystems.prepare(&self.model, records, &|b| {
                let kin = &paths[b].kin;
                let X_wc = Pose::new(Quat::from_mat3(&kin.R), kin.p);
                (!gone[b]).then_some(Motion { X_wc, v: kin.v, w: kin.w })
            });
        }
        let Some(records) = &self.state.subsystems else { return };
        for b in 0..self.loads.len() {
            if self.is_free(b) {
                self.loads[b] = self.loads[b] + records.loads()[b];
            }
        }
    }

    /// Rows of the subsystems on free bodies.
    pub(super) fn subsystem_rows(&self, rows: &mut Rows) {
        let Some(subsystems) = &self.subsystems else { return };
        for (k, own) in subsystems.rows().iter().enumerate().filter(|(_, own)| self.is_free(own.body as usize)) {
            let row = Row {
                target: own.target,
                compliance: own.compliance,
                lower: own.lower,
                upper: own.upper,
                lambda: f64::NAN,
                ..Row::default()
            };
            let J = [Six::ZERO, Six::new(own.J[0], own.J[1])];
            self.push_row(rows, [None, Some(own.body as usize)], J, row, Owner::Subsystem(k as u32), Follow::NONE);
        }
    }

    /// The account of a row of the subsystems.
    pub(super) fn subsystem_cause(&self, row: u32) -> Cause {
        let rows = self.subsystems.as_ref().map_or(&[][..], |subsystems| subsystems.rows());
        rows.get(row as usize).map_or(Cause::Work, |row| cause_of(row.about))
    }

    /// The subsystems follow the step that the bodies have made.
    pub(super) fn advance_subsystem(&mut self) {
        if self.subsystems.is_none() {
            return;
        }
        // where bodies were, where they are
        let path: Vec<[Pose; 2]> = (0..self.model.bodies.len())
            .map(|b| {
                let (before, after) = (&self.paths[b].kin, self.motion(b));
                let pose = |R: &Mat3, p: Vec3| Pose::new(Quat::from_mat3(R), p);
                [pose(&before.R, before.p), pose(&after.R, after.p)]
            })
            .collect();
        let (Some(subsystems), Some(records)) = (&mut self.subsystems, &mut self.state.subsystems) else { return };
        for (row, owner) in self.rows.rows.iter().zip(&self.rows.owners).skip(self.rows.contacts) {
            if let Owner::Subsystem(k) = owner {
                subsystems.answer(*k as usize, row.lambda);
            }
        }
        match subsystems.follow(&self.model, records, &path) {
            Ok(work) => self.state.ledger[Cause::Integration] -= work,
            Err(failure) => {
                let what = format!("cannot go on: {}", failure.what);
                let (time, kind) = (self.state.time, failure.kind.name());
                self.failure = Some(Failure { time, kind, name: failure.name, what });
            }
        }
    }

    /// What the subsystems do to bodies in this step is no work from outside: they lost it in the last one. What differs is the
    /// step's.
    pub(super) fn book_subsystem(&self, mean: &[Six], ledger: &mut Ledger) {
        let Some(records) = &self.state.subsystems else { return };
        for (b, load) in records.loads().iter().enumerate() {
            if self.is_free(b) {
                ledger[Cause::Integration] -= self.h * load.dot(&mean[b]);
            }
        }
    }

    /// Adds the books of the subsystems.
    pub(super) fn add_subsystem(&self, ledger: &mut Ledger) {
        if let (Some(subsystems), Some(records)) = (&self.subsystems, &self.state.subsystems) {
            *ledger += subsystems.books(&self.model, records);
        }
    }

    /// Writes the signals of the subsystems.
    pub(super) fn subsystem_signals(&self, values: &mut [f64]) {
        if let (Some(subsystems), Some(records)) = (&self.subsystems, &self.state.subsystems) {
            for (k, value) in subsystems.signals(&self.model, records) {
                values[k as usize] = value;
            }
        }
    }

    /// Shows the state of the subsystems where that is due.
    pub(super) fn show_subsystem(&mut self, observe: &mut dyn Observe) {
        if let (Some(subsystems), Some(records)) = (&self.subsystems, &mut self.state.subsystems) {
            subsystems.show(&self.model, records, self.state.time, observe);
        }
    }
}
