//! `tippe fmu`: scenes as functional mock-up units, and units of others.

use crate::args::Source;
use crate::gallery::portrait;
use crate::{Stop, print, say};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tippe::scene::Clock;
use tippe_doors::export::unit;
use tippe_doors::library::library;
use tippe_doors::plan::{Package, Wishes};
use tippe_units::description::{Causality, Foreign};
use tippe_units::drive::{self, Drive};
use tippe_units::process::{Process, Unpacked};
use tippe_units::wire::Ask;
use tippe_units::{ImportError, Version, platform, worker};

/// What to do with units.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Write a scene as a functional mock-up unit: Model Exchange and Co-Simulation in one file
    Export(Export),
    /// Check a unit of others: archive, description, library
    Check(Check),
    /// Simulate a unit of others in a process of its own
    Run(Run),
    /// The process of a unit of others; `tippe fmu run` starts it
    #[command(hide = true)]
    Worker {
        /// Socket of the program that started it
        socket: PathBuf,
    },
}

/// Arguments of `tippe fmu check`.
#[derive(clap::Args)]
pub struct Check {
    /// The unit, a .fmu file
    unit: PathBuf,
}

/// Arguments of `tippe fmu run`.
#[derive(clap::Args)]
pub struct Run {
    /// The unit, a .fmu file
    unit: PathBuf,
    /// Model Exchange (me) or Co-Simulation (cs); by default the latter where it is offered
    #[arg(long, value_name = "KIND", value_parser = ["me", "cs"])]
    kind: Option<String>,
    /// Simulated time to reach [s]; by default that of the unit, or 1
    #[arg(long, value_name = "SECONDS", value_parser = crate::args::seconds)]
    until: Option<f64>,
    /// Time between communication points [s]; by default that of the unit, or a hundredth of the run
    #[arg(long, value_name = "SECONDS", value_parser = crate::args::seconds)]
    step: Option<f64>,
    /// Relative tolerance
    #[arg(long, value_name = "NUMBER", value_parser = crate::args::tolerance)]
    tolerance: Option<f64>,
    /// Give a variable a value before the start
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = crate::args::assignment)]
    sets: Vec<(String, String)>,
    /// Variables to record, separated by semicolons; by default all outputs
    #[arg(long, value_name = "NAMES", value_delimiter = ';')]
    outputs: Option<Vec<String>>,
    /// Longest time a call may take [s]
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = crate::args::seconds)]
    timeout: f64,
    /// Write all rows as CSV; without it the last one is printed
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Arguments of `tippe fmu export`.
#[derive(clap::Args)]
pub struct Export {
    /// Scene file, or name of a scene that comes with the program
    scene: String,
    /// File to write; by default the scene's name with .fmu
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Version of the standard
    #[arg(long, value_name = "VERSION", default_value = "2.0", value_parser = ["2.0", "3.0"])]
    fmi: String,
    /// Only Model Exchange (me), or only Co-Simulation (cs); by default both where the scene allows it
    #[arg(long, value_name = "KIND", value_parser = ["me", "cs"])]
    kind: Option<String>,
    /// Clock of Co-Simulation: precise or realtime; by default the scene's
    #[arg(long, value_name = "NAME", value_parser = crate::args::clock)]
    clock: Option<Clock>,
    /// Inputs, separated by semicolons; by default all signals that are given
    #[arg(long, value_name = "NAMES", value_delimiter = ';')]
    inputs: Option<Vec<String>>,
    /// Outputs, any signals, separated by semicolons; by default motions of bodies and signals of the model
    #[arg(long, value_name = "NAMES", value_delimiter = ';')]
    outputs: Option<Vec<String>>,
    /// Parameters, separated by semicolons; by default all of [params]
    #[arg(long, value_name = "NAMES", value_delimiter = ';')]
    parameters: Option<Vec<String>>,
    /// Give a parameter of the scene another value
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = crate::args::assignment)]
    sets: Vec<(String, String)>,
    /// Relative tolerance of the precise clock
    #[arg(long, value_name = "NUMBER", value_parser = crate::args::tolerance)]
    tolerance: Option<f64>,
    /// Step of the realtime clock [s]
    #[arg(long, value_name = "SECONDS", value_parser = crate::args::seconds)]
    step: Option<f64>,
}

/// Runs the command.
pub fn fmu(command: &Command) -> Result<(), Stop> {
    match command {
        Command::Export(args) => export(args),
        Command::Check(args) => check(args),
        Command::Run(args) => run(args),
        Command::Worker { socket } => worker::work(socket).map_err(Stop::Usage),
    }
}

/// What a unit of others did wrong: before it runs it is a wrong file, then a failure of a simulation.
fn stop(error: ImportError) -> Stop {
    match error {
        ImportError::Call { .. } => Stop::Simulation(error.to_string()),
        _ => Stop::Scene(error.to_string()),
    }
}

/// Opens a unit and has its library loaded, one process for each kind it offers.
fn check(args: &Check) -> Result<(), Stop> {
    let unit = Unpacked::open(&args.unit).map_err(stop)?;
    let own = unit.description.clone();
    let version = if own.version == Version::Two { "2.0" } else { "3.0" };
    let reals = own.variables.iter().filter(|variable| variable.real).count();
    print(&format!(
        "{}: FMI {version}, model \"{}\" by {}\n{} variables, {reals} of them real; {} states, {} event indicators",
        args.unit.display(),
        own.name,
        if own.tool.is_empty() { "an unknown tool" } else { &own.tool },
        own.variables.len(),
        own.states.len(),
        own.indicators
    ))?;
    drop(unit);
    for (offered, exchange, name) in
        [(own.exchange.is_some(), true, "Model Exchange"), (own.co_simulation.is_some(), false, "Co-Simulation")]
    {
        if !offered {
            print(&format!("{name}: not offered"))?;
            continue;
        }
        let unit = Unpacked::open(&args.unit).map_err(stop)?;
        let mut process = Process::start(unit, exchange, Duration::from_secs(10)).map_err(stop)?;
        process.ask(Ask::Prepare, "enter initialization mode", &[], &[f64::NAN, own.start]).map_err(stop)?;
        process.ask(Ask::Begin, "exit initialization mode", &[], &[]).map_err(stop)?;
        let outputs: Vec<usize> = recorded(&own, &None)?;
        process.get(&outputs).map_err(stop)?;
        print(&format!("{name}: initialised, {} outputs read", outputs.len()))?;
    }
    Ok(())
}

/// Variables to record: those named, or all outputs.
fn recorded(own: &Foreign, named: &Option<Vec<String>>) -> Result<Vec<usize>, Stop> {
    let Some(named) = names(named) else {
        let outputs =
            own.variables.iter().enumerate().filter(|(_, own)| own.real && own.causality == Causality::Output);
        return Ok(outputs.map(|(k, _)| k).collect());
    };
    named.iter().map(|name| real(own, name)).collect()
}

/// A real variable by name.
fn real(own: &Foreign, name: &str) -> Result<usize, Stop> {
    let k = own.find(name).map_err(Stop::Usage)?;
    if own.variables[k].real {
        Ok(k)
    } else {
        Err(Stop::Usage(format!("\"{name}\" is no real number; only these are read and given")))
    }
}

fn run(args: &Run) -> Result<(), Stop> {
    let unit = Unpacked::open(&args.unit).map_err(stop)?;
    let own = unit.description.clone();
    let exchange = match args.kind.as_deref() {
        Some(kind) => kind == "me",
        None => own.co_simulation.is_none(),
    };
    let until = args.until.or(own.stop).unwrap_or(own.start + 1.0);
    let step = args.step.or(own.step).filter(|step| *step > 0.0).unwrap_or(0.01 * (until - own.start));
    if !(until > own.start && until.is_finite()) || (until - own.start) / step > 1e7 {
        return Err(Stop::Usage(format!(
            "a run from {} s to {until} s in steps of {step} s cannot be made",
            own.start
        )));
    }
    let mut sets = Vec::new();
    for (name, text) in &args.sets {
        let k = real(&own, name)?;
        if matches!(own.variables[k].causality, Causality::Output | Causality::Independent) {
            return Err(Stop::Usage(format!(
                "\"{name}\" is an output of the unit, it cannot be given. help: give a parameter or an input"
            )));
        }
        let value: f64 = text.parse().map_err(|_| Stop::Usage(format!("--set {name}={text}: a number is needed")))?;
        sets.push((k, value));
    }
    let wanted = recorded(&own, &args.outputs)?;
    let mut process = Process::start(unit, exchange, Duration::from_secs_f64(args.timeout)).map_err(stop)?;
    let tolerance = args.tolerance.or(own.tolerance).unwrap_or(1e-6);
    let drive = Drive { until, step, tolerance, named: args.tolerance.is_some(), sets, wanted: wanted.clone() };
    let began = Instant::now();
    let shown = drive::run(&mut process, &drive, exchange).map_err(stop)?;
    let wall = began.elapsed().as_secs_f64();
    let head: Vec<&str> = wanted.iter().map(|k| own.variables[*k].name.as_str()).collect();
    if let Some(path) = &args.out {
        let mut text = format!(
            "time,{}\n",
            head.iter().map(|name| format!("\"{}\"", name.replace('"', "'"))).collect::<Vec<_>>().join(",")
        );
        for (time, row) in &shown.rows {
            let numbers: Vec<String> = row.iter().map(|value| format!("{value:?}")).collect();
            text += &format!("{time:?},{}\n", numbers.join(","));
        }
        std::fs::write(path, text)
            .map_err(|error| Stop::Resource(format!("cannot write {}: {error}", path.display())))?;
    } else if let Some((time, row)) = shown.rows.last() {
        let mut text = format!("time = {time:?} s");
        for (name, (k, value)) in head.iter().zip(wanted.iter().zip(row)) {
            text += &format!("\n{name} = {value:?} {}", own.variables[*k].unit);
        }
        print(&text)?;
    }
    let kind = if exchange { "Model Exchange" } else { "Co-Simulation" };
    let calls = process.asked;
    say(&format!(
        "{kind}: {} steps, {} events, {} rows in {wall:.2} s; {calls} calls, {:.1} us each",
        shown.steps,
        shown.events.len(),
        shown.rows.len(),
        1e6 * wall / calls.max(1) as f64
    ));
    Ok(())
}

fn names(list: &Option<Vec<String>>) -> Option<Vec<String>> {
    let clean =
        |own: &Vec<String>| own.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    list.as_ref().map(clean)
}

fn export(args: &Export) -> Result<(), Stop> {
    let source = Source::find(&args.scene)?;
    let wishes = Wishes {
        clock: args.clock,
        three: args.fmi == "3.0",
        kind: args.kind.clone(),
        parameters: names(&args.parameters),
        inputs: names(&args.inputs),
        outputs: names(&args.outputs),
        sets: args.sets.clone(),
        tolerance: args.tolerance,
        step: args.step,
    };
    if platform().is_none() {
        let [system, machine] = [std::env::consts::OS, std::env::consts::ARCH];
        return Err(Stop::Usage(format!("FMI has no name for the platform {system} on {machine}")));
    }
    let (package, notes) = Package::new(&source.name, &source.file, &source.text, &wishes).map_err(Stop::Scene)?;
    notes.iter().for_each(|note| say(&format!("note: {note}")));
    let path = library().map_err(Stop::Resource)?;
    let bytes =
        std::fs::read(&path).map_err(|error| Stop::Resource(format!("cannot read {}: {error}", path.display())))?;
    let picture = portrait(&package.scene, &package.model).map_err(Stop::Resource)?;
    let archive = unit(&package, bytes, Some(picture)).map_err(|error| Stop::Resource(error.to_string()))?;
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.fmu", source.name)));
    std::fs::write(&out, &archive)
        .map_err(|error| Stop::Resource(format!("cannot write {}: {error}", out.display())))?;
    let plan = &package.plan;
    let kinds = match (plan.model_exchange, plan.co_simulation) {
        (true, true) => format!("Model Exchange and Co-Simulation ({})", plan.clock),
        (true, false) => "Model Exchange".to_owned(),
        _ => format!("Co-Simulation ({})", plan.clock),
    };
    say(&format!(
        "{}: FMI {}, {kinds}; {} parameters, {} inputs, {} outputs, {:.1} MB",
        out.display(),
        args.fmi,
        plan.parameters.len(),
        plan.inputs.len(),
        plan.outputs.len(),
        archive.len() as f64 / 1e6
    ));
    Ok(())
}
