//! `tippe tyre`: forces of a tyre file at given slips, without a scene.

use crate::table::table;
use crate::{Stop, print, print_json, say};
use serde::Serialize;
use std::path::PathBuf;
use tippe::geometry::file::regular;
use tippe::tyre::{Answer, Model, Slip, Tyre, read};

/// Values of a sweep at most.
const MOST_VALUES: usize = 100_000;

/// Arguments of `tippe tyre`.
#[derive(clap::Args)]
pub struct Args {
    /// Tyre file (.tir): PROPERTY_FILE_FORMAT says which model
    file: PathBuf,
    /// Load [N]
    #[arg(long, value_name = "N", value_parser = load, default_value = "4000", allow_hyphen_values = true)]
    fz: f64,
    /// Slip along the wheel [-]; FROM:TO:STEP for a sweep
    #[arg(long, value_name = "NUMBER", value_parser = plain, default_value = "0", allow_hyphen_values = true)]
    kappa: Sweep,
    /// Slip angle, rad or with a unit, such as 2deg; FROM:TO:STEP for a sweep
    #[arg(long, value_name = "ANGLE", value_parser = angles, default_value = "0", allow_hyphen_values = true)]
    alpha: Sweep,
    /// Camber angle, rad or with a unit
    #[arg(long, value_name = "ANGLE", value_parser = angle, default_value = "0", allow_hyphen_values = true)]
    gamma: f64,
    /// Speed along the wheel [m/s]
    #[arg(long, value_name = "M/S", value_parser = load, default_value = "16.7")]
    speed: f64,
    /// Factor of the friction of the road
    #[arg(long, value_name = "NUMBER", value_parser = load, default_value = "1")]
    grip: f64,
    /// Signs as the authors of the model have them: of PAC89 and COMPOSITE alpha and gamma count the other way; kappa of COMPOSITE is S
    #[arg(long)]
    published: bool,
    /// Each slip by itself, as tables of pure slip have it (Magic Formula 5.2 and 6.1)
    #[arg(long)]
    pure: bool,
    /// Print lines of numbers with commas between them
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print one JSON object on stdout
    #[arg(long)]
    json: bool,
}

/// Values from one to another.
#[derive(Clone, Debug)]
struct Sweep(Vec<f64>);

#[derive(Serialize)]
struct Row {
    kappa: f64,
    alpha: f64,
    fx: f64,
    fy: f64,
    mx: f64,
    my: f64,
    mz: f64,
    trail: f64,
}

#[derive(Serialize)]
struct Shown {
    load: f64,
    slip_stiffness: f64,
    cornering_stiffness: f64,
    relaxation_along: f64,
    relaxation_across: f64,
    rows: Vec<Row>,
}

/// Runs the command.
pub fn tyre(args: &Args) -> Result<(), Stop> {
    let wrong = |text: String| Stop::Usage(format!("{}: {text}", args.file.display()));
    let text =
        regular::read_text(&args.file, regular::TEXT).map_err(|error| wrong(format!("cannot read it: {error}")))?;
    let read = read(&text).map_err(wrong)?;
    for note in &read.notes {
        say(&format!("warning: {} {note}", args.file.display()));
    }
    let (kappas, alphas) = (&args.kappa.0, &args.alpha.0);
    if kappas.len().saturating_mul(alphas.len()) > MOST_VALUES {
        return Err(Stop::Usage(format!(
            "the sweeps have more than {MOST_VALUES} points together. help: take larger steps"
        )));
    }
    let points = alphas.iter().flat_map(|alpha| kappas.iter().map(|kappa| [*kappa, *alpha]));
    let rows = points.map(|point| row(&read.tyre, args, point)).collect();
    let at_rest = Slip { camber: args.gamma, load: args.fz, grip: args.grip, ..Slip::default() };
    let slopes = read.tyre.slopes(&at_rest);
    let shown = Shown {
        load: args.fz,
        slip_stiffness: slopes.slip[0],
        cornering_stiffness: slopes.slip[1],
        relaxation_along: slopes.relaxation[0],
        relaxation_across: slopes.relaxation[1],
        rows,
    };
    if args.json { print_json(&shown) } else { print_rows(&shown, args.csv) }
}

fn row(tyre: &Tyre, args: &Args, [kappa, alpha]: [f64; 2]) -> Row {
    let turned = args.published && matches!(tyre.model, Model::MagicFormula89(_) | Model::Composite(_));
    let sense = if turned { -1.0 } else { 1.0 };
    let is_share = args.published && matches!(tyre.model, Model::Composite(_));
    let slip = Slip {
        kappa: if is_share && kappa > 0.0 { kappa / (1.0 - kappa) } else { kappa },
        alpha: sense * alpha,
        camber: sense * args.gamma,
        load: args.fz,
        speed: args.speed,
        grip: args.grip,
    };
    let Answer { force: [fx, fy], overturning: mx, aligning: mz, trail, rolling } =
        if args.pure { tyre.pure(&slip) } else { tyre.answer(&slip) };
    Row { kappa, alpha, fx, fy, mx, my: -rolling, mz, trail }
}

fn print_rows(shown: &Shown, csv: bool) -> Result<(), Stop> {
    let names = ["kappa", "alpha", "fx", "fy", "mx", "my", "mz", "trail"];
    let cells = |row: &Row| [row.kappa, row.alpha, row.fx, row.fy, row.mx, row.my, row.mz, row.trail];
    if csv {
        let lines = shown.rows.iter().map(|row| cells(row).map(|x| x.to_string()).join(","));
        return print(&std::iter::once(names.join(",")).chain(lines).collect::<Vec<_>>().join("\n"));
    }
    print(&format!(
        "load {} N, slip stiffness {:.8e} N, cornering stiffness {:.8e} N/rad, relaxation lengths {:.6} m along and {:.6} m across\n",
        shown.load, shown.slip_stiffness, shown.cornering_stiffness, shown.relaxation_along, shown.relaxation_across
    ))?;
    let units = ["-", "rad", "N", "N", "N m", "N m", "N m", "m"];
    let heads: Vec<String> = names.iter().zip(units).map(|(name, unit)| format!("{name} [{unit}]")).collect();
    let head: Vec<(&str, bool)> = heads.iter().map(|head| (head.as_str(), true)).collect();
    let digits = |x: f64| if x == 0.0 { "0".to_owned() } else { format!("{x:.6}") };
    let rows: Vec<Vec<String>> = shown.rows.iter().map(|row| cells(row).map(digits).to_vec()).collect();
    print(&table(&head, &rows))
}

fn number(text: &str) -> Result<f64, String> {
    let value: f64 = text.trim().parse().map_err(|_| format!("\"{text}\" is not a number"))?;
    if value.is_finite() { Ok(value) } else { Err(format!("{text} is not a finite number")) }
}

fn load(text: &str) -> Result<f64, String> {
    let value = number(text)?;
    if value >= 0.0 { Ok(value) } else { Err(format!("{text} is less than zero; a road only pushes")) }
}

fn angle(text: &str) -> Result<f64, String> {
    match text.trim().strip_suffix("deg") {
        Some(degrees) => Ok(number(degrees)?.to_radians()),
        None => number(text.trim().strip_suffix("rad").unwrap_or(text)),
    }
}

fn plain(text: &str) -> Result<Sweep, String> {
    sweep(text, number)
}

fn angles(text: &str) -> Result<Sweep, String> {
    sweep(text, angle)
}

fn sweep(text: &str, value: fn(&str) -> Result<f64, String>) -> Result<Sweep, String> {
    let parts = text.split(':').map(value).collect::<Result<Vec<f64>, String>>()?;
    match parts[..] {
        [one] => Ok(Sweep(vec![one])),
        [from, to, step] if step > 0.0 && to >= from && (to - from) / step <= MOST_VALUES as f64 => {
            let n = ((to - from) / step + 1e-9).floor() as usize;
            Ok(Sweep((0..=n).map(|k| from + step * k as f64).collect()))
        }
        _ => Err(format!("\"{text}\" is neither a value nor FROM:TO:STEP with a step above zero")),
    }
}
