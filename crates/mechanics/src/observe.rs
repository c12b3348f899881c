//! What a simulation shows while it runs, and what it says at the end.

use crate::kinematics::BodyState;
use crate::{Event, EventKind, Ledger};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use tippe_geometry::Vec3;

/// One touching pair at a communication point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactSample {
    /// Index of the first body in the model's body list.
    pub body1: usize,
    /// Index of the second body in the model's body list.
    pub body2: usize,
    /// The two colliding shape elements (indices in the model's element list).
    pub pair: (u32, u32),
    /// Contact point, resolved in world [m].
    pub position: Vec3,
    /// Unit normal from body 1 to body 2, resolved in world.
    pub normal: Vec3,
    /// Depth [m].
    pub depth: f64,
    /// Closing speed [m/s].
    pub closing_speed: f64,
    /// Force on body 2, resolved in world [N].
    pub force: Vec3,
    /// Torque on body 2 about the contact point, resolved in world [N m].
    pub torque: Vec3,
    /// True while the contact slips.
    pub slipping: bool,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Simulated time reached [s].
    pub time: f64,
    /// Simulated time to reach [s].
    pub until: f64,
    /// Smallest current step over all islands [s].
    pub step: f64,
    /// Body index that limits the step, if one does.
    pub limiter: Option<usize>,
    /// Steps accepted so far.
    pub steps: u64,
    /// Contacts now touching.
    pub contacts: usize,
    /// Events so far.
    pub events: u64,
}

/// Everything there is to see at a communication point.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// When [s].
    pub time: f64,
    /// All bodies in model order.
    pub bodies: &'a [BodyState],
    /// The touching pairs, sorted by index.
    pub contacts: &'a [ContactSample],
    /// The books.
    pub energy: &'a Ledger,
    /// Values of the model's signals, in its order.
    pub signals: &'a [f64],
}

/// A number that an observer wants to see where it is largest or smallest, or crosses zero, also between the
/// communication points of the precise clock.
#[derive(Clone)]
pub struct Mark {
    /// Bodies whose motion it depends on, by model index.
    pub bodies: Vec<u32>,
    /// Free bodies whose contacts it depends on.
    pub touching: Vec<u32>,
    /// Signals of the model it depends on.
    pub signals: Vec<u32>,
    /// True if its zeros are wanted, too.
    pub crossing: bool,
    /// The number, from what it depends on.
    pub value: Arc<dyn Fn(&Glimpse) -> f64 + Send + Sync>,
}

impl std::fmt::Debug for Mark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mark").field("bodies", &self.bodies).field("signals", &self.signals).finish_non_exhaustive()
    }
}

impl PartialEq for Mark {
    fn eq(&self, other: &Mark) -> bool {
        Arc::ptr_eq(&self.value, &other.value)
    }
}

/// What a mark depends on, at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Glimpse {
    /// When [s].
    pub time: f64,
    /// Motion of the bodies of the mark, by model index.
    pub bodies: Vec<(u32, BodyState)>,
    /// Touching pairs of the island it belongs to, where it depends on contacts.
    pub contacts: Vec<ContactSample>,
    /// Signals of the island it belongs to, where it depends on any.
    pub signals: Vec<(u32, f64)>,
}

/// A horizon of the precise clock, and the boxes by which it knew who may touch whom.
#[derive(Clone, Copy, Debug)]
pub struct Reach<'a> {
    /// Start of the horizon [s].
    pub start: f64,
    /// Its end [s].
    pub end: f64,
    /// Box of the centre of mass of every body, in model order [m]; infinite where it may go anywhere.
    pub boxes: &'a [tippe_geometry::Aabb],
}

/// Receives what a simulation produces, in order of time. Every method may be left at its default.
pub trait Observe {
    /// A communication point.
    fn sample(&mut self, sample: &Sample<'_>) {
        let _ = sample;
    }
    /// An event; events come sorted by time, then pair, then source.
    fn event(&mut self, event: &Event) {
        let _ = event;
    }
    /// One of the marks that were set is largest or smallest at a time [s], or vanishes, or jumps; of a horizon of the precise
    /// clock, after its communication points.
    fn found(&mut self, mark: usize, time: f64, value: f64) {
        let _ = (mark, time, value);
    }
    /// A horizon of the precise clock, before its events and communication points.
    fn reach(&mut self, reach: &Reach<'_>) {
        let _ = reach;
    }
    /// The ground at the end of every step or interval, at a time [s].
    fn ground(&mut self, ground: &tippe_soil::Ground, t: f64) {
        let _ = (ground, t);
    }

    /// All grains at some of the communication points.
    fn grains(&mut self, grains: &tippe_granular::Grains) {
        let _ = grains;
    }
    /// A number from outside changed, in the realtime clock.
    fn input(&mut self, heard: &crate::input::Heard) {
        let _ = heard;
    }
    /// From the step of this number on a hand pulls at a body, or no longer does, in the realtime clock.
    fn pull(&mut self, step: u64, pull: Option<&crate::input::Pull>) {
        let _ = (step, pull);
    }
    /// Called after every horizon, and within one that takes many steps; return false to stop the run in good order.
    fn progress(&mut self, progress: &Progress) -> bool {
        let _ = progress;
        true
    }
}

/// An observer that looks away.
impl Observe for () {}

/// Counts of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Accepted steps over all islands.
    pub steps: u64,
    /// Rejected steps over all islands.
    pub rejected: u64,
    /// Evaluations of the right-hand side over all islands; none in the realtime clock.
    pub rhs_evaluations: u64,
    /// How the realtime clock solved its partitions; pairs tested, also those of the precise clock.
    pub solutions: Solutions,
    /// Accepted steps by integrator name.
    pub steps_by_integrator: BTreeMap<String, u64>,
    /// Events by kind.
    pub events: BTreeMap<EventKind, u64>,
    /// Horizons, and how many were advanced again because a body left its reach box.
    pub horizons: u64,
    /// See `horizons`.
    pub horizons_repeated: u64,
    /// Largest number of touching pairs at a communication point.
    pub max_contacts: usize,
    /// What the user should know: deep overlaps, restitution floors in force, and the like.
    pub warnings: Vec<String>,
    /// Bodies at the end of the run, in model order.
    pub bodies: Vec<BodyState>,
    /// Values of the model's signals at the end of the run, in its order.
    pub signals: Vec<f64>,
    /// Mechanisms, in model order.
    pub mechanisms: Vec<MechanismSummary>,
    /// Grains, where there are any.
    pub grains: Option<GrainSummary>,
    /// The books at the end of the run.
    pub energy: Ledger,
    /// Hash of the bits of `bodies` and `energy` at the end of the run.
    pub hash: u64,
    /// True when the observer asked to stop before the end.
    pub stopped: bool,
}

impl Summary {
    /// That of a run whose first part had the summary `first`, and whose second part had this one: counts are sums, all else is that of
    /// the second part.
    pub fn after(mut self, first: &Summary) -> Summary {
        self.steps += first.steps;
        self.rejected += first.rejected;
        self.rhs_evaluations += first.rhs_evaluations;
        self.solutions += first.solutions;
        self.horizons += first.horizons;
        self.horizons_repeated += first.horizons_repeated;
        self.max_contacts = self.max_contacts.max(first.max_contacts);
        if let (Some(grains), Some(before)) = (&mut self.grains, &first.grains) {
            grains.particle_steps += before.particle_steps;
            grains.rebuilds += before.rebuilds;
        }
        for (mechanism, before) in self.mechanisms.iter_mut().zip(&first.mechanisms) {
            mechanism.drift = mechanism.drift.max(before.drift);
        }
        for (name, steps) in &first.steps_by_integrator {
            *self.steps_by_integrator.entry(name.clone()).or_default() += steps;
        }
        for (kind, n) in &first.events {
            *self.events.entry(*kind).or_default() += n;
        }
        // what is told again, if with other numbers, is told as it stands at the end
        let words = |text: &str| -> Vec<String> {
            text.split_whitespace()
                .filter(|word| !word.contains(|c: char| c.is_ascii_digit()))
                .map(str::to_owned)
                .collect()
        };
        let only_then = |warning: &&String| !self.warnings.iter().any(|other| words(other) == words(warning));
        let earlier: Vec<String> = first.warnings.iter().filter(only_then).cloned().collect();
        self.warnings.extend(earlier);
        self
    }
}

/// What a run says of its grains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GrainSummary {
    /// Grains at the end [-].
    pub count: usize,
    /// Pairs of grains that touch at the end [-].
    pub contacts: usize,
    /// Step [s].
    pub step: f64,
    /// Step as a share of the shortest Rayleigh time [-].
    pub rayleigh_share: f64,
    /// Grains times steps, summed over the run [-].
    pub particle_steps: u64,
    /// Neighbour lists made [-].
    pub rebuilds: u64,
    /// Grains that left their world [-].
    pub lost: u64,
    /// Memory of the arrays of one state of them [bytes]. A run has two, that at work and the last good one, and for a while
    /// what copying, sorting and snapshots need: `tippe_granular::BYTES_PER_GRAIN` in all.
    pub bytes: usize,
}

/// How the realtime clock solved its partitions, over all steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Solutions {
    /// Partitions solved directly [-].
    pub direct: u64,
    /// Partitions swept [-].
    pub swept: u64,
    /// Of the direct ones, those whose parts were kept apart and joined by a Schur complement [-].
    #[serde(default)]
    pub kept_apart: u64,
    /// Of the direct ones, those with rows that push elsewhere than they look, by block pivoting [-].
    #[serde(default)]
    pub pivoted: u64,
    /// Likewise, by Lemke's method, where block pivoting failed [-].
    #[serde(default)]
    pub lemke: u64,
    /// Factorisations [-].
    pub factorisations: u64,
    /// Solutions that did not converge: the best point found was taken [-].
    pub unconverged: u64,
    /// Pairs of shapes that were tested for contact [-].
    #[serde(default)]
    pub pairs: u64,
    /// Of these, those that pushed [-].
    #[serde(default)]
    pub contacts: u64,
}

impl std::ops::AddAssign for Solutions {
    fn add_assign(&mut self, more: Solutions) {
        self.direct += more.direct;
        self.swept += more.swept;
        self.kept_apart += more.kept_apart;
        self.pivoted += more.pivoted;
        self.lemke += more.lemke;
        self.factorisations += more.factorisations;
        self.unconverged += more.unconverged;
        self.pairs += more.pairs;
        self.contacts += more.contacts;
    }
}

/// What a run says of one mechanism.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MechanismSummary {
    /// Names of its bodies.
    pub bodies: Vec<String>,
    /// Coordinates of its joints.
    pub coordinates: usize,
    /// Rows that close its loops and couple its coordinates.
    pub rows: usize,
    /// How many of them the others already imply, at the start.
    pub redundant: usize,
    /// Degrees of freedom at the start.
    pub freedom: usize,
    /// Largest violation of a row at the end of a step, before it was projected away [m, or - for directions].
    pub drift: f64,
}

/// FNV-1a over the bits of all numbers.
pub fn hash(bodies: &[BodyState], energy: &Ledger) -> u64 {
    let mut h: u64 = 0xcbf29ce484222325;
    let mut add = |x: f64| {
        for byte in x.to_bits().to_le_bytes() {
            h = (h ^ u64::from(byte)).wrapping_mul(0x100000001b3);
        }
    };
    for b in bodies {
        for v in [b.position, b.velocity, b.angular_velocity] {
            v.to_array().into_iter().for_each(&mut add);
        }
        b.orientation.to_array().into_iter().for_each(&mut add);
    }
    for x in [energy.kinetic, energy.potential, energy.elastic, energy.dissipated(), energy.put_in()] {
        add(x);
    }
    h
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A warning of an early stretch stays, one that is told again stands once, with the numbers of the end.
    #[test]
    fn warnings_of_earlier_stretches_stay() {
        let of = |warnings: &[&str]| Summary {
            warnings: warnings.iter().map(|w| w.to_string()).collect(),
            ..Summary::default()
        };
        let first = of(&["the emitter gave 3.0e-2 kg of the 4.0e-2 kg", "body \"ram\" moves at 7 m/s"]);
        let both = of(&["the emitter gave 5.0e-2 kg of the 8.0e-2 kg"]).after(&first);
        assert_eq!(both.warnings, ["the emitter gave 5.0e-2 kg of the 8.0e-2 kg", "body \"ram\" moves at 7 m/s"]);
    }
}
