//! The `tippe` command: text for people goes to stderr, data to stdout, and the exit code says how it went. Another program has it
//! as a function: [`answer`] hands over the data, and the error with its kind.

#![allow(non_snake_case)] // poses are capital letters, as in CONVENTIONS.md

pub mod args;
mod ask;
mod bench;
mod check;
mod compare;
mod contact;
mod convert;
mod end_states;
mod equilibrium;
mod explain;
mod figure;
mod fmu;
mod gallery;
mod inputs;
mod landscape;
mod linearize;
mod list;
mod materials;
mod modes;
mod new;
mod pace;
mod picture;
mod plot;
mod progress;
mod rerun;
mod run;
mod soil;
mod table;
mod tyre;
mod view;

pub use ask::answer;
use clap::{Parser, Subcommand};
use std::borrow::Cow;
use std::ffi::OsString;
use std::io::Write;
use std::sync::OnceLock;

/// An open simulator for machines that touch things.
#[derive(Parser)]
#[command(name = "tippe", version, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Start with `tippe list`, then `tippe view bouncing_ball`, then `tippe run` it and `tippe plot` the folder it names.
Exit codes: 0 ok, 1 usage, 2 scene error, 3 simulation failure, 4 resource limit, 5 expectation not met.";

#[derive(Subcommand)]
enum Command {
    /// Simulate a scene and leave a run folder behind
    Run(run::Args),
    /// Validate scenes and check what they expect of their runs
    Check(check::Args),
    /// Run both clocks on a scene: where they part, how far apart they are before, which step meets a target
    Compare(compare::Args),
    /// Show the scenes that come with the program
    List(list::Args),
    /// Show runs, or a scene that runs now, in the browser
    View(view::Args),
    /// Draw signals of a run as PNG or SVG
    Plot(plot::Args),
    /// Explain a scene, the scene file, a material (`materials`: all of them), a contact law, a friction law, an event, a setting, a signal, the clocks, an analysis or an exit code
    Explain(explain::Args),
    /// Repeat a run from its manifest and verify that every bit is the same
    Rerun(rerun::Args),
    /// Show what two materials imply for an impact: stiffness, depth, duration, force, step size
    Contact(contact::Args),
    /// Find the pose in which a scene can rest, what its joints carry there, and whether it is stable
    Equilibrium(equilibrium::Args),
    /// Linearise a scene at an instant: A, B, C, D, frequencies, damping
    Linearize(linearize::Args),
    /// Show how a flexible body of a scene bends by itself: frequencies, damping, what its interfaces do
    Modes(modes::Modes),
    /// Fill a closed surface with elements, or check a mesh of elements
    Mesh(modes::MeshArgs),
    /// Show what soft ground does to plates, wheels, tyres and tracks
    Soil(soil::Args),
    /// Show the forces of a tyre file at given slips
    Tyre(tyre::Args),
    /// Make functional mock-up units (FMI 2.0 and 3.0) of scenes, run those of others
    #[command(subcommand)]
    Fmu(fmu::Command),
    /// Convert mesh files, solids of scenes, and scenes between TOML and JSON
    Convert(convert::Args),
    /// Time scenes, with accuracy next to time
    Bench(bench::Args),
    /// Write a commented scene to start from
    New(new::Args),
    /// Write a page with a picture for every scene, made from runs
    Gallery(gallery::Args),
}

/// Why the command ends without success; the number is the exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// 1: the command line makes no sense.
    Usage(String),
    /// 2: a scene is wrong.
    Scene(String),
    /// 3: a simulation failed, or a repeated one differs.
    Simulation(String),
    /// 4: no space, memory or permission for the results.
    Resource(String),
    /// 5: an expectation was not met.
    Expectation(String),
    /// 128 + number: a signal asked to stop, and the run stopped in good order.
    Signal(i32),
}

impl Stop {
    /// Exit code of the command.
    pub fn code(&self) -> u8 {
        match self {
            Stop::Usage(_) => 1,
            Stop::Scene(_) => 2,
            Stop::Simulation(_) => 3,
            Stop::Resource(_) => 4,
            Stop::Expectation(_) => 5,
            Stop::Signal(number) => 128_u8.saturating_add(u8::try_from(*number).unwrap_or(0)),
        }
    }

    /// What to tell the user; empty after a signal.
    pub fn message(&self) -> &str {
        match self {
            Stop::Usage(text)
            | Stop::Scene(text)
            | Stop::Simulation(text)
            | Stop::Resource(text)
            | Stop::Expectation(text) => text,
            Stop::Signal(_) => "",
        }
    }
}

impl From<tippe::scene::SceneErrors> for Stop {
    fn from(errors: tippe::scene::SceneErrors) -> Stop {
        Stop::Scene(errors.to_string())
    }
}

impl From<tippe::clock::Failure> for Stop {
    fn from(failure: tippe::clock::Failure) -> Stop {
        Stop::Simulation(failure.to_string())
    }
}

impl From<tippe::run::RunError> for Stop {
    fn from(error: tippe::run::RunError) -> Stop {
        match error {
            tippe::run::RunError::Write { .. } => Stop::Resource(error.to_string()),
            tippe::run::RunError::Read { .. }
            | tippe::run::RunError::Layout { .. }
            | tippe::run::RunError::OtherScene { .. }
            | tippe::run::RunError::OtherSettings { .. }
            | tippe::run::RunError::Occupied(_)
            | tippe::run::RunError::Held(_) => Stop::Usage(error.to_string()),
        }
    }
}

/// The command line as typed, for manifests.
static WORDS: OnceLock<Vec<String>> = OnceLock::new();

fn words() -> Vec<String> {
    WORDS.get().cloned().unwrap_or_default()
}

/// Runs a command line, the program's name first, and returns the exit code.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    let typed = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
    // A process has one command line.
    let _ = WORDS.set(["tippe".to_owned()].into_iter().chain(typed).collect());
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, not errors. A closed terminal is nobody to tell.
            let _ = error.print();
            return u8::from(error.use_stderr());
        }
    };
    match execute(cli.command) {
        Ok(()) => 0,
        Err(stop) => {
            if !stop.message().is_empty() {
                say(&format!("error: {}", stop.message()));
            }
            stop.code()
        }
    }
}

fn execute(command: Command) -> Result<(), Stop> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Check(args) => check::check(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::List(args) => list::list(&args),
        Command::View(args) => view::view(&args),
        Command::Plot(args) => plot::plot(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Rerun(args) => rerun::rerun(&args),
        Command::Bench(args) => bench::bench(&args),
        Command::Equilibrium(args) => equilibrium::run(&args),
        Command::Linearize(args) => linearize::run(&args),
        Command::Contact(args) => contact::contact(&args),
        Command::Modes(args) => modes::modes(&args),
        Command::Mesh(args) => modes::mesh(&args),
        Command::Soil(args) => soil::soil(&args),
        Command::Tyre(args) => tyre::tyre(&args),
        Command::Fmu(command) => fmu::fmu(&command),
        Command::Convert(args) => convert::convert(&args),
        Command::New(args) => new::new(&args),
        Command::Gallery(args) => gallery::run(&args),
    }
}

/// A text without what a terminal takes for an order: titles and names come from files of others.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let order = |c: char| {
        let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        turns || (c.is_control() && !matches!(c, '\n' | '\t'))
    };
    // the ends of lines of a file of Windows
    let text = if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) };
    if text.contains(order) { Cow::Owned(text.replace(order, "\u{fffd}")) } else { text }
}

/// A line for people, on stderr.
pub(crate) fn say(text: &str) {
    if ask::asked() {
        return;
    }
    // Nobody listens any more when this fails.
    let _ = writeln!(std::io::stderr(), "{}", plain(text));
}

/// Data, on stdout. A reader that has seen enough (`tippe list | head`) is no error.
pub(crate) fn print(text: &str) -> Result<(), Stop> {
    if ask::keep(text) {
        return Ok(());
    }
    match writeln!(std::io::stdout(), "{}", plain(text)) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Stop::Resource(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// One JSON object, on stdout.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Stop> {
    let text = serde_json::to_string_pretty(value);
    print(&text.map_err(|error| Stop::Resource(format!("cannot write JSON: {error}")))?)
}
