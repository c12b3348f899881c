//! Signals: coordinates, reactions, efforts, sensors and values of the equations at the end of a step.

use super::Clock;
use tippe_geometry::Vec3;
use tippe_mechanics::element::{Action, At, Element, InStep, Sight};
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::mechanism::Parent;
use tippe_mechanics::model::{JointPlace, SignalSource};
use tippe_mechanics::observe::ContactSample;
use tippe_scene::SensorKind;

impl Clock {
    /// Values of the model's signals. Forces are the means of the step; at the start those that act there.
    pub(super) fn signals(&mut self, contacts: &[ContactSample]) -> Vec<f64> {
        let model = &self.model.clone();
        if self.state.steps == 0 {
            self.load();
            self.coast();
            self.first_outputs();
        }
        self.evaluate(true);
        let reactions: Vec<Vec<Six>> = (0..self.machines.len()).map(|m| self.reactions(m)).collect();
        let mut values = Vec::with_capacity(model.signals.len());
        for signal in &model.signals {
            values.push(match signal.source {
                SignalSource::Coordinate { joint, .. }
                | SignalSource::Orientation { joint, .. }
                | SignalSource::Rate { joint, .. }
                | SignalSource::Reaction { joint, .. } => self.joint_signal(joint, signal.source, &reactions),
                SignalSource::Multiplier { mechanism, owner } => {
                    self.impulse_of_row(mechanism as usize, owner as usize) / self.h
                }
                SignalSource::Stress { mechanism, link } => {
                    let q = &self.state.machines[mechanism as usize].q;
                    model.mechanisms[mechanism as usize].peak_stress(link as usize, q)
                }
                SignalSource::Mode { mechanism, coordinate } => {
                    self.state.machines[mechanism as usize].q[coordinate as usize]
                }
                SignalSource::Output { element, output } => self.output(element as usize, output as usize),
                SignalSource::Energy { element, account } => {
                    self.state.actions.energies[model.elements[element as usize].accounts.start + account as usize]
                }
                SignalSource::Sensor { sensor, component } => self.sensor_signal(sensor, component, contacts),
                SignalSource::Value(k) => self.values[k as usize],
                SignalSource::State(k) => self.state.actions.states[k as usize],
                SignalSource::Grains { .. }
                | SignalSource::Sink { .. }
                | SignalSource::Probe { .. }
                | SignalSource::GrainLoad { .. }
                | SignalSource::Soil(_) => f64::NAN,
            });
        }
        self.subsystem_signals(&mut values);
        values
    }

    fn joint_signal(&self, joint: u32, source: SignalSource, reactions: &[Vec<Six>]) -> f64 {
        let Some(place) = self.model.joints[joint as usize].place else { return 0.0 };
        let (JointPlace::Link { mechanism, .. } | JointPlace::Loop { mechanism, .. }) = place;
        let m = mechanism as usize;
        let links = &self.model.mechanisms[m].links;
        let record = &self.state.machines[m];
        match (source, place) {
            (SignalSource::Reaction { component, .. }, place) => {
                let slot = match place {
                    JointPlace::Link { link, .. } => link as usize,
                    JointPlace::Loop { index, .. } => links.len() + index as usize,
                };
                let on = reactions[m].get(slot).copied().unwrap_or_default();
                [on.linear.to_array(), on.angular.to_array()][component as usize / 3][component as usize % 3]
            }
            (SignalSource::Coordinate { coordinate, .. }, JointPlace::Link { link, .. }) => {
                record.q[links[link as usize].first + coordinate as usize]
            }
            (SignalSource::Rate { coordinate, .. }, JointPlace::Link { link, .. }) => {
                record.u[links[link as usize].first + coordinate as usize]
            }
            (SignalSource::Orientation { component, .. }, JointPlace::Link { link, .. }) => {
                let o = record.bases[link as usize];
                [o.w, o.x, o.y, o.z][component as usize]
            }
            _ => 0.0,
        }
    }

    /// {torque, force} each joint of mechanism `m` exerts on its body 2 about the origin of its frame 2, resolved in world: those of
    /// the links, then of the loops.
    fn reactions(&self, m: usize) -> Vec<Six> {
        let (model, h) = (&self.model.clone(), self.h);
        let (mechanism, machine) = (&model.mechanisms[m], &self.machines[m]);
        let links = mechanism.links.len();
        // on the links' centres of mass: free motion, then what elements and couplings do to coordinates
        let mut on = if machine.smooth { machine.reactions.clone() } else { vec![Six::ZERO; links] };
        let link_of = |i: usize| mechanism.links.iter().position(|l| (l.first..l.first + l.count).contains(&i));
        if !machine.smooth {
            for own in self.elements.efforts.iter().filter(|own| own.at.mechanism as usize == m) {
                let i = own.at.coordinate as usize;
                if let Some(l) = link_of(i) {
                    on[l] = on[l] + machine.dual[i] * own.effort;
                }
            }
        }
        if self.state.steps > 0 {
            for own in self.elements.along.iter().filter(|own| own.at.mechanism as usize == m) {
                let i = own.at.coordinate as usize;
                if let Some(l) = link_of(i) {
                    on[l] = on[l] + machine.dual[i] * own.factor * (self.impulse_at(own.place) / h);
                }
            }
            for partition in self.partitions.iter().filter(|p| p.active) {
                for (tie, (k, slot, _)) in partition.problem.ties.iter().zip(&partition.owners) {
                    let coupling = (*slot as usize).checked_sub(links + mechanism.loops.len());
                    let Some(c) = coupling.filter(|_| *k as usize == m) else { continue };
                    for term in &mechanism.couplings[c].coupling.terms {
                        if let Some(l) = link_of(term.coordinate) {
                            on[l] = on[l] + machine.dual[term.coordinate] * (term.factor * tie.lambda[0] / h);
                        }
                    }
                }
            }
        }
        let at = |wrench: Six, from: Vec3, to: Vec3| {
            Six::new(wrench.angular + (from - to).cross(wrench.linear), wrench.linear)
        };
        for (l, link) in mechanism.links.iter().enumerate() {
            let own = &self.paths[link.body as usize].kin;
            on[l] = if link.reversed {
                // the body is on side 1: what acts on side 2 is the reaction, at the origin there
                let parent = match link.parent {
                    Parent::World => Kinematics::WORLD,
                    Parent::Body(body) => self.paths[body as usize].kin,
                    Parent::Link(p) => self.paths[mechanism.links[p as usize].body as usize].kin,
                };
                -at(on[l], own.p, parent.p + parent.R * link.p_p1)
            } else {
                at(on[l], own.p, own.p - own.R * (link.R_2c.transpose() * link.p_2c))
            };
        }
        let loops = machine.loop_reactions.iter().map(|r| if machine.smooth { *r } else { Six::ZERO });
        on.extend(loops);
        for (on, added) in on.iter_mut().zip(&machine.added) {
            *on = *on + *added;
        }
        on
    }

    /// An output of an element; that of modes, which are blocks of the matrix and no loads, is the energy of their bending.
    fn output(&self, k: usize, output: usize) -> f64 {
        let Element::Modes(modes) = &self.model.elements[k].kind else { return self.elements.outputs[k][output] };
        let energy = |(at, s): (&At, &f64)| {
            let q = self.state.machines[at.mechanism as usize].q[at.coordinate as usize];
            0.5 * s * q * q
        };
        modes.at.iter().zip(&modes.stiffness).map(energy).sum()
    }

    /// Outputs of elements at the start, where no step has found them.
    fn first_outputs(&mut self) {
        let (mut sight, mut action) = (Sight::default(), Action::default());
        for k in 0..self.model.elements.len() {
            if self.elements.entry[k] == Some(InStep::Rows) {
                self.effect_now(k, &mut sight, &mut action);
                action.outputs_into(&mut self.elements.outputs[k]);
            }
        }
    }

    fn sensor_signal(&self, sensor: u32, component: u32, contacts: &[ContactSample]) -> f64 {
        let spec = &self.model.sensors[sensor as usize];
        match spec.kind {
            SensorKind::Acceleration => {
                let side = |k: usize| {
                    let Some(b) = spec.ends[k].body.map(|b| b as usize) else {
                        return (Kinematics::WORLD, Six::ZERO);
                    };
                    if !self.is_free(b) {
                        return (self.motion(b), Six::ZERO);
                    }
                    let (now, start) = (self.motion(b), &self.paths[b].kin);
                    let after =
                        if self.state.steps == 0 { self.paths[b].free_velocity } else { Six::new(now.w, now.v) };
                    (now, (after - Six::new(start.w, start.v)) * (1.0 / self.h))
                };
                spec.acceleration([side(0), side(1)], component)
            }
            SensorKind::Contact => {
                let bodies = spec.ends.map(|e| e.body.map(|b| b as usize));
                let (mut normal_force, mut depth, mut touching) = (0.0, 0.0_f64, false);
                for c in contacts {
                    let own = [Some(c.body1), Some(c.body2)];
                    if own == bodies || own == [bodies[1], bodies[0]] {
                        normal_force += c.force.dot(c.normal);
                        depth = depth.max(c.depth);
                        touching = true;
                    }
                }
                [normal_force, depth, f64::from(u8::from(touching))][component as usize]
            }
            _ => {
                let [f1, f2] = [0, 1].map(|k| self.anchored(&spec.ends[k], true));
                spec.measure(&f1, &f2, component)
            }
        }
    }
}
