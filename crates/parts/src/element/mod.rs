//! Force elements: one file for each kind, its equation on top.
//!
//! Whoever moves bodies (either clock, statics, linearisation) asks every element the same questions and knows no kind by name:
//! what is it attached to, which states, outputs and losses does it have, what does it do to the bodies ([`Acting::act`]), how does it
//! enter a fixed step ([`Acting::rows`]), where does its law change ([`Acting::watch`]). A new kind is a file here and a variant of [`Element`].

mod applied;
mod bushing;
mod cable;
mod cable_joint;
mod driveline;
mod fin;
mod fluid;
mod friction;
mod give;
mod heavy_line;
mod joint_spring;
mod maxwell;
mod modes;
mod motion;
mod position;
mod propeller;
mod relation;
mod rows;
mod soft_ground;
mod speed;
mod spring;
mod stop;
mod torque;
mod track;
mod tyre;
mod written;

pub use applied::Applied;
pub use bushing::Bushing;
pub use cable::{Cable, Catenary, Circle, MOST_STRAIN, POINT_KINDS, ROPES, SEGMENT_KINDS, Section, spans_at};
pub use cable_joint::CableJoint;
pub use driveline::{
    CLUTCH, CONVERTER, CYLINDER, Converter, DIFFERENTIAL, ELECTRIC, ENGINE, Electric, Engine, GEARBOX, Gearbox,
    HYDROSTATIC, Hold,
};
pub use fin::Fin;
pub use fluid::{AddedMass, Fluid, SEA_KINDS, WAVE_KINDS, WET_CABLE_KINDS, WET_KINDS};
pub use friction::Friction;
pub use give::{Give, Restrains, Yielding};
pub use heavy_line::HeavyLine;
pub use joint_spring::JointSpring;
pub use maxwell::Maxwell;
pub use modes::{LARGEST_STRAIN, LARGEST_TURN, Modes};
pub use motion::Motion;
pub use position::Position;
pub use propeller::Propeller;
pub use relation::Relation;
pub use rows::{
    Answering, CoordinateAhead, ElementRow, Instant, RowEnd, RowLaw, RowList, Solved, StepAhead, Strut, StrutInStep,
};
pub use soft_ground::{SPEC as SOFT_GROUND, SoftGround, WHEEL_KINDS};
pub use speed::Speed;
pub use spring::Spring;
pub use stop::Stop;
pub use torque::Torque;
pub use track::{SPEC as TRACK, Track};
pub use tyre::{RoadTyre, SPEC as TYRE};
pub use written::{
    Build, CABLE_KINDS, ElementSpec, FLUID_KINDS, FORCE_KINDS, FORCES, FRICTION, HUNG, LIMIT, MOTOR, NewPose, SPRING,
    force, hung, joint_of_cable,
};

use crate::cause::Cause;
use crate::event::EventKind;
use crate::kinematics::Kinematics;
use crate::network::{Formula, Source};
use crate::six::{Response, Six, Tensor};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use tippe_geometry::{Mat3, Vec3};

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
    /// The joint between two elements of a flexible cable.
    CableJoint(Box<CableJoint>),
    /// A cable without mass over points and wheels.
    Cable(Box<Cable>),
    /// A heavy line between two ends.
    HeavyLine(Box<HeavyLine>),
    /// A body in water or air.
    Fluid(Box<Fluid>),
    /// The mass of fluid that a body takes along.
    AddedMass(Box<AddedMass>),
    /// A fin, rudder, wing or sail.
    Fin(Box<Fin>),
    /// A propeller.
    Propeller(Box<Propeller>),
    /// A tyre between a wheel and a road.
    Tyre(Box<RoadTyre>),
    /// A track on the ground.
    Track(Box<Track>),
    /// Soft ground under wheels.
    SoftGround(Box<SoftGround>),
    /// A spring and damper on a joint's coordinate.
    JointSpring(JointSpring),
    /// The modes of a flexible body.
    Modes(Box<Modes>),
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
    /// A combustion engine.
    Engine(Box<Engine>),
    /// An electric motor.
    Electric(Electric),
    /// What holds shafts together until it slips.
    Hold(Box<Hold>),
    /// A torque converter.
    Converter(Box<Converter>),
    /// A gearbox.
    Gearbox(Box<Gearbox>),
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
            Element::CableJoint(e) => e.as_ref(),
            Element::Cable(e) => e.as_ref(),
            Element::HeavyLine(e) => e.as_ref(),
            Element::Fluid(e) => e.as_ref(),
            Element::AddedMass(e) => e.as_ref(),
            Element::Fin(e) => e.as_ref(),
            Element::Propeller(e) => e.as_ref(),
            Element::Tyre(e) => e.as_ref(),
            Element::Track(e) => e.as_ref(),
            Element::SoftGround(e) => e.as_ref(),
            Element::JointSpring(e) => e,
            Element::Modes(e) => e.as_ref(),
            Element::Stop(e) => e,
            Element::Friction(e) => e,
            Element::Torque(e) => e,
            Element::Position(e) => e,
            Element::Speed(e) => e,
            Element::Motion(e) => e,
            Element::Engine(e) => e.as_ref(),
            Element::Electric(e) => e,
            Element::Hold(e) => e.as_ref(),
            Element::Converter(e) => e.as_ref(),
            Element::Gearbox(e) => e.as_ref(),
        }
    }
}

impl Element {
    /// True if it is gone with this body.
    pub fn needs_body(&self, body: u32) -> bool {
        let frames = self.attached().frames.iter().enumerate();
        frames.filter(|(_, anchor)| anchor.body == Some(body)).any(|(frame, _)| self.needs(frame))
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
#[derive(Clone, Debug, PartialEq)]
pub struct ElementState {
    /// Name; `ELEMENT.NAME` elsewhere.
    pub name: Cow<'static, str>,
    /// SI unit, `-` if none.
    pub unit: &'static str,
    /// Value at the start.
    pub start: f64,
    /// Size below which changes do not matter to the error of a step.
    pub scale: f64,
}

/// A number an element shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Name; `ELEMENT.NAME` elsewhere.
    pub name: Cow<'static, str>,
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

/// What an element remembers from step to step: of each of its modes.
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
    /// What is seen with these modes, with what is kept, and with `look` for equations.
    pub fn seen<'a>(
        &'a self,
        (modes, kept): (&'a [ElementMode], &'a [f64]),
        holding: f64,
        look: &'a dyn Fn(Source) -> f64,
    ) -> Seen<'a> {
        let Sight { t, frames, coordinates, states } = self;
        Seen { t: *t, frames, coordinates, states, modes, kept, holding, look }
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
    /// What it remembers, by mode.
    pub modes: &'a [ElementMode],
    /// Numbers it keeps from step to step; none before the first.
    pub kept: &'a [f64],
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

    /// Its only mode.
    fn mode(&self) -> ElementMode {
        self.modes[0]
    }

    /// Motion of its only coordinate.
    fn coordinate(&self) -> CoordinateMotion {
        self.coordinates[0]
    }
}

/// How a fixed step may weld the two elements of a cable that a joint is between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Welding {
    /// Joints of its cable that may move at once.
    pub joints: usize,
    /// A bend that is worth a joint [rad].
    pub angle: f64,
    /// Bending stiffness of the joint [N m/rad].
    pub bending: f64,
    /// EA [N].
    pub axial: f64,
    /// Length of an element [m].
    pub length: f64,
    /// Mass of an element [kg].
    pub mass: f64,
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
    /// The force or torque it is known by [N or N m]: its first output.
    pub effort: f64,
    /// Energy it stores [J].
    pub stored: f64,
    /// Powers it loses or puts in, in the order of its accounts [W].
    pub powers: [f64; MOST_ACCOUNTS],
}

impl Effect {
    /// With one account.
    pub fn new(effort: f64, stored: f64, power: f64) -> Effect {
        let mut effect = Effect { effort, stored, ..Effect::default() };
        effect.powers[0] = power;
        effect
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
    /// What it adds to the inertia of the body of one of its frames: which, about the frame's origin, resolved in world [kg, kg m, kg m^2].
    pub added: Option<(usize, Tensor)>,
    /// How the wrench on its only frame answers to the motion of its body, where the element knows.
    pub response: Option<Response>,
    /// In numbers.
    pub effect: Effect,
    /// Its outputs behind the first.
    pub shown: Vec<f64>,
}

impl Action {
    /// Nothing yet, of an element with so many coordinates and states.
    pub fn clear(&mut self, coordinates: usize, states: usize) {
        self.wrenches.clear();
        self.efforts.clear();
        self.efforts.resize(coordinates, 0.0);
        self.given = None;
        self.added = None;
        self.response = None;
        self.rates.clear();
        self.rates.resize(states, 0.0);
        self.effect = Effect::default();
        self.shown.clear();
    }

    /// Copies its outputs to a list of their number.
    pub fn outputs_into(&self, outputs: &mut [f64]) {
        for (to, value) in outputs.iter_mut().zip(std::iter::once(&self.effect.effort).chain(&self.shown)) {
            *to = *value;
        }
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

/// A body that comes in, or goes, at an end of a cable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fed {
    /// The frame on it.
    pub frame: usize,
    /// Motion of that frame.
    pub motion: Kinematics,
}

/// What an element does when what one of its modes watches has risen through zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trip {
    /// That mode from there on.
    pub mode: ElementMode,
    /// Rate its coordinate takes there, if it is given one [m/s or rad/s].
    pub rate: Option<f64>,
    /// Energy lost there, which goes to its last account [J].
    pub lost: f64,
}

impl Trip {
    /// To this mode, and nothing else.
    fn to(mode: ElementMode) -> Trip {
        Trip { mode, rate: None, lost: 0.0 }
    }
}

/// The end of a fixed step, for an element that completes it itself.
#[derive(Debug)]
pub struct Finish<'a> {
    /// Length of the step [s].
    pub h: f64,
    /// What it saw at the beginning.
    pub before: &'a Sight,
    /// What it sees at the end; states are those of the beginning.
    pub after: &'a Sight,
    /// Impulses of its rows, by part [N s or N m s].
    pub impulses: &'a [(u8, f64)],
    /// Its modes: those of the step, then those behind it.
    pub modes: &'a mut [ElementMode],
    /// Numbers it keeps from step to step.
    pub kept: &'a mut [f64],
    /// Its states, likewise.
    pub states: &'a mut [f64],
    /// Its outputs, all of them.
    pub outputs: &'a mut Vec<f64>,
    /// What its accounts lost, or put in, in the step; the first only of slamming [J].
    pub lost: &'a mut [f64; MOST_ACCOUNTS],
    /// Modes that ended: which, and as they were.
    pub happened: &'a mut Vec<(usize, ElementMode)>,
}

/// A mode that an element takes without an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settled {
    /// The mode.
    pub mode: ElementMode,
    /// True if its force changes with it.
    pub acts: bool,
}

/// How an element runs through its frames as a rope, for pictures.
#[derive(Clone, Debug)]
pub struct Course {
    /// Circles at its first frames that it runs around, or points of radius zero; one point of a joint between elements.
    pub circles: Vec<Circle>,
    /// Which of its outputs is the tension of each span.
    pub tensions: Vec<usize>,
    /// Which of its states is the length at rest of the line of each span.
    pub rests: Vec<usize>,
    /// Elements that its ends go on in: their frames, nearest to the load first, the state that counts those which are out, and l [m].
    pub feeds: [Option<(std::ops::Range<usize>, usize, f64)>; 2],
    /// Parts of a catenary.
    pub segments: Vec<Catenary>,
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
    fn outputs(&self) -> &[Output] {
        EFFORT
    }

    /// Accounts of the ledger that its powers go to.
    fn accounts(&self) -> &'static [ElementAccount];

    /// What it does to the bodies.
    fn act(&self, seen: &Seen<'_>, out: &mut Action);

    /// True if what it does hangs on the motion of its frames alone: not on time, coordinates, states or equations.
    fn sees_frames_alone(&self) -> bool {
        false
    }

    /// True if the bodies that it joins are parts of one: their velocities are known as well as that of the fastest.
    fn joins_as_one(&self) -> bool {
        false
    }

    /// True if it is gone with the body of this frame.
    fn needs(&self, _frame: usize) -> bool {
        true
    }

    /// Bodies it is attached to that are not there at the start.
    fn absent(&self) -> Vec<u32> {
        Vec::new()
    }

    /// At which of its ends a body comes in (true) or goes where one of its watched modes says so.
    fn feeds_by(&self, _which: usize) -> Option<(usize, bool)> {
        None
    }

    /// Lets the next element of its first end (0), or of its last one (1), in or out, where it is time; its states change.
    fn feed(&self, _end: usize, _out: bool, _seen: &Seen<'_>, _states: &mut [f64]) -> Option<Fed> {
        None
    }

    /// Power of the effort with which it holds a coordinate that moves with rate u [W].
    fn holding_power(&self, effort: f64, u: f64) -> f64 {
        effort * u
    }

    /// How many of its modes, the first ones, change where [`Self::watch`] rises through zero.
    fn watched(&self) -> usize {
        0
    }

    /// How many numbers it keeps from step to step, beside states: what it leaves behind and may meet again. They are zero at the start.
    fn keeps(&self) -> usize {
        0
    }

    /// Changes what it keeps, at the end of a step of the precise clock; in a fixed step [`Self::finish`] does.
    fn keep(&self, seen: &Seen<'_>, kept: &mut [f64]) {
        let _ = (seen, kept);
    }

    /// Name of one of its modes, if it has several; events know it as `ELEMENT.NAME`.
    fn mode_name(&self, which: usize) -> Option<&str> {
        let _ = which;
        None
    }

    /// A number that rises through zero where one of its modes changes.
    fn watch(&self, which: usize, seen: &Seen<'_>) -> f64 {
        let _ = (which, seen);
        -1.0
    }

    /// What happens where that mode ends.
    fn event(&self, which: usize, mode: ElementMode) -> Option<EventKind> {
        let _ = (which, mode);
        None
    }

    /// What it does there.
    fn trip(&self, which: usize, seen: &Seen<'_>) -> Trip {
        Trip::to(seen.modes[which])
    }

    /// What one of its modes must be now: before its first step, or where it holds with more than it can.
    fn settle(&self, which: usize, seen: &Seen<'_>) -> Option<Settled> {
        let _ = (which, seen);
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

    /// True of a load that answers to the motion: it is foreseen in a fixed step.
    fn answers(&self) -> bool {
        self.attached().formula.is_some_and(|formula| !formula.is_of_time())
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
    fn outputs_of_row(&self, seen: &Seen<'_>, part: u8, force: f64, outputs: &mut [f64]) {
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

    /// True if it completes a fixed step itself: its states, modes, outputs and losses but those of dampers.
    fn finishes(&self) -> bool {
        false
    }

    /// Completes a fixed step.
    fn finish(&self, step: &mut Finish<'_>) {
        let _ = step;
    }

    /// True if it holds nothing any more once none of its rows pushes.
    fn lets_go(&self, seen: &Seen<'_>) -> bool {
        let _ = seen;
        false
    }

    /// How a fixed step may weld what it joins, if it may.
    fn welding(&self) -> Option<Welding> {
        None
    }

    /// How far its coordinate jumps within the step of length h [s] that ends at t [s], if it is given a motion that does [m or rad].
    fn jump(&self, t: f64, h: f64) -> Option<f64> {
        let _ = (t, h);
        None
    }

    /// Names and units of the efforts that a program may add to it.
    fn inputs(&self) -> &[Output] {
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

    /// Points of that line, resolved in world [m].
    fn drawn(&self, frames: &[Kinematics]) -> Vec<Vec3> {
        frames.iter().map(|frame| frame.p).collect()
    }

    /// Word for the line between its frames in pictures.
    fn line(&self) -> Option<&'static str> {
        None
    }

    /// How it runs as a rope, if it is one.
    fn course(&self) -> Option<Course> {
        None
    }
}

/// The output of an element that is known by a force at its frames.
const FORCE: &[Output] = &[Output { name: Cow::Borrowed("effort"), unit: Some("N") }];
/// The output of an element that is known by a force or torque along its coordinate; an effort from outside along it.
const EFFORT: &[Output] = &[Output { name: Cow::Borrowed("effort"), unit: None }];
/// No bound on an impulse.
const UNBOUNDED: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

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
