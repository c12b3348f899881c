//! `tippe run`: simulate a scene, leave a run folder behind, say how it went.

use crate::args::{Options, Prepared, Source};
use crate::inputs::Datagrams;
use crate::pace::Pace;
use crate::progress::{Meter, StopSignal};
use crate::table::{count, duration, number, table};
use crate::{Stop, print_json, say};
use std::path::{Path, PathBuf};
use std::time::Instant;
use tippe::clock::Failure;
use tippe::realtime::Hook;
use tippe::run::{Claim, Manifest, Replay, Report, Run, RunError, RunWriter, SceneCopy, Status, Subjects};
use tippe::scene::Clock;
use tippe::{Event, MechanismSummary, Observe, Progress, Sample, Simulation, Summary};

/// Arguments of `tippe run`.
#[derive(clap::Args)]
pub struct Args {
    /// A scene file, or the name of a scene from `tippe list`
    scene: String,
    #[command(flatten)]
    options: Options,
    /// Folder for the results; by default runs/NAME. Where something stands there, the next free name: runs/NAME-2 and so on
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Replace the run that stands in the folder of --out
    #[arg(long, requires = "out")]
    force: bool,
    /// Write the tables, and grains, as CSV as well
    #[arg(long)]
    csv: bool,
    /// Write the polygons over which surfaces touch, with the force on each, to patches.jsonl
    #[arg(long)]
    patches: bool,
    /// Write the boxes that bodies do not leave, horizon by horizon, to reach.jsonl; only with the precise clock
    #[arg(long)]
    reach: bool,
    /// Print one JSON object with the summary on stdout
    #[arg(long)]
    json: bool,
    /// Neither progress nor summary on stderr
    #[arg(long, short)]
    quiet: bool,
    /// Write a checkpoint each time this much simulated time has passed [s]
    #[arg(long, value_name = "SECONDS", value_parser = crate::args::seconds)]
    checkpoint_every: Option<f64>,
    /// Keep wall time: simulated seconds per second, 1 for real time; only with the realtime clock
    #[arg(long, value_name = "NUMBER", value_parser = crate::args::positive)]
    pace: Option<f64>,
    /// Listen on this port of this machine for inputs, datagrams of lines `NAME VALUE`; only with the realtime clock
    #[arg(long, value_name = "PORT")]
    udp: Option<u16>,
    /// Repeat the inputs of a run folder, or of an inputs.jsonl
    #[arg(long, value_name = "RUN", conflicts_with = "udp")]
    inputs: Option<PathBuf>,
    /// Continue from a checkpoint of the same scene and clock; with --out the folder of the checkpoint, the run there goes on
    #[arg(long, value_name = "FILE")]
    restart: Option<PathBuf>,
    /// Show the run in the viewer while it goes on, and afterwards until Ctrl-C
    #[arg(long)]
    view: bool,
    #[command(flatten)]
    page: crate::view::PageOptions,
}

impl Args {
    /// A run that is only looked at: neither progress nor summary.
    pub fn for_view(scene: &str, options: &Options, pace: Option<f64>) -> Args {
        Args {
            scene: scene.to_owned(),
            options: options.clone(),
            out: None,
            force: false,
            csv: false,
            patches: false,
            reach: false,
            json: false,
            quiet: true,
            checkpoint_every: None,
            pace,
            udp: None,
            inputs: None,
            restart: None,
            view: true,
            page: crate::view::PageOptions::default(),
        }
    }
}

/// What watches a run: the writer, the meter, the signals, and somebody beside them.
struct Watch<'a> {
    writer: RunWriter,
    meter: Meter,
    signal: &'a StopSignal,
    beside: &'a mut dyn Observe,
    pace: Option<Pace>,
    /// Last time that was recorded [s].
    time: f64,
}

impl Observe for Watch<'_> {
    fn sample(&mut self, sample: &Sample<'_>) {
        self.time = sample.time;
        self.writer.sample(sample);
        self.beside.sample(sample);
    }

    fn event(&mut self, event: &Event) {
        self.writer.event(event);
        self.beside.event(event);
    }

    fn reach(&mut self, reach: &tippe::Reach<'_>) {
        self.writer.reach(reach);
    }

    fn grains(&mut self, grains: &tippe::grains::Grains) {
        self.writer.grains(grains);
        self.beside.grains(grains);
    }

    fn input(&mut self, heard: &tippe::realtime::Heard) {
        self.writer.input(heard);
    }

    fn pull(&mut self, step: u64, pull: Option<&tippe::realtime::Pull>) {
        self.writer.pull(step, pull);
    }

    fn progress(&mut self, progress: &Progress) -> bool {
        self.meter.show(progress);
        let asked = Instant::now();
        let go_on = self.beside.progress(progress);
        let go_on = self.writer.progress(progress) && self.signal.came().is_none() && go_on;
        if let Some(pace) = &mut self.pace {
            pace.forgive(asked.elapsed());
            pace.keep(progress.time);
        }
        go_on
    }
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    let source = Source::find(&args.scene)?;
    let prepared = source.prepare(&Options { quiet: args.quiet, ..args.options.clone() })?;
    let place = Place::of(args, &source.name)?;
    let signal = StopSignal::listen();
    if args.view {
        return crate::view::run_and_view(args, &args.page, &source, &prepared, place, &signal);
    }
    simulate(args, &source, &prepared, place, &signal, &mut (), None)
}

/// Where a run goes.
pub enum Place {
    /// A folder of its own.
    New(Claim),
    /// The folder of the checkpoint it continues from.
    Again(Claim),
}

impl Place {
    /// A new folder of this name, which nobody else uses.
    pub fn at(folder: &Path) -> Result<Place, Stop> {
        Ok(Place::New(Claim::take(folder, false)?))
    }

    fn of(args: &Args, name: &str) -> Result<Place, Stop> {
        let Some(folder) = &args.out else { return Ok(Place::New(Claim::free(&Path::new("runs").join(name))?)) };
        let same = |checkpoint: &PathBuf| {
            let above = checkpoint.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
            above.canonicalize().is_ok_and(|above| folder.canonicalize().is_ok_and(|folder| folder == above))
        };
        if args.restart.as_ref().is_some_and(same) {
            return Ok(Place::Again(Claim::again(folder)?));
        }
        let claim = Claim::take(folder, args.force)?;
        if claim.folder() != folder {
            let text = format!("{} is not empty: the results go to {}", folder.display(), claim.folder().display());
            say(&format!("note: {text}. help: --force replaces a run"));
        }
        Ok(Place::New(claim))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        match self {
            Place::New(claim) | Place::Again(claim) => claim.folder(),
        }
    }
}

/// What cannot be written, and what was.
fn cut_short(error: &RunError, folder: &Path) -> Stop {
    let kept = match Run::open(folder).and_then(|run| run.reached()) {
        Ok(time) => format!("{} has the run until t = {time} s", folder.display()),
        Err(error) => error.to_string(),
    };
    Stop::Resource(format!("{error}\n{kept}"))
}

/// Refuses what the clock of the run does not know.
fn check_clock(args: &Args, prepared: &Prepared) -> Result<(), Stop> {
    let settings = &prepared.settings;
    if args.pace.is_some() && settings.clock() != Clock::Realtime {
        let text = "--pace needs steps of one length: it goes with the realtime clock. help: add --clock realtime";
        return Err(Stop::Usage(text.to_owned()));
    }
    if (args.udp.is_some() || args.inputs.is_some()) && settings.clock() != Clock::Realtime {
        let text = "only the realtime clock listens to inputs. help: add --clock realtime";
        return Err(Stop::Usage(text.to_owned()));
    }
    if args.reach && settings.clock() != Clock::Precise {
        let text = "only the precise clock has boxes that bodies do not leave. help: add --clock precise, or leave out --reach";
        return Err(Stop::Usage(text.to_owned()));
    }
    Ok(())
}

/// Simulates into a run folder and says how it went; `beside` sees what the writer sees, `hook` may set inputs.
pub fn simulate(
    args: &Args,
    source: &Source,
    prepared: &Prepared,
    place: Place,
    signal: &StopSignal,
    beside: &mut dyn Observe,
    hook: Option<&mut dyn Hook>,
) -> Result<(), Stop> {
    check_clock(args, prepared)?;
    let Prepared { scene, model, settings, .. } = prepared;
    let folder = place.folder().to_owned();
    let folder = folder.as_path();
    let mut datagrams = args.udp.map(|port| Datagrams::listen(port, model)).transpose()?;
    let mut replay = args.inputs.as_ref().map(|path| Replay::read(path, model)).transpose()?;
    let subjects = Subjects::of(model);
    let mut simulation = begin(args, prepared)?;
    let start = simulation.time();
    let writer = results(args, source, prepared, place, &subjects, start)?;
    let names = subjects.bodies.iter().map(|subject| subject.name.clone()).collect();
    let meter = Meter::new(&source.name, start, names, args.quiet);
    if !args.quiet {
        announce(prepared, start, datagrams.as_ref());
    }
    let mut hooks: Vec<&mut dyn Hook> = Vec::new();
    hooks.extend(datagrams.as_mut().map(|hook| hook as &mut dyn Hook));
    hooks.extend(replay.as_mut().map(|hook| hook as &mut dyn Hook));
    hooks.extend(hook.map(|hook| hook as &mut dyn Hook));

    let pace = args.pace.map(|pace| Pace::start(pace, start));
    let mut watch = Watch { writer, meter, signal, beside, pace, time: start };
    let started = Instant::now();
    let outcome = advance(&mut simulation, prepared, args.checkpoint_every, &mut hooks, &mut watch);
    let wall_s = started.elapsed().as_secs_f64();
    let Watch { mut writer, meter, pace, time, .. } = watch;
    meter.clear();

    let summary = match outcome {
        Ok(summary) => summary,
        Err(Trouble::Failure(failure)) => {
            let message = failure.to_string();
            // The checkpoint is the last state in good order; the failure is what the user must hear about.
            let state = (simulation.time() > start).then(|| simulation.state());
            let checkpoint = state.and_then(|state| writer.checkpoint(scene, simulation.time(), &state).ok());
            writer.finish(Status::Failed, Some(message.clone()), None)?;
            let at = checkpoint.map_or(String::new(), |path| format!("\ncheckpoint: {}", path.display()));
            return Err(Stop::Simulation(format!("{message}\nresults so far: {}{at}", folder.display())));
        }
        Err(Trouble::Write(error)) => {
            // The error is told below; `finish` tells the first one there was, which may be an earlier one.
            let told = writer.finish(Status::OutOfSpace, Some(error.to_string()), None).err().unwrap_or(error);
            return Err(cut_short(&told, folder));
        }
    };
    if let Some(grains) = simulation.grains() {
        writer.last_grains(grains);
    }
    if let Some(ground) = simulation.ground() {
        writer.last_ground(ground);
    }
    let mut report = Report::new(&source.name, settings.clock(), time, wall_s, &summary, &subjects);
    report.pace = pace.map(|pace| pace.report());
    let status = if summary.stopped { Status::Interrupted } else { Status::Complete };
    if summary.stopped && writer.error().is_none() {
        writer.checkpoint(scene, simulation.time(), &simulation.state())?;
    }
    writer.finish(status, None, Some(&report)).map_err(|error| cut_short(&error, folder))?;
    if !args.quiet {
        let new = summary.warnings.iter().filter(|warning| !model.warnings.contains(warning));
        new.for_each(|warning| say(&format!("warning: {warning}")));
        say(&describe(&report, &prepared.scene.title, start, folder));
    }
    if args.json {
        print_json(&report)?;
    }
    match signal.came() {
        Some(number) if summary.stopped => Err(Stop::Signal(number)),
        _ => Ok(()),
    }
}

/// The simulation at the start of its scene, or of its checkpoint.
fn begin(args: &Args, prepared: &Prepared) -> Result<Simulation, Stop> {
    let Prepared { scene, model, settings, .. } = prepared;
    Ok(match &args.restart {
        Some(path) => {
            let state = Run::checkpoint(path, scene, settings.clock())?;
            Simulation::resume(model.clone(), settings.clone(), state)?
        }
        None => Simulation::new(model.clone(), settings.clone()),
    })
}

/// What results are written with.
fn results(
    args: &Args,
    source: &Source,
    prepared: &Prepared,
    place: Place,
    subjects: &Subjects,
    start: f64,
) -> Result<RunWriter, Stop> {
    let Prepared { model, settings, until, .. } = prepared;
    let manifest = Manifest {
        format: 1,
        tippe: env!("CARGO_PKG_VERSION").to_owned(),
        status: Status::Running,
        failure: None,
        command: crate::words(),
        scene: SceneCopy::new(&source.file, &source.text),
        sets: args.options.sets.clone(),
        clock: settings.clock().name().to_owned(),
        start,
        until: *until,
        restart: args.restart.as_ref().map(|path| path.display().to_string()),
        settings: settings.clone(),
        warnings: model.warnings.clone(),
        subjects: subjects.clone(),
        hash: None,
    };
    if matches!(place, Place::Again(_)) && start >= *until {
        let what = format!("the checkpoint is at t = {} s, and the run ends at {until} s", number(start));
        return Err(Stop::Usage(format!("{what}: there is nothing to continue. help: a later --until")));
    }
    let mut writer = match (place, &args.restart) {
        (Place::Again(claim), Some(path)) => RunWriter::resume(claim, &manifest, path, model, args.csv)?,
        (Place::New(claim) | Place::Again(claim), _) => RunWriter::create(claim, manifest, args.csv)?,
    };
    if args.patches {
        writer.record_patches(model)?;
    }
    if args.reach {
        writer.record_reach(model)?;
    }
    Ok(writer)
}

/// What a user should know before the run begins.
fn announce(prepared: &Prepared, start: f64, datagrams: Option<&Datagrams>) {
    let Prepared { model, until, .. } = prepared;
    model.warnings.iter().for_each(|warning| say(&format!("warning: {warning}")));
    prepared.note_grains().iter().for_each(|note| say(note));
    if start >= *until {
        let what = format!("the checkpoint is at t = {} s, and the run ends at {until} s", number(start));
        say(&format!("warning: {what}: there is nothing to do. help: a later --until"));
    }
    if let Some(datagrams) = datagrams {
        say(&format!("listening for inputs on 127.0.0.1:{}", datagrams.port()));
    }
}

enum Trouble {
    Failure(Failure),
    Write(tippe::run::RunError),
}

/// Simulates to the end, with a checkpoint now and then.
fn advance(
    simulation: &mut Simulation,
    prepared: &Prepared,
    every: Option<f64>,
    hooks: &mut [&mut dyn Hook],
    watch: &mut Watch<'_>,
) -> Result<Summary, Trouble> {
    let Prepared { scene, until, .. } = prepared;
    let until = *until;
    let Some(every) = every else {
        return simulation.advance_with(until, hooks, watch).map_err(Trouble::Failure);
    };
    let mut k = (simulation.time() / every).floor() + 1.0;
    loop {
        let next = (k * every).min(until);
        let summary = simulation.advance_with(next, hooks, watch).map_err(Trouble::Failure)?;
        if summary.stopped || next >= until {
            return Ok(summary);
        }
        // a realtime step may end beyond
        watch.writer.checkpoint(scene, next.max(simulation.time()), &simulation.state()).map_err(Trouble::Write)?;
        k = (k + 1.0).max((simulation.time() / every).floor() + 1.0);
    }
}

/// Mechanisms named one by one; the others are counted together.
const MOST_MECHANISMS: usize = 8;

/// Rows of the table of mechanisms, and a sentence for every one with more constraints than it needs.
fn describe_mechanisms(mechanisms: &[MechanismSummary]) -> (Vec<Vec<String>>, Vec<String>) {
    let row = |name: String, all: &[MechanismSummary]| {
        let sum = |of: fn(&MechanismSummary) -> usize| count(all.iter().map(of).sum::<usize>() as u64);
        let drift = all.iter().map(|m| m.drift).fold(0.0, f64::max);
        let numbers = [sum(|m| m.coordinates), sum(|m| m.rows), sum(|m| m.redundant), sum(|m| m.freedom)];
        [name].into_iter().chain(numbers).chain([number(drift)]).collect::<Vec<String>>()
    };
    let (shown, others) = mechanisms.split_at(mechanisms.len().min(MOST_MECHANISMS));
    let mut rows: Vec<Vec<String>> = shown.iter().map(|m| row(mechanism_name(m), std::slice::from_ref(m))).collect();
    if !others.is_empty() {
        rows.push(row(format!("{} others", others.len()), others));
    }
    let sentence = |m: &MechanismSummary| {
        let constraints = if m.redundant == 1 { "constraint; it runs" } else { "constraints; it runs" };
        format!(
            "the linkage of {} has {} redundant {constraints} with reactions of least size",
            mechanism_name(m),
            m.redundant
        )
    };
    let mut sentences: Vec<String> = shown.iter().filter(|m| m.redundant > 0).map(sentence).collect();
    match others.iter().filter(|m| m.redundant > 0).count() {
        0 => {}
        1 => sentences.push("1 other linkage has redundant constraints".to_owned()),
        n => sentences.push(format!("{n} other linkages have redundant constraints")),
    }
    (rows, sentences)
}

/// How many bodies, and which if they are few.
fn mechanism_name(mechanism: &MechanismSummary) -> String {
    match &mechanism.bodies[..] {
        [one] => format!("1 body ({one})"),
        few if few.len() <= 4 => format!("{} bodies ({})", few.len(), few.join(", ")),
        many => format!("{} bodies", many.len()),
    }
}

/// The summary for people.
fn describe(report: &Report, title: &str, start: f64, folder: &Path) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |name: &str, value: String, note: String| rows.push(vec![name.to_owned(), value, note]);
    let simulated = report.sim_s - start;
    let rate = format!("{} x real time", number((simulated / report.wall_s.max(1e-9) * 100.0).round() / 100.0));
    row(
        "simulated",
        format!("{} s", number(simulated)),
        if report.stopped { "stopped early".to_owned() } else { String::new() },
    );
    row("wall time", duration(report.wall_s), rate);
    if let Some(pace) = &report.pace {
        let missed = format!("{} of {}", count(pace.missed), count(pace.steps));
        let late = if pace.missed > 0 { format!("late by at most {}", duration(pace.late_s)) } else { String::new() };
        row("missed deadlines", missed, late);
        let most = format!("99.9 % within {}, half within {}", duration(pace.p999_s), duration(pace.median_s));
        row("longest step", duration(pace.worst_s), most);
    }
    let methods: Vec<String> = report.steps_by_integrator.iter().map(|(m, n)| format!("{m} {}", count(*n))).collect();
    row("steps", count(report.steps), methods.join(", "));
    if let Some(grains) = &report.grains {
        // no step of corrected positions depends on it
        let share = match grains.summary.rayleigh_share {
            share if share > 0.0 => format!(", {share:.3} of the Rayleigh time"),
            _ => String::new(),
        };
        let step = format!("step {} s{share}", number(grains.summary.step));
        row("grains", count(grains.summary.count as u64), step);
        let speed = format!("{:.2} million/s", 1e-6 * grains.particle_steps_per_s);
        row("particle steps", count(grains.summary.particle_steps), speed);
    }
    match &report.solutions {
        None if report.grains.is_some() => {}
        None => {
            row("rejected", count(report.rejected), String::new());
            row("evaluations", count(report.rhs_evaluations), String::new());
        }
        Some(solutions) => {
            let how = format!("direct {}, swept {}", count(solutions.direct), count(solutions.swept));
            row("solutions", count(solutions.direct + solutions.swept), how);
            for (name, n) in [
                ("parts kept apart", solutions.kept_apart),
                ("by block pivoting", solutions.pivoted),
                ("by Lemke's method", solutions.lemke),
            ] {
                if n > 0 {
                    row(name, count(n), "of the direct solutions".to_owned());
                }
            }
            row("factorisations", count(solutions.factorisations), String::new());
        }
    }
    if report.pairs_tested > 0 {
        row("pairs tested", count(report.pairs_tested), format!("{} of them touched", count(report.pairs_touched)));
    }
    let events: Vec<String> = report.events.iter().map(|(kind, n)| format!("{} {}", kind.name(), count(*n))).collect();
    row("events", count(report.events.values().sum()), events.join(", "));
    row("contacts", count(report.max_contacts as u64), "at most, at a recorded time".to_owned());

    let (mechanisms, sentences) = describe_mechanisms(&report.mechanisms);

    let energy = &report.energy;
    let scale = energy.initial.abs().max(energy.kinetic.abs()).max(energy.work.abs()).max(energy.load_work.abs());
    let share = |x: f64| if scale > 0.0 { format!("{:.1e} of the largest", (x / scale).abs()) } else { String::new() };
    let mut books: Vec<Vec<String>> = Vec::new();
    let mut entry = |name: &str, x: f64, note: String| books.push(vec![name.to_owned(), number(x), note]);
    entry("stored at the start", energy.initial, String::new());
    entry("kinetic", energy.kinetic, String::new());
    entry("potential", energy.potential, String::new());
    entry("elastic", energy.elastic, String::new());
    for (cause, lost) in &energy.by_cause {
        if *lost != 0.0 {
            entry(&format!("lost to {}", cause.replace('_', " ")), *lost, String::new());
        }
    }
    let works = [("work of motors", energy.work), ("work of applied forces", energy.load_work)];
    works.iter().filter(|work| work.1 != 0.0).for_each(|(name, work)| entry(name, *work, String::new()));
    entry("residual", energy.residual, share(energy.residual));

    let mut text = String::new();
    text += &format!("{}\n\n", if title.is_empty() { &report.scene } else { title });
    text += &table(&[("run", false), ("", true), ("", false)], &rows);
    text += "\n\n";
    if !mechanisms.is_empty() {
        let head = ["coordinates", "rows", "redundant", "freedom", "largest drift"].map(|name| (name, true));
        text += &table(&[&[("mechanism", false)], &head[..]].concat(), &mechanisms);
        text += "\n\n";
    }
    for sentence in &sentences {
        text += &format!("{sentence}\n\n");
    }
    text += &table(&[("energy", false), ("J", true), ("", false)], &books);
    text += &format!("\n\nhash     {}\nresults  {}\n", report.hash, folder.display());
    text += &format!("next     tippe plot {} energy", folder.display());
    text
}
