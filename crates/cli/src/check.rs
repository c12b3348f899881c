//! `tippe check`: validate scenes, run them, and compare with what they expect.

use crate::args::Source;
use crate::end_states::{EndStates, Stored};
use crate::progress::counter;
use crate::table::{duration, exact, number, table};
use crate::{Stop, print, print_json, say};
use rayon::prelude::*;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use tippe::clock::Settings;
use tippe::run::{Case, Questions, Recording, Runs, Subjects, Verdict, cases};
use tippe::scene::{Clock, Scene, SceneErrors, gallery};
use tippe::{Model, Simulation};

/// Arguments of `tippe check`.
#[derive(clap::Args)]
pub struct Args {
    /// Scene files or names; without any, all scenes that come with the program and are not tagged slow
    scenes: Vec<String>,
    /// Without names: the scenes tagged slow instead
    #[arg(long)]
    slow: bool,
    /// Only this clock, precise or realtime: what is expected of the other, or of both compared, is left out, and so is a scene of
    /// another clock that expects nothing of this one
    #[arg(long, value_name = "NAME", value_parser = crate::args::clock)]
    clock: Option<Clock>,
    /// Read and compile only
    #[arg(long)]
    no_run: bool,
    /// Show only what failed
    #[arg(long)]
    failures: bool,
    /// Print one JSON object with all results on stdout
    #[arg(long)]
    json: bool,
    /// Scenes at a time; 0 for one on every core
    #[arg(long, default_value_t = 0, value_name = "COUNT")]
    threads: usize,
    /// Compare how the runs end, bit for bit, and what they cost with this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["clock", "no_run"])]
    end_states: Option<PathBuf>,
    /// Write the file of `--end-states` anew instead, as far as the scenes that are checked go
    #[arg(long, requires = "end_states")]
    renew: bool,
}

/// How one scene went.
#[derive(Serialize)]
struct Checked {
    scene: String,
    pass: bool,
    wall_s: f64,
    /// What kept the scene from being read or run.
    error: Option<String>,
    /// What reading had to change or leave out.
    warnings: Vec<String>,
    #[serde(skip)]
    code: u8,
    expectations: Vec<Line>,
    #[serde(skip)]
    end_states: EndStates,
}

/// One expectation.
#[derive(Serialize)]
pub struct Line {
    /// Clock, parameters, tolerance and end where they are not the scene's.
    pub case: String,
    /// What was asked.
    pub question: String,
    /// When [s].
    pub at: Option<f64>,
    /// The answer.
    pub value: Option<f64>,
    /// Why there is none.
    pub no_answer: Option<String>,
    /// What was expected, in words.
    pub expected: String,
    /// Distance to it.
    difference: f64,
    /// Whether it was met.
    pub pass: bool,
    /// Where the expected number comes from.
    pub source: String,
}

#[derive(Serialize)]
struct Results<'a> {
    pass: bool,
    scenes: &'a [Checked],
}

/// Runs the command.
pub fn check(args: &Args) -> Result<(), Stop> {
    let names = if args.scenes.is_empty() { gallery_names(args.slow) } else { args.scenes.clone() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build();
    let pool = pool.map_err(|error| Stop::Resource(format!("cannot start threads: {error}")))?;
    let mut stored = args.end_states.as_ref().map(|path| Stored::read(path, args.renew)).transpose()?;
    let bar = counter(names.len());
    let one = |name: &String| {
        let checked = check_scene(name, args);
        bar.inc(1);
        checked
    };
    let mut checked: Vec<Checked> = pool.install(|| names.par_iter().map(one).collect());
    bar.finish_and_clear();
    if let (Some(stored), Some(path)) = (&mut stored, &args.end_states) {
        if args.renew {
            checked.iter().for_each(|scene| stored.replace(&scene.scene, &scene.end_states));
            stored.write(path)?;
        } else {
            checked.iter_mut().for_each(|scene| scene.compare(stored));
        }
    }

    let pass = checked.iter().all(|scene| scene.pass);
    if args.json {
        print_json(&Results { pass, scenes: &checked })?;
    } else {
        for scene in &checked {
            show(scene, args.failures)?;
        }
    }
    let failed = checked.iter().filter(|scene| !scene.pass).count();
    let asked: usize = checked.iter().map(|scene| scene.expectations.len()).sum();
    let met = checked.iter().flat_map(|scene| &scene.expectations).filter(|line| line.pass).count();
    let text = format!("{}, {met} of {asked} expectations met", scenes(checked.len()));
    if pass {
        say(&text);
        return Ok(());
    }
    let text = format!("{text}; {} failed", scenes(failed));
    match checked.iter().filter(|scene| scene.code > 0).map(|scene| scene.code).min() {
        Some(2) => Err(Stop::Scene(text)),
        Some(3) => Err(Stop::Simulation(text)),
        _ => Err(Stop::Expectation(text)),
    }
}

impl Checked {
    /// Fails where a run ends otherwise than stored.
    fn compare(&mut self, stored: &Stored) {
        let differences = stored.differences(&self.scene, &self.end_states);
        if !differences.is_empty() {
            self.pass = false;
            self.error.get_or_insert_default().push_str(&differences.join("\n"));
        }
    }
}

fn scenes(n: usize) -> String {
    if n == 1 { "1 scene".to_owned() } else { format!("{n} scenes") }
}

/// Names of the gallery that are (not) tagged slow. One that cannot be read is checked, and fails, with the quick ones.
fn gallery_names(slow: bool) -> Vec<String> {
    let is_slow = |name: &str, text: &str| {
        Scene::parse(&format!("{name}.toml"), text, &[]).is_ok_and(|scene| scene.tags.iter().any(|tag| tag == "slow"))
    };
    gallery().iter().filter(|(name, text)| is_slow(name, text) == slow).map(|(name, _)| (*name).to_owned()).collect()
}

fn check_scene(name: &str, args: &Args) -> Checked {
    let started = Instant::now();
    let mut found = Found::default();
    let outcome = try_scene(name, args.clock, args.no_run, &mut found);
    let (error, code) = match outcome {
        Ok(()) => (None, 0),
        Err(stop) => (Some(stop.message().to_owned()), stop.code()),
    };
    let met = found.lines.iter().all(|line| line.pass);
    let code = if code == 0 && !met { 5 } else { code };
    Checked {
        scene: name.to_owned(),
        pass: code == 0,
        wall_s: started.elapsed().as_secs_f64(),
        error,
        warnings: found.warnings,
        code,
        expectations: found.lines,
        end_states: found.end_states,
    }
}

/// What the runs of a scene gave.
#[derive(Default)]
struct Found {
    lines: Vec<Line>,
    warnings: Vec<String>,
    end_states: EndStates,
}

/// What a scene expects, with the answers of its runs.
pub fn expectations(name: &str) -> Result<Vec<Line>, Stop> {
    let mut found = Found::default();
    try_scene(name, None, false, &mut found)?;
    Ok(found.lines)
}

fn try_scene(name: &str, only: Option<Clock>, no_run: bool, found: &mut Found) -> Result<(), Stop> {
    let source = Source::find(name)?;
    let scene = Scene::parse(&source.file, &source.text, &[])?;
    found.warnings.extend(scene.notes.iter().cloned());
    let clock = only.unwrap_or(scene.run.clock);
    let asked = |case: &Case| only.is_none_or(|only| case.runs == Runs::One(only));
    let cases: Vec<Case> = cases(&scene).into_iter().filter(asked).collect();
    if cases.is_empty() && clock != scene.run.clock {
        return Ok(());
    }
    let model = Model::compile_for(&scene, clock)?;
    if no_run {
        // Bodies may differ from case to case: read each expectation with its own parameters.
        return cases.iter().try_for_each(|case| Asked::prepare(&source, case).map(|_| ()));
    }
    if cases.is_empty() {
        // Nothing expected but that it runs.
        let mut settings = Settings::from_scene(&scene, clock);
        settings.set_threads(1);
        settings.check_steps(&scene, &model, scene.run.until).map_err(|error| Stop::Scene(error.to_string()))?;
        let summary = Simulation::new(model, settings)
            .advance(scene.run.until, &mut ())
            .map_err(|failure| Stop::Simulation(failure.to_string()))?;
        found.end_states.add(clock, &summary);
        return Ok(());
    }
    for case in cases {
        let asked = Asked::prepare(&source, &case)?;
        let recording = match case.runs {
            Runs::One(clock) => asked.run(&case, clock, &mut found.end_states)?,
            Runs::Compared => asked.compare(&case)?,
        };
        found.lines.extend(asked.questions.judge(&recording).into_iter().map(|verdict| line(&case, verdict)));
    }
    Ok(())
}

/// The scene with a case's parameters, and its questions.
struct Asked {
    scene: Scene,
    model: Arc<Model>,
    questions: Questions,
}

impl Asked {
    fn prepare(source: &Source, case: &Case) -> Result<Asked, Stop> {
        let scene = Scene::parse(&source.file, &source.text, &case.with)?;
        let model = match case.runs {
            Runs::One(clock) => Model::compile_for(&scene, clock)?,
            Runs::Compared => crate::compare::compile(&scene)?,
        };
        let questions = Questions::read(&scene, case, &Subjects::of(&model)).map_err(SceneErrors)?;
        Ok(Asked { scene, model: Arc::new(model), questions })
    }

    fn run(&self, case: &Case, clock: Clock, end_states: &mut EndStates) -> Result<Recording, Stop> {
        let mut settings = Settings::from_scene(&self.scene, clock);
        settings.set_threads(1);
        settings.record_at(self.questions.times());
        settings.record_marks(self.questions.marks(&self.model));
        if let (Settings::Precise(settings), Some(tolerance)) = (&mut settings, case.tolerance) {
            settings.tolerance = tolerance;
        }
        let until = case.until.unwrap_or(self.scene.run.until);
        if let Some(message) = settings.too_many_points(until) {
            return Err(Stop::Scene(format!("{}{message}", label(case))));
        }
        settings
            .check_steps(&self.scene, &self.model, until)
            .map_err(|error| Stop::Scene(format!("{}{error}", label(case))))?;
        let mut recording = self.questions.recording();
        let summary = Simulation::new(self.model.clone(), settings)
            .advance(until, &mut recording)
            .map_err(|failure| Stop::Simulation(format!("{}{failure}", label(case))))?;
        end_states.add(clock, &summary);
        Ok(recording)
    }

    /// Differences of the two clocks, and nothing else.
    fn compare(&self, case: &Case) -> Result<Recording, Stop> {
        let until = case.until.unwrap_or(self.scene.run.until);
        let mut both = crate::compare::Both::of(&self.scene, until);
        both.set_threads(1);
        both.precise.tolerance = case.tolerance.unwrap_or(both.precise.tolerance);
        let (comparison, _) = both.run(&self.model, &mut |_| true)?;
        let mut recording = self.questions.recording();
        recording.gaps = Some(comparison.gaps);
        Ok(recording)
    }
}

/// `n=3, tolerance 1e-9: `, or nothing.
fn label(case: &Case) -> String {
    let clock = match case.runs {
        Runs::One(Clock::Precise) | Runs::Compared => None,
        Runs::One(Clock::Realtime) => Some("realtime".to_owned()),
        Runs::One(Clock::Granular) => Some("granular".to_owned()),
    };
    let mut parts: Vec<String> = clock.into_iter().collect();
    parts.extend(case.with.iter().map(|(name, value)| format!("{name}={value}")));
    parts.extend(case.tolerance.map(|tolerance| format!("tolerance {tolerance:e}")));
    parts.extend(case.until.map(|until| format!("until {until} s")));
    if parts.is_empty() { String::new() } else { format!("{}: ", parts.join(", ")) }
}

fn line(case: &Case, verdict: Verdict) -> Line {
    let (value, no_answer) = match verdict.value {
        Ok(value) => (Some(value), None),
        Err(reason) => (None, Some(reason)),
    };
    Line {
        case: label(case).trim_end_matches(": ").to_owned(),
        question: verdict.question,
        at: verdict.at,
        value,
        no_answer,
        expected: verdict.expected,
        difference: verdict.difference,
        pass: verdict.pass,
        source: verdict.source,
    }
}

/// The table of one scene.
fn show(scene: &Checked, failures_only: bool) -> Result<(), Stop> {
    if failures_only && scene.pass {
        return Ok(());
    }
    let verdict = if scene.pass { "PASS" } else { "FAIL" };
    print(&format!("{verdict}  {}  ({})", scene.scene, duration(scene.wall_s)))?;
    if let Some(error) = &scene.error {
        print(&indent(error))?;
    }
    for warning in &scene.warnings {
        print(&indent(&format!("warning: {warning}")))?;
    }
    let rows: Vec<Vec<String>> = (scene.expectations.iter())
        .filter(|line| !(failures_only && line.pass))
        .map(|line| {
            let at = line.at.map_or(String::new(), |at| format!(" at {at} s"));
            let case = if line.case.is_empty() { String::new() } else { format!(" with {}", line.case) };
            let value = line.value.map_or_else(|| line.no_answer.clone().unwrap_or_default(), exact);
            let difference = if line.difference.is_nan() { "-".to_owned() } else { number(line.difference) };
            let verdict = if line.pass { "PASS" } else { "FAIL" };
            let question = format!("{}{at}{case}", shortened(&line.question));
            vec![verdict.to_owned(), question, value, line.expected.clone(), difference, line.source.clone()]
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    let head =
        [("", false), ("what", false), ("value", false), ("expected", false), ("difference", true), ("source", false)];
    print(&indent(&table(&head, &rows)))
}

/// A question as long as fits on a line, its middle left out if need be.
fn shortened(question: &str) -> String {
    /// Characters of a question, at most; those of its end.
    const MOST: usize = 120;
    const END: usize = 30;
    let length = question.chars().count();
    if length <= MOST {
        return question.to_owned();
    }
    let begun: String = question.chars().take(MOST - END - 5).collect();
    let ends: String = question.chars().skip(length - END).collect();
    format!("{begun} ... {ends}")
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
