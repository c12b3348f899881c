//! `tippe linearize`: A, B, C, D and the modes of a scene at an instant.

use crate::args::{Options, Source};
use crate::table::{number, table};
use crate::{Stop, print, print_json, say};
use std::path::PathBuf;
use tippe::linear::{Eigenmode, LinearizeError, Quantity, linearize};
use tippe::scene::Clock;
use tippe::{Linearization, Settings};

/// Arguments of `tippe linearize`.
#[derive(clap::Args)]
pub struct Args {
    /// Scene file, or name of a scene that comes with the program
    scene: String,
    /// The instant: the scene is run to it first [s]
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = instant)]
    at: f64,
    /// Give a parameter of the scene another value, e.g. --set n=100 --set height="2 m"
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = crate::args::assignment)]
    sets: Vec<(String, String)>,
    /// Relative tolerance of the run to the instant
    #[arg(long, value_name = "NUMBER", value_parser = crate::args::positive)]
    tolerance: Option<f64>,
    /// Print one JSON object on stdout
    #[arg(long)]
    json: bool,
    /// Write the matrices with their names, as .json or .csv
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

fn instant(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
        _ => Err("a time that is not negative is needed".to_owned()),
    }
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    let options = Options { sets: args.sets.clone(), clock: Some(Clock::Precise), ..Options::default() };
    let prepared = Source::find(&args.scene)?.prepare(&options)?;
    let own = Settings::from_scene(&prepared.scene);
    let settings = Settings { threads: 1, tolerance: args.tolerance.unwrap_or(own.tolerance), ..own };
    let system = linearize(&prepared.model, args.at, &settings).map_err(|error| match error {
        LinearizeError::Grains => Stop::Scene(error.to_string()),
        _ => Stop::Simulation(error.to_string()),
    })?;
    if let Some(path) = &args.out {
        let text = match path.extension().and_then(|e| e.to_str()) {
            Some("json") => serde_json::to_string_pretty(&system)
                .map_err(|error| Stop::Resource(format!("cannot write JSON: {error}")))?,
            Some("csv") => csv(&system),
            _ => return Err(Stop::Usage(format!("{}: the file must end in .json or .csv", path.display()))),
        };
        let written = std::fs::write(path, text);
        written.map_err(|error| Stop::Resource(format!("cannot write {}: {error}", path.display())))?;
    }
    if args.json {
        return print_json(&system);
    }
    print(&mode_table(&system.modes))?;
    let (n, m, p) = (system.states.len(), system.inputs.len(), system.outputs.len());
    say(&format!("{n} states, {m} inputs, {p} outputs at {} s; --json or --out FILE has A, B, C, D", args.at));
    Ok(())
}

/// Eigenvalues, frequencies, damping ratios and time constants.
pub fn mode_table(modes: &[Eigenmode]) -> String {
    let rows: Vec<Vec<String>> = (modes.iter())
        .map(|m| [m.frequency, m.damping, m.time_constant, m.real, m.imaginary].map(number).to_vec())
        .collect();
    let head = ["frequency [Hz]", "damping ratio", "time constant [s]", "real [1/s]", "imaginary [rad/s]"];
    table(&head.map(|name| (name, true)), &rows)
}

/// One line for each element: matrix, row, column, value.
fn csv(system: &Linearization) -> String {
    let mut text = String::from("matrix,row,column,value\n");
    let mut add = |name: &str, matrix: &[Vec<f64>], rows: &[Quantity], columns: &[Quantity]| {
        for (row, values) in rows.iter().zip(matrix) {
            for (column, value) in columns.iter().zip(values) {
                text += &format!("{name},\"{}\",\"{}\",{value:e}\n", row.name, column.name);
            }
        }
    };
    add("A", &system.A, &system.states, &system.states);
    add("B", &system.B, &system.states, &system.inputs);
    add("C", &system.C, &system.outputs, &system.states);
    add("D", &system.D, &system.outputs, &system.inputs);
    text
}
