//! `repeat`: a table of a list that is read once for every value of its loops.

use super::format;
use super::include::Files;
use super::read::{check_name, exactly_one};
use super::reader::{Fields, Reader};
use super::{Scene, SceneErrors};
use crate::equation::Quantity;
use std::sync::atomic::{AtomicUsize, Ordering};

/// All loops of a scene together may take this many turns.
pub(super) const MAX_TURNS: usize = 10_000_000;

/// How far a scene is that is being read, for somebody who looks from another thread.
#[derive(Debug, Default)]
pub struct Building {
    /// Turns of loops that were taken [-].
    pub done: AtomicUsize,
    /// Turns that are known so far [-].
    pub all: AtomicUsize,
}

/// A loop: the name of its index, and the table with its bounds.
type Loop<'n> = (String, Fields<'n>);

/// Reads a table once, or as often as its `repeat` says, until the first error, so that it is reported once.
pub(super) fn repeated(reader: &mut Reader<'_>, fields: &Fields<'_>, mut read: impl FnMut(&mut Reader<'_>)) {
    let loops = loops(reader, fields);
    let left = reader.turns;
    if take_turns(reader, &loops, &fields.what) {
        // a table without loops is read once
        reader.building.all.fetch_add((left - reader.turns).max(1), Ordering::Relaxed);
        each(reader, &loops, &mut read);
    }
}

/// The loops of a table, outermost first.
fn loops<'n>(reader: &mut Reader<'_>, fields: &Fields<'n>) -> Vec<Loop<'n>> {
    let Some(node) = fields.get("repeat") else { return Vec::new() };
    let mut loops: Vec<Loop<'n>> = Vec::new();
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
    if fields.get("to").is_none() && count < 0.0 {
        let message = format!("repeat has count = {count}, but must have at least 0");
        reader.error(fields.place_of("count"), message, "leave the table away, or count = 0 for no copies");
    }
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

/// Runs the loops; false after the first error.
fn each(reader: &mut Reader<'_>, loops: &[Loop<'_>], read: &mut dyn FnMut(&mut Reader<'_>)) -> bool {
    let Some((outer, inner)) = loops.split_first() else {
        let before = reader.errors.len();
        read(reader);
        reader.building.done.fetch_add(1, Ordering::Relaxed);
        return reader.errors.len() == before;
    };
    let Some((from, count)) = bounds(reader, &outer.1) else { return false };
    in_loop(reader, &outer.0, from, count, |reader| each(reader, inner, read))
}

/// Takes the turns of all loops from those the scene has left; false, and an error, if they do not suffice.
fn take_turns(reader: &mut Reader<'_>, loops: &[Loop<'_>], what: &str) -> bool {
    let Some((outer, inner)) = loops.split_first() else { return true };
    let Some((from, count)) = bounds(reader, &outer.1) else { return false };
    if count > reader.turns as f64 {
        let message = format!("{what} is repeated too often");
        reader.error(outer.1.place, message, format!("the loops of a scene take at most {MAX_TURNS} turns in all"));
        return false;
    }
    reader.turns -= count as usize;
    inner.is_empty() || in_loop(reader, &outer.0, from, count, |reader| take_turns(reader, inner, what))
}

impl Scene {
    /// [`Scene::parse`], and `building` says how far it is.
    pub fn parse_told(
        file: &str,
        text: &str,
        sets: &[(String, String)],
        building: &Building,
    ) -> Result<Scene, SceneErrors> {
        Scene::parse_within(file, text, sets, MAX_TURNS, &mut Files::from(file), building)
    }

    /// [`Scene::parse`] with so many turns of all loops together.
    pub(super) fn parse_up_to(
        file: &str,
        text: &str,
        sets: &[(String, String)],
        max_turns: usize,
    ) -> Result<Scene, SceneErrors> {
        let building = Building::default();
        Scene::parse_within(file, text, sets, max_turns, &mut Files::from(file), &building)
    }
}
