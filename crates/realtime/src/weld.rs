//! Cables with a budget of joints: elements are welded as they lie to each other where their joint moves little, and parted where it would bend.
//!
//! Welded elements are one body of the solution: with r_b from the first of them, the leader, to the middle of element b, their velocities are
//!   u_b = X_b u,   X_b u = {w, v + w x r_b},   M = sum X_b^T M_b X_b,   p = sum X_b^T p_b,   J = J_b X_b,
//! and their springs keep what they hold. What a weld carries follows from the motion of those behind it, sum M_b (u_b+ - u_b) - J_b^T lambda about the
//! joint; less what its spring holds, it is the moment N and the force P by which the joint would bend and stretch if it were parted. With a tension T,
//! K = T l + EI/l and I = m l^2/6, at the end of a step
//!   a weld is parted   where |N|/K > angle, or |P|/EA > angle^2/2, by which a rope bent so is shorter,
//!   elements are welded   where their joint turns with less than   theta' = (angle/2) sqrt(K/I),   which would swing less than half that angle,
//! the joints that ask most, first, up to the budget of the cable. Welding conserves momentum and angular momentum; its loss is booked as fastening. What is
//! parted at rest holds the same moment as before, and nothing moves. What touches something, or is struck, is parted.

use super::Clock;
use super::joints::flat;
use super::partition::masses;
use tippe_geometry::{Mat3, Vec3};
use tippe_mechanics::cause::Cause;
use tippe_mechanics::element::{Action, Welding};
use tippe_mechanics::joint::Six;
use tippe_mechanics::model::{Drive, Model, kinetic};
use tippe_numerics::kkt::{Block, GROUND};

/// A joint that may be welded.
#[derive(Clone, Copy, Debug)]
struct Weldable {
    /// Its element.
    element: u32,
    /// The two bodies, by model index; the first nearer to the begin of the cable.
    bodies: [u32; 2],
    /// The cable: joints of one are those whose names begin alike.
    cable: u32,
    how: Welding,
}

impl Weldable {
    /// K under a tension [N m/rad].
    fn stiffness(&self, tension: f64) -> f64 {
        tension * self.how.length + self.how.bending
    }
}

/// Which bodies are welded, and what that needs.
#[derive(Clone, Debug, Default)]
pub struct Welds {
    joints: Vec<Weldable>,
    /// The leader of each body, itself for most; empty of models without weldable joints.
    leader: Vec<u32>,
    /// Whether a body leads others.
    leads: Vec<bool>,
    /// From the leader to each body at the beginning of the step [m].
    arm: Vec<Vec3>,
    /// {torque, force} times h that what it is welded to gave to each body in the step.
    given: Vec<Six>,
    /// How much each joint asks to move, and its place in `joints`.
    asking: Vec<(f64, usize)>,
}

impl Welds {
    /// Those of a model.
    pub fn new(model: &Model) -> Welds {
        let mut welds = Welds::default();
        let mut cables: Vec<&str> = Vec::new();
        for (k, element) in model.elements.iter().enumerate() {
            let Some(how) = element.kind.welding() else { continue };
            let [Some(a), Some(b)] = [0, 1].map(|end| element.kind.attached().frames[end].body) else { continue };
            let free = |b: u32| {
                let body = &model.bodies[b as usize];
                body.drive == Drive::Free && body.mechanism.is_none()
            };
            if !free(a) || !free(b) {
                continue;
            }
            let name = element.name.rsplit_once('.').map_or("", |(cable, _)| cable);
            let cable = cables.iter().position(|known| *known == name).unwrap_or_else(|| {
                cables.push(name);
                cables.len() - 1
            });
            welds.joints.push(Weldable { element: k as u32, bodies: [a, b], cable: cable as u32, how });
        }
        if !welds.joints.is_empty() {
            let n = model.bodies.len();
            welds.leader.extend(0..n as u32);
            welds.leads.resize(n, false);
            welds.arm.resize(n, Vec3::ZERO);
            welds.given.resize(n, Six::ZERO);
        }
        welds
    }

    /// The body that moves body `b` along, itself for most.
    pub fn leader_of(&self, b: u32) -> u32 {
        self.leader.get(b as usize).copied().unwrap_or(b)
    }

    /// True if a body moves others along.
    pub fn leads(&self, b: u32) -> bool {
        self.leads.get(b as usize).copied().unwrap_or(false)
    }

    /// Bodies that others move along, each with the one.
    pub fn led(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..).zip(self.leader.iter().copied()).filter(|(b, leader)| b != leader)
    }

    /// J X_b of a row at body `b`.
    pub fn of_leader(&self, b: u32, J: &mut [f64; 6]) {
        if self.leader_of(b) != b {
            let [angular, linear] = [0, 3].map(|k| Vec3::from_slice(&J[k..k + 3]));
            (angular + self.arm[b as usize].cross(linear)).write_to_slice(&mut J[..3]);
        }
    }

    /// X_b u.
    fn along(&self, b: usize, u: Six) -> Six {
        Six::new(u.angular, u.linear + u.angular.cross(self.arm[b]))
    }
}

/// A^-1 of a symmetric positive definite block, by Cholesky's factor.
fn inverse(A: &Block) -> Block {
    let mut G = [0.0; 36];
    for i in 0..6 {
        for j in 0..=i {
            let sum = A[6 * i + j] - (0..j).map(|k| G[6 * i + k] * G[6 * j + k]).sum::<f64>();
            G[6 * i + j] = if i == j { sum.sqrt() } else { sum / G[7 * j] };
        }
    }
    let mut out = [0.0; 36];
    for c in 0..6 {
        let mut x = [0.0; 6];
        for i in c..6 {
            let sum = f64::from(i == c) - (c..i).map(|k| G[6 * i + k] * x[k]).sum::<f64>();
            x[i] = sum / G[7 * i];
        }
        for i in (0..6).rev() {
            x[i] = (x[i] - (i + 1..6).map(|k| G[6 * k + i] * x[k]).sum::<f64>()) / G[7 * i];
        }
        (0..6).for_each(|i| out[6 * i + c] = x[i]);
    }
    out
}

/// A {torque, force} or momentum at a body, about the point `arm` before it.
fn moved(on: Six, arm: Vec3) -> Six {
    Six::new(on.angular + arm.cross(on.linear), on.linear)
}

impl Clock {
    /// True if an element is a weld now.
    pub(super) fn is_welded(&self, element: usize) -> bool {
        self.state.welded.get(element).copied().unwrap_or(false)
    }

    /// Who leads whom in this step, from the joints that are welded.
    pub(super) fn lead(&mut self) {
        let mut welds = std::mem::take(&mut self.welds);
        self.find_leaders(&mut welds);
        self.welds = welds;
        for b in 0..self.welds.leader.len() {
            let leader = self.welds.leader[b] as usize;
            self.welds.arm[b] = self.paths[b].kin.p - self.paths[leader].kin.p;
        }
    }

    fn find_leaders(&self, welds: &mut Welds) {
        (0..).zip(&mut welds.leader).for_each(|(b, leader)| *leader = b);
        welds.leads.fill(false);
        for joint in &welds.joints {
            // what is gone, or was released, leads nobody
            let holds = self.state.actions.on[joint.element as usize]
                && joint.bodies.into_iter().all(|b| self.is_free(b as usize));
            if !self.is_welded(joint.element as usize) || !holds {
                continue;
            }
            let [a, b] = joint.bodies.map(|b| welds.leader[b as usize]);
            let (first, other) = (a.min(b), a.max(b));
            welds.leads[first as usize] = true;
            welds.leads[other as usize] = false;
            welds.leader.iter_mut().filter(|leader| **leader == other).for_each(|leader| *leader = first);
        }
    }

    /// Mass, inverse mass and momentum of a body of the solution with those that it leads.
    pub(super) fn mass_of_led(&self, b: u32) -> (Block, Block, [f64; 6]) {
        let path = &self.paths[b as usize];
        let (mut M, W) = masses(&self.model.bodies[b as usize], &path.orientation_for_rows());
        let u = flat(path.free_velocity_for_rows());
        let mut p: [f64; 6] = std::array::from_fn(|i| (0..6).map(|j| M[6 * i + j] * u[j]).sum());
        if !self.welds.leads(b) {
            return (M, W, p);
        }
        for (member, _) in self.welds.led().filter(|(_, leader)| *leader == b) {
            let (path, body, r) = {
                let member = member as usize;
                (&self.paths[member], &self.model.bodies[member], self.welds.arm[member])
            };
            let (R, u) = (path.orientation_for_rows(), path.free_velocity_for_rows());
            let I = R * body.I_c * R.transpose();
            add_mass(&mut M, &I, body.mass, r);
            let own = flat(moved(Six::new(I * u.angular, u.linear * body.mass), r));
            (0..6).for_each(|i| p[i] += own[i]);
        }
        (M, inverse(&M), p)
    }

    /// Velocities of bodies that others lead, from those of the leaders.
    pub(super) fn follow_leaders(&mut self, velocity: &mut [Six]) {
        for (b, leader) in self.welds.led() {
            let (b, leader) = (b as usize, leader as usize);
            velocity[b] = self.welds.along(b, velocity[leader]);
            self.solved.has_impulse[b] = self.solved.has_impulse[leader];
        }
    }

    /// Bodies that others lead go where these take them.
    pub(super) fn place_led(&mut self, velocity: &[Six]) {
        let Clock { welds, paths, state, .. } = self;
        for (b, leader) in welds.led() {
            let (b, leader) = (b as usize, leader as usize);
            // as solved: a body alone would turn on by its own momentum
            (state.bodies[leader].w, state.bodies[leader].v) = (velocity[leader].angular, velocity[leader].linear);
            let now = state.bodies[leader];
            let turn = now.q * paths[leader].q.conjugate();
            let arm = turn * welds.arm[b];
            let own = &mut state.bodies[b];
            (own.p, own.q) = (now.p + arm, (turn * paths[b].q).normalize());
            (own.w, own.v) = (now.w, now.v + now.w.cross(arm));
        }
    }

    /// Parts welds that would bend, and welds what moves little, after the step.
    pub(super) fn weld(&mut self) {
        if self.welds.joints.is_empty() {
            return;
        }
        self.state.welded.resize(self.model.elements.len(), false);
        let mut welds = std::mem::take(&mut self.welds);
        self.read_welds(&mut welds);
        self.ask_joints(&mut welds);
        if self.change_welds(&mut welds) {
            self.find_leaders(&mut welds);
            self.fasten(&mut welds);
        }
        self.welds = welds;
    }

    /// What each body was given by those it is welded to:   M (u+ - u) - J^T lambda. Impacts within a weld are no motion of one body: what
    /// that leaves is lost.
    fn read_welds(&mut self, welds: &mut Welds) {
        for b in 0..welds.given.len() {
            let path = &self.paths[b];
            let change = self.solved.velocity[b] - path.free_velocity_for_rows();
            let (body, R) = (&self.model.bodies[b], path.orientation_for_rows());
            let spin = R * (body.I_c * (R.transpose() * change.angular));
            welds.given[b] = Six::new(spin, change.linear * body.mass);
        }
        let rows = self.rows.rows.iter().flat_map(|row| row.bodies.into_iter().zip(row.J).map(|end| (end, row.lambda)));
        let ties = self.rows.ties.iter().flat_map(|tie| {
            let along = if tie.pushes.is_empty() { tie.ends } else { tie.pushes };
            along.of(&self.rows.ends).iter().map(|end| ((end.body, end.row(0)), tie.lambda[0]))
        });
        for ((b, J), lambda) in rows.chain(ties).filter(|((b, _), _)| *b != GROUND) {
            let on = Six::new(Vec3::from_slice(&J[..3]), Vec3::from_slice(&J[3..])) * lambda;
            welds.given[b as usize] = welds.given[b as usize] - on;
        }
        let mut work = 0.0;
        for (b, leader) in (0..).zip(&welds.leader) {
            if *leader != b || welds.leads(b) {
                work += welds.given[b as usize].dot(&self.solved.mean[b as usize]);
            }
        }
        self.state.ledger[Cause::Fastening] -= work;
    }

    /// How much each joint asks to move: welds by what they carry, others by how they turn, as a share of the angle that is worth a joint.
    fn ask_joints(&mut self, welds: &mut Welds) {
        let mut asking = std::mem::take(&mut welds.asking);
        asking.clear();
        let touched = |b: u32| {
            let b = b as usize;
            self.paths[b].struck || self.detected.touches.iter().any(|touch| touch.bodies.contains(&b))
        };
        for (k, joint) in welds.joints.iter().enumerate() {
            let asks = match self.is_welded(joint.element as usize) {
                _ if joint.bodies.into_iter().any(touched) => f64::INFINITY,
                true => self.weld_asks(welds, k),
                false => {
                    let [a, b] = joint.bodies.map(|b| self.state.bodies[b as usize].w);
                    let tension = self.elements.outputs[joint.element as usize][0].abs();
                    let Welding { angle, length, mass, .. } = joint.how;
                    2.0 * (b - a).length() * (mass * length * length / (6.0 * joint.stiffness(tension))).sqrt() / angle
                }
            };
            asking.push((asks, k));
        }
        for k in 0..welds.joints.len() {
            if self.is_welded(welds.joints[k].element as usize) {
                self.show_weld(welds, k);
            }
        }
        welds.asking = asking;
    }

    /// How much a weld asks to be parted.
    fn weld_asks(&self, welds: &Welds, k: usize) -> f64 {
        let joint = &welds.joints[k];
        let Welding { angle, axial, .. } = joint.how;
        let on = self.carried(welds, k);
        let miss = on - self.held_by_spring(joint.element as usize);
        let bend = miss.angular.length() / (joint.stiffness(on.linear.length()) * angle);
        bend.max(miss.linear.length() / (0.5 * axial * angle * angle))
    }

    /// {torque, force} of a weld on what is behind it, about the origin of its second frame [N m, N].
    fn carried(&self, welds: &Welds, k: usize) -> Six {
        let joint = &welds.joints[k];
        let at = self.elements.sights[joint.element as usize].frames[1].p;
        let leader = welds.leader[joint.bodies[1] as usize];
        let mut on = Six::ZERO;
        for later in &welds.joints[k..] {
            let b = later.bodies[1] as usize;
            if later.cable != joint.cable || welds.leader[b] != leader {
                break;
            }
            on = on + moved(welds.given[b], self.paths[b].kin.p - at);
        }
        on * (1.0 / self.h)
    }

    /// What its spring holds there.
    fn held_by_spring(&self, element: usize) -> Six {
        let (own, sight) = (&self.model.elements[element], &self.elements.sights[element]);
        let look = |_| 0.0;
        let mut action = Action::default();
        action.clear(0, own.states.len());
        own.kind.act(&sight.seen(self.state.actions.of(own), 0.0, &look), &mut action);
        action.wrenches.iter().find(|wrench| wrench.frame == 1).map_or(Six::ZERO, |wrench| wrench.on)
    }

    /// Outputs of a weld: those of rows along and about the axes of its first frame.
    fn show_weld(&mut self, welds: &Welds, k: usize) {
        let element = welds.joints[k].element as usize;
        let on = self.carried(welds, k);
        let (own, sight) = (&self.model.elements[element], &self.elements.sights[element]);
        let look = |_| 0.0;
        let seen = sight.seen(self.state.actions.of(own), 0.0, &look);
        let R = sight.frames[0].R;
        for part in 0..6 {
            let axis = R.col(part % 3);
            let force = if part < 3 { on.linear.dot(axis) } else { on.angular.dot(axis) };
            own.kind.outputs_of_row(&seen, part as u8, force, &mut self.elements.outputs[element]);
        }
    }

    /// The joints of each cable that ask most move, up to its budget; true if others are welded than before.
    fn change_welds(&mut self, welds: &mut Welds) -> bool {
        let Welds { joints, asking, .. } = welds;
        asking.sort_by(|(a, i), (b, j)| {
            (joints[*i].cable, -a, i).partial_cmp(&(joints[*j].cable, -b, j)).unwrap_or(i.cmp(j))
        });
        let (mut changed, mut cable, mut moving) = (false, u32::MAX, 0);
        for &(asks, k) in asking.iter() {
            let joint = &joints[k];
            if joint.cable != cable {
                (cable, moving) = (joint.cable, 0);
            }
            let moves = asks >= 1.0 && moving < joint.how.joints;
            moving += usize::from(moves);
            let welded = !moves && self.state.actions.on[joint.element as usize];
            let was = &mut self.state.welded[joint.element as usize];
            changed |= *was != welded;
            *was = welded;
        }
        changed
    }

    /// What is welded moves as one body: momentum and angular momentum stay.
    fn fasten(&mut self, welds: &mut Welds) {
        for leader in 0..welds.leader.len() {
            if !welds.leads(leader as u32) {
                continue;
            }
            let first = self.state.bodies[leader].p;
            let members: Vec<usize> =
                (leader..welds.leader.len()).filter(|&b| welds.leader[b] as usize == leader).collect();
            let (mut M, mut p, mut energy) = ([0.0; 36], Six::ZERO, 0.0);
            for &b in &members {
                let (body, kin) = (&self.model.bodies[b], self.motion(b));
                energy += kinetic(body, &kin);
                let arm = kin.p - first;
                let I = kin.R * body.I_c * kin.R.transpose();
                add_mass(&mut M, &I, body.mass, arm);
                p = p + moved(Six::new(I * kin.w, kin.v * body.mass), arm);
            }
            let (W, p) = (inverse(&M), flat(p));
            let u: [f64; 6] = std::array::from_fn(|i| (0..6).map(|j| W[6 * i + j] * p[j]).sum());
            let (w, v) = (Vec3::from_slice(&u[..3]), Vec3::from_slice(&u[3..]));
            for &b in &members {
                let own = &mut self.state.bodies[b];
                (own.w, own.v) = (w, v + w.cross(own.p - first));
                energy -= kinetic(&self.model.bodies[b], &self.motion(b));
            }
            self.state.ledger[Cause::Fastening] += energy;
        }
    }
}

/// Adds X^T M X of a body with inertia I and mass m at r from where the sum stands.
fn add_mass(M: &mut Block, I: &Mat3, m: f64, r: Vec3) {
    // r~ x = r x x; X = [1, 0; -r~, 1]
    let S = Mat3::from_cols(Vec3::new(0.0, r.z, -r.y), Vec3::new(-r.z, 0.0, r.x), Vec3::new(r.y, -r.x, 0.0));
    let turning = S * S;
    for i in 0..3 {
        for j in 0..3 {
            M[6 * i + j] += 0.5 * (I.col(j)[i] + I.col(i)[j]) - 0.5 * m * (turning.col(j)[i] + turning.col(i)[j]);
            M[6 * i + 3 + j] += m * S.col(j)[i];
            M[6 * (3 + i) + j] -= m * S.col(j)[i];
        }
        M[6 * (3 + i) + 3 + i] += m;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_of_two_masses_in_one_is_one() {
        let mut M = [0.0; 36];
        add_mass(&mut M, &Mat3::from_diagonal(Vec3::new(1.0, 2.0, 3.0)), 2.0, Vec3::ZERO);
        add_mass(&mut M, &Mat3::from_diagonal(Vec3::new(0.1, 0.2, 0.3)), 0.5, Vec3::new(0.4, -0.7, 0.2));
        let W = inverse(&M);
        for i in 0..6 {
            for j in 0..6 {
                let sum: f64 = (0..6).map(|k| M[6 * i + k] * W[6 * k + j]).sum();
                assert!((sum - f64::from(u8::from(i == j))).abs() < 1e-14, "{i} {j} {sum}");
            }
        }
        // kinetic energy of both as one body
        let (w, v) = (Vec3::new(0.3, -0.2, 0.5), Vec3::new(1.0, 2.0, -1.0));
        let u = flat(Six::new(w, v));
        let one: f64 = (0..36).map(|k| M[k] * u[k / 6] * u[k % 6]).sum();
        let other = v + w.cross(Vec3::new(0.4, -0.7, 0.2));
        let both = w.dot(Vec3::new(1.1, 2.2, 3.3) * w) + 2.0 * v.length_squared() + 0.5 * other.length_squared();
        assert!((one - both).abs() < 1e-13, "{one} {both}");
    }
}
