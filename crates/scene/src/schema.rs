//! The JSON Schema of scene files, for editors and other programs.

use super::format::{Form, Key, ORIENTATION, Range, SCENE, SHAPES, Table};
use super::read_part::DIRECTIONS;
use serde_json::{Map, Value, json};

/// The JSON Schema (draft 2020-12) of scene files, generated from the tables the reader checks them against.
pub fn schema() -> Value {
    let mut schema = table(&SCENE, None);
    if let Value::Object(top) = &mut schema {
        top.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
        top.insert("title".into(), json!("Tippe scene, format 1"));
        top.insert("$defs".into(), definitions());
    }
    // a vehicle of a scene may say a little over one from a file
    if let Some(vehicle) = schema.pointer_mut("/properties/vehicle/items") {
        let_out(vehicle);
    }
    schema
}

/// Nothing but names is required of a table, and of those in it.
fn let_out(table: &mut Value) {
    match table {
        Value::Object(entries) => {
            if let Some(Value::Array(required)) = entries.get_mut("required") {
                required.retain(|key| key == "name");
            }
            entries.iter_mut().filter(|(key, _)| *key != "if").for_each(|(_, value)| let_out(value));
        }
        Value::Array(items) => items.iter_mut().for_each(let_out),
        _ => {}
    }
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
            _ if matches!(key.form, Form::Kind) => json!({ "enum": table.words().collect::<Vec<_>>() }),
            _ => form(&key.form),
        };
        add(&mut properties, described(form, key), key.name);
    }
    let required = |keys: &mut dyn Iterator<Item = &'static Key>| -> Vec<&str> {
        keys.filter(|key| key.required).map(|key| key.name).collect()
    };
    // A table without a word for its kind has one kind at most, whose keys are its own.
    let has_word = table.shared().any(|key| matches!(key.form, Form::Kind));
    let own =
        required(&mut if has_word { table.shared().collect() } else { table.keys().collect::<Vec<_>>() }.into_iter());
    let mut object =
        json!({ "type": "object", "additionalProperties": false, "properties": properties, "required": own });
    if has_word && let Value::Object(object) = &mut object {
        let kinds = table.kinds.iter().map(|kind| {
            let names: Vec<&str> = table.shared().chain(kind.keys()).map(|key| key.name).collect();
            json!({
                "description": kind.about,
                "if": { "properties": { "kind": { "const": kind.word } }, "required": ["kind"] },
                "then": { "propertyNames": { "enum": names }, "required": required(&mut kind.keys()) }
            })
        });
        object.insert("allOf".into(), kinds.collect());
    }
    object
}

/// Adds a property; where another kind has one of this name, both forms are allowed and both descriptions said.
fn add(properties: &mut Map<String, Value>, property: Value, name: &str) {
    let Some(before) = properties.get_mut(name) else {
        properties.insert(name.into(), property);
        return;
    };
    let split = |value: &Value| {
        let mut form = value.clone();
        let about = form.as_object_mut().and_then(|form| form.remove("description")).unwrap_or_default();
        (form, about.as_str().unwrap_or("").to_string())
    };
    let ((known, about), (form, more)) = (split(before), split(&property));
    let mut forms = match known.get("anyOf").and_then(Value::as_array) {
        Some(forms) if known.get("type").is_none() => forms.clone(),
        _ => vec![known],
    };
    for one in form.get("anyOf").and_then(Value::as_array).cloned().unwrap_or_else(|| vec![form]) {
        if !forms.contains(&one) {
            forms.push(one);
        }
    }
    let about = if about.split("; or: ").any(|known| known == more) { about } else { format!("{about}; or: {more}") };
    let mut merged = if forms.len() == 1 { forms.remove(0) } else { json!({ "anyOf": forms }) };
    if let Value::Object(merged) = &mut merged {
        merged.insert("description".into(), json!(about));
    }
    *before = merged;
}

fn described(mut form: Value, key: &Key) -> Value {
    if let Value::Object(form) = &mut form {
        form.insert("description".into(), json!(key.description()));
    }
    form
}

/// Exactly so many.
fn several(items: Value, n: usize) -> Value {
    json!({ "type": "array", "items": items, "minItems": n, "maxItems": n })
}

fn form(of: &Form) -> Value {
    let value = |range: Range| reference(number(range).0);
    match of {
        Form::Number(measure) => value(measure.range),
        Form::Along(_, range) => value(*range),
        Form::Vector(length, measure) => several(value(measure.range), *length),
        Form::PerAxis(measure) => json!({ "anyOf": [value(measure.range), several(value(measure.range), 3)] }),
        Form::List(item) => json!({ "type": "array", "items": form(item) }),
        Form::Text | Form::Attachment | Form::Frame | Form::Coordinate | Form::Kind => json!({ "type": "string" }),
        Form::Word(words) => json!({ "enum": words }),
        Form::Flag => json!({ "type": "boolean" }),
        Form::Table(inner) => table(inner, None),
        Form::Tables(inner) => json!({ "type": "array", "items": table(inner, None) }),
        Form::Parts(inner) => {
            json!({ "anyOf": [table(inner, None), { "type": "array", "items": table(inner, None) }] })
        }
        Form::Curve(inner) => json!({ "anyOf": [{ "type": "string" }, table(inner, None)] }),
        Form::Named(inner) => json!({ "type": "object", "additionalProperties": table(inner, None) }),
        Form::Values => json!({ "type": "object", "additionalProperties": reference("number") }),
        Form::Equation(_) => reference("number"),
        Form::Equations(n, _) => several(reference("number"), *n),
        Form::Attachments(_) => several(json!({ "type": "string" }), 2),
        Form::Coordinates(coupled) if coupled.more == 0 => several(json!({ "type": "string" }), coupled.angles.len()),
        Form::Coordinates(_) => json!({ "type": "array", "items": { "type": "string" } }),
        Form::Point => several(reference("number"), 3),
        Form::Points => several(several(reference("number"), 3), 2),
        Form::Direction => {
            let words: Vec<&str> = DIRECTIONS.iter().map(|(word, _)| *word).collect();
            json!({ "anyOf": [several(reference("number"), 3), { "enum": words }] })
        }
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
        Range::Any | Range::NotZero => ("number", json!({ "type": "number" })),
        Range::Positive => ("positive", json!({ "type": "number", "exclusiveMinimum": 0 })),
        Range::Tolerance => ("tolerance", json!({ "type": "number", "minimum": super::SMALLEST_TOLERANCE })),
        Range::NotNegative => ("not_negative", json!({ "type": "number", "minimum": 0 })),
        Range::Fraction => ("fraction", json!({ "type": "number", "minimum": 0, "maximum": 1 })),
        Range::Poisson => ("poisson", json!({ "type": "number", "exclusiveMinimum": -1, "exclusiveMaximum": 0.5 })),
        Range::Whole => ("whole", json!({ "type": "integer" })),
        Range::Count | Range::Between(..) => ("count", json!({ "type": "integer", "minimum": 1 })),
    }
}
