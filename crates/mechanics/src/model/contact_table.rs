//! The contact table: which colliders may touch, and with which laws and constants.
//!
//! Elements of one material and one list of groups are a class; parameters are found by two classes, unless a pair of
//! bodies was named.

use super::compile::Compiler;
use super::{Body, Collider, ContactParameters, Drive, Lever};
use crate::contact::curve::Curve;
use crate::contact::friction::FrictionLaw;
use crate::contact::normal::NormalLaw;
use crate::contact::user_law::UserLaw;
use std::collections::BTreeMap;
use std::sync::Arc;
use tippe_scene::material::{self, PairOrigin};
use tippe_scene::{self as scene, Between, Clock, ContactSpec, LawChoice, ShapeSpec};

/// Defaults of the contact laws, used where neither pair nor scene says anything.
mod default {
    /// cor_min of Neumayr and Otter 2019, eq. (7) [-].
    pub const RESTITUTION_MIN: f64 = 0.001;
    /// d_max of Neumayr and Otter 2019, eq. (10) [s/m].
    pub const DAMPING_MAX: f64 = 1000.0;
    /// v_min of the regularised friction laws [m/s].
    pub const SLIP_SPEED: f64 = 0.01;
    /// omega_min of Neumayr and Otter 2019, eq. (3d) [rad/s].
    pub const SPIN_SPEED: f64 = 0.01;
    /// v_eps of Coulomb-Contensou friction [m/s]; the times of scene `tippe_top` are converged below 1e-3.
    pub const CONTENSOU_SPEED: f64 = 1e-4;
}

/// Largest restitution of a pair in which it depends on the speed, as far as laws ask whether anything is lost at all [-].
const VARIED_RESTITUTION: f64 = 0.999;

/// Elements with equal keys share their row of the contact table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClassKey {
    material: Option<String>,
    groups: Vec<String>,
    ignored_groups: Vec<String>,
}

impl Compiler<'_> {
    /// Parameters of every two classes that may touch; `None` never collides.
    pub(super) fn class_table(
        &mut self,
        classes: &[(ClassKey, usize)],
        bodies: &[Body],
        by_bodies: &BTreeMap<(u32, u32), Option<u32>>,
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
        let members: Vec<Vec<usize>> = if by_bodies.is_empty() { Vec::new() } else { self.members(classes) };
        // pairs that are named have what they need, or need nothing
        let all_named = |i: usize, j: usize| {
            let unnamed = |a: usize, b: usize| {
                let moves = bodies[a].drive == Drive::Free || bodies[b].drive == Drive::Free;
                a != b && moves && !by_bodies.contains_key(&(a.min(b) as u32, a.max(b) as u32))
            };
            !by_bodies.is_empty() && !members[i].iter().any(|&a| members[j].iter().any(|&b| unnamed(a, b)))
        };
        for i in 0..n {
            for j in i..n {
                let ((a, first), (b, second)) = (&classes[i], &classes[j]);
                if !(free[i] || free[j]) || (i == j && last[i] == *first) || self.groups_ignore(a, b) {
                    continue;
                }
                if all_named(i, j) {
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

    /// Bodies with shapes in each class.
    fn members(&self, classes: &[(ClassKey, usize)]) -> Vec<Vec<usize>> {
        let is_in = |body: &scene::Body, key: &ClassKey| body.shapes.iter().any(|s| class_key(body, s) == *key);
        let of = |key: &ClassKey| (0..self.scene.bodies.len()).filter(|&b| is_in(&self.scene.bodies[b], key)).collect();
        classes.iter().map(|(key, _)| of(key)).collect()
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
    pub(super) fn body_table(
        &mut self,
        bodies: &[Body],
        colliders: &[Collider],
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
                        bodies[i].colliders.clone().next().map(|e| &colliders[e]),
                        bodies[j].colliders.clone().next().map(|e| &colliders[e]),
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

    /// Laws and constants of a pair of materials, from what the scene says and from the tables.
    fn parameters(
        &mut self,
        spec: &ContactSpec,
        material1: Option<&str>,
        material2: Option<&str>,
        names: &(String, String),
        place: scene::Place,
    ) -> Option<ContactParameters> {
        let table = material1.zip(material2).and_then(|(a, b)| self.scene.pair_data(a, b));
        let (table, origin) = (table.map(|(pair, _)| pair), table.map(|(_, origin)| origin));
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
        let curves =
            [&spec.friction_curve, &spec.restitution_curve].map(|c| Curve::through(c.as_deref().unwrap_or(&[])));
        let varied = |curve: Curve, most: f64| (!curve.is_empty()).then(|| curve.largest().min(most));
        let restitution =
            varied(curves[1], VARIED_RESTITUTION).or(spec.restitution).or(table.and_then(|t| t.restitution));
        let fixed = spec.friction_force.map(|_| 1.0);
        let friction = fixed.or(varied(curves[0], f64::INFINITY)).or(spec.friction).or(table.and_then(|t| t.friction));
        let missing_pair = (needs_restitution && restitution.is_none()) || (friction_wanted && friction.is_none());
        if (needs_modulus || missing_pair) && !(known(material1) && known(material2)) {
            let bare = if known(material1) { &names.1 } else { &names.0 };
            self.fail(
                place,
                format!(
                    "body \"{bare}\" may touch \"{}\" but has no material",
                    if known(material1) { &names.0 } else { &names.1 }
                ),
                match self.scene.grains.is_empty() {
                    true => "give it a material, or set collide = false",
                    false => "give it a material, or keep the two apart with [[ignore]]; with collide = false grains would pass it too",
                },
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
                &match self.clock {
                    Clock::Granular => {
                        "keep them apart with [[ignore]]: in the granular clock bodies touch grains only".into()
                    }
                    _ => format!("add [[pair]] materials = [\"{a}\", \"{b}\"] with restitution and friction"),
                },
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
        if origin == Some(PairOrigin::Between) {
            self.warn_of_means([material1, material2], spec, restitution.filter(|_| needs_restitution), friction);
        }
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
        let friction = friction.unwrap_or(0.0);
        let friction_law = self.friction_law(spec, names)?;
        let friction = if friction_wanted { friction } else { 0.0 };
        let rolling = if friction_wanted { spec.rolling.or(table.map(|t| t.rolling)).unwrap_or(0.0) } else { 0.0 };
        let spin_damping = if friction_wanted { spec.spin_damping.unwrap_or(0.0) } else { 0.0 };
        let frictionless = friction == 0.0 && rolling == 0.0 && spin_damping == 0.0;
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
            spin_damping,
            radius: spec.radius,
            lever: match spec.lever.unwrap_or(scene::Lever::Midpoint) {
                scene::Lever::Midpoint => Lever::Midpoint,
                scene::Lever::Surface1 => Lever::Surface1,
                scene::Lever::Surface2 => Lever::Surface2,
            },
            points: spec.points,
            normal_force_max: spec.normal_force_max.unwrap_or(f64::INFINITY),
            force_max: spec.force_max.unwrap_or(f64::INFINITY),
            adhesion: [spec.adhesion, spec.adhesion_pressure].map(|pull| pull.unwrap_or(0.0)),
            friction_force: spec.friction_force.unwrap_or(0.0),
            friction_curve: curves[0],
            restitution_curve: curves[1],
        })
    }

    /// The friction law of a pair.
    fn friction_law(&mut self, spec: &ContactSpec, names: &(String, String)) -> Option<FrictionLaw> {
        use scene::FrictionLaw as F;
        let slip_speed = spec.slip_speed.unwrap_or(default::SLIP_SPEED);
        Some(match spec.friction_law.unwrap_or(F::Mindlin) {
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
            F::Viscous => {
                let Some(slip) = spec.slip else {
                    let [a, b] = [&names.0, &names.1];
                    let message = format!("friction law \"viscous\" between bodies \"{a}\" and \"{b}\" needs `slip`");
                    let help = "add slip = \"1 mm/s/N\", the slip speed per force, to the [[pair]] or to [contact]";
                    self.fail(spec.places.of("friction_law"), message, help);
                    return None;
                };
                FrictionLaw::Viscous { slip }
            }
            F::Brush => {
                let Some(stiffness) = spec.bristle_stiffness else {
                    let [a, b] = [&names.0, &names.1];
                    let message =
                        format!("friction law \"brush\" between bodies \"{a}\" and \"{b}\" needs `bristle_stiffness`");
                    let help = "add bristle_stiffness = 1000, their force per bend over the normal force [1/m], to the [[pair]] or to [contact]";
                    self.fail(spec.places.of("friction_law"), message, help);
                    return None;
                };
                FrictionLaw::Brush { stiffness, slip_speed }
            }
        })
    }

    /// Says which numbers of a pair are between those of its two materials, because no table has the pair.
    fn warn_of_means(
        &mut self,
        materials: [Option<&str>; 2],
        spec: &ContactSpec,
        restitution: Option<f64>,
        friction: Option<f64>,
    ) {
        let [a, b] = materials.map(|name| name.unwrap_or("?"));
        let restitution = restitution.filter(|_| spec.restitution.is_none()).map(|e| format!("restitution {e}"));
        let wanted = spec.friction.is_none() && spec.friction_law != Some(scene::FrictionLaw::None);
        let friction = friction.filter(|_| wanted).map(|mu| format!("friction {mu}"));
        let values: Vec<String> = restitution.into_iter().chain(friction).collect();
        let warning = format!(
            "materials \"{a}\" and \"{b}\" are no pair of the tables: {} from those of the two. help: [[pair]] materials = [\"{a}\", \"{b}\"] says what is true",
            values.join(" and ")
        );
        if !values.is_empty() && !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
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
        if let Some((_, law)) = self.laws.iter().find(|(own, _)| own == name) {
            return Some(NormalLaw::Custom(law.clone()));
        }
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
}

/// The class of one shape of a body.
pub(super) fn class_key(body: &scene::Body, shape: &ShapeSpec) -> ClassKey {
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
    // what says the same in another form is not filled beside it
    let rubs = spec.friction.is_some() || spec.friction_curve.is_some() || spec.friction_force.is_some();
    let rebounds = spec.restitution.is_some() || spec.restitution_curve.is_some();
    if !rubs {
        spec.friction_curve.clone_from(&general.friction_curve);
        spec.friction_force = general.friction_force;
    }
    if !rebounds {
        spec.restitution_curve.clone_from(&general.restitution_curve);
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
        spin_damping,
        radius,
        modulus,
        force_max,
        normal_force_max,
        adhesion,
        adhesion_pressure,
        slip,
        bristle_stiffness,
        points,
        lever,
        k_red
    );
}
