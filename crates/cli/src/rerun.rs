//! `tippe rerun`: repeat a run from its manifest and verify the hash of its final state.

use crate::progress::Meter;
use crate::table::duration;
use crate::{Stop, print_json, say};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;
use tippe::run::{Replay, Run, Status, Subjects};
use tippe::scene::Scene;
use tippe::{Model, Observe, Progress, Simulation};

/// Arguments of `tippe rerun`.
#[derive(clap::Args)]
pub struct Args {
    /// A run folder
    run: PathBuf,
    /// Threads; 0 for all there are. The result is the same for any number
    #[arg(long, default_value_t = 0, value_name = "COUNT")]
    threads: usize,
    /// Print one JSON object on stdout
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Comparison {
    scene: String,
    same: bool,
    hash: String,
    recorded_hash: String,
    recorded_version: String,
    wall_s: f64,
}

struct Watch(Meter);

impl Observe for Watch {
    fn progress(&mut self, progress: &Progress) -> bool {
        self.0.show(progress);
        true
    }
}

/// Runs the command.
pub fn rerun(args: &Args) -> Result<(), Stop> {
    let run = Run::open(&args.run)?;
    let manifest = &run.manifest;
    let recorded = match (&manifest.hash, manifest.status) {
        (Some(hash), Status::Complete) => hash.clone(),
        _ => {
            let text = format!("{} did not reach its end: there is nothing to compare with", args.run.display());
            return Err(Stop::Usage(text));
        }
    };
    let scene = Scene::parse(&manifest.scene.name, &manifest.scene.text, &manifest.sets)?;
    let mut settings = manifest.settings.clone();
    settings.check().map_err(|text| Stop::Usage(format!("{}: its manifest has {text}", args.run.display())))?;
    settings.set_threads(args.threads);
    let model = Model::compile_for(&scene, settings.clock())?;
    let mut simulation = match &manifest.restart {
        Some(path) => {
            let state = Run::checkpoint(path.as_ref(), &manifest.scene.hash, settings.clock())?;
            Simulation::resume(model, settings, state)?
        }
        None => Simulation::new(model, settings),
    };
    let model = simulation.model().clone();
    let names = Subjects::of(&model).bodies.into_iter().map(|subject| subject.name).collect();
    let mut watch = Watch(Meter::new(&manifest.scene.name, simulation.time(), names, false));
    let started = Instant::now();
    let mut replay = Replay::read(&args.run, &model)?;
    let summary = simulation.advance_with(manifest.until, &mut [&mut replay], &mut watch);
    watch.0.clear();
    let summary = summary.map_err(|failure| Stop::Simulation(failure.to_string()))?;
    let comparison = Comparison {
        scene: manifest.scene.name.clone(),
        hash: format!("{:016x}", summary.hash),
        same: format!("{:016x}", summary.hash) == recorded,
        recorded_hash: recorded,
        recorded_version: manifest.tippe.clone(),
        wall_s: started.elapsed().as_secs_f64(),
    };
    if args.json {
        print_json(&comparison)?;
    }
    if comparison.same {
        say(&format!("same bits: {} ({})", comparison.hash, duration(comparison.wall_s)));
        return Ok(());
    }
    let (was, now) = (&comparison.recorded_version, env!("CARGO_PKG_VERSION"));
    let version = if was == now { String::new() } else { format!("; it ran with version {was}, this is {now}") };
    let text = format!("the run differs: hash {} instead of {}{version}", comparison.hash, comparison.recorded_hash);
    Err(Stop::Simulation(text))
}
