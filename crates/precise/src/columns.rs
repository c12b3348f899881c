//! Columns of the Jacobian by the states of bodies that hang on nothing and feel nothing but weight, what a program pushes with, and force elements
//! that see no more than their frames move: joints of cables, bushings. Such a body is moved by one state after the other, and only its own
//! rates and those of its elements are asked again, not those of the whole island: a chain of n bodies costs n times what one costs, where differences of all
//! rates cost that for each colour and state.

use super::actions::LocalElement;
use super::dynamics::Dynamics;
use super::layout::{BODY_STATES, SPEED_FLOOR};
use super::system::{toward, turning_side};
use tippe_geometry::{Mat3, Quat, Vec3};
use tippe_mechanics::element::{Action, MOST_ACCOUNTS, Sight, Wrench};
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::{Kinematics, turned};
use tippe_mechanics::model::Model;
use tippe_numerics::Jacobian;

/// A shift, as a share of the size of the body, and a turn [rad]: springs are nearly linear there, and rounding is small beside it [-].
const SHARE: f64 = 1e-7;
/// A change of velocity, as a share of the velocity and of the slowest that counts [-].
const SPEED_SHARE: f64 = 1e-6;

/// Which columns go so, and room to find them.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    /// By node.
    pub(super) written: Vec<bool>,
    /// Elements on each body, by local index.
    on: Vec<Vec<u32>>,
    /// What an element does, at first and moved.
    action: Action,
    /// {torque, force} on the body of each of its frames, at first and moved.
    loads: [Vec<Six>; 2],
    /// Where its frames are at first.
    frames: Sight,
}

impl Dynamics {
    /// Chooses the bodies whose columns go so; those of nodes that something touches go by differences.
    pub(super) fn choose_columns(&mut self, model: &Model, touched: &[bool]) {
        let mut on = vec![Vec::new(); self.bodies.len()];
        let mut written = vec![false; self.pattern.nodes()];
        for (k, &node) in self.node_of.iter().enumerate() {
            let body = self.bodies[k];
            let is_sensed = || model.sensors.iter().any(|sensor| sensor.ends.iter().any(|end| end.body == Some(body)));
            let bare = self.link_of[k].is_none() && self.pattern.size(node) == BODY_STATES && !touched[node];
            written[node] = bare && self.resisting.get(k).is_none_or(Vec::is_empty) && !is_sensed();
        }
        for (index, local) in self.actions.elements.iter().enumerate() {
            let element = &model.elements[local.element as usize];
            let own: Vec<usize> = element.bodies.iter().filter_map(|b| self.bodies.binary_search(b).ok()).collect();
            let apart = own.iter().all(|&k| self.link_of[k].is_none()) && element.states.is_empty();
            let plain = apart && element.kind.sees_frames_alone();
            for k in own {
                on[k].push(index as u32);
                written[self.node_of[k]] &= plain;
            }
        }
        for (own, &node) in on.iter().zip(&self.node_of) {
            written[node] &= !own.is_empty();
        }
        (self.columns.written, self.columns.on) = (written, on);
    }

    /// Writes those columns at (t, y), the place of the last evaluation, into `J`.
    pub(super) fn write_columns(&mut self, model: &Model, t: f64, y: &[f64], J: &mut Jacobian) {
        if !self.columns.written.contains(&true) {
            return;
        }
        // bodies may have been elsewhere for a sample since the last evaluation
        self.locate(model, t, y);
        if !self.actions.is_empty() {
            self.exert(model, t, y, &mut []);
        }
        let mut columns = std::mem::take(&mut self.columns);
        for k in 0..self.bodies.len() {
            if !columns.written[self.node_of[k]] || self.gone[k] {
                continue;
            }
            self.write_body(model, k, y, J);
            for i in 0..columns.on[k].len() {
                self.write_element(model, (k, columns.on[k][i] as usize), &mut columns, J);
            }
        }
        self.columns = columns;
    }

    /// Writes what an element answers where body `k` is elsewhere, or moves otherwise, by a little.
    fn write_element(&self, model: &Model, (k, index): (usize, usize), columns: &mut Columns, J: &mut Jacobian) {
        let local = &self.actions.elements[index];
        if !local.on {
            return;
        }
        let element = &model.elements[local.element as usize];
        let (node, body) = (self.node_of[k], &model.bodies[self.bodies[k] as usize]);
        let home = element.home.and_then(|body| self.bodies.binary_search(&body).ok()).map(|k| self.node_of[k]);
        columns.frames.t = local.sight.t;
        columns.frames.frames.clear();
        columns.frames.frames.extend_from_slice(&local.sight.frames);
        let here = self.kinematics[k];
        let at_first = self.ask(model, local, (k, &here), columns, 0);
        for c in 0..BODY_STATES {
            let delta = increment(c, &here, body.size.max(1e-9));
            let moved = moved(&here, (body.oriented, body.isotropic), c, delta);
            for (frame, anchor) in columns.frames.frames.iter_mut().zip(element.kind.attached().frames) {
                if anchor.body == Some(self.bodies[k]) {
                    *frame = moved.of_frame(anchor.p, &anchor.R);
                }
            }
            let powers = self.ask(model, local, (k, &moved), columns, 1);
            for (frame, anchor) in element.kind.attached().frames.iter().enumerate() {
                let Some(other) = anchor.body.and_then(|body| self.bodies.binary_search(&body).ok()) else { continue };
                let change = (columns.loads[1][frame] - columns.loads[0][frame]) * (1.0 / delta);
                self.write_change(model, other, (node, c), change, J);
            }
            if let Some(home) = home
                && let Some(slot) = self.pattern.slot(home, node)
            {
                let first = local.integral - self.integral_starts[home];
                let rows = J.quadratures_mut(home, slot);
                for account in 0..element.accounts.len() {
                    rows[(first + account) * BODY_STATES + c] += (powers[account] - at_first[account]) / delta;
                }
            }
        }
    }

    /// Asks an element what it does where its frames are now, and body `k` moves like this: {torque, force} about the centres of mass, frame by
    /// frame, into `loads[place]`; its powers [W].
    fn ask(
        &self,
        model: &Model,
        local: &LocalElement,
        (k, moved): (usize, &Kinematics),
        columns: &mut Columns,
        place: usize,
    ) -> [f64; MOST_ACCOUNTS] {
        let element = &model.elements[local.element as usize];
        let Columns { action, loads, frames, .. } = columns;
        action.clear(0, 0);
        element.kind.act(&frames.seen((&local.modes, &local.kept), local.holding, &|_| 0.0), action);
        let anchors = element.kind.attached().frames;
        loads[place].clear();
        loads[place].resize(anchors.len(), Six::ZERO);
        for Wrench { frame, at, on } in &action.wrenches {
            let Some(other) = anchors[*frame].body.and_then(|body| self.bodies.binary_search(&body).ok()) else {
                continue;
            };
            let p = if other == k { moved.p } else { self.kinematics[other].p };
            let load = &mut loads[place][*frame];
            *load = *load + Six::new(on.angular + (*at - p).cross(on.linear), on.linear);
        }
        action.effect.powers
    }

    /// Writes what a change of the load on body `k` by a state does to its rates.
    fn write_change(&self, model: &Model, k: usize, (node, column): (usize, usize), change: Six, J: &mut Jacobian) {
        let own = self.node_of[k];
        let Some(slot) = self.pattern.slot(own, node) else { return };
        if self.gone[k] {
            return;
        }
        let (body, R) = (&model.bodies[self.bodies[k] as usize], &self.kinematics[k].R);
        let axes = if body.isotropic { change.angular } else { R.transpose() * change.angular };
        let (linear, angular) = (change.linear / body.mass, body.I_c_inverse * axes);
        let block = J.states.block_mut(own, slot, BODY_STATES * BODY_STATES);
        for i in 0..3 {
            block[(6 + i) * BODY_STATES + column] += linear[i];
            block[(9 + i) * BODY_STATES + column] += angular[i];
        }
    }
}

/// By how much a state of a body of this size [m] is changed: centre of mass, Gibbs vector, velocity, angular velocity, as it moves.
fn increment(column: usize, here: &Kinematics, size: f64) -> f64 {
    let i = column % 3;
    match column / 3 {
        0 => toward(SHARE * size, here.v[i], here.p[i]),
        1 => toward(SHARE, here.w[i], turning_side(here.p)[i]),
        2 => toward(SPEED_SHARE * here.v.length().max(SPEED_FLOOR), here.v[i], here.p[i]),
        _ => toward(SPEED_SHARE * here.w.length().max(SPEED_FLOOR / size), here.w[i], turning_side(here.p)[i]),
    }
}

/// A body at the start of a step, where its frame turns with it, with one of its states changed. E(g) turns it, and its angular velocity with it where
/// that is a state in its own axes; so is the change of the last.
fn moved(here: &Kinematics, (oriented, isotropic): (bool, bool), column: usize, delta: f64) -> Kinematics {
    let mut change = Vec3::ZERO;
    change[column % 3] = delta;
    match column / 3 {
        0 => Kinematics { p: here.p + change, ..*here },
        1 if !oriented => *here,
        1 => {
            let E = Mat3::from_quat(turned(change, Quat::IDENTITY));
            Kinematics { R: E * here.R, w: if isotropic { here.w } else { E * here.w }, ..*here }
        }
        2 => Kinematics { v: here.v + change, ..*here },
        _ => Kinematics { w: here.w + if isotropic { change } else { here.R * change }, ..*here },
    }
}

#[cfg(test)]
mod tests {
    use super::super::system::Bound;
    use super::super::whole::Whole;
    use super::*;
    use tippe_mechanics::kinematics::Frame;
    use tippe_numerics::System;
    use tippe_scene::Scene;

    /// A stiff rope, bent, that swings a load, and a weight on a bushing at it.
    const ROPE: &str = r#"
        format = 1
        [world]
        gravity = [0, 0, -9.81]
        [[body]]
        name = "load"
        mass = 20
        inertia = [1, 2, 3]
        position = [1.5, 0.3, -0.4]
        velocity = [0.3, -0.2, 0.11]
        angular_velocity = [0.4, 0.3, -0.7]
        [[body]]
        name = "weight"
        mass = 30
        inertia = [2, 2, 2]
        position = [3, 1, -2]
        velocity = [0.1, 0.4, -0.3]
        [[force]]
        name = "bushing"
        kind = "bushing"
        between = ["load", "weight"]
        at = [2, 0.5, -1]
        stiffness = [100, 200, 300]
        damping = [10, 20, 30]
        turning_stiffness = [10, 20, 30]
        turning_damping = [1, 2, 3]
        [[cable]]
        name = "rope"
        spans = "flexible"
        points = [{ kind = "end", on = "world", at = [0, 0, 0], clamped = true }, { kind = "end", on = "load", clamped = true }]
        diameter = "20 mm"
        axial_stiffness = 1e4
        bending_stiffness = 5
        mass_per_length = 2
        damping = 100
        length = 1.5
        elements = 4
        collide = false
    "#;

    /// Every column and the rows of the books against differences of all rates.
    #[test]
    fn columns_body_by_body_are_those_of_all_rates() {
        let scene = Scene::parse("rope.toml", ROPE, &[]).expect("a scene");
        let model = tippe_mechanics::model::Model::compile(&scene).expect("a model");
        let Whole { model, mut dynamics, mut inner, .. } = Whole::new(&model);
        let (states, n) = (dynamics.pattern.rows(), dynamics.length());
        for (k, state) in inner[..states].iter_mut().enumerate() {
            let part = k % BODY_STATES;
            // the start of a step: frames turn with their bodies
            *state += if (3..6).contains(&part) { 0.0 } else { 0.05 * libm::sin(1.7 * k as f64) };
        }
        dynamics.locate(&model, 0.0, &inner);
        for k in 0..dynamics.bodies.len() {
            dynamics.frames[k] = Frame { rate: dynamics.kinematics[k].w, ..dynamics.frames[k] };
        }
        dynamics.couple(&model);
        let nodes = dynamics.pattern.nodes();
        let mut bound = Bound { model: &model, dynamics: &mut dynamics };
        assert!((0..nodes).all(|node| bound.writes(node)));
        let mut here = vec![0.0; n];
        bound.rates(0.0, &inner, &mut here);
        let mut J = Jacobian::new(&bound);
        assert!(!bound.jacobian(0.0, &inner, &mut J));
        for node in 0..nodes {
            for c in 0..BODY_STATES {
                let column = bound.dynamics.pattern.offsets[node] + c;
                let shifted = |by: f64| {
                    let mut y = inner.clone();
                    y[column] += by;
                    y
                };
                let mut rates = |y: &[f64]| {
                    let mut f = vec![0.0; n];
                    bound.rates(0.0, y, &mut f);
                    f
                };
                let (up, down) = (rates(&shifted(1e-5)), rates(&shifted(-1e-5)));
                let slope: Vec<f64> = up.iter().zip(&down).map(|(up, down)| (up - down) / 2e-5).collect();
                let mut ours = vec![0.0; states];
                let mut unit = vec![0.0; n];
                unit[column] = 1.0;
                J.states.multiply(&bound.dynamics.pattern, &unit, &mut ours);
                let size = slope.iter().fold(1e-3, |most: f64, s| most.max(s.abs()));
                for i in 0..states {
                    let error = (ours[i] - slope[i]).abs();
                    assert!(error < 1e-5 * size, "rate {i} by state {c} of node {node}: {} and {}", ours[i], slope[i]);
                }
                for row in 0..nodes {
                    let Some(slot) = bound.dynamics.pattern.slot(row, node) else { continue };
                    for (r, q) in bound.quadratures(row).enumerate() {
                        let ours = J.quadratures(row, slot)[r * BODY_STATES + c];
                        let error = (ours - slope[states + q]).abs();
                        assert!(
                            error < 1e-5 * size,
                            "book {q} by state {c} of node {node}: {ours} and {}",
                            slope[states + q]
                        );
                    }
                }
            }
        }
    }
}
