//! Mass matrix and Jacobians of the whole model, in its generalised velocities.
//!
//! u holds, for every free body that no joint holds, the velocity of its centre of mass and its angular velocity, resolved in world; then, for every
//! mechanism, the rates of its coordinates. With M = sum_b J_b^T diag(I_c, m) J_b
//!   M u' = tau + Q,    G u = 0
//! where Q is everything that acts already, forces of constraints included.

use super::whole::Whole;
use crate::tangent::Quantity;
use tippe_geometry::Vec3;
use tippe_mechanics::joint::{Six, Tensor};
use tippe_mechanics::mechanism::elastic::Bent;
use tippe_mechanics::mechanism::{Mechanism, Mode, Work};
use tippe_mechanics::model::inertia;

impl Whole {
    /// First generalised velocity of every free body of the island that no joint holds, and of every machine; their number.
    fn layout(&self) -> (Vec<Option<usize>>, Vec<usize>, usize) {
        let d = &self.dynamics;
        let mut n = 0;
        let mut take = |count: usize| {
            n += count;
            n - count
        };
        let bodies = d.link_of.iter().map(|link| link.is_none().then(|| take(6))).collect();
        let machines = d.machines.iter().map(|machine| take(machine.tau.len())).collect();
        (bodies, machines, n)
    }

    /// Names and units of the generalised velocities.
    pub fn rate_names(&self) -> Vec<Quantity> {
        let (model, d) = (&self.model, &self.dynamics);
        let quantity = |name: String, unit: &str| Quantity { name, unit: unit.to_owned() };
        let mut names = Vec::new();
        for (&b, _) in d.bodies.iter().zip(&d.link_of).filter(|(_, link)| link.is_none()) {
            let body = &model.bodies[b as usize].name;
            for (what, unit) in [("velocity", "m/s"), ("angular_velocity", "rad/s")] {
                names.extend(["x", "y", "z"].map(|axis| quantity(format!("{body}.{what}.{axis}"), unit)));
            }
        }
        for machine in &d.machines {
            let mechanism = &model.mechanisms[machine.index as usize];
            let start = names.len();
            names.resize(start + mechanism.coordinates, quantity(String::new(), ""));
            for link in &mechanism.links {
                let owner = match link.source {
                    Some(joint) => &model.joints[joint as usize].name,
                    None => &model.bodies[link.body as usize].name,
                };
                for (i, rate) in link.joint.rate_names().iter().enumerate() {
                    let unit = if link.joint.is_rotation(i) { "rad/s" } else { "m/s" };
                    names[start + link.first + i] = quantity(format!("{owner}.{rate}"), unit);
                }
                let own = link.joint.coordinates();
                for i in own..link.count {
                    let body = &model.bodies[link.body as usize].name;
                    let mode = format!("{body}.mode{}_rate", i - own + 1);
                    names[start + link.first + i] = quantity(mode, "m kg^0.5/s");
                }
            }
        }
        names
    }

    /// Generalised velocities u, and their rates u' as things are.
    pub fn generalised_rates(&self) -> (Vec<f64>, Vec<f64>) {
        let (model, d) = (&self.model, &self.dynamics);
        let (bodies, machines, n) = self.layout();
        let (mut u, mut u_dot) = (vec![0.0; n], vec![0.0; n]);
        for (k, at) in bodies.into_iter().enumerate() {
            let Some(at) = at else { continue };
            let (kin, a) = (&d.kinematics[k], d.body_acceleration(model, k));
            for (i, (velocity, rate)) in [(kin.v, a.linear), (kin.w, a.angular)].into_iter().enumerate() {
                u[at + 3 * i..][..3].copy_from_slice(&velocity.to_array());
                u_dot[at + 3 * i..][..3].copy_from_slice(&rate.to_array());
            }
        }
        for (machine, at) in d.machines.iter().zip(machines) {
            let count = machine.tau.len();
            u[at..at + count].copy_from_slice(machine.states(&self.inner).1);
            u_dot[at..at + count].copy_from_slice(&self.rates[machine.offset + count..][..count]);
        }
        (u, u_dot)
    }

    /// Inertia of body `k` (local) about its centre of mass with what it takes along, resolved in world.
    fn inertia_of(&self, k: usize) -> Tensor {
        let (d, (mass, I_c)) = (&self.dynamics, inertia(&self.model, self.dynamics.bodies[k]));
        let R = d.kinematics[k].R;
        let added = d.actions.added.iter().filter(|(heavier, _)| *heavier == k);
        added.fold(Tensor::of_body(mass, &(R * I_c * R.transpose())), |sum, (_, own)| sum.plus(own))
    }

    /// M, row by row.
    pub fn mass_matrix(&self) -> Vec<f64> {
        let (model, d) = (&self.model, &self.dynamics);
        let (bodies, machines, n) = self.layout();
        let mut M = vec![0.0; n * n];
        for (k, at) in bodies.into_iter().enumerate() {
            let Some(at) = at else { continue };
            let own = self.inertia_of(k);
            // {v, w} of a free body, {w, v} of the tensor
            for (i, j) in (0..36).map(|e| (e / 6, e % 6)) {
                M[(at + i) * n + at + j] = own.entry((i + 3) % 6, (j + 3) % 6);
            }
        }
        for (machine, at) in d.machines.iter().zip(machines) {
            let mechanism = &model.mechanisms[machine.index as usize];
            let columns = columns(mechanism, &machine.work);
            for (l, link) in mechanism.links.iter().enumerate() {
                let own = self.inertia_of(machine.bodies[l]);
                for (j, right) in columns.iter().enumerate() {
                    let momentum = own.times(right[l]);
                    for (i, left) in columns.iter().enumerate() {
                        M[(at + i) * n + at + j] += left[l].dot(&momentum);
                    }
                }
                if let Bent::Body(bent) = &machine.work.bent[l] {
                    bent.add_mass(&columns, l, link.first + link.count, (at, n), &mut M);
                }
            }
        }
        M
    }

    /// Columns of the Jacobian of a point of a body, {angular, linear} resolved in world; `p_bk` from the body's origin, body axes [m]. All zero for
    /// a body that is not free.
    pub fn jacobian(&self, body: usize, p_bk: Vec3) -> Vec<Six> {
        let (model, d) = (&self.model, &self.dynamics);
        let (bodies, machines, n) = self.layout();
        let mut J = vec![Six::ZERO; n];
        let Ok(k) = d.bodies.binary_search(&(body as u32)) else { return J };
        let r = d.kinematics[k].R * (p_bk - model.bodies[body].p_bc);
        let at_point = |s: Six| Six::new(s.angular, s.linear + s.angular.cross(r));
        if let Some(at) = bodies[k] {
            for (i, axis) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().enumerate() {
                J[at + i] = Six::new(Vec3::ZERO, axis);
                J[at + 3 + i] = at_point(Six::new(axis, Vec3::ZERO));
            }
        }
        for (machine, at) in d.machines.iter().zip(machines) {
            let Some(l) = machine.bodies.iter().position(|&own| own == k) else { continue };
            let mechanism = &model.mechanisms[machine.index as usize];
            let columns = columns(mechanism, &machine.work);
            for (i, column) in columns.iter().enumerate() {
                J[at + i] = at_point(column[l]);
            }
        }
        J
    }

    /// G, row by row: loops, couplings, and coordinates that are given. Rows may be redundant.
    pub fn constraint_rows(&self) -> Vec<Vec<f64>> {
        let (model, d) = (&self.model, &self.dynamics);
        let (_, machines, n) = self.layout();
        let mut rows = Vec::new();
        for (machine, at) in d.machines.iter().zip(machines) {
            let mechanism = &model.mechanisms[machine.index as usize];
            let count = mechanism.coordinates;
            let mut G = Vec::new();
            if mechanism.has_rows() {
                let mut moved = vec![Six::ZERO; mechanism.links.len()];
                mechanism.gradients(&machine.work, &mut moved, &mut G);
            }
            let whole = |part: &[f64]| {
                let mut row = vec![0.0; n];
                row[at..at + count].copy_from_slice(part);
                row
            };
            rows.extend(G.chunks_exact(count.max(1)).map(whole));
            for i in (0..count).filter(|&i| machine.work.modes[i] != Mode::Free) {
                let mut row = vec![0.0; n];
                row[at + i] = 1.0;
                rows.push(row);
            }
        }
        rows
    }
}

/// Motion {angular, linear} of all links per unit of each rate.
fn columns(mechanism: &Mechanism, work: &Work) -> Vec<Vec<Six>> {
    let mut unit = vec![0.0; mechanism.coordinates];
    (0..mechanism.coordinates)
        .map(|i| {
            let mut moved = vec![Six::ZERO; mechanism.links.len()];
            unit[i] = 1.0;
            mechanism.displace(&unit, work, &mut moved);
            unit[i] = 0.0;
            moved
        })
        .collect()
}
