//! Force elements in a step: loads at its beginning, rows of springs, dampers, drives, friction and stops.

use super::Clock;
use super::joints::{coordinate_row, flat};
use super::partition::{Owner, Rows};
use serde::{Deserialize, Serialize};
use tippe_geometry::Vec3;
use tippe_mechanics::event::{Event, EventKind};
use tippe_mechanics::force::{Anchor, At, Book, ForceKind, inverse_left_jacobian_transposed, spring};
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::{Kinematics, rotation_vector};
use tippe_mechanics::ledger::Ledger;
use tippe_mechanics::mechanism::Mode;
use tippe_mechanics::model::Model;
use tippe_mechanics::network::Source;
use tippe_numerics::kkt::{Follow, GROUND, Row};

/// Impulses this near to a bound are at it, as a share of it [-].
const AT_BOUND: f64 = 1e-7;
/// A stop whose impact takes more steps than this is resolved, else the coordinate rebounds at once [-].
const RESOLVED: f64 = 60.0;
/// Stops and ropes act when they may be reached in this many steps at the present speed [-].
const REACH: f64 = 2.0;
/// Coordinates slower than this never rebound [m/s or rad/s].
const LEAST_REBOUND: f64 = 1e-6;

/// What elements carry from step to step beside [`tippe_mechanics::state::ActionRecord`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ElementRecord {
    /// Impulse of the last step of elements with one row [N s or N m s].
    pub impulses: Vec<Option<f64>>,
    /// Expressions that are watched for a rise through zero, at the end of the last step.
    pub watched: Vec<f64>,
    /// Changes whose condition has come true.
    pub due: Vec<bool>,
}

impl ElementRecord {
    /// That of a model at its start.
    pub fn start(model: &Model) -> ElementRecord {
        ElementRecord {
            impulses: vec![None; model.forces.len()],
            watched: Vec::new(),
            due: vec![false; model.changes.len()],
        }
    }
}

/// A row of an element in a step.
#[derive(Clone, Copy, Debug)]
pub struct ElementRow {
    /// The element.
    pub element: u32,
    /// Which of its rows.
    pub part: u8,
    /// Damping [N s/m or N m s/rad].
    pub damping: f64,
    /// Stored energy at the beginning of the step [J].
    pub stored: f64,
    /// Largest impulse of friction and drives, speed of impact of stops.
    pub bound: f64,
}

/// Elements at work.
#[derive(Clone, Debug, Default)]
pub struct Elements {
    /// Rows of the step, in order; the first is row `first` of all.
    pub rows: Vec<ElementRow>,
    /// See `rows`.
    pub first: usize,
    /// Force or torque each element is known by [N or N m].
    pub efforts: Vec<f64>,
    /// Loads of elements on bodies: element, body, {torque, force}.
    pub loads: Vec<(u32, u32, Six)>,
    /// Forces of elements on coordinates: element, where, how much.
    pub forces: Vec<(u32, At, f64)>,
    /// Coordinates that elements move: element, where, force without rows.
    pub held: Vec<(u32, At, f64)>,
}

impl Elements {
    /// Room for a model's elements.
    pub fn new(model: &Model) -> Elements {
        Elements { efforts: vec![0.0; model.forces.len()], ..Elements::default() }
    }
}

impl Clock<'_> {
    /// Loads on bodies, forces on coordinates and given rates, from formulas at the beginning of the step.
    pub(super) fn load(&mut self) {
        self.loads.fill(Six::ZERO);
        self.evaluate(false);
        let (model, h, t) = (self.model, self.h, self.state.time);
        let mut elements = std::mem::take(&mut self.elements);
        let Elements { efforts, loads, forces, held, .. } = &mut elements;
        loads.clear();
        forces.clear();
        held.clear();
        for (k, element) in model.forces.iter().enumerate() {
            efforts[k] = 0.0;
            if !self.state.actions.on[k] {
                continue;
            }
            let mut push = |anchor: &Anchor, at: Vec3, on: Six| {
                if let Some(b) = anchor.body.filter(|&b| self.is_free(b as usize)) {
                    let arm = at - self.kin[b as usize].p;
                    loads.push((k as u32, b, Six::new(on.angular + arm.cross(on.linear), on.linear)));
                }
            };
            match &element.kind {
                ForceKind::Applied { on, local, formula } => {
                    let kin = self.anchored(on, false);
                    let R = if *local { kin.R.transpose() } else { tippe_geometry::Mat3::IDENTITY };
                    let (p, v, w) = (R * kin.p, R * kin.v, R * kin.w);
                    let own = [p.x, p.y, p.z, v.x, v.y, v.z, w.x, w.y, w.z];
                    let mut six = [0.0; 6];
                    let look = |s: Source| if let Source::Own(k) = s { own[k as usize] } else { self.look_up(s) };
                    formula.eval(look, &mut six);
                    let R = R.transpose();
                    let force = R * Vec3::new(six[0], six[1], six[2]);
                    push(on, kin.p, Six::new(R * Vec3::new(six[3], six[4], six[5]), force));
                    efforts[k] = force.length();
                }
                ForceKind::Spring { ends, stiffness, damping, rest, law: Some(law), rope } => {
                    let [f1, f2] = [0, 1].map(|k| self.anchored(&ends[k], false));
                    let tension = |length: f64, stretch: f64, rate: f64| {
                        let own = [length, stretch, rate];
                        law.value(|s| if let Source::Own(k) = s { own[k as usize] } else { self.look_up(s) })
                    };
                    let (on_2, effect) = spring(&f1, &f2, *stiffness, *damping, *rest, Some(&tension), *rope);
                    push(&ends[1], f2.p, Six::new(Vec3::ZERO, on_2));
                    push(&ends[0], f1.p, Six::new(Vec3::ZERO, -on_2));
                    efforts[k] = effect.effort;
                }
                ForceKind::Torque { at, value, limit } => {
                    let tau = value.value(|s| self.look_up(s)).clamp(-limit, *limit);
                    forces.push((k as u32, *at, tau));
                    efforts[k] = tau;
                }
                ForceKind::Motion { at, value } => {
                    let q = self.state.machines[at.mechanism as usize].q[at.coordinate as usize];
                    let rate = (value.value_and_rate(t + h).0 - q) / h;
                    self.machines[at.mechanism as usize].given[at.coordinate as usize] = Some(rate);
                    held.push((k as u32, *at, 0.0));
                }
                ForceKind::Speed { at, value, limit } if limit.is_infinite() => {
                    let rate = value.value_and_rate(t + h).0;
                    self.machines[at.mechanism as usize].given[at.coordinate as usize] = Some(rate);
                    held.push((k as u32, *at, 0.0));
                }
                _ => {}
            }
        }
        for (_, body, load) in loads.iter() {
            self.loads[*body as usize] = self.loads[*body as usize] + *load;
        }
        for (_, at, tau) in forces.iter() {
            self.machines[at.mechanism as usize].tau[at.coordinate as usize] += tau;
        }
        self.load_grains();
        self.elements = elements;
    }

    /// Rows of force elements.
    pub(super) fn element_rows(&mut self, rows: &mut Rows) {
        let model = self.model;
        let mut list = std::mem::take(&mut self.elements.rows);
        list.clear();
        self.elements.first = rows.rows.len();
        for (k, element) in model.forces.iter().enumerate() {
            if !self.state.actions.on[k] {
                continue;
            }
            match &element.kind {
                ForceKind::Spring { ends, stiffness, damping, rest, law: None, rope } => {
                    let [f1, f2] = [0, 1].map(|k| self.anchored(&ends[k], false));
                    self.spring_row(k, ends, [f1, f2], [*stiffness, *damping, *rest], *rope, rows, &mut list);
                }
                ForceKind::Bushing { ends, .. } => self.bushing_rows(k, ends, rows, &mut list),
                kind => {
                    if let Some(at) = kind.at() {
                        self.drive_row(k, kind, at, rows, &mut list);
                    }
                }
            }
        }
        self.elements.rows = list;
        self.hold();
    }

    /// Appends a row of element `k`: spring and damper evaluated at the end of the step, lambda = -h (k (phi + h J u+) + c J u+):
    ///   eps = 1/(h (k h + c)),   gamma = k h/(k h + c),   b = v - gamma phi/h.
    #[expect(clippy::too_many_arguments, reason = "to be cut: a spring between two ends")]
    fn strut(
        &self,
        k: usize,
        part: u8,
        [stiffness, damping]: [f64; 2],
        phi: f64,
        bounds: [f64; 2],
        bodies: [Option<usize>; 2],
        J: [Six; 2],
        rows: &mut Rows,
        list: &mut Vec<ElementRow>,
    ) {
        let h = self.h;
        let hardness = stiffness * h + damping;
        if hardness <= 0.0 {
            return;
        }
        let bounded = bounds[0].is_finite() || bounds[1].is_finite();
        // what can only push or pull acts before it is reached: it may close the gap, no more
        let open = bounded && (bounds[0] == 0.0 && phi > 0.0 || bounds[1] == 0.0 && phi < 0.0);
        let gamma = if open { 1.0 } else { stiffness * h / hardness };
        let row = Row {
            target: -gamma * phi / h,
            compliance: 1.0 / (h * hardness),
            lower: bounds[0],
            upper: bounds[1],
            lambda: if bounded { self.impulse(k) } else { f64::NAN },
            ..Row::default()
        };
        self.push_row(rows, bodies, J, row, Owner::Element(k as u32), Follow::NONE);
        let stored = self.energy(k, part);
        list.push(ElementRow { element: k as u32, part, damping, stored, bound: f64::INFINITY });
    }

    /// Impulse of element `k` in the last step, NaN if there was none.
    fn impulse(&self, k: usize) -> f64 {
        self.state.elements.impulses[k].unwrap_or(f64::NAN)
    }

    /// Derivative of axis . (velocity of a body's point) by the body's velocity.
    fn at_point(&self, anchor: &Anchor, point: Vec3, axis: Vec3) -> (Option<usize>, Six) {
        let body = anchor.body.map(|b| b as usize);
        let arm = point - body.map_or(Vec3::ZERO, |b| self.kin[b].p);
        (body, Six::new(arm.cross(axis), axis))
    }

    #[expect(clippy::too_many_arguments, reason = "to be cut: a spring between two ends")]
    fn spring_row(
        &self,
        k: usize,
        ends: &[Anchor; 2],
        [f1, f2]: [Kinematics; 2],
        [stiffness, damping, rest]: [f64; 3],
        rope: bool,
        rows: &mut Rows,
        list: &mut Vec<ElementRow>,
    ) {
        let d = f2.p - f1.p;
        let length = d.length();
        if length == 0.0 {
            return;
        }
        let axis = d / length;
        let phi = length - rest;
        let (b1, J1) = self.at_point(&ends[0], f1.p, -axis);
        let (b2, J2) = self.at_point(&ends[1], f2.p, axis);
        if rope && phi < 0.0 {
            let ahead = [(b1, J1), (b2, J2)]
                .into_iter()
                .filter_map(|(b, J)| b.map(|b| J.dot(&self.coasted[b]).max(J.dot(&six(&self.kin[b])))))
                .sum::<f64>();
            if phi + REACH * self.h * ahead < 0.0 {
                return;
            }
        }
        let bounds = [f64::NEG_INFINITY, if rope { 0.0 } else { f64::INFINITY }];
        self.strut(k, 0, [stiffness, damping], phi, bounds, [b1, b2], [J1, J2], rows, list);
    }

    /// Rows along the axes of frame 1; springs about the directions in which the rotation vector grows, dampers about the axes.
    fn bushing_rows(&self, k: usize, ends: &[Anchor; 2], rows: &mut Rows, list: &mut Vec<ElementRow>) {
        let ForceKind::Bushing { stiffness, damping, turning_stiffness, turning_damping, .. } =
            &self.model.forces[k].kind
        else {
            return;
        };
        let [f1, f2] = [0, 1].map(|k| self.anchored(&ends[k], false));
        let bodies = [0, 1].map(|s| ends[s].body.map(|b| b as usize));
        let any = [f64::NEG_INFINITY, f64::INFINITY];
        let R1 = f1.R.transpose();
        let d = R1 * (f2.p - f1.p);
        let theta = rotation_vector(&(R1 * f2.R));
        for i in 0..3 {
            let mut unit = Vec3::ZERO;
            unit[i] = 1.0;
            let axis = f1.R * unit;
            let J = [self.at_point(&ends[0], f2.p, -axis).1, self.at_point(&ends[1], f2.p, axis).1];
            self.strut(k, i as u8, [stiffness[i], damping[i]], d[i], any, bodies, J, rows, list);
            let turn = |axis: Vec3| [Six::new(-axis, Vec3::ZERO), Six::new(axis, Vec3::ZERO)];
            let grows = f1.R * inverse_left_jacobian_transposed(theta, unit);
            self.strut(k, 3 + i as u8, [turning_stiffness[i], 0.0], theta[i], any, bodies, turn(grows), rows, list);
            self.strut(k, 6 + i as u8, [0.0, turning_damping[i]], 0.0, any, bodies, turn(axis), rows, list);
        }
    }

    /// The row of what acts on a coordinate.
    fn drive_row(&self, k: usize, kind: &ForceKind, at: At, rows: &mut Rows, list: &mut Vec<ElementRow>) {
        let (model, h, t) = (self.model, self.h, self.state.time);
        let (m, i) = (at.mechanism as usize, at.coordinate as usize);
        let machine = &self.machines[m];
        let Some(l) = model.mechanisms[m].links.iter().position(|l| (l.first..l.first + l.count).contains(&i)) else {
            return;
        };
        if machine.given[i].is_some() || matches!(machine.work.modes[i], Mode::Given(_)) {
            // it moves as it is told, whatever acts on it
            if !matches!(kind, ForceKind::Coordinate { .. } | ForceKind::Position { .. }) {
                return;
            }
        }
        let both = coordinate_row(model, m, l, machine.dual[i], machine.work.links[l].r);
        let (bodies, J) = (both.map(|(b, _)| b), both.map(|(_, J)| J));
        let q = self.state.machines[m].q[i];
        let limited = |target: f64, limit: f64, rows: &mut Rows, list: &mut Vec<ElementRow>| {
            let row = Row { target, lower: -limit * h, upper: limit * h, lambda: self.impulse(k), ..Row::default() };
            self.push_row(rows, bodies, J, row, Owner::Element(k as u32), Follow::NONE);
            let bound = limit * h;
            list.push(ElementRow { element: k as u32, part: 0, damping: 0.0, stored: 0.0, bound });
        };
        match kind {
            ForceKind::Coordinate { stiffness, damping, rest, .. } => {
                let any = [f64::NEG_INFINITY, f64::INFINITY];
                self.strut(k, 0, [*stiffness, *damping], q - rest, any, bodies, J, rows, list);
            }
            ForceKind::Position { value, stiffness, damping, limit, .. } => {
                let wanted =
                    if value.is_of_time() { value.value_and_rate(t + h).0 } else { value.value(|s| self.look_up(s)) };
                let bounds = [-limit * h, limit * h];
                let before = list.len();
                self.strut(k, 0, [*stiffness, *damping], q - wanted, bounds, bodies, J, rows, list);
                if let Some(row) = list.get_mut(before) {
                    row.bound = limit * h;
                }
            }
            ForceKind::Friction { sliding, sticking, .. } => {
                let mode = self.state.actions.modes[k];
                let sticks = mode.held || mode.sense == 0.0 && self.state.machines[m].u[i] == 0.0;
                limited(0.0, if sticks { *sticking } else { *sliding }, rows, list);
            }
            ForceKind::Speed { value, limit, .. } if limit.is_finite() => {
                limited(value.value_and_rate(t + h).0, *limit, rows, list);
            }
            ForceKind::Stop { bounds, stiffness, exponent, restitution, damping, .. } => {
                let inertia = self.inertia_along(m, l, i);
                let (u, ahead) = (self.state.machines[m].u[i], machine.u_free[i]);
                for part in 0..2_u8 {
                    let bound = bounds[part as usize];
                    if !bound.is_finite() {
                        continue;
                    }
                    let sense = if part == 0 { 1.0 } else { -1.0 };
                    let gap = sense * (q - bound);
                    let closing = -sense * u;
                    if gap > REACH * h * closing.max(-sense * ahead).max(0.0) {
                        continue;
                    }
                    let J = J.map(|J| J * sense);
                    let (n, mode) = (*exponent, self.state.actions.modes[k]);
                    let speed = if mode.held { mode.speed } else { closing };
                    // m v^2/2 = k depth^(n+1)/(n+1), and back in about three times depth/v
                    let depth = libm::pow(0.5 * (n + 1.0) * inertia * speed * speed / stiffness, 1.0 / (n + 1.0));
                    let resolved = speed > 0.0 && 3.0 * depth > RESOLVED * h * speed;
                    // what presses it there changes the speed by this much per step
                    let gained = (ahead - u).abs();
                    let before = list.len();
                    if !resolved && closing > 2.0 * gained + LEAST_REBOUND && gap <= closing * h {
                        let row = Row {
                            target: restitution * closing,
                            upper: f64::INFINITY,
                            lambda: f64::NAN,
                            ..Row::default()
                        };
                        self.push_row(rows, bodies, J, row, Owner::Element(k as u32), Follow::NONE);
                        let stored = self.energy(k, part);
                        let (element, bound) = (k as u32, closing);
                        list.push(ElementRow { element, part, damping: 0.0, stored, bound });
                        continue;
                    }
                    let rest = libm::pow(inertia * gained / h / stiffness, 1.0 / n);
                    let depth = (-gap).max(closing * h - gap).max(rest).max(1e-9);
                    let secant = stiffness * libm::pow(depth, n - 1.0);
                    let c = if resolved && gap < 0.0 { damping * secant * depth / speed } else { 0.0 };
                    self.strut(k, part, [secant, c], gap, [0.0, f64::INFINITY], bodies, J, rows, list);
                    if let Some(row) = list.get_mut(before) {
                        row.bound = closing;
                    }
                }
            }
            _ => {}
        }
    }

    /// Inertia of a link along one of its coordinates [kg or kg m^2].
    fn inertia_along(&self, m: usize, l: usize, i: usize) -> f64 {
        let body = self.model.mechanisms[m].links[l].body as usize;
        let (S, R) = (self.machines[m].work.S[i], self.kin[body].R);
        let w_b = R.transpose() * S.angular;
        let body = &self.model.bodies[body];
        body.mass * S.linear.length_squared() + w_b.dot(body.I_c * w_b)
    }

    /// Force that the free motion needs on coordinates whose rate is given.
    fn hold(&mut self) {
        for (_, at, force) in &mut self.elements.held {
            let (m, i) = (at.mechanism as usize, at.coordinate as usize);
            let machine = &self.machines[m];
            let mechanism = &self.model.mechanisms[m];
            let link = mechanism.links.iter().position(|l| (l.first..l.first + l.count).contains(&i));
            *force = 0.0;
            if let Some(l) = link.filter(|_| machine.smooth) {
                *force = machine.work.S[i].dot(&machine.reactions[l]) - machine.tau[i];
                for (row, lambda) in machine.work.rows.iter().zip(&machine.work.lambda) {
                    if let Some(c) = row.owner.checked_sub(mechanism.loops.len()) {
                        let terms = &mechanism.couplings[c].coupling.terms;
                        *force -= terms.iter().filter(|t| t.coordinate == i).map(|t| t.factor * lambda).sum::<f64>();
                    }
                }
            }
        }
    }

    /// Energy that row `part` of element `k` has stored as things are [J].
    fn energy(&self, k: usize, part: u8) -> f64 {
        let part = part as usize;
        let half = |stiffness: f64, x: f64| 0.5 * stiffness * x * x;
        match &self.model.forces[k].kind {
            ForceKind::Spring { ends, stiffness, rest, law: None, rope, .. } if part == 0 => {
                let [f1, f2] = [0, 1].map(|k| self.anchored(&ends[k], true));
                let stretch = (f2.p - f1.p).length() - rest;
                half(*stiffness, if *rope { stretch.max(0.0) } else { stretch })
            }
            ForceKind::Bushing { ends, stiffness, turning_stiffness, .. } => {
                let [f1, f2] = [0, 1].map(|k| self.anchored(&ends[k], true));
                let R1 = f1.R.transpose();
                match part {
                    0..3 => half(stiffness[part], (R1 * (f2.p - f1.p))[part]),
                    3..6 => half(turning_stiffness[part - 3], rotation_vector(&(R1 * f2.R))[part - 3]),
                    _ => 0.0,
                }
            }
            ForceKind::Coordinate { at, stiffness, rest, .. } if part == 0 => {
                half(*stiffness, self.state.machines[at.mechanism as usize].q[at.coordinate as usize] - rest)
            }
            ForceKind::Stop { at, bounds, stiffness, exponent, .. } if part < 2 => {
                let q = self.state.machines[at.mechanism as usize].q[at.coordinate as usize];
                let depth = if part == 0 { bounds[0] - q } else { q - bounds[1] };
                if depth > 0.0 { stiffness * libm::pow(depth, exponent + 1.0) / (exponent + 1.0) } else { 0.0 }
            }
            _ => 0.0,
        }
    }

    /// Energy stored in force elements [J].
    pub(super) fn stored(&self) -> f64 {
        (0..self.model.forces.len())
            .filter(|&k| self.state.actions.on[k])
            .map(|k| (0..6).map(|part| self.energy(k, part)).sum::<f64>())
            .sum()
    }

    /// Efforts, modes and events of elements after the solution.
    pub(super) fn settle_elements(&mut self) {
        let (model, h, time) = (self.model, self.h, self.state.time);
        let mut elements = std::mem::take(&mut self.elements);
        for (own, row) in elements.rows.iter().zip(&self.rows.rows[elements.first..]) {
            let k = own.element as usize;
            let kind = &model.forces[k].kind;
            let effort = row.lambda / h;
            self.state.elements.impulses[k] = Some(row.lambda);
            elements.efforts[k] = match kind {
                ForceKind::Spring { .. } => -effort,
                ForceKind::Bushing { .. } if own.part < 3 => libm::hypot(elements.efforts[k], effort),
                ForceKind::Bushing { .. } => elements.efforts[k],
                ForceKind::Stop { .. } if own.part == 1 => elements.efforts[k] - effort,
                ForceKind::Stop { .. } => elements.efforts[k] + effort,
                _ => effort,
            };
            let mode = &mut self.state.actions.modes[k];
            let was = *mode;
            let within = row.lambda.abs() < own.bound * (1.0 - AT_BOUND);
            let event = match kind {
                ForceKind::Friction { .. } => {
                    mode.held = within;
                    mode.sense = if within && was.sense == 0.0 { 1.0 } else { -row.lambda.signum() };
                    [EventKind::JointSlip, EventKind::JointStick]
                }
                ForceKind::Speed { .. } => {
                    mode.held = within;
                    mode.sense = row.lambda.signum();
                    [EventKind::MotorLimit, EventKind::MotorHold]
                }
                ForceKind::Stop { .. } => {
                    if row.lambda > 0.0 {
                        mode.held = true;
                        if !was.held {
                            mode.speed = own.bound.max(0.0);
                        }
                    }
                    [EventKind::StopEnd, EventKind::StopStart]
                }
                _ => continue,
            };
            let first = was.sense == 0.0 && !matches!(kind, ForceKind::Stop { .. });
            if mode.held != was.held && !first {
                let kind = event[usize::from(mode.held)];
                let source = Some(model.forces[k].name.clone());
                self.events.push(Event { time, kind, source, contact: None });
            }
        }
        for (k, element) in model.forces.iter().enumerate() {
            let pushes = || {
                let rows = elements.rows.iter().zip(&self.rows.rows[elements.first..]);
                rows.filter(|(own, _)| own.element as usize == k).any(|(_, row)| row.lambda > 0.0)
                    || self.energy(k, 0) + self.energy(k, 1) > 0.0
            };
            if matches!(element.kind, ForceKind::Stop { .. }) && self.state.actions.modes[k].held && !pushes() {
                self.state.actions.modes[k] = Default::default();
                let source = Some(element.name.clone());
                self.events.push(Event { time, kind: EventKind::StopEnd, source, contact: None });
            }
        }
        for (k, at, force) in &elements.held {
            elements.efforts[*k as usize] =
                force + self.held_impulse(*at, &elements.held).map_or(0.0, |(lambda, _)| lambda / h);
        }
        self.elements = elements;
    }

    /// Impulse on a coordinate whose rate is given, and its row {partition, group, row}.
    fn held_impulse(&self, at: At, held: &[(u32, At, f64)]) -> Option<(f64, [usize; 3])> {
        let (m, i) = (at.mechanism as usize, at.coordinate as usize);
        let machine = &self.machines[m];
        let l = self.model.mechanisms[m].links.iter().position(|l| (l.first..l.first + l.count).contains(&i))?;
        let link = &self.model.mechanisms[m].links[l];
        for (p, partition) in self.partitions.iter().enumerate().filter(|(_, p)| p.active) {
            let owned = |o: &(u32, u32, [Six; 6])| o.0 as usize == m && o.1 as usize == l;
            let Some(g) = partition.owners.iter().position(owned) else { continue };
            let group = &partition.problem.groups[g];
            let given = |j: usize| {
                let told = |(_, at, _): &(u32, At, f64)| at.mechanism as usize == m && at.coordinate as usize == j;
                held.iter().any(told) || matches!(machine.work.modes[j], Mode::Given(_))
            };
            let after = (i..link.first + link.count).filter(|&j| given(j)).count();
            let r = group.count.checked_sub(after)?;
            return Some((group.lambda[r], [p, g, r]));
        }
        None
    }
}

impl Clock<'_> {
    /// Energies of the rows of elements: what springs store, what dampers and friction take, what drives put in. `mean` are the
    /// mean velocities of the bodies in the step.
    pub(super) fn book_elements(&mut self, mean: &[Six], ledger: &mut Ledger, elastic: &mut f64, before: &mut f64) {
        let (model, h) = (self.model, self.h);
        for (k, own) in self.elements.rows.iter().enumerate() {
            let at = self.elements.first + k;
            let row = &self.rows.rows[at];
            let (mut rate, mut start) = (row.given, row.given);
            for s in (0..2).filter(|&s| row.bodies[s] != GROUND) {
                let b = row.bodies[s] as usize;
                rate += dot(&row.J[s], mean[b]);
                start += dot(&row.J[s], six(&self.kin[b]));
            }
            let work = row.lambda * rate;
            let e = own.element as usize;
            let stored = self.energy(e, own.part);
            *before += own.stored;
            *elastic += stored;
            let lost = -work - (stored - own.stored);
            let energy = &mut self.state.actions.energies[e];
            match model.forces[e].kind.book() {
                Book::Work => {
                    ledger.work += work;
                    *energy += work;
                }
                Book::Friction => {
                    ledger.joint_friction += lost;
                    *energy += lost;
                }
                Book::Damping => {
                    let one_sided = row.lower == 0.0 || row.upper == 0.0;
                    // the damper's share of the force; the rest is the error of the step
                    let damped = if one_sided { lost } else { h * own.damping * (2.0 * rate - start) * rate };
                    ledger.damping += damped;
                    ledger.integration += lost - damped;
                    *energy += damped;
                }
            }
        }
    }

    /// Work of loads, of forces on coordinates, of given motions, and of joints on bodies whose motion is given.
    pub(super) fn book_loads(&mut self, mean: &[Six], ledger: &mut Ledger) {
        let h = self.h;
        let elements = std::mem::take(&mut self.elements);
        let energies = |clock: &mut Self, k: u32, work: f64| clock.state.actions.energies[k as usize] += work;
        for &(k, body, load) in &elements.loads {
            let work = h * load.dot(&mean[body as usize]);
            ledger.work += work;
            energies(self, k, work);
        }
        for &(k, at, force) in elements.forces.iter().chain(&elements.held) {
            let work = h * force * self.mean_rate(at, mean);
            ledger.work += work;
            ledger.integration += work;
            energies(self, k, work);
        }
        let mut told = 0.0;
        for &(k, at, _) in &elements.held {
            let Some((lambda, [p, g, r])) = self.held_impulse(at, &elements.held) else { continue };
            let work = lambda * self.group_rate(p, g, r, mean);
            told += work;
            ledger.work += work;
            energies(self, k, work);
        }
        let mut exact = 0.0;
        for (p, partition) in self.partitions.iter().enumerate().filter(|(_, p)| p.active) {
            for (g, group) in partition.problem.groups.iter().enumerate() {
                exact += (0..group.count).map(|r| group.lambda[r] * self.group_rate(p, g, r, mean)).sum::<f64>();
            }
        }
        // exact rows do no work but by the step's error
        ledger.integration -= exact - told;
        self.elements = elements;
    }

    /// Mean rate of a coordinate in the step.
    fn mean_rate(&self, at: At, mean: &[Six]) -> f64 {
        let (m, i) = (at.mechanism as usize, at.coordinate as usize);
        let mechanism = &self.model.mechanisms[m];
        let Some(l) = mechanism.links.iter().position(|l| (l.first..l.first + l.count).contains(&i)) else {
            return 0.0;
        };
        let machine = &self.machines[m];
        let row = coordinate_row(self.model, m, l, machine.dual[i], machine.work.links[l].r);
        row.into_iter().filter_map(|(b, J)| b.map(|b| J.dot(&mean[b]))).sum()
    }

    /// J times the mean velocities of a row of an exact group.
    fn group_rate(&self, p: usize, g: usize, r: usize, mean: &[Six]) -> f64 {
        let partition = &self.partitions[p];
        let group = &partition.problem.groups[g];
        (0..4)
            .filter(|&s| group.bodies[s] != GROUND)
            .map(|s| {
                let u = flat(mean[partition.bodies[group.bodies[s] as usize] as usize]);
                (0..6).map(|j| group.J[s][6 * r + j] * u[j]).sum::<f64>()
            })
            .sum()
    }
}

fn dot(J: &[f64; 6], u: Six) -> f64 {
    let u = flat(u);
    (0..6).map(|i| J[i] * u[i]).sum()
}

fn six(kin: &Kinematics) -> Six {
    Six::new(kin.w, kin.v)
}
