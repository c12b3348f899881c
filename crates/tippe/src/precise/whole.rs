//! The whole model as one system of equations for an integrator from outside: its right-hand side, and two functions whose
//! zeros are events (seed 001 section 4). This is the seam a functional mock-up unit is made from.
//!
//! The vector y holds for every free body the place of its centre of mass (3), its orientation w, x, y, z (4), velocity (3)
//! and angular velocity (3), resolved in world, then 7 springs for every pair with elastic stick.

use super::dynamics::{Dynamics, set, vector};
use crate::contact::friction::Springs;
use crate::kinematics::Kinematics;
use crate::model::{Drive, Model};
use tippe_geometry::{Mat3, Quat};

/// States of a body.
const STRIDE: usize = 13;
/// First indicator without a contact, second without a pair that is apart (seed 001 eq. 13, 14) [m].
const NONE: f64 = 42.0;

/// The whole model and its contact set.
#[derive(Clone, Debug)]
pub struct Whole {
    model: Model,
    dynamics: Dynamics,
    length: usize,
    start: Vec<f64>,
    /// Pairs that opened at the last accepted step.
    opening: Vec<bool>,
}

impl Whole {
    /// The model at its start, contacts that already touch in the contact set.
    pub fn new(model: &Model) -> Whole {
        let bodies: Vec<u32> =
            (0..model.bodies.len() as u32).filter(|&b| model.bodies[b as usize].drive == Drive::Free).collect();
        let n = model.elements.len();
        let mut ids = Vec::new();
        for i in 0..n {
            for j in i + 1..n {
                if model.contact_between(i, j).is_some() {
                    ids.push((i as u32, j as u32));
                }
            }
        }
        let mut dynamics = Dynamics::new(model, bodies, &ids, 1.0);
        let length = dynamics.lay_out(STRIDE);
        let mut start = vec![0.0; length];
        for (k, &body) in dynamics.bodies.iter().enumerate() {
            let (s, body) = (&model.start[body as usize], &model.bodies[body as usize]);
            let (o, q) = (STRIDE * k, s.orientation);
            let arm = q * body.p_bc;
            set(&mut start, o, s.position + arm);
            start[o + 3..o + 7].copy_from_slice(&[q.w, q.x, q.y, q.z]);
            set(&mut start, o + 7, s.velocity + s.angular_velocity.cross(arm));
            set(&mut start, o + 10, s.angular_velocity);
        }
        let opening = vec![false; dynamics.pairs.len()];
        let mut whole = Whole { model: model.clone(), dynamics, length, start: Vec::new(), opening };
        whole.rebuild(0.0, &mut start, true);
        whole.start = start;
        whole
    }

    /// Length of y.
    #[allow(clippy::len_without_is_empty)] // never a collection
    pub fn len(&self) -> usize {
        self.length
    }

    /// y at the start of the scene.
    pub fn start(&self) -> Vec<f64> {
        self.start.clone()
    }

    /// dy/dt at (t, y).
    ///
    /// q' = (0, w) q/2; the orientation is used as if it had unit length, and its length does not change.
    pub fn rates(&mut self, t: f64, y: &[f64], dydt: &mut [f64]) {
        self.measure(t, y);
        let d = &self.dynamics;
        for k in 0..d.bodies.len() {
            let o = STRIDE * k;
            let kin = &d.kinematics[k];
            let (linear, mut angular) = d.acceleration(&self.model, k, kin.R.transpose() * kin.w);
            if !self.model.bodies[d.bodies[k] as usize].isotropic {
                angular = kin.R * angular;
            }
            let (q, w) = (orientation(y, o + 3), d.kinematics[k].w);
            let q_dot = Quat::from_xyzw(w.x, w.y, w.z, 0.0) * q * 0.5;
            set(dydt, o, d.kinematics[k].v);
            dydt[o + 3..o + 7].copy_from_slice(&[q_dot.w, q_dot.x, q_dot.y, q_dot.z]);
            set(dydt, o + 7, linear);
            set(dydt, o + 10, angular);
        }
        for pair in &d.pairs {
            Dynamics::set_springs(pair, dydt, &Dynamics::spring_rates(pair));
        }
    }

    /// The two event indicators at (t, y) [m].
    ///
    /// The first is the largest gap of a pair in contact, less its hysteresis: rising through zero, some pair separates. It
    /// also rises through zero where a contact begins or ends to slip or roll. The second is the smallest gap of all other
    /// pairs: falling through zero, some pair begins to touch. -42 and 42 where there is no such pair.
    pub fn indicators(&mut self, t: f64, y: &[f64]) -> [f64; 2] {
        self.measure(t, y);
        let d = &self.dynamics;
        let (mut z1, mut z2) = (-NONE, NONE);
        for (k, pair) in d.pairs.iter().enumerate() {
            let gap = d.gaps[k];
            if !pair.memory.touching {
                z2 = z2.min(gap);
                continue;
            }
            z1 = z1.max(gap - pair.hysteresis);
            if pair.springs.is_some() && gap <= 0.0 {
                let margin = pair.last.friction.slip_margin.max(pair.last.friction.roll_margin);
                z1 = z1.max(pair.scale * margin);
            }
        }
        [z1, z2]
    }

    /// Call it where an indicator has changed its sign, on the far side of the zero: pairs join and leave the contact set,
    /// slip and stick change, memories are set as the precise clock sets them. True if anything changed, springs in y
    /// included; the integrator must then start anew.
    pub fn handle_event(&mut self, t: f64, y: &mut [f64]) -> bool {
        self.rebuild(t, y, false)
    }

    /// Call it after every accepted step, so that contacts with restitution remember their largest closing speed.
    pub fn accept(&mut self, t: f64, y: &[f64]) {
        self.measure(t, y);
        for (pair, opening) in self.dynamics.pairs.iter_mut().zip(&mut self.opening) {
            let speed = if pair.memory.touching && pair.last.gap <= 0.0 { pair.last.closing_speed } else { 0.0 };
            let memory = &mut pair.memory.normal;
            if *opening && speed > 0.0 {
                // a new compression
                memory.impact_speed = 0.0;
            }
            *opening = speed < 0.0;
            memory.impact_speed = memory.impact_speed.max(speed);
        }
    }

    /// Kinematics and readings at (t, y).
    fn measure(&mut self, t: f64, y: &[f64]) {
        let d = &mut self.dynamics;
        for k in 0..d.bodies.len() {
            let o = STRIDE * k;
            let R = Mat3::from_quat(orientation(y, o + 3).normalize());
            d.kinematics[k] = Kinematics { p: vector(y, o), v: vector(y, o + 7), w: vector(y, o + 10), R };
        }
        d.place_externals(&self.model, t);
        d.measure(&self.model, y);
    }

    fn rebuild(&mut self, t: f64, y: &mut [f64], first: bool) -> bool {
        self.measure(t, y);
        let mut changed = false;
        let model = &self.model;
        let d = &mut self.dynamics;
        for k in 0..d.pairs.len() {
            let pair = &d.pairs[k];
            // placed in touch: within what rounding leaves of it
            let rounding = if first { 64.0 * f64::EPSILON * d.kinematics[pair.sides[0]].p.length() } else { 0.0 };
            let reading = pair.read(model, &d.kinematics, &Springs::default(), true);
            match pair.memory.touching {
                true if reading.gap > pair.hysteresis => d.leave(k, y),
                false if reading.gap <= pair.hysteresis.max(rounding) => d.touch(k, &reading, t, y),
                _ => continue,
            }
            changed = true;
        }
        for k in 0..d.pairs.len() {
            let pair = &d.pairs[k];
            if pair.springs.is_none() || !pair.memory.touching || d.gaps[k] > 0.0 {
                continue;
            }
            let (modes, friction) = (pair.memory.modes, pair.last.friction);
            for (slip, moving, margin) in
                [(true, modes.slipping, friction.slip_margin), (false, modes.rolling, friction.roll_margin)]
            {
                if margin >= 0.0 {
                    if moving {
                        d.fasten(k, slip, t, y);
                    } else {
                        d.loosen(k, slip, t, y);
                    }
                    changed = true;
                }
            }
        }
        changed
    }
}

fn orientation(y: &[f64], k: usize) -> Quat {
    Quat::from_xyzw(y[k + 1], y[k + 2], y[k + 3], y[k])
}
