//! What is kept of a run in memory: columns that numpy takes over without copying them.

use tippe::realtime::Heard;
use tippe::run::{Account, Recording, Subjects, Wanted};
use tippe::{BodyState, ContactSample, Event, Ledger, Observe, Sample};

/// Numbers of a body at one time: position, orientation w x y z, velocity, angular velocity.
pub const MOTION: usize = 13;
/// Numbers of the ledger at one time: the accounts, then linear momentum.
pub const BOOKS: usize = Account::ALL.len() + 3;

/// Motion of a body in the order of the columns.
pub fn motion(body: &BodyState) -> [f64; MOTION] {
    let (p, q, v, w) = (body.position, body.orientation, body.velocity, body.angular_velocity);
    [p.x, p.y, p.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z]
}

/// A run in columns.
#[derive(Clone, Default)]
pub struct Tape {
    /// Who took part.
    pub subjects: Subjects,
    /// Communication points [s].
    pub time: Vec<f64>,
    /// For each body [`MOTION`] numbers a row.
    pub motion: Vec<Vec<f64>>,
    /// For each signal of the model its values.
    pub signals: Vec<Vec<f64>>,
    /// [`BOOKS`] numbers a row.
    pub books: Vec<f64>,
    /// The ledgers, for questions.
    pub ledgers: Vec<Ledger>,
    /// Touching pairs of all times, one after the other; those of the i-th begin at `contact_start[i]`.
    pub contacts: Vec<ContactSample>,
    /// See `contacts`.
    pub contact_start: Vec<usize>,
    /// Events.
    pub events: Vec<Event>,
    /// Numbers from outside that changed.
    pub inputs: Vec<Heard>,
}

impl Tape {
    /// An empty one.
    pub fn new(subjects: Subjects) -> Tape {
        let motion = vec![Vec::new(); subjects.bodies.len()];
        let signals = vec![Vec::new(); subjects.signals.len()];
        Tape { subjects, motion, signals, ..Tape::default() }
    }

    /// From a recording of everything.
    pub fn of(recording: &Recording) -> Tape {
        let mut tape = Tape::new(recording.subjects.clone());
        tape.replay(recording);
        tape
    }

    fn replay(&mut self, recording: &Recording) {
        let mut bodies = Vec::new();
        let mut signals = Vec::new();
        for (i, &time) in recording.time.iter().enumerate() {
            bodies.clear();
            bodies.extend(recording.motion.iter().map(|motion| motion[i]));
            signals.clear();
            signals.extend(recording.signals.iter().map(|values| values[i]));
            let (contacts, energy) = (recording.contacts_at(i), &recording.energy[i]);
            self.sample(&Sample { time, bodies: &bodies, contacts, energy, signals: &signals });
        }
        self.events = recording.events.clone();
    }
}

impl Observe for Tape {
    fn sample(&mut self, sample: &Sample<'_>) {
        self.time.push(sample.time);
        for (column, body) in self.motion.iter_mut().zip(sample.bodies) {
            column.extend(motion(body));
        }
        for (column, value) in self.signals.iter_mut().zip(sample.signals) {
            column.push(*value);
        }
        self.books.extend(Account::ALL.iter().map(|account| account.of(sample.energy)));
        self.books.extend(self.subjects.momentum(sample.bodies).to_array());
        self.ledgers.push(*sample.energy);
        self.contact_start.push(self.contacts.len());
        self.contacts.extend_from_slice(sample.contacts);
    }

    fn event(&mut self, event: &Event) {
        self.events.push(event.clone());
    }

    fn input(&mut self, heard: &Heard) {
        self.inputs.push(*heard);
    }
}

/// Hands rows that were kept to an observer as a run would; `body` gives the motion of a body in a row.
pub fn replay(
    tape: &Tape,
    time: &[f64],
    body: impl Fn(usize, usize) -> BodyState,
    signal: impl Fn(usize, usize) -> f64,
    wanted: &Wanted,
    observe: &mut dyn Observe,
) {
    let still = BodyState {
        position: tippe::geometry::Vec3::ZERO,
        orientation: tippe::geometry::Quat::IDENTITY,
        velocity: tippe::geometry::Vec3::ZERO,
        angular_velocity: tippe::geometry::Vec3::ZERO,
    };
    let mut bodies = vec![still; tape.subjects.bodies.len()];
    let mut signals = vec![0.0; tape.subjects.signals.len()];
    let mut next = 0;
    for (i, &time) in time.iter().enumerate() {
        while let Some(event) = tape.events.get(next).filter(|event| event.time <= time) {
            observe.event(event);
            next += 1;
        }
        for (k, state) in bodies.iter_mut().enumerate().filter(|(k, _)| wanted.bodies[*k]) {
            *state = body(k, i);
        }
        for (k, value) in signals.iter_mut().enumerate().filter(|(k, _)| wanted.signals[*k]) {
            *value = signal(k, i);
        }
        let end = tape.contact_start.get(i + 1).copied().unwrap_or(tape.contacts.len());
        let contacts = &tape.contacts[tape.contact_start[i]..end];
        observe.sample(&Sample { time, bodies: &bodies, contacts, energy: &tape.ledgers[i], signals: &signals });
    }
    tape.events[next..].iter().for_each(|event| observe.event(event));
}
