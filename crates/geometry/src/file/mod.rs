//! Mesh files: STL, OBJ, glTF, DXF and outlines from SVG are read; STL, OBJ and glTF (binary) are written.
//!
//! Everything is small and written here, so that a file can do nothing but be read or refused: counts are checked against the
//! length of the file before memory is taken, and every error says where. Lengths become metres; a format without a unit
//! needs one. Axes become Tippe's, z up: glTF has y up and is turned, SVG has y down and is mirrored.

pub mod regular;

mod dxf;
mod gltf;
mod number;
mod obj;
mod stl;
mod svg;

use crate::{TriMesh, Vec3};
use std::collections::BTreeMap;
use std::path::Path;
use thiserror::Error;

/// A format of mesh files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Stereolithography, text or binary.
    Stl,
    /// Wavefront.
    Obj,
    /// glTF 2.0, JSON with buffers inside or beside it.
    Gltf,
    /// glTF 2.0 in one binary file.
    Glb,
    /// Drawing exchange: faces, polyface meshes and closed polylines.
    Dxf,
    /// Outlines of the paths of a picture.
    Svg,
}

/// Corners (x, y) of a closed outline [m].
pub type Outline = Vec<[f64; 2]>;

/// What a file holds, in metres.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// Triangles, as they are: [`crate::Mesh::repaired`] makes a solid of them.
    pub surface: TriMesh,
    /// Closed outlines, to be extruded.
    pub outlines: Vec<Outline>,
    /// Elements that are neither and were left out, by kind.
    pub skipped: BTreeMap<String, usize>,
    /// The unit that the file states, where it was read in another one [m].
    pub stated: Option<f64>,
}

/// Why a file was refused.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum FileError {
    /// The file cannot be opened.
    #[error("{path}: cannot be read: {message}")]
    Io {
        /// Path.
        path: String,
        /// What the system says.
        message: String,
    },
    /// The format has no unit and none was given.
    #[error("{format} files have no unit: say it, such as unit = \"mm\"")]
    Unit {
        /// Format.
        format: &'static str,
    },
    /// Not a format for meshes.
    #[error("{name}: {advice}")]
    Foreign {
        /// Name or extension.
        name: String,
        /// What to do.
        advice: &'static str,
    },
    /// The file ends too early.
    #[error("{format}: the file is cut off: {needed} bytes are announced at byte {at}, but {found} are there")]
    Truncated {
        /// Format.
        format: &'static str,
        /// Where [byte].
        at: usize,
        /// Announced [byte].
        needed: u64,
        /// There [byte].
        found: u64,
    },
    /// A text file says something else than it should.
    #[error("{format}: line {line}: {message}")]
    Line {
        /// Format.
        format: &'static str,
        /// Line, from 1 [-].
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A number is infinite or not a number.
    #[error("{format}: triangle {triangle} has a coordinate that is not finite")]
    NotFinite {
        /// Format.
        format: &'static str,
        /// Index of the triangle [-].
        triangle: usize,
    },
    /// A coordinate is too large for the numbers of a format.
    #[error("{format}: corner {vertex} lies at {at} m, which is no finite number in the unit of the file, {unit} m")]
    Large {
        /// Format.
        format: &'static str,
        /// Index of the corner [-].
        vertex: usize,
        /// Where [m].
        at: Vec3,
        /// Unit of the file [m].
        unit: f64,
    },
    /// A file by name is refused.
    #[error("{path}: {error}")]
    In {
        /// Path.
        path: String,
        /// Why.
        error: Box<FileError>,
    },
    /// A structured file contradicts itself or uses what is not read.
    #[error("{format}: {place}: {message}")]
    Structure {
        /// Format.
        format: &'static str,
        /// Element.
        place: String,
        /// What is wrong.
        message: String,
    },
}

impl FileError {
    /// What is wrong, without the name of the file.
    pub fn cause(&self) -> &FileError {
        match self {
            FileError::In { error, .. } => error.cause(),
            other => other,
        }
    }
}

impl Contents {
    /// Takes the outlines as an outer one and its holes: only the one of the largest area can enclose the others, wherever it
    /// stands in the file. [`crate::Solid::Prism`] checks that it does. `None` where there are no outlines.
    pub fn take_outlines(&mut self) -> Option<(Outline, Vec<Outline>)> {
        let mut outlines = std::mem::take(&mut self.outlines);
        let areas: Vec<f64> = outlines.iter().map(|outline| polygon_area(outline)).collect();
        // The first of equal ones.
        let outer = (0..areas.len()).reduce(|best, k| if areas[k] > areas[best] { k } else { best })?;
        let outline = outlines.remove(outer);
        Some((outline, outlines))
    }
}

/// Area inside, whichever way around [m^2].
fn polygon_area(outline: &[[f64; 2]]) -> f64 {
    let o = outline.first().copied().unwrap_or_default();
    let cross = |p: [f64; 2], q: [f64; 2]| (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0]);
    let twice: f64 = outline.windows(2).map(|side| cross(side[0], side[1])).sum();
    0.5 * twice.abs()
}

/// What to do with files of curved surfaces.
const CURVED: &str = "STEP and IGES hold curved surfaces: convert the part with FreeCAD (File, Export, STL) or gmsh \
    (gmsh part.step -2 -o part.stl)";

impl Format {
    /// Format of a path, by its extension.
    pub fn of(path: &str) -> Result<Format, FileError> {
        let extension = Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
        let advice = match extension.as_str() {
            "stl" => return Ok(Format::Stl),
            "obj" => return Ok(Format::Obj),
            "gltf" => return Ok(Format::Gltf),
            "glb" => return Ok(Format::Glb),
            "dxf" => return Ok(Format::Dxf),
            "svg" => return Ok(Format::Svg),
            "step" | "stp" | "iges" | "igs" => CURVED,
            "wrl" | "vrml" | "x3d" => {
                "VRML is not read: convert it with Blender or assimp (assimp export part.wrl part.stl)"
            }
            "dwg" => "DWG is not read: convert it to DXF with LibreDWG (dwg2dxf) or the ODA File Converter",
            "ply" | "3mf" | "dae" | "fbx" | "off" => "convert it to STL, OBJ or glTF with Blender or assimp",
            _ => "meshes are read from .stl, .obj, .gltf, .glb, .dxf and .svg files",
        };
        Err(FileError::Foreign { name: path.into(), advice })
    }

    /// Format of a path that a mesh is to be written to, by its extension.
    pub fn to_write(path: &str) -> Result<Format, FileError> {
        match Format::of(path) {
            Ok(format @ (Format::Stl | Format::Obj | Format::Glb)) => Ok(format),
            other => Err(not_written(path, other.ok())),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Format::Stl => "STL",
            Format::Obj => "OBJ",
            Format::Gltf | Format::Glb => "glTF",
            Format::Dxf => "DXF",
            Format::Svg => "SVG",
        }
    }
}

/// Metres in a unit of length by name: m, dm, cm, mm, um, in, inch, ft.
pub fn unit(name: &str) -> Option<f64> {
    Some(match name {
        "m" => 1.0,
        "dm" => 0.1,
        "cm" => 1e-2,
        "mm" => 1e-3,
        "um" => 1e-6,
        "in" | "inch" => 0.0254,
        "ft" => 0.3048,
        _ => return None,
    })
}

/// Reads a file; `unit` is the length of its unit [m], needed where the file does not say.
pub fn read_file(path: &Path, unit: Option<f64>) -> Result<Contents, FileError> {
    let io =
        |path: &Path, e: std::io::Error| FileError::Io { path: path.display().to_string(), message: e.to_string() };
    let format = Format::of(&path.to_string_lossy())?;
    let bytes = regular::read(path, regular::MESH).map_err(|e| io(path, e))?;
    let beside = |name: &str| {
        let path = path.parent().unwrap_or(Path::new(".")).join(name);
        regular::read(&path, regular::MESH).map_err(|e| io(&path, e))
    };
    let named = |error| FileError::In { path: path.display().to_string(), error: Box::new(error) };
    read_with(&bytes, format, unit, &beside).map_err(named)
}

/// Reads the bytes of a file that refers to no other.
pub fn read(bytes: &[u8], format: Format, unit: Option<f64>) -> Result<Contents, FileError> {
    read_with(bytes, format, unit, &|name| {
        Err(FileError::Io { path: name.into(), message: "files beside this one are not read here".into() })
    })
}

/// Finds the bytes of a file named in another.
type Beside<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, FileError>;

/// True of a STEP file under another name: text that begins so, and no STL file whose head does.
fn is_step(bytes: &[u8], format: Format) -> bool {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    text.starts_with(b"ISO-10303") && !(format == Format::Stl && stl::is_binary(bytes))
}

fn read_with(bytes: &[u8], format: Format, unit: Option<f64>, beside: Beside<'_>) -> Result<Contents, FileError> {
    let needed = || unit.ok_or(FileError::Unit { format: format.name() });
    let asked = unit;
    let (mut contents, own, unit) = match format {
        _ if is_step(bytes, format) => {
            return Err(FileError::Foreign { name: "its contents".into(), advice: CURVED });
        }
        Format::Stl => (stl::read(bytes)?, None, needed()?),
        Format::Obj => (obj::read(bytes)?, None, needed()?),
        Format::Svg => {
            let (contents, own) = svg::read(bytes)?;
            (contents, own, unit.or(own).map_or_else(needed, Ok)?)
        }
        // glTF is in metres.
        Format::Gltf | Format::Glb => (gltf::read(bytes, beside)?, Some(1.0), unit.unwrap_or(1.0)),
        Format::Dxf => {
            let (contents, own) = dxf::read(bytes)?;
            let stated = own.as_ref().and_then(|own| own.as_ref().ok()).copied();
            let unit = match unit {
                Some(unit) => unit,
                None => own.unwrap_or(Err(FileError::Unit { format: "DXF without $INSUNITS" }))?,
            };
            (contents, stated, unit)
        }
    };
    contents.stated = own.filter(|own| asked.is_some_and(|asked| (asked - own).abs() > 1e-9 * own));
    contents.surface.vertices.iter_mut().for_each(|v| *v *= unit);
    contents.outlines.iter_mut().flatten().flatten().for_each(|x| *x *= unit);
    let TriMesh { vertices, triangles } = &contents.surface;
    if let Some(triangle) = triangles.iter().position(|t| !t.iter().all(|i| vertices[*i as usize].is_finite())) {
        return Err(FileError::NotFinite { format: format.name(), triangle });
    }
    Ok(contents)
}

fn not_written(name: &str, format: Option<Format>) -> FileError {
    let advice = match format {
        Some(Format::Gltf) => "glTF is written in one file: name it .glb",
        _ => "meshes are written as .stl, .obj and .glb files",
    };
    FileError::Foreign { name: name.into(), advice }
}

/// The bytes of a file; STL binary and glTF have numbers of single precision. Lengths are multiples of `unit` [m], except in
/// glTF, which is in metres.
pub fn write(surface: &TriMesh, format: Format, unit: f64) -> Result<Vec<u8>, FileError> {
    // Infinite, or beyond what the format's numbers hold.
    let finite = |v: &Vec3| match format {
        Format::Obj => (*v / unit).is_finite(),
        Format::Glb => v.abs().max_element() <= f32::MAX as f64,
        _ => (*v / unit).abs().max_element() <= f32::MAX as f64,
    };
    if let Some(vertex) = surface.vertices.iter().position(|v| !(v.is_finite() && finite(v))) {
        let unit = if format == Format::Glb { 1.0 } else { unit };
        return Err(FileError::Large { format: format.name(), vertex, at: surface.vertices[vertex], unit });
    }
    match format {
        Format::Stl => Ok(stl::write(surface, unit)),
        Format::Obj => Ok(obj::write(surface, unit)),
        Format::Glb => Ok(gltf::write(surface)),
        Format::Gltf | Format::Dxf | Format::Svg => Err(not_written(format.name(), Some(format))),
    }
}
