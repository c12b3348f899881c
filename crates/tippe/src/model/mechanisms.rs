//! Joints to mechanisms: a spanning forest for coordinates, rows for the rest, and a start in which all loops close.

use super::compile::Compiler;
use super::{Drive, Model, ModelJoint, ModelSignal, SignalSource};
use crate::joint::coupling::Coupling;
use crate::joint::{Joint, Six};
use crate::kinematics::Kinematics;
use crate::mechanism::{Coupled, Link, Loop, Mechanism, Mode, Parent, Side, Work};
use crate::scene::{self, JointKind, MotorKind, did_you_mean};
use std::collections::BTreeMap;
use tippe_geometry::{Mat3, Pose, Quat, Vec3};

/// Loops are closed to this share of the mechanism's size [-].
const CLOSED: f64 = 1e-13;
/// Iterations to close loops with.
const ITERATIONS: usize = 200;
/// Largest turn of a joint in one of them [rad].
const LARGEST_TURN: f64 = 0.3;
/// The user is told of start values that were changed by more than this [m or rad].
const CHANGED: f64 = 1e-6;

/// Start of one mechanism.
#[derive(Clone, Debug, Default)]
pub struct MechanismStart {
    /// Coordinates [m or rad].
    pub q: Vec<f64>,
    /// Their rates [m/s or rad/s].
    pub u: Vec<f64>,
    /// Orientations joints with three rotations start from, by link.
    pub bases: Vec<Quat>,
    /// Rows, and how many of them are redundant.
    pub rows: usize,
    /// See `rows`.
    pub redundant: usize,
}

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
            None => [None, None],
        }
    }
}

/// A joint of the scene with its frames found.
struct Found {
    index: usize,
    joint: Joint,
    /// Free body, or what does not move.
    ends: [End; 2],
}

/// A frame on something.
#[derive(Clone, Copy)]
struct End {
    body: Option<usize>,
    /// In the frame c of the body.
    p: Vec3,
    R: Mat3,
}

/// A tree that a joint written as rows places.
struct Hung {
    /// Loop.
    index: usize,
    /// Side of the loop that hangs.
    side: usize,
    /// Link its tree begins with.
    root: usize,
    /// Coordinates of the joint [m or rad].
    q: [f64; 6],
    /// Orientation they are measured from.
    base: Quat,
    /// Whether the tree stays if its joint does: what it hangs on stays.
    firm: bool,
}

/// Pose [R, p] of a frame.
type Placed = (Mat3, Vec3);

impl Compiler<'_> {
    /// Mechanisms of the scene's joints; the start of their bodies is made to fit.
    pub(super) fn mechanisms(&mut self, model: &mut Model) {
        let names: BTreeMap<&str, usize> =
            self.scene.bodies.iter().enumerate().map(|(k, b)| (b.name.as_str(), k)).collect();
        let mut found = Vec::new();
        for (index, spec) in self.scene.joints.iter().enumerate() {
            model.joints.push(ModelJoint {
                name: spec.name.clone(),
                kind: spec.kind,
                joint: Joint::Fixed,
                bodies: [None; 2],
                active: spec.active,
                breaking: spec.breaking,
                place: None,
            });
            if spec.kind.is_coupling() {
                continue;
            }
            if let Some(joint) = self.find(model, &names, index, spec) {
                found.push(joint);
            }
        }
        if !self.errors.is_empty() || self.scene.joints.is_empty() {
            return;
        }
        for joint in &found {
            model.joints[joint.index].joint = joint.joint;
            model.joints[joint.index].bodies = joint.ends.map(|e| e.body.map(|b| b as u32));
        }
        let spanning = self.spanning(model, &found);
        let groups = self.groups(model, &found);
        for bodies in groups {
            self.mechanism(model, &found, &spanning, &bodies);
        }
        if self.errors.is_empty() {
            self.couple(model);
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
            for (component, name) in
                ["force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z"].into_iter().enumerate()
            {
                let unit = if component < 3 { "N" } else { "N m" };
                add(name, unit, SignalSource::Reaction { joint: k, component: component as u32 });
            }
        }
    }

    /// Frames of a joint on its two bodies.
    fn find(
        &mut self,
        model: &Model,
        names: &BTreeMap<&str, usize>,
        index: usize,
        spec: &scene::Joint,
    ) -> Option<Found> {
        let mut ends = [End { body: None, p: Vec3::ZERO, R: Mat3::IDENTITY }; 2];
        let mut poses: [Placed; 2] = [(Mat3::IDENTITY, Vec3::ZERO); 2];
        for (k, attachment) in spec.between.iter().enumerate() {
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
        let written = |end: &End, pose: &Placed| (pose.0 * end.R, pose.1 + pose.0 * end.p);
        if ends.iter().all(|e| e.body.is_none_or(|b| model.bodies[b].drive != Drive::Free)) {
            self.fail(
                spec.places.entity,
                format!("joint \"{}\" joins two bodies that do not move by forces", spec.name),
                "one of them must be free",
            );
            return None;
        }
        let rolling = spec.kind == JointKind::Rolling;
        if spec.at.is_some() || (spec.axis.is_some() && !rolling) {
            let at = spec.at.unwrap_or_else(|| written(&ends[1], &poses[1]).1);
            let z = spec.axis.unwrap_or(Vec3::Z).normalize();
            let x = match spec.axis2 {
                Some(axis2) if spec.kind == JointKind::Universal => axis2,
                _ => perpendicular(z),
            };
            let R = axes(z, x);
            for k in 0..(if rolling { 1 } else { 2 }) {
                let (R_wc, p_wc) = poses[k];
                ends[k].R = R_wc.transpose() * R;
                ends[k].p = R_wc.transpose() * (at - p_wc);
            }
        }
        if rolling {
            if spec.at.is_none()
                && let Some(axis) = spec.axis
            {
                ends[0].R = poses[0].0.transpose() * axes(axis.normalize(), perpendicular(axis.normalize()));
            }
            if let Some(axis2) = spec.axis2 {
                ends[1].R = poses[1].0.transpose() * axes(axis2.normalize(), perpendicular(axis2.normalize()));
            }
        }
        let joint = match spec.kind {
            JointKind::Fixed => Joint::Fixed,
            JointKind::Revolute => Joint::Revolute,
            JointKind::Prismatic => Joint::Prismatic,
            JointKind::Cylindrical => Joint::Cylindrical,
            JointKind::Spherical => Joint::Spherical,
            JointKind::Universal => Joint::Universal,
            JointKind::Planar => Joint::Planar,
            JointKind::Free => Joint::Free,
            JointKind::Screw => Joint::Screw { pitch: spec.pitch / (2.0 * std::f64::consts::PI) },
            JointKind::Distance => {
                let [a, b] = [0, 1].map(|k| written(&ends[k], &poses[k]).1);
                let length = spec.length.unwrap_or((b - a).length());
                if length.is_nan() || length <= 0.0 {
                    self.fail(
                        spec.places.of("length"),
                        format!("distance joint \"{}\" has length {length} m; a length is > 0", spec.name),
                        "use a spherical joint where two points coincide",
                    );
                    return None;
                }
                Joint::Distance { length }
            }
            JointKind::PointOnLine => Joint::PointOnLine,
            JointKind::ConstantVelocity => Joint::ConstantVelocity,
            JointKind::Rolling => Joint::Rolling { semi_axes: spec.semi_axes },
            JointKind::Gear | JointKind::RackAndPinion | JointKind::Belt => return None,
        };
        Some(Found { index, joint, ends })
    }

    /// Which joints give coordinates: those whose coordinates somebody needs first, then those with most rows.
    fn spanning(&mut self, model: &Model, found: &[Found]) -> Vec<bool> {
        let ground = model.bodies.len();
        let mut root: Vec<usize> = (0..=ground).collect();
        let node = |e: &End| e.body.filter(|&b| model.bodies[b].drive == Drive::Free).unwrap_or(ground);
        use crate::scene::Action;
        let named = |wanted: fn(&Action) -> Option<&String>| -> Vec<&str> {
            self.scene.changes.iter().filter_map(|c| wanted(&c.action)).map(String::as_str).collect()
        };
        // joints that come and go are rows, joints that are locked have coordinates
        let loosened = named(|a| if let Action::Attach(j) | Action::Release(j) = a { Some(j) } else { None });
        let locked = named(|a| if let Action::Lock(j) | Action::Unlock(j) = a { Some(j) } else { None });
        let coupled: Vec<&str> =
            self.scene.joints.iter().flat_map(|j| j.couples.iter().map(|(name, _)| name.as_str())).collect();
        let needed = |f: &Found| {
            let spec = &self.scene.joints[f.index];
            !(spec.springs.is_empty() && spec.limits.is_empty() && spec.frictions.is_empty() && spec.motors.is_empty())
                || coupled.contains(&spec.name.as_str())
                || locked.contains(&spec.name.as_str())
        };
        let started = |f: &Found| is_started(&self.scene.joints[f.index]);
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by_key(|&k| {
            let f = &found[k];
            (!needed(f), !started(f), std::cmp::Reverse(f.joint.row_count()))
        });
        let mut spanning = vec![false; found.len()];
        for k in order {
            let spec = &self.scene.joints[found[k].index];
            let breaks = spec.breaking.iter().any(|limit| limit.is_finite());
            if spec.rows
                || breaks
                || !spec.active
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
                        "joint \"{}\" closes a loop, so it has no coordinate for its spring, limit, friction, motor or gear",
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
        for spec in self.scene.joints.iter().filter(|j| j.kind.is_coupling()) {
            let ends: Vec<usize> = spec
                .couples
                .iter()
                .filter_map(|(name, _)| found.iter().find(|f| self.scene.joints[f.index].name == *name))
                .flat_map(|f| f.ends.iter().filter_map(free))
                .collect();
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
        let mut mechanism = Mechanism::default();
        let free = |b: Option<usize>| b.filter(|&b| model.bodies[b].drive == Drive::Free);
        let mut link_of: BTreeMap<usize, u32> = BTreeMap::new();
        let mut places: Vec<(usize, JointPlace)> = Vec::new();
        let on = |end: &End, link_of: &BTreeMap<usize, u32>| match end.body {
            None => Parent::World,
            Some(body) => link_of.get(&body).map_or(Parent::Body(body as u32), |&k| Parent::Link(k)),
        };
        let mine: Vec<usize> = (0..found.len())
            .filter(|&k| found[k].ends.iter().any(|e| free(e.body).is_some_and(|b| bodies.contains(&b))))
            .collect();
        loop {
            // spanning joints between what is placed and what is not, in the order of the scene
            let next = mine.iter().copied().find_map(|k| {
                let placed = [0, 1].map(|side| free(found[k].ends[side].body).is_none_or(|b| link_of.contains_key(&b)));
                (spanning[k] && placed[0] != placed[1]).then_some((k, placed[1]))
            });
            let (body, link) = match next {
                Some((k, reversed)) => {
                    let f = &found[k];
                    let (outer, inner) = if reversed { (1, 0) } else { (0, 1) };
                    let Some(body) = f.ends[inner].body else { break };
                    let parent = on(&f.ends[outer], &link_of);
                    let (outer, inner) = (f.ends[outer], f.ends[inner]);
                    places.push((f.index, JointPlace::Link { mechanism: number, link: mechanism.links.len() as u32 }));
                    (
                        body,
                        Link {
                            body: body as u32,
                            parent,
                            joint: f.joint,
                            reversed,
                            source: Some(f.index as u32),
                            R_p1: outer.R,
                            p_p1: outer.p,
                            R_2c: inner.R.transpose(),
                            p_2c: -(inner.R.transpose() * inner.p),
                            first: mechanism.coordinates,
                            count: f.joint.coordinates(),
                        },
                    )
                }
                None => {
                    let Some(&body) = bodies.iter().find(|b| !link_of.contains_key(b)) else { break };
                    (
                        body,
                        Link {
                            body: body as u32,
                            parent: Parent::World,
                            joint: Joint::Free,
                            reversed: false,
                            source: None,
                            R_p1: Mat3::IDENTITY,
                            p_p1: Vec3::ZERO,
                            R_2c: Mat3::IDENTITY,
                            p_2c: Vec3::ZERO,
                            first: mechanism.coordinates,
                            count: 6,
                        },
                    )
                }
            };
            link_of.insert(body, mechanism.links.len() as u32);
            mechanism.coordinates += link.count;
            mechanism.links.push(link);
        }
        for k in mine.into_iter().filter(|&k| !spanning[k]) {
            let f = &found[k];
            let place = JointPlace::Loop { mechanism: number, index: mechanism.loops.len() as u32 };
            places.push((f.index, place));
            mechanism.loops.push(Loop {
                joint: f.joint,
                source: f.index as u32,
                sides: f.ends.map(|e| Side { on: on(&e, &link_of), p: e.p, R: e.R }),
            });
        }
        for (joint, place) in places {
            model.joints[joint].place = Some(place);
        }
        for (k, link) in mechanism.links.iter().enumerate() {
            model.bodies[link.body as usize].mechanism = Some((number, k as u32));
        }
        model.mechanisms.push(mechanism);
        model.mechanism_starts.push(MechanismStart::default());
    }

    /// Gears, racks and belts.
    fn couple(&mut self, model: &mut Model) {
        for (index, spec) in self.scene.joints.iter().enumerate().filter(|(_, j)| j.kind.is_coupling()) {
            let mut coordinates = [0; 2];
            let mut mechanism = None;
            for (k, (name, coordinate)) in spec.couples.iter().enumerate().take(2) {
                let place = model.joints.iter().find(|j| j.name == *name).and_then(|j| j.place);
                let Some(JointPlace::Link { mechanism: of, link }) = place else {
                    self.fail(
                        spec.places.of("joints"),
                        format!("\"{}\" couples joint \"{name}\", which has no coordinates", spec.name),
                        "name joints with coordinates, that do not close loops",
                    );
                    return;
                };
                mechanism = Some(of);
                let link = &model.mechanisms[of as usize].links[link as usize];
                if *coordinate >= link.count || link.joint.has_base() {
                    self.fail(
                        spec.places.of("joints"),
                        format!("\"{}\" couples a coordinate joint \"{name}\" does not have", spec.name),
                        "couple joints that turn about or move along an axis",
                    );
                    return;
                }
                coordinates[k] = link.first + coordinate;
            }
            let coupling = match spec.kind {
                JointKind::RackAndPinion => Coupling::rack_and_pinion(coordinates, spec.ratio, [0.0; 2]),
                // rate of the first over rate of the second
                _ => Coupling::gear(coordinates, spec.ratio, [0.0; 2]),
            };
            if let Some(number) = mechanism {
                let m = &mut model.mechanisms[number as usize];
                let place = JointPlace::Loop { mechanism: number, index: (m.loops.len() + m.couplings.len()) as u32 };
                m.couplings.push(Coupled { source: index as u32, coupling });
                model.joints[index].place = Some(place);
            }
        }
    }

    /// Start values of one mechanism, with all loops closed.
    fn begin(&mut self, model: &mut Model, number: usize) {
        let mechanism = model.mechanisms[number].clone();
        let mut start = MechanismStart {
            q: vec![0.0; mechanism.coordinates],
            u: vec![0.0; mechanism.coordinates],
            bases: vec![Quat::IDENTITY; mechanism.links.len()],
            ..MechanismStart::default()
        };
        let mut given = vec![false; mechanism.coordinates];
        let mut driven = vec![false; mechanism.coordinates];
        let mut placed: Vec<Placed> = Vec::new();
        for (k, link) in mechanism.links.iter().enumerate() {
            let parent = match link.parent {
                Parent::World => (Mat3::IDENTITY, Vec3::ZERO),
                Parent::Body(body) => centre(model, body as usize),
                Parent::Link(parent) => placed[parent as usize],
            };
            let outer = (parent.0 * link.R_p1, parent.1 + parent.0 * link.p_p1);
            let (R_wc, p_wc) = centre(model, link.body as usize);
            let R_w2 = R_wc * link.R_2c.transpose();
            let inner = (R_w2, p_wc - R_w2 * link.p_2c);
            let (f1, f2) = if link.reversed { (inner, outer) } else { (outer, inner) };
            let q = &mut start.q[link.first..link.first + link.count];
            let spec = link.source.map(|s| &self.scene.joints[s as usize]);
            let body = &self.scene.bodies[link.body as usize];
            // a body that was not placed is placed by its joint
            let unplaced = spec.is_some_and(|s| s.at.is_none() && s.axis.is_none())
                && body.position == Vec3::ZERO
                && body.orientation == Quat::IDENTITY;
            let (R_12, p_12) = (f1.0.transpose() * f2.0, f1.0.transpose() * (f2.1 - f1.1));
            if link.joint.has_base() {
                start.bases[k] = if unplaced { Quat::IDENTITY } else { Quat::from_mat3(&R_12).normalize() };
                if link.joint == Joint::Free {
                    q[3..6].copy_from_slice(&(if unplaced { Vec3::ZERO } else { p_12 }).to_array());
                }
            } else if !unplaced {
                link.joint.coordinates_of(&R_12, p_12, q);
            }
            for (i, value) in spec.map_or(&[][..], |s| &s.start).iter().enumerate() {
                if let Some(value) = value {
                    q[i] = *value;
                    given[link.first + i] = true;
                }
            }
            for motor in spec.into_iter().flat_map(|s| &s.motors).filter(|motor| motor.kind == MotorKind::Motion) {
                driven[link.first + motor.coordinate] = true;
            }
            let mut work = mechanism.work();
            let mut kinematics = vec![Kinematics::WORLD; mechanism.links.len()];
            place(model, &mechanism, &start, &mut work, &mut kinematics);
            placed.push((kinematics[k].R, kinematics[k].p));
        }
        let hung = self.hang(model, &mechanism, &mut start, &mut given);
        for coupling in 0..mechanism.couplings.len() {
            let m = &mut model.mechanisms[number];
            for term in &mut m.couplings[coupling].coupling.terms {
                term.start = start.q[term.coordinate];
            }
        }
        let mechanism = model.mechanisms[number].clone();
        let mut work = mechanism.work();
        for (k, closing) in mechanism.loops.iter().enumerate() {
            work.active[k] = self.scene.joints[closing.source as usize].active;
        }
        if !self.close_loops(model, &mechanism, &mut start, [&given, &driven], &mut work) {
            return;
        }
        self.start_rates(model, &mechanism, &mut start, &hung, &mut work);
        self.warn_of_rows(model, &mechanism, &start, &mut work);
        start.rows = work.rows.len();
        start.redundant = work.rows.len() - work.rank;
        let mut kinematics = vec![Kinematics::WORLD; mechanism.links.len()];
        place(model, &mechanism, &start, &mut work, &mut kinematics);
        for (link, kin) in mechanism.links.iter().zip(&kinematics) {
            let body = link.body as usize;
            if model.bodies[body].radius == 0.0 {
                model.bodies[body].size = model.bodies[body].size.max(link.p_2c.length());
            }
            let q = Quat::from_mat3(&kin.R).normalize();
            let arm = q * model.bodies[body].p_bc;
            model.start[body] = crate::BodyState {
                position: kin.p - arm,
                orientation: q,
                velocity: kin.v - kin.w.cross(arm),
                angular_velocity: kin.w,
            };
        }
        model.mechanism_starts[number] = start;
    }

    /// Where start values stand at joints written as rows, joints place what hangs on them as their coordinates would, from the ground
    /// outwards:
    ///   X_w2 = X_w1 X_12(q),
    /// or X_w1 = X_w2 X_12(q)^-1 where body 1 hangs; a tree moves as one.
    fn hang(&self, model: &Model, mechanism: &Mechanism, start: &mut MechanismStart, given: &mut [bool]) -> Vec<Hung> {
        let mut hung: Vec<Hung> = Vec::new();
        let spec = |l: usize| &self.scene.joints[mechanism.loops[l].source as usize];
        let mut order: Vec<usize> = (0..mechanism.loops.len()).collect();
        order.retain(|&l| spec(l).active && mechanism.loops[l].joint.has_motion());
        order.sort_by_key(|&l| !is_started(spec(l)));
        if !order.first().is_some_and(|&l| is_started(spec(l))) {
            return hung;
        }
        let mut root: Vec<usize> = Vec::new();
        for (k, link) in mechanism.links.iter().enumerate() {
            root.push(if let Parent::Link(parent) = link.parent { root[parent as usize] } else { k });
        }
        let mut placed: Vec<bool> = mechanism.links.iter().map(|link| link.source.is_some()).collect();
        let tree = |on: Parent| if let Parent::Link(k) = on { Some(root[k as usize]) } else { None };
        let mut work = mechanism.work();
        let mut kinematics = vec![Kinematics::WORLD; mechanism.links.len()];
        loop {
            let next = order.iter().find_map(|&l| {
                let sides = mechanism.loops[l].sides.map(|side| tree(side.on).is_none_or(|r| placed[r]));
                (sides[0] != sides[1]).then_some((l, usize::from(sides[0])))
            });
            let Some((index, side)) = next else {
                // nothing hangs on what is placed: the first tree left stays where it was written
                let Some(first) = (0..placed.len()).find(|&k| root[k] == k && !placed[k]) else { break };
                placed[first] = true;
                continue;
            };
            let closing = &mechanism.loops[index];
            let Some(root) = tree(closing.sides[side].on) else { break };
            place(model, mechanism, start, &mut work, &mut kinematics);
            let frames = closing.sides.map(|s| frame_of(model, &s, &kinematics));
            let [f1, f2] = &frames;
            let (R_12, p_12) = (f1.R.transpose() * f2.R, f1.R.transpose() * (f2.p - f1.p));
            let spec = spec(index);
            let body = &self.scene.bodies[mechanism.links[root].body as usize];
            let unplaced = spec.at.is_none()
                && spec.axis.is_none()
                && body.position == Vec3::ZERO
                && body.orientation == Quat::IDENTITY;
            let (mut q, mut base) = ([0.0; 6], Quat::IDENTITY);
            let joint = &closing.joint;
            if !unplaced {
                if joint.has_base() {
                    base = Quat::from_mat3(&R_12).normalize();
                    if *joint == Joint::Free {
                        q[3..6].copy_from_slice(&p_12.to_array());
                    }
                } else {
                    joint.coordinates_of(&R_12, p_12, &mut q[..joint.coordinates()]);
                }
            }
            for (q, value) in q.iter_mut().zip(&spec.start) {
                *q = value.unwrap_or(*q);
            }
            let n = joint.coordinates();
            let motion = joint.motion(&q[..n], &[0.0; 6][..n], base);
            let (R, p) = if side == 1 {
                (f1.R * motion.R_12, f1.p + f1.R * motion.p_12)
            } else {
                let R = f2.R * motion.R_12.transpose();
                (R, f2.p - R * motion.p_12)
            };
            // R, p take the frame from where it is to where it hangs, and its tree along
            let (from, turn) = (&frames[side], R * frames[side].R.transpose());
            let first = mechanism.links[root].first;
            let kin = &kinematics[root];
            start.bases[root] = Quat::from_mat3(&(turn * kin.R)).normalize();
            start.q[first..first + 3].fill(0.0);
            start.q[first + 3..first + 6].copy_from_slice(&(p + turn * (kin.p - from.p)).to_array());
            placed[root] = true;
            let on = tree(closing.sides[1 - side].on);
            let all = |values: &[Option<f64>]| values.len() == n && values.iter().all(Option::is_some);
            let stays = on.is_none_or(|r| hung.iter().any(|h| h.root == r && h.firm));
            let firm = stays && (all(&spec.start) || n == 0);
            given[first..first + 6].fill(firm);
            hung.push(Hung { index, side, root, q, base, firm });
        }
        hung
    }

    /// Velocities of what hangs on joints written as rows: with V = S(q) u the velocity of frame 2 in frame 1, resolved there,
    ///   w_2 = w_1 + R_w1 V.angular,   v_2 = v_1 + w_1 x p_12 + R_w1 V.linear.
    fn hang_rates(
        &self,
        model: &Model,
        mechanism: &Mechanism,
        start: &mut MechanismStart,
        hung: &[Hung],
        given: &mut [bool],
        work: &mut Work,
    ) {
        let mut kinematics = vec![Kinematics::WORLD; mechanism.links.len()];
        let mut firm = vec![false; mechanism.links.len()];
        for h in hung {
            place(model, mechanism, start, work, &mut kinematics);
            let closing = &mechanism.loops[h.index];
            let [f1, f2] = closing.sides.map(|s| frame_of(model, &s, &kinematics));
            let n = closing.joint.coordinates();
            let mut u = [0.0; 6];
            let now = seen_from(&f1, &f2);
            let S = closing.joint.motion(&h.q[..n], &u[..n], h.base).S;
            fit(&S[..n], now, &mut u);
            let rates = &self.scene.joints[closing.source as usize].start_rate;
            for (u, rate) in u.iter_mut().zip(rates) {
                *u = rate.unwrap_or(*u);
            }
            let wanted = S.iter().zip(&u).fold(Six::default(), |sum, (S, u)| sum + *S * *u);
            let missing = wanted - now;
            // of the tree at the origin of frame 2; where frame 1 hangs it moves the other way
            let sign = if h.side == 1 { 1.0 } else { -1.0 };
            let (dw, dv) = (sign * (f1.R * missing.angular), sign * (f1.R * missing.linear));
            let link = &mechanism.links[h.root];
            let change = Six { angular: dw, linear: dv + dw.cross(kinematics[h.root].p - f2.p) };
            fit(&work.S[link.first..link.first + link.count], change, &mut start.u[link.first..]);
            let stays = match closing.sides[1 - h.side].on {
                Parent::Link(k) => firm[k as usize],
                _ => true,
            };
            firm[h.root] = stays && rates.len() == n && rates.iter().all(Option::is_some);
            given[link.first..link.first + link.count].fill(firm[h.root]);
        }
    }

    /// Says which start values written at joints that are rows could not be had.
    fn warn_of_rows(&mut self, model: &Model, mechanism: &Mechanism, start: &MechanismStart, work: &mut Work) {
        let mut kinematics = vec![Kinematics::WORLD; mechanism.links.len()];
        place(model, mechanism, start, work, &mut kinematics);
        for closing in &mechanism.loops {
            let spec = &self.scene.joints[closing.source as usize];
            if !is_started(spec) {
                continue;
            }
            let [f1, f2] = closing.sides.map(|s| frame_of(model, &s, &kinematics));
            let (R_12, p_12) = (f1.R.transpose() * f2.R, f1.R.transpose() * (f2.p - f1.p));
            let (joint, n) = (&closing.joint, closing.joint.coordinates());
            let (mut q, mut u, mut base) = ([0.0; 6], [0.0; 6], Quat::IDENTITY);
            if joint.has_base() {
                base = Quat::from_mat3(&R_12).normalize();
            } else {
                joint.coordinates_of(&R_12, p_12, &mut q[..n]);
            }
            fit(&joint.motion(&q[..n], &u[..n], base).S[..n], seen_from(&f1, &f2), &mut u);
            let turn = 2.0 * std::f64::consts::PI;
            let mut off = Vec::new();
            for (i, value) in spec.start.iter().enumerate().filter_map(|(i, v)| Some((i, (*v)?))) {
                let (name, unit) = joint.coordinate_names()[i];
                let mut wrong = q[i] - value;
                if joint.is_rotation(i) && !matches!(joint, Joint::Screw { .. }) {
                    wrong -= turn * (wrong / turn).round();
                }
                if wrong.abs() > CHANGED {
                    off.push(format!("its {name} starts at {:.6} {unit}, not at {value:.6} {unit} as written", q[i]));
                }
            }
            for (i, rate) in spec.start_rate.iter().enumerate().filter_map(|(i, r)| Some((i, (*r)?))) {
                if (u[i] - rate).abs() > CHANGED * rate.abs().max(1.0) {
                    let unit = if joint.is_rotation(i) { "rad/s" } else { "m/s" };
                    let name = joint.rate_names()[i];
                    off.push(format!("its {name} starts at {:.6} {unit}, not at {rate:.6} {unit} as written", u[i]));
                }
            }
            let why = if spec.active { "closes a loop with rows" } else { "is not active at the start" };
            let help = "give the start values at joints with coordinates, or place the bodies themselves";
            for off in off {
                let message = format!("joint \"{}\" {why}, and {off}", spec.name);
                self.warnings.push(self.scene.error(spec.places.entity, message, help).to_string());
            }
        }
    }

    /// Newton's method on the coordinates, least change in the metric of the masses; given start values are kept if the
    /// loops close with them, else those of coordinates whose motion is driven.
    fn close_loops(
        &mut self,
        model: &Model,
        mechanism: &Mechanism,
        start: &mut MechanismStart,
        [given, driven]: [&[bool]; 2],
        work: &mut Work,
    ) -> bool {
        let written = start.clone();
        let size =
            mechanism.links.iter().flat_map(|l| [l.p_p1.length(), l.p_2c.length()]).chain([1e-3]).fold(0.0, f64::max);
        let mut violation = f64::INFINITY;
        let none = vec![false; mechanism.coordinates];
        let mut kept = vec![given, driven, &none];
        kept.dedup();
        for keep in kept {
            *start = written.clone();
            for (mode, keep) in work.modes.iter_mut().zip(keep) {
                *mode = if *keep { Mode::Given(0.0) } else { Mode::Free };
            }
            let mut change = vec![0.0; mechanism.coordinates];
            for _ in 0..ITERATIONS {
                if !evaluate(model, mechanism, start, work) {
                    self.massless(mechanism, work);
                    return false;
                }
                violation = mechanism.correction(false, work, &mut change);
                if violation <= CLOSED * size {
                    break;
                }
                let largest = turning(mechanism, &change);
                let damp = if largest > LARGEST_TURN { LARGEST_TURN / largest } else { 1.0 };
                change.iter_mut().for_each(|c| *c *= damp);
                apply(mechanism, start, &change);
            }
            if violation <= 1e-9 * size {
                break;
            }
        }
        work.modes.fill(Mode::Free);
        if violation.is_nan() || violation > 1e-9 * size {
            let worst = work.rows.iter().max_by(|a, b| a.phi.abs().total_cmp(&b.phi.abs()));
            if let Some(row) = worst {
                let source = match mechanism.loops.get(row.owner) {
                    Some(closing) => closing.source,
                    None => mechanism.couplings[row.owner - mechanism.loops.len()].source,
                };
                let spec = &self.scene.joints[source as usize];
                self.fail(
                    spec.places.entity,
                    format!(
                        "joint \"{}\" cannot close: after {ITERATIONS} iterations its frames are {:.3e} m apart or askew",
                        spec.name, violation
                    ),
                    "look at the lengths and start values of the loop it closes",
                );
            }
            return false;
        }
        for link in &mechanism.links {
            let Some(source) = link.source else { continue };
            let name = &model.joints[source as usize].name;
            for i in link.first..link.first + link.count {
                let moved = start.q[i] - written.q[i];
                if moved.abs() > CHANGED && !link.joint.has_base() {
                    let (coordinate, unit) = link.joint.coordinate_names()[i - link.first];
                    self.warnings.push(format!(
                        "joint \"{name}\": {coordinate} starts at {:.9} {unit}, {:.3e} {unit} from where it was written, so that all loops close",
                        start.q[i], moved
                    ));
                }
            }
        }
        if !evaluate(model, mechanism, start, work) {
            self.massless(mechanism, work);
            return false;
        }
        true
    }

    fn massless(&mut self, mechanism: &Mechanism, work: &Work) {
        let Some(link) = mechanism.massless(work) else {
            self.fail(
                Default::default(),
                "a mechanism has no finite motion at its start".into(),
                "look at its masses and lengths",
            );
            return;
        };
        let link = &mechanism.links[link];
        let body = &self.scene.bodies[link.body as usize];
        let joint = link.source.map_or("", |s| self.scene.joints[s as usize].name.as_str());
        self.fail(
            body.places.entity,
            format!(
                "joint \"{joint}\" moves nothing that has mass: body \"{}\" has {} kg and no inertia about the joint",
                body.name,
                body.mass.unwrap_or(0.0)
            ),
            "give the body (or one it carries) mass and inertia, or make the joint fixed",
        );
    }

    /// Rates: those written on joints, else those of the bodies' written velocities; then made to fit the rows.
    fn start_rates(
        &mut self,
        model: &Model,
        mechanism: &Mechanism,
        start: &mut MechanismStart,
        hung: &[Hung],
        work: &mut Work,
    ) {
        let n = mechanism.links.len();
        let mut given = vec![false; mechanism.coordinates];
        let mut kinematics = vec![Kinematics::WORLD; n];
        for k in 0..n {
            let link = &mechanism.links[k];
            place(model, mechanism, start, work, &mut kinematics);
            let spec = link.source.map(|s| &self.scene.joints[s as usize]);
            let body = &self.scene.bodies[link.body as usize];
            let (v, w) = (body.velocity, body.angular_velocity);
            let moving = v != Vec3::ZERO || w != Vec3::ZERO;
            if moving {
                let arm = kinematics[k].R * model.bodies[link.body as usize].p_bc;
                let wanted = Six { angular: w, linear: v + w.cross(arm) }
                    - Six { angular: kinematics[k].w, linear: kinematics[k].v };
                fit(&work.S[link.first..link.first + link.count], wanted, &mut start.u[link.first..]);
            }
            for (i, rate) in spec.map_or(&[][..], |s| &s.start_rate).iter().enumerate() {
                if let Some(rate) = rate {
                    start.u[link.first + i] = *rate;
                    given[link.first + i] = true;
                }
            }
        }
        self.hang_rates(model, mechanism, start, hung, &mut given, work);
        let written = start.u.clone();
        let mut change = vec![0.0; mechanism.coordinates];
        for keep in [true, false] {
            start.u.clone_from(&written);
            for (mode, given) in work.modes.iter_mut().zip(&given) {
                *mode = if keep && *given { Mode::Given(0.0) } else { Mode::Free };
            }
            let mut wrong = 0.0;
            for _ in 0..3 {
                evaluate(model, mechanism, start, work);
                wrong = mechanism.correction(true, work, &mut change);
                start.u.iter_mut().zip(&change).for_each(|(u, c)| *u += c);
            }
            if wrong < 1e-9 {
                break;
            }
        }
        work.modes.fill(Mode::Free);
        evaluate(model, mechanism, start, work);
        mechanism.correction(true, work, &mut change);
        for link in &mechanism.links {
            let Some(source) = link.source else { continue };
            for i in (link.first..link.first + link.count).filter(|&i| given[i]) {
                if (start.u[i] - written[i]).abs() > CHANGED {
                    self.warnings.push(format!(
                        "joint \"{}\": its rate starts at {:.6e}, not at {:.6e} as written, so that all loops stay closed",
                        model.joints[source as usize].name, start.u[i], written[i]
                    ));
                }
            }
        }
        place(model, mechanism, start, work, &mut kinematics);
        for (k, link) in mechanism.links.iter().enumerate() {
            let body = &self.scene.bodies[link.body as usize];
            let (v, w) = (body.velocity, body.angular_velocity);
            if v == Vec3::ZERO && w == Vec3::ZERO {
                continue;
            }
            let kin = &kinematics[k];
            let off = (kin.v - kin.w.cross(kin.R * model.bodies[link.body as usize].p_bc) - v).length();
            if off > CHANGED * v.length().max(1.0) || (kin.w - w).length() > CHANGED * w.length().max(1.0) {
                self.warnings.push(format!(
                    "body \"{}\": its joints do not allow the velocity it was given ({off:.3e} m/s off)",
                    body.name
                ));
            }
        }
    }
}

/// Whether a joint has start values.
fn is_started(spec: &scene::Joint) -> bool {
    spec.start.iter().chain(&spec.start_rate).any(Option::is_some)
}

/// Motion of a frame of a loop at the start.
fn frame_of(model: &Model, side: &Side, kinematics: &[Kinematics]) -> Kinematics {
    let on = match side.on {
        Parent::World => Kinematics::WORLD,
        Parent::Body(body) => model.standing(body),
        Parent::Link(k) => kinematics[k as usize],
    };
    on.of_frame(side.p, &side.R)
}

/// Velocity of frame 2 as seen in frame 1, resolved there.
fn seen_from(f1: &Kinematics, f2: &Kinematics) -> Six {
    let R = f1.R.transpose();
    Six { angular: R * (f2.w - f1.w), linear: R * (f2.v - f1.v - f1.w.cross(f2.p - f1.p)) }
}

fn representative(root: &mut [usize], mut k: usize) -> usize {
    while root[k] != k {
        root[k] = root[root[k]];
        k = root[k];
    }
    k
}

/// Pose of a body's frame c at the start.
fn centre(model: &Model, body: usize) -> Placed {
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

fn place(model: &Model, mechanism: &Mechanism, start: &MechanismStart, work: &mut Work, out: &mut [Kinematics]) {
    mechanism.place(&start.q, &start.u, &start.bases, |body| model.standing(body), work, out);
}

/// Articulated bodies and rows at the start; false if something without mass would move.
fn evaluate(model: &Model, mechanism: &Mechanism, start: &MechanismStart, work: &mut Work) -> bool {
    let mut kinematics = vec![Kinematics::WORLD; mechanism.links.len()];
    place(model, mechanism, start, work, &mut kinematics);
    let body = |b: u32| (model.bodies[b as usize].mass, model.bodies[b as usize].I_c);
    let loads = vec![Six::default(); mechanism.links.len()];
    let mut u_dot = vec![0.0; mechanism.coordinates];
    let tau = u_dot.clone();
    mechanism.accelerate(&kinematics, body, &loads, &tau, work, &mut u_dot);
    mechanism.measure_rows(&start.q, &start.u, &kinematics, |b| model.standing(b), body, work);
    mechanism.factor_rows(work);
    u_dot.iter().all(|x| x.is_finite()) && mechanism.massless(work).is_none()
}

/// Largest turn among changes of coordinates [rad]; translations count as shares of the mechanism's size elsewhere.
fn turning(mechanism: &Mechanism, change: &[f64]) -> f64 {
    let mut largest: f64 = 0.0;
    for link in &mechanism.links {
        for i in 0..link.count {
            if link.joint.is_rotation(i) {
                largest = largest.max(change[link.first + i].abs());
            }
        }
    }
    largest
}

/// Coordinates after a change.
fn apply(mechanism: &Mechanism, start: &mut MechanismStart, change: &[f64]) {
    for (k, link) in mechanism.links.iter().enumerate() {
        let mut own = link.first;
        if link.joint.has_base() {
            let d = Vec3::new(change[own], change[own + 1], change[own + 2]) * 0.5;
            start.bases[k] = (Quat::from_xyzw(d.x, d.y, d.z, 1.0) * start.bases[k]).normalize();
            own += 3;
        }
        for i in own..link.first + link.count {
            start.q[i] += change[i];
        }
    }
}

/// u with S u nearest to `wanted`: normal equations by elimination with pivoting on a few unknowns.
fn fit(S: &[Six], wanted: Six, u: &mut [f64]) {
    let n = S.len();
    let mut A = [[0.0; 7]; 6];
    for i in 0..n {
        for j in 0..n {
            A[i][j] = S[i].dot(&S[j]);
        }
        A[i][n] = S[i].dot(&wanted);
    }
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| A[a][k].abs().total_cmp(&A[b][k].abs())).unwrap_or(k);
        A.swap(k, pivot);
        if A[k][k] == 0.0 {
            return;
        }
        for i in 0..n {
            if i != k {
                let f = A[i][k] / A[k][k];
                for j in k..=n {
                    A[i][j] -= f * A[k][j];
                }
            }
        }
    }
    for k in 0..n {
        u[k] += A[k][n] / A[k][k];
    }
}
