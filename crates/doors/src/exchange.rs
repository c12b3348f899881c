//! Model Exchange: the equations of the whole model for an integrator of another program, with events by kind.
//!
//! The rows of loops and the unit length of orientations are not in the equations that the integrator sees, so they drift. After
//! every step the drift is measured; beyond the tolerance the unit asks for an event, and the states come back onto the rows there
//! (FMI 2.0.4, 3.2.2: values of continuous states may change at events only).

use std::sync::Arc;
use tippe::model::{InputPlace, Model};
use tippe::precise::{Occasion, OuterState};
use tippe::run::{Moment, Signal, Subjects};
use tippe::{Ledger, Whole};

/// Rows and orientations may be off by this many times the relative tolerance [-].
const DRIFT: f64 = 10.0;
/// Differences for directional derivatives move a state by this share of its nominal value [-].
const SHARE: f64 = 1e-7;

/// Which part of a moment is up to date.
#[derive(Clone, Copy, Default)]
struct Known {
    bodies: bool,
    signals: bool,
    contacts: bool,
}

/// What an event has done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Handled {
    /// States have new values.
    pub states_changed: bool,
    /// The next event that is known beforehand [s].
    pub next: Option<f64>,
}

/// The equations, where the integrator has come to.
#[derive(Clone)]
pub struct Exchange {
    whole: Whole,
    subjects: Arc<Subjects>,
    /// All states, and where those are that the integrator has.
    names: Vec<OuterState>,
    free: Vec<usize>,
    /// Where inputs are: states of the network in y by their index in the model, and efforts.
    given: Vec<Option<usize>>,
    y: Vec<f64>,
    rates: Vec<f64>,
    time: f64,
    /// The equations were evaluated at (time, y).
    here: bool,
    moment: Moment,
    known: Known,
    limit: f64,
    /// Largest drift so far [m, or - for directions].
    pub worst_drift: f64,
}

impl Exchange {
    /// A model at its start.
    pub fn new(model: &Model, tolerance: f64) -> Exchange {
        let whole = Whole::new(model);
        let names = whole.states();
        let free = (0..names.len()).filter(|&k| names[k].input.is_none()).collect();
        let signal_inputs = model.inputs.iter().filter_map(|input| match input.place {
            InputPlace::State(state) => Some(state),
            InputPlace::Element { .. } => None,
        });
        let given = signal_inputs.map(|state| names.iter().position(|own| own.input == Some(state))).collect();
        let y = whole.start();
        Exchange {
            subjects: Arc::new(Subjects::of(model)),
            rates: vec![0.0; y.len()],
            time: 0.0,
            here: false,
            moment: Moment::default(),
            known: Known::default(),
            limit: DRIFT * tolerance,
            worst_drift: 0.0,
            whole,
            names,
            free,
            given,
            y,
        }
    }

    /// Number of states of the integrator.
    pub fn count(&self) -> usize {
        self.free.len()
    }

    /// Now [s].
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Comes to another time [s].
    pub fn set_time(&mut self, time: f64) {
        if time.to_bits() != self.time.to_bits() {
            self.time = time;
            self.here = false;
        }
    }

    /// The states.
    pub fn state(&self, k: usize) -> f64 {
        self.y[self.free[k]]
    }

    /// Sizes of the states that matter to their errors.
    pub fn nominal(&self, k: usize) -> f64 {
        self.names[self.free[k]].nominal
    }

    /// Comes to another state.
    pub fn set_state(&mut self, k: usize, value: f64) {
        self.put(self.free[k], value);
    }

    /// Gives signal input `k` a value.
    pub fn set_input(&mut self, k: usize, value: f64) {
        if let Some(at) = self.given[k] {
            self.put(at, value);
        }
    }

    /// Adds this at effort `k` [N or N m].
    pub fn set_effort(&mut self, k: usize, value: f64) {
        self.whole.set_input(k, value);
        self.here = false;
    }

    fn put(&mut self, at: usize, value: f64) {
        if self.y[at].to_bits() != value.to_bits() {
            self.y[at] = value;
            self.here = false;
        }
    }

    fn come(&mut self) {
        if !self.here {
            self.whole.come_to(self.time, &self.y);
            self.whole.rates_here(&self.y, &mut self.rates);
            self.here = true;
            self.known = Known::default();
        }
    }

    /// Rate of state `k`.
    pub fn rate(&mut self, k: usize) -> f64 {
        self.come();
        self.rates[self.free[k]]
    }

    /// The event indicators, in the order of [`Occasion::ALL`].
    pub fn indicators(&mut self) -> [f64; Occasion::ALL.len()] {
        self.come();
        self.whole.occasions(self.time)
    }

    /// Value of a signal that follows from the states.
    pub fn output(&mut self, signal: Signal) -> f64 {
        self.come();
        self.moment.time = self.time;
        match signal {
            Signal::Body { .. } | Signal::Momentum(_) if !self.known.bodies => {
                self.moment.bodies = self.whole.bodies(self.time);
                self.known.bodies = true;
            }
            Signal::Model(_) if !self.known.signals => {
                self.moment.signals = self.whole.signals(self.time);
                self.known.signals = true;
            }
            Signal::Contact { .. } if !self.known.contacts => {
                self.moment.contacts = self.whole.contacts();
                self.known.contacts = true;
            }
            Signal::Energy(_) => self.moment.energy = Ledger::default(),
            _ => {}
        }
        self.moment.value(signal, &self.subjects)
    }

    /// After an accepted step: true if the states have drifted off what they must keep and an event should put them back.
    pub fn completed(&mut self) -> bool {
        self.whole.accept(self.time, &self.y);
        let mut projected = self.y.clone();
        let drift = self.whole.project(self.time, &mut projected).max(self.whole.turn_drift(&self.y));
        self.worst_drift = self.worst_drift.max(drift);
        self.here = false;
        drift > self.limit
    }

    /// At an event: contacts come and go, modes change, states come back onto their rows.
    pub fn handle(&mut self) -> Handled {
        let before = self.y.clone();
        if self.whole.turn_drift(&self.y) > 0.0 {
            self.whole.straighten(self.time, &mut self.y);
        }
        self.whole.project(self.time, &mut self.y);
        self.whole.handle_event(self.time, &mut self.y);
        self.here = false;
        let next = self.whole.next_instant(self.time);
        let changed = before.iter().zip(&self.y).any(|(old, new)| old.to_bits() != new.to_bits());
        Handled { states_changed: changed, next: next.is_finite().then_some(next) }
    }

    /// Derivative of what `ask` measures in a direction: states, then signal inputs, then efforts, each with its share.
    pub fn directional(
        &mut self,
        states: &[(usize, f64)],
        inputs: &[(usize, f64)],
        ask: &mut dyn FnMut(&mut Exchange) -> Vec<f64>,
    ) -> Vec<f64> {
        let mut ways: Vec<(usize, f64)> = states.iter().map(|&(k, share)| (self.free[k], share)).collect();
        ways.extend(inputs.iter().filter_map(|&(k, share)| self.given[k].map(|at| (at, share))));
        let largest = ways.iter().map(|&(at, share)| share.abs() / self.names[at].nominal).fold(0.0, f64::max);
        if largest == 0.0 {
            return vec![0.0; ask(self).len()];
        }
        let h = SHARE / largest;
        let base = self.y.clone();
        let mut at = |own: &mut Exchange, h: f64| {
            own.y.clone_from(&base);
            ways.iter().for_each(|&(at, share)| own.y[at] += h * share);
            own.here = false;
            ask(own)
        };
        let (up, down) = (at(self, h), at(self, -h));
        self.y = base;
        self.here = false;
        up.iter().zip(&down).map(|(up, down)| (up - down) / (2.0 * h)).collect()
    }
}
