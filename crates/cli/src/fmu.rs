//! `tippe fmu`: scenes as functional mock-up units, and units of others.

use crate::args::Source;
use crate::{Stop, say};
use std::path::PathBuf;
use tippe::scene::Clock;
use tippe_doors::export::{platform, unit};
use tippe_doors::library::library;
use tippe_doors::plan::{Package, Wishes};

/// What to do with units.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Write a scene as a functional mock-up unit: Model Exchange and Co-Simulation in one file
    Export(Export),
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
    }
}

fn names(list: &Option<Vec<String>>) -> Option<Vec<String>> {
    let clean = |own: &Vec<String>| own.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
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
    let bytes = std::fs::read(&path).map_err(|error| Stop::Resource(format!("cannot read {}: {error}", path.display())))?;
    let archive = unit(&package, bytes, None).map_err(|error| Stop::Resource(error.to_string()))?;
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.fmu", source.name)));
    std::fs::write(&out, &archive).map_err(|error| Stop::Resource(format!("cannot write {}: {error}", out.display())))?;
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
