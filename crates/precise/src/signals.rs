//! Signals of an island: coordinates, reactions, efforts, sensors and values of the network at one instant.

use super::dynamics::Dynamics;
use super::system::Bound;
use tippe_geometry::Vec3;
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::model::prescribed;
use tippe_mechanics::model::{Drive, JointPlace, Model, ModelSensor, SignalSource};
use tippe_mechanics::network::BlockKind;
use tippe_numerics::System;
use tippe_scene::SensorKind;

impl Dynamics {
    /// Values of the model's signals that belong to the island, at (t, y); what was measured is measured anew.
    pub fn signals(mut self, model: &Model, t: f64, y: &[f64]) -> Vec<(u32, f64)> {
        let mut f = vec![0.0; y.len()];
        Bound { model, dynamics: &mut self }.rates(t, y, &mut f);
        let reactions: Vec<Vec<Six>> = self.machines.iter_mut().map(|m| m.reactions(model, t)).collect();
        let mut values = Vec::new();
        for (k, signal) in model.signals.iter().enumerate() {
            let joint = match signal.source {
                SignalSource::Coordinate { joint, .. }
                | SignalSource::Orientation { joint, .. }
                | SignalSource::Rate { joint, .. }
                | SignalSource::Reaction { joint, .. } => joint,
                SignalSource::Multiplier { mechanism, owner } => {
                    if let Some(machine) = self.machines.iter().find(|m| m.index == mechanism) {
                        values.push((k as u32, machine.multiplier(owner as usize).unwrap_or(0.0)));
                    }
                    continue;
                }
                SignalSource::Stress { mechanism, link } => {
                    if let Some(machine) = self.machines.iter().find(|m| m.index == mechanism) {
                        let q = machine.states(y).0;
                        values.push((k as u32, model.mechanisms[mechanism as usize].peak_stress(link as usize, q)));
                    }
                    continue;
                }
                SignalSource::Mode { mechanism, coordinate } => {
                    if let Some(machine) = self.machines.iter().find(|m| m.index == mechanism) {
                        values.push((k as u32, machine.states(y).0[coordinate as usize]));
                    }
                    continue;
                }
                source => {
                    if let Some(value) = self.action_signal(model, t, y, source) {
                        values.push((k as u32, value));
                    }
                    continue;
                }
            };
            let Some(place) = model.joints[joint as usize].place else { continue };
            let (JointPlace::Link { mechanism, .. } | JointPlace::Loop { mechanism, .. }) = place;
            let Some(m) = self.machines.iter().position(|m| m.index == mechanism) else { continue };
            let machine = &self.machines[m];
            let (q, u) = machine.states(y);
            let value = match (signal.source, place) {
                (SignalSource::Reaction { component, .. }, place) => {
                    let mechanism = &model.mechanisms[mechanism as usize];
                    let slot = match place {
                        JointPlace::Link { link, .. } => link as usize,
                        JointPlace::Loop { index, .. } => mechanism.links.len() + index as usize,
                    };
                    let on = reactions[m].get(slot).copied().unwrap_or_default();
                    let all = [on.linear.to_array(), on.angular.to_array()];
                    all[component as usize / 3][component as usize % 3]
                }
                (_, JointPlace::Loop { .. }) => continue,
                (SignalSource::Coordinate { coordinate, .. }, JointPlace::Link { link, .. }) => {
                    q[model.mechanisms[mechanism as usize].links[link as usize].first + coordinate as usize]
                }
                (SignalSource::Rate { coordinate, .. }, JointPlace::Link { link, .. }) => {
                    u[model.mechanisms[mechanism as usize].links[link as usize].first + coordinate as usize]
                }
                (SignalSource::Orientation { component, .. }, JointPlace::Link { link, .. }) => {
                    let i = model.mechanisms[mechanism as usize].links[link as usize].first;
                    let g = Vec3::new(q[i], q[i + 1], q[i + 2]);
                    let frame = &self.frames[machine.bodies[link as usize]];
                    let o = frame.orientation(t - self.frame_time, g).normalize();
                    [o.w, o.x, o.y, o.z][component as usize]
                }
                _ => continue,
            };
            values.push((k as u32, value));
        }
        values
    }

    /// Value of a signal of elements, sensors and the network, if it belongs to the island; after an evaluation.
    fn action_signal(&self, model: &Model, t: f64, y: &[f64], source: SignalSource) -> Option<f64> {
        let local = |k: u32| self.actions.elements.iter().find(|local| local.element == k);
        match source {
            SignalSource::Output { element, output: 0 } => local(element).map(|l| l.effect.effort),
            SignalSource::Output { element, output } => {
                local(element).map(|l| l.shown.get(output as usize - 1).copied().unwrap_or(0.0))
            }
            SignalSource::Energy { element, account } => {
                local(element).map(|l| self.element_energy(l, account as usize, y))
            }
            SignalSource::Value(k) => {
                let written = |b: &&u32| {
                    let block = &model.network.blocks[**b as usize];
                    let count = match &block.kind {
                        BlockKind::Component { formula, .. } => formula.outputs - block.states.len(),
                        _ => 1,
                    };
                    (block.value..block.value + count).contains(&(k as usize))
                };
                self.actions.blocks.iter().find(written).map(|_| self.actions.values[k as usize])
            }
            SignalSource::State(k) => y.get(self.actions.state_at[k as usize]).copied(),
            SignalSource::Sensor { sensor, component } => self.sensor_signal(model, t, sensor, component),
            _ => None,
        }
    }

    /// Value of a sensor whose first free body is in the island; after an evaluation.
    fn sensor_signal(&self, model: &Model, t: f64, sensor: u32, component: u32) -> Option<f64> {
        let spec = &model.sensors[sensor as usize];
        let free = spec.ends.iter().filter_map(|e| e.body).find(|&b| model.bodies[b as usize].drive == Drive::Free)?;
        self.bodies.binary_search(&free).ok()?;
        Some(match spec.kind {
            SensorKind::Acceleration => self.sense_acceleration(model, t, spec, component),
            SensorKind::Contact => {
                let bodies = spec.ends.map(|e| e.body);
                let (mut normal_force, mut depth) = (0.0, 0.0_f64);
                for pair in &self.pairs {
                    let of = |e: u32| Some(model.colliders[e as usize].body);
                    let own = [of(pair.id.0), of(pair.id.1)];
                    if (own == bodies || own == [bodies[1], bodies[0]]) && pair.last.gap <= 0.0 {
                        normal_force += pair.last.force.total();
                        depth = depth.max(-pair.last.gap);
                    }
                }
                [normal_force, depth, f64::from(u8::from(depth > 0.0))][component as usize]
            }
            _ => self.sense(model, t, sensor, component),
        })
    }

    /// Acceleration of frame 2 relative to frame 1; bodies outside the island move evenly.
    fn sense_acceleration(&self, model: &Model, t: f64, sensor: &ModelSensor, component: u32) -> f64 {
        let side = |k: usize| {
            let body = sensor.ends[k].body;
            match body.and_then(|b| self.bodies.binary_search(&b).ok()) {
                Some(k) => (self.kinematics[k], self.body_acceleration(model, k)),
                None => (body.map_or(Kinematics::WORLD, |b| prescribed(model, b as usize, t)), Six::ZERO),
            }
        };
        sensor.acceleration([side(0), side(1)], component)
    }

    /// {angular, linear} acceleration of body `k` (local), resolved in world; after an evaluation.
    pub fn body_acceleration(&self, model: &Model, k: usize) -> Six {
        if let Some((machine, link)) = self.link_of[k] {
            return self.machines[machine as usize].work.links[link as usize].a;
        }
        let kin = &self.kinematics[k];
        let isotropic = model.bodies[self.bodies[k] as usize].isotropic;
        let (linear, angular) = self.acceleration(model, k, kin.R.transpose() * kin.w);
        Six::new(if isotropic { angular } else { kin.R * angular }, linear)
    }
}
