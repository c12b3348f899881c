//! Tyre files (`.tir`): lines `NAME = VALUE`, `[SECTIONS]`, comments after `$` or `!`. Names count, sections and case do not. The model is
//! that of PROPERTY_FILE_FORMAT: MF_05, PAC2002, MF-TYRE and the like, PAC89 and PAC94, FIALA; and LINEAR and COMPOSITE, which are ours.

use super::{Carcass, Composite, Fiala, Linear, MagicFormula, MagicFormula89, Model, Numbers, Tyre};
use std::collections::BTreeMap;

/// A tyre file as read.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The tyre.
    pub tyre: Tyre,
    /// What the file leaves out or has beyond what is known, in words.
    pub notes: Vec<String>,
}

/// Names that tyre files have and that say nothing to these models.
const UNUSED: &[&str] = &[
    "FILE_TYPE",
    "FILE_VERSION",
    "FILE_FORMAT",
    "FORCE",
    "MASS",
    "TIME",
    "ANGLE",
    "FUNCTION_NAME",
    "USER_SUB_ID",
    "USE_MODE",
    "TYRESIDE",
    "TYPE",
    "SYMMETRY",
    "VXLOW",
    "VYLOW",
    "N_TIRE_STATES",
    "MFSAFE1",
    "MFSAFE2",
    "MFSAFE3",
    "ASPECT_RATIO",
    "RIM_RADIUS",
    "RIM_WIDTH",
    "BOTTOMING_RADIUS",
    "BOTTOM_STIFF",
    "BOTTOM_OFFST",
    "BOTTOM_TRNSF",
    "BOTTOM_TRANSITION",
    "KPUMIN",
    "KPUMAX",
    "ALPMIN",
    "ALPMAX",
    "CAMMIN",
    "CAMMAX",
    "FZMIN",
    "FZMAX",
    "PRESMIN",
    "PRESMAX",
    "IXX",
    "IYY",
    "IZZ",
    "BELT_MASS",
    "GRAVITY",
    "M_A",
    "M_B",
    "LONGITUDINAL_STIFFNESS",
    "LATERAL_STIFFNESS",
    "YAW_STIFFNESS",
    "FREQ_LONG",
    "FREQ_LAT",
    "FREQ_YAW",
    "FREQ_WINDUP",
    "DAMP_LONG",
    "DAMP_LAT",
    "DAMP_YAW",
    "DAMP_WINDUP",
    "LCZ",
    "LMUV",
    "LGYR",
    "QTZ1",
    "MBELT",
    "FITTYP",
    "MFVERSION",
    "UNITS",
    "HMAX_LOCAL",
    "TIME_SWITCH_INTEG",
    "SWITCH_INTEG",
    "ROAD_INCREMENT",
    "ROAD_DIRECTION",
    "PROPERTY_FILE_FORMAT",
];
/// At most so many names are told.
const MOST_NAMES: usize = 12;

/// The names of a file with their values, and what was asked for.
struct Names {
    values: BTreeMap<String, String>,
    asked: Vec<String>,
    left_out: Vec<String>,
}

impl Names {
    fn of(text: &str) -> Result<Names, String> {
        let mut values = BTreeMap::new();
        for (k, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = line.split(['$', '!']).next().unwrap_or("").trim();
            let Some((name, value)) = line.split_once('=') else { continue };
            let (name, value) = (name.trim().to_ascii_uppercase(), value.trim().trim_matches(['\'', '"']).trim());
            if name.is_empty() || value.is_empty() {
                return Err(format!("line {}: a name or a value is missing in \"{line}\"", k + 1));
            }
            values.insert(name, value.to_owned());
        }
        Ok(Names { values, asked: Vec::new(), left_out: Vec::new() })
    }

    fn word(&mut self, name: &str) -> Option<String> {
        self.asked.push(name.to_owned());
        self.values.get(name).cloned()
    }

    fn find(&mut self, name: &str) -> Result<Option<f64>, String> {
        let Some(text) = self.word(name) else { return Ok(None) };
        let value: f64 = text.parse().map_err(|_| format!("{name} = {text} is not a number"))?;
        if value.is_finite() { Ok(Some(value)) } else { Err(format!("{name} = {text} is not a finite number")) }
    }

    /// A number, with what it is where it is left out; told if so.
    fn number(&mut self, name: &str, default: f64) -> Result<f64, String> {
        Ok(self.find(name)?.unwrap_or_else(|| {
            self.left_out.push(format!("{name} (taken as {default})"));
            default
        }))
    }

    fn positive(&mut self, name: &str, default: f64) -> Result<f64, String> {
        let value = self.number(name, default)?;
        if value > 0.0 { Ok(value) } else { Err(format!("{name} = {value} must be greater than zero")) }
    }

    fn not_negative(&mut self, name: &str, default: f64) -> Result<f64, String> {
        let value = self.find(name)?.unwrap_or(default);
        if value >= 0.0 { Ok(value) } else { Err(format!("{name} = {value} must not be less than zero")) }
    }

    /// Numbers PREFIX0, PREFIX1, ..., zero where left out.
    fn row<const N: usize>(&mut self, prefix: &str) -> Result<[f64; N], String> {
        let mut row = [0.0; N];
        for (k, value) in row.iter_mut().enumerate() {
            *value = self.find(&format!("{prefix}{k}"))?.unwrap_or(0.0);
        }
        Ok(row)
    }

    fn notes(self) -> Vec<String> {
        let told = |names: &[String]| {
            let more = names.len().saturating_sub(MOST_NAMES);
            let first = names[..names.len() - more].join(", ");
            if more > 0 { format!("{first} and {more} more") } else { first }
        };
        let unknown: Vec<String> = self
            .values
            .keys()
            .filter(|name| !self.asked.contains(name) && !UNUSED.contains(&name.as_str()))
            .cloned()
            .collect();
        let mut notes = Vec::new();
        if !self.left_out.is_empty() {
            notes.push(format!("leaves out {}", told(&self.left_out)));
        }
        if !unknown.is_empty() {
            notes.push(format!("has names that no model here knows: {}", told(&unknown)));
        }
        notes
    }
}

/// Reads the text of a tyre file; an error continues what the file is called.
pub fn read(text: &str) -> Result<Read, String> {
    let mut names = Names::of(text)?;
    if let Some(unit) = names.word("LENGTH")
        && !["m", "meter", "metre", "meters"].contains(&unit.to_ascii_lowercase().as_str())
    {
        return Err(format!("LENGTH = {unit}: only files in metres, newtons and radians are read; convert it"));
    }
    let format = names.word("PROPERTY_FILE_FORMAT").map(|word| word.to_ascii_uppercase());
    let format = match format {
        Some(format) => format,
        None if names.values.contains_key("PCX1") || names.values.contains_key("FITTYP") => "MF".to_owned(),
        None => {
            let text = "no PROPERTY_FILE_FORMAT says which model it is: MF_05, PAC89, FIALA, LINEAR or COMPOSITE";
            return Err(text.to_owned());
        }
    };
    let carcass = carcass(&mut names)?;
    let model = match format.as_str() {
        "LINEAR" => linear(&mut names)?,
        "FIALA" => fiala(&mut names, carcass.width)?,
        "COMPOSITE" => composite(&mut names)?,
        "PAC89" | "PAC94" | "MF89" | "MF94" => Model::MagicFormula89(Box::new(MagicFormula89 {
            across: names.row("A")?,
            along: names.row("B")?,
            torque: names.row("C")?,
        })),
        word if word.starts_with("MF") || word.starts_with("PAC") || word.starts_with("DELFT") => {
            magic_formula(&mut names, &carcass)?
        }
        other => {
            return Err(format!(
                "PROPERTY_FILE_FORMAT = {other} is no known model; known are MF_05, PAC2002, MF-TYRE, PAC89, PAC94, FIALA, LINEAR, COMPOSITE"
            ));
        }
    };
    Ok(Read { tyre: Tyre { carcass, model }, notes: names.notes() })
}

fn carcass(names: &mut Names) -> Result<Carcass, String> {
    let radius = names.positive("UNLOADED_RADIUS", 0.3)?;
    let effective = [names.find("BREFF")?, names.find("DREFF")?, names.find("FREFF")?];
    Ok(Carcass {
        radius,
        width: names.find("WIDTH")?.unwrap_or(0.2),
        load: names.positive("FNOMIN", 4000.0)?,
        stiffness: names.positive("VERTICAL_STIFFNESS", 2e5)?,
        damping: names.not_negative("VERTICAL_DAMPING", 500.0)?,
        rolling_radius: if let [Some(b), Some(d), Some(f)] = effective { Some([b, d, f]) } else { None },
        rolling: names.not_negative("ROLLING_RESISTANCE", 0.0)?,
        relaxation: [
            names.find("REL_LEN_LON")?.filter(|x| *x > 0.0).unwrap_or(radius),
            names.find("REL_LEN_LAT")?.filter(|x| *x > 0.0).unwrap_or(radius),
        ],
    })
}

fn linear(names: &mut Names) -> Result<Model, String> {
    Ok(Model::Linear(Linear {
        slip: names.positive("CSLIP", 1e5)?,
        cornering: names.positive("CALPHA", 6e4)?,
        camber: names.find("CGAMMA")?.unwrap_or(0.0),
        friction: names.find("UMAX")?.unwrap_or(f64::INFINITY),
        trail: names.find("TRAIL")?.unwrap_or(0.0),
    }))
}

fn fiala(names: &mut Names, width: f64) -> Result<Model, String> {
    Ok(Model::Fiala(Fiala {
        slip: names.positive("CSLIP", 1e5)?,
        cornering: names.positive("CALPHA", 6e4)?,
        friction: [names.positive("UMAX", 1.0)?, names.positive("UMIN", 0.7)?],
        width,
        coupled: names.find("COUPLED")? != Some(0.0),
    }))
}

fn composite(names: &mut Names) -> Result<Model, String> {
    let mut list = |found: [&str; 4]| -> Result<[f64; 4], String> {
        let mut values = [0.0; 4];
        for (value, name) in values.iter_mut().zip(found) {
            *value = names.number(name, 0.0)?;
        }
        Ok(values)
    };
    let shape = list(["C1", "C2", "C3", "C4"])?;
    let [a0, a1, a2, slip] = list(["A0", "A1", "A2", "CSFZ"])?;
    if a2 == 0.0 {
        return Err("A2 is zero or left out; the cornering stiffness is (A0 + A1 F - (A1/A2) F^2)".into());
    }
    Ok(Model::Composite(Box::new(Composite {
        width: names.positive("TW", 7.3)?,
        pressure: names.positive("TP", 24.0)?,
        design_load: names.positive("FZT", 980.0)?,
        shape,
        cornering: [a0, a1, a2],
        growth: names.find("KA")?.unwrap_or(0.0),
        slip,
        friction: names.positive("MU0", 0.85)?,
        fading: names.find("KMU")?.unwrap_or(0.0),
        camber: names.find("YG")?.unwrap_or(0.0),
        aligning: names.find("KM")?.unwrap_or(0.0),
        trail: [names.find("G1")?.unwrap_or(1.0), names.find("G2")?.unwrap_or(1.0)],
    })))
}

fn magic_formula(names: &mut Names, carcass: &Carcass) -> Result<Model, String> {
    let mut numbers = Numbers::default();
    for name in Numbers::NAMES {
        let value = match ["PDX1", "PKX1", "PDY1", "PKY1"].contains(name) {
            true => Some(names.number(name, 0.0)?),
            false => names.find(name)?,
        };
        if let (Some(value), Some(own)) = (value, numbers.named(name)) {
            *own = value;
        }
    }
    let nominal = names.find("NOMPRES")?;
    let own = [names.find("INFLPRES")?, names.find("IP")?];
    let pressure = match (nominal, own[0].or(own[1])) {
        (Some(nominal), Some(own)) if nominal > 0.0 => (own - nominal) / nominal,
        _ => 0.0,
    };
    let speed = names.find("LONGVL")?.filter(|speed| *speed > 0.0).unwrap_or(16.7);
    let (radius, load) = (carcass.radius, carcass.load);
    Ok(Model::MagicFormula(Box::new(MagicFormula { numbers, radius, load, pressure, speed })))
}
