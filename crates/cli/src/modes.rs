//! `tippe modes`: how a flexible body of a scene bends by itself. `tippe mesh`: a part as elements.

use crate::args::{Options, Source};
use crate::table::{number, table};
use crate::{Stop, print, print_json, say};
use serde_json::{Value, json};
use std::path::PathBuf;
use tippe::flexible::{Mesh, Reduced, element, make, read};
use tippe::geometry::Mesh as Surface;
use tippe::geometry::file::read_file;

/// Arguments of `tippe modes`.
#[derive(clap::Args)]
pub struct Modes {
    /// Scene file, or name of a scene that comes with the program
    scene: String,
    /// A flexible body of it; may be left out if there is one
    body: Option<String>,
    /// Give a parameter of the scene another value, e.g. --set n=100
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = crate::args::assignment)]
    sets: Vec<(String, String)>,
    /// Print one JSON object on stdout
    #[arg(long)]
    json: bool,
    /// Write the reduced body: modes, integrals, interfaces
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Arguments of `tippe mesh`.
#[derive(clap::Args)]
pub struct MeshArgs {
    /// A closed surface (.stl, .obj, .glb) to be filled with tetrahedra, or a mesh (.inp, .msh) to be checked
    part: PathBuf,
    /// Sides of the elements [m]
    #[arg(long, value_name = "METRES", value_parser = crate::args::positive)]
    size: Option<f64>,
    /// Length that 1 means in the file [m]
    #[arg(long, value_name = "METRES", value_parser = crate::args::positive, default_value_t = 1.0)]
    unit: f64,
    /// Straight sides only, no middle nodes
    #[arg(long)]
    straight: bool,
    /// Write it as gmsh's .msh 2.2, in metres
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs `tippe modes`.
pub fn modes(args: &Modes) -> Result<(), Stop> {
    let options = Options { sets: args.sets.clone(), ..Options::default() };
    let prepared = Source::find(&args.scene)?.prepare(&options)?;
    let flexible: Vec<_> = prepared.model.bodies.iter().filter(|body| body.flexible.is_some()).collect();
    let names = || flexible.iter().map(|body| body.name.as_str()).collect::<Vec<_>>().join(", ");
    let found = match (&args.body, flexible.as_slice()) {
        (_, []) => return Err(Stop::Usage(format!("{} has no flexible body", args.scene))),
        (None, [only]) => Some(*only),
        (None, _) => return Err(Stop::Usage(format!("which body? {} has {}", args.scene, names()))),
        (Some(name), _) => flexible.iter().copied().find(|body| body.name == *name),
    };
    let Some((body, reduced)) = found.and_then(|body| Some((body, body.flexible.as_ref()?))) else {
        let name = args.body.as_deref().unwrap_or_default();
        return Err(Stop::Usage(format!("\"{name}\" is no flexible body of {}: it has {}", args.scene, names())));
    };
    if let Some(path) = &args.out {
        let text = serde_json::to_string(reduced.as_ref()).map_err(|error| Stop::Resource(error.to_string()))?;
        write(path, &text)?;
    }
    if args.json {
        return print_json(&object(reduced));
    }
    let mut head =
        vec![("mode", true), ("frequency [Hz]", true), ("damping [-]", true), ("x", true), ("y", true), ("z", true)];
    let turns: Vec<String> = reduced.held.iter().map(|held| format!("{} [mm, deg]", held.name)).collect();
    head.extend(turns.iter().map(|name| (name.as_str(), true)));
    let rows: Vec<Vec<String>> = (0..reduced.modes()).map(|k| row(reduced, k)).collect();
    print(&table(&head, &rows))?;
    say(&format!(
        "{}: {} kg, {} nodes, {} interfaces; x, y, z: shares of the motion; interfaces: shift and turn at 1 J in the mode",
        body.name,
        number(reduced.mass),
        reduced.nodes.len(),
        reduced.held.len()
    ));
    Ok(())
}

/// Shares of the motion along the axes.
fn shares(reduced: &Reduced, k: usize) -> [f64; 3] {
    let n = reduced.nodes.len();
    let mut sums = [0.0; 3];
    for u in &reduced.shapes[k * n..(k + 1) * n] {
        (0..3).for_each(|c| sums[c] += u[c] * u[c]);
    }
    let all: f64 = sums.iter().sum();
    sums.map(|s| s / all)
}

fn damping(reduced: &Reduced, k: usize) -> f64 {
    reduced.damping[k] / (2.0 * reduced.stiffness[k].max(0.0).sqrt())
}

fn row(reduced: &Reduced, k: usize) -> Vec<String> {
    let mut row = vec![(k + 1).to_string(), number(reduced.frequency(k)), number(damping(reduced, k))];
    row.extend(shares(reduced, k).map(|share| format!("{share:.3}")));
    // 1/2 w^2 q^2 = 1 J
    let q = (2.0 / reduced.stiffness[k]).sqrt();
    row.extend(reduced.held.iter().map(|held| {
        let (shift, turn) = (held.shift[k].length() * q * 1e3, (held.turn[k].length() * q).to_degrees());
        format!("{}, {}", number(shift), number(turn))
    }));
    row
}

fn object(reduced: &Reduced) -> Value {
    let modes: Vec<Value> = (0..reduced.modes())
        .map(|k| json!({ "frequency": reduced.frequency(k), "damping": damping(reduced, k), "shares": shares(reduced, k) }))
        .collect();
    json!({ "mass": reduced.mass, "centre": reduced.centre.to_array(), "nodes": reduced.nodes.len(), "modes": modes })
}

fn write(path: &PathBuf, text: &str) -> Result<(), Stop> {
    std::fs::write(path, text).map_err(|error| Stop::Resource(format!("cannot write {}: {error}", path.display())))
}

/// Runs `tippe mesh`.
pub fn mesh(args: &MeshArgs) -> Result<(), Stop> {
    let wrong = |error: &dyn std::fmt::Display| Stop::Scene(format!("{}: {error}", args.part.display()));
    let name = args.part.display().to_string();
    let ending = args.part.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let mesh: Mesh = if ending == "inp" || ending == "msh" {
        let text = std::fs::read_to_string(&args.part).map_err(|error| wrong(&error))?;
        read::read(&name, &text, args.unit).map_err(|error| wrong(&error))?
    } else {
        let Some(size) = args.size else {
            return Err(Stop::Usage("how fine? --size 0.004 is 4 mm".to_owned()));
        };
        let found = read_file(&args.part, Some(args.unit)).map_err(|error| wrong(&error))?;
        let weld = 1e-7 * found.surface.size();
        let (surface, _) = Surface::repaired(&found.surface, weld).map_err(|error| wrong(&error))?;
        let mesh = make::lattice(&surface, size).map_err(|error| wrong(&error))?;
        if args.straight { mesh } else { mesh.quadratic() }
    };
    let corners = mesh.kind.corners();
    let quality = |e: usize| element::quality(mesh.kind, &mesh.places(e)[..corners]);
    let worst = (0..mesh.count()).map(quality).fold(f64::INFINITY, f64::min);
    let [low, high] = mesh.bounds();
    let size = (high - low) * 1e3;
    print(&format!(
        "{} elements, {} nodes, {} mm x {} mm x {} mm, volume {} m3, worst quality {}",
        mesh.count(),
        mesh.nodes.len(),
        number(size.x),
        number(size.y),
        number(size.z),
        number(mesh.mass(1.0, 1.0).mass),
        number(worst)
    ))?;
    for (set, nodes) in &mesh.sets {
        print(&format!("set {set}: {} nodes", nodes.len()))?;
    }
    args.out.as_ref().map_or(Ok(()), |path| write(path, &read::write_msh(&mesh)))
}
