//! `tippe optimize`: a flexible body of less material that bends as little as it can while its scene runs.

use crate::args::{Options, Source};
use crate::figure::{Curve, Figure, Panel};
use crate::progress::{Meter, StopSignal};
use crate::table::{number, table};
use crate::{Stop, print, print_json, say};
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use tippe::geometry::Vec3;
use tippe::geometry::file::{Format, write};
use tippe::optimize::{Design, Operation, OptimizeError, Optimizer, Round};
use tippe::scene::{Clock, Scene, ShapeKind};

/// Arguments of `tippe optimize`.
#[derive(clap::Args)]
pub struct Args {
    /// A scene file with [optimize], or the name of a scene that has one
    scene: String,
    /// Give a parameter of the scene another value, e.g. --set n=100
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = crate::args::assignment)]
    sets: Vec<(String, String)>,
    /// precise or realtime; by default the scene's
    #[arg(long, value_name = "NAME", value_parser = crate::args::clock)]
    clock: Option<Clock>,
    /// Folder for designs, pictures and the shape; by default runs/NAME-optimize
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Go on with the design of the folder
    #[arg(long)]
    resume: bool,
    /// Print one JSON object on stdout
    #[arg(long)]
    json: bool,
    /// Nothing on stderr
    #[arg(long, short)]
    quiet: bool,
}

impl From<OptimizeError> for Stop {
    fn from(error: OptimizeError) -> Stop {
        match error {
            OptimizeError::Run(failure) => failure.into(),
            OptimizeError::Compile(errors) => errors.into(),
            OptimizeError::Scene(_) | OptimizeError::Body { .. } => Stop::Scene(error.to_string()),
        }
    }
}

const DESIGN: &str = "design.json";
const HEAD: [(&str, bool); 7] = [
    ("round", true),
    ("energy [J s]", true),
    ("stress [MPa]", true),
    ("after steps", true),
    ("loads", true),
    ("change", true),
    ("sharpness", true),
];

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    let source = Source::find(&args.scene)?;
    let options = Options { sets: args.sets.clone(), clock: args.clock, quiet: args.quiet, ..Options::default() };
    let prepared = source.prepare(&options)?;
    let clock = prepared.settings.clock();
    let mut optimizer = Optimizer::new(&prepared.scene, clock)?;
    let folder = args.out.clone().unwrap_or_else(|| Path::new("runs").join(format!("{}-optimize", source.name)));
    begin(args, &folder, &mut optimizer)?;
    let signal = StopSignal::listen();
    let names = prepared.model.bodies.iter().map(|body| body.name.clone()).collect();
    let meter = Meter::new(&source.name, 0.0, names, args.quiet);
    let mut go_on = |progress: &tippe::Progress| {
        meter.show(progress);
        signal.came().is_none()
    };
    while !optimizer.is_done() {
        let Some(round) = optimizer.round(&mut go_on)? else {
            let text = format!("stopped; `tippe optimize {} --out {} --resume` goes on", args.scene, folder.display());
            say(&text);
            return Err(Stop::Signal(signal.came().unwrap_or(2)));
        };
        let count = optimizer.design.rounds.len();
        save(&folder.join(DESIGN), &json_text(&optimizer.design)?)?;
        picture(&optimizer, &folder.join(format!("density-{count:02}.png")))?;
        if !args.quiet {
            say(&line(count, &round));
        }
    }
    finish(args, &folder, &optimizer, &mut go_on)
}

/// A folder to write to, and the design in it where the run goes on.
fn begin(args: &Args, folder: &Path, optimizer: &mut Optimizer) -> Result<(), Stop> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Stop::Resource(format!("cannot make {}: {error}", folder.display())))?;
    let path = folder.join(DESIGN);
    if !args.resume {
        if path.exists() {
            let text = format!(
                "{} has a design. help: --resume goes on with it, --out takes another folder",
                folder.display()
            );
            return Err(Stop::Usage(text));
        }
        return Ok(());
    }
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Stop::Usage(format!("cannot read {}: {error}. help: leave out --resume", path.display())))?;
    let design: Design = serde_json::from_str(&text)
        .map_err(|error| Stop::Usage(format!("{} is no design: {error}", path.display())))?;
    Ok(optimizer.resume(design)?)
}

fn json_text(design: &Design) -> Result<String, Stop> {
    serde_json::to_string(design).map_err(|error| Stop::Resource(error.to_string()))
}

/// Beside, then in its place: a kill leaves the old one.
fn save(path: &Path, text: &str) -> Result<(), Stop> {
    let wrong = |error| Stop::Resource(format!("cannot write {}: {error}", path.display()));
    let beside = path.with_extension("new");
    std::fs::write(&beside, text).map_err(wrong)?;
    std::fs::rename(&beside, path).map_err(wrong)
}

fn cells(count: usize, round: &Round) -> Vec<String> {
    let mut row = vec![count.to_string()];
    row.extend([round.energy, round.stress / 1e6, 0.5 * round.compliance[1]].map(number));
    row.push(round.cases.to_string());
    row.extend([round.change, round.sharpness].map(number));
    row
}

fn line(count: usize, round: &Round) -> String {
    let own = cells(count, round);
    let pairs: Vec<String> = HEAD.iter().zip(&own).map(|((name, _), value)| format!("{name} {value}")).collect();
    pairs.join(", ")
}

/// The shape as part of a scene, and how it does beside a thinner part of the same weight.
fn finish(
    args: &Args,
    folder: &Path,
    optimizer: &Optimizer,
    go_on: &mut dyn FnMut(&tippe::Progress) -> bool,
) -> Result<(), Stop> {
    let shaped = optimizer.shaped()?;
    save(&folder.join("part.toml"), &shaped.to_toml())?;
    surface(&shaped, &folder.join("part.stl"))?;
    let mut curves: Vec<(&str, Operation)> = Vec::new();
    let thinner = optimizer.thinner()?;
    for (name, scene) in [("optimised", Some(&shaped)), ("thinner, as heavy", thinner.as_ref())] {
        let Some(scene) = scene else { continue };
        match optimizer.operate(scene, go_on) {
            Ok(Some(operation)) => curves.push((name, operation)),
            Ok(None) => return Err(Stop::Signal(2)),
            // the design stands, whatever a mesh of its shape lacks
            Err(error) => say(&format!("note: the part \"{name}\" does not run: {error}")),
        }
    }
    stresses(&curves, folder)?;
    let rounds = &optimizer.design.rounds;
    if args.json {
        let end = |(name, run): &(&str, Operation)| json!({ "part": name, "energy": run.energy_time(), "stress": run.peak() });
        let ends: Vec<_> = curves.iter().map(end).collect();
        return print_json(&json!({ "rounds": rounds, "parts": ends, "folder": folder }));
    }
    let rows: Vec<Vec<String>> = rounds.iter().enumerate().map(|(k, round)| cells(k + 1, round)).collect();
    print(&table(&HEAD, &rows))?;
    let rows: Vec<Vec<String>> = curves
        .iter()
        .map(|(name, run)| vec![(*name).to_owned(), number(run.energy_time()), number(run.peak() / 1e6)])
        .collect();
    print(&format!("\n{}", table(&[("part", false), ("energy [J s]", true), ("stress [MPa]", true)], &rows)))?;
    say(&format!(
        "{}: part.toml, part.stl, stress.png, densities; energy: strain energy over the run",
        folder.display()
    ));
    Ok(())
}

/// The body's shape as STL, in metres.
fn surface(scene: &Scene, path: &Path) -> Result<(), Stop> {
    let last = scene.solids.last();
    let shape = scene.bodies.iter().flat_map(|body| &body.shapes).find_map(|shape| match (&shape.kind, last) {
        (ShapeKind::Mesh { solid: Some(name), mesh, .. }, Some(last)) if *name == last.name => Some(mesh),
        _ => None,
    });
    let Some(mesh) = shape else { return Ok(()) };
    let wrong = |error: &dyn std::fmt::Display| Stop::Resource(format!("cannot write {}: {error}", path.display()));
    let bytes = write(mesh.surface(), Format::Stl, 1.0).map_err(|error| wrong(&error))?;
    std::fs::write(path, bytes).map_err(|error| wrong(&error))
}

/// Largest stress over time, as picture and as table.
fn stresses(runs: &[(&str, Operation)], folder: &Path) -> Result<(), Stop> {
    let mut text = String::from("part,time [s],largest von Mises stress [Pa],strain energy [J]\n");
    for (name, run) in runs {
        for ((t, s), e) in run.times.iter().zip(&run.stress).zip(&run.energy) {
            let _ = writeln!(text, "\"{name}\",{t:?},{s:?},{e:?}");
        }
    }
    save(&folder.join("stress.csv"), &text)?;
    let curve = |of: &dyn Fn(&Operation) -> Vec<f64>| -> Vec<Curve> {
        let one = |(name, run): &(&str, Operation)| Curve {
            name: (*name).to_owned(),
            points: run.times.iter().copied().zip(of(run)).collect(),
        };
        runs.iter().map(one).collect()
    };
    let panels = vec![
        Panel {
            label: "largest stress [MPa]".to_owned(),
            curves: curve(&|run| run.stress.iter().map(|s| s / 1e6).collect()),
        },
        Panel { label: "strain energy [J]".to_owned(), curves: curve(&|run| run.energy.clone()) },
    ];
    let figure = Figure {
        title: "Stress and strain energy of the part".to_owned(),
        subtitle: folder.display().to_string(),
        panels,
        marks: Vec::new(),
        mark_label: String::new(),
        size: (900, 620),
    };
    figure.save(&folder.join("stress.png")).map_err(Stop::Resource)
}

/// Pixels of the longer side of a picture of a design.
const PIXELS: f64 = 900.0;

/// Shares of material, black where it is full: of a plane body, or the mean along the thinnest direction of a solid one.
fn picture(optimizer: &Optimizer, path: &Path) -> Result<(), Stop> {
    let mesh = &optimizer.part().structure.mesh;
    let shares = optimizer.shares();
    let [low, high] = mesh.bounds();
    let size = high - low;
    let flat = mesh.kind.dimension() == 2;
    let thin = if flat { 2 } else { (0..3).fold(0, |best, k| if size[k] < size[best] { k } else { best }) };
    let [a, b] = [(thin + 1) % 3, (thin + 2) % 3];
    let [a, b] = [a.min(b), a.max(b)];
    let scale = PIXELS / size[a].max(size[b]);
    let [width, height] = [size[a], size[b]].map(|s| ((s * scale).ceil() as usize).max(1));
    let (mut sums, mut weights) = (vec![0.0; width * height], vec![0.0; width * height]);
    let at = |p: Vec3| [(p[a] - low[a]) * scale, (high[b] - p[b]) * scale];
    for (e, share) in shares.iter().enumerate() {
        let corners: Vec<Vec3> = mesh.places(e)[..mesh.kind.corners()].to_vec();
        // each face of a solid one: as much of it as is seen from the front and from behind
        let faces: &[[usize; 3]] = if flat { &[[0, 1, 2]] } else { &[[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]] };
        for face in faces {
            paint(face.map(|k| at(corners[k])), (width, height), |pixel| {
                sums[pixel] += share;
                weights[pixel] += 1.0;
            });
        }
    }
    let grey = |(s, w): (&f64, &f64)| if *w > 0.0 { (255.0 * (1.0 - s / w)).round() as u8 } else { 255 };
    let bytes: Vec<u8> = sums.iter().zip(&weights).map(grey).collect();
    let write = || -> Result<(), Box<dyn std::error::Error>> {
        let file = std::io::BufWriter::new(std::fs::File::create(path)?);
        let mut encoder = png::Encoder::new(file, u32::try_from(width)?, u32::try_from(height)?);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&bytes)?;
        Ok(writer.finish()?)
    };
    write().map_err(|error| Stop::Resource(format!("cannot write {}: {error}", path.display())))
}

/// Pixels whose middles are in a triangle.
fn paint(t: [[f64; 2]; 3], (width, height): (usize, usize), mut put: impl FnMut(usize)) {
    let bound = |c: usize, most: usize| {
        let low = t.iter().map(|p| p[c]).fold(f64::INFINITY, f64::min);
        let high = t.iter().map(|p| p[c]).fold(0.0, f64::max);
        (low.max(0.0) as usize, (high.ceil() as usize).min(most))
    };
    let ((x0, x1), (y0, y1)) = (bound(0, width), bound(1, height));
    for y in y0..y1 {
        for x in x0..x1 {
            let p = [x as f64 + 0.5, y as f64 + 0.5];
            let side = |k: usize| {
                let (u, v) = (t[k], t[(k + 1) % 3]);
                (v[0] - u[0]) * (p[1] - u[1]) - (v[1] - u[1]) * (p[0] - u[0])
            };
            let s = [side(0), side(1), side(2)];
            if s.iter().all(|s| *s >= 0.0) || s.iter().all(|s| *s <= 0.0) {
                put(y * width + x);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A triangle of half a square has half of its pixels, and two of them all but the shared ones twice.
    #[test]
    fn triangles_are_painted() {
        let mut seen = vec![0; 100];
        paint([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]], (10, 10), |k| seen[k] += 1);
        assert_eq!(seen.iter().sum::<i32>(), 55);
        paint([[10.0, 0.0], [10.0, 10.0], [0.0, 10.0]], (10, 10), |k| seen[k] += 1);
        assert_eq!((seen.iter().sum::<i32>(), seen.iter().min()), (110, Some(&1)));
    }
}
