//! Code stays readable: functions fit on a screen, files on a few, modules of a crate do not import each other in circles.
//! What is larger today is listed with its reason, and may only shrink: an exception that is no longer needed fails as well.

use crate::layering::{CRATES, root, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Lines of a function, at most.
const FUNCTION: usize = 80;
/// Lines of a file without its tests, at most.
const FILE: usize = 800;

/// Functions longer than [`FUNCTION`]: file, name, lines at most, why.
const LONG_FUNCTIONS: &[(&str, &str, usize, &str)] = &[
    ("crates/cli/src/run.rs", "describe", 97, "one entry for each line of the summary"),
    ("crates/geometry/src/file/svg.rs", "outlines", 92, "one arm for each command of a path"),
    ("crates/geometry/src/file/svg.rs", "read", 86, "one arm for each kind of XML node"),
    ("crates/geometry/src/manifold/mod.rs", "manifold", 87, "one arm for each pair of shapes"),
    ("crates/geometry/src/overlap/moments.rs", "boxes", 84, "an inner loop without calls"),
    ("crates/geometry/src/overlap/moments/convex.rs", "measure", 88, "an inner loop without calls"),
    ("crates/geometry/src/solid/mod.rs", "surface", 111, "one arm for each kind of solid"),
    ("crates/granular/src/forces.rs", "full_pairs", 83, "an inner loop: the whole law of a pair in order"),
    ("crates/mechanics/src/model/compile.rs", "model", 109, "the list of what is compiled, in order"),
    ("crates/mechanics/src/model/contact_table.rs", "parameters", 140, "one parameter after the other, each checked"),
    ("crates/numerics/src/kkt/lanes.rs", "take", 99, "an inner loop: one lane of contacts in order"),
    ("crates/numerics/src/ode/rosenbrock.rs", "attempt_rodas4", 87, "six stages written out, an inner loop"),
    ("crates/precise/src/island/event.rs", "act", 100, "one arm for each kind of event"),
    ("crates/scene/src/include.rs", "enter", 113, "one arm for each list of a scene"),
];

/// Files longer than [`FILE`]: file, lines at most, why.
const LONG_FILES: &[(&str, usize, &str)] = &[];

/// Structs whose methods stand in the files of their verbs, `contacts.rs`, `joints.rs` and so on: naming one of them there
/// is no import of the module that declares it.
const VERBS_OF: &[(&str, &str)] =
    &[("precise", "Clock"), ("precise", "Dynamics"), ("realtime", "Clock"), ("scene", "Scene")];

/// Modules that import each other in a circle: crate, modules, why. A folder is one module, `lib` what stands in `lib.rs` itself.
const CIRCLES: &[(&str, &[&str], &str)] = &[
    ("format", &["key", "part"], "a kind checks its parts, and a part knows its kind"),
    (
        "scene",
        &[
            "flexible",
            "format",
            "format_grains",
            "format_mechanism",
            "format_solid",
            "format_vehicle",
            "gallery",
            "include",
            "json",
            "lib",
            "node",
            "optimize",
            "read",
            "read_mechanism",
            "read_part",
            "reader",
            "repeat",
            "soil",
            "write",
        ],
        "reading a scene reads the scenes it includes, and the tables of keys name the functions that read and write them",
    ),
];

/// The text with comments, strings and test modules blanked, line by line as before.
pub fn code(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let newlines = |out: &mut String, from: usize, to: usize| {
        out.extend(bytes[from..to].iter().filter(|&&b| b == b'\n').map(|_| '\n'));
    };
    while at < bytes.len() {
        let rest = &text[at..];
        let in_word = out.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let raw = rest.trim_start_matches('b').strip_prefix('r').filter(|_| !in_word).and_then(|r| {
            let hashes = r.len() - r.trim_start_matches('#').len();
            r[hashes..].starts_with('"').then_some(hashes)
        });
        let end = if rest.starts_with("//") {
            rest.find('\n').map_or(bytes.len(), |k| at + k)
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(bytes.len(), |k| at + k + 2)
        } else if let Some(hashes) = raw {
            let close = format!("\"{}", "#".repeat(hashes));
            let open = at + rest.find('"').unwrap_or(0) + 1;
            text[open..].find(&close).map_or(bytes.len(), |k| open + k + close.len())
        } else if rest.starts_with('"') {
            let mut k = at + 1;
            while k < bytes.len() && bytes[k] != b'"' {
                k += if bytes[k] == b'\\' { 2 } else { 1 };
            }
            k + 1
        } else if rest.starts_with("'\\") {
            rest[3..].find('\'').map_or(bytes.len(), |k| at + 3 + k + 1)
        } else if rest.starts_with('\'') && rest.chars().nth(2) == Some('\'') {
            at + 2 + rest.chars().nth(1).map_or(1, char::len_utf8)
        } else {
            let c = rest.chars().next().unwrap_or(' ');
            out.push(c);
            at += c.len_utf8();
            continue;
        };
        newlines(&mut out, at, end.min(bytes.len()));
        at = end;
    }
    without_tests(out)
}

/// Cuts `#[cfg(test)] mod NAME { ... }` out.
fn without_tests(mut text: String) -> String {
    let mut from = 0;
    while let Some(start) = text[from..].find("#[cfg(test)]").map(|k| from + k) {
        let after = text[start + 12..].trim_start();
        let open = text[start..].find(['{', ';']).map(|k| start + k);
        match open {
            Some(open) if after.starts_with("mod ") && text[open..].starts_with('{') => {
                let end = closing(&text, open);
                text.replace_range(start..=end, "");
                from = start;
            }
            _ => from = start + 12,
        }
    }
    text
}

/// Place of the brace that closes the one at `open`.
fn closing(text: &str, open: usize) -> usize {
    let mut depth = 0;
    for (k, c) in text[open..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return open + k,
            '}' => depth -= 1,
            _ => {}
        }
    }
    text.len() - 1
}

/// Names of all functions, with their lines from `fn` to the closing brace.
fn functions(code: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (k, _) in code.match_indices("fn ") {
        let begins = k == 0 || !code[..k].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let name: String = code[k + 3..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let mut depth = 0;
        // the semicolon of `[f64; 2]` among the arguments ends no declaration
        let ends = |c: char| {
            depth += i32::from("([".contains(c)) - i32::from(")]".contains(c));
            c == '{' || c == ';' && depth == 0
        };
        let Some(open) = code[k..].find(ends).map(|j| k + j) else { continue };
        if begins && !name.is_empty() && code[open..].starts_with('{') {
            found.push((name, code[k..closing(code, open)].matches('\n').count() + 1));
        }
    }
    found
}

/// Files of crates that are not tests: path and code.
fn files(crates: &[&str]) -> Vec<(String, String)> {
    let is_test = |path: &str| path.ends_with("tests.rs") || path.contains("/tests/");
    sources(crates).into_iter().filter(|(path, _)| !is_test(path)).map(|(path, text)| (path, code(&text))).collect()
}

#[test]
fn functions_fit_on_a_screen() {
    let mut longest: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (path, code) in files(CRATES) {
        for (name, lines) in functions(&code).into_iter().filter(|(_, lines)| *lines > FUNCTION) {
            let most = longest.entry((path.clone(), name)).or_default();
            *most = (*most).max(lines);
        }
    }
    let mut wrong = Vec::new();
    for (path, name, most, reason) in LONG_FUNCTIONS {
        assert!(!reason.is_empty());
        match longest.remove(&(path.to_string(), name.to_string())) {
            Some(lines) if lines <= *most => {}
            Some(lines) => wrong.push(format!("{path}: `{name}` has grown from {most} to {lines} lines")),
            None => wrong.push(format!("{path}: `{name}` is short: take it out of LONG_FUNCTIONS")),
        }
    }
    wrong.extend(longest.iter().map(|((path, name), lines)| format!("{path}: `{name}` has {lines} lines")));
    assert!(wrong.is_empty(), "a function has at most {FUNCTION} lines:\n{}", wrong.join("\n"));
}

#[test]
fn files_are_not_endless() {
    let long = files(CRATES).into_iter().map(|(path, code)| (path, code.matches('\n').count()));
    let mut long: BTreeMap<String, usize> = long.filter(|(_, lines)| *lines > FILE).collect();
    let mut wrong = Vec::new();
    for (path, most, reason) in LONG_FILES {
        assert!(!reason.is_empty());
        match long.remove(*path) {
            Some(lines) if lines <= *most => {}
            Some(lines) => wrong.push(format!("{path} has grown from {most} to {lines} lines")),
            None => wrong.push(format!("{path} is short: take it out of LONG_FILES")),
        }
    }
    wrong.extend(long.iter().map(|(path, lines)| format!("{path} has {lines} lines")));
    assert!(wrong.is_empty(), "a file has at most {FILE} lines beside its tests:\n{}", wrong.join("\n"));
}

/// `a::{b, c::{d}}` as `a::b`, `a::c::d`; names after `as` left out.
fn paths(tree: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for c in tree.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("one part").push(c);
    }
    let mut found = Vec::new();
    for part in parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()) {
        match part.split_once('{') {
            Some((start, rest)) => {
                let inner = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
                found.extend(paths(inner).into_iter().map(|path| format!("{}{path}", start.trim())));
            }
            None => found.push(part.split(" as ").next().unwrap_or(part).trim().to_owned()),
        }
    }
    found
}

/// Everything that stands between `use` and `;`, and whether it is `pub`; and the rest of the code.
fn uses(code: &str) -> (Vec<(String, bool)>, String) {
    let (mut found, mut rest, mut from) = (Vec::new(), String::new(), 0);
    for (k, _) in code.match_indices("use ") {
        let before = code[..k].trim_end();
        let starts = before.is_empty() || before.ends_with([';', '}', '{', ']']);
        let public = before.ends_with("pub") || before.ends_with(')') && before.contains("pub(");
        if k < from || !(starts || public) {
            continue;
        }
        let end = code[k..].find(';').map_or(code.len(), |j| k + j);
        found.extend(paths(&code[k + 4..end]).into_iter().map(|path| (path, public)));
        rest.push_str(&code[from..k]);
        from = end;
    }
    rest.push_str(&code[from..]);
    (found, rest)
}

/// Which top-level module of a crate uses which.
fn imports(name: &str) -> BTreeMap<String, BTreeSet<String>> {
    let src = format!("crates/{name}/src/");
    let files: Vec<(String, String)> =
        files(&[name]).into_iter().map(|(path, code)| (path[src.len()..].to_owned(), code)).collect();
    let top = |path: &str| path.split('/').next().unwrap_or("").trim_end_matches(".rs").to_owned();
    let modules: BTreeSet<String> = files.iter().map(|(path, _)| top(path)).collect();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    // what `lib.rs` only hands on belongs to the module that has it
    let mut home = BTreeMap::new();
    for (_, code) in files.iter().filter(|(path, _)| path == "lib.rs") {
        let (uses, rest) = uses(code);
        for (path, public) in uses {
            let path = path.trim_start_matches("crate::").trim_start_matches("self::").to_owned();
            let first = path.split("::").next().unwrap_or("").to_owned();
            if modules.contains(&first) {
                home.insert(path.rsplit("::").next().unwrap_or("").to_owned(), first.clone());
                if !public {
                    found.entry("lib".into()).or_default().insert(first);
                }
            }
        }
        for module in modules.iter().filter(|module| rest.contains(&format!("{module}::"))) {
            let called = rest.match_indices(&format!("{module}::")).any(|(k, _)| {
                let before = &rest[..k];
                !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
                    && (!before.ends_with("::") || before.ends_with("crate::") || before.ends_with("self::"))
            });
            if called {
                found.entry("lib".into()).or_default().insert(module.clone());
            }
        }
    }
    for (path, code) in files.iter().filter(|(path, _)| path != "lib.rs" && path != "main.rs") {
        let me = top(path);
        let depth = path.matches('/').count() + usize::from(!path.ends_with("mod.rs"));
        let (uses, rest) = uses(code);
        let mut all: Vec<String> = uses.into_iter().map(|(path, _)| path).collect();
        for start in ["crate::", "super::"] {
            for (k, _) in rest.match_indices(start) {
                if !rest[..k].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                    all.push(rest[k..].chars().take_while(|c| c.is_alphanumeric() || "_:".contains(*c)).collect());
                }
            }
        }
        for path in all {
            let segments: Vec<&str> = path.split("::").collect();
            let ups = segments.iter().take_while(|segment| **segment == "super").count();
            let rest = match segments.first() {
                Some(&"crate") => &segments[1..],
                Some(&"super") if ups >= depth => &segments[ups..],
                _ => continue,
            };
            let Some(first) = rest.first() else { continue };
            let lib = "lib".to_owned();
            let target = modules.get(*first).or_else(|| home.get(*first)).unwrap_or(&lib).clone();
            let verb = VERBS_OF.contains(&(name, rest.last().unwrap_or(first)));
            if target != me && !verb {
                found.entry(me.clone()).or_default().insert(target);
            }
        }
    }
    found
}

/// All that can be reached from `from`.
fn reached(imports: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut next = vec![from.to_owned()];
    while let Some(module) = next.pop() {
        for target in imports.get(&module).into_iter().flatten() {
            if found.insert(target.clone()) {
                next.push(target.clone());
            }
        }
    }
    found
}

/// Sets of modules that all reach each other.
fn circles(name: &str) -> BTreeSet<Vec<String>> {
    let imports = imports(name);
    let reach: BTreeMap<&String, BTreeSet<String>> = imports.keys().map(|m| (m, reached(&imports, m))).collect();
    let among = |module: &String| {
        let own = &reach[module];
        let back = own.iter().filter(|other| reach.get(other).is_some_and(|their| their.contains(module)));
        back.cloned().collect::<Vec<String>>()
    };
    imports.keys().map(among).filter(|circle| circle.len() > 1).collect()
}

#[test]
fn modules_of_a_crate_import_each_other_in_no_circle() {
    let mut wrong = Vec::new();
    for name in ["format", "parts", "scene", "mechanics", "precise", "realtime", "tippe"] {
        let found = circles(name);
        let listed: Vec<_> = CIRCLES.iter().filter(|(of, ..)| *of == name).collect();
        for circle in &found {
            let known = listed.iter().any(|(_, modules, _)| circle.iter().all(|m| modules.contains(&m.as_str())));
            if !known {
                wrong.push(format!("{name}: {} import each other", circle.join(", ")));
            }
        }
        for (_, modules, reason) in listed {
            assert!(!reason.is_empty());
            let there = found.iter().any(|circle| circle.iter().map(String::as_str).eq(modules.iter().copied()));
            if !there {
                wrong.push(format!("{name}: {} are no such circle any more: shorten CIRCLES", modules.join(", ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every scene that `./test` runs has its end state stored: a new one is added by `--renew` (CONTRIBUTING.md).
#[test]
fn end_states_of_all_scenes_are_stored() {
    let stored = fs::read_to_string(root().join("scenes/end-states.txt")).unwrap();
    let stored: BTreeSet<&str> = stored.lines().filter_map(|line| line.split(' ').next()).collect();
    let slow = |text: &str| text.lines().any(|line| line.starts_with("tags") && line.contains("\"slow\""));
    let checked = tippe::scene::gallery().iter().filter(|(_, text)| !slow(text));
    let missing: Vec<&str> = checked.map(|(name, _)| *name).filter(|name| !stored.contains(name)).collect();
    assert!(missing.is_empty(), "scenes/end-states.txt has no {missing:?}");
}

/// The scanner sees what it should.
#[test]
fn the_scanner_reads_code() {
    let text = "fn a() {\n    let s = \"fn b() {\"; // fn c() {\n    let c = '{';\n}\n#[cfg(test)]\nmod tests {\n    fn d() {}\n}\nfn e() {}\n";
    assert_eq!(functions(&code(text)), [("a".to_owned(), 4), ("e".to_owned(), 1)]);
    assert_eq!(functions("fn f(x: [f64; 2]) {\n}\nfn g(x: [u8; 2]);"), [("f".to_owned(), 2)]);
    assert_eq!(code("r#\"a \" b\"# 'x' '\\n' &'a str").trim(), "&'a str");
    assert_eq!(paths("a::{b, c::{d as e, f}}, g"), ["a::b", "a::c::d", "a::c::f", "g"]);
    let (found, _) = uses("pub use a::b;\nuse super::{c, d};\nfn refuse (x: u8) {}");
    assert_eq!(
        found.iter().map(|(path, public)| (path.as_str(), *public)).collect::<Vec<_>>(),
        [("a::b", true), ("super::c", false), ("super::d", false)]
    );
}

/// Lints that the tables above count on are on.
#[test]
fn functions_have_few_arguments() {
    let lints = fs::read_to_string(root().join("clippy.toml")).unwrap();
    assert!(lints.contains("too-many-arguments-threshold = 7"), "clippy.toml has no limit of arguments");
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(!manifest.contains("too_many_arguments"), "the limit of arguments is switched off");
}
