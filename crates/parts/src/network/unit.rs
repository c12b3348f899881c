//! Functional mock-up units of others among the equations of a scene.
//!
//! Model Exchange (FMI 2.0.4, 3.2; FMI 3.0, 4): the unit's states x are states of the scene, with x' = f(t, x, u) of the unit, and its event
//! indicators z are watched like all others, z through zero either way. Its discrete state is a number n that is a state without a
//! rate, so that whoever takes x back takes n back.
//!
//! Co-Simulation: steps of length H from t_k, after the motion has come to t_k+1, with the means of the inputs in it, u_k. Where the unit can
//! go back, a second step with the inputs of t_k+1 foretells y at t_k+2, and the outputs go there in a straight line; where it cannot,
//! they are held. What a pair of an output and an input carries is power (Sadjina, Kyllingstad, Skjong, Pedersen 2017, Energy conservation and
//! power bonds in co-simulations, eq. 5):
//!   work  = sum of the integrals of y u as the scene saw them
//!   told  = sum of H (y_k + y_k+1)/2 u_k, what the unit saw
//!   error = work - told

use super::{Formula, Source};
use std::sync::Arc;
use tippe_units::guided::Guided;

/// Instants this share of their time apart are one [-].
const SAME: f64 = 4.0 * f64::EPSILON;
/// Most inputs, and most outputs, of a unit in a scene.
pub const MOST_ENDS: usize = 16;

/// A unit with what it reads.
#[derive(Clone, Debug)]
pub struct UnitBlock {
    /// The unit.
    pub unit: Arc<Guided>,
    /// Its inputs; none where it has none.
    pub inputs: Option<Formula>,
    /// Length of its steps in Co-Simulation [s].
    pub step: f64,
    /// Pairs of an output and an input whose product is a power, by index.
    pub power: Vec<[usize; 2]>,
}

/// Where the states of Co-Simulation are among those of the block.
struct Places {
    taken: usize,
    seen: usize,
    given: usize,
    foretold: usize,
    work: usize,
}

impl UnitBlock {
    /// Names of its states with their start values, sizes that matter to their errors, and units.
    pub fn states(&self, names: [&[String]; 2]) -> Vec<(String, f64, f64, &'static str)> {
        let unit = &*self.unit;
        if unit.exchange {
            let name = |k: usize| plain(&unit.description.variables[unit.description.states[k]].name);
            let own = (0..unit.states.len()).map(|k| (name(k), unit.states[k], unit.nominals[k], "-"));
            let rest =
                [("mode".to_owned(), 0.0, 1.0, "-"), ("next_event".to_owned(), unit.next.min(f64::MAX), 1.0, "s")];
            return own.chain(rest).collect();
        }
        let [inputs, outputs] = names;
        let mut all = vec![("mode".to_owned(), 0.0, 1.0, "-"), ("steps".to_owned(), 0.0, 1.0, "-")];
        all.extend(inputs.iter().map(|name| (format!("{name}_sum"), 0.0, 1.0, "-")));
        for word in ["given", "foretold"] {
            all.extend(outputs.iter().zip(&unit.outputs).map(|(name, y)| (format!("{name}_{word}"), *y, 1.0, "-")));
        }
        let books = ["interface_work", "interface_told", "interface_error"];
        all.extend(books.map(|name| (name.to_owned(), 0.0, 1.0, "J")));
        all
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.unit.output_count()
    }

    fn places(&self) -> Places {
        let (m, k) = (self.unit.input_count(), self.outputs());
        Places { taken: 1, seen: 2, given: 2 + m, foretold: 2 + m + k, work: 2 + m + 2 * k }
    }

    fn read(&self, look: &impl Fn(Source) -> f64) -> [f64; MOST_ENDS] {
        let mut u = [0.0; MOST_ENDS];
        if let Some(formula) = &self.inputs {
            formula.eval(look, &mut u[..formula.outputs]);
        }
        u
    }

    /// Rates of the states, then the outputs; `first` is the first state.
    pub fn eval(&self, t: f64, first: usize, look: impl Fn(Source) -> f64, out: &mut [f64]) -> usize {
        let (u, state) = (self.read(&look), |k: usize| look(Source::State((first + k) as u32)));
        let (m, k) = (self.unit.input_count(), self.outputs());
        if self.unit.exchange {
            let n = self.unit.states.len();
            let mut answer = self.ask(t, &u[..m], n, &state);
            out[..n].copy_from_slice(&answer[..n]);
            out[n..n + 2].fill(0.0);
            let outputs = answer.split_off(answer.len() - k);
            out[n + 2..n + 2 + k].copy_from_slice(&outputs);
            return n + 2 + k;
        }
        let places = self.places();
        let count = places.work + 3;
        out[..count].fill(0.0);
        out[places.seen..places.seen + m].copy_from_slice(&u[..m]);
        let theta = (t / self.step - state(places.taken)).clamp(0.0, 1.0);
        for i in 0..k {
            let (given, foretold) = (state(places.given + i), state(places.foretold + i));
            out[count + i] = given + theta * (foretold - given);
        }
        out[places.work] = self.power.iter().map(|[y, u_of]| out[count + y] * u[*u_of]).sum();
        count + k
    }

    /// Rates, indicators and outputs of Model Exchange.
    fn ask(&self, t: f64, u: &[f64], n: usize, state: &impl Fn(usize) -> f64) -> Vec<f64> {
        let mut answer = vec![0.0; n + self.unit.description.indicators + self.outputs()];
        let x: Vec<f64> = (0..n).map(state).collect();
        self.unit.look(number(state(n)), t, &x, u, &mut answer);
        answer
    }

    /// How many numbers rise through zero where its states jump.
    pub fn watches(&self) -> usize {
        if self.unit.exchange { 2 * self.unit.description.indicators + 1 } else { 1 }
    }

    /// One of them.
    pub fn watch(&self, which: usize, t: f64, first: usize, look: impl Fn(Source) -> f64) -> f64 {
        let state = |k: usize| look(Source::State((first + k) as u32));
        if !self.unit.exchange {
            return t - self.next_step(state(self.places().taken)) + SAME * t;
        }
        let (n, z) = (self.unit.states.len(), self.unit.description.indicators);
        if which == 2 * z {
            return t - state(n + 1) + SAME * t;
        }
        let u = self.read(&look);
        let answer = self.ask(t, &u[..self.unit.input_count()], n, &state);
        if which < z { answer[n + which] } else { -answer[n + which - z] }
    }

    /// When the step ends that follows so many [s].
    fn next_step(&self, taken: f64) -> f64 {
        (taken.round() + 1.0) * self.step
    }

    /// New values of its states where one of the watched numbers rose through zero: all of them, in order.
    pub fn jump(&self, t: f64, first: usize, look: impl Fn(Source) -> f64) -> Vec<f64> {
        let state = |k: usize| look(Source::State((first + k) as u32));
        let (u, m) = (self.read(&look), self.unit.input_count());
        if self.unit.exchange {
            let n = self.unit.states.len();
            let x: Vec<f64> = (0..n).map(state).collect();
            let (node, gave) = self.unit.event(number(state(n)), t, &x, &u[..m]);
            return gave[1..].iter().copied().chain([node as f64, gave[0].min(f64::MAX)]).collect();
        }
        let (k, h, places) = (self.outputs(), self.step, self.places());
        let mut states: Vec<f64> = (0..places.work + 3).map(state).collect();
        let start = states[places.taken].round() * h;
        let means: Vec<f64> = states[places.seen..places.given].iter().map(|sum| sum / h).collect();
        let (node, y) = self.unit.step(number(states[0]), start, h, &means);
        let foretold = if self.unit.can_save { self.unit.step(node, start + h, h, &u[..m]).1 } else { y.clone() };
        let seen: f64 = self.power.iter().map(|&[i, j]| 0.5 * h * (states[places.given + i] + y[i]) * means[j]).sum();
        states[places.work + 1] += seen;
        states[places.work + 2] = states[places.work] - states[places.work + 1];
        states[0] = node as f64;
        states[places.taken] = states[places.taken].round() + 1.0;
        states[places.seen..places.given].fill(0.0);
        states[places.given..places.given + k].copy_from_slice(&y);
        states[places.foretold..places.foretold + k].copy_from_slice(&foretold);
        states
    }

    /// The first time after t at which it jumps, where that is known [s].
    pub fn next_instant(&self, t: f64) -> f64 {
        if self.unit.exchange {
            return f64::INFINITY;
        }
        let taken = (t / self.step).floor() - 1.0;
        let mut all = (0..3).map(|k| self.next_step(taken + f64::from(k)));
        all.find(|next| *next > t * (1.0 + SAME)).unwrap_or(f64::INFINITY)
    }
}

/// Number of a discrete state; differences of Jacobians move it by less than a half.
fn number(state: f64) -> usize {
    state.round().max(0.0) as usize
}

/// A name that signals can have.
pub fn plain(name: &str) -> String {
    let good = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let text: String = name.chars().map(good).collect();
    let text = text.trim_matches('_').to_owned();
    if text.starts_with(|c: char| c.is_ascii_digit()) || text.is_empty() { format!("x_{text}") } else { text }
}
