//! `tippe compare`: both clocks on the same scene, how far apart they are, and which realtime step would meet a target.

use crate::args::{Options, Source, assignment, metres, seconds};
use crate::figure::{Curve, Figure, Panel};
use crate::progress::{Meter, StopSignal};
use crate::table::{count, duration, number, table};
use crate::{Stop, print, print_json, say};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tippe::run::compare::{Grid, StepFor, Track, step_for};
use tippe::run::{
    Comparison, GapKind, LastEnergy, LastPose, Matched, Questions, Runs, Subjects, Touched, Verdict, cases,
};
use tippe::scene::{Clock, Scene, SceneErrors};
use tippe::{Model, Progress, Settings, clock, realtime};

/// Poses that are shown at the end, at most.
const MOST_POSES: usize = 8;
/// Contacts that are shown, at most.
const MOST_CONTACTS: usize = 12;

/// Arguments of `tippe compare`.
#[derive(clap::Args)]
pub struct Args {
    /// A scene file, or the name of a scene from `tippe list`
    scene: String,
    /// Step of the realtime clock instead of the scene's [s]: 0.001, 1/60, 1ms
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    step: Option<f64>,
    /// Find the realtime step whose positions stay this near to the precise clock's: 0.001, 1mm
    #[arg(long, value_name = "LENGTH", value_parser = metres)]
    target: Option<f64>,
    /// Relative tolerance of the precise clock
    #[arg(long, value_name = "NUMBER", value_parser = crate::args::tolerance)]
    tolerance: Option<f64>,
    /// Simulated time to reach [s]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    until: Option<f64>,
    /// Threads; 0 for all there are. The result is the same for any number
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    threads: usize,
    /// Give a parameter of the scene another value
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    sets: Vec<(String, String)>,
    /// Draw the differences over time, as .png or .svg
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Print one JSON object on stdout
    #[arg(long)]
    json: bool,
    /// Then show both runs in the viewer, one over the other, until Ctrl-C
    #[arg(long)]
    view: bool,
    #[command(flatten)]
    page: crate::view::PageOptions,
}

/// How both clocks run one scene.
pub struct Both {
    /// The precise clock.
    pub precise: Settings,
    /// The realtime clock.
    pub realtime: realtime::Settings,
    until: f64,
}

impl Both {
    /// The scene's own settings, up to a time [s].
    pub fn of(scene: &Scene, until: f64) -> Both {
        Both { precise: Settings::from_scene(scene), realtime: realtime::Settings::from_scene(scene), until }
    }

    /// Sets the number of threads of both.
    pub fn set_threads(&mut self, threads: usize) {
        (self.precise.threads, self.realtime.threads) = (threads, threads);
    }

    /// An error where one of them would make more steps than anybody can wait for.
    fn check_steps(&self, scene: &Scene, model: &Model) -> Result<(), Stop> {
        let clocks = [clock::Settings::Precise(self.precise.clone()), clock::Settings::Realtime(self.realtime.clone())];
        let checked = clocks.iter().try_for_each(|settings| settings.check_steps(scene, model, self.until));
        checked.map_err(|error| Stop::Scene(error.to_string()))
    }

    /// Runs both, the precise clock first, and compares them; with the precise run, and the wall times of both [s].
    pub fn run(&self, model: &Model, go_on: &mut dyn FnMut(&Progress) -> bool) -> Result<(Comparison, Walls), Stop> {
        let (precise, precise_s) = self.precise(model, go_on)?;
        let (realtime, realtime_s) = self.realtime(model, self.realtime.step, go_on)?;
        Ok((Comparison::of(model, &precise, &realtime), Walls { precise_s, realtime_s }))
    }

    fn grid(&self) -> Grid {
        Grid::new(self.realtime.step, self.until)
    }

    fn precise(&self, model: &Model, go_on: &mut dyn FnMut(&Progress) -> bool) -> Result<(Track, f64), Stop> {
        let started = Instant::now();
        let track = Track::precise(model, &self.precise, self.grid(), go_on)?;
        Ok((track, started.elapsed().as_secs_f64()))
    }

    fn realtime(
        &self,
        model: &Model,
        step: f64,
        go_on: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<(Track, f64), Stop> {
        let started = Instant::now();
        let settings = realtime::Settings { step, ..self.realtime.clone() };
        let track = Track::realtime(model, &settings, self.grid(), go_on)?;
        Ok((track, started.elapsed().as_secs_f64()))
    }
}

/// How long both runs took.
#[derive(Clone, Copy, Serialize)]
pub struct Walls {
    /// The precise clock [s].
    pub precise_s: f64,
    /// The realtime clock [s].
    pub realtime_s: f64,
}

/// The scene's model, if both clocks can run it.
pub fn compile(scene: &Scene) -> Result<Model, Stop> {
    Model::compile_for(scene, Clock::Precise)?;
    Ok(Model::compile_for(scene, Clock::Realtime)?)
}

/// What `--json` prints.
#[derive(Serialize)]
struct Object<'a> {
    scene: &'a str,
    step: f64,
    tolerance: f64,
    wall: Walls,
    #[serde(flatten)]
    comparison: &'a Comparison,
    target: Option<&'a StepFor>,
    limits: Vec<Limit>,
}

/// One limit of the scene.
#[derive(Serialize)]
struct Limit {
    value: String,
    is: Option<f64>,
    expected: String,
    pass: bool,
}

/// Runs the command.
pub fn compare(args: &Args) -> Result<(), Stop> {
    let source = Source::find(&args.scene)?;
    let scene = Scene::parse(&source.file, &source.text, &args.sets)?;
    let model = compile(&scene)?;
    let mut both = Both::of(&scene, args.until.unwrap_or(scene.run.until));
    both.set_threads(args.threads);
    both.precise.tolerance = args.tolerance.unwrap_or(both.precise.tolerance);
    both.realtime.step = args.step.unwrap_or(both.realtime.step);
    both.check_steps(&scene, &model)?;
    let signal = StopSignal::listen();
    let names: Vec<String> = model.bodies.iter().map(|body| body.name.clone()).collect();
    let meter = |what: &str| Meter::new(&format!("{} {what}", source.name), 0.0, names.clone(), false);
    let run = |step: f64| watched(meter("realtime"), &signal, |go_on| both.realtime(&model, step, go_on));
    let (precise, precise_s) = watched(meter("precise"), &signal, |go_on| both.precise(&model, go_on))?;
    let (realtime, realtime_s) = run(both.realtime.step)?;
    let comparison = Comparison::of(&model, &precise, &realtime);
    let target = match args.target {
        Some(target) => Some(step_for(target, (both.realtime.step, comparison.largest_position()), |step| {
            let (track, _) = run(step)?;
            Ok::<f64, Stop>(Comparison::of(&model, &precise, &track).largest_position())
        })?),
        None => None,
    };
    let verdicts = limits(&scene, &model, &comparison)?;
    if let Some(path) = &args.plot {
        let title = if scene.title.is_empty() { &source.name } else { &scene.title };
        draw(&comparison, title, both.realtime.step, path)?;
        say(&format!("wrote {}", path.display()));
    }
    let walls = Walls { precise_s, realtime_s };
    if args.json {
        let limit = |v: &Verdict| Limit {
            value: v.question.clone(),
            is: v.value.as_ref().ok().copied(),
            expected: v.expected.clone(),
            pass: v.pass,
        };
        print_json(&Object {
            scene: &source.name,
            step: both.realtime.step,
            tolerance: both.precise.tolerance,
            wall: walls,
            comparison: &comparison,
            target: target.as_ref(),
            limits: verdicts.iter().map(limit).collect(),
        })?;
    } else {
        show(&comparison, &both, walls, target.as_ref(), &verdicts)?;
    }
    if args.view {
        let options =
            Options { until: args.until, threads: Some(args.threads), sets: args.sets.clone(), ..Options::default() };
        let precise = Options { clock: Some(Clock::Precise), tolerance: args.tolerance, ..options.clone() };
        let realtime = Options { clock: Some(Clock::Realtime), step: args.step, ..options };
        crate::view::view_both(&source, [&precise, &realtime], &args.page, &signal)?;
    }
    match verdicts.iter().filter(|verdict| !verdict.pass).count() {
        0 => Ok(()),
        failed => Err(Stop::Expectation(format!("{failed} of {} limits exceeded", verdicts.len()))),
    }
}

/// A run with its progress shown; an error if a signal stopped it.
fn watched(
    meter: Meter,
    signal: &StopSignal,
    run: impl FnOnce(&mut dyn FnMut(&Progress) -> bool) -> Result<(Track, f64), Stop>,
) -> Result<(Track, f64), Stop> {
    let track = run(&mut |progress| {
        meter.show(progress);
        signal.came().is_none()
    });
    meter.clear();
    match (track?, signal.came()) {
        ((track, _), Some(number)) if !track.is_whole() => Err(Stop::Signal(number)),
        (whole, _) => Ok(whole),
    }
}

/// The scene's limits on the differences, as it stands; those of shorter runs or other parameters are left to `tippe check`.
fn limits(scene: &Scene, model: &Model, comparison: &Comparison) -> Result<Vec<Verdict>, Stop> {
    let mut verdicts = Vec::new();
    for case in cases(scene).into_iter().filter(|case| case.runs == Runs::Compared) {
        if !case.with.is_empty() || case.until.is_some_and(|until| until < comparison.until) {
            let run =
                case.until.map_or("with other parameters".to_owned(), |until| format!("up to {} s", number(until)));
            say(&format!("{} limits of a run {run} are left to `tippe check`", case.expects.len()));
            continue;
        }
        let questions = Questions::read(scene, &case, &Subjects::of(model)).map_err(SceneErrors)?;
        let mut recording = questions.recording();
        recording.gaps = Some(comparison.gaps.clone());
        verdicts.extend(questions.judge(&recording));
    }
    Ok(verdicts)
}

fn show(
    comparison: &Comparison,
    both: &Both,
    walls: Walls,
    target: Option<&StepFor>,
    verdicts: &[Verdict],
) -> Result<(), Stop> {
    let step = both.realtime.step;
    let run = |clock: &str, how: String, wall: f64| {
        let rate = comparison.until / wall.max(1e-9);
        vec![clock.to_owned(), how, duration(wall), format!("{} x real time", number((rate * 100.0).round() / 100.0))]
    };
    let runs = [
        run("precise", format!("tolerance {:e}", both.precise.tolerance), walls.precise_s),
        run("realtime", format!("step {} s", number(step)), walls.realtime_s),
    ];
    print(&table(&[("clock", false), ("", false), ("wall time", true), ("", true)], &runs))?;
    let parted = match &comparison.divergence {
        Some(d) => format!(
            "\nThe runs part at {} s: body \"{}\" is {} m away, {:.1} % of its size. Differences before that:\n",
            number(d.time),
            d.body,
            number(d.gap),
            100.0 * d.gap / d.size
        ),
        None => format!("\nThe runs stay together to the end, {} s. Differences:\n", number(comparison.until)),
    };
    print(&parted)?;
    let rows: Vec<Vec<String>> = (GapKind::ALL.into_iter().map(|kind| (kind, comparison.gaps.get(kind))))
        .filter(|(_, gap)| !gap.of.is_empty() || gap.worst > 0.0)
        .map(|(kind, gap)| {
            let (name, unit) = kind.name_and_unit();
            let worst = if gap.at.is_finite() { format!("{} s", number(gap.at)) } else { String::new() };
            vec![name.to_owned(), number(gap.worst), number(gap.rms), unit.to_owned(), worst, gap.of.clone()]
        })
        .collect();
    let head = [("difference", false), ("worst", true), ("RMS", true), ("", false), ("at", true), ("of", false)];
    print(&table(&head, &rows))?;
    print(&format!(
        "\ncontact starts: {} precise, {} realtime, {} matched before the runs part",
        count(comparison.starts_precise as u64),
        count(comparison.starts_realtime as u64),
        count(comparison.starts_matched as u64)
    ))?;
    show_ending(comparison)?;
    if let Some(found) = target {
        print(&format!("\n{}", describe(found)))?;
        let row = |(step, gap): &(f64, f64)| vec![format!("{} s", number(*step)), format!("{} m", number(*gap))];
        print(&table(
            &[("step", true), ("position, all the time", true)],
            &found.tried.iter().map(row).collect::<Vec<_>>(),
        ))?;
    }
    if !verdicts.is_empty() {
        let row = |v: &Verdict| {
            let value = v.value.as_ref().map_or_else(Clone::clone, |x| number(*x));
            let pass = if v.pass { "PASS" } else { "FAIL" };
            vec![pass.to_owned(), v.question.clone(), value, v.expected.clone()]
        };
        print("")?;
        let head = [("", false), ("limit", false), ("value", true), ("expected", false)];
        print(&table(&head, &verdicts.iter().map(row).collect::<Vec<_>>()))?;
    }
    Ok(())
}

/// How both runs end: poses, contacts matched by pair and number, books.
fn show_ending(comparison: &Comparison) -> Result<(), Stop> {
    let ending = &comparison.ending;
    let more = |shown: usize, all: usize| match all.saturating_sub(shown) {
        0 => String::new(),
        rest => format!("\nand {rest} more (--json has all)"),
    };
    let place = |p: &[f64; 3]| p.map(number).join(" ");
    let pose =
        |p: &LastPose| vec![p.body.clone(), place(&p.precise), place(&p.realtime), number(p.apart), number(p.turned)];
    let rows: Vec<Vec<String>> = ending.poses.iter().take(MOST_POSES).map(pose).collect();
    if !rows.is_empty() {
        let head = [
            ("body at the end", false),
            ("precise [m]", false),
            ("realtime [m]", false),
            ("apart [m]", true),
            ("turned [rad]", true),
        ];
        print(&format!("\n{}{}", table(&head, &rows), more(rows.len(), ending.poses.len())))?;
    }
    let both = |m: &Matched, of: fn(&Touched) -> f64| {
        [&m.precise, &m.realtime].map(|touched| touched.as_ref().map_or("none".to_owned(), |t| number(of(t))))
    };
    let contact = |m: &Matched| {
        let times = both(m, |t| t.time);
        let cells = [times, both(m, |t| t.closing_speed), both(m, |t| t.peak_force)];
        [m.pair.clone(), m.number.to_string()].into_iter().chain(cells.into_iter().flatten()).collect()
    };
    let rows: Vec<Vec<String>> = ending.contacts.iter().take(MOST_CONTACTS).map(contact).collect();
    if !rows.is_empty() {
        let head = [
            ("contact", false),
            ("n", true),
            ("begins [s]", true),
            ("realtime", true),
            ("closing [m/s]", true),
            ("realtime, after", true),
            ("peak force [N]", true),
            ("realtime", true),
        ];
        print(&format!("\n{}{}", table(&head, &rows), more(rows.len(), ending.contacts.len())))?;
    }
    let energy = |e: &LastEnergy| {
        vec![e.account.replace('_', " "), number(e.precise), number(e.realtime), number(e.realtime - e.precise)]
    };
    let rows: Vec<Vec<String>> = ending.energies.iter().map(energy).collect();
    let head = [("energy at the end [J]", false), ("precise", true), ("realtime", true), ("realtime - precise", true)];
    print(&format!("\n{}", table(&head, &rows)))
}

/// Which step meets the target, in words.
fn describe(found: &StepFor) -> String {
    let order = found.order.map_or(String::new(), |p| format!(" (gap of order {:.2} in the step)", p));
    match found.step {
        Some(step) => format!("a step of {} s keeps positions within {} m{order}", number(step), number(found.target)),
        None => format!(
            "no step tried keeps positions within {} m{order}: where runs part for good smaller steps do not help; \
             choose a nearer end (--until)",
            number(found.target)
        ),
    }
}

fn draw(comparison: &Comparison, title: &str, step: f64, path: &Path) -> Result<(), Stop> {
    let series = &comparison.series;
    let panel = |label: &str, name: &str, values: &[f64]| Panel {
        label: label.to_owned(),
        curves: vec![Curve {
            name: name.to_owned(),
            points: series.time.iter().copied().zip(values.iter().copied()).collect(),
        }],
    };
    let figure = Figure {
        title: format!("{title}: precise and realtime clock"),
        subtitle: format!("largest differences at each time, realtime step {} s", number(step)),
        panels: vec![
            panel("position [m]", "position", &series.position),
            panel("pose gap over size [-]", "pose", &series.pose),
            panel("mean contact force [N]", "contact force", &series.contact_force),
            panel("stored energy [J]", "energy", &series.energy),
        ],
        marks: comparison.divergence.iter().map(|d| d.time).collect(),
        mark_label: "the runs part".to_owned(),
        size: (1200, 1060),
    };
    figure.save(path).map_err(Stop::Resource)
}
