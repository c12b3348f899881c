//! What an observer gets: samples of bodies, contacts, signals and energies; inputs, events, progress.

use super::rates::energy_of;
use super::summary::Tally;
use super::{Clock, Failure};
use tippe_geometry::{Mat3, Quat, Vec3};
use tippe_mechanics::event::Event;
use tippe_mechanics::kinematics::BodyState;
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::model::{Drive, body_state, kinetic, prescribed};
use tippe_mechanics::observe::{ContactSample, Observe, Progress, Sample, Summary};

/// What a run shows: all verbs add events and counts, `record` hands them on.
#[derive(Debug, Default)]
pub struct Shown {
    /// Events of the step.
    pub events: Vec<Event>,
    /// True if the observer has stopped the run.
    pub stopped: bool,
    /// Counts and the last sample.
    pub summary: Summary,
    /// More counts.
    pub tally: Tally,
}

impl Clock {
    /// Motion of a body as the state has it now.
    pub(super) fn motion(&self, b: usize) -> Kinematics {
        match self.model.bodies[b].drive {
            Drive::Free => {
                let s = &self.state.bodies[b];
                Kinematics { p: s.p, v: s.v, w: s.w, R: Mat3::from_quat(s.q) }
            }
            _ => prescribed(&self.model, b, self.state.time),
        }
    }

    /// Records the start, if it was not recorded yet: once before the first step.
    pub fn begin(&mut self, observe: &mut dyn Observe) {
        self.shown.tally.next = self.point(self.state.time) + 1;
        if self.state.recorded {
            return;
        }
        self.place();
        self.detect(0.0);
        let mut ledger = tippe_mechanics::Ledger::default();
        for b in 0..self.model.bodies.len() {
            if self.is_free(b) {
                let (body, kin) = (&self.model.bodies[b], self.motion(b));
                ledger.kinetic += kinetic(body, &kin);
                ledger.potential += body.mass * self.model.potential_at(kin.p);
            }
        }
        // columns stand where surfaces will be at the end of the step
        let plain = self.detected.touches.iter().filter(|t| !(t.column && t.exponent == 1.0));
        let plain: f64 = plain.map(|t| t.hardness * energy_of((-t.gap).max(0.0), t.exponent)).sum();
        ledger.kinetic += self.energies_of_bending()[0];
        ledger.elastic = plain + self.detected.pairs.stored() + self.stored();
        let mut all = ledger;
        self.add_subsystem(&mut all);
        ledger.initial = all.stored();
        self.state.ledger = ledger;
        self.state.recorded = true;
        self.detected.touches.clear();
        self.detected.grips.clear();
        self.sample(observe);
    }

    fn point(&self, t: f64) -> u64 {
        ((t + 0.5 * self.h) / self.settings.output_interval.max(self.h)).floor() as u64
    }

    /// True when the run is over.
    pub fn reached(&self, until: f64) -> bool {
        self.shown.stopped || self.state.time >= until - 1e-9 * self.h
    }

    /// Hands the step to the observer, once after every step; true at communication points. A failure is one of the
    /// step: `state` is no longer good.
    pub fn record(&mut self, until: f64, observe: &mut dyn Observe) -> Result<bool, Failure> {
        self.check()?;
        self.watch_motions();
        self.heard.changed.iter().for_each(|heard| observe.input(heard));
        if self.heard.pull_changed {
            // the step that was made: its number is one less
            observe.pull(self.state.steps.saturating_sub(1), self.heard.pull.as_ref());
        }
        for event in std::mem::take(&mut self.shown.events) {
            *self.shown.summary.events.entry(event.kind).or_default() += 1;
            self.shown.tally.events += 1;
            observe.event(&event);
        }
        self.shown.summary.steps += 1;
        let at = self.point(self.state.time);
        let due = at >= self.shown.tally.next || self.state.time >= until - 1e-9 * self.h;
        if due {
            self.shown.tally.next = at + 1;
            self.sample(observe);
        }
        let progress = Progress {
            time: self.state.time,
            until,
            step: self.h,
            limiter: None,
            steps: self.shown.summary.steps,
            contacts: self.shown.summary.max_contacts,
            events: self.shown.tally.events,
        };
        self.shown.stopped = !observe.progress(&progress);
        Ok(due)
    }

    /// Motion of a body's origin as the state has it now.
    pub fn body(&self, b: usize) -> BodyState {
        self.at_origin(b, &self.motion(b))
    }

    fn at_origin(&self, b: usize, kin: &Kinematics) -> BodyState {
        let q = match self.model.bodies[b].drive {
            Drive::Free => self.state.bodies[b].q,
            _ => Quat::from_mat3(&kin.R),
        };
        body_state(&self.model, b, kin.p, q, kin.v, kin.w)
    }

    /// Shows the observer everything as the state has it now.
    pub fn sample(&mut self, observe: &mut dyn Observe) {
        let model = &self.model.clone();
        let mut ledger = self.state.ledger;
        (ledger.kinetic, ledger.potential) = (0.0, 0.0);
        let mut bodies: Vec<BodyState> = Vec::with_capacity(model.bodies.len());
        for b in 0..model.bodies.len() {
            let kin = self.motion(b);
            if self.is_free(b) {
                ledger.kinetic += kinetic(&model.bodies[b], &kin);
                ledger.potential += model.bodies[b].mass * model.potential_at(kin.p);
            }
            bodies.push(self.at_origin(b, &kin));
        }
        ledger.kinetic += self.energies_of_bending()[0];
        self.add_subsystem(&mut ledger);
        let contacts = self.contact_samples();
        let signals = self.signals(&contacts);
        self.shown.summary.max_contacts = self.shown.summary.max_contacts.max(contacts.len());
        observe.sample(&Sample {
            time: self.state.time,
            bodies: &bodies,
            contacts: &contacts,
            energy: &ledger,
            signals: &signals,
        });
        self.show_subsystem(observe);
        self.shown.summary.bodies = bodies;
        self.shown.summary.signals = signals;
        self.shown.summary.energy = ledger;
    }

    /// Touching pairs: the points of each with their forces summed up at their centre of pressure.
    fn contact_samples(&self) -> Vec<ContactSample> {
        // with the sum of the normal forces
        let mut samples: Vec<(ContactSample, Vec3)> = Vec::new();
        for impact in &self.struck.impacts {
            let pressed = impact.normal * (impact.normal.dot(impact.impulse) / self.h);
            let sample = ContactSample {
                body1: impact.bodies[0],
                body2: impact.bodies[1],
                pair: impact.pair,
                position: impact.point,
                normal: impact.normal,
                depth: 0.0,
                closing_speed: 0.0,
                force: impact.impulse / self.h,
                torque: Vec3::ZERO,
                slipping: false,
            };
            samples.push((sample, pressed));
        }
        for grip in &self.detected.grips {
            let group = &self.detected.touches[grip.touches.0..grip.touches.0 + grip.touches.1];
            let loaded = || group.iter().filter(|t| t.memory.normal != 0.0);
            let total: f64 = loaded().map(|t| t.memory.normal).sum();
            if total == 0.0 {
                continue;
            }
            let mean = loaded().map(|t| t.axes[0] * t.memory.normal).sum::<Vec3>();
            let normal = mean.try_normalize().unwrap_or(grip.axes[0]);
            let position = loaded().map(|t| t.point * t.memory.normal).sum::<Vec3>() / total;
            let hold = &grip.memory;
            let mut force = hold.tangent / self.h;
            let mut torque =
                (grip.point - position).cross(force) + (grip.axes[0] * (hold.twist * grip.lever) + hold.turn) / self.h;
            let mut depth = 0.0_f64;
            for t in loaded() {
                let f = t.axes[0] * (t.memory.normal / self.h);
                force += f;
                torque += (t.point - position).cross(f);
                depth = depth.max(-t.gap);
            }
            let [b1, b2] = group[0].bodies;
            let at = |b: usize| self.paths[b].velocity_of(position);
            let sample = ContactSample {
                body1: b1,
                body2: b2,
                pair: group[0].memory.pair,
                position,
                normal,
                depth,
                closing_speed: normal.dot(at(b1) - at(b2)),
                force,
                torque,
                slipping: hold.sliding,
            };
            samples.push((sample, mean / self.h));
        }
        samples.sort_by_key(|(s, _)| s.pair);
        // one line per pair, at the common centre of pressure: an impact and what rested before and after it, all its
        // regions
        samples.dedup_by(|(b, b_pressed), (a, a_pressed)| {
            let same = a.pair == b.pair;
            if same {
                let (load_a, load_b) = (a_pressed.length(), b_pressed.length());
                let position = (a.position * load_a + b.position * load_b) / (load_a + load_b);
                let moved = |s: &ContactSample| s.torque + (s.position - position).cross(s.force);
                a.torque = moved(a) + moved(b);
                a.position = position;
                a.force += b.force;
                *a_pressed += *b_pressed;
                a.normal = a_pressed.try_normalize().unwrap_or(a.normal);
                a.depth = a.depth.max(b.depth);
                a.slipping |= b.slipping;
            }
            same
        });
        samples.into_iter().map(|(sample, _)| sample).collect()
    }
}
