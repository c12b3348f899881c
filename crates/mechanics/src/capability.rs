//! What each clock can do with each kind of element a scene may have: one table, asked when a scene is compiled.

use crate::model::{Drive, Model};
use tippe_geometry::Shape;
use tippe_geometry::shape::{ContactKind, contact_kind};
use tippe_scene::{
    Action, Clock, ContactSpec, ForceKind, FrictionLaw, GrainMethod, JointKind, LawChoice, Lever, MotorKind, NormalLaw,
    Place, Scene, SceneError, SensorKind, ShapeKind, SignalKind,
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

/// A normal law that the realtime clock knows by its numbers only.
const BY_NUMBERS: Support =
    Approximate("it enters with its stiffness, its exponent and the restitution that its damping gives at 1 m/s");
/// A friction law that the realtime clock replaces.
const COULOMB: Support = Approximate("friction is Coulomb's with elastic stick instead");
/// What the precise clock makes of grains.
const AHEAD: &str = "in a step of the grains bodies feel what the last two steps let expect";
/// Why grains by positions are alone.
const FORCES: &str = "its bodies feel forces of grains";
/// What stands in for a servo.
const PRESS: &str = "a plate on a prismatic joint with a force motor presses as told there";
/// What the realtime clock makes of grains.
const DELAYED: &str = "bodies feel what grains did in a step in the next one";
/// Every kind of element, and what the clocks make of it.
pub const TABLE: &[Capability] = &[
    grains(row("shape sphere", Full, Full)),
    grains(row("shape ellipsoid", Full, Full)),
    grains(row("shape box", Full, Full)),
    grains(row("shape cylinder", Full, Full)),
    grains(row("shape capsule", Full, Full)),
    grains(row("shape cone", Full, Full)),
    grains(row("shape half_space", Full, Full)),
    grains(row("shape hull", Full, Full)),
    grains(row("shape height_grid", Full, Full)),
    touch(row("pair round", Full, Full)),
    touch(row("pair flat", Full, Full)),
    grains(row("shape mesh", Full, Full)),
    touch(row("pair surfaces", Full, Full)),
    touch(row(
        "pair unbounded",
        No("neither half-spaces nor height grids touch each other"),
        No("neither half-spaces nor height grids touch each other"),
    )),
    grains(row("grains", Approximate(AHEAD), Approximate(DELAYED))),
    grains(row("clumps of grains", Approximate(AHEAD), Approximate(DELAYED))),
    grains(row("grains by positions", No(FORCES), No(FORCES))),
    grains(row("sink", Full, Full)),
    grains(row("probe", Full, Full)),
    grains(row("servo", No(PRESS), No(PRESS))),
    grains(row("law hertz", Full, Full)),
    row("law modia3d", Full, BY_NUMBERS),
    row("law collisionlib", Full, BY_NUMBERS),
    row("law nassauer", Full, BY_NUMBERS),
    row("law bardaro", Full, BY_NUMBERS),
    row("law volume", Full, BY_NUMBERS),
    row("law foundation", Full, Full),
    row("law linear", Full, Full),
    row("law of the scene", Full, Approximate("it enters with its secant stiffness")),
    grains(row("friction mindlin", Full, Full)),
    row("friction regularised", Full, COULOMB),
    row("friction sqrt", Full, COULOMB),
    row("friction nassauer", Full, COULOMB),
    row("friction collisionlib", Full, COULOMB),
    row("friction contensou", Full, COULOMB),
    row("friction none", Full, Full),
    row("force_max", Full, Approximate("impacts shorter than a step know no largest friction force")),
    row("normal_force_max", No("an elastic contact pushes as its law says"), Full),
    row("points of a pair", Approximate("it reads whole patches, not points"), Full),
    grains(row("lever midpoint", Full, Full)),
    row("lever surface", Full, Approximate("contact forces act midway between the surfaces")),
    grains(row("given motion", Full, Full)),
    row("attractor", Full, Full),
    row("joint that breaks", No("a joint breaks by the mean reaction of a fixed step"), Full),
    row("joint fixed", Full, Full),
    row("joint revolute", Full, Full),
    row("joint prismatic", Full, Full),
    row("joint cylindrical", Full, Full),
    row("joint spherical", Full, Full),
    row("joint universal", Full, Full),
    row("joint planar", Full, Full),
    row("joint free", Full, Full),
    row("joint screw", Full, Full),
    row("joint distance", Full, Full),
    row("joint point_on_line", Full, Full),
    row("joint constant_velocity", Full, Full),
    row("joint rolling", Full, Full),
    row("joint gear", Full, Full),
    row("joint rack_and_pinion", Full, Full),
    row("joint belt", Full, Full),
    row("spring of a joint", Full, Full),
    row("stop of a joint", Full, Full),
    row("friction of a joint", Full, Full),
    row("motor torque", Full, Full),
    row("motor speed", Full, Full),
    row("motor position", Full, Full),
    row("motor motion", Full, Full),
    row("force applied", Full, Full),
    row("force spring", Full, Full),
    row("force bushing", Full, Full),
    row("signal equation", Full, Full),
    row("signal table", Full, Full),
    row("signal ramp", Full, Full),
    row("signal pulse", Full, Full),
    row("signal sine", Full, Full),
    row("signal pid", Full, Full),
    row("signal input", Approximate("it keeps its start value: only the realtime clock listens"), Full),
    row("component", Full, Full),
    row("sensor pose", Full, Full),
    row("sensor velocity", Full, Full),
    row("sensor acceleration", Full, Full),
    row("sensor distance", Full, Full),
    row("sensor contact", Full, Full),
    row("change attach", Full, Full),
    row("change release", Full, Full),
    row("change lock", Full, Full),
    row("change unlock", Full, Full),
    row("change delete", Full, Full),
    row("change contact", Full, Full),
];

/// An element of a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its row in the table.
    pub element: &'static str,
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
            all.add("clumps of grains", format!("grains \"{}\"", set.name), set.places.of("clump"));
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
    let mut told: Vec<&str> = Vec::new();
    for found in elements(scene, model) {
        let Some(row) = TABLE.iter().find(|row| row.element == found.element) else { continue };
        match row.of(clock) {
            Full => {}
            Approximate(how) => {
                if !told.contains(&row.element) {
                    told.push(row.element);
                    notes.push(format!("{}: {} in the {} clock: {how}", found.name, row.element, clock.name()));
                }
            }
            No(why) if found.element.starts_with("pair ") => {
                errors.push(scene.error(found.place, format!("{} is not supported: {why}", found.name), found.help));
            }
            No(why) => {
                let message =
                    format!("{}: {} cannot run in the {} clock: {why}", found.name, row.element, clock.name());
                errors.push(scene.error(found.place, message, found.help));
            }
        }
    }
    (errors, notes)
}

struct Elements(Vec<Found>);

impl Elements {
    fn add(&mut self, element: &'static str, name: String, place: Place) {
        self.0.push(Found { element, name, place, help: "leave it out, or use another clock" });
    }

    fn contact(&mut self, spec: &ContactSpec, name: &str) {
        let mut add = |element, key| self.add(element, name.to_owned(), spec.places.of(key));
        match &spec.law {
            Some(LawChoice::BuiltIn(law)) => add(normal_law(*law), "law"),
            Some(LawChoice::Custom(_)) => add("law of the scene", "law"),
            None => {}
        }
        if let Some(law) = spec.friction_law {
            add(friction_law(law), "friction_law");
        }
        match spec.lever {
            Some(Lever::Midpoint) => add("lever midpoint", "lever"),
            Some(Lever::Surface1 | Lever::Surface2) => add("lever surface", "lever"),
            None => {}
        }
        if spec.force_max.is_some() {
            add("force_max", "force_max");
        }
        if spec.normal_force_max.is_some() {
            add("normal_force_max", "normal_force_max");
        }
        if spec.points.is_some() {
            add("points of a pair", "points");
        }
    }

    fn mechanisms(&mut self, scene: &Scene) {
        for j in &scene.joints {
            let name = || format!("joint \"{}\"", j.name);
            self.add(joint(j.kind), name(), j.places.entity);
            if j.breaking.iter().any(|limit| limit.is_finite()) {
                self.add("joint that breaks", name(), j.places.entity);
            }
            for spring in &j.springs {
                self.add("spring of a joint", name(), spring.places.entity);
            }
            for limit in &j.limits {
                self.add("stop of a joint", name(), limit.places.entity);
            }
            for friction in &j.frictions {
                self.add("friction of a joint", name(), friction.places.entity);
            }
            for motor in &j.motors {
                let element = match motor.kind {
                    MotorKind::Torque => "motor torque",
                    MotorKind::Speed => "motor speed",
                    MotorKind::Position => "motor position",
                    MotorKind::Motion => "motor motion",
                };
                self.add(element, name(), motor.places.entity);
            }
        }
        for force in &scene.forces {
            let element = match force.kind {
                ForceKind::Applied { .. } => "force applied",
                ForceKind::Spring { .. } => "force spring",
                ForceKind::Bushing { .. } => "force bushing",
            };
            self.add(element, format!("force \"{}\"", force.name), force.places.entity);
        }
        for signal in &scene.signals {
            let element = match signal.kind {
                SignalKind::Equation(_) => "signal equation",
                SignalKind::Table { .. } => "signal table",
                SignalKind::Ramp { .. } => "signal ramp",
                SignalKind::Pulse { .. } => "signal pulse",
                SignalKind::Sine { .. } => "signal sine",
                SignalKind::Pid { .. } => "signal pid",
                SignalKind::Input { .. } => "signal input",
            };
            self.add(element, format!("signal \"{}\"", signal.name), signal.places.entity);
        }
        for component in &scene.components {
            self.add("component", format!("component \"{}\"", component.name), component.places.entity);
        }
        for sensor in &scene.sensors {
            let element = match sensor.kind {
                SensorKind::Pose => "sensor pose",
                SensorKind::Velocity => "sensor velocity",
                SensorKind::Acceleration => "sensor acceleration",
                SensorKind::Distance => "sensor distance",
                SensorKind::Contact => "sensor contact",
            };
            self.add(element, format!("sensor \"{}\"", sensor.name), sensor.places.entity);
        }
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
                if seen.contains(&names) || model.contact_between(i, j).is_none() {
                    continue;
                }
                seen.push(names);
                let [b1, b2] = [e1, e2].map(|e| e.body as usize);
                self.0.push(Found {
                    element: pair(&e1.shape, &e2.shape),
                    name: format!(
                        "bodies \"{}\" and \"{}\" may touch, but contact of {} and {}",
                        model.bodies[b1].name, model.bodies[b2].name, names.0, names.1
                    ),
                    place: scene.bodies[b2].places.entity,
                    help: "let them ignore each other ([[ignore]] bodies = [...]), or round one of them (sphere, ellipsoid)",
                });
            }
        }
    }
}

fn shape(kind: &ShapeKind) -> &'static str {
    match kind {
        ShapeKind::Sphere { .. } => "shape sphere",
        ShapeKind::Ellipsoid { .. } => "shape ellipsoid",
        ShapeKind::Box { .. } => "shape box",
        ShapeKind::Cylinder { .. } => "shape cylinder",
        ShapeKind::Capsule { .. } => "shape capsule",
        ShapeKind::Cone { .. } => "shape cone",
        ShapeKind::HalfSpace { .. } => "shape half_space",
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

fn normal_law(law: NormalLaw) -> &'static str {
    match law {
        NormalLaw::Hertz => "law hertz",
        NormalLaw::Modia3d => "law modia3d",
        NormalLaw::Collisionlib => "law collisionlib",
        NormalLaw::Nassauer => "law nassauer",
        NormalLaw::Bardaro => "law bardaro",
        NormalLaw::Volume => "law volume",
        NormalLaw::Foundation => "law foundation",
        NormalLaw::Linear => "law linear",
    }
}

fn friction_law(law: FrictionLaw) -> &'static str {
    match law {
        FrictionLaw::Mindlin => "friction mindlin",
        FrictionLaw::Regularised => "friction regularised",
        FrictionLaw::Sqrt => "friction sqrt",
        FrictionLaw::Nassauer => "friction nassauer",
        FrictionLaw::Collisionlib => "friction collisionlib",
        FrictionLaw::Contensou => "friction contensou",
        FrictionLaw::None => "friction none",
    }
}

fn joint(kind: JointKind) -> &'static str {
    match kind {
        JointKind::Fixed => "joint fixed",
        JointKind::Revolute => "joint revolute",
        JointKind::Prismatic => "joint prismatic",
        JointKind::Cylindrical => "joint cylindrical",
        JointKind::Spherical => "joint spherical",
        JointKind::Universal => "joint universal",
        JointKind::Planar => "joint planar",
        JointKind::Free => "joint free",
        JointKind::Screw => "joint screw",
        JointKind::Distance => "joint distance",
        JointKind::PointOnLine => "joint point_on_line",
        JointKind::ConstantVelocity => "joint constant_velocity",
        JointKind::Rolling => "joint rolling",
        JointKind::Gear => "joint gear",
        JointKind::RackAndPinion => "joint rack_and_pinion",
        JointKind::Belt => "joint belt",
    }
}
