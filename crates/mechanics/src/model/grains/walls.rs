//! What grains touch: bodies as walls, and the laws of all pairs of classes.

use super::{GrainWall, ModelGrains};
use crate::model::Model;
use crate::model::compile::Compiler;
use std::sync::Arc;
use tippe_geometry::{Pose, Shape};
use tippe_granular::{Material, PairLaw, Rolling, Surface, Wall, WallMesh};
use tippe_scene::{Between, ClumpForm, GrainMethod, GrainsSpec, Packing, Place, Scene};

impl Compiler<'_> {
    /// A material as grains know it, softened by `k_red` of `[contact]`.
    pub(super) fn grain_material(&mut self, name: &str, place: Place) -> Option<Material> {
        let elastic = self.material(name, place)?;
        let softened = self.scene.contact.k_red.unwrap_or(1.0);
        Some(Material {
            density: elastic.density,
            youngs_modulus: elastic.young * softened,
            poisson_ratio: elastic.poisson,
        })
    }

    /// Every shape that may collide, and classes for materials that no grains have.
    pub(super) fn walls(&mut self, model: &Model, classes: &mut Vec<(String, Material)>) -> Option<Vec<GrainWall>> {
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
                if let Some(set) = self.scene.grains.iter().find(|set| is_of_hulls(set))
                    && !matches!(
                        element.shape,
                        Shape::HalfSpace | Shape::Box { .. } | Shape::Hull(_) | Shape::Sphere { .. }
                    )
                {
                    let message = format!(
                        "grains \"{}\" are polyhedra, which touch half-spaces, boxes, hulls and balls, and body \"{}\" is a {}",
                        set.name,
                        spec.name,
                        element.shape.name()
                    );
                    self.fail(
                        shape.places.entity,
                        message,
                        "boxes and hulls in its place; a mesh may be cut by `pieces`",
                    );
                    return None;
                }
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
    pub(super) fn grain_laws(&mut self, classes: &[(String, Material)]) -> Option<Vec<PairLaw>> {
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

    /// tan(phi) of the soil that a set is, as it lies loose.
    fn friction_of_soil(&self, spec: &GrainsSpec) -> Option<f64> {
        let Packing::Soil { soil, .. } = &spec.packing else { return None };
        let kind = self.scene.soils.first()?.kind(soil)?;
        Some(libm::tan(kind.friction_at(kind.loose())))
    }

    /// What a set says of itself, filled from `[contact]`.
    fn own_law(&mut self, spec: &GrainsSpec) -> Option<PairLaw> {
        let contact = &self.scene.contact;
        // positions are corrected without a bounce
        let unused = matches!(self.scene.granular.method, GrainMethod::Position { .. }).then_some(1.0);
        let given = [
            ("restitution", spec.restitution.or(contact.restitution).or(unused)),
            ("friction", spec.friction.or_else(|| self.friction_of_soil(spec)).or(contact.friction)),
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

    /// Bodies have no images in a periodic world: one that reaches over one side is not there on the other.
    pub(super) fn warn_of_images(&mut self, model: &Model, grains: &ModelGrains) {
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
}

/// True where a set has polyhedra.
fn is_of_hulls(set: &GrainsSpec) -> bool {
    set.clump.as_ref().is_some_and(|clump| matches!(clump.form, ClumpForm::Hull(_)))
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
