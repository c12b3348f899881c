//! Surfaces that change with time, beside the tables of a run folder: corners that move, a number (stress, temperature, depth) for each corner or each
//! triangle.
//!
//! `surfaces.json` lists them; the numbers of the k-th are in `surface-k.f32`: for every row of the run, in order, three coordinates for each corner if the
//! surface is `moving` [m], then the number of each corner or triangle if it has a `colour`. All f32, little endian.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use tippe::geometry::file::regular;
use tippe::run::{RunError, Subjects};

/// The list.
pub const FILE: &str = "surfaces.json";
/// Corners and triangles of one surface at most.
const MOST: usize = 4_000_000;

/// Which part of a surface has a number of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coloured {
    /// None.
    #[default]
    None,
    /// Every corner.
    Vertex,
    /// Every triangle.
    Triangle,
}

/// One surface as `surfaces.json` has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    name: String,
    #[serde(default)]
    body: Option<String>,
    vertices: Vec<[f32; 3]>,
    triangles: Vec<[u32; 3]>,
    #[serde(default)]
    moving: bool,
    #[serde(default)]
    colour: Coloured,
    #[serde(default)]
    unit: String,
    #[serde(default)]
    low: f64,
    #[serde(default = "one")]
    high: f64,
}

fn one() -> f64 {
    1.0
}

/// One surface as the page has it.
#[derive(Clone, Debug, Serialize)]
pub struct Surface {
    /// Name for the legend.
    pub name: String,
    /// Body it moves with, by index; none for the world.
    pub body: Option<usize>,
    /// Corners x, y, z in the frame of its body [m], f32, base64.
    vertices: String,
    /// Indices, u32, base64.
    triangles: String,
    /// Corners are in every row.
    pub moving: bool,
    /// What has a number of its own.
    pub colour: Coloured,
    /// Unit of the numbers.
    pub unit: String,
    /// Number at the lower end of the colours [unit].
    pub low: f64,
    /// Number at the upper end of the colours [unit].
    pub high: f64,
    /// Numbers in a row [-].
    pub stride: usize,
    #[serde(skip)]
    path: PathBuf,
}

/// Surfaces of a run with so many rows; none without `surfaces.json`.
pub fn read(folder: &Path, subjects: &Subjects, rows: usize) -> Result<Vec<Surface>, RunError> {
    let path = folder.join(FILE);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let wrong = |reason: String| RunError::Read { path: path.clone(), reason };
    let text = regular::read_text(&path, regular::MESH).map_err(|error| wrong(error.to_string()))?;
    let listed: Vec<Listed> = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let prepared = listed.into_iter().enumerate().map(|(k, surface)| {
        let name = surface.name.clone();
        let file = folder.join(format!("surface-{k}.f32"));
        prepare(surface, subjects, file, rows).map_err(|reason| wrong(format!("surface \"{name}\": {reason}")))
    });
    prepared.collect()
}

fn prepare(listed: Listed, subjects: &Subjects, path: PathBuf, rows: usize) -> Result<Surface, String> {
    let (n, m) = (listed.vertices.len(), listed.triangles.len());
    if n > MOST || m > MOST {
        return Err(format!("{n} corners and {m} triangles are too many; {MOST} are possible"));
    }
    if let Some(triangle) = listed.triangles.iter().find(|triangle| triangle.iter().any(|&k| k as usize >= n)) {
        return Err(format!("triangle {triangle:?} has a corner that is not there"));
    }
    if !(listed.low.is_finite() && listed.high.is_finite() && listed.low < listed.high) {
        return Err("`low` must be less than `high`".to_owned());
    }
    let body = match &listed.body {
        Some(name) => Some(subjects.body(name).ok_or_else(|| format!("there is no body \"{name}\""))?),
        None => None,
    };
    let coloured = match listed.colour {
        Coloured::None => 0,
        Coloured::Vertex => n,
        Coloured::Triangle => m,
    };
    let stride = coloured + if listed.moving { 3 * n } else { 0 };
    if stride > 0 {
        let size = std::fs::metadata(&path).map_err(|error| format!("{}: {error}", path.display()))?.len();
        let expected = (4 * stride) as u64 * rows as u64;
        if size != expected {
            return Err(format!("{} has {size} bytes; {rows} rows of {stride} numbers are {expected}", path.display()));
        }
    }
    let vertices: Vec<u8> = listed.vertices.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    let triangles: Vec<u8> = listed.triangles.iter().flatten().flat_map(|k| k.to_le_bytes()).collect();
    Ok(Surface {
        name: listed.name,
        body,
        vertices: STANDARD.encode(vertices),
        triangles: STANDARD.encode(triangles),
        moving: listed.moving,
        colour: listed.colour,
        unit: listed.unit,
        low: listed.low,
        high: listed.high,
        stride,
        path,
    })
}

impl Surface {
    /// The numbers of some rows.
    pub(crate) fn rows(&self, rows: Range<usize>) -> Result<Vec<u8>, RunError> {
        let bytes = 4 * self.stride;
        let mut values = vec![0; bytes * rows.len()];
        if values.is_empty() {
            return Ok(values);
        }
        let read = |values: &mut [u8]| {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(bytes as u64 * rows.start as u64))?;
            file.read_exact(values)
        };
        read(&mut values).map_err(|error| RunError::Read { path: self.path.clone(), reason: error.to_string() })?;
        Ok(values)
    }
}
