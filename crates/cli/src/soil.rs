//! `tippe soil`: plates, wheels, tyres and tracks on soft ground, without a scene.

use crate::table::{number, table};
use crate::{Stop, print, print_json};
use serde::Serialize;
use std::collections::BTreeMap;
use tippe::scene::did_you_mean;
use tippe::soil::{
    Plate, Pneumatic, Pressure, RigidWheel, SOILS, Shear, Soil, SoilData, Track, Unloading, compaction,
    parabolic_sinkage,
};

/// Names of values that a soil can have.
const VALUES: [&str; 16] = [
    "n",
    "kc",
    "kphi",
    "cohesive",
    "frictional",
    "peat",
    "mat",
    "depth",
    "pressure",
    "c",
    "phi",
    "K",
    "Kr",
    "Kw",
    "k0",
    "Au",
];

/// Arguments of `tippe soil`.
#[derive(clap::Args)]
pub struct Args {
    /// Name of a soil; without one, and without `--law`, all of them
    name: Option<String>,
    /// Law of pressure and sinkage
    #[arg(long, value_enum, default_value_t = Law::Bekker)]
    law: Law,
    /// Law of shear
    #[arg(long, value_enum, default_value_t = ShearLaw::Exponential)]
    shear: ShearLaw,
    /// A value in SI, phi in degrees: n, kc, kphi of bekker; n, cohesive (c kc'), frictional (gamma kphi') of reece; peat (kp), mat (mM) of
    /// muskeg; depth (zw), pressure (pw) of snow; c, phi; K of exponential, Kr and Kw of residual, Kw of hump; k0, Au of unloading
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Width of the plate, wheel or track [m]
    #[arg(long, value_name = "METRES", value_parser = positive)]
    width: Option<f64>,
    /// Length of the plate, or of what a track has on the ground [m]
    #[arg(long, value_name = "METRES", value_parser = positive)]
    length: Option<f64>,
    /// Pressure of a plate [Pa]: how far it sinks
    #[arg(long, value_name = "PASCAL", value_parser = positive)]
    pressure: Option<f64>,
    /// Sinkage of a plate [m]: the pressure it takes
    #[arg(long, value_name = "METRES", value_parser = positive)]
    sinkage: Option<f64>,
    /// The plate was this deep before, and is loaded again [m]
    #[arg(long, value_name = "METRES", value_parser = positive, requires = "sinkage")]
    deepest: Option<f64>,
    /// Displacement of shear [m]: the share of the largest stress
    #[arg(long, value_name = "METRES", value_parser = positive)]
    sheared: Option<f64>,
    /// Weight on a wheel, or on two tracks [N]
    #[arg(long, value_name = "N", value_parser = positive)]
    weight: Option<f64>,
    /// Radius of a wheel [m]
    #[arg(long, value_name = "METRES", value_parser = positive)]
    radius: Option<f64>,
    /// Pressure of air and carcass of a tyre [Pa]: whether it is flat or round
    #[arg(long, value_name = "PASCAL", value_parser = positive, requires = "radius")]
    inflation: Option<f64>,
    /// Slip [-], below zero of a braked wheel
    #[arg(long, value_name = "NUMBER", value_parser = slip, default_value = "0.2", allow_hyphen_values = true)]
    slip: f64,
    /// Where the pressure on a wheel is largest: c1,c2 in (c1 + c2 slip) times the angle of entry
    #[arg(long, value_name = "C1,C2", value_delimiter = ',', default_values_t = [0.4, 0.2])]
    peak: Vec<f64>,
    /// Print one JSON object on stdout
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Law {
    Bekker,
    Reece,
    Muskeg,
    Snow,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum ShearLaw {
    Exponential,
    Residual,
    Hump,
}

/// A quantity, its value, and its unit.
type Line = (&'static str, f64, &'static str);

#[derive(Serialize)]
struct Shown {
    what: &'static str,
    value: f64,
    unit: &'static str,
}

/// What is known of the soil, by name.
struct Values(BTreeMap<String, f64>);

impl Values {
    fn of(args: &Args) -> Result<Values, Stop> {
        let mut values = BTreeMap::new();
        if let Some(name) = &args.name {
            let Some(known) = SOILS.iter().find(|soil| soil.name == name) else {
                let help = did_you_mean(name, SOILS.iter().map(|soil| soil.name));
                return Err(Stop::Usage(format!("there is no soil \"{name}\". help: {help}")));
            };
            let SoilData { numbers: [n, kc, kphi, c, phi, K], .. } = known;
            let own =
                [("n", *n), ("kc", 1e3 * kc), ("kphi", 1e3 * kphi), ("c", 1e3 * c), ("phi", *phi), ("K", 0.01 * K)];
            values.extend(own.map(|(name, value)| (name.to_owned(), value)));
        }
        for change in &args.set {
            let wrong = |why: String| Stop::Usage(format!("--set {change}: {why}"));
            let (name, text) = change.split_once('=').ok_or_else(|| wrong("not NAME=VALUE".into()))?;
            let name = name.trim();
            if !VALUES.contains(&name) {
                return Err(wrong(format!("no value of that name. help: {}", did_you_mean(name, VALUES))));
            }
            let value = finite(text).map_err(&wrong)?;
            let may_be_zero = ["kc", "kphi", "cohesive", "frictional", "mat", "c", "phi", "k0", "Au"].contains(&name);
            if value < 0.0 || value == 0.0 && !may_be_zero || name == "phi" && value >= 90.0 {
                return Err(wrong(format!("{value} is out of range")));
            }
            values.insert(name.to_owned(), value);
        }
        Ok(Values(values))
    }

    fn get(&self, name: &str) -> Result<f64, Stop> {
        let lacks = || Stop::Usage(format!("it needs `{name}`. help: --set {name}=..., or the name of a soil"));
        self.0.get(name).copied().ok_or_else(lacks)
    }

    fn shear(&self, law: ShearLaw) -> Result<Shear, Stop> {
        Ok(match law {
            ShearLaw::Exponential => Shear::Exponential(self.get("K")?),
            ShearLaw::Residual => Shear::Residual { share: self.get("Kr")?, peak: self.get("Kw")? },
            ShearLaw::Hump => Shear::Hump(self.get("Kw")?),
        })
    }

    /// Cohesion and shear count under a weight only.
    fn soil(&self, args: &Args) -> Result<Soil, Stop> {
        let pressure = match args.law {
            Law::Bekker => Pressure::Bekker { kc: self.get("kc")?, kphi: self.get("kphi")?, n: self.get("n")? },
            Law::Reece => Pressure::Reece {
                cohesive: self.get("cohesive")?,
                frictional: self.get("frictional")?,
                n: self.get("n")?,
            },
            Law::Muskeg => Pressure::Muskeg { peat: self.get("peat")?, mat: self.get("mat")? },
            Law::Snow => Pressure::Snow { depth: self.get("depth")?, pressure: self.get("pressure")? },
        };
        let (shear, [c, phi]) = match args.weight {
            Some(_) if args.inflation.is_none() => (self.shear(args.shear)?, [self.get("c")?, self.get("phi")?]),
            _ => (Shear::Exponential(1.0), [0.0; 2]),
        };
        Ok(Soil { pressure, shear, cohesion: c, friction: phi.to_radians() })
    }
}

/// Runs the command.
pub fn soil(args: &Args) -> Result<(), Stop> {
    if args.name.is_none() && args.set.is_empty() {
        return all();
    }
    let values = Values::of(args)?;
    let lines = lines(args, &values)?;
    if args.json {
        return print_json(&lines.iter().map(|&(what, value, unit)| Shown { what, value, unit }).collect::<Vec<_>>());
    }
    let rows = lines.iter().map(|(what, value, unit)| vec![(*what).to_owned(), exact(*value), (*unit).to_owned()]);
    print(&table(&[("what", false), ("value", true), ("unit", false)], &rows.collect::<Vec<_>>()))
}

/// What is asked of a plate, a wheel, a tyre or two tracks.
fn lines(args: &Args, values: &Values) -> Result<Vec<Line>, Stop> {
    if let Some(j) = args.sheared {
        return Ok(vec![("share of the largest stress", values.shear(args.shear)?.at(j), "-")]);
    }
    let soil = values.soil(args)?;
    let width = || args.width.ok_or_else(|| Stop::Usage("it needs --width [m]".into()));
    let plate = |width| Plate { width, length: args.length.unwrap_or(f64::INFINITY) };
    match (args.pressure, args.sinkage, args.weight) {
        (Some(p), ..) => Ok(vec![("sinkage", soil.pressure.sinkage(p, &plate(width()?)), "m")]),
        (_, Some(z), _) => {
            let plate = plate(width()?);
            let pressure = match args.deepest.filter(|deepest| *deepest > z) {
                None => soil.pressure.at(z, &plate),
                Some(deepest) => {
                    let unloading = Unloading { k0: values.get("k0")?, growth: values.get("Au")? };
                    unloading.at(z, [deepest, soil.pressure.at(deepest, &plate)])
                }
            };
            Ok(vec![("pressure", pressure, "Pa")])
        }
        (_, _, Some(weight)) => match (args.radius, args.length) {
            (Some(radius), _) => on_wheel(args, &soil, [width()?, radius, weight]),
            (None, Some(length)) => Ok(under_tracks(&soil, Track { weight, width: width()?, length }, args.slip)),
            (None, None) => Err(Stop::Usage("--weight needs --radius of a wheel, or --length of two tracks".into())),
        },
        _ => Err(Stop::Usage("say what is asked: --pressure, --sinkage, --sheared or --weight".into())),
    }
}

fn on_wheel(args: &Args, soil: &Soil, [width, radius, weight]: [f64; 3]) -> Result<Vec<Line>, Stop> {
    let mut lines = Vec::new();
    if let Some(pressure) = args.inflation {
        let tyre = Pneumatic { width, diameter: 2.0 * radius, pressure };
        let of_bekker = || Stop::Usage("a tyre is for the law of bekker".into());
        let critical = tyre.critical(soil, weight).ok_or_else(of_bekker)?;
        let [z, flat] = tyre.sinkage(soil, weight).ok_or_else(of_bekker)?;
        let resistance = compaction(soil, width, z).ok_or_else(of_bekker)?;
        lines.extend([("critical pressure", critical, "Pa"), ("sinkage", z, "m"), ("flat length", flat, "m")]);
        lines.push(("resistance", resistance, "N"));
        return Ok(lines);
    }
    let [c1, c2] = args.peak[..] else {
        return Err(Stop::Usage("--peak takes two numbers, such as --peak 0.4,0.2".into()));
    };
    let wheel = RigidWheel { radius, width, peak: [c1, c2], leaves: 0.0 };
    let Some(on) = wheel.carrying(soil, weight, args.slip) else {
        return Err(Stop::Usage(format!("the ground does not carry {weight} N on this wheel")));
    };
    lines.extend([
        ("angle of entry", on.enters.to_degrees(), "deg"),
        ("angle of the largest pressure", on.peak.to_degrees(), "deg"),
        ("sinkage", on.sinkage, "m"),
        ("thrust", on.thrust, "N"),
        ("resistance", on.resistance, "N"),
        ("drawbar pull", on.drawbar, "N"),
        ("torque", on.torque, "N m"),
        ("largest pressure", on.pressure, "Pa"),
    ]);
    if let Some(z) = parabolic_sinkage(soil, [width, 2.0 * radius, weight]) {
        lines.push(("sinkage by the parabola", z, "m"));
        lines.extend(compaction(soil, width, z).map(|resistance| ("resistance by the parabola", resistance, "N")));
    }
    Ok(lines)
}

fn under_tracks(soil: &Soil, track: Track, slip: f64) -> Vec<Line> {
    let (thrust, resistance) = (track.thrust(soil, slip), track.resistance(soil));
    vec![
        ("sinkage", track.sinkage(soil), "m"),
        ("thrust", thrust, "N"),
        ("resistance", resistance, "N"),
        ("drawbar pull", thrust - resistance, "N"),
    ]
}

/// All soils.
fn all() -> Result<(), Stop> {
    let row = |soil: &SoilData| {
        let moisture = soil.moisture.map_or("unknown".to_owned(), number);
        let numbers = soil.numbers.map(number);
        [soil.name.to_owned(), moisture].into_iter().chain(numbers).chain([soil.source.to_owned()]).collect()
    };
    let head = [
        ("soil", false),
        ("moisture [%]", true),
        ("n", true),
        ("kc [kN/m^(n+1)]", true),
        ("kphi [kN/m^(n+2)]", true),
        ("c [kPa]", true),
        ("phi [deg]", true),
        ("K [cm]", true),
        ("from", false),
    ];
    print(&table(&head, &SOILS.iter().map(row).collect::<Vec<Vec<String>>>()))
}

/// Eight digits.
fn exact(x: f64) -> String {
    if x == 0.0 || (1e-4..1e7).contains(&x.abs()) { format!("{x:.8}") } else { format!("{x:.8e}") }
}

fn finite(text: &str) -> Result<f64, String> {
    let value: f64 = text.trim().parse().map_err(|_| format!("\"{text}\" is not a number"))?;
    if value.is_finite() { Ok(value) } else { Err(format!("{text} is not a finite number")) }
}

fn positive(text: &str) -> Result<f64, String> {
    let value = finite(text)?;
    if value > 0.0 { Ok(value) } else { Err(format!("{text} is not greater than zero")) }
}

fn slip(text: &str) -> Result<f64, String> {
    let value = finite(text)?;
    if value > -1.0 && value < 1.0 { Ok(value) } else { Err(format!("slip {text} is not between -1 and 1")) }
}
