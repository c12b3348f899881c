//! A scene as it was resolved, without the parameters of its run: what a state belongs to, and how two of them differ.

use super::manifest::{fingerprint, write_json};
use super::{RunError, manifest};
use crate::clock::Settings;
use crate::scene::Scene;
use serde_json::{Map, Value};
use std::path::Path;

/// File of a run folder, beside its checkpoints.
pub(super) const FILE: &str = "scene.json";
/// Keys of a scene that no state depends on.
const FREE: [&str; 8] = ["title", "description", "source", "tags", "cost", "run", "realtime", "expect"];
/// Keys of the granular clock that no state depends on.
const FREE_OF_GRAINS: [&str; 2] = ["step", "snapshot_interval"];
/// Differences that are named.
const MOST: usize = 5;

/// A scene with every include, repeat, parameter and file in its place.
pub struct Resolved {
    /// Hash of all of it, 16 hexadecimal digits.
    pub hash: String,
    tree: Value,
}

impl Resolved {
    /// Resolves a scene.
    pub fn of(scene: &Scene) -> Resolved {
        let text = scene.to_json();
        let mut tree: Value = serde_json::from_str(&text).unwrap_or(Value::String(text));
        if let Value::Object(keys) = &mut tree {
            FREE.iter().for_each(|key| drop(keys.remove(*key)));
            if let Some(Value::Object(granular)) = keys.get_mut("granular") {
                FREE_OF_GRAINS.iter().for_each(|key| drop(granular.remove(*key)));
            }
        }
        Resolved { hash: fingerprint(tree.to_string().as_bytes()), tree }
    }

    /// Writes it into a run folder.
    pub(super) fn write(&self, folder: &Path) -> Result<(), RunError> {
        write_json(&folder.join(FILE), &self.tree)
    }

    /// How it differs from the scene of a checkpoint with this hash, as far as the file beside the checkpoint tells.
    pub(super) fn difference(&self, checkpoint: &Path, hash: &str) -> Option<String> {
        let old: Value = manifest::read_json(&checkpoint.with_file_name(FILE)).ok()?;
        (fingerprint(old.to_string().as_bytes()) == hash).then(|| difference(&old, &self.tree))
    }
}

/// How settings differ, but for the number of threads; empty if they do not.
pub(super) fn settings_difference(old: &Settings, new: &Settings) -> String {
    let mut new = new.clone();
    new.set_threads(0);
    let mut old = old.clone();
    old.set_threads(0);
    let [old, new] = [&old, &new].map(|settings| serde_json::to_value(settings).unwrap_or_default());
    if old == new { String::new() } else { difference(&old, &new) }
}

/// What differs, in words: key, new and old value; things with names by their names.
fn difference(old: &Value, new: &Value) -> String {
    let mut found = Vec::new();
    compare("", old, new, &mut found);
    let others = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    if others > 0 {
        found.push(format!("and {others} more"));
    }
    found.join("; ")
}

fn compare(place: &str, old: &Value, new: &Value, found: &mut Vec<String>) {
    match (old, new) {
        _ if old == new => {}
        (Value::Object(old), Value::Object(new)) => compare_keys(place, old, new, found),
        (Value::Array(old), Value::Array(new)) => compare_lists(place, old, new, found),
        _ => found.push(format!("{place} is {}, was {}", short(new), short(old))),
    }
}

fn compare_keys(place: &str, old: &Map<String, Value>, new: &Map<String, Value>, found: &mut Vec<String>) {
    let below = |key: &str| if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") };
    for (key, was) in old {
        match new.get(key) {
            Some(is) => compare(&below(key), was, is, found),
            None => nothing_or_names(&below(key), was, "vanished", found),
        }
    }
    for (key, is) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
        nothing_or_names(&below(key), is, "appeared", found);
    }
}

/// A key that one scene has and the other has not: the things in its list one by one, or itself.
fn nothing_or_names(place: &str, value: &Value, what: &str, found: &mut Vec<String>) {
    match value.as_array().and_then(|list| list.iter().map(name).collect::<Option<Vec<&str>>>()) {
        Some(names) => found.extend(names.iter().map(|name| format!("{place} \"{name}\" {what}"))),
        None => found.push(format!("{place} = {} {what}", short(value))),
    }
}

fn compare_lists(place: &str, old: &[Value], new: &[Value], found: &mut Vec<String>) {
    let names = |list: &[Value]| list.iter().map(|item| name(item).map(str::to_owned)).collect::<Option<Vec<String>>>();
    let (Some(was), Some(is)) = (names(old), names(new)) else {
        if old.len() != new.len() {
            found.push(format!("{place} has {} entries, had {}", new.len(), old.len()));
            return;
        }
        let items = old.iter().zip(new).enumerate();
        items.for_each(|(k, (old, new))| compare(&format!("{place}[{k}]"), old, new, found));
        return;
    };
    // by name; of two with one name the last counts, which the scene's reader does not let pass
    let place_of = |names: &[String]| -> std::collections::BTreeMap<String, usize> {
        names.iter().enumerate().map(|(k, name)| (name.clone(), k)).collect()
    };
    let (olds, news) = (place_of(&was), place_of(&is));
    for (k, name) in was.iter().enumerate() {
        match news.get(name) {
            Some(&l) => compare(&format!("{place} \"{name}\""), &old[k], &new[l], found),
            None => found.push(format!("{place} \"{name}\" vanished")),
        }
    }
    let appeared = is.iter().filter(|name| !olds.contains_key(*name));
    found.extend(appeared.map(|name| format!("{place} \"{name}\" appeared")));
    if found.is_empty() {
        found.push(format!("{place} has another order"));
    }
}

fn name(item: &Value) -> Option<&str> {
    item.get("name").and_then(Value::as_str)
}

/// A value in few words.
fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
