//! Grains of a scene made ready: all of them in place, classes of materials, laws of pairs of classes, bodies as walls.

use super::compile::Compiler;
use super::grain_measures::{GrainMeasure, ProbeMeasure, SinkMeasure};
use super::{Drive, Model, ModelSignal, SignalSource};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tippe_geometry::{Mat3, Pose, Quat, Shape, Vec3};
use tippe_granular::{
    ClumpMass, ClumpSphere, ClumpStart, Cohesion, Domain, Emitter, Grain, GrainError, Grains, HastyWall, Material,
    PairLaw, Probe, Probed, RAYLEIGH_SHARE_MAX, Random, Rolling, Settings, Sink, Surface, Wall, WallMesh,
};
use tippe_scene::text::plain;
use tippe_scene::{Between, Clock, ClumpSpec, GrainMethod, GrainsSpec, Packing, Place, Scene};

/// Losses are booked by cause up to this many grains, where nobody says otherwise.
const BOOKS_UP_TO: usize = 20_000;
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

/// A rigid clump as it is put in.
#[derive(Clone, Debug)]
pub struct GrainClump {
    /// Its spheres and their mass; clumps that are alike share them.
    pub form: Arc<(Vec<ClumpSphere>, ClumpMass)>,
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

/// What keeps the box of an emitter from the world of the grains, and what to try.
fn misplaced(emitter: &Emitter, world: &Domain) -> Option<(String, &'static str)> {
    for (k, axis) in ["x", "y", "z"].into_iter().enumerate() {
        let (low, high) = (emitter.low[k], emitter.high[k]);
        if low < world.low[k] || high > world.high[k] {
            let (from, to) = (world.low[k], world.high[k]);
            let what = format!(
                "its emitter reaches from {axis} = {low} to {high} m, outside of the world from {from} to {to} m"
            );
            return Some((what, "move its box, or widen `low` and `high` of [granular]"));
        }
    }
    misfit(&Grain::at(emitter.low, emitter.sizes.largest()), world)
}

/// What keeps a grain from its world, and what to try.
fn misfit(grain: &Grain, world: &Domain) -> Option<(String, &'static str)> {
    for (k, axis) in ["x", "y", "z"].into_iter().enumerate() {
        let (low, high, at) = (world.low[k], world.high[k], grain.position[k]);
        if world.periodic[k] && high - low < 4.0 * grain.radius {
            let what = format!(
                "the world repeats after {} m along {axis}, but a grain has a radius of {} m",
                high - low,
                grain.radius
            );
            return Some((
                what,
                "a period of two diameters or more: closer, a grain would touch itself or another twice",
            ));
        }
        if at < low || at > high {
            let what = format!("a grain is at {axis} = {at} m, outside of the world from {low} to {high} m");
            return Some((what, "move it, or widen `low` and `high` of [granular]"));
        }
    }
    None
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
        let to_come = self.emitters.iter().map(|emitter| emitter.sizes.smallest());
        self.spheres().map(|(_, radius)| radius).chain(to_come).fold(f64::INFINITY, f64::min)
    }

    /// The set whose grains need the shortest step, at the start or to come.
    pub fn finest(&self) -> usize {
        let to_come = self.emitters.iter().map(|emitter| (emitter.class, emitter.sizes.smallest()));
        let times = self.spheres().chain(to_come).map(|(class, r)| (class, self.settings.rayleigh_time(class, r)));
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
        let to_come = self.emitters.iter().map(|emitter| (emitter.class, emitter.sizes.smallest()));
        for (class, radius) in self.spheres().chain(to_come) {
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

    /// Class and radius [m] of all spheres at the start, in the order of their ids.
    fn spheres(&self) -> impl Iterator<Item = (u8, f64)> {
        let single = self.start.iter().map(|grain| (grain.class, grain.radius));
        single.chain(self.clumps.iter().flat_map(|clump| clump.form.0.iter().map(|s| (clump.class, s.radius))))
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
            grains.insert_clump(&form.0, &form.1, &start, &self.settings)?;
        }
        Ok(grains)
    }
}

impl Compiler<'_> {
    /// Grains, their laws, and the bodies as they meet them.
    pub(super) fn grains(&mut self, model: &mut Model) {
        let specs = &self.scene.grains;
        if specs.is_empty() {
            let help = "add [[grains]] with name, material, packing and radius, or use another clock";
            self.fail(
                self.scene.places.of("grains"),
                "the granular clock moves grains, and the scene has none".into(),
                help,
            );
            return;
        }
        if let Err(error) = self.scene.check_memory() {
            self.fail(specs[0].places.entity, error.to_string(), "");
            return;
        }
        let mut classes: Vec<(String, Material)> = Vec::new();
        let (mut sets, mut emitters) = (Vec::new(), Vec::new());
        let (mut start, mut clumps): (Vec<Grain>, Vec<GrainClump>) = (Vec::new(), Vec::new());
        let mut count = 0;
        for spec in specs {
            let class = classes.len() as u8;
            let Some(material) = self.grain_material(&spec.material, spec.places.of("material")) else { return };
            classes.push((spec.material.clone(), material));
            let own = match spec.grains() {
                Ok(own) => own,
                Err((what, help)) => {
                    self.fail(spec.places.entity, format!("grains \"{}\": {what}", spec.name), help);
                    return;
                }
            };
            if own.is_empty() && !matches!(spec.packing, Packing::Emitter { .. }) {
                let message = format!("grains \"{}\" has none", spec.name);
                self.fail(spec.places.entity, message, "list spheres, or leave the set away");
                return;
            }
            let misfit =
                self.scene.granular.domain.as_ref().and_then(|world| own.iter().find_map(|g| misfit(g, world)));
            if let Some((what, help)) = misfit {
                self.fail(spec.places.entity, format!("grains \"{}\": {what}", spec.name), help);
                return;
            }
            if let Packing::Emitter { region, rate } = &spec.packing {
                let emitter = Emitter {
                    low: region.low,
                    high: region.high,
                    velocity: spec.velocity,
                    sizes: region.sizes.clone(),
                    class,
                    rate: *rate,
                    owed: 0.0,
                    random: Random { seed: region.seed },
                    emitted: 0.0,
                };
                let misplaced = self.scene.granular.domain.as_ref().and_then(|world| misplaced(&emitter, world));
                if let Some((what, help)) = misplaced {
                    self.fail(spec.places.of("low"), format!("grains \"{}\": {what}", spec.name), help);
                    return;
                }
                emitters.push(emitter);
            }
            count += own.len() * spec.clump.as_ref().map_or(1, |clump| clump.spheres.len());
            if count > tippe_scene::MOST_GRAINS {
                let message = format!("the scene has more than {} grains", tippe_scene::MOST_GRAINS);
                self.fail(spec.places.entity, message, "fewer or larger grains");
                return;
            }
            match &spec.clump {
                None => start.extend(own.into_iter().map(|grain| Grain { class, ..grain })),
                Some(clump) => clumps.extend(clumps_of(clump, &own, class, material.density)),
            }
            sets.push(GrainSet { name: spec.name.clone() });
        }
        let Some(walls) = self.walls(model, &mut classes) else { return };
        if classes.len() > 200 {
            let message = format!("grains and bodies have {} materials and sets, more than 200", classes.len());
            self.fail(specs[0].places.entity, message, "put grains that are alike into one set");
            return;
        }
        let Some(pairs) = self.grain_laws(&classes) else { return };
        let settings = Settings {
            step: 1.0,
            gravity: model.gravity,
            materials: classes.iter().map(|(_, material)| *material).collect(),
            pairs,
            domain: self.scene.granular.domain,
            skin: None,
            ledger: self.scene.granular.books.unwrap_or(count <= BOOKS_UP_TO),
        };
        let snapshot_interval = self.scene.granular.snapshot_interval.unwrap_or(0.1 * self.scene.run.until);
        let sinks = self.scene.sinks.iter().map(|s| (s.name.clone(), Sink::new(s.low, s.high, s.smoothing)));
        if let Some((place, what)) = self.beyond_a_period() {
            self.fail(place, what, "a probe in a world that repeats lies inside of it");
            return;
        }
        let probes = self.scene.probes.iter().map(|p| (p.name.clone(), Probe { low: p.low, high: p.high }));
        let servo = |(b, body): (usize, &tippe_scene::Body)| {
            body.servo.map(|s| GrainServo { body: b as u32, axis: s.axis, force: s.force, speed: s.speed })
        };
        let mut grains = ModelGrains {
            sets,
            emitters,
            sinks: sinks.collect(),
            probes: probes.collect(),
            start: start.into(),
            clumps: clumps.into(),
            servos: self.scene.bodies.iter().enumerate().filter_map(servo).collect(),
            settings,
            position: None,
            memory: self.scene.memory_of_grains(),
            booked: false,
            rayleigh: 0.0,
            walls,
            snapshot_interval,
        };
        let to_come = grains.emitters.iter().map(|emitter| (emitter.class, emitter.sizes.smallest()));
        let times = grains.spheres().chain(to_come).map(|(class, r)| grains.settings.rayleigh_time(class, r));
        grains.rayleigh = times.fold(f64::INFINITY, f64::min);
        let rayleigh = grains.rayleigh;
        if let GrainMethod::Position { stiffness } = self.scene.granular.method {
            if let Some(set) = specs.iter().find(|set| set.clump.is_some()) {
                let message =
                    format!("grains \"{}\" are clumps, and positions of balls alone can be corrected", set.name);
                self.fail(set.places.of("clump"), message, "[granular] method = \"force\"");
                return;
            }
            let of = |(class, radius): (u8, f64)| grains.settings.materials[usize::from(class)].youngs_modulus * radius;
            let to_come = grains.emitters.iter().map(|emitter| (emitter.class, emitter.sizes.largest()));
            grains.position = Some(stiffness.unwrap_or(grains.spheres().chain(to_come).map(of).fold(0.0, f64::max)));
        }
        let default = if grains.position.is_some() { grains.position_step() } else { RAYLEIGH_SHARE * rayleigh };
        let step = self.scene.granular.step.unwrap_or(default);
        grains.settings.step = step;
        let place = match self.scene.granular.step {
            Some(_) => self.scene.granular.places.of("step"),
            None => specs[0].places.entity,
        };
        if let Err(error) = grains.settings(None) {
            self.fail(place, format!("grains: {error}"), "");
            return;
        }
        if grains.position.is_none()
            && let Some((first, second, depth)) = grains.too_cohesive()
        {
            self.refuse_cohesion(&classes, [first, second], depth);
            return;
        }
        if let Err(error) = grains.grains().and_then(|mut balls| self.check_packing(model, &grains, &mut balls)) {
            self.fail(specs[0].places.entity, error.to_string(), "");
        }
        if !self.errors.is_empty() {
            return;
        }
        if grains.position.is_some() {
            self.warnings.push(
                "grains: positions are corrected: balls do not turn, do not bounce, and their losses are not booked"
                    .to_owned(),
            );
        }
        // laws with more than Hertz, Mindlin and Coulomb are booked in any case
        let bare = |law: &PairLaw| law.rolling == Rolling::None && law.cohesion == Cohesion::None;
        grains.booked =
            grains.position.is_none() && (grains.settings.ledger || !grains.settings.pairs.iter().all(bare));
        if grains.position.is_none() && !grains.booked {
            let message = "grains: losses are not booked by cause, so that the residual of the energy is what was lost";
            self.warnings.push(format!("{message}; [granular] books = true books them"));
        }
        if self.clock == Clock::Realtime {
            self.warn_of_delay(model, &grains);
        }
        for (k, set) in grains.sets.iter().enumerate() {
            for measure in GrainMeasure::ALL {
                let (name, unit) = measure.name_and_unit();
                let source = SignalSource::Grains { set: k as u32, measure };
                model.signals.push(ModelSignal { name: format!("{}.{name}", set.name), unit: unit.into(), source });
            }
        }
        for (k, (name, _)) in grains.sinks.iter().enumerate() {
            for (measure, what, unit) in SinkMeasure::ALL {
                let source = SignalSource::Sink { sink: k as u32, measure };
                model.signals.push(ModelSignal { name: format!("{name}.{what}"), unit: unit.into(), source });
            }
        }
        for (k, (name, _)) in grains.probes.iter().enumerate() {
            if grains.position.is_some() {
                let message = format!("probe \"{name}\": positions are corrected without forces");
                self.warnings.push(format!("{message}: its stress is not a number"));
            }
            for (measure, what, unit) in ProbeMeasure::ALL {
                let source = SignalSource::Probe { probe: k as u32, measure };
                model.signals.push(ModelSignal { name: format!("{name}.{what}"), unit: unit.into(), source });
            }
        }
        for (b, body) in model.bodies.iter().enumerate().filter(|(_, body)| !body.colliders.is_empty()) {
            for (component, axis) in ["x", "y", "z", "x", "y", "z"].into_iter().enumerate() {
                let (what, unit) = if component < 3 { ("grain_force", "N") } else { ("grain_torque", "N m") };
                let source = SignalSource::GrainLoad { body: b as u32, component: component as u32 };
                model.signals.push(ModelSignal {
                    name: format!("{}.{what}.{axis}", body.name),
                    unit: unit.into(),
                    source,
                });
            }
        }
        self.warn_of_images(model, &grains);
        model.grains = Some(grains);
    }

    /// Place and name of a probe that would see grains of a periodic world twice.
    fn beyond_a_period(&self) -> Option<(Place, String)> {
        let world = self.scene.granular.domain?;
        self.scene.probes.iter().find_map(|probe| {
            let over = |k: &usize| probe.low[*k] < world.low[*k] || probe.high[*k] > world.high[*k];
            let k = (0..3).filter(|k| world.periodic[*k]).find(over)?;
            let (axis, low, high) = (["x", "y", "z"][k], world.low[k], world.high[k]);
            let what = format!(
                "probe \"{}\" reaches from {axis} = {} to {} m, over the sides of the grains' world from {low} to {high} m, which repeats",
                probe.name, probe.low[k], probe.high[k]
            );
            Some((probe.places.of("low"), what))
        })
    }

    /// Bodies have no images in a periodic world: one that reaches over one side is not there on the other.
    fn warn_of_images(&mut self, model: &Model, grains: &ModelGrains) {
        let Some(world) = grains.settings.domain else { return };
        for element in &model.colliders {
            let b = element.body as usize;
            let bounds = element.aabb(&Pose::new(model.start[b].orientation, model.standing(element.body).p));
            for (k, axis) in ["x", "y", "z"].into_iter().enumerate().filter(|(k, _)| world.periodic[*k]) {
                let (low, high) = (world.low[k], world.high[k]);
                let over = |side: f64| bounds.min[k] < side && bounds.max[k] > side;
                if over(low) != over(high) {
                    let side = if over(low) { low } else { high };
                    self.warnings.push(format!(
                        "body \"{}\" reaches over the side {axis} = {side} m of the grains' world, which repeats: it does not come in on the other side. \
                         help: keep it inside, or let it reach over both",
                        model.bodies[b].name
                    ));
                }
            }
        }
    }

    /// Cohesion that presses grains into each other to this depth, as a share of their reduced radius.
    fn refuse_cohesion(&mut self, classes: &[(String, Material)], [first, second]: [usize; 2], depth: f64) {
        let scene = self.scene;
        let spec = &scene.grains[first];
        let other = match scene.grains.get(second) {
            Some(_) if second == first => "each other".to_owned(),
            Some(set) => format!("grains \"{}\"", set.name),
            None => format!("walls of \"{}\"", classes[second].0),
        };
        let (key, what) = match spec.cohesion {
            Cohesion::Jkr { work } => ("adhesion", format!("adhesion of {work:.3e} J/m2")),
            Cohesion::Linear { pressure } => ("cohesion", format!("cohesion of {pressure:.3e} Pa")),
            Cohesion::None => return,
        };
        let message = format!(
            "grains \"{}\": {what} presses them {depth:.3e} of the reduced radius deep into {other}, where the law of contact holds to {DEEP}",
            spec.name
        );
        self.fail(spec.places.of(key), message, "a smaller one, or stiffer grains (`young`)");
    }

    /// Grains that start deep in walls, or in each other, are named with their sets.
    fn check_packing(&mut self, model: &Model, own: &ModelGrains, balls: &mut Grains) -> Result<(), GrainError> {
        let scene = self.scene;
        let walls: Vec<Wall> = own.walls.iter().map(|own| own.wall.clone()).collect();
        let checked = balls.check_packing(&own.settings, &walls);
        let find = |id: u32| {
            let place = balls.ids().iter().position(|other| *other == id).unwrap_or(0);
            let grain = balls.grain(place);
            (grain, &scene.grains[usize::from(grain.class).min(scene.grains.len() - 1)])
        };
        match checked {
            Err(GrainError::InWall { id, wall, depth, .. }) => {
                let (grain, spec) = find(id);
                let body = &model.bodies[own.walls[wall].body as usize].name;
                let message = format!(
                    "grains \"{}\": grain {id} starts {depth:.3e} m deep in body \"{body}\", {:.2} of its radius; at most 0.5 is possible",
                    spec.name,
                    depth / grain.radius
                );
                self.fail(spec.places.entity, message, "start the grains outside of the walls");
            }
            Err(GrainError::Overlap { id1, id2, depth, .. }) => {
                // the later one is the one to move
                let (id1, id2) = (id1.min(id2), id1.max(id2));
                let ((one, first), (other, second)) = (find(id1), find(id2));
                let of = if first.name == second.name { String::new() } else { format!(" of \"{}\"", first.name) };
                let message = format!(
                    "grains \"{}\": grain {id2} starts {depth:.3e} m deep in grain {id1}{of}, {:.2} of the smaller radius {:.3e} m; at most \
                     0.5 is possible",
                    second.name,
                    depth / one.radius.min(other.radius),
                    one.radius.min(other.radius)
                );
                self.fail(second.places.entity, message, "place them farther apart, or make them smaller");
            }
            other => return other,
        }
        Ok(())
    }

    /// In the realtime clock bodies feel grains with a delay of one step H: a free body of mass m bounces without end on a
    /// stiffness k where H > sqrt(m/k); ten contacts at an overlap of 1 % have about k = 2 E* R.
    fn warn_of_delay(&mut self, model: &Model, grains: &ModelGrains) {
        let stiffness = |(class, radius): (u8, f64)| {
            let m = &grains.settings.materials[usize::from(class)];
            m.youngs_modulus / (1.0 - m.poisson_ratio * m.poisson_ratio) * radius
        };
        let stiffest = grains.spheres().map(stiffness).fold(0.0, f64::max);
        let step = self.scene.realtime.step;
        for body in model.bodies.iter().filter(|b| b.drive == Drive::Free && b.mechanism.is_none()) {
            let most = (body.mass / stiffest).sqrt();
            if step > most && !body.colliders.is_empty() {
                let message =
                    format!("body \"{}\" feels grains with a delay of one step: at {} s", body.name, plain(step));
                self.warnings
                    .push(format!("{message} it may bounce on them without end; try [realtime] step = {most:.1e}"));
            }
        }
    }

    /// A material as grains know it, softened by `k_red` of `[contact]`.
    fn grain_material(&mut self, name: &str, place: Place) -> Option<Material> {
        let elastic = self.material(name, place)?;
        let softened = self.scene.contact.k_red.unwrap_or(1.0);
        Some(Material {
            density: elastic.density,
            youngs_modulus: elastic.young * softened,
            poisson_ratio: elastic.poisson,
        })
    }

    /// Every shape that may collide, and classes for materials that no grains have.
    fn walls(&mut self, model: &Model, classes: &mut Vec<(String, Material)>) -> Option<Vec<GrainWall>> {
        let sets = classes.len();
        let mut walls = Vec::new();
        let mut next = 0;
        let mut bare: Vec<&str> = Vec::new();
        for (b, spec) in self.scene.bodies.iter().enumerate() {
            for shape in spec.shapes.iter().filter(|shape| spec.collide && shape.collide) {
                let element = model.colliders.get(next)?;
                next += 1;
                let name = shape.material.as_ref().or(spec.material.as_ref());
                if name.is_none() && !bare.contains(&spec.name.as_str()) {
                    bare.push(&spec.name);
                }
                let name = name.unwrap_or(&self.scene.grains[0].material);
                // where all grains are of one set, walls of their material share their class
                let known = classes.iter().skip(if sets == 1 { 0 } else { sets }).position(|(known, _)| known == name);
                let class = match known {
                    Some(k) => k + if sets == 1 { 0 } else { sets },
                    None => {
                        let material = self.grain_material(name, spec.places.of("material"))?;
                        classes.push((name.clone(), material));
                        classes.len() - 1
                    }
                };
                let start = &model.start[b];
                let X_wc = Pose::new(start.orientation, start.position + start.orientation * model.bodies[b].p_bc);
                let (surface, X_cs) = match &element.shape {
                    Shape::HalfSpace => (Surface::Plane, element.X_cs),
                    Shape::Mesh(mesh) => {
                        // in the frame of the body, so that a body that turns turns its meshes in place
                        let mut triangles = mesh.surface().clone();
                        triangles.vertices.iter_mut().for_each(|v| *v = element.X_cs.point(*v));
                        match WallMesh::new(&triangles) {
                            Ok(mesh) => (Surface::Mesh(Arc::new(mesh)), Pose::IDENTITY),
                            Err(error) => {
                                let message = format!("body \"{}\" as a wall of grains: {error}", spec.name);
                                self.fail(shape.places.entity, message, "");
                                return None;
                            }
                        }
                    }
                    other => (Surface::Shape(other.clone()), element.X_cs),
                };
                let wall = Wall { class: class as u8, ..Wall::new(surface, X_wc.then(&X_cs)) };
                walls.push(GrainWall { body: b as u32, X_cs, wall });
            }
        }
        if let Some(first) = bare.first() {
            let more = if bare.len() > 1 { format!(" and {} more", bare.len() - 1) } else { String::new() };
            let material = &self.scene.grains[0].material;
            self.warnings.push(format!(
                "body \"{first}\"{more} has no material: as a wall of grains it is of \"{material}\", as they are. help: give it a `material`"
            ));
        }
        Some(walls)
    }

    /// Laws of all pairs of classes, those of the sets first.
    fn grain_laws(&mut self, classes: &[(String, Material)]) -> Option<Vec<PairLaw>> {
        let scene = self.scene;
        let own: Vec<PairLaw> = scene.grains.iter().map(|spec| self.own_law(spec)).collect::<Option<_>>()?;
        let n = classes.len();
        let mut pairs = Vec::with_capacity(n * n);
        for k in 0..n * n {
            let (first, second) = (k / n, k % n);
            // two walls never touch: any law will do
            let mut law = own[first.min(second).min(own.len() - 1)];
            if first.min(second) < own.len() {
                said_by_pair(scene, &classes[first].0, &classes[second].0, &mut law);
            }
            pairs.push(law);
        }
        Some(pairs)
    }

    /// What a set says of itself, filled from `[contact]`.
    fn own_law(&mut self, spec: &GrainsSpec) -> Option<PairLaw> {
        let contact = &self.scene.contact;
        // positions are corrected without a bounce
        let unused = matches!(self.scene.granular.method, GrainMethod::Position { .. }).then_some(1.0);
        let given = [
            ("restitution", spec.restitution.or(contact.restitution).or(unused)),
            ("friction", spec.friction.or(contact.friction)),
        ];
        if let Some((key, _)) = given.iter().find(|(_, value)| value.is_none()) {
            let message = format!("grains \"{}\" have no {key}, and [contact] has none either", spec.name);
            self.fail(spec.places.entity, message, &format!("such as {key} = 0.5"));
            return None;
        }
        let [restitution, friction] = given.map(|(_, value)| value.unwrap_or(0.0));
        if restitution <= 0.0 {
            let message = format!("grains \"{}\" have restitution 0, which no spring and dashpot has", spec.name);
            self.fail(spec.places.of("restitution"), message, "a small one, such as 0.05");
            return None;
        }
        Some(PairLaw { restitution, friction, rolling: spec.rolling, cohesion: spec.cohesion })
    }
}

/// Clumps in the spheres that hold them.
fn clumps_of(clump: &ClumpSpec, places: &[Grain], class: u8, density: f64) -> Vec<GrainClump> {
    let reach = clump.reach();
    let mut random = clump.seed.map(|seed| Random { seed });
    let mut last = None;
    let one = |place: &Grain| {
        let alike: Option<(f64, Arc<_>)> = last.take().filter(|(radius, _)| *radius == place.radius);
        let form = alike.map(|(_, form)| form).unwrap_or_else(|| {
            let scale = place.radius / reach;
            let sphere = |s: &ClumpSphere| ClumpSphere { position: s.position * scale, radius: s.radius * scale };
            let spheres: Vec<ClumpSphere> = clump.spheres.iter().map(sphere).collect();
            let mass = ClumpMass::of_spheres(&spheres, density);
            Arc::new((spheres, mass))
        });
        last = Some((place.radius, form.clone()));
        let rotation = random.as_mut().map_or(Quat::IDENTITY, Random::rotation);
        let X_wb = Pose::new(rotation, place.position - rotation * form.1.X_bc.position);
        GrainClump { form, class, X_wb, velocity: place.velocity, spin: place.spin }
    };
    places.iter().map(one).collect()
}

/// A `[[pair]]` of the two materials has the last word.
fn said_by_pair(scene: &Scene, first: &str, second: &str, law: &mut PairLaw) {
    let of = |between: &Between| match between {
        Between::Materials(a, b) => (a == first && b == second) || (a == second && b == first),
        Between::Bodies(..) => false,
    };
    let Some(pair) = scene.pairs.iter().find(|pair| of(&pair.between)) else { return };
    law.restitution = pair.contact.restitution.filter(|e| *e > 0.0).unwrap_or(law.restitution);
    law.friction = pair.contact.friction.unwrap_or(law.friction);
    if let Some(coefficient) = pair.contact.rolling {
        law.rolling = match law.rolling {
            Rolling::ElasticPlastic { damping, .. } => Rolling::ElasticPlastic { coefficient, damping },
            _ => Rolling::Constant { coefficient },
        };
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
