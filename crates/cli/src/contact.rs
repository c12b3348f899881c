//! `tippe contact`: what two materials imply for an impact.

use crate::args::{Source, metres, positive, speed};
use crate::table::{number, table};
use crate::{Stop, print, print_json};
use serde::Serialize;
use tippe::contact::{Impact, Implied, Solid, implied};
use tippe::material;
use tippe::scene::{Between, Scene, did_you_mean};

/// Arguments of `tippe contact`.
#[derive(clap::Args)]
pub struct Args {
    /// Material of the ball
    first: String,
    /// Material of what it hits
    second: String,
    /// Radius of the ball [m]
    #[arg(long, value_name = "METRES", value_parser = metres)]
    radius: f64,
    /// Radius of a second ball [m]; a fixed plane if left out
    #[arg(long, value_name = "METRES", value_parser = metres)]
    radius2: Option<f64>,
    /// Impact speed [m/s]
    #[arg(long, value_name = "M/S", value_parser = speed, default_value = "1")]
    speed: f64,
    /// Restitution instead of that of the pair
    #[arg(long, value_name = "NUMBER", value_parser = restitution)]
    restitution: Option<f64>,
    /// Factor on the stiffness
    #[arg(long, value_name = "NUMBER", value_parser = positive, default_value = "1")]
    k_red: f64,
    /// A scene with materials and pairs of its own: file or name
    #[arg(long, value_name = "SCENE")]
    scene: Option<String>,
    /// Print one JSON object on stdout
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Answer<'a> {
    first: &'a str,
    second: &'a str,
    speed: f64,
    friction: Option<f64>,
    #[serde(flatten)]
    implied: Implied,
}

/// Runs the command.
pub fn contact(args: &Args) -> Result<(), Stop> {
    let scene = match &args.scene {
        None => Scene::default(),
        Some(name) => {
            let source = Source::find(name)?;
            Scene::parse(&source.file, &source.text, &[])?
        }
    };
    let solids = [solid(&scene, &args.first)?, solid(&scene, &args.second)?];
    let (restitution, friction) = pair(&scene, &args.first, &args.second);
    let restitution = args.restitution.or(restitution).ok_or_else(|| {
        Stop::Usage(format!(
            "no restitution is known for materials \"{}\" and \"{}\". help: give --restitution, or a scene with that pair by --scene",
            args.first, args.second
        ))
    })?;
    let implied = implied(&Impact {
        solids,
        radius: args.radius,
        radius2: args.radius2,
        restitution,
        blend_speed: scene.contact.blend_speed.unwrap_or(tippe::contact::normal::BLEND_SPEED),
        speed: args.speed,
        k_red: args.k_red,
        gravity: if args.scene.is_some() { scene.gravity.length() } else { 9.81 },
    });
    if args.json {
        let answer = Answer { first: &args.first, second: &args.second, speed: args.speed, friction, implied };
        return print_json(&answer);
    }
    let partner = match args.radius2 {
        None => format!("a plane of {}", args.second),
        Some(r) => format!("a ball of {}, radius {} m", args.second, number(r)),
    };
    print(&format!(
        "A ball of {}, radius {} m, hits {partner} at {} m/s\n",
        args.first,
        number(args.radius),
        number(args.speed)
    ))?;
    let i = &implied;
    let rows: Vec<Vec<String>> = [
        ("reduced mass", i.mass, "kg"),
        ("effective modulus E*", i.modulus, "Pa"),
        ("stiffness K", i.stiffness, "N/m^1.5"),
        ("depth at rest", i.static_depth, "m"),
        ("depth of the impact", i.depth, "m"),
        ("duration", i.duration, "s"),
        ("peak force", i.force, "N"),
        ("restitution asked", i.restitution_asked, ""),
        ("restitution returned", i.restitution, ""),
        ("restitution fades out below", i.blend_speed, "m/s"),
        ("stays below", i.rest_speed, "m/s"),
        ("step that resolves it", i.step, "s"),
    ]
    .into_iter()
    .chain(friction.map(|mu| ("friction", mu, "")))
    .map(|(what, value, unit)| vec![what.to_owned(), number(value), unit.to_owned()])
    .collect();
    print(&table(&[("what", false), ("value", true), ("unit", false)], &rows))
}

/// A material of the scene, or a built-in one.
fn solid(scene: &Scene, name: &str) -> Result<Solid, Stop> {
    if let Some(m) = scene.materials.iter().find(|m| m.name == name) {
        return Ok(Solid { density: m.density, young: m.young, poisson: m.poisson });
    }
    if let Some(m) = material::find(name) {
        return Ok(Solid { density: m.density, young: m.young, poisson: m.poisson });
    }
    let own = scene.materials.iter().map(|m| m.name.as_str());
    let known = own.chain(material::MATERIALS.iter().map(|m| m.name));
    Err(Stop::Usage(format!("there is no material \"{name}\". help: {}", did_you_mean(name, known))))
}

/// Restitution and friction: the scene's pair, its default, the built-in pair.
fn pair(scene: &Scene, first: &str, second: &str) -> (Option<f64>, Option<f64>) {
    let of_scene = scene.pairs.iter().find(|p| match &p.between {
        Between::Materials(a, b) => (a == first && b == second) || (a == second && b == first),
        Between::Bodies(..) => false,
    });
    let built_in = scene.pair_data(first, second).map(|(pair, _)| pair);
    let own = of_scene.map(|p| &p.contact);
    (
        own.and_then(|c| c.restitution).or(scene.contact.restitution).or(built_in.and_then(|p| p.restitution)),
        own.and_then(|c| c.friction).or(scene.contact.friction).or(built_in.and_then(|p| p.friction)),
    )
}

fn restitution(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("a number from 0 to 1 is needed".to_owned()),
    }
}
