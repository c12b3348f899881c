//! JSON with places.

use super::node::{Entry, Lines, MAX_DEPTH, Node, Text, Value, nested_too_deep};
use super::{Place, SceneError};

/// Reads JSON; at most one error, of its grammar.
pub(super) fn from_json(file: &str, text: &str) -> (Node, Vec<SceneError>) {
    let mut parser = Parser { file, text, lines: Lines::new(text), at: 0 };
    let result = parser.value(0).and_then(|node| {
        parser.space();
        if parser.at < text.len() { Err(parser.error("text after the end of the scene")) } else { Ok(node) }
    });
    match result {
        Ok(node) => (node, Vec::new()),
        Err(error) => (Node::new(Value::Table(Vec::new())), vec![error]),
    }
}

struct Parser<'a> {
    file: &'a str,
    text: &'a str,
    lines: Lines<'a>,
    at: usize,
}

impl Parser<'_> {
    fn place(&self) -> Place {
        self.lines.place(self.at)
    }

    fn error(&self, message: impl Into<String>) -> SceneError {
        let (file, place) = (self.file.to_string(), self.place());
        SceneError { file, place, message: message.into(), help: String::new() }
    }

    fn space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    fn value(&mut self, depth: usize) -> Result<Node, SceneError> {
        self.space();
        let place = self.place();
        if depth > MAX_DEPTH {
            return Err(nested_too_deep(self.file, place));
        }
        let value = match self.rest().chars().next() {
            Some('{') => self.table(depth)?,
            Some('[') => self.list(depth)?,
            Some('"') => {
                let start = self.at;
                let text = self.string()?;
                let plain = self.at - start == text.len() + 2;
                Value::Text(Text::new(text, plain))
            }
            Some('-' | '0'..='9') => self.number()?,
            _ if self.take("true") => Value::Flag(true),
            _ if self.take("false") => Value::Flag(false),
            _ if self.take("null") => Value::Other("null"),
            Some(letter) => return Err(self.error(format!("a value is expected here, not {letter:?}"))),
            None => return Err(self.error("the file ends too early")),
        };
        Ok(Node { place, value })
    }

    fn table(&mut self, depth: usize) -> Result<Value, SceneError> {
        self.at += 1;
        let mut entries: Vec<Entry> = Vec::new();
        self.space();
        if self.take("}") {
            return Ok(Value::Table(entries));
        }
        loop {
            self.space();
            let place = self.place();
            if !self.rest().starts_with('"') {
                return Err(self.error("a key in double quotes is expected here"));
            }
            let key = self.string()?;
            if entries.iter().any(|entry| entry.key == key) {
                let (file, message) = (self.file.to_string(), format!("duplicate key `{key}`"));
                return Err(SceneError { file, place, message, help: String::new() });
            }
            self.space();
            if !self.take(":") {
                return Err(self.error("`:` is missing after the key"));
            }
            let node = self.value(depth + 1)?;
            entries.push(Entry { key, place, node });
            self.space();
            if self.take("}") {
                return Ok(Value::Table(entries));
            }
            if !self.take(",") {
                return Err(self.error("`,` or `}` is missing"));
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, SceneError> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.take("]") {
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            if self.take("]") {
                return Ok(Value::List(items));
            }
            if !self.take(",") {
                return Err(self.error("`,` or `]` is missing"));
            }
        }
    }

    fn number(&mut self) -> Result<Value, SceneError> {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let length = self.rest().len() - self.rest().trim_start_matches(is_part).len();
        let number: f64 = self.rest()[..length]
            .parse()
            .map_err(|_| self.error(format!("{} is not a number", &self.rest()[..length])))?;
        self.at += length;
        Ok(Value::Number(number))
    }

    fn string(&mut self) -> Result<String, SceneError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let Some(letter) = self.rest().chars().next() else {
                return Err(self.error("the text is not closed"));
            };
            match letter {
                '"' => {
                    self.at += 1;
                    return Ok(out);
                }
                '\\' => out.push(self.escape()?),
                c if (c as u32) < 0x20 => return Err(self.error("a text may not contain line breaks; write \\n")),
                c => {
                    out.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, SceneError> {
        let simple = [
            ("\"", '"'),
            ("\\", '\\'),
            ("/", '/'),
            ("b", '\u{8}'),
            ("f", '\u{c}'),
            ("n", '\n'),
            ("r", '\r'),
            ("t", '\t'),
        ];
        let rest = &self.rest()[1..];
        if let Some((_, letter)) = simple.iter().find(|(sign, _)| rest.starts_with(sign)) {
            self.at += 2;
            return Ok(*letter);
        }
        let unit = |text: &str| {
            text.strip_prefix('u').and_then(|t| t.get(..4)).and_then(|hex| u32::from_str_radix(hex, 16).ok())
        };
        let Some(first) = unit(rest) else { return Err(self.error("unknown escape")) };
        let (code, length) = match (first, rest.get(5..).and_then(|t| t.strip_prefix('\\')).and_then(unit)) {
            (0xd800..=0xdbff, Some(second @ 0xdc00..=0xdfff)) => {
                (0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00), 12)
            }
            _ => (first, 6),
        };
        let letter = char::from_u32(code).ok_or_else(|| self.error("half a surrogate pair"))?;
        self.at += length;
        Ok(letter)
    }
}
