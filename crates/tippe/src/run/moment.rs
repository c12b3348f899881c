//! Everything a simulation shows at one instant, and the value of any signal there.

use super::{Signal, Subjects};
use crate::{BodyState, ContactSample, Ledger, Observe, Sample};
use serde::{Deserialize, Serialize};

/// The last communication point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// When [s].
    pub time: f64,
    /// All bodies, in model order.
    pub bodies: Vec<BodyState>,
    /// Touching pairs.
    pub contacts: Vec<ContactSample>,
    /// The books.
    pub energy: Ledger,
    /// Signals of the model.
    pub signals: Vec<f64>,
}

impl Moment {
    /// Value of a signal; `subjects` are those of the model.
    pub fn value(&self, signal: Signal, subjects: &Subjects) -> f64 {
        match signal {
            Signal::Time => self.time,
            Signal::Body { body, quantity } => quantity.of(&self.bodies[body]),
            Signal::Energy(account) => account.of(&self.energy),
            Signal::Momentum(axis) => axis.of(subjects.momentum(&self.bodies)),
            Signal::Contact { other, body, touch } => touch.of(&self.contacts, other, body),
            Signal::Model(k) => self.signals[k],
        }
    }
}

impl Observe for Moment {
    fn sample(&mut self, sample: &Sample<'_>) {
        self.time = sample.time;
        self.bodies.clear();
        self.bodies.extend_from_slice(sample.bodies);
        self.contacts.clear();
        self.contacts.extend_from_slice(sample.contacts);
        self.energy = *sample.energy;
        self.signals.clear();
        self.signals.extend_from_slice(sample.signals);
    }
}
