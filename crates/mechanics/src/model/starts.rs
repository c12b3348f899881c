//! The start of a mechanism: start values of joints and bodies, trees placed by rows, and coordinates in which all loops close.

use super::Model;
use super::compile::Compiler;
use super::forces::hung;
use super::mechanisms::{Placed, centre};
use crate::joint::{Joint, Six, hangs_on, start_rates, starts};
use crate::kinematics::Kinematics;
use crate::mechanism::{CoupledBy, Link, Mechanism, Mode, Parent, Side, Work};
use tippe_geometry::{Mat3, Quat, Vec3};
use tippe_scene::Part;

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

/// Start of one mechanism as written, before its loops are closed.
struct Written {
    start: MechanismStart,
    /// Coordinates with a start value.
    given: Vec<bool>,
    /// Coordinates whose motion is driven.
    driven: Vec<bool>,
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

impl Compiler<'_> {
    /// Start values of one mechanism, with all loops closed.
    pub(super) fn begin(&mut self, model: &mut Model, number: usize) {
        let mechanism = model.mechanisms[number].clone();
        let mut written = self.place_forest(model, &mechanism);
        let hung = self.hang(model, &mechanism, &mut written.start, &mut written.given);
        let Written { mut start, given, driven } = written;
        for coupled in &mut model.mechanisms[number].couplings {
            // what a constraint bounds are the coordinates themselves
            if matches!(coupled.source, CoupledBy::Constraint(_)) {
                continue;
            }
            for term in &mut coupled.coupling.terms {
                term.start = start.q[term.coordinate];
            }
        }
        let mechanism = model.mechanisms[number].clone();
        let mut work = mechanism.work();
        for (k, closing) in mechanism.loops.iter().enumerate() {
            work.active[k] = self.scene.joints[closing.source as usize].flag("active");
        }
        // what holds one way may be slack; a follower touches its cam unless it is written apart
        for owner in mechanism.one_way() {
            work.taut[owner] = mechanism
                .loops
                .get(owner)
                .is_some_and(|closing| !self.scene.joints[closing.source as usize].flag("apart"));
        }
        if !self.close_loops(model, &mechanism, &mut start, [&given, &driven], &mut work) {
            return;
        }
        self.start_rates(model, &mechanism, &mut start, &hung, &mut work);
        self.check_one_way(&mechanism, &start);
        self.check_followers(model, &mechanism, &start, &mut work);
        self.warn_of_rows(model, &mechanism, &start, &mut work);
        start.rows = work.rows.len();
        start.redundant = work.rows.len() - work.rank;
        place_bodies(model, &mechanism, &start, &mut work);
        model.mechanism_starts[number] = start;
    }

    /// Coordinates of the forest where bodies and start values are written, link by link from the ground.
    fn place_forest(&self, model: &Model, mechanism: &Mechanism) -> Written {
        let mut written = Written {
            start: MechanismStart {
                q: vec![0.0; mechanism.coordinates],
                u: vec![0.0; mechanism.coordinates],
                bases: vec![Quat::IDENTITY; mechanism.links.len()],
                ..MechanismStart::default()
            },
            given: modal(mechanism),
            driven: vec![false; mechanism.coordinates],
        };
        let mut placed: Vec<Placed> = Vec::new();
        for (k, link) in mechanism.links.iter().enumerate() {
            let parent = match link.parent {
                Parent::World => (Mat3::IDENTITY, Vec3::ZERO),
                Parent::Body(body) => centre(model, body as usize),
                Parent::Link(parent) => placed[parent as usize],
            };
            self.place_link(link, parent, centre(model, link.body as usize), k, &mut written);
            let mut work = mechanism.work();
            let mut kinematics = vec![Kinematics::WORLD; mechanism.links.len()];
            place(model, mechanism, &written.start, &mut work, &mut kinematics);
            placed.push((kinematics[k].R, kinematics[k].p));
        }
        written
    }

    /// Coordinates of link `k` between these poses of what it hangs on and of its body, as far as its joint says none.
    fn place_link(&self, link: &Link, parent: Placed, (R_wc, p_wc): Placed, k: usize, written: &mut Written) {
        let outer = (parent.0 * link.R_p1, parent.1 + parent.0 * link.p_p1);
        let R_w2 = R_wc * link.R_2c.transpose();
        let inner = (R_w2, p_wc - R_w2 * link.p_2c);
        let (f1, f2) = if link.reversed { (inner, outer) } else { (outer, inner) };
        let q = &mut written.start.q[link.first..link.first + link.joint.coordinates()];
        let spec = link.source.map(|s| &self.scene.joints[s as usize]);
        let body = &self.scene.bodies[link.body as usize];
        // a body that was not placed is placed by its joint
        let unplaced =
            spec.is_some_and(|s| !is_placed(s)) && body.position == Vec3::ZERO && body.orientation == Quat::IDENTITY;
        let (R_12, p_12) = (f1.0.transpose() * f2.0, f1.0.transpose() * (f2.1 - f1.1));
        if link.joint.has_base() {
            written.start.bases[k] = if unplaced { Quat::IDENTITY } else { Quat::from_mat3(&R_12).normalize() };
            if link.joint == Joint::Free {
                q[3..6].copy_from_slice(&(if unplaced { Vec3::ZERO } else { p_12 }).to_array());
            }
        } else if !unplaced {
            link.joint.coordinates_of(&R_12, p_12, q);
        }
        for (i, value) in spec.map_or_else(Vec::new, starts).into_iter().enumerate() {
            if let Some(value) = value {
                q[i] = value;
                written.given[link.first + i] = true;
            }
        }
        if let Some(joint) = spec {
            for (part, _) in hung(joint).into_iter().flat_map(|(_, hung)| hung).filter(|(_, kind)| kind.moves) {
                written.driven[link.first + hangs_on(joint, part)] = true;
            }
        }
    }

    /// Where start values stand at joints written as rows, joints place what hangs on them as their coordinates would, from the ground
    /// outwards:
    ///   X_w2 = X_w1 X_12(q),
    /// or X_w1 = X_w2 X_12(q)^-1 where body 1 hangs; a tree moves as one.
    fn hang(&self, model: &Model, mechanism: &Mechanism, start: &mut MechanismStart, given: &mut [bool]) -> Vec<Hung> {
        let mut hung: Vec<Hung> = Vec::new();
        let spec = |l: usize| &self.scene.joints[mechanism.loops[l].source as usize];
        let mut order: Vec<usize> = (0..mechanism.loops.len()).collect();
        order.retain(|&l| spec(l).flag("active") && mechanism.loops[l].joint.has_motion());
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
            let unplaced = !is_placed(spec) && body.position == Vec3::ZERO && body.orientation == Quat::IDENTITY;
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
            for (q, value) in q.iter_mut().zip(starts(spec)) {
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
            let firm = stays && (all(&starts(spec)) || n == 0);
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
            let rates = start_rates(&self.scene.joints[closing.source as usize]);
            for (u, rate) in u.iter_mut().zip(&rates) {
                *u = rate.unwrap_or(*u);
            }
            let wanted = S.iter().zip(&u).fold(Six::default(), |sum, (S, u)| sum + *S * *u);
            let missing = wanted - now;
            // of the tree at the origin of frame 2; where frame 1 hangs it moves the other way
            let sign = if h.side == 1 { 1.0 } else { -1.0 };
            let (dw, dv) = (sign * (f1.R * missing.angular), sign * (f1.R * missing.linear));
            let link = &mechanism.links[h.root];
            let change = Six { angular: dw, linear: dv + dw.cross(kinematics[h.root].p - f2.p) };
            fit(&work.S[link.first..link.first + link.joint.coordinates()], change, &mut start.u[link.first..]);
            let stays = match closing.sides[1 - h.side].on {
                Parent::Link(k) => firm[k as usize],
                _ => true,
            };
            firm[h.root] = stays && rates.len() == n && rates.iter().all(Option::is_some);
            given[link.first..link.first + link.joint.coordinates()].fill(firm[h.root]);
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
            for (i, value) in starts(spec).into_iter().enumerate().filter_map(|(i, v)| Some((i, v?))) {
                let (name, unit) = joint.coordinate_names()[i];
                let mut wrong = q[i] - value;
                if joint.is_rotation(i) && !matches!(joint, Joint::Screw { .. }) {
                    wrong -= turn * (wrong / turn).round();
                }
                if wrong.abs() > CHANGED {
                    off.push(format!("its {name} starts at {:.6} {unit}, not at {value:.6} {unit} as written", q[i]));
                }
            }
            for (i, rate) in start_rates(spec).into_iter().enumerate().filter_map(|(i, r)| Some((i, r?))) {
                if (u[i] - rate).abs() > CHANGED * rate.abs().max(1.0) {
                    let unit = if joint.is_rotation(i) { "rad/s" } else { "m/s" };
                    let name = joint.rate_names()[i];
                    off.push(format!("its {name} starts at {:.6} {unit}, not at {rate:.6} {unit} as written", u[i]));
                }
            }
            let why = if spec.flag("active") { "closes a loop with rows" } else { "is not active at the start" };
            let help = "give the start values at joints with coordinates, or place the bodies themselves";
            for off in off {
                let message = format!("joint \"{}\" {why}, and {off}", spec.name);
                self.warnings.push(self.scene.error(spec.places.entity, message, help).to_string());
            }
        }
    }

    /// Constraints that hold one way must do so at the start; where their terms still close, they stop in the first
    /// instant.
    fn check_one_way(&mut self, mechanism: &Mechanism, start: &MechanismStart) {
        for coupled in &mechanism.couplings {
            let (coupling, CoupledBy::Constraint(k)) = (&coupled.coupling, coupled.source) else { continue };
            let Some(sense) = coupling.holds.sense() else { continue };
            let (name, place) = (&coupled.name, self.scene.constraints[k as usize].places.entity);
            let unit = if coupling.length { "m" } else { "rad" };
            let (phi, rate) = (coupling.phi(&start.q), coupling.rate(&start.u));
            if sense * phi > 0.0 && !coupling.touches_closely(&start.q) {
                self.fail(
                    place,
                    format!(
                        "constraint \"{name}\" starts with its sum at {:.9} {unit}, {:.3e} {unit} beyond its limit {} {unit}",
                        phi + coupling.limit,
                        phi.abs(),
                        coupling.limit
                    ),
                    "look at the start values of its coordinates, or at the limit",
                );
            } else if coupling.touches(&start.q) && coupling.closing(&start.u) > 0.0 {
                let message = format!(
                    "constraint \"{name}\" starts at its limit while its sum moves beyond it at {:.3e} {unit}/s: it stops in the first instant",
                    rate.abs()
                );
                let help = "give its coordinates rates that fit, if that is not meant";
                self.warnings.push(self.scene.error(place, message, help).to_string());
            }
        }
    }

    /// A follower that starts apart from its cam must not be inside it.
    fn check_followers(&mut self, model: &Model, mechanism: &Mechanism, start: &MechanismStart, work: &mut Work) {
        let mut kinematics = vec![Kinematics::WORLD; mechanism.links.len()];
        place(model, mechanism, start, work, &mut kinematics);
        for closing in &mechanism.loops {
            let spec = &self.scene.joints[closing.source as usize];
            let (Joint::Cam(cam), true) = (&closing.joint, spec.flag("active") && spec.flag("apart")) else { continue };
            let [f1, f2] = closing.sides.map(|side| frame_of(model, &side, &kinematics));
            let phi = cam.row(&f1, &f2).phi;
            if phi < 0.0 {
                let message = format!("joint \"{}\": its follower starts {:.3e} m inside the cam", spec.name, -phi);
                let help = "place it outside, or leave out `apart`: it then starts where it touches";
                self.fail(spec.places.entity, message, help);
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
            self.refuse_open(mechanism, violation, work);
            return false;
        }
        self.warn_of_moved(model, mechanism, &written, start);
        if !evaluate(model, mechanism, start, work) {
            self.massless(mechanism, work);
            return false;
        }
        true
    }

    /// The row that loops leave most open by this violation [m, or - for directions].
    fn refuse_open(&mut self, mechanism: &Mechanism, violation: f64, work: &Work) {
        let worst = work.rows.iter().max_by(|a, b| a.phi.abs().total_cmp(&b.phi.abs()));
        let Some(row) = worst else { return };
        let source = match mechanism.loops.get(row.owner) {
            Some(closing) => CoupledBy::Joint(closing.source),
            None => mechanism.couplings[row.owner - mechanism.loops.len()].source,
        };
        let (place, message, help) = match source {
            CoupledBy::Constraint(k) => {
                let spec = &self.scene.constraints[k as usize];
                let message = format!("constraint \"{}\" cannot be met: its sum is {violation:.3e} off", spec.name);
                (spec.places.entity, message, "look at the start values of its coordinates")
            }
            CoupledBy::Joint(source) => {
                let spec = &self.scene.joints[source as usize];
                let message = format!(
                    "joint \"{}\" cannot close: after {ITERATIONS} iterations its frames are {violation:.3e} m apart or askew",
                    spec.name
                );
                (spec.places.entity, message, "look at the lengths and start values of the loop it closes")
            }
            CoupledBy::Lock => return,
        };
        self.fail(place, message, help);
    }

    /// Start values that were changed, so that all loops close.
    fn warn_of_moved(
        &mut self,
        model: &Model,
        mechanism: &Mechanism,
        written: &MechanismStart,
        start: &MechanismStart,
    ) {
        for link in &mechanism.links {
            let Some(source) = link.source else { continue };
            let name = &model.joints[source as usize].name;
            for i in link.first..link.first + link.joint.coordinates() {
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
        // flexible bodies begin at rest in themselves, if that fits
        let (mut given, mut kinematics) = (modal(mechanism), vec![Kinematics::WORLD; n]);
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
                fit(&work.S[link.first..link.first + link.joint.coordinates()], wanted, &mut start.u[link.first..]);
            }
            for (i, rate) in spec.map_or_else(Vec::new, start_rates).into_iter().enumerate() {
                if let Some(rate) = rate {
                    start.u[link.first + i] = rate;
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
            for i in (link.first..link.first + link.joint.coordinates()).filter(|&i| given[i]) {
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
pub(super) fn is_started(joint: &Part) -> bool {
    starts(joint).iter().chain(&start_rates(joint)).any(Option::is_some)
}

/// Whether a joint has a point or an axis of its own.
fn is_placed(joint: &Part) -> bool {
    ["at", "axis"].iter().any(|key| joint.get(key).is_some())
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

fn place(model: &Model, mechanism: &Mechanism, start: &MechanismStart, work: &mut Work, out: &mut [Kinematics]) {
    mechanism.place(&start.q, &start.u, &start.bases, |body| model.standing(body), work, out);
}

/// Bodies start where their mechanism has them.
fn place_bodies(model: &mut Model, mechanism: &Mechanism, start: &MechanismStart, work: &mut Work) {
    let mut kinematics = vec![Kinematics::WORLD; mechanism.links.len()];
    place(model, mechanism, start, work, &mut kinematics);
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

/// Which coordinates are modes of flexible bodies.
fn modal(mechanism: &Mechanism) -> Vec<bool> {
    let mut out = vec![false; mechanism.coordinates];
    for link in &mechanism.links {
        out[link.first + link.joint.coordinates()..link.first + link.count].fill(true);
    }
    out
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
