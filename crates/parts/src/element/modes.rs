//! The modes of a flexible body: each is a coordinate with unit mass, and
//!   f_k = -w_k^2 q_k - c_k q_k'
//! What they mean for motion is the mechanism's; the element keeps the books, and says where a body bends too far for small strains.

use super::{Acting, Action, At, Attached, CoordinateMotion, Effect, ElementAccount, Output, Seen, Trip};
use crate::cause::Cause;
use crate::event::EventKind;
use std::borrow::Cow;
use tippe_geometry::Vec3;

/// An interface turns no further than this in its body where small strains hold: the next term of a beam is a hundredth then [rad].
pub const LARGEST_TURN: f64 = 0.1;
/// Strain up to which steel and most metals follow a line [-].
pub const LARGEST_STRAIN: f64 = 0.005;

/// The modes of one body.
#[derive(Clone, Debug)]
pub struct Modes {
    /// Their coordinates.
    pub at: Vec<At>,
    /// w^2 [1/s2].
    pub stiffness: Vec<f64>,
    /// c [1/s].
    pub damping: Vec<f64>,
    /// Turn of each interface per unit of each mode: interface after interface [rad].
    pub turns: Vec<Vec3>,
    /// Largest strain per unit of each mode [-].
    pub strains: Vec<f64>,
}

impl Modes {
    /// How far it is beyond the range of small strains, as a share of it: 0 at its edge [-].
    pub fn beyond(&self, coordinates: &[CoordinateMotion]) -> f64 {
        let m = self.at.len();
        let turn = self.turns.chunks(m.max(1)).map(|turns| {
            turns.iter().zip(coordinates).fold(Vec3::ZERO, |sum, (turn, c)| sum + *turn * c.q).length() / LARGEST_TURN
        });
        // the modes' largest strains are in different places: the root of their squares is a fair guess
        let strain = self.strains.iter().zip(coordinates).map(|(s, c)| s * c.q * s * c.q).sum::<f64>().sqrt();
        turn.fold(strain / LARGEST_STRAIN, f64::max) - 1.0
    }
}

const ENERGY: &[Output] = &[Output { name: Cow::Borrowed("strain_energy"), unit: Some("J") }];
const LOSS: &[ElementAccount] = &[ElementAccount { cause: Cause::StructuralDamping, name: "loss" }];

impl Acting for Modes {
    fn attached(&self) -> Attached<'_> {
        Attached { coordinates: &self.at, ..Attached::default() }
    }

    fn outputs(&self) -> &[Output] {
        ENERGY
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        LOSS
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let (mut stored, mut power) = (0.0, 0.0);
        for (k, c) in seen.coordinates.iter().enumerate() {
            out.efforts[k] = -self.stiffness[k] * c.q - self.damping[k] * c.u;
            stored += 0.5 * self.stiffness[k] * c.q * c.q;
            power += self.damping[k] * c.u * c.u;
        }
        out.effect = Effect::new(stored, stored, power);
    }

    fn acts_on_given(&self) -> bool {
        true
    }

    fn stored(&self, seen: &Seen<'_>) -> f64 {
        seen.coordinates.iter().zip(&self.stiffness).map(|(c, k)| 0.5 * k * c.q * c.q).sum()
    }

    fn watched(&self) -> usize {
        1
    }

    fn watch(&self, _: usize, seen: &Seen<'_>) -> f64 {
        // told once
        if seen.mode().held { -1.0 } else { self.beyond(seen.coordinates) }
    }

    fn event(&self, _: usize, _: super::ElementMode) -> Option<EventKind> {
        Some(EventKind::LargeDeformation)
    }

    fn trip(&self, _: usize, seen: &Seen<'_>) -> Trip {
        Trip::to(super::ElementMode { held: true, ..seen.mode() })
    }
}
