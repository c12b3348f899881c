//! Joints to mechanisms: a spanning forest for coordinates, rows for the rest.

use super::compile::Compiler;
use super::forces::hung;
use super::starts::is_started;
use super::{Drive, MechanismStart, Model, ModelJoint, ModelSignal, SignalSource};
use crate::element::{Anchor, Give, Yielding};
use crate::joint::{self, Axis2, Joint, Make};
use crate::kinematics::Kinematics;
use crate::mechanism::elastic::Elastic;
use crate::mechanism::{Coupled, CoupledBy, Link, Loop, Mechanism, Parent, Side};
use std::collections::BTreeMap;
use std::sync::Arc;
use tippe_format::part::{CoordinateOf, Wrong};
use tippe_geometry::{Mat3, Pose, Quat, Vec3};
use tippe_scene::{Action, Part, Scene, did_you_mean};

/// Where the coordinates or rows of a joint are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointPlace {
    /// Coordinates of a link.
    Link {
        /// Mechanism.
        mechanism: u32,
        /// Link.
        link: u32,
    },
    /// Rows.
    Loop {
        /// Mechanism.
        mechanism: u32,
        /// Loop, or the number of loops plus the coupling.
        index: u32,
    },
}

impl Model {
    /// Name of the joint or constraint that a row of a mechanism belongs to, by its owner.
    pub fn name_of_row(&self, mechanism: u32, owner: usize) -> String {
        let mechanism = &self.mechanisms[mechanism as usize];
        match mechanism.loops.get(owner) {
            Some(closing) => self.joints[closing.source as usize].name.clone(),
            None => mechanism.couplings[owner - mechanism.loops.len()].name.clone(),
        }
    }

    /// The two frames of a joint, each on a body (or the world) and in its frame, from its origin; none for a coupling of two joints.
    pub fn joint_frames(&self, joint: &ModelJoint) -> [Option<(Option<u32>, Pose)>; 2] {
        let frame = |body: Option<u32>, p: Vec3, R: Mat3| {
            let p_bc = body.map_or(Vec3::ZERO, |body| self.bodies[body as usize].p_bc);
            Some((body, Pose::new(Quat::from_mat3(&R), p_bc + p)))
        };
        let on = |mechanism: &Mechanism, parent: Parent| match parent {
            Parent::World => None,
            Parent::Body(body) => Some(body),
            Parent::Link(link) => Some(mechanism.links[link as usize].body),
        };
        match joint.place {
            Some(JointPlace::Link { mechanism, link }) => {
                let mechanism = &self.mechanisms[mechanism as usize];
                let link = &mechanism.links[link as usize];
                // X_c2 = X_2c^-1
                let R_c2 = link.R_2c.transpose();
                [
                    frame(on(mechanism, link.parent), link.p_p1, link.R_p1),
                    frame(Some(link.body), -(R_c2 * link.p_2c), R_c2),
                ]
            }
            Some(JointPlace::Loop { mechanism, index }) => {
                let mechanism = &self.mechanisms[mechanism as usize];
                // An index beyond the loops is a coupling: it has no frames of its own.
                let sides = mechanism.loops.get(index as usize).map(|closing| closing.sides);
                sides.map_or([None, None], |sides| sides.map(|side| frame(on(mechanism, side.on), side.p, side.R)))
            }
            None => match &joint.gives {
                Some(give) => [0, 1].map(|k| frame(give.ends[k].body, give.ends[k].p, give.ends[k].R)),
                None => [None, None],
            },
        }
    }
}

/// A joint of the scene with its frames found.
pub(super) struct Found {
    index: usize,
    pub(super) joint: Joint,
    /// Free body, or what does not move.
    pub(super) ends: [End; 2],
}

/// A frame on something.
#[derive(Clone, Copy)]
pub(super) struct End {
    pub(super) body: Option<usize>,
    /// In the frame c of the body.
    p: Vec3,
    R: Mat3,
}

/// Pose [R, p] of a frame.
pub(super) type Placed = (Mat3, Vec3);

impl Compiler<'_> {
    /// Mechanisms of the scene's joints; the start of their bodies is made to fit.
    pub(super) fn mechanisms(&mut self, model: &mut Model) {
        let names: BTreeMap<&str, usize> =
            self.scene.bodies.iter().enumerate().map(|(k, b)| (b.name.as_str(), k)).collect();
        let mut found = Vec::new();
        for (index, part) in self.scene.joints.iter().enumerate() {
            let spec = joint::named(part.kind.word).unwrap_or_else(|| {
                let message = format!("joint \"{}\" is a {}, which is no joint", part.name, part.kind.word);
                self.fail(part.places.entity, message, "");
                joint::JOINTS[0]
            });
            model.joints.push(ModelJoint {
                name: part.name.clone(),
                kind: spec,
                joint: Joint::Fixed,
                bodies: [None; 2],
                active: part.flag("active"),
                breaking: joint::breaking(part),
                place: None,
                gives: None,
            });
            if let Make::Joint(make) = spec.make {
                found.extend(self.find(model, &names, index, part, (spec.axis2, make)));
            }
        }
        if !self.errors.is_empty() || self.scene.joints.is_empty() {
            return;
        }
        self.yield_joints(model, &mut found);
        if !self.errors.is_empty() {
            return;
        }
        for joint in &found {
            model.joints[joint.index].joint = joint.joint.clone();
            model.joints[joint.index].bodies = joint.ends.map(|e| e.body.map(|b| b as u32));
        }
        let spanning = self.spanning(model, &found);
        let groups = self.groups(model, &found);
        for bodies in groups {
            self.mechanism(model, &found, &spanning, &bodies);
        }
        if self.errors.is_empty() {
            self.couple(model);
            self.constrain(model);
        }
        for k in 0..model.mechanisms.len() {
            if self.errors.is_empty() {
                self.begin(model, k);
            }
        }
    }

    /// Names of what is recorded of joints.
    pub(super) fn name_signals(&self, model: &mut Model) {
        for (k, joint) in model.joints.iter().enumerate() {
            let k = k as u32;
            if joint.gives.is_some() {
                // what acts in its place has them
                continue;
            }
            let mut add = |name: &str, unit: &str, source: SignalSource| {
                let name = format!("{}.{name}", joint.name);
                model.signals.push(ModelSignal { name, unit: unit.into(), source });
            };
            if let Some(JointPlace::Link { .. }) = joint.place {
                let names = joint.joint.coordinate_names();
                if joint.joint.has_base() {
                    for (component, name) in ["qw", "qx", "qy", "qz"].into_iter().enumerate() {
                        add(name, "-", SignalSource::Orientation { joint: k, component: component as u32 });
                    }
                }
                let first = if joint.joint.has_base() { 3 } else { 0 };
                for (i, (name, unit)) in names.iter().enumerate().skip(first) {
                    add(name, unit, SignalSource::Coordinate { joint: k, coordinate: i as u32 });
                }
                for (i, name) in joint.joint.rate_names().iter().enumerate() {
                    let unit = if joint.joint.is_rotation(i) { "rad/s" } else { "m/s" };
                    add(name, unit, SignalSource::Rate { joint: k, coordinate: i as u32 });
                }
            }
            if let (Joint::Cam(_), Some(JointPlace::Loop { mechanism, index })) = (&joint.joint, joint.place) {
                add("force", "N", SignalSource::Multiplier { mechanism, owner: index });
            }
            for (component, name) in
                ["force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z"].into_iter().enumerate()
            {
                let unit = if component < 3 { "N" } else { "N m" };
                add(name, unit, SignalSource::Reaction { joint: k, component: component as u32 });
            }
        }
        self.name_constraint_signals(model);
        self.name_stresses(model);
    }

    /// Names of the forces of constraints that do not give.
    fn name_constraint_signals(&self, model: &mut Model) {
        for (m, mechanism) in model.mechanisms.iter().enumerate() {
            for (k, coupled) in mechanism.couplings.iter().enumerate() {
                let CoupledBy::Constraint(_) = coupled.source else { continue };
                let unit = if coupled.coupling.length { "N" } else { "N m" };
                let source =
                    SignalSource::Multiplier { mechanism: m as u32, owner: (mechanism.loops.len() + k) as u32 };
                model.signals.push(ModelSignal { name: format!("{}.force", coupled.name), unit: unit.into(), source });
            }
        }
    }

    /// Frames of a joint on its two bodies.
    fn find(
        &mut self,
        model: &Model,
        names: &BTreeMap<&str, usize>,
        index: usize,
        spec: &Part,
        (axis2, make): (Axis2, MakeJoint),
    ) -> Option<Found> {
        let mut ends = [End { body: None, p: Vec3::ZERO, R: Mat3::IDENTITY }; 2];
        let mut poses: [Placed; 2] = [(Mat3::IDENTITY, Vec3::ZERO); 2];
        for (k, attachment) in spec.between("bodies").iter().enumerate() {
            if attachment.body == "world" {
                continue;
            }
            let Some(&body) = names.get(attachment.body.as_str()) else {
                self.fail(
                    spec.places.of("bodies"),
                    format!("joint \"{}\" joins an unknown body \"{}\"", spec.name, attachment.body),
                    &did_you_mean(&attachment.body, names.keys().copied()),
                );
                return None;
            };
            ends[k].body = Some(body);
            if self.refuse_joint(model, spec, body) {
                return None;
            }
            ends[k].p = -model.bodies[body].p_bc;
            if !attachment.frame.is_empty() {
                let frames = &self.scene.bodies[body].frames;
                let Some(frame) = frames.iter().find(|f| f.name == attachment.frame) else {
                    self.fail(
                        spec.places.of("bodies"),
                        format!("body \"{}\" has no frame \"{}\"", attachment.body, attachment.frame),
                        &did_you_mean(&attachment.frame, frames.iter().map(|f| f.name.as_str())),
                    );
                    return None;
                };
                ends[k].p += frame.position;
                ends[k].R = Mat3::from_quat(frame.orientation);
            }
            poses[k] = centre(model, body);
        }
        if ends.iter().all(|e| e.body.is_none_or(|b| model.bodies[b].drive != Drive::Free)) {
            self.fail(
                spec.places.entity,
                format!("joint \"{}\" joins two bodies that do not move by forces", spec.name),
                "one of them must be free",
            );
            return None;
        }
        place_ends(spec, axis2, &mut ends, &poses);
        let [a, b] = [0, 1].map(|k| written(&ends[k], &poses[k]));
        let joint = match make(spec, (b - a).length()) {
            Ok(joint) => joint,
            Err(wrong) => {
                self.fail(spec.places.of(wrong.key), wrong.message, &wrong.help);
                return None;
            }
        };
        Some(Found { index, joint, ends })
    }

    /// Joints that give leave the list: a force element acts in the place of each.
    fn yield_joints(&mut self, model: &mut Model, found: &mut Vec<Found>) {
        let scene = self.scene;
        found.retain(|f| {
            let spec = &scene.joints[f.index];
            if !joint::gives(spec) {
                return true;
            }
            if let Some((key, wrong, help)) = refused(scene, spec, &f.joint) {
                let written = [key].into_iter().chain(joint::GIVING).find(|key| spec.find_number(key).is_some());
                self.fail(
                    spec.places.of(written.unwrap_or(key)),
                    format!("joint \"{}\" gives, and {wrong}", spec.name),
                    help,
                );
                return false;
            }
            let number = |key: &str| spec.find_number(key);
            let yielding = |[compliance, damping, most]: [&str; 3]| Yielding {
                compliance: number(compliance).unwrap_or(1.0),
                damping: number(damping).unwrap_or(0.0),
                most: number(most).unwrap_or(f64::INFINITY),
            };
            for body in f.ends.iter().filter_map(|end| end.body) {
                model.bodies[body].oriented = true;
            }
            let own = &mut model.joints[f.index];
            own.joint = f.joint.clone();
            own.bodies = f.ends.map(|e| e.body.map(|b| b as u32));
            own.gives = Some(Give {
                joint: Arc::new(f.joint.clone()),
                ends: f.ends.map(|e| Anchor { body: e.body.map(|b| b as u32), p: e.p, R: e.R }),
                along: yielding(["compliance", "damping", "force_max"]),
                about: yielding(["turning_compliance", "turning_damping", "torque_max"]),
            });
            false
        });
    }

    /// Which joints give coordinates: those whose coordinates somebody needs first, then those with most rows.
    fn spanning(&mut self, model: &Model, found: &[Found]) -> Vec<bool> {
        let ground = model.bodies.len();
        let mut root: Vec<usize> = (0..=ground).collect();
        let node = |e: &End| e.body.filter(|&b| model.bodies[b].drive == Drive::Free).unwrap_or(ground);
        let named = |wanted: fn(&Action) -> Option<&String>| -> Vec<&str> {
            self.scene.changes.iter().filter_map(|c| wanted(&c.action)).map(String::as_str).collect()
        };
        // joints that come and go are rows, joints that are locked have coordinates
        let loosened = named(|a| if let Action::Attach(j) | Action::Release(j) = a { Some(j) } else { None });
        let locked = named(|a| if let Action::Lock(j) | Action::Unlock(j) = a { Some(j) } else { None });
        let constrained = self.scene.constraints.iter().flat_map(|c| c.terms.iter().map(|term| term.joint.as_str()));
        let coupled: Vec<&str> =
            (self.scene.joints.iter().flat_map(coupled)).map(|of| of.joint.as_str()).chain(constrained).collect();
        let needed = |f: &Found| {
            let spec = &self.scene.joints[f.index];
            hung(spec).iter().any(|(_, parts)| !parts.is_empty())
                || coupled.contains(&spec.name.as_str())
                || locked.contains(&spec.name.as_str())
        };
        let started = |f: &Found| is_started(&self.scene.joints[f.index]);
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by_key(|&k| {
            let f = &found[k];
            // a flexible body and its interfaces have their coordinates together
            (!f.is_interface(model), !needed(f), !started(f), std::cmp::Reverse(f.joint.row_count()))
        });
        let mut spanning = vec![false; found.len()];
        for k in order {
            let spec = &self.scene.joints[found[k].index];
            let breaks = joint::breaking(spec).iter().any(|limit| limit.is_finite());
            if spec.flag("rows")
                || breaks
                || !spec.flag("active")
                || loosened.contains(&spec.name.as_str())
                || !found[k].joint.has_motion()
            {
                continue;
            }
            let [a, b] = [0, 1].map(|side| representative(&mut root, node(&found[k].ends[side])));
            if a != b {
                root[a.min(b)] = a.max(b);
                spanning[k] = true;
            }
        }
        for (k, f) in found.iter().enumerate() {
            if !spanning[k] && needed(f) {
                let spec = &self.scene.joints[f.index];
                self.errors.push(self.scene.error(
                    spec.places.entity,
                    format!(
                        "joint \"{}\" closes a loop, so it has no coordinate for its spring, limit, friction, motor, gear or constraint",
                        spec.name
                    ),
                    "let another joint of the loop be rows = true, and give this one neither rows nor active = false",
                ));
            }
        }
        spanning
    }

    /// Free bodies that joints and couplings hold together, by smallest body.
    fn groups(&self, model: &Model, found: &[Found]) -> Vec<Vec<usize>> {
        let free = |e: &End| e.body.filter(|&b| model.bodies[b].drive == Drive::Free);
        let mut root: Vec<usize> = (0..model.bodies.len()).collect();
        let mut touched = vec![false; model.bodies.len()];
        let join = |a: usize, b: usize, root: &mut Vec<usize>| {
            let (a, b) = (representative(root, a), representative(root, b));
            root[a.max(b)] = a.min(b);
        };
        for f in found {
            for end in f.ends.iter().filter_map(free) {
                touched[end] = true;
            }
            if let [Some(a), Some(b)] = [0, 1].map(|k| free(&f.ends[k])) {
                join(a, b, &mut root);
            }
        }
        for spec in &self.scene.joints {
            let ends: Vec<usize> = coupled(spec)
                .iter()
                .filter_map(|of| found.iter().find(|f| self.scene.joints[f.index].name == of.joint))
                .flat_map(|f| f.ends.iter().filter_map(free))
                .collect();
            for pair in ends.windows(2) {
                join(pair[0], pair[1], &mut root);
            }
        }
        for spec in &self.scene.constraints {
            let joints = spec.terms.iter();
            let joints = joints.filter_map(|term| found.iter().find(|f| self.scene.joints[f.index].name == term.joint));
            let ends: Vec<usize> = joints.flat_map(|f| f.ends.iter().filter_map(free)).collect();
            for pair in ends.windows(2) {
                join(pair[0], pair[1], &mut root);
            }
        }
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for body in (0..model.bodies.len()).filter(|&b| touched[b]) {
            let key = representative(&mut root, body);
            groups.entry(key).or_default().push(body);
        }
        groups.into_values().collect()
    }

    /// One mechanism: its forest from the ground, then from the smallest body left; then its rows.
    fn mechanism(&mut self, model: &mut Model, found: &[Found], spanning: &[bool], bodies: &[usize]) {
        let number = model.mechanisms.len() as u32;
        let free = |b: Option<usize>| b.filter(|&b| model.bodies[b].drive == Drive::Free);
        let mine: Vec<usize> = (0..found.len())
            .filter(|&k| found[k].ends.iter().any(|e| free(e.body).is_some_and(|b| bodies.contains(&b))))
            .collect();
        let mut forest = Forest::default();
        loop {
            // spanning joints between what is placed and what is not, in the order of the scene
            let next = mine.iter().copied().find_map(|k| {
                let ends = found[k].ends.map(|end| free(end.body));
                let placed = ends.map(|body| body.is_none_or(|b| forest.link_of.contains_key(&b)));
                (spanning[k] && placed[0] != placed[1]).then_some((k, placed[1]))
            });
            match next {
                Some((k, reversed)) => {
                    let Some(index) = forest.hang(model, &found[k], reversed) else { break };
                    let place = JointPlace::Link { mechanism: number, link: index };
                    model.joints[found[k].index].place = Some(place);
                }
                None => {
                    let Some(&body) = bodies.iter().find(|b| !forest.link_of.contains_key(b)) else { break };
                    forest.let_float(model, body);
                }
            }
        }
        let Forest { mut mechanism, link_of } = forest;
        for f in mine.into_iter().filter(|&k| !spanning[k]).map(|k| &found[k]) {
            let place = JointPlace::Loop { mechanism: number, index: mechanism.loops.len() as u32 };
            model.joints[f.index].place = Some(place);
            mechanism.loops.push(Loop {
                joint: f.joint.clone(),
                source: f.index as u32,
                sides: f.ends.map(|e| Side { on: parent(&e, &link_of), p: e.p, R: e.R }),
            });
        }
        for (k, link) in mechanism.links.iter().enumerate() {
            model.bodies[link.body as usize].mechanism = Some((number, k as u32));
        }
        model.mechanisms.push(mechanism);
        model.mechanism_starts.push(MechanismStart::default());
    }

    /// Gears, racks and belts.
    fn couple(&mut self, model: &mut Model) {
        for (index, spec) in self.scene.joints.iter().enumerate() {
            let Make::Coupling(make) = model.joints[index].kind.make else { continue };
            let mut coordinates = [0; 2];
            let mut mechanism = None;
            for (k, named) in coupled(spec).iter().enumerate().take(2) {
                let list = model.joints.iter().find(|j| j.name == named.joint).map(|j| j.joint.coordinate_list());
                let index = list.and_then(|list| list.iter().position(|c| c.name == named.coordinate));
                match coordinate_of(model, &named.joint, index.unwrap_or(usize::MAX)) {
                    Ok((of, at)) => (mechanism, coordinates[k]) = (Some(of), at),
                    Err((wrong, help)) => {
                        self.fail(spec.places.of("joints"), format!("\"{}\" couples {wrong}", spec.name), help);
                        return;
                    }
                }
            }
            let coupling = make(spec, coordinates);
            if let Some(number) = mechanism {
                let m = &mut model.mechanisms[number as usize];
                let place = JointPlace::Loop { mechanism: number, index: (m.loops.len() + m.couplings.len()) as u32 };
                let (name, source) = (spec.name.clone(), CoupledBy::Joint(index as u32));
                m.couplings.push(Coupled { name, source, coupling });
                model.joints[index].place = Some(place);
            }
        }
    }
}

/// What a joint that gives cannot do: key, what is wrong, what to try.
fn refused(scene: &Scene, spec: &Part, joint: &Joint) -> Option<(&'static str, String, &'static str)> {
    let has = |key: &str| spec.find_number(key).is_some();
    // which rows it has, told by any pose
    let still = Kinematics { p: Vec3::ZERO, v: Vec3::ZERO, w: Vec3::ZERO, R: Mat3::IDENTITY };
    let mut rows = Vec::new();
    joint.rows(&still, &still, &mut rows);
    if let Some(key) = ["spring", "limit", "friction", "motor"].into_iter().find(|key| !spec.parts(key).is_empty()) {
        let help = "put a [[force]] between its bodies, or let the joint hold and a bushing give beside it";
        return Some((key, format!("has no coordinate for its {key}"), help));
    }
    let changed = |action: &Action| matches!(action, Action::Attach(j) | Action::Release(j) | Action::Lock(j) | Action::Unlock(j) if *j == spec.name);
    if scene.changes.iter().any(|change| changed(&change.action)) || !spec.flag("active") {
        return Some(("active", "comes or goes".to_owned(), "a joint that comes and goes is rigid"));
    }
    let coupled = scene.joints.iter().flat_map(coupled).any(|of| of.joint == spec.name);
    let constrained = scene.constraints.iter().flat_map(|c| &c.terms).any(|term| term.joint == spec.name);
    if coupled || constrained {
        return Some((
            "compliance",
            "a gear or constraint names its coordinate".to_owned(),
            "it has none: name another joint",
        ));
    }
    if joint::breaking(spec).iter().any(|limit| limit.is_finite()) {
        return Some(("breaking_force", "breaks".to_owned(), "force_max and torque_max bound what it carries"));
    }
    if is_started(spec) {
        return Some(("compliance", "has start values".to_owned(), "it starts where its bodies are written"));
    }
    if rows.iter().any(|row| !row.holonomic) {
        return Some(("compliance", "holds a rate".to_owned(), "what rolls without slip holds its rates rigidly"));
    }
    let missing = |length: bool, key: &'static str, others: [&str; 2]| {
        let asked = rows.iter().any(|row| row.length == length);
        let wrong = match (asked, has(key)) {
            (true, false) => format!("has no `{key}` for {} it holds", if length { "directions" } else { "axes" }),
            (false, true) => format!("has a `{key}` and holds nothing that way"),
            (false, false) if others.iter().any(|other| has(other)) => {
                format!("holds nothing that has a {}", others[0])
            }
            _ => return None,
        };
        Some((
            key,
            wrong,
            "compliance is for directions it holds, turning_compliance for axes; what gives has no rigid row beside",
        ))
    };
    missing(true, "compliance", ["damping", "force_max"])
        .or_else(|| missing(false, "turning_compliance", ["turning_damping", "torque_max"]))
}

/// The forest of a mechanism while it grows.
#[derive(Default)]
struct Forest {
    mechanism: Mechanism,
    /// Link of each body that is placed.
    link_of: BTreeMap<usize, u32>,
}

impl Forest {
    /// The next body by this joint, on its second end unless `reversed`; its link.
    fn hang(&mut self, model: &Model, f: &Found, reversed: bool) -> Option<u32> {
        let (outer, inner) = if reversed { (f.ends[1], f.ends[0]) } else { (f.ends[0], f.ends[1]) };
        let body = inner.body?;
        let elastic = f.elastic(model, usize::from(!reversed));
        Some(self.add(Link {
            body: body as u32,
            parent: parent(&outer, &self.link_of),
            joint: f.joint.clone(),
            reversed,
            source: Some(f.index as u32),
            R_p1: outer.R,
            p_p1: outer.p,
            R_2c: inner.R.transpose(),
            p_2c: -(inner.R.transpose() * inner.p),
            first: self.mechanism.coordinates,
            count: f.joint.coordinates() + elastic.modes(),
            elastic,
        }))
    }

    /// The next body with six coordinates of its own.
    fn let_float(&mut self, model: &Model, body: usize) {
        let flexible = model.bodies[body].flexible.clone();
        let elastic = flexible.map_or(Elastic::Rigid, |of| Elastic::Body { of, by: None });
        self.add(Link {
            body: body as u32,
            parent: Parent::World,
            joint: Joint::Free,
            reversed: false,
            source: None,
            R_p1: Mat3::IDENTITY,
            p_p1: Vec3::ZERO,
            R_2c: Mat3::IDENTITY,
            p_2c: Vec3::ZERO,
            first: self.mechanism.coordinates,
            count: 6 + elastic.modes(),
            elastic,
        });
    }

    /// Index of the link that is added.
    fn add(&mut self, link: Link) -> u32 {
        let index = self.mechanism.links.len() as u32;
        self.link_of.insert(link.body as usize, index);
        self.mechanism.coordinates += link.count;
        self.mechanism.links.push(link);
        index
    }
}

/// What a frame is on: the world, a link that is placed, or a body that does not move.
fn parent(end: &End, link_of: &BTreeMap<usize, u32>) -> Parent {
    match end.body {
        None => Parent::World,
        Some(body) => link_of.get(&body).map_or(Parent::Body(body as u32), |&k| Parent::Link(k)),
    }
}

/// The mechanism and the coordinate that a joint and one of its coordinates name; or what is wrong, and what to try.
pub(super) fn coordinate_of(
    model: &Model,
    name: &str,
    coordinate: usize,
) -> Result<(u32, usize), (String, &'static str)> {
    let place = model.joints.iter().find(|j| j.name == *name).and_then(|j| j.place);
    let Some(JointPlace::Link { mechanism, link }) = place else {
        let help = "name joints with coordinates, that do not close loops";
        return Err((format!("joint \"{name}\", which has no coordinates"), help));
    };
    let link = &model.mechanisms[mechanism as usize].links[link as usize];
    if coordinate >= link.joint.coordinates() || link.joint.has_base() {
        let help = "couple joints that turn about or move along an axis";
        return Err((format!("a coordinate joint \"{name}\" does not have"), help));
    }
    Ok((mechanism, link.first + coordinate))
}

/// Origin of a frame in the pose as written, resolved in world [m].
fn written(end: &End, pose: &Placed) -> Vec3 {
    pose.1 + pose.0 * end.p
}

/// Puts the frames of a joint where its point and axes are written.
fn place_ends(spec: &Part, axis2: Axis2, ends: &mut [End; 2], poses: &[Placed; 2]) {
    if axis2 == Axis2::Follower {
        let (R_wc, p_wc) = poses[1];
        if let Some(at) = spec.vector("at") {
            ends[1].p = R_wc.transpose() * (at - p_wc);
        }
        if let Some(face) = spec.vector("face") {
            ends[1].R = R_wc.transpose() * axes(face.normalize(), perpendicular(face.normalize()));
        }
        return;
    }
    let (at, axis, second) = (spec.vector("at"), spec.vector("axis"), spec.vector("axis2"));
    let one_frame = axis2 == Axis2::OfBody2;
    if at.is_some() || (axis.is_some() && !one_frame) {
        let at = at.unwrap_or_else(|| written(&ends[1], &poses[1]));
        let z = axis.unwrap_or(Vec3::Z).normalize();
        let x = match second {
            Some(x) if axis2 == Axis2::X => x,
            _ => perpendicular(z),
        };
        let R = axes(z, x);
        for k in 0..(if one_frame { 1 } else { 2 }) {
            let (R_wc, p_wc) = poses[k];
            ends[k].R = R_wc.transpose() * R;
            ends[k].p = R_wc.transpose() * (at - p_wc);
        }
    }
    if one_frame {
        if at.is_none()
            && let Some(axis) = axis
        {
            ends[0].R = poses[0].0.transpose() * axes(axis.normalize(), perpendicular(axis.normalize()));
        }
        if let Some(axis) = second {
            ends[1].R = poses[1].0.transpose() * axes(axis.normalize(), perpendicular(axis.normalize()));
        }
    }
}

/// Makes a joint of what was written and the distance of its frames [m].
type MakeJoint = fn(&Part, f64) -> Result<Joint, Wrong>;

/// The coordinates that a joint couples.
fn coupled(joint: &Part) -> &[CoordinateOf] {
    joint.coordinates("joints")
}

fn representative(root: &mut [usize], mut k: usize) -> usize {
    while root[k] != k {
        root[k] = root[root[k]];
        k = root[k];
    }
    k
}

/// Pose of a body's frame c at the start.
pub(super) fn centre(model: &Model, body: usize) -> Placed {
    let start = &model.start[body];
    (Mat3::from_quat(start.orientation), start.position + start.orientation * model.bodies[body].p_bc)
}

/// A unit vector perpendicular to z, along the world's axis that z is farthest from.
fn perpendicular(z: Vec3) -> Vec3 {
    let a = z.abs();
    let along = if a.x <= a.y && a.x <= a.z {
        Vec3::X
    } else if a.y <= a.z {
        Vec3::Y
    } else {
        Vec3::Z
    };
    (along - z * z.dot(along)).normalize()
}

/// Axes with this z, and x as near as may be.
fn axes(z: Vec3, x: Vec3) -> Mat3 {
    let x = (x - z * z.dot(x)).normalize();
    Mat3::from_cols(x, z.cross(x), z)
}
