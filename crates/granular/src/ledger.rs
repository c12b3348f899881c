//! The books of energy.

use crate::law::full::Losses;
use crate::law::{V4, each};
use crate::{Grains, Settings};
use serde::{Deserialize, Serialize};
use tippe_geometry::Vec3;

/// What the books keep from step to step [J].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Books {
    pub losses: Losses,
    pub elastic: f64,
    pub put_in: f64,
}

/// Where the energy is and where it went [J].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Translation and rotation [J].
    pub kinetic: f64,
    /// Height against gravity, from the origin [J].
    pub potential: f64,
    /// Springs of contacts [J].
    pub elastic: f64,
    /// Lost by cause [J].
    pub losses: Losses,
    /// Put in by walls, by grains that came (less what grains that went took along), by periodic sides against gravity [J].
    pub put_in: f64,
    /// What the books show too much [J]: error of the time step.
    pub residual: f64,
}

impl Grains {
    /// Kinetic and potential energy of the grain at a place [J].
    pub(crate) fn energy_of(&self, place: usize, gravity: Vec3) -> f64 {
        let kinetic = |v: &V4| 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / v[3];
        let (x, v, w) = (&self.position[place], &self.motion[place].linear, &self.motion[place].angular);
        kinetic(v) + kinetic(w) - gravity.dot(Vec3::new(x[0], x[1], x[2])) / v[3]
    }

    /// The books as they stand. They close when `Settings::ledger` was on from the first step.
    pub fn ledger(&self, settings: &Settings) -> Ledger {
        let g = settings.gravity;
        let single = (0..self.len()).filter(|k| self.motion[*k].linear[3] > 0.0 && !self.in_clump(*k));
        let height = |k: usize| g.dot(Vec3::from_array(each(|i| self.position[k][i]))) / self.motion[k].linear[3];
        let present = self.clumps.iter().filter(|c| !c.ids.is_empty());
        let clumps = present.map(|c| c.mass * g.dot(c.X_wc.position)).sum::<f64>();
        let potential = -single.map(height).sum::<f64>() - clumps;
        let kinetic = self.kinetic_energy();
        let Books { losses, elastic, put_in } = self.books;
        let residual = kinetic + potential + elastic + losses.sum() - put_in;
        Ledger { kinetic, potential, elastic, losses, put_in, residual }
    }
}
