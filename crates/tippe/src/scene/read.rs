//! From the tree of a file to a [`Scene`].

use super::format;
use super::node::{Node, Value};
use super::reader::{Fields, Reader};
use super::*;
use crate::equation::{Quantity, Scope, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// All loops together may take this many turns.
pub(super) const MAX_TURNS: usize = 10_000_000;

/// Reads a scene; `sets` override parameters. The errors of `reader` say whether it is whole.
pub(super) fn scene(reader: &mut Reader<'_>, top: &Node, sets: &[(String, String)], max_turns: usize) -> Scene {
    let mut scene = Scene { file: reader.file.to_string(), ..Scene::default() };
    let Some(fields) = reader.fields(top, &format::SCENE, "the scene") else { return scene };
    if let Some(format) = reader.number(&fields, "format").filter(|format| *format != 1.0) {
        reader.error(
            fields.place_of("format"),
            format!("format {format} is unknown"),
            "this program reads `format = 1`",
        );
    }
    let text = |reader: &mut Reader<'_>, name| reader.text(&fields, name).map(str::to_string);
    scene.title = text(reader, "title").unwrap_or_default();
    scene.description = text(reader, "description").unwrap_or_default();
    scene.source = text(reader, "source");
    scene.cost = text(reader, "cost");
    scene.tags = names(reader, &fields, "tags");
    scene.params = params(reader, &fields, sets);
    if let Some(world) = reader.table(&fields, "world", table_of("world")) {
        scene.gravity = reader.vec3(&world, "gravity").unwrap_or_default();
    }
    if let Some(fields) = reader.table(&fields, "run", table_of("run")) {
        scene.run = run(reader, &fields);
    }
    if let Some(fields) = reader.table(&fields, "contact", &format::CONTACT) {
        scene.contact = contact(reader, &fields);
    }
    scene.materials = materials(reader, &fields);
    scene.laws = laws(reader, &fields, &scene.params);
    scene.pairs = list(reader, &fields, "pair", &format::PAIR, pair);
    bodies(reader, &fields, &mut scene, max_turns);
    scene.ignores = list(reader, &fields, "ignore", &format::IGNORE, ignore);
    scene.expects = list(reader, &fields, "expect", &format::EXPECT, expect);
    scene.places = fields.places();
    check_references(reader, &scene);
    scene
}

/// The table the format has under a top-level key.
fn table_of(name: &str) -> &'static format::Table {
    match format::SCENE.key(name).map(|key| &key.form) {
        Some(format::Form::Table(table)) => table,
        _ => &format::SCENE,
    }
}

/// Every table of a list, read.
fn list<T>(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    name: &str,
    table: &'static format::Table,
    read: fn(&mut Reader<'_>, &Fields<'_>) -> Option<T>,
) -> Vec<T> {
    let Some(node) = fields.get(name) else { return Vec::new() };
    let mut out = Vec::new();
    for item in reader.items(node, name) {
        if let Some(fields) = reader.fields(item, table, table.name) {
            out.extend(read(reader, &fields));
        }
    }
    out
}

/// Texts without their places.
fn names(reader: &mut Reader<'_>, fields: &Fields<'_>, name: &str) -> Vec<String> {
    reader.texts(fields, name).unwrap_or_default().into_iter().map(|(text, _)| text).collect()
}

/// True for what expressions can use as a name.
fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_alphabetic() || c == '_') && letters.all(|c| c.is_alphanumeric() || c == '_')
}

/// Reports a name expressions could not use; `what` is what it names.
fn check_name(reader: &mut Reader<'_>, name: &str, place: Place, what: &str) {
    if !is_name(name) {
        reader.error(
            place,
            format!("{what} \"{name}\" is no name"),
            "a name has letters, digits and _, and no digit first",
        );
    } else if matches!(name, "pi" | "and" | "or" | "not") {
        reader.error(place, format!("{what} \"{name}\" means something else in expressions"), "choose another name");
    }
}

fn params(reader: &mut Reader<'_>, fields: &Fields<'_>, sets: &[(String, String)]) -> Vec<Param> {
    let entries = fields.get("params").and_then(|node| reader.entries(node, "[params]")).unwrap_or_default();
    for (name, _) in sets {
        if !entries.iter().any(|entry| entry.key == *name) {
            let help = match entries {
                [] => "this scene has no parameters".to_string(),
                _ => did_you_mean(name, entries.iter().map(|entry| entry.key.as_str())),
            };
            set_error(reader, name, &format!("unknown parameter `{name}`"), help);
        }
    }
    let mut params = Vec::new();
    for entry in entries {
        check_name(reader, &entry.key, entry.place, "parameter");
        let set = sets.iter().rev().find(|(name, _)| *name == entry.key);
        let quantity = match set {
            Some((name, text)) => match Tree::parse(text).and_then(|tree| tree.evaluate(&reader.scope)) {
                Ok(quantity) => Some(quantity),
                Err(error) => {
                    set_error(reader, name, &format!("\"{text}\": {}", error.message), error.help);
                    None
                }
            },
            None => reader.quantity(&entry.node, &format!("parameter {}", entry.key)),
        };
        if matches!(quantity, Some(Quantity { kind: crate::equation::Kind::Condition, .. })) {
            reader.error(entry.node.place, format!("parameter {} is a condition, not a number", entry.key), "");
        }
        // An unreadable parameter counts as 1, so that one mistake is not reported at every use.
        let quantity = quantity.unwrap_or(Quantity::bare(1.0));
        reader.scope.push(entry.key.clone(), quantity);
        let places = Places { entity: entry.node.place, ..Places::default() };
        params.push(Param { name: entry.key.clone(), value: quantity.value, places });
    }
    params
}

/// An error in what `--set` was given.
fn set_error(reader: &mut Reader<'_>, name: &str, message: &str, help: String) {
    let (file, place) = (format!("--set {name}"), Place::default());
    reader.errors.push(SceneError { file, place, message: message.to_string(), help });
}

fn run(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Run {
    let default = Run::default();
    let until = reader.number(fields, "until").unwrap_or(default.until);
    let run = Run {
        until,
        tolerance: reader.number(fields, "tolerance").unwrap_or(default.tolerance),
        output_interval: reader.number(fields, "output_interval").unwrap_or(until / 200.0),
        integrator: reader.word(fields, "integrator", Integrator::from_name).unwrap_or(default.integrator),
        step: reader.number(fields, "step"),
        max_step: reader.number(fields, "max_step"),
        places: fields.places(),
    };
    let name = run.integrator.name();
    if run.integrator.fixed_step() && fields.get("step").is_none() {
        reader.error(
            fields.place_of("integrator"),
            format!("integrator {name} needs a `step`"),
            "such as step = \"1 ms\"",
        );
    }
    if !run.integrator.fixed_step() && run.step.is_some() {
        let message = format!("integrator {name} chooses its step; `step` has no meaning");
        reader.error(fields.place_of("step"), message, "use max_step, or a fixed-step integrator: rk4, heun, euler");
    }
    run
}

fn contact(reader: &mut Reader<'_>, fields: &Fields<'_>) -> ContactSpec {
    let mut number = |name| reader.number(fields, name);
    let mut spec = ContactSpec {
        restitution: number("restitution"),
        friction: number("friction"),
        static_friction: number("static_friction"),
        rolling: number("rolling"),
        spin: number("spin"),
        stiffness: number("stiffness"),
        exponent: number("exponent"),
        damping: number("damping"),
        damping_max: number("damping_max"),
        restitution_min: number("restitution_min"),
        blend_speed: number("blend_speed"),
        slip_speed: number("slip_speed"),
        spin_speed: number("spin_speed"),
        patch_radius: number("patch_radius"),
        radius: number("radius"),
        modulus: number("modulus"),
        force_max: number("force_max"),
        k_red: number("k_red"),
        places: fields.places(),
        ..ContactSpec::default()
    };
    spec.law = reader.text(fields, "law").map(|word| match NormalLaw::from_name(word) {
        Some(law) => LawChoice::BuiltIn(law),
        None => LawChoice::Custom(word.to_string()),
    });
    spec.friction_law = reader.word(fields, "friction_law", FrictionLaw::from_name);
    spec.lever = reader.word(fields, "lever", Lever::from_name);
    if let (Some(fixed), Some(sliding)) = (spec.static_friction, spec.friction)
        && fixed < sliding
    {
        let message = format!("{} has static_friction {fixed} below friction {sliding}", fields.what);
        reader.error(fields.place_of("static_friction"), message, "static friction is at least sliding friction");
    }
    spec
}

/// Tables by name, in the order of the file.
fn named<'n>(
    reader: &mut Reader<'_>,
    fields: &Fields<'n>,
    key: &str,
    table: &'static format::Table,
) -> Vec<(String, Fields<'n>)> {
    let entries = fields.get(key).and_then(|node| reader.entries(node, key)).unwrap_or_default();
    let mut out = Vec::new();
    for entry in entries {
        check_name(reader, &entry.key, entry.place, table.name);
        out.extend(
            reader
                .fields(&entry.node, table, format!("{} \"{}\"", table.name, entry.key))
                .map(|f| (entry.key.clone(), f)),
        );
    }
    out
}

fn materials(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Vec<Material> {
    let mut materials = Vec::new();
    for (name, fields) in named(reader, fields, "materials", &format::MATERIAL) {
        if BUILT_IN_MATERIALS.contains(&name.as_str()) {
            reader.error(fields.place, format!("material \"{name}\" is built in"), "choose another name");
        }
        let mut number = |key| reader.number(&fields, key).unwrap_or_default();
        let (density, young, poisson) = (number("density"), number("young"), number("poisson"));
        materials.push(Material { name, density, young, poisson, places: fields.places() });
    }
    materials
}

/// The equation under a key.
fn equation(reader: &mut Reader<'_>, fields: &Fields<'_>, name: &str) -> Option<super::Equation> {
    let text = reader.text(fields, name)?.to_string();
    let places = Places { entity: fields.place_of(name), ..Places::default() };
    Some(super::Equation { name: name.to_string(), text, places })
}

fn laws(reader: &mut Reader<'_>, fields: &Fields<'_>, params: &[Param]) -> Vec<Law> {
    let mut laws = Vec::new();
    for (name, fields) in named(reader, fields, "law", &format::LAW) {
        if NormalLaw::from_name(&name).is_some() {
            reader.error(fields.place, format!("law \"{name}\" is built in"), "choose another name");
        }
        let mut lets = Vec::new();
        let before = reader.errors.len();
        for entry in fields.get("let").and_then(|node| reader.entries(node, "let")).unwrap_or_default() {
            check_name(reader, &entry.key, entry.place, "let");
            let text = match &entry.node.value {
                Value::Text(text) => text.text.clone(),
                Value::Number(number) => format!("{number:?}"),
                _ => {
                    let message = format!("{}: {} is {}, not an equation", fields.what, entry.key, entry.node.what());
                    reader.error(entry.node.place, message, "");
                    continue;
                }
            };
            let places = Places { entity: entry.node.place, ..Places::default() };
            lets.push(super::Equation { name: entry.key.clone(), text, places });
        }
        let normal = equation(reader, &fields, "normal").unwrap_or_default();
        let (energy, friction) = (equation(reader, &fields, "energy"), equation(reader, &fields, "friction"));
        let law = Law { name, lets, normal, energy, friction, places: fields.places() };
        if reader.errors.len() == before && fields.get("normal").is_some() {
            check_law(reader, &law, &fields, params);
        }
        laws.push(law);
    }
    laws
}

/// Compiles a law and reports what is wrong with it where it stands in the text.
fn check_law(reader: &mut Reader<'_>, law: &Law, fields: &Fields<'_>, params: &[Param]) {
    let scope = Scope { names: reader.scope.names.iter().take(params.len()).cloned().collect() };
    let Err((k, error)) = law.check(&scope) else { return };
    let lets = fields.get("let").and_then(|node| reader.entries(node, "let")).unwrap_or_default();
    let keys: Vec<&str> = law.outputs().map(|equation| equation.name.as_str()).collect();
    let node = match k.checked_sub(law.lets.len()) {
        None => lets.get(k).map(|entry| &entry.node),
        Some(output) => keys.get(output).and_then(|key| fields.get(key)),
    };
    let name = law.equations().nth(k).map_or("", |equation| equation.name.as_str());
    match node {
        Some(node) => reader.equation_error(node, &format!("{}: {name}", fields.what), &error),
        None => reader.error(fields.place, format!("{}: {}", fields.what, error.message), error.help),
    }
}

/// Two names under a key.
fn two(reader: &mut Reader<'_>, fields: &Fields<'_>, name: &str) -> Option<(String, String)> {
    let texts = reader.texts(fields, name)?;
    match <[(String, Place); 2]>::try_from(texts) {
        Ok([(first, _), (second, _)]) => Some((first, second)),
        Err(texts) => {
            let message = format!("{}: {name} has {} names, not two", fields.what, texts.len());
            reader.error(fields.place_of(name), message, "");
            None
        }
    }
}

/// Reports if not exactly one of two keys is there.
fn exactly_one(reader: &mut Reader<'_>, fields: &Fields<'_>, one: &str, other: &str) -> bool {
    match (fields.get(one), fields.get(other)) {
        (Some(_), Some(node)) => {
            reader.error(node.place, format!("{} has both `{one}` and `{other}`", fields.what), "keep one of them");
            false
        }
        (None, None) => {
            reader.error(fields.place, format!("{} has neither `{one}` nor `{other}`", fields.what), "");
            false
        }
        _ => true,
    }
}

fn pair(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Pair> {
    let contact = contact(reader, fields);
    let ignore = reader.flag(fields, "ignore").unwrap_or(false);
    if !exactly_one(reader, fields, "materials", "bodies") {
        return None;
    }
    let between = match two(reader, fields, "materials") {
        Some((first, second)) => Between::Materials(first, second),
        None => two(reader, fields, "bodies").map(|(first, second)| Between::Bodies(first, second))?,
    };
    Some(Pair { between, contact, ignore, places: fields.places() })
}

fn ignore(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Ignore> {
    if !exactly_one(reader, fields, "bodies", "groups") {
        return None;
    }
    let places = fields.places();
    let group = |name: String| format!("group:{name}");
    let (first, second) = match two(reader, fields, "bodies") {
        Some(bodies) => bodies,
        None => two(reader, fields, "groups").map(|(first, second)| (group(first), group(second)))?,
    };
    Some(Ignore { first, second, places })
}

fn expect(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Expect> {
    let value = equation(reader, fields, "value").unwrap_or_default();
    if let Some((node, Err(error))) = fields.get("value").and_then(|node| match &node.value {
        Value::Text(text) => Some((node, text.tree())),
        _ => None,
    }) {
        reader.equation_error(node, &format!("{}: value", fields.what), error);
    }
    let mut number = |name| reader.number(fields, name);
    let mut expect = Expect {
        value,
        at: number("at"),
        is: number("is"),
        within: number("within"),
        below: number("below"),
        above: number("above"),
        tolerance: number("tolerance"),
        until: number("until"),
        places: fields.places(),
        ..Expect::default()
    };
    expect.relative = reader.flag(fields, "relative").unwrap_or(false);
    expect.source = reader.text(fields, "source").unwrap_or_default().to_string();
    let has = |name| fields.get(name).is_some();
    if !(has("is") || has("below") || has("above")) {
        reader.error(
            fields.place,
            "[[expect]] says nothing about the value",
            "add `is` and `within`, `below` or `above`",
        );
    } else if has("is") != has("within") {
        reader.error(fields.place_of("is"), "[[expect]] needs both `is` and `within`", "within = 0 for exactly equal");
    }
    for entry in fields.get("with").and_then(|node| reader.entries(node, "with")).unwrap_or_default() {
        if !reader.scope.names.iter().any(|(name, _)| *name == entry.key) {
            let known: Vec<String> = reader.scope.names.iter().map(|(name, _)| name.clone()).collect();
            let help = did_you_mean(&entry.key, known.iter().map(String::as_str));
            reader.error(entry.place, format!("[[expect]]: with: unknown parameter `{}`", entry.key), help);
        }
        reader.quantity(&entry.node, &format!("[[expect]]: with: {}", entry.key));
        match &entry.node.value {
            Value::Text(text) => expect.with.push((entry.key.clone(), text.text.clone())),
            Value::Number(number) => expect.with.push((entry.key.clone(), format!("{number:?}"))),
            _ => {}
        }
    }
    Some(expect)
}

/// What `[defaults]` gives to bodies.
#[derive(Default)]
struct Defaults {
    material: Option<String>,
    smoothing: Option<f64>,
    groups: Vec<String>,
    collide: Option<bool>,
}

fn bodies(reader: &mut Reader<'_>, fields: &Fields<'_>, scene: &mut Scene, max_turns: usize) {
    let mut defaults = Defaults::default();
    if let Some(fields) = reader.table(fields, "defaults", &format::DEFAULTS) {
        defaults = Defaults {
            material: reader.text(&fields, "material").map(str::to_string),
            smoothing: reader.number(&fields, "smoothing"),
            groups: names(reader, &fields, "groups"),
            collide: reader.flag(&fields, "collide"),
        };
    }
    let mut turns = max_turns;
    let Some(node) = fields.get("body") else { return };
    for item in reader.items(node, "body") {
        let name = match &item.value {
            Value::Table(entries) => entries.iter().find(|entry| entry.key == "name").map(|entry| &entry.node.value),
            _ => None,
        };
        let what = match name {
            Some(Value::Text(text)) => format!("body \"{}\"", text.text),
            _ => "[[body]]".to_string(),
        };
        let errors_before = reader.errors.len();
        let Some(fields) = reader.fields(item, &format::BODY, what) else { continue };
        let loops = loops(reader, &fields);
        let repeated = Repeated { fields: &fields, places: fields.places(), defaults: &defaults, errors_before };
        if repeated.count(reader, &loops, &mut turns) {
            repeated.each(reader, &loops, &mut scene.bodies);
        }
    }
}

/// The loops of a body, outermost first: name of the index, and the table with its bounds.
fn loops<'n>(reader: &mut Reader<'_>, fields: &Fields<'n>) -> Vec<(String, Fields<'n>)> {
    let Some(node) = fields.get("repeat") else { return Vec::new() };
    let mut loops: Vec<(String, Fields<'n>)> = Vec::new();
    for item in reader.items(node, "repeat") {
        let Some(fields) = reader.fields(item, &format::REPEAT, "repeat") else { continue };
        exactly_one(reader, &fields, "to", "count");
        let Some(index) = reader.text(&fields, "index").map(str::to_string) else { continue };
        check_name(reader, &index, fields.place_of("index"), "index");
        if reader.scope.get(&index).is_some() || loops.iter().any(|(name, _)| *name == index) {
            reader.error(
                fields.place_of("index"),
                format!("index \"{index}\" is already a name"),
                "choose another name",
            );
        }
        loops.push((index, fields));
    }
    loops
}

/// First value of a loop and how many there are.
fn bounds(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<(f64, f64)> {
    let before = reader.errors.len();
    let from = reader.number(fields, "from").unwrap_or(0.0);
    let count = match (reader.number(fields, "to"), reader.number(fields, "count")) {
        (Some(to), _) => to - from + 1.0,
        (None, count) => count?,
    };
    (reader.errors.len() == before).then_some((from, count.max(0.0)))
}

/// Does something for every value of an index, until it says false.
fn in_loop(
    reader: &mut Reader<'_>,
    index: &str,
    from: f64,
    count: f64,
    mut turn: impl FnMut(&mut Reader<'_>) -> bool,
) -> bool {
    let names = reader.scope.names.len();
    (0..count as usize).all(|k| {
        reader.scope.push(index, Quantity::bare(from + k as f64));
        let go_on = turn(reader);
        reader.scope.names.truncate(names);
        go_on
    })
}

/// A body that is being read, once for every value of its loops.
struct Repeated<'a, 'n> {
    fields: &'a Fields<'n>,
    places: Places,
    defaults: &'a Defaults,
    /// Errors before its table was looked at.
    errors_before: usize,
}

impl Repeated<'_, '_> {
    /// Runs the loops; false after the first error, so that it is reported once.
    fn each(&self, reader: &mut Reader<'_>, loops: &[(String, Fields<'_>)], out: &mut Vec<Body>) -> bool {
        let Some((outer, inner)) = loops.split_first() else {
            let before = reader.errors.len();
            out.extend(self.body(reader));
            return reader.errors.len() == before;
        };
        let Some((from, count)) = bounds(reader, &outer.1) else { return false };
        in_loop(reader, &outer.0, from, count, |reader| self.each(reader, inner, out))
    }

    /// Takes the turns of all loops from `left`; false, and an error, if it does not suffice.
    fn count(&self, reader: &mut Reader<'_>, loops: &[(String, Fields<'_>)], left: &mut usize) -> bool {
        let Some((outer, inner)) = loops.split_first() else { return true };
        let Some((from, count)) = bounds(reader, &outer.1) else { return false };
        if count > *left as f64 {
            let message = format!("{} is repeated too often", self.fields.what);
            reader.error(outer.1.place, message, format!("the loops of a scene take at most {MAX_TURNS} turns in all"));
            return false;
        }
        *left -= count as usize;
        inner.is_empty() || in_loop(reader, &outer.0, from, count, |reader| self.count(reader, inner, left))
    }

    /// The body for the present values of the loops.
    fn body(&self, reader: &mut Reader<'_>) -> Option<Body> {
        let (fields, defaults) = (self.fields, self.defaults);
        let name_node = fields.get("name")?;
        let name = reader.text(fields, "name").map(|name| reader.filled(name_node, name))?;
        check_name(reader, &name, name_node.place, "body");
        let fields = &Fields { what: format!("body \"{name}\""), ..fields.clone() };
        let material = filled_text(reader, fields, "material").or_else(|| defaults.material.clone());
        let mut body = Body {
            name,
            fixed: reader.flag(fields, "fixed").unwrap_or(false),
            shapes: shapes(reader, fields, defaults),
            material,
            density: reader.number(fields, "density"),
            position: reader.vec3(fields, "position").unwrap_or_default(),
            orientation: reader.orientation(fields).unwrap_or(Quat::IDENTITY),
            velocity: reader.vec3(fields, "velocity").unwrap_or_default(),
            angular_velocity: reader.vec3(fields, "angular_velocity").unwrap_or_default(),
            mass: reader.number(fields, "mass"),
            inertia: inertia(reader, fields),
            center_of_mass: reader.vec3(fields, "center_of_mass"),
            motion: None,
            groups: reader.texts(fields, "groups").map_or_else(|| defaults.groups.clone(), without_places),
            ignore: names(reader, fields, "ignore"),
            collide: reader.flag(fields, "collide").or(defaults.collide).unwrap_or(true),
            places: self.places.clone(),
        };
        if let Some(omega_b) = reader.vec3(fields, "angular_velocity_body") {
            body.angular_velocity = body.orientation * omega_b;
        }
        if let Some(motion) = reader.table(fields, "motion", &format::MOTION) {
            body.motion = Some(Motion {
                velocity: reader.vec3(&motion, "velocity").unwrap_or_default(),
                angular_velocity: reader.vec3(&motion, "angular_velocity").unwrap_or_default(),
            });
        }
        let whole = reader.errors.len() == self.errors_before;
        check_body(reader, fields, &body, whole);
        Some(body)
    }
}

fn without_places(texts: Vec<(String, Place)>) -> Vec<String> {
    texts.into_iter().map(|(text, _)| text).collect()
}

fn filled_text(reader: &mut Reader<'_>, fields: &Fields<'_>, name: &str) -> Option<String> {
    let node = fields.get(name)?;
    reader.text(fields, name).map(|text| reader.filled(node, text))
}

/// What one body says must not contradict itself. What it lacks is reported only if the rest could be read.
fn check_body(reader: &mut Reader<'_>, fields: &Fields<'_>, body: &Body, whole: bool) {
    let what = &fields.what;
    let both = [
        ("shape", "shapes", "keep one of them"),
        ("mass", "density", "the density follows from mass and shape: keep one of them"),
        ("angular_velocity", "angular_velocity_body", "keep one of them"),
        ("motion", "velocity", "a given motion is the velocity"),
        ("motion", "angular_velocity", "a given motion is the velocity"),
        ("motion", "angular_velocity_body", "a given motion is the velocity"),
    ];
    for (one, other, help) in both {
        if let (Some(_), Some(node)) = (fields.get(one), fields.get(other)) {
            reader.error(node.place, format!("{what} has both `{one}` and `{other}`"), help);
        }
    }
    for name in ["velocity", "angular_velocity", "angular_velocity_body", "motion"] {
        if let (true, Some(node)) = (body.fixed, fields.get(name)) {
            reader.error(node.place, format!("{what} is fixed and has `{name}`"), "leave out one of them");
        }
    }
    if let (Some(node), None) = (fields.get("inertia"), fields.get("mass")) {
        reader.error(node.place, format!("{what} has `inertia` but no `mass`"), "give both, or none to compute them");
    }
    if body.mass.is_some()
        && let Some(shape) = body.shapes.iter().find(|shape| shape.density.is_some())
    {
        let help = "the density follows from mass and shape: keep one of them";
        reader.error(shape.places.of("density"), format!("{what} has `mass` and a shape with `density`"), help);
    }
    if body.fixed || body.motion.is_some() || !whole {
        return;
    }
    for shape in &body.shapes {
        let unbounded = match shape.kind {
            ShapeKind::HalfSpace { .. } => "half_space",
            ShapeKind::HeightGrid { .. } => "height_grid",
            _ => continue,
        };
        reader.error(shape.places.entity, format!("{what} moves freely and has a {unbounded}"), "write fixed = true");
    }
    if body.shapes.is_empty() && (body.mass.is_none() || body.inertia.is_none()) {
        let help = "give it a shape, or mass and inertia, or write fixed = true";
        reader.error(fields.place, format!("{what} moves freely and has neither a shape nor mass and inertia"), help);
    }
    let weightless =
        |shape: &ShapeSpec| [&shape.material, &body.material].iter().all(|m| m.is_none()) && shape.density.is_none();
    if body.mass.is_none() && body.density.is_none() && body.shapes.iter().any(weightless) {
        let help = "give a material, a density, or the mass";
        reader.error(fields.place, format!("{what} has no mass and no material to compute it from"), help);
    }
}

/// Inertia as a diagonal or a 3x3 matrix. A rigid body's principal moments are positive and none exceeds the sum of the
/// other two: I and tr(I)/2 - I have no negative eigenvalue.
fn inertia(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Mat3> {
    let (node, key) = (fields.get("inertia")?, fields.table.key("inertia")?);
    let measure = format::Measure { dimension: Some(crate::equation::Dimension::INERTIA), range: format::Range::Any };
    let rows = match &node.value {
        Value::List(items) if matches!(items.first().map(|item| &item.value), Some(Value::List(_))) => {
            if items.len() != 3 {
                reader.error(node.place, format!("{}: inertia has {} rows, not 3", fields.what, items.len()), "");
                return None;
            }
            let mut rows = [[0.0; 3]; 3];
            for (row, item) in rows.iter_mut().zip(items) {
                *row = reader.numbers(item, measure, &fields.what, key)?;
            }
            rows
        }
        _ => {
            let [x, y, z] = reader.numbers(node, measure, &fields.what, key)?;
            [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]]
        }
    };
    let I = Mat3::from_cols_array_2d(&rows);
    let scale = rows.iter().flatten().fold(0.0, |m: f64, x| m.max(x.abs()));
    let symmetric = (0..3).all(|i| (0..3).all(|j| (rows[i][j] - rows[j][i]).abs() <= 1e-9 * scale));
    let half_trace = 0.5 * (rows[0][0] + rows[1][1] + rows[2][2]);
    let spread = Mat3::from_diagonal(Vec3::splat(half_trace)) - I;
    let message = if !symmetric {
        "is not symmetric"
    } else if !positive(I, 0.0) || scale == 0.0 {
        "is not positive"
    } else if !positive(spread, 1e-9 * scale) {
        "belongs to no body: one principal moment exceeds the sum of the other two"
    } else {
        return Some(I);
    };
    reader.error(node.place, format!("{}: inertia {message}", fields.what), key.help);
    None
}

/// True if no eigenvalue of a symmetric matrix is below -slack (leading minors of A + slack).
fn positive(A: Mat3, slack: f64) -> bool {
    let A = A + Mat3::from_diagonal(Vec3::splat(slack));
    let (a, b, c) = (A.x_axis, A.y_axis, A.z_axis);
    a.x > 0.0 && a.x * b.y - a.y * b.x > 0.0 && a.dot(b.cross(c)) > 0.0
}

fn shapes(reader: &mut Reader<'_>, fields: &Fields<'_>, defaults: &Defaults) -> Vec<ShapeSpec> {
    let mut shapes = Vec::new();
    if let Some(node) = fields.get("shape") {
        shapes.extend(shape(reader, node, &fields.what, defaults));
    }
    if let Some(node) = fields.get("shapes") {
        for item in reader.items(node, &format!("{}: shapes", fields.what)) {
            shapes.extend(shape(reader, item, &fields.what, defaults));
        }
    }
    shapes
}

fn shape(reader: &mut Reader<'_>, node: &Node, body: &str, defaults: &Defaults) -> Option<ShapeSpec> {
    let what = format!("{body}: shape");
    let entries = reader.entries(node, &what)?;
    let kinds = || format::SHAPES.iter().map(|table| table.name);
    let Some(kind) = entries.iter().find(|entry| entry.key == "kind") else {
        reader.error(
            node.place,
            format!("{what} has no `kind`"),
            format!("one of {}", kinds().collect::<Vec<_>>().join(", ")),
        );
        return None;
    };
    let table = match &kind.node.value {
        Value::Text(text) => format::SHAPES.iter().find(|table| table.name == text.text).ok_or(text.text.as_str()),
        _ => Err(""),
    };
    let table = match table {
        Ok(table) => table,
        Err(word) => {
            reader.error(kind.node.place, format!("{what} has unknown kind \"{word}\""), did_you_mean(word, kinds()));
            return None;
        }
    };
    let fields = reader.fields(node, table, format!("{body}: {}", table.name))?;
    let form = shape_kind(reader, &fields, defaults);
    let spec = ShapeSpec {
        kind: form.clone().unwrap_or(ShapeKind::Sphere { radius: 1.0 }),
        position: reader.vec3(&fields, "position").unwrap_or_default(),
        orientation: reader.orientation(&fields).unwrap_or(Quat::IDENTITY),
        material: filled_text(reader, &fields, "material"),
        density: reader.number(&fields, "density"),
        collide: reader.flag(&fields, "collide").unwrap_or(true),
        places: fields.places(),
    };
    form.map(|_| spec)
}

fn shape_kind(reader: &mut Reader<'_>, fields: &Fields<'_>, defaults: &Defaults) -> Option<ShapeKind> {
    let kind = fields.table.name;
    let radius = |reader: &mut Reader<'_>| {
        exactly_one(reader, fields, "radius", "diameter")
            .then(|| reader.number(fields, "radius").or_else(|| reader.number(fields, "diameter").map(|d| 0.5 * d)))?
    };
    let halves = |reader: &mut Reader<'_>, half: &str, whole: &str| {
        exactly_one(reader, fields, half, whole)
            .then(|| reader.vec3(fields, half).or_else(|| reader.vec3(fields, whole).map(|size| 0.5 * size)))?
    };
    // The smallest half dimension bounds the rounding of edges.
    let smoothing = |reader: &mut Reader<'_>, half: f64| {
        let smoothing = match reader.number(fields, "smoothing") {
            None => return defaults.smoothing.map(|smoothing| smoothing.min(half)),
            given => given,
        };
        if let Some(given) = smoothing.filter(|given| *given > half) {
            let message = format!("{} has smoothing {given} m; half its smallest dimension is {half} m", fields.what);
            reader.error(fields.place_of("smoothing"), message, "rounding stays inside the outer dimensions");
        }
        smoothing
    };
    Some(match kind {
        "sphere" => ShapeKind::Sphere { radius: radius(reader)? },
        "ellipsoid" => ShapeKind::Ellipsoid { semi_axes: halves(reader, "semi_axes", "lengths")? },
        "box" => {
            let half_extents = halves(reader, "half_extents", "size")?;
            ShapeKind::Box { half_extents, smoothing: smoothing(reader, half_extents.min_element()) }
        }
        "cylinder" | "capsule" | "cone" => {
            let (radius, length) = (radius(reader), reader.number(fields, "length"));
            let axis = reader.word(fields, "axis", Axis::from_name).unwrap_or(Axis::Z);
            let (radius, length) = (radius?, length?);
            match kind {
                "capsule" => ShapeKind::Capsule { radius, length, axis },
                "cylinder" => {
                    ShapeKind::Cylinder { radius, length, axis, smoothing: smoothing(reader, radius.min(0.5 * length)) }
                }
                _ => {
                    let top_radius = reader.number(fields, "top_radius").unwrap_or(0.0);
                    let smoothing = smoothing(reader, radius.min(0.5 * length));
                    ShapeKind::Cone { radius, top_radius, length, axis, smoothing }
                }
            }
        }
        "half_space" => ShapeKind::HalfSpace {
            normal: if fields.get("normal").is_some() { reader.direction(fields, "normal")? } else { Vec3::Z },
        },
        "hull" => hull(reader, fields, defaults)?,
        _ => height_grid(reader, fields)?,
    })
}

fn hull(reader: &mut Reader<'_>, fields: &Fields<'_>, defaults: &Defaults) -> Option<ShapeKind> {
    let (node, key) = (fields.get("points")?, fields.table.key("points")?);
    let measure = format::Measure { dimension: Some(crate::equation::Dimension::LENGTH), range: format::Range::Any };
    let mut points = Vec::new();
    for item in reader.items(node, &format!("{}: points", fields.what)) {
        points.push(Vec3::from_array(reader.numbers(item, measure, &fields.what, key)?));
    }
    if points.len() < 4 {
        reader.error(node.place, format!("{} has {} points; a hull has at least 4", fields.what, points.len()), "");
        return None;
    }
    Some(ShapeKind::Hull { points, smoothing: reader.number(fields, "smoothing").or(defaults.smoothing) })
}

fn height_grid(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<ShapeKind> {
    let (node, key) = (fields.get("heights")?, fields.table.key("heights")?);
    let size = reader.vector::<2>(fields, "size");
    let measure = format::Measure { dimension: Some(crate::equation::Dimension::LENGTH), range: format::Range::Any };
    let what = format!("{}: heights", fields.what);
    let mut heights: Vec<Vec<f64>> = Vec::new();
    for row in reader.items(node, &what) {
        let mut numbers = Vec::new();
        for item in reader.items(row, &what) {
            numbers.push(reader.measured(item, measure, &fields.what, key)?);
        }
        if heights.first().is_some_and(|first| first.len() != numbers.len()) {
            reader.error(row.place, format!("{what}: rows of different length"), "");
            return None;
        }
        heights.push(numbers);
    }
    if heights.len() < 2 || heights[0].len() < 2 {
        reader.error(node.place, format!("{what}: a grid has at least 2 by 2 heights"), "");
        return None;
    }
    Some(ShapeKind::HeightGrid { heights, size: size? })
}

/// Every name that is used is defined, and defined once.
fn check_references(reader: &mut Reader<'_>, scene: &Scene) {
    let mut names: BTreeMap<&str, Place> = BTreeMap::new();
    let mut groups: BTreeSet<&str> = BTreeSet::new();
    for body in &scene.bodies {
        if let Some(first) = names.insert(&body.name, body.places.entity) {
            let help = if first == body.places.entity {
                "use every index of `repeat` in the name, such as \"ball_{k}\"".to_string()
            } else {
                format!("the other one is in line {}", first.line)
            };
            reader.error(body.places.of("name"), format!("two bodies have the name \"{}\"", body.name), help);
        }
        groups.extend(body.groups.iter().map(String::as_str));
    }
    let materials: Vec<&str> =
        BUILT_IN_MATERIALS.iter().copied().chain(scene.materials.iter().map(|m| m.name.as_str())).collect();
    let mut references = References { reader, names, groups, materials, reported: BTreeSet::new() };
    for body in &scene.bodies {
        let what = format!("body \"{}\"", body.name);
        if let Some(material) = &body.material {
            references.material(material, body.places.of("material"), &what);
        }
        for shape in &body.shapes {
            if let Some(material) = &shape.material {
                references.material(material, shape.places.of("material"), &what);
            }
        }
        for name in &body.ignore {
            references.body(name, body.places.of("ignore"), &what);
        }
    }
    for ignore in &scene.ignores {
        let place = ignore.places.entity;
        references.body(&ignore.first, place, "[[ignore]]");
        references.body(&ignore.second, place, "[[ignore]]");
    }
    let laws: Vec<&str> =
        NormalLaw::NAMES.iter().copied().chain(scene.laws.iter().map(|law| law.name.as_str())).collect();
    let mut pairs: BTreeSet<(bool, &str, &str)> = BTreeSet::new();
    for pair in &scene.pairs {
        let (is_material, first, second) = match &pair.between {
            Between::Materials(first, second) => {
                let place = pair.places.of("materials");
                references.material(first, place, "[[pair]]");
                references.material(second, place, "[[pair]]");
                (true, first, second)
            }
            Between::Bodies(first, second) => {
                let place = pair.places.of("bodies");
                references.body(first, place, "[[pair]]");
                references.body(second, place, "[[pair]]");
                (false, first, second)
            }
        };
        if !pairs.insert((is_material, first.min(second), first.max(second))) {
            let message = format!("two [[pair]]s are for \"{first}\" and \"{second}\"");
            references.reader.error(pair.places.entity, message, "");
        }
    }
    for contact in scene.pairs.iter().map(|pair| &pair.contact).chain([&scene.contact]) {
        if let Some(LawChoice::Custom(name)) = &contact.law
            && !laws.contains(&name.as_str())
        {
            let help = did_you_mean(name, laws.iter().copied());
            references.reader.error(contact.places.of("law"), format!("unknown law \"{name}\""), help);
        }
    }
}

struct References<'a, 'f> {
    reader: &'a mut Reader<'f>,
    names: BTreeMap<&'a str, Place>,
    groups: BTreeSet<&'a str>,
    materials: Vec<&'a str>,
    /// So that copies of a body do not repeat an error.
    reported: BTreeSet<(Place, String)>,
}

impl References<'_, '_> {
    fn material(&mut self, name: &str, place: Place, what: &str) {
        if !self.materials.contains(&name) {
            let help = did_you_mean(name, self.materials.iter().copied());
            self.report(name, place, format!("{what}: unknown material \"{name}\""), help);
        }
    }

    fn body(&mut self, name: &str, place: Place, what: &str) {
        match name.strip_prefix("group:") {
            Some(group) if !self.groups.contains(group) => {
                let help = did_you_mean(group, self.groups.iter().copied());
                self.report(name, place, format!("{what}: no body is in the group \"{group}\""), help);
            }
            None if !self.names.contains_key(name) => {
                let help = closest(name, self.names.keys().copied())
                    .map_or(String::new(), |best| format!("did you mean `{best}`?"));
                self.report(name, place, format!("{what}: unknown body \"{name}\""), help);
            }
            _ => {}
        }
    }

    fn report(&mut self, name: &str, place: Place, message: String, help: String) {
        if self.reported.insert((place, name.to_string())) {
            self.reader.error(place, message, help);
        }
    }
}
