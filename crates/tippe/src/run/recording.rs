//! A run in memory.

use super::expression::Node;
use super::{Gaps, Subjects};
use crate::{BodyState, ContactSample, Event, Ledger, Observe, Sample};
use tippe_geometry::Vec3;

/// Which numbers of a run are kept in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// For each body: its motion.
    pub bodies: Vec<bool>,
    /// For each signal of the model: its values.
    pub signals: Vec<bool>,
    /// Touching pairs.
    pub contacts: bool,
}

impl Wanted {
    /// All numbers.
    pub fn all(subjects: &Subjects) -> Wanted {
        Wanted {
            bodies: vec![true; subjects.bodies.len()],
            signals: vec![true; subjects.signals.len()],
            contacts: true,
        }
    }

    /// No motion, no signal and no contact.
    pub fn none(subjects: &Subjects) -> Wanted {
        Wanted {
            bodies: vec![false; subjects.bodies.len()],
            signals: vec![false; subjects.signals.len()],
            contacts: false,
        }
    }
}

/// Everything a run showed, or the part of it that was asked for. Times never fall; at an event two rows share one
/// time, the first before and the second after it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// Who took part.
    pub subjects: Subjects,
    /// Communication points [s].
    pub time: Vec<f64>,
    /// For each body its states at those times; empty for a body that was not asked for.
    pub motion: Vec<Vec<BodyState>>,
    /// For each signal of the model its values at those times; empty for one that was not asked for.
    pub signals: Vec<Vec<f64>>,
    /// The books at those times.
    pub energy: Vec<Ledger>,
    /// Linear momentum of all bodies with a mass, resolved in world, at those times [kg m/s].
    pub momentum: Vec<Vec3>,
    /// Touching pairs of all times, one after the other; `contact_start[i]` is where those of the i-th begin.
    pub contacts: Vec<ContactSample>,
    /// See `contacts`.
    pub contact_start: Vec<usize>,
    /// Events, sorted by time.
    pub events: Vec<Event>,
    /// Differences to the run of the other clock, where it was compared.
    pub gaps: Option<Gaps>,
    /// What extremes and crossings were asked of, with the times and values the run found, beside the communication points.
    pub(super) asked: Vec<(Node, Vec<(f64, f64)>)>,
    wanted: Wanted,
}

impl Recording {
    /// A recording of everybody.
    pub fn new(subjects: Subjects) -> Recording {
        let all = Wanted::all(&subjects);
        Recording::only(subjects, all)
    }

    /// A recording of what is wanted; events, energy and momentum are those of all.
    pub fn only(subjects: Subjects, wanted: Wanted) -> Recording {
        let motion = vec![Vec::new(); subjects.bodies.len()];
        let signals = vec![Vec::new(); subjects.signals.len()];
        Recording { subjects, motion, signals, wanted, ..Recording::default() }
    }

    /// True if the motion of this body is recorded.
    pub fn has(&self, body: usize) -> bool {
        self.wanted.bodies.get(body).copied().unwrap_or(false)
    }

    /// True if the values of this signal of the model are recorded.
    pub fn has_signal(&self, signal: usize) -> bool {
        self.wanted.signals.get(signal).copied().unwrap_or(false)
    }

    /// Times and values that the run found of something, beside those of the communication points.
    pub(super) fn found_of<'r>(&'r self, node: &Node) -> impl Iterator<Item = (f64, f64)> + use<'r> {
        let own = self.asked.iter().find(|(asked, found)| asked == node && !found.is_empty());
        own.into_iter().flat_map(|(_, found)| found.iter().copied())
    }

    /// Touching pairs at the `i`-th communication point.
    pub fn contacts_at(&self, i: usize) -> &[ContactSample] {
        let start = self.contact_start.get(i).copied().unwrap_or(self.contacts.len());
        let end = self.contact_start.get(i + 1).copied().unwrap_or(self.contacts.len());
        &self.contacts[start..end]
    }

    /// Last communication point at `time`, to within rounding.
    pub fn index_at(&self, time: f64) -> Option<usize> {
        let slack = 1e-12 * time.abs().max(1.0);
        let i = self.time.partition_point(|&t| t <= time + slack).checked_sub(1)?;
        (self.time[i] >= time - slack).then_some(i)
    }
}

impl Observe for Recording {
    fn sample(&mut self, sample: &Sample<'_>) {
        let Sample { time, bodies, contacts, energy, signals } = *sample;
        self.time.push(time);
        self.momentum.push(self.subjects.momentum(bodies));
        self.energy.push(*energy);
        self.contact_start.push(self.contacts.len());
        if self.wanted.contacts {
            self.contacts.extend_from_slice(contacts);
        }
        for ((motion, body), wanted) in self.motion.iter_mut().zip(bodies).zip(&self.wanted.bodies) {
            if *wanted {
                motion.push(*body);
            }
        }
        for ((values, value), wanted) in self.signals.iter_mut().zip(signals).zip(&self.wanted.signals) {
            if *wanted {
                values.push(*value);
            }
        }
    }

    fn found(&mut self, mark: usize, time: f64, value: f64) {
        if let Some((_, found)) = self.asked.get_mut(mark) {
            found.push((time, value));
        }
    }

    fn event(&mut self, event: &Event) {
        self.events.push(event.clone());
    }
}
