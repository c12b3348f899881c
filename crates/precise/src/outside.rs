//! What an integrator from outside sees of the whole beside its rates: names and sizes of states, events by kind, motions,
//! signals and contacts where the equations were evaluated last.

use super::layout::vector;
use super::pair::SPRING_STATES;
use super::watch::Watch;
use super::whole::{NONE, Piece, Whole};
use tippe_geometry::Quat;
use tippe_mechanics::kinematics::BodyState;
use tippe_mechanics::model::{body_state, prescribed};
use tippe_mechanics::observe::ContactSample;

/// Springs of a contact, in the order of its states, with their units.
const SPRINGS: [(&str, &str); SPRING_STATES] =
    [("x", "N"), ("y", "N"), ("z", "N"), ("spin", "N m"), ("roll.x", "N m"), ("roll.y", "N m"), ("roll.z", "N m")];
/// No speed matters below this share of a body's size per second, or of one radian per second [-].
const SLOWEST: f64 = 1.0;

/// A state of the whole, as an integrator from outside should know it.
#[derive(Clone, Debug, PartialEq)]
pub struct OuterState {
    /// Name, with its owner's: `ball.position.x`, `hinge.angle`.
    pub name: String,
    /// SI unit, `-` if none.
    pub unit: String,
    /// Size that matters to its error, in its unit.
    pub nominal: f64,
    /// State of the network that somebody outside sets: nobody integrates it.
    pub input: Option<usize>,
}

impl OuterState {
    fn new(name: String, unit: &str, nominal: f64) -> OuterState {
        OuterState { name, unit: unit.to_owned(), nominal, input: None }
    }
}

/// Kinds of events with an indicator each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// Some pair in contact comes apart: the largest gap of these, less its hysteresis, rises through zero [m].
    Separate,
    /// Some pair that is apart touches: the smallest gap of these falls through zero [m].
    Touch,
    /// A contact begins or ends to slip or roll: the share of its limit rises through zero, times the pair's length [m].
    Slip,
    /// Joint friction lets go or takes hold, a drive meets its limit, a stop is touched: rises through zero.
    Element,
    /// A component jumps: rises through zero.
    Component,
    /// A rope or the follower of a cam becomes taut or slack: rises through zero.
    OneWay,
}

impl Occasion {
    /// All of them, in the order of the indicators.
    pub const ALL: [Occasion; 6] =
        [Occasion::Separate, Occasion::Touch, Occasion::Slip, Occasion::Element, Occasion::Component, Occasion::OneWay];

    /// Name.
    pub fn name(self) -> &'static str {
        match self {
            Occasion::Separate => "separate",
            Occasion::Touch => "touch",
            Occasion::Slip => "slip",
            Occasion::Element => "element",
            Occasion::Component => "component",
            Occasion::OneWay => "one_way",
        }
    }
}

impl Whole {
    /// The states in the order of y.
    pub fn states(&self) -> Vec<OuterState> {
        let names = self.names_of_island();
        let mut all = Vec::with_capacity(self.len());
        for piece in &self.pieces {
            match *piece {
                Piece::Body(k) => self.states_of_body(k, &mut all),
                Piece::Turn(body, ..) => {
                    let owner = self.owner_of_link(body);
                    all.extend(
                        ["w", "x", "y", "z"].map(|i| OuterState::new(format!("{owner}.orientation.{i}"), "-", 1.0)),
                    );
                }
                Piece::Same(ref range) => {
                    all.extend(range.clone().map(|at| {
                        names[at].clone().unwrap_or_else(|| OuterState::new(format!("state.{at}"), "-", 1.0))
                    }))
                }
            }
        }
        all
    }

    fn states_of_body(&self, k: usize, all: &mut Vec<OuterState>) {
        let body = &self.model.bodies[self.dynamics.bodies[k] as usize];
        let (name, size) = (&body.name, body.size.max(1e-9));
        let three = |what: &str, unit: &str, nominal: f64| {
            ["x", "y", "z"].map(|i| OuterState::new(format!("{name}.{what}.{i}"), unit, nominal))
        };
        all.extend(three("centre", "m", size));
        all.extend(["w", "x", "y", "z"].map(|i| OuterState::new(format!("{name}.orientation.{i}"), "-", 1.0)));
        all.extend(three("centre_velocity", "m/s", SLOWEST * size));
        all.extend(three("angular_velocity", "rad/s", SLOWEST));
    }

    /// Name of the joint that holds the body of this local index, or of the body where it is held without one.
    fn owner_of_link(&self, body: usize) -> &str {
        let d = &self.dynamics;
        for machine in &d.machines {
            let links = &self.model.mechanisms[machine.index as usize].links;
            if let Some((link, _)) = links.iter().zip(&machine.bodies).find(|(_, own)| **own == body) {
                return match link.source {
                    Some(joint) => &self.model.joints[joint as usize].name,
                    None => &self.model.bodies[link.body as usize].name,
                };
            }
        }
        &self.model.bodies[d.bodies[body] as usize].name
    }

    /// What the numbers of the island are that y takes over as they are.
    fn names_of_island(&self) -> Vec<Option<OuterState>> {
        let (model, d) = (&self.model, &self.dynamics);
        let mut names = vec![None; self.inner.len()];
        for machine in &d.machines {
            let mechanism = &model.mechanisms[machine.index as usize];
            let n = mechanism.coordinates;
            for (link, &k) in mechanism.links.iter().zip(&machine.bodies) {
                let owner = self.owner_of_link(k);
                let size = model.bodies[d.bodies[k] as usize].size.max(1e-9);
                for i in 0..link.count {
                    let at = machine.offset + link.first + i;
                    let turns = link.joint.is_rotation(i);
                    let [unit, rate_unit] = if turns { ["rad", "rad/s"] } else { ["m", "m/s"] };
                    let length = if turns { 1.0 } else { size };
                    if !(link.joint.has_base() && i < 3) {
                        let name = format!("{owner}.{}", link.joint.coordinate_names()[i].0);
                        names[at] = Some(OuterState::new(name, unit, length));
                    }
                    let rate = format!("{owner}.{}", link.joint.rate_names()[i]);
                    names[n + at] = Some(OuterState::new(rate, rate_unit, SLOWEST * length));
                }
            }
        }
        for pair in &d.pairs {
            let Some(first) = pair.springs else { continue };
            let [a, b] = [pair.id.0, pair.id.1].map(|element| {
                let body = model.colliders[element as usize].body as usize;
                // a body may have several shapes: the number of the shape keeps names apart
                format!("{}#{element}", model.bodies[body].name)
            });
            for (i, (spring, unit)) in SPRINGS.into_iter().enumerate() {
                names[first + i] = Some(OuterState::new(format!("contact({a}, {b}).spring.{spring}"), unit, 1.0));
            }
        }
        for (k, &at) in d.actions.state_at.iter().enumerate().filter(|(_, at)| **at != usize::MAX) {
            let state = &model.states[k];
            let mut own =
                OuterState::new(state.name.clone(), state.unit, state.start.abs().max(state.scale).max(1e-12));
            own.input = model.signal_inputs().find(|(_, state)| *state == k).map(|_| k);
            names[at] = Some(own);
        }
        names
    }

    /// Value of an indicator of every kind, in the order of [`Occasion::ALL`], where the equations were evaluated last.
    pub fn occasions(&self, t: f64) -> [f64; Occasion::ALL.len()] {
        let d = &self.dynamics;
        let mut z = [-NONE, NONE, -NONE, -NONE, -NONE, -NONE];
        for (k, pair) in d.pairs.iter().enumerate() {
            let gap = d.gaps[k];
            if !pair.memory.touching {
                z[1] = z[1].min(gap);
                continue;
            }
            z[0] = z[0].max(gap - pair.hysteresis);
            if pair.springs.is_some() && gap <= 0.0 {
                let margin = pair.last.friction.slip_margin.max(pair.last.friction.roll_margin);
                z[2] = z[2].max(pair.scale * margin);
            }
        }
        let mut values = Vec::new();
        d.watch(&self.model, t, &self.inner, &mut values);
        for ((value, before), watch) in values.iter().zip(&self.watched).zip(&d.actions.watches) {
            if *before <= 0.0 {
                let at = match watch {
                    Watch::Element(..) => 3,
                    Watch::Component { .. } | Watch::Change(_) => 4,
                    Watch::OneWay(..) => 5,
                };
                z[at] = z[at].max(*value);
            }
        }
        z
    }

    /// How far orientations in y are from unit length [-].
    pub fn turn_drift(&self, y: &[f64]) -> f64 {
        let (mut at, mut drift) = (0, 0.0_f64);
        for piece in &self.pieces {
            let quaternion = match piece {
                Piece::Body(_) => Some(at + 3),
                Piece::Turn(..) => Some(at),
                Piece::Same(_) => None,
            };
            if let Some(k) = quaternion {
                let q = Quat::from_xyzw(y[k + 1], y[k + 2], y[k + 3], y[k]);
                drift = drift.max((q.length() - 1.0).abs());
            }
            at += piece.len();
        }
        drift
    }

    /// Orientations in y of unit length.
    pub fn straighten(&mut self, t: f64, y: &mut [f64]) {
        self.read(t, y);
        self.write(y);
    }

    /// Values of all signals of the model where the equations were evaluated last.
    pub fn signals(&self, t: f64) -> Vec<f64> {
        let mut all = vec![0.0; self.model.signals.len()];
        for (k, value) in self.dynamics.clone().signals(&self.model, t, &self.inner) {
            all[k as usize] = value;
        }
        all
    }

    /// Touching pairs where the equations were evaluated last.
    pub fn contacts(&self) -> Vec<ContactSample> {
        self.dynamics.contacts(&self.model, &self.inner)
    }

    /// Motion of all bodies of the model where the equations were evaluated last.
    pub fn bodies(&self, t: f64) -> Vec<BodyState> {
        let (model, d) = (&self.model, &self.dynamics);
        let mut all: Vec<BodyState> = (0..model.bodies.len())
            .map(|b| {
                let kin = prescribed(model, b, t);
                body_state(model, b, kin.p, Quat::from_mat3(&kin.R), kin.v, kin.w)
            })
            .collect();
        for (k, &body) in d.bodies.iter().enumerate() {
            let kin = &d.kinematics[k];
            let q = match d.link_of[k] {
                Some(_) => Quat::from_mat3(&kin.R).normalize(),
                None => d.frames[k].orientation(0.0, vector(&self.inner, d.offset_of[k] + 3)).normalize(),
            };
            all[body as usize] = body_state(model, body as usize, kin.p, q, kin.v, kin.w);
        }
        all
    }
}
