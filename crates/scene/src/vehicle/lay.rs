//! Bodies of a vehicle, wheels with what they hang on, and cylinders.
//!
//! A wheel hangs on its carrier by a chain of joints: travel (a slide along z, or the hinge of an arm), camber and steering where it has them, and its
//! spin. Springs begin with what stands on the wheel: of loads N_i that carry the weight at its place, sum N_i = W, sum N_i x_i = W x_c,
//! sum N_i y_i = W y_c, those of least size, N_i = a + b x_i + c y_i, as on equal springs.

use super::super::node::{Entry, Node, Value};
use super::super::reader::{Fields, Reader};
use super::{Laid, format, lines, list};
use std::f64::consts::FRAC_PI_4;
use tippe_geometry::{Mat3, Quat, Vec3};

/// Stiffness of bump stops where nothing is said [N/m^1.5].
const STOP: f64 = 2e6;
/// A kingpin leans less than this [rad].
const STEEPEST: f64 = FRAC_PI_4;
/// Inertia of a wheel across its axle over that about it [-]: between a hoop (1/2) and a cylinder as wide as its radius.
pub(super) const ACROSS: f64 = 0.6;

/// A body of a vehicle.
#[derive(Clone, Debug)]
pub(super) struct Bulk {
    pub name: String,
    pub mass: f64,
    pub inertia: Vec3,
    pub center: Vec3,
    pub size: Option<Vec3>,
    pub box_at: Vec3,
    pub material: Option<String>,
    /// How it hangs on what carries it; none of the chassis.
    pub hangs: Option<Hangs>,
}

/// How a carrier hangs.
#[derive(Clone, Debug)]
pub(super) struct Hangs {
    pub kind: String,
    pub on: String,
    pub at: Vec3,
    pub steer: f64,
    pub stiffness: f64,
    pub damping: f64,
    pub springs_at: f64,
    pub angle: f64,
}

/// A wheel.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    pub name: String,
    pub axle: String,
    pub carrier: String,
    /// Its centre in the vehicle [m].
    pub p: Vec3,
    /// 1 on the left, -1 on the right.
    pub side: f64,
    pub radius: f64,
    pub width: f64,
    pub mass: f64,
    pub inertia: f64,
    pub steered: bool,
    pub from: Option<String>,
    pub ratio: f64,
    pub brakes: [f64; 2],
    pub abs: Option<[f64; 2]>,
    pub suspension: Option<Suspension>,
    pub anti_roll: f64,
    pub tyre: Vec<Entry>,
    /// Factor of the friction of the road under it [-].
    pub grip: Option<f64>,
    /// Caster and inclination of its kingpin [rad], its trail and scrub radius [m].
    pub kingpin: [f64; 4],
    /// What stands on it [N].
    pub load: f64,
}

/// What a wheel hangs on its carrier with.
#[derive(Clone, Debug)]
pub(super) struct Suspension {
    is_arm: bool,
    stiffness: f64,
    damping: f64,
    hub_mass: f64,
    load: Option<f64>,
    stops: [Option<f64>; 2],
    stop_stiffness: f64,
    camber: Vec<[f64; 2]>,
    toe: Vec<[f64; 2]>,
    pivot: Vec3,
}

impl Wheel {
    /// Rate at which it rolls freely at speed v [rad/s]: a third of its deflection is lost (Pacejka 2012, 1.2).
    pub fn rolls(&self, v: f64) -> f64 {
        v / (self.radius - (self.radius - self.p.z).max(0.0) / 3.0)
    }
}

/// Pairs of numbers under a key, the first of each rising.
pub(super) fn pairs(reader: &mut Reader<'_>, fields: &Fields<'_>, key: &str) -> Vec<[f64; 2]> {
    let out = pairs_any(reader, fields, key);
    if let Some(two) = out.windows(2).find(|two| two[1][0] <= two[0][0]) {
        let (what, before, after) = (&fields.what, two[0][0], two[1][0]);
        let message = format!("{what}: {key} goes from {before} to {after} in its first column, which has to rise");
        reader.error(fields.place_of(key), message, "write the points in rising order, each once");
    }
    out
}

/// Pairs of numbers under a key.
pub(super) fn pairs_any(reader: &mut Reader<'_>, fields: &Fields<'_>, key: &str) -> Vec<[f64; 2]> {
    let Some(node) = fields.get(key) else { return Vec::new() };
    let what = format!("{}: {key}", fields.what);
    let mut out: Vec<[f64; 2]> = Vec::new();
    for item in reader.items(node, &what) {
        let Value::List(two) = &item.value else {
            reader.error(item.place, format!("{what} has {}, not a pair", item.what()), "such as [[0, 1], [2, 3]]");
            continue;
        };
        let numbers: Vec<f64> = two.iter().filter_map(|n| reader.quantity(n, &what)).map(|q| q.value).collect();
        if let [x, y] = *numbers {
            out.push([x, y]);
        } else if two.len() != 2 {
            reader.error(item.place, format!("{what} has {} numbers, not a pair", two.len()), "");
        }
    }
    out
}

impl Laid {
    pub(super) fn read_bodies(&mut self, reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<()> {
        let Some(chassis) = fields.get("chassis") else {
            reader.error(
                self.place,
                format!("{} has no chassis", fields.what),
                "add [vehicle.chassis] with mass and center_of_mass",
            );
            return None;
        };
        let chassis = reader.fields(chassis, &format::CHASSIS, format!("{}: chassis", fields.what))?;
        let body = self.bulk(reader, &chassis, "chassis".to_owned(), None)?;
        self.bodies.push(body);
        let Some(list) = fields.get("carrier") else { return Some(()) };
        for item in reader.items(list, "carrier") {
            let Some(own) = self.table(reader, item, &format::CARRIER, "carrier") else { continue };
            let Some(name) = reader.text(&own, "name").map(str::to_owned) else { continue };
            let text = |reader: &mut Reader<'_>, key| reader.text(&own, key).unwrap_or_default().to_owned();
            let mut on = text(reader, "on");
            if on.is_empty() {
                on = "chassis".to_owned();
            }
            self.known_body(reader, &own, "on", &on);
            let kind = text(reader, "kind");
            if !format::CARRIERS.contains(&kind.as_str()) {
                let help = format!("one of {}", format::CARRIERS.join(", "));
                reader.error(own.place_of("kind"), format!("{}: kind \"{kind}\" is unknown", own.what), help);
            }
            let hangs = Hangs {
                kind,
                on,
                at: reader.vec3(&own, "at").unwrap_or_default(),
                steer: reader.number(&own, "steer").unwrap_or(0.0),
                stiffness: reader.number(&own, "stiffness").unwrap_or(0.0),
                damping: reader.number(&own, "damping").unwrap_or(0.0),
                springs_at: reader.number(&own, "springs_at").unwrap_or(0.5),
                angle: reader.number(&own, "angle").unwrap_or(0.0),
            };
            let body = self.bulk(reader, &own, name, Some(hangs));
            self.bodies.extend(body);
        }
        Some(())
    }

    /// A table of a list of the vehicle.
    pub(super) fn table<'n>(
        &self,
        reader: &mut Reader<'_>,
        item: &'n Node,
        table: &'static super::super::format::Table,
        word: &str,
    ) -> Option<Fields<'n>> {
        let name = super::name_of(item).unwrap_or("?");
        reader.fields(item, table, format!("vehicle \"{}\": {word} \"{name}\"", self.name))
    }

    /// Says so where a body is not one of the vehicle's so far.
    pub(super) fn known_body(&self, reader: &mut Reader<'_>, fields: &Fields<'_>, key: &str, name: &str) {
        if !self.bodies.iter().any(|body| body.name == name) {
            let help = super::did_you_mean(name, self.bodies.iter().map(|body| body.name.as_str()));
            reader.error(
                fields.place_of(key),
                format!("{}: there is no carrier \"{name}\" before it", fields.what),
                help,
            );
        }
    }

    fn bulk(&self, reader: &mut Reader<'_>, own: &Fields<'_>, name: String, hangs: Option<Hangs>) -> Option<Bulk> {
        let mass = reader.number(own, "mass")?;
        let center = reader.vec3(own, "center_of_mass")?;
        let size = reader.vec3(own, "size");
        let inertia = reader.vec3(own, "inertia").or(size.map(|s| {
            let square = s * s;
            Vec3::new(square.y + square.z, square.x + square.z, square.x + square.y) * (mass / 12.0)
        }));
        let Some(inertia) = inertia else {
            reader.error(own.place, format!("{} has neither inertia nor size", own.what), "give one of them");
            return None;
        };
        let box_at = reader.vec3(own, "box_at").unwrap_or(center);
        let material = reader.text(own, "material").map(str::to_owned);
        Some(Bulk { name, mass, inertia, center, size, box_at, material, hangs })
    }

    pub(super) fn read_axles(&mut self, reader: &mut Reader<'_>, fields: &Fields<'_>) {
        self.soft =
            fields.get("soft_ground").and_then(|node| reader.entries(node, "soft_ground")).map(<[Entry]>::to_vec);
        let Some(list) = fields.get("axle") else { return };
        let common = fields.get("tyre").and_then(|node| reader.entries(node, "tyre")).unwrap_or_default().to_vec();
        for item in reader.items(list, "axle") {
            let Some(own) = self.table(reader, item, &format::AXLE, "axle") else { continue };
            let wheels = self.axle(reader, &own, &common);
            self.wheels.extend(wheels.unwrap_or_default());
        }
        self.stand();
    }

    fn axle(&self, reader: &mut Reader<'_>, own: &Fields<'_>, common: &[Entry]) -> Option<Vec<Wheel>> {
        let name = reader.text(own, "name")?.to_owned();
        let (x, track, radius) =
            (reader.number(own, "x")?, reader.number(own, "track")?, reader.number(own, "radius")?);
        let number = |reader: &mut Reader<'_>, key, left: f64| reader.number(own, key).unwrap_or(left);
        let (y, z) = (number(reader, "y", 0.0), number(reader, "height", radius));
        let carrier = reader.text(own, "carrier").unwrap_or("chassis").to_owned();
        self.known_body(reader, own, "carrier", &carrier);
        let tyre = match own.get("tyre") {
            Some(Node { value: Value::Table(entries), .. }) => entries.clone(),
            _ => common.to_vec(),
        };
        if tyre.is_empty() && self.soft.is_none() {
            let message = format!("{} has no tyre, and meets no ground", own.what);
            reader.error(own.place, message, "add tyre = { file = \"x.tir\" } here, or [vehicle.tyre] for all wheels");
        }
        let suspension = match reader.table(own, "suspension", &format::SUSPENSION) {
            Some(fields) => Some(suspension(reader, &fields)?),
            None => None,
        };
        let grips = reader.vector::<2>(own, "grip");
        if grips.is_some() && self.soft.is_some() {
            reader.error(
                own.place_of("grip"),
                format!("{} has grip on soft ground", own.what),
                "that of its soil counts",
            );
        }
        let kingpin = ["caster", "kingpin", "trail", "scrub"].map(|key| number(reader, key, 0.0));
        if kingpin[..2].iter().any(|angle| angle.abs() >= STEEPEST) {
            let message = format!("{}: its kingpin leans by 45 degrees or more", own.what);
            reader.error(own.place, message, "cars have 3 to 15 degrees: caster = \"5 deg\"");
        }
        let wheel = |reader: &mut Reader<'_>, side: f64| Wheel {
            name: if track == 0.0 {
                name.clone()
            } else {
                format!("{name}_{}", if side > 0.0 { "left" } else { "right" })
            },
            axle: name.clone(),
            carrier: carrier.clone(),
            p: Vec3::new(x, y + 0.5 * side * track, z),
            side,
            radius,
            width: number(reader, "width", 0.2),
            mass: number(reader, "mass", 20.0),
            inertia: number(reader, "inertia", 1.0),
            steered: reader.flag(own, "steered").unwrap_or(false),
            from: reader.text(own, "from").map(str::to_owned),
            ratio: number(reader, "ratio", 1.0),
            brakes: ["brake", "handbrake"].map(|key| number(reader, key, 0.0)),
            abs: reader.vector::<2>(own, "abs"),
            suspension: suspension.clone(),
            anti_roll: number(reader, "anti_roll", 0.0),
            tyre: tyre.clone(),
            grip: grips.map(|[left, right]| if side < 0.0 { right } else { left }),
            kingpin,
            load: 0.0,
        };
        Some(match track == 0.0 {
            true => vec![wheel(reader, 0.0)],
            false => vec![wheel(reader, 1.0), wheel(reader, -1.0)],
        })
    }

    /// What stands on each wheel, by the formula above.
    fn stand(&mut self) {
        let parts = self.bodies.iter().map(|body| (body.mass, body.center));
        let wheels = self.wheels.iter().map(|wheel| (wheel.mass + wheel.hub_mass(), wheel.p));
        let (mut mass, mut moment) = (0.0, Vec3::ZERO);
        for (m, p) in parts.chain(wheels) {
            mass += m;
            moment += p * m;
        }
        let mut A = Mat3::ZERO;
        for wheel in &self.wheels {
            let v = Vec3::new(1.0, wheel.p.x, wheel.p.y);
            A += Mat3::from_cols(v * v.x, v * v.y, v * v.z);
        }
        // wheels in one line carry across it what they can
        A += Mat3::IDENTITY * 1e-9;
        let abc = A.inverse() * (Vec3::new(mass, moment.x, moment.y) * self.gravity);
        for wheel in &mut self.wheels {
            wheel.load = abc.dot(Vec3::new(1.0, wheel.p.x, wheel.p.y));
        }
    }

    /// A body that moves along with the vehicle, at p in it.
    pub(super) fn body(&mut self, reader: &mut Reader<'_>, name: &str, mass: f64, inertia: Vec3, p: Vec3, more: &str) {
        let text = format!(
            "name = \"{}\"\nmass = {mass:?}\ninertia = {}\nposition = {}\norientation = {}\nvelocity = {}\n{more}",
            self.own(name),
            list(inertia),
            self.point(p),
            self.orientation(Quat::IDENTITY),
            self.direction(Vec3::X * self.speed),
        );
        self.put(reader, "body", &text, Vec::new());
    }

    /// A joint between two of its bodies.
    pub(super) fn joint(
        &mut self,
        reader: &mut Reader<'_>,
        name: &str,
        kind: &str,
        between: [&str; 2],
        p: Vec3,
        more: &str,
    ) {
        let [first, second] = between.map(|body| self.own(body));
        let text = format!(
            "name = \"{}\"\nkind = \"{kind}\"\nbodies = [\"{first}\", \"{second}\"]\nat = {}\n{more}",
            self.own(name),
            self.point(p),
        );
        self.put(reader, "joint", &text, Vec::new());
    }

    pub(super) fn lay_bodies(&mut self, reader: &mut Reader<'_>, fields: &Fields<'_>) {
        let tracks = self.tracks.clone();
        for body in self.bodies.clone() {
            let mut more = format!("center_of_mass = {}\n", list(body.center));
            if let Some(size) = body.size {
                let touches = match &body.material {
                    Some(material) => format!("material = \"{material}\""),
                    None => "collide = false".to_owned(),
                };
                let (size, at) = (list(size), list(body.box_at));
                more += &format!("shape = {{ kind = \"box\", size = {size}, position = {at}, {touches} }}\n");
            }
            let frames: Vec<String> = tracks
                .iter()
                .filter(|track| track.carrier == body.name)
                .map(|track| format!("{{ name = \"{}_contact\", position = {} }}", track.name, list(track.at)))
                .collect();
            if !frames.is_empty() {
                more += &format!("frames = [{}]\n", frames.join(", "));
            }
            // all its bodies have the vehicle's own origin
            self.body(reader, &body.name, body.mass, body.inertia, Vec3::ZERO, &more);
            if let Some(hangs) = &body.hangs {
                self.hang(reader, &body.name, hangs);
            }
        }
        let names: Vec<String> = self.bodies.iter().map(|body| self.own(&body.name)).collect();
        for (k, first) in names.iter().enumerate() {
            for second in &names[k + 1..] {
                self.put(reader, "ignore", &format!("bodies = [\"{first}\", \"{second}\"]"), Vec::new());
            }
        }
        let Some(chassis) = fields
            .get("chassis")
            .and_then(|node| reader.fields(node, &format::CHASSIS, format!("{}: chassis", fields.what)))
        else {
            return;
        };
        let area = reader.number(&chassis, "drag_area").unwrap_or(0.0);
        if area > 0.0 {
            let half = 0.5 * area * reader.number(&chassis, "air_density").unwrap_or(1.2);
            let text = format!(
                "name = \"{}\"\nkind = \"applied\"\non = \"{}\"\nresolved = \"local\"\nforce = [\"-({half:?})*vx*abs(vx)\", 0, 0]\n",
                self.own("drag"),
                self.own("chassis"),
            );
            self.put(reader, "force", &text, Vec::new());
        }
    }

    /// The joints of a carrier.
    fn hang(&mut self, reader: &mut Reader<'_>, name: &str, hangs: &Hangs) {
        let Hangs { kind, on, at, steer, stiffness, damping, angle, .. } = hangs;
        let between = [on.as_str(), name];
        let joint = format!("{name}_joint");
        let spring = |value: &str| {
            format!(
                "motor = {{ kind = \"position\", value = \"{value}\", stiffness = {stiffness:?}, damping = {damping:?} }}\n"
            )
        };
        match kind.as_str() {
            "articulation" => {
                let mut more = format!("axis = {}\n", self.direction(Vec3::Z));
                if *steer != 0.0 {
                    more += &spring(&format!("({steer:?})*{}", self.own("steer_angle")));
                }
                self.joint(reader, &joint, "revolute", between, *at, &more);
            }
            "hitch" => self.joint(reader, &joint, "spherical", between, *at, ""),
            "bogie" | "hinge" => {
                let mut more = format!("axis = {}\nangle = {angle:?}\n", self.direction(Vec3::Y));
                if *stiffness > 0.0 {
                    more += &format!("spring = {{ stiffness = {stiffness:?}, damping = {damping:?} }}\n");
                }
                self.joint(reader, &joint, "revolute", between, *at, &more);
            }
            "beam" => {
                let slide = format!("{name}_slide");
                let small = 0.02 * self.bodies.iter().find(|body| body.name == *name).map_or(1.0, |body| body.mass);
                self.body(reader, &slide, small, Vec3::splat(small), *at, "");
                let up = format!("axis = {}\n", self.direction(Vec3::Z));
                self.joint(reader, &format!("{name}_travel"), "prismatic", [on, &slide], *at, &up);
                let along = format!("axis = {}\n", self.direction(Vec3::X));
                self.joint(reader, &joint, "revolute", [&slide, name], *at, &along);
                self.springs(reader, name, hangs);
            }
            _ => self.joint(reader, &joint, "fixed", between, *at, ""),
        }
    }

    /// Two springs of a beam axle, k z and k b^2 about its length each, that carry what its wheels carry but their own weight.
    fn springs(&mut self, reader: &mut Reader<'_>, name: &str, hangs: &Hangs) {
        let on_it = self.wheels.iter().filter(|wheel| wheel.carrier == name);
        let stands: f64 = on_it.map(|wheel| wheel.load - wheel.mass * self.gravity).sum();
        let own = self.bodies.iter().find(|body| body.name == name).map_or(0.0, |body| body.mass);
        let rest = -(stands - own * self.gravity) / (2.0 * hangs.stiffness.max(1.0));
        let [k, c, b2] = [hangs.stiffness, hangs.damping, hangs.springs_at * hangs.springs_at];
        for (joint, factor, rest) in [(format!("{name}_travel"), 2.0, rest), (format!("{name}_joint"), 2.0 * b2, 0.0)] {
            let spring = format!(
                "kind = \"spring\"\nstiffness = {:?}\ndamping = {:?}\nrest = {rest:?}\n",
                factor * k,
                factor * c
            );
            let full = self.own(&joint);
            self.hang_on(reader, &full, "spring", &spring);
        }
    }

    /// Adds a part to a joint that is laid already.
    fn hang_on(&mut self, reader: &mut Reader<'_>, joint: &str, key: &str, text: &str) {
        let (mut node, _) = super::node::from_toml(reader.file, text);
        if let Value::Table(entries) = &mut node.value {
            entries.retain(|entry| entry.key != "kind");
        }
        super::put_at(&mut node, self.place);
        let place = self.place;
        let joints = self.tables.iter_mut().find(|(table, _)| *table == "joint").map(|(_, nodes)| nodes);
        let found = joints.into_iter().flatten().find(|known| super::name_of(known) == Some(joint));
        if let Some(Node { value: Value::Table(entries), .. }) = found {
            entries.push(Entry { key: key.to_owned(), place, node });
        }
    }

    pub(super) fn lay_wheels(&mut self, reader: &mut Reader<'_>) {
        let wheels = self.wheels.clone();
        for wheel in &wheels {
            self.lay_wheel(reader, wheel);
        }
        for pair in wheels.windows(2) {
            let [left, right] = pair else { continue };
            if left.axle != right.axle || left.anti_roll == 0.0 || left.suspension.is_none() {
                continue;
            }
            let joints = [left, right].map(|wheel| self.own(&format!("{}_travel", wheel.name)));
            let text = format!(
                "name = \"{}\"\nterms = {{ \"{}\" = 1, \"{}\" = -1 }}\nequals = 0\ncompliance = {:?}\n",
                self.own(&format!("{}_bar", left.axle)),
                joints[0],
                joints[1],
                1.0 / left.anti_roll,
            );
            self.put(reader, "constraint", &text, Vec::new());
        }
    }

    /// Soft ground under its wheels.
    pub(super) fn lay_soft_ground(&mut self, reader: &mut Reader<'_>) {
        let Some(entries) = self.soft.take() else { return };
        let wheel = |wheel: &Wheel| {
            format!("{{ on = \"{}\", radius = {:?}, width = {:?} }}", self.own(&wheel.name), wheel.radius, wheel.width)
        };
        let wheels: Vec<String> = self.wheels.iter().map(wheel).collect();
        let text = format!(
            "name = \"{}\"\nkind = \"soft_ground\"\nground = \"{}\"\nwheels = [{}]\n",
            self.own("soil"),
            self.ground,
            wheels.join(", ")
        );
        let more = self.passed(&entries, &[]);
        self.put(reader, "force", &text, more);
    }

    fn lay_wheel(&mut self, reader: &mut Reader<'_>, wheel: &Wheel) {
        let name = &wheel.name;
        let mut on = wheel.carrier.clone();
        let (p, hub) = (wheel.p, wheel.hub_mass());
        let round = Vec3::splat(hub * 0.02);
        // a hub for each joint of its chain, of the hub's mass together
        let toe = wheel.suspension.as_ref().map_or(Vec::new(), |own| own.toe.clone());
        let camber = wheel.suspension.as_ref().map_or(Vec::new(), |own| own.camber.clone());
        let turns = wheel.steered || !toe.is_empty();
        let links = usize::from(wheel.suspension.is_some()) + usize::from(turns) + usize::from(!camber.is_empty());
        let share = 1.0 / links.max(1) as f64;
        if let Some(own) = &wheel.suspension {
            let body = format!("{name}_hub");
            self.body(reader, &body, hub * share, round * share, p, "");
            let load = own.load.unwrap_or(wheel.load - (wheel.mass + hub) * self.gravity);
            self.travel(reader, wheel, own, [&on, &body], load);
            on = body;
        }
        if !camber.is_empty() {
            let body = format!("{name}_knuckle");
            self.body(reader, &body, hub.max(1.0) * share, round.max(Vec3::splat(0.02)) * share, p, "");
            let travel = self.own(&format!("{name}_travel.position"));
            let value = format!("({:?})*({})", -wheel.side, lines(&travel, &camber));
            let more = format!("axis = {}\n{}", self.direction(Vec3::X), self.held(&value));
            self.joint(reader, &format!("{name}_camber"), "revolute", [&on, &body], p, &more);
            on = body;
        }
        if turns {
            let body = format!("{name}_upright");
            self.body(reader, &body, hub.max(1.0) * share, round.max(Vec3::splat(0.02)) * share, p, "");
            let mut value = if wheel.steered { self.own(&format!("{name}_angle")) } else { "0".to_owned() };
            if !toe.is_empty() {
                let travel = self.own(&format!("{name}_travel.position"));
                value += &format!(" - ({:?})*({})", wheel.side, lines(&travel, &toe));
            }
            let (at, axis) = wheel.kingpin();
            let more = format!("axis = {}\n{}", self.direction(axis), self.held(&value));
            self.joint(reader, &format!("{name}_steer"), "revolute", [&on, &body], at, &more);
            on = body;
        }
        let inertia = Vec3::new(ACROSS, 1.0, ACROSS) * wheel.inertia;
        let spin = wheel.rolls(self.speed);
        let shape = format!(
            "shape = {{ kind = \"cylinder\", radius = {:?}, length = {:?}, axis = \"y\", collide = false }}\nangular_velocity = {}\n",
            wheel.radius,
            wheel.width,
            self.direction(Vec3::Y * spin),
        );
        self.body(reader, name, wheel.mass, inertia, p, &shape);
        let more = format!("axis = {}\nspeed = {spin:?}\n", self.direction(Vec3::Y));
        self.joint(reader, &format!("{name}_spin"), "revolute", [&on, name], p, &more);
        if self.soft.is_none() {
            let text = format!(
                "name = \"{}\"\nkind = \"tyre\"\non = \"{}\"\nground = \"{}\"\n",
                self.own(&format!("{name}_tyre")),
                self.own(name),
                self.ground
            );
            let (grip, but): (_, &[&str]) = match wheel.grip {
                Some(grip) => (format!("grip = {grip:?}\n"), &["grip"]),
                None => (String::new(), &[]),
            };
            let tyre = self.passed(&wheel.tyre, but);
            self.put(reader, "force", &(text + &grip), tyre);
        }
        let (vehicle, spin) = (self.name.clone(), self.own(&format!("{name}_spin")));
        self.brake(
            reader,
            name,
            wheel.brakes,
            wheel.abs.map(|[begins, opens]| {
                let slip = format!("(1 - {spin}.speed*{:?}/max({vehicle}.speed, 2))", wheel.radius);
                format!(
                    "max(max(0, min(1, ({opens:?} - {slip})/{:?})), min(1, max(0, 3 - {vehicle}.speed)))",
                    opens - begins
                )
            }),
        );
    }

    /// A motor that holds an angle of the steering.
    fn held(&self, value: &str) -> String {
        let [stiffness, damping] = self.steering;
        format!(
            "motor = {{ kind = \"position\", value = \"{value}\", stiffness = {stiffness:?}, damping = {damping:?} }}\n"
        )
    }

    /// Travel of a wheel.
    fn travel(&mut self, reader: &mut Reader<'_>, wheel: &Wheel, own: &Suspension, between: [&str; 2], load: f64) {
        let name = format!("{}_travel", wheel.name);
        let (k, c) = (own.stiffness, own.damping);
        let mut limits = String::new();
        if own.stops != [None; 2] {
            let [up, down] = own.stops;
            let upper = up.map_or(String::new(), |up| format!("upper = {up:?}, "));
            let lower = down.map_or(String::new(), |down| format!("lower = {:?}, ", -down));
            limits = format!("limit = {{ {upper}{lower}stiffness = {:?} }}\n", own.stop_stiffness);
        }
        // the hinge of an arm is across; its angle lifts the wheel where the pivot is in front
        let (kind, at, axis, lever) = if own.is_arm {
            let side = if own.pivot.x >= 0.0 { 1.0 } else { -1.0 };
            ("revolute", wheel.p + own.pivot, Vec3::Y * side, own.pivot.x.abs())
        } else {
            ("prismatic", wheel.p, Vec3::Z, 1.0)
        };
        let rest = -load * lever / k;
        let more = format!(
            "axis = {}\nspring = {{ stiffness = {k:?}, damping = {c:?}, rest = {rest:?} }}\n{limits}",
            self.direction(axis)
        );
        self.joint(reader, &name, kind, between, at, &more);
    }

    /// A brake on the spin of a wheel or a sprocket: pedal and handbrake, whichever is more; `opens` is what its anti-lock leaves.
    pub(super) fn brake(
        &mut self,
        reader: &mut Reader<'_>,
        name: &str,
        [pedal, hand]: [f64; 2],
        opens: Option<String>,
    ) {
        let most = pedal.max(hand);
        if most == 0.0 {
            return;
        }
        let opens = opens.map_or(String::new(), |text| format!("*{text}"));
        let text = format!(
            "name = \"{}\"\nkind = \"brake\"\nshafts = [\"{}\"]\ncapacity = {most:?}\napplied = \"max(({:?})*{}{opens}, ({:?})*{})\"\n",
            self.own(&format!("{name}_brake")),
            self.own(&format!("{name}_spin")),
            pedal / most,
            self.own("brake"),
            hand / most,
            self.own("handbrake"),
        );
        self.put(reader, "force", &text, Vec::new());
    }

    pub(super) fn lay_cylinders(&mut self, reader: &mut Reader<'_>, fields: &Fields<'_>) {
        let Some(nodes) = fields.get("cylinder") else { return };
        for item in reader.items(nodes, "cylinder") {
            let Some(own) = self.table(reader, item, &format::CYLINDER, "cylinder") else { continue };
            let Some(name) = reader.text(&own, "name").map(str::to_owned) else { continue };
            let bodies = super::super::read::names(reader, &own, "between");
            for body in &bodies {
                self.known_body(reader, &own, "between", body);
            }
            let pins: Vec<Vec3> = match own.get("pins").map(|node| &node.value) {
                Some(Value::List(items)) => items
                    .iter()
                    .filter_map(|node| match &node.value {
                        Value::List(three) => {
                            let numbers: Vec<f64> =
                                three.iter().filter_map(|n| reader.quantity(n, &own.what)).map(|q| q.value).collect();
                            <[f64; 3]>::try_from(numbers).ok().map(Vec3::from)
                        }
                        _ => None,
                    })
                    .collect(),
                _ => Vec::new(),
            };
            let ([first, second], [from, to]) = (&*bodies, &*pins) else {
                reader.error(
                    own.place,
                    format!("{} is pinned to {} bodies at {} points", own.what, bodies.len(), pins.len()),
                    "two bodies, and a point on each",
                );
                continue;
            };
            let mass = reader.number(&own, "mass").unwrap_or(20.0);
            let (along, length) = ((*to - *from).normalize_or(Vec3::X), (*to - *from).length());
            let turn = Quat::from_rotation_arc(Vec3::X, along);
            for (part, at) in [("barrel", *from + along * (0.25 * length)), ("rod", *to - along * (0.25 * length))] {
                let radius = 0.03;
                let across = mass * length * length / 48.0;
                let text = format!(
                    "name = \"{}\"\nmass = {mass:?}\ninertia = {}\nposition = {}\norientation = {}\nvelocity = {}\nshape = {{ kind = \"cylinder\", radius = {radius:?}, length = {:?}, axis = \"x\", collide = false }}\n",
                    self.own(&format!("{name}_{part}")),
                    list(Vec3::new(0.1 * across, across, across)),
                    self.point(at),
                    self.orientation(turn),
                    self.direction(Vec3::X * self.speed),
                    0.5 * length,
                );
                self.put(reader, "body", &text, Vec::new());
            }
            let [barrel, rod] = ["barrel", "rod"].map(|part| format!("{name}_{part}"));
            let across = format!("axis = {}\n", self.direction(Vec3::Y));
            self.joint(reader, &format!("{name}_foot"), "revolute", [first, &barrel], *from, &across);
            let axis = format!("axis = {}\n", self.direction(along));
            self.joint(reader, &format!("{name}_length"), "prismatic", [&barrel, &rod], *from, &axis);
            // the loop is closed by a point that stays on the pin, so that nothing is held twice
            self.joint(reader, &format!("{name}_eye"), "point_on_line", [second, &rod], *to, &across);
            let text = format!(
                "name = \"{}\"\nkind = \"cylinder\"\nshafts = [\"{}\"]\n",
                self.own(&name),
                self.own(&format!("{name}_length"))
            );
            let more = self.passed(own.entries, &["name", "between", "pins", "mass"]);
            self.put(reader, "force", &text, more);
        }
    }

    /// A shaft of the driveline, about `axis` at `p` on a carrier.
    pub(super) fn shaft(&mut self, reader: &mut Reader<'_>, own: &super::chain::Shaft, more: &str) {
        let axis = own.axis.normalize_or(Vec3::X);
        let J = own.inertia;
        let turn = Quat::from_rotation_arc(Vec3::X, axis);
        let name = format!("{}_rotor", own.name);
        let text = format!(
            "name = \"{}\"\nmass = {:?}\ninertia = {}\nposition = {}\norientation = {}\nvelocity = {}\nangular_velocity = {}\n",
            self.own(&name),
            own.mass,
            list(Vec3::new(J, ACROSS * J, ACROSS * J)),
            self.point(own.at),
            self.orientation(turn),
            self.direction(Vec3::X * self.speed),
            self.direction(axis * own.speed),
        );
        self.put(reader, "body", &text, Vec::new());
        let more = format!("axis = {}\nspeed = {:?}\n{more}", self.direction(axis), own.speed);
        self.joint(reader, &format!("{}_shaft", own.name), "revolute", [&own.carrier, &name], own.at, &more);
    }
}

impl Wheel {
    /// A point of its kingpin at the height of its centre, and the direction of it: its top leans back by the caster, inwards by the inclination,
    /// and it meets the ground the trail ahead of the wheel and the scrub radius inside.
    fn kingpin(&self) -> (Vec3, Vec3) {
        let [caster, inclination, trail, scrub] = self.kingpin;
        let axis = Vec3::new(-libm::tan(caster), -self.side * libm::tan(inclination), 1.0);
        let foot = Vec3::new(self.p.x + trail, self.p.y - self.side * scrub, 0.0);
        // upright, it goes through the centre as before
        (foot + axis * self.p.z, axis)
    }

    /// Mass that moves with it without turning [kg].
    fn hub_mass(&self) -> f64 {
        match &self.suspension {
            Some(own) => own.hub_mass,
            None if self.steered => 10.0,
            None => 0.0,
        }
    }
}

fn suspension(reader: &mut Reader<'_>, own: &Fields<'_>) -> Option<Suspension> {
    let is_arm = reader.text(own, "kind") == Some("arm");
    let pivot = reader.vec3(own, "pivot").unwrap_or_default();
    if is_arm && pivot.x == 0.0 {
        reader.error(
            own.place,
            format!("{}: an arm has its pivot in front of the wheel or behind it", own.what),
            "such as pivot = [0.3, 0, 0.1]",
        );
    }
    let (camber, toe) = (pairs(reader, own, "camber"), pairs(reader, own, "toe"));
    if is_arm && !(camber.is_empty() && toe.is_empty()) {
        reader.error(own.place, format!("{}: camber and toe are tables over the travel of a strut", own.what), "");
    }
    Some(Suspension {
        is_arm,
        stiffness: reader.number(own, "stiffness")?,
        damping: reader.number(own, "damping").unwrap_or(0.0),
        hub_mass: reader.number(own, "hub_mass").unwrap_or(10.0),
        load: reader.number(own, "load"),
        stops: ["bump", "rebound"].map(|key| reader.number(own, key)),
        stop_stiffness: reader.number(own, "stop_stiffness").unwrap_or(STOP),
        camber,
        toe,
        pivot,
    })
}
