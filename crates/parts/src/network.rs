//! Equations at work: the scene's signals and components, and the formulas of force elements and drives.
//!
//! A network is a list of blocks in the order they can be evaluated: each reads time, the motion of the mechanism, states
//! of components and values of earlier blocks, and writes values and rates of states.

pub mod unit;

use std::cell::RefCell;
use std::ops::Range;
use tippe_format::equation::Program;
use unit::UnitBlock;

/// Step of the difference that finds rates of rates [s].
const DIFFERENCE: f64 = 1e-4;

/// What a formula reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Time [s].
    Time,
    /// A coordinate of a mechanism [m or rad].
    Coordinate {
        /// Mechanism.
        mechanism: u32,
        /// Coordinate.
        coordinate: u32,
    },
    /// Rate of a coordinate [m/s or rad/s].
    Rate {
        /// Mechanism.
        mechanism: u32,
        /// Coordinate.
        coordinate: u32,
    },
    /// A component of a sensor.
    Sensor {
        /// Sensor.
        sensor: u32,
        /// Component, in the order of the sensor's components.
        component: u32,
    },
    /// A value of the network.
    Value(u32),
    /// A state of the network.
    State(u32),
    /// A quantity only its owner knows.
    Own(u32),
}

/// Compiled equations with what they read.
#[derive(Clone, Debug)]
pub struct Formula {
    /// The equations.
    pub program: Program,
    /// What they read, in the order of the program's inputs.
    pub inputs: Vec<Source>,
    /// Number of results.
    pub outputs: usize,
    room: usize,
}

thread_local! {
    /// Inputs and registers of whichever formula is at work on this thread; nothing in them survives a call.
    static ROOM: RefCell<(Vec<f64>, Vec<f64>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

impl Formula {
    /// A formula of a program with its inputs.
    pub fn new(program: Program, inputs: Vec<Source>, outputs: usize) -> Formula {
        let room = program.registers().len();
        Formula { program, inputs, outputs, room }
    }

    /// Results where `look` finds the inputs.
    pub fn eval(&self, look: impl Fn(Source) -> f64, out: &mut [f64]) {
        ROOM.with_borrow_mut(|(inputs, registers)| {
            inputs.clear();
            inputs.extend(self.inputs.iter().map(|&source| look(source)));
            if registers.len() < self.room {
                registers.resize(self.room, 0.0);
            }
            self.program.eval(inputs, &mut registers[..self.room], out);
        });
    }

    /// The only result.
    pub fn value(&self, look: impl Fn(Source) -> f64) -> f64 {
        let mut out = [0.0];
        self.eval(look, &mut out);
        out[0]
    }

    /// The only result and its derivative by time, of a formula that reads nothing but time.
    pub fn value_and_rate(&self, t: f64) -> (f64, f64) {
        if self.inputs.is_empty() {
            return (self.value(|_| t), 0.0);
        }
        let (mut out, mut slope) = ([0.0], [[0.0; 1]]);
        ROOM.with_borrow_mut(|(_, registers)| {
            if registers.len() < self.room {
                registers.resize(self.room, 0.0);
            }
            self.program.eval_with_derivative::<1>(&[t], [0], &mut registers[..self.room], &mut out, &mut slope);
        });
        (out[0], slope[0][0])
    }

    /// Value, rate and rate of the rate at time t, of a formula that reads nothing but time; the last by a difference of
    /// fourth order of the exact rates.
    pub fn value_and_rates(&self, t: f64) -> [f64; 3] {
        let (value, rate) = self.value_and_rate(t);
        let at = |steps: f64| self.value_and_rate(t + steps * DIFFERENCE).1;
        let second = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * DIFFERENCE);
        [value, rate, second]
    }

    /// True if it reads nothing but time.
    pub fn is_of_time(&self) -> bool {
        self.inputs.iter().all(|s| *s == Source::Time)
    }
}

/// A piece of the network.
#[derive(Clone, Debug)]
pub struct Block {
    /// Name in the scene.
    pub name: String,
    /// How it works.
    pub kind: BlockKind,
    /// First of its values.
    pub value: usize,
    /// Its states.
    pub states: Range<usize>,
    /// True if it depends on nothing but time.
    pub of_time: bool,
    /// The free body whose island it belongs to.
    pub home: u32,
}

/// How a block works.
#[derive(Clone, Debug)]
pub enum BlockKind {
    /// One value.
    Equation(Formula),
    /// Straight lines between points, constant outside.
    Table {
        /// Its input.
        input: Formula,
        /// Inputs, ascending.
        x: Vec<f64>,
        /// Outputs.
        y: Vec<f64>,
    },
    /// From one value to another at constant rate between two times [s].
    Ramp {
        /// Times [s].
        times: [f64; 2],
        /// Values.
        values: [f64; 2],
    },
    /// A square wave.
    Pulse {
        /// First rising edge [s].
        from: f64,
        /// From one rising edge to the next [s].
        period: f64,
        /// Time at the high value [s].
        width: f64,
        /// Value between pulses, and during one.
        levels: [f64; 2],
    },
    /// offset + amplitude sin(2 pi frequency t + phase).
    Sine {
        /// Amplitude.
        amplitude: f64,
        /// 2 pi frequency [rad/s].
        omega: f64,
        /// Phase [rad].
        phase: f64,
        /// Mean value.
        offset: f64,
    },
    /// u = P e + I x + D (e - f)/T, x' = e, f' = (e - f)/T; states x, f.
    Pid {
        /// Wanted minus measured.
        error: Formula,
        /// P, I [1/s], D [s].
        gains: [f64; 3],
        /// T [s].
        filter: f64,
        /// Largest output either way; the integral waits there.
        limit: f64,
    },
    /// A number from outside: a state without a rate that the realtime clock sets.
    Input {
        /// Its state.
        state: u32,
        /// Smallest and largest value.
        limits: [f64; 2],
    },
    /// Rates of the states, then values.
    Component {
        /// All of it.
        formula: Formula,
        /// Where an expression rises through zero states get new values: (expression, then one per state set), state.
        crossings: Vec<BlockCrossing>,
    },
    /// A functional mock-up unit of others.
    Unit(Box<UnitBlock>),
}

/// Where a component's states jump.
#[derive(Clone, Debug)]
pub struct BlockCrossing {
    /// Rises through zero there.
    pub when: Formula,
    /// New values.
    pub set: Formula,
    /// Of which states, by index in the network.
    pub states: Vec<usize>,
}

/// All blocks, in the order they can be evaluated.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// The blocks.
    pub blocks: Vec<Block>,
    /// Number of values.
    pub values: usize,
}

impl Block {
    /// Rates of the block's states, then its values, into `out`; returns how many there are. `edge` is the time up to
    /// which edges of pulses have passed [s].
    pub fn eval(&self, t: f64, edge: f64, look: impl Fn(Source) -> f64, out: &mut [f64; MOST_RESULTS]) -> usize {
        match &self.kind {
            BlockKind::Equation(formula) => out[0] = formula.value(look),
            BlockKind::Table { input, x, y } => out[0] = table(x, y, input.value(look)),
            BlockKind::Ramp { times, values: [a, b] } => {
                let s = ((t - times[0]) / (times[1] - times[0])).clamp(0.0, 1.0);
                out[0] = a + s * (b - a);
            }
            BlockKind::Pulse { from, period, width, levels } => {
                let phase = (edge - from) / period;
                let within = phase >= 0.0 && (phase - phase.floor()) * period < *width * (1.0 - 1e-12);
                out[0] = levels[usize::from(within)];
            }
            BlockKind::Sine { amplitude, omega, phase, offset } => {
                out[0] = offset + amplitude * libm::sin(omega * t + phase);
            }
            BlockKind::Pid { error, gains: [P, I, D], filter, limit } => {
                let state = |k: usize| look(Source::State((self.states.start + k) as u32));
                let (e, x, f) = (error.value(&look), state(0), state(1));
                let slope = if *D != 0.0 { (e - f) / filter } else { 0.0 };
                let u = P * e + I * x + D * slope;
                let waits = u.abs() > *limit && u * e > 0.0;
                out[0] = if waits { 0.0 } else { e };
                out[1] = slope;
                out[2] = u.clamp(-limit, *limit);
                return 3;
            }
            BlockKind::Input { state, limits } => {
                out[0] = 0.0;
                out[1] = look(Source::State(*state)).clamp(limits[0], limits[1]);
                return 2;
            }
            BlockKind::Component { formula, .. } => {
                formula.eval(look, &mut out[..formula.outputs]);
                return formula.outputs;
            }
            BlockKind::Unit(unit) => return unit.eval(t, self.states.start, look, out),
        }
        1
    }

    /// Its values among those of the network.
    pub fn written(&self) -> Range<usize> {
        let count = match &self.kind {
            BlockKind::Component { formula, .. } => formula.outputs - self.states.len(),
            BlockKind::Unit(unit) => unit.outputs(),
            _ => 1,
        };
        self.value..self.value + count
    }

    /// How many numbers rise through zero where its states jump.
    pub fn watches(&self) -> usize {
        match &self.kind {
            BlockKind::Component { crossings, .. } => crossings.len(),
            BlockKind::Unit(unit) => unit.watches(),
            _ => 0,
        }
    }

    /// One of them.
    pub fn watch(&self, which: usize, t: f64, look: impl Fn(Source) -> f64) -> f64 {
        match &self.kind {
            BlockKind::Component { crossings, .. } => crossings[which].when.value(look),
            BlockKind::Unit(unit) => unit.watch(which, t, self.states.start, look),
            _ => -1.0,
        }
    }

    /// New values of its states where one of them rose through zero at time t [s]: index in the network, value.
    pub fn jump(&self, which: usize, t: f64, look: impl Fn(Source) -> f64) -> Vec<(usize, f64)> {
        match &self.kind {
            BlockKind::Component { crossings, .. } => {
                let crossing = &crossings[which];
                let mut new = vec![0.0; crossing.states.len()];
                crossing.set.eval(look, &mut new);
                crossing.states.iter().copied().zip(new).collect()
            }
            BlockKind::Unit(unit) => self.states.clone().zip(unit.jump(t, self.states.start, look)).collect(),
            _ => Vec::new(),
        }
    }

    /// Name of the unit that has failed, and why.
    pub fn failure(&self) -> Option<(String, String)> {
        let BlockKind::Unit(unit) = &self.kind else { return None };
        unit.unit.failure().map(|failure| (self.name.clone(), failure.to_string()))
    }

    /// The first time after t at which the block has a kink or a jump [s].
    pub fn next_instant(&self, t: f64) -> f64 {
        let after = |x: f64| if x > t * (1.0 + 1e-15) + 1e-300 { x } else { f64::INFINITY };
        match &self.kind {
            BlockKind::Ramp { times, .. } => after(times[0]).min(after(times[1])),
            BlockKind::Table { input, x, .. } if input.is_of_time() && input.program.is_empty() => {
                x.iter().copied().map(after).fold(f64::INFINITY, f64::min)
            }
            BlockKind::Pulse { from, period, width, .. } => {
                if *from > t {
                    return after(*from);
                }
                let k = ((t - from) / period).floor();
                let edges = [from + k * period + width, from + (k + 1.0) * period, from + (k + 1.0) * period + width];
                edges.into_iter().map(after).fold(f64::INFINITY, f64::min)
            }
            BlockKind::Unit(unit) => unit.next_instant(t),
            _ => f64::INFINITY,
        }
    }
}

impl Network {
    /// The unit of others that has failed, and why.
    pub fn failure(&self) -> Option<(String, String)> {
        self.blocks.iter().find_map(Block::failure)
    }
}

/// Largest number of results of a component.
pub const MOST_RESULTS: usize = 64;

/// Straight lines between points, constant outside.
fn table(x: &[f64], y: &[f64], at: f64) -> f64 {
    let k = x.partition_point(|&x| x <= at);
    match k {
        0 => y[0],
        k if k == x.len() => y[k - 1],
        k => y[k - 1] + (at - x[k - 1]) / (x[k] - x[k - 1]) * (y[k] - y[k - 1]),
    }
}
