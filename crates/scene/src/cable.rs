//! Flexible cables: a `[[cable]]` with `spans = "flexible"` becomes elements, bodies `NAME.e1`, `NAME.e2`, ..., and joints between them,
//! forces `NAME.j0`, `NAME.j1`, ..., as it is read.

use super::reader::Reader;
use super::*;
use tippe_parts::element;

/// An element is at least this slender a share of what its length alone gives about axes across it [-]: so that short ones do not spin.
const LEAST_INERTIA: f64 = 0.05;
/// A cable is slack if it is longer than its chord by more than this share [-].
const LEAST_SLACK: f64 = 1e-9;
/// A cable whose tension is so many times its weight is laid straight [-].
const STRAIGHT: f64 = 1e6;
/// Elements of one cable at most.
const MOST_ELEMENTS: f64 = 10_000.0;

/// Lays every flexible cable of a scene.
pub(super) fn lay_all(reader: &mut Reader<'_>, scene: &mut Scene) {
    if !reader.errors.is_empty() {
        return;
    }
    // cables stand behind all other forces, as they are written
    let is_cable = |part: &Part| part.kind.word == "cable";
    let (cables, others) = std::mem::take(&mut scene.forces).into_iter().partition(is_cable);
    let (flexible, massless): (Vec<Part>, Vec<Part>) =
        Vec::into_iter(cables).partition(|part| part.word("spans") == "flexible");
    scene.forces = others;
    for cable in flexible {
        lay(reader, scene, &cable);
    }
    scene.forces.extend(massless);
}

/// Origin of a frame in the pose as written, resolved in world [m].
fn pose(scene: &Scene, end: &Attachment, at: Option<Vec3>) -> Vec3 {
    let Some(body) = scene.bodies.iter().find(|body| body.name == end.body) else { return at.unwrap_or_default() };
    let frame = body.frames.iter().find(|frame| frame.name == end.frame).map_or(Vec3::ZERO, |frame| frame.position);
    at.unwrap_or(body.position + body.orientation.normalize() * frame)
}

/// What a flexible cable is cut into.
struct Cut<'a> {
    cable: &'a Part,
    section: element::Section,
    /// Number of elements.
    n: usize,
    /// l [m].
    l: f64,
    /// Mass of an element [kg].
    m: f64,
    /// Ends of the elements in the pose at the start, resolved in world [m].
    nodes: Vec<Vec3>,
}

impl Cut<'_> {
    fn body(&self, k: usize) -> String {
        format!("{}.e{}", self.cable.name, k + 1)
    }
}

fn lay(reader: &mut Reader<'_>, scene: &mut Scene, cable: &Part) {
    match cut(scene, cable) {
        Ok(cut) => {
            elements(scene, &cut);
            joints(scene, &cut);
        }
        Err((key, message, help)) => {
            reader.error(cable.places.of(key), format!("cable \"{}\" {message}", cable.name), help);
        }
    }
}

/// How a cable is cut, or what is wrong with it: the key, what, and what to do.
fn cut<'a>(scene: &Scene, cable: &'a Part) -> Result<Cut<'a>, (&'static str, String, &'static str)> {
    let points = cable.parts("points");
    if points.len() != 2 || points.iter().any(|point| point.kind.word != "end") {
        let message = "is flexible and runs over more than its two ends".to_owned();
        return Err(("points", message, "let it touch wheels as bodies in contact, or use spans = \"massless\""));
    }
    let section = element::Section::of(cable);
    let (Some(mass), Some(diameter)) = (section.mass, cable.find_number("diameter")) else {
        let message = "is flexible and has no mass_per_length, or no diameter".to_owned();
        return Err(("", message, "give both, or a type of rope with its diameter"));
    };
    let [from, to] = [0, 1].map(|k| pose(scene, &points[k].attachments("on")[0], points[k].vector("at")));
    let chord = to - from;
    let strain = cable.number("tension") / section.axial;
    let length = cable.find_number("length").unwrap_or(chord.length() / (1.0 + strain));
    let n = cable.find_number("elements").unwrap_or((length / (10.0 * diameter)).ceil().clamp(4.0, 50.0));
    if length <= 0.0 || length.is_nan() || n > MOST_ELEMENTS || length / n < 0.5 * diameter {
        let message = format!("is {length} m long in {n} elements of diameter {diameter} m");
        return Err(("elements", message, "elements are longer than half their diameter, and at most 10,000"));
    }
    let line = element::Catenary { length, weight: mass * scene.gravity.length(), stiffness: section.axial };
    let (n, l) = (n as usize, length / n);
    Ok(Cut { cable, section, n, l, m: mass * l, nodes: curve(from, to, line, scene.gravity, n) })
}

/// The elements as bodies.
fn elements(scene: &mut Scene, cut: &Cut<'_>) {
    let Cut { cable, n, l, m, ref nodes, .. } = *cut;
    let points = cable.parts("points");
    let radius = 0.5 * cable.number("diameter");
    let across = (m * (3.0 * radius * radius + l * l) / 12.0).max(LEAST_INERTIA * m * l * l);
    let mut turn = Quat::IDENTITY;
    for k in 0..n {
        let along = (nodes[k + 1] - nodes[k]).normalize_or(Vec3::X);
        // each element is turned from the one before it without twist
        turn = Quat::from_rotation_arc(turn * Vec3::X, along) * turn;
        let frame = |name: &str, x: f64| Frame {
            name: name.into(),
            position: Vec3::new(x, 0.0, 0.0),
            orientation: Quat::IDENTITY,
            places: cable.places.clone(),
        };
        let near = (k.saturating_sub(2)..(k + 3).min(n)).filter(|other| *other != k).map(|other| cut.body(other));
        let ends_on = [(0, k < 2), (1, k + 2 >= n)].into_iter().filter(|(_, is_near)| *is_near);
        let held = ends_on.map(|(end, _): (usize, bool)| points[end].attachments("on")[0].body.clone());
        let shape = ShapeSpec {
            kind: ShapeKind::Capsule { radius, length: l, axis: Axis::X },
            collide: cable.flag("collide"),
            places: cable.places.clone(),
            ..ShapeSpec::default()
        };
        scene.bodies.push(Body {
            name: cut.body(k),
            shapes: vec![shape],
            material: cable.get("material").map(|_| cable.word("material").to_string()),
            position: (nodes[k] + nodes[k + 1]) * 0.5,
            orientation: turn,
            mass: Some(m),
            inertia: Some(Mat3::from_diagonal(Vec3::new(0.5 * m * radius * radius, across, across))),
            ignore: near.chain(held.filter(|name| name != "world")).collect(),
            frames: vec![frame("begin", -0.5 * l), frame("end", 0.5 * l)],
            places: cable.places.clone(),
            ..Body::default()
        });
    }
}

/// The joints between elements and at the ends.
fn joints(scene: &mut Scene, cut: &Cut<'_>) {
    let Cut { cable, section, n, l, m, ref nodes } = *cut;
    let side = |k: usize, frame: &str| Attachment { body: cut.body(k), frame: frame.into() };
    for k in 0..=n {
        let is_end = k == 0 || k == n;
        let point = &cable.parts("points")[usize::from(k == n)];
        let at = k.min(n - 1);
        let held = is_end.then(|| hold(scene, cable, (point, k), (nodes[at], nodes[at + 1])));
        let between = match held {
            Some(held) if k == 0 => [held, side(0, "begin")],
            Some(held) => [side(n - 1, "end"), held],
            None => [side(k - 1, "end"), side(k, "begin")],
        };
        let bends = !is_end || point.flag("clamped");
        let stiffness = |of: f64| if bends { of } else { 0.0 };
        let mut part = Part::new(format!("{}.j{k}", cable.name), &element::joint_of_cable().kind)
            .with("between", between)
            .with("length", if is_end { 0.5 * l } else { l })
            .with("axial_stiffness", section.axial)
            .with("bending_stiffness", stiffness(section.bending))
            .with("torsional_stiffness", stiffness(section.torsion))
            .with("damping_time", cable.number("damping") / section.axial);
        if !is_end {
            part.set("mass", m);
        }
        part.places = cable.places.clone();
        scene.forces.push(part);
    }
}

/// The frame that an end of a cable is held in: x along its first or last element; made on the body it is on.
fn hold(scene: &mut Scene, cable: &Part, (point, k): (&Part, usize), (from, to): (Vec3, Vec3)) -> Attachment {
    let end = &point.attachments("on")[0];
    let p = pose(scene, end, point.vector("at"));
    let name = format!("{}_{k}", cable.name.replace('.', "_"));
    let along = (to - from).normalize_or(Vec3::X);
    let axes = Quat::from_rotation_arc(Vec3::X, along);
    if end.body == "world" {
        let mut ground = Body {
            name: format!("{}.g{k}", cable.name),
            fixed: true,
            position: p,
            orientation: axes,
            ..Body::default()
        };
        ground.places = cable.places.clone();
        let held = Attachment { body: ground.name.clone(), frame: String::new() };
        scene.bodies.push(ground);
        return held;
    }
    if let Some(body) = scene.bodies.iter_mut().find(|body| body.name == end.body) {
        let own = body.orientation.normalize().conjugate();
        body.frames.push(Frame {
            name: name.clone(),
            position: own * (p - body.position),
            orientation: own * axes,
            places: cable.places.clone(),
        });
    }
    Attachment { body: end.body.clone(), frame: name }
}

/// n + 1 points at equal lengths along a cable between two points, hanging as it does at rest.
fn curve(from: Vec3, to: Vec3, line: element::Catenary, gravity: Vec3, n: usize) -> Vec<Vec3> {
    let chord = to - from;
    let up = -gravity.normalize_or(Vec3::NEG_Z);
    let height = chord.dot(up);
    let level = chord - up * height;
    let span = level.length();
    let slack = line.length > chord.length() * (1.0 + LEAST_SLACK);
    if line.weight * line.length <= 0.0
        || !slack && line.stiffness * (chord.length() / line.length - 1.0) > STRAIGHT * line.weight * line.length
    {
        return (0..=n).map(|k| from + chord * (k as f64 / n as f64)).collect();
    }
    let side = if span > LEAST_SLACK * line.length { level / span } else { up.any_orthonormal_vector() };
    let ends = line.solve(span, height, None);
    let place = |k: usize| {
        let ([x, z], _) = line.place(ends, line.length * k as f64 / n as f64);
        from + side * x + up * z
    };
    (0..=n).map(place).collect()
}
