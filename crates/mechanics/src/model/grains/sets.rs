//! The grains of the `[[grains]]` of a scene, in place.

use super::{GrainClump, GrainForm, GrainSet};
use crate::model::compile::Compiler;
use std::sync::Arc;
use tippe_geometry::{Pose, Quat, Vec3};
use tippe_granular::{ClumpMass, ClumpSphere, Domain, Emitter, Grain, Material, Random, Solid};
use tippe_scene::{ClumpForm, ClumpSpec, GrainsSpec, Packing, did_you_mean};

/// What all sets put in.
#[derive(Default)]
pub(super) struct Put {
    /// Sets in the order of the scene.
    pub(super) sets: Vec<GrainSet>,
    /// Where grains appear.
    pub(super) emitters: Vec<Emitter>,
    /// What soil becomes where tools cut it: set and radius [m].
    pub(super) dug: Vec<(u8, f64)>,
    /// Single grains.
    pub(super) start: Vec<Grain>,
    /// Clumps.
    pub(super) clumps: Vec<GrainClump>,
    /// Number of spheres, those of clumps one by one.
    pub(super) count: usize,
}

impl Compiler<'_> {
    /// All sets with their grains; each is a class of its own, with its material.
    pub(super) fn put_sets(&mut self, classes: &mut Vec<(String, Material)>) -> Option<Put> {
        let scene = self.scene;
        let mut put = Put::default();
        for spec in &scene.grains {
            let class = classes.len() as u8;
            let mut material = self.grain_material(&spec.material, spec.places.of("material"))?;
            if let Packing::Soil { soil, radius } = &spec.packing {
                material.density = self.density_of_grains(spec, soil)?;
                put.dug.push((class, *radius));
            }
            classes.push((spec.material.clone(), material));
            let own = self.placed(spec)?;
            if let Packing::Emitter { .. } = spec.packing {
                put.emitters.push(self.emitter(spec, class)?);
            }
            put.count += own.len() * spec.clump.as_ref().map_or(1, ClumpSpec::spheres);
            if put.count > tippe_scene::MOST_GRAINS {
                let message = format!("the scene has more than {} grains", tippe_scene::MOST_GRAINS);
                self.fail(spec.places.entity, message, "fewer or larger grains");
                return None;
            }
            match &spec.clump {
                None => put.start.extend(own.into_iter().map(|grain| Grain { class, ..grain })),
                Some(clump) => put.clumps.extend(clumps_of(clump, &own, class, material.density)),
            }
            put.sets.push(GrainSet { name: spec.name.clone() });
        }
        Some(put)
    }

    /// Grains of a set, or the balls that hold its clumps, all inside of the world.
    fn placed(&mut self, spec: &GrainsSpec) -> Option<Vec<Grain>> {
        let own = match spec.grains() {
            Ok(own) => own,
            Err((what, help)) => {
                self.fail(spec.places.entity, format!("grains \"{}\": {what}", spec.name), help);
                return None;
            }
        };
        if own.is_empty() && !matches!(spec.packing, Packing::Emitter { .. } | Packing::Soil { .. }) {
            let message = format!("grains \"{}\" has none", spec.name);
            self.fail(spec.places.entity, message, "list spheres, or leave the set away");
            return None;
        }
        let world = self.scene.granular.domain.as_ref();
        if let Some((what, help)) = world.and_then(|world| own.iter().find_map(|grain| misfit(grain, world))) {
            self.fail(spec.places.entity, format!("grains \"{}\": {what}", spec.name), help);
            return None;
        }
        Some(own)
    }

    /// Density of grains that stand for soil that lies loose [kg/m^3]: what is between them weighs as much as they are heavier.
    fn density_of_grains(&mut self, spec: &GrainsSpec, soil: &str) -> Option<f64> {
        let place = spec.places.of("soil");
        let Some(ground) = self.scene.soils.first() else {
            let message = format!("grains \"{}\" come from soil, and the scene has none", spec.name);
            self.fail(place, message, "add [[soil]], or another packing");
            return None;
        };
        if !ground.layers.iter().any(|layer| layer.soil == soil) {
            let message = format!("grains \"{}\": soil \"{}\" has no layer of \"{soil}\"", spec.name, ground.name);
            let help = did_you_mean(soil, ground.layers.iter().map(|layer| layer.soil.as_str()));
            self.fail(place, message, &help);
            return None;
        }
        // a layer of a soil that nobody knows is named with its layer
        let kind = ground.kind(soil)?;
        Some(kind.density(kind.loose()) / tippe_soil::SOLID)
    }

    /// The emitter of a set that appears while the simulation runs.
    fn emitter(&mut self, spec: &GrainsSpec, class: u8) -> Option<Emitter> {
        let Packing::Emitter { region, rate } = &spec.packing else { return None };
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
        if let Some((what, help)) = self.scene.granular.domain.as_ref().and_then(|world| misplaced(&emitter, world)) {
            self.fail(spec.places.of("low"), format!("grains \"{}\": {what}", spec.name), help);
            return None;
        }
        Some(emitter)
    }
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

/// Clumps, or polyhedra, in the spheres that hold them.
fn clumps_of(clump: &ClumpSpec, places: &[Grain], class: u8, density: f64) -> Vec<GrainClump> {
    let reach = clump.reach();
    let mut random = clump.seed.map(|seed| Random { seed });
    let mut last: Option<(f64, Arc<GrainForm>)> = None;
    let one = |place: &Grain| {
        let alike = last.take().filter(|(radius, _)| *radius == place.radius);
        let form = alike.map(|(_, form)| form).or_else(|| {
            let scale = place.radius / reach;
            let sphere = |s: &ClumpSphere| ClumpSphere { position: s.position * scale, radius: s.radius * scale };
            match &clump.form {
                ClumpForm::Spheres(spheres) => {
                    let spheres: Vec<ClumpSphere> = spheres.iter().map(sphere).collect();
                    let mass = ClumpMass::of_spheres(&spheres, density);
                    Some(Arc::new(GrainForm::Clump(spheres, mass)))
                }
                ClumpForm::Hull(corners) => {
                    let corners: Vec<Vec3> = corners.iter().map(|p| *p * scale).collect();
                    // it was one when it was read
                    Solid::new(&corners, density).ok().map(|solid| Arc::new(GrainForm::Solid(solid)))
                }
            }
        })?;
        last = Some((place.radius, form.clone()));
        let rotation = random.as_mut().map_or(Quat::IDENTITY, Random::rotation);
        let X_wb = Pose::new(rotation, place.position - rotation * form.mass().X_bc.position);
        Some(GrainClump { form, class, X_wb, velocity: place.velocity, spin: place.spin })
    };
    places.iter().filter_map(one).collect()
}
