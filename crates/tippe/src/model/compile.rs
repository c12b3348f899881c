//! Scene to model: every reference resolved, every number checked, everything missing computed and said so.

use super::{Body, ContactParameters, Drive, Element, Lever, Model};
use crate::contact::friction::FrictionLaw;
use crate::contact::normal::NormalLaw;
use crate::contact::user_law::UserLaw;
use crate::material;
use crate::observe::BodyState;
use crate::scene::{self, Between, ContactSpec, LawChoice, Scene, SceneError, SceneErrors, ShapeKind, ShapeSpec};
use std::collections::BTreeMap;
use std::sync::Arc;
use tippe_geometry::shape::{ContactKind, MassProperties, contact_kind};
use tippe_geometry::{HeightGrid, Hull, Mat3, Pose, Quat, Shape, Vec3};

/// Defaults of the contact laws, used where neither pair nor scene says anything.
mod default {
    /// cor_min of seed 001 eq. (7) [-].
    pub const RESTITUTION_MIN: f64 = 0.001;
    /// d_max of seed 001 eq. (10) [s/m].
    pub const DAMPING_MAX: f64 = 1000.0;
    /// v_min of the regularised friction laws [m/s].
    pub const SLIP_SPEED: f64 = 0.01;
    /// omega_min of seed 001 eq. (3d) [rad/s].
    pub const SPIN_SPEED: f64 = 0.01;
    /// v_eps of Coulomb-Contensou friction [m/s]; results are converged below 1e-3 (modelica-contact.md V21).
    pub const CONTENSOU_SPEED: f64 = 1e-4;
}

impl Model {
    /// Compiles a scene, or says everything that is wrong with it.
    pub fn compile(scene: &Scene) -> Result<Model, SceneErrors> {
        let mut compiler = Compiler { scene, errors: Vec::new(), warnings: Vec::new() };
        let model = compiler.model();
        match model {
            Some(model) if compiler.errors.is_empty() => Ok(model),
            _ => Err(SceneErrors(compiler.errors)),
        }
    }
}

struct Compiler<'a> {
    scene: &'a Scene,
    errors: Vec<SceneError>,
    warnings: Vec<String>,
}

/// Elements with equal keys share their row of the contact table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ClassKey {
    material: Option<String>,
    groups: Vec<String>,
    ignored_groups: Vec<String>,
}

#[derive(Clone, Copy)]
struct Elastic {
    density: f64,
    young: f64,
    poisson: f64,
}

impl Compiler<'_> {
    fn model(&mut self) -> Option<Model> {
        let mut bodies = Vec::new();
        let mut elements = Vec::new();
        let mut start = Vec::new();
        let mut classes: Vec<(ClassKey, usize)> = Vec::new();
        for (index, spec) in self.scene.bodies.iter().enumerate() {
            let first = elements.len();
            let Some((mut body, shapes)) = self.body(spec) else { continue };
            for (shape_spec, shape) in shapes {
                if !(spec.collide && shape_spec.collide) {
                    continue;
                }
                let key = class_key(spec, shape_spec);
                let class = classes.iter().position(|(k, _)| *k == key).unwrap_or_else(|| {
                    classes.push((key, index));
                    classes.len() - 1
                });
                let X_cs = Pose::new(
                    shape_spec.orientation * shape_rotation(&shape_spec.kind),
                    shape_spec.position - body.p_bc,
                );
                let radius = shape.bounding_radius_about(Vec3::ZERO);
                body.radius = body.radius.max(X_cs.position.length() + radius);
                let centred_ball = matches!(shape, Shape::Sphere { .. }) && X_cs.position == Vec3::ZERO;
                body.oriented |= !centred_ball;
                elements.push(Element { body: index as u32, X_cs, shape, radius, class: class as u32 });
            }
            body.elements = first..elements.len();
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
        let mut parameters = Vec::new();
        let by_class = self.class_table(&classes, &bodies, &mut parameters);
        let by_bodies = self.body_table(&bodies, &elements, &classes, &mut parameters);
        let model = Model {
            bodies,
            elements,
            gravity: self.scene.gravity,
            warnings: Vec::new(),
            parameters,
            by_class,
            classes: classes.len(),
            by_bodies,
            start,
        };
        self.check_shapes(&model);
        let mut model = model;
        model.warnings = std::mem::take(&mut self.warnings);
        Some(model)
    }

    fn fail(&mut self, place: scene::Place, message: String, help: &str) {
        self.errors.push(self.scene.error(place, message, help));
    }

    fn material(&mut self, name: &str, place: scene::Place) -> Option<Elastic> {
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

    /// The body without its elements, and its shapes.
    fn body<'s>(&mut self, spec: &'s scene::Body) -> Option<(Body, Vec<(&'s ShapeSpec, Shape)>)> {
        let mut shapes = Vec::new();
        for shape_spec in &spec.shapes {
            match shape(&shape_spec.kind) {
                Ok(shape) => shapes.push((shape_spec, shape)),
                Err(error) => {
                    self.fail(shape_spec.places.entity, format!("body \"{}\": {error}", spec.name), "");
                    return None;
                }
            }
        }
        let drive = match spec.motion {
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
            elements: 0..0,
            radius: 0.0,
            oriented: false,
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
        body.I_c_inverse = inertia.inverse();
        Some((body, shapes))
    }

    fn mass_from_shapes(&mut self, spec: &scene::Body, shapes: &[(&ShapeSpec, Shape)]) -> Option<MassProperties> {
        if shapes.is_empty() {
            self.fail(
                spec.places.entity,
                format!("body \"{}\" has no shape to compute its mass and inertia from", spec.name),
                "give it a shape and a material, or mass and inertia",
            );
            return None;
        }
        let mut parts = Vec::new();
        for (shape_spec, shape) in shapes {
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
            match shape.mass_properties(density) {
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
        shapes: &[(&ShapeSpec, Shape)],
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
        if !symmetric || !p.is_finite() || p.min_element() <= 0.0 {
            self.fail(
                place,
                format!(
                    "body \"{name}\" has impossible inertia: principal moments {:.3e}, {:.3e}, {:.3e} kg m2",
                    p.x, p.y, p.z
                ),
                "an inertia matrix is symmetric and positive; leave it out to compute it",
            );
            return None;
        }
        if p.x + p.y < p.z * (1.0 - 1e-9) {
            self.fail(
                place,
                format!(
                    "body \"{name}\" has impossible inertia: moments {:.6e} + {:.6e} < {:.6e} kg m2 break the triangle rule",
                    p.x, p.y, p.z
                ),
                "no distribution of mass has these moments about its centre of mass",
            );
            return None;
        }
        let reach = shapes
            .iter()
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

    fn class_table(
        &mut self,
        classes: &[(ClassKey, usize)],
        bodies: &[Body],
        parameters: &mut Vec<ContactParameters>,
    ) -> Vec<Option<u32>> {
        let n = classes.len();
        let mut table = vec![None; n * n];
        let free: Vec<bool> = classes
            .iter()
            .map(|(key, _)| {
                self.scene.bodies.iter().zip(bodies).any(|(spec, body)| {
                    body.drive == Drive::Free && spec.shapes.iter().any(|s| class_key(spec, s) == *key)
                })
            })
            .collect();
        // a class may touch itself if two bodies are in it
        let last_of = |key: &ClassKey| {
            let is_in = |body: &scene::Body| body.shapes.iter().any(|s| class_key(body, s) == *key);
            self.scene.bodies.iter().rposition(is_in).unwrap_or(0)
        };
        let last: Vec<usize> = classes.iter().map(|(key, _)| last_of(key)).collect();
        for i in 0..n {
            for j in i..n {
                let ((a, first), (b, second)) = (&classes[i], &classes[j]);
                if !(free[i] || free[j]) || (i == j && last[i] == *first) || self.groups_ignore(a, b) {
                    continue;
                }
                let spec = self.material_spec(a.material.as_deref(), b.material.as_deref());
                let Some(spec) = spec else { continue };
                let second = if i == j { last[i] } else { *second };
                let names = (bodies[*first].name.clone(), bodies[second].name.clone());
                let place = self.scene.bodies[second].places.entity;
                if let Some(p) = self.parameters(&spec, a.material.as_deref(), b.material.as_deref(), &names, place) {
                    parameters.push(p);
                    table[i * n + j] = Some(parameters.len() as u32 - 1);
                    table[j * n + i] = table[i * n + j];
                }
            }
        }
        table
    }

    /// True when groups keep two classes apart.
    fn groups_ignore(&self, a: &ClassKey, b: &ClassKey) -> bool {
        let listed = |x: &ClassKey, y: &ClassKey| x.ignored_groups.iter().any(|g| y.groups.contains(g));
        let member =
            |word: &str, key: &ClassKey| word.strip_prefix("group:").is_some_and(|g| key.groups.iter().any(|k| k == g));
        listed(a, b)
            || listed(b, a)
            || self.scene.ignores.iter().any(|rule| {
                (member(&rule.first, a) && member(&rule.second, b))
                    || (member(&rule.first, b) && member(&rule.second, a))
            })
    }

    /// What the scene says about a pair of materials; `None` when it must never collide.
    fn material_spec(&self, a: Option<&str>, b: Option<&str>) -> Option<ContactSpec> {
        let mut spec = ContactSpec::default();
        for pair in &self.scene.pairs {
            if let Between::Materials(x, y) = &pair.between {
                let (x, y) = (Some(x.as_str()), Some(y.as_str()));
                if (x == a && y == b) || (x == b && y == a) {
                    if pair.ignore {
                        return None;
                    }
                    fill(&mut spec, &pair.contact);
                }
            }
        }
        fill(&mut spec, &self.scene.contact);
        Some(spec)
    }

    /// Pairs of bodies that were named, one by one or by group.
    fn body_table(
        &mut self,
        bodies: &[Body],
        elements: &[Element],
        classes: &[(ClassKey, usize)],
        parameters: &mut Vec<ContactParameters>,
    ) -> BTreeMap<(u32, u32), Option<u32>> {
        let mut table: BTreeMap<(u32, u32), Option<u32>> = BTreeMap::new();
        let scene = self.scene;
        for pair in &scene.pairs {
            let Between::Bodies(first, second) = &pair.between else { continue };
            for i in self.matching(first, pair.places.entity) {
                for j in self.matching(second, pair.places.entity) {
                    if i == j {
                        continue;
                    }
                    let key = (i.min(j) as u32, i.max(j) as u32);
                    if pair.ignore {
                        table.insert(key, None);
                        continue;
                    }
                    let (Some(e1), Some(e2)) = (
                        bodies[i].elements.clone().next().map(|e| &elements[e]),
                        bodies[j].elements.clone().next().map(|e| &elements[e]),
                    ) else {
                        continue;
                    };
                    let (a, b) =
                        (classes[e1.class as usize].0.material.clone(), classes[e2.class as usize].0.material.clone());
                    let mut spec = pair.contact.clone();
                    if let Some(general) = self.material_spec(a.as_deref(), b.as_deref()) {
                        fill(&mut spec, &general);
                    }
                    let names = (bodies[i].name.clone(), bodies[j].name.clone());
                    let place = pair.places.entity;
                    if let Some(p) = self.parameters(&spec, a.as_deref(), b.as_deref(), &names, place) {
                        parameters.push(p);
                        table.insert(key, Some(parameters.len() as u32 - 1));
                    }
                }
            }
        }
        let mut never = |i: usize, j: usize| {
            if i != j {
                table.insert((i.min(j) as u32, i.max(j) as u32), None);
            }
        };
        for rule in &scene.ignores {
            if rule.first.starts_with("group:") && rule.second.starts_with("group:") {
                continue;
            }
            for i in self.matching(&rule.first, rule.places.entity) {
                for j in self.matching(&rule.second, rule.places.entity) {
                    never(i, j);
                }
            }
        }
        for (i, spec) in scene.bodies.iter().enumerate() {
            for other in spec.ignore.iter().filter(|o| !o.starts_with("group:")) {
                for j in self.matching(other, spec.places.of("ignore")) {
                    never(i, j);
                }
            }
        }
        table
    }

    /// Bodies a word stands for: a name, or `group:NAME`.
    fn matching(&mut self, word: &str, place: scene::Place) -> Vec<usize> {
        let found: Vec<usize> = match word.strip_prefix("group:") {
            Some(group) => (0..self.scene.bodies.len())
                .filter(|&k| self.scene.bodies[k].groups.iter().any(|g| g == group))
                .collect(),
            None => (0..self.scene.bodies.len()).filter(|&k| self.scene.bodies[k].name == word).collect(),
        };
        if found.is_empty() {
            let names: Vec<&str> = self.scene.bodies.iter().map(|b| b.name.as_str()).collect();
            let help = scene::did_you_mean(word, names);
            self.fail(place, format!("there is no body or group \"{word}\""), &help);
        }
        found
    }

    fn parameters(
        &mut self,
        spec: &ContactSpec,
        material1: Option<&str>,
        material2: Option<&str>,
        names: &(String, String),
        place: scene::Place,
    ) -> Option<ContactParameters> {
        let table = material1.zip(material2).and_then(|(a, b)| {
            let a = if a == "wood" { "dry_wood" } else { a };
            let b = if b == "wood" { "dry_wood" } else { b };
            material::find_pair(a, b)
        });
        let friction_wanted = spec.friction_law != Some(scene::FrictionLaw::None);
        let (law_name, user) = match spec.law.as_ref() {
            None => (scene::NormalLaw::Hertz, None),
            Some(LawChoice::BuiltIn(law)) => (*law, None),
            Some(LawChoice::Custom(name)) => (scene::NormalLaw::Hertz, Some(name.clone())),
        };
        use scene::NormalLaw as L;
        let needs_restitution = user.is_none() && matches!(law_name, L::Hertz | L::Modia3d | L::Foundation);
        let needs_modulus = spec.modulus.is_none() && !matches!(law_name, L::Collisionlib | L::Bardaro | L::Linear);
        let known = |m: Option<&str>| m.is_some();
        let restitution = spec.restitution.or(table.map(|t| t.restitution));
        let friction = spec.friction.or(table.map(|t| t.friction));
        let missing_pair = (needs_restitution && restitution.is_none()) || (friction_wanted && friction.is_none());
        if (needs_modulus || missing_pair) && !(known(material1) && known(material2)) {
            let bare = if known(material1) { &names.1 } else { &names.0 };
            self.fail(
                place,
                format!(
                    "body \"{bare}\" may touch \"{}\" but has no material",
                    if known(material1) { &names.0 } else { &names.1 }
                ),
                "give it a material, or set collide = false",
            );
            return None;
        }
        if missing_pair {
            let (a, b) = (material1.unwrap_or("?"), material2.unwrap_or("?"));
            self.fail(
                place,
                format!(
                    "no contact data for materials \"{a}\" and \"{b}\", needed by bodies \"{}\" and \"{}\"",
                    names.0, names.1
                ),
                &format!("add [[pair]] materials = [\"{a}\", \"{b}\"] with restitution and friction"),
            );
            return None;
        }
        let elastic = |compiler: &mut Self, m: Option<&str>| m.and_then(|name| compiler.material(name, place));
        let (m1, m2) = (elastic(self, material1), elastic(self, material2));
        let (computed, kappa) = match (m1, m2) {
            (Some(a), Some(b)) => (
                material::effective_modulus(a.young, a.poisson, b.young, b.poisson),
                material::tangential_ratio(a.young, a.poisson, b.young, b.poisson),
            ),
            // nu = 0.3 on both sides
            _ => (0.0, 1.4 / 1.7),
        };
        let k_red = spec.k_red.unwrap_or(1.0);
        let modulus = spec.modulus.unwrap_or(computed) * k_red;
        let restitution = restitution.unwrap_or(1.0);
        let blend_speed = spec.blend_speed.unwrap_or(crate::contact::normal::BLEND_SPEED);
        let law = match user {
            Some(name) => self.user_law(&name, restitution, k_red, place)?,
            None => match law_name {
                L::Hertz => NormalLaw::Hertz { restitution, blend_speed },
                L::Foundation => NormalLaw::Foundation { restitution, blend_speed },
                L::Modia3d => NormalLaw::Modia3d {
                    restitution,
                    blend_speed,
                    restitution_min: spec.restitution_min.unwrap_or(default::RESTITUTION_MIN),
                    damping_max: spec.damping_max.unwrap_or(default::DAMPING_MAX),
                    linear: false,
                },
                L::Collisionlib => NormalLaw::CollisionLib {
                    stiffness: self.stiffness(spec, "collisionlib", names)? * k_red,
                    exponent: spec.exponent.unwrap_or(1.5),
                    damping: spec.damping.unwrap_or(0.0),
                },
                L::Nassauer | L::Volume => NormalLaw::Volume { damping: spec.damping.unwrap_or(0.0) },
                L::Bardaro => NormalLaw::Bardaro {
                    stiffness: self.stiffness(spec, "bardaro", names)? * k_red,
                    damping: spec.damping.unwrap_or(0.0),
                },
                L::Linear => NormalLaw::Linear {
                    stiffness: self.stiffness(spec, "linear", names)? * k_red,
                    damping: spec.damping.unwrap_or(0.0),
                },
            },
        };
        use scene::FrictionLaw as F;
        let slip_speed = spec.slip_speed.unwrap_or(default::SLIP_SPEED);
        let friction = friction.unwrap_or(0.0);
        let friction_law = match spec.friction_law.unwrap_or(F::Mindlin) {
            F::None => FrictionLaw::None,
            F::Mindlin => FrictionLaw::Mindlin,
            F::Regularised => {
                FrictionLaw::Regularised { slip_speed, spin_speed: spec.spin_speed.unwrap_or(default::SPIN_SPEED) }
            }
            F::Sqrt => FrictionLaw::Sqrt { slip_speed },
            F::Nassauer => FrictionLaw::Nassauer { slip_speed },
            F::Collisionlib => {
                FrictionLaw::CollisionLib { slip_speed, force_max: spec.force_max.unwrap_or(f64::INFINITY) }
            }
            F::Contensou => FrictionLaw::Contensou { slip_speed: spec.slip_speed.unwrap_or(default::CONTENSOU_SPEED) },
        };
        let friction = if friction_wanted { friction } else { 0.0 };
        let rolling = if friction_wanted { spec.rolling.or(table.map(|t| t.rolling)).unwrap_or(0.0) } else { 0.0 };
        let frictionless = friction == 0.0 && rolling == 0.0;
        Some(ContactParameters {
            law,
            friction_law: if frictionless { FrictionLaw::None } else { friction_law },
            modulus,
            kappa,
            friction,
            static_friction: spec.static_friction.unwrap_or(friction),
            rolling,
            spin: spec.spin.unwrap_or(0.0),
            patch_radius: spec.patch_radius.unwrap_or(0.0),
            radius: spec.radius,
            lever: match spec.lever.unwrap_or(scene::Lever::Midpoint) {
                scene::Lever::Midpoint => Lever::Midpoint,
                scene::Lever::Surface1 => Lever::Surface1,
                scene::Lever::Surface2 => Lever::Surface2,
            },
        })
    }

    /// The stiffness that a law cannot do without.
    fn stiffness(&mut self, spec: &ContactSpec, law: &str, names: &(String, String)) -> Option<f64> {
        if spec.stiffness.is_none() {
            let message = format!("law \"{law}\" between bodies \"{}\" and \"{}\" needs `stiffness`", names.0, names.1);
            self.fail(spec.places.of("law"), message, "add stiffness = ... to the [[pair]] or to [contact]");
        }
        spec.stiffness
    }

    fn user_law(&mut self, name: &str, restitution: f64, k_red: f64, place: scene::Place) -> Option<NormalLaw> {
        let scene = self.scene;
        let Some(law) = scene.laws.iter().find(|l| l.name == name) else {
            let names: Vec<&str> = scene.laws.iter().map(|l| l.name.as_str()).collect();
            self.fail(place, format!("there is no law \"{name}\""), &scene::did_you_mean(name, names));
            return None;
        };
        match UserLaw::compile(scene, law, restitution, k_red) {
            Ok(compiled) => {
                for warning in law.unchecked_units(scene) {
                    if !self.warnings.contains(&warning) {
                        self.warnings.push(warning);
                    }
                }
                Some(NormalLaw::Custom(Arc::new(compiled)))
            }
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    /// Pairs of shapes nobody can measure, and bodies that start deep in each other.
    fn check_shapes(&mut self, model: &Model) {
        let mut seen: Vec<(&str, &str)> = Vec::new();
        let boxes: Vec<_> = model.elements.iter().map(|e| e.aabb(&start_pose(model, e.body as usize))).collect();
        let n = model.elements.len();
        // shapes: one message per kind of pair, found without looking at every pair of a large scene
        let mut kinds: Vec<usize> = Vec::new();
        for k in 0..n {
            let e = &model.elements[k];
            let free = model.bodies[e.body as usize].drive == Drive::Free;
            let new = !kinds.iter().any(|&i| {
                let o = &model.elements[i];
                std::mem::discriminant(&o.shape) == std::mem::discriminant(&e.shape)
                    && o.class == e.class
                    && (model.bodies[o.body as usize].drive == Drive::Free) == free
                    && o.body == e.body
            });
            let crowded = kinds.len() > 200;
            if new && !crowded {
                kinds.push(k);
            }
        }
        for (a, &i) in kinds.iter().enumerate() {
            for &j in &kinds[a + 1..] {
                if model.contact_between(i, j).is_none() {
                    continue;
                }
                let (s1, s2) = (&model.elements[i].shape, &model.elements[j].shape);
                if let ContactKind::Unsupported { why } = contact_kind(s1, s2) {
                    let names = (s1.name().min(s2.name()), s1.name().max(s2.name()));
                    if !seen.contains(&names) {
                        seen.push(names);
                        let (b1, b2) = (model.elements[i].body as usize, model.elements[j].body as usize);
                        self.fail(
                            self.scene.bodies[b2].places.entity,
                            format!(
                                "bodies \"{}\" and \"{}\" may touch, but contact of {} and {} is not supported: {why}",
                                model.bodies[b1].name, model.bodies[b2].name, names.0, names.1
                            ),
                            "let them ignore each other ([[ignore]] bodies = [...]), or round one of them (sphere, ellipsoid)",
                        );
                    }
                }
            }
        }
        if !self.errors.is_empty() {
            return;
        }
        for (i, j) in tippe_geometry::broad::pairs(&boxes, tippe_geometry::broad::Broad::Bvh) {
            let (i, j) = (i as usize, j as usize);
            if model.contact_between(i, j).is_none() {
                continue;
            }
            let (e1, e2) = (&model.elements[i], &model.elements[j]);
            let (X1, X2) = (start_pose(model, e1.body as usize), start_pose(model, e2.body as usize));
            let gap = tippe_geometry::separation(&e1.shape, &X1.then(&e1.X_cs), &e2.shape, &X2.then(&e2.X_cs)).gap;
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

/// Pose of a body's frame c at the start.
fn start_pose(model: &Model, body: usize) -> Pose {
    let start = &model.start[body];
    Pose::new(start.orientation, start.position + start.orientation * model.bodies[body].p_bc)
}

fn class_key(body: &scene::Body, shape: &ShapeSpec) -> ClassKey {
    ClassKey {
        material: shape.material.clone().or_else(|| body.material.clone()),
        groups: body.groups.clone(),
        ignored_groups: body.ignore.iter().filter_map(|w| w.strip_prefix("group:").map(str::to_owned)).collect(),
    }
}

/// Fills what `spec` leaves open from a more general one. Its places become those of the table that names the law.
fn fill(spec: &mut ContactSpec, general: &ContactSpec) {
    if spec.law.is_none() {
        spec.places = general.places.clone();
    }
    macro_rules! fill {
        ($($field:ident),+) => { $( if spec.$field.is_none() { spec.$field = general.$field.clone(); } )+ };
    }
    fill!(
        restitution,
        friction,
        static_friction,
        rolling,
        spin,
        law,
        friction_law,
        stiffness,
        exponent,
        damping,
        damping_max,
        restitution_min,
        blend_speed,
        slip_speed,
        spin_speed,
        patch_radius,
        radius,
        modulus,
        force_max,
        lever,
        k_red
    );
}

/// The geometry's shape; its axis is z.
fn shape(kind: &ShapeKind) -> Result<Shape, tippe_geometry::ShapeError> {
    let shape = match kind {
        ShapeKind::Sphere { radius } => Shape::Sphere { radius: *radius },
        ShapeKind::Ellipsoid { semi_axes } => Shape::Ellipsoid { semi_axes: *semi_axes },
        ShapeKind::Box { half_extents, smoothing } => {
            Shape::Box { half_extents: *half_extents, smoothing: smoothing.unwrap_or(0.0) }
        }
        ShapeKind::Cylinder { radius, length, smoothing, .. } => {
            Shape::Cylinder { radius: *radius, half_height: 0.5 * length, smoothing: smoothing.unwrap_or(0.0) }
        }
        ShapeKind::Capsule { radius, length, .. } => Shape::Capsule { radius: *radius, half_length: 0.5 * length },
        ShapeKind::Cone { radius, top_radius, length, smoothing, .. } => Shape::Cone {
            base_radius: *radius,
            top_radius: *top_radius,
            half_height: 0.5 * length,
            smoothing: smoothing.unwrap_or(0.0),
        },
        ShapeKind::HalfSpace { .. } => Shape::HalfSpace,
        ShapeKind::Hull { points, .. } => Shape::Hull(Arc::new(Hull::new(points)?)),
        ShapeKind::HeightGrid { heights, size } => {
            let rows = heights.len();
            let columns = heights.first().map_or(0, Vec::len);
            let spacing =
                [size[0] / columns.saturating_sub(1).max(1) as f64, size[1] / rows.saturating_sub(1).max(1) as f64];
            Shape::HeightGrid(Arc::new(HeightGrid::new(columns, rows, spacing, heights.concat())?))
        }
    };
    shape.validate()?;
    Ok(shape)
}

/// Rotation that brings the geometry's z axis to the axis the scene asked for.
fn shape_rotation(kind: &ShapeKind) -> Quat {
    match kind {
        ShapeKind::Cylinder { axis, .. } | ShapeKind::Capsule { axis, .. } | ShapeKind::Cone { axis, .. } => match axis
        {
            scene::Axis::X => Quat::from_xyzw(0.5, 0.5, 0.5, 0.5),
            scene::Axis::Y => Quat::from_xyzw(-0.5, -0.5, -0.5, 0.5),
            scene::Axis::Z => Quat::IDENTITY,
        },
        ShapeKind::HalfSpace { normal } if *normal != Vec3::Z => {
            if *normal == -Vec3::Z {
                Quat::from_xyzw(1.0, 0.0, 0.0, 0.0)
            } else {
                // half way between z and the normal, twice
                let h = (Vec3::Z + *normal).normalize();
                let v = Vec3::Z.cross(h);
                Quat::from_xyzw(v.x, v.y, v.z, Vec3::Z.dot(h)).normalize()
            }
        }
        _ => Quat::IDENTITY,
    }
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
