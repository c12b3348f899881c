use super::*;
use proptest::prelude::*;

mod constraint;
mod mechanism;
mod vehicle;

/// Every key of the format, in one scene.
const SOLIDS: &str = include_str!("../../tippe/tests/data/solids.toml");
const GRAINS: &str = include_str!("../../tippe/tests/data/grains.toml");
const SOIL: &str = include_str!("../../tippe/tests/data/soil.toml");
const EVERYTHING: &str = include_str!("../../tippe/tests/data/everything.toml");

/// A small scene that is right.
const BALL: &str = include_str!("../tests/data/mistakes/ball.toml");

fn read(text: &str) -> Result<Scene, SceneErrors> {
    Scene::parse("s.toml", text, &[])
}

/// Errors of `BALL` with `from` replaced by `to`, one per line.
fn changed(from: &str, to: &str) -> String {
    assert!(BALL.contains(from), "{from}");
    errors(&BALL.replacen(from, to, 1))
}

fn errors(text: &str) -> String {
    match read(text) {
        Ok(_) => "no error".into(),
        Err(errors) => errors.to_string(),
    }
}

#[test]
fn numbers_are_resolved() {
    let scene = read(BALL).expect("reads");
    let ball = &scene.bodies[1];
    assert_eq!(ball.name, "ball");
    assert_eq!(ball.position, Vec3::new(0.0, 0.0, 0.061));
    assert_eq!(ball.shapes[0].kind, ShapeKind::Sphere { radius: 0.03 });
    assert_eq!(scene.gravity, Vec3::new(0.0, 0.0, -9.81));
    assert_eq!((scene.run.until, scene.run.tolerance, scene.run.output_interval), (1.0, 1e-6, 0.005));
    assert_eq!(ball.places.entity, Place { line: 12, column: 1 });
    assert_eq!(ball.places.of("position"), Place { line: 16, column: 12 });
    assert_eq!(ball.shapes[0].places.of("radius"), Place { line: 14, column: 37 });
    let error = scene.error(ball.places.of("material"), "unheard of", "try wood");
    assert_eq!(error.to_string(), "s.toml:15:12: unheard of. help: try wood");
}

#[test]
fn sets_override_parameters() {
    let set = |name: &str, value: &str| Scene::parse("s.toml", BALL, &[(name.to_string(), value.to_string())]);
    assert_eq!(set("r", "5 cm").map(|scene| scene.bodies[1].position.z), Ok(0.101));
    assert_eq!(
        set("R2", "1").map_err(|e| e.to_string()).err().as_deref(),
        Some("--set R2: unknown parameter `R2`. help: did you mean `r`?")
    );
    assert_eq!(
        set("r", "5 cn").map_err(|e| e.to_string()).err().as_deref(),
        Some("--set r: \"5 cn\": unknown unit `cn`. help: did you mean `cm`? To multiply write `5*cn`")
    );
    let wrong = set("r", "5 s").map_err(|e| e.to_string()).err().unwrap_or_default();
    assert!(wrong.contains("has radius in [s]; a radius has the unit [m]"), "{wrong}");
}

/// Mistakes of a data file: `change` becomes `to`, or `add` is added at the end; the errors have to say `error`.
#[test]
fn mistakes_are_named_with_place_and_help() {
    let values = include_str!("../tests/data/mistakes/values.toml");
    let tables = include_str!("../tests/data/mistakes/tables.toml");
    let mut asked = 0;
    for list in [values, tables] {
        let list = toml::de::DeTable::parse(list).expect("a table");
        for mistake in list.get_ref()["mistake"].get_ref().as_array().expect("a list").iter() {
            let word = |key: &str| mistake.get_ref().get(key).and_then(|value| value.get_ref().as_str());
            let said = match (word("change"), word("to"), word("add")) {
                (Some(from), Some(to), None) => changed(from, to),
                (None, None, Some(add)) => errors(&format!("{BALL}{add}\n")),
                _ => panic!("neither `change` and `to` nor `add`: {mistake:?}"),
            };
            let wanted = word("error").expect("an error");
            assert!(said.contains(wanted), "{mistake:?}\n  said   {said}\n  wanted {wanted}");
            asked += 1;
        }
    }
    assert_eq!(asked, 109);
}

#[test]
fn all_errors_of_a_file_are_reported_in_order() {
    let text =
        BALL.replace("fixed = true", "fixd = true").replace("\"2*r + 1 mm\"", "\"2*q\"").replace("n = 3", "n = nan");
    let lines: Vec<u32> = read(&text).expect_err("wrong").0.iter().map(|error| error.place.line).collect();
    assert_eq!(lines, [4, 9, 16]);
}

#[test]
fn an_error_in_a_repeated_body_is_reported_once() {
    let text = format!(
        "{BALL}[[body]]\nname = \"b_{{k}}\"\nrepeat = [ {{ index = \"k\", count = 100 }} ]\n\
         shape = {{ kind = \"sphere\", radius = \"r - 1 kg\" }}\nmaterial = \"stel\"\n"
    );
    assert_eq!(read(&text).expect_err("wrong").0.len(), 2);
}

#[test]
fn bodies_repeat() {
    let text = format!(
        "{BALL}[[body]]\nname = \"b_{{k}}_{{j+1}}\"\nshape = {{ kind = \"sphere\", radius = \"r\" }}\nmaterial = \"steel\"\n\
         repeat = [ {{ index = \"k\", from = 1, to = \"n\" }}, {{ index = \"j\", count = \"k\" }} ]\n\
         position = [\"k*1 m\", \"2*r*j\", 0]\nignore = [\"b_{{k}}_1\"]\n"
    );
    let scene = read(&text).expect("reads");
    let names: Vec<&str> = scene.bodies[2..].iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["b_1_1", "b_2_1", "b_2_2", "b_3_1", "b_3_2", "b_3_3"]);
    assert_eq!(scene.bodies[7].position, Vec3::new(3.0, 0.12, 0.0));
    assert_eq!(scene.bodies[7].ignore, ["b_3_1"]);
}

#[test]
fn pairs_ignores_and_expectations_repeat() {
    let loops = "repeat = [{ index = \"k\", from = 1, to = \"n\" }]\n";
    let text = format!(
        "{BALL}[[body]]\nname = \"b_{{k}}\"\n{loops}shape = {{ kind = \"sphere\", radius = \"r\" }}\nmaterial = \"steel\"\n\
         [[pair]]\n{loops}bodies = [\"b_{{k}}\", \"floor\"]\nrestitution = \"k/10\"\n\
         [[ignore]]\nrepeat = [{{ index = \"k\", from = 2, to = \"n\" }}]\nbodies = [\"b_{{k-1}}\", \"b_{{k}}\"]\n\
         [[expect]]\n{loops}value = \"b_{{k}}.position.z\"\nabove = \"k*1 m\"\nsource = \"regression\"\nwith = {{ n = \"{{k}} + 3\" }}\n"
    );
    let scene = read(&text).unwrap_or_else(|errors| panic!("{errors}"));
    let restitutions: Vec<_> = scene.pairs.iter().map(|pair| pair.contact.restitution).collect();
    assert_eq!(restitutions, [Some(0.1), Some(0.2), Some(0.3)]);
    assert_eq!(scene.pairs[2].between, Between::Bodies("b_3".into(), "floor".into()));
    let ignores: Vec<_> = scene.ignores.iter().map(|rule| (rule.first.as_str(), rule.second.as_str())).collect();
    assert_eq!(ignores, [("b_1", "b_2"), ("b_2", "b_3")]);
    let values: Vec<_> = scene.expects.iter().map(|e| (e.value.text.as_str(), e.above, e.with[0].1.as_str())).collect();
    assert_eq!(values[1..], [("b_2.position.z", Some(2.0), "2 + 3"), ("b_3.position.z", Some(3.0), "3 + 3")]);
    let wrong = errors(&text.replace("{k} + 3", "k + 3"));
    assert!(wrong.contains("unknown name `k`"), "{wrong}");
    let wrong = errors(&text.replace("bodies = [\"b_{k}\", \"floor\"]", "bodies = [\"ball\", \"floor\"]"));
    assert!(wrong.contains("two [[pair]]s are for"), "{wrong}");
}

#[test]
fn orientations_agree() {
    let quarter = |value: &str| {
        let text = BALL.replace("position =", &format!("orientation = {value}\nposition ="));
        read(&text).expect(value).bodies[1].orientation
    };
    let h = 0.5f64.sqrt();
    for value in
        ["[1, 0, 0, 1]", "{ axis = [0, 0, 2], angle = \"90 deg\" }", "{ angles = [0, 0, \"pi/2\"], order = \"xyz\" }"]
    {
        assert!((quarter(value) - Quat::from_xyzw(0.0, 0.0, h, h)).length() < 1e-15, "{value}");
    }
    // First about x, then about the new z: the x axis ends where the rotated z axis's plane puts it.
    let R = quarter("{ angles = [\"90 deg\", 0, \"90 deg\"], order = \"xyz\" }");
    assert!((R * Vec3::X - Vec3::Z).length() < 1e-15);
}

#[test]
fn everything_is_read_and_written_back() {
    let scene = Scene::parse("everything.toml", EVERYTHING, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let back = |file: &str, text: &str| {
        let read = Scene::parse(file, text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        Scene { file: scene.file.clone(), vehicles: scene.vehicles.clone(), ..read }
    };
    assert_eq!(back("back.toml", &scene.to_toml()), scene);
    assert_eq!(back("back.json", &scene.to_json()), scene);
    assert_eq!(scene.laws[0].compile(&scene).expect("compiles").output_kinds().len(), 3);
    assert_eq!(scene.contact.law, Some(LawChoice::Custom("my_hertz".into())));
    let omega = scene.bodies.iter().find(|body| body.name == "spun").expect("is there").angular_velocity;
    assert!((omega - Vec3::new(0.0, 2.0, 0.0)).length() < 1e-15, "{omega}");
}

#[test]
fn everything_has_every_key() {
    fn visit(table: &format::Table, entries: &[node::Entry], seen: &mut Vec<String>) {
        for entry in entries {
            seen.push(format!("{}.{}", table.name, entry.key));
            if let Some(key) = table.key(&entry.key) {
                visit_form(&key.form, &entry.node, seen);
            }
        }
    }
    fn visit_form(form: &format::Form, node: &node::Node, seen: &mut Vec<String>) {
        use format::Form;
        match (form, &node.value) {
            (Form::Table(table), node::Value::Table(entries)) => visit(table, entries, seen),
            (Form::Tables(table), node::Value::List(items)) => {
                items.iter().for_each(|item| visit_form(&Form::Table(table), item, seen));
            }
            (Form::Named(table), node::Value::Table(entries)) => {
                entries.iter().for_each(|entry| visit_form(&Form::Table(table), &entry.node, seen));
            }
            (Form::List(inner), node::Value::List(items)) => {
                items.iter().for_each(|item| visit_form(inner, item, seen))
            }
            (Form::Either(forms), _) => forms.iter().for_each(|form| visit_form(form, node, seen)),
            (Form::Orientation, _) => format::ORIENTATION.iter().for_each(|form| visit_form(form, node, seen)),
            (Form::Shape, node::Value::Table(entries)) => {
                let kind = entries.iter().find(|entry| entry.key == "kind").map(|entry| &entry.node.value);
                if let Some(node::Value::Text(kind)) = kind {
                    format::SHAPES.iter().filter(|t| t.name == kind.text).for_each(|t| visit(t, entries, seen));
                }
            }
            _ => {}
        }
    }
    static SHAPES: [format::Table; 12] = format::SHAPES;
    static ORIENTATION: [format::Form; 3] = format::ORIENTATION;
    fn expected(table: &'static format::Table, all: &mut Vec<String>) {
        for key in table.keys() {
            all.push(format!("{}.{}", table.name, key.name));
            expected_form(&key.form, all);
        }
    }
    fn expected_form(form: &'static format::Form, all: &mut Vec<String>) {
        use format::Form;
        match form {
            Form::Table(table) | Form::Tables(table) | Form::Named(table) => expected(table, all),
            Form::List(inner) => expected_form(inner, all),
            Form::Either(forms) => forms.iter().for_each(|form| expected_form(form, all)),
            Form::Shape => SHAPES.iter().for_each(|table| expected(table, all)),
            Form::Orientation => ORIENTATION.iter().for_each(|form| expected_form(form, all)),
            _ => {}
        }
    }
    let (top, _) = node::from_toml("everything.toml", EVERYTHING);
    let (mut seen, mut all) = (Vec::new(), Vec::new());
    visit_form(&format::Form::Table(&format::SCENE), &top, &mut seen);
    let (solids, _) = node::from_toml("solids.toml", SOLIDS);
    visit_form(&format::Form::Table(&format::SCENE), &solids, &mut seen);
    let (grains, _) = node::from_toml("grains.toml", GRAINS);
    visit_form(&format::Form::Table(&format::SCENE), &grains, &mut seen);
    let (soil, _) = node::from_toml("soil.toml", SOIL);
    visit_form(&format::Form::Table(&format::SCENE), &soil, &mut seen);
    static SCENE: format::Table = format::SCENE;
    expected(&SCENE, &mut all);
    // Alternatives cannot stand in one shape or pair, and what shapes share need not stand in each of them.
    // What reads other files has tests of its own.
    let elsewhere = [
        "diameter",
        "radius",
        "position",
        "orientation",
        "material",
        "density",
        "collide",
        "axis",
        "smoothing",
        "file",
        "unit",
        "columns",
        "include",
        "friction_curve",
        "friction_force",
        "restitution_curve",
    ];
    let missing: Vec<&String> = all
        .iter()
        .filter(|key| !seen.contains(key) && !key.starts_with("[[include]]"))
        .filter(|key| !elsewhere.iter().any(|name| key.ends_with(&format!(".{name}"))))
        .collect();
    assert!(missing.is_empty(), "tests/data/everything.toml lacks {missing:?}");
}

#[test]
fn scenes_are_built_in_programs_too() {
    let scene = Scene {
        title: "Built".into(),
        gravity: Vec3::new(0.0, 0.0, -9.81),
        bodies: vec![Body {
            name: "ball".into(),
            material: Some("steel".into()),
            shapes: vec![ShapeSpec { kind: ShapeKind::Sphere { radius: 0.1 }, ..ShapeSpec::default() }],
            ..Body::default()
        }],
        ..Scene::default()
    };
    let back = Scene::parse("", &scene.to_toml(), &[]).expect("reads");
    assert_eq!(back, scene);
}

#[test]
fn json_errors_have_places() {
    for (text, message) in [
        (
            "{\n \"format\": 1,\n \"world\": {\"gravity\": [0, 0, 0]},\n \"bdy\": []\n}",
            "s.json:4:2: the scene has an unknown key `bdy`. help: did you mean `body`?",
        ),
        ("{\"format\": 1, \"format\": 1}", "s.json:1:15: duplicate key `format`"),
        ("{\"format\": 1", "s.json:1:13: `,` or `}` is missing"),
        ("{\"format\" 1}", "`:` is missing after the key"),
        ("{format: 1}", "a key in double quotes is expected here"),
        ("[1 2]", "`,` or `]` is missing"),
        ("{\"a\": \"x", "the text is not closed"),
        ("{\"a\": \"\\x\"}", "unknown escape"),
        ("{} 3", "s.json:1:4: text after the end of the scene"),
        ("", "the file ends too early"),
        ("nul", "a value is expected here, not 'n'"),
        ("{\"a\": 1-2}", "1-2 is not a number"),
        ("[]", "the scene is a list, not a table"),
        ("{\"format\": null, \"world\": {\"gravity\": [0, 0, 0]}}", "the scene: format is null, not a number"),
    ] {
        let said = Scene::parse("s.json", text, &[]).expect_err(text).to_string();
        assert!(said.contains(message), "{text}\n  said   {said}\n  wanted {message}");
    }
    assert!(Scene::parse("s.json", &"[".repeat(100_000), &[]).expect_err("deep").to_string().contains("nested deeper"));
    let unicode = Scene::parse(
        "s.json",
        r#"{"format": 1, "title": "\u00e9 \ud83d\ude00 \n", "world": {"gravity": [0, 0, 0]}, "body": [{"name": "b", "fixed": true}]}"#,
        &[],
    );
    assert_eq!(unicode.map(|scene| scene.title), Ok("é 😀 \n".into()));
}

#[test]
fn deep_toml_is_harmless() {
    for text in [
        format!("a = {}", "[".repeat(100_000)),
        format!("a = {}1{}", "[".repeat(200), "]".repeat(200)),
        format!("{}a = 1", "a.".repeat(50_000)),
        format!("[{}a]", "a.".repeat(50_000)),
        format!("a = {}", "{a=".repeat(50_000)),
    ] {
        assert!(read(&text).is_err());
    }
}

#[test]
fn scenes_of_the_gallery_are_found_by_name() {
    let error = Scene::load("no_such_scene_at_all", &[]).expect_err("is not there").to_string();
    assert!(error.starts_with("there is no scene or file \"no_such_scene_at_all\". help: "), "{error}");
    let error = Scene::load("no/such.toml", &[]).expect_err("is not there").to_string();
    assert!(error.starts_with("there is no file no/such.toml. help: "), "{error}");
    for (name, _) in gallery() {
        let scene = Scene::load(name, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        assert!(!scene.title.is_empty(), "{name} has no title");
        let mut misspelt = name.to_string();
        misspelt.push('x');
        let error = Scene::load(&misspelt, &[]).expect_err("misspelt").to_string();
        assert!(error.contains("did you mean"), "{error}");
        let mut seen = vec![Vec::new()];
        for expect in &scene.expects {
            if !seen.contains(&expect.with) {
                Scene::load(name, &expect.with).unwrap_or_else(|errors| panic!("{errors}"));
                seen.push(expect.with.clone());
            }
        }
    }
}

#[test]
fn numbers_of_toml_are_understood() {
    for (text, value) in
        [("1_000", 1000.0), ("1_0.5e+1", 105.0), ("+2.5", 2.5), ("0xff", 255.0), ("-7", -7.0), ("0b11", 3.0)]
    {
        let scene = read(&BALL.replace("n = 3", &format!("n = {text}"))).expect(text);
        assert_eq!(scene.params[1].value, value, "{text}");
    }
}

#[test]
fn files_that_are_no_text_are_named() {
    let path = std::env::temp_dir().join(format!("tippe-no-text-{}.toml", std::process::id()));
    std::fs::write(&path, [0xff, 0xfe, 0x00]).expect("can be written");
    let error = Scene::load(&path.display().to_string(), &[]).expect_err("is no text").to_string();
    std::fs::remove_file(&path).expect("can be removed");
    assert!(error.contains("cannot read it") && error.contains("help: a scene is a text file in UTF-8"), "{error}");
}

#[test]
fn a_file_wins_over_the_gallery() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tippe/tests/data/everything.toml");
    assert_eq!(Scene::load(path, &[]).map(|scene| scene.file), Ok(path.to_string()));
}

/// Checks a value against the part of JSON Schema that `schema` uses; says where it fails.
fn conforms(
    schema: &serde_json::Value,
    value: &serde_json::Value,
    path: &str,
    defs: &serde_json::Value,
) -> Result<(), String> {
    use serde_json::Value;
    let fail = |why: &str| Err(format!("{path}: {why}"));
    for (rule, wanted) in schema.as_object().into_iter().flatten() {
        let number = || value.as_f64().zip(wanted.as_f64());
        let ok = match rule.as_str() {
            "type" => match wanted.as_str() {
                Some("object") => value.is_object(),
                Some("array") => value.is_array(),
                Some("string") => value.is_string(),
                Some("boolean") => value.is_boolean(),
                Some("number") => value.is_number(),
                Some("integer") => value.as_f64().is_some_and(|x| x == x.floor()),
                _ => false,
            },
            "const" => value == wanted,
            "enum" => wanted.as_array().is_some_and(|words| words.contains(value)),
            "minimum" => number().is_none_or(|(x, bound)| x >= bound),
            "maximum" => number().is_none_or(|(x, bound)| x <= bound),
            "exclusiveMinimum" => number().is_none_or(|(x, bound)| x > bound),
            "exclusiveMaximum" => number().is_none_or(|(x, bound)| x < bound),
            "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= wanted.as_u64().unwrap_or(0)),
            "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= wanted.as_u64().unwrap_or(0)),
            "$ref" => {
                let name = wanted.as_str().and_then(|path| path.strip_prefix("#/$defs/")).unwrap_or("");
                return conforms(&defs[name], value, path, defs);
            }
            "items" => {
                for (k, item) in value.as_array().into_iter().flatten().enumerate() {
                    conforms(wanted, item, &format!("{path}[{k}]"), defs)?;
                }
                true
            }
            "anyOf" => {
                let tries: Vec<_> =
                    wanted.as_array().into_iter().flatten().map(|option| conforms(option, value, path, defs)).collect();
                match tries.iter().any(Result::is_ok) {
                    true => true,
                    false => return Err(tries.into_iter().filter_map(Result::err).collect::<Vec<_>>().join(" | ")),
                }
            }
            "allOf" => {
                for option in wanted.as_array().into_iter().flatten() {
                    conforms(option, value, path, defs)?;
                }
                true
            }
            "if" => {
                if conforms(wanted, value, path, defs).is_ok() {
                    conforms(&schema["then"], value, path, defs)?;
                }
                true
            }
            "then" => true,
            "propertyNames" => {
                for key in value.as_object().into_iter().flatten().map(|(key, _)| key) {
                    conforms(wanted, &Value::String(key.clone()), path, defs)?;
                }
                true
            }
            "required" => {
                wanted.as_array().into_iter().flatten().filter_map(Value::as_str).all(|key| value.get(key).is_some())
            }
            "properties" => {
                for (key, inner) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = wanted.get(key) {
                        conforms(schema, inner, &format!("{path}.{key}"), defs)?;
                    }
                }
                true
            }
            "additionalProperties" => {
                for (key, inner) in value.as_object().into_iter().flatten() {
                    let known = schema["properties"].get(key).is_some();
                    match wanted {
                        Value::Bool(false) if !known => return fail(&format!("unknown key {key}")),
                        Value::Object(_) if !known => conforms(wanted, inner, &format!("{path}.{key}"), defs)?,
                        _ => {}
                    }
                }
                true
            }
            "description" | "title" | "$schema" | "$defs" => true,
            other => return fail(&format!("the checker does not know {other}")),
        };
        if !ok {
            return fail(&format!("{rule} {wanted} is not met by {value}"));
        }
    }
    Ok(())
}

fn check_schema(name: &str, text: &str) -> Result<(), String> {
    let (top, errors) = node::from_toml(name, text);
    assert!(errors.is_empty(), "{errors:?}");
    let value = serde_json::from_str(&node::to_json(&top)).map_err(|error| error.to_string())?;
    let schema = schema();
    conforms(&schema, &value, name, &schema["$defs"])
}

#[test]
fn scenes_conform_to_the_schema() {
    for (name, text) in
        gallery().iter().chain(&[("everything", EVERYTHING), ("ball", BALL), ("solids", SOLIDS), ("grains", GRAINS)])
    {
        check_schema(name, text).unwrap_or_else(|error| panic!("{error}"));
    }
    for wrong in ["name = \"ball\"", "gravity = [0, 0, -9.81]", "kind = \"sphere\", "] {
        assert!(check_schema("wrong", &BALL.replace(wrong, "")).is_err(), "{wrong}");
    }
    assert!(check_schema("wrong", &BALL.replace("radius", "radus")).is_err());
    assert!(check_schema("wrong", &BALL.replace("\"r\" }", "-1 }")).is_err());
}

/// `TIPPE_WRITE_SCHEMA=1 cargo test -p tippe-scene schema` writes the file anew.
#[test]
fn the_schema_file_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/scene.schema.json");
    let text = serde_json::to_string_pretty(&schema()).expect("a value") + "\n";
    if std::env::var_os("TIPPE_WRITE_SCHEMA").is_some() {
        std::fs::write(path, &text).expect("can be written");
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    assert!(stored == text, "run TIPPE_WRITE_SCHEMA=1 cargo test -p tippe-scene schema");
}

/// Reads a text that may be anything: no panic, no error without a message, and what reads is written back the same.
fn survives(file: &str, text: &str) {
    match Scene::parse_up_to(file, text, &[], 1000) {
        Err(SceneErrors(errors)) => {
            assert!(!errors.is_empty());
            assert!(errors.iter().all(|error| !error.message.is_empty()));
        }
        Ok(scene) => {
            let back = Scene::parse_up_to(
                file,
                &if file.ends_with("json") { scene.to_json() } else { scene.to_toml() },
                &[],
                1000,
            );
            match back {
                // vehicles are written as what they are made of
                Ok(back) => {
                    let back = Scene { vehicles: scene.vehicles.clone(), ..back };
                    assert!(back == scene, "changed by writing:\n{text}");
                }
                Err(errors) => panic!("does not read back: {errors}\n{text}"),
            }
        }
    }
}

/// Words that make a mutation more likely to mean something.
const WORDS: [&str; 30] = [
    "nan",
    "inf",
    "-1",
    "0",
    "1e308",
    "1e-320",
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    "=",
    "\n",
    "[[body]]\n",
    "\"{k}\"",
    "\"1/0\"",
    "\"2*r\"",
    "true",
    "9999",
    "position",
    "mass",
    "shape",
    "kind",
    "\"sphere\"",
    "\u{e9}",
    "\u{1f600}",
    "((((",
    "^",
    "\\u00",
];

/// One change: something cut, doubled, replaced or put in; `seed` decides.
fn mutate(text: &str, seed: u64) -> String {
    let mut state = seed;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) as usize) % below.max(1)
    };
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..=random(4) {
        let at = random(letters.len());
        let until = (at + 1 + random(12)).min(letters.len());
        let word: Vec<char> = WORDS[random(WORDS.len())].chars().collect();
        match random(5) {
            0 => drop(letters.splice(at..until, [])),
            1 => drop(letters.splice(at..at, word)),
            2 => drop(letters.splice(at..until, word)),
            3 => {
                let copy = letters[at..until].to_vec();
                letters.splice(at..at, copy);
            }
            _ => {
                let other = random(letters.len().max(1));
                if at < letters.len() && other < letters.len() {
                    letters.swap(at, other);
                }
            }
        }
    }
    letters.into_iter().collect()
}

#[test]
fn mutated_scenes_never_panic() {
    let json = Scene::parse("everything.toml", EVERYTHING, &[]).expect("reads").to_json();
    for seed in 0..8_000 {
        survives("m.toml", &mutate(BALL, seed));
    }
    for seed in 0..3_000 {
        survives("m.toml", &mutate(EVERYTHING, seed));
        survives("m.json", &mutate(&json, seed));
    }
    for seed in 0..400 {
        survives("m.toml", &mutate(SOLIDS, seed));
        survives("m.toml", &mutate(GRAINS, seed));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn any_text_is_survived(text in "\\PC{0,200}") {
        survives("p.toml", &text);
        survives("p.json", &text);
    }

    #[test]
    fn any_setting_is_survived(text in "\\PC{0,40}") {
        let _ = Scene::parse_up_to("p.toml", BALL, &[("r".into(), text)], 1000);
    }

    #[test]
    fn any_expression_is_survived(text in "[-+*/^()0-9a-z., <>=!&|e\u{b5}]{0,60}") {
        let _ = crate::equation::Tree::parse(&text).map(|tree| tree.evaluate(&Default::default()));
        survives("p.toml", &BALL.replace("2*r + 1 mm", &text));
    }
}
