//! Grains, and the settings of their clock.

use super::format::Form;
use super::format_grains::{GRAINS, METHODS, PACKINGS, PROBE, ROLLING_LAWS, SERVO, SINK};
use super::read::check_path;
use super::read_mechanism::{filled, keys_of_kind, missing};
use super::reader::{Fields, Reader};
use super::*;
use std::path::Path;
use tippe_granular::{ClumpSphere, Cohesion, Domain, Grain, Rolling, Sizes, Solid, grains_from_csv};

/// Reads all sets of grains into `scene`.
pub(super) fn grains(reader: &mut Reader<'_>, fields: &Fields<'_>, scene: &mut Scene) {
    let Some(node) = fields.get("grains") else { return };
    for item in reader.items(node, "grains") {
        let Some(fields) = reader.fields(item, &GRAINS, "[[grains]]") else { continue };
        let first = scene.grains.len();
        repeat::repeated(reader, &fields, |reader| {
            let Some(mut set) = set(reader, &fields) else { return };
            // copies of one table that have one name are one set
            if let Some(last) = scene.grains[first..].last_mut().filter(|last| last.name == set.name)
                && let (Packing::Listed(all), Packing::Listed(more)) = (&mut last.packing, &mut set.packing)
            {
                all.append(more);
            } else {
                scene.grains.push(set);
            }
        });
    }
}

fn set(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<GrainsSpec> {
    let name = filled(reader, fields, "name")?;
    check_path(reader, &name, fields.place_of("name"), "grains");
    let fields = &Fields { what: format!("grains \"{name}\""), ..fields.clone() };
    let before = reader.errors.len();
    let word = reader.word(fields, "packing", |word| PACKINGS.iter().find(|known| **known == word).copied())?;
    keys_of_kind(reader, fields, word);
    let clump = clump(reader, fields);
    let own_radius = clump.as_ref().map(ClumpSpec::reach);
    let packing = match word {
        "lattice" => region(reader, fields, own_radius)
            .map(|region| Packing::Lattice { region, jitter: reader.number(fields, "jitter").unwrap_or(0.0) }),
        "random" => region(reader, fields, own_radius).map(Packing::Random),
        "emitter" => emitter(reader, fields),
        "soil" => soil(reader, fields),
        "listed" => listed(reader, fields, own_radius).map(Packing::Listed),
        _ => file(reader, fields).map(Packing::Listed),
    };
    let spec = GrainsSpec {
        name,
        material: filled(reader, fields, "material").unwrap_or_default(),
        velocity: reader.vec3(fields, "velocity").unwrap_or_default(),
        angular_velocity: reader.vec3(fields, "angular_velocity").unwrap_or_default(),
        frozen: reader.flag(fields, "frozen").unwrap_or(false),
        restitution: reader.number(fields, "restitution"),
        friction: reader.number(fields, "friction"),
        rolling: rolling(reader, fields),
        cohesion: cohesion(reader, fields),
        places: fields.places(),
        packing: packing?,
        clump,
    };
    (reader.errors.len() == before).then_some(spec)
}

/// The clump that stands at each place, if any.
fn clump(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<ClumpSpec> {
    let seed = reader.number(fields, "clump_seed").map(|seed| seed as i64 as u64);
    let of = if fields.get("hull").is_some() { "hull" } else { "clump" };
    if fields.get(of).is_none() {
        if seed.is_some() {
            missing(reader, fields, "clump", "the spheres of a clump");
        }
        return None;
    }
    let place = fields.place_of(of);
    if reader.flag(fields, "frozen") == Some(true) {
        let message = format!("{} are {of}s and frozen", fields.what);
        let help = match of {
            "hull" => "a fixed body with shape = { kind = \"hull\", ... } for what never moves",
            _ => "list the spheres of what never moves instead",
        };
        reader.error(fields.place_of("frozen"), message, help);
    }
    if of == "hull" {
        return hull(reader, fields, place).map(|corners| ClumpSpec { form: ClumpForm::Hull(corners), seed });
    }
    let spheres: Vec<[f64; 4]> = rows(reader, fields, "clump")?;
    if spheres.is_empty() {
        reader.error(place, format!("{}: its clump has no spheres", fields.what), "x, y, z and radius of each");
        return None;
    }
    if let Some(k) = spheres.iter().position(|sphere| sphere[3].is_nan() || sphere[3] <= 0.0) {
        let message = format!("{}: sphere {k} of its clump has radius {}; a radius is > 0", fields.what, spheres[k][3]);
        reader.error(place, message, "x, y, z and radius of each");
        return None;
    }
    let sphere = |[x, y, z, radius]: [f64; 4]| ClumpSphere { position: Vec3::new(x, y, z), radius };
    Some(ClumpSpec { form: ClumpForm::Spheres(spheres.into_iter().map(sphere).collect()), seed })
}

/// Corners of the polyhedron that stands at each place, and nothing that only balls have.
fn hull(reader: &mut Reader<'_>, fields: &Fields<'_>, place: Place) -> Option<Vec<Vec3>> {
    let corners: Vec<[f64; 3]> = rows(reader, fields, "hull")?;
    for key in ["clump", "rolling", "adhesion", "cohesion"] {
        if fields.get(key).is_some() {
            let message = format!("{} are hulls, and `{key}` is for balls", fields.what);
            reader.error(fields.place_of(key), message, "leave one of the two away");
            return None;
        }
    }
    let corners: Vec<Vec3> = corners.into_iter().map(Vec3::from_array).collect();
    if let Err(what) = Solid::new(&corners, 1.0) {
        let message = format!("{}: its hull is none: {what}", fields.what);
        reader.error(place, message, "four corners or more that do not lie in one plane");
        return None;
    }
    Some(corners)
}

/// Reads all sinks into `scene`.
pub(super) fn sinks(reader: &mut Reader<'_>, fields: &Fields<'_>, scene: &mut Scene) {
    let Some(node) = fields.get("sink") else { return };
    for item in reader.items(node, "sink") {
        let Some(fields) = reader.fields(item, &SINK, "[[sink]]") else { continue };
        repeat::repeated(reader, &fields, |reader| scene.sinks.extend(sink(reader, &fields)));
    }
}

fn sink(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<SinkSpec> {
    let smoothing = reader.number(fields, "smoothing").unwrap_or(0.05);
    let (name, [low, high]) = named_box(reader, fields, "sink")?;
    Some(SinkSpec { name, low, high, smoothing, places: fields.places() })
}

/// Reads all probes into `scene`.
pub(super) fn probes(reader: &mut Reader<'_>, fields: &Fields<'_>, scene: &mut Scene) {
    let Some(node) = fields.get("probe") else { return };
    for item in reader.items(node, "probe") {
        let Some(fields) = reader.fields(item, &PROBE, "[[probe]]") else { continue };
        repeat::repeated(reader, &fields, |reader| {
            let Some((name, [low, high])) = named_box(reader, &fields, "probe") else { return };
            scene.probes.push(ProbeSpec { name, low, high, places: fields.places() });
        });
    }
}

/// Name and corners of a sink or probe.
fn named_box(reader: &mut Reader<'_>, fields: &Fields<'_>, what: &str) -> Option<(String, [Vec3; 2])> {
    let name = filled(reader, fields, "name")?;
    check_path(reader, &name, fields.place_of("name"), what);
    let fields = &Fields { what: format!("{what} \"{name}\""), ..fields.clone() };
    let (low, high) = (reader.vec3(fields, "low"), reader.vec3(fields, "high"));
    let (low, high) = (low?, high?);
    if !(high - low).cmpgt(Vec3::ZERO).all() {
        let message = format!("{}: its box has no inside: high is not above low", fields.what);
        reader.error(fields.place_of("high"), message, "");
    }
    Some((name, [low, high]))
}

/// The servo of a body, if it has one.
pub(super) fn servo(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Servo> {
    let servo = &reader.table(fields, "servo", &SERVO)?;
    let servo = &Fields { what: format!("{}: servo", fields.what), ..servo.clone() };
    let (axis, speed) = (reader.vec3(servo, "axis"), reader.number(servo, "speed"));
    if !read::exactly_one(reader, servo, "force", "stress") {
        return None;
    }
    let force = match reader.number(servo, "stress") {
        None => {
            if servo.get("area").is_some() {
                let message = format!("{} has `area`, but presses with a force", servo.what);
                reader.error(servo.place_of("area"), message, "give `stress`, or leave it out");
            }
            reader.number(servo, "force")
        }
        Some(stress) => {
            if servo.get("area").is_none() {
                missing(reader, servo, "area", "the area on which the stress acts");
            }
            reader.number(servo, "area").map(|area| stress * area)
        }
    };
    let Some(axis) = axis?.try_normalize() else {
        reader.error(servo.place_of("axis"), format!("{} has an axis of length 0", servo.what), "such as [0, 0, -1]");
        return None;
    };
    Some(Servo { axis, force: force?, speed: speed? })
}

fn rolling(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Rolling {
    let law = reader.word(fields, "rolling_law", |word| ROLLING_LAWS.iter().find(|law| **law == word).copied());
    let damping = reader.number(fields, "rolling_damping");
    let elastic = law == Some("elastic_plastic");
    if damping.is_some() && !elastic {
        let message = format!("{} has `rolling_damping`, but its rolling friction is constant", fields.what);
        reader.error(fields.place_of("rolling_damping"), message, "add rolling_law = \"elastic_plastic\"");
    }
    match reader.number(fields, "rolling") {
        None => {
            if law.is_some() {
                missing(reader, fields, "rolling", "the coefficient of rolling friction");
            }
            Rolling::None
        }
        Some(coefficient) if elastic => Rolling::ElasticPlastic { coefficient, damping: damping.unwrap_or(0.3) },
        Some(coefficient) => Rolling::Constant { coefficient },
    }
}

fn cohesion(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Cohesion {
    match (reader.number(fields, "adhesion"), reader.number(fields, "cohesion")) {
        (Some(_), Some(_)) => {
            let message = format!("{} has both `adhesion` and `cohesion`", fields.what);
            reader.error(fields.place_of("cohesion"), message, "keep one of them");
            Cohesion::None
        }
        (Some(work), None) => Cohesion::Jkr { work },
        (None, Some(pressure)) => Cohesion::Linear { pressure },
        (None, None) => Cohesion::None,
    }
}

/// A box with what is in it. `own_radius`: clumps have a size of their own [m].
fn region(reader: &mut Reader<'_>, fields: &Fields<'_>, own_radius: Option<f64>) -> Option<Region> {
    let mut corner = |key: &str, help: &str| {
        if fields.get(key).is_none() {
            missing(reader, fields, key, help);
        }
        reader.vec3(fields, key)
    };
    let (low, high) = (corner("low", "the lower corner of the box"), corner("high", "the upper corner of the box"));
    let sizes = sizes(reader, fields, own_radius);
    let count = reader.number(fields, "count").map(|count| count as usize);
    if fields.get("count").is_none() && reader.text(fields, "packing") == Some("random") {
        missing(reader, fields, "count", "a random packing is as dense as it is told");
    }
    let seed = reader.number(fields, "seed").map_or(1, |seed| seed as i64 as u64);
    let (low, high) = (low?, high?);
    if !(high - low).cmpgt(Vec3::ZERO).all() {
        let message = format!("{}: its box has no inside: high is not above low", fields.what);
        reader.error(fields.place_of("high"), message, "");
    }
    Some(Region { low, high, sizes: sizes?, count, seed })
}

fn emitter(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Packing> {
    if fields.get("rate").is_none() {
        missing(reader, fields, "rate", "the mass flow, such as \"0.1 kg/s\"");
    }
    if reader.flag(fields, "frozen") == Some(true) {
        let message = format!("{} come from an emitter and are frozen: they would never make room", fields.what);
        reader.error(fields.place_of("frozen"), message, "leave it out");
    }
    let (region, rate) = (region(reader, fields, None), reader.number(fields, "rate"));
    Some(Packing::Emitter { region: region?, rate: rate? })
}

/// What a soil becomes where tools cut it.
fn soil(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Packing> {
    for (key, what) in
        [("soil", "the soil of a layer, such as soil = \"loam\""), ("radius", "such as radius = \"30 mm\"")]
    {
        if fields.get(key).is_none() {
            missing(reader, fields, key, what);
        }
    }
    for key in ["frozen", "clump"] {
        if fields.get(key).is_some() {
            let message = format!("{} come from soil, and have `{key}`", fields.what);
            reader.error(fields.place_of(key), message, "leave it out: soil becomes balls that move");
        }
    }
    Some(Packing::Soil { soil: reader.text(fields, "soil")?.to_owned(), radius: reader.number(fields, "radius")? })
}

fn sizes(reader: &mut Reader<'_>, fields: &Fields<'_>, own_radius: Option<f64>) -> Option<Sizes> {
    let keys = ["radius", "radius_range", "median", "sieve"];
    let given: Vec<&str> = keys.into_iter().filter(|key| fields.get(key).is_some()).collect();
    if let (Some(radius), true) = (own_radius, given.is_empty()) {
        return Some(Sizes::Same { radius });
    }
    let [given] = given[..] else {
        let message = format!("{} has {} of radius, radius_range, median and sieve", fields.what, given.len());
        reader.error(fields.place, message, "give one of them");
        return None;
    };
    if given != "median" && fields.get("deviation").is_some() {
        let message = format!("{} has `deviation` without `median`", fields.what);
        reader.error(fields.place_of("deviation"), message, "");
    }
    let sizes = match given {
        "radius" => Sizes::Same { radius: reader.number(fields, "radius")? },
        "radius_range" => {
            let [smallest, largest] = reader.vector(fields, "radius_range")?;
            Sizes::Uniform { smallest, largest }
        }
        "median" => Sizes::Lognormal {
            median: reader.number(fields, "median")?,
            deviation: reader.number(fields, "deviation").unwrap_or(0.0),
        },
        _ => {
            let points: Vec<[f64; 2]> = rows(reader, fields, "sieve")?;
            Sizes::Sieve { curve: points.into_iter().map(|[radius, share]| (radius, share)).collect() }
        }
    };
    if let Err(error) = sizes.validate() {
        reader.error(fields.place_of(given), format!("{}: {error}", fields.what), "");
        return None;
    }
    Some(sizes)
}

/// The rows of a list of vectors; none if the key is missing.
fn rows<const N: usize>(reader: &mut Reader<'_>, fields: &Fields<'_>, name: &str) -> Option<Vec<[f64; N]>> {
    let (Some(node), key) = (fields.get(name), fields.table.key(name)?) else { return Some(Vec::new()) };
    let Form::List(Form::Vector(_, measure)) = key.form else { return None };
    let mut rows = Vec::new();
    for item in reader.items(node, &format!("{}: {name}", fields.what)) {
        rows.push(reader.numbers(item, *measure, &fields.what, key)?);
    }
    Some(rows)
}

fn listed(reader: &mut Reader<'_>, fields: &Fields<'_>, own_radius: Option<f64>) -> Option<Vec<Grain>> {
    if !read::exactly_one(reader, fields, "position", "spheres") {
        return None;
    }
    let mut grains = Vec::new();
    if fields.get("position").is_some() {
        if fields.get("radius").is_none() && own_radius.is_none() {
            missing(reader, fields, "radius", "the radius of the grain");
        }
        let (position, radius) = (reader.vec3(fields, "position"), reader.number(fields, "radius").or(own_radius));
        grains.push(Grain::at(position?, radius?));
    } else if fields.get("radius").is_some() {
        let message = format!("{} has `radius`, but `spheres` says the radius of each", fields.what);
        reader.error(fields.place_of("radius"), message, "leave it out");
    }
    let spheres: Vec<[f64; 4]> = rows(reader, fields, "spheres")?;
    if let Some(k) = spheres.iter().position(|sphere| sphere[3].is_nan() || sphere[3] <= 0.0) {
        let message = format!("{}: sphere {k} has radius {}; a radius is > 0", fields.what, spheres[k][3]);
        reader.error(fields.place_of("spheres"), message, "x, y, z and radius of each");
    }
    grains.extend(spheres.iter().map(|[x, y, z, radius]| Grain::at(Vec3::new(*x, *y, *z), *radius)));
    for name in ["velocities", "spins"] {
        let all: Vec<[f64; 3]> = rows(reader, fields, name)?;
        if !all.is_empty() && all.len() != grains.len() {
            let message = format!("{} has {} {name} for {} spheres", fields.what, all.len(), grains.len());
            reader.error(fields.place_of(name), message, "one for each, or leave them out");
        }
        for (grain, v) in grains.iter_mut().zip(all) {
            let which = if name == "spins" { &mut grain.spin } else { &mut grain.velocity };
            *which = Vec3::from_array(v);
        }
    }
    Some(grains)
}

fn file(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Vec<Grain>> {
    if fields.get("file").is_none() {
        missing(reader, fields, "file", "a CSV file with columns x, y, z, radius");
    }
    let name = filled(reader, fields, "file")?;
    let path = Path::new(reader.file).parent().unwrap_or(Path::new("")).join(&name);
    let shown = path.display().to_string();
    let found = match regular::read_text(&path, regular::TEXT) {
        Ok(text) => grains_from_csv(&shown, &text).map_err(|error| error.to_string()),
        Err(error) => Err(format!("cannot read {shown}: {error}")),
    };
    match found {
        Ok(grains) if grains.iter().any(|grain| grain.frozen || grain.class != 0) => {
            let message = format!("{}: {shown} has grains of other classes, or frozen ones", fields.what);
            reader.error(
                fields.place_of("file"),
                message,
                "a set has one material, and is frozen as a whole or not at all",
            );
            None
        }
        Ok(grains) => Some(grains),
        Err(message) => {
            reader.error(fields.place_of("file"), format!("{}: {message}", fields.what), "");
            None
        }
    }
}

pub(super) fn granular(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Granular {
    let mut periodic = [false; 3];
    for (axis, place) in reader.texts(fields, "periodic").unwrap_or_default() {
        match ["x", "y", "z"].iter().position(|name| *name == axis) {
            Some(k) => periodic[k] = true,
            None => reader.error(place, format!("[granular]: periodic: there is no axis \"{axis}\""), "x, y or z"),
        }
    }
    let (low, high) = (reader.vec3(fields, "low"), reader.vec3(fields, "high"));
    let domain = match (low, high) {
        (Some(low), Some(high)) => Some(Domain { low, high, periodic }),
        (None, None) if periodic == [false; 3] => None,
        _ => {
            let message = "[granular]: the grains' world needs both `low` and `high`";
            reader.error(fields.place, message, "two corners of a box");
            None
        }
    };
    if let Some(Domain { low, high, .. }) = domain
        && !(high - low).cmpgt(Vec3::ZERO).all()
    {
        reader.error(fields.place_of("high"), "[granular]: high is not above low", "");
    }
    let method = reader.word(fields, "method", |word| METHODS.iter().find(|known| **known == word).copied());
    let stiffness = reader.number(fields, "stiffness");
    let method = match method {
        Some("position") => GrainMethod::Position { stiffness },
        _ => {
            if stiffness.is_some() {
                let message = "[granular] has `stiffness`, but contacts have that of their materials";
                reader.error(fields.place_of("stiffness"), message, "add method = \"position\", or leave it out");
            }
            GrainMethod::Force
        }
    };
    Granular {
        method,
        step: reader.number(fields, "step"),
        books: reader.flag(fields, "books"),
        snapshot_interval: reader.number(fields, "snapshot_interval"),
        domain,
        memory: reader.number(fields, "memory"),
        places: fields.places(),
    }
}
