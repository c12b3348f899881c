//! The subsystem in this clock: an interval is a step, and what it does to bodies in a step acts in the next one
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
    /// The subsystem pushes the bodies as it did in the last step, or as it says now.
    pub(super) fn load_subsystem(&mut self) {
        if let (Some(subsystem), Some(record)) = (&mut self.subsystem, &mut self.state.subsystem) {
            let (paths, gone) = (&self.paths, &self.state.structure.gone);
            subsystem.prepare(&self.model, record, &|b| {
                let kin = &paths[b].kin;
                let X_wc = Pose::new(Quat::from_mat3(&kin.R), kin.p);
                (!gone[b]).then_some(Motion { X_wc, v: kin.v, w: kin.w })
            });
        }
        let Some(record) = &self.state.subsystem else { return };
        for b in 0..self.loads.len() {
            if self.is_free(b) {
                self.loads[b] = self.loads[b] + record.loads()[b];
            }
        }
    }

    /// Rows of the subsystem on free bodies.
    pub(super) fn subsystem_rows(&self, rows: &mut Rows) {
        let Some(subsystem) = &self.subsystem else { return };
        for (k, own) in subsystem.rows().iter().enumerate().filter(|(_, own)| self.is_free(own.body as usize)) {
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

    /// The account of a row of the subsystem.
    pub(super) fn subsystem_cause(&self, row: u32) -> Cause {
        let rows = self.subsystem.as_ref().map_or(&[][..], |subsystem| subsystem.rows());
        rows.get(row as usize).map_or(Cause::Work, |row| cause_of(row.about))
    }

    /// The subsystem follows the step that the bodies have made.
    pub(super) fn advance_subsystem(&mut self) {
        if self.subsystem.is_none() {
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
        let (Some(subsystem), Some(record)) = (&mut self.subsystem, &mut self.state.subsystem) else { return };
        for (row, owner) in self.rows.rows.iter().zip(&self.rows.owners).skip(self.rows.contacts) {
            if let Owner::Subsystem(k) = owner {
                subsystem.answer(*k as usize, row.lambda);
            }
        }
        match subsystem.follow(&self.model, record, &path) {
            Ok(work) => self.state.ledger[Cause::Integration] -= work,
            Err(failure) => {
                let what = format!("cannot go on: {}", failure.what);
                let (time, kind) = (self.state.time, failure.kind.name());
                self.failure = Some(Failure { time, kind, name: failure.name, what });
            }
        }
    }

    /// What the subsystem does to bodies in this step is no work from outside: it lost it in the last one. What differs is the
    /// step's.
    pub(super) fn book_subsystem(&self, mean: &[Six], ledger: &mut Ledger) {
        let Some(record) = &self.state.subsystem else { return };
        for (b, load) in record.loads().iter().enumerate() {
            if self.is_free(b) {
                ledger[Cause::Integration] -= self.h * load.dot(&mean[b]);
            }
        }
    }

    /// Adds the books of the subsystem.
    pub(super) fn add_subsystem(&self, ledger: &mut Ledger) {
        if let (Some(subsystem), Some(record)) = (&self.subsystem, &self.state.subsystem) {
            *ledger += subsystem.books(&self.model, record);
        }
    }

    /// Writes the signals of the subsystem.
    pub(super) fn subsystem_signals(&self, values: &mut [f64]) {
        if let (Some(subsystem), Some(record)) = (&self.subsystem, &self.state.subsystem) {
            for (k, value) in subsystem.signals(&self.model, record) {
                values[k as usize] = value;
            }
        }
    }

    /// Shows the state of the subsystem where that is due.
    pub(super) fn show_subsystem(&mut self, observe: &mut dyn Observe) {
        if let (Some(subsystem), Some(record)) = (&self.subsystem, &mut self.state.subsystem) {
            subsystem.show(&self.model, record, self.state.time, observe);
        }
    }
}
