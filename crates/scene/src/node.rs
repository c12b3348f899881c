//! A scene file as a tree of values with their places, read from TOML or JSON and written to both.

use super::{Place, SceneError};
use crate::equation::{EquationError, Tree};
use std::cell::{Cell, OnceCell};
use std::fmt::Write;
use toml::de::{DeTable, DeValue};

/// More errors than this are not collected.
pub(super) const MAX_ERRORS: usize = 100;

/// Tables and lists may nest this deep.
pub(super) const MAX_DEPTH: usize = 64;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub place: Place,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Number(f64),
    Text(Text),
    Flag(bool),
    List(Vec<Node>),
    /// In the order of the file.
    Table(Vec<Entry>),
    /// What scenes have no use for: dates, null.
    Other(&'static str),
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub key: String,
    pub place: Place,
    pub node: Node,
}

/// A text, and the equation it is once somebody asked for it.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub text: String,
    /// True if the file has the characters of the text as they are, one column after `place`.
    pub plain: bool,
    tree: OnceCell<Result<Tree, EquationError>>,
}

impl Text {
    pub fn new(text: impl Into<String>, plain: bool) -> Self {
        Text { text: text.into(), plain, tree: OnceCell::new() }
    }

    pub fn tree(&self) -> Result<&Tree, &EquationError> {
        self.tree.get_or_init(|| Tree::parse(&self.text)).as_ref()
    }
}

impl Node {
    /// A value without a place.
    pub fn new(value: Value) -> Self {
        Node { place: Place::default(), value }
    }

    /// What it is, for messages.
    pub fn what(&self) -> &'static str {
        match &self.value {
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::Flag(_) => "true or false",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other(what) => what,
        }
    }

    /// Where an error in the text of this node is.
    pub fn place_in_text(&self, offset: usize) -> Place {
        match &self.value {
            Value::Text(text) if text.plain && self.place.line > 0 => {
                let before = text.text.char_indices().take_while(|(at, _)| *at < offset).count();
                Place { column: self.place.column + 1 + before as u32, ..self.place }
            }
            _ => self.place,
        }
    }
}

/// Byte offsets to lines and columns.
pub(super) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
    /// Offset and place that were asked for last: columns go on from there, so that long lines are counted once.
    last: Cell<(usize, Place)>,
}

impl<'a> Lines<'a> {
    pub fn new(text: &'a str) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(after_breaks).collect();
        Lines { text, starts, last: Cell::new((0, Place { line: 1, column: 1 })) }
    }

    pub fn place(&self, offset: usize) -> Place {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let (known, place) = self.last.get();
        let (from, column) = match place.line == line as u32 && known <= offset {
            true => (known, place.column),
            false => (self.starts[line - 1], 1),
        };
        let between = self.text.get(from..offset.min(self.text.len()));
        let place = Place { line: line as u32, column: column + between.map_or(0, |text| text.chars().count()) as u32 };
        if between.is_some() {
            self.last.set((offset, place));
        }
        place
    }
}

/// Reads TOML; the errors are of its grammar.
pub(super) fn from_toml(file: &str, text: &str) -> (Node, Vec<SceneError>) {
    let lines = Lines::new(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut errors: Vec<SceneError> = errors
        .iter()
        .take(MAX_ERRORS)
        .map(|error| {
            let span = error.span().unwrap_or(0..0);
            let (mut message, mut help) = (error.message().trim().replace('\n', ", "), "");
            if message == "duplicate key" {
                message = format!("duplicate key `{}`", text.get(span.clone()).unwrap_or(""));
                help = "keep one of them; tables of a list have double brackets: [[body]]";
            }
            SceneError { file: file.to_string(), place: lines.place(span.start), message, help: help.to_string() }
        })
        .collect();
    let mut too_deep = None;
    let value = toml_table(table.get_ref(), &lines, 0, &mut too_deep);
    errors.extend(too_deep.map(|place| nested_too_deep(file, place)));
    (Node { place: Place { line: 1, column: 1 }, value }, errors)
}

pub(super) fn nested_too_deep(file: &str, place: Place) -> SceneError {
    let message = format!("tables and lists nested deeper than {MAX_DEPTH} levels");
    SceneError { file: file.to_string(), place, message, help: String::new() }
}

fn toml_table(table: &DeTable<'_>, lines: &Lines<'_>, depth: usize, too_deep: &mut Option<Place>) -> Value {
    let mut entries: Vec<(usize, Entry)> = Vec::with_capacity(table.len());
    for (key, value) in table.iter() {
        let place = lines.place(key.span().start);
        if depth > MAX_DEPTH {
            *too_deep = Some(place);
            break;
        }
        let mut node_place = lines.place(value.span().start);
        // A table made by the header of an inner one has no text of its own: its place is its key's.
        if node_place.line < place.line {
            node_place = place;
        }
        let node = Node { place: node_place, value: toml_value(value, lines, depth + 1, too_deep) };
        entries.push((key.span().start, Entry { key: key.get_ref().to_string(), place, node }));
    }
    entries.sort_by_key(|(start, _)| *start);
    Value::Table(entries.into_iter().map(|(_, entry)| entry).collect())
}

fn toml_value(
    value: &toml::Spanned<DeValue<'_>>,
    lines: &Lines<'_>,
    depth: usize,
    too_deep: &mut Option<Place>,
) -> Value {
    if depth > MAX_DEPTH {
        *too_deep = Some(lines.place(value.span().start));
        return Value::Other("too deep");
    }
    match value.get_ref() {
        DeValue::String(text) => {
            let source = lines.text.get(value.span()).unwrap_or("");
            let plain = source.len() == text.len() + 2 && source.get(1..text.len() + 1) == Some(text.as_ref());
            Value::Text(Text::new(text.as_ref(), plain))
        }
        DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::Number(number as f64),
            Err(_) => Value::Number(f64::INFINITY),
        },
        DeValue::Float(number) => Value::Number(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Array(items) => Value::List(
            items
                .iter()
                .map(|item| Node {
                    place: lines.place(item.span().start),
                    value: toml_value(item, lines, depth + 1, too_deep),
                })
                .collect(),
        ),
        DeValue::Table(table) => toml_table(table, lines, depth + 1, too_deep),
    }
}

/// Writes a scene's top table: plain values, then `[table]`s and `[[list]]`s, everything deeper inline.
pub(super) fn to_toml(top: &[Entry]) -> String {
    let mut text = String::new();
    let is_section = |entry: &&Entry| match &entry.node.value {
        Value::Table(_) => true,
        Value::List(items) => matches!(items.first().map(|item| &item.value), Some(Value::Table(_))),
        _ => false,
    };
    let line = |text: &mut String, entry: &Entry| {
        text.push_str(&toml_key(&entry.key));
        text.push_str(" = ");
        inline(text, &entry.node, false);
        text.push('\n');
    };
    for entry in top.iter().filter(|entry| !is_section(entry)) {
        line(&mut text, entry);
    }
    for section in top.iter().filter(is_section) {
        let name = toml_key(&section.key);
        match &section.node.value {
            Value::Table(entries) if entries.iter().all(|entry| is_section(&entry)) => {
                for inner in entries {
                    let _ = writeln!(text, "\n[{name}.{}]", toml_key(&inner.key));
                    if let Value::Table(entries) = &inner.node.value {
                        entries.iter().for_each(|entry| line(&mut text, entry));
                    }
                }
            }
            Value::Table(entries) => {
                let _ = writeln!(text, "\n[{name}]");
                entries.iter().for_each(|entry| line(&mut text, entry));
            }
            Value::List(items) => {
                for item in items {
                    let _ = writeln!(text, "\n[[{name}]]");
                    if let Value::Table(entries) = &item.value {
                        entries.iter().for_each(|entry| line(&mut text, entry));
                    }
                }
            }
            _ => {}
        }
    }
    text
}

/// Writes the same as JSON.
pub(super) fn to_json(node: &Node) -> String {
    let mut text = String::new();
    inline(&mut text, node, true);
    text
}

fn toml_key(key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { key.to_string() } else { quoted(key) }
}

/// A string as both TOML and JSON write it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn inline(text: &mut String, node: &Node, json: bool) {
    match &node.value {
        Value::Number(number)
            if *number == number.floor() && number.abs() < 1e15 && number.to_bits() != (-0.0f64).to_bits() =>
        {
            let _ = write!(text, "{number}");
        }
        Value::Number(number) => {
            let _ = write!(text, "{number:?}");
        }
        Value::Text(string) => text.push_str(&quoted(&string.text)),
        Value::Flag(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::List(items) => {
            text.push('[');
            for (k, item) in items.iter().enumerate() {
                text.push_str(if k > 0 { ", " } else { "" });
                inline(text, item, json);
            }
            text.push(']');
        }
        Value::Table(entries) => {
            text.push_str(if json || entries.is_empty() { "{" } else { "{ " });
            for (k, entry) in entries.iter().enumerate() {
                text.push_str(if k > 0 { ", " } else { "" });
                text.push_str(&if json { quoted(&entry.key) } else { toml_key(&entry.key) });
                text.push_str(if json { ": " } else { " = " });
                inline(text, &entry.node, json);
            }
            text.push_str(if json || entries.is_empty() { "}" } else { " }" });
        }
        Value::Other(_) => text.push_str("\"\""),
    }
}
