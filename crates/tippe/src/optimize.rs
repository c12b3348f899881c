//! Topology optimisation on a run: where the material of a flexible body is worth its weight while its scene moves.
//!
//!   min over shares of material x of  2 int U dt = int u^T K(x) u dt,   U the strain energy of the body over the run.
//! A round runs the scene with the body as it is, its modes computed anew, and takes the loads of that run as they are:
//!   f(t) = K(x_0) u(t) = sum_k q_k(t) K phi_k
//! (equivalent static loads: Choi, Park 2002), so that a design x bends by K(x)^-1 f(t). As the integral is quadratic in q it needs nothing of time
//! but C_kl = int q_k q_l dt: with w_k w_l C_kl = sum_j l_j v_j v_j^T the load cases
//!   F_j = sqrt(l_j) sum_k v_jk/w_k K phi_k   have   sum_j F_j^T K(x)^-1 F_j = 2 int U dt,
//! exactly at x_0, and for other x as long as the motion does not depend on x (that it does is left out; the next round runs with the new body).
//! The design then makes some steps under these loads ([`crate::flexible::topology`]). In a run, what is nearly empty has next to no mass: x below
//! 0.1 weighs 1e5 x^6 (Du, Olhoff 2007), else modes of emptiness would be the slowest ones.

use crate::clock::{Failure, Settings};
use crate::flexible::sparse::dense_eigen;
use crate::flexible::topology::{Filter, Topology, Wish};
use crate::flexible::{FlexibleError, Hold, contour};
use crate::geometry::{Solid, Vec3};
use crate::model::{FlexiblePart, Model};
use crate::scene::{
    Clock, Flexible, Optimize, Placing, Scene, SceneErrors, ShapeKind, ShapeSpec, SolidForm, SolidSpec, Touching,
};
use crate::{Observe, Progress, Sample, Simulation};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What is empty has this share of the stiffness [-].
const EMPTY: f64 = 1e-9;
/// Largest change of a variable in a step [-] (Sigmund 2001).
const LIMIT: f64 = 0.2;
/// Load cases at most, and the share of the energy they may leave out [-].
const CASES: usize = 12;
/// See `CASES`.
const LEFT_OUT: f64 = 1e-4;
/// The body has settled where the energy of its run changes by less [-].
const SETTLED: f64 = 0.01;
/// Rounds before the first that tells full from empty.
const SOFT_ROUNDS: usize = 3;

/// Why a body cannot be optimised.
#[derive(Debug, thiserror::Error)]
pub enum OptimizeError {
    /// The scene does not say what.
    #[error("{0}")]
    Scene(String),
    /// The scene with the changed body does not compile.
    #[error(transparent)]
    Compile(#[from] SceneErrors),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] Failure),
    /// Mesh, design or shape.
    #[error("body \"{body}\": {error}")]
    Body {
        /// The body.
        body: String,
        /// What is wrong with it.
        error: FlexibleError,
    },
}

/// One round: a run and the steps after it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Integral of the strain energy over the run with the body before the steps [J s].
    pub energy: f64,
    /// Largest von Mises stress of that run [Pa].
    pub stress: f64,
    /// sum_j F_j^T K^-1 F_j before the first step and before the last one [J s].
    pub compliance: [f64; 2],
    /// Load cases.
    pub cases: usize,
    /// Largest change of a variable in the last step [-].
    pub change: f64,
    /// Share of the volume that is full after the steps [-].
    pub volume: f64,
    /// How sharply full was told from empty [-].
    pub sharpness: f64,
}

/// What goes on from round to round: everything needed to resume.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Design {
    /// Variables by element.
    pub variables: Vec<f64>,
    /// Rounds so far.
    pub rounds: Vec<Round>,
}

/// What of a run of the body is looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Operation {
    /// When [s].
    pub times: Vec<f64>,
    /// Amplitudes of the modes then [m kg^0.5].
    pub amplitudes: Vec<Vec<f64>>,
    /// Strain energy then [J].
    pub energy: Vec<f64>,
    /// Largest von Mises stress then [Pa].
    pub stress: Vec<f64>,
}

impl Operation {
    /// Integral of the strain energy [J s].
    pub fn energy_time(&self) -> f64 {
        self.integral(|k| self.energy[k])
    }

    /// Largest stress [Pa].
    pub fn peak(&self) -> f64 {
        self.stress.iter().copied().fold(0.0, f64::max)
    }

    fn integral(&self, value: impl Fn(usize) -> f64) -> f64 {
        (1..self.times.len()).map(|k| 0.5 * (value(k) + value(k - 1)) * (self.times[k] - self.times[k - 1])).sum()
    }
}

/// A body on its way to a better shape.
pub struct Optimizer {
    scene: Scene,
    clock: Clock,
    wish: Optimize,
    part: FlexiblePart,
    topology: Topology,
    /// What goes on from round to round.
    pub design: Design,
}

impl Optimizer {
    /// For the `[optimize]` of a scene, run by a clock.
    pub fn new(scene: &Scene, clock: Clock) -> Result<Optimizer, OptimizeError> {
        let missing = || {
            OptimizeError::Scene(
                "it says nothing of what to optimise. help: add [optimize] with body = \"NAME\" and volume = 0.5"
                    .to_owned(),
            )
        };
        let wish = scene.optimize.clone().ok_or_else(missing)?;
        let wrong = |error| OptimizeError::Body { body: wish.body.clone(), error };
        let part = FlexiblePart::of(scene, &wish.body).map_err(wrong)?;
        let structure = &part.structure;
        let cells = structure.cells();
        let held: Vec<Vec3> = part.nodes.iter().flatten().map(|n| structure.mesh.nodes[*n as usize]).collect();
        let flat = structure.mesh.kind.dimension() == 2;
        let kept = cells.iter().map(|cell| {
            let near = held.iter().any(|p| (*p - cell.centre).length() <= wish.rim);
            let inside = |[low, high]: &[Vec3; 2]| {
                let (p, axes) = (cell.centre, if flat { 2 } else { 3 });
                (0..axes).all(|c| p[c] >= low[c] && p[c] <= high[c])
            };
            near || wish.keep.iter().any(inside)
        });
        let kept: Vec<bool> = kept.collect();
        let of = Wish {
            volume: wish.volume,
            radius: wish.filter,
            filter: Filter::Density,
            power: wish.power,
            least: EMPTY,
            limit: LIMIT,
        };
        let topology = Topology::new(cells, structure.n, &structure.support(), kept, of).map_err(wrong)?;
        let design = Design { variables: topology.start(), rounds: Vec::new() };
        Ok(Optimizer { scene: scene.clone(), clock, wish, part, topology, design })
    }

    /// Goes on from another's design, of the same mesh.
    pub fn resume(&mut self, design: Design) -> Result<(), OptimizeError> {
        let (own, other) = (self.design.variables.len(), design.variables.len());
        if own != other {
            let text = format!(
                "the design has {other} elements and the body {own}. help: it is of another mesh; start anew, in another folder"
            );
            return Err(OptimizeError::Scene(text));
        }
        self.design = design;
        Ok(())
    }

    /// The body.
    pub fn part(&self) -> &FlexiblePart {
        &self.part
    }

    /// True when the energy of the runs has settled at the last sharpness, or all rounds are made.
    pub fn is_done(&self) -> bool {
        let rounds = &self.design.rounds;
        let settled = match rounds.as_slice() {
            [.., a, b] => {
                a.sharpness == self.wish.sharpness
                    && b.sharpness == self.wish.sharpness
                    && (b.energy - a.energy).abs() < SETTLED * a.energy
            }
            _ => false,
        };
        settled || rounds.len() >= self.wish.rounds as usize
    }

    /// Sharpness of a round: none at first, then twice as much each.
    fn sharpness(&self, round: usize) -> f64 {
        match round.checked_sub(SOFT_ROUNDS) {
            None => 0.0,
            Some(k) => self.wish.sharpness.min(2.0 * (1_u64 << k.min(30)) as f64),
        }
    }

    /// Shares of material of the present design by element.
    pub fn shares(&self) -> Vec<f64> {
        let last = self.design.rounds.last().map_or(0.0, |round| round.sharpness);
        self.topology.shares(&self.design.variables, last)
    }

    /// One round; none where `go_on` said no during its run.
    pub fn round(&mut self, go_on: &mut dyn FnMut(&Progress) -> bool) -> Result<Option<Round>, OptimizeError> {
        let shares: Vec<[f64; 2]> = self.shares().iter().map(|x| self.factors(*x)).collect();
        let shares = Arc::new(shares);
        let mut scene = self.scene.clone();
        self.flexible_of(&mut scene)?.shares = Some(shares.clone());
        let model = Arc::new(Model::compile_for(&scene, self.clock)?);
        let Some(operation) = operate(&scene, &model, self.clock, &self.wish.body, go_on)? else { return Ok(None) };
        let loads = self.loads(&model, shares, &operation)?;
        let b = self.sharpness(self.design.rounds.len());
        let wrong = |error| OptimizeError::Body { body: self.wish.body.clone(), error };
        let mut compliance = [0.0; 2];
        let (mut change, mut volume) = (0.0, 0.0);
        for k in 0..self.wish.steps {
            let step = self.topology.step(&mut self.design.variables, b, &loads).map_err(wrong)?;
            compliance[1] = step.compliance;
            if k == 0 {
                compliance[0] = step.compliance;
            }
            (change, volume) = (step.change, step.volume);
        }
        let (energy, stress) = (operation.energy_time(), operation.peak());
        let round = Round { energy, stress, compliance, cases: loads.len(), change, volume, sharpness: b };
        self.design.rounds.push(round);
        Ok(Some(round))
    }

    /// Factors of stiffness and mass of a share of material in a run.
    fn factors(&self, x: f64) -> [f64; 2] {
        let mass = if x < 0.1 { 1e5 * libm::pow(x, 6.0) } else { x };
        [EMPTY + libm::pow(x, self.wish.power) * (1.0 - EMPTY), mass]
    }

    fn flexible_of<'a>(&self, scene: &'a mut Scene) -> Result<&'a mut Flexible, OptimizeError> {
        let own = scene.bodies.iter_mut().find(|body| body.name == self.wish.body);
        own.and_then(|body| body.flexible.as_mut())
            .ok_or_else(|| OptimizeError::Scene(format!("\"{}\" is no flexible body", self.wish.body)))
    }

    /// F_j.
    fn loads(
        &self,
        model: &Model,
        shares: Arc<Vec<[f64; 2]>>,
        operation: &Operation,
    ) -> Result<Vec<Vec<f64>>, OptimizeError> {
        let body = model.bodies.iter().find(|body| body.name == self.wish.body);
        let Some(reduced) = body.and_then(|body| body.flexible.as_ref()) else { return Ok(Vec::new()) };
        let m = reduced.modes();
        let w: Vec<f64> = reduced.stiffness.iter().map(|s| s.max(0.0).sqrt()).collect();
        let mut C = vec![0.0; m * m];
        for k in 0..m {
            for l in 0..m {
                let q = &operation.amplitudes;
                C[k * m + l] = w[k] * w[l] * operation.integral(|t| q[t][k] * q[t][l]);
            }
        }
        let (values, vectors) = dense_eigen(&C, m);
        let all: f64 = values.iter().sum();
        if all.is_nan() || all <= 0.0 {
            let text =
                format!("body \"{}\" does not bend in the run: there is nothing to optimise for", self.wish.body);
            return Err(OptimizeError::Scene(text));
        }
        let mut structure = self.part.structure.clone();
        structure.shares = Some(shares);
        let (K, _) = structure.matrices();
        let n = reduced.nodes.len();
        let rigid: Vec<_> =
            self.part.interfaces.iter().zip(&reduced.held).filter(|(i, _)| i.hold == Hold::Rigid).collect();
        let mut loads = Vec::new();
        let mut covered = 0.0;
        for j in (0..m).rev().take(CASES) {
            if covered >= (1.0 - LEFT_OUT) * all {
                break;
            }
            covered += values[j];
            let factor = |k: usize| values[j].max(0.0).sqrt() * vectors[j][k] / w[k];
            let mut u = vec![Vec3::ZERO; n];
            let mut sets = vec![(Vec3::ZERO, Vec3::ZERO); rigid.len()];
            for k in 0..m {
                u.iter_mut().zip(&reduced.shapes[k * n..]).for_each(|(u, phi)| *u += *phi * factor(k));
                for ((shift, turn), (_, held)) in sets.iter_mut().zip(&rigid) {
                    *shift += held.shift[k] * factor(k);
                    *turn += held.turn[k] * factor(k);
                }
            }
            let x = structure.unknowns_of(&u, &sets);
            let mut f = vec![0.0; structure.n];
            K.times(&x, &mut f);
            loads.push(f);
        }
        Ok(loads)
    }

    /// The scene with the shape of the present design in the place of the body's: outlines, or a closed surface.
    pub fn shaped(&self) -> Result<Scene, OptimizeError> {
        let wrong = |error| OptimizeError::Body { body: self.wish.body.clone(), error };
        let mesh = &self.part.structure.mesh;
        let solid = match mesh.kind.dimension() {
            2 => {
                let mut loops = contour::outlines(mesh, &self.shares(), self.wish.volume).map_err(wrong)?;
                let outline = loops.remove(0);
                Solid::Prism { outline, holes: loops, length: self.part.structure.thickness }
            }
            _ => Solid::Mesh(contour::surface(mesh, &self.shares(), self.wish.volume).map_err(wrong)?),
        };
        let bad =
            |error: &dyn std::fmt::Display| wrong(FlexibleError::Mesh(format!("the shape of its design: {error}")));
        let made = Arc::new(solid.mesh().map_err(|error| bad(&error))?);
        let name = format!("{}_shape", self.wish.body);
        let mut scene = self.scene.clone();
        scene.optimize = None;
        scene.expects.clear();
        let Some(body) = scene.bodies.iter_mut().find(|body| body.name == self.wish.body) else { return Ok(scene) };
        let kind = ShapeKind::Mesh { mesh: made.clone(), solid: Some(name.clone()), touches: Touching::Mesh };
        let old = body.shapes.first().cloned().unwrap_or_default();
        body.shapes =
            vec![ShapeSpec { kind, position: Vec3::ZERO, orientation: crate::geometry::Quat::IDENTITY, ..old }];
        if let Some(flexible) = &mut body.flexible {
            flexible.file = None;
            flexible.size.get_or_insert(0.5 * self.wish.filter);
        }
        let places = body.places.clone();
        scene.solids.push(SolidSpec {
            name,
            form: SolidForm::Simple(solid),
            placing: Placing::HOME,
            mesh: made,
            places,
        });
        Ok(scene)
    }

    /// The scene with the body as it was, plane and thinner, as heavy as the design; none of a solid body.
    pub fn thinner(&self) -> Result<Option<Scene>, OptimizeError> {
        if self.part.structure.mesh.kind.dimension() == 3 {
            return Ok(None);
        }
        let mut scene = self.scene.clone();
        self.flexible_of(&mut scene)?.thickness = Some(self.wish.volume * self.part.structure.thickness);
        Ok(Some(scene))
    }

    /// Runs a scene that has the body.
    pub fn operate(
        &self,
        scene: &Scene,
        go_on: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Option<Operation>, OptimizeError> {
        let model = Arc::new(Model::compile_for(scene, self.clock)?);
        operate(scene, &model, self.clock, &self.wish.body, go_on)
    }
}

/// Looks at the signals of one body.
struct Watch<'a> {
    /// Strain energy, stress, first mode.
    signals: [usize; 3],
    modes: usize,
    seen: Operation,
    stopped: bool,
    go_on: &'a mut dyn FnMut(&Progress) -> bool,
}

impl Observe for Watch<'_> {
    fn sample(&mut self, sample: &Sample<'_>) {
        let [energy, stress, first] = self.signals;
        self.seen.times.push(sample.time);
        self.seen.energy.push(sample.signals[energy]);
        self.seen.stress.push(sample.signals[stress]);
        self.seen.amplitudes.push(sample.signals[first..first + self.modes].to_vec());
    }

    fn progress(&mut self, progress: &Progress) -> bool {
        self.stopped = !(self.go_on)(progress);
        !self.stopped
    }
}

fn operate(
    scene: &Scene,
    model: &Arc<Model>,
    clock: Clock,
    body: &str,
    go_on: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Option<Operation>, OptimizeError> {
    let find = |name: &str| {
        let name = format!("{body}.{name}");
        let at = model.signals.iter().position(|signal| signal.name == name);
        at.ok_or_else(|| OptimizeError::Scene(format!("this clock does not know {name}. help: --clock precise")))
    };
    let signals = [find("strain_energy")?, find("stress.max")?, find("mode_1")?];
    let own = model.bodies.iter().find(|own| own.name == body).and_then(|own| own.flexible.as_ref());
    let modes = own.map_or(0, |reduced| reduced.modes());
    let mut watch = Watch { signals, modes, seen: Operation::default(), stopped: false, go_on };
    let mut simulation = Simulation::new(model.clone(), Settings::from_scene(scene, clock));
    simulation.end = scene.run.until;
    simulation.advance(scene.run.until, &mut watch)?;
    Ok((!watch.stopped).then_some(watch.seen))
}
