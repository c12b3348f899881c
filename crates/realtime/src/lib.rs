//! The realtime clock: fixed step, velocity-level rows with bounds, direct solver
//! (docs/theory/realtime.md).
//!
//! [`step`](Clock::step) is a list of verbs. Free motion (gravity, velocity products, loads) is advanced first, to high
//! order where it is smooth; rows then act on the velocities at the end of the step:
//!   M (u+ - u_free) = J^T lambda,    J u+ + eps lambda = b,    lower <= lambda <= upper,    q+ = q + h u+.
#![allow(non_snake_case)] // matrices and poses are capital letters, as in CONVENTIONS.md

mod bends;
mod books;
mod contacts;
mod elements;
mod equations;
mod failure;
mod failures;
mod foresee;
mod free;
mod hook;
mod impact;
mod integrate;
mod joints;
mod kicks;
mod memory;
mod modal;
mod partition;
mod path;
mod rates;
mod rows;
mod samples;
mod set;
mod settings;
mod share;
mod signals;
mod slide;
mod structure;
mod struts;
mod subsystem;
mod summary;
mod weld;

use contacts::{Detected, Hold, Memory};
pub use contacts::{Grip, Touch};
pub use failure::Failure;
use hook::Listened;
pub use hook::{CustomRow, Hook, View};
use impact::Struck;
use integrate::Solved;
use joints::Machine;
use memory::Remembered;
use partition::Partition;
pub use path::BodyPath;
pub use rows::Owner;
use rows::Rows;
use samples::Shown;
use serde::{Deserialize, Serialize};
pub use settings::{STEP, Settings};
use std::sync::Arc;
use tippe_geometry::{Mat3, Quat};
pub use tippe_mechanics::input::{Heard, Pull};
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::BodyMotion;
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::ledger::Ledger;
use tippe_mechanics::model::prescribed;
use tippe_mechanics::model::{Drive, Model};
use tippe_mechanics::observe::{Observe, Summary};
use tippe_mechanics::state::{ActionRecord, MachineRecord};
use tippe_mechanics::structure::Structure;
use tippe_mechanics::subsystem::{SubsystemRecords, Subsystems};
pub use tippe_scene::{Coupled, FrictionBound, FrictionLoad, Solver};

/// Everything that survives a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Steps made.
    pub steps: u64,
    /// Now [s].
    pub time: f64,
    /// Bodies, in model order.
    bodies: Vec<BodyMotion>,
    /// Mechanisms, in model order.
    machines: Vec<MachineRecord>,
    /// Contacts of the last step, sorted.
    contacts: Vec<Memory>,
    /// Friction of the pairs that touched in the last step, sorted.
    holds: Vec<Hold>,
    /// Force elements and equations.
    actions: ActionRecord,
    elements: elements::ElementRecord,
    structure: Structure,
    /// Causes so far.
    ledger: Ledger,
    /// Steps each body has been at rest.
    still: Vec<u32>,
    /// For each mechanism: energy that steps of taut chains made of nothing so far, and the largest kinetic energy
    /// before one [J].
    #[serde(default)]
    restraint: Vec<[f64; 2]>,
    /// Which elements are welds now; empty of models without such.
    #[serde(default)]
    welded: Vec<bool>,
    /// Whether the start has been recorded.
    recorded: bool,
    /// The subsystems, where the model has some.
    #[serde(default, rename = "grains")]
    subsystems: Option<SubsystemRecords>,
}

impl State {
    /// Motion of all bodies' frames c, in model order.
    pub fn bodies(&self) -> &[BodyMotion] {
        &self.bodies
    }

    /// All grains, where the model has any.
    pub fn grains(&self) -> Option<&tippe_granular::Grains> {
        self.subsystems.as_ref().and_then(SubsystemRecords::grains)
    }

    /// The ground, where the model has one.
    pub fn ground(&self) -> Option<&tippe_soil::Ground> {
        self.subsystems.as_ref().and_then(SubsystemRecords::ground)
    }

    /// Copies without new memory where there is enough.
    pub fn copy_to(&self, other: &mut State) {
        let State {
            steps,
            time,
            bodies,
            machines,
            contacts,
            holds,
            actions,
            elements,
            structure,
            ledger,
            still,
            restraint,
            welded,
            recorded,
            subsystems,
        } = self;
        (other.steps, other.time, other.ledger, other.recorded) = (*steps, *time, *ledger, *recorded);
        other.bodies.clone_from(bodies);
        other.machines.clone_from(machines);
        other.contacts.clone_from(contacts);
        other.holds.clone_from(holds);
        other.actions.clone_from(actions);
        other.elements.clone_from(elements);
        other.structure.clone_from(structure);
        other.still.clone_from(still);
        other.restraint.clone_from(restraint);
        other.welded.clone_from(welded);
        other.subsystems.clone_from(subsystems);
    }

    /// The model at the start of its scene.
    pub fn start(model: &Model) -> State {
        let structure = Structure::new(model);
        State {
            steps: 0,
            time: 0.0,
            bodies: (0..model.bodies.len())
                .map(|b| {
                    let kin = model.standing(b as u32);
                    BodyMotion { p: kin.p, q: model.start[b].orientation, v: kin.v, w: kin.w }
                })
                .collect(),
            machines: MachineRecord::starts(model),
            contacts: Vec::new(),
            holds: Vec::new(),
            actions: ActionRecord::start(model, &structure.gone, &structure.done),
            elements: elements::ElementRecord::start(model),
            structure,
            ledger: Ledger::default(),
            still: vec![0; model.bodies.len()],
            restraint: vec![[0.0; 2]; model.mechanisms.len()],
            welded: Vec::new(),
            recorded: false,
            subsystems: SubsystemRecords::start(model),
        }
    }
}

/// Advances `state` to `until`, handing everything on the way to `observe`. After a failure `state` is the last good
/// one.
pub fn simulate(
    model: &Model,
    state: &mut State,
    until: f64,
    settings: &Settings,
    observe: &mut dyn Observe,
) -> Result<Summary, Failure> {
    simulate_with(model, state, until, settings, &mut [], observe)
}

/// [`simulate`] with hooks.
pub fn simulate_with(
    model: &Model,
    state: &mut State,
    until: f64,
    settings: &Settings,
    hooks: &mut [&mut dyn Hook],
    observe: &mut dyn Observe,
) -> Result<Summary, Failure> {
    let mut clock = Clock::resume(model, state, settings);
    clock.begin(observe);
    while !clock.reached(until) {
        clock.step_with(hooks);
        if clock.record(until, observe)? {
            clock.state.copy_to(state);
        }
    }
    clock.state.copy_to(state);
    Ok(clock.summary())
}

/// The clock at work: all but `state` can be dropped between steps. Its parts are named after the verb that writes
/// them.
pub struct Clock {
    model: Arc<Model>,
    settings: Settings,
    pool: Option<rayon::ThreadPool>,
    /// All that survives a step.
    pub state: State,
    /// Step [s].
    h: f64,
    /// Inputs and the hand that pulls: `listen` writes, `record` shows them, rows follow the hand.
    heard: Listened,
    /// Path of each body through the step: `place` begins it, `strike` bends it, `coast` and `assemble` say how it ends
    /// without rows; all read it.
    paths: Vec<BodyPath>,
    /// Mechanisms: `place`, `load`, `coast` and `integrate` write.
    machines: Vec<Machine>,
    /// Contact points: `detect` and hooks write, `strike` and `assemble` read, `integrate` leaves the impulses in them.
    detected: Detected,
    /// Impacts: `strike` writes, `assemble`, `integrate` and `book` read.
    struck: Struck,
    /// {torque, force} on the centres of mass, without gravity: `load` writes, `coast` and `book` read.
    loads: Vec<Six>,
    /// Force elements: `load` and `assemble` write, `integrate` and `book` read.
    elements: elements::Elements,
    /// Values of the equations: `load` and `integrate` write.
    values: Vec<f64>,
    room: equations::Room,
    /// Loads that answer to the motion: `load` writes, `assemble` reads.
    foresight: foresee::Foresight,
    answering: struts::Answering,
    /// Rows: `assemble` and hooks write, `solve` leaves the impulses in them, `integrate` and `book` read.
    rows: Rows,
    /// Partitions that rows tie together: `split` writes, `solve` leaves the solutions in them.
    partitions: Vec<Partition>,
    root: Vec<u32>,
    parts: Vec<u32>,
    /// Partition of each body, `u32::MAX` for those that are not free.
    partition_of: Vec<u32>,
    /// Place of each body in its partition, and of each row.
    place_of: Vec<u32>,
    /// First block of modes of each link, by mechanism.
    modal: Vec<Vec<u32>>,
    /// Books of the modes of the step.
    modal_books: modal::Books,
    row_of: Vec<u32>,
    /// Welded elements of cables: `lead` and `weld` write.
    welds: weld::Welds,
    /// Velocities of the solution: `integrate` writes, `book` and hooks read.
    solved: Solved,
    /// What contacts stored, and which pairs touch: `integrate` writes, `book` reads.
    remembered: Remembered,
    /// What has steps of its own, such as grains: `advance_subsystem` writes.
    subsystems: Option<Subsystems>,
    /// Why a subsystem or a hook cannot go on.
    failure: Option<Failure>,
    /// Events, counts and the last sample: all verbs write, `record` shows them.
    shown: Shown,
}

impl Clock {
    /// Ready to go on from `state`, with a copy of the model.
    pub fn resume(model: &Model, state: &State, settings: &Settings) -> Clock {
        Clock::new(Arc::new(model.clone()), state.clone(), settings.clone())
    }

    /// Ready to go on from `state`.
    pub fn new(model: Arc<Model>, state: State, settings: Settings) -> Clock {
        let n = model.bodies.len();
        let pool = (settings.threads != 1)
            .then(|| rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build().ok())
            .flatten();
        let (modal, blocks) = modal::blocks(&model);
        Clock {
            pool,
            h: settings.step,
            heard: Listened::new(&model),
            paths: model.bodies.iter().map(|body| BodyPath::new(body, settings.step)).collect(),
            machines: (0..model.mechanisms.len()).map(|k| Machine::new(&model, k)).collect(),
            detected: Detected::default(),
            struck: Struck::default(),
            loads: vec![Six::ZERO; n],
            elements: elements::Elements::new(&model),
            values: vec![0.0; model.network.values],
            room: equations::Room::new(&model),
            foresight: foresee::Foresight::default(),
            answering: struts::Answering::default(),
            rows: Rows::default(),
            root: Vec::new(),
            parts: Vec::new(),
            partitions: Vec::new(),
            partition_of: vec![u32::MAX; blocks],
            place_of: vec![0; blocks],
            modal,
            modal_books: modal::Books::default(),
            row_of: Vec::new(),
            welds: weld::Welds::new(&model),
            solved: Solved::new(n),
            remembered: Remembered::default(),
            subsystems: Subsystems::resume(&model, state.subsystems.as_ref(), settings.step, settings.threads),
            failure: None,
            shown: Shown::default(),
            model,
            state,
            settings,
        }
    }

    /// Goes on from another state of the same model.
    pub fn restore(&mut self, state: &State) {
        state.copy_to(&mut self.state);
        let (step, threads) = (self.settings.step, self.settings.threads);
        self.subsystems = Subsystems::resume(&self.model, self.state.subsystems.as_ref(), step, threads);
    }

    /// One step.
    pub fn step(&mut self) {
        self.step_with(&mut []);
    }

    /// One step with hooks.
    pub fn step_with(&mut self, hooks: &mut [&mut dyn Hook]) {
        self.listen(hooks);
        self.restructure();
        self.feed_cables();
        self.place();
        self.detect(0.0);
        self.ask_contacts(hooks);
        self.strike();
        self.load();
        self.coast();
        self.lead();
        self.assemble();
        self.ask_rows(hooks);
        self.split();
        self.solve();
        self.integrate();
        self.book();
        self.weld();
        self.advance_subsystem();
        self.tell(hooks);
    }

    /// True if forces move the body.
    fn is_free(&self, body: usize) -> bool {
        self.model.bodies[body].drive == Drive::Free && !self.state.structure.gone[body]
    }

    /// Motion of all bodies from the state.
    fn place(&mut self) {
        let t = self.state.time;
        for k in 0..self.machines.len() {
            self.place_machine(k);
        }
        for (b, body) in self.model.bodies.iter().enumerate() {
            let s = &self.state.bodies[b];
            let (kin, q) = match body.drive {
                Drive::Free => (Kinematics { p: s.p, v: s.v, w: s.w, R: Mat3::from_quat(s.q) }, s.q),
                _ => {
                    let kin = prescribed(&self.model, b, t);
                    (kin, Quat::from_mat3(&kin.R))
                }
            };
            self.paths[b].begin(kin, q);
        }
        for (mechanism, machine) in self.model.mechanisms.iter().zip(&self.machines) {
            for (link, kin) in mechanism.links.iter().zip(&machine.kinematics) {
                self.paths[link.body as usize].kin = *kin;
            }
        }
    }
}
