//! A simulation that another program steps: it gives inputs, asks for the next time, sees the moment it came to and the events on
//! the way, and goes back where it wants to. The same for functional mock-up units, the C interface and sockets.

use crate::clock::{Failure, Set, Settings, State};
use crate::model::Model;
use crate::run::{CHECKPOINT_FORMAT, Moment, OtherLayout, Subjects};
use crate::scene::Clock;
use crate::{Event, Observe, Sample, Simulation, granular, precise, realtime};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A simulation on its way, in somebody else's hands.
pub struct Stepping {
    simulation: Simulation,
    subjects: Arc<Subjects>,
    moment: Moment,
    events: Vec<Event>,
    /// Inputs as they were last set, and as the clock has them.
    inputs: Vec<f64>,
    given: Vec<f64>,
    limits: Vec<[f64; 2]>,
}

/// Everything that survives of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    state: State,
    moment: Moment,
    inputs: Vec<f64>,
    given: Vec<f64>,
}

/// The moment and the events of a stretch.
struct Watch<'a> {
    moment: &'a mut Moment,
    events: &'a mut Vec<Event>,
}

impl Observe for Watch<'_> {
    fn sample(&mut self, sample: &Sample<'_>) {
        self.moment.sample(sample);
    }

    fn event(&mut self, event: &Event) {
        self.events.push(event.clone());
    }
}

impl Stepping {
    /// A model at its start, with these values of its inputs; nothing is recorded on the way.
    pub fn new(model: impl Into<Arc<Model>>, mut settings: Settings, inputs: &[f64]) -> Result<Stepping, Failure> {
        let model = model.into();
        settings.set_output_interval(f64::INFINITY);
        let starts: Vec<f64> = model.signal_inputs().map(|(input, _)| input.start).collect();
        let limits = model.signal_inputs().map(|(input, _)| input.limits).collect();
        let mut stepping = Stepping {
            subjects: Arc::new(Subjects::of(&model)),
            simulation: Simulation::new(model, settings),
            moment: Moment::default(),
            events: Vec::new(),
            inputs: starts.clone(),
            given: starts,
            limits,
        };
        for (own, value) in stepping.inputs.iter_mut().zip(inputs) {
            *own = *value;
        }
        stepping.stretch(0.0)?;
        Ok(stepping)
    }

    /// Now [s].
    pub fn time(&self) -> f64 {
        self.moment.time
    }

    /// What there is to see now.
    pub fn moment(&self) -> &Moment {
        &self.moment
    }

    /// Who takes part.
    pub fn subjects(&self) -> &Arc<Subjects> {
        &self.subjects
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        self.simulation.model()
    }

    /// Events of the last stretch.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Inputs as they were last set.
    pub fn inputs(&self) -> &[f64] {
        &self.inputs
    }

    /// Gives input `k` a value from now on; its limits hold.
    pub fn set_input(&mut self, k: usize, value: f64) {
        let [low, high] = self.limits[k];
        self.inputs[k] = value.clamp(low, high);
    }

    /// Goes on to `until` [s], the realtime clock to the end of the step that reaches it.
    pub fn advance(&mut self, until: f64) -> Result<(), Failure> {
        self.stretch(until)
    }

    /// Goes on to `until` [s], or to the first event before it; true if there was one.
    pub fn advance_to_event(&mut self, until: f64) -> Result<bool, Failure> {
        let (before, start) = (self.save(), self.time());
        self.stretch(until)?;
        let first = self.events.iter().map(|event| event.time).find(|&time| time > start);
        let Some(event) = first.filter(|&time| time < until) else {
            return Ok(false);
        };
        // the clock looks ahead and is only looked at up to here: the way to the event has the same bits
        self.restore(&before)?;
        self.stretch(event)?;
        Ok(true)
    }

    fn stretch(&mut self, until: f64) -> Result<(), Failure> {
        self.events.clear();
        let changed = |(&value, &given): (&f64, &f64)| value.to_bits() != given.to_bits();
        let sets: Vec<Set> = (self.inputs.iter().zip(&self.given).enumerate())
            .filter(|(_, pair)| changed(*pair))
            .map(|(input, (&value, _))| Set::Input { input, value })
            .collect();
        if !sets.is_empty() {
            self.simulation.set(&sets)?;
            self.given.clone_from(&self.inputs);
        }
        let mut watch = Watch { moment: &mut self.moment, events: &mut self.events };
        self.simulation.advance(until, &mut watch)?;
        if let Settings::Realtime(_) = self.simulation.settings() {
            self.simulation.look(&mut self.moment);
        }
        Ok(())
    }

    /// Everything that survives.
    pub fn save(&self) -> Saved {
        Saved {
            state: self.simulation.state(),
            moment: self.moment.clone(),
            inputs: self.inputs.clone(),
            given: self.given.clone(),
        }
    }

    /// Goes back, or on, to what was saved of the same scene and clock: all that follows has the same bits.
    pub fn restore(&mut self, saved: &Saved) -> Result<(), Failure> {
        self.simulation.restore(&saved.state)?;
        self.moment.clone_from(&saved.moment);
        self.inputs.clone_from(&saved.inputs);
        self.given.clone_from(&saved.given);
        self.events.clear();
        Ok(())
    }
}

/// What was saved, as text.
#[derive(Serialize, Deserialize)]
struct Written<S> {
    format: u32,
    clock: String,
    moment: Moment,
    inputs: Vec<f64>,
    given: Vec<f64>,
    state: S,
}

/// What is read of it first.
#[derive(Deserialize)]
struct Head {
    format: Option<u64>,
    clock: String,
}

impl Saved {
    /// As JSON; every bit comes back.
    pub fn to_text(&self) -> Result<String, String> {
        let (format, clock) = (CHECKPOINT_FORMAT, self.state.clock().name().to_owned());
        let (moment, inputs, given) = (self.moment.clone(), self.inputs.clone(), self.given.clone());
        let text = match &self.state {
            State::Precise(state) => serde_json::to_string(&Written { format, clock, moment, inputs, given, state }),
            State::Realtime(state) => serde_json::to_string(&Written { format, clock, moment, inputs, given, state }),
            State::Granular(state) => serde_json::to_string(&Written { format, clock, moment, inputs, given, state }),
        };
        text.map_err(|error| format!("the state cannot be written: {error}"))
    }

    /// What [`Saved::to_text`] wrote.
    pub fn from_text(text: &str) -> Result<Saved, String> {
        let wrong = |error: serde_json::Error| format!("this is no saved state: {error}");
        let head: Head = serde_json::from_str(text).map_err(wrong)?;
        OtherLayout::refuse(head.format).map_err(|other| other.to_string())?;
        fn read<S: for<'de> Deserialize<'de>>(text: &str, of: fn(S) -> State) -> Result<Saved, serde_json::Error> {
            let own: Written<S> = serde_json::from_str(text)?;
            Ok(Saved { state: of(own.state), moment: own.moment, inputs: own.inputs, given: own.given })
        }
        match Clock::from_name(&head.clock) {
            Some(Clock::Precise) => read::<precise::State>(text, State::Precise).map_err(wrong),
            Some(Clock::Realtime) => read::<realtime::State>(text, State::Realtime).map_err(wrong),
            Some(Clock::Granular) => read::<granular::State>(text, State::Granular).map_err(wrong),
            None => Err(format!("this is no saved state: it is of the clock \"{}\"", head.clock)),
        }
    }
}
