//! From the tree of a file to a [`Scene`].

use super::format;
use super::node::{Node, Value};
use super::reader::{Fields, Reader};
use super::*;
use crate::equation::{Quantity, Scope, Tree};
use tippe_parts::contact::curve::Curve;

/// Points of a curve at most.
const MOST_CURVE_POINTS: usize = Curve::MOST;

/// Reads a scene; `sets` override parameters. The errors of `reader` say whether it is whole.
pub(super) fn scene(reader: &mut Reader<'_>, top: &Node, sets: &[(String, String)]) -> Scene {
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
        scene.attractors = attractors(reader, &world);
    }
    if let Some(fields) = reader.table(&fields, "run", table_of("run")) {
        scene.run = run(reader, &fields);
    }
    if let Some(fields) = reader.table(&fields, "realtime", table_of("realtime")) {
        scene.realtime = realtime(reader, &fields);
    }
    if let Some(fields) = reader.table(&fields, "granular", table_of("granular")) {
        scene.granular = read_grains::granular(reader, &fields);
    }
    if let Some(fields) = reader.table(&fields, "contact", &format::CONTACT) {
        scene.contact = contact(reader, &fields);
    }
    scene.materials = materials(reader, &fields);
    scene.laws = laws(reader, &fields, &scene.params);
    scene.pairs = list(reader, &fields, "pair", &format::PAIR, pair);
    include::includes(reader, &fields, &mut scene);
    let made = vehicle::expand(reader, &fields, scene.gravity);
    let (entries, vehicles) = made.unwrap_or((Vec::new(), Vec::new()));
    let fields = if entries.is_empty() { fields } else { Fields { entries: &entries, ..fields } };
    scene.vehicles = vehicles;
    read_solid::solids(reader, &fields, &mut scene);
    read_body::bodies(reader, &fields, &mut scene);
    read_grains::grains(reader, &fields, &mut scene);
    read_grains::sinks(reader, &fields, &mut scene);
    read_grains::probes(reader, &fields, &mut scene);
    soil::soils(reader, &fields, &mut scene);
    flexible::lay_all(&mut scene);
    read_mechanism::mechanism(reader, &fields, &mut scene);
    cable::lay_all(reader, &mut scene);
    fluid::part_all(reader, &mut scene);
    // interfaces stand behind all other bodies, also where a scene is written and read again
    scene.bodies.sort_by_key(|body| body.interface_of.is_some());
    scene.ignores.extend(list(reader, &fields, "ignore", &format::IGNORE, ignore));
    scene.optimize = optimize::read(reader, &scene, &fields);
    let params = scene.params.len();
    scene.expects = list(reader, &fields, "expect", &format::EXPECT, |reader, fields| expect(reader, fields, params));
    scene.places = fields.places();
    references::check(reader, &scene);
    if scene.bodies.is_empty() && scene.grains.is_empty() && scene.soils.is_empty() && reader.errors.is_empty() {
        let help = "add [[body]] with a name, a shape and a material; `tippe new NAME` writes a scene to start from";
        reader.error(fields.place_of("body"), "the scene has no bodies", help);
    }
    scene
}

fn attractors(reader: &mut Reader<'_>, world: &Fields<'_>) -> Vec<Attractor> {
    let mut attractors = Vec::new();
    let Some(node) = world.get("attractors") else { return attractors };
    for item in reader.items(node, "[world]: attractors") {
        let Some(fields) = reader.fields(item, &format_mechanism::ATTRACTOR, "attractor") else { continue };
        let position = reader.vec3(&fields, "position").unwrap_or_default();
        attractors.extend(reader.number(&fields, "mu").map(|mu| Attractor { position, mu }));
    }
    attractors
}

/// The table the format has under a top-level key.
fn table_of(name: &str) -> &'static format::Table {
    match format::SCENE.key(name).map(|key| &key.form) {
        Some(format::Form::Table(table)) => table,
        _ => &format::SCENE,
    }
}

/// Every table of a list, read, with the copies its `repeat` asks for.
fn list<T>(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    name: &str,
    table: &'static format::Table,
    read: impl Fn(&mut Reader<'_>, &Fields<'_>) -> Option<T>,
) -> Vec<T> {
    let Some(node) = fields.get(name) else { return Vec::new() };
    let mut out = Vec::new();
    for item in reader.items(node, name) {
        if let Some(fields) = reader.fields(item, table, table.name) {
            repeat::repeated(reader, &fields, |reader| out.extend(read(reader, &fields)));
        }
    }
    out
}

/// Texts without their places.
pub(super) fn names(reader: &mut Reader<'_>, fields: &Fields<'_>, name: &str) -> Vec<String> {
    reader.texts(fields, name).unwrap_or_default().into_iter().map(|(text, _)| text).collect()
}

/// True for what expressions can use as a name.
fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_alphabetic() || c == '_') && letters.all(|c| c.is_alphanumeric() || c == '_')
}

/// Reports a name expressions could not use; `what` is what it names.
pub(super) fn check_name(reader: &mut Reader<'_>, name: &str, place: Place, what: &str) {
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

/// Reports a name nothing in a scene can have: it consists of names joined by dots, and is not the world's.
pub(super) fn check_path(reader: &mut Reader<'_>, name: &str, place: Place, what: &str) {
    if name == "world" || (name == "t" && what != "body") {
        let means = if name == "t" { "the time" } else { "the ground" };
        reader.error(place, format!("{what} \"{name}\" has the name of {means}"), "choose another name");
    } else if !name.split('.').all(is_name) {
        let help = "a name has letters, digits and _, and no digit first";
        reader.error(place, format!("{what} \"{name}\" is no name"), help);
    } else {
        name.split('.').for_each(|part| check_name(reader, part, place, what));
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
        params.push(Param { name: entry.key.clone(), value: quantity.value, kind: quantity.kind, places });
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
        clock: reader.word(fields, "clock", Clock::from_name).unwrap_or(default.clock),
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

fn realtime(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Realtime {
    let default = Realtime::default();
    let count = |reader: &mut Reader<'_>, name| reader.number(fields, name).map(|n| n as usize);
    let realtime = Realtime {
        step: reader.number(fields, "step").unwrap_or(default.step),
        friction: reader.word(fields, "friction", FrictionBound::from_name).unwrap_or(default.friction),
        passes: count(reader, "passes").unwrap_or(default.passes),
        points: count(reader, "points").unwrap_or(default.points),
        solver: reader.word(fields, "solver", Solver::from_name).unwrap_or(default.solver),
        coupled: reader.word(fields, "coupled", Coupled::from_name).unwrap_or(default.coupled),
        sweeps: count(reader, "sweeps").unwrap_or(default.sweeps),
        friction_load: reader.word(fields, "friction_load", FrictionLoad::from_name).unwrap_or(default.friction_load),
        direct_bodies: count(reader, "direct_bodies").unwrap_or(default.direct_bodies),
        max_contacts: count(reader, "max_contacts"),
        merge_distance: reader.number(fields, "merge_distance").unwrap_or(default.merge_distance),
        search_margin: reader.number(fields, "search_margin"),
        sleeping: reader.flag(fields, "sleeping").unwrap_or(default.sleeping),
        places: fields.places(),
    };
    few_points(reader, fields, realtime.points);
    realtime
}

fn few_points(reader: &mut Reader<'_>, fields: &Fields<'_>, points: usize) {
    if points > format::MOST_POINTS {
        let message = format!("{} has points {points}; a pair has at most {}", fields.what, format::MOST_POINTS);
        reader.error(fields.place_of("points"), message, "4 carry a face, 8 an edge of many corners");
    }
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
        spin_damping: number("spin_damping"),
        radius: number("radius"),
        modulus: number("modulus"),
        force_max: number("force_max"),
        normal_force_max: number("normal_force_max"),
        adhesion: number("adhesion"),
        adhesion_pressure: number("adhesion_pressure"),
        slip: number("slip"),
        bristle_stiffness: number("bristle_stiffness"),
        friction_force: number("friction_force"),
        points: number("points").map(|n| n as usize),
        k_red: number("k_red"),
        places: fields.places(),
        ..ContactSpec::default()
    };
    few_points(reader, fields, spec.points.unwrap_or(0));
    spec.law = reader.text(fields, "law").map(|word| match NormalLaw::from_name(word) {
        Some(law) => LawChoice::BuiltIn(law),
        None => LawChoice::Custom(word.to_string()),
    });
    spec.friction_law = reader.word(fields, "friction_law", FrictionLaw::from_name);
    spec.lever = reader.word(fields, "lever", Lever::from_name);
    for (one, other) in [
        ("friction_curve", "friction"),
        ("friction_curve", "static_friction"),
        ("friction_force", "friction"),
        ("friction_force", "static_friction"),
        ("friction_force", "friction_curve"),
        ("restitution_curve", "restitution"),
    ] {
        if fields.get(one).is_some() && fields.get(other).is_some() {
            let message = format!("{} has {one} and {other}", fields.what);
            reader.error(fields.place_of(other), message, "one of the two says how they touch");
        }
    }
    spec.friction_curve = curve(reader, fields, "friction_curve", f64::INFINITY);
    spec.restitution_curve = curve(reader, fields, "restitution_curve", 1.0);
    if let (Some(fixed), Some(sliding)) = (spec.static_friction, spec.friction)
        && fixed < sliding
    {
        let message = format!("{} has static_friction {fixed} below friction {sliding}", fields.what);
        reader.error(fields.place_of("static_friction"), message, "static friction is at least sliding friction");
    }
    spec
}

/// Points of a curve over a speed: from 2 to 8 of them, ascending, none above `most`.
fn curve(reader: &mut Reader<'_>, fields: &Fields<'_>, name: &str, most: f64) -> Option<Vec<[f64; 2]>> {
    let (node, key) = (fields.get(name)?, fields.table.key(name)?);
    let measure = format::Measure { dimension: None, range: format::Range::NotNegative };
    let mut points: Vec<[f64; 2]> = Vec::new();
    for item in reader.items(node, &format!("{}: {name}", fields.what)) {
        points.push(reader.numbers(item, measure, &fields.what, key)?);
    }
    let help =
        "such as [[0, 0.5], [\"0.1 m/s\", 0.3], [\"1 m/s\", 0.2]]: straight between its points, level beyond them";
    let wrong = if points.len() < 2 || points.len() > MOST_CURVE_POINTS {
        Some(format!("{} points; a curve has 2 to {MOST_CURVE_POINTS}", points.len()))
    } else if let Some(pair) = points.windows(2).find(|pair| pair[1][0] <= pair[0][0]) {
        Some(format!("a speed of {} m/s behind {} m/s; speeds ascend", pair[1][0], pair[0][0]))
    } else {
        let high = points.iter().find(|point| point[1] > most);
        high.map(|point| format!("{} at {} m/s; it is at most {most}", point[1], point[0]))
    };
    if let Some(wrong) = wrong {
        reader.error(node.place, format!("{}: {name} has {wrong}", fields.what), help);
        return None;
    }
    Some(points)
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
        check_path(reader, &entry.key, entry.place, table.name);
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
pub(super) fn exactly_one(reader: &mut Reader<'_>, fields: &Fields<'_>, one: &str, other: &str) -> bool {
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

/// An expectation of a scene with so many parameters.
fn expect(reader: &mut Reader<'_>, fields: &Fields<'_>, params: usize) -> Option<Expect> {
    let mut value = equation(reader, fields, "value").unwrap_or_default();
    if let Some(node) = fields.get("value") {
        value.text = reader.filled(node, &value.text);
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
    expect.clock = reader.word(fields, "clock", ExpectClock::from_name);
    if let (Some(clock @ (ExpectClock::Realtime | ExpectClock::Granular)), Some(_)) = (expect.clock, expect.tolerance) {
        let message = format!("[[expect]]: the {0} clock has no `tolerance`", clock.name());
        reader.error(
            fields.place_of("tolerance"),
            message,
            "its step is that of its own table; make it a parameter to change it",
        );
    }
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
    if expect.relative && expect.is == Some(0.0) {
        reader.error(fields.place_of("relative"), "[[expect]]: a fraction of 0 is 0", "leave out `relative`");
    }
    // What `with` gives is read again with the parameters alone: an index of `repeat` has to be filled in.
    let params = Scope { names: reader.scope.names[..params].to_vec() };
    for entry in fields.get("with").and_then(|node| reader.entries(node, "with")).unwrap_or_default() {
        if params.get(&entry.key).is_none() {
            let help = did_you_mean(&entry.key, params.names.iter().map(|(name, _)| name.as_str()));
            reader.error(entry.place, format!("[[expect]]: with: unknown parameter `{}`", entry.key), help);
        }
        let what = format!("[[expect]]: with: {}", entry.key);
        match &entry.node.value {
            Value::Text(text) => {
                let text = reader.filled(&entry.node, &text.text);
                if let Err(error) = Tree::parse(&text).and_then(|tree| tree.evaluate(&params)) {
                    reader.equation_error(&entry.node, &what, &error);
                }
                expect.with.push((entry.key.clone(), text));
            }
            _ => {
                let number = reader.quantity(&entry.node, &what);
                expect.with.extend(number.map(|number| (entry.key.clone(), format!("{:?}", number.value))));
            }
        }
    }
    Some(expect)
}
