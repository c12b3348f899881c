//! What drives a vehicle: parts from the engine to the last shaft. A part has a shaft of its own and an element that joins it to the shaft
//! of what drives it; a differential joins the two shafts, or wheels, that name it. Shafts begin with the rates at which the wheels turn them.

use super::super::node::{Entry, Value};
use super::super::reader::{Fields, Reader};
use super::lay::pairs;
use super::{Laid, format, lines};
use std::f64::consts::FRAC_1_PI;
use tippe_geometry::Vec3;

/// Keys of a part that its element does not know.
const OWN: [&str; 16] = [
    "name",
    "kind",
    "from",
    "at_shaft",
    "carrier",
    "at",
    "axis",
    "inertia",
    "mass",
    "speed",
    "up",
    "down",
    "shift_pause",
    "outputs",
    "swash_rate",
    "full_at",
];
/// Time in which a swash plate follows where its rate is not at its limit [s].
const SWASH_TIME: f64 = 0.02;
/// Retarders give all from this speed where nothing is said [rad/s].
const FULL_AT: f64 = 20.0;

/// A shaft.
#[derive(Clone, Debug)]
pub(super) struct Shaft {
    pub name: String,
    pub carrier: String,
    pub axis: Vec3,
    pub inertia: f64,
    pub mass: f64,
    pub at: Vec3,
    /// At the start [rad/s].
    pub speed: f64,
}

/// A part of the driveline.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub name: String,
    pub kind: String,
    pub from: Option<String>,
    pub at_shaft: Option<String>,
    pub shaft: Shaft,
    /// Rate of the shaft at the start where it is written [rad/s].
    speed: Option<f64>,
    /// Ratios: of its gears, or the one it has.
    pub ratios: Vec<f64>,
    /// Throttle and speed at which it shifts up, and down.
    map: [Vec<[f64; 2]>; 2],
    pause: f64,
    outputs: Vec<String>,
    swash_rate: Option<f64>,
    torque_max: f64,
    /// Torque of a lock-up clutch [N m].
    lock_up: Option<f64>,
    retards: [f64; 2],
    entries: Vec<Entry>,
    place: super::Place,
}

/// All parts.
#[derive(Debug, Default)]
pub(super) struct Chain {
    pub parts: Vec<Part>,
    /// Gear in which the shafts turn at the start, from 1.
    gear: usize,
}

impl Chain {
    fn part(&self, name: &str) -> Option<&Part> {
        self.parts.iter().find(|part| part.name == name || part.outputs.iter().any(|output| output == name))
    }

    /// Name of the shaft that a part drives others with.
    fn shaft<'a>(&'a self, name: &'a str) -> &'a str {
        match self.part(name) {
            Some(Part { at_shaft: Some(other), .. }) => self.shaft(other),
            // a differential is driven by the shaft before it
            Some(Part { kind, from: Some(from), .. }) if kind == "differential" || kind == "retarder" => {
                self.shaft(from)
            }
            _ => name,
        }
    }

    /// Those that a part drives.
    fn driven<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Part> + Clone + 'a {
        self.parts.iter().filter(move |part| part.from.as_deref() == Some(name))
    }

    /// The engine, or the first motor.
    pub fn root(&self) -> Option<&Part> {
        let of = |kind: &str| self.parts.iter().find(|part| part.kind == kind);
        of("engine").or(of("electric_motor"))
    }

    /// Ratio of the shaft that drives a part over the part's own.
    fn ratio(&self, part: &Part) -> f64 {
        match part.kind.as_str() {
            "gearbox" => part.ratios.get(self.gear - 1).or(part.ratios.last()).copied().unwrap_or(1.0),
            "differential" | "shaft" => part.ratios.first().copied().unwrap_or(1.0),
            _ => 1.0,
        }
    }

    /// Rate at which the wheels turn the shaft of a part, or the input of a differential [rad/s].
    fn rate(&self, laid: &Laid, name: &str, depth: usize) -> f64 {
        let part = self.part(name);
        if let Some(speed) = part.and_then(|part| part.speed) {
            return speed;
        }
        if depth > self.parts.len() {
            return 0.0;
        }
        let wheels = laid.wheels.iter().filter(|wheel| wheel.from.as_deref() == Some(name));
        let tracks = laid.tracks.iter().filter(|track| track.from.as_deref() == Some(name));
        let ends = wheels
            .map(|wheel| wheel.ratio * wheel.rolls(laid.speed))
            .chain(tracks.map(|track| track.ratio * track.rolls(laid.speed)));
        let is_differential = part.is_some_and(|part| part.kind == "differential");
        let parts = self.driven(name).filter(|part| part.kind != "hydrostatic").map(|part| {
            let own = self.rate(laid, &part.name, depth + 1);
            if is_differential || part.kind == "differential" { own } else { self.ratio(part) * own }
        });
        let rates: Vec<f64> = ends.chain(parts).collect();
        match (is_differential, part) {
            (true, Some(part)) => self.ratio(part) * rates.iter().sum::<f64>() / rates.len().max(1) as f64,
            _ => rates.first().copied().unwrap_or(0.0),
        }
    }

    /// Inertia of all that turns with a shaft and behind it, reduced to it [kg m^2]; of a differential at its input.
    pub fn reduced(&self, laid: &Laid, name: &str, depth: usize) -> f64 {
        if depth > self.parts.len() {
            return 0.0;
        }
        let part = self.part(name);
        let is_differential = part.is_some_and(|part| part.kind == "differential");
        let own = part.filter(|_| !is_differential).map_or(0.0, |part| part.shaft.inertia);
        let wheels = laid.wheels.iter().filter(|wheel| wheel.from.as_deref() == Some(name));
        let tracks = laid.tracks.iter().filter(|track| track.from.as_deref() == Some(name));
        let ends = wheels
            .map(|wheel| wheel.inertia / (wheel.ratio * wheel.ratio))
            .chain(tracks.map(|track| track.inertia / (track.ratio * track.ratio)));
        let parts = self.driven(name).map(|part| {
            let ratio = if is_differential || part.kind == "differential" { 1.0 } else { self.ratio(part) };
            self.reduced(laid, &part.name, depth + 1) / (ratio * ratio)
        });
        let behind: f64 = ends.chain(parts).sum();
        match (is_differential, part) {
            (true, Some(part)) => behind / (self.ratio(part) * self.ratio(part)),
            _ => own + behind,
        }
    }
}

impl Laid {
    pub(super) fn read_chain(&mut self, reader: &mut Reader<'_>, fields: &Fields<'_>) -> Chain {
        let gear = reader.number(fields, "start_gear").unwrap_or(1.0).max(1.0) as usize;
        let mut chain = Chain { parts: Vec::new(), gear };
        if let Some(list) = fields.get("part") {
            for item in reader.items(list, "part") {
                let Some(own) = self.table(reader, item, &format::PART, "part") else { continue };
                chain.parts.extend(self.part(reader, &own));
            }
        }
        self.check_chain(reader, &chain);
        if reader.errors.is_empty() {
            let rates: Vec<f64> = chain.parts.iter().map(|part| chain.rate(self, &part.name, 0)).collect();
            for (part, rate) in chain.parts.iter_mut().zip(rates) {
                part.shaft.speed = rate;
            }
        }
        chain
    }

    fn part(&self, reader: &mut Reader<'_>, own: &Fields<'_>) -> Option<Part> {
        let name = reader.text(own, "name")?.to_owned();
        let kind = match own.get("kind").map(|node| &node.value) {
            Some(Value::Text(text)) => text.text.clone(),
            _ => String::new(),
        };
        let Some(spec) = format::PART.kinds.iter().find(|spec| spec.word == kind) else {
            let help = format!("one of {}", format::PART.words().collect::<Vec<_>>().join(", "));
            reader.error(own.place_of("kind"), format!("{}: kind \"{kind}\" is unknown", own.what), help);
            return None;
        };
        for entry in own.entries {
            let known = format::PART.shared().any(|key| key.name == entry.key) || spec.key(&entry.key).is_some();
            if !known {
                let help = super::did_you_mean(&entry.key, spec.keys().map(|key| key.name));
                reader.error(entry.place, format!("{}: a {kind} has no key `{}`", own.what, entry.key), help);
            }
        }
        let carrier = reader.text(own, "carrier").unwrap_or("chassis").to_owned();
        self.known_body(reader, own, "carrier", &carrier);
        let center = self.bodies.iter().find(|body| body.name == carrier).map_or(Vec3::ZERO, |body| body.center);
        let number = |reader: &mut Reader<'_>, key: &str| {
            let has = own.table.key(key).is_some() && own.get(key).is_some();
            if has { reader.number(own, key) } else { None }
        };
        let mut ratios = self.numbers(reader, own, "ratios");
        ratios.extend(number(reader, "ratio"));
        if ratios.contains(&0.0) {
            reader.error(
                own.place,
                format!("{} has a ratio of zero", own.what),
                "a ratio is the rate of the input over that of the output",
            );
        }
        let texts = |reader: &mut Reader<'_>, key| super::super::read::names(reader, own, key);
        let shaft = Shaft {
            name: name.clone(),
            carrier,
            axis: reader.direction(own, "axis").unwrap_or(Vec3::X),
            inertia: number(reader, "inertia").unwrap_or(0.02),
            mass: number(reader, "mass").unwrap_or(2.0),
            at: reader.vec3(own, "at").unwrap_or(center),
            speed: 0.0,
        };
        Some(Part {
            from: reader.text(own, "from").map(str::to_owned),
            at_shaft: reader.text(own, "at_shaft").map(str::to_owned),
            shaft,
            // that of an electric motor is what it is asked for
            speed: if kind == "electric_motor" { None } else { number(reader, "speed") },
            ratios,
            map: ["up", "down"].map(|key| pairs(reader, own, key)),
            pause: number(reader, "shift_pause").unwrap_or(1.0),
            outputs: texts(reader, "outputs"),
            swash_rate: number(reader, "swash_rate"),
            torque_max: number(reader, "torque_max").unwrap_or(0.0),
            lock_up: number(reader, "lock_up"),
            retards: if kind == "retarder" {
                [number(reader, "capacity").unwrap_or(0.0), number(reader, "full_at").unwrap_or(FULL_AT)]
            } else {
                [0.0; 2]
            },
            entries: own.entries.to_vec(),
            place: own.place,
            name,
            kind,
        })
    }

    fn numbers(&self, reader: &mut Reader<'_>, own: &Fields<'_>, key: &str) -> Vec<f64> {
        match own.get(key).map(|node| &node.value) {
            Some(Value::List(items)) => {
                items.iter().filter_map(|item| reader.quantity(item, &own.what)).map(|q| q.value).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whoever is driven is driven by a part that there is, nobody by itself, and differentials have two outputs.
    fn check_chain(&self, reader: &mut Reader<'_>, chain: &Chain) {
        let what = |name: &str| format!("vehicle \"{}\": {name}", self.name);
        let names =
            || chain.parts.iter().flat_map(|part| std::iter::once(&part.name).chain(&part.outputs)).map(String::as_str);
        let wheels = self.wheels.iter().map(|wheel| (wheel.name.as_str(), wheel.from.as_deref()));
        let tracks = self.tracks.iter().map(|track| (track.name.as_str(), track.from.as_deref()));
        let parts = chain.parts.iter().flat_map(|part| {
            [(part.name.as_str(), part.from.as_deref()), (part.name.as_str(), part.at_shaft.as_deref())]
        });
        for (name, from) in parts.chain(wheels).chain(tracks) {
            let Some(from) = from.filter(|from| chain.part(from).is_none()) else { continue };
            let help = super::did_you_mean(from, names());
            reader.error(self.place, format!("{} is driven by \"{from}\", which is no part", what(name)), help);
        }
        for (k, part) in chain.parts.iter().enumerate() {
            if chain.parts[..k].iter().any(|other| other.name == part.name) {
                reader.error(
                    part.place,
                    format!("{} is there twice", what(&part.name)),
                    "every part has a name of its own",
                );
            }
            let before = |name: &str| chain.part(name).and_then(|part| part.from.as_deref());
            let mut at = part.from.as_deref();
            for _ in 0..chain.parts.len() {
                at = at.and_then(|name| if name == part.name { Some(name) } else { before(name) });
            }
            if at == Some(part.name.as_str()) {
                reader.error(
                    part.place,
                    format!("{} is driven by itself: parts in a circle", what(&part.name)),
                    "a driveline begins at an engine or a motor",
                );
                return;
            }
            let is_root = part.kind == "engine" || part.kind == "electric_motor";
            if part.from.is_none() && !is_root && part.at_shaft.is_none() {
                reader.error(
                    part.place,
                    format!("{} is driven by nothing", what(&part.name)),
                    "say from which part, such as from = \"engine\"",
                );
            }
            if part.kind == "differential" {
                let wheels = self.wheels.iter().filter(|wheel| wheel.from.as_ref() == Some(&part.name));
                let wheels =
                    wheels.count() + self.tracks.iter().filter(|t| t.from.as_ref() == Some(&part.name)).count();
                let shafts = chain.driven(&part.name);
                let outputs = wheels + shafts.clone().count();
                if outputs != 2 {
                    let help = "two wheels, tracks or shafts name it: from = ...";
                    reader.error(
                        part.place,
                        format!("{} is a differential with {outputs} outputs", what(&part.name)),
                        help,
                    );
                }
                for other in shafts.filter(|other| other.kind != "shaft") {
                    let help = "put a part of kind \"shaft\" between them";
                    reader.error(
                        other.place,
                        format!("{} is a {} on a differential", what(&other.name), other.kind),
                        help,
                    );
                }
            }
        }
    }

    pub(super) fn lay_chain(&mut self, reader: &mut Reader<'_>, chain: Chain) {
        for part in &chain.parts {
            let from_differential =
                part.from.as_deref().and_then(|from| chain.part(from)).is_some_and(|from| from.kind == "differential");
            let mut torque = String::new();
            if let Some(node) = part.entries.iter().find(|entry| entry.key == "torque" && part.kind == "shaft") {
                torque = format!("motor = {{ kind = \"torque\", value = \"{}\" }}\n", self.equation_of(&node.node));
            }
            let has_shaft = !matches!(part.kind.as_str(), "differential" | "retarder") && part.at_shaft.is_none();
            if has_shaft && part.outputs.is_empty() {
                self.shaft(reader, &part.shaft, &torque);
            }
            for output in &part.outputs {
                let speed = chain.rate(self, output, 0);
                self.shaft(reader, &Shaft { name: output.clone(), speed, ..part.shaft.clone() }, "");
            }
            if !(from_differential && part.kind == "shaft") {
                self.element(reader, &chain, part);
            }
        }
        let wheels: Vec<_> =
            self.wheels.iter().map(|wheel| (wheel.name.clone(), wheel.from.clone(), wheel.ratio)).collect();
        let tracks: Vec<_> =
            self.tracks.iter().map(|track| (track.name.clone(), track.from.clone(), track.ratio)).collect();
        for (name, from, ratio) in wheels.into_iter().chain(tracks) {
            let Some(from) = from else { continue };
            if chain.part(&from).is_some_and(|part| part.kind == "differential") {
                continue;
            }
            let text = format!(
                "name = \"{}\"\nkind = \"gearbox\"\nshafts = [\"{}_shaft\", \"{}_spin\"]\nratios = [{ratio:?}]\ngear = 1\n",
                self.own(&format!("{name}_drive")),
                self.own(chain.shaft(&from)),
                self.own(&name),
            );
            self.put(reader, "force", &text, Vec::new());
        }
        self.tree.text = super::tree::written(self, &chain);
    }

    /// The outputs of a differential: joints of the wheels, tracks or shafts that name it.
    fn outputs(&self, chain: &Chain, name: &str) -> Vec<String> {
        let wheels = self.wheels.iter().filter(|wheel| wheel.from.as_deref() == Some(name));
        let tracks = self.tracks.iter().filter(|track| track.from.as_deref() == Some(name));
        let spins = wheels.map(|wheel| &wheel.name).chain(tracks.map(|track| &track.name));
        let shafts = chain.driven(name).map(|part| self.own(&format!("{}_shaft", part.name)));
        spins.map(|spin| self.own(&format!("{spin}_spin"))).chain(shafts).collect()
    }

    /// The element of a part.
    fn element(&mut self, reader: &mut Reader<'_>, chain: &Chain, part: &Part) {
        let (name, kind) = (self.own(&part.name), part.kind.as_str());
        let shaft = |laid: &Laid, name: &str| format!("\"{}_shaft\"", laid.own(chain.shaft(name)));
        let from = part.from.as_deref().map_or(String::new(), |from| shaft(self, from));
        let own = shaft(self, &part.name);
        let has = |key: &str| part.entries.iter().any(|entry| entry.key == key);
        let mut but = OWN.to_vec();
        let (mut more, mut shafts, mut word) = (String::new(), format!("{from}, {own}"), kind);
        let mut default = |key: &str, value: String| {
            if !has(key) {
                more += &format!("{key} = \"{value}\"\n");
            }
        };
        match kind {
            "engine" => {
                shafts = own;
                if !has("governor") {
                    default("throttle", self.own("throttle"));
                }
                default("starter", self.own("starter"));
            }
            "electric_motor" => {
                shafts = own;
                but.retain(|key| *key != "speed");
                if !has("speed") {
                    default("torque", format!("({:?})*{}", part.torque_max, self.own("throttle")));
                }
            }
            "clutch" => default("engagement", format!("1 - {}", self.own("clutch_pedal"))),
            "converter" => {
                but.extend(["lock_up", "locks"]);
                self.lock_up(reader, part, &shafts);
            }
            "gearbox" => {
                if !part.map[0].is_empty() {
                    self.shift_map(reader, chain, part);
                    let lever = self.own("gear");
                    but.push("gear");
                    more += &format!("gear = \"if({lever} > 0.5, {name}_map.gear, {lever})\"\n");
                } else {
                    default("gear", self.own("gear"));
                }
            }
            "differential" => {
                let outputs = self.outputs(chain, &part.name);
                shafts = std::iter::once(from)
                    .chain(outputs.iter().map(|o| format!("\"{o}\"")))
                    .collect::<Vec<_>>()
                    .join(", ");
                default("locked", self.own("lock"));
            }
            "hydrostatic" => {
                let outputs = if part.outputs.is_empty() { vec![part.name.clone()] } else { part.outputs.clone() };
                let outputs = outputs.iter().map(|output| format!("\"{}_shaft\"", self.own(output)));
                shafts = std::iter::once(from).chain(outputs).collect::<Vec<_>>().join(", ");
                if let Some(rate) = part.swash_rate {
                    self.swash(reader, part, rate);
                    but.push("swash");
                    more += &format!("swash = \"{name}_plate.x\"\n");
                }
            }
            "shaft" => {
                word = "gearbox";
                but.extend(["ratio", "torque"]);
                let ratio = part.ratios.first().copied().unwrap_or(1.0);
                more += &format!("ratios = [{ratio:?}]\ngear = 1\n");
            }
            _ => {
                word = "brake";
                shafts = part.at_shaft.as_deref().map_or(from, |on| shaft(self, on));
                but.push("applied");
                more += &self.retards(part, shafts.trim_matches('"'));
            }
        }
        let text = format!("name = \"{name}\"\nkind = \"{word}\"\nshafts = [{shafts}]\n{more}");
        let passed = self.passed(&part.entries, &but);
        self.put(reader, "force", &text, passed);
    }

    /// How far a retarder is applied, `shaft` the joint it is on.
    fn retards(&self, part: &Part, shaft: &str) -> String {
        let applied = part.entries.iter().find(|entry| entry.key == "applied");
        let applied = applied.map_or("1".to_owned(), |entry| self.equation_of(&entry.node));
        format!("applied = \"max(0, min(1, {applied}))*min(1, abs({shaft}.speed)/{:?})\"\n", part.retards[1])
    }

    /// The clutch that locks a converter up.
    fn lock_up(&mut self, reader: &mut Reader<'_>, part: &Part, shafts: &str) {
        let Some(capacity) = part.lock_up else { return };
        let locks = part.entries.iter().find(|entry| entry.key == "locks");
        let locks = locks.map_or("0".to_owned(), |entry| self.equation_of(&entry.node));
        let text = format!(
            "name = \"{}_lock\"\nkind = \"clutch\"\nshafts = [{shafts}]\ncapacity = {capacity:?}\nengagement = \"{locks}\"\n",
            self.own(&part.name)
        );
        self.put(reader, "force", &text, Vec::new());
    }

    /// The shift map of a gearbox that shifts by itself: it goes by the speed of its input in its gear, so that slip does not shift.
    fn shift_map(&mut self, reader: &mut Reader<'_>, chain: &Chain, part: &Part) {
        let name = self.own(&part.name);
        let n = part.ratios.len();
        // i of gear g: nested from the last one
        let ratio =
            part.ratios.iter().enumerate().rev().fold(String::new(), |rest, (k, ratio)| match rest.is_empty() {
                true => format!("{ratio:?}"),
                false => format!("if(gear < {:?}, {ratio:?}, {rest})", k as f64 + 1.5),
            });
        let [up, down] = [&part.map[0], &part.map[1]].map(|points| lines("throttle", points));
        let pause = part.pause;
        let text = format!(
            "name = \"{name}_map\"\ninputs = {{ w = \"{name}_shaft.speed\", throttle = \"{}\", now = \"t\" }}\nstates = {{ gear = {}, last = {:?} }}\n\
             let = {{ input = \"w*{ratio}\", ready = \"now - last - {pause:?}\" }}\nder = {{ gear = \"0\", last = \"0\" }}\noutputs = {{ input_speed = \"input\" }}\n\
             [[crossing]]\nwhen = \"min(input - ({up}), {:?} - gear, ready)\"\nset = {{ gear = \"gear + 1\", last = \"now\" }}\n\
             [[crossing]]\nwhen = \"min(({down}) - input, gear - 1.5, ready)\"\nset = {{ gear = \"gear - 1\", last = \"now\" }}\n",
            self.own("throttle"),
            chain.gear,
            -pause,
            n as f64 - 0.5,
        );
        self.put(reader, "component", &text, Vec::new());
    }

    /// A swash plate that follows at a limited rate.
    fn swash(&mut self, reader: &mut Reader<'_>, part: &Part, rate: f64) {
        let asked = part.entries.iter().find(|entry| entry.key == "swash");
        let asked = asked.map_or("1".to_owned(), |entry: &Entry| self.equation_of(&entry.node));
        let text = format!(
            "name = \"{}_plate\"\ninputs = {{ asked = \"{asked}\" }}\nstates = {{ x = 0 }}\nder = {{ x = \"max(-({rate:?}), min({rate:?}, (asked - x)/{SWASH_TIME:?}))\" }}\n",
            self.own(&part.name)
        );
        self.put(reader, "component", &text, Vec::new());
    }
}

/// rpm of a rate in rad/s.
pub(super) const RPM: f64 = 30.0 * FRAC_1_PI;
