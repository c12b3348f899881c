//! `patches.jsonl`: the polygons over which surfaces touch, with the force on each.
//!
//! One line for every touching pair of surfaces and recorded time. The pair's force is that of `contacts.parquet`; it is shared out among the polygons
//! as the elastic foundation presses: with w_i n_i the push of polygon i, F the force and n the normal of the pair,
//!   f_i = s w_i n_i + (F - s sum w_j n_j) w_i/sum w_j,   s = F.n/(sum w_j n_j).n,
//! so that the f_i add up to F whatever friction and damping add to the pressure. The force of the realtime clock is the mean of a step; surfaces that
//! are apart again at its end have the polygons over which they would meet.

use super::table::LineFile;
use super::{RunError, Subjects};
use crate::contact::surfaces::SurfacePair;
use crate::{Model, Sample};
use serde::{Deserialize, Serialize};
use tippe_geometry::{PatchPolygon, Pose, Vec3};

/// File of a run folder.
pub(super) const FILE: &str = "patches.jsonl";

/// A line of `patches.jsonl`: two surfaces that touch at a recorded time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Patch {
    /// When [s].
    pub time: f64,
    /// Names of body 1 and body 2.
    pub bodies: [String; 2],
    /// Colliding elements, as in `contacts.parquet`.
    pub pair: (u32, u32),
    /// Contact point in the world [m].
    pub position: Vec3,
    /// Force on body 2 in the world [N].
    pub force: Vec3,
    /// Torque on body 2 about the contact point in the world [N m].
    pub torque: Vec3,
    /// The polygons, those on body 1 first.
    pub polygons: Vec<Polygon>,
}

/// The part of a triangle that lies inside the other body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Polygon {
    /// Body whose surface it is part of: 1 or 2.
    pub body: u8,
    /// Connected region of the overlap; none without volume.
    pub region: Option<u32>,
    /// Corners in the world [m]: outlines counter-clockwise as seen from outside the body, holes clockwise.
    pub rings: Vec<Vec<Vec3>>,
    /// Centre of pressure in the world [m].
    pub center: Vec3,
    /// Unit normal from body 1 to body 2 [-].
    pub normal: Vec3,
    /// Area [m^2].
    pub area: f64,
    /// Mean depth [m].
    pub depth: f64,
    /// Share of the force on body 2 in the world [N].
    pub force: Vec3,
}

/// Writes `patches.jsonl`.
pub(super) struct PatchLog {
    pub(super) file: LineFile,
    elements: Vec<crate::model::Collider>,
    /// Centre of mass from the origin, of every body [m].
    p_bc: Vec<Vec3>,
}

impl PatchLog {
    pub fn new(file: LineFile, model: &Model) -> PatchLog {
        PatchLog { file, elements: model.colliders.clone(), p_bc: model.bodies.iter().map(|b| b.p_bc).collect() }
    }

    pub fn write(&mut self, subjects: &Subjects, sample: &Sample<'_>) -> Result<(), RunError> {
        for contact in sample.contacts {
            let numbers = [contact.pair.0 as usize, contact.pair.1 as usize];
            let [Some(e1), Some(e2)] = numbers.map(|k| self.elements.get(k)) else { continue };
            let Some(pair) = SurfacePair::new([e1, e2], 1.0, 0) else { continue };
            let X_ws = [e1, e2].map(|e| {
                let state = &sample.bodies[e.body as usize];
                let center = state.position + state.orientation * self.p_bc[e.body as usize];
                Pose::new(state.orientation, center).then(&e.X_cs)
            });
            let bodies = [contact.body1, contact.body2];
            let name = |k: usize| subjects.bodies.get(k).map_or(String::new(), |b| b.name.clone());
            let patch = Patch {
                time: sample.time,
                bodies: bodies.map(name),
                pair: contact.pair,
                position: contact.position,
                force: contact.force,
                torque: contact.torque,
                polygons: share(pair.patch(&X_ws, contact.force != Vec3::ZERO), contact.force, contact.normal),
            };
            let text = serde_json::to_string(&patch).map_err(|error| RunError::write(&self.file.path, error.into()))?;
            self.file.line(&text)?;
        }
        Ok(())
    }
}

/// Shares the force of a pair out among its polygons.
fn share(patch: Vec<PatchPolygon>, F: Vec3, n: Vec3) -> Vec<Polygon> {
    let push: Vec3 = patch.iter().map(|p| p.push).sum();
    let weight: f64 = patch.iter().map(|p| p.push.length()).sum();
    let along = push.dot(n);
    let s = if along > 0.0 { F.dot(n) / along } else { 0.0 };
    let rest = F - push * s;
    let polygon = |p: PatchPolygon| Polygon {
        body: p.side + 1,
        region: (p.region != u32::MAX).then_some(p.region),
        center: p.center,
        normal: p.normal,
        area: p.area,
        depth: p.depth,
        force: if weight > 0.0 { p.push * s + rest * (p.push.length() / weight) } else { Vec3::ZERO },
        rings: p.rings,
    };
    patch.into_iter().map(polygon).collect()
}
