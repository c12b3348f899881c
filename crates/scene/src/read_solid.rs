//! Solids, built when they are read so that what is wrong with one is said at its place, and meshes of shapes.

use super::format::{self, Form, Measure};
use super::format_solid::{FACTOR, KINDS, SOLID};
use super::node::Value;
use super::read::check_path;
use super::read_mechanism::{filled, keys_of_kind, missing};
use super::reader::{Fields, Reader};
use super::*;
use crate::equation::Dimension;
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::path::Path;
use tippe_geometry::file::{self, Contents, FileError, Format};
use tippe_geometry::{Gear, Mesh, Pieces, Pose, Solid, Thread, TriMesh};

/// Reads all solids into `scene`; each may use those before it.
pub(super) fn solids(reader: &mut Reader<'_>, fields: &Fields<'_>, scene: &mut Scene) {
    for solid in &scene.solids {
        reader.solids.insert(solid.name.clone(), solid.mesh.clone());
    }
    let Some(node) = fields.get("solid") else { return };
    for item in reader.items(node, "solid") {
        let Some(fields) = reader.fields(item, &SOLID, "[[solid]]") else { continue };
        repeat::repeated(reader, &fields, |reader| {
            let Some(solid) = solid(reader, &fields) else { return };
            if reader.solids.insert(solid.name.clone(), solid.mesh.clone()).is_some() {
                let message = format!("two solids have the name \"{}\"", solid.name);
                reader.error(
                    fields.place_of("name"),
                    message,
                    "give one another name; what is repeated has every index of `repeat` in its name",
                );
            }
            scene.solids.push(solid);
        });
    }
}

fn solid(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<SolidSpec> {
    let name = filled(reader, fields, "name")?;
    check_path(reader, &name, fields.place_of("name"), "solid");
    let fields = &Fields { what: format!("solid \"{name}\""), ..fields.clone() };
    let made = made(reader, fields, &name);
    if made.is_none() {
        reader.failed_solids.insert(name);
    }
    made
}

fn made(reader: &mut Reader<'_>, fields: &Fields<'_>, name: &str) -> Option<SolidSpec> {
    let kind = reader.word(fields, "kind", |word| KINDS.iter().find(|kind| **kind == word).copied())?;
    let before = reader.errors.len();
    keys_of_kind(reader, fields, kind);
    let form = form(reader, fields, kind);
    let placing = placing(reader, fields);
    if reader.errors.len() > before {
        return None;
    }
    let form = form?;
    match build(&form, &placing, &reader.solids) {
        Ok(mesh) => {
            Some(SolidSpec { name: name.to_owned(), form, placing, mesh: Arc::new(mesh), places: fields.places() })
        }
        Err(error) => {
            reader.error(fields.place, format!("{}: {error}", fields.what), "");
            None
        }
    }
}

/// One factor, or one for each axis.
fn scale(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Vec3> {
    let (node, key) = (fields.get("scale")?, fields.table.key("scale")?);
    match node.value {
        Value::List(_) => reader.numbers(node, FACTOR, &fields.what, key).map(Vec3::from_array),
        _ => reader.measured(node, FACTOR, &fields.what, key).map(Vec3::splat),
    }
}

fn placing(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Placing {
    let count = |reader: &mut Reader<'_>, key| reader.number(fields, key).map_or(1, |n| n as u32);
    for (one, other) in [("along", "step"), ("step", "along")] {
        if fields.get(one).is_some() && fields.get(other).is_none() {
            let message = format!("{} has `{one}` but no `{other}`", fields.what);
            reader.error(fields.place_of(one), message, "copies in a row: along = 5, step = [0.1, 0, 0]");
        }
    }
    Placing {
        scale: scale(reader, fields),
        mirror: reader.vec3(fields, "mirror"),
        orientation: reader.orientation(fields).unwrap_or(Quat::IDENTITY),
        position: reader.vec3(fields, "position").unwrap_or_default(),
        around: count(reader, "around"),
        along: count(reader, "along"),
        step: reader.vec3(fields, "step").unwrap_or_default(),
    }
}

/// The solid of a step and its place, from the meshes of the steps before.
fn build(
    form: &SolidForm,
    placing: &Placing,
    solids: &BTreeMap<String, Arc<Mesh>>,
) -> Result<Mesh, tippe_geometry::SolidError> {
    let mut solid = match form {
        SolidForm::Simple(solid) => solid.clone(),
        SolidForm::Combined { how, of } => {
            let of = of.iter().filter_map(|name| solids.get(name)).map(|m| Solid::Mesh(m.surface().clone())).collect();
            match how {
                Combination::Union => Solid::Union { of },
                Combination::Difference => Solid::Difference { of },
                Combination::Intersection => Solid::Intersection { of },
            }
        }
    };
    if let Some(scale) = placing.scale {
        solid = solid.scaled(scale);
    }
    if let Some(normal) = placing.mirror {
        solid = solid.mirrored(normal);
    }
    if placing.position != Vec3::ZERO || placing.orientation != Quat::IDENTITY {
        solid = solid.placed(Pose::new(placing.orientation, placing.position));
    }
    if placing.around > 1 {
        solid = solid.around(placing.around);
    }
    if placing.along > 1 {
        solid = solid.along(placing.along, placing.step);
    }
    solid.mesh()
}

/// A number that the kind cannot do without.
fn needed(reader: &mut Reader<'_>, fields: &Fields<'_>, key: &'static str) -> Option<f64> {
    if fields.get(key).is_none() {
        missing(reader, fields, key, "");
    }
    reader.number(fields, key)
}

fn form(reader: &mut Reader<'_>, fields: &Fields<'_>, kind: &str) -> Option<SolidForm> {
    let segments = reader.number(fields, "segments").map_or(64, |n| n as u32);
    Some(SolidForm::Simple(match kind {
        "union" | "difference" | "intersection" => return combined(reader, fields, kind),
        "box" => {
            if fields.get("size").is_none() {
                missing(reader, fields, "size", "edge lengths, such as size = [0.1, 0.2, 0.3]");
            }
            Solid::Box { size: reader.vec3(fields, "size")? }
        }
        "sphere" => Solid::Sphere { radius: needed(reader, fields, "radius")?, segments },
        "cylinder" => {
            let (radius, length) = (needed(reader, fields, "radius"), needed(reader, fields, "length"));
            Solid::Cylinder { radius: radius?, length: length?, segments }
        }
        "cone" => {
            let (radius, length) = (needed(reader, fields, "radius"), needed(reader, fields, "length"));
            let top_radius = reader.number(fields, "top_radius").unwrap_or(0.0);
            Solid::Cone { radius: radius?, top_radius, length: length?, segments }
        }
        "prism" => prism(reader, fields)?,
        "revolved" => {
            let angle = reader.number(fields, "angle").unwrap_or(2.0 * PI);
            if fields.get("profile").is_none() {
                missing(reader, fields, "profile", "corners (r, z), such as profile = [[0, 0], [1, 0], [0, 2]]");
            }
            Solid::Revolved { profile: points(reader, fields, "profile")?, angle, segments }
        }
        "gear" => Solid::Gear(gear(reader, fields, segments)?),
        "thread" => Solid::Thread(thread(reader, fields, segments)?),
        _ => Solid::Mesh(surface(reader, fields)?.into()),
    }))
}

fn combined(reader: &mut Reader<'_>, fields: &Fields<'_>, kind: &str) -> Option<SolidForm> {
    if fields.get("of").is_none() {
        missing(reader, fields, "of", "the solids it is made of, such as of = [\"disc\", \"slots\"]");
    }
    let mut of = Vec::new();
    for (name, place) in reader.texts(fields, "of")? {
        if reader.failed_solids.contains(&name) {
            return None;
        }
        if !reader.solids.contains_key(&name) {
            let help = did_you_mean(&name, reader.solids.keys().map(String::as_str));
            let help = if help.is_empty() { "define it above this one".to_string() } else { help };
            reader.error(place, format!("{}: there is no solid \"{name}\" above it", fields.what), help);
        }
        of.push(name);
    }
    let how = match kind {
        "union" => Combination::Union,
        "difference" => Combination::Difference,
        _ => Combination::Intersection,
    };
    Some(SolidForm::Combined { how, of })
}

/// Points (x, y) of a list [m].
fn points(reader: &mut Reader<'_>, fields: &Fields<'_>, name: &str) -> Option<Vec<[f64; 2]>> {
    let (node, key) = (fields.get(name)?, fields.table.key(name)?);
    points_of(reader, node, fields, key)
}

fn points_of(
    reader: &mut Reader<'_>,
    node: &node::Node,
    fields: &Fields<'_>,
    key: &format::Key,
) -> Option<Vec<[f64; 2]>> {
    let measure = Measure { dimension: Some(Dimension::LENGTH), range: format::Range::Any };
    let what = format!("{}: {}", fields.what, key.name);
    let mut points = Vec::new();
    for item in reader.items(node, &what) {
        points.push(reader.numbers(item, measure, &fields.what, key)?);
    }
    Some(points)
}

/// Exactly one of several keys, or an error.
fn only_one<'k>(reader: &mut Reader<'_>, fields: &Fields<'_>, keys: &[&'k str]) -> Option<&'k str> {
    let given: Vec<&str> = keys.iter().copied().filter(|key| fields.get(key).is_some()).collect();
    if let [one] = given[..] {
        return Some(one);
    }
    let list = keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    let (place, message) = match given.get(1) {
        Some(second) => (fields.place_of(second), format!("{} has more than one of {list}", fields.what)),
        None => (fields.place, format!("{} has none of {list}", fields.what)),
    };
    reader.error(place, message, "give one of them");
    None
}

fn prism(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Solid> {
    let length = needed(reader, fields, "length");
    let source = only_one(reader, fields, &["outline", "curve", "file", "path"])?;
    if source != "curve" && fields.get("segments").is_some() {
        let message = format!("{}: its `{source}` has corners of its own, and takes no `segments`", fields.what);
        reader.error(fields.place_of("segments"), message, "leave it out, or give a smooth `curve`");
    }
    let mut holes = Vec::new();
    if let (Some(node), Some(key)) = (fields.get("holes"), fields.table.key("holes")) {
        for item in reader.items(node, &format!("{}: holes", fields.what)) {
            holes.push(points_of(reader, item, fields, key)?);
        }
    }
    let outline = match source {
        "outline" => points(reader, fields, "outline")?,
        "curve" => curve(reader, fields)?,
        _ => {
            let mut contents = if source == "file" {
                contents(reader, fields)?
            } else {
                let picture = format!("<svg><path d=\"{}\"/></svg>", filled(reader, fields, "path")?.replace('"', "'"));
                let unit = unit(reader, fields)?;
                read(reader, fields, "path", file::read(picture.as_bytes(), Format::Svg, unit))?
            };
            if !contents.surface.triangles.is_empty() && !contents.outlines.is_empty() {
                let (what, count) = (&fields.what, contents.surface.triangles.len());
                reader
                    .notes
                    .push(format!("{what}: {count} triangles of the file are not used: it has outlines as well"));
            }
            let Some((outline, others)) = contents.take_outlines() else {
                let message = format!("{}: there is no closed outline in {}", fields.what, source_name(fields, source));
                let help = "close it: Z at the end of a path of SVG, a closed polyline or circle of DXF";
                reader.error(fields.place_of(source), message, help);
                return None;
            };
            holes.extend(others);
            outline
        }
    };
    Some(Solid::Prism { outline, holes, length: length? })
}

/// Corners of a polygon that draws a curve [m]; the curve is kept for cams if the solid stays where it was made.
fn curve(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Vec<[f64; 2]>> {
    let (node, key) = (fields.get("curve")?, fields.table.key("curve")?);
    let part = read_part::curve(reader, node, key, &fields.what)?;
    let segments = reader.number(fields, "segments").map_or(360, |n| n as u32);
    // what is wrong with it was said when it was read
    let made = tippe_parts::curve::built(&part).ok()?;
    let moved = ["scale", "mirror", "orientation", "position", "around", "along"];
    if let Some(name) = filled(reader, fields, "name").filter(|_| moved.iter().all(|key| fields.get(key).is_none())) {
        reader.curves.insert(name, part);
    }
    Some(made.outline(segments))
}

fn gear(reader: &mut Reader<'_>, fields: &Fields<'_>, segments: u32) -> Option<Gear> {
    let (module, teeth) = (needed(reader, fields, "module"), needed(reader, fields, "teeth"));
    let width = needed(reader, fields, "width");
    let standard = Gear::new(module?, teeth? as u32, width?);
    let mut or = |key: &'static str, value: f64| reader.number(fields, key).unwrap_or(value);
    Some(Gear {
        pressure_angle: or("pressure_angle", standard.pressure_angle),
        addendum: or("addendum", standard.addendum),
        dedendum: or("dedendum", standard.dedendum),
        backlash: or("backlash", standard.backlash),
        shift: or("shift", standard.shift),
        hole: or("hole", standard.hole),
        flank_points: or("flank_points", standard.flank_points as f64) as u32,
        segments,
        ..standard
    })
}

fn thread(reader: &mut Reader<'_>, fields: &Fields<'_>, segments: u32) -> Option<Thread> {
    let (radius, pitch) = (needed(reader, fields, "radius"), needed(reader, fields, "pitch"));
    let length = needed(reader, fields, "length");
    let standard = Thread::metric(radius?, pitch?, length?);
    let left_handed = reader.flag(fields, "left_handed").unwrap_or(false);
    let mut or = |key: &'static str, value: f64| reader.number(fields, key).unwrap_or(value);
    Some(Thread {
        depth: or("depth", standard.depth),
        crest: or("crest", standard.crest),
        root: or("root", standard.root),
        left_handed,
        segments,
        ..standard
    })
}

/// Length of the unit of a file [m]; `None` inside when the scene does not say it, outside when it is unknown.
fn unit(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Option<f64>> {
    let Some(name) = reader.text(fields, "unit") else { return Some(None) };
    let unit = file::unit(name);
    if unit.is_none() {
        let message = format!("{}: unknown unit \"{name}\"", fields.what);
        reader.error(fields.place_of("unit"), message, "one of m, dm, cm, mm, um, in, ft");
    }
    unit.map(Some)
}

/// What a file holds, with its errors at the key that names it.
fn read(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    key: &str,
    result: Result<Contents, FileError>,
) -> Option<Contents> {
    match result {
        Ok(contents) => {
            if let Some(stated) = contents.stated {
                let what = &fields.what;
                reader
                    .notes
                    .push(format!("{what}: the file states its unit, {stated} m; it is read with `unit` all the same"));
            }
            for (what, count) in &contents.skipped {
                reader.notes.push(format!("{}: {count} {what} of the file are not used", fields.what));
            }
            Some(contents)
        }
        Err(error) => {
            reader.error(fields.place_of(key), format!("{}: {error}", fields.what), "");
            None
        }
    }
}

/// The file under a key, in quotes, or the key itself.
fn source_name(fields: &Fields<'_>, source: &str) -> String {
    match fields.get(source).map(|node| &node.value) {
        Some(node::Value::Text(text)) if source == "file" => format!("\"{}\"", text.text),
        _ => format!("`{source}`"),
    }
}

fn contents(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Contents> {
    let name = filled(reader, fields, "file")?;
    let unit = unit(reader, fields)?;
    let path = Path::new(reader.file).parent().unwrap_or(Path::new("")).join(&name);
    let found = file::read_file(&path, unit);
    read(reader, fields, "file", found)
}

/// Keys that say how triangles are read, where these come from `source`.
fn refuse(reader: &mut Reader<'_>, fields: &Fields<'_>, keys: &[&str], source: &str) {
    for key in keys.iter().filter(|key| fields.get(key).is_some()) {
        let message = format!("{}: its triangles come from `{source}`, which takes no `{key}`", fields.what);
        reader.error(fields.place_of(key), message, "leave it out");
    }
}

/// A closed mesh from a file or from corners and triangles, repaired where that needs no guess; repairs are notes.
fn surface(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Mesh> {
    let source = only_one(reader, fields, &["file", "vertices"])?;
    if source == "vertices" {
        refuse(reader, fields, &["unit"], source);
    }
    let (surface, outlines) = match source {
        "file" => contents(reader, fields).map(|found| (found.surface, found.outlines.len()))?,
        _ => (inline(reader, fields)?, 0),
    };
    if surface.triangles.is_empty() {
        let message = format!("{}: there are no triangles in {}", fields.what, source_name(fields, source));
        let help = match outlines {
            0 => "a solid needs at least 4: write the part as a mesh of triangles",
            _ => "it has outlines: they become a [[solid]] of kind = \"prism\" with this `file` and a `length`",
        };
        reader.error(fields.place_of(source), message, help);
        return None;
    }
    if outlines > 0 {
        let what = &fields.what;
        reader.notes.push(format!("{what}: {outlines} outlines of the file are not used: it has triangles as well"));
    }
    let asked = reader.number(fields, "weld");
    let weld = asked.unwrap_or(if source == "file" { 1e-7 * surface.size() } else { 0.0 });
    // What is right as it stands keeps its corners, also where parts touch.
    if source != "file"
        && asked.is_none()
        && let Ok(mesh) = Mesh::new(surface.clone())
    {
        return Some(mesh);
    }
    match Mesh::repaired(&surface, weld) {
        Ok((mesh, report)) => {
            if !report.is_clean() {
                reader.notes.push(format!("{}: its mesh was repaired: {report}", fields.what));
            }
            Some(mesh)
        }
        Err(error) => {
            let file = if source == "file" { format!("{}: ", source_name(fields, source)) } else { String::new() };
            // one name is enough
            let text = error.to_string();
            let text = text.strip_prefix("mesh: ").filter(|_| fields.what.ends_with("mesh")).unwrap_or(&text);
            reader.error(fields.place_of(source), format!("{}: {file}{text}", fields.what), "");
            None
        }
    }
}

fn inline(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<TriMesh> {
    if fields.get("triangles").is_none() {
        missing(reader, fields, "triangles", "three corners each, such as triangles = [[0, 1, 2], ...]");
    }
    let mut mesh = TriMesh::default();
    let (node, key) = (fields.get("vertices")?, fields.table.key("vertices")?);
    let Form::List(Form::Vector(_, measure)) = key.form else { return None };
    for item in reader.items(node, &format!("{}: vertices", fields.what)) {
        mesh.vertices.push(Vec3::from_array(reader.numbers(item, *measure, &fields.what, key)?));
    }
    let (node, key) = (fields.get("triangles")?, fields.table.key("triangles")?);
    let Form::List(Form::Vector(_, measure)) = key.form else { return None };
    for item in reader.items(node, &format!("{}: triangles", fields.what)) {
        let corners: [f64; 3] = reader.numbers(item, *measure, &fields.what, key)?;
        if let Some(corner) = corners.iter().find(|i| !(0.0..mesh.vertices.len() as f64).contains(*i)) {
            let message = format!("{}: there is no corner {corner}; they count from 0", fields.what);
            reader.error(item.place, message, "");
            return None;
        }
        mesh.triangles.push(corners.map(|i| i as u32));
    }
    Some(mesh)
}

/// A mesh as a shape: a solid by name, a file, or corners and triangles.
pub(super) fn mesh_shape(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<ShapeKind> {
    let hull = reader.flag(fields, "hull").unwrap_or(false);
    let most = reader.number(fields, "pieces").map(|n| n as u32);
    if hull && most.is_some() {
        let message = format!("{}: both its hull and pieces of it are to touch", fields.what);
        reader.error(fields.place_of("pieces"), message, "leave out `hull` or `pieces`; pieces = 1 is the hull");
        return None;
    }
    let factor = reader.number(fields, "scale");
    let source = only_one(reader, fields, &["solid", "file", "vertices"])?;
    let (mesh, solid) = match source {
        "solid" => {
            refuse(reader, fields, &["unit", "weld"], source);
            let name = filled(reader, fields, "solid")?;
            if reader.failed_solids.contains(&name) {
                return None;
            }
            let Some(mesh) = reader.solids.get(&name).cloned() else {
                let help = did_you_mean(&name, reader.solids.keys().map(String::as_str));
                reader.error(fields.place_of("solid"), format!("{}: there is no solid \"{name}\"", fields.what), help);
                return None;
            };
            (mesh, Some(name))
        }
        _ => (Arc::new(surface(reader, fields)?), None),
    };
    let (mesh, solid) = match factor.filter(|factor| *factor != 1.0) {
        None => (mesh, solid),
        Some(factor) => match Solid::Mesh(mesh.surface().clone()).scaled(Vec3::splat(factor)).mesh() {
            // What is stretched is a mesh of its own.
            Ok(mesh) => (Arc::new(mesh), None),
            Err(error) => {
                reader.error(fields.place_of("scale"), format!("{}: {error}", fields.what), "");
                return None;
            }
        },
    };
    let touches = match most {
        None if hull => Touching::Hull,
        None => Touching::Mesh,
        Some(most) => Touching::Pieces { most, pieces: pieces(reader, fields, &mesh, most)? },
    };
    Some(ShapeKind::Mesh { mesh, solid, touches })
}

/// The mesh taken apart; equal ones once.
fn pieces(reader: &mut Reader<'_>, fields: &Fields<'_>, mesh: &Arc<Mesh>, most: u32) -> Option<Arc<Pieces>> {
    let known = reader.pieces.iter().find(|(of, n, _)| *n == most && (Arc::ptr_eq(of, mesh) || *of == *mesh));
    if let Some((_, _, pieces)) = known {
        return Some(pieces.clone());
    }
    match mesh.pieces(most) {
        Ok(pieces) => {
            let pieces = Arc::new(pieces);
            reader.pieces.push((mesh.clone(), most, pieces.clone()));
            Some(pieces)
        }
        Err(error) => {
            reader.error(fields.place_of("pieces"), format!("{}: {error}", fields.what), "");
            None
        }
    }
}
