//! Grains in this clock: an interval is a step, and what grains do to bodies in it acts in the next one (docs/theory/grains.md, eq. 23).

use super::{Clock, Failure};
use tippe_geometry::{Mat3, Pose, Quat, Vec3};
use tippe_mechanics::joint::Six;
use tippe_mechanics::ledger::Ledger;
use tippe_mechanics::observe::Observe;

impl Clock<'_> {
    /// Grains push the bodies as they did in the last step.
    pub(super) fn load_grains(&mut self) {
        let Some(record) = &self.state.grains else { return };
        for b in 0..self.loads.len() {
            if self.is_free(b) {
                self.loads[b] = self.loads[b] + record.loads[b];
            }
        }
    }

    /// Grains follow the step that the bodies have made.
    pub(super) fn pour(&mut self) {
        let (Some(mut bed), Some(mut record)) = (self.bed.take(), self.state.grains.take()) else { return };
        // where bodies were, where they are
        let path: Vec<[Pose; 2]> = (0..self.model.bodies.len())
            .map(|b| {
                let (before, after) = (&self.paths[b].kin, self.motion(b));
                let pose = |R: &Mat3, p: Vec3| Pose::new(Quat::from_mat3(R), p);
                [pose(&before.R, before.p), pose(&after.R, after.p)]
            })
            .collect();
        match bed.follow(&mut record, &path) {
            Ok(work) => self.state.ledger.integration -= work,
            Err(error) => {
                let what = format!("cannot go on: {error}");
                self.spilt = Some(Failure { time: self.state.time, kind: "grains", name: bed.name(), what });
            }
        }
        (self.bed, self.state.grains) = (Some(bed), Some(record));
    }

    /// What grains do to bodies in this step is no work from outside: the grains lost it in the last one. What differs is the step's.
    pub(super) fn book_grains(&self, mean: &[Six], ledger: &mut Ledger) {
        let Some(record) = &self.state.grains else { return };
        for (b, load) in record.loads.iter().enumerate() {
            if self.is_free(b) {
                ledger.integration -= self.h * load.dot(&mean[b]);
            }
        }
    }

    /// Adds the books of the grains.
    pub(super) fn add_grains(&self, ledger: &mut Ledger) {
        if let (Some(bed), Some(record)) = (&self.bed, &self.state.grains) {
            *ledger += bed.books(record);
        }
    }

    /// Writes the signals of grains.
    pub(super) fn grain_signals(&self, values: &mut [f64]) {
        if let (Some(bed), Some(record)) = (&self.bed, &self.state.grains) {
            for (k, value) in bed.signals(record) {
                values[k as usize] = value;
            }
        }
    }

    /// Shows all grains where a snapshot is due.
    pub(super) fn show_grains(&mut self, observe: &mut dyn Observe) {
        if let (Some(bed), Some(record)) = (&self.bed, &mut self.state.grains) {
            bed.show(record, self.state.time, observe);
        }
    }
}
