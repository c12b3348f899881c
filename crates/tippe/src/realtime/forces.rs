//! Force elements, equations and signals in a step.

use super::Clock;
use super::partition::Rows;
use crate::joint::Six;
use crate::ledger::Ledger;
use crate::observe::ContactSample;

impl Clock<'_> {
    /// Structural changes that are due.
    pub(super) fn restructure(&mut self) {}

    /// Loads on bodies and forces on coordinates.
    pub(super) fn load(&mut self) {
        self.loads.fill(Six::ZERO);
    }

    /// Rows of force elements.
    pub(super) fn element_rows(&self, rows: &mut Rows) {
        let _ = rows;
    }

    /// States of components.
    pub(super) fn advance_states(&mut self) {}

    /// Energy stored in force elements [J].
    pub(super) fn stored(&self) -> f64 {
        0.0
    }

    /// Books the energy of an element's row.
    pub(super) fn book_element(
        &self,
        _e: u32,
        _k: usize,
        _work: f64,
        _ledger: &mut Ledger,
        _e1: &mut f64,
        _e0: &mut f64,
    ) -> f64 {
        0.0
    }

    /// Books the work of loads.
    pub(super) fn book_loads(&mut self, _mean: &[Six], _ledger: &mut Ledger) {}

    /// Values of the model's signals.
    pub(super) fn signals(&mut self, _contacts: &[ContactSample]) -> Vec<f64> {
        vec![0.0; self.model.signals.len()]
    }
}
