//! What both clocks carry from step to step: coordinates of mechanisms, modes of force elements, states of equations.

use crate::element::{Anchor, ElementMode, Sight};
use crate::kinematics::Kinematics;
use crate::model::{Model, ModelElement};
use serde::{Deserialize, Serialize};
use tippe_geometry::{Quat, Vec3};

/// What elements and the network carry from island to island, by index in the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ActionRecord {
    /// Energy of each account of each element: lost or put in [J].
    pub energies: Vec<f64>,
    /// Modes of the elements, all of one after the other.
    pub modes: Vec<ElementMode>,
    /// Numbers that elements keep, all of one after the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<f64>,
    /// Values of [`Model::states`].
    pub states: Vec<f64>,
    /// Which elements are switched on.
    pub on: Vec<bool>,
    /// Structural changes that have been made.
    pub done: Vec<bool>,
}

impl ActionRecord {
    /// Modes of an element, and what it keeps.
    pub fn of(&self, element: &ModelElement) -> (&[ElementMode], &[f64]) {
        (&self.modes[element.modes.clone()], &self.kept[element.kept.clone()])
    }

    /// What an element without coordinates sees at this time [s], `motion` being that of the centre of mass of every body.
    pub fn sight(&self, model: &Model, element: usize, time: f64, motion: &dyn Fn(u32) -> Kinematics) -> Sight {
        let element = &model.elements[element];
        let of = |anchor: &Anchor| anchor.body.map_or(Kinematics::WORLD, motion).of_frame(anchor.p, &anchor.R);
        Sight {
            t: time,
            frames: element.kind.attached().frames.iter().map(of).collect(),
            coordinates: Vec::new(),
            states: self.states[element.states.clone()].to_vec(),
        }
    }

    /// Energy stored by those of these elements that act [J], which see no coordinates.
    pub fn stored(&self, model: &Model, elements: &[usize], time: f64, motion: &dyn Fn(u32) -> Kinematics) -> f64 {
        let none = |_| 0.0;
        let of = |k: usize| {
            let element = &model.elements[k];
            element.kind.stored(&self.sight(model, k, time, motion).seen(self.of(element), 0.0, &none))
        };
        elements.iter().filter(|k| self.on[**k]).map(|k| of(*k)).sum()
    }

    /// That of a model at its start: bodies that are gone, by body, and structural changes that are done.
    pub fn start(model: &Model, gone: &[bool], done: &[bool]) -> ActionRecord {
        let is_gone = |element: &ModelElement| (0..).zip(gone).any(|(b, gone)| *gone && element.kind.needs_body(b));
        ActionRecord {
            energies: vec![0.0; model.elements.iter().map(|e| e.accounts.len()).sum()],
            modes: vec![Default::default(); model.elements.last().map_or(0, |e| e.modes.end)],
            kept: vec![0.0; model.elements.last().map_or(0, |e| e.kept.end)],
            states: model.states.iter().map(|state| state.start).collect(),
            on: model.elements.iter().map(|element| !is_gone(element)).collect(),
            done: done.to_vec(),
        }
    }
}

/// Coordinates of one mechanism at one instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineRecord {
    /// Coordinates [m or rad].
    pub q: Vec<f64>,
    /// Their rates [m/s or rad/s].
    pub u: Vec<f64>,
    /// Orientations joints with three rotations start from, by link.
    pub bases: Vec<Quat>,
    /// Loops that hold.
    pub active: Vec<bool>,
    /// Loops, then couplings, that hold: those that hold one way do where they touch their limit and carry something.
    #[serde(default)]
    pub taut: Vec<bool>,
    /// Frame 2 of loops that took hold during the run, in the frame c of its body [m].
    pub held_at: Vec<Option<(Vec3, Quat)>>,
    /// Coordinates that are held.
    pub locked: Vec<bool>,
    /// Number of rows that are not redundant, once it was counted, and for which loops and given coordinates.
    pub counted: Option<(usize, Vec<bool>)>,
}

impl MachineRecord {
    /// Those of a model at its start.
    pub fn starts(model: &Model) -> Vec<MachineRecord> {
        (model.mechanisms.iter().zip(&model.mechanism_starts))
            .map(|(mechanism, start)| MachineRecord {
                q: start.q.clone(),
                u: start.u.clone(),
                bases: start.bases.clone(),
                active: mechanism.loops.iter().map(|l| model.joints[l.source as usize].active).collect(),
                taut: (0..mechanism.loops.len() + mechanism.couplings.len())
                    .map(|owner| mechanism.holds(owner).sense().is_none())
                    .collect(),
                held_at: vec![None; mechanism.loops.len()],
                locked: vec![false; mechanism.coordinates],
                counted: None,
            })
            .collect()
    }
}
