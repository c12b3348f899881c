//! Outlines of the paths, rectangles, circles, ellipses and polygons of an SVG picture. y points down there: outlines are mirrored. Curves become lines.

use super::number::{short, text};
use super::{Contents, FileError};
use std::f64::consts::PI;

const SVG: &str = "SVG";
/// Lines that a Bezier curve becomes.
const PIECES: u32 = 16;
/// Corners of a full circle of an arc.
const SEGMENTS: f64 = 64.0;

/// What stands in these is not drawn where it stands.
const UNSEEN: [&str; 6] = ["defs", "symbol", "clipPath", "mask", "pattern", "marker"];

/// Contents, and the length of a unit where width and height say it [m].
pub(super) fn read(bytes: &[u8]) -> Result<(Contents, Option<f64>), FileError> {
    let content = text(bytes);
    let mut contents = Contents::default();
    let cut = |line: usize, what: &str| {
        let message = format!("the file is cut off: {what}");
        Err(FileError::Line { format: SVG, line, message })
    };
    let (mut at, mut line) = (0, 1);
    let (mut any, mut open_since, mut unseen, mut unit) = (false, None, 0usize, None);
    while let Some(open) = content[at..].find('<').map(|k| at + k) {
        line += newlines(&content[at..open]);
        let rest = &content[open..];
        let closed_by = [("<!--", "-->"), ("<![CDATA[", "]]>")].into_iter().find(|(from, _)| rest.starts_with(from));
        if let Some((from, to)) = closed_by {
            match rest.find(to) {
                Some(k) => at = open + k,
                None => return cut(line, &format!("{to} is missing after {from}")),
            }
            line += newlines(&content[open..at]);
            continue;
        }
        let Some(end) = tag_end(rest).map(|k| open + k) else {
            return cut(line, &format!("> is missing after \"{}\"", short(rest)));
        };
        let tag = &content[open + 1..end];
        at = end;
        let name = tag.split(|c: char| c.is_whitespace() || c == '/').next().unwrap_or("");
        if name == "svg" {
            if open_since.is_some() {
                let message = "an <svg> inside of another is not read: ungroup it first";
                return Err(FileError::Line { format: SVG, line, message: message.into() });
            }
            unit = if any { unit } else { self::unit(tag) };
            any = true;
            if !tag.ends_with('/') {
                open_since.get_or_insert(line);
            }
        } else if tag.starts_with("/svg") {
            open_since = None;
        }
        if UNSEEN.contains(&name) && !tag.ends_with('/') {
            unseen += 1;
        } else if tag.strip_prefix('/').is_some_and(|name| UNSEEN.contains(&name.trim_end())) {
            unseen = unseen.saturating_sub(1);
        }
        if unseen > 0 {
            if SHAPES.contains(&name) {
                *contents.skipped.entry("definition".into()).or_default() += 1;
            }
            line += newlines(tag);
            continue;
        }
        let style: String = attribute(tag, "style").map_or("", |(_, style)| style).split_whitespace().collect();
        let styled = |what: &str| style.split(';').any(|own| own.starts_with(what));
        if attribute(tag, "display").is_some_and(|(_, how)| how.trim() == "none") || styled("display:none") {
            if name == "g" {
                let message = "a hidden group (display: none) is not read: delete it, or show it";
                return Err(FileError::Line { format: SVG, line, message: message.into() });
            }
            if SHAPES.contains(&name) {
                *contents.skipped.entry(format!("hidden {name}")).or_default() += 1;
            }
            line += newlines(tag);
            continue;
        }
        if attribute(tag, "transform").is_some() || styled("transform:") {
            let message =
                "a transform is not read: apply it first (Inkscape: Extensions, Modify Path, Apply Transform)";
            return Err(FileError::Line { format: SVG, line, message: message.into() });
        }
        if let Some((from, d)) = path_data(name, tag) {
            let path = Path { d: &d, rest: &d, line: line + newlines(&tag[..from]), command: ' ' };
            contents.outlines.extend(path.outlines(&mut contents.skipped)?);
        } else if SHAPES.contains(&name) || ["polyline", "line", "text", "image", "use"].contains(&name) {
            *contents.skipped.entry(name.into()).or_default() += 1;
        }
        line += newlines(tag);
    }
    if !any {
        return Err(FileError::Line { format: SVG, line: 1, message: "no <svg> element".into() });
    }
    if let Some(line) = open_since {
        return cut(line, "</svg> is missing after this <svg>");
    }
    Ok((contents, unit))
}

/// What the picture's width and height in lengths and its viewBox in units make a unit [m].
fn unit(tag: &str) -> Option<f64> {
    let (_, seen) = attribute(tag, "viewBox")?;
    let seen: Vec<f64> = seen.split([' ', ',']).filter_map(|x| x.trim().parse().ok()).collect();
    let length = |key: &str, units: f64| {
        let (_, text) = attribute(tag, key)?;
        let text = text.trim();
        let named = [("mm", 1e-3), ("cm", 1e-2), ("in", 0.0254), ("pt", 0.0254 / 72.0), ("pc", 0.0254 / 6.0)];
        let (number, unit) = named.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))?;
        Some(number.trim().parse::<f64>().ok()? * unit / units).filter(|unit| *unit > 0.0 && unit.is_finite())
    };
    let [.., width, height] = seen[..] else { return None };
    let [across, down] = [length("width", width)?, length("height", height)?];
    ((across - down).abs() <= 1e-3 * across).then_some(across)
}

/// Elements that have outlines.
const SHAPES: [&str; 5] = ["path", "rect", "circle", "ellipse", "polygon"];

/// An element as the data of a path, and where in the tag they stand; none where it has no outline, or one of no plain size (a background of 100 %).
fn path_data(name: &str, tag: &str) -> Option<(usize, String)> {
    let given = |key: &str| attribute(tag, key).map(|(_, value)| value.trim().trim_end_matches("px").parse::<f64>());
    let optional = |key: &str| given(key).transpose().ok().filter(|x| x.is_none_or(f64::is_finite));
    let number = |key: &str| optional(key).map(|value| value.unwrap_or(0.0));
    let length = |key: &str| number(key).filter(|x| *x > 0.0);
    let data = match name {
        "path" => return Some(attribute(tag, "d").map_or((0, String::new()), |(from, d)| (from, d.to_owned()))),
        "polygon" => {
            let (from, points) = attribute(tag, "points").unwrap_or((0, ""));
            return Some((from, format!("M{points}Z")));
        }
        "circle" | "ellipse" => {
            let [rx, ry] = if name == "circle" { [length("r")?; 2] } else { [length("rx")?, length("ry")?] };
            let (x, y) = (number("cx")?, number("cy")?);
            let (left, right) = (x - rx, x + rx);
            format!("M{left} {y}A{rx} {ry} 0 0 1 {right} {y}A{rx} {ry} 0 0 1 {left} {y}Z")
        }
        "rect" => {
            let (x, y, w, h) = (number("x")?, number("y")?, length("width")?, length("height")?);
            // round corners: one radius stands for both
            let (rx, ry) = (optional("rx")?, optional("ry")?);
            let (rx, ry) = (rx.or(ry).unwrap_or(0.0).min(0.5 * w), ry.or(rx).unwrap_or(0.0).min(0.5 * h));
            if rx > 0.0 && ry > 0.0 {
                let (across, down, round) = (w - 2.0 * rx, h - 2.0 * ry, format!("a{rx} {ry} 0 0 1"));
                let left = format!("h{}{round} {} {}v{}", -across, -rx, -ry, -down);
                format!(
                    "M{} {y}h{across}{round} {rx} {ry}v{down}{round} {} {ry}{left}{round} {rx} {}Z",
                    x + rx,
                    -rx,
                    -ry
                )
            } else {
                format!("M{x} {y}h{w}v{h}h{}Z", -w)
            }
        }
        _ => return None,
    };
    Some((0, data))
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|b| *b == b'\n').count()
}

/// Where a tag ends: at the first > that stands in no quotes.
fn tag_end(rest: &str) -> Option<usize> {
    let mut quote = None;
    rest.bytes().position(|b| {
        match quote {
            Some(q) if b == q => quote = None,
            None if b == b'"' || b == b'\'' => quote = Some(b),
            _ => {}
        }
        quote.is_none() && b == b'>'
    })
}

/// Value of an attribute within a tag, and where in the tag it begins.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<(usize, &'a str)> {
    let mut from = 0;
    while let Some(k) = tag[from..].find(name).map(|k| from + k) {
        let after = tag[k + name.len()..].trim_start();
        let starts = tag[..k].ends_with(char::is_whitespace);
        if let (true, Some(value)) = (starts, after.strip_prefix('=')) {
            let value = value.trim_start();
            let quote = value.chars().next().filter(|c| *c == '"' || *c == '\'')?;
            let inside = value[1..].split(quote).next()?;
            return Some((tag.len() - value.len() + 1, inside));
        }
        from = k + name.len();
    }
    None
}

/// Reads the small language of path data.
struct Path<'a> {
    d: &'a str,
    rest: &'a str,
    /// Line where `d` begins.
    line: usize,
    command: char,
}

impl Path<'_> {
    /// An error at what is left, with the place in the path and what stands before it.
    fn wrong<T>(&self, message: String) -> Result<T, FileError> {
        let before = &self.d[..self.d.len() - self.rest.len()];
        let line = self.line + newlines(before);
        let place = before.chars().count() + 1;
        let tail: String = before.chars().skip(place.saturating_sub(21)).collect();
        let tail = tail.split_whitespace().collect::<Vec<_>>().join(" ");
        let after = if tail.is_empty() { String::new() } else { format!(", after \"{tail}\"") };
        Err(FileError::Line { format: SVG, line, message: format!("path: character {place}{after}: {message}") })
    }

    /// An error where something else is expected.
    fn expected<T>(&self, what: &str) -> Result<T, FileError> {
        let command = self.command;
        if self.rest.is_empty() {
            return self.wrong(format!("the path is cut off: {what} of command {command} is expected"));
        }
        self.wrong(format!("{what} of command {command} is expected, not \"{}\"", short(self.rest)))
    }

    fn skip(&mut self) {
        self.rest = self.rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    }

    fn more_numbers(&mut self) -> bool {
        self.skip();
        self.rest.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
    }

    fn number(&mut self, what: &str) -> Result<f64, FileError> {
        self.skip();
        let bytes = self.rest.as_bytes();
        let (mut k, mut dot, mut exponent) = (0, false, false);
        while k < bytes.len() {
            let after_e = k > 0 && matches!(bytes[k - 1], b'e' | b'E');
            match bytes[k] {
                b'0'..=b'9' => {}
                b'+' | b'-' if k == 0 || after_e => {}
                b'.' if !dot && !exponent => dot = true,
                b'e' | b'E' if !exponent && k > 0 => exponent = true,
                _ => break,
            }
            k += 1;
        }
        let (word, rest) = self.rest.split_at(k);
        match word.parse::<f64>() {
            Ok(x) if x.is_finite() => {
                self.rest = rest;
                Ok(x)
            }
            _ => self.expected(what),
        }
    }

    /// A flag of an arc: one digit, perhaps with nothing after it.
    fn flag(&mut self) -> Result<bool, FileError> {
        self.skip();
        let flag = match self.rest.as_bytes().first() {
            Some(b'0') => false,
            Some(b'1') => true,
            _ => return self.expected("a flag, 0 or 1,"),
        };
        self.rest = &self.rest[1..];
        Ok(flag)
    }

    fn point(&mut self, o: [f64; 2]) -> Result<[f64; 2], FileError> {
        Ok([o[0] + self.number("x")?, o[1] + self.number("y")?])
    }

    fn outlines(
        mut self,
        skipped: &mut std::collections::BTreeMap<String, usize>,
    ) -> Result<Vec<Vec<[f64; 2]>>, FileError> {
        let mut all: Vec<Vec<[f64; 2]>> = Vec::new();
        let mut run: Vec<[f64; 2]> = Vec::new();
        let (mut here, mut start, mut handle) = ([0.0; 2], [0.0; 2], None);
        let mut finish = |run: &mut Vec<[f64; 2]>, closed: bool| {
            let run = std::mem::take(run);
            if run.len() > 2 && (closed || run.first() == run.last()) {
                all.push(run);
            } else if !run.is_empty() {
                *skipped.entry("open path".into()).or_default() += 1;
            }
        };
        loop {
            self.skip();
            let Some(c) = self.rest.chars().next() else { break };
            if c.is_ascii_alphabetic() {
                self.command = c;
                self.rest = &self.rest[1..];
            } else if !self.more_numbers() {
                return self.wrong(format!("a command or a number is expected, not \"{}\"", short(self.rest)));
            } else if self.command == ' ' {
                return self.wrong("a path begins with the command M or m".into());
            }
            let command = self.command;
            let o = if command.is_ascii_lowercase() { here } else { [0.0; 2] };
            let kept = handle.take();
            if run.is_empty() && !matches!(command, 'M' | 'm' | 'Z' | 'z') {
                run.push(here);
            }
            match command.to_ascii_uppercase() {
                'M' => {
                    finish(&mut run, false);
                    here = self.point(o)?;
                    start = here;
                    run.push(here);
                    // Further pairs are lines.
                    self.command = if command == 'm' { 'l' } else { 'L' };
                    continue;
                }
                'Z' => {
                    finish(&mut run, true);
                    here = start;
                    if self.more_numbers() {
                        return self.wrong("after z a command is expected, no number".into());
                    }
                    continue;
                }
                'L' => here = self.point(o)?,
                'H' => here[0] = o[0] + self.number("x")?,
                'V' => here[1] = o[1] + self.number("y")?,
                'C' | 'S' => {
                    let mirrored = |h: Option<(bool, [f64; 2])>| match h {
                        Some((true, h)) => [2.0 * here[0] - h[0], 2.0 * here[1] - h[1]],
                        _ => here,
                    };
                    let a = if command.eq_ignore_ascii_case(&'C') { self.point(o)? } else { mirrored(kept) };
                    let (b, end) = (self.point(o)?, self.point(o)?);
                    cubic(here, a, b, end, &mut run);
                    (here, handle) = (end, Some((true, b)));
                }
                'Q' | 'T' => {
                    let mirrored = |h: Option<(bool, [f64; 2])>| match h {
                        Some((false, h)) => [2.0 * here[0] - h[0], 2.0 * here[1] - h[1]],
                        _ => here,
                    };
                    let a = if command.eq_ignore_ascii_case(&'Q') { self.point(o)? } else { mirrored(kept) };
                    let end = self.point(o)?;
                    // The cubic with the same shape.
                    let third = |p: [f64; 2]| [p[0] + (a[0] - p[0]) * 2.0 / 3.0, p[1] + (a[1] - p[1]) * 2.0 / 3.0];
                    cubic(here, third(here), third(end), end, &mut run);
                    (here, handle) = (end, Some((false, a)));
                }
                'A' => {
                    let (rx, ry) = (self.number("radius x")?.abs(), self.number("radius y")?.abs());
                    let turn = self.number("the angle")?;
                    let (large, sweep) = (self.flag()?, self.flag()?);
                    let end = self.point(o)?;
                    arc(here, end, [rx, ry], turn * PI / 180.0, large, sweep, &mut run);
                    here = end;
                }
                _ => return self.wrong(format!("\"{command}\" is none of the commands M L H V C S Q T A Z")),
            }
            run.push(here);
        }
        finish(&mut run, false);
        // y up.
        all.iter_mut().flatten().for_each(|p| p[1] = -p[1]);
        Ok(all)
    }
}

/// Points between the ends.
fn cubic(p: [f64; 2], a: [f64; 2], b: [f64; 2], q: [f64; 2], out: &mut Vec<[f64; 2]>) {
    for k in 1..PIECES {
        let t = k as f64 / PIECES as f64;
        let u = 1.0 - t;
        let w = [u * u * u, 3.0 * u * u * t, 3.0 * u * t * t, t * t * t];
        out.push([0, 1].map(|i| w[0] * p[i] + w[1] * a[i] + w[2] * b[i] + w[3] * q[i]));
    }
}

/// Points between the ends of an elliptic arc: from end points to centre as in SVG 1.1, F.6.5.
fn arc(p: [f64; 2], q: [f64; 2], r: [f64; 2], phi: f64, large: bool, sweep: bool, out: &mut Vec<[f64; 2]>) {
    let [mut rx, mut ry] = r;
    if !(rx > 0.0 && ry > 0.0) || p == q {
        return;
    }
    let (s, c) = libm::sincos(phi);
    let (dx, dy) = (0.5 * (p[0] - q[0]), 0.5 * (p[1] - q[1]));
    let (x, y) = (c * dx + s * dy, -s * dx + c * dy);
    // Radii that do not reach are enlarged.
    let reach = (x / rx) * (x / rx) + (y / ry) * (y / ry);
    if reach > 1.0 {
        (rx, ry) = (rx * reach.sqrt(), ry * reach.sqrt());
    }
    let under = ((rx * ry) * (rx * ry) / ((rx * y) * (rx * y) + (ry * x) * (ry * x)) - 1.0).max(0.0);
    let k = if large == sweep { -under.sqrt() } else { under.sqrt() };
    let (cx, cy) = (k * rx * y / ry, -k * ry * x / rx);
    let centre = [c * cx - s * cy + 0.5 * (p[0] + q[0]), s * cx + c * cy + 0.5 * (p[1] + q[1])];
    let from = libm::atan2((y - cy) / ry, (x - cx) / rx);
    let mut turn = libm::atan2((-y - cy) / ry, (-x - cx) / rx) - from;
    if sweep && turn < 0.0 {
        turn += 2.0 * PI;
    } else if !sweep && turn > 0.0 {
        turn -= 2.0 * PI;
    }
    let steps = (turn.abs() * SEGMENTS / (2.0 * PI)).ceil().clamp(1.0, SEGMENTS) as u32;
    for i in 1..steps {
        let (si, co) = libm::sincos(from + turn * i as f64 / steps as f64);
        let (x, y) = (rx * co, ry * si);
        out.push([centre[0] + c * x - s * y, centre[1] + s * x + c * y]);
    }
}
