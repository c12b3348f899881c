//! Force elements: one file for each kind, its equation on top.
//!
//! Whoever moves bodies (either clock, statics, linearisation) asks every element the same questions and knows no kind by name:
//! what is it attached to, which states, outputs and losses does it have, what does it do to the bodies ([`Acting::act`]), how does it
//! enter a fixed step ([`Acting::rows`]), where does its law change ([`Acting::watch`]). A new kind is a file here and a variant of [`Element`].

mod applied;
mod bushing;
mod friction;
mod give;
mod joint_spring;
mod maxwell;
mod motion;
mod position;
mod relation;
mod rows;
mod speed;
mod spring;
mod stop;
mod torque;
mod written;

pub use applied::Applied;
pub use bushing::Bushing;
pub use friction::Friction;
pub use give::{Give, Holds, Yielding};
pub use joint_spring::JointSpring;
pub use maxwell::Maxwell;
pub use motion::Motion;
pub use position::Position;
pub use relation::Relation;
pub use rows::{CoordinateAhead, ElementRow, Instant, RowEnd, RowLaw, RowList, Solved, StepAhead, Strut, StrutInStep};
pub use speed::Speed;
pub use spring::Spring;
pub use stop::Stop;
pub use torque::Torque;
pub use written::{
    Build, ElementSpec, FORCE_KINDS, FORCES, FRICTION, HUNG, LIMIT, MOTOR, NewPose, SPRING, force, hung,
};

use crate::cause::Cause;
use crate::event::EventKind;
use crate::kinematics::Kinematics;
use crate::network::{Formula, Source};
use crate::six::Six;
use serde::{Deserialize, Serialize};
use tippe_geometry::{Mat3, Vec3};

/// Outputs of an element at most.
pub const MOST_OUTPUTS: usize = 8;
/// Accounts of the ledger an element books to, at most.
pub const MOST_ACCOUNTS: usize = 3;
/// An effort exceeds its limit where it is larger by more than this share of it, so that rounding at the limit is no event [-].
pub const LIMIT_ROUNDING: f64 = 1e-12;

/// A frame on a body, or on the world.
#[derive(Clone, Copy, Debug)]
pub struct Anchor {
    /// The body, by model index.
    pub body: Option<u32>,
    /// Origin in the body's frame c [m].
    pub p: Vec3,
    /// Axes in the body's frame c.
    pub R: Mat3,
}

/// A coordinate of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Mechanism.
    pub mechanism: u32,
    /// Coordinate.
    pub coordinate: u32,
}

/// Every kind of force element.
#[derive(Clone, Debug)]
pub enum Element {
    /// A force and a torque at a frame.
    Applied(Applied),
    /// A spring and damper between two points.
    Spring(Spring),
    /// A relation of coordinates that gives.
    Relation(Relation),
    /// A joint that gives.
    Give(Give),
    /// Six springs and dampers between two frames.
    Bushing(Bushing),
    /// A spring and a damper one behind the other.
    Maxwell(Maxwell),
    /// A spring and damper on a joint's coordinate.
    JointSpring(JointSpring),
    /// Elastic stops of a coordinate.
    Stop(Stop),
    /// Dry friction of a coordinate.
    Friction(Friction),
    /// A motor that gives a force or torque.
    Torque(Torque),
    /// A motor that pulls a coordinate to a value.
    Position(Position),
    /// A motor that holds a speed.
    Speed(Speed),
    /// A motor that moves a coordinate as a function of time.
    Motion(Motion),
}

impl Element {
    /// The element by its questions.
    pub fn acting(&self) -> &(dyn Acting + 'static) {
        match self {
            Element::Applied(e) => e,
            Element::Spring(e) => e,
            Element::Relation(e) => e,
            Element::Give(e) => e,
            Element::Bushing(e) => e,
            Element::Maxwell(e) => e,
            Element::JointSpring(e) => e,
            Element::Stop(e) => e,
            Element::Friction(e) => e,
            Element::Torque(e) => e,
            Element::Position(e) => e,
            Element::Speed(e) => e,
            Element::Motion(e) => e,
        }
    }
}

impl std::ops::Deref for Element {
    type Target = dyn Acting;

    fn deref(&self) -> &(dyn Acting + 'static) {
        self.acting()
    }
}

/// What an element is attached to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attached<'a> {
    /// Frames it acts on.
    pub frames: &'a [Anchor],
    /// Coordinates it acts on.
    pub coordinates: &'a [At],
    /// An equation that it reads.
    pub formula: Option<&'a Formula>,
}

/// A state of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElementState {
    /// Name; `ELEMENT.NAME` elsewhere.
    pub name: &'static str,
    /// SI unit, `-` if none.
    pub unit: &'static str,
    /// Value at the start.
    pub start: f64,
    /// Size below which changes do not matter to the error of a step.
    pub scale: f64,
}

/// A number an element shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Name; `ELEMENT.NAME` elsewhere.
    pub name: &'static str,
    /// SI unit; `None` for a force or torque along its coordinate.
    pub unit: Option<&'static str>,
}

/// An account of the ledger that a power of an element goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementAccount {
    /// Which.
    pub cause: Cause,
    /// Name of its energy so far; `ELEMENT.NAME` elsewhere.
    pub name: &'static str,
}

/// Motion of a coordinate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CoordinateMotion {
    /// Value [m or rad].
    pub q: f64,
    /// Rate [m/s or rad/s].
    pub u: f64,
}

/// What an element remembers from step to step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ElementMode {
    /// Friction sticks, a drive holds its speed, a stop is touched.
    pub held: bool,
    /// Sense in which friction slides or a drive pushes: -1 or 1; zero before it is known.
    pub sense: f64,
    /// Speed at which a stop was touched [m/s or rad/s].
    pub speed: f64,
}

/// Motion that one element sees.
#[derive(Clone, Debug, Default)]
pub struct Sight {
    /// Time [s].
    pub t: f64,
    /// Its frames.
    pub frames: Vec<Kinematics>,
    /// Its coordinates.
    pub coordinates: Vec<CoordinateMotion>,
    /// Its states.
    pub states: Vec<f64>,
}

impl Sight {
    /// What is seen with these modes and with `look` for equations.
    pub fn seen<'a>(&'a self, mode: ElementMode, holding: f64, look: &'a dyn Fn(Source) -> f64) -> Seen<'a> {
        let Sight { t, frames, coordinates, states } = self;
        Seen { t: *t, frames, coordinates, states, mode, holding, look }
    }
}

/// What an element sees at one instant.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// Time [s].
    pub t: f64,
    /// Motion of its frames.
    pub frames: &'a [Kinematics],
    /// Motion of its coordinates.
    pub coordinates: &'a [CoordinateMotion],
    /// Its states.
    pub states: &'a [f64],
    /// What it remembers.
    pub mode: ElementMode,
    /// Force or torque with which it last held its coordinate [N or N m].
    pub holding: f64,
    /// Value of what equations read.
    pub look: &'a dyn Fn(Source) -> f64,
}

impl Seen<'_> {
    /// The result of an equation of its own, whose own quantities are these.
    fn value(&self, formula: &Formula, own: &[f64]) -> f64 {
        formula.value(|source| self.read(source, own))
    }

    /// Value of a source, the element's own quantities included.
    fn read(&self, source: Source, own: &[f64]) -> f64 {
        match source {
            Source::Own(k) => own[k as usize],
            other => (self.look)(other),
        }
    }

    /// Motion of its only coordinate.
    fn coordinate(&self) -> CoordinateMotion {
        self.coordinates[0]
    }
}

/// A force and torque on a frame of an element.
#[derive(Clone, Copy, Debug)]
pub struct Wrench {
    /// Which of its frames; the body of that frame feels it.
    pub frame: usize,
    /// Where the force acts, resolved in world [m].
    pub at: Vec3,
    /// {torque, force}, resolved in world [N m, N].
    pub on: Six,
}

/// Numbers that say what an element does at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effect {
    /// Its outputs, in the order it declares them; the first is the force or torque it is known by [N or N m].
    pub outputs: [f64; MOST_OUTPUTS],
    /// Energy it stores [J].
    pub stored: f64,
    /// Powers it loses or puts in, in the order of its accounts [W].
    pub powers: [f64; MOST_ACCOUNTS],
}

impl Effect {
    /// With one output and one account.
    pub fn new(effort: f64, stored: f64, power: f64) -> Effect {
        let mut effect = Effect { stored, ..Effect::default() };
        effect.outputs[0] = effort;
        effect.powers[0] = power;
        effect
    }

    /// The force or torque the element is known by [N or N m].
    pub fn effort(&self) -> f64 {
        self.outputs[0]
    }
}

/// What an element does to the bodies at one instant.
#[derive(Clone, Debug, Default)]
pub struct Action {
    /// Wrenches on its frames, in the order they are added up.
    pub wrenches: Vec<Wrench>,
    /// Force or torque on each of its coordinates [N or N m].
    pub efforts: Vec<f64>,
    /// Rate of the rate of its coordinate, where the element gives it [m/s^2 or rad/s^2].
    pub given: Option<f64>,
    /// Rates of its states.
    pub rates: Vec<f64>,
    /// In numbers.
    pub effect: Effect,
}

impl Action {
    /// Nothing yet, of an element with so many coordinates and states.
    pub fn clear(&mut self, coordinates: usize, states: usize) {
        self.wrenches.clear();
        self.efforts.clear();
        self.efforts.resize(coordinates, 0.0);
        self.given = None;
        self.rates.clear();
        self.rates.resize(states, 0.0);
        self.effect = Effect::default();
    }

    fn wrench(&mut self, frame: usize, at: Vec3, on: Six) {
        self.wrenches.push(Wrench { frame, at, on });
    }

    /// A force along its only coordinate.
    fn drive(&mut self, effort: f64, stored: f64, power: f64) {
        self.efforts[0] = effort;
        self.effect = Effect::new(effort, stored, power);
    }
}

/// What an effort from outside does.
#[derive(Clone, Copy, Debug)]
pub enum Push {
    /// A force or torque along the element's only coordinate [N or N m].
    Coordinate(f64),
    /// A force and torque on one of its frames.
    Frame(Wrench),
}

/// What an element does when what it watches has risen through zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trip {
    /// Its new mode.
    pub mode: ElementMode,
    /// Rate its coordinate takes there, if it is given one [m/s or rad/s].
    pub rate: Option<f64>,
}

/// A mode that an element takes without an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settled {
    /// The mode.
    pub mode: ElementMode,
    /// True if its force changes with it.
    pub acts: bool,
}

/// How an element enters a fixed step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InStep {
    /// As a load, evaluated at the beginning.
    Load,
    /// By rows that hold at the end.
    Rows,
    /// It gives its coordinate this mean rate [m/s or rad/s].
    Rate(f64),
}

/// The questions that are asked of every force element.
pub trait Acting: std::fmt::Debug {
    /// What it is attached to.
    fn attached(&self) -> Attached<'_>;

    /// Its states.
    fn states(&self) -> &[ElementState] {
        &[]
    }

    /// Its outputs; the first is the force or torque it is known by.
    fn outputs(&self) -> &'static [Output] {
        &[Output { name: "effort", unit: None }]
    }

    /// Accounts of the ledger that its powers go to.
    fn accounts(&self) -> &'static [ElementAccount];

    /// What it does to the bodies.
    fn act(&self, seen: &Seen<'_>, out: &mut Action);

    /// Power of the effort with which it holds a coordinate that moves with rate u [W].
    fn holding_power(&self, effort: f64, u: f64) -> f64 {
        effort * u
    }

    /// True if it has modes that change where [`Self::watch`] rises through zero.
    fn is_watched(&self) -> bool {
        false
    }

    /// A number that rises through zero where its mode changes.
    fn watch(&self, seen: &Seen<'_>) -> f64 {
        let _ = seen;
        -1.0
    }

    /// What happens where a mode ends.
    fn event(&self, mode: ElementMode) -> Option<EventKind> {
        let _ = mode;
        None
    }

    /// What it does there.
    fn trip(&self, seen: &Seen<'_>) -> Trip {
        Trip { mode: seen.mode, rate: None }
    }

    /// A mode it must take now: before its first step, or where it holds with more than it can.
    fn settle(&self, seen: &Seen<'_>) -> Option<Settled> {
        let _ = seen;
        None
    }

    /// Value (if it is given) and rate that its coordinate has at time t [m or rad, m/s or rad/s].
    fn follow(&self, t: f64, mode: ElementMode) -> Option<(Option<f64>, f64)> {
        let _ = (t, mode);
        None
    }

    /// How it enters a step of length h [s] from what is seen at its beginning.
    fn in_step(&self, seen: &Seen<'_>, h: f64) -> InStep {
        let _ = (seen, h);
        InStep::Rows
    }

    /// True if it acts on a coordinate whose rate something else gives.
    fn acts_on_given(&self) -> bool {
        false
    }

    /// Its rows in a fixed step.
    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        let _ = (seen, step, out);
    }

    /// Energy it stores [J].
    fn stored(&self, seen: &Seen<'_>) -> f64 {
        let _ = seen;
        0.0
    }

    /// The effort it is known by after a row of this part has acted with `force`, `sum` being that of its rows before.
    fn effort_of_row(&self, sum: f64, part: u8, force: f64) -> f64 {
        let _ = (sum, part);
        force
    }

    /// Adds what a row of this part did with `force` to its outputs, as seen at the beginning of the step.
    fn outputs_of_row(&self, seen: &Seen<'_>, part: u8, force: f64, outputs: &mut [f64; MOST_OUTPUTS]) {
        let _ = seen;
        outputs[0] = self.effort_of_row(outputs[0], part, force);
    }

    /// The largest effort it can give [N or N m].
    fn most(&self) -> f64 {
        f64::INFINITY
    }

    /// The effort along its coordinate that it would give without that limit, where it has one.
    fn unlimited(&self, seen: &Seen<'_>) -> Option<f64> {
        let _ = seen;
        None
    }

    /// Its mode after a row was solved, and whether a change of it is an event.
    fn mode_after(&self, mode: ElementMode, row: &Solved) -> (ElementMode, bool) {
        let _ = row;
        (mode, false)
    }

    /// True if it holds nothing any more once none of its rows pushes.
    fn lets_go(&self, seen: &Seen<'_>) -> bool {
        let _ = seen;
        false
    }

    /// How far its coordinate jumps within the step of length h [s] that ends at t [s], if it is given a motion that does [m or rad].
    fn jump(&self, t: f64, h: f64) -> Option<f64> {
        let _ = (t, h);
        None
    }

    /// Names and units of the efforts that a program may add to it.
    fn inputs(&self) -> &'static [Output] {
        &[]
    }

    /// What `value` of one of them does: force along its only coordinate, or a wrench.
    fn push(&self, seen: &Seen<'_>, input: usize, value: f64) -> Push {
        let _ = (seen, input);
        Push::Coordinate(value)
    }

    /// What is wrong with its start, in words, where its coordinate starts like this.
    fn start_warning(&self, start: CoordinateMotion) -> Option<String> {
        let _ = start;
        None
    }

    /// Word for the line between its frames in pictures.
    fn line(&self) -> Option<&'static str> {
        None
    }
}

/// The output of an element that is known by a force at its frames.
const FORCE: &[Output] = &[Output { name: "effort", unit: Some("N") }];
/// No bound on an impulse.
const UNBOUNDED: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// An effort from outside along the only coordinate.
const EFFORT_INPUT: &[Output] = &[Output { name: "effort", unit: None }];
/// Its only account is that of dampers.
const DAMPED: &[ElementAccount] = &[ElementAccount { cause: Cause::Damping, name: "loss" }];
/// Its only account is that of work put in.
const WORK: &[ElementAccount] = &[ElementAccount { cause: Cause::Work, name: "work" }];

/// What loads put in: forces that equations apply to bodies.
const LOAD_WORK: &[ElementAccount] = &[ElementAccount { cause: Cause::Loads, name: "work" }];

/// By how much an effort is beyond its limit [N or N m].
fn exceeds(effort: f64, limit: f64) -> f64 {
    effort.abs() - limit * (1.0 + LIMIT_ROUNDING)
}
