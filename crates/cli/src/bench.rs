//! `tippe bench`: time scenes, with accuracy next to time.

use crate::args::{Options, Prepared, Source};
use crate::table::{count, duration, table};
use crate::{Stop, print, print_json, say};
use serde::Serialize;
use std::time::Instant;
use tippe::clock::Settings;
use tippe::run::{Case, Questions, Runs, Subjects, cases};
use tippe::scene::{Scene, gallery};
use tippe::{Simulation, Summary};

/// Arguments of `tippe bench`.
#[derive(clap::Args)]
pub struct Args {
    /// Scene files or names; without any, all scenes that come with the program and are not tagged slow
    scenes: Vec<String>,
    #[command(flatten)]
    options: Options,
    /// Runs of each scene; the fastest counts
    #[arg(long, default_value_t = 3, value_name = "COUNT")]
    repeat: u32,
    /// Print one JSON object on stdout
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Bench {
    tippe: String,
    machine: String,
    cores: usize,
    optimised: bool,
    scenes: Vec<Timing>,
}

#[derive(Serialize)]
struct Timing {
    scene: String,
    sim_s: f64,
    clock: String,
    /// Tolerance of the precise clock [-].
    tolerance: Option<f64>,
    /// Step of the realtime clock [s].
    step: Option<f64>,
    wall_s: f64,
    steps: u64,
    rejected: u64,
    rhs_evaluations: u64,
    factorisations: u64,
    events: u64,
    /// Energy residual over initial energy [-].
    residual: f64,
    /// Expectations of the scene as it stands that are met, of how many; only without options that change the run.
    met: Option<(usize, usize)>,
    hash: String,
}

/// Runs the command.
pub fn bench(args: &Args) -> Result<(), Stop> {
    let quick = |(name, text): &&(&str, &str)| {
        Scene::parse(&format!("{name}.toml"), text, &[]).is_ok_and(|scene| !scene.tags.iter().any(|tag| tag == "slow"))
    };
    let names: Vec<String> = if args.scenes.is_empty() {
        gallery().iter().filter(quick).map(|(name, _)| (*name).to_owned()).collect()
    } else {
        args.scenes.clone()
    };
    let mut scenes = Vec::new();
    for name in &names {
        let source = Source::find(name)?;
        scenes.push(time(&source, args)?);
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let bench = Bench {
        tippe: env!("CARGO_PKG_VERSION").to_owned(),
        machine: machine(),
        cores,
        optimised: !cfg!(debug_assertions),
        scenes,
    };
    if args.json {
        return print_json(&bench);
    }
    let checks = if bench.optimised { "" } else { ", with debug assertions" };
    say(&format!("tippe {}{checks}, {}, {cores} cores, best of {}", bench.tippe, bench.machine, args.repeat.max(1)));
    let rows: Vec<Vec<String>> = bench.scenes.iter().map(row).collect();
    let head = [
        ("scene", false),
        ("simulated", true),
        ("tolerance or step", true),
        ("wall", true),
        ("steps", true),
        ("rejected", true),
        ("evaluations or factorisations", true),
        ("events", true),
        ("residual/E0", true),
        ("expect", true),
        ("hash", false),
    ];
    print(&table(&head, &rows))
}

fn row(timing: &Timing) -> Vec<String> {
    vec![
        timing.scene.clone(),
        format!("{} s", timing.sim_s),
        timing
            .step
            .map_or_else(|| format!("{:e}", timing.tolerance.unwrap_or(f64::NAN)), |step| format!("{step:.3e} s")),
        duration(timing.wall_s),
        count(timing.steps),
        count(timing.rejected),
        count(timing.rhs_evaluations + timing.factorisations),
        count(timing.events),
        format!("{:.1e}", timing.residual),
        timing.met.map_or_else(|| "-".to_owned(), |(met, asked)| format!("{met}/{asked}")),
        timing.hash.clone(),
    ]
}

fn time(source: &Source, args: &Args) -> Result<Timing, Stop> {
    let prepared = source.prepare(&args.options)?;
    let Prepared { scene, model, settings, until } = &prepared;
    let mut best: Option<(f64, Summary)> = None;
    for _ in 0..args.repeat.max(1) {
        let started = Instant::now();
        let summary = Simulation::new(model.clone(), settings.clone()).advance(*until, &mut ());
        let wall_s = started.elapsed().as_secs_f64();
        let summary = summary.map_err(|failure| Stop::Simulation(format!("{}: {failure}", source.name)))?;
        if let Some((_, first)) = &best
            && first.hash != summary.hash
        {
            return Err(Stop::Simulation(format!("{}: two runs of the same scene differ", source.name)));
        }
        if best.as_ref().is_none_or(|(least, _)| wall_s < *least) {
            best = Some((wall_s, summary));
        }
    }
    let (wall_s, summary) = best.unwrap_or_default();
    let initial = summary.energy.initial.abs();
    let (tolerance, step) = match settings {
        Settings::Precise(settings) => (Some(settings.tolerance), None),
        Settings::Realtime(settings) => (None, Some(settings.step)),
        Settings::Granular(_) => (None, summary.grains.map(|grains| grains.step)),
    };
    Ok(Timing {
        scene: source.name.clone(),
        sim_s: *until,
        clock: settings.clock().name().to_owned(),
        tolerance,
        step,
        wall_s,
        steps: summary.steps,
        rejected: summary.rejected,
        rhs_evaluations: summary.rhs_evaluations,
        factorisations: summary.solutions.factorisations,
        events: summary.events.values().sum(),
        residual: summary.energy.residual().abs() / if initial > 0.0 { initial } else { 1.0 },
        met: met(scene, &prepared)?,
        hash: format!("{:016x}", summary.hash),
    })
}

/// Expectations that hold for the run just timed, asked in a run of their own so that recording costs the timed ones
/// nothing.
fn met(scene: &Scene, prepared: &Prepared) -> Result<Option<(usize, usize)>, Stop> {
    let runs = Runs::One(prepared.settings.clock());
    let plain = |c: &Case| c.runs == runs && c.with.is_empty() && c.tolerance.is_none() && c.until.is_none();
    let plain = cases(scene).into_iter().find(plain);
    let Some(case) = plain.filter(|_| prepared.until >= scene.run.until) else { return Ok(None) };
    let questions = Questions::read(scene, &case, &Subjects::of(&prepared.model));
    let questions = questions.map_err(|errors| Stop::from(tippe::scene::SceneErrors(errors)))?;
    let mut settings = prepared.settings.clone();
    settings.record_at(questions.times());
    settings.record_marks(questions.marks(&prepared.model));
    let mut recording = questions.recording();
    Simulation::new(prepared.model.clone(), settings)
        .advance(prepared.until, &mut recording)
        .map_err(|failure| Stop::Simulation(failure.to_string()))?;
    let verdicts = questions.judge(&recording);
    Ok(Some((verdicts.iter().filter(|verdict| verdict.pass).count(), verdicts.len())))
}

/// The processor by its own name.
fn machine() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split_once(':'));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}
