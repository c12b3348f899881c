//! The pose in which a model can rest.
//!
//! The search follows the flow z' = a(z) of independent coordinates z under the accelerations a at rest, M^-1 times the
//! forces: it goes downhill to a stable pose, and stays where a pose is already one of rest, stable or not. Steps are implicit,
//!   (1/tau - da/dz) dz = a,
//! with tau growing as accelerations fade (pseudo-transient continuation: Kelley and Keyes 1998): small tau is overdamped
//! motion, large tau Newton's method. A step must gain work: the mean of the forces at its two ends on the way between them.

use crate::element::{self, Element, NewPose};
use crate::kinematics::BodyState;
use crate::linear::{Eigenmode, linearize_here};
use crate::model::SignalSource;
use crate::precise::tangent::{Tangent, work};
use crate::scene::Scene;
use crate::{Model, Whole};
use serde::Serialize;
use tippe_geometry::Vec3;
use tippe_numerics::dense::solve;

/// First step, as a share of the bodies' sizes [-].
const FIRST_WAY: f64 = 0.05;
/// Longest step, likewise.
const LONGEST_WAY: f64 = 1e3;
/// Largest turn of a step [rad].
const LARGEST_TURN: f64 = 0.5;
/// Largest tau [s^2].
const LARGEST_TAU: f64 = 1e6;
/// Attempts at one step before the search has failed.
const ATTEMPTS: usize = 60;
/// Steps that would make a contact slip are tried shorter this often before it may.
const CAREFUL: usize = 12;
/// A body this many times its size from where it began is not held by anything [-].
const LOST: f64 = 1e5;
/// Where no step helps any more, accelerations below this share of gravity are rounding [-].
const ROUNDING: f64 = 1e-6;
/// Without gravity accelerations are measured against those at the start, and at least this [m/s^2].
const FAINT: f64 = 1e-3;
/// Eigenvalues below this share of the largest cannot be told from zero [-].
const NEUTRAL: f64 = 1e-5;

/// How to look for a pose of rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// Accelerations below this share of gravity (of those at the start, without gravity) are rest [-].
    pub tolerance: f64,
    /// Most steps.
    pub steps: usize,
}

impl Default for Search {
    fn default() -> Self {
        Search { tolerance: 1e-9, steps: 1000 }
    }
}

/// What becomes of a small push.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stability {
    /// Everything returns, or oscillates.
    Stable,
    /// Some motion meets no force.
    Neutral,
    /// Some motion grows.
    Unstable,
}

/// A pose of rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// Bodies in model order.
    pub bodies: Vec<BodyState>,
    /// Values of the model's signals in its order: coordinates and reactions of joints, efforts of force elements, sensors.
    pub signals: Vec<f64>,
    /// States of components and controllers, in the network's order.
    pub states: Vec<f64>,
    /// What becomes of a small push.
    pub stability: Stability,
    /// Modes of the linear system there.
    pub modes: Vec<Eigenmode>,
    /// Largest acceleration left [m/s^2], turning counted at the size of the body.
    pub residual: f64,
    /// Steps of the search.
    pub steps: usize,
}

/// Why there is no pose of rest.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoEquilibrium {
    /// A body is not held.
    #[error(
        "body \"{body}\" falls: it still accelerates at {acceleration:.6e} m/s^2 after moving {way:.3e} m. help: nothing holds it; add what it should rest on or hang from"
    )]
    Falls {
        /// The body.
        body: String,
        /// Its acceleration [m/s^2].
        acceleration: f64,
        /// How far it has moved [m].
        way: f64,
    },
    /// The search ended elsewhere.
    #[error(
        "no pose of rest was found in {steps} steps: body \"{body}\" still accelerates at {acceleration:.6e} m/s^2 and {turning:.6e} rad/s^2. help: start nearer to rest, or let it settle with `tippe run` and damping"
    )]
    Moves {
        /// The body that accelerates most.
        body: String,
        /// Its acceleration [m/s^2].
        acceleration: f64,
        /// Its angular acceleration [rad/s^2].
        turning: f64,
        /// Steps made.
        steps: usize,
    },
    /// A component does not come to rest.
    #[error(
        "state \"{state}\" does not come to rest: its rate is {rate:.6e} per second. help: a state that counts on has no static value"
    )]
    Changes {
        /// The state.
        state: String,
        /// Its rate [1/s].
        rate: f64,
    },
    /// Grains have no one pose of rest.
    #[error(
        "grains have no one pose of rest: where they lie depends on how they came there. help: let them settle with `tippe run`"
    )]
    Grains,
    /// What soil bears depends on what pressed on it before.
    #[error(
        "a scene with soil has no pose of rest of its own: what soil bears depends on what pressed on it before. help: run it until it rests"
    )]
    Soil,
    /// The pose was found, but not what becomes of a push.
    #[error(transparent)]
    Linear(#[from] crate::linear::LinearizeError),
}

/// How far from rest a model is.
struct Unrest {
    /// Share of the reference acceleration [-].
    share: f64,
    /// [m/s^2]
    residual: f64,
    body: u32,
    acceleration: f64,
    turning: f64,
    /// The state that changes most, and its rate.
    state: Option<(usize, f64)>,
}

fn unrest(model: &Model, here: &Tangent, reference: f64) -> Unrest {
    let mut all = Unrest { share: 0.0, residual: 0.0, body: 0, acceleration: 0.0, turning: 0.0, state: None };
    for m in here.moving() {
        let (linear, angular) = (m.a.linear.length(), m.a.angular.length());
        let size = linear + angular * size_of(model, m.body);
        if size > all.residual || size.is_nan() {
            let size = if size.is_nan() { f64::INFINITY } else { size };
            (all.residual, all.body, all.acceleration, all.turning) = (size, m.body, linear, angular);
        }
    }
    all.share = if reference > 0.0 { all.residual / reference } else { 0.0 };
    let rates = here.rates();
    for k in 2 * here.freedom..rates.len() {
        let rate = rates[k].abs();
        if all.state.is_none_or(|(_, worst)| rate > worst) {
            all.state = Some((k, rate));
        }
        all.share = all.share.max(rate);
    }
    all
}

fn size_of(model: &Model, body: u32) -> f64 {
    model.bodies[body as usize].size.max(1e-9)
}

/// Finds the pose of rest that a model reaches from its start when every motion is damped away, at time 0.
pub fn equilibrium(model: &Model, search: &Search) -> Result<Equilibrium, NoEquilibrium> {
    if model.grains.is_some() {
        return Err(NoEquilibrium::Grains);
    }
    if model.soil.is_some() {
        return Err(NoEquilibrium::Soil);
    }
    let mut still = model.clone();
    for start in &mut still.start {
        (start.velocity, start.angular_velocity) = (Vec3::ZERO, Vec3::ZERO);
    }
    still.mechanism_starts.iter_mut().for_each(|start| start.u.fill(0.0));
    let model = &still;
    let mut here = Tangent::new(Whole::new(model), 0.0);
    here.stop();
    let begin = here.bodies();
    let gravity = here.moving().iter().map(|m| model.gravity_at(m.place()).length()).fold(0.0, f64::max);
    let first = unrest(model, &here, 1.0);
    let reference = if gravity > 0.0 { gravity } else { first.residual.max(FAINT) };
    let mut now = unrest(model, &here, reference);
    let mut way = FIRST_WAY;
    let mut tau = 1e-2;
    let mut steps = 0;
    while now.share > search.tolerance {
        let lost = lost(model, &here, &begin);
        if steps == search.steps && now.share < ROUNDING {
            break;
        }
        if steps == search.steps || lost.is_some() {
            return Err(failure(model, &here, &now, lost, steps));
        }
        if !step(model, &mut here, &now, reference, &mut way, &mut tau) {
            if now.share < ROUNDING {
                break;
            }
            return Err(failure(model, &here, &now, None, steps));
        }
        steps += 1;
        now = unrest(model, &here, reference);
    }
    let (bodies, signals) = (here.bodies(), here.signals());
    let states = here.states();
    let modes = linearize_here(&mut here)?.modes;
    Ok(Equilibrium { bodies, signals, states, stability: stability(&modes), modes, residual: now.residual, steps })
}

/// One step from where the model is; false, and it is still there, if none helps.
fn step(model: &Model, here: &mut Tangent, now: &Unrest, reference: f64, way: &mut f64, tau: &mut f64) -> bool {
    let f = here.freedom;
    let all = here.variables.len();
    let unknowns: Vec<usize> = (0..f).chain(2 * f..all).collect();
    let n = unknowns.len();
    let right: Vec<f64> = here.rates()[f..].to_vec();
    let from = here.moving();
    let mut J = vec![0.0; n * n];
    for (j, &column) in unknowns.iter().enumerate() {
        let Some((rates, _)) = here.column(column, &[]) else {
            here.displace(&vec![0.0; all]);
            return false;
        };
        for i in 0..n {
            J[i * n + j] = rates[f + i];
        }
    }
    *way = way.min(here.shallow());
    let mut slipped = 0;
    for _ in 0..ATTEMPTS {
        let mut matrix: Vec<f64> = J.iter().map(|x| -x).collect();
        (0..n).for_each(|i| matrix[i * n + i] += 1.0 / *tau);
        let mut change = right.clone();
        if !solve(&mut matrix, &mut change) {
            *tau *= 0.3;
            continue;
        }
        let mut full = vec![0.0; all];
        unknowns.iter().zip(&change).for_each(|(&k, c)| full[k] = *c);
        let mut gained = None;
        let mut whole_step = true;
        for _ in 0..2 {
            if !here.displace(&full) {
                break;
            }
            let (mean, first, linear, angular) = work(&from, &here.moving(), |b| size_of(model, b));
            let share = (*way / linear.max(1e-300)).min(way.min(LARGEST_TURN) / angular.max(1e-300));
            if share >= 1.0 {
                gained = Some((mean, first));
                break;
            }
            whole_step = false;
            full.iter_mut().for_each(|c| *c *= 0.9 * share);
        }
        if let Some((mean, first)) = gained {
            let next = unrest(model, here, reference);
            let careful = here.slips() && slipped < CAREFUL;
            slipped += usize::from(careful);
            let calmer = next.share < 0.9 * now.share && (first >= 0.0 || f < n);
            if !careful && next.share.is_finite() && (mean > 0.0 || calmer) {
                let ease = (now.share / next.share.max(1e-300)).clamp(1.5, 10.0);
                *tau = (*tau * if whole_step { ease } else { 1.5 }).min(LARGEST_TAU);
                *way = (2.0 * *way).min(LONGEST_WAY);
                here.accept();
                here.stop();
                return true;
            }
        }
        *tau *= 0.3;
        *way *= 0.3;
    }
    here.displace(&vec![0.0; all]);
    false
}

/// The body that went farthest, if it is lost: index and way [m].
fn lost(model: &Model, here: &Tangent, begin: &[BodyState]) -> Option<(u32, f64)> {
    let bodies = here.bodies();
    let largest = here.moving().iter().map(|m| size_of(model, m.body)).fold(0.0, f64::max);
    (here.moving().iter())
        .map(|m| (m.body, (bodies[m.body as usize].position - begin[m.body as usize].position).length()))
        .find(|(_, way)| *way > LOST * largest)
}

fn failure(model: &Model, here: &Tangent, now: &Unrest, lost: Option<(u32, f64)>, steps: usize) -> NoEquilibrium {
    let name = |body: u32| model.bodies[body as usize].name.clone();
    if let Some((body, way)) = lost {
        let acceleration = here.moving().iter().find(|m| m.body == body).map_or(0.0, |m| m.a.linear.length());
        return NoEquilibrium::Falls { body: name(body), acceleration, way };
    }
    match now.state {
        Some((k, rate)) if rate >= now.share => NoEquilibrium::Changes { state: here.variables[k].name.clone(), rate },
        _ => NoEquilibrium::Moves { body: name(now.body), acceleration: now.acceleration, turning: now.turning, steps },
    }
}

fn stability(modes: &[Eigenmode]) -> Stability {
    let size = |m: &Eigenmode| libm::hypot(m.real, m.imaginary);
    let small = NEUTRAL * modes.iter().map(size).fold(0.0, f64::max);
    if modes.iter().any(|m| m.real > small) {
        Stability::Unstable
    } else if modes.iter().any(|m| size(m) <= small) {
        Stability::Neutral
    } else {
        Stability::Stable
    }
}

/// The scene with its bodies at rest in this pose: start values of joints, poses of bodies that no joint holds, start values
/// of components. An error says what the scene format cannot express.
pub fn settled(scene: &Scene, model: &Model, pose: &Equilibrium) -> Result<Scene, String> {
    let mut scene = scene.clone();
    for (k, body) in model.bodies.iter().enumerate() {
        let written = &mut scene.bodies[k];
        (written.velocity, written.angular_velocity) = (Vec3::ZERO, Vec3::ZERO);
        if body.drive == crate::model::Drive::Free && body.mechanism.is_none() {
            (written.position, written.orientation) = (pose.bodies[k].position, pose.bodies[k].orientation);
        }
    }
    for (joint, written) in model.joints.iter().zip(&mut scene.joints) {
        if joint.joint.has_base() && matches!(joint.place, Some(crate::model::JointPlace::Link { .. })) {
            return Err(format!(
                "joint \"{}\" turns about three axes: its start cannot be written into a scene. help: use --json for the pose",
                joint.name
            ));
        }
        crate::joint::forget_starts(written);
    }
    for (signal, value) in model.signals.iter().zip(&pose.signals) {
        if let SignalSource::Coordinate { joint, coordinate } = signal.source {
            let written = &mut scene.joints[joint as usize];
            if let Some(coordinate) = written.kind.coordinates.get(coordinate as usize) {
                written.set(coordinate.name, *value);
            }
        }
    }
    for (name, value) in model.states.iter().map(|state| &state.name).zip(&pose.states) {
        for component in &mut scene.components {
            for (state, start) in &mut component.states {
                if *name == format!("{}.{state}", component.name) {
                    *start = *value;
                }
            }
        }
    }
    // what refers to the pose as written goes along with the bodies that moved
    let taken = Taken { model, pose };
    for (force, compiled) in scene.forces.iter_mut().zip(scene_forces(model)) {
        if let Some(spec) = element::force(force.kind.word) {
            (spec.rewrite)(force, compiled, &taken)?;
        }
    }
    Ok(scene)
}

/// The pose of rest, for what refers to the pose as written.
struct Taken<'a> {
    model: &'a Model,
    pose: &'a Equilibrium,
}

impl NewPose for Taken<'_> {
    fn point(&self, body: &str, p: Vec3) -> Vec3 {
        match self.model.body(body).filter(|_| self.moves(body)) {
            Some(k) => {
                let (old, new) = (&self.model.start[k], &self.pose.bodies[k]);
                new.position + new.orientation * (old.orientation.conjugate() * (p - old.position))
            }
            None => p,
        }
    }

    fn moves(&self, body: &str) -> bool {
        self.model.body(body).is_some_and(|k| self.model.bodies[k].mechanism.is_none())
    }
}

/// Force elements of the model that were written as `[[force]]`, in the order of the scene.
fn scene_forces(model: &Model) -> impl Iterator<Item = &Element> {
    model.elements.iter().map(|element| &element.kind).filter(|kind| kind.attached().coordinates.is_empty())
}
