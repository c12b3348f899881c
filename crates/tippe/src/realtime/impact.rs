//! Impacts, in their own phase.

use super::Clock;

impl Clock<'_> {
    /// Impacts of the step.
    pub(super) fn strike(&mut self) {}
}
