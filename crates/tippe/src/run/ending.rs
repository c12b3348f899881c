//! How two runs of one scene end, though they part on the way: poses, contacts one by one, books.
//!
//! Contacts are matched by pair and number, the n-th start of a pair in one clock with the n-th in the other, so that what
//! an impact makes of small differences does not hide what the next one has in common.

use super::Account;
use crate::model::{Drive, Model};
use crate::{BodyState, Event, EventKind, Ledger, Sample};
use serde::Serialize;
use std::collections::BTreeMap;

/// Contacts of one pair that are kept, at most.
const MOST_OF_A_PAIR: usize = 1000;

/// One contact of a pair in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Touched {
    /// When it began [s].
    pub time: f64,
    /// Closing speed then [m/s]; in the realtime clock after the impact of that instant, negative where it rebounds.
    pub closing_speed: f64,
    /// Largest normal force [N]: in the precise clock of the whole contact, in the realtime clock the largest mean over a step.
    pub peak_force: f64,
}

/// The contacts of a run, by pair of elements.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Touches(BTreeMap<(u32, u32), Vec<Touched>>);

impl Touches {
    pub(super) fn event(&mut self, event: &Event) {
        let Some(contact) = &event.contact else { return };
        let list = self.0.entry(contact.pair).or_default();
        match (event.kind, contact.episode) {
            (EventKind::ContactStart, _) if list.len() < MOST_OF_A_PAIR => {
                list.push(Touched { time: event.time, closing_speed: contact.closing_speed, peak_force: 0.0 });
            }
            (EventKind::ContactEnd, Some(episode)) => {
                if let Some(last) = list.last_mut().filter(|last| last.time <= event.time) {
                    last.peak_force = last.peak_force.max(episode.max_force);
                }
            }
            _ => {}
        }
    }

    pub(super) fn sample(&mut self, sample: &Sample<'_>) {
        for contact in sample.contacts {
            let last = self.0.get_mut(&contact.pair).and_then(|list| list.last_mut());
            if let Some(last) = last.filter(|last| last.time <= sample.time) {
                last.peak_force = last.peak_force.max(contact.force.dot(contact.normal));
            }
        }
    }
}

/// The n-th contact of a pair in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Matched {
    /// The two bodies.
    pub pair: String,
    /// Which contact of the pair, from 0.
    pub number: usize,
    /// In the precise clock; none if it has fewer.
    pub precise: Option<Touched>,
    /// In the realtime clock; none if it has fewer.
    pub realtime: Option<Touched>,
}

/// Where a body ends.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LastPose {
    /// Its name.
    pub body: String,
    /// Position in the precise clock [m].
    pub precise: [f64; 3],
    /// Position in the realtime clock [m].
    pub realtime: [f64; 3],
    /// Distance of the two [m].
    pub apart: f64,
    /// Angle between the orientations [rad].
    pub turned: f64,
}

/// An account of the books at the end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LastEnergy {
    /// Which.
    pub account: &'static str,
    /// In the precise clock [J].
    pub precise: f64,
    /// In the realtime clock [J].
    pub realtime: f64,
}

/// How both runs end.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Ending {
    /// Bodies that move by forces, those farthest apart first.
    pub poses: Vec<LastPose>,
    /// All contacts, by the time of the earlier of the two.
    pub contacts: Vec<Matched>,
    /// Accounts that either run has.
    pub energies: Vec<LastEnergy>,
}

/// What a run leaves behind.
pub(super) struct Left<'a> {
    pub bodies: &'a [BodyState],
    pub energy: &'a Ledger,
    pub touches: &'a Touches,
}

impl Ending {
    /// That of the precise and of the realtime run; `name_of` says what a pair of elements is called. Of pairs in `held`, which touch
    /// from the start, the realtime clock tells a start that is none.
    pub(super) fn of(
        model: &Model,
        [own, other]: [&Left<'_>; 2],
        name_of: impl Fn((u32, u32)) -> String,
        held: impl Fn(&(u32, u32)) -> usize,
    ) -> Ending {
        let free = (0..model.bodies.len()).filter(|&b| model.bodies[b].drive == Drive::Free);
        let pose = |b: usize| {
            let (x, y) = (own.bodies.get(b)?, other.bodies.get(b)?);
            let turn = x.orientation.conjugate() * y.orientation;
            let sine = (turn.x * turn.x + turn.y * turn.y + turn.z * turn.z).sqrt();
            Some(LastPose {
                body: model.bodies[b].name.clone(),
                precise: x.position.to_array(),
                realtime: y.position.to_array(),
                apart: (x.position - y.position).length(),
                turned: 2.0 * libm::atan2(sine, turn.w.abs()),
            })
        };
        let mut poses: Vec<LastPose> = free.filter_map(pose).collect();
        poses.sort_by(|a, b| b.apart.total_cmp(&a.apart));
        let mut contacts = Vec::new();
        let mut pairs: Vec<&(u32, u32)> = own.touches.0.keys().chain(other.touches.0.keys()).collect();
        pairs.sort_unstable();
        pairs.dedup();
        for pair in pairs {
            let of = |touches: &Touches, skip: usize| -> Vec<Touched> {
                touches.0.get(pair).into_iter().flatten().skip(skip).copied().collect()
            };
            let (a, b) = (of(own.touches, 0), of(other.touches, held(pair)));
            contacts.extend((0..a.len().max(b.len())).map(|number| Matched {
                pair: name_of(*pair),
                number,
                precise: a.get(number).copied(),
                realtime: b.get(number).copied(),
            }));
        }
        let first = |m: &Matched| m.precise.iter().chain(&m.realtime).map(|t| t.time).fold(f64::INFINITY, f64::min);
        contacts.sort_by(|a, b| first(a).total_cmp(&first(b)));
        let account = |account: &Account| LastEnergy {
            account: account.name(),
            precise: account.of(own.energy),
            realtime: account.of(other.energy),
        };
        let energies = Account::ALL.iter().map(account).filter(|e| e.precise != 0.0 || e.realtime != 0.0).collect();
        Ending { poses, contacts, energies }
    }
}
