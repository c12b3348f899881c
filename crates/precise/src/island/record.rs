//! What lasts: an island as it is saved and put back, and what it hands over when it ends.

use super::event::remember;
use super::{Bound, MachineRecord, Memory, interpolate_all};
use super::{Crossing, Dynamics, Frame, Island, Model, Motion, Settings, Springs, Stepper, Structure, What};
use crate::layout::ACCOUNTS;
use serde::{Deserialize, Serialize};
use tippe_mechanics::element::{ElementMode, MOST_ACCOUNTS};
use tippe_mechanics::state::ActionRecord;
use tippe_numerics::Method;

/// What a pair carries from island to island.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairRecord {
    /// Its elements.
    pub id: (u32, u32),
    /// What it remembers.
    pub memory: Memory,
    /// Its springs.
    pub springs: Springs,
}

/// Everything of an island that cannot be recomputed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IslandRecord {
    bodies: Vec<u32>,
    pairs: Vec<PairRecord>,
    machines: Vec<MachineRecord>,
    elements: Vec<(Vec<ElementMode>, [f64; MOST_ACCOUNTS], bool)>,
    /// Numbers that elements keep, all of one after the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    kept: Vec<f64>,
    edge: f64,
    frames: Vec<Frame>,
    frame_time: f64,
    carried: Vec<[f64; ACCOUNTS]>,
    t0: f64,
    step: f64,
    y0: Vec<f64>,
    f0: Vec<f64>,
    dense: Vec<f64>,
    method: Method,
    h: f64,
    error_old: f64,
    decision: u32,
    content: u32,
    reluctance: u32,
    storm: u32,
    crossings: Vec<Crossing>,
}

impl Island {
    /// The island as it must be saved.
    pub fn record(&self, model: &Model) -> IslandRecord {
        let d = &self.dynamics;
        IslandRecord {
            bodies: d.bodies.clone(),
            pairs: d
                .pairs
                .iter()
                .map(|p| PairRecord { id: p.id, memory: p.memory, springs: Springs::default() })
                .collect(),
            machines: d.machines.iter().map(|m| m.record(model, &self.stepper.y0, &d.frames, 0.0)).collect(),
            elements: d.actions.elements.iter().map(|l| (l.modes.clone(), l.carried, l.on)).collect(),
            kept: d.actions.elements.iter().flat_map(|l| l.kept.iter().copied()).collect(),
            edge: d.actions.edge,
            frames: d.frames.clone(),
            frame_time: d.frame_time,
            carried: d.carried.clone(),
            t0: self.stepper.t0,
            step: self.stepper.h,
            y0: self.stepper.y0.clone(),
            f0: self.stepper.f0.clone(),
            dense: self.stepper.dense.clone(),
            method: self.method,
            h: self.h,
            error_old: self.error_old,
            decision: self.decision,
            content: self.content,
            reluctance: self.reluctance,
            storm: self.storm,
            crossings: self.crossings.clone(),
        }
    }

    /// The island a record was made of.
    pub fn restore(model: &Model, settings: &Settings, structure: &Structure, record: &IslandRecord) -> Island {
        let ids: Vec<(u32, u32)> = record.pairs.iter().map(|r| r.id).collect();
        let mut dynamics = Dynamics::new(model, record.bodies.clone(), &ids, settings.tolerance);
        dynamics.skin.used = dynamics.wants_skin();
        dynamics.remember(structure);
        for (k, saved) in record.pairs.iter().enumerate().take(dynamics.pairs.len()) {
            dynamics.recall(k, saved.memory);
        }
        for (machine, saved) in dynamics.machines.iter_mut().zip(&record.machines) {
            machine.take_structure(saved);
        }
        for (local, saved) in dynamics.actions.elements.iter_mut().zip(&record.elements) {
            (local.modes, local.carried, local.on) = saved.clone();
        }
        let kept = dynamics.actions.elements.iter_mut().flat_map(|local| &mut local.kept);
        kept.zip(&record.kept).for_each(|(own, saved)| *own = *saved);
        dynamics.actions.edge = record.edge;
        dynamics.frames.clone_from(&record.frames);
        dynamics.frame_time = record.frame_time;
        dynamics.carried.clone_from(&record.carried);
        let mut stepper = Stepper::default();
        let (mut begin, mut begin_gaps) = (Vec::new(), Vec::new());
        if record.step > 0.0 {
            let start = &record.dense[..record.y0.len()];
            stepper.resume(&mut Bound { model, dynamics: &mut dynamics }, record.frame_time, start);
            begin.extend(dynamics.pairs.iter().map(|p| p.last));
            begin_gaps.clone_from(&dynamics.gaps);
        }
        stepper.resume(&mut Bound { model, dynamics: &mut dynamics }, record.t0, &record.y0);
        stepper.f0.clone_from(&record.f0);
        stepper.dense.clone_from(&record.dense);
        stepper.h = record.step;
        stepper.evaluations = 0;
        let mut watched = Vec::new();
        dynamics.watch(model, record.t0, &record.y0, &mut watched);
        Island {
            scratch: dynamics.kinematics.clone(),
            corrections: Vec::new(),
            watched,
            watched_end: Vec::new(),
            own_marks: None,
            left: Vec::new(),
            before: None,
            dynamics,
            stepper,
            method: record.method,
            automatic: settings.integrator == tippe_scene::Integrator::Auto,
            h: record.h,
            error_old: record.error_old,
            decision: record.decision,
            content: record.content,
            reluctance: record.reluctance,
            storm: record.storm,
            crossings: record.crossings.clone(),
            begin,
            begin_gaps,
            coupled: false,
        }
    }

    /// Hands over motions and pair records at time t within the last step, crossings up to it taken into account.
    pub fn harvest(
        &mut self,
        model: &Model,
        t: f64,
        machines: &mut [MachineRecord],
        actions: &mut ActionRecord,
    ) -> (Vec<Motion>, Vec<PairRecord>) {
        let motions: Vec<Motion> = (0..self.dynamics.bodies.len()).map(|k| self.motion(model, k, t)).collect();
        let theta = self.theta(t);
        let mut y = vec![0.0; self.stepper.y0.len()];
        interpolate_all(&self.stepper.dense, theta, &mut y);
        for machine in &self.dynamics.machines {
            let since = t - self.dynamics.frame_time;
            machines[machine.index as usize] = machine.record(model, &y, &self.dynamics.frames, since);
        }
        let crossings = std::mem::take(&mut self.crossings);
        for crossing in crossings.iter().filter(|c| c.time <= t) {
            if matches!(crossing.what, What::Watch | What::Instant) {
                if crossing.what == What::Watch {
                    self.dynamics.trip(model, crossing.pair, t, &mut y);
                }
                continue;
            }
            let reading = self.read_at(model, crossing.pair, self.theta(crossing.time));
            match crossing.what {
                What::Touch => self.touch(crossing.pair, &reading, crossing.time),
                What::Leave => self.dynamics.pairs[crossing.pair].memory.touching = false,
                _ => {}
            }
        }
        for k in 0..self.dynamics.pairs.len() {
            if self.dynamics.pairs[k].memory.touching {
                let reading = self.read_at(model, k, theta);
                let episode = self.episode(model, k, theta);
                let memory = &mut self.dynamics.pairs[k].memory;
                memory.episode = episode;
                remember(memory, &reading);
            }
        }
        self.dynamics.record_actions(model, actions, &y);
        let records = self
            .dynamics
            .pairs
            .iter()
            .map(|p| PairRecord { id: p.id, memory: p.memory, springs: Dynamics::springs(p, &y) })
            .collect();
        (motions, records)
    }

    /// Remembers the island as it is, unless it has moved in this horizon.
    pub(super) fn keep(&mut self, model: &Model) {
        if self.before.is_none() {
            self.before = Some(Box::new(self.record(model)));
        }
    }

    /// The island as it was at the start of the horizon.
    pub fn put_back(&mut self, model: &Model, settings: &Settings, structure: &Structure) {
        if let Some(before) = self.before.take() {
            let left = std::mem::take(&mut self.left);
            *self = Island { left, ..Island::restore(model, settings, structure, &before) };
        }
    }
}
