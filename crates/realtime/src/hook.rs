//! Hooks: what a program may look at and change inside a step.

use super::Clock;
use super::contacts::{Grip, Touch};
use super::failure::Failure;
use super::path::BodyPath;
use super::rows::{Owner, Rows};
use tippe_geometry::Vec3;
use tippe_mechanics::input::{Heard, Pull};
use tippe_mechanics::joint::Six;
use tippe_mechanics::model::Model;
use tippe_numerics::kkt::{Follow, Row, Tie};

/// A step as hooks see it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The model.
    pub model: &'a Model,
    /// Beginning of the step [s].
    pub time: f64,
    /// Its length [s].
    pub step: f64,
    /// Paths of the bodies, in model order; `kin` of a path is the motion at the beginning of the step.
    pub bodies: &'a [BodyPath],
}

/// A row of the user's own over any number of bodies: J u + compliance lambda = target, lower <= lambda <= upper, with
/// u the velocities {w, v} at the centres of mass. Its impulse acts along J^T, or along `force`: then the partition is
/// no quadratic program any more and is solved by pivoting, dense, with friction as boxes; meant for a few dozen rows.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomRow {
    /// Bodies by model index, and derivatives by their velocities; those of a body that is named twice add up.
    pub ends: Vec<(usize, Six)>,
    /// What a unit of impulse adds to the momenta {angular, linear} of bodies, where that is not J^T; else empty.
    pub force: Vec<(usize, Six)>,
    /// Velocity wanted.
    pub target: f64,
    /// Velocity per impulse; zero for a rigid row.
    pub compliance: f64,
    /// Smallest impulse [N s or N m s].
    pub lower: f64,
    /// Largest impulse.
    pub upper: f64,
    /// The impulse the solution is looked for from; NaN where it is not known.
    pub start: f64,
}

impl Default for CustomRow {
    fn default() -> CustomRow {
        CustomRow {
            ends: Vec::new(),
            force: Vec::new(),
            target: 0.0,
            compliance: 0.0,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            start: f64::NAN,
        }
    }
}

impl CustomRow {
    /// What is wrong with the row, if something is.
    pub fn fault(&self, model: &Model) -> Option<String> {
        let finite = |J: &Six| J.angular.is_finite() && J.linear.is_finite();
        let all = || self.ends.iter().chain(&self.force);
        if let Some((body, _)) = all().find(|(body, _)| *body >= model.bodies.len()) {
            return Some(format!("names body {body} of {}", model.bodies.len()));
        }
        if !all().all(|(_, J)| finite(J)) || !self.target.is_finite() {
            return Some("has a number that is not finite".to_owned());
        }
        if !(self.compliance >= 0.0 && self.compliance.is_finite()) {
            return Some(format!("has the compliance {}; it is a number >= 0", self.compliance));
        }
        let ordered = self.lower <= self.upper && self.lower < f64::INFINITY && self.upper > f64::NEG_INFINITY;
        (!ordered)
            .then(|| format!("has the bounds {} and {}; the first is not above the second", self.lower, self.upper))
    }
}

/// Three rows along the axes of the world. With the force at the end of a step h, lambda = h f and p' = p + h v':
///   v' + lambda / (h (h k + c)) = k (p_to - p) / (h k + c)
fn pull_rows(pull: &Pull, view: &View<'_>) -> [CustomRow; 3] {
    let kin = &view.bodies[pull.body].kin;
    let arm = kin.R * (pull.at - view.model.bodies[pull.body].p_bc);
    let (h, k, c) = (view.step, pull.stiffness, pull.damping);
    let target = k / (h * k + c) * (pull.to - (kin.p + arm));
    [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| CustomRow {
        ends: vec![(pull.body, Six::new(arm.cross(axis), axis))],
        target: target.dot(axis),
        compliance: 1.0 / (h * (h * k + c)),
        ..CustomRow::default()
    })
}

/// What a program does in every step. Every method may be left at its default.
pub trait Hook {
    /// Numbers from outside at the beginning of the step, in the order of [`Model::signal_inputs`]; write those that change.
    fn inputs(&mut self, view: &View<'_>, inputs: &mut [f64]) {
        let _ = (view, inputs);
    }
    /// A hand that pulls at a body during this step; of several hooks the last one that has a hand. One that is not sound pulls nothing.
    fn pull(&mut self, view: &View<'_>) -> Option<Pull> {
        let _ = view;
        None
    }
    /// Contact points that were found, and the friction of their pairs: look, change (stiffness, restitution, friction, adhesion), or switch
    /// a point off (`touch.on = false`).
    fn contacts(&mut self, view: &View<'_>, touches: &mut [Touch], grips: &mut [Grip]) {
        let _ = (view, touches, grips);
    }
    /// More rows.
    fn rows(&mut self, view: &View<'_>, rows: &mut Vec<CustomRow>) {
        let _ = (view, rows);
    }
    /// All rows of two bodies before they are solved; bodies are model indices.
    fn before_solve(&mut self, view: &View<'_>, rows: &mut [Row], owners: &[Owner]) {
        let _ = (view, rows, owners);
    }
    /// All rows of more than two bodies, those of joints apart, before they are solved.
    fn before_solve_ties(&mut self, view: &View<'_>, ties: &mut [Tie], owners: &[Owner]) {
        let _ = (view, ties, owners);
    }
    /// All rows of two bodies with their impulses, and the velocities {w, v} of the bodies at the end of the step.
    fn after_solve(&mut self, view: &View<'_>, rows: &[Row], owners: &[Owner], velocities: &[Six]) {
        let _ = (view, rows, owners, velocities);
    }
    /// All rows of more than two bodies, those of joints apart, with their impulses.
    fn after_solve_ties(&mut self, view: &View<'_>, ties: &[Tie], owners: &[Owner]) {
        let _ = (view, ties, owners);
    }
}

/// What comes from outside in a step: `listen` writes.
#[derive(Debug)]
pub struct Listened {
    /// Inputs: state of the network, limits.
    pub inputs: Vec<(usize, [f64; 2])>,
    values: Vec<f64>,
    /// Inputs that changed in this step.
    pub changed: Vec<Heard>,
    /// The hand that pulls in this step, and whether it did not in the last one, or otherwise.
    pub pull: Option<Pull>,
    /// See `pull`.
    pub pull_changed: bool,
}

impl Listened {
    /// Nothing yet.
    pub fn new(model: &Model) -> Listened {
        let inputs: Vec<_> = model.signal_inputs().map(|(input, state)| (state, input.limits)).collect();
        Listened { values: vec![0.0; inputs.len()], inputs, changed: Vec::new(), pull: None, pull_changed: false }
    }
}

impl Clock {
    fn view(&self) -> View<'_> {
        View { model: &self.model, time: self.state.time, step: self.h, bodies: &self.paths }
    }

    /// Numbers from outside; those that changed are remembered for a replay.
    pub(super) fn listen(&mut self, hooks: &mut [&mut dyn Hook]) {
        self.heard.changed.clear();
        self.grasp(hooks);
        if hooks.is_empty() || self.heard.inputs.is_empty() {
            return;
        }
        let mut values = std::mem::take(&mut self.heard.values);
        for (value, &(state, _)) in values.iter_mut().zip(&self.heard.inputs) {
            *value = self.state.actions.states[state];
        }
        for hook in hooks {
            hook.inputs(&self.view(), &mut values);
        }
        for (k, (value, &(state, [low, high]))) in values.iter().zip(&self.heard.inputs).enumerate() {
            let value = if value.is_nan() { self.state.actions.states[state] } else { value.clamp(low, high) };
            if value != self.state.actions.states[state] {
                self.state.actions.states[state] = value;
                self.heard.changed.push(Heard { step: self.state.steps, input: k, value });
            }
        }
        if !self.heard.changed.is_empty() {
            // whatever reads them may move what is at rest
            self.state.still.fill(0);
        }
        self.heard.values = values;
    }

    /// The hand that pulls in this step, if one does; a change is remembered for a replay.
    fn grasp(&mut self, hooks: &mut [&mut dyn Hook]) {
        let mut pull = None;
        for hook in hooks {
            pull = hook.pull(&self.view()).or(pull);
        }
        let pull = pull.filter(|pull| pull.is_sound(&self.model) && self.is_free(pull.body));
        self.heard.pull_changed = pull != self.heard.pull;
        self.heard.pull = pull;
        if self.heard.pull_changed || pull.is_some() {
            // what is pulled moves, and whatever it touches
            self.state.still.fill(0);
        }
    }

    /// Contact points to the hooks.
    pub(super) fn ask_contacts(&mut self, hooks: &mut [&mut dyn Hook]) {
        if hooks.is_empty() {
            return;
        }
        let (mut touches, mut grips) =
            (std::mem::take(&mut self.detected.touches), std::mem::take(&mut self.detected.grips));
        for hook in hooks {
            hook.contacts(&self.view(), &mut touches, &mut grips);
        }
        self.detected.rebounds = true;
        // contacts that may no longer give what they gave in the last step wake their bodies
        for grip in &grips {
            let (first, count) = grip.touches;
            let own = &touches[first..first + count];
            let load: f64 = own.iter().map(|t| t.memory.normal.max(0.0)).sum();
            let lost = own.iter().any(|t| !t.on && t.memory.normal != 0.0);
            let slips = grip.memory.tangent.length() > grip.mu[0].max(grip.mu[1]) * load * (1.0 + 1e-6);
            if lost || slips {
                for b in grip.bodies {
                    self.state.still[b] = 0;
                }
            }
        }
        (self.detected.touches, self.detected.grips) = (touches, grips);
    }

    /// Rows of the hooks, then all rows to the hooks.
    pub(super) fn ask_rows(&mut self, hooks: &mut [&mut dyn Hook]) {
        if hooks.is_empty() {
            return;
        }
        let mut rows: Rows = std::mem::take(&mut self.rows);
        let mut more = Vec::new();
        for hook in hooks.iter_mut() {
            hook.rows(&self.view(), &mut more);
        }
        if let Some(pull) = self.heard.pull {
            more.extend(pull_rows(&pull, &self.view()));
        }
        for (k, own) in more.iter().enumerate() {
            if let Some(fault) = own.fault(&self.model) {
                let (kind, name) = ("row of a hook", k.to_string());
                self.failure.get_or_insert(Failure { time: self.state.time, kind, name, what: fault });
                continue;
            }
            self.custom_row(&mut rows, k, own);
        }
        for hook in hooks {
            hook.before_solve(&self.view(), &mut rows.rows, &rows.owners);
            hook.before_solve_ties(&self.view(), &mut rows.ties, &rows.tie_owners);
        }
        rows.look_again();
        self.rows = rows;
    }

    /// Row `k` of the hooks: one of two bodies, if it has no more ends and pushes where it looks.
    fn custom_row(&self, rows: &mut Rows, k: usize, own: &CustomRow) {
        let CustomRow { ends, force, target, compliance, lower, upper, start } = own;
        let owner = Owner::Custom(k as u32);
        let twice = ends.len() == 2 && ends[0].0 == ends[1].0;
        if ends.len() > 2 || twice || !force.is_empty() {
            let mut tie = Tie::default();
            (tie.target[0], tie.compliance[0], tie.lambda[0]) = (*target, *compliance, *start);
            (tie.lower[0], tie.upper[0]) = (*lower, *upper);
            self.push_tie(rows, ends, force, tie, owner);
            return;
        }
        let end = |s: usize| ends.get(s).map_or((None, Six::ZERO), |(b, J)| (Some(*b), *J));
        let [(b1, J1), (b2, J2)] = [end(0), end(1)];
        let (target, compliance, lower, upper, lambda) = (*target, *compliance, *lower, *upper, *start);
        let row = Row { target, compliance, lower, upper, lambda, ..Row::default() };
        self.push_row(rows, [b1, b2], [J1, J2], row, owner, Follow::NONE);
    }

    /// The solution to the hooks.
    pub(super) fn tell(&self, hooks: &mut [&mut dyn Hook]) {
        let view = View { time: self.state.time - self.h, ..self.view() };
        for hook in hooks {
            hook.after_solve(&view, &self.rows.rows, &self.rows.owners, &self.solved.velocity);
            hook.after_solve_ties(&view, &self.rows.ties, &self.rows.tie_owners);
        }
    }
}
