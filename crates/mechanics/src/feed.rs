//! Elements that cables pay out and take in: bodies that come in where a lead is long, and go where it is short.

use crate::element::Anchor;
use crate::kinematics::Kinematics;
use crate::model::{Model, kinetic};
use crate::state::ActionRecord;
use crate::structure::Structure;

/// What the feeding of cables works on.
pub struct Feeding<'a> {
    /// The model.
    pub model: &'a Model,
    /// Now [s].
    pub time: f64,
    /// Elements.
    pub actions: &'a mut ActionRecord,
    /// What changes have made of the model.
    pub structure: &'a mut Structure,
    /// Motion of every body's centre of mass.
    pub motion: &'a dyn Fn(u32) -> Kinematics,
}

impl Feeding<'_> {
    /// The next element of a cable in, or out, if it is time: its body, and the motion of its centre of mass from here on. What it carries is work;
    /// what springs store anew or give away is booked as lost in fastening.
    pub fn feed(&mut self, element: u32, end: usize, out: bool) -> Option<(u32, Kinematics)> {
        let cable = &self.model.elements[element as usize];
        let sight = self.actions.sight(self.model, element as usize, self.time, self.motion);
        let modes = &self.actions.modes[cable.modes.clone()];
        let mut states = sight.states.clone();
        let none = |_| 0.0;
        let fed = cable.kind.feed(end, out, &sight.seen((modes, &[]), 0.0, &none), &mut states)?;
        let anchor = cable.kind.attached().frames[fed.frame];
        let body = anchor.body?;
        let kin = body_of(&anchor, &fed.motion);
        let touched: Vec<usize> = (0..self.model.elements.len())
            .filter(|&k| k == element as usize || self.model.elements[k].kind.needs_body(body))
            .collect();
        let moved = |b: u32| if b == body { kin } else { (self.motion)(b) };
        let before = self.actions.stored(self.model, &touched, self.time, self.motion);
        self.actions.states[cable.states.clone()].copy_from_slice(&states);
        self.structure.gone[body as usize] = !out;
        for &k in &touched {
            let kind = &self.model.elements[k].kind;
            let gone = |b: usize| self.structure.gone[b] && kind.needs_body(b as u32);
            let bodies = kind.attached().frames.iter().filter_map(|anchor| anchor.body);
            self.actions.on[k] = !bodies.into_iter().any(|b| gone(b as usize));
        }
        self.structure.fastening += before - self.actions.stored(self.model, &touched, self.time, &moved);
        let mass = self.model.bodies[body as usize].mass;
        let carried = kinetic(&self.model.bodies[body as usize], &kin) + mass * self.model.potential_at(kin.p);
        self.structure.removed += if out { -carried } else { carried };
        Some((body, kin))
    }
}

/// Motion of a body's centre of mass from that of a frame on it.
fn body_of(anchor: &Anchor, frame: &Kinematics) -> Kinematics {
    let R = frame.R * anchor.R.transpose();
    let arm = R * anchor.p;
    Kinematics { p: frame.p - arm, R, v: frame.v - frame.w.cross(arm), w: frame.w }
}
