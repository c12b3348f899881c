//! Tracks of a vehicle: as a belt that is an element of its own (`crates/parts/src/element/track.rs`), or as shoes with pins.
//!
//! Shoes are boxes, each joined to the next by a pin that gives, around sprocket, idler and road wheels. Pins lie on the line that a belt of half
//! their thickness would take around these circles, all at one distance p, the one with which N of them close it. The sprocket holds
//! shoes by friction; a spring behind the idler keeps them taut. A pin that gives by C has the width w of a shoe, so that it turns
//! across by 12 C/w^2.

use super::super::node::Entry;
use super::super::reader::{Fields, Reader};
use super::lay::ACROSS;
use super::{Laid, format, list};
use libm::{acos, atan2, cos, hypot, sin};
use std::f64::consts::TAU;
use tippe_geometry::{Quat, Vec3};

/// Halvings of an interval: to the last bit of what is looked for.
const HALVINGS: usize = 60;

/// A track.
#[derive(Clone, Debug)]
pub(super) struct Track {
    pub name: String,
    pub carrier: String,
    pub at: Vec3,
    pub radius: f64,
    pub inertia: f64,
    pub mass: f64,
    pub from: Option<String>,
    pub ratio: f64,
    pub brake: f64,
    /// Keys of its belt.
    own: Vec<Entry>,
    /// Its shoes, where it is a chain of them.
    shoes: Option<Shoes>,
}

/// Shoes of a track, and what they run around; places are x and z from the middle of its contact.
#[derive(Clone, Debug)]
struct Shoes {
    count: usize,
    mass: f64,
    width: f64,
    thickness: f64,
    material: String,
    /// Friction on the ground, and of the wheels [-].
    friction: f64,
    grip: f64,
    sprocket: Circle,
    idler: Circle,
    idler_mass: f64,
    wheels: Vec<Circle>,
    wheel_mass: f64,
    /// Stiffness and damping of each road wheel's spring [N/m, N s/m]; none if it is rigid.
    springs: Option<[f64; 2]>,
    /// Force of the tensioner at the start, its stiffness and damping [N, N/m, N s/m].
    tension: [f64; 3],
    /// Compliance and damping of a pin [m/N, N s/m].
    pins: [f64; 2],
    /// Pins in the order in which the path runs, forward along the ground.
    places: Vec<[f64; 2]>,
    /// p [m].
    pitch: f64,
}

/// A wheel inside a track.
#[derive(Clone, Copy, Debug)]
struct Circle {
    at: [f64; 2],
    radius: f64,
}

/// A piece of the line on which pins lie.
#[derive(Clone, Copy, Debug)]
enum Piece {
    Line([f64; 2], [f64; 2]),
    /// Around a circle, from one angle to another.
    Arc(Circle, [f64; 2]),
}

impl Piece {
    fn length(&self) -> f64 {
        match self {
            Piece::Line(p, q) => hypot(q[0] - p[0], q[1] - p[1]),
            Piece::Arc(circle, [from, to]) => circle.radius * (to - from),
        }
    }

    fn at(&self, s: f64) -> [f64; 2] {
        match self {
            Piece::Line(p, q) => {
                let share = s / self.length();
                [0, 1].map(|k| p[k] + share * (q[k] - p[k]))
            }
            Piece::Arc(circle, [from, _]) => circle.rim(from + s / circle.radius),
        }
    }
}

impl Circle {
    fn rim(&self, angle: f64) -> [f64; 2] {
        [self.at[0] + self.radius * cos(angle), self.at[1] + self.radius * sin(angle)]
    }
}

/// The closed line around circles that are given counterclockwise; none where one of them is inside of it.
fn around(circles: &[Circle]) -> Option<Vec<Piece>> {
    let n = circles.len();
    // the line from circle k to the next touches both where their normals have this angle
    let mut angles = Vec::with_capacity(n);
    for (k, first) in circles.iter().enumerate() {
        let second = &circles[(k + 1) % n];
        let d = [second.at[0] - first.at[0], second.at[1] - first.at[1]];
        let apart = hypot(d[0], d[1]);
        if apart <= (first.radius - second.radius).abs() {
            return None;
        }
        angles.push(atan2(d[1], d[0]) - acos((first.radius - second.radius) / apart));
    }
    let (mut pieces, mut turned) = (Vec::with_capacity(2 * n), 0.0);
    for k in 0..n {
        let next = (k + 1) % n;
        let turn = (angles[next] - angles[k]).rem_euclid(TAU);
        pieces.push(Piece::Line(circles[k].rim(angles[k]), circles[next].rim(angles[k])));
        pieces.push(Piece::Arc(circles[next], [angles[k], angles[k] + turn]));
        turned += turn;
    }
    (turned < 1.5 * TAU).then_some(pieces)
}

/// The place after the way s along the pieces.
fn place(pieces: &[Piece], whole: f64, s: f64) -> [f64; 2] {
    let mut left = s.rem_euclid(whole);
    for piece in pieces {
        let length = piece.length();
        if left <= length {
            return piece.at(left);
        }
        left -= length;
    }
    pieces[0].at(0.0)
}

/// Pins at the distance p from each other, one after the other, and the way they have gone.
fn walk(pieces: &[Piece], whole: f64, count: usize, p: f64) -> (Vec<[f64; 2]>, f64) {
    let (mut s, mut at) = (0.0, place(pieces, whole, 0.0));
    let mut places = vec![at];
    for _ in 0..count {
        let [mut low, mut high] = [s, s + 2.0 * p];
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            let to = place(pieces, whole, middle);
            if hypot(to[0] - at[0], to[1] - at[1]) < p { low = middle } else { high = middle }
        }
        s = 0.5 * (low + high);
        at = place(pieces, whole, s);
        places.push(at);
    }
    (places, s)
}

impl Shoes {
    fn of(reader: &mut Reader<'_>, track: &Fields<'_>, own: &Fields<'_>, ground: &str) -> Option<Shoes> {
        for key in ["friction_across", "shear", "rolling", "stiffness", "damping", "patches", "soil", "law", "width"] {
            if track.get(key).is_some() {
                let message = format!("{} has shoes, and no `{key}`", track.what);
                reader.error(track.place_of(key), message, "shoes touch bodies; this is a key of belts without them");
            }
        }
        if ground == "world" {
            let help = "such as ground = \"road\" in [[vehicle]], a fixed body whose shape is a half_space";
            reader.error(own.place, format!("{} has shoes, and no ground with a shape", track.what), help);
            return None;
        }
        let number = |reader: &mut Reader<'_>, key, left: f64| reader.number(own, key).unwrap_or(left);
        let (length, radius) = (reader.number(track, "length")?, reader.number(track, "radius")?);
        let thickness = number(reader, "thickness", 0.05);
        let (wheels, r) = (number(reader, "wheels", 5.0).max(2.0), reader.number(own, "wheel_radius")?);
        let wheel = |k: f64| Circle { at: [length * (k / (wheels - 1.0) - 0.5), thickness + r], radius: r };
        let springs = reader.number(own, "wheel_stiffness").map(|k| [k, number(reader, "wheel_damping", 0.0)]);
        let mut shoes = Shoes {
            count: number(reader, "count", 50.0) as usize,
            mass: reader.number(own, "mass")?,
            width: number(reader, "width", 0.5),
            thickness,
            material: reader.text(own, "material").unwrap_or("steel").to_owned(),
            friction: number_of(reader, track, "friction")?,
            grip: number(reader, "grip", 1.0),
            sprocket: Circle { at: reader.vector(own, "sprocket")?, radius },
            idler: Circle { at: reader.vector(own, "idler")?, radius: number(reader, "idler_radius", radius) },
            idler_mass: number(reader, "idler_mass", 50.0),
            wheels: (0..wheels as usize).map(|k| wheel(k as f64)).collect(),
            wheel_mass: number(reader, "wheel_mass", 30.0),
            springs,
            tension: [
                number(reader, "tension", 20e3),
                number(reader, "tension_stiffness", 1e6),
                number(reader, "tension_damping", 2e4),
            ],
            pins: [number(reader, "compliance", 1e-8), number(reader, "pin_damping", 2e4)],
            places: Vec::new(),
            pitch: 0.0,
        };
        shoes.close(reader, own)?;
        Some(shoes)
    }

    /// Finds p and the pins.
    fn close(&mut self, reader: &mut Reader<'_>, own: &Fields<'_>) -> Option<()> {
        let half = 0.5 * self.thickness;
        let out = |circle: Circle| Circle { radius: circle.radius + half, ..circle };
        let [behind, ahead] = if self.sprocket.at[0] < self.idler.at[0] {
            [self.sprocket, self.idler]
        } else {
            [self.idler, self.sprocket]
        };
        let (first, last) = (*self.wheels.first()?, *self.wheels.last()?);
        let Some(pieces) = around(&[out(first), out(last), out(ahead), out(behind)]) else {
            let help = "sprocket and idler stand before and behind the road wheels, or over the outer ones";
            reader.error(own.place, format!("{}: no line goes around its wheels", own.what), help);
            return None;
        };
        let whole: f64 = pieces.iter().map(Piece::length).sum();
        let n = self.count as f64;
        let [mut low, mut high] = [0.8 * whole / n, whole / n];
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if walk(&pieces, whole, self.count, middle).1 < whole { low = middle } else { high = middle }
        }
        self.pitch = 0.5 * (low + high);
        self.places = walk(&pieces, whole, self.count, self.pitch).0;
        let least = self.wheels[0].radius.min(self.sprocket.radius).min(self.idler.radius);
        if self.pitch > least {
            let (pitch, count) = (self.pitch, self.count);
            let message =
                format!("{}: {count} shoes of {pitch:.3} m do not bend around a wheel of {least} m", own.what);
            reader.error(own.place_of("count"), message, "more shoes, or larger wheels");
            return None;
        }
        Some(())
    }

    /// The velocity of pin k when the vehicle goes at v: along the line, back below [m/s].
    fn runs(&self, k: usize, v: f64) -> [f64; 2] {
        let n = self.count;
        let (before, after) = (self.places[(k + n - 1) % n], self.places[(k + 1) % n]);
        let way = hypot(after[0] - before[0], after[1] - before[1]);
        [0, 1].map(|axis| -v * (after[axis] - before[axis]) / way)
    }
}

/// A number that has to be there.
fn number_of(reader: &mut Reader<'_>, fields: &Fields<'_>, key: &'static str) -> Option<f64> {
    let found = reader.number(fields, key);
    if found.is_none() && fields.get(key).is_none() {
        reader.error(fields.place, format!("{} has shoes, and no `{key}`", fields.what), "such as friction = 0.7");
    }
    found
}

impl Track {
    /// Rate at which its sprocket turns at speed v [rad/s]: that of shoes moves them at half their thickness.
    pub fn rolls(&self, v: f64) -> f64 {
        v / (self.radius + self.shoes.as_ref().map_or(0.0, |shoes| 0.5 * shoes.thickness))
    }
}

impl Laid {
    /// Sprocket, idler and road wheels of a track of shoes, its shoes and their pins.
    fn lay_shoes(&mut self, reader: &mut Reader<'_>, track: &Track, shoes: &Shoes) {
        let name = &track.name;
        let groups = ["wheels", "shoes"].map(|word| self.own(&format!("{name}_{word}")));
        let inside = [(name.clone(), shoes.sprocket, track.mass, track.inertia)].into_iter().chain(
            [(format!("{name}_idler"), shoes.idler, shoes.idler_mass)]
                .into_iter()
                .chain(
                    shoes
                        .wheels
                        .iter()
                        .enumerate()
                        .map(|(k, at)| (format!("{name}_wheel_{}", k + 1), *at, shoes.wheel_mass)),
                )
                .map(|(name, at, mass)| (name, at, mass, 0.5 * mass * at.radius * at.radius)),
        );
        let sprung = self.weight()
            / (self.tracks.iter().filter_map(|t| t.shoes.as_ref()).map(|s| s.wheels.len()).sum::<usize>().max(1)
                as f64);
        for (k, (wheel, at, mass, inertia)) in inside.enumerate() {
            let p = track.at + Vec3::new(at.at[0], 0.0, at.at[1]);
            let mut on = track.carrier.clone();
            let spring = match (k, shoes.springs) {
                // the tensioner pushes the idler away from the sprocket
                (1, _) => {
                    let [force, k, c] = shoes.tension;
                    let away = if shoes.idler.at[0] >= shoes.sprocket.at[0] { Vec3::X } else { -Vec3::X };
                    Some((away, force / k, [k, c]))
                }
                (2.., Some([k, c])) => Some((Vec3::Z, -sprung / k, [k, c])),
                _ => None,
            };
            if let Some((axis, rest, [k, c])) = spring {
                let slide = format!("{wheel}_slide");
                self.body(reader, &slide, 0.2 * mass, Vec3::splat(0.2 * inertia), p, "");
                let more = format!(
                    "axis = {}\nspring = {{ stiffness = {k:?}, damping = {c:?}, rest = {rest:?} }}\n",
                    self.direction(axis)
                );
                self.joint(reader, &format!("{wheel}_travel"), "prismatic", [&on, &slide], p, &more);
                on = slide;
            }
            let spin = self.speed / (at.radius + 0.5 * shoes.thickness);
            let shape = format!(
                "material = \"{}\"\ngroups = [\"{}\"]\nshape = {{ kind = \"cylinder\", radius = {:?}, length = {:?}, axis = \"y\" }}\nangular_velocity = {}\n",
                shoes.material,
                groups[0],
                at.radius,
                0.6 * shoes.width,
                self.direction(Vec3::Y * spin)
            );
            self.body(reader, &wheel, mass, Vec3::new(ACROSS, 1.0, ACROSS) * inertia, p, &shape);
            let more = format!("axis = {}\nspeed = {spin:?}\n", self.direction(Vec3::Y));
            self.joint(reader, &format!("{wheel}_spin"), "revolute", [&on, &wheel], p, &more);
        }
        self.lay_chain_of_shoes(reader, track, shoes, &groups[1]);
        for group in &groups {
            self.put(reader, "ignore", &format!("groups = [\"{group}\", \"{group}\"]"), Vec::new());
        }
        let [wheels, links] = groups.map(|group| format!("group:{group}"));
        let (ground, chassis) =
            (self.ground.split('.').next().unwrap_or_default().to_owned(), self.own(&track.carrier));
        for pair in [[&wheels, &ground], [&links, &chassis], [&wheels, &chassis]] {
            self.put(reader, "ignore", &format!("bodies = {pair:?}"), Vec::new());
        }
        for (with, friction) in [(&ground, shoes.friction), (&wheels, shoes.grip)] {
            let text = format!("bodies = [\"{links}\", \"{with}\"]\nfriction = {friction:?}\nrestitution = 0\n");
            self.put(reader, "pair", &text, Vec::new());
        }
    }

    fn lay_chain_of_shoes(&mut self, reader: &mut Reader<'_>, track: &Track, shoes: &Shoes, group: &str) {
        let (name, n, m) = (&track.name, shoes.count, shoes.mass);
        let [long, wide, thick] = [shoes.pitch, shoes.width, shoes.thickness];
        let inertia =
            Vec3::new(wide * wide + thick * thick, long * long + thick * thick, long * long + wide * wide) * (m / 12.0);
        let [compliance, damping] = shoes.pins;
        let turns = wide * wide / 12.0;
        for k in 0..n {
            let [from, to] = [shoes.places[k], shoes.places[k + 1]];
            let way = [to[0] - from[0], to[1] - from[1]];
            let [u, w] = [shoes.runs(k, self.speed), shoes.runs((k + 1) % n, self.speed)];
            // about y, from z to x
            let spin = (way[1] * (w[0] - u[0]) - way[0] * (w[1] - u[1])) / (long * long);
            let v = Vec3::new(self.speed + 0.5 * (u[0] + w[0]), 0.0, 0.5 * (u[1] + w[1]));
            let text = format!(
                "name = \"{}\"\nmass = {m:?}\ninertia = {}\nposition = {}\norientation = {}\nvelocity = {}\nangular_velocity = {}\n\
                 material = \"{}\"\ngroups = [\"{group}\"]\nshape = {{ kind = \"box\", size = [{long:?}, {wide:?}, {thick:?}] }}\n",
                self.own(&format!("{name}_shoe_{}", k + 1)),
                list(inertia),
                self.point(track.at + Vec3::new(0.5 * (from[0] + to[0]), 0.0, 0.5 * (from[1] + to[1]))),
                self.orientation(Quat::from_axis_angle(Vec3::Y, -atan2(way[1], way[0]))),
                self.direction(v),
                self.direction(Vec3::Y * spin),
                shoes.material,
            );
            self.put(reader, "body", &text, Vec::new());
        }
        for k in 0..n {
            let [x, z] = shoes.places[k + 1];
            let between = [k, (k + 1) % n].map(|k| format!("{name}_shoe_{}", k + 1));
            let more = format!(
                "axis = {}\ncompliance = {compliance:?}\ndamping = {damping:?}\nturning_compliance = {:?}\nturning_damping = {:?}\n",
                self.direction(Vec3::Y),
                compliance / turns,
                damping * turns,
            );
            let [first, second] = [&*between[0], &*between[1]];
            let pin = format!("{name}_pin_{}", k + 1);
            self.joint(reader, &pin, "revolute", [first, second], track.at + Vec3::new(x, 0.0, z), &more);
        }
    }

    /// Weight of its bodies [N].
    fn weight(&self) -> f64 {
        self.bodies.iter().map(|body| body.mass).sum::<f64>() * self.gravity
    }
}

impl Laid {
    pub(super) fn read_tracks(&mut self, reader: &mut Reader<'_>, fields: &Fields<'_>) {
        let Some(list) = fields.get("track") else { return };
        for item in reader.items(list, "track") {
            let Some(own) = self.table(reader, item, &format::TRACK, "track") else { continue };
            let Some(name) = reader.text(&own, "name").map(str::to_owned) else { continue };
            let carrier = reader.text(&own, "carrier").unwrap_or("chassis").to_owned();
            self.known_body(reader, &own, "carrier", &carrier);
            let shoes = match reader.table(&own, "shoes", &format::SHOES) {
                Some(fields) => Shoes::of(reader, &own, &fields, &self.ground),
                None => None,
            };
            let track = Track {
                shoes,
                name,
                carrier,
                at: reader.vec3(&own, "at").unwrap_or_default(),
                radius: reader.number(&own, "radius").unwrap_or(0.3),
                inertia: reader.number(&own, "inertia").unwrap_or(10.0),
                mass: reader.number(&own, "mass").unwrap_or(50.0),
                from: reader.text(&own, "from").map(str::to_owned),
                ratio: reader.number(&own, "ratio").unwrap_or(1.0),
                brake: reader.number(&own, "brake").unwrap_or(0.0),
                own: self.passed(
                    own.entries,
                    &["name", "carrier", "at", "inertia", "mass", "from", "ratio", "brake", "shoes"],
                ),
            };
            self.tracks.push(track);
        }
    }

    pub(super) fn lay_tracks(&mut self, reader: &mut Reader<'_>) {
        for track in self.tracks.clone() {
            let name = &track.name;
            let p = track.at + Vec3::Z * track.radius;
            let spin = track.rolls(self.speed);
            if let Some(shoes) = &track.shoes {
                self.lay_shoes(reader, &track, shoes);
                self.brake(reader, name, [track.brake, 0.0], None);
                continue;
            }
            let shape = format!(
                "shape = {{ kind = \"cylinder\", radius = {:?}, length = 0.1, axis = \"y\", collide = false }}\nangular_velocity = {}\n",
                track.radius,
                self.direction(Vec3::Y * spin)
            );
            self.body(reader, name, track.mass, Vec3::new(ACROSS, 1.0, ACROSS) * track.inertia, p, &shape);
            let more = format!("axis = {}\nspeed = {spin:?}\n", self.direction(Vec3::Y));
            self.joint(reader, &format!("{name}_spin"), "revolute", [&track.carrier, name], p, &more);
            let text = format!(
                "name = \"{}\"\nkind = \"track\"\non = \"{}\"\nground = \"{}\"\nshafts = [\"{}\"]\n",
                self.own(&format!("{name}_belt")),
                self.own(&format!("{}.{name}_contact", track.carrier)),
                self.ground,
                self.own(&format!("{name}_spin")),
            );
            let own = track.own.clone();
            self.put(reader, "force", &text, own);
            self.brake(reader, name, [track.brake, 0.0], None);
        }
    }
}
