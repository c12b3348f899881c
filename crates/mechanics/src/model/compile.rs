//! Scene to model: every reference resolved, every number checked, everything missing computed and said so.

use super::capability;
use super::components::OpenUnit;
use super::contact_table::{ClassKey, class_key};
use super::{Body, Collider, Drive, Model, ProgramLaw};
use crate::contact::surfaces::SurfacePair;
use crate::kinematics::BodyState;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tippe_geometry::shape::MassProperties;
use tippe_geometry::{ContactKind, Mat3, Pose, Shape, Surface, Vec3, contact_kind};
use tippe_parts::sensor::SensorKind;
use tippe_scene::material;
use tippe_scene::{
    self as scene, Between, Clock, Scene, SceneError, SceneErrors, ShapeKind, ShapeSpec, Touching, shape_rotation,
    shapes_of,
};

/// Solids of triangles that start with more of the smaller one inside the other are an error [-].
const MOST_SHARED: f64 = 0.1;
/// Largest coordinate of a body: beyond it rounding is a tenth of a millimetre [m].
const FARTHEST: f64 = 1e12;
/// Divisions of a full circle where a round solid touches over a surface of triangles.
pub(super) const SEGMENTS: u32 = 64;

impl Model {
    /// Compiles a scene for its own clock, or says everything that is wrong with it.
    pub fn compile(scene: &Scene) -> Result<Model, SceneErrors> {
        Model::compile_for(scene, scene.run.clock)
    }

    /// Compiles a scene for a clock, or says everything that is wrong with it. The model is the same for all clocks, but not
    /// every clock can do everything ([`crate::capability`]).
    pub fn compile_for(scene: &Scene, clock: Clock) -> Result<Model, SceneErrors> {
        Model::compile_with(scene, clock, &[])
    }

    /// [`Model::compile_for`] with laws of a program: where `[law.NAME]` of the scene has the name of one of them, that one takes
    /// the place of its equations.
    pub fn compile_with(scene: &Scene, clock: Clock, laws: &[ProgramLaw]) -> Result<Model, SceneErrors> {
        let mut compiler = Compiler {
            scene,
            clock,
            laws,
            errors: Vec::new(),
            warnings: Vec::new(),
            read_bodies: Vec::new(),
            first_read_body: 0,
            hulls: asked_for(scene),
            units: Vec::new(),
        };
        compiler.warnings.extend(scene.notes.iter().cloned());
        let model = compiler.model();
        match model {
            Some(model) if compiler.errors.is_empty() => Ok(model),
            _ => Err(SceneErrors(compiler.errors)),
        }
    }
}

/// A scene on its way to a model, and what is wrong with it.
pub(super) struct Compiler<'a> {
    pub(super) scene: &'a Scene,
    pub(super) clock: Clock,
    pub(super) laws: &'a [ProgramLaw],
    pub(super) errors: Vec<SceneError>,
    pub(super) warnings: Vec<String>,
    /// Bodies whose pose or velocity equations read.
    pub(super) read_bodies: Vec<(usize, SensorKind)>,
    /// Place of the first of them among the sensors.
    pub(super) first_read_body: u32,
    /// Shapes of bodies in fluids and of roads, and where they are in the body's frame c, by body.
    pub(super) hulls: BTreeMap<u32, Vec<(Shape, Pose)>>,
    /// Units of others, by component.
    pub(super) units: Vec<Option<OpenUnit>>,
}

/// Constants of a material.
#[derive(Clone, Copy)]
pub(super) struct Elastic {
    pub(super) density: f64,
    pub(super) young: f64,
    pub(super) poisson: f64,
}

/// Bodies whose shapes force elements ask for, in fluids or under tyres, by index, their shapes not known yet.
fn asked_for(scene: &Scene) -> BTreeMap<u32, Vec<(Shape, Pose)>> {
    let fluids = scene.forces.iter().filter(|part| part.kind.word == "fluid");
    let wet = fluids.flat_map(|fluid| fluid.parts("bodies")).flat_map(|wet| wet.attachments("on"));
    let tyres = scene.forces.iter().filter(|part| part.kind.word == "tyre" && part.flag("terrain"));
    let roads = tyres.flat_map(|tyre| tyre.attachments("ground"));
    let names: BTreeSet<&str> = wet.chain(roads).map(|on| on.body.as_str()).collect();
    let bodies = scene.bodies.iter().enumerate().filter(|(_, body)| names.contains(body.name.as_str()));
    bodies.map(|(index, _)| (index as u32, Vec::new())).collect()
}

/// Where a shape is in the frame c of its body.
fn placed(shape: &ShapeSpec, p_bc: Vec3) -> Pose {
    Pose::new(shape.orientation * shape_rotation(&shape.kind), shape.position - p_bc)
}

impl Compiler<'_> {
    /// Keeps a shape of a body that elements ask for.
    fn keep_hull(&mut self, index: usize, shape: &Shape, X_cs: Pose) {
        if let Some(hull) = self.hulls.get_mut(&(index as u32)) {
            hull.push((shape.clone(), X_cs));
        }
    }

    fn model(&mut self) -> Option<Model> {
        let mut bodies = Vec::new();
        let mut colliders = Vec::new();
        let mut start = Vec::new();
        let mut classes: Vec<(ClassKey, usize)> = Vec::new();
        for (index, spec) in self.scene.bodies.iter().enumerate() {
            let first = colliders.len();
            let Some((mut body, shapes)) = self.body(spec) else { continue };
            let shapes = shapes.into_iter().flat_map(|(spec, made)| made.into_iter().map(move |shape| (spec, shape)));
            for (shape_spec, shape) in shapes {
                let X_cs = placed(shape_spec, body.p_bc);
                self.keep_hull(index, &shape, X_cs);
                if !(spec.collide && shape_spec.collide) || spec.flexible.is_some() {
                    continue;
                }
                let key = class_key(spec, shape_spec);
                let class = classes.iter().position(|(k, _)| *k == key).unwrap_or_else(|| {
                    classes.push((key, index));
                    classes.len() - 1
                });
                let radius = shape.bounding_radius_about(Vec3::ZERO);
                body.radius = body.radius.max(X_cs.position.length() + radius);
                let centred_ball = matches!(shape, Shape::Sphere { .. }) && X_cs.position == Vec3::ZERO;
                body.oriented |= !centred_ball;
                colliders.push(Collider {
                    body: index as u32,
                    X_cs,
                    shape,
                    radius,
                    class: class as u32,
                    surface: None,
                });
            }
            body.colliders = first..colliders.len();
            body.size =
                if body.radius > 0.0 { body.radius } else { (principal_moments(&body.I_c).z / body.mass).sqrt() };
            start.push(BodyState {
                position: spec.position,
                orientation: spec.orientation.normalize(),
                velocity: spec.motion.map_or(spec.velocity, |m| m.velocity),
                angular_velocity: spec.motion.map_or(spec.angular_velocity, |m| m.angular_velocity),
            });
            bodies.push(body);
        }
        if bodies.len() < self.scene.bodies.len() {
            return None;
        }
        self.bend(&mut bodies)?;
        let mut parameters = Vec::new();
        let by_bodies = self.body_table(&bodies, &colliders, &classes, &mut parameters);
        let by_class = self.class_table(&classes, &bodies, &by_bodies, &mut parameters);
        let mut model = Model {
            bodies,
            colliders,
            gravity: self.scene.gravity,
            warnings: Vec::new(),
            parameters,
            by_class,
            classes: classes.len(),
            by_bodies,
            start,
            attractors: self.scene.attractors.clone(),
            joints: Vec::new(),
            mechanisms: Vec::new(),
            mechanism_starts: Vec::new(),
            elements: Vec::new(),
            states: Vec::new(),
            network: Default::default(),
            sensors: Vec::new(),
            changes: Vec::new(),
            inputs: Vec::new(),
            signals: Vec::new(),
            drawings: Vec::new(),
            grains: None,
            soil: None,
            foreign: None,
        };
        self.give_surfaces(&mut model.colliders);
        self.mechanisms(&mut model);
        for joint in
            model.joints.iter().zip(&self.scene.joints).filter(|(_, spec)| !spec.flag("collide")).map(|(j, _)| j)
        {
            if let [Some(a), Some(b)] = joint.bodies {
                model.by_bodies.insert((a.min(b), a.max(b)), None);
            }
        }
        self.name_signals(&mut model);
        if self.errors.is_empty() {
            self.forces(&mut model);
            self.drawings(&mut model);
        }
        model.inputs = super::inputs::inputs(&model);
        if (self.clock == Clock::Granular || !self.scene.grains.is_empty()) && self.errors.is_empty() {
            self.grains(&mut model);
        }
        if self.errors.is_empty() {
            self.soil(&mut model);
        }
        self.warn_of_idle_measures();
        let (errors, notes) = capability::check(self.scene, &model, self.clock);
        self.errors.extend(errors);
        self.warnings.extend(notes);
        self.check_start(&model);
        model.warnings = std::mem::take(&mut self.warnings);
        Some(model)
    }

    /// Boxes around grains that are not there.
    fn warn_of_idle_measures(&mut self) {
        if self.scene.grains.is_empty() {
            let sinks = self.scene.sinks.iter().map(|sink| ("sink", &sink.name));
            let idle = sinks.chain(self.scene.probes.iter().map(|probe| ("probe", &probe.name)));
            let say = |(what, name)| {
                format!(
                    "{what} \"{name}\" has nothing to do: the scene has no grains. help: add [[grains]], or leave it out"
                )
            };
            self.warnings.extend(idle.map(say));
        }
    }

    /// What is wrong, or likely to be, with how bodies stand and turn at the start.
    fn check_start(&mut self, model: &Model) {
        self.check_overlaps(model);
        self.check_rolling(model);
        self.warn_of_facets(model);
        self.warn_of_profiles(model);
    }

    /// Surfaces for the colliders that touch something over one; equal shapes share theirs.
    fn give_surfaces(&mut self, colliders: &mut [Collider]) {
        // one shape of each kind: what touches what over surfaces depends on nothing else
        let mut kinds: Vec<&Shape> = Vec::new();
        for e in colliders.iter() {
            if !kinds.iter().any(|kind| std::mem::discriminant(*kind) == std::mem::discriminant(&e.shape)) {
                kinds.push(&e.shape);
            }
        }
        let needed = |shape: &Shape| {
            let over_surface = |other: &&Shape| contact_kind(shape, other) == ContactKind::Surface;
            !matches!(shape, Shape::HalfSpace) && kinds.iter().any(over_surface)
        };
        let needed: Vec<usize> = (0..colliders.len()).filter(|&k| needed(&colliders[k].shape)).collect();
        let mut made: Vec<usize> = Vec::new();
        for k in needed {
            let surface = match (&colliders[k].shape, made.iter().find(|&&m| colliders[m].shape == colliders[k].shape))
            {
                (_, Some(&same)) => Ok(colliders[same].surface.clone()),
                (Shape::Mesh(mesh), None) => Ok(Some(mesh.prepared().clone())),
                (shape, None) => Surface::new(&shape.surface_mesh(SEGMENTS)).map(|surface| Some(Arc::new(surface))),
            };
            match surface {
                Ok(surface) => colliders[k].surface = surface,
                Err(error) => {
                    let body = &self.scene.bodies[colliders[k].body as usize];
                    let (place, message) =
                        (body.places.entity, format!("body \"{}\": its surface: {error}", body.name));
                    self.fail(place, message, "check the dimensions of its shape");
                }
            }
            made.push(k);
        }
    }

    pub(super) fn fail(&mut self, place: scene::Place, message: String, help: &str) {
        self.errors.push(self.scene.error(place, message, help));
    }

    pub(super) fn material(&mut self, name: &str, place: scene::Place) -> Option<Elastic> {
        if let Some(m) = self.scene.materials.iter().find(|m| m.name == name) {
            return Some(Elastic { density: m.density, young: m.young, poisson: m.poisson });
        }
        if let Some(m) = material::find(name) {
            return Some(Elastic { density: m.density, young: m.young, poisson: m.poisson });
        }
        let known: Vec<&str> = self
            .scene
            .materials
            .iter()
            .map(|m| m.name.as_str())
            .chain(material::MATERIALS.iter().map(|m| m.name))
            .collect();
        self.fail(place, format!("there is no material \"{name}\""), &scene::did_you_mean(name, known));
        None
    }

    /// Refuses what is so far away, or so large, that rounding is all there is left.
    fn check_reach(&mut self, spec: &scene::Body) -> Option<()> {
        let help = "is the unit of length or a factor wrong?";
        for (k, shape) in spec.shapes.iter().enumerate() {
            let farthest = shape.position.abs().max_element().max(largest(&shape.kind));
            if farthest > FARTHEST {
                let which = if spec.shapes.len() > 1 { format!("shape {}", k + 1) } else { "its shape".to_owned() };
                let message =
                    format!("body \"{}\": {which} reaches {farthest:.3e} m; places end at {FARTHEST:e} m", spec.name);
                self.fail(shape.places.entity, message, help);
                return None;
            }
        }
        let far = spec.position.abs().max_element();
        if far > FARTHEST {
            let message =
                format!("body \"{}\" is {far:.3e} m from the origin; places end at {FARTHEST:e} m", spec.name);
            self.fail(spec.places.of("position"), message, help);
            return None;
        }
        Some(())
    }

    /// The body without its colliders, and its shapes.
    fn body<'s>(&mut self, spec: &'s scene::Body) -> Option<(Body, Vec<Made<'s>>)> {
        let mut shapes = Vec::new();
        self.check_reach(spec)?;
        for shape_spec in &spec.shapes {
            match shapes_of(&shape_spec.kind) {
                Ok(made) => {
                    self.note_touching(spec, shape_spec, &made);
                    shapes.push((shape_spec, made));
                }
                Err(error) => {
                    self.fail(shape_spec.places.entity, format!("body \"{}\": {error}", spec.name), "");
                    return None;
                }
            }
        }
        let drive = match spec.motion {
            // the clock that knows servos moves it
            None if spec.servo.is_some() => Drive::Prescribed { velocity: Vec3::ZERO, angular_velocity: Vec3::ZERO },
            Some(m) => Drive::Prescribed { velocity: m.velocity, angular_velocity: m.angular_velocity },
            None if spec.fixed => Drive::Fixed,
            None => Drive::Free,
        };
        let mut body = Body {
            name: spec.name.clone(),
            drive,
            mass: f64::INFINITY,
            I_c: Mat3::IDENTITY,
            I_c_inverse: Mat3::ZERO,
            isotropic: true,
            p_bc: spec.center_of_mass.unwrap_or(Vec3::ZERO),
            colliders: 0..0,
            radius: 0.0,
            oriented: false,
            size: 0.0,
            mechanism: None,
            solver: spec.solver,
            flexible: None,
            interface_of: None,
        };
        if drive != Drive::Free {
            body.p_bc = Vec3::ZERO;
            return Some((body, shapes));
        }
        let computed = if spec.mass.is_some() && spec.inertia.is_some() {
            MassProperties { mass: 0.0, center: Vec3::ZERO, inertia: Mat3::ZERO }
        } else {
            self.mass_from_shapes(spec, &shapes)?
        };
        let mass = spec.mass.unwrap_or(computed.mass);
        let inertia = match spec.inertia {
            Some(inertia) => inertia,
            // the given mass spread over the shapes
            None => computed.inertia * (mass / computed.mass),
        };
        if spec.mass.is_none() || spec.inertia.is_none() {
            body.p_bc = spec.center_of_mass.unwrap_or(computed.center);
        }
        body.mass = mass;
        body.I_c = inertia;
        body.isotropic = is_isotropic(&inertia);
        body.oriented = !body.isotropic;
        self.check_inertia(spec, mass, &inertia, body.p_bc, &shapes)?;
        // not used where a joint holds the body, which alone may lack inertia
        body.I_c_inverse = if inertia.determinant() > 0.0 { inertia.inverse() } else { Mat3::ZERO };
        Some((body, shapes))
    }

    /// A hull or pieces in place of a mesh are said, with how much they add; the hull of a convex mesh is the mesh.
    fn note_touching(&mut self, spec: &scene::Body, shape_spec: &ShapeSpec, shapes: &[Shape]) {
        let ShapeKind::Mesh { mesh, touches, .. } = &shape_spec.kind else { return };
        let name = &spec.name;
        match touches {
            Touching::Mesh => {}
            Touching::Hull => {
                let more = shapes[0].mass_properties(1.0).map_or(0.0, |hull| hull.mass / mesh.volume() - 1.0);
                if more > 1e-9 {
                    self.warnings.push(format!(
                        "body \"{name}\": the convex hull of its mesh touches instead of it, with {:.1} % more volume",
                        100.0 * more
                    ));
                }
            }
            Touching::Pieces { pieces, .. } => {
                let (count, more) = (pieces.hulls.len(), pieces.excess / mesh.volume());
                let convex = if count == 1 { "convex piece touches" } else { "convex pieces touch" };
                let left = if more > 1e-8 {
                    let (share, depth) = (100.0 * more, 1e3 * pieces.depth);
                    format!("with {share:.2} % more volume; its surface lies up to {depth:.3} mm under theirs")
                } else {
                    "which fill it exactly".into()
                };
                self.warnings.push(format!("body \"{name}\": {count} {convex} instead of its mesh, {left}"));
            }
        }
    }

    fn mass_from_shapes(&mut self, spec: &scene::Body, shapes: &[Made<'_>]) -> Option<MassProperties> {
        if shapes.is_empty() {
            self.fail(
                spec.places.entity,
                format!("body \"{}\" has no shape to compute its mass and inertia from", spec.name),
                "give it a shape and a material, or mass and inertia",
            );
            return None;
        }
        let mut parts = Vec::new();
        for (shape_spec, made) in shapes {
            let density = match shape_spec.density.or(spec.density) {
                Some(density) => density,
                None => match shape_spec.material.as_ref().or(spec.material.as_ref()) {
                    Some(name) => self.material(name, spec.places.of("material"))?.density,
                    None if spec.mass.is_some() => 1.0,
                    None => {
                        self.fail(
                            spec.places.entity,
                            format!("body \"{}\" has neither mass nor material nor density", spec.name),
                            "add material = \"steel\", density = ... or mass = ...",
                        );
                        return None;
                    }
                },
            };
            // What touches in the place of a mesh does not change its mass.
            let own = match &shape_spec.kind {
                ShapeKind::Mesh { mesh, .. } => Shape::Mesh(mesh.clone()).mass_properties(density),
                _ => made[0].mass_properties(density),
            };
            match own {
                Ok(m) => {
                    let R_bs = Mat3::from_quat(shape_spec.orientation * shape_rotation(&shape_spec.kind));
                    parts.push((m.mass, shape_spec.position + R_bs * m.center, R_bs * m.inertia * R_bs.transpose()));
                }
                Err(error) => {
                    self.fail(
                        shape_spec.places.entity,
                        format!("body \"{}\": {error}", spec.name),
                        "make the body fixed, or give it mass and inertia",
                    );
                    return None;
                }
            }
        }
        let mass: f64 = parts.iter().map(|p| p.0).sum();
        let center = parts.iter().map(|p| p.0 * p.1).sum::<Vec3>() / mass;
        let mut inertia = Mat3::ZERO;
        for (m, c, I) in parts {
            let r = c - center;
            inertia += I
                + (Mat3::from_diagonal(Vec3::splat(r.length_squared())) - Mat3::from_cols(r * r.x, r * r.y, r * r.z))
                    * m;
        }
        Some(MassProperties { mass, center, inertia })
    }

    /// Impossible inertia is an error, implausible a warning.
    fn check_inertia(
        &mut self,
        spec: &scene::Body,
        mass: f64,
        inertia: &Mat3,
        center: Vec3,
        shapes: &[Made<'_>],
    ) -> Option<()> {
        let place = spec.places.of("inertia");
        let name = &spec.name;
        if !(mass > 0.0 && mass.is_finite()) {
            self.fail(
                spec.places.of("mass"),
                format!("body \"{name}\" has mass {mass} kg; a mass is > 0"),
                "leave it out to compute it from shape and density",
            );
            return None;
        }
        let symmetric =
            (*inertia - inertia.transpose()).to_cols_array().iter().all(|v| v.abs() <= 1e-12 * mass.max(1.0));
        let p = principal_moments(inertia);
        let jointed = self.scene.joints.iter().any(|j| j.attachments("bodies").iter().any(|a| a.body == *name));
        let least = p.min_element();
        if !symmetric || !p.is_finite() || least < 0.0 || (least == 0.0 && !jointed) {
            self.fail(
                place,
                format!(
                    "body \"{name}\" has impossible inertia: principal moments {:.3e}, {:.3e}, {:.3e} kg m2",
                    p.x, p.y, p.z
                ),
                if least == 0.0 {
                    "a moment may be zero only where a joint keeps the body from turning about that axis"
                } else {
                    "an inertia matrix is symmetric and positive; leave it out to compute it"
                },
            );
            return None;
        }
        if p.x + p.y < p.z * (1.0 - 1e-9) {
            self.warnings.push(format!(
                "body \"{name}\": no distribution of mass has these moments about its centre of mass: {:.6e} + {:.6e} < \
                 {:.6e} kg m2",
                p.x, p.y, p.z
            ));
        }
        let reach = shapes
            .iter()
            .flat_map(|(s, made)| made.iter().map(move |shape| (s, shape)))
            .map(|(s, shape)| (s.position - center).length() + shape.bounding_radius_about(Vec3::ZERO))
            .fold(0.0, f64::max);
        if reach > 0.0 && reach.is_finite() && p.z > mass * reach * reach {
            self.warnings.push(format!(
                "body \"{name}\": inertia {:.3e} kg m2 is larger than all its mass at its farthest point gives ({:.3e})",
                p.z,
                mass * reach * reach
            ));
        }
        Some(())
    }

    /// Rolling friction that the scene asks for where triangles touch, which have none: a facet has no radius.
    fn check_rolling(&mut self, model: &Model) {
        let is_mesh = |e: &&Collider| matches!(e.shape, Shape::Mesh(_));
        let meshes: BTreeSet<u32> = model.colliders.iter().filter(is_mesh).map(|e| e.body).collect();
        let bodies = || meshes.iter().map(|&b| &self.scene.bodies[b as usize]);
        let of = |body: &tippe_scene::Body, between: &Between| match between {
            Between::Bodies(a, b) => [a, b].contains(&&body.name) || a.starts_with("group:") || b.starts_with("group:"),
            Between::Materials(a, b) => body.material.as_ref().is_some_and(|own| own == a || own == b),
        };
        let asked = |rolling: Option<f64>| rolling.is_some_and(|rolling| rolling > 0.0);
        let body = match asked(self.scene.contact.rolling) {
            true => bodies().next(),
            false => bodies().find(|body| {
                self.scene.pairs.iter().any(|pair| asked(pair.contact.rolling) && of(body, &pair.between))
            }),
        };
        if let Some(body) = body {
            self.warnings.push(format!(
                "rolling friction acts between smooth shapes: body \"{}\" is a mesh, and where triangles touch there is none",
                body.name
            ));
        }
    }

    /// Bodies that start deep in each other.
    fn check_overlaps(&mut self, model: &Model) {
        if !self.errors.is_empty() {
            return;
        }
        let boxes: Vec<_> = model.colliders.iter().map(|e| e.aabb(&start_pose(model, e.body as usize))).collect();
        for (i, j) in tippe_geometry::broad::pairs(&boxes, tippe_geometry::broad::Broad::Bvh) {
            let (i, j) = (i as usize, j as usize);
            if model.contact_between(i, j).is_none() {
                continue;
            }
            let (e1, e2) = (&model.colliders[i], &model.colliders[j]);
            let X = [e1, e2].map(|e| start_pose(model, e.body as usize).then(&e.X_cs));
            let mesh = [e1, e2].iter().any(|e| matches!(e.shape, Shape::Mesh(_)));
            // the distance of meshes is that of their hulls, which may well be one in the other
            let surfaces = SurfacePair::new([e1, e2], 1.0, 0).filter(|_| mesh);
            let shared = surfaces.as_ref().and_then(|surfaces| surfaces.shared(&X)).unwrap_or(0.0);
            if shared > MOST_SHARED {
                self.fail(
                    self.scene.bodies[e2.body as usize].places.entity,
                    format!(
                        "bodies \"{}\" and \"{}\" start in each other: they share {:.0} % of the smaller one",
                        model.bodies[e1.body as usize].name,
                        model.bodies[e2.body as usize].name,
                        100.0 * shared
                    ),
                    "move them apart, or let them ignore each other ([[ignore]] bodies = [...])",
                );
                continue;
            }
            let gap = match surfaces {
                Some(surfaces) => surfaces.measure(&X, true).0,
                None => tippe_geometry::separation(&e1.shape, &X[0], &e2.shape, &X[1]).gap,
            };
            let size = e1.radius.min(e2.radius);
            if gap < -0.1 * size {
                self.fail(
                    self.scene.bodies[e2.body as usize].places.entity,
                    format!(
                        "bodies \"{}\" and \"{}\" start {:.4} m deep in each other, more than a tenth of their size",
                        model.bodies[e1.body as usize].name, model.bodies[e2.body as usize].name, -gap
                    ),
                    "move them apart, or let them ignore each other ([[ignore]] bodies = [...])",
                );
            } else if gap < -1e-3 * size {
                self.warnings.push(format!(
                    "bodies \"{}\" and \"{}\" start {:.3e} m deep in each other",
                    model.bodies[e1.body as usize].name, model.bodies[e2.body as usize].name, -gap
                ));
            }
        }
    }
}

/// A shape of a scene and what touches for it.
type Made<'s> = (&'s ShapeSpec, Vec<Shape>);

/// Pose of a body's frame c at the start.
fn start_pose(model: &Model, body: usize) -> Pose {
    let start = &model.start[body];
    Pose::new(start.orientation, start.position + start.orientation * model.bodies[body].p_bc)
}

fn is_isotropic(I: &Mat3) -> bool {
    let d = I.x_axis.x;
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-14 * d.abs();
    close(I.y_axis.y, d)
        && close(I.z_axis.z, d)
        && [I.x_axis.y, I.x_axis.z, I.y_axis.z, I.y_axis.x, I.z_axis.x, I.z_axis.y].iter().all(|v| close(*v, 0.0))
}

/// Principal moments of a symmetric matrix, ascending: roots of its characteristic polynomial by the trigonometric
/// form (Smith 1961).
fn principal_moments(I: &Mat3) -> Vec3 {
    let off = I.x_axis.y * I.x_axis.y + I.x_axis.z * I.x_axis.z + I.y_axis.z * I.y_axis.z;
    let (a, b, c) = (I.x_axis.x, I.y_axis.y, I.z_axis.z);
    if off == 0.0 {
        let mut v = [a, b, c];
        v.sort_by(f64::total_cmp);
        return Vec3::from_array(v);
    }
    let q = (a + b + c) / 3.0;
    let p = (((a - q) * (a - q) + (b - q) * (b - q) + (c - q) * (c - q) + 2.0 * off) / 6.0).sqrt();
    let B = (*I - Mat3::from_diagonal(Vec3::splat(q))) * (1.0 / p);
    let phi = libm::acos((0.5 * B.determinant()).clamp(-1.0, 1.0)) / 3.0;
    let high = q + 2.0 * p * libm::cos(phi);
    let low = q + 2.0 * p * libm::cos(phi + 2.0 * std::f64::consts::PI / 3.0);
    Vec3::new(low, 3.0 * q - high - low, high)
}

/// Largest length of a form [m]; a half-space has none.
fn largest(kind: &scene::ShapeKind) -> f64 {
    use scene::ShapeKind as Kind;
    let most = |points: &[Vec3]| points.iter().map(|p| p.abs().max_element()).fold(0.0, f64::max);
    match kind {
        Kind::Sphere { radius } => *radius,
        Kind::Ellipsoid { semi_axes } => semi_axes.max_element(),
        Kind::Box { half_extents, .. } => half_extents.max_element(),
        Kind::Cylinder { radius, length, .. } | Kind::Capsule { radius, length, .. } => radius.max(*length),
        Kind::Cone { radius, top_radius, length, .. } => radius.max(*top_radius).max(*length),
        Kind::HalfSpace { .. } => 0.0,
        Kind::Profile { curve, length } => {
            tippe_parts::curve::built(curve).map_or(0.0, |curve| curve.length()).max(*length)
        }
        Kind::Hull { points, .. } => most(points),
        Kind::HeightGrid { heights, size } => {
            heights.iter().flatten().map(|height| height.abs()).fold(size[0].max(size[1]), f64::max)
        }
        Kind::Mesh { mesh, .. } => most(&mesh.surface().vertices),
    }
}
