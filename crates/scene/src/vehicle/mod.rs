//! Vehicles as they are read: a `[[vehicle]]` becomes bodies, joints, forces, signals, sensors and components with names `VEHICLE.PART`,
//! before those are read. What it is made of is a forest: an engine or motors at its roots, wheels and tracks at its leaves. Shafts are bodies
//! that turn on what carries them, so that their torques come back there.
//!
//! `lay.rs` makes bodies, wheels and cylinders, `tracks.rs` tracks, `chain.rs` what drives them, `logic.rs` signals, steering and the driver, `tree.rs` says
//! what came out.

use super::format_vehicle as format;
use super::node::{self, Entry, Node, Text, Value};
use super::reader::{Fields, Reader};
use super::{Place, SceneError, did_you_mean};
use std::collections::BTreeMap;
use std::path::Path;
use tippe_geometry::file::regular;
use tippe_geometry::{Quat, Vec3};

mod chain;
mod lay;
mod logic;
mod tracks;
mod tree;

pub use tree::VehicleTree;

/// Vehicles that come with the program.
const TEMPLATES: [(&str, &str); 7] = [
    ("sedan", include_str!("../../vehicles/sedan.toml")),
    ("truck", include_str!("../../vehicles/truck.toml")),
    ("articulated_loader", include_str!("../../vehicles/articulated_loader.toml")),
    ("tracked_loader", include_str!("../../vehicles/tracked_loader.toml")),
    ("excavator", include_str!("../../vehicles/excavator.toml")),
    ("trailer", include_str!("../../vehicles/trailer.toml")),
    ("rover", include_str!("../../vehicles/rover.toml")),
];

/// The text of a vehicle that comes with the program, or what to try instead.
pub fn template(name: &str) -> Result<&'static str, String> {
    let found = TEMPLATES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).ok_or_else(|| did_you_mean(name, TEMPLATES.iter().map(|(known, _)| *known)))
}

/// Names of the vehicles that come with the program.
pub fn templates() -> impl Iterator<Item = &'static str> {
    TEMPLATES.iter().map(|(name, _)| *name)
}

/// The tables of a scene with its vehicles in parts, and what they are; none if it has no vehicle.
pub(super) fn expand(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    gravity: Vec3,
) -> Option<(Vec<Entry>, Vec<VehicleTree>)> {
    let node = fields.get("vehicle")?;
    let (mut made, mut trees): (BTreeMap<&'static str, Vec<Node>>, _) = (BTreeMap::new(), Vec::new());
    for item in reader.items(node, "vehicle") {
        let Some(whole) = whole(reader, item) else { continue };
        let Some(fields) = reader.fields(&whole, &format::VEHICLE, "[[vehicle]]") else { continue };
        let Some(name) = reader.text(&fields, "name").map(str::to_owned) else { continue };
        super::read::check_path(reader, &name, fields.place_of("name"), "vehicle");
        let fields = Fields { what: format!("vehicle \"{name}\""), ..fields };
        let Some(laid) = Laid::of(reader, &fields, name, gravity) else { continue };
        trees.push(laid.tree);
        for (table, nodes) in laid.tables {
            made.entry(table).or_default().extend(nodes);
        }
    }
    let mut entries = fields.entries.to_vec();
    for (table, nodes) in made {
        match entries.iter_mut().find(|entry| entry.key == table) {
            Some(Entry { node: Node { value: Value::List(list), .. }, .. }) => list.extend(nodes),
            Some(_) => {}
            None => entries.push(Entry {
                key: table.to_owned(),
                place: node.place,
                node: Node { place: node.place, value: Value::List(nodes) },
            }),
        }
    }
    Some((entries, trees))
}

/// A vehicle's table with what its file says under it.
fn whole(reader: &mut Reader<'_>, item: &Node) -> Option<Node> {
    let entries = reader.entries(item, "[[vehicle]]")?;
    let Some(from) = entries.iter().find(|entry| entry.key == "vehicle") else { return Some(item.clone()) };
    let Value::Text(Text { text: name, .. }) = &from.node.value else {
        reader.error(from.node.place, "vehicle: the file of a vehicle is a text", "such as vehicle = \"sedan\"");
        return None;
    };
    let path = Path::new(reader.file).parent().unwrap_or(Path::new("")).join(name);
    let (file, text) = if path.is_file() {
        match regular::read_text(&path, regular::TEXT) {
            Ok(text) => (path.display().to_string(), text),
            Err(error) => {
                reader.error(from.node.place, format!("vehicle: cannot read {}: {error}", path.display()), "");
                return None;
            }
        }
    } else {
        match template(name.strip_suffix(".toml").unwrap_or(name)) {
            Ok(text) => (format!("{name}.toml"), text.to_owned()),
            Err(help) => {
                let known = templates().collect::<Vec<_>>().join(", ");
                let help = if help.is_empty() { format!("a file, or one of {known}") } else { help };
                reader.error(from.node.place, format!("vehicle: there is no file or template \"{name}\""), help);
                return None;
            }
        }
    };
    let is_json = file.to_ascii_lowercase().ends_with(".json");
    let (mut base, errors) = if is_json { super::json::from_json(&file, &text) } else { node::from_toml(&file, &text) };
    if !errors.is_empty() {
        reader.error(from.node.place, format!("vehicle: {file} cannot be read"), "its errors follow");
        reader.errors.extend(errors);
        return None;
    }
    // what is wrong in it is said where the scene names it
    put_at(&mut base, from.node.place);
    let mut whole = merged(base, item);
    whole.place = item.place;
    Some(whole)
}

/// Gives a node and all in it one place.
fn put_at(node: &mut Node, place: Place) {
    node.place = place;
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| put_at(item, place)),
        Value::Table(entries) => entries.iter_mut().for_each(|entry| {
            entry.place = place;
            put_at(&mut entry.node, place);
        }),
        _ => {}
    }
}

/// Name of a table.
fn name_of(node: &Node) -> Option<&str> {
    let Value::Table(entries) = &node.value else { return None };
    entries.iter().find(|entry| entry.key == "name").and_then(|entry| match &entry.node.value {
        Value::Text(text) => Some(text.text.as_str()),
        _ => None,
    })
}

/// One node over another: tables key by key, lists of tables name by name.
fn merged(under: Node, over: &Node) -> Node {
    let value = match (under.value, &over.value) {
        (Value::Table(mut entries), Value::Table(own)) => {
            for entry in own {
                match entries.iter().position(|known| known.key == entry.key) {
                    Some(k) => {
                        let known = entries.remove(k);
                        let node = merged(known.node, &entry.node);
                        entries.insert(k, Entry { node, ..entry.clone() });
                    }
                    None => entries.push(entry.clone()),
                }
            }
            Value::Table(entries)
        }
        (Value::List(mut items), Value::List(own)) if own.iter().any(|item| name_of(item).is_some()) => {
            for item in own {
                match items.iter().position(|known| name_of(known).is_some() && name_of(known) == name_of(item)) {
                    Some(k) => {
                        let known = items.remove(k);
                        items.insert(k, merged(known, item));
                    }
                    None => items.push(item.clone()),
                }
            }
            Value::List(items)
        }
        (_, own) => own.clone(),
    };
    Node { place: over.place, value }
}

/// A vehicle on its way into parts.
pub(super) struct Laid {
    name: String,
    place: Place,
    /// Where its origin is, and how it is turned.
    position: Vec3,
    turn: Quat,
    /// Speed along its x axis at the start [m/s].
    speed: f64,
    /// Gravity against its z axis [m/s^2].
    gravity: f64,
    ground: String,
    /// Stiffness and damping of the steering at each wheel [N m/rad, N m s/rad].
    steering: [f64; 2],
    tables: Vec<(&'static str, Vec<Node>)>,
    bodies: Vec<lay::Bulk>,
    wheels: Vec<lay::Wheel>,
    tracks: Vec<tracks::Track>,
    /// What it says of soft ground under its wheels.
    soft: Option<Vec<Entry>>,
    tree: VehicleTree,
}

impl Laid {
    fn of(reader: &mut Reader<'_>, fields: &Fields<'_>, name: String, gravity: Vec3) -> Option<Laid> {
        let before = reader.errors.len();
        let turn = reader.orientation(fields).unwrap_or(Quat::IDENTITY);
        let mut laid = Laid {
            place: fields.place,
            position: reader.vec3(fields, "position").unwrap_or_default(),
            turn,
            speed: reader.number(fields, "speed").unwrap_or(0.0),
            gravity: -(turn.conjugate() * gravity).z,
            ground: reader.text(fields, "ground").unwrap_or("world").to_owned(),
            steering: [1e5, 300.0],
            tables: Vec::new(),
            bodies: Vec::new(),
            wheels: Vec::new(),
            tracks: Vec::new(),
            soft: None,
            tree: VehicleTree { name: name.clone(), ..VehicleTree::default() },
            name,
        };
        laid.read_bodies(reader, fields)?;
        laid.read_axles(reader, fields);
        laid.read_tracks(reader, fields);
        if laid.wheels.is_empty() && laid.tracks.is_empty() {
            let what = &fields.what;
            reader.error(
                laid.place,
                format!("{what} has no wheel and no track"),
                "add [[vehicle.axle]] or [[vehicle.track]]",
            );
        }
        let chain = laid.read_chain(reader, fields);
        if reader.errors.len() > before {
            return None;
        }
        laid.lay_logic(reader, fields, &chain);
        laid.lay_bodies(reader, fields);
        laid.lay_wheels(reader);
        laid.lay_soft_ground(reader);
        laid.lay_tracks(reader);
        laid.lay_cylinders(reader, fields);
        laid.lay_chain(reader, chain);
        (reader.errors.len() == before).then_some(laid)
    }

    /// Its own name before another.
    fn own(&self, name: &str) -> String {
        format!("{}.{name}", self.name)
    }

    /// A point of the vehicle, in the world, as a list.
    fn point(&self, p: Vec3) -> String {
        list(self.position + self.turn * p)
    }

    /// A direction of the vehicle, in the world, as a list.
    fn direction(&self, d: Vec3) -> String {
        list(self.turn * d)
    }

    /// Its turn, and another one in it, as a list w, x, y, z.
    fn orientation(&self, own: Quat) -> String {
        let q = self.turn * own;
        format!("[{:?}, {:?}, {:?}, {:?}]", q.w, q.x, q.y, q.z)
    }

    /// A table of the scene, from its text, and more that was written.
    fn put(&mut self, reader: &mut Reader<'_>, table: &'static str, text: &str, more: Vec<Entry>) {
        let (mut node, errors) = node::from_toml(reader.file, text);
        for SceneError { message, .. } in errors {
            reader.error(
                self.place,
                format!("vehicle \"{}\" writes a {table} that cannot be read: {message}", self.name),
                text,
            );
        }
        put_at(&mut node, self.place);
        if let Value::Table(entries) = &mut node.value {
            entries.extend(more);
        }
        match self.tables.iter_mut().find(|(known, _)| *known == table) {
            Some((_, nodes)) => nodes.push(node),
            None => self.tables.push((table, vec![node])),
        }
    }

    /// Equations of its file: `self.` is its name.
    fn equation_of(&self, node: &Node) -> String {
        match &node.value {
            Value::Number(number) => format!("{number:?}"),
            Value::Text(text) => text.text.replace("self.", &format!("{}.", self.name)),
            _ => String::new(),
        }
    }

    /// Entries as they were written, but some, with `self.` its name.
    fn passed(&self, entries: &[Entry], but: &[&str]) -> Vec<Entry> {
        let mut entries: Vec<Entry> =
            entries.iter().filter(|entry| !but.contains(&entry.key.as_str())).cloned().collect();
        entries.iter_mut().for_each(|entry| self.named(&mut entry.node));
        entries
    }

    fn named(&self, node: &mut Node) {
        match &mut node.value {
            Value::Text(text) if text.text.contains("self.") => {
                *text = Text::new(text.text.replace("self.", &format!("{}.", self.name)), false);
            }
            Value::List(items) => items.iter_mut().for_each(|item| self.named(item)),
            Value::Table(entries) => entries.iter_mut().for_each(|entry| self.named(&mut entry.node)),
            _ => {}
        }
    }
}

/// Three numbers as a list.
fn list(v: Vec3) -> String {
    format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z)
}

/// Straight lines through points as an equation of `u`, constant outside.
fn lines(u: &str, points: &[[f64; 2]]) -> String {
    let mut text = format!("({:?})", points.first().map_or(0.0, |point| point[1]));
    for pair in points.windows(2) {
        let [[x0, y0], [x1, y1]] = [pair[0], pair[1]];
        text += &format!(" + ({:?})*(min(max({u}, ({x0:?})), ({x1:?})) - ({x0:?}))", (y1 - y0) / (x1 - x0));
    }
    text
}
