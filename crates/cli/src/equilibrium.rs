//! `tippe equilibrium`: the pose in which a scene can rest.

use crate::args::{Options, Source};
use crate::linearize::mode_table;
use crate::table::{number, table};
use crate::{Stop, print, print_json, say};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use tippe::Equilibrium;
use tippe::scene::Clock;
use tippe::statics::{NoEquilibrium, Search, equilibrium, settled};

/// Arguments of `tippe equilibrium`.
#[derive(clap::Args)]
pub struct Args {
    /// Scene file, or name of a scene that comes with the program
    scene: String,
    /// Give a parameter of the scene another value, e.g. --set n=100 --set height="2 m"
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = crate::args::assignment)]
    sets: Vec<(String, String)>,
    /// Accelerations below this share of gravity are rest
    #[arg(long, value_name = "NUMBER", value_parser = crate::args::positive, default_value_t = Search::default().tolerance)]
    tolerance: f64,
    /// Most steps of the search
    #[arg(long, value_name = "COUNT", default_value_t = Search::default().steps)]
    steps: usize,
    /// Print one JSON object on stdout
    #[arg(long)]
    json: bool,
    /// Write a scene that starts in this pose, at rest
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    let options = Options { sets: args.sets.clone(), clock: Some(Clock::Precise), ..Options::default() };
    let prepared = Source::find(&args.scene)?.prepare(&options)?;
    let model = &prepared.model;
    let search = Search { tolerance: args.tolerance, steps: args.steps };
    let pose = equilibrium(model, &search).map_err(|error| match error {
        NoEquilibrium::Grains => Stop::Scene(error.to_string()),
        _ => Stop::Simulation(error.to_string()),
    })?;
    if let Some(path) = &args.out {
        let scene = settled(&prepared.scene, model, &pose).map_err(Stop::Scene)?;
        let written = std::fs::write(path, scene.to_toml());
        written.map_err(|error| Stop::Resource(format!("cannot write {}: {error}", path.display())))?;
    }
    if args.json {
        return print_json(&object(model, &pose));
    }
    show(model, &pose)
}

fn object(model: &tippe::Model, pose: &Equilibrium) -> Value {
    let mut bodies = Map::new();
    for (body, state) in model.bodies.iter().zip(&pose.bodies) {
        let q = state.orientation;
        let pose = json!({ "position": state.position.to_array(), "orientation": [q.w, q.x, q.y, q.z] });
        bodies.insert(body.name.clone(), pose);
    }
    let signals: Map<String, Value> =
        model.signals.iter().zip(&pose.signals).map(|(s, value)| (s.name.clone(), json!(value))).collect();
    json!({
        "stability": pose.stability,
        "residual": pose.residual,
        "steps": pose.steps,
        "bodies": bodies,
        "signals": signals,
        "modes": pose.modes,
    })
}

fn show(model: &tippe::Model, pose: &Equilibrium) -> Result<(), Stop> {
    let bodies: Vec<Vec<String>> = (model.bodies.iter().zip(&pose.bodies))
        .filter(|(body, _)| body.drive == tippe::model::Drive::Free)
        .map(|(body, state)| {
            let (p, q) = (state.position, state.orientation);
            let mut row = vec![body.name.clone()];
            row.extend([p.x, p.y, p.z, q.w, q.x, q.y, q.z].map(number));
            row
        })
        .collect();
    let head = ["body", "x [m]", "y [m]", "z [m]", "orientation w", "x", "y", "z"];
    let head: Vec<(&str, bool)> = head.iter().enumerate().map(|(k, name)| (*name, k > 0)).collect();
    print(&table(&head, &bodies))?;
    let signals: Vec<Vec<String>> = (model.signals.iter().zip(&pose.signals))
        .map(|(signal, value)| vec![signal.name.clone(), number(*value), signal.unit.clone()])
        .collect();
    if !signals.is_empty() {
        print(&format!("\n{}", table(&[("signal", false), ("value", true), ("unit", false)], &signals)))?;
    }
    if !pose.modes.is_empty() {
        print(&format!("\n{}", mode_table(&pose.modes)))?;
    }
    let word = match pose.stability {
        tippe::statics::Stability::Stable => "stable",
        tippe::statics::Stability::Neutral => "neutral: some motion meets no force",
        tippe::statics::Stability::Unstable => "unstable",
    };
    say(&format!("{word}; largest acceleration left {} m/s^2 after {} steps", number(pose.residual), pose.steps));
    Ok(())
}
