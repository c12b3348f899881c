//! STL: triangles one by one, without shared corners, without a unit.

use super::number::{f32_at, number, short, text, u32_at};
use super::{Contents, FileError};
use crate::{TriMesh, Vec3};

const STL: &str = "STL";
/// Text before the number of triangles of a binary file [byte].
const HEAD: usize = 80;
/// Normal, three corners, two bytes of attributes [byte].
const RECORD: usize = 50;

/// Triangles that a binary file announces, and how long it is then [byte].
fn announced(bytes: &[u8]) -> (u64, u64) {
    let count = u32_at(bytes, HEAD) as u64;
    (count, (HEAD + 4) as u64 + count * RECORD as u64)
}

/// The length decides: the head of a binary file may begin with anything, many with "solid".
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.len() >= HEAD + 4 && announced(bytes).1 == bytes.len() as u64
}

pub(super) fn read(bytes: &[u8]) -> Result<Contents, FileError> {
    let (count, needed) = announced(bytes);
    if is_binary(bytes) {
        return binary(bytes);
    }
    let start = bytes.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(0);
    if bytes[start..].get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid")) {
        return ascii(bytes);
    }
    if bytes.len() < HEAD + 4 {
        let message =
            format!("it has {} bytes: text begins with `solid`, and binary has a head of {}", bytes.len(), HEAD + 4);
        return Err(FileError::Structure { format: STL, place: "beginning of the file".into(), message });
    }
    if needed > bytes.len() as u64 {
        return Err(FileError::Truncated { format: STL, at: HEAD, needed, found: bytes.len() as u64 });
    }
    let message = format!("{} bytes after {count} triangles", bytes.len() as u64 - needed);
    Err(FileError::Structure { format: STL, place: "end of the file".into(), message })
}

fn binary(bytes: &[u8]) -> Result<Contents, FileError> {
    let mut contents = Contents::default();
    for record in bytes[HEAD + 4..].chunks_exact(RECORD) {
        let corner = |k: usize| {
            let at = 12 + 12 * k;
            Vec3::new(f32_at(record, at), f32_at(record, at + 4), f32_at(record, at + 8))
        };
        push(&mut contents.surface, [corner(0), corner(1), corner(2)]);
    }
    Ok(contents)
}

fn push(surface: &mut TriMesh, corners: [Vec3; 3]) {
    let base = surface.vertices.len() as u32;
    surface.vertices.extend(corners);
    surface.triangles.push([base, base + 1, base + 2]);
}

fn ascii(bytes: &[u8]) -> Result<Contents, FileError> {
    let content = text(bytes);
    let mut contents = Contents::default();
    let mut corners: Option<Vec<Vec3>> = None;
    let (mut open, mut last) = (false, 0);
    for (k, row) in content.lines().enumerate() {
        let line = k + 1;
        last = line;
        let wrong = |message: String| Err(FileError::Line { format: STL, line, message });
        let mut words = row.split_whitespace();
        let Some(first) = words.next() else { continue };
        match first.to_ascii_lowercase().as_str() {
            "solid" if !open => open = true,
            "endsolid" if open && corners.is_none() => open = false,
            "facet" if open && corners.is_none() => corners = Some(Vec::new()),
            "outer" | "endloop" if corners.is_some() => {}
            "vertex" => {
                let mut next = || number(words.next(), STL, line);
                let corner = Vec3::new(next()?, next()?, next()?);
                match &mut corners {
                    Some(list) if list.len() < 3 => list.push(corner),
                    Some(_) => return wrong("a facet has more than three corners".into()),
                    None => return wrong("a corner outside of a facet".into()),
                }
            }
            "endfacet" => match corners.take().as_deref() {
                Some(&[a, b, c]) => push(&mut contents.surface, [a, b, c]),
                Some(list) => return wrong(format!("a facet with {} corners", list.len())),
                None => return wrong("endfacet without facet".into()),
            },
            other => return wrong(format!("unexpected \"{}\"", short(other))),
        }
    }
    if open {
        let message = "the file is cut off: endsolid is missing".into();
        return Err(FileError::Line { format: STL, line: last, message });
    }
    Ok(contents)
}

pub(super) fn write(surface: &TriMesh, unit: f64) -> Vec<u8> {
    let mut out = vec![b' '; HEAD];
    // Not "solid": readers would take it for text.
    out[..14].copy_from_slice(b"Tippe binary  ");
    out.extend((surface.triangles.len() as u32).to_le_bytes());
    for t in &surface.triangles {
        let [a, b, c] = t.map(|i| surface.vertices[i as usize] / unit);
        let n = (b - a).cross(c - a).normalize_or_zero();
        for v in [n, a, b, c] {
            v.to_array().iter().for_each(|x| out.extend((*x as f32).to_le_bytes()));
        }
        out.extend([0, 0]);
    }
    out
}
