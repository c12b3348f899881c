//! From parts back to the tree of a file: every key that was written, in the order of its kind.

use super::node::{Text, Value as Written};
use super::write::{Writer, list, numbers};
use super::*;
use crate::format::Form;

/// A part of the scene, or one that belongs to another.
pub(super) fn part(part: &Part, has_kind: bool) -> Writer {
    let mut table = Writer::default();
    table.text("name", Some(part.name.as_str()).filter(|name| !name.is_empty()));
    table.text("kind", has_kind.then_some(part.kind.word));
    for (key, value) in &part.values {
        let form = part.kind.key(key).map(|key| key.form);
        table.put(key, written(value, form));
    }
    table
}

fn written(value: &Value, form: Option<Form>) -> Written {
    let text = |text: &str| Written::Text(Text::new(text, true));
    match value {
        Value::Number(x) => Written::Number(*x),
        Value::Vector(v) => numbers(&v.to_array()),
        Value::Points(points) => list(points, |point| numbers(&point.to_array())),
        Value::Numbers(all) => match form {
            Some(Form::List(&Form::Vector(n, _))) => list(&all.chunks(n).collect::<Vec<_>>(), |row| numbers(row)),
            _ => numbers(all),
        },
        Value::Flag(flag) => Written::Flag(*flag),
        Value::Word(word) => text(word),
        Value::Text(words) => text(words),
        Value::Attachments(ends) => match (ends.as_slice(), form) {
            ([only], Some(Form::Attachment | Form::Frame)) => text(&only.written()),
            (ends, _) => list(ends, |end| text(&end.written())),
        },
        Value::Equations(equations) => match (equations.as_slice(), form) {
            ([only], Some(Form::Equation(_))) => text(&only.text),
            (equations, _) => list(equations, |equation| text(&equation.text)),
        },
        Value::Coordinates(coordinates) => list(coordinates, |one| text(&format!("{}.{}", one.joint, one.coordinate))),
        Value::Parts(parts) if matches!(form, Some(Form::Curve(_))) => {
            Written::Table(parts.first().map(|curve| part(curve, true).0).unwrap_or_default())
        }
        Value::Parts(parts) => {
            let has_kind = matches!(form, Some(Form::Parts(table)) if table.key("kind").is_some());
            list(parts, |hung| Written::Table(part(hung, has_kind).0))
        }
    }
}
