//! What each clock can do with each kind of element a scene may have: one table, asked when a scene is compiled.

use super::{Drive, Model};
use std::borrow::Cow;
use tippe_geometry::Shape;
use tippe_geometry::shape::{ContactKind, contact_kind};
use tippe_parts::contact::friction;
use tippe_parts::{element, joint, sensor, signal};
use tippe_scene::{
    Action, Clock, ContactSpec, FrictionLaw, GrainMethod, LawChoice, Lever, NormalLaw, Part, Place, Scene, SceneError,
    ShapeKind, Spec,
};

/// How well a clock does an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// As it is meant.
    Full,
    /// In another form; the run says so.
    Approximate(&'static str),
    /// Not at all: an error when the scene is compiled.
    No(&'static str),
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability {
    /// The element, as messages call its kind.
    pub element: &'static str,
    /// In the precise clock.
    pub precise: Support,
    /// In the realtime clock.
    pub realtime: Support,
    /// In the granular clock.
    pub granular: Support,
}

impl Capability {
    /// How well this clock does it.
    pub fn of(&self, clock: Clock) -> Support {
        match clock {
            Clock::Precise => self.precise,
            Clock::Realtime => self.realtime,
            Clock::Granular => self.granular,
        }
    }
}

use Support::{Approximate, Full, No};

const fn row(element: &'static str, precise: Support, realtime: Support) -> Capability {
    Capability { element, precise, realtime, granular: No("its bodies are walls, or move freely") }
}

/// A row of what grains meet.
const fn grains(row: Capability) -> Capability {
    Capability { granular: Full, ..row }
}

/// A row of bodies that touch each other.
const fn touch(row: Capability) -> Capability {
    Capability { granular: No("in the granular clock bodies touch grains, and not each other"), ..row }
}

/// What the realtime clock makes of Modia3D's normal law.
const AS_HERTZ: Support = Approximate(
    "its elastic force as it is; impacts rebound with the restitution it is given, and what rests is damped by the step",
);
/// ... of laws that give a power of the depth and a damper.
const AS_POWER: Support = Approximate(
    "its elastic force as it is; impacts rebound as a linear spring of that size does with its damper at 1 m/s, and what rests is damped by the step",
);
/// ... of laws of the overlap volume.
const AS_CAP: Support = Approximate(
    "its elastic force is that of a ball, or of a patch of nominal size; impacts rebound as a linear spring of that size does with its damping at 1 m/s",
);
/// A friction law without springs in the realtime clock.
const BY_LINE: Support = Approximate(
    "sliding is that of the law, a line through the slip speed of the step's end; resistance to rolling is Coulomb's and does not creep",
);
/// Bristles in the realtime clock.
const BY_BEND: Support = Approximate(
    "its bristles bend with the slip of the step, and slip off at that which the pair would have alone; resistance to rolling is Coulomb's and does not creep",
);
/// What reads a contact point by point.
const BY_POINTS: &str = "surfaces of triangles have one law for all their points";
/// What the precise clock makes of grains.
const AHEAD: &str = "in a step of the grains bodies feel what the last two steps let expect";
/// Why grains by positions do not run beside forces.
const FORCES: &str = "its bodies feel forces of grains";
/// What stands in for a servo.
const PRESS: &str = "a plate on a prismatic joint with a force motor presses as told there";
/// What the realtime clock makes of grains.
const DELAYED: &str = "bodies feel what grains did in a step in the next one";
/// What a clock does otherwise than as it is meant. The realtime and the precise clock do all other elements in full.
const EXCEPTIONS: &[Capability] = &[
    touch(row(
        "pair unbounded",
        No("neither half-spaces nor height grids touch each other"),
        No("neither half-spaces nor height grids touch each other"),
    )),
    grains(row("grains", Approximate(AHEAD), Approximate(DELAYED))),
    grains(row("clumps of grains", Approximate(AHEAD), Approximate(DELAYED))),
    grains(row("grains by positions", No(FORCES), Approximate(DELAYED))),
    grains(row("sink", Full, Full)),
    grains(row("probe", Full, Full)),
    grains(row("servo", No(PRESS), No(PRESS))),
    grains(row("law hertz", Full, Full)),
    row("law modia3d", Full, AS_HERTZ),
    row("law collisionlib", Full, AS_POWER),
    row("law nassauer", Full, AS_CAP),
    row("law bardaro", Full, AS_CAP),
    row("law volume", Full, AS_CAP),
    row("law of the scene", Full, Approximate("it enters with its secant stiffness")),
    grains(row("friction mindlin", Full, Full)),
    row("friction regularised", Full, BY_LINE),
    row("friction sqrt", Full, BY_LINE),
    row("friction nassauer", Full, BY_LINE),
    row("friction collisionlib", Full, BY_LINE),
    row("friction contensou", Full, BY_LINE),
    row("friction viscous", Full, BY_LINE),
    row("friction brush", Full, BY_BEND),
    row("friction brush of surfaces", No(BY_POINTS), Full),
    row("friction_force of surfaces", No(BY_POINTS), Full),
    row("friction_curve of surfaces", No(BY_POINTS), Full),
    row("adhesion of surfaces", No(BY_POINTS), Full),
    row("restitution_curve of surfaces", No(BY_POINTS), Full),
    row("force_max", Full, Approximate("impacts shorter than a step know no largest friction force")),
    row("normal_force_max", No("an elastic contact pushes as its law says"), Full),
    row("points of a pair", Approximate("it reads whole patches, not points"), Full),
    grains(row("lever midpoint", Full, Full)),
    row("lever surface", Full, Approximate("contact forces act midway between the surfaces")),
    grains(row("given motion", Full, Full)),
    row("joint that breaks", No("a joint breaks by the mean reaction of a fixed step"), Full),
    row("budget of joints", Approximate("all joints of a cable move: its steps follow what they do"), Full),
    row("signal input", Approximate("it keeps its start value: only the realtime clock listens"), Full),
];

/// What the clocks make of an element, by the name that messages give it.
pub fn of(element: &str) -> Capability {
    let exception = EXCEPTIONS.iter().find(|row| row.element == element);
    exception.copied().unwrap_or(match element.split(' ').next() {
        Some("shape") => grains(row("", Full, Full)),
        Some("pair") => touch(row("", Full, Full)),
        _ => row("", Full, Full),
    })
}

/// Every element a scene may have, by the name that messages give it.
pub fn names() -> Vec<String> {
    let class = |class: &'static str, words: Vec<&str>| {
        words.into_iter().map(move |word| format!("{class} {word}")).collect::<Vec<_>>()
    };
    let words = |kinds: &[&Spec]| kinds.iter().map(|kind| kind.word).collect::<Vec<_>>();
    let hung = element::HUNG.iter().map(|spec| hung(spec.kind.word).into_owned());
    let exceptions = EXCEPTIONS.iter().map(|row| row.element.to_string());
    let others = [
        "adhesion",
        "friction_curve",
        "friction_force",
        "restitution_curve",
        "attractor",
        "component",
        "constraint",
        "constraint with compliance",
        "joint that gives",
        "pair round",
        "pair flat",
        "pair surfaces",
    ]
    .map(String::from);
    let mut names: Vec<String> = exceptions
        .chain(others)
        .chain(class("shape", SHAPES.to_vec()))
        .chain(class("law", NormalLaw::NAMES.to_vec()))
        .chain(class("friction", FrictionLaw::NAMES.to_vec()))
        .chain(class("joint", words(&joint::KINDS)))
        .chain(hung)
        .chain(class(
            "force",
            [words(&element::FORCE_KINDS), words(&element::CABLE_KINDS), words(&element::FLUID_KINDS)].concat(),
        ))
        .chain(class("signal", words(&signal::KINDS)))
        .chain(class("sensor", words(&sensor::KINDS)))
        .chain(class("change", ["attach", "release", "lock", "unlock", "delete", "contact"].to_vec()))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// What hangs on a coordinate, as messages call it.
fn hung(word: &str) -> Cow<'static, str> {
    let motor = element::MOTOR.words().any(|motor| motor == word);
    Cow::Owned(if motor { format!("motor {word}") } else { format!("{word} of a joint") })
}

/// An element of a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What messages call its kind: see [`names`].
    pub element: Cow<'static, str>,
    /// What it is in this scene: `joint "hinge"`.
    pub name: String,
    /// Where it was written.
    pub place: Place,
    /// What to try where a clock cannot do it.
    help: &'static str,
}

/// Everything in a scene that the table has a row for, in the order of the file, each pair of kinds of shapes once.
pub fn elements(scene: &Scene, model: &Model) -> Vec<Found> {
    let mut all = Elements(Vec::new());
    for body in &scene.bodies {
        for spec in &body.shapes {
            all.add(shape(&spec.kind), format!("body \"{}\"", body.name), spec.places.entity);
        }
        if body.motion.is_some() {
            all.add("given motion", format!("body \"{}\"", body.name), body.places.of("motion"));
        }
        if body.servo.is_some() {
            all.add("servo", format!("body \"{}\"", body.name), body.places.of("servo"));
        }
    }
    for set in &scene.grains {
        all.add("grains", format!("grains \"{}\"", set.name), set.places.entity);
        if set.clump.is_some() {
            all.add("clumps of grains", format!("grains \"{}\"", set.name), set.places.entity);
        }
    }
    if scene.granular.method != GrainMethod::Force && !scene.grains.is_empty() {
        all.add("grains by positions", "[granular]".to_owned(), scene.granular.places.of("method"));
    }
    for sink in &scene.sinks {
        all.add("sink", format!("sink \"{}\"", sink.name), sink.places.entity);
    }
    for probe in &scene.probes {
        all.add("probe", format!("probe \"{}\"", probe.name), probe.places.entity);
    }
    for _ in &scene.attractors {
        all.add("attractor", "[world]".to_owned(), scene.places.of("world"));
    }
    all.contact(&scene.contact, "[contact]");
    for pair in &scene.pairs {
        all.contact(&pair.contact, "[[pair]]");
    }
    all.mechanisms(scene);
    all.pairs(scene, model);
    all.0
}

/// What keeps this clock from running the scene, and what it does in another form than written.
pub fn check(scene: &Scene, model: &Model, clock: Clock) -> (Vec<SceneError>, Vec<String>) {
    let (mut errors, mut notes) = (Vec::new(), Vec::new());
    let mut told: Vec<Cow<'static, str>> = Vec::new();
    for found in elements(scene, model) {
        match of(&found.element).of(clock) {
            Full => {}
            Approximate(how) => {
                if !told.contains(&found.element) {
                    notes.push(format!("{}: {} in the {} clock: {how}", found.name, found.element, clock.name()));
                    told.push(found.element);
                }
            }
            No(why) if found.element.starts_with("pair ") => {
                errors.push(scene.error(found.place, format!("{} is not supported: {why}", found.name), found.help));
            }
            No(why) => {
                let message =
                    format!("{}: {} cannot run in the {} clock: {why}", found.name, found.element, clock.name());
                errors.push(scene.error(found.place, message, found.help));
            }
        }
    }
    (errors, notes)
}

struct Elements(Vec<Found>);

impl Elements {
    fn add(&mut self, element: impl Into<Cow<'static, str>>, name: String, place: Place) {
        self.0.push(Found { element: element.into(), name, place, help: "leave it out, or use another clock" });
    }

    fn contact(&mut self, spec: &ContactSpec, name: &str) {
        let mut add = |element: Cow<'static, str>, key| self.add(element, name.to_owned(), spec.places.of(key));
        match &spec.law {
            Some(LawChoice::BuiltIn(law)) => add(format!("law {}", law.name()).into(), "law"),
            Some(LawChoice::Custom(_)) => add("law of the scene".into(), "law"),
            None => {}
        }
        if let Some(law) = spec.friction_law {
            add(format!("friction {}", law.name()).into(), "friction_law");
        }
        match spec.lever {
            Some(Lever::Midpoint) => add("lever midpoint".into(), "lever"),
            Some(Lever::Surface1 | Lever::Surface2) => add("lever surface".into(), "lever"),
            None => {}
        }
        if spec.adhesion.is_some() || spec.adhesion_pressure.is_some() {
            add("adhesion".into(), if spec.adhesion.is_some() { "adhesion" } else { "adhesion_pressure" });
        }
        if spec.friction_force.is_some() {
            add("friction_force".into(), "friction_force");
        }
        if spec.friction_curve.is_some() {
            add("friction_curve".into(), "friction_curve");
        }
        if spec.restitution_curve.is_some() {
            add("restitution_curve".into(), "restitution_curve");
        }
        if spec.force_max.is_some() {
            add("force_max".into(), "force_max");
        }
        if spec.normal_force_max.is_some() {
            add("normal_force_max".into(), "normal_force_max");
        }
        if spec.points.is_some() {
            add("points of a pair".into(), "points");
        }
    }

    fn mechanisms(&mut self, scene: &Scene) {
        for joint in &scene.joints {
            let name = format!("joint \"{}\"", joint.name);
            self.add(format!("joint {}", joint.kind.word), name.clone(), joint.places.entity);
            if joint::gives(joint) {
                self.add("joint that gives", name.clone(), joint.places.entity);
            }
            if joint::breaking(joint).iter().any(|limit| limit.is_finite()) {
                self.add("joint that breaks", name.clone(), joint.places.entity);
            }
            for (part, _) in super::forces::hung(joint).into_iter().flat_map(|(_, parts)| parts) {
                self.add(hung(part.kind.word), name.clone(), part.places.entity);
            }
        }
        for constraint in &scene.constraints {
            let element = if constraint.compliance > 0.0 { "constraint with compliance" } else { "constraint" };
            self.add(element, format!("constraint \"{}\"", constraint.name), constraint.places.entity);
        }
        for (class, parts) in [("force", &scene.forces), ("signal", &scene.signals)] {
            self.parts(class, parts);
        }
        if let Some(part) = scene.forces.iter().find(|part| part.get("joints").is_some()) {
            self.add("budget of joints", format!("force \"{}\"", part.name), part.places.entity);
        }
        for component in &scene.components {
            self.add("component", format!("component \"{}\"", component.name), component.places.entity);
        }
        self.parts("sensor", &scene.sensors);
        for change in &scene.changes {
            let element = match change.action {
                Action::Attach(_) => "change attach",
                Action::Release(_) => "change release",
                Action::Lock(_) => "change lock",
                Action::Unlock(_) => "change unlock",
                Action::Delete(_) => "change delete",
                Action::Contact { .. } => "change contact",
            };
            self.add(element, format!("change \"{}\"", change.name), change.places.entity);
        }
    }

    fn parts(&mut self, class: &str, parts: &[Part]) {
        for part in parts {
            let name = format!("{class} \"{}\"", part.name);
            self.add(format!("{class} {}", part.kind.word), name, part.places.entity);
        }
    }

    /// Pairs of shapes that may touch: each pair of kinds once, found without looking at every pair of a large scene.
    fn pairs(&mut self, scene: &Scene, model: &Model) {
        const MOST_KINDS: usize = 200;
        let free = |e: usize| model.bodies[model.colliders[e].body as usize].drive == Drive::Free;
        let mut kinds: Vec<usize> = Vec::new();
        for k in 0..model.colliders.len() {
            let e = &model.colliders[k];
            let known = |&i: &usize| {
                let o = &model.colliders[i];
                std::mem::discriminant(&o.shape) == std::mem::discriminant(&e.shape)
                    && (o.class, o.body) == (e.class, e.body)
                    && free(i) == free(k)
            };
            if kinds.len() <= MOST_KINDS && !kinds.iter().any(known) {
                kinds.push(k);
            }
        }
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for (a, &i) in kinds.iter().enumerate() {
            for &j in &kinds[a + 1..] {
                let [e1, e2] = [i, j].map(|k| &model.colliders[k]);
                let names = (e1.shape.name().min(e2.shape.name()), e1.shape.name().max(e2.shape.name()));
                let Some(parameters) = model.contact_between(i, j).filter(|_| !seen.contains(&names)) else { continue };
                seen.push(names);
                let [b1, b2] = [e1, e2].map(|e| e.body as usize);
                let place = scene.bodies[b2].places.entity;
                if pair(&e1.shape, &e2.shape) == "pair surfaces" {
                    let name = format!("bodies \"{}\" and \"{}\"", model.bodies[b1].name, model.bodies[b2].name);
                    for (asked, element) in [
                        (parameters.adhesion != [0.0; 2], "adhesion of surfaces"),
                        (parameters.friction_force > 0.0, "friction_force of surfaces"),
                        (!parameters.friction_curve.is_empty(), "friction_curve of surfaces"),
                        (!parameters.restitution_curve.is_empty(), "restitution_curve of surfaces"),
                        (
                            matches!(parameters.friction_law, friction::FrictionLaw::Brush { .. }),
                            "friction brush of surfaces",
                        ),
                    ] {
                        if asked {
                            self.add(element, name.clone(), place);
                        }
                    }
                }
                self.0.push(Found {
                    element: pair(&e1.shape, &e2.shape).into(),
                    name: format!(
                        "bodies \"{}\" and \"{}\" may touch, but contact of {} and {}",
                        model.bodies[b1].name, model.bodies[b2].name, names.0, names.1
                    ),
                    place,
                    help: "let them ignore each other ([[ignore]] bodies = [...]), or round one of them (sphere, ellipsoid)",
                });
            }
        }
    }
}

/// Words of shapes.
const SHAPES: [&str; 11] = [
    "sphere",
    "ellipsoid",
    "box",
    "cylinder",
    "capsule",
    "cone",
    "half_space",
    "profile",
    "hull",
    "height_grid",
    "mesh",
];

fn shape(kind: &ShapeKind) -> &'static str {
    match kind {
        ShapeKind::Sphere { .. } => "shape sphere",
        ShapeKind::Ellipsoid { .. } => "shape ellipsoid",
        ShapeKind::Box { .. } => "shape box",
        ShapeKind::Cylinder { .. } => "shape cylinder",
        ShapeKind::Capsule { .. } => "shape capsule",
        ShapeKind::Cone { .. } => "shape cone",
        ShapeKind::HalfSpace { .. } => "shape half_space",
        ShapeKind::Profile { .. } => "shape profile",
        ShapeKind::Hull { .. } => "shape hull",
        ShapeKind::HeightGrid { .. } => "shape height_grid",
        ShapeKind::Mesh { .. } => "shape mesh",
    }
}

fn pair(s1: &Shape, s2: &Shape) -> &'static str {
    match contact_kind(s1, s2) {
        ContactKind::Point => "pair round",
        ContactKind::Patch => "pair flat",
        ContactKind::Surface => "pair surfaces",
        ContactKind::Unsupported { .. } => "pair unbounded",
    }
}
