//! `reach.jsonl`: the boxes that bodies do not leave, horizon by horizon.

use super::RunError;
use super::table::LineFile;
use crate::model::Drive;
use crate::{Model, Reach};
use serde::{Deserialize, Serialize};
use tippe_geometry::Vec3;

/// File of a run folder.
pub(super) const FILE: &str = "reach.jsonl";

/// A line of `reach.jsonl`: one horizon of the precise clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReachLine {
    /// Its start [s].
    pub time: f64,
    /// Its end [s].
    pub until: f64,
    /// Bodies with a box, by number.
    pub bodies: Vec<u32>,
    /// Lower corner of the box that all of each body stays in [m].
    pub low: Vec<Vec3>,
    /// Its upper corner [m].
    pub high: Vec<Vec3>,
}

/// Writes `reach.jsonl`.
pub(super) struct ReachLog {
    pub(super) file: LineFile,
    /// Of every body: how far it reaches from its centre of mass [m]; none if it is not moved by forces.
    radii: Vec<Option<f64>>,
}

impl ReachLog {
    pub fn new(file: LineFile, model: &Model) -> ReachLog {
        let radius = |b: &crate::model::Body| (b.drive == Drive::Free).then_some(b.radius);
        ReachLog { file, radii: model.bodies.iter().map(radius).collect() }
    }

    pub fn write(&mut self, reach: &Reach<'_>) -> Result<(), RunError> {
        let mut line = ReachLine { time: reach.start, until: reach.end, bodies: vec![], low: vec![], high: vec![] };
        for (k, (reach, radius)) in reach.boxes.iter().zip(&self.radii).enumerate() {
            let Some(radius) = radius.filter(|_| reach.min.is_finite() && reach.max.is_finite()) else { continue };
            line.bodies.push(k as u32);
            line.low.push(reach.min - Vec3::splat(radius));
            line.high.push(reach.max + Vec3::splat(radius));
        }
        let text = serde_json::to_string(&line).map_err(|error| RunError::write(&self.file.path, error.into()))?;
        self.file.line(&text)
    }
}
