//! What a program sets between two stretches of a run.

use crate::kinematics::BodyState;
use crate::model::{Drive, JointPlace, Model, SignalSource};
use tippe_scene::text::did_you_mean;

/// Something a program sets between two stretches of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Set {
    /// A number from outside, in the order of [`Model::signal_inputs`]; its limits hold.
    Input {
        /// Which.
        input: usize,
        /// Value.
        value: f64,
    },
    /// Motion of a free body that no joint holds.
    Body {
        /// Index in the model.
        body: usize,
        /// Motion of its origin.
        motion: BodyState,
    },
    /// A coordinate of a mechanism without loops, and its rate.
    Coordinate {
        /// Index of the mechanism.
        mechanism: usize,
        /// Index of the coordinate.
        coordinate: usize,
        /// Value [m or rad].
        value: f64,
        /// Rate [m/s or rad/s].
        rate: f64,
    },
}

impl Set {
    /// The motion of the body of this name; an error says why it cannot be set.
    pub fn body(model: &Model, name: &str, motion: BodyState) -> Result<Set, String> {
        let names = || model.bodies.iter().map(|body| body.name.as_str()).collect::<Vec<_>>();
        let body = model
            .body(name)
            .ok_or_else(|| format!("there is no body \"{name}\". help: {}", did_you_mean(name, names())))?;
        let own = &model.bodies[body];
        if own.drive != Drive::Free {
            return Err(format!("body \"{name}\" is not free: its motion is given by the scene"));
        }
        if own.mechanism.is_some() {
            return Err(format!("body \"{name}\" is held by joints. help: set the coordinates of its joints"));
        }
        let (p, q) = (motion.position, motion.orientation);
        let finite = p.is_finite() && motion.velocity.is_finite() && motion.angular_velocity.is_finite();
        if !finite || !q.is_finite() || q.length() < 1e-6 {
            return Err(format!("body \"{name}\": a position, orientation or velocity is not a finite number"));
        }
        Ok(Set::Body { body, motion: BodyState { orientation: q.normalize(), ..motion } })
    }

    /// A coordinate by the name of its signal (`hinge.angle`); an error says why it cannot be set.
    pub fn coordinate(model: &Model, name: &str, value: f64, rate: f64) -> Result<Set, String> {
        let coordinates = || {
            model.signals.iter().filter_map(|signal| match signal.source {
                SignalSource::Coordinate { joint, coordinate } => Some((signal.name.as_str(), joint, coordinate)),
                _ => None,
            })
        };
        let Some((_, joint, coordinate)) = coordinates().find(|(own, ..)| *own == name) else {
            let names: Vec<&str> = coordinates().map(|(own, ..)| own).collect();
            return Err(format!("there is no coordinate \"{name}\". help: {}", did_you_mean(name, names)));
        };
        let Some(JointPlace::Link { mechanism, link }) = model.joints[joint as usize].place else {
            return Err(format!("the joint of \"{name}\" closes a loop: it has no coordinates of its own"));
        };
        let own = &model.mechanisms[mechanism as usize];
        let link = &own.links[link as usize];
        if own.has_rows() {
            return Err(format!(
                "\"{name}\" belongs to a mechanism with loops, whose coordinates depend on each other"
            ));
        }
        if link.joint.has_base() && coordinate < 3 {
            return Err(format!("\"{name}\" is part of an orientation and cannot be set alone"));
        }
        if !(value.is_finite() && rate.is_finite()) {
            return Err(format!("\"{name}\": the value or its rate is not a finite number"));
        }
        let coordinate = link.first + coordinate as usize;
        Ok(Set::Coordinate { mechanism: mechanism as usize, coordinate, value, rate })
    }
}
