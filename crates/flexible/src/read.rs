//! Mesh files of other programs: Abaqus and CalculiX `.inp`, gmsh `.msh` 2.2 and 4.1; lengths times a unit.

use crate::FlexibleError;
use crate::mesh::{Kind, Mesh};
use std::collections::BTreeMap;
use std::fmt::Write;
use tippe_geometry::Vec3;

/// Reads a mesh: the format by the ending of its name.
pub fn read(name: &str, text: &str, unit: f64) -> Result<Mesh, FlexibleError> {
    let ending = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let mesh = match ending.as_str() {
        "inp" => inp(name, text, unit)?,
        "msh" => msh(name, text, unit)?,
        _ => {
            return Err(FlexibleError::at(
                name,
                1,
                "is no mesh this reads. help: .inp (Abaqus, CalculiX) or .msh (gmsh 2.2, 4.1)",
            ));
        }
    };
    mesh.checked()
}

/// Nodes and elements with the numbers a file gives them.
#[derive(Default)]
struct Raw {
    nodes: BTreeMap<u64, Vec3>,
    elements: Vec<(Kind, Vec<u64>)>,
    sets: BTreeMap<String, Vec<u64>>,
}

impl Raw {
    /// The mesh of the highest dimension and order that is in the file.
    fn mesh(self, file: &str, line: usize) -> Result<Mesh, FlexibleError> {
        let has = |kind: Kind| self.elements.iter().any(|(k, _)| *k == kind);
        let Some(kind) = [Kind::Tet10, Kind::Tet4, Kind::Tri6, Kind::Tri3].into_iter().find(|k| has(*k)) else {
            return Err(FlexibleError::at(
                file,
                line,
                "has no triangles and no tetrahedra. help: mesh the part with one of them",
            ));
        };
        let other = if kind == Kind::Tet10 { Kind::Tet4 } else { Kind::Tri3 };
        if kind.quadratic() && has(other) {
            return Err(FlexibleError::at(
                file,
                line,
                "has elements with straight and with curved sides. help: one order for all",
            ));
        }
        let index: BTreeMap<u64, u32> = self.nodes.keys().enumerate().map(|(k, n)| (*n, k as u32)).collect();
        let mut elements = Vec::new();
        for (_, nodes) in self.elements.iter().filter(|(k, _)| *k == kind) {
            for n in nodes {
                let Some(at) = index.get(n) else {
                    return Err(FlexibleError::at(
                        file,
                        line,
                        format!("an element names node {n}, which the file does not have"),
                    ));
                };
                elements.push(*at);
            }
        }
        let sets =
            self.sets.into_iter().map(|(name, of)| (name, of.iter().filter_map(|n| index.get(n).copied()).collect()));
        Ok(Mesh { kind, nodes: self.nodes.values().copied().collect(), elements, sets: sets.collect() })
    }
}

fn number<T: std::str::FromStr>(file: &str, line: usize, text: &str) -> Result<T, FlexibleError> {
    text.trim().parse().map_err(|_| FlexibleError::at(file, line, format!("\"{}\" is no number", text.trim())))
}

/// What an .inp file is in the middle of.
enum Block {
    Other,
    Node(Option<String>),
    Element(Kind, Option<String>),
    Set(String, bool),
}

fn inp(file: &str, text: &str, unit: f64) -> Result<Mesh, FlexibleError> {
    let mut raw = Raw::default();
    let mut element_sets: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut block = Block::Other;
    let mut pending: Vec<String> = Vec::new();
    let mut last = 0;
    for (k, line) in text.lines().enumerate() {
        let (line, at) = (line.trim(), k + 1);
        last = at;
        if line.is_empty() || line.starts_with("**") {
            continue;
        }
        if line.starts_with('*') {
            pending.clear();
            block = keyword(file, at, line)?;
            continue;
        }
        let mut words: Vec<String> = line.split(',').map(|w| w.trim().to_owned()).collect();
        if words.last().is_some_and(String::is_empty) {
            words.pop();
        }
        match &block {
            Block::Other => {}
            Block::Node(set) => {
                if words.len() < 3 {
                    return Err(FlexibleError::at(file, at, "a node has a number and two or three coordinates"));
                }
                let id: u64 = number(file, at, &words[0])?;
                let mut p = Vec3::ZERO;
                for c in 0..3.min(words.len() - 1) {
                    p[c] = number::<f64>(file, at, &words[c + 1])? * unit;
                }
                if !p.is_finite() {
                    return Err(FlexibleError::at(file, at, format!("node {id} has a coordinate that is not finite")));
                }
                raw.nodes.insert(id, p);
                set.iter().for_each(|set| raw.sets.entry(set.clone()).or_default().push(id));
            }
            Block::Element(kind, set) => {
                pending.append(&mut words);
                if pending.len() > kind.nodes() {
                    let ids: Vec<u64> = pending.iter().map(|w| number(file, at, w)).collect::<Result<_, _>>()?;
                    if ids.len() != kind.nodes() + 1 {
                        let message = format!("an element of {} nodes has {}", kind.nodes(), ids.len() - 1);
                        return Err(FlexibleError::at(file, at, message));
                    }
                    raw.elements.push((*kind, ids[1..].to_vec()));
                    set.iter().for_each(|set| element_sets.entry(set.clone()).or_default().extend(&ids[1..]));
                    pending.clear();
                }
            }
            Block::Set(name, generate) => {
                let own = match (generate, words.first().map(|w| w.parse::<u64>().is_err())) {
                    (false, Some(true)) => {
                        words.iter().filter_map(|w| raw.sets.get(&w.to_lowercase())).flatten().copied().collect()
                    }
                    _ => {
                        let ids: Vec<u64> = words.iter().map(|w| number(file, at, w)).collect::<Result<_, _>>()?;
                        match (generate, ids.as_slice()) {
                            (true, [from, to]) => (*from..=*to).collect(),
                            (true, [from, to, step]) if *step > 0 => (*from..=*to).step_by(*step as usize).collect(),
                            (true, _) => return Err(FlexibleError::at(file, at, "GENERATE wants first, last, step")),
                            (false, _) => ids,
                        }
                    }
                };
                raw.sets.entry(name.clone()).or_default().extend::<Vec<u64>>(own);
            }
        }
    }
    for (name, of) in element_sets {
        raw.sets.entry(name).or_default().extend(of);
    }
    for set in raw.sets.values_mut() {
        set.retain(|n| raw.nodes.contains_key(n));
        set.sort_unstable();
        set.dedup();
    }
    raw.mesh(file, last)
}

/// A keyword line of an .inp file.
fn keyword(file: &str, at: usize, line: &str) -> Result<Block, FlexibleError> {
    let mut words = line[1..].split(',').map(|w| w.trim().to_lowercase());
    let name: String = words.next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let options: BTreeMap<String, String> = words
        .map(|w| match w.split_once('=') {
            Some((key, value)) => (key.trim().to_owned(), value.trim().trim_matches('"').to_owned()),
            None => (w, String::new()),
        })
        .collect();
    Ok(match name.as_str() {
        "node" => Block::Node(options.get("nset").cloned()),
        "element" => {
            let of = options.get("type").cloned().unwrap_or_default().to_uppercase();
            let kind = match of.as_str() {
                "C3D4" => Kind::Tet4,
                "C3D10" | "C3D10M" | "C3D10T" => Kind::Tet10,
                "CPS3" | "CPE3" | "S3" => Kind::Tri3,
                "CPS6" | "CPE6" | "S6" => Kind::Tri6,
                _ if of.starts_with('T') || of.starts_with("B3") || of.starts_with("MASS") => return Ok(Block::Other),
                _ => {
                    let message = format!(
                        "elements of type {of} are not known. help: C3D4, C3D10, CPS3, CPS6, CPE3, CPE6; mesh the part with these"
                    );
                    return Err(FlexibleError::at(file, at, message));
                }
            };
            Block::Element(kind, options.get("elset").cloned())
        }
        "nset" => match options.get("nset") {
            Some(set) => Block::Set(set.clone(), options.contains_key("generate")),
            None => return Err(FlexibleError::at(file, at, "*NSET has no name: write NSET=...")),
        },
        _ => Block::Other,
    })
}

/// Lines of a .msh file with their numbers.
struct Lines<'a> {
    file: &'a str,
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Result<Vec<&'a str>, FlexibleError> {
        let line = self.lines.get(self.at).ok_or_else(|| FlexibleError::at(self.file, self.at, "ends too early"))?;
        self.at += 1;
        Ok(line.split_whitespace().collect())
    }

    fn number<T: std::str::FromStr>(&self, words: &[&str], k: usize) -> Result<T, FlexibleError> {
        let word = words.get(k).ok_or_else(|| FlexibleError::at(self.file, self.at, "a number is missing"))?;
        number(self.file, self.at, word)
    }
}

/// Elements by gmsh's number, and its order of the last two middle nodes.
fn of_gmsh(number: u64) -> Option<Kind> {
    match number {
        2 => Some(Kind::Tri3),
        9 => Some(Kind::Tri6),
        4 => Some(Kind::Tet4),
        11 => Some(Kind::Tet10),
        _ => None,
    }
}

fn msh(file: &str, text: &str, unit: f64) -> Result<Mesh, FlexibleError> {
    let mut lines = Lines { file, lines: text.lines().map(str::trim).collect(), at: 0 };
    let mut raw = Raw::default();
    let mut new = true;
    // names of physical groups by (dimension, tag), and those of entities
    let mut names: BTreeMap<(u64, u64), String> = BTreeMap::new();
    let mut groups: BTreeMap<(u64, u64), Vec<u64>> = BTreeMap::new();
    while lines.at < lines.lines.len() {
        let head = lines.lines[lines.at];
        lines.at += 1;
        match head {
            "$MeshFormat" => {
                let words = lines.next()?;
                let version: f64 = lines.number(&words, 0)?;
                if words.get(1) == Some(&"1") {
                    return Err(FlexibleError::at(
                        file,
                        lines.at,
                        "is binary. help: write it as text (Mesh.Binary = 0)",
                    ));
                }
                if version != 2.2 && version != 4.1 {
                    return Err(FlexibleError::at(
                        file,
                        lines.at,
                        format!("is of version {version}. help: 2.2 or 4.1"),
                    ));
                }
                new = version > 4.0;
            }
            "$PhysicalNames" => {
                let words = lines.next()?;
                for _ in 0..lines.number::<usize>(&words, 0)? {
                    let words = lines.next()?;
                    let key = (lines.number(&words, 0)?, lines.number(&words, 1)?);
                    names.insert(key, words[2..].join(" ").trim_matches('"').to_lowercase());
                }
            }
            "$Entities" => entities(&mut lines, &mut groups)?,
            "$Nodes" if new => nodes_41(&mut lines, unit, &mut raw)?,
            "$Nodes" => {
                let words = lines.next()?;
                for _ in 0..lines.number::<usize>(&words, 0)? {
                    let words = lines.next()?;
                    let p = [1, 2, 3].map(|c| lines.number::<f64>(&words, c));
                    let [x, y, z] = [p[0].clone()?, p[1].clone()?, p[2].clone()?];
                    raw.nodes.insert(lines.number(&words, 0)?, Vec3::new(x, y, z) * unit);
                }
            }
            "$Elements" => elements(&mut lines, new, &names, &groups, &mut raw)?,
            _ => {}
        }
    }
    for set in raw.sets.values_mut() {
        set.sort_unstable();
        set.dedup();
    }
    raw.mesh(file, lines.at)
}

fn entities(lines: &mut Lines<'_>, groups: &mut BTreeMap<(u64, u64), Vec<u64>>) -> Result<(), FlexibleError> {
    let words = lines.next()?;
    for dimension in 0..4_u64 {
        for _ in 0..lines.number::<usize>(&words, dimension as usize)? {
            let own = lines.next()?;
            let at = if dimension == 0 { 4 } else { 7 };
            let count: usize = lines.number(&own, at)?;
            let tags = (0..count).map(|k| lines.number::<u64>(&own, at + 1 + k)).collect::<Result<_, _>>()?;
            groups.insert((dimension, lines.number(&own, 0)?), tags);
        }
    }
    Ok(())
}

fn nodes_41(lines: &mut Lines<'_>, unit: f64, raw: &mut Raw) -> Result<(), FlexibleError> {
    let words = lines.next()?;
    for _ in 0..lines.number::<usize>(&words, 0)? {
        let head = lines.next()?;
        let count: usize = lines.number(&head, 3)?;
        let mut tags = Vec::new();
        for _ in 0..count {
            let words = lines.next()?;
            tags.push(lines.number::<u64>(&words, 0)?);
        }
        for tag in tags {
            let words = lines.next()?;
            let (x, y, z) =
                (lines.number::<f64>(&words, 0)?, lines.number::<f64>(&words, 1)?, lines.number::<f64>(&words, 2)?);
            raw.nodes.insert(tag, Vec3::new(x, y, z) * unit);
        }
    }
    Ok(())
}

fn elements(
    lines: &mut Lines<'_>,
    new: bool,
    names: &BTreeMap<(u64, u64), String>,
    groups: &BTreeMap<(u64, u64), Vec<u64>>,
    raw: &mut Raw,
) -> Result<(), FlexibleError> {
    let words = lines.next()?;
    let keep = |raw: &mut Raw, of: u64, tags: &[(u64, u64)], mut ids: Vec<u64>| {
        for tag in tags {
            if let Some(name) = names.get(tag) {
                raw.sets.entry(name.clone()).or_default().extend(&ids);
            }
        }
        if let Some(kind) = of_gmsh(of).filter(|kind| ids.len() == kind.nodes()) {
            if kind == Kind::Tet10 {
                ids.swap(8, 9);
            }
            raw.elements.push((kind, ids));
        }
    };
    let known = |of: u64, at: usize, file: &str| match of {
        1 | 2 | 4 | 8 | 9 | 11 | 15 => Ok(()),
        _ => Err(FlexibleError::at(
            file,
            at,
            format!("elements of gmsh's type {of} are not known. help: triangles and tetrahedra of order 1 or 2"),
        )),
    };
    let dimension = |of: u64| match of {
        15 => 0,
        1 | 8 => 1,
        2 | 9 => 2,
        _ => 3,
    };
    if new {
        for _ in 0..lines.number::<usize>(&words, 0)? {
            let head = lines.next()?;
            let (d, entity, of): (u64, u64, u64) =
                (lines.number(&head, 0)?, lines.number(&head, 1)?, lines.number(&head, 2)?);
            known(of, lines.at, lines.file)?;
            let tags: Vec<(u64, u64)> = groups.get(&(d, entity)).into_iter().flatten().map(|tag| (d, *tag)).collect();
            for _ in 0..lines.number::<usize>(&head, 3)? {
                let own = lines.next()?;
                let ids = (1..own.len()).map(|k| lines.number(&own, k)).collect::<Result<_, _>>()?;
                keep(raw, of, &tags, ids);
            }
        }
        return Ok(());
    }
    for _ in 0..lines.number::<usize>(&words, 0)? {
        let own = lines.next()?;
        let (of, tags): (u64, usize) = (lines.number(&own, 1)?, lines.number(&own, 2)?);
        known(of, lines.at, lines.file)?;
        let tag = if tags > 0 { vec![(dimension(of), lines.number(&own, 3)?)] } else { Vec::new() };
        let ids = (3 + tags..own.len()).map(|k| lines.number(&own, k)).collect::<Result<_, _>>()?;
        keep(raw, of, &tag, ids);
    }
    Ok(())
}

/// A mesh as gmsh's 2.2, in metres; sets are groups of points.
pub fn write_msh(mesh: &Mesh) -> String {
    let mut out = String::from("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n");
    let _ = writeln!(out, "$Nodes\n{}", mesh.nodes.len());
    for (k, p) in mesh.nodes.iter().enumerate() {
        let _ = writeln!(out, "{} {:?} {:?} {:?}", k + 1, p.x, p.y, p.z);
    }
    let of = match mesh.kind {
        Kind::Tri3 => 2,
        Kind::Tri6 => 9,
        Kind::Tet4 => 4,
        Kind::Tet10 => 11,
    };
    let _ = writeln!(out, "$EndNodes\n$Elements\n{}", mesh.count());
    for e in 0..mesh.count() {
        let mut nodes = mesh.element(e).to_vec();
        if mesh.kind == Kind::Tet10 {
            nodes.swap(8, 9);
        }
        let nodes: Vec<String> = nodes.iter().map(|n| (n + 1).to_string()).collect();
        let _ = writeln!(out, "{} {of} 0 {}", e + 1, nodes.join(" "));
    }
    out.push_str("$EndElements\n");
    out
}
