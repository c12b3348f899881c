//! From the parts of mechanisms back to the tree of a file.

use super::write::{Writer, tables};
use super::write_part::part;
use super::*;

/// Writes joints, force elements, signals, components, sensors, drawings and changes.
pub(super) fn mechanism(top: &mut Writer, scene: &Scene) {
    let own = scene.joints.iter().filter(|joint| !flexible::is_hold(scene, joint));
    tables(top, "joint", own, |joint| part(joint, true));
    tables(top, "constraint", &scene.constraints, |constraint| self::constraint(constraint, &scene.joints));
    let of = |word: &str| scene.forces.iter().filter(move |part| part.kind.word == word).collect::<Vec<&Part>>();
    let (cables, fluids) = (of("cable"), of("fluid"));
    let has_table = |part: &Part| part.kind.word == "cable" || part.kind.word == "fluid";
    let forces: Vec<&Part> = scene.forces.iter().filter(|part| !has_table(part)).collect();
    tables(top, "force", &forces, |force| part(force, true));
    tables(top, "cable", &cables, |cable| part(cable, false));
    tables(top, "fluid", &fluids, |fluid| part(fluid, false));
    tables(top, "signal", &scene.signals, |signal| part(signal, true));
    tables(top, "component", &scene.components, component);
    tables(top, "sensor", &scene.sensors, |sensor| part(sensor, true));
    tables(top, "drawing", &scene.drawings, |drawing| part(drawing, false));
    tables(top, "change", &scene.changes, change);
}

fn constraint(constraint: &Constraint, joints: &[Part]) -> Writer {
    let coordinate = |term: &ConstraintTerm| {
        let joint = joints.iter().find(|joint| joint.name == term.joint);
        joint.and_then(|joint| joint.kind.coordinates.get(term.coordinate))
    };
    let length = constraint.terms.iter().filter_map(coordinate).any(|coordinate| !coordinate.turns);
    let mut terms = Writer::default();
    for term in &constraint.terms {
        let of = coordinate(term);
        let name = of.map_or_else(|| term.joint.clone(), |of| format!("{}.{}", term.joint, of.name));
        match of {
            Some(of) if of.turns && length => terms.text(&name, Some(&format!("{:?} m/rad", term.factor))),
            _ => terms.number(&name, Some(term.factor)),
        }
    }
    let mut table = Writer::default();
    table.text("name", Some(&constraint.name));
    table.table("terms", terms);
    let word = ConstraintHolds::WORDS.into_iter().find(|(_, holds)| *holds == constraint.holds);
    table.number(word.map_or("equals", |(word, _)| word), Some(constraint.limit));
    let given = |value: f64| Some(value).filter(|value| *value != 0.0);
    table.number("compliance", given(constraint.compliance));
    table.number("damping", given(constraint.damping));
    table.number("force_max", constraint.force_max);
    table
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
    if let Some(unit) = &component.unit {
        write_unit(&mut table, unit);
    }
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

fn write_unit(table: &mut Writer, unit: &ComponentUnit) {
    let texts = |list: &[(String, String)]| {
        let mut table = Writer::default();
        list.iter().for_each(|(name, text)| table.text(name, Some(text)));
        table
    };
    table.text("fmu", Some(&unit.file));
    table.text("kind", unit.exchange.map(|exchange| if exchange { "me" } else { "cs" }));
    table.number("step", unit.step);
    let mut start = Writer::default();
    unit.start.iter().for_each(|(name, value)| start.number(name, Some(*value)));
    table.table("start", start);
    table.table("outputs", texts(&unit.outputs));
    table.table("power", texts(&unit.power));
    table.number("timeout", Some(unit.timeout));
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
