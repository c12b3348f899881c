//! Grains of a scene made ready: their step, their checks, what is recorded of them.

use super::sets::Put;
use super::{BOOKS_UP_TO, DEEP, GrainServo, GrainWall, ModelGrains, RAYLEIGH_SHARE, SHOWN, SNAPSHOTS};
use crate::model::compile::Compiler;
use crate::model::grain_measures::{GrainMeasure, ProbeMeasure, SinkMeasure};
use crate::model::{Drive, Model, ModelSignal, SignalSource};
use tippe_granular::{Cohesion, GrainError, Grains, Material, PairLaw, Probe, Rolling, Settings, Sink, Wall};
use tippe_scene::text::plain;
use tippe_scene::{Clock, GrainMethod, Place};

impl Compiler<'_> {
    /// Grains, their laws, and the bodies as they meet them.
    pub(in crate::model) fn grains(&mut self, model: &mut Model) {
        let Some(mut grains) = self.checked_grains(model) else { return };
        self.choose_books(&mut grains);
        if self.clock == Clock::Realtime {
            self.warn_of_delay(model, &grains);
        }
        name_sets(model, &grains);
        self.name_sinks_and_probes(model, &grains);
        name_loads(model);
        self.warn_of_images(model, &grains);
        model.grains = Some(grains);
    }

    /// Grains with their step, if nothing is wrong with them.
    fn checked_grains(&mut self, model: &Model) -> Option<ModelGrains> {
        let scene = self.scene;
        let Some(first) = scene.grains.first() else {
            let help = "add [[grains]] with name, material, packing and radius, or use another clock";
            let message = "the granular clock moves grains, and the scene has none".into();
            self.fail(scene.places.of("grains"), message, help);
            return None;
        };
        let first = first.places.entity;
        if let Err(error) = scene.check_memory() {
            self.fail(first, error.to_string(), "");
            return None;
        }
        let mut classes: Vec<(String, Material)> = Vec::new();
        let put = self.put_sets(&mut classes)?;
        let walls = self.walls(model, &mut classes)?;
        if classes.len() > 200 {
            let message = format!("grains and bodies have {} materials and sets, more than 200", classes.len());
            self.fail(first, message, "put grains that are alike into one set");
            return None;
        }
        let settings = Settings {
            step: 1.0,
            gravity: model.gravity,
            pairs: self.grain_laws(&classes)?,
            materials: classes.iter().map(|(_, material)| *material).collect(),
            domain: scene.granular.domain,
            skin: None,
            ledger: scene.granular.books.unwrap_or(put.count <= BOOKS_UP_TO),
        };
        if let Some((place, what)) = self.beyond_a_period() {
            self.fail(place, what, "a probe in a world that repeats lies inside of it");
            return None;
        }
        let mut grains = self.gather_grains(put, settings, walls);
        self.choose_method(&mut grains)?;
        self.choose_step(&mut grains)?;
        if grains.position.is_none()
            && let Some((first, second, depth)) = grains.too_cohesive()
        {
            self.refuse_cohesion(&classes, [first, second], depth);
            return None;
        }
        if let Err(error) = grains.grains().and_then(|mut balls| self.check_packing(model, &grains, &mut balls)) {
            self.fail(first, error.to_string(), "");
        }
        self.errors.is_empty().then_some(grains)
    }

    /// Grains with what stands around them: walls, sinks, probes, servos.
    fn gather_grains(&self, put: Put, settings: Settings, walls: Vec<GrainWall>) -> ModelGrains {
        let scene = self.scene;
        let servo = |(b, body): (usize, &tippe_scene::Body)| {
            body.servo.map(|s| GrainServo { body: b as u32, axis: s.axis, force: s.force, speed: s.speed })
        };
        let snapshots = (SHOWN / put.count.max(1) as f64).clamp(SNAPSHOTS[0], SNAPSHOTS[1]);
        let sinks = scene.sinks.iter().map(|s| (s.name.clone(), Sink::new(s.low, s.high, s.smoothing)));
        let probes = scene.probes.iter().map(|p| (p.name.clone(), Probe { low: p.low, high: p.high }));
        let mut grains = ModelGrains {
            sets: put.sets,
            emitters: put.emitters,
            dug: put.dug,
            sinks: sinks.collect(),
            probes: probes.collect(),
            start: put.start.into(),
            clumps: put.clumps.into(),
            servos: scene.bodies.iter().enumerate().filter_map(servo).collect(),
            settings,
            position: None,
            memory: scene.memory_of_grains(),
            booked: false,
            rayleigh: 0.0,
            walls,
            snapshot_interval: scene.granular.snapshot_interval.unwrap_or(scene.run.until / snapshots),
        };
        let times = grains.spheres().chain(grains.to_come()).map(|(class, r)| grains.settings.rayleigh_time(class, r));
        grains.rayleigh = times.fold(f64::INFINITY, f64::min);
        grains
    }

    /// Forces, or positions that are corrected, with their stiffness.
    fn choose_method(&mut self, grains: &mut ModelGrains) -> Option<()> {
        let GrainMethod::Position { stiffness } = self.scene.granular.method else { return Some(()) };
        if let Some(set) = self.scene.grains.iter().find(|set| set.clump.is_some()) {
            let message =
                format!("grains \"{}\" are no balls, and positions of balls alone can be corrected", set.name);
            self.fail(set.places.entity, message, "[granular] method = \"force\"");
            return None;
        }
        let of = |(class, radius): (u8, f64)| grains.settings.materials[usize::from(class)].youngs_modulus * radius;
        let to_come = grains.emitters.iter().map(|emitter| (emitter.class, emitter.sizes.largest()));
        let to_come = to_come.chain(grains.dug.iter().copied());
        grains.position = Some(stiffness.unwrap_or(grains.spheres().chain(to_come).map(of).fold(0.0, f64::max)));
        Some(())
    }

    /// The step of the scene, or one that grains of this size and stiffness need.
    fn choose_step(&mut self, grains: &mut ModelGrains) -> Option<()> {
        let given = self.scene.granular.step;
        let default = if grains.position.is_some() { grains.position_step() } else { RAYLEIGH_SHARE * grains.rayleigh };
        grains.settings.step = given.unwrap_or(default);
        let place = match given {
            Some(_) => self.scene.granular.places.of("step"),
            None => self.scene.grains[0].places.entity,
        };
        if let Err(error) = grains.settings(None) {
            self.fail(place, format!("grains: {error}"), "");
            return None;
        }
        Some(())
    }

    /// Whether losses are booked by cause; who is told otherwise hears of it.
    fn choose_books(&mut self, grains: &mut ModelGrains) {
        if grains.position.is_some() {
            self.warnings.push(
                "grains: positions are corrected: balls do not turn, do not bounce, and their losses are not booked"
                    .to_owned(),
            );
        }
        // laws with more than Hertz, Mindlin and Coulomb are booked in any case
        grains.settings.ledger |= grains.has_solids();
        let bare = |law: &PairLaw| law.rolling == Rolling::None && law.cohesion == Cohesion::None;
        grains.booked =
            grains.position.is_none() && (grains.settings.ledger || !grains.settings.pairs.iter().all(bare));
        if grains.position.is_none() && !grains.booked {
            let message = "grains: losses are not booked by cause, so that the residual of the energy is what was lost";
            self.warnings.push(format!("{message}; [granular] books = true books them"));
        }
    }

    /// Names of what is recorded of sinks and probes.
    fn name_sinks_and_probes(&mut self, model: &mut Model, grains: &ModelGrains) {
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
}

/// Names of what is recorded of the sets.
fn name_sets(model: &mut Model, grains: &ModelGrains) {
    for (k, set) in grains.sets.iter().enumerate() {
        for measure in GrainMeasure::ALL {
            let (name, unit) = measure.name_and_unit();
            let source = SignalSource::Grains { set: k as u32, measure };
            model.signals.push(ModelSignal { name: format!("{}.{name}", set.name), unit: unit.into(), source });
        }
    }
}

/// Names of the loads of grains on bodies.
fn name_loads(model: &mut Model) {
    for (b, body) in model.bodies.iter().enumerate().filter(|(_, body)| !body.colliders.is_empty()) {
        for (component, axis) in ["x", "y", "z", "x", "y", "z"].into_iter().enumerate() {
            let (what, unit) = if component < 3 { ("grain_force", "N") } else { ("grain_torque", "N m") };
            let source = SignalSource::GrainLoad { body: b as u32, component: component as u32 };
            model.signals.push(ModelSignal { name: format!("{}.{what}.{axis}", body.name), unit: unit.into(), source });
        }
    }
}
