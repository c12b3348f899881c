//! Grains of a scene made ready: all of them in place, classes of materials, laws of pairs of classes, bodies as walls.

use super::compile::Compiler;
use super::{Drive, Model, ModelSignal, SignalSource};
use crate::precise::plain;
use crate::scene::{Between, Clock, GrainsSpec, Packing, Place, Scene};
use std::sync::Arc;
use tippe_geometry::{Pose, Shape, Vec3};
use tippe_granular::{
    Cohesion, Emitter, Grain, GrainError, Grains, Material, PairLaw, RAYLEIGH_SHARE_MAX, Random, Rolling, Settings,
    Surface, Wall, WallMesh,
};

/// Losses are booked by cause up to this many grains, where nobody says otherwise.
const BOOKS_UP_TO: usize = 20_000;
/// The step, where nobody says otherwise, as a share of the shortest Rayleigh time [-].
const RAYLEIGH_SHARE: f64 = 0.2;

/// Grains ready to run.
#[derive(Clone, Debug)]
pub struct ModelGrains {
    /// Sets in the order of the scene: set k is class k.
    pub sets: Vec<GrainSet>,
    /// Where grains appear, as they are at the start.
    pub emitters: Vec<Emitter>,
    /// All grains at the start, in the order of their ids.
    pub start: Arc<[Grain]>,
    /// Materials and laws by class; the step is the scene's, or the default.
    pub settings: Settings,
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

/// What is recorded of a set of grains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrainMeasure {
    /// Number of grains [-].
    Count,
    /// Kinetic energy [J].
    KineticEnergy,
    /// Mean number of contacts with grains [-].
    Coordination,
    /// Component of the centre of mass, in world [m].
    Centre(u8),
    /// Component of its velocity, in world [m/s].
    Velocity(u8),
    /// Lowest point, along z [m].
    Lowest,
    /// Highest point, along z [m].
    Highest,
    /// Angle of repose, as a pile on the plane z = 0 [rad].
    Slope,
}

impl GrainMeasure {
    /// All of them, in the order they are recorded.
    pub const ALL: [GrainMeasure; 12] = [
        GrainMeasure::Count,
        GrainMeasure::KineticEnergy,
        GrainMeasure::Coordination,
        GrainMeasure::Centre(0),
        GrainMeasure::Centre(1),
        GrainMeasure::Centre(2),
        GrainMeasure::Velocity(0),
        GrainMeasure::Velocity(1),
        GrainMeasure::Velocity(2),
        GrainMeasure::Lowest,
        GrainMeasure::Highest,
        GrainMeasure::Slope,
    ];

    /// Name after the set's and a dot, and SI unit.
    pub fn name_and_unit(self) -> (String, &'static str) {
        let axis = |k: u8| ["x", "y", "z"][usize::from(k.min(2))];
        match self {
            GrainMeasure::Count => ("count".to_owned(), "-"),
            GrainMeasure::KineticEnergy => ("kinetic_energy".to_owned(), "J"),
            GrainMeasure::Coordination => ("coordination".to_owned(), "-"),
            GrainMeasure::Centre(k) => (format!("centre.{}", axis(k)), "m"),
            GrainMeasure::Velocity(k) => (format!("velocity.{}", axis(k)), "m/s"),
            GrainMeasure::Lowest => ("lowest".to_owned(), "m"),
            GrainMeasure::Highest => ("highest".to_owned(), "m"),
            GrainMeasure::Slope => ("slope".to_owned(), "rad"),
        }
    }
}

impl ModelGrains {
    /// The settings of a run with this step [s], or with the scene's.
    pub fn settings(&self, step: Option<f64>) -> Result<Settings, GrainError> {
        let settings = Settings { step: step.unwrap_or(self.settings.step), ..self.settings.clone() };
        settings.validate()?;
        let share = settings.step / self.rayleigh;
        if share.is_nan() || share > RAYLEIGH_SHARE_MAX {
            let shortest = self.start.iter().enumerate().min_by(|(_, a), (_, b)| {
                let time = |g: &Grain| settings.rayleigh_time(g.class, g.radius);
                time(a).total_cmp(&time(b))
            });
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

    /// All grains in place.
    pub fn grains(&self) -> Result<Grains, GrainError> {
        let mut grains = Grains::new();
        grains.reserve(self.start.len());
        for grain in self.start.iter() {
            grains.insert(grain, &self.settings)?;
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
        let mut start: Vec<Grain> = Vec::new();
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
            if let Packing::Emitter { region, rate } = &spec.packing {
                emitters.push(Emitter {
                    low: region.low,
                    high: region.high,
                    velocity: spec.velocity,
                    sizes: region.sizes.clone(),
                    class,
                    rate: *rate,
                    owed: 0.0,
                    random: Random { seed: region.seed },
                    emitted: 0.0,
                });
            }
            start.extend(own.into_iter().map(|grain| Grain { class, ..grain }));
            if start.len() > crate::scene::MOST_GRAINS {
                let message = format!("the scene has more than {} grains", crate::scene::MOST_GRAINS);
                self.fail(spec.places.entity, message, "fewer or larger grains");
                return;
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
        let mut settings = Settings {
            step: 1.0,
            gravity: model.gravity,
            materials: classes.iter().map(|(_, material)| *material).collect(),
            pairs,
            domain: self.scene.granular.domain,
            skin: None,
            ledger: self.scene.granular.books.unwrap_or(start.len() <= BOOKS_UP_TO),
        };
        let there = start.iter().map(|grain| (grain.class, grain.radius));
        let to_come = emitters.iter().map(|emitter| (emitter.class, emitter.sizes.smallest()));
        let times = there.chain(to_come).map(|(class, radius)| settings.rayleigh_time(class, radius));
        let rayleigh = times.fold(f64::INFINITY, f64::min);
        settings.step = self.scene.granular.step.unwrap_or(RAYLEIGH_SHARE * rayleigh);
        let step = settings.step;
        let snapshot_interval = self.scene.granular.snapshot_interval.unwrap_or(0.1 * self.scene.run.until);
        let grains = ModelGrains { sets, emitters, start: start.into(), settings, rayleigh, walls, snapshot_interval };
        let place = match self.scene.granular.step {
            Some(_) => self.scene.granular.places.of("step"),
            None => specs[0].places.entity,
        };
        if let Err(error) = grains.settings(None) {
            self.fail(place, format!("grains: {error}"), "");
            return;
        }
        if let Err(error) = grains.grains() {
            self.fail(specs[0].places.entity, error.to_string(), "");
            return;
        }
        let share = step / rayleigh;
        self.warnings.push(format!("grains: step {} s, {share:.3} of the shortest Rayleigh time", plain(step)));
        // laws with more than Hertz, Mindlin and Coulomb are booked in any case
        let bare = |law: &PairLaw| law.rolling == Rolling::None && law.cohesion == Cohesion::None;
        if !grains.settings.ledger && grains.settings.pairs.iter().all(bare) {
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
        for (b, body) in model.bodies.iter().enumerate().filter(|(_, body)| !body.elements.is_empty()) {
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
        model.grains = Some(grains);
    }

    /// In the realtime clock bodies feel grains with a delay of one step H: a free body of mass m bounces without end on a
    /// stiffness k where H > sqrt(m/k); ten contacts at an overlap of 1 % have about k = 2 E* R.
    fn warn_of_delay(&mut self, model: &Model, grains: &ModelGrains) {
        let stiffness = |grain: &Grain| {
            let m = &grains.settings.materials[usize::from(grain.class)];
            m.youngs_modulus / (1.0 - m.poisson_ratio * m.poisson_ratio) * grain.radius
        };
        let stiffest = grains.start.iter().map(stiffness).fold(0.0, f64::max);
        let step = self.scene.realtime.step;
        for body in model.bodies.iter().filter(|b| b.drive == Drive::Free && b.mechanism.is_none()) {
            let most = (body.mass / stiffest).sqrt();
            if step > most && !body.elements.is_empty() {
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
        for (b, spec) in self.scene.bodies.iter().enumerate() {
            for shape in spec.shapes.iter().filter(|shape| spec.collide && shape.collide) {
                let element = model.elements.get(next)?;
                next += 1;
                let name = shape.material.as_ref().or(spec.material.as_ref());
                // a body without a material touches grains as if it were of theirs
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
        let given = [
            ("restitution", spec.restitution.or(contact.restitution)),
            ("friction", spec.friction.or(contact.friction)),
        ];
        if let Some((key, _)) = given.iter().find(|(_, value)| value.is_none()) {
            let message = format!("grains \"{}\" have no {key}, and [contact] has none either", spec.name);
            self.fail(spec.places.entity, message, "");
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
