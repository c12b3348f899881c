//! `tippe convert`: mesh files to mesh files, solids of a scene to mesh files, scenes between TOML and JSON, scenes to Modelica.

use crate::args::Source;
use crate::{Stop, say};
use std::path::{Path, PathBuf};
use tippe::geometry::file::{self, FileError, Format};
use tippe::geometry::{Mesh, Solid, TriMesh};
use tippe::model::Model;
use tippe::scene::Scene;
use tippe_doors::modelica;

/// Arguments of `tippe convert`.
#[derive(clap::Args)]
pub struct Args {
    /// Mesh file (.stl, .obj, .gltf, .glb, .dxf, .svg), or scene (.toml, .json)
    from: PathBuf,
    /// File to write: .stl, .obj or .glb for a mesh, .toml or .json for a scene, .mo for a scene as Modelica
    to: PathBuf,
    /// Unit of length of the file that is read, where it does not say it: m, dm, cm, mm, um, in or ft
    #[arg(long, value_name = "UNIT", value_parser = unit)]
    unit: Option<f64>,
    /// Unit of length of the file that is written; glTF is always in metres
    #[arg(long, value_name = "UNIT", value_parser = unit, default_value = "mm")]
    unit_out: f64,
    /// Extrude the outlines of the file by this length [m]: the one around the others, which are holes
    #[arg(long, value_name = "METRES", value_parser = crate::args::metres)]
    extrude: Option<f64>,
    /// The solid of the scene to write
    #[arg(long, value_name = "NAME")]
    solid: Option<String>,
    /// Give a parameter of the scene another value
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = crate::args::assignment)]
    sets: Vec<(String, String)>,
}

fn unit(name: &str) -> Result<f64, String> {
    file::unit(name).ok_or_else(|| "one of m, dm, cm, mm, um, in, ft".into())
}

/// Runs the command.
pub fn convert(args: &Args) -> Result<(), Stop> {
    if std::fs::canonicalize(&args.from).is_ok_and(|from| std::fs::canonicalize(&args.to).is_ok_and(|to| to == from)) {
        return Err(Stop::Usage(format!("{} would be written over itself. help: another name", args.from.display())));
    }
    if args.to.extension().is_some_and(|e| e.eq_ignore_ascii_case("mo")) {
        return modelica(args);
    }
    let bytes = match (is_scene(&args.from), is_scene(&args.to)) {
        (true, true) => {
            let scene = Scene::load(&args.from.to_string_lossy(), &args.sets)?;
            notes(&scene);
            let json = args.to.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
            if json { scene.to_json().into_bytes() } else { scene.to_toml().into_bytes() }
        }
        (true, false) => {
            let format = format(args)?;
            written(&solid(args)?, format, args)?
        }
        (false, true) => {
            let advice = "a scene names it: shape = { kind = \"mesh\", file = \"part.stl\", unit = \"mm\" }";
            return Err(Stop::Usage(format!("a mesh file does not become a scene. help: {advice}")));
        }
        (false, false) => {
            let format = format(args)?;
            written(&mesh(args)?, format, args)?
        }
    };
    std::fs::write(&args.to, bytes)
        .map_err(|error| Stop::Resource(format!("cannot write {}: {error}", args.to.display())))
}

/// A scene as a model of Modelica, beside which what it lacks is said.
fn modelica(args: &Args) -> Result<(), Stop> {
    let source = Source::find(&args.from.to_string_lossy())?;
    let scene = Scene::parse(&source.file, &source.text, &args.sets)?;
    let model = Model::compile(&scene)?;
    let stem = args.to.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let (text, notes) = modelica::modelica(&scene, &model, &modelica::identifier(&stem), &args.from.to_string_lossy());
    notes.iter().for_each(|note| say(&format!("not translated: {note}")));
    std::fs::write(&args.to, text)
        .map_err(|error| Stop::Resource(format!("cannot write {}: {error}", args.to.display())))
}

fn is_scene(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml") || e.eq_ignore_ascii_case("json"))
}

fn format(args: &Args) -> Result<Format, Stop> {
    Format::to_write(&args.to.to_string_lossy()).map_err(|error| Stop::Usage(error.to_string()))
}

fn notes(scene: &Scene) {
    scene.notes.iter().for_each(|note| say(&format!("note: {note}")));
}

/// How much of the volume of a solid rounding in its file may change [-].
const ROUNDED: f64 = 0.01;

/// The bytes of a mesh file. Formats of single precision cannot hold what is tiny or far from the origin: that is an error.
fn written(surface: &TriMesh, format: Format, args: &Args) -> Result<Vec<u8>, Stop> {
    let to = args.to.display();
    let bytes = file::write(surface, format, args.unit_out).map_err(|error| match error {
        FileError::Large { .. } => Stop::Scene(format!("{to}: {error}. help: a larger --unit-out, or .obj")),
        _ => Stop::Usage(error.to_string()),
    })?;
    let unit = (format != Format::Glb).then_some(args.unit_out);
    let back = file::read(&bytes, format, unit).map_err(|error| Stop::Scene(format!("{to}: {error}")))?;
    let (is, was) = (back.surface.volume(), surface.volume());
    let kept = (is - was).abs() <= ROUNDED * was;
    if !kept {
        let help = "write .obj, which has double precision, or move the part to the origin";
        return Err(Stop::Scene(format!(
            "{to}: the part is too small, or too far from the origin, for the numbers of this format: its volume would be \
             {is:.3e} instead of {was:.3e} m3. help: {help}"
        )));
    }
    if let Some(unit) = unit {
        say(&format!("note: one unit of {to} is {unit} m; --unit-out for another"));
    }
    Ok(bytes)
}

/// The closed surface of a mesh file. Repairs are said; what bounds no solid is an error.
fn mesh(args: &Args) -> Result<TriMesh, Stop> {
    let from = args.from.display();
    let mut contents = file::read_file(&args.from, args.unit).map_err(|error| {
        let help = if matches!(error.cause(), FileError::Unit { .. }) { ". help: --unit mm" } else { "" };
        Stop::Scene(format!("{error}{help}"))
    })?;
    if let Some(stated) = contents.stated {
        say(&format!("note: {from} states its unit, {stated} m; it is read with --unit all the same"));
    }
    for (what, count) in &contents.skipped {
        say(&format!("note: {count} {what} of {from} are not used"));
    }
    if let Some(length) = args.extrude {
        let meshed = !contents.surface.triangles.is_empty();
        let Some((outline, holes)) = contents.take_outlines() else {
            let help = match meshed {
                true => "it has triangles; without --extrude they are taken as they are",
                false => "close it: Z at the end of a path of SVG, a closed polyline or circle of DXF",
            };
            return Err(Stop::Scene(format!("there is no closed outline in {from}. help: {help}")));
        };
        if meshed {
            let count = contents.surface.triangles.len();
            say(&format!("note: {count} triangles of {from} are not used; without --extrude they are"));
        }
        let solid = Solid::Prism { outline, holes, length };
        let mesh = solid.mesh().map_err(|error| Stop::Scene(format!("{from}: {error}")))?;
        say(&format!("{from}: volume {:.6e} m3", mesh.volume()));
        return Ok(mesh.into());
    }
    let surface = &contents.surface;
    if surface.triangles.is_empty() {
        let help = match contents.outlines.len() {
            0 => "write the part as a mesh of triangles",
            _ => "it has outlines; --extrude 0.01 makes a solid of them",
        };
        return Err(Stop::Scene(format!("there are no triangles in {from}. help: {help}")));
    }
    if !contents.outlines.is_empty() {
        let count = contents.outlines.len();
        say(&format!("note: {count} outlines of {from} are not used; with --extrude they are"));
    }
    let repaired = Mesh::repaired(surface, 1e-7 * surface.size());
    let (mesh, report) = repaired.map_err(|error| Stop::Scene(format!("{from}: {error}")))?;
    let how = if report.is_clean() { "" } else { "repaired: " };
    say(&format!("{from}: {how}{report}; volume {:.6e} m3", mesh.volume()));
    Ok(mesh.into())
}

fn solid(args: &Args) -> Result<TriMesh, Stop> {
    let scene = Scene::load(&args.from.to_string_lossy(), &args.sets)?;
    notes(&scene);
    let names = || scene.solids.iter().map(|solid| solid.name.as_str());
    let list = || names().collect::<Vec<_>>().join(", ");
    if scene.solids.is_empty() {
        return Err(Stop::Usage(format!("there is no [[solid]] in {}", args.from.display())));
    }
    let Some(wanted) = &args.solid else {
        return Err(Stop::Usage(format!("which solid? help: --solid NAME, one of: {}", list())));
    };
    match scene.solids.iter().find(|solid| solid.name == *wanted) {
        Some(solid) => {
            say(&format!("solid {wanted}: volume {:.6e} m3", solid.mesh.volume()));
            Ok(solid.mesh.surface().clone())
        }
        None => Err(Stop::Usage(format!("there is no solid \"{wanted}\" in the scene. help: one of: {}", list()))),
    }
}
