//! What there is to see of an island at a communication point.

use super::{ACCOUNTS, Account, Dynamics, Island, Model, Outcome, body_state};
use tippe_geometry::Quat;
use tippe_mechanics::cause::Cause;
use tippe_mechanics::kinematics::BodyState;
use tippe_mechanics::observe::ContactSample;
use tippe_numerics::ode::interpolate_all;

/// One communication point of one island.
#[derive(Clone, Debug)]
pub struct IslandSample {
    /// Which communication point of the horizon.
    pub index: usize,
    /// Its bodies, in the island's order.
    pub bodies: Vec<BodyState>,
    /// Its touching pairs.
    pub contacts: Vec<ContactSample>,
    /// Values of the model's signals that belong to it.
    pub signals: Vec<(u32, f64)>,
    /// Energies of the accounts of its force elements [J].
    pub elements: Vec<(Cause, f64)>,
    /// Kinetic, potential, elastic energy [J].
    pub energies: [f64; 3],
    /// Integrals of the ledger, summed over its bodies [J].
    pub accounts: [f64; ACCOUNTS],
}

impl Island {
    pub(super) fn take_samples(&mut self, model: &Model, samples: &[f64], end: f64, outcome: &mut Outcome) {
        let reached = self.stepper.t0.min(end);
        while outcome.sampled < samples.len() && samples[outcome.sampled] <= reached {
            let sample = self.sample(model, outcome.sampled, samples[outcome.sampled]);
            outcome.samples.push(sample);
            outcome.sampled += 1;
        }
    }

    /// Everything there is to see of the island at time t within its last step.
    fn sample(&mut self, model: &Model, index: usize, t: f64) -> IslandSample {
        let n = self.dynamics.bodies.len();
        let mut bodies = Vec::with_capacity(n);
        let mut accounts = [0.0; ACCOUNTS];
        let theta = self.theta(t);
        let mut y = vec![0.0; self.stepper.y0.len()];
        interpolate_all(&self.stepper.dense, theta, &mut y);
        let [kinetic, potential, elastic, held] = self.dynamics.energies(model, t, &y);
        for k in 0..n {
            let body = self.dynamics.bodies[k] as usize;
            // the energies placed the mechanisms as a whole, O(n)
            let (state, own) = if self.dynamics.link_of[k].is_some() {
                let kin = &self.dynamics.kinematics[k];
                let q = Quat::from_mat3(&kin.R).normalize();
                (body_state(model, body, kin.p, q, kin.v, kin.w), self.accounts(k, theta))
            } else {
                let m = self.motion(model, k, t);
                (body_state(model, body, m.p, m.q, m.v, m.w), m.accounts)
            };
            bodies.push(state);
            for (sum, a) in accounts.iter_mut().zip(own) {
                *sum += a;
            }
        }
        accounts[Account::Sliding as usize] -= held;
        let contacts = self.dynamics.contacts(model, &y);
        let signals = if model.signals.is_empty() { Vec::new() } else { self.dynamics.clone().signals(model, t, &y) };
        let d = &self.dynamics;
        let elements = d
            .actions
            .elements
            .iter()
            .flat_map(|l| {
                let accounts = model.elements[l.element as usize].kind.accounts().iter().enumerate();
                accounts.map(|(k, account)| (account.cause, d.element_energy(l, k, &y))).collect::<Vec<_>>()
            })
            .collect();
        IslandSample { index, bodies, contacts, signals, elements, energies: [kinetic, potential, elastic], accounts }
    }
}

impl Dynamics {
    /// Touching pairs, where the energies were measured last, at y.
    pub(crate) fn contacts(&self, model: &Model, y: &[f64]) -> Vec<ContactSample> {
        let mut contacts = Vec::new();
        for pair in &self.pairs {
            let reading = pair.read(model, &self.kinematics, &Dynamics::springs(pair, y), false);
            if reading.gap <= 0.0 {
                contacts.push(ContactSample {
                    body1: model.colliders[pair.id.0 as usize].body as usize,
                    body2: model.colliders[pair.id.1 as usize].body as usize,
                    pair: pair.id,
                    position: reading.point,
                    normal: reading.normal,
                    depth: -reading.gap,
                    closing_speed: reading.closing_speed,
                    force: reading.total,
                    torque: pair.torque_at_point(&reading, &self.kinematics),
                    slipping: pair.memory.modes.slipping,
                });
            }
        }
        contacts
    }
}
