//! What questions ask for where it is largest or smallest, or crosses a level: marks that a run looks for between its
//! communication points.

use super::expression::{Expression, Node};
use super::{Account, Signal, Touch, evaluate};
use crate::model::{Body, Drive, Model, centre, kinetic};
use std::sync::Arc;
use tippe_geometry::Vec3;
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::observe::{Glimpse, Mark};

/// Everything that expressions ask the extremes of, or, as the difference of both, the crossings.
pub(super) fn asked(expressions: &[Expression]) -> Vec<(Node, bool)> {
    let mut asked = Vec::new();
    for expression in expressions {
        expression.visit(&mut |node| match node {
            Node::Extreme(_, inner) => asked.push(((**inner).clone(), false)),
            Node::Crossing { signal, level, .. } => {
                asked.push((Node::difference((**signal).clone(), (**level).clone()), true));
            }
            _ => {}
        });
    }
    asked
}

/// A mark for each of what is asked, in its order; one that depends on nothing, which nobody looks for, where something
/// else than motions, contacts and signals is in it.
pub(super) fn marks(asked: Vec<(Node, bool)>, model: &Model) -> Vec<Mark> {
    asked.into_iter().map(|(node, crossing)| mark(node, crossing, model)).collect()
}

fn mark(node: Node, crossing: bool, model: &Model) -> Mark {
    let nothing =
        || Mark { bodies: Vec::new(), touching: Vec::new(), signals: Vec::new(), crossing, value: Arc::new(|_| 0.0) };
    let (mut mark, mut known) = (nothing(), true);
    let is_free = |body: usize| model.bodies[body].drive == Drive::Free;
    node.visit(&mut |node| match node {
        Node::Number(_) | Node::Call(..) | Node::Signal(Signal::Time) => {}
        Node::Signal(Signal::Body { body, .. }) => mark.bodies.push(*body as u32),
        Node::Signal(Signal::Model(signal)) => mark.signals.push(*signal as u32),
        Node::Signal(Signal::Contact { other, body, touch }) => {
            // the island of a free body has all its contacts
            let free = [Some(*body), *other].into_iter().flatten().find(|body| is_free(*body));
            let whole = other.is_some() || is_free(*body);
            match free.filter(|_| whole && *touch != Touch::PeakForce) {
                Some(free) => mark.touching.push(free as u32),
                None => known = false,
            }
        }
        Node::Signal(Signal::Energy(Account::Kinetic | Account::Potential) | Signal::Momentum(_))
            if model.grains.is_none() && model.attractors.is_empty() =>
        {
            mark.bodies.extend((0..model.bodies.len()).filter(|&body| is_free(body)).map(|body| body as u32));
        }
        _ => known = false,
    });
    if !known {
        return nothing();
    }
    mark.bodies.sort_unstable();
    mark.bodies.dedup();
    let free = mark.bodies.iter().map(|&body| (body, model.bodies[body as usize].clone()));
    let moving =
        Moving { bodies: free.filter(|(_, body)| body.drive == Drive::Free).collect(), gravity: model.gravity };
    let value = move |glimpse: &Glimpse| evaluate::value_of(&node, &|signal| seen(signal, glimpse, &moving));
    Mark { value: Arc::new(value), ..mark }
}

/// What energies and momentum are made of.
struct Moving {
    /// Free bodies, with their indices.
    bodies: Vec<(u32, Body)>,
    /// Gravity, resolved in world [m/s^2].
    gravity: Vec3,
}

impl Moving {
    /// Sum over the free bodies, of each body and the motion of its centre of mass.
    fn sum(&self, glimpse: &Glimpse, each: impl Fn(&Body, &Kinematics) -> f64) -> f64 {
        let of = |(index, body): &(u32, Body)| {
            let own = glimpse.bodies.iter().find(|(known, _)| known == index);
            own.map_or(f64::NAN, |(_, state)| each(body, &centre(body, state)))
        };
        self.bodies.iter().map(of).sum()
    }
}

/// A signal at a glimpse.
fn seen(signal: Signal, glimpse: &Glimpse, moving: &Moving) -> f64 {
    match signal {
        Signal::Time => glimpse.time,
        Signal::Body { body, quantity } => {
            let own = glimpse.bodies.iter().find(|(known, _)| *known as usize == body);
            own.map_or(f64::NAN, |(_, state)| quantity.of(state))
        }
        Signal::Model(signal) => {
            let own = glimpse.signals.iter().find(|(known, _)| *known as usize == signal);
            own.map_or(f64::NAN, |(_, value)| *value)
        }
        Signal::Contact { other, body, touch } => touch.of(&glimpse.contacts, other, body),
        Signal::Energy(Account::Kinetic) => moving.sum(glimpse, kinetic),
        Signal::Energy(Account::Potential) => moving.sum(glimpse, |body, kin| -body.mass * moving.gravity.dot(kin.p)),
        Signal::Momentum(axis) => moving.sum(glimpse, |body, kin| axis.of(kin.v) * body.mass),
        Signal::Energy(_) => f64::NAN,
    }
}
