//! From the parts of mechanisms back to the tree of a file.

use super::write::{Writer, numbers, tables};
use super::write_part::part;
use super::*;

/// Writes joints, force elements, signals, components, sensors and changes.
pub(super) fn mechanism(top: &mut Writer, scene: &Scene) {
    tables(top, "joint", &scene.joints, |joint| part(joint, true));
    tables(top, "constraint", &scene.constraints, |constraint| self::constraint(constraint, &scene.joints));
    tables(top, "force", &scene.forces, |force| part(force, true));
    tables(top, "signal", &scene.signals, |signal| part(signal, true));
    tables(top, "component", &scene.components, component);
    tables(top, "sensor", &scene.sensors, |sensor| part(sensor, true));
    tables(top, "change", &scene.changes, change);
}

/// A constraint of a program: files have no such table yet, and say so when they are read.
fn constraint(constraint: &Constraint, joints: &[Part]) -> Writer {
    let mut table = Writer::default();
    table.text("name", Some(&constraint.name));
    let names: Vec<String> =
        constraint.terms.iter().map(|term| coordinate(joints, &term.joint, term.coordinate)).collect();
    table.texts("terms", &names);
    table.put("factors", numbers(&constraint.terms.iter().map(|term| term.factor).collect::<Vec<f64>>()));
    let key = match constraint.holds {
        ConstraintHolds::Equals => "equals",
        ConstraintHolds::AtMost => "at_most",
        ConstraintHolds::AtLeast => "at_least",
    };
    table.number(key, Some(constraint.limit));
    table
}

/// `JOINT.COORDINATE`.
fn coordinate(joints: &[Part], name: &str, index: usize) -> String {
    let other = joints.iter().find(|other| other.name == *name);
    let coordinate = other.and_then(|other| other.kind.coordinates.get(index));
    coordinate.map_or_else(|| name.to_owned(), |coordinate| format!("{name}.{}", coordinate.name))
}

fn component(component: &Component) -> Writer {
    let equations = |list: &[Equation]| {
        let mut table = Writer::default();
        for equation in list {
            table.text(&equation.name, Some(&equation.text));
        }
        table
    };
    let mut table = Writer::default();
    table.text("name", Some(&component.name));
    table.table("inputs", equations(&component.inputs));
    let mut states = Writer::default();
    for (name, value) in &component.states {
        states.number(name, Some(*value));
    }
    table.table("states", states);
    table.table("let", equations(&component.lets));
    table.table("der", equations(&component.rates));
    table.table("outputs", equations(&component.outputs));
    tables(&mut table, "crossing", &component.crossings, |crossing| {
        let mut table = Writer::default();
        table.text("when", Some(&crossing.when.text));
        table.table("set", equations(&crossing.set));
        table
    });
    table
}

fn change(change: &Change) -> Writer {
    let mut table = Writer::default();
    table.text("name", Some(&change.name));
    table.number("at", change.at);
    table.text("when", change.when.as_ref().map(|when| when.text.as_str()));
    match &change.action {
        Action::Attach(joint) => table.text("attach", Some(joint)),
        Action::Release(joint) => table.text("release", Some(joint)),
        Action::Lock(joint) => table.text("lock", Some(joint)),
        Action::Unlock(joint) => table.text("unlock", Some(joint)),
        Action::Delete(body) => table.text("delete", Some(body)),
        Action::Contact { between, on } => table.texts(if *on { "contact_on" } else { "contact_off" }, between),
    }
    table
}
