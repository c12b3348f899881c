//! Modes of flexible bodies in a step: blocks of six beside the bodies, tied to them where interfaces are.
//!
//! With theta = 1/2 where h w <= 1, and 1 above, which damps what the step cannot follow,
//!   q+ = q + h ((1 - theta) u + theta u+)
//!   A u+ = u - h (w^2 (q + theta (1 - theta) h u) + c (1 - theta) u + bias) + sum P^T lambda,   A = 1 + theta h c + theta^2 h^2 w^2
//! so that any stiffness is stable. What an interface is tied by is its velocity: v_I = X v_F + P u+. Inertia that couples modes with rotation is of
//! second order in them, and enters by its bias at the beginning of the step alone.

use super::Clock;
use super::joints::flat;
use tippe_geometry::Vec3;
use tippe_mechanics::cause::Cause;
use tippe_mechanics::element::Element;
use tippe_mechanics::joint::Six;
use tippe_mechanics::mechanism::Parent;
use tippe_mechanics::mechanism::elastic::{Bent, Elastic};
use tippe_mechanics::model::Model;
use tippe_numerics::kkt::{Block, End, Ends, Problem, Tie};

/// Modes of one block.
const BLOCK: usize = 6;

/// First block of modes of each link, by mechanism, in the numbers of bodies: those of the model come first. Then how many numbers there are.
pub(super) fn blocks(model: &Model) -> (Vec<Vec<u32>>, usize) {
    let mut next = model.bodies.len();
    let of = |mechanism: &tippe_mechanics::mechanism::Mechanism| {
        let first = mechanism.links.iter().map(|link| {
            let own = next as u32;
            next += link.elastic.modes().div_ceil(BLOCK);
            own
        });
        first.collect()
    };
    let all = model.mechanisms.iter().map(of).collect();
    (all, next)
}

/// Share of the end of the step in the force of a mode.
fn theta(h: f64, stiffness: f64) -> f64 {
    if h * h * stiffness <= 1.0 { 0.5 } else { 1.0 }
}

/// Books of the modes of a step [J].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Books {
    /// What damping took.
    lost: f64,
    /// What their own forces did, damping included, beyond the change of their strain energy.
    rest: f64,
    /// Change of 1/2 u^2.
    kinetic: f64,
    /// Kinetic and strain energy of bending at the beginning.
    before: [f64; 2],
}

impl Clock {
    /// Places of the blocks of mechanism `k` in the problem of partition `p`, and the blocks themselves; `start` are their velocities.
    pub(super) fn modal_blocks(
        &self,
        k: usize,
        problem: &mut Problem,
        start: &mut Vec<f64>,
        mut place: impl FnMut(u32, u32),
    ) {
        let (mechanism, machine, record) = (&self.model.mechanisms[k], &self.machines[k], &self.state.machines[k]);
        for (l, link) in mechanism.links.iter().enumerate() {
            let (Elastic::Body { of, .. }, Bent::Body(bent)) = (&link.elastic, &machine.work.bent[l]) else { continue };
            let m = of.modes();
            let first = link.first + link.count - m;
            for b in 0..m.div_ceil(BLOCK) {
                let (mut mass, mut inverse): (Block, Block) = ([0.0; 36], [0.0; 36]);
                for i in 0..BLOCK {
                    let mode = b * BLOCK + i;
                    let [A, right, u] = match mode < m {
                        true => {
                            self.modal_step(of, mode, bent.bias(mode), [record.q[first + mode], record.u[first + mode]])
                        }
                        false => [1.0, 0.0, 0.0],
                    };
                    (mass[7 * i], inverse[7 * i]) = (A, 1.0 / A);
                    problem.momentum.push(right);
                    start.push(u);
                }
                place(self.modal[k][l] + b as u32, problem.mass.len() as u32);
                problem.mass.push(mass);
                problem.inverse.push(inverse);
            }
        }
    }

    /// A, the right side without impulses, and u of a mode.
    fn modal_step(&self, of: &tippe_flexible::Reduced, k: usize, bias: f64, [q, u]: [f64; 2]) -> [f64; 3] {
        let (h, s, c) = (self.h, of.stiffness[k], of.damping[k]);
        let th = theta(h, s);
        let A = 1.0 + th * h * c + th * th * h * h * s;
        let right = u - h * (s * (q + th * (1.0 - th) * h * u) + c * (1.0 - th) * u + bias);
        [A, right, u]
    }

    /// The rows that tie link `l` of mechanism `k` to what it hangs on, a flexible body to an interface or the other way round.
    pub(super) fn interface_tie(&self, k: usize, l: usize, ends: &mut Vec<End>) -> Tie {
        let (mechanism, machine, h) = (&self.model.mechanisms[k], &self.machines[k], self.h);
        let (link, here) = (&mechanism.links[l], &machine.work.links[l]);
        let mut tie = Tie { count: 6, ..Tie::default() };
        tie.target[..6].copy_from_slice(&flat(here.zeta() * h));
        let (mut own, mut parent): (Block, Block) = ([0.0; 36], [0.0; 36]);
        for i in 0..6 {
            own[7 * i] = 1.0;
        }
        for (i, e) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().enumerate() {
            parent[6 * i..6 * i + 6].copy_from_slice(&flat(Six::new(-e, Vec3::ZERO)));
            // (w x r) . e = w . (r x e)
            parent[6 * (3 + i)..6 * (3 + i) + 6].copy_from_slice(&flat(Six::new(-here.r.cross(e), -e)));
        }
        let first = ends.len() as u32;
        ends.push(End { body: link.body, J: own });
        let Parent::Link(on) = link.parent else { return tie };
        ends.push(End { body: mechanism.links[on as usize].body, J: parent });
        let (flexible, columns): (usize, &[Six]) = match &machine.work.bent[l] {
            Bent::Interface(P) => (on as usize, P),
            _ => (l, &machine.work.S[link.first + link.count - link.elastic.modes()..link.first + link.count]),
        };
        for (b, columns) in columns.chunks(BLOCK).enumerate() {
            let mut J: Block = [0.0; 36];
            for (c, column) in columns.iter().enumerate() {
                for (r, x) in flat(*column).into_iter().enumerate() {
                    J[6 * r + c] = -x;
                }
            }
            ends.push(End { body: self.modal[k][flexible] + b as u32, J });
        }
        tie.ends = Ends { first, end: ends.len() as u32 };
        tie
    }

    /// Velocities of the modes of mechanism `k` from the solution, into `modal_u` of its machine.
    pub(super) fn read_modes(&mut self, k: usize) {
        let mechanism = &self.model.mechanisms[k];
        for partition in self.partitions.iter().filter(|p| p.active && p.machines.contains(&(k as u32))) {
            for (l, link) in mechanism.links.iter().enumerate() {
                let m = link.elastic.modes();
                for mode in 0..m {
                    let place = self.place_of[(self.modal[k][l] as usize) + mode / BLOCK] as usize;
                    let at = link.first + link.count - m + mode;
                    self.machines[k].modal_u[at] = partition.problem.u[6 * place + mode % BLOCK];
                }
            }
        }
    }

    /// Modes of mechanism `k` at the end of the step, and their books.
    pub(super) fn integrate_modes(&mut self, k: usize) {
        let (model, h) = (&self.model.clone(), self.h);
        for (l, link) in model.mechanisms[k].links.iter().enumerate() {
            let Elastic::Body { of, .. } = &link.elastic else { continue };
            let Bent::Body(bent) = &self.machines[k].work.bent[l] else { continue };
            let m = of.modes();
            let first = link.first + link.count - m;
            let (mut lost, mut rest, mut kinetic) = (0.0, 0.0, 0.0);
            for mode in 0..m {
                let i = first + mode;
                let [q, u] = [self.state.machines[k].q[i], self.state.machines[k].u[i]];
                let u_end = self.machines[k].modal_u[i];
                let [A, right, _] = self.modal_step(of, mode, bent.bias(mode), [q, u]);
                let (s, th) = (of.stiffness[mode], theta(h, of.stiffness[mode]));
                let rate = (1.0 - th) * u + th * u_end;
                let q_end = q + h * rate;
                // what its own forces did beside what impulses did: u+ - u = own + impulses, A u+ = right + impulses
                let own = u_end - u - (A * u_end - right);
                let taken = h * of.damping[mode] * rate * rate;
                lost += taken;
                kinetic += 0.5 * (u_end * u_end - u * u);
                rest += 0.5 * (u + u_end) * own + 0.5 * s * (q_end * q_end - q * q) + taken;
                self.state.machines[k].q[i] = q_end;
                self.state.machines[k].u[i] = u_end;
            }
            self.book_modes(k, l, lost);
            self.modal_books.rest += rest;
            self.modal_books.kinetic += kinetic;
        }
    }

    /// What damping took in the step.
    fn book_modes(&mut self, k: usize, l: usize, lost: f64) {
        let model = &self.model.clone();
        let link = &model.mechanisms[k].links[l];
        let first = (link.first + link.count - link.elastic.modes()) as u32;
        let own = model.elements.iter().find(|element| match &element.kind {
            Element::Modes(modes) => {
                modes.at.first().is_some_and(|at| at.mechanism as usize == k && at.coordinate == first)
            }
            _ => false,
        });
        if let Some(element) = own {
            self.state.actions.energies[element.accounts.start] += lost;
        }
        self.modal_books.lost += lost;
    }

    /// What bending holds at the beginning of the step.
    pub(super) fn open_bending(&mut self) {
        self.modal_books = Books { before: self.energies_of_bending(), ..Books::default() };
    }

    /// Hands the books of the modes of the step to the ledger: what was not damping is the step's own.
    pub(super) fn book_bending(
        &self,
        ledger: &mut tippe_mechanics::Ledger,
        elastic: &mut f64,
        elastic_before: &mut f64,
    ) {
        let (books, after) = (&self.modal_books, self.energies_of_bending());
        *elastic_before += books.before[1];
        *elastic += after[1];
        ledger[Cause::StructuralDamping] += books.lost;
        ledger[Cause::Integration] -= books.rest + (after[0] - books.before[0] - books.kinetic);
    }

    /// Kinetic energy of bending, and strain energy, as the state has them [J].
    pub(super) fn energies_of_bending(&self) -> [f64; 2] {
        let mut sum = [0.0; 2];
        for ((mechanism, machine), record) in self.model.mechanisms.iter().zip(&self.machines).zip(&self.state.machines)
        {
            sum[0] += mechanism.kinetic_of_bending(&machine.kinematics, &record.u, &machine.work);
            for link in &mechanism.links {
                let Elastic::Body { of, .. } = &link.elastic else { continue };
                let q = &record.q[link.first + link.count - of.modes()..link.first + link.count];
                sum[1] += q.iter().zip(&of.stiffness).map(|(q, s)| 0.5 * s * q * q).sum::<f64>();
            }
        }
        sum
    }
}
