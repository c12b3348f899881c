//! Wavefront OBJ: corners and faces of any number of them, without a unit.

use super::number::{number, short, text};
use super::{Contents, FileError};
use crate::triangulate::polygon_triangles;
use crate::{TriMesh, Vec3};
use std::fmt::Write;

const OBJ: &str = "OBJ";

pub(super) fn read(bytes: &[u8]) -> Result<Contents, FileError> {
    let content = text(bytes);
    let mut contents = Contents::default();
    let TriMesh { vertices, triangles } = &mut contents.surface;
    // A line that ends with a backslash goes on in the next.
    let (mut begun, mut from) = (String::new(), 0);
    for (k, row) in content.lines().enumerate() {
        let line = if begun.is_empty() { k + 1 } else { from };
        if let Some(part) = row.trim_end().strip_suffix('\\') {
            from = line;
            begun.push_str(part);
            begun.push(' ');
            continue;
        }
        let whole = if begun.is_empty() { None } else { Some(std::mem::take(&mut begun) + row) };
        let row = whole.as_deref().unwrap_or(row);
        let wrong = |message: String| FileError::Line { format: OBJ, line, message };
        let mut words = row.split_whitespace();
        match words.next() {
            Some("v") => {
                let mut next = || number(words.next(), OBJ, line);
                vertices.push(Vec3::new(next()?, next()?, next()?));
            }
            Some("f") => {
                let mut corners: Vec<u32> = Vec::new();
                for word in words {
                    let index = word.split('/').next().unwrap_or("");
                    let i: i64 = index.parse().map_err(|_| wrong(format!("\"{}\" is no corner", short(word))))?;
                    // From 1, or from the end when negative.
                    let at = if i < 0 { vertices.len() as i64 + i } else { i - 1 };
                    if i == 0 || !(0..vertices.len() as i64).contains(&at) {
                        return Err(wrong(format!("corner {i} of {}", vertices.len())));
                    }
                    corners.push(at as u32);
                }
                if corners.len() < 3 {
                    return Err(wrong(format!("a face with {} corners", corners.len())));
                }
                let points: Vec<Vec3> = corners.iter().map(|i| vertices[*i as usize]).collect();
                triangles.extend(polygon_triangles(&points).into_iter().map(|t| t.map(|i| corners[i as usize])));
            }
            Some(word @ ("curv" | "curv2" | "surf" | "cstype" | "l" | "p")) => {
                *contents.skipped.entry(word.into()).or_default() += 1;
            }
            Some("vn" | "vt" | "vp" | "o" | "g" | "s" | "mg" | "usemtl" | "mtllib") | None => {}
            Some(word) if word.starts_with('#') => {}
            Some(word) => return Err(wrong(format!("unexpected \"{}\"", short(word)))),
        }
    }
    Ok(contents)
}

pub(super) fn write(surface: &TriMesh, unit: f64) -> Vec<u8> {
    let mut out = String::from("# Tippe\n");
    for v in &surface.vertices {
        let p = *v / unit;
        // Writing into a text cannot fail.
        let _ = writeln!(out, "v {} {} {}", p.x, p.y, p.z);
    }
    for t in &surface.triangles {
        let _ = writeln!(out, "f {} {} {}", t[0] + 1, t[1] + 1, t[2] + 1);
    }
    out.into_bytes()
}
