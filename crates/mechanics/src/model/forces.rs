//! Force elements, signals, components and sensors of a scene, with their equations compiled and put in order.

use super::compile::Compiler;
use super::{ChangeAction, Drive, JointPlace, Model, ModelChange, ModelSignal, SignalSource};
use crate::contact::normal::exact_damping;
use crate::force::{Anchor, At, ForceElement, ForceKind};
use crate::joint::Six;
use crate::kinematics::Kinematics;
use crate::network::{Block, BlockCrossing, BlockKind, Formula, MOST_RESULTS, Source};
use std::collections::{BTreeMap, BTreeSet};
use tippe_geometry::{Mat3, Quat, Vec3};
use tippe_scene::equation::{Input, Kind, Program, Quantity, Scope, Tree};
use tippe_scene::{self as scene, Attachment, Equation, SensorKind, SignalKind, did_you_mean};

/// A sensor: what it measures, between two frames.
#[derive(Clone, Debug)]
pub struct ModelSensor {
    /// Name in the scene.
    pub name: String,
    /// What it measures.
    pub kind: SensorKind,
    /// Between what.
    pub ends: [Anchor; 2],
}

impl ModelSensor {
    /// A component of what it measures of the motion of its two frames; zero for accelerations and contacts.
    pub fn measure(&self, f1: &Kinematics, f2: &Kinematics, component: u32) -> f64 {
        let arm = f2.p - f1.p;
        let R = f1.R.transpose();
        let k = component as usize;
        match self.kind {
            SensorKind::Pose if k < 3 => (R * arm)[k],
            SensorKind::Pose => {
                let q = Quat::from_mat3(&(R * f2.R));
                [q.w, q.x, q.y, q.z][k - 3]
            }
            SensorKind::Velocity if k < 3 => (R * (f2.v - f1.v - f1.w.cross(arm)))[k],
            SensorKind::Velocity => (R * (f2.w - f1.w))[k - 3],
            SensorKind::Distance if k == 0 => arm.length(),
            SensorKind::Distance => {
                let length = arm.length();
                if length > 0.0 { arm.dot(f2.v - f1.v) / length } else { 0.0 }
            }
            SensorKind::Acceleration | SensorKind::Contact => 0.0,
        }
    }

    /// A component of the acceleration of frame 2 relative to frame 1, seen in frame 1:
    /// a_rel = a2 - a1 - alpha1 x d - w1 x (w1 x d) - 2 w1 x v_rel. Each side: motion of the body, its acceleration {angular,
    /// linear} at the centre of mass.
    pub fn acceleration(&self, sides: [(Kinematics, Six); 2], component: u32) -> f64 {
        let motion = |k: usize| {
            let (kin, Six { angular, linear }) = sides[k];
            let frame = kin.of_frame(self.ends[k].p, &self.ends[k].R);
            let arm = frame.p - kin.p;
            (frame, angular, linear + angular.cross(arm) + kin.w.cross(kin.w.cross(arm)))
        };
        let [(f1, alpha1, a1), (f2, alpha2, a2)] = [motion(0), motion(1)];
        let (d, R) = (f2.p - f1.p, f1.R.transpose());
        let v_rel = f2.v - f1.v - f1.w.cross(d);
        let a_rel = a2 - a1 - alpha1.cross(d) - f1.w.cross(f1.w.cross(d)) - 2.0 * f1.w.cross(v_rel);
        let alpha_rel = alpha2 - alpha1 - f1.w.cross(f2.w - f1.w);
        let all = [R * a_rel, R * alpha_rel];
        all[component as usize / 3][component as usize % 3]
    }

    /// Names and units of its components.
    pub fn components(kind: SensorKind) -> &'static [(&'static str, &'static str)] {
        match kind {
            SensorKind::Pose => {
                &[("x", "m"), ("y", "m"), ("z", "m"), ("qw", "-"), ("qx", "-"), ("qy", "-"), ("qz", "-")]
            }
            SensorKind::Velocity => {
                &[("vx", "m/s"), ("vy", "m/s"), ("vz", "m/s"), ("wx", "rad/s"), ("wy", "rad/s"), ("wz", "rad/s")]
            }
            SensorKind::Acceleration => &[
                ("ax", "m/s2"),
                ("ay", "m/s2"),
                ("az", "m/s2"),
                ("turn_x", "rad/s2"),
                ("turn_y", "rad/s2"),
                ("turn_z", "rad/s2"),
            ],
            SensorKind::Distance => &[("distance", "m"), ("rate", "m/s")],
            SensorKind::Contact => &[("normal_force", "N"), ("depth", "m"), ("touching", "-")],
        }
    }
}

/// Names that equations may use.
pub(super) type Names = BTreeMap<String, Source>;

/// What its frame tells an applied force.
const FRAME_NAMES: [&str; 9] = ["x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz"];
/// A joint may start so far beyond its stop unsaid, as a share of its coordinate [-].
const STOP_SLACK: f64 = 1e-3;
/// What a spring tells its law.
const SPRING_NAMES: [&str; 3] = ["length", "stretch", "rate"];

impl Compiler<'_> {
    /// Everything of the scene that acts through equations or between frames.
    pub(super) fn forces(&mut self, model: &mut Model) {
        let names = self.names(model);
        self.blocks(model, &names);
        self.elements(model, &names);
        self.changes(model, &names);
        if self.errors.is_empty() {
            self.warn_of_jumps(model);
            self.warn_of_stops(model);
            self.settle_homes(model);
            self.name_force_signals(model);
        }
    }

    /// A joint that begins beyond its stop is shot back by it.
    fn warn_of_stops(&mut self, model: &Model) {
        for force in &model.forces {
            let ForceKind::Stop { at, bounds, .. } = &force.kind else { continue };
            let start = &model.mechanism_starts[at.mechanism as usize];
            let Some(&q) = start.q.get(at.coordinate as usize) else { continue };
            let beyond = (bounds[0] - q).max(q - bounds[1]);
            if beyond > STOP_SLACK * q.abs().max(1.0) {
                self.warnings.push(format!(
                    "{}: its joint starts at {q:.6}, {beyond:.3e} (m or rad) beyond its stops at {:.6} and {:.6}: they push it back at once. \
                     help: give the joint a start value between them",
                    force.name, bounds[0], bounds[1]
                ));
            }
        }
    }

    /// A drive that begins with another speed than its joint jumps there, and the energy of the jump is in no account.
    fn warn_of_jumps(&mut self, model: &Model) {
        for force in &model.forces {
            let ForceKind::Motion { at, value } = &force.kind else { continue };
            let start = &model.mechanism_starts[at.mechanism as usize];
            let (Some(&speed), (_, wanted)) = (start.u.get(at.coordinate as usize), value.value_and_rate(0.0)) else {
                continue;
            };
            if (wanted - speed).abs() > 1e-6 * wanted.abs().max(speed.abs()) {
                self.warnings.push(format!(
                    "{}: it starts with the speed {wanted:.6e}, its joint with {speed:.6e}: the books do not know the energy of this \
                     jump. help: give the joint the same speed",
                    force.name
                ));
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
        for (k, spec) in self.scene.sensors.iter().enumerate() {
            let ends = [0, 1].map(|side| self.anchor(model, &spec.between[side], None));
            let [Some(a), Some(b)] = ends else { continue };
            model.sensors.push(ModelSensor { name: spec.name.clone(), kind: spec.kind, ends: [a, b] });
            if matches!(spec.kind, SensorKind::Pose | SensorKind::Velocity | SensorKind::Distance) {
                for (component, (name, _)) in ModelSensor::components(spec.kind).iter().enumerate() {
                    let source = Source::Sensor { sensor: k as u32, component: component as u32 };
                    names.insert(format!("{}.{name}", spec.name), source);
                }
            }
        }
        let mut values = 0;
        for signal in &self.scene.signals {
            names.insert(signal.name.clone(), Source::Value(values));
            values += 1;
        }
        let mut states = 0;
        for signal in &self.scene.signals {
            states += match signal.kind {
                SignalKind::Pid { .. } => 2,
                SignalKind::Input { .. } => 1,
                _ => 0,
            };
        }
        for component in &self.scene.components {
            for (name, _) in &component.states {
                names.insert(format!("{}.{name}", component.name), Source::State(states));
                states += 1;
            }
            for output in &component.outputs {
                names.insert(format!("{}.{}", component.name, output.name), Source::Value(values));
                values += 1;
            }
        }
        names
    }

    /// A frame on a body, by name, or at a place of the written pose.
    fn anchor(&mut self, model: &mut Model, attachment: &Attachment, at: Option<Vec3>) -> Option<Anchor> {
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
                match source.or_else(|| names.get(name).copied().filter(|_| params.get(name).is_none())) {
                    Some(source) => inputs.push((name.clone(), source)),
                    None if params.get(name).is_some() => {}
                    None => {
                        let known = names
                            .keys()
                            .map(String::as_str)
                            .chain(own.iter().map(|(n, _)| *n))
                            .chain(self.scene.params.iter().map(|p| p.name.as_str()))
                            .collect::<Vec<_>>();
                        let help = did_you_mean(name, known);
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
        let (mut values, mut states) = (0, 0);
        let mut starts = Vec::new();
        let mut state_names = Vec::new();
        for signal in &self.scene.signals {
            let owner = format!("signal \"{}\"", signal.name);
            let first = states;
            let kind = match &signal.kind {
                SignalKind::Equation(equation) => {
                    self.formula(&owner, &[equation], 0, &[], names).map(BlockKind::Equation)
                }
                SignalKind::Table { input, x, y } => self
                    .formula(&owner, &[input], 0, &[], names)
                    .map(|input| BlockKind::Table { input, x: x.clone(), y: y.clone() }),
                SignalKind::Ramp { from, to, start, end } => {
                    Some(BlockKind::Ramp { times: [*from, *to], values: [*start, *end] })
                }
                SignalKind::Pulse { from, period, width, low, high } => {
                    Some(BlockKind::Pulse { from: *from, period: *period, width: *width, levels: [*low, *high] })
                }
                SignalKind::Sine { amplitude, frequency, phase, offset } => Some(BlockKind::Sine {
                    amplitude: *amplitude,
                    omega: 2.0 * std::f64::consts::PI * frequency,
                    phase: *phase,
                    offset: *offset,
                }),
                SignalKind::Input { start, low, high } => {
                    let state = states as u32;
                    states += 1;
                    starts.push(*start);
                    state_names.push(format!("{}.set", signal.name));
                    Some(BlockKind::Input { state, limits: [*low, *high] })
                }
                SignalKind::Pid { setpoint, measured, proportional, integral, derivative, filter, limit } => {
                    let error = Equation {
                        name: "error".into(),
                        text: format!("({}) - ({})", setpoint.text, measured.text),
                        places: setpoint.places.clone(),
                    };
                    states += 2;
                    starts.extend([0.0, 0.0]);
                    state_names.extend(["integral", "filtered"].map(|n| format!("{}.{n}", signal.name)));
                    self.formula(&owner, &[&error], 0, &[], names).map(|error| BlockKind::Pid {
                        error,
                        gains: [*proportional, *integral, *derivative],
                        filter: *filter,
                        limit: limit.unwrap_or(f64::INFINITY),
                    })
                }
            };
            if let Some(kind) = kind {
                blocks.push(Block {
                    name: signal.name.clone(),
                    kind,
                    value: values,
                    states: first..states,
                    of_time: false,
                    home: 0,
                });
            }
            values += 1;
        }
        for component in &self.scene.components {
            let owner = format!("component \"{}\"", component.name);
            let first = states;
            let mut own: Vec<(&str, Source)> = Vec::new();
            for (k, (name, start)) in component.states.iter().enumerate() {
                own.push((name, Source::State((first + k) as u32)));
                starts.push(*start);
                state_names.push(format!("{}.{name}", component.name));
            }
            states += component.states.len();
            let lets: Vec<&Equation> = component.inputs.iter().chain(&component.lets).collect();
            let results = component.rates.iter().chain(&component.outputs);
            let equations: Vec<&Equation> = lets.iter().copied().chain(results).collect();
            let outputs = equations.len() - lets.len();
            if outputs > MOST_RESULTS {
                self.fail(
                    component.places.entity,
                    format!("{owner} has {outputs} rates and outputs; at most {MOST_RESULTS} fit one component"),
                    "split it in two",
                );
                continue;
            }
            let formula = self.formula(&owner, &equations, lets.len(), &own, names);
            let mut crossings = Vec::new();
            for crossing in &component.crossings {
                let with = |equation| lets.iter().copied().chain(std::iter::once(equation)).collect::<Vec<_>>();
                let when = self.formula(&owner, &with(&crossing.when), lets.len(), &own, names);
                let all: Vec<&Equation> = lets.iter().copied().chain(&crossing.set).collect();
                let set = self.formula(&owner, &all, lets.len(), &own, names);
                let targets: Vec<usize> = crossing
                    .set
                    .iter()
                    .filter_map(|e| component.states.iter().position(|(n, _)| *n == e.name))
                    .map(|k| first + k)
                    .collect();
                if let (Some(when), Some(set)) = (when, set) {
                    crossings.push(BlockCrossing { when, set, states: targets });
                }
            }
            if let Some(formula) = formula {
                blocks.push(Block {
                    name: component.name.clone(),
                    kind: BlockKind::Component { formula, crossings },
                    value: values,
                    states: first..states,
                    of_time: false,
                    home: 0,
                });
            }
            values += component.outputs.len();
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
            let count = match &block.kind {
                BlockKind::Component { formula, .. } => formula.outputs - block.states.len(),
                _ => 1,
            };
            known.extend(block.value as u32..(block.value + count) as u32);
            ordered.push(block);
        }
        model.network.blocks = ordered;
        model.network.values = values;
        model.network.starts = starts;
        model.network.state_names = state_names;
    }

    /// Force elements of the scene, then those of its joints.
    fn elements(&mut self, model: &mut Model, names: &Names) {
        let mut elements: Vec<ForceElement> = Vec::new();
        for spec in &self.scene.forces {
            let owner = format!("force \"{}\"", spec.name);
            let kind = match &spec.kind {
                scene::ForceKind::Applied { on, local, force, torque } => {
                    let zero = Equation { name: "zero".into(), text: "0".into(), ..Equation::default() };
                    let mut equations: Vec<&Equation> = Vec::new();
                    for part in [force, torque] {
                        match part {
                            Some(three) => equations.extend(three.iter()),
                            None => equations.extend([&zero; 3]),
                        }
                    }
                    let own: Vec<(&str, Source)> =
                        FRAME_NAMES.iter().enumerate().map(|(k, n)| (*n, Source::Own(k as u32))).collect();
                    let formula = self.formula(&owner, &equations, 0, &own, names);
                    let on = self.anchor(model, on, None);
                    on.zip(formula).map(|(on, formula)| ForceKind::Applied { on, local: *local, formula })
                }
                scene::ForceKind::Spring { between, at, stiffness, damping, rest, law, rope } => {
                    let ends = [0, 1].map(|k| self.anchor(model, &between[k], at.map(|at| at[k])));
                    let [Some(a), Some(b)] = ends else { continue };
                    let own: Vec<(&str, Source)> =
                        SPRING_NAMES.iter().enumerate().map(|(k, n)| (*n, Source::Own(k as u32))).collect();
                    let law = match law {
                        None => None,
                        Some(law) => match self.formula(&owner, &[law], 0, &own, names) {
                            None => continue,
                            law => law,
                        },
                    };
                    let length = (place(model, &b) - place(model, &a)).length();
                    Some(ForceKind::Spring {
                        ends: [a, b],
                        stiffness: *stiffness,
                        damping: *damping,
                        rest: rest.unwrap_or(length),
                        law,
                        rope: *rope,
                    })
                }
                scene::ForceKind::Bushing {
                    between,
                    at,
                    stiffness,
                    damping,
                    turning_stiffness,
                    turning_damping,
                    relaxed,
                } => {
                    let ends = [0, 1].map(|k| self.anchor(model, &between[k], *at));
                    let [Some(a), Some(mut b)] = ends else { continue };
                    if *relaxed {
                        // frame 2 where frame 1 is now
                        let (p, R) = (place(model, &a), axes(model, &a));
                        (b.p, b.R) = match b.body {
                            None => (p, R),
                            Some(body) => {
                                let kin = model.standing(body);
                                (kin.R.transpose() * (p - kin.p), kin.R.transpose() * R)
                            }
                        };
                    }
                    Some(ForceKind::Bushing {
                        ends: [a, b],
                        stiffness: *stiffness,
                        damping: *damping,
                        turning_stiffness: *turning_stiffness,
                        turning_damping: *turning_damping,
                    })
                }
            };
            if let Some(kind) = kind {
                elements.push(ForceElement { name: spec.name.clone(), kind, bodies: Vec::new() });
            }
        }
        for (k, spec) in self.scene.joints.iter().enumerate() {
            let Some(JointPlace::Link { mechanism, link }) = model.joints[k].place else { continue };
            let first = model.mechanisms[mechanism as usize].links[link as usize].first;
            let at = |coordinate: usize| At { mechanism, coordinate: (first + coordinate) as u32 };
            let count = |n: usize, k: usize, word: &str| {
                if n > 1 { format!("{}.{word}{}", spec.name, k + 1) } else { format!("{}.{word}", spec.name) }
            };
            for (i, s) in spec.springs.iter().enumerate() {
                let kind = ForceKind::Coordinate {
                    at: at(s.coordinate),
                    stiffness: s.stiffness,
                    damping: s.damping,
                    rest: s.rest,
                };
                let name = count(spec.springs.len(), i, "spring");
                elements.push(ForceElement { name, kind, bodies: Vec::new() });
            }
            for (i, s) in spec.limits.iter().enumerate() {
                let kind = ForceKind::Stop {
                    at: at(s.coordinate),
                    bounds: [s.lower.unwrap_or(f64::NEG_INFINITY), s.upper.unwrap_or(f64::INFINITY)],
                    stiffness: s.stiffness,
                    exponent: s.exponent,
                    restitution: s.restitution,
                    damping: if s.restitution < 1.0 { exact_damping(s.restitution.max(0.01)) } else { 0.0 },
                };
                let name = count(spec.limits.len(), i, "limit");
                elements.push(ForceElement { name, kind, bodies: Vec::new() });
            }
            for (i, s) in spec.frictions.iter().enumerate() {
                let kind = ForceKind::Friction { at: at(s.coordinate), sliding: s.sliding, sticking: s.sticking };
                let name = count(spec.frictions.len(), i, "friction");
                elements.push(ForceElement { name, kind, bodies: Vec::new() });
            }
            elements.extend(self.motors(model, spec, at(0), names));
        }
        model.forces = elements;
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
                Action::Attach(name) | Action::Release(name) => match joint(name) {
                    Some(k) if is_loop(k) && !model.joints[k as usize].kind.is_coupling() => {
                        if matches!(spec.action, Action::Attach(_)) {
                            ChangeAction::Attach(k)
                        } else {
                            ChangeAction::Release(k)
                        }
                    }
                    Some(_) => {
                        let message = format!("{owner}: joint \"{name}\" cannot be attached or released");
                        self.fail(place, message, "joints between bodies can, gears and belts cannot");
                        continue;
                    }
                    None => {
                        self.fail(place, unknown("joint", name), "");
                        continue;
                    }
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

    /// Which bodies each element and block needs in one island.
    fn settle_homes(&mut self, model: &mut Model) {
        let Some(first_free) = model.bodies.iter().position(|b| b.drive == Drive::Free) else { return };
        let free = |body: u32| model.bodies[body as usize].drive == Drive::Free;
        let of = |source: &Source| -> Vec<u32> {
            match source {
                Source::Coordinate { mechanism, .. } | Source::Rate { mechanism, .. } => {
                    vec![model.mechanisms[*mechanism as usize].links[0].body]
                }
                Source::Sensor { sensor, .. } => {
                    let ends = model.sensors[*sensor as usize].ends;
                    ends.iter().filter_map(|e| e.body).filter(|&b| free(b)).collect()
                }
                _ => Vec::new(),
            }
        };
        // bodies each block hangs on, blocks it reads included; those that read a state hang on its block's bodies
        let n = model.network.blocks.len();
        let mut sets: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); n];
        let owner_of = |source: &Source| {
            model.network.blocks.iter().position(|b| match source {
                Source::Value(v) => {
                    let count = match &b.kind {
                        BlockKind::Component { formula, .. } => formula.outputs - b.states.len(),
                        _ => 1,
                    };
                    (b.value..b.value + count).contains(&(*v as usize)) && !b.of_time
                }
                Source::State(s) => b.states.contains(&(*s as usize)),
                _ => false,
            })
        };
        let block_reads: Vec<Vec<Source>> = model.network.blocks.iter().map(|b| reads(&b.kind)).collect();
        let element_reads: Vec<Vec<Source>> = model.forces.iter().map(|e| element_reads(&e.kind)).collect();
        let mut element_sets: Vec<BTreeSet<u32>> = Vec::new();
        for (element, reads) in model.forces.iter().zip(&element_reads) {
            let mut set: BTreeSet<u32> =
                element.kind.anchors().iter().filter_map(|a| a.body).filter(|&b| free(b)).collect();
            if let Some(at) = element.kind.at() {
                set.insert(model.mechanisms[at.mechanism as usize].links[0].body);
            }
            set.extend(reads.iter().flat_map(of));
            element_sets.push(set);
        }
        for (set, reads) in sets.iter_mut().zip(&block_reads) {
            set.extend(reads.iter().flat_map(of));
        }
        // whoever reads a block that is not of time alone shares its bodies, both ways, until nothing changes
        let mut changed = true;
        while changed {
            changed = false;
            let join = |a: &mut BTreeSet<u32>, b: &mut BTreeSet<u32>| {
                let before = a.len() + b.len();
                let all: BTreeSet<u32> = a.union(b).copied().collect();
                a.clone_from(&all);
                b.clone_from(&all);
                a.len() + b.len() > before
            };
            for (k, reads) in block_reads.iter().enumerate() {
                for other in reads.iter().filter_map(owner_of).filter(|&o| o != k) {
                    let mut theirs = std::mem::take(&mut sets[other]);
                    changed |= join(&mut sets[k], &mut theirs);
                    sets[other] = theirs;
                }
            }
            for (k, reads) in element_reads.iter().enumerate() {
                for other in reads.iter().filter_map(owner_of) {
                    changed |= join(&mut element_sets[k], &mut sets[other]);
                }
            }
        }
        let homes: Vec<u32> = model
            .changes
            .iter()
            .map(|change| {
                let reads = change.when.iter().flat_map(|when| &when.inputs);
                let blocks = reads.clone().filter_map(owner_of).flat_map(|k| sets[k].iter().copied());
                reads.flat_map(of).chain(blocks).min().unwrap_or(first_free as u32)
            })
            .collect();
        for (change, home) in model.changes.iter_mut().zip(homes) {
            change.home = home;
        }
        for (block, set) in model.network.blocks.iter_mut().zip(sets) {
            block.home = set.first().copied().unwrap_or(first_free as u32);
        }
        for (element, set) in model.forces.iter_mut().zip(element_sets) {
            element.bodies = set.into_iter().collect();
        }
        for k in 0..model.forces.len() {
            if model.forces[k].bodies.is_empty() {
                let name = model.forces[k].name.clone();
                self.fail(
                    self.scene.places.entity,
                    format!("force \"{name}\" acts on nothing that moves by forces"),
                    "one of its bodies must be free",
                );
            }
        }
    }

    /// Names of what is recorded of elements, sensors and the network.
    fn name_force_signals(&self, model: &mut Model) {
        let mut add = |name: String, unit: &str, source: SignalSource| {
            model.signals.push(ModelSignal { name, unit: unit.into(), source });
        };
        for (k, element) in model.forces.iter().enumerate() {
            let turning = element.kind.at().is_some_and(|at| {
                let mechanism = &model.mechanisms[at.mechanism as usize];
                let i = at.coordinate as usize;
                mechanism
                    .links
                    .iter()
                    .any(|l| (l.first..l.first + l.count).contains(&i) && l.joint.is_rotation(i - l.first))
            });
            let word = if matches!(element.kind, ForceKind::Spring { .. }) { "tension" } else { "effort" };
            let unit = if turning { "N m" } else { "N" };
            add(format!("{}.{word}", element.name), unit, SignalSource::Effort(k as u32));
            let word = if element.kind.cause().is_loss() { "loss" } else { "work" };
            add(format!("{}.{word}", element.name), "J", SignalSource::ElementEnergy(k as u32));
        }
        for (k, sensor) in model.sensors.iter().enumerate() {
            for (component, (name, unit)) in ModelSensor::components(sensor.kind).iter().enumerate() {
                let source = SignalSource::Sensor { sensor: k as u32, component: component as u32 };
                add(format!("{}.{name}", sensor.name), unit, source);
            }
        }
        for (k, signal) in self.scene.signals.iter().enumerate() {
            add(signal.name.clone(), "-", SignalSource::Value(k as u32));
        }
        let mut value = self.scene.signals.len() as u32;
        for (k, name) in model.network.state_names.iter().enumerate() {
            add(name.clone(), "-", SignalSource::State(k as u32));
        }
        for component in &self.scene.components {
            for output in &component.outputs {
                add(format!("{}.{}", component.name, output.name), "-", SignalSource::Value(value));
                value += 1;
            }
        }
    }
}

/// What a block reads.
fn reads(kind: &BlockKind) -> Vec<Source> {
    match kind {
        BlockKind::Equation(formula) => formula.inputs.clone(),
        BlockKind::Table { input, .. } => input.inputs.clone(),
        BlockKind::Pid { error, .. } => error.inputs.clone(),
        BlockKind::Component { formula, crossings } => {
            let more = crossings.iter().flat_map(|c| c.when.inputs.iter().chain(&c.set.inputs));
            formula.inputs.iter().chain(more).copied().collect()
        }
        BlockKind::Input { state, .. } => vec![Source::State(*state)],
        BlockKind::Ramp { .. } | BlockKind::Pulse { .. } | BlockKind::Sine { .. } => vec![Source::Time],
    }
}

/// What an element reads.
fn element_reads(kind: &ForceKind) -> Vec<Source> {
    match kind {
        ForceKind::Applied { formula, .. } => formula.inputs.clone(),
        ForceKind::Spring { law: Some(law), .. } => law.inputs.clone(),
        ForceKind::Torque { value, .. }
        | ForceKind::Position { value, .. }
        | ForceKind::Speed { value, .. }
        | ForceKind::Motion { value, .. } => value.inputs.clone(),
        _ => Vec::new(),
    }
}

/// Where an anchor is at the start [m].
fn place(model: &Model, anchor: &Anchor) -> Vec3 {
    anchor.body.map_or(anchor.p, |body| {
        let kin = model.standing(body);
        kin.p + kin.R * anchor.p
    })
}

/// Axes of an anchor at the start.
fn axes(model: &Model, anchor: &Anchor) -> Mat3 {
    anchor.body.map_or(anchor.R, |body| model.standing(body).R * anchor.R)
}
