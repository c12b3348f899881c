//! Grains of a scene ready to run: what puts them in place is in `grains/sets.rs`, what they touch in `grains/walls.rs`, their step and
//! checks in `grains/compile.rs`.

mod compile;
mod sets;
mod walls;

use super::{Drive, Model};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tippe_geometry::{Mat3, Pose, Vec3};
use tippe_granular::{
    ClumpMass, ClumpSphere, ClumpStart, Cohesion, Emitter, Grain, GrainError, Grains, HastyWall, Probe, Probed,
    RAYLEIGH_SHARE_MAX, Settings, Sink, Solid, Wall,
};

/// Losses are booked by cause up to this many grains, where nobody says otherwise.
const BOOKS_UP_TO: usize = 20_000;
/// Snapshots of a run where nobody says how far apart they are: at least, at most, and grains in all of them together.
const SNAPSHOTS: [f64; 2] = [10.0, 60.0];
const SHOWN: f64 = 1e6;
/// The step, where nobody says otherwise, as a share of the shortest Rayleigh time [-].
const RAYLEIGH_SHARE: f64 = 0.2;

/// The step where positions are corrected and nobody says otherwise [s].
const POSITION_STEP: f64 = 1.0 / 240.0;

/// Where cohesion balances elasticity at a depth above this share of the reduced radius, Hertz does not hold [-].
const DEEP: f64 = 0.1;
/// An emitter that owes more than this share of what was due has not kept its rate [-].
const MISSING: f64 = 0.01;

/// Grains ready to run.
#[derive(Clone, Debug)]
pub struct ModelGrains {
    /// Sets in the order of the scene: set k is class k.
    pub sets: Vec<GrainSet>,
    /// Where grains appear, as they are at the start.
    pub emitters: Vec<Emitter>,
    /// What soil becomes where tools cut it: set and radius [m].
    pub dug: Vec<(u8, f64)>,
    /// Where grains vanish, as they are at the start, and their names.
    pub sinks: Vec<(String, Sink)>,
    /// Where grains are measured, and their names.
    pub probes: Vec<(String, Probe)>,
    /// Single grains at the start, in the order of their ids.
    pub start: Arc<[Grain]>,
    /// Clumps at the start; the ids of their spheres come after those of single grains.
    pub clumps: Arc<[GrainClump]>,
    /// Bodies that press on grains as told.
    pub servos: Vec<GrainServo>,
    /// Materials and laws by class; the step is the scene's, or the default.
    pub settings: Settings,
    /// Stiffness of contacts where positions are corrected instead of forces integrated [N/m].
    pub position: Option<f64>,
    /// Memory they may take, those to come included [bytes].
    pub memory: usize,
    /// Losses are booked by cause.
    pub booked: bool,
    /// Shortest Rayleigh time [s].
    pub rayleigh: f64,
    /// What grains touch of the bodies.
    pub walls: Vec<GrainWall>,
    /// Time between snapshots of all grains, where the clock's settings say none [s].
    pub snapshot_interval: f64,
}

/// The grains of one `[[grains]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrainSet {
    /// Name in the scene.
    pub name: String,
}

/// What stands in place of a ball.
#[derive(Clone, Debug)]
pub enum GrainForm {
    /// Spheres of a clump and their mass.
    Clump(Vec<ClumpSphere>, ClumpMass),
    /// A convex polyhedron.
    Solid(Solid),
}

impl GrainForm {
    /// Mass and principal axes.
    pub fn mass(&self) -> &ClumpMass {
        match self {
            GrainForm::Clump(_, mass) | GrainForm::Solid(Solid { mass, .. }) => mass,
        }
    }
}

/// A rigid clump, or a polyhedron, as it is put in.
#[derive(Clone, Debug)]
pub struct GrainClump {
    /// What it is; those that are alike share it.
    pub form: Arc<GrainForm>,
    /// Set.
    pub class: u8,
    /// Pose of the frame its spheres are given in.
    pub X_wb: Pose,
    /// Velocity of its centre of mass, resolved in world [m/s].
    pub velocity: Vec3,
    /// Angular velocity, resolved in world [rad/s].
    pub spin: Vec3,
}

/// A body that moves along an axis with the speed
///   v = c speed e,   e = 1 - F/force, from -1 to 1,   F the force of the grains against the axis  (grains.md eq. 25).
/// Whenever e changes its sign the pace c, 1 at first, is halved: a bed that answers late would swing otherwise. It grows
/// again where the force is far off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrainServo {
    /// Index of the body.
    pub body: u32,
    /// Direction in which it presses, resolved in world [-].
    pub axis: Vec3,
    /// Force with which it presses [N].
    pub force: f64,
    /// Largest speed [m/s].
    pub speed: f64,
}

/// What a servo remembers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Share of its speed that it uses [-].
    pace: f64,
    /// Error of the last step [-].
    error: f64,
}

impl Default for Pace {
    fn default() -> Self {
        Pace { pace: 1.0, error: 1.0 }
    }
}

impl GrainServo {
    /// Smallest pace [-], error above which it grows [-], rate at which it grows [1/s].
    const SLOWEST: f64 = 1e-4;
    const FAR: f64 = 0.5;
    const GROWTH: f64 = 3.0;

    /// Its velocity in a step `h` while the grains do `load` to the body [m/s, s, N].
    pub fn velocity(&self, memory: &mut Pace, h: f64, load: Vec3) -> Vec3 {
        let error = (1.0 + self.axis.dot(load) / self.force).clamp(-1.0, 1.0);
        if error * memory.error < 0.0 {
            memory.pace = (0.5 * memory.pace).max(Self::SLOWEST);
        } else if error.abs() > Self::FAR {
            memory.pace = (memory.pace * (1.0 + h * Self::GROWTH)).min(1.0);
        }
        memory.error = error;
        self.axis * (memory.pace * self.speed * error)
    }
}

/// A shape of a body as grains meet it.
#[derive(Clone, Debug)]
pub struct GrainWall {
    /// Index of the body.
    pub body: u32,
    /// Pose of the wall in the body's frame c.
    pub X_cs: Pose,
    /// The wall where it is at the start, at rest.
    pub wall: Wall,
}

impl ModelGrains {
    /// Name of the first set, for messages about all grains.
    pub fn name(&self) -> String {
        self.sets.first().map_or_else(String::new, |set| set.name.clone())
    }

    /// The settings of a run with this step [s], or with the scene's.
    pub fn settings(&self, step: Option<f64>) -> Result<Settings, GrainError> {
        let settings = Settings { step: step.unwrap_or(self.settings.step), ..self.settings.clone() };
        settings.validate()?;
        let (g, radius) = (settings.gravity.length(), self.smallest());
        let fall = g * settings.step * settings.step;
        if self.position.is_some() && fall > radius {
            let try_step = 0.5 * (radius / g).sqrt();
            return Err(GrainError::Fall { step: settings.step, fall, radius, try_step });
        }
        let share = settings.step / self.rayleigh;
        if self.position.is_none() && (share.is_nan() || share > RAYLEIGH_SHARE_MAX) {
            let times = self.spheres().map(|(class, radius)| settings.rayleigh_time(class, radius)).enumerate();
            let shortest = times.min_by(|a, b| a.1.total_cmp(&b.1));
            return Err(GrainError::Step {
                step: settings.step,
                rayleigh: self.rayleigh,
                id: shortest.map_or(0, |(id, _)| id as u32),
                share,
                limit: RAYLEIGH_SHARE_MAX,
                try_step: RAYLEIGH_SHARE * self.rayleigh,
            });
        }
        Ok(settings)
    }

    /// Smallest radius of the grains at the start and of those to come [m].
    fn smallest(&self) -> f64 {
        self.spheres().chain(self.to_come()).map(|(_, radius)| radius).fold(f64::INFINITY, f64::min)
    }

    /// The set whose grains need the shortest step, at the start or to come.
    pub fn finest(&self) -> usize {
        let times =
            self.spheres().chain(self.to_come()).map(|(class, r)| (class, self.settings.rayleigh_time(class, r)));
        times.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(class, _)| usize::from(class))
    }

    /// The step where positions are corrected and nobody says otherwise [s]: shorter where fine grains would fall by more than
    /// their radius in it.
    fn position_step(&self) -> f64 {
        let (g, radius) = (self.settings.gravity.length(), self.smallest());
        if g * POSITION_STEP * POSITION_STEP > radius { 0.5 * (radius / g).sqrt() } else { POSITION_STEP }
    }

    /// The first class pair whose cohesion presses grains into each other deeper than `DEEP` of their reduced radius R, where it
    /// balances elasticity: classes, depth/R. With E* of the pair (grains.md eq. 27)
    ///   pressure p: 4/3 E* sqrt(R) d^1.5 = p pi R d          ->  d/R = (3 pi p/(4 E*))^2
    ///   adhesion w: a^3 = 9 pi w R^2/(2 E*), d = a^2/(3 R)   ->  d/R = (9 pi w/(2 E* R))^(2/3)/3
    fn too_cohesive(&self) -> Option<(usize, usize, f64)> {
        let n = self.settings.materials.len();
        let mut radii = vec![f64::INFINITY; n];
        for (class, radius) in self.spheres().chain(self.to_come()) {
            let least = &mut radii[usize::from(class)];
            *least = least.min(radius);
        }
        let mut pairs = (0..self.sets.len()).flat_map(|i| (i..n).map(move |k| (i, k)));
        pairs.find_map(|(i, k)| {
            let (m1, m2) = (&self.settings.materials[i], &self.settings.materials[k]);
            let modulus = tippe_scene::material::effective_modulus(
                m1.youngs_modulus,
                m1.poisson_ratio,
                m2.youngs_modulus,
                m2.poisson_ratio,
            );
            // that of a wall has no end
            let radius = 1.0 / (1.0 / radii[i] + 1.0 / radii[k]);
            let depth = match self.settings.pairs[i * n + k].cohesion {
                Cohesion::None => 0.0,
                Cohesion::Linear { pressure } => {
                    let share = 0.75 * std::f64::consts::PI * pressure / modulus;
                    share * share
                }
                Cohesion::Jkr { work } => {
                    let root = libm::cbrt(4.5 * std::f64::consts::PI * work / (modulus * radius));
                    root * root / 3.0
                }
            };
            (depth > DEEP).then_some((i, k, depth))
        })
    }

    /// What emitters that could not keep their rate have to say at the end of a run.
    pub fn starved(&self, emitters: &[Emitter]) -> Vec<String> {
        let mass = |emitter: &Emitter| {
            let (r, density) = (emitter.sizes.largest(), self.settings.materials[usize::from(emitter.class)].density);
            density * 4.0 / 3.0 * std::f64::consts::PI * r * r * r
        };
        let starved = |emitter: &&Emitter| {
            emitter.owed > mass(emitter) && emitter.owed > MISSING * (emitter.owed + emitter.emitted)
        };
        let say = |emitter: &Emitter| {
            let (name, due) = (&self.sets[usize::from(emitter.class)].name, emitter.owed + emitter.emitted);
            format!(
                "grains \"{name}\": the emitter gave {:.3e} kg of the {due:.3e} kg that were due, {:.0} % of its rate, as its box had no \
                 room. help: a larger box, a `velocity` that clears it, or a lower `rate`",
                emitter.emitted,
                100.0 * emitter.emitted / due
            )
        };
        emitters.iter().filter(starved).map(say).collect()
    }

    /// What to say of a wall that is too fast for its grains.
    pub fn describe_hasty(&self, model: &Model, hasty: &HastyWall) -> String {
        let HastyWall { wall, time, speed, radius, step } = hasty;
        let body = &model.bodies[self.walls[*wall].body as usize].name;
        format!(
            "body \"{body}\" moves at {speed:.3e} m/s from t = {time:.6e} s on, {:.3e} m in a step, more than the smallest radius \
             {radius:.3e} m: grains may pass through it. help: move it slower, or use a smaller step than {step:.3e} s",
            speed * step
        )
    }

    /// Sinks that have swallowed nothing yet.
    pub fn empty_sinks(&self) -> Vec<Sink> {
        self.sinks.iter().map(|(_, sink)| *sink).collect()
    }

    /// What all probes measure.
    pub fn probed(&self, grains: &Grains) -> Vec<Probed> {
        let no_stress = |probed: Probed| match self.position {
            // contacts of positions that are corrected keep no forces
            Some(_) => Probed { stress: Mat3::from_cols(Vec3::NAN, Vec3::NAN, Vec3::NAN), ..probed },
            None => probed,
        };
        self.probes.iter().map(|(_, probe)| no_stress(grains.probe(probe, &self.settings))).collect()
    }

    /// Class and smallest radius [m] of what emitters and tools put in later.
    fn to_come(&self) -> impl Iterator<Item = (u8, f64)> {
        let emitted = self.emitters.iter().map(|emitter| (emitter.class, emitter.sizes.smallest()));
        emitted.chain(self.dug.iter().copied())
    }

    /// Class and radius [m] of all spheres at the start, in the order of their ids; of polyhedra that of the ball inside.
    fn spheres(&self) -> impl Iterator<Item = (u8, f64)> {
        let single = self.start.iter().map(|grain| (grain.class, grain.radius));
        let of_clump = |clump: &'_ GrainClump| -> Vec<(u8, f64)> {
            match &*clump.form {
                GrainForm::Clump(spheres, _) => spheres.iter().map(|s| (clump.class, s.radius)).collect(),
                GrainForm::Solid(solid) => vec![(clump.class, solid.inner)],
            }
        };
        single.chain(self.clumps.iter().flat_map(of_clump))
    }

    /// True when some grains are polyhedra.
    pub fn has_solids(&self) -> bool {
        self.clumps.iter().any(|clump| matches!(*clump.form, GrainForm::Solid(_)))
    }

    /// All grains in place.
    pub fn grains(&self) -> Result<Grains, GrainError> {
        let mut grains = Grains::new();
        grains.reserve(self.start.len());
        for grain in self.start.iter() {
            grains.insert(grain, &self.settings)?;
        }
        for GrainClump { form, class, X_wb, velocity, spin } in self.clumps.iter() {
            let start = ClumpStart { class: *class, X_wb: *X_wb, velocity: *velocity, spin: *spin };
            match &**form {
                GrainForm::Clump(spheres, mass) => grains.insert_clump(spheres, mass, &start, &self.settings)?,
                GrainForm::Solid(solid) => grains.insert_solid(solid, &start, &self.settings)?,
            };
        }
        Ok(grains)
    }
}

impl GrainWall {
    /// True if the wall turns about another point than the origin of its frame.
    pub fn swings(&self, drive: &Drive) -> bool {
        match drive {
            Drive::Prescribed { angular_velocity, .. } => {
                *angular_velocity != Vec3::ZERO && self.X_cs.position != Vec3::ZERO
            }
            Drive::Free => true,
            Drive::Fixed => false,
        }
    }
}
