//! How a part enters another scene: names get the prefix, points move, directions turn.

use super::format::Form;
use super::include::Entering;
use super::reader::unit_vector;
use super::*;

impl Entering {
    /// A part enters under the prefix. Equations keep the names that only the part knows.
    pub(super) fn part(&self, part: &mut Part) {
        if !part.name.is_empty() {
            self.names.put(&mut part.name);
        }
        self.places(&mut part.places);
        let kind = part.kind;
        for (key, value) in &mut part.values {
            let Some(key) = kind.key(key) else { continue };
            match (key.form, value) {
                (Form::Point, Value::Vector(point)) => self.point(point),
                (Form::Points, Value::Points(points)) => points.iter_mut().for_each(|point| self.point(point)),
                (Form::Direction, Value::Vector(direction)) => {
                    self.turn(direction);
                    *direction = unit_vector(*direction).unwrap_or(*direction);
                }
                (_, Value::Attachments(ends)) => ends.iter_mut().for_each(|end| self.names.body(&mut end.body)),
                (Form::Equation(own) | Form::Equations(_, own), Value::Equations(equations)) => {
                    equations.iter_mut().for_each(|equation| self.equation(equation, own));
                }
                (_, Value::Coordinates(coordinates)) => {
                    coordinates.iter_mut().for_each(|one| self.names.put(&mut one.joint));
                }
                (_, Value::Parts(parts)) => parts.iter_mut().for_each(|part| self.part(part)),
                _ => {}
            }
        }
    }
}

/// Whether a part is fastened to the frame of the world, which does not move with an included scene.
pub(super) fn holds_to_the_world(part: &Part) -> bool {
    let is_placed =
        part.kind.keys().any(|key| matches!(key.form, Form::Point | Form::Points) && part.get(key.name).is_some());
    let to_world =
        |value: &Value| matches!(value, Value::Attachments(ends) if ends.iter().any(|end| end.body == "world"));
    !is_placed && part.values.iter().any(|(_, value)| to_world(value))
}
