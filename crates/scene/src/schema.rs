//! The JSON Schema of scene files, for editors and other programs.

use super::format::{Form, Key, ORIENTATION, Range, SCENE, SHAPES, Table};
use serde_json::{Map, Value, json};

/// The JSON Schema (draft 2020-12) of scene files, generated from the tables the reader checks them against.
pub fn schema() -> Value {
    let mut schema = table(&SCENE, None);
    if let Value::Object(top) = &mut schema {
        top.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
        top.insert("title".into(), json!("Tippe scene, format 1"));
        top.insert("$defs".into(), definitions());
    }
    schema
}

/// What is used in many places.
fn definitions() -> Value {
    let mut all = Map::new();
    all.insert(
        "expression".into(),
        json!({
            "type": "string",
            "description": "An expression with units, parameters and arithmetic, such as \"2*r + 1 mm\""
        }),
    );
    for range in
        [Range::Any, Range::Positive, Range::NotNegative, Range::Fraction, Range::Poisson, Range::Whole, Range::Count]
    {
        let (name, plain) = number(range);
        all.insert(name.into(), json!({ "anyOf": [plain, { "$ref": "#/$defs/expression" }] }));
    }
    all.insert("orientation".into(), json!({ "anyOf": ORIENTATION.iter().map(form).collect::<Vec<_>>() }));
    all.insert("shape".into(), json!({ "anyOf": SHAPES.iter().map(|t| table(t, Some(t.name))).collect::<Vec<_>>() }));
    Value::Object(all)
}

/// An object with the keys of a table; `kind` is the word that tells it from its siblings.
fn table(table: &Table, kind: Option<&str>) -> Value {
    let mut properties = Map::new();
    for key in table.keys() {
        let form = match kind {
            Some(word) if key.name == "kind" => json!({ "const": word }),
            _ => form(&key.form),
        };
        properties.insert(key.name.into(), described(form, key));
    }
    let required: Vec<&str> = table.keys().filter(|key| key.required).map(|key| key.name).collect();
    json!({ "type": "object", "additionalProperties": false, "properties": properties, "required": required })
}

fn described(mut form: Value, key: &Key) -> Value {
    if let Value::Object(form) = &mut form {
        form.insert("description".into(), json!(key.about));
    }
    form
}

fn form(of: &Form) -> Value {
    match of {
        Form::Number(measure) => reference(number(measure.range).0),
        Form::Vector(length, measure) => {
            json!({ "type": "array", "items": reference(number(measure.range).0), "minItems": length, "maxItems": length })
        }
        Form::List(item) => json!({ "type": "array", "items": form(item) }),
        Form::Text => json!({ "type": "string" }),
        Form::Word(words) => json!({ "enum": words }),
        Form::Flag => json!({ "type": "boolean" }),
        Form::Table(inner) => table(inner, None),
        Form::Tables(inner) => json!({ "type": "array", "items": table(inner, None) }),
        Form::Named(inner) => json!({ "type": "object", "additionalProperties": table(inner, None) }),
        Form::Values => json!({ "type": "object", "additionalProperties": reference("number") }),
        Form::Equation => reference("number"),
        Form::Shape => reference("shape"),
        Form::Orientation => reference("orientation"),
        Form::Either(forms) => json!({ "anyOf": forms.iter().map(form).collect::<Vec<_>>() }),
    }
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// A range's name in the schema and the numbers in it.
fn number(range: Range) -> (&'static str, Value) {
    match range {
        Range::Any => ("number", json!({ "type": "number" })),
        Range::Positive => ("positive", json!({ "type": "number", "exclusiveMinimum": 0 })),
        Range::Tolerance => ("tolerance", json!({ "type": "number", "minimum": super::SMALLEST_TOLERANCE })),
        Range::NotNegative => ("not_negative", json!({ "type": "number", "minimum": 0 })),
        Range::Fraction => ("fraction", json!({ "type": "number", "minimum": 0, "maximum": 1 })),
        Range::Poisson => ("poisson", json!({ "type": "number", "exclusiveMinimum": -1, "exclusiveMaximum": 0.5 })),
        Range::Whole => ("whole", json!({ "type": "integer" })),
        Range::Count | Range::Between(..) => ("count", json!({ "type": "integer", "minimum": 1 })),
    }
}
