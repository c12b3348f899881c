//! `tippe plot`: signals of a run as a figure.

use crate::figure::{Curve, Figure, Panel};
use crate::{Stop, say};
use std::path::PathBuf;
use tippe::run::{Account, Axis, Expression, Quantity, Recording, Run, Subjects, Wanted};
use tippe::scene::Scene;
use tippe::{BodyState, EventKind};

/// Arguments of `tippe plot`.
#[derive(clap::Args)]
pub struct Args {
    /// A run folder
    run: PathBuf,
    /// What to draw: `ball.position.z`, `ball.position` (three curves), `hinge.angle`, `hinge` (all of a joint), `energy` (the
    /// ledger), or an expression such as "ball.position.z - floor.position.z"; see `tippe explain signals`. Without any: how the first bodies move, and the ledger
    signals: Vec<String>,
    /// Figure to write, .png or .svg; by default RUN/plot.png
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Start of the time axis [s]
    #[arg(long, value_name = "SECONDS")]
    from: Option<f64>,
    /// End of the time axis [s]
    #[arg(long, value_name = "SECONDS")]
    to: Option<f64>,
    /// Width and height in pixels; by default 1200 wide and as high as the panels need
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<(u32, u32)>,
    /// Leave out the marks where contacts, stops and changes begin
    #[arg(long)]
    no_events: bool,
}

/// Bodies drawn when nothing is asked for.
const DEFAULT_BODIES: usize = 6;

/// One curve to draw: name, question, panel.
struct Wish {
    name: String,
    expression: Expression,
    label: String,
}

/// Runs the command.
pub fn plot(args: &Args) -> Result<(), Stop> {
    let run = Run::open(&args.run)?;
    if let Some(fate) = run.fate() {
        say(&format!("note: {fate}"));
    }
    let subjects = &run.manifest.subjects;
    let texts = if args.signals.is_empty() { default_signals(&run)? } else { args.signals.clone() };
    let mut wishes = Vec::new();
    for text in &texts {
        for (text, label) in expand(text, subjects) {
            let expression =
                Expression::parse(&text, subjects).map_err(|error| Stop::Usage(format!("`{text}`: {error}")))?;
            let label = label.unwrap_or_else(|| axis_label(&text, &expression, subjects));
            wishes.push(Wish { name: text, expression, label });
        }
    }
    let mut wanted = Wanted::none(subjects);
    wishes.iter().for_each(|wish| wish.expression.mark(&mut wanted));
    let recording = run.recording(wanted)?;
    if recording.time.is_empty() {
        return Err(Stop::Usage(format!("nothing is recorded in {} yet", args.run.display())));
    }
    let panels = panels(&wishes, &recording, args)?;
    let (marks, mark_label) = if args.no_events { Default::default() } else { marks(&recording) };
    let figure = Figure {
        title: title(&run),
        subtitle: format!("{}  tippe {}", args.run.display(), run.manifest.tippe),
        marks,
        mark_label,
        size: args.size.unwrap_or((1200, 100 + 240 * u32::try_from(panels.len().clamp(2, 20)).unwrap_or(2))),
        panels,
    };
    let out = args.out.clone().unwrap_or_else(|| args.run.join("plot.png"));
    figure.save(&out).map_err(Stop::Resource)?;
    say(&format!("wrote {}", out.display()));
    Ok(())
}

fn title(run: &Run) -> String {
    let scene = &run.manifest.scene;
    let title = Scene::parse(&scene.name, &scene.text, &run.manifest.sets).map(|scene| scene.title).unwrap_or_default();
    if title.is_empty() { scene.name.clone() } else { title }
}

/// The coordinate along which the first bodies move most, and the ledger.
fn default_signals(run: &Run) -> Result<Vec<String>, Stop> {
    let subjects = &run.manifest.subjects;
    let moving = subjects.bodies.iter().enumerate().filter(|(_, body)| body.mass > 0.0).map(|(k, _)| k);
    let first: Vec<usize> = moving.take(DEFAULT_BODIES).collect();
    let mut wanted = Wanted::none(subjects);
    first.iter().for_each(|&k| wanted.bodies[k] = true);
    let recording = run.recording(wanted)?;
    let travel = |axis: &Axis| {
        let along = |state: &BodyState| Quantity::Position(*axis).of(state);
        let span = |k: &usize| {
            let positions = || recording.motion[*k].iter().map(along);
            positions().fold(f64::NEG_INFINITY, f64::max) - positions().fold(f64::INFINITY, f64::min)
        };
        first.iter().map(span).fold(0.0, f64::max)
    };
    let axes = [Axis::Z, Axis::X, Axis::Y];
    let best = axes.iter().copied().reduce(|best, axis| if travel(&axis) > travel(&best) { axis } else { best });
    let name = Quantity::Position(best.unwrap_or(Axis::Z)).name();
    let mut signals: Vec<String> = first.iter().map(|&k| format!("{}.{name}", subjects.bodies[k].name)).collect();
    signals.push("energy".to_owned());
    Ok(signals)
}

/// `energy` is the ledger and its residual, `ball.position` its components, `hinge` all its signals; anything else is itself. With each the label
/// of the panel it belongs to, where that does not follow from its unit.
fn expand(text: &str, subjects: &Subjects) -> Vec<(String, Option<String>)> {
    if text == "energy" && subjects.body("energy").is_none() {
        let drawn = |a: &&Account| !matches!(a, Account::Initial | Account::Residual);
        let account = |a: &Account| (format!("energy.{}", a.name()), Some("energy [J]".to_owned()));
        let mut all: Vec<_> = Account::STORED.iter().filter(drawn).map(account).collect();
        all.push(("energy.residual".to_owned(), Some("residual [J]".to_owned())));
        return all;
    }
    let names: Vec<String> = Quantity::STORED.iter().map(|quantity| quantity.name()).collect();
    let vector = subjects.bodies.iter().find_map(|body| {
        let quantity = text.strip_prefix(body.name.as_str())?.strip_prefix('.')?;
        let parts: Vec<String> = (names.iter())
            .filter(|name| name.rsplit_once('.').is_some_and(|(vector, _)| vector == quantity))
            .map(|name| format!("{}.{name}", body.name))
            .collect();
        (!parts.is_empty()).then_some(parts)
    });
    let part = |name: &&str| name.strip_prefix(text).is_some_and(|rest| rest.starts_with('.'));
    let signals = subjects.signals.iter().map(|signal| signal.name.as_str());
    let parts: Vec<String> = signals.filter(part).map(str::to_owned).collect();
    let parts = if parts.is_empty() { vec![text.to_owned()] } else { parts };
    vector.unwrap_or(parts).into_iter().map(|text| (text, None)).collect()
}

/// `position [m]` for one signal, `[unit]` or nothing for more.
fn axis_label(text: &str, expression: &Expression, subjects: &Subjects) -> String {
    let Some(unit) = expression.unit(subjects) else { return String::new() };
    let words: Vec<&str> = text.rsplit('.').collect();
    let quantity = match words[..] {
        ["x" | "y" | "z" | "w", quantity, ..] | [quantity, ..] => quantity.replace('_', " "),
        [] => String::new(),
    };
    if text.starts_with("energy.") { "energy [J]".to_owned() } else { format!("{quantity} [{unit}]") }
}

/// Curves with one label share a panel. Ledger entries that stay zero are left out.
fn panels(wishes: &[Wish], recording: &Recording, args: &Args) -> Result<Vec<Panel>, Stop> {
    let mut panels: Vec<Panel> = Vec::new();
    for wish in wishes {
        let series = wish.expression.series(recording);
        let series = series.map_err(|error| Stop::Usage(format!("`{}`: {error}", wish.name)))?;
        let asked = args.signals.contains(&wish.name);
        if wish.name.starts_with("energy.")
            && !asked
            && wish.name != "energy.residual"
            && series.iter().all(|x| *x == 0.0)
        {
            continue;
        }
        let from = args.from.unwrap_or(f64::NEG_INFINITY);
        let to = args.to.unwrap_or(f64::INFINITY);
        let points = recording.time.iter().copied().zip(series).filter(|(t, _)| (from..=to).contains(t)).collect();
        let curve = Curve { name: wish.name.clone(), points };
        match panels.iter_mut().find(|panel| panel.label == wish.label) {
            Some(panel) => panel.curves.push(curve),
            None => panels.push(Panel { label: wish.label.clone(), curves: vec![curve] }),
        }
    }
    Ok(panels)
}

/// Times at which a contact, a stop or a new structure began, and which of these there are.
fn marks(recording: &Recording) -> (Vec<f64>, String) {
    let kinds = [(EventKind::ContactStart, "contact"), (EventKind::StopStart, "stop"), (EventKind::Change, "change")];
    let events = |kind: EventKind| recording.events.iter().filter(move |event| event.kind == kind);
    let mut times: Vec<f64> = kinds.iter().flat_map(|(kind, _)| events(*kind)).map(|event| event.time).collect();
    times.sort_by(f64::total_cmp);
    let words = kinds.iter().filter(|(kind, _)| events(*kind).next().is_some()).map(|(_, word)| *word);
    (times, words.collect::<Vec<_>>().join(", "))
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let parse = |text: &str| text.trim().parse::<u32>().ok().filter(|n| (200..=8000).contains(n));
    match text.split_once('x').map(|(w, h)| (parse(w), parse(h))) {
        Some((Some(w), Some(h))) => Ok((w, h)),
        _ => Err("the form is WIDTHxHEIGHT, both from 200 to 8000".to_owned()),
    }
}
