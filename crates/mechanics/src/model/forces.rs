//! Force elements, signals, components and sensors of a scene, with their equations compiled and put in order.

use super::compile::Compiler;
use super::mechanisms::coordinate_of;
use super::{ChangeAction, Drive, JointPlace, Model, ModelChange, ModelSignal, ModelState, SignalSource};
use crate::element::{self, Anchor, At, Build, CoordinateMotion, Element, ElementSpec};
use crate::joint::{Joint, Make, hangs_on};
use crate::network::{Block, BlockKind, Formula, Source};
use std::collections::{BTreeMap, BTreeSet};
use tippe_format::key::Form;
use tippe_geometry::{Mat3, Pose, Shape, Vec3};
use tippe_parts::{sensor, signal};
use tippe_scene::equation::{Input, Kind, Program, Quantity, Scope, Tree};
use tippe_scene::{self as scene, Attachment, CoordinateOf, Equation, Part, did_you_mean};

/// Size below which changes of states written by users do not matter: their units are unknown.
pub(super) const NETWORK_SCALE: f64 = 1e-3;

/// Components of the pose of a body's origin in the world, as its signals are called.
const BODY_POSE: [&str; 7] =
    ["position.x", "position.y", "position.z", "orientation.w", "orientation.x", "orientation.y", "orientation.z"];

/// Components of the velocity of a body's origin in the world, as its signals are called.
const BODY_VELOCITY: [&str; 6] =
    ["velocity.x", "velocity.y", "velocity.z", "angular_velocity.x", "angular_velocity.y", "angular_velocity.z"];

/// Names that equations may use.
pub(super) type Names = BTreeMap<String, Source>;

impl Compiler<'_> {
    /// Everything of the scene that acts through equations or between frames.
    pub(super) fn forces(&mut self, model: &mut Model) {
        self.open_units();
        if !self.errors.is_empty() {
            return;
        }
        let names = self.names(model);
        self.first_read_body = model.sensors.len() as u32;
        self.blocks(model, &names);
        self.elements(model, &names);
        self.changes(model, &names);
        self.sense_read_bodies(model);
        if self.errors.is_empty() {
            self.warn_of_starts(model);
            self.settle_homes(model);
            self.name_force_signals(model);
        }
    }

    /// Elements whose joint starts as they do not expect say so.
    fn warn_of_starts(&mut self, model: &Model) {
        for element in &model.elements {
            let &[at] = element.kind.attached().coordinates else { continue };
            let start = &model.mechanism_starts[at.mechanism as usize];
            let i = at.coordinate as usize;
            let (Some(&q), Some(&u)) = (start.q.get(i), start.u.get(i)) else { continue };
            if let Some(warning) = element.kind.start_warning(CoordinateMotion { q, u }) {
                self.warnings.push(format!("{}: {warning}", element.name));
            }
        }
    }

    /// Sensors, and every name equations may use.
    fn names(&mut self, model: &mut Model) -> Names {
        let mut names = Names::new();
        names.insert("t".into(), Source::Time);
        for joint in &model.joints {
            let Some(JointPlace::Link { mechanism, link }) = joint.place else { continue };
            let first = model.mechanisms[mechanism as usize].links[link as usize].first as u32;
            if !joint.joint.has_base() {
                for (k, (name, _)) in joint.joint.coordinate_names().iter().enumerate() {
                    let source = Source::Coordinate { mechanism, coordinate: first + k as u32 };
                    names.insert(format!("{}.{name}", joint.name), source);
                }
            }
            for (k, name) in joint.joint.rate_names().iter().enumerate() {
                let source = Source::Rate { mechanism, coordinate: first + k as u32 };
                names.insert(format!("{}.{name}", joint.name), source);
            }
        }
        for (k, part) in self.scene.sensors.iter().enumerate() {
            let Some(spec) = sensor::named(part.kind.word) else {
                let message = format!("sensor \"{}\" is a {}, which is no sensor", part.name, part.kind.word);
                self.fail(part.places.entity, message, "");
                continue;
            };
            let between = part.between("between");
            let ends = [0, 1].map(|side| self.anchor(model, &between[side], None));
            let [Some(a), Some(b)] = ends else { continue };
            model.sensors.push(sensor::Sensor { name: part.name.clone(), kind: spec.measures.clone(), ends: [a, b] });
            if spec.is_readable {
                for (component, (name, _)) in spec.components.iter().enumerate() {
                    let source = Source::Sensor { sensor: k as u32, component: component as u32 };
                    names.insert(format!("{}.{name}", part.name), source);
                }
            }
        }
        self.sense_loops(model, &mut names);
        let mut values = 0;
        for signal in &self.scene.signals {
            names.insert(signal.name.clone(), Source::Value(values));
            values += 1;
        }
        let mut states = 0;
        for signal in &self.scene.signals {
            states += signal::named(signal.kind.word).map_or(0, |spec| spec.states.len() as u32);
        }
        for k in 0..self.scene.components.len() {
            let component = &self.scene.components[k];
            for name in self.component_states(k) {
                names.insert(format!("{}.{name}", component.name), Source::State(states));
                states += 1;
            }
            for name in self.component_outputs(k) {
                names.insert(format!("{}.{name}", component.name), Source::Value(values));
                values += 1;
            }
        }
        names
    }

    /// Joints that close loops, or give: their coordinates and rates are measured between their frames.
    fn sense_loops(&self, model: &mut Model, names: &mut Names) {
        for joint in &model.joints {
            let ends = match (joint.place, &joint.gives) {
                (Some(JointPlace::Loop { mechanism, index }), _) => {
                    let mechanism = &model.mechanisms[mechanism as usize];
                    // what stands behind the loops is a coupling
                    let Some(closing) = mechanism.loops.get(index as usize) else { continue };
                    closing.sides.map(|side| Anchor { body: mechanism.body_of(side.on), p: side.p, R: side.R })
                }
                (None, Some(give)) => give.ends,
                _ => continue,
            };
            let kind = sensor::SensorKind::Joint(joint.joint.clone());
            for (component, (name, _)) in kind.components().iter().enumerate() {
                let source = Source::Sensor { sensor: model.sensors.len() as u32, component: component as u32 };
                names.insert(format!("{}.{name}", joint.name), source);
            }
            model.sensors.push(sensor::Sensor { name: joint.name.clone(), kind, ends });
        }
    }

    /// `BODY.velocity.x` and the like in an equation: a sensor between the world and the body, made when it is first read.
    fn read_body(&mut self, name: &str) -> Option<Source> {
        let owns = |body: &str| name.strip_prefix(body).and_then(|rest| rest.strip_prefix('.'));
        let found = self.scene.bodies.iter().enumerate().filter_map(|(k, body)| Some((k, owns(&body.name)?)));
        let (body, quantity) = found.min_by_key(|(_, quantity)| quantity.len())?;
        let of = |kind: sensor::SensorKind, words: &[&str]| {
            let component = words.iter().position(|word| *word == quantity)?;
            Some((kind, component as u32))
        };
        let (kind, component) =
            of(sensor::SensorKind::Pose, &BODY_POSE).or_else(|| of(sensor::SensorKind::Velocity, &BODY_VELOCITY))?;
        let read = (body, kind);
        let place = self.read_bodies.iter().position(|known| *known == read).unwrap_or_else(|| {
            self.read_bodies.push(read);
            self.read_bodies.len() - 1
        });
        Some(Source::Sensor { sensor: self.first_read_body + place as u32, component })
    }

    /// The sensors of the bodies that equations read; they have no name, so that nothing is recorded twice.
    fn sense_read_bodies(&self, model: &mut Model) {
        for (body, kind) in self.read_bodies.iter().cloned() {
            model.bodies[body].oriented = true;
            let world = Anchor { body: None, p: Vec3::ZERO, R: Mat3::IDENTITY };
            let own = Anchor { body: Some(body as u32), p: -model.bodies[body].p_bc, R: Mat3::IDENTITY };
            model.sensors.push(sensor::Sensor { name: String::new(), kind, ends: [world, own] });
        }
    }

    /// What to try where an equation asks for a name that there is not.
    fn not_to_read(&self, name: &str, known: Vec<&str>) -> String {
        let owner = name.split_once('.').map_or(name, |(owner, _)| owner);
        let sensor = self.scene.sensors.iter().find(|part| part.name == owner);
        match sensor.and_then(|part| sensor::named(part.kind.word)) {
            Some(spec) if !spec.is_readable => format!(
                "{owner} is a sensor of kind {}, which depends on the forces that equations make: it is recorded ({}), and no equation can read it",
                spec.kind.word,
                spec.components.iter().map(|(name, _)| format!("{owner}.{name}")).collect::<Vec<_>>().join(", ")
            ),
            Some(spec) => did_you_mean(
                name,
                spec.components
                    .iter()
                    .map(|(part, _)| format!("{owner}.{part}"))
                    .collect::<Vec<_>>()
                    .iter()
                    .map(String::as_str),
            ),
            None => did_you_mean(name, known),
        }
    }

    /// A frame on a body, by name, or at a place of the written pose.
    pub(super) fn anchor(&mut self, model: &mut Model, attachment: &Attachment, at: Option<Vec3>) -> Option<Anchor> {
        let mut anchor = Anchor { body: None, p: Vec3::ZERO, R: Mat3::IDENTITY };
        if attachment.body != "world" {
            let body = model.body(&attachment.body)?;
            anchor.body = Some(body as u32);
            model.bodies[body].oriented = true;
            anchor.p = -model.bodies[body].p_bc;
            if let Some(frame) = self.scene.bodies[body].frames.iter().find(|f| f.name == attachment.frame) {
                anchor.p += frame.position;
                anchor.R = Mat3::from_quat(frame.orientation);
            }
        }
        if let Some(at) = at {
            anchor.p = match anchor.body {
                None => at,
                Some(body) => {
                    let written = &self.scene.bodies[body as usize];
                    let R = Mat3::from_quat(written.orientation.normalize());
                    R.transpose() * (at - written.position) - model.bodies[body as usize].p_bc
                }
            };
        }
        Some(anchor)
    }

    /// Equations compiled with what they read; the first `lets` are intermediate.
    pub(super) fn formula(
        &mut self,
        owner: &str,
        equations: &[&Equation],
        lets: usize,
        own: &[(&str, Source)],
        names: &Names,
    ) -> Option<Formula> {
        let quantity = |param: &scene::Param| Quantity { value: param.value, kind: param.kind };
        let params = Scope { names: self.scene.params.iter().map(|p| (p.name.clone(), quantity(p))).collect() };
        let mut inputs: Vec<(String, Source)> = Vec::new();
        for (k, equation) in equations.iter().enumerate() {
            let place = equation.places.entity;
            let tree = match Tree::parse(&equation.text) {
                Ok(tree) => tree,
                Err(error) => {
                    self.fail(place, format!("{owner}: {}", error.message), &error.help);
                    return None;
                }
            };
            for name in tree.names() {
                let known =
                    inputs.iter().any(|(n, _)| n == name) || equations[..k.min(lets)].iter().any(|e| e.name == *name);
                if known {
                    continue;
                }
                let source = own.iter().find(|(n, _)| n == name).map(|(_, s)| *s);
                let source = source.or_else(|| names.get(name).copied().filter(|_| params.get(name).is_none()));
                let is_known = source.is_some() || params.get(name).is_some();
                match source.or_else(|| if is_known { None } else { self.read_body(name) }) {
                    Some(source) => inputs.push((name.clone(), source)),
                    None if params.get(name).is_some() => {}
                    None => {
                        let known = names
                            .keys()
                            .map(String::as_str)
                            .chain(own.iter().map(|(n, _)| *n))
                            .chain(self.scene.params.iter().map(|p| p.name.as_str()))
                            .collect::<Vec<_>>();
                        let help = self.not_to_read(name, known);
                        self.fail(place, format!("{owner}: there is nothing called `{name}` to read"), &help);
                        return None;
                    }
                }
            }
        }
        let named: Vec<Input<'_>> = inputs.iter().map(|(name, _)| Input { name, kind: Kind::Bare }).collect();
        // results have no names: a rate must not hide its state
        let name_of = |k: usize, e: &'_ Equation| if k < lets { e.name.clone() } else { String::new() };
        let texts: Vec<(String, &str)> =
            equations.iter().enumerate().map(|(k, e)| (name_of(k, e), e.text.as_str())).collect();
        let texts: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (name.as_str(), *text)).collect();
        match Program::compile(&named, &params, &texts, lets) {
            Ok(program) => {
                Some(Formula::new(program, inputs.iter().map(|(_, s)| *s).collect(), equations.len() - lets))
            }
            Err(error) => {
                let place = equations[error.equation].places.entity;
                self.fail(place, format!("{owner}: {}", error.error.message), &error.error.help);
                None
            }
        }
    }

    /// Signals and components, in an order in which they can be evaluated.
    fn blocks(&mut self, model: &mut Model, names: &Names) {
        let mut blocks: Vec<Block> = Vec::new();
        let mut values = 0;
        let mut states: Vec<ModelState> = Vec::new();
        for signal in &self.scene.signals {
            let owner = format!("signal \"{}\"", signal.name);
            let first = states.len();
            let Some(spec) = signal::named(signal.kind.word) else {
                let message = format!("{owner} is a {}, which is no signal", signal.kind.word);
                self.fail(signal.places.entity, message, "");
                continue;
            };
            let mut compile = |equation: &Equation| self.formula(&owner, &[equation], 0, &[], names);
            let kind = (spec.block)(signal, first as u32, &mut compile);
            for (name, start) in spec.states {
                let start = start.map_or(0.0, |key| signal.number(key));
                states.push(state_of(&signal.name, name, start));
            }
            if let Some(kind) = kind {
                blocks.push(Block {
                    name: signal.name.clone(),
                    kind,
                    value: values,
                    states: first..states.len(),
                    of_time: false,
                    home: 0,
                });
            }
            values += 1;
        }
        for k in 0..self.scene.components.len() {
            let (first, block) = (states.len(), self.component(k, &mut states, values, names));
            values += self.component_outputs(k).len();
            blocks.extend(block.filter(|block| block.states.start == first));
        }
        if !self.errors.is_empty() {
            return;
        }
        // a value can be read once its block has been evaluated
        let mut ordered: Vec<Block> = Vec::new();
        let mut known = BTreeSet::new();
        while !blocks.is_empty() {
            let ready = blocks
                .iter()
                .position(|b| reads(&b.kind).iter().all(|s| !matches!(s, Source::Value(v) if !known.contains(v))));
            let Some(k) = ready else {
                let stuck: Vec<&str> = blocks.iter().map(|b| b.name.as_str()).collect();
                self.fail(
                    self.scene.places.entity,
                    format!("signals {} read each other in a circle", stuck.join(", ")),
                    "let one of them be a state with its own rate (der), a filter for example",
                );
                return;
            };
            let mut block = blocks.remove(k);
            let of_time = |s: &Source| match s {
                Source::Time => true,
                Source::Value(v) => ordered.iter().any(|b: &Block| b.of_time && b.value == *v as usize),
                _ => false,
            };
            block.of_time = block.states.is_empty() && reads(&block.kind).iter().all(of_time);
            known.extend(block.written().map(|value| value as u32));
            ordered.push(block);
        }
        model.network.blocks = ordered;
        model.network.values = values;
        model.states = states;
    }

    /// Force elements of the scene, then those of its joints.
    fn elements(&mut self, model: &mut Model, names: &Names) {
        let mut found: Vec<(String, Element)> = Vec::new();
        for part in &self.scene.forces {
            let class = match part.kind.word {
                word @ ("cable" | "fluid") => word,
                _ => "force",
            };
            let owner = format!("{class} \"{}\"", part.name);
            let Some(spec) = element::force(part.kind.word) else {
                self.fail(part.places.entity, format!("{owner} is a {}, which is no force", part.kind.word), "");
                continue;
            };
            let mut build = Parts { compiler: &mut *self, model, names, owner: &owner, part, at: None };
            let element = (spec.make)(part, &mut build);
            let takes = match &element {
                Some(Element::Fluid(fluid)) => fluid.takes(),
                _ => None,
            };
            found.extend(element.map(|element| (part.name.clone(), element)));
            found.extend(takes.map(|added| (format!("{}.added", part.name), Element::AddedMass(Box::new(added)))));
        }
        for (k, joint) in self.scene.joints.iter().enumerate() {
            let Some(JointPlace::Link { mechanism, link }) = model.joints[k].place else { continue };
            let first = model.mechanisms[mechanism as usize].links[link as usize].first;
            for (key, hung) in hung(joint) {
                for (i, (part, spec)) in hung.iter().enumerate() {
                    let owner = format!("{key} of joint \"{}\"", joint.name);
                    let coordinate = (first + hangs_on(joint, part)) as u32;
                    let at = At { mechanism, coordinate };
                    let mut build = Parts { compiler: &mut *self, model, names, owner: &owner, part, at: Some(at) };
                    let Some(element) = (spec.make)(part, &mut build) else { continue };
                    if spec.moves && !self.begins_where_its_joint_is(model, &owner, part, at, &element) {
                        continue;
                    }
                    let number = if hung.len() > 1 { (i + 1).to_string() } else { String::new() };
                    found.push((format!("{}.{key}{number}", joint.name), element));
                }
            }
        }
        found.extend(self.relations(model));
        let giving =
            model.joints.iter().filter_map(|joint| Some((joint.name.clone(), Element::Give(joint.gives.clone()?))));
        found.extend(giving);
        found.extend(model.modes());
        for (name, kind) in found {
            model.add_element(name, kind);
        }
        self.refuse_unheld(model);
    }

    /// A joint that takes hold, or lets go.
    fn loosened(&mut self, model: &Model, spec: &scene::Change, name: &str) -> Option<ChangeAction> {
        let (owner, place) = (format!("change \"{}\"", spec.name), spec.places.entity);
        let Some(k) = model.joints.iter().position(|joint| joint.name == *name) else {
            self.fail(place, format!("{owner}: there is no joint \"{name}\""), "");
            return None;
        };
        let joint = &model.joints[k];
        let is_loop = matches!(joint.place, Some(JointPlace::Loop { .. }));
        if !is_loop || !matches!(joint.kind.make, Make::Joint(_)) {
            let message = format!("{owner}: joint \"{name}\" cannot be attached or released");
            self.fail(place, message, "joints between bodies can, gears and belts cannot");
            return None;
        }
        match (&spec.action, &joint.joint) {
            (scene::Action::Attach(_), Joint::Cam(cam)) if cam.holds.sense().is_none() => {
                let message = format!(
                    "{owner}: joint \"{name}\" is a cam that holds both ways: it need not touch where it is attached"
                );
                self.fail(place, message, "add one_sided = true to the joint");
                None
            }
            (scene::Action::Attach(_), _) => Some(ChangeAction::Attach(k as u32)),
            _ => Some(ChangeAction::Release(k as u32)),
        }
    }

    /// Structural changes.
    fn changes(&mut self, model: &mut Model, names: &Names) {
        use tippe_scene::Action;
        for spec in &self.scene.changes {
            let owner = format!("change \"{}\"", spec.name);
            let place = spec.places.entity;
            let joint = |name: &str| model.joints.iter().position(|j| j.name == name).map(|k| k as u32);
            let is_loop = |k: u32| matches!(model.joints[k as usize].place, Some(JointPlace::Loop { .. }));
            let unknown = |what: &str, name: &str| format!("{owner}: there is no {what} \"{name}\"");
            let action = match &spec.action {
                Action::Attach(name) | Action::Release(name) => match self.loosened(model, spec, name) {
                    Some(action) => action,
                    None => continue,
                },
                Action::Lock(name) | Action::Unlock(name) => match joint(name) {
                    Some(k) if !is_loop(k) => {
                        if matches!(spec.action, Action::Lock(_)) {
                            ChangeAction::Lock(k)
                        } else {
                            ChangeAction::Unlock(k)
                        }
                    }
                    Some(_) => {
                        let message =
                            format!("{owner}: joint \"{name}\" closes a loop, so it has no coordinate to hold");
                        self.fail(place, message, "let another joint of the loop be rows = true");
                        continue;
                    }
                    None => {
                        self.fail(place, unknown("joint", name), "");
                        continue;
                    }
                },
                Action::Delete(name) => match model.body(name) {
                    Some(body) => {
                        let held = model.bodies[body].mechanism.is_some_and(|(m, link)| {
                            let m = &model.mechanisms[m as usize];
                            let carries = |l: &crate::mechanism::Link| l.parent == crate::mechanism::Parent::Link(link);
                            m.links[link as usize].source.is_some() || m.links.iter().any(carries)
                        });
                        if model.bodies[body].drive != Drive::Free {
                            let message = format!(
                                "{owner}: body \"{name}\" does not move by forces, and only free bodies can go"
                            );
                            let help = "switch its contacts off instead: contact_off = [\"A\", \"B\"]";
                            self.fail(place, message, help);
                            continue;
                        }
                        if held {
                            let message =
                                format!("{owner}: body \"{name}\" cannot go while joints give it coordinates");
                            self.fail(place, message, "let its joints be rows = true, and release them before");
                            continue;
                        }
                        ChangeAction::Delete(body as u32)
                    }
                    None => {
                        self.fail(place, unknown("body", name), "");
                        continue;
                    }
                },
                Action::Contact { between, on } => {
                    let [Some(a), Some(b)] = [0, 1].map(|k| model.body(&between[k])) else {
                        self.fail(place, unknown("body", &between.join("\" or \"")), "");
                        continue;
                    };
                    ChangeAction::Contact { bodies: (a.min(b) as u32, a.max(b) as u32), on: *on }
                }
            };
            let when = match &spec.when {
                None => None,
                Some(when) => match self.formula(&owner, &[when], 0, &[], names) {
                    None => continue,
                    when => when,
                },
            };
            model.changes.push(ModelChange { name: spec.name.clone(), at: spec.at, when, home: 0, action });
        }
    }

    /// Names of what is recorded of elements, sensors and the network.
    fn name_force_signals(&self, model: &mut Model) {
        let mut signals = Vec::new();
        let mut add = |name: String, unit: &str, source: SignalSource| {
            signals.push(ModelSignal { name, unit: unit.into(), source });
        };
        for (k, element) in model.elements.iter().enumerate() {
            let along = element.kind.attached().coordinates.first().is_some_and(|at| model.turns(*at));
            let along = if along { "N m" } else { "N" };
            for (output, spec) in element.kind.outputs().iter().enumerate() {
                let source = SignalSource::Output { element: k as u32, output: output as u32 };
                add(format!("{}.{}", element.name, spec.name), spec.unit.unwrap_or(along), source);
            }
            for (account, spec) in element.kind.accounts().iter().enumerate() {
                let source = SignalSource::Energy { element: k as u32, account: account as u32 };
                add(format!("{}.{}", element.name, spec.name), "J", source);
            }
        }
        for (k, sensor) in model.sensors.iter().enumerate().filter(|(_, sensor)| !sensor.name.is_empty()) {
            for (component, (name, unit)) in sensor.kind.components().into_iter().enumerate() {
                let source = SignalSource::Sensor { sensor: k as u32, component: component as u32 };
                add(format!("{}.{name}", sensor.name), unit, source);
            }
        }
        for (k, signal) in self.scene.signals.iter().enumerate() {
            add(signal.name.clone(), "-", SignalSource::Value(k as u32));
        }
        let mut value = self.scene.signals.len() as u32;
        for (k, state) in model.states.iter().enumerate() {
            add(state.name.clone(), state.unit, SignalSource::State(k as u32));
        }
        for (k, component) in self.scene.components.iter().enumerate() {
            for name in self.component_outputs(k) {
                add(format!("{}.{name}", component.name), "-", SignalSource::Value(value));
                value += 1;
            }
        }
        model.signals.extend(signals);
    }
}

/// What a block reads.
pub(super) fn reads(kind: &BlockKind) -> Vec<Source> {
    match kind {
        BlockKind::Equation(formula) => formula.inputs.clone(),
        BlockKind::Table { input, .. } => input.inputs.clone(),
        BlockKind::Pid { error, .. } => error.inputs.clone(),
        BlockKind::Component { formula, crossings } => {
            let more = crossings.iter().flat_map(|c| c.when.inputs.iter().chain(&c.set.inputs));
            formula.inputs.iter().chain(more).copied().collect()
        }
        BlockKind::Input { state, .. } => vec![Source::State(*state)],
        BlockKind::Unit(unit) => unit.inputs.as_ref().map_or_else(Vec::new, |formula| formula.inputs.clone()),
        BlockKind::Ramp { .. } | BlockKind::Pulse { .. } | BlockKind::Sine { .. } => vec![Source::Time],
    }
}

/// A state of a signal or component.
pub(super) fn state_of(owner: &str, name: &str, start: f64) -> ModelState {
    let (name, owner) = (format!("{owner}.{name}"), owner.to_owned());
    ModelState { name, unit: "-", start, scale: NETWORK_SCALE, kind: "component", owner }
}

/// What hangs on the coordinates of a joint, by key.
pub(super) fn hung(joint: &Part) -> Vec<(&'static str, Vec<(&Part, &'static ElementSpec)>)> {
    let keys = joint.kind.keys().filter(|key| matches!(key.form, Form::Parts(_)));
    let of = |part: &'_ Part| element::hung(part.kind.word);
    keys.map(|key| (key.name, joint.parts(key.name).iter().filter_map(|part| Some((part, of(part)?))).collect()))
        .collect()
}

/// What an element is made of: the model so far, and who asks.
struct Parts<'c, 's, 'm> {
    compiler: &'c mut Compiler<'s>,
    model: &'m mut Model,
    names: &'m Names,
    /// How messages call the element.
    owner: &'m str,
    part: &'m Part,
    at: Option<At>,
}

impl Build for Parts<'_, '_, '_> {
    fn anchor(&mut self, of: &Attachment, at: Option<Vec3>) -> Option<Anchor> {
        self.compiler.anchor(self.model, of, at)
    }

    fn pose(&self, anchor: &Anchor) -> (Mat3, Vec3) {
        anchor.body.map_or((anchor.R, anchor.p), |body| {
            let kin = self.model.standing(body);
            (kin.R * anchor.R, kin.p + kin.R * anchor.p)
        })
    }

    fn placed(&self, body: Option<u32>, (R, p): (Mat3, Vec3)) -> Anchor {
        match body {
            None => Anchor { body, p, R },
            Some(b) => {
                let kin = self.model.standing(b);
                Anchor { body, p: kin.R.transpose() * (p - kin.p), R: kin.R.transpose() * R }
            }
        }
    }

    fn shapes(&self, body: u32) -> Vec<(Shape, Pose)> {
        self.compiler.hulls.get(&body).cloned().unwrap_or_default()
    }

    fn inertia(&self, body: u32) -> (f64, Mat3) {
        super::inertia(self.model, body)
    }

    fn gravity(&self) -> Vec3 {
        self.model.gravity
    }

    fn coordinate(&self) -> Option<At> {
        self.at
    }

    fn coordinates(&mut self, of: &[CoordinateOf]) -> Option<Vec<At>> {
        let mut found = Vec::with_capacity(of.len());
        for one in of {
            let kind = self.compiler.scene.joints.iter().find(|joint| joint.name == one.joint).map(|joint| joint.kind);
            let place = kind.and_then(|kind| kind.coordinates.iter().position(|known| known.name == one.coordinate));
            match coordinate_of(self.model, &one.joint, place.unwrap_or(usize::MAX)) {
                Ok((mechanism, coordinate)) => found.push(At { mechanism, coordinate: coordinate as u32 }),
                Err((wrong, help)) => {
                    self.wrong(&format!("turns {wrong}"), help);
                    return None;
                }
            }
        }
        Some(found)
    }

    fn formula(&mut self, equations: &[&Equation], own: &[&str]) -> Option<Formula> {
        let own: Vec<(&str, Source)> = own.iter().enumerate().map(|(k, n)| (*n, Source::Own(k as u32))).collect();
        self.compiler.formula(self.owner, equations, 0, &own, self.names)
    }

    fn wrong(&mut self, message: &str, help: &str) {
        self.compiler.fail(self.part.places.entity, format!("{} {message}", self.owner), help);
    }

    fn warn(&mut self, message: &str) {
        self.compiler.warnings.push(format!("{} {message}", self.owner));
    }

    fn followed(&mut self, value: &Equation, smooth: bool) -> Option<Formula> {
        self.compiler.followed(self.owner, self.part, value, smooth, self.names)
    }
}
