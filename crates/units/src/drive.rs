//! A run of a unit of others: Co-Simulation on a grid, Model Exchange with Dormand-Prince steps and located events.

use crate::ImportError;
use crate::process::Process;
use crate::wire::Ask;

/// How to run.
#[derive(Clone, Debug)]
pub struct Drive {
    /// End [s].
    pub until: f64,
    /// Time between communication points [s].
    pub step: f64,
    /// Relative tolerance of Model Exchange; given to Co-Simulation too where the caller named one.
    pub tolerance: f64,
    /// See `tolerance`.
    pub named: bool,
    /// Values given before the start: index of the variable, value.
    pub sets: Vec<(usize, f64)>,
    /// Variables to record, by index.
    pub wanted: Vec<usize>,
}

/// What a run showed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// Times [s], and a row of values for each.
    pub rows: Vec<(f64, Vec<f64>)>,
    /// Times of events of Model Exchange [s].
    pub events: Vec<f64>,
    /// Steps that were accepted.
    pub steps: u64,
}

/// Runs a unit from its start.
pub fn run(process: &mut Process, drive: &Drive, exchange: bool) -> Result<Shown, ImportError> {
    let start = process.unpacked.description.start;
    let tolerance = if drive.named { drive.tolerance } else { f64::NAN };
    let references: Vec<u32> =
        drive.sets.iter().map(|(k, _)| process.unpacked.description.variables[*k].reference).collect();
    let values: Vec<f64> = drive.sets.iter().map(|(_, value)| *value).collect();
    if !references.is_empty() {
        process.ask(Ask::Set, "set", &references, &values)?;
    }
    process.ask(Ask::Prepare, "enter initialization mode", &[], &[tolerance, start])?;
    let mut shown = Shown::default();
    if exchange {
        Integrator::begin(process, drive, start)?.run(process, drive, &mut shown)?;
    } else {
        process.ask(Ask::Begin, "exit initialization mode", &[], &[])?;
        let first = process.get(&drive.wanted)?;
        shown.rows.push((start, first));
        let points = ((drive.until - start) / drive.step - 1e-9).ceil().max(0.0) as u64;
        for k in 1..=points {
            let (now, next) = (process.time, (start + k as f64 * drive.step).min(drive.until));
            process.ask(Ask::Step, "do step", &[], &[now, next - now])?;
            process.time = next;
            shown.steps += 1;
            let row = process.get(&drive.wanted)?;
            shown.rows.push((next, row));
        }
    }
    Ok(shown)
}

/// Dormand and Prince 1980, RK5(4)7M: times of the stages, their coefficients, and the difference of both solutions.
const C: [f64; 6] = [0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];
const A: [&[f64]; 6] = [
    &[0.2],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
    &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
    &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];
const E: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];
/// The shortest step as a share of the time [-].
const SHORTEST: f64 = 1e-15;

/// An integrator of a unit's equations.
struct Integrator {
    time: f64,
    states: Vec<f64>,
    nominals: Vec<f64>,
    rates: Vec<f64>,
    indicators: Vec<f64>,
    /// The next event that is known beforehand [s].
    next: f64,
    /// Length of the next step [s].
    h: f64,
}

/// States at the end of a step, rates and indicators there, the error as a share of what is allowed [-].
type Attempt = (Vec<f64>, Vec<f64>, Vec<f64>, f64);

impl Integrator {
    fn begin(process: &mut Process, drive: &Drive, start: f64) -> Result<Integrator, ImportError> {
        let all = process.ask(Ask::Begin, "exit initialization mode", &[], &[])?;
        let nominals = process.ask(Ask::Nominals, "get nominals", &[], &[])?;
        let mut own = Integrator {
            time: start,
            states: all[4..].to_vec(),
            nominals: nominals.iter().map(|own| own.abs().max(1e-30)).collect(),
            rates: Vec::new(),
            indicators: Vec::new(),
            next: if all[1] > 0.0 { all[2] } else { f64::INFINITY },
            h: 1e-3 * drive.step,
        };
        own.refresh(process)?;
        Ok(own)
    }

    /// Rates and indicators at a time and states.
    fn evaluate(&self, process: &mut Process, time: f64, states: &[f64]) -> Result<(Vec<f64>, Vec<f64>), ImportError> {
        let mut values = vec![time];
        values.extend_from_slice(states);
        let mut all = process.ask(Ask::Evaluate, "get derivatives", &[], &values)?;
        if let Some(k) = all.iter().position(|own| !own.is_finite()) {
            let what = if k < states.len() {
                format!("derivative {k}")
            } else {
                format!("event indicator {}", k - states.len())
            };
            return Err(process.not_finite("get derivatives", &what, all[k]));
        }
        let indicators = all.split_off(states.len());
        Ok((all, indicators))
    }

    fn refresh(&mut self, process: &mut Process) -> Result<(), ImportError> {
        (self.rates, self.indicators) = self.evaluate(process, self.time, &self.states)?;
        Ok(())
    }

    /// A step of length h: states at its end, rates and indicators there, the error as a share of what is allowed.
    fn attempt(&self, process: &mut Process, h: f64, tolerance: f64) -> Result<Attempt, ImportError> {
        let n = self.states.len();
        let mut k = vec![self.rates.clone()];
        let (mut states, mut indicators) = (self.states.clone(), Vec::new());
        for (row, c) in A.iter().zip(C) {
            states.clone_from(&self.states);
            for (a, rates) in row.iter().zip(&k) {
                (0..n).for_each(|i| states[i] += h * a * rates[i]);
            }
            let (rates, z) = self.evaluate(process, self.time + c * h, &states)?;
            k.push(rates);
            indicators = z;
        }
        let mut worst: f64 = 0.0;
        for i in 0..n {
            let error: f64 = (0..7).map(|s| E[s] * k[s][i]).sum::<f64>() * h;
            let size = self.nominals[i].max(self.states[i].abs()).max(states[i].abs());
            worst = worst.max(error.abs() / (tolerance * size));
        }
        Ok((states, k.pop().unwrap_or_default(), indicators, worst))
    }

    fn run(&mut self, process: &mut Process, drive: &Drive, shown: &mut Shown) -> Result<(), ImportError> {
        shown.rows.push((self.time, process.get(&drive.wanted)?));
        let start = self.time;
        let mut point = 1_u64;
        while self.time < drive.until {
            let row = (start + point as f64 * drive.step).min(drive.until);
            let end = row.min(self.next);
            let event = self.step(process, drive, end)?;
            shown.steps += 1;
            if event {
                shown.events.push(self.time);
                shown.rows.push((self.time, process.get(&drive.wanted)?));
            }
            if self.time >= row {
                if !event {
                    shown.rows.push((self.time, process.get(&drive.wanted)?));
                }
                point += 1;
            }
        }
        Ok(())
    }

    /// A step that ends at `end` at the latest [s]; true if it ended in an event.
    fn step(&mut self, process: &mut Process, drive: &Drive, end: f64) -> Result<bool, ImportError> {
        let mut h = self.h.min(end - self.time);
        let (states, rates, indicators) = loop {
            let (states, rates, indicators, error) = self.attempt(process, h, drive.tolerance)?;
            let factor = (0.9 * libm::pow(error.max(1e-10), -0.2)).clamp(0.2, 5.0);
            if error <= 1.0 {
                // a step that was cut to meet a point says nothing about the next
                if h >= self.h || factor < 1.0 {
                    self.h = h * factor;
                }
                break (states, rates, indicators);
            }
            h *= factor;
            if h < SHORTEST * self.time.abs().max(1e-3) {
                return Err(ImportError::Call {
                    unit: process.unpacked.unit.clone(),
                    time: self.time,
                    call: "get derivatives".to_owned(),
                    what: format!("needs steps shorter than {h:e} s. help: a larger --tolerance, or --kind cs"),
                });
            }
        };
        let crossed = |new: &[f64]| self.indicators.iter().zip(new).any(|(old, new)| (*old > 0.0) != (*new > 0.0));
        let before = (self.time, self.states.clone());
        if crossed(&indicators) {
            // the step is made again shorter: its end is on the far side of the zero
            let (mut low, mut high) = (0.0, h);
            let mut found = (states, rates, indicators);
            while high - low > 4.0 * f64::EPSILON * (self.time + h).abs().max(h) {
                let middle = 0.5 * (low + high);
                if middle <= low || middle >= high {
                    break;
                }
                let (states, rates, indicators, _) = self.attempt(process, middle, drive.tolerance)?;
                if crossed(&indicators) {
                    (high, found) = (middle, (states, rates, indicators));
                } else {
                    low = middle;
                }
            }
            self.time = before.0 + high;
            self.states = found.0;
            return self.handle(process).map(|()| true);
        }
        self.time = if h >= end - before.0 { end } else { before.0 + h };
        (self.states, self.rates, self.indicators) = (states, rates, indicators);
        process.time = self.time;
        let mut values = vec![self.time];
        values.extend_from_slice(&self.states);
        let wishes = process.ask(Ask::Completed, "completed integrator step", &[], &values)?;
        if wishes[0] > 0.0 || self.time >= self.next {
            return self.handle(process).map(|()| true);
        }
        Ok(false)
    }

    fn handle(&mut self, process: &mut Process) -> Result<(), ImportError> {
        process.time = self.time;
        let mut values = vec![self.time];
        values.extend_from_slice(&self.states);
        let all = process.ask(Ask::Event, "new discrete states", &[], &values)?;
        self.next = if all[1] > 0.0 && all[2] > self.time { all[2] } else { f64::INFINITY };
        if all[0] > 0.0 {
            self.states = all[4..].to_vec();
        }
        self.refresh(process)
    }
}
